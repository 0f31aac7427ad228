#include "kernel/limit.h"
#include "kernel/node.h"

/* May v be an operand? */
static int usable(builder *b, k_value v) {
  if (b->status != K_OK) return 0;
  if (v >= 0 && v < b->n) {
    switch (b->nodes[v].op) {
      case N_RANGE:
      case N_NEXT:
      case N_END:
      case N_STORE:
      case N_EMIT:
      case N_REDUCE: break;
      default: return 1;
    }
  }
  builder_fail(b, K_EINVAL);
  return 0;
}

static int has_type(builder *b, k_value v, k_type type) {
  if (!usable(b, v)) return 0;
  if (b->nodes[v].type == type) return 1;
  builder_fail(b, K_EINVAL);
  return 0;
}

static int is_constant(const builder *b, k_value v) {
  return b->nodes[v].op == N_CONSTANT;
}

void build_at(builder *b, k_value mask, uint32_t tag) {
  if (!has_type(b, mask, KT_BOOL)) return;
  b->guard = mask;
  b->tag = tag;
}

/* A node that fails in the rows of the guard. */
static node failing(const builder *b, unsigned op, k_type type) {
  node n = node_make(op, type, 1);
  n.fails = 1;
  n.in[3] = b->guard;
  n.tag = b->tag;
  return n;
}

int build_column(builder *b, k_column type) {
  if (b->status != K_OK) return -1;
  if (b->ncolumns == MAX_COLUMNS) return builder_fail(b, K_ELIMIT);
  b->columns[b->ncolumns] = (uint8_t)type;
  return b->ncolumns++;
}

static int is_column(builder *b, int column) {
  if (b->status == K_OK && column >= 0 && column < b->ncolumns) return 1;
  builder_fail(b, K_EINVAL);
  return 0;
}

static k_value load(builder *b, unsigned op, int column) {
  node n = node_make(op, column_value((k_column)b->columns[column]), 1);
  n.aux = (uint16_t)column;
  return builder_add(b, n);
}

k_value build_load(builder *b, int column) {
  if (!is_column(b, column)) return K_NONE;
  return load(b, b->columns[column] == KC_ENTITY ? N_LIVE : N_LOAD, column);
}

k_value build_rows_entity(builder *b, int column) {
  if (!is_column(b, column)) return K_NONE;
  if (b->columns[column] != KC_ENTITY) return builder_fail(b, K_EINVAL);
  return load(b, N_LOAD, column);
}

void build_store(builder *b, int column, k_value v) {
  if (!is_column(b, column)) return;
  if (!has_type(b, v, column_value((k_column)b->columns[column]))) return;
  if (b->loop != 0) {
    builder_fail(b, K_EINVAL);
    return;
  }
  node n = node_make(N_STORE, KT_BOOL, 0);
  n.in[0] = v;
  n.aux = (uint16_t)column;
  builder_add(b, n);
}

static k_value to_integer(builder *b, k_value v, k_error error) {
  node n = failing(b, N_EXACT, KT_I64);
  n.in[0] = v;
  n.aux = (uint16_t)error;
  return builder_add(b, n);
}

k_value build_fit(builder *b, k_column type, k_value v) {
  if (!usable(b, v)) return K_NONE;
  k_type to = column_value(type);
  if (b->nodes[v].type == KT_BOOL || to == KT_BOOL)
    return has_type(b, v, to) ? v : K_NONE;
  if (to != KT_I64) return build_convert(b, to, v);
  if (b->nodes[v].type != KT_I64) v = to_integer(b, v, KE_FRACTION);
  if (type == KC_I64 || type == KC_ENTITY || v == K_NONE) return v;
  node n = failing(b, N_RANGE, KT_I64);
  n.in[0] = v;
  n.aux = (uint16_t)type;
  builder_add(b, n);
  return b->status == K_OK ? v : K_NONE;
}

k_value build_constant(builder *b, k_type type, k_scalar s) {
  node n = node_make(N_CONSTANT, type, 0);
  switch (type) {  /* bytes that are not of the value stay 0 */
    case KT_BOOL: n.k.b = s.b != 0; break;
    case KT_F32: n.k.f32 = s.f32; break;
    case KT_F64: n.k.f64 = s.f64; break;
    default: n.k.i64 = s.i64;
  }
  return builder_add(b, n);
}

k_value build_f64(builder *b, double x) {
  k_scalar s;
  s.f64 = x;
  return build_constant(b, KT_F64, s);
}

