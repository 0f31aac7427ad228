#include "mutate.h"

#include "world.h"

ecs_status entity_need(const ecs_world *world, ecs_id id) {
  ecs_status status = entity_status(&world->entities, id);
  switch (status) {
    case ECS_EDEAD: return world_fail(world, status, "entity %e is dead", id);
    case ECS_EUNBORN: return world_fail(world, status, "entity %e was never spawned", id);
    case ECS_EWORLD:
      return world_fail(world, status, "entity %e belongs to another world (tag %u)", id,
                        (uint64_t)ecs_id_tag(id));
    case ECS_ENOID: return world_fail(world, status, "%d is no entity id", (int64_t)id);
    default: return status;
  }
}

ecs_id entity_target(const ecs_world *world, ecs_id id) {
  return entity_find(&world->entities, id) ? id : ECS_NULL;
}

ecs_id *world_scratch(ecs_world *world, uint64_t count) {
  ecs_id *grown = memory_grow(&world->memory, world->scratch, &world->scratch_capacity,
                              count ? count : 1, sizeof *grown);
  if (grown) world->scratch = grown;
  return grown;
}

static struct table *table_of(const ecs_world *world, const struct record *record) {
  return record->table == RECORD_BARE ? NULL : world_table(world, record->table);
}

struct table *entity_locate(const ecs_world *world, ecs_id id, ecs_id component,
                            uint32_t *first, uint32_t *row) {
  const struct record *record = entity_find(&world->entities, id);
  if (UNLIKELY(!record || record->table == RECORD_BARE)) return NULL;
  struct table *table = world_table(world, record->table);
  uint32_t position = table_position(table, component);
  if (position == NONE) return NULL;
  *first = table->first_column[position];
  *row = record->row;
  return table;
}

bool entity_has(const ecs_world *world, ecs_id id, ecs_id component) {
  uint32_t first, row;
  return entity_locate(world, id, component, &first, &row) != NULL;
}

/* ---- spawning ---- */

static ecs_status reserve_ids(ecs_world *world, uint64_t count) {
  ecs_status status = entity_reserve(&world->entities, &world->memory,
                                     &world->entities.entities, count);
  if (status == ECS_ELIMIT)
    return world_fail(world, status, "no entity ids are left between %u and %u",
                      (uint64_t)world->entities.entities.first,
                      (uint64_t)world->entities.entities.last);
  return status == ECS_OK ? ECS_OK : world_nomem(world);
}

static bool is_last_spawn(const ecs_world *world, const struct part *parts, uint32_t count) {
  if (count != world->last_count) return false;
  for (uint32_t i = 0; i < count; i++)
    if (parts[i].component->id != world->last_ids[i]) return false;
  return true;
}

static void remember_spawn(ecs_world *world, const struct part *parts, uint32_t count,
                           const struct table *table) {
  if (count > LAST_IDS) return;
  for (uint32_t i = 0; i < count; i++) world->last_ids[i] = parts[i].component->id;
  world->last_count = count;
  world->last_table = table->index;
  world->last_serial = table->serial;
}

/* The table with the parts' components; spawns of one kind in a row find it at once. */
static ecs_status table_of_parts(ecs_world *world, const struct part *parts, uint32_t count,
                                 struct table **out) {
  if (is_last_spawn(world, parts, count)) {
    *out = world_table(world, world->last_table);
    if (*out && (*out)->serial == world->last_serial) return ECS_OK;
  }
  ecs_id *ids = world_scratch(world, count);
  if (!ids) return world_nomem(world);
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    ecs_id id = parts[i].component->id;
    uint32_t at = used;
    while (at > 0 && ids[at - 1] > id) at--;
    if (at > 0 && ids[at - 1] == id) continue;
    memmove(ids + at + 1, ids + at, (used - at) * sizeof *ids);
    ids[at] = id;
    used++;
  }
  ecs_status status = graph_table(world, ids, used, out);
  if (status == ECS_OK) remember_spawn(world, parts, count, *out);
  return status;
}

static void write_parts(ecs_world *world, struct table *table, uint32_t row,
                        const struct part *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (parts[i].write_count)
      table_write(world, table, table_column(table, parts[i].component->id), row,
                  parts[i].writes, parts[i].write_count);
}

/* The writes of the nth entity that is spawned with a part. */
static const struct write *writes_of(const struct part *part, uint64_t nth) {
  return part->stride ? part->writes + nth * part->stride : part->writes;
}

