#include "hand.h"

#define FREE UINT32_MAX

void hand_open(struct hand *hand, uint32_t pairs) {
  memset(hand, 0, sizeof *hand);
  hand->free_head = FREE;
  hand->table_count = pairs * 2;
  hand->tables = bench_resize(NULL, hand->table_count * sizeof *hand->tables);
  for (uint32_t i = 0; i < hand->table_count; i++) {
    struct hand_table *table = bench_resize(NULL, sizeof *table);
    memset(table, 0, sizeof *table);
    table->index = i;
    hand->tables[i] = table;
  }
  for (uint32_t i = 0; i < hand->table_count; i += 2) {
    hand->tables[i]->with = hand->tables[i + 1];
    hand->tables[i + 1]->without = hand->tables[i];
  }
}

void hand_close(struct hand *hand) {
  for (uint32_t i = 0; i < hand->table_count; i++) {
    struct hand_table *table = hand->tables[i];
    free(table->px);
    free(table->py);
    free(table->vx);
    free(table->vy);
    free(table->rows);
    free(table);
  }
  free(hand->tables);
  free(hand->records);
  free(hand->generations);
}

static void grow(struct hand_table *table, uint32_t capacity) {
  size_t size = capacity * sizeof(float);
  table->px = bench_resize(table->px, size);
  table->py = bench_resize(table->py, size);
  if (!table->with) {
    table->vx = bench_resize(table->vx, size);
    table->vy = bench_resize(table->vy, size);
  }
  table->rows = bench_resize(table->rows, capacity * sizeof *table->rows);
  table->capacity = capacity;
}

static void reserve(struct hand_table *table, uint32_t more) {
  uint32_t need = table->count + more;
  if (need <= table->capacity) return;
  uint32_t capacity = table->capacity ? table->capacity * 2 : 16;
  grow(table, capacity < need ? need : capacity);
}

static void grow_index(struct hand *hand, uint32_t capacity) {
  hand->records = bench_resize(hand->records, capacity * sizeof *hand->records);
  hand->generations = bench_resize(hand->generations, capacity * sizeof *hand->generations);
  hand->capacity = capacity;
}

/* NULL for a dead id. */
static struct hand_record *find(const struct hand *hand, ecs_id id) {
  uint32_t index = ecs_id_index(id);
  if (index >= hand->count || hand->generations[index] != ecs_id_generation(id)) return NULL;
  return &hand->records[index];
}

/* ---- spawning ---- */

static uint32_t take(struct hand *hand) {
  uint32_t index = hand->free_head;
  if (index != FREE) {
    hand->free_head = hand->records[index].row;
    return index;
  }
  if (hand->count == hand->capacity)
    grow_index(hand, hand->capacity ? hand->capacity * 2 : 16);
  index = hand->count++;
  hand->generations[index] = 0;
  return index;
}

ecs_id hand_spawn(struct hand *hand, struct hand_table *table) {
  uint32_t index = take(hand);
  if (table->count == table->capacity) reserve(table, 1);
  uint32_t row = table->count++;
  table->px[row] = 1;
  table->py[row] = 2;
  table->vx[row] = 3;
  table->vy[row] = 4;
  table->rows[row] = index;
  hand->records[index] = (struct hand_record){table->index, row};
  return index | (ecs_id)hand->generations[index] << 28;
}

static void fill(float *column, uint32_t count, float value) {
  for (uint32_t i = 0; i < count; i++) column[i] = value;
}

void hand_spawn_many(struct hand *hand, struct hand_table *table, uint32_t n, ecs_id *ids) {
  uint32_t base = table->count, first = hand->count;
  reserve(table, n);
  if (first + n > hand->capacity)
    grow_index(hand, first + n > hand->capacity * 2 ? first + n : hand->capacity * 2);
  fill(table->px + base, n, 1);
  fill(table->py + base, n, 2);
  fill(table->vx + base, n, 3);
  fill(table->vy + base, n, 4);
  memset(hand->generations + first, 0, n * sizeof *hand->generations);
  for (uint32_t i = 0; i < n; i++) table->rows[base + i] = first + i;
  for (uint32_t i = 0; i < n; i++)
    hand->records[first + i] = (struct hand_record){table->index, base + i};
  for (uint32_t i = 0; i < n; i++) ids[i] = first + i;
  table->count += n;
  hand->count += n;
}

/* ---- despawning and moving ---- */

