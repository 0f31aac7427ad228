/* Names of entities: unique among the living that have the same parent (ChildOf), or none; found in
** O(1) both ways. */
#ifndef ECS_CORE_ENTITY_NAME_H
#define ECS_CORE_ENTITY_NAME_H

#include "core/base/hash_map.h"
#include "core/ids/world.h"

/* A name by itself, which an entity is to have, or has had; it owns the text. */
struct naming {
  char *text;
  size_t size;               /* 0: none */
  uint32_t awaited;
};

/* Names an entity; ECS_ETAKEN names who has it. size 0 clears. A name has no dot, which paths
** need. In scopes it is a command, which applies in its turn, so that ECS_ETAKEN comes then. */
ecs_status name_set(ecs_world *world, ecs_id entity, const char *text, size_t size);

/* Names an entity at once, by any text: older images have names with dots, which no path finds. */
ecs_status name_put(ecs_world *world, ecs_id entity, const char *text, size_t size);

/* Names a copy whose spawn is staged, and so is its tie to a parent, another copy: nobody else has
** that name there. */
ecs_status name_await(ecs_world *world, ecs_id entity, uint32_t parent, ecs_string name);

/* Whether an entity can be given a name, by whom it has for a parent now: ECS_ETAKEN, ECS_ENOMEM.
** Then it can. */
ecs_status name_check(ecs_world *world, ecs_id entity, const struct naming *naming);

/* Who is about to die has no name for others, until it is shown again. Neither can fail. */
void name_hide(ecs_world *world, uint32_t entity);
void name_show(ecs_world *world, uint32_t entity);

/* Who is to be given a name by what is staged, and neither has a parent nor comes to have one;
** ECS_NULL. */
ecs_id name_to_come(const ecs_world *world, ecs_string name);

/* Gives an entity this name in exchange for the one that it has. Cannot fail behind name_check, nor
** to take it back. */
void name_exchange(ecs_world *world, ecs_id entity, struct naming *naming);

void name_drop(ecs_world *world, struct naming *naming);

/* A staged tie of the entity to a parent was taken back: it is still to come. Cannot fail. */
void name_return(ecs_world *world, uint32_t entity);

/* ECS_ETAKEN when the entity's name is another one's among a parent's children; 0: among those
** without a parent. */
ecs_status name_check_parent(const ecs_world *world, uint32_t entity, uint32_t parent);

/* After an entity has got another parent. Cannot fail. */
void name_follow(ecs_world *world, uint32_t entity);
/* size 0 when it has none. */
ecs_string name_of(const ecs_world *world, ecs_id entity);
/* The child of that name, or, with 0, the entity without a parent. */
ecs_id name_find(const ecs_world *world, uint32_t parent, const char *text, size_t size);
/* The entity at the end of a path, "ship.turret.barrel"; ECS_NULL when there is none. */
ecs_id name_lookup(const ecs_world *world, const char *path, size_t size);
void name_forget(ecs_world *world, uint32_t entity);
void name_table_free(ecs_world *world);

/* A table with the same names; on failure nothing is kept. */
ecs_status name_table_copy(ecs_world *world, const struct name_table *from,
                           struct name_table *to);
void name_table_clear(ecs_world *world, struct name_table *table);

#endif
