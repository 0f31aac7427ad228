/* Looking into a grid: who is near a place. Distances are sqrt(dx*dx + dy*dy (+ dz*dz)), each step
** rounded to a double, as Lua computes them. */
#ifndef ECS_CORE_INDEX_SEARCH_H
#define ECS_CORE_INDEX_SEARCH_H

#include "core/index/grid.h"
#include "ecs_index.h"

/* The search for those no farther than `reach` from a place; for none with one below 0, or with
** what is no number. */
void search_begin(struct ecs_search *search, const struct grid *grid, const double *at,
                  double reach);

/* Comes to the rows from search->row to search->end of the next line, in cells that may have
** something in reach; false at the end. */
bool search_line(struct ecs_search *search);

/* The next row, by cells, then in the order of the query; NONE at the end. */
uint32_t search_next(struct ecs_search *search);

/* Whom to pass over, and what tells rows apart that are equally near. */
struct rivals {
  const ecs_id *entities;
  const uint32_t *order;
  ecs_id except;             /* ECS_NULL: nobody */
};

/* The nearest row no farther than `reach`, of several the first in the order of the query; NONE
** when there is none. Goes outward, and not through all that are in reach. */
uint32_t search_nearest(const struct grid *grid, const double *at, double reach,
                        const struct rivals *rivals, double *distance);

#endif
