#include "runner/run.h"

#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "kernel/ops.h"

/* ---- room ---- */

static size_t gather_column_room(const struct run_plan *plan, uint32_t i) {
  size_t size = column_size((k_column)plan->program->columns[i]);
  return round_up((uint32_t)(GATHER_ROWS * size), 64);
}

static size_t gather_spot_room(void) {
  return GATHER_ROWS * (sizeof(struct matches_part) + sizeof(uint32_t));
}

/* The term of a column, or NULL if it belongs to none. */
static const struct term *gather_term_of(const ecs_query *query, struct run_column column) {
  uint32_t slot = column.slot == RUN_THERE ? column.leaf : column.slot;
  return slot == NONE ? NULL : query_term_of(&query->terms, slot);
}

/* The number of a term's spot: 0 for everything that belongs to the row itself. */
static uint32_t gather_spot_of(struct gather *gather, const struct walk *walk,
                               const struct term *term) {
  if (!term || !term_is_by_row(term)) return 0;
  for (uint32_t i = 1; i < gather->spot_count; i++)
    if (gather->spots[i].term == term) return i;
  struct gather_spot *spot = &gather->spots[gather->spot_count];
  spot->term = term;
  spot->step = walk_step_of(walk, term);
  return gather->spot_count++;
}

static void gather_place(struct gather *gather, char *at) {
  gather->ids = (ecs_id *)(void *)at;
  at += GATHER_ROWS * sizeof(ecs_id);
  for (uint32_t i = 0; i < gather->plan->program->column_count; i++) {
    gather->columns[i] = at;
    at += gather_column_room(gather->plan, i);
  }
  for (uint32_t i = 0; i < gather->spot_count; i++, at += gather_spot_room()) {
    struct matches_spot *cells = &gather->spots[i].cells;
    cells->parts = (struct matches_part *)(void *)at;
    cells->rows = (uint32_t *)(void *)(cells->parts + GATHER_ROWS);
  }
}

/* Finds the columns that hold values of the query's variables, not cells of a term. */
static void gather_find_values(struct gather *gather) {
  const struct run_plan *plan = gather->plan;
  gather->value_count = 0;
  for (uint32_t i = 0; i < plan->program->column_count; i++) {
    if (plan->columns[i].slot != RUN_VALUE) continue;
    assert(gather->value_count < QUERY_VARIABLES);
    gather->values[gather->value_count++] = i;
  }
}

void gather_forget(struct gather *gather) {
  gather->first = gather->count = 0;
  for (uint32_t i = 0; i < gather->spot_count; i++) gather->spots[i].cells.part_count = 0;
}

bool gather_begin(struct runner *runner, const struct run *run, const struct walk *walk,
                  struct gather *gather) {
  const struct run_plan *plan = run->plan;
  gather->plan = plan;
  gather->query = run->query;
  gather->spot_count = 1;
  for (uint32_t i = 0; i < plan->program->column_count; i++)
    gather->spot_of[i] =
        gather_spot_of(gather, walk, gather_term_of(run->query, plan->columns[i]));
  gather_find_values(gather);
  size_t room = GATHER_ROWS * sizeof(ecs_id) + gather->spot_count * gather_spot_room();
  for (uint32_t i = 0; i < plan->program->column_count; i++) room += gather_column_room(plan, i);
  if (!buffer_grow(runner->memory, &runner->gathered, room, 0) ||
      !runner_reserve(runner, plan, GATHER_ROWS))
    return false;
  runner->gathers++;
  gather_place(gather, runner->gathered.data);
  gather_forget(gather);
  return true;
}

bool gather_lay_out(struct runner *runner, struct matches *matches) {
  size_t room = matches_room(matches->walk->query, GATHER_ROWS);
  if (!buffer_grow(runner->memory, &runner->batch, room, 0)) return false;
  runner->gathers++;
  matches_lay_out(matches, runner->batch.data, GATHER_ROWS);
  return true;
}

/* ---- matches ---- */

INLINE void gather_append(struct matches_spot *spot, uint32_t at, const struct table *table,
                          uint32_t first, uint32_t row) {
  uint32_t count = spot->part_count;
  spot->rows[at] = row;
  if (LIKELY(count && spot->parts[count - 1].table == table &&
             spot->parts[count - 1].first == first))
    return;
  spot->part_count++;
  spot->parts[count] = (struct matches_part){table, first, at, false};
}

static void gather_append_end(struct gather_spot *spot, uint32_t at, const struct walk *walk) {
  struct walk_end other;
  const struct walk_end *end = &other;
  if (LIKELY(spot->step != NONE))
    end = &walk->ends[spot->step];
  else
    other = walk_cells(walk, spot->term);
  assert(end->table && end->first != NONE);
  gather_append(&spot->cells, at, end->table, end->first, end->row);
}

