/* Script cells: upvalues, globals and fields of tables that the function writes. They are a class
** of their own (class.c): rows see what earlier rows have written. A cell is an element of an array
** in the variant's memory with two booleans: whether it is present, if it may be nil, and whether
** it is an integer to Lua, if it may be either. It is loaded before each stretch of a run without
** Lua calls, and stored afterwards. Its type is that of its value at compile time, widened by
** everything that the function stores; the function is then compiled again.
**
** A cell is an upvalue, or a table and a key, whichever path leads to it. Before each stretch it is
** checked which paths lead to the same cell, and that nothing else does. */
#include "front/front.h"

#include "core/base/column.h"
#include "core/ids/world.h"
#include "kernel/ops.h"

/* The parts of a cell: its value and its booleans. */
enum cell_part { PART_ITSELF, PART_PRESENT, PART_INTEGER };

/* ---- identity ---- */

/* Pushes the cell's owner: the function with the upvalue, or the table with the field. */
static void cell_push_home(lua_State *L, int anchors, const struct path *path) {
  struct path table = *path;
  table.keys--;
  if (path->keys)
    path_push(L, anchors, &table);
  else
    lua_rawgeti(L, anchors, path->root);
}

/* The upvalue, or the table with the field, at the end of a path; NULL if there is none. */
static const void *cell_home(lua_State *L, int anchors, const struct path *path) {
  cell_push_home(L, anchors, path);
  const void *home = path->keys ? (lua_istable(L, -1) ? lua_topointer(L, -1) : NULL)
                                : lua_upvalueid(L, -1, path->upvalue);
  lua_pop(L, 1);
  return home;
}

/* The anchored key of the field at the end of a path; 0 for an upvalue. */
static uint16_t cell_key(const struct path *path) {
  return path->keys ? path->key[path->keys - 1] : 0;
}

/* Where a cell's key is anchored while the function is compiled repeatedly. */
static lua_Integer cell_anchor(uint32_t at) { return -1 - (lua_Integer)at; }

uint32_t cell_find(struct front *f, const struct path *path) {
  const struct front_classes *shared = &f->shared;
  const void *home = shared->cell_count ? cell_home(f->L, f->anchors, path) : NULL;
  for (uint32_t i = 0; home && i < shared->cell_count; i++) {
    if (shared->homes[i] != home) continue;
    if (!path->keys) return i;
    lua_rawgeti(f->L, f->anchors, cell_anchor(i));
    lua_rawgeti(f->L, f->anchors, cell_key(path));
    bool same = lua_rawequal(f->L, -1, -2);
    lua_pop(f->L, 2);
    if (same) return i;
  }
  return NONE;
}

/* Pushes the cell's path as a script writes it: "stats.kills". */
static const char *cell_push_name(struct front *f, const struct path *path) {
  path_tell(f->L, f->anchors, path);
  return lua_tostring(f->L, -1);
}

/* Refuses an absent field whose table has a metamethod that would look it up or set it. */
static void cell_check_absent(struct front *f, const struct path *path) {
  static const char *const methods[] = {"__index", "__newindex"};
  for (int i = 0; i < 2; i++) {
    uint16_t method = outside_string(f, methods[i], i ? 10 : 7);
    if (path_is_absent(f->L, f->anchors, path, method)) continue;
    outside_need_guard(f, path, GUARD_HIDDEN)->same = method;
    front_refuse(f, "it writes to '%s', which does not exist, in a table with %s: set it before "
                    "the run", cell_push_name(f, path), methods[i]);
  }
}

/* Pops the value at the top of the stack. Returns its kind. */
static enum cell_kind cell_pop_kind(lua_State *L) {
  enum cell_kind kind = CELL_OTHER;
  switch (lua_type(L, -1)) {
    case LUA_TNIL: kind = CELL_NIL; break;
    case LUA_TBOOLEAN: kind = CELL_BOOL; break;
    case LUA_TNUMBER: kind = front_is_integer(L, -1) ? CELL_INTEGER : CELL_FLOAT; break;
    case LUA_TSTRING: kind = CELL_STRING; break;
    default: break;
  }
  lua_pop(L, 1);
  return kind;
}

