#include "core/query/cursor.h"

#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"
#include "ecs_world.h"

/* ---- which queries ---- */

static bool matches_step_suits(const struct term *term) {
  if (term->group != NONE) return false;
  switch (term->form) {
    case TERM_SPARSE: return true;
    case TERM_PATH: return !term->through->sparse;
    case TERM_PAIR:
      return term->component && term->component->ties.exclusive && term->target != ECS_NULL &&
             !term->binds;
    default: return false;
  }
}

bool matches_suit(const ecs_query *query, bool mixes) {
  const struct query_terms *terms = &query->terms;
  if (query->broken) return false;
  for (uint32_t i = 0; i < terms->step_count; i++)
    if (!matches_step_suits(&terms->terms[terms->steps[i]])) return false;
  return mixes || !query_varies(terms);
}

/* ---- beginning ---- */

static size_t match_spot_room(uint32_t rows) {
  return rows * (sizeof(struct matches_part) + sizeof(uint32_t));
}

size_t matches_room(const ecs_query *query, uint32_t rows) {
  return (query->terms.step_count + (size_t)1) * match_spot_room(rows);
}

static char *matches_lay_out_spot(struct matches_spot *spot, char *at, uint32_t rows) {
  spot->parts = (struct matches_part *)(void *)at;
  spot->rows = (uint32_t *)(void *)(spot->parts + rows);
  return at + match_spot_room(rows);
}

void matches_lay_out(struct matches *matches, void *room, uint32_t rows) {
  assert(rows > 0 && rows <= MATCHES_ROWS && rows % 2 == 0);
  matches->limit = rows;
  char *at = matches_lay_out_spot(&matches->own, room, rows);
  for (uint32_t i = 0; i < matches->step_count; i++)
    at = matches_lay_out_spot(&matches->spots[i], at, rows);
}

static void matches_begin_step(const struct walk *walk, uint32_t at, struct matches_step *step) {
  const struct query_terms *terms = &walk->query->terms;
  const struct term *term = &terms->terms[terms->steps[at]];
  *step = (struct matches_step){
      .query = walk->query, .term = term, .seen.index = NONE, .before.index = NONE};
  step->gives = (term->slot != NONE && term_has_cells(term, term->component)) ||
                term->kind == TERM_OPTIONAL;
  if (term->form == TERM_PAIR) step->ties = &term->component->relation->ties;
  if (term->form == TERM_PATH && term->through_leaf == NONE)
    step->ties = &term->through->relation->ties;
  step->hides = term->state == TERM_OFF || (term->state == TERM_ON && term->component->toggle);
  step->cascades = walk->lineup && term->through && term->through == terms->cascade;
  /* Whether rows come in the order of the step's sparse rows, each of which matches. */
  bool leads = at == 0 && terms->packed && !walk->lineup && !step->hides && !term->news;
  assert(!leads || terms->steps[0] == 0);
  switch (term->form) {
  case TERM_SPARSE: step->kind = leads ? STEP_PACKED : STEP_SPARSE; break;
  case TERM_PATH:
    step->kind = term->nearest               ? STEP_NEAREST
                 : term->through_leaf == NONE ? STEP_PATH
                                              : STEP_FIELD;
    break;
  default:
    /* A tie that determines the query's order is present in all rows. */
    step->kind = at == 0 && terms->sources ? STEP_SELF : STEP_TIED;
    step->target = ecs_alive(walk->query->world, term->target) ? ecs_id_index(term->target) : 0;
  }
}

void matches_begin(struct matches *matches, struct walk *walk, ecs_query *query, bool mixes) {
  assert(matches_suit(query, true) && walk->query == query);
  matches->walk = walk;
  matches->mixes = mixes;
  matches->waits = false;
  matches->step_count = query->terms.step_count;
  if (query->terms.sources && walk->next_source && !walk->lineup)
    walk->lineup = lineup_of_sources(query);
  for (uint32_t i = 0; i < matches->step_count; i++)
    matches_begin_step(walk, i, &matches->steps[i]);
}

