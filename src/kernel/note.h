/* Notes: what rows do to cells that are not their own. An instruction notes it down, under a mask,
** with the index and the operand of each row; at the end of a block, before anything of it is
** stored, the notes are gone through row after row, in a row in the order of the function, and
** each is done as Lua would do it: an integer stays one, no step is left out or put together with
** another. A row one of whose notes cannot be done fails, and has done nothing. */
#ifndef ECS_KERNEL_NOTE_H
#define ECS_KERNEL_NOTE_H

#include <string.h>

#include "kernel/build.h"
#include "kernel/ops.h"
#include "kernel/program.h"

/* What a program shows of its notes before it runs, so that less has to be written down. */

/* What a program shows of how rows come to a site. */
enum {
  NOTING_ONCE = 1,               /* no site is come to more than once in a block */
  NOTING_ALL = 2,                /* all rows come to it */
  NOTING_SAME = 4,               /* so do those that came to the one before it */
  NOTING_HELD = 8                /* indexes and values stay where they are until all is done */
};
void notes_plan(const struct program *p, uint8_t *noting);

/* What an array's elements are. */
static inline k_column array_column(uint8_t array) {
  return (k_column)(array & ~ARRAY_OF_CELLS);
}

#define NOTE_SITES 16u         /* so many have room for all rows of a block from the beginning */

/* The notes of one site in a block, as far as it was come to once. */
struct note_run {
  uint32_t from, count;
  uint32_t rows;                 /* where their rows begin; NONE: all rows, one after the other */
  bool one_index, one_value;     /* only the first one's is written: it is that of all */
  const int64_t *indexes;        /* NULL: in the columns of all notes, from `from` on */
  const k_scalar *values;
};

/* The notes of a block, one after the other, in columns: in the room given, or in `own`. */
struct notes {
  struct memory *memory;
  int64_t *indexes;
  k_scalar *values;              /* once one is done row after row: what was in the cell */
  uint32_t *rows, *order;        /* `order` is room to sort them */
  uint8_t *sites;
  const uint8_t *noting;         /* by site, as notes_plan says: of NOTING_ONCE no sites are */
                                 /* written, and no rows that are those of another run */
  uint32_t count, capacity;
  void *own;                     /* where loops note down more than there is room for */
  uint32_t own_capacity;
  bool fixed;                    /* there is no other room, as this is no thread that allocates: */
  uint64_t outgrown;             /* how many there should have been room for, if there was not */
  size_t first;                  /* the block's first row */
  uint32_t last;                 /* the last one's row */
  bool sorted;                   /* none is of a row before the one in front of it */
  bool again;                    /* some site was come to more than once */
  uint32_t masked;               /* the rows of the last mask, 0: none is known; */
  uint32_t masked_rows;          /* where those in it are written down, or NONE; */
  uint8_t mask[K_BLOCK];
  uint32_t among_count;          /* and those that are in it */
  uint16_t among[K_BLOCK];
  uint32_t site_count;
  struct note_run runs[MAX_SITES];
  uint8_t joined[MAX_SITES];     /* how many sites behind one go with it; or NOTE_JOINED: it does */
};

/* The room, in bytes, that a program's notes take outside of loops; begins to use it. */
size_t notes_room(const struct program *p);
void notes_open(struct notes *notes, const struct program *p, void *room);
void notes_free(struct notes *notes);

/* Makes room for so many notes; false when there is none, or when that is too many. */
bool notes_grow(struct notes *notes, uint64_t need);

enum { NOTE_JOINED = UINT8_MAX };

/* Begins a block at a row. */
static inline void notes_clear(struct notes *notes, size_t first) {
  notes->first = first;
  notes->outgrown = notes->masked = 0;
  notes->count = notes->last = 0;
  notes->sorted = true;
  notes->again = false;
  memset(notes->runs, 0, notes->site_count * sizeof *notes->runs);
}

/* Likewise of a row behind one that has perhaps noted nothing. */
static inline void notes_begin_row(struct notes *notes, size_t row) {
  if (notes->count)
    notes_clear(notes, row);
  else
    notes->first = row;
  notes->masked = 0;
}

/* What rows note down: an index and a value each, or one for all of them. */
struct noted {
  k_type type;
  bool one_index, one_value;
  const int64_t *indexes;
  const void *values;
};

/* Notes down what n rows do at a site, those of the mask. Returns n, or, when there is no room, the
** first row of the mask. */
size_t notes_add(struct notes *notes, uint32_t site, const struct noted *noted,
                 const uint8_t *mask, size_t n);

/* The rows of a run, in their order; NULL: 0, 1, 2 ... */
static inline const uint32_t *notes_rows(const struct notes *notes, const struct note_run *run) {
  return run->rows == NONE ? NULL : notes->rows + run->rows;
}

static inline const int64_t *notes_indexes(const struct notes *notes,
                                           const struct note_run *run) {
  return run->indexes ? run->indexes : notes->indexes + run->from;
}

static inline const k_scalar *notes_values(const struct notes *notes, const struct note_run *run) {
  return run->values ? run->values : notes->values + run->from;
}

/* How many notes of a run are of the first n rows. */
static inline uint32_t notes_before(const struct notes *notes, const struct note_run *run,
                                    size_t n) {
  const uint32_t *rows = notes_rows(notes, run);
  uint32_t count = run->count;
  if (!rows) return count < n ? count : (uint32_t)n;
  while (count > 0 && rows[count - 1] >= n) count--;
  return count;
}

/* Does what the first n rows have noted down. Returns n, or the first row that fails, which has
** then done nothing, nor have those behind it; *failure says why, but not where. */
size_t notes_do(struct notes *notes, const struct program *p, const k_run *run, size_t n,
                k_failure *failure);

/* i < d, exactly. */
static inline bool less_integer(int64_t i, double d) {
  if (!(d > -0x1p63)) return false;   /* or NaN */
  return d >= 0x1p63 || i < (int64_t)ceil(d);
}

/* d < i, exactly. */
static inline bool less_real(double d, int64_t i) {
  if (!(d < 0x1p63)) return false;
  return d < -0x1p63 || (int64_t)floor(d) < i;
}

/* Whether a site is sound: an array that there is, and a step that its cells can take. */
bool site_check(const struct program *p, k_site site);

/* Orders that are given together: one that the orders behind it say more of, as with what an entity
** is spawned. Their notes then are neither sorted nor looked at one by one: the nth of each site
** is of the same row. */

/* Says in notes->joined which sites' notes go together in this block, where each was come to once
** at most; false when none do. */
bool notes_join(struct notes *notes, const struct program *p, const k_orders *orders);

/* Sorts the others of the first n rows by row into the order, those of a row as they came; how many
** they are. */
uint32_t notes_sort_joined(struct notes *notes, size_t n);

/* Gives the order of a note together with those that are joined to it. */
void notes_give_joined(const struct notes *notes, const k_orders *orders, uint32_t order,
                       uint32_t note);

/* Where orders with those that are joined to them are all that the first n rows have noted down,
** gives all of them, if whoever gives them does it so: true then, and *room is false when there was
** none for them. */
bool notes_give_many(const struct notes *notes, const struct program *p, const k_orders *orders,
                     size_t n, bool *room);

#endif
