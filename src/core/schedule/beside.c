#include "core/schedule/beside.h"

#include "core/base/hash_map.h"
#include "core/schedule/due.h"

void beside_know(ecs_world *world, const struct companions *companions) {
  world->schedule->companions = companions;
}

/* ---- what a run gets at ---- */

static uint64_t bit_of(const struct access *access) {
  return UINT64_C(1) << (hash_u64(hash_u64(access->component) + access->leaf) >> 58);
}

static void note_accesses(const struct companions *companions, struct prospect *prospect) {
  struct access access;
  uint32_t at = 0;
  assert(companions);
  while (companions->next(prospect, &at, &access))
    *(access.writes ? &prospect->writes : &prospect->reads) |= bit_of(&access);
}

void beside_weigh(const ecs_world *world, const ecs_system *system, struct prospect *out) {
  const struct companions *companions = world->schedule->companions;
  *out = (struct prospect){.alone = "it is a system in C"};
  if (companions) companions->look(system, out);
  if (out->alone) return;
  if (system->when)
    out->alone = "its condition is asked when those before it have run";
  else if (reads_news(system))
    out->alone = "what is new to it is found out when those before it have run";
}

void beside_look(const ecs_world *world, const ecs_system *system, struct prospect *out) {
  beside_weigh(world, system, out);
  if (!out->alone) note_accesses(world->schedule->companions, out);
}

/* ---- two of them ---- */

static bool has_name(const char **names, const char *name) {
  for (; names && *names; names++)
    if (strcmp(*names, name) == 0) return true;
  return false;
}

/* Whether two runs get at something in common that one of them writes: in *at as the later one
** does. */
static bool conflict_meet(const struct companions *companions, const struct prospect *earlier,
                          const struct prospect *later, bool earlier_writes, struct access *at) {
  struct access other;
  uint32_t i = 0;
  while (companions->next(later, &i, at)) {
    uint32_t j = 0;
    if (!earlier_writes && !at->writes) continue;
    while (companions->next(earlier, &j, &other)) {
      bool same = other.component == at->component && other.leaf == at->leaf;
      if (same && other.writes == earlier_writes) return true;
    }
  }
  return false;
}

enum clash beside_clash(const ecs_world *world, const struct side *earlier,
                        const struct side *later, struct access *at) {
  const struct companions *companions = world->schedule->companions;
  const struct prospect *a = &earlier->prospect, *b = &later->prospect;
  assert(companions && !a->alone && !b->alone);
  if (has_name(earlier->system->before, later->system->name)) return CLASH_ORDER;
  if (has_name(later->system->after, earlier->system->name)) return CLASH_ORDER;
  if (a->owner != b->owner) return CLASH_OWNER;
  if ((a->writes & (b->reads | b->writes)) && conflict_meet(companions, a, b, true, at))
    return at->writes ? CLASH_BOTH : CLASH_READ;
  if ((a->reads & b->writes) && conflict_meet(companions, a, b, false, at)) return CLASH_WRITTEN;
  return CLASH_NONE;
}
