#include "core/command/cascade.h"

#include "core/base/text.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/entity/name.h"
#include "core/entity/prefab.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "ecs_world.h"

/* ---- which entities die ---- */

static APART bool cascade_grow_marks(ecs_world *world, uint32_t entity) {
  struct cascade *cascade = &world->cascade;
  uint32_t old = cascade->mark_capacity;
  if (!GROW(&world->memory, cascade->marks, cascade->mark_capacity, entity / 64 + 1ull))
    return false;
  memset(cascade->marks + old, 0, (cascade->mark_capacity - old) * sizeof *cascade->marks);
  return true;
}

/* Adds an entity to those that die, unless it is there already. */
static inline ecs_status cascade_doom(ecs_world *world, uint32_t entity) {
  struct cascade *cascade = &world->cascade;
  uint64_t bit = UINT64_C(1) << entity % 64;
  if (UNLIKELY(entity / 64 >= cascade->mark_capacity) && !cascade_grow_marks(world, entity))
    return world_nomem(world);
  if (cascade->marks[entity / 64] & bit) return ECS_OK;
  if (!GROW(&world->memory, cascade->dying, cascade->capacity, cascade->count + 1ull))
    return world_nomem(world);
  cascade->dying[cascade->count++] = entity;
  cascade->marks[entity / 64] |= bit;
  return ECS_OK;
}

/* Removes all entities from place `count` on from those that die. */
static void cascade_spare(struct cascade *cascade, uint32_t count) {
  while (cascade->count > count) {
    uint32_t entity = cascade->dying[--cascade->count];
    assert(cascade->marks[entity / 64] >> entity % 64 & 1);
    cascade->marks[entity / 64] &= ~(UINT64_C(1) << entity % 64);
  }
  while (cascade->cause_count && cascade->causes[cascade->cause_count - 1].first >= count)
    cascade->cause_count--;
}

/* ---- the sources of a target ---- */

typedef ecs_status (*source_fn)(ecs_world *world, struct relation *relation, uint32_t source,
                                uint32_t target);

/* Visits the sources of a target. Reads the next source before each call, since the callback may
** untie the current one. */
INLINE ecs_status cascade_each_tied(ecs_world *world, struct relation *relation, uint32_t target,
                                    source_fn visit) {
  const struct tie_end *end = ties_end(&relation->ties, target);
  uint32_t at = end ? end->first : 0, last = at ? end->last : 0, step = 0;
  while (at) {
    uint32_t next = at == last ? 0 : ties_follow(&relation->ties, at, &step);
    assert(ties_target(&relation->ties, at) == target);
    ecs_status status = visit(world, relation, at, target);
    if (UNLIKELY(status != ECS_OK)) return status;
    at = next;
  }
  return ECS_OK;
}

/* Whether an earlier command of this scope removed the pair that the entity has. */
static bool cascade_is_removed(const ecs_world *world, uint32_t source, ecs_id pair) {
  if (world->cascade.removals == 0) return false;
  const struct command *last = command_last_on(world, entity_id(&world->entities, source), pair,
                                               world->cascade.at);
  return last && last->kind == COMMAND_REMOVE;
}

static APART ecs_status cascade_each_paired(ecs_world *world, struct relation *relation,
                                            uint32_t target, source_fn visit) {
  ecs_id pair = pair_make(ecs_id_index(relation->component->id), target);
  const struct id_record *record = graph_tables(world, pair);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; record && i < record->table_count; i++) {
    const struct table *table = world_table(world, record->tables[i]);
    for (uint32_t row = 0; row < table->count && status == ECS_OK; row++)
      if (!cascade_is_removed(world, table->rows[row], pair))
        status = visit(world, relation, table->rows[row], target);
  }
  return status;
}

