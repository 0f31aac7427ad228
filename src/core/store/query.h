/* Queries: parsed terms, and the list of tables that match them, kept up to date as tables
** come and go. */
#ifndef ECS_CORE_STORE_QUERY_H
#define ECS_CORE_STORE_QUERY_H

#include "core/store/table.h"

struct id_record;

enum term_kind { TERM_WITH, TERM_WITHOUT, TERM_OPTIONAL, TERM_OR };

struct term {
  ecs_id id;
  struct component *component;
  enum term_kind kind;
  uint32_t group;        /* terms of one A|B|C share it; NONE otherwise */
  uint32_t leaf;         /* a single field's term (Position.x); NONE for the whole */
  uint32_t slot;         /* index into a match's columns; NONE for what gives nothing */
  bool read_only;
  bool filters;          /* `with`: it gives nothing */
};

/* Whether a function is given something for a term of a component with these fields: a view or
** value, or, for an optional tag, a truth. */
static inline bool term_gives(const struct term *term, const struct component *component) {
  if (term->kind == TERM_WITHOUT || term->filters) return false;
  return component->leaf_count || term->kind == TERM_OPTIONAL;
}

/* What a match has for a term's slot: the number of its first column, NONE where the table lacks
** the component. For a tag that the table has: any number, as it has no column. */
static inline uint32_t term_column(const struct term *term, const struct table *table) {
  const struct layout *layout = table_find(table, term->id);
  if (layout->count == 0) return layout->taken ? 0 : NONE;
  uint32_t first = (uint32_t)(layout->columns - table->columns);
  return term->leaf == NONE ? first : first + term->leaf;
}

struct query_terms {
  struct term *terms;
  uint32_t count;
  uint32_t capacity;
  uint32_t slots;        /* terms that give something: a function's first parameters */
  bool choices;          /* has terms that a table may lack */
};

/* Reads a query's text. The message names what is wrong and the nearest name. */
ecs_status query_parse(ecs_world *world, const char *text, size_t size,
                       struct query_terms *out);
void query_terms_free(ecs_world *world, struct query_terms *terms);

/* Whether a table satisfies the terms. */
bool query_terms_match(const struct query_terms *terms, const struct table *table);

struct ecs_query {
  ecs_world *world;
  ecs_query *previous, *next;     /* all queries of the world, oldest first */
  void *owner;                    /* for the host: whose query it is */
  char *text;
  size_t text_size;
  struct query_terms terms;
  bool fresh;                     /* made for a migration that is not committed yet */
  bool broken;                    /* names a component that is no longer declared */
  bool dirty;                     /* has doomed tables */
  bool kept;                      /* a system's: ecs_query_free leaves it */
  ecs_id key;                     /* an id it cannot match without, or ECS_NULL */
  uint32_t *tables;               /* indices, in the order the tables were made */
  uint32_t *columns;              /* terms.slots for each match: first column or NONE */
  uint32_t count;
  uint32_t capacity;
  uint32_t column_capacity;
};

/* Frees a query that is a system's, too. */
void query_free(ecs_query *query);

/* Counts without making a query. */
ecs_status query_count_text(ecs_world *world, const char *text, size_t size, size_t *out);

/* ECS_ENAME for a query that names a component no longer declared. */
ecs_status query_usable(const ecs_query *query);

/* Room for `need` matches, and for more queries in an id's record. */
ecs_status query_room(ecs_query *query, uint64_t need);
ecs_status query_key_room(ecs_world *world, ecs_id key, uint32_t more,
                          struct id_record **out);

/* Enters a query whose world has exchanged all its tables; there is room. */
void query_rejoin(ecs_query *query);

/* Visits its tables in the order in which the world now has them. */
void query_reorder(ecs_query *query);

/* For tables that come and go: reserve in every query that the new table matches, then
** join them. */
ecs_status query_join_reserve(ecs_world *world, const struct table *table);
void query_join(ecs_world *world, const struct table *table);
/* Forgets doomed tables, keeping the order of the others. */
void query_leave(ecs_query *query);

/* Ends the use of a query, or of every one that names the component. */
void query_retire(ecs_query *query);
void query_break(ecs_world *world, ecs_id component);

/* After components have changed their fields: slots and columns anew. The reserve looks at
** the components that the registry shows. */
ecs_status query_refresh_reserve(ecs_query *query);
void query_refresh(ecs_query *query);

static inline const uint32_t *query_columns(const ecs_query *query, uint32_t match) {
  uint32_t slots = query->terms.slots;
  return slots ? query->columns + (size_t)match * slots : NULL;
}

#endif
