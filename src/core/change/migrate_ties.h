/* The part of a migration that is about relations: ties stay when a relation comes to have one
** target instead of several, or the other way; each row moves to where its ties say. */
#ifndef ECS_CORE_CHANGE_MIGRATE_TIES_H
#define ECS_CORE_CHANGE_MIGRATE_TIES_H

#include "core/base/base.h"

struct change;
struct component;
struct migration;
struct table;

struct relation;
struct term;

/* Whether a relation comes to have one target instead of several, or the other way; and whether
** anything that ties does, or becomes a relation. */
bool migration_turns(const struct change *change);
bool migration_ties_otherwise(const struct migration *migration);

/* Whether relations can become what they are to be, and others relations; makes the ties of those
** that come to be exclusive. */
ecs_status migration_prepare_ties(struct migration *migration);

/* What an id of an entity's table becomes; with NONE for the entity, itself. */
ecs_id migration_id_after(const struct migration *migration, ecs_id id, uint32_t entity);

/* Whether the rows of a table go by what each of them is tied to; room for that; and, at the
** commit, that. */
bool migration_parts_rows(const struct migration *migration, const struct table *table);
ecs_status migration_plan_rows(const struct migration *migration, struct table *table);
void migration_move_rows(const struct migration *migration, struct table *table);

/* At the commit: the relation stays the component's, with the options that it has now, `old` being
** what it was; ties that nothing keeps any more are forgotten when the rows have moved. */
void migration_swap_relation(ecs_world *world, struct change *change, struct relation *old);
void migration_forget_ties(const struct migration *migration);

/* Drops tables that only a commit would have made possible. */
void migration_undo_ties(const struct migration *migration);

/* Whether a term asks for what its component, as it is to be, cannot answer. */
bool migration_defeats(const struct term *term, const struct component *wanted,
                       const struct component *through);

#endif
