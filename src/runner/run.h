/* Running a program over the tables of a query. The columns of the program are found in each
** table, the ids of its entities are written out where the program wants them, and the commands
** that it has marked are staged. No Lua: a host in C, or a thread, can do it. A row that fails is
** a value that says which entity, and why. */
#ifndef ECS_RUNNER_RUN_H
#define ECS_RUNNER_RUN_H

#include "core/base/base.h"
#include "core/base/memory.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "kernel/program.h"
#include "kernel/share.h"

struct abreast;
struct run_list;
struct run_lookup;

#define RUN_COLUMNS 128        /* of one program */
#define RUN_BITMAPS 16         /* of one program: each command has one, a predicate has one */
#define RUN_MARKS 48           /* more of them: of terms that are watched and written, one each */
#define RUN_ORDERS 64          /* of one program, instead: see run_plan */
#define RUN_ASKED 16           /* of one program: components that it asks of its rows */
#define RUN_SPAWNED 256        /* the last ones that a row spawns, which are known by a number */

/* The first uniforms of every program. run_table sets them; those from UNIFORM_ADDS on (whether it
** may add fields to tables: see cell.c) are the caller's. */
enum { UNIFORM_DT, UNIFORM_STREAM, UNIFORM_TICK, UNIFORM_ADDS, UNIFORM_FIRST };

#define RUN_RESULT (NONE - 1)  /* slots of no query: what the program gives for each row; */
#define RUN_VALUE (NONE - 2)   /* who a variable of the query stands for, its values counted; */
#define RUN_THERE (NONE - 3)   /* whether the term of a slot, which the leaf is, is there; */
#define RUN_NUMBER (NONE - 4)  /* of run_elements alone: the number of the row's element, from 1, */
#define RUN_ELEMENT (NONE - 5) /* and elements of the program's array whose number the leaf is */

/* Which cells a program's column stands for. */
struct run_column {
  uint32_t slot;               /* of the query; NONE: the ids of the rows' entities; RUN_RESULT
                               ** and RUN_VALUE: of run_rows alone, if they are used */
  uint32_t leaf;               /* counted from the first column of the slot's term; which value */
};

enum run_action {
  RUN_DESPAWN, RUN_ADD, RUN_REMOVE, RUN_SET, RUN_SPAWN, RUN_EMIT, RUN_PUT, RUN_STORE, RUN_TIE,
  RUN_UNTIE
};

/* An entity that a row spawns has its id only once that is done. Until then a number stands for it:
** the first one's is -1, the next one's -2. Whether a number is such a one: never, in some rows, or
** in all of them. */
enum spawned { SPAWNED_NONE, SPAWNED_SOME, SPAWNED_ALL };

static inline enum spawned spawned_either(enum spawned x, enum spawned y) {
  return x == y ? x : SPAWNED_SOME;
}

/* What is to become of the entities whose rows a bitmap marks, or whom rows order it for: what
** RUN_SET and those behind it do is only ordered. */
struct run_command {
  enum run_action action;
  ecs_id component;            /* but of RUN_DESPAWN; of RUN_EMIT and RUN_PUT the event; of RUN_TIE
                               ** and RUN_UNTIE the relation, whose target is the value noted; of
                               ** RUN_STORE an array or a resource: what stands for the entity
                               ** is the number of an element then, from 1 on. The value noted for
                               ** RUN_SPAWN is what stands for whom it spawns */
  /* RUN_PUT is about the event that was emitted last. */
  uint32_t leaf;               /* of RUN_SET and those behind: takes the value noted; or NONE,
                               ** as of RUN_UNTIE that is about all targets */
  uint32_t first;              /* of an event: takes what stands for the entity; or NONE */
  uint32_t parts;              /* of RUN_SPAWN, RUN_TIE and RUN_EMIT: how many behind it say with
                               ** what */
  bool part;                   /* one of these: no entity is noted */
  enum spawned whom, gives;    /* the entity that is noted, and the value */
  bool by_index;               /* of one that has a target: the value is its index */
  bool as_field;               /* of RUN_TIE: the target is set as the field that it is, and if it
                               ** is no part, may be null */
  bool own;                    /* of RUN_SET: the row's entity has that field, which is written as
                               ** its view would write it: at once, whatever is staged */
};

/* A uniform that says whether a table has a component, be it switched off. */
struct run_asked {
  ecs_id component;
  uint32_t uniform;
};

