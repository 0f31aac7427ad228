#include "lua/bind/shape.h"

#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

/* build(world, component): a shape, anchored with its keys in WORLD_SHAPES. */
static int shape_build(lua_State *L) {
  const struct world_box *box = lua_touserdata(L, 1);
  const struct component *component = lua_touserdata(L, 2);
  uint32_t count = component->field_count;
  struct shape *shape =
      lua_newuserdatauv(L, sizeof *shape + count * sizeof *shape->fields, 1);
  shape->component = component;
  shape->version = *box->version;
  shape->count = count;
  lua_createtable(L, (int)count, 0);
  for (uint32_t i = 0; i < count; i++) {
    const struct field *field = &component->fields[i];
    lua_pushlstring(L, field->name, field->name_size);
    shape->fields[i].key = lua_tostring(L, -1);
    shape->fields[i].leaf = field->first_leaf;
    shape->fields[i].type = field->count ? ECS_NESTED : field->type;
    lua_rawseti(L, 4, (lua_Integer)i + 1);
  }
  lua_setiuservalue(L, 3, 1);
  lua_getiuservalue(L, 1, WORLD_SHAPES);
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, (lua_Integer)component->id);
  lua_settop(L, 3);
  return 1;
}

/* Components are known by their id: an undeclared one's is not given out again. */
const struct shape *shape_need(lua_State *L, int world_index,
                               const struct component *component) {
  lua_getiuservalue(L, world_index, WORLD_SHAPES);
  lua_rawgeti(L, -1, (lua_Integer)component->id);
  const struct shape *known = lua_touserdata(L, -1);
  if (UNLIKELY(!known || known->version < component->changed)) {
    lua_pop(L, 1);
    lua_pushvalue(L, world_index);
    lua_pushlightuserdata(L, (void *)(uintptr_t)component);
    call_quietly(L, shape_build, 2, 1);
  }
  const struct shape *shape = lua_touserdata(L, -1);
  lua_pop(L, 2);
  assert(shape->component == component);
  return shape;
}

const struct shape_field *shape_find(lua_State *L, const struct shape *shape, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return NULL;
  size_t size;
  const char *name = lua_tolstring(L, index, &size);
  uint32_t at = component_field(shape->component, name, size);
  return at == NONE ? NULL : &shape->fields[at];
}

void views_forget(lua_State *L, int world_index, ecs_id component) {
  lua_getiuservalue(L, world_index, WORLD_SHAPES);
  if (lua_rawgeti(L, -1, (lua_Integer)component) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawseti(L, -3, (lua_Integer)component);
  }
  lua_pop(L, 2);
}
