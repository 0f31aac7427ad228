/* Reliability line 2: running out of memory while sparse components come, go, are saved and kept
** otherwise. C18, C32. */
#include "sweep.h"

static ecs_id sparse, bound, tag;

static const ecs_field fields[] = {{.name = "n", .type = ECS_I32},
                                   {.name = "text", .type = ECS_STRING}};

static ecs_status declare(struct fixture *f, const char *name, bool is_sparse, ecs_id required,
                          ecs_id *out) {
  ecs_component_desc desc = {.name = name, .fields = fields, .field_count = 2,
                             .sparse = is_sparse, .required = &required,
                             .required_count = required != ECS_NULL};
  return ecs_component(f->world, &desc, out);
}

/* Three of the four entities have Sparse, which Bound requires as soon as that is declared. */
static void few(struct fixture *f) {
  ecs_component_desc desc = {.name = "Tag", .sparse = true};
  CHECK_OK(f->world, declare(f, "Sparse", true, ECS_NULL, &sparse));
  CHECK_OK(f->world, ecs_component(f->world, &desc, &tag));
  for (int i = 0; i < 4; i++) {
    f->ids[i] = SPAWN(f->world, f->position);
    if (i) CHECK_OK(f->world, ecs_add(f->world, f->ids[i], sparse));
  }
  f->query = new_query(f->world, "Sparse, Position");
}

static void mixed(struct fixture *f) {
  few(f);
  CHECK_OK(f->world, declare(f, "Bound", false, sparse, &bound));
}

static void in_table(struct fixture *f) {
  CHECK_OK(f->world, declare(f, "Sparse", false, ECS_NULL, &sparse));
  for (int i = 0; i < 4; i++) f->ids[i] = SPAWN(f->world, f->position, sparse);
  f->query = new_query(f->world, "Sparse, Position");
}

static ecs_status add(struct fixture *f) { return ecs_add(f->world, f->ids[0], tag); }
static ecs_status add_bound(struct fixture *f) { return ecs_add(f->world, f->ids[0], bound); }
static ecs_status drop(struct fixture *f) { return ecs_remove(f->world, f->ids[1], sparse); }
static ecs_status add_all(struct fixture *f) { return ecs_query_add(f->query, tag); }
static ecs_status drop_all(struct fixture *f) { return ecs_query_remove(f->query, sparse); }
static ecs_status end_all(struct fixture *f) { return ecs_query_despawn(f->query); }

static ecs_status set(struct fixture *f) {
  const struct { int32_t n; ecs_string text; } value = {5, {"a new text", 10}};
  return ecs_set(f->world, f->ids[0], sparse, &value);
}

static ecs_status spawn_one(struct fixture *f) {
  const ecs_id ids[] = {f->position, sparse, tag};
  return ecs_spawn(f->world, ids, 3, &f->a);
}

static ecs_status spawn_some(struct fixture *f) {
  return ecs_spawn_many(f->world, 300, &bound, 1, NULL);
}

static ecs_status spawn_there(struct fixture *f) {
  return ecs_spawn_at(f->world, f->ids[0] + 5000, &tag, 1);
}

static void deferred(struct fixture *f) {
  mixed(f);
  CHECK_OK(f->world, ecs_defer(f->world));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[0], bound));
  CHECK_OK(f->world, ecs_remove(f->world, f->ids[1], sparse));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[2], tag));
}

static ecs_status commit(struct fixture *f) { return ecs_commit(f->world); }

static ecs_status keep_in_tables(struct fixture *f) {
  return declare(f, "Sparse", false, ECS_NULL, &sparse);
}

static ecs_status keep_aside(struct fixture *f) {
  return declare(f, "Sparse", true, ECS_NULL, &sparse);
}

static ecs_status require(struct fixture *f) { return declare(f, "Sparse", true, tag, &sparse); }

static void check_query(struct fixture *f) { CHECK_INTEGER(4, ecs_query_count(f->query)); }

static ecs_status undeclare(struct fixture *f) { return ecs_undeclare(f->world, sparse); }

static ecs_status go_through(struct fixture *f) {
  ecs_status status = ecs_iter_open(f->query, &f->it);
  if (status != ECS_OK) return status;
  while (ecs_iter_next(&f->it)) CHECK(ecs_iter_column(&f->it, 0, 0) != NULL);
  return ecs_iter_close(&f->it);
}

static const struct operation operations[] = {
  {"C44: a sparse tag added", few, add, NULL, ASKS},
  {"what requires a sparse component added", mixed, add_bound, NULL, ASKS},
  {"a sparse component removed", few, drop, NULL, ASKS_NOTHING},
  {"a sparse component set", few, set, NULL, ASKS},
  {"C58: a spawn with sparse components", few, spawn_one, NULL, ASKS},
  {"a spawn of many with what requires a sparse one", mixed, spawn_some, NULL, ASKS},
  {"a spawn with a sparse component at an id", few, spawn_there, NULL, ASKS},
  {"a scope with sparse components", deferred, commit, NULL, ASKS},
  {"a sparse tag for all of a query", few, add_all, NULL, ASKS},
  {"a sparse component from all of a query", few, drop_all, NULL, ASKS},
  {"despawn of all that have one", few, end_all, NULL, ASKS},
  {"a sparse component that comes to be kept in tables", mixed, keep_in_tables, NULL, ASKS},
  {"one that comes to be sparse", in_table, keep_aside, check_query, ASKS},
  {"one that comes to require another", few, require, NULL, ASKS},
  {"a sparse component undeclared", few, undeclare, NULL, ASKS},
  {"going through a query of a sparse component", few, go_through, NULL, ASKS},
  {"a snapshot with sparse components, restored", few, keep_and_restore, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
