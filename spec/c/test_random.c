/* Random operations on two worlds, one of which runs out of memory again and again and tries
** again: each request of each operation fails once, alone or with all behind it. A call that fails
** so has changed nothing, and both worlds stay the same. Reliability lines 2 and 18. Arguments:
** first and last seed. */
#include <stdio.h>
#include <stdlib.h>

#include "core/ids/world.h"
#include "family.h"
#include "sweep.h"

#define KEPT 64
#define MANY 500               /* entities, from which on no more are copied */

/* What a fixture has in its ids. */
enum { LIKES, OWES, DOCKED, CHILD_OF, FEW, AI, HIT, KIND };

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
  uint32_t kind, a, b, c;
  ecs_id other;
};

static ecs_id component(const struct fixture *f, uint32_t at) {
  const ecs_id all[] = {f->position, f->velocity, f->health, f->label, f->link, f->frozen,
                        f->enemy, f->c, f->ids[FEW], f->ids[AI]};
  return all[at % 10];
}

static ecs_id pair(const struct fixture *f, const struct step *step) {
  return ecs_pair(f->ids[step->b % 4], step->other);
}

/* ---- entities ---- */

static ecs_status spawn_one(struct fixture *f, const struct step *step) {
  const ecs_id list[] = {component(f, step->a), component(f, step->b), component(f, step->c),
                         pair(f, step)};
  return ecs_spawn(f->world, list + step->b % 2, step->c % 4, &ids[step->a]);
}

static ecs_status spawn_some(struct fixture *f, const struct step *step) {
  const ecs_id list[] = {component(f, step->a), component(f, step->c), pair(f, step)};
  return ecs_spawn_many(f->world, step->c % 40, list, step->b % 4, NULL);
}

static ecs_status spawn_there(struct fixture *f, const struct step *step) {
  const ecs_id id = id_make(FIRST_ENTITY + step->c % 300, step->b % 3, 1);
  return ecs_spawn_at(f->world, id, &f->ids[FEW], step->a % 2);
}

static ecs_status despawn(struct fixture *f, const struct step *step) {
  return ecs_despawn(f->world, ids[step->a]);
}

static ecs_status set(struct fixture *f, const struct step *step) {
  ecs_id entity = ids[step->a];
  char text[16];
  snprintf(text, sizeof text, "text %u", step->c % 50);
  switch (step->b % 5) {
    case 0: return ecs_set(f->world, entity, f->position, &(struct position){(float)step->c, 1});
    case 1: return ecs_set(f->world, entity, f->health, &(struct health){(int32_t)step->c, 2});
    case 2: return ecs_set(f->world, entity, f->label, &(struct label){text_of(text)});
    case 3: return ecs_set(f->world, entity, f->link, &(struct link){step->other});
    default: return ecs_set(f->world, entity, f->ids[AI], &(int64_t){step->c});
  }
}

static ecs_status add(struct fixture *f, const struct step *step) {
  return ecs_add(f->world, ids[step->a], component(f, step->b));
}

static ecs_status take(struct fixture *f, const struct step *step) {
  return ecs_remove(f->world, ids[step->a], component(f, step->b));
}

static ecs_status name(struct fixture *f, const struct step *step) {
  char text[16];
  snprintf(text, sizeof text, "name %u", step->c % 20);
  return ecs_name(f->world, ids[step->a], step->b % 4 ? text : NULL);
}

static ecs_status turn(struct fixture *f, const struct step *step) {
  return step->b % 2 ? ecs_disable(f->world, ids[step->a], component(f, step->c % 2 + 8))
                     : ecs_enable(f->world, ids[step->a], component(f, step->c % 2 + 8));
}

/* ---- ties, copies and prefabs ---- */

static ecs_status tie(struct fixture *f, const struct step *step) {
  return ecs_add(f->world, ids[step->a], pair(f, step));
}

/* Owes may have one target, too: then its struct begins with that. */
static ecs_status set_tie(struct fixture *f, const struct step *step) {
  const struct docked value = {step->other, step->b};
  const ecs_id id = step->b % 2 ? f->ids[DOCKED] : ecs_pair(f->ids[OWES], step->other);
  return ecs_set(f->world, ids[step->a], id, &value);
}

static ecs_status untie(struct fixture *f, const struct step *step) {
  const ecs_id relation = f->ids[step->b % 4];
  return ecs_remove(f->world, ids[step->a], step->b % 8 < 4 ? relation : pair(f, step));
}

static ecs_status copy(struct fixture *f, const struct step *step) {
  if (ecs_alive_count(f->world) > MANY) return ECS_OK;
  if (step->b % 2) return ecs_clone(f->world, step->other, &f->enemy, 1, &ids[step->a]);
  return ecs_instantiate(f->world, f->ids[KIND], &f->health, 1, &ids[step->a]);
}

