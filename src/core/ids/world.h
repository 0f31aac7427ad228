/* The world: what is stored, put together, and the schedule, which core/run knows. */
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
ecs_status world_nomem(const ecs_world *world);
ecs_status world_corrupt(const ecs_world *world, const char *what);   /* as a check finds */

/* ECS_EBUSY naming the operation when a system, function form or defer is open. */
ecs_status world_not_busy(const ecs_world *world, const char *operation);

/* ECS_EBUSY as world_not_busy, and also while a loop is open. */
ecs_status world_is_idle(const ecs_world *world, const char *operation);

/* "65536v0@1 is dead" and the like as the message. */
ecs_status entity_need(const ecs_world *world, ecs_id id);

/* A cell of an entity field as it reads: ECS_NULL once the target is dead. */
ecs_id entity_target(const ecs_world *world, ecs_id id);

/* The sorted id set being computed; room for `count`. NULL when out of memory. */
ecs_id *world_scratch(ecs_world *world, uint64_t count);

/* What a binding to a language gathers for one call, as far as it does not fit the C stack. */

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
  ecs_id target;      /* of a relation with several: the pair's; else ECS_NULL */
  uint32_t write_count;
  const struct write *writes;
  uint32_t stride;    /* spawning many: how far the next entity's writes are, 0 to share */
};

struct registry {
  uint64_t version;                /* counts migrations and removals, also those taken back */
  uint64_t layouts;                /* counts those that rows may have had a part in */
  bool shown;                      /* as a migration will leave it: see migration_show */
  bool requires;                   /* some component requires others, or has done so */
  bool renamed;                    /* the same of those that were called otherwise */
  uint32_t renaming;               /* names that may come back: see migration_rename */
  struct component **components;   /* by index, up to `count` */
  uint32_t count;
  uint32_t capacity;
  struct map names;                /* hash of name -> index of first, then by `next` */
  uint32_t *next;                  /* by index: the next one with the same hash */
  uint32_t next_capacity;
};

/* What the world knows of one id: its tables, and the queries that cannot match without it. The
** record of id 0 has all tables, and the queries that no id is needed for. */
struct id_record {
  ecs_id id;
  uint32_t *tables;
  uint32_t table_count;
  uint32_t table_capacity;
  ecs_query **queries;
  uint32_t query_count;
  uint32_t query_capacity;
  uint32_t doomed;        /* how many of its tables are */
  uint64_t arranged;      /* graph.placings when its tables were put in order */
};

struct graph {
  struct table **tables;          /* by index; a free one is NULL */
  uint32_t table_count;           /* indices given out */
  uint32_t table_capacity;
  uint32_t live;
  uint32_t *free_tables;          /* room for table_capacity */
  uint32_t free_count;
  uint32_t free_capacity;
  uint32_t *empties;              /* tables that may be without rows; room for all */
  uint32_t empty_count;
  uint32_t empty_capacity;
  uint32_t next_serial;
  uint64_t next_order;
  uint64_t placings;              /* how often tables have got another place in the order */
  struct map by_hash;             /* hash of a sorted id set -> first table */
  struct map records;             /* id -> index in record_list */
  struct id_record **record_list;
  uint32_t record_count;
  uint32_t record_capacity;
  uint32_t pair_tables;           /* that have pairs */
  struct table *empty;            /* the table of entities without components */
};

struct name {
  ecs_id entity;
  uint32_t hash;
  uint32_t parent;        /* the parent's index; 0: it has none */
  uint32_t awaited;       /* of a copy: the parent that it was staged to be tied to; else 0 */
  uint32_t previous, next;   /* names of the same key; NONE at the ends */
  bool hidden;            /* its entity is about to die: it is under no key */
  size_t size;
  char *text;
};

struct name_table {
  struct name *names;
  uint32_t count;
  uint32_t capacity;
  struct map by_key;      /* hash and parent -> the first name with both */
  struct map by_entity;   /* entity index -> name */
};

struct chain_map {
  uint32_t *near;              /* one more than the chain's number; 0: none */
  uint32_t near_capacity;
  struct map others;
};

