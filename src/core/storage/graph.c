#include "core/storage/graph.h"

#include "core/base/sets.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/row.h"
#include "core/storage/table.h"

/* Hashes a set in any order. Colliding sets are told apart by comparison; the constant hash, for
** tests, makes all of them collide. */
static uint64_t graph_hash_ids(const ecs_id *ids, uint32_t count) {
#ifdef ECS_CONSTANT_HASH
  (void)ids;
  (void)count;
  return 1;
#else
  uint64_t hash = count + 1;
  for (uint32_t i = 0; i < count; i++) hash += hash_u64(ids[i]);
  return hash ? hash : 1;
#endif
}

/* ---- the component index ---- */

enum { KEY_ALL, KEY_ID, KEY_RELATION };

static bool graph_is_first_of_relation(const struct graph_keys *keys) {
  ecs_id id = keys->ids[keys->next], before = keys->next ? keys->ids[keys->next - 1] : ECS_NULL;
  return id_is_pair(id) && (!id_is_pair(before) || pair_relation(before) != pair_relation(id));
}

bool graph_next_key(struct graph_keys *keys, ecs_id *key) {
  *key = ECS_NULL;
  if (keys->form == KEY_ALL) {
    keys->form = KEY_ID;
    return true;
  }
  if (keys->next == keys->count) return false;
  *key = keys->ids[keys->next];
  if (keys->form == KEY_ID && graph_is_first_of_relation(keys)) {
    keys->form = KEY_RELATION;
    return true;
  }
  if (keys->form == KEY_RELATION) *key = pair_make(pair_relation(*key), 0);
  keys->form = KEY_ID;
  keys->next++;
  return true;
}

bool graph_lists(const struct table *table, ecs_id key) {
  uint32_t at, relation = pair_relation(key);
  if (key == ECS_NULL || id_set_find(table->ids, table->id_count, key, &at)) return true;
  return id_is_pair(key) && pair_target(key) == 0 && at < table->id_count &&
         pair_relation(table->ids[at]) == relation;
}

struct id_record *graph_record(const ecs_world *world, ecs_id id) {
  if (id == ECS_NULL) return world->graph.record_list[0];
  uint32_t at = map_get(&world->graph.records, id);
  return at == NONE ? NULL : world->graph.record_list[at];
}

/* Shell's method (Knuth, TAOCP 5.2.1): usually few are out of place, or only the last ones. */
static void graph_sort_tables(const ecs_world *world, uint32_t *tables, uint32_t count) {
  uint32_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap; gap /= 3)
    for (uint32_t i = gap; i < count; i++) {
      uint32_t index = tables[i], at = i;
      uint64_t order = world_table(world, index)->order;
      for (; at >= gap && world_table(world, tables[at - gap])->order > order; at -= gap)
        tables[at] = tables[at - gap];
      tables[at] = index;
    }
}

uint32_t graph_arrange(const ecs_world *world, uint32_t *tables, uint32_t count) {
  uint32_t first = count;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = count; i-- > 0;) {
    uint64_t order = world_table(world, tables[i])->order;
    if (order < least)
      least = order;
    else
      first = i;
  }
  if (first < count) graph_sort_tables(world, tables + first, count - first);
  return first;
}

struct id_record *graph_tables(const ecs_world *world, ecs_id id) {
  struct id_record *record = graph_record(world, id);
  if (!record || LIKELY(record->arranged == world->graph.placings)) return record;
  graph_arrange(world, record->tables, record->table_count);
  record->arranged = world->graph.placings;
  return record;
}

struct id_record *graph_uses(const ecs_world *world, const struct component *component) {
  bool pairs = component_has_pairs(component);
  return graph_tables(world, pairs ? pair_make(ecs_id_index(component->id), 0) : component->id);
}

const struct id_record *graph_all(const ecs_world *world) { return graph_tables(world, ECS_NULL); }

static ecs_status graph_new_record(ecs_world *world, ecs_id id, struct id_record **out) {
  struct graph *graph = &world->graph;
  assert(id == ECS_NULL ? graph->record_count == 0 : !graph_record(world, id));
  struct memory *memory = &world->memory;
  if (!GROW(memory, graph->record_list, graph->record_capacity, graph->record_count + 1ull))
    return world_nomem(world);
  if (!map_reserve(memory, &graph->records, 1)) return world_nomem(world);
  struct id_record *record = memory_array(memory, 1, sizeof *record);
  if (!record) return world_nomem(world);
  record->id = id;
  if (id != ECS_NULL) map_put(&graph->records, id, graph->record_count);
  graph->record_list[graph->record_count++] = record;
  *out = record;
  return ECS_OK;
}

