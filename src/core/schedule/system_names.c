#include "core/schedule/system_names.h"

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/schedule/timetable.h"

/* The slot of a name with that hash, or the free one where it would be. */
static uint32_t system_names_probe(const struct system_names *names, uint64_t hash,
                                   const char *name, size_t size) {
  uint32_t mask = names->capacity - 1, at = (uint32_t)hash & mask;
  assert(names->capacity > names->count);
  for (; names->slots[at]; at = (at + 1) & mask)
    if (names->slots[at]->chance == hash && text_equal(names->slots[at]->name, name, size)) break;
  return at;
}

ecs_system *system_names_find(const struct system_names *names, const char *name, size_t size) {
  if (names->count == 0) return NULL;
  return names->slots[system_names_probe(names, text_hash64(name, size), name, size)];
}

static void system_names_enter(struct system_names *names, ecs_system *system) {
  uint32_t at = system_names_probe(names, system->chance, system->name, strlen(system->name));
  names->count += !names->slots[at];
  names->slots[at] = system;
}

bool system_names_reserve(struct memory *memory, struct system_names *names, uint64_t count) {
  uint64_t capacity = names->capacity ? names->capacity : 8;
  while (capacity * 3 / 4 <= count) capacity *= 2;
  if (capacity == names->capacity) return true;
  if (capacity > UINT32_MAX / 2) return false;
  struct system_names grown = {NULL, (uint32_t)capacity, 0};
  grown.slots = memory_array(memory, (size_t)capacity, sizeof *grown.slots);
  if (!grown.slots) return false;
  for (uint32_t i = 0; i < names->capacity; i++)
    if (names->slots[i]) system_names_enter(&grown, names->slots[i]);
  assert(grown.count == names->count);
  system_names_free(memory, names);
  *names = grown;
  return true;
}

void system_names_put(struct system_names *names, ecs_system *system) {
  assert(names->count < names->capacity);
  system_names_enter(names, system);
}

/* By backward shift, as in map_remove. */
void system_names_drop(struct system_names *names, const ecs_system *system) {
  uint32_t mask = names->capacity - 1;
  uint32_t hole = system_names_probe(names, system->chance, system->name, strlen(system->name));
  assert(names->slots[hole] == system);
  names->count--;
  for (uint32_t at = (hole + 1) & mask; names->slots[at]; at = (at + 1) & mask) {
    uint32_t wanted = (uint32_t)names->slots[at]->chance & mask;
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
    names->slots[hole] = names->slots[at];
    hole = at;
  }
  names->slots[hole] = NULL;
}

void system_names_free(struct memory *memory, struct system_names *names) {
  memory_free(memory, names->slots, names->capacity * sizeof *names->slots);
  memset(names, 0, sizeof *names);
}
