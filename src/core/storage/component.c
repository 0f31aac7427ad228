#include "core/storage/component.h"

#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/entity/entity.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/event.h"
#include "core/storage/registry.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "ecs_component.h"

/* The relation of a pair, whose id has the relation's index but no generation. */
static APART struct component *component_of_pair(const ecs_world *world, ecs_id pair) {
  uint32_t at = pair_relation(pair);
  struct component *component =
      at < world->registry.count ? world->registry.components[at] : NULL;
  return component && component->ties.relation && pair >> 53 == 0 ? component : NULL;
}

struct component *component_of(const ecs_world *world, ecs_id id) {
  uint32_t at = ecs_id_index(id);
  if (UNLIKELY(id_is_pair(id))) return component_of_pair(world, id);
  if (at >= world->registry.count) return NULL;
  struct component *component = world->registry.components[at];
  assert(!component || ecs_id_index(component->id) == at);
  return component && component->id == id ? component : NULL;
}

struct component *component_find(const ecs_world *world, const char *name, size_t size) {
  const struct registry *registry = &world->registry;
  uint32_t at = map_get(&registry->names, text_hash(name, size));
  for (; at != NONE; at = registry->next[at]) {
    struct component *component = registry->components[at];
    if (component->name_size == size && memcmp(component->name, name, size) == 0)
      return component;
  }
  return NULL;
}

struct component *component_formerly(const ecs_world *world, const char *name, size_t size) {
  const struct registry *registry = &world->registry;
  for (uint32_t i = 0; registry->renamed && i < registry->count; i++) {
    struct component *component = registry->components[i];
    if (component && component->former.name && text_equal(component->former.name, name, size))
      return component;
  }
  return NULL;
}

static ecs_status component_refuse_others(const ecs_world *world,
                                          const struct component *component) {
  assert(component);
  const struct relation *prefab = world->relations.prefab;
  if (UNLIKELY(prefab && component->relation == prefab))
    return world_fail(world, ECS_EINVAL, "'%s' marks prefabs and is hidden from queries: declare "
                      "one with prefab(name, components)", component->name);
  if (LIKELY(component->length == 0 && !component->is_event)) return ECS_OK;
  return world_fail(world, ECS_EINVAL, component->is_event
                        ? "'%s' is an event, not a component: no entity has it; emit it, and read "
                          "it with a query"
                        : "'%s' is an array, not a component: use world:array", component->name);
}

ecs_status component_need(const ecs_world *world, const char *name, size_t size,
                          struct component **out) {
  *out = component_find(world, name, size);
  if (*out) return component_refuse_others(world, *out);
  ecs_string text = {name, size};
  if (!component_formerly(world, name, size) && name_lookup(world, name, size) != ECS_NULL)
    return world_fail(world, ECS_ENAME, "unknown component '%.*s': that is the name of an entity; "
                      "pass the entity's id", SHOW(text));
  return component_unknown_kind(world, name, size, "component");
}

ecs_status component_need_any(const ecs_world *world, ecs_id id, struct component **out) {
  *out = component_of(world, id);
  if (*out) return ECS_OK;
  ecs_status status = entity_need(world, id);
  if (status != ECS_OK) return status;
  return world_fail(world, ECS_EINVAL, SHOW_ID " is an entity, not a component", id);
}

ecs_status component_need_id(const ecs_world *world, ecs_id id, struct component **out) {
  ecs_status status = component_need_any(world, id, out);
  return status == ECS_OK ? component_refuse_others(world, *out) : status;
}

uint32_t component_field(const struct component *component, const char *name, size_t size) {
  for (uint32_t i = 0; i < component->field_count; i++) {
    const struct field *field = &component->fields[i];
    if (field->name_size == size && memcmp(field->name, name, size) == 0) return i;
  }
  return NONE;
}

uint32_t component_leaf(const struct component *component, const char *name, size_t size) {
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    if (leaf->name_size == size && memcmp(leaf->name, name, size) == 0) return i;
  }
  return NONE;
}

