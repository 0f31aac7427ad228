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

/* The query by which a system that is there asks for its news; NULL when it is not there. */
static const ecs_query *asks(const ecs_world *world, const ecs_system *known) {
  const ecs_system *system = schedule_system(world, known->name, strlen(known->name));
  const char *query = system && system->reads ? timings_query(system) : NULL;
  return query && strcmp(query, known->asked) == 0 ? system->reads : NULL;
}

static bool names(const ecs_query *query, const struct component *component) {
  for (uint32_t i = 0; query && i < query->terms.count; i++)
    if (query->terms.terms[i].news && query->terms.terms[i].component == component) return true;
  return false;
}

/* Up to when all systems that ask for its changes know of them: UINT64_MAX when none does. Those
** that are not there ask for what the image says. */
static uint64_t known_to_all(const struct saver *saver, const struct component *component) {
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; component->watched && i < saver->timings.systems.count; i++) {
    const ecs_system *known = save_system(saver, i);
    if (!known->asked || known->news >= least) continue;
    const ecs_query *query = asks(saver->world, known);
    if (query ? names(query, component) : component->asked) least = known->news;
  }
  return least;
}

bool save_has_changes(const struct saver *saver) {
  for (uint32_t i = 0; i < saver->timings.systems.count; i++)
    if (save_system(saver, i)->asked) return true;
  for (uint32_t i = 0; i < saver->component_count; i++)
    if (save_listed(saver, i)->track) return true;
  return false;
}

static void save_readers(struct saver *saver) {
  for (uint32_t i = 0; i < saver->timings.systems.count; i++) {
    const ecs_system *system = save_system(saver, i);
    if (!system->asked) continue;
    write_u8(saver->out, 1);
    write_text(saver->out, system->name, strlen(system->name));
    write_text(saver->out, system->asked, strlen(system->asked));
    write_u64(saver->out, system->news);
  }
  write_u8(saver->out, 0);
}

/* What all know of is the same, whenever it was written. */
static void save_marks(struct saver *saver, const struct table *table, ecs_id id, uint64_t known) {
  const struct marks *marks = marks_of(table, id);
  if (!marks || table->count == 0) return;
  assert(marks->groups && (!marks->tracked || marks->rows));
  for (uint32_t i = 0; i < mark_groups(table->count); i++)
    write_u64(saver->out, marks->groups[i] < known ? known : marks->groups[i]);
  if (!marks->tracked) return;
  write_numbers(saver->out, marks->rows, sizeof *marks->rows, table->count);
  write_numbers(saver->out, marks->added, sizeof *marks->added, table->count);
}

static void save_marks_of(struct saver *saver, const struct component *component,
                          uint64_t known) {
  const struct id_record *all = graph_all(saver->world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(saver->world, all->tables[i]);
    save_marks(saver, table, component->id, known);
    uint32_t count = save_list_pairs(saver, table, component);
    for (uint32_t j = 0; j < count; j++)
      save_marks(saver, table, save_pair_listed(saver, component, j), known);
  }
  if (component->sparse) save_marks(saver, component->sparse->table, component->id, known);
}

void save_changes(struct saver *saver) {
  write_u64(saver->out, saver->world->now);
  save_readers(saver);
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct component *component = saver->components[i];
    uint64_t known = component->track ? 0 : known_to_all(saver, component);
    write_u8(saver->out, component->track ? 2 : known < UINT64_MAX);
    if (known < UINT64_MAX) save_marks_of(saver, component, known);
  }
}
