/* Notes: what rows order for entities. An instruction notes it down, under a mask, with the entity
** and the value of each row; at the end of a block, before anything of it is stored, the notes are
** gone through row after row, in a row in the order of the function, and each order is given. A row
** one of whose orders cannot be given fails, and gives none. */
#ifndef ECS_KERNEL_NOTE_H
#define ECS_KERNEL_NOTE_H

#include <string.h>

#include "kernel/build.h"
#include "kernel/ops.h"
#include "kernel/program.h"

/* What a program shows of how rows come to a site, so that less has to be written down. */
enum {
  NOTING_ONCE = 1,               /* no site is come to more than once in a block */
  NOTING_ALL = 2,                /* all rows come to it */
  NOTING_SAME = 4,               /* so do those that came to the one before it */
  NOTING_HELD = 8                /* entities and values stay where they are until all is given */
};
void notes_plan(const struct program *p, uint8_t *noting);

/* The notes of one site in a block, as far as it was come to once. */
struct note_run {
  uint32_t from, count;
  uint32_t rows;                 /* where their rows begin; NONE: all rows, one after the other */
  bool one_entity, one_value;    /* only the first one's is written: it is that of all */
  const int64_t *entities;       /* NULL: in the columns of all notes, from `from` on */
  const k_scalar *values;
};

enum { NOTE_JOINED = UINT8_MAX };

/* The notes of a block, one after the other, in columns: in the room given, or in `own`. */
struct notes {
  struct memory *memory;
  int64_t *entities;
  k_scalar *values;
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

/* What rows note down: an entity and a value each, or one for all of them. */
struct noted {
  k_type type;
  bool one_entity, one_value;
  const int64_t *entities;
  const void *values;
};

/* Notes down what n rows order at a site, those of the mask. Returns n, or, when there is no room,
** the first row of the mask. */
size_t notes_add(struct notes *notes, uint32_t site, const struct noted *noted,
                 const uint8_t *mask, size_t n);

/* Gives what the first n rows have noted down. Returns n, or the first row that fails, of which
** nothing was given, nor of those behind it; *failure says why, but not where. */
size_t notes_do(struct notes *notes, const struct program *p, const k_orders *orders, size_t n,
                k_failure *failure);

#endif
