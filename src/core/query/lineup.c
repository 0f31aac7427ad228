#include "core/query/cursor.h"

#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"

/* ---- a kept lineup ---- */

/* How many items of each kind a lineup will have. */
struct extent {
  uint32_t rows, runs, tables, entities, ends;
};

static struct lineup *lineup_make(ecs_world *world, const struct extent *extent) {
  size_t size = sizeof(struct lineup) + extent->tables * sizeof(struct lineup_table) +
                extent->runs * sizeof(struct lineup_run) +
                extent->ends * sizeof(struct lineup_end) +
                (extent->rows * (size_t)2 + extent->entities) * sizeof(uint32_t);
  struct lineup *lineup = memory_resize(&world->memory, NULL, 0, size);
  if (!lineup) return NULL;
  *lineup = (struct lineup){.users = 1, .size = size};
  lineup->tables = (struct lineup_table *)(void *)(lineup + 1);
  lineup->runs = (struct lineup_run *)(void *)(lineup->tables + extent->tables);
  struct lineup_end *ends = (struct lineup_end *)(void *)(lineup->runs + extent->runs);
  lineup->ends = extent->ends ? ends : NULL;
  lineup->rows = (uint32_t *)(void *)(ends + extent->ends);
  lineup->targets = lineup->rows + extent->rows;
  lineup->entities = lineup->targets + extent->rows;
  return lineup;
}

void lineup_release(ecs_world *world, struct lineup *lineup) {
  if (!lineup) return;
  assert(lineup->users > 0);
  if (--lineup->users == 0) memory_free(&world->memory, lineup, lineup->size);
}

static struct lineup *lineup_use(struct lineup *lineup) {
  lineup->users++;
  return lineup;
}

static void lineup_keep(ecs_query *query, struct lineup *lineup) {
  assert(lineup->users == 1 && lineup != query->lineup);
  lineup_release(query->world, query->lineup);
  query->lineup = lineup_use(lineup);
}

/* ---- parents first ---- */

static const struct ties *lineup_ties_of(const ecs_query *query) {
  return &query->terms.cascade->relation->ties;
}

/* Whether the tables alone decide which rows there are. */
static bool can_be_kept(const struct query_terms *terms) {
  return !terms->toggled && !terms->packed && !terms->sources;
}

static bool lineup_same_tables(const struct lineup *lineup, const ecs_query *query) {
  const uint32_t *entities = lineup->entities;
  if (lineup->table_count != query_reach(query)) return false;
  for (uint32_t i = 0; i < lineup->table_count; i++) {
    const struct table *table = query_table(query, i);
    uint32_t count = table->count;
    if (lineup->tables[i].order != table->order || lineup->tables[i].count != count) return false;
    if (count && memcmp(entities, table->rows, count * sizeof *entities) != 0) return false;
    entities += count;
  }
  return true;
}

static bool lineup_is_current(const struct lineup *lineup, const ecs_query *query) {
  const struct ties *ties = lineup_ties_of(query);
  return lineup && lineup->ties == ties && lineup->changes == ties->changes &&
         lineup_same_tables(lineup, query);
}

static void lineup_note_tables(struct lineup *lineup, const ecs_query *query) {
  uint32_t *entities = lineup->entities;
  lineup->table_count = query_reach(query);
  for (uint32_t i = 0; i < lineup->table_count; i++) {
    const struct table *table = query_table(query, i);
    lineup->tables[i] = (struct lineup_table){table->order, table->count};
    if (table->count) memcpy(entities, table->rows, table->count * sizeof *entities);
    entities += table->count;
  }
}

struct candidate {
  uint32_t match, row, depth, target;
};

/* The rows and runs of one depth: at first their counts, then the places of the next ones. */
struct level {
  uint32_t rows, runs;
  uint32_t last;               /* match of the last row plus 1 */
};

struct making {
  struct walk walk;
  struct memory *memory;
  struct candidate *list;
  uint32_t count, capacity;
  struct level *levels;
  uint32_t level_count, level_capacity;
  uint32_t run_count;
};

static RARE bool lineup_deepen(struct making *m, uint32_t depth) {
  if (!GROW(m->memory, m->levels, m->level_capacity, depth + 1ull)) return false;
  while (m->level_count <= depth) m->levels[m->level_count++] = (struct level){0, 0, 0};
  return true;
}