uint32_t component_first_leaf(const struct component *component, uint32_t leaf) {
  const struct field *field = &component->fields[component->leaves[leaf].field];
  if (!field->nested) return field->first_leaf;
  uint32_t within = (leaf - field->first_leaf) % field->nested->leaf_count;
  return field->first_leaf + component_first_leaf(field->nested, within);
}

const char *component_word(const struct component *component) {
  return component->is_event ? "event" : "component";
}

/* The first leaf in an element or nested field, which has no name of its own; or NULL. */
static const struct leaf *component_part(const struct component *component, const char *name,
                                         size_t size) {
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    bool begins = leaf->name_size > size && memcmp(leaf->name, name, size) == 0;
    if (begins && strchr(".[", leaf->name[size])) return leaf;
  }
  return NULL;
}

ecs_status component_no_field(const ecs_world *world, const struct component *component,
                              const char *name, size_t size) {
  ecs_string text = {name, size};
  const char *word = component_word(component);
  if (component->field_count == 0 && !component->is_event)
    return world_fail(world, ECS_ENAME, "'%s' is a tag: it has no field '%.*s'", component->name,
                      SHOW(text));
  if (component_leaf(component, name, size) != NONE)
    return world_fail(world, ECS_ENAME, "%s '%s' has no field '%.*s': that is a path, not a "
                      "field's name", word, component->name, SHOW(text));
  const struct leaf *part = component_part(component, name, size);
  if (part)
    return world_fail(world, ECS_ENAME, "%s '%s' has no field '%.*s' (name a single value, as in "
                      "'%s')", word, component->name, SHOW(text), part->name);
  struct nearest nearest;
  nearest_begin(&nearest, name, size);
  for (uint32_t i = 0; i < component->field_count; i++)
    nearest_offer(&nearest, component->fields[i].name, component->fields[i].name_size);
  for (uint32_t i = 0; i < component->leaf_count; i++)
    nearest_offer(&nearest, component->leaves[i].name, component->leaves[i].name_size);
  return world_fail(world, ECS_ENAME, "%s '%s' has no field '%.*s'%s", word, component->name,
                    SHOW(text), nearest_hint(&nearest));
}

static ecs_status component_no_leaf(const ecs_world *world, const struct component *component,
                                    const char *text, size_t size) {
  uint32_t at = component_field(component, text, size);
  if (at == NONE) return component_no_field(world, component, text, size);
  const struct field *field = &component->fields[at];
  return world_fail(world, ECS_ENAME,
                    "field '%s.%s' is not a single value: name a part, as in '%s.%s'",
                    component->name, field->name, component->name,
                    component->leaves[field->first_leaf].name);
}

ecs_status component_path(const ecs_world *world, const char *text, size_t size,
                          struct component **out, uint32_t *leaf) {
  const char *dot = memchr(text, '.', size);
  size_t head = dot ? (size_t)(dot - text) : size;
  ecs_status status = component_need(world, text, head, out);
  *leaf = NONE;
  if (status != ECS_OK || !dot) return status;
  assert(*out);
  *leaf = component_leaf(*out, dot + 1, size - head - 1);
  return *leaf != NONE ? ECS_OK : component_no_leaf(world, *out, dot + 1, size - head - 1);
}

const char *component_label(const struct component *component, const struct leaf *leaf,
                            char *text, size_t size) {
  if (component->length)
    text_format(text, size, "array '%s'", component->name);
  else
    text_format(text, size, "field '%s.%s'", component->name, leaf->name);
  return text;
}

/* The error for a number that does not fit a leaf. */
static ecs_status component_refuse_number(const ecs_world *world,
                                          const struct component *component,
                                          const struct leaf *leaf, double number,
                                          ecs_status status) {
  char label[LABEL_SIZE];
  bool has_bits = number > 0 && type_table[leaf->type].most > INT64_MAX;
  return world_fail(world, status, "%s is %s: %g %s",
                    component_label(component, leaf, label, sizeof label), type_name(leaf->type),
                    number, status != ECS_ERANGE ? "is not an integer"
                    : has_bits ? "is out of range (write integers from 2^63 on as 0x...)"
                               : "is out of range");
}

