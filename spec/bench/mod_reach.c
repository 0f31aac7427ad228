/* The floors of kernels that look beyond their row, for Lua: the same work over columns of their
** own, one fused loop each. */
#include <lauxlib.h>
#include <lua.h>

#include "library.h"

#define SPAWNED 3u             /* by a row that spawns */
#define VALUES 5

struct record {
  uint32_t table, row;
};

/* Rows with two numbers and the number of an element, or of another row, that they are about. */
struct field {
  uint32_t rows, elements;
  double *x, *y;               /* of the rows */
  int64_t *n;
  uint32_t *at;                /* from 1 on */
  double *elements_of[1];      /* by table, as a record has it */
  struct record *records;      /* by element, as if elements were entities' indices */
  uint16_t *generations;
  double total;
};

static struct field *check_field(lua_State *L) { return luaL_checkudata(L, 1, "bench.field"); }

static int field_free(lua_State *L) {
  struct field *field = check_field(L);
  free(field->x);
  free(field->y);
  free(field->n);
  free(field->at);
  free(field->elements_of[0]);
  free(field->records);
  free(field->generations);
  memset(field, 0, sizeof *field);
  return 0;
}

/* How often a row's loop goes round: 1 to 100 times, ten times in the mean. */
static uint32_t rounds_of(uint64_t *state) {
  uint32_t rounds = 1;
  while (rounds < 100 && bench_random(state) % 10 != 0) rounds++;
  return rounds;
}

static void fill(struct field *field) {
  uint64_t state = 42;
  for (uint32_t i = 0; i < field->rows; i++) {
    field->at[i] = bench_random(&state) % field->elements + 1;
    field->x[i] = pow(1.25, rounds_of(&state) - 0.5);
    field->y[i] = 0;
    field->n[i] = bench_random(&state) % 20 + 1;
  }
  for (uint32_t i = 0; i < field->elements; i++) {
    field->elements_of[0][i] = (double)(i % 1000) / 16;
    field->records[i] = (struct record){0, i};
    field->generations[i] = 0;
  }
}

/* field(rows, elements) */
static int field_new(lua_State *L) {
  lua_Integer rows = luaL_checkinteger(L, 1), elements = luaL_checkinteger(L, 2);
  luaL_argcheck(L, rows > 0 && rows <= 1 << 24, 1, "so many rows");
  luaL_argcheck(L, elements > 0 && elements <= 1 << 24, 2, "so many elements");
  struct field *field = lua_newuserdatauv(L, sizeof *field, 0);
  memset(field, 0, sizeof *field);
  luaL_setmetatable(L, "bench.field");
  size_t n = (size_t)rows, m = (size_t)elements;
  field->rows = (uint32_t)n;
  field->elements = (uint32_t)m;
  field->x = bench_resize(NULL, n * sizeof *field->x);
  field->y = bench_resize(NULL, n * sizeof *field->y);
  field->n = bench_resize(NULL, n * sizeof *field->n);
  field->at = bench_resize(NULL, n * sizeof *field->at);
  field->elements_of[0] = bench_resize(NULL, m * sizeof(double));
  field->records = bench_resize(NULL, m * sizeof *field->records);
  field->generations = bench_resize(NULL, m * sizeof *field->generations);
  fill(field);
  return 1;
}

/* ---- the loops ---- */

static void read_grid(struct field *field, double dt) {
  const double *grid = field->elements_of[0];
  for (uint32_t i = 0; i < field->rows; i++) {
    uint32_t at = field->at[i] - 1;
    if (at < field->elements) field->y[i] += grid[at] * dt;
  }
}

static void add_to_grid(struct field *field, double dt) {
  double *grid = field->elements_of[0];
  for (uint32_t i = 0; i < field->rows; i++) {
    uint32_t at = field->at[i] - 1;
    if (at < field->elements) grid[at] += field->x[i] * dt;
  }
}

/* The same to other entities, found by their records, whose generations are compared. */
static void add_to_others(struct field *field, double dt) {
  for (uint32_t i = 0; i < field->rows; i++) {
    uint32_t entity = field->at[i] - 1;
    if (entity >= field->elements || field->generations[entity] != 0) continue;
    const struct record *record = &field->records[entity];
    field->elements_of[record->table][record->row] += field->x[i] * dt;
  }
}

