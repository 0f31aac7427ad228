#include "runner/run.h"

#include "core/base/column.h"
#include "core/base/pool.h"
#include "core/base/sets.h"
#include "core/command/command.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/table.h"
#include "kernel/machine.h"
#include "kernel/ops.h"
#include "runner/effects.h"
#include "runner/partners.h"

/* ---- plans ---- */

struct run_plan run_plan_of(struct program *program, const struct run_column *columns,
                            const struct run_command *commands, uint32_t command_count) {
  struct run_plan plan = {.program = program, .columns = columns, .commands = commands,
                          .command_count = command_count, .machine_room = machine_room(program),
                          .sharing = sharing_of(program)};
  assert(program->column_count <= RUN_COLUMNS && program->bitmap_count <= RUN_BITMAPS + RUN_MARKS);
  assert(command_count <= program->bitmap_count);
  plan.plain = program->layout.plain;
  for (uint32_t i = 0; i < program->column_count; i++) {
    plan.reads[i / 64] |= (uint64_t)program_reads(program, i) << i % 64;
    plan.writes[i / 64] |= (uint64_t)program_writes(program, i) << i % 64;
    plan.plain = plan.plain && columns[i].slot < RUN_ELEMENT;
    plan.cell_count += program->columns[i] >= KC_CELLS;
    plan.there_count += columns[i].slot == RUN_THERE;
    if (columns[i].slot != NONE) continue;
    assert(!plan.takes_ids);
    assert(program->columns[i] == KC_ENTITY && !program_writes(program, i));
    plan.takes_ids = program_reads(program, i);
  }
  plan.needs_room =
      plan.takes_ids || plan.cell_count || plan.there_count || program->bitmap_count ||
      program->starts;
  assert(plan.machine_room > 0);
  return plan;
}

bool run_reads_values(const struct run_plan *plan) {
  for (uint32_t i = 0; i < plan->program->column_count; i++)
    if (plan->columns[i].slot == RUN_VALUE && plan->reads[i / 64] >> i % 64 & 1) return true;
  return false;
}

uint32_t run_width(const struct run_plan *plan, const ecs_query *query, const char **why) {
  const struct pool *pool = query->world->pool;
  if (!pool) return 1;
  *why = plan->sharing.why_not;
  if (!*why && terms_walk(&query->terms)) *why = "matches are not contiguous";
  if (!*why && !share_is_possible(pool, &plan->sharing))
    *why = "effects on other entities and index lookups need memory, which a host's threads "
           "cannot allocate";
  return *why ? 1 : pool_width(pool);
}

/* ---- runners ---- */

void runner_open(struct runner *runner, struct memory *memory, k_isa isa) {
  memset(runner, 0, sizeof *runner);
  runner->memory = memory;
  runner->isa = isa;
}

void runner_free(struct runner *runner) {
  machine_free(runner->machine);
  runner->machine = NULL;
  runner->machine_room = runner->capacity = 0;
  helpers_free(&runner->helpers, runner->memory);
  buffer_free(runner->memory, &runner->room);
  buffer_free(runner->memory, &runner->gathered);
  buffer_free(runner->memory, &runner->batch);
  buffer_free(runner->memory, &runner->numbers);
  runner->number_count = 0;
}

/* The words for ids, places of cells, presence and bitmaps, which each begin at a multiple of 64
** bytes. */
static size_t run_place_words(const struct run_plan *plan, uint32_t rows) {
  return (plan->takes_ids + (size_t)plan->cell_count) * round_up(rows, 8);
}

static size_t run_id_words(const struct run_plan *plan, uint32_t rows) {
  return run_place_words(plan, rows) + (size_t)plan->there_count * round_up(rows, 64) / 8;
}

static size_t run_bitmap_words(uint32_t rows) { return round_up((rows + 63) / 64, 8); }

size_t run_part_room(const struct run_plan *plan, uint32_t rows) {
  uint32_t bitmaps = (uint32_t)plan->program->bitmap_count + plan->program->starts;
  size_t words = run_id_words(plan, rows) + bitmaps * run_bitmap_words(rows);
  return words * sizeof(uint64_t);
}

