/* Reliability line 2: running out of memory while systems are registered, replaced and run. */
#include <string.h>

#include "sweep.h"

static ecs_status idle(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world;
  (void)query;
  (void)dt;
  (void)ud;
  return ECS_OK;
}

static ecs_status add_system(struct fixture *f, const char *name, const char *phase,
                             ecs_run_fn run) {
  static const char *const before[] = {"last", "unknown", NULL};
  static const char *const after[] = {"first", NULL};
  ecs_system_desc desc = {
    .name = name, .phase = phase, .query = "Position, Velocity?", .before = before,
    .after = after, .every = 0.25, .owner = "a file", .run = run, .ud = f
  };
  return ecs_system_new(f->world, &desc);
}

static ecs_status new_system(struct fixture *f) {
  return add_system(f, "middle", "post_update", idle);
}

static void with_systems(struct fixture *f) {
  static const char *const names[] = {"a", "b", "c", "d", "middle", "f", "g", "h"};
  for (int i = 0; i < 8; i++)
    CHECK_OK(f->world, add_system(f, names[i], "update", idle));
}

static ecs_status remove_system(struct fixture *f) {
  return ecs_system_remove(f->world, "middle");
}

static ecs_status switch_off(struct fixture *f) {
  return ecs_switch(f->world, "middle", false);
}

static ecs_status new_phase(struct fixture *f) {
  ecs_phase_desc desc = {"physics", "pre_update", "update", 0.02};
  return ecs_phase(f->world, &desc);
}

static void with_phases(struct fixture *f) {
  CHECK_OK(f->world, new_phase(f));
  CHECK_OK(f->world, add_system(f, "fall", "physics", idle));
  ecs_phase_desc late = {"late", "render", NULL, 0}, later = {"later", NULL, NULL, 0};
  CHECK_OK(f->world, ecs_phase(f->world, &late));
  CHECK_OK(f->world, ecs_phase(f->world, &later));
}

static ecs_status replace_phase(struct fixture *f) {
  ecs_phase_desc desc = {"physics", "update", NULL, 0};
  return ecs_phase(f->world, &desc);
}

/* ---- running ---- */

/* Spawns, moves and despawns; when memory is short it says so and its commands are dropped. */
static ecs_status change_things(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct fixture *f = ud;
  (void)dt;
  ecs_iter it;
  ecs_id made;
  ecs_status status = ecs_iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (status == ECS_OK && ecs_iter_next(&it))
    for (size_t row = 0; row < it.count && status == ECS_OK; row++) {
      struct label label = {text_of("seen")};
      status = ecs_set(world, ecs_iter_entity(&it, row), f->label, &label);
      if (status == ECS_OK) status = ecs_spawn(world, &f->health, 1, &made);
      if (status == ECS_OK) status = ecs_add(world, made, f->enemy);
    }
  ecs_status closed = ecs_iter_close(&it);
  return status == ECS_OK ? closed : status;
}

static void ready_to_run(struct fixture *f) {
  for (int i = 0; i < 20; i++) {
    ecs_id id = SPAWN(f->world, f->position);
    if (i % 2) CHECK_OK(f->world, ecs_add(f->world, id, f->velocity));
  }
  ecs_system_desc desc = {.name = "change", .query = "Position", .run = change_things,
                          .ud = f};
  CHECK_OK(f->world, ecs_system_new(f->world, &desc));
}

static ecs_status shift(const ecs_rows *rows, double dt, void *ud) {
  struct position *p = ecs_rows_column(rows, 0, 0);
  (void)ud;
  CHECK(p && dt > 0);
  return ECS_OK;
}

static void with_ranges(struct fixture *f) {
  ecs_system_desc desc = {.name = "shift", .query = "Position", .parallel = shift};
  with_systems(f);
  spawn(f->world, &f->position, 1);
  CHECK_OK(f->world, ecs_system_new(f->world, &desc));
}

static ecs_status update(struct fixture *f) { return ecs_update(f->world, 0.5); }

static ecs_status run_system(struct fixture *f) { return ecs_run(f->world, "change", 0.5); }

static ecs_status run_phase(struct fixture *f) { return ecs_run(f->world, "update", 0.5); }

/* A startup system that could not run at all runs at the next update. */
static void ready_to_start(struct fixture *f) {
  ecs_id id = SPAWN(f->world, f->position);
  CHECK(ecs_alive(f->world, id));
  ecs_system_desc desc = {.name = "start", .phase = "startup", .query = "Position",
                          .run = change_things, .ud = f};
  CHECK_OK(f->world, ecs_system_new(f->world, &desc));
}

/* Half of the tables have been empty for a while. */
static void ready_to_reclaim(struct fixture *f) {
  ready_to_run(f);
  CHECK_OK(f->world, ecs_query_remove(new_query(f->world, "Velocity"), f->velocity));
  CHECK_OK(f->world, ecs_switch(f->world, "change", false));
  CHECK_OK(f->world, ecs_update(f->world, 0.5));
}

static const struct operation operations[] = {
  {"a system that runs over ranges of rows", with_ranges, update, NULL, ASKS},
  {"a system", NULL, new_system, NULL, ASKS},
  {"a system among others", with_systems, new_system, NULL, ASKS},
  {"a system replaced", with_systems, new_system, NULL, ASKS},
  {"a system removed", with_systems, remove_system, NULL, ASKS_NOTHING},
  {"a system switched off", with_systems, switch_off, NULL, ASKS_NOTHING},
  {"a phase", NULL, new_phase, NULL, ASKS},
  {"a phase among others", with_systems, new_phase, NULL, ASKS},
  {"a phase replaced", with_phases, replace_phase, NULL, ASKS},
  {"update with staging", ready_to_run, update, NULL, TAKES_NEW_IDS},
  {"update with a startup system", ready_to_start, update, NULL, TAKES_NEW_IDS},
  {"update that reclaims tables", ready_to_reclaim, update, NULL, ASKS_NOTHING},
  {"run of a system", ready_to_run, run_system, NULL, TAKES_NEW_IDS},
  {"run of a phase", ready_to_run, run_phase, NULL, TAKES_NEW_IDS},
};

int main(void) { return RUN_SWEEPS(operations); }
