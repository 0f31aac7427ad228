/* ecs.math: within 1 ulp of long double, where that is wider, and of known results that are hard to
** come to; the special values of C; the same bits from the loops of every instruction set, and on
** every machine: a digest over many arguments, which portable_spec.lua has, too. Argument: how
** many times as many random arguments. */
#define _POSIX_C_SOURCE 200112L
#include <float.h>

#include "kernel_test.h"

typedef struct portable {
  const char *name;
  k_op op;
  double (*one)(double);
  double (*two)(double, double);
  long double (*exact)(long double);
  long double (*exact_two)(long double, long double);
  uint64_t digest;
  double worst, at[2];
} portable;

static portable functions[] = {
  {"acos", KO_OWN_ACOS, portable_acos, NULL, acosl, NULL,
   0x642cd3642095f5da, 0, {0}},
  {"asin", KO_OWN_ASIN, portable_asin, NULL, asinl, NULL,
   0x5654cd8c99e5ff53, 0, {0}},
  {"atan", KO_OWN_ATAN, NULL, portable_atan, NULL, atan2l,
   0xdaec84cb95984430, 0, {0}},
  {"cos", KO_OWN_COS, portable_cos, NULL, cosl, NULL,
   0x7f1080ea5357a500, 0, {0}},
  {"exp", KO_OWN_EXP, portable_exp, NULL, expl, NULL,
   0x438d7808a1cbe6d0, 0, {0}},
  {"log", KO_OWN_LOG, portable_log, NULL, logl, NULL,
   0xc9ab0db819693cf7, 0, {0}},
  {"log10", KO_OWN_LOG10, portable_log10, NULL, log10l, NULL,
   0x0af4df8ffcf79735, 0, {0}},
  {"log2", KO_OWN_LOG2, portable_log2, NULL, log2l, NULL,
   0x6759cb9d1468fd4f, 0, {0}},
  {"mod", KO_OWN_MOD, NULL, portable_mod, NULL, fmodl,
   0x220baabaa1c94c4c, 0, {0}},
  {"pow", KO_OWN_POW, NULL, portable_pow, NULL, powl,
   0x87a20040ac866205, 0, {0}},
  {"sin", KO_OWN_SIN, portable_sin, NULL, sinl, NULL,
   0x3210cb94319226fd, 0, {0}},
  {"tan", KO_OWN_TAN, portable_tan, NULL, tanl, NULL,
   0x42b2f7fb3459c1b1, 0, {0}}
};

static uint64_t bits_of_f64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static double f64_of_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static double call(const portable *f, double x, double y) {
  return f->one ? f->one(x) : f->two(x, y);
}

/* ---- accuracy ---- */

/* Not under valgrind, and not on every machine. */
static int is_wide(void) {
  volatile long double one = 1, little = 0x1p-60L;
  return LDBL_MANT_DIG >= 64 && one + little != one;
}

/* The distance in units of the last place of an f64 near `exact`. */
static double ulps(double got, long double exact) {
  if (isnan(exact)) return isnan(got) ? 0.0 : INFINITY;
  if (isinf(got)) return got == (double)exact ? 0.0 : INFINITY;
  if (isinf((double)exact)) return exact > 0 && got == DBL_MAX ? 1.0 : INFINITY;
  int exponent = 0;
  frexpl(exact, &exponent);
  if (exact == 0 || exponent < -1021) exponent = -1021;
  return (double)(fabsl((long double)got - exact) / ldexpl(1, exponent - 53));
}

static void measure(portable *f, double x, double y) {
  const long double exact = f->one ? f->exact(x) : f->exact_two(x, y);
  const double error = ulps(call(f, x, y), exact);
  if (error <= f->worst) return;
  f->worst = error;
  f->at[0] = x;
  f->at[1] = y;
}

/* ---- arguments ---- */

enum { BLOCK = 1024, ARGUMENTS = 4 * BLOCK };

