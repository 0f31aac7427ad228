#ifndef kernel_floor_h
#define kernel_floor_h

#include <stddef.h>

/* One loop over columns c of n rows with uniforms u: MOVE, PART, SEEK. */
typedef void (*floor_fn)(float *const *c, size_t n, const double *u);

extern const floor_fn floors_sse2[3], floors_avx2[3], floors_avx512[3];

#endif
