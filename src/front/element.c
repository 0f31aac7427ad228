#include <lua.h>

#include "core/base/column.h"
#include "core/base/types.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "front/front.h"

/* Elements of the world's arrays and of tables, at an index that may differ from row to row. An
** array is bound as it is; a table's elements are copied to an array before each run (a guard). */

/* Adds an array to the program. Returns its number. */
static uint32_t element_add_array(struct front *f, struct front_array array, k_column type) {
  uint32_t at = f->array_count;
  if (at == FRONT_ARRAYS)
    front_refuse(f, "it indexes more than %d arrays and tables: write it as two systems",
                 FRONT_ARRAYS);
  if (type == KC_ENTITY) type = KC_I64;   /* arrays that are only written */
  uint32_t number = build_array(f->b, type);
  assert(number == at || number == NONE);
  (void)number;
  f->arrays[f->array_count++] = array;
  return at;
}

bool element_is_own(const struct front *f, const struct component *array, k_value index) {
  return f->elements && index == f->element && array->length >= f->elements->length;
}

k_value element_inside(struct front *f, const struct component *array, uint32_t number,
                       k_value index) {
  int64_t span[2];
  bool known = element_is_own(f, array, index) ||
               (array->length <= INT32_MAX && build_between(f->b, index, 1, array->length, span));
  return known ? K_ALL : build_inside(f->b, number, index);
}

uint32_t element_array(struct front *f, const struct component *array, uint32_t leaf) {
  uint32_t i = 0;
  while (i < f->array_count && (f->arrays[i].id != array->id || f->arrays[i].leaf != leaf)) i++;
  if (i < f->array_count) return i;
  struct front_array element = {.id = array->id, .leaf = leaf};
  const struct leaf *of = &array->leaves[leaf];
  bool id = type_column(of->type, of->size) == COLUMN_ENTITY;   /* checked for life when read */
  return element_add_array(f, element, id ? KC_I64 : access_column_type(f, array, of));
}

uint32_t element_copies(struct front *f, struct front_copy copy, k_column type) {
  for (uint32_t i = 0; i < f->array_count; i++) {
    struct front_copy known = f->arrays[i].copy;
    if (known.index == copy.index && known.slot == copy.slot && known.leaf == copy.leaf) return i;
  }
  assert(copy.index);
  return element_add_array(f, (struct front_array){.path = NONE, .copy = copy}, type);
}

uint32_t element_cell_array(struct front *f, k_column type, bool lists) {
  uint8_t of = (uint8_t)(type + 1 + (lists ? LISTS_CELLS : 0));
  for (uint32_t i = 0; i < f->array_count; i++)
    if (f->arrays[i].cells == of) return i;
  struct front_array cells = {.path = NONE, .cells = of, .written = true};
  uint32_t array = element_add_array(f, cells, type);
  if (lists && !scratch_has_outside(f)) build_loose(f->b, array);
  return array;
}

k_value element_place(struct front *f, struct val index, k_value *whole) {
  *whole = K_ALL;
  index = mixed_settle(f, index);
  if (val_type(f, index) == KT_I64) return index.value;
  if (index.literal && index.number != 0) return build_i64(f->b, index.number);
  k_value below = build_unary(f->b, KO_BELOW, index.value);
  *whole = build_binary(f->b, KO_EQ, below, index.value);
  return below;
}

/* The element of an array of the program, if there is one. */
static struct val take_element(struct front *f, uint32_t array, struct val index, bool soft) {
  k_value whole, at = element_place(f, index, &whole);
  f->arrays[array].read = true;
  struct val element = val_number(f, build_element(f->b, array, at), soft);
  element.present = build_binary(f->b, KO_AND, whole, build_inside(f->b, array, at));
  return element;
}

struct val element_at(struct front *f, struct val array, struct val index) {
  const struct component *component = array.component;
  if (!val_is_number(f, index))
    front_refuse(f, "it indexes the array '%s' by something other than a number", component->name);
  uint32_t number = element_array(f, component, ARRAY_LEAF);
  bool own = element_is_own(f, component, index.value);
  if (class_is_shared(f, component, ARRAY_LEAF)) {
    k_value whole, at = element_place(f, index, &whole);
    struct val got = class_get(f, component, ARRAY_LEAF, build_cell(f->b, number, at));
    k_value inside = element_inside(f, component, number, at);
    if (!own) got.present = build_binary(f->b, KO_AND, whole, inside);
    return got;
  }
  if (own) return access_own_element(f, component);
  struct val element = take_element(f, number, index, false);
  element.entity = array_type(component) == ECS_ENTITY;
  element.bits = mixed_bits_of(array_type(component));
  if (element.entity) element.value = reach_live(f, element.value);
  k_value whole;
  return element.entity ? element
                        : steps_element(f, element, array, element_place(f, index, &whole));
}

struct val element_index(struct front *f, struct val array, const struct constant *key) {
  int64_t whole = key->integer;
  if (key->type == CONST_INTEGER ||
      (key->type == CONST_FLOAT && number_is_integer(key->number, &whole)))
    return val_number(f, build_i64(f->b, whole), true);
  if (key->type == CONST_FLOAT) return val_number(f, build_f64(f->b, key->number), true);
  front_refuse(f, "it calls a method of the array '%s', or indexes it by something that is not a "
                  "number", array.component->name);
}

/* ---- tables ---- */

#define NO_VALUE (LUA_TNONE - 1)   /* the type of a value that a record may lack */

