/* Loading arbitrary bytes: they are refused and leave the world as it was, or make a world that
** is sound, saves and loads as itself, and goes on.
**
** An input is a byte of options, the number of the allocation that fails, and the image without
** its checksum, in which 0xFE n m v stands for v, n + 256 m times: pages of ids are long. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "../c/content.h"
#include "core/ids/world.h"
#include "core/image/stream.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/table.h"

#define RUN 0xFE
#define MOST (1u << 18)

enum option {
  KIND = 3,            /* the live world's: see open_world */
  STARVED = 4,         /* an allocation fails */
  STARVED_ON = 8,      /* and all behind it */
  WRONG_SUM = 16,
  WITH_CODEC = 32
};

static void put(struct image *image, uint8_t value, size_t count) {
  while (count-- && image->size < MOST) image_write(image, &value, 1);
}

static void unpack(struct input *in, struct image *image) {
  while (in->at < in->end) {
    uint8_t byte = take_byte(in);
    size_t count = 1;
    if (byte == RUN) {
      count = take_byte(in);
      count |= (size_t)take_byte(in) << 8;
      byte = take_byte(in);
    }
    put(image, byte, count);
  }
}

static void seal(struct image *image, bool wrong) {
  struct checksum sum;
  checksum_begin(&sum);
  checksum_add(&sum, image->bytes, image->size);
  uint64_t value = checksum_end(&sum) ^ wrong;
  for (int i = 0; i < 8; i++) put(image, (uint8_t)(value >> (8 * i)), 1);
}

/* ---- the live world ---- */

static ecs_id declare(ecs_world *world, const char *name, const ecs_field *fields,
                      uint32_t count) {
  ecs_id id;
  ecs_component_desc desc = {.name = name, .fields = fields, .field_count = count};
  MUST_OK(world, ecs_component(world, &desc, &id));
  return id;
}

static const char *const moods[] = {"calm", "angry", "afraid"};

static void declare_plain(ecs_world *world) {
  ecs_field pair[] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  ecs_id position = declare(world, "P", pair, 2);
  ecs_field body[] = {{.name = "at", .type = ECS_NESTED, .nested = position},
                      {.name = "name", .type = ECS_STRING},
                      {.name = "mood", .type = ECS_ENUM, .names = moods, .name_count = 3},
                      {.name = "foe", .type = ECS_ENTITY}};
  ecs_id id, both[] = {position, declare(world, "B", body, 4)};
  MUST_OK(world, ecs_spawn(world, both, 2, &id));
  MUST_OK(world, ecs_name(world, id, "one"));
  MUST_OK(world, ecs_resource(world, position));
}

/* The same names, other fields. */
static void declare_moved_on(ecs_world *world) {
  static const char *const others[] = {"afraid", "calm", "glad"};
  ecs_field body[] = {{.name = "name", .type = ECS_STRING},
                      {.name = "mood", .type = ECS_ENUM, .names = others, .name_count = 3}};
  ecs_id mind = declare(world, "B", body, 2);
  ecs_field pair[] = {{.name = "x", .type = ECS_I8}, {.name = "z", .type = ECS_F64},
                      {.name = "in", .type = ECS_NESTED, .nested = mind}};
  ecs_id id = declare(world, "P", pair, 3);
  declare(world, "T", pair, 1);
  declare(world, "A", NULL, 0);
  MUST_OK(world, ecs_spawn(world, &id, 1, &id));
}

/* An event that a system has seen some of, as it is in the corpus or with other fields. */
static void declare_event(ecs_world *world, bool moved_on) {
  ecs_field fields[] = {{.name = "n", .type = moved_on ? ECS_F64 : ECS_I32},
                        {.name = "who", .type = ECS_ENTITY},
                        {.name = "s", .type = ECS_STRING}};
  ecs_component_desc desc = {.name = "E", .fields = fields, .field_count = moved_on ? 2 : 3};
  ecs_id id;
  uint64_t value[8] = {0};
  MUST_OK(world, ecs_event(world, &desc, &id));
  MUST_OK(world, ecs_emit(world, id, value));
  MUST_OK(world, ecs_after(world, 0.5, id, value));
}

