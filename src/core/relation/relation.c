#include "core/relation/relation.h"

#include "core/base/text.h"
#include "core/entity/name.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/table.h"
#include "ecs_world.h"

#define SHOWN_STEPS 8u         /* steps of a cycle shown in its message */
#define SHOWN_NAME 24u         /* bytes of a name shown there */

ecs_status relation_new(ecs_world *world, struct component *component) {
  ecs_status status = OWNED_RESERVE(world, &world->relations, 1);
  if (status != ECS_OK) return status;
  struct relation *relation = memory_array(&world->memory, 1, sizeof *relation);
  if (!relation) return world_nomem(world);
  *relation = (struct relation){component, component->ties.exclusive, component->ties.acyclic,
                                component->ties.policy, {.pages = NULL}};
  assert(!component->relation);
  component->relation = relation;
  return ECS_OK;
}

/* The world's own pointer to a built-in relation; NULL for others. */
static struct relation **relation_place_of(struct relations *relations, const char *name) {
  if (strcmp(name, CHILD_OF) == 0) return &relations->child_of;
  if (strcmp(name, IS_A) == 0) return &relations->is_a;
  return strcmp(name, PREFAB) == 0 ? &relations->prefab : NULL;
}

void relation_enter(ecs_world *world, struct component *component) {
  struct relations *relations = &world->relations;
  assert(component->relation->component == component);
  OWNED_ENTER(relations, component->relation);
  struct relation **builtin = relation_place_of(relations, component->name);
  bool single = builtin != &relations->prefab;
  if (builtin && component->ties.exclusive == single) *builtin = component->relation;
}

void relation_leave(ecs_world *world, const struct component *component) {
  struct relations *relations = &world->relations;
  struct relation **builtin = relation_place_of(relations, component->name);
  if (builtin && *builtin == component->relation) *builtin = NULL;
  OWNED_LEAVE(relations, component->relation);
}

void relation_free(ecs_world *world, struct component *component) {
  struct relation *relation = component->relation;
  assert(relation && relation->component == component && relation->ties.count == 0);
  relation_leave(world, component);
  ties_free(&relation->ties, &world->memory);
  memory_free(&world->memory, relation, sizeof *relation);
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
  FREE_LIST(&world->memory, relations->list, relations->capacity);
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
  return world_fail(world, ECS_EINVAL, "'%s' is not a relation, so it has no target; declare it "
                    "with relation(\"%s\")", component->name, component->name);
}

/* ---- ties ---- */

/* Names are kept by parent. */
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
  uint32_t last = ties_end_slot(&relation->ties, target)->last;
  relation_link_behind(world, relation, source, target, last);
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

/* Fails if the parent is a prefab, whose children only its declaration adds. */
static ecs_status relation_refuse_parent(const ecs_world *world, uint32_t source, uint32_t target) {
  ecs_id child = entity_id(&world->entities, source);
  if (!target || !prefab_is_or_comes(world, entity_id(&world->entities, target)) ||
      prefab_is_or_comes(world, child))
    return ECS_OK;
  char step[128];
  relation_tell_step(world, target, step, sizeof step);
  return world_fail(world, ECS_EINVAL, SHOW_ID " cannot be a child of %s, which is a prefab: "
                    "declare its children with it, by world:prefab(name, components, { children = "
                    "... })", child, step);
}

ecs_status relation_check_way(const ecs_world *world, const struct relation *relation,
                              uint32_t source, uint32_t target) {
  if (!relation->acyclic) return ECS_OK;
  if (relation == world->relations.child_of) {
    if (UNLIKELY(prefab_is(world, source) && (target || ties_target(&relation->ties, source))))
      return world_fail(world, ECS_EINVAL, "a prefab keeps the parent it was declared "
                        "with: " SHOW_ID " "
                        "cannot be %s", entity_id(&world->entities, source),
                        target ? "tied to another parent" : "taken from its parent");
    ecs_status status = relation_refuse_parent(world, source, target);
    if (status == ECS_OK) status = name_check_parent(world, source, target);
    if (status != ECS_OK) return status;
  }
  /* An entity without sources closes no cycle, so a chain of n grows in O(n). */
  bool leaf = ties_first(&relation->ties, source) == 0 && source != target;
  if (leaf) return ECS_OK;
  for (uint32_t at = target; at; at = ties_target(&relation->ties, at))
    if (at == source) {
      char way[MESSAGE_SIZE];
      relation_tell_circle(world, relation, source, target, way, sizeof way);
      return world_fail(world, ECS_ECYCLE, "'%s' would form a cycle: %s",
                        relation->component->name, way);
    }
  return ECS_OK;
}

/* Of a relation with several targets: the tables of the entities tied to a target. */
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

static bool relation_has_rows(const ecs_world *world, const struct id_record *record) {
  for (uint32_t i = 0; record && i < record->table_count; i++)
    if (world_table(world, record->tables[i])->count) return true;
  return false;
}

