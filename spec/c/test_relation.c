/* Relations: pairs as ids, exclusive ones with a way back, what is refused, many that end at once.
** What becomes of ties is compared with a model by spec/random/random_model_spec.lua. C29, C72,
** C75. */
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "fixture.h"

struct docked { ecs_id target; double since; };
struct owes { int32_t amount; };

static struct fixture f;
static ecs_id likes, owes, docked, child_of, rides, guards;

static ecs_id declare_relation(const char *name, bool exclusive, bool acyclic,
                               ecs_policy policy) {
  ecs_id id = ECS_NULL;
  ecs_component_desc desc = {.name = name, .exclusive = exclusive, .acyclic = acyclic,
                             .on_target_despawn = policy};
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &id));
  return id;
}

static void open_relations(void) {
  static const ecs_field since = {.name = "since", .type = ECS_F64};
  static const ecs_field amount = {.name = "amount", .type = ECS_I32};
  open_usual(&f);
  likes = declare_relation("Likes", false, false, ECS_TARGET_REMOVE);
  child_of = declare_relation("Within", true, true, ECS_TARGET_DESPAWN);
  rides = declare_relation("Rides", true, false, ECS_TARGET_DESPAWN);
  guards = declare_relation("Guards", false, false, ECS_TARGET_ERROR);
  ecs_component_desc desc = {.name = "DockedTo", .fields = &since, .field_count = 1,
                             .exclusive = true};
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &docked));
  desc = (ecs_component_desc){.name = "Owes", .fields = &amount, .field_count = 1};
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &owes));
  f.a = SPAWN(f.world, f.position);
  f.b = SPAWN(f.world, f.position, f.velocity);
  f.c = spawn_empty(f.world);
}

static size_t sources_of(ecs_id target, ecs_id relation) {
  return ecs_sources(f.world, target, relation, f.ids, 8);
}

static void dock(ecs_id ship, ecs_id port, double since) {
  CHECK_OK(f.world, ecs_set(f.world, ship, docked, &(struct docked){port, since}));
}

static struct docked get_docked(ecs_id ship) {
  struct docked value = {0, 0};
  CHECK_OK(f.world, ecs_get(f.world, ship, docked, &value));
  return value;
}

static void replaces_an_exclusive_target(void) {
  open_relations();
  dock(f.a, f.c, 1);
  dock(f.b, f.c, 2);
  CHECK_INTEGER(2, sources_of(f.c, docked));
  CHECK(f.ids[0] == f.a && f.ids[1] == f.b);
  CHECK(ecs_target(f.world, f.a, docked) == f.c && get_docked(f.b).since == 2);
  uint32_t tables = f.world->graph.live;
  CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(docked, f.b)));
  CHECK(get_docked(f.a).target == f.b && get_docked(f.a).since == 1);
  CHECK_INTEGER(1, sources_of(f.c, docked));
  CHECK_INTEGER(1, sources_of(f.b, docked));
  CHECK_INTEGER(tables, f.world->graph.live);
  dock(f.a, f.c, 3);
  CHECK_INTEGER(2, sources_of(f.c, docked));
  CHECK(f.ids[0] == f.b && f.ids[1] == f.a);
  close_world(&f);
}

static void keeps_pairs_as_components(void) {
  open_relations();
  CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(likes, f.c)));
  CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(likes, f.b)));
  CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(likes, f.b)));
  CHECK(ecs_has(f.world, f.a, ecs_pair(likes, f.b)) && ecs_has(f.world, f.a, likes));
  CHECK(!ecs_has(f.world, f.b, likes));
  CHECK(ecs_target(f.world, f.a, likes) == f.b);
  CHECK(ecs_next_target(f.world, f.a, likes, f.b) == f.c);
  CHECK(ecs_next_target(f.world, f.a, likes, f.c) == ECS_NULL);
  CHECK_INTEGER(1, sources_of(f.c, likes));
  struct owes debt = {5};
  CHECK_OK(f.world, ecs_set(f.world, f.a, ecs_pair(owes, f.b), &debt));
  debt.amount = 7;
  CHECK_OK(f.world, ecs_set(f.world, f.a, ecs_pair(owes, f.c), &debt));
  CHECK_OK(f.world, ecs_get(f.world, f.a, ecs_pair(owes, f.b), &debt));
  CHECK_INTEGER(5, debt.amount);
  CHECK_OK(f.world, ecs_remove(f.world, f.a, likes));
  CHECK(!ecs_has(f.world, f.a, likes) && ecs_has(f.world, f.a, ecs_pair(owes, f.c)));
  CHECK_OK(f.world, ecs_remove(f.world, f.a, ecs_pair(owes, f.b)));
  CHECK(ecs_target(f.world, f.a, owes) == f.c);
  CHECK_OK(f.world, ecs_despawn(f.world, f.c));
  CHECK(!ecs_has(f.world, f.a, owes) && ecs_alive(f.world, f.a));
  close_world(&f);
}

