/* The archetype graph: finds a table by its set of ids, or along edges ("with id X", "without id
** X") from another table. Also the component index: which tables have an id. */
#ifndef ECS_CORE_STORAGE_GRAPH_H
#define ECS_CORE_STORAGE_GRAPH_H

#include "core/ids/world.h"

ecs_status graph_init(ecs_world *world);
void graph_free(ecs_world *world);

/* Iterates over the keys under which the component index lists a set of ids: ECS_NULL for all
** tables, each id, and for pairs (relation, any), each once. */
struct graph_keys {
  const ecs_id *ids;
  uint32_t count;
  uint32_t next;
  uint8_t form;              /* of the next key: the id itself, or its relation with any target */
};

static inline struct graph_keys graph_keys(const ecs_id *ids, uint32_t count) {
  return (struct graph_keys){ids, count, 0, 0};
}

/* Starts with ECS_NULL; returns false at the end. */
bool graph_next_key(struct graph_keys *keys, ecs_id *key);

/* Whether the table is listed under the key. */
bool graph_lists(const struct table *table, ecs_id key);

/* NULL if no table or query names the id yet. Its tables may be out of order. */
struct id_record *graph_record(const ecs_world *world, ecs_id id);
/* The first is graph_record with its tables in order. The second is the record of the tables with a
** component, or with any pair of it. */
struct id_record *graph_tables(const ecs_world *world, ecs_id id);
struct id_record *graph_uses(const ecs_world *world, const struct component *component);
ecs_status graph_need_record(ecs_world *world, ecs_id id, struct id_record **out);

/* Finds the table with exactly these ids, in any order; NULL if there is none, or an id is
** repeated. */
struct table *graph_find(const ecs_world *world, const ecs_id *ids, uint32_t count);

/* Finds or makes the table with exactly these ids (sorted, without duplicates). */
ecs_status graph_table(ecs_world *world, const ecs_id *ids, uint32_t count,
                       struct table **out);

/* Finds or makes the table with one id more (and its requirements) or one less, along an edge if
** there is one. Returns the same table if nothing changes. ECS_EINVAL, naming both, if another id
** of the table requires the one to remove. */
ecs_status graph_with(ecs_world *world, struct table *from, ecs_id id, struct table **out);
ecs_status graph_without(ecs_world *world, struct table *from, ecs_id id,
                         struct table **out);

/* Removes tables that have been empty since the last call. */
void graph_reclaim(ecs_world *world);
/* Removes empty tables with pairs if many have been made: an entity that gets n ties one by one
** passes through n tables of up to n ids. Nothing may hold a table. */
void graph_let_go(ecs_world *world);

/* Removes the empty tables marked as doomed. */
void graph_drop_doomed(ecs_world *world);

/* Sorts a list of tables. Returns how many at its head were in order: `count` for all. */
uint32_t graph_arrange(const ecs_world *world, uint32_t *tables, uint32_t count);

/* Forgets an id, with its tables, which have no rows, and everything that leads to them. Only
** broken queries name it. */
void graph_forget(ecs_world *world, ecs_id id);

/* Frees the tables, which have no rows, of pairs whose target dies. */
void graph_forget_target(ecs_world *world, uint32_t index);

/* Removes the opposite ends of a table's edges before the table is freed. */
void graph_unlink(const struct table *table);

/* Marks the edges of a table that is no longer plain, so its rows move the general way. */
void graph_slow_edges(struct table *table);

/* The record of all tables, in order: see world_arrive. */
const struct id_record *graph_all(const ecs_world *world);

#endif
