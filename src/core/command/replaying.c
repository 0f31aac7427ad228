#include "core/command/replaying.h"

#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/storage/marks.h"
#include "core/command/merge.h"
#include "core/relation/relation.h"
#include "core/storage/sparse.h"
#include "core/storage/sparse_rows.h"
#include "core/storage/toggle.h"
#include "core/ids/world.h"

void replay_release(ecs_world *world, const struct command *command) {
  const struct component *component = component_of(world, command->component);
  if (!component || !component->has_any || (command->dropped && world->staging.own)) return;
  assert(command->first_write + command->write_count <= world->staging.write_count);
  for (uint32_t i = 0; i < command->write_count; i++) {
    const struct write *write = &world->staging.writes[command->first_write + i];
    if (component->leaves[write->leaf].type == ECS_ANY)
      any_release(&world->any, write->cell.u32);
  }
}

/* What keeps the command's component: the table of its entity's row, or a sparse one's own. */
static struct table *replaying_home_of(const ecs_world *world, struct table *table,
                                       const struct command *command) {
  const struct sparse *sparse = sparse_of(world, command->component);
  return sparse ? sparse->table : table;
}

static void reset_pair(ecs_world *world, const struct table *table, ecs_id pair, uint32_t row) {
  table_write_defaults(world, table_find(table, pair), row);
  marks_note(world, table, pair, row);
}

/* What a command takes away, other commands may have brought again: then with defaults. Whether an
** exclusive relation was taken away, its ties say (command->anew). */
static void reset_removed(ecs_world *world, const struct command *command,
                          struct table *table, uint32_t row) {
  const struct relation *relation = relation_of(world, command->component);
  if (command->dropped || (relation && relation->exclusive)) return;
  uint32_t at = row;
  const struct layout *layout =
      sparse_layout(world, table, ecs_id_index(command->entity), command->component, &at);
  if (layout->count) table_write_defaults(world, layout, at);
  if (layout->taken) {
    struct table *home = replaying_home_of(world, table, command);
    marks_note(world, home, command->component, at);
    if (home->off) toggle_set(home, command->component, at, false);
  }
  if (!relation || id_is_pair(command->component) || !table->has_pairs) return;
  for (uint32_t i = 0; i < table->id_count; i++)
    if (id_is_pair(table->ids[i]) && component_of(world, table->ids[i]) == relation->component)
      reset_pair(world, table, table->ids[i], row);
}

void replay_chain(ecs_world *world, const struct chain *chain, struct table *table,
                  uint32_t row) {
  const struct staging *staging = &world->staging;
  for (uint32_t at = chain->first; at != NONE; at = staging->commands[at].next) {
    const struct command *command = &staging->commands[at];
    uint32_t count = command->write_count, to = row;
    const struct layout *layout =
        sparse_layout(world, table, ecs_id_index(command->entity), command->component, &to);
    if (command->anew && layout->count) table_write_defaults(world, layout, to);
    if (layout->taken && (command->anew || command->kind == COMMAND_SET) && !command->dropped)
      marks_note(world, replaying_home_of(world, table, command), command->component, to);
    if (command->kind == COMMAND_SET && (!layout->taken || command->dropped))
      replay_release(world, command);
    else if (command->kind == COMMAND_SET && count)
      table_write(world, layout->columns, to, staging->writes + command->first_write, count);
    else if (command->kind == COMMAND_REMOVE)
      reset_removed(world, command, table, row);
    else if (command_is_switch(command) && !command->idle && layout->taken)
      toggle_set(replaying_home_of(world, table, command), command->component, to,
                 command->kind == COMMAND_DISABLE);
  }
}

void replay_targets(ecs_world *world, const struct table *table, uint32_t entity, uint32_t row) {
  for (uint32_t i = 0; i < world->relations.count; i++) {
    const struct relation *relation = world->relations.list[i];
    if (!relation->exclusive) continue;
    const struct layout *layout = table_find(table, relation->component->id);
    if (!layout->columns) continue;
    ecs_id *cell = (ecs_id *)layout->columns[TARGET_LEAF].data + row;
    ecs_id target = relation_target(world, relation, entity);
    if (*cell != target) marks_note(world, table, layout->id, row);
    *cell = target;
  }
}
