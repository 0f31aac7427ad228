/*
** A host in C: it owns the world, declares components (one from a struct of its own) and
** a resource, runs systems of its own, and lets a Lua script add more to the same phases.
**
**   make examples && build/examples/host/host [script.lua]
*/
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "ecs_lua.h"

/* What the rest of such a program works with; the world keeps it as columns. */
struct probe {
  double height;    /* m */
  double speed;     /* m/s, upwards */
  float fuel;       /* kg */
  int32_t bounces;
};

struct host {
  ecs_world *world;
  ecs_id probe, gravity, landed;
  size_t bytes;     /* held by the world */
  lua_State *L;
};

/* The world's allocator: sizes are exact, so counting is all there is to it. */
static void *allocate(void *ud, void *ptr, size_t osize, size_t nsize) {
  struct host *host = ud;
  void *block = NULL;
  if (nsize == 0)
    free(ptr);
  else if (!(block = realloc(ptr, nsize)))
    return NULL;
  host->bytes = host->bytes - osize + nsize;
  return block;
}

/* Prints what went wrong; whether all was well. */
static int fine(const struct host *host, ecs_status status, const char *doing) {
  if (status == ECS_OK) return 1;
  fprintf(stderr, "host: %s: %s (status %d)\n", doing,
          host->world ? ecs_message(host->world) : "no world", (int)status);
  return 0;
}

/* From a struct of this program: the offsets say where its fields are. */
static ecs_status declare_probe(struct host *host) {
  const ecs_field fields[] = {
    {.name = "height", .type = ECS_F64, .offset = offsetof(struct probe, height)},
    {.name = "speed", .type = ECS_F64, .offset = offsetof(struct probe, speed)},
    {.name = "fuel", .type = ECS_F32, .offset = offsetof(struct probe, fuel)},
    {.name = "bounces", .type = ECS_I32, .offset = offsetof(struct probe, bounces)},
  };
  const ecs_component_desc desc = {
    .name = "Probe",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .native_size = sizeof(struct probe),
  };
  return ecs_component(host->world, &desc, &host->probe);
}

/* A single value that the world owns; its default stands until someone sets it. */
static ecs_status declare_gravity(struct host *host) {
  const ecs_field field = {
    .name = "pull", .type = ECS_F64, .value = {.kind = ECS_KIND_NUMBER, .number = 1.6}};
  const ecs_component_desc desc = {.name = "Gravity", .fields = &field, .field_count = 1};
  ecs_status status = ecs_component(host->world, &desc, &host->gravity);
  return status == ECS_OK ? ecs_resource(host->world, host->gravity) : status;
}

static ecs_status declare(struct host *host) {
  ecs_status status = declare_probe(host);
  if (status == ECS_OK) status = declare_gravity(host);
  if (status == ECS_OK) status = ecs_tag(host->world, "Landed", &host->landed);
  return status;
}

/* ---- systems ----------------------------------------------------------------------- */

/* A native system works on columns: `fall` moves all probes of a table in one loop. */
static ecs_status fall(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const struct host *host = ud;
  double pull;
  ecs_iter it;
  ecs_status status = ecs_resource_get(world, host->gravity, &pull);
  if (status == ECS_OK) status = ecs_iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (ecs_iter_next(&it)) {
    double *height = ecs_iter_column(&it, 0, 0);
    double *speed = ecs_iter_column(&it, 0, 1);
    for (size_t i = 0; i < it.count; i++) {
      speed[i] -= pull * dt;
      height[i] += speed[i] * dt;
    }
  }
  return ecs_iter_close(&it);
}

static ecs_status bounce(ecs_world *world, ecs_query *query, double dt, void *ud) {
  ecs_iter it;
  ecs_status status = ecs_iter_open(query, &it);
  (void)world, (void)dt, (void)ud;
  if (status != ECS_OK) return status;
  while (ecs_iter_next(&it)) {
    double *height = ecs_iter_column(&it, 0, 0);
    double *speed = ecs_iter_column(&it, 0, 1);
    int32_t *bounces = ecs_iter_column(&it, 0, 3);
    for (size_t i = 0; i < it.count; i++) {
      if (height[i] >= 0) continue;
      height[i] = 0;
      speed[i] *= -0.5;
      bounces[i]++;
    }
  }
  return ecs_iter_close(&it);
}

