#include <math.h>

#include "core/change/migrate.h"

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/declare.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/registry.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"

void migration_begin(struct migration *migration, ecs_world *world) {
  memset(migration, 0, sizeof *migration);
  migration->world = world;
}

struct change *migration_of(const struct migration *migration, ecs_id id) {
  for (uint32_t i = 0; i < migration->count; i++)
    if (migration->changes[i].component->id == id) return &migration->changes[i];
  return NULL;
}

const struct component *migration_wanted(const struct migration *migration,
                                         const struct component *component) {
  const struct change *change = component ? migration_of(migration, component->id) : NULL;
  return change && change->wanted ? change->wanted : component;
}

ecs_status migration_add(struct migration *migration, struct component *component,
                         struct component *wanted) {
  ecs_world *world = migration->world;
  struct change *change = migration_of(migration, component->id);
  if (!GROW(&world->memory, migration->changes, migration->capacity, migration->count + 1ull) ||
      !GROW(&world->memory, migration->superseded, migration->superseded_capacity,
            migration->superseded_count + 1ull)) {
    if (wanted) component_free(world, wanted);
    return world_nomem(world);
  }
  if (!change) {
    change = &migration->changes[migration->count++];
    memset(change, 0, sizeof *change);
    change->component = component;
  }
  if (change->wanted) migration->superseded[migration->superseded_count++] = change->wanted;
  if (wanted) wanted->id = component->id;
  if (wanted) wanted->watched |= component->watched;
  if (wanted) wanted->asked = component->asked;
  change->wanted = wanted;
  return ECS_OK;
}

/* ---- names ---- */

static void migrate_set_name(ecs_world *world, struct component *component, const char *name,
                             uint32_t size) {
  component_leave_name(world, component);
  component->name = name;
  component->name_size = size;
  component_enter_name(world, component);
  world->registry.version++;
}

/* Former names come back on undo, so there is always room for them. */
ecs_status migration_rename(struct migration *migration, struct component *component,
                            struct component *wanted) {
  ecs_world *world = migration->world;
  struct registry *registry = &world->registry;
  uint32_t size = wanted->name_size;
  char *name = arena_copy(&world->memory, &migration->arena, wanted->name, size);
  if (!name || !map_reserve(&world->memory, &registry->names, registry->renaming + 2ull)) {
    component_free(world, wanted);
    return world_nomem(world);
  }
  ecs_status status = migration_add(migration, component, wanted);
  if (status != ECS_OK) return status;
  struct change *change = migration_of(migration, component->id);
  if (!change->renamed) {
    change->renamed = true;
    change->old_name = component->name;
    change->old_size = component->name_size;
    change->older_name = component->former.name;
    registry->renaming++;
  }
  component->former.name = change->old_name;
  migrate_set_name(world, component, name, size);
  return ECS_OK;
}

ecs_status migration_relabel(struct migration *migration, struct component *component,
                             struct component *same) {
  ecs_world *world = migration->world;
  if (!GROW(&world->memory, migration->relabelings, migration->relabeling_capacity,
            migration->relabeling_count + 1ull)) {
    component_free(world, same);
    return world_nomem(world);
  }
  migration->relabelings[migration->relabeling_count++] = (struct relabeling){component, same};
  return ECS_OK;
}

/* Whether renames of fields are no longer declared: snapshots follow fields by each layout's
** renames. */
static bool migrate_drops_renames(const struct migration *migration) {
  for (uint32_t i = 0; i < migration->relabeling_count; i++)
    if (migration->relabelings[i].component->former.was_count) return true;
  return false;
}

static void migrate_commit_labels(struct migration *migration) {
  if (migration->count || migrate_drops_renames(migration)) migration->world->registry.layouts++;
  for (uint32_t i = 0; i < migration->relabeling_count; i++) {
    const struct relabeling *relabeling = &migration->relabelings[i];
    struct former old = relabeling->component->former;
    relabeling->component->former = relabeling->same->former;
    relabeling->same->former = old;
  }
}

/* ---- convert ---- */

