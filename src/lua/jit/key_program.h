/* Keys of indexes by programs: functions of scripts that give a number for each row are compiled as
** those of systems are. */
#ifndef ECS_LUA_JIT_KEY_PROGRAM_H
#define ECS_LUA_JIT_KEY_PROGRAM_H

#include <lauxlib.h>

#include "core/base/base.h"

struct copies;
struct world_box;

/* User values of the object of a key function: the world's object, the function, and the handle of
** its kernel. */
enum { KEY_WORLD = 1, KEY_FUNCTION, KEY_KERNEL, KEY_VALUES = KEY_KERNEL };

/* Which rows want keys. */
struct keyless {
  const char *query;           /* whose rows they are */
  const struct copies *rows;
  const uint32_t *list;        /* NULL: all of them */
  uint32_t count;
};

/* The numbers that the program of the function whose object is at 1 gives for them, int64_t or
** double, in an object that it pushes. NULL when there is no program, or a row fails: then all of
** them are the function's to give. */
const void *key_program(lua_State *L, struct world_box *box, const struct keyless *keyless,
                        bool *integers);

#endif
