/* The part of a migration that fills new columns from old ones: those of tables, and what the world
** itself has, resources and arrays. */
#ifndef ECS_CORE_CHANGE_MIGRATE_CELLS_H
#define ECS_CORE_CHANGE_MIGRATE_CELLS_H

#include "core/base/base.h"

struct change;
struct migration;
struct table;

struct column;

/* Fills a new column from an old one of `count` cells, those of the table `old` or, with NULL, of
** the world itself; without an old one with the default. */
ecs_status migration_fill_column(struct migration *migration, const struct table *old,
                                 const struct column *from, struct column *to,
                                 uint32_t capacity, uint32_t count);

/* The value of a resource, the cells of an array: what they will be; and, at the commit, are. Of
** the old ones only any slots that live on are not released. */
ecs_status migration_prepare_resource(struct migration *migration, struct change *change);
void migration_swap_resource(ecs_world *world, struct change *change);

#endif
