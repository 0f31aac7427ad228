/* What is kept beside tables: components switched off and on, and sparse ones, against bits and a
** sparse set by hand. */
#include "hand_storage.h"
#include "library.h"

/* ---- by hand ---- */

static ecs_id *hand_rows(struct hand *hand, uint32_t n) {
  ecs_id *ids = bench_resize(NULL, n * sizeof *ids);
  hand_open(hand, 1);
  hand_spawn_many(hand, hand->tables[1], n, ids);
  bench_shuffle(ids, n);
  return ids;
}

static struct sample hand_flip(uint32_t n) {
  struct hand hand;
  struct hand_bits bits;
  ecs_id *ids = hand_rows(&hand, n);
  hand_bits_open(&bits, n);
  double start = bench_now();
  for (uint32_t i = 0; i < n; i++) hand_bits_switch(&hand, &bits, ids[i], true);
  for (uint32_t i = 0; i < n; i += 2) hand_bits_switch(&hand, &bits, ids[i], false);
  double seconds = bench_now() - start, off = bits.off;
  free(bits.bits);
  free(ids);
  hand_close(&hand);
  return (struct sample){n * 1.5, seconds, off};
}

static double hand_sum(const struct hand_sparse *sparse) {
  double sum = 0;
  for (uint32_t at = 0; at < sparse->count; at++)
    sum += checksum_row(sparse->entities[at], at, sparse->x[at], sparse->y[at]);
  return sum;
}

static struct sample hand_change(uint32_t n) {
  struct hand hand;
  struct hand_sparse sparse;
  ecs_id *ids = hand_rows(&hand, n);
  hand_sparse_open(&sparse, n);
  double start = bench_now();
  for (uint32_t i = 0; i < n; i++) hand_sparse_add(&hand, &sparse, ids[i]);
  for (uint32_t i = 0; i < n; i += 2) hand_sparse_remove(&hand, &sparse, ids[i]);
  double seconds = bench_now() - start, sum = hand_sum(&sparse);
  hand_sparse_close(&sparse);
  free(ids);
  hand_close(&hand);
  return (struct sample){n * 1.5, seconds, sum};
}

/* The positions, by rows. */
static double sum_of(const float *px, const float *py, uint32_t n) {
  double sum = 0;
  for (uint32_t row = 0; row < n; row++) sum += checksum_row(0, row, px[row], py[row]);
  return sum;
}

static struct sample hand_push(uint32_t n) {
  struct hand hand;
  struct hand_sparse sparse;
  ecs_id *ids = hand_rows(&hand, n);
  hand_sparse_open(&sparse, n);
  for (uint32_t i = 0; i < n; i += 2) hand_sparse_add(&hand, &sparse, ids[i]);
  double start = bench_now();
  hand_sparse_push(&hand, &sparse);
  double seconds = bench_now() - start;
  double sum = sum_of(hand.tables[1]->px, hand.tables[1]->py, n);
  hand_sparse_close(&sparse);
  free(ids);
  hand_close(&hand);
  return (struct sample){n * 0.5, seconds, sum};
}

/* ---- the library ---- */

struct stored {
  struct library library;
  ecs_id id, *ids;
};

static void stored_open(struct stored *stored, uint32_t n, bool sparse) {
  library_open(&stored->library);
  ecs_world *world = stored->library.world;
  ecs_field fields[2] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  for (int i = 0; i < 2; i++)
    fields[i].value = (ecs_value){.kind = ECS_KIND_NUMBER, .number = i + 1};
  fields[1].offset = sizeof(float);
  ecs_component_desc desc = {.name = "Heat", .fields = fields, .field_count = 2,
                             .sparse = sparse, .toggle = !sparse};
  need_ok(ecs_component(world, &desc, &stored->id));
  ecs_id list[] = {stored->library.both[0], stored->library.both[1], stored->id};
  stored->ids = bench_resize(NULL, n * sizeof *stored->ids);
  need_ok(ecs_spawn_many(world, n, list, sparse ? 2 : 3, stored->ids));
  bench_shuffle(stored->ids, n);
}

