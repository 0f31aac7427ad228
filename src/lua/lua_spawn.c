#include "lua/lua_spawn.h"

#include "core/store/clone.h"
#include "core/store/component.h"
#include "core/store/entity.h"
#include "core/store/fields.h"
#include "core/store/relation.h"
#include "core/store/table.h"
#include "core/store/world.h"
#include "ecs_component.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/batch.h"
#include "lua/bind/ids.h"
#include "lua/bind/living.h"
#include "lua/bind/names.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

#define PARTS_LOCAL 16
#define MANY_LIMIT (INDEX_LIMIT - FIRST_ENTITY)

/* The components that a spawn's table names, with their writes. */
struct plan {
  struct batch batch;
  uint32_t count;
  uint32_t capacity;
  bool tied;               /* a relation is among them */
  struct part *parts;      /* `local`, or the world box's scratch */
  struct part local[PARTS_LOCAL];
};

static void grow(struct plan *plan) {
  struct world_box *box = plan->batch.box;
  bool tried = false;
  struct part *parts;
  do
    parts = memory_grow(box->memory, box->scratch->parts,
                        &box->scratch->part_capacity, 2ull * plan->capacity,
                        sizeof *parts);
  while (retry(plan->batch.L, box, parts ? ECS_OK : ECS_ENOMEM, &tried));
  if (!parts) raise_memory(plan->batch.L);
  if (plan->parts == plan->local)
    memcpy(parts, plan->local, plan->count * sizeof *parts);
  box->scratch->parts = plan->parts = parts;
  plan->capacity = box->scratch->part_capacity;
}

static struct component *find_key(lua_State *L, struct world_box *box, uint32_t *leaf) {
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
    raise_error(L, "%s is no name or id of a component",
                show_value(L, -2, text, sizeof text));
  ecs_status status = component_need_id(box->world, id, &component);
  if (status != ECS_OK) raise_status(L, box->world, status);
  return component;
}

/* The component that the key at the top but one of the stack names. */
static inline struct component *key_component(lua_State *L, struct world_box *box) {
  uint32_t leaf;
  struct component *component = known_component(L, box, -2, &leaf);
  if (UNLIKELY(!component)) component = find_key(L, box, &leaf);
  if (LIKELY(leaf == NONE)) return component;
  char text[128];
  raise_error(L, "a component is expected, not the field %s",
              show_value(L, -2, text, sizeof text));
  return NULL;
}

/* A part whose writes are those from `before` on. */
static void end_part(struct plan *plan, struct component *component, ecs_id target,
                     uint32_t before) {
  if (UNLIKELY(plan->count == plan->capacity)) grow(plan);
  struct part *part = &plan->parts[plan->count++];
  part->component = component;
  part->target = target;
  part->write_count = plan->batch.count - before;
  part->stride = 0;
}

/* ---- relations ---- */

/* The living entity at an index: an id, or a component's or tag's name. */
static ecs_id tie_target(struct plan *plan, const struct component *component, int index) {
  lua_State *L = plan->batch.L;
  const ecs_world *world = plan->batch.box->world;
  int is_integer;
  ecs_id target = to_id(L, index, &is_integer);
  char got[128];
  if (lua_type(L, index) == LUA_TSTRING)
    target = ecs_component_find(world, lua_tostring(L, index));
  else if (!is_integer)
    raise_error(L, "relation '%s' takes a target's id, got %s", component->name,
                show_value(L, index, got, sizeof got));
  if (target == ECS_NULL)
    raise_error(L, "relation '%s': there is no target %s", component->name,
                show_value(L, index, got, sizeof got));
  ecs_status status = entity_need(world, target);
  if (status != ECS_OK) raise_status(L, world, status);
  return target;
}

