#include "core/world/lifetime.h"

#include "core/base/pool.h"
#include "core/command/cascade.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/clone.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/cells.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/registry.h"
#include "core/storage/sparse.h"
#include "ecs_world.h"

/* A world and its schedule, allocated as one block. */
struct world_and_schedule {
  ecs_world world;
  struct schedule schedule;
  char message[MESSAGE_SIZE];
  struct blame blame;
};

ecs_status ecs_world_new(const ecs_world_desc *given, ecs_world **out) {
  ecs_world_desc desc = given ? *given : (ecs_world_desc){0};
  *out = NULL;
  if (desc.tag > 255 || desc.threads > 64 || (desc.jobs && !desc.jobs->run)) return ECS_EINVAL;
  struct memory memory = {desc.alloc ? desc.alloc : memory_from_heap, desc.alloc_ud, 0,
                          desc.memory};
  struct world_and_schedule *whole = memory_array(&memory, 1, sizeof *whole);
  if (!whole) return ECS_ENOMEM;
  ecs_world *world = &whole->world;
  world->memory = memory;
  world->message = whole->message;
  world->blame = &whole->blame;
  world->schedule = &whole->schedule;
  world->seed = desc.seed;
  world->now = 1;
  world->chance = chance_outermost(desc.seed);
  entity_index_init(&world->entities, desc.tag ? desc.tag : 1);
  world->watching = memory_array(&world->memory, 1, sizeof *world->watching);
  ecs_status status = world->watching ? graph_init(world) : ECS_ENOMEM;
  if (status == ECS_OK) status = schedule_init(world);
  if (status == ECS_OK && desc.threads > 1) {
    world->pool = pool_new(&world->memory, desc.threads, desc.jobs);
    if (!world->pool) status = ECS_ENOMEM;
  }
  if (status == ECS_OK)
    *out = world;
  else
    ecs_world_free(world);
  return status;
}

/* Frees all that a world stores, after attachments and schedule. */
static void lifetime_clear(ecs_world *world) {
  passages_free(world);
  while (world->first_query) query_free(world->first_query);
  struct memory *memory = &world->memory;
  staging_free(world);
  watching_free(world);
  graph_free(world);
  relations_clear(world);
  cascade_free(world);
  clone_free(world);
  FREE_LIST(memory, world->declared.prefabs, world->declared.capacity);
  registry_free(world);
  relations_free(world);
  name_table_clear(world, &world->names);
  intern_free(&world->strings, memory);
  sparses_free(world);
  events_free(world);
  FREE_LIST(memory, world->any.slots, world->any.capacity);
  entity_index_free(&world->entities, memory);
  FREE_LIST(memory, world->scratch, world->scratch_capacity);
  FREE_LIST(memory, world->writes, world->write_capacity);
  FREE_LIST(memory, world->parts, world->part_capacity);
  FREE_LIST(memory, world->tie_writes, world->tie_write_capacity);
  scratch_free(memory, &world->binding);
}

struct memory world_end(ecs_world *world) {
  while (world->attachments) world->attachments->free(world, world->attachments);
  schedule_free(world);
  lifetime_clear(world);
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

/* Counts each abandoned run as failed: its system has seen its changes, and its random stream
** repeats. Between the systems of a parallel batch nothing runs that a host could leave. */
static void lifetime_abandon_runs(ecs_world *world) {
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
    return world_fail(world, ECS_EBUSY, "system '%s' runs on several threads: its function must "
                      "return, not jump out", world->schedule->current->name);
  scope_drop(world, NONE);
  (void)callback_end_left(world, ECS_EUSER);
  for (; owner; owner = owner->next) owner->abandon(owner->ud);
  passages_free(world);
  lifetime_abandon_runs(world);
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

/* ---- world ---- */

const char *ecs_message(const ecs_world *world) { return world->message; }
size_t ecs_bytes(const ecs_world *world) { return world->memory.bytes; }
uint32_t ecs_world_tag(const ecs_world *world) { return world->entities.tag; }
size_t ecs_alive_count(const ecs_world *world) { return world->entities.alive; }

ecs_status ecs_entity_status(const ecs_world *world, ecs_id id) { return entity_need(world, id); }

bool ecs_alive(const ecs_world *world, ecs_id id) {
  return entity_find(&world->entities, id) != NULL;
}

ecs_status ecs_entity_range(ecs_world *world, uint32_t first, uint32_t last) {
  if (entity_set_range(&world->entities, first, last) == ECS_OK) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "entity range %u to %u is not within %u to %u", first, last,
                    FIRST_ENTITY, INDEX_LIMIT - 1);
}

/* ---- any values ---- */

static bool world_release(const struct cells *cells, void *ud) {
  uint32_t *slots = cells->data;
  for (uint32_t i = 0; i < cells->count; i++) {
    any_release(ud, slots[i]);
    slots[i] = 0;
  }
  return true;
}

void world_release_any(ecs_world *world, struct any_slots *any) {
  cells_each(world, ECS_ANY, CELLS_STORED, world_release, any);
}

/* ---- references to entities ---- */

static bool lifetime_clear_dead(const struct cells *cells, void *ud) {
  const ecs_world *world = ud;
  uint64_t *ids = cells->data;
  for (uint32_t i = 0; i < cells->count; i++)
    if (ids[i] && !ecs_alive(world, ids[i])) ids[i] = ECS_NULL;
  return true;
}

ecs_status ecs_recycle_retired(ecs_world *world, size_t *count) {
  ecs_status status = world_is_idle(world, "recycle_retired");
  if (status != ECS_OK) return status;
  cells_each(world, ECS_ENTITY, CELLS_STORED, lifetime_clear_dead, world);
  *count = entity_unretire(&world->entities);
  return ECS_OK;
}

/* ---- attachment ---- */

ecs_status world_prepare_attached(ecs_world *world) {
  const struct attachment *at = world->attachments;
  while (at && !at->prepare) at = at->next;
  return at ? at->prepare(world) : ECS_OK;
}

void world_attach_to(ecs_world *world, struct attachment *attachment) {
  attachment->next = world->attachments;
  world->attachments = attachment;
}

void world_detach_from(ecs_world *world, struct attachment *attachment) {
  struct attachment **at = &world->attachments;
  while (*at != attachment) {
    assert(*at);
    at = &(*at)->next;
  }
  *at = attachment->next;
}
