#include "core/base/sets.h"
#include "core/command/cascade.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"
#include "ecs_world.h"

/* ---- merge ---- */

/* Applies a command to a set of ids that has room for `room`. Returns the new count. */
static uint32_t apply_change_set(const ecs_world *world, const struct command *command, ecs_id *ids,
                                 uint32_t count, uint64_t room) {
  const struct relation *relation = relation_of(world, command->component);
  ecs_id id = command->component;
  bool removes = command->kind == COMMAND_REMOVE;
  if (relation && relation->exclusive) {
    id = relation->component->id;
    removes = !command->ties;
    if (command->anew) count = id_set_remove(ids, count, id);
  }
  bool changes = command->kind != COMMAND_SPAWN && !command_is_switch(command);
  if (!changes || !component_of(world, id)) return count;
  if (!removes) return require_insert(world, ids, count, room, id);
  bool all = relation && !relation->exclusive && !id_is_pair(id);
  if (!all) return id_set_remove(ids, count, id);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!id_is_pair(ids[i]) || pair_relation(ids[i]) != ecs_id_index(id)) ids[kept++] = ids[i];
  return kept;
}

/* Removes relations and pairs from the set unless the entity's ties have them after
** cascade_decide. */
static uint32_t apply_keep_tied(const ecs_world *world, uint32_t entity, ecs_id *ids,
                                uint32_t count) {
  uint32_t kept = 0;
  if (world->relations.count == 0) return count;
  for (uint32_t i = 0; i < count; i++) {
    const struct relation *relation = relation_of(world, ids[i]);
    bool tied = !relation;
    if (relation && relation->exclusive) tied = ties_target(&relation->ties, entity) != 0;
    if (relation && !relation->exclusive)
      tied = !cascade_takes(&world->cascade, pair_target(ids[i]));
    if (tied) ids[kept++] = ids[i];
  }
  return kept;
}

/* Applies a chain's commands, except dropped ones, to a set of ids with room for `room`. Returns
** the new count, or NONE if the entity dies. Called after cascade_decide. */
static uint32_t apply_merge(const ecs_world *world, const struct chain *chain, ecs_id *ids,
                            uint32_t count, uint64_t room) {
  const struct staging *staging = &world->staging;
  for (uint32_t at = chain->first; at != NONE; at = staging->commands[at].next) {
    struct command *command = &staging->commands[at];
    assert(at < staging->command_count && command->entity == chain->entity);
    if (command->dropped) continue;
    if (command_is_end(command)) return NONE;
    command->idle = command_is_switch(command) && !id_set_has(ids, count, command->component);
    count = apply_change_set(world, command, ids, count, room);
  }
  return apply_keep_tied(world, ecs_id_index(chain->entity), ids, count);
}

/* ---- replaying ---- */

void replay_release(ecs_world *world, const struct command *command) {
  const struct component *component = component_of(world, command->component);
  if (!component || !component->has_any || (command->dropped && world->staging.own)) return;
  assert(command->first_write + command->write_count <= world->staging.write_count);
  for (uint32_t i = 0; i < command->write_count; i++) {
    const struct write *write = &world->staging.writes[command->first_write + i];
    if (component->leaves[write->leaf].type == ECS_ANY)
      any_release(&world->any, write->cell.u32);
  }
}

/* The table that holds the command's component: that of the entity's row, or a sparse one. */
static struct table *apply_replaying_home_of(const ecs_world *world, struct table *table,
                                             const struct command *command) {
  const struct sparse *sparse = sparse_of(world, command->component);
  return sparse ? sparse->table : table;
}

/* Resets to defaults what a command removed and a later one added again. For an exclusive relation,
** its tie says so (command->anew). */
static void apply_reset_removed(ecs_world *world, const struct command *command,
                                struct table *table, uint32_t row) {
  const struct relation *relation = relation_of(world, command->component);
  if (command->dropped || (relation && relation->exclusive)) return;
  uint32_t at = row;
  const struct layout *layout =
      sparse_layout(world, table, ecs_id_index(command->entity), command->component, &at);
  if (layout->count) table_write_defaults(world, layout, at);
  if (layout->taken) {
    struct table *home = apply_replaying_home_of(world, table, command);
    marks_note(world, home, command->component, at);
    if (home->off) toggle_set(home, command->component, at, false);
  }
  if (!relation || id_is_pair(command->component) || !table->has_pairs) return;
  for (uint32_t i = 0; i < table->id_count; i++)
    if (id_is_pair(table->ids[i]) && component_of(world, table->ids[i]) == relation->component) {
      table_write_defaults(world, table_find(table, table->ids[i]), row);
      marks_note(world, table, table->ids[i], row);
    }
}