static void forgets_tables_of_dead_targets(void) {
  open_relations();
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  uint32_t records = f.world->graph.record_count, tables = f.world->graph.live;
  for (int i = 0; i < 100; i++) {
    ecs_id target = spawn_empty(f.world);
    CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(likes, target)));
    CHECK_OK(f.world, ecs_despawn(f.world, target));
    CHECK(!ecs_has(f.world, f.a, likes));
  }
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_INTEGER(tables, f.world->graph.live);
  CHECK_INTEGER(records, f.world->graph.record_count);
  close_world(&f);
}

static void refuses_what_is_no_tie(void) {
  open_relations();
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a target", ecs_add(f.world, f.a, likes));
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a target", ecs_add(f.world, f.a, docked));
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a target",
              ecs_set(f.world, f.a, owes, &(struct owes){1}));
  CHECK_OK(f.world, ecs_despawn(f.world, f.c));
  CHECK_FAILS(f.world, ECS_EUNBORN, "never spawned",
              ecs_add(f.world, f.a, ecs_pair(likes, f.c)));
  CHECK(ecs_set(f.world, f.a, docked, &(struct docked){f.c, 0}) != ECS_OK);
  static const ecs_field target = {.name = "target", .type = ECS_ENTITY};
  ecs_component_desc desc = {.name = "Wrong", .fields = &target, .field_count = 1};
  ecs_id id;
  CHECK_FAILS(f.world, ECS_EINVAL, "cannot be named 'target'",
              ecs_relation(f.world, &desc, &id));
  desc.exclusive = true;
  CHECK_FAILS(f.world, ECS_EINVAL, "cannot be named 'target'",
              ecs_relation(f.world, &desc, &id));
  desc = (ecs_component_desc){.name = "Wrong", .acyclic = true};
  CHECK_FAILS(f.world, ECS_EINVAL, "acyclic but not exclusive",
              ecs_relation(f.world, &desc, &id));
  CHECK_FAILS(f.world, ECS_EINVAL, "is not a relation", ecs_component(f.world, &desc, &id));
  close_world(&f);
}

/* There are tables with just these ids. */
static void spawns_nobody_without_a_living_target(void) {
  open_relations();
  ecs_id pair = ecs_pair(likes, f.b), many[2], id;
  SPAWN(f.world, pair);
  SPAWN(f.world, ecs_pair(docked, f.b));
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a target", ecs_spawn(f.world, &docked, 1, &id));
  CHECK_SOUND(f.world);
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a target",
              ecs_spawn_many(f.world, 2, &docked, 1, many));
  CHECK_OK(f.world, ecs_despawn(f.world, f.b));
  CHECK(ecs_spawn(f.world, &pair, 1, &id) != ECS_OK);
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* Also at indices that have no room yet, or are kept for components. */
static void refuses_pairs_with_indices_of_nobody(void) {
  static const uint32_t indices[] = {0, 9999, 65535, FIRST_ENTITY + 5000000, 0x0FFFFFFF};
  open_relations();
  ecs_id relations[] = {likes, docked, owes}, id;
  for (size_t i = 0; i < 3 * sizeof indices / sizeof *indices; i++) {
    ecs_id pair = ecs_pair(relations[i % 3], indices[i / 3]);
    check_context("index %u", indices[i / 3]);
    CHECK(ecs_add(f.world, f.a, pair) != ECS_OK);
    CHECK(ecs_set(f.world, f.a, pair, &(struct docked){0}) != ECS_OK);
    CHECK(ecs_spawn(f.world, &pair, 1, &id) != ECS_OK);
    CHECK(ecs_spawn_many(f.world, 3, &pair, 1, NULL) != ECS_OK);
    CHECK(!ecs_has(f.world, f.a, pair));
    CHECK(ecs_get(f.world, f.a, pair, &(struct docked){0}) == ECS_EABSENT);
    ecs_remove(f.world, f.a, pair);
    CHECK(ecs_query_add(new_query(f.world, ""), pair) != ECS_OK);
    CHECK_SOUND(f.world);
  }
  check_context(NULL);
  close_world(&f);
}

