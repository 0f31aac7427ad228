/* Whom rows look at in indexes, or are tied to: partners are rows of an index's copies, or indices
** of entities, in the order in which a loop comes to them. Reads the world, changes nothing, and
** runs no Lua. */
#ifndef ECS_RUNNER_PARTNERS_H
#define ECS_RUNNER_PARTNERS_H

#include "kernel/program.h"

struct ecs_index;

#define RUN_LISTS 8            /* of one program */
#define RUN_INDEXES 8          /* likewise */

enum list_kind {
  LIST_WITHIN,                 /* those no farther than a reach from a place; arguments: below */
  LIST_NEAREST,                /* one of them at most; PLACE_DISTANCE is then how far it is */
  LIST_EQUAL,                  /* those with a key */
  LIST_RANGE,                  /* those with keys between two, both included */
  LIST_LOWEST,                 /* so many with the lowest keys, an integer of at least 0; */
  LIST_HIGHEST,                /* with the highest */
  LIST_SOURCES,                /* those tied to an id by a relation; */
  LIST_TARGETS                 /* those whom it is tied to */
};

/* The arguments of the first two: a place of two or three numbers, the reach, whom to pass over;
** behind them is what is said of a row. */
enum { PLACE_X, PLACE_Y, PLACE_Z, PLACE_REACH, PLACE_EXCEPT, PLACE_DISTANCE };

struct run_list {
  enum list_kind kind;
  ecs_id relation;             /* of the last two; ECS_NULL: ChildOf, if there is one. Of others: */
  uint32_t index;              /* of the run's, */
  uint32_t axes;               /* which has so many */
  uint8_t keys[2];             /* what arguments are (enum key_kind): of texts the numbers that
                                  they have, of truths 0 or 1 */
};

/* A k_list over an index that is up to date. */
size_t partners_list(const struct ecs_index *index, const struct run_list *list,
                     const k_listing *listing, size_t n);

/* Whom rows go through by relations: as partners.h, whose items are indices of entities. */

/* A k_list of LIST_SOURCES or LIST_TARGETS. */
size_t partners_tied(const ecs_world *world, const struct run_list *list,
                     const k_listing *listing, size_t n);

#endif
