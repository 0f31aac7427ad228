#include "core/base/column_cells.h"

#define SEEDS 16u      /* cells that are stored one by one */
#define PIECE 4096u    /* bytes, a multiple of every cell's */

/* Repeats what is there: doubles it up to a piece that stays in the cache, and copies that. */
static void column_cells_repeat(char *to, size_t filled, size_t size) {
  while (filled < size) {
    size_t piece = filled < PIECE ? filled : PIECE;
    if (piece > size - filled) piece = size - filled;
    memcpy(to + filled, to, piece);
    filled += piece;
  }
}

void cell_fill(void *data, uint32_t size, size_t row, size_t count, ecs_cell cell) {
  char *to = (char *)data + row * size;
  if (cell.u64 == 0) {
    memset(to, 0, count * size);
    return;
  }
  size_t seeds = count < SEEDS ? count : SEEDS;
  for (size_t i = 0; i < seeds; i++) cell_store(to, size, i, cell);
  column_cells_repeat(to, seeds * size, count * size);
}
