/* Loops over the tables of a query, and what uses them: function forms, chunks, q:where,
** reductions, loops over indexes, observers, and the scan of functions. */
#ifndef ECS_LUA_LOOP_LOOP_H
#define ECS_LUA_LOOP_LOOP_H

#include <lauxlib.h>
#include <limits.h>

#include "core/base/base.h"
#include "core/base/column.h"
#include "ecs_index.h"
#include "lua/bind/object.h"
#include "lua/bind/version.h"

struct body_site;
struct column;
struct component;
struct copies;
struct ecs_sight;
struct edition;
struct leaf;
struct loop_box;
struct loop_owner;
struct migration;
struct query_box;
struct table;
struct view_box;
struct walk;

/* What a function is called for. Forms without a system, predicates and key functions, are last;
** observers and the forms after them get no dt. */

enum system_form { FORM_EACH, FORM_MAP, FORM_RUN, FORM_OBSERVE, FORM_ASK, FORM_KEY };

enum loop_form { LOOP_FOR, LOOP_FUNCTION, LOOP_SYSTEM };

/* What does the body of a for loop: not known yet; a program; a program after a failed row; Lua. */
enum loop_body { BODY_UNKNOWN, BODY_PROGRAM, BODY_FAILED, BODY_LUA };

#define ALL_VIEWS INT_MAX

/* The kinds of objects that scripts get. The methods of chunks and columns are looked up by their
** __index. */

extern const char kind_loop, kind_chunk, kind_column, kind_where, kind_found, kind_held;

extern const luaL_Reg loop_metamethods[], chunk_methods[], chunk_metamethods[], column_methods[],
    column_metamethods[], where_metamethods[], found_metamethods[], held_metamethods[];

/* Pushes a closed loop over the query at an index, with a view for each of the first `views` terms
** that yield one. */
struct loop_box *loop_push(lua_State *L, int query_index, enum loop_form form, int views);

/* Prepares the loop at an index, which a system has kept, for another run, with new views. False if
** that is impossible, or a finalizer has used the world meanwhile. */
bool loop_renew(lua_State *L, int index, struct loop_box *loop, int views);

/* Opens a loop, unless its world was closed meanwhile. From here on the world defers changes. */
void loop_open(lua_State *L, struct loop_box *loop);

/* How for loops begin: pushes a function that advances the closed loop at the top of the stack (its
** first upvalue), a handle, nil and the handle; opens the loop. Returns 4. */
int loop_begin(lua_State *L, struct loop_box *loop, lua_CFunction next);

/* Moves to the next run of rows: contiguous rows of a table or, for terms about ties or other
** entities, one matching row. False at the end. */
bool loop_next_run(struct loop_box *loop);

/* Moves to a row of one of the query's tables, out of order; if rows match more than once, to one
** of the row's matches, counted from 0. False if it does not match. */
bool loop_seek(struct loop_box *loop, uint32_t match, uint32_t row, uint32_t turn);

/* Moves to the next piece of a run in which the loop at an index visits every row. The loop's views
** do not follow. */
bool loop_next_piece(lua_State *L, int index, struct loop_box *loop);

/* The number of values that a match has after the entity. The second pushes the first of them, at
** most `most`. */
uint32_t loop_value_count(const struct loop_box *loop);
void loop_push_values(lua_State *L, const struct loop_box *loop, uint32_t most);

/* Ends an open loop at an index and applies its changes. */
void loop_commit(lua_State *L, int index, struct loop_box *loop);

/* Ends a system's loop that has reached its end, if it is open: its changes become the system's. */
void loop_end(struct loop_box *loop);

/* Ends a loop, if it is open, and drops its changes. */
void loop_cancel(struct loop_box *loop);

/* Raises an error that says what ended a loop that should be open. */
int loop_gone(lua_State *L, const struct loop_box *loop);

/* Ends loops left open, as update, run, commit and close do; has no effect while the world is busy
** (inside a system, function form or defer). */
ecs_status loops_end(struct world_box *box);

/* loops_end, but raises errors; calls observers. The world is at 1, and still open. */
void loops_finish(lua_State *L, struct world_box *box);

/* Called before the innermost defer ends: ends the loops begun after it. Cannot fail. */
void loops_end_deferred(struct world_box *box, bool keep);

/* Raises that the target of an exclusive relation cannot be written as a field. */
int refuse_target(lua_State *L, const struct component *relation);

/* Ends what is left open when a system has returned (its changes are kept) or failed, or a world is
** closed. Cannot fail. */
void loops_end_system(struct world_box *box, bool keep);

/* Ends the open loops over a query that is being freed. */
void loops_end_query(const struct query_box *query);

