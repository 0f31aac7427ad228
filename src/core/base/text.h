/* Words: messages without stdio, and names. */
#ifndef ECS_CORE_BASE_TEXT_H
#define ECS_CORE_BASE_TEXT_H

#include "core/base/base.h"

/* Writes into a buffer of `size`, cut and always ended by a zero byte. Knows of printf's formats
** %s, %.*s, %g, %%, and %u and %d, which z, l and ll may stand before. Returns the length. */
FORMAT(3, 4) size_t text_format(char *buffer, size_t size, const char *format, ...);
FORMAT(3, 0) size_t text_vformat(char *buffer, size_t size, const char *format, va_list args);

/* A text that is written bit by bit, by the same formats. It starts with no length; what does
** not fit is left out and counted, so that the length is that of the whole. */
struct text {
  char *buffer;
  size_t size;
  size_t length;
};

FORMAT(2, 3) void text_add(struct text *text, const char *format, ...);
/* Ends it by a zero byte, if the size is not 0. */
void text_end(struct text *text);

/* FNV-1a (Fowler, Noll, Vo), never 0. */
uint32_t text_hash(const char *text, size_t size);

/* FNV-1a of 64 bits: digests and random numbers depend on it, so that it is never another one. */
uint64_t text_hash64(const char *text, size_t size);

bool text_is_identifier(const char *text, size_t size);
bool text_equal(const char *a, const char *b, size_t size_of_b);
bool text_same(ecs_string a, ecs_string b);

/* A name or text that a host gives: NULL is an empty one. */
static inline const char *text_given(const char *text) { return text ? text : ""; }

/* The nearest known name to one that is not known. */

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
