#include "core/image/row_copy.h"

#include "core/store/toggle.h"

size_t row_copy_size(const struct table *table, uint32_t count) {
  size_t size = row_copy_padded(count * sizeof *table->rows);
  for (uint32_t i = 0; i < table->column_count; i++)
    size += row_copy_padded((size_t)count * table->columns[i].size);
  return size + table->toggle_count * row_copy_padded(toggle_words(count) * sizeof(uint64_t));
}

void row_copy_columns(struct table *table, char *data, uint32_t count, bool out) {
  size_t size = count * sizeof *table->rows;
  if (count == 0) return;
  memcpy(out ? (void *)data : table->rows, out ? (void *)table->rows : data, size);
  data += row_copy_padded(size);
  for (uint32_t i = 0; i < table->column_count; i++) {
    void *column = table->columns[i].data;
    size = (size_t)count * table->columns[i].size;
    memcpy(out ? data : column, out ? column : data, size);
    data += row_copy_padded(size);
  }
  size = toggle_words(count) * sizeof(uint64_t);
  for (uint32_t i = 0; i < table->toggle_count; i++, data += row_copy_padded(size)) {
    uint64_t *bits = table->toggles[i].bits;
    memcpy(out ? (void *)data : bits, out ? (void *)bits : data, size);
  }
}
