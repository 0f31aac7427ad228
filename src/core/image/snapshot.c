#include "core/image/snapshot.h"

#include "core/base/memory.h"
#include "core/command/emission.h"
#include "core/entity/name.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/image/load.h"
#include "core/index/indexing.h"
#include "core/query/changes.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/registry.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"
#include "core/world/lifetime.h"
#include "ecs_component.h"
#include "ecs_world.h"

/* An event's state apart from its rows and its delayed rows. */
struct event_copy {
  ecs_id id;
  uint64_t first, aged;
  double clock, *due;
};

/* The columns of a resource or array, consecutive and padded. */
struct resource_copy {
  ecs_id component;
  char *data;
};

/* The sources of an exclusive relation, by target and then in the order in which they were tied.
** The targets are in the cells. */
struct tie_copy {
  ecs_id component;
  uint32_t *sources;
  uint32_t count;
};

struct saved_page {
  uint32_t number;
  struct page *page;
};

struct ecs_snapshot {
  struct attachment link;
  ecs_world *world;
  void *owner;
  uint64_t layouts;          /* of the registry */
  uint64_t seed, tick, now;
  struct chance chance;
  struct entity_index index; /* without its directory; its near slots are copies */
  struct saved_page *pages;
  uint32_t page_count;
  struct table_copy *copies; /* of tables, then of every sparse component, then two for an event */
  uint32_t copy_count, table_count, sparse_count;
  struct event_copy *events;
  uint32_t event_count;
  struct resource_copy *resources;   /* and arrays */
  uint32_t resource_count;
  struct tie_copy *ties;     /* one for every relation */
  uint32_t tie_count;
  struct name_table names;
  struct timings timings;
  struct arena arena;        /* of all lists */
};

/* The components that snapshots were taken of, as a world without content. Kept after components
** change, while a snapshot needs it. */
struct layouts {
  struct attachment link;
  uint64_t number;           /* of the registry */
  ecs_world *world;
};

void snapshot_set_owner(ecs_snapshot *snapshot, void *owner) { snapshot->owner = owner; }

static void *snapshot_take(ecs_snapshot *snapshot, size_t count, size_t size) {
  return arena_take(&snapshot->world->memory, &snapshot->arena, count * size + 1);
}

/* ---- events, ties and resources, in lists of the arena --------------------------------------- */

/* The copies of an event's rows and of its delayed ones. */
static struct table_copy *snapshot_event_rows(const ecs_snapshot *snapshot, uint32_t event) {
  return &snapshot->copies[snapshot->table_count + snapshot->sparse_count + 2 * event];
}

static ecs_status snapshot_take_events(ecs_snapshot *snapshot) {
  const struct events *events = &snapshot->world->events;
  snapshot->events = snapshot_take(snapshot, events->count, sizeof *snapshot->events);
  if (!snapshot->events) return world_nomem(snapshot->world);
  for (uint32_t i = 0; i < events->count; i++) {
    const struct event *event = events->list[i];
    const struct later *later = &event->later;
    struct event_copy *copy = &snapshot->events[snapshot->event_count++];
    uint32_t count = later->table->count;
    *copy = (struct event_copy){.id = event->component->id, .first = event->first,
                                .aged = event->aged, .clock = later->clock};
    copy->due = snapshot_take(snapshot, count, sizeof *copy->due);
    if (!copy->due) return world_nomem(snapshot->world);
    if (count) memcpy(copy->due, later->due, count * sizeof *copy->due);
  }
  return ECS_OK;
}

static ecs_status snapshot_reserve_events(const ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < snapshot->event_count && status == ECS_OK; i++) {
    struct table_copy *copies = snapshot_event_rows(snapshot, i);
    struct event *event = component_of(world, snapshot->events[i].id)->event;
    status = table_copy_reserve(world, &copies[0], event->table);
    if (status == ECS_OK) status = table_copy_reserve(world, &copies[1], event->later.table);
    if (status == ECS_OK) status = later_reserve(world, event);
  }
  return status;
}

