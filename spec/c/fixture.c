#include <string.h>

#include "fixture.h"

void open_world(struct fixture *f) {
  memset(f, 0, sizeof *f);
  ecs_world_desc desc = {.alloc = checked_alloc, .alloc_ud = &f->alloc, .tag = 1, .seed = 0};
  CHECK_OK(NULL, ecs_world_new(&desc, &f->world));
}

ecs_id declare_fields(ecs_world *world, const char *name, const ecs_field *fields,
                      uint32_t count, size_t native_size) {
  ecs_component_desc desc = {
    .name = name, .fields = fields, .field_count = count, .native_size = native_size
  };
  ecs_id id = ECS_NULL;
  CHECK_OK(world, ecs_component(world, &desc, &id));
  return id;
}

ecs_id declare_one(ecs_world *world, const char *name, const char *field, ecs_type type) {
  ecs_field fields[] = {{.name = field, .type = type}};
  return DECLARE(world, name, fields);
}

ecs_id declare_tag(ecs_world *world, const char *name) {
  ecs_id id = ECS_NULL;
  CHECK_OK(world, ecs_tag(world, name, &id));
  return id;
}

void declare_usual(struct fixture *f) {
  ecs_field pair[] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  ecs_field health[] = {
    {.name = "hp", .type = ECS_I32, .value = {.kind = ECS_KIND_INTEGER, .integer = 100}},
    {.name = "armour", .type = ECS_U8},
  };
  ecs_field label[] = {{.name = "text", .type = ECS_STRING,
                        .value = {.kind = ECS_KIND_STRING, .string = text_of("none")}}};
  f->position = DECLARE(f->world, "Position", pair);
  f->velocity = DECLARE(f->world, "Velocity", pair);
  f->health = DECLARE(f->world, "Health", health);
  f->label = DECLARE(f->world, "Label", label);
  f->link = declare_one(f->world, "Link", "target", ECS_ENTITY);
  f->frozen = declare_tag(f->world, "Frozen");
  f->enemy = declare_tag(f->world, "Enemy");
}

void open_usual(struct fixture *f) {
  open_world(f);
  declare_usual(f);
}

void close_world(struct fixture *f) {
  CHECK_SOUND(f->world);
  CHECK_INTEGER(f->alloc.bytes, ecs_bytes(f->world));
  ecs_world_free(f->world);
  CHECK_INTEGER(0, f->alloc.bytes);
  alloc_is_sound(&f->alloc);
  CHECK_TEXT(NULL, f->alloc.mistake);
  alloc_clear(&f->alloc);
}

ecs_id spawn(ecs_world *world, const ecs_id *components, size_t n) {
  ecs_id id = ECS_NULL;
  CHECK_OK(world, ecs_spawn(world, components, n, &id));
  return id;
}

ecs_id spawn_empty(ecs_world *world) { return spawn(world, NULL, 0); }

ecs_query *new_query(ecs_world *world, const char *text) {
  ecs_query *query = NULL;
  CHECK_OK(world, ecs_query_new(world, text, &query));
  return query;
}

size_t count_of(ecs_world *world, const char *text) {
  size_t count = SIZE_MAX;
  CHECK_OK(world, ecs_count(world, text, &count));
  return count;
}

ecs_string text_of(const char *text) { return (ecs_string){text, strlen(text)}; }

struct position get_position(const struct fixture *f, ecs_id id) {
  struct position value = {-1, -1};
  CHECK_OK(f->world, ecs_get(f->world, id, f->position, &value));
  return value;
}
