#include "hand_storage.h"

static struct hand_record *record_of(const struct hand *hand, ecs_id id) {
  uint32_t index = ecs_id_index(id);
  NEED(index < hand->count && hand->generations[index] == ecs_id_generation(id));
  return &hand->records[index];
}

/* ---- bits ---- */

void hand_bits_open(struct hand_bits *bits, uint32_t rows) {
  size_t size = (rows + 63) / 64 * sizeof *bits->bits;
  bits->bits = bench_resize(NULL, size);
  memset(bits->bits, 0, size);
  bits->off = 0;
}

void hand_bits_switch(struct hand *hand, struct hand_bits *bits, ecs_id id, bool off) {
  uint32_t row = record_of(hand, id)->row;
  uint64_t *word = &bits->bits[row / 64];
  if ((*word >> row % 64 & 1) == off) return;
  *word ^= UINT64_C(1) << row % 64;
  bits->off += off ? 1u : UINT32_MAX;
}

/* ---- a sparse set ---- */

void hand_sparse_open(struct hand_sparse *sparse, uint32_t entities) {
  memset(sparse, 0, sizeof *sparse);
  sparse->places = bench_resize(NULL, entities * sizeof *sparse->places);
  memset(sparse->places, 0, entities * sizeof *sparse->places);
}

void hand_sparse_close(struct hand_sparse *sparse) {
  free(sparse->places);
  free(sparse->entities);
  free(sparse->x);
  free(sparse->y);
}

static void grow(struct hand_sparse *sparse) {
  sparse->capacity = sparse->capacity ? sparse->capacity * 2 : 16;
  sparse->entities = bench_resize(sparse->entities, sparse->capacity * sizeof *sparse->entities);
  sparse->x = bench_resize(sparse->x, sparse->capacity * sizeof *sparse->x);
  sparse->y = bench_resize(sparse->y, sparse->capacity * sizeof *sparse->y);
}

void hand_sparse_add(struct hand *hand, struct hand_sparse *sparse, ecs_id id) {
  uint32_t entity = ecs_id_index(id);
  NEED(record_of(hand, id));
  if (sparse->places[entity]) return;
  if (sparse->count == sparse->capacity) grow(sparse);
  uint32_t at = sparse->count++;
  sparse->entities[at] = entity;
  sparse->x[at] = 1;
  sparse->y[at] = 2;
  sparse->places[entity] = at + 1;
}

void hand_sparse_remove(struct hand *hand, struct hand_sparse *sparse, ecs_id id) {
  uint32_t entity = ecs_id_index(id), place = sparse->places[entity];
  NEED(record_of(hand, id));
  if (!place) return;
  uint32_t at = place - 1, last = --sparse->count;
  sparse->entities[at] = sparse->entities[last];
  sparse->x[at] = sparse->x[last];
  sparse->y[at] = sparse->y[last];
  sparse->places[sparse->entities[at]] = place;
  sparse->places[entity] = 0;
}

void hand_sparse_push(struct hand *hand, const struct hand_sparse *sparse) {
  for (uint32_t at = 0; at < sparse->count; at++) {
    struct hand_record record = hand->records[sparse->entities[at]];
    struct hand_table *table = hand->tables[record.table];
    table->px[record.row] += sparse->x[at];
    table->py[record.row] += sparse->y[at];
  }
}
