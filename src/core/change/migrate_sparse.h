/* The part of a migration that is about sparse components: their cells change as those in tables
** do, and they may come to be kept in tables, or the other way. */
#ifndef ECS_CORE_CHANGE_MIGRATE_SPARSE_H
#define ECS_CORE_CHANGE_MIGRATE_SPARSE_H

#include "core/base/base.h"

struct migration;
struct table;
struct whereto;

/* Whether a component comes to be kept otherwise. */
bool migration_stores_otherwise(const struct migration *migration);

/* Room for what entities get that have sparse components, when all tables have been planned; and,
** while the registry shows the wanted components, what is to keep them. */
ecs_status migration_plan_sparse(const struct migration *migration);
ecs_status migration_prepare_sparse(struct migration *migration);

/* At the commit, in this order: the sets take over their rows, before components take over their
** contents; the rows of a table get sparse components, before they move; entities with sparse
** components follow, and what is in tables now leaves its set. */
void migration_swap_sparse(struct migration *migration);
void migration_put_sparse(const struct migration *migration, struct table *table,
                          const struct whereto *to);
void migration_commit_sparse(const struct migration *migration);

/* Drops tables that only a commit would have made possible. */
void migration_undo_tables(const struct migration *migration);

#endif