void gather_match(struct gather *gather, const struct walk *walk) {
  uint32_t at = gather->count++;
  assert(at < GATHER_ROWS);
  gather_append(&gather->spots[0].cells, at, walk->table, walk->match, walk->row);
  for (uint32_t i = 1; i < gather->spot_count; i++) gather_append_end(&gather->spots[i], at, walk);
  for (uint32_t i = 0; i < gather->value_count; i++) {
    uint32_t column = gather->values[i];
    ((ecs_id *)gather->columns[column])[at] =
        walk_value(walk, gather->plan->columns[column].leaf);
  }
}

void gather_matches(struct gather *gather, const struct matches *matches) {
  assert(gather->count == 0 && gather->value_count == 0);
  gather->count = matches->count;
  gather->spots[0].cells = matches->own;
  for (uint32_t i = 1; i < gather->spot_count; i++) {
    assert(gather->spots[i].step != NONE);
    gather->spots[i].cells = matches->spots[gather->spots[i].step];
  }
}

/* ---- cells ---- */

/* Consecutive gathered rows that are in one table. */
struct gather_stretch {
  const struct matches_part *part;
  const uint32_t *rows;
  uint32_t at, count;
};

INLINE struct gather_stretch gather_stretch_of(const struct gather *gather,
                                               const struct matches_spot *spot, uint32_t part,
                                               uint32_t rows) {
  uint32_t at = spot->parts[part].at, end = part + 1 < spot->part_count ? spot->parts[part + 1].at
                                                                        : gather->count;
  if (end > rows) end = rows;
  if (at < gather->first) at = gather->first;
  return (struct gather_stretch){&spot->parts[part], spot->rows + at, at - gather->first,
                                 end > at ? end - at : 0};
}

static LOOPS bool gather_lie_together(const uint32_t *rows, uint32_t count) {
  uint32_t apart = 0;
  if (count < 2) return true;
  if (rows[count - 1] != rows[0] + count - 1) return false;
  for (uint32_t i = 0; i < count; i++) apart |= rows[i] ^ (rows[0] + i);
  return apart == 0;
}

static void gather_find_together(struct gather *gather) {
  for (uint32_t i = 0; i < gather->spot_count; i++) {
    struct matches_spot *spot = &gather->spots[i].cells;
    for (uint32_t part = 0; part < spot->part_count; part++) {
      struct gather_stretch stretch = gather_stretch_of(gather, spot, part, gather->count);
      spot->parts[part].together = gather_lie_together(stretch.rows, stretch.count);
    }
  }
}

#define TAKE(type)                                                   \
  for (uint32_t i = 0; i < count; i++)                               \
    ((type *)to)[i] = ((const type *)from)[rows[i]];                 \
  break
#define AHEAD 8u               /* cells between prefetching a line and writing to it */
#define GIVE(type)                                                   \
  for (uint32_t i = 0; i < count; i++) {                             \
    FETCH(&((type *)to)[rows[i + AHEAD < count ? i + AHEAD : i]]);   \
    ((type *)to)[rows[i]] = ((const type *)from)[i];                 \
  }                                                                  \
  break

static void gather_take_cells(void *to, const void *from, const uint32_t *rows, uint32_t count,
                              size_t size) {
  switch (size) {
    case 4: TAKE(uint32_t);
    case 8: TAKE(uint64_t);
    case 1: TAKE(uint8_t);
    default: TAKE(uint16_t);
  }
}

static void gather_give_cells(void *to, const void *from, const uint32_t *rows, uint32_t count,
                              size_t size) {
  switch (size) {
    case 4: GIVE(uint32_t);
    case 8: GIVE(uint64_t);
    case 1: GIVE(uint8_t);
    default: GIVE(uint16_t);
  }
}

/* The table's column for a program's column in a stretch; NULL if its term is absent. */
static const struct column *gather_column_in(const struct gather *gather, uint32_t i,
                                             const struct matches_part *part) {
  struct run_column wanted = gather->plan->columns[i];
  uint32_t first = part->first;
  if (gather->spot_of[i] == 0) first = query_columns(gather->query, first)[wanted.slot];
  if (!part->table || first == NONE) return NULL;
  assert(first + wanted.leaf < part->table->column_count);
  return &part->table->columns[first + wanted.leaf];
}

