/* Skips work that an empty mask makes unnecessary. A select uses one of its values only in the rows
** of its mask; what nothing else needs is gathered, with the selects, after a skip that is taken if
** no row is in the mask. The result is then the other value of the select, which is put in the
** result's place before the skip (allocate.c). */
#include "kernel/node.h"

/* The least work worth a skip, in about quarters of an addition; the most instructions that a skip
** may span; and the most masks examined to decide whether one implies another. */
enum { WORTH = 18, REACH = 512, STEPS = 128 };

/* Row by row, all instructions take about the same time: two are worth a skip. */
enum { WORTH_OF_ROW = 16, LEAST_OF_ROW = 8 };

enum { IN_BEFORE, IN_REGION, IN_LATE };

/* mask_implies, as far as that many steps show: nested masks may have as many paths as subsets. */
static bool mask_implies_within(const struct builder *b, k_value g, k_value m, uint32_t *steps) {
  if (m == K_ALL || g == m) return true;
  if (g <= 0 || *steps == 0) return false;
  const struct node *n = node_at(b, g);
  assert(n->type == KT_BOOL);
  --*steps;
  switch (n->op) {
    case KO_ANDN: return mask_implies_within(b, n->in[0], m, steps);
    case KO_AND:
      return mask_implies_within(b, n->in[0], m, steps) ||
             mask_implies_within(b, n->in[1], m, steps);
    case KO_OR:
      return mask_implies_within(b, n->in[0], m, steps) &&
             mask_implies_within(b, n->in[1], m, steps);
    default: return false;
  }
}

bool mask_implies(const struct builder *b, k_value g, k_value m) {
  uint32_t steps = STEPS;
  return mask_implies_within(b, g, m, &steps);
}

/* ---- masks of the rows in a loop ---- */

/* Row by row, a row in a loop's body is in the mask with which it entered the loop, and in the
** carried mask with which it continues. */
struct inside {
  k_value enters, goes_on;     /* K_NONE: there is no such carry */
};

static k_value region_copied(const struct builder *b, k_value v) {
  return node_at(b, v)->op == N_COPY ? node_at(b, v)->in[0] : v;
}

static struct inside region_inside(const struct builder *b, k_value loop) {
  const struct node *n = node_at(b, loop), *end = node_at(b, n->end);
  for (k_value v = loop + 1; v < n->end; v++) {
    const struct node *c = node_at(b, v);
    if (c->live && c->op == N_CARRY && c->home == loop &&
        region_copied(b, c->in[0]) == n->in[1] && region_copied(b, c->in[1]) == end->in[1])
      return (struct inside){n->in[1], v};
  }
  return (struct inside){n->in[1], K_NONE};
}

static bool region_is_certain(const struct builder *b, const struct inside *loops, uint32_t depth,
                              k_value m) {
  if (m <= 0 || node_at(b, m)->type != KT_BOOL) return false;
  for (uint32_t i = 0; i < depth; i++)
    if (m == loops[i].goes_on || mask_implies(b, loops[i].enters, m)) return true;
  return false;
}

/* Makes a node an operation on a single operand. */
static void region_make_unary(struct node *n, uint32_t op, k_value operand) {
  n->op = (uint8_t)op;
  n->in[0] = operand;
  n->in[1] = n->in[2] = n->in[3] = K_NONE;
}

/* Leaves out masks of a node that are certain. If only one operand is left, returns that; but a
** carry or a column is copied, since it changes before all users of the node have read it. */
static k_value region_simplify(struct builder *b, k_value v, const struct inside *loops,
                               uint32_t depth) {
  struct node *n = node_at(b, v);
  bool first = region_is_certain(b, loops, depth, n->in[0]);
  bool second = n->op == KO_AND && region_is_certain(b, loops, depth, n->in[1]);
  k_value other = n->in[second && !first ? 0 : 1];
  bool varies = other > 0 && node_at(b, other)->varies;
  if ((n->op == KO_AND || n->op == N_SELECT) && (first || second) && varies) {
    if (node_at(b, other)->op != N_CARRY && node_at(b, other)->op != N_LOAD) return other;
    region_make_unary(n, N_COPY, other);
  }
  if (n->op == KO_ANDN && first && varies) region_make_unary(n, KO_NOT, other);
  if (n->op != N_GIVE_UP && region_is_certain(b, loops, depth, n->in[3])) n->in[3] = K_ALL;
  return K_NONE;
}

