/* Programs run over the tables of a query, by a host without Lua: commands, bitmaps, rows that
** fail, and memory that runs out. What they calculate is compared with Lua by specs of kernels. */
#include "sweep.h"

#include "core/base/text.h"
#include "core/command/command.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "kernel/build.h"
#include "kernel/random.h"
#include "runner/run.h"

enum { ROWS = 150, TABLES = 3 };

/* A program that a test builds, and what it runs with. */
struct job {
  ecs_world *world;
  struct builder *b;
  struct run_column columns[8];
  struct run_command commands[4];
  struct run_plan plan;
  struct runner runner;
  k_scalar uniforms[UNIFORM_FIRST + 1];
  k_total totals[2];
  struct run run;
  struct run_failure failure;
};

static void begin_program(struct job *job, ecs_world *world) {
  memset(job, 0, sizeof *job);
  job->world = world;
  job->b = builder_new(&world->memory);
  CHECK(job->b != NULL);
}

/* The next column of the program: a leaf of the query's slot, or NONE for the entities. */
static uint32_t column(struct job *job, k_column type, uint32_t slot, uint32_t leaf) {
  uint32_t number = build_column(job->b, type);
  job->columns[number] = (struct run_column){slot, leaf};
  return number;
}

static k_value load(struct job *job, k_column type, uint32_t slot, uint32_t leaf) {
  return build_load(job->b, column(job, type, slot, leaf));
}

static k_value row_entity(struct job *job) {
  return build_rows_entity(job->b, column(job, KC_ENTITY, NONE, 0));
}

static k_value is_below(struct job *job, k_value value, int64_t limit) {
  return build_binary(job->b, KO_LT, value, build_i64(job->b, limit));
}

/* Whether the value's last `bits` bits are 0. */
static k_value is_multiple(struct job *job, k_value value, int bits) {
  k_value low = build_binary(job->b, KO_BAND, value, build_i64(job->b, (1 << bits) - 1));
  return build_binary(job->b, KO_EQ, low, build_i64(job->b, 0));
}

static void end_program(struct job *job, const ecs_query *query, uint32_t commands) {
  struct program *compiled = NULL;
  CHECK_INTEGER(K_OK, build_finish(job->b, &compiled));
  builder_free(job->b);
  job->b = NULL;
  job->plan = run_plan_of(compiled, job->columns, job->commands, commands);
  job->run = (struct run){.plan = &job->plan, .query = query, .uniforms = job->uniforms,
                            .totals = job->totals};
  runner_open(&job->runner, &job->world->memory, isa_best());
}

static void free_job(struct job *job) {
  runner_free(&job->runner);
  program_free(job->plan.program);
}

static ecs_status run(struct job *job) {
  return run_query(&job->runner, &job->run, &job->failure);
}

static struct health get_health(const struct fixture *f, ecs_id id) {
  struct health value = {-1, 1};
  CHECK_OK(f->world, ecs_get(f->world, id, f->health, &value));
  return value;
}

static ecs_id get_link(const struct fixture *f, ecs_id id) {
  struct link value = {ECS_NULL};
  CHECK_OK(f->world, ecs_get(f->world, id, f->link, &value));
  return value.target;
}

/* TABLES tables of ROWS rows with Position, Velocity, Health and Link, and an empty one after the
** first; x is the row's number in the order of the query, and so is hp. */
static void fill(struct fixture *f, ecs_id *ids) {
  for (int i = 0; i < TABLES * ROWS; i++) {
    if (i == 1)
      CHECK_OK(f->world, ecs_despawn(f->world, SPAWN(f->world, f->position, f->velocity, f->health,
                                                     f->link, f->frozen, f->enemy)));
    struct position position = {(float)i, 1};
    struct velocity velocity = {2, 0.5f};
    struct health health = {i, (uint8_t)(i % 200)};
    ids[i] = SPAWN(f->world, f->position, f->velocity, f->health, f->link);
    if (i / ROWS == 1) CHECK_OK(f->world, ecs_add(f->world, ids[i], f->frozen));
    if (i / ROWS == 2) CHECK_OK(f->world, ecs_add(f->world, ids[i], f->enemy));
    CHECK_OK(f->world, ecs_set(f->world, ids[i], f->position, &position));
    CHECK_OK(f->world, ecs_set(f->world, ids[i], f->velocity, &velocity));
    CHECK_OK(f->world, ecs_set(f->world, ids[i], f->health, &health));
  }
}

static void open_filled(struct fixture *f, ecs_id *ids, const char *text) {
  open_usual(f);
  fill(f, ids);
  f->query = new_query(f->world, text);
  CHECK_INTEGER(TABLES * ROWS, ecs_query_count(f->query));
}

