#include "core/change/migrate.h"

#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/declare.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/sparse.h"

/* ---- components that contain changed ones ---- */

static bool migrate_plan_is_removed(const struct migration *migration, ecs_id id) {
  const struct change *change = migration_of(migration, id);
  return change && !change->wanted;
}

/* A field whose component is removed or has been replaced in the registry; or NULL. */
static const struct field *migrate_plan_stale_field(const struct migration *migration,
                                                    const struct component *component) {
  const ecs_world *world = migration->world;
  for (uint32_t i = 0; i < component->field_count; i++) {
    const struct component *nested = component->fields[i].nested;
    if (!nested) continue;
    if (world->registry.components[ecs_id_index(nested->id)] != nested ||
        migrate_plan_is_removed(migration, nested->id))
      return &component->fields[i];
  }
  return NULL;
}

static ecs_status migrate_plan_follow(struct migration *migration, struct component *component,
                                      const struct field *field) {
  ecs_world *world = migration->world;
  uint32_t at = ecs_id_index(component->id);
  if (migrate_plan_is_removed(migration, field->nested->id))
    return world_blame(world, world_fail(world, ECS_EINVAL, "'%s' cannot be undeclared: it is the "
                                         "type of field '%s.%s'", field->nested->name,
                                         component->name, field->name), component->name);
  struct component *wanted;
  ecs_status status = redeclare(world, world, component, &wanted);
  if (status != ECS_OK) return world_blame(world, status, component->name);
  const struct change *change = migration_of(migration, component->id);
  status = migration_add(migration, change ? change->component : component, wanted);
  if (status == ECS_OK) world->registry.components[at] = wanted;
  return status;
}

/* The path from the component being examined to one that it contains. */
struct tie_path {
  const struct tie_path *above;
  ecs_id id;
};

/* Follows parts first, so that no component, to which others may point, is followed twice. */
static ecs_status migrate_plan_follow_parts(struct migration *migration, ecs_id id,
                                            const struct tie_path *above) {
  ecs_world *world = migration->world;
  struct tie_path path = {above, id};
  struct component *component = world->registry.components[ecs_id_index(id)];
  for (; above; above = above->above)
    if (above->id == id)
      return world_blame(world, world_fail(world, ECS_EINVAL, "component '%s' would contain "
                                           "itself", component->name), component->name);
  for (uint32_t i = 0; i < component->field_count; i++) {
    const struct component *nested = component->fields[i].nested;
    if (!nested || migrate_plan_is_removed(migration, nested->id)) continue;
    ecs_status status = migrate_plan_follow_parts(migration, nested->id, &path);
    if (status != ECS_OK) return status;
  }
  const struct field *field = migrate_plan_stale_field(migration, component);
  return field ? migrate_plan_follow(migration, component, field) : ECS_OK;
}

ecs_status migration_follow_nested(struct migration *migration) {
  const ecs_world *world = migration->world;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < world->registry.count && status == ECS_OK; i++) {
    const struct component *component = world->registry.components[i];
    if (component && !migrate_plan_is_removed(migration, component->id))
      status = migrate_plan_follow_parts(migration, component->id, NULL);
  }
  return status;
}

/* ---- where leaves come from ---- */

/* A rename that has been done no longer counts: the field is found by its own name. NULL if the
** field is known to be new. */
static const char *migrate_plan_name_before(const struct change *change,
                                            const struct field *field) {
  const struct former *former = &change->wanted->former;
  if (change->names) return change->names[field - change->wanted->fields];
  for (uint32_t i = 0; i < former->was_count; i++) {
    const ecs_rename *rename = &former->was[i];
    if (strcmp(rename->name, field->name) == 0 &&
        component_field(change->component, rename->was, strlen(rename->was)) != NONE)
      return rename->was;
  }
  return field->name;
}

/* A leaf of a nested component: its element and inner leaf, found in the old field. */
static uint32_t migrate_plan_nested_source(struct migration *migration, const struct field *field,
                                           const struct field *old, uint32_t leaf) {
  uint32_t inner_count = field->nested->leaf_count;
  uint32_t element = (leaf - field->first_leaf) / inner_count;
  uint32_t inner = (leaf - field->first_leaf) % inner_count;
  const struct change *change = migration_of(migration, field->nested->id);
  if (element >= field_elements(old)) return NONE;
  if (change) inner = change->source[inner];
  if (inner == NONE) return NONE;
  return old->first_leaf + element * (old->leaf_count / field_elements(old)) + inner;
}

