#include "core/command/merge.h"

#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/base/id_set.h"
#include "core/command/cascade.h"
#include "core/relation/relation.h"
#include "core/storage/require.h"
#include "core/ids/world.h"

/* Takes away the pairs of a relation. */
static uint32_t remove_pairs(ecs_id *ids, uint32_t count, uint32_t relation) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!id_is_pair(ids[i]) || pair_relation(ids[i]) != relation) ids[kept++] = ids[i];
  return kept;
}

/* A set of ids with room for `room` after a command; how many they are then. */
static uint32_t change_set(const ecs_world *world, const struct command *command, ecs_id *ids,
                           uint32_t count, uint64_t room) {
  const struct relation *relation = relation_of(world, command->component);
  ecs_id id = command->component;
  bool removes = command->kind == COMMAND_REMOVE;
  if (relation && relation->exclusive) {
    id = relation->component->id;
    removes = !command->ties;
    if (command->anew) count = id_set_remove(ids, count, id);
  }
  bool changes = command->kind != COMMAND_SPAWN && !command_is_switch(command);
  if (!changes || !component_of(world, id)) return count;
  if (!removes) return require_insert(world, ids, count, room, id);
  bool all = relation && !relation->exclusive && !id_is_pair(id);
  return all ? remove_pairs(ids, count, ecs_id_index(id)) : id_set_remove(ids, count, id);
}

/* Leaves what an entity has by ties that are there: its relations and pairs are others after
** cascade_decide. */
static uint32_t keep_tied(const ecs_world *world, uint32_t entity, ecs_id *ids, uint32_t count) {
  uint32_t kept = 0;
  if (world->relations.count == 0) return count;
  for (uint32_t i = 0; i < count; i++) {
    const struct relation *relation = relation_of(world, ids[i]);
    bool tied = !relation;
    if (relation && relation->exclusive) tied = ties_target(&relation->ties, entity) != 0;
    if (relation && !relation->exclusive)
      tied = !cascade_takes(&world->cascade, pair_target(ids[i]));
    if (tied) ids[kept++] = ids[i];
  }
  return kept;
}

uint32_t merge_commands(const ecs_world *world, const struct chain *chain, ecs_id *ids,
                            uint32_t count, uint64_t room) {
  const struct staging *staging = &world->staging;
  for (uint32_t at = chain->first; at != NONE; at = staging->commands[at].next) {
    struct command *command = &staging->commands[at];
    assert(at < staging->command_count && command->entity == chain->entity);
    if (command->dropped) continue;
    if (command_is_end(command)) return NONE;
    command->idle = command_is_switch(command) && !id_set_has(ids, count, command->component);
    count = change_set(world, command, ids, count, room);
  }
  return keep_tied(world, ecs_id_index(chain->entity), ids, count);
}