/* Keeps the commands of the nth entity that is spawned with these parts. */
static ecs_status stage_parts(ecs_world *world, ecs_id id, const struct part *parts,
                              uint32_t count, uint64_t nth) {
  ecs_status status = command_stage(world, COMMAND_SPAWN, id, ECS_NULL, NULL, 0);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = command_stage(world, COMMAND_SET, id, parts[i].component->id,
                           writes_of(&parts[i], nth), parts[i].write_count);
  return status;
}

/* Room for everything that stage_parts keeps, so that it cannot fail half way. */
static ecs_status reserve_parts(ecs_world *world, const struct part *parts, uint32_t count,
                                uint64_t times) {
  uint64_t writes = 0;
  for (uint32_t i = 0; i < count; i++) writes += parts[i].write_count;
  return command_reserve(world, (count + 1ull) * times, writes * times, times);
}

ecs_status entity_spawn(ecs_world *world, const struct part *parts, uint32_t count,
                        ecs_id *out) {
  struct range *range = &world->entities.entities;
  struct table *table = NULL;
  ecs_status status = reserve_ids(world, 1);
  if (status != ECS_OK) return status;
  if (staging_is_open(&world->staging)) {
    status = reserve_parts(world, parts, count, 1);
    if (status != ECS_OK) return status;
    *out = entity_id(&world->entities, entity_take(&world->entities, range));
    return stage_parts(world, *out, parts, count, 0);
  }
  status = table_of_parts(world, parts, count, &table);
  if (status == ECS_OK) status = table_reserve(world, table, 1);
  if (status != ECS_OK) return status;
  uint32_t index = entity_take(&world->entities, range);
  uint32_t row = table_append(world, table, index);
  write_parts(world, table, row, parts, count);
  *out = entity_id(&world->entities, index);
  world_settle(world);
  return ECS_OK;
}

static ecs_status adopt_reserve(ecs_world *world, ecs_id id) {
  ecs_status status = entity_adopt_reserve(&world->entities, &world->memory, id);
  if (status == ECS_ENOMEM) return world_nomem(world);
  if (status == ECS_OK && ecs_id_index(id) < FIRST_ENTITY)
    return world_fail(world, ECS_EINVAL, "index %u is reserved for components",
                      (uint64_t)ecs_id_index(id));
  if (status == ECS_ETAKEN)
    return world_fail(world, status, "entity %e cannot be adopted: %e has its slot", id,
                      entity_id(&world->entities, ecs_id_index(id)));
  return status == ECS_OK ? ECS_OK : entity_need(world, id);
}

ecs_status entity_spawn_at(ecs_world *world, ecs_id id, const struct part *parts,
                           uint32_t count) {
  ecs_status status = adopt_reserve(world, id);
  if (status != ECS_OK) return status;
  if (staging_is_open(&world->staging)) {
    status = reserve_parts(world, parts, count, 1);
    if (status != ECS_OK) return status;
    entity_adopt(&world->entities, id);
    return stage_parts(world, id, parts, count, 0);
  }
  struct table *table = NULL;
  status = table_of_parts(world, parts, count, &table);
  if (status == ECS_OK) status = table_reserve(world, table, 1);
  if (status != ECS_OK) return status;
  entity_adopt(&world->entities, id);
  uint32_t row = table_append(world, table, ecs_id_index(id));
  write_parts(world, table, row, parts, count);
  world_settle(world);
  return ECS_OK;
}

static ecs_status stage_many(ecs_world *world, uint64_t n, const struct part *parts,
                             uint32_t count, ecs_id *ids) {
  ecs_status status = reserve_parts(world, parts, count, n);
  for (uint64_t i = 0; i < n && status == ECS_OK; i++) {
    uint32_t index = entity_take(&world->entities, &world->entities.entities);
    ecs_id id = entity_id(&world->entities, index);
    status = stage_parts(world, id, parts, count, i);
    if (ids) ids[i] = id;
  }
  return status;
}

/* The rows' cells of one part, one column at a time. */
static void fill_parts(ecs_world *world, struct table *table, uint32_t row, uint32_t n,
                       const struct part *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t first = table_column(table, parts[i].component->id);
    for (uint32_t j = 0; parts[i].stride && j < n; j++)
      table_write(world, table, first, row + j, writes_of(&parts[i], j),
                  parts[i].write_count);
    if (parts[i].stride) continue;
    for (uint32_t j = 0; j < parts[i].write_count; j++) {
      const struct write *write = &parts[i].writes[j];
      struct column *column = &table->columns[first + write->leaf];
      cell_fill(column->data, column->size, row, n, write->cell);
    }
  }
}

