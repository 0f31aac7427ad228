/* Kernels: Lua functions that are to run as programs over a query, and the handles that scripts
** and systems have of them. */
#ifndef ECS_LUA_JIT_KERNEL_H
#define ECS_LUA_JIT_KERNEL_H

#include "lua/bind/object.h"

#include "front/result.h"

struct kernel_set;
struct world_box;

/* Of a world. */
struct kernels {
  bool on;
  int isa;                     /* a k_isa */
  struct kernel_set *set;      /* NULL while nothing has been compiled */
};

/* A handle. */
struct kernel_box {
  struct head head;
  struct world_box *box;
  struct kernel *kernel;       /* NULL before its life; freed with the world, if not before */
  const char *form;            /* of a query or a system, that it was given to last */
};

#define KERNEL_FUNCTION 1      /* user values of a kernel's handle: kernel_push_function */
#define KERNEL_ANCHORS 2       /* table of the variants' tables */
#define KERNEL_REASON 3
#define KERNEL_WORLD 4
#define KERNEL_QUERY 5         /* the object of its query, which lives as long */
#define KERNEL_VALUES 5

/* What a function is given to. */
struct use {
  const char *form;            /* of a query or a system, as scripts call it */
  enum front_result result;
  bool filtered;               /* for rows that a q:where(fn) lets through */
};

/* Pushes the handle of a new kernel for the function and the query at two indices. */
void kernel_push(lua_State *L, struct world_box *box, int world_index, int function,
                 int query_index, struct use use);

/* Pushes the function of the kernel whose handle is at an index; nil when nobody has it any more: a
** kernel keeps alive neither its function nor what that reaches. */
void kernel_push_function(lua_State *L, int handle);

/* Pushes a list of the handles that a function has in this object's world, the last made
** first. */
void kernels_of_function(lua_State *L, struct world_box *box, int world_index, int function);

/* Frees what kernels hold of a world that closes. */
void kernels_free(struct world_box *box);

extern const char kind_kernel;

extern const luaL_Reg kernel_metamethods[];

#endif