/* Replaces operands by what they have become, which is in `need`. */
static void region_follow(struct builder *b, k_value v) {
  struct node *n = node_at(b, v);
  for (int i = 0; i < 4; i++)
    while (n->in[i] > 0 && node_at(b, n->in[i])->need != K_NONE)
      n->in[i] = node_at(b, n->in[i])->need;
}

static void region_follow_carries(struct builder *b, k_value loop) {
  for (k_value c = loop + 1; c < node_at(b, loop)->end; c++)
    if (node_at(b, c)->op == N_CARRY && node_at(b, c)->home == loop) region_follow(b, c);
}

static void region_leave_out_certain(struct builder *b) {
  struct inside loops[MAX_DEPTH];
  uint32_t depth = 0, kept = 0;
  bool rows = false;
  for (k_value v = 0; v < b->count; v++) node_at(b, v)->need = K_NONE;
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    k_value v = b->plan.items[i];
    struct node *n = node_at(b, v);
    region_follow(b, v);
    if (n->op == N_ROWS || n->op == N_ROWS_END) rows = n->op == N_ROWS;
    if (rows && n->op == N_LOOP) {
      region_follow_carries(b, v);
      loops[depth++] = region_inside(b, v);
    } else if (rows && n->op == N_END) {
      depth--;
      region_follow_carries(b, n->in[0]);
    } else if (depth > 0) {
      n->need = region_simplify(b, v, loops, depth);
    }
    if (n->need == K_NONE) b->plan.items[kept++] = v;
  }
  b->plan.count = kept;
}

/* ---- needs: the mask outside of which a node's value is not used ---- */

static k_value region_wider(const struct builder *b, k_value mask) {
  const struct node *n = node_at(b, mask);
  return n->op == KO_AND || n->op == KO_ANDN ? n->in[0] : K_ALL;
}

/* v is used in the rows of the mask. A mask is itself read to see whether it is empty, so its own
** need is wider than its rows. */
static void region_add_need(struct builder *b, k_value v, k_value mask) {
  struct node *n = node_at(b, v);
  if (v == mask) mask = region_wider(b, v);
  if (n->need == K_NONE || mask_implies(b, n->need, mask))
    n->need = mask;
  else if (!mask_implies(b, mask, n->need))
    n->need = K_ALL;
}

static k_value region_narrower(const struct builder *b, k_value m, k_value other) {
  return mask_implies(b, other, m) ? other : m;
}

/* The mask is used by a node that is needed only in the rows of `need`. Outside the next wider mask
** it is empty anyway. */
static void region_add_mask_need(struct builder *b, k_value mask, k_value need) {
  k_value m = region_wider(b, mask);
  region_add_need(b, mask, m == K_ALL ? need : region_narrower(b, m, need));
}

static void region_add_select_needs(struct builder *b, const struct node *n, k_value need) {
  k_value mask = n->in[0];
  region_add_need(b, n->in[1], region_narrower(b, mask, need));
  region_add_need(b, n->in[2], need);
  region_add_mask_need(b, mask, need);
}

/* Whether a mask is computed row by row: a row whose first operand is false skips what depends on
** it. */
static bool region_is_narrowed(const struct node *n) {
  return n->phase == PHASE_ROWS && n->varies && (n->op == KO_AND || n->op == KO_ANDN);
}

/* Records in which rows node v needs its operands. */
static void region_add_needs(struct builder *b, k_value v) {
  struct node n = *node_at(b, v);
  k_value need = n.need == K_NONE ? K_ALL : n.need;
  k_value mask = K_NONE;
  if (n.op == N_EMIT) need = mask = n.in[0];
  if (n.op == N_REDUCE) need = mask = n.in[3];
  if (n.fails || n.op == N_SET || n.op == N_LAY) {
    region_add_need(b, v, n.in[3]);
    need = node_at(b, v)->need;
    if (need == n.in[3]) mask = need;
  }
  if (n.op == N_SELECT) {
    region_add_select_needs(b, &n, need);
    return;
  }
  for (int i = 0; i < 4; i++) {
    if (n.in[i] == K_NONE) continue;
    if (i == 1 && region_is_narrowed(&n))
      region_add_need(b, n.in[1], mask_implies(b, n.in[0], need) ? n.in[0] : need);
    else if (n.in[i] == mask)
      region_add_mask_need(b, mask, K_ALL);
    else
      region_add_need(b, n.in[i], need);
  }
}

