/* The two systems of the game that take longest, `push` and `strike` of scripts/, written in C by
** hand: `main.lua --native` runs these instead. They come to the same bits. A module as
** examples/module/motion.c, which see for what is said of such modules.
*/
#include <math.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>

#include "ecs_lua.h"

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* As in scripts/horde.lua and scripts/guns.lua. */
#define ROOM 1.0
#define CELL 1.5
#define SHOVE 300.0
#define REACH 0.7
#define KICK 0.06

#define CELLS 1024   /* a side of the field, at most: who is outside is in a cell of its border */

/* The enemies by cells, and the places of those of each cell behind one another. */
typedef struct horde {
  const ecs_lua_api *ecs;
  ecs_query *enemies;
  size_t count, room;
  double *x, *y;                 /* in query order */
  double *near_x, *near_y;       /* in the order of cells, in a cell in query order */
  ecs_id *ids, *near_ids;
  uint32_t *cell;
  uint32_t *first;               /* where each cell begins; one more than there are cells */
  size_t cells;
  int left, top, width, height;  /* of the field, in cells */
  bool fresh;                    /* gathered since the last `strike` */
  int users;
} horde;

/* The cells that may have someone in reach of a place. */
typedef struct area {
  int left, right, top, bottom;
} area;

/* What Lua's `Hit` is in C. */
typedef struct hit {
  ecs_id who;
  double damage, x, y;
} hit;

static bool grow(void **list, size_t count, size_t size) {
  void *grown = realloc(*list, count * size);
  if (grown) *list = grown;
  return grown != NULL;
}

static bool make_room(horde *h, size_t count) {
  const size_t room = 2 * count;
  if (count <= h->room) return true;
  if (!grow((void **)&h->x, room, sizeof *h->x) || !grow((void **)&h->y, room, sizeof *h->y)
      || !grow((void **)&h->near_x, room, sizeof *h->near_x)
      || !grow((void **)&h->near_y, room, sizeof *h->near_y)
      || !grow((void **)&h->ids, room, sizeof *h->ids)
      || !grow((void **)&h->near_ids, room, sizeof *h->near_ids)
      || !grow((void **)&h->cell, room, sizeof *h->cell)) {
    return false;
  }
  h->room = room;
  return true;
}

static int limit(double at, int least, int most) {
  return at > most ? most : at > least ? (int)at : least;    /* NaN: the least */
}

/* Who is where, in query order. */
static ecs_status copy_places(horde *h) {
  const ecs_lua_api *ecs = h->ecs;
  ecs_iter it;
  ecs_status status = ecs->iter_open(h->enemies, &it);
  h->count = 0;
  if (status != ECS_OK) return status;
  while (ecs->iter_next(&it)) {
    const double *x = ecs->iter_column(&it, 0, 0), *y = ecs->iter_column(&it, 0, 1);
    if (!make_room(h, h->count + it.count)) {
      ecs->iter_close(&it);
      return ECS_ENOMEM;
    }
    for (size_t i = 0; i < it.count; i++) {
      h->x[h->count + i] = x[i];
      h->y[h->count + i] = y[i];
      h->ids[h->count + i] = ecs->iter_entity(&it, i);
    }
    h->count += it.count;
  }
  return ecs->iter_close(&it);
}

/* The field is as large as it has to be. */
static bool span_field(horde *h) {
  double least_x = 0, least_y = 0, most_x = 0, most_y = 0;
  for (size_t i = 0; i < h->count; i++) {
    least_x = h->x[i] < least_x ? h->x[i] : least_x;
    least_y = h->y[i] < least_y ? h->y[i] : least_y;
    most_x = h->x[i] > most_x ? h->x[i] : most_x;
    most_y = h->y[i] > most_y ? h->y[i] : most_y;
  }
  h->left = limit(floor(least_x / CELL), -CELLS / 2, 0);
  h->top = limit(floor(least_y / CELL), -CELLS / 2, 0);
  h->width = limit(floor(most_x / CELL), 0, CELLS / 2 - 1) - h->left + 1;
  h->height = limit(floor(most_y / CELL), 0, CELLS / 2 - 1) - h->top + 1;
  h->cells = (size_t)h->width * (size_t)h->height;
  return grow((void **)&h->first, h->cells + 2, sizeof *h->first);
}

