#include "core/world/lifetime.h"

#include "core/base/column.h"
#include "core/base/types.h"
#include "core/command/command.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/storage/registry.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"
#include "ecs_world.h"

static bool check_map_is_sound(const struct map *map) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < map->capacity; i++) {
    const struct map_entry *entry = &map->entries[i];
    if (!entry->key) continue;
    if (map_get(map, entry->key) != entry->value) return false;
    count++;
  }
  return count == map->count;
}

static bool check_listed(const uint32_t *items, uint32_t count, uint32_t wanted) {
  for (uint32_t i = 0; i < count; i++)
    if (items[i] == wanted) return true;
  return false;
}

static ecs_status check_table_rows(const ecs_world *world, const struct table *table) {
  for (uint32_t row = 0; row < table->count; row++) {
    if (entity_slots(&world->entities, table->rows[row]).count == 0)
      return world_corrupt(world, "a row has no entity");
    const struct record *record = entity_record(&world->entities, table->rows[row]);
    if (record->table != table->index || record->row != row)
      return world_corrupt(world, "a row's entity is recorded elsewhere");
  }
  return ECS_OK;
}

static ecs_status check_cell(const ecs_world *world, const struct leaf *leaf,
                             ecs_cell cell) {
  int64_t number = cell_integer(leaf->type, leaf->size, cell);
  switch (type_class(leaf->type)) {
  case CLASS_TRUTH:
    return number <= 1 ? ECS_OK : world_corrupt(world, "a bool is neither 0 nor 1");
  case CLASS_NAMES:
    return number < (int64_t)leaf->names->count
               ? ECS_OK
               : world_corrupt(world, "an enum has no name");
  case CLASS_TEXT: {
    const struct intern_table *strings = &world->strings;
    bool known = cell.u32 == 0 || (cell.u32 < strings->count && strings->texts[cell.u32]);
    return known ? ECS_OK : world_corrupt(world, "a string is not in the table");
    }
    case CLASS_SLOT:
      if (cell.u32 == 0) return ECS_OK;
      if (cell.u32 >= world->any.count) return world_corrupt(world, "an any slot does not exist");
      return world->any.slots[cell.u32].owner
                 ? ECS_OK
                 : world_corrupt(world, "an any slot is free");
    default: return ECS_OK;
  }
}

/* Whether the column lies inside its own buffer or that of the row list. */
static bool check_column_has_room(const struct table *table, const struct column *column) {
  size_t bytes = (size_t)table->capacity * column->size;
  if (column->buffer.data)
    return column->data == column->buffer.data && column->buffer.size >= bytes + 64;
  const char *rows = table->row_buffer.data, *at = column->data;
  size_t first = (size_t)(column - table->columns + 1) * PACKED_BYTES;
  if (table->packed && at != rows + first) return false;
  return bytes <= PACKED_BYTES && at >= rows + PACKED_BYTES &&
         at + PACKED_BYTES + 64 <= rows + table->row_buffer.size;
}

static ecs_status check_columns(const ecs_world *world, const struct table *table) {
  for (uint32_t i = 0; i < table->column_count; i++) {
    const struct column *column = &table->columns[i];
    const struct leaf *leaf = &column->component->leaves[column->leaf];
    if (column->size != leaf->size || column->value.u64 != leaf->value.u64)
      return world_corrupt(world, "a column differs from its field");
    if ((uintptr_t)column->data % 64) return world_corrupt(world, "a column is not aligned");
    if (table->capacity && !check_column_has_room(table, column))
      return world_corrupt(world, "a column is shorter than its table");
    for (uint32_t row = 0; row < table->count; row++) {
      ecs_cell cell = cell_load(column->data, column->size, row);
      ecs_status status = check_cell(world, leaf, cell);
      if (status != ECS_OK) return status;
    }
  }
  return ECS_OK;
}

static ecs_status check_layout(const ecs_world *world, const struct table *table,
                               ecs_id id, uint32_t first) {
  const struct component *component = component_of(world, id);
  const struct layout *layout = table_find(table, id);
  if (!layout->taken) return world_corrupt(world, "a table's id is not found");
  if (layout->columns != table->columns + first || layout->count != component->leaf_count ||
      layout->words != (component->words ? layout->count : 0) ||
      layout->stores != (component->numbers && !component->ties.relation))
    return world_corrupt(world, "columns are out of order");
  for (uint32_t i = 0; i < layout->count; i++) {
    const struct column *column = &layout->columns[i];
    if (column->id != layout->id || column->component != component || column->leaf != i)
      return world_corrupt(world, "a column belongs to another id");
  }
  return ECS_OK;
}