/* Visits the sources whose pair is staged so far. */
static APART ecs_status cascade_each_pending(ecs_world *world, struct relation *relation,
                                             uint32_t target, source_fn visit) {
  const struct cascade *cascade = &world->cascade;
  uint32_t at = cascade->pending_count ? map_get(&cascade->pending_of, target) : NONE;
  ecs_status status = ECS_OK;
  for (; at != NONE && status == ECS_OK; at = cascade->pending[at].next) {
    assert(at < cascade->pending_count);
    const struct command *command = &world->staging.commands[cascade->pending[at].command];
    if (pair_relation(command->component) == ecs_id_index(relation->component->id) &&
        !cascade_is_removed(world, ecs_id_index(command->entity), command->component))
      status = visit(world, relation, ecs_id_index(command->entity), target);
  }
  return status;
}

/* Visits all sources of a target. Inline: with a known callback, a source's death costs a fifth
** less. */
INLINE ecs_status cascade_each_source(ecs_world *world, uint32_t target, ecs_policy policy,
                                      source_fn visit) {
  const struct relations *relations = &world->relations;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < relations->count && status == ECS_OK; i++) {
    struct relation *relation = relations->list[i];
    if (relation->policy != policy) continue;
    if (relation->exclusive) {
      status = cascade_each_tied(world, relation, target, visit);
      continue;
    }
    if (world->graph.pair_tables) status = cascade_each_paired(world, relation, target, visit);
    if (status == ECS_OK && world->cascade.pending_count)
      status = cascade_each_pending(world, relation, target, visit);
  }
  return status;
}

/* Whether any relation with this policy may have ties. */
static bool cascade_is_in_use(const ecs_world *world, ecs_policy policy) {
  const struct relations *relations = &world->relations;
  bool pairs = world->graph.pair_tables || world->cascade.pending_count;
  for (uint32_t i = 0; i < relations->count; i++) {
    const struct relation *relation = relations->list[i];
    if (relation->policy == policy && (relation->exclusive ? relation->ties.count : pairs))
      return true;
  }
  return false;
}

static APART ecs_status cascade_refuse_source(ecs_world *world, const struct relation *relation,
                                              uint32_t source, uint32_t target) {
  const struct component *component = component_of(world, entity_id(&world->entities, source));
  char what[128];
  if (component)
    text_format(what, sizeof what, "component '%s'", component->name);
  else
    relation_tell_step(world, source, what + text_format(what, sizeof what, "prefab "), 100);
  return world_fail(world, ECS_EBUSY, "entity " SHOW_ID " cannot be despawned while %s is tied to "
                    "it by '%s', whose on_target_despawn is \"despawn\": remove that tie first",
                    entity_id(&world->entities, target), what, relation->component->name);
}

/* Dooms a source. Components and prefabs never die with others. */
static inline ecs_status cascade_doom_source(ecs_world *world, struct relation *relation,
                                             uint32_t source, uint32_t target) {
  bool prefab = UNLIKELY(world->relations.prefab && prefab_is(world, source));
  if (UNLIKELY(source < FIRST_ENTITY) || (prefab && !world->cascade.takes_prefabs))
    return cascade_refuse_source(world, relation, source, target);
  return cascade_doom(world, source);
}

static ecs_status cascade_refuse_survivor(ecs_world *world, struct relation *relation,
                                          uint32_t source, uint32_t target) {
  if (cascade_takes(&world->cascade, source)) return ECS_OK;
  return world_fail(world, ECS_EBUSY, "entity " SHOW_ID " cannot be despawned while " SHOW_ID " "
                    "is tied to it by '%s', whose on_target_despawn is \"error\": remove that tie "
                    "first", entity_id(&world->entities, target),
                    entity_id(&world->entities, source), relation->component->name);
}

/* ---- ties that change ---- */

static ecs_status cascade_note_undo(ecs_world *world, struct untied was) {
  struct cascade *cascade = &world->cascade;
  if (!GROW(&world->memory, cascade->undo, cascade->undo_capacity, cascade->undo_count + 1ull))
    return world_nomem(world);
  cascade->undo[cascade->undo_count++] = was;
  return ECS_OK;
}

static ecs_status cascade_note_tie(ecs_world *world, struct relation *relation, uint32_t source) {
  uint32_t target = ties_target(&relation->ties, source);
  uint32_t previous = target ? ties_previous(&relation->ties, source) : 0;
  return cascade_note_undo(world, (struct untied){relation, source, target, previous});
}

