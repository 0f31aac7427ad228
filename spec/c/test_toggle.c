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

static size_t count_off(void) {
  size_t off = 0;
  for (size_t i = 0; i < ROWS; i++) off += is_off(i);
  return off;
}

static void is_absent_to_queries(void) {
  struct fixture f;
  open_toggles(&f);
  size_t off = count_off();
  CHECK_INTEGER(ROWS - off, count_of(f.world, "AI"));
  CHECK_INTEGER(off, count_of(f.world, "!AI, Position"));
  CHECK_INTEGER(off, count_of(f.world, "AI:off"));
  CHECK_INTEGER(ROWS, count_of(f.world, "AI:any"));
  CHECK_INTEGER(0, count_of(f.world, "!AI:any, Position"));
  CHECK(ecs_has(f.world, rows[0], ai) && !ecs_enabled(f.world, rows[0], ai));
  CHECK(ecs_enabled(f.world, rows[1], ai) && !ecs_enabled(f.world, rows[1], asleep));
  int32_t mood = -1;
  CHECK_OK(f.world, ecs_get(f.world, rows[0], ai, &mood));
  CHECK_INTEGER(0, mood);
  CHECK_OK(f.world, ecs_enable(f.world, rows[0], ai));
  CHECK_OK(f.world, ecs_enable(f.world, rows[0], ai));
  CHECK_INTEGER(off - 1, count_of(f.world, "AI:off"));
  close_world(&f);
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

static void moves_with_its_row(void) {
  struct fixture f;
  open_toggles(&f);
  for (int i = 0; i < ROWS; i += 7) CHECK_OK(f.world, ecs_add(f.world, rows[i], f.health));
  for (int i = 5; i < ROWS; i += 11) CHECK_OK(f.world, ecs_despawn(f.world, rows[i]));
  CHECK_SOUND(f.world);
  ecs_query *query = new_query(f.world, "Position");
  CHECK_OK(f.world, ecs_query_add(query, f.frozen));
  CHECK_OK(f.world, ecs_query_add(query, asleep));
  CHECK_SOUND(f.world);
  for (size_t i = 0; i < ROWS; i++)
    if (ecs_alive(f.world, rows[i])) CHECK(ecs_enabled(f.world, rows[i], ai) == !is_off(i));
  CHECK_OK(f.world, ecs_query_remove(query, ai));
  CHECK_OK(f.world, ecs_query_add(query, ai));
  CHECK_INTEGER(count_of(f.world, "AI"), ecs_query_count(query));
  ecs_query_free(query);
  close_world(&f);
}

static void changes_whole_queries(void) {
  struct fixture f;
  open_toggles(&f);
  ecs_query *on = new_query(f.world, "AI"), *off = new_query(f.world, "AI:off");
  size_t count = count_off();
  CHECK_OK(f.world, ecs_query_add(off, f.frozen));
  CHECK_INTEGER(count, count_of(f.world, "Frozen"));
  CHECK_OK(f.world, ecs_query_remove(on, f.position));
  CHECK_INTEGER(count, count_of(f.world, "Position"));
  CHECK_OK(f.world, ecs_query_despawn(on));
  CHECK_INTEGER(0, ecs_query_count(on));
  CHECK_INTEGER(count, ecs_query_count(off));
  ecs_query_free(on);
  ecs_query_free(off);
  close_world(&f);
}

static void is_staged(void) {
  struct fixture f;
  open_toggles(&f);
  ecs_id bare = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_disable(f.world, rows[1], ai));
  CHECK_OK(f.world, ecs_disable(f.world, bare, ai));
  CHECK_OK(f.world, ecs_add(f.world, bare, ai));
  CHECK_OK(f.world, ecs_remove(f.world, rows[0], ai));
  CHECK_OK(f.world, ecs_add(f.world, rows[0], ai));
  CHECK(ecs_enabled(f.world, rows[1], ai));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK(!ecs_enabled(f.world, rows[1], ai) && ecs_enabled(f.world, bare, ai));
  CHECK(ecs_enabled(f.world, rows[0], ai));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_enable(f.world, rows[1], ai));
  CHECK_OK(f.world, ecs_despawn(f.world, rows[1]));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_SOUND(f.world);
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

static void is_redeclared(void) {
  struct fixture f;
  open_toggles(&f);
  ecs_id id;
  ecs_query *without = new_query(f.world, "!AI, Position");
  CHECK(declare_ai(&f, false, &id) == ECS_EBUSY);
  CHECK_INTEGER(count_off(), ecs_query_count(without));
  for (int i = 0; i < ROWS; i++) CHECK_OK(f.world, ecs_enable(f.world, rows[i], ai));
  CHECK_OK(f.world, declare_ai(&f, false, &id));
  CHECK(id == ai);
  CHECK_SOUND(f.world);
  CHECK_INTEGER(0, ecs_query_count(without));
  CHECK_OK(f.world, declare_ai(&f, true, &id));
  CHECK_OK(f.world, ecs_disable(f.world, rows[9], ai));
  CHECK_INTEGER(1, ecs_query_count(without));
  CHECK_SOUND(f.world);
  ecs_query_free(without);
  close_world(&f);
}

static void is_kept_by_snapshots(void) {
  struct fixture f;
  open_toggles(&f);
  ecs_snapshot *snapshot;
  uint64_t digest = ecs_digest(f.world);
  CHECK_OK(f.world, ecs_snapshot_new(f.world, &snapshot));
  CHECK_OK(f.world, ecs_enable(f.world, rows[0], ai));
  CHECK(ecs_digest(f.world) != digest);
  CHECK_OK(f.world, ecs_disable(f.world, rows[1], ai));
  CHECK_OK(f.world, ecs_despawn(f.world, rows[2]));
  CHECK_OK(f.world, ecs_restore(snapshot));
  CHECK(ecs_digest(f.world) == digest);
  CHECK_SOUND(f.world);
  ecs_snapshot_free(snapshot);
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
  {"C77: is absent to queries and keeps its value", is_absent_to_queries},
  {"C78: iterates over rows that lie together", iterates_in_runs},
  {"C77: moves with its row", moves_with_its_row},
  {"C77: changes the entities that a query finds", changes_whole_queries},
  {"C77: is switched in the order of commands", is_staged},
  {"refuses what is no toggle", refuses_others},
  {"becomes a toggle by another declaration, and ceases to be one", is_redeclared},
  {"C51: is kept by snapshots", is_kept_by_snapshots},
  {"is checked", is_checked},
};

int main(void) { return RUN_TESTS(tests); }
