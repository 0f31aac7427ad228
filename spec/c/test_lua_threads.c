/* Law 3, reliability line 34: Lua states on threads of their own, each with its worlds, share
** nothing: whole programs, the same on all threads and each beginning with another one, give the
** same digests and images everywhere. And the threads of one world. To be run under
** ThreadSanitizer, too, which keeps the stacks of all allocations, some 100 MB a second: memory
** bounds the deep counts. */
#include <pthread.h>
#include <stdio.h>

#include "lua_state.h"
#include "threads.h"

enum { SEEDS = 10, PROGRAMS = SEEDS + 2 };

static const char code[] =
    "package.path, package.cpath = './?.lua', ''\n"
    "local number, seeds, steps, frames = ...\n"
    "local programs = require 'spec.support.programs'\n"
    "if number == seeds then return programs.kernels(1, seeds) end\n"
    "if number > seeds then return programs.demo(frames) end\n"
    "return programs.random(number + 1, steps)\n";

/* What a program says of its digests, as a number. */
static uint64_t number_of(const char *line) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; *line; line++) hash = (hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
  return hash;
}

static void fail(struct worker *worker, lua_State *L) {
  const char *message = lua_tostring(L, -1);
  snprintf(worker->said, sizeof worker->said, "%s", message ? message : "no text");
}

static void run_program(struct worker *worker, lua_State *L, int program) {
  lua_settop(L, 0);
  luaL_loadstring(L, code);
  lua_pushinteger(L, program);
  lua_pushinteger(L, SEEDS);
  lua_pushinteger(L, by_scale(100, 200, 200));
  lua_pushinteger(L, by_scale(3, 10, 10));
  if (lua_pcall(L, 4, 1, 0) == LUA_OK && lua_isstring(L, -1))
    worker->results[program] = number_of(lua_tostring(L, -1));
  else
    fail(worker, L);
}

static void run_programs(struct worker *worker) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, open_module);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) fail(worker, L);
  for (int i = 0; i < PROGRAMS; i++)
    run_program(worker, L, (i + worker->number * PROGRAMS / THREADS) % PROGRAMS);
  lua_close(L);
}

static void states_share_nothing(void) { run_threads(run_programs); }

static const char sharing[] =
    "package.path, package.cpath = './?.lua', ''\n"
    "local run = require 'spec.support.rule_run'\n"
    "local found = ''\n"
    "run.seeds(701, 700 + ..., function(what) found = found .. what end, 'apart', '3!')\n"
    "return found\n";

static const char beside[] =
    "package.path, package.cpath = './?.lua', ''\n"
    "local generator = require 'spec.support.phase_gen'\n"
    "local sum = 0\n"
    "for seed = 1, ... do\n"
    "  local program = generator.generate(seed + 300)\n"
    "  local what, together = generator.differs_on(program, '3!')\n"
    "  if what then return generator.show(program) .. what end\n"
    "  sum = sum + together\n"
    "end\n"
    "return sum > 0 and '' or 'none ran side by side'\n";

/* What a chunk returns that is given a number. */
static void expect_nothing(const char *chunk, lua_Integer number) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, open_module);
  CHECK_INTEGER(LUA_OK, lua_pcall(L, 0, 0, 0));
  luaL_loadstring(L, chunk);
  lua_pushinteger(L, number);
  CHECK_INTEGER(LUA_OK, lua_pcall(L, 1, 1, 0));
  CHECK_TEXT("", lua_tostring(L, -1));
  lua_close(L);
}

static void threads_share_rows(void) { expect_nothing(sharing, by_scale(8, 50, 100)); }
static void systems_run_side_by_side(void) { expect_nothing(beside, by_scale(6, 30, 80)); }

static const struct test tests[] = {
  {"random functions on three threads of a world do what they do on one", threads_share_rows},
  {"random systems side by side do what they do one after the other", systems_run_side_by_side},
  {"Lua states on six threads run programs as one alone does", states_share_nothing},
};

int main(void) { return RUN_TESTS(tests); }
