/* Tables of options, as world:system and world:phase take them. `what` begins the messages. */
#ifndef ECS_LUA_BIND_OPTIONS_H
#define ECS_LUA_BIND_OPTIONS_H

#include <lauxlib.h>

/* Raises for a key of the table at an index that `known`, up to NULL, has not, with the nearest. */
void check_keys(lua_State *L, int index, const char *what, const char *const *known);

/* These push an option by raw access. */
int option(lua_State *L, int index, const char *key);
/* NULL when it is absent; the text lives as long as it is on the stack. */
const char *text_option(lua_State *L, int index, const char *what, const char *key);
/* 0 when it is absent, else above 0. */
double seconds_option(lua_State *L, int index, const char *what, const char *key);
/* The same of a string or a list of strings, up to NULL; they live as long as what was pushed. */
const char *const *names_option(lua_State *L, int index, const char *what, const char *key);

/* What a query is made of. */
#define ONE_TEXT "one text, as \"Position, Velocity\""

/* Raises that the value at the top of the stack is not what an option is. */
void wrong_option(lua_State *L, const char *what, const char *key, const char *expected);

#endif