static bool run_grow_room(struct runner *runner, size_t size) {
  if (!buffer_grow(runner->memory, &runner->room, size, 0)) return false;
  runner->capacity = size;
  return true;
}

static bool run_reserve_machine(struct runner *runner, const struct run_plan *plan) {
  if (!runner->machine) runner->machine = machine_new(runner->memory, runner->isa);
  if (!runner->machine || machine_reserve(runner->machine, plan->program) != K_OK) return false;
  runner->machine_room = plan->machine_room;
  return true;
}

/* Tables grow row by row, so the room doubles. */
static RARE bool run_reserve(struct runner *runner, const struct run_plan *plan, size_t size) {
  size_t twice = 2 * runner->capacity;
  if (plan->machine_room > runner->machine_room && !run_reserve_machine(runner, plan)) return false;
  if (size <= runner->capacity) return true;
  return (size < twice && run_grow_room(runner, twice)) || run_grow_room(runner, size);
}

static inline bool run_reserve_rows(struct runner *runner, const struct run_plan *plan,
                                    uint32_t rows) {
  size_t size = rows ? run_part_room(plan, rows) : 0;
  bool has_room = plan->machine_room <= runner->machine_room && size <= runner->capacity;
  return LIKELY(has_room) || run_reserve(runner, plan, size);
}

bool runner_reserve(struct runner *runner, const struct run_plan *plan, uint32_t rows) {
  return run_reserve_rows(runner, plan, rows);
}

/* ---- one table ---- */

static const struct table *run_span_table(const struct run *run, uint32_t match) {
  const ecs_query *query = run->query;
  assert(match < query->count);
  const struct table *table = query_table(query, match);
  assert(table->count > 0);
  return table;
}

/* Sets where the bitmaps are; the machine initialises them. */
static void run_lay_out(struct runner *runner, const struct run_plan *plan, uint32_t rows) {
  assert(run_part_room(plan, rows) <= runner->capacity);
  uint64_t *at = (uint64_t *)runner->room.data + run_id_words(plan, rows);
  for (uint32_t i = 0; i < plan->program->bitmap_count; i++, at += run_bitmap_words(rows))
    runner->bitmaps[i] = at;
  runner->start = plan->program->starts ? at : NULL;
  runner->rows = rows;
}

/* The rows of a table that a run covers. */
static inline struct row_stretch run_rows_of(const struct run *run, const struct table *table) {
  assert(run->rows.row + run->rows.count <= table->count);
  return run->rows.count ? run->rows : (struct row_stretch){0, table->count, 0};
}

bool run_next_rows(struct run *run, const struct table *table, bool by_stretches) {
  if (by_stretches) return stretch_next(&run->query->terms, table, &run->rows);
  bool more = run->rows.count == 0;
  run->rows = (struct row_stretch){0, table->count, 0};
  return more;
}

static void run_write_ids(struct runner *runner, const ecs_world *world, const uint32_t *rows,
                          uint32_t count) {
  uint64_t *ids = runner->room.data;
  for (uint32_t i = 0; i < count; i++) ids[i] = entity_id(&world->entities, rows[i]);
}

/* Writes the addresses of rows' cells. */
static void run_write_places(k_cell *to, char *data, size_t size, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) to[i].at = data + i * size;
}

/* Appends, for each row of a table, whether the term of a slot is present. */
static RARE void *run_write_there(const struct runner *runner, const struct run *run,
                                  const struct table *table, uint32_t slot, uint32_t *there) {
  struct row_stretch rows = run_rows_of(run, table);
  uint64_t *room = (uint64_t *)runner->room.data + run_place_words(run->plan, rows.count);
  uint8_t *to = (uint8_t *)room + (*there)++ * (size_t)round_up(rows.count, 64);
  query_tell_shown(query_term_of(&run->query->terms, slot), table, rows.row, rows.count, to);
  return to;
}

