#include "core/base/nearest.h"

#include "core/base/text.h"

#define EDIT_LIMIT 64

static uint32_t nearest_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t text_distance(const char *a, size_t a_size, const char *b, size_t b_size,
                       uint32_t most) {
  if (a_size > EDIT_LIMIT || b_size > EDIT_LIMIT) return 1000;
  uint32_t rows[3][EDIT_LIMIT + 1];
  uint32_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (uint32_t j = 0; j <= b_size; j++) last[j] = j;
  for (uint32_t i = 1; i <= a_size; i++) {
    now[0] = i;
    for (uint32_t j = 1; j <= b_size; j++) {
      uint32_t cost = a[i - 1] != b[j - 1];
      now[j] = nearest_least(nearest_least(last[j], now[j - 1]) + 1, last[j - 1] + cost);
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = nearest_least(now[j], before[j - 2] + 1);
    }
    uint32_t *free_row = before;
    before = last;
    last = now;
    now = free_row;
  }
  return last[b_size] <= most ? last[b_size] : 1000;
}

void nearest_begin(struct nearest *nearest, const char *wanted, size_t size) {
  memset(nearest, 0, sizeof *nearest);
  nearest->wanted = wanted;
  nearest->wanted_size = size;
  nearest->distance = size < 6 ? 2 : size < 9 ? 3 : 4;
}

static bool nearest_comes_before(const char *a, size_t a_size, const char *b, size_t b_size) {
  int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
  return order < 0 || (order == 0 && a_size < b_size);
}

/* Of two that are as near the first by their letters, in whatever order they are offered. */
void nearest_offer(struct nearest *nearest, const char *name, size_t size) {
  uint32_t most = nearest->best ? nearest->distance : nearest->distance - 1;
  uint32_t distance = text_distance(nearest->wanted, nearest->wanted_size, name, size, most);
  if (distance > most) return;
  if (nearest->best && distance == nearest->distance &&
      !nearest_comes_before(name, size, nearest->best, nearest->best_size))
    return;
  nearest->distance = distance;
  nearest->best = name;
  nearest->best_size = size;
}

const char *nearest_hint(const struct nearest *nearest, char *hint, size_t size) {
  ecs_string best = {nearest->best, nearest->best_size};
  hint[0] = '\0';
  if (best.data) text_format(hint, size, " (did you mean '%.*s'?)", SHOW(best));
  return hint;
}
