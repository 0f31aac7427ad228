/* Reliability line 2: running out of memory while queries about ties are made, gone through and
** changed. C18, C84, C85. */
#include "sweep.h"

struct owes { int32_t amount; };
struct docked { ecs_id target; double since; };

static ecs_id likes, owes, docked, up;

static ecs_id declare_relation(struct fixture *f, const char *name, const ecs_field *field,
                               bool exclusive) {
  ecs_id id = ECS_NULL;
  ecs_component_desc desc = {.name = name, .fields = field, .field_count = field != NULL,
                             .exclusive = exclusive, .acyclic = exclusive && !field};
  CHECK_OK(f->world, ecs_relation(f->world, &desc, &id));
  return id;
}

/* ids[0] has the child 1, and that the children 2 and 3; spawned so that these come first. All are
** docked to the one before them, and owe to and like all before them. */
static void family(struct fixture *f) {
  static const ecs_field amount = {.name = "amount", .type = ECS_I32};
  static const ecs_field since = {.name = "since", .type = ECS_F64};
  likes = declare_relation(f, "Likes", NULL, false);
  owes = declare_relation(f, "Owes", &amount, false);
  docked = declare_relation(f, "DockedTo", &since, true);
  up = declare_relation(f, "Up", NULL, true);
  for (int i = 3; i >= 0; i--) {
    f->ids[i] = SPAWN(f->world, f->position);
    set_position(f, f->ids[i], (float)i, 0);
  }
  for (int i = 1; i < 4; i++) {
    CHECK_OK(f->world, ecs_add(f->world, f->ids[i], ecs_pair(up, f->ids[i / 2])));
    CHECK_OK(f->world, ecs_set(f->world, f->ids[i], docked,
                               &(struct docked){f->ids[i - 1], i}));
    for (int j = 0; j < i; j++) {
      CHECK_OK(f->world, ecs_add(f->world, f->ids[i], ecs_pair(likes, f->ids[j])));
      CHECK_OK(f->world, ecs_set(f->world, f->ids[i], ecs_pair(owes, f->ids[j]),
                                 &(struct owes){10 * i + j}));
    }
  }
}

static ecs_query *query_with(struct fixture *f, const char *text, ecs_id p) {
  ecs_query *query = NULL;
  ecs_variable variable = {"p", p};
  CHECK_OK(f->world, ecs_query_with(f->world, text, &variable, p != ECS_NULL, &query));
  return query;
}


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
  {"going through pairs", unordered, go_through, NULL, ASKS},
  {"a tag for all that are tied", unordered, freeze_all, NULL, ASKS},
  {"a pair for all that are tied", ordered, like_all, NULL, ASKS},
  {"despawn of all that are tied", unordered, end_all, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
