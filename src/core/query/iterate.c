/* Iterating over a query's tables, and changing all its rows at once. An iterator yields runs of
** rows: stretches of a table, or runs of a passage if terms are decided row by row. Each iteration
** holds a scope and a use of its query. */
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "ecs_query.h"

ecs_status query_usable(const ecs_query *query) {
  query_arrange(query);
  if (!query->broken) return ECS_OK;
  return world_fail(query->world, ECS_ENAME,
                    "query '%s' names a component or field that is no longer declared, or was "
                    "redeclared: create the query, or register its system, again", query->text);
}

ecs_status query_no_entities(const ecs_query *query) {
  return world_fail(query->world, ECS_EINVAL, "query '%s' yields events, which are not entities: "
                    "iterate over them row by row", query->text);
}

static void iterate_end_passage(ecs_iter *it) {
  if (it->passage) passage_free(it->query->world, it->passage);
  it->passage = NULL;
}

ecs_status ecs_iter_open(ecs_query *query, ecs_iter *it) {
  *it = (ecs_iter){.query = query, .table = NONE};
  ecs_status status = query_usable(query);
  if (status == ECS_OK && terms_walk(&query->terms)) {
    it->passage = passage_new(query);
    if (!it->passage) status = world_nomem(query->world);
  }
  if (status == ECS_OK) status = scope_open(query->world, SCOPE_LOOP, &it->scope);
  if (status == ECS_OK && query->terms.changes) {
    /* Comes after the scope is opened, which is closed again if memory runs out. */
    status = changes_open(query);
    if (status != ECS_OK) scope_cancel(query->world, it->scope);
  }
  it->open = status == ECS_OK;
  if (!it->open) iterate_end_passage(it);
  return status;
}

static bool iterate_come_to_end(ecs_iter *it) {
  it->count = 0;
  it->rows = NULL;
  return false;
}

/* The next run if rows of a table may differ. */
static APART bool iterate_next_run(ecs_iter *it) {
  const ecs_query *query = it->query;
  for (; it->match < query_reach(query); it->match++, it->behind = 0) {
    const struct table *table = query_table(query, it->match);
    uint32_t count, row = query_next_run(&query->terms, table, it->behind, &count);
    it->behind = row + count;
    if (count == 0) continue;
    it->table = it->match;
    it->first = row;
    it->count = count;
    it->rows = table->rows + row;
    return true;
  }
  return iterate_come_to_end(it);
}

/* Moves to the passage's run, in its table. */
INLINE void iterate_enter_run(ecs_iter *it, const struct passage *passage, uint32_t row,
                              uint32_t count) {
  assert(row == passage_row(passage) && count == passage->end - passage->at);
  it->first = row;
  it->count = count;
  it->rows = LIKELY(passage->entities) ? passage->entities + row : NULL;
}

/* Takes the next part of a batch; false at the end. */
static APART bool iterate_turn_of_passage(ecs_iter *it) {
  struct passage *passage = it->passage;
  if (UNLIKELY(!passage_turn(passage))) return iterate_come_to_end(it);
  assert(passage->match < it->query->count);
  it->table = passage->match;
  iterate_enter_run(it, passage, passage_row(passage), passage->end - passage->at);
  return true;
}

/* The next run, which may have several rows. */
static APART bool iterate_go_on(ecs_iter *it) {
  struct passage *passage = it->passage;
  passage->at = passage->end;
  passage->end = passage_run_end(passage, passage->at);
  iterate_enter_run(it, passage, passage_row(passage), passage->end - passage->at);
  return true;
}

/* The next run of a batch's part, usually of one row. */
INLINE bool iterate_next_of_passage(ecs_iter *it, struct passage *passage) {
  uint32_t at = passage->end, end = at + 1;
  const uint32_t *rows = passage->batch.own.rows;
  if (UNLIKELY(at == passage->turn)) return iterate_turn_of_passage(it);
  assert(passage->batched && it->table == passage->match);
  if (end < passage->turn && rows[end] == rows[at] + 1) return iterate_go_on(it);
  passage->at = at;
  passage->end = end;
  iterate_enter_run(it, passage, rows[at], 1);
  return true;
}

