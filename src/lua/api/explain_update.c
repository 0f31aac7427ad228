#include "lua/api/explain_update.h"

#include "core/schedule/beside.h"
#include "core/schedule/schedule.h"
#include "core/schedule/timetable.h"
#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/ids/world.h"
#include "lua/api/apart.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/jit/system_kernel.h"
#include "lua/jit/system_run.h"

/* Programs as the next run will have them. */
static void open_all(lua_State *L, const struct schedule *schedule) {
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    struct system_box *script = system_script(schedule->systems[i]);
    if (script) system_kernel_push(L, 1, script);
    lua_settop(L, 1);
  }
}

/* The systems that the list at the top of the stack is of. */
struct listed {
  struct side sides[BESIDE_MOST];
  uint32_t count;
};

static void push_clash(lua_State *L, const ecs_world *world, enum clash clash,
                       const char *earlier, const struct access *at) {
  if (clash == CLASH_ORDER || clash == CLASH_OWNER) {
    lua_pushfstring(L, "it %s '%s'", clash == CLASH_ORDER ? "comes after"
                    : "is of another Lua state than", earlier);
    return;
  }
  assert(clash > CLASH_OWNER && clash <= CLASH_BOTH);
  const struct component *component = component_of(world, at->component);
  if (component->length)
    lua_pushstring(L, component->name);
  else
    lua_pushfstring(L, "%s.%s", component->name, component->leaves[at->leaf].name);
  const char *what = lua_tostring(L, -1);
  if (clash == CLASH_BOTH)
    lua_pushfstring(L, "it writes %s, and so does '%s'", what, earlier);
  else
    lua_pushfstring(L, "it %s %s, which '%s' %s", clash == CLASH_READ ? "reads" : "writes", what,
                    earlier, clash == CLASH_READ ? "writes" : "reads");
  lua_remove(L, -2);
}

/* Pushes why a system does not join those of a batch; false, and nothing, when it does. */
static bool push_why(lua_State *L, const ecs_world *world, const struct listed *batch,
                     const struct side *side) {
  if (side->prospect.alone) {
    apart_push(L, side->prospect.alone, side->system->reads);
    return true;
  }
  for (uint32_t i = 0; i < batch->count; i++) {
    const struct side *earlier = &batch->sides[i];
    struct access at;
    if (earlier->prospect.alone) {
      apart_push(L, earlier->prospect.alone, earlier->system->reads);
      lua_pushfstring(L, "'%s' runs alone: %s", earlier->system->name, lua_tostring(L, -1));
      lua_remove(L, -2);
      return true;
    }
    enum clash clash = beside_clash(world, earlier, side, &at);
    if (clash == CLASH_NONE) continue;
    push_clash(L, world, clash, earlier->system->name, &at);
    return true;
  }
  if (batch->count == BESIDE_MOST) lua_pushliteral(L, "more do not run side by side");
  return batch->count == BESIDE_MOST;
}

/* Why systems that can run side by side have not. */
static const char *why_apart(const ecs_world *world, const struct listed *batch) {
  if (!world->pool) return "the world has one thread";
  for (uint32_t i = 0; i < batch->count; i++)
    if (batch->sides[i].system->runs < 2) return "not all of them had run before";
  return "there was too little to do for threads, or not all of them were due";
}

/* The last list in a table of them is complete: says how many of its systems ran side by side
** when they ran last. */
static void end_list(lua_State *L, const ecs_world *world, int lists, const struct listed *batch) {
  lua_Integer together = 0;
  for (uint32_t i = 0; i < batch->count; i++) together += batch->sides[i].system->abreast > 1;
  if (batch->count < 2) return;
  lua_rawgeti(L, lists, (lua_Integer)lua_rawlen(L, lists));
  lua_pushinteger(L, together);
  lua_setfield(L, -2, "together");
  if (together < 2) {
    lua_pushstring(L, why_apart(world, batch));
    lua_setfield(L, -2, "apart");
  }
  lua_pop(L, 1);
}

/* Adds a system to the last of the lists in the table at `lists`, or a new one with it. */
static void add_system(lua_State *L, const ecs_world *world, int lists, struct listed *batch,
                       const ecs_system *system) {
  struct side side = {.system = system};
  beside_look(world, system, &side.prospect);
  bool apart = push_why(L, world, batch, &side);
  if (apart || batch->count == 0) {
    end_list(L, world, lists, batch);
    batch->count = 0;
    lua_newtable(L);
    if (apart) {
      lua_insert(L, -2);
      lua_setfield(L, -2, "why");
    }
    lua_pushvalue(L, -1);
    lua_rawseti(L, lists, (lua_Integer)lua_rawlen(L, lists) + 1);
  } else {
    lua_rawgeti(L, lists, (lua_Integer)lua_rawlen(L, lists));
  }
  batch->sides[batch->count++] = side;
  lua_pushstring(L, system->name);
  lua_rawseti(L, -2, (lua_Integer)batch->count);
  lua_settop(L, lists);
}

/* explain(world): the systems that are on, as they come if all of them are due. */
static int explain_update_phases(lua_State *L) {
  const struct world_box *box = lua_touserdata(L, 1);
  const ecs_world *world = box->world;
  struct schedule *schedule = world->schedule;
  luaL_checkstack(L, 40, "explain");
  open_all(L, schedule);
  schedule_count(schedule);
  lua_createtable(L, 0, (int)schedule->phase_count);
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    const struct phase *phase = schedule->phases[i];
    if (!phase->enabled) continue;
    struct listed batch = {.count = 0};
    lua_newtable(L);
    for (uint32_t at = phase->first; at < phase->first + phase->count; at++) {
      const ecs_system *system = schedule->systems[at];
      if (system->enabled && !system->parked)
        add_system(L, world, lua_gettop(L), &batch, system);
    }
    end_list(L, world, lua_gettop(L), &batch);
    lua_setfield(L, -2, phase->name);
  }
  return 1;
}

int update_explain(lua_State *L) {
  lua_pushvalue(L, 1);
  call_quietly(L, explain_update_phases, 1, 1);
  return 1;
}
