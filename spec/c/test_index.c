/* Indexes, for hosts in C. What is found is compared with going through all by
** spec/random/random_index_spec.lua, too. C27, C28. */
#include <math.h>
#include <string.h>

#include "core/base/intern.h"
#include "core/ids/world.h"
#include "fixture.h"

struct place { double x, y, z; };

static const ecs_field flat[] = {{.name = "x", .type = ECS_F64}, {.name = "y", .type = ECS_F64}};
static const ecs_field whole[] = {{.name = "x", .type = ECS_I32}, {.name = "y", .type = ECS_I32},
                                  {.name = "z", .type = ECS_I32}};

static ecs_index *declare(struct fixture *f, const char *query, const char *grid, double cell) {
  ecs_index *index = NULL;
  const ecs_index_desc desc = {.name = "near", .query = query, .of = grid, .cell = cell};
  CHECK_OK(f->world, ecs_index_new(f->world, &desc, &index));
  return index;
}

static size_t count_within(ecs_index *index, double x, double y, double reach) {
  ecs_found found;
  size_t count = 0;
  if (ecs_index_within(index, (double[]){x, y, 0}, reach, &found) != ECS_OK) return 9999;
  while (ecs_found_next(&found)) count++;
  CHECK(!ecs_found_next(&found));
  return count;
}

static ecs_id spawn_position(struct fixture *f, float x, float y) {
  ecs_id id = SPAWN(f->world, f->position);
  set_position(f, id, x, y);
  return id;
}

static void finds_who_is_near(void) {
  struct fixture f;
  ecs_found found;
  open_usual(&f);
  f.a = spawn_position(&f, 3, 4);
  f.b = spawn_position(&f, -1, 0);
  f.c = spawn_position(&f, 0, 0);
  ecs_index *near = declare(&f, "Position:in", "Position", 1);
  CHECK(ecs_index_find(f.world, "near") == near);
  CHECK_OK(f.world, ecs_index_within(near, (double[]){0, 0}, 5, &found));
  const ecs_id wanted[] = {f.b, f.c, f.a};
  for (int i = 0; i < 3; i++) {
    CHECK(ecs_found_next(&found) && found.entity == wanted[i]);
    CHECK(found.entity == ecs_index_entity(near, found.row));
  }
  CHECK(!ecs_found_next(&found));
  const float *x = ecs_index_column(near, 0, 0);
  CHECK(x && x[0] == -1 && x[1] == 0 && x[2] == 3 && ecs_index_count(near) == 3);
  CHECK(!ecs_index_column(near, 0, 2) && !ecs_index_column(near, 1, 0));
  CHECK_INTEGER(2, count_within(near, 0, 0, nextafter(5, 0)));
  CHECK_OK(f.world, ecs_index_nearest(near, (double[]){3, 3}, 9, ECS_NULL, &found));
  CHECK(found.entity == f.a && found.distance == 1);
  CHECK_OK(f.world, ecs_index_nearest(near, (double[]){3, 3}, 9, f.a, &found));
  CHECK(found.entity == f.c && found.distance == sqrt(18));
  CHECK(ecs_index_nearest(near, (double[]){3, 3}, 0.5, ECS_NULL, &found) == ECS_EABSENT);
  close_world(&f);
}

