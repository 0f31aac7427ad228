#include "kernel/build.h"

#include "kernel/limit.h"
#include "kernel/node.h"

static bool build_refuse(struct builder *b, k_status status) {
  builder_fail(b, status);
  return false;
}

/* Whether v may be an operand; if not, building has failed. */
static bool build_usable(struct builder *b, k_value v) {
  if (b->status != K_OK) return false;
  bool yields = v >= 0 && v < b->count && node_at(b, v)->op < N_NEXT;
  return (yields && !yields_nothing(node_at(b, v)->op)) || build_refuse(b, K_EINVAL);
}

bool builder_takes(struct builder *b, k_value v, k_type type) {
  if (!build_usable(b, v)) return false;
  return node_at(b, v)->type == type || build_refuse(b, K_EINVAL);
}

static bool build_is_constant(const struct builder *b, k_value v) {
  return node_at(b, v)->op == N_CONSTANT;
}

void build_at(struct builder *b, k_value mask, uint32_t tag) {
  if (!builder_takes(b, mask, KT_BOOL)) return;
  b->fail_mask = mask;
  b->fail_tag = tag;
}

struct node builder_failing(const struct builder *b, uint32_t op, k_type type) {
  assert(node_at(b, b->fail_mask)->type == KT_BOOL);
  struct node n = node_make(op, type, true);
  n.fails = true;
  n.in[3] = b->fail_mask;
  n.tag = b->fail_tag;
  return n;
}

/* Adds a type to a list of at most `most`. Returns its number in the list, or NONE. */
static uint32_t build_declare(struct builder *b, uint8_t *types, uint32_t *count, uint32_t most,
                              uint32_t type) {
  if (*count == most) builder_fail(b, K_ELIMIT);
  if (b->status != K_OK) return NONE;
  types[*count] = (uint8_t)type;
  return (*count)++;
}

uint32_t build_column(struct builder *b, k_column type) {
  assert(type < KC_COUNT || is_cells((uint8_t)type));
  return build_declare(b, b->columns, &b->column_count, MAX_COLUMNS, type);
}

static bool build_is_column(struct builder *b, uint32_t column) {
  return (b->status == K_OK && column < b->column_count) || build_refuse(b, K_EINVAL);
}

static k_value build_load_column(struct builder *b, uint32_t op, uint32_t column) {
  struct node n = node_make(op, column_value((k_column)b->columns[column]), true);
  n.aux = (uint16_t)column;
  if (op == N_LIVE) n.in[3] = K_ALL;
  return builder_add(b, n);
}

k_value build_load(struct builder *b, uint32_t column) {
  if (!build_is_column(b, column)) return K_NONE;
  return build_load_column(b, b->columns[column] == KC_ENTITY ? N_LIVE : N_LOAD, column);
}

k_value build_rows_entity(struct builder *b, uint32_t column) {
  if (!build_is_column(b, column)) return K_NONE;
  if (b->columns[column] != KC_ENTITY) return builder_fail(b, K_EINVAL);
  return build_load_column(b, N_LOAD, column);
}

static void build_store_column(struct builder *b, uint32_t op, uint32_t column, k_value v) {
  if (!builder_takes(b, v, column_value((k_column)b->columns[column]))) return;
  struct node n = node_make(op, KT_BOOL, false);
  n.aux = (uint16_t)column;
  if (b->loop != 0)
    builder_fail(b, K_EINVAL);
  else
    builder_add_of(b, n, v, K_NONE, K_NONE);
}

void build_store(struct builder *b, uint32_t column, k_value v) {
  if (build_is_column(b, column)) build_store_column(b, N_STORE, column, v);
}

void build_put(struct builder *b, uint32_t column, k_value v) {
  if (!build_is_column(b, column)) return;
  if (column_direct(b, column) || b->columns[column] == KC_ENTITY)
    build_store_column(b, N_PUT, column, v);
  else
    build_store_column(b, N_STORE, column,
                       build_select(b, build_start(b), v, build_load(b, column)));
}

uint32_t build_array(struct builder *b, k_column type) {
  if (type >= KC_ENTITY) builder_fail(b, K_EINVAL);
  return build_declare(b, b->arrays, &b->array_count, MAX_ARRAYS, type);
}

void build_loose(struct builder *b, uint32_t array) {
  if (array < b->array_count) b->loose |= UINT64_C(1) << array;
}