ecs_status graph_need_record(ecs_world *world, ecs_id id, struct id_record **out) {
  *out = graph_record(world, id);
  return *out ? ECS_OK : graph_new_record(world, id, out);
}

/* Reserves room for a table in one of the lists of its keys. */
static ecs_status graph_record_reserve(ecs_world *world, ecs_id id, const struct table *table) {
  struct id_record *record;
  ecs_status status = graph_need_record(world, id, &record);
  if (status != ECS_OK) return status;
  if (!GROW(&world->memory, record->tables, record->table_capacity, record->table_count + 1ull))
    return world_nomem(world);
  return query_join_reserve(record, table);
}

/* Removes doomed tables and keeps the order of the rest. The doomed are mostly among the last. */
static void drop_doomed(ecs_world *world, struct id_record *record) {
  uint32_t kept = record->table_count;
  if (!record->doomed) return;
  while (record->doomed) record->doomed -= world_table(world, record->tables[--kept])->doomed;
  for (uint32_t i = kept; i < record->table_count; i++)
    if (!world_table(world, record->tables[i])->doomed)
      record->tables[kept++] = record->tables[i];
  record->table_count = kept;
  for (uint32_t i = 0; i < record->query_count; i++) query_leave(record->queries[i]);
}

/* ---- tables by their ids ---- */

static struct table *graph_find_table(const ecs_world *world, uint64_t hash, const ecs_id *ids,
                                      uint32_t count) {
  uint32_t at = map_get(&world->graph.by_hash, hash);
  while (at != NONE) {
    struct table *table = world_table(world, at);
    assert(table && table->index == at && table->hash == hash);
    if (table_is_of(table, ids, count)) return table;
    at = table->next_same_hash;
  }
  return NULL;
}

struct table *graph_find(const ecs_world *world, const ecs_id *ids, uint32_t count) {
  return graph_find_table(world, graph_hash_ids(ids, count), ids, count);
}

static ecs_status graph_reserve_index(ecs_world *world) {
  struct graph *graph = &world->graph;
  uint32_t need = graph->table_count + 1;
  if (need > TABLE_LIMIT) return world_fail(world, ECS_ELIMIT, "too many tables");
  struct memory *memory = &world->memory;
  if (!GROW(memory, graph->tables, graph->table_capacity, need) ||
      !GROW(memory, graph->free_tables, graph->free_capacity, need) ||
      !GROW(memory, graph->empties, graph->empty_capacity, need) ||
      !map_reserve(memory, &graph->by_hash, 1))
    return world_nomem(world);
  return ECS_OK;
}

static void graph_enter_index(ecs_world *world, struct table *table) {
  struct graph *graph = &world->graph;
  assert(graph->free_count || graph->table_count < graph->table_capacity);
  table->index = graph->free_count ? graph->free_tables[--graph->free_count]
                                   : graph->table_count++;
  table->serial = ++graph->next_serial;
  table->order = graph->next_order++;
  graph->tables[table->index] = table;
  graph->live++;
  table->next_same_hash = map_get(&graph->by_hash, table->hash);
  map_put(&graph->by_hash, table->hash, table->index);
  struct graph_keys keys = graph_keys(table->ids, table->id_count);
  for (ecs_id key; graph_next_key(&keys, &key);) {
    struct id_record *record = graph_record(world, key);
    assert(record && record->table_count < record->table_capacity);
    record->tables[record->table_count++] = table->index;
    query_join(record, table);
  }
  graph->pair_tables += table->has_pairs;
  if (table->has_pairs) graph->made_ids += table->id_count;
}

static ecs_status graph_make(ecs_world *world, uint64_t hash, const ecs_id *ids, uint32_t count,
                             struct table **out) {
  struct table *table;
  ecs_status status = graph_reserve_index(world);
  if (status == ECS_OK) status = table_new(world, ids, count, &table);
  if (status != ECS_OK) return status;
  table->hash = hash;
  struct graph_keys keys = graph_keys(ids, count);
  for (ecs_id key; status == ECS_OK && graph_next_key(&keys, &key);)
    status = graph_record_reserve(world, key, table);
  if (status != ECS_OK) {
    table_free(world, table);
    return status;
  }
  assert(!graph_find_table(world, hash, ids, count));
  graph_enter_index(world, table);
  if (count) graph_note_empty(&world->graph, table);
  *out = table;
  return ECS_OK;
}

