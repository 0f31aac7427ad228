/* Queries: parsed terms, and the list of tables that match them, kept up to date as tables
** come and go. Terms about an entity's ties, and about other entities, are for walk.h to decide,
** row by row. */
#ifndef ECS_CORE_QUERY_QUERY_H
#define ECS_CORE_QUERY_QUERY_H

#include "core/storage/layout.h"
#include "core/query/term.h"

struct ecs_variable;
struct id_record;

#define TERM_LIMIT 1024u

/* The table of a match. */
struct table *query_table(const ecs_query *query, uint32_t match);

/* Puts its tables in order, when they have got other places since. Whoever begins to go through
** them does so, as query_reach does; while somebody does, none gets its first row. */
void query_arrange(const ecs_query *query);

/* What a match has for a term's slot: the number of its first column, NONE where the table lacks
** the component, or where it depends on the row. For a tag that the table has: any number, as it
** has no column. */
static inline uint32_t term_column(const struct term *term, const struct table *table) {
  if (term_is_by_row(term)) return NONE;
  const struct layout *layout = table_find(table, term->id);
  if (layout->count == 0) return layout->taken ? 0 : NONE;
  uint32_t first = (uint32_t)(layout->columns - table->columns);
  return term->leaf == NONE ? first : first + term->leaf;
}

/* Whether a variable is a `*`; whether a row matches once for each value that a term finds. */
bool variable_is_anonymous(const struct query_terms *terms, uint32_t variable);
bool term_repeats(const struct query_terms *terms, const struct term *term);

/* Notes which terms are toggled; whether one has come to be so, or has ceased to be. */
bool query_note_toggles(struct query_terms *terms);

/* Reads a query's text, which terms and variables point into: it stays where it is. `given` are
** variables that have values. The message names what is wrong and the nearest name. */
ecs_status query_parse(ecs_world *world, ecs_string text, const struct ecs_variable *given,
                       uint32_t given_count, struct query_terms *out);

/* Once all terms are known, and again when components are kept otherwise, which fails by too many
** steps alone: what is decided row by row, and in which order (query_steps.c). */
ecs_status query_order_steps(ecs_world *world, const ecs_string *text, struct query_terms *terms);
void query_terms_free(ecs_world *world, struct query_terms *terms);

/* Whether a term that is about another entity finds prefabs: a path along IsA does. */
bool query_sees_prefabs(const struct term *term);

/* Whether a table satisfies the terms; one of prefabs never does. */
bool query_terms_match(const struct query_terms *terms, const struct table *table);

/* Frees a query that is a system's, too. */
void query_free(ecs_query *query);

/* ecs_query_count, which is no use of it. */
size_t query_count_all(const ecs_query *query);

/* ecs_count of a text with variables. */
ecs_status query_count_with(ecs_world *world, const char *text,
                            const struct ecs_variable *variables, uint32_t count, size_t *out);

/* How many tables to go through: none when somebody that it names is dead. */
uint32_t query_reach(const ecs_query *query);

/* Whether none of these has rows: of a query that is usable, and not about events. */
bool query_is_barren(const ecs_query *query);

/* ECS_ENAME for a query that names a component no longer declared. */
ecs_status query_usable(const ecs_query *query);

/* ECS_EINVAL for a query about events, where entities are meant. */
ecs_status query_no_entities(const ecs_query *query);

/* Room for `need` matches, and for more queries in an id's record. */
ecs_status query_room(ecs_query *query, uint64_t need);
ecs_status query_key_room(ecs_world *world, ecs_id key, uint32_t more,
                          struct id_record **out);

/* Enters a query whose world has exchanged all its tables; there is room. */
void query_rejoin(ecs_query *query);

/* For tables that come and go: reserve in every query of a record that the new table matches, then
** join them. */
ecs_status query_join_reserve(const struct id_record *record, const struct table *table);
void query_join(const struct id_record *record, const struct table *table);
/* Forgets doomed tables, keeping the order of the others. */
void query_leave(ecs_query *query);

/* Ends the use of a query, or of every one that names the component. */
void query_retire(ecs_query *query);
void query_break(ecs_world *world, ecs_id component);

/* After components have changed their fields: slots and columns anew. The reserve looks at
** the components that the registry shows. */
ecs_status query_refresh_reserve(ecs_query *query);
void query_refresh(ecs_query *query);

/* The same when components are kept otherwise, so that other tables may match. */
ecs_status query_rearrange_reserve(ecs_query *query);
void query_rearrange(ecs_query *query);

#endif