/* Adds an instruction that finds something by an index of an array. */
static k_value build_of_array(struct builder *b, uint32_t op, uint32_t array, k_value index) {
  if (b->status == K_OK && array >= b->array_count) builder_fail(b, K_EINVAL);
  if (!builder_takes(b, index, KT_I64)) return K_NONE;
  k_type type = op == N_AT ? KT_CELL
                           : op == N_INSIDE ? KT_BOOL : column_value((k_column)b->arrays[array]);
  struct node n = node_make(op, type, true);
  n.aux = (uint16_t)array;
  return builder_add_of(b, n, index, K_NONE, K_NONE);
}

k_value build_element(struct builder *b, uint32_t array, k_value index) {
  return build_of_array(b, N_ELEMENT, array, index);
}

k_value build_inside(struct builder *b, uint32_t array, k_value index) {
  return build_of_array(b, N_INSIDE, array, index);
}

k_value build_cell(struct builder *b, uint32_t array, k_value index) {
  return build_of_array(b, N_AT, array, index);
}

uint32_t build_lookup(struct builder *b, uint32_t type) {
  assert(type <= KT_I64 || is_cells((uint8_t)type));
  return build_declare(b, b->lookups, &b->lookup_count, MAX_LOOKUPS, type);
}

/* Adds a node like *n, or returns one that does the same for all rows of its mask. */
static k_value build_once(struct builder *b, struct node n) {
  k_value known = b->status == K_OK ? builder_known(b, &n) : K_NONE;
  return known == K_NONE ? builder_add(b, n) : known;
}

/* A lookup's node. Ids in a column need no second check: dead ones have been replaced. */
static struct node build_look_node(struct builder *b, uint32_t lookup, k_value from, k_value mask) {
  if (b->status == K_OK && lookup >= b->lookup_count) builder_fail(b, K_EINVAL);
  struct node n = node_make(N_LOOK, KT_I64, true);
  if (!builder_takes(b, from, KT_I64) || !builder_takes(b, mask, KT_BOOL)) return n;
  uint8_t found = b->lookups[lookup];
  struct node by = *node_at(b, from);
  n.type = found & KC_CELLS ? KT_CELL : found;
  n.in[0] = by.op == N_LIVE ? build_load_column(b, N_LOAD, by.aux) : from;
  n.in[3] = mask;
  n.aux = (uint16_t)lookup;
  return n;
}

k_value build_look(struct builder *b, uint32_t lookup, k_value from, k_value mask) {
  struct node n = build_look_node(b, lookup, from, mask);
  return b->status == K_OK ? build_once(b, n) : K_NONE;
}

k_value build_looked_up(struct builder *b, uint32_t lookup, k_value from, k_value mask) {
  struct node n = build_look_node(b, lookup, from, mask);
  return b->status == K_OK ? builder_known(b, &n) : K_NONE;
}

bool build_implies(const struct builder *b, k_value mask, k_value other) {
  return b->status == K_OK && mask >= 0 && mask_implies(b, mask, other);
}

void build_need(struct builder *b, k_value present) {
  if (!builder_takes(b, present, KT_BOOL) || build_implies(b, b->fail_mask, present)) return;
  struct node from = *node_at(b, present);
  if (from.op == KO_AND) {
    build_need(b, from.in[0]);
    build_need(b, from.in[1]);
    return;
  }
  struct node n = builder_failing(b, from.op == N_INSIDE ? N_BOUND : N_NEED, KT_BOOL);
  n.in[0] = from.op == N_INSIDE ? from.in[0] : present;
  n.aux = from.op == N_INSIDE ? from.aux : 0;
  build_once(b, n);
}

void build_need_as(struct builder *b, k_value present, uint32_t bits) {
  uint32_t tag = b->fail_tag;
  b->fail_tag = tag | bits;
  build_need(b, present);
  b->fail_tag = tag;
}

static k_value build_to_integer(struct builder *b, k_value v, k_error error) {
  struct node n = builder_failing(b, N_EXACT, KT_I64);
  n.in[0] = v;
  n.aux = (uint16_t)error;
  return build_once(b, n);
}

k_value build_fit(struct builder *b, k_column type, k_value v) {
  if (!build_usable(b, v)) return K_NONE;
  k_type to = column_value(type);
  if (node_at(b, v)->type == KT_BOOL || to == KT_BOOL)
    return builder_takes(b, v, to) ? v : K_NONE;
  if (to != KT_I64) return build_convert(b, to, v);
  if (node_at(b, v)->type != KT_I64) v = build_to_integer(b, v, KE_FRACTION);
  if (v == K_NONE || builder_is_within(b, v, type)) return v;
  struct node n = builder_failing(b, N_RANGE, KT_I64);
  n.in[0] = v;
  n.aux = (uint16_t)type;
  build_once(b, n);
  return b->status == K_OK ? v : K_NONE;
}

