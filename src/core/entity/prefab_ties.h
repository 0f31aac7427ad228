/* Ties of a prefab that is declared again: those that it says, and those that what it is made of
** has, which lead as they would in copies. */
#ifndef ECS_CORE_ENTITY_PREFAB_TIES_H
#define ECS_CORE_ENTITY_PREFAB_TIES_H

#include "core/base/base.h"

struct prefab_copy;
struct prefab_plan;
struct relation;

/* Whether a node's entity, which has the tie, is to have it. */
bool prefab_keeps_tie(const ecs_world *world, const struct prefab_plan *plan, uint32_t at,
                      const struct relation *relation, ecs_id id);

/* Stages the end of its exclusive ties that are to lead elsewhere, what it is made of among them:
** all of these end before any is made, so that none goes in a circle on the way. */
ecs_status prefab_end_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Stages the ties that it is to have. */
ecs_status prefab_stage_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Lets the ties of a copy that is staged lead as the whole of what it is copied from leads, or, by
** an exclusive relation, as its node says. */
ecs_status prefab_lead_ties(ecs_world *world, const struct prefab_plan *plan,
                            const struct prefab_copy *copy);

#endif
