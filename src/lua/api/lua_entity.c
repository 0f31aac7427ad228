#include "lua/api/api.h"

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"

#define QUICKLY 8   /* values on the fast path */

/* Raises an error about an argument after a component that is not a relation. */
static APART int entity_refuse_more(lua_State *L, const struct world_box *box, ecs_id component) {
  struct relation *relation;
  bool target = lua_type(L, 4) == LUA_TNUMBER;
  ecs_status status = target ? relation_need(box->world, component, &relation) : ECS_OK;
  if (status != ECS_OK) return raise_argument(L, box->world, status, 3);
  return luaL_argerror(L, 4, "one component expected: call it once for each, and set values with "
                             "world:set");
}

/* Ends a mutator, or raises its failure, which names argument 2 if it is about the entity. */
static inline int entity_end(lua_State *L, struct world_box *box, ecs_status status) {
  bool is_id = status >= ECS_EDEAD && status <= ECS_ENOID;
  if (UNLIKELY(status != ECS_OK)) raise_argument(L, box->world, status, is_id ? 2 : 0);
  values_stored(box);
  return settle(L, box, 1);
}

static int entity_is_alive(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  int is_integer;
  ecs_id id = to_id(L, 2, &is_integer);
  check_only(L, 2, "one entity expected");
  lua_pushboolean(L, is_integer && entity_find(box->entities, id));
  return 1;
}

/* ---- where a component is -------------------------------------------------------- */

/* The component at 3, if the entity at 2 has a row and a near slot, and the name was used before;
** otherwise, and for errors, NULL. */
INLINE struct component *entity_find_cached(lua_State *L, const struct world_box *box,
                                            const struct record **record, uint32_t *leaf) {
  if (UNLIKELY(!lua_isinteger(L, 2))) return NULL;
  *record = entity_find_row(box->entities, (ecs_id)lua_tointeger(L, 2));
  return LIKELY(*record) ? known_component(L, box, 3, leaf) : NULL;
}

/* The common case: a component without array and nested fields, or one of its leaves, in the table
** of such an entity. */
struct usual {
  const struct component *component;
  const struct table *table;
  const struct leaf *leaf;           /* the first of them */
  uint32_t count;                    /* number of leaves, */
  const struct column *column;       /* which have adjacent columns */
  uint32_t row;
};

INLINE bool entity_find_cached_column(lua_State *L, const struct world_box *box,
                                      struct usual *usual) {
  const struct record *record;
  uint32_t at;
  const struct component *component = entity_find_cached(L, box, &record, &at);
  if (UNLIKELY(!component)) return false;
  const struct table *table = world_table(box->world, record->table);
  const struct layout *layout = table_find(table, component->id);
  if (UNLIKELY(!layout->taken || (at == NONE && !component->flat))) return false;
  uint32_t first = at == NONE ? 0 : at;
  *usual = (struct usual){component, table, component->leaves + first,
                          at == NONE ? layout->count : 1, layout->columns + first, record->row};
  return true;
}

/* ---- reading --------------------------------------------------------------------- */

/* Finds the component at 3, with no argument after it; false if the entity does not have it. Warns
** if the entity's prefab shares it: it is then read along IsA. */
static APART bool entity_find_place(struct place *place, lua_State *L, struct world_box *box,
                                    ecs_id entity, const struct component *component,
                                    const struct record *record) {
  if (!lua_isnoneornil(L, 4)) entity_refuse_more(L, box, component->id);
  place_init(place, L, box, 1, entity, component);
  if (place_look(place, record)) return true;
  if (prefab_shares(box->world, ecs_id_index(entity), component->id))
    warn_later(L, box, 1, "world:get and world:read return only what the entity itself has, and "
               "'%s' is shared by its prefab: read it in a query with the term 'IsA*->%s'",
               component->name, component->name);
  return false;
}

/* get in the general case. */
static APART int entity_get_any_component(lua_State *L, struct world_box *box) {
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  uint32_t leaf;
  struct component *component = check_component_leaf(L, box, 3, &leaf);
  struct place place;
  if (component->relation) return relation_get(L, box, component, leaf);
  return entity_find_place(&place, L, box, id, component, record) ? push_values(&place, leaf) : 0;
}

static int entity_get(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  struct usual usual;
  if (UNLIKELY(!entity_find_cached_column(L, box, &usual) || usual.component->relation ||
               lua_gettop(L) > 3 || usual.count > QUICKLY))
    return entity_get_any_component(L, box);
  for (uint32_t i = 0; i < usual.count; i++)
    if (UNLIKELY(!push_number_at(L, usual.leaf[i].type, usual.column[i].data, usual.row))) {
      lua_pop(L, (int)i);
      return entity_get_any_component(L, box);
    }
  return (int)usual.count;
}

static int entity_read(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  struct component *component = check_component(L, box, 3);
  struct place place;
  if (component->relation) return relation_read(L, box, component);
  if (entity_find_place(&place, L, box, id, component, record))
    push_component(&place);
  else
    lua_pushnil(L);
  return 1;
}

