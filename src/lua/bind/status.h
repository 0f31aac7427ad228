/* Failures as Lua errors: statuses of the core, Lua's own
** memory error; and calls that no finalizer disturbs. */
#ifndef ECS_LUA_BIND_STATUS_H
#define ECS_LUA_BIND_STATUS_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "core/world/lifetime.h"
#include "lua/bind/object.h"

/* Raises the Lua error for a status: the world's message with the position, or Lua's own
** memory error. Never returns. */
int raise_status(lua_State *L, const ecs_world *world, ecs_status status);

/* As raise_status, but as "bad argument #arg to 'function' (message)". */
int raise_argument(lua_State *L, const ecs_world *world, ecs_status status, int arg);

/* As luaL_error, with the formats of core/base/text.h. The message is complete before Lua is
** called, so it may name what a finalizer could take away. */
FORMAT(2, 3) int raise_error(lua_State *L, const char *format, ...);

/* Keeps a text, so that raise_error has memory for it; false when there is none. A loop_owner's. */
bool words_reserve(void *world_box, const char *text);

/* Lua's own "not enough memory". */
NORETURN int raise_memory(lua_State *L);

/* On ECS_ENOMEM collects garbage and says so once, so that the caller tries again. False also when
** a finalizer used the world meanwhile: then what the caller holds may be gone, and it raises the
** memory error (raise_status for ECS_ENOMEM needs no world). */
bool retry(lua_State *L, struct world_box *box, ecs_status status, bool *tried);

/* Sets `status` to what a call of the core returns; when memory was short, to what it returns once
** garbage has been collected. */
#define RETRY(L, box, status, call) \
  do { \
    bool tried_ = false; \
    do \
      (status) = (call); \
    while (retry(L, box, status, &tried_)); \
  } while (0)

/* A call of the core that is tried again when memory was short, and raises what it fails with. */
#define RETRY_OR_RAISE(L, box, call) \
  do { \
    ecs_status status_; \
    RETRY(L, box, status_, call); \
    if (UNLIKELY(status_ != ECS_OK)) raise_status(L, (box)->world, status_); \
  } while (0)

/* memory_grow that is tried again, and raises the memory error. */
void *scratch_grow(lua_State *L, struct world_box *box, void *items, uint32_t *capacity,
                   uint64_t need, size_t item);

/* Runs a C function like lua_call with the collector held, so that no finalizer comes in
** while it makes objects of what the core points to. What the collector owes it does at the end. */
void call_held(lua_State *L, lua_CFunction function, int arguments, int results);

/* As call_held, but like lua_pcall: an error is left on the stack, and Lua's status returned.
** There is room for one value more. */
int try_held(lua_State *L, lua_CFunction function, int arguments, int results);

/* As try_held, but no finalizer comes in at the end, either, until something is allocated. Begins a
** cycle of the collector: for what is rare. */
int try_quietly(lua_State *L, lua_CFunction function, int arguments, int results);

/* What public calls end with. */

/* Forgets values of released any slots, and tells the collector what the world weighs. */
void settle_rest(lua_State *L, struct world_box *box, int world_index);

/* Whether there is anything to do then, but to see to observers. */
static inline bool settle_is_due(const struct world_box *box) {
  return box->any.owner.released_head || *box->bytes - box->weight.reported >= 65536;
}

/* The last thing that every public call does that may have grown or freed, or applied what is
** observed: the core must not be touched after it, box->world may be NULL. Raises what observers
** do. */
static inline void settle(lua_State *L, struct world_box *box, int world_index) {
  if (UNLIKELY(!box->world)) return;
  world_be_sure(box->world);
  if (UNLIKELY(*box->changes)) box->observe(L, box, world_index);
  if (UNLIKELY(!box->world || *box->changes)) return;   /* copies hold released any slots */
  if (UNLIKELY(settle_is_due(box))) settle_rest(L, box, world_index);
}

/* Ends a public call that has stored cells of any type. */
void cells_stored(lua_State *L, struct world_box *box, int world_index);

/* Telling observers where a public call does not simply end: see settle.h. */

/* Raises what a scope that has ended could not apply, once observers have been told of the rest. */
int observed_raise(lua_State *L, struct world_box *box, int world_index, ecs_status status);

/* Before what replaces the contents of a world: tells observers of what loops that were left open
** have done. The world is at argument 1, and open afterwards. */
void observed_loops(lua_State *L, struct world_box *box);

/* Protected calls that say what kind of error it was. */

/* Pushes native.try(fn, ...): true and what fn returns; or false, what was raised, and its kind:
** "memory" (there was not enough), "yield" (it tried to), or nil. Nothing in fn can yield, since a
** coroutine that is dropped while it does would leave fn half done. */
void attempt_push(lua_State *L);

/* lua_pcall for a callback, which says so where that yields; room for one value more is there. */
int attempt_call(lua_State *L, int arguments, int results);

/* Its message handler, which leaves the error at 1. */
int attempt_handler(lua_State *L);

#endif
