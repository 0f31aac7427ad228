#include "core/change/declare.h"

#include "core/base/sets.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/migrate.h"
#include "core/entity/name.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/registry.h"
#include "ecs_resource.h"

#define ARRAY_LIMIT 1024u
#define ENUM_LIMIT 65535u
#define TEXT_LIMIT 65535u      /* bytes of a description or an enum's name */
#define NATIVE_LIMIT 524288u   /* so that LEAF_LIMIT nested ones fit a size_t */

struct build {
  ecs_world *world;
  struct component *component;
  const ecs_component_desc *desc;
};

static void *declare_take(struct build *build, size_t size) {
  return arena_take(&build->world->memory, &build->component->arena, size);
}

static const char *declare_copy(struct build *build, const char *text) {
  return arena_copy(&build->world->memory, &build->component->arena, text, strlen(text));
}

/* Copies a text, or NULL. */
static ecs_status declare_copy_hint(struct build *build, const char *what, const char *text,
                                    const char **out) {
  *out = NULL;
  if (!text) return ECS_OK;
  if (strlen(text) > TEXT_LIMIT)
    return world_fail(build->world, ECS_ELIMIT, "component '%s': '%s' is %zu bytes long; the "
                      "limit is 65535", build->desc->name, what, strlen(text));
  *out = declare_copy(build, text);
  return *out ? ECS_OK : world_nomem(build->world);
}

static ecs_status declare_copy_hints(struct build *build, const ecs_field *from, struct field *to) {
  const struct { const char *what, *text, **out; } hints[] = {
    {"doc", from->doc, &to->doc}, {"unit", from->unit, &to->unit},
    {"min", from->min, &to->min}, {"max", from->max, &to->max}};
  ecs_status status = ECS_OK;
  for (size_t i = 0; i < sizeof hints / sizeof *hints && status == ECS_OK; i++)
    status = declare_copy_hint(build, hints[i].what, hints[i].text, hints[i].out);
  if (status != ECS_OK || !from->text) return status;
  /* No limit: it may list all names of an enumeration. */
  to->text = declare_copy(build, from->text);
  return to->text ? ECS_OK : world_nomem(build->world);
}

static bool declare_is_name(const char *text) {
  size_t size = strlen(text);
  return size <= NAME_LIMIT && text_is_identifier(text, size);
}

static size_t declare_native_size(ecs_type type, const struct enumeration *names) {
  return type == ECS_STRING ? sizeof(ecs_string) : type_size(type, names ? names->count : 0);
}

/* C aligns 8 bytes in a struct to less than 8 on some machines: to 4 on 32-bit x86. */
struct behind_byte {
  char byte;
  ecs_cell cell;
};

static size_t declare_native_align(const struct field *field, size_t size) {
  if (field->nested) return field->nested->align;
  if (field->type == ECS_STRING) return sizeof(void *);
  size_t most = offsetof(struct behind_byte, cell);
  return size < most ? size : most;
}

static ecs_status declare_check_enum(struct build *build, const ecs_field *from) {
  if (from->name_count == 0 || from->name_count > ENUM_LIMIT)
    return world_fail(build->world, ECS_ELIMIT, "enum field '%s.%s' has %u names; give 1 to 65535",
                      build->desc->name, from->name, from->name_count);
  for (uint32_t i = 0; i < from->name_count; i++)
    if (!from->names[i])
      return world_fail(build->world, ECS_EINVAL, "enum field '%s.%s': name %u is NULL",
                        build->desc->name, from->name, i + 1);
    else if (strlen(from->names[i]) > TEXT_LIMIT)
      return world_fail(build->world, ECS_ELIMIT, "enum field '%s.%s' has a name of %zu bytes; "
                        "the limit is 65535", build->desc->name, from->name,
                        strlen(from->names[i]));
  return ECS_OK;
}

