/* The ties of one exclusive relation: the target of each source and, backwards, the sources of each
** target in the order in which they were tied. Both are found by entity index, in pages that are
** created when an index in them is first used, so a tie costs no table and moves no row. */
#ifndef ECS_CORE_RELATION_TIES_H
#define ECS_CORE_RELATION_TIES_H

#include "core/base/base.h"
#include "core/base/column.h"

struct memory;

#define TIE_PAGE_BITS 9
#define TIE_PAGE_SIZE (1u << TIE_PAGE_BITS)

/* A source's tie. Index 0 is never used. */
struct tie {
  uint32_t target;           /* 0: not tied */
  uint32_t previous, next;   /* sources of the same target; 0 at the ends */
};

/* The number of ties that lead on from a source, as of ties.changes == as_of. */
struct tie_depth {
  uint32_t depth, as_of;
};

/* A target's end. */
struct tie_end {
  uint32_t first, last;      /* its first and last source; 0: none */
  uint32_t count;
};

/* Depths are kept apart, since they are rarely needed and ties then fill fewer cache lines. */
struct tie_page {
  struct tie ties[TIE_PAGE_SIZE];
  struct tie_depth depths[TIE_PAGE_SIZE];
};

struct tie_end_page {
  struct tie_end ends[TIE_PAGE_SIZE];
};

struct ties {
  struct tie_page **pages;           /* by index / TIE_PAGE_SIZE; NULL if never used */
  struct tie_end_page **end_pages;
  uint32_t page_capacity, end_page_capacity;
  uint32_t count;                    /* tied sources */
  uint32_t changes;                  /* counts links and unlinks, from 1 */
};

/* The rest of ties_reserve, if there are no pages yet. */
bool ties_make_pages(struct ties *ties, struct memory *memory, uint32_t source, uint32_t target);

/* Whether tying the source to the target cannot fail. */
static inline bool ties_has_room(const struct ties *ties, uint32_t source, uint32_t target) {
  uint32_t page = source >> TIE_PAGE_BITS, end_page = target >> TIE_PAGE_BITS;
  return page < ties->page_capacity && ties->pages[page] &&
         end_page < ties->end_page_capacity && ties->end_pages[end_page];
}

/* Reserves room for a tie, so that ties_has_room holds; false when out of memory. */
static inline bool ties_reserve(struct ties *ties, struct memory *memory, uint32_t source,
                                uint32_t target) {
  return LIKELY(ties_has_room(ties, source, target)) ||
         ties_make_pages(ties, memory, source, target);
}

void ties_free(struct ties *ties, struct memory *memory);

/* The entries of a source and of a target, whose pages exist. */
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

/* The tie of a source; NULL if it is not tied. */
static inline const struct tie *ties_find(const struct ties *ties, uint32_t source) {
  uint32_t page = source >> TIE_PAGE_BITS;
  if (page >= ties->page_capacity || !ties->pages[page]) return NULL;
  const struct tie *tie = &ties->pages[page]->ties[source & (TIE_PAGE_SIZE - 1)];
  return tie->target ? tie : NULL;
}

/* The target's index; 0 if the source is not tied. */
static inline uint32_t ties_target(const struct ties *ties, uint32_t source) {
  const struct tie *tie = ties_find(ties, source);
  return tie ? tie->target : 0;
}

/* The sources of a target; NULL if it never had one. */
static inline const struct tie_end *ties_end(const struct ties *ties, uint32_t target) {
  uint32_t page = target >> TIE_PAGE_BITS;
  if (page >= ties->end_page_capacity || !ties->end_pages[page]) return NULL;
  return &ties->end_pages[page]->ends[target & (TIE_PAGE_SIZE - 1)];
}

static inline uint32_t ties_first(const struct ties *ties, uint32_t target) {
  const struct tie_end *end = ties_end(ties, target);
  return end ? end->first : 0;
}

/* The next source of a tied source's target; 0 at the end. */
static inline uint32_t ties_next(const struct ties *ties, uint32_t source) {
  return ties_slot(ties, source)->next;
}

static inline uint32_t ties_previous(const struct ties *ties, uint32_t source) {
  return ties_slot(ties, source)->previous;
}

/* ties_next for long lists, from `step` 0 on: avoids waiting for each link if sources were spawned
** in sequence, which takes half off 1,000 lists of 100. */
INLINE uint32_t ties_follow(const struct ties *ties, uint32_t source, uint32_t *step) {
  return stride_to(source, ties_next(ties, source), step);
}

/* The first target from an index on that has sources; 0 at the end. */
uint32_t ties_next_end(const struct ties *ties, uint32_t from);

/* The source that follows another on a walk through everything tied to a root, directly or not,
** targets first; 0 at the end. */
uint32_t ties_next_below(const struct ties *ties, uint32_t root, uint32_t at);

/* Ties an untied source as the target's last one; call ties_reserve first. */
void ties_link(struct ties *ties, uint32_t source, uint32_t target);

/* Ties a source after another one of the target, or for 0 as the first. Undoes an unlink. */
void ties_link_behind(struct ties *ties, uint32_t source, uint32_t target, uint32_t previous);

/* Removes a source from its target's list, but leaves its entry. */
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

/* Ties a tied source to another target, as its last one; call ties_reserve first. A third less work
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

/* Unties a tied source. */
void ties_unlink(struct ties *ties, uint32_t source);

/* Unties entities whose sources and targets are all among them. Returns the number of ties. */
uint32_t ties_drop(struct ties *ties, const uint32_t *entities, uint32_t count);

/* The number of consecutive ties that lead on from a source; 0 if it is not tied. Results are
** cached until a tie changes. In a cycle: any number. */
uint32_t ties_depth(struct ties *ties, uint32_t source);

/* The number of ties that lead from an entity to another; NONE if none do. */
uint32_t ties_steps(const struct ties *ties, uint32_t source, uint32_t end);

/* The entity at the end of that many ties; 0 after the last one. */
uint32_t ties_walk(const struct ties *ties, uint32_t source, uint32_t steps);

/* A source that ties lead back to; 0 if there is none. */
uint32_t ties_find_circle(struct ties *ties);

/* Unties all and keeps the pages. */
void ties_clear(struct ties *ties);

#endif