/* The data of a loop: where it is in its query's tables, and what is there. */

#define LOOP_WORLD 1         /* user values of a loop; then its views by slot */
#define LOOP_QUERY 2
#define LOOP_WHERE 3         /* its q:where(fn), and the matching rows */
#define LOOP_FILTER 4
#define LOOP_KERNEL 5        /* of a for loop: its kernel's handle, if its body may be a program */
#define LOOP_VALUES 5

/* The loops of a world. */
struct loops {
  struct loop_box *open;           /* newest first */
  struct loop_box *ended;          /* ended loops that WORLD_REFS still anchors */
  struct loop_owner *owner;        /* through which the core ends loops (worlds.c) */
};

/* A term of the query that yields something, in the current run of rows. */
struct slot {
  struct view_box *view;           /* NULL for a single field and for a tag */
  void *data;                      /* a single field's cells */
  const struct column *columns;    /* the component's columns, or the single field's */
  const struct table *table;       /* the table to which they belong */
  uint32_t first;                  /* row of the columns at which the run begins */
  const struct component *component;
  const struct leaf *leaf;         /* of a single field */
  uint32_t leaf_at;
  ecs_type type;
  bool read_only;
  bool tag;                        /* it yields a boolean */
  bool present;
  bool given;                      /* map: `cell` is to be written */
  ecs_cell cell;
};

#define NOT_KNOWN (-1)

/* Lua may lose an object's finalizer when out of memory, so nothing points to a loop that only its
** finalizer could unlink: while open, a loop is anchored by WORLD_REFS (a for loop), its C function
** (a function form), or its system. Scripts have a handle, which ends it. */
struct loop_box {
  struct world_box *box;
  const struct entity_index *entities;   /* the world's */
  struct chance *chance;           /* the world's random stream */
  const struct query_box *query;
  struct loop_box *previous, *next;   /* the world's other open loops */
  enum loop_form form;
  uint32_t scope;                  /* NONE: the system's */
  uint32_t match;                  /* number of the query's next table */
  uint32_t behind;                 /* first row after the run, in the table before that */
  struct walk *walk;               /* NULL: rows come by tables */
  const struct table *table;
  const uint32_t *rows;            /* the table's rows, from the run's first */
  uint32_t row;                    /* the row that views show */
  uint32_t next_row;
  uint32_t count;                  /* number of rows in the run */
  uint32_t step;                   /* number of runs so far */
  /* For a loop over a q:where(fn): the rows of the table that it visits, and what finds them once
  ** the loop, which is at an index, has reached a table. */
  const uint64_t *filter;
  void (*fill)(lua_State *L, int loop_index);
  bool partial;                    /* this run is a table in which some rows match; it comes whole
                                   ** if there is a `filter`, which says which rows do */
  uint32_t filtered;               /* number of rows that `filter` covers */
  uint32_t piece, piece_end;       /* start and end of the current piece of them */
  bool asking;                     /* its function is currently a predicate, without dt */
  bool copied;                     /* its row is a copy of old values, for an observer */
  bool events;                     /* its rows are events, without entities */
  bool open;
  bool news;                       /* it uses the query's changes: see changes.h */
  bool done;                       /* it has reached its end */
  enum loop_body body;             /* what does the body of a for loop; */
  struct body_site *site;          /* which loop that is, if known */
  int view_count;                  /* how many first slots have views, except single fields */
  int parameters;                  /* of a system's function; NOT_KNOWN: not asked yet */
  uint64_t version;                /* of the world's components, when slots were filled */
  uint32_t slot_count;
  struct slot slots[];
};

/* Functions that are called for the rows of a loop. */

/* Calls the function at an index for every row of the open loop at the top of the stack, which is
** at `loop_index`; may leave values there. */
typedef void (*rows_fn)(lua_State *L, struct loop_box *loop, int loop_index, int function,
                        double dt);
void each_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt);

/* Calls the function for rows of the current run of the loop at an index, up to a given end. The
** row_fn receives each result, at the top of the stack. */
typedef void (*row_fn)(lua_State *L, struct loop_box *loop, uint32_t row, void *ud);
void each_between(lua_State *L, int loop_index, int function, double dt, uint32_t from, uint32_t to,
                  row_fn each, void *ud);

/* The elements of an array as the rows of a system: its function gets their numbers, and dt. */
struct elements {
  struct world_box *box;
  int function;                    /* its stack index */
  int parameters;
  uint32_t count;
  uint32_t *at;                    /* number of the current element, or 0 */
  double dt;
};

/* Calls the function for some consecutive elements, counted from 0. */
void elements_between(lua_State *L, const struct elements *elements, uint32_t from, uint32_t to);