static ecs_status idle(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_OK;
}

static ecs_world *open_world(struct limited *memory, unsigned kind) {
  ecs_world *world;
  memset(memory, 0, sizeof *memory);
  ecs_world_desc desc = {.alloc = limited_alloc, .alloc_ud = memory, .tag = 7, .seed = 1};
  MUST_OK(NULL, ecs_world_new(&desc, &world));
  if (kind == 1) declare_plain(world);
  if (kind == 2) declare_moved_on(world);
  if (kind == 0) return world;
  ecs_phase_desc phase = {.name = "fixed", .fixed = 0.25};
  ecs_system_desc system = {.name = "idle", .run = idle, .every = 0.5,
                            .query = kind == 3 ? NULL : "P"};
  ecs_system_desc reader = {.name = "hear", .run = idle, .query = "E"};
  MUST_OK(world, ecs_phase(world, &phase));
  MUST_OK(world, ecs_system_new(world, &system));
  if (kind == 3) return world;
  declare_event(world, kind == 2);
  MUST_OK(world, ecs_system_new(world, &reader));
  MUST_OK(world, ecs_update(world, 0));
  return world;
}

static void close_world(ecs_world *world, const struct limited *memory) {
  MUST_OK(world, ecs_check(world));
  MUST(world, ecs_bytes(world) == memory->bytes);
  ecs_world_free(world);
  MUST(NULL, memory->bytes == 0);
}

/* ---- what a loaded world is put through ---- */

static void save(ecs_world *world, struct image *image) {
  ecs_codec codec = codec_of(world);
  memset(image, 0, sizeof *image);
  MUST_OK(world, ecs_save(world, image_write, image, &codec));
}

/* Saved and loaded elsewhere it is the same, byte for byte. */
static void round_trip(ecs_world *world, unsigned kind) {
  struct limited memory;
  struct image first, second;
  ecs_world *other = open_world(&memory, kind);
  ecs_codec codec = codec_of(other);
  save(world, &first);
  MUST_OK(other, ecs_load(other, image_read, &first, &codec));
  MUST_OK(other, ecs_check(other));
  MUST(other, ecs_digest(other) == ecs_digest(world));
  save(other, &second);
  MUST(other, image_same(&first, &second));
  image_clear(&first);
  image_clear(&second);
  close_world(other, &memory);
}

/* What is read can be written. */
static void set_again(ecs_world *world, const struct table *table, uint32_t row) {
  ecs_id entity = entity_id(&world->entities, table->rows[row]);
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct component *component = component_of(world, table->ids[i]);
    bool skip = component->has_any || component->native || component->leaf_count == 0;
    void *value = skip ? NULL : calloc(1, component->size + 1);
    if (!value) continue;
    MUST_OK(world, ecs_get(world, entity, table->ids[i], value));
    MUST_OK(world, ecs_set(world, entity, table->ids[i], value));
    free(value);
  }
}

static void set_all_again(ecs_world *world) {
  const struct id_record *all = graph_all(world);
  uint64_t before = ecs_digest(world);
  uint32_t left = 50;
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    for (uint32_t row = 0; row < table->count && left; row++, left--)
      set_again(world, table, row);
  }
  MUST(world, ecs_digest(world) == before);
}

static void despawn_all(ecs_world *world) {
  for (uint32_t at = FIRST_ENTITY; (at = entity_next_slot(&world->entities, at)) < INDEX_LIMIT;) {
    struct slots slots = entity_slots(&world->entities, at);
    for (uint32_t i = 0; i < slots.count; i++) {
      ecs_id id = entity_id(&world->entities, at + i);
      if (ecs_alive(world, id)) MUST_OK(world, ecs_despawn(world, id));
    }
    at += slots.count;
  }
  MUST(world, ecs_alive_count(world) == 0);
}

