#include <string.h>

#include "content.h"

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"

struct digest {
  ecs_world *world;
  uint64_t sum;
  bool ids;
};

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) hash = mix(hash, (unsigned char)text[i]);
  return mix(hash, size);
}

static uint64_t mix_string(uint64_t hash, const char *text) {
  return text ? mix_text(hash, text, strlen(text)) : mix(hash, UINT64_MAX);
}

/* A cell as scripts see it: what a string says, whether an entity is alive. */
static uint64_t cell_value(const ecs_world *world, const struct leaf *leaf, ecs_cell cell) {
  switch (leaf->type) {
    case ECS_STRING: {
      ecs_string text = intern_text(&world->strings, cell.u32);
      return mix_text(0, text.data, text.size);
    }
    case ECS_ENTITY: return entity_target(world, cell.u64);
    case ECS_ANY: return cell.u32 != 0;
    default: return cell.u64;
  }
}

#ifdef ECS_DEBUG
static const void *cell_by_name(const ecs_world *world, ecs_id entity,
                                const struct component *component, const struct leaf *leaf) {
  char path[2 * MESSAGE_SIZE];
  text_format(path, sizeof path, "%s.%s", component->name, leaf->name);
  return ecs_cell_named(world, entity, path);
}
#endif

static uint64_t entity_component(const struct digest *digest, ecs_id entity,
                                 const struct component *component) {
  uint64_t hash = mix_string(1, component->name);
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    const void *at = ecs_cell_of(digest->world, entity, component->id, i);
    assert(at == cell_by_name(digest->world, entity, component, leaf));
    uint64_t value = cell_value(digest->world, leaf, cell_load(at, leaf->size, 0));
    hash = mix(hash, value);
  }
  return component->toggle ? mix(hash, ecs_enabled(digest->world, entity, component->id)) : hash;
}

/* Of a relation with several: the targets with what the pairs hold. Of an exclusive one the target
** is a cell; what comes here is who is tied to the entity, in order. */
static uint64_t entity_ties(const struct digest *digest, ecs_id entity,
                            const struct relation *relation) {
  ecs_world *world = digest->world;
  const struct component *component = relation->component;
  uint64_t hash = mix_string(6, component->name);
  if (relation->exclusive) {
    uint32_t at = ties_first(&relation->ties, ecs_id_index(entity));
    for (; at; at = ties_next(&relation->ties, at)) hash = mix(hash, digest->ids ? at : 1);
    return hash;
  }
  ecs_id target = ecs_target(world, entity, component->id);
  for (; target; target = ecs_next_target(world, entity, component->id, target)) {
    hash = mix(hash, digest->ids ? target : 1);
    for (uint32_t i = 0; i < component->leaf_count; i++) {
      const struct leaf *leaf = &component->leaves[i];
      const void *at = ecs_cell_of(world, entity, ecs_pair(component->id, target), i);
      hash = mix(hash, cell_value(world, leaf, cell_load(at, leaf->size, 0)));
    }
  }
  return hash;
}

static uint64_t all_ties(const struct digest *digest, ecs_id entity) {
  const struct relations *relations = &digest->world->relations;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < relations->count; i++)
    sum += entity_ties(digest, entity, relations->list[i]);
  return sum;
}

static void add_entity(struct digest *digest, ecs_id entity) {
  ecs_id id = digest->ids ? entity : 0;
  uint64_t hash = mix_string(mix(2, id), ecs_name_of(digest->world, entity));
  const struct registry *registry = &digest->world->registry;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < registry->count; i++) {
    const struct component *component = registry->components[i];
    if (!component || !ecs_has(digest->world, entity, component->id)) continue;
    if (component->relation && !component->relation->exclusive) continue;
    sum += entity_component(digest, entity, component);
  }
  digest->sum += mix(hash, sum + all_ties(digest, entity));
}

static void add_entities(struct digest *digest) {
  const struct id_record *all = graph_all(digest->world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(digest->world, all->tables[i]);
    for (uint32_t row = 0; row < table->count; row++)
      add_entity(digest, entity_id(&digest->world->entities, table->rows[row]));
  }
}

