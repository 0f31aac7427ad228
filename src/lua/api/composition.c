#include "lua/api/api.h"

#include "core/base/text.h"
#include "core/change/migrate.h"
#include "core/entity/entity.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "ecs_component.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"

static void composition_grow(struct composition *plan) {
  struct world_box *box = plan->input.box;
  struct part *parts = scratch_grow(plan->input.L, box, box->scratch->parts,
                                    &box->scratch->part_capacity, 2ull * plan->capacity,
                                    sizeof *parts);
  if (plan->parts == plan->local)
    memcpy(parts, plan->local, plan->count * sizeof *parts);
  box->scratch->parts = plan->parts = parts;
  plan->capacity = box->scratch->part_capacity;
}

static struct component *composition_find_key(lua_State *L, struct world_box *box, uint32_t *leaf) {
  struct component *component = NULL;
  int is_integer;
  *leaf = NONE;
  if (lua_type(L, -2) == LUA_TSTRING) {
    component = find_component(L, box, -2, leaf);
    if (!component) raise_status(L, box->world, ECS_ENAME);
    return component;
  }
  ecs_id id = to_id(L, -2, &is_integer);
  char text[128];
  if (!is_integer)
    raise_error(L, "%s is not the name or id of a component",
                show_value(L, -2, text, sizeof text));
  raise_failure(L, box->world, component_need_id(box->world, id, &component));
  return component;
}

/* The component named by the key below the top of the stack. */
static inline struct component *composition_key_component(lua_State *L, struct world_box *box) {
  uint32_t leaf;
  struct component *component = known_component(L, box, -2, &leaf);
  if (UNLIKELY(!component)) component = composition_find_key(L, box, &leaf);
  if (LIKELY(leaf == NONE)) return component;
  char text[128];
  raise_error(L, "a component is expected, not the field %s",
              show_value(L, -2, text, sizeof text));
  return NULL;
}

/* The component whose fields the values are for: as a migration leaves it, if there is one. */
static const struct component *composition_as_valued(const struct composition *plan,
                                                     const struct component *component) {
  return LIKELY(!plan->migration) ? component : migration_wanted(plan->migration, component);
}

/* Ends a part; its writes are those from `before` on. */
static void composition_end_part(struct composition *plan, struct component *component,
                                 ecs_id target, uint32_t before) {
  if (UNLIKELY(plan->count == plan->capacity)) composition_grow(plan);
  struct part *part = &plan->parts[plan->count++];
  part->component = component;
  part->target = target;
  part->write_count = plan->input.count - before;
  part->stride = 0;
}

/* ---- relations ---- */

/* The living entity at an index: an id, or the name of a component or tag. */
static ecs_id composition_tie_target(struct composition *plan,
                                     const struct component *component, int index) {
  lua_State *L = plan->input.L;
  const ecs_world *world = plan->input.box->world;
  int is_integer;
  ecs_id target = to_id(L, index, &is_integer);
  char got[128];
  if (lua_type(L, index) == LUA_TSTRING)
    target = ecs_component_find(world, lua_tostring(L, index));
  else if (!is_integer)
    raise_error(L, "relation '%s' takes a target's id, got %s", component->name,
                show_value(L, index, got, sizeof got));
  if (target == ECS_NULL && is_integer)
    raise_error(L, "relation '%s' needs a target, and ecs.null is not an entity: leave the "
                "relation out instead", component->name);
  if (target == ECS_NULL)
    raise_error(L, "relation '%s': unknown target %s (pass the name of a component or tag, or an "
                "entity's id, which world:lookup returns)", component->name,
                show_value(L, index, got, sizeof got));
  raise_failure(L, world, entity_need(world, target));
  return target;
}

/* The fields of an exclusive relation, among them its target. */
static void composition_add_exclusive(struct composition *plan,
                                      struct component *component, int index) {
  lua_State *L = plan->input.L;
  uint32_t before = plan->input.count;
  bool fields = lua_type(L, index) == LUA_TTABLE;
  if (fields) input_table(&plan->input, composition_as_valued(plan, component), index);
  ecs_id target = ECS_NULL;
  relate_given_target(plan->input.writes + before, plan->input.count - before, &target);
  if (fields && target == ECS_NULL)
    raise_error(L, "relation '%s' lacks its target: write %s = { target = id }", component->name,
                component->name);
  composition_end_part(plan, component,
                       fields ? ECS_NULL : composition_tie_target(plan, component, index), before);
}

