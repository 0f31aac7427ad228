/* Failures as Lua errors: statuses of the core and Lua's own memory error; and calls during which
** no finalizer runs. */
#ifndef ECS_LUA_BIND_STATUS_H
#define ECS_LUA_BIND_STATUS_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "core/world/lifetime.h"
#include "lua/bind/object.h"

/* Raises the Lua error for a status: the world's message with its position, or Lua's own memory
** error. Never returns. */
int raise_status(lua_State *L, const ecs_world *world, ecs_status status);

/* Raises the failure of a core call, if it failed. */
static inline void raise_failure(lua_State *L, const ecs_world *world, ecs_status status) {
  if (UNLIKELY(status != ECS_OK)) raise_status(L, world, status);
}

/* raise_status as "bad argument #arg to 'function' (message)", unless `arg` is 0. */
int raise_argument(lua_State *L, const ecs_world *world, ecs_status status, int arg);

/* luaL_error with the formats of core/base/text.h. The message is complete before Lua is called, so
** it may include text that a finalizer could free. */
FORMAT(2, 3) int raise_error(lua_State *L, const char *format, ...);

/* Keeps a text so that raise_error has memory for it; false when out of memory. For loop_owner. */
bool words_reserve(void *world_box, const char *text);

/* Raises Lua's own "not enough memory". */
NORETURN int raise_memory(lua_State *L);

/* On ECS_ENOMEM collects garbage and returns true once, so that the caller tries again. Also
** returns false if a finalizer has used the world meanwhile: what the caller holds may then be
** gone, and it raises the memory error (raise_status for ECS_ENOMEM needs no world). */
bool retry(lua_State *L, struct world_box *box, ecs_status status, bool *tried);

/* Sets `status` to the result of a core call or, if memory was short, to its result after
** collecting garbage. */
#define RETRY(L, box, status, call) \
  do { \
    bool tried_ = false; \
    do \
      (status) = (call); \
    while (retry(L, box, status, &tried_)); \
  } while (0)

/* Makes a core call, again if memory was short; raises its failure as that of an argument. */
#define RETRY_OR_BLAME(L, box, arg, call) \
  do { \
    ecs_status status_; \
    RETRY(L, box, status_, call); \
    if (UNLIKELY(status_ != ECS_OK)) raise_argument(L, (box)->world, status_, arg); \
  } while (0)
#define RETRY_OR_RAISE(L, box, call) RETRY_OR_BLAME(L, box, 0, call)

/* memory_grow with a second try; raises the memory error. */
void *scratch_grow(lua_State *L, struct world_box *box, void *items, uint32_t *capacity,
                   uint64_t need, size_t item);

/* Runs a C function like lua_call with the collector stopped, so that no finalizer runs while it
** makes objects from what the core points to. The collector catches up at the end. */
void call_held(lua_State *L, lua_CFunction function, int arguments, int results);

/* call_held, but like lua_pcall: leaves an error on the stack and returns Lua's status. The stack
** must have room for one more value. No finalizer runs at the end, either: the collector catches up
** when the world settles; for NULL, at once. */
int try_quietly(lua_State *L, struct world_box *box, lua_CFunction function, int arguments,
                int results);

/* How public calls end. */

/* Drops the values of released slots, and tells the collector the world's weight. */
void settle_rest(lua_State *L, struct world_box *box, int world_index);

/* Whether settle has anything to do, apart from observers. */
static inline bool settle_is_due(const struct world_box *box) {
  return box->any.owner.released_head || *box->bytes - box->weight.reported >= 65536 ||
         box->owed >= 65536;
}

/* The last step of every public call that may have grown or freed memory, or applied observed
** changes: the core must not be used after it, and box->world may be NULL. Raises what observers
** raise. Returns 0, the number of results of most of these calls. */
static inline int settle(lua_State *L, struct world_box *box, int world_index) {
  if (UNLIKELY(!box->world)) return 0;
  world_be_sure(box->world);
  if (UNLIKELY(*box->changes)) box->observe(L, box, world_index);
  if (UNLIKELY(!box->world || *box->changes)) return 0;   /* any slots released by copies */
  if (UNLIKELY(settle_is_due(box))) settle_rest(L, box, world_index);
  return 0;
}

/* Ends a public call that has stored cells of any type. */
void cells_stored(lua_State *L, struct world_box *box, int world_index);

/* Calling observers where a public call does not end with settle. */

/* Raises what an ended scope could not apply, once observers have been called for the rest. */
int observed_raise(lua_State *L, struct world_box *box, int world_index, ecs_status status);

/* Called before the contents of a world are replaced: calls observers for the changes of loops left
** open. The world is at argument 1, and is open afterwards. */
void observed_loops(lua_State *L, struct world_box *box);

/* Protected calls that classify errors. */

/* Pushes native.try(fn, ...): true and the results of fn; or false, the error, and its kind:
** "memory" (out of memory), "yield" (it tried to yield), or nil. Nothing in fn can yield, since a
** coroutine dropped meanwhile would leave fn half done. */
void attempt_push(lua_State *L);

/* lua_pcall for a callback; if it yields, the error says so. The stack needs room for one more
** value. */
int attempt_call(lua_State *L, int arguments, int results);

/* Its message handler; leaves the error at 1. */
int attempt_handler(lua_State *L);

#endif