/* Copies the first rows of a program's column from the tables, or back. */
static void gather_copy_column(const struct gather *gather, uint32_t i, uint32_t rows, bool back) {
  const struct matches_spot *spot = &gather->spots[gather->spot_of[i]].cells;
  size_t size = column_size((k_column)gather->plan->program->columns[i]);
  for (uint32_t part = 0; part < spot->part_count; part++) {
    struct gather_stretch stretch = gather_stretch_of(gather, spot, part, rows);
    if (stretch.count == 0) continue;
    char *own = (char *)gather->columns[i] + stretch.at * size;
    const struct column *column = gather_column_in(gather, i, stretch.part);
    if (!column && !back) memset(own, 0, stretch.count * size);
    if (!column) continue;
    assert(column->size == size);
    if (stretch.part->together) {
      void *cells = column_at(column, stretch.rows[0]);
      memcpy(back ? cells : own, back ? own : cells, stretch.count * size);
    } else if (back) {
      gather_give_cells(column->data, own, stretch.rows, stretch.count, size);
    } else {
      gather_take_cells(own, column->data, stretch.rows, stretch.count, size);
    }
  }
}

/* The cells of a column of the rows themselves, if they already lie as a program needs them;
** otherwise NULL. */
static void *gather_lies_ready(const struct gather *gather, uint32_t i) {
  const struct matches_spot *own = &gather->spots[0].cells;
  if (gather->spot_of[i] || own->part_count != 1 || !own->parts[0].together) return NULL;
  const struct column *column = gather_column_in(gather, i, &own->parts[0]);
  void *cells = column ? column_at(column, own->rows[gather->first]) : NULL;
  return (uintptr_t)cells % 64 == 0 ? cells : NULL;
}

static void gather_take_ids(struct gather *gather) {
  const struct matches_spot *own = &gather->spots[0].cells;
  for (uint32_t part = 0; part < own->part_count; part++) {
    struct gather_stretch stretch = gather_stretch_of(gather, own, part, gather->count);
    const uint32_t *entities = stretch.part->table->rows;
    for (uint32_t i = 0; i < stretch.count; i++)
      gather->ids[stretch.at + i] =
          entity_id(&gather->query->world->entities, entities[stretch.rows[i]]);
  }
}

static bool gather_has_bit(const uint64_t *bits, uint32_t column) {
  return bits[column / 64] >> column % 64 & 1;
}

/* Lists the addresses of rows' cells of 1 << shift bytes. */
static LOOPS void gather_list_cells(k_cell *to, char *data, const uint32_t *rows, uint32_t count,
                                    uint32_t shift) {
  for (uint32_t i = 0; i < count; i++) to[i].at = data + ((size_t)rows[i] << shift);
}

/* Writes, for each row, whether the term of a program's column is present. */
static void gather_take_there(const struct gather *gather, uint32_t i) {
  const struct matches_spot *spot = &gather->spots[gather->spot_of[i]].cells;
  const struct term *term = query_term_of(&gather->query->terms, gather->plan->columns[i].leaf);
  bool own = gather->spot_of[i] == 0;
  for (uint32_t part = 0; part < spot->part_count; part++) {
    struct gather_stretch stretch = gather_stretch_of(gather, spot, part, gather->count);
    const struct table *table = stretch.part->table;
    bool there = own ? table_has(table, term->id) : table != NULL;
    uint8_t *to = (uint8_t *)gather->columns[i] + stretch.at;
    for (uint32_t k = 0; k < stretch.count; k++)
      to[k] = there && (!own || term_shows(term, table, stretch.rows[k]));
  }
}

/* Lists the addresses of the cells of a program's column; where its term is absent, of a cell that
** nothing writes to. */
static void gather_take_addresses(const struct gather *gather, uint32_t i, k_cell *to) {
  static uint64_t none;
  const struct matches_spot *spot = &gather->spots[gather->spot_of[i]].cells;
  for (uint32_t part = 0; part < spot->part_count; part++) {
    struct gather_stretch stretch = gather_stretch_of(gather, spot, part, gather->count);
    if (stretch.count == 0) continue;
    const struct column *column = gather_column_in(gather, i, stretch.part);
    for (uint32_t k = 0; k < stretch.count && !column; k++) to[stretch.at + k].at = (char *)&none;
    if (!column) continue;
    uint32_t shift = column->size == 8 ? 3 : column->size / 2;
    gather_list_cells(to + stretch.at, column->data, stretch.rows, stretch.count, shift);
  }
}

