/* Who is tied to whom by one exclusive relation: the target of each source, and the way back,
** the sources of each target in the order in which they were tied. Both are found by an entity's
** index, in pages that are made when an index of theirs is first named, so that a tie costs no
** table and moves no row. */
#ifndef ECS_CORE_RELATION_TIES_H
#define ECS_CORE_RELATION_TIES_H

#include "core/base/base.h"
#include "core/base/column.h"

struct memory;

#define TIE_PAGE_BITS 9
#define TIE_PAGE_SIZE (1u << TIE_PAGE_BITS)

/* Of a source. Index 0 is nobody's. */
struct tie {
  uint32_t target;           /* 0: it is not tied */
  uint32_t previous, next;   /* sources of the same target; 0 at the ends */
};

/* How many ties lead on from a source, when ties.changes was as_of. */
struct tie_depth {
  uint32_t depth, as_of;
};

/* Of a target. */
struct tie_end {
  uint32_t first, last;      /* of its sources; 0: it has none */
  uint32_t count;
};

/* Depths lie apart: few ask for them, and who follows ties has more of these in a cache line. */
struct tie_page {
  struct tie ties[TIE_PAGE_SIZE];
  struct tie_depth depths[TIE_PAGE_SIZE];
};

struct tie_end_page {
  struct tie_end ends[TIE_PAGE_SIZE];
};

struct ties {
  struct tie_page **pages;           /* by index / TIE_PAGE_SIZE; NULL where nobody was tied */
  struct tie_end_page **end_pages;
  uint32_t page_capacity, end_page_capacity;
  uint32_t count;                    /* sources that are tied */
  uint32_t changes;                  /* counts links and unlinks, from 1 */
};

/* What ties_reserve does where there are no pages yet. */
bool ties_make_pages(struct ties *ties, struct memory *memory, uint32_t source, uint32_t target);

/* Whether tying the source to the target cannot fail. */
static inline bool ties_has_room(const struct ties *ties, uint32_t source, uint32_t target) {
  uint32_t page = source >> TIE_PAGE_BITS, end_page = target >> TIE_PAGE_BITS;
  return page < ties->page_capacity && ties->pages[page] &&
         end_page < ties->end_page_capacity && ties->end_pages[end_page];
}

/* After this it cannot; false when out of memory. */
static inline bool ties_reserve(struct ties *ties, struct memory *memory, uint32_t source,
                                uint32_t target) {
  return LIKELY(ties_has_room(ties, source, target)) ||
         ties_make_pages(ties, memory, source, target);
}

void ties_free(struct ties *ties, struct memory *memory);

/* What is said of a source, and of a target, where there are pages for them. */
static inline struct tie *ties_slot(const struct ties *ties, uint32_t source) {
  assert(source >> TIE_PAGE_BITS < ties->page_capacity);
  return &ties->pages[source >> TIE_PAGE_BITS]->ties[source & (TIE_PAGE_SIZE - 1)];
}

static inline struct tie_depth *ties_depth_slot(const struct ties *ties, uint32_t source) {
  assert(source >> TIE_PAGE_BITS < ties->page_capacity);
  return &ties->pages[source >> TIE_PAGE_BITS]->depths[source & (TIE_PAGE_SIZE - 1)];
}

static inline struct tie_end *ties_end_slot(const struct ties *ties, uint32_t target) {
  assert(target >> TIE_PAGE_BITS < ties->end_page_capacity);
  return &ties->end_pages[target >> TIE_PAGE_BITS]->ends[target & (TIE_PAGE_SIZE - 1)];
}

/* What is said of a source; NULL when it is not tied. */
static inline const struct tie *ties_find(const struct ties *ties, uint32_t source) {
  uint32_t page = source >> TIE_PAGE_BITS;
  if (page >= ties->page_capacity || !ties->pages[page]) return NULL;
  const struct tie *tie = &ties->pages[page]->ties[source & (TIE_PAGE_SIZE - 1)];
  return tie->target ? tie : NULL;
}

