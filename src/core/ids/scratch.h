/* What a binding to a language gathers for one call, as far as it does not fit the C stack. */
#ifndef ECS_CORE_IDS_SCRATCH_H
#define ECS_CORE_IDS_SCRATCH_H

#include "core/base/base.h"

struct memory;
struct part;

struct scratch {
  uint32_t *pending;             /* any slots */
  uint32_t pending_capacity;
  struct write *writes;
  uint32_t write_capacity;
  struct part *parts;
  uint32_t part_capacity;
};

void scratch_free(struct memory *memory, struct scratch *scratch);

#endif