k_value build_constant(struct builder *b, k_type type, k_scalar s) {
  assert(type <= KT_I64);
  struct node n = node_make(N_CONSTANT, type, false);
  switch (type) {  /* other bytes stay 0 */
    case KT_BOOL: n.k.b = s.b != 0; break;
    case KT_F32: n.k.f32 = s.f32; break;
    case KT_F64: n.k.f64 = s.f64; break;
    default: n.k.i64 = s.i64;
  }
  return builder_add(b, n);
}

k_value build_f64(struct builder *b, double x) {
  return build_constant(b, KT_F64, (k_scalar){.f64 = x});
}

k_value build_f32(struct builder *b, float x) {
  return build_constant(b, KT_F32, (k_scalar){.f32 = x});
}

k_value build_i64(struct builder *b, int64_t x) {
  return build_constant(b, KT_I64, (k_scalar){.i64 = x});
}

k_value build_bool(struct builder *b, bool x) {
  return build_constant(b, KT_BOOL, (k_scalar){.b = x});
}

k_value build_uniform(struct builder *b, uint32_t index, k_type type) {
  if (b->status != K_OK) return K_NONE;
  if (index >= MAX_COLUMNS) return builder_fail(b, K_ELIMIT);
  if (b->uniforms[index] != 0 && b->uniforms[index] != type + 1)
    return builder_fail(b, K_EINVAL);
  b->uniforms[index] = (uint8_t)(type + 1);
  if (index >= b->uniform_count) b->uniform_count = index + 1;
  struct node n = node_make(N_UNIFORM, type, false);
  n.aux = (uint16_t)index;
  return builder_add(b, n);
}

k_value build_start(struct builder *b) {
  return b->status == K_OK ? builder_add(b, node_make(N_START, KT_BOOL, true)) : K_NONE;
}

k_value build_convert(struct builder *b, k_type type, k_value v) {
  if (!build_usable(b, v)) return K_NONE;
  struct node from = *node_at(b, v);
  if (from.type == type) return v;
  if (from.type == KT_BOOL || type == KT_BOOL) return builder_fail(b, K_EINVAL);
  if (type == KT_I64) return build_to_integer(b, v, KE_INTEGER);
  double x;
  if (build_is_number(b, v, &x))
    return type == KT_F32 ? build_f32(b, (float)x) : build_f64(b, x);
  return builder_add_of(b, node_make(N_CONVERT, type, from.varies), v, K_NONE, K_NONE);
}

static bool build_takes(k_op op, uint32_t operands, k_type type) {
  if (op >= KO_COUNT || operations[op].operands != operands) return false;
  return operations[op].types >> type & 1;
}

k_value build_unary(struct builder *b, k_op op, k_value x) {
  if (!build_usable(b, x)) return K_NONE;
  struct node from = *node_at(b, x);
  if (!build_takes(op, 1, (k_type)from.type)) return builder_fail(b, K_EINVAL);
  if (op == KO_FLOOR || op == KO_CEIL) {
    if (from.type == KT_I64) return x;
    return builder_add_of(b, builder_failing(b, op, KT_I64), x, K_NONE, K_NONE);
  }
  k_type type = op == KO_BELOW ? KT_I64 : (k_type)from.type;
  if (op == KO_NOT && from.op == KO_NOT) return from.in[0];
  if (op == KO_NOT && from.op == N_CONSTANT) return build_bool(b, !from.k.b);
  return builder_add_of(b, node_make(op, type, from.varies), x, K_NONE, K_NONE);
}

/* An operation that yields a mask, with operands as its instructions take them. */
static k_value build_mask(struct builder *b, k_op op, k_value x, k_value y) {
  bool varies = node_at(b, x)->varies || node_at(b, y)->varies;
  return builder_add_of(b, node_make(op, KT_BOOL, varies), x, y, K_NONE);
}