/* ---- steps ---- */

/* Where a row's cells of a term are. */
struct end {
  const struct table *table;
  uint32_t first, row;
  bool there;
};

/* Looks up what a table has of the step's term; it is often the last table or the one before. */
static APART void match_look(struct matches_step *step, const struct table *table) {
  const struct term *term = step->term;
  struct matches_seen last = step->seen;
  step->seen = step->before;
  step->before = last;
  if (step->seen.index == table->index) return;
  const struct layout *layout = table_find(table, term->id);
  uint32_t first = layout->count ? (uint32_t)(layout->columns - table->columns) : NONE;
  if (layout->count && term->leaf != NONE) first += term->leaf;
  bool there = layout->taken && (LIKELY(!table->hidden) || query_sees_prefabs(term));
  step->seen = (struct matches_seen){table, table->index, first, there};
}

INLINE bool end_in(struct matches_step *step, const struct table *table, uint32_t row,
                   struct end *end) {
  if (UNLIKELY(table->index != step->seen.index)) match_look(step, table);
  *end = (struct end){table, step->seen.first, row, true};
  return step->seen.there &&
         (LIKELY(!step->hides) ||
          toggle_is_off(table, step->term->id, row) == (step->term->state == TERM_OFF));
}

/* The first column of a term's cells in its sparse set. */
static uint32_t matches_first_in_sparse(const struct term *term) {
  if (term->component->leaf_count == 0) return NONE;
  return term->leaf == NONE ? 0 : term->leaf;
}

static bool matches_in_sparse(const struct matches_step *step, uint32_t entity, struct end *end) {
  const struct term *term = step->term;
  const struct component *component = term->component;
  uint32_t row = sparse_row(component->sparse, entity);
  *end = (struct end){component->sparse->table, matches_first_in_sparse(term), row, true};
  return row != NONE && (LIKELY(!step->hides && !term->news) || term_shows(term, end->table, row));
}

/* Whether queries see the entity: prefabs are hidden. */
static bool match_is_seen(const ecs_world *world, const struct matches_step *step,
                          const struct record *record) {
  bool hidden = record->table < RECORD_BARE && record_table(world, record)->hidden;
  return !hidden || query_sees_prefabs(step->term);
}

/* Finds the cells of a living entity, by its index. */
INLINE bool end_of(const ecs_world *world, struct matches_step *step, uint32_t index,
                   struct end *end) {
  const struct record *record = entity_record(&world->entities, index);
  if (UNLIKELY(step->term->component->sparse))
    return match_is_seen(world, step, record) && matches_in_sparse(step, index, end);
  if (LIKELY(record->table == step->seen.index))
    return end_in(step, step->seen.table, record->row, end);
  return record->table < RECORD_BARE &&
         end_in(step, record_table(world, record), record->row, end);
}

/* Consecutive rows of one table that may match. */
struct match_stretch {
  const struct table *table;
  uint32_t match;
  const uint32_t *rows;
  const uint32_t *targets;     /* targets along the lineup's relation, or NULL */
  const struct lineup_end *ends;     /* where those are, if the lineup knows */
  uint32_t packed;             /* STEP_PACKED: the sparse row of the first one */
};

static bool match_through_field(const ecs_world *world, struct matches_step *step,
                                const struct table *table, uint32_t row, struct end *end) {
  const struct term *term = step->term;
  const struct layout *layout = table_find(table, term->through_id);
  if (!layout->taken || toggle_is_off(table, term->through_id, row)) return false;
  const ecs_id *ids = layout->columns[term->through_leaf].data;
  ecs_id to = entity_target(world, ids[row]);
  return to != ECS_NULL && end_of(world, step, ecs_id_index(to), end);
}

/* The target of the i-th row, by the relation of a path or tie. */
INLINE uint32_t matches_target_of(const struct matches_step *step,
                                  const struct match_stretch *rows, uint32_t i) {
  assert(!step->cascades || rows->targets);
  return step->cascades ? rows->targets[i]
                        : ties_target(step->ties, rows->table->rows[rows->rows[i]]);
}