/* Ties that forbid their target to die would keep it. */
static void undeclare_all(ecs_world *world, bool relations_only) {
  for (uint32_t i = world->registry.count; i-- > 0;) {
    const struct component *component = world->registry.components[i];
    if (!component || (relations_only && !component->relation)) continue;
    ecs_status status = ecs_undeclare(world, component->id);
    MUST(world, status == ECS_OK || status == ECS_EINVAL);
  }
}

/* One more of each event, now and later. */
static void emit_all(ecs_world *world) {
  for (uint32_t i = 0; i < world->events.count; i++) {
    const struct component *component = world->events.list[i]->component;
    bool skip = component->has_any || component->native;
    void *value = skip ? NULL : calloc(1, component->size + 1);
    if (!value) continue;
    MUST_OK(world, ecs_emit(world, component->id, value));
    MUST_OK(world, ecs_after(world, 0.2, component->id, value));
    free(value);
  }
  MUST_OK(world, ecs_check(world));
}

static void go_on(ecs_world *world) {
  ecs_id some[3], ids[300];
  size_t n = 0;
  for (uint32_t i = 0; i < world->registry.count && n < 3; i++) {
    const struct component *component = world->registry.components[i];
    bool fits = component && !component->relation && !component->length && !component->is_event;
    if (fits) some[n++] = component->id;
  }
  ecs_status status = ecs_spawn_many(world, 300, some, n, ids);
  MUST(world, status == ECS_OK || status == ECS_ELIMIT);
  MUST_OK(world, ecs_check(world));
  emit_all(world);
  MUST_OK(world, ecs_update(world, 0.3));
  undeclare_all(world, true);
  despawn_all(world);
  MUST_OK(world, ecs_check(world));
  MUST_OK(world, ecs_recycle_retired(world, &n));
  undeclare_all(world, false);
  MUST_OK(world, ecs_check(world));
}

/* ---- the target ---- */

static bool is_refusal(ecs_status status, unsigned options, unsigned kind) {
  switch (status) {
    case ECS_ECORRUPT: return true;
    case ECS_ENOMEM: return (options & STARVED) != 0;
    case ECS_EUSER: return (options & WITH_CODEC) != 0;
    case ECS_ETYPE: return kind || !(options & WITH_CODEC);
    case ECS_ELIMIT:
    case ECS_EINVAL:
    case ECS_ENAME:
    case ECS_ERANGE: return kind == 1 || kind == 2;
    default: return false;
  }
}

static void run(struct image *image, unsigned options, size_t fail_at) {
  struct limited memory;
  ecs_world *world = open_world(&memory, options & KIND);
  uint64_t before = world_digest(world);
  size_t held = memory.peak = memory.bytes;
  ecs_codec codec = codec_of(world);
  memory.fail_at = options & STARVED ? fail_at : 0;
  memory.fail_on = (options & STARVED_ON) != 0;
  ecs_status status = ecs_load(world, image_read, image, options & WITH_CODEC ? &codec : NULL);
  memory.fail_at = 0;
  MUST(world, memory.peak - held <= 64 * image->size + (1u << 20));
  MUST_OK(world, ecs_check(world));
  MUST(world, ecs_bytes(world) == memory.bytes);
  if (status != ECS_OK) {
    MUST(world, is_refusal(status, options, options & KIND));
    MUST(world, ecs_message(world)[0] != '\0');
    MUST(world, world_digest(world) == before);
  } else {
    MUST(world, !(options & WRONG_SUM));
    round_trip(world, options & KIND);
    set_all_again(world);
    go_on(world);
  }
  close_world(world, &memory);
}

void fuzz_load(const uint8_t *data, size_t size) {
  struct input in = {data, data + size};
  struct image image = {NULL, 0, 0, 0};
  unsigned options = take_byte(&in);
  size_t fail_at = take_byte(&in) + 1u;
  unpack(&in, &image);
  seal(&image, (options & WRONG_SUM) != 0);
  run(&image, options, fail_at);
  image_clear(&image);
}
