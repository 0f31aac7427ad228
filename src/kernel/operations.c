#include "kernel/node.h"

enum { OP_NONE = OP_COUNT };

enum { B = 1 << KT_BOOL, F = 1 << KT_F32 | 1 << KT_F64, I = 1 << KT_I64 };

const struct operation operations[KO_COUNT] = {
#define OPERATION(name, operands, types, floats, others, cost) \
  {operands, types, COST_##cost, OP_##floats, OP_##others},
#include "kernel/operations.def"
};

uint32_t operation_insn(uint32_t op, uint32_t type) {
  assert(op < KO_COUNT && type <= KT_I64);
  bool is_float = type == KT_F32 || type == KT_F64;
  uint32_t first = is_float ? operations[op].floats : operations[op].others;
  return type == KT_F64 && first != OP_NONE ? first + TO_F64 : first;
}

/* Instructions that differ only in which operands are scalars have one text. */
static bool takes_scalar(uint32_t first, uint32_t offset, int operand) {
  assert(first + offset < OP_COUNT);
  const struct op_info *info = &op_table[first], *other = &op_table[first + offset];
  char letter = other->signature[operand];
  return strcmp(info->text, other->text) == 0 && letter >= 'A' && letter <= 'Z';
}

uint32_t operation_scalars(uint32_t op, uint32_t type) {
  uint32_t first = operation_insn(op, type);
  if (first == OP_NONE || !takes_scalar(first, 1, 2)) return 0;
  return takes_scalar(first, 2, 1) ? 3 : 2;
}
