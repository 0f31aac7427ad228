#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/base/text.h"
#include "core/change/declare.h"
#include "core/change/migrate.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/registry.h"
#include "core/storage/sparse.h"

/* Whether components are declared alike, and declaring again what is already declared, in this
** world or another. */

/* ---- alike ------------------------------------------------------------------------- */

static bool redeclare_same_leaf(const ecs_world *a_world, const struct leaf *a,
                                const ecs_world *b_world, const struct leaf *b) {
  if (strcmp(a->name, b->name) != 0 || a->type != b->type || !enumeration_same(a->names, b->names))
    return false;
  if (a->type != ECS_STRING) return a->value.u64 == b->value.u64;
  return text_same(intern_text(&a_world->strings, a->value.u32),
                   intern_text(&b_world->strings, b->value.u32));
}

static bool redeclare_same_fields(const ecs_world *a_world, const struct component *a,
                                  const ecs_world *b_world, const struct component *b) {
  if (a->field_count != b->field_count || a->leaf_count != b->leaf_count) return false;
  for (uint32_t i = 0; i < a->field_count; i++) {
    const struct field *f = &a->fields[i], *g = &b->fields[i];
    if (strcmp(f->name, g->name) != 0 || f->type != g->type || f->count != g->count ||
        (f->nested ? f->nested->id : 0) != (g->nested ? g->nested->id : 0))
      return false;
  }
  for (uint32_t i = 0; i < a->leaf_count; i++)
    if (!redeclare_same_leaf(a_world, &a->leaves[i], b_world, &b->leaves[i]) ||
        a->leaves[i].offset != b->leaves[i].offset)
      return false;
  return a->size == b->size && a->native == b->native;
}

bool declare_requires_same(const struct component *a, const struct component *b) {
  size_t size = a->require_count * sizeof *a->requires;
  return a->require_count == b->require_count &&
         (size == 0 || memcmp(a->requires, b->requires, size) == 0);
}

bool declare_same(const ecs_world *a_world, const struct component *a,
                  const ecs_world *b_world, const struct component *b) {
  return a->is_sparse == b->is_sparse && a->length == b->length && a->is_event == b->is_event &&
         a->ties.relation == b->ties.relation && a->ties.exclusive == b->ties.exclusive &&
         a->ties.acyclic == b->ties.acyclic && a->ties.policy == b->ties.policy &&
         redeclare_same_fields(a_world, a, b_world, b) &&
         declare_requires_same(a, b) && a->toggle == b->toggle && a->track == b->track;
}

void declare_lay_out_as(ecs_world *world, struct component *component,
                        const ecs_world *from_world, const struct component *from) {
  if (!redeclare_same_fields(world, component, from_world, from)) return;
  component->native = from->native;
  component->size = from->size;
  component->align = from->align;
  component->words = from->words;
  for (uint32_t i = 0; i < component->field_count; i++) {
    component->fields[i].offset = from->fields[i].offset;
    component->fields[i].size = from->fields[i].size;
  }
  for (uint32_t i = 0; i < component->leaf_count; i++)
    component->leaves[i].offset = from->leaves[i].offset;
}

/* ---- declaring again --------------------------------------------------------------- */

/* An entity that does not live there becomes null. */
static ecs_value redeclare_value_of(const ecs_world *there, const ecs_world *world,
                                    const struct leaf *leaf) {
  ecs_value value;
  ecs_cell cell = leaf->value;
  ecs_string text = {NULL, 0};
  if (leaf->type == ECS_STRING || leaf->type == ECS_ENUM) text = leaf_text(world, leaf, cell);
  if (leaf->type == ECS_ENTITY) cell.u64 = entity_target(there, entity_target(world, cell.u64));
  value_of_cell(leaf->type, leaf->size, cell, text, &value);
  return value;
}

