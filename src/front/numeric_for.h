/* Numeric for. */
#ifndef ECS_FRONT_NUMERIC_FOR_H
#define ECS_FRONT_NUMERIC_FOR_H

#include "front/rounds.h"

/* What it counts by. */
struct numeric {
  struct val init, limit, step;
};

/* Compiles the loop at the frame's pc and leaves pc behind it. */
void numeric_for(struct front *f, struct frame *frame);

/* A limit in a loop of integers, which Lua rounds towards the start: an integer, and the mask of
** whether there is such a loop at all, of what is not even beyond all integers. */
struct val numeric_limit(struct front *f, struct val limit, bool up, k_value *enters);
/* The integer that a round has, by the number of the round. */
k_value numeric_counter(struct loop *loop, const struct numeric *bounds, k_value round);
/* Sets the loop's variables to the number that a round has. */
void numeric_control(struct loop *loop, const struct numeric *bounds, k_value counter);

#endif
