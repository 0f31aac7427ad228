/* Outside values: upvalues, globals, and what constant keys reach from them, with the guards that
** say what must stay the same. */
#include <lauxlib.h>

#include "front/rounds.h"

#include "core/base/column.h"
#include "core/storage/component.h"

static struct val outside_of_kind(enum val_kind kind, uint32_t at) {
  return (struct val){.kind = (uint8_t)kind, .at = at};
}

uint16_t front_anchor(struct front *f) {
  if (f->anchor_count == 60000)
    front_refuse(f, "it uses too many outside values: write it as two systems");
  lua_rawseti(f->L, f->anchors, (lua_Integer)++f->anchor_count);
  return (uint16_t)f->anchor_count;
}

/* ---- guards and uniforms ---- */

bool outside_same_path(const struct path *a, const struct path *b) {
  return a->keys == b->keys && a->upvalue == b->upvalue && a->root == b->root &&
         memcmp(a->key, b->key, a->keys * sizeof *a->key) == 0;
}

struct guard *outside_add_guard(struct front *f, const struct path *path, enum guard_type type) {
  assert(path->keys <= FRONT_KEYS);
  f->fleeting = f->guard_count == FRONT_GUARDS;
  if (f->fleeting)
    front_refuse(f, "it uses more than %d outside values: write it as two systems", FRONT_GUARDS);
  struct guard *guard = &f->guards[f->guard_count++];
  *guard = (struct guard){.path = *path, .type = type, .uniform = -1};
  return guard;
}

static struct guard *outside_find_guard(struct front *f, const struct path *path,
                                        enum guard_type type) {
  for (uint32_t i = 0; i < f->guard_count; i++)
    if (f->guards[i].type == type && outside_same_path(&f->guards[i].path, path))
      return &f->guards[i];
  return NULL;
}

struct guard *outside_need_guard(struct front *f, const struct path *path, enum guard_type type) {
  struct guard *guard = outside_find_guard(f, path, type);
  return guard ? guard : outside_add_guard(f, path, type);
}

int16_t outside_uniform(struct front *f) {
  if (f->uniform_count == FRONT_UNIFORMS)
    front_refuse(f, "it uses more than %d outside numbers: write it as two systems",
                 FRONT_UNIFORMS);
  return (int16_t)f->uniform_count++;
}

/* What a guard reads before each run. */
static k_value outside_read(struct front *f, struct guard *guard, k_type type) {
  if (guard->uniform < 0) guard->uniform = outside_uniform(f);
  return build_uniform(f->b, (uint32_t)guard->uniform, type);
}

k_value outside_text(struct front *f, enum guard_type type, ecs_string text) {
  static const struct path none = {0};
  uint16_t same = outside_string(f, text.data, text.size);
  uint32_t i = 0;
  while (i < f->guard_count && (f->guards[i].type != type || f->guards[i].same != same)) i++;
  struct guard *guard =
      i < f->guard_count ? &f->guards[i] : outside_add_guard(f, &none, type);
  guard->same = same;
  return outside_read(f, guard, KT_I64);
}

static struct val outside_value(struct front *f, const struct path *path, enum guard_type type) {
  static const k_type types[] = {[GUARD_BOOL] = KT_BOOL, [GUARD_INTEGER] = KT_I64,
                                 [GUARD_WIDE] = KT_I64, [GUARD_FLOAT] = KT_F64};
  assert(type >= GUARD_BOOL && type <= GUARD_FLOAT);
  return val_number(f, outside_read(f, outside_need_guard(f, path, type), types[type]), true);
}

/* Pops a value that must stay the same. Returns where it is anchored. */
static uint16_t outside_guard_same(struct front *f, const struct path *path) {
  struct guard *guard = outside_need_guard(f, path, GUARD_SAME);
  if (guard->same)
    lua_pop(f->L, 1);
  else
    guard->same = front_anchor(f);
  return guard->same;
}

void outside_keep_value(struct front *f, const struct path *path) {
  path_push(f->L, f->anchors, path);
  outside_guard_same(f, path);
}