/* The target's index, 0 when the source is not tied. */
static inline uint32_t ties_target(const struct ties *ties, uint32_t source) {
  const struct tie *tie = ties_find(ties, source);
  return tie ? tie->target : 0;
}

/* The sources of a target; NULL when it never had one. */
static inline const struct tie_end *ties_end(const struct ties *ties, uint32_t target) {
  uint32_t page = target >> TIE_PAGE_BITS;
  if (page >= ties->end_page_capacity || !ties->end_pages[page]) return NULL;
  return &ties->end_pages[page]->ends[target & (TIE_PAGE_SIZE - 1)];
}

static inline uint32_t ties_first(const struct ties *ties, uint32_t target) {
  const struct tie_end *end = ties_end(ties, target);
  return end ? end->first : 0;
}

/* The source that was tied to the same target after this one, which is tied; 0 ends it. */
static inline uint32_t ties_next(const struct ties *ties, uint32_t source) {
  return ties_slot(ties, source)->next;
}

static inline uint32_t ties_previous(const struct ties *ties, uint32_t source) {
  return ties_slot(ties, source)->previous;
}

/* ties_next for who goes through many, from `step` 0 on: without waiting for each link, where they
** were spawned in turn, takes a half off 1,000 lists of 100. */
INLINE uint32_t ties_follow(const struct ties *ties, uint32_t source, uint32_t *step) {
  return stride_to(source, ties_next(ties, source), step);
}

/* The first target at or behind an index that has sources; 0 at the end. */
uint32_t ties_next_end(const struct ties *ties, uint32_t from);

/* Ties a source that is not tied, as the last of the target's; after ties_reserve. */
void ties_link(struct ties *ties, uint32_t source, uint32_t target);

/* Ties a source behind another of the target's; 0 puts it first. It takes back an unlink. */
void ties_link_behind(struct ties *ties, uint32_t source, uint32_t target, uint32_t previous);

/* Takes a source out of the list of its target, as which it still has it. */
INLINE void ties_leave(struct ties *ties, uint32_t source, const struct tie *tie) {
  struct tie_end *end = ties_end_slot(ties, tie->target);
  uint32_t *before = tie->previous ? &ties_slot(ties, tie->previous)->next : &end->first;
  uint32_t *behind = tie->next ? &ties_slot(ties, tie->next)->previous : &end->last;
  assert(*before == source && *behind == source && end->count > 0);
  (void)source;
  *before = tie->next;
  *behind = tie->previous;
  end->count--;
  ties->changes++;
}

/* Ties a source that is tied to another target, as its last; after ties_reserve. A third less work
** than ties_unlink and ties_link. */
INLINE void ties_retie(struct ties *ties, uint32_t source, uint32_t target) {
  struct tie *tie = ties_slot(ties, source);
  struct tie_end *end = ties_end_slot(ties, target);
  assert(tie->target != 0 && source != 0 && target != 0);
  ties_leave(ties, source, tie);
  uint32_t last = end->last;
  *tie = (struct tie){target, last, 0};
  *(last ? &ties_slot(ties, last)->next : &end->first) = source;
  end->last = source;
  end->count++;
}

/* Unties a source that is tied. */
void ties_unlink(struct ties *ties, uint32_t source);

/* Unties entities, whose sources and targets are all among them. Returns how many ties there
** were. */
uint32_t ties_drop(struct ties *ties, const uint32_t *entities, uint32_t count);

/* How many ties lead on from a source, one behind the other; 0 when it is not tied. What was found
** is kept until a tie changes. In a circle: some number. */
uint32_t ties_depth(struct ties *ties, uint32_t source);

/* How many ties lead from an entity to another; NONE where none do. */
uint32_t ties_steps(const struct ties *ties, uint32_t source, uint32_t end);

/* Whom so many of them lead to; 0 behind the last one. */
uint32_t ties_walk(const struct ties *ties, uint32_t source, uint32_t steps);

/* A source that ties lead back to; 0 when there is none. */
uint32_t ties_find_circle(struct ties *ties);

/* Unties all. The pages stay. */
void ties_clear(struct ties *ties);

#endif