/* Replaces a record, and the key above it, by its value for that. A record without a value must
** also lack it in Lua: nil, without a metatable. */
static int element_take_key(lua_State *L, const struct guard *guard) {
  int type = lua_rawget(L, -2);
  if (type == LUA_TNIL) {
    bool hides = guard->gaps >= GAPS_FILLED && lua_getmetatable(L, -2);
    type = guard->gaps < GAPS_FILLED || hides ? LUA_TNONE : NO_VALUE;
    if (hides) lua_pop(L, 1);
  }
  lua_remove(L, -2);
  return type;
}

/* Replaces the element at the top of the stack by its value for a key, or for one of several keys,
** or keeps it. Returns the value's type, or LUA_TNONE if there is no such value. */
static int element_take_value_in(lua_State *L, int anchors, const struct guard *guard,
                                 uint32_t at) {
  int type = lua_type(L, -1);
  if (guard->within && type == LUA_TTABLE) {
    lua_rawgeti(L, anchors, guard->within);
    type = element_take_key(L, guard);
    if (type != LUA_TTABLE) return type == NO_VALUE ? NO_VALUE : LUA_TNONE;
  }
  if ((!guard->inner && !guard->stride) || type == LUA_TNIL) return type;
  if (type != LUA_TTABLE) return LUA_TNONE;
  if (guard->stride) at %= guard->stride;
  if (guard->inner)
    lua_rawgeti(L, anchors, (lua_Integer)guard->inner + (guard->stride ? at : 0));
  else
    lua_pushinteger(L, (lua_Integer)at + 1);
  type = element_take_key(L, guard);
  if (!guard->field || type == NO_VALUE || type == LUA_TNONE) return type;
  if (type != LUA_TTABLE) return LUA_TNONE;
  lua_rawgeti(L, anchors, guard->field);
  return element_take_key(L, guard);
}

/* Likewise, but pushes what is wanted: the value, or its length. */
static int element_take_inner(lua_State *L, int anchors, const struct guard *guard, uint32_t at) {
  int type = element_take_value_in(L, anchors, guard, at);
  if (!guard->measured || type == LUA_TNIL || type == NO_VALUE) return type;
  if (type != LUA_TTABLE) return LUA_TNONE;
  if (lua_getmetatable(L, -1)) {
    lua_pop(L, 1);
    return LUA_TNONE;
  }
  lua_Unsigned length = lua_rawlen(L, -1);
  lua_pushinteger(L, (lua_Integer)length);
  lua_remove(L, -2);
  return guard->most && length > guard->most ? LUA_TNONE : LUA_TNUMBER;
}

/* Likewise; with GAPS_TOLD, whether the value is present. A table may lack values for names. */
static int element_take(lua_State *L, int anchors, const struct guard *guard, uint32_t at,
                        bool named) {
  int type = element_take_inner(L, anchors, guard, at);
  if (type == LUA_TNIL && named && guard->gaps != GAPS_REFUSED) type = NO_VALUE;
  if (guard->gaps != GAPS_TOLD || type == LUA_TNONE || type == LUA_TNIL) return type;
  lua_pop(L, 1);
  lua_pushboolean(L, type != NO_VALUE);
  return LUA_TBOOLEAN;
}

/* Pushes the element of a table at an index counted from 0. Returns its type. */
static int element_push_element(lua_State *L, int anchors, const struct guard *guard, int table,
                                uint32_t at) {
  uint32_t outer = guard->stride ? at / guard->stride : at;
  bool named = outer < guard->name_count;
  if (!guard->name_count) {
    lua_rawgeti(L, table, (lua_Integer)outer + 1);
  } else if (!named) {
    lua_pushnil(L);
  } else {
    lua_rawgeti(L, anchors, (lua_Integer)guard->names + outer);
    lua_rawget(L, table);
  }
  return element_take(L, anchors, guard, at, named);
}

/* The number, from 0, of the text at the top of the stack among the guard's; NONE if absent. */
static uint32_t element_text(lua_State *L, int anchors, const struct guard *guard) {
  uint32_t at = NONE;
  for (uint32_t i = 0; i < guard->text_count && at == NONE; i++) {
    lua_rawgeti(L, anchors, (lua_Integer)guard->texts + i);
    if (lua_rawequal(L, -1, -2)) at = i;
    lua_pop(L, 1);
  }
  return at;
}

/* Copies the element at the top of the stack to its place; a string as its number `text` in the
** guard. */
static void element_keep(lua_State *L, const struct element_room *room, uint32_t at,
                         uint32_t text) {
  switch (room->kind) {
    case ELEMENTS_BOOL:
    case ELEMENTS_TABLES: ((uint8_t *)room->cells)[at] = (uint8_t)lua_toboolean(L, -1); break;
    case ELEMENTS_INTEGER:
    case ELEMENTS_WIDE: ((int64_t *)room->cells)[at] = (int64_t)lua_tointeger(L, -1); break;
    case ELEMENTS_TEXT: ((int64_t *)room->cells)[at] = text; break;
    default: ((double *)room->cells)[at] = (double)lua_tonumber(L, -1); break;
  }
  if (room->kind == ELEMENTS_MIXED) room->integers[at] = (uint8_t)lua_isinteger(L, -1);
  if (room->stored) room->there[at] = !lua_isnil(L, -1);
}