/* The number of a path, which is added if new. */
uint32_t outside_keep_path(struct front *f, const struct path *path) {
  for (uint32_t i = 0; i < f->path_count; i++)
    if (outside_same_path(&f->paths[i], path)) return i;
  if (f->path_count == FRONT_GUARDS)
    front_refuse(f, "it uses more than %d outside values: write it as two systems", FRONT_GUARDS);
  f->paths[f->path_count] = *path;
  return f->path_count++;
}

/* Pops a view of an open loop: it shows the same row while the function runs. */
static struct val outside_view(struct front *f, const struct path *path, struct outside outside) {
  const struct component *component = outside.resource;
  struct guard *guard = outside_need_guard(f, path, GUARD_VIEW);
  lua_pop(f->L, 1);
  if (!guard->same) {
    lua_pushinteger(f->L, (lua_Integer)component->id);
    guard->same = front_anchor(f);
    guard->measured = outside.read_only;
    guard->uniform = outside_uniform(f);
  }
  return (struct val){.kind = VAL_ELEMENT, .of = VAL_PATH, .root = component,
                      .component = component, .slot = outside.read_only,
                      .value = build_uniform(f->b, (uint32_t)guard->uniform, KT_I64)};
}

/* Pops the object at the top of the stack. Returns what it means to the kernel. */
static struct val outside_object(struct front *f, const struct path *path) {
  struct outside outside = f->outside(f->L, lua_gettop(f->L), f->owner);
  if (outside.kind == OUTSIDE_VIEW) return outside_view(f, path, outside);
  struct val result = outside_of_kind(VAL_WORLD, 0);
  result.at = outside_guard_same(f, path);
  switch (outside.kind) {
    case OUTSIDE_WORLD: break;
    case OUTSIDE_RESOURCE:
      assert(outside.resource && outside.resource->resource);
      result.kind = VAL_RESOURCE;
      result.component = result.root = outside.resource;
      break;
    case OUTSIDE_ARRAY:
      assert(outside.resource && outside.resource->length);
      result.kind = VAL_ARRAY;
      result.component = outside.resource;
      break;
    case OUTSIDE_INDEX:
      result.kind = VAL_INDEX;
      result.at = partner_index(f, outside.index);
      break;
    case OUTSIDE_QUERY: return partner_query(f, outside.query);
    default:
      front_refuse(f, "it uses an object that is not this world, nor one of its resources, "
                      "arrays, indexes or queries: get it with world:res or world:array");
      break;
  }
  return result;
}

/* Pops the string or number at the top of the stack and anchors it, unless it already is. Returns
** its number. */
static uint16_t outside_anchor_once(struct front *f) {
  for (uint32_t i = 1; i <= f->anchor_count; i++) {
    lua_rawgeti(f->L, f->anchors, (lua_Integer)i);
    bool same = lua_rawequal(f->L, -1, -2);
    lua_pop(f->L, 1);
    if (!same) continue;
    lua_pop(f->L, 1);
    return (uint16_t)i;
  }
  return front_anchor(f);
}

uint16_t outside_string(struct front *f, const char *text, size_t size) {
  lua_pushlstring(f->L, text, size);
  return outside_anchor_once(f);
}

uint16_t outside_constant(struct front *f, const struct constant *key) {
  assert(key->type == CONST_STRING || key->type == CONST_INTEGER);
  if (key->type == CONST_STRING)
    lua_pushlstring(f->L, key->string.data, key->string.size);
  else
    lua_pushinteger(f->L, (lua_Integer)key->integer);
  return outside_anchor_once(f);
}

