#include "core/relation/relation.h"

#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "ecs_entity.h"

static const struct {
  const char *name;
  struct tie_kind ties;
} builtins[] = {
  {CHILD_OF, {true, true, true, ECS_TARGET_DESPAWN}},
  {IS_A, {true, true, true, ECS_TARGET_REMOVE}},
  {PREFAB, {true, false, false, ECS_TARGET_REMOVE}},
};

#define COUNT (sizeof builtins / sizeof *builtins)
#define NAMED 2u     /* the first ones, which users can name */

static size_t builtin_find(const char *name, size_t size) {
  size_t at = 0;
  while (at < COUNT && !text_equal(builtins[at].name, name, size)) at++;
  return at;
}

bool builtin_is(const char *name, size_t size) { return builtin_find(name, size) < COUNT; }

static void *builtin_take(ecs_world *world, struct component *component, size_t size) {
  return arena_take(&world->memory, &component->arena, size);
}

/* Adds the field `target: entity`, as ecs_relation would, for a relation with one target; false
** when out of memory. */
static bool builtin_build(ecs_world *world, struct component *component, const char *name) {
  struct memory *memory = &world->memory;
  component->name = arena_copy(memory, &component->arena, name, strlen(name));
  component->name_size = (uint32_t)strlen(name);
  component->flat = component->translates = component->ties.exclusive;
  if (!component->ties.exclusive) return component->name != NULL;
  const char *target = arena_copy(memory, &component->arena, "target", 6);
  struct field *field = builtin_take(world, component, sizeof *field);
  struct leaf *leaf = builtin_take(world, component, sizeof *leaf);
  if (!component->name || !target || !field || !leaf) return false;
  *field = (struct field){.name = target, .name_size = 6, .type = ECS_ENTITY, .leaf_count = 1,
                          .size = sizeof(ecs_id)};
  *leaf = (struct leaf){.name = target, .name_size = 6, .type = ECS_ENTITY,
                        .size = sizeof(ecs_id)};
  component->fields = field;
  component->leaves = leaf;
  component->field_count = component->leaf_count = 1;
  component->size = component->align = sizeof(ecs_id);
  return true;
}

static ecs_status builtin_declare(ecs_world *world, size_t at, struct component **out) {
  struct component *component = memory_array(&world->memory, 1, sizeof *component);
  if (!component) return world_nomem(world);
  component->ties = builtins[at].ties;
  ecs_status status = builtin_build(world, component, builtins[at].name)
                          ? registry_add(world, component)
                          : world_nomem(world);
  if (status == ECS_OK)
    *out = component;
  else
    component_free(world, component);
  return status;
}

ecs_status builtin_need(ecs_world *world, const char *name, size_t size,
                        struct component **out) {
  size_t at = builtin_find(name, size);
  if (at >= NAMED) return ECS_ENAME;
  *out = component_find(world, name, size);
  return *out ? ECS_OK : builtin_declare(world, at, out);
}

ecs_status builtin_prefab(ecs_world *world, struct component **out) {
  const struct relation *relation = world->relations.prefab;
  *out = relation ? relation->component : NULL;
  if (!relation && component_find(world, PREFAB, strlen(PREFAB)))
    return world_fail(world, ECS_ETAKEN, "the image has another component '%s', which prefabs "
                      "need", PREFAB);
  return relation ? ECS_OK : builtin_declare(world, builtin_find(PREFAB, strlen(PREFAB)), out);
}

ecs_status ecs_child_of(ecs_world *world, ecs_id *out) {
  struct component *component;
  ecs_status status = builtin_need(world, CHILD_OF, strlen(CHILD_OF), &component);
  if (status == ECS_OK) *out = component->id;
  return status;
}

ecs_status component_need_or_builtin(ecs_world *world, const char *name, size_t size,
                                     struct component **out) {
  ecs_status status = builtin_need(world, name, size, out);
  return status == ECS_ENAME ? component_need(world, name, size, out) : status;
}
