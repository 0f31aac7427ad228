/* The properties of each field type, in one table: no other code compares types by order, and a new
** type takes one line there. */
#ifndef ECS_CORE_BASE_TYPES_H
#define ECS_CORE_BASE_TYPES_H

#include "core/base/base.h"

/* What the cells of a type mean. */
enum type_class {
  CLASS_FLOAT,
  CLASS_INTEGER,
  CLASS_TRUTH,         /* 0 or 1 */
  CLASS_ID,            /* an entity's id; a dead one reads as ECS_NULL */
  CLASS_TEXT,          /* a number in the world's string table */
  CLASS_SLOT,          /* the number of an any slot */
  CLASS_NAMES,         /* a place in the field's enumeration */
  CLASS_PART           /* the fields of another component: no cell of its own */
};

struct type {
  const char *name;
  uint8_t size;              /* bytes of a cell */
  uint8_t class;
  uint8_t code;              /* in images; a new type takes an unused one */
  uint8_t column;            /* an enum type_column */
  int64_t least;             /* for integers and bool */
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

/* False if no type has the code. */
bool type_of_code(uint8_t code, ecs_type *type);

/* The type that a field's text names, except nested ones, which are named by their component. False
** if there is none. */
bool type_of_name(const char *name, ecs_type *type);

/* The nth name that type_of_name knows; NULL after the last. */
const char *type_name_at(uint32_t at);

/* Whether a number from a host is a type. */
bool type_is_known(ecs_type type);

/* Bytes of a cell; for an enum they depend on its number of names. */
static inline uint32_t type_size(ecs_type type, uint32_t name_count) {
  if (name_count > 256 && type_class(type) == CLASS_NAMES) return 2;
  return type_table[type].size;
}

/* The names of an enumeration. */

struct enumeration {
  ecs_string *names;
  uint32_t count;
  uint32_t *buckets;         /* by hash: a name's place plus 1; none for few names */
  uint32_t bucket_count;     /* a power of two */
};

/* The number of buckets for that many names. */
uint32_t enumeration_buckets(uint32_t count);

/* Puts the name at a place into its bucket; false if the same text is there already. Without
** buckets, names are compared with those before. */
bool enumeration_enter(const struct enumeration *names, uint32_t at);

/* NONE if the enumeration has no such name. */
uint32_t enumeration_find(const struct enumeration *names, const char *text, size_t size);

/* Whether its first names are all those of another one, in the same order. */
bool enumeration_starts(const struct enumeration *names, const struct enumeration *with);
/* Either may be NULL. */
bool enumeration_same(const struct enumeration *a, const struct enumeration *b);

#endif
