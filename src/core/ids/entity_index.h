/* The entity index: which ids are alive and where each entity's row is; and how ids are taken,
** adopted, released and retired. */
#ifndef ECS_CORE_IDS_ENTITY_INDEX_H
#define ECS_CORE_IDS_ENTITY_INDEX_H

#include "core/base/base.h"

struct memory;

/* A record is 8 bytes, a generation 2. Slots from the first entity on are in two arrays that double
** (the near ones); those of components, and of far indices from ranges and adopted ids, are in
** pages. */

#define PAGE_BITS 12
#define INDEX_PAGE (1u << PAGE_BITS)
#define DIRECTORY_SIZE 256u
#define MIDDLE_SIZE 256u

/* Where an entity is. Values of `table` from RECORD_BARE on have other meanings. bare: alive
** without a row (components; staged spawns). free: dead, in the free list (next in `row`, 0 at the
** end; previous in `table`, see range). parted: dead, outside the range that spawns use. retired:
** generations used up. */
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
  struct record records[INDEX_PAGE];
  uint16_t generations[INDEX_PAGE];
};

/* Slots of consecutive indices. */
struct slots {
  struct record *records;
  uint16_t *generations;
  uint32_t count;
};

/* A range of indices that ids are taken from. */
struct range {
  uint32_t first;
  uint32_t last;
  uint32_t next;        /* no index below it is unborn */
  uint32_t free_head;   /* the most recently freed index, or 0 */
  uint32_t free_count;
  uint32_t linked;      /* free indices after this one are linked to their predecessors */
};

struct entity_index {
  struct slots near;         /* from FIRST_ENTITY on; all after them is unborn */
  uint32_t near_capacity;    /* no page covers these */
  uint32_t record_capacity;  /* of near.records; larger only after memory ran out */
  uint32_t tag;
  uint32_t high;             /* the tag, shifted above an id's generation */
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
  return &entity_page(index, at)->records[at & (INDEX_PAGE - 1)];
}

/* The generation of an index. */
static inline uint16_t *entity_generation(const struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY;
  if (LIKELY(offset < index->near.count)) return &index->near.generations[offset];
  assert(at < INDEX_LIMIT && entity_page(index, at));
  return &entity_page(index, at)->generations[at & (INDEX_PAGE - 1)];
}

/* The present id of an index (of its next life if it is dead). */
static inline ecs_id entity_id(const struct entity_index *index, uint32_t at) {
  return id_make(at, *entity_generation(index, at), at < FIRST_ENTITY ? 0 : index->tag);
}

/* The present id of any index; its first id if it has no slot, as in a made-up pair. */
static inline ecs_id entity_id_any(const struct entity_index *index, uint32_t at) {
  assert(at < INDEX_LIMIT);
  if (LIKELY(at - FIRST_ENTITY < index->near.count) || entity_page(index, at))
    return entity_id(index, at);
  return id_make(at, 0, at < FIRST_ENTITY ? 0 : index->tag);
}

/* entity_find for slots that are not near. */
struct record *entity_find_far(const struct entity_index *index, ecs_id id);

/* The record of an id with a near slot; NULL if it is in another life, or the record's table is
** above `most`. */
INLINE struct record *entity_first_record(const struct entity_index *index, ecs_id id,
                                          uint32_t most) {
  uint32_t offset = ecs_id_index(id) - FIRST_ENTITY;
  assert(offset < index->near.count);
  if (UNLIKELY(id >> INDEX_BITS != (index->near.generations[offset] | index->high)))
    return NULL;
  struct record *record = &index->near.records[offset];
  return LIKELY(record->table <= most) ? record : NULL;
}

/* Whether an id's slot is near. */
INLINE bool entity_in_first_slots(const struct entity_index *index, ecs_id id) {
  return ecs_id_index(id) - FIRST_ENTITY < index->near.count;
}

/* The record of a living entity, or NULL for any other number. */
INLINE struct record *entity_find(const struct entity_index *index, ecs_id id) {
  if (UNLIKELY(!entity_in_first_slots(index, id))) return entity_find_far(index, id);
  return entity_first_record(index, id, RECORD_BARE);
}

/* entity_find without a call that would save registers: NULL also for entities without a row and
** for far slots, where entity_find must be called. Takes 22 % off a get, 12 % off one of a cell, 9
** % off a spawn with its despawn. */
INLINE struct record *entity_find_row(const struct entity_index *index, ecs_id id) {
  return LIKELY(entity_in_first_slots(index, id))
             ? entity_first_record(index, id, RECORD_BARE - 1)
             : NULL;
}

/* ECS_OK for a living entity, otherwise why it is not one. */
ecs_status entity_status(const struct entity_index *index, ecs_id id);

/* The slots from an index on; none if it has no slot. */
struct slots entity_slots(const struct entity_index *index, uint32_t at);

/* The first index from `at` on that has a slot, or INDEX_LIMIT. */
uint32_t entity_next_slot(const struct entity_index *index, uint32_t at);

void entity_index_init(struct entity_index *index, uint32_t tag);
void entity_index_free(struct entity_index *index, struct memory *memory);

/* Whether the next index follows the near slots and there is room for it. */
static inline bool entity_is_fresh(const struct entity_index *index,
                                   const struct range *range) {
  return range->next - FIRST_ENTITY == index->near.count &&
         index->near.count < index->near_capacity && range->next <= range->last;
}

/* entity_reserve if slots have to be found or made. */
ecs_status entity_reserve_slots(struct entity_index *index, struct memory *memory,
                                struct range *range, uint64_t count);