/* A table is hidden from queries exactly if it holds prefabs. */
static ecs_status check_ids(const ecs_world *world, const struct table *table) {
  const struct relation *prefab = world->relations.prefab;
  uint32_t columns = 0;
  bool hidden = false;
  for (uint32_t i = 0; i < table->id_count; i++) {
    ecs_id id = table->ids[i];
    const struct component *component = component_of(world, id);
    if (i && table->ids[i - 1] >= id) return world_corrupt(world, "a table's ids are not sorted");
    if (!component) return world_corrupt(world, "a table has an id that is not a component");
    if (component->sparse) return world_corrupt(world, "a table has a sparse component");
    ecs_status status = check_layout(world, table, id, columns);
    if (status != ECS_OK) return status;
    columns += component->leaf_count;
    hidden |= prefab && component == prefab->component;
  }
  if (hidden != table->hidden) return world_corrupt(world, "a table is hidden by mistake");
  struct graph_keys keys = graph_keys(table->ids, table->id_count);
  for (ecs_id key; graph_next_key(&keys, &key);) {
    const struct id_record *record = graph_record(world, key);
    if (!record || !check_listed(record->tables, record->table_count, table->index))
      return world_corrupt(world, "the component index misses a table");
  }
  struct gap gap;
  if (table->count && require_gap(world, table->ids, table->id_count, true, &gap))
    return world_corrupt(world, "a table lacks what one of its components requires");
  return columns == table->column_count ? ECS_OK
                                        : world_corrupt(world, "a table has too many columns");
}

/* Whether the table has a cached edge exactly when it has edges, and the cache equals one of
** them. */
static bool check_near_edge_is_true(const struct table *table) {
  const struct edge *near = &table->near_edge;
  if (!near->table) return table->edge_count == 0 && near->id == ECS_NULL;
  const struct edge *edge = edge_find(table, near->id);
  return edge->id == near->id && edge->table == near->table && edge->first == near->first &&
         edge->count == near->count && edge->kind == near->kind;
}

/* Checks that every edge leads to a table with one id more or less, which has an edge back. */
static ecs_status check_edges(const ecs_world *world, const struct table *table) {
  uint32_t count = 0;
  for (uint32_t i = 0; i <= table->edge_mask; i++) {
    const struct edge *edge = &table->edges[i];
    const struct table *to = edge->table;
    if (!to) continue;
    if (edge_find(to, edge->id)->table != table)
      return world_corrupt(world, "an edge does not lead back");
    bool adds = !table_has(table, edge->id);
    if (adds != table_has(to, edge->id) ||
        (adds ? table : to)->id_count + 1 != (adds ? to : table)->id_count)
      return world_corrupt(world, "an edge leads to a table of other ids");
    if (edge_find(table, edge->id) != edge) return world_corrupt(world, "an edge is not found");
    const struct table *larger = adds ? to : table;
    const struct layout *layout = table_find(larger, edge->id);
    if (edge->count != layout->count || larger->columns + edge->first != layout->columns ||
        edge->kind != ((adds ? EDGE_ADDS : EDGE_TAKES) | (larger->plain ? 0 : EDGE_SLOW)))
      return world_corrupt(world, "an edge has other columns");
    count++;
  }
  if (count != table->edge_count) return world_corrupt(world, "edges are miscounted");
  return check_near_edge_is_true(table)
             ? ECS_OK
             : world_corrupt(world, "the cached edge is not an edge's copy");
}

static ecs_status check_tables(const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  bool has_empty = false;
  if (all->table_count != world->graph.live) return world_corrupt(world, "a table is missing");
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    if (i && world_table(world, all->tables[i - 1])->order >= table->order)
      return world_corrupt(world, "tables are out of order");
    if (table->incoming || table->doomed || table->count > table->capacity)
      return world_corrupt(world, "a table's counts are wrong");
    has_empty |= table == world->graph.empty;
    if (table->count == 0 && !table->in_empties && table != world->graph.empty)
      return world_corrupt(world, "an empty table is not listed");
    ecs_status status = check_ids(world, table);
    if (status == ECS_OK) status = check_table_rows(world, table);
    if (status == ECS_OK) status = check_columns(world, table);
    if (status == ECS_OK) status = check_edges(world, table);
    if (status == ECS_OK) status = toggles_check(world, table);
    if (status == ECS_OK) status = marks_check(world, table);
    if (status != ECS_OK) return status;
  }
  return has_empty ? ECS_OK : world_corrupt(world, "the table without components is missing");
}

static ecs_status check_records(const ecs_world *world) {
  for (uint32_t i = 0; i < world->graph.record_count; i++) {
    const struct id_record *record = world->graph.record_list[i];
    for (uint32_t j = 0; j < record->table_count; j++) {
      const struct table *table = world_table(world, record->tables[j]);
      if (!table) return world_corrupt(world, "the component index names a missing table");
      if (!graph_lists(table, record->id))
        return world_corrupt(world, "the component index names a table without the component");
    }
  }
  return ECS_OK;
}

