/* Strings, components, cells, arrays, names and timings of an image. */
#include <math.h>

#include "core/base/column.h"
#include "core/base/memory.h"
#include "core/base/types.h"
#include "core/change/declare.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/image/load.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"

static ecs_status load_parts_corrupt_unless(struct loader *loader, ecs_status status,
                                            const char *what) {
  if (status == ECS_OK || status == ECS_ENOMEM) return status;
  return load_damaged(loader, what);
}

static ecs_status load_parts_nomem_or_damaged(struct loader *loader) {
  return loader->in.failed ? load_state(loader) : ECS_ENOMEM;
}

/* Reads a text that lives as long as the loader's arena; NULL as for read_text. */
static char *load_text(struct loader *loader, size_t *size) {
  return read_text(&loader->in, &loader->live->memory, &loader->arena, IMAGE_TEXT_LIMIT, size);
}

/* Reads a text that may be missing; *out is then NULL. */
static ecs_status load_parts_hint(struct loader *loader, const char **out) {
  uint32_t size = read_u32(&loader->in);
  *out = NULL;
  if (size == NONE || loader->in.failed) return ECS_OK;
  *out = read_text_of(&loader->in, &loader->live->memory, &loader->arena, IMAGE_TEXT_LIMIT,
                      size);
  if (!*out) return load_parts_nomem_or_damaged(loader);
  return strlen(*out) == size ? ECS_OK
                              : load_damaged(loader, "a description has a zero byte");
}

ecs_status load_strings(struct loader *loader) {
  uint32_t count = read_u32(&loader->in);
  for (uint32_t i = 0; i < count; i++) {
    size_t size;
    if (!GROW(&loader->live->memory, loader->strings, loader->string_capacity, i + 1ull))
      return ECS_ENOMEM;
    const char *string = load_text(loader, &size);
    ecs_status status = string ? intern(&loader->world->strings, &loader->world->memory,
                                        string, size, &loader->strings[i])
                               : load_parts_nomem_or_damaged(loader);
    arena_free(&loader->live->memory, &loader->arena);
    if (status == ECS_OK) status = load_state(loader);
    if (status != ECS_OK) return status;
    loader->string_count++;
  }
  return ECS_OK;
}

/* ---- components ---- */

/* A leaf's default. */
struct preset {
  uint32_t size;               /* of its cells; 0: not in the image */
  uint64_t bits;
};

struct declaration {
  ecs_component_desc desc;
  ecs_field *fields;
  uint32_t field_count, field_capacity;
  struct preset *defaults;
  uint32_t default_count, default_capacity;
};

static ecs_status load_parts_read_enum(struct loader *loader, ecs_field *field) {
  uint32_t count = read_u32(&loader->in), capacity = 0;
  const char **names = NULL;
  ecs_status status = load_state(loader);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    size_t size;
    bool room = GROW(&loader->live->memory, names, capacity, i + 1ull);
    char *name = room ? load_text(loader, &size) : NULL;
    if (!name)
      status = load_parts_nomem_or_damaged(loader);
    else if (strlen(name) != size)
      status = load_damaged(loader, "an enum's name has a zero byte");
    else
      names[i] = name;
  }
  if (status == ECS_OK && names) {
    field->names = arena_take(&loader->live->memory, &loader->arena, count * sizeof *names);
    if (field->names) memcpy((void *)(uintptr_t)field->names, names, count * sizeof *names);
    field->name_count = count;
    if (!field->names) status = ECS_ENOMEM;
  }
  FREE_LIST(&loader->live->memory, names, capacity);
  return status;
}

