#include "core/entity/prefab.h"

#include "core/base/sets.h"
#include "core/base/text.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/clone.h"
#include "core/entity/entity.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/table.h"
#include "ecs_entity.h"
#include "ecs_world.h"

/* ---- existing prefabs ---- */

bool prefab_is(const ecs_world *world, uint32_t entity) {
  if (LIKELY(!world->relations.prefab)) return false;
  const struct table *table = record_table(world, entity_record(&world->entities, entity));
  return table && table->hidden;
}

bool prefab_is_or_comes(const ecs_world *world, ecs_id entity) {
  const struct relation *prefab = world->relations.prefab;
  if (LIKELY(!prefab) || !ecs_alive(world, entity)) return false;
  uint32_t name = ecs_id_index(prefab->component->id);
  ecs_id mark = pair_make(name, name);
  return prefab_is(world, ecs_id_index(entity)) || command_is_staged(world, entity, mark);
}

/* Whether an entity has this name. Prefabs keep their names, so one made from another's child has a
** different name, or none. */
static bool prefab_is_called_as(const ecs_world *world, uint32_t child, uint32_t source) {
  if (!prefab_is(world, child)) return true;
  return text_same(name_of(world, entity_id(&world->entities, child)),
                   name_of(world, entity_id(&world->entities, source)));
}

/* Whether a child was inherited from its parent's base. */
static bool prefab_comes_with(const ecs_world *world, uint32_t child, uint32_t base) {
  uint32_t source = ties_target(&world->relations.is_a->ties, child);
  return base && source && ties_target(&world->relations.child_of->ties, source) == base &&
         prefab_is(world, source) && prefab_is_called_as(world, child, source);
}

bool prefab_inherits(const ecs_world *world, uint32_t child) {
  uint32_t parent = ties_target(&world->relations.child_of->ties, child);
  return prefab_comes_with(world, child, ties_target(&world->relations.is_a->ties, parent));
}

bool prefab_shares(const ecs_world *world, uint32_t entity, ecs_id component) {
  const struct relations *relations = &world->relations;
  if (!relations->prefab || id_is_pair(component)) return false;
  ecs_id pair = pair_make(ecs_id_index(relations->prefab->component->id),
                          ecs_id_index(component));
  if (!graph_record(world, pair)) return false;   /* no prefab shares it */
  for (uint32_t at = entity; at;
       at = relations->is_a ? ties_target(&relations->is_a->ties, at) : 0)
    if (entity_has(world, entity_id(&world->entities, at), pair)) return true;
  return false;
}

ecs_status prefab_need_id(const ecs_world *world, ecs_id id) {
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  if (prefab_is(world, ecs_id_index(id))) return ECS_OK;
  char step[128];
  relation_tell_step(world, ecs_id_index(id), step, sizeof step);
  return world_fail(world, ECS_EINVAL, "%s is an entity, not a prefab: copy it with clone(entity)",
                    step);
}

ecs_status prefab_need(const ecs_world *world, const char *path, size_t size, ecs_id *out) {
  ecs_string text = {path, size};
  *out = name_lookup(world, path, size);
  if (*out != ECS_NULL && prefab_is(world, ecs_id_index(*out))) return ECS_OK;
  if (*out != ECS_NULL && prefab_is_or_comes(world, *out))
    return world_fail(world, ECS_EBUSY, "prefab '%.*s' does not exist until the scope that "
                      "declares it ends: use it after that", SHOW(text));
  if (*out != ECS_NULL) return prefab_need_id(world, *out);
  struct nearest nearest;
  nearest_begin(&nearest, path, size);
  for (uint32_t i = 0; i < world->names.count; i++) {
    const struct name *name = &world->names.names[i];
    if (name->parent == 0 && prefab_is(world, ecs_id_index(name->entity)))
      nearest_offer(&nearest, name->text, name->size);
  }
  return world_fail(world, ECS_ENAME, "there is no prefab '%.*s'%s", SHOW(text),
                    nearest_hint(&nearest));
}

ecs_status prefab_refuse(const ecs_world *world, uint32_t entity) {
  char step[128];
  relation_tell_step(world, entity, step, sizeof step);
  return world_fail(world, ECS_EINVAL, "%s is a prefab, which cannot be despawned", step);
}

