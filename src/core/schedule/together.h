/* Systems of a phase that run side by side. */
#ifndef ECS_CORE_SCHEDULE_TOGETHER_H
#define ECS_CORE_SCHEDULE_TOGETHER_H

#include "core/schedule/beside.h"
#include "ecs_system.h"

struct tempo;

struct together {
  struct side sides[BESIDE_MOST];
  uint32_t places[BESIDE_MOST];    /* among those of the phase that runs */
  uint32_t count, ended;
  uint64_t work;
  uint64_t ticks;                  /* that all of them took */
  ecs_run_fn run[BESIDE_MOST];     /* what the systems are called by otherwise */
};

/* Whether some of the phase that runs may be worth it; each is noted not to have run so yet. */
bool together_is_worth(const ecs_world *world, const struct tempo *tempo);

/* From a place of the phase that runs on: takes as many systems as can run side by side, and runs
** them if that is worth it. Returns the place behind them. All up to there are to be stepped, what
** each does being done already; none will fail. Of a batch of 0 nothing is done. */
uint32_t together_begin(ecs_world *world, uint32_t from, const struct tempo *tempo,
                     struct together *batch);
void together_end(ecs_world *world, struct together *batch);

#endif