static ecs_status component_number_cell(ecs_world *world, const struct component *component,
                                        const struct leaf *leaf, const ecs_value *value,
                                        ecs_cell *cell) {
  char label[LABEL_SIZE];
  if (value->kind == ECS_KIND_NUMBER) {
    ecs_status status = cell_of_number(leaf->type, value->number, cell);
    return status == ECS_OK
               ? status
               : component_refuse_number(world, component, leaf, value->number, status);
  }
  if (cell_of_integer(leaf->type, value->integer, cell) == ECS_OK) return ECS_OK;
  return world_fail(world, ECS_ERANGE, "%s is %s: %lld is out of range",
                    component_label(component, leaf, label, sizeof label), type_name(leaf->type),
                    (long long)value->integer);
}

static ecs_status component_entity_cell(ecs_world *world, const struct component *component,
                                        const struct leaf *leaf, const ecs_value *value,
                                        ecs_cell *cell) {
  int64_t id = value->integer;
  char label[LABEL_SIZE], why[128];
  if (value->kind == ECS_KIND_NUMBER && !number_is_integer(value->number, &id))
    return world_fail(world, ECS_ENOID, "%s is entity: %g is not an entity id",
                      component_label(component, leaf, label, sizeof label), value->number);
  cell->u64 = (uint64_t)id;
  if (id == 0) return ECS_OK;
  ecs_status status = entity_status(&world->entities, (ecs_id)id);
  if (status == ECS_OK) return ECS_OK;
  entity_need(world, (ecs_id)id);
  text_format(why, sizeof why, "%s", world->message);
  bool dead = status == ECS_EDEAD;
  return world_fail(world, status, "%s is entity: %s%s",
                    component_label(component, leaf, label, sizeof label), why,
                    dead ? " (pass ecs.null, or keep ids of dead entities in an i64 field)" : "");
}

static ecs_status component_enum_cell(ecs_world *world, const struct component *component,
                                      const struct leaf *leaf, const ecs_value *value,
                                      ecs_cell *cell) {
  const ecs_string *text = &value->string;
  uint32_t at = enumeration_find(leaf->names, text->data, text->size);
  *cell = cell_of_bits(leaf->size, at);
  if (at != NONE) return ECS_OK;
  struct nearest nearest;
  nearest_begin(&nearest, text->data, text->size);
  for (uint32_t i = 0; i < leaf->names->count; i++)
    nearest_offer(&nearest, leaf->names->names[i].data, leaf->names->names[i].size);
  return world_fail(world, ECS_ERANGE, "enum field '%s.%s' has no name '%.*s'%s", component->name,
                    leaf->name, SHOW(*text), nearest_hint(&nearest));
}

static ecs_status component_string_cell(ecs_world *world, const struct component *component,
                                        const struct leaf *leaf, const ecs_value *value,
                                        ecs_cell *cell) {
  cell->u64 = 0;
  ecs_status status = intern(&world->strings, &world->memory, value->string.data,
                             value->string.size, &cell->u32);
  if (status != ECS_ELIMIT) return status == ECS_OK ? ECS_OK : world_nomem(world);
  return world_fail(world, status, "field '%s.%s': a string of %zu bytes is too long",
                    component->name, leaf->name, value->string.size);
}

ecs_status component_cell(ecs_world *world, const struct component *component,
                          uint32_t at, const ecs_value *value, ecs_cell *cell) {
  const struct leaf *leaf = &component->leaves[at];
  bool numeric = value->kind == ECS_KIND_INTEGER || value->kind == ECS_KIND_NUMBER;
  switch (type_class(leaf->type)) {
    case CLASS_TRUTH:
      if (value->kind != ECS_KIND_BOOL) break;
      cell->u64 = 0;
      cell->u8 = value->boolean;
      return ECS_OK;
    case CLASS_ID:
      if (!numeric) break;
      return component_entity_cell(world, component, leaf, value, cell);
    case CLASS_TEXT:
      if (value->kind != ECS_KIND_STRING) break;
      return component_string_cell(world, component, leaf, value, cell);
    case CLASS_NAMES:
      if (value->kind != ECS_KIND_STRING) break;
      return component_enum_cell(world, component, leaf, value, cell);
    case CLASS_FLOAT:
    case CLASS_INTEGER:
      if (!numeric) break;
      return component_number_cell(world, component, leaf, value, cell);
    default: break;
  }
  static const char *const kinds[] = {"nothing", "a boolean", "an integer", "a number",
                                      "a string"};
  char label[LABEL_SIZE];
  return world_fail(world, ECS_ETYPE, "%s is %s, got %s",
                    component_label(component, leaf, label, sizeof label), type_name(leaf->type),
                    kinds[value->kind]);
}

