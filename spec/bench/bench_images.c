/* Migration, save, load, digest and snapshots against plain copies of the columns: memory that
** is taken anew is taken by both sides. */
#include "library.h"

enum { COMPONENTS = 5, COLUMNS = 2 * COMPONENTS };

/* A world's n rows of five components of two f32, and the same columns by hand. */
struct setting {
  struct library library;
  float *columns[COLUMNS];
};

static double now_of(double *start) {
  double now = bench_now(), spent = now - *start;
  *start = now;
  return spent;
}

static void setting_open(struct setting *setting, uint32_t n) {
  struct library *library = &setting->library;
  ecs_id ids[COMPONENTS];
  library_open(library);
  memcpy(ids, library->both, sizeof library->both);
  ids[2] = library_component(library->world, "Force", 1, 2);
  ids[3] = library_component(library->world, "Goal", 3, 4);
  ids[4] = library_component(library->world, "Colour", 5, 6);
  need_ok(ecs_spawn_many(library->world, n, ids, COMPONENTS, NULL));
  for (int i = 0; i < COLUMNS; i++) {
    setting->columns[i] = bench_resize(NULL, n * sizeof(float));
    for (uint32_t row = 0; row < n; row++) setting->columns[i][row] = (float)(i + 1);
  }
}

static void setting_close(struct setting *setting) {
  for (int i = 0; i < COLUMNS; i++) free(setting->columns[i]);
  library_close(&setting->library);
}

/* ---- migration ------------------------------------------------------------------------ */

static double sum_column(const float *values, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += (double)values[i];
  return sum;
}

/* The one table's column of a query's first term. */
static double sum_field(ecs_world *world, const char *text, uint32_t n) {
  ecs_query *query;
  ecs_iter it;
  need_ok(ecs_query_new(world, text, &query));
  need_ok(ecs_iter_open(query, &it));
  NEED(ecs_iter_next(&it) && it.count == n);
  double sum = sum_column(ecs_iter_column(&it, 0, 0), n);
  need_ok(ecs_iter_close(&it));
  ecs_query_free(query);
  return sum;
}

static void declare(ecs_world *world, uint32_t fields) {
  ecs_field all[3] = {{.name = "x", .type = ECS_F32},
                      {.name = "y", .type = ECS_F32, .offset = 4},
                      {.name = "mass", .type = ECS_F32, .offset = 8}};
  for (int i = 0; i < 3; i++)
    all[i].value = (ecs_value){.kind = ECS_KIND_NUMBER, .number = i + 1};
  ecs_component_desc desc = {.name = "Position", .fields = all, .field_count = fields};
  ecs_id id;
  need_ok(ecs_component(world, &desc, &id));
}

static struct sample add_field(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  double start = bench_now();
  declare(setting.library.world, 3);
  double seconds = now_of(&start);
  double sum = sum_field(setting.library.world, "Position.mass", n);
  setting_close(&setting);
  return (struct sample){n, seconds, sum};
}

static void fill(float *values, uint32_t n, float value) {
  for (uint32_t i = 0; i < n; i++) values[i] = value;
}

static struct sample fill_column(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  double start = bench_now();
  float *mass = bench_resize(NULL, n * sizeof *mass);
  fill(mass, n, 3);
  double seconds = now_of(&start);
  double sum = sum_column(mass, n);
  free(mass);
  setting_close(&setting);
  return (struct sample){n, seconds, sum};
}

static void bench_migration(uint32_t n) {
  double least = 0;
  for (int i = 0; i < 50; i++) least = bench_best(least, add_field(1));
  bench_print("migration: one f32 added, one row", 1, least, NAN, 20000, "ns");
  struct result result = bench_compare(n, 9, fill_column, add_field);
  bench_print("migration: one f32 added, beyond that of one row", n, result.ours - least / n,
              result.floor, 1.5, "ratio");
}

/* ---- images --------------------------------------------------------------------------- */

