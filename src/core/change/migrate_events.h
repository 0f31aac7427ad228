/* The part of a migration that is about events: their rows are made anew beside the old ones, and
** exchanged at the commit. */
#ifndef ECS_CORE_CHANGE_MIGRATE_EVENTS_H
#define ECS_CORE_CHANGE_MIGRATE_EVENTS_H

#include "core/change/migrate.h"

/* For each event among the changes its rows with the wanted fields. */
ecs_status migration_prepare_events(struct migration *migration);
void migration_swap_events(const struct migration *migration);

#endif