/* A program, and what its columns and bitmaps stand for: the same in every run. Whoever made the
** program and the arrays frees them. */
struct run_plan {
  struct program *program;
  const struct run_column *columns;    /* one for each column of the program */
  size_t machine_room;                 /* of the program */
  uint32_t command_count, order_count, asked_count;   /* of the lists below */
  uint32_t mark_count, whole_count;
  uint32_t first_mark;                 /* the first of the bitmaps that `marks` is about */
  bool takes_ids;                      /* one of the columns that it reads is the entities */
  uint32_t cell_count;                 /* columns that say where their cells are: KC_CELLS; */
  uint32_t there_count;                /* or whether a term is there: RUN_THERE */
  bool needs_room;                     /* for ids or bits of the rows */
  bool plain;                          /* the program is, and its columns are all the query's */
  const struct run_command *commands;  /* of its first bitmaps, in the order of the function */
  const struct run_command *orders;    /* or those that rows order, by their number; given where */
                                       /* there are any, block by block, in an open scope */
  const struct run_asked *asked;       /* the caller's to set, where there are any: then no run */
                                       /* is over rows of several tables */
  const struct run_lookup *lookups;    /* the caller's to set: as many as the program has */
  const struct run_list *lists;        /* likewise */
  const uint32_t *marks;               /* given: bitmaps say in which rows these slots' cells are */
  const uint32_t *whole;               /* written; and the slots of which all rows' cells are */
  struct sharing sharing;              /* by threads */
  uint64_t reads[RUN_COLUMNS / 64];    /* bits by the program's columns */
  uint64_t writes[RUN_COLUMNS / 64];
};

/* The plan of a program that is finished. */
struct run_plan run_plan_of(struct program *program, const struct run_column *columns,
                            const struct run_command *commands, uint32_t command_count);

/* Whether the program reads who a variable stands for: then all runs are over rows gathered. */
bool run_reads_values(const struct run_plan *plan);

/* How many of the world's threads may share the rows of a query; where it is one in a world with
** more, *why says why. */
uint32_t run_width(const struct run_plan *plan, const ecs_query *query, const char **why);

/* What programs need while they run, one at a time. What a run has left in it is there until the
** next one. */
struct runner {
  struct memory *memory;
  k_isa isa;
  struct machine *machine;     /* NULL until there is room for a first program */
  size_t machine_room;         /* of the largest program so far */
  struct helpers helpers;      /* for the world's other threads */
  struct column_buffer room;   /* one table's: ids of rows, bitmaps, the rows to start with */
  size_t capacity;             /* bytes of it that may be used */
  uint32_t rows;               /* that it is laid out for now */
  struct column_buffer gathered;   /* what gather.h copies */
  size_t gather_capacity;
  uint64_t gathers;                /* how often that, or the batch, was laid out */
  struct column_buffer batch;      /* matches, of which that is made */
  struct column_buffer numbers;    /* from 1 on, as u32 */
  uint32_t number_count;
  uint64_t *bitmaps[RUN_BITMAPS + RUN_MARKS];
  uint64_t *start;
};

/* An empty runner; cannot fail. */
void runner_open(struct runner *runner, struct memory *memory, k_isa isa);
void runner_free(struct runner *runner);

/* Room for a plan over tables of so many rows; false when out of memory. */
bool runner_reserve(struct runner *runner, const struct run_plan *plan, uint32_t rows);

/* One run of a plan. Every table of the query that has rows must have the terms that the plan's
** columns are in. */
struct run {
  const struct run_plan *plan;
  const ecs_query *query;
  k_scalar *uniforms;          /* as many as the program has, and UNIFORM_FIRST at least */
  k_total *totals;             /* as many as the program has; zeroed before the first table */
  double dt;
  const k_array *arrays;       /* as many as the program has */
  const struct ecs_index *const *indexes;   /* that its lists are of, brought up to date */
  const uint64_t *filter;      /* the rows of the table to start with; NULL: those that match */
  const uint32_t *first;       /* the match's columns, by slot; NULL: those of query_columns */
  struct row_stretch rows;     /* that it is over; without any: all of them */
};

/* Marks the cells of a table's column as written, in 64 rows from a row on, as bits say. */
void run_mark(const ecs_world *world, const struct table *table, uint32_t at, uint32_t row,
              uint64_t bits);

/* Why a row failed, in words. */
const char *run_why(k_error error);

/* The row that failed; of an event the entity is ECS_NULL. */
struct run_failure {
  ecs_id entity;
  k_failure why;
};

/* Runs it over one match of the query: a table that has rows, for which there is room, or over some
** of these. A program that starts with some rows goes through those that match, of others all do.
** False when a row failed: rows before that one are written and marked, it and the rest are not. */
bool run_table(struct runner *runner, const struct run *run, uint32_t match,
               struct run_failure *failure);

/* Runs it over those rows of a match among which some match, stretch by stretch (run_next_rows,
** from run->rows.count == 0 on), of a program that gives no commands. */
bool run_by_stretches(struct runner *runner, struct run *run, uint32_t match,
                      struct run_failure *failure);

/* Over the table that walk_next_table has come to and those that it comes to behind it, of a plan
** without commands that needs no room; `first`, the run's, is written. *done counts rows before. */
bool run_walk(struct runner *runner, const struct run *run, struct walk *walk, uint32_t *first,
              uint64_t *done, struct run_failure *failure);

