/* Migration: components change their fields, or are removed, while entities have them. One
** transaction over any number of components: prepare may fail, commit cannot. */
#ifndef ECS_CORE_CHANGE_MIGRATE_H
#define ECS_CORE_CHANGE_MIGRATE_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/base/memory.h"

struct column;
struct component;
struct leaf;
struct relation;
struct table;
struct term;

/* What will change when components are redeclared. */

enum leaf_fate { LEAF_KEPT, LEAF_ADDED, LEAF_DROPPED, LEAF_CONVERTED, LEAF_RENAMED };

struct report_item {
  enum leaf_fate fate;
  const char *name;           /* the leaf's present name (if dropped: its last) */
  const char *from;           /* renamed: its former name; added: perhaps, see `maybe` */
  const char *from_type, *type;
  bool maybe;                 /* added, and `from` of the same type was dropped */
};

/* What a migration did to one component; in the change's arena. */
struct report {
  const char *was;            /* the component's former name, or NULL */
  struct report_item *items;
  uint32_t count;
  uint64_t rows;
};

/* One component of a migration. */
struct change {
  bool valued;                 /* a tag that becomes a resource */
  struct component *component;   /* as registered */
  struct component *wanted;      /* its future version; NULL: it is removed */
  bool renamed;                  /* already under its new name: its old one */
  const char *old_name;
  uint32_t old_size;
  const char *older_name;        /* and its former name before that */
  const char **names;            /* by field of wanted: its old name, or NULL if it is new. Without
                                 ** the list, its own `was` decides */
  uint32_t *source;              /* by leaf of wanted: the old leaf, or NONE */
  struct column_buffer *resource;
  struct report report;          /* `wanted` has a sparse set if it is or was sparse */
  struct arena arena;
};

/* A component of which only former names change. */
struct relabeling {
  struct component *component;
  struct component *same;        /* has the new labels; after the commit, the old ones */
};

struct migration {
  ecs_world *world;
  struct change *changes;
  uint32_t count, capacity;
  struct relabeling *relabelings;
  uint32_t relabeling_count, relabeling_capacity;
  bool committed;
  bool staged;                   /* declarations may still be removed: names are compared later */
  struct component **superseded; /* replaced versions that others may contain until these follow */
  uint32_t superseded_count, superseded_capacity;
  struct arena arena;            /* of new names */
  struct table **tables;         /* replacements of the tables with the same index */
  uint32_t table_count, table_capacity;
};

struct change *migration_of(const struct migration *migration, ecs_id id);

/* The future version of a registered component, or of NULL; itself if it does not change or is
** removed. */
const struct component *migration_wanted(const struct migration *migration,
                                         const struct component *component);

void migration_begin(struct migration *migration, ecs_world *world);

/* Takes over `wanted` (also freed on failure); NULL removes the component. Components that contain
** this one are rebuilt. */
ecs_status migration_add(struct migration *migration, struct component *component,
                         struct component *wanted);

/* Whether a component may be removed: ECS_EBUSY while an entity is tied to it, ECS_EINVAL for a
** built-in relation. */
ecs_status migration_check_removal(const ecs_world *world, const struct component *component);

/* Adds a component under another name, which it has at once, so that later declarations find it.
** Without a commit it gets its old name back. */
ecs_status migration_rename(struct migration *migration, struct component *component,
                            struct component *wanted);

/* Takes over a component that differs only in former names. Its fields do not change, so it needs
** no migration_prepare and is possible inside scopes. */
ecs_status migration_relabel(struct migration *migration, struct component *component,
                             struct component *same);

/* Makes fields of nested components lead to the registered ones. */
void migration_redirect_nested(const ecs_world *world);

/* migration_fill fills new columns of tables and sparse sets from old ones. At the commit, the
** second function takes over columns that stay as they are, with the rows; all then belong to the
** registered components. */
ecs_status migration_fill(struct migration *migration, const struct table *old,
                          struct table *table);
void migration_take(const struct migration *migration, struct table *old, struct table *table);

/* Does everything that can fail. On failure the world is unchanged; the message names entity,
** field, value and type. */
ecs_status migration_prepare(struct migration *migration);
void migration_commit(struct migration *migration);

/* After prepare: makes the registry show the future components (removed ones are still there) or
** the present ones. Queries made meanwhile are for after the commit. */
void migration_show(const struct migration *migration, bool wanted);

