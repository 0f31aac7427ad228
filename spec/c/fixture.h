/* A world with a checking allocator under it, and the components that most tests use. */
#ifndef SPEC_FIXTURE_H
#define SPEC_FIXTURE_H

#include "alloc.h"
#include "content.h"
#include "harness.h"

struct position { float x, y; };
struct velocity { float x, y; };
struct health { int32_t hp; uint8_t armour; };
struct label { ecs_string text; };
struct link { ecs_id target; };

struct fixture {
  struct checked_alloc alloc;
  ecs_world *world;
  ecs_id position, velocity, health, label, link;   /* after declare_usual */
  ecs_id frozen, enemy;                             /* tags */
  ecs_id a, b, c;                                   /* for the test to use */
  ecs_id ids[8];
  ecs_query *query;
  ecs_iter it;
};

/* A world of tag 1 without components. */
void open_world(struct fixture *f);

/* Position {f32 x, f32 y}, Velocity {f32 x, f32 y}, Health {i32 hp = 100, u8 armour},
** Label {string text = "none"}, Link {entity target}; tags Frozen, Enemy. */
void open_usual(struct fixture *f);
void declare_usual(struct fixture *f);

/* Checks the world, frees it, and checks that nothing leaked and no block was misused. */
void close_world(struct fixture *f);

/* A component with one field of a type. */
ecs_id declare_one(ecs_world *world, const char *name, const char *field, ecs_type type);
ecs_id declare_tag(ecs_world *world, const char *name);

/* Declares `name` with the fields of an array. */
#define DECLARE(world, name, fields) \
  declare_fields(world, name, fields, sizeof(fields) / sizeof *(fields), 0)
ecs_id declare_fields(ecs_world *world, const char *name, const ecs_field *fields,
                      uint32_t count, size_t native_size);

/* Shorter forms that check the status. */
ecs_id spawn(ecs_world *world, const ecs_id *components, size_t n);
#define SPAWN(world, ...)                                    \
  spawn(world, (const ecs_id[]){__VA_ARGS__},                \
        sizeof((const ecs_id[]){__VA_ARGS__}) / sizeof(ecs_id))
ecs_id spawn_empty(ecs_world *world);
ecs_query *new_query(ecs_world *world, const char *text);
size_t count_of(ecs_world *world, const char *text);
ecs_string text_of(const char *text);

static inline void set_position(struct fixture *f, ecs_id id, float x, float y) {
  CHECK_OK(f->world, ecs_set(f->world, id, f->position, &(struct position){x, y}));
}

struct position get_position(const struct fixture *f, ecs_id id);

#endif