/* Nil at the end of a path, which is also nil in Lua unless there is an __index. */
static struct val outside_absent(struct front *f, const struct path *path) {
  uint16_t index = path->keys ? outside_string(f, "__index", 7) : 0;
  if (!path_is_absent(f->L, f->anchors, path, index)) {
    assert(path->keys > 0);
    outside_need_guard(f, path, GUARD_HIDDEN)->same = index;
    lua_rawgeti(f->L, f->anchors, path->key[path->keys - 1]);
    front_refuse(f, "it uses '%s', which is not in the table itself: fields of tables and globals "
                    "are read without __index, so keep it in a local or in the table",
                 lua_tostring(f->L, -1));
  }
  outside_need_guard(f, path, GUARD_NIL)->same = index;
  return outside_of_kind(VAL_NIL, 0);
}

static struct val outside_number(struct front *f, const struct path *path) {
  enum guard_type type = GUARD_FLOAT;
  if (front_is_integer(f->L, -1))
    type = mixed_is_small(lua_tointeger(f->L, -1)) ? GUARD_INTEGER : GUARD_WIDE;
  lua_pop(f->L, 1);
  struct val number = outside_value(f, path, type);
  number.wide = type == GUARD_WIDE && !NUMBERS_ARE_DOUBLES;
  number.bits = type == GUARD_INTEGER ? MIXED_SMALL : number.wide ? 0 : MIXED_EXACT;
  number.at = outside_keep_path(f, path) + 1;
  return number;
}

/* Pushes a comma and the name of the function at an index in the loaded libraries, nothing if it
** has none; of several names, the alphabetically first. */
static void outside_push_library_name(lua_State *L, int function) {
  lua_pushliteral(L, "");
  int best = lua_gettop(L), library = best + 2, functions = best + 3;
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (lua_pushnil(L); lua_next(L, best + 1); lua_pop(L, 1)) {
    if (!lua_istable(L, functions) || lua_type(L, library) != LUA_TSTRING) continue;
    if (strncmp(lua_tostring(L, library), "ecs.", 4) == 0) continue;   /* only aliases */
    bool globals = strcmp(lua_tostring(L, library), LUA_GNAME) == 0;
    for (lua_pushnil(L); lua_next(L, functions); lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING || !lua_rawequal(L, -1, function)) continue;
      const char *known = lua_tostring(L, best), *prefix = lua_tostring(L, library);
      const char *name = lua_pushfstring(L, ", '%s%s%s'", globals ? "" : prefix,
                                         globals ? "" : ".", lua_tostring(L, -2));
      if (!*known || strcmp(name, known) < 0) lua_copy(L, -1, best);
      lua_pop(L, 1);
    }
  }
  lua_settop(L, best);
}

static struct val outside_function(struct front *f, const struct path *path) {
  lua_State *L = f->L;
  lua_CFunction native = lua_tocfunction(L, -1);
  struct val function = library_find(f, native);
  bool spawns = native && f->outside(L, lua_gettop(L), f->owner).kind == OUTSIDE_SPAWNER;
  uint16_t anchor = outside_guard_same(f, path);
  if (spawns) return outside_of_kind(VAL_SPAWNER, anchor);
  if (function.kind == VAL_NOTHING && native) {
    lua_rawgeti(L, f->anchors, anchor);
    outside_push_library_name(L, lua_gettop(L));
    front_refuse(f, "it uses a C function that is not a math function%s: call it in a system's "
                    "run, and keep its result in a resource", lua_tostring(L, -1));
  }
  return function.kind == VAL_NOTHING ? outside_of_kind(VAL_FUNCTION, anchor) : function;
}

/* Pops the value at the top of the stack. Returns what it means to the kernel. */
static struct val outside_classify(struct front *f, const struct path *path) {
  lua_State *L = f->L;
  switch (lua_type(L, -1)) {
    case LUA_TNIL: lua_pop(L, 1); return outside_absent(f, path);
    case LUA_TBOOLEAN: lua_pop(L, 1); return outside_value(f, path, GUARD_BOOL);
    case LUA_TNUMBER: return outside_number(f, path);
    case LUA_TTABLE: lua_pop(L, 1); return outside_of_kind(VAL_PATH, outside_keep_path(f, path));
    case LUA_TSTRING: {
      struct val string = outside_of_kind(VAL_STRING, 0);
      string.string.data = lua_tolstring(L, -1, &string.string.size);
      outside_guard_same(f, path);
      return string;
    }
    case LUA_TFUNCTION: return outside_function(f, path);
    case LUA_TUSERDATA: return outside_object(f, path);
    default: break;
  }
  const char *type = luaL_typename(L, -1);
  outside_guard_same(f, path);
  front_refuse(f, "it uses a %s from outside", type);
  return outside_of_kind(VAL_NIL, 0);
}

