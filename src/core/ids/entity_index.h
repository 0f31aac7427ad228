/* How ids come and go in the entity index: taken, adopted, given back, retired. Looking them up
** needs record.h alone. */
#ifndef ECS_CORE_IDS_ENTITY_INDEX_H
#define ECS_CORE_IDS_ENTITY_INDEX_H

#include "core/ids/record.h"

struct memory;

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
INLINE struct record *entity_take_near(struct entity_index *index, ecs_id *id) {
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

/* The same, but an index that nobody had before, the last of its range so far, is as if nobody had
** ever had it. */
void entity_untake_wholly(struct entity_index *index, struct range *range, uint32_t at);

/* What entity_release does outside the range that ids are taken from, to components, and to
** the last of an index's lives. */
void entity_release_apart(struct entity_index *index, uint32_t at);

/* Ends a life: the index waits for its next generation, or is retired. */
static inline void entity_release(struct entity_index *index, uint32_t at) {
  struct range *range = &index->entities;
  uint16_t *generation = entity_generation(index, at);
  assert(entity_record(index, at)->table <= RECORD_BARE);
  assert(at < FIRST_ENTITY || index->alive > 0);
  if (UNLIKELY(at < range->first || at > range->last || *generation == GENERATION_LIMIT)) {
    entity_release_apart(index, at);
    return;
  }
  index->alive--;
  ++*generation;
  entity_free(index, range, at);
}

/* The same of each of a list. */
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
