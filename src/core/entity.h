/* The entity index: which ids are alive, and where each entity's row is. Paged, so that
** far indices cost one page; a record is 8 bytes, a generation 2. */
#ifndef ECS_CORE_ENTITY_H
#define ECS_CORE_ENTITY_H

#include "memory.h"

#define PAGE_BITS 12
#define PAGE_SIZE (1u << PAGE_BITS)
#define DIRECTORY_SIZE 256u

/* Where an entity is. `table` at or above RECORD_BARE has another meaning:
** bare: alive without a row (components; entities staged to be spawned);
** free: dead, in the free list (previous in `table`, next in `row`, 0 ends it);
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

/* A run of indices that ids are taken from. */
struct range {
  uint32_t first;
  uint32_t last;
  uint32_t next;        /* below it no index is unborn */
  uint32_t free_head;   /* the most recently freed, 0 for none */
  uint32_t free_count;
};

struct entity_index {
  struct page **directory[DIRECTORY_SIZE];
  struct range components;
  struct range entities;
  uint32_t tag;
  uint32_t retired;
  size_t alive;          /* entities only */
};

void entity_index_init(struct entity_index *index, uint32_t tag);
void entity_index_free(struct entity_index *index, struct memory *memory);

/* The page of an index, made when there is none; NULL when out of memory. */
struct page *entity_need_page(struct entity_index *index, struct memory *memory, uint32_t at);

/* The page of an index, or NULL. */
static inline struct page *entity_page(const struct entity_index *index, uint32_t at) {
  struct page **middle = index->directory[at >> 20];
  return middle ? middle[at >> PAGE_BITS & 255] : NULL;
}

static inline struct record *entity_record(const struct entity_index *index, uint32_t at) {
  return &entity_page(index, at)->records[at & (PAGE_SIZE - 1)];
}

/* The id that an index has now (of its next life, when it is dead). */
static inline ecs_id entity_id(const struct entity_index *index, uint32_t at) {
  uint32_t generation = entity_page(index, at)->generations[at & (PAGE_SIZE - 1)];
  return id_make(at, generation, at < FIRST_ENTITY ? 0 : index->tag);
}

/* The record of a living entity, or NULL for any other number. */
static inline struct record *entity_find(const struct entity_index *index, ecs_id id) {
  uint32_t at = ecs_id_index(id);
  struct page *page = entity_page(index, at);
  if (UNLIKELY(!page)) return NULL;
  uint32_t slot = at & (PAGE_SIZE - 1);
  ecs_id now = id_make(at, page->generations[slot], at < FIRST_ENTITY ? 0 : index->tag);
  struct record *record = &page->records[slot];
  return now == id && record->table <= RECORD_BARE ? record : NULL;
}

/* ECS_OK for a living entity, else which of the four ways it is not one. */
ecs_status entity_status(const struct entity_index *index, ecs_id id);

/* After this, `count` takes from the range cannot fail. */
ecs_status entity_reserve(struct entity_index *index, struct memory *memory,
                          struct range *range, uint64_t count);
/* The next index of the range, alive and bare. */
uint32_t entity_take(struct entity_index *index, struct range *range);

/* ECS_ETAKEN, ECS_EDEAD (an earlier life), ECS_ELIMIT (retired), ECS_ENOMEM. */
ecs_status entity_adopt_reserve(struct entity_index *index, struct memory *memory,
                                ecs_id id);
void entity_adopt(struct entity_index *index, ecs_id id);

/* Ends a life: the index waits for its next generation, or is retired. */
void entity_release(struct entity_index *index, uint32_t at);

ecs_status entity_set_range(struct entity_index *index, uint32_t first, uint32_t last);

/* Puts a parted slot at the head of its range's free list; false when it is no such slot. */
bool entity_link(struct entity_index *index, uint32_t at);

/* Gives retired slots back; references to them must be gone. Returns how many. */
size_t entity_unretire(struct entity_index *index);

bool entity_index_check(const struct entity_index *index);

#endif
