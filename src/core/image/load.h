/* Loading: an image is read into a world of its own, the shadow, which then takes over the
** place of the live one's content at once. */
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
  uint32_t version;                /* the image's format */
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
  bool has_changes;                /* it says when its cells were written */
  bool saw_void;                   /* the table of no components */
  bool lacks_codec;                /* there are values of `any` fields, and no codec */
  bool adopted;                    /* the shadow holds what was live */
  /* Gives the copy of a live component the names that its fields had in the layouts `since`; false
  ** without memory. NULL: `was` is what it says itself. */
  bool (*trace)(struct loader *loader, struct component *component);
  uint64_t since;
  struct arena arena;              /* texts of one component, or of a name */
};

/* Makes the shadow, for ids with a tag: a world without content that has the live one's ids of
** components. load_end frees it, or what it was exchanged for. load_pass_on passes a failure
** on, with the shadow's message if it has one. */
ecs_status load_make_shadow(struct loader *loader, uint32_t tag);
void load_end(struct loader *loader);
ecs_status load_pass_on(struct loader *loader, ecs_status status);

/* "the image is damaged (what)"; ECS_ECORRUPT. */
ecs_status load_damaged(struct loader *loader, const char *what);

/* ECS_OK, or why reading has stopped. */
ecs_status load_state(struct loader *loader);

/* A text that lives as long as the loader's arena; NULL as read_text. */
char *load_text(struct loader *loader, size_t *size);

/* The phase or system that the image names next. */
ecs_status load_timing(struct loader *loader, struct timing_list *list, ecs_system **out);

/* The id that an image's id stands for. */
ecs_id load_id(const struct loader *loader, ecs_id id);

/* Cells of one leaf, read into the memory at `data`. */
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

/* Declares the live world's prefabs again in the shadow, which has its components by then. */
ecs_status load_prefabs(struct loader *loader);

/* Migrates the shadow's components to what the live world declares; slots of `any` fields that are
** dropped are that world's. Makes resources of what is one there. */
ecs_status adopt_migrate(struct loader *loader);
ecs_status adopt_give_resources(struct loader *loader);

/* Both, then makes room in the live world for everything. */
ecs_status adopt_prepare(struct loader *loader);
/* Exchanges the contents. Cannot fail; the shadow then holds what was. */
void adopt_commit(struct loader *loader);

#endif
