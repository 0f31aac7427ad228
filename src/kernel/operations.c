#include "kernel/math32.h"
#include "kernel/node.h"
#include "kernel/ops.h"
#include "kernel/program.h"
#include "kernel/random.h"

enum { OP_NONE = OP_COUNT };

enum { B = 1 << KT_BOOL, D = 1 << KT_F64, F = 1 << KT_F32 | D, I = 1 << KT_I64 };

const struct operation operations[KO_COUNT] = {
#define OPERATION(name, operands, types, floats, others, cost) \
  {operands, types, COST_##cost, OP_##floats, OP_##others},
#include "kernel/operations.def"
};

uint32_t operation_insn(uint32_t op, uint32_t type) {
  assert(op < KO_COUNT && type <= KT_I64);
  bool is_float = (type == KT_F32 || type == KT_F64) && operations[op].types != D;
  uint32_t first = is_float ? operations[op].floats : operations[op].others;
  return is_float && type == KT_F64 && first != OP_NONE ? first + TO_F64 : first;
}

/* Instructions that differ only in which operands are scalars have the same text. */
static bool operations_takes_scalar(uint32_t first, uint32_t offset, int operand) {
  assert(first + offset < OP_COUNT);
  const struct op_info *info = &op_table[first], *other = &op_table[first + offset];
  char letter = other->signature[operand];
  return strcmp(info->text, other->text) == 0 && letter >= 'A' && letter <= 'Z';
}

uint32_t operation_scalars(uint32_t op, uint32_t type) {
  uint32_t first = operation_insn(op, type);
  if (first == OP_NONE || !operations_takes_scalar(first, 1, 2)) return 0;
  return operations_takes_scalar(first, 2, 1) ? 3 : 2;
}

/* ---- isa ---- */

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

/* The given instruction set or, if it is not supported, the best one below it. */
static k_isa isa_up_to(int isa) {
  while (!isa_supported((k_isa)isa)) isa--;
  return (k_isa)isa;
}

k_isa isa_best(void) { return isa_up_to(K_ISAS - 1); }

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

#ifdef ECS_KERNEL_X86
static const op_fn *const isa_tables[] = {ops_base, ops_avx2, ops_avx512};
static const struct list_loops *const isa_lists[] = {&list_base, &list_avx2, &list_avx512};
#else
static const op_fn *const isa_tables[] = {ops_base};
static const struct list_loops *const isa_lists[] = {&list_base};
#endif

const op_fn *isa_ops(k_isa isa) { return isa_tables[isa_up_to((int)isa)]; }
const struct list_loops *isa_list_loops(k_isa isa) { return isa_lists[isa_up_to((int)isa)]; }

/* ---- math32 ---- */

#include "kernel/vector.h"

float k_sin(float x) { return sin_any(x, 0); }
float k_cos(float x) { return sin_any(x, 1); }
float k_exp(float x) { return exp_lane(x); }
float k_log(float x) { return log_lane(x); }

/* ---- random ---- */

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

/* ---- list ---- */

#define MOST_ITEMS (UINT32_C(1) << 24)   /* of a list in a block */

bool items_grow(struct k_items *items, uint64_t need) {
  if (need > MOST_ITEMS) return false;
  return GROW(items->memory, items->items, items->capacity, need);
}

uint32_t *items_room(struct k_items *items, uint32_t more) {
  uint64_t need = (uint64_t)items->count + more;
  assert(more > 0 && items->count <= items->capacity && items->memory);
  if (need <= items->capacity) return items->items + items->count;
  if (!items->fixed) return items_grow(items, need) ? items->items + items->count : NULL;
  items->outgrown = need > UINT32_MAX ? UINT32_MAX : (uint32_t)need;
  return NULL;
}

void items_free(struct k_items *items) {
  memory_free(items->memory, items->items, items->capacity * sizeof *items->items);
}
