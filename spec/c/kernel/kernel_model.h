/* A program stated twice: to the builder, and as a list of steps that a plain evaluator
** does row by row. Each m_ function does both.
**
** A program that reaches others has arrays, whose cells its rows read and write, each seeing what
** those before it have left: by index, by a column and by a lookup that says where a cell is; other
** arrays into which rows fold; and orders. */
#ifndef kernel_model_h
#define kernel_model_h

#include "kernel_test.h"

enum { MAX_STEPS = 6000, MODEL_COLUMNS = 10, MODEL_UNIFORMS = 6, MODEL_BITMAPS = 4,
       MODEL_TOTALS = 3, MODEL_LENGTH = 12 };

/* Arrays: those that rows read and write, and those that they fold into. */
enum { MODEL_FOLDED = 3, MODEL_ARRAYS = MODEL_FOLDED + 2 };

typedef enum step_kind {
  S_VALUE, S_UNIFORM, S_LOAD, S_UNARY, S_BINARY, S_SELECT, S_CONVERT, S_FIT, S_RANDOM,
  S_UNIT, S_INTERVAL, S_GIVE_UP, S_LOOP, S_CARRY, S_NEXT, S_END, S_STORE, S_PUT, S_EMIT,
  S_REDUCE, S_START, S_AT, S_CELL, S_LOOK, S_GET, S_SET, S_ORDER, S_FOLD
} step_kind;

typedef struct step {
  step_kind kind;
  int op;             /* k_op, column, index, k_reduce */
  int in[4], guard;   /* steps; guard -1: every row */
  uint32_t tag;
  value constant;
  k_type type;
  k_value v;
  int loop, end;      /* the loop around it; of a loop, its end */
} step;

typedef struct model {
  struct builder *b;
  step steps[MAX_STEPS];
  int n, loop;        /* loop: the innermost open one, or -1 */
  int guard;
  uint32_t tag;
  int ncolumns, entities;      /* entities: the column of the rows' own ids, or -1 */
  k_column columns[MODEL_COLUMNS];
  int nuniforms;
  value uniforms[MODEL_UNIFORMS];
  int reaches;
  k_column arrays[MODEL_ARRAYS];   /* the first is of f64 */
  k_reduce totals[MODEL_TOTALS];
  k_type total_types[MODEL_TOTALS];
} model;

/* {=====================================================================
** Stating
** ====================================================================== */

static int add_step(model *m, step_kind kind, int op, int a, int b, int c, k_value v) {
  if (m->n == MAX_STEPS) abort();
  step *s = &m->steps[m->n];
  memset(s, 0, sizeof *s);
  s->kind = kind;
  s->op = op;
  s->in[0] = a;
  s->in[1] = b;
  s->in[2] = c;
  s->guard = m->guard;
  s->tag = m->tag;
  s->v = v;
  s->loop = m->loop;
  if (v != K_NONE) s->type = build_type(m->b, v);
  return m->n++;
}

static k_value built(const model *m, int s) {
  return s < 0 ? K_ALL : m->steps[s].v;
}

static k_type m_type(const model *m, int s) {
  return m->steps[s].type;
}

static void m_at(model *m, int guard) {
  m->guard = guard;
  m->tag = (uint32_t)m->n;
  build_at(m->b, built(m, guard), m->tag);
}

static int m_value(model *m, value x) {
  const int s = add_step(m, S_VALUE, 0, 0, 0, 0, build_constant(m->b, x.type, x.k));
  m->steps[s].constant = x;
  return s;
}

static int m_uniform(model *m, int index) {
  const k_value v = build_uniform(m->b, (uint32_t)index, m->uniforms[index].type);
  return add_step(m, S_UNIFORM, index, 0, 0, 0, v);
}

static int m_load(model *m, int column) {
  const k_value v = column == m->entities ? build_rows_entity(m->b, (uint32_t)column)
                                          : build_load(m->b, (uint32_t)column);
  return add_step(m, S_LOAD, column, 0, 0, 0, v);
}