/* Binds the program's columns to their cells in a table, for the machine; `first` has the query's
** columns in it, by slot. */
INLINE void run_bind_columns(const struct runner *runner, const struct run *run, uint32_t match,
                             const struct table *table, void **to, const struct walk_later *later) {
  const struct run_plan *plan = run->plan;
  const uint32_t *first = run->first ? run->first : query_columns(run->query, match);
  const struct run_column *wanted = plan->columns;
  uint32_t rows = run_rows_of(run, table).count, places = plan->takes_ids, there = 0;
  for (uint32_t i = 0, count = plan->program->column_count; i < count; i++) {
    if (UNLIKELY(wanted[i].slot >= RUN_ELEMENT)) {
      assert(wanted[i].slot == NONE || !run_reads_values(plan));
      to[i] = runner->room.data;
      if (wanted[i].slot == RUN_THERE)
        to[i] = run_write_there(runner, run, table, wanted[i].leaf, &there);
      continue;
    }
    assert(wanted[i].slot < run->query->terms.slots && first[wanted[i].slot] != NONE);
    uint32_t at = first[wanted[i].slot] + wanted[i].leaf;
    assert(at < table->column_count);
    char *data = packed_column(table, at);
    assert(data);
    to[i] = data + (size_t)run->rows.row * table->columns[at].size;
    if (UNLIKELY(plan->program->columns[i] >= KC_CELLS)) {
      k_cell *room = (k_cell *)runner->room.data + (size_t)places++ * round_up(rows, 8);
      run_write_places(room, to[i], table->columns[at].size, rows);
      to[i] = room;
      continue;
    }
    assert(table->columns[at].size == column_size((k_column)plan->program->columns[i]));
    if (later) walk_fetch_column(later, at);
  }
}

void run_set_uniforms(const struct run *run) {
  const ecs_world *world = run->query->world;
  run->uniforms[UNIFORM_DT].f64 = run->dt;
  run->uniforms[UNIFORM_STREAM].i64 = (int64_t)world->chance.key;
  run->uniforms[UNIFORM_TICK].i64 = (int64_t)world->tick;
}

void run_ask(const struct run *run, const struct table *table) {
  for (uint32_t i = 0; i < run->plan->asked_count; i++) {
    const struct run_asked *asked = &run->plan->asked[i];
    assert(asked->uniform >= UNIFORM_FIRST);
    run->uniforms[asked->uniform].i64 = 0;
    run->uniforms[asked->uniform].b = table_has(table, asked->component);
  }
}

/* A k_look: the run is `ud`. */
static void run_look_up(void *ud, uint32_t number, const int64_t *from,
                        const uint8_t *mask, void *to, size_t n) {
  const struct run *run = ud;
  assert(run->plan->lookups && number < run->plan->program->lookup_count);
  lookup_all(run->query->world, &run->plan->lookups[number], from, mask, to, n);
}

/* A k_list: the run is `ud`. */
static size_t run_list_partners(void *ud, uint32_t number, const k_listing *listing, size_t n) {
  const struct run *run = ud;
  assert(run->plan->lists && number < run->plan->program->list_count);
  const struct run_list *list = &run->plan->lists[number];
  const struct ecs_index *index = list->kind <= LIST_HIGHEST ? run->indexes[list->index] : NULL;
  return partners_list(run->query->world, index, list, listing, n);
}

/* A run that the machine has been opened for. */
struct opened {
  const struct run *run;
  k_run rows;
  k_orders orders;
  struct giving giving;
};

/* Sets what is the same for all tables; member by member takes a third of an initializer's time. */
INLINE void run_set_rows(k_run *rows, const struct run *run, uint64_t *const *bitmaps,
                         const k_orders *orders) {
  rows->uniforms = run->uniforms;
  rows->bitmaps = bitmaps;
  rows->totals = run->totals;
  rows->arrays = run->arrays;
  rows->orders = orders;
  rows->live = lookup_forget_dead;
  rows->live_ud = run->query->world;
  rows->look = run_look_up;
  rows->look_ud = (void *)(uintptr_t)run;
  rows->list = run_list_partners;
  rows->list_ud = (void *)(uintptr_t)run;
  for (uint32_t i = 0; i < run->plan->program->list_count; i++)
    if (run->plan->lists[i].query) query_arrange(run->plan->lists[i].query);
}

