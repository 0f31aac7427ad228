#include "core/image/save_changes.h"

#include "core/image/save_cells.h"
#include "core/image/stream.h"
#include "core/run/schedule.h"
#include "core/run/timetable.h"
#include "core/store/component.h"
#include "core/store/fields.h"
#include "core/store/graph.h"
#include "core/store/marks.h"
#include "core/store/query.h"
#include "core/store/relation.h"
#include "core/store/sparse.h"
#include "core/store/world.h"

/* The query by which a system asks for changes; NULL when it does not. */
static const ecs_query *asks(const ecs_system *system) {
  const ecs_query *query = system->reads;
  return query && !query->broken && query->terms.changes ? query : NULL;
}

static bool names(const ecs_query *query, const struct component *component) {
  for (uint32_t i = 0; query && i < query->terms.count; i++)
    if (query->terms.terms[i].news && query->terms.terms[i].component == component) return true;
  return false;
}

/* Whether its marks are saved. */
static bool is_saved(const ecs_world *world, const struct component *component) {
  const struct schedule *schedule = world->schedule;
  bool saved = component->track;
  for (uint32_t i = 0; component->watched && i < schedule->system_count && !saved; i++)
    saved = names(asks(schedule->systems[i]), component);
  return saved;
}

bool save_has_changes(const ecs_world *world) {
  const struct schedule *schedule = world->schedule;
  for (uint32_t i = 0; i < schedule->system_count; i++)
    if (asks(schedule->systems[i])) return true;
  for (uint32_t i = 0; i < world->registry.count; i++)
    if (world->registry.components[i] && world->registry.components[i]->track) return true;
  return false;
}

static void save_readers(struct saver *saver) {
  const struct schedule *schedule = saver->world->schedule;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    if (!asks(system)) continue;
    write_u8(saver->out, 1);
    write_text(saver->out, system->name, strlen(system->name));
    write_text(saver->out, system->reads->text, strlen(system->reads->text));
    write_u64(saver->out, system->news);
  }
  write_u8(saver->out, 0);
}

static void save_marks(struct saver *saver, const struct table *table, ecs_id id) {
  const struct marks *marks = marks_of(table, id);
  if (!marks || table->count == 0) return;
  assert(marks->groups && (!marks->tracked || marks->rows));
  write_numbers(saver->out, marks->groups, sizeof *marks->groups, mark_groups(table->count));
  if (!marks->tracked) return;
  write_numbers(saver->out, marks->rows, sizeof *marks->rows, table->count);
  write_numbers(saver->out, marks->added, sizeof *marks->added, table->count);
}

static void save_marks_of(struct saver *saver, const struct component *component) {
  const struct id_record *all = graph_all(saver->world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(saver->world, all->tables[i]);
    save_marks(saver, table, component->id);
    uint32_t count = save_list_pairs(saver, table, component);
    for (uint32_t j = 0; j < count; j++)
      save_marks(saver, table, save_pair_listed(saver, component, j));
  }
  if (component->sparse) save_marks(saver, component->sparse->table, component->id);
}

void save_changes(struct saver *saver) {
  write_u64(saver->out, saver->world->now);
  save_readers(saver);
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct component *component = saver->components[i];
    bool saved = is_saved(saver->world, component);
    write_u8(saver->out, saved ? component->track ? 2 : 1 : 0);
    if (saved) save_marks_of(saver, component);
  }
}