/* Adds a cell of the kind that its value now has. */
static uint32_t cell_add(struct front *f, const struct path *path) {
  struct front_classes *shared = &f->shared;
  path_push(f->L, f->anchors, path);
  const char *type = luaL_typename(f->L, -1);
  enum cell_kind kind = cell_pop_kind(f->L);
  if (kind == CELL_OTHER) {
    outside_keep_value(f, path);
    front_refuse(f, "it writes to '%s', which is a %s: write only to numbers, booleans and strings",
                 cell_push_name(f, path), type);
  }
  if (path->keys && kind == CELL_NIL) cell_check_absent(f, path);
  if (shared->cell_count == FRONT_CELLS)
    front_refuse(f, "it writes to more than %d upvalues, globals and fields of tables: keep them "
                    "in resources", FRONT_CELLS);
  uint32_t at = shared->cell_count++;
  shared->homes[at] = cell_home(f->L, f->anchors, path);
  shared->cells[at] = (struct cell){.kind = (uint8_t)kind, .maybe = kind == CELL_NIL};
  if (path->keys) {
    lua_rawgeti(f->L, f->anchors, cell_key(path));
    lua_rawseti(f->L, f->anchors, cell_anchor(at));
  }
  f->wants_cells = true;
  return at;
}

/* Guards the path: it must lead to the cell before each run. */
static void cell_guard(struct front *f, const struct path *path, uint32_t at) {
  struct guard *guard = outside_need_guard(f, path, GUARD_CELL);
  guard->uniform = (int16_t)at;
  guard->same = outside_string(f, "__index", 7);
  guard->names = outside_string(f, "__newindex", 10);
}

/* ---- reading and writing ---- */

static k_column cell_column(const struct cell *cell) {
  bool integer = cell->kind == CELL_INTEGER || cell->kind == CELL_STRING;
  return cell->kind == CELL_BOOL ? KC_BOOL : integer ? KC_I64 : KC_F64;
}

/* Where a part of a cell is: its value, whether it is present, or whether it is an integer. */
static k_value cell_place(struct front *f, uint32_t at, enum cell_part part) {
  k_column type = part ? KC_BOOL : cell_column(&f->shared.cells[at]);
  k_value element = build_i64(f->b, (int64_t)part * FRONT_CELLS + at + 1);
  return build_cell(f->b, element_cell_array(f, type, false), element);
}

void cell_order(struct front *f, uint32_t at) {
  f->wants_cells = f->shared.cells[at].ordered = true;
}

/* Whether a cell may be folded, because it is only changed in steps. */
static bool cell_may_fold(const struct front *f, const struct cell *cell) {
  bool foldable = cell->kind != CELL_MIXED && cell->kind != CELL_STRING;
  return foldable && !cell->ordered && !cell->maybe && !f->shared.all;
}

static struct val cell_get_folded(struct front *f, const struct cell *cell, uint32_t at) {
  int16_t *uniform = &f->cell_uniforms[at];
  if (!*uniform) *uniform = outside_uniform(f);
  k_value value = build_uniform(f->b, (uint32_t)*uniform, column_value(cell_column(cell)));
  return steps_cell(f, val_number(f, value, false), at);
}

struct val cell_get(struct front *f, const struct path *path, uint32_t at) {
  struct cell *cell = &f->shared.cells[at];
  struct env_cell *now = &f->env.cells[at];
  cell_guard(f, path, at);
  cell->read = true;
  if (cell->kind == CELL_NIL) return (struct val){.kind = VAL_NIL};
  if (cell_may_fold(f, cell)) return cell_get_folded(f, cell, at);
  if (!now->known) {
    bool mixed = cell->kind == CELL_MIXED;
    now->value = build_get(f->b, cell_place(f, at, PART_ITSELF));
    now->present = cell->maybe ? build_get(f->b, cell_place(f, at, PART_PRESENT)) : K_ALL;
    now->whole = mixed ? build_get(f->b, cell_place(f, at, PART_INTEGER)) : K_ALL;
    now->known = true;
  }
  struct val value = val_number(f, now->value, false);
  value.present = now->present;
  value.names = cell->kind == CELL_STRING ? &front_texts : NULL;
  value.mixed = cell->kind == CELL_MIXED;
  value.whole = now->whole;
  value.bits = value.mixed ? MIXED_EXACT : 0;
  return maybe_narrow(f, f->env.mask, value);
}

enum cell_kind cell_kind_of(struct front *f, struct val value) {
  if (value.kind == VAL_NIL) return CELL_NIL;
  if (val_is_boolean(f, value)) return CELL_BOOL;
  if (value.mixed) return CELL_MIXED;
  return val_type(f, value) == KT_I64 ? CELL_INTEGER : CELL_FLOAT;
}

/* The kind of a value that is stored at a path. */
static enum cell_kind cell_kind_at(struct front *f, const struct path *path, struct val value) {
  if (value.kind != VAL_NIL && !val_is_boolean(f, value) && !val_is_number(f, value))
    front_refuse(f, "it sets '%s' to %s: %s", cell_push_name(f, path), number_describe(f, value),
                 value.spawned ? "keep that in a field, an array or a resource"
                               : "write only numbers, ids and booleans");
  return cell_kind_of(f, value);
}