enum scope_kind { SCOPE_LOOP, SCOPE_DEFER, SCOPE_SYSTEM };

struct scope {
  enum scope_kind kind;
  bool open;
  uint32_t parent;           /* the scope its commands belong to once it has ended */
  uint32_t first_command;    /* none of its commands is before it */
};

/* Someone whose loops update and run end first; on ECS_ENOMEM these stay open. What a system
** leaves open ends with it; what was staged there counts if `keep`. Where functions have been left
** by a jump, `abandon` forgets those of its own that were around them. */
struct loop_owner {
  struct loop_owner *next;
  ecs_status (*end_loops)(void *ud);
  void (*end_system)(void *ud, bool keep);
  void (*abandon)(void *ud);
  bool (*reserve_words)(void *ud, const char *refusal);   /* makes room to say that some commands do
                                                          ** not apply, before the others do */
  void *ud;
};

/* Rows of one table, which go the same way. */
struct lane {
  struct table *from;
  struct table *to;          /* once it is known: NULL where they end, `from` where they stay */
  uint32_t first_word;       /* of the bits of those that are meant; NONE: all, or are listed */
  uint32_t count;
};

/* One change of many: see batch.c. */
struct batch {
  uint32_t count;            /* of entities, and of commands but for spawns; 0: they are written */
  uint32_t room;             /* as many may come to be in the list; 0 while there are rows */
  ecs_id *entities;          /* the list */
  uint32_t capacity;
  uint32_t scope;
  uint32_t kind;             /* of the commands: to add, to remove, to despawn, or to spawn */
  ecs_id component;          /* no relation; of spawns ECS_NULL */
  bool by_rows;              /* rows of lanes are in it, in place of the list */
  struct lane *lanes;        /* of different tables */
  uint32_t lane_count, lane_capacity;
  uint64_t *words;           /* bits of rows */
  uint32_t word_count, word_capacity;
  const struct write *writes;   /* what all rows are given, where that is done at once */
  uint32_t write_count;
};

#define BROOD_PARTS 64u        /* of a kind, and writes */
#define BROODS_BESIDE 128u     /* in a block */

/* What entities are spawned with: components, and how many writes come to each. */
struct brood_kind {
  uint32_t part_count, write_count;
  ecs_id components[BROOD_PARTS];
  uint8_t writes_of[BROOD_PARTS];
  uint32_t leaves[BROOD_PARTS];   /* of the writes: no layout changes within scopes */
  uint64_t count;              /* so many entities are to be of it */
  struct table *table;         /* when they come there */
};

/* Those of a block that are of one kind. */
struct brood {
  uint32_t kind, count, room;
  uint64_t first;              /* of their cells, write by write, with room for so many each */
};

struct brood_block {
  uint32_t first, broods;      /* in the list of broods */
  uint32_t from, count;        /* of several, in the list that says of which one each entity is */
};

/* Spawns that are all that is deferred: see brood.c. */
struct broods {
  struct brood_kind *kinds;
  struct brood *list;
  struct brood_block *blocks;
  uint64_t *cells;
  uint8_t *turns;              /* whose turn it is: the brood in its block, by entity */
  uint32_t *places;            /* room for the rows of a block's entities, by brood */
  uint64_t epoch;              /* of the scopes that they are in */
  uint32_t kind_count, count, block_count, cell_count, turn_count;
  uint32_t kind_capacity, capacity, block_capacity, cell_capacity, turn_capacity, place_capacity;
};

