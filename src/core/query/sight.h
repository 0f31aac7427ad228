/* What an observer is called for: the matches that have come or gone, one after the other. */
#ifndef ECS_CORE_QUERY_SIGHT_H
#define ECS_CORE_QUERY_SIGHT_H

#include "core/query/walk.h"

struct column;
struct watch;

/* ecs_sight */
struct ecs_sight {
  const ecs_world *world;
  struct watch *watch;
  ecs_id entity;
  const ecs_id *values;          /* of the query's variables */
  const uint32_t *places;        /* of copies, by slot; NULL: the match is there */
  uint32_t span;                 /* what it has come to, among those of the watch, */
  uint32_t change;               /* among the changes in their order, */
  uint32_t sighting;             /* and among the watch's sightings */
  bool inside;                   /* the entity may match once more */
  bool moved;                    /* the changes are rows that moved, and nothing more is to be asked
                                 ** than whether they match */
  struct walk walk;
};

/* Where cells are; no columns for a tag, and no table for copies. */
struct sight_cells {
  const struct table *table;
  const struct column *columns;
  uint32_t row;
  bool there;
};

/* Before the first one. Until the last one no row moves. */
void sight_begin(struct ecs_sight *sight, const ecs_world *world, struct watch *watch);

/* The next one; false at the end. */
bool sight_next(struct ecs_sight *sight);

/* What the match has, or had, for a term that gives something. */
struct sight_cells sight_find(const struct ecs_sight *sight, const struct term *term);

/* The n-th value that goes with the match. */
ecs_id sight_value(const struct ecs_sight *sight, uint32_t n);

#endif