ecs_status graph_table(ecs_world *world, const ecs_id *ids, uint32_t count,
                       struct table **out) {
  uint64_t hash = graph_hash_ids(ids, count);
  *out = graph_find_table(world, hash, ids, count);
  return *out ? ECS_OK : graph_make(world, hash, ids, count, out);
}

/* ---- edges ---- */

static struct edge *graph_find_edge(struct table *table, ecs_id id) {
  return &table->edges[edge_find(table, id) - table->edges];
}

static bool graph_reserve_edge(ecs_world *world, struct table *table) {
  uint32_t old_count = table->edge_mask + 1;
  if ((table->edge_count + 1) * 2 <= old_count) return true;
  struct edge *old = table->edges;
  struct edge *edges = memory_array(&world->memory, old_count * (size_t)2, sizeof *edges);
  if (!edges) return false;
  table->edges = edges;
  table->edge_mask = old_count * 2 - 1;
  for (uint32_t i = 0; i < old_count; i++)
    if (old[i].table) *graph_find_edge(table, old[i].id) = old[i];
  if (old != &table->no_edge)
    FREE_LIST(&world->memory, old, old_count);
  return true;
}

/* `larger` is the one of the two tables that has the id. */
static void graph_put_edge(struct table *table, struct table *to, const struct table *larger,
                           ecs_id id) {
  const struct layout *layout = table_find(larger, id);
  struct edge *edge = graph_find_edge(table, id);
  assert(!edge->table && (table->edge_count + 1) * 2 <= table->edge_mask + 1);
  *edge = (struct edge){.id = id, .table = to, .count = layout->count};
  edge->first = (uint32_t)(layout->columns - larger->columns);
  edge->kind = (to == larger ? EDGE_ADDS : EDGE_TAKES) | (larger->plain ? 0 : EDGE_SLOW);
  if (!table->near_edge.table) table->near_edge = *edge;
  table->edge_count++;
}

static void graph_slow_edge(struct table *table, ecs_id id) {
  graph_find_edge(table, id)->kind |= EDGE_SLOW;
  if (table->near_edge.id == id) table->near_edge.kind |= EDGE_SLOW;
}

void graph_slow_edges(struct table *table) {
  for (uint32_t i = 0; i <= table->edge_mask; i++) {
    const struct edge *edge = &table->edges[i];
    if (!edge->table || !table_has(table, edge->id)) continue;
    assert(!table->plain && graph_edge(edge->table, edge->id)->table == table);
    graph_slow_edge(table, edge->id);
    graph_slow_edge(edge->table, edge->id);
  }
}

/* Edges come in pairs and are only shortcuts: without memory for both, none is made. */
static void graph_link_tables(ecs_world *world, struct table *without, struct table *with,
                              ecs_id id) {
  if (relation_of(world, id)) return;
  assert(with->id_count == without->id_count + 1);
  assert(table_has(with, id) && !table_has(without, id));
  if (!graph_reserve_edge(world, without) || !graph_reserve_edge(world, with)) return;
  graph_put_edge(without, with, with, id);
  graph_put_edge(with, without, with, id);
}

/* Any of a table's edges; a free slot if it has none. */
static const struct edge *graph_any_edge(const struct table *table) {
  uint32_t at = 0;
  while (at < table->edge_mask && !table->edges[at].table) at++;
  return &table->edges[at];
}

/* By backward shift, as in map_remove. */
static void graph_remove_edge(struct table *table, ecs_id id) {
  uint32_t mask = table->edge_mask;
  struct edge *edges = table->edges, *hole = graph_find_edge(table, id);
  assert(hole->table && table->edge_count > 0);
  uint32_t gap = (uint32_t)(hole - edges);
  for (uint32_t at = (gap + 1) & mask; edges[at].table; at = (at + 1) & mask) {
    if (((at - edge_slot(edges[at].id, mask)) & mask) < ((at - gap) & mask)) continue;
    edges[gap] = edges[at];
    gap = at;
  }
  memset(&edges[gap], 0, sizeof edges[gap]);
  table->edge_count--;
  if (table->near_edge.id == id) table->near_edge = *graph_any_edge(table);
}

