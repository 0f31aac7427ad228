/* Adding a component to an entity and removing it: along an edge where that means nothing but
** cells to move, else step by step. */
#include "core/entity/entity.h"

#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "ecs_entity.h"

/* Adds or removes in any case. */
static APART ecs_status change_apart(ecs_world *world, ecs_id id, ecs_id component, bool adds) {
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  struct component *needed;
  enum command_kind kind = adds ? COMMAND_ADD : COMMAND_REMOVE;
  ecs_status status = component_need_id(world, component, &needed);
  if (status != ECS_OK) return status;
  if (needed->relation) return relate_change(world, id, component, adds);
  if (staging_is_open(&world->staging) && command_defer_alike(world, kind, id, component))
    return ECS_OK;
  if (changes_wait(world) || sparse_is_mixed(world))
    return command_stage(world, kind, id, component, NULL, 0);
  return adds ? entity_add_now(world, id, needed) : entity_remove_now(world, id, needed);
}

/* Goes along an edge when nothing has to be made or staged, which takes 42 % off. */
static APART ecs_status change_entity(ecs_world *world, ecs_id id, ecs_id component, bool adds) {
  struct record *record = entity_find(&world->entities, id);
  if (UNLIKELY(!record || ecs_id_index(id) < FIRST_ENTITY || changes_wait(world) ||
               sparse_is_mixed(world)))
    return change_apart(world, id, component, adds);
  assert(record->table < RECORD_BARE);
  struct table *from = world_table(world, record->table);
  struct table *to = graph_edge(from, component)->table;
  if (UNLIKELY(!to || to->count == to->capacity || (to->id_count > from->id_count) != adds))
    return change_apart(world, id, component, adds);
  row_move(world, record, from, to);
  return ECS_OK;
}

/* What keeps a component, if it is sparse and no relation. */
INLINE struct sparse *plain_sparse(const ecs_world *world, ecs_id component) {
  const struct registry *registry = &world->registry;
  uint32_t at = ecs_id_index(component);
  if (LIKELY(world->sparses.count == 0) || at >= registry->count) return NULL;
  const struct component *known = registry->components[at];
  return known && known->id == component && !known->relation ? known->sparse : NULL;
}

/* Whether adding or removing a sparse component, which the entity may have, means nothing but its
** own row. */
INLINE bool is_alone(const ecs_world *world, const struct sparse *sparse, ecs_id id) {
  return entity_is_near(&world->entities, id) && sparse_has_page(sparse, ecs_id_index(id)) &&
         !changes_wait(world) && !world->registry.requires;
}

static APART ecs_status add_sparse(ecs_world *world, ecs_id id, ecs_id component,
                                   struct sparse *sparse) {
  if (UNLIKELY(sparse->table->count == sparse->table->capacity || !is_alone(world, sparse, id) ||
               !entity_near(&world->entities, id, RECORD_BARE - 1)))
    return change_apart(world, id, component, true);
  uint32_t entity = ecs_id_index(id), *place = sparse_place(sparse, entity);
  if (LIKELY(*place == 0)) sparse_put_at(world, sparse, entity, place);
  return ECS_OK;
}

/* Whether an id whose slot is near has its generation; it may be that of the slot's next life. */
INLINE bool is_current(const struct entity_index *index, ecs_id id) {
  uint32_t offset = ecs_id_index(id) - FIRST_ENTITY;
  assert(offset < index->near.count);
  return id >> INDEX_BITS == (index->near.generations[offset] | index->high);
}

/* Who has it is alive, and has a row: the record, which lies anywhere, need not be looked at. */
static APART ecs_status remove_sparse(ecs_world *world, ecs_id id, ecs_id component,
                                      struct sparse *sparse) {
  if (UNLIKELY(!is_alone(world, sparse, id) || !is_current(&world->entities, id)))
    return change_apart(world, id, component, false);
  uint32_t *place = sparse_place(sparse, ecs_id_index(id));
  if (UNLIKELY(*place == 0)) return change_apart(world, id, component, false);
  assert(entity_near(&world->entities, id, RECORD_BARE - 1));
  sparse_cut_at(world, sparse, place);
  return ECS_OK;
}

/* The columns that only one of two tables has. */
struct own_columns {
  const struct column *first;
  size_t bytes;
};

INLINE struct own_columns own_columns(const struct column *columns, const struct edge *edge) {
  return (struct own_columns){columns + edge->first, edge->count * sizeof *columns};
}

INLINE bool is_own(struct own_columns own, const struct column *column) {
  return (size_t)((const char *)column - (const char *)own.first) < own.bytes;
}