static double argument(uint64_t least, uint64_t spread) {
  const uint64_t r = random_bits(), bits = random_bits();
  if (spread == 0) return f64_of_bits(bits);
  return f64_of_bits((bits & 0x800fffffffffffff) | (1023 - least + r % spread) << 52);
}

/* By blocks: near 1; of many magnitudes; any. Those of pow near 1 are positive. */
static double argument_of(const portable *f, int i) {
  const int kind = i / BLOCK % 4;
  const double x = kind < 2 ? argument(20, 24) : kind == 2 ? argument(60, 100) : argument(0, 0);
  return f->op == KO_OWN_POW && kind < 2 ? fabs(x) : x;
}

static double in[2][ARGUMENTS], out[ARGUMENTS];

static void draw(const portable *f) {
  for (int i = 0; i < ARGUMENTS; i++) {
    in[0][i] = argument_of(f, i);
    in[1][i] = argument_of(f, i);
  }
}

static void try_accuracy(portable *f, int times) {
  if (!is_wide()) {
    printf("%s: long double is not wide enough here\n", f->name);
    return;
  }
  for (; times > 0; times--) {
    draw(f);
    for (int i = 0; i < ARGUMENTS; i++) measure(f, in[0][i], in[1][i]);
  }
  printf("%s: at most %.4f ulp, at %a, %a\n", f->name, f->worst, f->at[0], f->at[1]);
  CHECK(f->worst <= (f->op == KO_OWN_MOD ? 0.0 : 1.0));
}

/* ---- known results ---- */