k_value build_f32(builder *b, float x) {
  k_scalar s;
  s.f32 = x;
  return build_constant(b, KT_F32, s);
}

k_value build_i64(builder *b, int64_t x) {
  k_scalar s;
  s.i64 = x;
  return build_constant(b, KT_I64, s);
}

k_value build_bool(builder *b, int x) {
  k_scalar s;
  s.b = x != 0;
  return build_constant(b, KT_BOOL, s);
}

k_value build_uniform(builder *b, int index, k_type type) {
  if (b->status != K_OK) return K_NONE;
  if (index < 0 || index >= MAX_COLUMNS) return builder_fail(b, K_ELIMIT);
  if (b->uniforms[index] != 0 && b->uniforms[index] != type + 1)
    return builder_fail(b, K_EINVAL);
  b->uniforms[index] = (uint8_t)(type + 1);
  if (index >= b->nuniforms) b->nuniforms = index + 1;
  node n = node_make(N_UNIFORM, type, 0);
  n.aux = (uint16_t)index;
  return builder_add(b, n);
}

/* A constant of another type, where that cannot fail. */
static k_value convert_constant(builder *b, k_type type, const node *from) {
  k_scalar k = from->k;
  double x = from->type == KT_F32   ? (double)k.f32
             : from->type == KT_F64 ? k.f64
                                    : (double)k.i64;
  return type == KT_F32 ? build_f32(b, (float)x) : build_f64(b, x);
}

k_value build_convert(builder *b, k_type type, k_value v) {
  if (!usable(b, v)) return K_NONE;
  node from = b->nodes[v];
  if (from.type == type) return v;
  if (from.type == KT_BOOL || type == KT_BOOL) return builder_fail(b, K_EINVAL);
  if (type == KT_I64) return to_integer(b, v, KE_INTEGER);
  if (from.op == N_CONSTANT) return convert_constant(b, type, &from);
  node n = node_make(N_CONVERT, type, from.varies);
  n.in[0] = v;
  return builder_add(b, n);
}

/* What types an operation takes: bits by k_type. */
static int takes(k_op op, k_type type) {
  enum { B = 1 << KT_BOOL, F = 1 << KT_F32 | 1 << KT_F64, I = 1 << KT_I64 };
  static const uint8_t types[KO_COUNT] = {
      [KO_NEG] = F | I,  [KO_BNOT] = I,       [KO_NOT] = B,        [KO_ABS] = F | I,
      [KO_SQRT] = F,     [KO_FLOOR] = F | I,  [KO_CEIL] = F | I,   [KO_TRUNC] = F,
      [KO_EXP] = F,      [KO_LOG] = F,        [KO_SIN] = F,        [KO_COS] = F,
      [KO_LOG2] = F,     [KO_LOG10] = F,      [KO_TAN] = F,        [KO_ASIN] = F,
      [KO_ACOS] = F,     [KO_ADD] = F | I,    [KO_SUB] = F | I,    [KO_MUL] = F | I,
      [KO_DIV] = F,      [KO_IDIV] = F | I,   [KO_MOD] = F | I,    [KO_POW] = F,
      [KO_FMOD] = F | I, [KO_ATAN2] = F,      [KO_MIN] = F | I,    [KO_MAX] = F | I,
      [KO_BAND] = I,     [KO_BOR] = I,        [KO_BXOR] = I,       [KO_SHL] = I,
      [KO_SHR] = I,      [KO_AND] = B,        [KO_OR] = B,         [KO_XOR] = B,
      [KO_ANDN] = B,     [KO_EQ] = F | I | B, [KO_NE] = F | I | B, [KO_LT] = F | I,
      [KO_LE] = F | I,   [KO_GT] = F | I,     [KO_GE] = F | I,     [KO_ULT] = I};
  return types[op] >> type & 1;
}

k_value build_unary(builder *b, k_op op, k_value x) {
  if (!usable(b, x)) return K_NONE;
  node from = b->nodes[x];
  if (op > KO_ACOS || !takes(op, (k_type)from.type)) return builder_fail(b, K_EINVAL);
  if (op == KO_FLOOR || op == KO_CEIL) {
    if (from.type == KT_I64) return x;
    node n = failing(b, op, KT_I64);
    n.in[0] = x;
    return builder_add(b, n);
  }
  if (op == KO_NOT && from.op == KO_NOT) return from.in[0];
  if (op == KO_NOT && from.op == N_CONSTANT) return build_bool(b, !from.k.b);
  node n = node_make(op, (k_type)from.type, from.varies);
  n.in[0] = x;
  return builder_add(b, n);
}

