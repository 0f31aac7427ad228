/* Operations that concern the world as a whole, each with what must hold after it. */
#include <string.h>

#include "core/ids/world.h"
#include "core/storage/component.h"
#include "operations_state.h"

static ecs_status save_to(ecs_world *world, struct image *image) {
  ecs_codec codec = codec_of(world);
  image->size = image->at = 0;
  return ecs_save(world, image_write, image, &codec);
}

ecs_status do_save(struct machine *m) {
  struct image made = {NULL, 0, 0, 0};
  ecs_status status = save_to(m->world, &made);
  if (status != ECS_OK) {
    image_clear(&made);
    return status;
  }
  image_clear(&m->saved);
  m->saved = made;
  m->saved_digest = ecs_digest(m->world);
  m->saved_changes = m->changes;
  return ECS_OK;
}

static void forget_snapshot(struct machine *m) {
  ecs_snapshot_free(m->snapshot);
  m->snapshot = NULL;
  image_clear(&m->snapshot_image);
}

ecs_status do_load(struct machine *m) {
  if (m->saved.size == 0) return ECS_OK;
  ecs_codec codec = codec_of(m->world);
  m->saved.at = 0;
  ecs_status status = ecs_load(m->world, image_read, &m->saved, &codec);
  if (status != ECS_OK) return status;
  if (m->changes == m->saved_changes)
    MUST(m->world, ecs_digest(m->world) == m->saved_digest);
  m->changes++;   /* the image's components are there again */
  return ECS_OK;
}

/* The image in a new world: the same content, the same ids alive, the same image. */
static ecs_status check_elsewhere(struct machine *m, struct image *image) {
  struct limited memory = {0, 0, 0, false, 0};
  ecs_world_desc desc = {.alloc = limited_alloc, .alloc_ud = &memory, .tag = 200, .seed = 0};
  ecs_world *world;
  struct image again = {NULL, 0, 0, 0};
  MUST_OK(NULL, ecs_world_new(&desc, &world));
  ecs_codec codec = codec_of(world);
  MUST_OK(world, ecs_load(world, image_read, image, &codec));
  MUST_OK(world, ecs_check(world));
  MUST(world, ecs_digest(world) == ecs_digest(m->world));
  for (uint32_t i = 0; i < KEPT; i++)
    if (ecs_id_index(m->ids[i]) >= FIRST_ENTITY)
      MUST(world, ecs_entity_status(world, m->ids[i]) ==
                      ecs_entity_status(m->world, m->ids[i]));
  MUST_OK(world, save_to(world, &again));
  if (!m->scheduled) MUST(world, image_same(image, &again));
  image_clear(&again);
  ecs_world_free(world);
  MUST(NULL, memory.bytes == 0);
  return ECS_OK;
}

ecs_status do_elsewhere(struct machine *m) {
  struct image image = {NULL, 0, 0, 0};
  ecs_status status = save_to(m->world, &image);
  if (status == ECS_OK) status = check_elsewhere(m, &image);
  image_clear(&image);
  return status;
}

ecs_status do_snapshot(struct machine *m) {
  ecs_snapshot *made;
  ecs_status status = ecs_snapshot_new(m->world, &made);
  if (status != ECS_OK) return status;
  forget_snapshot(m);
  m->snapshot = made;
  m->snapshot_changes = m->changes;
  m->snapshot_digest = ecs_digest(m->world);
  size_t fail_at = m->memory.fail_at;
  m->memory.fail_at = 0;
  MUST_OK(m->world, save_to(m->world, &m->snapshot_image));
  m->memory.fail_at = fail_at;
  return ECS_OK;
}

ecs_status do_restore(struct machine *m) {
  if (!m->snapshot) return ECS_OK;
  ecs_status status = ecs_restore(m->snapshot);
  if (status != ECS_OK || m->changes != m->snapshot_changes) return status;
  struct image image = {NULL, 0, 0, 0};
  MUST(m->world, ecs_digest(m->world) == m->snapshot_digest);
  m->memory.fail_at = 0;
  MUST_OK(m->world, save_to(m->world, &image));
  MUST(m->world, image_same(&image, &m->snapshot_image));
  image_clear(&image);
  return ECS_OK;
}

/* Another field comes and goes: nothing has changed. */
ecs_status do_widen(struct machine *m) {
  const char *name = take_name(m);
  ecs_id id = ecs_component_find(m->world, name);
  ecs_type type = take_type(m, ECS_ENUM);
  const struct component *known = component_of(m->world, id);
  if (!known || known->ties.relation || known->field_count >= 8) return ECS_OK;
  ecs_field fields[9];
  memset(fields, 0, sizeof fields);
  for (uint32_t i = 0; i < known->field_count; i++) {
    const struct field *field = &known->fields[i];
    if (field->has_value || field->names || field->nested) return ECS_OK;
    fields[i] = (ecs_field){.name = field->name, .type = field->type, .count = field->count,
                            .offset = field->offset};
  }
  uint32_t count = known->field_count;
  fields[count] = (ecs_field){.name = "more", .type = type, .count = 2};
  ecs_component_desc desc = {.name = name, .fields = fields, .field_count = count + 1,
                             .toggle = known->toggle, .track = known->track,
                             .sparse = known->is_sparse,
                             .event = known->is_event};
  char kept[MOST_FIELDS + 3][8];
  for (uint32_t i = 0; i < count; i++) {
    strncpy(kept[i], fields[i].name, 7)[7] = '\0';
    fields[i].name = kept[i];
  }
  uint64_t before = ecs_digest(m->world);
  ecs_status status = ecs_component(m->world, &desc, &id);
  if (status != ECS_OK) return status;
  m->changes++;
  m->memory.fail_at = 0;
  desc.field_count = count;
  status = ecs_component(m->world, &desc, &id);
  if (status == ECS_EINVAL && count == 0) return ECS_OK;   /* others are made of it by now */
  MUST_OK(m->world, status);
  MUST(m->world, ecs_digest(m->world) == before);
  return ECS_OK;
}

ecs_status do_range(struct machine *m) {
  uint32_t first = FIRST_ENTITY + take_below(&m->in, 16) * 1000;
  return ecs_entity_range(m->world, first, first + take_below(&m->in, 255) * 100 + 2000);
}

ecs_status do_recycle(struct machine *m) {
  size_t count;
  return ecs_recycle_retired(m->world, &count);
}
