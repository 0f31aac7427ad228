/* Reliability line 2: running out of memory while indexes are declared and looked into. C18. */
#include "sweep.h"

static ecs_index *near;

static ecs_status declare(struct fixture *f) {
  const ecs_index_desc desc = {.name = "near", .query = "Position:in, Label?, with Enemy",
                               .grid = "Position", .cell = 1, .owner = "somebody"};
  return ecs_index_new(f->world, &desc, &near);
}

static void some(struct fixture *f) {
  for (int i = 0; i < 40; i++)
    set_position(f, SPAWN(f->world, f->position, f->enemy), (float)(i % 7), (float)(i * i));
}

static void declared(struct fixture *f) {
  some(f);
  CHECK_OK(f->world, declare(f));
}

static ecs_status look(struct fixture *f) {
  ecs_found found;
  (void)f;
  ecs_status status = ecs_index_within(near, (double[]){3, 3}, 10, &found);
  if (status != ECS_OK) CHECK(!ecs_found_next(&found) && ecs_index_count(near) == 0);
  size_t count = 0;
  while (ecs_found_next(&found)) count++;
  if (status == ECS_OK) CHECK_INTEGER(4, count);
  return status;
}

static ecs_status look_for_nearest(struct fixture *f) {
  ecs_found found;
  (void)f;
  return ecs_index_nearest(near, (double[]){3, 3}, 1000, ECS_NULL, &found);
}

static void looked(struct fixture *f) {
  declared(f);
  CHECK_OK(f->world, look(f));
}

static ecs_status drop(struct fixture *f) { return ecs_index_drop(f->world, "near"); }

static const struct operation operations[] = {
  {"an index declared", some, declare, NULL, ASKS},
  {"an index declared again", looked, declare, NULL, ASKS},
  {"an index looked into for the first time", declared, look, NULL, ASKS},
  {"the nearest of an index looked for", declared, look_for_nearest, NULL, ASKS},
  {"an index dropped", looked, drop, NULL, ASKS_NOTHING},
  {"a snapshot beside an index, restored", looked, keep_and_restore, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
