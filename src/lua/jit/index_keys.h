/* Keys of indexes that are functions of scripts. */
#ifndef ECS_LUA_JIT_INDEX_KEYS_H
#define ECS_LUA_JIT_INDEX_KEYS_H

#include <lauxlib.h>

#include "ecs_index.h"

struct query_text;
struct world_box;

/* Of a world that scripts have given such a function: what the core knows of it. */
struct key_box;

/* Pushes the object of the function at an index, anchored until it is swept, and tells the core by
** the description. Raises what the function does with what the query gives that cannot be. */
void index_keys_push(lua_State *L, struct world_box *box, int function,
                     const struct query_text *query, ecs_index_desc *desc);

/* Lets go of those that the core has let go of; the world is at an absolute index. */
void index_keys_sweep(lua_State *L, struct world_box *box, int world_index);

/* Whether an index has such a function. */
bool index_has_script(const ecs_index *index);

/* Brings such an index up to date, whose object is at a stack index. Raises why not. */
void index_keys_refresh(lua_State *L, struct world_box *box, int world_index, ecs_index *index);

/* Drops the indexes whose functions are this state's; of a world whose object is gone (NULL), the
** core is told to forget all. */
void indexes_disown(ecs_world *world, const struct world_box *box);

#endif
