/* Forms: the ways in which a query takes a function and calls it for its rows at once, as in
** q:each(fn), q:map(fn), q:run(fn). */
#ifndef ECS_LUA_LOOP_FORM_H
#define ECS_LUA_LOOP_FORM_H

#include "lua/loop/each.h"

struct chance;

struct query_box;

/* Calls the function and arguments at the top of the stack for an open loop, then ends it. An
** error is caught in C, since `__close` may get lost: in a coroutine that dies, or when Lua is out
** of memory. */
void body_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);
/* As body_call for a function form, in a stream of random numbers of its own. */
void form_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);
/* The same where Lua calls a function for each row: its error gets the entity, as kernels' do. */
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

#endif
