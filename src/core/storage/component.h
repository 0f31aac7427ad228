/* Components: their fields, how they are found by id, name and path, how messages name them and
** their leaves, and what they require. */
#ifndef ECS_CORE_STORAGE_COMPONENT_H
#define ECS_CORE_STORAGE_COMPONENT_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/base/memory.h"

struct component;
struct ecs_rename;
struct ecs_value;
struct table;

/* The declared fields of a component, and the leaf fields that become columns. */

/* What one column holds: a scalar field, an array's element, or a nested component's field. */
struct leaf {
  const char *name;            /* "x", "m[1]", "offset.x" */
  uint32_t name_size;
  ecs_type type;
  uint32_t size;               /* in a column */
  uint32_t field;              /* the declared field that it is part of */
  size_t offset;               /* in the native struct */
  const struct enumeration *names;
  ecs_cell value;              /* the default */
};

struct field {
  const char *name;
  uint32_t name_size;
  ecs_type type;
  uint32_t count;              /* length of an array, 0 for a single value */
  struct component *nested;
  const struct enumeration *names;
  uint32_t first_leaf;
  uint32_t leaf_count;
  size_t offset;               /* in the native struct */
  size_t size;
  bool has_value;              /* a default was given */
  const char *doc, *unit, *min, *max, *text;
};

/* The options of a relation. */
struct tie_kind {
  bool relation;
  bool exclusive;
  bool acyclic;
  ecs_policy policy;           /* what happens to sources whose target dies */
};

/* The former names of a component and its fields. */
struct former {
  const char *name;            /* NULL if it had no other */
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
  bool native;                 /* offsets were given by the host */
  bool orphan;                 /* no longer declared: known only from an image, or from a script
                               ** that has dropped it */
  bool flat;                   /* every field is one leaf: no arrays, nothing nested */
  bool has_any;
  bool has_string;
  bool translates;             /* some values differ from their cells: strings, ids */
  bool toggle;                 /* it can be switched off: see toggle.h */
  bool track, watched;         /* declared with `track`; writes are marked at all. See marks.h */
  bool asked;                  /* an image has marks of it, for systems that may be absent */
  bool words;                  /* all leaves have 4 bytes, and the native struct has nothing else */
  bool numbers;                /* it has leaves, and any bits are valid values of them */
  uint32_t depth;              /* 0 without nested components */
  const ecs_id *requires;      /* sorted, without duplicates: what is added with it */
  uint32_t require_count;
  struct column_buffer *resource;  /* one per leaf, or NULL */
  uint32_t length;             /* of an array, which belongs to the world; 0 for anything else */
  const char *doc;
  struct tie_kind ties;        /* as declared */
  struct relation *relation;   /* NULL if not a relation; lives as long as its id */
  bool is_sparse;              /* declared with storage = "sparse" */
  struct sparse *sparse;       /* its sparse set; lives as long as the component's id */
  bool is_event;               /* an event: its rows belong to the world, not to entities */
  struct event *event;         /* its rows; lives as long as the component's id */
  struct former former;
  uint64_t changed;            /* registry.version when its fields last changed */
  struct arena arena;          /* of all names and arrays; the struct itself never moves */
};

#define TARGET_LEAF 0u       /* the target's id, in an exclusive relation */

/* Whether a leaf is the target of an exclusive relation, which only changes of ties write. */
static inline bool leaf_is_target(const struct component *component, uint32_t leaf) {
  return component->ties.exclusive && leaf == TARGET_LEAF;
}

/* Whether it is a relation with several targets, whose ties are pairs with ids of their own. */
static inline bool component_has_pairs(const struct component *component) {
  return component->ties.relation && !component->ties.exclusive;
}

static inline uint32_t field_elements(const struct field *field) {
  return field->count ? field->count : 1;
}

/* The number of cells in each leaf of a resource or an array. */
static inline uint32_t component_cells(const struct component *component) {
  return component->length ? component->length : 1;
}

/* The living component of an id, or the relation of a pair; NULL if there is none. */
struct component *component_of(const ecs_world *world, ecs_id id);
struct component *component_find(const ecs_world *world, const char *name, size_t size);

/* The component that had this name in an earlier declaration, or NULL. */
struct component *component_formerly(const ecs_world *world, const char *name, size_t size);

/* As component_find, but fails with "unknown component 'x' (did you mean 'y'?)", or with its new
** name. ECS_EINVAL for an array or an event. */
ecs_status component_need(const ecs_world *world, const char *name, size_t size,
                          struct component **out);
/* As component_of, but fails with a message that says what the id is instead, also for an array or
** an event. */
ecs_status component_need_id(const ecs_world *world, ecs_id id, struct component **out);

/* As component_need_id, but accepts arrays and events. */
ecs_status component_need_any(const ecs_world *world, ecs_id id, struct component **out);

