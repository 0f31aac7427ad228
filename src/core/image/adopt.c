/* The second half of loading: the shadow's content replaces that of the live world. */
#include "core/change/declare.h"
#include "core/change/migrate.h"
#include "core/ids/world.h"
#include "core/image/load.h"
#include "core/query/changes.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/registry.h"
#include "core/storage/sparse.h"

/* ---- what can fail ---- */

ecs_status adopt_give_resources(struct loader *loader) {
  const struct registry *registry = &loader->live->registry;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < registry->count && status == ECS_OK; i++) {
    const struct component *live = registry->components[i];
    struct component *shadow = live ? component_of(loader->world, live->id) : NULL;
    if (shadow && live->resource && shadow->leaf_count)
      status = resource_new(loader->world, shadow);
  }
  return status;
}

/* Adds a live component that the image does not name. */
static ecs_status adopt_add_live(ecs_world *shadow, const struct component *live,
                                 struct component *copy) {
  uint32_t index = ecs_id_index(live->id);
  copy->watched = live->watched;
  copy->asked = live->asked;
  ecs_status status = registry_reserve(shadow, index);
  if (status == ECS_OK) status = registry_equip(shadow, copy, live->id);
  if (status == ECS_OK)
    registry_enter(shadow, copy, index);
  else
    component_free(shadow, copy);
  return status;
}

/* Whether every field already had its present name; NULL means that all had. */
static bool adopt_keeps_names(const struct component *component, const char *const *names) {
  for (uint32_t i = 0; names && i < component->field_count; i++)
    if (!names[i] || strcmp(names[i], component->fields[i].name) != 0) return false;
  return true;
}

static ecs_status adopt_want(struct loader *loader, struct migration *migration,
                             const struct component *live) {
  ecs_world *shadow = loader->world;
  struct component *known = component_of(shadow, live->id), *wanted;
  const char **names = loader->trace ? loader->trace(loader, live) : NULL;
  if (loader->trace && !names) return ECS_ENOMEM;
  if (known && declare_same(loader->live, live, shadow, known) && adopt_keeps_names(live, names))
    return ECS_OK;
  ecs_status status = redeclare(shadow, loader->live, live, &wanted);
  if (status != ECS_OK) return status;
  if (!known) return adopt_add_live(shadow, live, wanted);
  status = migration_add(migration, known, wanted);
  if (status == ECS_OK) migration_of(migration, known->id)->names = names;
  if (status == ECS_OK) shadow->registry.components[ecs_id_index(live->id)] = wanted;
  return status;
}

/* Migrates the shadow's components to the live ones: nested ones before those that contain them, so
** that these contain live ones. */
static ecs_status adopt_want_live(struct loader *loader, struct migration *migration) {
  uint32_t count;
  const void **live = image_components(loader->live, &count);
  if (!live) return ECS_ENOMEM;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = adopt_want(loader, migration, live[i]);
  migration_show(migration, false);
  image_components_free(loader->live, live);
  return status;
}

ecs_status adopt_migrate(struct loader *loader) {
  ecs_world *shadow = loader->world;
  struct migration migration;
  migration_begin(&migration, shadow);
  ecs_status status = adopt_want_live(loader, &migration);
  shadow->any = loader->live->any;
  if (status == ECS_OK) status = migration_run(&migration, "load");
  loader->live->any = shadow->any;
  memset(&shadow->any, 0, sizeof shadow->any);
  migration_end(&migration);
  return status;
}

/* Reserves room for live queries in the shadow's record of the key, and for their matches. */
static ecs_status adopt_prepare_query(struct loader *loader, ecs_query *query, uint32_t queries) {
  if (query->broken) return ECS_OK;
  const struct id_record *all = graph_all(loader->world);
  uint64_t matches = query->terms.event != NULL;
  for (uint32_t i = 0; i < all->table_count; i++)
    matches += query_terms_match(&query->terms, world_table(loader->world, all->tables[i]));
  ecs_status status = query_room(query, matches);
  struct id_record *record;
  return status == ECS_OK ? query_key_room(loader->world, query->key, queries, &record) : status;
}

static ecs_status adopt_reserve_components(struct loader *loader) {
  const struct registry *registry = &loader->world->registry;
  uint32_t more = 0;
  for (uint32_t i = 0; i < registry->count; i++) {
    const struct component *shadow = registry->components[i];
    if (!shadow || component_of(loader->live, shadow->id)) continue;
    ecs_status status = registry_reserve(loader->live, i);
    if (status != ECS_OK) return status;
    more++;
  }
  ecs_world *live = loader->live;
  if (OWNED_RESERVE(live, &live->relations, more) != ECS_OK) return ECS_ENOMEM;
  if (OWNED_RESERVE(live, &live->sparses, more) != ECS_OK) return ECS_ENOMEM;
  if (OWNED_RESERVE(live, &live->events, more) != ECS_OK) return ECS_ENOMEM;
  return map_reserve(&live->memory, &live->registry.names, more) ? ECS_OK : ECS_ENOMEM;
}

ecs_status adopt_prepare(struct loader *loader) {
  ecs_status status = adopt_migrate(loader);
  if (status == ECS_OK) status = load_prefabs(loader);
  if (status == ECS_OK) status = adopt_give_resources(loader);
  uint32_t count = 0;
  ecs_query *query = loader->live->first_query;
  for (; query; query = query->next) count++;
  for (query = loader->live->first_query; query && status == ECS_OK; query = query->next)
    status = adopt_prepare_query(loader, query, count);
  return status == ECS_OK ? adopt_reserve_components(loader) : status;
}

