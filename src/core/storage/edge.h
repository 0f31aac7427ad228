/* The edges of the graph as those see them who follow them: graph.c makes them. */
#ifndef ECS_CORE_STORAGE_EDGE_H
#define ECS_CORE_STORAGE_EDGE_H

#include "core/storage/layout.h"

/* What kinds there are. */
#define EDGE_ADDS 1u         /* to the table with one id more, */
#define EDGE_TAKES 2u        /* or with one less */
#define EDGE_SLOW 4u         /* with either: the larger one is not plain */

/* The slot where an edge is looked for first. Relations have none, and the ids of components
** follow each other: they need no mixing. */
INLINE uint32_t edge_slot(ecs_id id, uint32_t mask) {
#ifdef ECS_CONSTANT_HASH
  id = 0;
#endif
  return (uint32_t)id & mask;
}

/* The slot of a table's edge for an id, or the free one where it would be. */
INLINE const struct edge *edge_find(const struct table *from, ecs_id id) {
  uint32_t at = edge_slot(id, from->edge_mask);
  const struct edge *edge = &from->edges[at];
  while (UNLIKELY(edge->id != id) && edge->table) {
    at = (at + 1) & from->edge_mask;
    edge = &from->edges[at];
  }
  return edge;
}

/* A table's edge for an id; one without a table when it has none. */
INLINE const struct edge *graph_edge(const struct table *from, ecs_id id) {
  const struct edge *near = &from->near_edge;
  return LIKELY(near->id == id) ? near : edge_find(from, id);
}

#endif
