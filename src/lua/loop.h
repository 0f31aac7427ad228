/* Loops over the tables of a query. */
#ifndef ECS_LUA_LOOP_H
#define ECS_LUA_LOOP_H

#include <limits.h>

#include "lua/bind/object.h"

struct chance;
struct column;
struct component;
struct entity_index;
struct leaf;
struct loop_owner;
struct query_box;
struct table;
struct view_box;
struct walk;
struct world_box;

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

enum loop_form { LOOP_FOR, LOOP_FUNCTION, LOOP_SYSTEM };

#define ALL_VIEWS INT_MAX
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
  bool open;
  bool done;                       /* it came to its end */
  int view_count;                  /* first slots that have a view, unless a single field */
  int parameters;                  /* of a system's function; NOT_KNOWN: ask */
  uint64_t version;                /* of the world's components, when the slots were filled */
  uint32_t slot_count;
  struct slot slots[];
};

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

/* Goes to the next run of rows: those of a table, or, where terms are about ties or others, a row
** that matches. False at the end. */
bool loop_next_run(struct loop_box *loop);

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

#endif
