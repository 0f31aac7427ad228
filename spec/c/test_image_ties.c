/* Ties, pairs and sparse components in images: kept, and refused when they are forged. */
#include <string.h>

#include "core/storage/component.h"
#include "image_fixture.h"

static ecs_id likes, eats, rides, docked;

/* In f: a likes b and c, and rides b; b rides c and is docked to a. */
static void open_tied(void) {
  open_usual(&f);
  likes = declare_relation(f.world, (ecs_component_desc){.name = "Likes"});
  eats = declare_relation(f.world, (ecs_component_desc){.name = "Eats"});
  rides = declare_relation(f.world, (ecs_component_desc){
      .name = "Rides", .exclusive = true, .acyclic = true});
  docked = declare_relation(f.world, (ecs_component_desc){.name = "Docked", .exclusive = true});
  f.a = spawn_empty(f.world);
  f.b = spawn_empty(f.world);
  f.c = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, spawn_empty(f.world)));
  CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(likes, f.b)));
  CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(likes, f.c)));
  CHECK_OK(f.world, ecs_add(f.world, f.a, ecs_pair(rides, f.b)));
  CHECK_OK(f.world, ecs_add(f.world, f.b, ecs_pair(rides, f.c)));
  CHECK_OK(f.world, ecs_add(f.world, f.b, ecs_pair(docked, f.a)));
  CHECK_OK(f.world, save(&f, &image));
  open_target();
}

/* The place of a component that is made of no other one. */
static uint32_t place_of(ecs_id id) {
  uint32_t place = 0;
  const struct registry *registry = &f.world->registry;
  for (uint32_t i = 0; i < registry->count; i++)
    place += registry->components[i] &&
             strcmp(registry->components[i]->name, component_of(f.world, id)->name) < 0;
  return place;
}

static void put_numbers(const uint32_t *numbers, size_t count, unsigned char *to) {
  for (size_t i = 0; i < 4 * count; i++)
    to[i] = (unsigned char)(numbers[i / 4] >> (8 * (i % 4)));
}

/* Where the last such numbers stand in the image. */
static size_t find_numbers(const uint32_t *numbers, size_t count) {
  unsigned char bytes[64];
  put_numbers(numbers, count, bytes);
  size_t at = image.size - 4 * count;
  while (at > 0 && memcmp(image.data + at, bytes, 4 * count) != 0) at--;
  CHECK(at > 0);
  return at;
}

/* The image with other numbers in the place of some, and a right checksum. */
static void forge(const uint32_t *from, size_t count, const uint32_t *to, size_t more) {
  size_t at = find_numbers(from, count), end = at + 4 * count;
  memcpy(broken.data, image.data, at);
  put_numbers(to, more, broken.data + at);
  memcpy(broken.data + at + 4 * more, image.data + end, image.size - end);
  broken.size = image.size + 4 * more - 4 * count;
  broken.fail_at = 0;
  seal(&broken);
}

#define NUMBERS(...) (const uint32_t[]){__VA_ARGS__}, \
                     sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

static uint32_t index_of(ecs_id id) { return ecs_id_index(id); }

