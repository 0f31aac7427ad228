#include "core/base/sets.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/toggle.h"

bool term_shows(const struct term *term, const struct table *table, uint32_t row) {
  if (UNLIKELY(term->news) && !picks_row(term, table, row)) return false;
  if (term->state == TERM_ANY) return true;
  return toggle_is_off(table, term->id, row) == (term->state == TERM_OFF);
}

/* ---- 64 rows ---- */

/* The rows of a table in which a term is present: bits, possibly inverted, or all; and only those
** of them that a term picks. */
struct shown {
  const uint64_t *bits;
  uint64_t flip;
  const struct term *picking;    /* NULL: all of them */
  const struct table *table;
};

/* The rows in which the term's component is present, in the state that it asks for. */
static struct shown shown_of(const struct term *term, const struct table *table) {
  struct shown rows = {NULL, 0, NULL, table};
  if (!table_has(table, term->id)) return rows;
  if (!term->toggled || term->state != TERM_OFF) rows.flip = UINT64_MAX;
  bool asks = term->toggled && term->state != TERM_ANY;
  const struct toggle *toggle = asks ? toggle_of(table, term->id) : NULL;
  if (toggle && toggle->off) rows.bits = toggle->bits;
  if (UNLIKELY(term->news)) rows.picking = term;
  return rows;
}

static uint64_t shown_at(struct shown rows, uint32_t word) {
  uint64_t bits = (rows.bits ? rows.bits[word] : 0) ^ rows.flip;
  return LIKELY(!rows.picking) ? bits : bits & picks_at(rows.picking, rows.table, word);
}

static uint64_t query_rows_shown(const struct term *term, const struct table *table,
                                 uint32_t word) {
  return shown_at(shown_of(term, table), word);
}

/* The rows of any alternative from the first one on; *at becomes the last one. */
static uint64_t query_any_shown(const struct query_terms *terms, const struct table *table,
                                uint32_t word, uint32_t *at) {
  uint32_t group = terms->terms[*at].group, first = *at;
  uint64_t rows = 0;
  for (uint32_t i = first; i < terms->count && terms->terms[i].group == group; i++) {
    rows |= term_is_by_row(&terms->terms[i])
                ? UINT64_MAX
                : query_rows_shown(&terms->terms[i], table, word);
    *at = i;
  }
  return rows;
}

static uint64_t query_rows_matching(const struct query_terms *terms, const struct table *table,
                                    uint32_t word) {
  uint64_t rows = UINT64_MAX;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->group != NONE)
      rows &= query_any_shown(terms, table, word, &i);
    else if (term->toggled && term->kind == TERM_WITH)
      rows &= query_rows_shown(term, table, word);
    else if (term->toggled && term->kind == TERM_WITHOUT)
      rows &= ~query_rows_shown(term, table, word);
  }
  return rows;
}

/* The rows in which the set of present terms differs from that of one row. */
static uint64_t query_rows_differing(const struct query_terms *terms, const struct table *table,
                                     uint32_t word, uint32_t row) {
  uint64_t rows = 0;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term->toggled || !term_may_lack(term)) continue;
    bool there = query_rows_shown(term, table, row / 64) >> row % 64 & 1;
    rows |= there ? ~query_rows_shown(term, table, word) : query_rows_shown(term, table, word);
  }
  return rows;
}

/* ---- tables ---- */

/* Whether rows of a table may differ in a term that is not decided row by row. A term with
** `:changed` or `:added` always splits, so its rows are not searched twice. */
static bool term_splits(const struct term *term, const struct table *table) {
  if (term->news) return table_has(table, term->id);
  const struct toggle *toggle = toggle_of(table, term->id);
  if (!toggle && !table_has(table, term->id)) return false;
  if (toggle && toggle->off) return true;
  return (term->state == TERM_OFF) != (term->kind == TERM_WITHOUT);
}