static uint32_t migrate_plan_source_of(struct migration *migration, const struct change *change,
                                       uint32_t leaf_at) {
  const struct component *old = change->component;
  const struct leaf *leaf = &change->wanted->leaves[leaf_at];
  const struct field *field = &change->wanted->fields[leaf->field];
  const char *name = migrate_plan_name_before(change, field);
  uint32_t at = name ? component_field(old, name, strlen(name)) : NONE;
  if (at == NONE) return NONE;
  const struct field *before = &old->fields[at];
  if (field->nested && before->nested && field->nested->id == before->nested->id)
    return migrate_plan_nested_source(migration, field, before, leaf_at);
  char text[MESSAGE_SIZE];
  size_t size = text_format(text, sizeof text, "%s%s", name, leaf->name + field->name_size);
  return component_leaf(old, text, size);
}

ecs_status migration_map(struct migration *migration, struct change *change) {
  struct component *wanted = change->wanted;
  if (!wanted || change->source || wanted->leaf_count == 0) return ECS_OK;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < wanted->field_count && status == ECS_OK; i++) {
    const struct component *nested = wanted->fields[i].nested;
    struct change *inner = nested ? migration_of(migration, nested->id) : NULL;
    if (inner) status = migration_map(migration, inner);
  }
  if (status != ECS_OK) return status;
  uint32_t *source = arena_take(&migration->world->memory, &change->arena,
                                wanted->leaf_count * sizeof *source);
  if (!source) return world_nomem(migration->world);
  for (uint32_t i = 0; i < wanted->leaf_count; i++)
    source[i] = migrate_plan_source_of(migration, change, i);
  change->source = source;
  return ECS_OK;
}

/* ---- reports ---- */

static bool migrate_plan_is_used(const struct change *change, uint32_t old_leaf) {
  for (uint32_t i = 0; change->source && i < change->wanted->leaf_count; i++)
    if (change->source[i] == old_leaf) return true;
  return false;
}

static struct report_item migrate_plan_kept_item(const struct change *change, uint32_t at) {
  const struct leaf *leaf = &change->wanted->leaves[at];
  struct report_item item = {LEAF_ADDED, leaf->name, NULL, NULL, type_name(leaf->type),
                             false};
  uint32_t source = change->source[at];
  if (source == NONE) return item;
  const struct leaf *old = &change->component->leaves[source];
  bool renamed = strcmp(old->name, leaf->name) != 0;
  item.fate = !convert_is_copy(old, leaf) ? LEAF_CONVERTED : renamed ? LEAF_RENAMED
                                                                     : LEAF_KEPT;
  if (renamed) item.from = old->name;
  item.from_type = type_name(old->type);
  return item;
}

/* An added and a dropped leaf of one type may be a rename. */
static void migrate_plan_suspect_renames(struct report *report) {
  for (uint32_t i = 0; i < report->count; i++) {
    struct report_item *dropped = &report->items[i];
    if (dropped->fate != LEAF_DROPPED) continue;
    for (uint32_t j = 0; j < report->count; j++) {
      struct report_item *added = &report->items[j];
      if (added->fate != LEAF_ADDED || added->maybe || added->type != dropped->type) continue;
      added->maybe = true;
      added->from = dropped->name;
      break;
    }
  }
}

ecs_status migration_report(struct migration *migration, struct change *change) {
  ecs_world *world = migration->world;
  struct report *report = &change->report;
  uint32_t old = change->component->leaf_count;
  uint32_t leaves = change->wanted ? change->wanted->leaf_count : 0;
  if (report->items) return ECS_OK;
  report->items = arena_take(&world->memory, &change->arena,
                             (old + leaves + 1) * sizeof *report->items);
  if (!report->items) return world_nomem(world);
  for (uint32_t i = 0; i < leaves; i++)
    report->items[report->count++] = migrate_plan_kept_item(change, i);
  for (uint32_t i = 0; i < old; i++) {
    const struct leaf *leaf = &change->component->leaves[i];
    if (!migrate_plan_is_used(change, i))
      report->items[report->count++] = (struct report_item){
          LEAF_DROPPED, leaf->name, NULL, NULL, type_name(leaf->type), false};
  }
  migrate_plan_suspect_renames(report);
  report->was = change->renamed ? change->old_name : NULL;
  const struct id_record *record = graph_uses(world, change->component);
  for (uint32_t i = 0; record && i < record->table_count; i++)
    report->rows += world_table(world, record->tables[i])->count;
  if (change->component->sparse) report->rows += change->component->sparse->table->count;
  for (struct report_item *item = report->items; item < report->items + report->count; item++) {
    const char *from = item->from;
    item->name = arena_copy(&world->memory, &change->arena, item->name, strlen(item->name));
    if (from) item->from = arena_copy(&world->memory, &change->arena, from, strlen(from));
    if (!item->name || !item->from != !from) return world_nomem(world);
  }
  return ECS_OK;
}

