/* Copies of entities and prefabs, for hosts in C. C87. */
#include <string.h>

#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/storage/table.h"
#include "fixture.h"

static ecs_id tagged, stats, child_of;

static void declare_all(struct fixture *f) {
  static const ecs_field speed = {.name = "speed", .type = ECS_F64};
  CHECK_OK(f->world, ecs_tag(f->world, "Tagged", &tagged));
  CHECK_OK(f->world, ecs_component(f->world, &(ecs_component_desc){
      .name = "Stats", .fields = &speed, .field_count = 1}, &stats));
  CHECK_OK(f->world, ecs_child_of(f->world, &child_of));
}

static void open_prefabs(struct fixture *f) {
  open_usual(f);
  declare_all(f);
}

/* Orc: Stats, which is shared, and a tag; its axe. */
static ecs_status declare_orc(struct fixture *f, double speed, bool with_tag, ecs_id *out) {
  const ecs_id ids[] = {stats, tagged};
  const void *const values[] = {&speed, NULL};
  const ecs_prefab_desc list[] = {
      {.name = "Orc", .components = ids, .values = values, .component_count = 1u + with_tag,
       .shared = &stats, .shared_count = 1},
      {.name = "axe", .components = &tagged, .component_count = 1}};
  return ecs_prefab(f->world, list, 2, out);
}

static size_t count(struct fixture *f, const char *text) {
  size_t found = 0;
  CHECK_OK(f->world, ecs_count(f->world, text, &found));
  return found;
}

static double speed_of(struct fixture *f, ecs_id entity) {
  double speed = 0;
  CHECK_OK(f->world, ecs_get(f->world, entity, stats, &speed));
  return speed;
}

static void is_declared(void) {
  struct fixture f;
  open_prefabs(&f);
  ecs_id orc, again, one, axe;
  CHECK_OK(f.world, declare_orc(&f, 4, true, &orc));
  CHECK(orc == ecs_lookup(f.world, "Orc") && speed_of(&f, orc) == 4);
  CHECK_INTEGER(0, count(&f, "Tagged"));
  CHECK_OK(f.world, ecs_instantiate(f.world, orc, &f.position, 1, &one));
  CHECK(ecs_has(f.world, one, f.position) && ecs_has(f.world, one, tagged));
  CHECK(!ecs_has(f.world, one, stats));
  CHECK_INTEGER(1, ecs_children(f.world, one, &axe, 1));
  CHECK_INTEGER(2, count(&f, "Tagged"));
  CHECK_OK(f.world, declare_orc(&f, 6, false, &again));
  CHECK(again == orc && speed_of(&f, orc) == 6);
  CHECK(!ecs_has(f.world, orc, tagged) && ecs_has(f.world, one, tagged));
  CHECK_INTEGER(ECS_EINVAL, ecs_despawn(f.world, orc));
  CHECK_INTEGER(ECS_EINVAL, ecs_instantiate(f.world, one, NULL, 0, &again));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void is_derived(void) {
  struct fixture f;
  open_prefabs(&f);
  ecs_id base, derived, one;
  double slow = 1, quick = 2;
  const void *const first[] = {&slow}, *const second[] = {&quick};
  ecs_prefab_desc desc = {.name = "Base", .components = &stats, .values = first,
                          .component_count = 1};
  CHECK_OK(f.world, ecs_prefab(f.world, &desc, 1, &base));
  CHECK_OK(f.world, ecs_prefab(f.world, &(ecs_prefab_desc){.name = "Derived", .is_a = base}, 1,
                               &derived));
  CHECK_OK(f.world, ecs_instantiate(f.world, derived, NULL, 0, &one));
  CHECK(speed_of(&f, one) == 1);
  desc.values = second;
  CHECK_OK(f.world, ecs_prefab(f.world, &desc, 1, &base));
  CHECK(speed_of(&f, derived) == 2 && speed_of(&f, one) == 2);
  CHECK(prefab_is(f.world, ecs_id_index(derived)) && !prefab_is(f.world, ecs_id_index(one)));
  struct table *table = record_table(f.world, entity_find(&f.world->entities, derived));
  table->hidden = false;
  CHECK_INTEGER(ECS_ECORRUPT, ecs_check(f.world));
  table->hidden = true;
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void refuses_others(void) {
  struct fixture f;
  open_prefabs(&f);
  ecs_id out, entity = spawn_empty(f.world), pair = ecs_pair(child_of, entity);
  double speed = 1;
  const void *const values[] = {&speed};
  const ecs_prefab_desc bad[] = {
      {.name = ""}, {.name = "a.b"}, {.name = "New", .is_a = entity},
      {.name = "New", .components = &entity, .component_count = 1},
      {.name = "New", .components = &pair, .component_count = 1},
      {.name = "New", .components = &pair, .values = values, .component_count = 1},
      {.name = "New", .shared = &child_of, .shared_count = 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK_INTEGER(ECS_EINVAL, ecs_prefab(f.world, &bad[i], 1, &out));
    CHECK(ecs_message(f.world)[0] != 0 && ecs_lookup(f.world, "New") == ECS_NULL);
  }
  const ecs_prefab_desc upside[] = {{.name = "New"}, {.parent = 2}, {.parent = 0}};
  CHECK_INTEGER(ECS_EINVAL, ecs_prefab(f.world, upside, 3, &out));
  const ecs_prefab_desc twins[] = {{.name = "New"}, {.name = "a"}, {.name = "a"}};
  CHECK_INTEGER(ECS_EINVAL, ecs_prefab(f.world, twins, 3, &out));
  CHECK_INTEGER(ECS_EINVAL, ecs_prefab(f.world, NULL, 0, &out));
  CHECK_OK(f.world, ecs_name(f.world, entity, "taken"));
  CHECK_INTEGER(ECS_ETAKEN, ecs_prefab(f.world, &(ecs_prefab_desc){.name = "taken"}, 1, &out));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void is_cloned(void) {
  struct fixture f;
  open_prefabs(&f);
  ecs_id parent = SPAWN(f.world, f.position), child, copy;
  const ecs_id ids[] = {f.health, ecs_pair(child_of, parent)};
  CHECK_OK(f.world, ecs_spawn(f.world, ids, 2, &child));
  CHECK_OK(f.world, ecs_name(f.world, child, "child"));
  CHECK_OK(f.world, ecs_clone(f.world, parent, &tagged, 1, &copy));
  CHECK(ecs_has(f.world, copy, f.position) && ecs_has(f.world, copy, tagged));
  CHECK_INTEGER(1, ecs_children(f.world, copy, &child, 1));
  CHECK(strcmp(ecs_name_of(f.world, child), "child") == 0 && ecs_has(f.world, child, f.health));
  CHECK_OK(f.world, ecs_despawn(f.world, copy));
  CHECK_INTEGER(ECS_EDEAD, ecs_clone(f.world, copy, NULL, 0, &child));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static const struct test tests[] = {
  {"C87: a prefab is copied, and changes what is made of it", is_declared},
  {"C87: a prefab may be made of another one", is_derived},
  {"refuses what is no prefab", refuses_others},
  {"C87: an entity is copied with its children", is_cloned},
};

int main(void) { return RUN_TESTS(tests); }