static ecs_status cascade_untie(ecs_world *world, struct relation *relation, uint32_t source) {
  if (!ties_target(&relation->ties, source)) return ECS_OK;
  ecs_status status = cascade_note_tie(world, relation, source);
  if (status == ECS_OK) relation_unlink(world, relation, source);
  return status;
}

/* Unties a source of a dying target; its row will move. */
static ecs_status cascade_let_go(ecs_world *world, struct relation *relation, uint32_t source,
                                 uint32_t target) {
  (void)target;
  if (cascade_takes(&world->cascade, source)) return ECS_OK;
  ecs_status status = command_touch(world, entity_id(&world->entities, source));
  return status == ECS_OK && relation->exclusive ? cascade_untie(world, relation, source) : status;
}

/* The only relation by which entities die with others; NULL if there are several or none. */
static struct relation *cascade_only_way(const ecs_world *world) {
  const struct relations *relations = &world->relations;
  struct relation *way = NULL;
  if (world->graph.pair_tables || world->cascade.pending_count) return NULL;
  for (uint32_t i = 0; i < relations->count; i++) {
    struct relation *relation = relations->list[i];
    if (relation->policy != ECS_TARGET_DESPAWN || relation->ties.count == 0) continue;
    if (way) return NULL;
    way = relation;
  }
  return way;
}

/* Ends the ties of the entities that die from `first` on to targets that live on; other ties go
** with their entities. If all die by one relation, only the first can have such a target. */
static ecs_status cascade_untie_dying(ecs_world *world, uint32_t first) {
  const struct cascade *cascade = &world->cascade;
  const struct relation *way = cascade_only_way(world);
  ecs_status status = ECS_OK;
  for (uint32_t at = 0; at < world->relations.count; at++) {
    struct relation *relation = world->relations.list[at];
    if (relation->ties.count == 0) continue;
    uint32_t end = relation == way ? first + 1 : cascade->count;
    for (uint32_t i = first; i < end && status == ECS_OK; i++) {
      uint32_t target = ties_target(&relation->ties, cascade->dying[i]);
      if (target && !cascade_takes(cascade, target))
        status = cascade_untie(world, relation, cascade->dying[i]);
    }
  }
  return status;
}

/* Finds all that die with the entities from `first` on, by one relation: a third less work than by
** any. */
static ecs_status cascade_doom_along(ecs_world *world, struct relation *way, uint32_t first) {
  const struct cascade *cascade = &world->cascade;
  uint32_t entity = 0, step = 0;
  for (uint32_t i = first; i < cascade->count; i++) {
    entity = stride_to(entity, cascade->dying[i], &step);
    ecs_status status = cascade_each_tied(world, way, entity, cascade_doom_source);
    if (UNLIKELY(status != ECS_OK)) return status;
  }
  return ECS_OK;
}

/* Dooms the sources of a target by every relation. */
static ecs_status cascade_doom_all(ecs_world *world, uint32_t first) {
  struct cascade *cascade = &world->cascade;
  struct relation *way = cascade_only_way(world);
  ecs_status status = way ? cascade_doom_along(world, way, first) : ECS_OK;
  if (!way && cascade_is_in_use(world, ECS_TARGET_DESPAWN))
    for (uint32_t i = first; i < cascade->count && status == ECS_OK; i++)
      status = cascade_each_source(world, cascade->dying[i], ECS_TARGET_DESPAWN,
                                   cascade_doom_source);
  if (status == ECS_OK && cascade_is_in_use(world, ECS_TARGET_ERROR))
    for (uint32_t i = first; i < cascade->count && status == ECS_OK; i++)
      status = cascade_each_source(world, cascade->dying[i], ECS_TARGET_ERROR,
                                   cascade_refuse_survivor);
  return status;
}

