/* Which way a function takes through its instructions: where it jumps back to, and what of its
** registers is still needed there. */
#ifndef ECS_FRONT_FLOW_H
#define ECS_FRONT_FLOW_H

#include "front/bytecode.h"

/* Finds the loops of a function that jumps back, but for those of `for` alone, and what
** is needed where: function->flow, NULL when there are none. False when out of memory. */
bool flow_find(struct function_code *function);
void flow_free(struct function_code *function);

/* Behind the last instruction of the loop that an instruction begins; 0 when it begins none. */
uint32_t flow_loop(const struct function_code *function, uint32_t pc);

/* Whether what a register holds is taken from an instruction on, which may be the end. Only where
** there are loops. */
bool flow_needs(const struct function_code *function, uint32_t pc, uint32_t at);

#endif
