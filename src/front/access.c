/* Where values come from and go to: upvalues, globals, fields of views and of resources. */
#include "front/front.h"

#include "core/base/enumeration.h"
#include "core/base/value.h"
#include "core/store/query.h"
#include "core/store/world.h"

static struct val of_kind(enum val_kind kind, uint32_t at) {
  return (struct val){.kind = (uint8_t)kind, .at = at};
}

uint16_t front_anchor(struct front *f) {
  if (f->anchor_count == 60000) front_refuse(f, "it uses too many outside values");
  lua_rawseti(f->L, f->anchors, (lua_Integer)++f->anchor_count);
  return (uint16_t)f->anchor_count;
}

/* ---- guards and uniforms ---- */

static bool same_path(const struct path *a, const struct path *b) {
  return a->keys == b->keys && a->upvalue == b->upvalue && a->root == b->root &&
         memcmp(a->key, b->key, a->keys * sizeof *a->key) == 0;
}

static struct guard *add_guard(struct front *f, const struct path *path,
                               enum guard_type type) {
  assert(path->upvalue > 0 && path->keys <= FRONT_KEYS);
  if (f->guard_count == FRONT_GUARDS) front_refuse(f, "it uses too many outside values");
  struct guard *guard = &f->guards[f->guard_count++];
  *guard = (struct guard){.path = *path, .type = type, .uniform = -1};
  return guard;
}

/* The guard of that type for a path: one for all uses of the value. */
static struct guard *need_guard(struct front *f, const struct path *path,
                                enum guard_type type) {
  for (uint32_t i = 0; i < f->guard_count; i++)
    if (f->guards[i].type == type && same_path(&f->guards[i].path, path))
      return &f->guards[i];
  return add_guard(f, path, type);
}

static int16_t new_uniform(struct front *f) {
  if (f->uniform_count == FRONT_UNIFORMS)
    front_refuse(f, "it uses too many outside numbers");
  return (int16_t)f->uniform_count++;
}

static struct val uniform(struct front *f, const struct path *path, enum guard_type type) {
  static const k_type types[] = {[GUARD_BOOL] = KT_BOOL, [GUARD_INTEGER] = KT_I64,
                                 [GUARD_WIDE] = KT_I64, [GUARD_FLOAT] = KT_F64};
  assert(type >= GUARD_BOOL && type <= GUARD_FLOAT);
  struct guard *guard = need_guard(f, path, type);
  if (guard->uniform < 0) guard->uniform = new_uniform(f);
  return val_number(f, build_uniform(f->b, (uint32_t)guard->uniform, types[type]), true);
}

/* A value that must stay the same: pops it and returns where it is anchored. */
static uint16_t guard_same(struct front *f, const struct path *path) {
  struct guard *guard = need_guard(f, path, GUARD_SAME);
  if (guard->same)
    lua_pop(f->L, 1);
  else
    guard->same = front_anchor(f);
  return guard->same;
}

/* The number of a path among those that are known. */
static uint32_t keep_path(struct front *f, const struct path *path) {
  for (uint32_t i = 0; i < f->path_count; i++)
    if (same_path(&f->paths[i], path)) return i;
  if (f->path_count == FRONT_GUARDS) front_refuse(f, "it uses too many outside values");
  f->paths[f->path_count] = *path;
  return f->path_count++;
}

/* The object at the top of the stack, for the kernel; pops it. */
static struct val object(struct front *f, const struct path *path) {
  struct outside outside = f->outside(f->L, lua_gettop(f->L), f->owner);
  struct val result = of_kind(VAL_WORLD, 0);
  switch (outside.kind) {
    case OUTSIDE_WORLD: break;
    case OUTSIDE_RESOURCE:
      assert(outside.resource && outside.resource->resource);
      result.kind = VAL_RESOURCE;
      result.component = result.root = outside.resource;
      break;
    default:
      front_refuse(f, "it uses an object that is neither this world nor a resource of it");
      break;
  }
  result.at = guard_same(f, path);
  return result;
}