/* Pops the element at the top of the stack, and copies it if there is room. Returns its kind. */
static enum element_kind element_source(lua_State *L, int anchors, const struct guard *guard,
                                        int type, const struct element_room *room, uint32_t at) {
  enum element_kind kind = type == LUA_TBOOLEAN    ? ELEMENTS_BOOL
                           : type == LUA_TNUMBER   ? ELEMENTS_FLOAT
                           : type == LUA_TTABLE    ? ELEMENTS_TABLES
                           : type == LUA_TNONE     ? ELEMENTS_NONE
                           : type == NO_VALUE      ? ELEMENTS_ABSENT
                           : type == LUA_TSTRING   ? ELEMENTS_TEXT
                           : type == LUA_TFUNCTION ? ELEMENTS_FUNCTIONS
                                                   : ELEMENTS_OTHER;
  uint32_t text = 0;
  if (kind == ELEMENTS_TEXT && guard->text_count) text = element_text(L, anchors, guard);
  if (text == NONE) kind = ELEMENTS_OTHER;
  if (kind == ELEMENTS_FLOAT && front_is_integer(L, -1))
    kind = number_fits_float(lua_tointeger(L, -1)) ? ELEMENTS_INTEGER : ELEMENTS_WIDE;
  if (room && at < room->count) element_keep(L, room, at, text);
  lua_pop(L, 1);
  return kind;
}

static enum element_kind element_both_kinds(enum element_kind x, enum element_kind y) {
  enum element_kind least = x < y ? x : y, most = x < y ? y : x;
  if (least == most || most == ELEMENTS_NONE) return most;
  if (most == ELEMENTS_ABSENT) return least;
  if (least == ELEMENTS_BOOL || most >= ELEMENTS_TEXT) return ELEMENTS_OTHER;
  if (most == ELEMENTS_WIDE) return ELEMENTS_WIDE;
  if (NUMBERS_ARE_DOUBLES) return ELEMENTS_FLOAT;
  return least == ELEMENTS_WIDE ? ELEMENTS_OTHER : ELEMENTS_MIXED;
}

#define MOST_NAMES 64u         /* keys other than numbers, beside that many elements */

/* The kind of elements of a table whose keys are exactly 1 to their count; ELEMENTS_ABSENT if it
** has none, ELEMENTS_NONE if its keys differ or its elements are of several kinds. */
static enum element_kind element_look_through(lua_State *L, int anchors, const struct guard *guard,
                                              int table, uint32_t *count,
                                              const struct element_room *room) {
  enum element_kind kind = ELEMENTS_NONE;
  lua_Integer most = 0;
  uint32_t n = 0, names = 0;
  lua_pushnil(L);
  while (lua_next(L, table)) {
    bool named = lua_type(L, -2) != LUA_TNUMBER;
    lua_Integer key = named ? 0 : lua_tointeger(L, -2);   /* also 0 for a fraction */
    uint32_t at = key >= 1 && key <= FRONT_ELEMENTS ? (uint32_t)key - 1 : NONE;
    enum element_kind next =
        element_source(L, anchors, guard, element_take(L, anchors, guard, 0, false), room, at);
    names += named;
    if (named && !(guard->as.grows && names > MOST_NAMES + n)) continue;
    if (!named) kind = n++ ? element_both_kinds(kind, next) : next;
    if (key > most) most = key;
    if (key >= 1 && key <= FRONT_ELEMENTS && kind < ELEMENTS_NONE) continue;   /* no id is so low */
    lua_pop(L, 1);
    return ELEMENTS_NONE;
  }
  *count = n;
  if (n == 0) return ELEMENTS_ABSENT;
  return most == n ? kind : ELEMENTS_NONE;
}

/* Notes the key of an element, and its place, counted from 1. */
static void element_keep_key(const struct element_room *room, uint32_t at, int64_t key) {
  int64_t *place = &room->places[key & room->numbers[GIVEN_MASK]];
  if (*place != 1) room->numbers[GIVEN_HIDDEN] = 1;
  *place = room->numbers[GIVEN_LENGTH] = (int64_t)at + 1;
  room->keys[at] = key;
}

/* The kind of elements at integer keys, in the order of next; the first place stays empty. */
static enum element_kind element_look_keyed(lua_State *L, int anchors, const struct guard *guard,
                                            int table, uint32_t *count,
                                            const struct element_room *room) {
  enum element_kind kind = ELEMENTS_ABSENT;
  uint32_t n = 0, names = 0;
  lua_pushnil(L);
  while ((kind <= ELEMENTS_MIXED || kind == ELEMENTS_ABSENT) && lua_next(L, table)) {
    if (lua_type(L, -2) != LUA_TNUMBER || !front_is_integer(L, -2)) {
      lua_pop(L, 1);
      if (++names > MOST_NAMES + n) kind = ELEMENTS_MANY;
      continue;
    }
    uint32_t at = n + 1;
    if (room && at < room->count) element_keep_key(room, at, (int64_t)lua_tointeger(L, -2));
    enum element_kind next = element_source(L, anchors, guard, lua_type(L, -1), room, at);
    kind = n++ ? element_both_kinds(kind, next) : next;
    if (n > FRONT_ELEMENTS) kind = ELEMENTS_MANY;
  }
  *count = n;
  return kind > ELEMENTS_MIXED && kind < ELEMENTS_ABSENT ? ELEMENTS_OTHER : kind;
}

/* The kind of elements of the table at an index, up to the first nil. */
static enum element_kind element_look_at(lua_State *L, int anchors,
                                         const struct guard *guard, int table,
                                         uint32_t *count, const struct element_room *room) {
  enum element_kind kind = ELEMENTS_NONE;
  uint32_t i = 0;
  for (int type; (type = element_push_element(L, anchors, guard, table, i)) != LUA_TNIL ||
                 (guard->stored && i < guard->name_count); i++) {
    enum element_kind next =
        element_source(L, anchors, guard, type == LUA_TNIL ? NO_VALUE : type, room, i);
    kind = i ? element_both_kinds(kind, next) : next;
    if (i == FRONT_ELEMENTS) return ELEMENTS_MANY;
    if (kind >= ELEMENTS_NONE) return kind;
  }
  lua_pop(L, 1);
  *count = i;
  return i < guard->name_count * (guard->stride ? guard->stride : 1u) ? ELEMENTS_NONE : kind;
}

