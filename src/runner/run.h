/* Runs a program over the tables of a query: binds its columns in each table, writes out the ids of
** entities if the program needs them, and stages the commands that it has marked. It needs no Lua,
** so a host in C or a thread can use it. A row that fails is reported as a value: which entity, and
** why. */
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
#define RUN_BITMAPS 16         /* of one program: one for each command; a predicate has one */
#define RUN_MARKS 48           /* more of them: one for each term that is watched and written */
#define RUN_ORDERS 64          /* of one program, instead of bitmaps: see run_plan */
#define RUN_ASKED 16           /* of one program: components whose presence it asks for */
#define RUN_SPAWNED 256        /* the last entities spawned by a row, known by number */

/* The first uniforms of every program, which run_table sets. */
enum { UNIFORM_DT, UNIFORM_STREAM, UNIFORM_TICK, UNIFORM_FIRST };

#define RUN_RESULT (NONE - 1)  /* not a slot of the query: the program's result for each row; */
#define RUN_VALUE (NONE - 2)   /* the value of one of the query's variables; */
#define RUN_THERE (NONE - 3)   /* whether the term of a slot, given as leaf, is present; */
#define RUN_NUMBER (NONE - 4)  /* run_elements only: the number of the row's element, from 1; */
#define RUN_ELEMENT (NONE - 5) /* elements of the program's array with the number leaf */

/* The cells that a program's column stands for. */
struct run_column {
  uint32_t slot;               /* of the query; NONE: ids of the rows' entities; RUN_RESULT and
                               ** RUN_VALUE: run_rows only, if used */
  uint32_t leaf;               /* counted from the slot's first column; or which value */
};

enum run_action {
  RUN_DESPAWN, RUN_ADD, RUN_REMOVE, RUN_SET, RUN_SPAWN, RUN_EMIT, RUN_PUT, RUN_STORE, RUN_TIE,
  RUN_UNTIE
};

/* A spawned entity has no id until the order is given. Until then a number stands for it: -1 for
** the row's first one, -2 for the next. Says whether a number is one of these: never, in some rows,
** or in all. */
enum spawned { SPAWNED_NONE, SPAWNED_SOME, SPAWNED_ALL };

static inline enum spawned spawned_either(enum spawned x, enum spawned y) {
  return x == y ? x : SPAWNED_SOME;
}

/* What happens to entities whose rows a bitmap marks, or for which rows order it. RUN_SET and later
** ones exist only as orders. */
struct run_command {
  enum run_action action;
  ecs_id component;            /* unless RUN_DESPAWN; for RUN_EMIT and RUN_PUT the event; for
                               ** RUN_TIE and RUN_UNTIE the relation, whose target is the noted
                               ** value; for RUN_STORE an array or a resource, where the noted
                               ** entity is the number of an element, from 1. For RUN_SPAWN the
                               ** noted value is the number of the spawned entity */
  /* RUN_PUT is about the event that was emitted last. */
  uint32_t leaf;               /* for RUN_SET and later: takes the noted value; or NONE, as for a
                               ** RUN_UNTIE of all targets */
  uint32_t first;              /* of an event: takes the noted entity; or NONE */
  uint32_t parts;              /* for RUN_SPAWN, RUN_TIE and RUN_EMIT: how many orders after it are
                               ** its parts */
  bool part;                   /* it is such a part: no entity is noted */
  enum spawned whom, gives;    /* for the noted entity, and the value */
  bool by_index;               /* if it has a target: the value is its index */
  bool as_field;               /* for RUN_TIE: the target is set as a field and, unless a part, may
                               ** be null */
  bool own;                    /* for RUN_SET: a field of the row's own entity, written as its view
                               ** would: at once, whatever is staged */
};

/* A uniform that says whether a table has a component, even switched off. */
struct run_asked {
  ecs_id component;
  uint32_t uniform;
};

