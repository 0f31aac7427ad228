/* Queries about ties and about others, by the C interface: matches, their order and values, whole
** queries changed. C74, C75, C79, C84, C85. */
#include <string.h>

#include "family.h"

static void open_family(struct fixture *f) {
  open_usual(f);
  family(f);
}

/* The number in ids of an entity. */
static int number_of(const struct fixture *f, ecs_id id) {
  for (int i = 0; i < 4; i++)
    if (f->ids[i] == id) return i;
  return -1;
}

/* Each match as the digits of its entity and value ('-' for none), in the order of the query. */
static const char *matches(struct fixture *f, ecs_query *query) {
  static char text[256];
  size_t size = 0;
  CHECK_OK(f->world, ecs_iter_open(query, &f->it));
  CHECK(!ecs_iter_has(&f->it, 0) && ecs_iter_value(&f->it, 0) == ECS_NULL);
  while (ecs_iter_next(&f->it))
    for (size_t row = 0; row < f->it.count && size < sizeof text - 4; row++) {
      int value = number_of(f, ecs_iter_value(&f->it, 0));
      text[size++] = (char)('0' + number_of(f, ecs_iter_entity(&f->it, row)));
      text[size++] = value < 0 ? '-' : (char)('0' + value);
      text[size++] = ' ';
    }
  CHECK(ecs_iter_value(&f->it, 0) == ECS_NULL && !ecs_iter_next(&f->it));
  CHECK_OK(f->world, ecs_iter_close(&f->it));
  text[size ? size - 1 : 0] = '\0';
  return text;
}

static void check_matches(struct fixture *f, const char *wanted, const char *text, ecs_id p) {
  ecs_query *query = query_with(f, text, p);
  CHECK_TEXT(wanted, matches(f, query));
  CHECK_INTEGER((strlen(wanted) + 1) / 3, ecs_query_count(query));
  ecs_query_free(query);
}

static void visits_in_order(void) {
  struct fixture f;
  open_family(&f);
  ecs_query *query = query_with(&f, "Position, Up->Position?:cascade", ECS_NULL);
  const char *order = matches(&f, query);
  CHECK(order[0] == '0' && strchr(order, '1') < strchr(order, '3'));
  CHECK_OK(f.world, ecs_remove(f.world, f.ids[1], up));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[0], ecs_pair(up, f.ids[3])));
  order = matches(&f, query);
  CHECK(order[0] == '1' && strchr(order, '3') < strchr(order, '0'));
  CHECK(strchr(order, '2') < strchr(order, '0'));
  ecs_query_free(query);
  CHECK_OK(f.world, ecs_add(f.world, f.ids[3], ecs_pair(docked, f.ids[0])));
  check_matches(&f, "1- 3-", "(DockedTo, $p), Position", f.ids[0]);
  CHECK_OK(f.world, ecs_add(f.world, f.ids[1], ecs_pair(docked, f.ids[2])));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[1], ecs_pair(docked, f.ids[0])));
  check_matches(&f, "3- 1-", "(DockedTo, $p), Position", f.ids[0]);
  close_world(&f);
}

static void gives_cells(void) {
  struct fixture f;
  open_family(&f);
  ecs_query *query = query_with(&f, "(Owes, *), DockedTo->Position, DockedTo.since, Health?, "
                                "Frozen?, (Owes, $p)?", f.ids[1]);
  CHECK_OK(f.world, ecs_iter_open(query, &f.it));
  int count = 0;
  for (; ecs_iter_next(&f.it); count++) {
    int at = number_of(&f, ecs_iter_entity(&f.it, 0)), to = number_of(&f, ecs_iter_value(&f.it, 0));
    CHECK_INTEGER(1, f.it.count);
    CHECK_INTEGER(10 * at + to, *(int32_t *)ecs_iter_column(&f.it, 0, 0));
    CHECK(*(float *)ecs_iter_column(&f.it, 1, 0) == (float)(at - 1));
    CHECK(*(double *)ecs_iter_column(&f.it, 2, 0) == at);
    CHECK(!ecs_iter_column(&f.it, 3, 0) && !ecs_iter_has(&f.it, 3) && !ecs_iter_has(&f.it, 4));
    CHECK(ecs_iter_has(&f.it, 0) && ecs_iter_has(&f.it, 1) && ecs_iter_has(&f.it, 5) == (at > 1));
    CHECK(at > 1 ? *(int32_t *)ecs_iter_column(&f.it, 5, 0) == 10 * at + 1
                 : !ecs_iter_column(&f.it, 5, 0));
    CHECK(!ecs_iter_column(&f.it, 0, 1) && !ecs_iter_column(&f.it, 6, 0));
    CHECK(!ecs_iter_has(&f.it, 6) && ecs_iter_value(&f.it, 1) == ECS_NULL);
  }
  CHECK_INTEGER(6, count);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  CHECK(!ecs_iter_next(&f.it));
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  ecs_query_free(query);
  close_world(&f);
}

