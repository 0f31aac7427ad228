/* Loops that jump back: while, repeat, goto. */
#ifndef ECS_FRONT_ROW_LOOP_H
#define ECS_FRONT_ROW_LOOP_H

#include "front/front.h"

/* Whether the frame's pc begins a loop that is not open. */
bool row_loop_begins(const struct frame *frame);
/* Whether rows may jump back to an instruction, since the loop that it begins is open. */
bool row_loop_is_open(const struct frame *frame, uint32_t target);
/* Compiles the loop at the frame's pc and leaves pc behind it. */
void row_loop(struct front *f, struct frame *frame);

/* How many rounds of a loop rows do before Lua goes on with them. */
k_value row_loop_rounds(struct front *f);
/* Gives up the rows that are here, which have done so many, and are here no more. */
void row_loop_give_up(struct front *f);

#endif
