#include "entity.h"

#define MIDDLE_SIZE 256u

void entity_index_init(struct entity_index *index, uint32_t tag) {
  memset(index, 0, sizeof *index);
  index->tag = tag;
  index->components = (struct range){1, FIRST_ENTITY - 1, 1, 0, 0};
  index->entities = (struct range){FIRST_ENTITY, INDEX_LIMIT - 1, FIRST_ENTITY, 0, 0};
}

void entity_index_free(struct entity_index *index, struct memory *memory) {
  for (uint32_t i = 0; i < DIRECTORY_SIZE; i++) {
    struct page **middle = index->directory[i];
    if (!middle) continue;
    for (uint32_t j = 0; j < MIDDLE_SIZE; j++)
      memory_free(memory, middle[j], sizeof *middle[j]);
    memory_free(memory, middle, MIDDLE_SIZE * sizeof *middle);
    index->directory[i] = NULL;
  }
}

struct page *entity_need_page(struct entity_index *index, struct memory *memory,
                              uint32_t at) {
  struct page ***middle = &index->directory[at >> 20];
  if (!*middle) *middle = memory_array(memory, MIDDLE_SIZE, sizeof **middle);
  if (!*middle) return NULL;
  struct page **page = &(*middle)[at >> PAGE_BITS & (MIDDLE_SIZE - 1)];
  if (!*page) {
    *page = memory_resize(memory, NULL, 0, sizeof **page);
    if (!*page) return NULL;
    memset((*page)->records, 0xFF, sizeof (*page)->records);
    memset((*page)->generations, 0, sizeof (*page)->generations);
  }
  return *page;
}

ecs_status entity_status(const struct entity_index *index, ecs_id id) {
  if (entity_find(index, id)) return ECS_OK;
  uint32_t at = ecs_id_index(id);
  uint32_t tag = ecs_id_tag(id);
  if (at == 0 || id >> 52) return ECS_ENOID;
  if (at < FIRST_ENTITY ? tag != 0 : tag == 0) return ECS_ENOID;
  if (at >= FIRST_ENTITY && tag != index->tag) return ECS_EWORLD;
  struct page *page = entity_page(index, at);
  if (!page) return ECS_EUNBORN;
  uint32_t slot = at & (PAGE_SIZE - 1);
  uint32_t generation = page->generations[slot];
  if (page->records[slot].table == RECORD_RETIRED) return ECS_EDEAD;
  return ecs_id_generation(id) < generation ? ECS_EDEAD : ECS_EUNBORN;
}

static bool is_unborn(const struct entity_index *index, uint32_t at) {
  struct page *page = entity_page(index, at);
  return !page || page->records[at & (PAGE_SIZE - 1)].table == RECORD_UNBORN;
}

ecs_status entity_reserve(struct entity_index *index, struct memory *memory,
                          struct range *range, uint64_t count) {
  if (count <= range->free_count) return ECS_OK;
  uint64_t need = count - range->free_count;
  if (need > (uint64_t)range->last + 1 - range->next) return ECS_ELIMIT;
  for (uint32_t at = range->next; need > 0; at++) {
    if (at > range->last) return ECS_ELIMIT;
    struct page *page = entity_need_page(index, memory, at);
    if (!page) return ECS_ENOMEM;
    if (page->records[at & (PAGE_SIZE - 1)].table == RECORD_UNBORN) need--;
  }
  return ECS_OK;
}

static void link_free(struct entity_index *index, struct range *range, uint32_t at) {
  struct record *record = entity_record(index, at);
  record->table = RECORD_FREE;
  record->row = range->free_head;
  if (range->free_head)
    entity_record(index, range->free_head)->table = RECORD_FREE | at;
  range->free_head = at;
  range->free_count++;
}

static void unlink_free(struct entity_index *index, struct range *range, uint32_t at) {
  struct record *record = entity_record(index, at);
  uint32_t previous = record->table & (INDEX_LIMIT - 1);
  uint32_t next = record->row;
  if (previous)
    entity_record(index, previous)->row = next;
  else
    range->free_head = next;
  if (next) entity_record(index, next)->table = RECORD_FREE | previous;
  range->free_count--;
}

static void begin_life(struct entity_index *index, uint32_t at) {
  struct record *record = entity_record(index, at);
  record->table = RECORD_BARE;
  record->row = 0;
  if (at >= FIRST_ENTITY) index->alive++;
}

uint32_t entity_take(struct entity_index *index, struct range *range) {
  uint32_t at = range->free_head;
  if (at) {
    unlink_free(index, range, at);
  } else {
    while (!is_unborn(index, range->next)) range->next++;
    at = range->next++;
    assert(at <= range->last);
  }
  begin_life(index, at);
  return at;
}

static bool is_free(const struct record *record) {
  return record->table >= RECORD_FREE && record->table < RECORD_PARTED;
}

ecs_status entity_adopt_reserve(struct entity_index *index, struct memory *memory,
                                ecs_id id) {
  ecs_status status = entity_status(index, id);
  if (status == ECS_OK) return ECS_ETAKEN;
  if (status != ECS_EUNBORN) return status;
  uint32_t at = ecs_id_index(id);
  struct page *page = entity_need_page(index, memory, at);
  if (!page) return ECS_ENOMEM;
  return page->records[at & (PAGE_SIZE - 1)].table <= RECORD_BARE ? ECS_ETAKEN : ECS_OK;
}

