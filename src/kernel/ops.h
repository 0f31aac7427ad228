/* Instructions inside the room: numbers, signatures, the loops per instruction set. */
#ifndef ECS_KERNEL_OPS_H
#define ECS_KERNEL_OPS_H

#include "kernel/program.h"
#include "kernel/share.h"

#define FOLD_TYPES 9u          /* of numbers in cells */

/* Lists of items that rows go through in loops, each row its own: machines keep them from block to
** block. */

struct k_items {
  struct memory *memory;
  uint32_t *items;
  uint32_t count, capacity;
  bool fixed;                  /* there is no other room, as this is no thread that allocates: */
  uint32_t outgrown;           /* how many there should have been room for, if there was not */
};

/* What of it is compiled for each instruction set. */
struct list_loops {
  /* By axes, two or three: those of some rows whose squares of distances to a place are not above
  ** `most`, in their order; `to` has room for all of them. How many there are. */
  uint32_t (*near[2])(const double *const *axes, const double *at, double most, uint32_t row,
                      uint32_t end, uint32_t *to);
  /* Of n spans which item is their so-and-so-many-th, counted from 0, and 1 more; or 0. */
  void (*pick)(const k_span *spans, const struct k_items *list, uint64_t item, int64_t *to,
               size_t n);
};

/* Where more items, at least one, can be written; NULL when there is no memory, or they are too
** many. */
uint32_t *items_room(struct k_items *items, uint32_t more);
/* Room for so many; false when there is no memory, or they are too many. */
bool items_grow(struct k_items *items, uint64_t need);
void items_free(struct k_items *items);

enum {
#define OP(name, text, signature, error) OP_##name,
#include "kernel/ops.def"
  OP_COUNT
};

#define OP_CONTROLS OP_LIVE  /* the first instruction that the machine does itself */
#define OP_SCALAR 0x8000     /* in k_insn.op: all operands are scalars, and it is done once */
#define OP_NUMBER(op) ((op) & 0x7fffu)  /* of k_insn.op, without that bit */

/* Instructions that note something down, and of which type. */
static inline bool is_note(uint32_t op) { return op >= OP_NOTE_VV_F64 && op <= OP_NOTE_SS_BOOL; }
static inline k_type note_type(uint32_t op) {
  assert(is_note(op));
  return op < OP_NOTE_VV_I64 ? KT_F64 : op < OP_NOTE_VV_BOOL ? KT_I64 : KT_BOOL;
}

/* The first of those of a type. */
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

/* Does one instruction for n rows, at[operand] being the operand's address. Returns n, or
** the first row in which it failed; rows from there on are not written. */
typedef size_t (*op_fn)(const k_insn *k, void *const *at, size_t n);

extern const op_fn ops_base[OP_CONTROLS];

/* One instruction as it is done row after row: where its code is, and, in bytes from where the
** machine's buffer begins, the first lanes of its operands, or the addresses of what is no lane. */
struct row_insn {
  const void *go;
  uint32_t dst, a, b, c, d;
  uint32_t to;               /* the one that it jumps to; or what it does at once */
};

/* Where a row's lanes are, by their bytes, for operands of the first lane; `base` is the buffer. */
struct row_lanes {
  char *base, *one, *four, *eight;
};

/* What else there is code for, behind the instructions' own: a loop over one row; one on scalars;
** the controls; what is ordered, perhaps by a store at once, and given; a store that can be undone;
** the next row. */
enum {
  ROWS_ONE = OP_CONTROLS, ROWS_SCALAR, ROWS_SKIP, ROWS_LOOP, ROWS_END,
  ROWS_NOTE, ROWS_PUT, ROWS_DO, ROWS_KEEP, ROWS_NEXT, ROWS_CODES
};

/* Whether the loop of an instruction has a form for one row; else a loop over one does it. */
extern const bool op_is_row[OP_CONTROLS];

/* Instructions that change cells by a step, and of which type these are. */
static inline bool is_fold(uint32_t op) {
  return op >= OP_FOLD_ADD_F32 && op <= OP_FOLD_SET_BOOL;
}
static inline k_column fold_column(uint32_t op) {
  assert(is_fold(op));
  return op >= OP_FOLD_OR_BOOL ? KC_BOOL
                               : (k_column)(KC_F32 + (op - OP_FOLD_ADD_F32) % FOLD_TYPES);
}

/* Instructions that store into cells, and of which type these are. */
static inline bool is_set(uint32_t op) { return op >= OP_SET_BOOL && op <= OP_SET_U32; }
static inline k_column stored_column(uint32_t op) {
  return is_set(op) ? (k_column)(op - OP_SET_BOOL) : fold_column(op);
}
/* Instructions that change what is outside of the program's registers and columns. */
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

/* The loops of `isa`, or of the best that there is below it. */
const op_fn *isa_ops(k_isa isa);
const struct list_loops *isa_list_loops(k_isa isa);

/* Where operands begin, of a program that is not laid out yet. */
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

/* Whether each column appears in one instruction only, and nothing else but scalars. */
bool program_takes_columns_once(const struct program *p);

/* Bytes of a lane of a column. */
static inline size_t column_size(k_column c) {
  static const uint8_t size[KC_COUNT] = {1, 4, 8, 8, 1, 2, 4, 1, 2, 4, 8};
  assert(c < KC_COUNT || c & KC_CELLS);
  return c & KC_CELLS ? sizeof(k_cell) : size[c];
}

/* Whether it is cells of a column's type that can be got at. */
static inline bool is_cells(uint8_t type) {
  return type & KC_CELLS && (type & ~(uint32_t)KC_CELLS) < KC_ENTITY;
}

/* The type of a column's values. */
static inline k_type column_value(k_column c) {
  return c <= KC_I64 ? (k_type)c : c & KC_CELLS ? KT_CELL : KT_I64;
}

/* What the value of a cell is to programs: f32 as f64, in which Lua calculates. */
static inline k_type column_got(k_column c) { return c == KC_F32 ? KT_F64 : column_value(c); }

/* Limits that the checker imposes. */
enum {
  MAX_COLUMNS = 256, MAX_REGISTERS = 128, MAX_SCALARS = 1024, MAX_BITMAPS = 64,
  MAX_TOTALS = 16, MAX_ARRAYS = 64, MAX_LOOKUPS = 64, MAX_SITES = K_SITES, MAX_LISTS = 8,
  MAX_DEPTH = 8, MAX_INSNS = 16384, MAX_FOLDS = 32
};

/* The parts of a folding's total are plain for sums; those of the least and the greatest
** f64 are its key: integers in the order of the doubles, -0.0 below 0.0. */
int64_t fold_key(double x);
double fold_unkey(int64_t key);
/* Notes the first row of the least or greatest value so far, when a block's rows have joined the
** parts: n values of 8 bytes, of rows that are in the mask. */
void fold_note(k_folding *f, k_reduce how, k_type type, const void *values, const uint8_t *mask,
               size_t n);

/* Ends the leaf of a sum under way, and begins the one that its next row is in. */
void fold_leaf(k_folding *f, k_type type);

/* What a sum of i64 has come to so far, as KR_FLOATS. */
void fold_floats(k_folding *floats, const k_folding *integers);

/* Says which leaf a folding is of that no row has joined yet; the rows of it join those before. */
void fold_be_leaf(k_folding *f, uint32_t leaf);
void fold_join(k_folding *f, const k_folding *next, k_reduce how, k_type type);

/* Whether a program's total is the one before it as floats; how its rows join it, and of which type
** they are. */
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
