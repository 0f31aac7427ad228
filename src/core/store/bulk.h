/* Moving all rows of many tables at once. */
#ifndef ECS_CORE_STORE_BULK_H
#define ECS_CORE_STORE_BULK_H

#include "core/base/base.h"

struct table;

/* All rows of a table into another, which has room. Components that are left without any
** components go back to being bare. Cannot fail. */
void bulk_move(ecs_world *world, struct table *from, struct table *to);

/* Makes room for what bulk_change is to move. */
ecs_status bulk_reserve(ecs_world *world, uint32_t *const *tables, uint32_t count, ecs_id id,
                        bool add);

/* Adds or removes an id for every row of the listed tables: first makes room everywhere,
** then moves. The list may be moved by tables that join it. */
ecs_status bulk_change(ecs_world *world, uint32_t *const *tables, uint32_t count, ecs_id id,
                       bool add);

#endif
