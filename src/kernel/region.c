/* Work that an empty mask makes needless. Selects take a value of the rows of a mask
** only; what just they need is put together, with them, behind a skip that is taken when
** the mask is empty. Their result is then their other operand, in whose place it is
** (place.c). */
#include "kernel/node.h"

/* Least work that is worth a skip, in about a quarter of an addition each. */
enum { WORTH = 18, REACH = 512 };

enum { IN_BEFORE, IN_REGION, IN_LATE };

static node *at(const builder *b, int32_t v) {
  return &b->nodes[v];
}

int mask_implies(const builder *b, int32_t g, int32_t m) {
  if (m == K_ALL || g == m) return 1;
  if (g <= 0) return 0;
  const node *n = at(b, g);
  if (n->op == KO_ANDN) return mask_implies(b, n->in[0], m);
  if (n->op == KO_AND)
    return mask_implies(b, n->in[0], m) || mask_implies(b, n->in[1], m);
  return 0;
}

/* ---- needs: the mask without whose rows a node's value is not looked at ---- */

static int32_t wider(const builder *b, int32_t mask) {
  const node *n = at(b, mask);
  return n->op == KO_AND || n->op == KO_ANDN ? n->in[0] : K_ALL;
}

/* A mask is needed to see that it is empty itself: never just by its own rows. */
static void add_need(builder *b, int32_t v, int32_t mask) {
  node *n = at(b, v);
  if (v == mask) mask = wider(b, v);
  if (n->need == K_NONE || mask_implies(b, n->need, mask))
    n->need = mask;
  else if (!mask_implies(b, mask, n->need))
    n->need = K_ALL;
}

static int32_t narrower(const builder *b, int32_t m, int32_t other) {
  return mask_implies(b, other, m) ? other : m;
}

/* A mask of which nothing but its rows matters, to who is needed by `need`. */
static void add_mask_need(builder *b, int32_t mask, int32_t need) {
  int32_t m = wider(b, mask);
  add_need(b, mask, m == K_ALL ? need : narrower(b, m, need));
}

static void add_needs(builder *b, int32_t v) {
  node n = *at(b, v);
  int32_t need = n.need == K_NONE ? K_ALL : n.need;
  int32_t mask = K_NONE;
  if (n.op == N_EMIT) need = mask = n.in[0];
  if (n.op == N_REDUCE) need = mask = n.in[3];
  if (n.fails) {
    add_need(b, v, n.in[3]);
    need = at(b, v)->need;
    if (need == n.in[3]) mask = need;
  }
  if (n.op == N_SELECT) {
    mask = n.in[0];
    add_need(b, n.in[1], narrower(b, mask, need));
    add_need(b, n.in[2], need);
    add_mask_need(b, mask, need);
    return;
  }
  for (int i = 0; i < 4; i++) {
    if (n.in[i] == K_NONE) continue;
    if (n.in[i] == mask)
      add_mask_need(b, mask, K_ALL);
    else
      add_need(b, n.in[i], need);
  }
}

static void count_uses(builder *b, int32_t v) {
  for (int i = 0; i < 4; i++)
    if (at(b, v)->in[i] != K_NONE) at(b, at(b, v)->in[i])->uses++;
}

static void find_needs(builder *b) {
  for (int32_t v = 0; v < b->n; v++) {
    at(b, v)->need = K_NONE;
    at(b, v)->uses = 0;
  }
  for (int32_t v = 0; v < b->n; v++) {
    const node *n = at(b, v);
    if (!n->live || n->op != N_CARRY) continue;
    count_uses(b, v);
    for (int i = 0; i < 2; i++)
      if (n->in[i] != K_NONE) at(b, n->in[i])->need = K_ALL;
  }
  for (int32_t i = 0; i < b->scalars.n; i++) count_uses(b, b->scalars.v[i]);
  for (int32_t i = b->plan.n - 1; i >= 0; i--) {
    add_needs(b, b->plan.v[i]);
    count_uses(b, b->plan.v[i]);
  }
}

