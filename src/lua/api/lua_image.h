/* Worlds as bytes and as snapshots: save, load, digest, snapshot, restore. */
#ifndef ECS_LUA_API_LUA_IMAGE_H
#define ECS_LUA_API_LUA_IMAGE_H

#include <lauxlib.h>

extern const char kind_image, kind_snapshot;

extern const luaL_Reg world_image_methods[], image_metamethods[], snapshot_metamethods[];

#endif