static void add_to_one(struct field *field, double dt) {
  for (uint32_t i = 0; i < field->rows; i++) field->total += field->x[i] * dt;
}

static void shrink(struct field *field, double dt) {
  (void)dt;
  for (uint32_t i = 0; i < field->rows; i++) {
    double x = field->x[i], rounds = 0;
    while (x > 1) {
      x *= 0.8;
      rounds += 1;
    }
    field->y[i] = rounds;
  }
}

static void collatz(struct field *field, double dt) {
  (void)dt;
  for (uint32_t i = 0; i < field->rows; i++) {
    int64_t n = field->n[i], steps = 0;
    while (n != 1) {
      if (n % 2 == 0)
        n /= 2;
      else
        n = 3 * n + 1;
      steps++;
    }
    field->y[i] = (double)steps;
  }
}

/* Events of two numbers are written down by the first rows, one in ten, then each is added to the
** element that it is about. */
static void emit(struct field *field, double dt) {
  static uint32_t whom[1 << 16];
  static double amounts[1 << 16];
  uint32_t count = 0;
  for (uint32_t i = 0; i < field->rows && count < 1 << 16; i++) {
    if (i % 10 != 0) continue;
    whom[count] = field->at[i] - 1;
    amounts[count++] = field->x[i] * dt;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (whom[i] >= field->elements || field->generations[whom[i]] != 0) continue;
    const struct record *record = &field->records[whom[i]];
    field->elements_of[record->table][record->row] += amounts[i];
  }
}

/* run(field, which, times, dt): the seconds that this took */
static int run(lua_State *L) {
  static void (*const loops[])(struct field *field, double dt) = {
    read_grid, add_to_grid, add_to_others, add_to_one, shrink, collatz, emit};
  struct field *field = check_field(L);
  lua_Integer which = luaL_checkinteger(L, 2), times = luaL_checkinteger(L, 3);
  double dt = luaL_checknumber(L, 4);
  luaL_argcheck(L, which >= 0 && which < 7, 2, "no such loop");
  double begin = bench_now();
  for (lua_Integer i = 0; i < times; i++) loops[which](field, dt);
  lua_pushnumber(L, bench_now() - begin);
  return 1;
}

/* read_list(field, list, times, dt): the list's numbers are fetched, then read by the rows */
static int read_list(lua_State *L) {
  struct field *field = check_field(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_Integer times = luaL_checkinteger(L, 3);
  double dt = luaL_checknumber(L, 4);
  luaL_argcheck(L, lua_rawlen(L, 2) == field->elements, 2, "another length");
  double begin = bench_now();
  for (lua_Integer i = 0; i < times; i++) {
    for (uint32_t at = 0; at < field->elements; at++) {
      lua_rawgeti(L, 2, (lua_Integer)at + 1);
      field->elements_of[0][at] = lua_tonumber(L, -1);
      lua_pop(L, 1);
    }
    read_grid(field, dt);
  }
  lua_pushnumber(L, bench_now() - begin);
  return 1;
}

/* spawn(n): the seconds that it takes in a world of C's to spawn n entities with values */
static int spawn(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  ecs_world_desc desc = {.alloc = bench_alloc, .tag = 1};
  ecs_world *world;
  ecs_id bullet, id;
  ecs_field fields[VALUES] = {{.name = "a", .type = ECS_F64}, {.name = "b", .type = ECS_F64},
    {.name = "c", .type = ECS_F64}, {.name = "d", .type = ECS_F64}, {.name = "e", .type = ECS_F64}};
  for (size_t i = 0; i < VALUES; i++) fields[i].offset = i * sizeof(double);
  ecs_component_desc component = {.name = "Bullet", .fields = fields, .field_count = VALUES};
  double values[VALUES] = {1, 2, 3, 4, 5};
  need_ok(ecs_world_new(&desc, &world));
  need_ok(ecs_component(world, &component, &bullet));
  double begin = bench_now();
  for (lua_Integer i = 0; i < n; i++) {
    values[0] = (double)i;
    need_ok(ecs_spawn(world, &bullet, 1, &id));
    need_ok(ecs_set(world, id, bullet, values));
  }
  lua_pushnumber(L, bench_now() - begin);
  ecs_world_free(world);
  return 1;
}

/* row(field, i): the place, x, y and n of a row; element(field, i) */
static int row(lua_State *L) {
  struct field *field = check_field(L);
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i > 0 && i <= field->rows, 2, "no such row");
  lua_pushinteger(L, field->at[i - 1]);
  lua_pushnumber(L, field->x[i - 1]);
  lua_pushnumber(L, field->y[i - 1]);
  lua_pushinteger(L, field->n[i - 1]);
  return 4;
}

