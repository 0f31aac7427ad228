/* Worlds as bytes: saving, loading, snapshots, the digest. */
#ifndef ECS_IMAGE_H
#define ECS_IMAGE_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Take and give exactly `size` bytes; false stops. They must not touch the world. */
typedef bool (*ecs_write_fn)(void *ud, const void *data, size_t size);
typedef bool (*ecs_read_fn)(void *ud, void *data, size_t size);

/* How `any` values become bytes and come back. encode writes one value's bytes and returns
** false to refuse; decode is given them and returns a slot, or 0 when it fails. */
typedef struct ecs_codec {
  bool (*encode)(void *ud, uint32_t slot, const char **data, size_t *size);
  uint32_t (*decode)(void *ud, const char *data, size_t size);
  void *ud;
} ecs_codec;

/* Writes the whole world: entities with their ids and components, ties, names, resources, arrays,
** events and those that are put off, timers of phases and systems, streams of random numbers; not
** the systems. Worlds with the same history give the same bytes. codec may be NULL when no `any`
** field has a value. ECS_EUSER when the writer stopped, ECS_EBUSY inside scopes. */
ECS_API ecs_status ecs_save(ecs_world *world, ecs_write_fn write, void *ud,
                            const ecs_codec *codec);

/* Replaces all entities by the image's; systems and queries stay. Timings go by names: those of
** phases and systems that are not there are kept until these are registered, and what the image
** does not know is as newly registered. Components are matched by
** name and migrated to what this world declares, unknown ones are created. ECS_ECORRUPT for
** bytes that are no image, and for more bytes than an image: at its end `read` is asked for one
** byte, which it must refuse. Any failure leaves the world as it was. */
ECS_API ecs_status ecs_load(ecs_world *world, ecs_read_fn read, void *ud,
                            const ecs_codec *codec);

/* The whole world, kept in memory: for undo, and to run a stretch of time again. `any` fields
** must be without values (ECS_ETYPE names the component). It lives until it is freed, at most
** as long as its world. */
typedef struct ecs_snapshot ecs_snapshot;
ECS_API ecs_status ecs_snapshot_new(ecs_world *world, ecs_snapshot **out);
ECS_API void ecs_snapshot_free(ecs_snapshot *snapshot);

/* Makes the world what it was, except that components declared since stay declared. What has other
** fields since is migrated, as when an image is loaded: ECS_ERANGE where a value does not fit.
** ECS_EINVAL when a component is undeclared, or a world was loaded since. The same snapshot may be
** restored many times. */
ECS_API ecs_status ecs_restore(ecs_snapshot *snapshot);

/* A hash of the content: of living entities, their components, ties and names, of resources, arrays
** and events, and of the streams of random numbers. It
** depends on neither table nor row order, tag nor component ids. */
ECS_API uint64_t ecs_digest(const ecs_world *world);

#ifdef __cplusplus
}
#endif

#endif
