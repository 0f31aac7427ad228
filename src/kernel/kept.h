/* Rows that a program of one command has marked, kept until it has run over all tables: then they
** change at once where that means nothing but rows to move, and are staged one by one else. What is
** kept belongs to the only scope that is open. */
#ifndef ECS_KERNEL_KEPT_H
#define ECS_KERNEL_KEPT_H

#include "kernel/run.h"

struct memory;
struct some_rows;

struct kept {
  uint64_t epoch;              /* of the scope; 0, or an earlier one: nothing is kept */
  struct run_command command;  /* what is to become of all of them */
  struct some_rows *list;      /* table by table, with their bits one behind the other */
  uint32_t count, capacity;
  uint64_t *bits;
  uint32_t words, word_capacity;
};

/* Before a run over all tables, behind which kept_end follows unless the scope is cancelled. Keeps
** nothing within other scopes. */
void kept_begin(struct kept *kept, const ecs_world *world);

/* Keeps what a run has marked in a match's table; false when it is to be staged. */
bool kept_take(struct kept *kept, const struct run *run, uint32_t match, const uint64_t *bits);

/* Stages what is kept, before anybody else gives commands; changes it at once at the end of a run.
** With an error the scope is to be cancelled. */
ecs_status kept_stage(struct kept *kept, ecs_world *world);
ecs_status kept_end(struct kept *kept, ecs_world *world);

void kept_free(struct memory *memory, struct kept *kept);

#endif