enum cell_kind cell_join(enum cell_kind x, enum cell_kind y) {
  if (x == y || y == CELL_NIL) return x;
  if (x == CELL_NIL) return y;
  if (x == CELL_BOOL || y == CELL_BOOL || x == CELL_STRING || y == CELL_STRING) return CELL_OTHER;
  return NUMBERS_ARE_DOUBLES ? CELL_FLOAT : CELL_MIXED;
}

/* Widens a cell to take a value; if it was too narrow, the function is compiled again. */
static void cell_widen(struct front *f, const struct path *path, uint32_t at, struct val value) {
  struct cell *cell = &f->shared.cells[at];
  bool nil = value.kind == VAL_NIL || val_is_maybe(value);
  enum cell_kind kind = val_is_string(value) ? CELL_STRING : cell_kind_at(f, path, value);
  kind = cell_join(cell->kind, kind);
  if (kind == CELL_OTHER)
    front_refuse(f, "'%s' gets values of several types: use one",
                 cell_push_name(f, path));
  if (nil && path->keys)
    front_refuse(f, "it may set the field '%s' of a table to nil: write false, or keep it in a "
                    "local outside the function", cell_push_name(f, path));
  f->wants_cells |= kind != cell->kind || (nil && !cell->maybe);
  cell->kind = (uint8_t)kind;
  cell->maybe |= nil;
}

/* The value as the cell holds it: an integer becomes a float if the cell may be either. */
struct val cell_fit(struct front *f, const struct cell *cell, struct val value) {
  bool integer = val_type(f, value) == KT_I64;
  if (cell->kind == CELL_MIXED && integer) {
    value.rounded = mixed_rounds(f, value);
    value.bits = mixed_bits(value);
    value.value = number_as(f, value, KT_F64);
    value.mixed = true;
    value.literal = false;
    value.whole = K_ALL;
  } else if (cell->kind == CELL_MIXED && !value.mixed) {
    value.whole = build_bool(f->b, false);
  }
  if (cell->kind == CELL_FLOAT || cell->kind == CELL_MIXED) {
    value = mixed_settle(f, value);
    value.value = number_as(f, value, KT_F64);
  }
  return value;
}

void cell_set(struct front *f, const struct path *path, struct val value) {
  if (f->result > RESULT_MAP)
    front_refuse(f, "it writes to '%s' and returns a result: do that in a system's each",
                 cell_push_name(f, path));
  uint32_t at = cell_find(f, path);
  if (at == NONE) at = cell_add(f, path);
  cell_guard(f, path, at);
  if (val_is_string(value) && value.lacks) value = maybe_need(f, value);   /* false is not nil */
  cell_widen(f, path, at, value);
  const struct cell *cell = &f->shared.cells[at];
  struct env_cell *now = &f->env.cells[at];
  if (f->wants_cells || cell->kind == CELL_NIL) return;
  build_at(f->b, f->env.mask, front_tag(f));
  if (cell_may_fold(f, cell)) {
    k_value place = cell_place(f, at, PART_ITSELF);
    if (!steps_fold_cell(f, value, at, cell_column(cell), place)) cell_order(f, at);
    return;
  }
  if (cell->maybe && path->keys)   /* Lua adds the fields, in the order of rows */
    front_need(f, now->known ? now->present : build_get(f->b, cell_place(f, at, PART_PRESENT)),
               NEEDS_KEY);
  now->known = value.kind != VAL_NIL;
  now->present = now->known ? value.present : build_bool(f->b, false);
  if (cell->maybe) build_set(f->b, cell_place(f, at, PART_PRESENT), now->present);
  if (!now->known) return;
  value.present = K_ALL;
  if (cell->kind == CELL_STRING) value = val_number(f, text_as_cell(f, value), false);
  value = cell_fit(f, cell, value);
  now->value = value.value;
  now->whole = cell->kind == CELL_MIXED ? value.whole : K_ALL;
  build_set(f->b, cell_place(f, at, PART_ITSELF), value.value);
  if (cell->kind == CELL_MIXED) build_set(f->b, cell_place(f, at, PART_INTEGER), value.whole);
}

/* ---- elements of tables ---- */

/* Elements of a table that the function writes at a variable index are cells, too: an array of the
** program holds all of them. Numbers have a second array that says which are integers to Lua.
** Elements at numbers, from 1, are present; those at the names of an enum may be nil, and have a
** third array that says so. */

