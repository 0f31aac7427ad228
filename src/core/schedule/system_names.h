/* Systems by their names: what registers one asks for many others by name. */
#ifndef ECS_CORE_SCHEDULE_SYSTEM_NAMES_H
#define ECS_CORE_SCHEDULE_SYSTEM_NAMES_H

#include "core/base/base.h"

struct memory;

/* Found by open addressing; less than three quarters of the slots are taken. */
struct system_names {
  ecs_system **slots;
  uint32_t capacity;           /* a power of two, or 0 */
  uint32_t count;
};

/* NULL when there is none. */
ecs_system *system_names_find(const struct system_names *names, const char *name, size_t size);

/* Room for so many in all; false when out of memory. */
bool system_names_reserve(struct memory *memory, struct system_names *names, uint64_t count);

/* Enters a system, in the place of one of the same name. */
void system_names_put(struct system_names *names, ecs_system *system);

/* Takes one out that is there. */
void system_names_drop(struct system_names *names, const ecs_system *system);

void system_names_free(struct memory *memory, struct system_names *names);

#endif