static void never_ends_components(void) {
  open_relations();
  CHECK_OK(f.world, ecs_add(f.world, f.position, ecs_pair(child_of, f.c)));
  CHECK_FAILS(f.world, ECS_EBUSY, "component 'Position' is tied to it by 'Within'",
              ecs_despawn(f.world, f.c));
  CHECK_OK(f.world, ecs_remove(f.world, f.position, child_of));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_despawn(f.world, f.c));
  CHECK_OK(f.world, ecs_add(f.world, f.position, ecs_pair(rides, f.c)));
  CHECK_FAILS(f.world, ECS_EDEAD, "has died in the meantime", ecs_commit(f.world));
  CHECK(!ecs_alive(f.world, f.c) && !ecs_has(f.world, f.position, rides));
  close_world(&f);
}

/* Names of those who die are free for the commands behind. */
static void frees_names_of_the_dying(void) {
  open_relations();
  ecs_id within, children[2];
  CHECK(ecs_children(f.world, f.b, children, 2) == 0);
  CHECK_OK(f.world, ecs_child_of(f.world, &within));
  ecs_id part = SPAWN(f.world, ecs_pair(within, f.a));
  ecs_id other = SPAWN(f.world, ecs_pair(within, f.b));
  CHECK_OK(f.world, ecs_name(f.world, part, "part"));
  CHECK_OK(f.world, ecs_name(f.world, other, "part"));
  ecs_id last = SPAWN(f.world, ecs_pair(within, f.b)), again;
  CHECK(ecs_children(f.world, f.b, children, 1) == 2 && children[0] == other);
  CHECK(ecs_children(f.world, f.b, children, 2) == 2 && children[1] == last);
  CHECK_OK(f.world, ecs_child_of(f.world, &again));
  CHECK(again == within);
  CHECK_FAILS(f.world, ECS_ETAKEN, "'part'", ecs_add(f.world, other, ecs_pair(within, f.a)));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_OK(f.world, ecs_remove(f.world, other, within));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK(!ecs_alive(f.world, part) && ecs_lookup(f.world, "part") == other);
  again = SPAWN(f.world, ecs_pair(within, f.b));
  CHECK_OK(f.world, ecs_name(f.world, again, "part"));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_despawn(f.world, other));
  CHECK_OK(f.world, ecs_remove(f.world, again, within));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK(ecs_lookup(f.world, "part") == again);
  close_world(&f);
}

/* A chain, and a fan. */
static void ends_many_at_once(void) {
  uint32_t n = (uint32_t)by_scale(2000, 20000, 1000000);
  open_relations();
  size_t before = ecs_alive_count(f.world);
  for (int wide = 0; wide < 2; wide++) {
    ecs_id root = spawn_empty(f.world), last = root;
    for (uint32_t i = 0; i < n; i++) {
      ecs_id next = SPAWN(f.world, ecs_pair(child_of, last));
      if (!wide) last = next;
    }
    CHECK_INTEGER(before + n + 1, ecs_alive_count(f.world));
    CHECK_OK(f.world, ecs_despawn(f.world, root));
    CHECK_INTEGER(before, ecs_alive_count(f.world));
  }
  close_world(&f);
}