static void stored_close(struct stored *stored) {
  free(stored->ids);
  library_close(&stored->library);
}

static struct sample flip(uint32_t n) {
  struct stored stored;
  ecs_query *off;
  stored_open(&stored, n, false);
  ecs_world *world = stored.library.world;
  double start = bench_now();
  for (uint32_t i = 0; i < n; i++) need_ok(ecs_disable(world, stored.ids[i], stored.id));
  for (uint32_t i = 0; i < n; i += 2) need_ok(ecs_enable(world, stored.ids[i], stored.id));
  double seconds = bench_now() - start;
  need_ok(ecs_query_new(world, "Heat:off", &off));
  double count = (double)ecs_query_count(off);
  stored_close(&stored);
  return (struct sample){n * 1.5, seconds, count};
}

static double stored_sum(ecs_world *world) {
  double sum = 0;
  uint32_t at = 0;
  ecs_iter it;
  ecs_query *heat;
  need_ok(ecs_query_new(world, "Heat", &heat));
  need_ok(ecs_iter_open(heat, &it));
  while (ecs_iter_next(&it)) {
    const float *x = ecs_iter_column(&it, 0, 0), *y = ecs_iter_column(&it, 0, 1);
    for (size_t i = 0; i < it.count; i++, at++)
      sum += checksum_row(ecs_id_index(ecs_iter_entity(&it, i)) - 65536, at, x[i], y[i]);
  }
  need_ok(ecs_iter_close(&it));
  return sum;
}

static struct sample change(uint32_t n) {
  struct stored stored;
  stored_open(&stored, n, true);
  ecs_world *world = stored.library.world;
  double start = bench_now();
  for (uint32_t i = 0; i < n; i++) need_ok(ecs_add(world, stored.ids[i], stored.id));
  for (uint32_t i = 0; i < n; i += 2) need_ok(ecs_remove(world, stored.ids[i], stored.id));
  double seconds = bench_now() - start, sum = stored_sum(world);
  stored_close(&stored);
  return (struct sample){n * 1.5, seconds, sum};
}

static void push_all(ecs_query *query) {
  ecs_iter it;
  need_ok(ecs_iter_open(query, &it));
  while (ecs_iter_next_rows(&it)) {
    const uint32_t *from, *to;
    const float *x = ecs_iter_cells(&it, 0, 0, &from), *y = ecs_iter_cells(&it, 0, 1, &from);
    float *px = ecs_iter_cells(&it, 1, 0, &to), *py = ecs_iter_cells(&it, 1, 1, &to);
    for (size_t i = 0; i < it.count; i++) {
      px[to[i]] += x[from[i]];
      py[to[i]] += y[from[i]];
    }
  }
  need_ok(ecs_iter_close(&it));
}

static struct sample push(uint32_t n) {
  struct stored stored;
  ecs_query *query, *positions;
  ecs_iter it;
  stored_open(&stored, n, true);
  ecs_world *world = stored.library.world;
  for (uint32_t i = 0; i < n; i += 2) need_ok(ecs_add(world, stored.ids[i], stored.id));
  need_ok(ecs_query_new(world, "Heat:in, Position", &query));
  need_ok(ecs_query_new(world, "Position", &positions));
  double start = bench_now();
  push_all(query);
  double seconds = bench_now() - start;
  need_ok(ecs_iter_open(positions, &it));
  NEED(ecs_iter_next(&it) && it.count == n);
  double sum = sum_of(ecs_iter_column(&it, 0, 0), ecs_iter_column(&it, 0, 1), n);
  need_ok(ecs_iter_close(&it));
  stored_close(&stored);
  return (struct sample){n * 0.5, seconds, sum};
}

int main(void) {
  bench_begin();
  bench_row("toggle flip", 100000, 15, hand_flip, flip, 3);
  bench_row("sparse add + remove", 100000, 15, hand_change, change, 2);
  bench_row("iterate sparse with one table term", 100000, 15, hand_push, push, 2);
  return 0;
}