/* element_look for a table at an index: by names, by strides or as a list of any shape. */
static uint32_t element_read(lua_State *L, int anchors, const struct guard *guard, int table,
                             uint32_t *count, const struct element_room *room) {
  if (!lua_istable(L, table)) return ELEMENTS_NONE;
  if (path_has_method(L, anchors, table, guard->same)) return ELEMENTS_HIDDEN;
  if (guard->stored && lua_getmetatable(L, table)) return ELEMENTS_HIDDEN;   /* as __newindex */
  if (guard->as.keyed) return element_look_keyed(L, anchors, guard, table, count, room);
  if (guard->name_count || guard->stride)
    return element_look_at(L, anchors, guard, table, count, room);
  uint32_t kind = element_look_through(L, anchors, guard, table, count, room);
  if (kind != ELEMENTS_NONE) return kind;
  kind = element_look_at(L, anchors, guard, table, count, room);
  return kind < ELEMENTS_NONE ? kind + ELEMENTS_RAGGED : kind;
}

enum element_kind element_kind_of(uint32_t kind) {
  return (enum element_kind)(kind & ~(uint32_t)ELEMENTS_RAGGED);
}

uint32_t element_look(lua_State *L, int anchors, const struct guard *guard, uint32_t *count,
                      const struct element_room *room) {
  int top = lua_gettop(L);
  path_push(L, anchors, &guard->path);
  uint32_t kind = element_read(L, anchors, guard, top + 1, count, room);
  lua_settop(L, top);
  enum element_kind one = element_kind_of(kind);
  bool integer = one == ELEMENTS_INTEGER, number = integer || one == ELEMENTS_FLOAT;
  const struct stored_as *as = &guard->as;
  bool empty = one == ELEMENTS_ABSENT;
  if (empty && (as->keyed || (guard->stored && (guard->name_count || as->grows))))
    return as->truths ? ELEMENTS_BOOL : as->whole ? ELEMENTS_WIDE : ELEMENTS_MIXED;
  if (empty) return ELEMENTS_NONE;
  if (as->grows && kind != one) return ELEMENTS_OTHER;
  if (as->whole && (integer || one == ELEMENTS_WIDE)) return ELEMENTS_WIDE;
  if (guard->stored && number) return kind - one + ELEMENTS_MIXED;
  if (guard->stored && one != ELEMENTS_BOOL && one < ELEMENTS_NONE && one != ELEMENTS_MIXED)
    return ELEMENTS_OTHER;
  return kind;
}

uint32_t element_look_now(struct front *f, uint32_t path, bool stored, struct stored_as as) {
  uint32_t count;
  struct guard guard = {.path = f->paths[path], .stored = stored, .as = as};
  guard.same = outside_string(f, "__index", 7);
  return element_look(f->L, f->anchors, &guard, &count, NULL);
}

size_t element_size(enum element_kind kind) {
  bool truth = kind == ELEMENTS_BOOL || kind == ELEMENTS_TABLES;
  return truth ? sizeof(uint8_t) : sizeof(uint64_t);
}

/* Pushes a written element from its array. */
static void element_push_stored(lua_State *L, enum element_kind kind, const uint8_t *cells,
                                uint32_t at, bool integer) {
  if (kind == ELEMENTS_BOOL)
    lua_pushboolean(L, cells[at]);
  else if (kind == ELEMENTS_WIDE)
    lua_pushinteger(L, (lua_Integer)((const int64_t *)(const void *)cells)[at]);
  else if (integer)
    lua_pushinteger(L, (lua_Integer)((const double *)(const void *)cells)[at]);
  else
    lua_pushnumber(L, (lua_Number)((const double *)(const void *)cells)[at]);
}

#define LIST_COST UINT64_C(8)   /* for each element of a growing or keyed table that is only read */

uint64_t element_count(const struct guard *guard, const k_array *array) {
  if (!array->data) return 0;   /* not read yet: no row of a shared program has come to it */
  if (!guard->as.grows && !guard->as.keyed) return (uint64_t)array->count;
  const int64_t *length = array[element_behind(element_kind_of(guard->elements))].data;
  return (uint64_t)*length - guard->as.keyed;
}

