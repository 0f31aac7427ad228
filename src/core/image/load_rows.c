/* Loads the entity index and the tables of an image, with events, ties, and marks of writes. */
#if defined(__GNUC__) && !defined(__clang__)
/* gcc -O2 does not vectorise the loops over rows. */
#pragma GCC optimize ("O3")
#endif

#include <math.h>

#include "core/base/sets.h"
#include "core/command/emission.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/image/load.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"
#include "ecs_world.h"

#define PIECE 4096u

/* ---- the entity index ---- */

struct free_list {
  uint32_t *items;
  uint32_t count, capacity;
};

static ecs_status load_rows_read_free_list(struct loader *loader, struct free_list *list) {
  uint32_t count = read_u32(&loader->in);
  for (uint32_t i = 0; i < count; i++) {
    if (!GROW(&loader->live->memory, list->items, list->capacity, i + 1ull)) return ECS_ENOMEM;
    list->items[i] = read_u32(&loader->in);
    if (loader->in.failed) return load_state(loader);
    list->count++;
  }
  return ECS_OK;
}

static bool load_rows_restore_slot(struct entity_index *index, struct record *record,
                                   uint16_t generation, uint8_t state) {
  record->row = 0;
  switch (state) {
    case SLOT_UNBORN: *record = (struct record){RECORD_UNBORN, RECORD_UNBORN}; return true;
    case SLOT_ALIVE:
      record->table = RECORD_BARE;
      index->alive++;
      return true;
    case SLOT_FREE:
    case SLOT_PARTED: record->table = RECORD_PARTED; return true;
    case SLOT_RETIRED:
      record->table = RECORD_RETIRED;
      index->retired++;
      return generation == GENERATION_LIMIT;
    default: return false;
  }
}

static ecs_status load_rows_read_page(struct loader *loader, uint32_t *last) {
  struct entity_index *index = &loader->world->entities;
  uint16_t generations[INDEX_PAGE];
  uint8_t states[INDEX_PAGE];
  uint32_t number = read_u32(&loader->in);
  if (number <= *last || number >= INDEX_LIMIT >> PAGE_BITS)
    return load_damaged(loader, "a page of ids is out of order");
  *last = number;
  read_numbers(&loader->in, generations, sizeof *generations, INDEX_PAGE);
  read_bytes(&loader->in, states, INDEX_PAGE);
  if (loader->in.failed) return load_state(loader);
  struct slots slots =
      entity_make_page(index, &loader->world->memory, number << PAGE_BITS);
  if (slots.count == 0) return ECS_ENOMEM;
  memcpy(slots.generations, generations, sizeof generations);
  for (uint32_t i = 0; i < INDEX_PAGE; i++)
    if (!load_rows_restore_slot(index, &slots.records[i], generations[i], states[i]))
      return load_damaged(loader, "an id has no known state");
  return load_state(loader);
}

ecs_status load_index(struct loader *loader) {
  struct entity_index *index = &loader->world->entities;
  struct reader *in = &loader->in;
  uint32_t first = read_u32(in), last = read_u32(in), next = read_u32(in);
  bool sound = first >= FIRST_ENTITY && first <= last && last < INDEX_LIMIT &&
               next >= first && next <= last + 1;
  if (loader->in.failed) return load_state(loader);
  if (!sound) return load_damaged(loader, "its range of ids is invalid");
  index->entities = (struct range){first, last, next, 0, 0, 0};
  struct free_list list = {NULL, 0, 0};
  ecs_status status = load_rows_read_free_list(loader, &list);
  uint32_t pages = status == ECS_OK ? read_u32(in) : 0;
  uint32_t last_page = (FIRST_ENTITY >> PAGE_BITS) - 1;
  for (uint32_t i = 0; i < pages && status == ECS_OK; i++)
    status = load_rows_read_page(loader, &last_page);
  entity_trim(index);
  for (uint32_t i = list.count; i-- > 0 && status == ECS_OK;) {
    uint32_t at = list.items[i];
    if (at < FIRST_ENTITY || at >= INDEX_LIMIT || !entity_link(index, at))
      status = load_damaged(loader, "a free id is invalid");
  }
  FREE_LIST(&loader->live->memory, list.items, list.capacity);
  return status;
}

/* ---- tables ---- */

/* A relation with several targets is in tables only as pairs; sparse components, arrays and events
** are in none. */
static bool load_row_is_by_itself(const struct component *component) {
  return !component->is_sparse && !component->length && !component->is_event &&
         (!component->ties.relation || component->ties.exclusive);
}

