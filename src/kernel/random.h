/* Random numbers of kernels, for one row. */
#ifndef ECS_KERNEL_RANDOM_H
#define ECS_KERNEL_RANDOM_H

#include "core/base/base.h"

/* Counter-based random bits, equal in every tier: Philox4x32-10 of J. Salmon, M. Moraes,
** R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, with
** `seed` as key and (entity, tick, call) as counter, tick and call modulo 2^32. */
int64_t k_random(int64_t seed, int64_t tick, int64_t entity, int64_t call);
double k_random_unit(int64_t bits);                            /* [0, 1), 53 bits */
int64_t k_random_range(int64_t bits, int64_t lo, int64_t hi);  /* [lo, hi]; lo <= hi */

#endif
