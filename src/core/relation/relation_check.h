/* The invariants of relations. */
#ifndef ECS_CORE_RELATION_RELATION_CHECK_H
#define ECS_CORE_RELATION_RELATION_CHECK_H

#include "core/base/base.h"

struct relation;

/* Part of ecs_check: ties go both ways, between living entities, and are what cells say. */
ecs_status relations_check(const ecs_world *world);

/* Whether no way along it leads back to where it began. */
bool relation_is_acyclic(const struct relation *relation);

#endif
