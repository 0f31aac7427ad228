/* Instructions inside the kernel: numbers, signatures, and the loops for each instruction set. */
#ifndef ECS_KERNEL_OPS_H
#define ECS_KERNEL_OPS_H

#include "kernel/program.h"
#include "kernel/share.h"

#define FOLD_TYPES 9u          /* the number types of cells */

/* Lists of items over which rows iterate, each row its own: machines keep them from block to
** block. */

struct k_items {
  struct memory *memory;
  uint32_t *items;
  uint32_t count, capacity;
  bool fixed;                  /* no more can be allocated, since this thread must not: */
  uint32_t outgrown;           /* how many items did not fit, if the room was too small */
};

/* The parts that are compiled for each instruction set. */
struct list_loops {
  /* By axes, two or three: selects the rows whose squared distances to a place do not exceed
  ** `most`, in order; `to` has room for all. Returns their number. */
  uint32_t (*near[2])(const double *const *axes, const double *at, double most, uint32_t row,
                      uint32_t end, uint32_t *to);
  /* For n spans, the item with the given number, counted from 0, plus 1; or 0. */
  void (*pick)(const k_span *spans, const struct k_items *list, uint64_t item, int64_t *to,
               size_t n);
};

/* Where more items, at least one, can be written; NULL when out of memory, or with too many. */
uint32_t *items_room(struct k_items *items, uint32_t more);
/* Reserves room for that many; false when out of memory, or with too many. */
bool items_grow(struct k_items *items, uint64_t need);
void items_free(struct k_items *items);

enum {
#define OP(name, text, signature, error) OP_##name,
#include "kernel/ops.def"
  OP_COUNT
};

#define OP_CONTROLS OP_LIVE  /* the first instruction that the machine itself executes */
#define OP_SCALAR 0x8000     /* in k_insn.op: all operands are scalars, and it runs once */
#define OP_NUMBER(op) ((op) & 0x7fffu)  /* k_insn.op without that bit */

/* Instructions that make notes, and their types. */
static inline bool is_note(uint32_t op) { return op >= OP_NOTE_VV_F64 && op <= OP_NOTE_SS_BOOL; }
static inline k_type note_type(uint32_t op) {
  assert(is_note(op));
  return op < OP_NOTE_VV_I64 ? KT_F64 : op < OP_NOTE_VV_BOOL ? KT_I64 : KT_BOOL;
}

/* The first instruction that notes a type. */
static inline uint32_t note_insn(k_type type) {
  assert(type == KT_F64 || type == KT_I64 || type == KT_BOOL);
  return type == KT_F64 ? OP_NOTE_VV_F64 : type == KT_I64 ? OP_NOTE_VV_I64 : OP_NOTE_VV_BOOL;
}

struct op_info {
  const char *text;
  char signature[6];  /* dst, a, b, c, d */
  uint8_t error;
};

extern const struct op_info op_table[OP_COUNT];

/* Executes one instruction for n rows; at[operand] is the operand's address. Returns n, or the
** first row that failed; rows from there on are not written. */
typedef size_t (*op_fn)(const k_insn *k, void *const *at, size_t n);

extern const op_fn ops_base[OP_CONTROLS];

/* An instruction for row-by-row execution: the address of its code and, as byte offsets in the
** machine's buffer, the first lanes of its operands, or the addresses of operands without lanes. */
struct row_insn {
  const void *go;
  uint32_t dst, a, b, c, d;
  uint32_t to;               /* its jump target; or the instruction that it does at once */
};

/* Add an operand's offset to get its lane for the row, by the lane's size; `base` is the buffer. */
struct row_lanes {
  char *base, *one, *four, *eight;
};

/* Further codes, after those of instructions: the same for scalars; a loop over one row; one on
** scalars; controls; ordered notes, possibly stored at once, and carrying them out; a store that
** can be undone; the next row. */
enum {
  ROWS_SCALARS = OP_CONTROLS, ROWS_ONE = 2 * OP_CONTROLS, ROWS_SCALAR, ROWS_SKIP, ROWS_LOOP,
  ROWS_END, ROWS_NOTE, ROWS_PUT, ROWS_DO, ROWS_KEEP, ROWS_NEXT, ROWS_CODES
};

/* Whether an instruction's loop has a form for one row; otherwise its loop runs over one row. */
extern const bool op_is_row[OP_CONTROLS];

/* Instructions that change cells by a step, and their types. */
static inline bool is_fold(uint32_t op) {
  return op >= OP_FOLD_ADD_F32 && op <= OP_FOLD_SET_BOOL;
}
static inline k_column fold_column(uint32_t op) {
  assert(is_fold(op));
  return op >= OP_FOLD_OR_BOOL ? KC_BOOL
                               : (k_column)(KC_F32 + (op - OP_FOLD_ADD_F32) % FOLD_TYPES);
}