/* An operation on masks. The wider one comes first, where mask_implies looks for it. */
static k_value build_logic(struct builder *b, k_op op, k_value x, k_value y) {
  assert(node_at(b, x)->type == KT_BOOL && node_at(b, y)->type == KT_BOOL);
  if (build_is_constant(b, x) && !build_is_constant(b, y) && op != KO_ANDN)
    return build_logic(b, op, y, x);
  if (op == KO_ANDN && node_at(b, y)->op == KO_NOT)
    return build_logic(b, KO_AND, x, node_at(b, y)->in[0]);
  if (op == KO_ANDN && build_is_constant(b, x))
    return node_at(b, x)->k.b ? build_unary(b, KO_NOT, y) : x;
  if (op == KO_AND && node_at(b, y)->op == KO_NOT && node_at(b, y)->varies)
    return build_logic(b, KO_ANDN, x, node_at(b, y)->in[0]);
  if (build_is_constant(b, y)) {
    bool on = node_at(b, y)->k.b;
    switch (op) {
      case KO_AND: return on ? x : y;
      case KO_OR: return on ? y : x;
      case KO_ANDN: return on ? build_bool(b, false) : x;
      default: return on ? build_unary(b, KO_NOT, x) : x;
    }
  }
  if (x == y) return op == KO_AND || op == KO_OR ? x : build_bool(b, false);
  return build_mask(b, op, x, y);
}

k_op build_mirrored(k_op op) {
  switch (op) {
    case KO_LT: return KO_GT;
    case KO_LE: return KO_GE;
    case KO_GT: return KO_LT;
    case KO_GE: return KO_LE;
    default: return op;
  }
}

/* Compares i64 x with f64 y; a constant y becomes an integer. */
static k_value build_compare_mixed(struct builder *b, k_op op, k_value x, k_value y) {
  assert(node_at(b, x)->type == KT_I64 && node_at(b, y)->type == KT_F64);
  struct node f = *node_at(b, y);
  if (f.op == N_CONSTANT && f.k.f64 >= -0x1p62 && f.k.f64 < 0x1p62) {
    double low = floor(f.k.f64);
    int64_t below = (int64_t)low;
    if (low == f.k.f64) return build_binary(b, op, x, build_i64(b, below));
    switch (op) {
      case KO_LT:
      case KO_LE: return build_binary(b, KO_LE, x, build_i64(b, below));
      case KO_GT:
      case KO_GE: return build_binary(b, KO_GT, x, build_i64(b, below));
      default: return build_bool(b, op == KO_NE);
    }
  }
  return build_mask(b, op, x, y);
}

static k_value build_compare(struct builder *b, k_op op, k_value x, k_value y);

static k_scalar build_limit_of(k_limit limit, const struct node *y) {
  assert(limit < LIMITS && (y->type == KT_F64 || y->type == KT_I64));
  static float (*const narrow[LIMITS])(double) = {up_f32, down_f32, same_f32};
  static double (*const wide[LIMITS])(int64_t) = {up_f64, down_f64, same_f64};
  k_scalar k;
  if (y->type == KT_F64)
    k.f32 = narrow[limit](y->k.f64);
  else
    k.f64 = wide[limit](y->k.i64);
  return k;
}

/* Converts uniform y for comparisons with a varying value of a narrower float type: see limit.h. */
static k_value build_to_limit(struct builder *b, k_type type, k_limit limit, k_value y) {
  if (b->status != K_OK || node_at(b, y)->type == type) return y;
  struct node from = *node_at(b, y);
  assert(!from.varies && from.type > type);
  k_type next = from.type == KT_I64 ? KT_F64 : KT_F32;
  if (from.op == N_CONSTANT)
    return build_to_limit(b, type, limit, build_constant(b, next, build_limit_of(limit, &from)));
  struct node n = node_make(N_LIMIT, next, false);
  n.aux = (uint16_t)limit;
  return build_to_limit(b, type, limit, builder_add_of(b, n, y, K_NONE, K_NONE));
}

/* Compares x, a varying float, with a uniform y of a wider type. */
static k_value build_compare_limit(struct builder *b, k_op op, k_value x, k_value y) {
  k_limit limit = op == KO_LT || op == KO_GE   ? LIMIT_UP
                  : op == KO_LE || op == KO_GT ? LIMIT_DOWN
                                               : LIMIT_SAME;
  y = build_to_limit(b, (k_type)node_at(b, x)->type, limit, y);
  return y == K_NONE ? K_NONE : build_compare(b, op, x, y);
}

/* Whether x varies and has a narrower float type than uniform y. */
static bool build_takes_limit(const struct builder *b, k_value x, k_value y) {
  const struct node *n = node_at(b, x), *m = node_at(b, y);
  return n->varies && !m->varies && n->type != KT_BOOL && n->type < m->type;
}

