#include "core/base/pool.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "kernel/machine.h"
#include "runner/run.h"

/* A table of one of the runs. */
struct slice {
  uint32_t run, match, rows;
  uint32_t first;              /* number of its first chunk */
  uint32_t chunk, block;       /* rows of each, except the last */
  size_t at;                   /* offset of its room */
  k_run state;
};

struct abreast {
  struct memory *memory;
  struct runner *runner;
  struct run runs[ABREAST_MOST];
  uint32_t ends[ABREAST_MOST]; /* ends of the runs' parts */
  uint32_t run_count;
  struct slice *parts;
  uint32_t part_count, part_capacity;
  struct column_buffer room;
  size_t size;                 /* that the parts need */
  uint32_t chunk_count;
  char apart[64];              /* separates what is written from what is read */
  struct portions portions;
};

struct abreast *abreast_new(struct memory *memory) {
  struct abreast *abreast = memory_array(memory, 1, sizeof *abreast);
  if (abreast) abreast->memory = memory;
  return abreast;
}

void abreast_free(struct abreast *abreast) {
  if (!abreast) return;
  struct memory *memory = abreast->memory;
  FREE_LIST(memory, abreast->parts, abreast->part_capacity);
  buffer_free(memory, &abreast->room);
  memory_free(memory, abreast, sizeof *abreast);
}

void abreast_begin(struct abreast *abreast, struct runner *runner) {
  abreast->runner = runner;
  abreast->run_count = abreast->part_count = 0;
  abreast->size = 0;
}

/* ---- room ---- */

/* The layout of a part's room, in multiples of 64 bytes. */
struct slice_layout {
  size_t columns, bitmaps, uniforms, rows, end;
};

static size_t run_parallel_behind(size_t at, size_t count, size_t size) {
  return (at + count * size + 63) / 64 * 64;
}

static uint32_t abreast_uniforms_of(const struct run_plan *plan) {
  uint32_t count = plan->program->uniform_count;
  return count > UNIFORM_FIRST ? count : UNIFORM_FIRST;
}

static struct slice_layout run_parallel_lay_out(const struct run_plan *plan, uint32_t rows) {
  const struct program *p = plan->program;
  struct slice_layout l = {.columns = 0};
  l.bitmaps = run_parallel_behind(l.columns, p->column_count, sizeof(void *));
  l.uniforms = run_parallel_behind(l.bitmaps, p->bitmap_count, sizeof(uint64_t *));
  l.rows = run_parallel_behind(l.uniforms, plan->asked_count ? abreast_uniforms_of(plan) : 0,
                               sizeof(k_scalar));
  l.end = run_parallel_behind(l.rows, 1, run_part_room(plan, rows));
  return l;
}

static bool run_parallel_add_parts(struct abreast *abreast, const struct run *run) {
  const ecs_query *query = run->query;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    if (table->count == 0 || query_table_rows(&query->terms, table) == ROWS_NONE) continue;
    if (!GROW(abreast->memory, abreast->parts, abreast->part_capacity, abreast->part_count + 1ull))
      return false;
    abreast->parts[abreast->part_count++] = (struct slice){
        .run = abreast->run_count, .match = i, .rows = table->count, .at = abreast->size};
    abreast->size += run_parallel_lay_out(run->plan, table->count).end;
  }
  return true;
}

bool abreast_add(struct abreast *abreast, const struct run *run) {
  uint32_t parts = abreast->part_count;
  size_t size = abreast->size;
  assert(abreast->run_count < ABREAST_MOST && !terms_walk(&run->query->terms));
  assert(!run->query->terms.changes);
  assert(!run->plan->sharing.takes_turns && !run->plan->command_count && !run->totals);
  abreast->runs[abreast->run_count] = *run;
  if (!runner_reserve(abreast->runner, run->plan, 0) || !run_parallel_add_parts(abreast, run)) {
    abreast->part_count = parts;
    abreast->size = size;
    return false;
  }
  run_set_uniforms(run);
  abreast->ends[abreast->run_count++] = abreast->part_count;
  return true;
}

/* Sets the uniforms that depend on the table, for this part only. */
static const k_scalar *run_parallel_ask(const struct run *run, const struct table *table,
                                        k_scalar *uniforms) {
  if (run->plan->asked_count == 0) return run->uniforms;
  run_ask(run, table);
  memcpy(uniforms, run->uniforms, abreast_uniforms_of(run->plan) * sizeof *uniforms);
  return uniforms;
}

