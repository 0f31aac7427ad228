/* The order of instructions: as stated, except that what does not depend on a loop moves before it;
** loads that widen, fills and copies come just before their first use; what can fail comes, with
** all it needs, before the rest, which can then be calculated in the columns to which it is stored;
** stores come last. */
#include "kernel/node.h"

/* Whether a node runs just before its first use. */
static bool order_is_lazy(const struct builder *b, const struct node *n) {
  switch (n->op) {
    case N_FILL:
    case N_COPY:
    case N_LIVE: return true;
    case N_LOAD: return !column_direct(b, n->aux) && b->columns[n->aux] != KC_ENTITY;
    default: return false;
  }
}

/* Whether a node takes an instruction: other nodes only stand for an operand. */
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

/* Schedules what the body of the next loop needs from the body around it. */
static bool order_hoist(struct builder *b, k_value home, k_value from, k_value to) {
  for (k_value v = from; v <= to; v++) {
    const struct node *n = node_at(b, v);
    if (!n->live) continue;
    if (!order_push_lazy_operands(b, v, home)) return false;
    if (n->home == home && order_is_done(b, n) && !order_push(b, v)) return false;
  }
  return true;
}

/* Schedules the copies of carries' next values last, where they are needed. */
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

/* Schedules the instructions of a body: `home` is its loop, or 0. */
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

/* ---- what can fail first, then what is ordered ---- */

/* A part of the plan: from a loop's begin to its end, or a single position. A loop's carries are
** among its values, too. */
struct order_part {
  int32_t first, last;
};

/* The position of a loop's begin, given its end (step -1), or of its end (step 1). */
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

static struct order_part order_part_from(const struct builder *b, int32_t first) {
  bool loop = planned(b, first)->op == N_LOOP;
  return (struct order_part){first, loop ? order_other_end(b, first, 1) : first};
}

static struct order_part order_part_to(const struct builder *b, int32_t last) {
  bool loop = planned(b, last)->op == N_END;
  return (struct order_part){loop ? order_other_end(b, last, -1) : last, last};
}

/* A part's last value, given the one at its first position: for a loop, of all made in it. */
static k_value order_last_value(const struct builder *b, struct order_part s) {
  k_value first = b->plan.items[s.first], last = b->plan.items[s.last];
  return last > first ? last : first;
}

/* Whether an operand depends on an ordered node, or is carried by a loop that does. */
static bool order_operands_are_down(const struct builder *b, k_value v) {
  for (int i = 0; i < 4; i++)
    for (k_value w = node_at(b, v)->in[i]; w > 0; w = node_at(b, w)->home)
      if (node_at(b, w)->down) return true;
  return false;
}

static bool order_part_is_down(const struct builder *b, struct order_part s) {
  for (k_value v = b->plan.items[s.first]; v <= order_last_value(b, s); v++)
    if (node_at(b, v)->live && order_operands_are_down(b, v)) return true;
  for (int32_t i = s.first; i <= s.last; i++)
    if (planned(b, i)->ordered || order_operands_are_down(b, b->plan.items[i])) return true;
  return false;
}

/* Finds what depends on ordered nodes; a loop counts as a whole. */
static void order_find_down(struct builder *b) {
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    struct order_part s = order_part_from(b, i);
    i = s.last;
    if (!order_part_is_down(b, s)) continue;
    for (int32_t at = s.first; at <= s.last; at++) planned(b, at)->down = true;
  }
}

/* A node's operands, and the loops that contain them, must not have a later phase than it. */
static void order_need_operands(struct builder *b, k_value v, enum node_phase phase) {
  for (int i = 0; i < 4; i++) {
    if (node_at(b, v)->in[i] <= 0) continue;
    for (k_value w = node_at(b, v)->in[i]; w != 0; w = node_at(b, w)->home) {
      struct node *n = node_at(b, w);
      enum node_phase needed = n->down ? phase : PHASE_EARLY;
      if (n->phase < needed) n->phase = (uint8_t)needed;
    }
  }
}