static void snapshot_restore_events(const ecs_snapshot *snapshot) {
  const ecs_world *world = snapshot->world;
  for (uint32_t i = 0; i < world->events.count; i++) event_clear(world->events.list[i]);
  for (uint32_t i = 0; i < snapshot->event_count; i++) {
    const struct event_copy *copy = &snapshot->events[i];
    const struct table_copy *copies = snapshot_event_rows(snapshot, i);
    struct event *event = component_of(world, copy->id)->event;
    size_t times = copies[1].count * sizeof *copy->due;
    table_copy_restore(world, &copies[0]);
    table_copy_restore(world, &copies[1]);
    event->first = copy->first;
    event->aged = copy->aged;
    event->later.clock = copy->clock;
    if (times) memcpy(event->later.due, copy->due, times);
  }
}
static ecs_status snapshot_take_ties(ecs_snapshot *snapshot) {
  const struct relations *relations = &snapshot->world->relations;
  snapshot->ties = snapshot_take(snapshot, relations->count, sizeof *snapshot->ties);
  if (!snapshot->ties) return world_nomem(snapshot->world);
  for (uint32_t i = 0; i < relations->count; i++) {
    const struct relation *relation = relations->list[i];
    const struct ties *ties = &relation->ties;
    struct tie_copy *copy = &snapshot->ties[snapshot->tie_count++];
    *copy = (struct tie_copy){relation->component->id, NULL, ties->count};
    copy->sources = snapshot_take(snapshot, ties->count, sizeof *copy->sources);
    if (!copy->sources) return world_nomem(snapshot->world);
    uint32_t n = 0;
    for (uint32_t end = 0; (end = ties_next_end(ties, end)) != 0; end++)
      for (uint32_t at = ties_first(ties, end); at; at = ties_next(ties, at))
        copy->sources[n++] = at;
    assert(n == ties->count);
  }
  return ECS_OK;
}

/* Can fail only if fewer sources were tied before. */
static ecs_status snapshot_restore_ties(ecs_world *world, const struct tie_copy *copy) {
  struct relation *relation = relation_of(world, copy->component);
  for (uint32_t i = 0; i < copy->count; i++) {
    uint32_t source = copy->sources[i];
    struct cells_row cells = {NULL, NULL, 0};
    cells_find(world, entity_id(&world->entities, source), copy->component, &cells);
    assert(cells.columns && relation);
    ecs_id target = ((const ecs_id *)cells.columns[TARGET_LEAF].data)[cells.row];
    if (!ties_reserve(&relation->ties, &world->memory, source, ecs_id_index(target)))
      return world_nomem(world);
    relation_link(world, relation, source, ecs_id_index(target));
  }
  return ECS_OK;
}

static size_t snapshot_padded_cells(const struct component *component, uint32_t leaf) {
  size_t size = (size_t)component_cells(component) * component->leaves[leaf].size;
  return (size + 7) / 8 * 8;
}

static ecs_status snapshot_take_resource(ecs_snapshot *snapshot, const struct component *component,
                                         struct resource_copy *copy) {
  size_t size = 0;
  for (uint32_t i = 0; i < component->leaf_count; i++) size += snapshot_padded_cells(component, i);
  copy->component = component->id;
  copy->data = snapshot_take(snapshot, 1, size);
  if (!copy->data) return world_nomem(snapshot->world);
  char *data = copy->data;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    memcpy(data, component->resource[i].data,
           (size_t)component_cells(component) * component->leaves[i].size);
    data += snapshot_padded_cells(component, i);
  }
  return ECS_OK;
}

static ecs_status snapshot_take_resources(ecs_snapshot *snapshot) {
  const struct registry *registry = &snapshot->world->registry;
  struct resource_copy *copies = snapshot_take(snapshot, registry->count, sizeof *copies);
  snapshot->resources = copies;
  if (!copies) return world_nomem(snapshot->world);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < registry->count && status == ECS_OK; i++) {
    const struct component *component = registry->components[i];
    if (!component || !component->resource) continue;
    status = snapshot_take_resource(snapshot, component, &copies[snapshot->resource_count]);
    snapshot->resource_count += status == ECS_OK;
  }
  return status;
}

static bool resource_copy_each(const ecs_world *world, const struct resource_copy *copy,
                               ecs_type type, cells_fn visit, void *ud) {
  const struct component *component = component_of(world, copy->component);
  char *data = copy->data;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    struct cells cells = {data, component_cells(component), component, &component->leaves[i]};
    if (cells.leaf->type == type && !visit(&cells, ud)) return false;
    data += snapshot_padded_cells(component, i);
  }
  return true;
}

static void snapshot_restore_resource(const struct component *component, const char *data) {
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    uint32_t count = component_cells(component);
    if (!data) {
      cell_fill(component->resource[i].data, leaf->size, 0, count, leaf->value);
    } else {
      memcpy(component->resource[i].data, data, (size_t)count * leaf->size);
      data += snapshot_padded_cells(component, i);
    }
  }
}

