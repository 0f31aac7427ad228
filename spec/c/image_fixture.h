/* Worlds to save and to load into, f and g, and images that go through callbacks. */
#ifndef SPEC_IMAGE_H
#define SPEC_IMAGE_H

#include "core/ids/world.h"
#include "core/image/stream.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "fixture.h"

#define ROOM (1u << 18)

static struct fixture f, g;

struct bytes {
  unsigned char data[ROOM];
  size_t size, at;
  size_t calls, fail_at;   /* the call that fails, from 1; 0: none */
};

static struct bytes image, broken;

static inline bool write_bytes_to(void *ud, const void *data, size_t size) {
  struct bytes *bytes = ud;
  if (++bytes->calls == bytes->fail_at || size > ROOM - bytes->size) return false;
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  return true;
}

static inline bool read_bytes_from(void *ud, void *data, size_t size) {
  struct bytes *bytes = ud;
  if (++bytes->calls == bytes->fail_at || size > bytes->size - bytes->at) return false;
  memcpy(data, bytes->data + bytes->at, size);
  bytes->at += size;
  return true;
}

static inline ecs_status save(struct fixture *from, struct bytes *to) {
  to->size = to->calls = 0;
  return ecs_save(from->world, write_bytes_to, to, NULL);
}

/* Loads, and looks at all that it holds at once: the old world stands beside the new one. */
static inline ecs_status load(struct fixture *to, struct bytes *from) {
  size_t held = to->alloc.peak = to->alloc.bytes;
  from->at = from->calls = 0;
  ecs_status status = ecs_load(to->world, read_bytes_from, from, NULL);
  CHECK(to->alloc.peak - held <= 64 * from->size + (1u << 20));
  return status;
}

static inline void copy_image(size_t size) {
  memcpy(broken.data, image.data, size);
  broken.size = size;
  broken.fail_at = 0;
}

/* Makes the checksum right again. */
static inline void seal(struct bytes *bytes) {
  struct checksum sum;
  checksum_begin(&sum);
  checksum_add(&sum, bytes->data, bytes->size - 8);
  uint64_t value = checksum_end(&sum);
  for (int i = 0; i < 8; i++) bytes->data[bytes->size - 8 + (size_t)i] =
      (unsigned char)(value >> (8 * i));
}

/* ---- the worlds ------------------------------------------------------------------- */

static const char *const moods[] = {"calm", "angry", "afraid"};

struct mind { uint8_t mood; ecs_id foe; ecs_string name; };

static inline ecs_id declare_mind(ecs_world *world) {
  ecs_field fields[] = {
    {.name = "mood", .type = ECS_ENUM, .names = moods, .name_count = 3},
    {.name = "foe", .type = ECS_ENTITY},
    {.name = "name", .type = ECS_STRING}};
  return DECLARE(world, "Mind", fields);
}

static inline ecs_id declare_body(ecs_world *world, ecs_id mind) {
  ecs_field fields[] = {{.name = "minds", .type = ECS_NESTED, .nested = mind, .count = 2}};
  return DECLARE(world, "Body", fields);
}

/* A tag that requires another component. */
static inline ecs_id declare_sworn(ecs_world *world, ecs_id mind) {
  ecs_id sworn;
  CHECK_OK(world, ecs_component(world, &(ecs_component_desc){.name = "Sworn", .required = &mind,
                                                             .required_count = 1}, &sworn));
  return sworn;
}

/* A component and a tag that are switched off in some. */
static inline void switch_some_off(struct fixture *to) {
  ecs_field level = {.name = "level", .type = ECS_U8};
  ecs_id ids[2];
  CHECK_OK(to->world, ecs_component(to->world, &(ecs_component_desc){
      .name = "Awake", .fields = &level, .field_count = 1, .toggle = true}, &ids[0]));
  CHECK_OK(to->world, ecs_component(to->world, &(ecs_component_desc){
      .name = "Lit", .toggle = true}, &ids[1]));
  for (int i = 2; i < 6; i++) {
    CHECK_OK(to->world, ecs_add(to->world, to->ids[i], ids[0]));
    CHECK_OK(to->world, ecs_add(to->world, to->ids[i], ids[1]));
    CHECK_OK(to->world, ecs_disable(to->world, to->ids[i], ids[i % 2]));
  }
}

static inline ecs_id declare_relation(ecs_world *world, ecs_component_desc desc) {
  ecs_id id = ECS_NULL;
  CHECK_OK(world, ecs_relation(world, &desc, &id));
  return id;
}

struct ties_of { ecs_id likes, owes, docked, child_of; };

/* Relations of all kinds. */
static inline struct ties_of declare_ties(ecs_world *world) {
  static const ecs_field amount = {.name = "amount", .type = ECS_I32};
  static const ecs_field since = {.name = "since", .type = ECS_U16};
  struct component *child_of;
  CHECK_OK(world, builtin_need(world, CHILD_OF, strlen(CHILD_OF), &child_of));
  return (struct ties_of){
    declare_relation(world, (ecs_component_desc){
        .name = "Likes", .on_target_despawn = ECS_TARGET_ERROR}),
    declare_relation(world, (ecs_component_desc){
        .name = "Owes", .fields = &amount, .field_count = 1}),
    declare_relation(world, (ecs_component_desc){
        .name = "Docked", .fields = &since, .field_count = 1, .exclusive = true}),
    child_of->id};
}

