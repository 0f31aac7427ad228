/* A Lua module in C that adds a native system to a world of scripts. It is linked to nothing of
** ecs: its functions come through the Lua state. `make examples` builds it; outside of this tree
**
**   cc -shared -fPIC -O2 -I$(lua5.4 -e 'print(require("ecs").include)') -I/usr/include/lua5.4 \
**     motion.c -o motion.so
*/
#include <math.h>

#include <lauxlib.h>
#include <lua.h>

#include "ecs_lua.h"

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* The functions of ecs, which luaopen_motion has asked for. */
static const ecs_lua_api *functions(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

/* The system: moves all entities of a table in one loop. It must not raise Lua errors. */
static ecs_status move(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const ecs_lua_api *ecs = ud;
  const float step = (float)dt;
  ecs_iter it;
  ecs_status status = ecs->iter_open(query, &it);
  (void)world;
  if (status != ECS_OK) return status;
  while (ecs->iter_next(&it)) {
    float *x = ecs->iter_column(&it, 0, 0), *y = ecs->iter_column(&it, 0, 1);
    const float *vx = ecs->iter_column(&it, 1, 0), *vy = ecs->iter_column(&it, 1, 1);
    for (size_t i = 0; i < it.count; i++) {
      x[i] += vx[i] * step;
      y[i] += vy[i] * step;
    }
  }
  return ecs->iter_close(&it);
}

static ecs_status declare(const ecs_lua_api *ecs, ecs_world *world, const char *name) {
  const ecs_field fields[] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  const ecs_component_desc desc = {.name = name, .fields = fields, .field_count = 2};
  ecs_id id;
  return ecs->component(world, &desc, &id);
}

/* motion.install(world): declares Position and Velocity, and adds the system "move". */
static int install(lua_State *L) {
  const ecs_lua_api *ecs = functions(L);
  ecs_world *world = ecs->check_world(L, 1);
  const ecs_system_desc system = {.name = "move", .query = "Position, Velocity:in",
                                  .run = move, .ud = (void *)(uintptr_t)ecs};
  ecs_status status = declare(ecs, world, "Position");
  if (status == ECS_OK) status = declare(ecs, world, "Velocity");
  if (status == ECS_OK) status = ecs->system_new(world, &system);
  return status == ECS_OK ? 0 : ecs->raise(L, world, status);
}

/* motion.speed(world, entity): how fast it moves; cells are found by their names. */
static int speed(lua_State *L) {
  const ecs_lua_api *ecs = functions(L);
  ecs_world *world = ecs->check_world(L, 1);
  const ecs_id entity = (ecs_id)luaL_checkinteger(L, 2);
  const float *x = ecs->cell_named(world, entity, "Velocity.x");
  const float *y = ecs->cell_named(world, entity, "Velocity.y");
  if (!x || !y) return luaL_error(L, "%s", ecs->message(world));
  lua_pushnumber(L, sqrt((double)*x * *x + (double)*y * *y));
  return 1;
}

/* motion.turn(world, entity): the other way. */
static int turn(lua_State *L) {
  const ecs_lua_api *ecs = functions(L);
  ecs_world *world = ecs->check_world(L, 1);
  const ecs_id entity = (ecs_id)luaL_checkinteger(L, 2);
  const ecs_id velocity = ecs->component_find(world, "Velocity");
  struct { float x, y; } value = {0, 0};
  ecs_status status = ecs->get(world, entity, velocity, &value);
  value.x = -value.x;
  value.y = -value.y;
  if (status == ECS_OK) status = ecs->set(world, entity, velocity, &value);
  return status == ECS_OK ? 0 : ecs->raise(L, world, status);
}

static const luaL_Reg list[] = {
  {"install", install},
  {"speed", speed},
  {"turn", turn},
  {NULL, NULL}
};

EXPORTED int luaopen_motion(lua_State *L);

int luaopen_motion(lua_State *L) {
  luaL_newlibtable(L, list);
  lua_pushlightuserdata(L, (void *)(uintptr_t)ecs_lua_functions(L));
  luaL_setfuncs(L, list, 1);
  return 1;
}