/* Position.y += Velocity.x * dt, the position being the second term. */
static void build_move(struct job *job, ecs_world *world, const ecs_query *query) {
  begin_program(job, world);
  uint32_t y = column(job, KC_F32, 1, 1);
  k_value dt = build_convert(job->b, KT_F32, build_uniform(job->b, UNIFORM_DT, KT_F64));
  k_value step = build_binary(job->b, KO_MUL, load(job, KC_F32, 0, 0), dt);
  build_store(job->b, y, build_binary(job->b, KO_ADD, build_load(job->b, y), step));
  end_program(job, query, 0);
}

/* Rows with hp % 2 == 0 lose Link, those with hp % 4 == 0 get Frozen, those below 10 go; the
** entities are asked for, too, so that the ids and three bitmaps share the room. */
static void build_commands(struct job *job, struct fixture *f) {
  begin_program(job, f->world);
  k_value hp = load(job, KC_I32, 0, 0);
  k_value entity = row_entity(job);
  k_value own = build_binary(job->b, KO_GT, entity, build_i64(job->b, 0));
  k_value even = build_binary(job->b, KO_AND, is_multiple(job, hp, 1), own);
  build_emit(job->b, 0, even);
  build_emit(job->b, 1, is_multiple(job, hp, 2));
  build_emit(job->b, 2, is_below(job, hp, 10));
  job->commands[0] = (struct run_command){.action = RUN_REMOVE, .component = f->link};
  job->commands[1] = (struct run_command){.action = RUN_ADD, .component = f->frozen};
  job->commands[2] = (struct run_command){.action = RUN_DESPAWN, .component = ECS_NULL};
  end_program(job, f->query, 3);
}

/* The n-th staged command is this one. */
static bool is_staged(const struct fixture *f, uint32_t n, enum command_kind kind, ecs_id entity,
                      ecs_id component) {
  const struct command *command = &f->world->staging.commands[n];
  CHECK_OK(f->world, commands_write(f->world));
  return CHECK(n < f->world->staging.command_count) && CHECK(command->kind == kind) &&
         CHECK(command->entity == entity) && CHECK(command->component == component);
}

static void commands(void) {
  struct fixture f;
  struct job job;
  ecs_id ids[TABLES * ROWS];
  open_filled(&f, ids, "Health:in");
  build_commands(&job, &f);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, run(&job));
  uint32_t at = 0;
  for (int i = 0; i < TABLES * ROWS; i++) {
    bool good = (i % 2 || is_staged(&f, at++, COMMAND_REMOVE, ids[i], f.link)) &&
                (i % 4 || is_staged(&f, at++, COMMAND_ADD, ids[i], f.frozen)) &&
                (i >= 10 || is_staged(&f, at++, COMMAND_DESPAWN, ids[i], ECS_NULL));
    if (!good) break;
  }
  CHECK_INTEGER(at, f.world->staging.command_count);
  CHECK_OK(f.world, ecs_commit(f.world));
  for (int i = 0; i < TABLES * ROWS; i++) {
    CHECK(ecs_alive(f.world, ids[i]) == (i >= 10));
    if (i < 10) continue;
    CHECK(ecs_has(f.world, ids[i], f.link) == (i % 2 != 0));
    CHECK(ecs_has(f.world, ids[i], f.frozen) == (i % 4 == 0 || i / ROWS == 1));
  }
  free_job(&job);
  close_world(&f);
}

/* hp = 100 // hp, armour = hp, and a mark on each row; the tag of the division is 5. */
static void build_division(struct job *job, struct fixture *f) {
  begin_program(job, f->world);
  uint32_t hp = column(job, KC_I32, 0, 0);
  k_value old = build_load(job->b, hp);
  build_at(job->b, K_ALL, 5);
  k_value quotient = build_binary(job->b, KO_IDIV, build_i64(job->b, 100), old);
  build_store(job->b, hp, build_fit(job->b, KC_I32, quotient));
  build_emit(job->b, 0, K_ALL);
  job->commands[0] = (struct run_command){.action = RUN_ADD, .component = f->label};
  end_program(job, f->query, 1);
}

