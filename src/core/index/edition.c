#include "core/index/edition.h"

#include "core/ids/world.h"

void edition_empty(struct edition *edition) {
  edition->copies.count = 0;
  grid_clear(&edition->grid);
  edition->keyed.count = 0;
}

void edition_free(ecs_world *world, struct edition *edition) {
  copies_free(world, &edition->copies);
  grid_free(&world->memory, &edition->grid);
  keyed_free(&world->memory, &edition->keyed);
  memory_free(&world->memory, edition, sizeof *edition);
}

bool edition_is_held(const ecs_world *world, const struct edition *edition) {
  return edition->holders && edition->held == world->moment;
}

struct edition *edition_hold(const ecs_index *index) {
  struct edition *edition = index->now;
  assert(edition);
  if (!edition_is_held(index->world, edition)) edition->holders = 0;
  edition->held = index->world->moment;
  edition->holders++;
  return edition;
}

void edition_release(const ecs_world *world, struct edition *edition) {
  if (edition_is_held(world, edition)) edition->holders--;
}

void edition_drop_old(ecs_index *index) {
  struct edition **at = index->now ? &index->now->next : &index->now;
  while (*at) {
    struct edition *edition = *at;
    if (edition_is_held(index->world, edition)) {
      at = &edition->next;
      continue;
    }
    *at = edition->next;
    edition_free(index->world, edition);
  }
}

struct edition *edition_to_fill(ecs_index *index) {
  ecs_world *world = index->world;
  if (index->now && !edition_is_held(world, index->now)) {
    edition_empty(index->now);
    return index->now;
  }
  struct edition *edition = memory_array(&world->memory, 1, sizeof *edition);
  if (!edition) return NULL;
  edition->next = index->now;
  return index->now = edition;
}