/* ---- what cannot ---- */

#define SWAP(type, a, b) \
  do {                   \
    type swap_ = (a);    \
    (a) = (b);           \
    (b) = swap_;         \
  } while (0)

static void adopt_swap_contents(ecs_world *live, ecs_world *shadow) {
  assert(!live->registry.shown && !shadow->registry.shown);
  assert(!staging_is_open(&live->staging) && !staging_is_open(&shadow->staging));
  SWAP(struct entity_index, live->entities, shadow->entities);
  SWAP(struct graph, live->graph, shadow->graph);
  SWAP(struct intern_table, live->strings, shadow->strings);
  SWAP(struct name_table, live->names, shadow->names);
  SWAP(struct declared, live->declared, shadow->declared);
  SWAP(uint64_t, live->relations.tied, shadow->relations.tied);
  SWAP(size_t, live->sparses.rows, shadow->sparses.rows);
  live->seed = shadow->seed;
  live->tick = shadow->tick;
  live->now = shadow->now;
  live->chance = shadow->chance;
  live->registry.requires |= shadow->registry.requires;
  live->last_table = live->graph.empty->index;
  live->registry.version++;
  live->registry.layouts++;
}

/* The live component stays in place; its defaults and resource come from the shadow. */
static void adopt_component(ecs_world *live, ecs_world *shadow, uint32_t index) {
  struct component *from = shadow->registry.components[index];
  struct component *to = index < live->registry.count ? live->registry.components[index] : NULL;
  if (!to) {
    shadow->registry.components[index] = NULL;
    if (from->relation) relation_leave(shadow, from);
    if (from->sparse) {
      /* The exchange counted its rows for the live world; entering it there counts them again. */
      shadow->sparses.rows += from->sparse->table->count;
      live->sparses.rows -= from->sparse->table->count;
      sparse_leave_list(shadow, from->sparse);
    }
    if (from->event) event_leave_list(shadow, from->event);
    from->changed = 0;
    from->orphan = true;
    registry_enter(live, from, index);
    return;
  }
  assert(!from->relation == !to->relation && from->leaf_count == to->leaf_count);
  assert(!from->sparse == !to->sparse && !from->event == !to->event);
  to->watched = from->watched;
  to->asked = from->asked;
  if (to->sparse) {
    SWAP(struct table *, to->sparse->table, from->sparse->table);
    SWAP(uint32_t **, to->sparse->pages, from->sparse->pages);
    SWAP(uint32_t, to->sparse->page_capacity, from->sparse->page_capacity);
  }
  if (to->event) {
    SWAP(struct table *, to->event->table, from->event->table);
    SWAP(struct later, to->event->later, from->event->later);
    to->event->first = from->event->first;
    to->event->aged = from->event->aged;
    from->event->aged = from->event->first;
  }
  if (to->relation) SWAP(struct ties, to->relation->ties, from->relation->ties);
  for (uint32_t i = 0; i < to->leaf_count; i++) to->leaves[i].value = from->leaves[i].value;
  SWAP(struct column_buffer *, to->resource, from->resource);
}

static void adopt_redirect_table(const ecs_world *live, struct table *table) {
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct layout *layout = table_find(table, table->ids[i]);
    for (uint32_t j = 0; j < layout->count; j++)
      layout->columns[j].component = component_of(live, layout->id);
  }
}

/* The names of an enum belong to the component with the field, however deeply nested. */
static const struct enumeration *adopt_names_of(const struct component *component, uint32_t at) {
  const struct leaf *leaf = &component->leaves[at];
  const struct field *field = &component->fields[leaf->field];
  if (!field->nested) return field->names;
  return adopt_names_of(field->nested, (at - field->first_leaf) % field->nested->leaf_count);
}

void adopt_commit(struct loader *loader) {
  ecs_world *live = loader->live, *shadow = loader->world;
  world_release_any(live, &live->any);
  adopt_swap_contents(live, shadow);
  for (uint32_t i = 0; i < shadow->registry.count; i++)
    if (shadow->registry.components[i]) adopt_component(live, shadow, i);
  migration_redirect_nested(live);
  for (uint32_t i = 0; i < live->registry.count; i++) {
    const struct component *component = live->registry.components[i];
    for (uint32_t j = 0; component && j < component->leaf_count; j++)
      component->leaves[j].names = adopt_names_of(component, j);
  }
  const struct id_record *all = graph_all(live);
  for (uint32_t i = 0; i < all->table_count; i++)
    adopt_redirect_table(live, world_table(live, all->tables[i]));
  for (uint32_t i = 0; i < live->sparses.count; i++)
    adopt_redirect_table(live, live->sparses.list[i]->table);
  for (uint32_t i = 0; i < live->events.count; i++) {
    adopt_redirect_table(live, live->events.list[i]->table);
    adopt_redirect_table(live, live->events.list[i]->later.table);
  }
  for (ecs_query *query = live->first_query; query; query = query->next) {
    /* Every row, and everything written from now on, may be new to the query. */
    query_rejoin(query);
    changes_keep(query, 0);
  }
  timings_give(live, &loader->timings);
}
