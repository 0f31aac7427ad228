#include "core/relation/relation.h"

#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/storage/graph.h"
#include "core/entity/name.h"
#include "core/entity/prefab.h"
#include "core/storage/table.h"
#include "core/ids/world.h"
#include "core/base/text.h"

#define SHOWN_STEPS 8u         /* of a circle, in its message */
#define SHOWN_NAME 24u         /* bytes of a name there */

ecs_status relations_reserve(ecs_world *world, uint32_t more) {
  struct relations *relations = &world->relations;
  if (more == 0) return ECS_OK;
  struct relation **list = memory_grow(&world->memory, relations->list, &relations->capacity,
                                       (uint64_t)relations->count + more, sizeof *list);
  if (!list) return world_nomem(world);
  relations->list = list;
  return ECS_OK;
}

ecs_status relation_new(ecs_world *world, struct component *component) {
  ecs_status status = relations_reserve(world, 1);
  if (status != ECS_OK) return status;
  struct relation *relation = memory_array(&world->memory, 1, sizeof *relation);
  if (!relation) return world_nomem(world);
  *relation = (struct relation){component, component->ties.exclusive, component->ties.acyclic,
                                component->ties.policy, {.pages = NULL}};
  assert(!component->relation);
  component->relation = relation;
  return ECS_OK;
}

/* Where the world keeps a relation that every world has; NULL for others. */
static struct relation **relation_place_of(struct relations *relations, const char *name) {
  if (strcmp(name, CHILD_OF) == 0) return &relations->child_of;
  if (strcmp(name, IS_A) == 0) return &relations->is_a;
  return strcmp(name, PREFAB) == 0 ? &relations->prefab : NULL;
}

void relation_enter(ecs_world *world, struct component *component) {
  struct relations *relations = &world->relations;
  struct relation **list = relations->list;
  uint32_t at = relations->count++;
  assert(at < relations->capacity && component->relation->component == component);
  for (; at > 0 && list[at - 1]->component->id > component->id; at--) list[at] = list[at - 1];
  list[at] = component->relation;
  struct relation **builtin = relation_place_of(relations, component->name);
  bool single = builtin != &relations->prefab;
  if (builtin && component->ties.exclusive == single) *builtin = component->relation;
}

static void relation_release(ecs_world *world, struct relation *relation) {
  ties_free(&relation->ties, &world->memory);
  memory_free(&world->memory, relation, sizeof *relation);
}

void relation_leave(ecs_world *world, const struct component *component) {
  struct relations *relations = &world->relations;
  uint32_t at = 0;
  while (at < relations->count && relations->list[at] != component->relation) at++;
  if (at == relations->count) return;
  struct relation **builtin = relation_place_of(relations, component->name);
  if (builtin && *builtin == component->relation) *builtin = NULL;
  relations->count--;
  memmove(relations->list + at, relations->list + at + 1,
          (relations->count - at) * sizeof *relations->list);
}

void relation_free(ecs_world *world, struct component *component) {
  struct relation *relation = component->relation;
  assert(relation && relation->component == component && relation->ties.count == 0);
  relation_leave(world, component);
  relation_release(world, relation);
  component->relation = NULL;
}

void relations_clear(ecs_world *world) {
  struct relations *relations = &world->relations;
  for (uint32_t i = 0; i < relations->count; i++) ties_clear(&relations->list[i]->ties);
  relations->tied = 0;
}

void relations_free(ecs_world *world) {
  struct relations *relations = &world->relations;
  assert(relations->count == 0);
  memory_free(&world->memory, relations->list, relations->capacity * sizeof *relations->list);
  *relations = (struct relations){.list = NULL};
}

struct relation *relation_of(const ecs_world *world, ecs_id id) {
  const struct component *component = component_of(world, id);
  return component ? component->relation : NULL;
}

ecs_status relation_need(const ecs_world *world, ecs_id id, struct relation **out) {
  struct component *component;
  ecs_status status = component_need_id(world, id, &component);
  if (status != ECS_OK) return status;
  *out = component->relation;
  if (*out) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "'%s' is no relation: it has no target; declare it as one, "
                    "relation(\"%s\")", component->name, component->name);
}

/* ---- ties ---- */

/* Names are kept by parents. */
static void relation_follow(ecs_world *world, const struct relation *relation, uint32_t source) {
  if (relation == world->relations.child_of && world->names.count) name_follow(world, source);
}

void relation_link_behind(ecs_world *world, struct relation *relation, uint32_t source,
                          uint32_t target, uint32_t previous) {
  ties_link_behind(&relation->ties, source, target, previous);
  world->relations.tied++;
  relation_follow(world, relation, source);
}

void relation_link(ecs_world *world, struct relation *relation, uint32_t source,
                   uint32_t target) {
  ties_link(&relation->ties, source, target);
  world->relations.tied++;
  relation_follow(world, relation, source);
}

void relation_unlink(ecs_world *world, struct relation *relation, uint32_t source) {
  ties_unlink(&relation->ties, source);
  assert(world->relations.tied > 0);
  world->relations.tied--;
  relation_follow(world, relation, source);
}

void relation_retie(ecs_world *world, struct relation *relation, uint32_t source,
                    uint32_t target) {
  ties_retie(&relation->ties, source, target);
  relation_follow(world, relation, source);
}

ecs_id relation_target(const ecs_world *world, const struct relation *relation,
                       uint32_t source) {
  uint32_t target = ties_target(&relation->ties, source);
  return target ? entity_id(&world->entities, target) : ECS_NULL;
}