static k_value build_compare(struct builder *b, k_op op, k_value x, k_value y) {
  if (build_takes_limit(b, x, y)) return build_compare_limit(b, op, x, y);
  if (build_takes_limit(b, y, x)) return build_compare_limit(b, build_mirrored(op), y, x);
  if (node_at(b, x)->type != node_at(b, y)->type) {
    if (node_at(b, x)->type == KT_F32) x = build_convert(b, KT_F64, x);
    if (node_at(b, y)->type == KT_F32) y = build_convert(b, KT_F64, y);
    if (b->status != K_OK) return K_NONE;
  }
  uint32_t tx = node_at(b, x)->type, ty = node_at(b, y)->type;
  if (tx == KT_BOOL) {
    k_value differ = build_logic(b, KO_XOR, x, y);
    return op == KO_NE || differ == K_NONE ? differ : build_unary(b, KO_NOT, differ);
  }
  if (tx == KT_I64 && ty == KT_F64) return build_compare_mixed(b, op, x, y);
  if (tx == KT_F64 && ty == KT_I64) return build_compare_mixed(b, build_mirrored(op), y, x);
  bool turn = op == KO_GT || op == KO_GE ||
              (op <= KO_NE && !node_at(b, x)->varies && node_at(b, y)->varies);
  return turn ? build_mask(b, build_mirrored(op), y, x) : build_mask(b, op, x, y);
}

static bool build_commutes(k_op op, k_type type) {
  switch (op) {
    case KO_ADD:
    case KO_MUL:
    case KO_BAND:
    case KO_BOR:
    case KO_BXOR: return true;
    case KO_MIN:
    case KO_MAX: return type == KT_I64;
    default: return false;
  }
}

static bool build_is_two(const struct node *n) {
  return n->op == N_CONSTANT && (n->type == KT_F32 ? n->k.f32 == 2.0f : n->k.f64 == 2.0);
}

k_value build_binary(struct builder *b, k_op op, k_value x, k_value y) {
  if (!build_usable(b, x) || !build_usable(b, y)) return K_NONE;
  struct node nx = *node_at(b, x), ny = *node_at(b, y);
  if (!build_takes(op, 2, (k_type)nx.type) ||
      (nx.type != ny.type && (!is_compare(op) || nx.type == KT_BOOL || ny.type == KT_BOOL)))
    return builder_fail(b, K_EINVAL);
  if (is_compare(op)) return build_compare(b, op, x, y);
  if (op == KO_ULT) return build_mask(b, op, x, y);
  if (nx.type == KT_BOOL) return build_logic(b, op, x, y);
  if (op == KO_POW && build_is_two(&ny)) return build_binary(b, KO_MUL, x, x);  /* as Lua does */
  if (build_commutes(op, (k_type)nx.type) &&
      (nx.varies != ny.varies ? ny.varies : x > y)) {  /* scalars second */
    k_value swap = x;
    x = y;
    y = swap;
  }
  struct node n = node_make(op, (k_type)nx.type, nx.varies || ny.varies);
  if (nx.type == KT_I64 && (op == KO_IDIV || op == KO_MOD || op == KO_FMOD))
    n = builder_failing(b, op, KT_I64);
  return builder_add_of(b, n, x, y, K_NONE);
}

k_value build_select(struct builder *b, k_value mask, k_value x, k_value y) {
  if (!builder_takes(b, mask, KT_BOOL) || !build_usable(b, x)) return K_NONE;
  if (!builder_takes(b, y, (k_type)node_at(b, x)->type)) return K_NONE;
  struct node m = *node_at(b, mask);
  if (m.op == N_CONSTANT) return m.k.b ? x : y;
  const struct node *nx = node_at(b, x), *ny = node_at(b, y);
  if (nx->op == N_SELECT && nx->in[0] == mask) x = nx->in[1];
  if (ny->op == N_SELECT && ny->in[0] == mask) y = ny->in[2];
  if (x == y) return x;
  nx = node_at(b, x);
  ny = node_at(b, y);
  if (nx->type == KT_BOOL && nx->op == N_CONSTANT && ny->op == N_CONSTANT)
    return nx->k.b ? mask : build_unary(b, KO_NOT, mask);
  bool varies = m.varies || nx->varies || ny->varies;
  return builder_add_of(b, node_make(N_SELECT, (k_type)nx->type, varies), mask, x, y);
}

k_value build_random(struct builder *b, k_value entity, k_value call, k_value seed,
                     k_value tick) {
  if (!builder_takes(b, entity, KT_I64) || !builder_takes(b, call, KT_I64) ||
      !builder_takes(b, seed, KT_I64) || !builder_takes(b, tick, KT_I64))
    return K_NONE;
  if (node_at(b, seed)->varies || node_at(b, tick)->varies) return builder_fail(b, K_EINVAL);
  struct node n = node_make(N_RANDOM, KT_I64, true);
  n.in[3] = tick;
  return builder_add_of(b, n, entity, call, seed);
}

