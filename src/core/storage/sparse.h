/* Sparse storage keeps a component outside its entities' tables. Its rows are packed in a table of
** that component alone, which is in no graph and no query; pages by entity index say which row is
** whose. Adding and removing it moves no other component. An entity with a sparse component also
** has a row in some table. */
#ifndef ECS_CORE_STORAGE_SPARSE_H
#define ECS_CORE_STORAGE_SPARSE_H

#include "core/base/base.h"
#include "core/storage/cells.h"
#include "core/storage/table.h"

#define SPARSE_PAGE_BITS 8
#define SPARSE_PAGE_SIZE (1u << SPARSE_PAGE_BITS)

struct sparse {
  struct component *component;
  struct table *table;         /* packed rows; its index is NONE */
  uint32_t **pages;            /* by entity index: the row plus 1, or 0 for none */
  uint32_t page_capacity;
};

INLINE bool sparse_has_page(const struct sparse *sparse, uint32_t entity) {
  uint32_t page = entity >> SPARSE_PAGE_BITS;
  return page < sparse->page_capacity && sparse->pages[page];
}

/* The slot that holds an entity's row plus 1, or 0; its page must exist. */
INLINE uint32_t *sparse_place(const struct sparse *sparse, uint32_t entity) {
  assert(sparse_has_page(sparse, entity));
  return &sparse->pages[entity >> SPARSE_PAGE_BITS][entity & (SPARSE_PAGE_SIZE - 1)];
}

/* The row of a living entity; NONE if it lacks the component. */
INLINE uint32_t sparse_row(const struct sparse *sparse, uint32_t entity) {
  return LIKELY(sparse_has_page(sparse, entity)) ? *sparse_place(sparse, entity) - 1 : NONE;
}

/* The sparse set of a component or pair; NULL for one in tables. */
struct sparse *sparse_of(const ecs_world *world, ecs_id id);

bool sparse_find(const ecs_world *world, uint32_t entity, ecs_id component,
                 struct cells_row *out);

/* The id of the entity's first sparse component after an id, or ECS_NULL. */
ecs_id sparse_next_id(const ecs_world *world, uint32_t entity, ecs_id last);

/* Rows of sparse components, and the world's list of sparse sets. */

/* Inserts the ids of an entity's sparse components into a sorted set with room. Returns the new
** count. */
uint32_t sparse_join_ids(const ecs_world *world, uint32_t entity, ecs_id *ids, uint32_t count);

/* Moves the sparse ids of a set after the others, both in order. Returns the number of the
** others. */
uint32_t sparse_part_ids(const ecs_world *world, ecs_id *ids, uint32_t count);

/* Reserves room for `more` entities, this one among them. */
ecs_status sparse_reserve(ecs_world *world, struct sparse *sparse, uint32_t entity,
                          uint64_t more);

/* Adds an entity that lacks the component as the last row, with defaults. Returns the row. */
uint32_t sparse_put(ecs_world *world, struct sparse *sparse, uint32_t entity);

/* Removes an entity: the last row takes its place. Releases any slots. */
void sparse_cut(ecs_world *world, struct sparse *sparse, uint32_t entity);

/* Adds or removes the component unless that is done already: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status sparse_change(ecs_world *world, uint32_t entity, struct sparse *sparse, bool adds);

/* Reserves room for the sparse ids that an entity will have, after other plans. Call
** sparse_forget_plan when all are made or one failed. */
ecs_status sparse_plan(ecs_world *world, uint32_t entity, const ecs_id *ids, uint32_t count);
void sparse_forget_plan(ecs_world *world);

/* Adds and removes components as planned, so that the entity has the sparse ids of a sorted set. */
void sparse_become(ecs_world *world, uint32_t entity, const ecs_id *ids, uint32_t count);

/* Where an entity has the cells of a component or pair: in its table, at *row, or in a sparse set,
** whose row is then *row. If it has none, the result is not `taken`. */
const struct layout *sparse_layout(const ecs_world *world, const struct table *table,
                                   uint32_t entity, ecs_id id, uint32_t *row);

/* Removes an entity from all sparse sets. */
void sparse_leave(ecs_world *world, uint32_t entity);

/* Makes the sparse set of a component that will have that id. sparse_enter adds it, in room by
** OWNED_RESERVE, to the world's list, and sparse_leave_list removes it; sparse_free frees it with
** its rows. */
ecs_status sparse_new(ecs_world *world, struct component *component, ecs_id id);
void sparse_enter(ecs_world *world, struct sparse *sparse);
void sparse_leave_list(ecs_world *world, const struct sparse *sparse);
void sparse_free(ecs_world *world, struct component *component);
void sparses_free(ecs_world *world);

/* Forgets all rows; their any slots have been released or handed over. */
void sparse_clear(ecs_world *world, struct sparse *sparse);

/* Records the place of a row, or of all rows, that were written directly; after sparse_need_page
** for each entity. */
void sparse_enter_row(ecs_world *world, const struct sparse *sparse, uint32_t row);
void sparse_enter_rows(ecs_world *world, struct sparse *sparse);
ecs_status sparse_need_page(ecs_world *world, struct sparse *sparse, uint32_t entity);

#endif
