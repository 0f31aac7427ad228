/* What a transaction keeps until it ends: see transact.h. */
#ifndef ECS_CORE_CHANGE_TRANSACTION_H
#define ECS_CORE_CHANGE_TRANSACTION_H

#include "core/change/migration.h"
#include "core/schedule/timetable.h"

struct id_list {
  ecs_id *ids;
  uint32_t count, capacity;
};

/* What a phase or system that stays was before the transaction. */
struct saved_phase {
  struct phase *phase;
  uint64_t declared;
};

struct saved_system {
  ecs_system *system;
  uint64_t registered;
  struct phase *phase;
};

struct transaction {
  ecs_world *world;
  struct migration migration;
  struct id_list made;           /* components registered for it */
  struct id_list valued;         /* components that became resources */
  struct id_list claimed;        /* components that were declared: orphans no more */
  struct id_list left;           /* components that become orphans */
  bool planning;                 /* world->schedule is the new one, `before` the old one */
  bool committed;
  struct schedule before;
  struct saved_phase *phases;
  struct saved_system *systems;
};

#endif
