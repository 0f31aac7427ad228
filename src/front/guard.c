/* Reads what a program takes from outside, before each run. */
#include "front/front.h"

#include "core/base/column.h"
#include "core/base/types.h"
#include "core/entity/entity.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/index/edition.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"

/* Whether two paths now lead to equal values. */
static bool guard_read_equal(lua_State *L, int anchors, const struct guard *guard,
                             k_scalar *uniforms) {
  int equal = path_compare(L, anchors, &guard->path, &guard->other, guard->same);
  uniforms[guard->uniform].i64 = 0;
  uniforms[guard->uniform].b = equal > 0;
  return equal >= 0;
}

/* The current length of a table; false if a metamethod decides it. */
static bool guard_read_length(lua_State *L, int anchors, const struct guard *guard,
                              k_scalar *uniforms) {
  int64_t length = path_length(L, anchors, &guard->path, guard->same);
  if (guard->type == GUARD_MEASURED) return length == -2;
  if (length >= 0 && guard->uniform >= 0) uniforms[guard->uniform].i64 = length;
  return length >= 0;
}

/* Whether the string keys of the value on top of the stack are those of the guard. */
static bool guard_has_keys(lua_State *L, int anchors, const struct guard *guard) {
  int table = lua_gettop(L);
  uint32_t count = 0;
  if (!lua_istable(L, table)) return false;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) count += lua_type(L, -2) == LUA_TSTRING;
  for (uint32_t i = 0; i < guard->name_count; i++) {
    lua_rawgeti(L, anchors, guard->names + (lua_Integer)i);
    lua_rawget(L, table);
    if (lua_isnil(L, -1)) count = NONE;
    lua_pop(L, 1);
  }
  return count == guard->name_count;
}

enum pairs_kind pairs_look(lua_State *L, int table) {
  int top = lua_gettop(L);
  enum pairs_kind kind = PAIRS_NONE;
  if (!lua_istable(L, table) || lua_getmetatable(L, table)) kind = PAIRS_OTHER;
  lua_settop(L, top);
  if (kind == PAIRS_NONE) lua_pushnil(L);
  for (lua_Integer n = 1; kind != PAIRS_OTHER && lua_next(L, table); n++) {
    lua_pop(L, 1);
    bool name = lua_type(L, -1) == LUA_TSTRING, integer = front_is_integer(L, -1);
    bool next = integer && lua_tointeger(L, -1) == n && (n == 1 || kind == PAIRS_LIST);
    enum pairs_kind key = next ? PAIRS_LIST : integer ? PAIRS_INTEGERS : PAIRS_NAMES;
    bool fits = n == 1 || (kind == PAIRS_NAMES) == name;
    kind = fits && (integer || name) ? key : PAIRS_OTHER;
  }
  lua_settop(L, top);
  return kind;
}

/* Whether pairs on the value on top of the stack still iterates as the guard says. */
static bool guard_has_pairs(lua_State *L, int anchors, const struct guard *guard) {
  int table = lua_gettop(L);
  enum pairs_kind wanted = (enum pairs_kind)guard->elements;
  enum pairs_kind kind = wanted == PAIRS_NAMES ? wanted : pairs_look(L, table);
  if (wanted == PAIRS_INTEGERS) return kind != PAIRS_NAMES && kind != PAIRS_OTHER;
  if (wanted != PAIRS_NAMES) return kind == wanted;
  uint32_t at = 0;
  bool same = lua_istable(L, table) && !lua_getmetatable(L, table);
  if (same) lua_pushnil(L);
  while (same && lua_next(L, table)) {
    lua_pop(L, 1);
    lua_rawgeti(L, anchors, guard->names + (lua_Integer)at);
    same = at++ < guard->name_count && lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
  }
  lua_settop(L, table);
  return same && at == guard->name_count;
}