/* ---- paths ---- */

void path_push(lua_State *L, int anchors, const struct path *path) {
  assert(path->root > 0 && path->keys <= FRONT_KEYS);
  lua_rawgeti(L, anchors, path->root);
  bool found = path->upvalue ? lua_getupvalue(L, -1, path->upvalue) != NULL
                             : lua_getmetatable(L, -1) != 0;
  if (!found) lua_pushnil(L);
  lua_remove(L, -2);
  for (uint32_t i = 0; i < path->keys; i++) {
    if (!lua_istable(L, -1)) {
      lua_pop(L, 1);
      lua_pushnil(L);
      return;
    }
    lua_rawgeti(L, anchors, path->key[i]);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
}

void path_tell_key(lua_State *L, int anchors, uint16_t key) {
  lua_rawgeti(L, anchors, key);
  const char *text = luaL_tolstring(L, -1, NULL), *table = lua_tostring(L, -3);
  bool global = strcmp(table, "_ENV") == 0;
  lua_pushfstring(L, lua_type(L, -2) != LUA_TSTRING ? "%s[%s]" : global ? "%s%s" : "%s.%s",
                  global ? "" : table, text);
  lua_replace(L, -4);
  lua_pop(L, 2);
}

void path_tell(lua_State *L, int anchors, const struct path *path) {
  lua_rawgeti(L, anchors, path->root);
  bool locals = lua_iscfunction(L, -1);   /* a loop's locals: the first upvalue has their names */
  const char *name =
      lua_isfunction(L, -1) ? lua_getupvalue(L, -1, locals ? 1 : path->upvalue) : NULL;
  if (name && locals && lua_istable(L, -1)) {
    lua_rawgeti(L, -1, path->upvalue);
    name = lua_tostring(L, -1);   /* the table keeps it alive */
    lua_pop(L, 1);
  }
  lua_settop(L, lua_gettop(L) - (name ? 2 : 1));
  lua_pushstring(L, name && *name ? name : "?");
  for (uint32_t i = 0; i < path->keys; i++) path_tell_key(L, anchors, path->key[i]);
}

bool path_has_method(lua_State *L, int anchors, int object, uint16_t name) {
  if (!lua_getmetatable(L, object)) return false;
  lua_rawgeti(L, anchors, name);
  bool has = lua_rawget(L, -2) != LUA_TNIL;
  lua_pop(L, 2);
  return has;
}

bool path_is_absent(lua_State *L, int anchors, const struct path *path, uint16_t index) {
  if (path->keys == 0) return true;
  int top = lua_gettop(L);
  struct path table = *path;
  table.keys--;
  path_push(L, anchors, &table);
  bool is_absent = lua_istable(L, -1) && !path_has_method(L, anchors, top + 1, index);
  lua_settop(L, top);
  return is_absent;
}

int path_compare(lua_State *L, int anchors, const struct path *x, const struct path *y,
                 uint16_t equal) {
  int top = lua_gettop(L);
  path_push(L, anchors, x);
  path_push(L, anchors, y);
  int type = lua_type(L, -1), result = lua_rawequal(L, -1, -2);
  bool asks = !result && type == lua_type(L, -2) &&
              (type == LUA_TTABLE || type == LUA_TUSERDATA);
  if (asks && (path_has_method(L, anchors, top + 1, equal) ||
               path_has_method(L, anchors, top + 2, equal)))
    result = -1;
  if (lua_isnil(L, top + 1) || lua_isnil(L, top + 2)) result = -1;
  lua_settop(L, top);
  return result;
}

static struct val outside_follow(struct front *f, const struct path *path) {
  uint32_t cell = cell_find(f, path);
  if (cell != NONE) return cell_get(f, path, cell);
  path_push(f->L, f->anchors, path);
  return outside_classify(f, path);
}

/* An upvalue of a closure is a register, or an upvalue, of the call that has created it. Goes one
** call outward. */
static bool outside_is_local(struct front *f, const struct frame **frame, uint32_t *upvalue) {
  bool local = false;
  while ((*frame)->around && !local) {
    assert(*upvalue < (*frame)->code->upvalues);
    const unsigned char *shared = &(*frame)->code->shared[(size_t)3 * *upvalue];
    local = shared[0] != 0;
    *upvalue = shared[1];
    *frame = (*frame)->around;
  }
  bool cut = local && f->body_line && !(*frame)->caller;
  if (cut && *upvalue + EACH_VARIABLE < f->body_first)
    front_refuse(f, "its loop uses a local that a function created here uses, too: that is done "
                    "in Lua");
  return local;
}

struct val *outside_local(struct front *f, uint32_t upvalue) {
  const struct frame *frame = f->frame;
  return outside_is_local(f, &frame, &upvalue) ? &f->registers[frame->base + upvalue] : NULL;
}

/* The path of an upvalue of a frame's function, unless it is a local of another function. */
static struct path outside_path_of(struct front *f, const struct frame *frame, uint32_t upvalue) {
  if (upvalue >= BODY_LOCAL)
    return (struct path){0, (uint8_t)(upvalue - BODY_LOCAL + 3), f->locals, {0}};
  if (upvalue >= 255) front_refuse(f, "it has too many upvalues");
  return (struct path){0, (uint8_t)(upvalue + 1), frame->function, {0}};
}

struct path outside_upvalue_path(struct front *f, uint32_t upvalue) {
  const struct frame *frame = f->frame;
  (void)outside_is_local(f, &frame, &upvalue);
  return outside_path_of(f, frame, upvalue);
}

struct val outside_upvalue(struct front *f, uint32_t upvalue) {
  const struct frame *frame = f->frame;
  if (outside_is_local(f, &frame, &upvalue)) return f->registers[frame->base + upvalue];
  struct path path = outside_path_of(f, frame, upvalue);
  return outside_follow(f, &path);
}

struct path outside_key_path(struct front *f, uint32_t at, const struct constant *key) {
  assert(at < f->path_count);
  struct path path = f->paths[at];
  if (path.keys == FRONT_KEYS)
    front_refuse(f, "it reaches a value through more than %d keys: keep one of the tables in a "
                    "local outside the function", FRONT_KEYS);
  path.key[path.keys++] = outside_constant(f, key);
  return path;
}

struct val outside_key(struct front *f, uint32_t at, const struct constant *key) {
  struct path path = outside_key_path(f, at, key);
  return outside_follow(f, &path);
}

struct val outside_string_key(struct front *f, const struct constant *key) {
  struct path methods = {.keys = 1, .root = outside_string(f, "", 0)};
  methods.key[0] = outside_string(f, "__index", 7);
  return outside_key(f, outside_keep_path(f, &methods), key);
}

/* ---- lengths ---- */

int64_t path_length(lua_State *L, int anchors, const struct path *path, uint16_t length) {
  int top = lua_gettop(L);
  int64_t count = -1;
  path_push(L, anchors, path);
  if (lua_istable(L, -1) && path_has_method(L, anchors, top + 1, length))
    count = -2;
  else if (lua_istable(L, -1))
    count = (int64_t)lua_rawlen(L, -1);
  lua_settop(L, top);
  return count;
}

struct val outside_length(struct front *f, struct val table) {
  assert(table.kind == VAL_PATH && table.at < f->path_count);
  const struct path *path = &f->paths[table.at];
  uint16_t length = outside_string(f, "__len", 5);
  bool asked = path_length(f->L, f->anchors, path, length) == -2;
  struct guard *guard = outside_need_guard(f, path, asked ? GUARD_MEASURED : GUARD_LENGTH);
  guard->same = length;
  if (asked)
    front_refuse(f, "it takes the length of a table that has __len: keep the length in a local");
  return val_number(f, outside_read(f, guard, KT_I64), true);
}

k_value outside_taken_length(struct front *f, struct val table) {
  struct guard *guard = outside_find_guard(f, &f->paths[table.at], GUARD_LENGTH);
  return guard && guard->uniform >= 0 ? outside_read(f, guard, KT_I64) : K_NONE;
}

/* ---- comparing and keeping ---- */

void outside_table(struct front *f, struct val table) {
  assert(table.kind == VAL_PATH && table.at < f->path_count);
  outside_need_guard(f, &f->paths[table.at], GUARD_TABLE);
}

bool outside_guard_tables(struct front *f) {
  for (uint32_t i = 0; i < f->path_count; i++) {
    const struct path *path = &f->paths[i];
    if (outside_find_guard(f, path, GUARD_INTEGER) || outside_find_guard(f, path, GUARD_WIDE) ||
        outside_find_guard(f, path, GUARD_FLOAT) || outside_find_guard(f, path, GUARD_TABLE))
      continue;
    if (f->guard_count == FRONT_GUARDS) return false;
    outside_add_guard(f, path, GUARD_TABLE);
  }
  return true;
}

/* Finds or makes the guard of a type for two paths that are compared. */
static struct guard *outside_guard_both(struct front *f, enum guard_type type,
                                        const struct path *left, const struct path *right,
                                        uint16_t equal) {
  uint32_t i = 0;
  while (i < f->guard_count &&
         !(f->guards[i].type == type && outside_same_path(&f->guards[i].path, left) &&
           outside_same_path(&f->guards[i].other, right)))
    i++;
  struct guard *guard = i < f->guard_count ? &f->guards[i] : outside_add_guard(f, left, type);
  guard->other = *right;
  guard->same = equal;
  return guard;
}

k_value outside_equal(struct front *f, struct val x, struct val y) {
  assert(x.kind == VAL_PATH && y.kind == VAL_PATH);
  const struct path *left = &f->paths[x.at], *right = &f->paths[y.at];
  uint16_t equal = outside_string(f, "__eq", 4);
  if (path_compare(f->L, f->anchors, left, right, equal) < 0) {
    outside_guard_both(f, GUARD_ASKED, left, right, equal);
    front_refuse(f, "it compares tables that have __eq: compare one of their fields");
  }
  return outside_read(f, outside_guard_both(f, GUARD_EQUAL, left, right, equal), KT_BOOL);
}

bool outside_same(struct front *f, struct val x, struct val y) {
  if (x.at == 0 || y.at == 0)
    front_refuse(f, "it compares results of world:res, which are new objects each time: compare a "
                    "field");
  lua_rawgeti(f->L, f->anchors, (lua_Integer)x.at);
  lua_rawgeti(f->L, f->anchors, (lua_Integer)y.at);
  bool same = lua_rawequal(f->L, -1, -2);
  lua_pop(f->L, 2);
  return same && x.component == y.component && x.leaf == y.leaf;
}

bool outside_null(struct front *f, struct val number) {
  if (number.kind != VAL_VALUE || number.at == 0) return false;
  const struct path *path = &f->paths[number.at - 1];
  path_push(f->L, f->anchors, path);
  bool null = front_is_integer(f->L, -1) && lua_tointeger(f->L, -1) == 0;
  if (null) {
    outside_guard_same(f, path);
  } else {
    lua_pop(f->L, 1);
    outside_need_guard(f, path, GUARD_OTHER);
  }
  return null;
}

bool outside_keep(struct front *f, struct val number) {
  if (number.at == 0) return false;
  assert(number.at <= f->path_count);
  const struct path *path = &f->paths[number.at - 1];
  path_push(f->L, f->anchors, path);
  lua_pushvalue(f->L, -1);
  outside_guard_same(f, path);
  return true;
}
