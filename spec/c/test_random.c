/* Random operations on two worlds, one of which runs out of memory again and again and tries
** again: both stay the same. Reliability lines 2 and 18. Arguments: first and last seed. */
#include <stdio.h>
#include <stdlib.h>

#include "core/ids/world.h"
#include "fixture.h"

#define KEPT 64

static struct fixture clean, starved;
static ecs_id ids[KEPT];       /* entities that were alive at some time */
static ecs_query *queries[2][4];
static int depth;              /* open scopes */
static uint64_t state;

static uint32_t pick(uint32_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 33) % n;
}

/* An operation with what was picked for it, so that both worlds do the same. */
struct step {
  int kind;
  uint32_t a, b, c;
};

static ecs_id component(const struct fixture *f, uint32_t at) {
  const ecs_id all[] = {f->position, f->velocity, f->health, f->label,
                        f->link,     f->frozen,   f->enemy,  f->c};
  return all[at % 8];
}

static ecs_status set(struct fixture *f, const struct step *step) {
  ecs_id entity = ids[step->a];
  char text[16];
  snprintf(text, sizeof text, "text %u", step->c % 50);
  switch (step->b % 4) {
    case 0: return ecs_set(f->world, entity, f->position,
                           &(struct position){(float)step->c, 1});
    case 1: return ecs_set(f->world, entity, f->health,
                           &(struct health){(int32_t)step->c, 2});
    case 2: return ecs_set(f->world, entity, f->label, &(struct label){text_of(text)});
    default: return ecs_set(f->world, entity, f->link, &(struct link){ids[step->c % KEPT]});
  }
}

static ecs_status name(struct fixture *f, const struct step *step) {
  char text[16];
  snprintf(text, sizeof text, "name %u", step->c % 20);
  return ecs_name(f->world, ids[step->a], step->b % 4 ? text : NULL);
}

static ecs_status spawn_some(struct fixture *f, const struct step *step) {
  const ecs_id list[] = {component(f, step->a), component(f, step->b),
                         component(f, step->c)};
  if (step->kind == 0) return ecs_spawn(f->world, list, step->c % 4, &ids[step->a]);
  return ecs_spawn_many(f->world, step->c % 40, list, step->b % 4, NULL);
}

static ecs_status change_query(struct fixture *f, const struct step *step) {
  ecs_query *query = queries[f == &starved][step->a % 4];
  if (step->b % 8 == 0) return ecs_query_despawn(query);
  if (step->b % 2) return ecs_query_add(query, component(f, step->c));
  return ecs_query_remove(query, component(f, step->c));
}

static ecs_status make_query(struct fixture *f, const struct step *step) {
  static const char *const texts[] = {"Position, !Frozen", "Label?, Health|Link",
                                      "!Enemy, Velocity.x", "Enemy"};
  ecs_query **query = &queries[f == &starved][step->a % 4], *made;
  ecs_status status = ecs_query_new(f->world, texts[step->b % 4], &made);
  if (status != ECS_OK) return status;
  ecs_query_free(*query);
  *query = made;
  return ECS_OK;
}

/* The eighth component has other fields now and then. */
static ecs_status declare_extra(struct fixture *f, uint32_t variant) {
  ecs_value seven = {.kind = ECS_KIND_INTEGER, .integer = 7};
  ecs_field fields[] = {{.name = "n", .type = variant % 2 ? ECS_I32 : ECS_F64,
                         .value = seven},
                        {.name = "text", .type = ECS_STRING},
                        {.name = "who", .type = ECS_ENTITY, .count = variant}};
  ecs_component_desc desc = {.name = "Extra", .fields = fields, .field_count = variant % 4};
  return ecs_component(f->world, &desc, &f->c);
}

static ecs_status act(struct fixture *f, const struct step *step) {
  switch (step->kind) {
    case 0:
    case 1: return spawn_some(f, step);
    case 2: return ecs_despawn(f->world, ids[step->a]);
    case 3:
    case 4: return set(f, step);
    case 5:
    case 6: return ecs_add(f->world, ids[step->a], component(f, step->b));
    case 7: return ecs_remove(f->world, ids[step->a], component(f, step->b));
    case 8: return name(f, step);
    case 9: return step->b % 2 ? ecs_defer(f->world) : ecs_commit(f->world);
    case 10: return step->b % 3 ? ecs_commit(f->world) : ecs_cancel(f->world);
    case 11: return change_query(f, step);
    case 12: return make_query(f, step);
    case 13: return ecs_update(f->world, 0.1);
    case 14: return declare_extra(f, step->b % 8);
    default:
      return ecs_spawn_at(f->world, id_make(FIRST_ENTITY + step->c % 300, step->b % 3, 1),
                          NULL, 0);
  }
}

#define KINDS 16

/* The same in the world that is short of memory: each request may fail, until it is let. */
static ecs_status act_starved(const struct step *step) {
  for (size_t k = 1;; k++) {
    alloc_arm(&starved.alloc, k, step->c % 2 == 0);
    ecs_status status = act(&starved, step);
    alloc_arm(&starved.alloc, 0, false);
    if (status != ECS_ENOMEM) return status;
  }
}

static bool one_step(int number) {
  struct step step = {(int)pick(KINDS), pick(KEPT), pick(64), pick(1000)};
  if (depth > 3 && step.kind == 9) step.b = 0;
  if (!ecs_alive(clean.world, ids[step.a]) && pick(4)) step.kind = 0;
  check_context("step %d, kind %d", number, step.kind);
  ecs_id before = ids[step.a];
  ecs_status wanted = act(&clean, &step);
  ecs_id made = ids[step.a];
  ids[step.a] = before;
  bool same = CHECK_STATUS(starved.world, wanted, act_starved(&step));
  same &= CHECK(ids[step.a] == made);
  depth = (int)clean.world->staging.open;
  return same;
}

static void run(uint64_t seed, int steps) {
  state = seed * 2 + 1;
  depth = 0;
  for (int i = 0; i < KEPT; i++) ids[i] = ECS_NULL;
  open_usual(&clean);
  open_usual(&starved);
  CHECK_OK(clean.world, declare_extra(&clean, 1));
  CHECK_OK(starved.world, declare_extra(&starved, 1));
  for (int i = 0; i < 4; i++) {
    queries[0][i] = new_query(clean.world, "Position");
    queries[1][i] = new_query(starved.world, "Position");
  }
  for (int i = 0; i < steps; i++) {
    if (!one_step(i)) break;
    if (i % 16) continue;
    CHECK_SOUND(clean.world);
    CHECK_SOUND(starved.world);
    if (!CHECK(world_digest(clean.world) == world_digest(starved.world))) break;
  }
  close_world(&clean);
  close_world(&starved);
}

int main(int count, char **arguments) {
  long first = 1, last = by_scale(60, 300, 3000);
  if (count > 1) first = last = strtol(arguments[1], NULL, 10);
  if (count > 2) last = strtol(arguments[2], NULL, 10);
  begin_test();
  for (long seed = first; seed <= last; seed++) {
    run((uint64_t)seed, 300);
    if (check_failures() == 0) continue;
    printf("# seed %ld\n", seed);
    break;
  }
  check_context(NULL);
  return end_test("C18: random operations that run out of memory and are tried again");
}
