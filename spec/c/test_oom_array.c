/* Reliability line 2: running out of memory while arrays come, change, are kept and loaded. C18. */
#include "sweep.h"

static ecs_id grid, ids;

static void none(struct fixture *f) { f->a = spawn_empty(f->world); }

static void some(struct fixture *f) {
  size_t length;
  none(f);
  CHECK_OK(f->world, ecs_array(f->world, "grid", ECS_I32, 200, &grid));
  CHECK_OK(f->world, ecs_array(f->world, "ids", ECS_ENTITY, 20, &ids));
  int32_t *cells = ecs_array_data(f->world, grid, &length);
  for (size_t i = 0; i < length; i++) cells[i] = (int32_t)i;
  ((ecs_id *)ecs_array_data(f->world, ids, &length))[7] = f->a;
}

static ecs_status declare(struct fixture *f) {
  return ecs_array(f->world, "grid", ECS_I32, 200, &grid);
}

static ecs_status change(struct fixture *f) {
  return ecs_array(f->world, "grid", ECS_F64, 300, &grid);
}

static ecs_status cut(struct fixture *f) {
  return ecs_array(f->world, "grid", ECS_I32, 10, &grid);
}

static ecs_status undeclare(struct fixture *f) { return ecs_undeclare(f->world, grid); }

static const struct operation operations[] = {
  {"an array declared", none, declare, NULL, ASKS},
  {"an array of another type and length", some, change, NULL, ASKS},
  {"an array that is cut", some, cut, NULL, ASKS},
  {"an array undeclared", some, undeclare, NULL, ASKS_NOTHING},
  {"a snapshot with arrays, restored", some, keep_and_restore, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
