#include "kernel.h"
#include "system.h"

const char *system_tier(const ecs_system *system) {
  const struct system_box *script = system_script(system);
  return !script ? "native" : script->compiled ? "vector" : "lua";
}

static const ecs_query *query_of(const ecs_system *system) {
  const struct system_box *script = system_script(system);
  if (!script) return system->query;
  return script->query ? script->query->query : NULL;
}

/* Sets a list of what a system reads, or writes: "Position", "Velocity.x". */
static void set_access(lua_State *L, const char *key, const ecs_query *query, bool writes) {
  lua_newtable(L);
  lua_Integer count = 0;
  for (uint32_t i = 0; query && !query->broken && i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    if (term->slot == NONE || (writes && term->read_only)) continue;
    if (term->leaf == NONE)
      lua_pushstring(L, term->component->name);
    else
      lua_pushfstring(L, "%s.%s", term->component->name,
                      term->component->leaves[term->leaf].name);
    lua_rawseti(L, -2, ++count);
  }
  lua_setfield(L, -2, key);
}

/* The reason why it stays Lua, or its programs. */
static void explain_script(lua_State *L, const struct system_box *system) {
  lua_getiuservalue(L, 1, WORLD_REFS);
  lua_rawgetp(L, -1, system);
  lua_getiuservalue(L, -1, SYSTEM_KERNEL);
  if (lua_isnil(L, -1)) {
    lua_pushstring(L, system->form == FORM_EACH ? "it is not to be compiled"
                                                : "only `each` functions are compiled");
    lua_setfield(L, -5, "reason");
  } else {
    kernel_explain(L, -1, -4);
  }
  lua_pop(L, 3);
}

/* explain(world, system): the table that world:explain returns. */
static int explain(lua_State *L) {
  const ecs_system *system = lua_touserdata(L, 2);
  const ecs_query *query = query_of(system);
  lua_newtable(L);
  lua_pushstring(L, system_tier(system));
  lua_setfield(L, -2, "tier");
  set_access(L, "reads", query, false);
  set_access(L, "writes", query, true);
  if (system_script(system)) explain_script(L, system_script(system));
  return 1;
}

int world_explain(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  size_t size;
  const char *name = check_text(L, 2, &size);
  ecs_system *system = schedule_system(box->world, name, size);
  if (!system)
    return raise_argument(L, box->world, schedule_unknown(box->world, name, false), 2);
  lua_pushvalue(L, 1);
  lua_pushlightuserdata(L, system);
  call_quietly(L, explain, 2, 1);
  return 1;
}
