/* Writing and reading bytes: little-endian numbers and whole columns through the host's callbacks,
** with a running checksum. The first failure sticks: after it nothing is written, and reads give
** zeros. */
#ifndef ECS_CORE_IMAGE_STREAM_H
#define ECS_CORE_IMAGE_STREAM_H

#include "core/base/base.h"
#include "ecs_image.h"

struct arena;
struct memory;

#define STREAM_BUFFER 4096u

/* Four lanes of 64 bits, each step a bijection of its lane, so a single flipped bit is never
** missed; in the manner of xxHash64 (Y. Collet). */
struct checksum {
  uint64_t lanes[4];
  uint64_t size;
  uint8_t rest[32];
};

void checksum_begin(struct checksum *sum);
void checksum_add(struct checksum *sum, const void *data, size_t size);
uint64_t checksum_end(const struct checksum *sum);

struct writer {
  ecs_write_fn write;
  void *ud;
  bool failed;
  uint32_t used;
  struct checksum sum;
  uint8_t buffer[STREAM_BUFFER];
};

void writer_begin(struct writer *out, ecs_write_fn write, void *ud);
void write_u8(struct writer *out, uint8_t value);
void write_u32(struct writer *out, uint32_t value);
void write_u64(struct writer *out, uint64_t value);
void write_f64(struct writer *out, double value);
void write_bytes(struct writer *out, const void *data, size_t size);
/* Writes numbers of `size` bytes each. */
void write_numbers(struct writer *out, const void *data, uint32_t size, size_t count);
void write_text(struct writer *out, const char *text, size_t size);
/* Appends the checksum; false if anything failed. */
bool writer_end(struct writer *out);

struct reader {
  ecs_read_fn read;
  void *ud;
  bool failed;
  struct checksum sum;
};

void reader_begin(struct reader *in, ecs_read_fn read, void *ud);
uint8_t read_u8(struct reader *in);
uint32_t read_u32(struct reader *in);
uint64_t read_u64(struct reader *in);
double read_f64(struct reader *in);
void read_bytes(struct reader *in, void *data, size_t size);
void read_numbers(struct reader *in, void *data, uint32_t size, size_t count);
/* Reads a text into memory of the arena, ended by a zero byte; it grows as bytes arrive, so a
** forged size costs nothing. NULL on failure; *size excludes the zero byte. */
char *read_text(struct reader *in, struct memory *memory, struct arena *arena,
                size_t limit, size_t *size);
/* Reads a text whose size has been read. */
char *read_text_of(struct reader *in, struct memory *memory, struct arena *arena, size_t limit,
                   size_t size);
/* False if anything failed or the checksum differs. */
bool reader_end(struct reader *in);

