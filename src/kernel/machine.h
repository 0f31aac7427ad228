/* A running program: what a thread needs for it, and its present position. */
#ifndef ECS_KERNEL_MACHINE_H
#define ECS_KERNEL_MACHINE_H

#include "core/base/memory.h"
#include "kernel/note.h"
#include "kernel/ops.h"
#include "kernel/share.h"

#define ROW_STORES 4096u       /* that one row can undo */
#define ROW_ORDERS 256u        /* waiting for the end of a row */

/* What a machine runs. */
struct running {
  const struct program *p;
  const struct numbering *numbers;
  const k_run *run;
  const op_fn *ops;
  const struct list_loops *loops;
  char *base;                 /* the machine's buffer */
  void **at;                  /* the addresses of operands in this block: first of the columns, */
                              /* which a caller may set here and pass as the run's */
  k_scalar *scalars, *kept;   /* the scalars; their values before the first window */
  k_stored *stores;           /* of the current row, if the program undoes some */
  k_ordered *waiting;         /* its orders */
  uint32_t store_count, waiting_count;
  bool saves;                 /* they are saved */
  uint32_t folded[MAX_FOLDS]; /* rows of the block that each fold has done */
  k_failure *failure;         /* error is KE_NONE until a row fails */
  size_t first;               /* the block's first row */
  uint32_t end;               /* instruction to stop at */
  bool narrow;                /* the present rows are a window of the block */
  struct k_items items[MAX_LISTS];
  struct column_buffer saved;   /* all arrays as they were when the row ran out of stores */
  struct notes notes;           /* of the block */
};

struct machine {
  struct memory *memory;
  k_isa isa;
  struct column_buffer buffer;  /* see struct program_layout */
  struct running running;
};

/* How many of that many rows make a block. */
size_t running_choose_block(const struct program *p, size_t rows);

/* Starts at a table's first row, after machine_open. */
void running_begin(struct running *r, k_failure *failure);

/* Moves columns, bitmaps and the like by some rows, possibly backwards. */
void running_move(struct running *r, ptrdiff_t rows);

/* Whether the run is for any of the block's n rows; clears their bits in all bitmaps. */
bool running_opens(const struct running *r, size_t n);

/* Clears notes and lists for the block of n rows at r->first. */
void running_clear(struct running *r, size_t n);

/* Runs n rows of the block from an instruction on, up to r->end. Returns how many did not fail. */
size_t running_from(struct running *r, uint32_t pc, size_t n);

/* Runs rows from r->first on, at least one, in blocks of a size. Returns whether none failed. */
bool running_blocks(struct running *r, size_t rows, size_t block);

/* Parts of it, for n rows: an instruction that chooses the next one, which it returns; one that
** notes or lists, which returns how many did not fail; and the record of a failure. */
uint32_t running_control(const struct running *r, uint32_t pc, size_t n);
size_t running_note_or_list(struct running *r, const k_insn *k, size_t n);
void running_fail(struct running *r, const k_insn *k, size_t lane);

/* Runs the ordered part, from the OP_ROWS at pc on, for n rows of the block. Returns how many did
** not fail. */
size_t rows_run(struct running *r, uint32_t pc, size_t n);
/* The first instruction of the ordered part; 0: there is none. */
uint32_t rows_begin_at(const struct program *p);
/* Whether a row of the program can fail after it has stored something. */
bool rows_can_undo(const struct program *p);
/* Fills in the code addresses of a laid out program's instructions. */
void rows_translate(struct program *p);
const void *rows_code_of(uint32_t code);

/* Runs n rows, at least one, through the instructions after OP_ROWS. Returns n, or the row that
** failed. The entries: begin a row that stores or orders; note what is about to be overwritten, if
** there is room; do one row by a loop for many; find that an order only stores, which is noted;
** give orders; undo a failed row. */
size_t rows_do(struct running *r, const k_insn *insns, size_t n);
void rows_begin(struct running *r, size_t i);
bool rows_keep(struct running *r, const k_insn *k, size_t i);
bool rows_one(struct running *r, const k_insn *k, const struct row_insn *to, size_t i);
bool rows_puts(struct running *r, const k_insn *k, size_t i);
bool rows_order(struct running *r, const k_insn *k, size_t i);
void rows_fail(struct running *r, const k_insn *k, size_t i, bool room);

#define MACHINE_SHORT 256u     /* rows of a table that always make one block */

/* A row of the only block has failed in the previous instruction: the rows before it go on. */
k_status running_go_on(struct running *r, uint32_t pc, size_t row);

/* Runs a plain program over a table whose columns are set, and that has no more rows than a block.
** Inline, which saves a fifth of the time of few rows. */
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

/* Ends a run in all its blocks, after a failed row or none: clears the bits from that row on, and
** adds the totals. */
k_status running_end(const struct program *p, const k_run *run, k_folding *foldings,
                     const k_failure *failure);

#endif
