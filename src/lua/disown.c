/* Leaving a world that a host has lent: nothing of this Lua state stays in it. */
#include "lua/system.h"

static ecs_status nothing(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_OK;
}

/* Whatever the core still does with a system, it does without its object. */
static void detach(ecs_system *system) {
  system->run = nothing;
  system->when = NULL;
  system->free = NULL;
  system->ud = NULL;
}

static bool is_of(const ecs_system *system, const struct world_box *box) {
  return system->run == script_run && (!box || system_script(system)->box == box);
}

void systems_detach(ecs_world *world, const struct world_box *box) {
  const struct schedule *schedule = &world->schedule;
  for (ecs_system *gone = schedule->gone; gone; gone = gone->next_gone)
    if (is_of(gone, box)) detach(gone);
  for (uint32_t i = 0; i < schedule->system_count; i++)
    if (is_of(schedule->systems[i], box)) detach(schedule->systems[i]);
}

static void remove_systems(const struct world_box *box, ecs_world *world) {
  struct schedule *schedule = &world->schedule;
  systems_detach(world, box);
  for (uint32_t i = schedule->system_count; i-- > 0;)
    if (schedule->systems[i]->run == nothing)
      ecs_system_remove(world, schedule->systems[i]->name);
  if (schedule->on_error == script_failed && schedule->on_error_ud == box)
    ecs_on_error(world, NULL, NULL);
}

/* ---- any values --------------------------------------------------------------------------- */

static void clear_slot(ecs_world *world, const struct world_box *box, uint32_t *slot) {
  if (!any_is_of(&world->any, *slot, &box->any)) return;
  any_release(&world->any, *slot);
  *slot = 0;
}

static void clear_table(ecs_world *world, const struct world_box *box,
                        const struct table *table) {
  for (uint32_t i = 0; table->has_any && i < table->column_count; i++) {
    const struct column *column = &table->columns[i];
    if (column->component->leaves[column->leaf].type != ECS_ANY) continue;
    uint32_t *slots = column->data;
    for (uint32_t row = 0; row < table->count; row++) clear_slot(world, box, &slots[row]);
  }
}

static void clear_resource(ecs_world *world, const struct world_box *box,
                           const struct component *component) {
  if (!component || !component->resource || !component->has_any) return;
  for (uint32_t i = 0; i < component->leaf_count; i++)
    if (component->leaves[i].type == ECS_ANY)
      clear_slot(world, box, component->resource[i].data);
}

/* What a defer of the host still holds. */
static void clear_command(ecs_world *world, const struct world_box *box,
                          const struct command *command) {
  const struct component *component = component_of(world, command->component);
  if (!component || !component->has_any) return;
  for (uint32_t i = 0; i < command->write_count; i++) {
    struct write *write = &world->staging.writes[command->first_write + i];
    if (component->leaves[write->leaf].type == ECS_ANY)
      clear_slot(world, box, &write->cell.u32);
  }
}

/* The values themselves go with the object of the world. */
static void clear_any(ecs_world *world, struct world_box *box) {
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++)
    clear_table(world, box, world_table(world, all->tables[i]));
  for (uint32_t i = 0; i < world->registry.count; i++)
    clear_resource(world, box, world->registry.components[i]);
  for (uint32_t i = 0; i < world->staging.command_count; i++)
    clear_command(world, box, &world->staging.commands[i]);
  while (any_next_released(&world->any, &box->any)) continue;
}

/* ---- loops -------------------------------------------------------------------------------- */

static ecs_status end_loops(void *ud) { return loops_end(ud); }

static void end_system(void *ud, bool keep) { loops_end_system(ud, keep); }

void world_own_loops(struct world_box *box) {
  struct schedule *schedule = &box->world->schedule;
  box->owner = (struct loop_owner){schedule->loop_owners, end_loops, end_system, box};
  schedule->loop_owners = &box->owner;
}

static void leave_loops(const struct world_box *box, ecs_world *world) {
  struct loop_owner **at = &world->schedule.loop_owners;
  while (*at && *at != &box->owner) at = &(*at)->next;
  if (*at) *at = box->owner.next;
}

const char lent_worlds_key = 0;

void world_disown(lua_State *L, struct world_box *box, ecs_world *world) {
  remove_systems(box, world);
  leave_loops(box, world);
  queries_free(box, world);
  snapshots_free(box, world);
  clear_any(world, box);
  box->gone = NULL;
  box->host = NULL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &lent_worlds_key) == LUA_TTABLE) {
    lua_pushnil(L);
    lua_rawsetp(L, -2, world);
  }
  lua_pop(L, 1);
}
