/* Arrays, for hosts in C. C51. */
#include <string.h>

#include "core/ids/world.h"
#include "core/storage/cells.h"
#include "core/storage/registry.h"
#include "fixture.h"

static ecs_id declare_array(struct fixture *f, const char *name, ecs_type type, uint32_t length) {
  ecs_id id = ECS_NULL;
  CHECK_OK(f->world, ecs_array(f->world, name, type, length, &id));
  return id;
}

static void is_a_column(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id grid = declare_array(&f, "grid", ECS_I32, 1000), same;
  size_t length;
  int32_t *cells = ecs_array_data(f.world, grid, &length);
  CHECK(cells && length == 1000);
  for (size_t i = 0; i < length; i++) CHECK_INTEGER(0, cells[i]);
  cells[999] = 5;
  same = declare_array(&f, "grid", ECS_I32, 1000);
  CHECK(same == grid && ecs_component_find(f.world, "grid") == grid);
  cells = ecs_array_data(f.world, grid, &length);
  CHECK_INTEGER(5, cells[999]);
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void is_no_component(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id grid = declare_array(&f, "grid", ECS_I32, 4), e = spawn_empty(f.world);
  size_t length = 9;
  int32_t value = 0;
  CHECK(ecs_add(f.world, e, grid) == ECS_EINVAL);
  CHECK(ecs_set(f.world, e, grid, &value) == ECS_EINVAL);
  CHECK(ecs_resource(f.world, grid) == ECS_EINVAL);
  CHECK(ecs_resource_get(f.world, grid, &value) == ECS_EINVAL);
  CHECK(ecs_spawn(f.world, &grid, 1, &e) == ECS_EINVAL);
  CHECK(ecs_query_new(f.world, "grid", &f.query) == ECS_EINVAL);
  CHECK_TEXT("'grid' is an array, not a component: use world:array", ecs_message(f.world));
  CHECK(ecs_array_data(f.world, f.position, &length) == NULL && length == 0);
  CHECK_TEXT("'Position' is a component, not an array", ecs_message(f.world));
  CHECK(ecs_array_data(f.world, e, &length) == NULL);
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void refuses_other_types(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id id;
  const ecs_type types[] = {ECS_STRING, ECS_ANY, ECS_ENUM, ECS_NESTED, (ecs_type)99};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    CHECK(ecs_array(f.world, "grid", types[i], 4, &id) == ECS_EINVAL);
  CHECK(ecs_array(f.world, "grid", ECS_I8, 0, &id) == ECS_ELIMIT);
  CHECK(ecs_array(f.world, "grid", ECS_I8, ARRAY_LENGTH_LIMIT + 1, &id) == ECS_ELIMIT);
  CHECK(ecs_array(f.world, "no name", ECS_I8, 4, &id) == ECS_EINVAL);
  CHECK(ecs_array(f.world, NULL, ECS_I8, 4, &id) == ECS_EINVAL);
  CHECK(ecs_array(f.world, "Position", ECS_I8, 4, &id) == ECS_EINVAL);
  ecs_field field = {.name = ARRAY_FIELD, .type = ECS_I8};
  ecs_component_desc desc = {.name = "grid", .fields = &field, .field_count = 1, .length = 4};
  desc.toggle = true;
  CHECK(ecs_component(f.world, &desc, &id) == ECS_EINVAL);
  desc.toggle = false;
  desc.sparse = true;
  CHECK(ecs_component(f.world, &desc, &id) == ECS_EINVAL);
  desc.sparse = false;
  desc.required = &f.position;
  desc.required_count = 1;
  CHECK(ecs_component(f.world, &desc, &id) == ECS_EINVAL);
  desc.required_count = 0;
  CHECK_OK(f.world, ecs_component(f.world, &desc, &id));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void keeps_values_by_index(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id grid = declare_array(&f, "grid", ECS_U8, 3), other;
  size_t length;
  memcpy(ecs_array_data(f.world, grid, &length), (uint8_t[]){1, 2, 200}, 3);
  CHECK(ecs_array(f.world, "grid", ECS_I8, 3, &other) == ECS_ERANGE);
  CHECK_TEXT("cannot migrate 'grid': element 3 is 200, which is not of type i8",
             ecs_message(f.world));
  CHECK(declare_array(&f, "grid", ECS_F64, 5) == grid);
  const double *cells = ecs_array_data(f.world, grid, &length);
  CHECK(length == 5 && cells[0] == 1 && cells[2] == 200 && cells[3] == 0 && cells[4] == 0);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK(ecs_array(f.world, "grid", ECS_F64, 6, &other) == ECS_EBUSY);
  CHECK_OK(f.world, ecs_array(f.world, "grid", ECS_F64, 5, &other));
  CHECK_OK(f.world, ecs_cancel(f.world));
  CHECK_SOUND(f.world);
  CHECK_OK(f.world, ecs_undeclare(f.world, grid));
  CHECK(ecs_array_data(f.world, grid, &length) == NULL);
  close_world(&f);
}

static bool count_cells(const struct cells *cells, void *ud) {
  *(uint32_t *)ud += cells->count;
  return true;
}

/* All ids in an array are found by who looks for those that will be given out again. */
static void is_walked(void) {
  struct fixture f;
  open_usual(&f);
  declare_array(&f, "ids", ECS_ENTITY, 77);
  uint32_t count = 0;
  CHECK(cells_each(f.world, ECS_ENTITY, CELLS_STORED, count_cells, &count));
  CHECK_INTEGER(77, count);
  ecs_snapshot *snapshot;
  CHECK_OK(f.world, ecs_snapshot_new(f.world, &snapshot));
  CHECK(cells_each(f.world, ECS_ENTITY, CELLS_KEPT, count_cells, &count));
  CHECK_INTEGER(154, count);
  ecs_snapshot_free(snapshot);
  close_world(&f);
}

static void is_checked(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id truths = declare_array(&f, "truths", ECS_BOOL, 70);
  size_t length;
  uint8_t *cells = ecs_array_data(f.world, truths, &length);
  cells[69] = 2;
  CHECK(ecs_check(f.world) == ECS_ECORRUPT);
  cells[69] = 1;
  CHECK_SOUND(f.world);
  close_world(&f);
}

static const struct test tests[] = {
  {"is a column of the world's", is_a_column},
  {"is not a component", is_no_component},
  {"has cells of some types, and no options", refuses_other_types},
  {"keeps its values by index when it is declared otherwise", keeps_values_by_index},
  {"has its ids seen by those who walk all ids", is_walked},
  {"is checked", is_checked},
};

int main(void) { return RUN_TESTS(tests); }
