/* Indexes: a grid against a counting sort by hand of the same columns, the nearest in it, and keys
** of which one in a hundred has changed against all of them sorted anew. */
#include "library.h"

#define WIDTH 256u             /* cells beside each other */
#define ASKED 10000u           /* searches for the nearest */
#define REACH 4.0

static float place_of(uint64_t *state) {
  return (float)(bench_random(state) % (WIDTH * 64)) / 64;
}

/* ---- by hand ---- */

/* Rows by cells of width 1: columns x, y, vx and vy, with ids. */
struct hand_grid {
  uint32_t count;
  float *from[4], *columns[4];
  ecs_id *ids, *sorted;
  uint32_t *cells, *order;
  uint32_t starts[WIDTH * WIDTH + 1];
};

static struct hand_grid *cells_open(uint32_t n) {
  struct hand_grid *grid = bench_resize(NULL, sizeof *grid);
  uint64_t state = 7;
  grid->count = n;
  for (int c = 0; c < 4; c++) {
    grid->from[c] = bench_resize(NULL, n * sizeof(float));
    grid->columns[c] = bench_resize(NULL, n * sizeof(float));
  }
  grid->ids = bench_resize(NULL, n * sizeof *grid->ids);
  grid->sorted = bench_resize(NULL, n * sizeof *grid->sorted);
  grid->cells = bench_resize(NULL, n * sizeof *grid->cells);
  grid->order = bench_resize(NULL, n * sizeof *grid->order);
  for (uint32_t i = 0; i < n; i++) {
    grid->ids[i] = i;
    grid->from[0][i] = place_of(&state);
    grid->from[1][i] = place_of(&state);
    grid->from[2][i] = 3;
    grid->from[3][i] = 4;
  }
  return grid;
}

static void cells_close(struct hand_grid *grid) {
  for (int c = 0; c < 4; c++) {
    free(grid->from[c]);
    free(grid->columns[c]);
  }
  free(grid->ids);
  free(grid->sorted);
  free(grid->cells);
  free(grid->order);
  free(grid);
}

static void hand_sort(struct hand_grid *grid) {
  uint32_t n = grid->count, *starts = grid->starts, sum = 0;
  memset(starts, 0, sizeof grid->starts);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t x = (uint32_t)floorf(grid->from[0][i]), y = (uint32_t)floorf(grid->from[1][i]);
    starts[grid->cells[i] = y * WIDTH + x]++;
  }
  for (uint32_t cell = 0; cell <= WIDTH * WIDTH; cell++) {
    uint32_t here = starts[cell];
    starts[cell] = sum;
    sum += here;
  }
  for (uint32_t i = 0; i < n; i++) grid->order[starts[grid->cells[i]]++] = i;
  memmove(starts + 1, starts, WIDTH * WIDTH * sizeof *starts);
  starts[0] = 0;
  for (uint32_t i = 0; i < n; i++) grid->sorted[i] = grid->ids[grid->order[i]];
  for (int c = 0; c < 4; c++)
    for (uint32_t i = 0; i < n; i++) grid->columns[c][i] = grid->from[c][grid->order[i]];
}

static double weigh(double sum, uint32_t at, float x, float y, float vx, float vy) {
  return sum + at % 1000 * ((double)x + 2 * (double)y + 3 * (double)vx + 4 * (double)vy);
}

static struct sample hand_build(uint32_t n) {
  struct hand_grid *grid = cells_open(n);
  double sum = 0;
  hand_sort(grid);
  double start = bench_now();
  hand_sort(grid);
  double seconds = bench_now() - start;
  for (uint32_t i = 0; i < n; i++)
    sum = weigh(sum, i, grid->columns[0][i], grid->columns[1][i], grid->columns[2][i],
                grid->columns[3][i]);
  cells_close(grid);
  return (struct sample){n, seconds, sum};
}

/* The nearest row of a box of cells that is no farther than *best. */
static uint32_t hand_scan(const struct hand_grid *grid, double x, double y, double reach,
                          double *best) {
  int low_x = (int)floor(x - reach), high_x = (int)floor(x + reach);
  int low_y = (int)floor(y - reach), high_y = (int)floor(y + reach), last = (int)WIDTH - 1;
  uint32_t found = UINT32_MAX;
  low_x = low_x < 0 ? 0 : low_x;
  high_x = high_x > last ? last : high_x;
  for (int cy = low_y < 0 ? 0 : low_y; cy <= high_y && cy <= last; cy++) {
    uint32_t end = grid->starts[(uint32_t)cy * WIDTH + (uint32_t)high_x + 1];
    for (uint32_t i = grid->starts[(uint32_t)cy * WIDTH + (uint32_t)low_x]; i < end; i++) {
      double dx = (double)grid->columns[0][i] - x, dy = (double)grid->columns[1][i] - y;
      double square = dx * dx + dy * dy;
      bool nearer = square < *best || (square == *best && found != UINT32_MAX &&
                                       grid->order[i] < grid->order[found]);
      if (!nearer) continue;
      *best = square;
      found = i;
    }
  }
  return found;
}

