/* Sparse storage: a component that is kept outside of its entities' tables. Its rows are packed in
** a table of its own, of that component alone, which no graph and no query knows; which row is
** whose stands in pages by the entities' indices. Adding and removing move no other component.
** An entity that has such a component has a row in some table, too. */
#ifndef ECS_CORE_STORAGE_SPARSE_H
#define ECS_CORE_STORAGE_SPARSE_H

#include "core/base/base.h"

struct cells_row;
struct component;
struct table;

#define SPARSE_PAGE_BITS 8
#define SPARSE_PAGE_SIZE (1u << SPARSE_PAGE_BITS)

struct sparse {
  struct component *component;
  struct table *table;         /* rows in packed order; its index is NONE */
  uint32_t **pages;            /* by entity index: the row counted from 1, 0 for none */
  uint32_t page_capacity;
};

/* The row of an entity that is alive; NONE when it does not have the component. */
INLINE uint32_t sparse_row(const struct sparse *sparse, uint32_t entity) {
  uint32_t page = entity >> SPARSE_PAGE_BITS;
  if (UNLIKELY(page >= sparse->page_capacity || !sparse->pages[page])) return NONE;
  return sparse->pages[page][entity & (SPARSE_PAGE_SIZE - 1)] - 1;
}

/* What keeps a component or pair; NULL for those in tables. */
struct sparse *sparse_of(const ecs_world *world, ecs_id id);

bool sparse_find(const ecs_world *world, uint32_t entity, ecs_id component,
                 struct cells_row *out);

/* Whether the entity has any sparse component; the id of its first one behind an id, ECS_NULL at
** the end. */
bool sparse_has_any(const ecs_world *world, uint32_t entity);
ecs_id sparse_next_id(const ecs_world *world, uint32_t entity, ecs_id last);

#endif
