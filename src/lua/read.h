/* Reading an entity's component into Lua values. */
#ifndef ECS_LUA_READ_H
#define ECS_LUA_READ_H

#include "binding.h"

/* Where a component's cells are. Looked up again when a finalizer has used the world. */
struct place {
  lua_State *L;
  struct world_box *box;
  int world_index;
  uint32_t calls;
  ecs_id entity;
  const struct component *component;
  ecs_id id;                   /* the component's */
  const struct table *table;   /* NULL: the component's defaults */
  uint32_t first;
  uint32_t row;
};

/* Looks for the component; false when the entity is dead or does not have it. A tag has no
** first column: NONE. */
bool place_find(struct place *place, lua_State *L, struct world_box *box, int world_index,
                ecs_id entity, const struct component *component);

/* The component's defaults instead of an entity's values. */
void place_defaults(struct place *place, lua_State *L, struct world_box *box,
                    int world_index, const struct component *component);

/* After a Lua call that made an object: raises an error when a finalizer took the entity,
** the component or the world away meanwhile. */
void place_hold(struct place *place);

void push_leaf(struct place *place, uint32_t leaf);
/* Pushes a declared field's value: a fresh table for an array or a nested component. */
void push_field(struct place *place, const struct field *field);
/* Pushes a fresh table of all fields; true for a tag. */
void push_component(struct place *place);

#endif
