/* Bytes out and in: little-endian numbers and whole columns through the host's callbacks, with
** a running checksum. The first failure sticks; after it nothing is written, and reads give
** zeros. */
#ifndef ECS_CORE_IMAGE_STREAM_H
#define ECS_CORE_IMAGE_STREAM_H

#include "core/base/base.h"
#include "ecs_image.h"

struct arena;
struct memory;

#define STREAM_BUFFER 4096u

/* Four lanes of 64 bits, each step a bijection of its lane, so that no single flipped bit goes
** unseen; in the manner of xxHash64 (Y. Collet). */
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
/* Numbers of `size` bytes each. */
void write_numbers(struct writer *out, const void *data, uint32_t size, size_t count);
/* How many bits are set, and when there are any, as many as there are rows. */
void write_bits(struct writer *out, const uint64_t *bits, uint32_t set, uint32_t rows);
void write_text(struct writer *out, const char *text, size_t size);
/* Appends the checksum; false when anything failed. */
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
/* A text in memory of the arena, ended by a zero byte; grows as bytes arrive, so that a
** forged size costs nothing. NULL on failure; *size without the zero byte. */
char *read_text(struct reader *in, struct memory *memory, struct arena *arena,
                size_t limit, size_t *size);
/* The same for a text whose size has been read. */
char *read_text_of(struct reader *in, struct memory *memory, struct arena *arena, size_t limit,
                   size_t size);
/* False when anything failed or the checksum differs. */
bool reader_end(struct reader *in);

#endif
