#include "lua/lua_entity.h"

#include "core/base/column_cells.h"
#include "core/store/command.h"
#include "core/store/component.h"
#include "core/store/entity.h"
#include "core/store/marks.h"
#include "core/store/relation.h"
#include "core/store/sparse.h"
#include "core/store/toggle.h"
#include "core/store/watch.h"
#include "lua/bind/args.h"
#include "lua/bind/batch.h"
#include "lua/bind/cell.h"
#include "lua/bind/check_world.h"
#include "lua/bind/ids.h"
#include "lua/bind/living.h"
#include "lua/bind/names.h"
#include "lua/bind/read.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/lua_relation.h"

#define QUICKLY 8   /* values that go without a detour */

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
  lua_pushboolean(L, is_integer && entity_find(box->entities, id));
  return 1;
}

/* ---- where a component is -------------------------------------------------------- */

/* What an argument names, and the columns that have it of an entity. */
struct target {
  struct component *component;
  uint32_t leaf;
  const struct table *table;      /* that they are of */
  const struct column *columns;   /* NULL: the entity does not have it */
  uint32_t row;
};

/* The same among sparse components. */
static APART void look_aside(ecs_id entity, struct target *target) {
  const struct sparse *sparse = target->component->sparse;
  target->row = sparse_row(sparse, ecs_id_index(entity));
  if (target->row == NONE) return;
  target->table = sparse->table;
  target->columns = sparse->table->columns;
}

/* The component at an argument, and where the entity of the record has it. */
static inline void check_target(lua_State *L, struct world_box *box, int arg, ecs_id entity,
                                const struct record *record, struct target *target) {
  target->component = check_component_leaf(L, box, arg, &target->leaf);
  target->columns = NULL;
  const struct table *table = record_table(box->world, record);
  if (UNLIKELY(!table)) return;
  target->row = record->row;
  target->table = table;
  const struct layout *layout = table_find(table, target->component->id);
  if (LIKELY(layout->taken))
    target->columns = layout->columns;
  else if (target->component->sparse)
    look_aside(entity, target);
}

/* How many values stand for a target, one column each; 0 when they are many or fewer than
** its columns. Numbers go without a detour then, which takes 21 % off a get and 27 % off a set. */
static inline uint32_t quick_count(const struct target *target) {
  if (target->leaf != NONE) return 1;
  uint32_t count = target->component->field_count;
  return target->component->flat && count <= QUICKLY ? count : 0;
}

/* ---- reading --------------------------------------------------------------------- */

static void place_at(struct place *place, lua_State *L, struct world_box *box, ecs_id entity,
                     const struct target *target) {
  place_init(place, L, box, 1, entity, target->component);
  place->columns = target->columns;
  place->row = target->row;
}

/* What get pushes where not all are numbers: from the value `done` on. */
static int push_others(struct place *place, uint32_t leaf, uint32_t done) {
  const struct component *component = place->component;
  if (leaf != NONE) {
    push_leaf(place, leaf);
    return 1;
  }
  uint32_t count = component->field_count;
  need_stack(place->L, (int)count + 4);
  for (; done < count; done++) push_field(place, &component->fields[done]);
  return (int)count;
}

static int entity_get(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  struct target target;
  check_target(L, box, 3, id, record, &target);
  if (UNLIKELY(!target.columns || target.component->relation)) {
    if (!target.component->relation) return 0;
    return relation_get(L, box, target.component, target.leaf);
  }
  uint32_t count = quick_count(&target), done = 0;
  if (LIKELY(count > 0)) {
    uint32_t at = target.leaf == NONE ? 0 : target.leaf;
    const struct leaf *leaf = target.component->leaves + at;
    const struct column *column = target.columns + at;
    while (done < count && push_number_at(L, leaf->type, column->data, target.row))
      done++, leaf++, column++;
    if (LIKELY(done == count)) return (int)count;
  }
  struct place place;
  place_at(&place, L, box, id, &target);
  return push_others(&place, target.leaf, done);
}

static int entity_read(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  struct component *component = check_component(L, box, 3);
  if (component->relation) return relation_read(L, box, component);
  struct place place;
  place_init(&place, L, box, 1, id, component);
  if (place_look(&place, record))
    push_component(&place);
  else
    lua_pushnil(L);
  return 1;
}

/* A method that asks of the entity at 2 and the component at 3; of a relation, whether there is a
** tie. */
INLINE int ask(lua_State *L, bool (*answer)(const ecs_world *world, ecs_id id, ecs_id component)) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  struct component *component = check_component(L, box, 3);
  if (component->relation) return relation_has(L, box, component);
  lua_pushboolean(L, answer(box->world, id, component->id));
  return 1;
}

static int entity_has_component(lua_State *L) { return ask(L, entity_has); }

