/* Law 3, reliability line 34: worlds on threads of their own share nothing. To be run under
** ThreadSanitizer, too. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "fixture.h"
#include "threads.h"

#define ROOM (1u << 18)

struct bytes {
  unsigned char data[ROOM];
  size_t size, at;
};

/* One for each thread, and too large for its stack. */
static struct bytes images[THREADS];

static bool write_image(void *ud, const void *data, size_t size) {
  struct bytes *bytes = ud;
  if (size > ROOM - bytes->size) return false;
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  return true;
}

static bool read_image(void *ud, void *data, size_t size) {
  struct bytes *bytes = ud;
  if (size > bytes->size - bytes->at) return false;
  memcpy(data, bytes->data + bytes->at, size);
  bytes->at += size;
  return true;
}

static ecs_status move(ecs_world *world, ecs_query *query, double dt, void *ud) {
  ecs_iter it;
  (void)ud;
  ecs_status status = ecs_iter_open(query, &it);
  while (status == ECS_OK && ecs_iter_next(&it)) {
    float *x = ecs_iter_column(&it, 0, 0), *speed = ecs_iter_column(&it, 1, 0);
    for (uint32_t i = 0; i < it.count; i++) x[i] += speed[i] * (float)dt;
  }
  return status == ECS_OK ? ecs_iter_close(&it) : ecs_check(world);
}

static void add_systems(struct fixture *f) {
  ecs_system_desc systems[] = {
      {.name = "move", .query = "Position, Velocity, !Frozen", .run = move},
      {.name = "later", .query = "Position, Velocity", .run = move, .every = 0.5}};
  for (size_t i = 0; i < 2; i++) CHECK_OK(f->world, ecs_system_new(f->world, &systems[i]));
}

/* Spawns, moves between tables and despawns, in a scope at times. */
static void churn(struct fixture *f, int round) {
  char name[32];
  ecs_id id = SPAWN(f->world, f->position, f->velocity, f->label);
  set_position(f, id, (float)round, 1);
  CHECK_OK(f->world, ecs_set(f->world, id, f->velocity, &(struct velocity){2, 3}));
  snprintf(name, sizeof name, "being %d", round);
  CHECK_OK(f->world, ecs_name(f->world, id, name));
  CHECK_OK(f->world, ecs_set(f->world, id, f->label, &(struct label){text_of(name)}));
  if (round % 3 == 0) CHECK_OK(f->world, ecs_defer(f->world));
  CHECK_OK(f->world, ecs_add(f->world, id, round % 2 ? f->frozen : f->enemy));
  ecs_id old = ecs_lookup(f->world, "being 0");
  if (round % 5 == 4 && old) CHECK_OK(f->world, ecs_despawn(f->world, old));
  if (round % 3 == 0) CHECK_OK(f->world, ecs_commit(f->world));
  CHECK_OK(f->world, ecs_update(f->world, 0.25));
}

static void save_and_load(struct fixture *f, struct bytes *image) {
  image->size = image->at = 0;
  uint64_t before = world_digest(f->world);
  CHECK_OK(f->world, ecs_save(f->world, write_image, image, NULL));
  CHECK_OK(f->world, ecs_load(f->world, read_image, image, NULL));
  CHECK(world_digest(f->world) == before);
}

static void live_a_life(struct worker *worker) {
  struct fixture f;
  memset(&f, 0, sizeof f);
  open_usual(&f);
  add_systems(&f);
  for (int round = 0; round < by_scale(100, 400, 1000); round++) {
    churn(&f, round);
    if (round % 50 == 49) save_and_load(&f, &images[worker->number]);
    const char *field = round % 80 == 39 ? "more" : "text";
    if (round % 40 == 39) declare_one(f.world, "Label", field, ECS_STRING);
    worker->results[round % 64] ^= world_digest(f.world);
  }
  close_world(&f);
}

static void worlds_share_nothing(void) { run_threads(live_a_life); }

/* Sanitizers put more on the stack than is theirs to count. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SMALL_STACK (256u * 1024)
#else
#define SMALL_STACK (64u * 1024)
#endif

struct death {
  ecs_world *world;
  ecs_id who;
  ecs_status status;
};

static void *end_all(void *ud) {
  struct death *death = ud;
  death->status = ecs_despawn(death->world, death->who);
  return NULL;
}

static void run_on_a_small_stack(void *(*run)(void *ud), void *ud) {
  pthread_t thread;
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  size_t size = SMALL_STACK;   /* some machines want twice as much for any thread */
  if (pthread_attr_setstacksize(&attributes, size) != 0)
    CHECK(pthread_attr_setstacksize(&attributes, 2 * size) == 0);
  CHECK(pthread_create(&thread, &attributes, run, ud) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_attr_destroy(&attributes);
}

/* A chain, and a fan. */
static void ends_many_on_a_small_stack(void) {
  struct fixture f;
  for (int wide = 0; wide < 2; wide++) {
    memset(&f, 0, sizeof f);
    open_usual(&f);
    ecs_id child_of, last = spawn_empty(f.world);
    size_t before = ecs_alive_count(f.world) - 1;
    struct death death = {f.world, last, ECS_EINVAL};
    CHECK_OK(f.world, ecs_child_of(f.world, &child_of));
    for (long i = by_scale(20000, 100000, 1000000); i > 0; i--) {
      ecs_id next = SPAWN(f.world, ecs_pair(child_of, last));
      if (!wide) last = next;
    }
    run_on_a_small_stack(end_all, &death);
    CHECK_INTEGER(ECS_OK, death.status);
    CHECK_INTEGER(before, ecs_alive_count(f.world));
    close_world(&f);
  }
}

static const struct test tests[] = {
  {"worlds on six threads live as one alone does", worlds_share_nothing},
  {"C87: chains and fans of children end on a small stack", ends_many_on_a_small_stack},
};

int main(void) { return RUN_TESTS(tests); }
