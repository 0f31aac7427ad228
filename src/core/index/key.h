/* Keys: what entities are found by, compared as Lua compares values. */
#ifndef ECS_CORE_INDEX_KEY_H
#define ECS_CORE_INDEX_KEY_H

#include "core/base/base.h"
#include "ecs_value.h"

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

/* The same, but a text that the world has not is the key of nobody. */
struct key key_wanted(const ecs_world *world, const ecs_value *value);

#endif
