/* What observers are told: whoever applies commands notes down which entities these change, and
** which matches the queries of those who watch had before. What matches then is asked when they are
** called (sight.h). */
#ifndef ECS_CORE_COMMAND_WATCH_H
#define ECS_CORE_COMMAND_WATCH_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/ids/world.h"

struct cells_row;
struct column;
struct query_terms;

/* In the order in which they are called. */
enum watch_kind { WATCH_EXIT, WATCH_REMOVE, WATCH_DESPAWN, WATCH_ADD, WATCH_ENTER, WATCH_SET };

#define WATCH_KINDS 6

/* A match that there was, of an entity that is the one of a change. */
struct sighting {
  uint32_t change;           /* its place among the changes, which are in order */
  uint32_t values;           /* where the values of the query's variables begin, */
  uint32_t places;           /* and where its copies are: a row for each slot, or NONE */
};

/* Copies of the cells that one slot of a query has given: nothing but columns. */
struct copy {
  struct column *columns;
  uint32_t width;            /* how many columns */
  uint32_t rows;
  uint32_t capacity;         /* rows that every column has room for */
};

/* Changes from one on, in their order. */
struct change_span {
  uint32_t first, end;
};

/* The store's part of an observer. */
struct watch {
  void *owner;               /* the observer */
  enum watch_kind kind;
  ecs_query *query;
  bool on;
  uint64_t place;            /* among those of its kind, as they were registered */
  uint64_t born;             /* the epoch of the scope in which it was made; 0: in none */
  uint64_t round;            /* the last one that it was shown the changes of, */
  uint64_t asked;            /* the last one that it had its turn in, */
  uint64_t called;           /* and the last one that it was called in, */
  uint32_t first_command, end_command;   /* in which it gave these commands, */
  bool acted;                /* or any, or values */
  struct change_span *spans;        /* the changes of rows that it may match, or have matched */
  uint32_t span_count, span_capacity;
  struct sighting *sightings;
  uint32_t count, capacity;
  ecs_id *values;
  uint32_t value_count, value_capacity;
  uint32_t *places;
  uint32_t place_count, place_capacity;
  struct copy *copies;       /* by slot */
  uint32_t copy_count;
  uint64_t version;          /* registry.version that they were made in */
};

/* An entity that commands have changed. */
struct change_of {
  ecs_id entity;
  uint64_t order;            /* when the first command about it was given */
  uint32_t chain;            /* NONE: it has none */
  uint32_t target;           /* the table that it comes to, or stays in; NONE: it dies */
  uint32_t note;             /* the first and the last of its notes */
  uint32_t last_note;
  uint32_t first_gift, gift_count;
  bool dies;
  bool quiet;                /* it is where it was, and nothing of it was switched */
};

/* Values that an entity was given at once, as it had the component: no command says so. */
struct gift_note {
  ecs_id entity;
  ecs_id id;                 /* of the component or pair */
  uint32_t scope;
  uint32_t before;           /* the number of the command that would have come next */
  uint32_t next;             /* of the entity */
};

/* Of a world. The changes of a round are in `changes`, or `together`: then they are `moved`, whose
** rows all went the same way at once, outside of commands. */
struct watching {
  uint32_t sets;             /* how many of those that are on watch for values */
  uint32_t version;          /* counts up when these change */
  ecs_status (*tell)(ecs_world *world);   /* calls them all: observers_run */
  const struct watch *shown;     /* the one that is called now */
  uint64_t round;
  struct watch **concerned;  /* those that may match what the round changes: by kind, then as they
                             ** were registered, and as much room behind them; NULL: one is gone */
  uint32_t concerned_count, concerned_capacity;
  uint32_t turn;             /* how many of them, at least, have had their turn */
  uint32_t due;              /* changes that nobody has been told of yet */
  struct change_of *changes;
  uint32_t change_count, change_capacity;
  const struct change_of **order;   /* all of them, in order, and as much room behind them */
  uint32_t order_capacity;
  bool together;
  bool dying;                /* those that were moved have died */
  ecs_id *moved;             /* entities, in order */
  uint32_t moved_capacity;
  ecs_id *gifts;
  uint32_t gift_count, gift_capacity;
  struct gift_note *notes;
  uint32_t note_count, note_capacity;
  struct map change_at;      /* entity -> its change */
};