/* A resource that the snapshot lacks gets its defaults. In a shadow, whose defaults may differ, it
** is dropped: the live world's own comes later. */
static void snapshot_restore_resources(const ecs_snapshot *snapshot, bool shadow) {
  const struct registry *registry = &snapshot->world->registry;
  for (uint32_t i = 0; i < registry->count; i++) {
    struct component *component = registry->components[i];
    const char *data = NULL;
    if (!component || !component->resource) continue;
    for (uint32_t j = 0; j < snapshot->resource_count && !data; j++)
      if (snapshot->resources[j].component == component->id) data = snapshot->resources[j].data;
    if (data || !shadow || component->length)
      snapshot_restore_resource(component, data);
    else
      resource_free(snapshot->world, component);
  }
}

/* ---- taking ------------------------------------------------------------------------------ */

static bool snapshot_has_value(const struct cells *cells, void *ud) {
  const struct component **found = ud;
  const uint32_t *slots = cells->data;
  for (uint32_t i = 0; i < cells->count && !*found; i++)
    if (slots[i]) *found = cells->component;
  return !*found;
}

static ecs_status snapshot_check_any(const ecs_world *world) {
  const struct component *component = NULL;
  if (cells_each(world, ECS_ANY, CELLS_STORED, snapshot_has_value, &component)) return ECS_OK;
  return world_fail(world, ECS_ETYPE,
                    "a snapshot cannot hold the `any` values of component '%s': set them to nil, "
                    "or save an image with a codec", component->name);
}

static ecs_status snapshot_take_table(ecs_snapshot *snapshot, struct table *table) {
  return table_copy_take(snapshot->world, &snapshot->arena, table,
                         &snapshot->copies[snapshot->copy_count++]);
}

static ecs_status snapshot_take_tables(ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  const struct id_record *all = graph_all(world);
  const struct sparses *sparses = &world->sparses;
  const struct events *events = &world->events;
  size_t count = all->table_count + sparses->count + 2 * (size_t)events->count;
  snapshot->copies = snapshot_take(snapshot, count, sizeof *snapshot->copies);
  if (!snapshot->copies) return world_nomem(world);
  snapshot->table_count = all->table_count;
  snapshot->sparse_count = sparses->count;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < all->table_count && status == ECS_OK; i++)
    status = snapshot_take_table(snapshot, world_table(world, all->tables[i]));
  for (uint32_t i = 0; i < sparses->count && status == ECS_OK; i++)
    status = snapshot_take_table(snapshot, sparses->list[i]->table);
  for (uint32_t i = 0; i < events->count && status == ECS_OK; i++) {
    status = snapshot_take_table(snapshot, events->list[i]->table);
    if (status == ECS_OK) status = snapshot_take_table(snapshot, events->list[i]->later.table);
  }
  return status;
}

/* The first page at or after *number, which becomes that page's number; NULL if there is none. */
static struct page *snapshot_next_page(const struct entity_index *index, uint32_t *number) {
  for (; *number < INDEX_LIMIT >> PAGE_BITS; ++*number) {
    struct page *page = entity_page(index, *number << PAGE_BITS);
    if (page) return page;
    if (!index->directory[*number >> 8]) *number |= 255;
  }
  return NULL;
}

static ecs_status snapshot_take_index(ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  snapshot->index = world->entities;
  struct slots *near = &snapshot->index.near;
  const struct slots *from = &world->entities.near;
  size_t records = from->count * sizeof *near->records;
  size_t generations = from->count * sizeof *near->generations;
  near->records = NULL;
  near->generations = NULL;
  if (from->count) {
    near->records = memory_resize(&world->memory, NULL, 0, records);
    near->generations = memory_resize(&world->memory, NULL, 0, generations);
    if (!near->records || !near->generations) return world_nomem(world);
    memcpy(near->records, from->records, records);
    memcpy(near->generations, from->generations, generations);
  }
  size_t pages = 0;
  for (uint32_t number = 0; snapshot_next_page(&world->entities, &number); number++) pages++;
  snapshot->pages = snapshot_take(snapshot, pages, sizeof *snapshot->pages);
  if (!snapshot->pages) return world_nomem(world);
  const struct page *page;
  for (uint32_t number = 0; (page = snapshot_next_page(&world->entities, &number)) != NULL;
       number++) {
    struct page *copy = memory_resize(&world->memory, NULL, 0, sizeof *copy);
    if (!copy) return world_nomem(world);
    *copy = *page;
    snapshot->pages[snapshot->page_count++] = (struct saved_page){number, copy};
  }
  return ECS_OK;
}