/* ---- regions ---- */

/* A select of no other rows than those of m: it is its other operand when m is empty. */
static int is_partial(const builder *b, const node *n, int32_t m) {
  return n->op == N_SELECT && n->varies && mask_implies(b, n->in[0], m);
}

static int is_member(const builder *b, int32_t v, int32_t m) {
  const node *n = at(b, v);
  if (n->op == N_EMIT) return mask_implies(b, n->in[0], m);
  if (n->op == N_REDUCE) return mask_implies(b, n->in[3], m);
  if (!n->varies) return 0;
  return is_partial(b, n, m) || (n->need > 0 && mask_implies(b, n->need, m));
}

static int cost(const node *n) {
  switch (n->op) {
    case KO_EXP:
    case KO_LOG:
    case KO_SIN:
    case KO_COS: return n->type == KT_F32 ? 40 : 200;
    case KO_LOG2:
    case KO_LOG10:
    case KO_TAN:
    case KO_ASIN:
    case KO_ACOS:
    case KO_ATAN2:
    case KO_POW:
    case KO_FMOD:
    case KO_MOD: return 200;
    case KO_DIV:
    case KO_SQRT: return 10;
    case KO_IDIV: return n->type == KT_I64 ? 80 : 20;
    case N_RANDOM: return 100;
    case N_INTERVAL:
    case N_LIVE: return 40;
    case KO_FLOOR:
    case KO_CEIL:
    case N_EXACT: return 16;
    default: return n->type == KT_BOOL ? 2 : n->type == KT_F32 ? 4 : 8;
  }
}

static int depends_on(const builder *b, int32_t v, int state) {
  for (int i = 0; i < 4; i++)
    if (at(b, v)->in[i] > 0 && at(b, at(b, v)->in[i])->state == state) return 1;
  return 0;
}

static int ends_segment(const node *n) {
  return n->op == N_LOOP || n->op == N_END || n->op == N_STORE || n->op == N_SKIP ||
         n->op == N_LAND;
}

static void forget(builder *b, int32_t from, int32_t to) {
  for (int32_t i = from; i < to; i++) {
    at(b, b->plan.v[i])->state = IN_BEFORE;
    at(b, b->plan.v[i])->tied = 0;
  }
}

/* Sorts the instructions from position `from` on into before, region and late; returns
** the position behind the last of the region. */
static int32_t gather(builder *b, int32_t from, int32_t m) {
  int32_t end = from;
  int fails_inside = 0, fails_late = 0;
  for (int32_t i = from; i < b->plan.n && i < from + REACH; i++) {
    int32_t v = b->plan.v[i];
    node *n = at(b, v);
    if (ends_segment(n)) break;
    int member = is_member(b, v, m), late = depends_on(b, v, IN_LATE);
    int follows = late || (!member && depends_on(b, v, IN_REGION));
    if (member && late) break;
    /* what can fail keeps its order */
    if (n->fails && (fails_late ? !follows : fails_inside && !member && !follows)) break;
    if (member) {
      n->state = IN_REGION;
      fails_inside |= n->fails;
      end = i + 1;
    } else if (follows) {
      n->state = IN_LATE;
      fails_late |= n->fails;
    }
  }
  for (int32_t i = end; i < b->plan.n && i < from + REACH; i++)
    at(b, b->plan.v[i])->state = IN_BEFORE;
  return end;
}

static void count_inside(builder *b, int32_t from, int32_t to) {
  for (int32_t i = from; i < to; i++) {
    const node *n = at(b, b->plan.v[i]);
    at(b, b->plan.v[i])->inside = 0;
    for (int j = 0; j < 4; j++)
      if (n->in[j] > 0) at(b, n->in[j])->inside = 0;
  }
  for (int32_t i = from; i < to; i++) {
    const node *n = at(b, b->plan.v[i]);
    if (n->state != IN_REGION) continue;
    for (int j = 0; j < 4; j++)
      if (n->in[j] > 0) at(b, n->in[j])->inside++;
  }
}

