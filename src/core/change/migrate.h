/* Migration: components change their fields, or go, while entities have them. One transaction
** over any number of components: prepare does everything that can fail, commit cannot. */
#ifndef ECS_CORE_CHANGE_MIGRATE_H
#define ECS_CORE_CHANGE_MIGRATE_H

#include "core/base/base.h"

struct change;
struct component;
struct migration;
struct table;

struct change *migration_of(const struct migration *migration, ecs_id id);

/* A registered component as it will be; itself when it does not change, or goes. */
const struct component *migration_wanted(const struct migration *migration,
                                         const struct component *component);

void migration_begin(struct migration *migration, ecs_world *world);

/* Takes over `wanted` (freed also on failure); NULL removes the component. Components made
** of this one follow. */
ecs_status migration_add(struct migration *migration, struct component *component,
                         struct component *wanted);

/* Whether a component may go: ECS_EBUSY while anybody is tied to it, ECS_EINVAL for the relations
** of every world. */
ecs_status migration_check_removal(const ecs_world *world, const struct component *component);

/* The same of a component under another name, which it has at once: what is declared meanwhile
** finds it by that. Unless there is a commit it has its old one again at the end. */
ecs_status migration_rename(struct migration *migration, struct component *component,
                            struct component *wanted);

/* Takes over one that is the same but for what it was called before. That is no change of fields:
** it needs no prepare, and is possible inside scopes. */
ecs_status migration_relabel(struct migration *migration, struct component *component,
                             struct component *same);
void migration_commit_labels(struct migration *migration);

/* Of tables, and of what keeps sparse components: fills new columns from old ones; and takes over,
** at the commit, those that stay as they are, with the rows. */
ecs_status migration_fill(struct migration *migration, const struct table *old,
                          struct table *table);
void migration_take(const struct migration *migration, struct table *old, struct table *table);

/* On failure the world is as it was; the message names entity, field, value and type. */
ecs_status migration_prepare(struct migration *migration);
void migration_commit(struct migration *migration);

/* After prepare: what the registry shows, the components as they will be (those that go are
** still there) or as they are. Queries made meanwhile are for after the commit. */
void migration_show(const struct migration *migration, bool wanted);

/* ECS_ENAME when a query names a component that goes, or a field that its component loses. */
ecs_status migration_check_query(const struct migration *migration, const ecs_query *query);

/* What a migration that a declaration begins is called where it is not possible. */
const char *migration_operation(const struct migration *migration);

/* Both, when there is anything to do; ECS_EBUSY inside scopes. */
ecs_status migration_run(struct migration *migration, const char *operation);

/* Frees what is left, committed or not. */
void migration_end(struct migration *migration);

#endif
