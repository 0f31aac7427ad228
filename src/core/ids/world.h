/* The world: everything that it stores, and its schedule, which only core/schedule knows. */
#ifndef ECS_CORE_IDS_WORLD_H
#define ECS_CORE_IDS_WORLD_H

#include "core/base/any.h"
#include "core/base/base.h"
#include "core/base/chance.h"
#include "core/base/hash_map.h"
#include "core/base/intern.h"
#include "core/base/memory.h"
#include "core/ids/entity_index.h"

struct attachment;
struct chain;
struct clone;
struct command;
struct component;
struct emission;
struct event;
struct finding;
struct naming;
struct part;
struct pool;
struct relation;
struct schedule;
struct sparse;
struct table;
struct watching;
struct write;

/* Failing: a status, and the world's message that says why. */

/* Sets the message and returns the status. */
FORMAT(3, 4)
ecs_status world_fail(const ecs_world *world, ecs_status status, const char *format, ...);

/* The names of components, systems or phases that a failure is about, for hosts that know where
** they were declared. Valid right after it: the names are not copied. */
#define BLAME_LIMIT 8u
struct blame {
  const char *names[BLAME_LIMIT];
  uint32_t count;
};

/* Adds a name, or none for NULL. Returns the status. */
ecs_status world_blame(const ecs_world *world, ecs_status status, const char *name);

ecs_status world_nomem(const ecs_world *world);
ecs_status world_corrupt(const ecs_world *world, const char *what);   /* for what a check finds */

/* ECS_EBUSY, naming the operation, while a system, function form or defer is open. */
ecs_status world_not_busy(const ecs_world *world, const char *operation);

/* As world_not_busy, and also ECS_EBUSY while a loop is open. */
ecs_status world_is_idle(const ecs_world *world, const char *operation);

/* Fails unless the entity is alive, with "65536v0@1 is dead" and the like. */
ecs_status entity_need(const ecs_world *world, ecs_id id);

/* The value of an entity field as it reads: ECS_NULL once the target is dead. */
ecs_id entity_target(const ecs_world *world, ecs_id id);

/* A buffer with room for `count` ids, for the set being computed. NULL when out of memory. */
ecs_id *world_scratch(ecs_world *world, uint64_t count);

/* What a binding to a language collects for one call, if it does not fit on the C stack. */

struct scratch {
  uint32_t *pending;             /* any slots */
  uint32_t pending_capacity;
  struct write *writes;
  uint32_t write_capacity;
  struct part *parts;
  uint32_t part_capacity;
};

void scratch_free(struct memory *memory, struct scratch *scratch);

/* One component of an entity to be spawned, with values for some of its leaves. */
struct part {
  struct component *component;
  ecs_id target;      /* of a relation with several targets: the pair's; otherwise ECS_NULL */
  uint32_t write_count;
  const struct write *writes;
  uint32_t stride;    /* spawning many: distance to the next entity's writes, 0 to share */
};

struct registry {
  uint64_t version;                /* counts migrations and removals, including undone ones */
  uint64_t layouts;                /* counts those that may have changed rows */
  bool shown;                      /* it shows the state after a migration: see migration_show */
  bool requires;                   /* some component requires others, or has done so */
  bool renamed;                    /* some component has a former name, or has had one */
  uint32_t renaming;               /* number of former names that an undo may bring back */
  struct component **components;   /* by index, up to `count` */
  uint32_t count;
  uint32_t capacity;
  struct map names;                /* hash of name -> index of the first, then by `next` */
  uint32_t *next;                  /* by index: next one with the same hash */
  uint32_t next_capacity;
};

/* The record of one id: its tables, and the queries that cannot match without it. The record of id
** 0 has all tables, and the queries that need no id. */
struct id_record {
  ecs_id id;
  uint32_t *tables;
  uint32_t table_count;
  uint32_t table_capacity;
  ecs_query **queries;
  uint32_t query_count;
  uint32_t query_capacity;
  uint32_t doomed;        /* number of doomed tables among these */
  uint64_t arranged;      /* graph.placings when its tables were sorted */
};

