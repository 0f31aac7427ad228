#include "core/world/lifetime.h"

#include "core/base/pool.h"
#include "core/index/indexing.h"
#include "core/schedule/callback.h"
#include "core/schedule/reading.h"
#include "core/schedule/schedule.h"
#include "core/world/attachment.h"
#include "core/query/changes.h"
#include "core/world/check.h"
#include "core/command/command.h"
#include "core/query/passage.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "ecs_world.h"

/* One block of memory. */
struct world_and_schedule {
  ecs_world world;
  struct schedule schedule;
  char message[MESSAGE_SIZE];
};

static ecs_status make_pool(ecs_world *world, const ecs_world_desc *desc) {
  if (desc->threads < 2) return ECS_OK;
  world->pool = pool_new(&world->memory, desc->threads, desc->jobs);
  return world->pool ? ECS_OK : ECS_ENOMEM;
}

ecs_status ecs_world_new(const ecs_world_desc *given, ecs_world **out) {
  ecs_world_desc desc = given ? *given : (ecs_world_desc){0};
  *out = NULL;
  if (desc.tag > 255 || desc.threads > 64 || (desc.jobs && !desc.jobs->run)) return ECS_EINVAL;
  struct memory memory = {desc.alloc ? desc.alloc : memory_from_heap, desc.alloc_ud, 0};
  struct world_and_schedule *whole = memory_array(&memory, 1, sizeof *whole);
  if (!whole) return ECS_ENOMEM;
  ecs_world *world = &whole->world;
  world->memory = memory;
  world->message = whole->message;
  world->schedule = &whole->schedule;
  ecs_status status = world_init(world, desc.tag ? desc.tag : 1, desc.seed);
  if (status == ECS_OK) status = schedule_init(world);
  if (status == ECS_OK) status = make_pool(world, &desc);
  if (status == ECS_OK)
    *out = world;
  else
    ecs_world_free(world);
  return status;
}

struct memory world_end(ecs_world *world) {
  while (world->attachments) world->attachments->free(world, world->attachments);
  schedule_free(world);
  world_clear(world);
  if (world->pool) pool_free(world->pool);
  struct memory account = world->memory;
  memory_free(&account, world, sizeof(struct world_and_schedule));
  return account;
}

void ecs_world_free(ecs_world *world) {
  if (!world) return;
  struct memory account = world_end(world);
  assert(account.bytes == 0);
  (void)account;
}

/* The run that was left counts as one that failed: what was new to its system is known, and its
** stream of random numbers comes again. Nothing is left between a batch's systems, which run no
** function of a host's (together.h). */
static void abandon_runs(ecs_world *world) {
  struct schedule *schedule = world->schedule;
  ecs_system *current = schedule->current;
  assert(!schedule->together);
  changes_close_all(world, schedule->news ? current->reads : NULL);
  if (schedule->news) news_end(world, current);
  reading_end(world);
  if (current) current->streams--;
  if (world->updating) world->chance = schedule->outer;
  schedule->current = NULL;
  schedule->news = world->updating = world->running = false;
  schedule->running_count = 0;
  schedule->clock = 0;
}

ecs_status ecs_abandon(ecs_world *world) {
  struct watching *watching = world->watching;
  const struct loop_owner *owner = world->staging.loop_owners;
  if (world->shared)
    return world_fail(world, ECS_EBUSY, "system '%s' runs on several threads: its function cannot "
                      "be left", world->schedule->current->name);
  scope_drop(world, NONE);
  (void)callback_end_left(world, ECS_EUSER);
  for (; owner; owner = owner->next) owner->abandon(owner->ud);
  passages_free(world);
  abandon_runs(world);
  watching->shown = NULL;
  if (watching->due == 0) watch_forget_changes(world);
  indexes_abandon(world);
  schedule_free_gone(world);
  return ECS_OK;
}

ecs_status ecs_check(ecs_world *world) {
  ecs_status status = store_check(world);
  if (status == ECS_OK) status = schedule_check(world);
  return status == ECS_OK ? indexes_check(world) : status;
}
