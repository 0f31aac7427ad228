/* What the fuzz targets share. A target is a function of bytes: it does with a world what they
** say, and ends the process when something does not hold that must. `make fuzz` feeds it from
** libFuzzer, `make test` from the files of spec/fuzz/corpus. */
#ifndef SPEC_FUZZ_H
#define SPEC_FUZZ_H

#include "ecs.h"

/* Arbitrary images, loaded into worlds of several kinds. */
void fuzz_load(const uint8_t *data, size_t size);
/* Arbitrary calls of the C interface. */
void fuzz_operations(const uint8_t *data, size_t size);

/* ---- what must hold ---- */

/* Prints the place, what does not hold and the world's message, and aborts. */
void must_hold(bool holds, const char *text, const ecs_world *world, const char *file,
               int line);
#define MUST(world, condition) must_hold(condition, #condition, world, __FILE__, __LINE__)
#define MUST_OK(world, call) \
  must_hold((call) == ECS_OK, #call " gives ECS_OK", world, __FILE__, __LINE__)

/* ---- the bytes ---- */

/* Past the end all bytes are 0. */
struct input {
  const uint8_t *at, *end;
};

uint8_t take_byte(struct input *in);
uint32_t take_u32(struct input *in);
/* A number from 0 to n - 1. */
uint32_t take_below(struct input *in, uint32_t n);

/* ---- memory ---- */

/* An allocator that always moves, never shrinks, and can be told to fail. */
struct limited {
  size_t bytes, peak;
  size_t fail_at;     /* the request that fails; 0: none */
  bool fail_on;       /* and all behind it */
  uint64_t refused;   /* requests so far that failed */
};

void *limited_alloc(void *ud, void *ptr, size_t osize, size_t nsize);

/* ---- images ---- */

struct image {
  uint8_t *bytes;
  size_t size, capacity;
  size_t at;          /* of reading */
};

bool image_write(void *ud, const void *data, size_t size);
bool image_read(void *ud, void *data, size_t size);
void image_clear(struct image *image);
bool image_same(const struct image *a, const struct image *b);

/* A codec whose values are slots without content. */
ecs_codec codec_of(ecs_world *world);

#endif
