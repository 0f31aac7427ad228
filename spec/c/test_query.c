/* Queries of hosts: what columns they give, how they keep up, those of systems. What matches is
** compared with an oracle by spec/random/random_terms_spec.lua. C49, C65. */
#include <string.h>

#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/graph.h"
#include "fixture.h"

static struct fixture f;

/* ---- columns ---- */

static void gives_columns(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.frozen, f.velocity);
  set_position(&f, f.a, 3, 4);
  CHECK_OK(f.world, ecs_set(f.world, f.a, f.velocity, &(struct velocity){5, 6}));
  ecs_iter it;
  f.query = new_query(f.world, "Position, Frozen, !Enemy, Health?, Velocity.y, Label|Velocity");
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  CHECK(ecs_iter_column(&it, 0, 0) == NULL);
  CHECK(ecs_iter_next(&it) && it.count == 1 && ecs_iter_entity(&it, 0) == f.a);
  CHECK(*(float *)ecs_iter_column(&it, 0, 0) == 3 && *(float *)ecs_iter_column(&it, 0, 1) == 4);
  CHECK(ecs_iter_column(&it, 0, 2) == NULL && ecs_iter_column(&it, 0, UINT32_MAX) == NULL);
  CHECK(ecs_iter_column(&it, 1, 0) == NULL);
  CHECK(ecs_iter_column(&it, 2, 0) == NULL);
  CHECK(ecs_iter_column(&it, 3, 0) == NULL);
  CHECK(*(float *)ecs_iter_column(&it, 4, 0) == 6 && ecs_iter_column(&it, 4, 1) == NULL);
  CHECK(ecs_iter_column(&it, 5, 0) == NULL);
  CHECK(*(float *)ecs_iter_column(&it, 6, 0) == 5);
  CHECK(ecs_iter_column(&it, 7, 0) == NULL && ecs_iter_column(&it, UINT32_MAX, 0) == NULL);
  *(float *)ecs_iter_column(&it, 0, 0) = 30;
  CHECK(get_position(&f, f.a).x == 30);
  CHECK(!ecs_iter_next(&it) && !ecs_iter_next(&it));
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK(!ecs_iter_next(&it));
  close_world(&f);
}

/* ---- keeping up ---- */

static void tables_join_and_leave(void) {
  open_usual(&f);
  ecs_query *both = new_query(f.world, "Position, Velocity"),
            *none = new_query(f.world, "!Position"),
            *either = new_query(f.world, "Position|Velocity");
  CHECK_INTEGER(0, ecs_query_count(both));
  for (int round = 0; round < 3; round++) {
    f.a = SPAWN(f.world, f.position);
    f.b = SPAWN(f.world, f.position, f.velocity, f.label);
    f.c = SPAWN(f.world, f.velocity);
    CHECK_INTEGER(1, ecs_query_count(both));
    CHECK_INTEGER(1, ecs_query_count(none));
    CHECK_INTEGER(3, ecs_query_count(either));
    CHECK_OK(f.world, ecs_add(f.world, f.a, f.velocity));
    CHECK_INTEGER(2, ecs_query_count(both));
    CHECK_INTEGER(2, both->count);
    CHECK_OK(f.world, ecs_despawn(f.world, f.a));
    CHECK_OK(f.world, ecs_despawn(f.world, f.b));
    CHECK_OK(f.world, ecs_despawn(f.world, f.c));
    CHECK_OK(f.world, ecs_update(f.world, 0));
    CHECK_OK(f.world, ecs_update(f.world, 0));
    CHECK_INTEGER(0, both->count);
    CHECK_INTEGER(1, none->count);
    CHECK_SOUND(f.world);
  }
  close_world(&f);
}

/* A query is asked about a new table only when the table has its first component. */
static void visits_few_queries(void) {
  open_usual(&f);
  for (int i = 0; i < 50; i++) new_query(f.world, "Velocity");
  new_query(f.world, "Position");
  CHECK_INTEGER(50, graph_record(f.world, f.velocity)->query_count);
  CHECK_INTEGER(1, graph_record(f.world, f.position)->query_count);
  CHECK_INTEGER(0, graph_all(f.world)->query_count);
  f.query = new_query(f.world, "!Position");
  CHECK_INTEGER(1, graph_all(f.world)->query_count);
  ecs_query_free(f.query);
  CHECK_INTEGER(0, graph_all(f.world)->query_count);
  ecs_query_free(NULL);
  close_world(&f);
}

/* ---- texts ---- */

static void refuse(ecs_status wanted, const char *words, const char *text) {
  ecs_query *query = NULL;
  size_t count;
  check_context("%s", text);
  CHECK_FAILS(f.world, wanted, words, ecs_query_new(f.world, text, &query));
  CHECK_FAILS(f.world, wanted, words, ecs_count(f.world, text, &count));
  CHECK(query == NULL);
}