bool guard_read(lua_State *L, int anchors, const struct guard *guard, k_scalar *uniforms) {
  if (guard->type == GUARD_EQUAL) return guard_read_equal(L, anchors, guard, uniforms);
  if (guard->type == GUARD_LENGTH || guard->type == GUARD_MEASURED)
    return guard_read_length(L, anchors, guard, uniforms);
  if (guard->type == GUARD_ASKED)
    return path_compare(L, anchors, &guard->path, &guard->other, guard->same) < 0;
  path_push(L, anchors, &guard->path);
  bool fits = false;
  k_scalar value;
  memset(&value, 0, sizeof value);
  switch (guard->type) {
    case GUARD_NIL:
      fits = lua_isnil(L, -1) && path_is_absent(L, anchors, &guard->path, guard->same);
      break;
    case GUARD_BOOL:
      fits = lua_isboolean(L, -1);
      value.b = (uint8_t)lua_toboolean(L, -1);
      break;
    case GUARD_INTEGER:
    case GUARD_WIDE:
      value.i64 = (int64_t)lua_tointeger(L, -1);
      fits = front_is_integer(L, -1) &&
             mixed_is_small(value.i64) == (guard->type == GUARD_INTEGER);
      break;
    case GUARD_FLOAT:
      fits = lua_type(L, -1) == LUA_TNUMBER && (NUMBERS_ARE_DOUBLES || !lua_isinteger(L, -1));
      if (fits) value.f64 = (double)lua_tonumber(L, -1);
      break;
    case GUARD_HIDDEN:
      fits = lua_isnil(L, -1) && !path_is_absent(L, anchors, &guard->path, guard->same);
      break;
    case GUARD_OTHER: fits = !front_is_integer(L, -1) || lua_tointeger(L, -1) != 0; break;
    case GUARD_TABLE: fits = lua_istable(L, -1); break;
    case GUARD_KEYS: fits = guard_has_keys(L, anchors, guard); break;
    case GUARD_PAIRS: fits = guard_has_pairs(L, anchors, guard); break;
    default:
      lua_rawgeti(L, anchors, guard->same);
      fits = !lua_isnil(L, -1) && lua_rawequal(L, -1, -2);   /* nil: there is no longer one */
      lua_pop(L, 1);
      break;
  }
  lua_pop(L, 1);
  if (fits && guard->uniform >= 0) uniforms[guard->uniform] = value;
  return fits;
}

/* Makes room for the elements of a table; false when out of memory. */
static bool guard_has_room(struct memory *memory, struct copied *copied, size_t size) {
  if (copied->size >= size) return true;
  void *data = memory_array(memory, 1, size);
  if (!data) return false;
  memory_free(memory, copied->data, copied->size);
  *copied = (struct copied){data, size};
  return true;
}

#define LEAST_MORE 1024u       /* elements that a table may get in a stretch of rows, or, if they */
#define MORE_TIMES 4u          /* did not suffice, this many times what it had room for */
#define LEAST_SLOTS 4096u      /* slots of keys: at least this, or SLOTS_EACH times their number */
#define SLOTS_EACH 4u

/* A power of two of slots, enough for most keys that are ids to have their own. */
static size_t guard_slots(const struct guard *guard, uint32_t count, uint32_t entities) {
  size_t slots = LEAST_SLOTS, least = (size_t)count * SLOTS_EACH;
  while (guard->as.keyed && (slots < least || slots < entities)) slots *= 2;
  return guard->as.keyed ? slots : 0;
}

/* Makes room for a table that grows or is keyed, with all slots empty; false when out of memory. */
static bool guard_has_list(struct memory *memory, struct copied *copied, size_t slots, size_t room,
                           size_t size) {
  int64_t *numbers = copied->data;
  bool same = numbers && numbers[GIVEN_MASK] == (int64_t)slots - 1;
  if (same && numbers[GIVEN_ROOM] >= (int64_t)room) {
    int64_t *places = numbers + GIVEN_NUMBERS, *keys = places + slots;
    for (int64_t i = 1; slots && i < numbers[GIVEN_LENGTH]; i++)
      places[keys[i] & numbers[GIVEN_MASK]] = 1;
    return true;
  }
  size_t words = GIVEN_NUMBERS + slots + (slots ? room : 0);
  if (!guard_has_room(memory, copied, words * sizeof *numbers + 2 * room * (size + 2)))
    return false;
  numbers = copied->data;
  assert(numbers);
  numbers[GIVEN_MASK] = (int64_t)slots - 1;
  numbers[GIVEN_ROOM] = (int64_t)room;
  for (size_t i = 0; i < slots; i++) numbers[GIVEN_NUMBERS + i] = 1;
  return true;
}

