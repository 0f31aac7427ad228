/* Loading: an image is read into a separate world, the shadow, whose content then replaces that of
** the live world in one step. */
#ifndef ECS_CORE_IMAGE_LOAD_H
#define ECS_CORE_IMAGE_LOAD_H

#include "core/base/memory.h"
#include "core/image/stream.h"
#include "core/schedule/schedule.h"
#include "ecs_image.h"

struct loader {
  ecs_world *live;
  ecs_world *world;                /* the shadow */
  struct reader in;
  uint32_t version;                /* format of the image */
  size_t input;                    /* bytes read so far */
  size_t base;                     /* bytes that the shadow takes because of the live world */
  ecs_read_fn read;
  void *read_ud;
  const ecs_codec *codec;
  struct component **components;   /* of the shadow, by place */
  uint32_t component_count, component_capacity;
  uint32_t *strings;               /* place (from 1) -> number in the shadow */
  uint32_t string_count, string_capacity;
  struct timings timings;          /* of the live world from adopt_commit on */
  bool has_changes;                /* it has marks of writes */
  bool saw_void;                   /* the table without components */
  bool lacks_codec;                /* it has values of `any` fields, but there is no codec */
  bool adopted;                    /* the shadow holds the former live content */
  /* Returns the names that the fields of a live component had in the layouts `since`, NULL for a
  ** field that is new; NULL when out of memory. Without it, the fields' own `was` are used. */
  const char **(*trace)(struct loader *loader, const struct component *component);
  uint64_t since;
  struct arena arena;              /* texts of one component, a string or a name */
};

/* load_begin makes a loader for a world, whose message it clears; NULL when out of memory.
** load_finish exchanges the contents, if all that can fail has succeeded, and frees it. */
struct loader *load_begin(ecs_world *world);
ecs_status load_finish(struct loader *loader, ecs_status status);

/* load_make_shadow makes the shadow for ids with a tag: a world without content but with the live
** world's component ids. load_end frees it, or what it was exchanged for. load_pass_on passes on a
** failure, with the shadow's message if there is one. */
ecs_status load_make_shadow(struct loader *loader, uint32_t tag);
void load_end(struct loader *loader);
ecs_status load_pass_on(struct loader *loader, ecs_status status);

/* Fails with "the image is damaged (what)". Returns ECS_ECORRUPT. */
ecs_status load_damaged(struct loader *loader, const char *what);

/* ECS_OK, or why reading has stopped. */
ecs_status load_state(struct loader *loader);

/* The phase or system that the image names next. */
ecs_status load_timing(struct loader *loader, struct timing_list *list, ecs_system **out);

/* Reads cells of one leaf into the memory at `data`. */
ecs_status load_cells(struct loader *loader, const struct component *component,
                      uint32_t leaf, void *data, uint32_t count);

/* The parts of an image, in order. */
ecs_status load_strings(struct loader *loader);
ecs_status load_components(struct loader *loader);
ecs_status load_required(struct loader *loader);
ecs_status load_arrays(struct loader *loader);
ecs_status load_index(struct loader *loader);
ecs_status load_tables(struct loader *loader);
ecs_status load_sparse(struct loader *loader);
ecs_status load_ties(struct loader *loader);
ecs_status load_names(struct loader *loader);
ecs_status load_schedule(struct loader *loader);
ecs_status load_changes(struct loader *loader);

/* Redeclares the live world's prefabs in the shadow, which has its components by then. */
ecs_status load_prefabs(struct loader *loader);

/* Migrates the shadow's components to the live world's declarations; slots of dropped `any` fields
** belong to the live world. Components that are resources there become resources. */
ecs_status adopt_migrate(struct loader *loader);
ecs_status adopt_give_resources(struct loader *loader);

/* Migrates and redeclares prefabs, then reserves room for everything in the live world. */
ecs_status adopt_prepare(struct loader *loader);
/* Exchanges the contents. Cannot fail; the shadow then holds the old ones. */
void adopt_commit(struct loader *loader);

#endif