static void refuses_texts(void) {
  open_usual(&f);
  refuse(ECS_ENAME, "unknown component 'Postion' (did you mean 'Position'?)", "Postion");
  refuse(ECS_ENAME, "unknown component 'Xyzzy'", "Position, Xyzzy");
  refuse(ECS_ENAME, "component 'Position' has no field 'z'", "Position.z");
  refuse(ECS_ENAME, "'Frozen' is a tag: it has no field 'x'", "Frozen.x");
  refuse(ECS_ENAME, "has no field ''", "Position.");
  refuse(ECS_EINVAL, "a component's name expected", ",");
  refuse(ECS_EINVAL, "a component's name expected", "Position,");
  refuse(ECS_EINVAL, "a component's name expected", ", Position");
  refuse(ECS_EINVAL, "a component's name expected", "Position,,Velocity");
  refuse(ECS_EINVAL, "a component's name expected at 'the end'", "!");
  refuse(ECS_EINVAL, "a component's name expected", "Position|");
  refuse(ECS_EINVAL, "a component's name expected", "|Position");
  refuse(ECS_EINVAL, "a component's name expected", "!!Position");
  refuse(ECS_EINVAL, "a component's name expected", "?");
  refuse(ECS_EINVAL, "a component's name expected", "Position|!Velocity");
  refuse(ECS_EINVAL, "',' expected at 'Velocity'", "Position Velocity");
  refuse(ECS_EINVAL, "'?' is given twice", "Position??");
  refuse(ECS_EINVAL, "'?' is given twice", "Position?:in?");
  refuse(ECS_EINVAL, "':in' is given twice", "Position:in?:in");
  refuse(ECS_EINVAL, "exclude each other", "Position|Velocity?");
  refuse(ECS_EINVAL, "exclude each other", "with Position?|Velocity");
  refuse(ECS_EINVAL, "an optional term does not filter", "with Position?");
  refuse(ECS_EINVAL, "remove 'with'", "with !Position");
  refuse(ECS_EINVAL, "',' expected at 'Position'", "!Frozen Position");
  refuse(ECS_ENAME, "unknown component 'with'", "with");
  refuse(ECS_ENAME, "unknown component 'withPosition'", "withPosition");
  refuse(ECS_EINVAL, "',' expected", "Position;Velocity");
  refuse(ECS_EINVAL, "',' expected", "Position)");
  refuse(ECS_EINVAL, "'!' takes only", "!Position?");
  refuse(ECS_EINVAL, "'!' takes only", "!Position|Velocity");
  refuse(ECS_EINVAL, "'!' takes only", "!Position:in");
  refuse(ECS_EINVAL, "'!' takes only", "!Position.x");
  refuse(ECS_EINVAL, "or ':cascade' expected", "Position:out");
  refuse(ECS_EINVAL, "or ':cascade' expected", "Position:");
  refuse(ECS_EINVAL, "declare it with toggle = true", "Position:off");
  refuse(ECS_EINVAL, "declare it with toggle = true", "Position:any");
  refuse(ECS_ENAME, "unknown component 'Likes'", "!(Likes, *)");
  refuse(ECS_ENAME, "unknown component 'Likes'", "with (Likes, *)");
  refuse(ECS_EINVAL, "'Position' is not a relation", "(Position, *)");
  CHECK(f.world->first_query == NULL);
  close_world(&f);
}

/* Terms count from 0 whether they give something or not. */
static void filters_and_optional_tags(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.velocity, f.frozen);
  f.b = SPAWN(f.world, f.position, f.velocity);
  SPAWN(f.world, f.position);
  f.query = new_query(f.world, "with Velocity, Frozen?, Position, with Frozen|Velocity, Enemy?:in");
  CHECK_INTEGER(3, f.query->terms.slots);
  CHECK_INTEGER(f.velocity, f.query->key);
  ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  CHECK(!ecs_iter_has(&it, 0));
  for (int i = 0; i < 2; i++) {
    CHECK(ecs_iter_next(&it) && ecs_iter_entity(&it, 0) == (i ? f.b : f.a));
    CHECK(ecs_iter_has(&it, 0) && ecs_iter_has(&it, 2) && ecs_iter_has(&it, 1) == (i == 0));
    CHECK(ecs_iter_has(&it, 3) == (i == 0) && ecs_iter_has(&it, 4) && !ecs_iter_has(&it, 5));
    CHECK(!ecs_iter_has(&it, 6) && !ecs_iter_has(&it, UINT32_MAX));
    CHECK(ecs_iter_column(&it, 0, 0) == NULL && ecs_iter_column(&it, 1, 0) == NULL);
    CHECK(ecs_iter_column(&it, 2, 0) == ecs_cell_of(f.world, i ? f.b : f.a, f.position, 0));
  }
  CHECK(!ecs_iter_next(&it));
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK_INTEGER(2, count_of(f.world, "with Velocity, Position"));
  close_world(&f);
}

