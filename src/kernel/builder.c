#include "kernel/node.h"

#include <string.h>

static uint64_t scalar_bits(k_scalar s) {
  uint64_t u;
  memcpy(&u, &s, sizeof u);
  return u;
}

static unsigned hash(const node *n) {
  uint64_t h =
      ((uint64_t)n->op << 24 | (uint64_t)n->type << 16 | n->aux) * 0x9e3779b97f4a7c15;
  for (int i = 0; i < 4; i++) h = (h ^ (uint32_t)n->in[i]) * 0x9e3779b97f4a7c15;
  h = (h ^ scalar_bits(n->k)) * 0x9e3779b97f4a7c15;
  return (unsigned)(h >> 56);
}

static int same(const node *x, const node *y) {
  return x->op == y->op && x->type == y->type && x->varies == y->varies &&
         x->aux == y->aux && memcmp(x->in, y->in, sizeof x->in) == 0 &&
         scalar_bits(x->k) == scalar_bits(y->k);
}

/* Nodes that are more than their value are never united. */
static int is_value(int op) {
  switch (op) {
    case N_LOOP:
    case N_CARRY:
    case N_NEXT:
    case N_END:
    case N_STORE:
    case N_EMIT:
    case N_REDUCE: return 0;
    default: return op < N_ADDMUL;
  }
}

node node_make(unsigned op, k_type type, int varies) {
  node n;
  memset(&n, 0, sizeof n);
  n.op = (uint8_t)op;
  n.type = (uint8_t)type;
  n.varies = (uint8_t)varies;
  for (int i = 0; i < 4; i++) n.in[i] = K_NONE;
  n.chain = K_NONE;
  return n;
}

k_value builder_fail(builder *b, k_status status) {
  if (b->status == K_OK) b->status = status;
  return K_NONE;
}

static int grow(builder *b) {
  if (b->n < b->size) return 1;
  int32_t size = b->size == 0 ? 128 : b->size * 2;
  if (size > 0x10000) return builder_fail(b, K_ELIMIT) != K_NONE;
  size_t each = sizeof(node);
  node *nodes =
      b->mem.alloc(b->mem.ud, b->nodes, (size_t)b->size * each, (size_t)size * each);
  if (!nodes) return builder_fail(b, K_ENOMEM) != K_NONE;
  b->nodes = nodes;
  b->size = size;
  return 1;
}

int loop_is_open(const builder *b, int32_t loop) {
  if (loop == 0) return 1;
  for (int32_t l = b->loop; l != 0; l = b->nodes[l].home)
    if (l == loop) return 1;
  return 0;
}

/* The innermost open loop in which v stands for one value; K_NONE when it is out of
** scope. What a loop carried is known behind it. */
static int32_t scope_of(const builder *b, k_value v) {
  const node *n = &b->nodes[v];
  int32_t loop = n->op == N_LOOP ? v : n->home;
  if (loop_is_open(b, loop)) return loop;
  if (n->op != N_CARRY) return K_NONE;
  while (!loop_is_open(b, loop)) loop = b->nodes[loop].home;
  return loop;
}

static int depth_of(const builder *b, int32_t loop) {
  int depth = 0;
  for (; loop != 0; loop = b->nodes[loop].home) depth++;
  return depth;
}

/* The loop that a pure node belongs to: the innermost that one of its operands depends
** on, since it is done in front of the others. */
static int32_t home_of(builder *b, const node *n) {
  int32_t home = 0;
  for (int i = 0; i < 4; i++) {
    if (n->in[i] == K_NONE) continue;
    int32_t loop = scope_of(b, n->in[i]);
    if (loop == K_NONE) return builder_fail(b, K_EINVAL);
    if (depth_of(b, loop) > depth_of(b, home)) home = loop;
  }
  return home;
}

k_value builder_append(builder *b, node n, int32_t home) {
  if (!grow(b)) return K_NONE;
  n.home = home;
  b->nodes[b->n] = n;
  return b->n++;
}

k_value builder_add(builder *b, node n) {
  if (b->status != K_OK) return K_NONE;
  int32_t home = home_of(b, &n);
  if (home == K_NONE) return K_NONE;
  if (n.fails || !is_value(n.op)) home = b->loop;
  int32_t *bucket = &b->bucket[hash(&n)];
  if (is_value(n.op))
    for (int32_t v = *bucket; v != K_NONE; v = b->nodes[v].chain)
      if (same(&b->nodes[v], &n) && loop_is_open(b, b->nodes[v].home)) return v;
  k_value v = builder_append(b, n, home);
  if (v != K_NONE && is_value(n.op)) {
    b->nodes[v].chain = *bucket;
    *bucket = v;
  }
  return v;
}

int order_push(builder *b, order *o, int32_t v) {
  if (o->n == o->size) {
    int32_t size = o->size == 0 ? 128 : o->size * 2;
    int32_t *p = b->mem.alloc(b->mem.ud, o->v, (size_t)o->size * sizeof *p,
                              (size_t)size * sizeof *p);
    if (!p) return builder_fail(b, K_ENOMEM) != K_NONE;
    o->v = p;
    o->size = size;
  }
  o->v[o->n++] = v;
  return 1;
}

int column_direct(const builder *b, int column) {
  return b->columns[column] <= KC_I64;
}

builder *builder_new(const k_memory *mem) {
  builder *b = mem->alloc(mem->ud, NULL, 0, sizeof *b);
  if (!b) return NULL;
  memset(b, 0, sizeof *b);
  b->mem = *mem;
  b->status = K_OK;
  for (int i = 0; i < 256; i++) b->bucket[i] = K_NONE;
  node all = node_make(N_CONSTANT, KT_BOOL, 0);
  all.k.b = 1;
  if (builder_add(b, all) != K_ALL) {
    builder_free(b);
    return NULL;
  }
  return b;
}

static void order_free(builder *b, order *o) {
  if (o->v) b->mem.alloc(b->mem.ud, o->v, (size_t)o->size * sizeof *o->v, 0);
}

void builder_free(builder *b) {
  if (!b) return;
  k_memory mem = b->mem;
  order_free(b, &b->plan);
  order_free(b, &b->spare);
  order_free(b, &b->scalars);
  if (b->nodes) mem.alloc(mem.ud, b->nodes, (size_t)b->size * sizeof *b->nodes, 0);
  mem.alloc(mem.ud, b, sizeof *b, 0);
}

k_status builder_status(const builder *b) {
  return b->status;
}

k_type build_type(const builder *b, k_value v) {
  return v < 0 || v >= b->n ? KT_BOOL : (k_type)b->nodes[v].type;
}

int build_varies(const builder *b, k_value v) {
  return v >= 0 && v < b->n && b->nodes[v].varies;
}

k_mark build_mark(const builder *b) {
  k_mark mark;
  mark.value = b->status == K_OK ? b->n : K_NONE;
  mark.loops = b->loop;
  return mark;
}

void build_rewind(builder *b, k_mark mark) {
  if (mark.value == K_NONE || b->status == K_ENOMEM) return;
  b->status = K_OK;
  while (b->n > mark.value) {
    const node *n = &b->nodes[--b->n];
    if (is_value(n->op)) b->bucket[hash(n)] = n->chain;
  }
  b->loop = mark.loops;
  b->guard = K_ALL;
}
