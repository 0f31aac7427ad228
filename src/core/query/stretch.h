/* Stretches: rows of a table that lie together, whole groups of them (marks.h) but at its end, that
** a query about what has changed goes through. Rows between them are in groups that nobody has
** written to, and do not match. Of other queries all rows are one stretch. */
#ifndef ECS_CORE_QUERY_STRETCH_H
#define ECS_CORE_QUERY_STRETCH_H

#include "core/base/base.h"

struct query_terms;
struct table;
struct term;

struct row_stretch {
  uint32_t row, count;         /* without any: none, before the first one */
  uint32_t next;               /* the word that the next one begins with; 0: not known */
};

/* Goes on to a table's next stretch; false when there is none. */
bool stretch_next(const struct query_terms *terms, const struct table *table,
                  struct row_stretch *stretch);

/* The first word of 64 rows, from one on, that is in a stretch; all that there are for none. */
uint32_t stretch_next_word(const struct query_terms *terms, const struct table *table,
                           uint32_t word);

/* Whether all rows of a table's stretches match, of a query about what has changed. */
bool stretches_are_full(const struct query_terms *terms, const struct table *table);

/* Whether a table's rows may differ in what a term that is not decided row by row asks for. */
bool term_splits(const struct term *term, const struct table *table);

#endif
