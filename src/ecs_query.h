/* Queries, and going through what matches them. */
#ifndef ECS_QUERY_H
#define ECS_QUERY_H

#include "ecs_types.h"
#include "ecs_value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Terms separated by commas: Position, !Frozen, Sprite?, Circle|Box, Position:in,
** Position.x, with Enemy, Position:changed. A query is cached: new tables join it when they are
** made. What has changed has done so since it was used last: counted, iterated over, or all of it
** changed; for the query of a system, since that ran. */
ECS_API ecs_status ecs_query_new(ecs_world *world, const char *text, ecs_query **out);

/* Terms about ties and about others, with the value of each $name that is given, an entity or a
** component: (Likes, Apples), (Likes, $p), (Likes, *), ChildOf->World, ChildOf*->Faction,
** Hunt.prey->Health, Health($p). */
ECS_API ecs_status ecs_query_with(ecs_world *world, const char *text,
                                  const ecs_variable *variables, uint32_t count, ecs_query **out);
/* A system's own query goes with the system: to free that one does nothing. Iterations of any
** other are closed before. */
ECS_API void ecs_query_free(ecs_query *query);
/* 0 when it names what is no longer declared. */
ECS_API size_t ecs_query_count(const ecs_query *query);

/* Counts without making a query. */
ECS_API ecs_status ecs_count(ecs_world *world, const char *text, size_t *out);

/* Whole tables at once: add or remove a component, or despawn, every row of a query. ECS_EBUSY
** inside scopes. ECS_EINVAL when an entity refuses it, as one does that has what requires the
** component that is to go: others may have changed then. */
ECS_API ecs_status ecs_query_add(ecs_query *query, ecs_id component);
ECS_API ecs_status ecs_query_remove(ecs_query *query, ecs_id component);
ECS_API ecs_status ecs_query_despawn(ecs_query *query);

typedef struct ecs_iter {
  ecs_query *query;
  size_t count;            /* rows that lie together in a table */
  const uint32_t *rows;    /* their entities' indices: ecs_iter_entity; NULL of events and lists */
  uint32_t match;          /* the rest is private */
  uint32_t table;
  uint32_t first;
  uint32_t behind;
  uint32_t scope;
  bool open;
  struct passage *passage;
} ecs_iter;

/* An open iteration is a scope; close it also when leaving early. */
ECS_API ecs_status ecs_iter_open(ecs_query *query, ecs_iter *it);
ECS_API bool ecs_iter_next(ecs_iter *it);
ECS_API ecs_status ecs_iter_close(ecs_iter *it);
ECS_API ecs_id ecs_iter_entity(const ecs_iter *it, size_t row);

/* The column of the term's leaf (terms and leaves count from 0), it->count values long; NULL for a
** tag, a term behind `with` or `!`, or an absent optional. It is 64-byte aligned and padded to 64
** bytes, unless the query has terms about ties or others, or sparse ones: then the rows of a table
** come in runs, of one row where their cells do not lie together, or where there is a value; so
** they do of terms that are about some rows of a table only, as AI:off and Position:changed. To ask
** for a column counts as writing to all of it, unless the term is `:in`. */
ECS_API void *ecs_iter_column(const ecs_iter *it, uint32_t term, uint32_t leaf);

/* For ecs_iter_next where terms are about ties or others, or sparse: as many rows at once, up
** to 64, as have all their cells in the same tables, wherever they lie there; ecs_iter_column gives
** NULL then. For other queries it is ecs_iter_next. */
ECS_API bool ecs_iter_next_rows(ecs_iter *it);

/* The whole column in which the rows have the term's leaf, and where in it: that of row i is at
** [rows[i]]. Where all rows lie together, as those of queries that have no such terms do, `rows` is
** NULL: then it is at [i]. Else as ecs_iter_column. */
ECS_API void *ecs_iter_cells(const ecs_iter *it, uint32_t term, uint32_t leaf,
                             const uint32_t **rows);

/* What a `*`, or a variable that was not given, is in this run: counted from 0 in the order of the
** text, ECS_NULL for others. */
ECS_API ecs_id ecs_iter_value(const ecs_iter *it, uint32_t variable);

/* Whether the rows of this table have the term's component: what a tag with `?`, which has no
** column, is asked for. False before the first table. */
ECS_API bool ecs_iter_has(const ecs_iter *it, uint32_t term);

#ifdef __cplusplus
}
#endif

#endif