static ecs_status declare_prefab(struct fixture *f, const struct step *step) {
  const ecs_id own[] = {f->position, f->frozen}, more[] = {f->health, f->ids[FEW]};
  const float at[2] = {(float)(step->b % 3), 1};
  const void *const values[] = {at, NULL};
  const ecs_prefab_desc list[] = {
    {.name = "Kind", .components = own, .values = values, .component_count = 1 + step->a % 2},
    {.name = step->b % 4 ? "part" : "other", .components = more, .component_count = step->a % 3},
    {.components = own, .values = values, .component_count = 1, .parent = step->b % 2}};
  return ecs_prefab(f->world, list, 1 + step->c % 3, &f->ids[KIND]);
}

/* ---- queries and indexes ---- */

static ecs_query *query_of(const struct fixture *f, const struct step *step) {
  return queries[f == &starved][step->a % 4];
}

static ecs_status change_query(struct fixture *f, const struct step *step) {
  ecs_query *query = query_of(f, step);
  const ecs_id id = step->b % 16 < 4 ? pair(f, step) : component(f, step->c);
  if (step->b % 16 == 4) return ecs_query_despawn(query);
  return step->b % 2 ? ecs_query_add(query, id) : ecs_query_remove(query, id);
}

static ecs_status make_query(struct fixture *f, const struct step *step) {
  static const char *const texts[] = {
    "Position, !Frozen", "Label?, Health|Link", "!Enemy, Velocity.x", "Enemy", "Few, Position?",
    "AI:off?, Position:in", "Position:changed", "(Likes, $p)", "(Owes, *), Position",
    "Position, ChildOf->Position?:cascade", "(DockedTo, $other), Few($other)?", "Hit"};
  const ecs_variable variable = {"p", step->other};
  ecs_query **query = &queries[f == &starved][step->a % 4], *made;
  ecs_status status = ecs_query_with(f->world, texts[step->b % 12], &variable,
                                     step->b % 12 == 7, &made);
  if (status != ECS_OK) return status;
  ecs_query_free(*query);
  *query = made;
  return ECS_OK;
}

static ecs_status go_through(struct fixture *f, const struct step *step) {
  ecs_status status = ecs_iter_open(query_of(f, step), &f->it);
  if (status != ECS_OK) return status;
  for (f->a = 0; ecs_iter_next(&f->it); f->a += f->it.count) continue;
  return ecs_iter_close(&f->it);
}

static ecs_status declare_index(struct fixture *f, const struct step *step) {
  static const ecs_index_desc list[] = {
    {.name = "near", .query = "Position:in, Label?", .of = "Position", .cell = 7},
    {.name = "hash", .query = "Health:in, Link?", .by = ECS_BY_HASH, .of = "hp"},
    {.name = "order", .query = "Position.x:in, !Frozen", .by = ECS_BY_ORDER, .of = "Position.x"}};
  ecs_index *made;
  if (step->b % 8 == 0) return ecs_index_drop(f->world, list[step->c % 3].name);
  return ecs_index_new(f->world, &list[step->c % 3], &made);
}

/* How many are found is compared, too. */
static ecs_status look(struct fixture *f, const struct step *step) {
  static const char *const names[] = {"near", "hash", "order"};
  const ecs_value key = {.kind = ECS_KIND_INTEGER, .integer = step->c};
  ecs_index *index = ecs_index_find(f->world, names[step->b % 3]);
  ecs_status status;
  ecs_found found;
  if (!index) return ECS_ENAME;
  if (step->b % 3 == 0)
    status = ecs_index_within(index, (double[]){step->c, 1}, 50, &found);
  else if (step->b % 3 == 1)
    status = ecs_index_equal(index, &key, &found);
  else
    status = ecs_index_lowest(index, step->c, &found);
  size_t count = 0;
  while (ecs_found_next(&found)) count++;
  f->a = count;
  CHECK(status == ECS_OK || count == 0);
  return status;
}

/* ---- the world ---- */

static ecs_status open_scope(struct fixture *f, const struct step *step) {
  return depth < 4 && step->b % 2 ? ecs_defer(f->world) : ecs_commit(f->world);
}

static ecs_status end_scope(struct fixture *f, const struct step *step) {
  return step->b % 3 ? ecs_commit(f->world) : ecs_cancel(f->world);
}

static ecs_status update(struct fixture *f, const struct step *step) {
  (void)step;
  return ecs_update(f->world, 0.1);
}

static ecs_status emit(struct fixture *f, const struct step *step) {
  const struct docked hit = {step->other, step->b};
  return step->b % 2 ? ecs_emit(f->world, f->ids[HIT], &hit)
                     : ecs_after(f->world, step->b % 5 * 0.1, f->ids[HIT], &hit);
}

