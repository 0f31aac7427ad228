#include "kernel/isa.h"

#include "kernel/ops.h"

bool isa_supported(k_isa isa) {
  switch (isa) {
    case K_BASE: return true;
#ifdef ECS_KERNEL_X86
    case K_AVX2: return __builtin_cpu_supports("avx2") != 0;
    case K_AVX512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
    default: return false;
  }
}

k_isa isa_best(void) {
  for (int isa = K_ISAS - 1; isa > K_BASE; isa--)
    if (isa_supported((k_isa)isa)) return (k_isa)isa;
  return K_BASE;
}

const char *isa_name(k_isa isa) {
  switch (isa) {
    case K_AVX2: return "avx2";
    case K_AVX512: return "avx512";
#ifdef ECS_KERNEL_X86
    default: return "sse2";
#else
    default: return "base";
#endif
  }
}

int isa_named(const char *name) {
  for (int isa = K_BASE; isa < K_ISAS; isa++)
    if (strcmp(name, isa_name((k_isa)isa)) == 0) return isa;
  return -1;
}

const op_fn *isa_ops(k_isa isa) {
#ifdef ECS_KERNEL_X86
  if (isa >= K_AVX512 && isa_supported(K_AVX512)) return ops_avx512;
  if (isa >= K_AVX2 && isa_supported(K_AVX2)) return ops_avx2;
#endif
  (void)isa;
  return ops_base;
}

const struct list_loops *isa_list_loops(k_isa isa) {
#ifdef ECS_KERNEL_X86
  if (isa >= K_AVX512 && isa_supported(K_AVX512)) return &list_avx512;
  if (isa >= K_AVX2 && isa_supported(K_AVX2)) return &list_avx2;
#endif
  (void)isa;
  return &list_base;
}
