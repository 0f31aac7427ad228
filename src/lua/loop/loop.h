/* Loops over the tables of a query. */
#ifndef ECS_LUA_LOOP_LOOP_H
#define ECS_LUA_LOOP_LOOP_H

#include <lauxlib.h>
#include <limits.h>

#include "core/base/base.h"
#include "core/base/column.h"
#include "ecs_index.h"
#include "lua/bind/object.h"
#include "lua/bind/version.h"

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

/* What the functions of systems, and others that are registered, are called for. Those that are
** called for no system, a predicate and what gives an index its keys, are last; from the observers'
** on they are given no dt. */

enum system_form { FORM_EACH, FORM_MAP, FORM_RUN, FORM_OBSERVE, FORM_ASK, FORM_KEY };

enum loop_form { LOOP_FOR, LOOP_FUNCTION, LOOP_SYSTEM };

#define ALL_VIEWS INT_MAX

extern const char kind_loop;

extern const luaL_Reg loop_metamethods[];

/* Pushes a closed loop over the query at an index, with a view for each of the first `views`
** terms that give one. */
struct loop_box *loop_push(lua_State *L, int query_index, enum loop_form form, int views);

/* Makes the loop at an index, which a system has kept, ready for another run, with views of its
** own. False when it cannot be, or a finalizer used the world meanwhile. */
bool loop_renew(lua_State *L, int index, struct loop_box *loop, int views);

/* Opens a loop, unless its world was closed meanwhile. From here on the world stages. */
void loop_open(lua_State *L, struct loop_box *loop);

/* What for loops begin with: pushes a function that goes on with the closed loop at the top of the
** stack (its first upvalue), a handle, nil and the handle; opens the loop. Returns 4. */
int loop_begin(lua_State *L, struct loop_box *loop, lua_CFunction next);

/* Goes to the next run of rows: those of a table that lie together, or, where terms are about ties
** or others, a row that matches. False at the end. */
bool loop_next_run(struct loop_box *loop);

/* Comes to a row of one of the query's tables, out of order; of those that match more than once, to
** one of its matches, counted from 0. False when it does not match. */
bool loop_seek(struct loop_box *loop, uint32_t match, uint32_t row, uint32_t turn);

/* Goes to the next piece of a run whose rows the loop, which is at an index, goes through all of.
** The views of the loop do not follow. */
bool loop_next_piece(lua_State *L, int index, struct loop_box *loop);

/* How many values go with a match, behind the entity; pushes the first of them, `most` at most. */
uint32_t loop_value_count(const struct loop_box *loop);
void loop_push_values(lua_State *L, const struct loop_box *loop, uint32_t most);

/* Ends an open loop, its commands apply; it is at an index. */
void loop_commit(lua_State *L, int index, struct loop_box *loop);

/* Ends a system's loop that has come to its end, if it is open: its commands are the system's. */
void loop_end(struct loop_box *loop);

/* Ends a loop, if it is open, and drops its commands. */
void loop_cancel(struct loop_box *loop);

/* Raises what ended a loop that should be open. */
int loop_gone(lua_State *L, const struct loop_box *loop);

/* Ends loops left open as update, run, commit and close do; no effect while the world is
** busy (inside a system, function form or defer). */
ecs_status loops_end(struct world_box *box);

/* loops_end, raised; observers have been told of it then. The world is at 1, and still open. */
void loops_finish(lua_State *L, struct world_box *box);

/* Before the innermost defer ends: ends the loops begun after it. Cannot fail. */
void loops_end_deferred(struct world_box *box, bool keep);

/* Raises that the target of an exclusive relation is not written as a field. */
int refuse_target(lua_State *L, const struct component *relation);

/* Ends what is left open when a system has returned (its commands are kept) or failed. */
void loops_end_system(struct world_box *box, bool keep);

/* Ends the open loops over a query that goes. */
void loops_end_query(const struct query_box *query);

/* Ends the loops of a world that closes. Cannot fail. */
void loops_abandon(struct world_box *box);

/* What a loop is made of: where it has come to in its query's tables, and what is there. */

#define LOOP_WORLD 1         /* user values of a loop; then its views by slot */
#define LOOP_QUERY 2
#define LOOP_WHERE 3         /* the q:where(fn) it goes through, and its rows */
#define LOOP_FILTER 4
#define LOOP_VALUES 4

/* Of a world. */
struct loops {
  struct loop_box *open;           /* newest first */
  struct loop_box *ended;          /* those that WORLD_REFS still anchors */
  struct loop_owner *owner;        /* by which the core ends loops (disown.c) */
};

