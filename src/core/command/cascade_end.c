#include "core/command/cascade_end.h"

#include "core/command/cascade.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/command/merge.h"
#include "core/relation/relation.h"
#include "core/storage/row.h"
#include "core/storage/sparse_rows.h"
#include "core/storage/toggle.h"
#include "core/ids/world.h"
#include "ecs_world.h"

#define FINISHED_AT_ONCE 512u

/* All rows go at once, so that none has to take the place of another. */
static void cascade_end_empty(ecs_world *world, struct table *table) {
  toggles_clear(table);
  marks_clear(table);
  table->count = 0;
  graph_note_empty(&world->graph, table);
}

/* Whether all who are in a table die; asking takes no longer than to end those who do. */
static bool is_left_by_all(const struct cascade *cascade, const struct table *table) {
  uint32_t row = 0;
  while (row < table->count && cascade_takes(cascade, table->rows[row])) row++;
  return row == table->count;
}

/* The row of one who dies leaves its table, and the first one takes all rows along where all of
** them do. That a count of rounds begins anew some day takes time, and nothing else. */
static inline void leave_table(ecs_world *world, struct table *table, uint32_t row) {
  const struct cascade *cascade = &world->cascade;
  if (table->count == 0) return;
  bool asked = table->leaving == cascade->round;
  table->leaving = cascade->round;
  if (!asked && !table->has_any && is_left_by_all(cascade, table))
    cascade_end_empty(world, table);
  else
    row_remove(world, table, row);
}

/* Nothing is left to be done for those who were in a table that is empty by now. */
static void leave_rows(ecs_world *world, const uint32_t *entities, uint32_t count) {
  bool sparse = world->sparses.rows != 0;
  uint32_t gone = RECORD_BARE;
  for (uint32_t i = 0; i < count; i++) {
    const struct record *record = entity_record(&world->entities, entities[i]);
    if (UNLIKELY(sparse)) sparse_leave(world, entities[i]);
    if (LIKELY(record->table == gone) || record->table == RECORD_BARE) continue;
    struct table *table = world_table(world, record->table);
    leave_table(world, table, record->row);
    if (table->count == 0) gone = table->index;
  }
}

/* entity_kill of each, in their order. */
static void cascade_end_finish(ecs_world *world, const uint32_t *dying, uint32_t count) {
  relation_drop(world, dying, count);
  leave_rows(world, dying, count);
  for (uint32_t i = 0; i < count && UNLIKELY(world->names.by_entity.count); i++)
    name_forget(world, dying[i]);
  entity_release_all(&world->entities, dying, count);
}

/* By so many that what is known of each is at hand for all that is done to it: a fifth off the
** death of a million. */
void cascade_finish(ecs_world *world) {
  struct cascade *cascade = &world->cascade;
  cascade->round++;
  for (uint32_t i = 0; i < cascade->count; i += FINISHED_AT_ONCE) {
    uint32_t rest = cascade->count - i;
    cascade_end_finish(world, cascade->dying + i,
                       rest < FINISHED_AT_ONCE ? rest : FINISHED_AT_ONCE);
  }
  cascade_forget(cascade);
}

/* Whether deaths are about nothing but rows, where there are no ties. */
static bool ends_are_plain(const ecs_world *world) {
  return !world->sparses.rows && !world->names.by_entity.count;
}

INLINE void end_entity(ecs_world *world, ecs_id entity, bool plain) {
  if (plain && LIKELY(row_end(world, entity))) return;
  if (ecs_alive(world, entity)) entity_kill(world, ecs_id_index(entity));
}

void cascade_none(ecs_world *world) {
  const struct staging *staging = &world->staging;
  bool plain = ends_are_plain(world);
  for (uint32_t i = 0; staging->ends && i < staging->command_count; i++)
    if (command_is_end(&staging->commands[i]))
      end_entity(world, staging->commands[i].entity, plain);
}

void cascade_ends(ecs_world *world) {
  const struct staging *staging = &world->staging;
  assert(staging->ends == staging->command_count && world->cascade.count == 0);
  for (uint32_t i = 0; i < staging->chain_count; i++)
    end_entity(world, staging->chains[i].entity, false);
}
