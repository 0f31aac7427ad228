/* The part of a migration that is about relations: what becomes of ties. */
#ifndef ECS_CORE_CHANGE_MIGRATE_TIES_H
#define ECS_CORE_CHANGE_MIGRATE_TIES_H

#include "core/change/migrate_plan.h"

/* Whether relations can become what they are to be, and others relations. */
ecs_status migration_check_ties(const struct migration *migration);

#endif