/* A program, and what its columns and bitmaps stand for: the same in every run. The maker of the
** program and the arrays frees them. */
struct run_plan {
  struct program *program;
  const struct run_column *columns;    /* one for each column of the program */
  size_t machine_room;                 /* of the program */
  uint32_t command_count, order_count, asked_count;   /* of the lists below */
  uint32_t mark_count, whole_count;
  uint32_t first_mark;                 /* the first of the bitmaps for `marks` */
  bool takes_ids;                      /* one of the columns that it reads holds the entities */
  uint32_t cell_count;                 /* number of columns that hold addresses (KC_CELLS), */
  uint32_t there_count;                /* or presence (RUN_THERE) */
  bool needs_room;                     /* for ids or bits of the rows */
  bool plain;                          /* the program is plain, and all its columns are the
                                       ** query's */
  const struct run_command *commands;  /* for its first bitmaps, in the order of the function */
  const struct run_command *orders;    /* or those that rows order, by number; given block */
                                       /* by block in an open scope, if there are any */
  const struct run_asked *asked;       /* set by the caller if there are any: then no run */
                                       /* covers rows of several tables */
  const struct run_lookup *lookups;    /* set by the caller, one for each of the program's */
  const struct run_list *lists;        /* likewise */
  const uint32_t *marks;               /* given: bitmaps say in which rows these slots' cells are */
  const uint32_t *whole;               /* written; and the slots whose cells are written in all
                                       ** rows */
  struct sharing sharing;              /* by threads */
  uint64_t reads[RUN_COLUMNS / 64];    /* bits by the program's columns */
  uint64_t writes[RUN_COLUMNS / 64];
};

/* Makes the plan of a finished program. */
struct run_plan run_plan_of(struct program *program, const struct run_column *columns,
                            const struct run_command *commands, uint32_t command_count);

/* Whether the program reads values of variables: then all runs are over gathered rows. */
bool run_reads_values(const struct run_plan *plan);

/* How many of the world's threads can share the rows of a query; if that is one in a world with
** more threads, *why says why. */
uint32_t run_width(const struct run_plan *plan, const ecs_query *query, const char **why);

/* What programs need while they run, one at a time. What a run leaves in it stays until the next
** one. */
struct runner {
  struct memory *memory;
  k_isa isa;
  struct machine *machine;     /* NULL until there is room for a first program */
  size_t machine_room;         /* of the largest program so far */
  struct helpers helpers;      /* for the world's other threads */
  struct column_buffer room;   /* of one table: ids, bitmaps, and the rows to start with */
  size_t capacity;             /* bytes of it in use */
  uint32_t rows;               /* rows that it is laid out for */
  struct column_buffer gathered;   /* what is gathered */
  uint64_t gathers;                /* counts layouts of that, or of the batch */
  struct column_buffer batch;      /* the matches to gather */
  struct column_buffer numbers;    /* 1, 2, 3 ... as u32 */
  uint32_t number_count;
  uint64_t *bitmaps[RUN_BITMAPS + RUN_MARKS];
  uint64_t *start;
};

/* Makes an empty runner; cannot fail. */
void runner_open(struct runner *runner, struct memory *memory, k_isa isa);
void runner_free(struct runner *runner);

/* Reserves room for a plan over tables of that many rows; false when out of memory. */
bool runner_reserve(struct runner *runner, const struct run_plan *plan, uint32_t rows);

/* One run of a plan. Every non-empty table of the query must have the terms of the plan's
** columns. */
struct run {
  const struct run_plan *plan;
  const ecs_query *query;
  k_scalar *uniforms;          /* one for each of the program's, at least UNIFORM_FIRST */
  k_total *totals;             /* one for each of the program's; zeroed before the first table */
  double dt;
  const k_array *arrays;       /* one for each of the program's */
  const struct ecs_index *const *indexes;   /* of its lists, up to date */
  const uint64_t *filter;      /* the rows of the table to start with; NULL: those that match */
  const uint32_t *first;       /* the match's columns, by slot; NULL: those of query_columns */
  struct row_stretch rows;     /* the rows to cover; if empty, all */
};

/* Marks cells of a table's column as written: of the 64 rows from `row` on, those whose bits are
** set. */
void run_mark(const ecs_world *world, const struct table *table, uint32_t at, uint32_t row,
              uint64_t bits);

/* The reason why a row failed, in words. */
const char *run_why(k_error error);

/* The row that failed; for an event, the entity is ECS_NULL. */
struct run_failure {
  ecs_id entity;
  k_failure why;
};

/* Runs over one match of the query, a non-empty table with room reserved, or over some of its rows.
** A program that starts with some rows runs for the matching ones, any other for all. False if a
** row failed: rows before it are written and marked; it and the rest are not. */
bool run_table(struct runner *runner, const struct run *run, uint32_t match,
               struct run_failure *failure);

/* Runs over the table that walk_next_table has reached and later ones, for a plan without commands
** that needs no room; sets the run's `first`. *done counts earlier rows. */
bool run_walk(struct runner *runner, const struct run *run, struct walk *walk, uint32_t *first,
              uint64_t *done, struct run_failure *failure);

/* Sets the uniforms that depend on the table; run_table does so itself. */
void run_ask(const struct run *run, const struct table *table);

/* Moves to the next stretch of a table, or all its rows; false at the end. Starts at 0. */
bool run_next_rows(struct run *run, const struct table *table, bool by_stretches);

/* Sets the first uniforms. */
void run_set_uniforms(const struct run *run);