static void region_count_uses(struct builder *b, k_value v) {
  for (int i = 0; i < 4; i++)
    if (node_at(b, v)->in[i] != K_NONE) node_at(b, node_at(b, v)->in[i])->uses++;
}

static void region_find_needs(struct builder *b) {
  for (k_value v = 0; v < b->count; v++) {
    node_at(b, v)->need = K_NONE;
    node_at(b, v)->uses = 0;
  }
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (!n->live || n->op != N_CARRY) continue;
    region_count_uses(b, v);
    for (int i = 0; i < 2; i++)
      if (n->in[i] != K_NONE) node_at(b, n->in[i])->need = K_ALL;
  }
  for (uint32_t i = 0; i < b->prologue.count; i++) region_count_uses(b, b->prologue.items[i]);
  for (uint32_t i = b->plan.count; i-- > 0;) {
    region_add_needs(b, b->plan.items[i]);
    region_count_uses(b, b->plan.items[i]);
  }
}

/* ---- regions ---- */

/* Whether a select, or a mask, is its other operand wherever m is empty. */
static bool region_is_partial(const struct builder *b, const struct node *n, k_value m) {
  bool either = n->phase == PHASE_ROWS && n->op == KO_OR && mask_implies(b, n->in[1], m);
  return n->varies && (n->op == N_SELECT || region_is_narrowed(n) || either) &&
         mask_implies(b, n->in[0], m);
}

static bool region_is_member(const struct builder *b, k_value v, k_value m) {
  const struct node *n = node_at(b, v);
  if (n->op == N_EMIT) return mask_implies(b, n->in[0], m);
  if (n->op == N_REDUCE) return mask_implies(b, n->in[3], m);
  if (!n->varies) return false;
  return region_is_partial(b, n, m) || (n->need > 0 && mask_implies(b, n->need, m));
}

static int32_t region_cost_of_block(const struct node *n) {
  switch (n->op < KO_COUNT ? operations[n->op].cost : COST_STEP) {
    case COST_ROOT: return 10;
    case COST_ROUND: return 16;
    case COST_QUOTIENT: return n->type == KT_I64 ? 80 : 20;
    case COST_LONG: return 100;
    case COST_OWN: return n->type == KT_F32 ? 40 : 200;
    case COST_LIBM: return 200;
    default: break;
  }
  switch (n->op) {
    case N_LIST: return 400;
    case N_LOOK:
    case N_RANDOM: return 100;
    case N_NOTE:
    case N_INTERVAL:
    case N_LIVE: return 40;
    case N_PICK:
    case N_ELEMENT:
    case N_EXACT: return 16;
    default: return n->type == KT_BOOL ? 2 : n->type == KT_F32 ? 4 : 8;
  }
}

static int32_t region_cost(const struct node *n) {
  int32_t cost = region_cost_of_block(n);
  return n->phase == PHASE_ROWS && cost < LEAST_OF_ROW ? LEAST_OF_ROW : cost;
}

static bool region_depends_on(const struct builder *b, k_value v, uint32_t state) {
  for (int i = 0; i < 4; i++)
    if (node_at(b, v)->in[i] > 0 && node_at(b, node_at(b, v)->in[i])->state == state)
      return true;
  return false;
}

static bool region_ends_segment(const struct node *n) {
  return n->op == N_LOOP || n->op == N_END || is_store(n) || n->op == N_SKIP ||
         n->op == N_LAND || n->op == N_DO_NOTES || n->op == N_ROWS || n->op == N_ROWS_END ||
         (n->op == N_FOLD && n->phase == PHASE_FOLDS) || n->op == N_UNFOLD;
}

