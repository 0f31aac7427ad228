/* Observers: functions that are called when entities start or stop matching a query. */
#ifndef ECS_OBSERVER_H
#define ECS_OBSERVER_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ecs_observed {
  ECS_ON_ADD,       /* the entity gained the query's first term, by any means, */
  ECS_ON_SET,       /* was given values for it by ecs_set or a spawn, */
  ECS_ON_REMOVE,    /* or lost it; the other terms filter */
  ECS_ON_ENTER,     /* the entity started to match, */
  ECS_ON_EXIT,      /* or stopped, because of its components or a switch */
  ECS_ON_DESPAWN    /* it died while it matched */
} ecs_observed;

/* The matches that an observer is called for. For exit, remove and despawn they are copies of what
** was; ids in them may be of entities that have died since. */
typedef struct ecs_sight ecs_sight;

/* Called once for all matches of a round; it steps through them itself. */
typedef ecs_status (*ecs_observe_fn)(ecs_world *world, ecs_sight *sight, void *ud);

typedef struct ecs_observer_desc {
  const char *name;
  ecs_observed on;
  const char *query;              /* terms about the entity itself */
  ecs_query *watches;             /* instead of `query`: a query of the caller's, for this observer
                                  ** alone, which must outlive it; or NULL */
  bool disabled;
  const char *owner;              /* who registered it, for describe */
  ecs_observe_fn run;
  void (*free)(void *ud);         /* called when the observer is removed; may be NULL */
  void *ud;
} ecs_observer_desc;

/* Registers an observer, or replaces the one of that name, which keeps its place, its switch and
** its timings. It shares names with systems: ecs_system_remove, ecs_switch and ecs_on_error work on
** both. It is called when the changes of an outermost scope, or of a call outside scopes, have been
** applied, before that call returns; changes that observers make are applied together and observed
** in turn. */
ECS_API ecs_status ecs_observer_new(ecs_world *world, const ecs_observer_desc *desc);

/* Steps to the next match; false if there is none left. */
ECS_API bool ecs_sight_next(ecs_sight *sight);

/* About the current match: its entity, which may be dead; a cell of the term's leaf (terms and
** leaves count from 0), NULL for a tag or an absent term; whether it has the term; what a `*`, or a
** variable without a given value, stands for, counted from 0 in the order of the text. */
ECS_API ecs_id ecs_sight_entity(const ecs_sight *sight);
ECS_API const void *ecs_sight_cell(const ecs_sight *sight, uint32_t term, uint32_t leaf);
ECS_API bool ecs_sight_has(const ecs_sight *sight, uint32_t term);
ECS_API ecs_id ecs_sight_value(const ecs_sight *sight, uint32_t variable);

#ifdef __cplusplus
}
#endif

#endif