/* The saved image of a world, format 3. Numbers are little-endian; texts are u32 size and
** bytes; components are named by their place in the image's list. The same world gives the same
** bytes on every machine, so nothing of a native struct's layout is in them.
**
**   header      8 bytes "ecsworld", u32 version
**   world       u32 tag, u64 seed, u64 tick; u64 streams of random numbers that function forms
**               have opened in this tick, u64 numbers drawn outside of any
**   strings     u32 count, the texts, in the order in which the rest first names them;
**               string fields hold 0 for "" or a place counted from 1
**   components  u32 count, by nesting depth and name, each: text name, text doc, u8 flags
**               (1 resource, 2 relation, 4 exclusive, 8 acyclic, 16 sources die with their
**               target, 32 they keep it alive, 64 toggle, 128 sparse), u32 fields,
**               each: text name, type, u8 type's code (types.h), u32 array count, u32 nested
**               place, u8 has default, u32 names, the texts, texts doc unit min max (size
**               0xFFFFFFFF for none);
**               u32 leaves, each: u32 bytes of a cell, u64 default (entities: 0); for a resource
**               the leaves' cells. Flags 3, a relation that is a resource, say that it is an
**               array, whose u32 length follows them; flags 66, a relation that is a toggle,
**               say that it is an event
**   required    for each component: u32 count, u32 places of what it requires, ascending
**   arrays      for each array, by place: as many cells as its length
**   entities    u32 first, last, next of the spawn range, u32 free count, u32 indices in the
**               order they will be taken; u32 pages, each: u32 number, 4,096 u16 generations,
**               4,096 u8 states
**   tables      u32 count, the tables with rows, in the order in which they got the first, each:
**               u32 components, their places, u32 pairs, sorted, each: u32 relation's place, u32
**               target; u8 0, u32 rows, u32 entity index each, then the columns: by place, then
**               leaf, those of pairs after those of components, each: u32 bytes of a cell, the
**               cells. `any` columns: u32 size (0xFFFFFFFF for nil) and bytes for each cell. Then,
**               for each of its components that is a toggle, by place: u32 rows that have it off,
**               and when there are any, a bit for each row, in u64 words. (Earlier versions also
**               wrote empty tables, with 1 as the u8 of those that had long been empty.)
**   sparse      for each sparse component and each event, by place: u32 rows, u32 entity index
**               each (0 for events), in packed order, then the columns and, for a toggle, which
**               rows have it off, as in tables, whose lists do not name it. After an event's: u32
**               rows that existed when the last update ended; for each system that reads it a u8
**               1, text name, u32 rows that it has seen, u32 rows that it was due for; a u8 0;
**               u32 delayed rows, and when there are any, these like the others, f64 clock, f64
**               due time of each by that clock
**   ties        for each exclusive relation, by place: u32 count, the sources, by targets and then
**               in the order in which they were tied
**   names       u32 count, by their bytes and then by id, each: u64 id, text
**   schedule    u32 phases to which anything has happened, by name, each: text name, f64
**               accumulator, u8 enabled; u32 systems, likewise, each: text name, f64 timer, f64
**               elapsed, u8 flags (1 enabled, 2 has run, 4 parked, 8 switched on or off), u64
**               streams of random numbers opened in this tick. 2^31 is added to the number of
**               systems when changes follow. (Earlier versions wrote all of them, in running
**               order.) Readers of events and of changes are sorted by name, too
**   changes     u64 runs so far plus 1; for each system that asks for changes a u8 1, text name,
**               text query, u64 run up to which it has seen them; a u8 0; for each component, by
**               place: u8 (0 nothing follows, 1 by groups, 2 by rows), then, for each table that
**               has it, and each of its pairs there, in the order above, and for the set of a
**               sparse component: u64 run for each 1,024 rows, at least the last that all readers
**               have seen; by rows: u64 run in which each was written, and that of its addition
**   checksum    u64 of everything before it (stream.h); nothing follows
**
** An entity index below 65,536, in rows, pairs, ties and entity fields, is a component's place
** plus 1.
**
** An image's size bounds the memory that it makes the loader take, even if it is forged (load.c).
** The sizes of cells, otherwise redundant, ensure that every leaf and every column of an empty
** table has some bytes to account for its memory.
**
** Formats 1 and 2 are read as well. They had no relations, pairs or ties, no sparse
** components, no requirements, no toggles, no arrays and no events. Format 1 had a u32 native size
** before a component's fields and a u64 offset before a field's names, but no sizes of cells and
** no streams. */

#define IMAGE_MAGIC "ecsworld"
#define IMAGE_VERSION 3u
#define IMAGE_OLDEST 1u
#define IMAGE_TEXT_LIMIT (UINT32_MAX / 2)
#define IMAGE_CHANGES 0x80000000u

enum {
  IMAGE_RESOURCE = 1, IMAGE_RELATION = 2, IMAGE_EXCLUSIVE = 4, IMAGE_ACYCLIC = 8,
  IMAGE_DESPAWNS = 16, IMAGE_REFUSES = 32, IMAGE_TOGGLE = 64, IMAGE_SPARSE = 128,
  IMAGE_ARRAY = IMAGE_RESOURCE | IMAGE_RELATION,
  IMAGE_EVENT = IMAGE_RELATION | IMAGE_TOGGLE
};

enum slot_state { SLOT_UNBORN, SLOT_ALIVE, SLOT_FREE, SLOT_PARTED, SLOT_RETIRED };

/* The components of a world, const struct component each, in the order of its image. NULL when out
** of memory; must be freed with image_components_free before the world gets other components. */
const void **image_components(ecs_world *world, uint32_t *count);
void image_components_free(ecs_world *world, const void **list);

#endif