/* The last position at which a region that begins at this one may end. */
static int32_t region_reach(const struct builder *b, int32_t from) {
  int32_t end = from, most = (int32_t)b->plan.count;
  if (most > from + REACH) most = from + REACH;
  while (end < most && !region_ends_segment(planned(b, end))) end++;
  return end;
}

/* Sorts the instructions from position `from` on into those before the region of mask m, those in
** it, and late ones that need it. Returns the position after the region. What can fail keeps its
** order, and no row joins a total before everything that can fail has run. */
static int32_t region_gather(struct builder *b, int32_t from, k_value m) {
  int32_t end = from, most = region_reach(b, from);
  bool fails_inside = false, fails_late = false;
  for (int32_t i = from; i < most; i++) {
    k_value v = b->plan.items[i];
    struct node *n = node_at(b, v);
    bool member = region_is_member(b, v, m), late = region_depends_on(b, v, IN_LATE);
    bool follows = late || (!member && region_depends_on(b, v, IN_REGION));
    if (member && late) break;
    bool ordered = n->fails || n->ordered || n->op == N_REDUCE;
    if (ordered && (fails_late ? !follows : fails_inside && !member && !follows)) break;
    if (member) {
      n->state = IN_REGION;
      fails_inside |= n->fails || n->ordered;
      end = i + 1;
    } else if (follows) {
      n->state = IN_LATE;
      fails_late |= n->fails || n->ordered;
    }
  }
  for (int32_t i = end; i < most; i++) planned(b, i)->state = IN_BEFORE;
  return end;
}

static void region_count_inside(struct builder *b, int32_t from, int32_t to) {
  for (int32_t i = from; i < to; i++) {
    struct node *n = planned(b, i);
    n->inside = 0;
    for (int j = 0; j < 4; j++)
      if (n->in[j] > 0) node_at(b, n->in[j])->inside = 0;
  }
  for (int32_t i = from; i < to; i++) {
    const struct node *n = planned(b, i);
    if (n->state != IN_REGION) continue;
    for (int j = 0; j < 4; j++)
      if (n->in[j] > 0) node_at(b, n->in[j])->inside++;
  }
}

/* Ties the selects and masks that are used even if the region is skipped to their other operand,
** which must then be available. */
static bool region_tie(struct builder *b, int32_t from, int32_t to, k_value m) {
  for (int32_t i = from; i < to; i++) planned(b, i)->tied = false;
  for (int32_t i = to - 1; i >= from; i--) {
    struct node *n = planned(b, i);
    if (n->state != IN_REGION || !region_is_partial(b, n, m)) continue;
    if (n->inside < n->uses) n->tied = true;
    k_value other = n->in[node_other(n)];
    if (!n->tied || other <= 0 || node_at(b, other)->state != IN_REGION) continue;
    if (!region_is_partial(b, node_at(b, other), m)) return false;
    node_at(b, other)->tied = true;
  }
  return true;
}

/* Whether a node can stay in the region: nothing outside needs its value. */
static bool region_can_stay(const struct builder *b, const struct node *n, k_value m) {
  bool free = n->op == N_EMIT || n->op == N_REDUCE || yields_nothing(n->op);
  if (free && n->op != N_GIVE) return true;
  assert(n->inside <= n->uses);
  return region_is_partial(b, n, m) || n->inside == n->uses;
}

/* Moves what others also need to a place before the region, or after it if only they need it. False
** if that is impossible. */
static bool region_prune(struct builder *b, int32_t from, int32_t to, k_value m) {
  for (bool changed = true; changed;) {
    changed = false;
    region_count_inside(b, from, to);
    for (int32_t i = from; i < to; i++) {
      struct node *n = planned(b, i);
      if (n->state != IN_REGION || region_can_stay(b, n, m)) continue;
      bool follows = region_depends_on(b, b->plan.items[i], IN_REGION);
      if (n->fails || n->ordered || (follows && n->inside)) return false;
      n->state = follows ? IN_LATE : IN_BEFORE;
      changed = true;
    }
  }
  return region_tie(b, from, to, m);
}

