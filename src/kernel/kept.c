#include "kernel/kept.h"

#include "core/base/memory.h"
#include "core/store/bits.h"
#include "core/store/command.h"
#include "core/store/index.h"
#include "core/store/query.h"
#include "core/store/some_rows.h"
#include "core/store/world.h"
#include "kernel/giving.h"

/* Whether rows are kept in the scope that is open, which is the only one. */
static bool is_open(const struct kept *kept, const ecs_world *world) {
  return world->staging.open == 1 && kept->epoch == world->staging.epoch;
}

void kept_begin(struct kept *kept, const ecs_world *world) {
  if (world->staging.open != 1) return;
  assert(kept->epoch != world->staging.epoch);
  kept->epoch = world->staging.epoch;
  kept->count = kept->words = 0;
}

static enum rows_change change_of(const struct run_command *command) {
  assert(command->action <= RUN_REMOVE);
  return command->action == RUN_DESPAWN ? ROWS_DESPAWN
         : command->action == RUN_ADD   ? ROWS_ADD
                                        : ROWS_REMOVE;
}

static bool is_plain(const struct kept *kept, const ecs_world *world) {
  return is_open(kept, world) &&
         rows_are_plain(world, change_of(&kept->command), kept->command.component);
}

static bool may_take(struct kept *kept, const struct run *run, const struct table *table) {
  const struct run_plan *plan = run->plan;
  if (plan->command_count != 1 || plan->order_count || !rows_are_whole(&run->query->terms))
    return false;
  const struct run_command *command = &plan->commands[0];
  bool same = command->action == kept->command.action &&
              command->component == kept->command.component;
  if (kept->count && !same) return false;
  kept->command = *command;
  if (!is_plain(kept, run->query->world)) return false;
  return command->action != RUN_DESPAWN || !rows_have_component(table);
}

static bool reserve(struct memory *memory, struct kept *kept, uint32_t words) {
  struct some_rows *list = memory_grow(memory, kept->list, &kept->capacity, kept->count + 1ull,
                                       sizeof *list);
  if (!list) return false;
  kept->list = list;
  uint64_t *bits = memory_grow(memory, kept->bits, &kept->word_capacity,
                               (uint64_t)kept->words + words, sizeof *bits);
  if (bits) kept->bits = bits;
  return bits != NULL;
}

bool kept_take(struct kept *kept, const struct run *run, uint32_t match, const uint64_t *bits) {
  const struct table *table = query_table(run->query, match);
  uint32_t words = (table->count + 63) / 64;
  uint64_t any = 0;
  if (!may_take(kept, run, table)) return false;
  if (!reserve(&run->query->world->memory, kept, words)) return false;
  uint64_t *to = kept->bits + kept->words;
  memcpy(to, bits, words * sizeof *bits);
  if (table->count % 64) to[words - 1] &= (UINT64_C(1) << table->count % 64) - 1;
  for (uint32_t i = 0; i < words; i++) any |= to[i];
  if (!any) return true;
  kept->list[kept->count++] = (struct some_rows){table->index, NULL};
  kept->words += words;
  return true;
}

/* Tables have the rows that they had when these were marked. */
static void find_bits(struct kept *kept, const ecs_world *world) {
  const uint64_t *bits = kept->bits;
  for (uint32_t i = 0; i < kept->count; i++) {
    kept->list[i].bits = bits;
    bits += (world_table(world, kept->list[i].table)->count + 63) / 64;
  }
  assert(bits == kept->bits + kept->words);
}

static ecs_status stage_table(const struct kept *kept, ecs_world *world, struct some_rows some) {
  const struct table *table = world_table(world, some.table);
  ecs_status status = ECS_OK;
  for (uint32_t word = 0; word < (table->count + 63) / 64; word++)
    for (uint64_t left = some.bits[word]; left && status == ECS_OK; left &= left - 1) {
      uint32_t entity = table->rows[word * 64 + bits_first(left)];
      status = giving_stage(world, &kept->command, entity_id(&world->entities, entity));
    }
  return status;
}

ecs_status kept_stage(struct kept *kept, ecs_world *world) {
  if (kept->count == 0 || !is_open(kept, world)) return ECS_OK;
  uint64_t rows = 0;
  for (uint32_t i = 0; i < kept->words; i++) rows += bits_count(kept->bits[i]);
  ecs_status status = command_reserve(world, rows, 0, rows);
  if (status != ECS_OK) return status;
  find_bits(kept, world);
  uint32_t count = kept->count;
  kept->count = kept->words = 0;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = stage_table(kept, world, kept->list[i]);
  return status;
}

ecs_status kept_end(struct kept *kept, ecs_world *world) {
  if (!is_open(kept, world)) return ECS_OK;
  ecs_status status = ECS_OK;
  find_bits(kept, world);
  if (kept->count && is_plain(kept, world))
    status = rows_change(world, change_of(&kept->command), kept->command.component, kept->list,
                         kept->count);
  else
    status = kept_stage(kept, world);
  if (status != ECS_OK) status = kept_stage(kept, world);
  kept->epoch = 0;
  kept->count = kept->words = 0;
  return status;
}

void kept_free(struct memory *memory, struct kept *kept) {
  memory_free(memory, kept->list, kept->capacity * sizeof *kept->list);
  memory_free(memory, kept->bits, kept->word_capacity * sizeof *kept->bits);
  memset(kept, 0, sizeof *kept);
}