/* An integer of any type by its value: the bits and, below zero, their meaning in two's
** complement. */
struct whole_number {
  uint64_t bits;
  bool below_zero;
};

static bool migrate_cells_convert_is_float(ecs_type type) {
  return type_class(type) == CLASS_FLOAT;
}

static bool migrate_cells_convert_is_number(ecs_type type) {
  return type_is_number(type) || type_class(type) == CLASS_TRUTH;
}

bool convert_is_copy(const struct leaf *from, const struct leaf *to) {
  if (from->type != to->type || from->size != to->size) return false;
  return from->type != ECS_ENUM || enumeration_starts(to->names, from->names);
}

static struct whole_number whole_of_cell(const struct leaf *leaf, ecs_cell cell) {
  int64_t value = cell_integer(leaf->type, leaf->size, cell);
  return (struct whole_number){(uint64_t)value, value < 0 && type_is_signed(leaf->type)};
}

/* False if it is not whole, or beyond 64 bits. */
static bool whole_of_float(double value, struct whole_number *whole) {
  if (!(value >= -0x1p63 && value < 0x1p64)) return false;
  whole->below_zero = value < 0;
  whole->bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
  return floor(value) == value;
}

static ecs_status whole_to_integer(const struct leaf *to, struct whole_number whole,
                                   ecs_cell *out) {
  const struct type *type = &type_table[to->type];
  bool fits = whole.below_zero ? (int64_t)whole.bits >= type->least : whole.bits <= type->most;
  *out = cell_of_bits(to->size, whole.bits);
  return fits ? ECS_OK : ECS_ERANGE;
}

static ecs_status whole_to_float(const struct leaf *to, struct whole_number whole, ecs_cell *out) {
  int64_t value = (int64_t)whole.bits;
  if (to->type == ECS_F32)
    out->f32 = whole.below_zero ? (float)value : (float)whole.bits;
  else
    out->f64 = whole.below_zero ? (double)value : (double)whole.bits;
  struct whole_number back;
  bool exact = whole_of_float(cell_float(to->size, *out), &back) && back.bits == whole.bits &&
               back.below_zero == whole.below_zero;
  return exact ? ECS_OK : ECS_ERANGE;
}

static ecs_status migrate_cells_from_number(const struct leaf *from,
                                            const struct leaf *to, ecs_cell cell,
                                            ecs_cell *out) {
  struct whole_number whole;
  if (migrate_cells_convert_is_float(from->type)) {
    double value = cell_float(from->size, cell);
    if (to->type == ECS_F64) {
      out->f64 = value;
      return ECS_OK;
    }
    if (to->type == ECS_F32) {
      out->f32 = (float)value;
      return isinf(out->f32) && !isinf(value) ? ECS_ERANGE : ECS_OK;
    }
    return whole_of_float(value, &whole) ? whole_to_integer(to, whole, out) : ECS_ERANGE;
  }
  whole = whole_of_cell(from, cell);
  return migrate_cells_convert_is_float(to->type) ? whole_to_float(to, whole, out)
                                    : whole_to_integer(to, whole, out);
}

static ecs_status migrate_cells_from_name(ecs_world *world, const struct leaf *to, ecs_string name,
                                          ecs_cell *out) {
  if (to->type == ECS_STRING) {
    ecs_status status =
        intern(&world->strings, &world->memory, name.data, name.size, &out->u32);
    return status == ECS_ENOMEM ? ECS_ENOMEM : status == ECS_OK ? ECS_OK : ECS_ERANGE;
  }
  uint32_t at = enumeration_find(to->names, name.data, name.size);
  *out = cell_of_bits(to->size, at);
  return at == NONE ? ECS_ERANGE : ECS_OK;
}