static char *image;
static size_t image_size, image_at;
static size_t image_end;     /* of the image that is read */

static bool write_image(void *ud, const void *data, size_t size) {
  (void)ud;
  if (size > image_size - image_at) return false;
  memcpy(image + image_at, data, size);
  image_at += size;
  return true;
}

static bool read_image(void *ud, void *data, size_t size) {
  (void)ud;
  if (size > image_end - image_at) return false;
  memcpy(data, image + image_at, size);
  image_at += size;
  return true;
}

static struct sample save(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  image_at = 0;
  double start = bench_now();
  need_ok(ecs_save(setting.library.world, write_image, NULL, NULL));
  double seconds = now_of(&start);
  NEED(image_at > n * COLUMNS * sizeof(float));
  setting_close(&setting);
  return (struct sample){n, seconds, n};
}

static struct sample copy_out(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  double start = bench_now();
  for (uint32_t i = 0; i < COLUMNS; i++)
    memcpy(image + i * n * sizeof(float), setting.columns[i], n * sizeof(float));
  double seconds = now_of(&start);
  setting_close(&setting);
  return (struct sample){n, seconds, n};
}

static struct sample load(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  image_at = 0;
  need_ok(ecs_save(setting.library.world, write_image, NULL, NULL));
  image_end = image_at;
  image_at = 0;
  uint64_t digest = ecs_digest(setting.library.world);
  double start = bench_now();
  need_ok(ecs_load(setting.library.world, read_image, NULL, NULL));
  double seconds = now_of(&start);
  NEED(ecs_digest(setting.library.world) == digest);
  setting_close(&setting);
  return (struct sample){n, seconds, n};
}

static struct sample copy_in(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  double start = bench_now();
  float *columns[COLUMNS];
  for (uint32_t i = 0; i < COLUMNS; i++) {
    columns[i] = bench_resize(NULL, n * sizeof(float));
    memcpy(columns[i], image + i * n * sizeof(float), n * sizeof(float));
  }
  double seconds = now_of(&start);
  for (int i = 0; i < COLUMNS; i++) free(columns[i]);
  setting_close(&setting);
  return (struct sample){n, seconds, n};
}

static struct sample digest(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  double start = bench_now();
  uint64_t first = ecs_digest(setting.library.world);
  double seconds = now_of(&start);
  NEED(first == ecs_digest(setting.library.world));
  setting_close(&setting);
  return (struct sample){n, seconds, n};
}

/* ---- snapshots ------------------------------------------------------------------------ */

static struct sample snapshot(uint32_t n) {
  struct setting setting;
  setting_open(&setting, n);
  ecs_world *world = setting.library.world;
  uint64_t digest = ecs_digest(world);
  ecs_snapshot *kept;
  double start = bench_now();
  need_ok(ecs_snapshot_new(world, &kept));
  double seconds = now_of(&start);
  need_ok(ecs_spawn_many(world, 1, setting.library.both, 1, NULL));
  start = bench_now();
  need_ok(ecs_restore(kept));
  seconds += now_of(&start);
  NEED(ecs_digest(world) == digest);
  ecs_snapshot_free(kept);
  setting_close(&setting);
  return (struct sample){n, seconds, n};
}

int main(void) {
  const uint32_t n = 1000000;
  bench_begin();
  image_size = (size_t)n * (COLUMNS + 3) * sizeof(float);
  image = bench_resize(NULL, image_size);
  memset(image, 1, image_size);
  bench_migration(n);
  bench_row("save, against memcpy of the columns", n, 9, copy_out, save, 2);
  bench_row("load, against memcpy of the columns", n, 9, copy_in, load, 3);
  bench_row("digest, against memcpy of the columns", n, 9, copy_out, digest, 4);
  double least = 0;
  for (int i = 0; i < 15; i++) least = bench_best(least, snapshot(100000));
  bench_print("snapshot + restore: 2 ms in all", 100000, least, NAN, 20, "ns");
  free(image);
  return 0;
}