/* Opens the machine; the uniforms that depend on tables must be set. */
static void open_machine(const struct runner *runner, const struct run *run,
                         struct opened *opened) {
  const struct run_plan *plan = run->plan;
  run_set_uniforms(run);
  opened->run = run;
  assert(plan->machine_room <= runner->machine_room);
  if (plan->order_count) opened->orders = giving_begin(&opened->giving, run);
  run_set_rows(&opened->rows, run, runner->bitmaps, plan->order_count ? &opened->orders : NULL);
  k_status status = machine_open(runner->machine, plan->program, &opened->rows);
  assert(status == K_OK);
  (void)status;
}

/* Runs on the world's threads, if it is worth it and there is room. */
static APART k_status run_shared(struct runner *runner, const struct opened *opened,
                                 k_failure *failure) {
  const struct run_plan *plan = opened->run->plan;
  struct pool *pool = opened->run->query->world->pool;
  k_status status = K_ENOMEM;
  if (share_is_worth(pool, &plan->sharing, opened->rows.rows))
    status = share_run(&runner->helpers, runner->machine, pool, &plan->sharing, failure);
  return status == K_ENOMEM ? machine_over(runner->machine, failure) : status;
}

static bool run_machine(struct runner *runner, struct opened *opened, uint32_t count,
                        void *const *columns, struct run_failure *failure) {
  opened->rows.rows = count;
  opened->rows.columns = columns;
  opened->rows.start = runner->start;
  k_status status = UNLIKELY(opened->run->query->world->pool != NULL)
                        ? run_shared(runner, opened, &failure->why)
                        : machine_over(runner->machine, &failure->why);
  assert(status == K_OK || status == K_FAILED);
  assert(status == K_OK || failure->why.row < count);
  return status == K_OK;
}

/* Records which entity a new least or greatest value belongs to. */
static void run_note_entities(const struct run *run, const struct table *table) {
  for (uint32_t i = 0; i < run->plan->program->total_count; i++) {
    k_total *total = &run->totals[i];
    if (!total->won) continue;
    total->entity = entity_id(&run->query->world->entities, table->rows[total->row]);
  }
}

static void run_mark_start(struct runner *runner, const struct run *run, const struct table *table,
                           struct row_stretch rows) {
  assert(runner->start && runner->rows == rows.count);
  uint32_t word = rows.row / 64, first = rows.row % 64, words = (first + rows.count + 63) / 64;
  const uint64_t *bits = run->filter ? run->filter + word : runner->start;
  if (!run->filter && rows.count < table->count)
    query_mark_words(&run->query->terms, table, word, words, runner->start);
  else if (!run->filter)
    query_mark_rows(&run->query->terms, table, runner->start);
  bits_move(runner->start, bits, first, rows.count);
}

void run_mark(const ecs_world *world, const struct table *table, uint32_t at, uint32_t row,
              uint64_t bits) {
  assert(at < table->column_count);
  struct marks *marks = marks_of(table, table->columns[at].id);
  if (marks) marks_write_bits(marks, world->now, row, bits);
}

/* Marks the rows that a program runs for: all of them, or those that it starts with. */
static void run_mark_whole(const struct runner *runner, const struct run *run,
                           const struct table *table, uint32_t at, struct row_stretch rows) {
  assert(at < table->column_count && rows.row + rows.count <= table->count);
  struct marks *marks = marks_of(table, table->columns[at].id);
  const uint64_t *start = run->plan->program->starts ? runner->start : NULL;
  if (marks && !start) marks_write(marks, run->query->world->now, rows.row, rows.count);
  for (uint32_t row = 0; marks && start && row < rows.count; row += 64) {
    uint64_t bits = start[row / 64];
    if (rows.count - row < 64) bits &= (UINT64_C(1) << (rows.count - row)) - 1;
    marks_write_bits(marks, run->query->world->now, rows.row + row, bits);
  }
}