struct graph {
  struct table **tables;          /* by index; NULL if free */
  uint32_t table_count;           /* indices given out */
  uint32_t table_capacity;
  uint32_t live;
  uint32_t *free_tables;          /* capacity: table_capacity */
  uint32_t free_count;
  uint32_t free_capacity;
  uint32_t *empties;              /* tables that may be empty; capacity for all */
  uint32_t empty_count;
  uint32_t empty_capacity;
  uint32_t next_serial;
  uint64_t next_order;
  uint64_t placings;              /* counts changes to the order of tables */
  struct map by_hash;             /* hash of a sorted id set -> first table */
  struct map records;             /* id -> index in record_list */
  struct id_record **record_list;
  uint32_t record_count;
  uint32_t record_capacity;
  uint32_t pair_tables;           /* tables that have pairs; and, since empty ones were freed, */
  uint64_t made_ids;              /* the ids of those made: see graph_let_go */
  struct table *empty;            /* the table without components */
};

struct name {
  ecs_id entity;
  uint32_t hash;
  uint32_t parent;        /* index of the parent, or 0 */
  uint32_t awaited;       /* of a copy: the parent that it will be tied to; otherwise 0 */
  uint32_t previous, next;   /* names with the same key; NONE at the ends */
  bool hidden;            /* its entity is about to die: it has no key */
  size_t size;
  char *text;
};

struct name_table {
  struct name *names;
  uint32_t count;
  uint32_t capacity;
  struct map by_key;      /* hash and parent -> first name with both */
  struct map by_entity;   /* entity index -> name */
};

struct chain_map {
  uint32_t *near;              /* number of the chain plus 1; 0: none */
  uint32_t near_capacity;
  struct map others;
};

enum scope_kind { SCOPE_LOOP, SCOPE_DEFER, SCOPE_SYSTEM };

struct scope {
  enum scope_kind kind;
  bool open;
  uint32_t parent;           /* the scope that gets its commands once it has ended */
  uint32_t first_command;    /* none of its commands comes before this one */
};

/* An owner of loops that update and run must end first; with ECS_ENOMEM these stay open. Loops that
** a system leaves open end with it; what they staged is kept if `keep`. `abandon` forgets those of
** its own functions that were left by a jump. */
struct loop_owner {
  struct loop_owner *next;
  ecs_status (*end_loops)(void *ud);
  void (*end_system)(void *ud, bool keep);
  void (*abandon)(void *ud);
  bool (*reserve_words)(void *ud, const char *refusal);   /* reserves memory for a refusal of
                                                          ** commands, before others apply */
  void *ud;
};

/* Rows of one table that move the same way. */
struct lane {
  struct table *from;
  struct table *to;          /* once known: NULL if they die, `from` if they stay */
  uint32_t first_word;       /* first word of the bits of the chosen rows; NONE: all, or listed */
  uint32_t count;
};

/* One change to many entities: see batch.c. */
struct batch {
  uint32_t count;            /* of entities, and of commands except for spawns; 0: commands are
                             ** written */
  uint32_t room;             /* capacity of the list; 0 while there are rows */
  ecs_id *entities;          /* the list */
  uint32_t capacity;
  uint32_t scope;
  uint32_t kind;             /* add, remove, despawn or spawn */
  ecs_id component;          /* not a relation; ECS_NULL for spawns */
  bool by_rows;              /* it holds rows in lanes, not the list */
  struct lane *lanes;        /* of different tables */
  uint32_t lane_count, lane_capacity;
  uint64_t *words;           /* bits of rows */
  uint32_t word_count, word_capacity;
  const struct write *writes;   /* what all rows are given, if done at once */
  uint32_t write_count;
};

#define BROOD_PARTS 64u        /* of a kind, and writes */
#define BROODS_BESIDE 128u     /* in a block */

/* What entities are spawned with: components, and the number of writes to each. */
struct brood_kind {
  uint32_t part_count, write_count;
  ecs_id components[BROOD_PARTS];
  uint8_t writes_of[BROOD_PARTS];
  uint32_t leaves[BROOD_PARTS];   /* of the writes: layouts do not change inside scopes */
  uint64_t count;              /* number of entities it will have */
  struct table *table;         /* their table, once found */
};

/* The entities of a block that are of one kind. */
struct brood {
  uint32_t kind, count, room;
  uint64_t first;              /* their cells, write by write, with room for that many each */
};

struct brood_block {
  uint32_t first, broods;      /* in the list of broods */
  uint32_t from, count;        /* with several: in the list of turns, which brood each entity
                               ** belongs to */
};

