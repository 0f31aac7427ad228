
#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"

#define LINE 64u             /* bytes of a cache line */

/* The layout of a table's single block: where each array begins. */
struct block {
  uint32_t layouts, columns, toggles;
  size_t columns_at, ids_at, toggles_at, size;
};

static size_t table_place(size_t *size, size_t count, size_t item) {
  size_t at = *size;
  *size += (count * item + 7) / 8 * 8;
  return at;
}

/* At least half of the slots for layouts stay free, so most ids are found at the first one. */
static struct block table_plan_block(uint32_t columns, uint32_t toggles, uint32_t count) {
  struct block block = {GUESSES, columns, toggles, 0, 0, 0, sizeof(struct table)};
  while (block.layouts / 2 < count) block.layouts *= 2;
  table_place(&block.size, block.layouts, sizeof(struct layout));
  block.columns_at =
      table_place(&block.size, 1, block.columns * sizeof(struct column) + sizeof(ecs_id));
  block.ids_at = table_place(&block.size, count, sizeof(ecs_id));
  block.toggles_at = table_place(&block.size, block.toggles, sizeof(struct toggle));
  return block;
}

static void table_add_id(struct table *table, ecs_id id, const struct component *component) {
  assert(component && (table->id_count == 0 || table->ids[table->id_count - 1] < id));
  table->ids[table->id_count++] = id;
  struct layout *layout = table_guess(table, id);
  if (layout->taken)
    layout = table_layouts(table) + (table_find(table, id) - table_layouts(table));
  assert(!layout->taken);
  uint16_t count = (uint16_t)component->leaf_count;
  *layout = (struct layout){id, table->columns + table->column_count, count,
                            component->words ? count : 0, true,
                            component->numbers && !component->ties.relation,
                            component->words ? count : 0};
  table->has_any |= component->has_any;
  table->plain &= !component->has_any && !component->toggle;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    struct column *column = &table->columns[table->column_count++];
    assert(column->id != COLUMN_END);
    column->size = component->leaves[i].size;
    table->plain &= column->size == 4;
    column->leaf = i;
    column->id = id;
    column->component = component;
    column->value = component->leaves[i].value;
  }
  if (component->toggle) table->toggles[table->toggle_count++].id = id;
  table->has_pair_alone = id_is_pair(id) && !table->has_pairs;
  table->has_pairs |= id_is_pair(id);
  table->has_ties |= component->ties.exclusive;
}

static ecs_status table_make(ecs_world *world, uint32_t columns, uint32_t toggles, uint32_t count,
                             struct table **out) {
  struct block plan = table_plan_block(columns, toggles, count);
  size_t size = plan.size + LINE;
  char *allocated = memory_resize(&world->memory, NULL, 0, size);
  if (!allocated) return world_nomem(world);
  memset(allocated, 0, size);
  uintptr_t line = (uintptr_t)allocated + offsetof(struct table, near_edge);
  char *block = allocated + (LINE - line % LINE) % LINE;
  struct table *table = (void *)block;
  table->block = allocated;
  table->block_size = size;
  table->ids = (void *)(block + plan.ids_at);
  table->columns = (void *)(block + plan.columns_at);
  table->toggles = (void *)(block + plan.toggles_at);
  table->edges = &table->no_edge;
  table->layout_mask = plan.layouts - 1;
  table->next_same_hash = NONE;
  table->plain = true;
  table->columns[plan.columns].id = COLUMN_END;
  *out = table;
  return ECS_OK;
}

