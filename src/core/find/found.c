/* Indexes for hosts in C. */
#include "core/find/refresh.h"
#include "core/store/check.h"
#include "core/store/world.h"

static ecs_status begin(ecs_index *index, ecs_found *found) {
  world_be_sure(index->world);
  *found = (ecs_found){.index = index};
  return index_refresh(index);
}

ecs_status ecs_index_within(ecs_index *index, const double *at, double reach, ecs_found *found) {
  ecs_status status = begin(index, found);
  if (status == ECS_OK) search_begin(&found->search, &index->now->grid, at, reach);
  return status;
}

static void come_to(ecs_found *found, uint32_t row) {
  found->row = row;
  found->entity = copies_entities(&found->index->now->copies)[row];
}

bool ecs_found_next(ecs_found *found) {
  uint32_t row = found->search.grid ? search_next(&found->search) : NONE;
  if (row != NONE) come_to(found, row);
  return row != NONE;
}

ecs_status ecs_index_nearest(ecs_index *index, const double *at, double reach, ecs_id except,
                             ecs_found *found) {
  ecs_status status = begin(index, found);
  if (status != ECS_OK) return status;
  const struct copies *copies = &index->now->copies;
  const struct rivals rivals = {copies_entities(copies), copies_order(copies), except};
  uint32_t row = search_nearest(&index->now->grid, at, reach, &rivals, &found->distance);
  if (row == NONE)
    return world_fail(index->world, ECS_EABSENT, "index '%s' has nobody in reach",
                      index->desc.name);
  come_to(found, row);
  return ECS_OK;
}

const void *ecs_index_column(const ecs_index *index, uint32_t term, uint32_t leaf) {
  if (!index->now) return NULL;
  const struct copies *copies = &index->now->copies;
  for (uint32_t i = 0; i < copies->column_count; i++) {
    const struct copy_column *column = &copies->columns[i];
    if (column->component && column->term == term && column->term_leaf == leaf)
      return column->cells.data;
  }
  return NULL;
}

size_t ecs_index_count(const ecs_index *index) {
  return index->now ? index->now->copies.count : 0;
}

ecs_id ecs_index_entity(const ecs_index *index, size_t row) {
  assert(row < ecs_index_count(index));
  return copies_entities(&index->now->copies)[row];
}