/* The f64 nearest to the exact result, computed with 2,400 bits. */
static const struct {
  const char *name;
  double x, y, result;
} hard[] = {
  {"acos", 0x1.fffffffffffffp-1, 0, 0x1p-26},
  {"acos", -0x1.fffffffffffffp-1, 0, 0x1.921fb52442d18p+1},
  {"acos", 0x1p-60, 0, 0x1.921fb54442d18p+0}, {"acos", 0x1p-1, 0, 0x1.0c152382d7366p+0},
  {"acos", -0x1p-1, 0, 0x1.0c152382d7366p+1},
  {"acos", 0x1.fffffffffffffp-2, 0, 0x1.0c152382d7366p+0},
  {"acos", -0x1.35bbf83aadac6p-1, 0, 0x1.1c395012696aep+1},
  {"acos", -0x1.1841d4c4bebacp-1, 0, 0x1.1333f785b4691p+1},
  {"acos", 0x1.49bc75e6e762p-1, 0, 0x1.bdfb94ebbfb8fp-1},
  {"asin", 0x1.fffffffffffffp-1, 0, 0x1.921fb50442d18p+0},
  {"asin", 0x0.0000000000001p-1022, 0, 0x0.0000000000001p-1022}, {"asin", 0x1p-27, 0, 0x1p-27},
  {"asin", 0x1p-1, 0, 0x1.0c152382d7366p-1},
  {"asin", 0x1.fffffffffffffp-2, 0, 0x1.0c152382d7365p-1},
  {"asin", -0x1.f6755357f0bep-2, 0, -0x1.06972fbda65f7p-1},
  {"asin", 0x1.ef7600d23419p-4, 0, 0x1.f0ad5eb71ab4ap-4},
  {"asin", -0x1.382eff3dae944p-2, 0, -0x1.3d3bd488bbca5p-2},
  {"sin", 0x1.fffffffffffffp+1023, 0, 0x1.452fc98b34e97p-8},
  {"sin", 0x1p+1023, 0, 0x1.205248cbdb76p-1},
  {"sin", 0x1.0f0cf064dd592p+73, 0, -0x1.b453ab76bf397p-1},
  {"sin", 0x1.6ac5b262ca1ffp+849, 0, 0x1p+0}, {"sin", 0x1.921fb54442d18p+0, 0, 0x1p+0},
  {"sin", 0x1.921fb54442d18p+1, 0, 0x1.1a62633145c07p-53},
  {"sin", 0x1.921fb54442d18p+20, 0, -0x1.1a62633145c07p-34},
  {"sin", 0x1p+20, 0, 0x1.526ccb2fc8656p-2},
  {"sin", 0x1.fffffffffffffp+19, 0, 0x1.526ccb2de52a8p-2},
  {"sin", 0x1.2d97c7f3321d2p+1, 0, 0x1.6a09e667f3bcdp-1},
  {"sin", -0x1.d12ed0af1a27fp+29, 0, -0x1.9f6a99720c56fp-1}, {"sin", 0x1p-30, 0, 0x1p-30},
  {"sin", 0x1.921fb54442d18p-1, 0, 0x1.6a09e667f3bccp-1},
  {"sin", -0x1.45461edee291p+0, 0, -0x1.e91a4dd2e0d2dp-1},
  {"sin", 0x1.331226a8c82a4p+2, 0, -0x1.fe2027ee47714p-1},
  {"sin", -0x1.0be20122ef56ap+2, 0, 0x1.ba9a979524e07p-1},
  {"cos", 0x1.fffffffffffffp+1023, 0, -0x1.fffe62ecfab75p-1},
  {"cos", 0x1p+1023, 0, -0x1.a719f26c232bfp-1},
  {"cos", 0x1.0f0cf064dd592p+73, 0, 0x1.0be2cef01c8f4p-1},
  {"cos", 0x1.6ac5b262ca1ffp+849, 0, -0x1.14ae72e6ba22fp-61},
  {"cos", 0x1.921fb54442d18p+0, 0, 0x1.1a62633145c07p-54},
  {"cos", 0x1.921fb54442d18p+1, 0, -0x1p+0}, {"cos", 0x1.921fb54442d18p+20, 0, 0x1p+0},
  {"cos", 0x1p+20, 0, 0x1.e33ada92fe2aep-1},
  {"cos", 0x1.fffffffffffffp+19, 0, 0x1.e33ada9352c61p-1},
  {"cos", 0x1.2d97c7f3321d2p+1, 0, -0x1.6a09e667f3bccp-1},
  {"cos", -0x1.d12ed0af1a27fp+29, 0, -0x1.2b49afe79a60cp-1}, {"cos", 0x1p-30, 0, 0x1p+0},
  {"cos", 0x1.921fb54442d18p-1, 0, 0x1.6a09e667f3bcdp-1},
  {"cos", 0x1.5b3f5f591f7d6p+2, 0, 0x1.4f0a0f29f2f16p-1},
  {"cos", -0x1.fc91390e29c85p+1, 0, -0x1.58ef7e5456469p-1},
  {"cos", -0x1.1ce3aebe6746ep+2, 0, -0x1.083b7bb351b87p-2},
  {"tan", 0x1.fffffffffffffp+1023, 0, -0x1.4530cfe729484p-8},
  {"tan", 0x1p+1023, 0, -0x1.5ce6b4c0d02a3p-1},
  {"tan", 0x1.0f0cf064dd592p+73, 0, -0x1.a0f79c1b6b257p+0},
  {"tan", 0x1.6ac5b262ca1ffp+849, 0, -0x1.d9ba9a7975636p+60},
  {"tan", 0x1.921fb54442d18p+0, 0, 0x1.d02967c31cdb5p+53},
  {"tan", 0x1.921fb54442d18p+1, 0, -0x1.1a62633145c07p-53},
  {"tan", 0x1.921fb54442d18p+20, 0, -0x1.1a62633145c07p-34},
  {"tan", 0x1p+20, 0, 0x1.6692e5779206fp-2},
  {"tan", 0x1.fffffffffffffp+19, 0, 0x1.6692e575533f1p-2},
  {"tan", 0x1.2d97c7f3321d2p+1, 0, -0x1.0000000000001p+0},
  {"tan", -0x1.d12ed0af1a27fp+29, 0, 0x1.635509735fdd9p+0}, {"tan", 0x1p-30, 0, 0x1p-30},
  {"tan", 0x1.921fb54442d18p-1, 0, 0x1.fffffffffffffp-1},
  {"tan", 0x1.8f9fa3146c28p+0, 0, 0x1.998aa0c2b5c7cp+6},
  {"tan", 0x1.3505c0e0ba14p+1, 0, -0x1.c7c3aa3c4a93bp-1},
  {"tan", 0x1.7a7e4159eac76p+2, 0, -0x1.8c43a41a26a2ep-2},
  {"sin", 0x0.0000000000001p-1022, 0, 0x0.0000000000001p-1022},
  {"tan", -0x0.0000000000001p-1022, 0, -0x0.0000000000001p-1022},
  {"exp", 0x1.62e42fefa39efp+9, 0, 0x1.fffffffffff2ap+1023},
  {"exp", -0x1.74385446d71c3p+9, 0, 0x0.0000000000001p-1022},
  {"exp", -0x1.6232bdd7abcd2p+9, 0, 0x1.000000000007cp-1022},
  {"exp", -0x1.6232bdd7abcd3p+9, 0, 0x0.ffffffffffe7cp-1022}, {"exp", 0x1p-54, 0, 0x1p+0},
  {"exp", 0x1p+0, 0, 0x1.5bf0a8b145769p+1}, {"exp", -0x1p+0, 0, 0x1.78b56362cef38p-2},
  {"exp", 0x1.62e42fefa39efp-2, 0, 0x1.6a09e667f3bccp+0},
  {"exp", -0x1.72p+9, 0, 0x0.0000000000055p-1022},
  {"exp", 0x1.c57cd69cc6ab8p+3, 0, 0x1.5c878d968f93p+20},
  {"exp", 0x1.590bbbaefc86p-1, 0, 0x1.f63f9ff86409p+0},
  {"exp", 0x1.a37a6f7966b72p+4, 0, 0x1.c51acdc86706ap+37},
  {"exp", -0x1.04da507c79e4fp+4, 0, 0x1.64e243a669d1fp-24},
  {"log", 0x0.0000000000001p-1022, 0, -0x1.74385446d71c3p+9},
  {"log", 0x1p-1022, 0, -0x1.6232bdd7abcd2p+9},
  {"log", 0x0.fffffffffffffp-1022, 0, -0x1.6232bdd7abcd2p+9},
  {"log", 0x1.fffffffffffffp+1023, 0, 0x1.62e42fefa39efp+9},
  {"log", 0x1.fffffffffffffp-1, 0, -0x1p-53},
  {"log", 0x1.0000000000001p+0, 0, 0x1.fffffffffffffp-53},
  {"log", 0x1.6a09e667f3bcdp+0, 0, 0x1.62e42fefa39fp-2},
  {"log", 0x1.6a09e667f3bccp-1, 0, -0x1.62e42fefa39f1p-2},
  {"log", 0x1.4p+3, 0, 0x1.26bb1bbb55516p+1}, {"log", 0x1.8p+1, 0, 0x1.193ea7aad030bp+0},
  {"log", 0x1.00bdc4d1d262p-1, 0, -0x1.616932b2d5b0dp-1},
  {"log", 0x1.0423b809c8218p+0, 0, 0x1.06cf820f66519p-6},
  {"log", 0x1.6ee6cfe14a364p+1, 0, 0x1.0d9591085052ap+0},
  {"log10", 0x0.0000000000001p-1022, 0, -0x1.434e6420f4374p+8},
  {"log10", 0x1p-1022, 0, -0x1.33a7146f72a42p+8},
  {"log10", 0x0.fffffffffffffp-1022, 0, -0x1.33a7146f72a42p+8},
  {"log10", 0x1.fffffffffffffp+1023, 0, 0x1.34413509f79ffp+8},
  {"log10", 0x1.fffffffffffffp-1, 0, -0x1.bcb7b1526e50fp-55},
  {"log10", 0x1.0000000000001p+0, 0, 0x1.bcb7b1526e50dp-54},
  {"log10", 0x1.6a09e667f3bcdp+0, 0, 0x1.34413509f7ap-3},
  {"log10", 0x1.6a09e667f3bccp-1, 0, -0x1.34413509f7ap-3}, {"log10", 0x1.4p+3, 0, 0x1p+0},
  {"log10", 0x1.8p+1, 0, 0x1.e8927964fd5fdp-2},
  {"log10", 0x1.4956f43aeb467p+1, 0, 0x1.a448d41800dfcp-2},
  {"log10", 0x1.2399b53e409bep+1, 0, 0x1.6e28f954a85e6p-2},
  {"log10", 0x1.7800e369e6d4cp-1, 0, -0x1.12978b085532bp-3},
  {"log2", 0x0.0000000000001p-1022, 0, -0x1.0c8p+10}, {"log2", 0x1p-1022, 0, -0x1.ffp+9},
  {"log2", 0x0.fffffffffffffp-1022, 0, -0x1.ffp+9},
  {"log2", 0x1.fffffffffffffp+1023, 0, 0x1p+10},
  {"log2", 0x1.fffffffffffffp-1, 0, -0x1.71547652b82fep-53},
  {"log2", 0x1.0000000000001p+0, 0, 0x1.71547652b82fdp-52},
  {"log2", 0x1.6a09e667f3bcdp+0, 0, 0x1.0000000000001p-1},
  {"log2", 0x1.6a09e667f3bccp-1, 0, -0x1.0000000000001p-1},
  {"log2", 0x1.4p+3, 0, 0x1.a934f0979a371p+1}, {"log2", 0x1.8p+1, 0, 0x1.95c01a39fbd68p+0},
  {"log2", 0x1.1433055ad02aep+1, 0, 0x1.1c0c8205ab6cbp+0},
  {"log2", 0x1.3942684ed0513p+1, 0, 0x1.4a8d0058f96aap+0},
  {"log2", 0x1.7a5c140c73088p+0, 0, 0x1.2092160eae8fap-1},
  {"atan", 0x1p+0, 0x1p+0, 0x1.921fb54442d18p-1},
  {"atan", 0x1p+0, -0x1p+0, 0x1.2d97c7f3321d2p+1},
  {"atan", -0x1p+0, -0x1p+0, -0x1.2d97c7f3321d2p+1},
  {"atan", 0x0.0000000000001p-1022, 0x1p+0, 0x0.0000000000001p-1022},
  {"atan", 0x0.0000000000001p-1022, 0x0.0000000000001p-1022, 0x1.921fb54442d18p-1},
  {"atan", 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, 0x1.921fb54442d18p-1},
  {"atan", 0x0.0000000000001p-1022, 0x0.0000000000003p-1022, 0x1.4978fa3269ee1p-2},
  {"atan", 0x1p-1000, -0x1p+1000, 0x1.921fb54442d18p+1},
  {"atan", 0x1p+1000, 0x1p-1000, 0x1.921fb54442d18p+0},
  {"atan", 0x1.a827999fcef32p-2, 0x1p+0, 0x1.921fb54442d18p-2},
  {"atan", 0x1.3504f333f9de6p+1, 0x1p+0, 0x1.2d97c7f3321d2p+0},
  {"atan", 0x0.012688b70e62bp-1022, 0x1.8p+1, 0x0.00622d925a20ep-1022},
  {"atan", 0x1.8p+1, 0x1.1ccf385ebc8ap+1023, 0x1.59283684dba76p-1022},
  {"atan", 0x1.8p+401, 0x1.1p+400, 0x1.3afc6ff5a51adp+0},
  {"atan", 0x1.7p-401, -0x1.9p-400, 0x1.5af027608c512p+1},
  {"pow", 0x1p+1, 0x1p-1, 0x1.6a09e667f3bcdp+0},
  {"pow", 0x1.4p+3, -0x1.4p+2, 0x1.4f8b588e368f1p-17},
  {"pow", 0x1.4p+3, 0x1.34p+8, 0x1.1ccf385ebc8ap+1023},
  {"pow", 0x1.999999999999ap-4, 0x1.34p+8, 0x0.730d67819e8f5p-1022},
  {"pow", 0x1.fffffffffffffp-1, 0x1p+60, 0x1.42eb9f39afae3p-185},
  {"pow", 0x1.0000000000001p+0, 0x1.62e42fefa39efp+61, 0x1.ffffffffffc64p+1023},
  {"pow", 0x1.0000000000001p+0, -0x1.62e42fefa39efp+61, 0x0.4000000000073p-1022},
  {"pow", 0x0.0000000000001p-1022, -0x1p-1, 0x1p+537},
  {"pow", 0x0.0000000000001p-1022, 0x1.ff7ced916872bp-1, 0x0.0000000000002p-1022},
  {"pow", 0x1.fffffffffffffp+1023, 0x1p-1, 0x1.fffffffffffffp+511},
  {"pow", -0x1p+3, 0x1.8p+1, -0x1p+9}, {"pow", -0x1p+1, -0x1.0c8p+10, 0x0.0000000000001p-1022},
  {"pow", 0x1.8p+0, 0x1.8p+0, 0x1.d64d51e0db1c6p+0},
  {"pow", 0x1.3988e1409212ep+0, 0x1.5e4p+9, 0x1.d8279ba058d9ep+204},
  {"pow", 0x1.3333333333333p-2, -0x1.6666666666666p-1, 0x1.295216ea4f6c2p+1},
  {"pow", 0x1.cp+2, -0x1.7c4cccccccccdp+8, 0x0.0000000000052p-1022},
  {"mod", 0x1.fffffffffffffp+1023, 0x1.8p+1, 0x1p+1},
  {"mod", 0x1.fffffffffffffp+1023, 0x0.0000000000001p-1022, 0x0p+0},
  {"mod", 0x1.8p+1023, 0x0.0000000000007p-1022, 0x0.0000000000005p-1022},
  {"mod", 0x1.6p+2, -0x1p+1, 0x1.8p+0}, {"mod", -0x1.6p+2, 0x1p+1, -0x1.8p+0},
  {"mod", 0x1.0f0cf064dd592p+73, 0x1.6666666666666p-1, 0x1.4163d053ab2bp-3},
  {"mod", 0x1.23456789abcdep+21, 0x1.fffffffffffffp-1, 0x1.e26af37a468acp-1},
  {"mod", 0x1.23456789abcdep+22, 0x1.fffffffffffffp-1, 0x1.c4d5e6f48d159p-1},
  {"mod", 0x0.0000000000016p-1022, 0x0.0000000000003p-1022, 0x0.0000000000001p-1022},
  {"mod", 0x1.7e43c8800759cp+996, 0x1.56e1fc2f8f359p-997, 0x1.4f722a6f79f9cp-998}
};

