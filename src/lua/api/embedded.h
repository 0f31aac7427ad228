/* The Lua part of the module, as spec/tools/embed generates it for hosts without its files. */
#ifndef ECS_LUA_API_EMBEDDED_H
#define ECS_LUA_API_EMBEDDED_H

#include <stddef.h>

struct ecs_embedded {
  const char *name;            /* of the Lua module: "ecs", "ecs.schema" */
  const unsigned char *text;
  size_t size;
};

/* Ended by a NULL name. */
extern const struct ecs_embedded ecs_embedded[];

#endif