static ecs_status declare_copy_enum(struct build *build, const ecs_field *from,
                                    const struct enumeration **out) {
  ecs_status status = declare_check_enum(build, from);
  if (status != ECS_OK) return status;
  struct enumeration *names = declare_take(build, sizeof *names);
  if (!names) return world_nomem(build->world);
  names->count = from->name_count;
  names->bucket_count = enumeration_buckets(names->count);
  names->names = declare_take(build, names->count * sizeof *names->names);
  names->buckets = declare_take(build, names->bucket_count * sizeof *names->buckets);
  if (!names->names || !names->buckets) return world_nomem(build->world);
  for (uint32_t i = 0; i < names->count; i++) {
    const char *name = declare_copy(build, from->names[i]);
    if (!name) return world_nomem(build->world);
    names->names[i] = (ecs_string){name, strlen(name)};
    if (!enumeration_enter(names, i))
      return world_fail(build->world, ECS_EINVAL, "enum field '%s.%s' lists '%s' twice",
                        build->desc->name, from->name, name);
  }
  *out = names;
  return ECS_OK;
}

static const char *declare_word(const ecs_component_desc *desc) {
  return desc->event ? "an event" : desc->length ? "an array"
         : desc->relation ? "a relation" : "a component";
}

/* An invalid name may be long: the message shows its beginning. */
static ecs_status declare_no_name(ecs_world *world, const char *where, const char *name,
                                  const char *what) {
  char shown[80];
  text_format(shown, sizeof shown, "%s", text_given(name));
  return world_fail(world, ECS_EINVAL,
                    "%s'%s' is not a name for %s (at most 63 letters, digits, _)", where,
                    shown, what);
}

static ecs_status declare_check_field(struct build *build, const ecs_field *from) {
  const ecs_component_desc *desc = build->desc;
  if (!from->name || !declare_is_name(from->name)) {
    char where[96];
    text_format(where, sizeof where, "component '%s': ", desc->name);
    return declare_no_name(build->world, where, from->name, "a field");
  }
  for (const ecs_field *other = desc->fields; other != from; other++)
    if (strcmp(other->name, from->name) == 0)
      return world_fail(build->world, ECS_EINVAL, "component '%s' has two fields named '%s'",
                        desc->name, from->name);
  if (!type_is_known(from->type))
    return world_fail(build->world, ECS_EINVAL, "field '%s.%s' has an unknown type", desc->name,
                      from->name);
  if (from->count > ARRAY_LIMIT)
    return world_fail(build->world, ECS_ELIMIT,
                      "field '%s.%s': an array must have 1 to 1024 elements", desc->name,
                      from->name);
  return ECS_OK;
}

static ecs_status declare_copy_nested(struct build *build, const ecs_field *from,
                                      struct field *to) {
  ecs_world *world = build->world;
  const char *name = build->desc->name;
  ecs_status status = component_need_id(world, from->nested, &to->nested);
  if (status != ECS_OK) return status;
  if (to->nested->relation)
    return world_fail(world, ECS_EINVAL, "field '%s.%s': '%s' is a relation, which cannot be the "
                      "type of a field", name, from->name, to->nested->name);
  if (to->nested->leaf_count == 0)
    return world_fail(world, ECS_EINVAL, "field '%s.%s': '%s' is a tag, which cannot be the type "
                      "of a field", name, from->name, to->nested->name);
  if (to->has_value)
    return world_fail(world, ECS_EINVAL,
                      "field '%s.%s': a nested component has its own defaults; leave this one out",
                      name, from->name);
  uint32_t depth = to->nested->depth + 1;
  if (depth > NESTING_LIMIT)
    return world_fail(world, ECS_ELIMIT, "field '%s.%s': components nest at most 6 deep",
                      name, from->name);
  if (build->component->depth < depth) build->component->depth = depth;
  return ECS_OK;
}

static ecs_status declare_copy_field(struct build *build, const ecs_field *from, struct field *to) {
  ecs_status status = declare_check_field(build, from);
  if (status != ECS_OK) return status;
  to->type = from->type;
  to->count = from->count;
  to->offset = from->offset;
  to->name = declare_copy(build, from->name);
  to->name_size = (uint32_t)strlen(from->name);
  to->has_value = from->value.kind != ECS_KIND_NONE;
  if (!to->name) return world_nomem(build->world);
  status = declare_copy_hints(build, from, to);
  uint32_t leaves = 1;
  if (status == ECS_OK && from->type == ECS_ENUM)
    status = declare_copy_enum(build, from, &to->names);
  if (status == ECS_OK && from->type == ECS_NESTED) {
    status = declare_copy_nested(build, from, to);
    if (status == ECS_OK) leaves = to->nested->leaf_count;
  }
  to->leaf_count = leaves * field_elements(to);
  return status;
}

