/* Components and relations: declared, found, undeclared. */
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
  ecs_id nested;             /* ECS_NESTED: the component whose fields these are */
  const char *const *names;  /* ECS_ENUM: its names, 1 to 65,535 */
  uint32_t name_count;
  ecs_value value;           /* the default; ECS_KIND_NONE for zero */
  size_t offset;             /* in the native struct, when the component has one */
  const char *doc;           /* these five are hints for tools, NULL when absent;
                                but for text, at most 65,535 bytes each */
  const char *unit;
  const char *min;
  const char *max;
  const char *text;          /* the type as it was written, for describe */
} ecs_field;

/* A field that was called otherwise in an earlier declaration of its component. */
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
  const ecs_id *required;    /* components and tags, no relations, that adding it brings */
  uint32_t required_count;
  const char *old_name;      /* what the component was called before; may be unknown, or NULL */
  bool relation;             /* it ties its entity to others: see ecs_relation */
  bool exclusive;            /* of relations: one target at most */
  bool acyclic;              /* of exclusive ones: no way leads back to where it began */
  ecs_policy on_target_despawn;
  bool toggle;               /* no relation: it can be switched off, by ecs_disable */
  bool sparse;               /* kept outside of tables, packed: adding it and removing it move no
                             ** row, and cells of others stay where they are; not for relations */
  bool track;                /* `:changed` is told by row, and `:added` can be asked for; it takes
                             ** 16 bytes for each row. Without: by groups of 1,024 rows */
  uint32_t length;           /* not 0: an array of the world, as ecs_array declares it, and no
                             ** component; it has one field and none of the options above */
  bool event;                /* an event, as ecs_event declares it, which no entity has; it takes
                             ** no option but `was` and `old_name` */
} ecs_component_desc;

/* Declares a component, or finds it when it has the same fields already. With other fields
** it is migrated in every table: fields are matched by name (`was` for renames), added ones
** get their default, floats round, anything else must be exact. ECS_ERANGE names the entity,
** field and value that would not fit, ECS_EBUSY comes inside scopes; the world is then as it
** was. Components made of this one follow. The one that still has old_name becomes this one, with
** its id, rows and values, and images that have the old name load into it; ECS_ETAKEN when both
** names are in use. Rows that have it get what it requires and they lack; ECS_ECYCLE, with the
** path, when it would come to require itself. Whether it is sparse may be declared otherwise, too:
** values move. ECS_EBUSY when it is no longer a `toggle` while an entity has it off. */
ECS_API ecs_status ecs_component(ecs_world *world, const ecs_component_desc *desc,
                                 ecs_id *out);

/* A component without fields; what it requires, and where it is kept, stays. ECS_EINVAL when it has
** some: only ecs_component drops them. */
ECS_API ecs_status ecs_tag(ecs_world *world, const char *name, ecs_id *out);

/* Declares a relation: a component that ties its entity, the source, to a target. Of a relation
** with several targets, each tie is a pair, an id that is used like a component's and has the
** fields as its data. An exclusive relation has a field `target` of type entity before those that
** are given (its struct begins with an ecs_id), which ecs_set changes like the others; an entity
** has it as long as its target lives. desc->relation need not be set. */
ECS_API ecs_status ecs_relation(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);

/* The component or tag of that name; ECS_NULL when there is none. */
ECS_API ecs_id ecs_component_find(const ecs_world *world, const char *name);
ECS_API const char *ecs_component_name(const ecs_world *world, ecs_id component);

/* Removes the component from every entity and forgets it. ECS_EINVAL while another component's
** field is made of it, or another component requires it. Queries that name it fail from then on
** (ECS_ENAME). */
ECS_API ecs_status ecs_undeclare(ecs_world *world, ecs_id component);

#ifdef __cplusplus
}
#endif

#endif
