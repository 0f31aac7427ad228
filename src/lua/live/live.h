/* Looking at files: what has changed, and what a directory holds. */
#ifndef ECS_LUA_LIVE_LIVE_H
#define ECS_LUA_LIVE_LIVE_H

#include <lauxlib.h>
#include <lua.h>

#include "core/base/base.h"
#include "core/base/chance.h"
#include "core/change/transact.h"
#include "ecs_types.h"

struct ecs_index;
struct query_box;
struct view_box;
struct world_box;

/* native.stat(path): modification time in nanoseconds, size, inode, whether it is a directory;
** nothing when there is no such file. */
int ecs_native_stat(lua_State *L);

/* native.changes(paths, states): the indices of the paths whose state is not the one given, as
** a list, or nothing when all are the same. States are what native.stat returns, in threes. */
int ecs_native_changes(lua_State *L);

/* native.list(path): the names in a directory, in no order; nothing when it cannot be read. */
int ecs_native_list(lua_State *L);

/* native.now(): the clock that modification times are of, in nanoseconds. */
int ecs_native_now(lua_State *L);

/* While scripts are read: what they register is kept, to be swapped in at once (swap.h) or not at
** all. */

/* Lets go of a transaction that was not committed, if there is one: from here on methods register
** now. */
void stage_drop(struct world_box *box);

/* native.stage(world, recorder, body) */
int ecs_native_stage(lua_State *L);

/* native.declared(world, name, kind): whether there is a "component" that somebody declares (no
** orphan), a "phase", a "system" or an "index" of that name. */
int ecs_native_declared(lua_State *L);

/* What the methods that register do when their arguments make sense. There are two tables of it:
** one registers now, and one, while scripts are read, keeps what is asked for until a swap. A world
** has the one that holds, so that no method asks which. */

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

/* Files that are there whole or not at all. */

/* native.replace(path, bytes): makes the bytes the content of a file, and returns true; or nil and
** a message, and the file is what it was. Whoever reads the path meanwhile, in this process or
** another, finds the old content or the new one; of several who write, the last one's stays. */
int ecs_native_replace(lua_State *L);

/* What scripts have registered takes the place of what they had registered before: at once, or not
** at all. */

/* native.swap(world, plan), inside the body of native.stage. */
int ecs_native_swap(lua_State *L);

/* The component that a view of a resource gets with the swap that is going on, or NULL. */
const struct component *swap_component(const struct world_box *box, const struct view_box *view);

/* Indexes in the swap of what scripts have registered. */

/* Builds those of the plan into the stage, lists those that leave, and checks that those that
** stay, and those that scripts hold by their names, will be there. Raises. */
void swap_indexes(lua_State *L, struct world_box *box);

/* The plan of a swap, as its body goes through it. */

/* Stack of the body of a swap: the world, the plan, then one entry of one of its lists. */
enum { SWAP_WORLD = 1, SWAP_PLAN, SWAP_LIST, SWAP_ENTRY, SWAP_NAME };

/* Raises what the core has refused, if it has, with where the entry, if any, was registered. */
void swap_check(lua_State *L, const struct world_box *box, ecs_status status, const char *what);

/* Calls a function that has been pushed with its arguments, and returns nothing, for the entry.
** What it raises of that entry's options, query or values is raised with where that was
** registered. */
void swap_call(lua_State *L, int arguments);

/* Puts a list of the plan at SWAP_LIST; an absent one is empty. */
uint32_t swap_list(lua_State *L, const char *name);

/* Puts an entry, counted from 0, at SWAP_ENTRY and its name at SWAP_NAME. */
const char *swap_entry(lua_State *L, uint32_t at);

/* Prefabs in the swap of what scripts have registered. */

/* What can be known before the swap, in which components change as the migration says: the prefabs
** themselves are declared after it. Raises. */
void swap_check_prefabs(lua_State *L, struct world_box *box, struct migration *migration);

/* body(world, plan): declares the plan's prefabs; returns what failed first, or nil. */
int swap_declare_prefabs(lua_State *L);

/* What scripts have registered while they are read. */

struct pending_view {
  struct view_box *view;
  struct component *component;
};

struct stage {
  struct transaction transaction;
  struct chance chance;            /* of the world, for a reading that comes to nothing */
  struct query_box **queries;      /* made by the swap for scripts that hold them already */
  uint32_t query_count, query_capacity;
  struct pending_view *views;      /* of resources, likewise */
  uint32_t view_count, view_capacity;
  struct ecs_index **indexes;      /* built; from `entered` on they are not entered yet */
  uint32_t index_count, index_capacity, entered;
  struct ecs_index **leaving;      /* to be dropped */
  uint32_t leaving_count, leaving_capacity;
};

#endif
