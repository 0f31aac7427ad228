/* What the methods that register do when their arguments make sense. There are two tables of it:
** one registers now, and one, while scripts are read, keeps what is asked for until a swap. A world
** has the one that holds, so that no method asks which. */
#ifndef ECS_LUA_LIVE_REGISTRAR_H
#define ECS_LUA_LIVE_REGISTRAR_H

#include <lauxlib.h>

#include "core/base/base.h"

struct ecs_component_desc;
struct ecs_phase_desc;
struct world_box;

/* The world is at stack index 1, the method's other arguments behind it. What returns a status
** makes no Lua object and may be tried again; the rest raises. */
struct registrar {
  /* Before a declaration, whose name and fields (as the schema gives them; 0: a tag's) are at stack
  ** indices: true when the component is not the scripts' own, who may not change it. */
  bool (*announce)(lua_State *L, int name, int fields);
  /* Before the error that the component named at an index is made of a type, or requires a
  ** component, that nobody knows. */
  void (*missing)(lua_State *L, int name, const char *type);
  /* Pushes the report of a migration, nil when there was none, if it is ECS_OK. */
  ecs_status (*declare)(lua_State *L, struct world_box *box, const struct ecs_component_desc *desc,
                        bool foreign, ecs_id *id);
  ecs_status (*tag)(struct world_box *box, const char *name, bool foreign, ecs_id *id);
  ecs_status (*resource)(struct world_box *box, ecs_id id);
  /* Takes back the declaration of a component that was to be a resource and cannot be. */
  void (*forget)(struct world_box *box, ecs_id id);
  void (*phase)(lua_State *L, struct world_box *box, const struct ecs_phase_desc *desc);
  void (*system)(lua_State *L, struct world_box *box);
  void (*observer)(lua_State *L, struct world_box *box);
  /* These push the query, whose variables are at 3, the resource's view, an array by its name. */
  void (*query)(lua_State *L, struct world_box *box, const char *text);
  void (*view)(lua_State *L, struct world_box *box);
  void (*array)(lua_State *L, struct world_box *box);
  /* These push an index: one that is declared by the options at 3, one by its name. */
  void (*index)(lua_State *L, struct world_box *box);
  void (*index_of)(lua_State *L, struct world_box *box);
  /* Pushes the prefab's id, nil where it is none yet. */
  void (*prefab)(lua_State *L, struct world_box *box);
};

extern const struct registrar registrar_now;

#endif
