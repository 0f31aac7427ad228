/* Slots of any values, which only a binding uses: who has a slot, and when it is let go.
** Reliability line 11 in the core. C17, C58. */
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "fixture.h"

static struct fixture f;
static struct any_owner owner;
static struct component *bag;   /* value: any, n: i32, also: any */

static void open_bags(void) {
  open_usual(&f);
  owner = (struct any_owner){0};
  ecs_field fields[] = {{.name = "value", .type = ECS_ANY}, {.name = "n", .type = ECS_I32},
                        {.name = "also", .type = ECS_ANY}};
  bag = component_of(f.world, DECLARE(f.world, "Bag", fields));
}

static struct write slot_write(uint32_t leaf) {
  struct write write = {leaf, {.u64 = 0}};
  CHECK(any_take(&f.world->any, &f.world->memory, &owner, &write.cell.u32) == ECS_OK);
  return write;
}

static ecs_id spawn_bag(uint32_t *slot) {
  struct write writes[] = {slot_write(0), {1, {.i32 = 7}}};
  struct part part = {bag, ECS_NULL, 2, writes, 0};
  ecs_id id = ECS_NULL;
  *slot = writes[0].cell.u32;
  CHECK_OK(f.world, entity_spawn(f.world, &part, 1, &id));
  return id;
}

static uint32_t slot_of(ecs_id id) {
  return *(uint32_t *)ecs_cell_of(f.world, id, bag->id, 0);
}

/* How many slots wait for the binding to forget their values; none afterwards. */
static int released(void) {
  int count = 0;
  while (any_next_released(&f.world->any, &owner)) count++;
  return count;
}

static void set_bag(ecs_id id) {
  struct write write = slot_write(0);
  CHECK_OK(f.world, entity_set(f.world, id, bag, &write, 1));
}

static void slots_follow_rows(void) {
  open_bags();
  uint32_t slots[5];
  for (int i = 0; i < 5; i++) f.ids[i] = spawn_bag(&slots[i]);
  CHECK_INTEGER(5, f.world->any.used);
  CHECK_OK(f.world, ecs_despawn(f.world, f.ids[1]));
  CHECK(any_next_released(&f.world->any, &owner) == slots[1]);
  CHECK_INTEGER(slots[4], slot_of(f.ids[4]));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[0], f.enemy));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[4], f.position));
  CHECK_INTEGER(0, released());
  CHECK_INTEGER(slots[0], slot_of(f.ids[0]));
  CHECK_INTEGER(slots[4], slot_of(f.ids[4]));
  CHECK_OK(f.world, ecs_remove(f.world, f.ids[4], bag->id));
  CHECK_INTEGER(1, released());
  set_bag(f.ids[0]);
  CHECK(any_next_released(&f.world->any, &owner) == slots[0]);
  CHECK_INTEGER(3, f.world->any.used);
  CHECK_OK(f.world, ecs_set(f.world, f.ids[0], bag->id, &(uint32_t[3]){0, 5, 0}));
  CHECK_INTEGER(1, released());
  CHECK_OK(f.world, ecs_query_despawn(new_query(f.world, "Bag")));
  CHECK_INTEGER(2, released());
  CHECK_INTEGER(0, f.world->any.used);
  close_world(&f);
}

static void slots_of_what_goes_at_once(void) {
  open_bags();
  uint32_t slot;
  for (int i = 0; i < 3; i++) spawn_bag(&slot);
  CHECK_OK(f.world, ecs_query_remove(new_query(f.world, "Bag"), bag->id));
  CHECK_INTEGER(3, released());
  for (int i = 0; i < 3; i++) spawn_bag(&slot);
  CHECK_OK(f.world, resource_new(f.world, bag));
  struct write write = slot_write(2);
  resource_write(f.world, bag, &write, 1);
  write = slot_write(2);
  resource_write(f.world, bag, &write, 1);
  CHECK_INTEGER(1, released());
  CHECK_OK(f.world, ecs_undeclare(f.world, bag->id));
  CHECK_INTEGER(4, released());
  CHECK_INTEGER(0, f.world->any.used);
  close_world(&f);
}