static int element(lua_State *L) {
  struct field *field = check_field(L);
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i > 0 && i <= field->elements, 2, "no such element");
  lua_pushnumber(L, field->elements_of[0][i - 1]);
  return 1;
}

static int total(lua_State *L) {
  lua_pushnumber(L, check_field(L)->total);
  return 1;
}

/* ---- columns in row order ---- */

struct column {
  uint32_t n;
  double cells[];
};

/* column(bytes, n) */
static int column_new(lua_State *L) {
  size_t size;
  const char *bytes = luaL_checklstring(L, 1, &size);
  struct column *column = lua_newuserdatauv(L, sizeof *column + size, 0);
  luaL_setmetatable(L, "bench.column");
  column->n = (uint32_t)luaL_checkinteger(L, 2);
  memcpy(column->cells, bytes, size);
  return 1;
}

static int column_bytes(lua_State *L) {
  struct column *column = luaL_checkudata(L, 1, "bench.column");
  lua_pushlstring(L, (const char *)column->cells, lua_rawlen(L, 1) - sizeof *column);
  return 1;
}

/* What a loop runs over: entities, which are the elements of a field, and the columns it names. */
struct scene {
  const struct field *field;
  struct column *columns[4];
  uint32_t rows;               /* of the first column */
  double dt;
};

#define CELLS(type, name, at) type *name = (type *)scene->columns[at]->cells
#define LENGTH(at) scene->columns[at]->n

static const struct record *find_record(const struct field *field, uint32_t entity) {
  if (entity - 1 >= field->elements || field->generations[entity - 1] != 0) return NULL;
  return &field->records[entity - 1];
}

/* Each row goes to the cell behind its own, if that is free. */
static void ride(const struct scene *scene) {
  CELLS(int32_t, cell, 0);
  CELLS(const int32_t, nxt, 1);
  CELLS(int32_t, at, 2);
  for (uint32_t i = 0; i < scene->rows; i++) {
    uint32_t from = (uint32_t)cell[i] - 1;
    if (from >= LENGTH(1)) continue;
    uint32_t to = (uint32_t)nxt[from] - 1;
    if (to >= LENGTH(2) || at[to] != 0) continue;
    at[from] = 0;
    at[to] = 1;
    cell[i] = (int32_t)to + 1;
  }
}

/* Each row takes what it needs from a box, if that has it. */
static void craft(const struct scene *scene) {
  CELLS(const uint32_t, box, 0);
  CELLS(const int32_t, need, 1);
  CELLS(int32_t, made, 2);
  int32_t *const counts[1] = {(int32_t *)scene->columns[3]->cells};
  for (uint32_t i = 0; i < scene->rows; i++) {
    const struct record *record = find_record(scene->field, box[i]);
    if (!record || counts[record->table][record->row] < need[i]) continue;
    counts[record->table][record->row] -= need[i];
    made[i]++;
  }
}

static void sum(const struct scene *scene) {
  CELLS(const double, x, 0);
  CELLS(double, total, 1);
  double all = *total;
  for (uint32_t i = 0; i < scene->rows; i++) all += x[i] * scene->dt;
  *total = all;
}

