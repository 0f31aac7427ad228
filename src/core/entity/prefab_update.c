#include "core/entity/prefab.h"

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/command/command.h"
#include "core/entity/clone.h"
#include "core/entity/entity.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"

/* ---- the plan of a declaration ---- */

static uint32_t prefab_plan_parent_of(const ecs_world *world, uint32_t entity) {
  return ties_target(&world->relations.child_of->ties, entity);
}

/* In `names`: the key of a name among the children of a node, or for NONE among nodes with is_a. */
static uint64_t prefab_plan_key(ecs_string name, uint32_t parent) {
  return text_hash(name.data, name.size) | (uint64_t)parent << 32;
}

/* Makes a node the last one of a key. Returns the one before it, or NONE. */
static uint32_t prefab_plan_enter(struct prefab_plan *plan, uint64_t key, uint32_t at) {
  uint32_t before = map_get(&plan->names, key);
  map_put(&plan->names, key, at);
  return before;
}

ecs_status plan_add(ecs_world *world, struct prefab_plan *plan, const struct prefab_node *node) {
  struct memory *memory = &world->memory;
  uint64_t count = plan->count + 1ull;
  if (!GROW(memory, plan->nodes, plan->node_capacity, count) ||
      !GROW(memory, plan->made, plan->made_capacity, count) ||
      !map_reserve(memory, &plan->names, 2) ||
      !map_reserve(memory, &plan->ids, count - plan->ids.count))
    return world_nomem(world);
  uint32_t at = plan->count++;
  struct plan_made made = {ECS_NULL, ECS_NULL, PLAN_MADE, NONE, NONE, 0};
  if (at && node->name.size) {
    made.alike = prefab_plan_enter(plan, prefab_plan_key(node->name, node->parent), at);
    if (node->is_a != ECS_NULL)
      made.led = prefab_plan_enter(plan, prefab_plan_key(node->name, NONE), at);
  }
  plan->nodes[at] = *node;
  plan->made[at] = made;
  return ECS_OK;
}

void plan_free(ecs_world *world, struct prefab_plan *plan) {
  struct memory *memory = &world->memory;
  FREE_LIST(memory, plan->nodes, plan->node_capacity);
  FREE_LIST(memory, plan->made, plan->made_capacity);
  FREE_LIST(memory, plan->copies, plan->copy_capacity);
  map_free(memory, &plan->names);
  map_free(memory, &plan->ids);
}

static uint32_t prefab_plan_named_from(const struct prefab_plan *plan, uint32_t at,
                                       uint32_t parent, ecs_string name) {
  while (at != NONE &&
         (plan->nodes[at].parent != parent || !text_same(plan->nodes[at].name, name)))
    at = plan->made[at].alike;
  return at;
}

uint32_t plan_named(const struct prefab_plan *plan, uint32_t parent, ecs_string name) {
  if (name.size == 0) return NONE;
  uint32_t last = map_get(&plan->names, prefab_plan_key(name, parent));
  return prefab_plan_named_from(plan, last, parent, name);
}

bool plan_is_named_again(const struct prefab_plan *plan, uint32_t at) {
  const struct prefab_node *node = &plan->nodes[at];
  return prefab_plan_named_from(plan, plan->made[at].alike, node->parent, node->name) != NONE;
}

/* Whether the path down from the node has the same names as that from the entity. */
static bool prefab_plan_is_counterpart(const ecs_world *world, const struct plan_taking *taking,
                                       uint32_t node, uint32_t child) {
  const struct prefab_plan *plan = taking->plan;
  while (node != taking->at && child != taking->base) {
    ecs_string name = name_of(world, entity_id(&world->entities, child));
    if (!node || !child || name.size == 0 || !text_same(name, plan->nodes[node].name))
      return false;
    node = plan->nodes[node].parent;
    child = prefab_plan_parent_of(world, child);
  }
  return node == taking->at && child == taking->base;
}

bool plan_leaves_out(const ecs_world *world, uint32_t child, const void *ud) {
  const struct plan_taking *taking = ud;
  const struct prefab_plan *plan = taking->plan;
  ecs_string name = name_of(world, entity_id(&world->entities, child));
  uint32_t at = name.size ? map_get(&plan->names, prefab_plan_key(name, NONE)) : NONE;
  for (; at != NONE; at = plan->made[at].led)
    if (ecs_id_index(plan->nodes[at].is_a) != child &&
        prefab_plan_is_counterpart(world, taking, at, child))
      return true;
  return false;
}

/* The part of a component that is not a relation, in a node; or NULL. */
static const struct part *plan_part(const struct prefab_node *node, ecs_id id) {
  for (uint32_t i = 0; i < node->part_count; i++)
    if (node->parts[i].component->id == id) return &node->parts[i];
  return NULL;
}

