/* Components and relations: declaring, finding and undeclaring them. */
#ifndef ECS_COMPONENT_H
#define ECS_COMPONENT_H

#include "ecs_types.h"
#include "ecs_value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ecs_field {
  const char *name;
  ecs_type type;
  uint32_t count;            /* elements of an array; 0 for a single value */
  ecs_id nested;             /* ECS_NESTED: the component whose fields it has */
  const char *const *names;  /* ECS_ENUM: its names, 1 to 65,535 */
  uint32_t name_count;
  ecs_value value;           /* the default; ECS_KIND_NONE for zero */
  size_t offset;             /* in the native struct, when the component has one */
  const char *doc;           /* these five are hints for tools, or NULL; each at most 65,535 bytes,
                             ** except text */
  const char *unit;
  const char *min;
  const char *max;
  const char *text;          /* the type as the user wrote it, for describe */
} ecs_field;

/* A field that had another name in an earlier declaration of its component. */
typedef struct ecs_rename {
  const char *name;
  const char *was;
} ecs_rename;

typedef struct ecs_component_desc {
  const char *name;          /* an identifier */
  const ecs_field *fields;
  uint32_t field_count;      /* 0 makes a tag */
  size_t native_size;        /* sizeof the native struct, at most 512 KB; 0: by C's rules */
  const char *doc;
  const ecs_rename *was;     /* for migration */
  uint32_t was_count;
  const ecs_id *required;    /* components and tags, not relations, that are added with it */
  uint32_t required_count;
  const char *old_name;      /* an earlier name of the component, known or not; or NULL */
  bool relation;             /* it ties its entity to others: see ecs_relation */
  bool exclusive;            /* for relations: at most one target */
  bool acyclic;              /* for exclusive relations: refuses cycles */
  ecs_policy on_target_despawn;
  bool toggle;               /* can be switched off by ecs_disable; not for relations */
  bool sparse;               /* stored outside tables, packed: adding or removing it moves no row,
                             ** and cells of other components stay where they are; not for
                             ** relations */
  bool track;                /* `:changed` works by row, and `:added` is possible; takes 16 bytes
                             ** per row. Without it, `:changed` works by groups of 1,024 rows */
  uint32_t length;           /* not 0: an array of the world, as ecs_array declares it, not a
                             ** component; it has one field and none of the options above */
  bool event;                /* an event, as ecs_event declares it, which no entity has; its only
                             ** options are `was` and `old_name` */
} ecs_component_desc;

/* Declares a component, or finds it if it already has the same fields. If the fields differ, it is
** migrated in every table: fields are matched by name (`was` for renames), new ones get their
** default, floats are rounded, any other conversion must be exact. ECS_ERANGE names the entity,
** field and value that would not fit, ECS_EBUSY is returned inside scopes; the world is then as it
** was. Components that nest this one follow. A component that still has old_name becomes this one
** and keeps its id, rows and values, and images with the old name load into it; ECS_ETAKEN if both
** names are in use. Rows that have the component gain what it requires; ECS_ECYCLE, with the path,
** if it would come to require itself. Whether it is sparse may change too: values move. ECS_EBUSY
** if it stops being a `toggle` while an entity has it switched off. */
ECS_API ecs_status ecs_component(ecs_world *world, const ecs_component_desc *desc,
                                 ecs_id *out);

/* Declares a component without fields; what it requires and where it is stored stay as they are.
** ECS_EINVAL if it has fields: only ecs_component drops them. */
ECS_API ecs_status ecs_tag(ecs_world *world, const char *name, ecs_id *out);

/* Declares a relation: a component that ties its entity, the source, to a target. In a relation
** with several targets each tie is a pair: an id that is used like a component's and has the fields
** as its data. An exclusive relation has a field `target` of type entity before the given ones (its
** struct begins with an ecs_id), which ecs_set changes like any other; an entity has the relation
** while its target lives. desc->relation need not be set. */
ECS_API ecs_status ecs_relation(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);

/* The component or tag of that name; ECS_NULL if there is none. */
ECS_API ecs_id ecs_component_find(const ecs_world *world, const char *name);
ECS_API const char *ecs_component_name(const ecs_world *world, ecs_id component);

/* Removes the component from every entity and forgets it. ECS_EINVAL while another component nests
** or requires it. Queries that name it fail from then on (ECS_ENAME). */
ECS_API ecs_status ecs_undeclare(ecs_world *world, ecs_id component);

#ifdef __cplusplus
}
#endif

#endif