/* Whether a node takes items of a list that is filled row by row, and so belongs to one row. */
static bool order_takes_from_row(const struct builder *b, const struct node *n) {
  return (n->op == N_PICK || n->op == N_TAKE) && node_at(b, n->in[0])->down;
}

/* The phase in which a whole loop, or one instruction, must be. Orders may store ids into columns,
** so the entities of these columns are read before. */
static enum node_phase order_phase_of(const struct builder *b, struct order_part s) {
  enum node_phase phase = PHASE_LATE;
  bool fails = false, down = false, ordered = false, folds = false;
  for (int32_t i = s.first; i <= s.last; i++) {
    const struct node *n = planned(b, i);
    if (n->phase > phase) phase = (enum node_phase)n->phase;
    fails |= n->fails || (b->site_count && (n->op == N_LIVE || n->op == N_LOOK));
    down |= n->down;
    ordered |= n->ordered || order_takes_from_row(b, n);
    folds |= n->op == N_FOLD || n->op == N_DO_NOTES;
  }
  if (down) return ordered || fails || phase != PHASE_LATE ? PHASE_ROWS : PHASE_LATE;
  return folds ? PHASE_FOLDS : fails ? PHASE_EARLY : phase;
}

static bool order_take_phase(struct builder *b, enum node_phase phase) {
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    struct order_part s = order_part_from(b, i);
    for (i = s.first; i <= s.last; i++)
      if (planned(b, i)->phase == phase && !node_list_push(b, &b->spare, b->plan.items[i]))
        return false;
    i = s.last;
  }
  return true;
}

static bool order_take_rows(struct builder *b) {
  if (!b->ordered) return true;
  k_value rows = builder_push_bound(b, N_ROWS, K_NONE);
  return rows != K_NONE && order_take_phase(b, PHASE_ROWS) &&
         builder_push_bound(b, N_ROWS_END, rows) != K_NONE;
}

/* Undoes folds, the last one first, where rows fail after them. */
static bool order_take_unfolds(struct builder *b) {
  for (uint32_t i = b->spare.count; i-- > 0;) {
    k_value v = b->spare.items[i];
    const struct node *fold = node_at(b, v);
    if (fold->op != N_FOLD || fold->phase != PHASE_FOLDS) continue;
    struct node n = node_make(N_UNFOLD, KT_BOOL, true);
    n.live = true;
    n.in[0] = fold->in[0];
    n.in[1] = v;
    n.in[3] = fold->in[3];
    n.aux = fold->aux;
    k_value unfold = builder_append(b, n, 0);
    if (unfold == K_NONE || !node_list_push(b, &b->spare, unfold)) return false;
  }
  return true;
}

static bool order_by_phases(struct builder *b) {
  order_find_down(b);
  for (int32_t i = (int32_t)b->plan.count - 1; i >= 0; i--) {
    struct order_part s = order_part_to(b, i);
    enum node_phase phase = order_phase_of(b, s);
    i = s.first;
    for (int32_t at = s.first; at <= s.last; at++) planned(b, at)->phase = (uint8_t)phase;
    if (phase == PHASE_LATE) continue;
    for (k_value v = b->plan.items[s.first]; v <= order_last_value(b, s); v++)
      if (node_at(b, v)->live) order_need_operands(b, v, phase);
    for (int32_t at = s.first; at <= s.last; at++)
      order_need_operands(b, b->plan.items[at], phase);
  }
  b->spare.count = 0;
  if (!order_take_phase(b, PHASE_EARLY) || !order_take_phase(b, PHASE_FOLDS) ||
      !order_take_rows(b) || !order_take_unfolds(b) || !order_take_phase(b, PHASE_LATE))
    return false;
  struct node_list swap = b->plan;
  b->plan = b->spare;
  b->spare = swap;
  return true;
}

bool plan_order(struct builder *b) {
  return order_sequence(b, 0, 1, b->count) && order_push_stores(b) && order_by_phases(b);
}
