/* Rows of sparse components coming and going, and the world's list of what keeps them. */
#ifndef ECS_CORE_STORAGE_SPARSE_ROWS_H
#define ECS_CORE_STORAGE_SPARSE_ROWS_H

#include "core/base/base.h"

struct component;
struct sparse;
struct table;

struct layout;

/* The ids of an entity's sparse components, put into a sorted set that has room for all of them;
** returns how many ids there are then. */
uint32_t sparse_join_ids(const ecs_world *world, uint32_t entity, ecs_id *ids, uint32_t count);

/* The same the other way: moves the sparse ones of a set behind the others, both in order;
** returns how many others there are. */
uint32_t sparse_part_ids(const ecs_world *world, ecs_id *ids, uint32_t count);

/* After this, `more` entities, this one among them, can be put in. */
ecs_status sparse_reserve(ecs_world *world, struct sparse *sparse, uint32_t entity,
                          uint64_t more);

/* Puts in an entity that does not have the component, as the last row, with defaults; returns the
** row. */
uint32_t sparse_put(ecs_world *world, struct sparse *sparse, uint32_t entity);

/* Takes it out again: the last row takes its place. Any slots are released. */
void sparse_cut(ecs_world *world, struct sparse *sparse, uint32_t entity);

/* What sparse_cut does about the cells of a table that is not plain: the last row's take the place
** of a row's. */
void sparse_fill_slowly(ecs_world *world, struct table *table, uint32_t row, uint32_t last);

/* Room for an entity in what it is to have of these sparse ids; others may have been planned
** before it. sparse_forget_plan when all are, or one failed. */
ecs_status sparse_plan(ecs_world *world, uint32_t entity, const ecs_id *ids, uint32_t count);
void sparse_forget_plan(ecs_world *world);

/* Puts in and takes out, as planned, so that an entity has the sparse ids of a sorted set. */
void sparse_become(ecs_world *world, uint32_t entity, const ecs_id *ids, uint32_t count);

/* Where an entity has the cells of a component or pair: in its table, at *row, or among sparse
** ones, whose row is then *row. Not taken where it has none. */
const struct layout *sparse_layout(const ecs_world *world, const struct table *table,
                                   uint32_t entity, ecs_id id, uint32_t *row);

/* Takes an entity out of all. */
void sparse_leave(ecs_world *world, uint32_t entity);

/* Makes what keeps a component, which will have that id. sparse_enter puts it into the world's
** list, where there is room, sparse_leave_list takes it out; it is freed with its rows. */
ecs_status sparses_reserve(ecs_world *world, uint32_t more);
ecs_status sparse_new(ecs_world *world, struct component *component, ecs_id id);
void sparse_enter(ecs_world *world, struct sparse *sparse);
void sparse_leave_list(ecs_world *world, const struct sparse *sparse);
void sparse_free(ecs_world *world, struct component *component);
void sparses_free(ecs_world *world);

/* Forgets all rows, whose any slots are released or somebody else's by now. */
void sparse_clear(ecs_world *world, struct sparse *sparse);

/* Enters a row, or all rows, of the table, which have been written otherwise; after
** sparse_need_page for each entity. */
void sparse_enter_row(ecs_world *world, struct sparse *sparse, uint32_t row);
void sparse_enter_rows(ecs_world *world, struct sparse *sparse);
ecs_status sparse_need_page(ecs_world *world, struct sparse *sparse, uint32_t entity);

#endif