/* Two iterations over one query stand where they stand. */
static void nests(void) {
  struct fixture f;
  open_family(&f);
  ecs_query *query = query_with(&f, "Position, Up->Position:cascade", ECS_NULL);
  ecs_iter outer, inner;
  int pairs = 0;
  CHECK_OK(f.world, ecs_iter_open(query, &outer));
  while (ecs_iter_next(&outer)) {
    ecs_id at = ecs_iter_entity(&outer, 0);
    CHECK_OK(f.world, ecs_iter_open(query, &inner));
    while (ecs_iter_next(&inner) && ecs_iter_entity(&inner, 0) != at) pairs++;
    CHECK(ecs_despawn(f.world, f.ids[3]) == ECS_OK);
    CHECK_OK(f.world, ecs_iter_close(&inner));
    CHECK(ecs_iter_entity(&outer, 0) == at);
  }
  CHECK_INTEGER(3, pairs);
  CHECK_OK(f.world, ecs_iter_close(&outer));
  CHECK_INTEGER(2, ecs_query_count(query));
  ecs_query_free(query);
  close_world(&f);
}

static void matches_nothing_of_the_dead(void) {
  struct fixture f;
  open_family(&f);
  static const char *const texts[] = {"(Likes, $p)", "(DockedTo, $p)", "Position($p), Position",
                                      "Position, (Likes, $p)"};
  ecs_query *queries[4];
  for (int i = 0; i < 4; i++) queries[i] = query_with(&f, texts[i], f.ids[0]);
  CHECK_OK(f.world, ecs_despawn(f.world, f.ids[0]));
  ecs_id again = spawn_empty(f.world);
  CHECK(ecs_id_index(again) == ecs_id_index(f.ids[0]));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[1], ecs_pair(likes, again)));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[1], ecs_pair(docked, again)));
  for (int i = 0; i < 4; i++) {
    CHECK_INTEGER(0, ecs_query_count(queries[i]));
    CHECK_TEXT("", matches(&f, queries[i]));
    CHECK_OK(f.world, ecs_query_despawn(queries[i]));
    ecs_query_free(queries[i]);
  }
  close_world(&f);
}

static void ends_with_what_it_names(void) {
  struct fixture f;
  open_family(&f);
  CHECK_OK(f.world, ecs_add(f.world, f.ids[0], ecs_pair(docked, f.frozen)));
  static const char *const texts[] = {"(DockedTo, Frozen)", "Position, DockedTo->Position",
                                      "DockedTo*->Position", "(DockedTo, *), Position"};
  ecs_query *queries[4];
  for (int i = 0; i < 4; i++) queries[i] = query_with(&f, texts[i], ECS_NULL);
  CHECK_OK(f.world, ecs_undeclare(f.world, docked));
  for (int i = 0; i < 4; i++) {
    CHECK(ecs_iter_open(queries[i], &f.it) == ECS_ENAME && !ecs_iter_next(&f.it));
    CHECK_INTEGER(0, ecs_query_count(queries[i]));
    CHECK(ecs_query_despawn(queries[i]) == ECS_ENAME);
    ecs_query_free(queries[i]);
  }
  close_world(&f);
}

static void refuses_what_is_given_twice(void) {
  struct fixture f;
  ecs_query *query = NULL;
  open_family(&f);
  const ecs_variable variables[] = {{"p", f.ids[0]}, {"q", f.ids[1]}, {"p", f.ids[1]}};
  CHECK_FAILS(f.world, ECS_ETAKEN, "'(Likes, $p), !(Likes, $q)' is given its variable $p twice",
              ecs_query_with(f.world, "(Likes, $p), !(Likes, $q)", variables, 3, &query));
  CHECK_OK(f.world, ecs_query_with(f.world, "(Likes, $p), !(Likes, $q)", variables, 2, &query));
  ecs_query_free(query);
  close_world(&f);
}

static const struct test tests[] = {
  {"C79, C85: visits sources as they were tied, and parents before children", visits_in_order},
  {"C75, C84: gives the cells and values of each match", gives_cells},
  {"C84: goes through one query within another", nests},
  {"C29: matches nothing of the dead", matches_nothing_of_the_dead},
  {"C84: ends with the relation that it names", ends_with_what_it_names},
  {"C84: refuses a variable that is given twice", refuses_what_is_given_twice},
};

int main(void) { return RUN_TESTS(tests); }
