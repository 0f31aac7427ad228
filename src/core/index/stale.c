#include "core/index/edition.h"

#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/base/types.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/index/refresh.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"

/* If more than one row in this many has changed, all are sorted again. */
#define FEW 8u

/* ---- which queries are simple ---------------------------------------------------------- */

/* Whether tables and marks decide everything: the matches are all rows of some tables. */
static bool stale_is_simple(const struct query_terms *terms) {
  return terms->step_count == 0 && !terms->event && !terms->toggled && !terms->changes &&
         !terms->sources && !terms->packed && !terms->cascade && terms->values == 0;
}

/* Whether keys are ids: those of dead entities read as null, which no mark records. */
static bool stale_keys_are_ids(const ecs_index *index) {
  const struct copies *rows = &index->rows;
  const struct copy_column *column;
  if (index->desc.by == ECS_BY_GRID) return false;
  if (!index->desc.key)
    return index_key_column(index, &column) != ECS_OK || type_class(column->type) == CLASS_ID;
  for (uint32_t i = 0; i < rows->column_count; i++)
    if (type_class(rows->columns[i].type) == CLASS_ID) return true;
  return false;
}

static bool stale_is_traced(const ecs_index *index) {
  const struct query_terms *terms = &index->query->terms;
  bool marked = false;
  if (!stale_is_simple(terms) || stale_keys_are_ids(index)) return false;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE) continue;
    if (term->form != TERM_OWN || !term->component->watched) return false;
    marked = marked || !term_may_lack(term);
  }
  return marked;
}

ecs_status stale_watch(ecs_index *index) {
  ecs_world *world = index->world;
  const struct query_terms *terms = &index->query->terms;
  if (staging_is_open(&world->staging) || world->running || world->registry.shown) return ECS_OK;
  if (index->query->broken || !stale_is_simple(terms) || stale_keys_are_ids(index)) return ECS_OK;
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].slot != NONE && terms->terms[i].form != TERM_OWN) return ECS_OK;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < terms->count && status == ECS_OK; i++)
    if (terms->terms[i].slot != NONE) status = marks_begin(world, terms->terms[i].component);
  return status;
}

/* ---- the rows of tables ---------------------------------------------------------------- */

static ecs_status stale_list_stretches(const ecs_query *query, struct stretches *out) {
  ecs_world *world = query->world;
  out->count = out->rows = 0;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    if (table->count == 0) continue;
    if (!GROW(&world->memory, out->list, out->capacity, out->count + 1ull))
      return world_nomem(world);
    out->list[out->count++] = (struct stretch){table->order, out->rows, table->count};
    out->rows += table->count;
  }
  return ECS_OK;
}

static bool stale_are_same(const struct stretches *a, const struct stretches *b) {
  if (a->count != b->count || a->rows != b->rows) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->list[i].order != b->list[i].order || a->list[i].count != b->list[i].count) return false;
  return true;
}

/* ---- changed rows ---------------------------------------------------------------------- */

/* Iterates over the query's non-empty tables. */
struct tables {
  const ecs_index *index;
  const struct table *table;
  uint32_t next;
};

static bool stale_next_table(struct tables *tables) {
  const ecs_query *query = tables->index->query;
  while (tables->next < query_reach(query)) {
    tables->table = query_table(query, tables->next++);
    if (tables->table->count) return true;
  }
  return false;
}

/* The marks of a term in a table; NULL if it yields nothing there. */
static const struct marks *stale_marks_for(const struct term *term, const struct table *table) {
  return term->slot == NONE ? NULL : marks_of(table, term->id);
}

static bool stale_is_lent(const ecs_index *index) {
  const struct query_terms *terms = &index->query->terms;
  struct tables tables = {index, NULL, 0};
  while (stale_next_table(&tables))
    for (uint32_t i = 0; i < terms->count; i++) {
      const struct marks *marks = stale_marks_for(&terms->terms[i], tables.table);
      if (marks && marks_are_lent(index->world, marks)) return true;
    }
  return false;
}

/* Whether any of 1,024 rows of a table may have been written or replaced, without saying which. */
static bool stale_group_is_new(const ecs_index *index, const struct table *table, uint32_t group) {
  const struct query_terms *terms = &index->query->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct marks *marks = stale_marks_for(&terms->terms[i], table);
    if (marks && !marks->tracked && marks->groups[group] > index->stale.seen) return true;
  }
  return false;
}

