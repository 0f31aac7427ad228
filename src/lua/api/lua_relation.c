#include "lua/api/api.h"

#include "core/entity/entity.h"
#include "core/relation/relation.h"
#include "ecs_entity.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"

/* ---- arguments ------------------------------------------------------------------- */

/* The relation that an argument names, or an error. */
static struct component *relation_check_relation(lua_State *L, struct world_box *box, int arg) {
  struct component *component = check_component(L, box, arg);
  struct relation *relation;
  ecs_status status = relation_need(box->world, component->id, &relation);
  if (status != ECS_OK) raise_argument(L, box->world, status, arg);
  return component;
}

/* A living entity by its id, or a component or tag by name. */
static ecs_id relation_check_target(lua_State *L, struct world_box *box, int arg) {
  if (lua_type(L, arg) == LUA_TSTRING) return check_component(L, box, arg)->id;
  return check_entity(L, box, arg);
}

/* Finds the target of a call: in a pair's id at argument 3, or separately at 4; ECS_NULL if there
** is none. Further arguments begin at *next. */
static ecs_id relation_find_target(lua_State *L, struct world_box *box, int *next) {
  int is_integer;
  ecs_id id = to_id(L, 3, &is_integer);
  *next = 4;
  if (id_is_pair(id)) {
    ecs_id target = entity_id_any(box->entities, pair_target(id));
    if (!ecs_alive(box->world, target)) luaL_argerror(L, 3, "the target of this pair is dead");
    return target;
  }
  if (lua_isnone(L, 4)) return ECS_NULL;
  *next = 5;
  return relation_check_target(L, box, 4);
}

static int relation_no_more(lua_State *L, int next) {
  if (lua_gettop(L) >= next) return luaL_argerror(L, next, "one target expected");
  return 0;
}

static int relation_push_id(lua_State *L, ecs_id id) {
  lua_pushinteger(L, (lua_Integer)id);
  return 1;
}

/* ---- declaring ------------------------------------------------------------------- */

static int world_relation(lua_State *L) { return declare_method(L, "relation"); }

/* ---- changing -------------------------------------------------------------------- */

/* Ties; without a target, raises an error that says how to write it. */
static int relation_tie(lua_State *L, struct world_box *box, ecs_id id, struct component *component,
                        ecs_id target, const struct input *input) {
  RETRY_OR_RAISE(L, box,
                 target == ECS_NULL
                     ? relate_no_target(box->world, component)
                     : relate_add(box->world, id, component, target, input->writes, input->count));
  values_stored(box);
  return settle(L, box, 1);
}

int relation_add(lua_State *L, struct world_box *box, struct component *component) {
  int next;
  ecs_id id = check_entity(L, box, 2), target = relation_find_target(L, box, &next);
  struct input input;
  input_begin(&input, L, box, 1);
  relation_no_more(L, next);
  return relation_tie(L, box, id, component, target, &input);
}

int relation_remove(lua_State *L, struct world_box *box, struct component *component) {
  int next;
  ecs_id id = check_entity(L, box, 2), target = relation_find_target(L, box, &next);
  relation_no_more(L, next);
  RETRY_OR_RAISE(L, box, relate_remove(box->world, id, component, target));
  return settle(L, box, 1);
}

/* Reads the fields after the target of an exclusive relation: in order, or as a table. */
static void relation_input_behind_target(struct input *input, const struct component *component,
                                         uint32_t leaf, int next) {
  int count = lua_gettop(input->L) - next + 1;
  bool table = count == 1 && lua_type(input->L, next) == LUA_TTABLE;
  if (leaf != NONE || (table && component->field_count > 1)) {
    input_values(input, component, leaf, next, count);
    return;
  }
  if (count >= (int)component->field_count)
    raise_error(input->L, "relation '%s' takes at most %u values after its target, got %d",
                component->name, component->field_count - 1, count);
  for (int i = 0; i < count; i++)
    input_part(input, component, &component->fields[i + 1], 0, next + i);
}

int relation_set(lua_State *L, struct world_box *box, struct component *component,
                 uint32_t leaf) {
  int next;
  ecs_id id = check_entity(L, box, 2), target = relation_find_target(L, box, &next);
  struct input input;
  input_begin(&input, L, box, 1);
  if (component->relation->exclusive)
    relation_input_behind_target(&input, component, leaf, next);
  else if (target != ECS_NULL && (leaf != NONE || component->field_count || lua_gettop(L) >= next))
    input_values(&input, component, leaf, next, lua_gettop(L) - next + 1);
  /* The target precedes the fields, and must not also be one of them. */
  bool given = component->relation->exclusive && target != ECS_NULL;
  for (uint32_t i = 0; given && i < input.count; i++)
    if (input.writes[i].leaf == TARGET_LEAF)
      raise_error(L, "relation '%s' is given its target twice: leave it out of the table, which "
                  "names the other fields", component->name);
  return relation_tie(L, box, id, component, target, &input);
}

/* ---- lookups --------------------------------------------------------------------- */

int relation_has(lua_State *L, struct world_box *box, struct component *component) {
  int next;
  ecs_id id = check_entity(L, box, 2), target = relation_find_target(L, box, &next);
  lua_pushboolean(L, relate_has(box->world, id, component, target));
  return 1;
}

