/* Components: found by id, by name and by path; what messages call them and their leaves. What they
** are made of is in fields.h. */
#ifndef ECS_CORE_STORAGE_COMPONENT_H
#define ECS_CORE_STORAGE_COMPONENT_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/base/memory.h"

struct component;
struct ecs_rename;
struct ecs_value;
struct table;

/* What a component is made of: its declared fields, and the leaf fields that become columns. */

/* One column's worth: a scalar field, an array's element, a nested component's field. */
struct leaf {
  const char *name;            /* "x", "m[1]", "offset.x" */
  uint32_t name_size;
  ecs_type type;
  uint32_t size;               /* in a column */
  uint32_t field;              /* the declared field it is part of */
  size_t offset;               /* in the native struct */
  const struct enumeration *names;
  ecs_cell value;              /* the default */
};

struct field {
  const char *name;
  uint32_t name_size;
  ecs_type type;
  uint32_t count;              /* elements of an array, 0 for a single value */
  struct component *nested;
  const struct enumeration *names;
  uint32_t first_leaf;
  uint32_t leaf_count;
  size_t offset;               /* in the native struct */
  size_t size;
  bool has_value;              /* a default was given */
  const char *doc, *unit, *min, *max, *text;
};

/* What a relation is declared as. */
struct tie_kind {
  bool relation;
  bool exclusive;
  bool acyclic;
  ecs_policy policy;           /* what becomes of sources whose target dies */
};

/* What a component and its fields were called in earlier declarations. */
struct former {
  const char *name;            /* NULL: always the same */
  const struct ecs_rename *was;
  uint32_t was_count;
  struct arena arena;          /* of all texts */
};

struct component {
  ecs_id id;
  const char *name;
  uint32_t name_size;
  struct field *fields;
  uint32_t field_count;
  struct leaf *leaves;
  uint32_t leaf_count;
  size_t size;                 /* of the native struct */
  size_t align;
  bool native;                 /* offsets given by the host */
  bool orphan;                 /* nobody declares it: only an image has named it, or the script
                               ** that declared it does so no more */
  bool flat;                   /* every field is one leaf: no arrays, nothing nested */
  bool has_any;
  bool has_string;
  bool translates;             /* some values are not what their cells are: texts, ids */
  bool toggle;                 /* it can be switched off: see toggle.h */
  bool track, watched;         /* marks are kept: by row, as declared; at all. See marks.h */
  bool asked;                  /* an image has them for systems that may not be there */
  bool words;                  /* else, and the native struct is just 4 bytes a leaf */
  bool numbers;                /* there are leaves, and any bits are values of them */
  uint32_t depth;              /* 0 without nested components */
  const ecs_id *requires;      /* sorted, each once: what adding it brings (require.h) */
  uint32_t require_count;
  struct column_buffer *resource;  /* one per leaf, or NULL */
  uint32_t length;             /* of an array, which the world has and no entity: see array.h; 0
                               ** for everything else */
  const char *doc;
  struct tie_kind ties;        /* as declared */
  struct relation *relation;   /* NULL when it is none; as long as the component's id */
  bool is_sparse;              /* as declared: kept outside of tables */
  struct sparse *sparse;       /* what keeps it then; as long as it has an id */
  bool is_event;               /* as declared: rows of the world, and no entity's */
  struct event *event;         /* what keeps them then; as long as it has an id */
  struct former former;
  uint64_t changed;            /* registry.version when its fields last changed */
  struct arena arena;          /* of all names and arrays; the struct itself stays put */
};

#define TARGET_LEAF 0u       /* of an exclusive relation: the target's id */

/* Whether a leaf is the target of an exclusive relation, which only ties and unties write. */
static inline bool leaf_is_target(const struct component *component, uint32_t leaf) {
  return component->ties.exclusive && leaf == TARGET_LEAF;
}

/* Whether it is a relation of several targets, each of which has an id of its own for the tie. */
static inline bool component_has_pairs(const struct component *component) {
  return component->ties.relation && !component->ties.exclusive;
}

