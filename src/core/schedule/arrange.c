#include "core/schedule/schedule.h"

#include "core/base/sets.h"
#include "core/base/text.h"
#include "core/ids/world.h"

/* ---- constraints ---- */

/* The system of that name in the same phase. */
static ecs_system *arrange_peer(const struct schedule *schedule, const ecs_system *system,
                                const char *name) {
  ecs_system *other = system_names_find(&schedule->names, name, strlen(name));
  return other && other->phase == system->phase ? other : NULL;
}

static void arrange_link_pair(ecs_system *first, ecs_system *second, struct follower *link) {
  *link = (struct follower){second, first->followers};
  first->followers = link;
  second->waits++;
}

static void arrange_link_names(const struct schedule *schedule, ecs_system *system) {
  struct follower *link = system->links;
  for (const char **name = system->before; name && *name; name++) {
    ecs_system *other = arrange_peer(schedule, system, *name);
    if (other) arrange_link_pair(system, other, link++);
  }
  for (const char **name = system->after; name && *name; name++) {
    ecs_system *other = arrange_peer(schedule, system, *name);
    if (other) arrange_link_pair(other, system, link++);
  }
}

/* ---- the order of a phase ---- */

/* Room for the systems of a phase: at the front those already placed; at the back, as a heap, those
** that wait for nothing. */
struct line {
  ecs_system **systems;
  uint32_t count, placed, ready;
};

static ecs_system **arrange_ready_at(const struct line *line, uint32_t at) {
  assert(at < line->count);
  return &line->systems[line->count - 1 - at];
}

static void arrange_push(struct line *line, ecs_system *system) {
  uint32_t at = line->ready++;
  assert(line->placed + line->ready <= line->count);
  for (; at && (*arrange_ready_at(line, (at - 1) / 2))->registered > system->registered;
       at = (at - 1) / 2)
    *arrange_ready_at(line, at) = *arrange_ready_at(line, (at - 1) / 2);
  *arrange_ready_at(line, at) = system;
}

/* Takes the system that was registered first. */
static ecs_system *arrange_pop(struct line *line) {
  ecs_system *first = *arrange_ready_at(line, 0), *last = *arrange_ready_at(line, --line->ready);
  uint32_t at = 0, child;
  for (; (child = 2 * at + 1) < line->ready; at = child) {
    if (child + 1 < line->ready && (*arrange_ready_at(line, child + 1))->registered <
                                       (*arrange_ready_at(line, child))->registered)
      child++;
    if ((*arrange_ready_at(line, child))->registered > last->registered) break;
    *arrange_ready_at(line, at) = *arrange_ready_at(line, child);
  }
  *arrange_ready_at(line, at) = last;
  return first;
}

/* Kahn's algorithm (CACM 5(11), 1962), always taking the system registered first; false if a cycle
** remains. */
static bool arrange_phase(const struct schedule *schedule, const struct phase *phase,
                          struct line *line) {
  for (uint32_t i = 0; i < schedule->system_count; i++)
    line->count += schedule->systems[i]->phase == phase;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    if (system->phase == phase && system->waits == 0) arrange_push(line, system);
  }
  while (line->ready) {
    ecs_system *next = arrange_pop(line);
    assert(!next->placed && next->waits == 0);
    line->systems[line->placed++] = next;
    next->placed = true;
    for (const struct follower *follower = next->followers; follower; follower = follower->next)
      if (--follower->system->waits == 0) arrange_push(line, follower->system);
  }
  return line->placed == line->count;
}

/* Lists the systems without a place, in order of registration. */
static void arrange_list_waiting(const struct schedule *schedule, const struct phase *phase,
                                 struct line *line) {
  uint32_t end = line->placed;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    if (system->phase != phase || system->placed) continue;
    uint32_t at = end++;
    for (; at > line->placed && line->systems[at - 1]->registered > system->registered; at--)
      line->systems[at] = line->systems[at - 1];
    line->systems[at] = system;
  }
  assert(end == line->count && line->placed < end);
}

