/* Decides which nodes are live, which are joined into one instruction, and which operands must be
** block registers because no instruction takes them as scalars. */
#include "kernel/node.h"

/* ---- live nodes ---- */

static bool fuse_mark(struct builder *b, k_value v) {
  struct node *n = node_at(b, v);
  if (n->live) return true;
  n->live = true;
  return node_list_push(b, &b->spare, v);
}

/* Marks what a live node keeps alive: its operands and the loop around it. */
static bool fuse_mark_operands(struct builder *b, k_value v) {
  struct node n = *node_at(b, v);
  for (int i = 0; i < 4; i++)
    if (n.in[i] != K_NONE && !fuse_mark(b, n.in[i])) return false;
  return n.home == 0 || fuse_mark(b, n.home);
}

/* Marks what the program needs: the last store of each column, and the last next value of each
** carry. Ends and next values belong to their loop and carry. */
static bool fuse_mark_roots(struct builder *b) {
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (is_store(n)) b->store[n->aux] = v;
    if (n->op == N_NEXT) node_at(b, n->in[0])->in[1] = n->in[1];
    if (n->op == N_END) node_at(b, n->in[0])->end = v;
  }
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    bool root = n->fails || n->op == N_SET || n->op == N_LAY || n->op == N_EMIT ||
                n->op == N_REDUCE ||
                (is_store(n) && b->store[n->aux] == v);
    if (root && !fuse_mark(b, v)) return false;
  }
  return true;
}

/* Marks the ends of live loops; *found if any were new. */
static bool fuse_mark_ends(struct builder *b, bool *found) {
  *found = false;
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (n->op != N_END || n->live || !node_at(b, n->in[0])->live) continue;
    *found = true;
    if (!fuse_mark(b, v)) return false;
  }
  return true;
}

static bool fuse_mark_all(struct builder *b) {
  if (!fuse_mark_roots(b)) return false;
  for (bool found = true; found;) {
    while (b->spare.count > 0)
      if (!fuse_mark_operands(b, b->spare.items[--b->spare.count])) return false;
    if (!fuse_mark_ends(b, &found)) return false;
  }
  return true;
}

bool plan_live(struct builder *b) {
  if (b->loop != 0) builder_fail(b, K_EINVAL);
  if (b->status != K_OK || !fuse_mark_all(b)) return false;
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (!n->live) continue;
    for (int i = 0; i < 4; i++)
      if (n->in[i] != K_NONE) node_at(b, n->in[i])->uses++;
    if (n->op == N_LOAD && column_direct(b, n->aux)) b->load[n->aux] = v;
  }
  return true;
}

/* ---- fusing ---- */

/* A product that only `user` needs and that `user` can compute itself. */
static bool fuse_product_of(const struct builder *b, const struct node *user, k_value v) {
  const struct node *n = node_at(b, v);
  return n->op == KO_MUL && n->varies && n->uses == 1 && n->type == user->type &&
         n->home == user->home && n->type != KT_I64;
}

static bool fuse_scalar_second(const struct builder *b, k_value product) {
  return !node_at(b, node_at(b, product)->in[1])->varies;
}

/* The product's user takes over its work. */
static void fuse_absorb(struct builder *b, k_value product) {
  struct node *n = node_at(b, product);
  assert(n->op == KO_MUL && n->live && n->uses == 1);
  n->live = false;
}

/* x * y + z * w and x * y - z * w: all varying, or y and w uniform. */
static bool fuse_products(struct builder *b, struct node *n) {
  k_value x = n->in[0], y = n->in[1];
  if (x == y || !fuse_product_of(b, n, x) || !fuse_product_of(b, n, y)) return false;
  if (fuse_scalar_second(b, x) != fuse_scalar_second(b, y)) return false;
  n->op = n->op == KO_ADD ? N_MULADD : N_MULDIFF;
  n->in[0] = node_at(b, x)->in[0];
  n->in[1] = node_at(b, x)->in[1];
  n->in[2] = node_at(b, y)->in[0];
  n->in[3] = node_at(b, y)->in[1];
  fuse_absorb(b, x);
  fuse_absorb(b, y);
  return true;
}