/* Finds the step's cells for the i-th row; false if there are none. */
static bool match_find(const ecs_world *world, struct matches_step *step,
                       const struct match_stretch *rows, uint32_t i, struct end *end) {
  uint32_t row = rows->rows[i], target;
  struct walk_end found;
  switch (step->kind) {
    case STEP_SELF: return end_in(step, rows->table, row, end);
    case STEP_TIED:
      target = matches_target_of(step, rows, i);
      return target && target == step->target && end_in(step, rows->table, row, end);
    case STEP_PATH:
      target = matches_target_of(step, rows, i);
      return target && end_of(world, step, target, end);
    case STEP_NEAREST:
      if (!walk_nearest(step->query, step->term, rows->table->rows[row], &found)) return false;
      *end = (struct end){found.table, found.first, found.row, true};
      return true;
    case STEP_FIELD: return match_through_field(world, step, rows->table, row, end);
    case STEP_PACKED:
      *end = (struct end){step->term->component->sparse->table,
                          matches_first_in_sparse(step->term), rows->packed + i, true};
      assert(end->row < end->table->count);
      return true;
    default: return matches_in_sparse(step, rows->table->rows[row], end);
  }
}

/* How many of a list's entities, from the first on, are in one table; lists their rows. */
static uint32_t match_together(const ecs_world *world, const uint32_t *list, uint32_t count,
                               uint32_t table, uint32_t *rows) {
  const struct slots *near = &world->entities.near;
  uint32_t i = 0;
  for (; i < count && list[i] - FIRST_ENTITY < near->count; i++) {
    struct record record = near->records[list[i] - FIRST_ENTITY];
    if (record.table != table) return i;
    rows[i] = record.row;
  }
  for (; i < count && list[i]; i++) {
    const struct record *record = entity_record(&world->entities, list[i]);
    if (record->table != table) return i;
    rows[i] = record->row;
  }
  return i;
}

/* How many of n rows have targets in the same table as the first one. A lineup that knows them
** takes an eighth off transforms over a tree of 100,000. */
static uint32_t matches_together_along(const ecs_world *world,
                                       const struct match_stretch *rows, uint32_t n,
                                       uint32_t table, uint32_t *ends) {
  const struct lineup_end *known = rows->ends;
  if (!known || known[0].match == NONE) return match_together(world, rows->targets, n, table, ends);
  uint32_t i = 0;
  for (; i < n && known[i].match == known[0].match; i++) ends[i] = known[i].row;
  return i;
}

/* How many of n rows have entity fields that lead to the same table as the first one's. Constants
** are in locals, since written rows might alias them, which takes off a third. */
static uint32_t matches_together_by_field(const ecs_world *world,
                                          const struct matches_step *step,
                                          const struct match_stretch *rows, uint32_t n,
                                          uint32_t table, uint32_t *ends) {
  const struct slots near = world->entities.near;
  const uint32_t high = world->entities.high, *list = rows->rows;
  const struct layout *layout = table_find(rows->table, step->term->through_id);
  const ecs_id *ids = layout->columns[step->term->through_leaf].data;
  uint32_t i = 1;
  assert(layout->taken && !rows->table->off && table < RECORD_BARE);
  for (; i < n; i++) {
    ecs_id id = ids[list[i]];
    uint32_t offset = ecs_id_index(id) - FIRST_ENTITY;
    if (UNLIKELY(offset >= near.count)) return i;
    struct record record = near.records[offset];
    if (id >> INDEX_BITS != (near.generations[offset] | high) || record.table != table) return i;
    ends[i] = record.row;
  }
  return i;
}

/* What was found of the row after those that are alike. */
struct match_ahead {
  bool known;
  struct end end;
};

