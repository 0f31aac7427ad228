/* When the cells of an image were written, and what systems know of it. */
#include "core/image/load.h"
#include "core/run/timetable.h"
#include "core/store/component.h"
#include "core/store/fields.h"
#include "core/store/graph.h"
#include "core/store/marks.h"
#include "core/store/relation.h"
#include "core/store/sparse.h"
#include "core/store/world.h"

static ecs_status read_reader(struct loader *loader) {
  struct memory *memory = &loader->live->memory;
  ecs_system *system;
  size_t size;
  ecs_status status = load_timing(loader, &loader->timings.systems, &system);
  if (status != ECS_OK) return status;
  system->asked = read_text(&loader->in, memory, &system->arena, IMAGE_TEXT_LIMIT, &size);
  if (!system->asked) return loader->in.failed ? load_state(loader) : ECS_ENOMEM;
  system->news = read_u64(&loader->in);
  if (loader->in.failed) return load_state(loader);
  return system->news < loader->world->now
             ? ECS_OK : load_damaged(loader, "a system knows of changes that were not");
}

static ecs_status read_readers(struct loader *loader) {
  ecs_status status = ECS_OK;
  while (status == ECS_OK && read_u8(&loader->in) == 1) status = read_reader(loader);
  return status == ECS_OK ? load_state(loader) : status;
}

static ecs_status read_marks(struct loader *loader, const struct table *table, ecs_id id) {
  const struct marks *marks = marks_of(table, id);
  assert(!marks || marks->groups || table->count == 0);
  if (!marks || table->count == 0) return ECS_OK;
  read_numbers(&loader->in, marks->groups, sizeof *marks->groups, mark_groups(table->count));
  if (!marks->tracked) return load_state(loader);
  read_numbers(&loader->in, marks->rows, sizeof *marks->rows, table->count);
  read_numbers(&loader->in, marks->added, sizeof *marks->added, table->count);
  return load_state(loader);
}

static ecs_status read_table(struct loader *loader, const struct table *table,
                             const struct component *component) {
  ecs_status status = read_marks(loader, table, component->id);
  ecs_id pair = ECS_NULL;
  while (status == ECS_OK && table->has_pairs &&
         (pair = load_next_pair(loader, table, ecs_id_index(component->id), pair)) != ECS_NULL)
    status = read_marks(loader, table, pair);
  return status;
}

/* What is read of it is looked at when all is there. */
static ecs_status read_component(struct loader *loader, struct component *component,
                                 uint8_t kept) {
  ecs_world *world = loader->world;
  const struct id_record *all = graph_all(world);
  if (kept > 2 || component->length || component->is_event)
    return load_damaged(loader, "changes are kept of what has none");
  component->track = kept == 2;
  component->asked = kept == 1;
  if (marks_begin(world, component) != ECS_OK) return ECS_ENOMEM;
  ecs_status status = load_state(loader);
  for (uint32_t i = 0; i < all->table_count && status == ECS_OK; i++)
    status = read_table(loader, world_table(world, all->tables[i]), component);
  if (status == ECS_OK && component->sparse)
    status = read_marks(loader, component->sparse->table, component->id);
  return status;
}

static bool are_sound(const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++)
    if (marks_check(world, world_table(world, all->tables[i])) != ECS_OK) return false;
  for (uint32_t i = 0; i < world->sparses.count; i++)
    if (marks_check(world, world->sparses.list[i]->table) != ECS_OK) return false;
  return true;
}

ecs_status load_changes(struct loader *loader) {
  if (!loader->has_changes) return ECS_OK;
  loader->world->now = read_u64(&loader->in);
  ecs_status status = load_state(loader);
  if (status != ECS_OK) return status;
  if (loader->world->now == 0 || loader->world->now > UINT64_MAX / 2)
    return load_damaged(loader, "there were no runs");
  status = read_readers(loader);
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++) {
    uint8_t kept = read_u8(&loader->in);
    if (kept) status = read_component(loader, loader->components[i], kept);
  }
  if (status == ECS_OK) status = load_state(loader);
  if (status != ECS_OK) return status;
  return are_sound(loader->world) ? ECS_OK : load_damaged(loader, "its changes are none");
}