/* A method that asks something about the entity at 2 and the component at 3; for a relation,
** whether it has a tie. */
INLINE int entity_ask(lua_State *L, bool (*answer)(const ecs_world *world, ecs_id id,
                                                   ecs_id component)) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  struct component *component = check_component(L, box, 3);
  if (component->relation) return relation_has(L, box, component);
  if (!lua_isnoneornil(L, 4)) return entity_refuse_more(L, box, component->id);
  lua_pushboolean(L, answer(box->world, id, component->id));
  return 1;
}

static APART int entity_has_uncached(lua_State *L) { return entity_ask(L, entity_has); }

/* A component in the entity's table is found without a core call: this takes 9 % off. */
static int entity_has_component(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct record *record;
  uint32_t leaf;
  const struct component *component = entity_find_cached(L, box, &record, &leaf);
  if (UNLIKELY(!component || component->relation || component->sparse || leaf != NONE ||
               lua_gettop(L) > 3))
    return entity_has_uncached(L);
  lua_pushboolean(L, table_has(world_table(box->world, record->table), component->id));
  return 1;
}

/* The component or pair that follows `last` by id; ECS_NULL at the end. */
static ecs_id entity_next_component(const ecs_world *world, ecs_id entity,
                                    const struct record *record, ecs_id last) {
  if (record->table == RECORD_BARE) return ECS_NULL;
  const struct table *table = world_table(world, record->table);
  ecs_id next = sparse_next_id(world, ecs_id_index(entity), last);
  const struct relation *prefab = world->relations.prefab;
  for (uint32_t i = 0; i < table->id_count; i++)
    if (table->ids[i] > last && !(prefab && relation_of(world, table->ids[i]) == prefab))
      return next && next < table->ids[i] ? next : table->ids[i];
  return next;
}

/* An iterator over an entity's components. Its user value is the world's object. */
struct parts_box {
  struct head head;
  ecs_id entity;
  ecs_id last;                    /* the last component yielded */
};

const char kind_parts = 0;

static int entity_components_next(lua_State *L) {
  struct parts_box *parts = box_test(L, 1, &kind_parts, sizeof *parts);
  if (!parts) return luaL_typeerror(L, 1, "loop over components");
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, 1);
  struct world_box *box = check_world(L, 2);
  raise_failure(L, box->world, entity_need(box->world, parts->entity));
  const struct record *record = entity_find(box->entities, parts->entity);
  ecs_id next = entity_next_component(box->world, parts->entity, record, parts->last);
  if (next == ECS_NULL) return 0;
  const struct component *component = component_of(box->world, next);
  struct place place;
  place_init(&place, L, box, 2, parts->entity, component);
  place.id = next;
  place_look(&place, record);
  if (id_is_pair(next))
    lua_pushinteger(L, (lua_Integer)next);
  else
    lua_pushlstring(L, component->name, component->name_size);
  place_hold(&place);
  push_component(&place);
  parts->last = place.id;
  return 2;
}

const luaL_Reg parts_metamethods[] = {
    {"__call", entity_components_next}, LOOP_REFUSALS, {NULL, NULL}};

static int entity_components(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  struct parts_box *parts = new_box_of(L, &kind_parts, sizeof *parts, 1, 1);
  parts->entity = id;
  return 1;
}

/* ---- writing --------------------------------------------------------------------- */

/* set in the common case: stores numbers in existing columns at once. Otherwise returns false, with
** nothing done. */
INLINE bool entity_set_number_cells(lua_State *L, const struct world_box *box) {
  struct usual usual;
  uint32_t count = (uint32_t)lua_gettop(L) - 3;
  if (UNLIKELY(!entity_find_cached_column(L, box, &usual) || count == 0 || count > usual.count ||
               count > QUICKLY))
    return false;
  const ecs_world *world = box->world;
  if (UNLIKELY(staging_is_open(&world->staging)) &&
      command_is_staged(world, (ecs_id)lua_tointeger(L, 2), usual.component->id))
    return false;
  if (UNLIKELY(world->watching->sets)) return false;
  ecs_cell cells[QUICKLY];
  for (uint32_t i = 0; i < count; i++)
    if (UNLIKELY(!number_to_cell(L, usual.leaf[i].type, (int)i + 4, &cells[i]))) return false;
  for (uint32_t i = 0; i < count; i++)
    cell_store(usual.column[i].data, usual.column[i].size, usual.row, cells[i]);
  marks_note(world, usual.table, usual.component->id, usual.row);
  return true;
}

/* set in the general case. */
static APART int entity_set_anything(lua_State *L, struct world_box *box) {
  ecs_id id = check_entity(L, box, 2);
  uint32_t leaf;
  struct component *component = check_component_leaf(L, box, 3, &leaf);
  const struct relation *relation = component->relation;
  bool by_name = leaf == NONE && lua_type(L, 4) == LUA_TSTRING;
  bool by_pair = lua_type(L, 3) == LUA_TNUMBER && id_is_pair((ecs_id)lua_tointeger(L, 3));
  if (relation && (!relation->exclusive || by_pair || by_name))
    return relation_set(L, box, component, leaf);
  struct input input;
  input_begin(&input, L, box, 1);
  input_values(&input, component, leaf, 4, lua_gettop(L) - 3);
  ecs_status status;
  RETRY(L, box, status, entity_set(box->world, id, component, input.writes, input.count));
  return entity_end(L, box, status);
}

