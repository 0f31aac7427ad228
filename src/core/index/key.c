#include <math.h>

#include "core/index/key.h"

#include "core/base/intern.h"
#include "core/base/value.h"
#include "core/ids/world.h"

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

static double as_double(struct key key) {
  double number;
  memcpy(&number, &key.bits, sizeof number);
  return number;
}

/* Between an integer and a float that is none. */
static bool integer_precedes(int64_t integer, double number) {
  if (number >= 9223372036854775808.0) return true;
  if (number < -9223372036854775808.0) return false;
  return integer <= (int64_t)floor(number);
}

bool key_precedes(struct key a, struct key b) {
  assert(key_is_number(a) && key_is_number(b));
  bool whole = a.kind == KEY_INTEGER, other = b.kind == KEY_INTEGER;
  if (whole && other) return (int64_t)a.bits < (int64_t)b.bits;
  if (!whole && !other) return as_double(a) < as_double(b);
  if (whole) return integer_precedes((int64_t)a.bits, as_double(b));
  return !integer_precedes((int64_t)b.bits, as_double(a));
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood; OOPSLA 2014). */
uint64_t key_hash(struct key key) {
#ifdef ECS_CONSTANT_HASH
  return key.bits & 0;
#else
  uint64_t x = key.bits + (uint64_t)key.kind * UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
#endif
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