static void takes_any_range(void) {
  struct fixture f;
  ecs_found found;
  open_usual(&f);
  ecs_id at = DECLARE(f.world, "At", flat);
  const double xs[] = {1e300, -1e300, 0, 1e-200, NAN, INFINITY, -INFINITY, 1e15, -0.0, 1e308};
  for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) {
    ecs_id id = SPAWN(f.world, at);
    CHECK_OK(f.world, ecs_set(f.world, id, at, &(struct place){xs[i], 0, 0}));
  }
  ecs_index *near = declare(&f, "At:in", "At", 0.001);
  CHECK_INTEGER(7, count_within(near, 0, 0, INFINITY));
  CHECK_INTEGER(3, count_within(near, 0, 0, 0));       /* the square of 1e-200 is 0 */
  CHECK_INTEGER(3, count_within(near, -0.0, 0, 1e-300));
  CHECK_INTEGER(0, count_within(near, 0, 0, -1));
  CHECK_INTEGER(0, count_within(near, 0, 0, NAN));
  CHECK_INTEGER(0, count_within(near, NAN, 0, INFINITY));
  CHECK_INTEGER(0, count_within(near, INFINITY, 0, 1e308));
  CHECK_INTEGER(7, count_within(near, INFINITY, 0, INFINITY));
  CHECK_INTEGER(1, count_within(near, 1e15, 5, 5));
  CHECK_INTEGER(1, count_within(near, 1e300, 0, 1));
  CHECK_OK(f.world, ecs_index_nearest(near, (double[]){2e15, 1e12}, INFINITY, ECS_NULL, &found));
  CHECK(((const double *)ecs_index_column(near, 0, 0))[found.row] == 1e15);
  CHECK_INTEGER(7, ecs_index_count(near));
  close_world(&f);
}

static void takes_whole_numbers_in_space(void) {
  struct fixture f;
  ecs_found found;
  open_usual(&f);
  ecs_id at = DECLARE(f.world, "At", whole);
  f.a = SPAWN(f.world, at);
  f.b = SPAWN(f.world, at);
  CHECK_OK(f.world, ecs_set(f.world, f.a, at, &(int32_t[3]){1, 2, 2}));
  CHECK_OK(f.world, ecs_set(f.world, f.b, at, &(int32_t[3]){1, 2, -3}));
  ecs_index *near = declare(&f, "At:in", "At", 2);
  CHECK_OK(f.world, ecs_index_within(near, (double[]){0, 0, 0}, 3, &found));
  CHECK(ecs_found_next(&found) && found.entity == f.a && !ecs_found_next(&found));
  close_world(&f);
}

static ecs_index *used;
static struct fixture *user;

/* ---- keys ---- */

static ecs_value integer(int64_t value) {
  return (ecs_value){.kind = ECS_KIND_INTEGER, .integer = value};
}

/* The next ones that are found are these, and no more. */
static void check_found(ecs_found *found, const ecs_id *ids, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) CHECK(ecs_found_next(found) && found->entity == ids[i]);
  CHECK(!ecs_found_next(found));
}

/* The same key as the field's, by a function. */
static ecs_status hp_of(const ecs_index *index, size_t row, void *ud, ecs_value *key) {
  const int32_t *hp = ecs_index_column(index, 0, 0);
  CHECK(!ud && ecs_index_count(index) == 8 && ecs_index_entity(index, row));
  *key = integer(hp[row]);
  return ECS_OK;
}