/* Ties the selects that others look at, when the region was skipped, to their second
** operand: that has to be there too. */
static int tie(builder *b, int32_t from, int32_t to, int32_t m) {
  for (int32_t i = from; i < to; i++) at(b, b->plan.v[i])->tied = 0;
  for (int32_t i = to - 1; i >= from; i--) {
    node *n = at(b, b->plan.v[i]);
    if (n->state != IN_REGION || !is_partial(b, n, m)) continue;
    if (n->inside < n->uses) n->tied = 1;
    if (!n->tied || n->in[2] <= 0 || at(b, n->in[2])->state != IN_REGION) continue;
    if (!is_partial(b, at(b, n->in[2]), m)) return 0;
    at(b, n->in[2])->tied = 1;
  }
  return 1;
}

/* Puts in front what others need too. 0 when that is not possible. */
static int prune(builder *b, int32_t from, int32_t to, int32_t m) {
  for (int changed = 1; changed;) {
    changed = 0;
    count_inside(b, from, to);
    for (int32_t i = from; i < to; i++) {
      node *n = at(b, b->plan.v[i]);
      if (n->state != IN_REGION || n->op == N_EMIT || n->op == N_REDUCE) continue;
      if (n->op == N_RANGE || is_partial(b, n, m) || n->inside == n->uses) continue;
      if (n->fails || depends_on(b, b->plan.v[i], IN_REGION)) return 0;
      n->state = IN_BEFORE;
      changed = 1;
    }
  }
  return tie(b, from, to, m);
}

/* The work that a skip of m at position `from` would save; *end is behind it. */
static int weigh(builder *b, int32_t from, int32_t m, int32_t *end) {
  *end = gather(b, from, m);
  int work = 0;
  if (prune(b, from, *end, m))
    for (int32_t i = from; i < *end; i++) {
      const node *n = at(b, b->plan.v[i]);
      if (n->state == IN_REGION) work += cost(n);
    }
  return work;
}

/* The mask whose emptiness saves most from this instruction on: of masks within each
** other a wider one only if it saves twice as much. K_NONE when nothing is worth it. */
static int32_t best_mask(builder *b, int32_t from) {
  const node *n = at(b, b->plan.v[from]);
  int32_t m = n->op == N_SELECT || n->op == N_EMIT ? n->in[0]
              : n->op == N_REDUCE                  ? n->in[3]
                                                   : n->need;
  int32_t best = K_NONE;
  int most = WORTH / 2;
  while (m > 0 && at(b, m)->varies) {
    int32_t end = from;
    int work = is_member(b, b->plan.v[from], m) ? weigh(b, from, m, &end) : 0;
    forget(b, from, end);
    if (work >= WORTH && work >= 2 * most) {
      best = m;
      most = work;
    }
    m = wider(b, m);
  }
  return best;
}

static int push_state(builder *b, int32_t from, int32_t to, int state) {
  for (int32_t i = from; i < to; i++)
    if (at(b, b->plan.v[i])->state == state && !order_push(b, &b->spare, b->plan.v[i]))
      return 0;
  return 1;
}

/* Rewrites the region at position `from` into the spare list; its end, or K_NONE. */
static int32_t cut_out(builder *b, int32_t from, int32_t m) {
  int32_t end;
  weigh(b, from, m, &end);
  node skip = node_make(N_SKIP, KT_BOOL, 0), land = node_make(N_LAND, KT_BOOL, 0);
  skip.live = land.live = 1;
  skip.in[0] = m;
  int32_t s = builder_append(b, skip, 0);
  land.in[0] = s;
  int32_t l = builder_append(b, land, 0);
  if (l == K_NONE) return K_NONE;
  at(b, m)->uses++;
  if (!push_state(b, from, end, IN_BEFORE) || !order_push(b, &b->spare, s) ||
      !push_state(b, from, end, IN_REGION) || !order_push(b, &b->spare, l))
    return K_NONE;
  return end;
}