/* Replays a chain's commands in order, with the row in its final table: carried cells hold old
** values, new ones defaults. */
static void apply_replay(ecs_world *world, const struct chain *chain, struct table *table,
                         uint32_t row) {
  const struct staging *staging = &world->staging;
  for (uint32_t at = chain->first; at != NONE; at = staging->commands[at].next) {
    const struct command *command = &staging->commands[at];
    uint32_t count = command->write_count, to = row;
    const struct layout *layout =
        sparse_layout(world, table, ecs_id_index(command->entity), command->component, &to);
    if (command->anew && layout->count) table_write_defaults(world, layout, to);
    if (layout->taken && (command->anew || command->kind == COMMAND_SET) && !command->dropped)
      marks_note(world, apply_replaying_home_of(world, table, command), command->component, to);
    if (command->kind == COMMAND_SET && (!layout->taken || command->dropped))
      replay_release(world, command);
    else if (command->kind == COMMAND_SET && count)
      table_write(world, layout->columns, to, staging->writes + command->first_write, count);
    else if (command->kind == COMMAND_REMOVE)
      apply_reset_removed(world, command, table, row);
    else if (command_is_switch(command) && !command->idle && layout->taken)
      toggle_set(apply_replaying_home_of(world, table, command), command->component, to,
                 command->kind == COMMAND_DISABLE);
  }
}

/* ---- one chain ---- */

static struct table *apply_home(const ecs_world *world, ecs_id entity) {
  const struct record *record = entity_find(&world->entities, entity);
  assert(record);
  return record->table == RECORD_BARE ? NULL : world_table(world, record->table);
}

static void apply_refuse_removal(ecs_world *world, uint32_t at, struct gap gap) {
  ecs_id entity = world->staging.commands[at].entity;
  staging_refuse(world, at, require_refuse(world, entity, gap));
}

/* The target of a single add or remove, by an edge of the graph: saves 23 % of staging and
** applying. */
static ecs_status apply_target_of_one(ecs_world *world, struct table *from, uint32_t at,
                                      struct table **out) {
  const struct command *command = &world->staging.commands[at];
  struct gap gap = {command->component, ECS_NULL};
  *out = from;
  switch (command->kind) {
    case COMMAND_REMOVE:
      if (!graph_edge(from, command->component)->table)
        gap.by = require_holder(world, from, command->component);
      if (!gap.by) return graph_without(world, from, command->component, out);
      apply_refuse_removal(world, at, gap);
      return ECS_OK;
    case COMMAND_ADD:
    case COMMAND_SET: return graph_with(world, from, command->component, out);
    default: return ECS_OK;
  }
}

/* Drops the last command that removes a required component. */
static void apply_drop_removal(ecs_world *world, const struct chain *chain, struct gap gap) {
  const struct staging *staging = &world->staging;
  uint32_t last = NONE;
  for (uint32_t at = chain->first; at != NONE; at = staging->commands[at].next) {
    const struct command *command = &staging->commands[at];
    bool removes = command->kind == COMMAND_REMOVE && command->component == gap.missing;
    if (removes && !command->dropped) last = at;
  }
  assert(last != NONE);
  apply_refuse_removal(world, last, gap);
}

/* Collects the ids that an entity ends with, sparse ones included, in scratch memory that has room.
** Returns their number, or NONE if it dies. */
static uint32_t apply_ids_of_chain(const ecs_world *world, const struct table *from,
                                   const struct chain *chain, ecs_id *ids, uint64_t room) {
  memcpy(ids, from->ids, from->id_count * sizeof *ids);
  uint32_t count = sparse_join_ids(world, ecs_id_index(chain->entity), ids, from->id_count);
  return apply_merge(world, chain, ids, count, room);
}

static uint64_t apply_room_of_chain(const ecs_world *world, const struct table *from,
                                    const struct chain *chain) {
  uint32_t length = 0;
  for (uint32_t at = chain->first; at != NONE; at = world->staging.commands[at].next) length++;
  return require_room(world, (uint64_t)from->id_count + world->sparses.count, length);
}