/* The component or pair after `last` in the order of ids; ECS_NULL at the end. */
static ecs_id next_component(const ecs_world *world, ecs_id entity, const struct record *record,
                             ecs_id last) {
  if (record->table == RECORD_BARE) return ECS_NULL;
  const struct table *table = world_table(world, record->table);
  ecs_id next = sparse_next_id(world, ecs_id_index(entity), last);
  const struct relation *prefab = world->relations.prefab;
  for (uint32_t i = 0; i < table->id_count; i++)
    if (table->ids[i] > last && !(prefab && relation_of(world, table->ids[i]) == prefab))
      return next && next < table->ids[i] ? next : table->ids[i];
  return next;
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
  const struct record *record = entity_find(box->entities, entity);
  ecs_id next = next_component(box->world, entity, record, last);
  if (next == ECS_NULL) return 0;
  const struct component *component = component_of(box->world, next);
  struct place place;
  place_init(&place, L, box, 1, entity, component);
  place.id = next;
  place_look(&place, record);
  if (id_is_pair(next))
    lua_pushinteger(L, (lua_Integer)next);
  else
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

/* The common case, numbers into columns that are there: false when it is another, and
** nothing is done. */
static bool set_numbers(lua_State *L, const ecs_world *world, ecs_id id,
                        const struct target *target) {
  uint32_t count = (uint32_t)lua_gettop(L) - 3;
  if (!target->columns || count == 0 || count > quick_count(target) || world->watching->sets ||
      command_is_staged(world, id, target->component->id))
    return false;
  uint32_t at = target->leaf == NONE ? 0 : target->leaf;
  const struct leaf *leaf = target->component->leaves + at;
  const struct column *column = target->columns + at;
  ecs_cell cells[QUICKLY];
  for (uint32_t i = 0; i < count; i++)
    if (!number_to_cell(L, leaf[i].type, (int)i + 4, &cells[i])) return false;
  for (uint32_t i = 0; i < count; i++, column++)
    cell_store(column->data, column->size, target->row, cells[i]);
  marks_note(world, target->table, target->component->id, target->row);
  return true;
}

/* The general case. */
static APART int set_slowly(lua_State *L, struct world_box *box, ecs_id id,
                            struct component *component, uint32_t leaf) {
  struct batch batch;
  batch_begin(&batch, L, box, 1);
  batch_values(&batch, component, leaf, 4, lua_gettop(L) - 3);
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

static bool is_pair(lua_State *L, int arg) {
  int is_integer;
  return lua_type(L, arg) == LUA_TNUMBER && id_is_pair(to_id(L, arg, &is_integer));
}

static int entity_set_values(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  struct target target;
  check_target(L, box, 3, id, record, &target);
  if (LIKELY(set_numbers(L, box->world, id, &target))) return 0;
  const struct relation *relation = target.component->relation;
  bool by_name = target.leaf == NONE && lua_type(L, 4) == LUA_TSTRING;
  if (relation && (!relation->exclusive || is_pair(L, 3) || by_name))
    return relation_set(L, box, target.component, target.leaf);
  return set_slowly(L, box, id, target.component, target.leaf);
}

/* The core tells whether it is alive. */
static inline ecs_id check_number(lua_State *L, int arg) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  return LIKELY(is_integer) ? id : check_id(L, arg);
}

/* add and remove take one component; more would be dropped in silence. */
static inline struct component *check_only_component(lua_State *L, struct world_box *box) {
  struct component *component = check_component(L, box, 3);
  if (UNLIKELY(lua_gettop(L) > 3 && !component->relation))
    luaL_argerror(L, 4, "one component expected, whose values world:set gives");
  return component;
}

typedef ecs_status (*change_fn)(ecs_world *world, ecs_id id, ecs_id component);
typedef int (*tie_fn)(lua_State *L, struct world_box *box, struct component *component);

INLINE int change_component(lua_State *L, change_fn change, tie_fn tie) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_number(L, 2);
  struct component *named = check_only_component(L, box);
  if (UNLIKELY(named->relation)) return tie(L, box, named);
  ecs_id component = named->id;
  bool tried = false;
  ecs_status status;
  do
    status = change(box->world, id, component);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return fail(L, box, status);
  settle(L, box, 1);
  return 0;
}

static int entity_add_component(lua_State *L) {
  return change_component(L, entity_add, relation_add);
}

static int entity_remove_component(lua_State *L) {
  return change_component(L, entity_remove, relation_remove);
}

/* ---- switching ------------------------------------------------------------------- */

static int switch_component(lua_State *L, bool off) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_number(L, 2);
  ecs_id component = check_component(L, box, 3)->id;
  if (UNLIKELY(lua_gettop(L) > 3)) return luaL_argerror(L, 4, "one component expected");
  bool tried = false;
  ecs_status status;
  do
    status = toggle_switch(box->world, id, component, off);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return fail(L, box, status);
  settle(L, box, 1);
  return 0;
}

static int entity_enable(lua_State *L) { return switch_component(L, false); }

static int entity_disable(lua_State *L) { return switch_component(L, true); }

static int entity_is_enabled(lua_State *L) { return ask(L, toggle_enabled); }

/* ---- names ----------------------------------------------------------------------- */

static int set_name(lua_State *L, struct world_box *box, ecs_id id) {
  check_free(L, box);
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
  ecs_id id = name_lookup(box->world, text, size);
  if (id == ECS_NULL) return 0;
  lua_pushinteger(L, (lua_Integer)id);
  return 1;
}

const luaL_Reg world_entity_methods[] = {
  {"add", entity_add_component},
  {"alive", entity_is_alive},
  {"components", entity_components},
  {"disable", entity_disable},
  {"enable", entity_enable},
  {"enabled", entity_is_enabled},
  {"get", entity_get},
  {"has", entity_has_component},
  {"lookup", entity_lookup},
  {"name", entity_name},
  {"read", entity_read},
  {"remove", entity_remove_component},
  {"set", entity_set_values},
  {NULL, NULL}
};