/* The work that a skip of m at position `from` would save; *end becomes the position after it. */
static int32_t region_weigh(struct builder *b, int32_t from, k_value m, int32_t *end) {
  *end = region_gather(b, from, m);
  if (!region_prune(b, from, *end, m)) return 0;
  int32_t work = 0;
  for (int32_t i = from; i < *end; i++) {
    const struct node *n = planned(b, i);
    bool copied = n->tied && n->op != N_SELECT;   /* no cheaper than the mask */
    if (n->state == IN_REGION && !copied) work += region_cost(n);
  }
  return work;
}

/* The narrowest mask outside of which the instruction has no effect. */
static k_value region_mask_of(const struct node *n) {
  if (n->op == N_SELECT || n->op == N_EMIT || region_is_narrowed(n)) return n->in[0];
  return n->op == N_REDUCE ? n->in[3] : n->need;
}

/* The mask that, if empty, saves most from this instruction on; of nested masks, the wider one only
** if it saves twice as much. K_NONE if none is worth a skip. */
static k_value region_best_mask(struct builder *b, int32_t from) {
  k_value best = K_NONE;
  int32_t worth = planned(b, from)->phase == PHASE_ROWS ? WORTH_OF_ROW : WORTH, most = worth / 2;
  for (k_value m = region_mask_of(planned(b, from)); m > 0 && node_at(b, m)->varies;) {
    int32_t end = from;
    bool member = !node_at(b, m)->shut && region_is_member(b, b->plan.items[from], m);
    int32_t work = member ? region_weigh(b, from, m, &end) : 0;
    for (int32_t i = from; i < end; i++) {
      planned(b, i)->state = IN_BEFORE;
      planned(b, i)->tied = false;
    }
    if (work >= worth && work >= 2 * most) {
      best = m;
      most = work;
    }
    m = region_wider(b, m);
  }
  return best;
}

static bool region_push_state(struct builder *b, int32_t from, int32_t to, uint32_t state) {
  for (int32_t i = from; i < to; i++)
    if (planned(b, i)->state == state && !node_list_push(b, &b->spare, b->plan.items[i]))
      return false;
  return true;
}

/* Moves the region at position `from` to the spare list. Returns its end, or K_NONE. */
static int32_t region_cut_out(struct builder *b, int32_t from, k_value m) {
  int32_t end;
  region_weigh(b, from, m, &end);
  assert(end > from);
  node_at(b, m)->uses++;
  for (int32_t i = from; i < end; i++)
    if (planned(b, i)->state == IN_REGION) planned(b, i)->shut = !planned(b, i)->tied;
  if (!region_push_state(b, from, end, IN_BEFORE)) return K_NONE;
  k_value skip = builder_push_bound(b, N_SKIP, m);
  bool done = skip != K_NONE && region_push_state(b, from, end, IN_REGION) &&
              builder_push_bound(b, N_LAND, skip) != K_NONE;
  return done ? end : K_NONE;
}

/* Late instructions are examined again: they go to the end of the finished part of the plan.
** Returns where they begin. */
static int32_t region_keep_late(struct builder *b, int32_t from, int32_t end) {
  int32_t kept = end;
  for (int32_t i = end - 1; i >= from; i--) {
    k_value v = b->plan.items[i];
    if (node_at(b, v)->state == IN_LATE) b->plan.items[--kept] = v;
    node_at(b, v)->state = IN_BEFORE;
  }
  return kept;
}

static bool find_regions(struct builder *b) {
  b->spare.count = 0;
  for (int32_t i = 0; (uint32_t)i < b->plan.count;) {
    k_value m = region_ends_segment(planned(b, i)) ? K_NONE : region_best_mask(b, i);
    if (m == K_NONE) {
      if (!node_list_push(b, &b->spare, b->plan.items[i])) return false;
      i++;
      continue;
    }
    int32_t end = region_cut_out(b, i, m);
    if (end == K_NONE) return false;
    i = region_keep_late(b, i, end);
  }
  struct node_list swap = b->plan;
  b->plan = b->spare;
  b->spare = swap;
  return true;
}

/* ---- comparisons joined with their selects ---- */

enum { MOST_COPIES = 2 };  /* selects that repeat a comparison rather than read a mask */

