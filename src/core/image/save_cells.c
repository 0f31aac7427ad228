#if defined(__GNUC__) && !defined(__clang__)
/* gcc -O2 leaves the loops over rows scalar. */
#pragma GCC optimize ("O3")
#endif

#include "core/image/save_cells.h"

#include "core/base/value.h"
#include "core/image/stream.h"
#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/entity/entity.h"
#include "core/storage/graph.h"
#include "core/relation/relation.h"
#include "core/storage/table.h"
#include "core/ids/world.h"

#define BATCH 512u
#define ROW_BATCH 4096u      /* rows that stay in the nearest cache */

/* ---- pairs ---- */

uint32_t save_index_of(const struct saver *saver, uint32_t index) {
  return index < FIRST_ENTITY ? saver->places[index] + 1 : index;
}

static uint32_t index_of_image(const struct saver *saver, uint32_t number) {
  return number < FIRST_ENTITY ? ecs_id_index(save_listed(saver, number - 1)->id) : number;
}

uint32_t save_list_pairs(struct saver *saver, const struct table *table,
                         const struct component *component) {
  uint32_t count = 0;
  for (uint32_t i = 0; table->has_pairs && i < table->id_count; i++) {
    ecs_id id = table->ids[i];
    if (!id_is_pair(id) || pair_relation(id) != ecs_id_index(component->id)) continue;
    uint32_t target = save_index_of(saver, pair_target(id)), at = count++;
    for (; at > 0 && saver->targets[at - 1] > target; at--)
      saver->targets[at] = saver->targets[at - 1];
    saver->targets[at] = target;
  }
  return count;
}

ecs_id save_pair_listed(const struct saver *saver, const struct component *component,
                        uint32_t n) {
  return pair_make(ecs_id_index(component->id), index_of_image(saver, saver->targets[n]));
}

/* ---- cells ---- */

uint64_t save_id_of(const struct saver *saver, ecs_id id) {
  id = entity_target(saver->world, id);
  if (id == ECS_NULL || ecs_id_index(id) >= FIRST_ENTITY) return id;
  return saver->places[ecs_id_index(id)] + 1;
}

static void save_entities(struct saver *saver, const uint64_t *ids, uint32_t count) {
  uint64_t batch[BATCH];
  for (uint32_t i = 0; i < count;) {
    uint32_t n = 0;
    while (n < BATCH && i < count) batch[n++] = save_id_of(saver, ids[i++]);
    write_numbers(saver->out, batch, 8, n);
  }
}

static void save_strings(struct saver *saver, const uint32_t *numbers, uint32_t count) {
  uint32_t batch[BATCH];
  for (uint32_t i = 0; i < count;) {
    uint32_t n = 0;
    for (; n < BATCH && i < count; i++) batch[n++] = numbers[i] ? saver->strings[numbers[i]] : 0;
    write_numbers(saver->out, batch, 4, n);
  }
}

static void save_any(struct saver *saver, const struct component *component,
                     const struct leaf *leaf, uint32_t slot) {
  const char *data = NULL;
  size_t size = 0;
  if (slot == 0) {
    write_u32(saver->out, NONE);
    return;
  }
  const ecs_codec *codec = saver->codec;
  bool written = codec && codec->encode && saver->status == ECS_OK &&
                 codec->encode(codec->ud, slot, &data, &size) && size < IMAGE_TEXT_LIMIT;
  if (written) {
    write_text(saver->out, data, size);
  } else if (saver->status == ECS_OK) {
    saver->status = world_fail(saver->world, codec && codec->encode ? ECS_EUSER : ECS_ETYPE,
                               "component '%s' cannot be saved: field '%s' is `any`%s",
                               component->name, leaf->name,
                               codec ? " and the codec refused it" : "; give a codec");
  }
}

void save_cells(struct saver *saver, const struct component *component,
                uint32_t leaf_at, const void *data, uint32_t count) {
  const struct leaf *leaf = &component->leaves[leaf_at];
  switch (type_class(leaf->type)) {
    case CLASS_ID: save_entities(saver, data, count); break;
    case CLASS_TEXT: save_strings(saver, data, count); break;
    case CLASS_SLOT:
      for (uint32_t i = 0; i < count; i++)
        save_any(saver, component, leaf, ((const uint32_t *)data)[i]);
      break;
    default: write_numbers(saver->out, data, leaf->size, count); break;
  }
}

/* ---- rows and columns ---- */

/* Components have rows, too: their places stand for them. */
static void save_odd_rows(struct saver *saver, const uint32_t *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    write_u32(saver->out, rows[i] < FIRST_ENTITY ? saver->places[rows[i]] + 1 : rows[i]);
}

static bool save_cells_has_component(const uint32_t *rows, uint32_t count) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) found |= rows[i] && rows[i] < FIRST_ENTITY;
  return found;
}

void save_rows(struct saver *saver, const struct table *table) {
  for (uint32_t i = 0; i < table->count; i += ROW_BATCH) {
    const uint32_t *rows = table->rows + i;
    uint32_t count = table->count - i < ROW_BATCH ? table->count - i : ROW_BATCH;
    if (save_cells_has_component(rows, count))
      save_odd_rows(saver, rows, count);
    else
      write_numbers(saver->out, rows, sizeof *rows, count);
  }
}

void save_columns(struct saver *saver, const struct table *table,
                  const struct component *component, ecs_id id) {
  uint32_t first = table_column(table, id);
  for (uint32_t j = 0; first != NONE && j < component->leaf_count; j++) {
    write_u32(saver->out, component->leaves[j].size);
    if (table->count)
      save_cells(saver, component, j, table->columns[first + j].data, table->count);
  }
}
