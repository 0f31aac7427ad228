/* What a migration works out before it touches a table: which components follow, which old
** leaf each new one comes from, what to report. */
#ifndef ECS_CORE_CHANGE_MIGRATE_PLAN_H
#define ECS_CORE_CHANGE_MIGRATE_PLAN_H

#include "core/change/migrate.h"

/* Components made of changed ones are built anew. The registry shows the wanted components.
** ECS_EINVAL when one would be made of itself. */
ecs_status migration_follow_nested(struct migration *migration);

/* Fills change->source. */
ecs_status migration_map(struct migration *migration, struct change *change);
ecs_status migration_report(struct migration *migration, struct change *change);

/* The table without the components that go; the same one when it has none of them. */
ecs_status migration_without_removed(const struct migration *migration, struct table *table,
                                     struct table **out);

/* A query's terms and columns, after the components have changed. */
void migration_refresh_query(const struct migration *migration, ecs_query *query);

#endif
