/* Scopes that end in any order, what is known of staged commands, and what is refused meanwhile.
** What they leave is compared with a model by spec/random/random_model_spec.lua. C86. */
#include <stdio.h>
#include <string.h>

#include "core/command/command.h"
#include "core/ids/world.h"
#include "fixture.h"

static struct fixture f;

static void open_scene(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  f.b = SPAWN(f.world, f.position, f.velocity);
  set_position(&f, f.a, 1, 2);
  set_position(&f, f.b, 3, 4);
}

static void one_move_for_many_commands(void) {
  open_scene();
  uint32_t tables = f.world->graph.live;
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_add(f.world, f.a, f.velocity));
  CHECK_OK(f.world, ecs_add(f.world, f.a, f.health));
  CHECK_OK(f.world, ecs_remove(f.world, f.a, f.velocity));
  CHECK_OK(f.world, ecs_add(f.world, f.a, f.frozen));
  CHECK_OK(f.world, ecs_add(f.world, f.a, f.enemy));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_INTEGER(tables + 1, f.world->graph.live);
  CHECK_INTEGER(1, count_of(f.world, "Position, Health, Frozen, Enemy, !Velocity"));
  CHECK(get_position(&f, f.a).x == 1);
  close_world(&f);
}

/* ---- scopes that do not end in reverse order (loops that a program keeps) ---- */

#define SCOPES 3

struct ending {
  int order[SCOPES];
  int commits;     /* bit i: scope i commits */
};

/* Which scopes' spawns live in the end: those of a scope that commits pass to the nearest
** open one around it, and count when there is none. */
static int survivors(const struct ending *ending) {
  int holder[SCOPES] = {0, 1, 2}, open = 7, alive = 7;
  for (int i = 0; i < SCOPES; i++) {
    int ended = ending->order[i], heir = ended - 1;
    open &= ~(1 << ended);
    while (heir >= 0 && !(open >> heir & 1)) heir--;
    for (int j = 0; j < SCOPES; j++) {
      if (holder[j] != ended) continue;
      if (ending->commits >> ended & 1)
        holder[j] = heir;
      else
        alive &= ~(1 << j), holder[j] = -2;
    }
  }
  return alive;
}

static void end_in_order(const struct ending *ending) {
  open_scene();
  uint32_t scopes[SCOPES];
  ecs_id made[SCOPES];
  for (int i = 0; i < SCOPES; i++) {
    CHECK_OK(f.world, scope_open(f.world, SCOPE_DEFER, &scopes[i]));
    made[i] = SPAWN(f.world, f.health);
    CHECK_OK(f.world, ecs_add(f.world, f.a, i == 0 ? f.frozen : i == 1 ? f.enemy : f.label));
  }
  for (int i = 0; i < SCOPES; i++) {
    int at = ending->order[i];
    if (ending->commits >> at & 1)
      CHECK_OK(f.world, scope_commit(f.world, scopes[at]));
    else
      scope_cancel(f.world, scopes[at]);
    CHECK_SOUND(f.world);
  }
  int alive = survivors(ending);
  for (int i = 0; i < SCOPES; i++) CHECK(ecs_alive(f.world, made[i]) == (alive >> i & 1));
  CHECK(ecs_has(f.world, f.a, f.frozen) == (alive & 1));
  CHECK(ecs_has(f.world, f.a, f.enemy) == (alive >> 1 & 1));
  CHECK(ecs_has(f.world, f.a, f.label) == (alive >> 2 & 1));
  close_world(&f);
}

static void any_order_of_ends(void) {
  static const int orders[6][SCOPES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int order = 0; order < 6; order++)
    for (int commits = 0; commits < 8; commits++) {
      struct ending ending = {{0}, commits};
      memcpy(ending.order, orders[order], sizeof ending.order);
      check_context("order %d%d%d, commits %d", ending.order[0], ending.order[1],
                    ending.order[2], commits);
      end_in_order(&ending);
    }
}

/* A scope whose place is taken again must not have the commands of the one before it. */
static void places_are_taken_again(void) {
  open_scene();
  uint32_t first, second, third;
  CHECK_OK(f.world, scope_open(f.world, SCOPE_DEFER, &first));
  for (int i = 0; i < 5; i++) spawn_empty(f.world);
  CHECK_OK(f.world, scope_open(f.world, SCOPE_LOOP, &second));
  CHECK_OK(f.world, scope_open(f.world, SCOPE_LOOP, &third));
  ecs_id made = SPAWN(f.world, f.enemy);
  scope_cancel(f.world, first);
  CHECK_OK(f.world, scope_commit(f.world, third));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_cancel(f.world));
  CHECK_OK(f.world, scope_commit(f.world, second));
  CHECK(ecs_has(f.world, made, f.enemy));
  CHECK_INTEGER(3, ecs_alive_count(f.world));
  close_world(&f);
}

