/* Worlds: creating and freeing them, their state, the status of ids. */
#ifndef ECS_WORLD_H
#define ECS_WORLD_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The host's own threads, for a world to share its work with. run(ud, n, task, job) calls task(job,
** i) once for each i from 0 to n - 1, on any threads, concurrently or not, and returns when all
** calls have returned. */
typedef struct ecs_jobs {
  void (*run)(void *ud, uint32_t n, void (*task)(void *job, uint32_t i), void *job);
  void *ud;
} ecs_jobs;

/* The number of threads changes no result. The world starts threads when there is work for them,
** fewer if the system refuses some, and ends them when it is freed; they neither allocate nor call
** the host. Calls on the world still come from one thread at a time. A child process has no
** threads. */
typedef struct ecs_world_desc {
  ecs_alloc alloc;   /* NULL: malloc's family */
  void *alloc_ud;
  uint32_t tag;      /* 1 to 255, part of every entity's id; 0 for 1 */
  uint64_t seed;
  uint32_t threads;  /* how many work, including the caller: at most 64; 0 or 1: only it */
  size_t memory;     /* the most bytes that the world may use; 0: no limit */
  const ecs_jobs *jobs;   /* instead of the world's own threads; copied; or NULL */
} ecs_world_desc;

/* desc may be NULL, which means all zeros. ECS_EINVAL, and *out is NULL, for a tag above 255, more
** than 64 threads, or jobs without `run`. */
ECS_API ecs_status ecs_world_new(const ecs_world_desc *desc, ecs_world **out);

/* Frees everything and calls the systems' `free`. Not allowed inside a system. */
ECS_API void ecs_world_free(ecs_world *world);

/* What went wrong in the last call that failed on this world; "" at first. */
ECS_API const char *ecs_message(const ecs_world *world);

/* Bytes currently held from the allocator. */
ECS_API size_t ecs_bytes(const ecs_world *world);

ECS_API uint32_t ecs_world_tag(const ecs_world *world);

/* Living entities, not counting components and tags. */
ECS_API size_t ecs_alive_count(const ecs_world *world);

/* Checks every invariant: ECS_OK, or ECS_ECORRUPT with a message. */
ECS_API ecs_status ecs_check(ecs_world *world);

/* Makes a world usable again after longjmp or an exception has left a function of the host's: a
** system's `run` or `when`, an observer, the error handler, an index's `key`, or code with open
** iterations. Ends all scopes, iterations and loops, and drops what was deferred in them; immediate
** writes stay. An update ends where it was and is not counted; observers not yet called are not
** notified. Do not close the iterations that were open. If nothing is open, it does nothing. Never
** call it from a function that the world calls. A system's `parallel` (ECS_EBUSY, and the world
** stays as it is), allocators, `free`, jobs, readers, writers and codecs must not be left this
** way. */
ECS_API ecs_status ecs_abandon(ecs_world *world);

/* ECS_OK if it is alive in this world, otherwise ECS_EDEAD, ECS_EUNBORN, ECS_EWORLD or
** ECS_ENOID. */
ECS_API ecs_status ecs_entity_status(const ecs_world *world, ecs_id id);
ECS_API bool ecs_alive(const ecs_world *world, ecs_id id);

/* From now on spawns use indices from first to last (both inclusive); first is at least 65,536. */
ECS_API ecs_status ecs_entity_range(ecs_world *world, uint32_t first, uint32_t last);

/* Makes retired slots (whose generations are used up) available again, after setting every entity
** field that still names one to ECS_NULL. *count is how many. */
ECS_API ecs_status ecs_recycle_retired(ecs_world *world, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
