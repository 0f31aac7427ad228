/* The saved image of a world, format 1. Numbers are little-endian; texts are u32 size and
** bytes; components are named by their place in the image's list.
**
**   header      8 bytes "ecsworld", u32 version
**   world       u32 tag, u64 seed, u64 tick
**   strings     u32 count, the texts; string fields hold 0 for "" or a place counted from 1
**   components  u32 count, by nesting depth and name, each: text name, text doc, u8 flags
**               (1 resource), u32 native size, u32 fields, each: text name, type, u8 type, u32
**               array count, u32 nested place, u8 has default, u64 offset, u32 names, the
**               texts, texts doc unit min max (size 0xFFFFFFFF for none);
**               u32 leaves, u64 default each (entities: 0); for a resource the leaves' cells
**   entities    u32 first, last, next of the spawn range, u32 free count, u32 indices in the
**               order they will be taken; u32 pages, each: u32 number, 4,096 u16 generations,
**               4,096 u8 states
**   tables      u32 count, in the order they were made, each: u32 components, their places,
**               u8 flags (1 was empty), u32 rows, u32 entity index each, then the columns: by
**               place, then leaf. `any` columns: u32 size (0xFFFFFFFF for nil) and bytes each
**   names       u32 count, each: u64 id, text
**   schedule    u32 phases, each: text name, f64 accumulator, u8 enabled; u32 systems, each:
**               text name, f64 timer, f64 elapsed, u8 flags (1 enabled, 2 has run, 4 parked)
**   checksum    u64 of everything before it (stream.h)
**
** An entity index below 65,536, in rows and in entity fields, is a component's place plus 1. */
#ifndef ECS_CORE_IMAGE_H
#define ECS_CORE_IMAGE_H

#include "stream.h"

#define IMAGE_MAGIC "ecsworld"
#define IMAGE_VERSION 1u
#define IMAGE_TEXT_LIMIT (UINT32_MAX / 2)

enum slot_state { SLOT_UNBORN, SLOT_ALIVE, SLOT_FREE, SLOT_PARTED, SLOT_RETIRED };

/* The components of a world in the order of its image. NULL when out of memory; the array has
** room for the registry's count. */
struct component **image_components(ecs_world *world, uint32_t *count);

#endif
