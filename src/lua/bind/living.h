/* Ids of living entities as arguments. */
#ifndef ECS_LUA_BIND_LIVING_H
#define ECS_LUA_BIND_LIVING_H

#include "lua/bind/id_args.h"
#include "lua/bind/world_box.h"

#include "core/ids/record.h"

/* Raises what is wrong with an id argument. */
int no_entity(lua_State *L, const struct world_box *box, int arg);

/* The id of a living entity and its record; else the error that says which of the four ways it is
** not one. */
static inline ecs_id check_entity_record(lua_State *L, const struct world_box *box, int arg,
                                         const struct record **record) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  *record = entity_find(box->entities, id);
  if (UNLIKELY(!is_integer || !*record)) no_entity(L, box, arg);
  return id;
}

static inline ecs_id check_entity(lua_State *L, const struct world_box *box, int arg) {
  const struct record *record;
  return check_entity_record(L, box, arg, &record);
}

#endif
