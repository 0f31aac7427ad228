#include "core/storage/toggle.h"

#include "core/base/sets.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "ecs_entity.h"

/* ---- bits ---- */

INLINE void toggle_change(struct table *table, struct toggle *toggle, uint32_t row, bool off) {
  uint64_t *word = &toggle->bits[row / 64];
  assert(toggle >= table->toggles && toggle < table->toggles + table->toggle_count);
  assert(toggle->bits && row < table->capacity);
  if ((*word >> row % 64 & 1) == off) return;
  assert(off || (toggle->off > 0 && table->off >= toggle->off));
  *word ^= UINT64_C(1) << row % 64;
  toggle->off += off ? 1u : UINT32_MAX;
  table->off += off ? 1u : UINT32_MAX;
}

void toggle_set(struct table *table, ecs_id id, uint32_t row, bool off) {
  struct toggle *toggle = toggle_of(table, id);
  assert(row < table->count);
  if (toggle) toggle_change(table, toggle, row, off);
}

void toggles_cut(struct table *table, uint32_t row, uint32_t last) {
  assert(row <= last);
  for (uint32_t i = 0; i < table->toggle_count; i++) {
    struct toggle *toggle = &table->toggles[i];
    toggle_change(table, toggle, row, toggle_bit(toggle, last));
    toggle_change(table, toggle, last, false);
  }
}

void toggles_bring(const struct table *from, uint32_t row, struct table *to, uint32_t to_row,
                   uint32_t count) {
  assert(from != to && to_row + count <= to->count);
  for (uint32_t i = 0; i < from->toggle_count; i++) {
    struct toggle *toggle = toggle_of(to, from->toggles[i].id);
    for (uint32_t j = 0; toggle && from->toggles[i].off && j < count; j++)
      if (toggle_bit(&from->toggles[i], row + j)) toggle_change(to, toggle, to_row + j, true);
  }
}

void toggles_clear(struct table *table) {
  for (uint32_t i = 0; i < table->toggle_count; i++) {
    struct toggle *toggle = &table->toggles[i];
    if (toggle->off) memset(toggle->bits, 0, toggle_words(table->capacity) * sizeof *toggle->bits);
    toggle->off = 0;
  }
  table->off = 0;
}

static uint32_t toggle_count_off(const struct toggle *toggle, uint32_t rows) {
  uint32_t off = 0;
  for (size_t i = 0; i < toggle_words(rows); i++) off += bits_count(toggle->bits[i]);
  return off;
}

void toggles_count(struct table *table) {
  table->off = 0;
  for (uint32_t i = 0; i < table->toggle_count; i++) {
    struct toggle *toggle = &table->toggles[i];
    toggle->off = toggle_count_off(toggle, table->count);
    table->off += toggle->off;
  }
}

/* ---- room ---- */

bool toggles_grow(struct memory *memory, struct table *table, uint32_t rows) {
  for (uint32_t i = 0; rows && i < table->toggle_count; i++) {
    struct toggle *toggle = &table->toggles[i];
    if (!buffer_grow_words(memory, &toggle->buffer, &toggle->bits, toggle_words(table->capacity),
                           toggle_words(rows)))
      return false;
  }
  return true;
}

void toggles_free(struct memory *memory, struct table *table) {
  for (uint32_t i = 0; i < table->toggle_count; i++) {
    struct toggle *toggle = &table->toggles[i];
    buffer_free(memory, &toggle->buffer);
    toggle->bits = NULL;
    toggle->off = 0;
  }
  table->off = 0;
}

size_t toggles_bytes(const struct table *table) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < table->toggle_count; i++) bytes += table->toggles[i].buffer.size;
  return bytes;
}

void toggles_take(struct table *table, struct table *old) {
  table->off = 0;
  for (uint32_t i = 0; i < table->toggle_count; i++) {
    struct toggle *toggle = &table->toggles[i], *from = toggle_of(old, toggle->id);
    if (!from) continue;
    struct toggle own = *toggle;
    *toggle = *from;
    *from = own;
    table->off += toggle->off;
  }
}