/* ---- marks ---- */

static ecs_status prefab_mark_with(ecs_world *world, ecs_id entity, ecs_id target) {
  uint32_t relation = ecs_id_index(world->relations.prefab->component->id);
  ecs_id pair = pair_make(relation, ecs_id_index(target));
  if (entity_has(world, entity, pair)) return ECS_OK;
  return command_stage_pair(world, COMMAND_SET, entity, pair, target, NULL, 0);
}

ecs_status prefab_mark(ecs_world *world, ecs_id entity) {
  return prefab_mark_with(world, entity, world->relations.prefab->component->id);
}

ecs_status prefab_mark_shared(ecs_world *world, ecs_id entity, const struct prefab_node *node) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < node->shared_count && status == ECS_OK; i++)
    status = prefab_mark_with(world, entity, node->shared[i]);
  return status;
}

/* ---- new ones ---- */

/* Makes an entity from its base, a prefab; any values of the base stay with it. */
static ecs_status prefab_derive(ecs_world *world, const struct prefab_plan *plan, uint32_t at,
                                ecs_id *out) {
  const struct prefab_node *node = &plan->nodes[at];
  struct plan_taking taking = {plan, at, ecs_id_index(node->is_a)};
  ecs_status status = clone_find_but(world, node->is_a, CLONE_PREFAB, plan_leaves_out, &taking);
  if (status != ECS_OK) return status;
  clone_without_any(world);
  return clone_make(world, node->parts, node->part_count, out);
}

static ecs_status prefab_stage_parent(ecs_world *world, ecs_id entity, ecs_id parent) {
  struct write tie = {TARGET_LEAF, {.u64 = parent}};
  return command_stage(world, COMMAND_SET, entity, world->relations.child_of->component->id,
                       &tie, 1);
}

/* The first node has no parent. */
static ecs_status prefab_make(ecs_world *world, const struct prefab_plan *plan, uint32_t at,
                              ecs_id parent, ecs_id *out) {
  const struct prefab_node *node = &plan->nodes[at];
  ecs_status status = node->is_a != ECS_NULL
                          ? prefab_derive(world, plan, at, out)
                          : entity_spawn(world, node->parts, node->part_count, out);
  if (status == ECS_OK && node->is_a == ECS_NULL) status = prefab_mark(world, *out);
  if (status == ECS_OK) status = prefab_mark_shared(world, *out, node);
  if (status == ECS_OK && parent == ECS_NULL)
    status = name_put(world, *out, node->name.data, node->name.size);
  if (status != ECS_OK || parent == ECS_NULL) return status;
  status = prefab_stage_parent(world, *out, parent);
  if (status == ECS_OK && node->name.size)
    status = name_await(world, *out, ecs_id_index(parent), node->name);
  return status;
}

/* ---- declarations ---- */

/* Refuses impossible nodes; then declares the built-in relations. */
static ecs_status prefab_check_node(const ecs_world *world,
                                    const struct prefab_node *node, bool first) {
  ecs_string name = node->name;
  if (name.size && memchr(name.data, '.', name.size))
    return world_fail(world, ECS_EINVAL, "the name '%.*s' has a dot, which separates names in a "
                      "path", SHOW(name));
  if (first && name.size == 0)
    return world_fail(world, ECS_EINVAL, "a prefab needs a name");
  ecs_status status = node->is_a == ECS_NULL ? ECS_OK : prefab_need_id(world, node->is_a);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < node->part_count; i++) {
    const struct component *component = node->parts[i].component;
    const struct relation *relation = component->relation;
    if (relation && (relation == world->relations.child_of || relation == world->relations.is_a))
      return world_fail(world, ECS_EINVAL, "prefab '%.*s' cannot have '%s' as a component; write "
                        "children = { ... } or is_a = name", SHOW(name), component->name);
    for (uint32_t j = 0; j < i && !relation; j++)
      if (node->parts[j].component == component)
        return world_fail(world, ECS_EINVAL, "prefab '%.*s': component '%s' is given twice",
                          SHOW(name), component->name);
  }
  return ECS_OK;
}

