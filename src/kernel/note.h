/* Notes: what rows order for entities. An instruction notes it under a mask, with the entity and
** value of each row. At the end of a block, before anything of it is stored, the notes are gone
** through row by row, inside a row in the order of the function, and each order is given. A row
** with an order that cannot be given fails, and gives none. */
#ifndef ECS_KERNEL_NOTE_H
#define ECS_KERNEL_NOTE_H

#include <string.h>

#include "kernel/build.h"
#include "kernel/ops.h"
#include "kernel/program.h"

/* The notes of one site, made in one visit. */
struct note_run {
  uint32_t from, count;
  uint32_t rows;                 /* where their rows begin; NONE: all rows in order */
  uint8_t site, order;
  uint8_t parts;                 /* number of later runs that are parts of its order; NOTE_PART: it
                                 ** is one */
  bool one_entity, one_value;    /* only the first is written: it applies to all */
};

enum { NOTE_PART = UINT8_MAX };

/* The notes of a block, one after the other, in columns: in the given room, or in `own`. */
struct notes {
  struct memory *memory;
  int64_t *entities;
  k_scalar *values;
  struct note_run *runs;
  uint32_t *rows, *order;        /* `order` is room to sort them */
  uint32_t count, capacity, run_count;
  void *own;                     /* used if loops make more notes than the room holds */
  uint32_t own_capacity;
  bool fixed;                    /* there is no other room, since this thread does not allocate: */
  uint64_t outgrown;             /* how many needed room, if there was not enough */
  size_t first;                  /* the block's first row */
  uint32_t from;                 /* and where in it the present rows begin */
  uint32_t masked;               /* the rows of the last mask; 0: none is known; */
  uint32_t masked_rows;          /* where its rows are written down, or NONE; */
  uint8_t mask[K_BLOCK];
  uint32_t among_count;          /* and the rows that are in it */
  uint16_t among[K_BLOCK];
};

/* notes_room: bytes that a program's notes take outside loops. The second begins to use that
** room. */
size_t notes_room(const struct program *p);
void notes_open(struct notes *notes, const struct program *p, void *room);
void notes_free(struct notes *notes);

/* Makes room for that many notes; false when out of memory or with too many. */
bool notes_grow(struct notes *notes, uint64_t need);

/* Begins a block at a row. */
static inline void notes_clear(struct notes *notes, size_t first) {
  notes->first = first;
  notes->from = 0;
  notes->outgrown = notes->masked = 0;
  notes->count = notes->run_count = 0;
}

/* Later rows begin elsewhere in the block. */
static inline void notes_move(struct notes *notes, ptrdiff_t rows) {
  notes->from = (uint32_t)((ptrdiff_t)notes->from + rows);
  notes->masked = 0;
}

/* What rows note: an entity and a value each, or one for all. */
struct noted {
  k_type type;
  bool one_entity, one_value;
  const int64_t *entities;
  const void *values;
};

/* The i-th of such values; a bool as the integer 0 or 1, in any order of bytes. */
k_scalar note_value_at(k_type type, const void *values, size_t i);
/* Notes what n rows order at a site: those of the mask, or all for NULL. Returns n or, without
** room, the first of them. */
size_t notes_add(struct notes *notes, uint32_t site, const struct noted *noted,
                 const uint8_t *mask, size_t n);

/* Gives what the first n rows have noted. Returns n, or the first row that fails: then nothing was
** given for it or any later row, and *failure says why, but not where. */
size_t notes_do(struct notes *notes, const struct program *p, const k_orders *orders, size_t n,
                k_failure *failure);

#endif
