#include "batch.h"
#include "cell.h"
#include "read.h"

/* Raises a mutator's failure: what is wrong with the entity is argument 2's fault. */
static int fail(lua_State *L, const struct world_box *box, ecs_status status) {
  bool is_id = status >= ECS_EDEAD && status <= ECS_ENOID;
  return is_id ? raise_argument(L, box->world, status, 2)
               : raise_status(L, box->world, status);
}

static int entity_is_alive(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  int is_integer;
  ecs_id id = to_id(L, 2, &is_integer);
  if (UNLIKELY(!is_integer)) luaL_checkany(L, 2);
  lua_pushboolean(L, is_integer && entity_find(&box->world->entities, id));
  return 1;
}

/* ---- reading --------------------------------------------------------------------- */

/* The values of a component's fields, found at `place`. */
static int push_values(struct place *place) {
  lua_State *L = place->L;
  const struct component *component = place->component;
  int count = (int)component->field_count;
  if (UNLIKELY(count > 8)) need_stack(L, count + 4);
  for (int i = 0; i < count; i++) {
    const struct field *field = &component->fields[i];
    uint32_t at = place->first + field->first_leaf;
    if (UNLIKELY(field->count > 0 ||
                 !push_number_at(L, field->type, place->table->columns[at].data,
                                 place->row)))
      push_field(place, field);
  }
  return count;
}

static int entity_get(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  uint32_t leaf;
  struct component *component = check_component_leaf(L, box, 3, &leaf);
  struct place place;
  place_init(&place, L, box, 1, id, component);
  if (!place_look(&place, record)) return 0;
  if (LIKELY(leaf == NONE)) return push_values(&place);
  push_leaf(&place, leaf);
  return 1;
}

static int entity_read(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  struct component *component = check_component(L, box, 3);
  struct place place;
  place_init(&place, L, box, 1, id, component);
  if (place_look(&place, record))
    push_component(&place);
  else
    lua_pushnil(L);
  return 1;
}

static int entity_has_component(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  struct component *component = check_component(L, box, 3);
  lua_pushboolean(L, entity_has(box->world, id, component->id));
  return 1;
}

/* The component after `last` in the order of ids, or NULL. */
static const struct component *next_component(const ecs_world *world,
                                              const struct record *record, ecs_id last) {
  if (record->table == RECORD_BARE) return NULL;
  const struct table *table = world_table(world, record->table);
  for (uint32_t i = 0; i < table->id_count; i++)
    if (table->ids[i] > last) return component_of(world, table->ids[i]);
  return NULL;
}

/* Upvalues: world, entity, id of the last component. */
static int components_next(lua_State *L) {
  lua_settop(L, 0);
  lua_pushvalue(L, lua_upvalueindex(1));
  struct world_box *box = check_world(L, 1);
  ecs_id entity = (ecs_id)lua_tointeger(L, lua_upvalueindex(2));
  ecs_id last = (ecs_id)lua_tointeger(L, lua_upvalueindex(3));
  ecs_status status = entity_need(box->world, entity);
  if (status != ECS_OK) return raise_status(L, box->world, status);
  const struct record *record = entity_find(&box->world->entities, entity);
  const struct component *component = next_component(box->world, record, last);
  if (!component) return 0;
  struct place place;
  place_init(&place, L, box, 1, entity, component);
  place_look(&place, record);
  lua_pushlstring(L, component->name, component->name_size);
  place_hold(&place);
  push_component(&place);
  lua_pushinteger(L, (lua_Integer)place.id);
  lua_replace(L, lua_upvalueindex(3));
  return 2;
}

static int entity_components(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, (lua_Integer)id);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, components_next, 3);
  return 1;
}

/* ---- writing --------------------------------------------------------------------- */

static void read_positions(struct batch *batch, const struct component *component,
                           uint32_t count) {
  lua_State *L = batch->L;
  if (UNLIKELY(count > component->field_count)) {
    if (component->field_count == 0)
      raise_error(L, "'%s' is a tag: it has no value (use add)", component->name);
    raise_error(L, "component '%s' has %u fields, got %u values", component->name,
                (uint64_t)component->field_count, (uint64_t)count);
  }
  for (uint32_t i = 0; i < count; i++)
    batch_field(batch, component, i, (int)i + 4);
}

