#include "runner/run.h"

#include <string.h>

#include "core/base/column.h"
#include "core/base/types.h"
#include "core/entity/entity.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"

#define AHEAD 16u              /* rows between prefetching a record and using it */

/* ---- ids ---- */

/* The ids of rows, restricted by a mask if there is one. */
struct sought {
  const int64_t *ids;
  const uint8_t *mask;
  size_t count;
};

static inline ecs_id lookup_id_at(const struct sought *sought, size_t i) {
  return sought->mask && !sought->mask[i] ? ECS_NULL : (ecs_id)sought->ids[i];
}

/* The record of a living entity; null ids, which may be many, need no search. */
INLINE const struct record *lookup_record_of(const ecs_world *world, ecs_id id) {
  return id == ECS_NULL ? NULL : entity_find(&world->entities, id);
}

const struct component *lookup_relation(const ecs_world *world, ecs_id id) {
  const struct relation *child_of = world->relations.child_of;
  if (id != ECS_NULL) return component_of(world, id);
  return child_of ? child_of->component : NULL;
}

static ecs_id lookup_target_of(const ecs_world *world, const struct component *relation,
                               ecs_id id) {
  if (!relation || !lookup_record_of(world, id)) return ECS_NULL;
  return relate_target(world, id, relation);
}

static inline ecs_id lookup_entity(const ecs_world *world, uint64_t at) {
  return at < INDEX_LIMIT ? entity_id_any(&world->entities, (uint32_t)at) : ECS_NULL;
}

/* What tells which entities are alive; read once, since ids may alias anything. */
struct living {
  const ecs_world *world;
  const struct record *records;
  const uint16_t *generations;
  uint64_t high;
  uint32_t near;
};

INLINE void lookup_forget_if_dead(const struct living *living, int64_t *at) {
  uint64_t id = (uint64_t)*at;
  uint32_t offset = ecs_id_index(id) - FIRST_ENTITY;
  if (LIKELY(offset < living->near) &&
      LIKELY(id >> INDEX_BITS == (living->generations[offset] | living->high)) &&
      LIKELY(living->records[offset].table <= RECORD_BARE))
    return;
  if (id) *at = (int64_t)entity_target(living->world, id);
}

void lookup_forget_dead(void *ud, int64_t *ids, const uint8_t *mask, size_t count) {
  const ecs_world *world = ud;
  const struct entity_index *index = &world->entities;
  const struct living living = {world, index->near.records, index->near.generations, index->high,
                                index->near.count};
  for (size_t i = 0; !mask && i < count; i++) lookup_forget_if_dead(&living, &ids[i]);
  for (size_t i = 0, stop; mask && i < count; i = stop) {
    uint64_t word = 1;
    stop = i + 8 < count ? i + 8 : count;
    if (stop - i == 8) memcpy(&word, mask + i, sizeof word);
    for (; word && i < stop; i++)
      if (mask[i]) lookup_forget_if_dead(&living, &ids[i]);
  }
}

/* ---- places ---- */

static inline int64_t lookup_packed_place(const ecs_world *world, const struct sparse *sparse,
                                          ecs_id id) {
  if (!lookup_record_of(world, id)) return PLACE_DEAD;
  uint32_t row = sparse_row(sparse, ecs_id_index(id));
  return row != NONE ? (int64_t)row : PLACE_ABSENT;
}

/* The table of the last entity found: consecutive ones are mostly in the same. */
struct last_table {
  uint32_t table;
  bool has;
};

/* The place of an entity in another table, with a far slot, or dead. */
static APART int64_t lookup_place_in_other_table(const ecs_world *world, ecs_id component,
                                                 ecs_id id, struct last_table *last) {
  const struct record *record = lookup_record_of(world, id);
  if (!record) return PLACE_DEAD;
  uint32_t table = record->table;
  if (table != last->table)
    last->has = table != RECORD_BARE && table_has(world_table(world, table), component);
  last->table = table;
  return last->has ? (int64_t)((uint64_t)table << INDEX_BITS | record->row) : PLACE_ABSENT;
}

/* Prefetches a record that is needed later: takes a quarter off 100,000 random ones. */
INLINE void lookup_fetch_record(const struct slots *near, ecs_id id) {
  uint32_t offset = ecs_id_index(id) - FIRST_ENTITY;
  if (LIKELY(offset < near->count)) FETCH(&near->records[offset]);
}