/* ECS_ENAME if a query names a component that is removed or renamed, or a field that its component
** loses. */
ecs_status migration_check_query(const struct migration *migration, const ecs_query *query);

/* What messages call the operation that begins a migration, where it is not possible. */
const char *migration_operation(const struct migration *migration);

/* Prepares and commits if there is anything to do; ECS_EBUSY inside scopes. */
ecs_status migration_run(struct migration *migration, const char *operation);

/* Frees what is left, committed or not. */
void migration_end(struct migration *migration);

/* What a migration works out before it touches a table: which components follow, which old leaf
** each new one comes from, what to report. */

/* Rebuilds components that contain changed ones. The registry shows the wanted components.
** ECS_EINVAL if one would contain itself. */
ecs_status migration_follow_nested(struct migration *migration);

/* Fills change->source. */
ecs_status migration_map(struct migration *migration, struct change *change);
ecs_status migration_report(struct migration *migration, struct change *change);

/* ECS_ECYCLE if a component would require itself, ECS_EINVAL if a removed one is required. The
** registry shows the wanted components. */
ecs_status migration_check_requirements(const struct migration *migration);

/* Whether rows may have to move: components are removed, change their storage or requirements. */
bool migration_moves(const struct migration *migration);

/* The future place of an entity: a table, possibly its present one, and sparse components, in
** scratch memory. */
struct whereto {
  struct table *table;
  const ecs_id *sparse;
  uint32_t sparse_count;
};

/* Finds where an entity of a table goes or, for NONE, its rows as far as the table decides: without
** removed components, with what the others require. `planned`: the registry still shows the state
** before the commit. */
ecs_status migration_target(const struct migration *migration, struct table *table,
                            uint32_t entity, bool planned, struct whereto *out);

/* Reserves room in all queries; then updates their terms and columns once components have
** changed. */
ecs_status migration_reserve_queries(const struct migration *migration);
void migration_refresh_query(const struct migration *migration, ecs_query *query);

/* The part of a migration about sparse components: their cells change as those in tables do, and
** they may move into tables, or out of them. */

/* Whether a component changes its storage. */
bool migration_changes_storage(const struct migration *migration);

/* Reserves room for entities with sparse components, once all tables have been planned, and finds
** each table's target, which the commit needs even where rows move separately. The second makes the
** sets, while the registry shows the wanted components. */
ecs_status migration_plan_sparse(const struct migration *migration);
ecs_status migration_prepare_sparse(struct migration *migration);

/* At the commit, in this order: a set takes over its rows, before its component takes over its
** contents; rows of a table get sparse components, before they move; entities with sparse
** components follow, and what is now in tables leaves its set. */
void migration_swap_sparse(const struct migration *migration, struct change *change);
void migration_put_sparse(const struct migration *migration, struct table *table,
                          const struct whereto *to);
void migration_commit_sparse(const struct migration *migration);

/* Drops tables that only a commit would have made possible. */
void migration_undo_tables(const struct migration *migration);

/* The part of a migration about relations: ties stay when a relation changes between one target and
** several; each row moves to where its ties say. */

/* Whether a relation changes between one target and several, or a component becomes one. */
bool migration_changes_ties(const struct migration *migration);

/* Checks that relations, and components that become relations, can change as declared. Makes the
** ties of relations that become exclusive. */
ecs_status migration_prepare_ties(struct migration *migration);

/* The id that replaces an id of an entity's table; with NONE for the entity, the id itself. */
ecs_id migration_id_after(const struct migration *migration, ecs_id id, uint32_t entity);

/* Whether rows of a table move separately, each by its ties. The second reserves room for that; the
** third moves them at the commit. */
bool migration_parts_rows(const struct migration *migration, const struct table *table);
ecs_status migration_plan_rows(const struct migration *migration, struct table *table);
void migration_move_rows(const struct migration *migration, struct table *table);

/* At the commit: gives the relation its new options; `old` is the former relation. The second
** forgets ties that no longer exist, after the rows have moved. */
void migration_swap_relation(ecs_world *world, struct change *change, struct relation *old);
void migration_forget_ties(const struct migration *migration);

/* Drops tables that only a commit would have made possible. */
void migration_undo_ties(const struct migration *migration);

/* Whether a term is impossible for the future version of its component. */
bool migration_defeats(const struct term *term, const struct component *wanted,
                       const struct component *through);

/* Whether cells can stay as they are when a field changes from one type to another. */
bool convert_is_copy(const struct leaf *from, const struct leaf *to);

#endif
