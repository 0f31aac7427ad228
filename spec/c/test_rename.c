/* Components that are called otherwise than they were, for hosts in C. */
#include "core/ids/world.h"
#include "fixture.h"

static struct fixture f;

/* Whether a refused call left everything as it was. */
static uint64_t before;

static void remember(void) { before = world_digest(f.world); }

static void is_as_it_was(void) {
  CHECK(world_digest(f.world) == before);
  CHECK_SOUND(f.world);
}

static ecs_status declare_was(const char *name, const char *old_name, ecs_type type, ecs_id *id) {
  ecs_field fields[] = {{.name = "x", .type = type}, {.name = "y", .type = ECS_F32}};
  return ecs_component(f.world, &(ecs_component_desc){.name = name, .old_name = old_name,
                                                      .fields = fields, .field_count = 2}, id);
}

static void renames_components(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.frozen);
  set_position(&f, f.a, 3, 4);
  ecs_query *query = new_query(f.world, "Position.y, Frozen");
  ecs_id id;
  CHECK_OK(f.world, declare_was("Place", "Position", ECS_F32, &id));
  CHECK(id == f.position && get_position(&f, f.a).x == 3);
  CHECK(ecs_component_find(f.world, "Place") == id);
  CHECK(ecs_component_find(f.world, "Position") == ECS_NULL);
  CHECK_TEXT("Place", ecs_component_name(f.world, id));
  CHECK_INTEGER(1, ecs_query_count(query));
  CHECK_FAILS(f.world, ECS_ENAME, "'Position': its name is now 'Place'",
              ecs_query_new(f.world, "Position", &f.query));
  CHECK_OK(f.world, declare_was("Spot", "Place", ECS_F64, &id));
  CHECK(id == f.position && *(double *)ecs_cell_of(f.world, f.a, id, 0) == 3);
  CHECK_OK(f.world, declare_was("Spot", "Place", ECS_F64, &id));
  CHECK_OK(f.world, declare_was("Place", "Spot", ECS_F32, &id));
  CHECK(id == f.position && get_position(&f, f.a).x == 3);
  CHECK_OK(f.world, ecs_component(f.world, &(ecs_component_desc){.name = "Cold",
                                                                 .old_name = "Frozen"}, &id));
  CHECK(id == f.frozen && count_of(f.world, "Cold") == 1);
  CHECK_OK(f.world, ecs_tag(f.world, "Cold", &id));
  CHECK_SOUND(f.world);
  CHECK_OK(f.world, ecs_undeclare(f.world, f.position));
  CHECK_OK(f.world, declare_was("Position", NULL, ECS_F32, &id));
  close_world(&f);
}

static void undoes_renames(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  set_position(&f, f.a, 0.5f, 4);
  remember();
  ecs_id id;
  CHECK_FAILS(f.world, ECS_ERANGE, "cannot migrate 'Place'",
              declare_was("Place", "Position", ECS_I32, &id));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_STATUS(f.world, ECS_EBUSY, declare_was("Place", "Position", ECS_F32, &id));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK(ecs_component_find(f.world, "Position") == f.position);
  CHECK(ecs_component_find(f.world, "Place") == ECS_NULL);
  CHECK_INTEGER(0, f.world->registry.renaming);
  is_as_it_was();
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, declare_was("Position", "Spot", ECS_F32, &id));
  CHECK_OK(f.world, ecs_commit(f.world));
  is_as_it_was();
  close_world(&f);
}

static void refuses_names(void) {
  open_usual(&f);
  ecs_id id;
  remember();
  CHECK_FAILS(f.world, ECS_ETAKEN, "'Velocity' cannot take over 'Position', since both are "
                                   "declared",
              declare_was("Velocity", "Position", ECS_F32, &id));
  CHECK_FAILS(f.world, ECS_EINVAL, "is its name now", declare_was("A", "A", ECS_F32, &id));
  CHECK_FAILS(f.world, ECS_EINVAL, "not a name for a component",
              declare_was("A", "a b", ECS_F32, &id));
  is_as_it_was();
  CHECK_OK(f.world, declare_was("Place", "Position", ECS_F32, &id));
  remember();
  CHECK_FAILS(f.world, ECS_ETAKEN, "'Position' is the former name of component 'Place'",
              ecs_tag(f.world, "Position", &id));
  CHECK_FAILS(f.world, ECS_ETAKEN, "both 'Place' and 'Spot' give 'Position' as their former name",
              declare_was("Spot", "Position", ECS_F32, &id));
  is_as_it_was();
  CHECK_OK(f.world, declare_was("Place", NULL, ECS_F32, &id));
  CHECK_OK(f.world, declare_was("Position", NULL, ECS_F32, &id));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static const struct test tests[] = {
  {"a component is called otherwise from then on, and keeps all else", renames_components},
  {"a rename that fails is none", undoes_renames},
  {"names that two would have are refused", refuses_names},
};

int main(void) { return RUN_TESTS(tests); }