static const portable *function_named(const char *name) {
  for (int i = 0; i < COUNT(functions); i++)
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  abort();
}

static void complain(const portable *f, double x, double y, double got, double want) {
  failures++;
  fprintf(stderr, "%s(%a, %a) is %a, and not %a\n", f->name, x, y, got, want);
}

static void try_hard(void) {
  for (int i = 0; i < COUNT(hard); i++) {
    const portable *f = function_named(hard[i].name);
    const double got = call(f, hard[i].x, hard[i].y), want = hard[i].result;
    const int64_t apart = (int64_t)(bits_of_f64(got) - bits_of_f64(want));
    if (apart > 1 || apart < -1 || (f->op == KO_OWN_MOD && apart != 0))
      complain(f, hard[i].x, hard[i].y, got, want);
  }
}

/* Where C names the result: that of libm, to the bit, but that all NaNs are one. */
static void try_special(const portable *f, double (*libm)(double),
                        double (*libm_two)(double, double)) {
  static const double values[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 2.0, -2.0, 3.0,
                                  -3.0, 0.5, -0.5, 0x1p53, 0x1p63, 0x1p64, 1e300, -1e300, 5e-324,
                                  -5e-324, 1.5, -1.5, 0x1.fffffffffffffp+52,
                                  -0x1.fffffffffffffp+52};
  for (int i = 0; i < COUNT(values); i++)
    for (int j = 0; j < (f->one ? 1 : COUNT(values)); j++) {
      const double x = values[i], y = values[j], got = call(f, x, y);
      const double want = f->one ? libm(x) : libm_two(x, y);
      const int64_t apart = (int64_t)(bits_of_f64(got) - bits_of_f64(want));
      const int same = got == want && signbit(got) == signbit(want);
      const int nan = isnan(want) && bits_of_f64(got) == 0x7ff8000000000000;
      const int plain = isfinite(got) && got != 0.0 && apart >= -1 && apart <= 1;
      if (!same && !nan && !plain) complain(f, x, y, got, want);
    }
}

