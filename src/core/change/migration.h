/* What is to change when components are declared anew: see migrate.h. */
#ifndef ECS_CORE_CHANGE_MIGRATION_H
#define ECS_CORE_CHANGE_MIGRATION_H

#include "core/base/arena.h"

struct column_buffer;
struct component;
struct table;

enum leaf_fate { LEAF_KEPT, LEAF_ADDED, LEAF_DROPPED, LEAF_CONVERTED, LEAF_RENAMED };

struct report_item {
  enum leaf_fate fate;
  const char *name;           /* the leaf, as it is called now (dropped: was) */
  const char *from;           /* renamed: its name before; added: perhaps, see `maybe` */
  const char *from_type, *type;
  bool maybe;                 /* added, and `from` of the same type was dropped */
};

/* What a migration did to one component. Lives in the change's arena. */
struct report {
  const char *was;            /* what the component was called, or NULL */
  struct report_item *items;
  uint32_t count;
  uint64_t rows;
};

/* One component of a migration. */
struct change {
  bool valued;                 /* a tag that becomes a resource */
  struct component *component;   /* as it is registered */
  struct component *wanted;      /* what it becomes; NULL: it goes */
  bool renamed;                  /* it has its new name already: what it had before */
  const char *old_name;
  uint32_t old_size;
  const char *older_name;        /* and had been called before that */
  uint32_t *source;              /* by leaf of wanted: the old leaf, or NONE */
  struct column_buffer *resource;
  struct report report;          /* `wanted` has what is to keep it, if it is sparse or was so */
  struct arena arena;
};

/* A component that only what it was called before changes of. */
struct relabeling {
  struct component *component;
  struct component *same;        /* has the new labels; afterwards the old ones */
};

struct migration {
  ecs_world *world;
  struct change *changes;
  uint32_t count, capacity;
  const char *refused;           /* the component whose cell did not convert; of its arena */
  struct relabeling *relabelings;
  uint32_t relabeling_count, relabeling_capacity;
  bool committed;
  bool staged;                   /* declarations may still go: names are compared afterwards */
  struct component **superseded; /* what others may be made of still, until they are followed */
  uint32_t superseded_count, superseded_capacity;
  struct arena arena;            /* of new names */
  struct table **tables;         /* what replaces the table of the same index */
  uint32_t table_count, table_capacity;
};

#endif