static ecs_status replace(struct fixture *f, const struct step *step) {
  if (step->b % 2) return keep_and_restore(f);
  ecs_status status = save_image(f);
  return status == ECS_OK ? load_image(f) : status;
}

static ecs_status idle(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_OK;
}

static ecs_status schedule(struct fixture *f, const struct step *step) {
  static const char *const names[] = {"a", "b", "c"}, *const phases[] = {"update", "late"};
  const char *const before[] = {names[(step->b + 1) % 3], NULL};
  const ecs_system_desc desc = {
    .name = names[step->b % 3], .phase = phases[step->c % 2], .query = "Position, Velocity?",
    .before = step->c % 3 ? NULL : before, .every = step->c % 4 * 0.1, .run = idle};
  const ecs_phase_desc phase = {"late", "update", NULL, step->c % 2 * 0.05};
  switch (step->a % 4) {
    case 0: return ecs_phase(f->world, &phase);
    case 1: return ecs_system_remove(f->world, desc.name);
    case 2: return ecs_switch(f->world, desc.name, step->c % 2 == 0);
    default: return ecs_system_new(f->world, &desc);
  }
}

static ecs_status resource(struct fixture *f, const struct step *step) {
  struct label label = {text_of(step->c % 2 ? "one text" : "another text")};
  switch (step->b % 3) {
    case 0: return ecs_resource(f->world, component(f, step->c));
    case 1: return ecs_resource_set(f->world, f->label, &label);
    default: return ecs_resource_get(f->world, f->label, &label);
  }
}

/* ---- declarations ---- */

/* One that has other fields now and then, and other names. */
static ecs_status declare_extra(struct fixture *f, const struct step *step) {
  const uint32_t variant = step->b % 8;
  ecs_field fields[] = {{.name = "n", .type = variant % 2 ? ECS_I32 : ECS_F64,
                         .value = {.kind = ECS_KIND_INTEGER, .integer = 7}},
                        {.name = "text", .type = ECS_STRING},
                        {.name = "who", .type = ECS_ENTITY, .count = variant},
                        {.name = "at", .type = ECS_NESTED, .nested = f->ids[AI]}};
  const ecs_rename was = {"n", "number"};
  ecs_component_desc desc = {.name = step->c % 8 ? "Extra" : "Renamed", .fields = fields,
                             .field_count = (variant + step->c % 2) % 5, .was = &was,
                             .was_count = variant == 3, .old_name = "Renamed"};
  return ecs_component(f->world, &desc, &f->c);
}

/* One that comes to lie elsewhere, can be switched off, is tracked, or requires another. */
static ecs_status declare_few(struct fixture *f, const struct step *step) {
  const ecs_field fields[] = {{.name = "n", .type = ECS_I32}, {.name = "text", .type = ECS_STRING}};
  ecs_component_desc desc = {.name = "Few", .fields = fields, .field_count = 1 + step->c % 2,
                             .sparse = step->b & 1, .toggle = step->b & 2, .track = step->b & 4,
                             .required = &f->health, .required_count = step->b >> 3 & 1};
  return ecs_component(f->world, &desc, &f->ids[FEW]);
}

static ecs_status declare_ai(struct fixture *f, const struct step *step) {
  const ecs_field field = {.name = "mood", .type = step->b & 1 ? ECS_I64 : ECS_U64};
  ecs_component_desc desc = {.name = "AI", .fields = &field, .field_count = 1,
                             .toggle = step->b & 6, .track = step->b & 8};
  return ecs_component(f->world, &desc, &f->ids[AI]);
}

/* A relation of one target or several, with a field of one type or another. */
static ecs_status declare_owes(struct fixture *f, const struct step *step) {
  const ecs_field field = {.name = "amount", .type = step->b & 1 ? ECS_I32 : ECS_U32};
  ecs_component_desc desc = {.name = "Owes", .fields = &field, .field_count = 1,
                             .exclusive = step->b % 8 == 2, .required = &f->velocity,
                             .required_count = step->b % 8 == 3, .track = step->b & 4};
  return ecs_relation(f->world, &desc, &f->ids[OWES]);
}

static ecs_status declare_hit(struct fixture *f, const struct step *step) {
  const ecs_field fields[] = {{.name = "who", .type = ECS_ENTITY},
                              {.name = "more", .type = step->b & 1 ? ECS_I32 : ECS_F64}};
  ecs_component_desc desc = {.name = "Hit", .fields = fields, .field_count = 1 + step->b % 2};
  return ecs_event(f->world, &desc, &f->ids[HIT]);
}

static ecs_status undeclare(struct fixture *f, const struct step *step) {
  const ecs_id all[] = {f->c, f->ids[FEW], f->ids[AI], f->ids[OWES], f->ids[HIT]};
  return ecs_undeclare(f->world, all[step->b % 5]);
}

/* ---- running ---- */

