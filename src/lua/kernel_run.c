#include "lua/kernel.h"

/* ---- memory of a run ---- */

struct work {
  void *columns[FRONT_COLUMNS];
  uint64_t *bitmaps[FRONT_COMMANDS];
  uint64_t *entities;
};

static bool takes_ids(const struct variant *variant) {
  for (uint32_t i = 0; i < variant->column_count; i++)
    if (variant->columns[i].slot == NONE) return true;
  return false;
}

static uint32_t bitmaps_of(const struct kernel *kernel, const struct variant *variant) {
  return kernel->result == RESULT_TRUTH ? 1 : variant->command_count;
}

static size_t bitmap_words(uint32_t rows) { return (rows + 63u) / 64 + 8; }

/* Bytes for the rows' ids and for bitmaps. */
static size_t work_size(const struct kernel *kernel, const struct variant *variant,
                        uint32_t rows) {
  return 128 + (takes_ids(variant) ? (size_t)rows * 8 + 64 : 0) +
         bitmaps_of(kernel, variant) * bitmap_words(rows) * 8;
}

void kernel_reserve(lua_State *L, const struct kernel *kernel, const struct variant *variant,
                    uint32_t rows) {
  size_t need = work_size(kernel, variant, rows);
  if (need > UINT32_MAX / 2) raise_memory(L);
  struct kernel_set *set = kernel->set;
  char *grown = memory_grow(&set->world->memory, set->work, &set->work_capacity, need, 1);
  if (!grown) raise_memory(L);
  set->work = grown;
}

static void lay_out_work(const struct kernel *kernel, const struct variant *variant,
                         const struct table *table, struct work *work) {
  char *memory = kernel->set->work;
  assert(memory);
  uint64_t *at = (void *)(memory + (64 - (uintptr_t)memory % 64) % 64);
  uint32_t rows = table->count;
  work->entities = at;
  if (takes_ids(variant)) {
    for (uint32_t row = 0; row < rows; row++)
      at[row] = entity_id(&kernel->set->world->entities, table->rows[row]);
    at += ((size_t)rows + 7) / 8 * 8;
  }
  for (uint32_t i = 0; i < bitmaps_of(kernel, variant); i++, at += bitmap_words(rows))
    work->bitmaps[i] = at;
}

/* ---- one table ---- */

static void live_ids(void *ud, int64_t *ids, size_t count) {
  const ecs_world *world = ud;
  for (size_t i = 0; i < count; i++)
    ids[i] = (int64_t)entity_target(world, (ecs_id)ids[i]);
}

/* The columns of a query's table, by its match. */
static void bind_columns(const struct kernel *kernel, const struct variant *variant,
                         const struct table *table, uint32_t match, struct work *work) {
  const uint32_t *first = query_columns(kernel->query, match);
  for (uint32_t i = 0; i < variant->column_count; i++) {
    const struct front_column *column = &variant->columns[i];
    work->columns[i] = column->slot == NONE
                           ? (void *)work->entities
                           : table->columns[first[column->slot] + column->leaf].data;
  }
}

/* The uniforms that every program has. */
static void set_uniforms(const ecs_world *world, struct variant *variant, double dt) {
  variant->uniforms[UNIFORM_DT].f64 = dt;
  variant->uniforms[UNIFORM_STREAM].i64 = (int64_t)world->chance.key;
  variant->uniforms[UNIFORM_TICK].i64 = (int64_t)world->tick;
}

/* Runs a program over one table; there is room. */
static k_status run_rows(const struct kernel *kernel, const struct variant *variant,
                         uint32_t match, struct work *work, k_total *totals,
                         k_failure *failure) {
  ecs_world *world = kernel->query->world;
  const struct table *table = world_table(world, kernel->query->tables[match]);
  lay_out_work(kernel, variant, table, work);
  bind_columns(kernel, variant, table, match, work);
  k_run rows = {.rows = table->count, .columns = work->columns,
                .uniforms = variant->uniforms, .bitmaps = work->bitmaps,
                .totals = totals, .live = live_ids, .live_ud = world};
  k_status status = machine_run(kernel->set->machine, variant->program, &rows, failure);
  assert(status != K_EINVAL);
  return status;
}

/* ---- staging what a run has marked ---- */

static ecs_status stage(ecs_world *world, const struct front_command *command, ecs_id id) {
  switch (command->form) {
    case FORM_DESPAWN: return entity_despawn(world, id);
    case FORM_ADD: return entity_add(world, id, command->component);
    default: return entity_remove(world, id, command->component);
  }
}

static void stage_commands(lua_State *L, struct loop_box *loop, const struct variant *variant,
                           struct work *work) {
  ecs_world *world = loop->box->world;
  k_cursor cursor = {0, 0};
  size_t row;
  uint32_t index;
  while (k_commands_next(work->bitmaps, variant->command_count, loop->table->count,
                         &cursor, &row, &index)) {
    ecs_status status =
        stage(world, &variant->commands[index], loop_entity(loop, (uint32_t)row));
    if (status != ECS_OK) raise_status(L, world, status);
  }
}

/* ---- running ---- */

/* Over the loop's current table. */
static void run_table(lua_State *L, int handle, struct loop_box *loop,
                      struct variant *variant, const struct kernel_run *run) {
  const struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct work work;
  k_failure failure;
  bool truth = run->truth != NULL;
  assert(variant && truth == (kernel->result == RESULT_TRUTH));
  kernel_reserve(L, kernel, variant, loop->table->count);
  set_uniforms(loop->box->world, variant, run->dt);
  k_status status = run_rows(kernel, variant, loop->match - 1, &work, run->total, &failure);
  if (status == K_FAILED) kernel_fail(L, handle, loop, variant, &failure);
  if (truth)
    run->truth(L, loop, work.bitmaps[0], run->ud);
  else if (variant->command_count)
    stage_commands(L, loop, variant, &work);
}

void kernel_run(lua_State *L, int handle, struct loop_box *loop,
                const struct kernel_run *run) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  while (loop_next_table(loop)) {
    struct variant *variant = kernel_find(L, anchors, kernel, loop->table);
    if (!variant) luaL_error(L, "finalizers keep using the world");
    run_table(L, handle, loop, variant, run);
  }
  lua_pop(L, 1);
}

bool kernel_here(lua_State *L, int handle, struct loop_box *loop,
                 const struct kernel_run *run) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  int top = lua_gettop(L);
  bool ready = kernel_ready_here(L, handle, loop->table);
  if (ready) {
    lua_getiuservalue(L, handle, KERNEL_ANCHORS);
    run_table(L, handle, loop, kernel_find(L, lua_gettop(L), box->kernel, loop->table), run);
  }
  lua_settop(L, top);
  return ready;
}

static bool has_room(const struct kernel *kernel, const struct variant *variant) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < kernel->query->count; i++) {
    uint32_t rows = world_table(kernel->query->world, kernel->query->tables[i])->count;
    if (rows > most) most = rows;
  }
  return work_size(kernel, variant, most) <= kernel->set->work_capacity;
}

bool kernel_run_settled(struct kernel *kernel, struct variant *variant, double dt) {
  const ecs_query *query = kernel->query;
  struct work work;
  k_failure failure;
  if (takes_ids(variant) && !has_room(kernel, variant)) return false;
  set_uniforms(query->world, variant, dt);
  for (uint32_t i = 0; i < query->count; i++) {
    if (world_table(query->world, query->tables[i])->count == 0) continue;
    k_status status = run_rows(kernel, variant, i, &work, NULL, &failure);
    assert(status == K_OK);
    (void)status;
  }
  return true;
}
