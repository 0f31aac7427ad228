/* Lists of what rows go through, each row its own, as nodes: of rows of an index, say.
**
**   uint32_t list = build_list(b);
**   k_value filled = build_listed(b, list, arguments, count);   -- how many items a row has
**   k_value round = build_loop(b, build_i64(b, INT64_MAX), mask);
**   ... build_picked(b, filled, round) ...
**
** k_run.list lists them, for the rows of the mask given to build_at: those for whose items there is
** no room fail. */
#ifndef ECS_KERNEL_BUILD_LIST_H
#define ECS_KERNEL_BUILD_LIST_H

#include "kernel/build.h"

/* The number of a new list, or NONE. Each is to be filled at one place. */
uint32_t build_list(struct builder *b);
/* Fills it, by arguments that are f64 or i64, or K_NONE where there is none. */
k_value build_listed(struct builder *b, uint32_t list, const k_value *arguments, uint32_t count);
/* A uniform item, from 0, of a list that is filled: counted from 1, and 0 where there is none
** such. */
k_value build_picked(struct builder *b, k_value filled, k_value item);
/* What the list's maker says of a row, as an f64, in the place of an argument that is not given. */
k_value build_taken(struct builder *b, k_value filled, uint32_t argument);

#endif
