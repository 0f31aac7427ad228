/* The archetype graph: finding a table by its set of ids, and by the edges "with id X" and
** "without id X" from another table. Also the component index: which tables have an id. */
#ifndef ECS_CORE_STORAGE_GRAPH_H
#define ECS_CORE_STORAGE_GRAPH_H

#include "core/ids/world.h"

ecs_status graph_init(ecs_world *world);
void graph_free(ecs_world *world);

/* What the component index lists a set of ids by: ECS_NULL, for all tables, each of the ids, and
** for its pairs (relation, any), each once. */
struct graph_keys {
  const ecs_id *ids;
  uint32_t count;
  uint32_t next;
  uint8_t form;              /* of the next key: an id itself, or its relation with any target */
};

static inline struct graph_keys graph_keys(const ecs_id *ids, uint32_t count) {
  return (struct graph_keys){ids, count, 0, 0};
}

/* Begins with ECS_NULL; false at the end. */
bool graph_next_key(struct graph_keys *keys, ecs_id *key);

/* Whether the key is one of the table's. */
bool graph_lists(const struct table *table, ecs_id key);

/* NULL when no table or query names the id yet. Its tables may be out of order. */
struct id_record *graph_record(const ecs_world *world, ecs_id id);
/* graph_record with its tables in order; and that of those with a component, or any pair of it. */
struct id_record *graph_tables(const ecs_world *world, ecs_id id);
struct id_record *graph_uses(const ecs_world *world, const struct component *component);
ecs_status graph_need_record(ecs_world *world, ecs_id id, struct id_record **out);

/* The table with exactly these ids, in whatever order; NULL when there is none, or an id is there
** twice. */
struct table *graph_find(const ecs_world *world, const ecs_id *ids, uint32_t count);

/* The table with exactly these ids (sorted, each once), made when there is none. */
ecs_status graph_table(ecs_world *world, const ecs_id *ids, uint32_t count,
                       struct table **out);

/* The table with one id more, and what that requires, or with one less; follows an edge when it
** was gone before. Gives the same table when nothing changes. ECS_EINVAL, naming both, when
** something else in the table requires the one to go. */
ecs_status graph_with(ecs_world *world, struct table *from, ecs_id id, struct table **out);
ecs_status graph_without(ecs_world *world, struct table *from, ecs_id id,
                         struct table **out);

/* Removes tables that have been empty since the last call. */
void graph_reclaim(ecs_world *world);

/* Removes the empty tables marked as doomed. */
void graph_drop_doomed(ecs_world *world);

/* Puts a list of tables in order. Returns up to where it was: `count` for all. */
uint32_t graph_arrange(const ecs_world *world, uint32_t *tables, uint32_t count);

/* Forgets an id: its tables, which have no rows, and all that leads to them. No query that
** is not broken names it. */
void graph_forget(ecs_world *world, ecs_id id);

/* Frees the tables, which have no rows, of pairs with a target that goes. */
void graph_forget_target(ecs_world *world, uint32_t index);

/* Takes away the other ends of a table's edges, before it goes. */
void graph_unlink(const struct table *table);

/* Rows of a table that is no longer plain are moved the slow way. */
void graph_slow_edges(struct table *table);

/* All tables, in order: see world_arrive. */
const struct id_record *graph_all(const ecs_world *world);

#endif