/* The rows that runs are for. */
static int m_start(model *m) {
  return add_step(m, S_START, 0, 0, 0, 0, build_start(m->b));
}

static int m_unary(model *m, k_op op, int x) {
  return add_step(m, S_UNARY, (int)op, x, 0, 0, build_unary(m->b, op, built(m, x)));
}

static int m_binary(model *m, k_op op, int x, int y) {
  const k_value v = build_binary(m->b, op, built(m, x), built(m, y));
  return add_step(m, S_BINARY, (int)op, x, y, 0, v);
}

/* Masks may be -1, all rows; then so may be the result. */
static int m_and(model *m, int x, int y) {
  return x < 0 ? y : y < 0 ? x : m_binary(m, KO_AND, x, y);
}

static int m_andn(model *m, int x, int y) {
  return x < 0 ? m_unary(m, KO_NOT, y) : m_binary(m, KO_ANDN, x, y);
}

static int m_or(model *m, int x, int y) {
  return x < 0 || y < 0 ? -1 : m_binary(m, KO_OR, x, y);
}

static int m_select(model *m, int mask, int x, int y) {
  if (mask < 0) return x;
  const k_value v = build_select(m->b, built(m, mask), built(m, x), built(m, y));
  return add_step(m, S_SELECT, 0, mask, x, y, v);
}

static int m_convert(model *m, k_type type, int x) {
  return add_step(m, S_CONVERT, 0, x, 0, 0, build_convert(m->b, type, built(m, x)));
}

static int m_fit(model *m, k_column type, int x) {
  return add_step(m, S_FIT, (int)type, x, 0, 0, build_fit(m->b, type, built(m, x)));
}

static int m_random(model *m, int entity, int call, int seed, int tick) {
  const k_value v = build_random(m->b, built(m, entity), built(m, call), built(m, seed),
                                 built(m, tick));
  const int s = add_step(m, S_RANDOM, 0, entity, call, seed, v);
  m->steps[s].in[3] = tick;
  return s;
}

static int m_unit(model *m, int bits) {
  return add_step(m, S_UNIT, 0, bits, 0, 0, build_random_unit(m->b, built(m, bits)));
}

static int m_interval(model *m, int bits, int lo, int hi) {
  const k_value v = build_random_range(m->b, built(m, bits), built(m, lo), built(m, hi));
  return add_step(m, S_INTERVAL, 0, bits, lo, hi, v);
}

static void m_give_up(model *m) {
  build_give_up(m->b);
  add_step(m, S_GIVE_UP, 0, 0, 0, 0, K_NONE);
}

static int m_loop(model *m, int count, int mask) {
  const int s = add_step(m, S_LOOP, 0, count, mask, 0,
                         build_loop(m->b, built(m, count), built(m, mask)));
  m->loop = s;
  return s;
}

static int m_carry(model *m, int init, int varying) {
  return add_step(m, S_CARRY, 0, init, 0, 0, build_carry(m->b, built(m, init), varying));
}

static void m_next(model *m, int carry, int next) {
  build_next(m->b, built(m, carry), built(m, next));
  add_step(m, S_NEXT, 0, carry, next, 0, K_NONE);
}

static void m_endloop(model *m, int again) {
  build_endloop(m->b, built(m, again));
  const int s = add_step(m, S_END, 0, again, 0, 0, K_NONE);
  m->steps[m->loop].end = s;
  m->loop = m->steps[m->loop].loop;
}

static void m_store(model *m, int column, int x) {
  build_store(m->b, (uint32_t)column, built(m, x));
  add_step(m, S_STORE, column, x, 0, 0, K_NONE);
}

static void m_put(model *m, int column, int x) {
  build_put(m->b, (uint32_t)column, built(m, x));
  add_step(m, S_PUT, column, x, 0, 0, K_NONE);
}

static void m_emit(model *m, int index, int mask) {
  build_emit(m->b, (uint32_t)index, built(m, mask));
  add_step(m, S_EMIT, index, mask, 0, 0, K_NONE);
}