static ecs_status load_parts_read_field(struct loader *loader, ecs_field *field) {
  struct reader *in = &loader->in;
  size_t size;
  field->name = load_text(loader, &size);
  if (!field->name) return load_parts_nomem_or_damaged(loader);
  ecs_status status = load_parts_hint(loader, &field->text);
  if (status != ECS_OK) return status;
  if (!type_of_code(read_u8(in), &field->type))
    return load_damaged(loader, "a field has no known type");
  field->count = read_u32(in);
  uint32_t nested = read_u32(in);
  if ((field->type == ECS_NESTED) != (nested < loader->component_count))
    return load_damaged(loader, "a nested component is missing");
  if (field->type == ECS_NESTED) field->nested = loader->components[nested]->id;
  field->value.kind = read_u8(in) ? ECS_KIND_INTEGER : ECS_KIND_NONE;
  if (loader->version == 1) read_u64(in);
  status = load_parts_read_enum(loader, field);
  const char **hints[] = {&field->doc, &field->unit, &field->min, &field->max};
  for (int i = 0; i < 4 && status == ECS_OK; i++) status = load_parts_hint(loader, hints[i]);
  return status == ECS_OK ? load_state(loader) : status;
}

static ecs_status load_parts_read_fields(struct loader *loader, struct declaration *declaration) {
  uint32_t count = read_u32(&loader->in);
  if (count > LEAF_LIMIT) return load_damaged(loader, "a component has too many fields");
  for (uint32_t i = 0; i < count; i++) {
    if (!GROW(&loader->live->memory, declaration->fields, declaration->field_capacity, i + 1ull))
      return ECS_ENOMEM;
    memset(&declaration->fields[i], 0, sizeof *declaration->fields);
    ecs_status status = load_parts_read_field(loader, &declaration->fields[i]);
    if (status != ECS_OK) return status;
    declaration->field_count++;
  }
  return ECS_OK;
}

static ecs_status load_parts_read_defaults(struct loader *loader, struct declaration *declaration) {
  uint32_t count = read_u32(&loader->in);
  if (count > LEAF_LIMIT) return load_damaged(loader, "a component has too many single values");
  for (uint32_t i = 0; i < count; i++) {
    if (!GROW(&loader->live->memory, declaration->defaults, declaration->default_capacity,
              i + 1ull))
      return ECS_ENOMEM;
    declaration->defaults[i].size = loader->version == 1 ? 0 : read_u32(&loader->in);
    declaration->defaults[i].bits = read_u64(&loader->in);
    declaration->default_count++;
    if (loader->in.failed) return load_state(loader);
  }
  return ECS_OK;
}

/* A field's default as a value, from the bits of its first leaf. */
static ecs_status load_parts_default_value(struct loader *loader, ecs_field *field, uint64_t bits) {
  uint32_t size = type_size(field->type, field->name_count);
  ecs_cell cell = cell_of_bits(size, bits);
  ecs_string text = {NULL, 0};
  switch (type_class(field->type)) {
    case CLASS_TEXT:
      if (cell.u32 > loader->string_count) return load_damaged(loader, "a string is missing");
      text = intern_text(&loader->world->strings, cell.u32 ? loader->strings[cell.u32 - 1] : 0);
      break;
    case CLASS_NAMES: {
      int64_t at = cell_integer(field->type, size, cell);
      if (at >= (int64_t)field->name_count)
        return load_damaged(loader, "an enum's value has no name");
      text = (ecs_string){field->names[at], strlen(field->names[at])};
      break;
    }
    case CLASS_ID: cell.u64 = ECS_NULL; break;
    case CLASS_FLOAT:
    case CLASS_TRUTH:
    case CLASS_INTEGER: break;
    default: return load_damaged(loader, "a default has a wrong type");
  }
  value_of_cell(field->type, size, cell, text, &field->value);
  return ECS_OK;
}

static ecs_status load_parts_give_defaults(struct loader *loader, struct declaration *declaration) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < declaration->field_count; i++) {
    ecs_field *field = &declaration->fields[i];
    const struct component *nested =
        field->nested ? component_of(loader->world, field->nested) : NULL;
    uint64_t leaves = (nested ? nested->leaf_count : 1) * (field->count ? field->count : 1ull);
    if (at + leaves > declaration->default_count)
      return load_damaged(loader, "a default is missing");
    if (field->value.kind != ECS_KIND_NONE) {
      ecs_status status = load_parts_default_value(loader, field, declaration->defaults[at].bits);
      if (status != ECS_OK) return status;
    }
    at += leaves;
  }
  return at == declaration->default_count ? ECS_OK
                                          : load_damaged(loader, "there are too many defaults");
}

