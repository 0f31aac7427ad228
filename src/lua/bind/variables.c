#include "lua/bind/variables.h"

#include "core/base/text.h"
#include "core/storage/fields.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/id_args.h"
#include "lua/bind/names.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

/* Where variables are read from, for messages: an argument, or (0) what `what` names. */
struct source {
  int arg;
  const char *what;
};

FORMAT(3, 4)
static int variables_refuse(lua_State *L, const struct source *from, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list args;
  va_start(args, format);
  text_vformat(text, sizeof text, format, args);
  va_end(args);
  return from->arg ? luaL_argerror(L, from->arg, text) : raise_error(L, "%s: %s", from->what, text);
}

/* The value at the top of the stack; somebody dead is one, whom nothing matches. */
static ecs_id variables_read_value(lua_State *L, struct world_box *box, const struct source *from,
                                   const char *name) {
  uint32_t leaf;
  char got[128];
  int is_id;
  if (lua_type(L, -1) == LUA_TSTRING) {
    const struct component *component = find_component(L, box, lua_gettop(L), &leaf);
    if (component && leaf == NONE) return component->id;
    variables_refuse(L, from, "$%s: %s", name,
                     component ? "a field is no entity" : ecs_message(box->world));
  }
  ecs_id id = to_id(L, lua_gettop(L), &is_id);
  ecs_status status = is_id ? ecs_entity_status(box->world, id) : ECS_EINVAL;
  if (status != ECS_OK && status != ECS_EDEAD)
    variables_refuse(
        L, from, "$%s is %s: an entity's id, or the name of a component or tag, expected",
        name, show_value(L, lua_gettop(L), got, sizeof got));
  return id;
}

/* The name that the key below the top of the stack is, without its $; NULL for what is none. */
static const char *variable_name(lua_State *L, bool marked, const struct source *from) {
  const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
  char got[128];
  if (key && *key == '$') return key + 1;
  if (marked) return NULL;
  if (!key)
    variables_refuse(L, from, "a variable's name expected as the key, got %s",
                     show_value(L, lua_gettop(L) - 1, got, sizeof got));
  return key;
}

static void variables_read_table(lua_State *L, struct world_box *box, int index, bool marked,
                                 const struct source *from, struct query_text *out) {
  need_stack(L, 6);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const char *name = variable_name(L, marked, from);
    if (!name) continue;
    if (out->count == VARIABLES_MOST) variables_refuse(L, from, "at most 16 variables");
    out->variables[out->count].name = name;
    out->variables[out->count++].value = variables_read_value(L, box, from, name);
  }
}

void variables_of_argument(lua_State *L, struct world_box *box, int arg,
                           struct query_text *out) {
  if (lua_isnoneornil(L, arg)) return;
  luaL_checktype(L, arg, LUA_TTABLE);
  variables_read_table(L, box, arg, false, &(struct source){arg, NULL}, out);
}

void variables_of_options(lua_State *L, struct world_box *box, int index, bool marked,
                          const char *what, struct query_text *out) {
  variables_read_table(L, box, index, marked, &(struct source){0, what}, out);
}
