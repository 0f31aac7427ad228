#include "core/relation/ties.h"

#include "core/base/memory.h"

/* Makes the page of an index in a list of pages; false when out of memory. */
static bool ties_need_page(struct memory *memory, void ***pages, uint32_t *capacity, uint32_t index,
                           size_t size) {
  uint32_t page = index >> TIE_PAGE_BITS, old = *capacity;
  if (page >= old) {
    if (!GROW(memory, *pages, *capacity, page + 1ull)) return false;
    memset(*pages + old, 0, (*capacity - old) * sizeof **pages);
  }
  if (!(*pages)[page]) (*pages)[page] = memory_array(memory, 1, size);
  return (*pages)[page] != NULL;
}

bool ties_make_pages(struct ties *ties, struct memory *memory, uint32_t source,
                     uint32_t target) {
  void **pages = (void **)ties->pages, **end_pages = (void **)ties->end_pages;
  bool ready = ties_need_page(memory, &pages, &ties->page_capacity, source, sizeof **ties->pages) &&
               ties_need_page(memory, &end_pages, &ties->end_page_capacity, target,
                              sizeof **ties->end_pages);
  ties->pages = (struct tie_page **)pages;
  ties->end_pages = (struct tie_end_page **)end_pages;
  return ready;
}

static void ties_free_pages(struct memory *memory, void **pages, uint32_t capacity, size_t size) {
  for (uint32_t i = 0; i < capacity; i++)
    if (pages[i]) memory_free(memory, pages[i], size);
  FREE_LIST(memory, pages, capacity);
}

void ties_free(struct ties *ties, struct memory *memory) {
  ties_free_pages(memory, (void **)ties->pages, ties->page_capacity, sizeof **ties->pages);
  ties_free_pages(memory, (void **)ties->end_pages, ties->end_page_capacity,
                  sizeof **ties->end_pages);
  *ties = (struct ties){.pages = NULL};
}

void ties_link_behind(struct ties *ties, uint32_t source, uint32_t target, uint32_t previous) {
  struct tie *tie = ties_slot(ties, source);
  struct tie_end *end = ties_end_slot(ties, target);
  uint32_t next = previous ? ties_slot(ties, previous)->next : end->first;
  assert(tie->target == 0 && source != 0 && target != 0);
  assert(previous == 0 || ties_slot(ties, previous)->target == target);
  assert(next == 0 || ties_slot(ties, next)->previous == previous);
  *tie = (struct tie){target, previous, next};
  *(previous ? &ties_slot(ties, previous)->next : &end->first) = source;
  *(next ? &ties_slot(ties, next)->previous : &end->last) = source;
  end->count++;
  ties->count++;
  ties->changes++;
}

void ties_link(struct ties *ties, uint32_t source, uint32_t target) {
  ties_link_behind(ties, source, target, ties_end_slot(ties, target)->last);
}

void ties_unlink(struct ties *ties, uint32_t source) {
  struct tie *tie = ties_slot(ties, source);
  assert(tie->target != 0);
  ties_leave(ties, source, tie);
  ties->count--;
  *tie = (struct tie){0, 0, 0};
}

/* Looks up a page only where it changes: most entities that die together are in a few pages. */
uint32_t ties_drop(struct ties *ties, const uint32_t *entities, uint32_t count) {
  uint32_t dropped = 0, last = NONE;
  struct tie_page *tie_page = NULL;
  struct tie_end_page *end_page = NULL;
  if (ties->count == 0) return 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t page = entities[i] >> TIE_PAGE_BITS, at = entities[i] & (TIE_PAGE_SIZE - 1);
    if (UNLIKELY(page != last)) {
      tie_page = page < ties->page_capacity ? ties->pages[page] : NULL;
      end_page = page < ties->end_page_capacity ? ties->end_pages[page] : NULL;
      last = page;
    }
    if (tie_page) {
      dropped += tie_page->ties[at].target != 0;
      tie_page->ties[at].target = 0;
    }
    if (end_page) end_page->ends[at] = (struct tie_end){0, 0, 0};
  }
  assert(dropped <= ties->count);
  ties->count -= dropped;
  ties->changes += dropped != 0;
  return dropped;
}

uint32_t ties_depth(struct ties *ties, uint32_t source) {
  uint32_t steps = 0, at = source;
  while (ties_target(ties, at) && ties_depth_slot(ties, at)->as_of != ties->changes &&
         steps <= ties->count) {
    at = ties_target(ties, at);
    steps++;
  }
  uint32_t depth = steps + (ties_target(ties, at) ? ties_depth_slot(ties, at)->depth : 0);
  for (at = source; steps > 0; steps--, at = ties_target(ties, at)) {
    *ties_depth_slot(ties, at) = (struct tie_depth){depth--, ties->changes};
  }
  return ties_target(ties, source) ? ties_depth_slot(ties, source)->depth : 0;
}

uint32_t ties_next_end(const struct ties *ties, uint32_t from) {
  for (uint32_t page = from >> TIE_PAGE_BITS; page < ties->end_page_capacity; page++) {
    if (!ties->end_pages[page]) continue;
    uint32_t at = from >> TIE_PAGE_BITS == page ? from & (TIE_PAGE_SIZE - 1) : 0;
    for (; at < TIE_PAGE_SIZE; at++)
      if (ties->end_pages[page]->ends[at].first) return page * TIE_PAGE_SIZE + at;
  }
  return 0;
}

uint32_t ties_next_below(const struct ties *ties, uint32_t root, uint32_t at) {
  uint32_t next = ties_first(ties, at);
  for (; !next && at != root; at = ties_target(ties, at)) next = ties_next(ties, at);
  return next;
}

/* Records, in place of depths, from where a source was first reached; true if from `from`. */
static bool ties_leads_back(struct ties *ties, uint32_t from, uint32_t *at) {
  while (ties_target(ties, *at)) {
    struct tie_depth *noted = ties_depth_slot(ties, *at);
    if (noted->as_of == ties->changes) return noted->depth == from;
    *noted = (struct tie_depth){from, ties->changes};
    *at = ties_target(ties, *at);
  }
  return false;
}

uint32_t ties_find_circle(struct ties *ties) {
  uint32_t found = 0;
  ties->changes++;
  for (uint32_t page = 0; page < ties->page_capacity && !found; page++)
    for (uint32_t i = 0; ties->pages[page] && i < TIE_PAGE_SIZE && !found; i++) {
      uint32_t from = page * TIE_PAGE_SIZE + i, at = from;
      if (ties_leads_back(ties, from, &at)) found = at;
    }
  ties->changes++;   /* what was recorded is not a depth */
  return found;
}

void ties_clear(struct ties *ties) {
  for (uint32_t i = 0; i < ties->page_capacity; i++)
    if (ties->pages[i]) memset(ties->pages[i], 0, sizeof *ties->pages[i]);
  for (uint32_t i = 0; i < ties->end_page_capacity; i++)
    if (ties->end_pages[i]) memset(ties->end_pages[i], 0, sizeof *ties->end_pages[i]);
  ties->count = 0;
  ties->changes++;
}

uint32_t ties_steps(const struct ties *ties, uint32_t source, uint32_t end) {
  uint32_t steps = 0;
  for (; source != end; steps++) {
    source = ties_target(ties, source);
    if (!source) return NONE;
  }
  return steps;
}

uint32_t ties_walk(const struct ties *ties, uint32_t source, uint32_t steps) {
  while (steps-- && source) source = ties_target(ties, source);
  return source;
}
