#include "core/entity/prefab.h"

#include "core/base/column.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/table.h"

/* Whether a tie is one that copies do not take over, or take over in another way. */
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

bool prefab_keeps_tie(const ecs_world *world, const struct prefab_plan *plan, uint32_t at,
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
** defaults. Its any values are its own. */
static struct write *prefab_ties_ground_of(ecs_world *world, const struct prefab_plan *plan,
                                           ecs_id entity, const struct component *component,
                                           ecs_id base, ecs_id id) {
  struct cells_row cells;
  struct write *writes = memory_grow(&world->memory, world->writes, &world->write_capacity,
                                     component->leaf_count + 1ull, sizeof *writes);
  if (!writes) return NULL;
  world->writes = writes;
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

/* Stages a tie with these values; `id` is that of the base's tie. */
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

ecs_status prefab_stage_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at) {
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

ecs_status prefab_lead_ties(ecs_world *world, const struct prefab_plan *plan,
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
