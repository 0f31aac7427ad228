/* Sparse storage: a component that is kept outside of its entities' tables. Its rows are packed in
** a table of its own, of that component alone, which no graph and no query knows; which row is
** whose stands in pages by the entities' indices. Adding and removing move no other component.
** An entity that has such a component has a row in some table, too. */
#ifndef ECS_CORE_STORAGE_SPARSE_H
#define ECS_CORE_STORAGE_SPARSE_H

#include "core/base/base.h"
#include "core/storage/cells.h"
#include "core/storage/table.h"

#define SPARSE_PAGE_BITS 8
#define SPARSE_PAGE_SIZE (1u << SPARSE_PAGE_BITS)

struct sparse {
  struct component *component;
  struct table *table;         /* rows in packed order; its index is NONE */
  uint32_t **pages;            /* by entity index: the row counted from 1, 0 for none */
  uint32_t page_capacity;
};

INLINE bool sparse_has_page(const struct sparse *sparse, uint32_t entity) {
  uint32_t page = entity >> SPARSE_PAGE_BITS;
  return page < sparse->page_capacity && sparse->pages[page];
}

/* Where an entity's row stands, counted from 1; 0: it has none. There is a page for it. */
INLINE uint32_t *sparse_place(const struct sparse *sparse, uint32_t entity) {
  assert(sparse_has_page(sparse, entity));
  return &sparse->pages[entity >> SPARSE_PAGE_BITS][entity & (SPARSE_PAGE_SIZE - 1)];
}

/* The row of an entity that is alive; NONE when it does not have the component. */
INLINE uint32_t sparse_row(const struct sparse *sparse, uint32_t entity) {
  return LIKELY(sparse_has_page(sparse, entity)) ? *sparse_place(sparse, entity) - 1 : NONE;
}

/* What keeps a component or pair; NULL for those in tables. */
struct sparse *sparse_of(const ecs_world *world, ecs_id id);

bool sparse_find(const ecs_world *world, uint32_t entity, ecs_id component,
                 struct cells_row *out);

/* Whether the entity has any sparse component; the id of its first one behind an id, ECS_NULL at
** the end. */
bool sparse_has_any(const ecs_world *world, uint32_t entity);
ecs_id sparse_next_id(const ecs_world *world, uint32_t entity, ecs_id last);

/* Rows of sparse components coming and going, and the world's list of what keeps them. */

/* The ids of an entity's sparse components, put into a sorted set that has room for all of them;
** returns how many ids there are then. */
uint32_t sparse_join_ids(const ecs_world *world, uint32_t entity, ecs_id *ids, uint32_t count);

/* Moves the sparse ones of a set behind the others, both in order; returns how many others there
** are. */
uint32_t sparse_part_ids(const ecs_world *world, ecs_id *ids, uint32_t count);

/* After this, `more` entities, this one among them, can be put in. */
ecs_status sparse_reserve(ecs_world *world, struct sparse *sparse, uint32_t entity,
                          uint64_t more);

/* Puts in an entity that does not have the component, as the last row, with defaults; returns the
** row. */
uint32_t sparse_put(ecs_world *world, struct sparse *sparse, uint32_t entity);

/* Takes it out again: the last row takes its place. Any slots are released. */
void sparse_cut(ecs_world *world, struct sparse *sparse, uint32_t entity);

/* Either, unless it is so already: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status sparse_change(ecs_world *world, uint32_t entity, struct sparse *sparse, bool adds);

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