/* Whether rows of a table differ; otherwise all of them match, with the terms of its columns. */
static bool query_splits(const struct query_terms *terms, const struct table *table) {
  for (uint32_t i = 0; terms->toggled && i < terms->count; i++)
    if (terms->terms[i].toggled && term_splits(&terms->terms[i], table)) return true;
  return false;
}

/* Whether a term whose component the table has excludes all rows: absent in each or, for a `!`
** term, present in each. */
static bool query_excludes_all(const struct query_terms *terms, const struct table *table) {
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term->toggled || term->group != NONE || !table_has(table, term->id)) continue;
    const struct toggle *toggle = toggle_of(table, term->id);
    uint32_t off = toggle && term->state != TERM_ANY ? toggle->off : 0;
    uint32_t there = term->state == TERM_OFF ? off : table->count - off;
    if (term->kind == TERM_WITH && there == 0) return true;
    if (term->kind == TERM_WITH && UNLIKELY(term->news) && picks_none(term, table)) return true;
    if (term->kind == TERM_WITHOUT && there == table->count) return true;
  }
  return false;
}

/* The end of a run that begins with a row. */
static uint32_t query_run_end(const struct query_terms *terms, const struct table *table,
                              uint32_t row) {
  uint64_t before = (UINT64_C(1) << row % 64) - 1;
  for (uint32_t word = row / 64; word < toggle_words(table->count); word++) {
    uint64_t ends = ~query_rows_matching(terms, table, word) |
                    query_rows_differing(terms, table, word, row);
    ends &= ~before;
    before = 0;
    uint32_t end = ends ? word * 64 + bits_first(ends) : 0;
    if (ends) return end < table->count ? end : table->count;
  }
  return table->count;
}

/* The first word of 64 rows, from `word` on, in a stretch; the number of words if none. */
static uint32_t stretch_next_word(const struct query_terms *terms, const struct table *table,
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

/* The first matching row from a given one on; the number of rows if there is none. */
static uint32_t query_rows_next_row(const struct query_terms *terms, const struct table *table,
                                    uint32_t from) {
  uint64_t before = (UINT64_C(1) << from % 64) - 1;
  uint32_t words = (uint32_t)toggle_words(table->count);
  uint32_t word = stretch_next_word(terms, table, from / 64);
  for (; word < words; word = stretch_next_word(terms, table, word + 1)) {
    uint64_t rows = query_rows_matching(terms, table, word);
    if (word == from / 64) rows &= ~before;
    if (!rows) continue;
    uint32_t row = word * 64 + bits_first(rows);
    return row < table->count ? row : table->count;
  }
  return table->count;
}

uint32_t query_next_run(const struct query_terms *terms, const struct table *table, uint32_t from,
                        uint32_t *count) {
  assert(from <= table->count);
  *count = table->count - from;
  if (LIKELY(!terms->toggled) || *count == 0 || !query_splits(terms, table)) return from;
  uint32_t row = from == 0 && query_excludes_all(terms, table) ? table->count
                                                         : query_rows_next_row(terms, table, from);
  *count = row < table->count ? query_run_end(terms, table, row) - row : 0;
  return row;
}

uint64_t query_rows_at(const struct query_terms *terms, const struct table *table, uint32_t word) {
  uint32_t left = table->count - word * 64;
  uint64_t rows = query_rows_matching(terms, table, word);
  return left < 64 ? rows & ((UINT64_C(1) << left) - 1) : rows;
}

bool query_varies(const struct query_terms *terms) {
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].toggled && term_may_lack(&terms->terms[i])) return true;
  return false;
}

