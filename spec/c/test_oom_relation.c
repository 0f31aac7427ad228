/* Reliability line 2: running out of memory while entities are tied, while ties end, and while
** what is tied is migrated, saved, loaded and restored. C18, C29. */
#include <string.h>

#include "core/ids/world.h"
#include "sweep.h"

struct owes { int32_t amount; };
struct docked { ecs_id target; double since; };

static ecs_id likes, owes, docked, child_of, rides;

static ecs_id declare_as(struct fixture *f, const char *name, const ecs_field *field,
                         bool exclusive, ecs_policy policy) {
  ecs_id id = ECS_NULL;
  ecs_component_desc desc = {.name = name, .fields = field, .field_count = field != NULL,
                             .exclusive = exclusive, .acyclic = exclusive && !field,
                             .on_target_despawn = policy};
  CHECK_OK(f->world, ecs_relation(f->world, &desc, &id));
  return id;
}

static const ecs_field amount = {.name = "amount", .type = ECS_I32};
static const ecs_field since = {.name = "since", .type = ECS_F64};

static void relations(struct fixture *f) {
  likes = declare_as(f, "Likes", NULL, false, ECS_TARGET_REMOVE);
  rides = declare_as(f, "Rides", NULL, true, ECS_TARGET_DESPAWN);
  owes = declare_as(f, "Owes", &amount, false, ECS_TARGET_REMOVE);
  docked = declare_as(f, "DockedTo", &since, true, ECS_TARGET_REMOVE);
  CHECK_OK(f->world, ecs_child_of(f->world, &child_of));
  for (int i = 0; i < 8; i++) f->ids[i] = SPAWN(f->world, f->position);
  f->query = new_query(f->world, "Position");
}

/* A tree of named children, whose members are tied to others in every way. */
static void tied(struct fixture *f) {
  relations(f);
  for (int i = 1; i < 8; i++) {
    ecs_id at = f->ids[i], up = f->ids[i / 2];
    if (i < 6) CHECK_OK(f->world, ecs_add(f->world, at, ecs_pair(child_of, up)));
    CHECK_OK(f->world, ecs_set(f->world, at, docked, &(struct docked){f->ids[7 - i], i}));
    CHECK_OK(f->world, ecs_set(f->world, at, ecs_pair(owes, up), &(struct owes){i}));
    CHECK_OK(f->world, ecs_add(f->world, at, ecs_pair(likes, up)));
  }
  CHECK_OK(f->world, ecs_add(f->world, f->ids[7], ecs_pair(likes, f->ids[2])));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[6], ecs_pair(rides, f->ids[5])));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[2], "part"));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[4], "part"));
}

/* ---- at once ---- */

static void plain(struct fixture *f) { f->query = new_query(f->world, "Position"); }

static ecs_status name_child_of(struct fixture *f) { return ecs_child_of(f->world, &child_of); }

static ecs_status tie_pair(struct fixture *f) {
  return ecs_add(f->world, f->ids[0], ecs_pair(likes, f->ids[7]));
}

static ecs_status set_pair(struct fixture *f) {
  return ecs_set(f->world, f->ids[0], ecs_pair(owes, f->ids[7]), &(struct owes){5});
}

static ecs_status tie(struct fixture *f) {
  return ecs_add(f->world, f->ids[0], ecs_pair(rides, f->ids[7]));
}

static ecs_status set_tie(struct fixture *f) {
  return ecs_set(f->world, f->ids[0], docked, &(struct docked){f->ids[6], 2});
}

static ecs_status retie(struct fixture *f) {
  return ecs_add(f->world, f->ids[4], ecs_pair(child_of, f->ids[6]));
}

static ecs_status untie(struct fixture *f) {
  return ecs_remove(f->world, f->ids[4], ecs_pair(child_of, f->ids[2]));
}

static ecs_status untie_pair(struct fixture *f) {
  return ecs_remove(f->world, f->ids[7], ecs_pair(likes, f->ids[2]));
}

static ecs_status untie_pairs(struct fixture *f) {
  return ecs_remove(f->world, f->ids[7], likes);
}

static ecs_status despawn_source(struct fixture *f) {
  return ecs_despawn(f->world, f->ids[6]);
}

/* Its children go, too; others stay, without their ties. */
static ecs_status despawn_target(struct fixture *f) {
  return ecs_despawn(f->world, f->ids[2]);
}

static ecs_status spawn_with_ties(struct fixture *f) {
  const ecs_id ids[] = {f->health, ecs_pair(docked, f->ids[0]), ecs_pair(child_of, f->ids[7]),
                        ecs_pair(likes, f->ids[0]), ecs_pair(owes, f->ids[1])};
  return ecs_spawn(f->world, ids, 5, &f->a);
}