/* Whether a list has an id. */
static bool plan_lists(const ecs_id *ids, size_t count, ecs_id id) {
  for (size_t i = 0; i < count; i++)
    if (ids[i] == id) return true;
  return false;
}

ecs_status plan_note_copies(ecs_world *world, struct prefab_plan *plan, ecs_id parent) {
  const struct clone *clone = world->clone;
  if (!GROW(&world->memory, plan->copies, plan->copy_capacity,
            plan->copy_count + (uint64_t)clone->count))
    return world_nomem(world);
  for (uint32_t i = 0; i < clone->count; i++) {
    uint32_t source = clone->sources[i];
    ecs_id above =
        i ? clone->ids[map_get(&clone->places, prefab_plan_parent_of(world, source))]
          : parent;
    plan->copies[plan->copy_count++] = (struct prefab_copy){clone->ids[i], above, source};
  }
  return ECS_OK;
}

void plan_give(struct prefab_plan *plan, uint32_t at, ecs_id entity) {
  plan->made[at].id = entity;
  if (entity != ECS_NULL && map_get(&plan->ids, entity) == NONE) map_put(&plan->ids, entity, at);
}

uint32_t plan_find(const struct prefab_plan *plan, ecs_id entity) {
  return entity != ECS_NULL ? map_get(&plan->ids, entity) : NONE;
}

static const struct prefab_copy *prefab_plan_find_copy(const struct prefab_plan *plan,
                                                       ecs_id entity) {
  for (uint32_t i = 0; i < plan->copy_count; i++)
    if (plan->copies[i].id == entity) return &plan->copies[i];
  return NULL;
}

/* The future base of an entity, or 0. */
static uint32_t prefab_plan_base_of(const ecs_world *world,
                                    const struct prefab_plan *plan, ecs_id entity) {
  uint32_t node = plan_find(plan, entity);
  const struct prefab_copy *copy = prefab_plan_find_copy(plan, entity);
  if (node != NONE) return ecs_id_index(plan->made[node].base);
  return copy ? copy->source : ties_target(&world->relations.is_a->ties, ecs_id_index(entity));
}

/* Whether a node exists because of its parent's base, which has a child of the same name, or one
** without a name that is made again. */
static bool prefab_plan_is_inherited(const ecs_world *world, const struct prefab_plan *plan,
                                     uint32_t at) {
  const struct prefab_node *node = &plan->nodes[at];
  return node->is_a == ECS_NULL || text_same(node->name, name_of(world, node->is_a));
}

/* The future parent of an entity that is a child's counterpart in a base; or ECS_NULL. */
static ecs_id prefab_plan_parent_to_be(const ecs_world *world, const struct prefab_plan *plan,
                                       ecs_id entity) {
  uint32_t node = plan_find(plan, entity);
  const struct prefab_copy *copy = prefab_plan_find_copy(plan, entity);
  if (node != NONE)
    return node && prefab_plan_is_inherited(world, plan, node)
               ? plan->made[plan->nodes[node].parent].id
               : ECS_NULL;
  return copy ? copy->parent : ECS_NULL;
}

/* The parent's child whose future base is `source`; or ECS_NULL. */
static ecs_id prefab_plan_child_for(const ecs_world *world, const struct prefab_plan *plan,
                                    ecs_id parent, uint32_t source) {
  for (uint32_t i = 1; i < plan->count; i++)
    if (plan->made[plan->nodes[i].parent].id == parent &&
        ecs_id_index(plan->made[i].base) == source && prefab_plan_is_inherited(world, plan, i))
      return plan->made[i].id;
  for (uint32_t i = 0; i < plan->copy_count; i++)
    if (plan->copies[i].parent == parent && plan->copies[i].source == source)
      return plan->copies[i].id;
  uint32_t child = prefab_child_made_of(world, ecs_id_index(parent), source);
  ecs_id id = child ? entity_id(&world->entities, child) : ECS_NULL;
  return plan_find(plan, id) == NONE ? id : ECS_NULL;
}

/* Where an entity's reference leads, given where its base's leads: as in copies, to the entity of
** its own tree whose base is the base's target; if there is none, to that target itself. */
static ecs_id plan_led_to(const ecs_world *world, const struct prefab_plan *plan, ecs_id entity,
                          ecs_id id) {
  const struct ties *child_of = &world->relations.child_of->ties;
  uint32_t top = prefab_plan_base_of(world, plan, entity), above;
  ecs_id target = entity_target(world, id), parent;
  if (target == ECS_NULL) return id;
  while ((above = prefab_plan_parent_of(world, top)) != 0 &&
         (parent = prefab_plan_parent_to_be(world, plan, entity)) != ECS_NULL &&
         prefab_plan_base_of(world, plan, parent) == above) {
    entity = parent;
    top = above;
  }
  uint32_t depth = ties_steps(child_of, ecs_id_index(target), top);
  if (depth == NONE) return id;
  for (; depth > 0 && entity != ECS_NULL; depth--)
    entity = prefab_plan_child_for(world, plan, entity,
                                   ties_walk(child_of, ecs_id_index(target), depth - 1));
  return entity != ECS_NULL ? entity : id;
}

