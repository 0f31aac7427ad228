/* Makes the k-th allocation of an operation fail, for every k, alone and with all that
** follow. After ECS_ENOMEM the world's digest is what it was, its invariants hold, and doing
** the operation again gives what a clean run gives; nothing leaks. */
#ifndef SPEC_SWEEP_H
#define SPEC_SWEEP_H

#include "fixture.h"

struct operation {
  const char *name;
  void (*prepare)(struct fixture *f);      /* before memory gets short */
  ecs_status (*act)(struct fixture *f);    /* one call that may fail */
  void (*finish)(struct fixture *f);       /* after it succeeded, or NULL */
  enum { ASKS, ASKS_NOTHING, TAKES_NEW_IDS } kind;   /* for memory; and, when done again,
                                                        gives ids of later generations */
};

/* An operation: a snapshot, restored at once. */
ecs_status keep_and_restore(struct fixture *f);

/* Two more: the world is saved to the one image that there is, and loaded from it. */
ecs_status save_image(struct fixture *f);
ecs_status load_image(struct fixture *f);

/* A line of TAP for each; the exit status of main. */
int run_sweeps(const struct operation *operations, size_t count);
#define RUN_SWEEPS(operations) \
  run_sweeps(operations, sizeof(operations) / sizeof *(operations))

#endif