static int entity_set_values(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  return LIKELY(entity_set_number_cells(L, box)) ? 0 : entity_set_anything(L, box);
}

/* An id argument; the core checks whether it is alive. */
static inline ecs_id entity_check_number(lua_State *L, int arg) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  return LIKELY(is_integer) ? id : check_id(L, arg);
}

typedef ecs_status (*change_fn)(ecs_world *world, ecs_id id, ecs_id component);
typedef int (*tie_fn)(lua_State *L, struct world_box *box, struct component *component);

INLINE int entity_change_component(lua_State *L, change_fn change, tie_fn tie) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = entity_check_number(L, 2);
  struct component *named = check_component(L, box, 3);
  if (UNLIKELY(named->relation)) return tie(L, box, named);
  if (UNLIKELY(lua_gettop(L) > 3)) return entity_refuse_more(L, box, named->id);
  ecs_id component = named->id;
  ecs_status status;
  RETRY(L, box, status, change(box->world, id, component));
  return entity_end(L, box, status);
}

static int entity_add_component(lua_State *L) {
  return entity_change_component(L, entity_add, relation_add);
}

static int entity_remove_component(lua_State *L) {
  return entity_change_component(L, entity_remove, relation_remove);
}

/* ---- switching ------------------------------------------------------------------- */

static int entity_switch_component(lua_State *L, bool off) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = entity_check_number(L, 2);
  ecs_id component = check_component(L, box, 3)->id;
  check_only(L, 3, "one component expected: call it for each");
  ecs_status status;
  RETRY(L, box, status, toggle_switch(box->world, id, component, off));
  return entity_end(L, box, status);
}

static int entity_enable(lua_State *L) { return entity_switch_component(L, false); }

static int entity_disable(lua_State *L) { return entity_switch_component(L, true); }

static int entity_is_enabled(lua_State *L) { return entity_ask(L, toggle_enabled); }

/* ---- integers as text ------------------------------------------------------------- */

/* Text for 64-bit integers, which a Lua with 53-bit numbers cannot represent. */

/* The component at 3, named with an integer field. */
static struct component *entity_check_integer(lua_State *L, struct world_box *box, uint32_t *leaf) {
  struct component *component = check_component_leaf(L, box, 3, leaf);
  if (*leaf == NONE || component->relation ||
      type_class(component->leaves[*leaf].type) != CLASS_INTEGER)
    luaL_argerror(L, 3, "an integer field of a component expected, as \"Account.balance\"");
  return component;
}

static int entity_get_text(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct record *record;
  ecs_id id = check_entity_record(L, box, 2, &record);
  uint32_t at;
  const struct component *component = entity_check_integer(L, box, &at);
  const struct leaf *leaf = &component->leaves[at];
  struct place place;
  place_init(&place, L, box, 1, id, component);
  if (!place_look(&place, record)) return 0;
  push_integer_text(L, leaf->type, cell_load(place.columns[at].data, leaf->size, place.row));
  return 1;
}

static int entity_set_text(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  uint32_t at;
  struct component *component = entity_check_integer(L, box, &at);
  ecs_type type = component->leaves[at].type;
  const char *text = check_text(L, 4, NULL);
  struct write write = {.leaf = at};
  if (!integer_of_text(type, text, &write.cell)) {
    char shown[96], message[160];
    text_format(message, sizeof message, "%s is not a number that %s holds",
                show_value(L, 4, shown, sizeof shown), type_name(type));
    return luaL_argerror(L, 4, message);
  }
  ecs_status status;
  RETRY(L, box, status, entity_set(box->world, id, component, &write, 1));
  return entity_end(L, box, status);
}

/* ---- names ----------------------------------------------------------------------- */

static int entity_set_name(lua_State *L, struct world_box *box, ecs_id id) {
  check_free(L, box);
  size_t size = 0;
  const char *text = "";
  if (lua_type(L, 3) == LUA_TSTRING) {
    text = lua_tolstring(L, 3, &size);
    if (size == 0) return luaL_argerror(L, 3, "a name cannot be empty (pass false to remove it)");
  } else if (!lua_isboolean(L, 3) || lua_toboolean(L, 3)) {
    return luaL_typeerror(L, 3, "string or false");
  }
  RETRY_OR_BLAME(L, box, 3, name_set(box->world, id, text, size));
  return settle(L, box, 1);
}

static int entity_name(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  if (!lua_isnone(L, 3)) return entity_set_name(L, box, id);
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
  {"get_text", entity_get_text},
  {"has", entity_has_component},
  {"lookup", entity_lookup},
  {"name", entity_name},
  {"read", entity_read},
  {"remove", entity_remove_component},
  {"set", entity_set_values},
  {"set_text", entity_set_text},
  {NULL, NULL}
};