/* Anchors a string, if it is not anchored yet; its number. */
static uint16_t anchor_string(struct front *f, const char *text, size_t size) {
  lua_pushlstring(f->L, text, size);
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

/* Nil at the end of a path, which it is in Lua, too, unless there is an __index. */
static struct val absent(struct front *f, const struct path *path) {
  uint16_t index = path->keys ? anchor_string(f, "__index", 7) : 0;
  if (!path_is_absent(f->L, f->anchors, path, index)) {
    assert(path->keys > 0);
    lua_rawgeti(f->L, f->anchors, path->key[path->keys - 1]);
    front_refuse(f, "it takes '%s', which only __index may have: globals and fields of tables "
                    "are read raw, keep it in a local or in the table itself",
                 lua_tostring(f->L, -1));
  }
  need_guard(f, path, GUARD_NIL)->same = index;
  return of_kind(VAL_NIL, 0);
}

static struct val outside_number(struct front *f, const struct path *path) {
  enum guard_type type = GUARD_FLOAT;
  if (lua_isinteger(f->L, -1))
    type = number_fits_float(lua_tointeger(f->L, -1)) ? GUARD_INTEGER : GUARD_WIDE;
  lua_pop(f->L, 1);
  struct val number = uniform(f, path, type);
  number.wide = type == GUARD_WIDE;
  number.at = keep_path(f, path) + 1;
  return number;
}

static struct val outside_function(struct front *f, const struct path *path) {
  lua_State *L = f->L;
  struct val function = call_known(lua_tocfunction(L, -1), f->math);
  if (function.kind == VAL_NOTHING && lua_iscfunction(L, -1))
    front_refuse(f, "it uses a C function that is not one of math's");
  uint16_t anchor = guard_same(f, path);
  return function.kind == VAL_NOTHING ? of_kind(VAL_FUNCTION, anchor) : function;
}

/* What the value at the top of the stack is for the kernel; pops it. */
static struct val classify(struct front *f, const struct path *path) {
  lua_State *L = f->L;
  switch (lua_type(L, -1)) {
    case LUA_TNIL: lua_pop(L, 1); return absent(f, path);
    case LUA_TBOOLEAN: lua_pop(L, 1); return uniform(f, path, GUARD_BOOL);
    case LUA_TNUMBER: return outside_number(f, path);
    case LUA_TTABLE: lua_pop(L, 1); return of_kind(VAL_PATH, keep_path(f, path));
    case LUA_TSTRING: {
      struct val string = of_kind(VAL_STRING, 0);
      string.string.data = lua_tolstring(L, -1, &string.string.size);
      guard_same(f, path);
      return string;
    }
    case LUA_TFUNCTION: return outside_function(f, path);
    case LUA_TUSERDATA: return object(f, path);
    default: front_refuse(f, "it uses a %s from outside", luaL_typename(L, -1));
  }
  return of_kind(VAL_NIL, 0);
}

/* ---- paths ---- */

void path_push(lua_State *L, int anchors, const struct path *path) {
  assert(path->upvalue > 0 && path->keys <= FRONT_KEYS);
  lua_rawgeti(L, anchors, path->root);
  const char *name = lua_getupvalue(L, -1, path->upvalue);
  if (!name) lua_pushnil(L);
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

/* Whether the table or object at an index has a metamethod, by its anchored name. */
static bool has_method(lua_State *L, int anchors, int object, uint16_t name) {
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
  bool is_absent = lua_istable(L, -1) && !has_method(L, anchors, top + 1, index);
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
  if (asks && (has_method(L, anchors, top + 1, equal) || has_method(L, anchors, top + 2, equal)))
    result = -1;
  if (lua_isnil(L, top + 1) || lua_isnil(L, top + 2)) result = -1;
  lua_settop(L, top);
  return result;
}

static struct val follow(struct front *f, const struct path *path) {
  path_push(f->L, f->anchors, path);
  return classify(f, path);
}

struct val access_upvalue(struct front *f, uint32_t upvalue) {
  struct path path = {0, (uint8_t)(upvalue + 1), f->frame->function, {0}};
  if (upvalue >= 255) front_refuse(f, "it has too many upvalues");
  return follow(f, &path);
}

static struct val follow_key(struct front *f, uint32_t at, const struct constant *key) {
  assert(at < f->path_count);
  struct path path = f->paths[at];
  if (key->type != CONST_STRING) front_refuse(f, "it indexes a table");
  if (path.keys == FRONT_KEYS) front_refuse(f, "it reaches a value by too many keys");
  path.key[path.keys++] = anchor_string(f, key->string.data, key->string.size);
  return follow(f, &path);
}

/* ---- comparing and keeping ---- */

void access_table(struct front *f, struct val table) {
  assert(table.kind == VAL_PATH && table.at < f->path_count);
  need_guard(f, &f->paths[table.at], GUARD_TABLE);
}

k_value access_equal(struct front *f, struct val x, struct val y) {
  assert(x.kind == VAL_PATH && y.kind == VAL_PATH);
  const struct path *left = &f->paths[x.at], *right = &f->paths[y.at];
  uint16_t equal = anchor_string(f, "__eq", 4);
  if (path_compare(f->L, f->anchors, left, right, equal) < 0)
    front_refuse(f, "it compares tables that have __eq: compare a field of them");
  uint32_t i = 0;
  while (i < f->guard_count && !(f->guards[i].type == GUARD_EQUAL &&
                                 same_path(&f->guards[i].path, left) &&
                                 same_path(&f->guards[i].other, right)))
    i++;
  struct guard *guard = i < f->guard_count ? &f->guards[i] : add_guard(f, left, GUARD_EQUAL);
  guard->other = *right;
  guard->same = equal;
  if (guard->uniform < 0) guard->uniform = new_uniform(f);
  return build_uniform(f->b, (uint32_t)guard->uniform, KT_BOOL);
}

bool access_same(struct front *f, struct val x, struct val y) {
  lua_rawgeti(f->L, f->anchors, (lua_Integer)x.at);
  lua_rawgeti(f->L, f->anchors, (lua_Integer)y.at);
  bool same = lua_rawequal(f->L, -1, -2);
  lua_pop(f->L, 2);
  return same && x.component == y.component && x.leaf == y.leaf;
}

bool access_keep(struct front *f, struct val number) {
  if (number.at == 0) return false;
  assert(number.at <= f->path_count);
  const struct path *path = &f->paths[number.at - 1];
  path_push(f->L, f->anchors, path);
  lua_pushvalue(f->L, -1);
  guard_same(f, path);
  return true;
}

/* ---- columns ---- */

const struct term *front_term(const struct front *f, uint32_t slot) {
  const struct query_terms *terms = &f->query->terms;
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].slot == slot) return &terms->terms[i];
  return NULL;
}

