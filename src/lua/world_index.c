#include "lua/world_index.h"

#include "core/base/text.h"
#include "core/find/indexing.h"
#include "lua/bind/args.h"
#include "lua/bind/options.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/variables.h"
#include "lua/lua_index.h"
#include "lua/registrar.h"

/* Indices on the stack of world:index. */
enum { AT_WORLD = 1, AT_NAME, AT_SPEC };

/* What the arguments of world:index say. */
struct index_draft {
  ecs_index_desc desc;
  struct query_text query;
};

static double width_option(lua_State *L, const char *what) {
  int type = option(L, AT_SPEC, "cell");
  double width = type == LUA_TNUMBER ? (double)lua_tonumber(L, -1) : 0;
  if (!(width > 0 && width <= DBL_MAX))
    wrong_option(L, what, "cell", "how wide a cell is, a number above 0");
  return width;
}

/* Reads the name at 2 and the options at 3 with the world at 1. Raises; pushes what the draft
** needs. */
static void read_draft(lua_State *L, struct world_box *box, struct index_draft *draft) {
  static const char *const keys[] = {"query", "grid", "cell", "$variable", NULL};
  size_t size;
  char what[128];
  const char *name = check_text(L, AT_NAME, &size);
  text_format(what, sizeof what, "index '%s'", name);
  need_stack(L, 20);
  check_keys(L, AT_SPEC, what, keys);
  memset(draft, 0, sizeof *draft);
  draft->query.text = text_option(L, AT_SPEC, what, "query");
  if (!draft->query.text) wrong_option(L, what, "query", "a string");
  variables_of_options(L, box, AT_SPEC, true, what, &draft->query);
  const char *grid = text_option(L, AT_SPEC, what, "grid");
  if (!grid) wrong_option(L, what, "grid", "the name of a component with x and y");
  draft->desc = (ecs_index_desc){.name = name, .query = draft->query.text, .grid = grid,
                                 .variables = draft->query.variables,
                                 .variable_count = draft->query.count};
  draft->desc.cell = width_option(L, what);
}

void index_check_spec(lua_State *L, struct world_box *box) {
  struct index_draft draft;
  int top = lua_gettop(L);
  read_draft(L, box, &draft);
  lua_settop(L, top);
}

ecs_status index_in_swap(lua_State *L, struct world_box *box, const char *owner,
                         struct ecs_index **out) {
  struct index_draft draft;
  read_draft(L, box, &draft);
  draft.desc.owner = owner;
  ecs_status status = index_reserve(box->world);
  return status == ECS_OK ? index_build(box->world, &draft.desc, out) : status;
}

void index_now(lua_State *L, struct world_box *box) {
  struct index_draft draft;
  ecs_index *index;
  read_draft(L, box, &draft);
  index_push(L, box);
  box = check_world(L, AT_WORLD);
  bool tried = false;
  ecs_status status;
  do
    status = ecs_index_new(box->world, &draft.desc, &index);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
  settle(L, box, AT_WORLD);
}

void index_of_name(lua_State *L, struct world_box *box) {
  size_t size;
  const char *name = check_text(L, AT_NAME, &size);
  if (!index_named(box->world, name, size))
    raise_argument(L, box->world, index_unknown(box->world, name, size), AT_NAME);
  index_push(L, box);
}

bool index_undeclare(lua_State *L, struct world_box *box, int arg) {
  if (lua_type(L, arg) != LUA_TSTRING) return false;
  size_t size;
  const char *name = lua_tolstring(L, arg, &size);
  if (!index_named(box->world, name, size)) return false;
  ecs_status status = ecs_index_drop(box->world, name);
  if (status != ECS_OK) raise_status(L, box->world, status);
  settle(L, box, AT_WORLD);
  return true;
}

/* world:index(name, options) declares one, world:index(name) gives the one of that name. */
static int world_index(lua_State *L) {
  struct world_box *box = check_world(L, AT_WORLD);
  size_t size;
  check_text(L, AT_NAME, &size);
  lua_settop(L, AT_SPEC);
  if (lua_isnil(L, AT_SPEC)) {
    box->registrar->index_of(L, box);
    return 1;
  }
  luaL_checktype(L, AT_SPEC, LUA_TTABLE);
  box->registrar->index(L, box);
  return 1;
}

const luaL_Reg world_index_methods[] = {{"index", world_index}, {NULL, NULL}};