/* Floats round to floats (overflow is refused), enums and strings convert by name, everything else
** must be exact. ECS_ERANGE: `to` cannot hold this value; ECS_ETYPE: it can hold only the zero
** value; ECS_ENOMEM. Sets no message. */
static ecs_status convert_cell(ecs_world *world, const struct leaf *from, const struct leaf *to,
                               ecs_cell cell, ecs_cell *out) {
  bool named = from->type == ECS_ENUM || from->type == ECS_STRING;
  bool to_named = to->type == ECS_ENUM || to->type == ECS_STRING;
  out->u64 = 0;
  if (from->type == to->type && from->type != ECS_ENUM) {
    *out = cell;
    return ECS_OK;
  }
  if (named && to_named)
    return migrate_cells_from_name(world, to, leaf_text(world, from, cell), out);
  if (migrate_cells_convert_is_number(from->type) && migrate_cells_convert_is_number(to->type))
    return migrate_cells_from_number(from, to, cell, out);
  *out = to->value;
  if (from->type == ECS_ENTITY) cell.u64 = entity_target(world, cell.u64);
  return cell.u64 == 0 ? ECS_OK : ECS_ETYPE;
}

/* Writes the cell as a message shows it. */
static void convert_show(const ecs_world *world, const struct leaf *leaf, ecs_cell cell,
                         char *text, size_t size) {
  switch (type_class(leaf->type)) {
    case CLASS_FLOAT: text_format(text, size, "%g", cell_float(leaf->size, cell)); break;
    case CLASS_TRUTH: text_format(text, size, "%s", cell.u8 ? "true" : "false"); break;
    case CLASS_ID: text_format(text, size, SHOW_ID, cell.u64); break;
    case CLASS_SLOT: text_format(text, size, "a value"); break;
    case CLASS_NAMES:
    case CLASS_TEXT: {
      ecs_string name = leaf_text(world, leaf, cell);
      if (name.size > 64) name.size = 64;
      text_format(text, size, "'%.*s'", SHOW(name));
      break;
    }
    default: {
      struct whole_number whole = whole_of_cell(leaf, cell);
      if (whole.below_zero)
        text_format(text, size, "%lld", (long long)whole.bits);
      else
        text_format(text, size, "%llu", (unsigned long long)whole.bits);
      break;
    }
  }
}

/* ---- cells ---- */

static const struct leaf *migrate_leaf_of(const struct column *column) {
  return &column->component->leaves[column->leaf];
}

/* Writes why a leaf cannot hold a cell, by the status of convert_cell. */
static void migrate_cells_show_reason(const struct leaf *from, const struct leaf *to,
                                      ecs_status status, char *text, size_t size) {
  if (status == ECS_ETYPE) {
    text_format(text, size, ": values of type %s are not converted to %s", type_name(from->type),
                type_name(to->type));
    return;
  }
  size_t at = text_format(text, size, ", which is not of type %s", type_name(to->type));
  for (uint32_t i = 0; to->type == ECS_ENUM && i < to->names->count; i++) {
    bool fits = at + to->names->names[i].size + 8 < size;
    at += text_format(text + at, size - at, "%s%.*s", i ? ", " : "(",
                      SHOW(fits ? to->names->names[i] : ((ecs_string){"...", 3})));
    if (!fits) break;
  }
  if (to->type == ECS_ENUM) text_format(text + at, size - at, ")");
}

static ecs_status migrate_cells_refuse(struct migration *migration,
                                       const struct table *old, uint32_t row,
                                       const struct column *from, const struct column *to,
                                       ecs_cell cell, ecs_status status) {
  const ecs_world *world = migration->world;
  char value[96], owner[48], why[256];
  migrate_cells_show_reason(migrate_leaf_of(from), migrate_leaf_of(to), status, why, sizeof why);
  convert_show(world, migrate_leaf_of(from), cell, value, sizeof value);
  const char *name = to->component->name;
  if (from->component->length)
    return world_blame(world, world_fail(world, ECS_ERANGE, "cannot migrate '%s': element %u is "
                                         "%s%s", name, row + 1, value, why), name);
  if (old && from->component->is_event)
    text_format(owner, sizeof owner, "event %u", row + 1);
  else if (old)
    text_format(owner, sizeof owner, "entity " SHOW_ID,
                entity_id(&world->entities, old->rows[row]));
  else
    text_format(owner, sizeof owner, "the resource");
  return world_blame(world, world_fail(world, ECS_ERANGE, "cannot migrate '%s': %s has %s = %s%s",
                                       name, owner, migrate_leaf_of(from)->name, value, why), name);
}