/* ---- what rows lose and get ---- */

bool migration_moves(const struct migration *migration) {
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    if (!change->wanted || !declare_requires_same(change->component, change->wanted) ||
        change->component->is_sparse != change->wanted->is_sparse)
      return true;
  }
  return migration_changes_ties(migration);
}

ecs_status migration_check_requirements(const struct migration *migration) {
  const ecs_world *world = migration->world;
  if (!migration_moves(migration)) return ECS_OK;
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    if (!component || migrate_plan_is_removed(migration, component->id)) continue;
    for (uint32_t j = 0; j < component->require_count; j++)
      if (migrate_plan_is_removed(migration, component->requires[j]))
        return world_blame(world, world_fail(world, ECS_EINVAL, "'%s' cannot be undeclared: '%s' "
                                             "requires it",
                                             component_of(world, component->requires[j])->name,
                                             component->name), component->name);
  }
  return require_check_cycles(migration->world);
}

/* The ids that the rows of a table, or one entity of it, will have by the registry. */
static uint32_t migrate_plan_ids_after(const struct migration *migration, const struct table *table,
                                       uint32_t entity, ecs_id *ids, uint64_t room) {
  const ecs_world *world = migration->world;
  const struct sparses *sparses = &world->sparses;
  uint32_t count = 0;
  for (uint32_t i = 0; i < table->id_count; i++)
    if (!migrate_plan_is_removed(migration, component_of(world, table->ids[i])->id))
      count = require_insert(world, ids, count, room,
                             migration_id_after(migration, table->ids[i], entity));
  for (uint32_t i = 0; entity != NONE && i < sparses->count; i++) {
    ecs_id id = sparses->list[i]->component->id;
    if (sparse_row(sparses->list[i], entity) != NONE && !migrate_plan_is_removed(migration, id))
      count = require_insert(world, ids, count, room, id);
  }
  return count;
}

ecs_status migration_target(const struct migration *migration, struct table *table,
                            uint32_t entity, bool planned, struct whereto *out) {
  ecs_world *world = migration->world;
  uint64_t room = require_room(world, 0, (uint64_t)table->id_count + world->sparses.count);
  ecs_id *ids = world_scratch(world, room);
  if (!ids) return world_nomem(world);
  if (planned) migration_show(migration, true);
  uint32_t all = migrate_plan_ids_after(migration, table, entity, ids, room);
  uint32_t count = sparse_part_ids(world, ids, all);
  if (planned) migration_show(migration, false);
  *out = (struct whereto){table, ids + count, all - count};
  bool same = count == table->id_count &&
              (count == 0 || memcmp(ids, table->ids, count * sizeof *ids) == 0);
  return same ? ECS_OK : graph_table(world, ids, count, &out->table);
}

/* ---- queries ---- */

/* Whether a query that names a component, and a leaf of it (or NONE), stays valid. */
static ecs_status migrate_plan_check_named(const struct migration *migration,
                                           const ecs_query *query,
                                           const struct component *named,
                                           uint32_t leaf_at) {
  const ecs_world *world = migration->world;
  const struct change *change = named ? migration_of(migration, named->id) : NULL;
  if (!change) return ECS_OK;
  const struct component *component = change->component, *wanted = change->wanted;
  if (!wanted) return world_fail(world, ECS_ENAME, "component '%s' is in use", component->name);
  if (query->fresh) return ECS_OK;
  if (change->renamed)
    return world_fail(world, ECS_ENAME, "unknown component '%s': its name is now '%s'",
                      change->old_name, component->name);
  if (leaf_at == NONE) return ECS_OK;
  const struct leaf *leaf = &component->leaves[leaf_at];
  if (component_leaf(wanted, leaf->name, leaf->name_size) == NONE)
    return component_no_field(world, wanted, leaf->name, leaf->name_size);
  return ECS_OK;
}

/* Checks the way of a path: a field that it follows must remain an entity. */
static ecs_status migrate_plan_check_way(const struct migration *migration, const ecs_query *query,
                                         const struct term *term) {
  ecs_status status = migrate_plan_check_named(migration, query, term->through, term->through_leaf);
  const struct change *change =
      status == ECS_OK && term->through ? migration_of(migration, term->through->id) : NULL;
  if (!change || query->fresh || term->through_leaf == NONE) return status;
  const struct leaf *leaf = &term->through->leaves[term->through_leaf];
  uint32_t at = component_leaf(change->wanted, leaf->name, leaf->name_size);
  if (change->wanted->leaves[at].type == ECS_ENTITY) return ECS_OK;
  return world_fail(migration->world, ECS_ETYPE, "query '%s' follows '%s.%s', which must remain "
                    "an entity field", query->text, term->through->name, leaf->name);
}

