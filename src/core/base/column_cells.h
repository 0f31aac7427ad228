/* How cells lie in columns. */
#ifndef ECS_CORE_BASE_COLUMN_CELLS_H
#define ECS_CORE_BASE_COLUMN_CELLS_H

#include "core/base/one_cell.h"

/* Most values have 4 bytes: that size is asked for first. */
static inline ecs_cell cell_load(const void *data, uint32_t size, size_t row) {
  ecs_cell cell;
  cell.u64 = 0;
  if (LIKELY(size == 4))
    cell.u32 = ((const uint32_t *)data)[row];
  else if (size == 8)
    cell.u64 = ((const uint64_t *)data)[row];
  else if (size == 1)
    cell.u8 = ((const uint8_t *)data)[row];
  else
    cell.u16 = ((const uint16_t *)data)[row];
  return cell;
}

static inline void cell_store(void *data, uint32_t size, size_t row, ecs_cell cell) {
  if (LIKELY(size == 4))
    ((uint32_t *)data)[row] = cell.u32;
  else if (size == 8)
    ((uint64_t *)data)[row] = cell.u64;
  else if (size == 1)
    ((uint8_t *)data)[row] = cell.u8;
  else
    ((uint16_t *)data)[row] = cell.u16;
}

static inline void cell_copy(void *to, size_t to_row, const void *from, size_t row,
                             uint32_t size) {
  if (LIKELY(size == 4))
    ((uint32_t *)to)[to_row] = ((const uint32_t *)from)[row];
  else if (size == 8)
    ((uint64_t *)to)[to_row] = ((const uint64_t *)from)[row];
  else if (size == 1)
    ((uint8_t *)to)[to_row] = ((const uint8_t *)from)[row];
  else
    ((uint16_t *)to)[to_row] = ((const uint16_t *)from)[row];
}

/* count cells with one value. */
void cell_fill(void *data, uint32_t size, size_t row, size_t count, ecs_cell cell);

#endif