static struct range *range_of(struct entity_index *index, uint32_t at) {
  struct range *range = at < FIRST_ENTITY ? &index->components : &index->entities;
  return at >= range->first && at <= range->last ? range : NULL;
}

void entity_adopt(struct entity_index *index, ecs_id id) {
  uint32_t at = ecs_id_index(id);
  if (is_free(entity_record(index, at))) unlink_free(index, range_of(index, at), at);
  entity_page(index, at)->generations[at & (PAGE_SIZE - 1)] =
      (uint16_t)ecs_id_generation(id);
  begin_life(index, at);
}

void entity_release(struct entity_index *index, uint32_t at) {
  struct page *page = entity_page(index, at);
  uint32_t slot = at & (PAGE_SIZE - 1);
  assert(page->records[slot].table <= RECORD_BARE);
  if (at >= FIRST_ENTITY) index->alive--;
  page->records[slot].row = 0;
  if (page->generations[slot] == GENERATION_LIMIT) {
    page->records[slot].table = RECORD_RETIRED;
    index->retired++;
    return;
  }
  page->generations[slot]++;
  struct range *range = range_of(index, at);
  if (range)
    link_free(index, range, at);
  else
    page->records[slot].table = RECORD_PARTED;
}

/* Calls back for every index that has a page, from high to low, entities only. */
static void each_entity_down(struct entity_index *index, uint32_t first, uint32_t last,
                             void (*visit)(struct entity_index *, uint32_t at)) {
  for (uint32_t page = last >> PAGE_BITS; page + 1 > first >> PAGE_BITS; page--) {
    if (!index->directory[page >> 8]) {
      page &= ~(MIDDLE_SIZE - 1);
      if (page == 0) return;
      continue;
    }
    if (!entity_page(index, page << PAGE_BITS)) continue;
    for (uint32_t slot = PAGE_SIZE; slot-- > 0;) {
      uint32_t at = page << PAGE_BITS | slot;
      if (at >= first && at <= last) visit(index, at);
    }
  }
}

static void part(struct entity_index *index, uint32_t at) {
  struct record *record = entity_record(index, at);
  if (!is_free(record)) return;
  record->table = RECORD_PARTED;
  record->row = 0;
}

static void unpart(struct entity_index *index, uint32_t at) {
  if (entity_record(index, at)->table == RECORD_PARTED)
    link_free(index, &index->entities, at);
}

ecs_status entity_set_range(struct entity_index *index, uint32_t first, uint32_t last) {
  if (first < FIRST_ENTITY || last >= INDEX_LIMIT || first > last) return ECS_EINVAL;
  each_entity_down(index, FIRST_ENTITY, INDEX_LIMIT - 1, part);
  index->entities = (struct range){first, last, first, 0, 0};
  each_entity_down(index, first, last, unpart);
  return ECS_OK;
}

bool entity_link(struct entity_index *index, uint32_t at) {
  struct range *range = range_of(index, at);
  if (!range || entity_record(index, at)->table != RECORD_PARTED) return false;
  link_free(index, range, at);
  return true;
}

static void unretire(struct entity_index *index, uint32_t at) {
  struct page *page = entity_page(index, at);
  uint32_t slot = at & (PAGE_SIZE - 1);
  if (page->records[slot].table != RECORD_RETIRED) return;
  page->generations[slot] = 0;
  struct range *range = range_of(index, at);
  if (range)
    link_free(index, range, at);
  else
    page->records[slot].table = RECORD_PARTED;
}

size_t entity_unretire(struct entity_index *index) {
  size_t count = index->retired;
  each_entity_down(index, 1, INDEX_LIMIT - 1, unretire);
  index->retired = 0;
  return count;
}

static bool free_list_is_sound(const struct entity_index *index, const struct range *range) {
  uint32_t previous = 0, count = 0;
  for (uint32_t at = range->free_head; at; count++) {
    const struct record *record = entity_record(index, at);
    if (at < range->first || at > range->last || count > range->free_count) return false;
    if (record->table != (RECORD_FREE | previous)) return false;
    previous = at;
    at = record->row;
  }
  return count == range->free_count;
}

bool entity_index_check(const struct entity_index *index) {
  size_t alive = 0, retired = 0, free_slots = 0;
  for (uint32_t number = 0; number < INDEX_LIMIT >> PAGE_BITS; number++) {
    if (!index->directory[number >> 8]) {
      number |= MIDDLE_SIZE - 1;
      continue;
    }
    const struct page *page = entity_page(index, number << PAGE_BITS);
    for (uint32_t slot = 0; page && slot < PAGE_SIZE; slot++) {
      const struct record *record = &page->records[slot];
      uint32_t at = number << PAGE_BITS | slot;
      alive += record->table <= RECORD_BARE && at >= FIRST_ENTITY;
      retired += record->table == RECORD_RETIRED;
      free_slots += is_free(record);
    }
  }
  return alive == index->alive && retired == index->retired &&
         free_slots == index->components.free_count + index->entities.free_count &&
         free_list_is_sound(index, &index->components) &&
         free_list_is_sound(index, &index->entities);
}