static void keeps_ties(void) {
  static struct bytes again;
  open_tied();
  CHECK_OK(g.world, load(&g, &image));
  CHECK_SOUND(g.world);
  CHECK(ecs_digest(g.world) == ecs_digest(f.world));
  rides = ecs_component_find(g.world, "Rides");
  likes = ecs_component_find(g.world, "Likes");
  CHECK(ecs_target(g.world, f.a, rides) == f.b && ecs_target(g.world, f.b, rides) == f.c);
  CHECK(ecs_has(g.world, f.a, ecs_pair(likes, f.b)) && ecs_has(g.world, f.a, ecs_pair(likes, f.c)));
  CHECK_FAILS(g.world, ECS_ECYCLE, "cycle", ecs_add(g.world, f.c, ecs_pair(rides, f.a)));
  CHECK_OK(f.world, load(&f, &image));
  CHECK_OK(f.world, save(&f, &again));
  CHECK(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
  close_both();
}

static void refuses_forged_lists_of_ties(void) {
  open_tied();
  uint32_t a = index_of(f.a), b = index_of(f.b), c = index_of(f.c);
  forge(NUMBERS(2, a, b), NUMBERS(2, a, a));
  is_refused("a tie has no source");
  forge(NUMBERS(2, a, b), NUMBERS(2, a, c));
  is_refused("a tie has no source");
  forge(NUMBERS(2, a, b), NUMBERS(2, a, c + 1));
  is_refused("a tie has no source");
  forge(NUMBERS(2, a, b), NUMBERS(2, a, 0));
  is_refused("a tie has no source");
  forge(NUMBERS(2, a, b), NUMBERS(2, a, 0xFFFFFFFF));
  is_refused("a tie has no source");
  forge(NUMBERS(2, a, b), NUMBERS(1, a));
  is_refused("its ties differ from its cells");
  forge(NUMBERS(2, a, b), NUMBERS(3, a, b, c));
  is_refused("a tie has no source");
  forge(NUMBERS(2, a, b), NUMBERS(0xFFFFFFFF, a, b));
  is_refused("");
  close_both();
}

/* The cells of the target say something else. */
static void refuses_forged_targets(void) {
  open_tied();
  uint64_t *cell = ecs_cell_of(f.world, f.a, rides, TARGET_LEAF);
  const uint64_t forged[] = {ECS_NULL, f.c + 1, f.c + (UINT64_C(1) << 28), f.a};
  for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
    *cell = forged[i];
    CHECK_OK(f.world, save(&f, &broken));
    is_refused(forged[i] == f.a ? "its ties differ from its cells" : "a tie has no target");
  }
  *cell = f.b;
  cell = ecs_cell_of(f.world, f.b, rides, TARGET_LEAF);
  *cell = f.a;
  CHECK_OK(f.world, save(&f, &broken));
  is_refused("its ties differ from its cells");
  *cell = f.c;
  close_both();
}

static void refuses_forged_pairs(void) {
  open_tied();
  uint32_t b = index_of(f.b), c = index_of(f.c), place = place_of(likes);
  uint32_t dead = c + 1, others[] = {place_of(rides), place_of(f.position), place_of(f.frozen), 99};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    forge(NUMBERS(2, place, b, place, c), NUMBERS(2, others[i], b, others[i], c));
    is_refused("a pair is invalid");
  }
  forge(NUMBERS(2, place, b, place, c), NUMBERS(2, place, c, place, b));
  is_refused("a pair is invalid");
  forge(NUMBERS(2, place, b, place, c), NUMBERS(2, place, b, place, b));
  is_refused("a pair is invalid");
  forge(NUMBERS(2, place, b, place, c), NUMBERS(2, place, b, place_of(eats), c));
  is_refused("a pair is invalid");
  forge(NUMBERS(2, place, b, place, c), NUMBERS(2, place, b, place, dead));
  is_refused("a pair is invalid");
  forge(NUMBERS(2, place, b, place, c), NUMBERS(2, place, b, place, 0));
  is_refused("a pair is invalid");
  forge(NUMBERS(2, place, b, place, c), NUMBERS(2, place, b, place, 0x0FFFFFFF));
  is_refused("a pair is invalid");
  forge(NUMBERS(2, place, b, place, c), NUMBERS(0xFFFFFFFF, place, b, place, c));
  is_refused("");
  close_both();
}