/* Whether so many rows have changed that examining them is not worth it. */
static bool stale_are_many(const ecs_index *index) {
  struct tables tables = {index, NULL, 0};
  uint64_t rows = 0;
  while (stale_next_table(&tables))
    for (uint32_t i = 0; i < mark_groups(tables.table->count); i++)
      rows += stale_group_is_new(index, tables.table, i) ? MARK_ROWS : 0;
  return rows > index->stale.now.rows / FEW + MARK_ROWS;
}

static uint64_t stale_words_written(const ecs_index *index, const struct table *table,
                                    uint32_t word) {
  const struct query_terms *terms = &index->query->terms;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct marks *marks = stale_marks_for(&terms->terms[i], table);
    if (marks) bits |= marks_since(marks, index->stale.seen, false, word);
  }
  return bits;
}

/* A bit for each of 64 rows: whether its entity differs from the id given. */
static LOOPS uint64_t stale_words_exchanged(const ecs_id *ids, const uint32_t *entities,
                                            uint32_t count) {
  uint32_t differ = 0;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; i++) differ |= ecs_id_index(ids[i]) ^ entities[i];
  for (uint32_t i = 0; differ && i < count; i++)
    bits |= (uint64_t)(ecs_id_index(ids[i]) != entities[i]) << i;
  return bits;
}

static bool stale_add_bits(ecs_index *index, uint32_t first, uint64_t bits) {
  struct staleness *stale = &index->stale;
  if (!GROW(&index->world->memory, stale->rows, stale->capacity, stale->count + 64ull))
    return false;
  for (; bits; bits &= bits - 1) stale->rows[stale->count++] = first + bits_first(bits);
  return true;
}

/* Adds the rows of a table, which are the query's from `first` on, that have changed or moved since
** the stretch `old`; for NULL, all. */
static bool stale_add_rows(ecs_index *index, const struct table *table, uint32_t first,
                           const struct stretch *old) {
  const ecs_id *ids = copies_entities(&index->rows);
  for (uint32_t base = 0; base < table->count; base += 64) {
    uint32_t count = table->count - base < 64 ? table->count - base : 64;
    uint32_t had = !old || old->count <= base ? 0 : old->count - base;
    if (had > count) had = count;
    uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    uint64_t kept = had < 64 ? (UINT64_C(1) << had) - 1 : UINT64_MAX;
    uint64_t bits = stale_words_written(index, table, base / 64);
    if (had) bits |= stale_words_exchanged(ids + old->first + base, table->rows + base, had);
    bits = (bits | ~kept) & all;
    if (bits && !stale_add_bits(index, first + base, bits)) return false;
  }
  return true;
}

/* The stretch of a table, in a list in the order of tables; NULL if it had none. */
static const struct stretch *stale_find_stretch(const struct stretches *stretches, uint64_t order) {
  uint32_t low = 0;
  BISECT(low, stretches->count, at, stretches->list[at].order < order);
  bool found = low < stretches->count && stretches->list[low].order == order;
  return found ? &stretches->list[low] : NULL;
}

/* ---- unchanged keys -------------------------------------------------------------------- */

static ecs_status stale_find_kept(ecs_index *index) {
  struct staleness *stale = &index->stale;
  if (!GROW(&index->world->memory, stale->from, stale->from_capacity, stale->now.rows + 1ull))
    return world_nomem(index->world);
  for (uint32_t i = 0; i < stale->now.count; i++) {
    const struct stretch *now = &stale->now.list[i];
    const struct stretch *then = stale_find_stretch(&stale->then, now->order);
    for (uint32_t row = 0; then && row < now->count; row++)
      stale->from[now->first + row] = then->first + row;
  }
  for (uint32_t i = 0; i < stale->count; i++) stale->from[stale->rows[i]] = NONE;
  stale->keeps_keys = true;
  return ECS_OK;
}

/* ---- all changes ----------------------------------------------------------------------- */

static bool stale_may_be_known(const ecs_index *index) {
  const struct staleness *stale = &index->stale;
  return stale->known && stale->version == index->world->registry.version &&
         stale->then.rows == index->rows.count && stale_is_traced(index);
}