static ecs_status declare_add_leaf(struct build *build, uint32_t field_at, uint32_t element,
                                   const struct leaf *inner) {
  struct component *component = build->component;
  struct field *field = &component->fields[field_at];
  struct leaf *leaf = &component->leaves[component->leaf_count];
  if (inner) *leaf = *inner;
  leaf->field = field_at;
  char text[MESSAGE_SIZE];
  size_t size = text_format(text, sizeof text, "%s", field->name);
  if (field->count)
    size += text_format(text + size, sizeof text - size, "[%u]", element + 1);
  if (inner) text_format(text + size, sizeof text - size, ".%s", inner->name);
  leaf->name = declare_copy(build, text);
  if (!leaf->name) return world_nomem(build->world);
  leaf->name_size = (uint32_t)strlen(leaf->name);
  size_t stride = inner ? field->nested->size : declare_native_size(field->type, field->names);
  leaf->offset = field->offset + element * stride + (inner ? inner->offset : 0);
  if (!inner) {
    leaf->type = field->type;
    leaf->names = field->names;
    leaf->size = type_size(field->type, field->names ? field->names->count : 0);
    const ecs_value *value = &build->desc->fields[field_at].value;
    if (field->has_value) {
      ecs_status status = component_cell(build->world, component, component->leaf_count,
                                         value, &leaf->value);
      if (status != ECS_OK) return status;
    }
  }
  component->has_any |= leaf->type == ECS_ANY;
  component->has_string |= leaf->type == ECS_STRING;
  component->translates |= leaf->type == ECS_STRING || leaf->type == ECS_ENTITY;
  bool word = leaf->size == 4 && leaf->offset == (size_t)4 * component->leaf_count;
  component->words = word && !component->translates &&
                     (component->leaf_count == 0 || component->words);
  component->numbers = type_is_number(leaf->type) &&
                       (component->leaf_count == 0 || component->numbers);
  component->leaf_count++;
  return ECS_OK;
}

static ecs_status declare_add_leaves(struct build *build, uint32_t field_at) {
  struct field *field = &build->component->fields[field_at];
  field->first_leaf = build->component->leaf_count;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < field_elements(field) && status == ECS_OK; i++) {
    if (!field->nested) {
      status = declare_add_leaf(build, field_at, i, NULL);
      continue;
    }
    for (uint32_t j = 0; j < field->nested->leaf_count && status == ECS_OK; j++)
      status = declare_add_leaf(build, field_at, i, &field->nested->leaves[j]);
  }
  return status;
}

/* Places the field in the native struct: as the host says, or by C's rules. */
static ecs_status declare_lay_out(struct build *build, struct field *field) {
  struct component *component = build->component;
  size_t one = field->nested ? field->nested->size : declare_native_size(field->type, field->names);
  size_t align = declare_native_align(field, one);
  field->size = one * field_elements(field);
  if (component->align < align) component->align = align;
  if (component->native) {
    if (field->size > component->size || field->offset > component->size - field->size)
      return world_fail(build->world, ECS_EINVAL, "field '%s.%s' ends outside the native struct "
                        "of %zu bytes", component->name, field->name, component->size);
    return ECS_OK;
  }
  field->offset = (component->size + align - 1) / align * align;
  component->size = field->offset + field->size;
  return ECS_OK;
}

static ecs_status build_fields(struct build *build) {
  struct component *component = build->component;
  const ecs_component_desc *desc = build->desc;
  component->fields = declare_take(build, desc->field_count * sizeof *component->fields);
  if (!component->fields) return world_nomem(build->world);
  uint64_t leaves = 0;
  component->flat = true;
  for (uint32_t i = 0; i < desc->field_count; i++) {
    ecs_status status = declare_copy_field(build, &desc->fields[i], &component->fields[i]);
    component->field_count++;
    if (status == ECS_OK) status = declare_lay_out(build, &component->fields[i]);
    if (status != ECS_OK) return status;
    leaves += component->fields[i].leaf_count;
    component->flat &= !component->fields[i].count && !component->fields[i].nested;
  }
  if (leaves > LEAF_LIMIT)
    return world_fail(build->world, ECS_ELIMIT,
                      "component '%s' has %llu fields with arrays and nested ones "
                      "flattened; the limit is 4096", desc->name, (unsigned long long)leaves);
  component->leaves = declare_take(build, (size_t)leaves * sizeof *component->leaves);
  if (!component->leaves) return world_nomem(build->world);
  for (uint32_t i = 0; i < desc->field_count; i++) {
    ecs_status status = declare_add_leaves(build, i);
    if (status != ECS_OK) return status;
  }
  if (!component->native)
    component->size = (component->size + component->align - 1) / component->align *
                      component->align;
  return ECS_OK;
}

