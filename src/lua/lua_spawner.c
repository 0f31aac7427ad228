#include "lua/lua_spawner.h"

#include "core/store/builtin.h"
#include "core/store/component.h"
#include "core/store/entity.h"
#include "core/store/fields.h"
#include "lua/bind/args.h"
#include "lua/bind/input.h"
#include "lua/bind/check_world.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/lua_spawn.h"
#include "lua/registrar.h"
#include "lua/spawn_way.h"

#define SPAWNER_COMPONENTS 64
#define SPACE " \t\r\n"

/* A component's name in the text. */
struct named {
  uint32_t from, size;
};

/* In a userdata, the second upvalue of the function; the first one is the world. */
struct spawner {
  uint32_t count;
  struct named names[SPAWNER_COMPONENTS];
  ecs_id ids[SPAWNER_COMPONENTS];   /* of the components; ECS_NULL: not looked for yet */
  struct way way;
  char text[];                 /* as it was given, ended by '\0' */
};

enum { AT_WORLD = 1, AT_SPAWNER, AT_VALUES };

/* ---- the components ---- */

static int refuse_name(lua_State *L, const struct spawner *spawner, const char *why) {
  return raise_error(L, "spawner '%s': %s", spawner->text, why);
}

/* The names between commas, as they stand. */
static void read_names(lua_State *L, struct spawner *spawner) {
  const char *at = spawner->text;
  for (;;) {
    at += strspn(at, SPACE);
    size_t size = strcspn(at, "," SPACE);
    if (size == 0)
      refuse_name(L, spawner, "names of components are expected, as in \"Position, Velocity\"");
    if (spawner->count == SPAWNER_COMPONENTS)
      refuse_name(L, spawner, "it names more than 64 components");
    spawner->ids[spawner->count] = ECS_NULL;
    spawner->names[spawner->count++] = (struct named){(uint32_t)(at - spawner->text),
                                                      (uint32_t)size};
    at += size;
    at += strspn(at, SPACE);
    if (*at == '\0') return;
    if (*at != ',') refuse_name(L, spawner, "names of components stand between commas");
    at++;
  }
}

static void check_new(lua_State *L, const struct spawner *spawner, uint32_t at,
                      const struct component *component) {
  for (uint32_t i = 0; i < at; i++)
    if (spawner->ids[i] == component->id)
      raise_error(L, "spawner '%s': it names '%s' twice", spawner->text, component->name);
}

/* Finds a component that has not been looked for, or has gone since. */
static struct component *find_named(lua_State *L, ecs_world *world, struct spawner *spawner,
                                    uint32_t at) {
  struct named named = spawner->names[at];
  struct component *component = NULL;
  ecs_status status = component_need_or_builtin(world, spawner->text + named.from, named.size,
                                                &component);
  if (status != ECS_OK) raise_status(L, world, status);
  if (component->relation)
    raise_error(L, "spawner '%s': '%s' is a relation, whose target world:spawn or world:add takes",
                spawner->text, component->name);
  check_new(L, spawner, at, component);
  spawner->ids[at] = component->id;
  return component;
}

static struct component *component_at(lua_State *L, ecs_world *world, struct spawner *spawner,
                                      uint32_t at) {
  ecs_id id = spawner->ids[at];
  struct component *component = id != ECS_NULL ? component_of(world, id) : NULL;
  return LIKELY(component != NULL) ? component : find_named(L, world, spawner, at);
}

/* ---- spawning ---- */

/* Gathers the values of a component's fields from the index on, as many as are given; nil leaves a
** field's default. Returns the index behind them. */
static int gather(struct input *input, const struct component *component, int at, int top) {
  for (uint32_t i = 0; i < component->field_count; i++, at++)
    if (at <= top && !lua_isnil(input->L, at)) input_field(input, component, i, at);
  return at;
}