bool ecs_iter_next(ecs_iter *it) {
  const ecs_query *query = it->query;
  struct passage *passage = it->passage;
  if (passage) return iterate_next_of_passage(it, passage);
  if (UNLIKELY(!it->open)) return iterate_come_to_end(it);
  if (UNLIKELY(!query->terms.plain || it->behind)) return iterate_next_run(it);
  assert(query->arranged == query->world->graph.placings);
  for (uint32_t match; (match = it->match) < query->count;) {
    it->match = match + 1;
    const struct table *table = world_table(query->world, query->tables[match]);
    if (UNLIKELY(table->count == 0)) continue;
    it->table = match;
    it->count = table->count;
    it->rows = table->rows;
    return true;
  }
  return iterate_come_to_end(it);
}

bool ecs_iter_next_rows(ecs_iter *it) {
  struct passage *passage = it->passage;
  if (!passage || !passage->batched) return ecs_iter_next(it);
  if (UNLIKELY(!passage_take_part(passage))) return iterate_come_to_end(it);
  it->table = passage->match;
  it->first = passage_row(passage);
  it->count = passage->end - passage->at;
  it->rows = NULL;
  return true;
}

ecs_status ecs_iter_close(ecs_iter *it) {
  if (!it->open) return ECS_OK;
  ecs_status status = scope_commit(it->query->world, it->scope);
  it->open = scope_stays_open(status);
  if (!it->open) {
    iterate_end_passage(it);
    changes_close(it->query);
  }
  return world_tell_observers(it->query->world, status);
}

/* The entity of a row that comes from a list. */
static APART ecs_id iterate_entity_listed(const struct passage *passage, size_t row) {
  if (!passage || !passage->listed || !passage->entities) return ECS_NULL;
  uint32_t at = passage->batch.own.rows[passage->at + row];
  return entity_id(&passage->walk.query->world->entities, passage->entities[at]);
}

ecs_id ecs_iter_entity(const ecs_iter *it, size_t row) {
  assert(row < it->count);
  if (UNLIKELY(!it->rows)) return iterate_entity_listed(it->passage, row);
  return entity_id(&it->query->world->entities, it->rows[row]);
}

bool ecs_iter_has(const ecs_iter *it, uint32_t term) {
  const ecs_query *query = it->query;
  if (!query || term >= query->terms.count || it->table == NONE) return false;
  const struct term *asked = &query->terms.terms[term];
  if (it->passage && !it->passage->batched)
    return walk_cells(&it->passage->walk, asked).table != NULL;
  if (it->passage && term_is_by_row(asked)) return passage_has(it->passage, term);
  const struct table *table = query_table(query, it->table);
  return table_has(table, asked->id) && (!asked->toggled || term_shows(asked, table, it->first));
}

ecs_id ecs_iter_value(const ecs_iter *it, uint32_t variable) {
  return it->passage && it->count ? walk_value(&it->passage->walk, variable) : ECS_NULL;
}

static bool iterate_has_leaf(const struct term *term, uint32_t leaf) {
  return term->slot != NONE && leaf < (term->leaf == NONE ? term->component->leaf_count : 1);
}

/* Marks cells that are handed out for writing as written. */
static void iterate_note_handed(const ecs_iter *it, const struct term *term,
                                const struct table *table, uint32_t first, uint32_t row,
                                uint32_t count) {
  if (term->read_only || LIKELY(!table->mark_count)) return;
  assert(first < table->column_count && row + count <= table->count);
  marks_lend(it->query->world, table, table->columns[first].id, row, count);
}

