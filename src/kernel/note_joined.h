/* Orders that are given together: one that the orders behind it say more of, as with what an entity
** is spawned. Their notes then are neither sorted nor looked at one by one: the nth of each site
** is of the same row. */
#ifndef ECS_KERNEL_NOTE_JOINED_H
#define ECS_KERNEL_NOTE_JOINED_H

#include "kernel/note.h"

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
