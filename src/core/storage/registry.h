/* The registry: which components there are, by index and by name. */
#ifndef ECS_CORE_STORAGE_REGISTRY_H
#define ECS_CORE_STORAGE_REGISTRY_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/base/memory.h"
#include "core/ids/world.h"
#include "core/storage/component.h"

struct ecs_component_desc;

#define NAME_LIMIT 63u            /* bytes of a component's or field's name */

/* Enters a component into the index of names, in which there is room, and takes it out again. */
void component_enter_name(ecs_world *world, const struct component *component);
void component_leave_name(ecs_world *world, const struct component *component);

/* Gives a component an id and makes its name known. */
ecs_status registry_add(ecs_world *world, struct component *component);

/* Takes that back: nothing knows the component, which is freed, and none was added since. */
void registry_take_back(ecs_world *world, struct component *component);

/* registry_add with a given index, whose slot in the entity index is alive; after registry_reserve
** for that index, and registry_equip with its id, which makes what relations and sparse components
** need beside, it cannot fail. */
ecs_status registry_reserve(ecs_world *world, uint32_t index);
ecs_status registry_equip(ecs_world *world, struct component *component, ecs_id id);
void registry_enter(ecs_world *world, struct component *component, uint32_t index);

void registry_free(ecs_world *world);

/* Resources: one value of a component, owned by the world. Each leaf is a column of one row; that
** of an array has as many as it is long. */

/* Gives the component its value, with defaults; no effect when it has one. */
ecs_status resource_new(ecs_world *world, struct component *component);
void resource_free(ecs_world *world, struct component *component);

/* Writes cells; replaced any slots are released. */
void resource_write(ecs_world *world, struct component *component,
                    const struct write *writes, uint32_t count);

/* Arrays: columns that belong to the world. An array is registered as a component is, under a name
** and an id of its own, with a single leaf whose cells are its resource; but no entity can have it,
** and no field is made of it. */

#define ARRAY_FIELD "value"            /* what its leaf is called */
#define ARRAY_LENGTH_LIMIT 16777216u   /* up to there floats of every type count exactly */

/* Whether cells of a type can be those of an array: numbers, truth values, entities. */
bool array_takes(ecs_type type);

/* ECS_OK for what is no array's description, or a sound one's. */
ecs_status array_check_desc(const ecs_world *world, const struct ecs_component_desc *desc);

/* Says that a component is something else than an array, or an event; that none of these has that
** name. */
ecs_status component_not_kind(const ecs_world *world, const struct component *component,
                              const char *kind);
ecs_status component_unknown_kind(const ecs_world *world, const char *name, size_t size,
                                  bool array);

/* The array of an id, or a message that tells what it is instead; the id of the array of a name. */
ecs_status array_need(const ecs_world *world, ecs_id id, struct component **out);
ecs_status array_need_name(const ecs_world *world, const char *name, size_t size, ecs_id *out);

/* The invariants of one: ECS_OK or ECS_ECORRUPT. */
ecs_status array_check(const ecs_world *world, const struct component *array);

/* The cells of an array: see array.h. */

#define ARRAY_LEAF 0u

static inline ecs_type array_type(const struct component *array) {
  assert(array->length > 0);
  return array->leaves[ARRAY_LEAF].type;
}

/* Its cells: as long as it is not migrated, undeclared or loaded. */
static inline void *array_data(const struct component *array) {
  assert(array->length > 0 && array->resource);
  return array->resource[ARRAY_LEAF].data;
}

#endif