/* Masks. The wider one is kept first, which mask_implies looks at. */
static k_value logic(builder *b, k_op op, k_value x, k_value y) {
  if (is_constant(b, x) && !is_constant(b, y) && op != KO_ANDN) return logic(b, op, y, x);
  if (op == KO_ANDN && b->nodes[y].op == KO_NOT)
    return logic(b, KO_AND, x, b->nodes[y].in[0]);
  if (op == KO_ANDN && is_constant(b, x))
    return b->nodes[x].k.b ? build_unary(b, KO_NOT, y) : x;
  if (op == KO_AND && b->nodes[y].op == KO_NOT && b->nodes[y].varies)
    return logic(b, KO_ANDN, x, b->nodes[y].in[0]);
  if (is_constant(b, y)) {
    int on = b->nodes[y].k.b;
    switch (op) {
      case KO_AND: return on ? x : y;
      case KO_OR: return on ? y : x;
      case KO_ANDN: return on ? build_bool(b, 0) : x;
      default: return on ? build_unary(b, KO_NOT, x) : x;
    }
  }
  if (x == y) return op == KO_AND || op == KO_OR ? x : build_bool(b, 0);
  node n = node_make(op, KT_BOOL, b->nodes[x].varies || b->nodes[y].varies);
  n.in[0] = x;
  n.in[1] = y;
  return builder_add(b, n);
}

int is_compare(unsigned op) {
  return op >= KO_EQ && op <= KO_GE;
}

static k_op mirrored(k_op op) {
  switch (op) {
    case KO_LT: return KO_GT;
    case KO_LE: return KO_GE;
    case KO_GT: return KO_LT;
    case KO_GE: return KO_LE;
    default: return op;
  }
}

static k_value relation(builder *b, k_op op, k_value x, k_value y) {
  node n = node_make(op, KT_BOOL, b->nodes[x].varies || b->nodes[y].varies);
  n.in[0] = x;
  n.in[1] = y;
  return builder_add(b, n);
}

/* i64 x against f64 y; a constant y is made an integer. */
static k_value mixed(builder *b, k_op op, k_value x, k_value y) {
  node f = b->nodes[y];
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
  return relation(b, op, x, y);
}

static k_value compare(builder *b, k_op op, k_value x, k_value y);

static k_scalar limit_of(k_limit limit, const node *y) {
  static float (*const narrow[LIMITS])(double) = {up_f32, down_f32, same_f32};
  static double (*const wide[LIMITS])(int64_t) = {up_f64, down_f64, same_f64};
  k_scalar k;
  if (y->type == KT_F64)
    k.f32 = narrow[limit](y->k.f64);
  else
    k.f64 = wide[limit](y->k.i64);
  return k;
}

/* What uniform y is for comparisons of a varying value of a narrower float type. */
static k_value to_limit(builder *b, k_type type, k_limit limit, k_value y) {
  if (b->status != K_OK || b->nodes[y].type == type) return y;
  node from = b->nodes[y];
  k_type next = from.type == KT_I64 ? KT_F64 : KT_F32;
  if (from.op == N_CONSTANT)
    return to_limit(b, type, limit, build_constant(b, next, limit_of(limit, &from)));
  node n = node_make(N_LIMIT, next, 0);
  n.in[0] = y;
  n.aux = (uint16_t)limit;
  return to_limit(b, type, limit, builder_add(b, n));
}

/* x, a varying float, against a uniform y of a wider type. */
static k_value compare_limit(builder *b, k_op op, k_value x, k_value y) {
  k_limit limit = op == KO_LT || op == KO_GE   ? LIMIT_UP
                  : op == KO_LE || op == KO_GT ? LIMIT_DOWN
                                               : LIMIT_SAME;
  y = to_limit(b, (k_type)b->nodes[x].type, limit, y);
  return y == K_NONE ? K_NONE : compare(b, op, x, y);
}

/* Has x a float type narrower than y's, for all rows? */
static int takes_limit(const builder *b, k_value x, k_value y) {
  const node *n = &b->nodes[x], *m = &b->nodes[y];
  return n->varies && !m->varies && n->type != KT_BOOL && n->type < m->type;
}