/* An observer is on, with its place; or is no longer, if it was. */
void watching_add(ecs_world *world, struct watch *watch, uint64_t place);
void watching_remove(ecs_world *world, struct watch *watch);

/* ECS_EINVAL, with the reason, for a query that cannot be watched in this way. */
ecs_status watch_check(ecs_world *world, enum watch_kind kind, const ecs_query *query);
/* For add, remove and set the first term is there switched off or not. */
void watch_see_first(enum watch_kind kind, ecs_query *query);

/* Before each use of its query: that one is asked of one entity at a time. */
void watch_prepare(const struct watch *watch);

/* Whether the first term finds targets, which tell matches of an entity apart; whether an entity
** has what it asks for, switched off or not: in that case the target among a match's values. */
bool watch_finds_values(const struct query_terms *terms);
bool watch_has_first(const ecs_world *world, const struct query_terms *terms, ecs_id entity,
                     const ecs_id *values);

/* Writes values of a component or pair that an entity has, in a scope or outside, and notes that
** down for those who watch for values. */
void watch_add_note(ecs_world *world, ecs_id entity, ecs_id id);
ecs_status watch_write(ecs_world *world, ecs_id entity, ecs_id id, const struct cells_row *cells,
                       const struct write *writes, uint32_t count);

/* What public functions of hosts end with, as observers are called before they return; with the
** status of what has been done so far, whose message is kept. */
ecs_status watch_tell(ecs_world *world, ecs_status status);

static inline ecs_status world_tell_observers(ecs_world *world, ecs_status status) {
  return LIKELY(world->watching->due == 0) ? status : watch_tell(world, status);
}

/* Room for so many notes: watch_write in a scope cannot fail then. */
ecs_status watch_need_notes(ecs_world *world, uint64_t more);

/* When commands are dropped those behind them move up: notes from `note` on that stand before one
** of the old number stand before the new one. Returns the first note behind them. */
uint32_t watch_renumber(ecs_world *world, uint32_t note, uint32_t before, uint32_t now);

/* Drops the notes of a scope, all of them for NONE; hands those of a scope that has ended on. */
void watch_drop_notes(ecs_world *world, uint32_t scope);
void watch_inherit(ecs_world *world, uint32_t scope, uint32_t heir);

/* The n-th change in their order. */
static inline struct change_of watch_change(const struct watching *watching, uint32_t n) {
  assert(n < watching->change_count);
  if (!watching->together) return *watching->order[n];
  return (struct change_of){.entity = watching->moved[n], .dies = watching->dying};
}

/* Forgets what a round has been about; what one has seen of it. */
void watch_forget_changes(ecs_world *world);
void watch_forget_matches(struct watch *watch);

/* Forgets the copies of a watch, of which none is shown; frees what a watch has, but not itself. */
void watch_free_copies(ecs_world *world, struct watch *watch);
void watch_free(ecs_world *world, struct watch *watch);
/* Of a world. */
ecs_status watching_init(ecs_world *world);
void watching_free(ecs_world *world);

/* What observers are to be told of commands that are about to apply. */

/* Once all commands are planned: a new round; notes down whom they change, in the order of their
** first commands, and who is given values. */
ecs_status watch_changes(ecs_world *world);

/* Then, while everything is what it was, ties too: notes down what of these matches. From then on
** nothing is missing, and watching.due says that somebody is to be told. */
ecs_status watch_matches(ecs_world *world);

/* Notes rows that are about to change alike without any command: begin, then the rows of one
** table after the other, those whose bits are set, or all where there are no bits, with the table
** that they come to (NULL: their entities die), then end: somebody is to be told. It takes, and
** returns, what came of the others: with an error nothing is noted down. */
ecs_status watch_rows_begin(ecs_world *world);
ecs_status watch_rows(ecs_world *world, struct table *from, struct table *to,
                      const uint64_t *bits);
ecs_status watch_rows_end(ecs_world *world, ecs_status status);

#endif