static ecs_status load_rows_read_ids(struct loader *loader, uint32_t count) {
  uint32_t last = 0;
  if (count > loader->component_count)
    return load_damaged(loader, "a table has an impossible type");
  ecs_id *ids = world_scratch(loader->world, count);
  if (!ids) return ECS_ENOMEM;
  for (uint32_t used = 0; used < count; used++) {
    uint32_t place = read_u32(&loader->in);
    if (place >= loader->component_count || (used && place <= last) ||
        !load_row_is_by_itself(loader->components[place]))
      return load_damaged(loader, "a table has an impossible type");
    last = place;
    id_set_insert(ids, used, loader->components[place]->id);
  }
  return ECS_OK;
}

/* The record of an entity in the shadow, whose index becomes *at; NULL if there is none. */
static struct record *load_rows_find_entity(const struct loader *loader, uint32_t *at) {
  const struct entity_index *index = &loader->world->entities;
  uint32_t offset = *at - FIRST_ENTITY;
  if (LIKELY(offset < index->near.count)) return &index->near.records[offset];
  if (*at < FIRST_ENTITY) {
    if (*at == 0 || *at > loader->component_count) return NULL;
    *at = ecs_id_index(loader->components[*at - 1]->id);
  }
  if (*at >= INDEX_LIMIT || entity_slots(index, *at).count == 0) return NULL;
  return entity_record(index, *at);
}

/* The index that an image's number stands for, if its slot exists; otherwise 0. */
static uint32_t load_rows_entity(const struct loader *loader, uint32_t number) {
  return load_rows_find_entity(loader, &number) ? number : 0;
}

/* Reads pairs, after the components already in the list. */
static ecs_status load_rows_read_pairs(struct loader *loader, uint32_t used, uint32_t count) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < count; i++, used++) {
    uint32_t place = read_u32(&loader->in), number = read_u32(&loader->in);
    uint64_t order = (uint64_t)place << 32 | number;
    ecs_id *ids = world_scratch(loader->world, used + 1ull);
    if (!ids) return ECS_ENOMEM;
    if (loader->in.failed) return load_state(loader);
    uint32_t target = load_rows_entity(loader, number);
    if (place >= loader->component_count || !component_has_pairs(loader->components[place]) ||
        target == 0 || (i && order <= last))
      return load_damaged(loader, "a pair is invalid");
    last = order;
    id_set_insert(ids, used, pair_make(ecs_id_index(loader->components[place]->id), target));
  }
  return ECS_OK;
}

static ecs_status load_rows_read_type(struct loader *loader, struct table **out) {
  uint32_t count = read_u32(&loader->in), pairs = 0;
  ecs_status status = load_rows_read_ids(loader, count);
  if (status == ECS_OK && loader->version > 2) {
    pairs = read_u32(&loader->in);
    status = load_rows_read_pairs(loader, count, pairs);
  }
  if (status != ECS_OK) return status;
  const ecs_id *ids = world_scratch(loader->world, (uint64_t)count + pairs);
  if (!ids) return ECS_ENOMEM;
  return graph_table(loader->world, ids, count + pairs, out);
}

/* Checks that a table with rows has no pairs with the dead, and all required components. */
static ecs_status load_row_check_type(struct loader *loader, const struct table *table) {
  const ecs_world *world = loader->world;
  struct gap gap;
  for (uint32_t i = 0; table->has_pairs && i < table->id_count; i++) {
    ecs_id id = table->ids[i];
    if (id_is_pair(id) && !ecs_alive(world, entity_id(&world->entities, pair_target(id))))
      return load_damaged(loader, "a pair is invalid");
  }
  if (require_gap(world, table->ids, table->id_count, true, &gap))
    return load_damaged(loader, "a table lacks a required component");
  return ECS_OK;
}

/* Gives entities the next rows of a table; false if one is not alive or has a row already. */
static bool load_rows_place_entities(struct loader *loader, struct table *table, uint32_t *rows,
                                     uint32_t count) {
  struct record where = {table->index, table->count};
  for (uint32_t i = 0; i < count; i++) {
    struct record *record = load_rows_find_entity(loader, &rows[i]);
    if (!record || record->table != RECORD_BARE) return false;
    assert(where.row < ROW_LIMIT);
    *record = where;
    where.row++;
  }
  table->count = where.row;
  return true;
}