static bool is_read_only(const struct front *f, uint32_t slot) {
  if (slot == NONE) return false;
  assert(front_term(f, slot));
  return front_term(f, slot)->read_only;
}

static k_column column_type(struct front *f, const struct component *component,
                            const struct leaf *leaf) {
  static const k_column columns[COLUMN_COUNT] = {
      [COLUMN_F32] = KC_F32, [COLUMN_F64] = KC_F64, [COLUMN_I8] = KC_I8,
      [COLUMN_I16] = KC_I16, [COLUMN_I32] = KC_I32, [COLUMN_I64] = KC_I64,
      [COLUMN_U8] = KC_U8, [COLUMN_U16] = KC_U16, [COLUMN_U32] = KC_U32,
      [COLUMN_BOOL] = KC_BOOL, [COLUMN_ENTITY] = KC_ENTITY};
  enum type_column column = type_column(leaf->type, leaf->size);
  if (column == COLUMN_NONE)
    front_refuse(f, "it uses field '%s.%s', which is %s", component->name, leaf->name,
                 type_name(leaf->type));
  return columns[column];
}

static uint32_t new_column(struct front *f, struct run_column cells, struct front_column column) {
  if (f->column_count == RUN_COLUMNS) front_refuse(f, "it uses too many fields");
  column.number = build_column(f->b, column.type);
  assert(column.number == f->column_count || column.number == NONE);
  f->columns[f->column_count] = column;
  f->cells[f->column_count] = cells;
  return f->column_count++;
}

