/* Saving rows and cells, in which all parts of an image are written. */
#ifndef ECS_CORE_IMAGE_SAVE_CELLS_H
#define ECS_CORE_IMAGE_SAVE_CELLS_H

#include "core/image/stream.h"
#include "core/schedule/schedule.h"
#include "ecs_image.h"

struct saver {
  ecs_world *world;
  const ecs_codec *codec;
  struct writer *out;
  const void **components;         /* by place: save_listed */
  uint32_t component_count;
  uint32_t *places;                /* component index -> place */
  uint32_t *strings;               /* string number -> place plus 1 */
  uint32_t *string_order;          /* the numbers by place */
  uint32_t string_count;
  const void **names;              /* struct name: save_arrange_names */
  struct timings timings;
  const void **phases, **systems;  /* timings by name: save_system */
  uint32_t *targets;               /* of one table's pairs of one relation */
  uint32_t target_room;
  ecs_status status;
};

/* The component of a place in the image. */
static inline const struct component *save_listed(const struct saver *saver, uint32_t place) {
  return saver->components[place];
}

/* The timings of a system. */
static inline const ecs_system *save_system(const struct saver *saver, uint32_t at) {
  return saver->systems[at];
}

/* An entity's number in the image, by its index or id: for a component, its place. */
uint32_t save_index_of(const struct saver *saver, uint32_t index);
uint64_t save_id_of(const struct saver *saver, ecs_id id);

/* Writes cells of one of a component's leaves. */
void save_cells(struct saver *saver, const struct component *component, uint32_t leaf_at,
                const void *data, uint32_t count);

/* The first writes the entities of a table's rows (0 for none); the second one component's columns,
** by its id there. */
void save_rows(struct saver *saver, const struct table *table);
void save_columns(struct saver *saver, const struct table *table,
                  const struct component *component, ecs_id id);

/* The first lists a table's pairs of a relation as in the image, and returns their number; the
** second returns the nth. */
uint32_t save_list_pairs(struct saver *saver, const struct table *table,
                         const struct component *component);
ecs_id save_pair_listed(const struct saver *saver, const struct component *component, uint32_t n);

#endif
