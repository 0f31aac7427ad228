#include "core/query/changes.h"

#include "core/base/sets.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"

/* The rows of one table that a term is about: a bit for each group that may hold some, in words
** from `first` on; for tracked rows also a bit for each row, in words from `rows` on, valid only in
** these groups. */
struct pick {
  const struct table *table;
  size_t first, rows;
  uint32_t count;              /* words that all rows take */
  bool tracked;
};

/* The picks of one term. While its query is not in use, marks are read directly. */
struct picks {
  uint64_t since;              /* marks of this run and before are known */
  bool settled;
  struct pick *list;           /* in the order of the query's tables */
  uint32_t count, capacity;
  uint64_t *words;
  uint32_t word_capacity;
  uint32_t last;               /* place in the list of the last one used */
};

/* ---- making ---- */

ecs_status picks_new(ecs_world *world, struct term *term) {
  assert(term->news != TERM_ALL && !term->picks);
  term->picks = memory_array(&world->memory, 1, sizeof *term->picks);
  return term->picks ? ECS_OK : world_nomem(world);
}

void picks_free(ecs_world *world, struct query_terms *terms) {
  struct memory *memory = &world->memory;
  for (uint32_t i = 0; i < terms->count; i++) {
    struct picks *picks = terms->terms[i].picks;
    if (!picks) continue;
    FREE_LIST(memory, picks->list, picks->capacity);
    FREE_LIST(memory, picks->words, picks->word_capacity);
    memory_free(memory, picks, sizeof *picks);
    terms->terms[i].picks = NULL;
  }
}

/* ---- which rows ---- */

static uint32_t changes_words_of(const struct table *table) {
  return (uint32_t)toggle_words(table->count);
}

static uint64_t changes_ask_marks(const struct term *term, const struct table *table,
                                  uint32_t word) {
  const struct marks *marks = marks_of(table, term->id);
  assert(term->picks && word < changes_words_of(table));
  if (!marks || !marks->groups) return UINT64_MAX;
  return marks_since(marks, term->picks->since, term->news == TERM_ADDED, word);
}

#define GROUP_WORDS (MARK_ROWS / 64)

/* The words that hold a bit for each group of rows, by the words that hold a bit for each row. */
static uint32_t changes_group_words(uint32_t words) { return words / (64 * GROUP_WORDS) + 1; }

/* Records which groups of a table a term is about, and which rows in them if these are tracked. */
static void changes_ask_groups(const struct term *term, const struct table *table, uint32_t count,
                               uint64_t *groups, uint64_t *rows) {
  const struct marks *marks = marks_of(table, term->id);
  uint32_t all = (count + GROUP_WORDS - 1) / GROUP_WORDS;
  for (uint32_t group = 0; group < all; group += 64) {
    uint32_t left = all - group < 64 ? all - group : 64;
    uint64_t bits = UINT64_MAX, since = term->picks->since;
    if (marks && marks->groups) {
      const uint64_t *written = marks->groups + group;
      bits = left == 64 ? marks_later(written, since) : 0;
      for (uint32_t i = 0; left < 64 && i < left; i++) bits |= (uint64_t)(written[i] > since) << i;
    }
    groups[group / 64] = bits;
    for (; rows && bits; bits &= bits - 1) {
      uint32_t word = (group + bits_first(bits)) * GROUP_WORDS;
      for (uint32_t i = word; i < count && i < word + GROUP_WORDS; i++)
        rows[i] = changes_ask_marks(term, table, i);
    }
  }
}

/* The picks of a table; NULL if the table is newer than the use. */
static const struct pick *pick_of(struct picks *picks, const struct table *table) {
  if (picks->last < picks->count && picks->list[picks->last].table == table)
    return &picks->list[picks->last];
  uint32_t low = 0;
  BISECT(low, picks->count, middle, picks->list[middle].table->order < table->order);
  if (low == picks->count || picks->list[low].table != table) return NULL;
  picks->last = low;
  return &picks->list[low];
}

/* The bits of one word of rows. */
static uint64_t changes_word_of(const struct picks *picks, const struct pick *pick, uint32_t word) {
  uint32_t group = word / GROUP_WORDS;
  if (word >= pick->count) return 0;
  if (!(picks->words[pick->first + group / 64] >> group % 64 & 1)) return 0;
  return pick->tracked ? picks->words[pick->rows + word] : UINT64_MAX;
}

uint64_t picks_at(const struct term *term, const struct table *table, uint32_t word) {
  struct picks *picks = term->picks;
  assert(picks && term->news != TERM_ALL);
  if (!picks->settled) return changes_ask_marks(term, table, word);
  const struct pick *pick = pick_of(picks, table);
  return pick ? changes_word_of(picks, pick, word) : 0;
}

void picks_narrow(const struct term *term, const struct table *table, uint32_t word,
                  uint32_t count, uint64_t *bits) {
  struct picks *picks = term->picks;
  const struct pick *pick = picks->settled ? pick_of(picks, table) : NULL;
  for (uint32_t i = 0; pick && i < count; i++) bits[i] &= changes_word_of(picks, pick, word + i);
  for (uint32_t i = 0; !pick && i < count; i++) bits[i] &= picks_at(term, table, word + i);
}

