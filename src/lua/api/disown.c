/* Leaving a world that a host has lent: nothing of this Lua state stays in it. */
#include "lua/api/disown.h"

#include "core/image/snapshot.h"
#include "core/schedule/timetable.h"
#include "core/storage/cells.h"
#include "core/ids/world.h"
#include "ecs_system.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/jit/index_keys.h"
#include "lua/loop/loop.h"
#include "lua/loop/loop_box.h"
#include "lua/api/lua_query.h"
#include "lua/api/system_box.h"
#include "lua/jit/system_run.h"

static ecs_status disown_nothing(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_OK;
}

static ecs_status observe_nothing(ecs_world *world, ecs_sight *sight, void *ud) {
  (void)world, (void)sight, (void)ud;
  return ECS_OK;
}

/* Whatever the core still does with a system, it does without its object. */
static void disown_detach(ecs_system *system) {
  system->run = disown_nothing;
  if (system->watch) system->observe = observe_nothing;
  system->when = NULL;
  system->free = NULL;
  system->ud = NULL;
}

static bool disown_is_of(const ecs_system *system, const struct world_box *box) {
  const struct system_box *script = system_script(system);
  return script && (!box || script->box == box);
}

void systems_detach(ecs_world *world, const struct world_box *box) {
  const struct schedule *schedule = world->schedule;
  for (ecs_system *gone = schedule->gone; gone; gone = gone->next_gone)
    if (disown_is_of(gone, box)) disown_detach(gone);
  for (uint32_t i = 0; i < schedule->system_count; i++)
    if (disown_is_of(schedule->systems[i], box)) disown_detach(schedule->systems[i]);
}

static void remove_systems(const struct world_box *box, ecs_world *world) {
  struct schedule *schedule = world->schedule;
  systems_detach(world, box);
  for (uint32_t i = schedule->system_count; i-- > 0;)
    if (schedule->systems[i]->run == disown_nothing)
      ecs_system_remove(world, schedule->systems[i]->name);
  if (schedule->on_error == script_failed && schedule->on_error_ud == box)
    ecs_on_error(world, NULL, NULL);
}

/* ---- any values --------------------------------------------------------------------------- */

struct clearing {
  struct any_slots *any;
  const struct any_owner *owner;
};

static bool disown_clear(const struct cells *cells, void *ud) {
  const struct clearing *clearing = ud;
  uint32_t *slots = cells->data;
  for (uint32_t i = 0; i < cells->count; i++) {
    if (!any_is_of(clearing->any, slots[i], clearing->owner)) continue;
    any_release(clearing->any, slots[i]);
    slots[i] = 0;
  }
  return true;
}

/* What this state has put into cells, those that a defer of the host still holds included. The
** values themselves go with the object of the world. */
static void clear_any(ecs_world *world, struct world_box *box) {
  struct clearing clearing = {&world->any, &box->any.owner};
  cells_each(world, ECS_ANY, CELLS_STORED | CELLS_STAGED, disown_clear, &clearing);
  while (any_next_released(&world->any, &box->any.owner)) continue;
}

/* ---- loops -------------------------------------------------------------------------------- */

static ecs_status end_loops(void *ud) { return loops_end(ud); }

static void end_system(void *ud, bool keep) { loops_end_system(ud, keep); }

/* A native system has raised an error through the update that a script had called. */
static void disown_abandon(void *ud) {
  struct world_box *box = ud;
  box->systems->running = NULL;
  box->depth = 0;
}

void world_own_loops(struct world_box *box) {
  struct staging *staging = &box->world->staging;
  struct loop_owner *owner = box->loops->owner;
  *owner = (struct loop_owner){staging->loop_owners, end_loops, end_system, disown_abandon,
                               words_reserve, box};
  staging->loop_owners = owner;
}

static void leave_loops(const struct world_box *box, ecs_world *world) {
  struct loop_owner **at = &world->staging.loop_owners;
  while (*at && *at != box->loops->owner) at = &(*at)->next;
  if (*at) *at = box->loops->owner->next;
}

const char lent_worlds_key = 0;

void world_disown(lua_State *L, struct world_box *box, ecs_world *world) {
  remove_systems(box, world);
  indexes_disown(world, box);
  leave_loops(box, world);
  queries_free(box, world);
  snapshots_free_of(world, box);
  clear_any(world, box);
  box->systems->gone = NULL;
  box->systems->gone_keys = NULL;
  box->systems->host = NULL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &lent_worlds_key) == LUA_TTABLE) {
    lua_pushnil(L);
    lua_rawsetp(L, -2, world);
  }
  lua_pop(L, 1);
}
