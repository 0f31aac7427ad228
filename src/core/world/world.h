/* The world: what is stored, put together, and the schedule, which core/run knows. */
#ifndef ECS_CORE_WORLD_WORLD_H
#define ECS_CORE_WORLD_WORLD_H

#include "core/base/any.h"
#include "core/base/chance.h"
#include "core/base/intern.h"
#include "core/base/memory.h"
#include "core/command/cascade.h"
#include "core/ids/fail.h"
#include "core/storage/id_record.h"
#include "core/entity/name.h"
#include "core/ids/record.h"
#include "core/storage/registry.h"
#include "core/ids/scratch.h"
#include "core/ids/staging.h"

struct attachment;
struct clone;
struct event;
struct part;
struct passage;
struct pool;
struct relation;
struct schedule;
struct sparse;

/* What keeps relations: see relation.h. */
struct relations {
  uint64_t tied;                 /* sources of all exclusive ones */
  struct relation **list;        /* by their components' ids */
  uint32_t count;
  uint32_t capacity;
  struct relation *child_of;     /* as soon as anybody has named it: see builtin.h */
  struct relation *is_a, *prefab;   /* the same */
};

/* What keeps sparse components: see sparse.h. */
struct sparses {
  struct sparse **list;          /* by their components' ids */
  uint32_t count;
  uint32_t capacity;
  size_t rows;                   /* of all */
};

/* What keeps events: see event.h. */
struct events {
  struct event **list;           /* by their components' ids */
  uint32_t count;
  uint32_t capacity;
  struct column_buffer *retired; /* cells that loops which are open may still show */
  uint32_t retired_count;
  uint32_t retired_capacity;
  const ecs_query *read_by;      /* the query of the system that runs, if it reads events, */
  uint64_t from, until;          /* and the numbers that it goes through */
};

/* Prefabs that were declared in this world, rather than loaded, in that order; some may be gone. */
struct declared {
  ecs_id *prefabs;
  uint32_t count, capacity;
};

struct ecs_world {
  struct memory memory;
  struct entity_index entities;
  struct registry registry;
  struct graph graph;
  struct staging staging;
  struct intern_table strings;
  struct any_slots any;
  struct name_table names;
  struct relations relations;
  struct sparses sparses;
  struct events events;
  struct cascade cascade;
  struct clone *clone;           /* what was copied last; NULL before: see clone.h */
  struct declared declared;
  struct watching *watching;     /* what observers are to be told: watch.h */
  struct schedule *schedule;
  ecs_query *first_query, *last_query;
  struct passage *passages;      /* of C iterators that are open: passage.h */
  uint32_t last_table;           /* where the last spawn went, if it is still there */
  uint64_t seed;
  uint64_t tick;                 /* updates so far */
  uint64_t now;                  /* runs so far, and one: what is written is marked with it */
  bool updating;                 /* systems run */
  bool running;                  /* one does */
  bool shared;                   /* on several threads: nobody may change the world */
  uint64_t arrivals;             /* how often a table got its first row */
  uint64_t moment;               /* counts runs of systems and what lies between: see find */
  struct chance chance;          /* where random numbers are drawn from now */
  ecs_id *scratch;               /* id sets being computed */
  uint32_t scratch_capacity;
  struct write *writes;          /* a component's cells on their way in */
  uint32_t write_capacity;
  struct part *parts;            /* a spawn's components */
  uint32_t part_capacity;
  struct write *tie_writes;      /* a relation's cells with the target before them */
  uint32_t tie_write_capacity;
  struct scratch binding;
  struct attachment *attachments;
  struct pool *pool;             /* that share its work; NULL: one thread does it */
  struct finding *finding;       /* its indexes, which core/find knows; NULL: never had one */
  char *message;                 /* MESSAGE_SIZE bytes, so that const readers can fail too */
};

/* For core/world/lifetime.h: begins a world whose memory and message are set, and frees all that it
** stores, when attachments and schedule are gone. */
ecs_status world_init(ecs_world *world, uint32_t tag, uint64_t seed);
void world_clear(ecs_world *world);

/* Releases every any slot that the world's cells hold; they hold none then. */
void world_release_any(ecs_world *world, struct any_slots *any);

static inline struct table *world_table(const ecs_world *world, uint32_t index) {
  assert(index < world->graph.table_count);
  return world->graph.tables[index];
}

/* Counts up whenever a query may have come to have rows: with the registry's version that of what
** can be known of its terms. */
static inline uint64_t world_arrived(const ecs_world *world) {
  return world->arrivals + world->registry.version + 1;
}

/* Begins another moment: what has been found in indexes before is no longer looked at. */
static inline void world_turn(ecs_world *world) { world->moment++; }

/* Whether what entities have in tables may require what they have elsewhere, or the other way. */
static inline bool sparse_is_mixed(const ecs_world *world) {
  return world->registry.requires && world->sparses.count;
}

/* The table of a living entity; NULL when it has no row. */
static inline struct table *record_table(const ecs_world *world, const struct record *record) {
  return UNLIKELY(record->table == RECORD_BARE) ? NULL : world_table(world, record->table);
}

#endif
