#include <string.h>

#include "sweep.h"

static void open_for(const struct operation *operation, struct fixture *f) {
  open_usual(f);
  if (operation->prepare) operation->prepare(f);
}

static uint64_t finish(const struct operation *operation, struct fixture *f) {
  if (operation->finish) operation->finish(f);
  return operation->kind == TAKES_NEW_IDS ? world_content(f->world) : world_digest(f->world);
}

/* What the operation makes of a world when memory is plenty; *calls is how often it asks. */
static uint64_t clean_run(const struct operation *operation, size_t *calls) {
  struct fixture f;
  open_for(operation, &f);
  alloc_arm(&f.alloc, 0, false);
  CHECK_OK(f.world, operation->act(&f));
  *calls = f.alloc.calls;
  uint64_t digest = finish(operation, &f);
  close_world(&f);
  return digest;
}

/* One run in which the k-th request fails. */
static void starved_run(const struct operation *operation, uint64_t wanted, size_t k,
                        bool from_there_on) {
  struct fixture f;
  open_for(operation, &f);
  uint64_t before = world_digest(f.world);
  alloc_arm(&f.alloc, k, from_there_on);
  ecs_status status = operation->act(&f);
  CHECK(f.alloc.refused > 0);
  alloc_arm(&f.alloc, 0, false);
  if (status == ECS_ENOMEM) {
    CHECK_SOUND(f.world);
    CHECK(world_digest(f.world) == before);
    CHECK_INTEGER(f.alloc.bytes, ecs_bytes(f.world));
    status = operation->act(&f);
  }
  CHECK_OK(f.world, status);
  CHECK(finish(operation, &f) == wanted);
  close_world(&f);
}

static int run_sweep(const struct operation *operation) {
  begin_test();
  size_t calls = 0;
  uint64_t wanted = clean_run(operation, &calls);
  CHECK(operation->kind == ASKS_NOTHING ? calls == 0 : calls > 0);
  for (size_t k = 1; k <= calls; k++) {
    for (int from_there_on = 0; from_there_on < 2; from_there_on++) {
      check_context("request %zu of %zu fails%s", k, calls,
                    from_there_on ? " and all behind it" : "");
      starved_run(operation, wanted, k, from_there_on);
    }
  }
  check_context(NULL);
  return end_test(operation->name);
}

static struct { char bytes[1 << 16]; size_t size, at; } image;

static bool write_image(void *ud, const void *data, size_t size) {
  (void)ud;
  if (size > sizeof image.bytes - image.size) return false;
  memcpy(image.bytes + image.size, data, size);
  image.size += size;
  return true;
}

static bool read_image(void *ud, void *data, size_t size) {
  (void)ud;
  if (size > image.size - image.at) return false;
  memcpy(data, image.bytes + image.at, size);
  image.at += size;
  return true;
}

ecs_status save_image(struct fixture *f) {
  image.size = 0;
  return ecs_save(f->world, write_image, NULL, NULL);
}

ecs_status load_image(struct fixture *f) {
  image.at = 0;
  return ecs_load(f->world, read_image, NULL, NULL);
}

ecs_status keep_and_restore(struct fixture *f) {
  ecs_snapshot *snapshot;
  ecs_status status = ecs_snapshot_new(f->world, &snapshot);
  if (status != ECS_OK) return status;
  status = ecs_restore(snapshot);
  ecs_snapshot_free(snapshot);
  return status;
}

int run_sweeps(const struct operation *operations, size_t count) {
  int bad = 0;
  for (size_t i = 0; i < count; i++) bad |= run_sweep(&operations[i]);
  return bad;
}