/* Gives entities, which already have rows in tables, rows in a sparse set. */
static ecs_status load_rows_place_sparse(struct loader *loader, struct sparse *sparse,
                                         uint32_t *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const struct record *record = load_rows_find_entity(loader, &rows[i]);
    if (!record || record->table >= RECORD_BARE || sparse_row(sparse, rows[i]) != NONE)
      return load_damaged(loader, "a sparse row has no entity");
    if (sparse_need_page(loader->world, sparse, rows[i]) != ECS_OK) return ECS_ENOMEM;
    sparse_enter_row(loader->world, sparse, sparse->table->count++);
  }
  return ECS_OK;
}

static ecs_status place_rows(struct loader *loader, struct table *table,
                             const struct component *beside, uint32_t *rows, uint32_t count) {
  if (beside && beside->event) {
    for (uint32_t i = 0; i < count; i++)
      if (rows[i]) return load_damaged(loader, "an event belongs to an entity");
    table->count += count;
    return ECS_OK;
  }
  if (beside) return load_rows_place_sparse(loader, beside->sparse, rows, count);
  return load_rows_place_entities(loader, table, rows, count) ? ECS_OK
                                                    : load_damaged(loader, "a row has no entity");
}

/* Reads the rows of a table, a sparse set or an event. */
static ecs_status read_rows(struct loader *loader, struct table *table,
                            const struct component *beside, uint32_t count) {
  struct memory *memory = &loader->world->memory;
  while (table->count < count) {
    uint32_t piece = count - table->count < PIECE ? count - table->count : PIECE;
    size_t used = table->count * sizeof *table->rows;
    size_t need = used + piece * sizeof *table->rows;
    if (need + 64 > table->row_buffer.size &&
        !buffer_grow(memory, &table->row_buffer, need * 2 < count * sizeof *table->rows
                                                     ? need * 2 : count * sizeof *table->rows,
                     used))
      return ECS_ENOMEM;
    table->rows = table->row_buffer.data;
    uint32_t *rows = table->rows + table->count;
    read_numbers(&loader->in, rows, sizeof *rows, piece);
    if (loader->in.failed) return load_state(loader);
    ecs_status status = place_rows(loader, table, beside, rows, piece);
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

static ecs_status load_rows_read_column(struct loader *loader, const struct component *component,
                                        uint32_t leaf, const struct table *table, uint32_t at) {
  struct column *column = &table->columns[at];
  if (loader->version > 1 && read_u32(&loader->in) != column->size)
    return load_damaged(loader, "a column has another size");
  if (table->count == 0) return ECS_OK;
  size_t bytes = (size_t)table->count * column->size;
  if (!buffer_grow(&loader->world->memory, &column->buffer, bytes, 0)) return ECS_ENOMEM;
  column->data = column->buffer.data;
  return load_cells(loader, component, leaf, column->data, table->count);
}

static ecs_status load_rows_read_columns_of(struct loader *loader, const struct table *table,
                                            const struct component *component, ecs_id id) {
  uint32_t first = table_column(table, id);
  ecs_status status = ECS_OK;
  for (uint32_t j = 0; first != NONE && j < component->leaf_count && status == ECS_OK; j++) {
    status = load_rows_read_column(loader, component, j, table, first + j);
    if (status == ECS_OK) status = load_state(loader);
  }
  return status;
}

/* The place in the image of a component's or entity's index. */
static uint64_t load_rows_target_order(const struct loader *loader, uint32_t target) {
  if (target >= FIRST_ENTITY) return target;
  uint32_t place = 0;
  while (ecs_id_index(loader->components[place]->id) != target) {
    place++;
    assert(place < loader->component_count);
  }
  return place;
}

/* The pair of a relation that comes after another in the image, or ECS_NULL. */
static ecs_id load_row_next_pair(const struct loader *loader, const struct table *table,
                                 uint32_t relation, ecs_id last) {
  ecs_id next = ECS_NULL;
  uint64_t least = 0, after = last ? load_rows_target_order(loader, pair_target(last)) : 0;
  for (uint32_t i = 0; i < table->id_count; i++) {
    ecs_id id = table->ids[i];
    if (!id_is_pair(id) || pair_relation(id) != relation) continue;
    uint64_t order = load_rows_target_order(loader, pair_target(id));
    if ((last && order <= after) || (next && order >= least)) continue;
    next = id;
    least = order;
  }
  return next;
}

static ecs_status load_rows_read_columns(struct loader *loader, struct table *table) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++)
    status = load_rows_read_columns_of(loader, table, loader->components[i],
                                       loader->components[i]->id);
  for (uint32_t i = 0; table->has_pairs && i < loader->component_count; i++) {
    const struct component *component = loader->components[i];
    uint32_t relation = ecs_id_index(component->id);
    ecs_id pair = ECS_NULL;
    if (component->leaf_count == 0 || !component_has_pairs(component)) continue;
    while (status == ECS_OK &&
           (pair = load_row_next_pair(loader, table, relation, pair)) != ECS_NULL)
      status = load_rows_read_columns_of(loader, table, component, pair);
  }
  if (status == ECS_OK) table->capacity = table->count;
  return status;
}

