/* What a function that is to be registered does with what it will be given, as far as its
** bytecode tells: mistakes that would stop its first run. */
#ifndef ECS_LUA_LOOP_SCAN_H
#define ECS_LUA_LOOP_SCAN_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "lua/api/system_form.h"

struct component;
struct migration;

struct scan {
  struct world_box *box;
  const char *what;                  /* what messages begin with */
  const ecs_query *query;            /* NULL: none */
  enum system_form form;
  bool promises;                     /* what the query reads only must not be written to */
  const struct migration *changes;   /* NULL: of every component; else of what these change */
  int world;                         /* where the world's object is; 0: nothing is warned of */
  /* Not NULL: all that is wanted are the components whose views it writes to; nothing is raised.
  ** It finds the world's object at 3. */
  void (*stored)(lua_State *L, const struct scan *scan, const struct component *root);
};

/* Raises "what: file:line: why" for a field that a view or resource has not, as the registry
** shows their components, for a promise that is broken, and (unless only changes matter) for
** parameters that are not given, a `dt` at another place than its own, and a result that nothing
** takes. Of a view that is used as a number, and a number as a view, it warns. Of FORM_KEY also for
** what it writes to that it has not made, and for commands; without a query for these alone. */
void scan_function(lua_State *L, const struct scan *scan, int function);

#endif