static void failing_rows(void) {
  struct fixture f;
  struct job job;
  ecs_id ids[TABLES * ROWS];
  enum { BAD = ROWS + 100 };
  open_filled(&f, ids, "Health");
  for (int i = 0; i < TABLES * ROWS; i++) {
    struct health health = {i == BAD || i == BAD + 3 ? 0 : 10, 0};
    CHECK_OK(f.world, ecs_set(f.world, ids[i], f.health, &health));
  }
  build_division(&job, &f);
  char words[80];
  text_format(words, sizeof words, "entity " SHOW_ID ": an integer was divided by zero", ids[BAD]);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_FAILS(f.world, ECS_EUSER, words, run(&job));
  CHECK(job.failure.entity == ids[BAD]);
  CHECK_INTEGER(BAD - ROWS, job.failure.why.row);
  CHECK_INTEGER(KE_IDIV, job.failure.why.error);
  CHECK_INTEGER(5, job.failure.why.tag);
  for (int i = 0; i < TABLES * ROWS; i++) {
    int hp = i == BAD || i == BAD + 3 ? 0 : 10;
    if (!CHECK_INTEGER(i < BAD ? 100 / hp : hp, get_health(&f, ids[i]).hp)) break;
  }
  CHECK_INTEGER(ROWS, f.world->staging.command_count);   /* of the table before */
  CHECK_OK(f.world, ecs_cancel(f.world));
  CHECK_INTEGER(0, count_of(f.world, "Label"));
  free_job(&job);
  close_world(&f);
}

/* Makes a row of `hp` fail in what is built of it; true when it does so for that reason. */
static bool fails(struct fixture *f, ecs_id id, int32_t hp, const char *words,
                  void (*build)(struct job *job, k_value hp), k_error error) {
  struct job job;
  struct health health = {hp, 0};
  CHECK_OK(f->world, ecs_set(f->world, id, f->health, &health));
  begin_program(&job, f->world);
  build(&job, load(&job, KC_I32, 0, 0));
  end_program(&job, f->query, 0);
  bool good = CHECK_FAILS(f->world, ECS_EUSER, words, run(&job));
  good = CHECK(job.failure.entity == id) && CHECK_INTEGER(error, job.failure.why.error) && good;
  free_job(&job);
  return good;
}

static void store_armour(struct job *job, k_value value) {
  uint32_t armour = column(job, KC_U8, 0, 1);
  build_store(job->b, armour, build_fit(job->b, KC_U8, value));
}

static void store_fraction(struct job *job, k_value hp) {
  k_value half = build_binary(job->b, KO_DIV, build_convert(job->b, KT_F64, hp),
                              build_f64(job->b, 2));
  store_armour(job, half);
}

static void store_modulo(struct job *job, k_value hp) {
  store_armour(job, build_binary(job->b, KO_MOD, build_i64(job->b, 3), hp));
}

static void store_fmod(struct job *job, k_value hp) {
  store_armour(job, build_binary(job->b, KO_FMOD, build_i64(job->b, 3), hp));
}

static void store_floor(struct job *job, k_value hp) {
  k_value huge = build_binary(job->b, KO_POW, build_f64(job->b, 10),
                              build_convert(job->b, KT_F64, hp));
  store_armour(job, build_unary(job->b, KO_FLOOR, huge));
}

static void store_random(struct job *job, k_value hp) {
  store_armour(job, build_random_range(job->b, build_i64(job->b, 1), build_i64(job->b, 1), hp));
}

static void reasons(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id id = SPAWN(f.world, f.health);
  f.query = new_query(f.world, "Health");
  fails(&f, id, 256, "is out of range for its field", store_armour, KE_RANGE);
  fails(&f, id, 3, "is not an integer, which its field needs", store_fraction, KE_FRACTION);
  fails(&f, id, 0, "an integer was taken modulo zero", store_modulo, KE_MOD);
  fails(&f, id, 0, "math.fmod of an integer and zero", store_fmod, KE_FMOD);
  fails(&f, id, 100, "has no integer representation", store_floor, KE_INTEGER);
  fails(&f, id, 0, "the interval of a random number is empty", store_random, KE_EMPTY);
  CHECK_INTEGER(0, get_health(&f, id).armour);
  close_world(&f);
}

/* A bitmap without a command is the caller's: table by table. */
static void bitmaps(void) {
  struct fixture f;
  struct job job;
  ecs_id ids[TABLES * ROWS];
  open_filled(&f, ids, "Health:in");
  begin_program(&job, f.world);
  build_emit(job.b, 0, is_multiple(&job, load(&job, KC_I32, 0, 0), 2));
  end_program(&job, f.query, 0);
  int rows = 0;
  CHECK(runner_reserve(&job.runner, &job.plan, ROWS));
  for (uint32_t match = 0; match < f.query->count; match++) {
    if (world_table(f.world, f.query->tables[match])->count == 0) continue;
    CHECK(run_table(&job.runner, &job.run, match, &job.failure));
    for (int row = 0; row < ROWS; row++, rows++) {
      bool marked = job.runner.bitmaps[0][row / 64] >> row % 64 & 1;
      if (!CHECK(marked == (rows % 4 == 0))) break;
    }
  }
  CHECK_INTEGER(TABLES * ROWS, rows);
  free_job(&job);
  close_world(&f);
}

