/* The library's side of the structure workloads: a world with Position { x = 1, y = 2 } and
** Velocity { x = 3, y = 4 }, and its checksum, which equals the floor's. */
#ifndef ECS_BENCH_LIBRARY_H
#define ECS_BENCH_LIBRARY_H

#include "hand.h"

struct library {
  ecs_world *world;
  ecs_id both[2];       /* Position, Velocity */
  ecs_query *all;
};

static inline void need_ok(ecs_status status) {
  if (status != ECS_OK) bench_fail("a call of the library failed");
}

static inline ecs_id library_component(ecs_world *world, const char *name, double x,
                                       double y) {
  ecs_field fields[2] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  fields[0].value = (ecs_value){.kind = ECS_KIND_NUMBER, .number = x};
  fields[1].value = (ecs_value){.kind = ECS_KIND_NUMBER, .number = y};
  fields[1].offset = sizeof(float);
  ecs_component_desc desc = {.name = name, .fields = fields, .field_count = 2};
  ecs_id id;
  need_ok(ecs_component(world, &desc, &id));
  return id;
}

static inline void library_open(struct library *library) {
  ecs_world_desc desc = {.alloc = bench_alloc, .tag = 1};
  need_ok(ecs_world_new(&desc, &library->world));
  library->both[0] = library_component(library->world, "Position", 1, 2);
  library->both[1] = library_component(library->world, "Velocity", 3, 4);
  need_ok(ecs_query_new(library->world, "Position, Velocity?", &library->all));
}

static inline void library_close(struct library *library) {
  ecs_world_free(library->world);
}

static inline double library_checksum(struct library *library) {
  double sum = 0;
  ecs_iter it;
  need_ok(ecs_iter_open(library->all, &it));
  while (ecs_iter_next(&it)) {
    const float *px = ecs_iter_column(&it, 0, 0), *py = ecs_iter_column(&it, 0, 1);
    const float *vx = ecs_iter_column(&it, 1, 0), *vy = ecs_iter_column(&it, 1, 1);
    for (uint32_t row = 0; row < it.count; row++) {
      NEED(ecs_alive(library->world, ecs_iter_entity(&it, row)));
      sum += checksum_row(it.rows[row] - 65536, row, px[row], py[row]);
      if (vx) sum += checksum_velocity(row, vx[row], vy[row]);
    }
  }
  need_ok(ecs_iter_close(&it));
  return sum;
}

#endif