/* A renamed component gets its present name, and keeps the image's as its former one. */
static ecs_status load_parts_call_as_now(struct loader *loader, struct component *component,
                                         const struct component *now) {
  char *name = arena_copy(&loader->world->memory, &component->arena, now->name, now->name_size);
  if (!name) return ECS_ENOMEM;
  component->former.name = component->name;
  component->name = name;
  component->name_size = now->name_size;
  return ECS_OK;
}

/* Uses the id of the live component with this name or former name, otherwise a new one. */
static ecs_status load_parts_enter(struct loader *loader, struct component *component) {
  ecs_world *world = loader->world, *here = loader->live;
  const struct component *live = component_find(here, component->name, component->name_size);
  if (!live) {
    live = component_formerly(here, component->name, component->name_size);
    ecs_status status = live ? load_parts_call_as_now(loader, component, live) : ECS_OK;
    if (status != ECS_OK) return status;
  }
  const struct component *other = component_find(world, component->name, component->name_size);
  if (other) {
    const char *was = component->former.name ? component->former.name : other->former.name;
    if (!was) return load_damaged(loader, "a component occurs twice");
    return world_fail(loader->live, ECS_ETAKEN, "the image has both '%s' and '%s', but component "
                      "'%s' was renamed from '%s': leave its `was` out to load both", was,
                      component->name, component->name, was);
  }
  if (!live) return registry_add(world, component);
  declare_lay_out_as(world, component, loader->live, live);
  uint32_t index = ecs_id_index(live->id);
  ecs_status status = registry_reserve(world, index);
  if (status == ECS_OK) status = registry_equip(world, component, live->id);
  if (status == ECS_OK) registry_enter(world, component, index);
  return status;
}

/* The id that an id in the image stands for. */
static ecs_id load_id(const struct loader *loader, ecs_id id) {
  if (id == ECS_NULL || id > loader->component_count) return id;
  return loader->components[id - 1]->id;
}

static ecs_status load_parts_resource(struct loader *loader, struct component *component) {
  ecs_status status = load_parts_corrupt_unless(loader, resource_new(loader->world, component),
                                                "a resource has no fields");
  for (uint32_t i = 0; i < component->leaf_count && status == ECS_OK; i++) {
    void *cell = component->resource[i].data;
    if (component->leaves[i].type == ECS_ENTITY)
      read_numbers(&loader->in, cell, sizeof(uint64_t), 1);
    else
      status = load_cells(loader, component, i, cell, 1);
  }
  return status;
}

/* Called once all components exist, since entity fields of resources may name them. */
static void load_parts_resource_ids(const struct loader *loader) {
  for (uint32_t i = 0; i < loader->component_count; i++) {
    const struct component *component = loader->components[i];
    for (uint32_t j = 0; component->resource && j < component->leaf_count; j++) {
      uint64_t *id = component->resource[j].data;
      if (component->leaves[j].type == ECS_ENTITY) *id = load_id(loader, *id);
    }
  }
}

/* Reads a component's kind from its flags; an array's length follows them. */
static ecs_status load_parts_read_kind(struct loader *loader, uint8_t flags,
                                       ecs_component_desc *desc) {
  if (flags == IMAGE_EVENT) {
    desc->event = true;
    return ECS_OK;
  }
  if (flags == IMAGE_ARRAY) {
    desc->length = read_u32(&loader->in);
    return desc->length ? ECS_OK : load_damaged(loader, "an array has length 0");
  }
  bool despawns = flags & IMAGE_DESPAWNS, refuses = flags & IMAGE_REFUSES;
  desc->relation = flags & IMAGE_RELATION;
  desc->exclusive = flags & IMAGE_EXCLUSIVE;
  desc->acyclic = flags & IMAGE_ACYCLIC;
  desc->on_target_despawn = despawns ? ECS_TARGET_DESPAWN
                            : refuses ? ECS_TARGET_ERROR : ECS_TARGET_REMOVE;
  desc->toggle = flags & IMAGE_TOGGLE;
  desc->sparse = flags & IMAGE_SPARSE;
  bool plain = !desc->exclusive && !desc->acyclic && !despawns && !refuses;
  bool sound = !(despawns && refuses) && (desc->relation ? !desc->sparse : plain);
  return sound ? ECS_OK : load_damaged(loader, "a component's flags are invalid");
}