/* Sets the uniforms that depend on the table whose rows are run; run_table does so itself. */
void run_ask(const struct run *run, const struct table *table);

/* Goes on to the next stretch of a table, or all of its rows; false at the end. Begins with 0. */
bool run_next_rows(struct run *run, const struct table *table, bool by_stretches);

/* Sets those of the first uniforms. */
void run_set_uniforms(const struct run *run);

/* A match of one of several runs that are under way at once, none of which can fail, gives commands
** or has totals: where it has what run_table has in its runner. */
struct run_part {
  void *room;                  /* run_part_room bytes, 64-byte aligned */
  void **columns;              /* as many as the program has */
  uint64_t **bitmaps;          /* likewise */
  k_run *rows;                 /* is set: all of this stays where it is until run_part_end */
};
size_t run_part_room(const struct run_plan *plan, uint32_t rows);

/* When the first uniforms are set, before a machine is opened for the part; and what marks the rows
** that were written, when all have run. */
void run_part_begin(const struct run *run, uint32_t match, const struct run_part *part);
void run_part_end(const struct run *run, uint32_t match, void *room);

/* Stages what run_table has just marked in the rows of that match, row after row, within a row in
** the order of the commands. A scope is open. On ECS_ENOMEM nothing is staged. */
ecs_status run_stage(const struct runner *runner, const struct run *run, uint32_t match);

/* Runs it over rows whose cells lie in columns of the caller's; at least one. Of a row that fails
** the caller knows the entity. */
struct run_rows {
  uint32_t count;
  void *const *columns;        /* as the program has them, 64-byte aligned */
};
bool run_rows(struct runner *runner, const struct run *run, const struct run_rows *rows,
              struct run_failure *failure);
ecs_status run_stage_rows(const struct runner *runner, const struct run *run, const ecs_id *ids,
                          uint32_t count);

/* Room for a plan over so many elements of arrays; false when out of memory. */
bool runner_reserve_elements(struct runner *runner, const struct run_plan *plan, uint32_t count);

/* Runs it over elements of the arrays that its columns are of, `count` from the one at `first` on,
** counted from 0. Of a row that fails the number is counted from there. */
bool run_elements(struct runner *runner, const struct run *run, uint32_t first, uint32_t count,
                  struct run_failure *failure);

/* Runs it over every table of the query in which rows match, in their order, and stages what it
** marks: then a scope is open, which the caller cancels on any status but ECS_OK. No term of the
** query is decided row by row; in all rows that match the same terms are there, and unless the
** program starts with some rows, they are all rows of their table. ECS_EUSER: a row failed, and
** *failure says which; what its table has marked is not staged. ECS_ENOMEM: nothing has run, unless
** the plan has commands. */
ecs_status run_query(struct runner *runner, const struct run *run, struct run_failure *failure);

/* Running a plan that needs nothing but the machine over whole tables: where these have few rows,
** to ask before each of them what else there is to do takes longer than its rows. */

/* Whether a run is one: every row of each of its query's tables matches once, one thread runs them,
** and the program asks nothing of tables and says nothing of rows. */
static inline bool run_is_plain(const struct run *run) {
  const struct run_plan *plan = run->plan;
  bool plain = plan->plain && run->query->terms.plain;
  return plain && !(plan->needs_room | plan->asked_count) && !run->query->world->pool;
}

/* Runs it over all tables in which the query has rows. There is room for it. False when a row
** failed, and *failure says which. */
bool run_whole_tables(const struct runner *runner, const struct run *run,
                      struct run_failure *failure);

/* Runs of several plans at once, on the threads of a pool: parts of their tables' rows are taken
** one after the other by whoever comes. No run may write what another one gets at; none can fail,
** gives commands, or has totals. */

#define ABREAST_MOST 32        /* runs */

/* NULL when out of memory. */
struct abreast *abreast_new(struct memory *memory);
void abreast_free(struct abreast *abreast);

/* No run so far; they use the runner's machines. */
void abreast_begin(struct abreast *abreast, struct runner *runner);

/* One more, with the world's stream of random numbers as it is now. What the run points to stays
** as it is until abreast_end. False when out of memory: it was not added. */
bool abreast_add(struct abreast *abreast, const struct run *run);

/* Runs them all. False when out of memory: nothing was done. */
bool abreast_run(struct abreast *abreast, struct pool *pool);

/* Then, of each in the order in which they were added: marks what it has written. */
void abreast_end(const struct abreast *abreast, uint32_t number);

/* Rows that do not lie together, as a program sees them: the cells of matches that terms about ties
** and about others have found are copied to columns of their own, and back what was written. Of a
** match only the rows are kept; cells are copied before a run column by column, which takes a third
** of the time that it takes match by match. */

