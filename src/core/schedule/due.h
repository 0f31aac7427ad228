/* When a system runs, and what with. */
#ifndef ECS_CORE_SCHEDULE_DUE_H
#define ECS_CORE_SCHEDULE_DUE_H

#include "core/schedule/timetable.h"
#include "core/query/query.h"
#include "core/ids/world.h"

/* How a phase is gone through. */
struct tempo {
  double dt;
  bool once;                   /* its systems run once */
  bool fixed;                  /* in steps of dt */
};

/* Whether its query is about events, or what has changed. */
static inline bool reads_news(const ecs_system *system) {
  const ecs_query *query = system->reads;
  return UNLIKELY(query && (query->terms.event || query->terms.changes));
}

/* Whether it is known that its query has no rows. */
static inline bool reads_nothing(const ecs_system *system) {
  const ecs_query *query = system->reads;
  if (!query || query->broken || reads_news(system)) return false;
  return query_is_barren(query);
}

/* How many of its runs in this tick came before. */
static inline uint64_t streams_before(const ecs_world *world, const ecs_system *system) {
  return system->streams_tick == world->tick ? system->streams : 0;
}

/* The stream of random numbers of a run behind so many in this tick. */
static inline struct chance stream_of(const ecs_world *world, const ecs_system *system,
                                      uint64_t before) {
  return (struct chance){chance_key(world->seed + system->chance, before), 0, 0};
}

/* How long it is since it last ran, when it runs now. */
static inline double dt_of(const ecs_system *system, const struct tempo *tempo) {
  bool step = tempo->fixed && system->every <= 0;
  return system->has_run && !step ? system->elapsed : tempo->dt;
}

#endif