static const void *cell_table(struct front *f, struct val table) {
  assert(table.kind == VAL_PATH && table.at < f->path_count);
  path_push(f->L, f->anchors, &f->paths[table.at]);
  const void *home = lua_istable(f->L, -1) ? lua_topointer(f->L, -1) : NULL;
  lua_pop(f->L, 1);
  return home;
}

/* The number of a table with written elements; NONE if it is not one. */
static uint32_t cell_table_find(struct front *f, struct val table) {
  const void *home = f->shared.table_count ? cell_table(f, table) : NULL;
  for (uint32_t i = 0; home && i < f->shared.table_count; i++)
    if (f->shared.tables[i] == home) return i;
  return NONE;
}

bool cell_grows(struct front *f, struct val table) {
  uint32_t which = cell_table_find(f, table);
  return which != NONE && f->shared.as[which].grows;
}

bool cell_is_stored(struct front *f, struct val table) {
  return cell_table_find(f, table) != NONE;
}

/* Adds a table with written elements. */
static uint32_t cell_add_table(struct front *f, struct val table) {
  if (f->shared.table_count == FRONT_STORED)
    front_refuse(f, "it writes to elements of more than %d tables: keep them in a world:array",
                 FRONT_STORED);
  f->wants_cells = true;
  f->shared.tables[f->shared.table_count] = cell_table(f, table);
  return f->shared.table_count++;
}

void cell_store_table(struct front *f, uint32_t path) {
  bool writes = false;
  for (uint32_t i = 0; i < f->code_count; i++)
    for (uint32_t j = 0; j < f->codes[i].count; j++)
      writes |= f->codes[i].code[j].kind == CODE_SET_INDEX;
  if (writes) cell_add_table(f, (struct val){.kind = VAL_PATH, .at = path});
}

/* Where the length of a growing list is: after its elements. */
static k_value cell_length_place(struct front *f, uint32_t number) {
  uint32_t array = number + element_behind(f->arrays[number].kind);
  return build_cell(f->b, array, build_i64(f->b, 1));
}

static k_value cell_length(struct front *f, uint32_t number) {
  return build_get(f->b, cell_length_place(f, number));
}

/* An index of a keyed table, as a key. */
static k_value cell_key_of(struct front *f, struct val table, struct val index) {
  if (index.names || !val_is_number(f, index))
    front_refuse(f, "it indexes '%s', to which it writes, by integers and by other keys: use one "
                    "type", cell_push_name(f, &f->paths[table.at]));
  return keys_key(f, index);
}

/* The array of a table's elements. */
static uint32_t cell_table_array(struct front *f, uint32_t which, struct val table,
                                 struct val index) {
  return element_find_table(f, (struct front_array){.path = table.at, .names = index.names,
                                                    .stored = true, .as = f->shared.as[which]});
}

/* The array of a table's elements; *at becomes the place of the element at an index. */
static uint32_t cell_elements(struct front *f, uint32_t which, struct val table, struct val index,
                              k_value *at, k_value *there) {
  if (f->shared.as[which].appends)
    front_refuse(f, "it appends tables to '%s', and also uses its elements: do one of the two "
                    "in a second system", cell_push_name(f, &f->paths[table.at]));
  uint32_t number = cell_table_array(f, which, table, index);
  k_value whole = K_ALL;
  if (f->shared.as[which].keyed) {
    *at = keys_find(f, number, cell_key_of(f, table, index), true, there);
    return number;
  }
  if (index.names)
    *at = build_binary(f->b, KO_ADD, index.value, build_i64(f->b, 1));
  else
    *at = element_place(f, index, &whole);
  k_value inside = K_ALL;
  if (f->shared.as[which].grows)
    inside = build_binary(f->b, KO_AND, build_binary(f->b, KO_GE, *at, build_i64(f->b, 1)),
                          build_binary(f->b, KO_LE, *at, cell_length(f, number)));
  else if (!index.names)
    inside = build_inside(f->b, number, *at);
  *there = index.names ? build_get(f->b, build_cell(f->b, number + 2, *at))
                       : build_binary(f->b, KO_AND, whole, inside);
  f->arrays[number].read = true;
  return number;
}

struct val cell_list_length(struct front *f, struct val table) {
  uint32_t which = cell_table_find(f, table);
  if (f->shared.as[which].appends) return append_length(f, which, table);
  uint32_t number = cell_table_array(f, which, table, val_integer(f, 1));
  return val_number(f, cell_length(f, number), false);
}