static void gather_take_columns(struct gather *gather, uint32_t end) {
  const struct run_plan *plan = gather->plan;
  gather_find_together(gather);
  if (plan->takes_ids || plan->command_count) gather_take_ids(gather);
  for (uint32_t i = 0; i < plan->program->column_count; i++) {
    bool ids = plan->columns[i].slot == NONE, value = plan->columns[i].slot == RUN_VALUE;
    bool there = plan->columns[i].slot == RUN_THERE;
    if (plan->program->columns[i] >= KC_CELLS) {
      gather_take_addresses(gather, i, gather->columns[i]);
      gather->bound[i] = gather->columns[i];
      continue;
    }
    void *cells = ids     ? gather->ids
                  : value ? (ecs_id *)gather->columns[i] + gather->first
                  : there ? NULL
                          : gather_lies_ready(gather, i);
    gather->bound[i] = cells ? cells : gather->columns[i];
    if (there)
      gather_take_there(gather, i);
    else if (!cells && gather_has_bit(plan->reads, i)) gather_copy_column(gather, i, end, false);
  }
}

/* Marks a program's column, or the columns beside it, in the rows before an end, restricted by a
** bitmap if there is one. */
static void gather_mark_column(const struct gather *gather, uint32_t i, const uint64_t *bits,
                               uint32_t end) {
  const struct matches_spot *spot = &gather->spots[gather->spot_of[i]].cells;
  for (uint32_t part = 0; part < spot->part_count; part++) {
    struct gather_stretch stretch = gather_stretch_of(gather, spot, part, end);
    if (stretch.count == 0) continue;
    const struct table *table = stretch.part->table;
    const struct column *column = gather_column_in(gather, i, stretch.part);
    if (!column) continue;
    assert(gather->first + stretch.at + stretch.count <= end && end <= gather->count);
    uint32_t at = (uint32_t)(column - table->columns);
    for (uint32_t row = stretch.at; row < stretch.at + stretch.count; row++) {
      uint32_t to = stretch.rows[row - stretch.at];
      if (!bits || (bits[row / 64] >> row % 64 & 1))
        run_mark(gather->query->world, table, at, to / 64 * 64, UINT64_C(1) << to % 64);
    }
  }
}

/* A column of a slot. */
static uint32_t gather_column_of(const struct run_plan *plan, uint32_t slot) {
  uint32_t column = 0;
  while (plan->columns[column].slot != slot) column++;
  assert(column < plan->program->column_count);
  return column;
}

/* Marks what the rows before an end have written to. */
static RARE void gather_mark_written(const struct runner *runner, const struct gather *gather,
                                     uint32_t end) {
  const struct run_plan *plan = gather->plan;
  for (uint32_t i = 0; i < plan->mark_count; i++)
    gather_mark_column(gather, gather_column_of(plan, plan->marks[i]),
                       runner->bitmaps[plan->first_mark + i], end);
  for (uint32_t i = 0; i < plan->whole_count; i++)
    gather_mark_column(gather, gather_column_of(plan, plan->whole[i]), NULL, end);
}

struct gathered gather_at(const struct gather *gather, uint32_t at) {
  const struct matches_spot *own = &gather->spots[0].cells;
  uint32_t part = own->part_count - 1;
  assert(at < gather->count && own->part_count > 0);
  while (own->parts[part].at > at) part--;
  return (struct gathered){own->parts[part].first, own->rows[at]};
}

ecs_id gather_entity(const struct gather *gather, uint32_t at) {
  struct gathered place = gather_at(gather, at);
  const struct table *table = query_table(gather->query, place.match);
  return entity_id(&gather->query->world->entities, table->rows[place.row]);
}

/* ---- running ---- */

/* Records which rows the new least and greatest values belong to. */
static void gather_name_totals(const struct run *run, const struct gather *gather) {
  for (uint32_t i = 0; i < run->plan->program->total_count && !run->query->terms.event; i++) {
    k_total *total = &run->totals[i];
    assert(!total->won || total->row < gather->count);
    if (total->won) total->entity = gather_entity(gather, (uint32_t)total->row);
  }
}

bool gather_run(struct runner *runner, const struct run *run, struct gather *gather, uint32_t end,
                struct run_failure *failure) {
  gather_take_columns(gather, end);
  bool sound = run_rows(runner, run, end - gather->first, gather->bound, failure);
  if (!sound) {
    end = gather->first + (uint32_t)failure->why.row;
    failure->why.row = end;
    failure->entity = gather_entity(gather, end);
  }
  if (sound && run->totals) gather_name_totals(run, gather);
  for (uint32_t i = 0; i < gather->plan->program->column_count; i++)
    if (gather_has_bit(gather->plan->writes, i) && gather->bound[i] == gather->columns[i])
      gather_copy_column(gather, i, end, true);
  if (UNLIKELY(run->plan->mark_count | run->plan->whole_count))
    gather_mark_written(runner, gather, end);
  return sound;
}