static void m_reduce(model *m, int index, int x, int mask) {
  build_reduce(m->b, (uint32_t)index, m->totals[index], built(m, x), built(m, mask));
  add_step(m, S_REDUCE, index, x, mask, 0, K_NONE);
}

/* Declares the arrays, with a column and a lookup of cells for each. */
static void m_reach(model *m) {
  m->reaches = 1;
  for (int i = 0; i < MODEL_ARRAYS; i++) {
    m->arrays[i] = i == 0 ? KC_F64 : (k_column)random_below(KC_ENTITY);
    build_array(m->b, m->arrays[i]);
    build_column(m->b, (k_column)(KC_CELLS | m->arrays[i]));
    build_lookup(m->b, (uint32_t)KC_CELLS | m->arrays[i]);
  }
}

/* Cells, which are steps of their array. */
static int m_cell_at(model *m, int array, int index) {
  const k_value v = build_cell(m->b, (uint32_t)array, built(m, index));
  return add_step(m, S_AT, array, index, 0, 0, v);
}

static int m_cell(model *m, int array) {
  return add_step(m, S_CELL, array, 0, 0, 0, build_load(m->b, (uint32_t)(m->ncolumns + array)));
}

static int m_cell_looked_up(model *m, int array, int from, int mask) {
  const k_value v = build_look(m->b, (uint32_t)array, built(m, from), built(m, mask));
  return add_step(m, S_LOOK, array, from, mask, 0, v);
}

static int m_get(model *m, int cell) {
  return add_step(m, S_GET, m->steps[cell].op, cell, 0, 0, build_get(m->b, built(m, cell)));
}

static void m_set(model *m, int cell, int x) {
  build_set(m->b, built(m, cell), built(m, x));
  add_step(m, S_SET, m->steps[cell].op, cell, x, 0, K_NONE);
}

/* An order for an entity; by one of MODEL_PUTS x is put into a cell, else that is -1. */
static void m_give(model *m, int order, int entity, int x, int cell) {
  build_order(m->b, (uint32_t)order, built(m, entity), built(m, x),
              cell < 0 ? K_NONE : built(m, cell));
  add_step(m, S_ORDER, order, entity, x, cell, K_NONE);
}

/* The type of what is in cells: an f32 is got and set as an f64. */
static k_type type_of_cell(k_column c) { return c == KC_F32 ? KT_F64 : type_of_column(c); }

static void m_fold(model *m, int cell, k_fold how, int x) {
  build_fold(m->b, built(m, cell), how, built(m, x));
  add_step(m, S_FOLD, m->steps[cell].op, cell, x, (int)how, K_NONE);
}

/* }===================================================================== */

/* {=====================================================================
** What rows do to others
** ====================================================================== */

enum { MODEL_ORDERS = 256, MODEL_STORES = 4096, NOWHERE = -1 };   /* of a row */

/* Orders that put numbers of the array's type into its cells. */
enum { MODEL_PUTS = 2 };

/* An order that was given, or waits. */
typedef struct model_order {
  int order;
  int64_t entity;
  k_scalar value;
} model_order;

/* What the rows of a program read and write in their order; also what a machine is given. */
typedef struct model_others {
  void *arrays[MODEL_ARRAYS];
  model_order *list;                  /* the orders that were given */
  int count, room;
  int at_once;                  /* some orders are stores that are done at once, */
  uint32_t deferred;            /* those of MODEL_PUTS while this is 0 */
} model_others;

static inline void others_new(model_others *o, const model *m) {
  for (int i = 0; i < MODEL_ARRAYS; i++) o->arrays[i] = column_new(m->arrays[i], MODEL_LENGTH);
  o->list = NULL;
  o->count = o->room = o->at_once = 0;
  o->deferred = 0;
}

static inline void others_give(model_others *o, model_order order) {
  if (o->count == o->room) {
    o->room = 2 * o->room + 64;
    o->list = realloc(o->list, (size_t)o->room * sizeof *o->list);
    if (!o->list) abort();
  }
  o->list[o->count++] = order;
}