/* What an ended scope left is applied when the last one is cancelled; without memory for that it
** is kept, and the scope is open still. */
static void cancel_without_memory(void) {
  for (size_t k = 0; k < 2; k++) {
    open_scene();
    uint32_t loop, defer;
    uint64_t before = world_digest(f.world);
    CHECK_OK(f.world, scope_open(f.world, SCOPE_LOOP, &loop));
    ecs_id made = SPAWN(f.world, f.health, f.enemy);
    CHECK_OK(f.world, scope_open(f.world, SCOPE_DEFER, &defer));
    CHECK_OK(f.world, ecs_despawn(f.world, f.a));
    CHECK_OK(f.world, scope_commit(f.world, loop));
    alloc_arm(&f.alloc, k, true);
    CHECK_STATUS(f.world, k ? ECS_ENOMEM : ECS_OK, ecs_cancel(f.world));
    alloc_arm(&f.alloc, 0, false);
    if (k) CHECK_OK(f.world, ecs_cancel(f.world));
    CHECK(ecs_alive(f.world, f.a) && ecs_alive(f.world, made));
    CHECK(ecs_has(f.world, made, f.enemy));
    CHECK(world_digest(f.world) != before);
    close_world(&f);
  }
}

/* ---- what is and is not possible meanwhile ---- */

static void refused_in_a_defer(void) {
  open_scene();
  size_t count;
  ecs_query *query = new_query(f.world, "Position");
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_FAILS(f.world, ECS_EBUSY, "update", ecs_update(f.world, 0));
  CHECK_FAILS(f.world, ECS_EBUSY, "run", ecs_run(f.world, "update", 0));
  CHECK_FAILS(f.world, ECS_EBUSY, "undeclare", ecs_undeclare(f.world, f.velocity));
  CHECK_FAILS(f.world, ECS_EBUSY, "recycle_retired", ecs_recycle_retired(f.world, &count));
  CHECK_FAILS(f.world, ECS_EBUSY, "scope", ecs_query_add(query, f.enemy));
  CHECK_FAILS(f.world, ECS_EBUSY, "scope", ecs_query_remove(query, f.position));
  CHECK_FAILS(f.world, ECS_EBUSY, "scope", ecs_query_despawn(query));
  CHECK_OK(f.world, ecs_commit(f.world));
  ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(query, &it));
  CHECK_FAILS(f.world, ECS_EBUSY, "loop", ecs_update(f.world, 0));
  CHECK_FAILS(f.world, ECS_EBUSY, "loop", ecs_undeclare(f.world, f.velocity));
  CHECK_FAILS(f.world, ECS_EBUSY, "loop", ecs_recycle_retired(f.world, &count));
  CHECK_FAILS(f.world, ECS_EINVAL, "without a defer", ecs_commit(f.world));
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  close_world(&f);
}

/* A host's iterator is the host's to close: what would end the scope around it is refused. */
static void iterators_after_a_defer(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  ecs_iter it;
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_iter_open(new_query(f.world, "Position"), &it));
  CHECK_OK(f.world, ecs_add(f.world, f.a, f.frozen));
  CHECK_FAILS(f.world, ECS_EBUSY, "commit is not possible inside a loop that began after",
              ecs_commit(f.world));
  CHECK_FAILS(f.world, ECS_EBUSY, "cancel is not possible inside a loop", ecs_cancel(f.world));
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK(ecs_has(f.world, f.a, f.frozen));
  close_world(&f);
}

/* What is deferred: by entity and tag, and again of the inner scope. */
#define TAGS 300
static bool outer[2][TAGS], inner[2][TAGS];

static void check_staged(const ecs_id *ids, const ecs_id *tags, bool counts) {
  for (size_t e = 0; e < 2; e++)
    for (size_t i = 0; i < TAGS; i++)
      CHECK((outer[e][i] || (counts && inner[e][i])) ==
            command_is_staged(f.world, ids[e], tags[i]));
}

