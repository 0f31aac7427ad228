#include "core/query/stretch.h"

#include "core/query/changes.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/query/query.h"
#include "core/storage/toggle.h"

/* One with news always does, so that what it asks for is not looked for twice. */
bool term_splits(const struct term *term, const struct table *table) {
  if (term->news) return table_has(table, term->id);
  const struct toggle *toggle = toggle_of(table, term->id);
  if (!toggle && !table_has(table, term->id)) return false;
  if (toggle && toggle->off) return true;
  return (term->state == TERM_OFF) != (term->kind == TERM_WITHOUT);
}

uint32_t stretch_next_word(const struct query_terms *terms, const struct table *table,
                           uint32_t word) {
  uint32_t before, asking, words = (uint32_t)toggle_words(table->count);
  if (LIKELY(!terms->changes)) return word;
  do {
    before = word;
    asking = 0;
    for (uint32_t i = 0; word < words && i < terms->count; i++) {
      const struct term *term = &terms->terms[i];
      bool asks = term->news && term->toggled && term->group == NONE && term->kind == TERM_WITH;
      if (!asks || !table_has(table, term->id)) continue;
      word = picks_next(term, table, word);
      asking++;
    }
  } while (word != before && asking > 1);
  return word;
}

bool stretch_next(const struct query_terms *terms, const struct table *table,
                  struct row_stretch *stretch) {
  enum { UNIT = MARK_ROWS / 64 };
  uint32_t words = (uint32_t)toggle_words(table->count);
  uint32_t end = (uint32_t)toggle_words(stretch->row + stretch->count);
  uint32_t first = stretch->next ? stretch->next : words;
  if (!stretch->next && end < words) first = stretch_next_word(terms, table, end);
  if (first >= words) return false;
  assert(first % UNIT == 0 && first >= end);
  end = terms->changes ? first + UNIT : words;
  uint32_t next = words;
  while (end < words && (next = stretch_next_word(terms, table, end)) == end) end += UNIT;
  stretch->next = end < words ? next : words;
  stretch->row = first * 64;
  stretch->count = (end < words ? end * 64 : table->count) - stretch->row;
  return true;
}

bool stretches_are_full(const struct query_terms *terms, const struct table *table) {
  if (!terms->changes) return false;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term->toggled || !term_splits(term, table)) continue;
    const struct toggle *toggle = toggle_of(table, term->id);
    if (!term->news || term->group != NONE || term->kind != TERM_WITH) return false;
    if (term->component->track || (toggle && toggle->off)) return false;
  }
  return true;
}
