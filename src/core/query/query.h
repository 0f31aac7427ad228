/* Queries: parsed terms, and the list of tables that match them, updated as tables come and go.
** Terms about ties and other entities are decided row by row, in walk.c. */
#ifndef ECS_CORE_QUERY_QUERY_H
#define ECS_CORE_QUERY_QUERY_H

#include "core/base/hash_map.h"
#include "core/storage/component.h"
#include "core/storage/table.h"

struct ecs_variable;
struct id_record;
struct lineup;
struct picks;

/* Terms: what a query asks for, once its text is parsed. */

enum term_kind { TERM_WITH, TERM_WITHOUT, TERM_OPTIONAL, TERM_OR };

/* Whose component a term is about. */
enum term_form {
  TERM_OWN,              /* the row's: Position */
  TERM_SPARSE,           /* the row's, in sparse storage */
  TERM_PAIR,             /* the row's tie: (Likes, Apples), (Likes, $food), (Likes, *) */
  TERM_PATH,             /* another entity's, along a path: ChildOf->World, Hunt.prey->Health */
  TERM_OF                /* that of a variable's value: Health($food) */
};

/* Which state of a component that can be switched off a term asks for. */
enum term_state { TERM_ON, TERM_OFF, TERM_ANY };

enum term_news { TERM_ALL, TERM_CHANGED, TERM_ADDED };

/* A value that terms share and that was not passed with the query. */
struct variable {
  ecs_string name;       /* in the query's text; empty for a `*` */
  uint32_t output;       /* its place among the values of a match; NONE if it is not one */
};

struct term {
  ecs_id id;             /* of the component; of a tie to a known target, the pair */
  struct component *component;
  enum term_form form;
  ecs_id target;         /* of a tie to a declared name; ECS_NULL: the variable's value */
  uint32_t variable;     /* of a tie or TERM_OF; otherwise NONE */
  bool binds;            /* the variable has no value before this term */
  struct component *through;   /* of a path: the relation, or the component with the field */
  ecs_id through_id;
  uint32_t through_leaf;       /* the field; NONE for a relation's target */
  bool cascade;                /* of a path along a relation: parents come first */
  bool nearest;                /* of a path: starts at the row itself (`*->`) */
  struct map known;            /* for `*->`, during a walk: where paths lead, by entity */
  enum term_kind kind;
  uint32_t group;        /* shared by the terms of A|B|C; otherwise NONE */
  uint32_t leaf;         /* of a single field (Position.x); NONE for the whole */
  uint32_t slot;         /* index into a match's columns; NONE if it yields nothing */
  bool read_only;
  bool filters;          /* `with`: it yields nothing */
  enum term_state state;
  enum term_news news;   /* about rows that are new since the query's last use: changes.h */
  struct picks *picks;
  bool toggled;          /* rows of a table may differ in whether they have it */
};

/* Whether there are cells to yield: for a tie, its values besides the target. */
static inline bool term_has_cells(const struct term *term, const struct component *component) {
  bool tie = term->form == TERM_PAIR && component->ties.exclusive && term->leaf == NONE;
  return component->leaf_count > tie;
}

/* The number of cells. */
static inline uint32_t term_cell_count(const struct term *term) {
  if (!term_has_cells(term, term->component)) return 0;
  return term->leaf == NONE ? term->component->leaf_count : 1;
}

/* Whether functions get a parameter for a term of a component with these fields: a view or value
** or, for an optional tag, a boolean. */
static inline bool term_gives(const struct term *term, const struct component *component) {
  if (term->kind == TERM_WITHOUT || term->filters) return false;
  return term_has_cells(term, component) || term->kind == TERM_OPTIONAL;
}

/* Whether what it yields may be absent. */
static inline bool term_may_lack(const struct term *term) {
  return term->slot != NONE && (term->kind == TERM_OPTIONAL || term->group != NONE);
}

/* Whether it is about a tie to a known target, which all rows of a table have or lack. */
static inline bool term_is_known(const struct term *term) {
  return term->form == TERM_PAIR && !term->component->ties.exclusive &&
         term->kind == TERM_WITH && term->target != ECS_NULL;
}

