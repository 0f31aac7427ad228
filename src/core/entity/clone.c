#include "core/entity/clone.h"

#include "core/base/column.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"
#include "ecs_entity.h"

/* ---- finding the entities to copy ---- */

static ecs_status clone_add_source(ecs_world *world, uint32_t entity) {
  struct clone *clone = world->clone;
  if (!GROW(&world->memory, clone->sources, clone->capacity, clone->count + 1ull))
    return world_nomem(world);
  if (!map_reserve(&world->memory, &clone->places, 1)) return world_nomem(world);
  assert(map_get(&clone->places, entity) == NONE);
  map_put(&clone->places, entity, clone->count);
  clone->sources[clone->count++] = entity;
  return ECS_OK;
}

ecs_status clone_find_all(ecs_world *world, uint32_t root, const struct relation *relation,
                          clone_leaves_fn leaves_out, const void *ud) {
  if (!world->clone) world->clone = memory_array(&world->memory, 1, sizeof *world->clone);
  struct clone *clone = world->clone;
  if (!clone) return world_nomem(world);
  clone->count = clone->slot_count = 0;
  map_clear(&clone->places);
  ecs_status status = clone_add_source(world, root);
  for (uint32_t i = 0; relation && i < clone->count && status == ECS_OK; i++) {
    uint32_t source = ties_first(&relation->ties, clone->sources[i]);
    bool declared = relation == world->relations.child_of && prefab_is(world, clone->sources[i]);
    for (; source && status == ECS_OK; source = ties_next(&relation->ties, source)) {
      bool left_out = leaves_out && leaves_out(world, source, ud);
      if (!left_out && (!declared || prefab_is(world, source)))
        status = clone_add_source(world, source);
    }
  }
  return status;
}

/* A component or pair of a source. */
struct item {
  uint32_t place;            /* the source's place */
  ecs_id id;
  const struct table *table; /* its table: the source's, or that of a sparse set */
  const struct layout *layout;
  uint32_t row;
};

typedef ecs_status (*item_fn)(ecs_world *world, const struct item *item, void *ud);

/* Whether copies get a component or tie: not what marks the source as a prefab; from an instance,
** only what it owns; and the root's copy of a prefab or an instance gets no parent. */
static bool clone_is_kept(const ecs_world *world, uint32_t place, ecs_id id) {
  const struct relations *relations = &world->relations;
  const struct relation *relation = relation_of(world, id);
  const struct clone *clone = world->clone;
  bool plain = clone->kind == CLONE_PLAIN;
  if (UNLIKELY(relation && relation == relations->prefab)) return false;
  if (relation && relation == relations->child_of)
    return place > 0 || (plain && !prefab_is(world, clone->sources[0]));
  if (plain) return true;
  if (relation && relation == relations->is_a) return false;
  return relation || !prefab_shares(world, clone->sources[place], id);
}

static ecs_status clone_visit(ecs_world *world, uint32_t place, const struct table *table,
                              ecs_id id, item_fn fn, void *ud) {
  if (!clone_is_kept(world, place, id)) return ECS_OK;
  uint32_t entity = world->clone->sources[place];
  uint32_t row = entity_record(&world->entities, entity)->row;
  const struct sparse *sparse = sparse_of(world, id);
  struct item item = {place, id, sparse ? sparse->table : table, NULL, row};
  item.layout = sparse_layout(world, table, entity, id, &item.row);
  assert(item.layout->taken);
  return fn(world, &item, ud);
}

/* Visits everything that copies get from a source: by ids, then sparse ones. */
static ecs_status clone_each_item(ecs_world *world, uint32_t place, item_fn fn, void *ud) {
  uint32_t entity = world->clone->sources[place];
  const struct table *table = record_table(world, entity_record(&world->entities, entity));
  ecs_status status = ECS_OK;
  if (!table) return ECS_OK;
  for (uint32_t i = 0; i < table->id_count && status == ECS_OK; i++)
    status = clone_visit(world, place, table, table->ids[i], fn, ud);
  ecs_id id = ECS_NULL;
  while (world->sparses.rows && status == ECS_OK &&
         (id = sparse_next_id(world, entity, id)) != ECS_NULL)
    status = clone_visit(world, place, table, id, fn, ud);
  return status;
}

static inline ecs_cell clone_cell_of(const struct item *item, uint32_t leaf) {
  const struct column *column = &item->layout->columns[leaf];
  assert(leaf < item->layout->count && column->leaf == leaf);
  return cell_load(column->data, column->size, item->row);
}