/* Marks what `count` rows from `first` on have written to; later rows have written nothing. */
static RARE void run_mark_written(const struct runner *runner, const struct run *run,
                                  uint32_t match, const struct table *table,
                                  struct row_stretch rows) {
  const struct run_plan *plan = run->plan;
  const uint32_t *first = run->first ? run->first : query_columns(run->query, match);
  for (uint32_t i = 0; i < plan->whole_count; i++)
    run_mark_whole(runner, run, table, first[plan->whole[i]], rows);
  for (uint32_t i = 0; i < plan->mark_count; i++) {
    const uint64_t *bits = runner->bitmaps[plan->first_mark + i];
    assert(first[plan->marks[i]] != NONE);
    for (uint32_t row = 0; row < rows.count; row += 64)
      if (bits[row / 64])
        run_mark(run->query->world, table, first[plan->marks[i]], rows.row + row, bits[row / 64]);
  }
}

/* The number of rows, among the first `count`, that the program ran for. */
static uint64_t run_rows_done(const struct runner *runner, const struct run *run,
                              uint32_t count) {
  uint64_t done = 0;
  if (LIKELY(!run->plan->program->starts)) return count;
  for (uint32_t row = 0; row < count; row += 64) {
    uint64_t bits = runner->start[row / 64];
    if (count - row < 64) bits &= (UINT64_C(1) << (count - row)) - 1;
    done += bits_count(bits);
  }
  return done;
}

/* Runs over a match, or over run->rows of it, with the machine already open. */
INLINE bool run_opened(struct runner *runner, const struct run *run,
                              struct opened *opened, uint32_t match,
                              const struct table *table, const struct walk_later *later,
                              struct run_failure *failure) {
  const struct run_plan *plan = run->plan;
  const ecs_world *world = run->query->world;
  struct row_stretch rows = run_rows_of(run, table);
  assert(table == run_span_table(run, match));
  assert(rows.count == table->count || plan->program->total_count == 0);
  if (plan->needs_room) run_lay_out(runner, plan, rows.count);
  if (plan->takes_ids) run_write_ids(runner, world, table->rows + rows.row, rows.count);
  if (plan->program->starts) run_mark_start(runner, run, table, rows);
  void **columns = runner->machine->running.at;
  run_bind_columns(runner, run, match, table, columns, later);
  bool sound = run_machine(runner, opened, rows.count, columns, failure);
  if (UNLIKELY(!sound)) rows.count = (uint32_t)failure->why.row;
  run->query->world->rows_run += run_rows_done(runner, run, rows.count);
  if (UNLIKELY(plan->mark_count | plan->whole_count))
    run_mark_written(runner, run, match, table, rows);
  if (UNLIKELY(sound && plan->program->total_count)) run_note_entities(run, table);
  if (LIKELY(sound)) return true;
  failure->why.row += rows.row;
  failure->entity = entity_id(&world->entities, table->rows[failure->why.row]);
  return false;
}

bool run_table(struct runner *runner, const struct run *run, uint32_t match,
               struct run_failure *failure) {
  struct opened opened;
  const struct table *table = run_span_table(run, match);
  run_ask(run, table);
  open_machine(runner, run, &opened);
  return run_opened(runner, run, &opened, match, table, NULL, failure);
}

bool run_walk(struct runner *runner, const struct run *run, struct walk *walk, uint32_t *first,
              uint64_t *done, struct run_failure *failure) {
  struct opened opened;
  assert(!run->plan->needs_room && !run->plan->command_count && !run->plan->asked_count);
  assert(run->first == first && !run->query->terms.choices);
  open_machine(runner, run, &opened);
  do {
    walk_table_columns(walk, first);
    struct walk_later later = walk_prefetch(walk);
    if (!run_opened(runner, run, &opened, walk->match, walk->table, &later, failure)) return false;
    *done += walk->table->count;
  } while (walk_next_table(walk));
  return true;
}

bool run_rows(struct runner *runner, const struct run *run, uint32_t count, void *const *columns,
              struct run_failure *failure) {
  struct opened opened;
  assert(count > 0 && !run->plan->program->starts);
  if (run->plan->needs_room) run_lay_out(runner, run->plan, count);
  open_machine(runner, run, &opened);
  bool sound = run_machine(runner, &opened, count, columns, failure);
  run->query->world->rows_run += sound ? count : failure->why.row;
  return sound;
}

/* ---- elements ---- */