/* Of n rows, the first of which has its cells in a table, finds those after it with cells in the
** same table. Returns how many rows that makes. */
static uint32_t matches_find_more(const ecs_world *world, struct matches_step *step,
                                  const struct match_stretch *rows, uint32_t n,
                                  const struct table *table, uint32_t *ends,
                                  struct match_ahead *ahead) {
  struct end *end = &ahead->end;
  uint32_t i = 1;
  bool sparse = step->term->component->sparse;
  if (step->kind == STEP_PATH && step->cascades && !step->hides && !sparse)
    return matches_together_along(world, rows, n, table->index, ends);
  /* Takes two thirds off fields of other entities that are all in one table. */
  if (step->kind == STEP_FIELD && !step->hides && !rows->table->off && !sparse)
    return matches_together_by_field(world, step, rows, n, table->index, ends);
  for (; i < n; ends[i++] = end->row) {
    end->there = match_find(world, step, rows, i, end);
    ahead->known = !end->there || end->table != table;
    if (ahead->known) return i;
  }
  return i;
}

/* How many of n rows, from the first on, are alike: cells in one table, or none. */
static uint32_t matches_find_alike(const ecs_world *world, struct matches_step *step,
                                   const struct match_stretch *rows, uint32_t n, struct end *first,
                                   uint32_t *ends, struct match_ahead *ahead) {
  uint32_t i = 1;
  if (!ahead->known) ahead->end.there = match_find(world, step, rows, 0, &ahead->end);
  *first = ahead->end;
  ahead->known = false;
  if (!first->there) {
    for (; i < n && !ahead->known; i += !ahead->known)
      ahead->known = ahead->end.there = match_find(world, step, rows, i, &ahead->end);
    return i;
  }
  if (step->kind == STEP_SELF) {
    if (step->gives) memcpy(ends, rows->rows, n * sizeof *ends);
    return n;
  }
  if (step->kind == STEP_PACKED) {
    for (uint32_t k = 0; k < n; k++) ends[k] = first->row + k;
    return n;
  }
  ends[0] = first->row;
  return matches_find_more(world, step, rows, n, first->table, ends, ahead);
}

static void match_append(struct matches_spot *spot, uint32_t at, const struct table *table,
                         uint32_t first) {
  uint32_t count = spot->part_count;
  if (count && spot->parts[count - 1].table == table && spot->parts[count - 1].first == first)
    return;
  assert(count <= at);
  spot->parts[spot->part_count++] = (struct matches_part){table, first, at, false};
}

/* Whether a table has the same optional terms as the batch's rows. */
static bool match_goes_on(const struct matches *matches, uint32_t match) {
  const ecs_query *query = matches->walk->query;
  if (LIKELY(!query->terms.choices) || matches->count == 0) return true;
  const uint32_t *a = query_columns(query, matches->own.parts[0].first);
  const uint32_t *b = query_columns(query, match);
  for (uint32_t i = 0; a != b && i < query->terms.slots; i++)
    if ((a[i] == NONE) != (b[i] == NONE)) return false;
  return true;
}

/* Rows of a stretch that do not match, a bit each. */
struct match_dead {
  uint64_t bits[MATCHES_ROWS / 64];
  bool any;
};

static bool match_is_dead(const struct match_dead *dead, uint32_t at) {
  return dead->bits[at / 64] >> at % 64 & 1;
}

/* The next row, from a given one on, that is dead (or live); n if there is none. */
static uint32_t match_next(const struct match_dead *dead, bool is, uint32_t at, uint32_t n) {
  while (at < n && match_is_dead(dead, at) != is) at++;
  return at;
}

