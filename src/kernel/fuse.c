/* Which nodes matter, which are joined into one instruction, and which operands have to
** be block registers because no instruction takes them as scalars. */
#include "kernel/node.h"

static node *at(const builder *b, int32_t v) {
  return &b->nodes[v];
}

static int mark(builder *b, int32_t v) {
  node *n = at(b, v);
  if (v == K_NONE || n->live) return 1;
  n->live = 1;
  return order_push(b, &b->spare, v);
}

/* What a live node keeps alive: its operands and the loop around it. */
static int mark_operands(builder *b, int32_t v) {
  node n = *at(b, v);
  for (int i = 0; i < 4; i++)
    if (n.in[i] != K_NONE && !mark(b, n.in[i])) return 0;
  return n.home == 0 || mark(b, n.home);
}

/* The last store of each column counts; the last next of each carry. Ends and nexts go
** with their loop and carry. */
static int mark_roots(builder *b) {
  for (int32_t v = 0; v < b->n; v++) {
    const node *n = at(b, v);
    if (n->op == N_STORE) b->store[n->aux] = v;
    if (n->op == N_NEXT) at(b, n->in[0])->in[1] = n->in[1];
    if (n->op == N_END) at(b, n->in[0])->end = v;
  }
  for (int32_t v = 0; v < b->n; v++) {
    const node *n = at(b, v);
    int root = n->fails || n->op == N_EMIT || n->op == N_REDUCE ||
               (n->op == N_STORE && b->store[n->aux] == v);
    if (root && !mark(b, v)) return 0;
  }
  return 1;
}

/* Takes ends along with live loops; says whether there were any new ones. */
static int mark_ends(builder *b) {
  int found = 0;
  for (int32_t v = 0; v < b->n; v++) {
    const node *n = at(b, v);
    if (n->op != N_END || n->live || !at(b, n->in[0])->live) continue;
    found = 1;
    if (!mark(b, v)) return 0;
  }
  return found;
}

int plan_live(builder *b) {
  if (b->loop != 0) builder_fail(b, K_EINVAL);
  if (b->status != K_OK || !mark_roots(b)) return 0;
  do {
    while (b->spare.n > 0)
      if (!mark_operands(b, b->spare.v[--b->spare.n])) return 0;
  } while (mark_ends(b));
  for (int32_t v = 0; v < b->n; v++) {
    const node *n = at(b, v);
    if (!n->live) continue;
    for (int i = 0; i < 4; i++)
      if (n->in[i] != K_NONE) at(b, n->in[i])->uses++;
    if (n->op == N_LOAD && column_direct(b, n->aux)) b->load[n->aux] = v;
  }
  return b->status == K_OK;
}

/* ---- fusing ---- */

/* A product that only `user` needs and that may be done where it is. */
static int product_of(const builder *b, const node *user, int32_t v) {
  const node *n = at(b, v);
  return n->op == KO_MUL && n->varies && n->uses == 1 && n->type == user->type &&
         n->home == user->home && n->type != KT_I64;
}

static int scalar_second(const builder *b, int32_t product) {
  return !at(b, at(b, product)->in[1])->varies;
}

static void absorb(builder *b, int32_t product) {
  at(b, product)->live = 0;
}

/* x * y + z * w and x * y - z * w: all varying, or y and w uniform. */
static int fuse_products(builder *b, node *n) {
  int32_t x = n->in[0], y = n->in[1];
  if (x == y || !product_of(b, n, x) || !product_of(b, n, y)) return 0;
  if (scalar_second(b, x) != scalar_second(b, y)) return 0;
  n->op = n->op == KO_ADD ? N_MULADD : N_MULDIFF;
  n->in[0] = at(b, x)->in[0];
  n->in[1] = at(b, x)->in[1];
  n->in[2] = at(b, y)->in[0];
  n->in[3] = at(b, y)->in[1];
  absorb(b, x);
  absorb(b, y);
  return 1;
}

static void fuse_product(builder *b, node *n, unsigned op, int32_t other,
                         int32_t product) {
  n->op = (uint8_t)op;
  n->in[0] = other;
  n->in[1] = at(b, product)->in[0];
  n->in[2] = at(b, product)->in[1];
  absorb(b, product);
}

/* Each step still rounds: the fused loops multiply and then add. */
int plan_fuse(builder *b) {
  for (int32_t v = 0; v < b->n; v++) {
    node *n = at(b, v);
    if (!n->live || !n->varies || (n->op != KO_ADD && n->op != KO_SUB)) continue;
    if (fuse_products(b, n)) continue;
    int32_t x = n->in[0], y = n->in[1];
    if (product_of(b, n, y))
      fuse_product(b, n, n->op == KO_ADD ? N_ADDMUL : N_SUBMUL, x, y);
    else if (product_of(b, n, x))
      fuse_product(b, n, n->op == KO_ADD ? N_ADDMUL : N_MULSUB, y, x);
  }
  return 1;
}

/* ---- operands that have to be block registers ---- */

enum { IN0 = 1, IN1 = 2, IN2 = 4, IN3 = 8 };

/* Which operands may be uniform, as bits, given which are. */
static unsigned binary_uniforms(const node *n, unsigned uniform) {
  switch (n->op) {
    case KO_ADD:
    case KO_MUL:
    case KO_BAND:
    case KO_BOR:
    case KO_BXOR:
    case KO_IDIV:
    case KO_MOD:
    case KO_POW: return IN1;
    case KO_SUB:
    case KO_DIV:
    case KO_SHL:
    case KO_SHR:
    case KO_LT:
    case KO_LE:
    case KO_GT:
    case KO_GE:
    case KO_EQ:
    case KO_NE: return uniform;
    case KO_MIN:
    case KO_MAX: return n->type == KT_I64 ? IN1 : uniform;
    default: return 0;
  }
}