bool runner_reserve_elements(struct runner *runner, const struct run_plan *plan, uint32_t count) {
  uint32_t known = runner->number_count;
  if (!run_reserve_rows(runner, plan, count)) return false;
  if (known >= count) return true;
  if (!buffer_grow(runner->memory, &runner->numbers, count * sizeof(uint32_t),
                   known * sizeof(uint32_t)))
    return false;
  for (uint32_t *numbers = runner->numbers.data; known < count; known++) numbers[known] = known + 1;
  runner->number_count = known;
  return true;
}

bool run_elements(struct runner *runner, const struct run *run, uint32_t first, uint32_t count,
                  struct run_failure *failure) {
  const struct run_plan *plan = run->plan;
  void *columns[RUN_COLUMNS];
  assert(first + count <= runner->number_count);
  for (uint32_t i = 0; i < plan->program->column_count; i++) {
    bool numbers = plan->columns[i].slot == RUN_NUMBER;
    const void *data = runner->numbers.data;
    assert(numbers || plan->columns[i].slot == RUN_ELEMENT);
    if (!numbers) data = run->arrays[plan->columns[i].leaf].data;
    assert(numbers || run->arrays[plan->columns[i].leaf].count >= first + count);
    size_t size = column_size((k_column)plan->program->columns[i]);
    columns[i] = (char *)(uintptr_t)data + first * size;
  }
  return run_rows(runner, run, count, columns, failure);
}

/* ---- a part of several runs ---- */

/* A runner that has only room. */
static void run_lay_out_part(struct runner *runner, const struct run_plan *plan, uint32_t rows,
                             void *room) {
  runner->room.data = room;
  runner->capacity = run_part_room(plan, rows);
  run_lay_out(runner, plan, rows);
}

void run_part_begin(const struct run *run, uint32_t match, const struct run_part *part) {
  const struct run_plan *plan = run->plan;
  const struct table *table = run_span_table(run, match);
  struct runner runner;
  assert(!plan->order_count && !plan->program->total_count);
  run_lay_out_part(&runner, plan, table->count, part->room);
  struct row_stretch all = {0, table->count, 0};
  assert(run->rows.count == 0);
  if (plan->takes_ids) run_write_ids(&runner, run->query->world, table->rows, table->count);
  if (plan->program->starts) run_mark_start(&runner, run, table, all);
  run_bind_columns(&runner, run, match, table, part->columns, NULL);
  memcpy(part->bitmaps, runner.bitmaps, plan->program->bitmap_count * sizeof *part->bitmaps);
  run_set_rows(part->rows, run, part->bitmaps, NULL);
  part->rows->rows = table->count;
  part->rows->columns = part->columns;
  part->rows->start = runner.start;
}

void run_part_end(const struct run *run, uint32_t match, void *room) {
  const struct run_plan *plan = run->plan;
  const struct table *table = run_span_table(run, match);
  struct runner runner;
  run_lay_out_part(&runner, plan, table->count, room);
  run->query->world->rows_run += run_rows_done(&runner, run, table->count);
  if (plan->mark_count + plan->whole_count == 0) return;
  run_mark_written(&runner, run, match, table, (struct row_stretch){0, table->count, 0});
}

/* ---- commands ---- */

/* Counts the marked commands, and the rows that have any. */
static void run_count_marks(const struct runner *runner, const struct run_plan *plan, uint32_t rows,
                            uint64_t *marks, uint64_t *marked_rows) {
  *marks = *marked_rows = 0;
  for (size_t word = 0; word < (rows + 63) / 64; word++) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < plan->command_count; i++) {
      any |= runner->bitmaps[i][word];
      *marks += bits_count(runner->bitmaps[i][word]);
    }
    *marked_rows += bits_count(any);
  }
}

ecs_status run_stage_rows(const struct runner *runner, const struct run *run,
                          const uint32_t *rows, const ecs_id *ids, uint32_t count) {
  ecs_world *world = run->query->world;
  const struct run_plan *plan = run->plan;
  uint64_t marks, marked_rows;
  assert(staging_is_open(&world->staging));
  assert(runner->rows == count && (rows || ids));
  run_count_marks(runner, plan, count, &marks, &marked_rows);
  if (!marks) return ECS_OK;
  ecs_status status = command_reserve(world, marks, 0, marked_rows);
  k_cursor cursor = {0, 0};
  size_t row;
  uint32_t index;
  while (status == ECS_OK && k_commands_next(runner->bitmaps, plan->command_count,
                                             count, &cursor, &row, &index)) {
    assert(row < count);
    ecs_id id = ids ? ids[row] : entity_id(&world->entities, rows[row]);
    status = giving_stage(world, &plan->commands[index], id);
    assert(status != ECS_ENOMEM);
  }
  return status;
}

