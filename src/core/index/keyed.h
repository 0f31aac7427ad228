/* Rows found by keys: by hash, in order, or through a filter. */
#ifndef ECS_CORE_INDEX_KEYED_H
#define ECS_CORE_INDEX_KEYED_H

#include "core/base/base.h"
#include "ecs_index.h"
#include "ecs_value.h"

struct memory;

/* Keys: what entities are found by, compared as Lua compares values. */

/* A float with an integer value becomes that integer, so keys are equal if kind and bits are. */
enum key_kind { KEY_NONE, KEY_INTEGER, KEY_FLOAT, KEY_TRUTH, KEY_TEXT };

struct key {
  enum key_kind kind;        /* KEY_NONE: nil, NaN, or a string that no row has */
  uint64_t bits;             /* of a string: its number in the world's table of strings */
};

static inline bool key_equal(struct key a, struct key b) {
  return a.kind == b.kind && a.bits == b.bits;
}

static inline bool key_is_number(struct key key) {
  return key.kind == KEY_INTEGER || key.kind == KEY_FLOAT;
}

struct key key_of_integer(int64_t integer);
struct key key_of_number(double number);

/* Whether one number is less than another. */
bool key_precedes(struct key a, struct key b);

/* The key of a value; a string is added to the world's table: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status key_of_value(ecs_world *world, const ecs_value *value, struct key *out);

/* The key of a value to look for; a string that the world lacks matches no row. */
struct key key_wanted(const ecs_world *world, const ecs_value *value);

/* A group's size in rows, and its filter's in bits: 3 of 1,000 groups without the key pass. */
#define GROUP_ROWS 64u
#define FILTER_WORDS 16u

/* Keys by row. hash: rows are in buckets, inside them in query order. ordered: by key, then in
** query order. maybe: in query order, with a Bloom filter (CACM 13, 1970) for each group of
** rows. */
struct keyed {
  ecs_index_by by;
  struct key *keys;
  uint32_t count, capacity;
  uint32_t *starts;          /* hash: first row of each bucket, and the end */
  uint32_t start_capacity;
  uint32_t buckets;          /* a power of two */
  uint64_t *filters;         /* FILTER_WORDS each */
  uint32_t filter_capacity;  /* words */
};

/* The keys of a query's rows, with room to sort them. */
struct key_room {
  struct key *keys;
  uint32_t capacity;
  uint32_t *order, *other;
  uint32_t order_capacity, other_capacity;
  struct key *old;           /* old keys of some rows, or room for all keys */
  uint32_t old_capacity;
};

/* Makes room for the keys of that many rows. */
ecs_status key_room_make(struct memory *memory, struct key_room *room, uint32_t rows);

/* Keeps the keys of some rows, which will change, in `old`. ECS_ENOMEM. */
ecs_status key_room_keep(struct memory *memory, struct key_room *room, const uint32_t *rows,
                         uint32_t count);

/* Gives each of that many rows the key of another row, or no key for NONE. ECS_ENOMEM. */
ecs_status key_room_carry(struct memory *memory, struct key_room *room, const uint32_t *from,
                          uint32_t rows);

/* Sorts the rows that have a key into room->order. */
ecs_status keyed_sort(struct memory *memory, struct keyed *keyed, struct key_room *room,
                      uint32_t rows, uint32_t *count);

/* For hash: the number of buckets for that many rows. */
uint32_t keyed_buckets(uint32_t rows);

/* What rows are sorted by, before their order in the query: the key or, for hash, the number of its
** bucket. */
struct key keyed_rank(const struct keyed *keyed, struct key key);

/* The place of a query's row with some key; `order` says which rows are there. */
uint32_t keyed_bound(const struct keyed *keyed, const uint32_t *order, struct key key,
                     uint32_t row);

/* For maybe: gives a row another key. */
void keyed_change(struct keyed *keyed, uint32_t at, struct key key);

/* Whether the rows are in order. */
bool keyed_is_sound(const struct keyed *keyed, uint32_t rows);

/* Finds rows with a key; the second finds rows between two numbers, both included. */
void keyed_equal(const struct keyed *keyed, struct key key, struct ecs_search *search);
void keyed_range(const struct keyed *keyed, struct key least, struct key most,
                 struct ecs_search *search);

/* Finds that many rows with the lowest keys, upwards. The second: with the highest, downwards. */
void keyed_lowest(const struct keyed *keyed, uint32_t most, struct ecs_search *search);
void keyed_highest(const struct keyed *keyed, uint32_t most, struct ecs_search *search);

/* The next row; NONE at the end. */
uint32_t keyed_next(struct ecs_search *search);

void keyed_free(struct memory *memory, struct keyed *keyed);
void key_room_free(struct memory *memory, struct key_room *room);

#endif