/* The spawns of scopes in which nothing else is deferred: see brood.c. */
struct broods {
  struct brood_kind *kinds;
  struct brood *list;
  struct brood_block *blocks;
  uint64_t *cells;
  uint8_t *turns;              /* by entity: the brood in its block */
  uint32_t *places;            /* room for the rows of a block's entities, by brood */
  uint64_t epoch;              /* of the scopes that they are in */
  uint32_t kind_count, count, block_count, cell_count, turn_count;
  uint32_t kind_capacity, capacity, block_capacity, cell_capacity, turn_capacity, place_capacity;
};

struct staging {
  struct scope *scopes;
  uint32_t scope_count;      /* up to the last open one */
  uint32_t scope_capacity;
  uint32_t open;             /* number of open ones */
  uint32_t watched;          /* number of switched on observers */
  uint32_t busy;             /* number of scopes that are not loops */
  uint64_t epoch;            /* counts outermost scopes */
  struct command *commands;
  uint32_t command_count;
  uint32_t command_capacity;
  struct write *writes;
  uint32_t write_count;
  uint32_t write_capacity;
  struct naming *namings;    /* names that commands give, then those that they have removed */
  uint32_t naming_count;
  uint32_t naming_capacity;
  struct chain *chains;
  uint32_t chain_count;
  uint32_t chain_capacity;
  struct chain_map chain_of;
  struct batch batch;
  struct broods broods;        /* kinds and broods, if it spawns */
  struct emission *emissions;   /* what was emitted in open scopes: see emission.h */
  uint32_t emission_count;
  uint32_t emission_capacity;
  struct loop_owner *loop_owners;
  uint32_t ties;             /* commands about relations and names, */
  uint32_t ends;             /* and those that end their entities */
  ecs_status refused;        /* why the first refused command could not apply, */
  uint32_t refused_at;       /* which one it is, */
  bool own;                  /* its caller is told and keeps its writes (scope_end_own), */
  bool whole;                /* if it is dropped, so are all others (commands_apply), */
  const struct unborn *adopted;   /* what its spawned id was before; NULL if it was taken, */
  char refusal[MESSAGE_SIZE];   /* and the message */
};

/* A former tie, or a former name. */
struct untied {
  struct relation *relation; /* NULL: a name of the source */
  uint32_t source;
  uint32_t target;           /* 0: it was not tied; for a name: its place in namings */
  uint32_t previous;         /* previous source of the same target */
};

/* A staged pair, by its target. */
struct pending_pair {
  uint32_t command;
  uint32_t next;             /* of the same target; NONE at the end */
};

/* The command that kills the entities from a place on. */
struct death_cause {
  uint32_t first, command;
};

struct cascade {
  uint32_t *dying;           /* indices of entities, in the order in which they die */
  uint32_t count, capacity;
  struct death_cause *causes;      /* only if observers are on */
  uint32_t cause_count, cause_capacity;
  uint64_t *marks;           /* a bit by index: whether it is among them */
  uint32_t mark_capacity;
  struct untied *undo;
  uint32_t undo_count, undo_capacity;
  struct pending_pair *pending;
  uint32_t pending_count, pending_capacity;
  struct map pending_of;     /* index of target -> its last pending pair */
  uint32_t at;               /* the command being decided */
  uint32_t removals;         /* removals of pairs so far */
  uint32_t round;            /* counts cascade_finish */
  bool takes_prefabs;        /* children that are dropped from a prefab may die */
};

/* The relations of a world: see relation.h. */
struct relations {
  uint64_t tied;                 /* sources of all exclusive relations */
  struct relation **list;        /* by component id */
  uint32_t count;
  uint32_t capacity;
  struct relation *child_of;     /* set once named: see relation.h */
  struct relation *is_a, *prefab;   /* likewise */
};

/* The sparse sets of a world: see sparse.h. */
struct sparses {
  struct sparse **list;          /* by component id */
  uint32_t count;
  uint32_t capacity;
  size_t rows;                   /* of all sets */
};

/* The events of a world: see event.h. */
struct events {
  struct event **list;           /* by component id */
  uint32_t count;
  uint32_t capacity;
  struct column_buffer *retired; /* cells that open loops may still show */
  uint32_t retired_count;
  uint32_t retired_capacity;
  const ecs_query *read_by;      /* the query of the running system, if it reads events, */
  uint64_t from, until;          /* and the range of numbers that it reads */
};

