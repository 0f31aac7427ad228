/* What the commands of a scope do to ties and names, and who dies of them. It is decided in the
** order in which the commands were given, over all entities, before any row moves, and can be taken
** back as long as none has. All that will die with an entity is found breadth first: relations by
** id, sources in their order. */
#ifndef ECS_CORE_COMMAND_CASCADE_H
#define ECS_CORE_COMMAND_CASCADE_H

#include "core/base/hash_map.h"

struct relation;

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

/* Decides for all staged commands. A command that cannot apply is dropped, and the first reason
** is kept (staging_refuse). ECS_ENOMEM leaves ties and names as they were. */
ecs_status cascade_decide(ecs_world *world);

/* Ties and names are again what they were before cascade_decide. Cannot fail. */
void cascade_undo(ecs_world *world);

/* Nothing is decided any more. Cannot fail. */
void cascade_forget(struct cascade *cascade);

static inline bool cascade_takes(const struct cascade *cascade, uint32_t entity) {
  return cascade->count && entity / 64 < cascade->mark_capacity &&
         (cascade->marks[entity / 64] >> entity % 64 & 1);
}

void cascade_free(ecs_world *world);

#endif
