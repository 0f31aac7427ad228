/* Which systems of a phase can run side by side: what the runs of each read and write. */
#ifndef ECS_CORE_SCHEDULE_BESIDE_H
#define ECS_CORE_SCHEDULE_BESIDE_H

#include "core/base/base.h"

#define BESIDE_MOST 32         /* systems that run side by side */

/* A field of a component, of a resource, or the elements of an array, that a run gets at. */
struct access {
  ecs_id component;
  uint32_t leaf;
  bool writes;                 /* or reads */
};

/* What is known beforehand of a system's run. */
struct prospect {
  const char *alone;           /* why it runs beside no other one; NULL: it may */
  const void *of;              /* what `next` below tells more of; NULL: it gets at nothing */
  const void *owner;           /* runs of several are not prepared together */
  uint64_t reads, writes;      /* bits: runs that share none get at nothing in common */
  uint64_t work;               /* about so many instructions, of a row each */
};

/* What somebody whose systems may run side by side knows of them, and does. */
struct companions {
  /* Neither can fail, and changes anything. */
  void (*look)(const ecs_system *system, struct prospect *out);
  /* What a run gets at, one after the other; *at is 0 at first. */
  bool (*next)(const struct prospect *prospect, uint32_t *at, struct access *out);
  /* Prepares a system's run, that of the first of those to be side by side or one more, with the
  ** world's random numbers as they are now; false: it cannot be so now. */
  bool (*add)(ecs_system *system, double dt, const ecs_system *first);
  /* Runs all of them, of which this is one; false: nothing was done. */
  bool (*run)(ecs_system *system);
  /* Ends the run of each, in the order in which they were added; cannot fail. */
  void (*end)(ecs_system *system, uint32_t number);
};

/* Says who knows. */
void beside_know(ecs_world *world, const struct companions *companions);

/* Whether a system may run beside others, and how much it does; and then what it gets at, too. */
void beside_weigh(const ecs_world *world, const ecs_system *system, struct prospect *out);
void beside_look(const ecs_world *world, const ecs_system *system, struct prospect *out);

/* Why a system cannot run beside an earlier one of its phase, and for what. */
enum clash {
  CLASH_NONE,
  CLASH_ORDER,                 /* it is to come after it */
  CLASH_OWNER,                 /* they are prepared by different ones */
  CLASH_READ,                  /* it reads what that one writes, */
  CLASH_WRITTEN,               /* writes what it reads, */
  CLASH_BOTH                   /* or both write */
};
struct side {
  const ecs_system *system;
  struct prospect prospect;
};
enum clash beside_clash(const ecs_world *world, const struct side *earlier,
                        const struct side *later, struct access *at);

#endif