/* Gives the arrays of a table that grows or is keyed to the program, after its elements have been
** read. */
static void guard_give_list(const struct guard *guard, const struct element_room *to,
                            uint32_t count, k_array *out) {
  size_t size = element_size(to->kind);
  int64_t room = to->numbers[GIVEN_ROOM], all = room * (int64_t)(size + 2);
  uint8_t *cells = to->cells;
  memcpy(cells + all, cells, count * size);
  memcpy(to->integers + all, to->integers, count);
  memcpy(to->there + all, to->there, count);
  to->numbers[GIVEN_LENGTH] = to->numbers[GIVEN_KNOWN] = count;
  *out++ = (k_array){cells, room};
  if (to->kind == ELEMENTS_MIXED) *out++ = (k_array){to->integers, room};
  *out++ = (k_array){to->numbers + GIVEN_LENGTH, 1};
  if (!guard->as.keyed) return;
  *out++ = (k_array){to->numbers + GIVEN_HIDDEN, 2};
  *out++ = (k_array){to->there, room};
  *out++ = (k_array){to->keys, room};
  *out = (k_array){to->places, to->numbers[GIVEN_MASK] + 1};
}

/* As guard_read_elements, for a table that grows or is keyed: leaves room after its elements. If it
** is keyed, the first place is empty. Reads again if the table does not fit. */
static enum reading guard_read_list(lua_State *L, int anchors, const struct guard *guard,
                                    struct memory *memory, uint32_t entities,
                                    struct copied *copied, k_array *out) {
  enum element_kind kind = element_kind_of(guard->elements);
  const int64_t *last = copied->data;
  size_t size = element_size(kind);
  uint32_t first = guard->as.keyed, count = last ? (uint32_t)last[GIVEN_LENGTH] : 0, guess;
  bool full = last && last[GIVEN_LENGTH] == last[GIVEN_ROOM];
  struct element_room to = {.kind = kind, .stored = true};
  if (kind >= ELEMENTS_NONE)
    return element_look(L, anchors, guard, &count, NULL) == guard->elements ? READING_FITS
                                                                           : READING_OTHER;
  do {
    guess = count;
    size_t slots = guard_slots(guard, guess, entities);
    size_t more = full ? (size_t)guess * (MORE_TIMES - 1) : 0;
    if (more < LEAST_MORE) more = LEAST_MORE;
    if (!guard_has_list(memory, copied, slots, ((size_t)guess + more) / 8 * 8, size))
      return READING_STARVED;
    to.numbers = copied->data;
    to.places = to.numbers + GIVEN_NUMBERS;
    to.keys = to.places + slots;
    size_t room = (size_t)to.numbers[GIVEN_ROOM];
    uint8_t *cells = (uint8_t *)(to.keys + (slots ? room : 0));
    to.cells = cells;
    to.integers = cells + room * size;
    to.there = to.integers + room;
    to.count = (uint32_t)room;
    if (first) to.keys[0] = INT64_MIN;   /* not a key */
    to.numbers[GIVEN_HIDDEN] = 0;
    to.numbers[GIVEN_LENGTH] = first;   /* until the slots are filled */
    if (element_look(L, anchors, guard, &count, &to) != guard->elements) return READING_OTHER;
    count += first;
  } while (count + LEAST_MORE / 2 > to.count);
  guard_give_list(guard, &to, count, out);
  return READING_FITS;
}

