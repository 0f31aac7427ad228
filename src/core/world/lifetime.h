/* The life of a world as a whole: what it stores, and its schedule. */
#ifndef ECS_CORE_WORLD_LIFETIME_H
#define ECS_CORE_WORLD_LIFETIME_H

#include "core/base/base.h"
#include "core/storage/cells.h"

/* Frees a world with all it holds, and returns its account of memory, which now counts what it took
** and somebody else has. */
struct memory world_end(ecs_world *world);

/* What others keep with a world: it goes at the latest with it. */

/* What others keep in a world's memory, freed with it at the latest. */
struct attachment {
  struct attachment *next;
  void (*free)(ecs_world *world, struct attachment *attachment);   /* also detaches it */
  /* As cells_each, of the cells that it keeps; NULL when it keeps none. */
  bool (*cells)(const ecs_world *world, const struct attachment *attachment, ecs_type type,
                cells_fn visit, void *ud);
  /* Components are about to change, as far as that is possible; NULL when it need not know. */
  ecs_status (*prepare)(ecs_world *world);
};

void world_attach_to(ecs_world *world, struct attachment *attachment);
void world_detach_from(ecs_world *world, struct attachment *attachment);

/* The invariants of what a world stores. */

/* Walks every invariant that other code relies on: ECS_OK, or ECS_ECORRUPT with what is wrong as
** the message. */
ecs_status store_check(const ecs_world *world);

/* In a build with ECS_PARANOID, at the beginning and the end of public calls: asserts that every
** invariant holds. */
#ifdef ECS_PARANOID
void world_be_sure(ecs_world *world);
#else
static inline void world_be_sure(ecs_world *world) { (void)world; }
#endif

#endif