static void finds_keys(void) {
  static const ecs_index_desc kinds[] = {
    {.name = "hash", .query = "Health", .by = ECS_BY_HASH, .of = "hp"},
    {.name = "maybe", .query = "Health", .by = ECS_BY_MAYBE, .of = "Health.hp"},
    {.name = "key", .query = "Health", .by = ECS_BY_HASH, .key = hp_of},
    {.name = "order", .query = "Health", .by = ECS_BY_ORDER, .of = "hp"}};
  struct fixture f;
  ecs_found found;
  ecs_index *index;
  const ecs_value two = integer(2), most = {.kind = ECS_KIND_NUMBER, .number = 2.5};
  open_usual(&f);
  for (int i = 0; i < 8; i++) {
    f.ids[i] = SPAWN(f.world, f.health);
    CHECK_OK(f.world, ecs_set(f.world, f.ids[i], f.health, &(struct health){i % 4, 0}));
  }
  for (int i = 0; i < 4; i++) {
    CHECK_OK(f.world, ecs_index_new(f.world, &kinds[i], &index));
    if (i == 3) break;
    CHECK_OK(f.world, ecs_index_equal(index, &two, &found));
    check_found(&found, (ecs_id[]){f.ids[2], f.ids[6]}, 2);
  }
  CHECK_OK(f.world, ecs_index_range(index, &two, &most, &found));
  check_found(&found, (ecs_id[]){f.ids[2], f.ids[6]}, 2);
  CHECK_OK(f.world, ecs_index_lowest(index, 3, &found));
  check_found(&found, (ecs_id[]){f.ids[0], f.ids[4], f.ids[1]}, 3);
  CHECK_OK(f.world, ecs_index_highest(index, 3, &found));
  check_found(&found, (ecs_id[]){f.ids[3], f.ids[7], f.ids[2]}, 3);
  CHECK_FAILS(f.world, ECS_EINVAL, "it has range, lowest and highest",
              ecs_index_within(index, (double[]){0, 0}, 1, &found));
  CHECK(!ecs_found_next(&found));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static ecs_status no_key(const ecs_index *index, size_t row, void *ud, ecs_value *key) {
  ecs_found found;
  (void)key;
  if (row == 1) return ECS_EUSER;
  CHECK(ecs_index_equal(ud, &(ecs_value){.kind = ECS_KIND_NONE}, &found) == ECS_EBUSY);
  ecs_index *other;
  const ecs_index_desc desc = {.name = "near"};
  CHECK(ud == index && ecs_index_new(user->world, &desc, &other) == ECS_EBUSY);
  CHECK(ecs_index_drop(user->world, "near") == ECS_EBUSY);
  return ECS_OK;
}

static void passes_on_what_a_key_function_fails_with(void) {
  struct fixture f;
  ecs_index *near;
  ecs_found found;
  open_usual(&f);
  user = &f;
  SPAWN(f.world, f.health);
  SPAWN(f.world, f.health);
  ecs_index_desc desc = {.name = "near", .query = "Health", .by = ECS_BY_MAYBE, .key = no_key};
  CHECK_OK(f.world, ecs_index_new(f.world, &desc, &near));
  desc.ud = near;
  CHECK_OK(f.world, ecs_index_new(f.world, &desc, &near));
  const ecs_value key = integer(1);
  CHECK(ecs_index_equal(near, &key, &found) == ECS_EUSER);
  CHECK(!ecs_found_next(&found) && ecs_index_count(near) == 0);
  close_world(&f);
}

/* ---- what it is of ---- */

static ecs_status move_and_count(ecs_world *world, ecs_query *query, double dt, void *ud) {
  size_t *counts = ud;
  (void)query, (void)dt;
  counts[0] = count_within(used, 0, 0, 1);
  set_position(user, user->a, 100, 0);
  CHECK_OK(world, ecs_despawn(world, user->b));
  counts[1] = count_within(used, 0, 0, 1);
  ecs_index *other;
  CHECK_FAILS(world, ECS_EBUSY, "declaring an index again",
              ecs_index_new(world, &(ecs_index_desc){.name = "near"}, &other));
  CHECK_FAILS(world, ECS_EBUSY, "dropping an index", ecs_index_drop(world, "near"));
  return ECS_OK;
}

static void stays_while_a_system_runs(void) {
  struct fixture f;
  size_t counts[2] = {0, 0};
  open_usual(&f);
  f.a = spawn_position(&f, 0, 0);
  f.b = spawn_position(&f, 0, 1);
  f.c = spawn_position(&f, 1, 0);
  used = declare(&f, "Position:in", "Position", 1);
  user = &f;
  const ecs_system_desc desc = {.name = "move", .run = move_and_count, .ud = counts};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK(counts[0] == 3 && counts[1] == 3);
  CHECK_INTEGER(1, count_within(used, 0, 0, 1));
  set_position(&f, f.a, 0, 0);
  CHECK_INTEGER(2, count_within(used, 0, 0, 1));
  close_world(&f);
}

static void follows_what_replaces_the_world(void) {
  struct fixture f;
  ecs_snapshot *snapshot;
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.label);
  ecs_index *near = declare(&f, "Position:in, Label?", "Position", 1);
  CHECK_INTEGER(1, count_within(near, 0, 0, 1));
  CHECK_OK(f.world, ecs_snapshot_new(f.world, &snapshot));
  SPAWN(f.world, f.position);
  CHECK_INTEGER(2, count_within(near, 0, 0, 1));
  CHECK_OK(f.world, ecs_restore(snapshot));
  CHECK_INTEGER(0, ecs_index_count(near));
  CHECK_INTEGER(1, count_within(near, 0, 0, 1));
  ecs_snapshot_free(snapshot);
  const ecs_field other[] = {{.name = "y", .type = ECS_F64}, {.name = "x", .type = ECS_I16}};
  ecs_id same;
  const ecs_component_desc desc = {.name = "Position", .fields = other, .field_count = 2};
  CHECK_OK(f.world, ecs_component(f.world, &desc, &same));
  CHECK_INTEGER(1, count_within(near, 0, 0, 1));
  CHECK(((const int16_t *)ecs_index_column(near, 0, 1))[0] == 0);
  CHECK_OK(f.world, ecs_undeclare(f.world, f.position));
  ecs_found found;
  CHECK_FAILS(f.world, ECS_ENAME, "no longer declared",
              ecs_index_within(near, (double[]){0, 0}, 1, &found));
  CHECK(!ecs_found_next(&found) && ecs_index_count(near) == 0);
  close_world(&f);
}

