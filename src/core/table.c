#include "table.h"

#include "world.h"

#define FIRST_CAPACITY 16u

static uint32_t slot_count(uint32_t ids) {
  uint32_t count = 4;
  while (count < ids * 2) count *= 2;
  return count;
}

/* Sizes of a table's arrays, and where each begins in its one block. */
struct layout {
  uint32_t parts, columns, slots;
  size_t ids_at, parts_at, columns_at, first_at, slots_at, size;
};

static size_t place(size_t *size, size_t count, size_t item) {
  size_t at = *size;
  *size += (count * item + 7) / 8 * 8;
  return at;
}

static struct layout lay_out(const ecs_world *world, const ecs_id *ids, uint32_t count) {
  struct layout layout = {0};
  for (uint32_t i = 0; i < count; i++) {
    const struct component *component = component_of(world, ids[i]);
    layout.parts += component->leaf_count > 0;
    layout.columns += component->leaf_count;
  }
  layout.slots = slot_count(count);
  layout.size = (sizeof(struct table) + 7) / 8 * 8;
  layout.ids_at = place(&layout.size, count, sizeof(ecs_id));
  layout.parts_at = place(&layout.size, layout.parts, sizeof(struct table_part));
  layout.columns_at = place(&layout.size, layout.columns, sizeof(struct column));
  layout.first_at = place(&layout.size, count, sizeof(uint32_t));
  layout.slots_at = place(&layout.size, layout.slots, sizeof(uint32_t));
  return layout;
}

static void add_part(struct table *table, struct component *component) {
  struct table_part *part = &table->parts[table->part_count++];
  part->id = component->id;
  part->component = component;
  part->first = table->column_count;
  table->has_any |= component->has_any;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    struct column *column = &table->columns[table->column_count++];
    column->size = component->leaves[i].size;
    column->leaf = i;
    column->component = component;
    column->value = component->leaves[i].value;
  }
}

static void add_id(const ecs_world *world, struct table *table, uint32_t position) {
  ecs_id id = table->ids[position];
  uint32_t at = (uint32_t)hash_u64(id) & table->slot_mask;
  while (table->slots[at] != NONE) at = (at + 1) & table->slot_mask;
  table->slots[at] = position;
  struct component *component = component_of(world, id);
  table->first_column[position] = component->leaf_count ? table->column_count : NONE;
  if (component->leaf_count) add_part(table, component);
}

ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out) {
  struct layout layout = lay_out(world, ids, count);
  char *block = memory_resize(&world->memory, NULL, 0, layout.size);
  if (!block) return world_nomem(world);
  memset(block, 0, layout.size);
  struct table *table = (void *)block;
  table->block_size = layout.size;
  table->id_count = count;
  table->ids = (void *)(block + layout.ids_at);
  table->parts = (void *)(block + layout.parts_at);
  table->columns = (void *)(block + layout.columns_at);
  table->first_column = (void *)(block + layout.first_at);
  table->slots = (void *)(block + layout.slots_at);
  table->slot_mask = layout.slots - 1;
  table->next_same_hash = NONE;
  memset(table->slots, 0xFF, layout.slots * sizeof *table->slots);
  for (uint32_t i = 0; i < count; i++) {
    assert(i == 0 || ids[i - 1] < ids[i]);
    table->ids[i] = ids[i];
    add_id(world, table, i);
  }
  *out = table;
  return ECS_OK;
}

void table_shrink(ecs_world *world, struct table *table) {
  assert(table->count == 0);
  for (uint32_t i = 0; i < table->column_count; i++) {
    buffer_free(&world->memory, &table->columns[i].buffer);
    table->columns[i].data = NULL;
  }
  buffer_free(&world->memory, &table->row_buffer);
  table->rows = NULL;
  table->capacity = 0;
}

void table_free(ecs_world *world, struct table *table) {
  table->count = 0;
  table_shrink(world, table);
  memory_free(&world->memory, table->edges, table->edge_capacity * sizeof *table->edges);
  memory_free(&world->memory, table, table->block_size);
}

size_t table_bytes(const struct table *table) {
  size_t bytes = table->block_size + table->row_buffer.size +
                 table->edge_capacity * sizeof *table->edges;
  for (uint32_t i = 0; i < table->column_count; i++) bytes += table->columns[i].buffer.size;
  return bytes;
}

static bool grow_columns(ecs_world *world, struct table *table, size_t rows) {
  struct memory *memory = &world->memory;
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *column = &table->columns[i];
    size_t used = (size_t)table->count * column->size;
    if (!buffer_grow(memory, &column->buffer, rows * column->size, used)) return false;
    column->data = column->buffer.data;
  }
  size_t used = table->count * sizeof *table->rows;
  if (!buffer_grow(memory, &table->row_buffer, rows * sizeof *table->rows, used))
    return false;
  table->rows = table->row_buffer.data;
  return true;
}

ecs_status table_reserve(ecs_world *world, struct table *table, uint64_t more) {
  uint64_t need = table->count + more;
  if (LIKELY(need <= table->capacity)) return ECS_OK;
  if (need > ROW_LIMIT)
    return world_fail(world, ECS_ELIMIT, "a table cannot hold more than %u rows",
                      (uint64_t)ROW_LIMIT);
  uint64_t rows = table->capacity * 2ull;
  if (rows < FIRST_CAPACITY) rows = FIRST_CAPACITY;
  if (rows < need) rows = (need + FIRST_CAPACITY - 1) / FIRST_CAPACITY * FIRST_CAPACITY;
  if (rows > ROW_LIMIT) rows = ROW_LIMIT;
  if (!grow_columns(world, table, (size_t)rows)) return world_nomem(world);
  table->capacity = (uint32_t)rows;
  return ECS_OK;
}

