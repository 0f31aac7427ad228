/* Indexes for hosts in C. */
#include "core/index/refresh.h"
#include "core/world/check.h"
#include "core/ids/world.h"

static ecs_status find_start(ecs_index *index, bool fits, ecs_found *found) {
  world_be_sure(index->world);
  *found = (ecs_found){.index = index};
  return fits ? index_refresh(index) : index_refuse(index);
}

static ecs_status begin_grid(ecs_index *index, ecs_found *found) {
  return find_start(index, index->desc.by == ECS_BY_GRID, found);
}

ecs_status ecs_index_within(ecs_index *index, const double *at, double reach, ecs_found *found) {
  ecs_status status = begin_grid(index, found);
  if (status == ECS_OK) search_begin(&found->search, &index->now->grid, at, reach);
  return status;
}

static void find_come_to(ecs_found *found, uint32_t row) {
  found->row = row;
  found->entity = copies_entities(&found->index->now->copies)[row];
}

bool ecs_found_next(ecs_found *found) {
  uint32_t row = edition_next(&found->search);
  if (row != NONE) find_come_to(found, row);
  return row != NONE;
}

ecs_status ecs_index_nearest(ecs_index *index, const double *at, double reach, ecs_id except,
                             ecs_found *found) {
  ecs_status status = begin_grid(index, found);
  if (status != ECS_OK) return status;
  const struct copies *copies = &index->now->copies;
  const struct rivals rivals = {copies_entities(copies), copies_order(copies), except};
  uint32_t row = search_nearest(&index->now->grid, at, reach, &rivals, &found->distance);
  if (row == NONE)
    return world_fail(index->world, ECS_EABSENT, "index '%s' has nobody in reach",
                      index->desc.name);
  find_come_to(found, row);
  return ECS_OK;
}

ecs_status ecs_index_equal(ecs_index *index, const ecs_value *key, ecs_found *found) {
  bool fits = index->desc.by == ECS_BY_HASH || index->desc.by == ECS_BY_MAYBE;
  ecs_status status = find_start(index, fits, found);
  if (status == ECS_OK)
    keyed_equal(&index->now->keyed, key_wanted(index->world, key), &found->search);
  return status;
}

static ecs_status begin_order(ecs_index *index, ecs_found *found) {
  return find_start(index, index->desc.by == ECS_BY_ORDER, found);
}

ecs_status ecs_index_range(ecs_index *index, const ecs_value *least, const ecs_value *most,
                           ecs_found *found) {
  ecs_status status = begin_order(index, found);
  if (status == ECS_OK)
    keyed_range(&index->now->keyed, key_wanted(index->world, least),
                key_wanted(index->world, most), &found->search);
  return status;
}

ecs_status ecs_index_lowest(ecs_index *index, uint32_t most, ecs_found *found) {
  ecs_status status = begin_order(index, found);
  if (status == ECS_OK) keyed_lowest(&index->now->keyed, most, &found->search);
  return status;
}

ecs_status ecs_index_highest(ecs_index *index, uint32_t most, ecs_found *found) {
  ecs_status status = begin_order(index, found);
  if (status == ECS_OK) keyed_highest(&index->now->keyed, most, &found->search);
  return status;
}

/* ---- copies ---------------------------------------------------------------------------- */

/* While keys are computed, the rows of the query. */
static const struct copies *copies_of(const ecs_index *index) {
  return index->busy ? &index->rows : index->now ? &index->now->copies : NULL;
}

const void *ecs_index_column(const ecs_index *index, uint32_t term, uint32_t leaf) {
  const struct copies *copies = copies_of(index);
  if (!copies) return NULL;
  for (uint32_t i = 0; i < copies->column_count; i++) {
    const struct copy_column *column = &copies->columns[i];
    if (column->component && column->term == term && column->term_leaf == leaf)
      return column->cells.data;
  }
  return NULL;
}

size_t ecs_index_count(const ecs_index *index) {
  const struct copies *copies = copies_of(index);
  return copies ? copies->count : 0;
}

ecs_id ecs_index_entity(const ecs_index *index, size_t row) {
  assert(row < ecs_index_count(index));
  return copies_entities(copies_of(index))[row];
}
