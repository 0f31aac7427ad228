/* Differences between the versions of Lua for which the binding is built. Only src/front knows how
** they encode functions. */
#ifndef ECS_LUA_BIND_VERSION_H
#define ECS_LUA_BIND_VERSION_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "front/bytecode.h"

#define STEP_LIMIT ((size_t)1 << 30)     /* most bytes to report to the collector at once */

#ifdef LUAJIT_VERSION

#define FOR_CLOSES false                 /* leaving a `for` early closes nothing */

/* After the release, the next allocation does a step, which may begin a cycle. */
static inline void collector_hold(lua_State *L) { lua_gc(L, LUA_GCSTOP, 0); }
static inline void collector_release(lua_State *L) { lua_gc(L, LUA_GCRESTART, 0); }

/* Makes the collector do what it would do after that many bytes were allocated. */
static inline void collector_step(lua_State *L, size_t bytes) {
  lua_gc(L, LUA_GCSTEP, (int)((bytes < STEP_LIMIT ? bytes : STEP_LIMIT) / 1024));
}

static inline void collector_collect_old(lua_State *L) { (void)L; }

static inline int dump_function(lua_State *L, lua_Writer writer, void *ud, bool strip) {
  int failed = lua_dump(L, writer, ud, strip);
  return failed ? failed : writer(L, NULL, 0, ud);
}

/* Pushes a thread unknown to scripts: LuaJIT does not tell which thread is its first. */
static inline void push_main_thread(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "ecs.thread");
  if (lua_isthread(L, -1)) return;
  lua_pop(L, 1);
  lua_newthread(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "ecs.thread");
}

/* Pushes a table that maps functions to their numbers of parameters, without keeping them alive. */
static inline void push_parameter_counts(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "ecs.parameters");
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "ecs.parameters");
}

/* (function): records its number of parameters, which only debug.getinfo tells; ~count if it is
** variadic. */
static inline int ask_parameters(lua_State *L) {
  push_parameter_counts(L);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "debug");
  if (lua_istable(L, -1)) lua_getfield(L, -1, "getinfo");
  int count = ~0;
  if (lua_isfunction(L, -1)) {
    lua_pushvalue(L, 1);
    lua_pushliteral(L, "u");
    lua_call(L, 2, 1);
    lua_getfield(L, -1, "isvararg");
    lua_getfield(L, -2, "nparams");
    count = (int)lua_tointeger(L, -1);
    if (lua_toboolean(L, -2)) count = ~count;
  }
  lua_pushvalue(L, 1);
  lua_pushinteger(L, count);
  lua_rawset(L, 2);
  lua_settop(L, 2);
  return 0;
}

/* How many parameters the function at an index has, and whether it is variadic. */
static inline int parameter_count(lua_State *L, int function, bool *any) {
  lua_pushvalue(L, function);
  push_parameter_counts(L);
  lua_pushvalue(L, -2);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    bool running = lua_gc(L, LUA_GCISRUNNING, 0) == 1;
    if (running) collector_hold(L);
    lua_pushcfunction(L, ask_parameters);
    lua_pushvalue(L, -4);
    int status = lua_pcall(L, 1, 0, 0);
    if (running) collector_release(L);
    if (status != 0) lua_error(L);
    lua_pushvalue(L, -3);
    lua_rawget(L, -3);
    lua_replace(L, -2);
  }
  int count = (int)lua_tointeger(L, -1);
  lua_pop(L, 3);
  *any = count < 0;
  return count < 0 ? ~count : count;
}

#else

#define FOR_CLOSES true

/* In generational mode, also collects old objects. */
static inline void collector_collect_old(lua_State *L) {
  if (lua_gc(L, LUA_GCINC, 0, 0, 0) != LUA_GCGEN) return;
  lua_gc(L, LUA_GCGEN, 0, 0);
  lua_gc(L, LUA_GCCOLLECT, 0);
}

/* Pushes the state's first thread. */
static inline void push_main_thread(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
}

/* How many parameters the function at an index has, and whether it is variadic. */
static inline int parameter_count(lua_State *L, int function, bool *any) {
  lua_Debug info;
  lua_pushvalue(L, function);
  lua_getinfo(L, ">u", &info);
  *any = info.isvararg;
  return info.nparams;
}

#if LUA_VERSION_NUM >= 505

/* Stops the running collector, and restarts it. Lua 5.5 cannot resume where it stopped: the next
** allocation does a step, which may begin a cycle. */
static inline void collector_hold(lua_State *L) { lua_gc(L, LUA_GCSTOP); }
static inline void collector_release(lua_State *L) { lua_gc(L, LUA_GCRESTART); }

#define STEPS_MOST 64

/* Makes the collector do what it would do after that many bytes were allocated, up to the end of a
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

/* lua_dump of the Lua function at the top. At the end it calls the writer with NULL: values that
** the writer then leaves on the stack are popped on return. */
static inline int dump_function(lua_State *L, lua_Writer writer, void *ud, bool strip) {
  return lua_dump(L, writer, ud, strip);
}

#else

/* Kilobytes: more than a function allocates, but within the range that Lua counts in. */
#define HELD (sizeof(ptrdiff_t) > 4 ? 1 << 30 : 1 << 19)

/* Restarting a collector would begin a cycle; giving it credit, and taking that back, does not. */
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

/* collector_release, but in Lua 5.4 without running a finalizer. `before` is LUA_GCCOUNT when it
** was held. Returns how many bytes are then still to be reported with collector_step. */
static inline size_t collector_release_quietly(lua_State *L, size_t before) {
  size_t now = (size_t)lua_gc(L, LUA_GCCOUNT, 0), kilobytes = now > before ? now - before : 0;
#ifdef HELD
  kilobytes += 64;   /* allocations that no step has followed */
  lua_gc(L, LUA_GCSTEP, (int)((size_t)HELD - kilobytes));
#else
  collector_release(L);
#endif
  return kilobytes * 1024;
}

/* Whether a 64-bit integer cannot be distinguished from its neighbours in Lua: where numbers are
** doubles, they are exact up to 2^53. */
static inline bool integer_is_wide(int64_t value, bool is_unsigned) {
  const int64_t most = (int64_t)1 << 53;
  return NUMBERS_ARE_DOUBLES && (value > most || value < (is_unsigned ? 0 : -most));
}

#endif
