#include <lauxlib.h>

#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/index/refresh.h"
#include "core/schedule/schedule.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"

const char kind_index = 0;

/* ---- finding an index ------------------------------------------------------------------ */

/* Pushes an object for the index whose world is at 1 and name at 2. */
static struct index_box *index_push(lua_State *L, struct world_box *box) {
  struct index_box *object = new_box_of(L, &kind_index, sizeof *object, INDEX_VALUES, 1);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, INDEX_NAME);
  object->box = box;
  return object;
}

struct ecs_index *index_find(lua_State *L, int index, struct index_box *object) {
  const ecs_world *world = object->box->world;
  if (!world || !world->finding) return NULL;
  if (LIKELY(object->index && object->version == world->finding->version)) return object->index;
  size_t size;
  lua_getiuservalue(L, index, INDEX_NAME);
  const char *name = lua_tolstring(L, -1, &size);
  object->index = index_named(world, name, size);
  object->version = world->finding->version;
  lua_pop(L, 1);
  return object->index;
}

static int no_index(lua_State *L, const struct index_box *object) {
  lua_getiuservalue(L, 1, INDEX_NAME);
  const char *name = lua_tostring(L, -1);
  return raise_error(L, object->box->world ? "index '%s' is no longer declared"
                                           : "index '%s': its world is closed", name);
}

/* ---- bringing an index up to date ------------------------------------------------------ */

void index_bring_up(lua_State *L, struct world_box *box, int world_index,
                    struct ecs_index *index) {
  if (index_is_fresh(index)) return;
  if (index_has_script(index)) {
    index_keys_refresh(L, box, world_index, index);
    return;
  }
  RETRY_OR_RAISE(L, box, index_refresh(index));
}

/* The index of the object at argument 1, up to date, if it is of one of these kinds (bits by
** ecs_index_by). Counts a public call. */
static ecs_index *index_check_fresh(lua_State *L, unsigned kinds) {
  struct index_box *object = box_test(L, 1, &kind_index, sizeof *object);
  if (UNLIKELY(!object)) {
    no_object(L, 1, &kind_index, "index");
    return NULL;
  }
  check_free(L, object->box);
  ecs_index *index = index_find(L, 1, object);
  if (UNLIKELY(!index)) {
    no_index(L, object);
    return NULL;
  }
  object->box->calls++;
  if (UNLIKELY(!(kinds >> index->desc.by & 1)))
    raise_status(L, index->world, index_refuse(index));
  if (LIKELY(index_is_fresh(index))) return index;
  /* The system of a script must declare the indexes that it uses. */
  const ecs_world *world = index->world;
  const ecs_system *system = world->running ? world->schedule->current : NULL;
  if (system && system_script(system))
    raise_error(L, "index '%s' is not among those that system '%s' is known to use: add uses = { "
                "\"%s\" } to its options", index->desc.name, system->name, index->desc.name);
  lua_getiuservalue(L, 1, INDEX_WORLD);
  index_bring_up(L, object->box, lua_gettop(L), index);
  lua_pop(L, 1);
  index = index_find(L, 1, object);
  if (!index || !index->now) no_index(L, object);
  return index;
}

/* ---- arguments ------------------------------------------------------------------------- */

static double index_check_number(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "number");
  return (double)lua_tonumber(L, arg);
}

/* A key to search for; with `none` it may be nil, which finds nothing. */
static struct key index_check_key(lua_State *L, const ecs_index *index, int arg, bool none) {
  ecs_value value;
  if (!read_scalar(L, arg, &value) && !(none && lua_type(L, arg) == LUA_TNIL))
    luaL_typeerror(L, arg, "number, string or boolean");
  return key_wanted(index->world, &value);
}

/* Reads the position at argument 2 and after it. Returns the argument that follows. */
static int index_check_place(lua_State *L, const ecs_index *index, double *at) {
  uint32_t axes = index->now->grid.axes;
  for (uint32_t i = 0; i < axes; i++) at[i] = index_check_number(L, (int)i + 2);
  return (int)axes + 2;
}

/* Raises an error for an extra number, which would be taken for another argument. */
static void index_check_end(lua_State *L, const ecs_index *index, int arg) {
  if (lua_gettop(L) < arg) return;
  char text[160];
  text_format(text, sizeof text, "index '%s' is by %s of '%s': got one number too many",
              index->desc.name, index->now->grid.axes == 3 ? "x, y and z" : "x and y",
              index->desc.of);
  luaL_argerror(L, arg, text);
}

static int index_begin(lua_State *L, ecs_index *index, const struct ecs_search *search) {
  lua_settop(L, 1);
  return found_begin(L, ((struct index_box *)lua_touserdata(L, 1))->box, index, search);
}

/* ---- searching ------------------------------------------------------------------------- */

