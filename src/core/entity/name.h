/* Names of entities: unique among living entities with the same parent (ChildOf), or without one;
** found in O(1) both ways. */
#ifndef ECS_CORE_ENTITY_NAME_H
#define ECS_CORE_ENTITY_NAME_H

#include "core/ids/world.h"

/* A name that an entity will have or has had; owns the text. */
struct naming {
  char *text;
  size_t size;               /* 0: none */
  uint32_t awaited;
};

/* Names an entity, or with size 0 removes its name. ECS_ETAKEN says which entity has the name.
** Names cannot have dots, which separate paths. Inside a scope it is a command, which may fail when
** it applies. */
ecs_status name_set(ecs_world *world, ecs_id entity, const char *text, size_t size);

/* Names an entity at once, with any text: older images have names with dots, which no path
** finds. */
ecs_status name_put(ecs_world *world, ecs_id entity, const char *text, size_t size);

/* Names a copy whose spawn and tie to a parent, another copy, are staged: the name is free
** there. */
ecs_status name_await(ecs_world *world, ecs_id entity, uint32_t parent, ecs_string name);

/* Whether an entity can be given a name under its present parent: ECS_ETAKEN, ECS_ENOMEM. If so,
** name_exchange cannot fail. */
ecs_status name_check(ecs_world *world, ecs_id entity, const struct naming *naming);

/* Hides the name of a dying entity from others, or shows it again. Cannot fail. */
void name_hide(ecs_world *world, uint32_t entity, bool hidden);

/* The entity without a present or future parent that staged commands will give a name; or
** ECS_NULL. */
ecs_id name_to_come(const ecs_world *world, ecs_string name);

/* Exchanges an entity's name for this one. Cannot fail after name_check, nor when undoing it. */
void name_exchange(ecs_world *world, ecs_id entity, struct naming *naming);

void name_drop(ecs_world *world, struct naming *naming);

/* Called when a staged tie of the entity to a parent is undone, to be made later. Cannot fail. */
void name_return(ecs_world *world, uint32_t entity);

/* ECS_ETAKEN if another child of a parent (0: an entity without one) has the entity's name. */
ecs_status name_check_parent(const ecs_world *world, uint32_t entity, uint32_t parent);

/* Called after an entity has moved to another parent. Cannot fail. */
void name_follow(ecs_world *world, uint32_t entity);
/* The entity's name; size 0 if it has none. */
ecs_string name_of(const ecs_world *world, ecs_id entity);
/* The child of that name or, for 0, the entity without a parent. */
ecs_id name_find(const ecs_world *world, uint32_t parent, const char *text, size_t size);
/* The entity at the end of a path such as "ship.turret.barrel"; or ECS_NULL. */
ecs_id name_lookup(const ecs_world *world, const char *path, size_t size);
void name_forget(ecs_world *world, uint32_t entity);

/* Copies a table of names; on failure nothing is kept. */
ecs_status name_table_copy(ecs_world *world, const struct name_table *from,
                           struct name_table *to);
void name_table_clear(ecs_world *world, struct name_table *table);

#endif
