#include "core/entity/sweeping.h"

#include "core/storage/cells.h"
#include "core/storage/fields.h"
#include "core/ids/world.h"

static bool sweeping_mark(const struct cells *cells, void *ud) {
  ecs_world *world = ud;
  const uint32_t *numbers = cells->data;
  for (uint32_t i = 0; i < cells->count; i++) intern_mark(&world->strings, numbers[i]);
  return true;
}

static void mark_defaults(ecs_world *world, const struct component *component) {
  for (uint32_t i = 0; i < component->leaf_count; i++)
    if (component->leaves[i].type == ECS_STRING)
      intern_mark(&world->strings, component->leaves[i].value.u32);
}

void world_settle(ecs_world *world) {
  if (LIKELY(!intern_is_due(&world->strings)) || world->strings.weight == 0) return;
  for (uint32_t i = 0; i < world->registry.count; i++)
    if (world->registry.components[i]) mark_defaults(world, world->registry.components[i]);
  cells_each(world, ECS_STRING, CELLS_STORED | CELLS_STAGED | CELLS_KEPT, sweeping_mark, world);
  intern_sweep(&world->strings, &world->memory);
}
