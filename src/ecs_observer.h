/* Observers: functions that are called when entities come to match a query, or cease to. */
#ifndef ECS_OBSERVER_H
#define ECS_OBSERVER_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ecs_observed {
  ECS_ON_ADD,       /* the entity has got the query's first term, in whatever way, */
  ECS_ON_SET,       /* was given values of it by ecs_set or a spawn, */
  ECS_ON_REMOVE,    /* or has it no longer; the other terms filter */
  ECS_ON_ENTER,     /* it has come to match, */
  ECS_ON_EXIT,      /* or ceased to: by what it has, or as something was switched on or off */
  ECS_ON_DESPAWN    /* it has died while it matched */
} ecs_observed;

/* The matches that an observer is called for. Those of exit, remove and despawn are copies of what
** was; ids of those who have died since stand in them as they were. */
typedef struct ecs_sight ecs_sight;

/* Called once for all matches of a round, which it goes through. */
typedef ecs_status (*ecs_observe_fn)(ecs_world *world, ecs_sight *sight, void *ud);

typedef struct ecs_observer_desc {
  const char *name;
  ecs_observed on;
  const char *query;              /* terms about the entity itself */
  ecs_query *watches;             /* without `query`: one of the caller's, for this observer alone,
                                  ** that outlives it; or NULL */
  bool disabled;
  const char *owner;              /* who registered it, for describe */
  ecs_observe_fn run;
  void (*free)(void *ud);         /* called when the observer goes; may be NULL */
  void *ud;
} ecs_observer_desc;

/* Registers an observer, or replaces the one of that name, which keeps its place, its switch and
** its timings. No system has its name: ecs_system_remove, ecs_switch and ecs_on_error are for both.
** Called when what an outermost scope, or a call outside of scopes, has changed is applied, before
** that returns; what observers change is applied together, and observed again. */
ECS_API ecs_status ecs_observer_new(ecs_world *world, const ecs_observer_desc *desc);

/* Comes to the next match; false when there is none left. */
ECS_API bool ecs_sight_next(ecs_sight *sight);

/* Of this match: whose it is, who may be dead; a cell of the term's leaf (terms and leaves count
** from 0), NULL for a tag or where it has none; whether it has the term; what a `*`, or a variable
** that was not given, is, counted from 0 in the order of the text. */
ECS_API ecs_id ecs_sight_entity(const ecs_sight *sight);
ECS_API const void *ecs_sight_cell(const ecs_sight *sight, uint32_t term, uint32_t leaf);
ECS_API bool ecs_sight_has(const ecs_sight *sight, uint32_t term);
ECS_API ecs_id ecs_sight_value(const ecs_sight *sight, uint32_t variable);

#ifdef __cplusplus
}
#endif

#endif