/* One match of one of several simultaneous runs, which cannot fail, give no commands and have no
** totals. It holds what run_table keeps in its runner. */
struct run_part {
  void *room;                  /* run_part_room bytes, 64-byte aligned */
  void **columns;              /* one for each of the program's */
  uint64_t **bitmaps;          /* likewise */
  k_run *rows;                 /* set by it; all of this must stay in place until run_part_end */
};
size_t run_part_room(const struct run_plan *plan, uint32_t rows);

/* The first prepares a part, before a machine is opened for it; the second marks the rows that were
** written, when all have run. */
void run_part_begin(const struct run *run, uint32_t match, const struct run_part *part);
void run_part_end(const struct run *run, uint32_t match, void *room);

/* Stages what run_table has just marked in the rows of that match, row by row and in the order of
** the commands. A scope is open. With ECS_ENOMEM nothing is staged. */
ecs_status run_stage(const struct runner *runner, const struct run *run, uint32_t match);

/* Runs over at least one row whose cells are in the caller's columns: as in the program, 64-byte
** aligned. The caller knows the entity of a failed row. */
bool run_rows(struct runner *runner, const struct run *run, uint32_t count, void *const *columns,
              struct run_failure *failure);

/* Stages the marked commands: for a table's rows by `rows`, for others by their ids. */
ecs_status run_stage_rows(const struct runner *runner, const struct run *run,
                          const uint32_t *rows, const ecs_id *ids, uint32_t count);

/* Reserves room for a plan over that many elements of arrays; false when out of memory. */
bool runner_reserve_elements(struct runner *runner, const struct run_plan *plan, uint32_t count);

/* Runs over `count` elements of the arrays in its columns, from `first` on, counted from 0. A
** failed row is numbered from there. */
bool run_elements(struct runner *runner, const struct run *run, uint32_t first, uint32_t count,
                  struct run_failure *failure);

/* Runs over every matching table of the query, in order, and stages what it marks, in an open scope
** that the caller cancels on any status but ECS_OK. No term may be decided row by row; the same
** terms are present in all matching rows, and unless the program starts with some rows, these are
** all rows of their tables. ECS_EUSER: a row failed, as *failure says; what its table has marked is
** not staged. ECS_ENOMEM: nothing has run, unless the plan has commands. */
ecs_status run_query(struct runner *runner, const struct run *run, struct run_failure *failure);

/* Plans that need only the machine and run over whole tables: for small tables, it takes longer to
** check what else to do than to run over the rows. */

/* Whether a run needs only the machine: every row of the query's tables matches once, on one
** thread, and the program depends on no table and reports no rows. */
static inline bool run_is_plain(const struct run *run) {
  const struct run_plan *plan = run->plan;
  bool plain = plan->plain && run->query->terms.plain;
  return plain && !(plan->needs_room | plan->asked_count) && !run->query->world->pool;
}

/* Runs of several plans at once on the threads of a pool, which take parts of their tables' rows.
** No run may write what another accesses, fail, give commands or have totals. */

#define ABREAST_MOST 32        /* runs */

/* NULL when out of memory. */
struct abreast *abreast_new(struct memory *memory);
void abreast_free(struct abreast *abreast);

/* Starts without runs; they will use the runner's machines. */
void abreast_begin(struct abreast *abreast, struct runner *runner);

/* Adds a run with the world's present random stream. What it points to must stay until abreast_end.
** False when out of memory: it was not added. */
bool abreast_add(struct abreast *abreast, const struct run *run);

/* Runs all. False when out of memory: nothing was done. */
bool abreast_run(struct abreast *abreast, struct pool *pool);

/* Called for each, in the order in which they were added: marks what it has written. */
void abreast_end(const struct abreast *abreast, uint32_t number);

/* Gathering: rows that are not contiguous are copied to columns for a program, and what was written
** is copied back. Matches of terms about ties and other entities are kept as rows, and cells are
** copied column by column before a run: in a third of the time of copying match by match. */

#define GATHER_ROWS MATCHES_ROWS

/* The rows of tables with the cells of a term. */
struct gather_spot {
  const struct term *term;     /* NULL for the first spot, for what is the rows' own */
  uint32_t step;               /* of the walk that finds it; NONE: use walk_cells */
  struct matches_spot cells;
};

struct gather {
  const struct run_plan *plan;
  const ecs_query *query;
  uint32_t first, count;                   /* rows: those before the first are done */
  uint32_t spot_count;
  ecs_id *ids;                             /* of the rows' entities */
  void *columns[RUN_COLUMNS];              /* the program's: room for them */
  void *bound[RUN_COLUMNS];                /* that room, or where the cells already are */
  uint32_t spot_of[RUN_COLUMNS];           /* by the program's columns */
  struct gather_spot spots[RUN_COLUMNS + 1];
  uint32_t value_count;                    /* number of columns with values of variables */
  uint32_t values[QUERY_VARIABLES];
};

