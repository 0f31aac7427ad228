/* Worlds: made, asked about themselves and their ids, freed. */
#ifndef ECS_WORLD_H
#define ECS_WORLD_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads of the host's own, that a world is to share its work with. run(ud, n, task, job) calls
** task(job, i) for each i from 0 to n - 1 once, on any threads, at the same time or not, and
** returns when all have returned. */
typedef struct ecs_jobs {
  void (*run)(void *ud, uint32_t n, void (*task)(void *job, uint32_t i), void *job);
  void *ud;
} ecs_jobs;

/* What threads share changes no result. The world makes them when there is work for them, fewer
** where the system gives no more, and ends them when it is freed; they neither allocate nor call
** anything of the host's. It is called by one thread at a time as ever. A child process has
** none. */
typedef struct ecs_world_desc {
  ecs_alloc alloc;   /* NULL: malloc's family */
  void *alloc_ud;
  uint32_t tag;      /* 1 to 255, part of every entity's id; 0 for 1 */
  uint64_t seed;
  uint32_t threads;  /* that work, the calling one included: at most 64; 0, 1: that one alone */
  size_t memory;     /* bytes that the world may come to; 0: any number */
  const ecs_jobs *jobs;   /* instead of threads of the world's own, so many; copied; or NULL */
} ecs_world_desc;

/* desc may be NULL, which is one of zeros. ECS_EINVAL, and *out is NULL, for a tag above 255, more
** than 64 threads, jobs without `run`. */
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

/* Makes a world usable again after longjmp or an exception has left a function of the host's: a
** system's `run` or `when`, an observer, the handler of errors, an index's `key`, or one with open
** iterations. Ends all scopes, iterations and loops, and drops what was deferred in them; what was
** written at once stays. An update ends where it was, and is not counted; observers that were not
** called yet are not told. Do not close iterations that were open. With nothing open it does
** nothing. Never call it from a function that the world calls. A system's `parallel` (ECS_EBUSY,
** and the world stays as it is), allocators, `free`, jobs, readers, writers and codecs cannot be
** left. */
ECS_API ecs_status ecs_abandon(ecs_world *world);

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
