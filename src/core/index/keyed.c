#include <math.h>

#include "core/index/keyed.h"

#include "core/base/column.h"
#include "core/base/intern.h"
#include "core/base/memory.h"
#include "core/base/sets.h"
#include "core/ids/world.h"

/* ---- room ------------------------------------------------------------------------------ */

ecs_status key_room_keep(struct memory *memory, struct key_room *room, const uint32_t *rows,
                         uint32_t count) {
  if (!GROW(memory, room->old, room->old_capacity, count + 1ull)) return ECS_ENOMEM;
  for (uint32_t i = 0; i < count; i++) room->old[i] = room->keys[rows[i]];
  return ECS_OK;
}

ecs_status key_room_carry(struct memory *memory, struct key_room *room, const uint32_t *from,
                          uint32_t rows) {
  if (!GROW(memory, room->old, room->old_capacity, rows + 1ull)) return ECS_ENOMEM;
  struct key *keys = room->old;
  uint32_t capacity = room->old_capacity;
  for (uint32_t row = 0; row < rows; row++)
    keys[row] = from[row] == NONE ? (struct key){KEY_NONE, 0} : room->keys[from[row]];
  room->old = room->keys;
  room->old_capacity = room->capacity;
  room->keys = keys;
  room->capacity = capacity;
  return ECS_OK;
}

ecs_status key_room_make(struct memory *memory, struct key_room *room, uint32_t rows) {
  bool made = GROW(memory, room->keys, room->capacity, rows + 1ull) &&
              GROW(memory, room->order, room->order_capacity, rows + 1ull) &&
              GROW(memory, room->other, room->other_capacity, rows + 1ull);
  return made ? ECS_OK : ECS_ENOMEM;
}

/* ---- sorting --------------------------------------------------------------------------- */

/* Well mixed bits: the finalizer of SplitMix64 (Steele, Lea, Flood; OOPSLA 2014). */
static uint64_t key_hash(struct key key) {
#ifdef ECS_CONSTANT_HASH
  return key.bits & 0;
#else
  uint64_t x = key.bits + (uint64_t)key.kind * UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
#endif
}

static uint32_t keyed_bucket_of(const struct keyed *keyed, struct key key) {
  return (uint32_t)key_hash(key) & (keyed->buckets - 1);
}

uint32_t keyed_buckets(uint32_t rows) {
  uint32_t buckets = 1;
  while (buckets < rows) buckets *= 2;
  return buckets;
}

struct key keyed_rank(const struct keyed *keyed, struct key key) {
  return keyed->by == ECS_BY_HASH ? key_of_integer(keyed_bucket_of(keyed, key)) : key;
}

/* Counting sort: the sums, advanced by the rows before, end as the buckets' first rows. */
static bool keyed_sort_by_hash(struct memory *memory, struct keyed *keyed, struct key_room *room,
                               uint32_t count) {
  keyed->buckets = keyed_buckets(count);
  if (!GROW(memory, keyed->starts, keyed->start_capacity, keyed->buckets + 2ull)) return false;
  uint32_t *starts = keyed->starts;
  memset(starts, 0, ((size_t)keyed->buckets + 2) * sizeof *starts);
  for (uint32_t i = 0; i < count; i++)
    starts[keyed_bucket_of(keyed, room->keys[room->order[i]]) + 2]++;
  for (uint32_t i = 2; i < keyed->buckets + 2; i++) starts[i] += starts[i - 1];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = room->order[i];
    room->other[starts[keyed_bucket_of(keyed, room->keys[row]) + 1]++] = row;
  }
  memcpy(room->order, room->other, count * sizeof *room->order);
  return true;
}

/* ---- filters --------------------------------------------------------------------------- */

static bool keyed_has_bits(const uint64_t *filter, uint64_t hash) {
  for (int i = 0; i < 4; i++, hash >>= 10)
    if (!(filter[hash / 64 % FILTER_WORDS] >> hash % 64 & 1)) return false;
  return true;
}

static void keyed_fill_filter(struct keyed *keyed, uint32_t group) {
  uint64_t *filter = keyed->filters + (size_t)group * FILTER_WORDS;
  uint32_t first = group * GROUP_ROWS;
  memset(filter, 0, FILTER_WORDS * sizeof *filter);
  for (uint32_t row = first; row < keyed->count && row < first + GROUP_ROWS; row++) {
    uint64_t hash = key_hash(keyed->keys[row]);
    for (int i = 0; i < 4; i++, hash >>= 10) filter[hash / 64 % FILTER_WORDS] |= 1ull << hash % 64;
  }
}

void keyed_change(struct keyed *keyed, uint32_t at, struct key key) {
  assert(keyed->by == ECS_BY_MAYBE && at < keyed->count && key.kind != KEY_NONE);
  keyed->keys[at] = key;
  keyed_fill_filter(keyed, at / GROUP_ROWS);
}

/* ---- all keys -------------------------------------------------------------------------- */