/* Fills a new column from an old one of `count` cells, in the table `old` or, for NULL, of the
** world; without an old column, with the default. */
static ecs_status migration_fill_column(struct migration *migration, const struct table *old,
                                        const struct column *from, struct column *to,
                                        uint32_t capacity, uint32_t count) {
  ecs_world *world = migration->world;
  assert(count <= capacity);
  if (capacity == 0) return ECS_OK;
  if (!buffer_grow(&world->memory, &to->buffer, (size_t)capacity * to->size, 0))
    return world_nomem(world);
  to->data = to->buffer.data;
  if (!from) {
    cell_fill(to->data, to->size, 0, count, to->value);
    return ECS_OK;
  }
  for (uint32_t row = 0; row < count; row++) {
    ecs_cell cell = cell_load(from->data, from->size, row), converted;
    ecs_status status = convert_cell(world, migrate_leaf_of(from),
                                     migrate_leaf_of(to), cell, &converted);
    if (status == ECS_ENOMEM) return world_nomem(world);
    if (status != ECS_OK) return migrate_cells_refuse(migration, old, row, from, to, cell, status);
    cell_store(to->data, to->size, row, converted);
  }
  return ECS_OK;
}

/* Fills a leaf of a resource or array from its old cells, as far as they fit. */
static ecs_status migrate_cells_fill_leaf(struct migration *migration, struct change *change,
                                          uint32_t at) {
  const struct component *old = change->component, *wanted = change->wanted;
  uint32_t source = change->source[at], count = component_cells(wanted), kept = count;
  const struct leaf *leaf = &wanted->leaves[at];
  struct column to = {.value = leaf->value, .size = leaf->size, .leaf = at, .component = wanted};
  struct column from = {.component = old, .leaf = source};
  if (source != NONE) {
    assert(old->resource);
    from.data = old->resource[source].data;
    from.size = old->leaves[source].size;
    if (component_cells(old) < kept) kept = component_cells(old);
  }
  ecs_status status = migration_fill_column(migration, NULL, source == NONE ? NULL : &from, &to,
                                            count, kept);
  change->resource[at] = to.buffer;
  if (status == ECS_OK) cell_fill(to.data, to.size, kept, count - kept, to.value);
  return status;
}

/* Prepares the future cells of a resource or array. */
static ecs_status migration_prepare_resource(struct migration *migration, struct change *change) {
  ecs_world *world = migration->world;
  const struct component *wanted = change->wanted;
  bool resource = change->component->resource || change->valued;
  if (!resource || !wanted || wanted->leaf_count == 0) return ECS_OK;
  change->resource = memory_array(&world->memory, wanted->leaf_count, sizeof *change->resource);
  if (!change->resource) return world_nomem(world);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < wanted->leaf_count && status == ECS_OK; i++)
    status = migrate_cells_fill_leaf(migration, change, i);
  return status;
}

/* At the commit. Any slots of old cells that live on are not released. */
static void migration_swap_resource(ecs_world *world, struct change *change) {
  struct component *component = change->component;
  for (uint32_t i = 0; change->resource && i < change->wanted->leaf_count; i++) {
    uint32_t source = change->source[i];
    if (source != NONE && component->leaves[source].type == ECS_ANY)
      *(uint32_t *)component->resource[source].data = 0;
  }
  resource_free(world, component);
  component->resource = change->resource;
  change->resource = NULL;
}

/* ---- events ---- */

/* Builds, for a changed event, rows with the wanted fields. */
static ecs_status migration_prepare_event(struct migration *migration,
                                          const struct change *change) {
  struct component *wanted = change->wanted;
  const struct event *old = change->component->event;
  if (!wanted || !old) return ECS_OK;
  if (wanted->event) event_free(migration->world, wanted);
  ecs_status status = event_new(migration->world, wanted, change->component->id);
  if (status == ECS_OK) status = migration_fill(migration, old->table, wanted->event->table);
  if (status != ECS_OK) return status;
  return migration_fill(migration, old->later.table, wanted->event->later.table);
}