/* Of a table's rows, which die in turn, the last one takes each place that is left. */
static uint32_t leave_in_turn(ecs_id *rows, uint32_t count, const ecs_id *dying, uint32_t many) {
  for (uint32_t i = 0; i < many; i++)
    for (uint32_t row = 0; row < count; row++)
      if (rows[row] == dying[i]) rows[row] = rows[--count];
  return count;
}

/* More than are finished at once: some in a table that all leave, some in one where others stay. */
static void leaves_rows_as_each_alone_would(void) {
  enum { CHILDREN = 1300, ROWS = 1000 };
  static ecs_id rows[ROWS], dying[CHILDREN];
  uint32_t row = 0, died = 0;
  char name[16];
  open_relations();
  for (uint32_t i = 0; i < CHILDREN; i++) {
    bool frozen = i % 4 == 3, stays = !frozen && i % 7 == 0;
    ecs_id child = SPAWN(f.world, ecs_pair(child_of, stays ? f.b : f.c));
    if (frozen) CHECK_OK(f.world, ecs_add(f.world, child, f.frozen));
    snprintf(name, sizeof name, "n%u", (unsigned)i);
    if (i % 3 == 0) CHECK_OK(f.world, ecs_name(f.world, child, name));
    if (!frozen) rows[row++] = child;
    if (!stays) dying[died++] = child;
  }
  CHECK_OK(f.world, ecs_despawn(f.world, f.c));
  row = leave_in_turn(rows, row, dying, died);
  ecs_query *query = new_query(f.world, "Within");
  ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(query, &it));
  CHECK(ecs_iter_next(&it) && it.count == row);
  for (uint32_t i = 0; i < row; i++) CHECK(ecs_iter_entity(&it, i) == rows[i]);
  CHECK(!ecs_iter_next(&it));
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK(ecs_lookup(f.world, "n0") == rows[0] && ecs_lookup(f.world, "n3") == ECS_NULL);
  while (died) CHECK_INTEGER(ecs_id_index(dying[--died]), ecs_id_index(spawn_empty(f.world)));
  close_world(&f);
}

static void ties_nobody_who_is_dead(void) {
  open_relations();
  ecs_id dead = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, dead));
  ecs_id relations[] = {likes, rides, owes, docked};
  for (int deferred = 0; deferred < 2; deferred++) {
    if (deferred) CHECK_OK(f.world, ecs_defer(f.world));
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
      ecs_id pair = ecs_pair(relations[i], f.a);
      CHECK_FAILS(f.world, ECS_EDEAD, "is dead", ecs_add(f.world, dead, pair));
      CHECK_FAILS(f.world, ECS_EDEAD, "is dead", ecs_remove(f.world, dead, pair));
    }
    struct docked value = {f.a, 1};
    CHECK_FAILS(f.world, ECS_EDEAD, "is dead", ecs_set(f.world, dead, docked, &value));
    if (deferred) CHECK_OK(f.world, ecs_commit(f.world));
    CHECK_INTEGER(0, sources_of(f.a, docked));
    CHECK_SOUND(f.world);
  }
  close_world(&f);
}

static const struct test tests[] = {
  {"C72: an exclusive relation's target is replaced in one step, without a table",
   replaces_an_exclusive_target},
  {"C75: a pair is used like a component, with data of its own",
   keeps_pairs_as_components},
  {"tables and records of dead targets are reclaimed", forgets_tables_of_dead_targets},
  {"what ties to nobody is refused", refuses_what_is_no_tie},
  {"nobody who is dead is tied", ties_nobody_who_is_dead},
  {"nobody is spawned with a relation alone, or a pair of the dead",
   spawns_nobody_without_a_living_target},
  {"pairs with indices that nobody has are refused", refuses_pairs_with_indices_of_nobody},
  {"a component does not die with its target", never_ends_components},
  {"names of those who die are free at once", frees_names_of_the_dying},
  {"C29: chains and fans end at once, without recursion", ends_many_at_once},
  {"those who die together leave their tables as each alone would",
   leaves_rows_as_each_alone_would},
};

int main(void) { return RUN_TESTS(tests); }
