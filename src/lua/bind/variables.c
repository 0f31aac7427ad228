#include "lua/bind/variables.h"

#include "core/store/index.h"
#include "core/store/world.h"
#include "lua/bind/args.h"
#include "lua/bind/ids.h"
#include "lua/bind/names.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

/* The value at the top of the stack; somebody dead is one, whom nothing matches. */
static ecs_id read_value(lua_State *L, struct world_box *box, const char *what,
                         const char *name) {
  uint32_t leaf;
  char got[128];
  int is_id;
  if (lua_type(L, -1) == LUA_TSTRING) {
    const struct component *component = find_component(L, box, lua_gettop(L), &leaf);
    if (!component || leaf != NONE)
      raise_error(L, "%s: $%s: %s", what, name,
                  component ? "a field is no entity" : ecs_message(box->world));
    return component->id;
  }
  ecs_id id = to_id(L, lua_gettop(L), &is_id);
  ecs_status status = is_id ? entity_status(&box->world->entities, id) : ECS_EINVAL;
  if (status == ECS_OK || (status == ECS_EDEAD && id != ECS_NULL)) return id;
  raise_error(L, "%s: $%s is %s: an entity's id, or the name of a component or tag, expected", what,
              name, show_value(L, lua_gettop(L), got, sizeof got));
  return ECS_NULL;
}

/* The name that the key below the top of the stack is, without its $; NULL for what is none. */
static const char *variable_name(lua_State *L, bool marked, const char *what) {
  const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
  char got[128];
  if (key && *key == '$') return key + 1;
  if (marked) return NULL;
  if (!key)
    raise_error(L, "%s: a variable's name expected as the key, got %s", what,
                show_value(L, lua_gettop(L) - 1, got, sizeof got));
  return key;
}

void variables_read(lua_State *L, struct world_box *box, int index, bool marked, const char *what,
                    struct query_text *out) {
  need_stack(L, 6);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const char *name = variable_name(L, marked, what);
    if (!name) continue;
    if (out->count == VARIABLES_MOST) raise_error(L, "%s: at most 16 variables", what);
    out->variables[out->count].name = name;
    out->variables[out->count++].value = read_value(L, box, what, name);
  }
}
