/* Reliability line 2: running out of memory while indexes are declared and looked into. C18. */
#include "sweep.h"

static ecs_index *near;

static ecs_status declare(struct fixture *f) {
  const ecs_index_desc desc = {.name = "near", .query = "Position:in, Label?, with Enemy",
                               .of = "Position", .cell = 1, .owner = "somebody"};
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

static ecs_status text_of_row(const ecs_index *index, size_t row, void *ud, ecs_value *key) {
  static char text[2];
  text[0] = 'k';
  text[1] = (char)('a' + row % 26);
  (void)index, (void)ud;
  *key = (ecs_value){.kind = ECS_KIND_STRING, .string = {text, sizeof text}};
  return ECS_OK;
}

static void keyed(struct fixture *f, ecs_index_by by, const char *of) {
  const ecs_index_desc desc = {.name = "near", .query = "Position", .by = by, .of = of,
                               .key = of ? NULL : text_of_row};
  some(f);
  CHECK_OK(f->world, ecs_index_new(f->world, &desc, &near));
}

static void by_hash(struct fixture *f) { keyed(f, ECS_BY_HASH, "x"); }
static void by_order(struct fixture *f) { keyed(f, ECS_BY_ORDER, "x"); }
static void by_maybe(struct fixture *f) { keyed(f, ECS_BY_MAYBE, "x"); }
static void by_text(struct fixture *f) { keyed(f, ECS_BY_HASH, NULL); }

static ecs_status count_equal(const ecs_value *key, size_t wanted) {
  ecs_found found;
  size_t count = 0;
  ecs_status status = ecs_index_equal(near, key, &found);
  while (ecs_found_next(&found)) count++;
  CHECK_INTEGER(status == ECS_OK ? wanted : 0, count);
  return status;
}

static ecs_status look_for_one(struct fixture *f) {
  (void)f;
  return count_equal(&(ecs_value){.kind = ECS_KIND_INTEGER, .integer = 3}, 6);
}

static ecs_status look_for_text(struct fixture *f) {
  (void)f;
  return count_equal(&(ecs_value){.kind = ECS_KIND_STRING, .string = {"kc", 2}}, 2);
}

static ecs_status look_for_lowest(struct fixture *f) {
  ecs_found found;
  (void)f;
  return ecs_index_lowest(near, 3, &found);
}

static const struct operation operations[] = {
  {"an index declared", some, declare, NULL, ASKS},
  {"an index declared again", looked, declare, NULL, ASKS},
  {"an index looked into for the first time", declared, look, NULL, ASKS},
  {"the nearest of an index looked for", declared, look_for_nearest, NULL, ASKS},
  {"an index by hash looked into", by_hash, look_for_one, NULL, ASKS},
  {"an index in order looked into", by_order, look_for_lowest, NULL, ASKS},
  {"an index with a filter looked into", by_maybe, look_for_one, NULL, ASKS},
  {"an index by texts that a function makes looked into", by_text, look_for_text, NULL, ASKS},
  {"an index dropped", looked, drop, NULL, ASKS_NOTHING},
  {"a snapshot beside an index, restored", looked, keep_and_restore, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
