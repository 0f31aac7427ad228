/* Messages without stdio, and names. */
#ifndef ECS_CORE_BASE_TEXT_H
#define ECS_CORE_BASE_TEXT_H

#include "core/base/base.h"

/* Formats into a buffer of `size`, truncated and always ended by a zero byte. Supports printf's %s,
** %.*s, %g, %%, and %u and %d with z, l or ll. Returns the length. */
FORMAT(3, 4) size_t text_format(char *buffer, size_t size, const char *format, ...);
FORMAT(3, 0) size_t text_vformat(char *buffer, size_t size, const char *format, va_list args);

/* A text that is written piece by piece, with the same formats. It starts empty; what does not fit
** is left out but counted, so the length is that of the whole. */
struct text {
  char *buffer;
  size_t size;
  size_t length;
};

FORMAT(2, 3) void text_add(struct text *text, const char *format, ...);
/* Ends it with a zero byte, if the size is not 0. */
void text_end(struct text *text);

/* FNV-1a (Fowler, Noll, Vo), never 0. */
uint32_t text_hash(const char *text, size_t size);

/* 64-bit FNV-1a. Digests and random numbers depend on it, so it must never change. */
uint64_t text_hash64(const char *text, size_t size);

bool text_is_identifier(const char *text, size_t size);
bool text_equal(const char *a, const char *b, size_t size_of_b);
bool text_same(ecs_string a, ecs_string b);

/* A name or text from a host, where NULL means empty. */
static inline const char *text_given(const char *text) { return text ? text : ""; }

/* Finding the known name nearest to an unknown one. */

/* The number of single-letter edits between two names (Levenshtein with transposition, as in
** Damerau 1964), or 1,000 if there are more than `most` or a name is longer than 64. */
uint32_t text_distance(const char *a, size_t a_size, const char *b, size_t b_size,
                       uint32_t most);

/* Finds the nearest of many names: begin, offer each, then ask. */
struct nearest {
  const char *wanted;
  size_t wanted_size;
  const char *best;
  size_t best_size;
  uint32_t distance;
  char hint[96];
};

void nearest_begin(struct nearest *nearest, const char *wanted, size_t size);
void nearest_offer(struct nearest *nearest, const char *name, size_t size);

/* " (did you mean 'x'?)" or "", valid while *nearest is. */
const char *nearest_hint(struct nearest *nearest);

#endif