/* Whether it is about a component of the row itself. */
static inline bool term_is_own(const struct term *term) {
  return term->form == TERM_OWN || term->form == TERM_SPARSE;
}

/* Whether rows of one table differ in what the term finds. */
static inline bool term_is_by_row(const struct term *term) {
  return term->form != TERM_OWN && !term_is_known(term);
}

#define QUERY_STEPS 16         /* most terms that are decided row by row */
#define QUERY_VARIABLES 16

/* Begins with what every run reads. */
struct query_terms {
  uint32_t slots;        /* terms that yield something: a function's first parameters */
  uint32_t step_count;   /* 0: every row of a table matches */
  bool choices;          /* has terms that a table may lack */
  bool targets;          /* has terms for which term_is_known */
  bool toggled;          /* has toggled terms */
  bool changes;          /* has terms with :changed or :added */
  bool plain;            /* no targets, toggled, steps, event: each row of a table matches once */
  bool sources;          /* the first term is a tie by an exclusive relation: in that order */
  bool packed;           /* in the order of sparse rows: the first term is sparse */
  struct component *cascade;   /* of the first term that asks for parents first, or NULL */
  struct component *event;   /* the event whose rows it yields, which have no entities; or NULL */
  struct term *terms;
  uint32_t count;
  uint32_t capacity;
  uint32_t values;       /* number of values that each match yields after the entity */
  uint16_t steps[QUERY_STEPS];     /* terms that are decided row by row, in order */
  uint32_t variable_count;
  struct variable variables[QUERY_VARIABLES];
};

/* The term that yields a function's parameter of that number; NULL if there is none. */
static inline const struct term *query_term_of(const struct query_terms *terms, uint32_t slot) {
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].slot == slot) return &terms->terms[i];
  return NULL;
}

struct ecs_query {
  ecs_world *world;
  uint32_t *tables;               /* indices, in order if `arranged` equals graph.placings */
  uint64_t arranged;
  uint32_t *columns;              /* terms.slots for each match: first column, or NONE */
  uint32_t count;
  bool fresh;                     /* made for a migration that is not committed yet */
  bool broken;                    /* names a component that is no longer declared */
  bool dirty;                     /* has doomed tables */
  bool kept;                      /* owned by a system: ecs_query_free leaves it alone */
  bool shared;                    /* likewise: owned by the world, for all users of its text */
  uint64_t named;                 /* registry.version when query_is_shared last succeeded */
  struct query_terms terms;
  ecs_query *previous, *next;     /* all queries of the world, oldest first */
  void *owner;                    /* set by the host: whose query it is */
  char *text;
  size_t text_size;
  ecs_id key;                     /* an id that it cannot match without, or ECS_NULL */
  uint32_t capacity;
  uint32_t column_capacity;
  struct lineup *lineup;          /* the last order of its rows, if they have been lined up */
  uint64_t seen, kept_seen;       /* world.now when its last use ended; and the system's own */
  uint32_t uses;                  /* uses in progress */
  ecs_system *readers;            /* systems that read it, by next_reader */
  struct watch *watch;            /* the switched on observer that has it, or NULL */
};

/* Whether its matches are found by a walk, one by one. */
static inline bool terms_walk(const struct query_terms *terms) {
  return terms->step_count > 0 || terms->event;
}

/* Whether every row of its tables matches, once. */
static inline bool query_rows_are_whole(const struct query_terms *terms) {
  return !terms->step_count && !terms->event && !terms->toggled && !terms->changes;
}

/* Whether components are among the rows of its tables: despawning those is refused. */
bool query_reaches_components(const ecs_query *query);

/* The columns of a match, by slot; NULL if no term has any. */
static inline const uint32_t *query_columns(const ecs_query *query, uint32_t match) {
  uint32_t slots = query->terms.slots;
  return slots ? query->columns + (size_t)match * slots : NULL;
}

#define TERM_LIMIT 1024u

/* The table of a match. */
struct table *query_table(const ecs_query *query, uint32_t match);

/* Restores the order of its tables if that has changed. Must be called, as query_reach does, before
** the tables are visited; until then no table may get its first row. */
void query_arrange(const ecs_query *query);