enum reading guard_read_elements(lua_State *L, int anchors, const struct guard *guard,
                                 struct memory *memory, uint32_t entities, struct copied *copied,
                                 k_array *out) {
  if (guard->as.grows || guard->as.keyed)
    return guard_read_list(L, anchors, guard, memory, entities, copied, out);
  enum element_kind kind = element_kind_of(guard->elements);
  bool lacks = guard->stored && guard->name_count, mixed = kind == ELEMENTS_MIXED || lacks;
  uint32_t count = kind < ELEMENTS_NONE ? (uint32_t)out->count : 0, before;   /* as last time? */
  size_t size = element_size(kind), all;
  do {
    before = count, all = count * (size + 2);
    if (!guard_has_room(memory, copied, guard->stored ? 2 * all : all)) return READING_STARVED;
    uint8_t *integers = (uint8_t *)copied->data + count * size, *there = integers + count;
    struct element_room room = {kind, guard->stored, count, copied->data, integers, there,
                                NULL, NULL, NULL};
    uint32_t found = element_look(L, anchors, guard, &count, &room);
    if (NUMBERS_ARE_DOUBLES && kind == ELEMENTS_FLOAT && element_kind_of(found) == ELEMENTS_INTEGER)
      found += ELEMENTS_FLOAT - ELEMENTS_INTEGER;
    if (found != guard->elements) return READING_OTHER;
    if (kind >= ELEMENTS_NONE) return READING_FITS;
    if (mixed) out[1] = (k_array){integers, count};
    if (lacks) out[2] = (k_array){there, count};
  } while (count != before);
  if (guard->stored) memcpy((uint8_t *)copied->data + all, copied->data, all);
  *out = (k_array){copied->data, count};
  return READING_FITS;
}

enum reading guard_read_text(lua_State *L, int anchors, const struct guard *guard,
                             ecs_world *world, k_scalar *uniforms) {
  size_t size, count = 0;
  uint32_t number = 0;
  ecs_status status = ECS_OK;
  lua_rawgeti(L, anchors, guard->same);
  const char *text = lua_tolstring(L, -1, &size);
  assert(text && guard->uniform >= 0);
  int64_t *wanted = &uniforms[guard->uniform].i64;
  if (guard->type == GUARD_TEXT) {
    status = intern(&world->strings, &world->memory, text, size, &number);
    *wanted = number;
  } else if (guard->type == GUARD_COUNT) {
    status = query_count_with(world, text, NULL, 0, &count);
    *wanted = (int64_t)count;
  } else {
    *wanted = (int64_t)name_lookup(world, text, size);
  }
  lua_pop(L, 1);
  if (status == ECS_OK) return READING_FITS;
  return guard->type == GUARD_COUNT && status != ECS_ENOMEM ? READING_OTHER : READING_STARVED;
}

void guard_read_resource(const ecs_world *world, const struct resource_uniform *resource,
                         k_scalar *value) {
  const struct component *component = component_of(world, resource->component);
  const struct leaf *leaf = &component->leaves[resource->leaf];
  ecs_cell cell = cell_load(component->resource[resource->leaf].data, leaf->size, 0);
  switch (type_class(leaf->type)) {
    case CLASS_FLOAT: value->f64 = cell_float(leaf->size, cell); break;
    case CLASS_TRUTH: value->b = cell.u8; break;
    case CLASS_ID: value->i64 = (int64_t)entity_target(world, cell.u64); break;
    default: value->i64 = cell_integer(leaf->type, leaf->size, cell); break;
  }
}

k_array guard_read_array(const ecs_world *world, ecs_id id, uint32_t leaf) {
  const struct component *array = component_of(world, id);
  assert(array && array->resource && leaf < array->leaf_count);
  return (k_array){array->resource[leaf].data, array->length ? array->length : 1};
}

/* The array needs a cell even without rows; it is not read. */
k_array guard_read_copy(const struct ecs_index *index, struct front_copy copy) {
  static const uint64_t none = 0;
  const struct copies *copies = &index->now->copies;
  const struct column_buffer *cells = &copies->entities;
  if (copy.slot != NONE) {
    const struct copy_slot *slot = &copies->slots[copy.slot];
    assert(copy.slot < copies->slot_count);
    assert(copy.leaf == NONE ? slot->flags != NONE : copy.leaf < slot->count);
    uint32_t column = copy.leaf == NONE ? slot->flags : slot->first + copy.leaf;
    cells = &copies->columns[column].cells;
  }
  if (copies->count == 0) return (k_array){&none, 1};
  return (k_array){cells->data, copies->count};
}
