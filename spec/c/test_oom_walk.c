/* Reliability line 2: running out of memory while queries about ties are made, gone through and
** changed. C18, C84, C85. */
#include "family.h"
#include "sweep.h"

static ecs_status make_and_count(struct fixture *f, const char *text, size_t wanted) {
  ecs_query *query;
  ecs_variable variable = {"p", f->ids[0]};
  ecs_status status = ecs_query_with(f->world, text, &variable, 1, &query);
  if (status != ECS_OK) return status;
  CHECK_INTEGER(wanted, ecs_query_count(query));
  ecs_query_free(query);
  return ECS_OK;
}

static ecs_status make_known(struct fixture *f) { return make_and_count(f, "(Likes, $p)", 3); }

static ecs_status make_sources(struct fixture *f) {
  return make_and_count(f, "(Up, $p), (Likes, $other)", 1);
}

static ecs_status make_join(struct fixture *f) {
  return make_and_count(f, "Position, (Likes, $other), Position($other), !(Owes, $p)", 0);
}

static void ordered(struct fixture *f) {
  family(f);
  f->query = query_with(f, "Position, Up->Position?:cascade, (Owes, *)?", ECS_NULL);
}

static void unordered(struct fixture *f) {
  family(f);
  f->query = query_with(f, "(Likes, *)", ECS_NULL);
}

/* A line whose first one is frozen: what is noted on the way there is a short cut, and nothing
** fails without it. */
static void lined_up(struct fixture *f) {
  family(f);
  CHECK_OK(f->world, ecs_add(f->world, f->ids[0], f->frozen));
  ecs_id last = f->ids[3];
  for (int i = 0; i < 40; i++) {
    ecs_id next = SPAWN(f->world, f->position);
    CHECK_OK(f->world, ecs_set(f->world, next, docked, &(struct docked){last, 0}));
    last = next;
  }
  f->query = query_with(f, "DockedTo*->Frozen, Position", ECS_NULL);
}

static ecs_status count_line(struct fixture *f) {
  CHECK_INTEGER(44, ecs_query_count(f->query));
  return ECS_OK;
}

static ecs_status go_through(struct fixture *f) {
  ecs_status status = ecs_iter_open(f->query, &f->it);
  if (status != ECS_OK) return status;
  while (ecs_iter_next(&f->it)) CHECK(ecs_iter_has(&f->it, 0));
  return ecs_iter_close(&f->it);
}

static ecs_status freeze_all(struct fixture *f) { return ecs_query_add(f->query, f->frozen); }

static ecs_status like_all(struct fixture *f) {
  return ecs_query_add(f->query, ecs_pair(likes, f->frozen));
}

static ecs_status end_all(struct fixture *f) { return ecs_query_despawn(f->query); }

static const struct operation operations[] = {
  {"a query about a pair", family, make_known, NULL, ASKS},
  {"a query in the order of sources", family, make_sources, NULL, ASKS},
  {"a query that joins", family, make_join, NULL, ASKS},
  {"C85: going through parents first", ordered, go_through, NULL, ASKS},
  {"C75: finding what is far up a line", lined_up, count_line, NULL, ASKS},
  {"going through pairs", unordered, go_through, NULL, ASKS},
  {"a tag for all that are tied", unordered, freeze_all, NULL, ASKS},
  {"a pair for all that are tied", ordered, like_all, NULL, ASKS},
  {"despawn of all that are tied", unordered, end_all, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