ecs_string leaf_text(const ecs_world *world, const struct leaf *leaf, ecs_cell cell) {
  if (leaf->type == ECS_STRING) return intern_text(&world->strings, cell.u32);
  return leaf->names->names[cell_integer(leaf->type, leaf->size, cell)];
}

void value_of_cell(ecs_type type, uint32_t size, ecs_cell cell, ecs_string text, ecs_value *out) {
  switch (type_class(type)) {
    case CLASS_FLOAT:
      *out = (ecs_value){.kind = ECS_KIND_NUMBER, .number = cell_float(size, cell)};
      break;
    case CLASS_TRUTH:
      *out = (ecs_value){.kind = ECS_KIND_BOOL, .boolean = cell.u8 != 0};
      break;
    case CLASS_TEXT:
    case CLASS_NAMES: *out = (ecs_value){.kind = ECS_KIND_STRING, .string = text}; break;
    default:
      *out = (ecs_value){.kind = ECS_KIND_INTEGER, .integer = cell_integer(type, size, cell)};
  }
}

void component_free(ecs_world *world, struct component *component) {
  resource_free(world, component);
  if (component->relation) relation_free(world, component);
  if (component->sparse) sparse_free(world, component);
  if (component->event) event_free(world, component);
  arena_free(&world->memory, &component->former.arena);
  arena_free(&world->memory, &component->arena);
  memory_free(&world->memory, component, sizeof *component);
}

ecs_id ecs_component_find(const ecs_world *world, const char *name) {
  name = text_given(name);
  struct component *component = component_find(world, name, strlen(name));
  return component ? component->id : ECS_NULL;
}

const char *ecs_component_name(const ecs_world *world, ecs_id id) {
  struct component *component = component_of(world, id);
  return component ? component->name : NULL;
}

/* ---- require ---- */

uint64_t require_room(const ecs_world *world, uint64_t count, uint64_t more) {
  return count + more + (world->registry.requires ? 2ull * world->registry.count : 0);
}

/* Ids whose requirements are still to be inserted wait at the end of the buffer. */
uint32_t require_insert(const ecs_world *world, ecs_id *ids, uint32_t count, uint64_t room,
                        ecs_id id) {
  uint32_t before = count, waiting = 0;
  assert(count < room);
  count = id_set_insert(ids, count, id);
  if (count == before || !world->registry.requires) return count;
  for (;;) {
    const struct component *component = component_of(world, id);
    for (uint32_t i = 0; component && i < component->require_count; i++) {
      uint32_t known = count;
      count = id_set_insert(ids, count, component->requires[i]);
      if (count > known) ids[room - ++waiting] = component->requires[i];
      assert(count + waiting <= room);
    }
    if (waiting == 0) return count;
    id = ids[room - waiting--];
  }
}

bool require_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, bool in_table,
                 struct gap *gap) {
  if (!world->registry.requires) return false;
  for (uint32_t i = 0; i < count; i++) {
    const struct component *component = component_of(world, ids[i]);
    for (uint32_t j = 0; component && j < component->require_count; j++) {
      ecs_id needed = component->requires[j];
      if (id_set_has(ids, count, needed) || (in_table && sparse_of(world, needed))) continue;
      *gap = (struct gap){needed, ids[i]};
      return true;
    }
  }
  return false;
}

/* Whether an entity lacks a requirement of one of its components. */
static bool require_lacks(const ecs_world *world, ecs_id entity, ecs_id id, struct gap *gap) {
  const struct component *component = component_of(world, id);
  for (uint32_t i = 0; component && i < component->require_count; i++) {
    if (entity_has(world, entity, component->requires[i])) continue;
    *gap = (struct gap){component->requires[i], id};
    return true;
  }
  return false;
}

