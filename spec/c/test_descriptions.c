/* What hosts leave out of descriptions: a default, or an error that says so. */
#include <string.h>

#include "fixture.h"

static struct fixture f;

static void try_default_world(const ecs_world_desc *desc) {
  ecs_world *world = NULL;
  ecs_id id = ECS_NULL, tag = ECS_NULL;
  CHECK_INTEGER(ECS_OK, ecs_world_new(desc, &world));
  if (!CHECK(world != NULL)) return;
  CHECK_INTEGER(1, ecs_world_tag(world));
  CHECK(ecs_bytes(world) > 0);
  CHECK_OK(world, ecs_tag(world, "Tag", &tag));
  CHECK_OK(world, ecs_spawn_many(world, 10000, &tag, 1, NULL));
  CHECK_OK(world, ecs_spawn(world, &tag, 1, &id));
  CHECK_INTEGER(1, ecs_id_tag(id));
  CHECK_SOUND(world);
  ecs_world_free(world);
}

static void default_worlds(void) {
  ecs_world_desc zeros;
  memset(&zeros, 0, sizeof zeros);
  try_default_world(NULL);
  try_default_world(&zeros);
}

static void refused_worlds(void) {
  static const ecs_jobs jobs;
  const ecs_world_desc senseless[] = {{.tag = 256}, {.threads = 65}, {.jobs = &jobs}};
  for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
    ecs_world *world = (ecs_world *)&f;
    CHECK_INTEGER(ECS_EINVAL, ecs_world_new(&senseless[i], &world));
    CHECK(world == NULL);
  }
}

static void empty_components(void) {
  open_world(&f);
  ecs_component_desc desc;
  memset(&desc, 0, sizeof desc);
  ecs_id id;
  const char *words = "'' is not a name for a";
  CHECK_FAILS(f.world, ECS_EINVAL, words, ecs_component(f.world, &desc, &id));
  CHECK_FAILS(f.world, ECS_EINVAL, words, ecs_relation(f.world, &desc, &id));
  CHECK_FAILS(f.world, ECS_EINVAL, words, ecs_event(f.world, &desc, &id));
  CHECK_FAILS(f.world, ECS_ELIMIT, "the length must be 1 to 16777216",
              ecs_array(f.world, NULL, ECS_F32, 0, &id));
  close_world(&f);
}

static void empty_parts_of_components(void) {
  open_world(&f);
  static const ecs_rename renames[] = {{NULL, NULL}, {"x", NULL}, {NULL, "y"}};
  static const char *const names[] = {"one", NULL};
  const ecs_id null = ECS_NULL;
  ecs_field field = {.name = "x", .type = ECS_F32};
  ecs_id id;
  for (size_t i = 0; i < sizeof renames / sizeof *renames; i++) {
    const ecs_component_desc renamed = {
      .name = "A", .fields = &field, .field_count = 1, .was = &renames[i], .was_count = 1};
    CHECK_FAILS(f.world, ECS_EINVAL, "component 'A': a renamed field needs its name",
                ecs_component(f.world, &renamed, &id));
  }
  const ecs_component_desc requiring = {.name = "A", .required = &null, .required_count = 1};
  CHECK_FAILS(f.world, ECS_ENOID, "0 is not an entity id", ecs_component(f.world, &requiring, &id));
  const ecs_component_desc plain = {.name = "A", .fields = &field, .field_count = 1};
  field.type = ECS_ENUM;
  field.names = names;
  field.name_count = 2;
  CHECK_FAILS(f.world, ECS_EINVAL, "enum field 'A.x': name 2 is NULL",
              ecs_component(f.world, &plain, &id));
  field.name = NULL;
  CHECK_FAILS(f.world, ECS_EINVAL, "is not a name for a field",
              ecs_component(f.world, &plain, &id));
  close_world(&f);
}

static void empty_systems(void) {
  open_world(&f);
  ecs_phase_desc phase;
  ecs_system_desc system;
  ecs_observer_desc observer;
  memset(&phase, 0, sizeof phase);
  memset(&system, 0, sizeof system);
  memset(&observer, 0, sizeof observer);
  CHECK_FAILS(f.world, ECS_EINVAL, "a phase needs a name", ecs_phase(f.world, &phase));
  CHECK_FAILS(f.world, ECS_EINVAL, "a system needs a name", ecs_system_new(f.world, &system));
  system.name = "s";
  CHECK_FAILS(f.world, ECS_EINVAL, "has no function to", ecs_system_new(f.world, &system));
  CHECK_FAILS(f.world, ECS_EINVAL, "an observer needs a name",
              ecs_observer_new(f.world, &observer));
  observer.name = "o";
  CHECK_FAILS(f.world, ECS_EINVAL, "has no function to", ecs_observer_new(f.world, &observer));
  close_world(&f);
}

