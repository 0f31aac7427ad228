/* What a query with `:changed` or `:added` is about: rows that were written, or came, since it was
** used last. Which ones is settled when a use begins, so that what is written meanwhile changes no
** match; what is written until the use ends is its own, and no news for the next one. */
#ifndef ECS_CORE_QUERY_CHANGES_H
#define ECS_CORE_QUERY_CHANGES_H

#include "core/base/base.h"

struct picks;
struct query_terms;
struct table;
struct term;

/* Sees to it that marks are kept of what the query asks about, if it asks about any. They may begin
** when it is used first, which sees everything. ECS_ENOMEM. */
ecs_status changes_watch(ecs_query *query);

/* A use of the query begins; uses within it are about the same rows. ECS_ENOMEM: it does not. */
ecs_status changes_open(ecs_query *query);

/* It ends; what was written until now is known. */
void changes_close(ecs_query *query);

/* Ends all uses of all queries but the outermost one of a query, or NULL. */
void changes_close_all(ecs_world *world, const ecs_query *except);

/* A use that is over at once, and during which nothing was written. */
void changes_use(ecs_query *query);

/* To its next use what was marked after a run is news; after 0, everything. */
void changes_keep(ecs_query *query, uint64_t run);

/* Whether what it is about is settled just as long as it is in use, which takes a scope. */
bool changes_are_sound(const ecs_query *query);

/* For a term with news, once its query is made. */
ecs_status picks_new(ecs_world *world, struct term *term);
void picks_free(ecs_world *world, struct query_terms *terms);

/* Which of 64 rows of a table the term is about, from row 64 * word on: of the table that has, or
** keeps, its component. What is said of rows behind the last one means nothing. */
uint64_t picks_at(const struct term *term, const struct table *table, uint32_t word);

/* Takes rows away from the bits of some words' rows, from a word on: those that it is not about. */
void picks_narrow(const struct term *term, const struct table *table, uint32_t word,
                  uint32_t count, uint64_t *bits);

/* The first word, from one on, whose rows are not in a group that nobody has written to: it may be
** about some of these. As many as the table's rows take for none. */
uint32_t picks_next(const struct term *term, const struct table *table, uint32_t word);

/* Whether a row is one of them. */
bool picks_row(const struct term *term, const struct table *table, uint32_t row);

/* Whether the term is about all, or none, of a table's rows. */
bool picks_all(const struct term *term, const struct table *table);
bool picks_none(const struct term *term, const struct table *table);

#endif
