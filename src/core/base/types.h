/* What each field type is. One table says it: nobody else compares types by their order, and what
** a new type needs to have said of it is one line there. */
#ifndef ECS_CORE_BASE_TYPES_H
#define ECS_CORE_BASE_TYPES_H

#include "core/base/base.h"

/* What the cells of a type mean. */
enum type_class {
  CLASS_FLOAT,
  CLASS_INTEGER,
  CLASS_TRUTH,         /* 0 or 1 */
  CLASS_ID,            /* an entity's; one that is dead reads as ECS_NULL */
  CLASS_TEXT,          /* a number in the world's table of strings */
  CLASS_SLOT,          /* the number of an any slot */
  CLASS_NAMES,         /* a place in the field's enumeration */
  CLASS_PART           /* the fields of another component: no cell of its own */
};

struct type {
  const char *name;
  uint8_t size;              /* bytes of a cell */
  uint8_t class;
  uint8_t code;              /* in images; a new type takes one that none has had */
  uint8_t column;            /* see type_column.h */
  int64_t least;             /* of integers and truth values */
  uint64_t most;
};

extern const struct type type_table[];    /* by ecs_type */

static inline const char *type_name(ecs_type type) { return type_table[type].name; }

static inline enum type_class type_class(ecs_type type) {
  return (enum type_class)type_table[type].class;
}

/* Whether any bits are a value of the type. */
static inline bool type_is_number(ecs_type type) {
  return type_class(type) == CLASS_FLOAT || type_class(type) == CLASS_INTEGER;
}

static inline bool type_is_signed(ecs_type type) { return type_table[type].least < 0; }

static inline uint8_t type_code(ecs_type type) { return type_table[type].code; }

/* False when no type has the code. */
bool type_of_code(uint8_t code, ecs_type *type);

/* The type that a field's text names: any but that of parts, which are named by their component.
** False when there is none. */
bool type_of_name(const char *name, ecs_type *type);

/* The name at a place counted from 0 of those that type_of_name knows; NULL behind the last. */
const char *type_name_at(uint32_t at);

/* Whether a number that a host gave is a type. */
bool type_is_known(ecs_type type);

/* Bytes in a column; those of an enumeration depend on how many names it has. */
static inline uint32_t type_size(ecs_type type, uint32_t name_count) {
  if (name_count > 256 && type_class(type) == CLASS_NAMES) return 2;
  return type_table[type].size;
}

/* The names of an enumeration. */

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
