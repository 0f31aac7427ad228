#include <math.h>

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/migrate.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/registry.h"
#include "core/storage/table.h"

static ecs_status migrate_cells_refuse(struct migration *migration,
                                       const struct table *old, uint32_t row,
                                       const struct column *from, const struct column *to,
                                       ecs_cell cell) {
  const ecs_world *world = migration->world;
  char value[96], owner[48];
  convert_show(world, migrate_leaf_of(from), cell, value, sizeof value);
  migration->refused = to->component->name;
  if (from->component->length)
    return world_fail(
        world, ECS_ERANGE, "cannot migrate '%s': element %u is %s, which is not of type %s",
        to->component->name, row + 1, value, type_name(migrate_leaf_of(to)->type));
  if (old && from->component->is_event)
    text_format(owner, sizeof owner, "event %u", row + 1);
  else if (old)
    text_format(owner, sizeof owner, "entity " SHOW_ID,
                entity_id(&world->entities, old->rows[row]));
  else
    text_format(owner, sizeof owner, "the resource");
  return world_fail(world, ECS_ERANGE,
                    "cannot migrate '%s': %s has %s = %s, which is not of type %s",
                    to->component->name, owner, migrate_leaf_of(from)->name, value,
                    type_name(migrate_leaf_of(to)->type));
}

ecs_status migration_fill_column(struct migration *migration, const struct table *old,
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
    if (status != ECS_OK) return migrate_cells_refuse(migration, old, row, from, to, cell);
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

ecs_status migration_prepare_resource(struct migration *migration, struct change *change) {
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

void migration_swap_resource(ecs_world *world, struct change *change) {
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

/* ---- migrate events ---- */

ecs_status migration_prepare_event(struct migration *migration, const struct change *change) {
  struct component *wanted = change->wanted;
  const struct event *old = change->component->event;
  if (!wanted || !old) return ECS_OK;
  if (wanted->event) event_free(migration->world, wanted);
  ecs_status status = event_new(migration->world, wanted, change->component->id);
  if (status == ECS_OK) status = migration_fill(migration, old->table, wanted->event->table);
  if (status != ECS_OK) return status;
  return migration_fill(migration, old->later.table, wanted->event->later.table);
}

static void migrate_cells_events_swap_table(const struct migration *migration,
                                            const struct change *change, struct table **now,
                                            struct table **made) {
  struct table *old = *now, *table = *made;
  migration_take(migration, old, table);
  for (uint32_t i = 0; i < table->column_count; i++)
    table->columns[i].component = change->component;
  *now = table;
  *made = old;
}

/* The event keeps its address; the old rows are freed with the wanted component. */
void migration_swap_event(const struct migration *migration, const struct change *change) {
  struct event *event = change->component->event, *made = change->wanted->event;
  if (!event) return;
  migrate_cells_events_swap_table(migration, change, &event->table, &made->table);
  migrate_cells_events_swap_table(migration, change, &event->later.table, &made->later.table);
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
    if (migrate_cells_convert_is_float(to->type)) {
      if (to->type == ECS_F64) {
        out->f64 = value;
        return ECS_OK;
      }
      out->f32 = (float)value;
      return isinf(out->f32) && !isinf(value) ? ECS_ERANGE : ECS_OK;
    }
    return whole_of_float(value, &whole) ? whole_to_integer(to, whole, out) : ECS_ERANGE;
  }
  whole = whole_of_cell(from, cell);
  return migrate_cells_convert_is_float(to->type) ? whole_to_float(to, whole, out)
                                    : whole_to_integer(to, whole, out);
}

static ecs_string migrate_cells_name_in(const ecs_world *world, const struct leaf *leaf,
                                        ecs_cell cell) {
  if (leaf->type == ECS_STRING) return intern_text(&world->strings, cell.u32);
  return leaf->names->names[cell_integer(leaf->type, leaf->size, cell)];
}

static ecs_status migrate_cells_from_name(ecs_world *world, const struct leaf *to, ecs_string name,
                                          ecs_cell *out) {
  if (to->type == ECS_STRING) {
    ecs_status status =
        intern(&world->strings, &world->memory, name.data, name.size, &out->u32);
    return status == ECS_ENOMEM ? ECS_ENOMEM : status == ECS_OK ? ECS_OK : ECS_ERANGE;
  }
  uint32_t at = enumeration_find(to->names, name.data, name.size);
  if (to->size == 1)
    out->u8 = (uint8_t)at;
  else
    out->u16 = (uint16_t)at;
  return at == NONE ? ECS_ERANGE : ECS_OK;
}

ecs_status convert_cell(ecs_world *world, const struct leaf *from, const struct leaf *to,
                        ecs_cell cell, ecs_cell *out) {
  bool named = from->type == ECS_ENUM || from->type == ECS_STRING;
  bool to_named = to->type == ECS_ENUM || to->type == ECS_STRING;
  out->u64 = 0;
  if (from->type == to->type && from->type != ECS_ENUM) {
    *out = cell;
    return ECS_OK;
  }
  if (named && to_named)
    return migrate_cells_from_name(world, to, migrate_cells_name_in(world, from, cell), out);
  if (migrate_cells_convert_is_number(from->type) && migrate_cells_convert_is_number(to->type))
    return migrate_cells_from_number(from, to, cell, out);
  *out = to->value;
  if (from->type == ECS_ENTITY) cell.u64 = entity_target(world, cell.u64);
  return cell.u64 == 0 ? ECS_OK : ECS_ETYPE;
}

void convert_show(const ecs_world *world, const struct leaf *leaf, ecs_cell cell,
                  char *text, size_t size) {
  switch (type_class(leaf->type)) {
    case CLASS_FLOAT: text_format(text, size, "%g", cell_float(leaf->size, cell)); break;
    case CLASS_TRUTH: text_format(text, size, "%s", cell.u8 ? "true" : "false"); break;
    case CLASS_ID: text_format(text, size, SHOW_ID, cell.u64); break;
    case CLASS_SLOT: text_format(text, size, "a value"); break;
    case CLASS_NAMES:
    case CLASS_TEXT: {
      ecs_string name = migrate_cells_name_in(world, leaf, cell);
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