/* Checks that a term still fits a relation that changes between one target and several. */
static ecs_status migrate_plan_check_turn(const struct migration *migration, const ecs_query *query,
                                          const struct term *term) {
  if (query->fresh || !migration_changes_ties(migration) ||
      !migration_defeats(term, migration_wanted(migration, term->component),
                         migration_wanted(migration, term->through)))
    return ECS_OK;
  const struct component *component = term->through ? term->through : term->component;
  return world_fail(migration->world, ECS_EINVAL, "query '%s' uses '%s' as an exclusive relation, "
                    "so that must remain exclusive", query->text, component->name);
}

/* Whether a term with ':added' can no longer tell which entities are new. */
static bool migrate_plan_loses_track(const struct term *term, const struct component *wanted) {
  return term->news == TERM_ADDED && !wanted->track;
}

static ecs_status migrate_plan_check_track(const struct migration *migration,
                                           const ecs_query *query, const struct term *term) {
  const struct component *wanted = migration_wanted(migration, term->component);
  if (query->fresh || !migrate_plan_loses_track(term, wanted)) return ECS_OK;
  return world_fail(migration->world, ECS_EINVAL, "query '%s' uses '%s' with ':added', so that "
                    "must keep track = true", query->text, wanted->name);
}

ecs_status migration_check_query(const struct migration *migration, const ecs_query *query) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < query->terms.count && !query->broken && status == ECS_OK; i++) {
    const struct term *term = &query->terms.terms[i];
    status = migrate_plan_check_named(migration, query, term->component, term->leaf);
    if (status == ECS_OK) status = migrate_plan_check_way(migration, query, term);
    if (status == ECS_OK) status = migrate_plan_check_turn(migration, query, term);
    if (status == ECS_OK) status = migrate_plan_check_track(migration, query, term);
  }
  return status;
}

static bool migrate_plan_find_leaf_again(const struct migration *migration,
                                         const struct component *component, uint32_t *leaf) {
  const struct change *change = component ? migration_of(migration, component->id) : NULL;
  if (*leaf == NONE || !change || !change->wanted) return true;
  const struct leaf *old = &change->wanted->leaves[*leaf];
  *leaf = component_leaf(change->component, old->name, old->name_size);
  return *leaf != NONE;
}

ecs_status migration_reserve_queries(const struct migration *migration) {
  bool stored = migration_changes_storage(migration) || migration_changes_ties(migration);
  ecs_status status = ECS_OK;
  for (ecs_query *q = migration->world->first_query; q && status == ECS_OK; q = q->next)
    status = stored ? query_rearrange_reserve(q) : query_refresh_reserve(q);
  return status;
}

void migration_refresh_query(const struct migration *migration, ecs_query *query) {
  bool sound = true, turned = migration_changes_ties(migration);
  for (uint32_t i = 0; i < query->terms.count && !query->broken; i++) {
    struct term *term = &query->terms.terms[i];
    if (query->fresh) {
      term->component = component_of(query->world, term->id);
      if (term->through) term->through = component_of(query->world, term->through_id);
      continue;
    }
    sound &= migrate_plan_find_leaf_again(migration, term->component, &term->leaf);
    sound &= migrate_plan_find_leaf_again(migration, term->through, &term->through_leaf) &&
             (term->through_leaf == NONE ||
              term->through->leaves[term->through_leaf].type == ECS_ENTITY);
    sound &= !turned || !migration_defeats(term, term->component, term->through);
    sound &= !migrate_plan_loses_track(term, term->component);
    if (!turned || term->form != TERM_PAIR) continue;
    term->id = term->component->id;
    if (!term->component->ties.exclusive)
      term->id = pair_make(ecs_id_index(term->id), ecs_id_index(term->target));
  }
  struct component **others[] = {&query->terms.cascade, &query->terms.event};
  for (int i = 0; i < 2 && query->fresh && !query->broken; i++)
    if (*others[i]) *others[i] = component_of(query->world, (*others[i])->id);
  query->fresh = false;
  if (!sound)
    query_retire(query);
  else if (migration_changes_storage(migration) || turned)
    query_rearrange(query);
  else
    query_refresh(query);
}