/* One of a query's terms that give something, in the current run of rows. */
struct slot {
  struct view_box *view;           /* NULL for a single field and for a tag */
  void *data;                      /* a single field's cells */
  const struct column *columns;    /* the component's, or the single field's */
  const struct table *table;       /* whose they are */
  uint32_t first;                  /* row of the columns that the run begins with */
  const struct component *component;
  const struct leaf *leaf;         /* of a single field */
  uint32_t leaf_at;
  ecs_type type;
  bool read_only;
  bool tag;                        /* it gives a truth */
  bool present;
  bool given;                      /* map: whether `cell` is to be written */
  ecs_cell cell;
};

#define NOT_KNOWN (-1)

/* Lua may lose the finalizer of an object when it is out of memory, so nothing points to a loop
** that only its finalizer could unlink: while it is open, WORLD_REFS anchors it (a for loop), its
** C function does (a function form), or its system. Scripts have a handle, which ends it. */
struct loop_box {
  struct world_box *box;
  const struct entity_index *entities;   /* the world's */
  struct chance *chance;           /* and its stream of random numbers */
  const struct query_box *query;
  struct loop_box *previous, *next;   /* the open ones of the world */
  enum loop_form form;
  uint32_t scope;                  /* NONE: its system's */
  uint32_t match;                  /* the query's next table */
  uint32_t behind;                 /* first row behind the run, of the table before that one */
  struct walk *walk;               /* NULL: rows come by whole tables */
  const struct table *table;
  const uint32_t *rows;            /* of the table: those of this run */
  uint32_t row;                    /* what views show */
  uint32_t next_row;
  uint32_t count;                  /* rows of the run */
  uint32_t step;                   /* runs so far */
  /* Of a loop through a q:where(fn), which goes through these rows of the table only, and what
  ** finds them once the loop, which is at an index, has come to a table. */
  const uint64_t *filter;
  void (*fill)(lua_State *L, int loop_index);
  bool by_tables;                  /* tables of which some rows match come as a whole, too; */
  bool partial;                    /* this run is one: `filter` says which do */
  uint32_t filtered;               /* rows that `filter` is about */
  uint32_t piece, piece_end;       /* where the current piece of these begins and ends */
  bool asking;                     /* its function is a predicate for now: it is given no dt */
  bool copied;                     /* its row is a copy of what was, for an observer */
  bool events;                     /* its rows are events, and of no entity */
  bool open;
  bool news;                       /* its query is in use by it: see changes.h */
  bool done;                       /* it came to its end */
  int view_count;                  /* first slots that have a view, unless a single field */
  int parameters;                  /* of a system's function; NOT_KNOWN: ask */
  uint64_t version;                /* of the world's components, when the slots were filled */
  uint32_t slot_count;
  struct slot slots[];
};

/* Functions that are called for the rows of a loop. */

/* Calls the function at an index for every row of the open loop at the top of the stack, which is
** at `loop_index`; may leave values there. */
typedef void (*rows_fn)(lua_State *L, struct loop_box *loop, int loop_index, int function,
                        double dt);
void each_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt);

/* Calls the function for rows of the current run of the loop at an index, from one up to another.
** With a row_fn it returns a value, which is at the top of the stack for each. */
typedef void (*row_fn)(lua_State *L, struct loop_box *loop, uint32_t row, void *ud);
void each_between(lua_State *L, int loop_index, int function, double dt, uint32_t from, uint32_t to,
                  row_fn each, void *ud);

/* The elements of an array as the rows of a system: its function is given their numbers, and dt. */
struct elements {
  struct world_box *box;
  int function;                    /* its index */
  int parameters;
  uint32_t count;
  uint32_t *at;                    /* the number of that which it is called for; else 0 */
  double dt;
};

/* Calls it for elements from one up to another, counted from 0. */
void elements_between(lua_State *L, const struct elements *elements, uint32_t from, uint32_t to);

/* Ends the loops that were begun in an open one, which is at an index, and have not ended. Raises
** what cannot be applied. */
void loop_end_inner(lua_State *L, int index, const struct loop_box *loop);

/* Where the loop advances or ends: a loop within it that was left early is still open where `for`
** does not close it. */
static inline void loop_be_innermost(lua_State *L, int index, const struct loop_box *loop) {
  if (!FOR_CLOSES && loop->open && UNLIKELY(loop->box->loops->open != loop))
    loop_end_inner(L, index, loop);
}

/* q:each() for a for loop: over a closed loop, as loop_begin. */
int each_begin(lua_State *L, struct loop_box *loop);

/* How many parameters the function at an index has; INT_MAX when it takes any number. */
int function_parameters(lua_State *L, int function);

