/* Queries, and iterating over their matches. */
#ifndef ECS_QUERY_H
#define ECS_QUERY_H

#include "ecs_types.h"
#include "ecs_value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Terms separated by commas: Position, !Frozen, Sprite?, Circle|Box, Position:in, Position.x, with
** Enemy, Position:changed. A query is cached: new tables join it when they are created. `:changed`
** and `:added` mean since the query was last counted, iterated over or changed as a whole; in the
** query of a system, since the system last ran. */
ECS_API ecs_status ecs_query_new(ecs_world *world, const char *text, ecs_query **out);

/* Also takes terms about ties and other entities, and the value, an entity or a component, of each
** $name that is given: (Likes, Apples), (Likes, $p), (Likes, *), ChildOf->World, ChildOf*->Faction,
** Hunt.prey->Health, Health($p). */
ECS_API ecs_status ecs_query_with(ecs_world *world, const char *text,
                                  const ecs_variable *variables, uint32_t count, ecs_query **out);
/* Close the query's iterations first. A system's own query is freed with the system: freeing it
** here does nothing. */
ECS_API void ecs_query_free(ecs_query *query);
/* 0 if the query names something that is no longer declared. */
ECS_API size_t ecs_query_count(const ecs_query *query);

/* Counts without creating a query. */
ECS_API ecs_status ecs_count(ecs_world *world, const char *text, size_t *out);

/* Change whole tables at once: add or remove a component, or despawn, for every row of a query.
** ECS_EBUSY inside scopes. ECS_EINVAL if an entity cannot change, for example because it has a
** component that requires the one to remove: others may have changed by then. */
ECS_API ecs_status ecs_query_add(ecs_query *query, ecs_id component);
ECS_API ecs_status ecs_query_remove(ecs_query *query, ecs_id component);
ECS_API ecs_status ecs_query_despawn(ecs_query *query);

typedef struct ecs_iter {
  ecs_query *query;
  size_t count;            /* rows, consecutive in a table */
  const uint32_t *rows;    /* their entities' indices, for ecs_iter_entity; NULL for events and
                           ** lists */
  uint32_t match;          /* the rest is private */
  uint32_t table;
  uint32_t first;
  uint32_t behind;
  uint32_t scope;
  bool open;
  struct passage *passage;
} ecs_iter;

/* An open iteration is a scope; close it even if you leave early. */
ECS_API ecs_status ecs_iter_open(ecs_query *query, ecs_iter *it);
ECS_API bool ecs_iter_next(ecs_iter *it);
ECS_API ecs_status ecs_iter_close(ecs_iter *it);
ECS_API ecs_id ecs_iter_entity(const ecs_iter *it, size_t row);

/* The column of the term's leaf (terms and leaves count from 0), it->count values long; NULL for a
** tag, a term with `with` or `!`, or an absent optional. It is 64-byte aligned and padded to 64
** bytes, unless the query has sparse terms or terms about ties or other entities: then the rows of
** a table come in runs, of one row where cells are not consecutive or a term has a value. Terms
** about only some rows of a table, such as AI:off and Position:changed, also give runs. Asking for
** a column counts as writing to all of it, unless the term is `:in`. */
ECS_API void *ecs_iter_column(const ecs_iter *it, uint32_t term, uint32_t leaf);

/* An ecs_iter_next for queries with sparse terms or terms about ties or other entities: gives at
** once up to 64 rows whose cells are all in the same tables, wherever in them; ecs_iter_column then
** gives NULL. For other queries it is ecs_iter_next. */
ECS_API bool ecs_iter_next_rows(ecs_iter *it);

/* The whole column that holds the term's leaf for these rows, and where: row i is at [rows[i]]. If
** the rows are consecutive, as in queries without such terms, `rows` is NULL and row i is at [i].
** Otherwise like ecs_iter_column. */
ECS_API void *ecs_iter_cells(const ecs_iter *it, uint32_t term, uint32_t leaf,
                             const uint32_t **rows);

/* What a `*`, or a variable without a given value, stands for in this run, counted from 0 in the
** order of the text; ECS_NULL for any other number. */
ECS_API ecs_id ecs_iter_value(const ecs_iter *it, uint32_t variable);

/* Whether the rows of this table have the term's component: the question for a tag with `?`, which
** has no column. False before the first table. */
ECS_API bool ecs_iter_has(const ecs_iter *it, uint32_t term);

#ifdef __cplusplus
}
#endif

#endif