#define GATHER_ROWS MATCHES_ROWS

/* Which rows of tables have the cells of a term. */
struct gather_spot {
  const struct term *term;     /* of the first spot, for all that is the rows' own, none */
  uint32_t step;               /* of the walk that finds it; NONE: ask walk_cells */
  struct matches_spot cells;
};

struct gather {
  const struct run_plan *plan;
  const ecs_query *query;
  uint32_t first, count;                   /* rows: before the first one they are done */
  uint32_t spot_count;
  ecs_id *ids;                             /* of the rows' entities */
  void *columns[RUN_COLUMNS];              /* the program's: room for them */
  void *bound[RUN_COLUMNS];                /* that room, or where the cells are anyway */
  uint32_t spot_of[RUN_COLUMNS];           /* by the program's columns */
  struct gather_spot spots[RUN_COLUMNS + 1];
  uint32_t value_count;                    /* columns that have who variables stand for */
  uint32_t values[QUERY_VARIABLES];
};

/* No rows yet. False when out of memory. What is gathered lies in the runner until the next one. */
bool gather_begin(struct runner *runner, const struct run *run, const struct walk *walk,
                  struct gather *gather);

/* Room in the runner for a batch of the same walk; false when out of memory. */
bool gather_lay_out(struct runner *runner, struct matches *matches);

/* Appends the walk's match, of which every term that the program reads is there; fewer than
** GATHER_ROWS are there. */
void gather_match(struct gather *gather, const struct walk *walk);

/* The batch's matches, of which every term that the program reads is there: nothing else is
** gathered, and the batch is as it is until they have run. */
void gather_matches(struct gather *gather, const struct matches *matches);

/* The place of a row that was gathered: which match of the query, and which row of that table. */
struct gathered {
  uint32_t match, row;
};
struct gathered gather_at(const struct gather *gather, uint32_t at);
ecs_id gather_entity(const struct gather *gather, uint32_t at);

/* As run_table and run_stage, of what was gathered from its first row up to an end. Afterwards who
** is done with the rows has them forgotten. */
bool gather_run(struct runner *runner, const struct run *run, struct gather *gather, uint32_t end,
                struct run_failure *failure);
void gather_forget(struct gather *gather);
ecs_status gather_stage(const struct runner *runner, const struct run *run,
                        const struct gather *gather);

/* What programs look up of entities by their ids: instead of a component's cells in the row, those
** of whatever entity an id names. Reads the world, changes nothing, and runs no Lua. */

#define RUN_LOOKUPS 64         /* of one program */

enum lookup_kind {
  LOOKUP_LIVE,                 /* of an id: itself; 0 when nobody alive has it */
  LOOKUP_PLACE,                /* of an id: where its entity has the component, see below */
  LOOKUP_ON,                   /* of an id: 0 where its component is on, else what is no place */
  LOOKUP_CELL,                 /* of such a place: a field, */
  LOOKUP_AT,                   /* and where that is: cells of KC_CELLS | its type */
  LOOKUP_TARGET,               /* of an id: the first target of its entity; 0: none */
  LOOKUP_ENTITY,               /* of an entity's index, counted from 1: its id; 0: of none */
  LOOKUP_LENGTH,               /* of a text's number in the world's strings: its bytes */
  LOOKUP_STARTS,               /* of two such: whether text x starts with y, a bool */
  LOOKUP_ORDER                 /* of two such: -1, 0 or 1 where text x is before y, alike or
                               ** behind it to Lua; or ORDER_UNSURE */
};

/* Two numbers of texts are x | y << TEXT_BITS. */
#define TEXT_BITS 32

/* Segments of different lengths are alike in this locale: Lua's releases differ in what that is. */
#define ORDER_UNSURE 2

/* Places that are none. */
#define PLACE_ABSENT (-1)      /* the entity has no such component */
#define PLACE_DEAD (-2)        /* nobody alive has the id */

struct run_lookup {
  enum lookup_kind kind;
  ecs_id component;            /* LOOKUP_TARGET: the relation; ECS_NULL: ChildOf, if there is one */
  uint32_t leaf;               /* LOOKUP_CELL, LOOKUP_AT */
};

/* Looks up n of them: `from` are ids, places or texts, `to` are values as programs have them, bool,
** float, double or int64_t, by the type of the field. Of what is no place the cell is 0. Where a
** mask is given and 0, nobody is looked for: as if the id were null, and a text "". */
void lookup_all(const ecs_world *world, const struct run_lookup *lookup, const int64_t *from,
                const uint8_t *mask, void *to, size_t n);

/* Puts 0 in place of ids whose entity is dead; where a mask is given and 0, nobody looks at it. */
void lookup_forget_dead(const ecs_world *world, int64_t *ids, const uint8_t *mask, size_t count);

#endif