static void migrate_swap_event_table(const struct migration *migration, struct table **now,
                                     struct table **made) {
  struct table *old = *now;
  migration_take(migration, old, *made);
  *now = *made;
  *made = old;
}

/* At the commit. The event keeps its address; the old rows are freed with the wanted component. */
static void migration_swap_event(const struct migration *migration, const struct change *change) {
  struct event *event = change->component->event, *made = change->wanted->event;
  if (!event) return;
  migrate_swap_event_table(migration, &event->table, &made->table);
  migrate_swap_event_table(migration, &event->later.table, &made->later.table);
}

/* ---- tables ---- */

/* Whether a table has a component that is removed or changed. */
static bool migrate_is_affected(const struct migration *migration,
                                const struct table *table, bool goes) {
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    if (!change->wanted == goes &&
        (table_has(table, change->component->id) || relate_table_has(table, change->component)))
      return true;
  }
  return false;
}

/* The old column that a new one is made from, or NONE. Removed components still have columns. */
static uint32_t migrate_source_column(const struct migration *migration, const struct table *old,
                                      const struct column *column) {
  const struct change *change = migration_of(migration, column->component->id);
  uint32_t leaf = change && change->wanted ? change->source[column->leaf] : column->leaf;
  return leaf == NONE ? NONE : table_column(old, column->id) + leaf;
}

ecs_status migration_fill(struct migration *migration, const struct table *old,
                          struct table *table) {
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *to = &table->columns[i];
    uint32_t at = migrate_source_column(migration, old, to);
    const struct column *from = at == NONE ? NULL : &old->columns[at];
    if (from && convert_is_copy(migrate_leaf_of(from), migrate_leaf_of(to))) continue;
    ecs_status status = migration_fill_column(migration, old, from, to, old->capacity, old->count);
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

static ecs_status migrate_prepare_table(struct migration *migration, const struct table *old) {
  ecs_world *world = migration->world;
  if (!GROW(&world->memory, migration->tables, migration->table_capacity,
            migration->table_count + 1ull))
    return world_nomem(world);
  struct table *table;
  ecs_status status = table_new(world, old->ids, old->id_count, &table);
  if (status != ECS_OK) return status;
  table->index = old->index;
  migration->tables[migration->table_count++] = table;
  if (!toggles_grow(&world->memory, table, old->capacity) ||
      !marks_grow(&world->memory, table, old->capacity))
    return world_nomem(world);
  return migration_fill(migration, old, table);
}

/* Releases the any values of columns that no new column is made from. */
static void migrate_release_dropped(ecs_world *world, struct table *old) {
  for (uint32_t i = 0; old->has_any && i < old->column_count; i++) {
    assert(old->columns);
    struct column *column = &old->columns[i];
    if (!column->data || migrate_leaf_of(column)->type != ECS_ANY) continue;
    for (uint32_t row = 0; row < old->count; row++)
      any_release(&world->any, ((uint32_t *)column->data)[row]);
  }
}

/* Everything of a redeclared component counts as written. */
static void migrate_take_marks(const struct migration *migration, struct table *old,
                               struct table *table) {
  const ecs_world *world = migration->world;
  marks_take(world, table, old);
  for (uint32_t i = 0; i < table->mark_count; i++) {
    const struct component *component = component_of(world, table->marks[i].id);
    const struct change *change = migration_of(migration, component->id);
    if (change && change->wanted) marks_write(&table->marks[i], world->now, 0, table->count);
  }
}

void migration_take(const struct migration *migration, struct table *old, struct table *table) {
  assert(old && old != table && old->id_count == table->id_count && table->count == 0);
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *to = &table->columns[i];
    uint32_t at = migrate_source_column(migration, old, to);
    struct column *from = at == NONE ? NULL : &old->columns[at];
    bool stays = from && convert_is_copy(migrate_leaf_of(from), migrate_leaf_of(to));
    const struct change *change = migration_of(migration, to->component->id);
    if (change) to->component = change->component;
    if (!stays) continue;
    to->buffer = from->buffer;
    to->data = from->data;
    memset(&from->buffer, 0, sizeof from->buffer);
    from->data = NULL;
  }
  migrate_release_dropped(migration->world, old);
  table->row_buffer = old->row_buffer;
  table->rows = old->rows;
  table->count = old->count;
  table->capacity = old->capacity;
  migrate_take_marks(migration, old, table);
  memset(&old->row_buffer, 0, sizeof old->row_buffer);
  old->rows = NULL;
  old->count = old->capacity = 0;
}