ecs_status keyed_sort(struct memory *memory, struct keyed *keyed, struct key_room *room,
                      uint32_t rows, uint32_t *count) {
  uint32_t with = 0;
  keyed->count = 0;
  for (uint32_t row = 0; row < rows; row++)
    if (room->keys[row].kind != KEY_NONE) room->order[with++] = row;
  if (!GROW(memory, keyed->keys, keyed->capacity, with + 1ull)) return ECS_ENOMEM;
  if (keyed->by == ECS_BY_HASH && !keyed_sort_by_hash(memory, keyed, room, with)) return ECS_ENOMEM;
  if (keyed->by == ECS_BY_ORDER)
    MERGE_SORT(uint32_t, room->order, room->other, with, a, b,
               key_precedes(room->keys[a], room->keys[b]));
  uint32_t groups = keyed->by == ECS_BY_MAYBE ? (with + GROUP_ROWS - 1) / GROUP_ROWS : 0;
  if (!GROW(memory, keyed->filters, keyed->filter_capacity, (uint64_t)groups * FILTER_WORDS))
    return ECS_ENOMEM;
  for (uint32_t i = 0; i < with; i++) keyed->keys[i] = room->keys[room->order[i]];
  *count = keyed->count = with;
  for (uint32_t group = 0; group < groups; group++) keyed_fill_filter(keyed, group);
  assert(keyed_is_sound(keyed, with));
  return ECS_OK;
}

bool keyed_is_sound(const struct keyed *keyed, uint32_t rows) {
  if (keyed->count != rows) return false;
  for (uint32_t i = 0; i < rows; i++) {
    struct key key = keyed->keys[i];
    if (key.kind == KEY_NONE) return false;
    if (keyed->by == ECS_BY_HASH) {
      uint32_t bucket = keyed_bucket_of(keyed, key);
      if (keyed->starts[bucket] > i || keyed->starts[bucket + 1] <= i) return false;
    } else if (keyed->by == ECS_BY_ORDER) {
      if (i > 0 && key_precedes(key, keyed->keys[i - 1])) return false;
    } else if (!keyed_has_bits(keyed->filters + (size_t)(i / GROUP_ROWS) * FILTER_WORDS,
                               key_hash(key))) {
      return false;
    }
  }
  return true;
}

/* ---- places ---------------------------------------------------------------------------- */

static bool keyed_lies_before(const struct keyed *keyed, const uint32_t *order, uint32_t at,
                              struct key key, uint32_t row) {
  if (keyed->by == ECS_BY_ORDER) {
    if (key_precedes(keyed->keys[at], key)) return true;
    if (key_precedes(key, keyed->keys[at])) return false;
  }
  return order[at] < row;
}

uint32_t keyed_bound(const struct keyed *keyed, const uint32_t *order, struct key key,
                     uint32_t row) {
  uint32_t low = 0, high = keyed->count;
  assert(key.kind != KEY_NONE);
  if (keyed->by == ECS_BY_HASH) {
    uint32_t bucket = keyed_bucket_of(keyed, key);
    low = keyed->starts[bucket];
    high = keyed->starts[bucket + 1];
  }
  BISECT(low, high, at, keyed_lies_before(keyed, order, at, key, row));
  return low;
}

/* ---- memory ---------------------------------------------------------------------------- */

void keyed_free(struct memory *memory, struct keyed *keyed) {
  FREE_LIST(memory, keyed->keys, keyed->capacity);
  FREE_LIST(memory, keyed->starts, keyed->start_capacity);
  FREE_LIST(memory, keyed->filters, keyed->filter_capacity);
  memset(keyed, 0, sizeof *keyed);
}

void key_room_free(struct memory *memory, struct key_room *room) {
  FREE_LIST(memory, room->keys, room->capacity);
  FREE_LIST(memory, room->order, room->order_capacity);
  FREE_LIST(memory, room->other, room->other_capacity);
  FREE_LIST(memory, room->old, room->old_capacity);
  memset(room, 0, sizeof *room);
}

/* ---- searches -------------------------------------------------------------------------- */

/* Kinds of searches by key; that of a grid is 0. */
enum { SEARCH_EQUAL = 1, SEARCH_ROWS, SEARCH_DOWN, SEARCH_FILTER };

static struct ecs_search *keyed_begin(const struct keyed *keyed, uint32_t kind,
                                      struct ecs_search *search) {
  *search = (struct ecs_search){.keyed = keyed, .kind = kind, .end = keyed->count,
                                .left = UINT32_MAX};
  return search;
}

void keyed_equal(const struct keyed *keyed, struct key key, struct ecs_search *search) {
  bool filters = keyed->by == ECS_BY_MAYBE;
  keyed_begin(keyed, filters ? SEARCH_FILTER : SEARCH_EQUAL, search);
  search->key_kind = key.kind;
  search->key = key.bits;
  if (key.kind == KEY_NONE || keyed->count == 0) {
    search->end = 0;
  } else if (!filters) {
    uint32_t bucket = keyed_bucket_of(keyed, key);
    search->row = keyed->starts[bucket];
    search->end = keyed->starts[bucket + 1];
  }
}

