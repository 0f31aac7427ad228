/* A program that runs: what a thread needs for it, and where in it the thread is. */
#ifndef ECS_KERNEL_MACHINE_H
#define ECS_KERNEL_MACHINE_H

#include "core/base/memory.h"
#include "kernel/note.h"
#include "kernel/ops.h"
#include "kernel/share.h"

#define ROW_STORES 4096u       /* that one row can undo */
#define ROW_ORDERS 256u        /* that wait for the end of a row */

/* What a machine runs. */
struct running {
  const struct program *p;
  const struct numbering *numbers;
  const k_run *run;
  const op_fn *ops;
  const struct list_loops *loops;
  char *base;                 /* what they are in: the machine's buffer */
  void **at;                  /* the addresses of operands, in this block */
  k_scalar *scalars, *kept;   /* the scalars; what they were before rows ran apart */
  struct notes *notes;
  k_stored *stores;           /* of the row that is done, of programs that undo some */
  k_ordered *waiting;         /* its orders */
  uint32_t store_count, waiting_count, done_count;
  struct column_buffer *saved;   /* all arrays, as they were when the row had no room for stores */
  bool saves;                 /* it has them */
  uint32_t folded[MAX_FOLDS]; /* how many rows of the block each fold has done */
  struct k_items *items;      /* of each list, */
  uint32_t listed[MAX_LISTS]; /* and how many stay when it is filled: where rows run apart */
  k_failure *failure;         /* error is KE_NONE until a row fails */
  size_t first;               /* the block's first row */
  size_t block;               /* rows in a block, but the last */
  uint32_t end;               /* the instruction to stop at */
};

struct machine {
  struct memory *memory;
  k_isa isa;
  struct column_buffer buffer;  /* see struct program_layout */
  struct running running;
  struct notes notes;           /* of the block under way */
  struct k_items items[MAX_LISTS];
  struct column_buffer saved;
};

/* How many rows of so many make a block. */
size_t running_choose_block(const struct program *p, size_t rows);

/* After machine_open: begins at a table's first row. */
void running_begin(struct running *r, k_failure *failure);

/* By how many rows, backwards too, columns, bitmaps and the like move. */
void running_move(struct running *r, ptrdiff_t rows);

/* Whether the run is for any of the block's n rows; clears their bits in all bitmaps. */
bool running_opens(const struct running *r, size_t n);

/* Nothing has been noted down and listed for the block of n rows at r->first. */
void running_clear(struct running *r, size_t n);

/* Runs n rows of the block from an instruction on, up to r->end; returns how many of them did not
** fail. Where it does not say `apart`, few rows with much to do may run before the others. */
size_t running_from(struct running *r, uint32_t pc, size_t n, bool apart);

/* Runs the block of n rows at r->first; returns how many of them did not fail. */
size_t running_block(struct running *r, size_t n);

/* Parts of it, for n rows: an instruction that moves on as it likes, which returns the next; one
** that notes down or lists, which returns how many did not fail; and what says where one failed. */
uint32_t running_control(const struct running *r, uint32_t pc, size_t n);
size_t running_note_or_list(struct running *r, const k_insn *k, size_t n);
void running_fail(struct running *r, const k_insn *k, size_t lane);

/* Does what is done in the order of rows, from the OP_ROWS at pc on, for n rows of the block;
** returns how many did not fail. */
size_t rows_run(struct running *r, uint32_t pc, size_t n);
/* Whether a row of the program can fail when it has stored something. */
bool rows_can_undo(const struct program *p);
/* Where the code is that does the instructions of a program that is laid out so. */
void rows_translate(struct program *p);
const void *rows_code_of(uint32_t code);

/* What is done for n rows, at least one: the instructions behind the OP_ROWS. Returns n, or the row
** that failed. It begins each row that stores or orders; notes what one is about to store into,
** unless there is no room; does one by what does it for many; finds that an order is but a store,
** of which it has noted that; orders; and undoes a row that fails. */
size_t rows_do(struct running *r, const k_insn *insns, size_t n);
void rows_begin(struct running *r, size_t i);
bool rows_keep(struct running *r, const k_insn *k, size_t i);
bool rows_one(struct running *r, const k_insn *k, size_t i);
bool rows_puts(struct running *r, const k_insn *k, size_t i);
bool rows_order(struct running *r, const k_insn *k, size_t i);
void rows_fail(struct running *r, const k_insn *k, size_t i, bool room);

#define MACHINE_SHORT 256u     /* rows of a table that are one block, whatever the block is */

/* A row of the only block has failed in the instruction before one: those before it go on. */
k_status running_go_on(struct running *r, uint32_t pc, size_t row);

/* Runs a program that is plain over a table whose columns are set: of no more rows than that, and
** than its block has. In line: a fifth of what it takes for few rows. */
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

/* What follows a run of which a row failed, or none did, in all its blocks: bits from that row on
** are cleared, and what rows came to joins the totals. */
k_status running_end(const struct program *p, const k_run *run, k_folding *foldings,
                     const k_failure *failure);

#endif
