/* Integers that meet floats. */
#ifndef ECS_FRONT_MIXED_H
#define ECS_FRONT_MIXED_H

#include "front/front.h"

/* What bounds integers: 1 + n for those from -2^n to 2^n. */
#define MIXED_EXACT 54   /* floats can tell them apart, */
#define MIXED_SMALL 32   /* and what is calculated with some of them, too */

/* Whether an integer from outside is so small; it is guarded to stay so, or not to be. */
bool mixed_is_small(int64_t integer);
/* What bounds an integer (val.bits): one in a field of a type; any value, a literal, too;
** one of two; the result of an operation. */
uint8_t mixed_bits_of(ecs_type type);
uint8_t mixed_bits(struct val x);
uint8_t mixed_bits_either(struct val x, struct val y);
uint8_t mixed_bits_result(k_op op, struct val x, struct val y);
/* Whether a float that is to stand for the integers that x may be may have to be rounded. */
bool mixed_rounds(const struct front *f, struct val x);
/* Whether what it is as a float is the same number, whichever it is to Lua. */
bool mixed_is_exact(const struct front *f, struct val x);
/* The mask where a number is an integer to Lua; K_NONE: unknown. */
k_value mixed_whole(struct front *f, struct val x);
/* What these make of x in the rows of the mask and y elsewhere: whether it is mixed, and how. */
void mixed_join(struct front *f, k_value mask, struct val x, struct val y, struct val *joined);
/* Any value as what tells integers apart takes it: rows in which it was rounded fail. */
struct val mixed_settle(struct front *f, struct val x);
/* Whether an operation on them is one on integers in some rows and one on floats in others. */
bool mixed_meets(const struct front *f, struct val x, struct val y);
/* Whether it is mixed, and known where it is an integer. */
bool mixed_known(struct val x);
/* x (op) y, of +, - and *, where they meet so, and of // and % where it is known; -x of one known,
** and math.abs(x) of a mixed one. */
struct val mixed_binary(struct front *f, k_op op, struct val x, struct val y);
struct val mixed_negate(struct front *f, struct val x);
struct val mixed_absolute(struct front *f, struct val x);

#endif