static ecs_status (*const acts[])(struct fixture *f, const struct step *step) = {
  spawn_one, spawn_one, spawn_some, spawn_there, despawn, set, set, add, add, take, name, turn,
  tie, tie, set_tie, set_tie, untie, copy, declare_prefab, change_query, make_query, go_through,
  declare_index, look, look, open_scope, open_scope, end_scope, update, emit, replace, schedule,
  resource, declare_extra, declare_few, declare_ai, declare_owes, declare_hit, undeclare};

enum { KINDS = sizeof acts / sizeof *acts };

/* The same in the world that is short of memory: each request may fail, until it is let. Whether
** nothing has changed takes long to find out; cells that are looked at for it count as written. */
static ecs_status act_starved(const struct step *step, bool looks) {
  const uint64_t before = looks ? world_digest(starved.world) : 0;
  for (size_t k = 1;; k++) {
    alloc_arm(&starved.alloc, k, step->c % 2 == 0);
    ecs_status status = acts[step->kind](&starved, step);
    alloc_arm(&starved.alloc, 0, false);
    if (status != ECS_ENOMEM) return status;
    if (looks && !CHECK(world_digest(starved.world) == before)) return status;
  }
}

static bool one_step(int number) {
  struct step step = {pick(KINDS), pick(KEPT), pick(64), pick(1000), ECS_NULL};
  step.other = ids[step.c % KEPT];
  if (!ecs_alive(clean.world, ids[step.a]) && pick(4)) step.kind = 0;
  check_context("step %d, kind %u", number, step.kind);
  bool looks = step.c % 4 == 0;
  if (looks) (void)world_digest(clean.world);
  ecs_id before = ids[step.a];
  ecs_status wanted = acts[step.kind](&clean, &step);
  ecs_id made = ids[step.a];
  ids[step.a] = before;
  bool same = CHECK_STATUS(starved.world, wanted, act_starved(&step, looks));
  same &= CHECK(ids[step.a] == made) && CHECK(clean.a == starved.a) && CHECK(clean.b == starved.b);
  depth = (int)clean.world->staging.open;
  return same;
}

/* What an observer has seen, as a sum. */
static ecs_status observe(ecs_world *world, ecs_sight *sight, void *ud) {
  struct fixture *f = ud;
  (void)world;
  while (ecs_sight_next(sight)) f->b = f->b * 31 + ecs_sight_entity(sight);
  return ECS_OK;
}

static void open_random(struct fixture *f, bool observed) {
  static const ecs_field since = {.name = "since", .type = ECS_F64};
  static const char *const on[] = {"add", "set", "remove", "enter", "exit", "despawn"};
  const struct step first = {.b = 1, .c = 1};
  ecs_component_desc desc = {.name = "Likes"};
  open_usual(f);
  CHECK_OK(f->world, ecs_relation(f->world, &desc, &f->ids[LIKES]));
  desc = (ecs_component_desc){.name = "DockedTo", .fields = &since, .field_count = 1,
                              .exclusive = true};
  CHECK_OK(f->world, ecs_relation(f->world, &desc, &f->ids[DOCKED]));
  CHECK_OK(f->world, ecs_child_of(f->world, &f->ids[CHILD_OF]));
  CHECK_OK(f->world, declare_few(f, &first));
  CHECK_OK(f->world, declare_ai(f, &first));
  CHECK_OK(f->world, declare_owes(f, &first));
  CHECK_OK(f->world, declare_hit(f, &first));
  CHECK_OK(f->world, declare_extra(f, &first));
  CHECK_OK(f->world, declare_prefab(f, &first));
  for (int i = 0; observed && i < 6; i++)
    CHECK_OK(f->world, ecs_observer_new(f->world, &(ecs_observer_desc){
        .name = on[i], .on = (ecs_observed)i, .query = "Position, Label?, !Frozen",
        .run = observe, .ud = f}));
  for (int i = 0; i < 4; i++) queries[f == &starved][i] = new_query(f->world, "Position");
}

static void run(uint64_t seed, int steps) {
  state = seed * 2 + 1;
  depth = 0;
  for (int i = 0; i < KEPT; i++) ids[i] = ECS_NULL;
  open_random(&clean, seed % 2 == 0);
  open_random(&starved, seed % 2 == 0);
  for (int i = 0; i < steps; i++) {
    if (!one_step(i)) break;
    if (i % 16) continue;
    CHECK_SOUND(clean.world);
    CHECK_SOUND(starved.world);
    if (!CHECK(world_digest(clean.world) == world_digest(starved.world))) break;
    if (!CHECK(ecs_digest(clean.world) == ecs_digest(starved.world))) break;
  }
  close_world(&clean);
  close_world(&starved);
}

int main(int count, char **arguments) {
  long first = 1, last = by_scale(20, 100, 1500);
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
