/* The order of instructions. It is the order in which they were stated, but: what does
** not depend on a loop comes in front of it; loads that widen, fills and copies come just
** before their first use; what can fail comes, with all it needs, before the rest, which
** can then store in place; stores come last. */
#include "kernel/node.h"

static node *at(const builder *b, int32_t v) {
  return &b->nodes[v];
}

/* Done when first needed. */
static int is_lazy(const builder *b, const node *n) {
  switch (n->op) {
    case N_FILL:
    case N_COPY:
    case N_LIVE: return 1;
    case N_LOAD: return !column_direct(b, n->aux) && b->columns[n->aux] != KC_ENTITY;
    default: return 0;
  }
}

/* Takes an instruction, or is only a place. */
static int is_done(const builder *b, const node *n) {
  switch (n->op) {
    case N_CONSTANT:
    case N_UNIFORM:
    case N_CARRY:
    case N_NEXT: return 0;
    case N_LOAD: return is_lazy(b, n);
    default: return 1;
  }
}

static int push(builder *b, int32_t v);

static int push_lazy_operands(builder *b, int32_t v, int32_t home) {
  for (int i = 0; i < 4; i++) {
    int32_t u = at(b, v)->in[i];
    if (u == K_NONE) continue;
    const node *n = at(b, u);
    if (!n->done && n->home == home && is_lazy(b, n) && !push(b, u)) return 0;
  }
  return 1;
}

static int push(builder *b, int32_t v) {
  node *n = at(b, v);
  if (n->done) return 1;
  n->done = 1;
  if (!push_lazy_operands(b, v, n->home)) return 0;
  int scalar = !n->varies && n->home == 0 && n->op < N_LOOP;
  return order_push(b, scalar ? &b->scalars : &b->plan, v);
}

/* What the body of a loop that is about to begin needs of the body around it. */
static int hoist(builder *b, int32_t home, int32_t from, int32_t to) {
  for (int32_t v = from; v <= to; v++) {
    const node *n = at(b, v);
    if (!n->live) continue;
    if (!push_lazy_operands(b, v, home)) return 0;
    if (n->home == home && is_done(b, n) && !push(b, v)) return 0;
  }
  return 1;
}

/* What is carried on is copied, where it has to be, last. */
static int push_end(builder *b, int32_t loop, int32_t end) {
  for (int32_t v = loop + 1; v < end; v++)
    if (at(b, v)->live && at(b, v)->op == N_CARRY && at(b, v)->home == loop &&
        !push_lazy_operands(b, v, loop))
      return 0;
  return push_lazy_operands(b, end, loop) && order_push(b, &b->plan, end);
}

static int sequence(builder *b, int32_t home, int32_t from, int32_t to) {
  for (int32_t v = from; v < to; v++) {
    const node *n = at(b, v);
    if (!n->live || n->home != home || n->op == N_STORE || !is_done(b, n)) continue;
    if (is_lazy(b, n) || n->op == N_END) continue;
    if (n->op != N_LOOP) {
      if (!push(b, v)) return 0;
      continue;
    }
    int32_t end = n->end;
    if (!hoist(b, home, v + 1, end - 1) || !push_lazy_operands(b, end, home)) return 0;
    if (!push(b, v) || !sequence(b, v, v + 1, end)) return 0;
    if (!push_end(b, v, end)) return 0;
    v = end;
  }
  return 1;
}

static int push_stores(builder *b) {
  for (int c = 0; c < b->ncolumns; c++)
    if (b->store[c] != 0 && !push_lazy_operands(b, b->store[c], 0)) return 0;
  for (int c = 0; c < b->ncolumns; c++)
    if (b->store[c] != 0 && !push(b, b->store[c])) return 0;
  return 1;
}

/* ---- what can fail first ---- */

static void need_early(builder *b, int32_t v) {
  for (; v != 0; v = at(b, v)->home) at(b, v)->early = 1;
}

static void need_operands_early(builder *b, int32_t v) {
  for (int i = 0; i < 4; i++)
    if (at(b, v)->in[i] > 0) need_early(b, at(b, v)->in[i]);
}

/* The position of the loop's begin, from that of its end, and the other way round. */
static int32_t other_end(const builder *b, int32_t i, int32_t step) {
  int depth = 0;
  for (;; i += step) {
    int op = at(b, b->plan.v[i])->op;
    if (op == N_LOOP)
      depth += step;
    else if (op == N_END)
      depth -= step;
    if (depth == 0) return i;
  }
}

/* A whole loop, or one instruction, ending at position i and beginning at `first`. */
static int group_is_early(const builder *b, int32_t first, int32_t i) {
  for (; first <= i; first++) {
    const node *n = at(b, b->plan.v[first]);
    if (n->fails || n->early) return 1;
  }
  return 0;
}

static void mark_early(builder *b) {
  for (int32_t i = b->plan.n - 1; i >= 0; i--) {
    int32_t v = b->plan.v[i];
    int32_t first = at(b, v)->op == N_END ? other_end(b, i, -1) : i;
    if (group_is_early(b, first, i)) {
      int32_t begin = first < i ? b->plan.v[first] : v;
      for (int32_t u = begin; u <= v; u++)  /* carries too */
        if (at(b, u)->live) need_operands_early(b, u);
      for (int32_t j = first; j <= i; j++) {
        need_operands_early(b, b->plan.v[j]);
        at(b, b->plan.v[j])->early = 1;
      }
    }
    i = first;
  }
}

static int take(builder *b, int early) {
  for (int32_t i = 0; i < b->plan.n; i++) {
    int32_t v = b->plan.v[i];
    int32_t last = at(b, v)->op == N_LOOP ? other_end(b, i, 1) : i;
    for (int32_t j = i; j <= last; j++)
      if (at(b, v)->early == early && !order_push(b, &b->spare, b->plan.v[j])) return 0;
    i = last;
  }
  return 1;
}

static int fails_first(builder *b) {
  mark_early(b);
  b->spare.n = 0;
  if (!take(b, 1) || !take(b, 0)) return 0;
  order swap = b->plan;
  b->plan = b->spare;
  b->spare = swap;
  return 1;
}

int plan_order(builder *b) {
  return sequence(b, 0, 1, b->n) && push_stores(b) && fails_first(b);
}
