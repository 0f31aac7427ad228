/* Queries: parsed terms, and the list of tables that match them, kept up to date as tables
** come and go. Terms about an entity's ties, and about other entities, are for walk.h to decide,
** row by row. */
#ifndef ECS_CORE_QUERY_QUERY_H
#define ECS_CORE_QUERY_QUERY_H

#include "core/base/hash_map.h"
#include "core/storage/component.h"
#include "core/storage/table.h"

struct ecs_variable;
struct id_record;
struct lineup;
struct picks;

/* Terms: what a query asks for once its text is read. */

enum term_kind { TERM_WITH, TERM_WITHOUT, TERM_OPTIONAL, TERM_OR };

/* Whose component a term is about. */
enum term_form {
  TERM_OWN,              /* the row's: Position */
  TERM_SPARSE,           /* the same of a component that is kept outside of tables */
  TERM_PAIR,             /* the row's tie: (Likes, Apples), (Likes, $food), (Likes, *) */
  TERM_PATH,             /* another's, to which the row leads: ChildOf->World, Hunt.prey->Health */
  TERM_OF                /* that of a variable's value: Health($food) */
};

/* Which of those that can be switched off a term is about. */
enum term_state { TERM_ON, TERM_OFF, TERM_ANY };

enum term_news { TERM_ALL, TERM_CHANGED, TERM_ADDED };

/* A value that terms share, and that was not given with the query. */
struct variable {
  ecs_string name;       /* in the query's text; of a `*` nothing */
  uint32_t output;       /* which of the values that go with a match it is; NONE for none */
};

struct term {
  ecs_id id;             /* of the component; of a tie to somebody known, the pair's */
  struct component *component;
  enum term_form form;
  ecs_id target;         /* of a tie to a declared name; ECS_NULL: the variable's value */
  uint32_t variable;     /* of a tie or TERM_OF; NONE */
  bool binds;            /* the variable has no value before this term */
  struct component *through;   /* of a path: the relation, or the component with the field */
  ecs_id through_id;
  uint32_t through_leaf;       /* the field; NONE for a relation's target */
  bool cascade;                /* of a path along a relation: parents come first */
  bool nearest;                /* of a path: from the row itself on, along the relation */
  struct map known;            /* of these, while a walk is under way: where ways lead, by index */
  enum term_kind kind;
  uint32_t group;        /* terms of one A|B|C share it; NONE otherwise */
  uint32_t leaf;         /* a single field's term (Position.x); NONE for the whole */
  uint32_t slot;         /* index into a match's columns; NONE for what gives nothing */
  bool read_only;
  bool filters;          /* `with`: it gives nothing */
  enum term_state state;
  enum term_news news;   /* since the query was used last; the rows that picks say: changes.h */
  struct picks *picks;
  bool toggled;          /* of the row's own: some rows of a table may have it, others not */
};

/* Whether there are values: those of a tie are what it has beside its target. */
static inline bool term_has_cells(const struct term *term, const struct component *component) {
  bool tie = term->form == TERM_PAIR && component->ties.exclusive && term->leaf == NONE;
  return component->leaf_count > tie;
}

/* How many. */
static inline uint32_t term_cell_count(const struct term *term) {
  if (!term_has_cells(term, term->component)) return 0;
  return term->leaf == NONE ? term->component->leaf_count : 1;
}

/* Whether a function is given something for a term of a component with these fields: a view or
** value, or, for an optional tag, a truth. */
static inline bool term_gives(const struct term *term, const struct component *component) {
  if (term->kind == TERM_WITHOUT || term->filters) return false;
  return term_has_cells(term, component) || term->kind == TERM_OPTIONAL;
}

/* Whether it gives something that may be absent. */
static inline bool term_may_lack(const struct term *term) {
  return term->slot != NONE && (term->kind == TERM_OPTIONAL || term->group != NONE);
}

/* Whether it is about a tie, to somebody known, that every row of a table has or lacks. */
static inline bool term_is_known(const struct term *term) {
  return term->form == TERM_PAIR && !term->component->ties.exclusive &&
         term->kind == TERM_WITH && term->target != ECS_NULL;
}

