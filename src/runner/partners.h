/* Partners of rows: entities that they find in indexes or queries, or are tied to, and events. A
** partner is a row of an index's copies or of an event, or the index of an entity, in the order of
** a loop over them. Reads the world, changes nothing and runs no Lua. */
#ifndef ECS_RUNNER_PARTNERS_H
#define ECS_RUNNER_PARTNERS_H

#include "kernel/program.h"

struct ecs_index;

#define RUN_LISTS 8            /* of one program */
#define RUN_INDEXES 8          /* likewise */

enum list_kind {
  LIST_WITHIN,                 /* those within a distance of a position; arguments: below */
  LIST_NEAREST,                /* at most one of them; PLACE_DISTANCE then holds its distance */
  LIST_EQUAL,                  /* those with a key */
  LIST_RANGE,                  /* those with keys between two, both included */
  LIST_LOWEST,                 /* as many as given with the lowest keys: an integer, at least 0; */
  LIST_HIGHEST,                /* or with the highest */
  LIST_SOURCES,                /* those tied to an id by a relation; */
  LIST_TARGETS,                /* those that an id is tied to */
  LIST_ROWS,                   /* those that match a query, which each row matches at most once; */
  LIST_EVENTS,                 /* and the rows of an event: the same for all rows, no arguments */
  LIST_KEYS                    /* keys of a table that the function creates; argument: how many */
};

/* The arguments of the first two kinds: two or three coordinates, the distance, and what to skip;
** after them, what the search yields for a row. */
enum { PLACE_X, PLACE_Y, PLACE_Z, PLACE_REACH, PLACE_EXCEPT, PLACE_DISTANCE };

struct run_list {
  enum list_kind kind;
  ecs_id relation;             /* of ties; ECS_NULL: ChildOf, if it exists. Or the event */
  const ecs_query *query;      /* of LIST_ROWS, arranged */
  uint32_t index;              /* with an index: its number in the run, */
  uint32_t axes;               /* and its axes. LIST_KEYS: column and list, */
  const int64_t *given;        /* the keys, in the order in which they came, */
  uint32_t names, items;       /* and the room with which the table is created; */
  bool (*order)(const struct run_list *list, uint32_t count, uint32_t *places);   /* gives their
                               ** places, from 0, in the order of Lua's next; false if it cannot */
  void *ud;
  uint8_t keys[2];             /* kinds of the arguments (enum key_kind): strings as their numbers,
                               ** booleans as 0 or 1 */
};

/* A k_list of any kind; those up to LIST_HIGHEST have an index, which is up to date, others NULL.
** Partners by relations are indices of entities. */
size_t partners_list(const ecs_world *world, const struct ecs_index *index,
                     const struct run_list *list, const k_listing *listing, size_t n);

#endif