/* The prefab that already has the name; ECS_NULL for a new one. */
static ecs_status prefab_find_known(const ecs_world *world, ecs_string name, ecs_id *known) {
  *known = name_find(world, 0, name.data, name.size);
  if (*known == ECS_NULL && component_find(world, name.data, name.size))
    return world_fail(world, ECS_ETAKEN, "prefab '%.*s': a component, tag or relation has this "
                      "name, and ties and terms would mean that: give the prefab another name",
                      SHOW(name));
  ecs_id coming = name_to_come(world, name);
  if (coming != ECS_NULL)
    return world_fail(world, ECS_ETAKEN, "the name '%.*s' will belong to "
                      "entity " SHOW_ID " when the scope ends", SHOW(name), coming);
  if (*known == ECS_NULL) return ECS_OK;
  if (!prefab_is(world, ecs_id_index(*known)))
    return world_fail(world, ECS_ETAKEN, "the name '%.*s' belongs to entity " SHOW_ID, SHOW(name),
                      *known);
  if (!staging_is_open(&world->staging)) return ECS_OK;
  return world_fail(world, ECS_EBUSY, "prefab '%.*s' cannot be declared again inside a system, "
                    "loop or defer", SHOW(name));
}

/* The existing child of a node; ECS_NULL for a new one. Nodes without a name get those without one
** in turn. */
static ecs_id prefab_find_child(const ecs_world *world, struct prefab_plan *plan, uint32_t at,
                                ecs_id parent) {
  const struct ties *ties = &world->relations.child_of->ties;
  ecs_string name = plan->nodes[at].name;
  uint32_t index = ecs_id_index(parent), *last = &plan->made[plan->nodes[at].parent].last;
  if (name.size) return name_find(world, index, name.data, name.size);
  if (*last == NONE) return ECS_NULL;
  uint32_t child = *last ? ties_next(ties, *last) : ties_first(ties, index);
  while (child && (!prefab_is(world, child) || prefab_inherits(world, child) ||
                   name_of(world, entity_id(&world->entities, child)).size))
    child = ties_next(ties, child);
  *last = child ? child : NONE;
  return child ? entity_id(&world->entities, child) : ECS_NULL;
}

/* The former base of an existing entity. */
static ecs_id prefab_old_base(const ecs_world *world, ecs_id entity) {
  return relation_target(world, world->relations.is_a, ecs_id_index(entity));
}

/* The base of a child, found by its name in its parent's base. */
static ecs_id prefab_base_by_name(const ecs_world *world, const struct prefab_plan *plan,
                                  uint32_t at) {
  const struct prefab_node *node = &plan->nodes[at];
  ecs_id above = at ? plan->made[node->parent].base : ECS_NULL;
  if (above == ECS_NULL || node->name.size == 0) return ECS_NULL;
  return name_find(world, ecs_id_index(above), node->name.data, node->name.size);
}

/* Whether an entity's bases include the declared prefab or one of its children. */
static bool prefab_leads_back(const ecs_world *world, const struct prefab_plan *plan,
                              uint32_t entity) {
  const struct relations *relations = &world->relations;
  uint32_t declared = ecs_id_index(plan->made[0].id);
  uint32_t base = ties_target(&relations->is_a->ties, entity);
  while (base && ties_steps(&relations->child_of->ties, base, declared) == NONE)
    base = ties_target(&relations->is_a->ties, base);
  return base != 0;
}

/* Adds a child of a prefab's base, unless it is there. Fails for prefabs based on each other, which
** would not end. */
static ecs_status prefab_bring_child(ecs_world *world, struct prefab_plan *plan, uint32_t at,
                                     uint32_t source) {
  ecs_id entity = plan->made[at].id, from = entity_id(&world->entities, source), copy;
  struct plan_taking taking = {plan, at, ecs_id_index(plan->made[at].base)};
  ecs_string name = name_of(world, from);
  uint32_t index = ecs_id_index(entity);
  /* The base's child may have a counterpart: by name or, without one, by base. */
  bool there = name.size ? name_find(world, index, name.data, name.size) != ECS_NULL
                         : prefab_child_made_of(world, index, source) != 0;
  if (there || plan_leaves_out(world, source, &taking) || prefab_leads_back(world, plan, source))
    return ECS_OK;
  ecs_status status = clone_find_but(world, from, CLONE_PREFAB, plan_leaves_out, &taking);
  if (status != ECS_OK) return status;
  clone_without_any(world);
  status = clone_make(world, NULL, 0, &copy);
  if (status == ECS_OK) status = plan_note_copies(world, plan, entity);
  if (status == ECS_OK) status = prefab_stage_parent(world, copy, entity);
  if (status != ECS_OK || name.size == 0) return status;
  return name_await(world, copy, index, name);
}

