#include "core/store/spawn_staged.h"

#include "core/store/command.h"
#include "core/store/entity.h"
#include "core/store/fields.h"
#include "core/store/index.h"
#include "core/store/world.h"

static void stage_part(struct staging *staging, const struct command *first,
                       const struct part *part) {
  uint32_t at = staging->command_count++, count = part->write_count;
  assert(part->target == ECS_NULL && !part->component->relation);
  assert(staging->command_count <= staging->command_capacity);
  assert(staging->write_capacity - staging->write_count >= count);
  staging->commands[at] =
      (struct command){.entity = first->entity, .component = part->component->id,
                       .kind = COMMAND_SET, .scope = first->scope, .next = NONE,
                       .first_write = staging->write_count, .write_count = count};
  for (uint32_t i = 0; i < count; i++)
    staging->writes[staging->write_count + i] = part->writes[i];
  staging->write_count += count;
  staging->commands[at - 1].next = at;
}

ecs_id spawn_stage_reserved(ecs_world *world, const struct part *parts, uint32_t count) {
  struct staging *staging = &world->staging;
  struct entity_index *index = &world->entities;
  ecs_id id = entity_id(index, entity_take(index, &index->entities));
  ecs_status status = commands_write(world);
  assert(status == ECS_OK);
  (void)status;
  uint32_t first = staging->command_count++, chain = staging->chain_count++;
  assert(staging_is_open(staging) && first < staging->command_capacity);
  assert(chain < staging->chain_capacity);
  staging->commands[first] =
      (struct command){.entity = id, .kind = COMMAND_SPAWN, .scope = scope_innermost(staging),
                       .next = NONE, .first_write = staging->write_count};
  for (uint32_t i = 0; i < count; i++) stage_part(staging, &staging->commands[first], &parts[i]);
  chain_map_put(&staging->chain_of, ecs_id_index(id), chain);
  staging->chains[chain] = (struct chain){id, first, first + count, NONE, false, false};
  return id;
}