/* Puts the new table in the place of the old one. */
static void migrate_swap_table(const struct migration *migration, struct table *table) {
  ecs_world *world = migration->world;
  struct table *old = world_table(world, table->index);
  migration_take(migration, old, table);
  toggles_take(table, old);
  table->serial = ++world->graph.next_serial;
  table->order = old->order;
  table->hash = old->hash;
  table->next_same_hash = old->next_same_hash;
  table->in_empties = old->in_empties;
  table->was_empty = old->was_empty;
  graph_unlink(old);
  world->graph.tables[table->index] = table;
  table_free(world, old);
}

/* ---- removed components and requirements ---- */

/* Whether a table needs a target: because its rows may move, or another table must exist. Not if it
** has no rows and a removed component, or if only removed components change. */
static bool migrate_has_whereto(const struct migration *migration, const struct table *table) {
  if (migrate_is_affected(migration, table, true)) return table->count > 0;
  for (uint32_t i = 0; i < migration->count; i++)
    if (migration->changes[i].wanted) return true;
  return false;
}

static ecs_status migrate_plan_move(const struct migration *migration, struct table *table) {
  ecs_world *world = migration->world;
  struct whereto to;
  if (!migrate_has_whereto(migration, table)) return ECS_OK;
  if (migration_parts_rows(migration, table)) return migration_plan_rows(migration, table);
  ecs_status status = migration_target(migration, table, NONE, true, &to);
  if (status != ECS_OK || to.table == table) return status;
  to.table->incoming += table->count;
  return table_reserve(world, to.table, to.table->incoming);
}

ecs_status migration_check_removal(const ecs_world *world, const struct component *component) {
  if (builtin_is(component->name, component->name_size))
    return world_fail(world, ECS_EINVAL, "'%s' is a built-in relation and cannot be undeclared",
                      component->name);
  if (!relation_has_sources(world, ecs_id_index(component->id))) return ECS_OK;
  const struct component *mark = component_find(world, "Prefab", strlen("Prefab"));
  if (mark && mark->relation && relate_sources(world, component->id, mark, NULL, 0) > 0)
    return world_fail(world, ECS_EBUSY, "'%s' cannot be undeclared while a prefab shares it: "
                      "declare the prefab without it first", component->name);
  return world_fail(world, ECS_EBUSY, "'%s' cannot be undeclared while entities are tied to it: "
                    "remove these ties first", component->name);
}

static ecs_status migrate_plan_moves(const struct migration *migration) {
  ecs_world *world = migration->world;
  const struct id_record *all = graph_all(world);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++)
    if (!migration->changes[i].wanted)
      status = migration_check_removal(world, migration->changes[i].component);
  uint32_t count = all->table_count;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = migrate_plan_move(migration, world_table(world, all->tables[i]));
  if (status == ECS_OK) status = migration_plan_sparse(migration);
  for (uint32_t i = 0; i < all->table_count; i++) world_table(world, all->tables[i])->incoming = 0;
  return status;
}

/* Drops the tables that rows have left and that are no longer allowed. */
static void migrate_commit_moves(const struct migration *migration) {
  ecs_world *world = migration->world;
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    struct table *table = world_table(world, all->tables[i]);
    struct whereto to;
    if (!migrate_has_whereto(migration, table)) {
      table->doomed = migrate_is_affected(migration, table, true);
      continue;
    }
    ecs_status status = migration_target(migration, table, NONE, false, &to);
    assert(status == ECS_OK);
    if (status == ECS_OK) migration_put_sparse(migration, table, &to);
    bool parts = migration_parts_rows(migration, table);
    if (parts)
      migration_move_rows(migration, table);
    else if (to.table != table)
      rows_move_all(world, table, to.table);
    table->doomed = parts || to.table != table;
    assert(!table->doomed || table->count == 0);
  }
  migration_forget_ties(migration);
  migration_commit_sparse(migration);
  graph_drop_doomed(world);
  for (uint32_t i = 0; i < migration->count; i++)
    if (!migration->changes[i].wanted)
      declare_forget(world, migration->changes[i].component);
}

