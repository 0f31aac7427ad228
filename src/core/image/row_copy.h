/* All rows of a table in one block: the entities, then the columns, each padded. */
#ifndef ECS_CORE_IMAGE_ROW_COPY_H
#define ECS_CORE_IMAGE_ROW_COPY_H

#include "core/base/base.h"

struct table;

static inline size_t row_copy_padded(size_t size) { return (size + 63) / 64 * 64; }

/* The bytes of the block. */
size_t row_copy_size(const struct table *table, uint32_t count);

/* Between a table and its copy, whose count is `count`. */
void row_copy_columns(struct table *table, char *data, uint32_t count, bool out);

#endif
