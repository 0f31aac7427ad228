/* Replays files; the directory of each names its target. Output is TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const struct target {
  const char *name;
  void (*run)(const uint8_t *data, size_t size);
} targets[] = {{"load", fuzz_load}, {"operations", fuzz_operations}};

static const struct target *target_of(const char *path) {
  const char *file = strrchr(path, '/');
  for (size_t i = 0; file && i < sizeof targets / sizeof *targets; i++) {
    size_t size = strlen(targets[i].name);
    if ((size_t)(file - path) < size || strncmp(file - size, targets[i].name, size) != 0)
      continue;
    if ((size_t)(file - path) == size || file[-(ptrdiff_t)size - 1] == '/') return &targets[i];
  }
  return NULL;
}

static bool replay(const char *path) {
  static uint8_t buffer[1 << 20];
  const struct target *target = target_of(path);
  FILE *file = target ? fopen(path, "rb") : NULL;
  if (!file) return false;
  size_t size = fread(buffer, 1, sizeof buffer, file);
  fclose(file);
  uint8_t *exact = malloc(size + (size == 0));   /* so that reads past the end are seen */
  if (!exact) return false;
  memcpy(exact, buffer, size);
  target->run(exact, size);
  free(exact);
  return true;
}

int main(int count, char **arguments) {
  int bad = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 1; i < count; i++) {
    printf("# %s\n", arguments[i]);
    bool done = replay(arguments[i]);
    printf("%sok %d - what must hold holds for %s\n", done ? "" : "not ", i, arguments[i]);
    bad |= !done;
  }
  printf("1..%d\n", count - 1);
  return bad;
}
