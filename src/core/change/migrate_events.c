#include "core/change/migrate_events.h"

#include "core/change/migration.h"
#include "core/storage/event.h"
#include "core/storage/event_rows.h"
#include "core/storage/fields.h"
#include "core/ids/world.h"

static ecs_status make_event(struct migration *migration, const struct change *change) {
  struct component *wanted = change->wanted;
  const struct event *old = change->component->event;
  if (!wanted || !old) return ECS_OK;
  if (wanted->event) event_free(migration->world, wanted);
  ecs_status status = event_new(migration->world, wanted, change->component->id);
  if (status == ECS_OK) status = migration_fill(migration, old->table, wanted->event->table);
  if (status != ECS_OK) return status;
  return migration_fill(migration, old->later.table, wanted->event->later.table);
}

ecs_status migration_prepare_events(struct migration *migration) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++)
    status = make_event(migration, &migration->changes[i]);
  return status;
}

static void migrate_events_swap_table(const struct migration *migration,
                                      const struct change *change, struct table **now,
                                      struct table **made) {
  struct table *old = *now, *table = *made;
  migration_take(migration, old, table);
  for (uint32_t i = 0; i < table->column_count; i++)
    table->columns[i].component = change->component;
  *now = table;
  *made = old;
}

/* The event keeps its address; the old rows go with what was wanted. */
static void migrate_events_swap_event(const struct migration *migration,
                                      const struct change *change) {
  struct event *event = change->component->event, *made = change->wanted->event;
  if (!event) return;
  migrate_events_swap_table(migration, change, &event->table, &made->table);
  migrate_events_swap_table(migration, change, &event->later.table, &made->later.table);
}

void migration_swap_events(const struct migration *migration) {
  for (uint32_t i = 0; i < migration->count; i++)
    if (migration->changes[i].wanted) migrate_events_swap_event(migration, &migration->changes[i]);
}
