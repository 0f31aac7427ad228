/* Names of entities: unique among the living, found in O(1) both ways. */
#ifndef ECS_CORE_STORE_NAME_H
#define ECS_CORE_STORE_NAME_H

#include "core/base/hash_map.h"

struct name {
  ecs_id entity;
  uint32_t hash;
  uint32_t next_same_hash;
  size_t size;
  char *text;
};

struct name_table {
  struct name *names;
  uint32_t count;
  uint32_t capacity;
  struct map by_hash;     /* -> first name with the hash */
  struct map by_entity;   /* entity index -> name */
};

/* Names an entity; ECS_ETAKEN names who has it. size 0 clears. */
ecs_status name_set(ecs_world *world, ecs_id entity, const char *text, size_t size);
/* size 0 when it has none. */
ecs_string name_of(const ecs_world *world, ecs_id entity);
ecs_id name_find(const ecs_world *world, const char *text, size_t size);
void name_forget(ecs_world *world, uint32_t entity);
void name_table_free(ecs_world *world);

/* A table with the same names; on failure nothing is kept. */
ecs_status name_table_copy(ecs_world *world, const struct name_table *from,
                           struct name_table *to);
void name_table_clear(ecs_world *world, struct name_table *table);

#endif