/* Reads the bits of one component into reserved room. */
static ecs_status load_rows_read_toggle(struct loader *loader, const struct table *table,
                                        struct toggle *toggle) {
  uint32_t off = read_u32(&loader->in), last = table->count % 64;
  size_t words = toggle_words(table->count);
  if (off > table->count) return load_damaged(loader, "more rows are switched off than there are");
  if (off == 0) return load_state(loader);
  read_numbers(&loader->in, toggle->bits, sizeof *toggle->bits, (uint32_t)words);
  if (loader->in.failed) memset(toggle->bits, 0, words * sizeof *toggle->bits);
  if (loader->in.failed) return load_state(loader);
  if (last && toggle->bits[words - 1] >> last)
    return load_damaged(loader, "a row that does not exist is switched off");
  toggle->off = off;
  return ECS_OK;
}

/* Reads the toggles of a table that has its rows; checks the image's counts against the bits. */
static ecs_status load_rows_read_toggles(struct loader *loader, struct table *table) {
  ecs_status status = ECS_OK;
  if (!toggles_grow(&loader->world->memory, table, table->count)) return ECS_ENOMEM;
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++) {
    struct toggle *toggle = toggle_of(table, loader->components[i]->id);
    if (toggle) status = load_rows_read_toggle(loader, table, toggle);
  }
  uint32_t said = 0;
  for (uint32_t i = 0; i < table->toggle_count; i++) said += table->toggles[i].off;
  toggles_count(table);
  if (status == ECS_OK && said != table->off)
    status = load_damaged(loader, "switched off rows are miscounted");
  return status;
}

static ecs_status load_row_read_table(struct loader *loader) {
  struct table *table = NULL;
  uint32_t before = loader->world->graph.live;
  ecs_status status = load_rows_read_type(loader, &table);
  if (status != ECS_OK) return status;
  assert(table);
  bool is_new = loader->world->graph.live > before || (table->id_count == 0 && !loader->saw_void);
  if (!is_new) return load_damaged(loader, "a table occurs twice");
  loader->saw_void |= table->id_count == 0;
  read_u8(&loader->in);
  uint32_t count = read_u32(&loader->in);
  if (count > ROW_LIMIT) return load_damaged(loader, "a table has too many rows");
  if (count) world_arrive(loader->world, table, 0);
  if (count) status = load_row_check_type(loader, table);
  if (status == ECS_OK) status = read_rows(loader, table, NULL, count);
  if (status == ECS_OK) status = load_rows_read_columns(loader, table);
  if (status == ECS_OK && table->toggle_count) status = load_rows_read_toggles(loader, table);
  return status == ECS_OK ? load_state(loader) : status;
}

ecs_status load_tables(struct loader *loader) {
  uint32_t count = read_u32(&loader->in);
  ecs_status status = load_state(loader);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) status = load_row_read_table(loader);
  if (status != ECS_OK) return status;
  size_t rows = 0;
  const struct id_record *all = graph_all(loader->world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(loader->world, all->tables[i]);
    for (uint32_t j = 0; j < table->count; j++) rows += table->rows[j] >= FIRST_ENTITY;
  }
  return rows == loader->world->entities.alive
             ? ECS_OK : load_damaged(loader, "an entity has no row");
}

/* ---- sparse components ---- */

/* Reads the rows of a sparse component or event, which are stored outside tables. */
static ecs_status load_rows_beside(struct loader *loader, const struct component *component,
                                   struct table *table, uint32_t count) {
  if (loader->in.failed) return load_state(loader);
  if (count > ROW_LIMIT) return load_damaged(loader, "a component has too many rows");
  ecs_status status = read_rows(loader, table, component, count);
  if (status == ECS_OK) status = load_rows_read_columns_of(loader, table, component, component->id);
  if (status == ECS_OK) table->capacity = table->count;
  if (status == ECS_OK && table->toggle_count) status = load_rows_read_toggles(loader, table);
  return status == ECS_OK ? load_state(loader) : status;
}

