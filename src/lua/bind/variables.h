/* Texts of queries with the values of their $variables. */
#ifndef ECS_LUA_BIND_VARIABLES_H
#define ECS_LUA_BIND_VARIABLES_H

#include <lauxlib.h>

#include "ecs_value.h"

struct world_box;

#define VARIABLES_MOST 16

/* Lives as long as the table that it was read from. */
struct query_text {
  const char *text;          /* NULL: none */
  uint32_t count;
  ecs_variable variables[VARIABLES_MOST];
};

/* The table at an argument, if any: { p = id }, a component or tag also by its name. */
void variables_of_argument(lua_State *L, struct world_box *box, int arg, struct query_text *out);

/* The same at an index, or, `marked`, among other options: { ["$p"] = id }. `what` begins the
** messages. */
void variables_of_options(lua_State *L, struct world_box *box, int index, bool marked,
                          const char *what, struct query_text *out);

#endif
