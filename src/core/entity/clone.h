/* Copies entities with their children by ChildOf, recursively. Staged changes are ignored; the
** copies are made in one step or, inside a scope, staged like spawns. */
#ifndef ECS_CORE_ENTITY_CLONE_H
#define ECS_CORE_ENTITY_CLONE_H

#include "core/base/hash_map.h"

struct part;
struct relation;

/* What clone_find has found, valid until the next clone_find; each world has one. */
struct clone {
  uint8_t kind;              /* a clone_kind */
  uint32_t *sources;         /* indices, breadth first, children in order */
  uint32_t count, capacity;
  ecs_id *ids;               /* ids of the copies */
  uint32_t id_capacity;
  struct map places;         /* index of a source -> its place in these lists */
  uint32_t *slots;           /* any slots of the copies, in the order of copying */
  uint32_t slot_count, slot_capacity;
};

/* Kinds of copies: independent; instances, which are tied to prefabs by IsA and lack their shared
** components; or prefabs that are both. */
enum clone_kind { CLONE_PLAIN, CLONE_INSTANCE, CLONE_PREFAB };

/* Finds what to copy with an entity, and the any slots of all of it. */
ecs_status clone_find(ecs_world *world, ecs_id root, enum clone_kind kind);

/* As clone_find, but leaves out the children that the callback names, and theirs. */
typedef bool (*clone_leaves_fn)(const ecs_world *world, uint32_t child, const void *ud);
ecs_status clone_find_but(ecs_world *world, ecs_id root, enum clone_kind kind,
                          clone_leaves_fn leaves_out, const void *ud);

/* Finds an entity with its sources by a relation, and theirs, breadth first, except those left out;
** for NULL, alone. A prefab's child that is not a prefab, as images may have, is left out. */
ecs_status clone_find_all(ecs_world *world, uint32_t root, const struct relation *relation,
                          clone_leaves_fn leaves_out, const void *ud);

/* Gives the copies no any values. */
void clone_without_any(ecs_world *world);

/* Sets the slot of the copy of any value clone.slots[i]: its own slot, or 0 for nil. */
static inline void clone_set_slot(struct clone *clone, uint32_t i, uint32_t slot) {
  assert(i < clone->slot_count);
  clone->slots[i] = slot;
}

/* Copies what was found; all any slots are set. `parts` override or extend the root's copy, whose
** id is *out. References among the copied entities lead from copy to copy. The root's copy has no
** name; the others keep theirs. With ECS_OK the any slots, including those in the parts' writes,
** belong to the world. */
ecs_status clone_make(ecs_world *world, const struct part *parts, uint32_t count, ecs_id *out);

/* Finds and copies an entity, whose any values stay with it. The root's copy also gets these
** components. */
ecs_status clone_with(ecs_world *world, ecs_id entity, enum clone_kind kind,
                      const ecs_id *components, size_t n, ecs_id *out);

void clone_free(ecs_world *world);

#endif