/* The entity index is read once, since `to` may alias anything. */
static APART void look_places(const ecs_world *world, ecs_id component, const struct sought *sought,
                              int64_t *to) {
  const struct slots near = world->entities.near;
  const struct sought rows = *sought;
  uint64_t high = world->entities.high;
  struct last_table last = {RECORD_BARE, false};
  size_t ahead = rows.count > AHEAD ? rows.count - AHEAD : 0;
  for (size_t i = 0; i < rows.count; i++) {
    ecs_id id = lookup_id_at(&rows, i);
    uint32_t offset = ecs_id_index(id) - FIRST_ENTITY, table = last.table;
    if (LIKELY(i < ahead)) lookup_fetch_record(&near, (ecs_id)rows.ids[i + AHEAD]);
    if (LIKELY(offset < near.count && id >> INDEX_BITS == (near.generations[offset] | high) &&
               near.records[offset].table == table && last.has))
      to[i] = (int64_t)((uint64_t)table << INDEX_BITS | near.records[offset].row);
    else
      to[i] = lookup_place_in_other_table(world, component, id, &last);
  }
}

static inline int64_t lookup_on(const ecs_world *world, ecs_id component, ecs_id id) {
  if (toggle_enabled(world, id, component)) return 0;
  return lookup_record_of(world, id) ? PLACE_ABSENT : PLACE_DEAD;
}

/* ---- cells ---- */

/* Where the cells of a component's field are, and the columns of the last table. */
struct looked {
  const ecs_world *world;
  const struct component *component;
  uint32_t leaf, table;
  const struct column *columns;
};

/* The field's column in the table of a place, without the row. */
static const void *lookup_cells_at(struct looked *cells, uint64_t place) {
  const struct component *component = cells->component;
  uint32_t table = (uint32_t)place & TABLE_LIMIT,
           leaf = cells->leaf + (uint32_t)(place >> TABLE_BITS);
  if (table == TABLE_LIMIT) return component->resource[leaf].data;
  if (table != cells->table) {
    cells->table = table;
    cells->columns = component->is_event ? component->event->table->columns
                     : component->sparse
                         ? component->sparse->table->columns
                         : table_find(world_table(cells->world, table), component->id)->columns;
  }
  assert(cells->columns && leaf < component->leaf_count);
  assert(cells->columns[leaf].size == component->leaves[leaf].size);
  return cells->columns[leaf].data;
}

/* Visits the places, most of which are in the same table as the one before: `value` is the cell at
** `row` of `data`. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LOOK(C, D, value)                                    \
  {                                                          \
    uint64_t last = UINT64_MAX;                              \
    const C *data = NULL;                                    \
    D *out = to;                                             \
    for (size_t i = 0; i < n; i++) {                         \
      uint64_t place = (uint64_t)from[i];                    \
      uint32_t row = (uint32_t)place & (INDEX_LIMIT - 1);    \
      if (UNLIKELY(place >> INDEX_BITS != last)) {           \
        if (from[i] < 0) {                                   \
          out[i] = 0;                                        \
          continue;                                          \
        }                                                    \
        last = place >> INDEX_BITS;                          \
        data = lookup_cells_at(cells, last);                 \
      }                                                      \
      assert(data);                                          \
      out[i] = (D)(value);                                   \
    }                                                        \
    break;                                                   \
  }
/* NOLINTEND(bugprone-macro-parentheses) */
#define PLAIN(C, D) LOOK(C, D, data[row])

static void look_cells(struct looked *cells, const int64_t *from, void *to, size_t n) {
  const struct leaf *leaf = &cells->component->leaves[cells->leaf];
  bool text = leaf->type == ECS_STRING;
  enum type_column column = text ? COLUMN_U32 : type_column(leaf->type, leaf->size);
  assert(column != COLUMN_NONE);   /* programs do not have these either */
  switch (column) {
    case COLUMN_F32: PLAIN(float, float)
    case COLUMN_F64: PLAIN(double, double)
    case COLUMN_BOOL: PLAIN(uint8_t, uint8_t)
    case COLUMN_I8: PLAIN(int8_t, int64_t)
    case COLUMN_I16: PLAIN(int16_t, int64_t)
    case COLUMN_I32: PLAIN(int32_t, int64_t)
    case COLUMN_I64: PLAIN(int64_t, int64_t)
    case COLUMN_U8: PLAIN(uint8_t, int64_t)
    case COLUMN_U16: PLAIN(uint16_t, int64_t)
    case COLUMN_U32: PLAIN(uint32_t, int64_t)
    case COLUMN_ENTITY: LOOK(ecs_id, int64_t, entity_target(cells->world, data[row]))
    default: break;
  }
}