ecs_status run_stage(const struct runner *runner, const struct run *run, uint32_t match) {
  struct table *table = query_table(run->query, match);
  struct row_stretch rows = run_rows_of(run, table);
  bool whole = rows.count == table->count;
  if (whole && giving_defer_rows(run, table, runner->bitmaps[0])) return ECS_OK;
  return run_stage_rows(runner, run, table->rows + rows.row, NULL, rows.count);
}

/* ---- all tables ---- */

/* The number of rows of the largest table. */
static uint32_t run_most_rows(const ecs_query *query) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    uint32_t rows = query_table(query, i)->count;
    if (rows > most) most = rows;
  }
  return most;
}

const char *run_why(k_error error) {
  static const char *const reasons[] = {
    [KE_NONE] = "nothing",
    [KE_IDIV] = "an integer was divided by zero",
    [KE_MOD] = "an integer was taken modulo zero",
    [KE_FMOD] = "math.fmod of an integer and zero",
    [KE_INTEGER] = "a number has no integer representation",
    [KE_FRACTION] = "a number is not an integer, which its field needs",
    [KE_RANGE] = "a number is out of range for its field",
    [KE_EMPTY] = "the interval of a random number is empty",
    [KE_ABSENT] = "an array has no such element",
    [KE_NIL] = "a value that it needs is nil, or only Lua can do it",
    [KE_DEAD] = "an entity that it changes is not alive",
    [KE_ROOM] = "it writes over 4,096 values, observers of \"set\" watch them, or memory is short",
    [KE_ROUNDS] = "a loop has too many rounds", };
  assert(error > KE_NONE && error < KE_ROW);
  return reasons[error];
}

static RARE ecs_status run_fail(const ecs_world *world, const struct run_failure *failure) {
  return world_fail(world, ECS_EUSER, "entity " SHOW_ID ": %s", failure->entity,
                    run_why(failure->why.error));
}