/* How many arguments the function at an index takes: slots, dt (unless it is a predicate), the
** entity, values that go with the match, in this order. */
int wanted_arguments(lua_State *L, int function, const struct loop_box *loop);

/* Forms: the ways in which a query takes a function and calls it for its rows at once, as in
** q:each(fn), q:map(fn), q:run(fn). */

/* Calls the function and arguments at the top of the stack for an open loop, then ends it. An
** error is caught in C, since `__close` may get lost: in a coroutine that dies, or when Lua is out
** of memory. */
void body_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);
/* As body_call for a function form, in a stream of random numbers of its own. */
void form_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);
/* As form_call where Lua calls a function for each row: the entity is put before its error. */
void rows_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);

/* A lua_pcall without results in an open loop, while another stream of random numbers is open. */
int drawing_pcall(lua_State *L, const struct loop_box *loop, int arguments,
                  struct chance stream);

/* What function forms begin with: the query, or q:where(fn), at argument 1, fn at 2, dt at 3; as
** check_source leaves it. */
struct query_box *check_form(lua_State *L);
/* Calls fn for all rows, by `rows`, after check_form. */
void run_form(lua_State *L, bool views, rows_fn rows);

/* A form that is done again in another way was no use of its query, which has seen what it had seen
** before, nor of random numbers. */
void form_take_back(const struct query_box *query, uint64_t seen);

/* The stack on which the core calls scripts' functions, and what they raise is kept. */

/* What the stack of box->systems->running (in the C function that called the core), and that of
** box->systems->host, begins with. */
#define FRAME_WORLD 1
#define FRAME_ERROR 2        /* of a system that has failed */
#define FRAME_HANDLER 3      /* of the on_error handler itself */
#define FRAME_OBJECT 2       /* behind each of these two what was raised, if it is no text */
#define FRAME_TRACE 6        /* the message handler of protected calls */
#define FRAME_REFS 7         /* the world's WORLD_REFS */
#define FRAME_SIZE 7

/* A message handler: the error as text, with a traceback, unless it has one. */
int frame_trace(lua_State *L);

/* Keeps what a call protected by FRAME_TRACE has left at the top of the stack, popping it, in
** FRAME_ERROR or FRAME_HANDLER. */
void frame_keep(lua_State *L, int slot, int status);

/* Calls a function of the core that calls scripts' functions, and raises what they, or it, fail
** with. The frame is laid out, what is behind it stays: callbacks raise nothing, so that what is
** entered here is also left. The world may be closed then. */
void run_in_frame(lua_State *L, struct world_box *box,
                  ecs_status (*run)(ecs_world *world, const void *ud), const void *ud);

/* Makes the thread in which functions of this state run when a host, or a module in C, does what
** calls them: its stack begins with a frame. The world's object is at an index. */
void frame_need_host(lua_State *L, struct world_box *box, int world_index);

/* q:map: values of single fields in, values out. */

/* As each_rows (each.h) for a function that is given fields, and returns them anew. */
void map_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt);

/* As map_rows for the rows of the loop's current run, and for one of them. */
void map_here(lua_State *L, int loop_index, int function, double dt);
void map_row(lua_State *L, int loop_index, int function, double dt, uint32_t row);

/* Raises unless every term that gives something is a single field or a tag; where `idle`, not while
** nothing matches, as a system does nothing then. */
bool map_check(lua_State *L, const ecs_query *query, bool idle);

/* Chunks: the rows of one table as a loop comes to it. */

#define CHUNK_LOOP 1         /* user values of a chunk and of a column */
#define CHUNK_ENTITIES 2
#define CHUNK_VALUES 2

/* The rows of one table: of the loop's current one as long as `step` is the loop's. */
struct chunk_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
};

extern const char kind_chunk;

extern const luaL_Reg chunk_metamethods[];
/* Methods that __index looks up itself. */
extern const luaL_Reg chunk_methods[];

/* q:chunks() */
int query_chunks(lua_State *L);

/* Raises unless the loop is open and where it was. */
void step_check(lua_State *L, const struct loop_box *loop, uint32_t step);

/* Columns of chunks. */

/* One field of a chunk's rows, or, without a leaf, their entities. */
struct column_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
  uint32_t leaf_at;
  const struct component *component;
  const struct leaf *leaf;
  void *data;
  const struct table *table;   /* whose cells these are, from a row on, by an id of it */
  uint32_t first;
  ecs_id id;
  bool read_only;
};

extern const char kind_column;

extern const luaL_Reg column_metamethods[];
/* Methods that __index looks up itself. */
extern const luaL_Reg column_methods[];