static ecs_status check_one_query(const ecs_world *world, const ecs_query *query) {
  const struct id_record *all = graph_all(world);
  const struct component *event = query->terms.event;
  uint32_t match = event != NULL;
  if (event && (component_of(world, event->id) != event || !event->event))
    return world_corrupt(world, "a query misses its event");
  query_arrange(query);
  for (uint32_t i = 0; i < all->table_count && !query->broken && !event; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    if (!query_terms_match(&query->terms, table)) continue;
    if (match == query->count || query->tables[match++] != table->index)
      return world_corrupt(world, "a query misses a table");
  }
  if (match != query->count) return world_corrupt(world, "a query has too many tables");
  for (uint32_t i = 0; i < match; i++)
    for (uint32_t j = 0; j < query->terms.count; j++) {
      const struct term *term = &query->terms.terms[j];
      if (term->slot != NONE &&
          query_columns(query, i)[term->slot] != term_column(term, query_table(query, i)))
        return world_corrupt(world, "a query's column is wrong");
    }
  if (!changes_are_sound(query)) return world_corrupt(world, "a query is in use for nothing");
  return lineup_is_sound(query) ? ECS_OK : world_corrupt(world, "a query's order of rows is wrong");
}

/* Checks that a sparse component is in no graph, and that its map and its rows agree. */
static ecs_status check_sparse(const ecs_world *world, const struct sparse *sparse) {
  const struct table *table = sparse->table;
  uint32_t mapped = 0;
  if (component_of(world, sparse->component->id) != sparse->component ||
      sparse->component->sparse != sparse || !sparse->component->is_sparse)
    return world_corrupt(world, "a sparse set belongs to another component");
  if (table->index != NONE || table->id_count != 1 || table->ids[0] != sparse->component->id ||
      table->incoming || table->count > table->capacity)
    return world_corrupt(world, "a sparse set's table is wrong");
  for (uint32_t row = 0; row < table->count; row++) {
    uint32_t entity = table->rows[row];
    if (entity_slots(&world->entities, entity).count == 0 ||
        entity_record(&world->entities, entity)->table >= RECORD_BARE)
      return world_corrupt(world, "a sparse row has no entity");
    if (sparse_row(sparse, entity) != row)
      return world_corrupt(world, "a sparse row is not mapped");
  }
  for (uint32_t page = 0; page < sparse->page_capacity; page++)
    for (uint32_t i = 0; sparse->pages[page] && i < SPARSE_PAGE_SIZE; i++)
      mapped += sparse->pages[page][i] != 0;
  if (mapped != table->count) return world_corrupt(world, "a sparse map has too many entities");
  ecs_status status = check_layout(world, table, table->ids[0], 0);
  if (status == ECS_OK) status = check_columns(world, table);
  if (status == ECS_OK) status = toggles_check(world, table);
  return status == ECS_OK ? marks_check(world, table) : status;
}

static ecs_status check_sparses(const ecs_world *world) {
  const struct sparses *sparses = &world->sparses;
  const struct id_record *all = graph_all(world);
  size_t rows = 0;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < sparses->count && status == ECS_OK; i++) {
    if (i && sparses->list[i - 1]->component->id >= sparses->list[i]->component->id)
      return world_corrupt(world, "sparse sets are out of order");
    rows += sparses->list[i]->table->count;
    status = check_sparse(world, sparses->list[i]);
  }
  if (status == ECS_OK && rows != sparses->rows)
    return world_corrupt(world, "sparse rows are miscounted");
  /* Each entity with a component also has the one it requires, in its table or sparse. */
  for (uint32_t i = 0; sparse_is_mixed(world) && i < all->table_count && status == ECS_OK; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    struct gap gap;
    for (uint32_t row = 0; row < table->count; row++)
      if (require_entity_gap(world, entity_id(&world->entities, table->rows[row]), &gap))
        return world_corrupt(world, "an entity lacks what one of its components requires");
  }
  return status;
}

static ecs_status check_registry(const ecs_world *world) {
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    if (component && component->is_sparse != (component->sparse != NULL))
      return world_corrupt(world, "a sparse component has no set");
    if (component && component_find(world, component->name, component->name_size) != component)
      return world_corrupt(world, "a component is not found by its name");
    ecs_status status = component && component->length ? array_check(world, component) : ECS_OK;
    if (component && component->is_event != (component->event != NULL))
      return world_corrupt(world, "an event has no rows");
    if (component && component->event) status = event_check(world, component);
    if (status != ECS_OK) return status;
    for (uint32_t j = 0; component && j < component->require_count; j++) {
      if (!component_of(world, component->requires[j]) || !world->registry.requires)
        return world_corrupt(world, "a component requires a non-component");
      if (j && component->requires[j - 1] >= component->requires[j])
        return world_corrupt(world, "a component's requirements are not sorted");
    }
  }
  return ECS_OK;
}

