#include "core/store/row.h"

void row_default_mixed(const struct column *column, uint32_t count, uint32_t row) {
  for (; count > 0; count--, column++)
    cell_store(column->data, column->size, row, column->value);
}

void row_close_mixed(const struct column *column, uint32_t count, uint32_t row,
                     uint32_t last) {
  for (; count > 0; count--, column++)
    cell_copy(column->data, row, column->data, last, column->size);
}

static void carry(const struct column *from, uint32_t count, uint32_t row, uint32_t last,
                  const struct column *to, uint32_t to_row) {
  for (; count > 0; count--, from++, to++) {
    cell_copy(to->data, to_row, from->data, row, from->size);
    cell_copy(from->data, row, from->data, last, from->size);
  }
}

/* Both tables' parts are in the order of ids. */
void row_move(ecs_world *world, struct record *record, struct table *from,
              struct table *to) {
  uint32_t row = record->row, to_row = row_change(world, record, from, to);
  const struct table_part *a = from->parts, *a_end = a + from->part_count;
  const struct table_part *b = to->parts, *b_end = b + to->part_count;
  while (a < a_end || b < b_end) {
    ecs_id a_id = a < a_end ? a->id : UINT64_MAX;
    ecs_id b_id = b < b_end ? b->id : UINT64_MAX;
    const struct column *source = from->columns + (a_id <= b_id ? a->first : 0);
    const struct column *target = to->columns + (b_id <= a_id ? b->first : 0);
    if (a_id == b_id) {
      carry(source, a->component->leaf_count, row, from->count, target, to_row);
    } else if (a_id < b_id) {
      table_release_any(world, from, a->first, row, 1);
      row_close_mixed(source, a->component->leaf_count, row, from->count);
    } else {
      row_default_mixed(target, b->component->leaf_count, to_row);
    }
    a += a_id <= b_id;
    b += b_id <= a_id;
  }
}