static int column_of(const horde *h, double x) {
  return limit(floor(x / CELL) - h->left, 0, h->width - 1);
}

static int row_of(const horde *h, double y) {
  return limit(floor(y / CELL) - h->top, 0, h->height - 1);
}

/* Sorts them by counting. */
static void sort(horde *h) {
  uint32_t *next = h->first + 1;
  for (size_t i = 0; i < h->cells + 2; i++) h->first[i] = 0;
  for (size_t i = 0; i < h->count; i++) {
    const int cell = row_of(h, h->y[i]) * h->width + column_of(h, h->x[i]);
    h->cell[i] = (uint32_t)cell;
    h->first[cell + 2]++;
  }
  for (size_t i = 2; i < h->cells + 2; i++) h->first[i] += h->first[i - 1];
  for (size_t i = 0; i < h->count; i++) {
    const uint32_t at = next[h->cell[i]]++;
    h->near_x[at] = h->x[i];
    h->near_y[at] = h->y[i];
    h->near_ids[at] = h->ids[i];
  }
}

static ecs_status gather(horde *h) {
  ecs_status status = copy_places(h);
  if (status != ECS_OK) return status;
  if (!span_field(h)) return ECS_ENOMEM;
  sort(h);
  h->fresh = true;
  return ECS_OK;
}

static area around(const horde *h, double x, double y, double reach) {
  const area found = {column_of(h, x - reach), column_of(h, x + reach), row_of(h, y - reach),
                      row_of(h, y + reach)};
  return found;
}

/* What pushes who is at a place. */
static void add_force(const horde *h, double px, double py, double *x, double *y) {
  const area near = around(h, px, py, ROOM);
  for (int row = near.top; row <= near.bottom; row++) {
    const uint32_t *first = h->first + (size_t)row * (size_t)h->width;
    for (uint32_t i = first[near.left]; i < first[near.right + 1]; i++) {
      const double dx = px - h->near_x[i], dy = py - h->near_y[i];
      const double distance = sqrt(dx * dx + dy * dy);
      if (distance <= ROOM) {
        const double force = (ROOM - distance) / (distance > 1e-9 ? distance : 1e-9);
        *x += dx * force;
        *y += dy * force;
      }
    }
  }
}

static ecs_status push(ecs_world *world, ecs_query *query, double dt, void *ud) {
  horde *h = ud;
  const ecs_lua_api *ecs = h->ecs;
  ecs_iter it;
  ecs_status status = gather(h);
  (void)world;
  if (status == ECS_OK) status = ecs->iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (ecs->iter_next(&it)) {
    const double *px = ecs->iter_column(&it, 0, 0), *py = ecs->iter_column(&it, 0, 1);
    double *vx = ecs->iter_column(&it, 1, 0), *vy = ecs->iter_column(&it, 1, 1);
    for (size_t i = 0; i < it.count; i++) {
      double x = 0, y = 0;
      add_force(h, px[i], py[i], &x, &y);
      vx[i] += x * SHOVE * dt;
      vy[i] += y * SHOVE * dt;
    }
  }
  return ecs->iter_close(&it);
}

/* A bullet among the horde: emits its hits, and dies of the last one. */
static ecs_status hit_some(horde *h, ecs_world *world, ecs_id event, ecs_id bullet, double px,
                           double py, hit *blow, int32_t *hits) {
  const area near = around(h, px, py, REACH);
  for (int row = near.top; row <= near.bottom; row++) {
    const uint32_t *first = h->first + (size_t)row * (size_t)h->width;
    for (uint32_t i = first[near.left]; i < first[near.right + 1]; i++) {
      const double dx = px - h->near_x[i], dy = py - h->near_y[i];
      if (sqrt(dx * dx + dy * dy) <= REACH) {
        ecs_status status;
        blow->who = h->near_ids[i];
        status = h->ecs->emit(world, event, blow);
        if (status != ECS_OK) return status;
        if (--*hits <= 0) return h->ecs->despawn(world, bullet);
      }
    }
  }
  return ECS_OK;
}