/* Finds the table of the ids that an entity ends with; *out stays NULL if it dies. */
static ecs_status apply_target_of_many(ecs_world *world, struct table *from, struct chain *chain,
                                       struct table **out) {
  uint64_t room = apply_room_of_chain(world, from, chain);
  ecs_id *ids = world_scratch(world, room);
  if (!ids) return world_nomem(world);
  uint32_t count;
  struct gap gap;
  for (;;) {
    count = apply_ids_of_chain(world, from, chain, ids, room);
    if (count == NONE) return ECS_OK;
    if (!require_gap(world, ids, count, false, &gap)) break;
    apply_drop_removal(world, chain, gap);
  }
  chain->sparse = world->sparses.count != 0;
  uint32_t others = chain->sparse ? sparse_part_ids(world, ids, count) : count;
  ecs_status status = sparse_plan(world, ecs_id_index(chain->entity), ids + others,
                                  count - others);
  return status == ECS_OK ? graph_table(world, ids, others, out) : status;
}

/* Whether one edge of the graph leads from the entity's table to its target. */
static bool apply_is_plain(const ecs_world *world, const struct chain *chain,
                           const struct table *from) {
  if (chain->first != chain->last || chain->first == NONE) return false;
  if (UNLIKELY(world->sparses.count) &&
      (sparse_is_mixed(world) ||
       sparse_of(world, world->staging.commands[chain->first].component)))
    return false;
  if (LIKELY(world->relations.count == 0)) return true;
  return !from->has_ties && !from->has_pairs &&
         !relation_of(world, world->staging.commands[chain->first].component);
}

/* Cache: where the last chain of a single command led, along an edge of the graph. */
struct chain_way {
  const struct table *from;
  struct table *to;
  enum command_kind kind;
  ecs_id component;
  uint32_t spawned;            /* first command of the last chain that spawns, or NONE: */
  struct table *home;          /* its table */
};

/* Whether two chains spawn with the same components. */
static bool apply_spawn_alike(const struct staging *staging, uint32_t x, uint32_t y) {
  const struct command *commands = staging->commands;
  if (commands[x].kind != COMMAND_SPAWN) return false;
  while (commands[x].next != NONE && commands[y].next != NONE) {
    x = commands[x].next;
    y = commands[y].next;
    if (commands[x].kind != COMMAND_SET || commands[y].kind != COMMAND_SET) return false;
    if (commands[x].component != commands[y].component) return false;
  }
  return commands[x].next == commands[y].next;
}

/* Sends an entity to the table of the one spawned before, if both have the same components. */
static bool apply_plan_spawn_like(const ecs_world *world, struct chain *chain,
                                  const struct chain_way *way) {
  if (way->spawned == NONE || chain->first == NONE) return false;
  if (!apply_spawn_alike(&world->staging, chain->first, way->spawned)) return false;
  struct table *to = way->home;
  if (!entity_in_first_slots(&world->entities, chain->entity)) return false;
  const struct record *record = entity_first_record(&world->entities, chain->entity, RECORD_BARE);
  if (!record || record->table != RECORD_BARE) return false;
  if (to->incoming == to->capacity - to->count) return false;
  chain->skip = chain->sparse = false;
  chain->target = to->index;
  to->incoming++;
  return true;
}

/* Whether later spawns with the same components can use its table. */
static bool apply_leads_others(const ecs_world *world, const struct chain *chain) {
  const struct staging *staging = &world->staging;
  if (world->cascade.count || world->sparses.count || world->relations.count) return false;
  for (uint32_t at = chain->first; at != NONE; at = staging->commands[at].next)
    if (staging->commands[at].dropped) return false;
  return apply_spawn_alike(staging, chain->first, chain->first);
}

/* Plans a chain like the previous one: most have one command and follow the same edge. */
INLINE bool apply_plan_like(const ecs_world *world, struct chain *chain,
                            const struct chain_way *way) {
  if (chain->first != chain->last || chain->first == NONE || world->cascade.count) return false;
  const struct command *command = &world->staging.commands[chain->first];
  if (command_is_end(command) && entity_find_row(&world->entities, chain->entity)) {
    chain->skip = chain->sparse = false;
    chain->target = NONE;
    return true;
  }
  if (!way->from || command->kind != way->kind || command->component != way->component)
    return false;
  const struct record *record = entity_find_row(&world->entities, chain->entity);
  if (!record || world_table(world, record->table) != way->from) return false;
  struct table *to = way->to;
  bool moves = to != way->from;
  if (moves && to->incoming == to->capacity - to->count) return false;
  chain->skip = chain->sparse = false;
  chain->target = to->index;
  to->incoming += moves;
  return true;
}

