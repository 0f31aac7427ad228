/* The floors of the structure workloads: what one would write by hand for a program that has
** exactly two components, Position { x = 1, y = 2 } and Velocity { x = 3, y = 4 }. It keeps
** what the library keeps (a column per field, row ids, a record and a generation per entity,
** ids with generations that are checked) and nothing else.
**
** These are functions in a file of their own, called as the library's are: compared is the
** work, not what a compiler can do when it sees a whole program at once. */
#ifndef ECS_BENCH_HAND_H
#define ECS_BENCH_HAND_H

#include "bench.h"

struct position {
  float x, y;
};

struct hand_table {
  float *px, *py, *vx, *vy;            /* vx and vy are NULL in tables without Velocity */
  uint32_t *rows;
  uint32_t count, capacity, index;
  struct hand_table *with, *without;   /* the edges of the graph */
};

struct hand_record {
  uint32_t table, row;
};

struct hand {
  struct hand_table **tables;          /* even ones without Velocity, odd ones with it */
  uint32_t table_count;
  struct hand_record *records;
  uint16_t *generations;
  uint32_t count, capacity;            /* indices given out */
  uint32_t free_head;
};

/* With 2 * pairs tables. */
void hand_open(struct hand *hand, uint32_t pairs);
void hand_close(struct hand *hand);

/* Appends to the columns of an odd table. */
ecs_id hand_spawn(struct hand *hand, struct hand_table *table);

/* Fills the columns of an odd table. */
void hand_spawn_many(struct hand *hand, struct hand_table *table, uint32_t n, ecs_id *ids);

void hand_despawn(struct hand *hand, ecs_id id);
void hand_despawn_all(struct hand *hand, struct hand_table *table);

/* Move an entity to the table with Velocity, and back. */
void hand_add(struct hand *hand, ecs_id id);
void hand_remove(struct hand *hand, ecs_id id);

/* The same of all rows of a table. */
void hand_add_all(struct hand *hand, struct hand_table *from);
void hand_remove_all(struct hand *hand, struct hand_table *from);

bool hand_get(const struct hand *hand, ecs_id id, struct position *position);
bool hand_set(struct hand *hand, ecs_id id, const struct position *position);
float *hand_cell(const struct hand *hand, ecs_id id);

/* What a row adds to the checksum: which entity is where, with what. */
static inline double checksum_row(uint32_t entity, uint32_t row, float px, float py) {
  return (entity + (double)px + 2 * (double)py) * (1 + row % 7);
}

static inline double checksum_velocity(uint32_t row, float vx, float vy) {
  return (3 * (double)vx + 4 * (double)vy) * (1 + row % 5);
}

double hand_checksum(const struct hand *hand);

#endif