/* ---- ties ---- */

/* Whether a tie is one that copies do not take over, or not unchanged. */
static bool prefab_ties_is_structure(const ecs_world *world, const struct relation *relation) {
  const struct relations *known = &world->relations;
  return relation == known->child_of || relation == known->is_a || relation == known->prefab;
}

/* The target of a node's exclusive relation, or `target` if the node has none. */
static ecs_id prefab_ties_said_target(const struct prefab_node *node,
                                      const struct relation *relation, ecs_id target) {
  for (uint32_t i = 0; i < node->part_count; i++)
    if (node->parts[i].component == relation->component) target = part_target(&node->parts[i]);
  return target;
}

/* Whether a node lists a tie; for an exclusive relation, to any target. */
static bool prefab_ties_is_said(const struct prefab_node *node, const struct relation *relation,
                                ecs_id target) {
  for (uint32_t i = 0; i < node->part_count; i++)
    if (node->parts[i].component == relation->component &&
        (relation->exclusive || node->parts[i].target == target))
      return true;
  return false;
}

/* The target of a base's tie, given as an id of its table. */
static ecs_id prefab_ties_base_target(const ecs_world *world, const struct relation *relation,
                                      ecs_id base, ecs_id id) {
  return relation->exclusive ? relation_target(world, relation, ecs_id_index(base))
                             : entity_id_any(&world->entities, pair_target(id));
}

/* The tie of an entity's base that corresponds to a tie to the target, or for an exclusive relation
** to any; or ECS_NULL. */
static ecs_id base_tie(const ecs_world *world, const struct prefab_plan *plan, uint32_t at,
                       const struct relation *relation, ecs_id target) {
  ecs_id base = plan->made[at].base;
  if (base == ECS_NULL) return ECS_NULL;
  const struct table *table = record_table(world, entity_find(&world->entities, base));
  for (uint32_t i = 0; i < table->id_count; i++) {
    ecs_id id = table->ids[i];
    if (relation_of(world, id) != relation) continue;
    if (relation->exclusive ||
        plan_led_to(world, plan, plan->made[at].id,
                    prefab_ties_base_target(world, relation, base, id)) == target)
      return id;
  }
  return ECS_NULL;
}

/* Whether a node's entity keeps a tie that it has. */
static bool prefab_keeps_tie(const ecs_world *world, const struct prefab_plan *plan, uint32_t at,
                             const struct relation *relation, ecs_id id) {
  const struct relations *known = &world->relations;
  const struct prefab_node *node = &plan->nodes[at];
  ecs_id target = id_is_pair(id) ? entity_id_any(&world->entities, pair_target(id)) : ECS_NULL;
  if (relation == known->child_of || relation == known->is_a) return true;
  uint32_t to = id_is_pair(id) ? pair_target(id)
                               : ties_target(&relation->ties, ecs_id_index(plan->made[at].id));
  if (node->partial && to >= FIRST_ENTITY) return true;
  if (relation == known->prefab)
    return target == relation->component->id ||
           plan_lists(node->shared, node->shared_count, target);
  return prefab_ties_is_said(node, relation, target) ||
         base_tie(world, plan, at, relation, target) != ECS_NULL;
}

/* The values of a tie that its node does not give, in the world's list: those of another tie, or
** defaults. Any values are not taken over. */
static struct write *prefab_ties_ground_of(ecs_world *world, const struct prefab_plan *plan,
                                           ecs_id entity, const struct component *component,
                                           ecs_id base, ecs_id id) {
  struct cells_row cells;
  if (!GROW(&world->memory, world->writes, world->write_capacity, component->leaf_count + 1ull))
    return NULL;
  struct write *writes = world->writes;
  bool copied = id != ECS_NULL && cells_find(world, base, id, &cells);
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    writes[i] = (struct write){i, leaf->value};
    if (!copied || leaf->type == ECS_ANY) continue;
    const struct column *column = &cells.columns[i];
    writes[i].cell = cell_load(column->data, column->size, cells.row);
    if (leaf->type == ECS_ENTITY)
      writes[i].cell.u64 = plan_led_to(world, plan, entity, writes[i].cell.u64);
  }
  return writes;
}