static int find_regions(builder *b) {
  b->spare.n = 0;
  for (int32_t i = 0; i < b->plan.n;) {
    int32_t v = b->plan.v[i];
    int32_t m = ends_segment(at(b, v)) ? K_NONE : best_mask(b, i);
    if (m == K_NONE) {
      if (!order_push(b, &b->spare, v)) return 0;
      i++;
      continue;
    }
    int32_t end = cut_out(b, i, m);
    if (end == K_NONE) return 0;
    /* what is late is looked at again: it goes to the end of the part that is done */
    int32_t kept = end;
    for (int32_t j = end - 1; j >= i; j--) {
      int32_t u = b->plan.v[j];
      if (at(b, u)->state == IN_LATE) b->plan.v[--kept] = u;
      at(b, u)->state = IN_BEFORE;
    }
    i = kept;
  }
  order swap = b->plan;
  b->plan = b->spare;
  b->spare = swap;
  return 1;
}

/* ---- comparisons joined with their selects ---- */

enum { MOST_COPIES = 2 };  /* selects that repeat one comparison rather than read a mask */

/* A select that is not bound to its second operand's place. */
static int is_free_select(const builder *b, int32_t v) {
  const node *n = at(b, v);
  return n->op == N_SELECT && n->varies && !n->tied;
}

/* not m ? x : y is m ? y : x. */
static void unnegate(builder *b, int32_t v) {
  node *n = at(b, v), *m = at(b, n->in[0]);
  if (m->op != KO_NOT || !m->varies) return;
  int32_t x = n->in[1];
  n->in[0] = m->in[0];
  n->in[1] = n->in[2];
  n->in[2] = x;
  if (--m->uses == 0)
    m->live = 0;
  else
    at(b, m->in[0])->uses++;
}

static int joinable(const builder *b, int32_t v) {
  if (!is_free_select(b, v)) return 0;
  const node *n = at(b, v), *m = at(b, n->in[0]);
  return is_compare(m->op) && m->varies && n->type != KT_BOOL &&
         at(b, m->in[0])->type == n->type && at(b, m->in[1])->type == n->type;
}

/* x < y ? -c : c needs no negation of its own. */
static void join_negation(builder *b, node *n) {
  node *yes = at(b, n->in[2]);
  if (yes->op != KO_NEG || yes->uses != 1 || yes->in[0] != n->in[3] || !yes->varies)
    return;
  n->op = N_NEGATE;
  n->in[2] = n->in[3];
  n->in[3] = K_NONE;
  yes->live = 0;
}

static void join(builder *b, int32_t v) {
  node *n = at(b, v);
  int32_t mask = n->in[0], yes = n->in[1], no = n->in[2];
  const node *m = at(b, mask);
  int differs = m->op == KO_NE;
  n->op = N_WHEN;
  n->aux = differs ? KO_EQ : m->op;
  n->in[0] = m->in[0];
  n->in[1] = m->in[1];
  n->in[2] = differs ? no : yes;
  n->in[3] = differs ? yes : no;
  at(b, mask)->live = 0;
  join_negation(b, n);
}

static void join_selects(builder *b) {
  for (int32_t v = 0; v < b->n; v++) at(b, v)->inside = 0;
  for (int32_t i = 0; i < b->plan.n; i++)
    if (is_free_select(b, b->plan.v[i])) unnegate(b, b->plan.v[i]);
  for (int32_t i = 0; i < b->plan.n; i++)
    if (joinable(b, b->plan.v[i])) at(b, at(b, b->plan.v[i])->in[0])->inside++;
  for (int32_t i = 0; i < b->plan.n; i++) {
    int32_t v = b->plan.v[i];
    if (!joinable(b, v)) continue;
    const node *m = at(b, at(b, v)->in[0]);
    if (m->inside == m->uses && m->uses <= MOST_COPIES) join(b, v);
  }
}

int plan_regions(builder *b) {
  find_needs(b);
  if (!find_regions(b)) return 0;
  join_selects(b);
  return 1;
}