static ecs_status redeclare_describe_field(ecs_world *world, const ecs_world *from,
                                           struct arena *arena, const struct component *component,
                                           uint32_t at, ecs_field *out) {
  const struct field *field = &component->fields[at];
  *out = (ecs_field){.name = field->name, .type = field->type, .count = field->count,
                     .offset = field->offset, .doc = field->doc, .unit = field->unit,
                     .min = field->min, .max = field->max, .text = field->text};
  if (field->nested) out->nested = field->nested->id;
  if (field->has_value)
    out->value = redeclare_value_of(world, from, &component->leaves[field->first_leaf]);
  if (!field->names) return ECS_OK;
  const char **names =
      arena_take(&world->memory, arena, field->names->count * sizeof *names);
  if (!names) return world_nomem(world);
  for (uint32_t i = 0; i < field->names->count; i++) names[i] = field->names->names[i].data;
  out->names = names;
  out->name_count = field->names->count;
  return ECS_OK;
}

ecs_status redeclare(ecs_world *world, const ecs_world *from, const struct component *like,
                     struct component **out) {
  struct arena arena = {NULL};
  ecs_field *fields =
      arena_take(&world->memory, &arena, like->field_count * sizeof *fields);
  ecs_status status = fields ? ECS_OK : world_nomem(world);
  assert(fields || status != ECS_OK);
  for (uint32_t i = 0; i < like->field_count && status == ECS_OK; i++)
    status = redeclare_describe_field(world, from, &arena, like, i, &fields[i]);
  ecs_component_desc desc = {.name = like->name, .fields = fields,
                             .field_count = like->field_count,
                             .native_size = like->native ? like->size : 0,
                             .doc = like->doc, .old_name = like->former.name,
                             .was = like->former.was,
                             .was_count = like->former.was_count, .required = like->requires,
                             .required_count = like->require_count,
                             .relation = like->ties.relation,
                             .exclusive = like->ties.exclusive,
                             .acyclic = like->ties.acyclic,
                             .on_target_despawn = like->ties.policy,
                             .toggle = like->toggle, .track = like->track,
                             .sparse = like->is_sparse,
                             .length = like->length, .event = like->is_event};
  if (status == ECS_OK) status = declare_build(world, &desc, out);
  arena_free(&world->memory, &arena);
  return status;
}

/* ---- undeclare ---- */

void declare_forget(ecs_world *world, struct component *component) {
  ecs_id id = component->id;
  query_break(world, id);
  if (component->relation) graph_forget(world, pair_make(ecs_id_index(id), 0));
  graph_forget(world, id);
  graph_forget_target(world, ecs_id_index(id));
  component_leave_name(world, component);
  world->registry.components[ecs_id_index(id)] = NULL;
  world->registry.version++;
  component_free(world, component);
  entity_kill(world, ecs_id_index(id));
}

/* Whether a component is unused: in no table, no other component's field, and not required. */
static bool redeclare_is_unused(const ecs_world *world, const struct component *component) {
  const struct id_record *record = graph_uses(world, component);
  if (record && record->table_count) return false;
  if (component->sparse && component->sparse->table->count) return false;
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *other = world->registry.components[i];
    if (other && id_set_has(other->requires, other->require_count, component->id)) return false;
    for (uint32_t j = 0; other && j < other->field_count; j++)
      if (other->fields[j].nested == component) return false;
  }
  return true;
}

/* Undeclaring an unused component needs no memory, so a declaration can always be undone. */
ecs_status ecs_undeclare(ecs_world *world, ecs_id id) {
  struct component *component;
  ecs_status status = component_need_any(world, id, &component);
  if (status == ECS_OK) status = migration_check_removal(world, component);
  if (status == ECS_OK && redeclare_is_unused(world, component)) {
    status = world_is_idle(world, "undeclare");
    if (status != ECS_OK) return status;
    (void)world_prepare_attached(world);   /* when memory runs out, snapshots become useless */
    declare_forget(world, component);
    world->registry.layouts++;
    return ECS_OK;
  }
  struct migration migration;
  migration_begin(&migration, world);
  if (status == ECS_OK) status = migration_add(&migration, component, NULL);
  if (status == ECS_OK) status = migration_run(&migration, "undeclare");
  migration_end(&migration);
  return status;
}
