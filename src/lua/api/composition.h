/* What scripts give entities: { Position = { x = 1 }, Frozen = true, [id] = {} }, read into parts
** for the core. */
#ifndef ECS_LUA_API_COMPOSITION_H
#define ECS_LUA_API_COMPOSITION_H

#include <lauxlib.h>

#include "core/entity/entity.h"
#include "lua/bind/input.h"

#define PARTS_LOCAL 16

struct migration;

/* The components that a spawn's table names, with their writes. */
struct composition {
  struct input input;
  uint32_t count;
  uint32_t capacity;
  bool tied;               /* a relation is among them */
  const struct migration *migration;   /* values are for components as it leaves them; or NULL */
  struct part *parts;      /* `local`, or the world box's scratch */
  struct part local[PARTS_LOCAL];
};

/* Begins one without components. */
void composition_begin(struct composition *plan, lua_State *L, struct world_box *box);

/* Reads a table at a positive index, behind what was read before; nothing stands for an empty one.
** Parts know how many writes they have, and not where. */
void composition_add(struct composition *plan, int index);

/* Reads a component whose name or id is at the top of the stack but one, its value at the top, of
** which the index is absolute. */
void composition_add_part(struct composition *plan, int index);

/* Tells the parts where their writes are: nothing is read any more. */
void composition_end(struct composition *plan);

/* All three; and parts, from one on, in the order in which ties are made. */
void composition_read(struct composition *plan, lua_State *L, struct world_box *box, int index);
void composition_order(struct composition *plan, uint32_t first, uint32_t count);

#endif
