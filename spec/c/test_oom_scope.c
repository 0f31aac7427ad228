/* Reliability line 2: running out of memory while commands are kept and applied. */
#include "sweep.h"

static void some_entities(struct fixture *f) {
  for (int i = 0; i < 8; i++) {
    f->ids[i] = SPAWN(f->world, f->position, i % 2 ? f->velocity : f->frozen);
    set_position(f, f->ids[i], (float)i, 0);
  }
  new_query(f->world, "Position, Health");
}

static void in_scope(struct fixture *f) {
  some_entities(f);
  CHECK_OK(f->world, ecs_defer(f->world));
}

/* Nothing but spawns, of two kinds in turn. */
static void in_scope_of_spawns(struct fixture *f) {
  in_scope(f);
  for (int i = 0; i < 20; i++) {
    if (i % 3)
      SPAWN(f->world, f->health, f->label);
    else
      SPAWN(f->world, f->enemy);
  }
}

static ecs_status commit(struct fixture *f) { return ecs_commit(f->world); }

static void commit_it(struct fixture *f) { CHECK_OK(f->world, ecs_commit(f->world)); }

static ecs_status stage_spawn_many(struct fixture *f) {
  const ecs_id ids[] = {f->enemy, f->health};
  return ecs_spawn_many(f->world, 50, ids, 2, NULL);
}

static ecs_status stage_spawn_at(struct fixture *f) {
  ecs_id id = UINT64_C(123456789) | UINT64_C(1) << 44;
  return ecs_spawn_at(f->world, id, &f->health, 1);
}

static ecs_status stage_set(struct fixture *f) {
  struct label label = {text_of("staged text")};
  return ecs_set(f->world, f->ids[0], f->label, &label);
}

static ecs_status stage_despawn(struct fixture *f) {
  return ecs_despawn(f->world, f->ids[7]);
}

/* ---- ends of scopes ---- */

static void stage_all_kinds(struct fixture *f) {
  for (int i = 0; i < 8; i++) {
    ecs_id id = f->ids[i], made;
    CHECK_OK(f->world, ecs_add(f->world, id, f->enemy));
    CHECK_OK(f->world, ecs_remove(f->world, id, i % 3 ? f->velocity : f->position));
    if (i % 2) CHECK_OK(f->world, stage_set(f));
    made = SPAWN(f->world, f->health, f->label);
    CHECK_OK(f->world, ecs_set(f->world, made, f->link, &(struct link){id}));
    if (i % 4 == 3) CHECK_OK(f->world, ecs_despawn(f->world, made));
  }
  CHECK_OK(f->world, stage_despawn(f));
  CHECK_OK(f->world, stage_spawn_many(f));
  CHECK_OK(f->world, stage_spawn_at(f));
}

static void full_of_changes(struct fixture *f) {
  in_scope(f);
  stage_all_kinds(f);
}

static void nested_scopes(struct fixture *f) {
  full_of_changes(f);
  CHECK_OK(f->world, ecs_defer(f->world));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[2], f->health));
  CHECK_OK(f->world, ecs_defer(f->world));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[3], f->health));
  CHECK_OK(f->world, ecs_cancel(f->world));
  CHECK_OK(f->world, ecs_commit(f->world));
}

static void inner_scope(struct fixture *f) {
  full_of_changes(f);
  CHECK_OK(f->world, ecs_defer(f->world));
  CHECK_OK(f->world, ecs_spawn(f->world, NULL, 0, &f->b));
  CHECK_OK(f->world, ecs_despawn(f->world, f->ids[1]));
}

static ecs_status cancel(struct fixture *f) { return ecs_cancel(f->world); }

static ecs_status abandon(struct fixture *f) { return ecs_abandon(f->world); }

/* Many entities into one table that has to grow while it is planned. */
static void into_one_table(struct fixture *f) {
  some_entities(f);
  for (int i = 0; i < 100; i++) SPAWN(f->world, f->position, f->health);
  CHECK_OK(f->world, ecs_defer(f->world));
  for (int i = 0; i < 8; i++) {
    CHECK_OK(f->world, ecs_remove(f->world, f->ids[i], i % 2 ? f->velocity : f->frozen));
    CHECK_OK(f->world, ecs_add(f->world, f->ids[i], f->health));
  }
  for (int i = 0; i < 60; i++) SPAWN(f->world, f->position, f->health);
}

/* One requires others; a command that takes one of them away is dropped. */
static void with_requirements(struct fixture *f) {
  const ecs_id required[] = {f->label, f->health};
  ecs_component_desc desc = {.name = "Enemy", .required = required, .required_count = 2};
  some_entities(f);
  CHECK_OK(f->world, ecs_component(f->world, &desc, &f->enemy));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[1], f->enemy));
  CHECK_OK(f->world, ecs_defer(f->world));
  for (int i = 0; i < 8; i++) {
    CHECK_OK(f->world, ecs_add(f->world, f->ids[i], f->enemy));
    CHECK_OK(f->world, ecs_set(f->world, f->ids[i], f->link, &(struct link){f->ids[0]}));
    if (i % 2) CHECK_OK(f->world, ecs_remove(f->world, f->ids[i], f->health));
  }
}

static ecs_status commit_with_failure(struct fixture *f) {
  ecs_status status = ecs_commit(f->world);
  return status == ECS_EINVAL ? ECS_OK : status;
}

static const struct operation operations[] = {
  {"commit of spawns", in_scope_of_spawns, commit, NULL, ASKS},
  {"cancel of spawns", in_scope_of_spawns, cancel, NULL, ASKS_NOTHING},
  {"C86: commit of all kinds of commands", full_of_changes, commit, NULL, ASKS},
  {"commit of commands of which some are dropped", with_requirements, commit_with_failure, NULL,
   ASKS},
  {"commit after nested scopes", nested_scopes, commit, NULL, ASKS},
  {"commit of an inner scope", inner_scope, commit, commit_it, ASKS_NOTHING},
  {"cancel of an inner scope", inner_scope, cancel, commit_it, ASKS_NOTHING},
  {"cancel of the outermost scope", full_of_changes, cancel, NULL, ASKS_NOTHING},
  {"abandoning all scopes", inner_scope, abandon, NULL, ASKS_NOTHING},
  {"commit into a table that grows", into_one_table, commit, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