static ecs_status check_rows_by_record(const ecs_world *world) {
  size_t rows = 0, listed_rows = 0;
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++)
    listed_rows += world_table(world, all->tables[i])->count;
  uint32_t at = entity_next_slot(&world->entities, 0);
  while (at < INDEX_LIMIT) {
    struct slots slots = entity_slots(&world->entities, at);
    for (uint32_t i = 0; i < slots.count; i++) rows += slots.records[i].table < RECORD_BARE;
    at = entity_next_slot(&world->entities, at + slots.count);
  }
  return rows == listed_rows ? ECS_OK : world_corrupt(world, "entities and rows differ in number");
}

static ecs_status check_all_names(const ecs_world *world) {
  const struct name_table *table = &world->names;
  if (table->by_entity.count != table->count) return world_corrupt(world, "names are miscounted");
  for (uint32_t i = 0; i < table->count; i++) {
    const struct name *name = &table->names[i];
    if (!ecs_alive(world, name->entity)) return world_corrupt(world, "a dead entity has a name");
    if (map_get(&table->by_entity, ecs_id_index(name->entity)) != i)
      return world_corrupt(world, "an entity's name is not its own");
    if (name_find(world, name->parent, name->text, name->size) != name->entity)
      return world_corrupt(world, "a name is not found");
    const struct relation *child_of = world->relations.child_of;
    uint32_t entity = ecs_id_index(name->entity);
    uint32_t parent = child_of ? ties_target(&child_of->ties, entity) : 0;
    bool staged = entity_record(&world->entities, entity)->table == RECORD_BARE;
    if (name->parent != parent && !(staged && parent == 0 && name->parent == name->awaited))
      return world_corrupt(world, "a name is kept under another parent");
  }
  return ECS_OK;
}

static ecs_status check_staging(const ecs_world *world) {
  const struct staging *staging = &world->staging;
  uint32_t open = 0, busy = 0;
  for (uint32_t i = 0; i < staging->scope_count; i++) {
    open += staging->scopes[i].open;
    busy += staging->scopes[i].open && staging->scopes[i].kind != SCOPE_LOOP;
  }
  if (open != staging->open || busy != staging->busy)
    return world_corrupt(world, "open scopes are miscounted");
  if (!batch_is_sound(world))
    return world_corrupt(world, "a batch is not what is deferred");
  if (!staging->batch.count && !chain_map_is_sound(&staging->chain_of, staging->chains,
                                                   sizeof *staging->chains, staging->chain_count))
    return world_corrupt(world, "commands are not found by their entities");
  if (!open && staging->emission_count)
    return world_corrupt(world, "emissions outlived their scope");
  if (!staging->command_count && staging->naming_count)
    return world_corrupt(world, "names outlived their commands");
  if (!open && staging->command_count) return world_corrupt(world, "commands outlived their scope");
  uint32_t ends = staging->batch.count ? staging->ends : 0;
  for (uint32_t i = staging_first_written(staging); i < staging->command_count; i++)
    ends += staging->commands[i].kind == COMMAND_DESPAWN;
  return ends == staging->ends ? ECS_OK
                               : world_corrupt(world, "commands that end entities are miscounted");
}

ecs_status store_check(const ecs_world *world) {
  if (!entity_index_check(&world->entities))
    return world_corrupt(world, "the entity index is wrong");
  if (!check_map_is_sound(&world->graph.by_hash) ||
      !check_map_is_sound(&world->graph.records) ||
      !check_map_is_sound(&world->registry.names) ||
      !check_map_is_sound(&world->names.by_key) ||
      !check_map_is_sound(&world->names.by_entity) ||
      !check_map_is_sound(&world->staging.chain_of.others))
    return world_corrupt(world, "a hash map is wrong");
  ecs_status status = check_registry(world);
  if (status == ECS_OK) status = check_tables(world);
  if (status == ECS_OK) status = check_records(world);
  for (ecs_query *query = world->first_query; query && status == ECS_OK; query = query->next)
    status = check_one_query(world, query);
  if (status == ECS_OK) status = check_rows_by_record(world);
  if (status == ECS_OK) status = check_sparses(world);
  if (status == ECS_OK) status = check_all_names(world);
  if (status == ECS_OK) status = relations_check(world);
  return status == ECS_OK ? check_staging(world) : status;
}

#ifdef ECS_PARANOID
void world_be_sure(ecs_world *world) {
  ecs_status status = ecs_check(world);
  assert(status == ECS_OK);
  (void)status;
}
#endif
