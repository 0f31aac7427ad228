/* Differences between the versions of Lua that the binding is built for. How they encode functions
** is known only in src/front. */
#ifndef ECS_LUA_BIND_VERSION_H
#define ECS_LUA_BIND_VERSION_H

#include <lauxlib.h>

#include "core/base/base.h"

#define STEP_LIMIT ((size_t)1 << 30)     /* most bytes that the collector is told at once */

#if LUA_VERSION_NUM >= 505

/* Stops the running collector, and restarts it. Lua 5.5 cannot resume it where it was: the next
** allocation does a step, which may begin a cycle. */
static inline void collector_hold(lua_State *L) { lua_gc(L, LUA_GCSTOP); }
static inline void collector_release(lua_State *L) { lua_gc(L, LUA_GCRESTART); }

#define STEPS_MOST 64

/* Makes the collector do what it would do if so many bytes were allocated, up to the end of a
** cycle. A step of Lua 5.5 does the same work for any number of bytes. */
static inline void collector_step(lua_State *L, size_t bytes) {
  if (bytes > STEP_LIMIT) bytes = STEP_LIMIT;
  size_t step = bytes / STEPS_MOST, usual = (size_t)lua_gc(L, LUA_GCPARAM, LUA_GCPSTEPSIZE, -1);
  if (step < usual) step = usual;
  if (step == 0) step = bytes;
  for (; bytes > 0; bytes -= step) {
    if (step > bytes) step = bytes;
    if (lua_gc(L, LUA_GCSTEP, step)) return;
  }
}

/* lua_dump of the Lua function at the top. At the end the writer is called with NULL: what it
** leaves on the stack is popped on return. */
static inline int dump_function(lua_State *L, lua_Writer writer, void *ud, bool strip) {
  return lua_dump(L, writer, ud, strip);
}

#else

/* Kilobytes; more than a function allocates, within what Lua counts with. */
#define HELD (sizeof(ptrdiff_t) > 4 ? 1 << 30 : 1 << 19)

/* Restarting a collector begins a cycle; taking back its debt changes nothing. */
static inline void collector_hold(lua_State *L) { lua_gc(L, LUA_GCSTEP, -HELD); }
static inline void collector_release(lua_State *L) { lua_gc(L, LUA_GCSTEP, HELD); }

static inline void collector_step(lua_State *L, size_t bytes) {
  lua_gc(L, LUA_GCSTEP, (int)((bytes < STEP_LIMIT ? bytes : STEP_LIMIT) / 1024));
}

static inline int dump_function(lua_State *L, lua_Writer writer, void *ud, bool strip) {
  int failed = lua_dump(L, writer, ud, strip);
  return failed ? failed : writer(L, NULL, 0, ud);
}

#endif

#endif