/* Finds a step's cells in n rows, in groups that are alike, and marks rows that do not match as
** dead. Returns how many rows it has handled. */
static uint32_t match_find_all(struct matches *matches, uint32_t number,
                               const struct match_stretch *rows, uint32_t n,
                               struct match_dead *dead) {
  struct matches_step *step = &matches->steps[number];
  struct matches_spot *spot = &matches->spots[number];
  enum term_kind kind = step->term->kind;
  uint32_t at = matches->count, alike, until = dead->any ? 0 : n;   /* end of live rows */
  struct match_ahead ahead = {.known = false};
  struct end end;
  for (uint32_t i = 0; i < n; i += alike) {
    if (i == until) {
      ahead.known = false;
      i = match_next(dead, false, i, n);
      until = match_next(dead, true, i, n);
      if (i == n) break;
    }
    const struct match_stretch rest = {
        rows->table, rows->match, rows->rows + i, rows->targets ? rows->targets + i : NULL,
        rows->ends ? rows->ends + i : NULL, rows->packed + i};
    uint32_t *ends = spot->rows + at + i;
    alike = matches_find_alike(matches->walk->query->world, step, &rest, until - i, &end, ends,
                               &ahead);
    if (kind != TERM_OPTIONAL && end.there == (kind == TERM_WITHOUT)) {
      dead->any = true;
      for (uint32_t j = i; j < i + alike; j++) dead->bits[j / 64] |= UINT64_C(1) << j % 64;
    } else if (kind == TERM_OPTIONAL && !matches->mixes && spot->part_count &&
               (spot->parts[spot->part_count - 1].table != NULL) != end.there) {
      return i;
    } else if (step->gives) {
      match_append(spot, at + i, end.there ? end.table : NULL, end.there ? end.first : NONE);
    }
    for (uint32_t j = 0; j < alike && !end.there; j++) ends[j] = j;   /* contiguous rows */
  }
  return n;
}

/* Removes the dead among n rows that were just appended; `part` is the first part appended with
** them. */
static void match_leave_out(struct matches_spot *spot, uint32_t at, uint32_t n, uint32_t part,
                            const struct match_dead *dead) {
  uint32_t to = at, next = part, count = spot->part_count;
  struct matches_part now = {NULL, NONE, 0, false};
  bool turns = false;
  spot->part_count = part;
  for (uint32_t i = 0; i < n; i++) {
    for (; next < count && spot->parts[next].at <= at + i; next++, turns = true)
      now = spot->parts[next];
    if (match_is_dead(dead, i)) continue;
    if (turns) match_append(spot, to, now.table, now.first);
    turns = false;
    spot->rows[to++] = spot->rows[at + i];
  }
}

/* Appends the matching rows of n. Returns how many it has handled; 0 if they belong to another
** batch. */
static uint32_t match_take(struct matches *matches, const struct match_stretch *rows, uint32_t n) {
  struct match_dead dead;
  uint32_t at = matches->count, parts[QUERY_STEPS], live;
  assert(n > 0 && n <= matches->limit - at);
  if (!match_goes_on(matches, rows->match)) return 0;
  memset(dead.bits, 0, (n + 63) / 64 * sizeof *dead.bits);
  dead.any = false;
  for (uint32_t i = 0; i < matches->step_count; i++) {
    parts[i] = matches->spots[i].part_count;
    n = match_find_all(matches, i, rows, n, &dead);
  }
  for (uint32_t i = 0; i < matches->step_count; i++) {
    struct matches_spot *spot = &matches->spots[i];
    while (spot->part_count > parts[i] && spot->parts[spot->part_count - 1].at >= at + n)
      spot->part_count--;
  }
  live = n;
  if (n % 64) dead.bits[n / 64] &= (UINT64_C(1) << n % 64) - 1;
  for (uint32_t word = 0; dead.any && word * 64 < n; word++) live -= bits_count(dead.bits[word]);
  if (rows->rows != matches->own.rows + at)
    memcpy(matches->own.rows + at, rows->rows, n * sizeof *rows->rows);
  for (uint32_t i = 0; live < n && i < matches->step_count; i++)
    if (matches->steps[i].gives) match_leave_out(&matches->spots[i], at, n, parts[i], &dead);
  if (live < n) match_leave_out(&matches->own, at, n, matches->own.part_count, &dead);
  if (live) match_append(&matches->own, at, rows->table, rows->match);
  matches->count += live;
  return n;
}

