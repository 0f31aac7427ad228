/* The entity index as those see it who look ids up: which are alive, and where each entity's row
** is. A record is 8 bytes, a generation 2. Slots from the first entity on are in two arrays that
** double (the near ones); those of components, and far indices that ranges and adopted ids bring,
** in pages. How ids come and go is in index.h. */
#ifndef ECS_CORE_IDS_RECORD_H
#define ECS_CORE_IDS_RECORD_H

#include "core/base/base.h"

#define PAGE_BITS 12
#define PAGE_SIZE (1u << PAGE_BITS)
#define DIRECTORY_SIZE 256u
#define MIDDLE_SIZE 256u

/* Where an entity is. `table` at or above RECORD_BARE has another meaning:
** bare: alive without a row (components; entities staged to be spawned);
** free: dead, in the free list (next in `row`, 0 ends it; previous in `table`, see range);
** parted: dead, outside the range that spawns take from; retired: generations used up. */
struct record {
  uint32_t table;
  uint32_t row;
};

#define RECORD_BARE 0x7FFFFFFFu
#define RECORD_FREE 0x80000000u
#define RECORD_PARTED 0xC0000000u
#define RECORD_RETIRED 0xC0000001u
#define RECORD_UNBORN 0xFFFFFFFFu

struct page {
  struct record records[PAGE_SIZE];
  uint16_t generations[PAGE_SIZE];
};

/* Slots of indices that follow each other. */
struct slots {
  struct record *records;
  uint16_t *generations;
  uint32_t count;
};

/* A run of indices that ids are taken from. */
struct range {
  uint32_t first;
  uint32_t last;
  uint32_t next;        /* below it no index is unborn */
  uint32_t free_head;   /* the most recently freed, 0 for none */
  uint32_t free_count;
  uint32_t linked;      /* the free ones behind this one know the previous one */
};

struct entity_index {
  struct slots near;         /* from FIRST_ENTITY on; behind them all is unborn */
  uint32_t near_capacity;    /* no page covers it */
  uint32_t record_capacity;  /* of near.records: more only after memory ran out */
  uint32_t tag;
  uint32_t high;             /* the tag as it is above an id's generation */
  uint32_t retired;
  size_t alive;              /* entities only */
  struct range components;
  struct range entities;
  struct page **directory[DIRECTORY_SIZE];
};

static inline ecs_id id_make(uint32_t index, uint32_t generation, uint32_t tag) {
  assert(index < INDEX_LIMIT && generation <= GENERATION_LIMIT && tag <= TAG_LIMIT);
  return (ecs_id)index | (ecs_id)generation << 28 | (ecs_id)tag << 44;
}

/* The page of an index whose slot is not near, or NULL. */
static inline struct page *entity_page(const struct entity_index *index, uint32_t at) {
  struct page **middle = index->directory[at >> 20];
  return middle ? middle[at >> PAGE_BITS & (MIDDLE_SIZE - 1)] : NULL;
}

/* The record of an index that has a slot. */
static inline struct record *entity_record(const struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY;
  if (LIKELY(offset < index->near.count)) return &index->near.records[offset];
  assert(at < INDEX_LIMIT && entity_page(index, at));
  return &entity_page(index, at)->records[at & (PAGE_SIZE - 1)];
}

/* The same of the generation. */
static inline uint16_t *entity_generation(const struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY;
  if (LIKELY(offset < index->near.count)) return &index->near.generations[offset];
  assert(at < INDEX_LIMIT && entity_page(index, at));
  return &entity_page(index, at)->generations[at & (PAGE_SIZE - 1)];
}

/* The id that an index has now (of its next life, when it is dead). */
static inline ecs_id entity_id(const struct entity_index *index, uint32_t at) {
  return id_make(at, *entity_generation(index, at), at < FIRST_ENTITY ? 0 : index->tag);
}

/* The same of any index; of one without a slot, as a made-up pair may name, its first id. */
static inline ecs_id entity_id_any(const struct entity_index *index, uint32_t at) {
  assert(at < INDEX_LIMIT);
  if (LIKELY(at - FIRST_ENTITY < index->near.count) || entity_page(index, at))
    return entity_id(index, at);
  return id_make(at, 0, at < FIRST_ENTITY ? 0 : index->tag);
}

/* entity_find where slots are not near. */
struct record *entity_find_far(const struct entity_index *index, ecs_id id);

/* The record of an id whose slot is near; NULL when the slot is in another life, or the record's
** table is above `most`. */
INLINE struct record *entity_near(const struct entity_index *index, ecs_id id, uint32_t most) {
  uint32_t offset = ecs_id_index(id) - FIRST_ENTITY;
  assert(offset < index->near.count);
  if (UNLIKELY(id >> INDEX_BITS != (index->near.generations[offset] | index->high)))
    return NULL;
  struct record *record = &index->near.records[offset];
  return LIKELY(record->table <= most) ? record : NULL;
}

/* Whether an id's slot is near. */
INLINE bool entity_is_near(const struct entity_index *index, ecs_id id) {
  return ecs_id_index(id) - FIRST_ENTITY < index->near.count;
}

/* The record of a living entity, or NULL for any other number. */
INLINE struct record *entity_find(const struct entity_index *index, ecs_id id) {
  if (UNLIKELY(!entity_is_near(index, id))) return entity_find_far(index, id);
  return entity_near(index, id, RECORD_BARE);
}

/* The same without a call that would want registers saved: NULL also for whoever has no row, and
** for those far away, so that entity_find must be asked then. Takes 22 % off a get, 12 % off one of
** a cell, 9 % off a spawn with its despawn. */
INLINE struct record *entity_find_near(const struct entity_index *index, ecs_id id) {
  return LIKELY(entity_is_near(index, id)) ? entity_near(index, id, RECORD_BARE - 1) : NULL;
}

/* ECS_OK for a living entity, else which of the four ways it is not one. */
ecs_status entity_status(const struct entity_index *index, ecs_id id);

/* The slots from an index on; none when it has no slot. */
struct slots entity_slots(const struct entity_index *index, uint32_t at);

/* The first index at or behind `at` that has a slot, or INDEX_LIMIT. */
uint32_t entity_next_slot(const struct entity_index *index, uint32_t at);

#endif