static ecs_status apply_plan_chain(ecs_world *world, struct chain *chain, struct chain_way *way) {
  if (LIKELY(apply_plan_like(world, chain, way))) return ECS_OK;
  if (apply_plan_spawn_like(world, chain, way)) return ECS_OK;
  way->from = NULL;
  chain->skip = !ecs_alive(world, chain->entity) ||
                cascade_takes(&world->cascade, ecs_id_index(chain->entity));
  chain->target = NONE;
  chain->sparse = false;
  if (chain->skip) return ECS_OK;
  struct table *now = apply_home(world, chain->entity);
  struct table *from = now ? now : world->graph.empty;
  struct table *to = NULL;
  ecs_status status = ECS_OK;
  if (chain->first != NONE && command_is_end(&world->staging.commands[chain->first])) return ECS_OK;
  bool plain = apply_is_plain(world, chain, from);
  if (plain)
    status = apply_target_of_one(world, from, chain->first, &to);
  else
    status = apply_target_of_many(world, from, chain, &to);
  if (status != ECS_OK || !to) return status;
  const struct command *command = &world->staging.commands[chain->first];
  if (plain && !command->dropped)
    *way = (struct chain_way){now, to, command->kind, command->component, way->spawned, way->home};
  if (!plain && apply_leads_others(world, chain)) {
    way->spawned = chain->first;
    way->home = to;
  }
  chain->target = to->index;
  if (to != now) to->incoming++;
  return table_reserve(world, to, to->incoming);
}

/* Plans all chains: everything that can fail. Called after cascade_decide. */
static ecs_status apply_plan(ecs_world *world) {
  struct staging *staging = &world->staging;
  ecs_status status = ECS_OK;
  uint32_t done = 0;
  struct chain_way way = {NULL, NULL, COMMAND_ADD, ECS_NULL, NONE, NULL};
  while (done < staging->chain_count && status == ECS_OK)
    status = apply_plan_chain(world, &staging->chains[done++], &way);
  for (uint32_t i = 0, last = NONE; i < done; i++) {
    uint32_t target = staging->chains[i].target;
    if (target == last) continue;
    if (target != NONE) world_table(world, target)->incoming = 0;
    last = target;
  }
  sparse_forget_plan(world);
  return status;
}

static void apply_drop_chain(ecs_world *world, const struct chain *chain) {
  const struct staging *staging = &world->staging;
  for (uint32_t at = chain->first; at != NONE; at = staging->commands[at].next)
    replay_release(world, &staging->commands[at]);
}

/* Adds and removes an entity's sparse components as planned, in reserved room. */
static void apply_sparse(ecs_world *world, const struct chain *chain) {
  const struct table *now = apply_home(world, chain->entity);
  const struct table *from = now ? now : world->graph.empty;
  uint64_t room = apply_room_of_chain(world, from, chain);
  ecs_id *ids = world_scratch(world, room);
  assert(ids);
  sparse_become(world, ecs_id_index(chain->entity), ids,
                apply_ids_of_chain(world, from, chain, ids, room));
}

/* Writes the targets of the ties into the cells of exclusive relations. */
static void apply_targets(ecs_world *world, const struct table *table, uint32_t entity,
                          uint32_t row) {
  for (uint32_t i = 0; i < world->relations.count; i++) {
    const struct relation *relation = world->relations.list[i];
    if (!relation->exclusive) continue;
    const struct layout *layout = table_find(table, relation->component->id);
    if (!layout->columns) continue;
    ecs_id *cell = (ecs_id *)layout->columns[TARGET_LEAF].data + row;
    ecs_id target = relation_target(world, relation, entity);
    if (*cell != target) marks_note(world, table, layout->id, row);
    *cell = target;
  }
}

static void apply_chain(ecs_world *world, const struct chain *chain) {
  uint32_t index = ecs_id_index(chain->entity);
  if (chain->skip || chain->target == NONE) {
    apply_drop_chain(world, chain);
    return;
  }
  struct table *target = world_table(world, chain->target);
  assert(target->incoming == 0 && ecs_alive(world, chain->entity));
  if (UNLIKELY(chain->sparse)) apply_sparse(world, chain);
  row_move(world, index, target);
  const struct record *record = entity_record(&world->entities, index);
  if (record->table == RECORD_BARE)
    apply_drop_chain(world, chain);
  else
    apply_replay(world, chain, target, record->row);
  if (target->has_ties) apply_targets(world, target, index, record->row);
}

/* ---- chains that move alike ---- */

/* Whether the chain only moves its entity to another table. */
INLINE bool apply_is_only_move(const ecs_world *world, const struct chain *chain) {
  if (chain->first != chain->last || chain->first == NONE || chain->skip || chain->sparse ||
      chain->target == NONE || ecs_id_index(chain->entity) < FIRST_ENTITY)
    return false;
  const struct command *command = &world->staging.commands[chain->first];
  if (command->kind != COMMAND_ADD && command->kind != COMMAND_REMOVE) return false;
  return LIKELY(world->relations.count == 0) || !relation_of(world, command->component);
}