static uint32_t hand_nearest(const struct hand_grid *grid, double x, double y, double reach) {
  for (double tried = 1; tried < 2 * reach; tried *= 2) {
    double best = nextafter(reach * reach, HUGE_VAL);
    uint32_t found = hand_scan(grid, x, y, tried < reach ? tried : reach, &best);
    if (found != UINT32_MAX && best <= tried * tried) return grid->order[found];
  }
  return UINT32_MAX;
}

static struct sample hand_look(uint32_t n) {
  struct hand_grid *grid = cells_open(n);
  uint64_t state = 5;
  double sum = 0;
  hand_sort(grid);
  double start = bench_now();
  for (uint32_t i = 0; i < ASKED; i++) {
    double x = (double)place_of(&state) + 0.25, y = (double)place_of(&state) + 0.25;
    uint32_t row = hand_nearest(grid, x, y, REACH);
    sum += row == UINT32_MAX ? -1.0 : (double)(row % 1024);
  }
  double seconds = bench_now() - start;
  cells_close(grid);
  return (struct sample){ASKED, seconds, sum};
}

/* ---- the library ---- */

struct flock {
  struct library library;
  ecs_index *near;
  ecs_query *positions;
};

static void flock_open(struct flock *flock, uint32_t n) {
  library_open(&flock->library);
  ecs_world *world = flock->library.world;
  const ecs_index_desc desc = {.name = "near", .query = "Position:in, Velocity:in",
                               .of = "Position", .cell = 1};
  ecs_id *ids = bench_resize(NULL, n * sizeof *ids);
  uint64_t state = 7;
  ecs_iter it;
  need_ok(ecs_spawn_many(world, n, flock->library.both, 2, ids));
  free(ids);
  need_ok(ecs_index_new(world, &desc, &flock->near));
  need_ok(ecs_query_new(world, "Position", &flock->positions));
  need_ok(ecs_iter_open(flock->positions, &it));
  while (ecs_iter_next(&it)) {
    float *x = ecs_iter_column(&it, 0, 0), *y = ecs_iter_column(&it, 0, 1);
    for (size_t i = 0; i < it.count; i++) {
      x[i] = place_of(&state);
      y[i] = place_of(&state);
    }
  }
  need_ok(ecs_iter_close(&it));
}

/* Everybody has moved. */
static void flock_touch(const struct flock *flock) {
  ecs_iter it;
  need_ok(ecs_iter_open(flock->positions, &it));
  while (ecs_iter_next(&it)) NEED(ecs_iter_column(&it, 0, 0));
  need_ok(ecs_iter_close(&it));
}

static void flock_find(const struct flock *flock, ecs_found *found) {
  need_ok(ecs_index_within(flock->near, (double[]){0, 0}, -1, found));
}

static struct sample flock_build(uint32_t n) {
  struct flock flock;
  ecs_found found;
  double sum = 0;
  flock_open(&flock, n);
  flock_find(&flock, &found);
  flock_touch(&flock);
  double start = bench_now();
  flock_find(&flock, &found);
  double seconds = bench_now() - start;
  const float *x = ecs_index_column(flock.near, 0, 0), *y = ecs_index_column(flock.near, 0, 1);
  const float *vx = ecs_index_column(flock.near, 1, 0), *vy = ecs_index_column(flock.near, 1, 1);
  for (uint32_t i = 0; i < n; i++) sum = weigh(sum, i, x[i], y[i], vx[i], vy[i]);
  library_close(&flock.library);
  return (struct sample){n, seconds, sum};
}

/* Inside of a system, where the index is brought up to date once. */
struct asking {
  ecs_index *near;
  uint32_t first;              /* the index of the first entity */
  double seconds, sum;
};

static ecs_status ask(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct asking *asking = ud;
  uint64_t state = 5;
  ecs_found found;
  (void)world, (void)query, (void)dt;
  need_ok(ecs_index_within(asking->near, (double[]){0, 0}, -1, &found));
  double start = bench_now();
  for (uint32_t i = 0; i < ASKED; i++) {
    double x = (double)place_of(&state) + 0.25, y = (double)place_of(&state) + 0.25;
    const double at[] = {x, y};
    bool is_found = ecs_index_nearest(asking->near, at, REACH, ECS_NULL, &found) == ECS_OK;
    asking->sum += is_found ? (double)((ecs_id_index(found.entity) - asking->first) % 1024) : -1.0;
  }
  asking->seconds = bench_now() - start;
  return ECS_OK;
}

