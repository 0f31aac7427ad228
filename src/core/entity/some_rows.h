/* Moving many rows of a table at once, column by column. What comes out is the same as one by one,
** in the same order. */
#ifndef ECS_CORE_ENTITY_SOME_ROWS_H
#define ECS_CORE_ENTITY_SOME_ROWS_H

#include "core/storage/layout.h"

struct query_terms;

/* Whether every row of a query's tables matches, once. */
bool rows_are_whole(const struct query_terms *terms);

/* Whether some of a table's rows are of components, which have rows as entities have. */
bool rows_have_component(const struct table *table);

/* All rows of a table into another, which has room. Components that are left without any
** components go back to being bare. */
void rows_move_all(ecs_world *world, struct table *from, struct table *to);

/* Moves entities of one table, each once, to another one, where there is room, or, where that is
** NULL, takes them out of it; `places` has room for as many. Their ids are the caller's. */
void rows_move(ecs_world *world, struct table *from, struct table *to, const uint32_t *entities,
               uint32_t count, uint32_t *places);

#define ROWS_TOGETHER 256u     /* as many as callers list at a time */

/* Ends so many entities of one table at most, each once, in the order given. */
void rows_end(ecs_world *world, struct table *from, const uint32_t *entities, uint32_t count);

#endif
