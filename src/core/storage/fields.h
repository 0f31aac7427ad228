/* What a component is made of: its declared fields, and the leaf fields that become columns. */
#ifndef ECS_CORE_STORAGE_FIELDS_H
#define ECS_CORE_STORAGE_FIELDS_H

#include "core/base/arena.h"
#include "core/base/one_cell.h"

struct column_buffer;
struct ecs_rename;
struct enumeration;

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

/* The cells of each leaf of what the world has of a component: a resource, or an array. */
static inline uint32_t component_cells(const struct component *component) {
  return component->length ? component->length : 1;
}

#endif
