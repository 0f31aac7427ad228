#include "core/base/merge_sort.h"

void merge_sort(const void **list, uint32_t n, bool (*precedes)(const void *, const void *)) {
  const void **from = list, **to = list + n;
  for (uint32_t width = 1; width < n; width *= 2) {
    for (uint32_t low = 0; low < n; low += 2 * width) {
      uint32_t middle = low + width < n ? low + width : n;
      uint32_t high = low + 2 * width < n ? low + 2 * width : n;
      uint32_t i = low, j = middle;
      for (uint32_t k = low; k < high; k++) {
        bool left = i < middle && (j == high || !precedes(from[j], from[i]));
        to[k] = left ? from[i++] : from[j++];
      }
    }
    const void **swap = from;
    from = to;
    to = swap;
  }
  if (from != list) memcpy(list, from, n * sizeof *list);
}