/* Starts without rows. False when out of memory. What is gathered stays in the runner until the
** next one. */
bool gather_begin(struct runner *runner, const struct run *run, const struct walk *walk,
                  struct gather *gather);

/* Reserves room in the runner for a batch of the same walk; false when out of memory. */
bool gather_lay_out(struct runner *runner, struct matches *matches);

/* Appends the walk's match, with every term that the program reads; fewer than GATHER_ROWS are
** there. */
void gather_match(struct gather *gather, const struct walk *walk);

/* Takes the batch's matches, with every term that the program reads: nothing else is gathered, and
** the batch must stay until they have run. */
void gather_matches(struct gather *gather, const struct matches *matches);

/* A gathered row: which match of the query, and which row of its table. */
struct gathered {
  uint32_t match, row;
};
struct gathered gather_at(const struct gather *gather, uint32_t at);
ecs_id gather_entity(const struct gather *gather, uint32_t at);

/* As run_table, for what was gathered, from its first row up to `end`; run_stage_rows stages what
** it has marked. Then the caller calls gather_forget for the finished rows. */
bool gather_run(struct runner *runner, const struct run *run, struct gather *gather, uint32_t end,
                struct run_failure *failure);
void gather_forget(struct gather *gather);

/* Lookups of programs: cells of any entity by its id, instead of the row's. Reads the world,
** changes nothing and runs no Lua. */

#define RUN_LOOKUPS 64         /* of one program */

enum lookup_kind {
  LOOKUP_LIVE,                 /* of an id: itself, or 0 if it is dead */
  LOOKUP_PLACE,                /* of an id: where its entity has the component, see below */
  LOOKUP_ON,                   /* of an id: 0 if its component is on, otherwise an invalid place */
  LOOKUP_CELL,                 /* of such a place: a field, */
  LOOKUP_AT,                   /* and its address: cells of KC_CELLS | its type */
  LOOKUP_TARGET,               /* of an id: the first target of its entity, or 0 */
  LOOKUP_ENTITY,               /* of an entity's index plus 1: its id; 0 of 0 */
  LOOKUP_LENGTH,               /* of a string's number in the world: its bytes */
  LOOKUP_STARTS,               /* of two such: whether string x starts with y, a bool */
  LOOKUP_ORDER                 /* of two such: -1, 0 or 1 as string x sorts before, with or after y
                               ** in Lua; or ORDER_UNSURE */
};

/* Two numbers of strings are x | y << TEXT_BITS. */
#define TEXT_BITS 32

/* Segments of different lengths compare equal in this locale: Lua's releases differ in the
** result. */
#define ORDER_UNSURE 2

/* A place is a row; above it the index of its table, unless the component is sparse; and above that
** the number from 0 of an element of the array field that begins at `leaf`. */
#define PLACE_ELEMENT (INDEX_BITS + TABLE_BITS)
#define PLACE_ELEMENTS (1u << (63 - PLACE_ELEMENT))

/* The place of a resource: no table has this index. */
#define PLACE_RESOURCE ((int64_t)TABLE_LIMIT << INDEX_BITS)

/* Invalid places: negative, with any element, too. */
#define PLACE_ABSENT INT64_MIN       /* the entity lacks the component */
#define PLACE_DEAD (INT64_MIN + 1)   /* the id is dead */

struct run_lookup {
  enum lookup_kind kind;
  ecs_id component;            /* LOOKUP_TARGET: the relation; ECS_NULL: ChildOf, if it exists */
  uint32_t leaf;               /* LOOKUP_CELL, LOOKUP_AT: of the place's element 0 */
};

/* Looks up n values: `from` has ids, places or strings; `to` has bool, float, double or int64_t, by
** the field's type. The cell of an invalid place is 0. Where the mask, if any, is 0, nothing is
** looked up, as if the id were null or the string "". */
void lookup_all(const ecs_world *world, const struct run_lookup *lookup, const int64_t *from,
                const uint8_t *mask, void *to, size_t n);

/* The relation with this id, or ChildOf for ECS_NULL; NULL if it does not exist. */
const struct component *lookup_relation(const ecs_world *world, ecs_id id);

/* A k_live, whose `ud` is the world: replaces ids of dead entities by 0; where the mask, if any, is
** 0, the value is undefined. */
void lookup_forget_dead(void *ud, int64_t *ids, const uint8_t *mask, size_t count);

#endif