/* One runner for two programs by turns, over a table that grows, is emptied and filled again. */
static void growing_tables(void) {
  struct fixture f;
  struct job linking, moving;
  open_usual(&f);
  f.query = new_query(f.world, "Velocity:in, Position, Link");
  begin_program(&linking, f.world);
  uint32_t target = column(&linking, KC_ENTITY, 2, 0);
  build_store(linking.b, target, row_entity(&linking));
  end_program(&linking, f.query, 0);
  build_move(&moving, f.world, f.query);
  moving.run.dt = 1;
  ecs_id ids[700];
  int grown = 0;
  for (int i = 0; i < 700; i++) {
    size_t capacity = linking.runner.capacity;
    ids[i] = SPAWN(f.world, f.position, f.velocity, f.link);
    CHECK_OK(f.world, run_query(&linking.runner, &linking.run, &linking.failure));
    CHECK_OK(f.world, run_query(&linking.runner, &moving.run, &moving.failure));
    grown += linking.runner.capacity != capacity;
  }
  CHECK(grown <= 8);
  for (int i = 0; i < 700; i++)
    if (!CHECK(get_link(&f, ids[i]) == ids[i])) break;
  size_t capacity = linking.runner.capacity;
  CHECK(capacity >= 700 * 8 && capacity <= 2 * 704 * 8);
  for (int i = 0; i < 700; i++) CHECK_OK(f.world, ecs_despawn(f.world, ids[i]));
  CHECK_OK(f.world, run(&linking));
  ecs_id last = SPAWN(f.world, f.position, f.velocity, f.link);
  CHECK_OK(f.world, run(&linking));
  CHECK(get_link(&f, last) == last);
  CHECK(linking.runner.capacity == capacity);
  free_job(&linking);
  free_job(&moving);
  close_world(&f);
}

/* ---- memory ---- */

static struct job swept;

static void free_swept(struct fixture *f) {
  (void)f;
  free_job(&swept);
}

static void prepare_links(struct fixture *f) {
  ecs_id ids[TABLES * ROWS];
  fill(f, ids);
  f->query = new_query(f->world, "Link");
  begin_program(&swept, f->world);
  uint32_t target = column(&swept, KC_ENTITY, 0, 0);
  build_store(swept.b, target, row_entity(&swept));
  end_program(&swept, f->query, 0);
}

static ecs_status run_swept(struct fixture *f) {
  (void)f;
  return run(&swept);
}

static void prepare_commands(struct fixture *f) {
  ecs_id ids[TABLES * ROWS];
  fill(f, ids);
  f->query = new_query(f->world, "Health:in");
  build_commands(&swept, f);
}

/* In a scope that is dropped when the run fails, or its end does. */
static ecs_status run_in_scope(struct fixture *f) {
  ecs_status status = ecs_defer(f->world);
  if (status != ECS_OK) return status;
  status = run(&swept);
  if (status == ECS_OK) status = ecs_commit(f->world);
  if (status != ECS_OK) CHECK_OK(f->world, ecs_cancel(f->world));
  return status;
}

/* One table: on ECS_ENOMEM none of its commands is staged, and what it has marked is still
** there. */
static void prepare_staging(struct fixture *f) {
  prepare_commands(f);
  uint32_t match = f->query->count - 1;
  CHECK(runner_reserve(&swept.runner, &swept.plan, ROWS));
  CHECK(run_table(&swept.runner, &swept.run, match, &swept.failure));
  CHECK_OK(f->world, ecs_defer(f->world));
}

static ecs_status stage_table(struct fixture *f) {
  ecs_status status = run_stage(&swept.runner, &swept.run, f->query->count - 1);
  CHECK((f->world->staging.command_count == 0) == (status == ECS_ENOMEM));
  return status;
}

static void commit_staged(struct fixture *f) {
  CHECK_OK(f->world, ecs_commit(f->world));
  free_job(&swept);
}

static const struct operation operations[] = {
  {"a program that takes ids", prepare_links, run_swept, free_swept, ASKS},
  {"a program with commands", prepare_commands, run_in_scope, free_swept, ASKS},
  {"staging what a table has marked", prepare_staging, stage_table, commit_staged, ASKS},
};

static const struct test tests[] = {
  {"commands are staged in order of rows, and in order of the function", commands},
  {"a row that fails is told with its entity and what follows is not written", failing_rows},
  {"every reason has words", reasons},
  {"bitmaps are given table by table", bitmaps},
  {"one runner serves many programs and tables that grow", growing_tables},
};

int main(void) {
  int bad = RUN_TESTS(tests);
  return RUN_SWEEPS(operations) | bad;
}
