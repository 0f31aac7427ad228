/* Views seen as a whole: pairs, #, tostring, and as a plain table. */
#include "lua/loop/view_walk.h"

#include "core/storage/fields.h"

#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/loop/index_loop.h"
#include "lua/bind/shape.h"
#include "lua/loop/view.h"
#include "lua/loop/view_box.h"

/* The view at argument 1 with a row to show, or an error. */
static struct view_box *check_view(lua_State *L) {
  struct view_box *view = view_test(L, 1);
  if (!view) luaL_typeerror(L, 1, "view");
  view_open(L, 1, view);
  return view;
}

/* Pushes the key of field or element `at`. */
static void view_walk_push_key(lua_State *L, const struct view_box *view, uint32_t at) {
  if (view->array)
    lua_pushinteger(L, (lua_Integer)at + 1);
  else
    lua_pushstring(L, view->shape->fields[at].key);
}

/* Where a key stands, counted from 1; 0 for nil. */
static uint32_t key_place(lua_State *L, const struct view_box *view, int index) {
  if (lua_isnoneornil(L, index)) return 0;
  if (view->array) {
    lua_Integer at = lua_isinteger(L, index) ? lua_tointeger(L, index) : 0;
    if (at >= 1 && at <= view->array->count) return (uint32_t)at;
  } else {
    const struct shape_field *field = shape_find(L, view->shape, index);
    if (field) return (uint32_t)(field - view->shape->fields) + 1;
  }
  return (uint32_t)luaL_argerror(L, index, "no key of the view");
}

/* The nil of an any field would end the loop: such fields are passed over. */
static int view_walk_next_pair(lua_State *L) {
  struct view_box *view = check_view(L);
  uint32_t at = key_place(L, view, 2);
  lua_settop(L, 1);
  for (; view_row(L, view) < ROW_SPECIAL && at < view_count(view); at++) {
    view_walk_push_key(L, view, at);
    view_push_at(L, 1, view, at);
    if (!lua_isnil(L, 3)) return 2;
    lua_settop(L, 1);
  }
  lua_pushnil(L);
  return 1;
}

int view_pairs(lua_State *L) {
  check_view(L);
  lua_pushcfunction(L, view_walk_next_pair);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

int view_length(lua_State *L) {
  struct view_box *view = check_view(L);
  if (!view->array)
    return raise_error(L, "a view of component '%s' has no length",
                       view->shape->component->name);
  lua_pushinteger(L, (lua_Integer)view->array->count);
  return 1;
}

void view_push_table(lua_State *L, int index, struct view_box *view) {
  index = lua_absindex(L, index);
  need_stack(L, 8);
  view_open(L, index, view);
  uint32_t count = view_count(view);
  lua_createtable(L, view->array ? (int)count : 0, view->array ? 0 : (int)count);
  for (uint32_t at = 0; view_row(L, view) < ROW_SPECIAL && at < count; at++) {
    view_walk_push_key(L, view, at);
    view_push_at(L, index, view, at);
    struct view_box *part = view_test(L, -1);
    if (part) {
      view_push_table(L, -1, part);
      lua_replace(L, -2);
    }
    lua_rawset(L, -3);
  }
}

/* ---- text ------------------------------------------------------------------------ */

/* Pushes a value as text: a text itself in quotes. */
static void view_walk_quote(lua_State *L) {
  if (lua_type(L, -1) == LUA_TSTRING)
    lua_pushfstring(L, "'%s'", lua_tostring(L, -1));
  else
    luaL_tolstring(L, -1, NULL);
  lua_replace(L, -2);
}

/* Pushes "{ x = 1.0, y = 2.0 }" or "{ 1, 2 }". What __tostring of an any value does to the
** world is noticed by view_row. */
static void push_text(lua_State *L, int index, struct view_box *view) {
  index = lua_absindex(L, index);
  view_row(L, view);
  uint32_t count = view_count(view);
  need_stack(L, 3 * (int)count + 10);
  int pieces = 2;
  lua_pushliteral(L, "{ ");
  for (uint32_t at = 0; view_row(L, view) < ROW_SPECIAL && at < count; at++) {
    if (view->array)
      lua_pushstring(L, at > 0 ? ", " : "");
    else
      lua_pushfstring(L, at > 0 ? ", %s = " : "%s = ", view->shape->fields[at].key);
    view_row(L, view);
    view_push_at(L, index, view, at);
    struct view_box *part = view_test(L, -1);
    if (part) {
      push_text(L, -1, part);
      lua_replace(L, -2);
    } else {
      view_walk_quote(L);
    }
    pieces += 2;
  }
  lua_pushliteral(L, " }");
  lua_concat(L, pieces);
}

static bool view_walk_is_open(const struct view_box *view) {
  uint32_t row = *view->root->row;
  if (row == ROW_FOUND) return found_is_open(view->root);
  return view->box->world && (row < ROW_SPECIAL || row == ROW_RESOURCE);
}

int view_tostring(lua_State *L) {
  struct view_box *view = view_test(L, 1);
  if (!view) return luaL_typeerror(L, 1, "view");
  if (!view_walk_is_open(view)) {
    lua_pushliteral(L, "view (stale)");
    return 1;
  }
  view_open(L, 1, view);
  lua_pushfstring(L, "%s ", view->array ? view->array->name : view->shape->component->name);
  view_row(L, view);
  push_text(L, 1, view);
  lua_concat(L, 2);
  return 1;
}