/* One target, or a list of them, without values. */
static void composition_add_targets(struct composition *plan, struct component *component,
                                    int index) {
  lua_State *L = plan->input.L;
  if (lua_type(L, index) != LUA_TTABLE) {
    composition_end_part(plan, component, composition_tie_target(plan, component, index),
                         plan->input.count);
    return;
  }
  need_stack(L, 4);
  lua_Integer i = 1;
  for (; lua_rawgeti(L, index, i) != LUA_TNIL; i++) {
    composition_end_part(plan, component, composition_tie_target(plan, component, lua_gettop(L)),
                         plan->input.count);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  char got[128];
  if (push_odd_key(L, index, (lua_Unsigned)i - 1))
    raise_error(L, "relation '%s' takes a list of targets, got the key %s; give values for each "
                "target, as in [world:pair(\"%s\", target)] = { ... }", component->name,
                show_value(L, -1, got, sizeof got), component->name);
}

/* A pair's id as the key, with true or a table of the relation's fields. */
static void composition_add_pair(struct composition *plan, struct component *component, ecs_id pair,
                                 int index) {
  lua_State *L = plan->input.L;
  const ecs_world *world = plan->input.box->world;
  uint32_t before = plan->input.count;
  ecs_id target = entity_id_any(&world->entities, pair_target(pair));
  const struct component *valued = composition_as_valued(plan, component);
  char got[128];
  if (!ecs_alive(world, target))
    raise_error(L, "the target of a pair of '%s' is dead", component->name);
  if (lua_type(L, index) == LUA_TTABLE && valued->field_count > valued->ties.exclusive)
    input_table(&plan->input, valued, index);
  else if (!(lua_isboolean(L, index) && lua_toboolean(L, index)))
    raise_error(L, "a pair of '%s' takes true, or a table of the relation's fields, got %s",
                component->name, show_value(L, index, got, sizeof got));
  composition_end_part(plan, component, target, before);
}

void composition_add_part(struct composition *plan, int index) {
  lua_State *L = plan->input.L;
  if (UNLIKELY(plan->count == plan->capacity)) composition_grow(plan);
  struct component *component = composition_key_component(L, plan->input.box);
  if (UNLIKELY(component->relation)) {
    int is_integer;
    ecs_id key = to_id(L, index - 1, &is_integer);
    plan->tied = true;
    if (is_integer && id_is_pair(key))
      composition_add_pair(plan, component, key, index);
    else if (component->relation->exclusive)
      composition_add_exclusive(plan, component, index);
    else
      composition_add_targets(plan, component, index);
    return;
  }
  uint32_t before = plan->input.count;
  const struct component *valued = composition_as_valued(plan, component);
  char got[128];
  if (LIKELY(lua_type(L, -1) == LUA_TTABLE && valued->field_count))
    input_table(&plan->input, valued, index);
  else if (lua_type(L, -1) == LUA_TSTRING && lua_isinteger(L, -2))
    raise_error(L, "%s is a list entry: components are keys, as in [%s] = true",
                show_value(L, -1, got, sizeof got), got);
  else if (!(lua_isboolean(L, -1) && lua_toboolean(L, -1)))
    raise_error(L, valued->field_count
                       ? "component '%s' takes a table of fields or true, got %s"
                       : "'%s' is a tag and takes true, got %s",
                component->name, show_value(L, -1, got, sizeof got));
  composition_end_part(plan, component, ECS_NULL, before);
}

/* Ties are made in the order of their relations, not of the keys in the table. */
void composition_order(struct composition *plan, uint32_t first, uint32_t count) {
  struct part *parts = plan->parts + first;
  for (uint32_t i = 1; plan->tied && i < count; i++) {
    struct part part = parts[i];
    uint32_t at = i;
    for (; at > 0 && parts[at - 1].component->id > part.component->id; at--)
      parts[at] = parts[at - 1];
    parts[at] = part;
  }
}

void composition_begin(struct composition *plan, lua_State *L, struct world_box *box) {
  input_begin(&plan->input, L, box, 1);
  plan->count = 0;
  plan->tied = false;
  plan->migration = NULL;
  plan->capacity = PARTS_LOCAL;
  plan->parts = plan->local;
}

void composition_end(struct composition *plan) {
  const struct write *writes = plan->input.writes;
  for (uint32_t i = 0; i < plan->count; i++) {
    plan->parts[i].writes = writes;
    writes += plan->parts[i].write_count;
  }
}

void composition_read(struct composition *plan, lua_State *L, struct world_box *box, int index) {
  composition_begin(plan, L, box);
  if (lua_isnoneornil(L, index)) return;
  if (lua_type(L, index) == LUA_TSTRING) {   /* a prefab's name, or a single component's */
    ecs_string name;
    char text[160];
    name.data = lua_tolstring(L, index, &name.size);
    if (name.size > 40) name.size = 40;
    text_format(text, sizeof text, "a table of components expected, as in { Position = true }, got "
                "a string; to copy a prefab, call world:instantiate \"%.*s\"", SHOW(name));
    luaL_argerror(L, index, text);
  }
  luaL_checktype(L, index, LUA_TTABLE);
  int value = lua_gettop(L) + 2;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) composition_add_part(plan, value);
  composition_end(plan);
}