/* The number of a term's field among the kernel's columns. */
static uint32_t find_column(struct front *f, uint32_t slot, uint32_t leaf,
                            const struct component *component, uint32_t component_leaf) {
  for (uint32_t i = 0; i < f->column_count; i++)
    if (f->cells[i].slot == slot && f->cells[i].leaf == leaf) return i;
  k_column type = column_type(f, component, &component->leaves[component_leaf]);
  return new_column(f, (struct run_column){slot, leaf},
                    (struct front_column){.component = component,
                                          .component_leaf = component_leaf, .type = type,
                                          .read_only = is_read_only(f, slot)});
}

/* Whether two terms are about the same cells in any case. */
static bool is_same(const struct term *a, const struct term *b) {
  bool own = term_is_own(a) && term_is_own(b);
  return a->id == b->id && (own || (term_is_known(a) && term_is_known(b)));
}

/* Terms may name the same component, or a field of one: what they share is one column, that of
** the first. Its slot, and in *leaf the leaf as that term counts it. */
static uint32_t first_slot(const struct front *f, uint32_t slot, uint32_t *leaf) {
  const struct term *term = front_term(f, slot);
  assert(term);
  uint32_t base = term->leaf == NONE ? 0 : term->leaf;
  for (uint32_t i = 0; i < slot; i++) {
    const struct term *other = front_term(f, i);
    uint32_t start = other->leaf == NONE ? 0 : other->leaf;
    bool covers = other->leaf == NONE || start == base + *leaf;
    if (!is_same(other, term) || !covers) continue;
    *leaf = base + *leaf - start;
    return i;
  }
  return slot;
}

struct val access_column(struct front *f, uint32_t slot, uint32_t leaf,
                         const struct component *component, uint32_t component_leaf) {
  assert(component_leaf < component->leaf_count);
  slot = first_slot(f, slot, &leaf);
  uint32_t at = find_column(f, slot, leaf, component, component_leaf);
  const struct leaf *field = &component->leaves[component_leaf];
  f->columns[at].read = true;
  if (f->env.fields[at] == K_NONE) f->env.fields[at] = build_load(f->b, f->columns[at].number);
  struct val value = val_number(f, f->env.fields[at], false);
  value.names = field->type == ECS_ENUM ? field->names : NULL;
  value.entity = field->type == ECS_ENTITY;
  return value;
}

/* The id of the row's entity, in a column of its own. */
static struct val row_entity(struct front *f) {
  uint32_t at = 0;
  while (at < f->column_count && f->cells[at].slot != NONE) at++;
  if (at == f->column_count)
    new_column(f, (struct run_column){.slot = NONE},
               (struct front_column){.type = KC_ENTITY, .read = true});
  struct val value = val_number(f, build_rows_entity(f->b, f->columns[at].number), false);
  value.entity = value.row_entity = true;
  return value;
}

/* ---- views ---- */

/* A field or element of a view: what it is and its first leaf. */
static const struct field *view_field(struct front *f, struct val view,
                                      const struct constant *key, uint32_t *leaf) {
  const struct component *component = view.component;
  if (key->type != CONST_STRING) front_refuse(f, "it indexes a view by something else than a name");
  uint32_t at = component_field(component, key->string.data, key->string.size);
  if (at == NONE) {
    component_no_field(f->world, component, key->string.data, key->string.size);
    front_refuse(f, "%s", f->world->message);
  }
  *leaf = view.leaf + component->fields[at].first_leaf;
  return &component->fields[at];
}