/* Stages a tie with the values of prefab_ties_ground_of; `id` is that of the base's tie. */
static ecs_status prefab_ties_stage_ground(ecs_world *world, const struct prefab_plan *plan,
                                           ecs_id entity, const struct relation *relation,
                                           ecs_id target, ecs_id base, ecs_id id) {
  const struct component *component = relation->component;
  struct write *writes = prefab_ties_ground_of(world, plan, entity, component, base, id);
  if (!writes) return world_nomem(world);
  if (relation->exclusive) {
    writes[TARGET_LEAF].cell.u64 = target;
    return command_stage(world, COMMAND_SET, entity, component->id, writes,
                         component->leaf_count);
  }
  return command_stage_pair(world, COMMAND_SET, entity,
                            pair_make(ecs_id_index(component->id), ecs_id_index(target)), target,
                            writes, component->leaf_count);
}

/* Where an exclusive relation of the entity will lead, as far as that is known. */
static ecs_id prefab_ties_wanted_target(const ecs_world *world, const struct prefab_plan *plan,
                                        uint32_t at, const struct relation *relation) {
  ecs_id base = plan->made[at].base, entity = plan->made[at].id;
  ecs_id now = relation_target(world, relation, ecs_id_index(entity));
  if (relation == world->relations.is_a) return base;
  if (relation == world->relations.child_of || plan->nodes[at].partial) return now;
  ecs_id led = base == ECS_NULL ? ECS_NULL : relation_target(world, relation, ecs_id_index(base));
  return prefab_ties_said_target(&plan->nodes[at], relation, plan_led_to(world, plan, entity, led));
}

ecs_status prefab_end_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at) {
  const struct relations *relations = &world->relations;
  ecs_id entity = plan->made[at].id;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < relations->count && status == ECS_OK; i++) {
    const struct relation *relation = relations->list[i];
    ecs_id now = relation->exclusive ? relation_target(world, relation, ecs_id_index(entity))
                                     : ECS_NULL;
    if (now == ECS_NULL || now == prefab_ties_wanted_target(world, plan, at, relation)) continue;
    status = command_stage_pair(world, COMMAND_REMOVE, entity, relation->component->id, ECS_NULL,
                                NULL, 0);
  }
  return status;
}

/* Stages the ties of the base, including those that the node lists, which override them. */
static ecs_status stage_base_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at) {
  ecs_id entity = plan->made[at].id, base = plan->made[at].base;
  if (base == ECS_NULL) return ECS_OK;
  const struct table *table = record_table(world, entity_find(&world->entities, base));
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < table->id_count && status == ECS_OK; i++) {
    ecs_id id = table->ids[i];
    const struct relation *relation = relation_of(world, id);
    if (!relation || prefab_ties_is_structure(world, relation)) continue;
    ecs_id target = plan_led_to(world, plan, entity,
                                prefab_ties_base_target(world, relation, base, id));
    if (relation->exclusive) target = prefab_ties_said_target(&plan->nodes[at], relation, target);
    status = prefab_ties_stage_ground(world, plan, entity, relation, target, base, id);
  }
  return status;
}

/* Stages the base values of ties that the node lists and the base lacks. */
static ecs_status stage_said_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at) {
  const struct prefab_node *node = &plan->nodes[at];
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < node->part_count && status == ECS_OK; i++) {
    const struct relation *relation = node->parts[i].component->relation;
    if (!relation) continue;
    ecs_id target = relation->exclusive ? part_target(&node->parts[i]) : node->parts[i].target;
    if (target == ECS_NULL || base_tie(world, plan, at, relation, target) != ECS_NULL) continue;
    status = prefab_ties_stage_ground(world, plan, plan->made[at].id, relation, target,
                                      ECS_NULL, ECS_NULL);
  }
  return status;
}

/* Stages the ties that a node's entity gets. */
static ecs_status prefab_stage_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at) {
  const struct prefab_node *node = &plan->nodes[at];
  ecs_id entity = plan->made[at].id;
  ecs_status status = node->partial ? ECS_OK : stage_base_ties(world, plan, at);
  if (status == ECS_OK && !node->partial) status = stage_said_ties(world, plan, at);
  for (uint32_t i = 0; i < node->part_count && status == ECS_OK; i++)
    if (node->parts[i].component->relation)
      status = spawn_stage_part(world, entity, &node->parts[i], node->parts[i].writes);
  if (status == ECS_OK) status = prefab_mark_shared(world, entity, node);
  const struct relation *is_a = world->relations.is_a;
  struct write tie = {TARGET_LEAF, {.u64 = plan->made[at].base}};
  if (status != ECS_OK || relation_target(world, is_a, ecs_id_index(entity)) == tie.cell.u64)
    return status;
  return command_stage(world, COMMAND_SET, entity, is_a->component->id, &tie, 1);
}