static inline void others_free(model_others *o, const model *m) {
  for (int i = 0; i < MODEL_ARRAYS; i++) {
    CHECK(column_intact(m->arrays[i], o->arrays[i], MODEL_LENGTH));
    column_free(o->arrays[i]);
  }
  free(o->list);
}

static inline void others_copy(model_others *to, const model_others *from, const model *m) {
  for (int i = 0; i < MODEL_ARRAYS; i++)
    memcpy(to->arrays[i], from->arrays[i], MODEL_LENGTH * size_of_column(m->arrays[i]));
  to->count = 0;
}

/* Dead entities, for the test. */
static int64_t living(int64_t id) {
  return id % 3 == 0 ? 0 : id;
}

/* Where a row's cell is by the column and by the lookup of an array. */
static int place_of_row(int array, size_t row) {
  return (int)((row * 7 + row / 3 + (size_t)array) % (MODEL_LENGTH + 1)) - 1;
}

/* What is looked up for an id of a dead entity is what is for nobody's. */
static int place_of(int array, int64_t from) {
  return (int)(((uint64_t)living(from) * 5 + (uint64_t)array) % (MODEL_LENGTH + 2)) - 2;
}

/* Of entities that an order is for: whether it cannot be given, and what becomes of one that sets a
** cell of the first array, if such are done at once: it waits behind others for the entity. */
static int is_gone(int64_t entity) { return (uint64_t)entity % 61 == 7; }

static k_now becomes(int order, int64_t entity, int waits) {
  if (order != 0) return K_LATER;
  if (is_gone(entity)) return K_NO_ROOM;
  return waits || (uint64_t)entity % 5 == 1 ? K_LATER : K_DONE;
}

static int place_of_entity(int64_t entity) { return (int)((uint64_t)entity % MODEL_LENGTH); }

/* }===================================================================== */

/* {=====================================================================
** Evaluating one row
** ====================================================================== */

typedef struct row_failure {
  k_error error;
  uint32_t tag;
} row_failure;

typedef struct row_result {
  k_error error;
  uint32_t tag;
  row_failure failures[64];   /* of a program that reaches others all that fails in the row: what */
  int nfailures;              /* depends on nothing that is ordered is seen to fail first */
  value stored[MODEL_COLUMNS];
  int is_stored[MODEL_COLUMNS], marked[MODEL_BITMAPS];
  int joins[MODEL_TOTALS];
  value total[MODEL_TOTALS];
} row_result;

typedef struct evaluation {
  const model *m;
  void *const *columns;
  size_t row;
  value v[MAX_STEPS];
  row_result *result;
  model_others *others;
  struct { int array, place; value was; } stored[MODEL_STORES];   /* by this row */
  model_order waiting[MODEL_ORDERS];
  uint32_t tags[MODEL_ORDERS];
  int nstored, nwaiting;
} evaluation;

/* Which of 64 rows runs are for: of every other block of 1,024 few or none. */
static uint64_t start_word(size_t word) {
  uint64_t bits = (word + 3) * 0x9e3779b97f4a7c15;
  bits ^= bits >> 29;
  if (word / 16 % 2) return word % 16 == 9 ? bits << 60 : 0;
  return word % 5 == 1 ? UINT64_MAX : word % 5 == 2 ? 0 : bits * 0xbf58476d1ce4e5b9;
}

static int starts(size_t row) {
  return (int)(start_word(row / 64) >> row % 64 & 1);
}

static int on(const evaluation *e, int mask) {
  return mask < 0 || e->v[mask].k.b;
}

