/* The short way of a spawner: numbers go to the columns of the table where the last entity went. */
#ifndef ECS_LUA_SPAWN_WAY_H
#define ECS_LUA_SPAWN_WAY_H

#include <lauxlib.h>

#include "core/base/one_cell.h"

struct part;
struct world_box;

#define WAY_VALUES 16

/* Where an entity went, if all that its spawner takes are numbers for columns of its table. */
struct way {
  uint64_t version;            /* registry.version when it went */
  uint32_t table, serial;      /* the table, told apart from a later one in its place; NONE: there
                               ** is more to do */
  uint32_t count;              /* of the values */
  struct {
    uint32_t column;
    ecs_type type;
    ecs_cell value;            /* the default */
  } values[WAY_VALUES];
};

/* There is none yet. */
void way_begin(struct way *way);

/* Finds the way that an entity of these parts went, for those that come, unless there is none. */
void way_find(const struct world_box *box, struct way *way, ecs_id id, const struct part *parts,
              uint32_t count);

/* Spawns an entity with the arguments from 1 on, the same way; false when it is another case, and
** nothing is done. Takes 35 % off. */
bool way_go(lua_State *L, struct world_box *box, const struct way *way, ecs_id *id);

#endif