/* ---- rows ---- */

static uint32_t matches_room_in(const struct matches *matches) {
  return matches->limit - matches->count;
}

static uint32_t match_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void matches_take_by_depth(struct matches *matches) {
  struct walk *walk = matches->walk;
  const struct lineup *lineup = walk->lineup;
  uint32_t depth = NONE;
  while (walk->next_in_lineup < lineup->count && matches_room_in(matches)) {
    uint32_t at = walk->next_in_lineup;
    if (at == lineup->runs[walk->run].end) walk->run++;
    const struct lineup_run *run = &lineup->runs[walk->run];
    if (matches->count == 0) depth = run->depth;
    if (run->depth != depth) return;
    struct match_stretch rows = {query_table(walk->query, run->match),
                           run->match, lineup->rows + at, lineup->targets + at,
                           lineup->ends ? lineup->ends + at : NULL, 0};
    uint32_t taken =
        match_take(matches, &rows, match_least(run->end - at, matches_room_in(matches)));
    if (taken == 0) return;
    walk->next_in_lineup += taken;
  }
}

/* Takes or skips entities of a list, from a place on: sources, or those of sparse rows. */
static void matches_take_listed(struct matches *matches, const uint32_t *list, uint32_t count,
                                uint32_t *at) {
  struct walk *walk = matches->walk;
  for (uint32_t taken = 1; *at < count && matches_room_in(matches); *at += taken) {
    taken = 1;
    if (!walk_come_to(walk, list[*at])) continue;
    assert(walk->match < walk->query->count);
    uint32_t *own = matches->own.rows + matches->count;
    uint32_t most = match_least(count - *at, matches_room_in(matches));
    if (walk->query->terms.toggled) most = 1;
    most = match_together(walk->query->world, list + *at, most, walk->table->index, own);
    struct match_stretch rows = {walk->table, walk->match, own, NULL, NULL, *at};
    taken = match_take(matches, &rows, most);
    if (taken == 0) return;
  }
}

/* How many rows of the walk's table, from its current one on, are known to be consecutive. */
static LOOPS uint32_t matches_next_rows(struct matches *matches) {
  const struct walk *walk = matches->walk;
  const struct query_terms *terms = &walk->query->terms;
  uint32_t n = !terms->sources
                   ? match_least(walk->run_end - walk->row, matches_room_in(matches))
                   : 1;
  uint32_t *rows = matches->own.rows + matches->count, first = walk->row;
  for (uint32_t i = 0; i < n; i++) rows[i] = first + i;
  return n;
}

static void matches_take_others(struct matches *matches) {
  struct walk *walk = matches->walk;
  while (matches_room_in(matches) && (matches->waits || walk_next_row(walk))) {
    matches->waits = true;
    uint32_t n = matches_next_rows(matches);
    uint32_t *list = matches->own.rows + matches->count;
    struct match_stretch rows = {walk->table, walk->match, list, NULL, NULL, 0};
    uint32_t taken = match_take(matches, &rows, n);
    if (taken == 0) return;
    matches->waits = false;
    if (n > 1) walk->next_row = walk->row + taken;
  }
}

bool matches_next(struct matches *matches) {
  struct walk *walk = matches->walk;
  const struct term *first = walk->query->terms.terms;
  matches->count = 0;
  matches->own.part_count = 0;
  for (uint32_t i = 0; i < matches->step_count; i++) matches->spots[i].part_count = 0;
  if (!walk->lineup && walk->query->terms.packed)
    matches_take_listed(matches, first->component->sparse->table->rows,
                        walk->reach ? first->component->sparse->table->count : 0, &walk->next_row);
  else if (!walk->lineup)
    matches_take_others(matches);
  else if (walk->query->terms.cascade)
    matches_take_by_depth(matches);
  else
    matches_take_listed(matches, walk->lineup->rows, walk->lineup->count, &walk->next_in_lineup);
  return matches->count > 0;
}