void graph_unlink(const struct table *table) {
  for (uint32_t i = 0; i <= table->edge_mask; i++) {
    const struct edge *edge = &table->edges[i];
    if (!edge->table) continue;
    assert(graph_edge(edge->table, edge->id)->table == table);
    graph_remove_edge(edge->table, edge->id);
  }
}

ecs_status graph_with(ecs_world *world, struct table *from, ecs_id id, struct table **out) {
  struct table *known = graph_edge(from, id)->table;
  assert(!known || graph_edge(known, id)->table == from);
  *out = known && known->id_count > from->id_count ? known : from;
  if (known || table_has(from, id)) return ECS_OK;
  uint64_t room = require_room(world, from->id_count, 1);
  ecs_id *ids = world_scratch(world, room);
  if (!ids) return world_nomem(world);
  memcpy(ids, from->ids, from->id_count * sizeof *ids);
  uint32_t count = require_insert(world, ids, from->id_count, room, id);
  ecs_status status = graph_table(world, ids, count, out);
  bool alone = count == from->id_count + 1;
  if (status == ECS_OK && alone) graph_link_tables(world, from, *out, id);
  return status;
}

ecs_status graph_without(ecs_world *world, struct table *from, ecs_id id,
                         struct table **out) {
  struct table *known = graph_edge(from, id)->table;
  assert(!known || graph_edge(known, id)->table == from);
  *out = known && known->id_count < from->id_count ? known : from;
  if (known || !table_has(from, id)) return ECS_OK;
  struct gap gap = {id, require_holder(world, from, id)};
  if (gap.by) return require_refuse(world, ECS_NULL, gap);
  ecs_id *ids = world_scratch(world, from->id_count);
  if (!ids) return world_nomem(world);
  uint32_t at = 0;
  while (from->ids[at] != id) at++;
  memcpy(ids, from->ids, at * sizeof *ids);
  memcpy(ids + at, from->ids + at + 1, (from->id_count - at - 1) * sizeof *ids);
  ecs_status status = graph_table(world, ids, from->id_count - 1, out);
  if (status == ECS_OK) graph_link_tables(world, *out, from, id);
  return status;
}

/* ---- reclaiming ---- */

static void graph_leave_hash(ecs_world *world, struct table *table) {
  struct graph *graph = &world->graph;
  uint32_t first = map_get(&graph->by_hash, table->hash);
  assert(first != NONE);
  if (first == table->index) {
    if (table->next_same_hash == NONE)
      map_remove(&graph->by_hash, table->hash);
    else
      map_put(&graph->by_hash, table->hash, table->next_same_hash);
    return;
  }
  struct table *before = world_table(world, first);
  while (before->next_same_hash != table->index) {
    assert(before->next_same_hash != NONE);
    before = world_table(world, before->next_same_hash);
  }
  before->next_same_hash = table->next_same_hash;
}

static void graph_mark_dirty(ecs_world *world, const struct table *table) {
  struct graph_keys keys = graph_keys(table->ids, table->id_count);
  for (ecs_id key; graph_next_key(&keys, &key);) {
    struct id_record *record = graph_record(world, key);
    assert(record && record->table_count > 0);
    record->doomed++;
    for (uint32_t j = 0; j < record->query_count; j++) record->queries[j]->dirty = true;
  }
}

static void graph_free_record(ecs_world *world, struct id_record *record) {
  struct memory *memory = &world->memory;
  FREE_LIST(memory, record->tables, record->table_capacity);
  FREE_LIST(memory, record->queries, record->query_capacity);
  memory_free(memory, record, sizeof *record);
}

/* Removes an empty record from the list; the last one takes its place. */
static void graph_forget_record(ecs_world *world, uint32_t at) {
  struct graph *graph = &world->graph;
  struct id_record *record = graph->record_list[at];
  assert(at > 0 && at < graph->record_count && map_get(&graph->records, record->id) == at);
  assert(record->table_count == 0 && record->query_count == 0);
  map_remove(&graph->records, record->id);
  struct id_record *last = graph->record_list[--graph->record_count];
  if (last != record) {
    graph->record_list[at] = last;
    map_put(&graph->records, last->id, at);
  }
  graph_free_record(world, record);
}