static ecs_status declare_check_rename(const ecs_world *world, const struct component *component,
                                       uint32_t at) {
  const ecs_rename *was = component->former.was, *rename = &was[at];
  bool is_field = component_field(component, rename->name, strlen(rename->name)) != NONE;
  for (uint32_t i = 0; !is_field && i < component->former.was_count; i++)
    if (strcmp(was[i].was, rename->name) == 0)
      return world_fail(world, ECS_EINVAL, "component '%s': `was` says that '%s' was '%s', but "
                        "'%s' is itself a former name: write %s = { \"%s\", \"%s\" }",
                        component->name, rename->name, rename->was, rename->name, was[i].name,
                        rename->name, rename->was);
  if (!is_field)
    return component_no_field(world, component, rename->name, strlen(rename->name));
  if (component_field(component, rename->was, strlen(rename->was)) != NONE)
    return world_fail(world, ECS_EINVAL,
                      "component '%s': `was` renames '%s' from '%s', but '%s' is still a field; "
                      "remove that field or the entry", component->name, rename->name, rename->was,
                      rename->was);
  for (uint32_t i = 0; i < at; i++)
    if (strcmp(was[i].was, rename->was) == 0)
      return world_fail(world, ECS_EINVAL, "component '%s': `was` renames both '%s' and '%s' from "
                        "'%s'; only one field can have had that name", component->name, was[i].name,
                        rename->name, rename->was);
  return ECS_OK;
}

static const char *declare_copy_former(struct build *build, const char *text) {
  return arena_copy(&build->world->memory, &build->component->former.arena, text, strlen(text));
}

static ecs_status declare_copy_old_name(struct build *build) {
  const ecs_component_desc *desc = build->desc;
  if (!desc->old_name) return ECS_OK;
  if (!declare_is_name(desc->old_name))
    return declare_no_name(build->world, "was: ", desc->old_name,
                           declare_word(desc));
  if (strcmp(desc->name, desc->old_name) == 0)
    return world_fail(build->world, ECS_EINVAL, "component '%s': `was` must be an earlier name, "
                      "and '%s' is its name now", desc->name, desc->old_name);
  build->component->former.name = declare_copy_former(build, desc->old_name);
  build->world->registry.renamed = true;
  return build->component->former.name ? ECS_OK : world_nomem(build->world);
}

static ecs_status declare_copy_renames(struct build *build) {
  const ecs_component_desc *desc = build->desc;
  struct former *former = &build->component->former;
  if (desc->was_count == 0) return ECS_OK;
  ecs_rename *was = arena_take(&build->world->memory, &former->arena,
                               desc->was_count * sizeof *was);
  if (!was) return world_nomem(build->world);
  former->was = was;
  for (uint32_t i = 0; i < desc->was_count; i++) {
    if (!desc->was[i].name || !desc->was[i].was)
      return world_fail(build->world, ECS_EINVAL, "component '%s': a renamed field needs its name "
                        "and the name it had", desc->name);
    was[i].name = declare_copy_former(build, desc->was[i].name);
    was[i].was = declare_copy_former(build, desc->was[i].was);
    if (!was[i].name || !was[i].was) return world_nomem(build->world);
  }
  former->was_count = desc->was_count;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < former->was_count && status == ECS_OK; i++)
    status = declare_check_rename(build->world, build->component, i);
  return status;
}

bool declare_requirements(ecs_world *world, struct component *component, const ecs_id *ids,
                          uint32_t count) {
  if (count == 0) return true;
  ecs_id *set = arena_take(&world->memory, &component->arena, count * sizeof *set);
  if (!set) return false;
  world->registry.requires = true;
  component->requires = set;
  component->require_count = 0;
  for (uint32_t i = 0; i < count; i++)
    component->require_count = id_set_insert(set, component->require_count, ids[i]);
  return true;
}