/* Slots of commands go when these are dropped, overwritten, or have nowhere to go. */
static void slots_of_commands(void) {
  open_bags();
  uint32_t slot;
  f.a = spawn_empty(f.world);
  f.b = spawn_bag(&slot);
  CHECK_OK(f.world, ecs_defer(f.world));
  set_bag(f.a);
  set_bag(f.a);
  spawn_bag(&slot);
  CHECK_OK(f.world, ecs_cancel(f.world));
  CHECK_INTEGER(3, released());
  CHECK_OK(f.world, ecs_defer(f.world));
  set_bag(f.a);
  set_bag(f.a);
  CHECK_OK(f.world, ecs_remove(f.world, f.b, bag->id));
  set_bag(f.b);
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_INTEGER(2, released());
  CHECK_INTEGER(2, f.world->any.used);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_remove(f.world, f.a, bag->id));
  set_bag(f.a);
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_OK(f.world, ecs_remove(f.world, f.b, bag->id));
  set_bag(f.b);
  CHECK_OK(f.world, ecs_remove(f.world, f.b, bag->id));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_INTEGER(4, released());
  CHECK_INTEGER(0, f.world->any.used);
  close_world(&f);
}

/* A slot waits for its own owner, whoever has released it. */
static void slots_have_owners(void) {
  open_bags();
  struct any_owner other = {0};
  struct any_slots *any = &f.world->any;
  uint32_t first, second;
  f.a = spawn_bag(&first);
  CHECK(any_take(any, &f.world->memory, &other, &second) == ECS_OK);
  CHECK(any_is_of(any, first, &owner) && !any_is_of(any, first, &other));
  CHECK(any_is_of(any, second, &other) && !any_is_of(any, second, &owner));
  CHECK(!any_is_of(any, 0, &owner) && !any_is_of(any, 0, NULL));
  struct write write = {0, {.u32 = second}};
  CHECK_OK(f.world, entity_set(f.world, f.a, bag, &write, 1));
  CHECK_INTEGER(0, any_next_released(any, &other));
  CHECK_INTEGER(first, any_next_released(any, &owner));
  CHECK_SOUND(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_INTEGER(0, released());
  CHECK(any_take(any, &f.world->memory, &owner, &first) == ECS_OK && first != second);
  CHECK_INTEGER(second, any_next_released(any, &other));
  CHECK_INTEGER(1, any->used);
  close_world(&f);
}

/* ---- spawning with values ---- */

static void later_parts_win(void) {
  open_bags();
  struct write first[] = {slot_write(0), {1, {.i32 = 1}}}, second[] = {slot_write(0)};
  struct write place[] = {{1, {.f32 = 4}}};
  struct part parts[] = {{bag, ECS_NULL, 2, first, 0},
                         {component_of(f.world, f.position), ECS_NULL, 1, place, 0},
                         {bag, ECS_NULL, 1, second, 0}};
  CHECK_OK(f.world, entity_spawn(f.world, parts, 3, &f.a));
  CHECK(any_next_released(&f.world->any, &owner) == first[0].cell.u32);
  CHECK_INTEGER(second[0].cell.u32, slot_of(f.a));
  CHECK_INTEGER(1, *(int32_t *)ecs_cell_of(f.world, f.a, bag->id, 1));
  CHECK(get_position(&f, f.a).x == 0 && get_position(&f, f.a).y == 4);
  ecs_id far = id_make(99999, 5, 1);
  CHECK_OK(f.world, entity_spawn_at(f.world, far, &parts[1], 1));
  CHECK(get_position(&f, far).y == 4);
  close_world(&f);
}
static const struct test tests[] = {
  {"C17: a slot stays with its entity, the swapped one too", slots_follow_rows},
  {"slots go with tables, components and resources", slots_of_what_goes_at_once},
  {"slots of commands go when they are dropped or overwritten", slots_of_commands},
  {"a slot is its owner's until that has let go of it", slots_have_owners},
  {"C58: an entity is spawned with values, later ones win", later_parts_win},
};

int main(void) { return RUN_TESTS(tests); }
