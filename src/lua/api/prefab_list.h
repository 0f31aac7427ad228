/* The plain list of entities that lua/ecs/prefab.lua makes of a declaration, read for the core. */
#ifndef ECS_LUA_API_PREFAB_LIST_H
#define ECS_LUA_API_PREFAB_LIST_H

#include <lauxlib.h>

#include "core/base/base.h"

struct composition;
struct prefab_node;

/* How many components all of them name as shared; the list is at a stack index. */
uint32_t prefab_list_shared(lua_State *L, int list, uint32_t count);

/* Reads all of them; `shared` has room for what they share. Nodes point into these, into the
** composition, and to texts of the list. */
void prefab_list_read(struct composition *plan, int list, struct prefab_node *nodes,
                      uint32_t count, ecs_id *shared);

/* A C function, (world, list, migration): raises what is wrong with values of such a list, for
** components as the migration will leave them. */
int prefab_list_check(lua_State *L);

#endif