void element_store(lua_State *L, int anchors, const struct guard *guard, const k_array *array) {
  int top = lua_gettop(L);
  enum element_kind kind = element_kind_of(guard->elements);
  uint32_t count = (uint32_t)array->count, known = count;
  bool named = guard->name_count, mixed = kind == ELEMENTS_MIXED;
  size_t size = element_size(kind), all = count * (size + 2);
  const uint8_t *cells = array->data, *integers = cells + count * size, *there = integers + count;
  const k_array *behind = array + element_behind(kind);
  const int64_t *keys = guard->as.keyed ? behind[3].data : NULL;
  if (guard->as.grows || keys) {
    int64_t *numbers = (int64_t *)(uintptr_t)behind->data;
    count = (uint32_t)numbers[GIVEN_LENGTH];
    known = (uint32_t)numbers[GIVEN_KNOWN];
    numbers[GIVEN_KNOWN] = numbers[GIVEN_LENGTH];
  }
  bool lacks = named || stored_drops(guard->as);
  path_push(L, anchors, &guard->path);
  for (uint32_t i = keys ? 1 : 0; i < count; i++) {
    bool is_there = !lacks || there[i];
    if (!is_there && !(keys && there[all + i])) continue;
    bool same = i < known && !memcmp(cells + i * size, cells + all + i * size, size) &&
                (!mixed || integers[i] == integers[all + i]) && (!lacks || there[all + i]);
    if (is_there && same) continue;
    if (named) lua_rawgeti(L, anchors, (lua_Integer)guard->names + i);
    if (keys) lua_pushinteger(L, (lua_Integer)keys[i]);
    if (is_there)
      element_push_stored(L, kind, cells, i, mixed && integers[i]);
    else
      lua_pushnil(L);
    if (named || keys)
      lua_rawset(L, -3);
    else
      lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  uint8_t *before = (uint8_t *)(uintptr_t)array->data + all;
  memcpy(before, cells, count * size);
  if (mixed) memcpy(before + (integers - cells), integers, count);
  if (lacks) memcpy(before + (there - cells), there, count);
  lua_settop(L, top);
}

/* How many elements a growing or keyed table has; for a keyed one that is not empty, how many have
** been copied. */
static uint64_t element_count_now(lua_State *L, int anchors, const struct guard *guard,
                                  const k_array *array) {
  uint64_t count = 0;
  path_push(L, anchors, &guard->path);
  int table = lua_gettop(L);
  if (lua_istable(L, table) && guard->as.grows) count = lua_rawlen(L, table);
  lua_pushnil(L);
  if (lua_istable(L, table) && guard->as.keyed && array->data && lua_next(L, table))
    count = element_count(guard, array);
  lua_settop(L, table - 1);
  return count;
}

uint64_t element_cost(lua_State *L, int anchors, const struct guard *guard, const k_array *array) {
  if (guard->as.grows || guard->as.keyed)
    return (guard->stored ? 6u : 1u) * LIST_COST * element_count_now(L, anchors, guard, array);
  uint64_t count = guard->name_count;
  if (!count) {
    path_push(L, anchors, &guard->path);
    count = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
    lua_pop(L, 1);
  }
  bool plain = !guard->name_count && !guard->inner && !guard->within && !guard->stride &&
               !guard->stored;
  return count * (guard->stride ? guard->stride : 1) * (plain ? 1 : 4);
}

/* Anchors strings consecutively. Returns the number of the first. */
static uint16_t element_anchor(struct front *f, const ecs_string *strings, uint32_t count) {
  uint16_t first = 0;
  for (uint32_t i = 0; i < count; i++) {
    lua_pushlstring(f->L, strings[i].data, strings[i].size);
    uint16_t at = front_anchor(f);
    if (i == 0) first = at;
  }
  return first;
}

/* The guard of a table that is indexed by numbers or by the names of an enum. */
static struct guard *guard_elements(struct front *f, const struct front_array *table) {
  const struct enumeration *names = table->names, *inner = table->inner_names;
  uint16_t index = outside_string(f, "__index", 7);
  uint16_t first = names ? element_anchor(f, names->names, names->count) : 0;
  uint16_t within = inner ? element_anchor(f, inner->names, inner->count) : table->inner;
  struct guard *guard = outside_add_guard(f, &f->paths[table->path], GUARD_ELEMENTS);
  guard->same = index;
  guard->names = first;
  guard->name_count = names ? (uint16_t)names->count : 0;
  guard->within = table->within;
  guard->measured = table->measured;
  guard->most = table->most;
  guard->inner = within;
  guard->stride = table->stride;
  guard->field = table->field;
  guard->gaps = (uint8_t)table->gaps;
  guard->stored = table->stored;
  guard->as = table->as;
  return guard;
}

/* Makes an enum of a table's strings, and gives it to the table's elements. */
static void element_find_texts(struct front *f, struct guard *guard, struct enumeration *texts,
                               uint32_t count) {
  int top = lua_gettop(f->L);
  path_push(f->L, f->anchors, &guard->path);
  *texts = (struct enumeration){.names = &f->texts[f->text_count]};
  for (uint32_t i = 0; i < count; i++) {
    ecs_string text = {NULL, 0};
    if (element_push_element(f->L, f->anchors, guard, top + 1, i) == LUA_TSTRING)
      text.data = lua_tolstring(f->L, -1, &text.size);
    if (text.data && enumeration_find(texts, text.data, text.size) == NONE) {
      if (f->text_count == FRONT_TEXTS)
        front_refuse(f, "it reads strings from tables that have more than %d different ones: use "
                        "the names of an enum", FRONT_TEXTS);
      texts->names[texts->count++] = text;
      f->text_count++;
    }
    lua_pop(f->L, 1);
  }
  lua_settop(f->L, top);
  guard->texts = element_anchor(f, texts->names, texts->count);
  guard->text_count = (uint16_t)texts->count;
}

static NORETURN void refuse_elements(struct front *f, enum element_kind kind,
                                     const struct front_array *table) {
  static const char *const reasons[] = {
      [ELEMENTS_NONE] =
          ("has no element 1, or none for any of the names, or no record with the field: fill it "
           "before the run"),
      [ELEMENTS_OTHER] =
          ("has values that are not numbers, booleans, strings or tables of these, or mixes "
           "integers beyond 2^53 with others: keep one type in it"),
      [ELEMENTS_FUNCTIONS] = ("has functions in its records, or among other values: keep them in a "
                              "table of their own, by the same key"),
      [ELEMENTS_MANY] = "has more than 65536 elements: keep them in an array of the world",
      [ELEMENTS_HIDDEN] = "has an __index: keep its values in a table without one"};
  assert(kind >= ELEMENTS_NONE && kind <= ELEMENTS_HIDDEN);
  const char *reason = reasons[kind];
  if (table->stored && kind == ELEMENTS_HIDDEN)
    reason = "has a metatable and is written to: write to a table without one";
  if (table->as.keyed && kind == ELEMENTS_OTHER)
    reason = "has ids for keys, or integers that do not count from 1, and values that are tables, "
             "strings or of several types: use a table of numbers or booleans for each field "
             "(price[id]), components or, for lists of entities, an index with hash";
  else if (table->stored && kind == ELEMENTS_OTHER)
    reason = "is written to and has values that are neither all numbers up to 2^53 nor all "
             "booleans: keep one of these types in it";
  path_tell(f->L, f->anchors, &f->paths[table->path]);
  front_refuse(f, "it uses an element of '%s', a table that %s", lua_tostring(f->L, -1), reason);
}

/* Adds the arrays that follow the array of a table's elements. */
static void element_add_behind(struct front *f, const struct front_array *table) {
  static const k_column keyed[] = {KC_I64, KC_BOOL, KC_I64, KC_I64};   /* see keys.c */
  const struct front_array behind = {.path = NONE};
  bool named = table->stored && table->names;
  if (table->kind == ELEMENTS_MIXED || named) element_add_array(f, behind, KC_BOOL);
  if (named) element_add_array(f, behind, KC_BOOL);   /* whether they are present */
  if (table->as.grows || table->as.keyed) element_add_array(f, behind, KC_I64);
  for (uint32_t i = 0; table->as.keyed && i < 4; i++) element_add_array(f, behind, keyed[i]);
}

uint32_t element_find_table(struct front *f, struct front_array array) {
  static const k_column types[ELEMENTS_HIDDEN + 1] = {KC_BOOL, KC_I64, KC_I64, KC_F64,
                                                      KC_F64, KC_I64, KC_BOOL};
  bool told = array.gaps == GAPS_TOLD;
  for (uint32_t i = 0; i < f->array_count; i++) {
    const struct front_array *known = &f->arrays[i];
    if (!known->id && known->path == array.path && known->names == array.names &&
        known->within == array.within && known->inner == array.inner &&
        known->inner_names == array.inner_names &&
        known->measured == array.measured && known->stride == array.stride &&
        known->field == array.field && known->most == array.most &&
        known->stored == array.stored && known->as.keyed == array.as.keyed &&
        (known->gaps == GAPS_TOLD) == told)
      return i;
  }
  struct guard *guard = guard_elements(f, &array);
  uint32_t count = 0;
  enum element_gaps most = told                           ? GAPS_TOLD
                           : array.inner || array.stride  ? GAPS_FILLED
                           : array.names && !array.stored ? GAPS_NAMES
                                                          : GAPS_REFUSED;
  enum element_kind kind = ELEMENTS_NONE;
  for (enum element_gaps gaps = array.gaps; kind == ELEMENTS_NONE && gaps <= most; gaps++) {
    guard->gaps = (uint8_t)gaps;
    guard->elements = (uint8_t)element_look(f->L, f->anchors, guard, &count, NULL);
    kind = element_kind_of(guard->elements);
  }
  bool may_store = kind == ELEMENTS_NONE && array.names && !array.inner && !array.stride;
  if (may_store && !array.stored) cell_store_table(f, array.path);
  if (kind >= ELEMENTS_NONE) refuse_elements(f, kind, &array);
  array.kind = kind;
  array.gaps = (enum element_gaps)guard->gaps;
  array.ragged = guard->elements != kind;
  uint32_t number = element_add_array(f, array, types[kind]);
  element_add_behind(f, &array);
  guard->uniform = (int16_t)number;   /* everything read of the table now has room */
  if (kind == ELEMENTS_TEXT) element_find_texts(f, guard, &f->arrays[number].texts, count);
  return number;
}

/* An element read from a place of a table, completed as the table's kind requires. */
struct val element_of_kind(struct front *f, uint32_t table, struct val element, k_value at) {
  enum element_kind kind = f->arrays[table].kind;
  element.mixed = kind == ELEMENTS_MIXED && !NUMBERS_ARE_DOUBLES;
  element.whole = element.mixed ? build_element(f->b, table + 1, at) : K_ALL;
  element.wide = kind == ELEMENTS_WIDE;
  element.bits = element.wide ? 0 : MIXED_EXACT;
  if (kind != ELEMENTS_TEXT) return element;
  element.names = choice_names(f, &f->arrays[table].texts);
  element.soft = false;
  return element;
}

/* The rows in which a table has an element at a place: all rows if it has no gaps, or none that
** concern this element. */
static k_value element_there(struct front *f, struct front_array read, enum element_gaps none,
                             k_value at) {
  if (f->arrays[element_find_table(f, read)].gaps <= none) return K_ALL;
  read.gaps = GAPS_TOLD;
  return build_element(f->b, element_find_table(f, read), at);
}

struct val element_of_table(struct front *f, struct val table, struct val index) {
  assert(table.kind == VAL_PATH && index.kind == VAL_VALUE);
  if (index.names == &front_texts) {
    if (!choice_of_key(f, table.at, &index))
      front_refuse(f, "it indexes a table by a string field, and not all keys of that are strings, "
                      "or it has none");
    return element_by_maybe(f, table, index);
  }
  if (!index.names && !val_is_number(f, index))
    front_refuse(f, "it indexes a table by a boolean");
  if (cell_is_stored(f, table)) return cell_get_element(f, table, index);
  uint32_t set = object_set_find(f, table.at, index.names, (ecs_string){NULL, 0});
  if (set != NONE) return object_set_take(f, set, index);
  if (keys_suits(f, table, index)) return keys_get(f, table, index);
  struct front_array by = {.path = table.at, .names = index.names};
  uint32_t number = element_find_table(f, by);
  if (index.names) index.value = build_binary(f->b, KO_ADD, index.value, build_i64(f->b, 1));
  struct val element = take_element(f, number, index, true);
  if (index.names) element.present = element_there(f, by, GAPS_REFUSED, index.value);
  /* Lua handles a list that also has keys outside of it. */
  if (f->arrays[number].ragged) element = maybe_need(f, element);
  k_value whole, at = element_place(f, index, &whole);
  if (f->arrays[number].kind != ELEMENTS_TABLES) return element_of_kind(f, number, element, at);
  return (struct val){.kind = VAL_RECORD, .at = number, .value = at, .present = element.present};
}

struct val element_by_maybe(struct front *f, struct val table, struct val index) {
  k_value present = index.present;
  if (index.lacks != LACKS_NIL) return element_of_table(f, table, maybe_need(f, index));
  index.present = K_ALL;
  struct val element = element_of_table(f, table, index);
  if (!val_may_lack(element)) return maybe_need(f, element);
  element.present = build_binary(f->b, KO_AND, element.present, present);
  return element;
}

struct val element_of_list(struct front *f, struct val table, struct val index) {
  struct val element = element_of_table(f, table, index);
  if (index.names || !keys_suits(f, table, index)) element.present = K_ALL;
  return element;   /* nil after the first hole in a list */
}

/* What a table's record at a place has at a key, or at one of several keys; it may be a table, but
** not one inside another table of the record. */
static struct val element_of_records(struct front *f, struct front_array records, k_value at) {
  uint32_t number = element_find_table(f, records);
  struct val value = {.kind = VAL_RECORD, .at = number, .value = at};
  if (f->arrays[number].kind != ELEMENTS_TABLES)
    value = element_of_kind(f, number, val_number(f, build_element(f->b, number, at), true), at);
  else if (records.stride ? records.field : records.within)
    refuse_elements(f, ELEMENTS_OTHER, &records);
  value.present = element_there(f, records, GAPS_NAMES, at);
  return value;
}

struct val element_of_record(struct front *f, struct val record, const struct constant *key) {
  assert(record.kind == VAL_RECORD && record.at < f->array_count);
  const struct front_array *table = &f->arrays[record.at];
  if (key->type != CONST_STRING && key->type != CONST_INTEGER)
    front_refuse(f, "it indexes a nested table by a number that is not an integer");
  struct front_array records = {.path = table->path, .names = table->names};
  bool own = key->type == CONST_STRING && key->string.size && !table->stride && !table->inner;
  uint32_t set = own ? object_set_find(f, table->path, table->names, key->string) : NONE;
  if (set != NONE) return object_set_at(f, set, maybe_need(f, record).value);
  if (table->stride) {
    records.within = table->within;
    records.inner_names = table->inner_names;
    records.stride = table->stride;
    records.field = outside_constant(f, key);
  } else {
    records.within = table->inner;
    records.inner = outside_constant(f, key);
  }
  bool list = key->type == CONST_INTEGER && records.within;   /* possibly of tables */
  if (list && f->arrays[element_find_table(f, records)].kind == ELEMENTS_TABLES)
    return element_of_record_at(f, record, val_integer(f, key->integer));
  return element_of_records(f, records, maybe_need(f, record).value);
}

/* ---- records of one table ---- */

/* Pushes the last key of a path. */
static void element_push_key(struct front *f, const struct path *path) {
  lua_rawgeti(f->L, f->anchors, path->key[path->keys - 1]);
}

/* The path to the table that holds the last key of x's path; has no keys if there is none. */
static struct path element_parent(const struct front *f, struct val x) {
  struct path path = f->paths[x.at];
  if (path.keys) path.key[--path.keys] = 0;
  return path;
}

/* Turns a path into a record of the array's table; false if the path leads to none. */
static bool element_as_record(struct front *f, struct val *x, uint32_t array) {
  const struct front_array *table = &f->arrays[array];
  if (x->kind == VAL_RECORD) return x->at == array;
  if (x->kind != VAL_PATH || !f->paths[x->at].keys || table->kind != ELEMENTS_TABLES) return false;
  struct path parent = element_parent(f, *x);
  bool plain = !table->inner && !table->stride && !table->stored && table->path != NONE;
  if (!plain || !outside_same_path(&parent, &f->paths[table->path])) return false;
  element_push_key(f, &f->paths[x->at]);
  size_t size = 0;
  const char *text = lua_type(f->L, -1) == LUA_TSTRING ? lua_tolstring(f->L, -1, &size) : NULL;
  int64_t at = lua_isinteger(f->L, -1) ? (int64_t)lua_tointeger(f->L, -1) : 0;
  if (text && table->names) at = (int64_t)enumeration_find(table->names, text, size) + 1;
  lua_pop(f->L, 1);
  if (!text == !!table->names || at < 1 || at > FRONT_ELEMENTS) return false;
  *x = (struct val){.kind = VAL_RECORD, .at = array, .value = build_i64(f->b, at)};
  return true;
}

/* The array of the table in which two paths lead to records, by numbers or by two names. */
static uint32_t element_of_paths(struct front *f, struct val x, struct val y) {
  struct path parent = element_parent(f, x), other = element_parent(f, y);
  if (!f->paths[x.at].keys || !f->paths[y.at].keys || !outside_same_path(&parent, &other))
    return NONE;
  struct front_array table = {.path = outside_keep_path(f, &parent)};
  ecs_string keys[2] = {{NULL, 0}, {NULL, 0}};
  bool tables = true, numbers = true;
  for (int i = 0; i < 2; i++) {
    const struct path *path = &f->paths[i ? y.at : x.at];
    path_push(f->L, f->anchors, path);
    element_push_key(f, path);
    tables &= lua_istable(f->L, -2);
    numbers &= lua_isinteger(f->L, -1) != 0;
    if (lua_type(f->L, -1) == LUA_TSTRING)
      keys[i].data = lua_tolstring(f->L, -1, &keys[i].size);
    lua_pop(f->L, 2);
  }
  if (!tables || (!numbers && (!keys[0].data || !keys[1].data))) return NONE;
  if (!numbers) table.names = choice_pair(f, keys);
  return numbers || table.names ? element_find_table(f, table) : NONE;
}

bool element_join(struct front *f, struct val *x, struct val *y) {
  if (x->kind == VAL_ENTRY && y->kind == VAL_ENTRY) return x->at == y->at;
  if (array_field_join(f, x, y) || object_set_join(f, x, y)) return true;
  uint32_t array = x->kind == VAL_RECORD ? x->at : y->kind == VAL_RECORD ? y->at : NONE;
  if (x->kind == VAL_PATH && y->kind == VAL_PATH) array = element_of_paths(f, *x, *y);
  if (array == NONE) return false;
  struct val a = *x, b = *y;
  if (!element_as_record(f, &a, array) || !element_as_record(f, &b, array)) return false;
  *x = a;
  *y = b;
  return true;
}

/* The table of a record; refused if it is read with a stride. */
static const struct front_array *element_table_of(struct front *f, struct val record) {
  assert(record.kind == VAL_RECORD && record.at < f->array_count);
  const struct front_array *table = &f->arrays[record.at];
  if (table->stride) refuse_elements(f, ELEMENTS_OTHER, table);
  return table;
}

static uint16_t element_longest(struct front *f, struct val record) {
  const struct front_array *table = element_table_of(f, record);
  int top = lua_gettop(f->L), type;
  lua_Unsigned longest = 0;
  struct guard guard = {.within = table->inner, .gaps = GAPS_NAMES};
  if (table->names) {
    guard.names = element_anchor(f, table->names->names, table->names->count);
    guard.name_count = (uint16_t)table->names->count;
  }
  path_push(f->L, f->anchors, &f->paths[table->path]);
  for (uint32_t i = 0; (type = element_push_element(f->L, f->anchors, &guard, top + 1, i)) !=
                       LUA_TNIL; i++) {
    lua_Unsigned length = type == LUA_TTABLE ? lua_rawlen(f->L, -1) : 0;
    if (length > longest) longest = length;
    lua_pop(f->L, 1);
  }
  lua_settop(f->L, top);
  if (longest == 0) refuse_elements(f, ELEMENTS_NONE, table);
  if (longest >= FRONT_ELEMENTS) refuse_elements(f, ELEMENTS_MANY, table);
  return (uint16_t)longest;
}

/* The lengths of the lists to which a record belongs. */
static struct front_array element_lengths(struct front *f, struct val record) {
  const struct front_array *table = element_table_of(f, record);
  return (struct front_array){.path = table->path, .names = table->names, .inner = table->inner,
                              .measured = true};
}

struct val element_length_of(struct front *f, struct val record) {
  return element_of_records(f, element_lengths(f, record), maybe_need(f, record).value);
}

uint16_t element_need_longest(struct front *f, struct val record) {
  struct front_array lengths = element_lengths(f, record);
  lengths.most = element_longest(f, record);
  element_find_table(f, lengths);
  return lengths.most;
}

/* One of a record's values, as many as the stride. */
static struct val element_of_strides(struct front *f, struct front_array records, struct val record,
                                     k_value at) {
  struct builder *b = f->b;
  k_value outer = build_binary(b, KO_SUB, record.value, build_i64(b, 1));
  at = build_binary(b, KO_ADD, build_binary(b, KO_MUL, outer, build_i64(b, records.stride)), at);
  return element_of_records(f, records, at);
}

struct val element_of_item(struct front *f, struct val record, uint32_t longest,
                           k_value number) {
  const struct front_array *table = element_table_of(f, record);
  struct front_array records = {.path = table->path, .names = table->names,
                                .within = table->inner, .stride = (uint16_t)longest};
  return element_of_strides(f, records, record, number);
}

struct val element_of_record_at(struct front *f, struct val record, struct val index) {
  const struct front_array *table = element_table_of(f, record);
  struct builder *b = f->b;
  if (index.names == &front_texts || (!index.names && !val_is_number(f, index)))
    front_refuse(f, "it indexes a nested table by a %s",
                 index.names ? "string field: make the field an enum" : "boolean");
  record = maybe_need(f, record);
  if (!index.names) {
    k_value whole, at = element_place(f, index, &whole);
    uint32_t longest = element_longest(f, record);
    k_value from = build_binary(b, KO_SUB, at, build_i64(b, 1));
    k_value inside = build_binary(b, KO_ULT, from, build_i64(b, longest));
    build_need(b, build_binary(b, KO_AND, whole, inside));
    return element_of_item(f, record, longest, at);
  }
  struct front_array records = {.path = table->path, .names = table->names,
                                .within = table->inner, .inner_names = index.names,
                                .stride = (uint16_t)index.names->count};
  return element_of_strides(f, records, record,
                            build_binary(b, KO_ADD, index.value, build_i64(b, 1)));
}
