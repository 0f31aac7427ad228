/* Loops over the tables of a query. */
#ifndef ECS_LUA_LOOP_LOOP_H
#define ECS_LUA_LOOP_LOOP_H

#include <limits.h>

#include <lauxlib.h>

#include "core/base/base.h"

struct component;
struct loop_box;
struct query_box;
struct world_box;

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

/* The same of rows that the loop, which is at an index, goes through all of: pieces of those runs.
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

#endif