/* Frees the table if there is no memory for its marks. */
static ecs_status table_make_marks(ecs_world *world, struct table **table,
                                   const struct component *only) {
  ecs_status status = marks_make(world, *table, only);
  if (status == ECS_OK) return ECS_OK;
  table_free(world, *table);
  *table = NULL;
  return status;
}

ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out) {
  uint32_t columns = 0, toggles = 0;
  const struct relation *prefab = world->relations.prefab;
  bool hidden = false, watched = false;
  for (uint32_t i = 0; i < count; i++) {
    const struct component *component = component_of(world, ids[i]);
    columns += component->leaf_count;
    toggles += component->toggle;
    hidden |= prefab && component == prefab->component;
    watched |= component->watched;
  }
  ecs_status status = table_make(world, columns, toggles, count, out);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    table_add_id(*out, ids[i], component_of(world, ids[i]));
  if (status != ECS_OK) return status;
  assert((*out)->column_count == columns);
  (*out)->hidden = hidden;
  (*out)->packs = (*out)->plain;
  return watched ? table_make_marks(world, out, NULL) : ECS_OK;
}

ecs_status table_new_of_one(ecs_world *world, ecs_id id, const struct component *component,
                            struct table **out) {
  ecs_status status = table_make(world, component->leaf_count, component->toggle, 1, out);
  if (status != ECS_OK) return status;
  table_add_id(*out, id, component);
  return table_make_marks(world, out, component);
}

/* Frees the column memory of a table without rows. */
static void table_shrink(ecs_world *world, struct table *table) {
  assert(table->count == 0);
  for (uint32_t i = 0; i < table->column_count; i++) {
    buffer_free(&world->memory, &table->columns[i].buffer);
    table->columns[i].data = NULL;
  }
  buffer_free(&world->memory, &table->row_buffer);
  toggles_free(&world->memory, table);
  marks_shrink(&world->memory, table);
  table->rows = NULL;
  table->capacity = 0;
  table->packed = false;
}

static size_t table_edge_bytes(const struct table *table) {
  return (table->edge_mask + (size_t)1) * sizeof *table->edges;
}

void table_free(ecs_world *world, struct table *table) {
  table->count = 0;
  table_shrink(world, table);
  marks_free(&world->memory, table);
  FREE_LIST(&world->memory, table->watchers, table->watcher_capacity);
  if (table->edges != &table->no_edge)
    memory_free(&world->memory, table->edges, table_edge_bytes(table));
  memory_free(&world->memory, table->block, table->block_size);
}

size_t table_bytes(const struct table *table) {
  size_t bytes = table->block_size + table->row_buffer.size + toggles_bytes(table);
  bytes += marks_bytes(table) + table->watcher_capacity * sizeof *table->watchers;
  if (table->edges != &table->no_edge) bytes += table_edge_bytes(table);
  for (uint32_t i = 0; i < table->column_count; i++) bytes += table->columns[i].buffer.size;
  return bytes;
}

/* Packs the first rows: one allocation, and fewer cache lines to load. */
static bool table_pack(ecs_world *world, struct table *table) {
  assert(table->count == 0 && table->capacity == 0 && table->plain);
  size_t bytes = (table->column_count + (size_t)1) * PACKED_BYTES;
  if (!buffer_grow(&world->memory, &table->row_buffer, bytes, 0)) return false;
  char *at = table->row_buffer.data;
  table->rows = table->row_buffer.data;
  for (uint32_t i = 0; i < table->column_count; i++) {
    assert(!table->columns[i].buffer.data && table->columns[i].size * PACKED_ROWS == PACKED_BYTES);
    table->columns[i].data = at += PACKED_BYTES;
  }
  table->packed = true;
  return true;
}

/* Moves a column of a packed table to a buffer of its own. */
static bool table_unpack(struct memory *memory, struct column *column, size_t bytes, size_t used) {
  struct column_buffer own = {NULL, NULL, 0};
  if (!buffer_grow(memory, &own, bytes, 0)) return false;
  assert(used <= PACKED_BYTES && used <= bytes);
  memcpy(own.data, column->data, used);
  column->buffer = own;
  return true;
}