static ecs_status clone_note_slots(ecs_world *world, const struct item *item, void *ud) {
  struct clone *clone = world->clone;
  const struct component *component = component_of(world, item->id);
  (void)ud;
  for (uint32_t i = 0; component->has_any && i < component->leaf_count; i++) {
    uint32_t slot = component->leaves[i].type == ECS_ANY ? clone_cell_of(item, i).u32 : 0;
    if (slot == 0) continue;
    if (!GROW(&world->memory, clone->slots, clone->slot_capacity, clone->slot_count + 1ull))
      return world_nomem(world);
    clone->slots[clone->slot_count++] = slot;
  }
  return ECS_OK;
}

ecs_status clone_find(ecs_world *world, ecs_id root, enum clone_kind kind) {
  return clone_find_but(world, root, kind, NULL, NULL);
}

ecs_status clone_find_but(ecs_world *world, ecs_id root, enum clone_kind kind,
                          clone_leaves_fn leaves_out, const void *ud) {
  if (!entity_find(&world->entities, root)) return entity_need(world, root);
  ecs_status status = clone_find_all(world, ecs_id_index(root), world->relations.child_of,
                                     leaves_out, ud);
  if (status != ECS_OK) return status;
  struct clone *clone = world->clone;
  clone->kind = (uint8_t)kind;
  for (uint32_t i = 0; world->any.used && i < clone->count && status == ECS_OK; i++)
    status = clone_each_item(world, i, clone_note_slots, NULL);
  return status;
}

void clone_without_any(ecs_world *world) {
  for (uint32_t i = 0; i < world->clone->slot_count; i++) clone_set_slot(world->clone, i, 0);
}

/* ---- room ---- */

/* What staging a copy takes. */
struct need {
  uint64_t commands, writes;
  uint32_t widest;           /* most leaves of a component */
};

static ecs_status clone_add_need(ecs_world *world, const struct item *item, void *ud) {
  struct need *need = ud;
  uint32_t leaves = component_of(world, item->id)->leaf_count;
  bool off = toggle_is_off(item->table, item->id, item->row);
  need->commands += off ? 2 : 1;
  need->writes += leaves;
  if (leaves > need->widest) need->widest = leaves;
  return ECS_OK;
}

static ecs_status clone_reserve(ecs_world *world, const struct part *parts, uint32_t count) {
  struct clone *clone = world->clone;
  uint64_t marks = clone->count * (uint64_t)clone->kind;
  struct need need = {clone->count + marks + spawn_commands(parts, count),
                      marks + spawn_writes(parts, count), 0};
  for (uint32_t i = 0; i < clone->count; i++) clone_each_item(world, i, clone_add_need, &need);
  if (!GROW(&world->memory, clone->ids, clone->id_capacity, clone->count) ||
      !GROW(&world->memory, world->writes, world->write_capacity, need.widest))
    return world_nomem(world);
  ecs_status status = spawn_reserve_ids(world, clone->count);
  return status == ECS_OK ? command_reserve(world, need.commands, need.writes, clone->count)
                          : status;
}

/* ---- copies ---- */

/* The copy of an entity that a source refers to, or that entity itself. */
static ecs_id clone_copy_of(const ecs_world *world, ecs_id id) {
  const struct clone *clone = world->clone;
  ecs_id target = entity_target(world, id);
  if (target == ECS_NULL) return ECS_NULL;
  uint32_t place = map_get(&clone->places, ecs_id_index(target));
  return place == NONE ? target : clone->ids[place];
}

/* Takes the copies' ids, and the names of those that have one. */
static ecs_status clone_take(ecs_world *world) {
  struct clone *clone = world->clone;
  struct entity_index *index = &world->entities;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < clone->count; i++)
    clone->ids[i] = entity_id(index, entity_take(index, &index->entities));
  for (uint32_t i = 1; i < clone->count && world->names.count && status == ECS_OK; i++) {
    ecs_string name = name_of(world, entity_id(index, clone->sources[i]));
    if (name.size == 0) continue;
    uint32_t parent = ties_target(&world->relations.child_of->ties, clone->sources[i]);
    ecs_id copy = clone_copy_of(world, entity_id(index, parent));
    status = name_await(world, clone->ids[i], ecs_id_index(copy), name);
  }
  for (uint32_t i = clone->count; status != ECS_OK && i-- > 0;) {
    name_forget(world, ecs_id_index(clone->ids[i]));
    entity_untake(index, &index->entities, ecs_id_index(clone->ids[i]));
  }
  return status;
}

struct copying {
  const struct part *parts;
  uint32_t part_count;
  uint32_t slots;            /* number of any values with a slot so far */
};

/* The target of a copy by an exclusive relation: a target given for the root replaces the source's
** before the tie is made, so that an impossible tie is not tried. */
static ecs_id clone_target_now(const ecs_world *world, const struct copying *copying,
                               const struct item *item, const struct component *component) {
  for (uint32_t i = 0; item->place == 0 && i < copying->part_count; i++)
    if (copying->parts[i].component == component) return part_target(&copying->parts[i]);
  return clone_copy_of(world, clone_cell_of(item, TARGET_LEAF).u64);
}