static ecs_status snapshot_take_all(ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  ecs_status status = snapshot_check_any(world);
  if (status == ECS_OK) status = snapshot_take_tables(snapshot);
  if (status == ECS_OK) status = snapshot_take_events(snapshot);
  if (status == ECS_OK) status = snapshot_take_index(snapshot);
  if (status == ECS_OK) status = snapshot_take_resources(snapshot);
  if (status == ECS_OK) status = snapshot_take_ties(snapshot);
  if (status == ECS_OK) status = timings_take(world, &snapshot->timings);
  if (status == ECS_OK) status = name_table_copy(world, &world->names, &snapshot->names);
  return status;
}

/* ---- as an attachment of the world ------------------------------------------------------- */

static void snapshot_free_layouts(ecs_world *world, struct attachment *link) {
  struct layouts *layouts = (struct layouts *)link;
  world_detach_from(world, link);
  world->memory.bytes -= layouts->world->memory.bytes;
  ecs_world_free(layouts->world);
  memory_free(&world->memory, layouts, sizeof *layouts);
}

/* The newest layouts older than a number; NULL if there are none. */
static struct layouts *snapshot_layouts_before(const ecs_world *world, uint64_t number) {
  struct attachment *link = world->attachments;
  while (link && (link->free != snapshot_free_layouts ||
                  ((struct layouts *)link)->number >= number))
    link = link->next;
  return (struct layouts *)link;
}

/* The world with a snapshot's components; NULL if an image has been loaded since. */
static const ecs_world *snapshot_world_like(const ecs_snapshot *snapshot) {
  if (snapshot->layouts == snapshot->world->registry.layouts) return snapshot->world;
  const struct layouts *layouts = snapshot_layouts_before(snapshot->world, snapshot->layouts + 1);
  return layouts && layouts->number == snapshot->layouts ? layouts->world : NULL;
}

/* Makes a shadow without content that is declared alike. */
static ecs_status snapshot_make_alike(struct loader *loader, ecs_world *like) {
  ecs_world *live = loader->live;
  ecs_status status = load_make_shadow(loader, live->entities.tag);
  loader->live = like;
  if (status == ECS_OK) status = adopt_migrate(loader);
  if (status == ECS_OK) status = adopt_give_resources(loader);
  loader->live = live;
  return status;
}

/* Called before components may change. */
static ecs_status snapshot_keep_layouts(ecs_world *world) {
  struct layouts *last = snapshot_layouts_before(world, UINT64_MAX);
  if (last && last->number == world->registry.layouts) snapshot_free_layouts(world, &last->link);
  struct layouts *layouts = memory_array(&world->memory, 1, sizeof *layouts);
  struct loader *loader = memory_array(&world->memory, 1, sizeof *loader);
  ecs_status status = ECS_ENOMEM;
  if (loader) loader->live = world;
  if (layouts && loader) status = snapshot_make_alike(loader, world);
  if (layouts && status == ECS_OK) {
    *layouts = (struct layouts){.link.free = snapshot_free_layouts,
                                .number = world->registry.layouts, .world = loader->world};
    world_attach_to(world, &layouts->link);
    world->memory.bytes += loader->world->memory.bytes;
    loader->world = NULL;
  } else {
    memory_free(&world->memory, layouts, sizeof *layouts);
    status = loader ? load_pass_on(loader, status) : world_nomem(world);
  }
  if (loader) load_end(loader);
  return status;
}

static bool snapshot_each_cells(const ecs_world *live, const struct attachment *link,
                                ecs_type type, cells_fn visit, void *ud) {
  const ecs_snapshot *snapshot = (const ecs_snapshot *)link;
  const ecs_world *world = snapshot_world_like(snapshot);
  bool ok = true;
  (void)live;
  if (!world) return ok;
  for (uint32_t i = 0; i < snapshot->copy_count && ok; i++)
    ok = table_copy_each(world, &snapshot->copies[i], type, visit, ud);
  for (uint32_t i = 0; i < snapshot->resource_count && ok; i++)
    ok = resource_copy_each(world, &snapshot->resources[i], type, visit, ud);
  return ok;
}

static void snapshot_free_link(ecs_world *world, struct attachment *link) {
  (void)world;
  ecs_snapshot_free((ecs_snapshot *)link);
}