/* Makes a table known as one that gets elements: a list, or keyed. Its values may be integers of
** any size if those that it has, and the first that it gets, are such integers. */
static void cell_grow(struct front *f, struct val table, struct val value, bool keyed) {
  uint32_t which = cell_table_find(f, table);
  if (which == NONE) which = cell_add_table(f, table);
  struct stored_as as = {.grows = !keyed, .keyed = keyed, .whole = true};
  uint32_t kind = element_look_now(f, table.at, true, as);
  as.whole = kind == ELEMENTS_WIDE && val_is_number(f, value) && !value.mixed &&
             val_type(f, value) == KT_I64;
  f->shared.as[which] = as;
  f->wants_cells = true;
}

/* Whether an index is #table + 1, with the length from before any row ran. */
static bool cell_is_next(struct front *f, struct val table, struct val index) {
  k_value length = outside_taken_length(f, table);
  if (index.names || length == K_NONE) return false;
  struct val one = val_integer(f, 1);
  return number_binary(f, OPERATOR_ADD, val_number(f, length, true), one).value == index.value;
}

/* Appends a table that the function creates; false if the list is known to hold something else. */
static bool cell_append_table(struct front *f, struct val table, k_value at, struct val value) {
  uint32_t which = cell_table_find(f, table);
  if (which != NONE && !f->shared.as[which].appends) return false;
  if (which == NONE) {
    which = cell_add_table(f, table);
    f->shared.as[which] = (struct stored_as){.grows = true, .appends = true};
    return true;
  }
  append_table(f, which, table, at, value);
  return true;
}

void cell_append(struct front *f, struct val table, struct val value) {
  bool grows = cell_grows(f, table), made = value.kind == VAL_TABLE;
  if (made && !grows && cell_append_table(f, table, K_NONE, value)) return;
  if (!grows) {
    cell_grow(f, table, value, false);
    return;
  }
  struct val next = cell_list_length(f, table);
  next.value = build_binary(f->b, KO_ADD, next.value, build_i64(f->b, 1));
  cell_set_element(f, table, next, value);
}

void cell_need_length(struct front *f, struct val table, uint32_t length) {
  uint32_t which = cell_table_find(f, table);
  k_value last, there;
  if (which == NONE) which = cell_add_table(f, table);
  uint32_t number = cell_elements(f, which, table, val_integer(f, length), &last, &there);
  build_at(f->b, f->env.mask, front_tag(f));
  build_need(f->b, there);
  k_value more = build_inside(f->b, number, build_i64(f->b, (int64_t)length + 1));
  build_need(f->b, build_unary(f->b, KO_NOT, more));
}

struct val cell_get_element(struct front *f, struct val table, struct val index) {
  k_value at, there;
  uint32_t number = cell_elements(f, cell_table_find(f, table), table, index, &at, &there);
  bool mixed = f->arrays[number].kind == ELEMENTS_MIXED;
  struct val value = val_number(f, build_get(f->b, build_cell(f->b, number, at)), false);
  value.mixed = mixed && !NUMBERS_ARE_DOUBLES;
  value.whole = value.mixed ? build_get(f->b, build_cell(f->b, number + 1, at)) : K_ALL;
  value.bits = value.mixed ? MIXED_EXACT : 0;
  value.wide = f->arrays[number].kind == ELEMENTS_WIDE && !NUMBERS_ARE_DOUBLES;
  value.present = there;
  return f->arrays[number].ragged ? maybe_need(f, value) : value;
}

/* Whether the array of a table's elements takes a value; if it needs another type, the function is
** compiled again. */
static bool cell_takes(struct front *f, const struct path *path, uint32_t number,
                       struct stored_as *as, struct val value) {
  bool truths = f->arrays[number].kind == ELEMENTS_BOOL;
  enum cell_kind kind = cell_kind_at(f, path, value);
  bool other = as->whole && kind != CELL_INTEGER && kind != CELL_NIL;
  if (other || (!truths && kind == CELL_BOOL && !as->truths)) {
    as->truths = kind == CELL_BOOL;   /* was the table empty before? */
    as->whole = false;
    f->wants_cells = true;
    return false;
  }
  if (kind == CELL_NIL || truths != (kind == CELL_BOOL))
    front_refuse(f, "it sets an element of '%s' to nil, or to a boolean among numbers, or to a "
                    "number among booleans: use one type", cell_push_name(f, path));
  return true;
}

