#include "core/base/enumeration.h"

#include "core/base/text.h"

#define FEW_NAMES 8u   /* found without buckets */

static bool is_named(const struct enumeration *names, uint32_t at, const char *text,
                     size_t size) {
  return text_same(names->names[at], (ecs_string){text, size});
}

static uint32_t find_in_order(const struct enumeration *names, uint32_t count, const char *text,
                              size_t size) {
  for (uint32_t i = 0; i < count; i++)
    if (is_named(names, i, text, size)) return i;
  return NONE;
}

/* The bucket that holds the name, or the empty one that is for it. */
static uint32_t *find_bucket(const struct enumeration *names, const char *text, size_t size) {
  assert(names->bucket_count > names->count);
  uint32_t mask = names->bucket_count - 1, at = text_hash(text, size) & mask;
  while (names->buckets[at] && !is_named(names, names->buckets[at] - 1, text, size))
    at = (at + 1) & mask;
  return &names->buckets[at];
}

uint32_t enumeration_buckets(uint32_t count) {
  uint32_t buckets = 1;
  if (count <= FEW_NAMES) return 0;
  while (buckets < count * 2) buckets *= 2;
  return buckets;
}

bool enumeration_enter(const struct enumeration *names, uint32_t at) {
  assert(at < names->count);
  const ecs_string *name = &names->names[at];
  if (names->bucket_count == 0) return find_in_order(names, at, name->data, name->size) == NONE;
  uint32_t *bucket = find_bucket(names, name->data, name->size);
  if (*bucket) return false;
  *bucket = at + 1;
  return true;
}

uint32_t enumeration_find(const struct enumeration *names, const char *text, size_t size) {
  if (names->bucket_count == 0) return find_in_order(names, names->count, text, size);
  return *find_bucket(names, text, size) - 1;
}

bool enumeration_starts(const struct enumeration *names, const struct enumeration *with) {
  if (with->count > names->count) return false;
  for (uint32_t i = 0; i < with->count; i++)
    if (!text_same(with->names[i], names->names[i])) return false;
  return true;
}

bool enumeration_same(const struct enumeration *a, const struct enumeration *b) {
  if (a == b) return true;
  return a && b && a->count == b->count && enumeration_starts(a, b);
}
