/* Kernels against the fused loops of kernel_floor.c, in one process, interleaved, columns
** compared at the end. Prints workload, instruction set, rows, ns per row of both and the
** ratio floor / ours; then the fixed cost of a run and the cost of building. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "floor.h"
#include "kernel/build.h"

static void *allocate(void *ud, void *p, size_t osize, size_t nsize) {
  (void)ud;
  (void)osize;
  if (nsize == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, nsize);
}

static struct memory memory = {allocate, NULL, 0, 0};

#define BIN(op, x, y) build_binary(b, KO_##op, x, y)

static k_value uniform(struct builder *b, uint32_t i) {
  return build_convert(b, KT_F32, build_uniform(b, i, KT_F64));
}

static void build_move(struct builder *b) {
  uint32_t c[4];
  for (int i = 0; i < 4; i++) c[i] = build_column(b, KC_F32);
  for (int i = 0; i < 2; i++)
    build_store(b, c[i], BIN(ADD, build_load(b, c[i]),
                             BIN(MUL, build_load(b, c[i + 2]), uniform(b, 0))));
}

static void build_part(struct builder *b) {
  uint32_t c[5];
  for (int i = 0; i < 5; i++) c[i] = build_column(b, KC_F32);
  const k_value dt = uniform(b, 0), one = build_f32(b, 1.0f);
  k_value u = build_load(b, c[2]), v = BIN(SUB, build_load(b, c[3]), uniform(b, 1));
  k_value k = BIN(ADD, BIN(MUL, u, u), BIN(MUL, v, v));
  k = BIN(MUL, uniform(b, 2), build_unary(b, KO_SQRT, k));
  k = BIN(DIV, one, BIN(ADD, one, k));
  u = BIN(MUL, u, k);
  v = BIN(MUL, v, k);
  const k_value x = BIN(ADD, build_load(b, c[0]), BIN(MUL, u, dt));
  const k_value y = BIN(ADD, build_load(b, c[1]), BIN(MUL, v, dt));
  u = build_select(b, BIN(GT, x, uniform(b, 3)), build_unary(b, KO_NEG, u), u);
  v = build_select(b, BIN(LT, y, build_f32(b, 0.0f)), build_unary(b, KO_NEG, v), v);
  build_store(b, c[0], x);
  build_store(b, c[1], y);
  build_store(b, c[2], u);
  build_store(b, c[3], v);
  build_store(b, c[4], BIN(SUB, build_load(b, c[4]), dt));
}

/* if p > edge (or p < edge) then v = -v; p = edge end */
static void bounce(struct builder *b, k_op op, k_value edge, k_value *p, k_value *v) {
  const k_value out = build_binary(b, op, *p, edge);
  *v = build_select(b, out, build_unary(b, KO_NEG, *v), *v);
  *p = build_select(b, out, edge, *p);
}

static void build_seek(struct builder *b) {
  uint32_t c[4];
  for (int i = 0; i < 4; i++) c[i] = build_column(b, KC_F32);
  const k_value dt = uniform(b, 0), zero = build_f32(b, 0.0f);
  k_value x = build_load(b, c[0]), y = build_load(b, c[1]);
  k_value u = build_load(b, c[2]), v = build_load(b, c[3]);
  const k_value dx = BIN(SUB, uniform(b, 1), x), dy = BIN(SUB, uniform(b, 2), y);
  k_value s =
      BIN(ADD, BIN(ADD, BIN(MUL, dx, dx), BIN(MUL, dy, dy)), build_f32(b, 0.001f));
  s = BIN(DIV, uniform(b, 3), build_unary(b, KO_SQRT, s));
  u = BIN(ADD, u, BIN(MUL, BIN(MUL, dx, s), dt));
  v = BIN(ADD, v, BIN(MUL, BIN(MUL, dy, s), dt));
  const k_value q = BIN(ADD, BIN(MUL, u, u), BIN(MUL, v, v));
  const k_value fast = BIN(GT, q, uniform(b, 5));
  const k_value r = BIN(DIV, uniform(b, 4), build_unary(b, KO_SQRT, q));
  u = build_select(b, fast, BIN(MUL, u, r), u);
  v = build_select(b, fast, BIN(MUL, v, r), v);
  x = BIN(ADD, x, BIN(MUL, u, dt));
  y = BIN(ADD, y, BIN(MUL, v, dt));
  bounce(b, KO_GT, uniform(b, 6), &x, &u);
  bounce(b, KO_LT, zero, &x, &u);
  bounce(b, KO_GT, uniform(b, 7), &y, &v);
  bounce(b, KO_LT, zero, &y, &v);
  build_store(b, c[0], x);
  build_store(b, c[1], y);
  build_store(b, c[2], u);
  build_store(b, c[3], v);
}