/* Kills an entity and all that die with it. ECS_EBUSY if a tie forbids that: then nothing dies. */
static ecs_status cascade_kill(ecs_world *world, uint32_t entity) {
  struct cascade *cascade = &world->cascade;
  uint32_t first = cascade->count;
  if (world->staging.watched) {
    if (!GROW(&world->memory, cascade->causes, cascade->cause_capacity,
              cascade->cause_count + 1ull))
      return world_nomem(world);
    cascade->causes[cascade->cause_count++] = (struct death_cause){first, cascade->at};
  }
  ecs_status status = cascade_doom(world, entity);
  if (status == ECS_OK) status = cascade_doom_all(world, first);
  if (status != ECS_OK) {
    cascade_spare(cascade, first);
    return status;
  }
  if (cascade_is_in_use(world, ECS_TARGET_REMOVE))
    for (uint32_t i = first; i < cascade->count && status == ECS_OK; i++)
      status = cascade_each_source(world, cascade->dying[i], ECS_TARGET_REMOVE, cascade_let_go);
  if (status == ECS_OK) status = cascade_untie_dying(world, first);
  for (uint32_t i = first; i < cascade->count && world->names.count && status == ECS_OK; i++)
    name_hide(world, cascade->dying[i], true);
  return status;
}

/* ---- commands ---- */

/* Handles a command on a tie whose target has died. */
static ecs_status cascade_miss(ecs_world *world, const struct relation *relation,
                               const struct command *command, ecs_id target) {
  uint32_t entity = ecs_id_index(command->entity);
  bool kept = entity < FIRST_ENTITY || prefab_is(world, entity);
  if (relation->policy == ECS_TARGET_DESPAWN && !kept)
    return cascade_kill(world, entity);
  if (relation->policy != ECS_TARGET_REMOVE)
    return world_fail(world, ECS_EDEAD, "'%s' of entity " SHOW_ID ": the target " SHOW_ID " has "
                      "died in the meantime", relation->component->name, command->entity, target);
  return ECS_EDEAD;
}

static bool cascade_is_gone(const ecs_world *world, ecs_id entity) {
  return !ecs_alive(world, entity) || cascade_takes(&world->cascade, ecs_id_index(entity));
}

static ecs_status cascade_tie(ecs_world *world, struct relation *relation, uint32_t source,
                              uint32_t target) {
  if (ties_target(&relation->ties, source) == target) return ECS_OK;
  ecs_status status = relation_check_way(world, relation, source, target);
  if (status != ECS_OK) return status;
  if (!ties_reserve(&relation->ties, &world->memory, source, target))
    return world_nomem(world);
  status = cascade_untie(world, relation, source);
  if (status == ECS_OK) status = cascade_note_tie(world, relation, source);
  if (status == ECS_OK) relation_link(world, relation, source, target);
  return status;
}

/* Ends an exclusive tie, as a command of its own. */
static ecs_status cascade_leave(ecs_world *world, struct relation *relation, uint32_t source) {
  ecs_status status = relation_check_way(world, relation, source, 0);
  return status == ECS_OK ? cascade_untie(world, relation, source) : status;
}

static ecs_status cascade_decide_exclusive(ecs_world *world, struct relation *relation,
                                           struct command *command) {
  uint32_t source = ecs_id_index(command->entity);
  ecs_id target;
  if (command->kind == COMMAND_REMOVE) {
    bool all = !id_is_pair(command->component);
    bool same = ties_target(&relation->ties, source) == pair_target(command->component);
    return all || same ? cascade_leave(world, relation, source) : ECS_OK;
  }
  const struct write *writes = world->staging.writes + command->first_write;
  if (!relate_given_target(writes, command->write_count, &target)) return ECS_OK;
  if (target == ECS_NULL) return cascade_leave(world, relation, source);
  if (!cascade_is_gone(world, target)) {
    command->anew = ties_target(&relation->ties, source) == 0;
    return cascade_tie(world, relation, source, ecs_id_index(target));
  }
  ecs_status status = cascade_miss(world, relation, command, target);
  return status == ECS_EDEAD && relation->policy == ECS_TARGET_REMOVE
             ? cascade_untie(world, relation, source) : status;
}

