/* Observers of hosts in C: what they are called for, and what they are shown. C87. */
#include <string.h>

#include "fixture.h"

#define HEARD 32

/* What an observer has been called for. */
struct heard {
  size_t count;
  ecs_id ids[HEARD];
  float x[HEARD];
  ecs_id values[HEARD];
  bool has_health[HEARD];
  int calls, frees;
  ecs_status status;
};

static ecs_status hear(ecs_world *world, ecs_sight *sight, void *ud) {
  struct heard *heard = ud;
  (void)world;
  heard->calls++;
  while (ecs_sight_next(sight) && heard->count < HEARD) {
    const float *x = ecs_sight_cell(sight, 0, 0);
    heard->ids[heard->count] = ecs_sight_entity(sight);
    heard->x[heard->count] = x ? *x : -1;
    heard->values[heard->count] = ecs_sight_value(sight, 0);
    heard->has_health[heard->count++] = ecs_sight_has(sight, 1);
  }
  return heard->status;
}

static void count_free(void *ud) { ((struct heard *)ud)->frees++; }

static void observe(struct fixture *f, const char *name, ecs_observed on, const char *query,
                    struct heard *heard) {
  memset(heard, 0, sizeof *heard);
  CHECK_OK(f->world, ecs_observer_new(f->world, &(ecs_observer_desc){
                         .name = name, .on = on, .query = query, .run = hear, .free = count_free,
                         .ud = heard}));
}

static void hears_of_each_call(void) {
  struct fixture f;
  open_usual(&f);
  struct heard added, set, gone, died;
  observe(&f, "added", ECS_ON_ADD, "Position, Health?", &added);
  observe(&f, "set", ECS_ON_SET, "Position, Health?", &set);
  observe(&f, "gone", ECS_ON_EXIT, "Position, Health?", &gone);
  observe(&f, "died", ECS_ON_DESPAWN, "Position, Health?", &died);
  ecs_id e = SPAWN(f.world, f.position);
  CHECK(added.count == 1 && added.ids[0] == e && !added.has_health[0]);
  CHECK(set.count == 0);
  set_position(&f, e, 3, 4);
  CHECK(set.count == 1 && set.x[0] == 3);
  CHECK_OK(f.world, ecs_add(f.world, e, f.health));
  CHECK_OK(f.world, ecs_remove(f.world, e, f.position));
  CHECK(gone.count == 1 && gone.x[0] == 3 && gone.has_health[0]);
  set_position(&f, e, 5, 6);
  CHECK(added.count == 2 && set.count == 2);
  CHECK_OK(f.world, ecs_despawn(f.world, e));
  CHECK(gone.count == 2 && died.count == 1 && died.ids[0] == e && died.x[0] == 5);
  CHECK(added.calls == 2 && gone.calls == 2);
  close_world(&f);
  CHECK(added.frees == 1 && died.frees == 1);
}

static void hears_of_ties(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id likes;
  ecs_component_desc desc = {.name = "Likes"};
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &likes));
  struct heard tied, untied;
  observe(&f, "tied", ECS_ON_ADD, "(Likes, *)", &tied);
  observe(&f, "untied", ECS_ON_REMOVE, "(Likes, *)", &untied);
  ecs_id e = spawn_empty(f.world), to = spawn_empty(f.world), other = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_add(f.world, e, ecs_pair(likes, to)));
  CHECK_OK(f.world, ecs_add(f.world, e, ecs_pair(likes, other)));
  CHECK(tied.count == 2 && tied.values[0] == to && tied.values[1] == other);
  CHECK_OK(f.world, ecs_despawn(f.world, to));
  CHECK(untied.count == 1 && untied.ids[0] == e && untied.values[0] == to);
  close_world(&f);
}

static void passes_failures_on(void) {
  struct fixture f;
  open_usual(&f);
  struct heard bad, good;
  observe(&f, "bad", ECS_ON_ADD, "Position", &bad);
  observe(&f, "good", ECS_ON_ENTER, "Position", &good);
  bad.status = ECS_EUSER;
  ecs_id e;
  CHECK(ecs_spawn(f.world, &f.position, 1, &e) == ECS_EUSER);
  CHECK(strstr(ecs_message(f.world), "observer 'bad'"));
  CHECK(good.count == 1 && good.ids[0] == e && ecs_alive(f.world, e));
  CHECK_OK(f.world, ecs_switch(f.world, "bad", false));
  CHECK_OK(f.world, ecs_add(f.world, SPAWN(f.world, f.position), f.frozen));
  CHECK_OK(f.world, ecs_system_remove(f.world, "good"));
  CHECK(good.count == 2 && good.frees == 1);
  SPAWN(f.world, f.position);
  CHECK(good.count == 2 && bad.calls == 1);
  close_world(&f);
}

static void refuses_what_makes_no_sense(void) {
  struct fixture f;
  open_usual(&f);
  ecs_observer_desc desc = {.name = "o", .on = ECS_ON_ADD, .query = "Position", .run = hear};
  ecs_observer_desc wrong = desc;
  wrong.name = "";
  CHECK(ecs_observer_new(f.world, &wrong) == ECS_EINVAL);
  wrong = desc;
  wrong.run = NULL;
  CHECK(ecs_observer_new(f.world, &wrong) == ECS_EINVAL);
  wrong = desc;
  wrong.query = NULL;
  CHECK(ecs_observer_new(f.world, &wrong) == ECS_EINVAL);
  wrong = desc;
  wrong.on = (ecs_observed)9;
  CHECK(ecs_observer_new(f.world, &wrong) == ECS_EINVAL);
  wrong = desc;
  wrong.query = "Link.target->Position";
  CHECK(ecs_observer_new(f.world, &wrong) == ECS_EINVAL);
  CHECK(strstr(ecs_message(f.world), "observer 'o': "));
  close_world(&f);
}

static const struct test tests[] = {
  {"C87: observers hear of each call outside of scopes", hears_of_each_call},
  {"C87: observers hear of ties", hears_of_ties},
  {"C87: an observer that fails undoes nothing", passes_failures_on},
  {"refuses observers that make no sense", refuses_what_makes_no_sense},
};

int main(void) { return RUN_TESTS(tests); }