/* The last row takes the place of `row`. */
static void close_gap(struct hand *hand, struct hand_table *table, uint32_t row) {
  uint32_t last = --table->count;
  if (row == last) return;
  table->px[row] = table->px[last];
  table->py[row] = table->py[last];
  if (!table->with) {
    table->vx[row] = table->vx[last];
    table->vy[row] = table->vy[last];
  }
  table->rows[row] = table->rows[last];
  hand->records[table->rows[row]].row = row;
}

static void release(struct hand *hand, uint32_t index) {
  hand->generations[index]++;
  hand->records[index] = (struct hand_record){FREE, hand->free_head};
  hand->free_head = index;
}

void hand_despawn(struct hand *hand, ecs_id id) {
  struct hand_record *record = find(hand, id);
  NEED(record);
  close_gap(hand, hand->tables[record->table], record->row);
  release(hand, ecs_id_index(id));
}

void hand_despawn_all(struct hand *hand, struct hand_table *table) {
  for (uint32_t row = 0; row < table->count; row++) release(hand, table->rows[row]);
  table->count = 0;
}

void hand_add(struct hand *hand, ecs_id id) {
  struct hand_record *record = find(hand, id);
  NEED(record);
  struct hand_table *from = hand->tables[record->table], *to = from->with;
  if (!to) return;
  if (to->count == to->capacity) reserve(to, 1);
  uint32_t row = record->row, to_row = to->count++;
  to->px[to_row] = from->px[row];
  to->py[to_row] = from->py[row];
  to->vx[to_row] = 3;
  to->vy[to_row] = 4;
  to->rows[to_row] = from->rows[row];
  close_gap(hand, from, row);
  *record = (struct hand_record){to->index, to_row};
}

void hand_remove(struct hand *hand, ecs_id id) {
  struct hand_record *record = find(hand, id);
  NEED(record);
  struct hand_table *from = hand->tables[record->table], *to = from->without;
  if (!to) return;
  if (to->count == to->capacity) reserve(to, 1);
  uint32_t row = record->row, to_row = to->count++;
  to->px[to_row] = from->px[row];
  to->py[to_row] = from->py[row];
  to->rows[to_row] = from->rows[row];
  close_gap(hand, from, row);
  *record = (struct hand_record){to->index, to_row};
}

static void move_all(struct hand *hand, struct hand_table *from, struct hand_table *to) {
  uint32_t base = to->count, n = from->count;
  memcpy(to->px + base, from->px, n * sizeof(float));
  memcpy(to->py + base, from->py, n * sizeof(float));
  memcpy(to->rows + base, from->rows, n * sizeof *to->rows);
  for (uint32_t i = 0; i < n; i++)
    hand->records[to->rows[base + i]] = (struct hand_record){to->index, base + i};
  to->count += n;
  from->count = 0;
}

void hand_add_all(struct hand *hand, struct hand_table *from) {
  struct hand_table *to = from->with;
  reserve(to, from->count);
  fill(to->vx + to->count, from->count, 3);
  fill(to->vy + to->count, from->count, 4);
  move_all(hand, from, to);
}

void hand_remove_all(struct hand *hand, struct hand_table *from) {
  reserve(from->without, from->count);
  move_all(hand, from, from->without);
}

/* ---- reading ---- */

bool hand_get(const struct hand *hand, ecs_id id, struct position *position) {
  const struct hand_record *record = find(hand, id);
  if (!record) return false;
  const struct hand_table *table = hand->tables[record->table];
  position->x = table->px[record->row];
  position->y = table->py[record->row];
  return true;
}

bool hand_set(struct hand *hand, ecs_id id, const struct position *position) {
  const struct hand_record *record = find(hand, id);
  if (!record) return false;
  const struct hand_table *table = hand->tables[record->table];
  table->px[record->row] = position->x;
  table->py[record->row] = position->y;
  return true;
}

float *hand_cell(const struct hand *hand, ecs_id id) {
  const struct hand_record *record = find(hand, id);
  return record ? &hand->tables[record->table]->px[record->row] : NULL;
}

double hand_checksum(const struct hand *hand) {
  double sum = 0;
  for (uint32_t i = 0; i < hand->table_count; i++) {
    const struct hand_table *table = hand->tables[i];
    for (uint32_t row = 0; row < table->count; row++) {
      uint32_t entity = table->rows[row];
      NEED(hand->records[entity].table == i && hand->records[entity].row == row);
      sum += checksum_row(entity, row, table->px[row], table->py[row]);
      if (!table->with) sum += checksum_velocity(row, table->vx[row], table->vy[row]);
    }
  }
  return sum;
}