/* Lists all rows of the walk; false when out of memory. */
static bool lineup_list_rows(struct making *m) {
  struct ties *ties = &m->walk.query->terms.cascade->relation->ties;
  while (walk_next_row(&m->walk)) {
    struct candidate row = {m->walk.match, m->walk.row, 0, 0};
    uint32_t entity = m->walk.table->rows[row.row];
    const struct tie *tie = ties_find(ties, entity);
    if (tie) {
      const struct tie_depth *noted = ties_depth_slot(ties, entity);
      row.target = tie->target;
      row.depth = LIKELY(noted->as_of == ties->changes) ? noted->depth : ties_depth(ties, entity);
    }
    if (!GROW(m->memory, m->list, m->capacity, m->count + 1ull)) return false;
    if (UNLIKELY(row.depth >= m->level_count) && !lineup_deepen(m, row.depth)) return false;
    m->list[m->count++] = row;
    struct level *level = &m->levels[row.depth];
    level->rows++;
    if (level->last == row.match + 1) continue;
    level->last = row.match + 1;
    level->runs++;
    m->run_count++;
  }
  return true;
}

/* Counting sort by depth, stable within a depth. */
static void lineup_sort(const struct making *m, struct lineup *lineup) {
  struct level next = {0, 0, 0};
  for (uint32_t i = 0; i < m->level_count; i++) {
    struct level level = m->levels[i];
    m->levels[i] = next;
    next.rows += level.rows;
    next.runs += level.runs;
  }
  assert(next.rows == m->count && next.runs == m->run_count);
  for (uint32_t i = 0; i < m->count; i++) {
    const struct candidate *row = &m->list[i];
    struct level *level = &m->levels[row->depth];
    if (level->last != row->match + 1)
      lineup->runs[level->runs++] = (struct lineup_run){row->match, row->depth, 0};
    level->last = row->match + 1;
    lineup->rows[level->rows] = row->row;
    lineup->targets[level->rows] = row->target;
    lineup->runs[level->runs - 1].end = ++level->rows;
  }
  assert(m->level_count == 0 || m->levels[m->level_count - 1].rows == m->count);
  lineup->count = m->count;
  lineup->run_count = m->run_count;
}

/* Records where the rows' ties lead, valid while the tables stay unchanged. */
static void lineup_note_ends(const struct making *m, const struct lineup *lineup) {
  const struct walk *walk = &m->walk;
  const ecs_world *world = walk->query->world;
  uint32_t last = RECORD_BARE, match = NONE;
  for (uint32_t i = 0; lineup->ends && i < lineup->count; i++) {
    uint32_t target = lineup->targets[i];
    lineup->ends[i] = (struct lineup_end){NONE, 0};
    if (target == 0) continue;
    const struct record *record = entity_record(&world->entities, target);
    if (record->table >= RECORD_BARE) continue;
    if (record->table != last) match = walk_match_of(walk, record_table(world, record));
    last = record->table;
    lineup->ends[i] = (struct lineup_end){match, record->row};
  }
}

static uint32_t lineup_rows_of(const ecs_query *query) {
  uint32_t rows = 0;
  for (uint32_t i = 0; i < query_reach(query); i++)
    rows += query_table(query, i)->count;
  return rows;
}

/* Returns the sorted lineup; NULL when out of memory. */
static struct lineup *lineup_sorted(struct making *m) {
  const ecs_query *query = m->walk.query;
  if (!lineup_list_rows(m)) return NULL;
  bool kept = can_be_kept(&query->terms);
  struct extent extent = {m->count, m->run_count, kept ? query_reach(query) : 0,
                          kept ? lineup_rows_of(query) : 0, kept ? m->count : 0};
  struct lineup *lineup = lineup_make(query->world, &extent);
  if (!lineup) return NULL;
  lineup_sort(m, lineup);
  lineup_note_ends(m, lineup);
  if (kept) lineup_note_tables(lineup, query);
  lineup->ties = lineup_ties_of(query);
  lineup->changes = lineup->ties->changes;
  return lineup;
}