static void empty_queries(void) {
  open_usual(&f);
  static const ecs_variable variable;
  ecs_index_desc index;
  memset(&index, 0, sizeof index);
  ecs_query *query = NULL;
  ecs_index *made = NULL;
  size_t count;
  CHECK_FAILS(f.world, ECS_EINVAL, "a query needs a text", ecs_query_new(f.world, NULL, &query));
  CHECK_FAILS(f.world, ECS_EINVAL, "a query needs a text",
              ecs_query_with(f.world, NULL, NULL, 0, &query));
  CHECK_FAILS(f.world, ECS_EINVAL, "a query needs a text", ecs_count(f.world, NULL, &count));
  CHECK_FAILS(f.world, ECS_EINVAL, "a variable needs a name",
              ecs_query_with(f.world, "Health($x)", &variable, 1, &query));
  CHECK_FAILS(f.world, ECS_EINVAL, "the name of an index", ecs_index_new(f.world, &index, &made));
  index.name = "i";
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a query", ecs_index_new(f.world, &index, &made));
  index.query = "Health";
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a key", ecs_index_new(f.world, &index, &made));
  close_world(&f);
}

static void empty_prefabs(void) {
  open_world(&f);
  ecs_prefab_desc prefab;
  memset(&prefab, 0, sizeof prefab);
  ecs_id id;
  CHECK_FAILS(f.world, ECS_EINVAL, "needs a list of itself", ecs_prefab(f.world, NULL, 0, &id));
  CHECK_FAILS(f.world, ECS_EINVAL, "a prefab needs a name", ecs_prefab(f.world, &prefab, 1, &id));
  close_world(&f);
}

static void no_names(void) {
  open_usual(&f);
  ecs_world *world = f.world;
  ecs_id id = ECS_NULL;
  uint32_t leaf;
  double alpha;
  CHECK_FAILS(world, ECS_EINVAL, "'' is not a name for a component", ecs_tag(world, NULL, &id));
  CHECK_FAILS(world, ECS_EINVAL, "'' is not a name for an array",
              ecs_array(world, NULL, ECS_F32, 1, &id));
  CHECK_FAILS(world, ECS_ENAME, "component ''", ecs_leaf(world, NULL, &id, &leaf));
  CHECK(!ecs_cell_named(world, ECS_NULL, NULL));
  CHECK(strstr(ecs_message(world), "component ''") != NULL);
  CHECK(!ecs_component_find(world, NULL) && !ecs_lookup(world, NULL));
  CHECK_OK(world, ecs_spawn(world, NULL, 0, &id));
  CHECK_OK(world, ecs_name(world, id, "e"));
  CHECK_OK(world, ecs_name(world, id, NULL));
  CHECK(!ecs_name_of(world, id));
  CHECK(!ecs_index_find(world, NULL));
  CHECK_FAILS(world, ECS_ENAME, "there is no index ''", ecs_index_drop(world, NULL));
  CHECK_FAILS(world, ECS_ENAME, "there is no system ''", ecs_system_remove(world, NULL));
  CHECK_FAILS(world, ECS_ENAME, "there is no system or phase ''", ecs_switch(world, NULL, true));
  CHECK_FAILS(world, ECS_ENAME, "there is no system or phase ''", ecs_run(world, NULL, 0));
  CHECK_FAILS(world, ECS_EINVAL, "no phase is fixed", ecs_alpha(world, NULL, &alpha));
  close_world(&f);
}

static const struct test tests[] = {
  {"a world that nothing is said of has tag 1, and its memory is malloc's", default_worlds},
  {"a world that makes no sense is refused, and there is none", refused_worlds},
  {"components without a name are refused in words", empty_components},
  {"renames, enums and requirements without names are refused in words",
   empty_parts_of_components},
  {"phases, systems and observers without a name or function are refused in words",
   empty_systems},
  {"queries, variables and indexes without a text or name are refused in words", empty_queries},
  {"names that are NULL are those of nothing", no_names},
  {"prefabs without a list or a name are refused in words", empty_prefabs},
};

int main(void) { return RUN_TESTS(tests); }
