/* Names of components and fields from scripts: the address of Lua's string finds what it named
** before, so calls do not hash and compare texts. */
#ifndef ECS_LUA_BIND_NAMES_H
#define ECS_LUA_BIND_NAMES_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"

#define NAME_CACHE 256   /* a power of two */

/* What a name led to last time, by the address of Lua's string (see name_key). The string is
** anchored, so no other string can get its address. */
struct name_entry {
  const void *key;
  uint64_t world;        /* number of the world's box */
  uint64_t version;      /* registry.version at that time */
  struct component *component;
  uint32_t leaf;
  uint32_t field;        /* for a field's name, */
  const struct component *shape;   /* the component, or part of one, that has it */
};

/* What a Lua state remembers of the strings with which its scripts name components and fields. */
struct names {
  uint64_t worlds;       /* numbers given to worlds so far */
  struct name_entry components[NAME_CACHE];
  struct name_entry fields[NAME_CACHE];
};

void names_open(lua_State *L);
/* Makes a world use the names of its state. */
void names_attach(lua_State *L, struct world_box *box);
/* Forgets what names led to in a world: its components have changed their fields. */
void names_renew(struct world_box *box);

/* The key of a component's name in the entries: the address of a string, or a small id made odd so
** that it cannot be an address. NULL for anything else. */
static inline const void *name_key(lua_State *L, int index) {
  const void *string = lua_topointer(L, index);
  if (LIKELY(string)) return string;
  int is_integer;
  ecs_id id = to_id(L, index, &is_integer);
  return is_integer && id < FIRST_ENTITY ? (const void *)(uintptr_t)(id << 1 | 1) : NULL;
}

static inline uint32_t name_slot(const void *key, uint64_t of) {
  uint64_t mix = (uintptr_t)key ^ of;
  return (uint32_t)(mix * UINT64_C(0x9E3779B97F4A7C15) >> 56) & (NAME_CACHE - 1);
}

static inline struct name_entry *name_entry(const struct world_box *box, const void *key) {
  return &box->names.known->components[name_slot(key, box->names.number)];
}

/* The component that the name or id at an index led to last time, if it still does; NULL if that is
** unknown, and for other values. */
static inline struct component *known_component(lua_State *L, const struct world_box *box,
                                                int index, uint32_t *leaf) {
  const void *key = name_key(L, index);
  const struct name_entry *entry = name_entry(box, key);
  if (UNLIKELY(entry->key != key || entry->world != box->names.number)) return NULL;
  *leaf = entry->leaf;
  return LIKELY(entry->version == *box->version) ? entry->component : NULL;
}

/* The component, or a leaf of it ("Position.x"), that the string at an index names. If there is
** none, NULL, with the world's message set. */
struct component *find_component(lua_State *L, struct world_box *box, int index,
                                 uint32_t *leaf);
struct component *check_component_uncached(lua_State *L, struct world_box *box, int arg,
                                           uint32_t *leaf);

/* A component by id or name; `leaf` is NONE unless the name included a field ("Position.x"). */
static inline struct component *check_component_leaf(lua_State *L, struct world_box *box,
                                                     int arg, uint32_t *leaf) {
  struct component *component = known_component(L, box, arg, leaf);
  return LIKELY(component) ? component : check_component_uncached(L, box, arg, leaf);
}

/* Raises an error because argument `arg` names a field where a component is expected. */
int no_component(lua_State *L, const struct component *component, uint32_t leaf, int arg);

static inline struct component *check_component(lua_State *L, struct world_box *box,
                                                int arg) {
  uint32_t leaf;
  struct component *component = check_component_leaf(L, box, arg, &leaf);
  if (UNLIKELY(leaf != NONE)) no_component(L, component, leaf, arg);
  return component;
}

/* A component, an array or an event, by id or name. */
struct component *check_declared(lua_State *L, struct world_box *box, int arg);

/* The field that the string at an index names in a component; NONE if there is none, and for other
** values. */
uint32_t find_field(lua_State *L, struct world_box *box, const struct component *shape,
                    int index);

#endif