/* The number of the field or leaf; NONE if there is none of that name. */
uint32_t component_field(const struct component *component, const char *name, size_t size);
uint32_t component_leaf(const struct component *component, const char *name, size_t size);
/* The leaf itself or, in an element of an array field, the same leaf of the first element. */
uint32_t component_first_leaf(const struct component *component, uint32_t leaf);
static inline bool component_same_field(const struct component *component, uint32_t x, uint32_t y) {
  return x == y || component_first_leaf(component, x) == component_first_leaf(component, y);
}

/* The word for it in messages: "component" or "event". */
const char *component_word(const struct component *component);

/* Fails with "component 'P' has no field 'z' (did you mean 'x'?)". Returns ECS_ENAME. */
ecs_status component_no_field(const ecs_world *world, const struct component *component,
                              const char *name, size_t size);

/* Finds the component, or the leaf, that a text names ("Position", "Position.x"); for a component,
** leaf is NONE. */
ecs_status component_path(const ecs_world *world, const char *text, size_t size,
                          struct component **out, uint32_t *leaf);

/* Converts a value to the cell of a leaf: interns strings, checks ids, ranges and names. The
** message names component, field, type and value. */
ecs_status component_cell(ecs_world *world, const struct component *component,
                          uint32_t leaf, const struct ecs_value *value, ecs_cell *cell);

/* The text that a cell of a string or enum stands for. The second: the value of any cell except an
** `any`, with its text if it has one. */
ecs_string leaf_text(const ecs_world *world, const struct leaf *leaf, ecs_cell cell);
void value_of_cell(ecs_type type, uint32_t size, ecs_cell cell, ecs_string text,
                   struct ecs_value *out);

#define LABEL_SIZE 512u

/* Writes what messages call a leaf: "field 'Position.x'", "array 'grid'". Returns the text. */
const char *component_label(const struct component *component, const struct leaf *leaf,
                            char *text, size_t size);

void component_free(ecs_world *world, struct component *component);

/* The world's lists of what belongs to components: their sparse sets, events and relations, in the
** order of the components' ids. */

/* ECS_OK if there is room for more. */
#define OWNED_RESERVE(world, owned, more)                                              \
  (GROW(&(world)->memory, (owned)->list, (owned)->capacity,                            \
        (uint64_t)(owned)->count + (more)) ? ECS_OK : world_nomem(world))

/* Enters one in reserved room. */
#define OWNED_ENTER(owned, one)                                                        \
  do {                                                                                 \
    uint32_t at_ = (owned)->count++;                                                   \
    assert(at_ < (owned)->capacity);                                                   \
    for (; at_ > 0 && (owned)->list[at_ - 1]->component->id > (one)->component->id; at_--) \
      (owned)->list[at_] = (owned)->list[at_ - 1];                                     \
    (owned)->list[at_] = (one);                                                        \
  } while (0)

/* Takes one out, if it is there. */
#define OWNED_LEAVE(owned, one)                                                        \
  do {                                                                                 \
    uint32_t kept_ = 0;                                                                \
    for (uint32_t i_ = 0; i_ < (owned)->count; i_++)                                   \
      if ((owned)->list[i_] != (one)) (owned)->list[kept_++] = (owned)->list[i_];      \
    (owned)->count = kept_;                                                            \
  } while (0)

/* Requirements. The ids of every table include all that its components require, so following an
** edge of the graph needs no check. */

/* Why a relation cannot be required; to be formatted with its name. */
#define REQUIRES_RELATION \
  "'%s' is a relation, and there would be no target to tie it to: require components and tags only"

/* The room that a set of `count` ids needs for `more` ids and their requirements. */
uint64_t require_room(const ecs_world *world, uint64_t count, uint64_t more);

/* Inserts an id and its requirements into a set with the room that require_room says. Returns the
** new count. */
uint32_t require_insert(const ecs_world *world, ecs_id *ids, uint32_t count, uint64_t room,
                        ecs_id id);

/* A missing id, and the component that requires it. */
struct gap {
  ecs_id missing, by;
};

/* Whether a set lacks a requirement of one of its ids. If they are those of a table, its rows may
** have sparse components, too. */
bool require_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, bool in_table,
                 struct gap *gap);

/* Whether a living entity lacks a requirement. */
bool require_entity_gap(const ecs_world *world, ecs_id entity, struct gap *gap);

/* A component of the table that requires the id; ECS_NULL if there is none. */
ecs_id require_holder(const ecs_world *world, const struct table *table, ecs_id id);

/* Fails because the id is required, by the entity or, for ECS_NULL, in general. Returns
** ECS_EINVAL. */
ecs_status require_refuse(const ecs_world *world, ecs_id entity, struct gap gap);

/* Fails with ECS_ECYCLE and the path if a component would require itself. */
ecs_status require_check_cycles(ecs_world *world);

#endif
