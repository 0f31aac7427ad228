#include "lua/bind/names.h"

#include "core/base/text.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"

/* Keys of a Lua state: the entries as userdata, and the table that anchors their strings. */
static const char names_key, anchors_key;

void names_open(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key) == LUA_TNIL) {
    lua_createtable(L, 2 * NAME_CACHE, 0);
    for (int i = 1; i <= 2 * NAME_CACHE; i++) {
      lua_pushboolean(L, 0);
      lua_rawseti(L, -2, i);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &anchors_key);
    size_t size = sizeof(struct names);
    memset(lua_newuserdatauv(L, size, 0), 0, size);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
  }
  lua_pop(L, 1);
}

void names_renew(struct world_box *box) { box->names.number = ++box->names.known->worlds; }

void names_attach(lua_State *L, struct world_box *box) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key);
  box->names.known = lua_touserdata(L, -1);
  names_renew(box);
  lua_pop(L, 1);
}

/* Keeps the string at an index alive while its entry is used: that of a component or, NAME_CACHE
** further on, that of a field. Makes no object. */
static void anchor_name(lua_State *L, int index, uint32_t slot) {
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &anchors_key);
  lua_pushvalue(L, index);
  lua_rawseti(L, -2, (lua_Integer)slot + 1);
  lua_pop(L, 1);
}

static void name_cache_remember(lua_State *L, struct world_box *box, int index,
                                struct component *component, uint32_t leaf) {
  const void *key = name_key(L, index);
  if (!key) return;
  anchor_name(L, index, name_slot(key, box->names.number));
  *name_entry(box, key) =
      (struct name_entry){key, box->names.number, *box->version, component, leaf, NONE, NULL};
}

struct component *find_component(lua_State *L, struct world_box *box, int index,
                                 uint32_t *leaf) {
  size_t size;
  const char *text = lua_tolstring(L, index, &size);
  const char *dot = memchr(text, '.', size);
  struct component *component;
  /* Built-in relations are declared when they are first named. */
  ecs_status status = builtin_need(box->world, text, dot ? (size_t)(dot - text) : size, &component);
  if (status == ECS_ENOMEM) raise_memory(L);
  if (component_path(box->world, text, size, &component, leaf) != ECS_OK) return NULL;
  name_cache_remember(L, box, index, component, *leaf);
  return component;
}

struct component *check_component_uncached(lua_State *L, struct world_box *box, int arg,
                                           uint32_t *leaf) {
  struct component *component = NULL;
  *leaf = NONE;
  switch (lua_type(L, arg)) {
    case LUA_TSTRING:
      component = find_component(L, box, arg, leaf);
      if (!component) raise_argument(L, box->world, ECS_ENAME, arg);
      break;
    case LUA_TNUMBER: {
      ecs_id id = check_id(L, arg);
      ecs_status status = component_need_id(box->world, id, &component);
      if (status != ECS_OK) raise_argument(L, box->world, status, arg);
      name_cache_remember(L, box, arg, component, NONE);
      break;
    }
    default: luaL_typeerror(L, arg, "component name or id"); break;
  }
  return component;
}

struct component *check_declared(lua_State *L, struct world_box *box, int arg) {
  struct component *component = NULL;
  int is_integer;
  size_t size;
  if (lua_type(L, arg) == LUA_TSTRING) {
    const char *name = lua_tolstring(L, arg, &size);
    component = component_find(box->world, name, size);
  } else if (lua_type(L, arg) == LUA_TNUMBER) {
    component = component_of(box->world, to_id(L, arg, &is_integer));
  }
  bool other = component && (component->length || component->is_event);
  return other ? component : check_component(L, box, arg);
}

int no_component(lua_State *L, const struct component *component, uint32_t leaf, int arg) {
  char text[MESSAGE_SIZE];
  text_format(text, sizeof text, "component expected, got the field '%s.%s'",
              component->name, component->leaves[leaf].name);
  return luaL_argerror(L, arg, text);
}

uint32_t find_field(lua_State *L, struct world_box *box, const struct component *shape,
                    int index) {
  const void *string = lua_topointer(L, index);
  uint32_t slot = name_slot(string, (uintptr_t)shape);
  struct name_entry *entry = &box->names.known->fields[slot];
  uint64_t version = *box->version;
  if (LIKELY(entry->key == string && entry->shape == shape && entry->version == version &&
             entry->world == box->names.number))
    return entry->field;
  if (lua_type(L, index) != LUA_TSTRING) return NONE;
  size_t size;
  const char *text = lua_tolstring(L, index, &size);
  uint32_t field = component_field(shape, text, size);
  /* During a transaction a component's layout may be freed, and another one may get its address. */
  if (field == NONE || box->stage) return field;
  anchor_name(L, index, NAME_CACHE + slot);
  *entry = (struct name_entry){.key = string, .world = box->names.number, .version = version,
                               .field = field, .shape = shape};
  return field;
}
