/* Copies of entities with all that are their children by ChildOf, and theirs: read as the world is
** without what is staged, and made in one step, or, inside a scope, staged as spawns are. */
#ifndef ECS_CORE_ENTITY_CLONE_H
#define ECS_CORE_ENTITY_CLONE_H

#include "core/base/hash_map.h"

struct part;

/* What was found to be copied: the world has one, which is good until the next clone_find. */
struct clone {
  uint8_t kind;              /* a clone_kind */
  uint32_t *sources;         /* entities' indices, breadth first, children in their order */
  uint32_t count, capacity;
  ecs_id *ids;               /* the copies' */
  uint32_t id_capacity;
  struct map places;         /* a source's index -> where it is in these lists */
  uint32_t *slots;           /* of their any values, in the order in which they are copied */
  uint32_t slot_count, slot_capacity;
};

/* What copies are: of their own; made of prefabs, whom they are tied to by IsA and whose shared
** components they lack; or prefabs that are so, too. */
enum clone_kind { CLONE_PLAIN, CLONE_INSTANCE, CLONE_PREFAB };

/* Finds whom to copy with an entity, and the any slots of all of them. */
ecs_status clone_find(ecs_world *world, ecs_id root, enum clone_kind kind);

/* Lists as clone_find does, but for children of which that is said, and theirs. */
typedef bool (*clone_leaves_fn)(const ecs_world *world, uint32_t child, const void *ud);
ecs_status clone_find_but(ecs_world *world, ecs_id root, enum clone_kind kind,
                          clone_leaves_fn leaves_out, const void *ud);

/* Lists a prefab with all that is made of it, by IsA, breadth first; or it alone. */
ecs_status clone_find_made(ecs_world *world, ecs_id prefab, bool all);

/* The copies have no any values. */
void clone_without_any(ecs_world *world);

/* The slot that the copy of an any value gets, in the place of clone.slots[i]: one of its own, or
** 0 for no value. */
static inline void clone_set_slot(struct clone *clone, uint32_t i, uint32_t slot) {
  assert(i < clone->slot_count);
  clone->slots[i] = slot;
}

/* Copies what was found; all any slots are set. `parts` say what the root's copy, whose id is *out,
** has beside, or otherwise. References among those who are copied lead from copy to copy. The
** root's copy has no name, the others keep theirs. On ECS_OK the any slots, and those in the parts'
** writes, are the world's. */
ecs_status clone_make(ecs_world *world, const struct part *parts, uint32_t count, ecs_id *out);

void clone_free(ecs_world *world);

#endif
