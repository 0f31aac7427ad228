#include "chance.h"

#include "world.h"

/* The finalizer of SplitMix64 (Steele, Lea, Flood; OOPSLA 2014). */
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

uint64_t chance_key(uint64_t key, uint64_t place) {
  return mix(mix(key) + (place + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

/* FNV-1a. */
uint64_t chance_name(const char *name) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *name; name++) hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
  return hash;
}

struct chance chance_form(struct chance *outer) {
  return (struct chance){chance_key(outer->key, outer->opened++), 0, 0};
}

struct chance chance_predicate(const struct chance *outer) {
  return (struct chance){chance_key(outer->key, CHANCE_PREDICATE), 0, 0};
}

struct chance chance_system(uint64_t seed, ecs_system *system) {
  uint64_t name = chance_key(seed, system->chance);
  return (struct chance){chance_key(name, system->streams++), 0, 0};
}

void chance_tick(ecs_world *world) {
  const struct schedule *schedule = &world->schedule;
  world->chance = chance_outermost(world->seed);
  for (uint32_t i = 0; i < schedule->system_count; i++) schedule->systems[i]->streams = 0;
}