/* In f: c and a have a sparse component, in that order. */
static void open_sparse(void) {
  open_usual(&f);
  ecs_field level = {.name = "level", .type = ECS_U8};
  ecs_id cold;
  CHECK_OK(f.world, ecs_component(f.world, &(ecs_component_desc){
      .name = "Cold", .fields = &level, .field_count = 1, .sparse = true}, &cold));
  f.a = spawn_empty(f.world);
  f.b = spawn_empty(f.world);
  f.c = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, spawn_empty(f.world)));
  CHECK_OK(f.world, ecs_set(f.world, f.c, cold, &(uint8_t){3}));
  CHECK_OK(f.world, ecs_set(f.world, f.a, cold, &(uint8_t){1}));
  CHECK_OK(f.world, save(&f, &image));
  open_target();
}

static void refuses_forged_sparse_rows(void) {
  open_sparse();
  uint32_t a = index_of(f.a), c = index_of(f.c);
  uint32_t nobody[] = {c, c + 1, 0, index_of(f.position), FIRST_ENTITY + 70000, 0x0FFFFFFF,
                       0x10000000 + a, UINT32_MAX};
  for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++) {
    check_context("row %u", nobody[i]);
    forge(NUMBERS(2, c, a), NUMBERS(2, c, nobody[i]));
    is_refused("a sparse row has no entity");
  }
  check_context(NULL);
  forge(NUMBERS(2, c, a), NUMBERS(UINT32_MAX, c, a));
  is_refused("a component has too many rows");
  forge(NUMBERS(2, c, a), NUMBERS(0x0FFFFFFF, c, a));
  is_refused("");
  forge(NUMBERS(2, c, a), NUMBERS(3, c, a));
  is_refused("");
  forge(NUMBERS(2, c, a), NUMBERS(0, c, a));
  is_refused("");
  forge(NUMBERS(2, c, a), NUMBERS(1, c));   /* another cell than its rows have */
  is_refused("");
  close_both();
}

/* The order of the rows is content: another one is another world. */
static void keeps_the_order_of_sparse_rows(void) {
  open_sparse();
  uint32_t a = index_of(f.a), c = index_of(f.c);
  CHECK_OK(g.world, load(&g, &image));
  CHECK(ecs_digest(g.world) == ecs_digest(f.world));
  forge(NUMBERS(2, c, a), NUMBERS(2, a, c));
  CHECK_OK(g.world, load(&g, &broken));
  CHECK_SOUND(g.world);
  CHECK(ecs_digest(g.world) != ecs_digest(f.world));
  close_both();
}

/* By their bytes and then by those who have them, whoever was named first. */
static void sorts_equal_names(void) {
  static struct bytes first;
  struct component *child_of;
  for (int turn = 0; turn < 2; turn++) {
    open_world(&f);
    CHECK_OK(f.world, builtin_need(f.world, CHILD_OF, strlen(CHILD_OF), &child_of));
    for (int i = 0; i < 8; i++) f.ids[i] = spawn_empty(f.world);
    for (int i = 1; i < 8; i++)
      CHECK_OK(f.world, ecs_add(f.world, f.ids[i], ecs_pair(child_of->id, f.ids[i / 2])));
    for (int i = 0; i < 4; i++) {
      ecs_id child = f.ids[2 * (turn ? 3 - i : i)];
      CHECK_OK(f.world, ecs_name(f.world, child, "same"));
    }
    CHECK_OK(f.world, save(&f, turn ? &image : &first));
    if (turn) CHECK(image.size == first.size && memcmp(image.data, first.data, first.size) == 0);
    close_world(&f);
  }
}

static const struct test tests[] = {
  {"ties and pairs are kept", keeps_ties},
  {"a list of ties that is none is refused", refuses_forged_lists_of_ties},
  {"C29: ties to the dead and circles are refused", refuses_forged_targets},
  {"pairs of no relation, twice, out of order or of the dead are refused", refuses_forged_pairs},
  {"sparse rows of nobody, twice or too many are refused", refuses_forged_sparse_rows},
  {"C55: sparse rows stand in the order of the image", keeps_the_order_of_sparse_rows},
  {"equal names have one order", sorts_equal_names},
};

int main(void) { return RUN_TESTS(tests); }