static void fuse_product(struct builder *b, struct node *n, uint32_t op, k_value other,
                         k_value product) {
  n->op = (uint8_t)op;
  n->in[0] = other;
  n->in[1] = node_at(b, product)->in[0];
  n->in[2] = node_at(b, product)->in[1];
  fuse_absorb(b, product);
}

/* Each step is still rounded: the fused loops multiply and then add. */
bool plan_fuse(struct builder *b) {
  for (k_value v = 0; v < b->count; v++) {
    struct node *n = node_at(b, v);
    if (!n->live || !n->varies || (n->op != KO_ADD && n->op != KO_SUB)) continue;
    if (fuse_products(b, n)) continue;
    k_value x = n->in[0], y = n->in[1];
    if (fuse_product_of(b, n, y))
      fuse_product(b, n, n->op == KO_ADD ? N_ADDMUL : N_SUBMUL, x, y);
    else if (fuse_product_of(b, n, x))
      fuse_product(b, n, n->op == KO_ADD ? N_ADDMUL : N_MULSUB, y, x);
  }
  return true;
}

/* ---- operands that have to be block registers ---- */

enum { IN0 = 1, IN1 = 2, IN2 = 4, IN3 = 8 };

/* Which operands may be uniform, as bits, given which ones are. */
static uint32_t fuse_allowed(const struct node *n, uint32_t uniform) {
  switch (n->op) {
    case N_SELECT:
      if (n->type == KT_BOOL) return 0;
      return uniform & IN1 ? IN1 : IN2;
    case N_RANDOM: return IN1 | IN2 | IN3;
    case N_ADDMUL:
    case N_SUBMUL:
    case N_MULSUB: return IN0 | IN2;
    case N_PICK: return IN1;
    case N_NOTE: return n->in[2] == K_NONE ? IN0 | IN1 : IN0;
    case N_MULADD:
    case N_MULDIFF: return IN1 | IN3;
    case N_LOOP:
    case N_END: return IN0;
    case N_CARRY: return IN0 | IN1;  /* copied or filled separately */
    default: break;
  }
  if (n->op >= KO_COUNT || operations[n->op].operands == 1) return 0;
  return is_compare(n->op) ? uniform : operation_scalars(n->op, n->type);
}

static bool fuse_is_inside(const struct builder *b, k_value home, k_value loop) {
  while (home != 0 && home != loop) home = node_at(b, home)->home;
  return home == loop;
}

/* A register filled with `uniform` for `user`; one register serves all users except those after the
** loop that carried it. */
static k_value fuse_fill(struct builder *b, k_value uniform, k_value user) {
  assert(!node_at(b, uniform)->varies);
  if (uniform == K_ALL) return K_ALL;
  /* The loop in which a uniform is constant; a counter belongs to its own loop. */
  k_value home = node_at(b, uniform)->op == N_LOOP ? uniform : node_at(b, uniform)->home;
  bool shared = fuse_is_inside(b, node_at(b, user)->home, home);
  if (shared && node_at(b, uniform)->fill != 0) return node_at(b, uniform)->fill;
  struct node n = node_make(N_FILL, (k_type)node_at(b, uniform)->type, true);
  n.in[0] = uniform;
  n.live = true;
  k_value v = builder_append(b, n, shared ? home : node_at(b, user)->home);
  if (v != K_NONE && shared) node_at(b, uniform)->fill = v;
  return v;
}