/* Follows what each system waits for; after as many steps as there are systems it is on the cycle,
** which is then printed in running order. */
static ecs_status arrange_cycle(const ecs_world *world, const struct phase *phase,
                                struct line *line) {
  arrange_list_waiting(world->schedule, phase, line);
  /* Each waiting system's leader is the first one that it waits for. */
  for (uint32_t i = line->placed; i < line->count; i++) line->systems[i]->leader = NULL;
  for (uint32_t i = line->placed; i < line->count; i++) {
    const struct follower *follower = line->systems[i]->followers;
    for (; follower; follower = follower->next)
      if (!follower->system->leader) follower->system->leader = line->systems[i];
  }
  const ecs_system *at = line->systems[line->count - 1];
  for (uint32_t i = 0; i < line->count; i++) at = at->leader;
  assert(at);
  char text[MESSAGE_SIZE / 2];
  char longer[MESSAGE_SIZE / 2];
  text_format(text, sizeof text, "%s", at->name);
  const ecs_system *start = at;
  do {
    at = at->leader;
    assert(at);
    text_format(longer, sizeof longer, "%s -> %s", at->name, text);
    memcpy(text, longer, sizeof text);
  } while (at != start);
  ecs_status status = world_fail(world, ECS_ECYCLE, "systems cannot be ordered: %s", text);
  do
    world_blame(world, status, at->name);
  while ((at = at->leader) != start);
  return status;
}

ecs_status schedule_sort(ecs_world *world) {
  struct schedule *schedule = world->schedule;
  uint32_t count = 0;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    schedule->systems[i]->followers = NULL;
    schedule->systems[i]->waits = 0;
    schedule->systems[i]->placed = false;
  }
  for (uint32_t i = 0; i < schedule->system_count; i++)
    arrange_link_names(schedule, schedule->systems[i]);
  for (uint32_t i = 0; i <= schedule->phase_count && count < schedule->system_count; i++) {
    const struct phase *phase =
        i < schedule->phase_count ? schedule->phases[i] : schedule->reacting;
    struct line line = {schedule->sorted + count, 0, 0, 0};
    if (!arrange_phase(schedule, phase, &line)) return arrange_cycle(world, phase, &line);
    count += line.count;
  }
  assert(count == schedule->system_count);
  if (count) memcpy(schedule->systems, schedule->sorted, count * sizeof *schedule->systems);
  schedule_relist(world);
  return ECS_OK;
}

/* ---- appending a system ---- */

static uint64_t arrange_key_of(uint64_t hash) { return hash ? hash : 1; }

static void arrange_note_names(struct schedule *schedule, const ecs_system *system) {
  for (const char **name = system->after; name && *name; name++)
    map_put(&schedule->awaited, arrange_key_of(text_hash64(*name, strlen(*name))), 1);
}

static uint64_t arrange_count_names(const ecs_system *system) {
  uint64_t count = 0;
  for (const char **name = system->after; name && *name; name++) count++;
  return count;
}

ecs_status arrange_note(ecs_world *world, const ecs_system *system) {
  struct schedule *schedule = world->schedule;
  uint64_t more = arrange_count_names(system);
  for (uint32_t i = 0; !schedule->awaits_all && i < schedule->system_count; i++)
    more += arrange_count_names(schedule->systems[i]);
  if (!map_reserve(&world->memory, &schedule->awaited, more)) return world_nomem(world);
  for (uint32_t i = 0; !schedule->awaits_all && i < schedule->system_count; i++)
    arrange_note_names(schedule, schedule->systems[i]);
  schedule->awaits_all = true;
  arrange_note_names(schedule, system);
  return ECS_OK;
}

bool arrange_leads_nobody(const struct schedule *schedule, const ecs_system *system) {
  if (!schedule->awaits_all || map_get(&schedule->awaited, arrange_key_of(system->chance)) != NONE)
    return false;
  for (const char **name = system->before; name && *name; name++)
    if (arrange_peer(schedule, system, *name)) return false;
  return true;
}

void arrange_append(struct schedule *schedule, ecs_system *system) {
  for (uint32_t i = 0; i < schedule->phase_count; i++) schedule->phases[i]->place = i;
  schedule->reacting->place = schedule->phase_count;
  uint32_t low = 0, count = schedule->system_count++;
  assert(schedule->system_count <= schedule->system_capacity);
  BISECT(low, count, at, schedule->systems[at]->phase->place <= system->phase->place);
  memmove(schedule->systems + low + 1, schedule->systems + low,
          (schedule->system_count - 1 - low) * sizeof *schedule->systems);
  schedule->systems[low] = system;
  schedule->counted = false;
}
