#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ids/world.h"

#define MOST (256u << 20)

void must_hold(bool holds, const char *text, const ecs_world *world, const char *file,
               int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: %s does not hold (%s)\n", file, line, text,
          world ? ecs_message(world) : "no world");
  abort();
}

/* ---- the bytes ---- */

uint8_t take_byte(struct input *in) { return in->at < in->end ? *in->at++ : 0; }

uint32_t take_u32(struct input *in) {
  uint32_t value = 0;
  for (int i = 0; i < 4; i++) value |= (uint32_t)take_byte(in) << (8 * i);
  return value;
}

uint32_t take_below(struct input *in, uint32_t n) { return take_byte(in) % n; }

/* ---- memory ---- */

static bool must_fail(struct limited *memory, size_t size) {
  if (size > MOST || memory->bytes > MOST) return true;
  if (memory->fail_at == 0) return false;
  if (memory->fail_at > 1) {
    memory->fail_at--;
    return false;
  }
  if (!memory->fail_on) memory->fail_at = 0;
  return true;
}

void *limited_alloc(void *ud, void *ptr, size_t osize, size_t nsize) {
  struct limited *memory = ud;
  if (nsize == 0) {
    free(ptr);
    memory->bytes -= ptr ? osize : 0;
    return NULL;
  }
  if (ptr && nsize < osize) return NULL;
  if (must_fail(memory, nsize)) {
    memory->refused++;
    return NULL;
  }
  void *moved = malloc(nsize);
  if (!moved) return NULL;
  memset(moved, 0xDB, nsize);
  if (ptr) memcpy(moved, ptr, osize);
  free(ptr);
  memory->bytes += nsize - (ptr ? osize : 0);
  if (memory->bytes > memory->peak) memory->peak = memory->bytes;
  return moved;
}

/* ---- images ---- */

bool image_write(void *ud, const void *data, size_t size) {
  struct image *image = ud;
  if (size > image->capacity - image->size) {
    image->capacity = (image->size + size) * 2;
    image->bytes = realloc(image->bytes, image->capacity);
    if (!image->bytes) abort();
  }
  memcpy(image->bytes + image->size, data, size);
  image->size += size;
  return true;
}

bool image_read(void *ud, void *data, size_t size) {
  struct image *image = ud;
  if (size > image->size - image->at) return false;
  memcpy(data, image->bytes + image->at, size);
  image->at += size;
  return true;
}

void image_clear(struct image *image) {
  free(image->bytes);
  memset(image, 0, sizeof *image);
}

bool image_same(const struct image *a, const struct image *b) {
  return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static bool encode_slot(void *ud, uint32_t slot, const char **data, size_t *size) {
  (void)ud, (void)slot;
  *data = "any";
  *size = 3;
  return true;
}

static struct any_owner owner;   /* of slots that nobody takes back */

static uint32_t decode_slot(void *ud, const char *data, size_t size) {
  ecs_world *world = ud;
  uint32_t slot;
  if (size == 0 || data[0] != 'a') return 0;
  return any_take(&world->any, &world->memory, &owner, &slot) == ECS_OK ? slot : 0;
}

ecs_codec codec_of(ecs_world *world) { return (ecs_codec){encode_slot, decode_slot, world}; }
