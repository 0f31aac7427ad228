#include "core/change/migrate_events.h"

#include "core/store/event.h"
#include "core/store/fields.h"
#include "core/store/world.h"

static ecs_status make_event(struct migration *migration, const struct change *change) {
  struct component *wanted = change->wanted;
  const struct event *old = change->component->event;
  if (!wanted || !old) return ECS_OK;
  if (wanted->event) event_free(migration->world, wanted);
  ecs_status status = event_new(migration->world, wanted, change->component->id);
  return status == ECS_OK ? migration_fill(migration, old->table, wanted->event->table) : status;
}

ecs_status migration_prepare_events(struct migration *migration) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++)
    status = make_event(migration, &migration->changes[i]);
  return status;
}

/* The event keeps its address; the old rows go with what was wanted. */
static void swap_event(const struct migration *migration, const struct change *change) {
  struct event *event = change->component->event, *made = change->wanted->event;
  if (!event) return;
  struct table *table = made->table;
  migration_take(migration, event->table, table);
  for (uint32_t i = 0; i < table->column_count; i++)
    table->columns[i].component = change->component;
  made->table = event->table;
  event->table = table;
}

void migration_swap_events(const struct migration *migration) {
  for (uint32_t i = 0; i < migration->count; i++)
    if (migration->changes[i].wanted) swap_event(migration, &migration->changes[i]);
}
