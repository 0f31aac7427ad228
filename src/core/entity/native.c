/* Entities for hosts in C: components by id, values as native structs. */
#include "core/entity/entity.h"

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/command/emission.h"
#include "core/command/watch.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/marks.h"
#include "ecs_entity.h"
#include "ecs_resource.h"

static ecs_status native_cell(ecs_world *world, const struct component *component,
                              const struct leaf *leaf, const char *at, ecs_cell *cell) {
  ecs_value value = {0};
  cell->u64 = 0;
  switch (type_class(leaf->type)) {
    case CLASS_TEXT:
      value.kind = ECS_KIND_STRING;
      memcpy(&value.string, at, sizeof value.string);
      if (value.string.size == 0) value.string.data = "";
      break;
    case CLASS_ID:
      value.kind = ECS_KIND_INTEGER;
      memcpy(&value.integer, at, sizeof value.integer);
      break;
    case CLASS_SLOT: {
      uint32_t slot;
      memcpy(&slot, at, sizeof slot);
      return slot == 0 ? ECS_OK
                       : world_fail(world, ECS_ETYPE, "field '%s.%s': only scripts set `any`",
                                    component->name, leaf->name);
    }
    default: {
      *cell = cell_load(at, leaf->size, 0);
      int64_t number = cell_integer(leaf->type, leaf->size, *cell);
      bool wrong = (leaf->type == ECS_BOOL && number > 1) ||
                   (leaf->type == ECS_ENUM && number >= (int64_t)leaf->names->count);
      return wrong ? world_fail(world, ECS_ERANGE, "field '%s.%s' is %s: %lld is out of range",
                                component->name, leaf->name, type_name(leaf->type),
                                (long long)number)
                   : ECS_OK;
    }
  }
  uint32_t at_leaf = (uint32_t)(leaf - component->leaves);
  return component_cell(world, component, at_leaf, &value, cell);
}

