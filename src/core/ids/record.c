#include "core/ids/record.h"

struct slots entity_slots(const struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY, slot = at & (PAGE_SIZE - 1);
  assert(at < INDEX_LIMIT);
  if (offset < index->near.count)
    return (struct slots){index->near.records + offset, index->near.generations + offset,
                          index->near.count - offset};
  struct page *page = entity_page(index, at);
  if (!page) return (struct slots){NULL, NULL, 0};
  return (struct slots){page->records + slot, page->generations + slot, PAGE_SIZE - slot};
}

uint32_t entity_next_slot(const struct entity_index *index, uint32_t at) {
  while (at < INDEX_LIMIT && entity_slots(index, at).count == 0) {
    bool near = at < FIRST_ENTITY && index->near.count;
    uint32_t step = index->directory[at >> 20] || near ? PAGE_SIZE : PAGE_SIZE * MIDDLE_SIZE;
    at = (at | (step - 1)) + 1;
  }
  return at;
}

struct record *entity_find_far(const struct entity_index *index, ecs_id id) {
  uint32_t at = ecs_id_index(id);
  assert(!entity_is_near(index, id));
  if (!entity_page(index, at) || entity_id(index, at) != id) return NULL;
  struct record *record = entity_record(index, at);
  return record->table <= RECORD_BARE ? record : NULL;
}

ecs_status entity_status(const struct entity_index *index, ecs_id id) {
  if (entity_find(index, id)) return ECS_OK;
  uint32_t at = ecs_id_index(id);
  uint32_t tag = ecs_id_tag(id);
  if (at == 0 || id >> 52) return ECS_ENOID;
  if (at < FIRST_ENTITY ? tag != 0 : tag == 0) return ECS_ENOID;
  if (at >= FIRST_ENTITY && tag != index->tag) return ECS_EWORLD;
  struct slots slots = entity_slots(index, at);
  if (slots.count == 0) return ECS_EUNBORN;
  if (slots.records->table == RECORD_RETIRED) return ECS_EDEAD;
  return ecs_id_generation(id) < *slots.generations ? ECS_EDEAD : ECS_EUNBORN;
}
