/* What a migration works out before it touches a table: which components follow, which old
** leaf each new one comes from, what to report. */
#ifndef ECS_CORE_CHANGE_MIGRATE_PLAN_H
#define ECS_CORE_CHANGE_MIGRATE_PLAN_H

#include "core/base/base.h"

struct change;
struct migration;

/* Components made of changed ones are built anew. The registry shows the wanted components.
** ECS_EINVAL when one would be made of itself. */
ecs_status migration_follow_nested(struct migration *migration);

/* Fills change->source. */
ecs_status migration_map(struct migration *migration, struct change *change);
ecs_status migration_report(struct migration *migration, struct change *change);

/* ECS_ECYCLE when a component would require itself, ECS_EINVAL when one that goes is required. The
** registry shows the wanted components. */
ecs_status migration_check_requirements(const struct migration *migration);

/* Whether rows may have to move: components go, are kept otherwise, or require something else. */
bool migration_moves(const struct migration *migration);

/* What entities are to have: a table, which may be the one they are in, and sparse components, in
** scratch memory. */
struct whereto {
  struct table *table;
  const ecs_id *sparse;
  uint32_t sparse_count;
};

/* Where an entity of a table goes, or, with NONE, its rows as far as that says: without the
** components that go, with what the others require. `planned`: the registry shows what there is
** before the commit. */
ecs_status migration_target(const struct migration *migration, struct table *table,
                            uint32_t entity, bool planned, struct whereto *out);

/* Room in all queries, and their terms and columns after the components have changed. */
ecs_status migration_reserve_queries(const struct migration *migration);
void migration_refresh_query(const struct migration *migration, ecs_query *query);

#endif