/* Redirects the ties of a staged copy as those of its source's tree lead or, for an exclusive
** relation, as its node says. */
static ecs_status prefab_lead_ties(ecs_world *world, const struct prefab_plan *plan,
                                   const struct prefab_copy *copy) {
  ecs_id source = entity_id(&world->entities, copy->source);
  const struct table *table = record_table(world, entity_record(&world->entities, copy->source));
  uint32_t at = plan_find(plan, copy->id);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < table->id_count && status == ECS_OK; i++) {
    ecs_id id = table->ids[i];
    const struct relation *relation = relation_of(world, id);
    if (!relation || prefab_ties_is_structure(world, relation)) continue;
    ecs_id target = prefab_ties_base_target(world, relation, source, id);
    ecs_id led = plan_led_to(world, plan, copy->id, target);
    if (relation->exclusive && at != NONE)
      led = prefab_ties_said_target(&plan->nodes[at], relation, led);
    if (led != target && !relation->exclusive)
      status = command_stage_pair(world, COMMAND_REMOVE, copy->id, id, target, NULL, 0);
    if (status == ECS_OK)
      status = prefab_ties_stage_ground(world, plan, copy->id, relation, led, source, id);
  }
  return status;
}

/* ---- followers ---- */

/* A prefab, or an entity made from it, while one leaf is updated. */
struct prefab_follower {
  bool goes;                     /* it follows */
  bool shares;                   /* it or an entity between shares an added component */
  ecs_cell old, wanted;          /* its old value, if it follows, and its new one */
};

struct update {
  ecs_world *world;
  const struct prefab_plan *plan;
  uint32_t at;                   /* the node */
  ecs_id entity;
  const struct prefab_node *node;
  ecs_id base;                   /* the base */
  const struct clone *made;      /* the prefab and its followers: all instances, or none; */
  struct prefab_follower *followers;    /* one for each of these: prefab_update_find_followers */
};

/* ---- the declaration ---- */

/* Whether an entity gets a component, not a relation, from its base. */
static bool prefab_update_inherits(const ecs_world *world, ecs_id base, ecs_id id) {
  return base != ECS_NULL && !relation_of(world, id) &&
         !prefab_shares(world, ecs_id_index(base), id);
}

static ecs_cell prefab_update_load(const struct cells_row *cells, uint32_t leaf) {
  const struct column *column = &cells->columns[leaf];
  return cell_load(column->data, column->size, cells->row);
}

/* Looks through the parent's children and the source's instances, whichever are fewer. */
uint32_t prefab_child_made_of(const ecs_world *world, uint32_t parent, uint32_t source) {
  const struct ties *child_of = &world->relations.child_of->ties;
  const struct ties *is_a = &world->relations.is_a->ties;
  uint32_t child = ties_first(child_of, parent), made = ties_first(is_a, source);
  uint32_t found = 0, all = 0;
  while (child && made && ties_target(is_a, child) != source) {
    if (ties_target(child_of, made) == parent && all++ == 0) found = made;
    child = ties_next(child_of, child);
    made = ties_next(is_a, made);
  }
  if (!made && all <= 1) return found;
  /* The first of several is the first one among the children. */
  while (child && ties_target(is_a, child) != source) child = ties_next(child_of, child);
  return child;
}

/* Where a follower's reference leads, given where that of its topmost base leads: as in copies, to
** the entity of its own tree whose source is that target. */
static ecs_id prefab_update_led_to(const ecs_world *world, uint32_t at, uint32_t top, ecs_id id) {
  const struct ties *child_of = &world->relations.child_of->ties;
  ecs_id target = entity_target(world, id);
  if (target == ECS_NULL) return id;
  while (prefab_inherits(world, at) && ties_target(&world->relations.is_a->ties, at) == top) {
    at = ties_target(child_of, at);
    top = ties_target(child_of, top);
  }
  uint32_t depth = ties_steps(child_of, ecs_id_index(target), top);
  if (depth == NONE) return id;
  for (; depth > 0 && at; depth--)
    at = prefab_child_made_of(world, at, ties_walk(child_of, ecs_id_index(target), depth - 1));
  return at ? entity_id(&world->entities, at) : id;
}