static ecs_status cascade_decide_pair(ecs_world *world, const struct relation *relation,
                                      uint32_t at) {
  struct cascade *cascade = &world->cascade;
  struct command *command = &world->staging.commands[at];
  if (command->kind == COMMAND_REMOVE) {
    cascade->removals++;
    return ECS_OK;
  }
  if (cascade_is_gone(world, command->target)) {
    ecs_status status = cascade_miss(world, relation, command, command->target);
    if (relation->policy == ECS_TARGET_REMOVE) status = ECS_OK;
    world->staging.commands[at].dropped = true;
    return status;
  }
  if (!GROW(&world->memory, cascade->pending, cascade->pending_capacity,
            cascade->pending_count + 1ull))
    return world_nomem(world);
  if (!map_reserve(&world->memory, &cascade->pending_of, 1)) return world_nomem(world);
  uint32_t target = pair_target(command->component), last = cascade->pending_count++;
  cascade->pending[last] = (struct pending_pair){at, map_get(&cascade->pending_of, target)};
  map_put(&cascade->pending_of, target, last);
  return ECS_OK;
}

static ecs_status cascade_give_name(ecs_world *world, const struct command *command) {
  struct naming *naming = &world->staging.namings[command->first_write];
  ecs_status status = name_check(world, command->entity, naming);
  if (status == ECS_ETAKEN) {
    char why[MESSAGE_SIZE];
    text_format(why, sizeof why, "%s", world->message);
    return world_fail(world, status, "entity " SHOW_ID " was not named: %s", command->entity, why);
  }
  struct untied was = {NULL, ecs_id_index(command->entity), command->first_write, 0};
  if (status == ECS_OK) status = cascade_note_undo(world, was);
  if (status == ECS_OK) name_exchange(world, command->entity, naming);
  return status;
}

static ecs_status cascade_step(ecs_world *world, uint32_t at) {
  struct command *command = &world->staging.commands[at];
  command->dropped = command->anew = false;
  if (cascade_is_gone(world, command->entity)) return ECS_OK;
  if (command->kind == COMMAND_DESPAWN) {
    uint32_t entity = ecs_id_index(command->entity);
    bool refused = UNLIKELY(prefab_is(world, entity)) && !world->cascade.takes_prefabs;
    return refused ? prefab_refuse(world, entity) : cascade_kill(world, entity);
  }
  if (command->kind == COMMAND_NAME) return cascade_give_name(world, command);
  struct relation *relation = relation_of(world, command->component);
  if (!relation) return ECS_OK;
  if (!relation->exclusive) return cascade_decide_pair(world, relation, at);
  ecs_status status = cascade_decide_exclusive(world, relation, command);
  command = &world->staging.commands[at];
  command->ties = ties_target(&relation->ties, ecs_id_index(command->entity)) != 0;
  return status;
}

/* Forgets what was decided. Cannot fail. */
static void cascade_forget(struct cascade *cascade) {
  /* Clears the marks of all that die, whole words at a time if they are many. */
  if (cascade->count > cascade->mark_capacity) {
    memset(cascade->marks, 0, cascade->mark_capacity * sizeof *cascade->marks);
    cascade->count = 0;
  }
  cascade_spare(cascade, 0);
  cascade->undo_count = cascade->pending_count = cascade->removals = 0;
  map_clear(&cascade->pending_of);
}

ecs_status cascade_decide(ecs_world *world) {
  uint32_t count = world->staging.command_count;
  assert(world->cascade.count == 0 && world->cascade.undo_count == 0);
  for (uint32_t i = 0; i < count; i++) {
    world->cascade.at = i;
    ecs_status status = cascade_step(world, i);
    if (status == ECS_OK) continue;
    if (status == ECS_ENOMEM || status == ECS_ELIMIT) {
      cascade_undo(world);
      return status;
    }
    staging_refuse(world, i, status);
  }
  return ECS_OK;
}

void cascade_undo(ecs_world *world) {
  struct cascade *cascade = &world->cascade;
  for (uint32_t i = 0; i < cascade->count && world->names.count; i++)
    name_hide(world, cascade->dying[i], false);
  while (cascade->undo_count) {
    const struct untied *was = &cascade->undo[--cascade->undo_count];
    struct relation *relation = was->relation;
    if (!relation) {
      name_exchange(world, entity_id(&world->entities, was->source),
                    &world->staging.namings[was->target]);
      continue;
    }
    if (ties_target(&relation->ties, was->source)) relation_unlink(world, relation, was->source);
    if (was->target)
      relation_link_behind(world, relation, was->source, was->target, was->previous);
    else if (relation == world->relations.child_of)
      name_return(world, was->source);
    assert(ties_target(&relation->ties, was->source) == was->target);
  }
  cascade_forget(cascade);
}