static ecs_status spawn_many_with_ties(struct fixture *f) {
  const ecs_id ids[] = {ecs_pair(docked, f->ids[0]), ecs_pair(likes, f->ids[0])};
  return ecs_spawn_many(f->world, 700, ids, 2, NULL);
}

static ecs_status tie_all(struct fixture *f) {
  return ecs_query_add(f->query, ecs_pair(docked, f->frozen));
}

static ecs_status pair_all(struct fixture *f) {
  return ecs_query_add(f->query, ecs_pair(likes, f->frozen));
}

static ecs_status untie_all(struct fixture *f) { return ecs_query_remove(f->query, docked); }

static ecs_status despawn_all(struct fixture *f) { return ecs_query_despawn(f->query); }

/* A source whose index no page holds yet. */
static void far_away(struct fixture *f) {
  relations(f);
  CHECK_OK(f->world, ecs_spawn_many(f->world, 5000, &f->frozen, 1, NULL));
  f->ids[0] = spawn_empty(f->world);
  CHECK_OK(f->world, ecs_spawn_many(f->world, 5000, &f->frozen, 1, NULL));
  f->ids[6] = f->ids[7] = spawn_empty(f->world);
}

/* With its children, whose names the copies have. */
static ecs_status clone(struct fixture *f) {
  return ecs_clone(f->world, f->ids[1], &f->health, 1, &f->a);
}

/* ---- prefabs ---- */

static ecs_id prefab;

/* A prefab with a child, both of which have values, and one made of it. */
static ecs_status declare_prefab(struct fixture *f, double since_when) {
  const ecs_id ids[] = {f->health, f->frozen, ecs_pair(likes, f->ids[0])}, more[] = {f->position};
  const float at[2] = {(float)since_when, 1};
  const void *const values[] = {at};
  const ecs_prefab_desc list[] = {
      {.name = "Kind", .components = ids, .component_count = 3, .shared = &f->frozen,
       .shared_count = 1},
      {.name = "part", .components = more, .values = values, .component_count = 1},
      {.components = more, .values = values, .component_count = 1, .parent = 1}};
  return ecs_prefab(f->world, list, 3, &prefab);
}

static void with_prefabs(struct fixture *f) {
  tied(f);
  CHECK_OK(f->world, declare_prefab(f, 1));
  const ecs_prefab_desc other = {.name = "Other", .is_a = prefab};
  CHECK_OK(f->world, ecs_prefab(f->world, &other, 1, &f->b));
  for (int i = 0; i < 3; i++)
    CHECK_OK(f->world, ecs_instantiate(f->world, i ? prefab : f->b, NULL, 0, &f->c));
}

static ecs_status derive_prefab(struct fixture *f) {
  const ecs_prefab_desc list[] = {{.name = "Third", .is_a = prefab},
                                  {.name = "part", .components = &f->frozen, .component_count = 1},
                                  {.name = "new"}};
  return ecs_prefab(f->world, list, 3, &f->a);
}

static ecs_status declare_again(struct fixture *f) {
  const ecs_id ids[] = {f->position, f->frozen};
  const float at[2] = {7, 8};
  const void *const values[] = {at, NULL};
  const ecs_prefab_desc list[] = {
      {.name = "Kind", .components = ids, .values = values, .component_count = 2},
      {.name = "other part", .components = ids, .component_count = 2}};
  return ecs_prefab(f->world, list, 2, &prefab);
}

/* The children in another order, another one before them. */
static ecs_status reorder_prefab(struct fixture *f) {
  const ecs_id more[] = {f->position};
  const ecs_prefab_desc list[] = {
      {.name = "Kind"}, {.name = "first"}, {.components = more, .component_count = 1},
      {.name = "part", .components = more, .component_count = 1}, {.parent = 3}};
  return ecs_prefab(f->world, list, 5, &prefab);
}

static ecs_status instantiate(struct fixture *f) {
  return ecs_instantiate(f->world, f->b, &f->health, 1, &f->a);
}

/* ---- staged ---- */

static void staged(struct fixture *f) {
  tied(f);
  CHECK_OK(f->world, ecs_defer(f->world));
}

static ecs_status commit(struct fixture *f) { return ecs_commit(f->world); }

static ecs_status cancel(struct fixture *f) { return ecs_cancel(f->world); }

static void commit_it(struct fixture *f) { CHECK_OK(f->world, ecs_commit(f->world)); }