/* Ends the loops begun inside an open one, which is at an index, if they have not ended. Raises
** what cannot be applied. */
void loop_end_inner(lua_State *L, int index, const struct loop_box *loop);

/* Called where the loop advances or ends: if `for` does not close loops, one inside that was left
** early is still open. */
static inline void loop_be_innermost(lua_State *L, int index, const struct loop_box *loop) {
  if (!FOR_CLOSES && loop->open && UNLIKELY(loop->box->loops->open != loop))
    loop_end_inner(L, index, loop);
}

/* q:each() for a for loop: like loop_begin, over a closed loop. */
int each_begin(lua_State *L, struct loop_box *loop);

/* How many parameters the function at an index has; INT_MAX if it takes any number. */
int function_parameters(lua_State *L, int function);

/* How many arguments the function at an index takes: slots, dt (unless it is a predicate), the
** entity, values of the match, in this order. */
int wanted_arguments(lua_State *L, int function, const struct loop_box *loop);

/* Forms: the ways in which a query takes a function and calls it for its rows, as in q:each(fn),
** q:map(fn), q:run(fn). */

/* Calls the function and arguments at the top of the stack for an open loop, then ends the loop. An
** error is caught in C, since `__close` may get lost: in a coroutine that dies, or when Lua is out
** of memory. */
void body_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);
/* body_call for a function form, in a random stream of its own. With `by_rows`, Lua calls a
** function for each row, and its errors name the entity. */
void form_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments, bool by_rows);

/* A lua_pcall without results in an open loop, while another random stream is open. */
int drawing_pcall(lua_State *L, const struct loop_box *loop, int arguments,
                  struct chance stream);

/* How function forms begin: the query, or q:where(fn), at argument 1, fn at 2, dt at 3; leaves the
** stack as check_source does. */
struct query_box *check_form(lua_State *L);
/* Calls fn for all rows, by `rows`, after check_form. */
void run_form(lua_State *L, bool views, rows_fn rows);

/* Undoes a form that will be run again in another way: its query has seen only what it had seen
** before, and no random numbers were drawn. */
void form_take_back(const struct query_box *query, uint64_t seen);

/* The stack on which the core calls scripts' functions, and their errors are kept. */

/* The start of the stack of box->systems->running (in the C function that called the core), and of
** box->systems->host. */
#define FRAME_WORLD 1
#define FRAME_ERROR 2        /* of a system that has failed */
#define FRAME_HANDLER 3      /* of the on_error handler itself */
#define FRAME_OBJECT 2       /* after each of these two: the error object, if it is not a string */
#define FRAME_TRACE 6        /* the message handler of protected calls */
#define FRAME_REFS 7         /* the world's WORLD_REFS */
#define FRAME_SIZE 7

/* A message handler: the error as text, with a traceback, unless it has one. */
int frame_trace(lua_State *L);

/* Pops what a call protected by FRAME_TRACE has left at the top of the stack, and keeps it in
** FRAME_ERROR or FRAME_HANDLER. */
void frame_keep(lua_State *L, int slot, int status);

/* Calls a function of the core that calls scripts' functions, and raises their failures or its own.
** Lays out the frame and leaves what follows it: callbacks raise nothing, so everything entered is
** also left. The world may be closed afterwards. */
void run_in_frame(lua_State *L, struct world_box *box,
                  ecs_status (*run)(ecs_world *world, const void *ud), const void *ud);

/* Makes the thread in which functions of this state run when a host, or a C module, makes them run:
** its stack begins with a frame. The world's object is at an index. */
void frame_need_host(lua_State *L, struct world_box *box, int world_index);

/* q:map: values of single fields in, values out. */

/* each_rows for a function that gets fields, and returns new values. */
void map_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt);

/* map_rows for the rows of the loop's current run. The second: for one of them. */
void map_here(lua_State *L, int loop_index, int function, double dt);
void map_row(lua_State *L, int loop_index, int function, double dt, uint32_t row);

/* Raises an error unless every term that yields something is a single field or a tag; with `idle`,
** only if something matches, since otherwise a system does nothing. */
bool map_check(lua_State *L, const ecs_query *query, bool idle);

/* Chunks: the rows of one table as a loop reaches it. */

#define CHUNK_LOOP 1         /* user values of a chunk and of a column */
#define CHUNK_ENTITIES 2
#define CHUNK_VALUES 2

/* The rows of one table: the loop's current ones, while `step` is the loop's. */
struct chunk_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
};

/* q:chunks() */
int query_chunks(lua_State *L);

/* Columns of chunks. */