static void freed(void *ud) { ++*(int *)ud; }

static void is_replaced_and_dropped(void) {
  struct fixture f;
  int count = 0;
  ecs_index *near, *again;
  open_usual(&f);
  ecs_index_desc desc = {.name = "near", .query = "Position:in", .of = "Position", .cell = 1,
                         .ud = &count, .free = freed};
  CHECK_OK(f.world, ecs_index_new(f.world, &desc, &near));
  desc.query = "Position:in, Enemy";
  SPAWN(f.world, f.position);
  CHECK_INTEGER(1, count_within(near, 0, 0, 1));
  CHECK_OK(f.world, ecs_index_new(f.world, &desc, &again));
  CHECK(again == near && count == 1);
  CHECK_INTEGER(0, count_within(near, 0, 0, 1));
  CHECK_OK(f.world, ecs_index_drop(f.world, "near"));
  CHECK_INTEGER(2, count);
  CHECK(!ecs_index_find(f.world, "near"));
  CHECK_TEXT("there is no index 'near'", ecs_message(f.world));
  CHECK(ecs_index_drop(f.world, "near") == ECS_ENAME);
  CHECK_OK(f.world, ecs_index_new(f.world, &desc, &near));
  close_world(&f);
  CHECK_INTEGER(3, count);
}

static void refuse(struct fixture *f, ecs_index_desc desc, const char *words) {
  ecs_index *index = NULL;
  if (!desc.name) desc.name = "near";
  check_context("%s", words);
  CHECK(ecs_index_new(f->world, &desc, &index) != ECS_OK && !index);
  CHECK(strstr(ecs_message(f->world), words) != NULL);
  check_context(NULL);
}

