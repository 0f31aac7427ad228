/* The rows that match a query with `:changed` or `:added`: those written, or added, since its last
** use. They are fixed when a use begins, so that writes during it change no match. What is written
** until it ends counts as its own and is not new to the next use. */
#ifndef ECS_CORE_QUERY_CHANGES_H
#define ECS_CORE_QUERY_CHANGES_H

#include "core/base/base.h"

struct query_terms;
struct table;
struct term;

/* Makes sure that marks are kept for what the query asks about, if it asks. They may begin at its
** first use, which then sees everything. ECS_ENOMEM. */
ecs_status changes_watch(ecs_query *query);

/* Begins a use of the query; uses inside it see the same rows. ECS_ENOMEM: it has not begun. */
ecs_status changes_open(ecs_query *query);

/* Ends a use; everything written so far is known to it. */
void changes_close(ecs_query *query);

/* Ends all uses of all queries, except the outermost use of one query unless that is NULL. */
void changes_close_all(ecs_world *world, const ecs_query *except);

/* A use that ends at once, without any writes. */
void changes_use(ecs_query *query);

/* Makes the next use see what was marked after a run; after 0, everything. */
void changes_keep(ecs_query *query, uint64_t run);

/* Whether the picks are fixed exactly while the query is in use, inside a scope. */
bool changes_are_sound(const ecs_query *query);

/* Make and free the picks of a term, once its query exists. */
ecs_status picks_new(ecs_world *world, struct term *term);
void picks_free(ecs_world *world, struct query_terms *terms);

/* A bit for each of 64 rows of a table from row 64 * word on: whether the term is about it. The
** table holds its component. Bits after the last row are undefined. */
uint64_t picks_at(const struct term *term, const struct table *table, uint32_t word);

/* Clears the bits of rows that the term is not about, in `count` words from `word` on. */
void picks_narrow(const struct term *term, const struct table *table, uint32_t word,
                  uint32_t count, uint64_t *bits);

/* The first word, from `word` on, that has rows in a group that was written to; the number of words
** if there is none. */
uint32_t picks_next(const struct term *term, const struct table *table, uint32_t word);

/* Whether the term is about a row. */
bool picks_row(const struct term *term, const struct table *table, uint32_t row);

/* Whether the term is about none of a table's rows. */
bool picks_none(const struct term *term, const struct table *table);

#endif