/* The new cell of a leaf: as given, as in the base, or its default. */
static ecs_cell prefab_update_wanted_cell(const struct update *u, const struct component *component,
                                          uint32_t leaf) {
  const ecs_world *world = u->world;
  const struct part *part = plan_part(u->node, component->id);
  struct cells_row cells;
  for (uint32_t i = part ? part->write_count : 0; i-- > 0;)
    if (part->writes[i].leaf == leaf) return part->writes[i].cell;
  bool copied = prefab_update_inherits(world, u->base, component->id) &&
                cells_find(world, u->base, component->id, &cells);
  if (!copied || component->leaves[leaf].type == ECS_ANY) return component->leaves[leaf].value;
  ecs_cell cell = prefab_update_load(&cells, leaf);
  if (component->leaves[leaf].type == ECS_ENTITY)
    cell.u64 = plan_led_to(world, u->plan, u->entity, cell.u64);
  return cell;
}

/* Inserts what having a relation requires into a set, as require_insert does. */
static uint32_t prefab_update_insert_required(const ecs_world *world, ecs_id *ids,
                                              uint32_t count, uint64_t room,
                                              const struct component *relation) {
  for (uint32_t i = 0; i < relation->require_count; i++)
    count = require_insert(world, ids, count, room, relation->requires[i]);
  return count;
}

/* Inserts what the future ties of the prefab require. */
static uint32_t prefab_update_insert_for_ties(const struct update *u, ecs_id *ids, uint32_t count,
                                              uint64_t room) {
  const ecs_world *world = u->world;
  const struct table *table = record_table(world, entity_find(&world->entities, u->entity));
  for (uint32_t i = 0; i < u->node->part_count; i++)
    if (u->node->parts[i].component->relation)
      count = prefab_update_insert_required(world, ids, count, room, u->node->parts[i].component);
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct relation *relation = relation_of(world, table->ids[i]);
    if (relation && prefab_keeps_tie(u->world, u->plan, u->at, relation, table->ids[i]))
      count = prefab_update_insert_required(world, ids, count, room, relation->component);
  }
  return count;
}

/* Lists all components of the prefab that are not relations, sorted, in scratch memory. */
static ecs_status prefab_update_wanted_ids(const struct update *u, ecs_id **ids, uint32_t *count) {
  ecs_world *world = u->world;
  ecs_id base = u->base, sparse = ECS_NULL;
  const struct table *table =
      base == ECS_NULL ? NULL : record_table(world, entity_find(&world->entities, base));
  uint64_t more = u->node->part_count + (table ? table->id_count : 0ull) + world->sparses.count;
  uint64_t room = require_room(world, 0, more);
  *ids = world_scratch(world, room);
  *count = 0;
  if (!*ids) return world_nomem(world);
  for (uint32_t i = 0; i < u->node->part_count; i++)
    if (!u->node->parts[i].component->relation)
      *count = require_insert(world, *ids, *count, room, u->node->parts[i].component->id);
  for (uint32_t i = 0; table && i < table->id_count; i++)
    if (prefab_update_inherits(world, base, table->ids[i]))
      *count = require_insert(world, *ids, *count, room, table->ids[i]);
  while (table && (sparse = sparse_next_id(world, ecs_id_index(base), sparse)) != ECS_NULL)
    if (prefab_update_inherits(world, base, sparse))
      *count = require_insert(world, *ids, *count, room, sparse);
  *count = prefab_update_insert_for_ties(u, *ids, *count, room);
  return ECS_OK;
}

/* Whether instances of the prefab will read the component along IsA. */
static bool prefab_update_will_share(const struct update *u, ecs_id id) {
  const struct prefab_node *node = u->node;
  return plan_lists(node->shared, node->shared_count, id) ||
         (u->base != ECS_NULL && prefab_shares(u->world, ecs_id_index(u->base), id));
}

/* ---- values ---- */

/* Finds the followers once something changes: most declarations on loading change nothing. */
static ecs_status prefab_update_find_followers(struct update *u) {
  ecs_world *world = u->world;
  const struct relation *family = u->at == 0 ? world->relations.is_a : NULL;
  if (u->followers) return ECS_OK;
  ecs_status status = clone_find_all(world, ecs_id_index(u->entity), family, NULL, NULL);
  if (status != ECS_OK) return status;
  u->made = world->clone;
  u->followers = memory_array(&world->memory, u->made->count, sizeof *u->followers);
  return u->followers ? ECS_OK : world_nomem(world);
}

static ecs_id prefab_update_made_id(const struct update *u, uint32_t i) {
  return entity_id(&u->world->entities, u->made->sources[i]);
}

static ecs_status prefab_update_stage_cell(const struct update *u, ecs_id entity,
                                           const struct component *component, uint32_t leaf,
                                           ecs_cell cell) {
  struct write write = {leaf, cell};
  return command_stage(u->world, COMMAND_SET, entity, component->id, &write, 1);
}