static void many_staged(struct fixture *f) {
  staged(f);
  CHECK_OK(f->world, set_tie(f));
  CHECK_OK(f->world, set_pair(f));
  CHECK_OK(f->world, clone(f));
  CHECK_OK(f->world, spawn_with_ties(f));
  CHECK_OK(f->world, ecs_add(f->world, f->a, ecs_pair(likes, f->ids[2])));
  CHECK_OK(f->world, ecs_add(f->world, f->a, ecs_pair(rides, f->ids[1])));
  CHECK_OK(f->world, untie(f));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[7], ecs_pair(child_of, f->ids[2])));
  CHECK_OK(f->world, despawn_target(f));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[3], ecs_pair(docked, f->ids[2])));
  CHECK_OK(f->world, ecs_remove(f->world, f->ids[1], likes));
  CHECK_OK(f->world, ecs_set(f->world, f->ids[3], docked, &(struct docked){ECS_NULL, 1}));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[7], "part"));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[1], "one"));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[6], "other"));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[6], NULL));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[6], "another"));
}

static ecs_status stage_name(struct fixture *f) {
  return ecs_name(f->world, f->ids[2], "somebody else");
}

/* ---- declarations ---- */

static ecs_status undeclare_relation(struct fixture *f) {
  return ecs_undeclare(f->world, docked);
}

static ecs_status undeclare_pairs(struct fixture *f) { return ecs_undeclare(f->world, owes); }

static ecs_status redeclare(struct fixture *f, const char *name, const ecs_field *field,
                            bool exclusive) {
  ecs_component_desc desc = {.name = name, .fields = field, .field_count = field != NULL,
                             .exclusive = exclusive};
  return ecs_relation(f->world, &desc, &f->c);
}

static ecs_status widen(struct fixture *f) {
  static const ecs_field wide = {.name = "amount", .type = ECS_F64};
  return redeclare(f, "Owes", &wide, false);
}

/* ---- images and snapshots ---- */

static void saved(struct fixture *f) {
  tied(f);
  CHECK_OK(f->world, save_image(f));
  CHECK_OK(f->world, despawn_target(f));
  CHECK_OK(f->world, tie_pair(f));
}

static void saved_before(struct fixture *f) {
  saved(f);
  CHECK_OK(f->world, widen(f));
  CHECK_OK(f->world, ecs_undeclare(f->world, docked));
}

/* The image has prefabs as they were before they changed, and lacks one. */
static void saved_with_prefabs(struct fixture *f) {
  with_prefabs(f);
  CHECK_OK(f->world, save_image(f));
  CHECK_OK(f->world, declare_again(f));
  CHECK_OK(f->world, derive_prefab(f));
}

static ecs_snapshot *taken;

static ecs_status take(struct fixture *f) { return ecs_snapshot_new(f->world, &taken); }

static void let_go(struct fixture *f) {
  (void)f;
  ecs_snapshot_free(taken);
}

static void taken_before(struct fixture *f) {
  tied(f);
  CHECK_OK(f->world, take(f));
  CHECK_OK(f->world, despawn_target(f));
  CHECK_OK(f->world, tie_pair(f));
  CHECK_OK(f->world, despawn_all(f));
  for (int i = 0; i < 3; i++) CHECK_OK(f->world, ecs_update(f->world, 0));
}

static ecs_status restore(struct fixture *f) {
  (void)f;
  return ecs_restore(taken);
}

/* ---- what ties require ---- */

static ecs_status require_health(struct fixture *f) {
  ecs_component_desc desc = {.name = "DockedTo", .fields = &since, .field_count = 1,
                             .exclusive = true, .required = &f->health, .required_count = 1};
  return ecs_relation(f->world, &desc, &docked);
}

/* Ties begin and end; what still requires it keeps it. */
static void stage_requirements(struct fixture *f) {
  tied(f);
  CHECK_OK(f->world, require_health(f));
  CHECK_OK(f->world, ecs_defer(f->world));
  for (int i = 1; i < 7; i++) {
    CHECK_OK(f->world, ecs_remove(f->world, f->ids[i], f->health));
    if (i % 2) CHECK_OK(f->world, ecs_remove(f->world, f->ids[i], docked));
  }
  CHECK_OK(f->world, ecs_add(f->world, f->ids[0], ecs_pair(docked, f->ids[1])));
}

static ecs_status commit_with_failure(struct fixture *f) {
  ecs_status status = ecs_commit(f->world);
  return status == ECS_EINVAL ? ECS_OK : status;
}

/* ---- other kinds ---- */

static ecs_status turn(struct fixture *f, const char *name, const ecs_field *field,
                       bool exclusive) {
  ecs_id id;
  ecs_component_desc desc = {.name = name, .fields = field, .field_count = field != NULL,
                             .exclusive = exclusive};
  return ecs_relation(f->world, &desc, &id);
}