ecs_status component_read_native(ecs_world *world, const struct component *component,
                                 const void *native, const struct write **out) {
  if (!native && component->leaf_count)
    return world_fail(world, ECS_EINVAL, "'%s' has fields: pass its struct instead of NULL",
                      component->name);
  if (!GROW(&world->memory, world->writes, world->write_capacity, component->leaf_count + 1ull))
    return world_nomem(world);
  *out = world->writes;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    world->writes[i].leaf = i;
    ecs_cell aligned[2];
    memcpy(aligned, (const char *)native + leaf->offset,
           leaf->type == ECS_STRING ? sizeof(ecs_string) : leaf->size);
    ecs_status status =
        native_cell(world, component, leaf, (const char *)aligned, &world->writes[i].cell);
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

void component_write_native(const ecs_world *world, const struct component *component,
                            uint32_t at, ecs_cell cell, void *native) {
  assert(at < component->leaf_count);
  const struct leaf *leaf = &component->leaves[at];
  char *to = (char *)native + leaf->offset;
  if (leaf->type == ECS_STRING) {
    ecs_string text = intern_text(&world->strings, cell.u32);
    memcpy(to, &text, sizeof text);
    return;
  }
  if (leaf->type == ECS_ENTITY) cell.u64 = entity_target(world, cell.u64);
  memcpy(to, &cell, leaf->size);
}

static APART bool native_has_pair(const ecs_world *world, ecs_id entity, ecs_id component) {
  const struct relation *relation = relation_of(world, component);
  if (LIKELY(!relation)) return entity_has(world, entity, component);
  ecs_id target = id_is_pair(component) ? entity_id_any(&world->entities, pair_target(component))
                                        : ECS_NULL;
  return relate_has(world, entity, relation->component, target);
}

/* What the table lacks may still be there, as a relation or sparse component. */
bool ecs_has(const ecs_world *world, ecs_id entity, ecs_id component) {
  const struct record *record = entity_find_row(&world->entities, entity);
  if (UNLIKELY(!record)) return native_has_pair(world, entity, component);
  if (table_has(world_table(world, record->table), component)) return true;
  return (world->relations.count || world->sparses.rows) &&
         native_has_pair(world, entity, component);
}

ecs_id ecs_target(const ecs_world *world, ecs_id source, ecs_id id) {
  const struct relation *relation = relation_of(world, id);
  return relation ? relate_target(world, source, relation->component) : ECS_NULL;
}

ecs_id ecs_next_target(const ecs_world *world, ecs_id source, ecs_id id, ecs_id after) {
  const struct relation *relation = relation_of(world, id);
  return relation ? relate_next_target(world, source, relation->component, after) : ECS_NULL;
}

static size_t native_list_sources(const ecs_world *world, ecs_id target,
                                  const struct relation *relation, ecs_id *ids,
                                  size_t room) {
  return relation ? relate_sources(world, target, relation->component, ids, room) : 0;
}

size_t ecs_sources(const ecs_world *world, ecs_id target, ecs_id id, ecs_id *ids, size_t room) {
  return native_list_sources(world, target, relation_of(world, id), ids, room);
}

size_t ecs_children(const ecs_world *world, ecs_id parent, ecs_id *ids, size_t room) {
  return native_list_sources(world, parent, world->relations.child_of, ids, room);
}

/* The general case. */
static APART ecs_status native_set_any(ecs_world *world, ecs_id entity, ecs_id id,
                                       const void *value) {
  struct component *component;
  ecs_status status = component_need_id(world, id, &component);
  if (status != ECS_OK) return status;
  const struct write *writes = NULL;
  status = component_read_native(world, component, value, &writes);
  if (status != ECS_OK) return status;
  if (UNLIKELY(id_is_pair(id))) {
    ecs_id target = entity_id_any(&world->entities, pair_target(id));
    uint32_t first = component->relation->exclusive;
    assert(first <= component->leaf_count);
    status = relate_add(world, entity, component, target, writes + first,
                        component->leaf_count - first);
  } else {
    status = entity_set(world, entity, component, writes, component->leaf_count);
  }
  return world_tell_observers(world, status);
}

/* Stores a component whose leaves all have 4 bytes in a row's cells; the reverse of
** native_copy_words. */
INLINE void native_store_words(const struct column *column, uint32_t words, uint32_t row,
                               const char *from) {
  assert(column->size == 4 && column_at(column, row) && column[words - 1].id == column->id);
  if (LIKELY(words == 2)) {
    memcpy((uint32_t *)column[0].data + row, from, 4);
    memcpy((uint32_t *)column[1].data + row, from + 4, 4);
    return;
  }
  for (; words > 0; words--, column++, from += 4)
    memcpy((uint32_t *)column->data + row, from, 4);
}

static APART void native_store_numbers(const struct layout *layout, uint32_t row,
                                       const char *from) {
  const struct component *component = layout->columns->component;
  assert(component->numbers && layout->count == component->leaf_count);
  for (uint32_t i = 0; i < layout->count; i++) {
    ecs_cell cell;
    cell.u64 = 0;
    memcpy(&cell, from + component->leaves[i].offset, component->leaves[i].size);
    cell_store(layout->columns[i].data, layout->columns[i].size, row, cell);
  }
}

/* If any bits are valid, nothing is checked: this takes a fifth of the time. */
ecs_status ecs_set(ecs_world *world, ecs_id entity, ecs_id id, const void *value) {
  const struct record *record = entity_find_row(&world->entities, entity);
  /* Setting does more than write and mark cells if a command on it is pending, or observers must be
  ** told. */
  const struct watching *watching = world->watching;
  bool more = (world->staging.command_count | watching->sets | watching->due) != 0;
  if (UNLIKELY(!record || !value || more))
    return native_set_any(world, entity, id, value);
  const struct table *table = world_table(world, record->table);
  const struct layout *layout = table_find(table, id);
  if (UNLIKELY(!layout->stores)) return native_set_any(world, entity, id, value);
  if (LIKELY(layout->words))
    native_store_words(layout->columns, layout->words, record->row, value);
  else
    native_store_numbers(layout, record->row, value);
  marks_note(world, table, id, record->row);
  return ECS_OK;
}

static ecs_status native_read_event(ecs_world *world, ecs_id id, const void *value,
                                    struct component **component, const struct write **writes) {
  ecs_status status = event_need(world, id, component);
  if (status == ECS_OK && (*component)->leaf_count)
    status = component_read_native(world, *component, value, writes);
  return status;
}

ecs_status ecs_after(ecs_world *world, double seconds, ecs_id id, const void *value) {
  struct component *component;
  const struct write *writes = NULL;
  if (!(seconds >= 0 && seconds < 1e18))
    return world_fail(world, ECS_EINVAL, "%g is not a time in seconds", seconds);
  ecs_status status = native_read_event(world, id, value, &component, &writes);
  if (status != ECS_OK) return status;
  status = later_add(world, component->event, seconds, writes, component->leaf_count);
  if (status == ECS_OK) world_settle(world);
  return status;
}

ecs_status ecs_emit(ecs_world *world, ecs_id id, const void *value) {
  struct component *component;
  const struct write *writes = NULL;
  ecs_status status = native_read_event(world, id, value, &component, &writes);
  if (status != ECS_OK) return status;
  status = emission_add(world, component->event, writes, component->leaf_count);
  if (status == ECS_OK) world_settle(world);
  return status;
}

static ecs_status native_no_value(const ecs_world *world, ecs_id entity, ecs_id id) {
  struct component *component;
  ecs_status status = component_need_id(world, id, &component);
  if (status == ECS_OK) status = entity_need(world, entity);
  if (status != ECS_OK) return status;
  if (component->leaf_count == 0 && entity_has(world, entity, id)) return ECS_OK;
  return world_fail(world, ECS_EABSENT, "entity " SHOW_ID " has no '%s'", entity, component->name);
}

/* Copies the row's cells of a component whose leaves all have 4 bytes. The common case of two has
** no loop, which takes 17 % off a get. */
INLINE void native_copy_words(const struct column *column, uint32_t words, uint32_t row, char *to) {
  assert(column->size == 4 && column_at(column, row) && column[words - 1].id == column->id);
  if (LIKELY(words == 2)) {
    memcpy(to, (const uint32_t *)column[0].data + row, 4);
    memcpy(to + 4, (const uint32_t *)column[1].data + row, 4);
    return;
  }
  for (; words > 0; words--, column++, to += 4)
    memcpy(to, (const uint32_t *)column->data + row, 4);
}

/* The general case: any entity, any component. */
static APART ecs_status native_get_any(const ecs_world *world, ecs_id entity, ecs_id id,
                                       void *value) {
  struct cells_row cells;
  if (!cells_find(world, entity, id, &cells) || !cells.columns)
    return native_no_value(world, entity, id);
  const struct column *column = cells.columns;
  const struct component *component = column->component;
  for (uint32_t i = 0; i < component->leaf_count; i++, column++)
    component_write_native(world, component, i,
                           cell_load(column->data, column->size, cells.row), value);
  return ECS_OK;
}

/* Components with 4-byte leaves, the usual ones, take a quarter of the time of others. */
ecs_status ecs_get(const ecs_world *world, ecs_id entity, ecs_id id, void *value) {
  const struct record *record = entity_find_row(&world->entities, entity);
  if (UNLIKELY(!record)) return native_get_any(world, entity, id, value);
  const struct layout *layout = table_find(world_table(world, record->table), id);
  if (UNLIKELY(!layout->words)) return native_get_any(world, entity, id, value);
  native_copy_words(layout->columns, layout->words, record->row, value);
  return ECS_OK;
}

static APART void *native_cell_of_any(const ecs_world *world, ecs_id entity, ecs_id component,
                                      uint32_t leaf) {
  struct cells_row cells;
  if (!cells_find(world, entity, component, &cells) || !cells.columns ||
      leaf >= cells.columns->component->leaf_count)
    return NULL;
  marks_note(world, cells.table, component, cells.row);
  return column_at(&cells.columns[leaf], cells.row);
}

/* Cells of 4-byte leaves cost half as much as others. */
void *ecs_cell_of(const ecs_world *world, ecs_id entity, ecs_id component, uint32_t leaf) {
  const struct record *record = entity_find_row(&world->entities, entity);
  if (UNLIKELY(!record)) return native_cell_of_any(world, entity, component, leaf);
  const struct layout *layout = table_find(world_table(world, record->table), component);
  if (UNLIKELY(leaf >= layout->lends))
    return native_cell_of_any(world, entity, component, leaf);
  return (uint32_t *)layout->columns[leaf].data + record->row;
}

ecs_status ecs_leaf(const ecs_world *world, const char *path, ecs_id *component,
                    uint32_t *leaf) {
  struct component *found;
  uint32_t at;
  path = text_given(path);
  ecs_status status = component_path(world, path, strlen(path), &found, &at);
  if (status != ECS_OK) return status;
  if (found->leaf_count == 0)
    return world_fail(world, ECS_ENAME, "'%s' is a tag: it has no fields", found->name);
  if (at == NONE)
    return world_fail(world, ECS_ENAME,
                      "'%s' does not name a field: add one, as in '%s.%s'", found->name,
                      found->name, found->leaves[0].name);
  *component = found->id;
  *leaf = at;
  return ECS_OK;
}

void *ecs_cell_named(const ecs_world *world, ecs_id entity, const char *path) {
  ecs_id component = ECS_NULL;
  uint32_t leaf = NONE;
  if (ecs_leaf(world, path, &component, &leaf) != ECS_OK) return NULL;
  void *cell = ecs_cell_of(world, entity, component, leaf);
  if (!cell) native_no_value(world, entity, component);
  return cell;
}
