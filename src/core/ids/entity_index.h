/* How ids come and go in the entity index: taken, adopted, given back, retired. Looking them up
** needs record.h alone. */
#ifndef ECS_CORE_IDS_ENTITY_INDEX_H
#define ECS_CORE_IDS_ENTITY_INDEX_H

#include "core/base/base.h"

struct memory;

/* The entity index as those see it who look ids up: which are alive, and where each entity's row
** is. A record is 8 bytes, a generation 2. Slots from the first entity on are in two arrays that
** double (the near ones); those of components, and far indices that ranges and adopted ids bring,
** in pages. How ids come and go is in index.h. */

#define PAGE_BITS 12
#define INDEX_PAGE (1u << PAGE_BITS)
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
  struct record records[INDEX_PAGE];
  uint16_t generations[INDEX_PAGE];
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
  return &entity_page(index, at)->records[at & (INDEX_PAGE - 1)];
}

/* How often an index has been used. */
static inline uint16_t *entity_generation(const struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY;
  if (LIKELY(offset < index->near.count)) return &index->near.generations[offset];
  assert(at < INDEX_LIMIT && entity_page(index, at));
  return &entity_page(index, at)->generations[at & (INDEX_PAGE - 1)];
}

/* The id that an index has now (of its next life, when it is dead). */
static inline ecs_id entity_id(const struct entity_index *index, uint32_t at) {
  return id_make(at, *entity_generation(index, at), at < FIRST_ENTITY ? 0 : index->tag);
}

/* The id that any index has now; without a slot, as a made-up pair may name one, its first id. */
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

/* entity_find without a call that would want registers saved: NULL also for an entity without a row
** and for those far away, so that entity_find must be asked then. Takes 22 % off a get, 12 % off
** one of a cell, 9 % off a spawn with its despawn. */
INLINE struct record *entity_find_row(const struct entity_index *index, ecs_id id) {
  return LIKELY(entity_in_first_slots(index, id))
             ? entity_first_record(index, id, RECORD_BARE - 1)
             : NULL;
}

/* ECS_OK for a living entity, else which of the four ways it is not one. */
ecs_status entity_status(const struct entity_index *index, ecs_id id);

/* The slots from an index on; none when it has no slot. */
struct slots entity_slots(const struct entity_index *index, uint32_t at);

/* The first index at or behind `at` that has a slot, or INDEX_LIMIT. */
uint32_t entity_next_slot(const struct entity_index *index, uint32_t at);

void entity_index_init(struct entity_index *index, uint32_t tag);
void entity_index_free(struct entity_index *index, struct memory *memory);

/* Whether the next index is the one behind the near slots, with room for it. */
static inline bool entity_is_fresh(const struct entity_index *index,
                                   const struct range *range) {
  return range->next - FIRST_ENTITY == index->near.count &&
         index->near.count < index->near_capacity && range->next <= range->last;
}

/* entity_reserve where slots have to be found or made. */
ecs_status entity_reserve_slots(struct entity_index *index, struct memory *memory,
                                struct range *range, uint64_t count);

/* After this, `count` takes from the range cannot fail: ECS_ENOMEM, ECS_ELIMIT. */
static inline ecs_status entity_reserve(struct entity_index *index, struct memory *memory,
                                        struct range *range, uint64_t count) {
  if (LIKELY(count <= range->free_count)) return ECS_OK;
  if (LIKELY(count == 1 && entity_is_fresh(index, range))) return ECS_OK;
  return entity_reserve_slots(index, memory, range, count);
}

/* Takes the most recently freed index out of the range's list. */
static inline uint32_t entity_unfree(const struct entity_index *index, struct range *range) {
  assert(range->free_count > 0 && range->free_head >= range->first);
  uint32_t at = range->free_head, next = entity_record(index, at)->row;
  if (at == range->linked) range->linked = next;
  range->free_head = next;
  range->free_count--;
  return at;
}

/* What entity_take does where a slot is to be looked for, or is not near. */
uint32_t entity_take_unborn(struct entity_index *index, struct range *range);

/* The next index of the range, after entity_reserve: alive and bare. */
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

/* entity_take of an entity whose slot is near, and there or the next one: then nothing has to be
** reserved. Returns its record, NULL when it is another one. */
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

/* Up to `most` indices that follow each other: the first one's record is `where`, the
** others' are one row further each. Returns how many, at least 1. */
uint32_t entity_take_run(struct entity_index *index, struct range *range, uint32_t most,
                         struct record where, uint32_t *first);

/* The ids of indices that were taken in one run. */
void entity_ids(const struct entity_index *index, uint32_t first, uint32_t count,
                ecs_id *ids);

/* What an adopted slot was before. */
struct unborn {
  struct record record;
  uint16_t generation;
  bool first;                  /* of those that are free in its range */
};

/* ECS_ETAKEN, ECS_EDEAD (an earlier life), ECS_ELIMIT (retired), ECS_ENOMEM. */
ecs_status entity_adopt_reserve(struct entity_index *index, struct memory *memory,
                                ecs_id id);
struct unborn entity_adopt(struct entity_index *index, ecs_id id);

/* Takes back the last entity_adopt, behind which no id was taken. */
void entity_unadopt(struct entity_index *index, uint32_t at, const struct unborn *was);

/* Puts a dead index that has a slot into its range's list. */
static inline void entity_free(const struct entity_index *index, struct range *range,
                               uint32_t at) {
  struct record *record = entity_record(index, at);
  assert(at >= range->first && at <= range->last && record->table != RECORD_FREE);
  record->table = RECORD_FREE;
  record->row = range->free_head;
  range->free_head = at;
  range->free_count++;
}

/* Takes back the last entity_take that was not taken back. */
static inline void entity_untake(struct entity_index *index, struct range *range, uint32_t at) {
  index->alive -= at >= FIRST_ENTITY;
  entity_free(index, range, at);
}

/* Takes back the last entity_take; an index that was new, the last of its range so far, is unused
** again. */
void entity_untake_wholly(struct entity_index *index, struct range *range, uint32_t at);

/* What entity_release does outside the range that ids are taken from, to components, and to
** the last of an index's lives. */
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

/* Releases each of a list. */
void entity_release_all(struct entity_index *index, const uint32_t *entities, uint32_t count);

ecs_status entity_set_range(struct entity_index *index, uint32_t first, uint32_t last);

/* Puts a parted slot at the head of its range's free list; false when it is no such slot. */
bool entity_link(struct entity_index *index, uint32_t at);

/* The slots of a whole page of indices, made as far as there are none; count 0 when out of
** memory. */
struct slots entity_make_page(struct entity_index *index, struct memory *memory, uint32_t at);

/* Lets go of near slots at the end that are unborn. */
void entity_trim(struct entity_index *index);

/* Gives retired slots back; references to them must be gone. Returns how many. */
size_t entity_unretire(struct entity_index *index);

bool entity_index_check(const struct entity_index *index);

#endif
