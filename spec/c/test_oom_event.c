/* Reliability line 2: running out of memory while events come, change, are kept and loaded. C18. */
#include "sweep.h"

static ecs_id hit;

static const ecs_field fields[] = {{.name = "who", .type = ECS_ENTITY},
                                   {.name = "amount", .type = ECS_F32}};
static const ecs_field others[] = {{.name = "amount", .type = ECS_F64},
                                   {.name = "more", .type = ECS_I32}};

struct hit {
  ecs_id who;
  float amount;
};

static void none(struct fixture *f) { f->a = spawn_empty(f->world); }

static ecs_status declare(struct fixture *f) {
  return ecs_event(f->world, &(ecs_component_desc){.name = "Hit", .fields = fields,
                                                   .field_count = 2}, &hit);
}

static ecs_status emit(struct fixture *f) {
  return ecs_emit(f->world, hit, &(struct hit){f->a, 1});
}

static ecs_status put_off(struct fixture *f) {
  return ecs_after(f->world, 1, hit, &(struct hit){f->a, 1});
}

static void declared(struct fixture *f) {
  none(f);
  CHECK_OK(f->world, declare(f));
}

static void some(struct fixture *f) {
  declared(f);
  for (int i = 0; i < 16; i++) CHECK_OK(f->world, emit(f));
}

static void some_put_off(struct fixture *f) {
  some(f);
  for (int i = 0; i < 16; i++) CHECK_OK(f->world, put_off(f));
}

static ecs_status update(struct fixture *f) { return ecs_update(f->world, 1); }

static void deferred(struct fixture *f) {
  declared(f);
  CHECK_OK(f->world, ecs_defer(f->world));
}

static void full(struct fixture *f) {
  some(f);
  CHECK_OK(f->world, ecs_defer(f->world));
}

static void commit(struct fixture *f) { CHECK_OK(f->world, ecs_commit(f->world)); }

static ecs_status change(struct fixture *f) {
  return ecs_event(f->world, &(ecs_component_desc){.name = "Hit", .fields = others,
                                                   .field_count = 2}, &hit);
}

static ecs_status undeclare(struct fixture *f) { return ecs_undeclare(f->world, hit); }

static const struct operation operations[] = {
  {"an event declared", none, declare, NULL, ASKS},
  {"the first event emitted", declared, emit, NULL, ASKS},
  {"an event emitted where there is no more room", some, emit, NULL, ASKS},
  {"an event emitted in a scope", deferred, emit, commit, ASKS},
  {"an event emitted in a scope where there is no more room", full, emit, commit, ASKS},
  {"an event put off", declared, put_off, NULL, ASKS},
  {"an event put off where there is no more room", some_put_off, put_off, NULL, ASKS},
  {"an event put off in a scope", deferred, put_off, commit, ASKS},
  {"events that are due", some_put_off, update, NULL, ASKS},
  {"an event with other fields", some_put_off, change, NULL, ASKS},
  {"an event undeclared", some, undeclare, NULL, ASKS_NOTHING},
  {"a snapshot with events, restored", some_put_off, keep_and_restore, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