/* ecs_iter_column if rows may differ. */
static APART void *iterate_column_of_run(const ecs_iter *it, uint32_t term, uint32_t leaf) {
  const ecs_query *query = it->query;
  const struct term *asked = &query->terms.terms[term];
  if (term >= query->terms.count || it->table == NONE || !iterate_has_leaf(asked, leaf))
    return NULL;
  struct walk_end end = {query_table(query, it->table), it->first,
                         query_columns(query, it->table)[asked->slot]};
  if (it->passage && term_is_by_row(asked)) end = walk_cells(&it->passage->walk, asked);
  if (!end.table || end.first == NONE) return NULL;
  if (asked->toggled && !term_shows(asked, end.table, end.row)) return NULL;
  iterate_note_handed(it, asked, end.table, end.first, end.row,
                      it->passage ? 1 : (uint32_t)it->count);
  return column_at(&end.table->columns[end.first + leaf], end.row);
}

/* ecs_iter_column if it is more than an address, or rows may differ. */
static APART void *iterate_column_of_passage(const ecs_iter *it, uint32_t term, uint32_t leaf) {
  const struct passage *passage = it->passage;
  if (!passage || !passage->batched) return iterate_column_of_run(it, term, leaf);
  if (term >= passage->term_count || leaf >= passage->terms[term].leaves) return NULL;
  if (passage->listed) return NULL;
  const struct passage_term *cells = &passage->terms[term];
  assert(cells->marks);
  marks_lend(it->query->world, cells->table, cells->columns->id, cells->rows[passage->at],
             (uint32_t)it->count);
  return passage_column(passage, term, leaf);
}

void *ecs_iter_column(const ecs_iter *it, uint32_t term, uint32_t leaf) {
  const ecs_query *query = it->query;
  const struct passage *passage = it->passage;
  if (passage) {
    if (LIKELY(term < passage->term_count && leaf < passage->terms[term].plain_leaves))
      return passage_column(passage, term, leaf);
    return iterate_column_of_passage(it, term, leaf);
  }
  if (UNLIKELY(!query->terms.plain)) return iterate_column_of_passage(it, term, leaf);
  if (term >= query->terms.count || it->table == NONE) return NULL;
  const struct term *asked = &query->terms.terms[term];
  if (!iterate_has_leaf(asked, leaf)) return NULL;
  assert(asked->slot < query->terms.slots);
  uint32_t first = query->columns[(size_t)it->table * query->terms.slots + asked->slot];
  if (first == NONE) return NULL;
  const struct table *table = world_table(query->world, query->tables[it->table]);
  if (UNLIKELY(table->mark_count)) return iterate_column_of_run(it, term, leaf);
  return table->columns[first + leaf].data;
}

/* Marks listed cells that are handed out for writing as written. */
static APART void iterate_note_listed(const ecs_iter *it, const struct passage_term *cells) {
  const uint32_t *rows = cells->rows + it->passage->at;
  for (size_t i = 0; i < it->count; i++)
    marks_lend(it->query->world, cells->table, cells->columns->id, rows[i], 1);
}

void *ecs_iter_cells(const ecs_iter *it, uint32_t term, uint32_t leaf, const uint32_t **rows) {
  static const uint32_t only[] = {0};
  const struct passage *passage = it->passage;
  *rows = passage ? only : NULL;
  if (!passage || !passage->batched) return ecs_iter_column(it, term, leaf);
  if (UNLIKELY(term >= passage->term_count)) return NULL;
  const struct passage_term *cells = &passage->terms[term];
  if (UNLIKELY(leaf >= cells->leaves)) return NULL;
  if (UNLIKELY(cells->marks)) iterate_note_listed(it, cells);
  *rows = cells->rows + passage->at;
  return cells->columns[leaf].data;
}

/* ---- all rows at once ---- */

/* Changes each entity once, however often it matches. */
static ecs_status iterate_change_matches(ecs_query *query, ecs_id id, enum command_kind kind) {
  ecs_world *world = query->world;
  bool adds = kind == COMMAND_ADD, relates = id != ECS_NULL && relation_of(world, id);
  struct walk walk;
  ecs_status status = ECS_OK;
  uint32_t last = 0;
  walk_begin(&walk, query);
  while (status == ECS_OK && walk_next(&walk)) {
    uint32_t at = walk.table->rows[walk.row];
    if (at == last) continue;
    ecs_id entity = entity_id(&world->entities, last = at);
    if (kind == COMMAND_DESPAWN)
      status = entity_despawn(world, entity);
    else if (relates)
      status = relate_change(world, entity, id, adds);
    else
      status = (adds ? entity_add : entity_remove)(world, entity, id);
  }
  return status;
}