/* Whether a field is the target that an exclusive relation begins with. */
static bool declare_is_target(const ecs_field *field) {
  return strcmp(field->name, "target") == 0 && field->type == ECS_ENTITY && !field->count &&
         field->value.kind == ECS_KIND_NONE;
}

static ecs_status declare_check_relation(const ecs_world *world, const ecs_component_desc *desc) {
  if (!desc->relation && (desc->exclusive || desc->acyclic))
    return world_fail(world, ECS_EINVAL, "component '%s' is not a relation: only relations can be "
                      "exclusive or acyclic", desc->name);
  if (!desc->relation) return ECS_OK;
  if (desc->toggle)
    return world_fail(world, ECS_EINVAL, "relation '%s' cannot have toggle: only components and "
                      "tags can be switched off", desc->name);
  if (desc->sparse)
    return world_fail(world, ECS_EINVAL, "relation '%s' cannot be sparse: only components and tags "
                      "can", desc->name);
  if (desc->acyclic && !desc->exclusive)
    return world_fail(world, ECS_EINVAL, "relation '%s' is acyclic but not exclusive; make it "
                      "exclusive, too", desc->name);
  if (desc->exclusive && (desc->field_count == 0 || !declare_is_target(&desc->fields[0])))
    return world_fail(world, ECS_EINVAL, "the first field of exclusive relation '%s' must be "
                      "'target', of type entity", desc->name);
  for (uint32_t i = desc->exclusive; i < desc->field_count; i++)
    if (desc->fields[i].name && strcmp(desc->fields[i].name, "target") == 0)
      return world_fail(world, ECS_EINVAL, "relation '%s': a field cannot be named 'target', "
                        "which is the entity at the other end; rename the field", desc->name);
  return ECS_OK;
}

ecs_status declare_build(ecs_world *world, const ecs_component_desc *desc,
                         struct component **out) {
  if (!desc->name || !declare_is_name(desc->name))
    return declare_no_name(world, "", desc->name, declare_word(desc));
  if (desc->field_count > LEAF_LIMIT)
    return world_fail(world, ECS_ELIMIT, "component '%s' has more than 4096 fields", desc->name);
  if (desc->native_size > NATIVE_LIMIT)
    return world_fail(world, ECS_ELIMIT, "component '%s': a native struct has at most %u bytes",
                      desc->name, NATIVE_LIMIT);
  ecs_status status = event_check_desc(world, desc);
  if (status == ECS_OK) status = array_check_desc(world, desc);
  if (status == ECS_OK) status = declare_check_relation(world, desc);
  if (status != ECS_OK) return status;
  struct component *component = memory_array(&world->memory, 1, sizeof *component);
  if (!component) return world_nomem(world);
  component->align = 1;
  component->native = desc->native_size != 0;
  component->size = desc->native_size;
  component->toggle = desc->toggle;
  component->track = component->watched = desc->track;
  struct build build = {world, component, desc};
  component->name = declare_copy(&build, desc->name);
  component->name_size = (uint32_t)strlen(desc->name);
  component->ties = (struct tie_kind){desc->relation, desc->exclusive, desc->acyclic,
                                      desc->on_target_despawn};
  component->is_sparse = desc->sparse;
  component->length = desc->length;
  component->is_event = desc->event;
  status = component->name ? ECS_OK : world_nomem(world);
  if (status == ECS_OK) status = declare_copy_hint(&build, "doc", desc->doc, &component->doc);
  if (status == ECS_OK && desc->field_count) status = build_fields(&build);
  if (status == ECS_OK) status = declare_copy_old_name(&build);
  if (status == ECS_OK) status = declare_copy_renames(&build);
  if (status == ECS_OK &&
      !declare_requirements(world, component, desc->required, desc->required_count))
    status = world_nomem(world);
  if (status != ECS_OK) {
    component_free(world, component);
    return status;
  }
  *out = component;
  return ECS_OK;
}