/* Instructions that store into cells, and their types. */
static inline bool is_set(uint32_t op) { return op >= OP_SET_BOOL && op <= OP_SET_U32; }
static inline k_column stored_column(uint32_t op) {
  return is_set(op) ? (k_column)(op - OP_SET_BOOL) : fold_column(op);
}
/* Instructions that change something other than the program's registers and columns. */
static inline bool stores_cells(uint32_t op) { return is_set(op) || is_fold(op) || op == OP_LAY; }
#if defined(__GNUC__) && defined(__x86_64__)
#define ECS_KERNEL_X86 1
extern const op_fn ops_avx2[OP_CONTROLS];
extern const op_fn ops_avx512[OP_CONTROLS];
#endif

extern const struct list_loops list_base;
#ifdef ECS_KERNEL_X86
extern const struct list_loops list_avx2, list_avx512;
#endif

/* The loops of `isa`, or of the best one below it. */
const op_fn *isa_ops(k_isa isa);
const struct list_loops *isa_list_loops(k_isa isa);

/* Where operands begin, for a program that is not laid out yet. */
static inline struct numbering program_numbering(const struct program *p) {
  struct numbering at;
  at.reg1 = p->column_count;
  at.reg4 = at.reg1 + p->reg1_count;
  at.reg8 = at.reg4 + p->reg4_count;
  at.scalars = at.reg8 + p->reg8_count;
  at.all = at.scalars + p->scalar_count;
  at.bitmaps = at.all + 1;
  at.totals = at.bitmaps + p->bitmap_count;
  at.start = at.totals + p->total_count;
  at.arrays = at.start + 1;
  at.lookups = at.arrays + p->array_count;
  at.sites = at.lookups + p->lookup_count;
  at.lists = at.sites + p->site_count;
  at.count = at.lists + p->list_count * (LIST_ARGUMENTS + 1);
  return at;
}

/* Whether each column occurs in only one instruction, with nothing else but scalars. */
bool program_takes_columns_once(const struct program *p);

/* Bytes of a lane of a column. */
static inline size_t column_size(k_column c) {
  static const uint8_t size[KC_COUNT] = {1, 4, 8, 8, 1, 2, 4, 1, 2, 4, 8};
  assert(c < KC_COUNT || c & KC_CELLS);
  return c & KC_CELLS ? sizeof(k_cell) : size[c];
}

/* Whether a column's type is cells that can be accessed. */
static inline bool is_cells(uint8_t type) {
  return type & KC_CELLS && (type & ~(uint32_t)KC_CELLS) < KC_ENTITY;
}

/* The type of a column's values. */
static inline k_type column_value(k_column c) {
  return c <= KC_I64 ? (k_type)c : c & KC_CELLS ? KT_CELL : KT_I64;
}

/* The type of a cell's value in programs: f32 as f64, in which Lua calculates. */
static inline k_type column_got(k_column c) { return c == KC_F32 ? KT_F64 : column_value(c); }

/* Limits that the checker imposes. */
enum {
  MAX_COLUMNS = 256, MAX_REGISTERS = 128, MAX_SCALARS = 1024, MAX_BITMAPS = 64,
  MAX_TOTALS = 16, MAX_ARRAYS = 64, MAX_LOOKUPS = 64, MAX_SITES = K_SITES, MAX_LISTS = 8,
  MAX_DEPTH = 8, MAX_INSNS = 16384, MAX_FOLDS = 32
};

/* Records the first row of the least or greatest value so far, after a block's rows have joined the
** parts: n values of 8 bytes, for rows in the mask. */
void fold_note(k_folding *f, k_reduce how, k_type type, const void *values, const uint8_t *mask,
               size_t n);

/* Ends the current leaf of a sum, and begins that of its next row. */
void fold_leaf(k_folding *f, k_type type);

/* A sum of i64 so far as a KR_FLOATS total. */
void fold_floats(k_folding *floats, const k_folding *integers);

/* Joins the rows of the next folding to the rows before them. */
void fold_join(k_folding *f, const k_folding *next, k_reduce how, k_type type);

/* Whether a program's total is the previous one as floats; how rows join it, and their type. */
static inline bool total_follows(const struct program *p, uint32_t i) {
  return p->totals[i] / 4 == KR_FLOATS;
}
static inline k_reduce total_how(const struct program *p, uint32_t i) {
  return total_follows(p, i) ? KR_SUM : (k_reduce)(p->totals[i] / 4);
}
static inline k_type total_type(const struct program *p, uint32_t i) {
  return (k_type)(p->totals[i] % 4);
}

#endif