static ecs_status load_parts_read_component(struct loader *loader,
                                            struct declaration *declaration) {
  size_t size;
  ecs_component_desc *desc = &declaration->desc;
  desc->name = load_text(loader, &size);
  if (!desc->name) return load_parts_nomem_or_damaged(loader);
  ecs_status status = load_parts_hint(loader, &desc->doc);
  uint8_t flags = read_u8(&loader->in);
  if (loader->version == 1) read_u32(&loader->in);
  if (status == ECS_OK) status = load_parts_read_kind(loader, flags, desc);
  if (status == ECS_OK) status = load_parts_read_fields(loader, declaration);
  if (status == ECS_OK) status = load_parts_read_defaults(loader, declaration);
  if (status == ECS_OK) status = load_state(loader);
  if (status == ECS_OK) status = load_parts_give_defaults(loader, declaration);
  if (status != ECS_OK) return status;
  desc->fields = declaration->fields;
  desc->field_count = declaration->field_count;
  struct component *component;
  status = declare_build(loader->world, desc, &component);
  if (status != ECS_OK)
    return load_parts_corrupt_unless(loader, status, "a component cannot be declared");
  assert(declaration->default_count == component->leaf_count);
  for (uint32_t i = 0; loader->version > 1 && i < component->leaf_count && status == ECS_OK; i++)
    if (declaration->defaults[i].size != component->leaves[i].size)
      status = load_damaged(loader, "a field has another size");
  if (status == ECS_OK) status = load_parts_enter(loader, component);
  if (status != ECS_OK) {
    component_free(loader->world, component);
    return status;
  }
  if (!GROW(&loader->live->memory, loader->components, loader->component_capacity,
            loader->component_count + 1ull))
    return ECS_ENOMEM;
  loader->components[loader->component_count++] = component;
  bool is_resource = (flags & IMAGE_RESOURCE) && !component->length;
  return is_resource ? load_parts_resource(loader, component) : ECS_OK;
}

ecs_status load_components(struct loader *loader) {
  uint32_t count = read_u32(&loader->in);
  ecs_status status = load_state(loader);
  struct memory *memory = &loader->live->memory;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    struct declaration declaration = {.fields = NULL};
    status = load_parts_read_component(loader, &declaration);
    FREE_LIST(memory, declaration.fields, declaration.field_capacity);
    FREE_LIST(memory, declaration.defaults, declaration.default_capacity);
    arena_free(memory, &loader->arena);
    if (status == ECS_OK) status = load_state(loader);
  }
  if (status == ECS_OK) load_parts_resource_ids(loader);
  return status;
}

/* Reads the ids that a component requires, ascending by place, into memory that grows as they
** arrive. */
static ecs_status load_parts_read_required(struct loader *loader, ecs_id **ids, uint32_t *capacity,
                                           uint32_t count) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t place = read_u32(&loader->in);
    if (loader->in.failed) return load_state(loader);
    if (place >= loader->component_count || (i && place <= last) ||
        loader->components[place]->ties.relation || loader->components[place]->length ||
        loader->components[place]->is_event)
      return load_damaged(loader, "a required id is not a component");
    if (!GROW(&loader->live->memory, *ids, *capacity, i + 1ull)) return ECS_ENOMEM;
    (*ids)[i] = loader->components[place]->id;
    last = place;
  }
  return ECS_OK;
}