/* The number of a term's first column in a match; NONE if the table lacks the component, or if it
** depends on the row. For a tag of the table, an arbitrary other number. */
static inline uint32_t term_column(const struct term *term, const struct table *table) {
  if (term_is_by_row(term)) return NONE;
  const struct layout *layout = table_find(table, term->id);
  if (layout->count == 0) return layout->taken ? 0 : NONE;
  uint32_t first = (uint32_t)(layout->columns - table->columns);
  return term->leaf == NONE ? first : first + term->leaf;
}

/* Whether a variable is a `*`. The second: whether a row matches once for each value that a term
** finds. */
bool variable_is_anonymous(const struct query_terms *terms, uint32_t variable);
bool term_repeats(const struct query_terms *terms, const struct term *term);

/* Records which terms are toggled. Returns whether that has changed. */
bool query_note_toggles(struct query_terms *terms);

/* Parses a query's text, to which terms and variables will point, so it must stay in place. `given`
** are variables with values. The message names what is wrong and the nearest name. */
ecs_status query_parse(ecs_world *world, ecs_string text, const struct ecs_variable *given,
                       uint32_t given_count, struct query_terms *out);

/* Decides which terms are decided row by row, and in which order; called once all terms are known,
** and again when storage changes, where only too many steps can fail. */
ecs_status query_order_steps(ecs_world *world, const ecs_string *text, struct query_terms *terms);
void query_terms_free(ecs_world *world, struct query_terms *terms);

/* Whether a term about another entity finds prefabs: a path along IsA does. */
bool query_sees_prefabs(const struct term *term);

/* Whether a table satisfies the terms; that of a prefab never does. */
bool query_terms_match(const struct query_terms *terms, const struct table *table);

/* The query that the world keeps for an owner, by its text. If it asks for changes, is about
** events, or the world already keeps too many, it is a new one that is not `shared`. */
ecs_status query_share(ecs_world *world, ecs_string text, const void *owner, ecs_query **out);
/* Whether a query is still shared; it no longer is once its text names something else. */
bool query_is_shared(ecs_query *query);

/* Frees a query, even if a system owns it. */
void query_free(ecs_query *query);

/* Counts the rows that match. If a row may match several times or not at all, it visits them, up to
** `most`: false if there are more. */
bool query_count_within(const ecs_query *query, size_t most, size_t *count);
/* As ecs_query_count, but not a use of the query. */
size_t query_count_all(const ecs_query *query);

/* As ecs_count, for a text with variables. */
ecs_status query_count_with(ecs_world *world, const char *text,
                            const struct ecs_variable *variables, uint32_t count, size_t *out);

/* The number of tables to visit: 0 if a given entity is dead. */
uint32_t query_reach(const ecs_query *query);

/* Whether none of its tables has rows; for a usable query that is not about events. */
bool query_is_barren(const ecs_query *query);

/* ECS_ENAME for a query that names a component no longer declared. */
ecs_status query_usable(const ecs_query *query);

/* ECS_EINVAL for a query about events, where entities are needed. */
ecs_status query_no_entities(const ecs_query *query);

/* Reserves room for `need` matches. The second: for more queries in an id's record. */
ecs_status query_room(ecs_query *query, uint64_t need);
ecs_status query_key_room(ecs_world *world, ecs_id key, uint32_t more,
                          struct id_record **out);

/* Adds a query again, in reserved room, after its world has exchanged all tables. */
void query_rejoin(ecs_query *query);

/* For new tables: first reserves in every query of a record that the table matches, then joins
** them. */
ecs_status query_join_reserve(const struct id_record *record, const struct table *table);
void query_join(const struct id_record *record, const struct table *table);
/* Forgets doomed tables and keeps the order of the others. */
void query_leave(ecs_query *query);

/* Ends the use of a query, or of every query that names the component. */
void query_retire(ecs_query *query);
void query_break(ecs_world *world, ecs_id component);

/* Updates slots and columns after components have changed their fields. The reserve looks at the
** components in the registry. */
ecs_status query_refresh_reserve(ecs_query *query);
void query_refresh(ecs_query *query);

/* Matches all tables again after components have changed their storage. */
ecs_status query_rearrange_reserve(ecs_query *query);
void query_rearrange(ecs_query *query);

#endif
