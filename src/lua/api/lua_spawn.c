#include "lua/api/lua_spawn.h"

#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/storage/fields.h"
#include "core/storage/layout.h"
#include "core/entity/spawn.h"
#include "core/ids/world.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/id_args.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/api/composition.h"

#define MANY_LIMIT (INDEX_LIMIT - FIRST_ENTITY)

int spawn_end(lua_State *L, struct world_box *box, ecs_id id) {
  values_stored(box);
  lua_pushinteger(L, (lua_Integer)id);
  settle(L, box, 1);
  return 1;
}

ecs_id spawn_parts(lua_State *L, struct world_box *box, const struct part *parts, uint32_t count) {
  ecs_id id = ECS_NULL;
  bool tried = false;
  ecs_status status;
  do
    status = entity_spawn(box->world, parts, count, &id);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) raise_status(L, box->world, status);
  return id;
}

static APART int spawn_composed(lua_State *L, struct world_box *box) {
  struct composition plan;
  composition_read(&plan, L, box, 2);
  composition_order(&plan, 0, plan.count);
  return spawn_end(L, box, spawn_parts(L, box, plan.parts, plan.count));
}

/* One without components is a row of the table that has none: 23 % off. */
static int world_spawn(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = ECS_NULL;
  check_only(L, 2, "one table expected, of one entity: world:spawn_many makes several");
  if (!lua_isnoneornil(L, 2)) return spawn_composed(L, box);
  const struct table *none = box->world->graph.empty;
  if (UNLIKELY(!spawn_again(box->world, none->index, none->serial, &id)))
    return spawn_composed(L, box);
  return spawn_end(L, box, id);
}

static int world_spawn_at(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_id(L, 2);
  struct composition plan;
  composition_read(&plan, L, box, 3);
  composition_order(&plan, 0, plan.count);
  bool tried = false;
  ecs_status status;
  do
    status = entity_spawn_at(box->world, id, plan.parts, plan.count);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_argument(L, box->world, status, 2);
  return spawn_end(L, box, id);
}

static lua_Integer spawn_check_count(lua_State *L, int arg) {
  int is_integer = 0;
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "number of entities");
  lua_Integer count = lua_tointegerx(L, arg, &is_integer);
  if (!is_integer || count < 0 || count > MANY_LIMIT)
    luaL_argerror(L, arg, "a number of entities is an integer from 0 to 268369920");
  return count;
}

/* Repeats the writes for every entity, each with its own slots. */
static void repeat_writes(struct composition *plan, struct write *writes, size_t count) {
  const struct input *input = &plan->input;
  const uint32_t *slots = input->box->scratch->pending;
  struct write *to = writes;
  for (size_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < plan->count; j++) {
      const struct part *part = &plan->parts[j];
      slots = writes_copy(part->component, part->writes, part->write_count, to, slots);
      to += part->write_count;
    }
  for (uint32_t j = 0; j < plan->count; j++) {
    plan->parts[j].stride = input->count;
    plan->parts[j].writes = writes + (plan->parts[j].writes - input->writes);
  }
}

/* Spawns with the ids put into a buffer of `count`, if there is one. */
static ecs_status spawn_into(struct composition *plan, size_t count, ecs_id *ids) {
  struct world_box *box = plan->input.box;
  bool tried = false;
  ecs_status status;
  composition_order(plan, 0, plan->count);
  do
    status = entity_spawn_many(box->world, count, plan->parts, plan->count, ids);
  while (retry(plan->input.L, box, status, &tried));
  if (status == ECS_OK) values_stored(box);
  return status;
}

/* Spawns through a buffer that has the ids, and the writes repeated for any values. */
static ecs_status spawn_buffered(lua_State *L, struct composition *plan, size_t count, int list) {
  struct world_box *box = plan->input.box;
  bool with_any = box->any.pending > 0 && count > 1;
  if (with_any) input_share_out(&plan->input, count);
  size_t copies = with_any ? count * plan->input.count : 0;
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
static ecs_status spawn_rows(lua_State *L, struct composition *plan, size_t count, int list) {
  ecs_status status = spawn_into(plan, count, NULL);
  if (status != ECS_OK) return status;
  const ecs_world *world = plan->input.box->world;
  const struct table *table = world_table(world, world->last_table);
  const uint32_t *rows = table->rows + (table->count - count);
  for (size_t i = 0; i < count; i++) {
    lua_pushinteger(L, (lua_Integer)entity_id(&world->entities, rows[i]));
    lua_rawseti(L, list, (lua_Integer)i + 1);
  }
  return ECS_OK;
}

/* Whether they lie in the last rows of one table once they are spawned at once. */
static bool spawn_lie_together(const struct composition *plan) {
  const struct world_box *box = plan->input.box;
  if (changes_wait(box->world) || box->any.pending) return false;
  for (size_t i = 0; i < plan->count; i++)
    if (plan->parts[i].component->relation || plan->parts[i].component->sparse) return false;
  return !sparse_is_mixed(box->world);
}

static int world_spawn_many(lua_State *L) {
  check_free_world(L, 1);
  size_t count = (size_t)spawn_check_count(L, 2);
  lua_settop(L, 3);
  lua_createtable(L, (int)count, 0);
  struct world_box *box = check_world(L, 1);
  struct composition plan;
  composition_read(&plan, L, box, 3);
  if (count == 0) return 1;
  ecs_status status = spawn_lie_together(&plan) ? spawn_rows(L, &plan, count, 4)
                                           : spawn_buffered(L, &plan, count, 4);
  if (UNLIKELY(status != ECS_OK)) return raise_status(L, box->world, status);
  settle(L, box, 1);
  return 1;
}

static int world_despawn(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_id(L, 2);
  check_only(L, 2, "one entity expected: call it for each");
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
  {"despawn", world_despawn},
  {"spawn", world_spawn},
  {"spawn_at", world_spawn_at},
  {"spawn_many", world_spawn_many},
  {NULL, NULL}
};