/* for ... in index:within(x, y, [z,] reach) */
static int index_within(lua_State *L) {
  ecs_index *index = index_check_fresh(L, 1u << ECS_BY_GRID);
  double at[GRID_AXES] = {0, 0, 0};
  struct ecs_search search;
  int arg = index_check_place(L, index, at);
  double reach = index_check_number(L, arg);
  index_check_end(L, index, arg + 1);
  search_begin(&search, &index->now->grid, at, reach);
  return index_begin(L, index, &search);
}

/* index:nearest(x, y, [z,] reach, except): entity and distance, or nil */
static int index_nearest(lua_State *L) {
  ecs_index *index = index_check_fresh(L, 1u << ECS_BY_GRID);
  double at[GRID_AXES] = {0, 0, 0}, distance;
  int arg = index_check_place(L, index, at);
  double reach = index_check_number(L, arg);
  ecs_id except = lua_isnoneornil(L, arg + 1) ? ECS_NULL : check_id(L, arg + 1);
  index_check_end(L, index, arg + 2);
  const struct copies *copies = &index->now->copies;
  const struct rivals rivals = {copies_entities(copies), copies_order(copies), except};
  uint32_t row = search_nearest(&index->now->grid, at, reach, &rivals, &distance);
  if (row == NONE) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushinteger(L, (lua_Integer)copies_entities(copies)[row]);
  lua_pushnumber(L, (lua_Number)distance);
  return 2;
}

/* for ... in index:find(value) */
static int index_equal(lua_State *L) {
  ecs_index *index = index_check_fresh(L, 1u << ECS_BY_HASH | 1u << ECS_BY_MAYBE);
  struct ecs_search search;
  keyed_equal(&index->now->keyed, index_check_key(L, index, 2, true), &search);
  return index_begin(L, index, &search);
}

/* for ... in index:range(least, most) */
static int index_range(lua_State *L) {
  ecs_index *index = index_check_fresh(L, 1u << ECS_BY_ORDER);
  struct ecs_search search;
  index_check_number(L, 2);
  index_check_number(L, 3);
  keyed_range(&index->now->keyed, index_check_key(L, index, 2, false),
              index_check_key(L, index, 3, false), &search);
  return index_begin(L, index, &search);
}

/* for ... in index:lowest(count), index:highest(count) */
static int index_extremes(lua_State *L, void (*find)(const struct keyed *keyed, uint32_t most,
                                                    struct ecs_search *search)) {
  ecs_index *index = index_check_fresh(L, 1u << ECS_BY_ORDER);
  struct ecs_search search;
  lua_Integer count;
  char text[96], shown[48];
  if (!read_whole(L, 2, &count) || count < 0) {
    text_format(text, sizeof text, "a number of entities expected, got %s",
                show_value(L, 2, shown, sizeof shown));
    return luaL_argerror(L, 2, text);
  }
  find(&index->now->keyed, count > UINT32_MAX ? UINT32_MAX : (uint32_t)count, &search);
  return index_begin(L, index, &search);
}

static int index_lowest(lua_State *L) { return index_extremes(L, keyed_lowest); }
static int index_highest(lua_State *L) { return index_extremes(L, keyed_highest); }

static int index_tostring(lua_State *L) {
  struct index_box *object = lua_touserdata(L, 1);
  const ecs_index *index = index_find(L, 1, object);
  char text[128] = "ecs.index (stale)";
  if (index)
    text_format(text, sizeof text, "ecs.index (%s, by %s)", index->desc.name,
                index->desc.of ? index->desc.of : "a function");
  lua_pushstring(L, text);
  return 1;
}

const luaL_Reg index_methods[] = {
  {"find", index_equal},       {"highest", index_highest}, {"lowest", index_lowest},
  {"nearest", index_nearest}, {"range", index_range},     {"within", index_within},
  {NULL, NULL}};

const luaL_Reg index_metamethods[] = {{"__tostring", index_tostring}, {NULL, NULL}};

/* ---- world index ---- */

/* Indices on the stack of world:index. */
enum { AT_WORLD = 1, AT_NAME, AT_SPEC };

/* The arguments of world:index. */
struct index_draft {
  ecs_index_desc desc;
  int function;                    /* stack index of the key function; 0: none */
  struct query_text query;
};

const char *const index_kinds[] = {"grid", "hash", "ordered", "maybe"};