ecs_status entity_spawn_many(ecs_world *world, uint64_t n, const struct part *parts,
                             uint32_t count, ecs_id *ids) {
  struct entity_index *index = &world->entities;
  ecs_status status = reserve_ids(world, n);
  if (status != ECS_OK || n == 0) return status;
  if (staging_is_open(&world->staging)) return stage_many(world, n, parts, count, ids);
  struct table *table = NULL;
  status = table_of_parts(world, parts, count, &table);
  if (status == ECS_OK) status = table_reserve(world, table, n);
  if (status != ECS_OK) return status;
  uint32_t row = table->count;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t at = entity_take(index, &index->entities);
    struct record *record = entity_record(index, at);
    record->table = table->index;
    record->row = table->count;
    table->rows[table->count++] = at;
    if (ids) ids[i] = entity_id(index, at);
  }
  table_fill_defaults(table, row, (uint32_t)n);
  fill_parts(world, table, row, (uint32_t)n, parts, count);
  world_settle(world);
  return ECS_OK;
}

/* ---- changing ---- */

void entity_kill(ecs_world *world, uint32_t index) {
  struct record *record = entity_record(&world->entities, index);
  struct table *table = table_of(world, record);
  if (table) table_remove_row(world, table, record->row);
  if (world->names.by_entity.count) name_forget(world, index);
  entity_release(&world->entities, index);
}

ecs_status entity_despawn(ecs_world *world, ecs_id id) {
  if (UNLIKELY(!entity_find(&world->entities, id))) return entity_need(world, id);
  if (UNLIKELY(ecs_id_index(id) < FIRST_ENTITY))
    return world_fail(world, ECS_EINVAL, "%e is a component: undeclare '%s' instead", id,
                      component_of(world, id)->name);
  if (staging_is_open(&world->staging))
    return command_stage(world, COMMAND_DESPAWN, id, ECS_NULL, NULL, 0);
  entity_kill(world, ecs_id_index(id));
  return ECS_OK;
}

void entity_move(ecs_world *world, uint32_t index, struct table *to) {
  struct record *record = entity_record(&world->entities, index);
  struct table *from = table_of(world, record);
  if (from == to) return;
  if (index < FIRST_ENTITY && to->id_count == 0) {
    if (from) table_remove_row(world, from, record->row);
    *record = (struct record){RECORD_BARE, 0};
  } else if (from) {
    table_move_row(world, from, record->row, to);
  } else {
    table_append(world, to, index);
  }
}

static ecs_status move(ecs_world *world, ecs_id id, struct table *to) {
  ecs_status status = table_reserve(world, to, 1);
  if (status == ECS_OK) entity_move(world, ecs_id_index(id), to);
  return status;
}

static struct table *table_now(ecs_world *world, ecs_id id) {
  const struct record *record = entity_find(&world->entities, id);
  struct table *table = table_of(world, record);
  return table ? table : world->graph.empty;
}

ecs_status entity_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count) {
  if (UNLIKELY(!entity_find(&world->entities, id))) return entity_need(world, id);
  uint32_t first = NONE, row = 0;
  struct table *table = entity_locate(world, id, component->id, &first, &row);
  if (staging_is_open(&world->staging) &&
      (!table || command_is_staged(world, id, component->id)))
    return command_stage(world, COMMAND_SET, id, component->id, writes, count);
  if (!table) {
    ecs_status status = graph_with(world, table_now(world, id), component->id, &table);
    if (status == ECS_OK) status = move(world, id, table);
    if (status != ECS_OK) return status;
    entity_locate(world, id, component->id, &first, &row);
  }
  if (count) table_write(world, table, first, row, writes, count);
  if (UNLIKELY(component->has_string)) world_settle(world);
  return ECS_OK;
}

ecs_status entity_add(ecs_world *world, ecs_id id, ecs_id component) {
  if (UNLIKELY(!entity_find(&world->entities, id))) return entity_need(world, id);
  if (staging_is_open(&world->staging))
    return command_stage(world, COMMAND_ADD, id, component, NULL, 0);
  struct table *to;
  ecs_status status = graph_with(world, table_now(world, id), component, &to);
  return status == ECS_OK ? move(world, id, to) : status;
}

ecs_status entity_remove(ecs_world *world, ecs_id id, ecs_id component) {
  if (UNLIKELY(!entity_find(&world->entities, id))) return entity_need(world, id);
  if (staging_is_open(&world->staging))
    return command_stage(world, COMMAND_REMOVE, id, component, NULL, 0);
  struct table *to;
  ecs_status status = graph_without(world, table_now(world, id), component, &to);
  return status == ECS_OK ? move(world, id, to) : status;
}