static ecs_snapshot *snapshot_of(struct attachment *link) {
  return link->free == snapshot_free_link ? (ecs_snapshot *)link : NULL;
}

void snapshots_free_of(ecs_world *world, const void *owner) {
  struct attachment *link = world->attachments;
  while (link) {
    bool its = snapshot_of(link) && snapshot_of(link)->owner == owner;
    if (its) snapshot_free_link(world, link);
    link = its ? world->attachments : link->next;
  }
}

void snapshots_outdate(ecs_world *world, uint64_t number) {
  struct layouts *layouts;
  while ((layouts = snapshot_layouts_before(world, number)) != NULL)
    snapshot_free_layouts(world, &layouts->link);
}

ecs_status ecs_snapshot_new(ecs_world *world, ecs_snapshot **out) {
  ecs_status status = world_is_idle(world, "a snapshot");
  if (status != ECS_OK) return status;
  ecs_snapshot *snapshot = memory_array(&world->memory, 1, sizeof *snapshot);
  if (!snapshot) return world_nomem(world);
  snapshot->world = world;
  snapshot->layouts = world->registry.layouts;
  snapshot->seed = world->seed;
  snapshot->tick = world->tick;
  snapshot->now = world->now;
  snapshot->chance = world->chance;
  snapshot->link.free = snapshot_free_link;
  snapshot->link.cells = snapshot_each_cells;
  snapshot->link.prepare = snapshot_keep_layouts;
  world_attach_to(world, &snapshot->link);
  status = snapshot_take_all(snapshot);
  if (status == ECS_OK)
    *out = snapshot;
  else
    ecs_snapshot_free(snapshot);
  return status;
}

void ecs_snapshot_free(ecs_snapshot *snapshot) {
  if (!snapshot) return;
  ecs_world *world = snapshot->world;
  struct memory *memory = &world->memory;
  world_detach_from(world, &snapshot->link);
  /* Layouts that no other snapshot needs go with it. */
  uint64_t oldest = UINT64_MAX;
  for (struct attachment *link = world->attachments; link; link = link->next)
    if (snapshot_of(link) && snapshot_of(link)->layouts < oldest)
      oldest = snapshot_of(link)->layouts;
  snapshots_outdate(world, oldest);
  for (uint32_t i = 0; i < snapshot->copy_count; i++) table_copy_free(world, &snapshot->copies[i]);
  for (uint32_t i = 0; i < snapshot->page_count; i++)
    memory_free(memory, snapshot->pages[i].page, sizeof *snapshot->pages[i].page);
  const struct slots *near = &snapshot->index.near;
  FREE_LIST(memory, near->records, near->count);
  FREE_LIST(memory, near->generations, near->count);
  name_table_clear(world, &snapshot->names);
  timings_free(world, &snapshot->timings);
  arena_free(memory, &snapshot->arena);
  memory_free(memory, snapshot, sizeof *snapshot);
}

/* ---- restoring: what can fail ------------------------------------------------------------ */

static ecs_status snapshot_find_table(ecs_snapshot *snapshot, struct table_copy *saved,
                                      bool *differs) {
  ecs_world *world = snapshot->world;
  const struct graph *graph = &world->graph;
  struct table *table =
      saved->index < graph->table_count ? graph->tables[saved->index] : NULL;
  if (!table || table->serial != saved->serial) {
    *differs = true;
    ecs_status status = graph_table(world, saved->ids, saved->id_count, &table);
    if (status != ECS_OK) return status;
  }
  return table_copy_reserve(world, saved, table);
}

/* ---- restoring: what cannot -------------------------------------------------------------- */

static void snapshot_restore_tables(ecs_snapshot *snapshot, bool differs) {
  ecs_world *world = snapshot->world;
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    struct table *table = world_table(world, all->tables[i]);
    table->doomed = true;
    table->count = 0;
    toggles_clear(table);
    marks_clear(table);
    if (differs) graph_note_empty(&world->graph, table);
  }
  for (uint32_t i = 0; i < snapshot->table_count; i++) {
    const struct table_copy *saved = &snapshot->copies[i];
    struct table *table = saved->table;
    table_copy_restore(world, saved);
    table->order = saved->order;
    table->doomed = false;
    if (table->count == 0) graph_note_empty(&world->graph, table);
  }
  if (differs) graph_drop_doomed(world);
  world->graph.placings++;
  world->arrivals++;
}