/* Finds the pair, or the exclusive relation with that target; false if the entity lacks it. */
static bool relation_find_pair(lua_State *L, struct world_box *box, struct component *component,
                               struct place *place) {
  int next;
  ecs_id id = check_entity(L, box, 2), target = relation_find_target(L, box, &next);
  bool exclusive = component->relation->exclusive;
  if (target == ECS_NULL && !exclusive)
    raise_status(L, box->world, relate_no_target(box->world, component));
  place_init(place, L, box, 1, id, component);
  if (!exclusive)
    place->id = ecs_pair(component->id, target);
  else if (target != ECS_NULL && !relate_has(box->world, id, component, target))
    return false;
  return place_look(place, entity_find(box->entities, id));
}

int relation_get(lua_State *L, struct world_box *box, struct component *component,
                 uint32_t leaf) {
  struct place place;
  return relation_find_pair(L, box, component, &place) ? push_values(&place, leaf) : 0;
}

int relation_read(lua_State *L, struct world_box *box, struct component *component) {
  struct place place;
  if (relation_find_pair(L, box, component, &place))
    push_component(&place);
  else
    lua_pushnil(L);
  return 1;
}

static int relation_world_pair(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const struct component *component = relation_check_relation(L, box, 2);
  return relation_push_id(L, ecs_pair(component->id, relation_check_target(L, box, 3)));
}

static int relation_push_target(lua_State *L, struct world_box *box,
                                const struct component *component) {
  ecs_id target = relate_target(box->world, check_entity(L, box, 2), component);
  return target == ECS_NULL ? 0 : relation_push_id(L, target);
}

static int relation_world_target(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  return relation_push_target(L, box, relation_check_relation(L, box, 3));
}

static const struct component *relation_child_of(const struct world_box *box) {
  const struct relation *relation = box->world->relations.child_of;
  return relation ? relation->component : NULL;
}

static int relation_world_parent(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  check_entity(L, box, 2);
  check_only(L, 2, "it only returns the parent: set one with world:add(entity, \"ChildOf\", "
             "parent)");
  const struct component *component = relation_child_of(box);
  return component ? relation_push_target(L, box, component) : 0;
}

/* ---- loops over ties --------------------------------------------------------------- */

/* Entities that were tied when the loop began, except those that have died since then. Its user
** value is the world's object. */
struct listed_box {
  struct head head;
  size_t at, count;
  ecs_id ids[];
};

const char kind_listed = 0;

static int relation_next_listed(lua_State *L) {
  struct listed_box *listed = box_test(L, 1, &kind_listed, sizeof *listed);
  if (!listed) return luaL_typeerror(L, 1, "loop over entities");
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, 1);
  const struct world_box *box = check_world(L, 2);
  while (listed->at < listed->count) {
    ecs_id id = listed->ids[listed->at++];
    if (ecs_alive(box->world, id)) return relation_push_id(L, id);
  }
  return 0;
}

const luaL_Reg listed_metamethods[] = {
    {"__call", relation_next_listed}, LOOP_REFUSALS, {NULL, NULL}};

/* Like ecs_sources, for targets. */
static size_t relation_list_targets(const ecs_world *world, ecs_id id, ecs_id relation, ecs_id *ids,
                                    size_t room) {
  size_t count = 0;
  ecs_id target = ecs_target(world, id, relation);
  for (; target != ECS_NULL; target = ecs_next_target(world, id, relation, target), count++)
    if (count < room) ids[count] = target;
  return count;
}

/* The object is made before the ids are counted again, since making it may run finalizers. */
static int relation_push_listed(lua_State *L, const struct world_box *box, ecs_id id,
                                ecs_id relation,
                                size_t (*list)(const ecs_world *, ecs_id, ecs_id,
                                               ecs_id *, size_t)) {
  size_t count = list(box->world, id, relation, NULL, 0), room;
  struct listed_box *listed;
  do {
    lua_settop(L, 3);
    room = count;
    listed = new_box_of(L, &kind_listed, sizeof *listed + room * sizeof *listed->ids, 1, 1);
    count = list(check_world(L, 1)->world, id, relation, listed->ids, room);
  } while (count > room);
  listed->count = count;
  return 1;
}

static int relation_world_sources(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id target = relation_check_target(L, box, 2);
  return relation_push_listed(L, box, target, relation_check_relation(L, box, 3)->id, ecs_sources);
}

static int relation_world_children(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id target = relation_check_target(L, box, 2);
  const struct component *component = relation_child_of(box);
  return relation_push_listed(L, box, target, component ? component->id : ECS_NULL, ecs_sources);
}

static int relation_world_targets(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  return relation_push_listed(L, box, id, relation_check_relation(L, box, 3)->id,
                              relation_list_targets);
}

const luaL_Reg world_relation_methods[] = {
  {"children", relation_world_children},
  {"pair", relation_world_pair},
  {"parent", relation_world_parent},
  {"relation", world_relation},
  {"sources", relation_world_sources},
  {"target", relation_world_target},
  {"targets", relation_world_targets},
  {NULL, NULL}
};