struct lineup *lineup_by_depth(ecs_query *query, const struct walk *walk) {
  if (lineup_is_current(query->lineup, query)) return lineup_use(query->lineup);
  struct making m = {.walk = *walk, .memory = &query->world->memory};
  struct lineup *lineup = lineup_sorted(&m);
  FREE_LIST(m.memory, m.list, m.capacity);
  FREE_LIST(m.memory, m.levels, m.level_capacity);
  if (lineup && can_be_kept(&query->terms)) lineup_keep(query, lineup);
  return lineup;
}

/* ---- sources ---- */

struct lineup *lineup_of_sources(ecs_query *query) {
  const struct term *first = query->terms.terms;
  const struct ties *ties = &first->component->relation->ties;
  struct lineup *kept = query->lineup;
  assert(query->terms.sources && !query->terms.cascade);
  if (kept && kept->ties == ties && kept->changes == ties->changes) return lineup_use(kept);
  uint32_t target = ecs_id_index(first->target);
  const struct tie_end *end = ties_end(ties, target);
  struct extent extent = {end ? end->count : 0, 0, 0, 0, 0};
  struct lineup *lineup = lineup_make(query->world, &extent);
  if (!lineup) return NULL;
  lineup->ties = ties;
  lineup->changes = ties->changes;
  uint32_t step = 0, count = 0;
  for (uint32_t at = ties_first(ties, target); at; at = ties_follow(ties, at, &step))
    lineup->rows[count++] = at;
  lineup->count = count;
  assert(lineup->count == extent.rows);
  lineup_keep(query, lineup);
  return lineup;
}

/* ---- checking ---- */

/* Whether a target's recorded row is right, if it is in one of the tables. */
static bool lineup_end_is_sound(const ecs_query *query, uint32_t target,
                                const struct lineup_end *end) {
  const struct record *record =
      target ? entity_record(&query->world->entities, target) : NULL;
  for (uint32_t i = 0; record && i < query->lineup->table_count; i++)
    if (query_table(query, i)->index == record->table)
      return end->match == i && end->row == record->row;
  return end->match == NONE;
}

/* Whether a run's rows are in one table, with the ties that it records. */
static bool lineup_run_is_sound(const ecs_query *query, const struct lineup_run *run,
                                uint32_t from) {
  const struct lineup *lineup = query->lineup;
  if (run->match >= lineup->table_count || run->end <= from || run->end > lineup->count)
    return false;
  const struct table *table = query_table(query, run->match);
  for (uint32_t i = from; i < run->end; i++) {
    uint32_t row = lineup->rows[i], target = lineup->targets[i];
    if (row >= table->count || (i > from && row <= lineup->rows[i - 1])) return false;
    if (target != ties_target(lineup->ties, table->rows[row])) return false;
    if ((target != 0) != (run->depth != 0)) return false;
    if (!lineup_end_is_sound(query, target, &lineup->ends[i])) return false;
  }
  return true;
}

static bool lineup_depths_are_sound(const ecs_query *query) {
  const struct lineup *lineup = query->lineup;
  uint32_t at = 0;
  if (!lineup_is_current(lineup, query)) return true;
  for (uint32_t i = 0; i < lineup->run_count; at = lineup->runs[i++].end) {
    const struct lineup_run *run = &lineup->runs[i];
    if (!lineup_run_is_sound(query, run, at)) return false;
    if (i && (run[-1].depth > run->depth ||
              (run[-1].depth == run->depth && run[-1].match >= run->match)))
      return false;
  }
  return at == lineup->count && at == lineup_rows_of(query);
}

bool lineup_is_sound(const ecs_query *query) {
  const struct lineup *lineup = query->lineup;
  if (!lineup) return true;
  if (query->broken || lineup->users == 0) return false;
  if (query->terms.cascade) return lineup_depths_are_sound(query);
  const struct term *first = query->terms.terms;
  const struct ties *ties = &first->component->relation->ties;
  if (lineup->ties != ties || lineup->changes != ties->changes) return true;
  uint32_t at = ties_first(ties, ecs_id_index(first->target)), i = 0;
  for (; at && i < lineup->count && lineup->rows[i] == at; i++) at = ties_next(ties, at);
  return !at && i == lineup->count;
}