typedef struct workload {
  const char *name;
  void (*build)(struct builder *b);
  int columns;
  double uniforms[8];
} workload;

static const double DT = 1.0 / 60;

static workload workloads[3] = {
  {"MOVE", build_move, 4, {0}},
  {"PART", build_part, 5, {0}},
  {"SEEK", build_seek, 4, {0}}
};

static struct program *make(const workload *w) {
  struct builder *b = builder_new(&memory);
  struct program *p = NULL;
  w->build(b);
  if (build_finish(b, &p) != K_OK) exit(1);
  builder_free(b);
  return p;
}

/* Time of this thread alone: others may run beside it. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t seed = 1;

static float chance(void) {
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) / 16777216.0f;
}

/* Two sets of the same columns, for the floor and for the kernel. */
static void fill(float **set, float **other, size_t n) {
  for (int c = 0; c < 5; c++)
    for (size_t i = 0; i < n; i++)
      other[c][i] = set[c][i] = c < 2   ? chance() * 1000.0f
                                : c < 4 ? chance() * 8.0f - 4.0f
                                        : 1e6f;
}

static uint32_t checksum(float **set, size_t n) {
  uint32_t sum = 2166136261u;
  for (int c = 0; c < 5; c++)
    for (size_t i = 0; i < n; i++) {
      uint32_t u;
      memcpy(&u, &set[c][i], sizeof u);
      sum = (sum ^ u) * 16777619u;
    }
  return sum;
}

static void allocate_set(float **set, size_t n) {
  for (int c = 0; c < 5; c++) {
    void *column = NULL;
    if (posix_memalign(&column, 64, (n * sizeof(float) + 127) / 64 * 64)) exit(1);
    set[c] = column;
  }
}

static void free_set(float **set) {
  for (int c = 0; c < 5; c++) free(set[c]);
}

static int compare_times(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return a < b ? -1 : a > b;
}

static const floor_fn *floors_of(k_isa isa) {
  return isa == K_AVX512 ? floors_avx512 : isa == K_AVX2 ? floors_avx2 : floors_sse2;
}

static double median(double *times, size_t count) {
  qsort(times, count, sizeof *times, compare_times);
  return times[count / 2];
}

enum { ROUNDS = 21 };