/* Prefabs that were declared in this world, not loaded, in order; some may be gone. */
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
  struct clone *clone;           /* the last copy; NULL before the first: see clone.h */
  struct declared declared;
  struct watching *watching;     /* the observers: see watch.h */
  struct schedule *schedule;
  const char *(*callback_running)(const ecs_world *world, const char **kind);   /* update.c */
  ecs_query *first_query, *last_query;
  struct passage *passages;      /* of open C iterators: see cursor.h */
  uint32_t last_table;           /* table of the last spawn, if it still exists */
  uint64_t seed;
  uint64_t tick;                 /* number of updates */
  uint64_t now;                  /* number of runs plus 1: the mark of what is written now */
  bool updating;                 /* an update is in progress */
  bool running;                  /* a system is running */
  bool shared;                   /* on several threads: nothing may change the world */
  uint64_t arrivals;             /* how often a table got its first row */
  uint64_t rows_run;             /* rows that functions have run for */
  uint64_t moment;               /* counts runs of systems and the intervals between them */
  struct chance chance;          /* the current source of random numbers */
  ecs_id *scratch;               /* the id set being computed */
  uint32_t scratch_capacity;
  struct write *writes;          /* cells of a component being set */
  uint32_t write_capacity;
  struct part *parts;            /* components of a spawn */
  uint32_t part_capacity;
  struct write *tie_writes;      /* a relation's cells after the target's */
  uint32_t tie_write_capacity;
  struct scratch binding;
  struct attachment *attachments;
  struct pool *pool;             /* threads that share its work; NULL: only one */
  struct finding *finding;       /* its indexes; NULL: never had one */
  char *message;                 /* MESSAGE_SIZE bytes; separate, so that const readers can fail,
                                 ** too, as is */
  struct blame *blame;           /* what the message is about */
};

/* Tells attachments that components are about to change. */
ecs_status world_prepare_attached(ecs_world *world);

/* Releases every any slot in the world's cells, which then hold none. */
void world_release_any(ecs_world *world, struct any_slots *any);

static inline struct table *world_table(const ecs_world *world, uint32_t index) {
  assert(index < world->graph.table_count);
  return world->graph.tables[index];
}

/* Changes whenever a query may have got rows; together with the registry's version it covers all
** that its terms depend on. */
static inline uint64_t world_arrived(const ecs_world *world) {
  return world->arrivals + world->registry.version + 1;
}

/* Begins another moment: what was found in indexes before becomes stale. */
static inline void world_turn(ecs_world *world) { world->moment++; }

/* Whether components in tables may require sparse ones, or the reverse. */
static inline bool sparse_is_mixed(const ecs_world *world) {
  return world->registry.requires && world->sparses.count;
}

/* The table of a living entity; NULL if it has no row. */
static inline struct table *record_table(const ecs_world *world, const struct record *record) {
  return UNLIKELY(record->table == RECORD_BARE) ? NULL : world_table(world, record->table);
}

/* The table of a living entity given by id; NULL if it has no row. */
static inline struct table *world_table_of(const ecs_world *world, ecs_id id) {
  const struct record *record = entity_find(&world->entities, id);
  return record ? record_table(world, record) : NULL;
}

/* What a world keeps while scopes are open: the scopes, and what was staged in them. */

static inline bool staging_is_open(const struct staging *staging) {
  return staging->open != 0;
}

/* Opens a scope if none is open and there is room; its number is 0. */
static inline bool scope_open_first(struct staging *staging, enum scope_kind kind) {
  if (UNLIKELY(staging->scope_count > 0 || staging->scope_capacity == 0)) return false;
  assert(staging->open == 0 && staging->busy == 0);
  staging->scopes[0] = (struct scope){kind, true, NONE, staging->command_count};
  staging->scope_count = staging->open = 1;
  staging->busy = kind != SCOPE_LOOP;
  staging->epoch++;
  return true;
}

/* Ends the only open scope if nothing was staged in it; otherwise returns false. `notes` are of
** writes, for observers. */
static inline bool scope_end_first(struct staging *staging, uint32_t notes) {
  bool empty = !(staging->command_count | staging->emission_count | notes);
  if (UNLIKELY(staging->scope_count != 1 || !empty || staging->refused != ECS_OK)) return false;
  assert(staging->open == 1 && staging->scopes[0].open);
  staging->open = staging->busy = staging->scope_count = 0;
  staging->scopes[0].open = false;
  return true;
}

#endif