/* What each row adds to an element, and to an entity. */
#define FOLD(name, cell, amount)                                                        \
  static void grid_##name(const struct scene *scene) {                                  \
    CELLS(const int32_t, at, 0);                                                        \
    CELLS(const amount, v, 1);                                                          \
    CELLS(cell, grid, 2);                                                               \
    uint32_t rows = scene->rows, n = LENGTH(2);                                         \
    for (uint32_t i = 0; i < rows; i++)                                                 \
      if ((uint32_t)at[i] - 1 < n) grid[at[i] - 1] = (cell)(grid[at[i] - 1] + v[i]);    \
  }                                                                                     \
  static void others_##name(const struct scene *scene) {                                \
    CELLS(const uint32_t, who, 0);                                                      \
    CELLS(const amount, v, 1);                                                          \
    cell *const fields[1] = {(cell *)scene->columns[2]->cells};                         \
    uint32_t rows = scene->rows;                                                        \
    for (uint32_t i = 0; i < rows; i++) {                                               \
      const struct record *record = find_record(scene->field, who[i]);                  \
      if (!record) continue;                                                            \
      cell *to = &fields[record->table][record->row];                                   \
      *to = (cell)(*to + v[i]);                                                         \
    }                                                                                   \
  }

FOLD(f64, double, double)
FOLD(f32, float, float)
FOLD(i32, int32_t, int32_t)
FOLD(u8, uint8_t, int32_t)

static void twice(const struct scene *scene) {
  CELLS(const int32_t, at, 0);
  CELLS(const double, x, 1);
  CELLS(const int32_t, n, 2);
  CELLS(double, grid, 3);
  for (uint32_t i = 0; i < scene->rows; i++) {
    if ((uint32_t)at[i] - 1 >= LENGTH(3)) continue;
    grid[at[i] - 1] += x[i] * scene->dt;
    grid[at[i] - 1] += n[i];
  }
}

static void count_on(const struct scene *scene) {
  CELLS(const bool, on, 0);
  CELLS(int32_t, total, 1);
  int64_t n = *total;
  for (uint32_t i = 0; i < scene->rows; i++)
    if (on[i]) n++;
  *total = (int32_t)n;
}

/* The least, and the row that has it. */
static void least(const struct scene *scene) {
  CELLS(const double, x, 0);
  CELLS(double, found, 1);
  double best = INFINITY;
  uint32_t who = 0;
  for (uint32_t i = 0; i < scene->rows; i++)
    if (x[i] < best) {
      best = x[i];
      who = i + 1;
    }
  found[0] = best;
  found[1] = who;
}

/* run_columns(name, field, dt, columns...): the seconds that this took */
static int run_columns(lua_State *L) {
  static const char *const names[] = {"ride", "craft", "sum", "twice", "count", "least",
    "grid f64", "grid f32", "grid i32", "grid u8", "others f64", "others f32", "others i32",
    "others u8", NULL};
  static void (*const loops[])(const struct scene *scene) = {ride, craft, sum, twice, count_on,
    least, grid_f64, grid_f32, grid_i32, grid_u8, others_f64, others_f32, others_i32, others_u8};
  int which = luaL_checkoption(L, 1, NULL, names), given = lua_gettop(L) - 3;
  struct scene scene = {.field = luaL_checkudata(L, 2, "bench.field")};
  luaL_argcheck(L, given >= 2 && given <= 4, 4, "two to four columns");
  for (int i = 0; i < given; i++) scene.columns[i] = luaL_checkudata(L, 4 + i, "bench.column");
  scene.rows = scene.columns[0]->n;
  scene.dt = luaL_checknumber(L, 3);
  double begin = bench_now();
  loops[which](&scene);
  lua_pushnumber(L, bench_now() - begin);
  return 1;
}

static const luaL_Reg functions[] = {
  {"field", field_new},     {"run", run},         {"read_list", read_list},
  {"spawn", spawn},         {"row", row},         {"element", element},
  {"total", total},         {"column", column_new},       {"bytes", column_bytes},
  {"run_columns", run_columns}, {NULL, NULL}
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int luaopen_mod_reach(lua_State *L);

int luaopen_mod_reach(lua_State *L) {
  luaL_newmetatable(L, "bench.column");
  luaL_newmetatable(L, "bench.field");
  lua_pushcfunction(L, field_free);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