static unsigned allowed(const node *n, unsigned uniform) {
  switch (n->op) {
    case N_SELECT:
      if (n->type == KT_BOOL) return 0;
      return uniform & IN1 ? IN1 : IN2;
    case N_RANDOM: return IN1 | IN2 | IN3;
    case N_ADDMUL:
    case N_SUBMUL:
    case N_MULSUB: return IN0 | IN2;
    case N_MULADD:
    case N_MULDIFF: return IN1 | IN3;
    case N_LOOP: return IN0;
    case N_CARRY: return IN0 | IN1;  /* copied or filled by themselves */
    case N_END: return IN0;
    default: return binary_uniforms(n, uniform);
  }
}

/* Where a uniform is the same for all rounds; a counter belongs to its own loop. */
static int32_t uniform_home(const builder *b, int32_t uniform) {
  return at(b, uniform)->op == N_LOOP ? uniform : at(b, uniform)->home;
}

static int is_inside(const builder *b, int32_t home, int32_t loop) {
  while (home != 0 && home != loop) home = at(b, home)->home;
  return home == loop;
}

/* A register filled with `uniform` for `user`; one serves all users but those behind the
** loop that carried it. */
static int32_t fill(builder *b, int32_t uniform, int32_t user) {
  if (uniform == K_ALL) return K_ALL;
  int32_t home = uniform_home(b, uniform);
  int shared = is_inside(b, at(b, user)->home, home);
  if (shared && at(b, uniform)->fill != 0) return at(b, uniform)->fill;
  node n = node_make(N_FILL, (k_type)at(b, uniform)->type, 1);
  n.in[0] = uniform;
  n.live = 1;
  int32_t v = builder_append(b, n, shared ? home : at(b, user)->home);
  if (v != K_NONE && shared) at(b, uniform)->fill = v;
  return v;
}

static int is_uniform(const builder *b, int32_t v) {
  return v != K_NONE && !at(b, v)->varies;
}

/* Instructions for one row only, or for none, take any operand. */
static int fill_operands(builder *b, int32_t v) {
  node n = *at(b, v);
  unsigned uniform = 0;
  for (int i = 0; i < 4; i++)
    if (is_uniform(b, n.in[i])) uniform |= 1u << i;
  unsigned wrong = uniform & ~allowed(&n, uniform);
  for (int i = 0; i < 4; i++) {
    if (!(wrong >> i & 1)) continue;
    int32_t f = fill(b, n.in[i], v);
    if (f == K_NONE) return 0;
    at(b, v)->in[i] = f;
  }
  return 1;
}

/* A store in place has to be of a value made for it, so what a loop carried or what
** another column stores is copied. A column's load is copied for any store: the column
** may change before that is done. */
static int needs_copy(const builder *b, int column, int32_t v) {
  const node *n = at(b, v);
  if (n->op == N_LOAD) return column_direct(b, n->aux);
  if (!column_direct(b, column)) return 0;
  if (n->op == N_CARRY) return 1;
  for (int c = 0; c < column; c++)
    if (b->store[c] != 0 && at(b, b->store[c])->in[0] == v) return 1;
  return 0;
}

static int own_stored_value(builder *b, int column, int32_t store) {
  int32_t v = at(b, store)->in[0];
  if (!needs_copy(b, column, v)) return 1;
  node copy = node_make(N_COPY, (k_type)at(b, v)->type, 1);
  copy.in[0] = v;
  copy.live = 1;
  int32_t c = builder_append(b, copy, 0);
  if (c == K_NONE) return 0;
  at(b, store)->in[0] = c;
  return 1;
}

static int own_stores(builder *b) {
  for (int c = 0; c < b->ncolumns; c++) {
    if (b->store[c] == 0) continue;
    const node *value = at(b, at(b, b->store[c])->in[0]);
    if (value->op == N_LOAD && value->aux == c) {  /* as it was */
      at(b, b->store[c])->live = 0;
      b->store[c] = 0;
    } else if (!own_stored_value(b, c, b->store[c])) {
      return 0;
    }
  }
  return 1;
}

/* A value carried on as another's, or that ends its loop, must not change before it has
** been taken over. */
static int own_carried(builder *b, int32_t v, int operand, int32_t loop) {
  int32_t old = at(b, v)->in[operand];
  if (old == K_NONE || old == v) return 1;
  if (at(b, old)->op != N_CARRY || at(b, old)->home != loop) return 1;
  node copy = node_make(N_COPY, (k_type)at(b, old)->type, at(b, old)->varies);
  copy.in[0] = old;
  copy.live = 1;
  int32_t c = builder_append(b, copy, loop);
  if (c == K_NONE) return 0;
  at(b, v)->in[operand] = c;
  return 1;
}

int plan_fill(builder *b) {
  int32_t n = b->n;
  for (int32_t v = 0; v < n; v++) {
    const node *m = at(b, v);
    if (!m->live || m->op == N_NEXT) continue;
    if (m->op == N_CARRY && !own_carried(b, v, 1, m->home)) return 0;
    if (at(b, v)->op == N_END && !own_carried(b, v, 1, at(b, v)->in[0])) return 0;
    m = at(b, v);
    if (m->varies || m->fails || m->op >= N_LOOP)
      if (!fill_operands(b, v)) return 0;
  }
  return own_stores(b);
}