/* The place of a follower's base. */
static uint32_t prefab_update_place_above(const struct update *u, uint32_t i) {
  const struct ties *is_a = &u->world->relations.is_a->ties;
  return map_get(&u->made->places, ties_target(is_a, u->made->sources[i]));
}

/* Finds the old and new value of a follower, as far as known from its base. */
static void prefab_update_lead(const struct update *u, uint32_t i, ecs_type type) {
  uint32_t above = prefab_update_place_above(u, i), at = u->made->sources[i],
           top = u->made->sources[above];
  struct prefab_follower *follower = &u->followers[i];
  follower->old = u->followers[above].old;
  follower->wanted = u->followers[above].wanted;
  if (type != ECS_ENTITY) return;
  follower->old.u64 = prefab_update_led_to(u->world, at, top, follower->old.u64);
  follower->wanted.u64 = prefab_update_led_to(u->world, at, top, follower->wanted.u64);
}

/* Updates one leaf of a component that the prefab already has. */
static ecs_status update_leaf(struct update *u, const struct component *component,
                              uint32_t leaf, bool alone) {
  uint32_t size = component->leaves[leaf].size;
  struct cells_row cells;
  ecs_type type = component->leaves[leaf].type;
  if (u->node->partial && (type == ECS_ANY || type == ECS_ENTITY)) return ECS_OK;
  cells_find(u->world, u->entity, component->id, &cells);
  ecs_cell wanted = prefab_update_wanted_cell(u, component, leaf),
           old = prefab_update_load(&cells, leaf);
  if (cell_bits(size, old) == cell_bits(size, wanted)) return ECS_OK;
  alone |= type == ECS_ANY;
  ecs_status status = prefab_update_find_followers(u);
  if (status != ECS_OK) return status;
  u->followers[0] = (struct prefab_follower){true, false, old, wanted};
  status = prefab_update_stage_cell(u, u->entity, component, leaf, wanted);
  for (uint32_t i = 1; i < u->made->count && !alone && status == ECS_OK; i++) {
    struct prefab_follower *follower = &u->followers[i];
    ecs_id id = prefab_update_made_id(u, i);
    follower->goes = u->followers[prefab_update_place_above(u, i)].goes;
    if (!follower->goes) continue;
    prefab_update_lead(u, i, type);
    /* An instance follows while it still has the old value. */
    follower->goes = cells_find(u->world, id, component->id, &cells) &&
                     cell_bits(size, prefab_update_load(&cells, leaf)) ==
                         cell_bits(size, follower->old);
    if (follower->goes)
      status = prefab_update_stage_cell(u, id, component, leaf, follower->wanted);
  }
  return status;
}

/* Finds out whether a follower, or a prefab between it and this one, shares a component: its base
** comes before it. */
static void prefab_update_note_shared(const struct update *u, uint32_t i, ecs_id id) {
  ecs_id pair = pair_make(ecs_id_index(u->world->relations.prefab->component->id),
                          ecs_id_index(id));
  u->followers[i].shares = i && (u->followers[prefab_update_place_above(u, i)].shares ||
                                 entity_has(u->world, prefab_update_made_id(u, i), pair));
}

/* Adds a component to instances that lack it; only the prefab gets any values. */
static ecs_status prefab_update_add_below(struct update *u, const struct component *component) {
  ecs_status status = prefab_update_find_followers(u);
  if (status != ECS_OK) return status;
  uint32_t count = u->made->count;
  for (uint32_t i = 0; i < count; i++) prefab_update_note_shared(u, i, component->id);
  for (uint32_t i = 1; i < count && status == ECS_OK; i++) {
    ecs_id id = component->id;
    u->followers[i].goes = !entity_has(u->world, prefab_update_made_id(u, i), id) &&
                           !u->followers[prefab_update_place_above(u, i)].shares;
    if (u->followers[i].goes)
      status = command_stage(u->world, COMMAND_ADD, prefab_update_made_id(u, i), id, NULL, 0);
  }
  for (uint32_t leaf = 0; leaf < component->leaf_count && status == ECS_OK; leaf++) {
    ecs_type type = component->leaves[leaf].type;
    ecs_cell wanted = prefab_update_wanted_cell(u, component, leaf);
    u->followers[0] = (struct prefab_follower){true, false, wanted, wanted};
    for (uint32_t i = 1; i < count && type != ECS_ANY && status == ECS_OK; i++) {
      struct prefab_follower *follower = &u->followers[i];
      prefab_update_lead(u, i, type);
      if (follower->goes)
        status = prefab_update_stage_cell(u, prefab_update_made_id(u, i), component, leaf,
                                          follower->wanted);
    }
  }
  return status;
}