/* Whether it is about a component that the row itself has. */
static inline bool term_is_own(const struct term *term) {
  return term->form == TERM_OWN || term->form == TERM_SPARSE;
}

/* Whether rows of one table differ in what the term finds. */
static inline bool term_is_by_row(const struct term *term) {
  return term->form != TERM_OWN && !term_is_known(term);
}

#define QUERY_STEPS 16         /* terms that are decided row by row */
#define QUERY_VARIABLES 16

/* In front what every run asks for. */
struct query_terms {
  uint32_t slots;        /* terms that give something: a function's first parameters */
  uint32_t step_count;   /* 0: every row of a table matches */
  bool choices;          /* has terms that a table may lack */
  bool targets;          /* has terms of which term_is_known */
  bool toggled;          /* has terms that are */
  bool changes;          /* has terms with news */
  bool plain;            /* no targets, toggled, steps, event: each row of a table matches, once */
  bool sources;          /* the first term is a tie by an exclusive relation: its order is theirs */
  bool packed;           /* the first term is a sparse component: its order is that */
  struct component *cascade;   /* of the first term that wants parents first; NULL */
  struct component *event;   /* the first term is an event: its rows are gone through, of which no
                             ** entity is; NULL */
  struct term *terms;
  uint32_t count;
  uint32_t capacity;
  uint32_t values;       /* variables that are given with each match, behind the entity */
  uint16_t steps[QUERY_STEPS];     /* terms that are decided row by row, in that order */
  uint32_t variable_count;
  struct variable variables[QUERY_VARIABLES];
};

/* The term that gives a function its parameter of that number; NULL: none does. */
static inline const struct term *query_term_of(const struct query_terms *terms, uint32_t slot) {
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].slot == slot) return &terms->terms[i];
  return NULL;
}

struct ecs_query {
  ecs_world *world;
  uint32_t *tables;               /* indices, in order when `arranged` is graph.placings */
  uint64_t arranged;
  uint32_t *columns;              /* terms.slots for each match: first column or NONE */
  uint32_t count;
  bool fresh;                     /* made for a migration that is not committed yet */
  bool broken;                    /* names a component that is no longer declared */
  bool dirty;                     /* has doomed tables */
  bool kept;                      /* a system's: ecs_query_free leaves it */
  struct query_terms terms;
  ecs_query *previous, *next;     /* all queries of the world, oldest first */
  void *owner;                    /* for the host: whose query it is */
  char *text;
  size_t text_size;
  ecs_id key;                     /* an id it cannot match without, or ECS_NULL */
  uint32_t capacity;
  uint32_t column_capacity;
  struct lineup *lineup;          /* the last one of its rows, if they have been lined up */
  uint64_t seen, kept_seen;       /* world.now when its last use ended; while a system's, its own */
  uint32_t uses;                  /* of it that are under way */
  ecs_system *readers;            /* systems that go through it, by next_reader */
  struct watch *watch;            /* of the observer that is on and has it; or NULL */
};

/* Whether its matches are found by a walk, one by one. */
static inline bool terms_walk(const struct query_terms *terms) {
  return terms->step_count > 0 || terms->event;
}

/* Whether every row of its tables matches, once. */
static inline bool query_rows_are_whole(const struct query_terms *terms) {
  return !terms->step_count && !terms->event && !terms->toggled && !terms->changes;
}

/* Of one match, by slot; NULL when no term has one. */
static inline const uint32_t *query_columns(const ecs_query *query, uint32_t match) {
  uint32_t slots = query->terms.slots;
  return slots ? query->columns + (size_t)match * slots : NULL;
}

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

/* How many rows match. Where a row may match several times, or not at all, they are gone through,
** `most` of them: false where that was not enough. */
bool query_count_within(const ecs_query *query, size_t most, size_t *count);
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

/* After components have changed how they are kept: matches tables anew, too. */
ecs_status query_rearrange_reserve(ecs_query *query);
void query_rearrange(ecs_query *query);

#endif
