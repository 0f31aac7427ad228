/* Rows that are found by keys: by hash, in order, or through a filter. */
#ifndef ECS_CORE_INDEX_KEYED_H
#define ECS_CORE_INDEX_KEYED_H

#include "core/base/base.h"
#include "ecs_index.h"
#include "ecs_value.h"

struct copies;
struct memory;

/* Keys: what entities are found by, compared as Lua compares values. */

/* A float with the value of an integer is that integer, so that two keys are equal when they are
** the same kind and bits. */
enum key_kind { KEY_NONE, KEY_INTEGER, KEY_FLOAT, KEY_TRUTH, KEY_TEXT };

struct key {
  enum key_kind kind;        /* KEY_NONE: nil, NaN, or a text that nobody has */
  uint64_t bits;             /* of a text, its number in the world's table of strings */
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

/* Well mixed bits. */
uint64_t key_hash(struct key key);

/* The key of a value, whose text, if it is one, is added to the world's: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status key_of_value(ecs_world *world, const ecs_value *value, struct key *out);

/* The key of a value that is looked for; a text that the world does not have matches no row. */
struct key key_wanted(const ecs_world *world, const ecs_value *value);

/* Bits of a filter, for so many rows: of 1,000 groups without the key 3 are let through. */
#define GROUP_ROWS 64u
#define FILTER_WORDS 16u

/* Keys by row. By hash: rows lie by buckets, in each in the order of the query. In order: by keys,
** equal ones in the order of the query. Through a filter: in the order of the query, with a Bloom
** filter (CACM 13, 1970) for each group of rows. */
struct keyed {
  ecs_index_by by;
  struct key *keys;
  uint32_t count, capacity;
  uint32_t *starts;          /* by hash: the first row of each bucket, and behind the last one */
  uint32_t start_capacity;
  uint32_t buckets;          /* a power of two */
  uint64_t *filters;         /* FILTER_WORDS each */
  uint32_t filter_capacity;  /* words */
};

/* Keys of the rows of the query, and room for sorting them. */
struct key_room {
  struct key *keys;
  uint32_t capacity;
  uint32_t *order, *other;
  uint32_t order_capacity, other_capacity;
  struct key *old;           /* what some rows had before, or room for the keys of all */
  uint32_t old_capacity;
};

/* Room for the keys of so many rows. */
ecs_status key_room_make(struct memory *memory, struct key_room *room, uint32_t rows);

/* The keys of some rows, which are to change, are kept as `old`. ECS_ENOMEM. */
ecs_status key_room_keep(struct memory *memory, struct key_room *room, const uint32_t *rows,
                         uint32_t count);

/* Each of so many rows gets the key of another; of NONE: none. ECS_ENOMEM. */
ecs_status key_room_carry(struct memory *memory, struct key_room *room, const uint32_t *from,
                          uint32_t rows);

/* The rows that have a key, in the order in which they are to lie: room->order. */
ecs_status keyed_sort(struct memory *memory, struct keyed *keyed, struct key_room *room,
                      uint32_t rows, uint32_t *count);

/* By hash: how many buckets so many rows have. */
uint32_t keyed_buckets(uint32_t rows);

/* What rows lie by, before their order in the query: their keys; by hash, the numbers of their
** buckets. */
struct key keyed_rank(const struct keyed *keyed, struct key key);

/* Where a row of the query with some key lies, or would: `order` says which rows they are. */
uint32_t keyed_bound(const struct keyed *keyed, const uint32_t *order, struct key key,
                     uint32_t row);

/* Through a filter: gives a row another key. */
void keyed_change(struct keyed *keyed, uint32_t at, struct key key);

/* Whether the rows lie as they should. */
bool keyed_is_sound(const struct keyed *keyed, uint32_t rows);

/* Those with a key; those between two numbers, both included. */
void keyed_equal(const struct keyed *keyed, struct key key, struct ecs_search *search);
void keyed_range(const struct keyed *keyed, struct key least, struct key most,
                 struct ecs_search *search);

/* So many with the lowest keys, from the lowest up; with the highest, from the highest down. */
void keyed_lowest(const struct keyed *keyed, uint32_t most, struct ecs_search *search);
void keyed_highest(const struct keyed *keyed, uint32_t most, struct ecs_search *search);

/* The next row; NONE at the end. */
uint32_t keyed_next(struct ecs_search *search);

size_t keyed_bytes(const struct keyed *keyed);
size_t key_room_bytes(const struct key_room *room);
void keyed_free(struct memory *memory, struct keyed *keyed);
void key_room_free(struct memory *memory, struct key_room *room);

#endif
