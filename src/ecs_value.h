/* Values of any type, and of variables in queries. */
#ifndef ECS_VALUE_H
#define ECS_VALUE_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ecs_kind {
  ECS_KIND_NONE, ECS_KIND_BOOL, ECS_KIND_INTEGER, ECS_KIND_NUMBER, ECS_KIND_STRING
} ecs_kind;

/* A value for a field: a default, or one from a script. Ids are integers, enum names are strings; a
** u64 of 2^63 or more is the integer with the same bits. */
typedef struct ecs_value {
  ecs_kind kind;
  bool boolean;
  int64_t integer;
  double number;
  ecs_string string;
} ecs_value;

/* The value, an entity or a component, of a $name in a query's text. */
typedef struct ecs_variable {
  const char *name;        /* without the $ */
  ecs_id value;
} ecs_variable;

#ifdef __cplusplus
}
#endif

#endif