/* The first row whose key is not less than one or, with `behind`, is above it. */
static uint32_t keyed_find_bound(const struct keyed *keyed, struct key key, bool behind) {
  const struct key *keys = keyed->keys;
  uint32_t low = 0;
  BISECT(low, keyed->count, at,
         behind ? !key_precedes(key, keys[at]) : key_precedes(keys[at], key));
  return low;
}

void keyed_range(const struct keyed *keyed, struct key least, struct key most,
                 struct ecs_search *search) {
  keyed_begin(keyed, SEARCH_ROWS, search)->end = 0;
  if (!key_is_number(least) || !key_is_number(most)) return;
  search->row = keyed_find_bound(keyed, least, false);
  search->end = keyed_find_bound(keyed, most, true);
}

void keyed_lowest(const struct keyed *keyed, uint32_t most, struct ecs_search *search) {
  keyed_begin(keyed, SEARCH_ROWS, search)->left = most;
}

/* Rows from `row` to `end` have one key; those before them come later. */
void keyed_highest(const struct keyed *keyed, uint32_t most, struct ecs_search *search) {
  keyed_begin(keyed, SEARCH_DOWN, search)->left = most;
  search->row = search->line = search->end;
}

static uint32_t keyed_next_filtered(struct ecs_search *search) {
  const struct keyed *keyed = search->keyed;
  const struct key key = {(enum key_kind)search->key_kind, search->key};
  uint64_t hash = key_hash(key);
  while (search->row < search->end) {
    uint32_t row = search->row, group = row / GROUP_ROWS;
    bool passes = row % GROUP_ROWS ||
                  keyed_has_bits(keyed->filters + (size_t)group * FILTER_WORDS, hash);
    search->row = passes ? row + 1 : (group + 1) * GROUP_ROWS;
    if (passes && key_equal(keyed->keys[row], key)) return row;
  }
  return NONE;
}

uint32_t keyed_next(struct ecs_search *search) {
  if (search->kind == SEARCH_EQUAL) {
    const struct key key = {(enum key_kind)search->key_kind, search->key};
    while (search->row < search->end) {
      uint32_t row = search->row++;
      if (key_equal(search->keyed->keys[row], key)) return row;
    }
    return NONE;
  }
  if (search->kind == SEARCH_FILTER) return keyed_next_filtered(search);
  if (search->left == 0) return NONE;
  if (search->row >= search->end) {
    if (search->kind != SEARCH_DOWN || search->line == 0) return NONE;
    search->end = search->line;
    search->line = keyed_find_bound(search->keyed, search->keyed->keys[search->end - 1], false);
    search->row = search->line;
  }
  search->left--;
  return search->row++;
}

/* ---- key ---- */

struct key key_of_integer(int64_t integer) {
  return (struct key){KEY_INTEGER, (uint64_t)integer};
}

struct key key_of_number(double number) {
  int64_t integer;
  if (number != number) return (struct key){KEY_NONE, 0};
  if (number_is_integer(number, &integer)) return key_of_integer(integer);
  struct key key = {KEY_FLOAT, 0};
  memcpy(&key.bits, &number, sizeof key.bits);
  return key;
}

static double keyed_as_double(struct key key) {
  double number;
  memcpy(&number, &key.bits, sizeof number);
  return number;
}

/* Compares an integer with a float that is not whole. */
static bool keyed_integer_precedes(int64_t integer, double number) {
  if (number >= 9223372036854775808.0) return true;
  if (number < -9223372036854775808.0) return false;
  return integer <= (int64_t)floor(number);
}

bool key_precedes(struct key a, struct key b) {
  assert(key_is_number(a) && key_is_number(b));
  bool whole = a.kind == KEY_INTEGER, other = b.kind == KEY_INTEGER;
  if (whole && other) return (int64_t)a.bits < (int64_t)b.bits;
  if (!whole && !other) return keyed_as_double(a) < keyed_as_double(b);
  if (whole) return keyed_integer_precedes((int64_t)a.bits, keyed_as_double(b));
  return !keyed_integer_precedes((int64_t)b.bits, keyed_as_double(a));
}

struct key key_wanted(const ecs_world *world, const ecs_value *value) {
  switch (value->kind) {
    case ECS_KIND_BOOL: return (struct key){KEY_TRUTH, value->boolean};
    case ECS_KIND_INTEGER: return key_of_integer(value->integer);
    case ECS_KIND_NUMBER: return key_of_number(value->number);
    case ECS_KIND_STRING: {
      uint32_t text = intern_find(&world->strings, value->string.data, value->string.size);
      return (struct key){text == NONE ? KEY_NONE : KEY_TEXT, text};
    }
    default: return (struct key){KEY_NONE, 0};
  }
}

ecs_status key_of_value(ecs_world *world, const ecs_value *value, struct key *out) {
  if (value->kind != ECS_KIND_STRING) {
    *out = key_wanted(world, value);
    return ECS_OK;
  }
  uint32_t text;
  ecs_status status = intern(&world->strings, &world->memory, value->string.data,
                             value->string.size, &text);
  if (status == ECS_OK) *out = (struct key){KEY_TEXT, text};
  return status;
}