/* Fills registers with the uniform operands that an instruction does not take as scalars. */
static bool fuse_fill_operands(struct builder *b, k_value v) {
  struct node n = *node_at(b, v);
  uint32_t uniform = 0;
  for (uint32_t i = 0; i < 4; i++)
    if (n.in[i] != K_NONE && !node_at(b, n.in[i])->varies) uniform |= 1u << i;
  uint32_t wrong = uniform & ~fuse_allowed(&n, uniform);
  for (uint32_t i = 0; i < 4; i++) {
    if (!(wrong >> i & 1)) continue;
    k_value filled = fuse_fill(b, n.in[i], v);
    if (filled == K_NONE) return false;
    node_at(b, v)->in[i] = filled;
  }
  return true;
}

static k_value fuse_copy_of(struct builder *b, k_value v, bool varies, k_value home) {
  struct node copy = node_make(N_COPY, (k_type)node_at(b, v)->type, varies);
  copy.in[0] = v;
  copy.live = true;
  return builder_append(b, copy, home);
}

/* Whether a value must be copied to the column to which it is stored, since it is not calculated
** there: a loop carried it or another column stores it. A column's load is copied for any store,
** since the column may change before. A value for N_PUT is calculated elsewhere. */
static bool fuse_needs_copy(const struct builder *b, uint32_t column, k_value v) {
  const struct node *n = node_at(b, v);
  if (n->op == N_LOAD) return column_direct(b, n->aux);
  if (!column_direct(b, column) || node_at(b, b->store[column])->op == N_PUT) return false;
  if (n->op == N_CARRY) return true;
  for (uint32_t c = 0; c < column; c++)
    if (b->store[c] != 0 && node_at(b, b->store[c])->in[0] == v) return true;
  return false;
}

static bool fuse_own_stored_value(struct builder *b, uint32_t column, k_value store) {
  k_value v = node_at(b, store)->in[0];
  assert(is_store(node_at(b, store)));
  if (!fuse_needs_copy(b, column, v)) return true;
  assert(v == K_ALL || node_at(b, v)->varies);
  k_value copy = fuse_copy_of(b, v, true, 0);
  if (copy == K_NONE) return false;
  node_at(b, store)->in[0] = copy;
  return true;
}

static bool fuse_own_stores(struct builder *b) {
  for (uint32_t c = 0; c < b->column_count; c++) {
    if (b->store[c] == 0) continue;
    const struct node *value = node_at(b, node_at(b, b->store[c])->in[0]);
    if (value->op == N_LOAD && value->aux == c) {  /* unchanged */
      node_at(b, b->store[c])->live = false;
      b->store[c] = 0;
    } else if (!fuse_own_stored_value(b, c, b->store[c])) {
      return false;
    }
  }
  return true;
}

/* If what ends a loop, or the next value of one of its carries, is another of these carries, which
** changes before it is read, a copy is used instead. */
static bool fuse_own_carried(struct builder *b, k_value v, int operand, k_value loop) {
  k_value old = node_at(b, v)->in[operand];
  if (old == K_NONE || old == v) return true;
  if (node_at(b, old)->op != N_CARRY || node_at(b, old)->home != loop) return true;
  k_value copy = fuse_copy_of(b, old, node_at(b, old)->varies, loop);
  if (copy == K_NONE) return false;
  node_at(b, v)->in[operand] = copy;
  return true;
}

/* Whether a node is calculated once for all rows: then every operand is a scalar. */
static bool fuse_is_once(const struct node *n) {
  return !n->varies && !n->fails && n->op < N_LOOP;
}

bool plan_fill(struct builder *b) {
  k_value end = b->count;
  for (k_value v = 0; v < end; v++) {
    const struct node *n = node_at(b, v);
    if (!n->live || n->op == N_NEXT) continue;
    k_value loop = n->op == N_CARRY ? n->home : n->op == N_END ? n->in[0] : K_NONE;
    if (loop != K_NONE && !fuse_own_carried(b, v, 1, loop)) return false;
    if (!fuse_is_once(node_at(b, v)) && !fuse_fill_operands(b, v)) return false;
  }
  return fuse_own_stores(b);
}
