#include <lauxlib.h>

#include "core/base/chance.h"
#include "core/base/text.h"
#include "core/schedule/schedule.h"
#include "ecs_system.h"
#include "kernel/random.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"

static const char *const phase_keys[] = {"after", "before", "fixed", NULL};

void read_phase(lua_State *L, int index, ecs_phase_desc *desc) {
  if (lua_isnil(L, index)) return;
  char what[128];
  text_format(what, sizeof what, "phase '%s'", desc->name);
  luaL_checktype(L, index, LUA_TTABLE);
  check_keys(L, index, what, phase_keys);
  desc->after = text_option(L, index, what, "after");
  desc->before = text_option(L, index, what, "before");
  desc->fixed = seconds_option(L, index, what, "fixed");
}

/* world:phase(name, { after =, before =, fixed = }) */
static int schedule_world_phase(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_phase_desc desc = {.name = check_text(L, 2, NULL)};
  lua_settop(L, 3);
  read_phase(L, 3, &desc);
  if (box->stage) {
    stage_options(L, box, REGISTERED_PHASE);
    return 0;
  }
  RETRY_OR_RAISE(L, box, ecs_phase(box->world, &desc));
  return settle(L, box, 1);
}

/* What to run: everything (name is NULL), or one phase or system. */
struct timed_run {
  const char *name;
  double dt;
};

static ecs_status run_schedule(ecs_world *world, const void *ud) {
  const struct timed_run *what = ud;
  return what->name ? ecs_run(world, what->name, what->dt) : ecs_update(world, what->dt);
}

/* First ends loops that are left open, as all calls that run systems do. */
static int schedule_run(lua_State *L, struct world_box *box, const char *name, double dt) {
  const struct timed_run what = {name, dt};
  loops_finish(L, box);
  run_in_frame(L, box, run_schedule, &what);
  return settle(L, box, FRAME_WORLD);
}

void warn_later(lua_State *L, struct world_box *box, int world_index, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list args;
  va_start(args, format);
  text_vformat(text, sizeof text, format, args);
  va_end(args);
  need_stack(L, 4);
  lua_getiuservalue(L, world_index, WORLD_WARNINGS);
  if (lua_getfield(L, -1, text) == LUA_TNIL) {
    lua_pushboolean(L, 1);
    lua_setfield(L, -3, text);
    lua_pushstring(L, text);
    lua_rawseti(L, -3, (lua_Integer)lua_rawlen(L, -3) + 1);
    box->systems->untold++;
  }
  lua_pop(L, 2);
}

/* Warns once about each name in `before` and `after` that does not exist, and about other mistakes
** that raise no errors. The host's warning function may do anything. */
static struct world_box *schedule_warn(lua_State *L, struct world_box *box) {
  char text[MESSAGE_SIZE];
  while (schedule_tell(box->world, text, sizeof text)) warn_later(L, box, 1, "%s", text);
  struct systems *systems = box->systems;
  if (UNLIKELY(systems->doubtful) && --systems->doubtful == 0) {
    observers_doubt(L, box);
    box = check_free_world(L, 1);
  }
  while (UNLIKELY(systems->untold)) {
    lua_getiuservalue(L, 1, WORLD_WARNINGS);
    lua_rawgeti(L, -1, (lua_Integer)lua_rawlen(L, -1) - --systems->untold);
    lua_warning(L, "ecs: ", 1);
    lua_warning(L, lua_tostring(L, -1), 0);
    lua_pop(L, 2);
    box = check_free_world(L, 1);
  }
  return box;
}

static int schedule_world_update(lua_State *L) {
  struct world_box *box = schedule_warn(L, check_free_world(L, 1));
  double dt = check_seconds(L, 2);
  lua_settop(L, 1);
  lua_settop(L, FRAME_SIZE);
  return schedule_run(L, box, NULL, dt);
}

/* world:run(name, dt). The name stays on the stack, after the frame. */
static int schedule_world_run(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  size_t size;
  const char *name = check_text(L, 2, &size);
  double dt = lua_isnoneornil(L, 3) ? 0 : check_seconds(L, 3);
  ecs_system *system = schedule_system(box->world, name, size);
  if (!system && !schedule_phase(box->world, name, NULL))
    return raise_argument(L, box->world, schedule_unknown(box->world, name, true), 2);
  lua_settop(L, 2);
  lua_settop(L, FRAME_SIZE + 1);
  lua_rotate(L, 2, -1);
  return schedule_run(L, box, name, dt);
}

/* world:alpha(phase): how far a fixed phase is between two steps, from 0 to 1. */
static int schedule_world_alpha(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const char *phase = lua_isnoneornil(L, 2) ? NULL : check_text(L, 2, NULL);
  double alpha = 0;
  raise_failure(L, box->world, ecs_alpha(box->world, phase, &alpha));
  lua_pushnumber(L, (lua_Number)alpha);
  return 1;
}

/* ---- lua random ---- */

/* world:random(e): the same numbers as in compiled functions. */

static lua_Integer schedule_random_bound(lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TNUMBER);
  return luaL_checkinteger(L, arg);
}

/* world:random(e), (e, n), (e, m, n), like math.random: a float in [0, 1), or an integer in [1, n]
** or [m, n], from the open stream (core/base/chance.h): the same on every machine and in every
** tier. */
static int schedule_world_random(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id entity = check_entity(L, box, 2);
  int count = lua_gettop(L) - 2;
  if (count > 2) return luaL_argerror(L, 5, "at most two bounds");
  lua_Integer low = 1, high = 1;
  if (count == 2) low = schedule_random_bound(L, 3);
  if (count > 0) high = schedule_random_bound(L, 2 + count);
  luaL_argcheck(L, low <= high, 3, "interval is empty");
  struct chance *chance = box->chance;
  int64_t bits = k_random((int64_t)chance->key, (int64_t)*box->tick, (int64_t)entity,
                          (int64_t)chance->calls++);
  if (count == 0)
    lua_pushnumber(L, (lua_Number)k_random_unit(bits));
  else
    lua_pushinteger(L, (lua_Integer)k_random_range(bits, low, high));
  return 1;
}

const luaL_Reg world_schedule_methods[] = {
  {"alpha", schedule_world_alpha},
  {"phase", schedule_world_phase},
  {"random", schedule_world_random},
  {"run", schedule_world_run},
  {"update", schedule_world_update},
  {NULL, NULL}
};
