/* What a program shows of its notes before it runs, so that less has to be written down. */
#ifndef ECS_KERNEL_NOTE_PLAN_H
#define ECS_KERNEL_NOTE_PLAN_H

#include "kernel/program.h"

/* What a program shows of how rows come to a site. */
enum {
  NOTING_ONCE = 1,               /* no site is come to more than once in a block */
  NOTING_ALL = 2,                /* all rows come to it */
  NOTING_SAME = 4,               /* so do those that came to the one before it */
  NOTING_HELD = 8,               /* indexes and values stay where they are until all is done */
  NOTING_BOUND = 16              /* rows whose index is beside the array have failed before */
};
void notes_plan(const struct program *p, uint8_t *noting);

#endif
