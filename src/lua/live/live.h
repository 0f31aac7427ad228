/* Looking at files: what has changed, and what a directory holds. */
#ifndef ECS_LUA_LIVE_LIVE_H
#define ECS_LUA_LIVE_LIVE_H

#include <lauxlib.h>
#include <lua.h>

#include "core/base/base.h"
#include "core/base/chance.h"
#include "core/change/transact.h"
#include "ecs_types.h"
#include "lua/bind/object.h"

struct ecs_component_desc;
struct ecs_index;
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

#ifdef _WIN32

/* A path for Windows' own functions: of UTF-8, or, where it is none, of the system's code page. */
#define WIDE_PATH 4096
bool files_widen(const char *path, wchar_t *wide);

/* native.read(path): what is in a file; or nil and a message. Lua's own `io` knows no UTF-8. */
int ecs_native_read(lua_State *L);

/* native.noise(): 16 bytes that nobody can foresee; nothing when there are none. */
int ecs_native_noise(lua_State *L);

#endif

/* While scripts are read: what they register is kept, to be swapped in at once or not at all. Each
** registration is an object. It keeps what was given until the swap, and afterwards for as long as
** the file that made it has not run again; lua/ecs/live/registrations.lua decides whose it is, and
** lists those that stay. The methods that register ask world_box.stage whether scripts are read. */

enum registered {
  REGISTERED_COMPONENT,
  REGISTERED_PHASE,
  REGISTERED_SYSTEM,
  REGISTERED_OBSERVER,
  REGISTERED_INDEX,
  REGISTERED_PREFAB,
  REGISTERED_QUERY,        /* these are asked for, and have to be there after the swap */
  REGISTERED_VIEW,
  REGISTERED_ARRAY,
  REGISTERED_INDEX_NAME,
};

#define REGISTERED_NAME 1    /* user values of a registration */
#define REGISTERED_VALUE 2   /* a copy of its options, a list, or the object that scripts hold */
#define REGISTERED_WHERE 3
#define REGISTERED_OWNER 4
#define REGISTERED_VALUES 4

struct registration {
  struct head head;
  const struct world_box *box;
  enum registered kind;
  bool kept;                       /* it has been swapped in: its file has not run since */
  const char *name, *where;        /* of its user values; where: "file:line: " */
  const char *owner;               /* the path of the file, or NULL */
  uint64_t place;                  /* these are of the swap that is going on: among all, */
  struct ecs_index *index;         /* and what it has built; or NULL */
};

extern const char kind_registration;

/* What there is while scripts are read. */
struct stage {
  struct transaction transaction;
  struct chance chance;            /* of the world, for a reading that comes to nothing */
};

/* Lets go of a transaction that was not committed, if there is one: from here on methods register
** now. */
void stage_drop(struct world_box *box);

/* native.stage(world, recorder, body) */
int ecs_native_stage(lua_State *L);

/* The rest is for methods that register, whose world is at stack index 1. */

/* Keeps a registration with the name and the value at stack indices, and tells who reads; the
** value is at `name` where there is none. What that raises is raised. True when the name is not
** the scripts' own. */
bool stage_record(lua_State *L, struct world_box *box, enum registered kind, int name, int value);

/* Keeps what is named at 2 with a copy of the options at 3, and takes what is behind these. */
void stage_options(lua_State *L, struct world_box *box, enum registered kind);

/* Pushes a copy of the table at an index, nil where there is none. */
void stage_push_copy(lua_State *L, int index);

/* Before a declaration, whose name and fields (as the schema gives them; 0: a tag's) are at stack
** indices: true when the component is not the scripts' own, who may not change it. */
bool stage_announce(lua_State *L, struct world_box *box, int name, int fields);

/* Before the error that a component is made of a type, or requires a component, that is not there:
** another file may declare it. */
void stage_missing(lua_State *L, const struct world_box *box);

/* Declare in the transaction; a foreign component cannot change. */
ecs_status stage_declare(const struct world_box *box, const struct ecs_component_desc *desc,
                         bool foreign, ecs_id *id);
ecs_status stage_tag(const struct world_box *box, const char *name, bool foreign, ecs_id *id);

/* Pushes a query that is one when all scripts have been read: its text is at 2, its variables are
** at 3. */
void stage_query(lua_State *L, struct world_box *box);

/* Pushes the view of a resource that is named at 2, if it is there, or will be. */
void stage_view(lua_State *L, struct world_box *box);

/* Files that are there whole or not at all. */

/* native.replace(path, bytes): makes the bytes the content of a file, and returns true; or nil and
** a message, and the file is what it was. Whoever reads the path meanwhile, in this process or
** another, finds the old content or the new one; of several who write, the last one's stays. */
int ecs_native_replace(lua_State *L);

/* What scripts have registered takes the place of what they had registered before: at once, or not
** at all. */

/* native.swap(world, registered, leaving, options), inside the body of native.stage. */
int ecs_native_swap(lua_State *L);

#endif