/* ---- switched-off components ---- */

static ecs_status migrate_refuse_off(const ecs_world *world, const struct component *component,
                                     const struct table *table) {
  const struct toggle *toggle = toggle_of(table, component->id);
  uint32_t row = 0;
  while (!toggle_bit(toggle, row)) row++;
  ecs_id entity = entity_id(&world->entities, table->rows[row]);
  return world_blame(world, world_fail(world, ECS_EBUSY, "'%s' cannot lose toggle while entity "
                                       SHOW_ID " has it switched off: switch it on there first",
                                       component->name, entity), component->name);
}

/* Checks that what entities have switched off stays a toggle. */
static ecs_status migrate_check_toggles(const struct migration *migration) {
  const struct id_record *all = graph_all(migration->world);
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    if (!change->wanted || change->wanted->toggle || !change->component->toggle) continue;
    const struct sparse *sparse = change->component->sparse;
    if (sparse && sparse->table->off)
      return migrate_refuse_off(migration->world, change->component, sparse->table);
    for (uint32_t j = 0; j < all->table_count; j++) {
      const struct table *table = world_table(migration->world, all->tables[j]);
      const struct toggle *toggle = toggle_of(table, change->component->id);
      if (toggle && toggle->off)
        return migrate_refuse_off(migration->world, change->component, table);
    }
  }
  return ECS_OK;
}

/* ---- the transaction ---- */

/* Cached lookups may have found a removed component. */
void migration_show(const struct migration *migration, bool wanted) {
  if (migration->count) migration->world->registry.version++;
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    assert(!change->wanted || change->wanted->id == change->component->id);
    migration->world->registry.components[ecs_id_index(change->component->id)] =
        wanted && change->wanted ? change->wanted : change->component;
  }
  migration->world->registry.shown = wanted;
}

static ecs_status migrate_prepare_shown(struct migration *migration) {
  ecs_status status = migration_follow_nested(migration);
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++)
    status = migration_map(migration, &migration->changes[i]);
  ecs_world *world = migration->world;
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count && status == ECS_OK; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    if (migrate_is_affected(migration, table, false))
      status = migrate_prepare_table(migration, table);
  }
  if (status == ECS_OK) status = migration_prepare_sparse(migration);
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++)
    status = migration_prepare_event(migration, &migration->changes[i]);
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++) {
    status = migration_prepare_resource(migration, &migration->changes[i]);
    if (status == ECS_OK) status = migration_report(migration, &migration->changes[i]);
  }
  return status == ECS_OK ? migration_reserve_queries(migration) : status;
}

ecs_status migration_prepare(struct migration *migration) {
  ecs_status status = world_prepare_attached(migration->world);
  if (status == ECS_OK) status = migration_prepare_ties(migration);
  if (status == ECS_OK) status = migrate_check_toggles(migration);
  if (status != ECS_OK) return status;
  migration_show(migration, true);
  status = migration_check_requirements(migration);
  migration_show(migration, false);
  if (status == ECS_OK && migration_moves(migration)) status = migrate_plan_moves(migration);
  if (status != ECS_OK) return status;
  migration_show(migration, true);
  status = migrate_prepare_shown(migration);
  migration_show(migration, false);
  return status;
}

/* The component keeps its address: everything that points to it sees the new fields. */
static void migrate_swap_contents(ecs_world *world, struct change *change) {
  struct component old = *change->component;
  *change->component = *change->wanted;
  *change->wanted = old;
  change->component->resource = old.resource;
  migration_swap_relation(world, change, old.relation);
  change->wanted->sparse = change->component->sparse;   /* migration_swap_sparse has swapped both */
  change->component->sparse = old.sparse;
  change->wanted->event = change->component->event;     /* so has migration_swap_event */
  change->component->event = old.event;
  change->component->orphan = old.orphan;
  change->wanted->resource = NULL;
  change->component->changed = world->registry.version;
}