/* The same between any two tables of cells of 4 bytes. One loop, as three take longer to begin. */
INLINE ecs_status gain_cells(const struct table *from, const struct edge *edge, uint32_t row,
                             uint32_t to_row) {
  const struct column *a = from->columns, *b = edge->table->columns;
  uint32_t last = from->count;
  const struct column *end = b + edge->table->column_count;
  struct own_columns own = own_columns(b, edge);
  for (; b < end; b++) {
    if (is_own(own, b)) {
      cell_store(b->data, 4, to_row, b->value);
      continue;
    }
    assert(a->id == b->id && a->leaf == b->leaf && a->size == 4 && b->size == 4);
    cell_copy(b->data, to_row, a->data, row, 4);
    cell_copy(a->data, row, a->data, last, 4);
    a++;
  }
  return ECS_OK;
}

INLINE ecs_status lose_cells(const struct table *from, const struct edge *edge, uint32_t row,
                             uint32_t to_row) {
  const struct column *a = from->columns, *b = edge->table->columns;
  uint32_t last = from->count;
  const struct column *end = a + from->column_count;
  struct own_columns own = own_columns(a, edge);
  for (; a < end; a++) {
    if (!is_own(own, a)) {
      assert(a->id == b->id && a->leaf == b->leaf && a->size == 4 && b->size == 4);
      cell_copy(b->data, to_row, a->data, row, 4);
      b++;
    }
    cell_copy(a->data, row, a->data, last, 4);
  }
  return ECS_OK;
}

/* An entity's row goes from one table to another, where there is room; cells are to follow, and
** those of the last row of `from` to take their places. Returns its row there. In this order fewer
** registers are wanted: row_change in its place would take 5 % more for a change. */
INLINE uint32_t go(ecs_world *world, struct record *record, uint32_t entity, struct table *from,
                   struct table *to) {
  uint32_t row = record->row, *rows = from->rows, last = from->count - 1, moved = rows[last];
  assert(from != to && row <= last && rows[row] == entity && to->count < to->capacity);
  assert(row_is_of(world, moved, from, last));
  from->count = last;
  rows[row] = moved;
  entity_record(&world->entities, moved)->row = row;
  if (UNLIKELY(last == 0)) graph_note_empty(&world->graph, from);
  uint32_t to_row = to->count;
  world_arrive(world, to, to_row);
  to->count = to_row + 1;
  to->rows[to_row] = entity;
  *record = (struct record){to->index, to_row};
  return to_row;
}

/* Cells of a row that has come from one packed table to another one along an edge. */
static void bring_packed(const struct table *from, const struct edge *edge, uint32_t row,
                         uint32_t to_row) {
  bool adds = edge->kind == EDGE_ADDS;
  const struct table *to = edge->table, *larger = adds ? to : from;
  uint32_t *x = packed_cells(from), *y = packed_cells(to), *changed = adds ? y : x;
  uint32_t first = edge->first, behind = first + edge->count, last = from->count;
  row_bring_packed(x, y, first, row, last, to_row);
  for (uint32_t i = first; i < behind; i++) {
    uint32_t *cells = changed + (size_t)i * PACKED_ROWS;
    cells[adds ? to_row : row] = adds ? to->columns[i].value.u32 : cells[last];
  }
  x += (size_t)(adds ? first : behind) * PACKED_ROWS;
  y += (size_t)(adds ? behind : first) * PACKED_ROWS;
  row_bring_packed(x, y, larger->column_count - behind, row, last, to_row);
}

/* Goes along an edge from one packed table to another one. */
static APART ecs_status go_packed(ecs_world *world, struct record *record, uint32_t entity,
                                  struct table *from, const struct edge *edge) {
  uint32_t row = record->row;
  bring_packed(from, edge, row, go(world, record, entity, from, edge->table));
  return ECS_OK;
}

/* The edge of that kind that adding or taking a component goes along, when that means nothing but
** cells to move; NULL else. */
INLINE const struct edge *quick_edge(const ecs_world *world, const struct record *record,
                                     ecs_id component, uint32_t kind) {
  if (UNLIKELY(!record)) return NULL;
  const struct edge *edge = graph_edge(world_table(world, record->table), component);
  if (UNLIKELY(edge->kind != kind)) return NULL;
  return LIKELY(edge->table->count < edge->table->capacity) ? edge : NULL;
}

/* Whether it may mean more: something waits, or is kept outside of tables. */
INLINE bool change_is_more(const ecs_world *world) {
  return (changes_waiting(world) | world->sparses.count) != 0;
}