/* With queries that are arranged anew. */
static void asked(struct fixture *f) {
  tied(f);
  ecs_query *queries[] = {new_query(f->world, "(DockedTo, *)"), new_query(f->world, "(Owes, *)"),
                          new_query(f->world, "Position, !(Owes, *), !(DockedTo, *)")};
  for (int i = 0; i < 3; i++) CHECK(queries[i] != NULL);
}

static ecs_status turn_to_several(struct fixture *f) {
  return turn(f, "DockedTo", &since, false);
}

static ecs_status turn_to_one(struct fixture *f) { return turn(f, "Owes", &amount, true); }

static ecs_status turn_tag(struct fixture *f) { return turn(f, "Frozen", NULL, false); }

static const struct operation operations[] = {
  {"several targets instead of one", asked, turn_to_several, NULL, ASKS},
  {"one target instead of several", asked, turn_to_one, NULL, ASKS},
  {"a tag that becomes a relation", asked, turn_tag, NULL, ASKS},
  {"requirements of ties that are there", tied, require_health, NULL, ASKS},
  {"commit of ties that require, of which some are dropped", stage_requirements,
   commit_with_failure, NULL, ASKS},
  {"the relation of hierarchies", plain, name_child_of, NULL, ASKS},
  {"the first pair", relations, tie_pair, NULL, ASKS},
  {"another pair", tied, tie_pair, NULL, ASKS},
  {"a pair with data", relations, set_pair, NULL, ASKS},
  {"the first tie", relations, tie, NULL, ASKS},
  {"a tie with data", relations, set_tie, NULL, ASKS},
  {"a tie of distant entities", far_away, tie, NULL, ASKS},
  {"a tie with data of distant entities", far_away, set_tie, NULL, ASKS},
  {"another target", tied, retie, NULL, ASKS_NOTHING},
  {"the end of a tie", tied, untie, NULL, ASKS},
  {"the end of a pair", tied, untie_pair, NULL, ASKS_NOTHING},
  {"the end of all pairs", tied, untie_pairs, NULL, ASKS_NOTHING},
  {"despawn of a source", tied, despawn_source, NULL, ASKS},
  {"C87: despawn of a target", tied, despawn_target, NULL, ASKS},
  {"spawn with ties", tied, spawn_with_ties, NULL, ASKS},
  {"spawn_many with ties", tied, spawn_many_with_ties, NULL, ASKS},
  {"ties of a whole query", tied, tie_all, NULL, ASKS},
  {"pairs of a whole query", tied, pair_all, NULL, ASKS},
  {"the end of ties of a whole query", tied, untie_all, NULL, ASKS},
  {"despawn of a whole query", tied, despawn_all, NULL, ASKS},
  {"a prefab made of another one", with_prefabs, derive_prefab, NULL, ASKS},
  {"a prefab declared again", with_prefabs, declare_again, NULL, ASKS},
  {"a prefab whose children come in another order", with_prefabs, reorder_prefab, NULL, ASKS},
  {"load of prefabs that have changed since", saved_with_prefabs, load_image, NULL, ASKS},
  {"what is made of a prefab", with_prefabs, instantiate, NULL, ASKS},
  {"a copy with children", tied, clone, NULL, ASKS},
  {"a staged copy with children", staged, clone, commit_it, ASKS},
  {"a staged name", staged, stage_name, commit_it, ASKS},
  {"a staged pair", staged, tie_pair, commit_it, ASKS},
  {"a staged tie", staged, set_tie, commit_it, ASKS},
  {"a staged end of a tie", staged, untie, commit_it, ASKS},
  {"a staged spawn with ties", staged, spawn_with_ties, commit_it, ASKS},
  {"a staged despawn of a target", staged, despawn_target, commit_it, ASKS},
  {"C86: commit of ties, names and despawns", many_staged, commit, NULL, ASKS},
  {"cancel of ties and despawns", many_staged, cancel, NULL, ASKS_NOTHING},
  {"undeclare of an exclusive relation", tied, undeclare_relation, NULL, ASKS},
  {"undeclare of a relation with pairs", tied, undeclare_pairs, NULL, ASKS},
  {"other fields of pairs", tied, widen, NULL, ASKS},
  {"save", tied, save_image, NULL, ASKS},
  {"load", saved, load_image, NULL, ASKS},
  {"load into a world that has moved on", saved_before, load_image, NULL, ASKS},
  {"snapshot", tied, take, let_go, ASKS},
  {"restore", taken_before, restore, let_go, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
