#include "core/entity/name.h"

#include "core/base/text.h"
#include "core/command/command.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "ecs_entity.h"

/* Never 0, because no text has hash 0. */
static uint64_t name_key_of(uint32_t hash, uint32_t parent) {
  return hash | (uint64_t)parent << 32;
}

static uint32_t name_parent_of(const ecs_world *world, uint32_t entity) {
  const struct relation *child_of = world->relations.child_of;
  return child_of ? ties_target(&child_of->ties, entity) : 0;
}

ecs_id name_find(const ecs_world *world, uint32_t parent, const char *text, size_t size) {
  const struct name_table *table = &world->names;
  uint32_t at = map_get(&table->by_key, name_key_of(text_hash(text, size), parent));
  for (; at != NONE; at = table->names[at].next) {
    const struct name *name = &table->names[at];
    if (name->size == size && name->parent == parent && memcmp(name->text, text, size) == 0)
      return name->entity;
  }
  return ECS_NULL;
}

ecs_id name_lookup(const ecs_world *world, const char *path, size_t size) {
  const char *end = path + size;
  uint32_t parent = 0;
  for (;;) {
    const char *dot = memchr(path, '.', (size_t)(end - path));
    ecs_id found = name_find(world, parent, path, (size_t)((dot ? dot : end) - path));
    if (found == ECS_NULL || !dot) return found;
    parent = ecs_id_index(found);
    path = dot + 1;
  }
}

ecs_string name_of(const ecs_world *world, ecs_id entity) {
  if (ecs_id_index(entity) == 0) return (ecs_string){"", 0};
  uint32_t at = map_get(&world->names.by_entity, ecs_id_index(entity));
  if (at == NONE || world->names.names[at].entity != entity) return (ecs_string){"", 0};
  return (ecs_string){world->names.names[at].text, world->names.names[at].size};
}

static void name_unlink_key(struct name_table *table, uint32_t at) {
  const struct name *name = &table->names[at];
  if (name->hidden) return;
  uint64_t key = name_key_of(name->hash, name->parent);
  if (name->next != NONE) table->names[name->next].previous = name->previous;
  if (name->previous != NONE) {
    assert(table->names[name->previous].next == at);
    table->names[name->previous].next = name->next;
    return;
  }
  assert(map_get(&table->by_key, key) == at);
  if (name->next == NONE)
    map_remove(&table->by_key, key);
  else
    map_put(&table->by_key, key, name->next);
}

static void name_link_key(struct name_table *table, uint32_t at) {
  struct name *name = &table->names[at];
  if (name->hidden) return;
  uint64_t key = name_key_of(name->hash, name->parent);
  name->previous = NONE;
  name->next = map_get(&table->by_key, key);
  assert(name->next != at);
  if (name->next != NONE) table->names[name->next].previous = at;
  map_put(&table->by_key, key, at);
}

/* The place of an entity's name; NONE if it has none. */
static uint32_t name_place_of(const struct name_table *table, uint32_t entity) {
  return table->count ? map_get(&table->by_entity, entity) : NONE;
}

static void name_move_to(struct name_table *table, uint32_t at, uint32_t parent) {
  if (table->names[at].parent == parent) return;
  name_unlink_key(table, at);
  table->names[at].parent = parent;
  name_link_key(table, at);
}

void name_follow(ecs_world *world, uint32_t entity) {
  uint32_t at = name_place_of(&world->names, entity);
  assert(at == NONE || ecs_id_index(world->names.names[at].entity) == entity);
  if (at != NONE) name_move_to(&world->names, at, name_parent_of(world, entity));
}

void name_hide(ecs_world *world, uint32_t entity, bool hidden) {
  uint32_t at = name_place_of(&world->names, entity);
  if (at == NONE || world->names.names[at].hidden == hidden) return;
  if (hidden) name_unlink_key(&world->names, at);
  world->names.names[at].hidden = hidden;
  if (!hidden) name_link_key(&world->names, at);
}

void name_return(ecs_world *world, uint32_t entity) {
  uint32_t at = name_place_of(&world->names, entity);
  if (at == NONE || entity_record(&world->entities, entity)->table != RECORD_BARE) return;
  name_move_to(&world->names, at, world->names.names[at].awaited);
}

static ecs_status name_taken(const ecs_world *world, const char *text, size_t size, ecs_id owner,
                             uint32_t parent) {
  ecs_string name = {text, size};
  if (parent == 0)
    return world_fail(world, ECS_ETAKEN, "the name '%.*s' belongs to entity " SHOW_ID, SHOW(name),
                      owner);
  return world_fail(world, ECS_ETAKEN, "the name '%.*s' belongs to entity " SHOW_ID " among the "
                    "children of " SHOW_ID, SHOW(name), owner, entity_id(&world->entities, parent));
}

