/* Reliability line 2: running out of memory while it is kept when things were written. C18. */
#include "sweep.h"

static ecs_id ai;

static ecs_status declare_ai(struct fixture *f, ecs_type type, bool track) {
  ecs_field mood = {.name = "mood", .type = type};
  return ecs_component(f->world, &(ecs_component_desc){.name = "AI", .fields = &mood,
                                                       .field_count = 1, .track = track}, &ai);
}

static void plain(struct fixture *f) {
  CHECK_OK(f->world, declare_ai(f, ECS_I32, false));
  CHECK_OK(f->world, ecs_spawn_many(f->world, 8, (ecs_id[]){f->position, ai}, 2, f->ids));
}

static void watched(struct fixture *f) {
  CHECK_OK(f->world, declare_ai(f, ECS_I32, true));
  CHECK_OK(f->world, ecs_spawn_many(f->world, 8, (ecs_id[]){f->position, ai}, 2, f->ids));
  f->query = new_query(f->world, "AI:changed, Position:changed?");
}

static ecs_status ask(struct fixture *f) {
  ecs_query *query;
  ecs_status status = ecs_query_new(f->world, "AI:changed, Position:changed", &query);
  if (status == ECS_OK) ecs_query_free(query);
  return status;
}

static ecs_status track(struct fixture *f) { return declare_ai(f, ECS_I32, true); }

static ecs_status track_no_more(struct fixture *f) { return declare_ai(f, ECS_I32, false); }

static ecs_status retype(struct fixture *f) { return declare_ai(f, ECS_I64, true); }

static ecs_status move(struct fixture *f) { return ecs_add(f->world, f->ids[0], f->health); }

static ecs_status spawn_more(struct fixture *f) {
  return ecs_spawn_many(f->world, 100, (ecs_id[]){f->position, ai}, 2, NULL);
}

static ecs_status go_through(struct fixture *f) {
  ecs_status status = ecs_iter_open(f->query, &f->it);
  if (status != ECS_OK) return status;
  while (ecs_iter_next(&f->it)) CHECK(f->it.count > 0 && ecs_iter_column(&f->it, 0, 0));
  return ecs_iter_close(&f->it);
}

static const struct operation operations[] = {
  {"a query for what has changed", plain, ask, NULL, ASKS},
  {"a component that becomes tracked", plain, track, NULL, ASKS},
  {"a component that is tracked no more", watched, track_no_more, NULL, ASKS},
  {"a tracked component with other fields", watched, retype, NULL, ASKS},
  {"a row that moves with its marks", watched, move, NULL, ASKS},
  {"many more rows of what is watched", watched, spawn_more, NULL, ASKS},
  {"going through what has changed", watched, go_through, NULL, ASKS},
  {"a snapshot of what has changed", watched, keep_and_restore, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