static APART int spawn_slowly(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_rotate(L, 1, 2);
  struct world_box *box = check_free_world(L, AT_WORLD);
  struct spawner *spawner = lua_touserdata(L, AT_SPAWNER);
  struct part parts[SPAWNER_COMPONENTS];
  struct input input;
  input_begin(&input, L, box, AT_WORLD);
  int at = AT_VALUES, top = lua_gettop(L);
  uint32_t count = spawner->count;
  for (uint32_t i = 0; i < count; i++) {
    struct component *component = component_at(L, box->world, spawner, i);
    uint32_t before = input.count;
    at = gather(&input, component, at, top);
    parts[i] = (struct part){component, ECS_NULL, input.count - before, NULL, 0};
  }
  if (at <= top)
    raise_error(L, "spawner '%s' takes %d values, got %d", spawner->text,
                at - AT_VALUES, top - AT_SPAWNER);
  const struct write *writes = input.writes;
  for (uint32_t i = 0; i < count; writes += parts[i++].write_count)
    parts[i].writes = writes;
  ecs_id id = spawn_parts(L, box, parts, count);
  way_find(box, &spawner->way, id, parts, count);
  return spawn_end(L, box, id);
}

/* Ends what has gone a way: the world is not on the stack. */
static APART int end_apart(lua_State *L, struct world_box *box) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  settle(L, box, 1);
  return 1;
}

static int spawn(lua_State *L) {
  struct world_box *box = lua_touserdata(L, lua_upvalueindex(1));
  const struct spawner *spawner = lua_touserdata(L, lua_upvalueindex(2));
  ecs_id id = ECS_NULL;
  if (UNLIKELY(!way_go(L, box, &spawner->way, &id))) return spawn_slowly(L);
  world_be_sure(box->world);
  box->calls++;
  lua_pushinteger(L, (lua_Integer)id);
  return LIKELY(!*box->changes && !settle_is_due(box)) ? 1 : end_apart(L, box);
}

/* ---- for kernels ---- */

/* Finds what it can of those that it has not looked for, without a word; whether all are there. */
static bool finds_all(const ecs_world *world, struct spawner *spawner) {
  for (uint32_t i = 0; i < spawner->count; i++) {
    struct named named = spawner->names[i];
    if (spawner->ids[i] != ECS_NULL && component_of(world, spawner->ids[i])) continue;
    const struct component *component =
        component_find(world, spawner->text + named.from, named.size);
    bool fits = component && !component->relation && !component->is_event && !component->length;
    if (!fits) return false;
    for (uint32_t j = 0; j < i; j++)
      if (spawner->ids[j] == component->id) return false;
    spawner->ids[i] = component->id;
  }
  return true;
}

struct outside spawner_object(lua_State *L, int index, const struct world_box *box) {
  struct outside outside = {.kind = OUTSIDE_OTHER};
  if (lua_tocfunction(L, index) != spawn) return outside;
  lua_getupvalue(L, index, 1);
  lua_getupvalue(L, index, 2);
  struct spawner *spawner = lua_touserdata(L, -1);
  if (lua_touserdata(L, -2) == box && finds_all(box->world, spawner))
    outside = (struct outside){.kind = OUTSIDE_SPAWNER, .components = spawner->ids,
                               .count = spawner->count};
  lua_pop(L, 2);
  return outside;
}

/* ---- making one ---- */

/* While scripts are read, what they declare is not there yet: a query of the same names has the
** swap look for it. */
static void expect_names(lua_State *L, struct world_box *box, const char *text) {
  lua_settop(L, 3);
  box->registrar->query(L, box, text);
  lua_settop(L, 2);
}

static int world_spawner(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  size_t size;
  const char *text = check_text(L, 2, &size);
  if (lua_gettop(L) > 2) luaL_argerror(L, 3, "one text expected: the values are for the spawner");
  if (box->registrar != &registrar_now) expect_names(L, box, text);
  struct spawner *spawner = lua_newuserdatauv(L, sizeof *spawner + size + 1, 0);
  spawner->count = 0;
  way_begin(&spawner->way);
  memcpy(spawner->text, text, size + 1);
  read_names(L, spawner);
  box = check_world(L, 1);
  for (uint32_t i = 0; box->registrar == &registrar_now && i < spawner->count; i++)
    find_named(L, box->world, spawner, i);
  lua_pushvalue(L, 1);
  lua_insert(L, -2);
  lua_pushcclosure(L, spawn, 2);
  return 1;
}

const luaL_Reg world_spawner_methods[] = {
  {"spawner", world_spawner},
  {NULL, NULL}
};