k_value build_random_unit(struct builder *b, k_value bits) {
  if (!builder_takes(b, bits, KT_I64)) return K_NONE;
  struct node n = node_make(N_UNIT, KT_F64, node_at(b, bits)->varies);
  return builder_add_of(b, n, bits, K_NONE, K_NONE);
}

k_value build_random_range(struct builder *b, k_value bits, k_value lo, k_value hi) {
  if (!builder_takes(b, bits, KT_I64) || !builder_takes(b, lo, KT_I64) ||
      !builder_takes(b, hi, KT_I64))
    return K_NONE;
  return builder_add_of(b, builder_failing(b, N_INTERVAL, KT_I64), bits, lo, hi);
}

void build_emit(struct builder *b, uint32_t index, k_value mask) {
  if (!builder_takes(b, mask, KT_BOOL)) return;
  if (index >= MAX_BITMAPS) {
    builder_fail(b, K_ELIMIT);
    return;
  }
  if (index >= b->bitmap_count) b->bitmap_count = index + 1;
  struct node n = node_make(N_EMIT, KT_BOOL, false);
  n.aux = (uint16_t)index;
  builder_add_of(b, n, mask, K_NONE, K_NONE);
}

void build_emit_once(struct builder *b, uint32_t index, k_value mask) {
  for (k_value v = b->count - 1; b->status == K_OK && v > 0; v--) {
    const struct node *known = node_at(b, v);
    if (known->op != N_EMIT || known->aux != index) continue;
    if (known->in[0] == mask && known->home == b->loop) return;
    break;
  }
  build_emit(b, index, mask);
}

void build_renumber(struct builder *b, uint32_t from, uint32_t to, uint32_t count) {
  assert(to <= from);
  b->bitmap_count = to + count;
  for (k_value v = 1; b->status == K_OK && v < b->count; v++) {
    struct node *known = &b->nodes[v];
    if (known->op != N_EMIT) continue;
    assert(known->aux < to || known->aux >= from);
    if (known->aux >= from) known->aux = (uint16_t)(known->aux - from + to);
    assert(known->aux < b->bitmap_count);
  }
}

bool build_may_fail(const struct builder *b) {
  bool fails = false;
  for (k_value v = 1; v < b->count; v++) fails |= node_at(b, v)->fails;
  return fails;
}

void build_reduce(struct builder *b, uint32_t index, k_reduce how, k_value v, k_value mask) {
  if (!build_usable(b, v) || !builder_takes(b, mask, KT_BOOL)) return;
  uint32_t type = node_at(b, v)->type, kind = (uint32_t)how * 4 + type;
  bool known = index < b->total_count;
  if ((type != KT_F64 && type != KT_I64) || b->loop != 0 || how > KR_FLOATS ||
      (known && b->totals[index] != 0 && b->totals[index] != kind)) {
    builder_fail(b, K_EINVAL);
    return;
  }
  if (index >= MAX_TOTALS) {
    builder_fail(b, K_ELIMIT);
    return;
  }
  b->totals[index] = (uint8_t)kind;
  if (index >= b->total_count) b->total_count = index + 1;
  if (how == KR_FLOATS || (build_is_constant(b, mask) && !node_at(b, mask)->k.b)) return;
  struct node n = node_make(N_REDUCE, (k_type)type, false);
  n.in[3] = mask;
  n.aux = (uint16_t)(index * 4 + how);
  builder_add_of(b, n, v, K_NONE, K_NONE);
}

/* ---- build list ---- */

uint32_t build_list(struct builder *b) {
  if (b->list_count == MAX_LISTS) builder_fail(b, K_ELIMIT);
  if (b->status != K_OK) return NONE;
  return b->list_count++;
}

/* Adds an argument that follows another one. */
static k_value build_give(struct builder *b, uint32_t aux, k_value value, k_value before) {
  k_type type = build_type(b, value) == KT_F64 ? KT_F64 : KT_I64;
  if (!builder_takes(b, value, type)) return K_NONE;
  struct node n = node_make(N_GIVE, KT_BOOL, true);
  n.aux = (uint16_t)aux;
  return builder_add_of(b, n, value, before, K_NONE);
}