ecs_status stale_find(ecs_index *index) {
  struct staleness *stale = &index->stale;
  bool called = index->desc.key && index->desc.by != ECS_BY_GRID;
  stale->what = STALE_ALL;
  stale->keeps_keys = false;
  stale->count = 0;
  ecs_status status = stale_list_stretches(index->query, &stale->now);
  if (status != ECS_OK || !stale_may_be_known(index)) return status;
  bool same = stale_are_same(&stale->then, &stale->now);
  if (!called && (!same || stale_are_many(index))) return ECS_OK;
  struct tables tables = {index, NULL, 0};
  bool ok = true;
  for (uint32_t i = 0; ok && stale_next_table(&tables); i++)
    ok = stale_add_rows(index, tables.table, stale->now.list[i].first,
                        stale_find_stretch(&stale->then, tables.table->order));
  status = ok ? ECS_OK : world_nomem(index->world);
  if (status != ECS_OK) return status;
  if (same && stale->count == 0)
    stale->what = STALE_NONE;
  else if (same && stale->count <= stale->now.rows / FEW)
    stale->what = STALE_ROWS;
  return called && stale->what == STALE_ALL ? stale_find_kept(index) : ECS_OK;
}

/* What is written from now on is marked later. */
void stale_settle(ecs_index *index) {
  struct staleness *stale = &index->stale;
  ecs_world *world = index->world;
  const struct stretches then = stale->then;
  if (stale->what == STALE_NONE) return;
  stale->known = false;
  stale->sound = stale_is_traced(index) && !stale_is_lent(index);
  stale->version = world->registry.version;
  stale->seen = world->now;
  if (stale->sound) world->now++;
  stale->then = stale->now;
  stale->now = then;
}

void stale_end(ecs_index *index) { index->stale.known = index->stale.sound; }

/* ---- copying --------------------------------------------------------------------------- */

/* The cells of a table for a column of the copies; NULL if all its rows have the same. */
static const void *stale_cells_of(const ecs_index *index, const struct table *table,
                                  const struct copy_column *column) {
  const struct term *term = &index->query->terms.terms[column->term];
  const struct layout *layout = table_find(table, term->id);
  if (column->component == ECS_NULL || layout->count == 0) return NULL;
  assert(layout->columns[column->leaf].size == column->size);
  return layout->columns[column->leaf].data;
}

static void stale_copy_rows(ecs_index *index, const struct table *table, uint32_t first,
                            const uint32_t *rows, uint32_t count) {
  struct copies *copies = &index->rows;
  ecs_id *ids = copies->entities.data;
  for (uint32_t i = 0; i < count; i++)
    ids[rows[i]] = entity_id(&index->world->entities, table->rows[rows[i] - first]);
  for (uint32_t i = 0; i < copies->column_count; i++) {
    const struct copy_column *column = &copies->columns[i];
    const void *cells = stale_cells_of(index, table, column);
    for (uint32_t j = 0; cells && j < count; j++)
      cell_copy(column->cells.data, rows[j], cells, rows[j] - first, column->size);
  }
}

void stale_copy(ecs_index *index) {
  const struct staleness *stale = &index->stale;
  struct tables tables = {index, NULL, 0};
  uint32_t at = 0;
  assert(stale->what == STALE_ROWS && stale->now.rows == index->rows.count);
  for (uint32_t i = 0; stale_next_table(&tables); i++) {
    const struct stretch *stretch = &stale->now.list[i];
    uint32_t end = at;
    while (end < stale->count && stale->rows[end] < stretch->first + stretch->count) end++;
    stale_copy_rows(index, tables.table, stretch->first, stale->rows + at, end - at);
    at = end;
  }
  assert(at == stale->count);
}

/* ---- memory ---------------------------------------------------------------------------- */

void stale_free(struct memory *memory, struct staleness *stale) {
  FREE_LIST(memory, stale->then.list, stale->then.capacity);
  FREE_LIST(memory, stale->now.list, stale->now.capacity);
  FREE_LIST(memory, stale->rows, stale->capacity);
  FREE_LIST(memory, stale->from, stale->from_capacity);
  memset(stale, 0, sizeof *stale);
}