uint32_t picks_next(const struct term *term, const struct table *table, uint32_t word) {
  struct picks *picks = term->picks;
  uint32_t all = changes_words_of(table), group = word / GROUP_WORDS, found = group;
  assert(picks && word <= all);
  if (picks->settled) {
    const struct pick *pick = pick_of(picks, table);
    uint32_t known = pick ? (pick->count + GROUP_WORDS - 1) / GROUP_WORDS : 0;
    const uint64_t *bits = known ? picks->words + pick->first : NULL;
    while (found < known && !(bits[found / 64] >> found % 64)) found += 64 - found % 64;
    if (found < known) found += bits_first(bits[found / 64] >> found % 64);
    if (found >= known) return all;
  } else {
    const struct marks *marks = marks_of(table, term->id);
    while (marks && marks->groups && found * GROUP_WORDS < all &&
           marks->groups[found] <= picks->since)
      found++;
  }
  uint32_t first = found > group ? found * GROUP_WORDS : word;
  return first < all ? first : all;
}

bool picks_row(const struct term *term, const struct table *table, uint32_t row) {
  return picks_at(term, table, row / 64) >> row % 64 & 1;
}

bool picks_none(const struct term *term, const struct table *table) {
  uint32_t words = changes_words_of(table), word = 0;
  for (; (word = picks_next(term, table, word)) < words; word++) {
    uint32_t left = table->count - word * 64;
    uint64_t rows = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
    if (picks_at(term, table, word) & rows) return false;
  }
  return true;
}

/* ---- uses ---- */

static ecs_status changes_add_table(ecs_world *world, const struct term *term,
                                    const struct table *table) {
  struct picks *picks = term->picks;
  struct memory *memory = &world->memory;
  assert(!picks->settled && picks->last == 0);
  const struct pick *before = picks->count ? &picks->list[picks->count - 1] : NULL;
  uint32_t count = changes_words_of(table), groups = changes_group_words(count);
  bool tracked = term->component->track;
  size_t first = before ? before->rows + (before->tracked ? before->count : 0) : 0;
  size_t rows = first + groups, end = rows + (tracked ? count : 0);
  if (!GROW(memory, picks->list, picks->capacity, picks->count + 1ull) ||
      !GROW(memory, picks->words, picks->word_capacity, end))
    return world_nomem(world);
  uint64_t *words = picks->words;
  assert(picks->list && end <= picks->word_capacity);
  changes_ask_groups(term, table, count, words + first, tracked ? words + rows : NULL);
  picks->list[picks->count++] = (struct pick){table, first, rows, count, tracked};
  return ECS_OK;
}

static ecs_status changes_settle(const ecs_query *query, const struct term *term) {
  ecs_world *world = query->world;
  struct picks *picks = term->picks;
  ecs_status status = ECS_OK;
  picks->count = picks->last = 0;
  const struct sparse *sparse = term->component->sparse;
  if (sparse && sparse->table->count) status = changes_add_table(world, term, sparse->table);
  for (uint32_t i = 0; i < query_reach(query) && !sparse && status == ECS_OK; i++) {
    const struct table *table = query_table(query, i);
    if (table->count && table_has(table, term->id)) status = changes_add_table(world, term, table);
  }
  return status;
}

static void picks_set_known(const ecs_query *query, bool settled) {
  for (uint32_t i = 0; i < query->terms.count; i++) {
    struct picks *picks = query->terms.terms[i].picks;
    if (!picks) continue;
    picks->settled = settled;
    picks->since = query->seen;
  }
}

ecs_status changes_watch(ecs_query *query) {
  ecs_status status = ECS_OK;
  if (LIKELY(!query->terms.changes) || query->broken) return ECS_OK;
  for (uint32_t i = 0; i < query->terms.count && status == ECS_OK; i++) {
    const struct term *term = &query->terms.terms[i];
    if (term->picks && !term->component->watched)
      status = marks_begin(query->world, term->component);
  }
  return status;
}

ecs_status changes_open(ecs_query *query) {
  if (LIKELY(!query->terms.changes) || query->broken) return ECS_OK;
  assert(query->seen < query->world->now);
  ecs_status status = changes_watch(query);
  picks_set_known(query, query->uses > 0);
  for (uint32_t i = 0; i < query->terms.count && !query->uses && status == ECS_OK; i++)
    if (query->terms.terms[i].picks) status = changes_settle(query, &query->terms.terms[i]);
  if (status != ECS_OK) return status;
  picks_set_known(query, true);
  query->uses++;
  return ECS_OK;
}

/* Ends a use: later writes are marked with a new run. */
static void changes_end_use(ecs_query *query) {
  assert(query->uses == 0 && query->seen < query->world->now);
  query->seen = query->world->now++;
  picks_set_known(query, false);
}

void changes_close(ecs_query *query) {
  if (LIKELY(!query->terms.changes) || query->uses == 0) return;
  if (--query->uses == 0) changes_end_use(query);
}

void changes_close_all(ecs_world *world, const ecs_query *except) {
  for (ecs_query *query = world->first_query; query; query = query->next) {
    if (query->uses > 1) query->uses = 1;
    if (query != except) changes_close(query);
  }
}

void changes_use(ecs_query *query) {
  if (LIKELY(!query->terms.changes) || query->uses) return;
  changes_end_use(query);
}

void changes_keep(ecs_query *query, uint64_t run) {
  assert(run < query->world->now);
  if (LIKELY(!query->terms.changes)) return;
  query->seen = run;
  if (query->uses == 0) picks_set_known(query, false);
}

bool changes_are_sound(const ecs_query *query) {
  const ecs_world *world = query->world;
  if (query->uses && !staging_is_open(&world->staging) && !world->updating) return false;
  if (query->seen >= world->now) return false;
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    if ((term->news != TERM_ALL) != (term->picks != NULL)) return false;
    if (term->picks && term->picks->settled != (query->uses > 0)) return false;
  }
  return true;
}