/* The fields of an exclusive relation, one of which is its target. */
static void add_exclusive(struct plan *plan, struct component *component, int index) {
  lua_State *L = plan->batch.L;
  uint32_t before = plan->batch.count;
  bool fields = lua_type(L, index) == LUA_TTABLE;
  if (fields) batch_table(&plan->batch, component, index);
  bool given = false;
  for (uint32_t i = before; i < plan->batch.count; i++)
    given |= plan->batch.writes[i].leaf == TARGET_LEAF && plan->batch.writes[i].cell.u64;
  if (fields && !given)
    raise_error(L, "relation '%s': its target is missing, as in %s = { target = id }",
                component->name, component->name);
  end_part(plan, component, fields ? ECS_NULL : tie_target(plan, component, index), before);
}

/* What stands in a list of targets is at 1 to count. */
static void check_list(lua_State *L, const struct component *component, int index,
                       lua_Integer count) {
  char got[128];
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_Integer at = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (at >= 1 && at <= count) continue;
    raise_error(L, "relation '%s' takes a list of targets, got the key %s; values are given with "
                "each target, as in [world:pair(\"%s\", target)] = { ... }", component->name,
                show_value(L, -2, got, sizeof got), component->name);
  }
}

/* One target, or a list of them, without values. */
static void add_targets(struct plan *plan, struct component *component, int index) {
  lua_State *L = plan->batch.L;
  if (lua_type(L, index) != LUA_TTABLE) {
    end_part(plan, component, tie_target(plan, component, index), plan->batch.count);
    return;
  }
  need_stack(L, 4);
  lua_Integer i = 1;
  for (; lua_rawgeti(L, index, i) != LUA_TNIL; i++) {
    end_part(plan, component, tie_target(plan, component, lua_gettop(L)), plan->batch.count);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  check_list(L, component, index, i - 1);
}

/* The pair whose id is the key, with true or a table of its fields. */
static void add_pair(struct plan *plan, struct component *component, ecs_id pair, int index) {
  lua_State *L = plan->batch.L;
  const ecs_world *world = plan->batch.box->world;
  uint32_t before = plan->batch.count;
  ecs_id target = entity_id_any(&world->entities, pair_target(pair));
  char got[128];
  if (!ecs_alive(world, target))
    raise_error(L, "the target of a pair of '%s' is dead", component->name);
  if (lua_type(L, index) == LUA_TTABLE && component->field_count > component->ties.exclusive)
    batch_table(&plan->batch, component, index);
  else if (!(lua_isboolean(L, index) && lua_toboolean(L, index)))
    raise_error(L, "a pair of '%s' takes true, or a table of the relation's fields, got %s",
                component->name, show_value(L, index, got, sizeof got));
  end_part(plan, component, target, before);
}

static void add_ties(struct plan *plan, struct component *component, int index) {
  int is_integer;
  ecs_id key = to_id(plan->batch.L, index - 1, &is_integer);
  if (is_integer && id_is_pair(key))
    add_pair(plan, component, key, index);
  else if (component->relation->exclusive)
    add_exclusive(plan, component, index);
  else
    add_targets(plan, component, index);
}

/* Key and value are at the top of the stack, the value at an absolute index. */
static void add_part(struct plan *plan, int index) {
  lua_State *L = plan->batch.L;
  if (UNLIKELY(plan->count == plan->capacity)) grow(plan);
  struct component *component = key_component(L, plan->batch.box);
  if (UNLIKELY(component->relation)) {
    plan->tied = true;
    add_ties(plan, component, index);
    return;
  }
  uint32_t before = plan->batch.count;
  char got[128];
  if (LIKELY(lua_type(L, -1) == LUA_TTABLE && component->field_count))
    batch_table(&plan->batch, component, index);
  else if (!(lua_isboolean(L, -1) && lua_toboolean(L, -1)))
    raise_error(L, component->field_count
                       ? "component '%s' takes a table of fields, or true, got %s"
                       : "'%s' is a tag and takes true, got %s",
                component->name, show_value(L, -1, got, sizeof got));
  end_part(plan, component, ECS_NULL, before);
}

/* Ties are made in the order of their relations, whatever that of the keys in their table is. */
static void order_ties(struct plan *plan) {
  for (uint32_t i = 1; plan->tied && i < plan->count; i++) {
    struct part part = plan->parts[i];
    uint32_t at = i;
    for (; at > 0 && plan->parts[at - 1].component->id > part.component->id; at--)
      plan->parts[at] = plan->parts[at - 1];
    plan->parts[at] = part;
  }
}

/* Reads { Position = { x = 1 }, Frozen = true, [id] = {} } at a positive index; nothing
** stands for an empty one. */
static void read_plan(struct plan *plan, lua_State *L, struct world_box *box, int index) {
  batch_begin(&plan->batch, L, box, 1);
  plan->count = 0;
  plan->tied = false;
  plan->capacity = PARTS_LOCAL;
  plan->parts = plan->local;
  if (lua_isnoneornil(L, index)) return;
  luaL_checktype(L, index, LUA_TTABLE);
  int value = lua_gettop(L) + 2;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) add_part(plan, value);
  const struct write *writes = plan->batch.writes;
  for (uint32_t i = 0; i < plan->count; i++) {
    plan->parts[i].writes = writes;
    writes += plan->parts[i].write_count;
  }
}