static void try_specials(void) {
  try_special(function_named("acos"), acos, NULL);
  try_special(function_named("asin"), asin, NULL);
  try_special(function_named("atan"), NULL, atan2);
  try_special(function_named("cos"), cos, NULL);
  try_special(function_named("exp"), exp, NULL);
  try_special(function_named("log"), log, NULL);
  try_special(function_named("log10"), log10, NULL);
  try_special(function_named("log2"), log2, NULL);
  try_special(function_named("mod"), NULL, fmod);
  try_special(function_named("pow"), NULL, pow);
  try_special(function_named("sin"), sin, NULL);
  try_special(function_named("tan"), tan, NULL);
  for (int e = -1074; e < 1024; e++) CHECK(portable_log2(ldexp(1, e)) == e);
  double ten = 1;
  for (int e = 0; e <= 22; e++, ten *= 10) CHECK(portable_log10(ten) == e);
}

/* ---- the same bits ---- */

static struct program *make(const portable *f) {
  struct builder *b = builder_new(&test_memory);
  const uint32_t x = build_column(b, KC_F64), y = build_column(b, KC_F64);
  const uint32_t z = build_column(b, KC_F64);
  const k_value a = build_load(b, x), c = build_load(b, y);
  build_store(b, z, f->one ? build_unary(b, f->op, a) : build_binary(b, f->op, a, c));
  struct program *p = NULL;
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  return p;
}