/* An unlisted child named like a child of its parent's new base gets that child as base, as if it
** were listed without anything else. */
static ecs_status prefab_imply_child(ecs_world *world, struct prefab_plan *plan, uint32_t at,
                                     uint32_t source) {
  struct prefab_node node = {.parent = at};
  node.name = name_of(world, entity_id(&world->entities, source));
  if (node.name.size == 0) {
    uint32_t made = prefab_child_made_of(world, ecs_id_index(plan->made[at].id), source);
    ecs_id id = made ? entity_id(&world->entities, made) : ECS_NULL;
    if (id == ECS_NULL || !prefab_is(world, made) || plan_find(plan, id) < plan->given)
      return ECS_OK;
    ecs_status status = plan_add(world, plan, &node);
    if (status != ECS_OK) return status;
    plan_give(plan, plan->count - 1, id);
    plan->made[plan->count - 1].base = entity_id(&world->entities, source);
    return ECS_OK;
  }
  if (plan_named(plan, at, node.name) != NONE) return ECS_OK;
  ecs_id child = name_find(world, ecs_id_index(plan->made[at].id), node.name.data, node.name.size);
  bool there = child != ECS_NULL && prefab_is(world, ecs_id_index(child));
  return there ? plan_add(world, plan, &node) : ECS_OK;
}

/* An existing entity gets the children of its new base. A partial node whose base stays the same
** keeps the children that it has. */
static ecs_status prefab_bring_children(ecs_world *world, struct prefab_plan *plan, uint32_t at) {
  const struct ties *ties = &world->relations.child_of->ties;
  ecs_id base = plan->made[at].base;
  ecs_status status = ECS_OK;
  bool partial = plan->nodes[at].partial;
  if (base == ECS_NULL || (partial && base == prefab_old_base(world, plan->made[at].id)))
    return ECS_OK;
  uint32_t child = ties_first(ties, ecs_id_index(base));
  for (; child && status == ECS_OK; child = ties_next(ties, child)) {
    if (!prefab_is(world, child)) continue;
    if (!partial) status = prefab_imply_child(world, plan, at, child);
    if (status == ECS_OK) status = prefab_bring_child(world, plan, at, child);
  }
  return status;
}

/* Finds or makes a node's entity, and finds its base. */
static ecs_status prefab_declare_node(ecs_world *world, struct prefab_plan *plan, uint32_t at,
                                      ecs_id known) {
  const struct prefab_node *node = &plan->nodes[at];
  ecs_id parent = at ? plan->made[node->parent].id : ECS_NULL;
  if (plan->made[at].id != ECS_NULL) {
    plan->made[at].way = PLAN_CHANGED;
    return prefab_bring_children(world, plan, at);
  }
  plan->made[at].base = node->is_a;
  ecs_id entity = at ? prefab_find_child(world, plan, at, parent) : known;
  if (entity == ECS_NULL) {
    ecs_status status = prefab_make(world, plan, at, parent, &entity);
    plan_give(plan, at, entity);
    return status;
  }
  plan_give(plan, at, entity);
  uint32_t index = ecs_id_index(entity);
  if (entity_record(&world->entities, index)->table == RECORD_BARE) {
    plan->made[at].base = prefab_base_by_name(world, plan, at);
    plan->made[at].way = PLAN_COPIED;
    return ECS_OK;
  }
  if (!prefab_is(world, index))
    return world_fail(world, ECS_ETAKEN, "the name '%.*s' belongs to entity " SHOW_ID ", a child "
                      "of prefab '%.*s'", SHOW(node->name), plan->made[at].id,
                      SHOW(plan->nodes[0].name));
  /* Its future base: as its node says; for a child, possibly from its parent's future base. */
  if (node->keeps_base)
    plan->made[at].base = prefab_old_base(world, plan->made[at].id);
  else if (node->is_a == ECS_NULL && !node->partial)
    plan->made[at].base = prefab_base_by_name(world, plan, at);
  plan->made[at].way = PLAN_CHANGED;
  return prefab_bring_children(world, plan, at);
}