int spawn_parts(lua_State *L, struct world_box *box, const struct part *parts, uint32_t count) {
  ecs_id id = ECS_NULL;
  bool tried = false;
  ecs_status status;
  do
    status = entity_spawn(box->world, parts, count, &id);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_status(L, box->world, status);
  values_stored(box);
  lua_pushinteger(L, (lua_Integer)id);
  settle(L, box, 1);
  return 1;
}

static int world_spawn(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  struct plan plan;
  read_plan(&plan, L, box, 2);
  order_ties(&plan);
  return spawn_parts(L, box, plan.parts, plan.count);
}

static int world_spawn_at(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_id(L, 2);
  struct plan plan;
  read_plan(&plan, L, box, 3);
  order_ties(&plan);
  bool tried = false;
  ecs_status status;
  do
    status = entity_spawn_at(box->world, id, plan.parts, plan.count);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_argument(L, box->world, status, 2);
  values_stored(box);
  lua_pushinteger(L, (lua_Integer)id);
  settle(L, box, 1);
  return 1;
}

static lua_Integer check_count(lua_State *L, int arg) {
  int is_integer = 0;
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "number of entities");
  lua_Integer count = lua_tointegerx(L, arg, &is_integer);
  if (!is_integer || count < 0 || count > MANY_LIMIT)
    luaL_argerror(L, arg, "a number of entities is an integer from 0 to 268369920");
  return count;
}

/* Repeats the writes for every entity, each with its own slots. */
static void repeat_writes(struct plan *plan, struct write *writes, size_t count) {
  const struct batch *batch = &plan->batch;
  const uint32_t *slots = batch->box->scratch->pending;
  struct write *to = writes;
  for (size_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < plan->count; j++) {
      const struct part *part = &plan->parts[j];
      slots = writes_copy(part->component, part->writes, part->write_count, to, slots);
      to += part->write_count;
    }
  for (uint32_t j = 0; j < plan->count; j++) {
    plan->parts[j].stride = batch->count;
    plan->parts[j].writes = writes + (plan->parts[j].writes - batch->writes);
  }
}

/* Spawns with the ids put into a buffer of `count`, if there is one. */
static ecs_status spawn_into(struct plan *plan, size_t count, ecs_id *ids) {
  struct world_box *box = plan->batch.box;
  bool tried = false;
  ecs_status status;
  order_ties(plan);
  do
    status = entity_spawn_many(box->world, count, plan->parts, plan->count, ids);
  while (retry(plan->batch.L, box, status, &tried));
  if (status == ECS_OK) values_stored(box);
  return status;
}

/* Spawns through a buffer that has the ids, and the writes repeated for any values. */
static ecs_status spawn_buffered(lua_State *L, struct plan *plan, size_t count, int list) {
  struct world_box *box = plan->batch.box;
  bool with_any = box->any.pending > 0 && count > 1;
  if (with_any) batch_share_out(&plan->batch, count);
  size_t copies = with_any ? count * plan->batch.count : 0;
  size_t size = count * sizeof(ecs_id) + copies * sizeof(struct write);
  ecs_id *ids = buffer_take(L, box, size);
  if (with_any) repeat_writes(plan, (struct write *)(ids + count), count);
  ecs_status status = spawn_into(plan, count, ids);
  for (size_t i = 0; i < count && status == ECS_OK; i++) {
    lua_pushinteger(L, (lua_Integer)ids[i]);
    lua_rawseti(L, list, (lua_Integer)i + 1);
  }
  buffer_return(L, ids, size);
  return status;
}