struct staging {
  struct scope *scopes;
  uint32_t scope_count;      /* up to the last open one */
  uint32_t scope_capacity;
  uint32_t open;             /* how many are open */
  uint32_t watched;          /* how many observers are on */
  uint32_t busy;             /* how many of the scopes are not loops */
  uint64_t epoch;            /* counts outermost scopes */
  struct command *commands;
  uint32_t command_count;
  uint32_t command_capacity;
  struct write *writes;
  uint32_t write_count;
  uint32_t write_capacity;
  struct naming *namings;    /* the names that commands give, then those that they have taken */
  uint32_t naming_count;
  uint32_t naming_capacity;
  struct chain *chains;
  uint32_t chain_count;
  uint32_t chain_capacity;
  struct chain_map chain_of;
  struct batch batch;
  struct broods broods;        /* what it spawns with, if that is what it does */
  struct emission *emissions;   /* what was emitted in open scopes: see emission.h */
  uint32_t emission_count;
  uint32_t emission_capacity;
  struct loop_owner *loop_owners;
  uint32_t ties;             /* commands about relations and names, */
  uint32_t ends;             /* and those that end their entities */
  ecs_status refused;        /* why the first command that could not apply could not, */
  uint32_t refused_at;       /* which that is, */
  bool own;                  /* who gave it is told and keeps its writes (scope_end_own), */
  bool whole;                /* where it is dropped all others are, too (commands_apply), */
  const struct unborn *adopted;   /* what its spawned id was; NULL where that was taken, */
  char refusal[MESSAGE_SIZE];   /* and the message */
};

/* A tie as it was, or a name. */
struct untied {
  struct relation *relation; /* NULL: a name of the source */
  uint32_t source;
  uint32_t target;           /* 0: it was not tied; of a name: its place among namings */
  uint32_t previous;         /* among the sources of the target */
};

/* A staged pair, by its target. */
struct pending_pair {
  uint32_t command;
  uint32_t next;             /* of the same target; NONE ends it */
};

/* The command by which those die who come from one on. */
struct death_cause {
  uint32_t first, command;
};

struct cascade {
  uint32_t *dying;           /* entities' indices, in the order in which they die */
  uint32_t count, capacity;
  struct death_cause *causes;      /* only where observers are on */
  uint32_t cause_count, cause_capacity;
  uint64_t *marks;           /* a bit by index: is among them */
  uint32_t mark_capacity;
  struct untied *undo;
  uint32_t undo_count, undo_capacity;
  struct pending_pair *pending;
  uint32_t pending_count, pending_capacity;
  struct map pending_of;     /* target's index -> the last of its pending pairs */
  uint32_t at;               /* the command that is being decided */
  uint32_t removals;         /* of pairs, so far */
  uint32_t round;            /* counts cascade_finish */
  bool takes_prefabs;        /* children that are dropped from one may die */
};

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
  const char *(*callback_running)(const ecs_world *world, const char **kind);   /* update.c */
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
  uint64_t rows_run;             /* rows that functions have been run for so far */
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

/* Tells what is attached that components are about to change. */
ecs_status world_prepare_attached(ecs_world *world);

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

/* That of an entity which is alive; NULL without one. */
static inline struct table *world_table_of(const ecs_world *world, ecs_id id) {
  const struct record *record = entity_find(&world->entities, id);
  return record ? record_table(world, record) : NULL;
}

/* What a world keeps while scopes are open: these, and what was staged in them. */

static inline bool staging_is_open(const struct staging *staging) {
  return staging->open != 0;
}

/* Opens a scope where none is, if there is room for it: number 0. */
static inline bool scope_open_first(struct staging *staging, enum scope_kind kind) {
  if (UNLIKELY(staging->scope_count > 0 || staging->scope_capacity == 0)) return false;
  assert(staging->open == 0 && staging->busy == 0);
  staging->scopes[0] = (struct scope){kind, true, NONE, staging->command_count};
  staging->scope_count = staging->open = 1;
  staging->busy = kind != SCOPE_LOOP;
  staging->epoch++;
  return true;
}

/* Ends the only scope that is open, in which nothing was staged; false when that is not so. `notes`
** are of writes, for observers. */
static inline bool scope_end_first(struct staging *staging, uint32_t notes) {
  bool empty = !(staging->command_count | staging->emission_count | notes);
  if (UNLIKELY(staging->scope_count != 1 || !empty || staging->refused != ECS_OK)) return false;
  assert(staging->open == 1 && staging->scopes[0].open);
  staging->open = staging->busy = staging->scope_count = 0;
  staging->scopes[0].open = false;
  return true;
}

#endif
