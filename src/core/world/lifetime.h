/* The life of a world as a whole: what it stores, and its schedule. */
#ifndef ECS_CORE_WORLD_LIFETIME_H
#define ECS_CORE_WORLD_LIFETIME_H

#include "core/base/base.h"
#include "core/storage/cells.h"

/* Frees a world and everything in it. Returns its memory account, which still counts blocks that
** others hold. */
struct memory world_end(ecs_world *world);

/* Data that other modules attach to a world, freed with it at the latest. */

/* An attachment: data in a world's memory, freed with it at the latest. */
struct attachment {
  struct attachment *next;
  void (*free)(ecs_world *world, struct attachment *attachment);   /* also detaches it */
  /* Calls back for the cells that it keeps, like cells_each; NULL if it keeps none. */
  bool (*cells)(const ecs_world *world, const struct attachment *attachment, ecs_type type,
                cells_fn visit, void *ud);
  /* Called before components change, as a preparation that may fail; NULL if not needed. */
  ecs_status (*prepare)(ecs_world *world);
};

void world_attach_to(ecs_world *world, struct attachment *attachment);
void world_detach_from(ecs_world *world, struct attachment *attachment);

/* Checks of what a world stores. */

/* Checks every invariant that other code relies on. Returns ECS_OK, or ECS_ECORRUPT with the reason
** as message. */
ecs_status store_check(const ecs_world *world);

/* In a build with ECS_PARANOID, called at the start and end of public calls: asserts all
** invariants. */
#ifdef ECS_PARANOID
void world_be_sure(ecs_world *world);
#else
static inline void world_be_sure(ecs_world *world) { (void)world; }
#endif

#endif
