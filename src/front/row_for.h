/* Numeric for whose rounds differ from row to row, or that counts by floats. */
#ifndef ECS_FRONT_ROW_FOR_H
#define ECS_FRONT_ROW_FOR_H

#include "front/numeric_for.h"

/* Compiles it; its head, end and control are set. */
void row_for(struct front *f, struct frame *frame, struct loop *loop,
             const struct numeric *bounds);

#endif
