/* Components switched off, for hosts in C: queries, iterators, whole queries changed, images,
** snapshots, redeclaration. C77, C78. */
#include <string.h>

#include "core/ids/world.h"
#include "core/storage/toggle.h"
#include "fixture.h"

static ecs_id ai, asleep;

static ecs_status declare_ai(struct fixture *f, bool toggle, ecs_id *out) {
  ecs_field mood = {.name = "mood", .type = ECS_I32};
  return ecs_component(f->world, &(ecs_component_desc){.name = "AI", .fields = &mood,
                                                       .field_count = 1, .toggle = toggle}, out);
}

static void declare_toggles(struct fixture *f) {
  CHECK_OK(f->world, declare_ai(f, true, &ai));
  CHECK_OK(f->world, ecs_component(f->world, &(ecs_component_desc){.name = "Asleep",
                                                                   .toggle = true}, &asleep));
}

#define ROWS 200

static ecs_id rows[ROWS];

/* 200 rows with AI; every third has it off, and those from 100 to 170. */
static bool is_off(size_t i) { return i % 3 == 0 || (i >= 100 && i < 170); }

static void open_toggles(struct fixture *f) {
  open_usual(f);
  declare_toggles(f);
  CHECK_OK(f->world, ecs_spawn_many(f->world, ROWS, (ecs_id[]){f->position, ai}, 2, rows));
  for (int i = 0; i < ROWS; i++) {
    CHECK_OK(f->world, ecs_set(f->world, rows[i], ai, &(int32_t){i}));
    if (is_off((size_t)i)) CHECK_OK(f->world, ecs_disable(f->world, rows[i], ai));
  }
  CHECK_SOUND(f->world);
}

/* Each run has the rows that lie together. */
static void iterates_in_runs(void) {
  struct fixture f;
  open_toggles(&f);
  ecs_query *query = new_query(f.world, "Position, AI?");
  size_t at = 0, runs = 0;
  CHECK_OK(f.world, ecs_iter_open(query, &f.it));
  for (; ecs_iter_next(&f.it); runs++) {
    const int32_t *moods = ecs_iter_column(&f.it, 1, 0);
    CHECK(ecs_iter_has(&f.it, 1) == (moods != NULL) && ecs_iter_has(&f.it, 0));
    for (size_t row = 0; row < f.it.count; row++, at++) {
      CHECK(ecs_iter_entity(&f.it, row) == rows[at] && is_off(at) == !moods);
      if (moods) CHECK_INTEGER(at, moods[row]);
    }
  }
  CHECK_INTEGER(ROWS, at);
  CHECK(runs > 2 && runs < ROWS);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  ecs_query_free(query);
  close_world(&f);
}

static void refuses_others(void) {
  struct fixture f;
  open_toggles(&f);
  ecs_id id;
  CHECK(ecs_disable(f.world, rows[1], f.position) == ECS_EINVAL);
  CHECK(strstr(ecs_message(f.world), "'Position' cannot be switched on and off") != NULL);
  CHECK(ecs_enable(f.world, rows[1], rows[2]) == ECS_EINVAL);
  CHECK_OK(f.world, ecs_despawn(f.world, rows[1]));
  CHECK(ecs_disable(f.world, rows[1], ai) == ECS_EDEAD);
  CHECK(!ecs_enabled(f.world, rows[1], ai));
  CHECK(ecs_relation(f.world, &(ecs_component_desc){.name = "R", .toggle = true}, &id) ==
        ECS_EINVAL);
  close_world(&f);
}

/* ecs_check sees a bit that is not counted. */
static void is_checked(void) {
  struct fixture f;
  open_toggles(&f);
  const struct record *record = entity_find(&f.world->entities, rows[1]);
  struct table *table = record_table(f.world, record);
  struct toggle *toggle = toggle_of(table, ai);
  toggle->bits[0] ^= 2;
  CHECK(ecs_check(f.world) == ECS_ECORRUPT);
  toggle->bits[0] ^= 2;
  table->off++;
  CHECK(ecs_check(f.world) == ECS_ECORRUPT);
  table->off--;
  toggle->bits[ROWS / 64] ^= UINT64_C(1) << 63;
  CHECK(ecs_check(f.world) == ECS_ECORRUPT);
  toggle->bits[ROWS / 64] ^= UINT64_C(1) << 63;
  close_world(&f);
}

static const struct test tests[] = {
  {"C78: iterates over rows that lie together", iterates_in_runs},
  {"refuses what is no toggle", refuses_others},
  {"is checked", is_checked},
};

int main(void) { return RUN_TESTS(tests); }