/* Philox4x32-10 as its paper has it. */
static int64_t reference_random(int64_t seed, int64_t tick, int64_t entity,
                                int64_t call) {
  uint32_t x[4] = {(uint32_t)entity, (uint32_t)((uint64_t)entity >> 32), (uint32_t)tick,
                   (uint32_t)call};
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)((uint64_t)seed >> 32)};
  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = (uint64_t)x[0] * 0xD2511F53u, p1 = (uint64_t)x[2] * 0xCD9E8D57u;
    const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ x[1] ^ key[0], (uint32_t)p1,
                              (uint32_t)(p0 >> 32) ^ x[3] ^ key[1], (uint32_t)p0};
    memcpy(x, next, sizeof x);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return (int64_t)((uint64_t)x[1] << 32 | x[0]);
}

/* lo + floor(bits * width / 2^64), bit by bit. */
static value in_interval(int64_t bits, int64_t lo, int64_t hi) {
  const uint64_t width = (uint64_t)hi - (uint64_t)lo + 1;
  if (width == 0) return of_i64((int64_t)((uint64_t)lo + (uint64_t)bits));
  uint64_t part = 0;  /* of the low bits of `bits` so far, shifted down as many */
  for (int i = 0; i < 64; i++) {
    const uint64_t sum = part + ((uint64_t)bits >> i & 1 ? width : 0);
    part = sum >> 1 | (sum < part ? (uint64_t)1 << 63 : 0);
  }
  return of_i64((int64_t)((uint64_t)lo + part));
}

static value fitted(k_column type, value x, k_error *error) {
  if (type_of_column(type) != KT_I64)
    return reference_convert(type_of_column(type), x, error, KE_FRACTION);
  x = reference_convert(KT_I64, x, error, KE_FRACTION);
  int64_t lo, hi;
  column_range(type, &lo, &hi);
  if (*error == KE_NONE && (x.k.i64 < lo || x.k.i64 > hi)) *error = KE_RANGE;
  return x;
}

static value loaded(const evaluation *e, int column) {
  const value x = column_get(e->m->columns[column], e->columns[column], e->row);
  if (e->m->columns[column] == KC_ENTITY && column != e->m->entities)
    return of_i64(living(x.k.i64));
  return x;
}

static value gotten(const evaluation *e, int array, int64_t place) {
  const k_column c = e->m->arrays[array];
  value x = {type_of_cell(c), {0}};
  if (place < 0) return x;
  x = column_get(c, e->others->arrays[array], (size_t)place);
  return x.type == KT_F32 ? of_f64((double)x.k.f32) : x;
}

static value computed(const evaluation *e, const step *s, k_error *error) {
  const value *x = &e->v[s->in[0] < 0 ? 0 : s->in[0]];
  const value *y = &e->v[s->in[1] < 0 ? 0 : s->in[1]];
  const value *z = &e->v[s->in[2] < 0 ? 0 : s->in[2]];
  switch (s->kind) {
    case S_VALUE: return s->constant;
    case S_START: return of_bool(starts(e->row));
    case S_UNIFORM: return e->m->uniforms[s->op];
    case S_LOAD: return loaded(e, s->op);
    case S_UNARY: return reference_unary((k_op)s->op, *x, error);
    case S_BINARY: return reference_binary((k_op)s->op, *x, *y, error);
    case S_SELECT: return x->k.b ? *y : *z;
    case S_CONVERT: return reference_convert(s->type, *x, error, KE_INTEGER);
    case S_FIT: return fitted((k_column)s->op, *x, error);
    case S_RANDOM:
      return of_i64(reference_random(z->k.i64, e->v[s->in[3]].k.i64, x->k.i64, y->k.i64));
    case S_UNIT: return of_f64((double)((uint64_t)x->k.i64 >> 11) * 0x1p-53);
    case S_INTERVAL:
      if (y->k.i64 > z->k.i64) *error = KE_EMPTY;
      return in_interval(x->k.i64, y->k.i64, z->k.i64);
    case S_GIVE_UP: *error = KE_ROUNDS; return of_i64(0);
    case S_AT: return of_i64(x->k.i64 >= 1 && x->k.i64 <= MODEL_LENGTH ? x->k.i64 - 1 : NOWHERE);
    case S_CELL: return of_i64(place_of_row(s->op, e->row));
    case S_LOOK: return of_i64(on(e, s->in[1]) ? place_of(s->op, x->k.i64) : NOWHERE);
    case S_GET: return gotten(e, s->op, x->k.i64);
    default: return of_i64(0);
  }
}