ecs_status load_required(struct loader *loader) {
  ecs_id *ids = NULL;
  uint32_t capacity = 0;
  ecs_status status = ECS_OK;
  if (loader->version < 3) return status;
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++) {
    uint32_t count = read_u32(&loader->in);
    status = load_parts_read_required(loader, &ids, &capacity, count);
    if (status == ECS_OK &&
        !declare_requirements(loader->world, loader->components[i], ids, count))
      status = ECS_ENOMEM;
    if (status == ECS_OK) status = load_state(loader);
  }
  FREE_LIST(&loader->live->memory, ids, capacity);
  return status == ECS_OK ? load_parts_corrupt_unless(loader, require_check_cycles(loader->world),
                                                      "a component requires itself") : status;
}

/* ---- cells ---- */

/* Without a codec, skips a value: damage to the image is reported first. */
static ecs_status load_parts_pass_over(struct loader *loader, uint32_t size) {
  char piece[256];
  loader->lacks_codec = true;
  while (size > 0 && !loader->in.failed) {
    uint32_t part = size < sizeof piece ? size : (uint32_t)sizeof piece;
    read_bytes(&loader->in, piece, part);
    size -= part;
  }
  return load_state(loader);
}

static ecs_status load_parts_any(struct loader *loader, uint32_t *slot) {
  uint32_t size = read_u32(&loader->in);
  *slot = 0;
  if (size == NONE || loader->in.failed) return ECS_OK;
  if (!loader->codec || !loader->codec->decode) return load_parts_pass_over(loader, size);
  struct memory *memory = &loader->live->memory;
  char *data = NULL;
  uint32_t capacity = 0;
  bool room = true;
  for (size_t have = 0; have < size && !loader->in.failed;) {
    size_t piece = size - have < INDEX_PAGE ? size - have : INDEX_PAGE;
    room = GROW(memory, data, capacity, have + piece);
    if (!room) break;
    read_bytes(&loader->in, data + have, piece);
    have += piece;
    if (have == size && !loader->in.failed)
      *slot = loader->codec->decode(loader->codec->ud, data, size);
  }
  if (size == 0) *slot = loader->codec->decode(loader->codec->ud, "", 0);
  memory_free(memory, data, capacity);
  if (*slot) return ECS_OK;
  if (!room) return ECS_ENOMEM;
  if (loader->in.failed) return load_state(loader);
  return world_fail(loader->world, ECS_EUSER, "the codec cannot decode a value");
}

static ecs_status load_parts_check_cells(struct loader *loader, const struct leaf *leaf, void *data,
                                         uint32_t count) {
  uint32_t *numbers = data;
  uint64_t *ids = data;
  for (uint32_t i = 0; i < count; i++) {
    if (leaf->type == ECS_STRING) {
      if (numbers[i] > loader->string_count) return load_damaged(loader, "a string is missing");
      numbers[i] = numbers[i] ? loader->strings[numbers[i] - 1] : 0;
    } else if (leaf->type == ECS_ENTITY) {
      ids[i] = load_id(loader, ids[i]);
    } else {
      int64_t value = cell_integer(leaf->type, leaf->size, cell_load(data, leaf->size, i));
      int64_t limit = leaf->type == ECS_BOOL ? 2 : (int64_t)leaf->names->count;
      if (value >= limit) return load_damaged(loader, "a value is out of range");
    }
  }
  return ECS_OK;
}

ecs_status load_cells(struct loader *loader, const struct component *component,
                      uint32_t leaf_at, void *data, uint32_t count) {
  const struct leaf *leaf = &component->leaves[leaf_at];
  if (leaf->type == ECS_ANY) {
    memset(data, 0, count * sizeof(uint32_t));
    ecs_status status = ECS_OK;
    for (uint32_t i = 0; i < count && status == ECS_OK; i++)
      status = load_parts_any(loader, (uint32_t *)data + i);
    return status;
  }
  read_numbers(&loader->in, data, leaf->size, count);
  if (loader->in.failed) {
    memset(data, 0, (size_t)count * leaf->size);
    return load_state(loader);
  }
  return type_is_number(leaf->type) ? ECS_OK : load_parts_check_cells(loader, leaf, data, count);
}

/* ---- arrays ---- */

#define ARRAY_PIECE 65536u

