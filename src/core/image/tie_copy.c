#include "core/image/tie_copy.h"

#include "core/store/cells.h"
#include "core/store/fields.h"
#include "core/store/relation.h"
#include "core/store/table.h"
#include "core/store/world.h"

static void list_sources(const struct ties *ties, uint32_t *sources) {
  uint32_t count = 0;
  for (uint32_t end = 0; (end = ties_next_end(ties, end)) != 0; end++)
    for (uint32_t at = ties_first(ties, end); at; at = ties_next(ties, at))
      sources[count++] = at;
  assert(count == ties->count);
}

ecs_status tie_copy_take(ecs_world *world, struct arena *arena, struct tie_copy **copies,
                         uint32_t *count) {
  const struct relations *relations = &world->relations;
  struct memory *memory = &world->memory;
  *count = 0;
  *copies = arena_take(memory, arena, (relations->count + (size_t)1) * sizeof **copies);
  if (!*copies) return world_nomem(world);
  for (uint32_t i = 0; i < relations->count; i++) {
    const struct relation *relation = relations->list[i];
    uint32_t ties = relation->ties.count;
    struct tie_copy *copy = &(*copies)[(*count)++];
    *copy = (struct tie_copy){relation->component->id, NULL, ties};
    copy->sources = arena_take(memory, arena, (ties + (size_t)1) * sizeof *copy->sources);
    if (!copy->sources) return world_nomem(world);
    list_sources(&relation->ties, copy->sources);
  }
  return ECS_OK;
}

static void restore(ecs_world *world, const struct tie_copy *copy) {
  struct relation *relation = relation_of(world, copy->component);
  for (uint32_t i = 0; i < copy->count; i++) {
    uint32_t source = copy->sources[i];
    struct cells_row cells = {NULL, NULL, 0};
    cells_find(world, entity_id(&world->entities, source), copy->component, &cells);
    assert(cells.columns && relation);
    ecs_id target = ((const ecs_id *)cells.columns[TARGET_LEAF].data)[cells.row];
    relation_link(world, relation, source, ecs_id_index(target));
  }
}

void tie_copy_restore(ecs_world *world, const struct tie_copy *copies, uint32_t count) {
  relations_clear(world);
  for (uint32_t i = 0; i < count; i++) restore(world, &copies[i]);
}
