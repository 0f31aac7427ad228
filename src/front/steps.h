/* What rows do to cells that are not their own: elements of the world's arrays, fields of resources
** and of the entities that a path of the query leads to. */
#ifndef ECS_FRONT_STEPS_H
#define ECS_FRONT_STEPS_H

#include "front/front.h"

/* A number read from the element of an array at an index is that element; the number that an
** operation has made of two is a step on it, if one of them was. */
struct val steps_element(struct front *f, struct val number, struct val array, k_value index);
struct val steps_step(struct front *f, struct val result, k_step step, struct val x, struct val y);
/* x in the rows of one mask, `yes`, and y in those of another, `no`, is x or y where the one is of
** the rows in which x, an element, is true, and the other of those in which it is not; or x and y
** where it is the other way round. */
struct val steps_choice(struct front *f, struct val result, struct fork rows, struct val x,
                        struct val y);
/* The value of a field of a resource. */
struct val steps_field(struct front *f, struct val value, struct val field);
/* The value of a column whose cells are others'. */
struct val steps_other(struct front *f, struct val value, uint32_t column);
void steps_store_other(struct front *f, uint32_t column, struct val value);
/* Stores into the element of an array, or a resource's field, for the rows that are here. */
void steps_store(struct front *f, struct val array, struct val index, struct val value);
void steps_store_field(struct front *f, struct val field, struct val value);
/* Refuses a function that looks at what it writes so. */
NORETURN int steps_refuse_shared(struct front *f);

#endif
