#include "core/store/name.h"

#include "core/store/entity.h"
#include "core/store/world.h"

static uint32_t find(const struct name_table *table, const char *text, size_t size) {
  uint32_t at = map_get(&table->by_hash, text_hash(text, size));
  while (at != NONE) {
    const struct name *name = &table->names[at];
    if (name->size == size && memcmp(name->text, text, size) == 0) return at;
    at = name->next_same_hash;
  }
  return NONE;
}

ecs_id name_find(const ecs_world *world, const char *text, size_t size) {
  uint32_t at = find(&world->names, text, size);
  return at == NONE ? ECS_NULL : world->names.names[at].entity;
}

ecs_string name_of(const ecs_world *world, ecs_id entity) {
  if (ecs_id_index(entity) == 0) return (ecs_string){"", 0};
  uint32_t at = map_get(&world->names.by_entity, ecs_id_index(entity));
  if (at == NONE || world->names.names[at].entity != entity) return (ecs_string){"", 0};
  return (ecs_string){world->names.names[at].text, world->names.names[at].size};
}

static void unlink_hash(struct name_table *table, uint32_t at) {
  struct name *name = &table->names[at];
  uint32_t first = map_get(&table->by_hash, name->hash);
  if (first == at) {
    if (name->next_same_hash == NONE)
      map_remove(&table->by_hash, name->hash);
    else
      map_put(&table->by_hash, name->hash, name->next_same_hash);
    return;
  }
  while (table->names[first].next_same_hash != at) first = table->names[first].next_same_hash;
  table->names[first].next_same_hash = name->next_same_hash;
}

static void link_hash(struct name_table *table, uint32_t at) {
  struct name *name = &table->names[at];
  name->next_same_hash = map_get(&table->by_hash, name->hash);
  map_put(&table->by_hash, name->hash, at);
}

/* The last name takes the place of the one that goes. */
void name_forget(ecs_world *world, uint32_t entity) {
  struct name_table *table = &world->names;
  uint32_t at = map_get(&table->by_entity, entity);
  if (at == NONE) return;
  unlink_hash(table, at);
  memory_free(&world->memory, table->names[at].text, table->names[at].size + 1);
  map_remove(&table->by_entity, entity);
  uint32_t last = --table->count;
  if (at == last) return;
  unlink_hash(table, last);
  table->names[at] = table->names[last];
  link_hash(table, at);
  map_put(&table->by_entity, ecs_id_index(table->names[at].entity), at);
}

static ecs_status add(ecs_world *world, ecs_id entity, const char *text, size_t size) {
  struct name_table *table = &world->names;
  struct memory *memory = &world->memory;
  struct name *names =
      memory_grow(memory, table->names, &table->capacity, table->count + 1ull, sizeof *names);
  if (!names) return world_nomem(world);
  table->names = names;
  if (!map_reserve(memory, &table->by_hash, 1) || !map_reserve(memory, &table->by_entity, 1))
    return world_nomem(world);
  char *copy = size < SIZE_MAX / 2 ? memory_array(memory, size + 1, 1) : NULL;
  if (!copy) return world_nomem(world);
  memcpy(copy, text, size);
  name_forget(world, ecs_id_index(entity));
  uint32_t at = table->count++;
  names[at] = (struct name){entity, text_hash(text, size), NONE, size, copy};
  link_hash(table, at);
  map_put(&table->by_entity, ecs_id_index(entity), at);
  return ECS_OK;
}

ecs_status name_set(ecs_world *world, ecs_id entity, const char *text, size_t size) {
  ecs_status status = entity_need(world, entity);
  if (status != ECS_OK) return status;
  if (size == 0) {
    if (world->names.count) name_forget(world, ecs_id_index(entity));
    return ECS_OK;
  }
  ecs_id owner = name_find(world, text, size);
  ecs_string name = {text, size};
  if (owner == entity) return ECS_OK;
  if (owner != ECS_NULL)
    return world_fail(world, ECS_ETAKEN, "the name '%S' belongs to entity %e", &name, owner);
  return add(world, entity, text, size);
}

void name_table_clear(ecs_world *world, struct name_table *table) {
  for (uint32_t i = 0; i < table->count; i++)
    memory_free(&world->memory, table->names[i].text, table->names[i].size + 1);
  memory_free(&world->memory, table->names, table->capacity * sizeof *table->names);
  map_free(&world->memory, &table->by_hash);
  map_free(&world->memory, &table->by_entity);
  memset(table, 0, sizeof *table);
}

void name_table_free(ecs_world *world) { name_table_clear(world, &world->names); }

static bool copy_names(struct memory *memory, const struct name_table *from,
                       struct name_table *to) {
  to->names = memory_grow(memory, NULL, &to->capacity, from->count, sizeof *to->names);
  if (!to->names || !map_reserve(memory, &to->by_hash, from->count) ||
      !map_reserve(memory, &to->by_entity, from->count))
    return false;
  for (; to->count < from->count; to->count++) {
    const struct name *name = &from->names[to->count];
    char *text = memory_array(memory, name->size + 1, 1);
    if (!text) return false;
    memcpy(text, name->text, name->size);
    to->names[to->count] = *name;
    to->names[to->count].text = text;
    link_hash(to, to->count);
    map_put(&to->by_entity, ecs_id_index(name->entity), to->count);
  }
  return true;
}

ecs_status name_table_copy(ecs_world *world, const struct name_table *from,
                           struct name_table *to) {
  memset(to, 0, sizeof *to);
  if (from->count == 0 || copy_names(&world->memory, from, to)) return ECS_OK;
  name_table_clear(world, to);
  return world_nomem(world);
}

ecs_status ecs_name(ecs_world *world, ecs_id entity, const char *name) {
  return name_set(world, entity, name ? name : "", name ? strlen(name) : 0);
}

const char *ecs_name_of(const ecs_world *world, ecs_id entity) {
  ecs_string name = name_of(world, entity);
  return name.size ? name.data : NULL;
}

ecs_id ecs_lookup(const ecs_world *world, const char *name) {
  return name_find(world, name, strlen(name));
}