/* Drops children that are no longer among the nodes and not inherited. */
static ecs_status prefab_drop_children(ecs_world *world, const struct prefab_plan *plan) {
  const struct ties *ties = &world->relations.child_of->ties;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < plan->count; i++) {
    uint32_t base = ecs_id_index(plan->made[i].base);
    uint32_t child = ties_first(ties, ecs_id_index(plan->made[i].id));
    for (; child && status == ECS_OK; child = ties_next(ties, child)) {
      ecs_id id = entity_id(&world->entities, child);
      bool stays = !prefab_is(world, child) || prefab_comes_with(world, child, base) ||
                   plan_find(plan, id) != NONE;
      if (!stays) status = command_stage(world, COMMAND_DESPAWN, id, ECS_NULL, NULL, 0);
    }
  }
  return status;
}

/* Orders children as new ones would be: first inherited ones, in the order of the base, then the
** listed ones. */
static void prefab_order_children(ecs_world *world, const struct prefab_plan *plan) {
  struct ties *ties = &world->relations.child_of->ties;
  for (uint32_t i = 0; i < plan->count; i++) {
    uint32_t parent = ecs_id_index(plan->made[i].id), base = ecs_id_index(plan->made[i].base);
    for (uint32_t source = ties_first(ties, base); source; source = ties_next(ties, source)) {
      uint32_t child = prefab_child_made_of(world, parent, source);
      if (child && prefab_comes_with(world, child, base)) ties_retie(ties, child, parent);
    }
  }
  for (uint32_t i = 1; i < plan->given; i++) {
    const struct plan_made *above = &plan->made[plan->nodes[i].parent];
    uint32_t child = ecs_id_index(plan->made[i].id);
    if (plan->nodes[i].name.size == 0 ||
        !prefab_comes_with(world, child, ecs_id_index(above->base)))
      ties_retie(ties, child, ecs_id_index(above->id));
  }
}

/* Whether a node's bases have a component. */
static bool prefab_base_has(const ecs_world *world, ecs_id base, ecs_id component) {
  while (base != ECS_NULL && !entity_has(world, base, component))
    base = prefab_old_base(world, base);
  return base != ECS_NULL;
}

/* Checks that a node shares only what it has, by itself or from its base. */
static ecs_status prefab_check_shared(ecs_world *world, const struct prefab_plan *plan,
                                      uint32_t at) {
  const struct prefab_node *node = &plan->nodes[at];
  if (node->shared_count == 0 || node->partial) return ECS_OK;
  uint64_t room = require_room(world, 0, node->part_count);
  ecs_id *ids = world_scratch(world, room);
  if (!ids) return world_nomem(world);
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->part_count; i++)
    count = require_insert(world, ids, count, room, node->parts[i].component->id);
  for (uint32_t i = 0; i < node->shared_count; i++) {
    ecs_id shared = node->shared[i];
    if (id_set_has(ids, count, shared) || prefab_base_has(world, plan->made[at].base, shared))
      continue;
    return world_fail(world, ECS_EINVAL, "%s'%.*s' cannot share '%s', which it does not have: give "
                      "it that component, too", at ? "the prefab's child " : "prefab ",
                      SHOW(node->name), component_of(world, shared)->name);
  }
  return ECS_OK;
}

/* More nodes may be appended meanwhile. */
static ecs_status declare_all(ecs_world *world, struct prefab_plan *plan, ecs_id known) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < plan->count && status == ECS_OK; i++)
    status = prefab_declare_node(world, plan, i, known);
  for (uint32_t i = 0; i < plan->given && status == ECS_OK; i++)
    status = prefab_check_shared(world, plan, i);
  for (uint32_t i = 0; i < plan->count && status == ECS_OK; i++)
    if (plan->made[i].way == PLAN_CHANGED) status = prefab_end_ties(world, plan, i);
  for (uint32_t i = 0; i < plan->count && status == ECS_OK; i++)
    if (plan->made[i].way == PLAN_CHANGED) status = prefab_update(world, plan, i);
  if (status == ECS_OK) status = prefab_lead_copies(world, plan);
  /* An inherited child has its name from its base. */
  for (uint32_t i = 0; i < plan->count && status == ECS_OK; i++) {
    const struct prefab_node *node = &plan->nodes[i];
    ecs_id entity = plan->made[i].id;
    if (plan->made[i].way != PLAN_COPIED) continue;
    status = prefab_mark_shared(world, entity, node);
    for (uint32_t j = 0; j < node->part_count && status == ECS_OK; j++)
      status = spawn_stage_part(world, entity, &node->parts[j], node->parts[j].writes);
  }
  return status == ECS_OK && known != ECS_NULL ? prefab_drop_children(world, plan) : status;
}