static void try_loops(const portable *f, const struct program *p) {
  void *columns[3] = {in[0], in[1], out};
  k_run run;
  memset(&run, 0, sizeof run);
  run.rows = ARGUMENTS;
  run.columns = columns;
  for (int isa = 0; isa < K_ISAS; isa++) {
    if (!isa_supported((k_isa)isa)) continue;
    struct machine *m = machine_new(&test_memory, (k_isa)isa);
    CHECK(machine_reserve(m, p) == K_OK);
    k_failure failure;
    CHECK(machine_run(m, p, &run, &failure) == K_OK);
    for (int i = 0; i < ARGUMENTS; i++) {
      const double want = call(f, in[0][i], in[1][i]);
      if (bits_of_f64(out[i]) != bits_of_f64(want)) complain(f, in[0][i], in[1][i], out[i], want);
    }
    machine_free(m);
  }
}

static void try_digest(const portable *f) {
  random_state = 1;
  draw(f);
  uint64_t digest = 0xcbf29ce484222325;
  for (int i = 0; i < ARGUMENTS; i++) {
    digest = (digest ^ bits_of_f64(call(f, in[0][i], in[1][i]))) * 0x100000001b3;
    digest ^= digest >> 32;
  }
  if (CHECK(digest == f->digest)) return;
  fprintf(stderr, "%s: 0x%08x%08x\n", f->name, (unsigned)(digest >> 32), (unsigned)digest);
}

int main(int argc, char **argv) {
  const char *scale = getenv("ECS_SPEC_SCALE");
  const int usual = scale && strcmp(scale, "small") == 0 ? 1 : 10;
  const int times = argc > 1 ? atoi(argv[1]) : usual;
  for (int i = 0; i < COUNT(functions); i++) {
    struct program *p = make(&functions[i]);
    try_digest(&functions[i]);
    try_loops(&functions[i], p);
    try_accuracy(&functions[i], times);
    try_loops(&functions[i], p);
    program_free(p);
  }
  try_hard();
  try_specials();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