size_t relation_tell_step(const ecs_world *world, uint32_t entity, char *text, size_t room) {
  ecs_id id = entity_id(&world->entities, entity);
  ecs_string name = name_of(world, id);
  bool shown = name.size > 0 && name.size <= SHOWN_NAME;
  return shown ? text_format(text, room, SHOW_ID " '%.*s'", id, SHOW(name))
               : text_format(text, room, SHOW_ID, id);
}

void relation_tell_circle(const ecs_world *world, const struct relation *relation,
                          uint32_t source, uint32_t target, char *way, size_t room) {
  size_t size = relation_tell_step(world, source, way, room);
  uint32_t steps = 0;
  for (uint32_t at = target; at != source; at = ties_target(&relation->ties, at), steps++) {
    if (steps > SHOWN_STEPS) continue;
    size += text_format(way + size, room - size, steps < SHOWN_STEPS ? " -> " : " -> ...");
    if (steps < SHOWN_STEPS) size += relation_tell_step(world, at, way + size, room - size);
  }
  size += text_format(way + size, room - size, " -> ");
  relation_tell_step(world, source, way + size, room - size);
}

static ecs_status refuse_circle(const ecs_world *world, const struct relation *relation,
                                uint32_t source, uint32_t target) {
  char way[MESSAGE_SIZE];
  relation_tell_circle(world, relation, source, target, way, sizeof way);
  return world_fail(world, ECS_ECYCLE, "'%s' would go in a circle: %s",
                    relation->component->name, way);
}

/* Whether the parent is a prefab, whose children it alone declares. */
static ecs_status refuse_parent(const ecs_world *world, uint32_t source, uint32_t target) {
  ecs_id child = entity_id(&world->entities, source);
  if (!target || !prefab_is_or_comes(world, entity_id(&world->entities, target)) ||
      prefab_is_or_comes(world, child))
    return ECS_OK;
  char step[128];
  relation_tell_step(world, target, step, sizeof step);
  return world_fail(world, ECS_EINVAL, SHOW_ID " cannot be a child of %s, which is a prefab: "
                    "its children are declared with it, by world:prefab(name, components, "
                    "{ children = ... })", child, step);
}

ecs_status relation_check_way(const ecs_world *world, const struct relation *relation,
                              uint32_t source, uint32_t target) {
  if (!relation->acyclic) return ECS_OK;
  if (relation == world->relations.child_of) {
    if (UNLIKELY(prefab_is(world, source) && (target || ties_target(&relation->ties, source))))
      return world_fail(world, ECS_EINVAL, "a prefab stays where it was declared: " SHOW_ID " "
                        "cannot be %s", entity_id(&world->entities, source),
                        target ? "tied to another parent" : "taken from its parent");
    ecs_status status = refuse_parent(world, source, target);
    if (status == ECS_OK) status = name_check_parent(world, source, target);
    if (status != ECS_OK) return status;
  }
  /* No way leads to who has no sources: a chain of n grows in O(n). */
  bool leaf = ties_first(&relation->ties, source) == 0 && source != target;
  if (leaf) return ECS_OK;
  for (uint32_t at = target; at; at = ties_target(&relation->ties, at))
    if (at == source) return refuse_circle(world, relation, source, target);
  return ECS_OK;
}

/* The tables of those who are tied to a target by a relation of several. */
static const struct id_record *relation_paired(const ecs_world *world,
                                               const struct relation *relation,
                                               uint32_t target) {
  if (relation->exclusive || world->graph.pair_tables == 0) return NULL;
  return graph_record(world, pair_make(ecs_id_index(relation->component->id), target));
}

bool relation_concerns(const ecs_world *world, uint32_t entity) {
  const struct relations *relations = &world->relations;
  for (uint32_t i = 0; i < relations->count; i++) {
    const struct relation *relation = relations->list[i];
    const struct ties *ties = &relation->ties;
    if (ties->count && (ties_target(ties, entity) || ties_first(ties, entity))) return true;
    const struct id_record *record = relation_paired(world, relation, entity);
    if (record && record->table_count) return true;
  }
  return false;
}

static bool has_rows(const ecs_world *world, const struct id_record *record) {
  for (uint32_t i = 0; record && i < record->table_count; i++)
    if (world_table(world, record->tables[i])->count) return true;
  return false;
}

bool relation_has_sources(const ecs_world *world, uint32_t target) {
  for (uint32_t i = 0; i < world->relations.count; i++) {
    const struct relation *relation = world->relations.list[i];
    if (ties_first(&relation->ties, target)) return true;
    if (has_rows(world, relation_paired(world, relation, target))) return true;
  }
  return false;
}

void relation_clear(ecs_world *world, struct relation *relation) {
  assert(world->relations.tied >= relation->ties.count);
  world->relations.tied -= relation->ties.count;
  ties_clear(&relation->ties);
}

void relation_drop(ecs_world *world, const uint32_t *entities, uint32_t count) {
  for (uint32_t i = 0; i < world->relations.count; i++)
    world->relations.tied -= ties_drop(&world->relations.list[i]->ties, entities, count);
}

void relation_leave_row(ecs_world *world, uint32_t entity) {
  for (uint32_t i = 0; world->relations.tied && i < world->relations.count; i++) {
    struct relation *relation = world->relations.list[i];
    if (ties_target(&relation->ties, entity)) relation_unlink(world, relation, entity);
  }
}
