#include "lua/bind/field_names.h"

#include "core/storage/component.h"
#include "lua/bind/world_box.h"

#define FIELD_CACHE 256   /* a power of two */

/* Where a name led last time in a component, or in a part of one. The string is anchored, so that
** no other one can have its address. */
struct field_entry {
  const void *string;
  uint64_t world;        /* its box's number */
  const struct component *shape;
  uint64_t version;      /* registry.version when this was found out */
  uint32_t field;
};

/* Of a Lua state: the entries as userdata, and the table that anchors their strings. */
static const char entries_key, strings_key;

void field_names_open(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &entries_key) == LUA_TNIL) {
    lua_createtable(L, FIELD_CACHE, 0);
    for (int i = 1; i <= FIELD_CACHE; i++) {
      lua_pushboolean(L, 0);
      lua_rawseti(L, -2, i);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &strings_key);
    size_t size = FIELD_CACHE * sizeof(struct field_entry);
    memset(lua_newuserdatauv(L, size, 0), 0, size);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &entries_key);
  }
  lua_pop(L, 1);
}

void field_names_attach(lua_State *L, struct world_box *box) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &entries_key);
  box->names.fields = lua_touserdata(L, -1);
  lua_pop(L, 1);
}

static inline uint32_t entry_slot(const void *string, const struct component *shape) {
  uint64_t mix = (uintptr_t)string ^ (uintptr_t)shape;
  return (uint32_t)(mix * UINT64_C(0x9E3779B97F4A7C15) >> 56) & (FIELD_CACHE - 1);
}

/* Keeps the string at an index for as long as its entry stands. Makes no object. */
static void field_name_anchor(lua_State *L, int index, uint32_t slot) {
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &strings_key);
  lua_pushvalue(L, index);
  lua_rawseti(L, -2, (lua_Integer)slot + 1);
  lua_pop(L, 1);
}

uint32_t find_field(lua_State *L, struct world_box *box, const struct component *shape,
                    int index) {
  const void *string = lua_topointer(L, index);
  uint32_t slot = entry_slot(string, shape);
  struct field_entry *entry = &box->names.fields[slot];
  uint64_t version = *box->version;
  if (LIKELY(entry->string == string && entry->shape == shape && entry->version == version &&
             entry->world == box->names.number))
    return entry->field;
  if (lua_type(L, index) != LUA_TSTRING) return NONE;
  size_t size;
  const char *text = lua_tolstring(L, index, &size);
  uint32_t field = component_field(shape, text, size);
  /* A shape of components that are staged may go, and its address with another one come back. */
  if (field == NONE || box->stage) return field;
  field_name_anchor(L, index, slot);
  *entry = (struct field_entry){string, box->names.number, shape, version, field};
  return field;
}