/* Runs over the rows of a table in which some match, by stretches if possible. */
static APART ecs_status run_stretches(struct runner *runner, const struct run *run, uint32_t match,
                                      const struct table *table, struct run_failure *failure) {
  struct run part = *run;
  bool by_stretches = !run->filter && run->plan->program->total_count == 0;
  assert(part.rows.count == 0);
  while (run_next_rows(&part, table, by_stretches)) {
    if (!run_table(runner, &part, match, failure)) return run_fail(run->query->world, failure);
    ecs_status status = part.plan->command_count ? run_stage(runner, &part, match) : ECS_OK;
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

/* Runs over all tables of the query, with room reserved. If the program has uniforms that depend on
** tables, the machine is opened for each. */
INLINE ecs_status run_tables(struct runner *runner, const struct run *run,
                             struct run_failure *failure) {
  const ecs_query *query = run->query;
  struct opened opened;
  bool plain = query->terms.plain;
  uint32_t reach = plain ? query->count : query_reach(query);
  if (run->plan->asked_count == 0 && !query->terms.changes) open_machine(runner, run, &opened);
  for (uint32_t i = 0; i < reach; i++) {
    const struct table *table = world_table(query->world, query->tables[i]);
    ecs_status status = ECS_OK;
    if (table->count == 0) continue;
    if (!plain && query_table_rows(&query->terms, table) == ROWS_NONE) continue;
    if (UNLIKELY(query->terms.changes)) {
      status = run_stretches(runner, run, i, table, failure);
    } else {
      bool sound = run->plan->asked_count
                       ? run_table(runner, run, i, failure)
                       : run_opened(runner, run, &opened, i, table, NULL, failure);
      if (UNLIKELY(!sound)) return run_fail(query->world, failure);
      if (run->plan->command_count) status = run_stage(runner, run, i);
    }
    if (UNLIKELY(status != ECS_OK)) return status;
  }
  return ECS_OK;
}

/* ---- plans that need only the machine ---- */

/* The table's column for one of the program's. */
static inline uint32_t run_plain_column_of(const struct run *run, const uint32_t *first,
                                           const struct table *table, uint32_t i) {
  const struct run_column *wanted = &run->plan->columns[i];
  assert(wanted->slot < run->query->terms.slots && first[wanted->slot] != NONE);
  uint32_t at = first[wanted->slot] + wanted->leaf;
  assert(at < table->column_count);
  assert(table->columns[at].size == column_size((k_column)run->plan->program->columns[i]));
  (void)table;
  return at;
}

/* Binds the program's columns to a table; for a packed one without reading its columns: a third of
** the time of few rows. */
static inline void run_plain_bind(const struct run *run, const uint32_t *first,
                                  const struct table *table, void **to) {
  uint32_t count = run->plan->program->column_count;
  if (!table->packed) {
    for (uint32_t i = 0; i < count; i++)
      to[i] = table->columns[run_plain_column_of(run, first, table, i)].data;
    return;
  }
  char *cells = (char *)packed_cells(table);
  for (uint32_t i = 0; i < count; i++)
    to[i] = cells + (size_t)run_plain_column_of(run, first, table, i) * PACKED_BYTES;
  assert(count == 0 || to[0] == packed_column(table, run_plain_column_of(run, first, table, 0)));
}

static RARE bool run_plain_failed(const ecs_world *world, const struct table *table,
                                  struct run_failure *failure) {
  assert(failure->why.row < table->count);
  failure->entity = entity_id(&world->entities, table->rows[failure->why.row]);
  return false;
}

/* Runs over all non-empty tables of the query, with room reserved. False if a row failed, as
** *failure says. */
static bool run_whole_tables(const struct runner *runner, const struct run *run,
                             struct run_failure *failure) {
  const ecs_query *query = run->query;
  ecs_world *world = query->world;
  uint64_t done = 0;
  k_run rows = {.uniforms = run->uniforms, .arrays = run->arrays};
  assert(run_is_plain(run) && !query->terms.changes && !query->terms.toggled);
  assert(!run->first && !run->filter && run->rows.count == 0 && !run->plan->command_count);
  assert(run->plan->machine_room <= runner->machine_room);
  run_set_uniforms(run);
  k_status status = machine_open(runner->machine, run->plan->program, &rows);
  assert(status == K_OK);
  struct running *running = &runner->machine->running;
  void **columns = running->at;
  size_t most = run->plan->program->block;
  if (most > MACHINE_SHORT) most = MACHINE_SHORT;
  rows.columns = columns;
  assert(query->arranged == query->world->graph.placings);
  for (uint32_t i = 0, count = query->count; i < count; i++) {
    const struct table *table = world_table(world, query->tables[i]);
    if (table->count == 0) continue;
    run_plain_bind(run, query_columns(query, i), table, columns);
    rows.rows = table->count;
    status = LIKELY(rows.rows <= most) ? running_short(running, rows.rows, &failure->why)
                                       : machine_over(runner->machine, &failure->why);
    if (UNLIKELY(status != K_OK)) {
      world->rows_run += done + failure->why.row;
      return run_plain_failed(world, table, failure);
    }
    done += rows.rows;
  }
  world->rows_run += done;
  (void)status;
  return true;
}

/* ---- the query ---- */

ecs_status run_query(struct runner *runner, const struct run *run, struct run_failure *failure) {
  const ecs_query *query = run->query;
  if (UNLIKELY(query->broken)) return query_usable(query);
  query_arrange(query);
  assert(!terms_walk(&query->terms));
  bool plain = run_is_plain(run);
  uint32_t rows = UNLIKELY(run->plan->needs_room) ? run_most_rows(query) : 0;
  if (!run_reserve_rows(runner, run->plan, rows)) return world_nomem(query->world);
  if (LIKELY(plain))
    return LIKELY(run_whole_tables(runner, run, failure))
               ? ECS_OK
               : run_fail(query->world, failure);
  return run_tables(runner, run, failure);
}
