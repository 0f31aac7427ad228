#include "kernel/gather.h"

#include "core/store/query.h"
#include "core/store/world.h"
#include "kernel/ops.h"

/* ---- room ---- */

static size_t column_room(const struct run_plan *plan, uint32_t i) {
  size_t size = column_size((k_column)plan->program->columns[i]);
  return round_up((uint32_t)(GATHER_ROWS * size), 64);
}

static size_t cell_room(const struct run_plan *plan, uint32_t i) {
  return program_writes(plan->program, i) ? GATHER_ROWS * sizeof(void *) : 0;
}

static size_t room_of(const struct run_plan *plan) {
  size_t room = GATHER_ROWS * sizeof(ecs_id);
  for (uint32_t i = 0; i < plan->program->column_count; i++)
    room += column_room(plan, i) + cell_room(plan, i);
  return room;
}

static const struct term *term_of(const ecs_query *query, uint32_t slot) {
  const struct query_terms *terms = &query->terms;
  for (uint32_t i = 0; slot != NONE && i < terms->count; i++)
    if (terms->terms[i].slot == slot) return &terms->terms[i];
  return NULL;
}

bool gather_begin(struct runner *runner, const struct run *run, struct gather *gather) {
  const struct run_plan *plan = run->plan;
  size_t room = room_of(plan);
  bool ready = room <= runner->gather_capacity ||
               buffer_grow(runner->memory, &runner->gathered, room, 0);
  if (!ready || !runner_reserve(runner, plan, GATHER_ROWS)) return false;
  if (room > runner->gather_capacity) runner->gather_capacity = room;
  gather->plan = plan;
  gather->count = 0;
  char *at = runner->gathered.data;
  for (uint32_t i = 0; i < plan->program->column_count; i++) {
    gather->terms[i] = term_of(run->query, plan->columns[i].slot);
    gather->columns[i] = at;
    at += column_room(plan, i);
    gather->cells[i] = cell_room(plan, i) ? (void **)(void *)at : NULL;
    at += cell_room(plan, i);
  }
  gather->ids = (ecs_id *)(void *)at;
  return true;
}

/* ---- cells ---- */

INLINE void copy_cell(void *to, const void *from, size_t size) {
  switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 1: memcpy(to, from, 1); break;
    default: memcpy(to, from, 2); break;
  }
}

void gather_match(struct gather *gather, const struct walk *walk) {
  uint32_t at = gather->count++;
  const struct term *last = NULL;
  struct walk_end end = {NULL, 0, NONE};
  assert(at < GATHER_ROWS);
  gather->ids[at] = walk_entity(walk);
  for (uint32_t i = 0; i < gather->plan->program->column_count; i++) {
    const struct term *term = gather->terms[i];
    size_t size = column_size((k_column)gather->plan->program->columns[i]);
    char *to = (char *)gather->columns[i] + at * size;
    if (!term) {
      copy_cell(to, &gather->ids[at], size);
      continue;
    }
    if (term != last) end = walk_cells(walk, term);
    last = term;
    assert(end.table && end.first != NONE);
    const struct column *column = &end.table->columns[end.first + gather->plan->columns[i].leaf];
    void *cell = column_at(column, end.row);
    assert(column->size == size);
    copy_cell(to, cell, size);
    if (gather->cells[i]) gather->cells[i][at] = cell;
  }
}

static void put_back(const struct gather *gather, uint32_t rows) {
  for (uint32_t i = 0; i < gather->plan->program->column_count; i++) {
    size_t size = column_size((k_column)gather->plan->program->columns[i]);
    const char *from = gather->columns[i];
    for (uint32_t row = 0; gather->cells[i] && row < rows; row++)
      copy_cell(gather->cells[i][row], from + row * size, size);
  }
}

/* ---- running ---- */

bool gather_run(struct runner *runner, const struct run *run, struct gather *gather,
                struct run_failure *failure) {
  struct run_rows rows = {gather->count, gather->columns, gather->ids};
  bool sound = run_rows(runner, run, &rows, failure);
  put_back(gather, sound ? gather->count : (uint32_t)failure->why.row);
  if (!sound || !run->plan->command_count) gather->count = 0;
  return sound;
}

ecs_status gather_stage(const struct runner *runner, const struct run *run,
                        struct gather *gather) {
  ecs_status status = run_stage_rows(runner, run, gather->ids, gather->count);
  gather->count = 0;
  return status;
}
