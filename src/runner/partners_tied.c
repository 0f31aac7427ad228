#include "runner/partners_tied.h"

#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/entity/relate.h"
#include "core/relation/relation.h"
#include "core/ids/world.h"
#include "kernel/list.h"

/* Sources are ids at first, in the same room, which has place for them from a multiple of their
** size on. */
static bool tied_list_sources(const ecs_world *world, const struct component *relation,
                              ecs_id target, struct k_items *items) {
  size_t count = relate_sources(world, target, relation, NULL, 0);
  if (count == 0) return true;
  if (count > UINT32_MAX / 4) return false;
  uint32_t *to = items_room(items, 2 * (uint32_t)count + 1);
  if (!to) return false;
  ecs_id *ids = (ecs_id *)(void *)(to + (uintptr_t)to / sizeof *to % 2);
  relate_sources(world, target, relation, ids, count);
  for (size_t i = 0; i < count; i++) {
    uint32_t index = ecs_id_index(ids[i]);
    memcpy(to + i, &index, sizeof index);
  }
  items->count += (uint32_t)count;
  return true;
}

static bool tied_list_targets(const ecs_world *world, const struct component *relation, ecs_id id,
                              struct k_items *items) {
  ecs_id target = relate_target(world, id, relation);
  for (; target != ECS_NULL; target = relate_next_target(world, id, relation, target)) {
    uint32_t *to = items_room(items, 1);
    if (!to) return false;
    *to = ecs_id_index(target);
    items->count++;
  }
  return true;
}

size_t partners_tied(const ecs_world *world, const struct run_list *list,
                     const k_listing *listing, size_t n) {
  const struct relation *child_of = world->relations.child_of;
  const struct component *relation = child_of ? child_of->component : NULL;
  if (list->relation != ECS_NULL) relation = component_of(world, list->relation);
  memset(listing->spans, 0, n * sizeof *listing->spans);
  if (!relation) return n;
  assert(relation->relation && list->kind >= LIST_SOURCES);
  for (size_t i = 0; i < n; i++) {
    if (listing->mask && !listing->mask[i]) continue;
    ecs_id id = (ecs_id)((const int64_t *)listing->arguments[0])[i];
    uint32_t first = listing->items->count;
    bool room = list->kind == LIST_SOURCES ? tied_list_sources(world, relation, id, listing->items)
                                           : tied_list_targets(world, relation, id, listing->items);
    if (!room) return i;
    listing->spans[i] = (k_span){first, listing->items->count - first};
  }
  return n;
}
