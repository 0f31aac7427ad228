/* The order of systems: by phase, then by what they must come before and after, then as they were
** registered. */
#ifndef ECS_CORE_SCHEDULE_ARRANGE_H
#define ECS_CORE_SCHEDULE_ARRANGE_H

#include "core/base/base.h"

struct schedule;

/* Puts systems in order; ECS_ECYCLE with the cycle in the message leaves them as they were.
** Stable: what constraints leave open is decided by registration. */
ecs_status schedule_sort(ecs_world *world);

/* Notes the names that systems must come after, this one's among them, which is in no list yet. */
ecs_status arrange_note(ecs_world *world, const ecs_system *system);

/* Whether no other system has to come behind this one, so that the others' order is the same with
** it and without; after arrange_note. */
bool arrange_leads_nobody(const struct schedule *schedule, const ecs_system *system);

/* Lists a system that leads nobody, and was registered last: behind those of its phase. */
void arrange_append(struct schedule *schedule, ecs_system *system);

#endif
