/* What the benchmarks in C share: time, memory, seeded order, and comparing a workload with
** its floor. A workload is a function that prepares, times the part that counts by itself,
** and returns a checksum of what it made; floor and library must agree on it.
**
** Results go to standard output, one a line, fields separated by tabs, for run.lua:
**   workload, N, ns per row, ns per row of the floor (- for none), target, what kind it is
** where the kind is `ratio` (ns over the floor's), `ns`, `bytes` or `note` (no target). */
#ifndef ECS_BENCH_H
#define ECS_BENCH_H

#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200112L
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "ecs.h"

/* One run: the rows it worked on, the seconds that took, and what came out. */
struct sample {
  double rows;
  double seconds;
  double checksum;
};

typedef struct sample (*workload)(uint32_t n);

struct result {
  double ours;    /* ns per row, the best of the runs */
  double floor;
};

static inline void bench_fail(const char *what) {
  fprintf(stderr, "bench: %s\n", what);
  exit(1);
}

#define NEED(condition) ((condition) ? (void)0 : bench_fail(#condition))

/* Seconds of processor time, so that other processes count little. */
static inline double bench_now(void) {
#if defined(CLOCK_PROCESS_CPUTIME_ID)
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
#else
  return (double)clock() / CLOCKS_PER_SEC;
#endif
}

/* Memory is kept by the process between runs: what is compared is the code, not how the
** system hands out pages. */
static inline void bench_begin(void) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2000 << 20);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
  setvbuf(stdout, NULL, _IOLBF, 0);
}

/* The allocator of both sides. */
static inline void *bench_alloc(void *ud, void *ptr, size_t osize, size_t nsize) {
  (void)ud;
  (void)osize;
  if (nsize) return realloc(ptr, nsize);
  free(ptr);
  return NULL;
}

static inline void *bench_resize(void *ptr, size_t size) {
  void *moved = bench_alloc(NULL, ptr, 0, size);
  NEED(moved);
  return moved;
}

static inline uint32_t bench_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

/* The same order every time. */
static inline void bench_shuffle(ecs_id *ids, uint32_t n) {
  uint64_t state = 42;
  for (uint32_t i = n; i > 1; i--) {
    uint32_t other = bench_random(&state) % i;
    ecs_id id = ids[i - 1];
    ids[i - 1] = ids[other];
    ids[other] = id;
  }
}

static inline double bench_best(double best, struct sample sample) {
  double ns = sample.seconds * 1e9 / sample.rows;
  return best == 0 || ns < best ? ns : best;
}

/* Runs floor and library in turns, `times` each. */
static inline struct result bench_compare(uint32_t n, int times, workload floor,
                                          workload ours) {
  struct result result = {0, 0};
  for (int i = 0; i < times; i++) {
    struct sample a = floor(n), b = ours(n);
    if (a.checksum != b.checksum || isnan(a.checksum)) {
      fprintf(stderr, "bench: checksums differ: floor %.17g, library %.17g\n", a.checksum,
              b.checksum);
      exit(1);
    }
    result.floor = bench_best(result.floor, a);
    result.ours = bench_best(result.ours, b);
  }
  return result;
}

static inline void bench_print(const char *name, uint32_t n, double ours, double floor,
                               double target, const char *kind) {
  printf("%s\t%u\t%.17g\t%.17g\t%.17g\t%s\n", name, (unsigned)n, ours, floor, target, kind);
}

/* A row of the table: the ratio of two times. */
static inline void bench_row(const char *name, uint32_t n, int times, workload floor,
                             workload ours, double target) {
  struct result result = bench_compare(n, times, floor, ours);
  bench_print(name, n, result.ours, result.floor, target, "ratio");
}

#endif
