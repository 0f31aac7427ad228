/* Worlds as bytes: saving, loading, snapshots, the digest. */
#ifndef ECS_IMAGE_H
#define ECS_IMAGE_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write or read exactly `size` bytes; false stops. They must not touch the world. */
typedef bool (*ecs_write_fn)(void *ud, const void *data, size_t size);
typedef bool (*ecs_read_fn)(void *ud, void *data, size_t size);

/* Converts `any` values to bytes and back. encode writes the bytes of one value and returns false
** to refuse it; decode receives them and returns a slot, or 0 on failure. */
typedef struct ecs_codec {
  bool (*encode)(void *ud, uint32_t slot, const char **data, size_t *size);
  uint32_t (*decode)(void *ud, const char *data, size_t size);
  void *ud;
} ecs_codec;

/* Writes the whole world: entities with their ids and components, ties, names, resources, arrays,
** events (delayed ones included), timers of phases and systems, random streams; not the systems.
** Worlds with the same history give the same bytes. codec may be NULL if no `any` field has a
** value. ECS_EUSER if the writer stopped, ECS_EBUSY inside scopes. */
ECS_API ecs_status ecs_save(ecs_world *world, ecs_write_fn write, void *ud,
                            const ecs_codec *codec);

/* Replaces all entities by those of the image; systems and queries stay. Timers are matched by
** name: those of unknown phases and systems are kept until these are registered, and those that the
** image lacks start afresh. Components are matched by name and migrated to this world's
** declarations; unknown ones are created. ECS_ECORRUPT if the bytes are not an image or go on after
** its end: there, `read` is asked for one more byte, which it must refuse. A failure leaves the
** world as it was. */
ECS_API ecs_status ecs_load(ecs_world *world, ecs_read_fn read, void *ud,
                            const ecs_codec *codec);

/* The whole world, kept in memory: for undo, or to run a stretch of time again. `any` fields must
** have no values (ECS_ETYPE names the component). It lives until it is freed, at the latest with
** its world. */
typedef struct ecs_snapshot ecs_snapshot;
ECS_API ecs_status ecs_snapshot_new(ecs_world *world, ecs_snapshot **out);
ECS_API void ecs_snapshot_free(ecs_snapshot *snapshot);

/* Makes the world what it was, except that components declared since stay declared. Components
** whose fields have changed since are migrated, as when an image is loaded: ECS_ERANGE if a value
** does not fit. ECS_EINVAL if a component has been undeclared or a world loaded since. A snapshot
** may be restored many times. */
ECS_API ecs_status ecs_restore(ecs_snapshot *snapshot);

/* A hash of the content: living entities, their components, ties and names, resources, arrays,
** events and random streams. It does not depend on the order of tables or rows, nor on the ids of
** tags and components. */
ECS_API uint64_t ecs_digest(const ecs_world *world);

#ifdef __cplusplus
}
#endif

#endif
