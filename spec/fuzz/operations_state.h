/* The state of fuzz_operations, and how its bytes become arguments. */
#ifndef SPEC_FUZZ_MACHINE_H
#define SPEC_FUZZ_MACHINE_H

#include "fuzz.h"

#define KEPT 32u        /* ids that are remembered */
#define QUERIES 4u
#define MOST_LOOPS 3u
#define NAMES 6u        /* components are called A to F */
#define MOST_FIELDS 5u
#define MOST_ALIVE 1500u

struct machine {
  struct input in;
  struct limited memory;
  ecs_world *world;
  ecs_id ids[KEPT];
  ecs_query *queries[QUERIES];
  ecs_iter loops[MOST_LOOPS];
  uint32_t loop_count;         /* the last ones opened are closed first */
  uint64_t changes;            /* of components, resources and the schedule */
  struct image saved;
  uint64_t saved_digest, saved_changes;
  ecs_snapshot *snapshot;
  struct image snapshot_image;
  uint64_t snapshot_digest, snapshot_changes;
  bool scheduled;              /* something was done to phases or systems */
  uint32_t depth;              /* of systems that run operations */
  uint32_t steps;
  uint64_t digest;             /* of the world after the last operation */
};

/* An operation: takes its arguments from the bytes; ECS_ENOMEM is followed by the same bytes
** again. */
typedef ecs_status (*operation)(struct machine *m);

struct fields {
  ecs_field list[MOST_FIELDS];
  uint32_t count;
  ecs_rename was[2];
  uint32_t was_count;
  ecs_id required[4];
  uint32_t required_count;
  const char *old_name;
  bool toggle;
  bool track;
};

const char *take_name(struct machine *m);
ecs_id take_component(struct machine *m);
ecs_id take_entity(struct machine *m);
ecs_type take_type(struct machine *m, uint32_t count);
void take_fields(struct machine *m, struct fields *fields);
/* A list of up to 4 components. */
size_t take_components(struct machine *m, ecs_id *list);

/* Spawns with a list of ids, unless too many are alive, and keeps the id at a place. */
ecs_status spawn_kept(struct machine *m, const ecs_id *list, size_t count, uint32_t to);
/* A query's text. */
void take_query(struct machine *m, char *text, size_t size);
/* A native struct for a component; NULL when it is no component or too large. */
const void *take_value(struct machine *m, ecs_id component);

/* ---- operations_world.c: what concerns the world as a whole ---- */

ecs_status do_save(struct machine *m);
ecs_status do_load(struct machine *m);
ecs_status do_elsewhere(struct machine *m);
ecs_status do_snapshot(struct machine *m);
ecs_status do_restore(struct machine *m);
ecs_status do_widen(struct machine *m);
ecs_status do_range(struct machine *m);
ecs_status do_recycle(struct machine *m);

/* ---- operations_ties.c: ties and what is kept outside of tables ---- */

ecs_status do_relation(struct machine *m);
ecs_status do_sparse(struct machine *m);
ecs_status do_tie(struct machine *m);
ecs_status do_untie(struct machine *m);
ecs_status do_set_tie(struct machine *m);
ecs_status do_child(struct machine *m);
ecs_status do_spawn_tied(struct machine *m);
ecs_status do_look(struct machine *m);
ecs_status do_tied_query(struct machine *m);
ecs_status do_query_tie(struct machine *m);
ecs_status do_walk(struct machine *m);

/* ---- operations_events.c: events ---- */

ecs_status do_event(struct machine *m);
ecs_status do_emit(struct machine *m);
ecs_status do_after(struct machine *m);
ecs_status do_event_query(struct machine *m);

/* ---- fuzz_operations.c ---- */

bool is_of_row(const ecs_iter *it, size_t row);
bool is_looped(const struct machine *m, const ecs_query *query);
/* Does the next operation of the bytes. */
void one_step(struct machine *m);

#endif