static ecs_status load_rows_read_event_reader(struct loader *loader,
                                              const struct component *component) {
  ecs_system *system;
  ecs_status status = load_timing(loader, &loader->timings.systems, &system);
  if (status != ECS_OK) return status;
  const struct event *event = component->event;
  uint32_t seen = read_u32(&loader->in), awaited = read_u32(&loader->in);
  if (loader->in.failed) return load_state(loader);
  if (seen > event->table->count || awaited > event->table->count)
    return load_damaged(loader, "a system has seen events that do not exist");
  system->event = component->id;
  system->seen = event->first + seen;
  system->awaited = event->first + awaited;
  return ECS_OK;
}

/* Reads delayed events and their times. */
static ecs_status load_rows_read_later(struct loader *loader, const struct component *component) {
  struct later *later = &component->event->later;
  uint32_t count = read_u32(&loader->in);
  if (loader->in.failed || count == 0) return load_state(loader);
  ecs_status status = load_rows_beside(loader, component, later->table, count);
  if (status == ECS_OK) status = later_reserve(loader->world, component->event);
  if (status != ECS_OK) return status;
  later->clock = read_f64(&loader->in);
  bool sound = later->clock >= 0 && isfinite(later->clock);
  for (uint32_t i = 0; i < count && !loader->in.failed; i++) {
    later->due[i] = read_f64(&loader->in);
    sound &= later->due[i] >= later->clock && isfinite(later->due[i]);
  }
  if (loader->in.failed) return load_state(loader);
  return sound ? ECS_OK : load_damaged(loader, "an event is delayed to an invalid time");
}

static ecs_status load_rows_event(struct loader *loader, const struct component *component) {
  struct event *event = component->event;
  uint32_t count = read_u32(&loader->in);
  ecs_status status = load_rows_beside(loader, component, event->table, count);
  if (status != ECS_OK) return status;
  event->aged = read_u32(&loader->in);
  if (event->aged > count) {
    event->aged = 0;
    return load_damaged(loader, "an event's age is invalid");
  }
  while (status == ECS_OK && read_u8(&loader->in) == 1)
    status = load_rows_read_event_reader(loader, component);
  if (status == ECS_OK) status = load_state(loader);
  return status == ECS_OK ? load_rows_read_later(loader, component) : status;
}

/* Whether any entity lacks a required component. */
static bool load_rows_lacks_required(const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  struct gap gap;
  for (uint32_t i = 0; sparse_is_mixed(world) && i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    for (uint32_t j = 0; j < table->count; j++)
      if (require_entity_gap(world, entity_id(&world->entities, table->rows[j]), &gap))
        return true;
  }
  return false;
}

ecs_status load_sparse(struct loader *loader) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++)
    if (loader->components[i]->sparse)
      status = load_rows_beside(loader, loader->components[i], loader->components[i]->sparse->table,
                                read_u32(&loader->in));
    else if (loader->components[i]->event)
      status = load_rows_event(loader, loader->components[i]);
  if (status == ECS_OK && load_rows_lacks_required(loader->world))
    return load_damaged(loader, "an entity lacks a required component");
  return status;
}

/* ---- ties ---- */

/* Ties the next source of the relation to the target in its cell. */
static ecs_status load_rows_read_tie(struct loader *loader, struct relation *relation) {
  ecs_world *world = loader->world;
  uint32_t source = load_rows_entity(loader, read_u32(&loader->in));
  struct cells_row cells;
  if (loader->in.failed) return load_state(loader);
  if (source == 0 || ties_target(&relation->ties, source) ||
      !cells_find(world, entity_id(&world->entities, source), relation->component->id, &cells))
    return load_damaged(loader, "a tie has no source");
  ecs_id target = ((const ecs_id *)cells.columns[TARGET_LEAF].data)[cells.row];
  if (!ecs_alive(world, target)) return load_damaged(loader, "a tie has no target");
  if (!ties_reserve(&relation->ties, &world->memory, source, ecs_id_index(target)))
    return ECS_ENOMEM;
  relation_link(world, relation, source, ecs_id_index(target));
  return load_state(loader);
}

