/* Declarations, phases and systems that change together or not at all, as when a group of scripts
** is reloaded. New components are registered at once, and forgotten if the transaction ends without
** its commit; everything else changes in the commit.
**
**   begin; declare, resource, remove ...; prepare; phases, systems and queries; order; commit
**
** A step that fails leaves the world usable; then only transaction_end may follow. */
#ifndef ECS_CORE_CHANGE_TRANSACT_H
#define ECS_CORE_CHANGE_TRANSACT_H

#include "core/base/base.h"
#include "core/change/migrate.h"
#include "core/schedule/schedule.h"

struct ecs_component_desc;

/* What a transaction keeps until it ends. */

struct id_list {
  ecs_id *ids;
  uint32_t count, capacity;
};

/* A phase or system that stays, as it was before the transaction. */
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
  struct id_list claimed;        /* components that were declared, and are orphans no longer */
  struct id_list left;           /* components that become orphans */
  bool planning;                 /* world->schedule is the new one, `before` the old one */
  bool committed;
  struct schedule before;
  struct saved_phase *phases;
  struct saved_system *systems;
};

void transaction_begin(struct transaction *transaction, ecs_world *world);

ecs_status transaction_declare(struct transaction *transaction,
                               const struct ecs_component_desc *desc, ecs_id *out);
/* Whether a component of that name was declared, and not an orphan, before the transaction. */
bool transaction_had(const struct transaction *transaction, const char *name);

ecs_status transaction_resource(struct transaction *transaction, ecs_id component);
ecs_status transaction_remove(struct transaction *transaction, ecs_id component);
/* Keeps the component as it is, but as an orphan. */
ecs_status transaction_leave(struct transaction *transaction, ecs_id component);

/* Works out what happens to the tables, and begins the new schedule with room for more. Until the
** commit or the end the world shows its future state: only the calls below are allowed. */
ecs_status transaction_prepare(struct transaction *transaction, uint32_t more_phases,
                               uint32_t more_systems);

/* Reserves an order number for a group of scripts: its phases and systems have this number plus
** their place in the group. */
uint64_t transaction_group(ecs_world *world);

/* A phase or system of the group: a new one replaces that of its name (a system keeps its timings
** and stays on or off); a kept one only gets a place. */
ecs_status transaction_phase(struct transaction *transaction, const struct ecs_phase_desc *desc,
                             uint64_t place);
void transaction_keep_phase(struct transaction *transaction, const char *name,
                            uint64_t place);
ecs_status transaction_drop_phase(struct transaction *transaction, const char *name);
void transaction_system(struct transaction *transaction, ecs_system *system, uint64_t place);
void transaction_keep_system(struct transaction *transaction, const char *name,
                             uint64_t place);
void transaction_drop_system(struct transaction *transaction, const char *name);

/* ECS_ECYCLE, or ECS_ENAME if a removed phase still has systems. */
ecs_status transaction_order(struct transaction *transaction);

void transaction_commit(struct transaction *transaction);

/* Undoes what is not committed, and frees the rest. Systems registered for it that do not stay are
** freed with their callback; queries made after prepare are broken. */
void transaction_end(struct transaction *transaction);

#endif