/* Keeps it for the end of a scope that is open, where an edge says that it is about a component
** that tables have, and about no tie. */
INLINE bool stage(ecs_world *world, enum command_kind kind, ecs_id id, ecs_id component) {
  if (!staging_is_open(&world->staging)) return false;
  const struct record *record = entity_find_near(&world->entities, id);
  return LIKELY(record && graph_edge(world_table(world, record->table), component)->table) &&
         command_defer_alike(world, kind, id, component);
}

typedef ecs_status (*otherwise_fn)(ecs_world *world, ecs_id id, ecs_id component);

/* Where no sparse component is concerned: `otherwise` does it in any case. */
INLINE ecs_status add_row(ecs_world *world, ecs_id id, ecs_id component, otherwise_fn otherwise) {
  struct record *record = entity_find_near(&world->entities, id);
  const struct edge *edge = quick_edge(world, record, component, EDGE_ADDS);
  if (UNLIKELY(!edge)) return otherwise(world, id, component);
  struct table *from = world_table(world, record->table), *to = edge->table;
  if (UNLIKELY(from->packed) && to->packed)
    return go_packed(world, record, ecs_id_index(id), from, edge);
  uint32_t row = record->row, to_row = go(world, record, ecs_id_index(id), from, to);
  return gain_cells(from, edge, row, to_row);
}

INLINE ecs_status take_row(ecs_world *world, ecs_id id, ecs_id component, otherwise_fn otherwise) {
  struct record *record = entity_find_near(&world->entities, id);
  const struct edge *edge = quick_edge(world, record, component, EDGE_TAKES);
  if (UNLIKELY(!edge)) return otherwise(world, id, component);
  struct table *from = world_table(world, record->table), *to = edge->table;
  if (UNLIKELY(from->packed) && to->packed)
    return go_packed(world, record, ecs_id_index(id), from, edge);
  uint32_t row = record->row, to_row = go(world, record, ecs_id_index(id), from, to);
  return lose_cells(from, edge, row, to_row);
}

static ecs_status change_add_slowly(ecs_world *world, ecs_id id, ecs_id component) {
  return change_entity(world, id, component, true);
}

static ecs_status take_slowly(ecs_world *world, ecs_id id, ecs_id component) {
  return change_entity(world, id, component, false);
}

/* Whether sparse components are all that there is more. */
INLINE bool change_is_near(const ecs_world *world) {
  return world->sparses.count && !changes_wait(world) && !sparse_is_mixed(world);
}

static APART ecs_status add_otherwise(ecs_world *world, ecs_id id, ecs_id component) {
  if (id_is_pair(component)) return relate_add_pair(world, id, component);
  struct sparse *sparse = plain_sparse(world, component);
  if (UNLIKELY(sparse)) return add_sparse(world, id, component, sparse);
  if (stage(world, COMMAND_ADD, id, component)) return ECS_OK;
  return change_is_near(world) ? add_row(world, id, component, change_add_slowly)
                               : change_add_slowly(world, id, component);
}

static APART ecs_status remove_otherwise(ecs_world *world, ecs_id id, ecs_id component) {
  struct sparse *sparse = plain_sparse(world, component);
  if (UNLIKELY(sparse)) return remove_sparse(world, id, component, sparse);
  if (stage(world, COMMAND_REMOVE, id, component)) return ECS_OK;
  return change_is_near(world) ? take_row(world, id, component, take_slowly)
                               : take_slowly(world, id, component);
}

static APART ecs_status add_told(ecs_world *world, ecs_id id, ecs_id component) {
  return world_told(world, add_otherwise(world, id, component));
}

static APART ecs_status remove_told(ecs_world *world, ecs_id id, ecs_id component) {
  return world_told(world, remove_otherwise(world, id, component));
}

INLINE ecs_status add(ecs_world *world, ecs_id id, ecs_id component, otherwise_fn otherwise) {
  if (UNLIKELY(change_is_more(world) || id_is_pair(component)))
    return otherwise(world, id, component);
  return add_row(world, id, component, otherwise);
}

INLINE ecs_status take(ecs_world *world, ecs_id id, ecs_id component, otherwise_fn otherwise) {
  if (UNLIKELY(change_is_more(world))) return otherwise(world, id, component);
  return take_row(world, id, component, otherwise);
}

ecs_status entity_add(ecs_world *world, ecs_id id, ecs_id component) {
  return add(world, id, component, add_otherwise);
}

ecs_status entity_remove(ecs_world *world, ecs_id id, ecs_id component) {
  return take(world, id, component, remove_otherwise);
}

ecs_status ecs_add(ecs_world *world, ecs_id id, ecs_id component) {
  return add(world, id, component, add_told);
}

ecs_status ecs_remove(ecs_world *world, ecs_id id, ecs_id component) {
  return take(world, id, component, remove_told);
}