/* In a scope of its own, which ends at once if it is the outermost: then all of it applies, or
** nothing. */
static ecs_status prefab_declare_in_scope(ecs_world *world, struct prefab_plan *plan,
                                          ecs_id known) {
  bool open = staging_is_open(&world->staging);
  uint32_t scope;
  ecs_status status = scope_open(world, SCOPE_DEFER, &scope);
  if (status != ECS_OK) return status;
  status = declare_all(world, plan, known);
  world->cascade.takes_prefabs = true;
  world->staging.whole = !open;
  if (!open)
    status = scope_end_own(world, scope, status);
  else if (status == ECS_OK)
    status = scope_commit(world, scope);
  else
    scope_take_back(world, scope);
  world->cascade.takes_prefabs = world->staging.whole = false;
  if (status == ECS_OK && known != ECS_NULL) prefab_order_children(world, plan);
  return status;
}

static ecs_status prefab_declare_all(ecs_world *world, struct prefab_plan *plan) {
  ecs_id known;
  for (uint32_t i = 1; i < plan->count; i++) {
    const struct prefab_node *node = &plan->nodes[i];
    if (plan_is_named_again(plan, i))
      return world_fail(world, ECS_EINVAL, "prefab '%.*s': two children are named '%.*s'",
                        SHOW(plan->nodes[0].name), SHOW(node->name));
  }
  ecs_status status = prefab_find_known(world, plan->nodes[0].name, &known);
  if (status != ECS_OK) return status;
  struct declared *declared = &world->declared;
  if (!GROW(&world->memory, declared->prefabs, declared->capacity, declared->count + 1ull))
    return world_nomem(world);
  status = prefab_declare_in_scope(world, plan, known);
  if (status != ECS_OK) return status;
  uint32_t at = known == ECS_NULL ? declared->count : 0;
  while (at < declared->count && declared->prefabs[at] != known) at++;
  declared->prefabs[at] = plan->made[0].id;
  if (at == declared->count) declared->count++;
  return ECS_OK;
}

ecs_status prefab_declare(ecs_world *world, const struct prefab_node *nodes, uint32_t count,
                          ecs_id *out) {
  struct prefab_plan plan = {.nodes = NULL};
  assert(count > 0);
  struct component *component;
  ecs_status status = builtin_prefab(world, &component);
  if (status == ECS_OK) status = builtin_need(world, IS_A, strlen(IS_A), &component);
  if (status == ECS_OK) status = builtin_need(world, CHILD_OF, strlen(CHILD_OF), &component);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = prefab_check_node(world, &nodes[i], i == 0);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = plan_add(world, &plan, &nodes[i]);
  plan.given = plan.count;
  if (status == ECS_OK) status = prefab_declare_all(world, &plan);
  if (status == ECS_OK) *out = plan.made[0].id;
  plan_free(world, &plan);
  return status;
}

/* ---- for hosts in C ---- */

/* Reads a component of a description with its values; relations take none. */
static ecs_status prefab_native_read_part(ecs_world *world, struct arena *arena,
                                          const ecs_prefab_desc *desc, uint32_t at,
                                          struct part *part) {
  const void *value = desc->values ? desc->values[at] : NULL;
  const struct write *writes;
  struct component *component;
  ecs_status status = component_need_id(world, desc->components[at], &component);
  if (status == ECS_OK && component->relation && value)
    status = world_fail(world, ECS_EINVAL, "relation '%s' of a prefab takes no value here",
                        component->name);
  if (status == ECS_OK) status = spawn_part_of(world, desc->components[at], part);
  if (status == ECS_OK && value)
    status = component_read_native(world, component, value, &writes);
  if (status != ECS_OK || !value || component->leaf_count == 0) return status;
  size_t size = component->leaf_count * sizeof *writes;
  struct write *own = arena_take(&world->memory, arena, size);
  if (!own) return world_nomem(world);
  memcpy(own, writes, size);
  part->writes = own;
  part->write_count = component->leaf_count;
  return ECS_OK;
}

