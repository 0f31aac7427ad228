/* The functions of Lua's libraries that kernels know. */
#ifndef ECS_FRONT_LIBRARIES_H
#define ECS_FRONT_LIBRARIES_H

#include "front/front.h"

enum math_name {
  MATH_ABS, MATH_CEIL, MATH_FLOOR, MATH_SQRT, MATH_EXP, MATH_LOG, MATH_SIN, MATH_COS,
  MATH_TAN, MATH_ASIN, MATH_ACOS, MATH_ATAN, MATH_FMOD, MATH_MIN, MATH_MAX, MATH_ULT,
  MATH_MODF, MATH_ATAN2, MATH_TOINTEGER, MATH_TYPE, MATH_DEG, MATH_RAD,
  TEXT_SUB /* string.sub */, MATH_KNOWN,
  /* not compiled */
  MATH_RANDOM = MATH_KNOWN, MATH_RANDOMSEED, MATH_POW, MATH_LOG10,
  /* of Lua 5.2 */
  MATH_OLD, MATH_COSH = MATH_OLD, MATH_SINH, MATH_TANH, MATH_FREXP, MATH_LDEXP,
  /* of the base library */
  BASE_ASSERT, BASE_ERROR, BASE_IPAIRS, BASE_PAIRS,
  /* of the table library */
  TABLE_INSERT, TABLE_REMOVE, TABLE_SORT,
  /* of ecs.math, in the order of their names */
  OWN_ACOS, OWN_ASIN, OWN_ATAN, OWN_COS, OWN_EXP, OWN_LOG, OWN_LOG10, OWN_LOG2, OWN_MOD, OWN_POW,
  OWN_SIN, OWN_TAN, MATH_COUNT
};

/* Calls one of these, up to TEXT_SUB or of ecs.math; refuses others. Returns the number of
** results. */
uint32_t library_call(struct front *f, uint32_t name, const struct val *arguments, uint32_t count,
                      struct val results[2]);

/* The function to call: for table.insert, remove and sort on a list that the function creates, a
** Lua function instead, except for appending. */
struct val list_call(struct front *f, struct val function, const struct val *arguments,
                     uint32_t count);

#endif