/* Ties among the entities, and to a component; a table of a dead target is left behind. */
static inline void tie_all(struct fixture *to) {
  struct ties_of ties = declare_ties(to->world);
  ecs_id gone = spawn_empty(to->world);
  SPAWN(to->world, ecs_pair(ties.owes, gone));
  CHECK_OK(to->world, ecs_despawn(to->world, gone));
  for (int i = 2; i < 8; i++) {
    ecs_id at = to->ids[9 - i], next = to->ids[i == 2 ? 1 : 10 - i];
    CHECK_OK(to->world, ecs_add(to->world, at, ecs_pair(ties.docked, to->ids[1 + i % 2])));
    CHECK_OK(to->world, ecs_set(to->world, at, ecs_pair(ties.owes, next), &i));
    if (i % 2) CHECK_OK(to->world, ecs_add(to->world, at, ecs_pair(ties.child_of, to->ids[1])));
  }
  CHECK_OK(to->world, ecs_add(to->world, to->ids[1], ecs_pair(ties.likes, to->position)));
  CHECK_OK(to->world, ecs_add(to->world, to->ids[1], ecs_pair(ties.likes, to->ids[2])));
  CHECK_OK(to->world, ecs_add(to->world, to->ids[3], ecs_pair(ties.docked, to->frozen)));
  CHECK_OK(to->world, ecs_add(to->world, to->position, ecs_pair(ties.docked, to->ids[5])));
  CHECK_OK(to->world, ecs_name(to->world, to->ids[4], "one"));
}

static inline void fill_arrays(struct fixture *to) {
  size_t length;
  ecs_id grid, held;
  CHECK_OK(to->world, ecs_array(to->world, "grid", ECS_I16, 5, &grid));
  CHECK_OK(to->world, ecs_array(to->world, "held", ECS_ENTITY, 3, &held));
  ((int16_t *)ecs_array_data(to->world, grid, &length))[4] = -7;
  ((ecs_id *)ecs_array_data(to->world, held, &length))[1] = to->ids[3];
}

struct hit {
  ecs_id who;
  ecs_string note;
  float amount;
};

/* Some that are there, and some that are put off. */
static inline void fill_events(struct fixture *to) {
  const ecs_field fields[] = {{.name = "who", .type = ECS_ENTITY},
                              {.name = "note", .type = ECS_STRING},
                              {.name = "amount", .type = ECS_F32}};
  ecs_id hit = ECS_NULL, over = ECS_NULL;
  CHECK_OK(to->world, ecs_event(to->world, &(ecs_component_desc){.name = "Hit", .fields = fields,
                                                                 .field_count = 3}, &hit));
  CHECK_OK(to->world, ecs_event(to->world, &(ecs_component_desc){.name = "Over"}, &over));
  for (int i = 0; i < 4; i++) {
    struct hit value = {to->ids[i + 1], text_of(i % 2 ? "odd" : "blow"), (float)i};
    CHECK_OK(to->world, ecs_emit(to->world, hit, &value));
    CHECK_OK(to->world, ecs_after(to->world, i, hit, &value));
    CHECK_OK(to->world, ecs_emit(to->world, over, NULL));
  }
}

/* f: entities of all kinds, one dead, one retired, names, a resource, a timer, ties, arrays and
** events. */
static inline void open_saved(void) {
  open_usual(&f);
  ecs_id mind = declare_mind(f.world), body = declare_body(f.world, mind);
  for (int i = 0; i < 8; i++) {
    f.ids[i] = SPAWN(f.world, f.position);
    set_position(&f, f.ids[i], (float)i, 1);
    struct mind value = {(uint8_t)(i % 3), f.ids[0], text_of(i % 2 ? "odd" : "even")};
    if (i > 2) CHECK_OK(f.world, ecs_set(f.world, f.ids[i], mind, &value));
    if (i > 5) CHECK_OK(f.world, ecs_add(f.world, f.ids[i], body));
  }
  CHECK_OK(f.world, ecs_add(f.world, f.ids[2], declare_sworn(f.world, mind)));
  CHECK_OK(f.world, ecs_name(f.world, f.ids[1], "one"));
  CHECK_OK(f.world, ecs_name(f.world, f.frozen, "cold"));
  CHECK_OK(f.world, ecs_despawn(f.world, f.ids[0]));
  f.a = id_make(FIRST_ENTITY + 20, GENERATION_LIMIT, 1);
  CHECK_OK(f.world, ecs_spawn_at(f.world, f.a, NULL, 0));
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_OK(f.world, ecs_resource(f.world, f.health));
  CHECK_OK(f.world, ecs_resource_set(f.world, f.health, &(struct health){7, 8}));
  tie_all(&f);
  switch_some_off(&f);
  fill_arrays(&f);
  fill_events(&f);
  CHECK_OK(f.world, save(&f, &image));
}

/* g: another world, with content of its own. */
static inline void open_target(void) {
  memset(&g, 0, sizeof g);
  ecs_world_desc desc = {.alloc = checked_alloc, .alloc_ud = &g.alloc, .tag = 77, .seed = 3};
  CHECK_OK(NULL, ecs_world_new(&desc, &g.world));
  declare_usual(&g);
  g.a = SPAWN(g.world, g.position, g.label);
  g.query = new_query(g.world, "Position, !Velocity");
  CHECK_OK(g.world, ecs_name(g.world, g.a, "here"));
}

static inline void close_both(void) {
  close_world(&f);
  close_world(&g);
}

/* The broken image does not load into g, which is as it was. */
static inline void is_refused(const char *words) {
  uint64_t before = world_digest(g.world);
  CHECK_FAILS(g.world, ECS_ECORRUPT, words, load(&g, &broken));
  CHECK(world_digest(g.world) == before);
}

#endif