/* Finds the addresses of the cells at places. */
static void look_at(struct looked *cells, const int64_t *from, k_cell *to, size_t n) {
  uint32_t size = cells->component->leaves[cells->leaf].size;
  uint64_t last = UINT64_MAX;
  char *data = NULL;
  for (size_t i = 0; i < n; i++) {
    int64_t place = from[i];
    uint64_t column = (uint64_t)place >> INDEX_BITS;
    if (place >= 0 && column != last) {
      last = column;
      data = (char *)(uintptr_t)lookup_cells_at(cells, last);
    }
    to[i].at = place < 0 ? NULL : data + (size_t)(place & (INDEX_LIMIT - 1)) * size;
  }
}

/* ---- texts ---- */

/* Rows that lack something else may hold any number. */
static inline ecs_string lookup_text(const struct intern_table *strings, uint32_t number) {
  const struct interned *text = number < strings->count ? strings->texts[number] : NULL;
  return text ? (ecs_string){text->text, text->size} : (ecs_string){"", 0};
}

/* memcmp; for 1 to 8 bytes without a call, or a branch that varies by row, which takes a third off
** a search for names. */
INLINE bool lookup_same_bytes(const char *x, const char *y, size_t size) {
  uint32_t first[2], last[2];
  if (size == 0 || size > 8) return memcmp(x, y, size) == 0;
  if (size < 4)
    return ((x[0] ^ y[0]) | (x[size / 2] ^ y[size / 2]) | (x[size - 1] ^ y[size - 1])) == 0;
  memcpy(&first[0], x, 4);
  memcpy(&first[1], y, 4);
  memcpy(&last[0], x + size - 4, 4);
  memcpy(&last[1], y + size - 4, 4);
  return ((first[0] ^ first[1]) | (last[0] ^ last[1])) == 0;
}

INLINE bool lookup_starts(const struct intern_table *strings, uint64_t both) {
  ecs_string x = lookup_text(strings, (uint32_t)both),
             y = lookup_text(strings, (uint32_t)(both >> TEXT_BITS));
  bool fits = x.size >= y.size;
  return fits & lookup_same_bytes(fits ? x.data : y.data, y.data, y.size);
}

/* Compares as Lua does: by the locale, between zero bytes. */
static int64_t lookup_order_of(const struct intern_table *strings, uint64_t both) {
  ecs_string x = lookup_text(strings, (uint32_t)both),
             y = lookup_text(strings, (uint32_t)(both >> TEXT_BITS));
  if ((uint32_t)both == both >> TEXT_BITS) return 0;
  for (;;) {
    int order = strcoll(x.data, y.data);
    if (order) return order < 0 ? -1 : 1;
    size_t size = strlen(x.data);
    if (strlen(y.data) != size) return ORDER_UNSURE;
    if (size == y.size) return size < x.size;
    if (size == x.size) return -1;
    x = (ecs_string){x.data + size + 1, x.size - size - 1};
    y = (ecs_string){y.data + size + 1, y.size - size - 1};
  }
}

/* The lookup of `id`, null outside the mask, for one row after the other. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LOOK_EACH(D, value)                        \
  {                                                \
    D *out = to;                                   \
    for (size_t i = 0; i < n; i++) {               \
      ecs_id id = lookup_id_at(&sought, i);        \
      out[i] = (D)(value);                         \
    }                                              \
    return;                                        \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

void lookup_all(const ecs_world *world, const struct run_lookup *lookup, const int64_t *from,
                const uint8_t *mask, void *to, size_t n) {
  struct sought sought = {from, mask, n};
  const struct intern_table *strings = &world->strings;
  const struct component *component = lookup_relation(world, lookup->component);
  switch (lookup->kind) {
    case LOOKUP_LIVE: LOOK_EACH(int64_t, lookup_record_of(world, id) ? id : ECS_NULL)
    case LOOKUP_ENTITY: LOOK_EACH(int64_t, lookup_entity(world, id - 1))
    case LOOKUP_TARGET: LOOK_EACH(int64_t, lookup_target_of(world, component, id))
    case LOOKUP_LENGTH: LOOK_EACH(int64_t, lookup_text(strings, (uint32_t)id).size)
    case LOOKUP_STARTS: LOOK_EACH(uint8_t, lookup_starts(strings, id))
    case LOOKUP_ORDER: LOOK_EACH(int64_t, lookup_order_of(strings, id))
    default: break;
  }
  assert(component && (!component->relation || component->relation->exclusive));
  struct looked cells = {world, component, lookup->leaf, NONE, NULL};
  if (lookup->kind == LOOKUP_CELL)
    look_cells(&cells, from, to, n);
  else if (lookup->kind == LOOKUP_AT)
    look_at(&cells, from, to, n);
  else if (lookup->kind == LOOKUP_ON)
    LOOK_EACH(int64_t, lookup_on(world, component->id, id))
  else if (component->sparse)
    LOOK_EACH(int64_t, lookup_packed_place(world, component->sparse, id))
  else
    look_places(world, component->id, &sought, to);
}
