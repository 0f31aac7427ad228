/* The arrays of an image. */
#include "core/image/load.h"
#include "core/store/array.h"
#include "core/store/array_cells.h"
#include "core/store/world.h"

#define PIECE 65536u

/* Its memory grows with what has been read: a forged image may have said any length. */
static ecs_status read_cells(struct loader *loader, struct component *array,
                             struct column_buffer *column) {
  uint32_t size = array->leaves[ARRAY_LEAF].size;
  ecs_status status = ECS_OK;
  for (uint32_t at = 0, next; at < array->length && status == ECS_OK; at = next) {
    next = array->length - at < PIECE ? array->length : at + PIECE;
    if (!buffer_grow(&loader->world->memory, column, (size_t)next * size, (size_t)at * size))
      return ECS_ENOMEM;
    status = load_cells(loader, array, ARRAY_LEAF, (char *)column->data + (size_t)at * size,
                        next - at);
    if (status == ECS_OK) status = load_state(loader);
  }
  return status;
}

static ecs_status load_array(struct loader *loader, struct component *array) {
  struct memory *memory = &loader->world->memory;
  array->resource = memory_array(memory, 1, sizeof *array->resource);
  return array->resource ? read_cells(loader, array, array->resource) : ECS_ENOMEM;
}

ecs_status load_arrays(struct loader *loader) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < loader->component_count && status == ECS_OK; i++)
    if (loader->components[i]->length) status = load_array(loader, loader->components[i]);
  return status;
}