static k_value compare(builder *b, k_op op, k_value x, k_value y) {
  if (takes_limit(b, x, y)) return compare_limit(b, op, x, y);
  if (takes_limit(b, y, x)) return compare_limit(b, mirrored(op), y, x);
  if (b->nodes[x].type != b->nodes[y].type) {
    if (b->nodes[x].type == KT_F32) x = build_convert(b, KT_F64, x);
    if (b->nodes[y].type == KT_F32) y = build_convert(b, KT_F64, y);
    if (b->status != K_OK) return K_NONE;
  }
  int tx = b->nodes[x].type, ty = b->nodes[y].type;
  if (tx == KT_BOOL) {
    k_value differ = logic(b, KO_XOR, x, y);
    return op == KO_NE || differ == K_NONE ? differ : build_unary(b, KO_NOT, differ);
  }
  if (tx == KT_I64 && ty == KT_F64) return mixed(b, op, x, y);
  if (tx == KT_F64 && ty == KT_I64) return mixed(b, mirrored(op), y, x);
  int turn = op == KO_GT || op == KO_GE ||
             (op <= KO_NE && !b->nodes[x].varies && b->nodes[y].varies);
  return turn ? relation(b, mirrored(op), y, x) : relation(b, op, x, y);
}

static int commutes(k_op op, k_type type) {
  switch (op) {
    case KO_ADD:
    case KO_MUL:
    case KO_BAND:
    case KO_BOR:
    case KO_BXOR: return 1;
    case KO_MIN:
    case KO_MAX: return type == KT_I64;
    default: return 0;
  }
}

static int comparable(const node *x, const node *y) {
  return x->type != KT_BOOL && y->type != KT_BOOL;
}

k_value build_binary(builder *b, k_op op, k_value x, k_value y) {
  if (!usable(b, x) || !usable(b, y)) return K_NONE;
  node nx = b->nodes[x], ny = b->nodes[y];
  if (op < KO_ADD || op >= KO_COUNT || !takes(op, (k_type)nx.type) ||
      (nx.type != ny.type && !(is_compare(op) && comparable(&nx, &ny))))
    return builder_fail(b, K_EINVAL);
  if (is_compare(op)) return compare(b, op, x, y);
  if (op == KO_ULT) return relation(b, op, x, y);
  if (nx.type == KT_BOOL) return logic(b, op, x, y);
  if (op == KO_POW && ny.op == N_CONSTANT &&
      (ny.type == KT_F32 ? ny.k.f32 == 2.0f : ny.k.f64 == 2.0))
    return build_binary(b, KO_MUL, x, x);  /* as Lua does */
  if (commutes(op, (k_type)nx.type) &&
      (nx.varies != ny.varies ? ny.varies : x > y)) {  /* scalars second */
    k_value swap = x;
    x = y;
    y = swap;
  }
  node n = node_make(op, (k_type)nx.type, nx.varies || ny.varies);
  if (nx.type == KT_I64 && (op == KO_IDIV || op == KO_MOD || op == KO_FMOD))
    n = failing(b, op, KT_I64);
  n.in[0] = x;
  n.in[1] = y;
  return builder_add(b, n);
}

k_value build_select(builder *b, k_value mask, k_value x, k_value y) {
  if (!has_type(b, mask, KT_BOOL) || !usable(b, x)) return K_NONE;
  if (!has_type(b, y, (k_type)b->nodes[x].type)) return K_NONE;
  node m = b->nodes[mask];
  if (m.op == N_CONSTANT) return m.k.b ? x : y;
  const node *nx = &b->nodes[x], *ny = &b->nodes[y];
  if (nx->op == N_SELECT && nx->in[0] == mask) x = nx->in[1];
  if (ny->op == N_SELECT && ny->in[0] == mask) y = ny->in[2];
  if (x == y) return x;
  node n = node_make(N_SELECT, (k_type)b->nodes[x].type,
                     m.varies || b->nodes[x].varies || b->nodes[y].varies);
  n.in[0] = mask;
  n.in[1] = x;
  n.in[2] = y;
  return builder_add(b, n);
}

k_value build_random(builder *b, k_value entity, k_value call, k_value seed,
                     k_value tick) {
  if (!has_type(b, entity, KT_I64) || !has_type(b, call, KT_I64) ||
      !has_type(b, seed, KT_I64) || !has_type(b, tick, KT_I64))
    return K_NONE;
  if (b->nodes[seed].varies || b->nodes[tick].varies) return builder_fail(b, K_EINVAL);
  node n = node_make(N_RANDOM, KT_I64, 1);
  n.in[0] = entity;
  n.in[1] = call;
  n.in[2] = seed;
  n.in[3] = tick;
  return builder_add(b, n);
}

