/* What observers are told. While commands are applied, notes record which entities change and which
** of the watched queries they matched before. New matches are found when observers are called
** (cursor.h). */
#ifndef ECS_CORE_COMMAND_WATCH_H
#define ECS_CORE_COMMAND_WATCH_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/ids/world.h"

struct cells_row;
struct column;
struct query_terms;

/* In the order in which observers are called. */
enum watch_kind { WATCH_EXIT, WATCH_REMOVE, WATCH_DESPAWN, WATCH_ADD, WATCH_ENTER, WATCH_SET };

#define WATCH_KINDS 6

/* A match of the changed entity that existed before the change. */
struct sighting {
  uint32_t change;           /* index of the change, in order */
  uint32_t values;           /* first of the values of the query's variables, */
  uint32_t places;           /* and first of its copies: a row for each slot, or NONE */
};

/* Copies of the cells that one slot of a query yielded, as columns. */
struct copy {
  struct column *columns;
  uint32_t width;            /* number of columns */
  uint32_t rows;
  uint32_t capacity;         /* rows that fit in every column */
};

/* A range of consecutive changes. */
struct change_span {
  uint32_t first, end;
};

/* The store's part of an observer. */
struct watch {
  void *owner;               /* the observer */
  enum watch_kind kind;
  ecs_query *query;
  bool on;
  uint64_t place;            /* order of registration among its kind */
  uint64_t born;             /* epoch of the scope in which it was created; 0: none */
  uint64_t round;            /* last round whose changes it was shown, */
  uint64_t asked;            /* last round in which it had its turn, */
  uint64_t called;           /* and in which it was called, */
  uint32_t first_command, end_command;   /* during which it gave these commands, */
  bool acted;                /* whether it gave any, or wrote values */
  struct change_span *spans;        /* changes of rows that match or matched it */
  uint32_t span_count, span_capacity;
  struct sighting *sightings;
  uint32_t count, capacity;
  ecs_id *values;
  uint32_t value_count, value_capacity;
  uint32_t *places;
  uint32_t place_count, place_capacity;
  struct copy *copies;       /* by slot */
  uint32_t copy_count;
  uint64_t version;          /* registry.version when they were made */
};

/* An entity that commands have changed. */
struct change_of {
  ecs_id entity;
  uint64_t order;            /* place of the first command about it */
  uint32_t chain;            /* NONE if it has none */
  uint32_t target;           /* the table that it moves to or stays in; NONE if it dies */
  uint32_t note;             /* its first and last note */
  uint32_t last_note;
  uint32_t first_gift, gift_count;
  bool dies;
  bool quiet;                /* it did not move, and no component of it was switched */
};

/* A note of values that were written at once to an existing component, without a command. */
struct gift_note {
  ecs_id entity;
  ecs_id id;                 /* the component or pair */
  uint32_t scope;
  uint32_t before;           /* number of the next command at that time */
  uint32_t next;             /* next note of the entity */
};

/* The observers of a world. The changes of a round are in `changes`, or in `together` with `moved`:
** rows that all moved the same way at once, without commands. */
struct watching {
  uint32_t sets;             /* number of switched on observers with on = "set" */
  uint32_t version;          /* incremented when these change */
  ecs_status (*tell)(ecs_world *world);   /* calls them all: observers_run */
  const struct watch *shown;     /* the one that is being called */
  uint64_t round;
  struct watch **concerned;  /* observers that the round may concern, by kind and registration,
                             ** followed by as much free room; NULL: removed */
  uint32_t concerned_count, concerned_capacity;
  uint32_t turn;             /* at least that many of them have had their turn */
  uint32_t due;              /* changes that no observer has been told of yet */
  struct change_of *changes;
  uint32_t change_count, change_capacity;
  const struct change_of **order;   /* all of them in order, followed by as much free room */
  uint32_t order_capacity;
  bool together;
  bool dying;                /* the moved rows have died */
  ecs_id *moved;             /* entities in order */
  uint32_t moved_capacity;
  ecs_id *gifts;
  uint32_t gift_count, gift_capacity;
  struct gift_note *notes;
  uint32_t note_count, note_capacity;
  struct map change_at;      /* entity -> its change */
};

