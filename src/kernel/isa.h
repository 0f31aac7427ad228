/* Which instructions of the processor programs use. */
#ifndef ECS_KERNEL_ISA_H
#define ECS_KERNEL_ISA_H

#include "core/base/base.h"

/* Instruction sets. Results do not depend on them. K_BASE is what the compiler makes for
** any machine of the architecture (SSE2 on x86-64). */
typedef enum k_isa { K_BASE, K_AVX2, K_AVX512, K_ISAS } k_isa;
/* Whether this build and this machine have it. */
bool isa_supported(k_isa isa);
k_isa isa_best(void);
const char *isa_name(k_isa isa);    /* "sse2" (else "base"), "avx2", "avx512" */
int isa_named(const char *name);    /* a k_isa, or -1 */

#endif