static void read_values(struct batch *batch, const struct component *component,
                        uint32_t leaf) {
  lua_State *L = batch->L;
  int count = lua_gettop(L) - 3;
  if (UNLIKELY(leaf != NONE)) {
    if (count != 1) luaL_argerror(L, count < 1 ? 4 : 5, "one value expected");
    batch_leaf(batch, component, leaf, 4);
  } else if (count == 1 && lua_type(L, 4) == LUA_TTABLE && component->field_count) {
    batch_table(batch, component, 4);
  } else if (count == 0 && component->field_count) {
    luaL_argerror(L, 4, "value expected");
  } else {
    read_positions(batch, component, (uint32_t)count);
  }
}

static int entity_set_values(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_id(L, 2);
  uint32_t leaf;
  struct component *component = check_component_leaf(L, box, 3, &leaf);
  struct batch batch;
  batch_begin(&batch, L, box, 1);
  read_values(&batch, component, leaf);
  bool tried = false;
  ecs_status status;
  do
    status = entity_set(box->world, id, component, batch.writes, batch.count);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return fail(L, box, status);
  values_stored(box);
  settle(L, box, 1);
  return 0;
}

/* add and remove take one component; more would be dropped in silence. */
static struct component *check_only_component(lua_State *L, struct world_box *box) {
  if (UNLIKELY(lua_gettop(L) > 3)) luaL_argerror(L, 4, "one component expected");
  return check_component(L, box, 3);
}

static int entity_add_component(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_id(L, 2);
  ecs_id component = check_only_component(L, box)->id;
  bool tried = false;
  ecs_status status;
  do
    status = entity_add(box->world, id, component);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return fail(L, box, status);
  settle(L, box, 1);
  return 0;
}

static int entity_remove_component(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_id(L, 2);
  ecs_id component = check_only_component(L, box)->id;
  bool tried = false;
  ecs_status status;
  do
    status = entity_remove(box->world, id, component);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return fail(L, box, status);
  settle(L, box, 1);
  return 0;
}

/* ---- names ----------------------------------------------------------------------- */

static int set_name(lua_State *L, struct world_box *box, ecs_id id) {
  size_t size = 0;
  const char *text = "";
  if (lua_type(L, 3) == LUA_TSTRING) {
    text = lua_tolstring(L, 3, &size);
    if (size == 0) return luaL_argerror(L, 3, "a name is not empty (false clears)");
  } else if (!lua_isboolean(L, 3) || lua_toboolean(L, 3)) {
    return luaL_typeerror(L, 3, "string or false");
  }
  bool tried = false;
  ecs_status status;
  do
    status = name_set(box->world, id, text, size);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) return raise_argument(L, box->world, status, 3);
  settle(L, box, 1);
  return 0;
}

static int entity_name(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  if (!lua_isnone(L, 3)) return set_name(L, box, id);
  ecs_string name = name_of(box->world, id);
  if (name.size == 0) return 0;
  lua_pushlstring(L, name.data, name.size);
  return 1;
}

static int entity_lookup(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING) return luaL_typeerror(L, 2, "string");
  size_t size;
  const char *text = lua_tolstring(L, 2, &size);
  ecs_id id = name_find(box->world, text, size);
  if (id == ECS_NULL) return 0;
  lua_pushinteger(L, (lua_Integer)id);
  return 1;
}

const luaL_Reg world_entity_methods[] = {
  {"add", entity_add_component},
  {"alive", entity_is_alive},
  {"components", entity_components},
  {"get", entity_get},
  {"has", entity_has_component},
  {"lookup", entity_lookup},
  {"name", entity_name},
  {"read", entity_read},
  {"remove", entity_remove_component},
  {"set", entity_set_values},
  {NULL, NULL}
};
