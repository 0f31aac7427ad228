#include "lua/api/world_index.h"

#include "core/base/text.h"
#include "core/index/indexing.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/options.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/variables.h"
#include "lua/bind/world_box.h"
#include "lua/jit/index_keys.h"
#include "lua/api/lua_index.h"
#include "lua/live/registrar.h"
#include "lua/loop/scan.h"
#include "lua/api/system.h"

/* Indices on the stack of world:index. */
enum { AT_WORLD = 1, AT_NAME, AT_SPEC };

/* What the arguments of world:index say. */
struct index_draft {
  ecs_index_desc desc;
  int function;                    /* where the stack has the one that gives keys; 0: none */
  struct query_text query;
};

static double width_option(lua_State *L, const char *what) {
  int type = option(L, AT_SPEC, "cell");
  double width = type == LUA_TNUMBER ? (double)lua_tonumber(L, -1) : 0;
  if (!(width > 0 && width <= DBL_MAX))
    wrong_option(L, what, "cell", "how wide a cell is, a number above 0");
  return width;
}

/* What each kind is by, for messages. */
static const char *const kinds[] = {"grid", "hash", "ordered", "maybe"};

/* Reads the one of grid, hash, ordered and maybe that is given: a text, or a function, which is at
** the top of the stack then. */
static void index_declaration_read_kind(lua_State *L, struct world_box *box, const char *what,
                                        struct index_draft *draft) {
  int given = 0, top = lua_gettop(L), at = 0;
  for (int i = 0; i < 4; i++) {
    if (option(L, AT_SPEC, kinds[i]) == LUA_TNIL) continue;
    draft->desc.by = (ecs_index_by)i;
    at = lua_gettop(L);
    given++;
  }
  if (given != 1)
    raise_error(L, given ? "%s: only one of grid, hash, ordered and maybe can be given"
                         : "%s: one of grid, hash, ordered and maybe is needed", what);
  const char *kind = kinds[draft->desc.by];
  lua_pushvalue(L, at);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  bool width = draft->desc.by != ECS_BY_GRID && option(L, AT_SPEC, "cell") != LUA_TNIL;
  if (width) raise_error(L, "%s: option 'cell' goes with 'grid'", what);
  lua_settop(L, top + 1);
  draft->function = lua_isfunction(L, -1) ? top + 1 : 0;
  if (draft->function && draft->desc.by != ECS_BY_GRID) {
    const struct scan scan = {.box = box, .what = what, .form = FORM_KEY};
    scan_function(L, &scan, draft->function);
    return;
  }
  draft->desc.of = text_option(L, AT_SPEC, what, kind);
  if (draft->desc.by == ECS_BY_GRID) draft->desc.cell = width_option(L, what);
}

/* Reads the name at 2 and the options at 3 with the world at 1. Raises; pushes what the draft
** needs. */
static void index_declaration_read_draft(lua_State *L, struct world_box *box,
                                         struct index_draft *draft) {
  static const char *const keys[] = {"query", "grid", "cell", "hash", "ordered", "maybe",
                                     "$variable", NULL};
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
  draft->desc = (ecs_index_desc){.name = name, .query = draft->query.text,
                                 .variables = draft->query.variables,
                                 .variable_count = draft->query.count};
  index_declaration_read_kind(L, box, what, draft);
}

/* Builds it. A function that the core is told of is anchored, also when that fails: it is swept
** then. */
static ecs_status index_declaration_build(lua_State *L, struct world_box *box,
                                          struct index_draft *draft, ecs_index **out) {
  if (draft->function) index_keys_push(L, box, draft->function, &draft->query, &draft->desc);
  if (!box->world) no_world(L, AT_WORLD);
  bool tried = false;
  ecs_status status;
  do {
    status = index_reserve(box->world);
    if (status == ECS_OK) status = index_build(box->world, &draft->desc, out);
  } while (retry(L, box, status, &tried));
  if (status != ECS_OK && draft->function) draft->desc.free(draft->desc.ud);
  return status;
}

void index_check_spec(lua_State *L, struct world_box *box) {
  struct index_draft draft;
  int top = lua_gettop(L);
  index_declaration_read_draft(L, box, &draft);
  lua_settop(L, top);
}

ecs_status index_in_swap(lua_State *L, struct world_box *box, const char *owner,
                         struct ecs_index **out) {
  struct index_draft draft;
  index_declaration_read_draft(L, box, &draft);
  draft.desc.owner = owner;
  ecs_index *built = NULL;
  ecs_status status = index_declaration_build(L, box, &draft, &built);
  *out = built;
  return status;
}

void index_now(lua_State *L, struct world_box *box) {
  struct index_draft draft;
  ecs_index *index = NULL;
  index_declaration_read_draft(L, box, &draft);
  ecs_status status = index_may_enter(box->world, draft.desc.name);
  if (status != ECS_OK) raise_status(L, box->world, status);
  index_push(L, box);
  int object = lua_gettop(L);
  status = index_declaration_build(L, box, &draft, &index);
  if (!index) {
    systems_sweep(L, box, AT_WORLD);
    raise_status(L, box->world, status);
    return;
  }
  index_enter(box->world, index);
  systems_sweep(L, box, AT_WORLD);
  lua_settop(L, object);
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
  systems_sweep(L, box, AT_WORLD);
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