/* Rows must have an index in the list, or the next one after it; then the list grows. */
static void cell_extend(struct front *f, uint32_t number, k_value at, k_value there) {
  k_value length = cell_length(f, number);
  k_value next = build_binary(f->b, KO_ADD, length, build_i64(f->b, 1));
  there = build_binary(f->b, KO_OR, there, build_binary(f->b, KO_EQ, at, next));
  build_need(f->b, build_binary(f->b, KO_AND, there, build_inside(f->b, number, at)));
  build_set(f->b, cell_length_place(f, number), build_binary(f->b, KO_MAX, length, at));
}

/* Stores a value to the array of a table's elements. */
static void cell_put_element(struct front *f, uint32_t number, k_value at, struct val value) {
  bool mixed = f->arrays[number].kind == ELEMENTS_MIXED;
  if (mixed) value = cell_fit(f, &(struct cell){.kind = CELL_MIXED}, value);
  build_set(f->b, build_cell(f->b, number, at), value.value);
  if (mixed) build_set(f->b, build_cell(f->b, number + 1, at), value.whole);
}

/* Sets or removes the element of a key. */
static void cell_set_keyed(struct front *f, struct val table, uint32_t which, struct val index,
                           struct val value) {
  struct stored_as *as = &f->shared.as[which];
  bool nil = value.kind == VAL_NIL, was = nil ? as->drops : as->adds;
  uint32_t number = cell_table_array(f, which, table, index);
  as->drops |= nil;
  as->adds |= !nil;
  f->wants_cells |= !was && as->drops;
  if (nil) {
    keys_drop(f, number, cell_key_of(f, table, index));
    return;
  }
  value = maybe_need(f, value);
  if (!cell_takes(f, &f->paths[table.at], number, as, value)) return;
  cell_put_element(f, number, keys_claim(f, number, cell_key_of(f, table, index)), value);
}

void cell_set_element(struct front *f, struct val table, struct val index, struct val value) {
  struct path *path = &f->paths[table.at];
  if (f->result > RESULT_MAP)
    front_refuse(f, "it writes to '%s' and returns a result: do that in a system's each",
                 cell_push_name(f, path));
  if (index.spawned)
    front_refuse(f, "it writes to '%s' by the id of a spawned entity: do that in a second system",
                 cell_push_name(f, path));
  if (index.names == &front_texts && choice_of_key(f, table.at, &index))
    index = maybe_need(f, index);   /* Lua adds other keys */
  if (index.names == &front_texts || (!index.names && !val_is_number(f, index)))
    front_refuse(f, "it writes to '%s' with a key that is neither a number nor a string, or by "
                    "strings while it has no such keys", cell_push_name(f, path));
  uint32_t which = cell_table_find(f, table);
  bool may_append = which == NONE || f->shared.as[which].keyed;
  bool appends = may_append && cell_is_next(f, table, index);
  if (appends && which == NONE && value.kind == VAL_TABLE &&
      cell_append_table(f, table, K_NONE, value))
    return;
  if (appends || (which == NONE && keys_suits(f, table, index))) {
    cell_grow(f, table, value, !appends);
    return;
  }
  if (which == NONE) which = cell_add_table(f, table);
  struct stored_as *as = &f->shared.as[which];
  k_value at, there;
  if (value.kind == VAL_TABLE && as->appends && !index.names) {
    (void)cell_append_table(f, table, element_place(f, index, &at), value);
    return;
  }
  if (as->keyed) {
    cell_set_keyed(f, table, which, index, value);
    return;
  }
  uint32_t number = cell_elements(f, which, table, index, &at, &there);
  value = maybe_need(f, value);
  if (!cell_takes(f, path, number, as, value)) return;
  build_at(f->b, f->env.mask, front_tag(f));
  if (as->grows)
    cell_extend(f, number, at, there);
  else
    front_need(f, there, NEEDS_KEY);
  cell_put_element(f, number, at, value);
}

/* Refuses a cell that is written by one path while its whole table is read by another. */
void cell_finish(struct front *f) {
  uint32_t folded = 0;
  for (uint32_t i = 0; i < f->fold_count; i++)
    if (!f->folds[i].component) folded |= UINT32_C(1) << f->folds[i].leaf;
  for (uint32_t i = 0; i < FRONT_CELLS; i++)
    if (f->cell_uniforms[i] && !(folded >> i & 1)) cell_order(f, i);
  if (f->wants_cells || !cells_meet(f->L, f->anchors, f->guards, f->guard_count)) return;
  for (uint32_t i = 0, count = f->guard_count; i < count; i++) {
    struct path path = f->guards[i].path;
    enum guard_type type = f->guards[i].type;
    if (type == GUARD_CELL && path.keys) path.keys--;
    if (type == GUARD_CELL || type == GUARD_LENGTH || type == GUARD_ELEMENTS ||
        type == GUARD_PAIRS)
      outside_keep_value(f, &path);
  }
  front_refuse(f, "it writes to a field or element of a table that it also reaches in another way "
                  "(as by a variable and by a name), or whose length it takes: keep what it "
                  "writes in a separate table");
}