static inline uint32_t field_elements(const struct field *field) {
  return field->count ? field->count : 1;
}

/* The cells of each leaf of what the world has of a component: a resource, or an array. */
static inline uint32_t component_cells(const struct component *component) {
  return component->length ? component->length : 1;
}

/* The living component of an id, a pair's relation; or NULL. */
struct component *component_of(const ecs_world *world, ecs_id id);
struct component *component_find(const ecs_world *world, const char *name, size_t size);

/* The component that was called so in an earlier declaration, or NULL. */
struct component *component_formerly(const ecs_world *world, const char *name, size_t size);

/* component_find with "unknown component 'x' (did you mean 'y'?)" on failure, or what it is called
** now. ECS_EINVAL for an array or an event. */
ecs_status component_need(const ecs_world *world, const char *name, size_t size,
                          struct component **out);
/* component_of with a message that tells what the number is instead, also when it is an array or
** an event. */
ecs_status component_need_id(const ecs_world *world, ecs_id id, struct component **out);

/* component_need_id, but it may be an array or an event, too. */
ecs_status component_need_any(const ecs_world *world, ecs_id id, struct component **out);

/* NONE when there is no field or leaf of that name. */
uint32_t component_field(const struct component *component, const char *name, size_t size);
uint32_t component_leaf(const struct component *component, const char *name, size_t size);

/* What messages call it: "component", or "event". */
const char *component_word(const struct component *component);

/* "component 'P' has no field 'z' (did you mean 'x'?)"; returns ECS_ENAME. */
ecs_status component_no_field(const ecs_world *world, const struct component *component,
                              const char *name, size_t size);

/* The component, or the leaf of it, that a text names ("Position", "Position.x"); leaf is NONE
** for the former. */
ecs_status component_path(const ecs_world *world, const char *text, size_t size,
                          struct component **out, uint32_t *leaf);

/* Turns a value into the cell of a leaf: interns strings, checks ids, ranges, names. The
** message names component, field, type and value. */
ecs_status component_cell(ecs_world *world, const struct component *component,
                          uint32_t leaf, const struct ecs_value *value, ecs_cell *cell);

#define LABEL_SIZE 512u

/* What messages call a leaf: "field 'Position.x'", "array 'grid'". Returns the text. */
const char *component_label(const struct component *component, const struct leaf *leaf,
                            char *text, size_t size);

void component_free(ecs_world *world, struct component *component);

/* Requirements: what an entity has because it has something else. The ids of every table include
** all that its components require, so that who goes along an edge of the graph need not ask. */

/* Why a relation cannot be required; to be formatted with its name. */
#define REQUIRES_RELATION \
  "'%s' is a relation, and there would be no target to tie it to: require components and tags only"

/* Room for a set of `count` ids that others may be put into: `more`, and what those bring. */
uint64_t require_room(const ecs_world *world, uint64_t count, uint64_t more);

/* Puts an id into a set with room for `room` ids, what require_room says. Unless it is
** there, it brings what it requires. Returns how many there are then. */
uint32_t require_insert(const ecs_world *world, ecs_id *ids, uint32_t count, uint64_t room,
                        ecs_id id);

/* What is missing, and the component that requires it. */
struct gap {
  ecs_id missing, by;
};

/* Whether something in a set requires what is not in it. */
bool require_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, struct gap *gap);

/* Whether a table's ids lack something, where its rows may have sparse components, too. */
bool require_table_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, struct gap *gap);

/* Whether what a living entity has lacks something. */
bool require_entity_gap(const ecs_world *world, ecs_id entity, struct gap *gap);

/* A component of the table that requires the id; ECS_NULL when there is none. */
ecs_id require_holder(const ecs_world *world, const struct table *table, ecs_id id);

/* That it cannot be removed, from an entity unless that is ECS_NULL. Returns ECS_EINVAL. */
ecs_status require_refuse(const ecs_world *world, ecs_id entity, struct gap gap);

/* ECS_ECYCLE, with the path, when a component would require itself. */
ecs_status require_check_cycles(ecs_world *world);

#endif