/* Frees all doomed tables, and the records of pairs that no table has any longer. */
static void graph_drop_tables(ecs_world *world, const uint32_t *doomed, uint32_t count) {
  struct graph *graph = &world->graph;
  for (uint32_t i = 0; i < count; i++) graph_mark_dirty(world, world_table(world, doomed[i]));
  for (uint32_t i = 0; i < graph->record_count; i++)
    drop_doomed(world, graph->record_list[i]);
  for (uint32_t i = 0; i < count; i++) {
    struct table *table = world_table(world, doomed[i]);
    assert(table->count == 0 && table->doomed && table != graph->empty);
    assert(graph->free_count < graph->free_capacity && graph->live > 0);
    graph->pair_tables -= table->has_pairs;
    graph_leave_hash(world, table);
    graph_unlink(table);
    graph->free_tables[graph->free_count++] = table->index;
    graph->live--;
    graph->tables[doomed[i]] = NULL;
    table_free(world, table);
  }
  for (uint32_t i = graph->record_count; i-- > 1;) {
    const struct id_record *record = graph->record_list[i];
    if (id_is_pair(record->id) && !record->table_count && !record->query_count)
      graph_forget_record(world, i);
  }
}

void graph_drop_doomed(ecs_world *world) {
  struct graph *graph = &world->graph;
  uint32_t doomed = 0, kept = 0;
  for (uint32_t i = 0; i < graph->empty_count; i++) {
    uint32_t index = graph->empties[i];
    struct table *table = world_table(world, index);
    assert(table && table->index == index && table->in_empties);
    table->in_empties = table->count == 0;
    table->doomed &= table->in_empties;
    if (!table->doomed) continue;
    graph->empties[i] = graph->empties[doomed];
    graph->empties[doomed++] = index;
  }
  uint32_t count = graph->empty_count;
  if (doomed) graph_drop_tables(world, graph->empties, doomed);
  for (uint32_t i = doomed; i < count; i++) {
    uint32_t index = graph->empties[i];
    if (world_table(world, index)->in_empties) graph->empties[kept++] = index;
  }
  graph->empty_count = kept;
}

void graph_reclaim(ecs_world *world) {
  const struct graph *graph = &world->graph;
  for (uint32_t i = 0; i < graph->empty_count; i++) {
    struct table *table = world_table(world, graph->empties[i]);
    table->doomed = table->was_empty;
    table->was_empty = true;
  }
  graph_drop_doomed(world);
}

#define MADE_MOST 262144u       /* ids: some 25 MB */

void graph_let_go(ecs_world *world) {
  struct graph *graph = &world->graph;
  if (LIKELY(graph->made_ids < MADE_MOST + 8ull * graph->record_count)) return;
  graph->made_ids = 0;
  for (uint32_t i = 0; i < graph->empty_count; i++) {
    struct table *table = world_table(world, graph->empties[i]);
    table->doomed = table->has_pairs;
  }
  graph_drop_doomed(world);
}

void graph_forget(ecs_world *world, ecs_id id) {
  struct graph *graph = &world->graph;
  const struct id_record *record = graph_record(world, id);
  if (!record) return;
  for (uint32_t i = 0; i < record->table_count; i++)
    world_table(world, record->tables[i])->doomed = true;
  if (record->table_count) graph_drop_doomed(world);
  uint32_t at = map_get(&graph->records, id);
  if (at != NONE) graph_forget_record(world, at);
}

void graph_forget_target(ecs_world *world, uint32_t index) {
  for (uint32_t i = 0; i < world->relations.count; i++)
    graph_forget(world, pair_make(ecs_id_index(world->relations.list[i]->component->id), index));
}

ecs_status graph_init(ecs_world *world) {
  struct id_record *all;
  const ecs_id none = ECS_NULL;
  ecs_status status = graph_new_record(world, ECS_NULL, &all);
  return status == ECS_OK ? graph_table(world, &none, 0, &world->graph.empty) : status;
}

void graph_free(ecs_world *world) {
  struct graph *graph = &world->graph;
  struct memory *memory = &world->memory;
  for (uint32_t i = 0; i < graph->table_count; i++)
    if (graph->tables[i]) table_free(world, graph->tables[i]);
  for (uint32_t i = 0; i < graph->record_count; i++)
    graph_free_record(world, graph->record_list[i]);
  FREE_LIST(memory, graph->record_list, graph->record_capacity);
  FREE_LIST(memory, graph->tables, graph->table_capacity);
  FREE_LIST(memory, graph->free_tables, graph->free_capacity);
  FREE_LIST(memory, graph->empties, graph->empty_capacity);
  map_free(memory, &graph->by_hash);
  map_free(memory, &graph->records);
}