/* All at once: each next was said with the values of the round that ends. */
static void carry_on(evaluation *e, int loop) {
  static value next[MAX_STEPS];
  const step *steps = e->m->steps;
  for (int i = loop; i < steps[loop].end; i++)
    if (steps[i].kind == S_NEXT && steps[i].loop == loop) next[i] = e->v[steps[i].in[1]];
  for (int i = loop; i < steps[loop].end; i++)
    if (steps[i].kind == S_NEXT && steps[i].loop == loop) e->v[steps[i].in[0]] = next[i];
}

static int behind_carries(const evaluation *e, int loop) {
  do loop++; while (e->m->steps[loop].kind == S_CARRY);
  return loop;
}

/* Starts the loop at step i: the step to go on with. */
static int begin_loop(evaluation *e, int i) {
  const step *s = &e->m->steps[i];
  const int body = behind_carries(e, i);
  for (int j = i + 1; j < body; j++) e->v[j] = e->v[e->m->steps[j].in[0]];
  e->v[i] = of_i64(0);
  return e->v[s->in[0]].k.i64 < 1 || !on(e, s->in[1]) ? s->end + 1 : body;
}

static int end_loop(evaluation *e, int i) {
  const step *s = &e->m->steps[i];
  const int loop = s->loop, again = on(e, s->in[0]);
  carry_on(e, loop);
  const int more = ++e->v[loop].k.i64 < e->v[e->m->steps[loop].in[0]].k.i64;
  return more && again ? behind_carries(e, loop) : i + 1;
}

/* What step i leaves behind. */
static void note(evaluation *e, const step *s) {
  row_result *r = e->result;
  if (s->kind == S_PUT && !starts(e->row)) return;
  if (s->kind == S_STORE || s->kind == S_PUT) {
    r->stored[s->op] = e->v[s->in[0]];
    r->is_stored[s->op] = 1;
  } else if (s->kind == S_EMIT) {
    r->marked[s->op] |= on(e, s->in[0]);
  } else if (s->kind == S_REDUCE) {
    r->total[s->op] = e->v[s->in[0]];
    r->joins[s->op] = on(e, s->in[1]);
  }
}

/* ---- what is ordered ---- */

static void put(evaluation *e, int array, int place, value x) {
  const k_column c = e->m->arrays[array];
  void *cells = e->others->arrays[array];
  if (e->nstored == COUNT(e->stored)) abort();
  e->stored[e->nstored].array = array;
  e->stored[e->nstored].place = place;
  e->stored[e->nstored++].was = column_get(c, cells, (size_t)place);
  column_set(c, cells, (size_t)place, c == KC_F32 ? of_f32((float)x.k.f64) : x);
}

static void take_back(evaluation *e) {
  while (e->nstored > 0) {
    const int i = --e->nstored, array = e->stored[i].array;
    column_set(e->m->arrays[array], e->others->arrays[array], (size_t)e->stored[i].place,
               e->stored[i].was);
  }
}

/* Whether an order is a store into the cell that it says. */
static int puts_at_once(evaluation *e, const step *s) {
  const model_others *o = e->others;
  if (s->op < MODEL_PUTS || !o->at_once || o->deferred || e->nwaiting) return 0;
  const int64_t place = e->v[s->in[2]].k.i64;
  if (place < 0) return 0;
  put(e, s->op - MODEL_PUTS, (int)place, e->v[s->in[1]]);
  return 1;
}

static k_error order_something(evaluation *e, const model_order *order, uint32_t tag) {
  int waits = 0;
  for (int i = 0; i < e->nwaiting; i++)
    waits |= e->waiting[i].entity == order->entity;
  const k_now now = e->others->at_once ? becomes(order->order, order->entity, waits) : K_LATER;
  if (now == K_NO_ROOM || e->nwaiting == MODEL_ORDERS) return KE_ROOM;
  if (now == K_DONE) put(e, 0, place_of_entity(order->entity), (value){KT_F64, order->value});
  else e->waiting[e->nwaiting] = *order, e->tags[e->nwaiting++] = tag;
  return KE_NONE;
}