/* ns per row of each round, for the floor and for the kernel, and the one by the other. */
struct rounds {
  double floor[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
};

static void print_rounds(const char *name, k_isa isa, size_t n, struct rounds *rounds,
                         double target) {
  const double ratio = median(rounds->ratio, ROUNDS);
  printf("%s %-6s %9zu  floor %7.3f  ours %7.3f ns/row  ratio %.2f", name, isa_name(isa), n,
         median(rounds->floor, ROUNDS), median(rounds->ours, ROUNDS), ratio);
  if (target > 0) printf("  target %.2f %s", target, ratio >= target ? "met" : "MISSED");
}

static int measure(int which, k_isa isa, size_t n, double target) {
  const workload *w = &workloads[which];
  struct program *p = make(w);
  struct machine *m = machine_new(&memory, isa);
  float *ours[5], *theirs[5];
  void *columns[5];
  allocate_set(ours, n);
  allocate_set(theirs, n);
  for (int c = 0; c < 5; c++) columns[c] = ours[c];
  machine_reserve(m, p);
  k_run run = {0};
  run.rows = n;
  run.columns = columns;
  run.uniforms = (const k_scalar *)w->uniforms;
  k_failure failure;
  struct rounds rounds;
  const int reps = n >= 10000000 ? 1 : n >= 1000000 ? 8 : (int)(500000 / n);
  for (int round = -2; round < ROUNDS; round++) {
    fill(ours, theirs, n);  /* else speeds decay to denormals */
    const double t0 = now();
    for (int i = 0; i < reps; i++) floors_of(isa)[which](theirs, n, w->uniforms);
    const double t1 = now();
    for (int i = 0; i < reps; i++) machine_run(m, p, &run, &failure);
    const double t2 = now();
    if (round < 0) continue;
    rounds.floor[round] = (t1 - t0) / reps / (double)n * 1e9;
    rounds.ours[round] = (t2 - t1) / reps / (double)n * 1e9;
    rounds.ratio[round] = rounds.floor[round] / rounds.ours[round];
  }
  print_rounds(w->name, isa, n, &rounds, target);
  const int equal = checksum(ours, n) == checksum(theirs, n);
  printf("%s\n", equal ? "" : "  COLUMNS DIFFER");
  free_set(ours);
  free_set(theirs);
  machine_free(m);
  program_free(p);
  return equal;
}

/* ns for a run over few rows, and for building and checking. */
static void fixed_costs(int which, k_isa isa) {
  const workload *w = &workloads[which];
  struct program *p = make(w);
  struct machine *m = machine_new(&memory, isa);
  float data[5][64] = {{0}};
  void *columns[5];
  for (int c = 0; c < 5; c++) columns[c] = data[c];
  machine_reserve(m, p);
  k_run run = {0};
  run.columns = columns;
  run.uniforms = (const k_scalar *)w->uniforms;
  k_failure failure;
  enum { TIMES = 1000000 };
  for (size_t rows = 1; rows <= 16; rows *= 4) {
    run.rows = rows;
    const double t0 = now();
    for (int i = 0; i < TIMES; i++) machine_run(m, p, &run, &failure);
    printf("%s %-6s %9zu rows: %.1f ns a run\n", w->name, isa_name(isa), rows,
           (now() - t0) / TIMES * 1e9);
  }
  const double t0 = now();
  for (int i = 0; i < 20000; i++) program_free(make(w));
  const double t1 = now();
  for (int i = 0; i < 20000; i++) program_check(p);
  const double t2 = now();
  printf("%s %d instructions built and checked in %.2f us, checked in %.2f us\n", w->name,
         p->insn_count, (t1 - t0) / 20000 * 1e6, (t2 - t1) / 20000 * 1e6);
  machine_free(m);
  program_free(p);
}

static void set_uniforms(void) {
  const double g = 9.8, drag = 0.1, w = 1000, h = 1000, k = 30, m = 5;
  const double part[4] = {DT, g * DT, drag * DT, w};
  const double seek[8] = {DT, 500, 400, k, m, m * m, w, h};
  workloads[0].uniforms[0] = DT;
  memcpy(workloads[1].uniforms, part, sizeof part);
  memcpy(workloads[2].uniforms, seek, sizeof seek);
}

int main(int argc, char **argv) {
  static const double targets[3][K_ISAS] = {{.8, .8, .8}, {0, .5, .42}, {0, .6, 0}};
  static const size_t rows[] = {10000, 1000000, 10000000};
  int equal = 1;
  set_uniforms();
  const size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
  for (int isa = K_BASE; isa < K_ISAS; isa++) {
    if (!isa_supported((k_isa)isa)) continue;
    for (int which = 0; which < 3; which++)
      for (int r = 0; r < 3; r++) {
        const double target = which > 0 ? targets[which][isa]
                              : r == 0  ? .8
                              : r == 1  ? .9
                                        : .95;
        if (rows[r] <= most && !measure(which, (k_isa)isa, rows[r], target)) equal = 0;
      }
    for (int which = 0; which < 3; which++) fixed_costs(which, (k_isa)isa);
  }
  return !equal;
}
