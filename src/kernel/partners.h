/* Whom rows look at in indexes: partners are rows of an index's copies, in the order in which a
** loop over the index comes to them. Reads the world, changes nothing, and runs no Lua. */
#ifndef ECS_KERNEL_PARTNERS_H
#define ECS_KERNEL_PARTNERS_H

#include "kernel/program.h"

struct ecs_index;

#define RUN_LISTS 8            /* of one program */
#define RUN_INDEXES 8          /* likewise */

enum list_kind {
  LIST_WITHIN,                 /* those no farther than a reach from a place; arguments: below */
  LIST_NEAREST                 /* one of them at most; PLACE_DISTANCE is then how far it is */
};

/* The arguments of both: a place of two or three numbers, the reach, and whom to pass over; behind
** them is what is said of a row. */
enum { PLACE_X, PLACE_Y, PLACE_Z, PLACE_REACH, PLACE_EXCEPT, PLACE_DISTANCE };

struct run_list {
  enum list_kind kind;
  uint32_t index;              /* of the run's, */
  uint32_t axes;               /* which has so many */
};

/* A k_list over an index that is up to date. */
size_t partners_list(const struct ecs_index *index, enum list_kind kind, const k_listing *listing,
                     size_t n);

#endif