static ecs_status prefab_native_check_shared(const ecs_world *world, const ecs_prefab_desc *desc) {
  for (uint32_t i = 0; i < desc->shared_count; i++) {
    struct component *component;
    ecs_status status = component_need_id(world, desc->shared[i], &component);
    if (status != ECS_OK) return status;
    if (component->relation)
      return world_fail(world, ECS_EINVAL, "relation '%s' cannot be shared", component->name);
  }
  return ECS_OK;
}

static ecs_status prefab_native_read_node(ecs_world *world, struct arena *arena,
                                          const ecs_prefab_desc *desc,
                                          struct prefab_node *node) {
  const char *name = desc->name ? desc->name : "";
  uint64_t size = desc->component_count * (uint64_t)sizeof(struct part);
  struct part *parts = NULL;
  if (size <= SIZE_MAX / 2) parts = arena_take(&world->memory, arena, (size_t)size);
  if (!parts) return world_nomem(world);
  *node = (struct prefab_node){desc->parent, {name, strlen(name)}, desc->is_a, parts,
                               desc->component_count, desc->shared, desc->shared_count, false,
                               false};
  ecs_status status = prefab_native_check_shared(world, desc);
  for (uint32_t i = 0; i < desc->component_count && status == ECS_OK; i++)
    status = prefab_native_read_part(world, arena, desc, i, &parts[i]);
  return status;
}

ecs_status ecs_prefab(ecs_world *world, const ecs_prefab_desc *list, size_t count, ecs_id *out) {
  struct arena arena = {NULL};
  struct prefab_node *nodes;
  if (!list || count == 0 || count > INDEX_LIMIT || count > SIZE_MAX / 2 / sizeof *nodes)
    return world_fail(world, ECS_EINVAL, "a prefab needs a list of itself and its children");
  nodes = arena_take(&world->memory, &arena, count * sizeof *nodes);
  if (!nodes) return world_nomem(world);
  ecs_status status = ECS_OK;
  for (size_t i = 0; i < count && status == ECS_OK; i++) {
    status = prefab_native_read_node(world, &arena, &list[i], &nodes[i]);
    if (status == ECS_OK && i && list[i].parent >= i)
      status = world_fail(world, ECS_EINVAL, "child %zu of a prefab comes before its parent", i);
  }
  if (status == ECS_OK) status = prefab_declare(world, nodes, (uint32_t)count, out);
  arena_free(&world->memory, &arena);
  return world_tell_observers(world, status);
}

ecs_status ecs_instantiate(ecs_world *world, ecs_id prefab, const ecs_id *components, size_t n,
                           ecs_id *out) {
  ecs_status status = prefab_need_id(world, prefab);
  return status == ECS_OK ? clone_with(world, prefab, CLONE_INSTANCE, components, n, out) : status;
}

/* ---- sweeping ---- */

static bool prefab_sweeping_mark(const struct cells *cells, void *ud) {
  ecs_world *world = ud;
  const uint32_t *numbers = cells->data;
  for (uint32_t i = 0; i < cells->count; i++) intern_mark(&world->strings, numbers[i]);
  return true;
}

void world_settle(ecs_world *world) {
  if (LIKELY(!intern_is_due(&world->strings)) || world->strings.weight == 0) return;
  if (broods_are_kept(&world->staging) && commands_write(world) != ECS_OK) return;
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    for (uint32_t j = 0; component && j < component->leaf_count; j++)
      if (component->leaves[j].type == ECS_STRING)
        intern_mark(&world->strings, component->leaves[j].value.u32);
  }
  cells_each(world, ECS_STRING, CELLS_STORED | CELLS_STAGED | CELLS_KEPT,
             prefab_sweeping_mark, world);
  intern_sweep(&world->strings, &world->memory);
}
