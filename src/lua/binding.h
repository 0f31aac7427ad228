/* What the files of the binding share: the objects that Lua sees, and how they are checked. */
#ifndef ECS_LUA_BINDING_H
#define ECS_LUA_BINDING_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "../core/world.h"
#include "../ecs_lua.h"

/* User values of a world: what it keeps alive, never in the registry. */
#define WORLD_ANY 1      /* table: any slot -> value */
#define WORLD_REFS 2     /* table: anchored functions, views, queries by integer */

struct loop_box;

/* Every object starts so; an address that is not at `self` is not one of ours. */
struct head {
  const void *kind;      /* one of the kind_ addresses */
  const void *self;
};

struct world_box {
  struct head head;
  ecs_world *world;      /* NULL once closed */
  bool lent;             /* by a host, who frees it */
  lua_State *running;    /* the state that called update or run, for systems */
  struct loop_box *loops;   /* open ones, newest first */
  size_t reported;       /* bytes the collector has heard of (law 8) */
  ecs_query *unused;     /* reserved for the files that need it */
};

extern const char kind_world, kind_query, kind_loop, kind_view, kind_chunk;

/* The object at an index when it is of that kind, else NULL. Safe for any value: foreign
** userdata are told apart by size, kind and self. */
static inline void *box_test(lua_State *L, int index, const void *kind, size_t size) {
  struct head *head = lua_touserdata(L, index);
  if (UNLIKELY(!head || lua_rawlen(L, index) < size)) return NULL;
  return head->kind == kind && head->self == head ? head : NULL;
}

/* The open world at argument `arg`, or an error: "world expected, got nil", "the world is
** closed". */
struct world_box *check_world(lua_State *L, int arg);

/* Raises the Lua error for a status: the world's message with the position, or Lua's own
** memory error. Never returns. */
int raise_status(lua_State *L, const ecs_world *world, ecs_status status);

/* As raise_status, but as "bad argument #arg to 'function' (message)". */
int raise_argument(lua_State *L, const ecs_world *world, ecs_status status, int arg);

/* On ECS_ENOMEM collects garbage and says so once, so that the caller tries again:
**   do status = core_call(...); while (retry(L, status, &tried)); */
bool retry(lua_State *L, ecs_status status, bool *tried);

/* At the end of every public call that may have grown or freed: clears released any slots,
** reports growth to the collector. */
void settle(lua_State *L, struct world_box *box, int world_index);

/* ---- arguments (args.c) ---------------------------------------------------------- */

/* An id argument: an integer, or a float with an integer value; never a string. */
ecs_id check_id(lua_State *L, int arg);
/* The same, of a living entity; one of the four errors else. */
ecs_id check_entity(lua_State *L, struct world_box *box, int arg);
/* A component by id or name; `leaf` is NONE unless the name had a field ("Position.x"). */
struct component *check_component(lua_State *L, struct world_box *box, int arg);
struct component *check_component_leaf(lua_State *L, struct world_box *box, int arg,
                                       uint32_t *leaf);
double check_seconds(lua_State *L, int arg);

/* ---- values (value.c) ------------------------------------------------------------ */

/* A leaf's cell from the Lua value at an index; errors name component, field and value.
** May take an `any` slot and intern a string: nothing is stored yet. */
void value_to_cell(lua_State *L, struct world_box *box, int world_index,
                   const struct component *component, uint32_t leaf, int index,
                   ecs_cell *cell);
/* Pushes a leaf's cell. */
void push_cell(lua_State *L, struct world_box *box, int world_index,
               const struct leaf *leaf, ecs_cell cell);

#endif