static void set_record(ecs_world *world, uint32_t entity, const struct table *table,
                       uint32_t row) {
  struct record *record = entity_record(&world->entities, entity);
  record->table = table->index;
  record->row = row;
}

uint32_t table_append(ecs_world *world, struct table *table, uint32_t entity) {
  assert(table->count < table->capacity);
  uint32_t row = table->count++;
  table->rows[row] = entity;
  set_record(world, entity, table, row);
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *column = &table->columns[i];
    cell_store(column->data, column->size, row, column->value);
  }
  return row;
}

void table_fill_defaults(struct table *table, uint32_t row, uint32_t count) {
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *column = &table->columns[i];
    cell_fill(column->data, column->size, row, count, column->value);
  }
}

/* Lets go of the any slots of a part's rows. */
static void release_any(ecs_world *world, struct table *table,
                        const struct table_part *part, uint32_t row, uint32_t count) {
  const struct component *component = part->component;
  if (LIKELY(!component->has_any)) return;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    if (component->leaves[i].type != ECS_ANY) continue;
    uint32_t *slots = table->columns[part->first + i].data;
    for (uint32_t j = 0; j < count; j++) any_release(&world->any, slots[row + j]);
  }
}

/* The last row takes the place of `row`; any slots stay with whoever has them now. */
static void close_gap(ecs_world *world, struct table *table, uint32_t row) {
  uint32_t last = --table->count;
  if (row != last) {
    for (uint32_t i = 0; i < table->column_count; i++) {
      struct column *column = &table->columns[i];
      ecs_cell cell = cell_load(column->data, column->size, last);
      cell_store(column->data, column->size, row, cell);
    }
    table->rows[row] = table->rows[last];
    entity_record(&world->entities, table->rows[row])->row = row;
  }
  if (table->count == 0) graph_note_empty(world, table);
}

void table_remove_row(ecs_world *world, struct table *table, uint32_t row) {
  assert(row < table->count);
  for (uint32_t i = 0; table->has_any && i < table->part_count; i++)
    release_any(world, table, &table->parts[i], row, 1);
  close_gap(world, table, row);
}

static void carry_part(struct table *from, uint32_t first, uint32_t row, struct table *to,
                       uint32_t to_first, uint32_t to_row, uint32_t count) {
  struct column *source = &from->columns[first];
  struct column *target = &to->columns[to_first];
  uint32_t leaves = source->component->leaf_count;
  for (uint32_t i = 0; i < leaves; i++, source++, target++) {
    uint32_t size = source->size;
    if (count == 1)
      cell_store(target->data, size, to_row, cell_load(source->data, size, row));
    else
      memcpy((char *)target->data + (size_t)to_row * size,
             (char *)source->data + (size_t)row * size, (size_t)count * size);
  }
}

static void fill_part(struct table *table, const struct table_part *part, uint32_t row,
                      uint32_t count) {
  struct column *column = &table->columns[part->first];
  for (uint32_t i = 0; i < part->component->leaf_count; i++, column++) {
    if (count == 1)
      cell_store(column->data, column->size, row, column->value);
    else
      cell_fill(column->data, column->size, row, count, column->value);
  }
}

/* Brings the columns of `count` rows over: both tables' parts are in the order of ids. */
static void carry(ecs_world *world, struct table *from, uint32_t row, struct table *to,
                  uint32_t to_row, uint32_t count) {
  uint32_t i = 0, j = 0;
  while (i < from->part_count || j < to->part_count) {
    ecs_id a = i < from->part_count ? from->parts[i].id : UINT64_MAX;
    ecs_id b = j < to->part_count ? to->parts[j].id : UINT64_MAX;
    if (a == b)
      carry_part(from, from->parts[i].first, row, to, to->parts[j].first, to_row, count);
    else if (a < b)
      release_any(world, from, &from->parts[i], row, count);
    else
      fill_part(to, &to->parts[j], to_row, count);
    i += a <= b;
    j += b <= a;
  }
}

void table_move_row(ecs_world *world, struct table *from, uint32_t row, struct table *to) {
  assert(from != to && row < from->count && to->count < to->capacity);
  uint32_t entity = from->rows[row];
  uint32_t to_row = to->count++;
  to->rows[to_row] = entity;
  carry(world, from, row, to, to_row, 1);
  set_record(world, entity, to, to_row);
  close_gap(world, from, row);
}

void table_move_all(ecs_world *world, struct table *from, struct table *to) {
  assert(from != to && to->capacity - to->count >= from->count);
  uint32_t base = to->count, count = from->count;
  if (count == 0) return;
  carry(world, from, 0, to, base, count);
  memcpy(to->rows + base, from->rows, count * sizeof *from->rows);
  to->count += count;
  from->count = 0;
  for (uint32_t row = base; row < to->count; row++) set_record(world, to->rows[row], to, row);
  graph_note_empty(world, from);
}

void table_write(ecs_world *world, struct table *table, uint32_t first, uint32_t row,
                 const struct write *writes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct column *column = &table->columns[first + writes[i].leaf];
    if (UNLIKELY(table->has_any) &&
        column->component->leaves[column->leaf].type == ECS_ANY)
      any_release(&world->any, ((uint32_t *)column->data)[row]);
    cell_store(column->data, column->size, row, writes[i].cell);
  }
}

void table_write_defaults(ecs_world *world, struct table *table,
                          const struct component *component, uint32_t row) {
  uint32_t first = table_column(table, component->id);
  if (first == NONE) return;
  struct table_part part = {component->id, NULL, first};
  for (uint32_t i = 0; i < table->part_count; i++)
    if (table->parts[i].first == first) part = table->parts[i];
  release_any(world, table, &part, row, 1);
  fill_part(table, &part, row, 1);
}
