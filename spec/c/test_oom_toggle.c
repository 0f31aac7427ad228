/* Reliability line 2: running out of memory while components are switched off, and while what is
** off moves, is migrated, saved, loaded and restored. C18, C77. */
#include "sweep.h"

static ecs_id ai;

static ecs_status declare_ai(struct fixture *f, ecs_type type, bool toggle) {
  ecs_field mood = {.name = "mood", .type = type};
  return ecs_component(f->world, &(ecs_component_desc){.name = "AI", .fields = &mood,
                                                       .field_count = 1, .toggle = toggle}, &ai);
}

static void awake(struct fixture *f) {
  CHECK_OK(f->world, declare_ai(f, ECS_I32, true));
  CHECK_OK(f->world, ecs_spawn_many(f->world, 8, (ecs_id[]){f->position, ai}, 2, f->ids));
  f->query = new_query(f->world, "!AI, Position, AI:off?");
}

static void some_off(struct fixture *f) {
  awake(f);
  for (int i = 0; i < 8; i += 3) CHECK_OK(f->world, ecs_disable(f->world, f->ids[i], ai));
}

static ecs_status switch_now(struct fixture *f) { return ecs_disable(f->world, f->ids[1], ai); }

static ecs_status switch_later(struct fixture *f) {
  ecs_status status = ecs_defer(f->world);
  if (status != ECS_OK) return status;
  status = ecs_disable(f->world, f->ids[1], ai);
  if (status == ECS_OK) status = ecs_enable(f->world, f->ids[0], ai);
  if (status == ECS_OK) status = ecs_commit(f->world);
  if (status != ECS_OK) CHECK_OK(f->world, ecs_cancel(f->world));
  return status;
}

static ecs_status move(struct fixture *f) { return ecs_add(f->world, f->ids[0], f->health); }

static ecs_status move_all(struct fixture *f) { return ecs_query_add(f->query, f->frozen); }

static ecs_status spawn_more(struct fixture *f) {
  return ecs_spawn_many(f->world, 100, (ecs_id[]){f->position, ai}, 2, NULL);
}

static ecs_status retype(struct fixture *f) { return declare_ai(f, ECS_I64, true); }

static ecs_status toggle_no_more(struct fixture *f) { return declare_ai(f, ECS_I32, false); }

static void plain(struct fixture *f) {
  CHECK_OK(f->world, declare_ai(f, ECS_I32, false));
  CHECK_OK(f->world, ecs_spawn_many(f->world, 8, (ecs_id[]){f->position, ai}, 2, f->ids));
  f->query = new_query(f->world, "!AI, Position");
}

static ecs_status toggle_now(struct fixture *f) { return declare_ai(f, ECS_I32, true); }

static ecs_status count_them(struct fixture *f) {
  size_t count;
  return ecs_count(f->world, "AI?, Position, AI:any", &count);
}

static ecs_status go_through(struct fixture *f) {
  ecs_status status = ecs_iter_open(f->query, &f->it);
  if (status != ECS_OK) return status;
  while (ecs_iter_next(&f->it)) CHECK(f->it.count > 0 && ecs_iter_has(&f->it, 2));
  return ecs_iter_close(&f->it);
}

static const struct operation operations[] = {
  {"a component switched off", awake, switch_now, NULL, ASKS_NOTHING},
  {"components switched in a scope", some_off, switch_later, NULL, ASKS},
  {"a row that moves with what is off", some_off, move, NULL, ASKS},
  {"all rows in which it is off", some_off, move_all, NULL, ASKS},
  {"many more rows of a toggle", some_off, spawn_more, NULL, ASKS},
  {"a toggle with other fields", some_off, retype, NULL, ASKS},
  {"a toggle that is none any more", awake, toggle_no_more, NULL, ASKS},
  {"a component that becomes a toggle", plain, toggle_now, NULL, ASKS},
  {"a count of what is off", some_off, count_them, NULL, ASKS},
  {"going through what is off", some_off, go_through, NULL, ASKS},
  {"a snapshot of what is off", some_off, keep_and_restore, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