/* Spawns into the last rows of a table, which then tell the ids. */
static ecs_status spawn_rows(lua_State *L, struct plan *plan, size_t count, int list) {
  ecs_status status = spawn_into(plan, count, NULL);
  if (status != ECS_OK) return status;
  const ecs_world *world = plan->batch.box->world;
  const struct table *table = world_table(world, world->last_table);
  const uint32_t *rows = table->rows + (table->count - count);
  for (size_t i = 0; i < count; i++) {
    lua_pushinteger(L, (lua_Integer)entity_id(&world->entities, rows[i]));
    lua_rawseti(L, list, (lua_Integer)i + 1);
  }
  return ECS_OK;
}

/* Whether they lie in the last rows of one table once they are spawned at once. */
static bool lie_together(const struct plan *plan) {
  const struct world_box *box = plan->batch.box;
  if (staging_is_open(&box->world->staging) || box->any.pending) return false;
  for (size_t i = 0; i < plan->count; i++)
    if (plan->parts[i].component->relation || plan->parts[i].component->sparse) return false;
  return !sparse_is_mixed(box->world);
}

static int world_spawn_many(lua_State *L) {
  check_free_world(L, 1);
  size_t count = (size_t)check_count(L, 2);
  lua_settop(L, 3);
  lua_createtable(L, (int)count, 0);
  struct world_box *box = check_world(L, 1);
  struct plan plan;
  read_plan(&plan, L, box, 3);
  if (count == 0) return 1;
  ecs_status status = lie_together(&plan) ? spawn_rows(L, &plan, count, 4)
                                           : spawn_buffered(L, &plan, count, 4);
  if (UNLIKELY(status != ECS_OK)) return raise_status(L, box->world, status);
  settle(L, box, 1);
  return 1;
}

/* ---- copies ---- */

/* Each any value that is to be copied gets a slot of its own. Whatever ran meanwhile has left the
** world alone, or the call ends here. */
static void take_slots(lua_State *L, struct world_box *box) {
  struct clone *clone = box->world->clone;
  uint32_t calls = box->calls;
  need_stack(L, 2);
  for (uint32_t i = 0; i < clone->slot_count; i++) {
    push_any(L, box, 1, clone->slots[i]);
    uint32_t slot = take_any(L, box, 1, -1);
    lua_pop(L, 1);
    if (calls != box->calls) raise_memory(L);
    clone_set_slot(clone, i, slot);
  }
}

/* Pushes the id of a copy of an entity, which an argument names, with the plan over it. */
static int copy(lua_State *L, struct plan *plan, ecs_id id, int arg) {
  struct world_box *box = plan->batch.box;
  bool tried = false;
  ecs_status status;
  order_ties(plan);
  do
    status = clone_find(box->world, id);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_argument(L, box->world, status, arg);
  take_slots(L, box);
  tried = false;
  do
    status = clone_make(box->world, plan->parts, plan->count, &id);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_status(L, box->world, status);
  values_stored(box);
  lua_pushinteger(L, (lua_Integer)id);
  settle(L, box, 1);
  return 1;
}

static int world_clone(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  struct plan plan;
  read_plan(&plan, L, box, 3);
  return copy(L, &plan, id, 2);
}

static int world_despawn(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_id(L, 2);
  bool tried = false;
  ecs_status status;
  do
    status = entity_despawn(box->world, id);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_argument(L, box->world, status, 2);
  settle(L, box, 1);
  return 0;
}

const luaL_Reg world_spawn_methods[] = {
  {"clone", world_clone},
  {"despawn", world_despawn},
  {"spawn", world_spawn},
  {"spawn_at", world_spawn_at},
  {"spawn_many", world_spawn_many},
  {NULL, NULL}
};