static ecs_status strike(ecs_world *world, ecs_query *query, double dt, void *ud) {
  horde *h = ud;
  const ecs_lua_api *ecs = h->ecs;
  const ecs_id event = ecs->component_find(world, "Hit");
  ecs_iter it;
  ecs_status status = h->fresh ? ECS_OK : gather(h), closed;
  (void)dt;
  h->fresh = false;
  if (status == ECS_OK) status = ecs->iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (status == ECS_OK && ecs->iter_next(&it)) {
    const double *px = ecs->iter_column(&it, 0, 0), *py = ecs->iter_column(&it, 0, 1);
    const double *vx = ecs->iter_column(&it, 1, 0), *vy = ecs->iter_column(&it, 1, 1);
    const double *damage = ecs->iter_column(&it, 2, 0);
    int32_t *hits = ecs->iter_column(&it, 2, 1);
    for (size_t i = 0; i < it.count && status == ECS_OK; i++) {
      hit blow = {ECS_NULL, damage[i], vx[i] * KICK, vy[i] * KICK};
      status = hit_some(h, world, event, ecs->iter_entity(&it, i), px[i], py[i], &blow, &hits[i]);
    }
  }
  closed = ecs->iter_close(&it);
  return status == ECS_OK ? closed : status;
}

/* When the last of its systems goes. */
static void release(void *ud) {
  horde *h = ud;
  if (--h->users > 0) return;
  free(h->x);
  free(h->y);
  free(h->near_x);
  free(h->near_y);
  free(h->ids);
  free(h->near_ids);
  free(h->cell);
  free(h->first);
  free(h);
}

/* horde.install(world): adds the systems push_in_c and strike_in_c at the places of the scripts'
** push and strike, which are to be switched off. */
static int install(lua_State *L) {
  const ecs_lua_api *ecs = lua_touserdata(L, lua_upvalueindex(1));
  ecs_world *world = ecs->check_world(L, 1);
  const char *const behind_push[] = {"push", NULL}, *const in_front_of_bite[] = {"bite", NULL};
  const char *const behind_strike[] = {"strike", NULL}, *const in_front_of_hurt[] = {"hurt", NULL};
  horde *h = calloc(1, sizeof *h);
  const ecs_system_desc systems[] = {
    {.name = "push_in_c", .query = "Position:in, Velocity, with Enemy", .run = push, .ud = h,
     .free = release, .after = behind_push, .before = in_front_of_bite},
    {.name = "strike_in_c", .query = "Position:in, Velocity:in, Bullet", .run = strike, .ud = h,
     .free = release, .after = behind_strike, .before = in_front_of_hurt},
  };
  ecs_status status;
  if (!h) return luaL_error(L, "not enough memory");
  h->ecs = ecs;
  h->users = 1;
  status = ecs->query_new(world, "Position:in, with Enemy", &h->enemies);
  for (int i = 0; i < 2 && status == ECS_OK; i++) {
    status = ecs->system_new(world, &systems[i]);
    h->users += status == ECS_OK;
  }
  release(h);
  return status == ECS_OK ? 0 : ecs->raise(L, world, status);
}

static const luaL_Reg list[] = {
  {"install", install},
  {NULL, NULL}
};

EXPORTED int luaopen_horde(lua_State *L);

int luaopen_horde(lua_State *L) {
  luaL_newlibtable(L, list);
  lua_pushlightuserdata(L, (void *)(uintptr_t)ecs_lua_functions(L));
  luaL_setfuncs(L, list, 1);
  return 1;
}