/* q:where(fn): a query whose rows also satisfy a function. Its methods are those of queries: each
** begins with check_source, and goes over source_loop. */

extern const char kind_where;

extern const luaL_Reg where_metamethods[];

/* q:where(fn) */
int query_where(lua_State *L);

/* The query at argument 1, or the one that the q:where(fn) there is about, which it replaces; an
** error when it cannot be used. There are so many arguments then, and behind them the q:where(fn),
** or nil. */
struct query_box *check_source(lua_State *L, int arguments);

/* As check_source for a query that goes through entities, and not through events. */
struct query_box *check_entities(lua_State *L, int arguments);

/* Pushes a closed loop over the query at 1, of a for loop or a function form, as loop_push, through
** the q:where(fn) at an index unless that is nil. */
struct loop_box *source_loop(lua_State *L, int filter, bool by_for, int views);

/* Forms that bring what a function returns for each row to one value. */

/* q:sum(fn), q:min(fn), q:max(fn) */
int query_sum(lua_State *L);
int query_min(lua_State *L);
int query_max(lua_State *L);

/* for ... in index:within(...): going through what has been found. */

#define FOUND_WORLD 1    /* user values: the world's object; the same as a loop's */
#define FOUND_INDEX 2    /* the index's object */
#define FOUND_VALUES 2   /* and the views of the index's slots */

/* Such a loop. Inside of systems nothing has to be done when it ends; elsewhere it holds what it
** goes through, so that it is one of another kind. */
struct found_box {
  struct head head;
  struct world_box *box;
  const struct copies *copies;
  struct edition *edition;   /* whose they are */
  uint64_t moment;           /* of the world: in another one it is over */
  uint64_t version;          /* of its components: with others, too */
  struct ecs_search search;
  uint32_t row;              /* what views show; NONE: nothing yet, or no more */
  bool holds;
  bool begun;                /* its views are made */
  bool ended;
};

extern const char kind_found, kind_held;
extern const luaL_Reg found_metamethods[], held_metamethods[];

/* Pushes what `for` begins with: a search in the edition of now of the index whose object is at 1.
** Returns how many values. */
int found_begin(lua_State *L, struct world_box *box, struct ecs_index *index,
                const struct ecs_search *search);

/* Pushes a loop through copies that has ended, of the object at 1, whose first user value is the
** world's. */
struct found_box *found_push(lua_State *L, struct world_box *box, const struct copies *copies,
                             bool holds);

/* Ends it: its views show nothing any more. */
void found_end(struct found_box *found);

/* Comes to a row, and pushes what the loop at an index gives for it, nil for what is absent, and
** its entity. */
void found_push_row(lua_State *L, int loop, struct found_box *found, uint32_t row);

/* The row that a view of such a loop shows; raises why when it shows none. */
uint32_t found_row(lua_State *L, const struct view_box *view);

/* Whether it shows one. */
bool found_is_open(const struct view_box *view);

/* Raises that a view of one is written to. */
int found_refuse_write(lua_State *L, const struct view_box *view);

/* What a function that is to be registered does with what it will be given, as far as its
** bytecode tells: mistakes that would stop its first run. */

struct scan {
  struct world_box *box;
  const char *what;                  /* what messages begin with */
  const ecs_query *query;            /* NULL: none */
  bool elements;                     /* it is called for elements of an array */
  enum system_form form;
  bool promises;                     /* what the query reads only must not be written to */
  const struct migration *changes;   /* NULL: of every component; else of what these change */
  int world;                         /* where the world's object is; 0: nothing is warned of */
  /* Not NULL: all that is wanted are the components whose views it writes to; nothing is raised.
  ** It finds the world's object at 3. */
  void (*stored)(lua_State *L, const struct scan *scan, const struct component *root);
};

/* Raises "what: file:line: why" for a field that a view or resource has not, as the registry
** shows their components, for a promise that is broken, and (unless only changes matter) for
** parameters that are not given, a `dt` at another place than its own, and a result that nothing
** takes. Of a view that is used as a number, and a number as a view, it warns. Of FORM_KEY also for
** what it writes to that it has not made, and for commands; without a query for these alone. */
void scan_function(lua_State *L, const struct scan *scan, int function);

/* Observers whose bodies are Lua functions: how they are called. */

/* Tells observers of what has been applied, if no scope is open: what public calls end with
** (world_box.observers.call). Raises what they do. */
void observe(lua_State *L, struct world_box *box, int world_index);

/* The core's callback. */
ecs_status script_observe(ecs_world *world, struct ecs_sight *sight, void *ud);

#endif
