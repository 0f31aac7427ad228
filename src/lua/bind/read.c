#include "lua/bind/read.h"
#include "core/storage/component.h"
#include "core/storage/sparse.h"

#include "core/base/column_cells.h"

#include "lua/bind/args.h"
#include "lua/bind/lua_value.h"
#include "lua/bind/status.h"

bool place_look_aside(struct place *place) {
  const struct sparse *sparse = place->component->sparse;
  uint32_t row = sparse ? sparse_row(sparse, ecs_id_index(place->entity)) : NONE;
  if (row == NONE) return false;
  place->columns = sparse->table->columns;
  place->row = row;
  return true;
}

/* Whether the component is as it was: one that has been declared twice since may have come to lie
** where the first one was. */
static bool is_as_declared(const struct place *place) {
  const struct component *component = component_of(place->box->world, place->id);
  return component == place->component && component->changed <= place->version;
}

void place_hold(struct place *place) {
  struct world_box *box = place->box;
  if (LIKELY(place->calls == box->calls)) return;
  place->calls = box->calls;
  if (box->world && is_as_declared(place)) {
    const struct record *record = entity_find(box->entities, place->entity);
    if (record && place_look(place, record)) return;
  }
  raise_error(place->L, "the entity changed while it was read");
}

void push_leaf(struct place *place, uint32_t at) {
  const struct leaf *leaf = &place->component->leaves[at];
  ecs_cell cell = leaf->value;
  if (place->columns) cell = cell_load(place->columns[at].data, leaf->size, place->row);
  bool makes_text = leaf->type == ECS_STRING || leaf->type == ECS_ENUM;
  push_cell(place->L, place->box, place->world_index, leaf, cell);
  if (makes_text) place_hold(place);
}

/* A component, or a part of one that begins at a leaf. */
static void push_shape(struct place *place, const struct component *shape, uint32_t base);

static void read_push_element(struct place *place, const struct field *field, uint32_t base) {
  if (field->nested)
    push_shape(place, field->nested, base);
  else
    push_leaf(place, base);
}

static void read_push_part(struct place *place, const struct field *field, uint32_t base) {
  if (LIKELY(field->count == 0)) {
    read_push_element(place, field, base + field->first_leaf);
    return;
  }
  uint32_t count = field->count, stride = field->leaf_count / count;
  lua_createtable(place->L, (int)count, 0);
  place_hold(place);
  for (uint32_t i = 0; i < count; i++) {
    read_push_element(place, field, base + field->first_leaf + i * stride);
    lua_rawseti(place->L, -2, i + 1);
  }
}

static void push_shape(struct place *place, const struct component *shape, uint32_t base) {
  need_stack(place->L, 4);
  lua_createtable(place->L, 0, (int)shape->field_count);
  place_hold(place);
  for (uint32_t i = 0; i < shape->field_count; i++) {
    read_push_part(place, &shape->fields[i], base);
    lua_setfield(place->L, -2, shape->fields[i].name);
  }
}

void push_field(struct place *place, const struct field *field) {
  read_push_part(place, field, 0);
}

void push_component(struct place *place) {
  if (place->component->field_count == 0)
    lua_pushboolean(place->L, 1);
  else
    push_shape(place, place->component, 0);
}