static ecs_status declare_check_requirements(ecs_world *world, const ecs_component_desc *desc) {
  struct component *needed = NULL;
  for (uint32_t i = 0; i < desc->required_count; i++) {
    ecs_status status = component_need_id(world, desc->required[i], &needed);
    if (status != ECS_OK) return status;
    if (needed->relation)
      return world_fail(world, ECS_EINVAL, "component '%s', requires: " REQUIRES_RELATION,
                        desc->name, needed->name);
  }
  return ECS_OK;
}

/* Another component, still declared, with this former name; or NULL. */
static const struct component *declare_claimant(const ecs_world *world, const char *name,
                                                const struct component *one,
                                                const struct component *other) {
  const struct component *found = component_formerly(world, name, strlen(name));
  return found && !found->orphan && found != one && found != other ? found : NULL;
}

/* Ties and terms would take the name for the component, not the prefab. */
static ecs_status declare_check_prefabs(const ecs_world *world, const char *name) {
  ecs_id known = name_find(world, 0, name, strlen(name));
  if (known == ECS_NULL || !prefab_is_or_comes(world, known)) return ECS_OK;
  return world_fail(world, ECS_ETAKEN, "'%s' is a prefab; give the component another name, since "
                    "ties and terms could not tell the two apart", name);
}

ecs_status declare_check_name(const ecs_world *world, const char *name,
                              const struct component *self) {
  const struct component *other = declare_claimant(world, name, self, NULL);
  if (!other) return ECS_OK;
  ecs_status status = world_fail(world, ECS_ETAKEN, "'%s' is the former name of component '%s': "
                                 "write was = \"%s\" to rename it back, or drop its `was` before "
                                 "you reuse the name", name, other->name, other->name);
  return world_blame(world, world_blame(world, status, name), other->name);
}

/* A built-in relation can be neither redeclared nor renamed. */
static ecs_status declare_check_builtin(const ecs_world *world, const char *name,
                                        const char *what) {
  if (!name || !builtin_is(name, strlen(name))) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "'%s' is a built-in %s and cannot be %s", name,
                    strcmp(name, PREFAB) == 0 ? "tag" : "relation", what);
}

/* Checks the names. `known` is the component of that name, `old` that of the former name; either
** may be NULL. */
static ecs_status declare_check_names(const ecs_world *world, const struct component *component,
                                      const struct component *known, const struct component *old,
                                      bool staged) {
  const char *name = component->name, *was = component->former.name;
  ecs_status status = declare_check_builtin(world, name, "declared");
  if (status == ECS_OK) status = declare_check_builtin(world, was, "renamed");
  if (status != ECS_OK) return status;
  if (known && old)
    return world_fail(world, ECS_ETAKEN, "component '%s' cannot take over '%s', since both are "
                      "declared: undeclare one of them, or leave `was` out", name, was);
  const struct component *other = was ? declare_claimant(world, was, known, old) : NULL;
  if (other)
    return world_fail(world, ECS_ETAKEN, "both '%s' and '%s' give '%s' as their former name; "
                      "leave one `was` out", other->name, name, was);
  status = known ? ECS_OK : declare_check_prefabs(world, name);
  return known || staged || status != ECS_OK ? status : declare_check_name(world, name, old);
}

static bool declare_same_former(const struct former *a, const struct former *b) {
  if (a->was_count != b->was_count || !a->name != !b->name) return false;
  if (a->name && strcmp(a->name, b->name) != 0) return false;
  for (uint32_t i = 0; i < a->was_count; i++)
    if (strcmp(a->was[i].name, b->was[i].name) != 0 || strcmp(a->was[i].was, b->was[i].was) != 0)
      return false;
  return true;
}

static ecs_status declare_built(ecs_world *world, struct component *component,
                                struct migration *migration) {
  assert(component);
  struct component *known = component_find(world, component->name, component->name_size);
  const char *was = component->former.name;
  struct component *old = was ? component_find(world, was, strlen(was)) : NULL;
  ecs_status status = declare_check_names(world, component, known, old, migration->staged);
  if (status == ECS_OK && known) {
    if (!declare_same(world, known, world, component))
      return migration_add(migration, known, component);
    if (!declare_same_former(&known->former, &component->former))
      return migration_relabel(migration, known, component);
    component_free(world, component);
    return ECS_OK;
  }
  if (status == ECS_OK && old) return migration_rename(migration, old, component);
  if (status == ECS_OK && component->length) status = resource_new(world, component);
  if (status == ECS_OK) status = registry_add(world, component);
  if (status != ECS_OK) component_free(world, component);
  return status;
}