static void refuses_what_makes_no_sense(void) {
  struct fixture f;
  open_usual(&f);
  declare_one(f.world, "Bag", "x", ECS_ANY);
  refuse(&f, (ecs_index_desc){.name = "Position"}, "the name is already used by a component");
  refuse(&f, (ecs_index_desc){.name = "no name"}, "the name of an index");
  refuse(&f, (ecs_index_desc){.query = NULL}, "needs a query");
  refuse(&f, (ecs_index_desc){.query = "Position"}, "needs a key");
  refuse(&f, (ecs_index_desc){.query = "Position", .of = "Position"}, "a number above 0");
  refuse(&f, (ecs_index_desc){.query = "Position", .of = "Position", .cell = NAN}, "got nan");
  refuse(&f, (ecs_index_desc){.query = "Health", .by = ECS_BY_HASH}, "needs a key");
  refuse(&f, (ecs_index_desc){.query = "Label", .by = ECS_BY_ORDER, .of = "text"},
         "or use hash");
  refuse(&f, (ecs_index_desc){.query = "Health.hp", .by = ECS_BY_HASH, .of = "Health.armour"},
         "does not yield 'Health.armour'");
  refuse(&f, (ecs_index_desc){.query = "Positio", .of = "Position", .cell = 1}, "Position");
  refuse(&f, (ecs_index_desc){.query = "Enemy", .of = "Position", .cell = 1},
         "add 'Position:in' to it");
  refuse(&f, (ecs_index_desc){.query = "Health", .of = "Health", .cell = 1},
         "a grid needs the number fields x and y of 'Health'");
  refuse(&f, (ecs_index_desc){.query = "Position.x", .of = "Position", .cell = 1}, "yields no y");
  refuse(&f, (ecs_index_desc){.query = "Bag, Position", .of = "Position", .cell = 1},
         "'Bag.x' has type any");
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* Texts that nobody has any more but an index are kept for it. */
static void keeps_its_texts(void) {
  struct fixture f;
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.label);
  ecs_index *near = declare(&f, "Position:in, Label:in", "Position", 1);
  char text[64] = "what only the index knows";
  CHECK_OK(f.world, ecs_set(f.world, f.a, f.label, &(struct label){text_of(text)}));
  CHECK_INTEGER(1, count_within(near, 0, 0, 1));
  for (int i = 0; i < 5000; i++) {
    text[0] = (char)('a' + i % 26);
    text[1] = (char)('a' + i / 26 % 26);
    text[2] = (char)('a' + i / 676);
    CHECK_OK(f.world, ecs_set(f.world, f.a, f.label, &(struct label){text_of(text)}));
  }
  CHECK_SOUND(f.world);
  const uint32_t *numbers = ecs_index_column(near, 1, 0);
  const struct intern_table *texts = &f.world->strings;
  if (CHECK(texts->texts[numbers[0]] != NULL))
    CHECK_TEXT("what only the index knows", intern_text(texts, numbers[0]).data);
  close_world(&f);
}

/* Cells that a loop was given are written between two searches. */
static void sees_what_is_written_between_searches(void) {
  struct fixture f;
  ecs_query *query;
  ecs_iter it;
  open_usual(&f);
  spawn_position(&f, 0, 0);
  spawn_position(&f, 5, 0);
  ecs_index *near = declare(&f, "Position", "Position", 1);
  CHECK_INTEGER(1, count_within(near, 0, 0, 1));
  CHECK_OK(f.world, ecs_query_new(f.world, "Position", &query));
  CHECK_OK(f.world, ecs_iter_open(query, &it));
  while (ecs_iter_next(&it)) {
    float *x = ecs_iter_column(&it, 0, 0);
    CHECK_INTEGER(1, count_within(near, 0, 0, 1));
    x[1] = 0.25f;
    CHECK_INTEGER(2, count_within(near, 0, 0, 1));
    CHECK_INTEGER(2, count_within(near, 0, 0, 1));
    x[0] = 7;
  }
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK_INTEGER(1, count_within(near, 0, 0, 1));
  CHECK_OK(f.world, ecs_iter_open(query, &it));
  while (ecs_iter_next(&it)) ((float *)ecs_iter_column(&it, 0, 0))[0] = 0.5f;
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK_INTEGER(2, count_within(near, 0, 0, 1));
  CHECK_INTEGER(2, count_within(near, 0, 0, 1));
  ecs_query_free(query);
  CHECK_SOUND(f.world);
  close_world(&f);
}

static const struct test tests[] = {
  {"an index finds who is near", finds_who_is_near},
  {"coordinates may have any range", takes_any_range},
  {"a grid takes whole numbers, and three of them", takes_whole_numbers_in_space},
  {"what has a key is found by it, or in order", finds_keys},
  {"what a key function fails with is passed on", passes_on_what_a_key_function_fails_with},
  {"an index stays while a system runs", stays_while_a_system_runs},
  {"an index follows restored worlds and migrated components", follows_what_replaces_the_world},
  {"an index is replaced and dropped by name", is_replaced_and_dropped},
  {"an index of what makes no sense is refused", refuses_what_makes_no_sense},
  {"texts stay as long as an index has them", keeps_its_texts},
  {"what is written between searches is seen", sees_what_is_written_between_searches},
};

int main(void) { return RUN_TESTS(tests); }