/* Whether a select may be in another place than its second operand. */
static bool region_is_free_select(const struct builder *b, k_value v) {
  const struct node *n = node_at(b, v);
  return n->op == N_SELECT && n->varies && !n->tied;
}

/* not m ? x : y is m ? y : x. */
static void region_unnegate(struct builder *b, k_value v) {
  struct node *n = node_at(b, v), *m = node_at(b, n->in[0]);
  if (m->op != KO_NOT || !m->varies) return;
  assert(m->uses > 0);
  k_value x = n->in[1];
  n->in[0] = m->in[0];
  n->in[1] = n->in[2];
  n->in[2] = x;
  if (--m->uses == 0)
    m->live = false;
  else
    node_at(b, m->in[0])->uses++;
}

static bool region_joinable(const struct builder *b, k_value v) {
  if (!region_is_free_select(b, v)) return false;
  const struct node *n = node_at(b, v), *m = node_at(b, n->in[0]);
  return is_compare(m->op) && m->varies && n->type != KT_BOOL &&
         node_at(b, m->in[0])->type == n->type && node_at(b, m->in[1])->type == n->type;
}

/* x < y ? -c : c needs no separate negation. */
static void region_join_negation(struct builder *b, struct node *n) {
  struct node *yes = node_at(b, n->in[2]);
  if (yes->op != KO_NEG || yes->uses != 1 || yes->in[0] != n->in[3] || !yes->varies) return;
  n->op = N_NEGATE;
  n->in[2] = n->in[3];
  n->in[3] = K_NONE;
  yes->live = false;
}

static void region_join(struct builder *b, k_value v) {
  struct node *n = node_at(b, v);
  k_value mask = n->in[0], yes = n->in[1], no = n->in[2];
  const struct node *m = node_at(b, mask);
  bool differs = m->op == KO_NE;
  n->op = N_WHEN;
  n->aux = differs ? KO_EQ : m->op;
  n->in[0] = m->in[0];
  n->in[1] = m->in[1];
  n->in[2] = differs ? no : yes;
  n->in[3] = differs ? yes : no;
  node_at(b, mask)->live = false;
  region_join_negation(b, n);
}

static void region_join_selects(struct builder *b) {
  for (k_value v = 0; v < b->count; v++) node_at(b, v)->inside = 0;
  for (uint32_t i = 0; i < b->plan.count; i++)
    if (region_is_free_select(b, b->plan.items[i])) region_unnegate(b, b->plan.items[i]);
  for (uint32_t i = 0; i < b->plan.count; i++)
    if (region_joinable(b, b->plan.items[i]))
      node_at(b, node_at(b, b->plan.items[i])->in[0])->inside++;
  for (uint32_t i = 0; i < b->plan.count; i++) {
    k_value v = b->plan.items[i];
    if (!region_joinable(b, v)) continue;
    const struct node *m = node_at(b, node_at(b, v)->in[0]);
    if (m->inside == m->uses && m->uses <= MOST_COPIES) region_join(b, v);
  }
}

/* ---- ids that few rows use ---- */

/* Whether a mask is computed on every path to position i of the plan. */
static bool region_is_found_before(const struct builder *b, int32_t i, k_value m) {
  int32_t passed = 0;   /* number of skips and loops that ended earlier */
  while (i-- > 0) {
    uint32_t op = planned(b, i)->op;
    if (op == N_LAND || op == N_END) passed++;
    if ((op == N_SKIP || op == N_LOOP) && passed > 0) passed--;
    if (passed == 0 && b->plan.items[i] == m) return true;
  }
  return false;
}

/* Checks for living entities only in rows that use the result. */
static void region_narrow_live(struct builder *b) {
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    struct node *n = planned(b, i);
    if (!n->live || n->op != N_LIVE || n->need <= 0) continue;
    struct node *m = node_at(b, n->need);
    if (!m->live || !m->varies || !region_is_found_before(b, i, n->need)) continue;
    n->in[3] = n->need;
    m->uses++;
  }
}

bool plan_regions(struct builder *b) {
  region_leave_out_certain(b);
  region_find_needs(b);
  if (!find_regions(b)) return false;
  region_join_selects(b);
  region_narrow_live(b);
  return true;
}