/* An element of an array: its first leaf, counted from the array's. */
static uint32_t element(struct front *f, struct val view, const struct constant *key) {
  assert(view.array && view.array->count > 0);
  int64_t at = key->type == CONST_INTEGER ? key->integer : 0;
  if (key->type == CONST_FLOAT && !number_is_integer(key->number, &at)) at = 0;
  if (at < 1 || at > view.array->count)
    front_refuse(f, "it takes an element of '%s' that is none", view.array->name);
  return (uint32_t)(at - 1) * (view.array->leaf_count / view.array->count);
}

/* What a key of a view leads to: another view, or a leaf, which has neither elements nor
** fields. */
static struct val inside(struct front *f, struct val view, const struct constant *key) {
  struct val to = view;
  if (view.array) {
    to.leaf = view.leaf + element(f, view, key);
    to.component = view.array->nested;
    to.array = NULL;
    return to;
  }
  const struct field *field = view_field(f, view, key, &to.leaf);
  to.array = field->count ? field : NULL;
  to.component = field->count ? NULL : field->nested;
  return to;
}

static bool is_leaf(struct val view) { return !view.array && !view.component; }

/* A field of a resource: a uniform. */
static struct val resource_field(struct front *f, struct val at) {
  assert(at.leaf < at.root->leaf_count);
  const struct leaf *leaf = &at.root->leaves[at.leaf];
  (void)column_type(f, at.root, leaf);   /* refuses what kernels have no columns for */
  enum type_class class = type_class(leaf->type);
  k_type type = class == CLASS_FLOAT ? KT_F64 : class == CLASS_TRUTH ? KT_BOOL : KT_I64;
  uint32_t i = 0;
  while (i < f->resource_count && (f->resources[i].component != at.root->id ||
                                   f->resources[i].leaf != at.leaf))
    i++;
  if (i == f->resource_count)
    f->resources[f->resource_count++] =
        (struct resource_uniform){at.root->id, at.leaf, new_uniform(f)};
  uint32_t number = (uint32_t)f->resources[i].uniform;
  struct val value = val_number(f, build_uniform(f->b, number, type), true);
  value.names = leaf->type == ECS_ENUM ? leaf->names : NULL;
  value.entity = leaf->type == ECS_ENTITY;
  return value;
}

struct val access_key(struct front *f, struct val from, const struct constant *key) {
  if (from.kind == VAL_PATH) return follow_key(f, from.at, key);
  if (from.kind == VAL_WORLD) return call_method(f, from, key);
  if (from.kind != VAL_VIEW && from.kind != VAL_RESOURCE)
    front_refuse(f, "it takes a field of what is neither a view nor a table");
  struct val to = inside(f, from, key);
  if (!is_leaf(to)) return to;
  if (from.kind == VAL_RESOURCE) return resource_field(f, to);
  return access_column(f, to.slot, to.leaf, to.root, to.leaf);
}

/* What a function is given: views, values and truths of the terms, then dt, then the entity. */
struct val access_parameter(struct front *f, uint32_t index) {
  if (index == f->query->terms.slots)
    return val_number(f, build_uniform(f->b, UNIFORM_DT, KT_F64), true);
  if (index == f->query->terms.slots + 1) return row_entity(f);
  if (index > f->query->terms.slots + 1 + f->query->terms.values) return of_kind(VAL_NIL, 0);
  if (index > f->query->terms.slots)
    front_refuse(f, "it takes who a '*' or a variable of its query stands for");
  const struct term *term = front_term(f, index);
  if (term_may_lack(term) && !(f->present >> index & 1)) return of_kind(VAL_NIL, 0);
  if (term->leaf != NONE) return access_column(f, index, 0, term->component, term->leaf);
  if (!term_has_cells(term, term->component)) return val_known(f, true);
  struct val view = of_kind(VAL_VIEW, 0);
  view.slot = index;
  view.component = view.root = term->component;
  return view;
}

