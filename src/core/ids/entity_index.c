#include "core/ids/entity_index.h"

#include "core/base/column.h"
#include "core/base/memory.h"

struct slots entity_slots(const struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY, slot = at & (INDEX_PAGE - 1);
  assert(at < INDEX_LIMIT);
  if (offset < index->near.count)
    return (struct slots){index->near.records + offset, index->near.generations + offset,
                          index->near.count - offset};
  struct page *page = entity_page(index, at);
  if (!page) return (struct slots){NULL, NULL, 0};
  return (struct slots){page->records + slot, page->generations + slot, INDEX_PAGE - slot};
}

uint32_t entity_next_slot(const struct entity_index *index, uint32_t at) {
  while (at < INDEX_LIMIT && entity_slots(index, at).count == 0) {
    bool near = at < FIRST_ENTITY && index->near.count;
    uint32_t step = index->directory[at >> 20] || near ? INDEX_PAGE : INDEX_PAGE * MIDDLE_SIZE;
    at = (at | (step - 1)) + 1;
  }
  return at;
}

struct record *entity_find_far(const struct entity_index *index, ecs_id id) {
  uint32_t at = ecs_id_index(id);
  assert(!entity_in_first_slots(index, id));
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

/* ---- entity index ---- */

#define FIRST_NEAR 64u
#define NEAR_LIMIT (INDEX_LIMIT - FIRST_ENTITY)

void entity_index_init(struct entity_index *index, uint32_t tag) {
  memset(index, 0, sizeof *index);
  index->tag = tag;
  index->high = tag << 16;
  index->components = (struct range){1, FIRST_ENTITY - 1, 1, 0, 0, 0};
  index->entities = (struct range){FIRST_ENTITY, INDEX_LIMIT - 1, FIRST_ENTITY, 0, 0, 0};
}

void entity_index_free(struct entity_index *index, struct memory *memory) {
  struct slots *near = &index->near;
  FREE_LIST(memory, near->records, index->record_capacity);
  FREE_LIST(memory, near->generations, index->near_capacity);
  for (uint32_t i = 0; i < DIRECTORY_SIZE; i++) {
    struct page **middle = index->directory[i];
    if (!middle) continue;
    for (uint32_t j = 0; j < MIDDLE_SIZE; j++)
      memory_free(memory, middle[j], sizeof *middle[j]);
    FREE_LIST(memory, middle, MIDDLE_SIZE);
    index->directory[i] = NULL;
  }
}

/* ---- slots ---- */

static void index_make_unborn(struct slots slots) {
  memset(slots.records, 0xFF, slots.count * sizeof *slots.records);
  memset(slots.generations, 0, slots.count * sizeof *slots.generations);
}

/* Finds or makes the page of an index; NULL when out of memory. */
static struct page *index_need_page(struct entity_index *index, struct memory *memory,
                                    uint32_t at) {
  assert(at < INDEX_LIMIT);
  struct page ***middle = &index->directory[at >> 20];
  if (!*middle) *middle = memory_array(memory, MIDDLE_SIZE, sizeof **middle);
  if (!*middle) return NULL;
  struct page **page = &(*middle)[at >> PAGE_BITS & (MIDDLE_SIZE - 1)];
  if (!*page) {
    *page = memory_resize(memory, NULL, 0, sizeof **page);
    if (!*page) return NULL;
    index_make_unborn((struct slots){(*page)->records, (*page)->generations, INDEX_PAGE});
  }
  return *page;
}

/* Extends the near slots to `count`, for which there is room; new ones are unborn. */
static void index_near_extend(struct entity_index *index, uint32_t count) {
  struct slots *near = &index->near;
  if (count <= near->count) return;
  assert(count <= index->near_capacity);
  index_make_unborn((struct slots){near->records + near->count, near->generations + near->count,
                             count - near->count});
  near->count = count;
}

/* Moves pages that the near slots now cover into them. */
static void index_absorb_pages(struct entity_index *index, struct memory *memory, uint32_t first) {
  struct slots *near = &index->near;
  for (uint32_t offset = first; offset < index->near_capacity; offset += INDEX_PAGE) {
    struct page *page = entity_page(index, FIRST_ENTITY + offset);
    if (!page) continue;
    index_near_extend(index, offset);
    assert(near->count == offset);
    memcpy(near->records + offset, page->records, sizeof page->records);
    memcpy(near->generations + offset, page->generations, sizeof page->generations);
    near->count = offset + INDEX_PAGE;
    uint32_t at = FIRST_ENTITY + offset;
    index->directory[at >> 20][at >> PAGE_BITS & (MIDDLE_SIZE - 1)] = NULL;
    memory_free(memory, page, sizeof *page);
  }
}

/* Reserves near slots. Beyond one page they come in whole pages. */
static bool index_near_reserve(struct entity_index *index, struct memory *memory, uint32_t count) {
  struct slots *near = &index->near;
  uint32_t old = index->near_capacity, wanted = old * 2;
  if (count <= old) return true;
  if (wanted < FIRST_NEAR) wanted = FIRST_NEAR;
  if (wanted < count) wanted = count;
  if (wanted > INDEX_PAGE) wanted = round_up(wanted, INDEX_PAGE);
  if (wanted > NEAR_LIMIT) wanted = NEAR_LIMIT;
  size_t size = sizeof *near->records;
  if (wanted > index->record_capacity) {
    struct record *records = memory_resize(memory, near->records,
                                           index->record_capacity * size, wanted * size);
    if (!records) return false;
    near->records = records;
    index->record_capacity = wanted;
  }
  size = sizeof *near->generations;
  uint16_t *generations = memory_resize(memory, near->generations, old * size, wanted * size);
  if (!generations) return false;
  near->generations = generations;
  assert(wanted >= count && wanted <= index->record_capacity);
  index->near_capacity = wanted;
  if (wanted > INDEX_PAGE) index_absorb_pages(index, memory, old < INDEX_PAGE ? INDEX_PAGE : old);
  return true;
}

/* Whether a new slot would be near: the arrays may at most double for it. */
static bool index_slot_fits_first(const struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY;
  return at >= FIRST_ENTITY && (offset < INDEX_PAGE || offset / 2 < index->near_capacity);
}

/* The slot of an index, after room for it has been reserved. */
static struct slots index_need_slot(struct entity_index *index, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY;
  if (offset < index->near_capacity) index_near_extend(index, offset + 1);
  struct slots slots = entity_slots(index, at);
  assert(slots.count);
  return slots;
}

/* ---- lives ---- */

/* The number of unborn slots among the first `count`; missing slots count as unborn. */
static uint32_t index_count_unborn(struct slots slots, uint32_t count) {
  uint32_t unborn = count;
  for (uint32_t i = 0; i < count && i < slots.count; i++)
    unborn -= slots.records[i].table != RECORD_UNBORN;
  return unborn;
}

ecs_status entity_reserve_slots(struct entity_index *index, struct memory *memory,
                                struct range *range, uint64_t count) {
  assert(count > range->free_count);
  uint64_t need = count - range->free_count;
  for (uint32_t at = range->next; need > 0;) {
    if (need > range->last + 1ull - at) return ECS_ELIMIT;
    uint32_t run = (uint32_t)need;
    if (index_slot_fits_first(index, at)) {
      if (!index_near_reserve(index, memory, at - FIRST_ENTITY + run)) return ECS_ENOMEM;
    } else {
      uint32_t left = INDEX_PAGE - (at & (INDEX_PAGE - 1));
      if (run > left) run = left;
      if (!index_need_page(index, memory, at)) return ECS_ENOMEM;
    }
    need -= index_count_unborn(entity_slots(index, at), run);
    at += run;
  }
  return ECS_OK;
}

uint32_t entity_take_unborn(struct entity_index *index, struct range *range) {
  uint32_t at = range->next;
  while (index_count_unborn(entity_slots(index, at), 1) == 0) at++;
  assert(at <= range->last);
  index_need_slot(index, at);
  range->next = at + 1;
  return at;
}

void entity_untake(struct entity_index *index, struct range *range, uint32_t at) {
  struct slots slots = entity_slots(index, at);
  assert(slots.records && slots.records->table <= RECORD_BARE);
  index->alive -= at >= FIRST_ENTITY;
  if (*slots.generations || at + 1 != range->next) {
    entity_free(index, range, at);
    return;
  }
  *slots.records = (struct record){RECORD_UNBORN, RECORD_UNBORN};
  range->next = at;
}

/* entity_take_run for indices without slots yet: a sixth of the time of single takes. */
static LOOPS uint32_t index_take_fresh_run(struct entity_index *index,
                                           struct range *range, uint32_t most,
                                           struct record where) {
  struct slots *near = &index->near;
  assert(where.table < RECORD_BARE && range->next <= range->last);
  uint32_t count = index->near_capacity - near->count, left = range->last - range->next + 1;
  if (count > left) count = left;
  if (count > most) count = most;
  struct record *records = near->records + near->count;
  for (uint32_t i = 0; i < count; i++)
    records[i] = (struct record){where.table, where.row + i};
  memset(near->generations + near->count, 0, count * sizeof *near->generations);
  near->count += count;
  range->next += count;
  index->alive += count;
  return count;
}

uint32_t entity_take_run(struct entity_index *index, struct range *range, uint32_t most,
                         struct record where, uint32_t *first) {
  assert(most > 0 && where.table < RECORD_BARE);
  *first = range->next;
  bool known = range->free_head != 0;
  if (!known && entity_is_fresh(index, range))
    return index_take_fresh_run(index, range, most, where);
  *first = entity_take(index, range);
  struct slots slots = entity_slots(index, *first);
  assert(slots.records);
  slots.records[0] = where;
  if (known) return 1;
  uint32_t count = 1;
  for (; count < most && count < slots.count && *first + count <= range->last; count++) {
    if (slots.records[count].table != RECORD_UNBORN) break;
    slots.records[count] = (struct record){where.table, where.row + count};
  }
  range->next = *first + count;
  index->alive += count - 1;
  return count;
}

LOOPS void entity_ids(const struct entity_index *index, uint32_t first, uint32_t count,
                ecs_id *ids) {
  const uint16_t *generations = entity_slots(index, first).generations;
  assert(generations || count == 0);
  for (uint32_t i = 0; i < count; i++)
    ids[i] = id_make(first + i, generations[i], index->tag);
}

static bool index_is_free(const struct record *record) {
  return record->table >= RECORD_FREE && record->table < RECORD_PARTED;
}

/* Links every free index to its predecessor. Freeing does not, since few are ever taken from the
** middle; each costs at most one step here. */
static void index_link_free(const struct entity_index *index, struct range *range) {
  uint32_t at = range->free_head, end = range->linked;
  while (at && at != end) {
    uint32_t next = entity_record(index, at)->row;
    if (next) entity_record(index, next)->table = RECORD_FREE | at;
    at = next;
  }
  range->linked = range->free_head;
}

static void index_unlink_free(const struct entity_index *index, struct range *range, uint32_t at) {
  assert(range->free_count > 0 && index_is_free(entity_record(index, at)));
  if (at == range->free_head) {
    entity_unfree(index, range);
    return;
  }
  index_link_free(index, range);
  const struct record *record = entity_record(index, at);
  uint32_t previous = record->table & (INDEX_LIMIT - 1), next = record->row;
  assert(entity_record(index, previous)->row == at);
  assert(next == 0 || entity_record(index, next)->table == (RECORD_FREE | at));
  entity_record(index, previous)->row = next;
  if (next) entity_record(index, next)->table = RECORD_FREE | previous;
  range->free_count--;
}

ecs_status entity_adopt_reserve(struct entity_index *index, struct memory *memory,
                                ecs_id id) {
  ecs_status status = entity_status(index, id);
  if (status == ECS_OK) return ECS_ETAKEN;
  if (status != ECS_EUNBORN) return status;
  uint32_t at = ecs_id_index(id);
  bool room = index_slot_fits_first(index, at)
                  ? index_near_reserve(index, memory, at - FIRST_ENTITY + 1)
                  : index_need_page(index, memory, at) != NULL;
  if (!room) return ECS_ENOMEM;
  struct slots slots = entity_slots(index, at);
  return slots.count && slots.records->table <= RECORD_BARE ? ECS_ETAKEN : ECS_OK;
}

static struct range *index_range_of(struct entity_index *index, uint32_t at) {
  struct range *range = at < FIRST_ENTITY ? &index->components : &index->entities;
  return at >= range->first && at <= range->last ? range : NULL;
}

struct unborn entity_adopt(struct entity_index *index, ecs_id id) {
  uint32_t at = ecs_id_index(id);
  struct slots slots = index_need_slot(index, at);
  struct range *range = index_range_of(index, at);
  assert(slots.records->table > RECORD_BARE);
  assert(range || !index_is_free(slots.records));
  bool first = index_is_free(slots.records) && range->free_head == at;
  if (index_is_free(slots.records)) index_unlink_free(index, range, at);
  struct unborn was = {*slots.records, *slots.generations, first};
  *slots.records = (struct record){RECORD_BARE, 0};
  *slots.generations = (uint16_t)ecs_id_generation(id);
  if (at >= FIRST_ENTITY) index->alive++;
  return was;
}

void entity_unadopt(struct entity_index *index, uint32_t at, const struct unborn *was) {
  struct slots slots = entity_slots(index, at);
  struct range *range = index_range_of(index, at);
  assert(slots.count && slots.records->table == RECORD_BARE && index->alive > 0);
  index->alive -= at >= FIRST_ENTITY;
  *slots.generations = was->generation;
  if (was->first) {
    entity_free(index, range, at);
    return;
  }
  *slots.records = was->record;
  if (!index_is_free(&was->record)) return;
  uint32_t previous = was->record.table & (INDEX_LIMIT - 1), next = was->record.row;
  assert(entity_record(index, previous)->row == next);
  entity_record(index, previous)->row = at;
  if (next) entity_record(index, next)->table = RECORD_FREE | at;
  range->free_count++;
}

void entity_free_slot(struct entity_index *index, uint32_t at) {
  struct slots slots = entity_slots(index, at);
  struct range *range = index_range_of(index, at);
  assert(slots.records && slots.records->table <= RECORD_BARE);
  assert(at < FIRST_ENTITY || index->alive > 0);
  if (at >= FIRST_ENTITY) index->alive--;
  if (*slots.generations == GENERATION_LIMIT) {
    *slots.records = (struct record){RECORD_RETIRED, 0};
    index->retired++;
    return;
  }
  ++*slots.generations;
  if (range)
    entity_free(index, range, at);
  else
    *slots.records = (struct record){RECORD_PARTED, 0};
}

/* The number of near slots in a range, from its first one on. */
static uint32_t index_near_in_range(const struct entity_index *index, const struct range *range) {
  uint32_t end = FIRST_ENTITY + index->near.count;
  if (range->first < FIRST_ENTITY || range->first >= end) return 0;
  return (range->last < end ? range->last + 1 : end) - range->first;
}

/* The free list is written once, which takes half the time. */
void entity_release_all(struct entity_index *index, const uint32_t *entities, uint32_t count) {
  if (count == 0) return;   /* there may be no list, and even adding 0 to NULL is undefined */
  struct range *range = &index->entities;
  struct slots near = index->near;
  uint32_t head = range->free_head, freed = count, first = range->first - FIRST_ENTITY;
  uint32_t within = index_near_in_range(index, range);
  for (const uint32_t *end = entities + count; entities < end; entities++) {
    uint32_t at = *entities, offset = at - FIRST_ENTITY;
    bool usual = LIKELY(offset - first < within);
    uint32_t generation = usual ? near.generations[offset] : GENERATION_LIMIT;
    if (UNLIKELY(generation == GENERATION_LIMIT)) {
      range->free_head = head;
      entity_release(index, at);
      head = range->free_head;
      freed--;
      continue;
    }
    assert(near.records[offset].table <= RECORD_BARE);
    near.generations[offset] = (uint16_t)(generation + 1);
    near.records[offset].table = RECORD_FREE;
    near.records[offset].row = head;
    head = at;
  }
  assert(freed <= index->alive);
  range->free_head = head;
  range->free_count += freed;
  index->alive -= freed;
}

/* ---- ranges ---- */

/* Calls back for every index that has a slot, from high to low. */
static void index_each_down(struct entity_index *index, uint32_t first, uint32_t last,
                            void (*visit)(struct entity_index *, uint32_t at)) {
  uint32_t near_end = FIRST_ENTITY + index->near.count;
  for (uint32_t page = last >> PAGE_BITS; page + 1 > first >> PAGE_BITS; page--) {
    uint32_t base = page << PAGE_BITS, top = base | (INDEX_PAGE - 1);
    uint32_t middle = page & ~(MIDDLE_SIZE - 1);
    if (!index->directory[page >> 8] && middle << PAGE_BITS >= near_end) {
      page = middle;
    } else {
      if (top > last) top = last;
      if (base < first) base = first;
      uint32_t count = entity_slots(index, base).count;
      if (count > top - base + 1) count = top - base + 1;
      while (count-- > 0) visit(index, base + count);
    }
    if (page == 0) return;
  }
}

static void index_unpart(struct entity_index *index, uint32_t at) {
  if (entity_record(index, at)->table == RECORD_PARTED)
    entity_free(index, &index->entities, at);
}

ecs_status entity_set_range(struct entity_index *index, uint32_t first, uint32_t last) {
  if (first < FIRST_ENTITY || last >= INDEX_LIMIT || first > last) return ECS_EINVAL;
  for (uint32_t at = index->entities.free_head, next; at; at = next) {
    struct record *record = entity_record(index, at);
    next = record->row;
    *record = (struct record){RECORD_PARTED, 0};
  }
  index->entities = (struct range){first, last, first, 0, 0, 0};
  index_each_down(index, first, last, index_unpart);
  return ECS_OK;
}

bool entity_link(struct entity_index *index, uint32_t at) {
  struct range *range = index_range_of(index, at);
  struct slots slots = entity_slots(index, at);
  if (!range || slots.count == 0 || slots.records->table != RECORD_PARTED) return false;
  *slots.records = (struct record){RECORD_FREE, range->free_head};
  range->free_head = at;
  range->free_count++;
  return true;
}

struct slots entity_make_page(struct entity_index *index, struct memory *memory,
                              uint32_t at) {
  struct slots none = {NULL, NULL, 0};
  if (!index_slot_fits_first(index, at)) {
    if (!index_need_page(index, memory, at)) return none;
  } else {
    uint32_t count = at - FIRST_ENTITY + INDEX_PAGE;
    if (!index_near_reserve(index, memory, count)) return none;
    index_near_extend(index, count);
  }
  return entity_slots(index, at);
}

void entity_trim(struct entity_index *index) {
  struct slots *near = &index->near;
  while (near->count && near->records[near->count - 1].table == RECORD_UNBORN) near->count--;
}

static void index_unretire(struct entity_index *index, uint32_t at) {
  struct slots slots = entity_slots(index, at);
  assert(slots.records);
  if (slots.records->table != RECORD_RETIRED) return;
  *slots.generations = 0;
  struct range *range = index_range_of(index, at);
  if (range)
    entity_free(index, range, at);
  else
    *slots.records = (struct record){RECORD_PARTED, 0};
}

size_t entity_unretire(struct entity_index *index) {
  size_t count = index->retired;
  index_each_down(index, 1, INDEX_LIMIT - 1, index_unretire);
  index->retired = 0;
  return count;
}

/* ---- checking ---- */

static bool index_free_list_is_sound(const struct entity_index *index, const struct range *range) {
  uint32_t previous = 0, count = 0;
  bool linked = false;
  for (uint32_t at = range->free_head; at; count++) {
    const struct record *record = entity_record(index, at);
    if (at < range->first || at > range->last || count > range->free_count) return false;
    if (!index_is_free(record)) return false;
    if (linked && record->table != (RECORD_FREE | previous)) return false;
    linked |= at == range->linked;
    previous = at;
    at = record->row;
  }
  return count == range->free_count && linked == (range->linked != 0);
}

bool entity_index_check(const struct entity_index *index) {
  size_t alive = 0, retired = 0, free_slots = 0;
  uint32_t at = entity_next_slot(index, 0);
  while (at < INDEX_LIMIT) {
    struct slots slots = entity_slots(index, at);
    for (uint32_t i = 0; i < slots.count; i++) {
      const struct record *record = &slots.records[i];
      alive += record->table <= RECORD_BARE && at + i >= FIRST_ENTITY;
      retired += record->table == RECORD_RETIRED;
      free_slots += index_is_free(record);
    }
    at = entity_next_slot(index, at + slots.count);
  }
  /* No page covers near slots. */
  for (at = 0; at < index->near_capacity; at += INDEX_PAGE)
    if (entity_page(index, FIRST_ENTITY + at)) return false;
  return index->near.count <= index->near_capacity &&
         index->near_capacity <= index->record_capacity && alive == index->alive &&
         retired == index->retired &&
         free_slots == index->components.free_count + index->entities.free_count &&
         index_free_list_is_sound(index, &index->components) &&
         index_free_list_is_sound(index, &index->entities);
}
