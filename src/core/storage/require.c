#include "core/storage/require.h"

#include "core/storage/component.h"
#include "core/entity/entity.h"
#include "core/storage/fields.h"
#include "core/base/id_set.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/ids/world.h"
#include "core/base/text.h"
#include "core/storage/registry.h"
#include "ecs_component.h"

uint64_t require_room(const ecs_world *world, uint64_t count, uint64_t more) {
  return count + more + (world->registry.requires ? 2ull * world->registry.count : 0);
}

/* What has come in and is still to bring what it requires lies at the end of the room. */
uint32_t require_insert(const ecs_world *world, ecs_id *ids, uint32_t count, uint64_t room,
                        ecs_id id) {
  uint32_t before = count, waiting = 0;
  assert(count < room);
  count = id_set_insert(ids, count, id);
  if (count == before || !world->registry.requires) return count;
  for (;;) {
    const struct component *component = component_of(world, id);
    for (uint32_t i = 0; component && i < component->require_count; i++) {
      uint32_t known = count;
      count = id_set_insert(ids, count, component->requires[i]);
      if (count > known) ids[room - ++waiting] = component->requires[i];
      assert(count + waiting <= room);
    }
    if (waiting == 0) return count;
    id = ids[room - waiting--];
  }
}

static bool find_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, bool in_table,
                     struct gap *gap) {
  if (!world->registry.requires) return false;
  for (uint32_t i = 0; i < count; i++) {
    const struct component *component = component_of(world, ids[i]);
    for (uint32_t j = 0; component && j < component->require_count; j++) {
      ecs_id needed = component->requires[j];
      if (id_set_has(ids, count, needed) || (in_table && sparse_of(world, needed))) continue;
      *gap = (struct gap){needed, ids[i]};
      return true;
    }
  }
  return false;
}

bool require_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, struct gap *gap) {
  return find_gap(world, ids, count, false, gap);
}

bool require_table_gap(const ecs_world *world, const ecs_id *ids, uint32_t count,
                       struct gap *gap) {
  return find_gap(world, ids, count, true, gap);
}

/* Whether an entity lacks what a component that it has requires. */
static bool require_lacks(const ecs_world *world, ecs_id entity, ecs_id id, struct gap *gap) {
  const struct component *component = component_of(world, id);
  for (uint32_t i = 0; component && i < component->require_count; i++) {
    if (entity_has(world, entity, component->requires[i])) continue;
    *gap = (struct gap){component->requires[i], id};
    return true;
  }
  return false;
}

bool require_entity_gap(const ecs_world *world, ecs_id entity, struct gap *gap) {
  const struct table *table = record_table(world, entity_find(&world->entities, entity));
  const struct sparses *sparses = &world->sparses;
  if (!world->registry.requires) return false;
  for (uint32_t i = 0; table && i < table->id_count; i++)
    if (require_lacks(world, entity, table->ids[i], gap)) return true;
  for (uint32_t i = 0; i < sparses->count; i++)
    if (sparse_row(sparses->list[i], ecs_id_index(entity)) != NONE &&
        require_lacks(world, entity, sparses->list[i]->component->id, gap))
      return true;
  return false;
}

ecs_id require_holder(const ecs_world *world, const struct table *table, ecs_id id) {
  if (!world->registry.requires) return ECS_NULL;
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct component *component = component_of(world, table->ids[i]);
    if (component && id_set_has(component->requires, component->require_count, id))
      return component->id;
  }
  return ECS_NULL;
}

ecs_status require_refuse(const ecs_world *world, ecs_id entity, struct gap gap) {
  char from[64] = "";
  if (entity) text_format(from, sizeof from, " from entity " SHOW_ID, entity);
  return world_fail(world, ECS_EINVAL, "'%s' cannot be removed%s: '%s' requires it",
                    ecs_component_name(world, gap.missing), from,
                    ecs_component_name(world, gap.by));
}

/* ---- cycles ---- */

enum { UNSEEN, OPEN, DONE };

/* A component on the way from one that is looked at, and which of its requirements is next. */
struct require_step {
  uint32_t index, next;
};

static ecs_status fail_cycle(const ecs_world *world, const struct require_step *steps, uint32_t count,
                             uint32_t index) {
  char path[MESSAGE_SIZE / 2];
  uint32_t first = 0;
  while (steps[first].index != index) first++;
  const char *name = world->registry.components[index]->name;
  size_t size = text_format(path, sizeof path, "%s", name);
  for (uint32_t i = first + 1; i < count; i++) {
    const char *next = world->registry.components[steps[i].index]->name;
    bool fits = size + 2 * (size_t)NAME_LIMIT + 16 < sizeof path;
    size += text_format(path + size, sizeof path - size, " -> %s", fits ? next : "...");
    if (!fits) break;
  }
  return world_fail(world, ECS_ECYCLE, "component '%s' would require itself: %s -> %s", name,
                    path, name);
}

/* Depth first from one component, without recursion: there may be tens of thousands in a row. */
static ecs_status require_walk(const ecs_world *world, uint8_t *states, struct require_step *steps,
                               uint32_t start) {
  uint32_t count = 1;
  steps[0] = (struct require_step){start, 0};
  states[start] = OPEN;
  while (count) {
    struct require_step *at = &steps[count - 1];
    const struct component *component = world->registry.components[at->index];
    if (at->next == component->require_count) {
      states[at->index] = DONE;
      count--;
      continue;
    }
    uint32_t index = ecs_id_index(component->requires[at->next++]);
    if (states[index] == OPEN) return fail_cycle(world, steps, count, index);
    if (states[index] == DONE) continue;
    states[index] = OPEN;
    assert(count <= world->registry.count);
    steps[count++] = (struct require_step){index, 0};
  }
  return ECS_OK;
}

static ecs_status walk_all(const ecs_world *world, uint8_t *states, struct require_step *steps) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < world->registry.count && status == ECS_OK; i++)
    if (world->registry.components[i] && states[i] == UNSEEN)
      status = require_walk(world, states, steps, i);
  return status;
}

ecs_status require_check_cycles(ecs_world *world) {
  uint32_t count = world->registry.count;
  struct memory *memory = &world->memory;
  uint8_t *states = memory_array(memory, (size_t)count + 1, sizeof *states);
  struct require_step *steps = memory_array(memory, (size_t)count + 1, sizeof *steps);
  ecs_status status = states && steps ? walk_all(world, states, steps) : world_nomem(world);
  memory_free(memory, states, ((size_t)count + 1) * sizeof *states);
  memory_free(memory, steps, ((size_t)count + 1) * sizeof *steps);
  return status;
}