bool relation_has_sources(const ecs_world *world, uint32_t target) {
  for (uint32_t i = 0; i < world->relations.count; i++) {
    const struct relation *relation = world->relations.list[i];
    if (ties_first(&relation->ties, target)) return true;
    if (relation_has_rows(world, relation_paired(world, relation, target))) return true;
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

/* ---- relation check ---- */

static bool relation_is_alive(const ecs_world *world, uint32_t index) {
  return entity_slots(&world->entities, index).count &&
         ecs_alive(world, entity_id(&world->entities, index));
}

/* Checks that a source is alive, has the relation, and that its cell holds the target. */
static ecs_status relation_check_source(const ecs_world *world, const struct relation *relation,
                                        uint32_t source, uint32_t target) {
  struct cells_row cells;
  if (!relation_is_alive(world, source)) return world_corrupt(world, "a dead entity is tied");
  ecs_id id = entity_id(&world->entities, source);
  if (!cells_find(world, id, relation->component->id, &cells))
    return world_corrupt(world, "an entity is tied without the relation");
  ecs_id cell = ((const ecs_id *)cells.columns[TARGET_LEAF].data)[cells.row];
  return cell == entity_id(&world->entities, target)
             ? ECS_OK : world_corrupt(world, "a tie's target differs from its cell");
}

static ecs_status relation_check_end(const ecs_world *world, const struct relation *relation,
                                     uint32_t target, uint32_t *tied) {
  const struct ties *ties = &relation->ties;
  const struct tie_end *end = ties_end(ties, target);
  uint32_t count = 0, previous = 0;
  if (end->count && !relation_is_alive(world, target))
    return world_corrupt(world, "a tie's target is dead");
  for (uint32_t at = end->first; at; previous = at, at = ties_next(ties, at)) {
    if (ties_target(ties, at) != target || ties_previous(ties, at) != previous)
      return world_corrupt(world, "a tie does not lead back");
    ecs_status status = relation_check_source(world, relation, at, target);
    if (status != ECS_OK) return status;
    if (++count > end->count) return world_corrupt(world, "a target's sources form a cycle");
  }
  *tied += count;
  return count == end->count && previous == end->last
             ? ECS_OK : world_corrupt(world, "a target's sources are miscounted");
}

static ecs_status relation_check_ties(const ecs_world *world, const struct relation *relation) {
  const struct ties *ties = &relation->ties;
  uint32_t tied = 0;
  for (uint32_t page = 0; page < ties->end_page_capacity; page++) {
    if (!ties->end_pages[page]) continue;
    for (uint32_t i = 0; i < TIE_PAGE_SIZE; i++) {
      ecs_status status = relation_check_end(world, relation, page * TIE_PAGE_SIZE + i, &tied);
      if (status != ECS_OK) return status;
    }
  }
  return tied == ties->count ? ECS_OK : world_corrupt(world, "ties are miscounted");
}

/* Whether no chain of its ties leads back to its start: every source of an acyclic relation is
** reached from a target that is not a source itself. */
static bool relation_is_acyclic(const struct relation *relation) {
  const struct ties *ties = &relation->ties;
  uint32_t reached = 0;
  for (uint32_t root = 0; (root = ties_next_end(ties, root)) != 0; root++)
    for (uint32_t at = ties_target(ties, root) ? 0 : root; at;
         at = ties_next_below(ties, root, at))
      reached += at != root;
  return reached == ties->count;
}

static ecs_status relation_check_pairs(const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  uint32_t pair_tables = 0;
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    pair_tables += table->has_pairs;
    for (uint32_t j = 0; j < table->id_count && table->count; j++)
      if (id_is_pair(table->ids[j]) && !relation_is_alive(world, pair_target(table->ids[j])))
        return world_corrupt(world, "a pair's target is dead");
  }
  return pair_tables == world->graph.pair_tables
             ? ECS_OK
             : world_corrupt(world, "tables of pairs are miscounted");
}

ecs_status relations_check(const ecs_world *world) {
  const struct relations *relations = &world->relations;
  uint64_t tied = 0;
  ecs_status status = relation_check_pairs(world);
  for (uint32_t i = 0; i < relations->count && status == ECS_OK; i++) {
    const struct relation *relation = relations->list[i];
    if (component_of(world, relation->component->id) != relation->component ||
        relation->component->relation != relation)
      return world_corrupt(world, "a relation belongs to another component");
    tied += relation->ties.count;
    if (!relation->exclusive) continue;
    status = relation_check_ties(world, relation);
    /* All rows of tables with an exclusive relation are tied. */
    const struct id_record *record = graph_record(world, relation->component->id);
    size_t rows = 0;
    for (uint32_t j = 0; record && j < record->table_count; j++)
      rows += world_table(world, record->tables[j])->count;
    if (status == ECS_OK && rows != relation->ties.count)
      status = world_corrupt(world, "a row is not tied");
    if (status == ECS_OK && relation->acyclic && !relation_is_acyclic(relation))
      status = world_corrupt(world, "an acyclic relation has a cycle");
  }
  if (status == ECS_OK && tied != relations->tied)
    return world_corrupt(world, "ties are miscounted");
  return status;
}
