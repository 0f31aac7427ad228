/* Which rows of a table match a query, where components of it may be switched off: 64 of them at a
** time. Terms that are decided row by row are not looked at: see walk.h. */
#ifndef ECS_CORE_QUERY_QUERY_ROWS_H
#define ECS_CORE_QUERY_QUERY_ROWS_H

#include "core/base/base.h"

struct query_terms;
struct table;
struct term;

/* Whether a row has what a term asks for, as far as that depends on what is switched off; of a
** table that has the component. */
bool term_shows(const struct term *term, const struct table *table, uint32_t row);

/* The next rows, from a row on, that match and in which the same terms are there. Where nothing is
** off these are all that are left. *count is 0 at the end. */
uint32_t query_next_run(const struct query_terms *terms, const struct table *table, uint32_t from,
                        uint32_t *count);

/* Which of 64 rows of a table match, from row 64 * word on; nothing behind the last row. */
uint64_t query_rows_at(const struct query_terms *terms, const struct table *table, uint32_t word);

/* Whether rows that match may differ in which terms are there. */
bool query_varies(const struct query_terms *terms);

/* query_rows_at for all rows of a table, as many words as they take; for words from one on. */
void query_mark_rows(const struct query_terms *terms, const struct table *table, uint64_t *bits);
void query_mark_words(const struct query_terms *terms, const struct table *table, uint32_t from,
                      uint32_t words, uint64_t *bits);

/* Which rows of a table match: none, all, or some, in which either the same terms are there or
** not. */
enum table_rows { ROWS_NONE, ROWS_ALL, ROWS_SOME, ROWS_VARY };
enum table_rows query_table_rows(const struct query_terms *terms, const struct table *table);

/* Whether a row matches. */
bool query_takes_row(const struct query_terms *terms, const struct table *table, uint32_t row);

/* Whether a table's rows differ: all of them match else, with the terms that its columns say. */
bool query_splits(const struct query_terms *terms, const struct table *table);

/* Whether any of its tables that have rows does so. */
bool query_has_runs(const ecs_query *query);

/* How many rows of a table match. */
uint32_t query_count_rows(const struct query_terms *terms, const struct table *table);

#endif
