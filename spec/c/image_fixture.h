/* Worlds to save and to load into, f and g, and images that go through callbacks. */
#ifndef SPEC_IMAGE_H
#define SPEC_IMAGE_H

#include "core/store/world.h"
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

/* f: entities of all kinds, one dead, one retired, names, a resource, a timer. */
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
  CHECK_OK(f.world, ecs_name(f.world, f.ids[1], "one"));
  CHECK_OK(f.world, ecs_name(f.world, f.frozen, "cold"));
  CHECK_OK(f.world, ecs_despawn(f.world, f.ids[0]));
  f.a = id_make(FIRST_ENTITY + 20, GENERATION_LIMIT, 1);
  CHECK_OK(f.world, ecs_spawn_at(f.world, f.a, NULL, 0));
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_OK(f.world, ecs_resource(f.world, f.health));
  CHECK_OK(f.world, ecs_resource_set(f.world, f.health, &(struct health){7, 8}));
  CHECK_OK(f.world, save(&f, &image));
}

/* g: another world, with content of its own. */
static inline void open_target(void) {
  memset(&g, 0, sizeof g);
  ecs_world_desc desc = {checked_alloc, &g.alloc, 77, 3};
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