/* The script's system `brake` runs between these two: it says so itself. */
static ecs_status register_systems(struct host *host) {
  static const char *const after_fall[] = {"fall", NULL};
  const ecs_system_desc falling = {
    .name = "fall", .query = "Probe, !Landed", .run = fall, .ud = host};
  const ecs_system_desc bouncing = {
    .name = "bounce", .query = "Probe, !Landed", .after = after_fall, .run = bounce};
  ecs_status status = ecs_system_new(host->world, &falling);
  return status == ECS_OK ? ecs_system_new(host->world, &bouncing) : status;
}

/* ---- the script -------------------------------------------------------------------- */

/* The module without looking for files, then the script, which receives the world. */
static int load_script(lua_State *L) {
  struct host *host = lua_touserdata(L, 1);
  const char *path = lua_touserdata(L, 2);
  luaL_openlibs(L);
  ecs_lua_open(L);
  if (luaL_loadfilex(L, path, "t") != LUA_OK) return lua_error(L);
  ecs_lua_push_world(L, host->world);
  lua_call(L, 1, 0);
  return 0;
}

static int run_script(struct host *host, const char *path) {
  host->L = luaL_newstate();
  if (!host->L) return 0;
  lua_pushcfunction(host->L, load_script);
  lua_pushlightuserdata(host->L, host);
  lua_pushlightuserdata(host->L, (void *)(uintptr_t)path);
  if (lua_pcall(host->L, 2, 0, 0) == LUA_OK) return 1;
  fprintf(stderr, "host: %s\n", lua_tostring(host->L, -1));
  return 0;
}

/* ---- the program ------------------------------------------------------------------- */

static ecs_status spawn_probes(struct host *host, ecs_id *ids, size_t count) {
  ecs_status status = ecs_spawn_many(host->world, count, &host->probe, 1, ids);
  for (size_t i = 0; i < count && status == ECS_OK; i++) {
    const struct probe probe = {.height = 5.0 + 10.0 * (double)i,
                                .fuel = 2.0f * (float)i};
    status = ecs_set(host->world, ids[i], host->probe, &probe);
  }
  return status;
}

static ecs_status print_probes(const struct host *host, const ecs_id *ids, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct probe probe;
    ecs_status status = ecs_get(host->world, ids[i], host->probe, &probe);
    if (status != ECS_OK) return status;
    printf("probe %d: height %.2f m, speed %.2f m/s, fuel %.2f kg, %d bounces\n",
           (int)i + 1, probe.height, probe.speed, (double)probe.fuel, (int)probe.bounces);
  }
  return ECS_OK;
}

enum { PROBES = 3, UPDATES = 1500 };

static int simulate(struct host *host, const char *script) {
  ecs_id ids[PROBES];
  size_t landed = 0;
  if (!fine(host, declare(host), "declaring components") ||
      !fine(host, register_systems(host), "registering systems") ||
      !run_script(host, script) ||
      !fine(host, spawn_probes(host, ids, PROBES), "spawning"))
    return 0;
  for (int i = 0; i < UPDATES; i++)
    if (!fine(host, ecs_update(host->world, 1.0 / 60), "updating")) return 0;
  if (!fine(host, print_probes(host, ids, PROBES), "printing") ||
      !fine(host, ecs_count(host->world, "Landed", &landed), "counting"))
    return 0;
  printf("%d of %d have landed\n", (int)landed, PROBES);
  return fine(host, ecs_check(host->world), "checking");
}

int main(int argc, char **argv) {
  struct host host = {0};
  const ecs_world_desc desc = {.alloc = allocate, .alloc_ud = &host, .tag = 1};
  if (!fine(&host, ecs_world_new(&desc, &host.world), "making a world")) return 1;
  int ok = simulate(&host, argc > 1 ? argv[1] : "examples/host/script.lua");
  if (host.L) lua_close(host.L);
  ecs_world_free(host.world);
  printf("%d bytes left\n", (int)host.bytes);
  return ok && host.bytes == 0 ? 0 : 1;
}
