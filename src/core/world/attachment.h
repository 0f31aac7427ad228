/* What others keep with a world: it goes at the latest with it. */
#ifndef ECS_CORE_WORLD_ATTACHMENT_H
#define ECS_CORE_WORLD_ATTACHMENT_H

#include "core/storage/cells.h"

/* What others keep in a world's memory, freed with it at the latest. */
struct attachment {
  struct attachment *next;
  void (*free)(ecs_world *world, struct attachment *attachment);   /* also detaches it */
  /* As cells_each, of the cells that it keeps; NULL when it keeps none. */
  bool (*cells)(const ecs_world *world, const struct attachment *attachment, ecs_type type,
                cells_fn visit, void *ud);
};

void world_attach_to(ecs_world *world, struct attachment *attachment);
void world_detach_from(ecs_world *world, struct attachment *attachment);

#endif