static value fold_of(k_fold how, value x, value y) {
  k_error error;
  switch (how) {
    case KF_ADD: return reference_binary(KO_ADD, x, y, &error);
    case KF_SUB: return reference_binary(KO_SUB, x, y, &error);
    case KF_LESS: return reference_binary(KO_MIN, x, y, &error);
    case KF_MORE: return reference_binary(KO_MAX, x, y, &error);
    case KF_LEAST: return reference_binary(KO_MIN, y, x, &error);
    case KF_MOST: return reference_binary(KO_MAX, y, x, &error);
    case KF_OR: return of_bool(x.k.b | y.k.b);
    case KF_AND: return of_bool(x.k.b & y.k.b);
    default: return y;
  }
}

static k_error fold_something(evaluation *e, const step *s) {
  const int64_t place = e->v[s->in[0]].k.i64;
  if (place < 0) return KE_NONE;
  const value x = fold_of((k_fold)s->in[2], gotten(e, s->op, place), e->v[s->in[1]]);
  int64_t lo, hi;
  column_range(e->m->arrays[s->op], &lo, &hi);
  if (x.type == KT_I64 && (x.k.i64 < lo || x.k.i64 > hi)) return KE_RANGE;
  put(e, s->op, (int)place, x);
  return KE_NONE;
}

/* What a step in the order of rows does. */
static k_error in_order(evaluation *e, const step *s) {
  const value x = e->v[s->in[0]], y = e->v[s->in[1]];
  if (!on(e, s->guard)) return KE_NONE;
  if (s->kind == S_ORDER && puts_at_once(e, s)) return KE_NONE;
  if (s->kind == S_ORDER) return order_something(e, &(model_order){s->op, x.k.i64, y.k}, s->tag);
  if (s->kind == S_FOLD) return fold_something(e, s);
  if (x.k.i64 >= 0) put(e, s->op, (int)x.k.i64, y);
  return KE_NONE;
}

static void fail(evaluation *e, k_error error, uint32_t tag) {
  row_result *r = e->result;
  if (r->error == KE_NONE) {
    r->error = error;
    r->tag = tag;
  }
  if (r->nfailures < COUNT(r->failures)) r->failures[r->nfailures++] = (row_failure){error, tag};
}

/* What the row has ordered is given, all of it or nothing. */
static void end_row(evaluation *e) {
  for (int i = 0; i < e->nwaiting; i++)
    if (is_gone(e->waiting[i].entity)) fail(e, KE_DEAD, e->tags[i]);
  if (e->result->error != KE_NONE) {
    take_back(e);
    return;
  }
  for (int i = 0; i < e->nwaiting; i++) others_give(e->others, e->waiting[i]);
}

static inline void evaluate_row(evaluation *e, size_t row, row_result *result) {
  memset(result, 0, sizeof *result);
  e->row = row;
  e->result = result;
  e->nstored = e->nwaiting = 0;
  for (int i = 0; i < e->m->n;) {
    const step *s = &e->m->steps[i];
    if (s->kind == S_LOOP) {
      i = begin_loop(e, i);
    } else if (s->kind == S_END) {
      i = end_loop(e, i);
    } else {
      k_error error = KE_NONE;
      if (s->kind >= S_STORE && s->kind <= S_REDUCE) note(e, s);
      else if (s->kind >= S_SET) error = in_order(e, s);
      else if (s->kind != S_NEXT) e->v[i] = computed(e, s, &error);
      if (error != KE_NONE && on(e, s->guard)) {
        fail(e, error, s->tag);
        if (!e->m->reaches) return;
      }
      i++;
    }
  }
  if (e->m->reaches) end_row(e);
}

/* }===================================================================== */

#endif