/* Adds an observer that is switched on, with its place, or removes it. */
void watching_add(ecs_world *world, struct watch *watch, uint64_t place);
void watching_remove(ecs_world *world, struct watch *watch);
/* Whether an observer with on = "set" watches a component. */
bool watching_sets_of(const ecs_world *world, ecs_id component);

/* Checks whether a query can be watched in this way. ECS_EINVAL with the reason. */
ecs_status watch_check(ecs_world *world, enum watch_kind kind, const ecs_query *query);
/* Makes the first term of add, remove and set match whether it is switched off or not. */
void watch_see_first(enum watch_kind kind, ecs_query *query);

/* Whether the first term finds targets, which distinguish an entity's matches. The second: whether
** an entity has the first term, switched on or off; if so, its target is among the match's
** values. */
bool watch_finds_values(const struct query_terms *terms);
bool watch_has_first(const ecs_world *world, const struct query_terms *terms, ecs_id entity,
                     const ecs_id *values);

/* Writes values to an existing component or pair, inside a scope or not, and notes it for observers
** with on = "set". */
void watch_add_note(ecs_world *world, ecs_id entity, ecs_id id);
ecs_status watch_write(ecs_world *world, ecs_id entity, ecs_id id, const struct cells_row *cells,
                       const struct write *writes, uint32_t count);

/* Called at the end of public functions: calls observers before they return. Takes and keeps the
** status so far and its message. */
ecs_status watch_tell(ecs_world *world, ecs_status status);

static inline ecs_status world_tell_observers(ecs_world *world, ecs_status status) {
  return LIKELY(world->watching->due == 0) ? status : watch_tell(world, status);
}

/* Reserves notes, so that watch_write in a scope cannot fail. */
ecs_status watch_need_notes(ecs_world *world, uint64_t more);

/* Renumbers notes when commands are dropped: those from `note` on that stood before the old number
** stand before the new one. Returns the first note after them. */
uint32_t watch_renumber(ecs_world *world, uint32_t note, uint32_t before, uint32_t now);

/* Drops the notes of a scope (NONE: all). The second passes on the notes of a scope that has
** ended. */
void watch_drop_notes(ecs_world *world, uint32_t scope);
void watch_inherit(ecs_world *world, uint32_t scope, uint32_t heir);

/* The n-th change in their order. */
static inline struct change_of watch_change(const struct watching *watching, uint32_t n) {
  assert(n < watching->change_count);
  if (!watching->together) return *watching->order[n];
  return (struct change_of){.entity = watching->moved[n], .dies = watching->dying};
}

/* The first forgets a round. The second begins one for an observer that has seen nothing of it, and
** makes its query look at one entity at a time. */
void watch_forget_changes(ecs_world *world);
void watch_begin_round(struct watch *watch);

/* Forgets the copies of a watch, none of which is in use. The second frees what a watch owns, but
** not itself. */
void watch_free_copies(ecs_world *world, struct watch *watch);
void watch_free(ecs_world *world, struct watch *watch);
/* Frees the observers of a world. */
void watching_free(ecs_world *world);

/* Records what observers will be told about commands that are about to apply. */

/* Starts a round, once all commands are planned: records the entities that they change, in the
** order of their first commands, and which are given values. */
ecs_status watch_changes(ecs_world *world);

/* Records the matches of these entities while everything, ties included, is unchanged. From then on
** nothing can be lost, and watching.due is set. */
ecs_status watch_matches(ecs_world *world);

/* Records rows that change alike without commands: begin, then the rows of each table (those whose
** bits are set, or all) with the table they move to (NULL: they die), then end. Each takes and
** returns the status so far; on an error nothing is recorded. */
ecs_status watch_rows_begin(ecs_world *world);
ecs_status watch_rows(ecs_world *world, struct table *from, struct table *to,
                      const uint64_t *bits);
ecs_status watch_rows_end(ecs_world *world, ecs_status status);

#endif