static struct sample flock_look(uint32_t n) {
  struct flock flock;
  ecs_iter it;
  flock_open(&flock, n);
  struct asking asking = {.near = flock.near};
  need_ok(ecs_iter_open(flock.positions, &it));
  NEED(ecs_iter_next(&it));
  asking.first = it.rows[0];
  need_ok(ecs_iter_close(&it));
  const ecs_system_desc desc = {.name = "ask", .run = ask, .ud = &asking};
  need_ok(ecs_system_new(flock.library.world, &desc));
  need_ok(ecs_update(flock.library.world, 1));
  library_close(&flock.library);
  return (struct sample){ASKED, asking.seconds, asking.sum};
}

/* ---- keys ---- */

struct herd {
  ecs_world *world;
  ecs_id health, *ids;
  ecs_index *keys;
  ecs_index_by by;
};

static void herd_open(struct herd *herd, uint32_t n, ecs_index_by by) {
  const ecs_world_desc of = {.alloc = bench_alloc, .tag = 1};
  const ecs_field fields[] = {{.name = "hp", .type = ECS_I32},
                              {.name = "armor", .type = ECS_I32, .offset = 4},
                              {.name = "x", .type = ECS_F32, .offset = 8},
                              {.name = "y", .type = ECS_F32, .offset = 12}};
  const ecs_component_desc desc = {.name = "Health", .fields = fields, .field_count = 4,
                                   .track = true};
  const ecs_index_desc index = {.name = "keys", .query = "Health:in", .by = by, .of = "hp"};
  uint64_t state = 3;
  herd->by = by;
  herd->ids = bench_resize(NULL, n * sizeof *herd->ids);
  need_ok(ecs_world_new(&of, &herd->world));
  need_ok(ecs_component(herd->world, &desc, &herd->health));
  need_ok(ecs_spawn_many(herd->world, n, &herd->health, 1, herd->ids));
  for (uint32_t i = 0; i < n; i++)
    *(int32_t *)ecs_cell_of(herd->world, herd->ids[i], herd->health, 0) =
        (int32_t)(bench_random(&state) % n);
  need_ok(ecs_index_new(herd->world, &index, &herd->keys));
}

static void herd_close(struct herd *herd) {
  free(herd->ids);
  ecs_world_free(herd->world);
}

static void herd_find(struct herd *herd, ecs_found *found) {
  const ecs_value key = {.kind = ECS_KIND_INTEGER, .integer = -1};
  if (herd->by == ECS_BY_HASH)
    need_ok(ecs_index_equal(herd->keys, &key, found));
  else
    need_ok(ecs_index_range(herd->keys, &key, &key, found));
}

static void herd_change(struct herd *herd, uint32_t n) {
  uint64_t state = 11;
  for (uint32_t i = 0; i < n / 100; i++) {
    ecs_id id = herd->ids[bench_random(&state) % n];
    *(int32_t *)ecs_cell_of(herd->world, id, herd->health, 0) =
        (int32_t)(bench_random(&state) % n);
  }
}

/* ns a row: after a change of one in a hundred the index alone, the change itself, and the same of
** all rows. */
static void measure_keys(const char *name, uint32_t n, ecs_index_by by) {
  double ours = 0, change = 0, whole = 0;
  for (int i = 0; i < 11; i++) {
    struct herd herd;
    ecs_found found;
    ecs_id extra;
    herd_open(&herd, n, by);
    double start = bench_now();
    herd_find(&herd, &found);
    need_ok(ecs_spawn(herd.world, NULL, 0, &extra));
    need_ok(ecs_add(herd.world, extra, herd.health));
    start = bench_now();
    herd_find(&herd, &found);
    whole = bench_best(whole, (struct sample){n, bench_now() - start, 0});
    start = bench_now();
    herd_change(&herd, n);
    change = bench_best(change, (struct sample){n, bench_now() - start, 0});
    start = bench_now();
    herd_find(&herd, &found);
    ours = bench_best(ours, (struct sample){n, bench_now() - start, 0});
    herd_close(&herd);
  }
  bench_print(name, n, ours, whole / 10 + change, 1, "ratio");
}

int main(void) {
  bench_begin();
  bench_row("build a grid, 4 columns", 100000, 25, hand_build, flock_build, 1.5);
  bench_row("the nearest within 4 cells", 100000, 41, hand_look, flock_look, 1.5);
  measure_keys("1 % of keys changed, hash (1: 10 % of all, and change)", 100000, ECS_BY_HASH);
  measure_keys("1 % of keys changed, ordered (1: 10 % of all, and change)", 100000, ECS_BY_ORDER);
  return 0;
}
