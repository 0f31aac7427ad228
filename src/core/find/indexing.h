/* The indexes of a world: by name, brought up to date, looked into. */
#ifndef ECS_CORE_FIND_INDEXING_H
#define ECS_CORE_FIND_INDEXING_H

#include "core/base/arena.h"
#include "core/find/copies.h"
#include "core/find/search.h"
#include "core/store/attachment.h"
#include "ecs_index.h"

/* An index as it was at one moment. */
struct edition {
  struct edition *next;      /* of its index; the newest first */
  struct copies copies;
  struct grid grid;
  uint32_t holders;          /* loops that still go through it, */
  uint64_t held;             /* since that moment of the world: in another one nobody does */
};

struct ecs_index {
  struct ecs_index *next;    /* in the order of their first declaration */
  ecs_world *world;
  ecs_index_desc desc;       /* its texts are the index's own; `query` and variables are not kept */
  struct arena texts;
  ecs_query *query;
  struct copies rows;        /* of the query, in its order */
  struct grid_room room;
  struct edition *now;       /* NULL: never brought up to date */
  uint64_t fresh;            /* the moment for which it is up to date; 0: for none */
  uint32_t lost;             /* rows without a place, when it was brought up to date last, */
  double seconds;            /* what that took, */
  uint64_t times;            /* and how often it was */
};

/* Of a world that has had an index. */
struct finding {
  struct attachment link;
  ecs_index *first;
  uint32_t count;
  uint64_t version;          /* counts indexes that came, went, or were replaced */
};

/* The index of a name, or NULL. */
ecs_index *index_named(const ecs_world *world, const char *name, size_t size);

/* "no index is named 'x' (did you mean 'y'?)"; returns ECS_ENAME. */
ecs_status index_unknown(const ecs_world *world, const char *name, size_t size);

/* An index that is in no list yet; its query is one of the world's. */
ecs_status index_build(ecs_world *world, const ecs_index_desc *desc, ecs_index **out);

/* Room for one more, then enters one that was built: one of that name takes over its contents. */
ecs_status index_reserve(ecs_world *world);
ecs_index *index_enter(ecs_world *world, ecs_index *built);

/* Frees one that is in no list. */
void index_free(ecs_index *index);

/* Takes one out of the list and frees it. */
void index_remove(ecs_index *index);

/* After everything else has changed, as by loading. */
void indexes_forget(ecs_world *world);

/* ECS_ECORRUPT for an index that is not sound. */
ecs_status indexes_check(const ecs_world *world);

size_t index_bytes(const ecs_index *index);

#endif
