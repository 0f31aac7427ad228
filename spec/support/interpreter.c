/* An interpreter for specs: runs a script with its arguments, as `lua` does. For machines of which
** only a compiler is there it has all modules in C that specs need (ALL_MODULES): those of busted's
** libraries, as far as busted uses them, too. */
#define _POSIX_C_SOURCE 200809L

#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef ALL_MODULES
#include <time.h>
#include <unistd.h>
#ifdef _WIN32
#include <windows.h>
#endif

int luaopen_ecs_native(lua_State *L);
int luaopen_lfs(lua_State *L);
int luaopen_spec_starve(lua_State *L);

static int push_clock(lua_State *L, clockid_t id) {
  struct timespec now;
  if (clock_gettime(id, &now) != 0) return luaL_error(L, "there is no such clock");
  lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec * 1e-9);
  return 1;
}

static int push_time(lua_State *L) { return push_clock(L, CLOCK_REALTIME); }
static int push_monotonic_time(lua_State *L) { return push_clock(L, CLOCK_MONOTONIC); }

static int sleep_seconds(lua_State *L) {
  lua_Number seconds = luaL_checknumber(L, 1);
  struct timespec pause = {(time_t)seconds, 0};
  pause.tv_nsec = (long)((seconds - (lua_Number)pause.tv_sec) * 1e9);
  nanosleep(&pause, NULL);
  return 0;
}

#ifdef _WIN32
static int let_go(lua_State *L) {
  CloseHandle(lua_touserdata(L, lua_upvalueindex(1)));
  return 0;
}

/* hold(path): nobody else can read the file until the function that it returns is called. */
static int hold_file(lua_State *L) {
  HANDLE file = CreateFileA(luaL_checkstring(L, 1), GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) return 0;
  lua_pushlightuserdata(L, file);
  lua_pushcclosure(L, let_go, 1);
  return 1;
}
#endif

static int open_system(lua_State *L) {
  static const luaL_Reg functions[] = {{"gettime", push_time},
                                       {"monotime", push_monotonic_time},
                                       {"sleep", sleep_seconds},
#ifdef _WIN32
                                       {"hold", hold_file},
#endif
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

static int is_terminal(lua_State *L) {
  FILE **file = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  lua_pushboolean(L, *file && isatty(fileno(*file)));
  return 1;
}

static int open_term(lua_State *L) {
  static const luaL_Reg functions[] = {{"isatty", is_terminal}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

static const luaL_Reg modules[] = {
  {"ecs.native", luaopen_ecs_native}, {"lfs", luaopen_lfs}, {"spec.starve", luaopen_spec_starve},
  {"system.core", open_system}, {"term.core", open_term}, {NULL, NULL}
};
#else
static const luaL_Reg modules[] = {{NULL, NULL}};
#endif

static int trace(lua_State *L) {
  luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
  return 1;
}

/* luaL_newstate and what `lua` does before it runs a script. */
static lua_State *new_state(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_gc(L, LUA_GCGEN, 0, 0);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  luaL_setfuncs(L, modules, 0);
  lua_createtable(L, argc, 2);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  lua_settop(L, 0);
  return L;
}

/* interpreter [-W] SCRIPT ARGUMENT..., or interpreter -e TEXT. */
int main(int argc, char **argv) {
  bool warns = argc > 1 && strcmp(argv[1], "-W") == 0;
  argc -= warns;
  argv += warns;
  lua_State *L = new_state(argc, argv);
  if (warns) lua_warning(L, "@on", 0);
  bool text = argc == 3 && strcmp(argv[1], "-e") == 0;
  lua_pushcfunction(L, trace);
  int status = text ? luaL_loadstring(L, argv[2]) : luaL_loadfile(L, argc > 1 ? argv[1] : NULL);
  if (status == LUA_OK) {
    int given = text || argc < 2 ? 0 : argc - 2;
    for (int i = 0; i < given; i++) lua_pushstring(L, argv[i + 2]);
    status = lua_pcall(L, given, 0, 1);
  }
  if (status != LUA_OK) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return status != LUA_OK;
}
