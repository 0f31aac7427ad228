/* Notes that may be gone through place after place instead of row after row: no two places share
** cells, and nothing but an index beside its array can fail. Five steps a row take 21 ns so, and
** 68 row after row. */
#ifndef ECS_KERNEL_NOTE_PLAIN_H
#define ECS_KERNEL_NOTE_PLAIN_H

#include "kernel/note.h"

/* Whether all notes of a program are such, outside of loops. */
bool notes_are_plain(const struct program *p);

/* notes_do, place after place, into *done; false, and nothing is done, where it has to go by
** rows. */
bool notes_do_plain(const struct notes *notes, const struct program *p, const k_array *arrays,
                    size_t n, size_t *done, k_failure *failure);

#endif
