/* Reliability line 3: the core under an allocator that checks it; and that allocator, checked
** first. C34, C60. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

/* ---- the allocator notices ---- */

static void notices_mistakes(void) {
  struct checked_alloc alloc;
  memset(&alloc, 0, sizeof alloc);
  char *a = checked_alloc(&alloc, NULL, 0, 10);
  char *b = checked_alloc(&alloc, NULL, 0, 20);
  CHECK(a && b && alloc.bytes == 30 && alloc_is_sound(&alloc));
  checked_alloc(&alloc, a, 9, 0);
  CHECK_TEXT("an old size that is not exact", alloc.mistake);
  alloc.mistake = NULL, alloc.mistakes = 0;
  b[20] = 1;
  CHECK(!alloc_is_sound(&alloc));
  CHECK_TEXT("a write past the end of a block", alloc.mistake);
  alloc_clear(&alloc);
  CHECK(alloc.bytes == 0 && alloc.block_count == 0);
}

static void moves_and_poisons(void) {
  struct checked_alloc alloc;
  memset(&alloc, 0, sizeof alloc);
  unsigned char *a = checked_alloc(&alloc, NULL, 0, 8);
  CHECK(a[0] == 0xDB && a[7] == 0xDB);
  memset(a, 7, 8);
  unsigned char *b = checked_alloc(&alloc, a, 8, 16);
  CHECK(b[7] == 7 && b[8] == 0xDB);
  CHECK(checked_alloc(&alloc, b, 16, 8) == NULL);
  CHECK(alloc.bytes == 16 && alloc.shrinks_refused == 1);
  checked_alloc(&alloc, b, 16, 0);
  CHECK(alloc.bytes == 0 && alloc.mistakes == 0);
}

static void fails_as_told(void) {
  struct checked_alloc alloc;
  memset(&alloc, 0, sizeof alloc);
  alloc_arm(&alloc, 2, false);
  CHECK(checked_alloc(&alloc, NULL, 0, 1) != NULL);
  CHECK(checked_alloc(&alloc, NULL, 0, 1) == NULL);
  CHECK(checked_alloc(&alloc, NULL, 0, 1) != NULL);
  alloc_arm(&alloc, 2, true);
  CHECK(checked_alloc(&alloc, NULL, 0, 1) != NULL);
  CHECK(checked_alloc(&alloc, NULL, 0, 1) == NULL);
  CHECK(checked_alloc(&alloc, NULL, 0, 1) == NULL);
  alloc_clear(&alloc);
}

/* ---- a world that uses everything ---- */

static struct fixture f;

static void name_some(int round) {
  char name[48];
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "entity %d of %d", i, round);
    CHECK_OK(f.world, ecs_name(f.world, SPAWN(f.world, f.position), name));
  }
}

static void fill_columns(void) {
  ecs_id wide[] = {f.position, f.velocity, f.health, f.label, f.link, f.enemy};
  for (size_t n = 1; n <= 6; n++)
    CHECK_OK(f.world, ecs_spawn_many(f.world, 700 * n, wide, n, NULL));
}

static void write_texts(int round) {
  char text[600];
  ecs_iter it;
  size_t row = 0;
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  while (ecs_iter_next(&it))
    for (size_t i = 0; i < it.count; i++, row++) {
      int size = snprintf(text, sizeof text, "%500d", (int)row * 7 + round);
      struct label label = {{text, (size_t)size}};
      CHECK_OK(f.world, ecs_set(f.world, ecs_iter_entity(&it, i), f.label, &label));
      if (i % 7 == 0) CHECK_OK(f.world, ecs_remove(f.world, ecs_iter_entity(&it, i), f.link));
      if (i % 11 == 0) CHECK_OK(f.world, ecs_despawn(f.world, ecs_iter_entity(&it, i)));
    }
  CHECK_OK(f.world, ecs_iter_close(&it));
}

static void use_everything(void) {
  open_usual(&f);
  f.query = new_query(f.world, "Label, !Frozen");
  CHECK_OK(f.world, ecs_resource(f.world, f.label));
  for (int round = 0; round < 3; round++) {
    fill_columns();
    name_some(round);
    write_texts(round);
    CHECK_OK(f.world, ecs_query_add(f.query, f.frozen));
    CHECK_OK(f.world, ecs_query_despawn(new_query(f.world, "Health, Frozen")));
    CHECK_OK(f.world, ecs_update(f.world, 0.1));
    CHECK_SOUND(f.world);
    CHECK(alloc_is_sound(&f.alloc));
    CHECK_INTEGER(f.alloc.bytes, ecs_bytes(f.world));
  }
  CHECK_OK(f.world, ecs_undeclare(f.world, f.label));
  CHECK_OK(f.world, ecs_update(f.world, 0.1));
  CHECK_OK(f.world, ecs_update(f.world, 0.1));
  close_world(&f);
}

static void open_everything(void) {
  open_usual(&f);
  ecs_iter it;
  f.query = new_query(f.world, "Label");
  fill_columns();
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  CHECK(ecs_iter_next(&it));
  for (int i = 0; i < 100; i++) SPAWN(f.world, f.label, f.enemy);
  close_world(&f);
}

/* All columns of a table together cost what its rows need, and little more. */
static void counts_its_bytes(void) {
  open_usual(&f);
  size_t before = ecs_bytes(f.world);
  const ecs_id ids[] = {f.position, f.velocity};
  CHECK_OK(f.world, ecs_spawn_many(f.world, 100000, ids, 2, NULL));
  size_t each = (ecs_bytes(f.world) - before) / 100000;
  CHECK(each >= 16 && each <= 32);
  size_t filled = ecs_bytes(f.world);
  CHECK_OK(f.world, ecs_query_despawn(new_query(f.world, "Position")));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK(ecs_bytes(f.world) < filled - 100000 * 16);
  close_world(&f);
}

static const struct test tests[] = {
  {"the checking allocator notices wrong sizes and writes past ends", notices_mistakes},
  {"the checking allocator moves, poisons and refuses to shrink", moves_and_poisons},
  {"the checking allocator fails as it is told", fails_as_told},
  {"C34: a world gives the allocator exact sizes and stays in its blocks", use_everything},
  {"C60: a world closed with loops and commands open leaks nothing", open_everything},
  {"C34: ecs_bytes is what the allocator counts", counts_its_bytes},
};

int main(void) { return RUN_TESTS(tests); }