bool require_entity_gap(const ecs_world *world, ecs_id entity, struct gap *gap) {
  const struct table *table = record_table(world, entity_find(&world->entities, entity));
  const struct sparses *sparses = &world->sparses;
  if (!world->registry.requires) return false;
  for (uint32_t i = 0; table && i < table->id_count; i++)
    if (require_lacks(world, entity, table->ids[i], gap)) return true;
  for (uint32_t i = 0; i < sparses->count; i++)
    if (sparse_row(sparses->list[i], ecs_id_index(entity)) != NONE &&
        require_lacks(world, entity, sparses->list[i]->component->id, gap))
      return true;
  return false;
}

ecs_id require_holder(const ecs_world *world, const struct table *table, ecs_id id) {
  if (!world->registry.requires) return ECS_NULL;
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct component *component = component_of(world, table->ids[i]);
    if (component && id_set_has(component->requires, component->require_count, id))
      return component->id;
  }
  return ECS_NULL;
}

ecs_status require_refuse(const ecs_world *world, ecs_id entity, struct gap gap) {
  char from[64] = "";
  if (entity) text_format(from, sizeof from, " from entity " SHOW_ID, entity);
  return world_fail(world, ECS_EINVAL, "'%s' cannot be removed%s: '%s' requires it",
                    ecs_component_name(world, gap.missing), from,
                    ecs_component_name(world, gap.by));
}

/* ---- cycles ---- */

enum { UNSEEN, OPEN, DONE };

/* A step of the walk: a component, and which of its requirements is next. */
struct require_step {
  uint32_t index, next;
};

static ecs_status component_fail_cycle(const ecs_world *world, const struct require_step *steps,
                                       uint32_t count, uint32_t index) {
  char path[MESSAGE_SIZE / 2];
  uint32_t first = 0;
  while (steps[first].index != index) first++;
  const char *name = world->registry.components[index]->name;
  size_t size = text_format(path, sizeof path, "%s", name);
  for (uint32_t i = first + 1; i < count; i++) {
    const char *next = world->registry.components[steps[i].index]->name;
    bool fits = size + 2 * (size_t)NAME_LIMIT + 16 < sizeof path;
    size += text_format(path + size, sizeof path - size, " -> %s", fits ? next : "...");
    if (!fits) break;
  }
  ecs_status status = world_fail(world, ECS_ECYCLE, "component '%s' would require itself: "
                                 "%s -> %s", name, path, name);
  for (uint32_t i = first; i < count; i++)
    world_blame(world, status, world->registry.components[steps[i].index]->name);
  return status;
}

/* Walks depth first from one component, without recursion: chains may be tens of thousands long. */
static ecs_status require_walk(const ecs_world *world, uint8_t *states, struct require_step *steps,
                               uint32_t start) {
  uint32_t count = 1;
  steps[0] = (struct require_step){start, 0};
  states[start] = OPEN;
  while (count) {
    struct require_step *at = &steps[count - 1];
    const struct component *component = world->registry.components[at->index];
    if (at->next == component->require_count) {
      states[at->index] = DONE;
      count--;
      continue;
    }
    uint32_t index = ecs_id_index(component->requires[at->next++]);
    if (states[index] == OPEN) return component_fail_cycle(world, steps, count, index);
    if (states[index] == DONE) continue;
    states[index] = OPEN;
    assert(count <= world->registry.count);
    steps[count++] = (struct require_step){index, 0};
  }
  return ECS_OK;
}

ecs_status require_check_cycles(ecs_world *world) {
  uint32_t count = world->registry.count;
  struct memory *memory = &world->memory;
  uint8_t *states = memory_array(memory, (size_t)count + 1, sizeof *states);
  struct require_step *steps = memory_array(memory, (size_t)count + 1, sizeof *steps);
  ecs_status status = states && steps ? ECS_OK : world_nomem(world);
  for (uint32_t i = 0; states && steps && i < count && status == ECS_OK; i++)
    if (world->registry.components[i] && states[i] == UNSEEN)
      status = require_walk(world, states, steps, i);
  memory_free(memory, states, ((size_t)count + 1) * sizeof *states);
  memory_free(memory, steps, ((size_t)count + 1) * sizeof *steps);
  return status;
}