/* A component that is no longer shared counts as added. */
static ecs_status update_component(struct update *u, ecs_id id) {
  const ecs_world *world = u->world;
  const struct component *component = component_of(world, id);
  bool alone = prefab_update_will_share(u, id), has = entity_has(world, u->entity, id);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; has && i < component->leaf_count && status == ECS_OK; i++)
    status = update_leaf(u, component, i, alone);
  if (has && !prefab_shares(world, ecs_id_index(u->entity), id)) return status;
  if (!has) status = command_stage(u->world, COMMAND_ADD, u->entity, id, NULL, 0);
  for (uint32_t i = 0; !has && i < component->leaf_count && status == ECS_OK; i++)
    status = prefab_update_stage_cell(u, u->entity, component, i,
                                      prefab_update_wanted_cell(u, component, i));
  return status == ECS_OK && !alone ? prefab_update_add_below(u, component) : status;
}

/* ---- removed components and ties ---- */

static ecs_status prefab_update_drop(const struct update *u, const ecs_id *ids, uint32_t count) {
  ecs_world *world = u->world;
  const struct table *table = record_table(world, entity_find(&world->entities, u->entity));
  ecs_id sparse = ECS_NULL;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < table->id_count && status == ECS_OK; i++) {
    ecs_id id = table->ids[i], target = ECS_NULL;
    const struct relation *relation = relation_of(world, id);
    if (relation ? prefab_keeps_tie(world, u->plan, u->at, relation, id)
                 : plan_lists(ids, count, id))
      continue;
    if (id_is_pair(id)) target = entity_id_any(&world->entities, pair_target(id));
    status = command_stage_pair(world, COMMAND_REMOVE, u->entity, id, target, NULL, 0);
  }
  while (status == ECS_OK &&
         (sparse = sparse_next_id(world, ecs_id_index(u->entity), sparse)) != ECS_NULL)
    if (!plan_lists(ids, count, sparse))
      status = command_stage(world, COMMAND_REMOVE, u->entity, sparse, NULL, 0);
  return status;
}

/* ---- the whole update ---- */

ecs_status prefab_update(ecs_world *world, const struct prefab_plan *plan, uint32_t at) {
  struct update update = {world, plan, at, plan->made[at].id, &plan->nodes[at],
                          plan->made[at].base, NULL, NULL};
  ecs_id *ids;
  uint32_t id_count;
  ecs_status status = prefab_update_wanted_ids(&update, &ids, &id_count);
  for (uint32_t i = 0; i < id_count && status == ECS_OK; i++)
    status = update_component(&update, ids[i]);
  if (status == ECS_OK) status = prefab_update_drop(&update, ids, id_count);
  if (status == ECS_OK) status = prefab_stage_ties(world, plan, at);
  if (update.followers) FREE_LIST(&world->memory, update.followers, update.made->count);
  return status;
}

/* ---- copies ---- */

/* Redirects a copy's entity fields that refer to entities of its parent's base. */
static ecs_status prefab_update_lead_fields(ecs_world *world, const struct prefab_plan *plan,
                                            const struct prefab_copy *copy, ecs_id id) {
  const struct component *component = component_of(world, id);
  struct cells_row cells;
  ecs_status status = ECS_OK;
  if (!prefab_update_inherits(world, entity_id(&world->entities, copy->source), id)) return ECS_OK;
  if (!cells_find(world, entity_id(&world->entities, copy->source), id, &cells)) return ECS_OK;
  for (uint32_t i = 0; i < component->leaf_count && status == ECS_OK; i++) {
    if (component->leaves[i].type != ECS_ENTITY) continue;
    struct write write = {i, prefab_update_load(&cells, i)};
    ecs_id led = plan_led_to(world, plan, copy->id, write.cell.u64);
    if (led == write.cell.u64) continue;
    write.cell.u64 = led;
    status = command_stage(world, COMMAND_SET, copy->id, id, &write, 1);
  }
  return status;
}

ecs_status prefab_lead_copies(ecs_world *world, const struct prefab_plan *plan) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < plan->copy_count && status == ECS_OK; i++) {
    const struct prefab_copy *copy = &plan->copies[i];
    const struct table *table =
        record_table(world, entity_record(&world->entities, copy->source));
    ecs_id sparse = ECS_NULL;
    for (uint32_t j = 0; j < table->id_count && status == ECS_OK; j++)
      status = prefab_update_lead_fields(world, plan, copy, table->ids[j]);
    while (status == ECS_OK &&
           (sparse = sparse_next_id(world, copy->source, sparse)) != ECS_NULL)
      status = prefab_update_lead_fields(world, plan, copy, sparse);
    if (status == ECS_OK) status = prefab_lead_ties(world, plan, copy);
  }
  return status;
}