/* ---- running ---- */

/* Whether a table is inside the one at the top of the stack, at most `depth` tables deep. */
static bool cell_contains(lua_State *L, const void *table, int depth) {
  int top = lua_gettop(L);
  if (lua_topointer(L, top) == table) return true;
  if (!lua_istable(L, top) || depth == 0) return false;
  bool found = false;
  for (lua_pushnil(L); !found && lua_next(L, top); lua_settop(L, top + 1))
    found = cell_contains(L, table, depth - 1);
  lua_settop(L, top);
  return found;
}

static bool cell_guards_elements(enum guard_type type) {
  return type == GUARD_ELEMENTS || type == GUARD_PAIRS || type == GUARD_APPENDED;
}

/* Whether a guard reads the elements or the length of a table: the guard's own table or, with
** `records`, a table inside it, or one that such a table has at a key. */
static bool cell_is_among(lua_State *L, int anchors, const struct guard *guard, const void *table,
                          bool records) {
  uint16_t deeper = guard->measured ? guard->inner : guard->within;
  if (guard->type != GUARD_LENGTH && !cell_guards_elements(guard->type)) return false;
  path_push(L, anchors, &guard->path);
  int top = lua_gettop(L);
  bool found = guard->field ? cell_contains(L, table, 3) : lua_topointer(L, -1) == table;
  if (lua_istable(L, -1) && records && !guard->field)
    for (lua_pushnil(L); !found && lua_next(L, top); lua_settop(L, top + 1)) {
      found = lua_topointer(L, -1) == table;
      if (!deeper || !lua_istable(L, -1)) continue;
      lua_rawgeti(L, anchors, deeper);
      lua_rawget(L, -2);
      found |= lua_topointer(L, -1) == table;
    }
  lua_settop(L, top - 1);
  return found;
}

/* Whether a guard reads, or may read, a cell: an element of its table, or a field of tables inside
** another table, unless the keys differ. */
static bool cell_is_read(lua_State *L, int anchors, const struct path *cell, const void *home,
                         const struct guard *guard) {
  const struct path *ends[] = {&guard->path, &guard->other};
  uint16_t key = cell_key(cell);
  for (int i = 0; i < 2; i++)
    if (ends[i]->root && cell_key(ends[i]) == key && cell_home(L, anchors, ends[i]) == home)
      return true;
  if (!key) return false;
  bool all = guard->stride || guard->measured;
  return (!all && (guard->inner == key || guard->within == key)) ||
         cell_is_among(L, anchors, guard, home, all);
}

/* Whether a guard reads elements of a table. */
static bool cell_table_is_read(lua_State *L, int anchors, const void *table, bool resizes,
                               const struct guard *guard) {
  const struct path *ends[] = {&guard->path, &guard->other};
  for (int i = 0; i < 2; i++)
    if (ends[i]->root && ends[i]->keys && cell_home(L, anchors, ends[i]) == table) return true;
  return (cell_guards_elements(guard->type) || (resizes && guard->type == GUARD_LENGTH)) &&
         cell_is_among(L, anchors, guard, table, guard->inner || guard->stride || guard->measured);
}

/* Whether another path, too, leads to a table with written elements. */
static bool cell_table_meets(lua_State *L, int anchors, const struct guard *guards, uint32_t count,
                             uint32_t at) {
  path_push(L, anchors, &guards[at].path);
  const void *table = lua_topointer(L, -1);
  bool resizes = guards[at].as.grows || guards[at].as.keyed;
  lua_pop(L, 1);
  for (uint32_t i = 0; i < count; i++)
    if (i != at && cell_table_is_read(L, anchors, table, resizes, &guards[i])) return true;
  return false;
}

bool cells_meet(lua_State *L, int anchors, const struct guard *guards, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (guards[i].stored && cell_table_meets(L, anchors, guards, count, i)) return true;
    if (guards[i].type != GUARD_CELL) continue;
    const struct path *cell = &guards[i].path;
    const void *home = cell_home(L, anchors, cell);
    for (uint32_t j = 0; j < count; j++) {
      bool own = guards[j].type == GUARD_CELL && guards[j].uniform == guards[i].uniform;
      if (!home || cell_is_read(L, anchors, cell, home, &guards[j]) != own) return true;
    }
  }
  return false;
}

