#include "core/ids/scratch.h"

#include "core/base/memory.h"
#include "core/base/one_cell.h"
#include "core/entity/entity.h"

void scratch_free(struct memory *memory, struct scratch *scratch) {
  memory_free(memory, scratch->pending,
              scratch->pending_capacity * sizeof *scratch->pending);
  memory_free(memory, scratch->writes, scratch->write_capacity * sizeof *scratch->writes);
  memory_free(memory, scratch->parts, scratch->part_capacity * sizeof *scratch->parts);
  memset(scratch, 0, sizeof *scratch);
}