static uint64_t mix_rows(const struct digest *digest, uint64_t hash, const struct table *table) {
  for (uint32_t row = 0; row < table->count; row++)
    for (uint32_t i = 0; i < table->column_count; i++) {
      const struct column *column = &table->columns[i];
      const struct leaf *leaf = &column->component->leaves[column->leaf];
      ecs_cell cell = cell_load(column->data, leaf->size, row);
      hash = mix(hash, cell_value(digest->world, leaf, cell));
    }
  return mix(hash, table->count);
}

/* Its rows, those put off and how long for, and what systems have seen of it. */
static uint64_t event_content(const struct digest *digest, const struct event *event) {
  const struct later *later = &event->later;
  const struct schedule *schedule = digest->world->schedule;
  uint64_t hash = mix_rows(digest, mix(7, event_row(event, event->aged)), event->table);
  hash = mix_rows(digest, hash, later->table);
  for (uint32_t i = 0; i < later->table->count; i++)
    hash = mix(hash, (uint64_t)((later->due[i] - later->clock) * 1000));
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    if (system->event == event->component->id && event_row(event, system->seen))
      hash = mix(mix(hash, i), event_row(event, system->seen));
  }
  return hash;
}

static void add_component(struct digest *digest, const struct component *component) {
  ecs_id id = digest->ids ? component->id : 0;
  uint64_t hash = mix_string(mix(3, id), component->name);
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    hash = mix_string(mix(mix(hash, leaf->type), leaf->offset), leaf->name);
    hash = mix(hash, cell_value(digest->world, leaf, leaf->value));
    for (uint32_t j = 0; component->resource && j < component_cells(component); j++)
      hash = mix(hash, cell_value(digest->world, leaf,
                                  cell_load(component->resource[i].data, leaf->size, j)));
  }
  if (component->event) hash = mix(hash, event_content(digest, component->event));
  digest->sum += mix(hash, component->resource != NULL);
}

static void add_schedule(struct digest *digest) {
  const struct schedule *schedule = digest->world->schedule;
  uint64_t hash = 4;
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    const struct phase *phase = schedule->phases[i];
    hash = mix(mix_string(hash, phase->name), phase->enabled);
    hash = mix(hash, phase->fixed > 0);
  }
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    hash = mix_string(mix_string(hash, system->name), system->phase->name);
    hash = mix(mix(hash, system->enabled), system->parked);
    hash = mix_string(hash, system->query ? system->query->text : NULL);
  }
  digest->sum += hash;
}

static uint64_t mix_chance(uint64_t hash, const ecs_world *world) {
  hash = mix(mix(hash, world->chance.key), world->chance.opened);
  for (uint32_t i = 0; i < world->schedule->system_count; i++)
    hash = mix(hash, streams_before(world, world->schedule->systems[i]));
  return mix(hash, world->chance.calls);
}

static void add_rest(struct digest *digest) {
  const ecs_world *world = digest->world;
  uint64_t hash = mix_chance(mix(5, ecs_alive_count(world)), world);
  hash = mix(hash, world->entities.retired);
  hash = mix(hash, world->staging.open);
  hash = mix(hash, world->staging.command_count);
  /* Without using the queries: what is `:added` or `:changed` is so since the last use. */
  for (const ecs_query *query = world->first_query; query; query = query->next)
    hash = mix(mix_string(hash, query->text), query->broken ? 1 : query_count_all(query));
  digest->sum += hash;
}

static uint64_t walk(ecs_world *world, bool ids) {
  struct digest digest = {world, 0, ids};
  add_entities(&digest);
  for (uint32_t i = 0; i < world->registry.count; i++)
    if (world->registry.components[i])
      add_component(&digest, world->registry.components[i]);
  add_schedule(&digest);
  add_rest(&digest);
  return digest.sum;
}

uint64_t world_digest(ecs_world *world) { return walk(world, true); }

uint64_t world_content(ecs_world *world) { return walk(world, false); }
