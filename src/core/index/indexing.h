/* The indexes of a world, by name. */
#ifndef ECS_CORE_INDEX_INDEXING_H
#define ECS_CORE_INDEX_INDEXING_H

#include "core/base/base.h"
#include "ecs_index.h"

/* The index of a name, or NULL. */
ecs_index *index_named(const ecs_world *world, const char *name, size_t size);

/* Fails with "there is no index 'x' (did you mean 'y'?)". Returns ECS_ENAME. */
ecs_status index_unknown(const ecs_world *world, const char *name, size_t size);

/* Builds an index that is in no list yet; its query belongs to the world. */
ecs_status index_build(ecs_world *world, const ecs_index_desc *desc, ecs_index **out);

/* ECS_EBUSY if the index of that name cannot be replaced now. */
ecs_status index_may_enter(const ecs_world *world, const char *name);

const ecs_query *index_query(const ecs_index *index);

/* Reserves room for one more, then adds one that was built, whose contents an index of the same
** name takes over. */
ecs_status index_reserve(ecs_world *world);
ecs_index *index_enter(ecs_world *world, ecs_index *built);

/* Frees an index that is in no list. */
void index_free(ecs_index *index);

/* Removes an index from the list and frees it. */
void index_remove(ecs_index *index);

/* Empties indexes whose key functions were left by a jump. */
void indexes_abandon(ecs_world *world);

/* Makes all indexes stale after everything else has changed, as by loading. */
void indexes_forget(ecs_world *world);

/* Starts keeping marks for indexes that were declared while something was in progress, or whose
** components were loaded since. ECS_ENOMEM. */
ecs_status indexes_watch(ecs_world *world);

/* ECS_ECORRUPT for an inconsistent index. */
ecs_status indexes_check(const ecs_world *world);

/* The index that was first declared, or NULL. */
ecs_index *index_first(const ecs_world *world);
const char *index_name(const ecs_index *index);

/* Counts indexes added, removed or replaced. */
uint64_t indexes_version(const ecs_world *world);

/* The memory that its rows, keys and editions take. */
size_t index_bytes(const ecs_index *index);

#endif