/* One field of a chunk's rows; without a leaf, their entities. */
struct column_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
  uint32_t leaf_at;
  const struct component *component;
  const struct leaf *leaf;
  void *data;
  const struct table *table;   /* the table with these cells, from a row on, and an id of it */
  uint32_t first;
  ecs_id id;
  bool read_only;
};

/* q:where(fn): a query whose rows must also satisfy a function. It has the methods of queries: each
** begins with check_source and uses source_loop. */

/* q:where(fn) */
int query_where(lua_State *L);

/* The query at argument 1, or the query of the q:where(fn) there, which it replaces; an error if it
** cannot be used. Leaves `arguments` arguments, followed by the q:where(fn), or nil. */
struct query_box *check_source(lua_State *L, int arguments);

/* check_source for a query over entities, not events. */
struct query_box *check_entities(lua_State *L, int arguments);

/* Pushes a closed loop over the query at 1, for a for loop or a function form, like loop_push,
** restricted by the q:where(fn) at an index unless that is nil. */
struct loop_box *source_loop(lua_State *L, int filter, bool by_for, int views);

/* Forms that reduce a function's results for all rows to one value. */

/* q:sum(fn), q:min(fn), q:max(fn) */
int query_sum(lua_State *L);
int query_min(lua_State *L);
int query_max(lua_State *L);

/* for ... in index:within(...): iterates over what was found. */

#define FOUND_WORLD 1    /* user values: the world's object; the same as a loop's */
#define FOUND_INDEX 2    /* the index's object */
#define FOUND_VALUES 2   /* and the views of the index's slots */

/* A loop over an index. Inside systems nothing has to be done when it ends. Elsewhere it holds the
** edition of its rows, so it is an object of another kind. */
struct found_box {
  struct head head;
  struct world_box *box;
  const struct copies *copies;
  struct edition *edition;   /* the edition of its rows */
  uint64_t moment;           /* the world's: at another moment the loop has ended */
  uint64_t version;          /* of the components: with others, too, it has ended */
  struct ecs_search search;
  uint32_t row;              /* the row that views show; NONE: before the first or at the end */
  bool begun;                /* its views have been made */
  bool ended;
};

/* Pushes what `for` begins with: a search in the current edition of the index whose object is at 1.
** Returns the number of values. */
int found_begin(lua_State *L, struct world_box *box, struct ecs_index *index,
                const struct ecs_search *search);

/* Pushes an ended loop over copies, for the object at 1; the world's is its first user value. */
struct found_box *found_push(lua_State *L, struct world_box *box, const struct copies *copies,
                             bool holds);

/* Ends a loop over an index: its views no longer show anything. */
void found_end(struct found_box *found);

/* Moves to a row, and pushes what the loop at an index yields for it, with nil for absent values,
** and its entity. */
void found_push_row(lua_State *L, int loop, struct found_box *found, uint32_t row);

/* The row that a view of a loop over an index shows; raises why if it shows none. */
uint32_t found_row(lua_State *L, const struct view_box *view);

/* Whether such a view shows a row. */
bool found_is_open(const struct view_box *view);

/* Raises an error for a write to such a view. */
int found_refuse_write(lua_State *L, const struct view_box *view);

/* The scan of a function that is to be registered: its bytecode shows wrong uses of its arguments,
** which would stop its first run. */

struct scan {
  struct world_box *box;
  const char *what;                  /* the start of messages */
  const ecs_query *query;            /* NULL: none */
  bool elements;                     /* the function is called for elements of an array */
  enum system_form form;
  bool promises;                     /* it must not write what is read-only in the query */
  const struct migration *changes;   /* NULL: checks every component; otherwise only those that this
                                     ** changes */
  int world;                         /* index of the world's object; 0: no warnings */
  /* Not NULL: receives each component that the function's views write; nothing is then raised. It
  ** finds the world's object at 3. */
  void (*stored)(lua_State *L, const struct scan *scan, const struct component *root);
};

/* Raises "what: file:line: why" for a field that a view or resource does not have, according to the
** registry; for a broken promise; and (unless only changes matter) for parameters without
** arguments, a misplaced `dt`, and an ignored result. Warns about a view used as a number, and a
** number used as a view. For FORM_KEY also raises errors for writes to anything the function has
** not created, and for changes; without a query, for these only. */
void scan_function(lua_State *L, const struct scan *scan, int function);

/* Observers with Lua functions: calling them. */

/* Calls observers of applied changes, if no scope is open: how public calls end
** (world_box.observers.call). Raises what they raise. */
void observe(lua_State *L, struct world_box *box, int world_index);

/* The core's callback. */
ecs_status script_observe(ecs_world *world, struct ecs_sight *sight, void *ud);

#endif