/* Components declared since then have no rows. */
static void snapshot_restore_sparse(const ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  for (uint32_t i = 0; i < world->sparses.count; i++) sparse_clear(world, world->sparses.list[i]);
  for (uint32_t i = 0; i < snapshot->sparse_count; i++) {
    const struct table_copy *saved = &snapshot->copies[snapshot->table_count + i];
    table_copy_restore(world, saved);
    sparse_enter_rows(world, sparse_of(world, saved->ids[0]));
  }
}

/* Components stay alive; those that had rows get them back. */
static void snapshot_restore_components(struct page *now, const struct page *then) {
  for (uint32_t i = 0; i < INDEX_PAGE; i++) {
    struct record *record = &now->records[i];
    if (record->table < RECORD_BARE) *record = (struct record){RECORD_BARE, 0};
    if (then && then->records[i].table < RECORD_BARE) *record = then->records[i];
  }
}

/* Restores a page that the near slots have since come to cover. */
static void snapshot_restore_absorbed(struct entity_index *index, const struct saved_page *saved) {
  struct slots *near = &index->near;
  uint32_t offset = (saved->number << PAGE_BITS) - FIRST_ENTITY, gap = offset - near->count;
  assert(offset >= near->count && offset + INDEX_PAGE <= index->near_capacity);
  memset(near->records + near->count, 0xFF, gap * sizeof *near->records);
  memset(near->generations + near->count, 0, gap * sizeof *near->generations);
  memcpy(near->records + offset, saved->page->records, sizeof saved->page->records);
  memcpy(near->generations + offset, saved->page->generations, sizeof saved->page->generations);
  near->count = offset + INDEX_PAGE;
}

static void snapshot_restore_index(ecs_snapshot *snapshot) {
  struct entity_index *index = &snapshot->world->entities;
  struct page *now;
  for (uint32_t number = 0; (now = snapshot_next_page(index, &number)) != NULL; number++) {
    if (number < FIRST_ENTITY >> PAGE_BITS) {
      snapshot_restore_components(now, NULL);
    } else {
      memset(now->records, 0xFF, sizeof now->records);
      memset(now->generations, 0, sizeof now->generations);
    }
  }
  /* The room of near slots never shrinks, though an older snapshot may have had fewer. */
  const struct slots *near = &snapshot->index.near;
  assert(index->near_capacity >= near->count);
  index->near.count = near->count;
  if (near->count) {
    memcpy(index->near.records, near->records, near->count * sizeof *near->records);
    memcpy(index->near.generations, near->generations, near->count * sizeof *near->generations);
  }
  for (uint32_t i = 0; i < snapshot->page_count; i++) {
    const struct saved_page *saved = &snapshot->pages[i];
    struct page *page = entity_page(index, saved->number << PAGE_BITS);
    assert(page || saved->number >= FIRST_ENTITY >> PAGE_BITS);
    if (saved->number < FIRST_ENTITY >> PAGE_BITS)
      snapshot_restore_components(page, saved->page);
    else if (page)
      *page = *saved->page;
    else
      snapshot_restore_absorbed(index, saved);
  }
  index->entities = snapshot->index.entities;
  index->retired = snapshot->index.retired;
  index->alive = snapshot->index.alive;
}

/* Fixes the records of tables whose index has changed. */
static void snapshot_restore_records(ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  for (uint32_t i = 0; i < snapshot->table_count; i++) {
    const struct table_copy *saved = &snapshot->copies[i];
    if (saved->table->index == saved->index) continue;
    for (uint32_t row = 0; row < saved->count; row++)
      entity_record(&world->entities, saved->table->rows[row])->table = saved->table->index;
  }
}