void query_mark_words(const struct query_terms *terms, const struct table *table, uint32_t from,
                      uint32_t words, uint64_t *bits) {
  assert(words && from + words <= toggle_words(table->count));
  memset(bits, 0xFF, words * sizeof *bits);
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    uint32_t last = i;
    if (term->group != NONE) {
      for (uint32_t word = 0; word < words; word++) {
        last = i;
        bits[word] &= query_any_shown(terms, table, from + word, &last);
      }
      i = last;
    } else if (term->toggled) {
      struct shown rows = shown_of(term, table);
      if (term->kind == TERM_WITHOUT) rows.flip = ~rows.flip;
      if (term->kind != TERM_WITH && term->kind != TERM_WITHOUT) continue;
      bool picked = rows.picking && !rows.bits && rows.flip == UINT64_MAX;
      if (picked) picks_narrow(rows.picking, rows.table, from, words, bits);
      for (uint32_t k = 0; !picked && k < words; k++) bits[k] &= shown_at(rows, from + k);
    }
  }
  uint32_t left = table->count - from * 64;
  if (left / 64 < words && left % 64) bits[left / 64] &= (UINT64_C(1) << left % 64) - 1;
}

void query_mark_rows(const struct query_terms *terms, const struct table *table, uint64_t *bits) {
  struct row_stretch stretch = {0, 0, 0};
  uint32_t end = 0;
  while (stretch_next(terms, table, &stretch)) {
    uint32_t word = stretch.row / 64, words = (uint32_t)toggle_words(stretch.count);
    memset(bits + end, 0, (word - end) * sizeof *bits);
    query_mark_words(terms, table, word, words, bits + word);
    end = word + words;
  }
  memset(bits + end, 0, (toggle_words(table->count) - end) * sizeof *bits);
}

void query_tell_shown(const struct term *term, const struct table *table, uint32_t row,
                      uint32_t count, uint8_t *to) {
  const struct shown rows = shown_of(term, table);
  for (uint32_t i = 0; i < count;) {
    uint32_t at = row + i, n = 64 - at % 64 < count - i ? 64 - at % 64 : count - i;
    uint64_t bits = shown_at(rows, at / 64) >> at % 64;
    for (uint32_t end = i + n; i < end; i++, bits >>= 1) to[i] = bits & 1;
  }
}

enum table_rows query_table_rows(const struct query_terms *terms, const struct table *table) {
  if (table->count == 0) return ROWS_NONE;
  if (LIKELY(!terms->toggled) || !query_splits(terms, table)) return ROWS_ALL;
  if (query_excludes_all(terms, table)) return ROWS_NONE;
  uint32_t deciding = 0;
  bool alone = !terms->changes;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    deciding += term->toggled && term->kind != TERM_OPTIONAL && term_splits(term, table);
    alone &= term->group == NONE && deciding <= 1;
  }
  /* If one term alone decides, some rows match. */
  if (!alone && query_rows_next_row(terms, table, 0) == table->count) return ROWS_NONE;
  return deciding ? ROWS_SOME : ROWS_ALL;
}

uint64_t query_rows_varying(const struct query_terms *terms, const struct table *table) {
  uint64_t slots = 0;
  for (uint32_t i = 0; terms->toggled && i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term->toggled || !term_may_lack(term)) continue;
    const struct toggle *toggle = toggle_of(table, term->id);
    bool some = toggle && toggle->off && toggle->off < table->count;
    if (term->news ? table_has(table, term->id) : some) slots |= UINT64_C(1) << term->slot % 64;
  }
  return slots;
}

bool query_takes_row(const struct query_terms *terms, const struct table *table, uint32_t row) {
  return !terms->toggled || (query_rows_matching(terms, table, row / 64) >> row % 64 & 1);
}

bool query_has_runs(const ecs_query *query) {
  for (uint32_t i = 0; query->terms.toggled && i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    if (table->count && query_splits(&query->terms, table)) return true;
  }
  return false;
}

uint32_t query_count_rows(const struct query_terms *terms, const struct table *table) {
  uint32_t count = 0;
  if (!query_splits(terms, table)) return table->count;
  if (query_excludes_all(terms, table)) return 0;
  uint32_t words = (uint32_t)toggle_words(table->count);
  uint32_t word = stretch_next_word(terms, table, 0);
  for (; word < words; word = stretch_next_word(terms, table, word + 1))
    count += bits_count(query_rows_at(terms, table, word));
  return count;
}

/* ---- stretch ---- */

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
