#include "core/run/chance.h"

#include "core/store/world.h"

/* FNV-1a. */
uint64_t chance_name(const char *name) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *name; name++) hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
  return hash;
}

uint64_t chance_opened(const ecs_world *world, const ecs_system *system) {
  return system->streams_tick == world->tick ? system->streams : 0;
}

void chance_set_opened(const ecs_world *world, ecs_system *system, uint64_t opened) {
  system->streams = opened;
  system->streams_tick = world->tick;
}
