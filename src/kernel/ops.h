/* Instructions inside the room: numbers, signatures, the loops per instruction set. */
#ifndef ecs_kernel_ops_h
#define ecs_kernel_ops_h

#include "kernel/program.h"

enum {
#define OP(name, text, signature, error) OP_##name,
#include "kernel/ops.def"
  OP_COUNT
};

#define OP_CONTROLS OP_LIVE  /* the first instruction that the machine does itself */
#define OP_SCALAR 0x8000     /* in k_insn.op: operands and dst are slots, done once */

typedef struct op_info {
  const char *text;
  char signature[6];  /* dst, a, b, c, d */
  uint8_t error;
} op_info;

extern const op_info op_table[OP_COUNT];

/* Does one instruction for n rows, at[place] being the place's address. Returns n, or the
** first row in which it failed; rows from there on are not written. */
typedef size_t (*op_fn)(const k_insn *k, void *const *at, size_t n);

extern const op_fn ops_base[OP_CONTROLS];
#if defined(__GNUC__) && defined(__x86_64__)
#define ECS_KERNEL_X86 1
extern const op_fn ops_avx2[OP_CONTROLS];
extern const op_fn ops_avx512[OP_CONTROLS];
#endif

/* The loops of `isa`, or of the best that there is below it. */
const op_fn *isa_ops(k_isa isa);

/* Where places begin, in the order of program.h. */
typedef struct k_places {
  unsigned reg1, reg4, reg8, slots, all, bitmaps, totals, count;
} k_places;
k_places program_places(const program *p);

/* Bytes of a lane of a column. */
size_t column_size(k_column c);
/* The type of a column's values. */
k_type column_value(k_column c);

/* Limits that the checker imposes. */
enum {
  MAX_COLUMNS = 256, MAX_REGISTERS = 128, MAX_SLOTS = 1024, MAX_BITMAPS = 64,
  MAX_TOTALS = 16, MAX_DEPTH = 8, MAX_INSNS = 16384
};

/* Totals; see k_total. A sum's parts are plain, least and most hold ordered keys of
** f64. */
int64_t fold_key(double x);
double fold_unkey(int64_t key);

#endif