k_value build_random_unit(builder *b, k_value bits) {
  if (!has_type(b, bits, KT_I64)) return K_NONE;
  node n = node_make(N_UNIT, KT_F64, b->nodes[bits].varies);
  n.in[0] = bits;
  return builder_add(b, n);
}

k_value build_random_range(builder *b, k_value bits, k_value lo, k_value hi) {
  if (!has_type(b, bits, KT_I64) || !has_type(b, lo, KT_I64) || !has_type(b, hi, KT_I64))
    return K_NONE;
  node n = failing(b, N_INTERVAL, KT_I64);
  n.in[0] = bits;
  n.in[1] = lo;
  n.in[2] = hi;
  return builder_add(b, n);
}

k_value build_loop(builder *b, k_value count, k_value mask) {
  if (!has_type(b, count, KT_I64) || !has_type(b, mask, KT_BOOL)) return K_NONE;
  if (b->nodes[count].varies) return builder_fail(b, K_EINVAL);
  int depth = 0;
  for (int32_t l = b->loop; l != 0; l = b->nodes[l].home) depth++;
  if (depth == MAX_DEPTH - 2) return builder_fail(b, K_ELIMIT);
  node n = node_make(N_LOOP, KT_I64, 0);
  n.in[0] = count;
  n.in[1] = mask;
  k_value loop = builder_add(b, n);
  if (loop != K_NONE) b->loop = loop;
  return loop;
}

k_value build_carry(builder *b, k_value init, int varying) {
  if (!usable(b, init)) return K_NONE;
  if (b->loop == 0 || (!varying && b->nodes[init].varies))
    return builder_fail(b, K_EINVAL);
  node n = node_make(N_CARRY, (k_type)b->nodes[init].type, varying != 0);
  n.in[0] = init;
  return builder_add(b, n);
}

void build_next(builder *b, k_value carry, k_value next) {
  if (!usable(b, carry) || !has_type(b, next, (k_type)b->nodes[carry].type)) return;
  const node *c = &b->nodes[carry];
  if (c->op != N_CARRY || c->home != b->loop || (!c->varies && b->nodes[next].varies)) {
    builder_fail(b, K_EINVAL);
    return;
  }
  node n = node_make(N_NEXT, KT_BOOL, 0);
  n.in[0] = carry;
  n.in[1] = next;
  builder_add(b, n);
}

void build_endloop(builder *b, k_value again) {
  if (!has_type(b, again, KT_BOOL)) return;
  if (b->loop == 0) {
    builder_fail(b, K_EINVAL);
    return;
  }
  node n = node_make(N_END, KT_BOOL, 0);
  n.in[0] = b->loop;
  n.in[1] = again;
  if (builder_add(b, n) != K_NONE) b->loop = b->nodes[b->loop].home;
  b->guard = K_ALL;
}

void build_emit(builder *b, int index, k_value mask) {
  if (!has_type(b, mask, KT_BOOL)) return;
  if (index < 0 || index >= MAX_BITMAPS) {
    builder_fail(b, K_ELIMIT);
    return;
  }
  if (index >= b->nbitmaps) b->nbitmaps = index + 1;
  node n = node_make(N_EMIT, KT_BOOL, 0);
  n.in[0] = mask;
  n.aux = (uint16_t)index;
  builder_add(b, n);
}

void build_reduce(builder *b, int index, k_reduce how, k_value v, k_value mask) {
  if (!usable(b, v) || !has_type(b, mask, KT_BOOL)) return;
  int type = b->nodes[v].type, kind = (int)how * 4 + type;
  int known = index >= 0 && index < b->ntotals;
  if ((type != KT_F64 && type != KT_I64) || b->loop != 0 || how > KR_MAX ||
      (known && b->totals[index] != 0 && b->totals[index] != kind)) {
    builder_fail(b, K_EINVAL);
    return;
  }
  if (index < 0 || index >= MAX_TOTALS) {
    builder_fail(b, K_ELIMIT);
    return;
  }
  b->totals[index] = (uint8_t)kind;
  if (index >= b->ntotals) b->ntotals = index + 1;
  node n = node_make(N_REDUCE, (k_type)type, 0);
  n.in[0] = v;
  n.in[3] = mask;
  n.aux = (uint16_t)(index * 4 + (int)how);
  builder_add(b, n);
}
