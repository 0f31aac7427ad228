/* The registry: which components there are, by index and by name. */
#ifndef ECS_CORE_STORAGE_REGISTRY_H
#define ECS_CORE_STORAGE_REGISTRY_H

#include "core/base/hash_map.h"

struct component;

#define NAME_LIMIT 63u            /* bytes of a component's or field's name */

struct registry {
  uint64_t version;                /* counts migrations and removals, also those taken back */
  uint64_t layouts;                /* counts those that rows may have had a part in */
  bool shown;                      /* as a migration will leave it: see migration_show */
  bool requires;                   /* some component requires others, or has done so */
  bool renamed;                    /* the same of those that were called otherwise */
  uint32_t renaming;               /* names that may come back: see migration_rename */
  struct component **components;   /* by index, up to `count` */
  uint32_t count;
  uint32_t capacity;
  struct map names;                /* hash of name -> index of first, then by `next` */
  uint32_t *next;                  /* by index: the next one with the same hash */
  uint32_t next_capacity;
};

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

#endif
