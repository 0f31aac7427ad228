/* What an index is made of. */
#ifndef ECS_CORE_INDEX_EDITION_H
#define ECS_CORE_INDEX_EDITION_H

#include "core/base/arena.h"
#include "core/index/copies.h"
#include "core/index/keyed.h"
#include "core/index/search.h"
#include "core/index/splice.h"
#include "core/index/stale.h"
#include "core/world/attachment.h"

/* An index as it was at one moment. */
struct edition {
  struct edition *next;      /* of its index; the newest first */
  struct copies copies;
  struct grid grid;          /* of what is by a grid; of everything else: */
  struct keyed keyed;
  uint32_t holders;          /* loops that still go through it, */
  uint64_t held;             /* since that moment of the world: in another one nobody does */
};

struct ecs_index {
  struct ecs_index *next;    /* in the order of their first declaration */
  ecs_world *world;
  ecs_index_desc desc;       /* its texts are the index's own; `query` and variables are not kept */
  struct arena texts;
  ecs_query *query;
  ecs_id of;                 /* the component of `desc.of`, whatever it is called now; */
  const char *leaf;          /* its field: the end of `desc.of`; neither where a function tells */
  struct copies rows;        /* of the query, in its order */
  struct grid_room room;
  struct key_room key_room;
  struct staleness stale;
  struct splice_room splice;
  bool anew;                 /* the edition of now is filled from all rows */
  bool busy;                 /* its keys are being computed */
  double began;              /* when it was begun to be brought up to date */
  struct edition *now;       /* NULL: never brought up to date */
  uint64_t fresh;            /* the moment for which it is up to date; 0: for none */
  uint32_t lost;             /* rows without a place or key, when it was brought up to date last, */
  uint32_t brought;          /* how many had changed; NONE: it was done with all */
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

/* Without rows, and without memory. */
void edition_empty(struct edition *edition);
void edition_free(ecs_world *world, struct edition *edition);

/* A loop outside of systems goes through the edition of now, which stays until the loop lets go of
** it, or another moment begins. */
struct edition *edition_hold(const ecs_index *index);
void edition_release(const ecs_world *world, struct edition *edition);

/* The next row of a search. */
static inline uint32_t edition_next(struct ecs_search *search) {
  if (search->grid) return search_next(search);
  return search->keyed ? keyed_next(search) : NONE;
}

/* Frees those behind the newest that nobody holds any more. */
void edition_drop_old(ecs_index *index);

/* Whether a loop still goes through it. */
bool edition_is_held(const ecs_world *world, const struct edition *edition);

/* The edition of now to be filled, or a new one while loops go through that; NULL without
** memory. */
struct edition *edition_to_fill(ecs_index *index);

#endif