/* Moves columns out of the list's buffer before that grows. */
static bool table_grow_columns(ecs_world *world, struct table *table, size_t rows) {
  assert(rows > table->capacity && table->count <= table->capacity);
  struct memory *memory = &world->memory;
  table->packed = false;
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *column = &table->columns[i];
    size_t used = (size_t)table->count * column->size, bytes = rows * column->size;
    bool lent = column->data && !column->buffer.data;
    if (!(lent ? table_unpack(memory, column, bytes, used)
               : buffer_grow(memory, &column->buffer, bytes, used)))
      return false;
    column->data = column->buffer.data;
  }
  size_t used = table->count * sizeof *table->rows;
  if (!buffer_grow(memory, &table->row_buffer, rows * sizeof *table->rows, used))
    return false;
  table->rows = table->row_buffer.data;
  return toggles_grow(memory, table, (uint32_t)rows) &&
         marks_grow(memory, table, (uint32_t)rows);
}

ecs_status table_grow(ecs_world *world, struct table *table, uint64_t more) {
  uint64_t need = table->count + more;
  if (need > ROW_LIMIT)
    return world_fail(world, ECS_ELIMIT, "a table cannot hold more than %u rows", ROW_LIMIT);
  uint64_t rows = table->capacity * 2ull;
  if (rows < PACKED_ROWS) rows = PACKED_ROWS;
  if (rows < need) rows = (need + PACKED_ROWS - 1) / PACKED_ROWS * PACKED_ROWS;
  if (rows > ROW_LIMIT) rows = ROW_LIMIT;
  /* No column may have a buffer, not even from a growth that ran out of memory. */
  bool begun = table->row_buffer.data || (table->column_count && table->columns->buffer.data);
  bool packs = table->packs && table->plain && !begun && rows == PACKED_ROWS;
  if (!(packs ? table_pack(world, table) : table_grow_columns(world, table, (size_t)rows)))
    return world_nomem(world);
  table->capacity = (uint32_t)rows;
  assert(table->capacity - table->count >= more);
  return ECS_OK;
}

void table_fill_defaults(const ecs_world *world, struct table *table, uint32_t row,
                         uint32_t count) {
  assert(row + count <= table->count && table->count <= table->capacity);
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *column = &table->columns[i];
    cell_fill(column->data, column->size, row, count, column->value);
  }
  if (UNLIKELY(table->mark_count)) marks_arrive(world, table, row, count);
}

void table_release_any(ecs_world *world, const struct layout *layout, uint32_t row,
                       uint32_t count) {
  const struct column *column = layout->columns;
  if (layout->count == 0 || LIKELY(!column->component->has_any)) return;
  for (uint32_t i = 0; i < layout->count; i++, column++) {
    if (column->component->leaves[i].type != ECS_ANY) continue;
    const uint32_t *slots = column->data;       /* NULL: not loaded yet */
    for (uint32_t j = 0; j < count && slots; j++) any_release(&world->any, slots[row + j]);
  }
}

void table_release(ecs_world *world, const struct table *from, const struct table *to,
                   uint32_t row, uint32_t count) {
  for (uint32_t i = 0; i < from->id_count; i++)
    if (!to || !table_has(to, from->ids[i]))
      table_release_any(world, table_find(from, from->ids[i]), row, count);
}

void table_write(ecs_world *world, struct column *columns, uint32_t row,
                 const struct write *writes, uint32_t count) {
  const struct component *component = columns->component;
  for (uint32_t i = 0; i < count; i++) {
    struct column *column = &columns[writes[i].leaf];
    assert(writes[i].leaf < component->leaf_count && column->leaf == writes[i].leaf);
    if (UNLIKELY(component->has_any) && component->leaves[column->leaf].type == ECS_ANY)
      any_release(&world->any, ((uint32_t *)column->data)[row]);
    cell_store(column->data, column->size, row, writes[i].cell);
  }
}

void table_write_defaults(ecs_world *world, const struct layout *layout, uint32_t row) {
  table_release_any(world, layout, row, 1);
  for (uint32_t i = 0; i < layout->count; i++) column_default(&layout->columns[i], row, 1, false);
}
