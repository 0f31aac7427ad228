/* The order of instructions. It is the order in which they were stated, but: what does
** not depend on a loop comes in front of it; loads that widen, fills and copies come just
** before their first use; what can fail comes, with all it needs, before the rest, which
** can then be calculated in the columns that it is stored to; stores come last. */
#include "kernel/node.h"

/* Whether it is done when first needed. */
static bool order_is_lazy(const struct builder *b, const struct node *n) {
  switch (n->op) {
    case N_FILL:
    case N_COPY:
    case N_LIVE: return true;
    case N_LOAD: return !column_direct(b, n->aux) && b->columns[n->aux] != KC_ENTITY;
    default: return false;
  }
}

/* Whether it takes an instruction: other nodes only stand for an operand. */
static bool order_is_done(const struct builder *b, const struct node *n) {
  switch (n->op) {
    case N_CONSTANT:
    case N_UNIFORM:
    case N_CARRY:
    case N_NEXT: return false;
    case N_LOAD: return order_is_lazy(b, n);
    default: return true;
  }
}

static bool order_push(struct builder *b, k_value v);

static bool order_push_lazy_operands(struct builder *b, k_value v, k_value home) {
  for (int i = 0; i < 4; i++) {
    k_value operand = node_at(b, v)->in[i];
    if (operand == K_NONE) continue;
    const struct node *n = node_at(b, operand);
    if (!n->done && n->home == home && order_is_lazy(b, n) && !order_push(b, operand)) return false;
  }
  return true;
}

static bool order_push(struct builder *b, k_value v) {
  struct node *n = node_at(b, v);
  assert(n->live);
  if (n->done) return true;
  n->done = true;
  if (!order_push_lazy_operands(b, v, n->home)) return false;
  bool once = !n->varies && n->home == 0 && n->op < N_LOOP;
  return node_list_push(b, once ? &b->prologue : &b->plan, v);
}

/* What the body of a loop that is about to begin needs of the body around it. */
static bool order_hoist(struct builder *b, k_value home, k_value from, k_value to) {
  for (k_value v = from; v <= to; v++) {
    const struct node *n = node_at(b, v);
    if (!n->live) continue;
    if (!order_push_lazy_operands(b, v, home)) return false;
    if (n->home == home && order_is_done(b, n) && !order_push(b, v)) return false;
  }
  return true;
}

/* What is carried on is copied, where it has to be, last. */
static bool order_push_end(struct builder *b, k_value loop, k_value end) {
  assert(node_at(b, end)->op == N_END && node_at(b, end)->in[0] == loop);
  for (k_value v = loop + 1; v < end; v++)
    if (node_at(b, v)->live && node_at(b, v)->op == N_CARRY && node_at(b, v)->home == loop &&
        !order_push_lazy_operands(b, v, loop))
      return false;
  return order_push_lazy_operands(b, end, loop) && node_list_push(b, &b->plan, end);
}

static bool order_sequence(struct builder *b, k_value home, k_value from, k_value to);

static bool order_sequence_loop(struct builder *b, k_value home, k_value loop, k_value end) {
  return order_hoist(b, home, loop + 1, end - 1) &&
         order_push_lazy_operands(b, end, home) && order_push(b, loop) &&
         order_sequence(b, loop, loop + 1, end) && order_push_end(b, loop, end);
}

/* The instructions of a body: `home` is its loop, or 0. */
static bool order_sequence(struct builder *b, k_value home, k_value from, k_value to) {
  for (k_value v = from; v < to; v++) {
    const struct node *n = node_at(b, v);
    if (!n->live || n->home != home || is_store(n) || !order_is_done(b, n)) continue;
    if (order_is_lazy(b, n) || n->op == N_END) continue;
    if (n->op == N_LOOP) {
      k_value end = n->end;
      if (!order_sequence_loop(b, home, v, end)) return false;
      v = end;
    } else if (!order_push(b, v)) {
      return false;
    }
  }
  return true;
}

static bool order_push_stores(struct builder *b) {
  for (uint32_t c = 0; c < b->column_count; c++)
    if (b->store[c] != 0 && !order_push_lazy_operands(b, b->store[c], 0)) return false;
  for (uint32_t c = 0; c < b->column_count; c++)
    if (b->store[c] != 0 && !order_push(b, b->store[c])) return false;
  return true;
}

/* ---- what can fail first ---- */

static void order_need_operands_early(struct builder *b, k_value v) {
  for (int i = 0; i < 4; i++)
    if (node_at(b, v)->in[i] > 0)
      for (k_value w = node_at(b, v)->in[i]; w != 0; w = node_at(b, w)->home)
        node_at(b, w)->early = true;
}

/* The position of the loop's begin, from that of its end (step -1), and the other way
** round (step 1). */
static int32_t order_other_end(const struct builder *b, int32_t i, int32_t step) {
  int32_t depth = 0;
  for (;; i += step) {
    uint32_t op = planned(b, i)->op;
    if (op == N_LOOP)
      depth += step;
    else if (op == N_END)
      depth -= step;
    if (depth == 0) return i;
  }
}

/* A whole loop, or one instruction, ending at position i and beginning at `first`. */
static bool order_group_is_early(const struct builder *b, int32_t first, int32_t i) {
  for (; first <= i; first++) {
    const struct node *n = planned(b, first);
    if (n->fails || n->early) return true;
  }
  return false;
}

static bool order_take_node(struct builder *b, bool early) {
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    const struct node *n = planned(b, i);
    int32_t last = n->op == N_LOOP ? order_other_end(b, i, 1) : i;
    for (int32_t j = i; j <= last; j++)
      if (n->early == early && !node_list_push(b, &b->spare, b->plan.items[j])) return false;
    i = last;
  }
  return true;
}

static bool order_fails_first(struct builder *b) {
  for (int32_t i = (int32_t)b->plan.count - 1; i >= 0; i--) {
    int32_t first = planned(b, i)->op == N_END ? order_other_end(b, i, -1) : i;
    if (order_group_is_early(b, first, i)) {
      for (k_value v = b->plan.items[first]; v <= b->plan.items[i]; v++)  /* carries too */
        if (node_at(b, v)->live) order_need_operands_early(b, v);
      for (int32_t at = first; at <= i; at++) {
        order_need_operands_early(b, b->plan.items[at]);
        planned(b, at)->early = true;
      }
    }
    i = first;
  }
  b->spare.count = 0;
  if (!order_take_node(b, true) || !order_take_node(b, false)) return false;
  assert(b->spare.count == b->plan.count);
  struct node_list swap = b->plan;
  b->plan = b->spare;
  b->spare = swap;
  return true;
}

bool plan_order(struct builder *b) {
  return order_sequence(b, 0, 1, b->count) && order_push_stores(b) && order_fails_first(b);
}