/* Commands of two entities and many tags at random; what is cancelled is not deferred. */
static void staged_is_known(void) {
  ecs_id ids[2], tags[TAGS];
  uint32_t chance = 1;
  char name[16];
  open_usual(&f);
  for (size_t e = 0; e < 2; e++) ids[e] = SPAWN(f.world, f.position);
  for (size_t i = 0; i < TAGS; i++) {
    snprintf(name, sizeof name, "T%u", (unsigned)i);
    tags[i] = declare_tag(f.world, name);
  }
  memset(outer, 0, sizeof outer);
  CHECK_OK(f.world, ecs_defer(f.world));
  for (int round = 0; round < 20; round++) {
    memset(inner, 0, sizeof inner);
    CHECK_OK(f.world, ecs_defer(f.world));
    for (int i = 0; i < 2 * round; i++) {
      chance = chance * 1664525 + 1013904223;
      uint32_t e = chance >> 31, tag = (chance >> 8) % TAGS;
      CHECK_OK(f.world, (i % 3 ? ecs_add : ecs_remove)(f.world, ids[e], tags[tag]));
      inner[e][tag] = true;
    }
    check_staged(ids, tags, true);
    if (round % 4 == 1) {
      CHECK_OK(f.world, ecs_cancel(f.world));
      check_staged(ids, tags, false);
      continue;
    }
    CHECK_OK(f.world, ecs_commit(f.world));
    for (size_t i = 0; i < 2 * TAGS; i++) outer[i / TAGS][i % TAGS] |= inner[i / TAGS][i % TAGS];
    check_staged(ids, tags, false);
  }
  CHECK_OK(f.world, ecs_commit(f.world));
  memset(outer, 0, sizeof outer);
  check_staged(ids, tags, false);
  close_world(&f);
}

/* Spawns of some kinds in a scope, in which sooner or later something else is deferred, be it only
** what is there already: that is to make no difference. */
static void spawn_at_random(struct fixture *g, uint32_t chance, int until) {
  int scopes = 1;
  CHECK_OK(g->world, ecs_defer(g->world));
  for (int i = 0; i < 60; i++) {
    ecs_id kinds[] = {g->position, g->health, g->label, g->frozen};
    chance = chance * 1664525 + 1013904223;
    if (i == until) CHECK_OK(g->world, ecs_add(g->world, g->a, g->position));
    uint32_t kind = chance >> 29;
    if (kind < 4) g->b = spawn(g->world, kinds + kind / 2, kind % 2 + 1);
    if (kind == 4) CHECK_OK(g->world, ecs_spawn_many(g->world, chance >> 8 & 7, kinds, 3, NULL));
    if (kind == 5) g->b = spawn(g->world, kinds + 1, 3);
    bool ends = (chance >> 20 & 31) == 0 && scopes > 1;
    if (ends) CHECK_OK(g->world, (chance >> 26 & 1 ? ecs_commit : ecs_cancel)(g->world));
    bool begins = (chance >> 20 & 31) == 1;
    if (begins) CHECK_OK(g->world, ecs_defer(g->world));
    scopes += begins - ends;
  }
  CHECK_OK(g->world, ecs_check(g->world));
  while (scopes-- > 1) CHECK_OK(g->world, ecs_commit(g->world));
  CHECK_OK(g->world, (chance & 1024 ? ecs_commit : ecs_cancel)(g->world));
}

static void spawns_are_what_they_are(void) {
  for (uint32_t seed = 1; seed <= 40; seed++) {
    struct fixture g;
    open_usual(&f);
    open_usual(&g);
    f.a = SPAWN(f.world, f.position);
    g.a = SPAWN(g.world, g.position);
    for (uint32_t round = 0; round < 4; round++) {
      spawn_at_random(&f, seed * 4 + round, (int)(seed * 7 % 90));
      spawn_at_random(&g, seed * 4 + round, 0);
      CHECK(f.b == g.b && ecs_digest(f.world) == ecs_digest(g.world));
      if (round == 1) CHECK_OK(f.world, ecs_query_despawn(new_query(f.world, "Health")));
      if (round == 1) CHECK_OK(g.world, ecs_query_despawn(new_query(g.world, "Health")));
    }
    close_world(&f);
    close_world(&g);
  }
}

static const struct test tests[] = {
  {"spawns in a scope are the same whatever else is deferred", spawns_are_what_they_are},
  {"whether something of an entity's component is deferred is known", staged_is_known},
  {"commit and cancel wait for iterators opened after their defer", iterators_after_a_defer},
  {"C86: many commands on one entity are one move", one_move_for_many_commands},
  {"scopes may end in any order", any_order_of_ends},
  {"a scope's place may be taken again", places_are_taken_again},
  {"a cancel that cannot apply what others left keeps it, and can be tried again",
   cancel_without_memory},
  {"what cannot be done in a scope is refused", refused_in_a_defer},
};

int main(void) { return RUN_TESTS(tests); }