void cell_push_text(lua_State *L, const struct script_cells *cells, int64_t number) {
  ecs_string text = intern_text(cells->strings, (uint32_t)number);
  lua_pushlstring(L, text.data ? text.data : "", text.size);
}

/* Whether a cell can hold a value of a kind other than nil. */
static bool cell_holds(const struct cell *cell, enum cell_kind kind, lua_Integer integer) {
  if (kind == cell->kind) return true;
  if (NUMBERS_ARE_DOUBLES && kind == CELL_INTEGER && cell->kind == CELL_FLOAT) return true;
  bool rounds = kind == CELL_INTEGER && !number_fits_float((int64_t)integer);
  return cell->kind == CELL_MIXED && (kind == CELL_INTEGER || kind == CELL_FLOAT) && !rounds;
}

enum reading cell_take(lua_State *L, int anchors, const struct guard *guard, ecs_world *world,
                       struct script_cells *cells) {
  uint32_t at = (uint32_t)guard->uniform, text = 0;
  const struct cell *cell = &cells->list[at];
  ecs_status status = ECS_OK;
  path_push(L, anchors, &guard->path);
  bool string = cell->kind == CELL_STRING && lua_type(L, -1) == LUA_TSTRING;
  size_t size = string ? (size_t)lua_rawlen(L, -1) : 0;
  if (size) status = intern(&world->strings, &world->memory, lua_tostring(L, -1), size, &text);
  lua_Integer integer = string ? (lua_Integer)text : lua_tointeger(L, -1);
  double number = (double)lua_tonumber(L, -1);
  bool truth = lua_toboolean(L, -1);
  enum cell_kind kind = cell_pop_kind(L);
  bool nil = kind == CELL_NIL;
  if (status != ECS_OK) return READING_STARVED;
  cells->truths[PART_PRESENT][at] = !nil;
  cells->truths[PART_ITSELF][at] = truth;
  cells->truths[PART_INTEGER][at] = kind == CELL_INTEGER;
  cells->integers[at] = (int64_t)integer;
  cells->floats[at] = number;
  bool fits = nil ? cell->maybe && path_is_absent(L, anchors, &guard->path, guard->same) &&
                        path_is_absent(L, anchors, &guard->path, guard->names)
                  : cell_holds(cell, kind, integer);
  return fits ? READING_FITS : READING_OTHER;
}

/* Pushes the value of a cell. */
static void cell_push(lua_State *L, const struct script_cells *cells, uint32_t at) {
  bool whole = cells->truths[PART_INTEGER][at];
  enum cell_kind kind = (enum cell_kind)cells->list[at].kind;
  if (!cells->truths[PART_PRESENT][at])
    lua_pushnil(L);
  else if (kind == CELL_BOOL)
    lua_pushboolean(L, cells->truths[PART_ITSELF][at]);
  else if (kind == CELL_INTEGER)
    lua_pushinteger(L, (lua_Integer)cells->integers[at]);
  else if (kind == CELL_STRING)
    cell_push_text(L, cells, cells->integers[at]);
  else if (kind == CELL_MIXED && whole)
    lua_pushinteger(L, (lua_Integer)cells->floats[at]);
  else
    lua_pushnumber(L, (lua_Number)cells->floats[at]);
}

/* Pops the value at the top of the stack and stores it at the end of a path. */
static void cell_put(lua_State *L, int anchors, const struct path *path) {
  cell_push_home(L, anchors, path);
  lua_rawgeti(L, anchors, cell_key(path));
  lua_pushvalue(L, -3);
  if (path->keys)
    lua_rawset(L, -3);
  else
    lua_setupvalue(L, -3, path->upvalue);
  lua_settop(L, path->keys ? -3 : -4);
}

void cells_store(lua_State *L, int anchors, const struct guard *guards, uint32_t count,
                 const struct script_cells *cells, const k_array *arrays, void *lists) {
  for (uint32_t i = 0; i < count; i++) {
    bool appends = guards[i].type == GUARD_APPENDED;
    if (appends) append_store(L, anchors, &guards[i], cells, lists);
    if (guards[i].stored && !appends)
      element_store(L, anchors, &guards[i], &arrays[guards[i].uniform]);
    uint32_t at = guards[i].type == GUARD_CELL ? (uint32_t)guards[i].uniform : FRONT_CELLS;
    if (at == FRONT_CELLS || cells->list[at].kind == CELL_NIL) continue;
    bool is_field = guards[i].path.keys, there = cells->truths[PART_PRESENT][at];
    if (!there && is_field) continue;
    cell_push(L, cells, at);
    cell_put(L, anchors, &guards[i].path);
  }
}