/* Room is reserved for everything, so nothing here can fail. */
static ecs_status clone_stage_item(ecs_world *world, const struct item *item, void *ud) {
  struct copying *copying = ud;
  const struct component *component = component_of(world, item->id);
  ecs_id copy = world->clone->ids[item->place], id = item->id, target = ECS_NULL;
  struct write *writes = world->writes;
  uint32_t count = component->leaf_count;
  for (uint32_t i = 0; i < count; i++) {
    ecs_type type = component->leaves[i].type;
    ecs_cell cell = clone_cell_of(item, i);
    if (type == ECS_ENTITY) cell.u64 = clone_copy_of(world, cell.u64);
    if (type == ECS_ANY && cell.u32) cell.u32 = world->clone->slots[copying->slots++];
    writes[i] = (struct write){i, cell};
  }
  if (component->ties.exclusive)
    writes[TARGET_LEAF].cell.u64 = clone_target_now(world, copying, item, component);
  if (id_is_pair(id)) {
    target = clone_copy_of(world, entity_id_any(&world->entities, pair_target(id)));
    id = pair_make(pair_relation(id), ecs_id_index(target));
  }
  ecs_status status = command_stage_pair(world, COMMAND_SET, copy, id, target, writes, count);
  assert(status == ECS_OK);
  if (toggle_is_off(item->table, item->id, item->row))
    status = command_stage(world, COMMAND_DISABLE, copy, id, NULL, 0);
  return status;
}

/* Stages what ties a copy to its original, and whether it is a prefab. */
static ecs_status clone_stage_marks(ecs_world *world, uint32_t place) {
  const struct clone *clone = world->clone;
  if (clone->kind == CLONE_PLAIN) return ECS_OK;
  ecs_id source = entity_id(&world->entities, clone->sources[place]);
  struct write tie = {TARGET_LEAF, {.u64 = source}};
  ecs_status status = command_stage(world, COMMAND_SET, clone->ids[place],
                                    world->relations.is_a->component->id, &tie, 1);
  if (status != ECS_OK || clone->kind != CLONE_PREFAB) return status;
  return prefab_mark(world, clone->ids[place]);
}

static ecs_status clone_stage(ecs_world *world, struct copying *copying) {
  const struct clone *clone = world->clone;
  ecs_status status = clone_reserve(world, copying->parts, copying->part_count);
  if (status == ECS_OK) status = clone_take(world);
  for (uint32_t i = 0; i < clone->count && status == ECS_OK; i++) {
    status = command_stage(world, COMMAND_SPAWN, clone->ids[i], ECS_NULL, NULL, 0);
    if (status == ECS_OK) status = clone_stage_marks(world, i);
    if (status == ECS_OK) status = clone_each_item(world, i, clone_stage_item, copying);
    for (uint32_t j = 0; i == 0 && j < copying->part_count && status == ECS_OK; j++)
      status = spawn_stage_part(world, clone->ids[0], &copying->parts[j],
                                copying->parts[j].writes);
    assert(status == ECS_OK);
  }
  return status;
}

ecs_status clone_make(ecs_world *world, const struct part *parts, uint32_t count, ecs_id *out) {
  struct copying copying = {parts, count, 0};
  assert(world->clone->count > 0);
  uint32_t scope;
  ecs_status status = scope_open_own(world, &scope);
  if (status != ECS_OK) return status;
  status = scope_end_own(world, scope, clone_stage(world, &copying));
  if (status == ECS_OK) *out = world->clone->ids[0];
  return status;
}

void clone_free(ecs_world *world) {
  struct clone *clone = world->clone;
  struct memory *memory = &world->memory;
  if (!clone) return;
  FREE_LIST(memory, clone->sources, clone->capacity);
  FREE_LIST(memory, clone->ids, clone->id_capacity);
  FREE_LIST(memory, clone->slots, clone->slot_capacity);
  map_free(memory, &clone->places);
  memory_free(memory, clone, sizeof *clone);
  world->clone = NULL;
}

ecs_status clone_with(ecs_world *world, ecs_id entity, enum clone_kind kind,
                      const ecs_id *components, size_t n, ecs_id *out) {
  struct part *parts = NULL;
  ecs_status status = clone_find(world, entity, kind);
  if (status == ECS_OK) status = spawn_parts_of(world, components, n, &parts);
  if (status != ECS_OK) return status;
  clone_without_any(world);
  return world_tell_observers(world, clone_make(world, parts, (uint32_t)n, out));
}

ecs_status ecs_clone(ecs_world *world, ecs_id entity, const ecs_id *components, size_t n,
                     ecs_id *out) {
  return clone_with(world, entity, CLONE_PLAIN, components, n, out);
}
