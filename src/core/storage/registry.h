/* The registry of components, by index and by name, with resources and arrays. */
#ifndef ECS_CORE_STORAGE_REGISTRY_H
#define ECS_CORE_STORAGE_REGISTRY_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/base/memory.h"
#include "core/ids/world.h"
#include "core/storage/component.h"

struct ecs_component_desc;

#define NAME_LIMIT 63u            /* bytes of a component's or field's name */

/* Adds a component, in reserved room, to the index of names, or removes it. */
void component_enter_name(ecs_world *world, const struct component *component);
void component_leave_name(ecs_world *world, const struct component *component);

/* Gives a component an id and registers its name. */
ecs_status registry_add(ecs_world *world, struct component *component);

/* Undoes registry_add and frees the component, the last one added, to which nothing refers. */
void registry_take_back(ecs_world *world, struct component *component);

/* Steps of registry_add for a given index, whose entity is alive. registry_reserve for the index
** and registry_equip for the id, which makes the data of relations and sparse components, can fail;
** registry_enter then cannot. */
ecs_status registry_reserve(ecs_world *world, uint32_t index);
ecs_status registry_equip(ecs_world *world, struct component *component, ecs_id id);
void registry_enter(ecs_world *world, struct component *component, uint32_t index);

void registry_free(ecs_world *world);

/* Resources: one value of a component, owned by the world. Each leaf is a column with one row, or
** with as many as an array is long. */

/* Gives the component a value with defaults, unless it has one. */
ecs_status resource_new(ecs_world *world, struct component *component);
void resource_free(ecs_world *world, struct component *component);

/* Writes cells; releases the any slots that they replace. */
void resource_write(ecs_world *world, struct component *component,
                    const struct write *writes, uint32_t count);

/* Arrays: columns that belong to the world. An array is registered like a component, with a name,
** an id and a single leaf whose cells are its resource, but no entity can have it and no field can
** have its type. */

#define ARRAY_FIELD "value"            /* name of its leaf */
#define ARRAY_LENGTH_LIMIT 16777216u   /* floats of every type count exactly up to this */

/* Whether an array can have elements of a type: numbers, bool, entity. */
bool array_takes(ecs_type type);

/* Checks the description of an array; ECS_OK for any other. */
ecs_status array_check_desc(const ecs_world *world, const struct ecs_component_desc *desc);

/* The first fails because a component is not an array, or not an event; the second because no
** array, event or other component has that name. */
ecs_status component_not_kind(const ecs_world *world, const struct component *component,
                              const char *kind);
ecs_status component_unknown_kind(const ecs_world *world, const char *name, size_t size,
                                  const char *kind);

/* Finds the id of an array by its name, or says what the name stands for instead. */
ecs_status array_need_name(const ecs_world *world, const char *name, size_t size, ecs_id *out);

/* Checks the invariants of an array. ECS_OK or ECS_ECORRUPT. */
ecs_status array_check(const ecs_world *world, const struct component *array);

/* The leaf of an array. */

#define ARRAY_LEAF 0u

static inline ecs_type array_type(const struct component *array) {
  assert(array->length > 0);
  return array->leaves[ARRAY_LEAF].type;
}

/* Its cells, valid until it is migrated, undeclared or loaded. */
static inline void *array_data(const struct component *array) {
  assert(array->length > 0 && array->resource);
  return array->resource[ARRAY_LEAF].data;
}

#endif