k_value build_listed(struct builder *b, uint32_t list, const k_value *arguments, uint32_t count) {
  k_value last = K_NONE;
  if (b->status == K_OK && (list >= b->list_count || count > LIST_ARGUMENTS))
    builder_fail(b, K_EINVAL);
  for (uint32_t i = 0; i < count && b->status == K_OK; i++)
    if (arguments[i] != K_NONE) last = build_give(b, list * LIST_ARGUMENTS + i, arguments[i], last);
  if (b->status != K_OK) return K_NONE;
  struct node n = builder_failing(b, N_LIST, KT_I64);
  n.aux = (uint16_t)list;
  return builder_add_of(b, n, last, K_NONE, K_NONE);
}

/* A node that needs a filled list. */
static struct node build_of_list(struct builder *b, uint32_t op, k_type type, k_value filled) {
  struct node n = node_make(op, type, true);
  if (builder_takes(b, filled, KT_I64) && node_at(b, filled)->op != N_LIST)
    builder_fail(b, K_EINVAL);
  if (b->status == K_OK) n.aux = node_at(b, filled)->aux;
  return n;
}

k_value build_picked(struct builder *b, k_value filled, k_value item) {
  struct node n = build_of_list(b, N_PICK, KT_I64, filled);
  if (!builder_takes(b, item, KT_I64)) return K_NONE;
  if (node_at(b, item)->varies) return builder_fail(b, K_EINVAL);
  return builder_add_of(b, n, filled, item, K_NONE);
}

k_value build_taken(struct builder *b, k_value filled, uint32_t argument) {
  struct node n = build_of_list(b, N_TAKE, KT_F64, filled);
  if (b->status == K_OK && argument >= LIST_ARGUMENTS) builder_fail(b, K_EINVAL);
  n.aux = (uint16_t)(n.aux * LIST_ARGUMENTS + argument);
  return builder_add_of(b, n, filled, K_NONE, K_NONE);
}

/* ---- build loop ---- */

/* Loops are nodes, too. */

k_value build_loop(struct builder *b, k_value count, k_value mask) {
  if (!builder_takes(b, count, KT_I64) || !builder_takes(b, mask, KT_BOOL)) return K_NONE;
  if (node_at(b, count)->varies) return builder_fail(b, K_EINVAL);
  if (loop_depth(b, b->loop) == MAX_DEPTH - 2) return builder_fail(b, K_ELIMIT);
  k_value loop = builder_add_of(b, node_make(N_LOOP, KT_I64, false), count, mask, K_NONE);
  if (loop != K_NONE) b->loop = loop;
  return loop;
}

k_value build_carry(struct builder *b, k_value init, bool varying) {
  if (!builder_takes(b, init, build_type(b, init))) return K_NONE;
  if (b->loop == 0 || (!varying && node_at(b, init)->varies))
    return builder_fail(b, K_EINVAL);
  struct node n = node_make(N_CARRY, (k_type)node_at(b, init)->type, varying);
  return builder_add_of(b, n, init, K_NONE, K_NONE);
}

void build_next(struct builder *b, k_value carry, k_value next) {
  if (!builder_takes(b, carry, build_type(b, carry)) ||
      !builder_takes(b, next, build_type(b, carry)))
    return;
  const struct node *c = node_at(b, carry);
  if (c->op != N_CARRY || c->home != b->loop || (!c->varies && node_at(b, next)->varies)) {
    builder_fail(b, K_EINVAL);
    return;
  }
  builder_add_of(b, node_make(N_NEXT, KT_BOOL, false), carry, next, K_NONE);
}

void build_endloop(struct builder *b, k_value again) {
  if (!builder_takes(b, again, KT_BOOL)) return;
  if (b->loop == 0) {
    builder_fail(b, K_EINVAL);
    return;
  }
  if (builder_add_of(b, node_make(N_END, KT_BOOL, false), b->loop, again, K_NONE) != K_NONE)
    b->loop = node_at(b, b->loop)->home;
  b->fail_mask = K_ALL;
}

void build_give_up(struct builder *b) {
  if (b->status != K_OK) return;
  builder_add_of(b, builder_failing(b, N_GIVE_UP, KT_BOOL), b->fail_mask, K_NONE, K_NONE);
}

/* ---- build note ---- */

void build_order(struct builder *b, uint32_t order, k_value entity, k_value value, k_value cell) {
  k_type type = build_type(b, value);
  bool puts = cell != K_NONE && builder_takes(b, cell, KT_CELL);
  if (!builder_takes(b, entity, KT_I64) || !builder_takes(b, value, type)) return;
  if (order >= MAX_BITMAPS || b->site_count == MAX_SITES) builder_fail(b, K_ELIMIT);
  if (type == KT_F32) builder_fail(b, K_EINVAL);
  if (b->status != K_OK) return;
  k_site *site = &b->sites[b->site_count];
  struct node n = builder_failing(b, N_NOTE, type);
  *site = (k_site){(uint8_t)order, (uint8_t)type, 0, n.tag};
  if (puts) site->cell = (uint8_t)(build_cell_type(b, cell) + 1);
  n.ordered = puts;
  n.aux = (uint16_t)b->site_count++;
  builder_add_of(b, n, entity, value, cell);
}

