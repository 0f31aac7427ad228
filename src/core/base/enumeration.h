/* The names of an enumeration. */
#ifndef ECS_CORE_BASE_ENUMERATION_H
#define ECS_CORE_BASE_ENUMERATION_H

#include "core/base/base.h"

struct enumeration {
  ecs_string *names;
  uint32_t count;
  uint32_t *buckets;         /* by hash: a name's place counted from 1; none for few names */
  uint32_t bucket_count;     /* a power of two */
};

/* How many buckets so many names want. */
uint32_t enumeration_buckets(uint32_t count);

/* Puts the name at a place into its bucket; false when the same text is there already. Names that
** want no buckets are only compared with those before it. */
bool enumeration_enter(const struct enumeration *names, uint32_t at);

/* NONE when it is no name of the enumeration. */
uint32_t enumeration_find(const struct enumeration *names, const char *text, size_t size);

/* Whether its first names are all those of another one, in the same order. */
bool enumeration_starts(const struct enumeration *names, const struct enumeration *with);
/* Either may be NULL. */
bool enumeration_same(const struct enumeration *a, const struct enumeration *b);

#endif
