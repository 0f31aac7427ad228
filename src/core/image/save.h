/* Saving: what the parts of an image are written from. */
#ifndef ECS_CORE_IMAGE_SAVE_H
#define ECS_CORE_IMAGE_SAVE_H

#include "core/image/format.h"
#include "ecs_image.h"

struct component;
struct table;

struct saver {
  ecs_world *world;
  const ecs_codec *codec;
  struct writer *out;
  const void **components;         /* by place: component_at */
  uint32_t component_count;
  uint32_t *places;                /* component index -> place */
  uint32_t *strings;               /* string number -> place counted from 1 */
  uint32_t *string_order;          /* the numbers by place */
  uint32_t string_count;
  const void **names;              /* struct name: arrange_names */
  uint32_t *targets;               /* of one table's pairs of one relation */
  uint32_t target_room;
  ecs_status status;
};

/* The entities of a table's rows (0 for none); one component's columns, by the id that it has
** there. */
void save_rows(struct saver *saver, const struct table *table);
void save_columns(struct saver *saver, const struct table *table,
                  const struct component *component, ecs_id id);

/* Lists a table's pairs of a relation as the image has them; how many there are, and the nth. */
uint32_t save_list_pairs(struct saver *saver, const struct table *table,
                         const struct component *component);
ecs_id save_pair_listed(const struct saver *saver, const struct component *component, uint32_t n);

#endif
