/* Reading an entity's component into Lua values. */
#ifndef ECS_LUA_BIND_READ_H
#define ECS_LUA_BIND_READ_H

#include "lua/bind/world_box.h"

#include "core/storage/fields.h"
#include "core/storage/layout.h"
#include "core/ids/world.h"

/* Where a component's cells are. Looked up again when a finalizer has used the world. */
struct place {
  lua_State *L;
  struct world_box *box;
  int world_index;
  uint32_t calls;
  ecs_id entity;
  const struct component *component;
  ecs_id id;                   /* the component's */
  uint64_t version;            /* registry.version when it was looked up */
  const struct column *columns;   /* NULL: nowhere, its defaults are read */
  uint32_t row;
};

/* Looks for the component of a living entity among sparse ones; false when it is not there. */
bool place_look_aside(struct place *place);

/* The same wherever it is kept, by the entity's record. */
static inline bool place_look(struct place *place, const struct record *record) {
  const struct table *table = record_table(place->box->world, record);
  const struct layout *layout = table ? table_find(table, place->id) : NULL;
  if (!layout || !layout->taken) return place_look_aside(place);
  place->columns = layout->columns;
  place->row = record->row;
  return true;
}

static inline void place_init(struct place *place, lua_State *L, struct world_box *box,
                              int world_index, ecs_id entity,
                              const struct component *component) {
  place->L = L;
  place->box = box;
  place->world_index = world_index;
  place->calls = box->calls;
  place->entity = entity;
  place->component = component;
  place->id = component->id;
  place->version = *box->version;
  place->columns = NULL;
}

/* After a Lua call that made an object: raises an error when a finalizer took the entity,
** the component or the world away meanwhile. */
void place_hold(struct place *place);

void push_leaf(struct place *place, uint32_t leaf);
/* Pushes a declared field's value: a fresh table for an array or a nested component. */
void push_field(struct place *place, const struct field *field);
/* Pushes a fresh table of all fields; true for a tag. */
void push_component(struct place *place);

#endif
