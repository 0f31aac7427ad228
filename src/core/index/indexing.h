/* The indexes of a world, by name. */
#ifndef ECS_CORE_INDEX_INDEXING_H
#define ECS_CORE_INDEX_INDEXING_H

#include "core/base/base.h"
#include "ecs_index.h"

/* The index of a name, or NULL. */
ecs_index *index_named(const ecs_world *world, const char *name, size_t size);

/* "no index is named 'x' (did you mean 'y'?)"; returns ECS_ENAME. */
ecs_status index_unknown(const ecs_world *world, const char *name, size_t size);

/* An index that is in no list yet; its query is one of the world's. */
ecs_status index_build(ecs_world *world, const ecs_index_desc *desc, ecs_index **out);

/* ECS_EBUSY where one of that name cannot be replaced now. */
ecs_status index_may_enter(const ecs_world *world, const char *name);

/* Its query, and how many values that gives. */
const ecs_query *index_query(const ecs_index *index);
uint32_t index_slots(const ecs_index *index);

/* Room for one more, then enters one that was built: one of that name takes over its contents. */
ecs_status index_reserve(ecs_world *world);
ecs_index *index_enter(ecs_world *world, ecs_index *built);

/* Whether the fields that it is by are there in the components that the registry shows. */
ecs_status index_check_fields(const ecs_index *index);

/* Frees one that is in no list. */
void index_free(ecs_index *index);

/* Takes one out of the list and frees it. */
void index_remove(ecs_index *index);

/* Those whose key functions were left by a jump know no rows any more. */
void indexes_abandon(ecs_world *world);

/* After everything else has changed, as by loading. */
void indexes_forget(ecs_world *world);

/* Has marks kept for those that have been declared while something was under way, or whose
** components have been loaded since. ECS_ENOMEM. */
ecs_status indexes_watch(ecs_world *world);

/* ECS_ECORRUPT for an index that is not sound. */
ecs_status indexes_check(const ecs_world *world);

/* In the order of their first declaration; NULL at the end. */
ecs_index *index_first(const ecs_world *world);
ecs_index *index_next(const ecs_index *index);
const char *index_name(const ecs_index *index);

/* Counts indexes that came, went, or were replaced. */
uint64_t indexes_version(const ecs_world *world);

/* What there is to tell of one. */
struct index_facts {
  const char *name, *query, *of, *owner;
  ecs_index_by by;
  double cell;
  size_t rows, lost;         /* found, and without a place */
  size_t bytes;
  uint64_t times;            /* that it was brought up to date; the last time */
  bool whole;                /* all rows were sorted, */
  uint32_t brought;          /* or so many that had changed, */
  double seconds;            /* and that took so long */
};

struct index_facts index_tell(const ecs_index *index);

#endif