static void run_parallel_begin_part(struct abreast *abreast, struct slice *part,
                                    const struct pool *pool) {
  const struct run *run = &abreast->runs[part->run];
  struct slice_layout l = run_parallel_lay_out(run->plan, part->rows);
  char *room = (char *)abreast->room.data + part->at;
  struct run_part state = {room + l.rows, (void **)(void *)(room + l.columns),
                           (uint64_t **)(void *)(room + l.bitmaps), &part->state};
  run_part_begin(run, part->match, &state);
  part->state.uniforms = run_parallel_ask(run, query_table(run->query, part->match),
                                          (k_scalar *)(void *)(room + l.uniforms));
  /* How many rows a thread takes at a time, and how many make a block. */
  const struct program *p = run->plan->program;
  size_t block = running_choose_block(p, part->rows);
  if (p->block < K_BLOCK && block > p->block) block = p->block;
  part->chunk = pool_share(pool, part->rows, K_LEAF);
  part->block = (uint32_t)(block < part->chunk ? block : part->chunk);
  assert(part->chunk % 64 == 0 && (part->block % 64 == 0 || part->block >= part->rows));
  part->first = abreast->chunk_count;
  abreast->chunk_count += (part->rows + part->chunk - 1) / part->chunk;
}

static bool run_parallel_reserve(struct abreast *abreast, uint32_t others) {
  struct runner *runner = abreast->runner;
  for (uint32_t i = 0; i < abreast->run_count; i++)
    if (!helpers_reserve(&runner->helpers, runner->machine, others,
                         abreast->runs[i].plan->program))
      return false;
  return abreast->size == 0 || buffer_grow(abreast->memory, &abreast->room, abreast->size, 0);
}

/* ---- running ---- */

static void run_parallel_run_chunk(struct running *r, const struct slice *part, uint32_t chunk) {
  k_failure failure;
  size_t from = (size_t)chunk * part->chunk, rows = part->rows - from;
  if (rows > part->chunk) rows = part->chunk;
  running_begin(r, &failure);
  running_move(r, (ptrdiff_t)from);
  running_blocks(r, rows, part->block);
  assert(failure.error == KE_NONE);
}

/* A pool_task. */
static void run_parallel_work(void *job, uint32_t who) {
  struct abreast *abreast = job;
  const struct runner *runner = abreast->runner;
  struct machine *machine = who ? runner->helpers.machines[who - 1] : runner->machine;
  uint32_t part = 0, opened = NONE;
  struct taker taker = portions_taker(&abreast->portions, who);
  uint32_t i;
  assert(abreast->part_count > 0);
  while ((i = portions_take(&abreast->portions, &taker)) != NONE) {
    if (i < abreast->parts[part].first) part = 0;
    while (part + 1 < abreast->part_count && abreast->parts[part + 1].first <= i) part++;
    const struct slice *slice = &abreast->parts[part];
    const struct program *p = abreast->runs[slice->run].plan->program;
    k_status status = part != opened ? machine_open(machine, p, &slice->state) : K_OK;
    assert(status == K_OK);
    (void)status;
    opened = part;
    run_parallel_run_chunk(&machine->running, slice, i - slice->first);
  }
}

bool abreast_run(struct abreast *abreast, struct pool *pool) {
  uint32_t width = pool_width(pool);
  if (!run_parallel_reserve(abreast, width - 1)) return false;
  abreast->chunk_count = 0;
  for (uint32_t i = 0; i < abreast->part_count; i++)
    run_parallel_begin_part(abreast, &abreast->parts[i], pool);
  if (abreast->chunk_count == 0) return true;
  if (abreast->chunk_count < width) width = abreast->chunk_count;
  portions_begin(&abreast->portions, abreast->chunk_count, width);
  pool_run(pool, width, run_parallel_work, abreast);
  return true;
}

void abreast_end(const struct abreast *abreast, uint32_t number) {
  assert(number < abreast->run_count);
  for (uint32_t i = number ? abreast->ends[number - 1] : 0; i < abreast->ends[number]; i++) {
    const struct slice *part = &abreast->parts[i];
    const struct run *run = &abreast->runs[number];
    run_part_end(run, part->match,
                 (char *)abreast->room.data + part->at +
                     run_parallel_lay_out(run->plan, part->rows).rows);
  }
}