ecs_status load_ties(struct loader *loader) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++) {
    struct relation *relation = loader->components[i]->relation;
    if (relation && relation->exclusive) {
      uint32_t count = read_u32(&loader->in);
      status = load_state(loader);
      for (uint32_t n = 0; n < count && status == ECS_OK; n++)
        status = load_rows_read_tie(loader, relation);
    }
  }
  if (status != ECS_OK) return status;
  return relations_check(loader->world) == ECS_OK
             ? ECS_OK : load_damaged(loader, "its ties differ from its cells");
}

/* ---- when cells were written ---- */

static ecs_status load_rows_read_change_reader(struct loader *loader) {
  struct memory *memory = &loader->live->memory;
  ecs_system *system;
  size_t size;
  ecs_status status = load_timing(loader, &loader->timings.systems, &system);
  if (status != ECS_OK) return status;
  system->asked = read_text(&loader->in, memory, &system->arena, IMAGE_TEXT_LIMIT, &size);
  if (!system->asked) return loader->in.failed ? load_state(loader) : ECS_ENOMEM;
  system->news = read_u64(&loader->in);
  if (loader->in.failed) return load_state(loader);
  return system->news < loader->world->now
             ? ECS_OK : load_damaged(loader, "a system has seen changes that never happened");
}

static ecs_status load_rows_read_marks(struct loader *loader, const struct table *table,
                                       ecs_id id) {
  const struct marks *marks = marks_of(table, id);
  assert(!marks || marks->groups || table->count == 0);
  if (!marks || table->count == 0) return ECS_OK;
  read_numbers(&loader->in, marks->groups, sizeof *marks->groups, mark_groups(table->count));
  if (!marks->tracked) return load_state(loader);
  read_numbers(&loader->in, marks->rows, sizeof *marks->rows, table->count);
  read_numbers(&loader->in, marks->added, sizeof *marks->added, table->count);
  return load_state(loader);
}

static ecs_status load_rows_read_table_marks(struct loader *loader, const struct table *table,
                             const struct component *component) {
  ecs_status status = load_rows_read_marks(loader, table, component->id);
  ecs_id pair = ECS_NULL;
  while (status == ECS_OK && table->has_pairs &&
         (pair = load_row_next_pair(loader, table, ecs_id_index(component->id), pair)) != ECS_NULL)
    status = load_rows_read_marks(loader, table, pair);
  return status;
}

/* Reads a component's marks. They are checked once everything has been read. */
static ecs_status load_rows_read_component_marks(struct loader *loader, struct component *component,
                                 uint8_t kept) {
  ecs_world *world = loader->world;
  const struct id_record *all = graph_all(world);
  if (kept > 2 || component->length || component->is_event)
    return load_damaged(loader, "changes are tracked where there are none");
  component->track = kept == 2;
  component->asked = kept == 1;
  if (marks_begin(world, component) != ECS_OK) return ECS_ENOMEM;
  ecs_status status = load_state(loader);
  for (uint32_t i = 0; i < all->table_count && status == ECS_OK; i++)
    status = load_rows_read_table_marks(loader, world_table(world, all->tables[i]), component);
  if (status == ECS_OK && component->sparse)
    status = load_rows_read_marks(loader, component->sparse->table, component->id);
  return status;
}

static bool load_rows_are_sound(const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++)
    if (marks_check(world, world_table(world, all->tables[i])) != ECS_OK) return false;
  for (uint32_t i = 0; i < world->sparses.count; i++)
    if (marks_check(world, world->sparses.list[i]->table) != ECS_OK) return false;
  return true;
}

ecs_status load_changes(struct loader *loader) {
  if (!loader->has_changes) return ECS_OK;
  loader->world->now = read_u64(&loader->in);
  ecs_status status = load_state(loader);
  if (status != ECS_OK) return status;
  if (loader->world->now == 0 || loader->world->now > UINT64_MAX / 2)
    return load_damaged(loader, "its number of runs is invalid");
  while (status == ECS_OK && read_u8(&loader->in) == 1)
    status = load_rows_read_change_reader(loader);
  if (status == ECS_OK) status = load_state(loader);
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++) {
    uint8_t kept = read_u8(&loader->in);
    if (kept) status = load_rows_read_component_marks(loader, loader->components[i], kept);
  }
  if (status == ECS_OK) status = load_state(loader);
  if (status != ECS_OK) return status;
  return load_rows_are_sound(loader->world) ? ECS_OK : load_damaged(loader, "its changes are bad");
}
