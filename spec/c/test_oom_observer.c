/* Reliability line 2: running out of memory while observers are on. C18, C87. */
#include "sweep.h"

/* Each entity is seen once, also where an earlier attempt had noted it and failed. */
static ecs_status look(ecs_world *world, ecs_sight *sight, void *ud) {
  ecs_id seen[64];
  uint32_t count = 0;
  (void)world, (void)ud;
  for (; ecs_sight_next(sight) && count < 64; count++) {
    seen[count] = ecs_sight_entity(sight);
    CHECK(seen[count] != ECS_NULL);
    for (uint32_t i = 0; i < count; i++) CHECK(seen[i] != seen[count]);
  }
  return ECS_OK;
}

static ecs_status observe(struct fixture *f, const char *name, ecs_observed on) {
  return ecs_observer_new(f->world, &(ecs_observer_desc){
      .name = name, .on = on, .query = "Position, Label?, !Frozen", .run = look});
}

static void usual(struct fixture *f) {
  CHECK_OK(f->world, ecs_spawn_many(f->world, 8, (ecs_id[]){f->position, f->label}, 2, f->ids));
  f->query = new_query(f->world, "Position");
}

static void observed(struct fixture *f) {
  usual(f);
  CHECK_OK(f->world, observe(f, "add", ECS_ON_ADD));
  CHECK_OK(f->world, observe(f, "set", ECS_ON_SET));
  CHECK_OK(f->world, observe(f, "remove", ECS_ON_REMOVE));
  CHECK_OK(f->world, observe(f, "enter", ECS_ON_ENTER));
  CHECK_OK(f->world, observe(f, "exit", ECS_ON_EXIT));
  CHECK_OK(f->world, observe(f, "despawn", ECS_ON_DESPAWN));
}

static void tied(struct fixture *f) {
  observed(f);
  ecs_id child_of;
  CHECK_OK(f->world, ecs_child_of(f->world, &child_of));
  for (int i = 1; i < 8; i++)
    CHECK_OK(f->world, ecs_add(f->world, f->ids[i], ecs_pair(child_of, f->ids[i / 2])));
}

static ecs_status register_one(struct fixture *f) { return observe(f, "one", ECS_ON_EXIT); }

static ecs_status spawn_one(struct fixture *f) {
  return ecs_spawn(f->world, (ecs_id[]){f->position, f->velocity}, 2, &f->a);
}

static ecs_status spawn_more(struct fixture *f) {
  return ecs_spawn_many(f->world, 100, &f->position, 1, NULL);
}

static ecs_status set_one(struct fixture *f) {
  return ecs_set(f->world, f->ids[1], f->position, &(struct position){1, 2});
}

static ecs_status take(struct fixture *f) {
  return ecs_remove(f->world, f->ids[1], f->position);
}

static ecs_status freeze_all(struct fixture *f) { return ecs_query_add(f->query, f->frozen); }

static ecs_status take_all(struct fixture *f) { return ecs_query_remove(f->query, f->position); }

static ecs_status kill_all(struct fixture *f) { return ecs_query_despawn(f->query); }

static ecs_status kill_one(struct fixture *f) { return ecs_despawn(f->world, f->ids[0]); }

static ecs_status in_a_scope(struct fixture *f) {
  ecs_status status = ecs_defer(f->world);
  if (status != ECS_OK) return status;
  status = ecs_remove(f->world, f->ids[2], f->position);
  if (status == ECS_OK) status = ecs_despawn(f->world, f->ids[3]);
  if (status == ECS_OK) status = ecs_add(f->world, f->ids[4], f->frozen);
  if (status == ECS_OK) status = ecs_commit(f->world);
  if (status != ECS_OK) CHECK_OK(f->world, ecs_cancel(f->world));
  return status;
}

static const struct operation operations[] = {
  {"an observer", usual, register_one, NULL, ASKS},
  {"a spawn that is observed", observed, spawn_one, NULL, TAKES_NEW_IDS},
  {"many spawns that are observed", observed, spawn_more, NULL, TAKES_NEW_IDS},
  {"a set that is observed", observed, set_one, NULL, ASKS},
  {"a removal that is observed", observed, take, NULL, ASKS},
  {"a change of all rows that is observed", observed, freeze_all, NULL, ASKS},
  {"a removal from all rows that is observed", observed, take_all, NULL, ASKS},
  {"deaths of all rows that are observed", observed, kill_all, NULL, ASKS},
  {"a despawn that is observed", observed, kill_one, NULL, ASKS},
  {"deaths of a whole tree that are observed", tied, kill_one, NULL, ASKS},
  {"a scope that is observed", tied, in_a_scope, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