/* Whether no row is in both masks, as far as the construction of the first one shows. */
static bool build_parts(const struct builder *b, k_value x, k_value y, int depth,
                        uint32_t *steps) {
  const struct node *n = node_at(b, x);
  const k_value one = n->in[0], two = n->in[1];
  if (*steps == 0) return false;   /* nested masks have too many paths */
  --*steps;
  if (n->op == N_CONSTANT) return !n->k.b;
  if (n->op == KO_NOT) return build_implies(b, y, one);
  if (n->op == KO_AND)
    return build_parts(b, one, y, depth, steps) || build_parts(b, two, y, depth, steps);
  if (n->op == KO_ANDN) return build_implies(b, y, two) || build_parts(b, one, y, depth, steps);
  if (n->op != KO_OR || depth == 0) return false;
  return (build_parts(b, one, y, depth, steps) || build_parts(b, y, one, depth - 1, steps)) &&
         (build_parts(b, two, y, depth, steps) || build_parts(b, y, two, depth - 1, steps));
}

bool build_excludes(const struct builder *b, k_value x, k_value y) {
  if (b->status != K_OK || x < 0 || y < 0) return false;
  uint32_t steps = 256;
  /* One joined mask may contain the other. */
  return build_parts(b, x, y, 4, &steps) || build_parts(b, y, x, 4, &steps);
}

/* Whether a node has the values of a fold's alias. */
static bool build_is_alias(const struct node *n, uint16_t alias) {
  if (n->op == N_UNIFORM) return alias == n->aux + 1;
  return (n->op == N_LOAD || n->op == N_LIVE) && alias == ALIAS_COLUMN + n->aux;
}

/* Places the notes to be carried out after everything that can fail. */
bool plan_notes(struct builder *b) {
  b->ordered = false;
  for (k_value v = 0; v < b->count; v++) b->ordered |= node_at(b, v)->ordered;
  if (b->site_count == 0 || b->status != K_OK) return b->status == K_OK;
  struct node n = node_make(N_DO_NOTES, KT_BOOL, true);
  n.fails = true;
  n.in[3] = K_ALL;
  if (builder_add(b, n) == K_NONE) return false;
  for (k_value v = 0; b->ordered && v < b->count; v++)
    node_at(b, v)->ordered |= node_at(b, v)->op == N_NOTE || node_at(b, v)->op == N_DO_NOTES;
  return true;
}

uint32_t build_shared_fold(const struct builder *b) { return b->shared_fold; }

/* The fold, if any, with cells that another node than the fold itself accesses. */
static uint32_t build_fold_beside(const struct builder *b, const struct node *n) {
  if (!n->live || (n->uses == 0 && n->op != N_FOLD && n->op != N_LAY)) return NONE;
  for (uint32_t i = 0; i < b->fold_count; i++) {
    const struct node *fold = node_at(b, b->folds[i].at), *cell = node_at(b, fold->in[0]);
    uint16_t alias = b->folds[i].alias;
    assert(fold->op == N_FOLD && fold->aux == i);
    if (fold == n) continue;
    if (alias && (build_is_alias(n, alias) ||
                  (n->op == N_FOLD && b->folds[n->aux].alias == alias)))
      return i;
    bool laid = n->op == N_LAY && cell->op == N_AT &&
                (cell->aux == n->aux / MAX_ARRAYS || cell->aux == n->aux % MAX_ARRAYS);
    if (laid) return i;
    bool element = n->op == N_ELEMENT || n->op == N_AT;
    bool apart = element && cell->op == N_AT && n->in[0] != cell->in[0] &&
                 node_at(b, n->in[0])->op == N_CONSTANT &&
                 node_at(b, cell->in[0])->op == N_CONSTANT;
    if (element && !apart && cell->op == N_AT && cell->aux == n->aux &&
        (n != cell || cell->uses > 1))
      return i;
  }
  return NONE;
}

bool plan_owners(struct builder *b) {
  for (k_value v = 0; b->fold_count && v < b->count; v++) {
    uint32_t beside = build_fold_beside(b, node_at(b, v));
    if (beside == NONE) continue;
    b->shared_fold = beside;
    return builder_fail(b, K_SHARED) != K_NONE;
  }
  return true;
}
