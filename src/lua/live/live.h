/* Files and live scripts: what has changed, what a directory contains, and what scripts register
** while they are read. */
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
** nothing if there is no such file. */
int ecs_native_stat(lua_State *L);

/* native.changes(paths, states): a list of the indices of paths with a state other than the given
** one, or nothing if all are equal. States are in fours: time, size, inode, last change. */
int ecs_native_changes(lua_State *L);

/* native.list(path): the names in a directory, unordered; nothing if it cannot be read. */
int ecs_native_list(lua_State *L);

/* native.now(): the current time, by the clock of modification times, in nanoseconds. */
int ecs_native_now(lua_State *L);

#ifdef _WIN32

/* native.read(path): a file's content, or nil and a message; Lua's own `io` does not take UTF-8. */
int ecs_native_read(lua_State *L);

/* native.noise(): 16 unpredictable bytes, or nothing if the system has none. */
int ecs_native_noise(lua_State *L);

#endif

/* While scripts are read, what they register is recorded, to be swapped in as a whole or not at
** all. Each registration is an object. It keeps its arguments until the swap, and after that until
** the file that made it has run again; lua/ecs/live/registrations.lua decides which file owns it,
** and lists those that stay. Methods that register check world_box.stage. */

enum registered {
  REGISTERED_COMPONENT,
  REGISTERED_PHASE,
  REGISTERED_SYSTEM,
  REGISTERED_OBSERVER,
  REGISTERED_INDEX,
  REGISTERED_PREFAB,
  REGISTERED_QUERY,        /* these are only named, and must exist after the swap */
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
  bool kept;                       /* swapped in earlier: its file has not run since */
  const char *name, *where;        /* in its user values; where: "file:line: " */
  const char *owner;               /* the path of its file, or NULL */
  uint64_t place;                  /* for the current swap: its place among all registrations, */
  struct ecs_index *index;         /* and what it has built; or NULL */
};

extern const char kind_registration;

/* The state while scripts are read. */
struct stage {
  struct transaction transaction;
  struct chance chance;            /* the world's random stream, restored if reading fails */
};

/* Drops a transaction that was not committed, if there is one: from here on methods register at
** once. */
void stage_drop(struct world_box *box);

/* native.stage(world, recorder, body) */
int ecs_native_stage(lua_State *L);

/* The rest is for methods that register; the world is at stack index 1. */

/* Records a registration with the name and the value at stack indices, and tells the recorder;
** raises the recorder's errors. The value's index is `name` if there is none. True if the name does
** not belong to the scripts. */
bool stage_record(lua_State *L, struct world_box *box, enum registered kind, int name, int value);

/* Records what is named at 2 with a copy of the options at 3; removes the arguments after these. */
void stage_options(lua_State *L, struct world_box *box, enum registered kind);

/* Called before a declaration, with its name and fields (as the schema returns them; 0 for a tag,
** for which it may push them) at stack indices: true if the component does not belong to the
** scripts, which cannot change it. */
bool stage_announce(lua_State *L, struct world_box *box, int name, int fields);

/* Called where a component that a declaration names is missing, with the error, which has a place,
** at the top of the stack: true if the recorder keeps the declaration for native.declare; its name
** is at 2, and what the schema has made of it at `fields`. Otherwise another file may declare what
** is missing. */
bool stage_put_off(lua_State *L, const struct world_box *box, int fields, const char *kind,
                   bool foreign);
int ecs_native_declare(lua_State *L);

/* Declares in the transaction; a foreign component cannot change. */
ecs_status stage_declare(const struct world_box *box, const struct ecs_component_desc *desc,
                         bool foreign, ecs_id *id);
ecs_status stage_tag(const struct world_box *box, const char *name, bool foreign, ecs_id *id);

/* Pushes a query that is made when all scripts have been read: its text is at 2, its variables are
** at 3. */
void stage_query(lua_State *L, struct world_box *box);

/* Pushes the view of a resource named at 2, which exists or will exist. */
void stage_view(lua_State *L, struct world_box *box);

/* native.replace(path, bytes): replaces the content of a file and returns true; or returns nil and
** a message, with the file unchanged. Readers of the path, in this process or another, find either
** the old or the new content; of several writers, the last one wins. */
int ecs_native_replace(lua_State *L);

/* What scripts have registered replaces what they had registered before: as a whole, or not at
** all. */

/* native.swap(world, registered, leaving, options), inside the body of native.stage. */
int ecs_native_swap(lua_State *L);

#endif
