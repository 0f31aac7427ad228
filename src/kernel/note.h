/* Notes: what rows order for entities. An instruction notes an order under a mask, with the entity
** and value of each row. At the end of a block, before anything of it is stored, the notes are
** carried out row by row, within a row in the order of the function. A row with an order that
** cannot be carried out fails, and none of its orders take effect. */
#ifndef ECS_KERNEL_NOTE_H
#define ECS_KERNEL_NOTE_H

#include <string.h>

#include "kernel/build.h"
#include "kernel/ops.h"
#include "kernel/program.h"

/* The notes of one site, made in one execution of its instruction. */
struct note_run {
  uint32_t from, count;
  uint32_t rows;                 /* index of their rows in notes.rows; NONE: all rows in order */
  uint8_t site, order;
  uint8_t parts;                 /* number of later runs that are parts of its order; NOTE_PART: it
                                 ** is itself a part */
  bool one_entity, one_value;    /* only the first is stored: it applies to all rows */
};

enum { NOTE_PART = UINT8_MAX };

/* The notes of a block, one after the other, in columns: in the room given, or in `own`. */
struct notes {
  struct memory *memory;
  int64_t *entities;
  k_scalar *values;
  struct note_run *runs;
  uint32_t *rows, *order;        /* `order` is room for sorting them */
  uint32_t count, capacity, run_count;
  void *own;                     /* used if loops make more notes than the room holds */
  uint32_t own_capacity;
  bool fixed;                    /* notes cannot get more room: this thread must not allocate; */
  uint64_t outgrown;             /* how many notes did not fit, if the room was too small */
  size_t first;                  /* the block's first row */
  uint32_t from;                 /* where in the block the present rows begin */
  uint32_t masked;               /* number of rows in `mask`, the last one; 0: none; */
  uint32_t masked_rows;          /* index of its rows in `rows`, or NONE; */
  uint8_t mask[K_BLOCK];
  uint32_t among_count;          /* and the rows in it */
  uint16_t among[K_BLOCK];
};

/* notes_room: the bytes that a program's notes take outside loops. The second makes notes use that
** room. */
size_t notes_room(const struct program *p);
void notes_open(struct notes *notes, const struct program *p, void *room);
void notes_free(struct notes *notes);

/* Makes room for that many notes; false when out of memory or if there are too many. */
bool notes_grow(struct notes *notes, uint64_t need);

/* Begins a block at a row. */
static inline void notes_clear(struct notes *notes, size_t first) {
  notes->first = first;
  notes->from = 0;
  notes->outgrown = notes->masked = 0;
  notes->count = notes->run_count = 0;
}

/* Moves to rows that begin elsewhere in the block. */
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

/* The i-th of such values; a bool becomes the integer 0 or 1, whatever the byte order. */
k_scalar note_value_at(k_type type, const void *values, size_t i);
/* Notes the orders of n rows at a site: those of the mask, or all for NULL. Returns n or, without
** room, the first row of the mask. */
size_t notes_add(struct notes *notes, uint32_t site, const struct noted *noted,
                 const uint8_t *mask, size_t n);

/* Carries out what the first n rows have noted. Returns n, or the first row that fails: then none
** of its orders, nor of later rows, were carried out, and *failure says why, but not where. */
size_t notes_do(struct notes *notes, const struct program *p, const k_orders *orders, size_t n,
                k_failure *failure);

#endif