/* Restores everything but the schedule's times into the snapshot's world or, with `differs`, into
** one that has the same components and nothing else. */
static ecs_status snapshot_put(ecs_snapshot *snapshot, bool differs) {
  ecs_world *world = snapshot->world;
  struct name_table names;
  const bool shadow = differs;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < snapshot->table_count && status == ECS_OK; i++)
    status = snapshot_find_table(snapshot, &snapshot->copies[i], &differs);
  differs |= graph_all(world)->table_count != snapshot->table_count;
  /* The pages of sets still exist, and so does the room, unless memory ran out meanwhile. */
  for (uint32_t i = 0; i < snapshot->sparse_count && status == ECS_OK; i++) {
    struct table_copy *saved = &snapshot->copies[snapshot->table_count + i];
    status = table_copy_reserve(world, saved, sparse_of(world, saved->ids[0])->table);
  }
  if (status == ECS_OK) status = snapshot_reserve_events(snapshot);
  if (status == ECS_OK) status = name_table_copy(world, &snapshot->names, &names);
  if (status != ECS_OK) return status;
  name_table_clear(world, &world->names);
  world->names = names;
  world_release_any(world, &world->any);
  world->now = snapshot->now;
  snapshot_restore_tables(snapshot, differs);
  snapshot_restore_sparse(snapshot);
  snapshot_restore_events(snapshot);
  snapshot_restore_index(snapshot);
  if (differs) snapshot_restore_records(snapshot);
  snapshot_restore_resources(snapshot, shadow);
  relations_clear(world);
  for (uint32_t i = 0; i < snapshot->tie_count && status == ECS_OK; i++)
    status = snapshot_restore_ties(world, &snapshot->ties[i]);
  world->seed = snapshot->seed;
  world->tick = snapshot->tick;
  world->chance = snapshot->chance;
  return status;
}

/* ---- restoring across changes of components ---------------------------------------------- */

/* Makes slots in the shadow wherever the live world has some. */
static bool snapshot_match_slots(const struct entity_index *live, ecs_world *shadow) {
  struct entity_index *index = &shadow->entities;
  for (uint32_t i = 0; i < live->near_capacity; i += INDEX_PAGE)
    if (!entity_make_page(index, &shadow->memory, FIRST_ENTITY + i).count) return false;
  for (uint32_t number = 0; snapshot_next_page(live, &number); number++)
    if (!entity_make_page(index, &shadow->memory, number << PAGE_BITS).count) return false;
  return true;
}

/* Reserves room for cells and ties wherever the live world has some: existing snapshots rely on
** it. */
static ecs_status snapshot_match_room(const ecs_world *live, ecs_world *shadow) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < live->sparses.count; i++) {
    const struct sparse *from = live->sparses.list[i];
    struct sparse *to = sparse_of(shadow, from->component->id);
    for (uint32_t at = 0; at < from->page_capacity && status == ECS_OK; at++)
      if (from->pages[at]) status = sparse_reserve(shadow, to, at << SPARSE_PAGE_BITS, 0);
  }
  for (uint32_t i = 0; i < live->relations.count && status == ECS_OK; i++) {
    const struct ties *from = &live->relations.list[i]->ties;
    struct ties *to = &relation_of(shadow, live->relations.list[i]->component->id)->ties;
    uint32_t pages = from->page_capacity > from->end_page_capacity ? from->page_capacity
                                                                   : from->end_page_capacity;
    for (uint32_t at = 0; at < pages && status == ECS_OK; at++)
      if (!ties_reserve(to, &shadow->memory, at << TIE_PAGE_BITS, at << TIE_PAGE_BITS))
        status = world_nomem(live);
  }
  return status;
}

/* Gives the shadow the snapshot's content, with its components, strings and ids. */
static ecs_status snapshot_put_into(ecs_snapshot *snapshot, struct loader *loader) {
  ecs_world *live = snapshot->world, *shadow = loader->world;
  struct memory *memory = &shadow->memory;
  intern_free(&shadow->strings, memory);
  bool room = intern_copy(&live->strings, memory, &shadow->strings) == ECS_OK &&
              snapshot_match_slots(&live->entities, shadow);
  shadow->strings.sweep_at = SIZE_MAX;   /* other snapshots have strings that the shadow lacks */
  shadow->graph.next_serial = live->graph.next_serial;
  shadow->graph.next_order = live->graph.next_order;
  ecs_status status = room ? ECS_OK : world_nomem(live);
  for (uint32_t i = 0; i < snapshot->sparse_count; i++) {
    const struct table_copy *saved = &snapshot->copies[snapshot->table_count + i];
    for (uint32_t row = 0; row < saved->count && status == ECS_OK; row++)
      status = sparse_reserve(shadow, sparse_of(shadow, saved->ids[0]),
                              ((const uint32_t *)(const void *)saved->data)[row], 0);
  }
  snapshot->world = shadow;
  if (status == ECS_OK) status = snapshot_put(snapshot, true);
  snapshot->world = live;
  return status;
}

static ecs_status snapshot_check_declared(const ecs_world *world, const ecs_world *then) {
  for (uint32_t i = 0; i < then->registry.count; i++) {
    const struct component *component = then->registry.components[i];
    if (component && !component_of(world, component->id))
      return world_fail(world, ECS_EINVAL, "component '%s' has been undeclared since the "
                        "snapshot: declare it again and load an image, which finds it by name",
                        component->name);
  }
  return ECS_OK;
}