/* ECS_ETAKEN if another child of the parent has the name. */
static ecs_status name_is_free(const ecs_world *world, ecs_id entity, uint32_t parent,
                               const char *text, size_t size) {
  ecs_id owner = name_find(world, parent, text, size);
  return owner == ECS_NULL || owner == entity
             ? ECS_OK
             : name_taken(world, text, size, owner, parent);
}

ecs_status name_check_parent(const ecs_world *world, uint32_t entity, uint32_t parent) {
  uint32_t at = name_place_of(&world->names, entity);
  if (at == NONE) return ECS_OK;
  const struct name *name = &world->names.names[at];
  return name_is_free(world, name->entity, parent, name->text, name->size);
}

void name_drop(ecs_world *world, struct naming *naming) {
  if (naming->size) memory_free(&world->memory, naming->text, naming->size + 1);
  *naming = (struct naming){NULL, 0, 0};
}

/* Removes a name from the table: the last one takes its place. */
static void name_take_out(ecs_world *world, uint32_t at) {
  struct name_table *table = &world->names;
  assert(at < table->count);
  name_unlink_key(table, at);
  map_remove(&table->by_entity, ecs_id_index(table->names[at].entity));
  uint32_t last = --table->count;
  if (at == last) return;
  assert(map_get(&table->by_entity, ecs_id_index(table->names[last].entity)) == last);
  name_unlink_key(table, last);
  table->names[at] = table->names[last];
  name_link_key(table, at);
  map_put(&table->by_entity, ecs_id_index(table->names[at].entity), at);
}

void name_forget(ecs_world *world, uint32_t entity) {
  struct name_table *table = &world->names;
  uint32_t at = map_get(&table->by_entity, entity);
  if (at == NONE) return;
  assert(ecs_id_index(table->names[at].entity) == entity);
  memory_free(&world->memory, table->names[at].text, table->names[at].size + 1);
  name_take_out(world, at);
}

/* Reserves room for one more name. */
static ecs_status name_reserve(ecs_world *world) {
  struct name_table *table = &world->names;
  struct memory *memory = &world->memory;
  if (!GROW(memory, table->names, table->capacity, table->count + 1ull)) return world_nomem(world);
  uint64_t more = table->count + 1ull - table->by_key.count;   /* each may get a key of its own */
  return map_reserve(memory, &table->by_key, more) && map_reserve(memory, &table->by_entity, 1)
             ? ECS_OK : world_nomem(world);
}

/* Copies a text; NULL when out of memory. */
static char *name_copy_text(struct memory *memory, const char *text, size_t size) {
  char *copy = size < SIZE_MAX / 2 ? memory_array(memory, size + 1, 1) : NULL;
  if (copy) memcpy(copy, text, size);
  return copy;
}

/* Gives a name, in reserved room, to an entity that has none. */
static void name_enter(ecs_world *world, ecs_id entity, uint32_t parent, struct naming naming) {
  struct name_table *table = &world->names;
  uint32_t at = table->count++;
  assert(at < table->capacity && naming.size > 0);
  table->names[at] = (struct name){entity, text_hash(naming.text, naming.size), parent,
                                   naming.awaited, NONE, NONE, false, naming.size, naming.text};
  name_link_key(table, at);
  map_put(&table->by_entity, ecs_id_index(entity), at);
}

static ecs_status name_add(ecs_world *world, ecs_id entity, uint32_t parent, const char *text,
                           size_t size, uint32_t awaited) {
  ecs_status status = name_reserve(world);
  if (status != ECS_OK) return status;
  char *copy = name_copy_text(&world->memory, text, size);
  if (!copy) return world_nomem(world);
  name_forget(world, ecs_id_index(entity));
  name_enter(world, entity, parent, (struct naming){copy, size, awaited});
  return ECS_OK;
}

/* Defers a name to the end of the scope. */
static ecs_status name_stage(ecs_world *world, ecs_id entity, const char *text, size_t size) {
  struct naming naming = {NULL, size, 0};
  ecs_status status = entity_need(world, entity);
  if (status != ECS_OK) return status;
  if (size) naming.text = name_copy_text(&world->memory, text, size);
  if (size && !naming.text) return world_nomem(world);
  status = command_stage_name(world, entity, naming);
  if (status != ECS_OK) name_drop(world, &naming);
  return status;
}

ecs_status name_put(ecs_world *world, ecs_id entity, const char *text, size_t size) {
  ecs_status status = entity_need(world, entity);
  if (status != ECS_OK) return status;
  uint32_t index = ecs_id_index(entity), parent = name_parent_of(world, index);
  if (size == 0) {
    if (world->names.count) name_forget(world, index);
    return ECS_OK;
  }
  ecs_id owner = name_find(world, parent, text, size);
  if (owner == entity) return ECS_OK;
  return owner == ECS_NULL ? name_add(world, entity, parent, text, size, 0)
                           : name_taken(world, text, size, owner, parent);
}

