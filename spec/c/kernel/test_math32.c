/* sin, cos, exp and log of f32 are within 2 ulp (measured: see the output) of the exact
** value, taken from libm in f64, and the loops of every instruction set give the very
** bits of k_sin, k_cos, k_exp and k_log. Every 499th float by default; argument: the
** stride (1: all). */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

typedef struct function {
  const char *name;
  k_op op;
  float (*ours)(float);
  double (*exact)(double);
  double worst;
  float at;
} function;

static function functions[] = {
  {"sin", KO_SIN, k_sin, sin, 0, 0},
  {"cos", KO_COS, k_cos, cos, 0, 0},
  {"exp", KO_EXP, k_exp, exp, 0, 0},
  {"log", KO_LOG, k_log, log, 0, 0}
};

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The distance in units of the last place of an f32 near `exact`. */
static double ulps(float got, double exact) {
  if (isnan(exact)) return isnan(got) ? 0.0 : INFINITY;
  if (isinf(exact)) return (double)got == exact ? 0.0 : INFINITY;
  if (isinf(got)) {  /* right when the exact value rounds to it */
    return isinf((float)exact) && (got > 0) == (exact > 0) ? 0.0 : INFINITY;
  }
  int exponent;
  frexp(exact, &exponent);
  if (exact == 0.0 || exponent < -125) exponent = -125;
  return fabs((double)got - exact) / ldexp(1.0, exponent - 24);
}

enum { CHUNK = 4096 };

static float in[CHUNK], out[CHUNK];

static struct program *make(k_op op) {
  struct builder *b = builder_new(&test_memory);
  const uint32_t x = build_column(b, KC_F32), y = build_column(b, KC_F32);
  build_store(b, y, build_unary(b, op, build_load(b, x)));
  return finish_build(b);
}

/* n floats from `in` through the loops of each instruction set. */
static void try_chunk(function *f, const struct program *p, struct machine *const *machines,
                      size_t n) {
  for (size_t i = 0; i < n; i++) {
    const double error = ulps(f->ours(in[i]), f->exact((double)in[i]));
    if (error > f->worst) {
      f->worst = error;
      f->at = in[i];
    }
  }
  void *columns[2] = {in, out};
  k_run run;
  memset(&run, 0, sizeof run);
  run.rows = n;
  run.columns = columns;
  for (int isa = 0; isa < K_ISAS; isa++) {
    if (machines[isa] == NULL) continue;
    k_failure failure;
    CHECK(machine_run(machines[isa], p, &run, &failure) == K_OK);
    for (size_t i = 0; i < n; i++)
      if (!equal(of_f32(out[i]), of_f32(f->ours(in[i])))) {
        failures++;
        fprintf(stderr, "%s(%a) differs on %s\n", f->name, (double)in[i],
                isa_name((k_isa)isa));
        return;
      }
  }
}

static void try_function(function *f, uint32_t stride) {
  struct machine *machines[K_ISAS] = {NULL};
  struct program *p = make(f->op);
  for (int isa = 0; isa < K_ISAS; isa++) {
    if (!isa_supported((k_isa)isa)) continue;
    machines[isa] = machine_new(&test_memory, (k_isa)isa);
    CHECK(machine_reserve(machines[isa], p) == K_OK);
  }
  size_t n = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += stride) {
    in[n++] = float_of((uint32_t)bits);
    if (n < CHUNK) continue;
    try_chunk(f, p, machines, n);
    n = 0;
  }
  if (n > 0) try_chunk(f, p, machines, n);
  for (int i = 0; i < COUNT(special_reals); i++) in[i] = (float)special_reals[i];
  try_chunk(f, p, machines, COUNT(special_reals));
  for (int isa = 0; isa < K_ISAS; isa++) machine_free(machines[isa]);
  program_free(p);
  printf("%s: at most %.4f ulp, at %a\n", f->name, f->worst, (double)f->at);
  CHECK(f->worst <= 2.0);
}

int main(int argc, char **argv) {
  const char *scale = getenv("ECS_SPEC_SCALE");
  const uint32_t usual = scale && strcmp(scale, "small") == 0 ? 4999 : 499;
  const uint32_t stride = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : usual;
  for (int i = 0; i < COUNT(functions); i++) try_function(&functions[i], stride);
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