/* The memory grows with what has been read: a forged image may claim any length. */
static ecs_status load_parts_read_array(struct loader *loader, struct component *array) {
  struct memory *memory = &loader->world->memory;
  uint32_t size = array->leaves[ARRAY_LEAF].size;
  struct column_buffer *column = memory_array(memory, 1, sizeof *column);
  if (!column) return ECS_ENOMEM;
  array->resource = column;
  ecs_status status = ECS_OK;
  for (uint32_t at = 0, next; at < array->length && status == ECS_OK; at = next) {
    next = array->length - at < ARRAY_PIECE ? array->length : at + ARRAY_PIECE;
    if (!buffer_grow(memory, column, (size_t)next * size, (size_t)at * size)) return ECS_ENOMEM;
    status = load_cells(loader, array, ARRAY_LEAF, (char *)column->data + (size_t)at * size,
                        next - at);
    if (status == ECS_OK) status = load_state(loader);
  }
  return status;
}

ecs_status load_arrays(struct loader *loader) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++) {
    struct component *component = loader->components[i];
    if (component->length) status = load_parts_read_array(loader, component);
  }
  return status;
}

/* ---- names and timings ---- */

ecs_status load_names(struct loader *loader) {
  uint32_t count = read_u32(&loader->in);
  for (uint32_t i = 0; i < count; i++) {
    ecs_id id = load_id(loader, read_u64(&loader->in));
    size_t size;
    const char *name = load_text(loader, &size);
    if (!name) return load_parts_nomem_or_damaged(loader);
    ecs_status status = size == 0 || name_of(loader->world, id).size
                            ? load_damaged(loader, "a name occurs twice")
                            : name_put(loader->world, id, name, size);
    if (status == ECS_ETAKEN) status = load_damaged(loader, "a name occurs twice");
    arena_free(&loader->live->memory, &loader->arena);
    status = load_parts_corrupt_unless(loader, status, "a name has no entity");
    if (status == ECS_OK) status = load_state(loader);
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

ecs_status load_timing(struct loader *loader, struct timing_list *list, ecs_system **out) {
  size_t size;
  const char *name = load_text(loader, &size);
  if (!name) return load_parts_nomem_or_damaged(loader);
  ecs_status status = strlen(name) == size ? timings_need(loader->live, list, name, size, out)
                                           : load_damaged(loader, "a name has a zero byte");
  arena_free(&loader->live->memory, &loader->arena);
  return status;
}

static ecs_status load_parts_timings(struct loader *loader, struct timing_list *list,
                                     uint32_t count, bool of_systems) {
  struct reader *in = &loader->in;
  for (uint32_t i = 0; i < count; i++) {
    ecs_system *system = NULL;
    ecs_status status = load_timing(loader, list, &system);
    if (status != ECS_OK) return status;
    assert(system);
    system->timer = read_f64(in);
    if (of_systems) system->elapsed = read_f64(in);
    uint8_t flags = read_u8(in);
    system->enabled = flags & 1;
    system->has_run = of_systems && flags & 2;
    system->parked = of_systems && flags & 4;
    system->switched = of_systems ? (flags & 8) != 0 : !system->enabled;
    if (of_systems && loader->version > 1) system->streams = read_u64(in);
    system->streams_tick = loader->world->tick;
    bool sound = system->timer >= 0 && isfinite(system->timer) && system->elapsed >= 0 &&
                 isfinite(system->elapsed);
    if (in->failed) return load_state(loader);
    if (!sound) return load_damaged(loader, "a system's timer is invalid");
  }
  return ECS_OK;
}

ecs_status load_schedule(struct loader *loader) {
  uint32_t phases = read_u32(&loader->in);
  ecs_status status = load_parts_timings(loader, &loader->timings.phases, phases, false);
  if (status != ECS_OK) return status;
  uint32_t systems = read_u32(&loader->in);
  loader->has_changes = loader->version > 2 && systems & IMAGE_CHANGES;
  if (loader->has_changes) systems &= ~IMAGE_CHANGES;
  return load_parts_timings(loader, &loader->timings.systems, systems, true);
}