ecs_status name_check(ecs_world *world, ecs_id entity, const struct naming *naming) {
  if (naming->size == 0) return ECS_OK;
  uint32_t parent = name_parent_of(world, ecs_id_index(entity));
  ecs_status status = name_is_free(world, entity, parent, naming->text, naming->size);
  return status == ECS_OK ? name_reserve(world) : status;
}

/* The room of an old name remains for its return: tables of names never shrink. */
void name_exchange(ecs_world *world, ecs_id entity, struct naming *naming) {
  uint32_t index = ecs_id_index(entity), at = name_place_of(&world->names, index);
  struct naming old = {NULL, 0, 0};
  if (at != NONE) {
    const struct name *name = &world->names.names[at];
    old = (struct naming){name->text, name->size, name->awaited};
    name_take_out(world, at);
  }
  if (naming->size) name_enter(world, entity, name_parent_of(world, index), *naming);
  *naming = old;
}

ecs_status name_await(ecs_world *world, ecs_id entity, uint32_t parent, ecs_string name) {
  assert(entity_record(&world->entities, ecs_id_index(entity))->table == RECORD_BARE);
  assert(name_find(world, parent, name.data, name.size) == ECS_NULL && name.size > 0);
  return name_add(world, entity, parent, name.data, name.size, parent);
}

ecs_id name_to_come(const ecs_world *world, ecs_string name) {
  const struct staging *staging = &world->staging;
  const struct relation *child_of = world->relations.child_of;
  if (staging->naming_count == 0) return ECS_NULL;
  for (uint32_t i = 0; i < staging->command_count; i++) {
    const struct command *command = &staging->commands[i];
    if (command->kind != COMMAND_NAME) continue;
    const struct naming *naming = &staging->namings[command->first_write];
    ecs_id entity = command->entity;
    if (!text_same((ecs_string){naming->text, naming->size}, name)) continue;
    /* Skips an entity that has a parent, may get one, or is named again. */
    bool other = name_parent_of(world, ecs_id_index(entity)) != 0 ||
                 (child_of && command_is_staged(world, entity, child_of->component->id));
    for (uint32_t j = i + 1; j < staging->command_count && !other; j++)
      other = staging->commands[j].kind == COMMAND_NAME && staging->commands[j].entity == entity;
    if (!other) return entity;
  }
  return ECS_NULL;
}

ecs_status name_set(ecs_world *world, ecs_id entity, const char *text, size_t size) {
  ecs_string name = {text, size};
  if (size && memchr(text, '.', size))
    return world_fail(world, ECS_EINVAL, "the name '%.*s' has a dot, which separates names in a "
                      "path", SHOW(name));
  if (UNLIKELY(prefab_is_or_comes(world, entity)))
    return world_fail(world, ECS_EINVAL, SHOW_ID " is a prefab, which keeps its name", entity);
  return staging_is_open(&world->staging) ? name_stage(world, entity, text, size)
                                          : name_put(world, entity, text, size);
}

void name_table_clear(ecs_world *world, struct name_table *table) {
  for (uint32_t i = 0; i < table->count; i++)
    memory_free(&world->memory, table->names[i].text, table->names[i].size + 1);
  FREE_LIST(&world->memory, table->names, table->capacity);
  map_free(&world->memory, &table->by_key);
  map_free(&world->memory, &table->by_entity);
  memset(table, 0, sizeof *table);
}

static bool name_copy_names(struct memory *memory, const struct name_table *from,
                            struct name_table *to) {
  if (!GROW(memory, to->names, to->capacity, from->count) ||
      !map_reserve(memory, &to->by_key, from->count) ||
      !map_reserve(memory, &to->by_entity, from->count))
    return false;
  for (; to->count < from->count; to->count++) {
    const struct name *name = &from->names[to->count];
    char *text = name_copy_text(memory, name->text, name->size);
    if (!text) return false;
    to->names[to->count] = *name;
    to->names[to->count].text = text;
    name_link_key(to, to->count);
    map_put(&to->by_entity, ecs_id_index(name->entity), to->count);
  }
  return true;
}

ecs_status name_table_copy(ecs_world *world, const struct name_table *from,
                           struct name_table *to) {
  memset(to, 0, sizeof *to);
  if (from->count == 0 || name_copy_names(&world->memory, from, to)) return ECS_OK;
  name_table_clear(world, to);
  return world_nomem(world);
}

ecs_status ecs_name(ecs_world *world, ecs_id entity, const char *name) {
  return name_set(world, entity, text_given(name), strlen(text_given(name)));
}

const char *ecs_name_of(const ecs_world *world, ecs_id entity) {
  ecs_string name = name_of(world, entity);
  return name.size ? name.data : NULL;
}

ecs_id ecs_lookup(const ecs_world *world, const char *name) {
  return name ? name_lookup(world, name, strlen(name)) : ECS_NULL;
}