static void arrays_and_nested_leaves(void) {
  open_usual(&f);
  ecs_field fields[] = {{.name = "m", .type = ECS_F32, .count = 3},
                        {.name = "at", .type = ECS_NESTED, .nested = f.position}};
  ecs_id body = DECLARE(f.world, "Body", fields);
  f.a = SPAWN(f.world, body);
  *(float *)ecs_cell_of(f.world, f.a, body, 1) = 8;
  *(float *)ecs_cell_of(f.world, f.a, body, 4) = 9;
  ecs_iter it;
  f.query = new_query(f.world, "Body.m[2], Body.at.y:in, Body");
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  CHECK(ecs_iter_next(&it));
  CHECK(*(float *)ecs_iter_column(&it, 0, 0) == 8);
  CHECK(*(float *)ecs_iter_column(&it, 1, 0) == 9);
  CHECK(*(float *)ecs_iter_column(&it, 2, 4) == 9);
  CHECK(ecs_iter_column(&it, 2, 5) == NULL);
  CHECK_OK(f.world, ecs_iter_close(&it));
  refuse(ECS_EINVAL, "not a single value; name one, as in 'Body.m[1]'", "Body.m");
  refuse(ECS_EINVAL, "as in 'Body.at.x'", "Body.at");
  refuse(ECS_ENAME, "has no field 'm[4]'", "Body.m[4]");
  refuse(ECS_ENAME, "has no field 'm[0]'", "Body.m[0]");
  close_world(&f);
}

/* ---- undeclared components ---- */

static void broken_queries(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.velocity);
  ecs_query *broken[] = {new_query(f.world, "Position, Velocity"),
                         new_query(f.world, "!Velocity"), new_query(f.world, "Velocity?"),
                         new_query(f.world, "Position|Velocity, !Frozen")};
  ecs_query *whole = new_query(f.world, "Position");
  ecs_iter it;
  CHECK_OK(f.world, ecs_undeclare(f.world, f.velocity));
  f.velocity = declare_one(f.world, "Velocity", "x", ECS_F64);
  SPAWN(f.world, f.position, f.velocity);
  for (int i = 0; i < 4; i++) {
    CHECK_INTEGER(0, ecs_query_count(broken[i]));
    CHECK_FAILS(f.world, ECS_ENAME, "no longer declared", ecs_iter_open(broken[i], &it));
    CHECK_STATUS(f.world, ECS_ENAME, ecs_query_add(broken[i], f.enemy));
    CHECK_STATUS(f.world, ECS_ENAME, ecs_query_remove(broken[i], f.enemy));
    CHECK_STATUS(f.world, ECS_ENAME, ecs_query_despawn(broken[i]));
    CHECK_OK(f.world, ecs_iter_close(&it));
  }
  CHECK_INTEGER(2, ecs_query_count(whole));
  CHECK_INTEGER(1, ecs_query_count(new_query(f.world, "Velocity")));
  ecs_query_free(broken[1]);
  CHECK_OK(f.world, ecs_undeclare(f.world, f.position));
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* Frees the query that it is given, or the one handed over. */
static ecs_status free_query(ecs_world *world, ecs_query *query, double dt, void *ud) {
  ecs_query **given = ud;
  (void)world, (void)dt;
  ecs_query_free(query);
  if (*given == NULL) *given = query;
  return ecs_query_count(query) == 1 ? ECS_OK : ECS_EUSER;
}

static void queries_of_systems_stay(void) {
  open_usual(&f);
  ecs_query *given = NULL;
  ecs_system_desc desc = {.name = "s", .query = "Position", .run = free_query, .ud = &given};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  f.a = SPAWN(f.world, f.position);
  for (int i = 0; i < 2; i++) CHECK_OK(f.world, ecs_update(f.world, 1));
  ecs_query_free(given);
  ecs_query_free(NULL);
  CHECK_OK(f.world, ecs_remove(f.world, f.a, f.position));
  SPAWN(f.world, f.position, f.enemy);
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_SOUND(f.world);
  CHECK_OK(f.world, ecs_system_remove(f.world, "s"));
  CHECK(f.world->first_query == NULL);
  close_world(&f);
}

static const struct test tests[] = {
  {"C65: a term's columns are its table's, absent ones NULL", gives_columns},
  {"C49: tables join queries when they are made and leave when they go",
   tables_join_and_leave},
  {"C49: a new table asks only queries that could match", visits_few_queries},
  {"texts that are no queries are refused, and errors say where", refuses_texts},
  {"terms behind `with` filter and have no column; iterators tell of tags",
   filters_and_optional_tags},
  {"array elements and nested fields are terms", arrays_and_nested_leaves},
  {"queries of an undeclared component say so", broken_queries},
  {"a system's query goes with its system only", queries_of_systems_stay},
};

int main(void) { return RUN_TESTS(tests); }
