/* Systems whose bodies are Lua functions: the object that anchors one. */
#ifndef ECS_LUA_API_SYSTEM_BOX_H
#define ECS_LUA_API_SYSTEM_BOX_H

#include <stdbool.h>

#include <lua.h>

#include "lua/api/system_form.h"

struct kernel_box;
struct key_box;
struct loop_box;
struct query_box;
struct world_box;

#define SYSTEM_FUNCTION 1    /* user values of a system */
#define SYSTEM_QUERY 2
#define SYSTEM_WHEN 3
#define SYSTEM_NAME 4
#define SYSTEM_KERNEL 5      /* the handle of an `each` that may be compiled */
#define SYSTEM_USES 6        /* the names of indexes that its options list, or nil */
#define SYSTEM_TEXTS 7       /* what is written in its function */
#define SYSTEM_VALUES 7

/* Of a world. */
struct systems {
  lua_State *running;              /* the state that called update or run; NULL: a host did */
  lua_State *host;                 /* of a lent world: a thread for when the host does */
  uint32_t untold;                 /* the last ones of WORLD_WARNINGS */
  uint32_t doubtful;               /* updates until observers_doubt looks at what is registered */
  struct system_box *gone;         /* those that the core has let go of, */
  struct key_box *gone_keys;       /* and functions that indexes had */
};

/* What the core is given as a system's `ud`: a userdata that WORLD_REFS anchors by its address.
** Scripts never see it. */
struct system_box {
  struct world_box *box;
  struct system_box *next_gone;
  const char *name;                /* of SYSTEM_NAME */
  const struct query_box *query;   /* of SYSTEM_QUERY; NULL: none */
  enum system_form form;
  int compile;                     /* 1, 0, or -1: if possible */
  bool compiled;                   /* as it last ran */
  bool hopeless;                   /* its kernel is */
  bool begun;                      /* has run: these are known */
  bool uses;                       /* its options list indexes: SYSTEM_USES */
  int parameters;                  /* of its function */
  uint64_t checked;                /* of a map: the version of components that it suits, and one */
  struct kernel_box *kernel;       /* of SYSTEM_KERNEL */
  int function_ref, loop_ref;      /* where WORLD_REFS has the function and the loop; or 0 */
  int anchors_ref;                 /* and its kernel's KERNEL_ANCHORS */
  struct loop_box *loop;           /* of its last run, for the next */
  struct ecs_sight *sight;         /* of an observer that is called */
  struct kernel_box *handle;       /* of SYSTEM_KERNEL, be it that it has not run */
  double dt;                       /* of this run */
};

#endif
