#include "core/image/save_event.h"

#include "core/image/save_cells.h"
#include "core/image/stream.h"
#include "core/run/timetable.h"
#include "core/store/event.h"
#include "core/store/event_rows.h"
#include "core/store/fields.h"
#include "core/store/world.h"

static void save_later(struct saver *saver, const struct component *component) {
  const struct later *later = &component->event->later;
  write_u32(saver->out, later->table->count);
  if (later->table->count == 0) return;
  save_rows(saver, later->table);
  save_columns(saver, later->table, component, component->id);
  write_f64(saver->out, later->clock);
  for (uint32_t i = 0; i < later->table->count; i++) write_f64(saver->out, later->due[i]);
}

/* How old its rows are, and what systems have seen of them. */
static void save_readers(struct saver *saver, const struct event *event) {
  write_u32(saver->out, event_row(event, event->aged));
  for (uint32_t i = 0; i < saver->timings.systems.count; i++) {
    const ecs_system *system = save_system(saver, i);
    if (system->event != event->component->id) continue;
    uint32_t seen = event_row(event, system->seen), awaited = event_row(event, system->awaited);
    if (seen == 0 && awaited == 0) continue;
    write_u8(saver->out, 1);
    write_text(saver->out, system->name, strlen(system->name));
    write_u32(saver->out, seen);
    write_u32(saver->out, awaited);
  }
  write_u8(saver->out, 0);
}

void save_event(struct saver *saver, const struct component *component) {
  save_readers(saver, component->event);
  save_later(saver, component);
}
