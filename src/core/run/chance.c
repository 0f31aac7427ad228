#include "core/run/chance.h"

#include "core/store/world.h"

uint64_t chance_opened(const ecs_world *world, const ecs_system *system) {
  return system->streams_tick == world->tick ? system->streams : 0;
}

void chance_set_opened(const ecs_world *world, ecs_system *system, uint64_t opened) {
  system->streams = opened;
  system->streams_tick = world->tick;
}