/* Reserves, so that `count` takes from the range cannot fail: ECS_ENOMEM, ECS_ELIMIT. */
static inline ecs_status entity_reserve(struct entity_index *index, struct memory *memory,
                                        struct range *range, uint64_t count) {
  if (LIKELY(count <= range->free_count)) return ECS_OK;
  if (LIKELY(count == 1 && entity_is_fresh(index, range))) return ECS_OK;
  return entity_reserve_slots(index, memory, range, count);
}

/* Takes the most recently freed index from the range's list. */
static inline uint32_t entity_unfree(const struct entity_index *index, struct range *range) {
  assert(range->free_count > 0 && range->free_head >= range->first);
  uint32_t at = range->free_head, next = entity_record(index, at)->row;
  if (at == range->linked) range->linked = next;
  range->free_head = next;
  range->free_count--;
  return at;
}

/* entity_take if a slot must be searched, or is not near. */
uint32_t entity_take_unborn(struct entity_index *index, struct range *range);

/* Takes the next index of the range, after entity_reserve: alive and bare. */
INLINE uint32_t entity_take(struct entity_index *index, struct range *range) {
  uint32_t at;
  if (range->free_head) {
    at = entity_unfree(index, range);
  } else if (LIKELY(entity_is_fresh(index, range))) {
    index->near.generations[index->near.count++] = 0;
    at = range->next++;
  } else {
    at = entity_take_unborn(index, range);
  }
  index->alive += at >= FIRST_ENTITY;
  *entity_record(index, at) = (struct record){RECORD_BARE, 0};
  return at;
}

/* entity_take for a near slot that exists or is the next one, so that nothing has to be reserved.
** Returns its record, or NULL if it is another kind of slot. */
INLINE struct record *entity_take_first(struct entity_index *index, ecs_id *id) {
  struct range *range = &index->entities;
  uint32_t at = range->free_head, offset = at - FIRST_ENTITY;
  if (at && UNLIKELY(offset >= index->near.count)) return NULL;
  if (at) {
    entity_unfree(index, range);
  } else {
    if (UNLIKELY(!entity_is_fresh(index, range))) return NULL;
    at = range->next++;
    offset = index->near.count++;
    index->near.generations[offset] = 0;
  }
  index->alive++;
  *id = at | (ecs_id)(index->near.generations[offset] | index->high) << INDEX_BITS;
  index->near.records[offset].table = RECORD_BARE;
  return &index->near.records[offset];
}

/* Takes up to `most` consecutive indices: the first record is `where`, the others' rows follow.
** Returns their number, at least 1. */
uint32_t entity_take_run(struct entity_index *index, struct range *range, uint32_t most,
                         struct record where, uint32_t *first);

/* The ids of indices that were taken in one run. */
void entity_ids(const struct entity_index *index, uint32_t first, uint32_t count,
                ecs_id *ids);

/* The state of a slot before it was adopted. */
struct unborn {
  struct record record;
  uint16_t generation;
  bool first;                  /* it was the first free one of its range */
};

/* ECS_ETAKEN, ECS_EDEAD (an earlier life), ECS_ELIMIT (retired), ECS_ENOMEM. */
ecs_status entity_adopt_reserve(struct entity_index *index, struct memory *memory,
                                ecs_id id);
struct unborn entity_adopt(struct entity_index *index, ecs_id id);

/* Undoes the last entity_adopt, after which no id was taken. */
void entity_unadopt(struct entity_index *index, uint32_t at, const struct unborn *was);

/* Puts a dead index that has a slot into its range's free list. */
static inline void entity_free(const struct entity_index *index, struct range *range,
                               uint32_t at) {
  struct record *record = entity_record(index, at);
  assert(at >= range->first && at <= range->last && record->table != RECORD_FREE);
  record->table = RECORD_FREE;
  record->row = range->free_head;
  range->free_head = at;
  range->free_count++;
}

/* Undoes the last entity_take that still holds: an index that was new, and so the last of its
** range, becomes unborn again. */
void entity_untake(struct entity_index *index, struct range *range, uint32_t at);

/* entity_release for indices outside the range, for components, and for the last life of an
** index. */
void entity_free_slot(struct entity_index *index, uint32_t at);

/* Ends a life: the index waits for its next generation, or is retired. */
static inline void entity_release(struct entity_index *index, uint32_t at) {
  struct range *range = &index->entities;
  uint16_t *generation = entity_generation(index, at);
  assert(entity_record(index, at)->table <= RECORD_BARE);
  assert(at < FIRST_ENTITY || index->alive > 0);
  if (UNLIKELY(at < range->first || at > range->last || *generation == GENERATION_LIMIT)) {
    entity_free_slot(index, at);
    return;
  }
  index->alive--;
  ++*generation;
  entity_free(index, range, at);
}

/* Releases each index of a list. */
void entity_release_all(struct entity_index *index, const uint32_t *entities, uint32_t count);

ecs_status entity_set_range(struct entity_index *index, uint32_t first, uint32_t last);

/* Puts a parted slot at the head of its range's free list; false if it is not parted. */
bool entity_link(struct entity_index *index, uint32_t at);

/* Makes the slots of a whole page of indices as far as they are missing; count 0 when out of
** memory. */
struct slots entity_make_page(struct entity_index *index, struct memory *memory, uint32_t at);

/* Frees unborn near slots at the end. */
void entity_trim(struct entity_index *index);

/* Makes retired slots available again; no references to them may remain. Returns their number. */
size_t entity_unretire(struct entity_index *index);

bool entity_index_check(const struct entity_index *index);

#endif