/* Changes entity by entity, in one scope. */
static ecs_status iterate_change_each(ecs_query *query, ecs_id id, enum command_kind kind) {
  ecs_world *world = query->world;
  uint32_t scope;
  ecs_status status = scope_open_own(world, &scope);
  if (status != ECS_OK) return status;
  return scope_end_own(world, scope, iterate_change_matches(query, id, kind));
}

static ecs_status iterate_need_no_scope(const ecs_query *query) {
  if (query->terms.event) return query_no_entities(query);
  if (!staging_is_open(&query->world->staging)) return ECS_OK;
  return world_fail(query->world, ECS_EBUSY, "cannot change whole tables inside a scope");
}

/* Whether all rows of its tables match. */
static bool iterate_is_whole(const ecs_query *query) {
  return !query->terms.step_count && !query_has_runs(query);
}

static ecs_status iterate_change_matching(ecs_query *query, ecs_id id, bool add) {
  ecs_world *world = query->world;
  struct component *component;
  ecs_status status = query_usable(query);
  if (status == ECS_OK) status = component_need_id(world, id, &component);
  if (status == ECS_OK) status = iterate_need_no_scope(query);
  if (status != ECS_OK) return status;
  enum command_kind kind = add ? COMMAND_ADD : COMMAND_REMOVE;
  if (component->relation && (add || !component->relation->exclusive)) {
    if (add && !id_is_pair(id)) return relate_no_target(world, component);
    return iterate_change_each(query, id, kind);
  }
  bool plain = world->staging.watched ? batch_is_plain(world, kind, id)
                                      : !component->sparse && !sparse_is_mixed(world);
  if (!plain || !iterate_is_whole(query))
    return iterate_change_each(query, id, kind);
  return batch_change_tables(query, kind, id);
}

static ecs_status iterate_change_all(ecs_query *query, ecs_id id, bool add) {
  ecs_status status = iterate_change_matching(query, id, add);
  if (status == ECS_OK) changes_use(query);
  return status;
}

ecs_status ecs_query_add(ecs_query *query, ecs_id component) {
  return world_tell_observers(query->world, iterate_change_all(query, component, true));
}

ecs_status ecs_query_remove(ecs_query *query, ecs_id component) {
  return world_tell_observers(query->world, iterate_change_all(query, component, false));
}

bool query_reaches_components(const ecs_query *query) {
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    if (rows_have_component(table->rows, table->count)) return true;
  }
  return false;
}

ecs_status ecs_query_despawn(ecs_query *query) {
  ecs_world *world = query->world;
  ecs_status status = query_usable(query);
  if (status == ECS_OK) status = iterate_need_no_scope(query);
  if (status != ECS_OK) return status;
  if (!query_rows_are_whole(&query->terms) || query_reaches_components(query)) {
    struct walk walk;
    for (walk_begin(&walk, query); walk_next(&walk);) {
      ecs_id id = walk_entity(&walk);
      if (ecs_id_index(id) < FIRST_ENTITY)
        return world_fail(world, ECS_EINVAL, SHOW_ID " is a component: undeclare '%s' instead", id,
                          component_of(world, id)->name);
    }
  }
  if (iterate_is_whole(query) && batch_is_plain(world, COMMAND_DESPAWN, ECS_NULL))
    status = batch_change_tables(query, COMMAND_DESPAWN, ECS_NULL);
  else
    status = iterate_change_each(query, ECS_NULL, COMMAND_DESPAWN);
  if (status == ECS_OK) changes_use(query);
  return world_tell_observers(world, status);
}
