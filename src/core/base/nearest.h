/* The nearest known name to one that is not known. */
#ifndef ECS_CORE_BASE_NEAREST_H
#define ECS_CORE_BASE_NEAREST_H

#include "core/base/base.h"

/* How many single-letter edits lie between two names (Levenshtein with transposition, as in
** Damerau 1964), or 1,000 when more than `most` or when a name is longer than 64. */
uint32_t text_distance(const char *a, size_t a_size, const char *b, size_t b_size,
                       uint32_t most);

/* Looks for the nearest of many names: begin, offer each, then ask. */
struct nearest {
  const char *wanted;
  size_t wanted_size;
  const char *best;
  size_t best_size;
  uint32_t distance;
};

void nearest_begin(struct nearest *nearest, const char *wanted, size_t size);
void nearest_offer(struct nearest *nearest, const char *name, size_t size);

/* " (did you mean 'x'?)" into hint, or "". */
const char *nearest_hint(const struct nearest *nearest, char *hint, size_t size);

#endif