/* ---- stores ---- */

/* A value as a field takes it. */
static k_value fit_value(struct front *f, const struct leaf *leaf, k_column type,
                         struct val value) {
  if (leaf->type == ECS_ENUM) {
    if (value.kind == VAL_STRING) {
      uint32_t at = enumeration_find(leaf->names, value.string.data, value.string.size);
      if (at != NONE) return build_i64(f->b, at);
    }
    if (value.kind == VAL_VALUE && value.names == leaf->names) return value.value;
    front_refuse(f, "it sets an enum field to something else than one of its names");
  }
  bool boolean = value.kind == VAL_VALUE && val_type(f, value) == KT_BOOL;
  if (leaf->type == ECS_BOOL && boolean) return value.value;
  if (leaf->type == ECS_ENTITY && value.kind == VAL_VALUE && value.entity) return value.value;
  if (!type_is_number(leaf->type) || !val_is_number(f, value))
    front_refuse(f, "it sets a field of type %s to another type", type_name(leaf->type));
  return build_fit(f->b, type, value.value);
}

void access_store(struct front *f, struct val view, const struct constant *key,
                  struct val value) {
  if (view.kind == VAL_PATH) front_refuse(f, "it writes to a table");
  if (view.kind != VAL_VIEW) front_refuse(f, "it writes to what is not a view");
  struct val to = inside(f, view, key);
  if (!is_leaf(to)) front_refuse(f, "it sets an array or a nested component");
  if (leaf_is_target(to.root, to.leaf))
    front_refuse(f, "it writes to '%s.target', which only world:add and world:set do",
                 to.root->name);
  uint32_t slot = to.slot, leaf = to.leaf;
  slot = first_slot(f, slot, &leaf);
  uint32_t at = find_column(f, slot, leaf, to.root, to.leaf);
  struct front_column *column = &f->columns[at];
  assert(at < f->column_count);
  f->breaks_promise = column->read_only || is_read_only(f, to.slot);
  if (f->breaks_promise)
    front_refuse(f, "it writes to '%s', which the query reads only (:in)", to.root->name);
  column->written = true;
  build_at(f->b, f->env.mask, front_tag(f) | (at + 1) << TAG_LINES);
  f->env.fields[at] = fit_value(f, &to.root->leaves[to.leaf], column->type, value);
}

/* Whether what the term reads is written before its row's turn: parents come before children. */
static bool is_of_parent(const struct front *f, const struct term *term) {
  const struct query_terms *terms = &f->query->terms;
  return term->form == TERM_PATH && term->through == terms->cascade && !term->nearest &&
         !terms->sources;
}

/* What is written has one way to it, so that no row reads what another one has still to write. */
static void check_owner(struct front *f, uint32_t at) {
  const struct front_column *written = &f->columns[at];
  const char *component = written->component->name;
  const struct term *owner = front_term(f, f->cells[at].slot);
  if (owner->form == TERM_PATH || owner->form == TERM_OF)
    front_refuse(f, "it writes to '%s' of another entity, by a path or a variable", component);
  for (uint32_t i = 0; i < f->column_count; i++) {
    const struct front_column *other = &f->columns[i];
    bool shared = other->component == written->component &&
                  other->component_leaf == written->component_leaf;
    if (i == at || !shared || is_of_parent(f, front_term(f, f->cells[i].slot))) continue;
    front_refuse(f, "it writes to '%s.%s' and comes to it by another term, too", component,
                 written->component->leaves[written->component_leaf].name);
  }
}

void access_finish(struct front *f) {
  for (uint32_t i = 0; i < f->column_count; i++)
    if (f->columns[i].written) check_owner(f, i);
  for (uint32_t i = 0; i < f->column_count; i++)
    if (f->columns[i].written && f->env.fields[i] != K_NONE)
      build_store(f->b, f->columns[i].number, f->env.fields[i]);
}