void cascade_free(ecs_world *world) {
  struct cascade *cascade = &world->cascade;
  struct memory *memory = &world->memory;
  FREE_LIST(memory, cascade->dying, cascade->capacity);
  FREE_LIST(memory, cascade->causes, cascade->cause_capacity);
  FREE_LIST(memory, cascade->marks, cascade->mark_capacity);
  FREE_LIST(memory, cascade->undo, cascade->undo_capacity);
  FREE_LIST(memory, cascade->pending, cascade->pending_capacity);
  map_free(memory, &cascade->pending_of);
  *cascade = (struct cascade){.dying = NULL};
}

/* ---- cascade end ---- */

#define FINISHED_AT_ONCE 512u

/* Removes a dying entity's row; if its whole table dies, the first one removes all rows. A wrapped
** round counter only costs time. */
static inline void cascade_leave_table(ecs_world *world, struct table *table, uint32_t row) {
  const struct cascade *cascade = &world->cascade;
  if (table->count == 0) return;
  bool asked = table->leaving == cascade->round;
  table->leaving = cascade->round;
  /* Whether every entity of the table dies: asking costs no more than their deaths. */
  uint32_t at = asked || table->has_any ? NONE : 0;
  while (at < table->count && cascade_takes(cascade, table->rows[at])) at++;
  if (at == table->count)
    rows_move_all(world, table, NULL);
  else
    row_leave(world, table, row);
}

/* Forgets the rows of entities whose table is already empty. */
static void cascade_leave_rows(ecs_world *world, const uint32_t *entities, uint32_t count) {
  bool sparse = world->sparses.rows != 0;
  uint32_t gone = RECORD_BARE;
  for (uint32_t i = 0; i < count; i++) {
    const struct record *record = entity_record(&world->entities, entities[i]);
    if (UNLIKELY(sparse)) sparse_leave(world, entities[i]);
    if (LIKELY(record->table == gone) || record->table == RECORD_BARE) continue;
    struct table *table = world_table(world, record->table);
    cascade_leave_table(world, table, record->row);
    if (table->count == 0) gone = table->index;
  }
}

/* Works in groups, so that each entity's data stays in cache: a fifth off a million deaths. */
void cascade_finish(ecs_world *world) {
  struct cascade *cascade = &world->cascade;
  cascade->round++;
  for (uint32_t i = 0; i < cascade->count; i += FINISHED_AT_ONCE) {
    uint32_t rest = cascade->count - i;
    const uint32_t *dying = cascade->dying + i;
    uint32_t count = rest < FINISHED_AT_ONCE ? rest : FINISHED_AT_ONCE;
    relation_drop(world, dying, count);
    cascade_leave_rows(world, dying, count);
    for (uint32_t j = 0; j < count && UNLIKELY(world->names.by_entity.count); j++)
      name_forget(world, dying[j]);
    entity_release_all(&world->entities, dying, count);
  }
  cascade_forget(cascade);
}

INLINE void cascade_end_entity(ecs_world *world, ecs_id entity, bool plain) {
  if (plain && LIKELY(row_end(world, entity))) return;
  if (ecs_alive(world, entity)) entity_kill(world, ecs_id_index(entity));
}

void cascade_none(ecs_world *world) {
  const struct staging *staging = &world->staging;
  /* There are no ties: deaths may only remove rows. */
  bool plain = !world->sparses.rows && !world->names.by_entity.count;
  for (uint32_t i = 0; staging->ends && i < staging->command_count; i++)
    if (command_is_end(&staging->commands[i]))
      cascade_end_entity(world, staging->commands[i].entity, plain);
}

void cascade_ends(ecs_world *world) {
  const struct staging *staging = &world->staging;
  assert(staging->ends == staging->command_count && world->cascade.count == 0);
  for (uint32_t i = 0; i < staging->chain_count; i++)
    cascade_end_entity(world, staging->chains[i].entity, false);
}