/* Lists chains from `first` on, at most ROWS_TOGETHER, that move between the same two tables.
** Returns their number. */
static uint32_t apply_list_moves(const ecs_world *world, uint32_t first, uint32_t *entities) {
  const struct staging *staging = &world->staging;
  const struct chain *chain = &staging->chains[first];
  uint32_t count = 0, most = staging->chain_count - first;
  uint32_t target = chain->target, from = NONE;
  for (; count < most && count < ROWS_TOGETHER && apply_is_only_move(world, chain);
       count++, chain++) {
    uint32_t index = ecs_id_index(chain->entity);
    uint32_t table = entity_record(&world->entities, index)->table;
    if (count == 0) from = table;
    if (table != from || table == RECORD_BARE || chain->target != target) break;
    entities[count] = index;
  }
  return count;
}

/* Applies the next chains. Returns their number. */
static uint32_t apply_next(ecs_world *world, uint32_t first) {
  uint32_t entities[ROWS_TOGETHER];
  const struct chain *chain = &world->staging.chains[first];
  bool ends = chain->target == NONE && !chain->skip && chain->first == chain->last;
  if (ends && chain->first != NONE && command_is_end(&world->staging.commands[chain->first]))
    return 1;
  uint32_t count = apply_list_moves(world, first, entities);
  if (count < 2 || world_table(world, chain->target)->has_ties) {
    apply_chain(world, chain);
    return 1;
  }
  struct table *from = apply_home(world, chain->entity), *to = world_table(world, chain->target);
  assert(from && to->incoming == 0);
  if (from != to) rows_move(world, from, to, entities, count);
  return count;
}

/* Whether the effect of the commands depends on ties or names. */
static bool apply_has_ties(const ecs_world *world) {
  return world->staging.ties || world->relations.tied || world->graph.pair_tables;
}

/* Decides ties and deaths and plans all chains: everything that can fail. */
static ecs_status apply_decide(ecs_world *world, bool cascades) {
  ecs_status status = cascades ? cascade_decide(world) : ECS_OK;
  if (status == ECS_OK) status = apply_plan(world);
  if (status != ECS_OK || LIKELY(!world->staging.whole)) return status;
  return staging_refusal(world);
}

/* Notes what observers will be told, while ties are still as they were. */
static APART ecs_status apply_note_changes(ecs_world *world) {
  bool untied = world->cascade.undo_count != 0;
  ecs_status status = watch_changes(world);
  if (status == ECS_OK && untied) cascade_undo(world);
  if (status == ECS_OK) status = watch_matches(world);
  return status == ECS_OK && untied ? apply_decide(world, true) : status;
}

/* Applies the written commands, chain by chain. */
static ecs_status apply_chains(ecs_world *world) {
  struct staging *staging = &world->staging;
  bool cascades = apply_has_ties(world);
  ecs_status status = apply_decide(world, cascades);
  if (status == ECS_OK && UNLIKELY(staging->watched)) status = apply_note_changes(world);
  /* Memory for the message of a refusal is reserved before anything applies. */
  const struct loop_owner *owner = staging->refused != ECS_OK ? staging->loop_owners : NULL;
  for (; owner && status == ECS_OK; owner = owner->next)
    if (!owner->reserve_words(owner->ud, staging->refusal)) status = world_nomem(world);
  if (status != ECS_OK) {
    cascade_undo(world);
    if (staging->watched) watch_forget_changes(world);
    /* What the failed attempt has dropped is decided again. */
    staging->refused = ECS_OK;
    for (uint32_t i = 0; i < staging->command_count; i++) staging->commands[i].dropped = false;
    return status;
  }
  for (uint32_t i = 0; i < staging->chain_count;) i += apply_next(world, i);
  (cascades ? cascade_finish : cascade_none)(world);
  world->watching->note_count = 0;
  return ECS_OK;
}

ecs_status commands_apply(ecs_world *world) {
  struct staging *staging = &world->staging;
  if ((staging->command_count | world->watching->note_count) == 0) return ECS_OK;
  bool applied;
  ecs_status status = batch_apply(world, &applied);
  if (status == ECS_OK && !applied) status = commands_write(world);
  bool ends = staging->ends == staging->command_count && !staging->watched &&
              world->watching->note_count == 0 && !apply_has_ties(world);
  if (status == ECS_OK && !applied && ends)    /* despawns alone cannot fail */
    cascade_ends(world);
  else if (status == ECS_OK && !applied)
    status = apply_chains(world);
  if (status != ECS_OK) return status;
  commands_forget(world);
  world_settle(world);
  return ECS_OK;
}