ecs_status declare(ecs_world *world, const ecs_component_desc *desc,
                   struct migration *migration, ecs_id *out) {
  struct component *component = NULL;
  ecs_status status = declare_check_requirements(world, desc);
  if (status == ECS_OK) status = declare_build(world, desc, &component);
  if (status == ECS_OK) status = declare_built(world, component, migration);
  if (status == ECS_OK) *out = ecs_component_find(world, desc->name);
  return status;
}

ecs_status ecs_component(ecs_world *world, const ecs_component_desc *desc, ecs_id *out) {
  struct migration migration;
  migration_begin(&migration, world);
  ecs_status status = declare(world, desc, &migration, out);
  if (status == ECS_OK) status = migration_run(&migration, migration_operation(&migration));
  migration_end(&migration);
  if (status == ECS_OK) component_of(world, *out)->orphan = false;
  return status;
}

ecs_status declare_as_tag(ecs_world *world, const struct migration *migration, const char *name,
                       ecs_component_desc *desc) {
  *desc = (ecs_component_desc){.name = name};
  ecs_status status = declare_check_builtin(world, name, "declared");
  if (status != ECS_OK) return status;
  ecs_id id = name ? ecs_component_find(world, name) : ECS_NULL;
  if (id == ECS_NULL) return ECS_OK;
  const struct component *component = component_of(world, id);
  const struct change *change = migration ? migration_of(migration, id) : NULL;
  if (change && change->wanted) component = change->wanted;
  const char *was = component->former.name;
  desc->old_name = was && !component_find(world, was, strlen(was)) ? was : NULL;
  desc->required = component->requires;
  desc->required_count = component->require_count;
  desc->toggle = component->toggle;
  desc->track = component->track;
  desc->sparse = component->is_sparse;
  if (component->field_count == 0) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "component '%s' has fields; to drop them and their values, "
                    "declare it with world:component and no fields, {}", name);
}

ecs_status ecs_relation(ecs_world *world, const ecs_component_desc *desc, ecs_id *out) {
  ecs_component_desc relation = *desc;
  relation.relation = true;
  if (!desc->exclusive || desc->field_count > LEAF_LIMIT)
    return ecs_component(world, &relation, out);
  ecs_field *fields = memory_array(&world->memory, desc->field_count + (size_t)1, sizeof *fields);
  if (!fields) return world_nomem(world);
  fields[0] = (ecs_field){.name = "target", .type = ECS_ENTITY};
  if (desc->field_count) memcpy(fields + 1, desc->fields, desc->field_count * sizeof *fields);
  relation.fields = fields;
  relation.field_count++;
  ecs_status status = ecs_component(world, &relation, out);
  FREE_LIST(&world->memory, fields, relation.field_count);
  return status;
}

ecs_status ecs_event(ecs_world *world, const ecs_component_desc *desc, ecs_id *out) {
  ecs_component_desc event = *desc;
  event.event = true;
  return ecs_component(world, &event, out);
}

ecs_status ecs_tag(ecs_world *world, const char *name, ecs_id *out) {
  ecs_component_desc desc;
  ecs_status status = declare_as_tag(world, NULL, name, &desc);
  return status == ECS_OK ? ecs_component(world, &desc, out) : status;
}

/* ---- declare array ---- */

void declare_array_describe(ecs_component_desc *desc, ecs_field *field, const char *name,
                            ecs_type type, uint32_t length) {
  *field = (ecs_field){.name = ARRAY_FIELD, .type = type};
  *desc = (ecs_component_desc){.name = name, .fields = field, .field_count = 1, .length = length};
}

ecs_status ecs_array(ecs_world *world, const char *name, ecs_type type, uint32_t length,
                     ecs_id *out) {
  ecs_field field;
  ecs_component_desc desc;
  if (length == 0)
    return world_fail(world, ECS_ELIMIT, "array '%s': the length must be 1 to %u, got 0",
                      name ? name : "", ARRAY_LENGTH_LIMIT);
  declare_array_describe(&desc, &field, name, type, length);
  return ecs_component(world, &desc, out);
}