/* ---- entities ---- */

/* Switches a component of an entity in any storage. */
static APART ecs_status toggle_switch_any(ecs_world *world, ecs_id entity, ecs_id id, bool off) {
  struct component *component;
  struct cells_row cells;
  if (UNLIKELY(!entity_find(&world->entities, entity))) return entity_need(world, entity);
  ecs_status status = component_need_id(world, id, &component);
  if (status == ECS_OK && !component->toggle)
    status = world_fail(world, ECS_EINVAL, "'%s' cannot be switched on and off: declare it with "
                        "toggle = true", component->name);
  if (status != ECS_OK) return status;
  if (changes_wait(world))
    return command_stage(world, off ? COMMAND_DISABLE : COMMAND_ENABLE, entity, id, NULL, 0);
  if (cells_find(world, entity, id, &cells)) toggle_set(cells.table, id, cells.row, off);
  return ECS_OK;
}

/* If nothing is deferred, a table with the toggle decides, which takes half the time. */
ecs_status toggle_switch(ecs_world *world, ecs_id entity, ecs_id id, bool off) {
  const struct record *record = entity_find_row(&world->entities, entity);
  if (UNLIKELY(!record || changes_wait(world))) return toggle_switch_any(world, entity, id, off);
  struct table *table = world_table(world, record->table);
  struct toggle *toggle = toggle_of(table, id);
  if (UNLIKELY(!toggle)) return toggle_switch_any(world, entity, id, off);
  toggle_change(table, toggle, record->row, off);
  return ECS_OK;
}

bool toggle_enabled(const ecs_world *world, ecs_id entity, ecs_id component) {
  struct cells_row cells;
  return cells_find(world, entity, component, &cells) &&
         !toggle_is_off(cells.table, component, cells.row);
}

ecs_status ecs_enable(ecs_world *world, ecs_id entity, ecs_id component) {
  return world_tell_observers(world, toggle_switch(world, entity, component, false));
}

ecs_status ecs_disable(ecs_world *world, ecs_id entity, ecs_id component) {
  return world_tell_observers(world, toggle_switch(world, entity, component, true));
}

bool ecs_enabled(const ecs_world *world, ecs_id entity, ecs_id component) {
  const struct relation *relation = relation_of(world, component);
  return relation ? ecs_has(world, entity, component) : toggle_enabled(world, entity, component);
}

/* ---- the check ---- */

static ecs_status toggle_check_bits(const ecs_world *world, const struct table *table,
                                    const struct toggle *toggle) {
  if (table->capacity && toggle->buffer.size < toggle_words(table->capacity) * sizeof(uint64_t))
    return world_corrupt(world, "a table has fewer bits than rows");
  if (!toggle->bits)
    return toggle->off ? world_corrupt(world, "a table counts bits that do not exist") : ECS_OK;
  if (toggle_count_off(toggle, table->count) != toggle->off ||
      toggle_count_off(toggle, table->capacity) != toggle->off)
    return world_corrupt(world, "a table's switched off rows are miscounted");
  for (uint32_t row = table->count; row < table->capacity && row % 64; row++)
    if (toggle_bit(toggle, row))
      return world_corrupt(world, "a row that does not exist is switched off");
  return ECS_OK;
}

ecs_status toggles_check(const ecs_world *world, const struct table *table) {
  uint32_t count = 0, off = 0;
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct component *component = component_of(world, table->ids[i]);
    const struct toggle *toggle = toggle_of(table, table->ids[i]);
    if (!toggle != !component->toggle)
      return world_corrupt(world, "a table's toggles do not match its components");
    if (!toggle) continue;
    if (toggle != &table->toggles[count++])
      return world_corrupt(world, "toggles are out of order");
    off += toggle->off;
    ecs_status status = toggle_check_bits(world, table, toggle);
    if (status != ECS_OK) return status;
  }
  return count == table->toggle_count && off == table->off
             ? ECS_OK : world_corrupt(world, "a table's toggles are miscounted");
}