void migration_redirect_nested(const ecs_world *world) {
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    for (uint32_t j = 0; component && j < component->field_count; j++) {
      struct field *field = &component->fields[j];
      if (field->nested)
        field->nested = world->registry.components[ecs_id_index(field->nested->id)];
    }
  }
}

void migration_commit(struct migration *migration) {
  ecs_world *world = migration->world;
  assert(!world->registry.shown);
  if (world->watching->due) watch_forget_changes(world);
  world->registry.version++;
  migrate_commit_labels(migration);
  for (uint32_t i = 0; i < migration->table_count; i++)
    migrate_swap_table(migration, migration->tables[i]);
  for (uint32_t i = 0; i < migration->count; i++) {
    struct change *change = &migration->changes[i];
    if (!change->wanted) continue;
    migration_swap_sparse(migration, change);
    migration_swap_event(migration, change);
    migration_swap_resource(world, change);
    migrate_swap_contents(world, change);
    world->registry.renaming -= change->renamed;
    change->renamed = false;
  }
  migration_redirect_nested(world);
  for (ecs_query *query = world->first_query; query; query = query->next)
    migration_refresh_query(migration, query);
  migration->table_count = 0;
  migration->committed = true;
  if (migration_moves(migration)) migrate_commit_moves(migration);
  world_settle(world);
}

const char *migration_operation(const struct migration *migration) {
  const struct component *wanted = migration->count ? migration->changes[0].wanted : NULL;
  if (wanted && wanted->is_event) return "declaring an event with other fields";
  return wanted && wanted->length ? "declaring an array with another type or length"
                                  : "declaring a component with other fields";
}

ecs_status migration_run(struct migration *migration, const char *operation) {
  ecs_world *world = migration->world;
  ecs_status status = ECS_OK;
  if (migration->count == 0) {
    if (migrate_drops_renames(migration)) status = world_prepare_attached(world);
    if (status == ECS_OK) migrate_commit_labels(migration);
    return status;
  }
  status = world_is_idle(world, operation);
  if (status == ECS_OK) status = migration_prepare(migration);
  if (status == ECS_OK) migration_commit(migration);
  return status;
}

static void migrate_free_change(ecs_world *world, struct change *change) {
  if (change->renamed) {
    migrate_set_name(world, change->component, change->old_name, change->old_size);
    change->component->former.name = change->older_name;
    assert(world->registry.renaming > 0);
    world->registry.renaming--;
  }
  struct component *wanted = change->wanted;
  uint32_t leaves = wanted ? wanted->leaf_count : 0;
  for (uint32_t i = 0; change->resource && i < leaves; i++)
    buffer_free(&world->memory, &change->resource[i]);
  FREE_LIST(&world->memory, change->resource, leaves);
  if (wanted) component_free(world, wanted);
  arena_free(&world->memory, &change->arena);
}

void migration_end(struct migration *migration) {
  ecs_world *world = migration->world;
  for (uint32_t i = 0; i < migration->table_count; i++) {
    migration->tables[i]->count = 0;
    table_free(world, migration->tables[i]);
  }
  if (!migration->committed) {
    migration_undo_tables(migration);
    migration_undo_ties(migration);
  }
  for (uint32_t i = 0; i < migration->count; i++)
    migrate_free_change(world, &migration->changes[i]);
  for (uint32_t i = 0; i < migration->superseded_count; i++)
    component_free(world, migration->superseded[i]);
  for (uint32_t i = 0; i < migration->relabeling_count; i++)
    component_free(world, migration->relabelings[i].same);
  FREE_LIST(&world->memory, migration->relabelings, migration->relabeling_capacity);
  arena_free(&world->memory, &migration->arena);
  FREE_LIST(&world->memory, migration->superseded, migration->superseded_capacity);
  FREE_LIST(&world->memory, migration->tables, migration->table_capacity);
  FREE_LIST(&world->memory, migration->changes, migration->capacity);
  memset(migration, 0, sizeof *migration);
}
