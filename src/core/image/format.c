#include "core/image/format.h"

#include "core/base/merge_sort.h"
#include "core/storage/fields.h"
#include "core/ids/world.h"

static bool component_precedes(const void *one, const void *two) {
  const struct component *a = one, *b = two;
  if (a->depth != b->depth) return a->depth < b->depth;
  return strcmp(a->name, b->name) < 0;
}

void image_components_free(ecs_world *world, const void **list) {
  memory_free(&world->memory, list, merge_sort_room(world->registry.count) * sizeof *list);
}

const void **image_components(ecs_world *world, uint32_t *count) {
  const struct registry *registry = &world->registry;
  const void **list = memory_array(&world->memory, merge_sort_room(registry->count), sizeof *list);
  if (!list) return NULL;
  *count = 0;
  for (uint32_t i = 0; i < registry->count; i++)
    if (registry->components[i]) list[(*count)++] = registry->components[i];
  merge_sort(list, *count, component_precedes);
  return list;
}
