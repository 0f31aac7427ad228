#include "kernel/random.h"

#include "kernel/vector.h"
#include "kernel/math32.h"
#include "kernel/philox.h"

int64_t k_random(int64_t seed, int64_t tick, int64_t entity, int64_t call) {
  return philox((uint64_t)entity, (uint64_t)tick, (uint64_t)call,
                (uint64_t)seed & 0xffffffff, (uint64_t)seed >> 32);
}

double k_random_unit(int64_t bits) {
  return unit_of(bits);
}

int64_t k_random_range(int64_t bits, int64_t lo, int64_t hi) {
  return interval_of(bits, lo, hi);
}