/* The name that a field had in the layout before that of `after`. */
static const char *snapshot_trace_field(const struct component *before,
                                        const struct component *after, const char *name) {
  for (uint32_t i = 0; i < after->former.was_count; i++) {
    const ecs_rename *rename = &after->former.was[i];
    bool is = strcmp(rename->name, name) == 0;
    if (is && component_field(before, rename->was, strlen(rename->was)) != NONE) return rename->was;
  }
  return name;
}

/* Traces a field, which may have been renamed several times since, to its first name. *lasted:
** whether it has existed all along. */
static const char *snapshot_trace_back(const struct loader *loader,
                                       const struct component *component, uint32_t field,
                                       bool *lasted) {
  const char *name = component->fields[field].name;
  const struct component *after = component;
  uint64_t number = UINT64_MAX;
  *lasted = true;
  for (struct layouts *at; (at = snapshot_layouts_before(loader->live, number)) != NULL &&
                           at->number >= loader->since; number = at->number) {
    const struct component *before = component_of(at->world, component->id);
    if (!before) break;
    name = snapshot_trace_field(before, after, name);
    *lasted &= component_field(before, name, strlen(name)) != NONE;
    after = before;
  }
  return name;
}

/* Fields that have existed all along come first. A field added since under the name of a dropped
** one gets its values only if none of those has taken them. */
static const char **snapshot_trace(struct loader *loader, const struct component *component) {
  size_t size = component->field_count * sizeof(const char *) + 1;
  const char **names = arena_take(&loader->live->memory, &loader->arena, size);
  for (int added = 0; names && added < 2; added++)
    for (uint32_t i = 0; i < component->field_count; i++) {
      bool lasted, taken = false;
      const char *name = snapshot_trace_back(loader, component, i, &lasted);
      if (lasted == (added == 1)) continue;
      for (uint32_t j = 0; j < component->field_count && !taken; j++)
        taken = names[j] && strcmp(names[j], name) == 0;
      if (!taken) names[i] = name;
    }
  return names;
}

static ecs_status snapshot_read(ecs_snapshot *snapshot, struct loader *loader) {
  ecs_world *world = snapshot->world;
  struct layouts *layouts = snapshot_layouts_before(world, snapshot->layouts + 1);
  ecs_status status = snapshot_check_declared(world, layouts->world);
  if (status == ECS_OK) status = snapshot_make_alike(loader, layouts->world);
  if (status == ECS_OK) status = snapshot_put_into(snapshot, loader);
  loader->since = snapshot->layouts;
  loader->trace = snapshot_trace;
  if (status == ECS_OK) status = adopt_prepare(loader);
  return status == ECS_OK ? snapshot_match_room(world, loader->world) : status;
}

/* Restores as if an image were loaded, but finds components by id and strings by number. */
static ecs_status snapshot_restore_across(ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  struct loader *loader = load_begin(world);
  if (!loader) return world_nomem(world);
  uint64_t layouts = world->registry.layouts;
  size_t sweep_at = world->strings.sweep_at;
  ecs_status status = timings_add(world, &loader->timings, &snapshot->timings);
  if (status == ECS_OK) status = snapshot_read(snapshot, loader);
  status = load_finish(loader, status);
  if (status == ECS_OK) {
    world->registry.layouts = layouts;
    world->strings.sweep_at = sweep_at;
  }
  return status;
}

/* Queries used directly see all rows again. */
ecs_status ecs_restore(ecs_snapshot *snapshot) {
  ecs_world *world = snapshot->world;
  ecs_status status = world_is_idle(world, "restore");
  if (status != ECS_OK) return status;
  const ecs_world *like = snapshot_world_like(snapshot);
  if (!like)
    return world_fail(world, ECS_EINVAL, "the world has loaded an image since the snapshot, which "
                      "is stale now: use an image instead");
  if (like != world) return snapshot_restore_across(snapshot);
  struct timings timings = {.phases = {.count = 0}};
  status = timings_add(world, &timings, &snapshot->timings);
  if (status == ECS_OK) status = snapshot_put(snapshot, false);
  if (status != ECS_OK) {
    timings_free(world, &timings);
    return status;
  }
  indexes_forget(world);
  for (ecs_query *query = world->first_query; query; query = query->next) changes_keep(query, 0);
  timings_give(world, &timings);
  world_settle(world);
  return ECS_OK;
}
