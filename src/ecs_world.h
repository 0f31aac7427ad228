/* Worlds: made, asked about themselves and their ids, freed. */
#ifndef ECS_WORLD_H
#define ECS_WORLD_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ecs_world_desc {
  ecs_alloc alloc;   /* required */
  void *alloc_ud;
  uint32_t tag;      /* 1 to 255, part of every entity's id */
  uint64_t seed;
} ecs_world_desc;

ECS_API ecs_status ecs_world_new(const ecs_world_desc *desc, ecs_world **out);

/* Frees everything; systems' free callbacks run. Not allowed from inside a system. */
ECS_API void ecs_world_free(ecs_world *world);

/* What the last failing call on this world disliked; "" at first. */
ECS_API const char *ecs_message(const ecs_world *world);

/* Bytes now held from the allocator. */
ECS_API size_t ecs_bytes(const ecs_world *world);

ECS_API uint32_t ecs_world_tag(const ecs_world *world);

/* Entities alive, components and tags not counted. */
ECS_API size_t ecs_alive_count(const ecs_world *world);

/* Walks every invariant: ECS_OK, or ECS_ECORRUPT with a message. */
ECS_API ecs_status ecs_check(ecs_world *world);

/* ECS_OK when alive in this world, else ECS_EDEAD, ECS_EUNBORN, ECS_EWORLD or ECS_ENOID. */
ECS_API ecs_status ecs_entity_status(const ecs_world *world, ecs_id id);
ECS_API bool ecs_alive(const ecs_world *world, ecs_id id);

/* Spawns take indices from first to last (both included) from now on. At least 65,536. */
ECS_API ecs_status ecs_entity_range(ecs_world *world, uint32_t first, uint32_t last);

/* Gives retired slots (their generations used up) back, after setting every entity field
** that still names one to ECS_NULL. *count is how many. */
ECS_API ecs_status ecs_recycle_retired(ecs_world *world, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
