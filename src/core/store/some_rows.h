/* Adding a component to many entities, removing it, or despawning them, where that means nothing
** but rows to move: table by table and column by column. What comes out is the same as one by one,
** in the same order. */
#ifndef ECS_CORE_STORE_SOME_ROWS_H
#define ECS_CORE_STORE_SOME_ROWS_H

#include "core/store/layout.h"

struct query_terms;
struct write;

enum rows_change { ROWS_ADD, ROWS_REMOVE, ROWS_DESPAWN };

/* Rows of one table: those whose bits are set, none of them behind the last row, or all where there
** are no bits. */
struct some_rows {
  uint32_t table;
  const uint64_t *bits;
};

/* Whether it means no more: nothing is tied, required, or kept outside of tables, and nothing is
** waiting that observers are to be told with it, or before.
** `id` is that of a component or pair; no matter for a despawn. */
bool rows_are_plain(const ecs_world *world, enum rows_change change, ecs_id id);

/* The same of what a query has: every row of its tables matches, once. */
bool rows_are_whole(const struct query_terms *terms);

/* Changes rows of different tables; none of them is a component's, if they are to die (see
** rows_have_component). Observers are to be told then, when the scope ends. ECS_ENOMEM, ECS_ELIMIT:
** nothing has changed. */
ecs_status rows_change(ecs_world *world, enum rows_change change, ecs_id id,
                       const struct some_rows *list, uint32_t count);

/* Writes cells of a component, the same ones in all rows that a query has, which is whole. False
** when that is not for columns alone: entities lack it, somebody is told, or more than one scope is
** open, or something is staged; then nothing is written. */
bool rows_fill(const ecs_query *query, const struct component *component,
               const struct write *writes, uint32_t count);

/* The same outside of scopes, where entities may lack it: it comes to them. False also where there
** is no memory for that. */
bool rows_give(ecs_query *query, const struct component *component, const struct write *writes,
               uint32_t count);

/* Whether some of a table's rows are of components, which have rows as entities have. */
bool rows_have_component(const struct table *table);

/* Moves entities of one table, each once, to another one, where there is room, or, where that is
** NULL, takes them out of it; `places` has room for as many. Their ids are the caller's. */
void rows_move(ecs_world *world, struct table *from, struct table *to, const uint32_t *entities,
               uint32_t count, uint32_t *places);

#define ROWS_TOGETHER 256u     /* as many as callers list at a time */

/* Ends so many entities of one table at most, each once, in the order given. */
void rows_end(ecs_world *world, struct table *from, const uint32_t *entities, uint32_t count);

#endif
