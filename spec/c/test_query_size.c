/* Reliability line 16: tables and queries of 0, 1, 31 to 33, 63 to 65 and 255 to 257
** components. */
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "fixture.h"

#define MOST 257u

static struct fixture f;
static ecs_id components[MOST];
static char text[MOST * 8];

static const uint32_t sizes[] = {0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257};
#define SIZES (sizeof sizes / sizeof *sizes)

/* K1 to K257: each third one a tag, the others with one field of four bytes or eight. */
static void declare_all(void) {
  open_world(&f);
  for (uint32_t i = 0; i < MOST; i++) {
    char name[16];
    snprintf(name, sizeof name, "K%u", i + 1);
    components[i] = i % 3 == 2 ? declare_tag(f.world, name)
                               : declare_one(f.world, name, "v", i % 3 ? ECS_I64 : ECS_I32);
  }
}

/* "K<first>, ..." of `count` terms, each with something before and behind it. */
static const char *terms(uint32_t first, uint32_t count, const char *before,
                         const char *separator) {
  size_t size = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < count; i++)
    size += (size_t)snprintf(text + size, sizeof text - size, "%s%sK%u",
                             i ? separator : "", before, first + i + 1);
  return text;
}

/* One entity for each size n, with the components 1 to n, values included. */
static void spawn_sizes(ecs_id *ids) {
  for (size_t s = 0; s < SIZES; s++) {
    ids[s] = spawn(f.world, components, sizes[s]);
    for (uint32_t i = 0; i < sizes[s]; i++) {
      if (i % 3 == 0) CHECK_OK(f.world, ecs_set(f.world, ids[s], components[i],
                                                &(int32_t){(int32_t)(i + sizes[s])}));
      if (i % 3 == 1) CHECK_OK(f.world, ecs_set(f.world, ids[s], components[i],
                                                &(int64_t){-(int64_t)i}));
    }
  }
}

static void check_values(ecs_id id, uint32_t size) {
  for (uint32_t i = 0; i < MOST; i++) {
    CHECK(ecs_has(f.world, id, components[i]) == (i < size));
    const void *cell = ecs_cell_of(f.world, id, components[i], 0);
    if (i >= size || i % 3 == 2)
      CHECK(cell == NULL);
    else if (i % 3 == 0)
      CHECK(*(const int32_t *)cell == (int32_t)(i + size));
    else
      CHECK(*(const int64_t *)cell == -(int64_t)i);
  }
}

static void tables_of_every_size(void) {
  ecs_id ids[SIZES];
  declare_all();
  spawn_sizes(ids);
  for (size_t s = 0; s < SIZES; s++) check_values(ids[s], sizes[s]);
  for (size_t s = 0; s < SIZES; s++) {
    uint32_t size = sizes[s];
    if (size == MOST) continue;
    CHECK_OK(f.world, ecs_add(f.world, ids[s], components[MOST - 1]));
    CHECK_OK(f.world, ecs_remove(f.world, ids[s], components[MOST - 1]));
    if (size == 0) continue;
    CHECK_OK(f.world, ecs_remove(f.world, ids[s], components[size / 2]));
    CHECK(!ecs_has(f.world, ids[s], components[size / 2]));
  }
  close_world(&f);
}

static void queries_of_every_size(void) {
  ecs_id ids[SIZES];
  declare_all();
  spawn_sizes(ids);
  for (size_t s = 0; s < SIZES; s++) {
    uint32_t size = sizes[s];
    check_context("%u terms", size);
    CHECK_INTEGER(SIZES - s, count_of(f.world, terms(0, size, "", ", ")));
    f.query = new_query(f.world, text);
    CHECK_INTEGER(SIZES - s, ecs_query_count(f.query));
    ecs_iter it;
    size_t rows = 0;
    CHECK_OK(f.world, ecs_iter_open(f.query, &it));
    while (ecs_iter_next(&it)) {
      rows += it.count;
      for (uint32_t i = 0; i < size; i++) {
        void *column = ecs_iter_column(&it, i, 0);
        CHECK((column == NULL) == (i % 3 == 2));
        if (i % 3 == 1) CHECK(*(int64_t *)column == -(int64_t)i);
      }
    }
    CHECK_OK(f.world, ecs_iter_close(&it));
    CHECK_INTEGER(SIZES - s, rows);
    ecs_query_free(f.query);
  }
  close_world(&f);
}

/* Without any of K1 ... Kn only the entity without components is left; with any of the last n
** only the largest. */
static void other_terms_of_every_size(void) {
  ecs_id ids[SIZES];
  declare_all();
  spawn_sizes(ids);
  for (size_t s = 1; s < SIZES; s++) {
    uint32_t size = sizes[s];
    check_context("%u terms", size);
    CHECK_INTEGER(1, count_of(f.world, terms(0, size, "!", ", ")));
    CHECK_INTEGER(1, ecs_query_count(new_query(f.world, text)));
    CHECK_INTEGER(SIZES - 1, count_of(f.world, terms(0, size, "", "|")));
    CHECK_INTEGER(SIZES - 1, ecs_query_count(new_query(f.world, text)));
    size_t larger = 0;
    for (size_t other = 0; other < SIZES; other++) larger += sizes[other] > MOST - size;
    CHECK_INTEGER(larger, count_of(f.world, terms(MOST - size, size, "", "|")));
    CHECK_INTEGER(SIZES - larger, count_of(f.world, terms(MOST - size, size, "!", ", ")));
  }
  close_world(&f);
}

/* Every size is reached by single adds, then staged as one move. */
static void moves_through_every_size(void) {
  declare_all();
  f.a = spawn_empty(f.world);
  for (uint32_t i = 0; i < MOST; i++) CHECK_OK(f.world, ecs_add(f.world, f.a, components[i]));
  f.b = spawn_empty(f.world);
  uint32_t live = f.world->graph.live;
  CHECK_OK(f.world, ecs_defer(f.world));
  for (uint32_t i = MOST; i-- > 0;) CHECK_OK(f.world, ecs_add(f.world, f.b, components[i]));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_INTEGER(live, f.world->graph.live);
  CHECK_INTEGER(2, count_of(f.world, terms(0, MOST, "", ", ")));
  for (uint32_t i = 0; i < MOST; i += 2)
    CHECK_OK(f.world, ecs_remove(f.world, f.a, components[i]));
  for (uint32_t i = 0; i < MOST; i++)
    CHECK(ecs_has(f.world, f.a, components[i]) == (i % 2 == 1));
  close_world(&f);
}

static const struct test tests[] = {
  {"tables of 0 to 257 components hold their values", tables_of_every_size},
  {"queries of 0 to 257 terms match and give columns", queries_of_every_size},
  {"negated terms and alternatives, 1 to 257 of them, match", other_terms_of_every_size},
  {"an entity moves through tables of 0 to 257 components", moves_through_every_size},
};

int main(void) { return RUN_TESTS(tests); }
