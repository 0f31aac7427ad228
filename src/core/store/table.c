#include "core/store/table.h"

#include "core/store/world.h"

#define FIRST_CAPACITY 16u

static uint32_t place_count(uint32_t ids) {
  uint32_t count = QUICK_PLACES;
  while (count < ids + ids / 2) count *= 2;
  return count;
}

/* Sizes of a table's arrays, and where each begins in its one block. */
struct layout {
  uint32_t parts, columns, places;
  size_t places_at, edges_at, columns_at, parts_at, ids_at, first_at, size;
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
  layout.places = place_count(count);
  layout.size = sizeof(struct table);
  layout.places_at = place(&layout.size, layout.places, sizeof(struct table_place));
  layout.edges_at = place(&layout.size, FIRST_EDGES, sizeof(struct edge));
  layout.columns_at = place(&layout.size, layout.columns, sizeof(struct column));
  layout.parts_at = place(&layout.size, layout.parts, sizeof(struct table_part));
  layout.ids_at = place(&layout.size, count, sizeof(ecs_id));
  layout.first_at = place(&layout.size, count, sizeof(uint32_t));
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
    table->words &= column->size == 4;
    column->leaf = i;
    column->offset = component->leaves[i].offset;
    column->component = component;
    column->value = component->leaves[i].value;
  }
}

static void add_id(const ecs_world *world, struct table *table, struct table_place *places,
                   uint32_t position) {
  ecs_id id = table->ids[position];
  struct component *component = component_of(world, id);
  uint32_t count = component->leaf_count, first = count ? table->column_count : NONE;
  table->first_column[position] = first;
  places[table_find(table, id) - places] = (struct table_place){
    id, count ? table->columns + first : NULL, count, component->words ? count : 0, position
  };
  if (count) add_part(table, component);
}

ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out) {
  struct layout layout = lay_out(world, ids, count);
  char *block = memory_resize(&world->memory, NULL, 0, layout.size);
  if (!block) return world_nomem(world);
  memset(block, 0, layout.size);
  struct table *table = (void *)block;
  struct table_place *places = (void *)(block + layout.places_at);
  table->block_size = layout.size;
  table->id_count = count;
  table->ids = (void *)(block + layout.ids_at);
  table->parts = (void *)(block + layout.parts_at);
  table->columns = (void *)(block + layout.columns_at);
  table->first_column = (void *)(block + layout.first_at);
  table->edges = table->first_edges = (void *)(block + layout.edges_at);
  table->place_mask = layout.places - 1;
  table->edge_mask = FIRST_EDGES - 1;
  table->next_same_hash = NONE;
  table->words = true;
  for (uint32_t i = 0; i < layout.places; i++) places[i].position = NONE;
  for (uint32_t i = 0; i < count; i++) {
    assert(i == 0 || ids[i - 1] < ids[i]);
    table->ids[i] = ids[i];
    add_id(world, table, places, i);
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

static size_t edge_bytes(const struct table *table) {
  return (table->edge_mask + (size_t)1) * sizeof *table->edges;
}

void table_free(ecs_world *world, struct table *table) {
  table->count = 0;
  table_shrink(world, table);
  if (table->edges != table->first_edges)
    memory_free(&world->memory, table->edges, edge_bytes(table));
  memory_free(&world->memory, table, table->block_size);
}

size_t table_bytes(const struct table *table) {
  size_t bytes = table->block_size + table->row_buffer.size;
  if (table->edges != table->first_edges) bytes += edge_bytes(table);
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

void table_fill_defaults(struct table *table, uint32_t row, uint32_t count) {
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *column = &table->columns[i];
    cell_fill(column->data, column->size, row, count, column->value);
  }
}

void table_release_any(ecs_world *world, struct table *table, uint32_t first, uint32_t row,
                       uint32_t count) {
  const struct component *component = table->columns[first].component;
  if (LIKELY(!component->has_any)) return;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    if (component->leaves[i].type != ECS_ANY) continue;
    const uint32_t *slots = table->columns[first + i].data;
    for (uint32_t j = 0; j < count; j++) any_release(&world->any, slots[row + j]);
  }
}

void table_release_row(ecs_world *world, struct table *table, uint32_t row) {
  for (uint32_t i = 0; i < table->part_count; i++)
    table_release_any(world, table, table->parts[i].first, row, 1);
}

static void carry_part(struct table *from, uint32_t first, struct table *to,
                       uint32_t to_first, uint32_t to_row) {
  struct column *source = &from->columns[first];
  struct column *target = &to->columns[to_first];
  uint32_t leaves = source->component->leaf_count;
  for (uint32_t i = 0; i < leaves; i++, source++, target++) {
    size_t size = source->size;
    memcpy((char *)target->data + to_row * size, source->data, from->count * size);
  }
}

/* count rows of a component with defaults. */
static void fill_part(struct table *table, uint32_t first, uint32_t row, uint32_t count) {
  struct column *column = &table->columns[first];
  uint32_t leaves = column->component->leaf_count;
  for (uint32_t i = 0; i < leaves; i++, column++)
    cell_fill(column->data, column->size, row, count, column->value);
}

/* Brings the columns of all rows over: both tables' parts are in the order of ids. */
static void carry_all(ecs_world *world, struct table *from, struct table *to) {
  uint32_t i = 0, j = 0;
  while (i < from->part_count || j < to->part_count) {
    ecs_id a = i < from->part_count ? from->parts[i].id : UINT64_MAX;
    ecs_id b = j < to->part_count ? to->parts[j].id : UINT64_MAX;
    if (a == b)
      carry_part(from, from->parts[i].first, to, to->parts[j].first, to->count);
    else if (a < b)
      table_release_any(world, from, from->parts[i].first, 0, from->count);
    else
      fill_part(to, to->parts[j].first, to->count, from->count);
    i += a <= b;
    j += b <= a;
  }
}

void table_move_all(ecs_world *world, struct table *from, struct table *to) {
  assert(from != to && to->capacity - to->count >= from->count);
  uint32_t base = to->count, count = from->count;
  if (count == 0) return;
  carry_all(world, from, to);
  memcpy(to->rows + base, from->rows, count * sizeof *from->rows);
  to->count += count;
  from->count = 0;
  for (uint32_t row = base; row < to->count; row++)
    *entity_record(&world->entities, to->rows[row]) = (struct record){to->index, row};
  graph_note_empty(&world->graph, from);
}

void table_write(ecs_world *world, struct column *columns, uint32_t row,
                 const struct write *writes, uint32_t count) {
  const struct component *component = columns->component;
  for (uint32_t i = 0; i < count; i++) {
    struct column *column = &columns[writes[i].leaf];
    if (UNLIKELY(component->has_any) && component->leaves[column->leaf].type == ECS_ANY)
      any_release(&world->any, ((uint32_t *)column->data)[row]);
    cell_store(column->data, column->size, row, writes[i].cell);
  }
}

void table_write_defaults(ecs_world *world, struct table *table,
                          const struct component *component, uint32_t row) {
  uint32_t first = table_column(table, component->id);
  if (first == NONE) return;
  table_release_any(world, table, first, row, 1);
  fill_part(table, first, row, 1);
}
