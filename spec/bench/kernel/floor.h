#ifndef kernel_floor_h
#define kernel_floor_h

#include <stddef.h>

/* One loop over columns c of n rows with uniforms u: MOVE, PART, SEEK; TWICE doubles the
** first column. */
typedef void (*floor_fn)(float *const *c, size_t n, const double *u);

enum { FLOORS = 4 };

extern const floor_fn floors_sse2[FLOORS], floors_avx2[FLOORS], floors_avx512[FLOORS];

#endif