/* Reads which of grid, hash, ordered and maybe is given: a string, or a function, which is left at
** the top of the stack. */
static void index_declaration_read_kind(lua_State *L, struct world_box *box, const char *what,
                                        struct index_draft *draft) {
  int given = 0, top = lua_gettop(L), at = 0;
  for (int i = 0; i < 4; i++) {
    if (option(L, AT_SPEC, index_kinds[i]) == LUA_TNIL) continue;
    draft->desc.by = (ecs_index_by)i;
    at = lua_gettop(L);
    given++;
  }
  if (given != 1)
    raise_error(L, given ? "%s: give only one of grid, hash, ordered and maybe"
                         : "%s: give one of grid, hash, ordered and maybe", what);
  const char *kind = index_kinds[draft->desc.by];
  lua_pushvalue(L, at);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  bool width = draft->desc.by != ECS_BY_GRID && option(L, AT_SPEC, "cell") != LUA_TNIL;
  if (width) raise_error(L, "%s: option 'cell' is only for 'grid'", what);
  lua_settop(L, top + 1);
  draft->function = lua_isfunction(L, -1) ? top + 1 : 0;
  if (draft->function && draft->desc.by != ECS_BY_GRID) {
    const struct scan scan = {.box = box, .what = what, .form = FORM_KEY};
    scan_function(L, &scan, draft->function);
    return;
  }
  if (draft->desc.by != ECS_BY_GRID && lua_type(L, -1) != LUA_TSTRING)
    wrong_option(L, what, kind, "a string or a function");
  draft->desc.of = text_option(L, AT_SPEC, what, kind);
  if (draft->desc.by != ECS_BY_GRID) return;
  int type = option(L, AT_SPEC, "cell");
  draft->desc.cell = type == LUA_TNUMBER ? (double)lua_tonumber(L, -1) : 0;
  if (!(draft->desc.cell > 0 && draft->desc.cell <= DBL_MAX))
    wrong_option(L, what, "cell", "the width of a cell, a number above 0");
}

/* Reads the name at 2 and the options at 3, with the world at 1. Raises errors; pushes what the
** draft refers to. */
static void index_declaration_read_draft(lua_State *L, struct world_box *box,
                                         struct index_draft *draft) {
  static const char *const keys[] = {"query", "grid", "cell", "hash", "ordered", "maybe",
                                     "$variable", NULL};
  char what[128];
  const char *name = check_text(L, AT_NAME, NULL);
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

/* Builds the index. A key function is anchored until the core releases it. */
static ecs_status index_declaration_build(lua_State *L, struct world_box *box,
                                          struct index_draft *draft, ecs_index **out) {
  if (draft->function) index_keys_push(L, box, draft->function, &draft->query, &draft->desc);
  if (!box->world) no_world(L, AT_WORLD);
  ecs_status status;
  RETRY(L, box, status, index_reserve(box->world));
  if (status == ECS_OK) RETRY(L, box, status, index_build(box->world, &draft->desc, out));
  if (status != ECS_OK && draft->function) draft->desc.free(draft->desc.ud);
  return status;
}

int index_in_swap(lua_State *L) {
  struct world_box *box = lua_touserdata(L, AT_WORLD);
  struct registration *entry = lua_touserdata(L, AT_SPEC + 1);
  struct index_draft draft;
  lua_settop(L, AT_SPEC);
  index_declaration_read_draft(L, box, &draft);
  draft.desc.owner = entry->owner;
  raise_failure(L, box->world, index_declaration_build(L, box, &draft, &entry->index));
  const struct migration *migration = &box->stage->transaction.migration;
  raise_failure(L, box->world, migration_check_query(migration, index_query(entry->index)));
  return 0;
}

static void index_declare(lua_State *L, struct world_box *box) {
  struct index_draft draft;
  ecs_index *index = NULL;
  index_declaration_read_draft(L, box, &draft);
  if (box->stage) {
    stage_options(L, box, REGISTERED_INDEX);
    index_push(L, box);
    return;
  }
  if (!box->world) no_world(L, AT_WORLD);   /* closed by a finalizer */
  raise_failure(L, box->world, index_may_enter(box->world, draft.desc.name));
  index_push(L, box);
  int object = lua_gettop(L);
  ecs_status status = index_declaration_build(L, box, &draft, &index);
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

bool index_undeclare(lua_State *L, struct world_box *box, int arg) {
  if (lua_type(L, arg) != LUA_TSTRING) return false;
  size_t size;
  const char *name = lua_tolstring(L, arg, &size);
  if (!index_named(box->world, name, size)) return false;
  raise_failure(L, box->world, ecs_index_drop(box->world, name));
  systems_sweep(L, box, AT_WORLD);
  settle(L, box, AT_WORLD);
  return true;
}

/* world:index(name, options) declares an index; world:index(name) returns an existing one. */
static int world_index(lua_State *L) {
  struct world_box *box = check_world(L, AT_WORLD);
  size_t size;
  const char *name = check_text(L, AT_NAME, &size);
  lua_settop(L, AT_SPEC);
  if (lua_isnil(L, AT_SPEC)) {
    /* A script that is being read may name an index that is declared later. */
    if (!box->stage && !index_named(box->world, name, size))
      raise_argument(L, box->world, index_unknown(box->world, name, size), AT_NAME);
    index_push(L, box);
    if (box->stage) stage_record(L, box, REGISTERED_INDEX_NAME, AT_NAME, -1);
    return 1;
  }
  luaL_checktype(L, AT_SPEC, LUA_TTABLE);
  index_declare(L, box);
  return 1;
}

const luaL_Reg world_index_methods[] = {{"index", world_index}, {NULL, NULL}};
