/* A running program: what a thread needs for it, and its current position. */
#ifndef ECS_KERNEL_MACHINE_H
#define ECS_KERNEL_MACHINE_H

#include "core/base/memory.h"
#include "kernel/note.h"
#include "kernel/ops.h"
#include "kernel/share.h"

#define ROW_STORES 4096u       /* stores that a row can undo */
#define ROW_ORDERS 256u        /* orders waiting for the end of a row */

/* What a machine runs. */
struct running {
  const struct program *p;
  const struct numbering *numbers;
  const k_run *run;
  const op_fn *ops;
  const struct list_loops *loops;
  char *base;                 /* the machine's buffer */
  void **at;                  /* the addresses of operands in this block: first the columns, */
                              /* which a caller may set here and pass as the run's */
  k_scalar *scalars, *kept;   /* the scalars; their values before the first window */
  k_stored *stores;           /* the current row's, if the program may undo them */
  k_ordered *waiting;         /* the row's orders */
  uint32_t store_count, waiting_count;
  bool saves;                 /* all arrays are saved: see `saved` */
  uint32_t folded[MAX_FOLDS]; /* how many rows of the block each fold has done */
  k_failure *failure;         /* error is KE_NONE until a row fails */
  size_t first;               /* the block's first row */
  uint32_t end;               /* the instruction to stop at */
  bool narrow;                /* the present rows are a window of the block */
  struct k_items items[MAX_LISTS];
  struct column_buffer saved;   /* copies of all arrays, made when the row ran out of stores */
  struct notes notes;           /* the block's */
};

struct machine {
  struct memory *memory;
  k_isa isa;
  struct column_buffer buffer;  /* see struct program_layout */
  struct running running;
};

/* How many rows make a block, for a table with that many. */
size_t running_choose_block(const struct program *p, size_t rows);

/* Starts at a table's first row, after machine_open. */
void running_begin(struct running *r, k_failure *failure);

/* Moves the addresses of columns, bitmaps and the like by some rows, possibly backwards. */
void running_move(struct running *r, ptrdiff_t rows);

/* Whether the run is for any of the block's n rows; clears their bits in all bitmaps. */
bool running_opens(const struct running *r, size_t n);

/* Clears notes and lists for the block of n rows at r->first. */
void running_clear(struct running *r, size_t n);

/* Runs n rows of the block from an instruction on, up to r->end. Returns how many did not fail. */
size_t running_from(struct running *r, uint32_t pc, size_t n);

/* Runs rows from r->first on, at least one, in blocks of a size. Returns whether none failed. */
bool running_blocks(struct running *r, size_t rows, size_t block);

/* For single instructions: executes one that chooses the next, which it returns; executes one that
** notes or lists, and returns how many of n rows did not fail; records a failure. */
uint32_t running_control(const struct running *r, uint32_t pc, size_t n);
size_t running_note_or_list(struct running *r, const k_insn *k, size_t n);
void running_fail(struct running *r, const k_insn *k, size_t lane);

/* Runs the ordered part, from the OP_ROWS at pc on, for n rows of the block. Returns how many rows
** did not fail. */
size_t rows_run(struct running *r, uint32_t pc, size_t n);
/* The bytes of an operand's lane; 0 if it has no lanes. */
uint32_t rows_lane(const struct program *p, uint32_t operand);
/* The first instruction of the ordered part; 0: there is none. */
uint32_t rows_begin_at(const struct program *p);
/* Whether a row of the program can fail after it has stored something that must be kept. `arrays`
** is the number of the first array's operand. */
bool rows_can_undo(const struct program *p, uint32_t arrays);
/* Fills in the code addresses of the instructions of a laid out program. */
void rows_translate(struct program *p);
const void *rows_code_of(uint32_t code);

/* Runs n rows, at least one, through the instructions after OP_ROWS. Returns n, or the row that
** failed. The others begin a row that stores or orders; save what is about to be overwritten, if
** there is room; do one row by a loop for many; find that an order only stores, and save the old
** content; carry out orders; undo a failed row. */
size_t rows_do(struct running *r, const k_insn *insns, size_t n);
void rows_begin(struct running *r, size_t i);
bool rows_keep(struct running *r, const k_insn *k, size_t i);
bool rows_one(struct running *r, const k_insn *k, const struct row_insn *to, size_t i);
bool rows_puts(struct running *r, const k_insn *k, size_t i);
bool rows_order(struct running *r, const k_insn *k, size_t i);
void rows_fail(struct running *r, const k_insn *k, size_t i, bool room);

#define MACHINE_SHORT 256u     /* a table with at most this many rows is a single block */

/* A row of the only block failed in the previous instruction: continues with the rows before it. */
k_status running_go_on(struct running *r, uint32_t pc, size_t row);

/* Runs a plain program over a table that has no more rows than a block and has its columns set.
** Inline, which saves a fifth of the time for few rows. */
INLINE k_status running_short(struct running *r, size_t rows, k_failure *failure) {
  const k_insn *insns = r->p->insns;
  const op_fn *ops = r->ops;
  void **at = r->at;
  assert(r->p->layout.plain && rows > 0 && rows <= MACHINE_SHORT && rows <= r->p->block);
  failure->error = KE_NONE;
  r->failure = failure;
  r->first = 0;
  for (const k_insn *k = insns + r->p->prologue, *end = insns + r->p->insn_count; k < end; k++) {
    assert(k->op < OP_CONTROLS);
    size_t done = ops[k->op](k, at, rows);
    if (UNLIKELY(done < rows)) return running_go_on(r, (uint32_t)(k - insns) + 1, done);
  }
  return K_OK;
}

/* Ends a run in all its blocks, with or without a failed row: clears the bits from that row on, and
** adds the totals. */
k_status running_end(const struct program *p, const k_run *run, k_folding *foldings,
                     const k_failure *failure);

#endif
