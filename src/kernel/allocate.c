/* How long values live and where. A value that is stored is made in its column, when
** nothing reads the old one afterwards and nothing can fail any more; in between the
** column serves as a register. Other values get the first block register of their size
** that is free. */
#include "kernel/node.h"

/* Asserts are for debug builds, as in the core. */
#if !defined(ECS_DEBUG) && !defined(NDEBUG)
#define NDEBUG
#endif
#include <assert.h>

static node *at(const builder *b, int32_t v) {
  return &b->nodes[v];
}

static int is_carry_of(const node *n, int32_t loop) {
  return n->op == N_CARRY && n->live && n->home == loop;
}

/* ---- lives ---- */

/* v is used at position i, in the body of `loop`: to the end of every loop that it was
** made outside of. */
static void use(builder *b, int32_t v, int32_t i, int32_t loop) {
  if (v == K_NONE) return;
  node *n = at(b, v);
  int32_t end = i;
  int inside = 0;
  for (; loop != 0; loop = at(b, loop)->home) {
    if (n->at < at(b, loop)->at) end = at(b, at(b, loop)->end)->at;
    if (loop == n->home) inside = 1;
  }
  if (end > n->last) n->last = end;
  if (n->op == N_CARRY && inside && end > n->body_last) n->body_last = end;
}

static void number(builder *b) {
  for (int32_t v = 0; v < b->n; v++) {
    node *n = at(b, v);
    n->at = n->last = n->body_last = -1;
    n->place = PLACE(P_NONE, 0);
  }
  for (int32_t i = 0; i < b->plan.n; i++) {
    node *n = at(b, b->plan.v[i]);
    n->at = n->last = i;
  }
  for (int32_t v = 0; v < b->n; v++) {
    node *n = at(b, v);
    if (n->op == N_CARRY && n->live) n->at = n->last = at(b, n->home)->at;
  }
}

static void use_carried(builder *b) {
  for (int32_t v = 0; v < b->n; v++) {
    node *n = at(b, v);
    if (n->op != N_CARRY || !n->live) continue;
    const node *loop = at(b, n->home);
    int32_t end = at(b, loop->end)->at;
    use(b, n->in[0], loop->at, loop->home);
    use(b, n->in[1], end, n->home);
    if (end > n->last) n->last = end;
  }
}

static void find_lives(builder *b) {
  number(b);
  int32_t loop = 0;
  b->safe = 0;
  for (int32_t i = 0; i < b->plan.n; i++) {
    int32_t v = b->plan.v[i];
    const node *n = at(b, v);
    if (!n->live) continue;
    for (int j = 0; j < 4; j++) use(b, n->in[j], i, loop);
    if (n->op == N_LOOP) loop = v;
    if (n->fails) {
      b->safe = i + 1;
      for (int32_t l = loop; l != 0; l = at(b, l)->home)
        b->safe = at(b, at(b, l)->end)->at + 1;
    }
    if (n->op == N_END) loop = at(b, n->in[0])->home;
  }
  use_carried(b);
}

/* ---- places ---- */

static int class_of(const node *n) {
  return n->type == KT_BOOL ? P_REG1 : n->type == KT_F32 ? P_REG4 : P_REG8;
}

/* The first register that is free at position i (before it, when `strictly`). */
static int take_register(builder *b, node *n, int32_t i, int strictly) {
  int class = class_of(n);
  int32_t *busy = b->busy[class - P_REG1];
  for (int r = 0; r < MAX_REGISTERS; r++) {
    if (busy[r] > i - strictly) continue;
    busy[r] = n->last > i ? n->last : i;
    n->place = PLACE(class, r);
    if (r >= b->nreg[class - P_REG1]) b->nreg[class - P_REG1] = r + 1;
    return 1;
  }
  return builder_fail(b, K_ELIMIT) != K_NONE;
}

/* The value that column c will have, when it can be made there; else NULL. */
static const node *made_in_place(const builder *b, int c) {
  if (b->store[c] == 0 || !column_direct(b, c)) return NULL;
  int32_t v = at(b, b->store[c])->in[0];
  const node *n = at(b, v);
  if (v == K_ALL || n->home != 0 || n->at < b->safe) return NULL;
  int32_t load = b->load[c];
  return load == 0 || at(b, load)->last <= n->at ? n : NULL;
}

/* Makes n, from position i on, in its own column or in another while that is free. */
static int take_column(builder *b, node *n, int32_t i) {
  if (i < b->safe) return 0;
  for (int c = 0; c < b->ncolumns; c++) {
    const node *stored = made_in_place(b, c);
    if (!stored || stored->type != n->type || b->column_busy[c] > i) continue;
    if (n != stored) {
      const node *second = stored->tied ? at(b, stored->in[2]) : NULL;
      if (n->last > (stored->tied && n != second ? stored->copied - 1 : stored->at))
        continue;
    }
    n->place = PLACE(P_COLUMN, c);
    b->column_busy[c] = n->last > i ? n->last : i;
    return 1;
  }
  return 0;
}

/* Its own column comes first, so that no other value is put there for nothing. */
static int take_own_column(builder *b, node *n, int32_t i, int strictly) {
  if (n->column == 0 || i < b->safe) return 0;
  if (b->column_busy[n->column - 1] > i - strictly) return 0;
  if (made_in_place(b, n->column - 1) != n) return 0;
  n->place = PLACE(P_COLUMN, n->column - 1);
  b->column_busy[n->column - 1] = b->plan.n;
  return 1;
}

/* The carry that takes n over at the end of the round lends its place, when its old value
** is of no more use. */
static int take_heir(builder *b, node *n, int32_t i, int strictly) {
  if (n->heir == 0 || at(b, n->heir)->body_last > i - strictly) return 0;
  n->place = at(b, n->heir)->place;
  return 1;
}

static int take_place(builder *b, node *n, int32_t i, int strictly) {
  return take_heir(b, n, i, strictly) || take_own_column(b, n, i, strictly) ||
         (!strictly && take_column(b, n, i)) || take_register(b, n, i, strictly);
}

/* A tied select takes over the place of its second operand if that ends there. */
static int share(builder *b, node *n) {
  int32_t v = n->in[2];
  const node *y = at(b, v);
  if (!y->varies || v == K_ALL || y->last != n->at) {
    if (n->heir == 0 || v != n->heir || y->body_last != n->at) return 0;
    n->place = y->place;
    return 1;
  }
  int class = PLACE_CLASS(y->place), number = PLACE_NUMBER(y->place);
  if (class == P_COLUMN) {
    if (n->at < b->safe) return 0;
    const node *stored = made_in_place(b, number);
    if (!stored || stored->type != n->type) return 0;
    if (n != stored && n->last > (stored->tied ? stored->copied - 1 : stored->at))
      return 0;
    b->column_busy[number] = n == stored ? b->plan.n : n->last;
  } else {
    b->busy[class - P_REG1][number] = n->last;
  }
  n->place = y->place;
  return 1;
}

/* The tied selects of a region have their place, with their second operand in it, before
** the skip at position i. */
static int place_tied(builder *b, int32_t i) {
  for (int32_t j = i + 1; at(b, b->plan.v[j])->op != N_LAND; j++) {
    node *n = at(b, b->plan.v[j]);
    if (!n->live || !n->tied) continue;
    if (!share(b, n) && !take_place(b, n, i, 1)) return 0;
  }
  return 1;
}

/* A carry begins in its first value's register if that ends there. */
static void share_first(builder *b, node *n, int32_t i) {
  int32_t v = n->in[0];
  const node *first = at(b, v);
  int class = PLACE_CLASS(first->place), number = PLACE_NUMBER(first->place);
  if (v == K_ALL || !first->varies || first->last != i) return;
  if (class < P_REG1 || class > P_REG8 || b->busy[class - P_REG1][number] != i) return;
  b->busy[class - P_REG1][number] = n->last;
  n->place = first->place;
}

static int place_carries(builder *b, int32_t loop, int32_t i) {
  int32_t end = at(b, loop)->end;
  for (int32_t v = loop + 1; v < end; v++)
    if (is_carry_of(at(b, v), loop) && at(b, v)->varies) share_first(b, at(b, v), i);
  for (int32_t v = loop + 1; v < end; v++) {
    node *n = at(b, v);
    if (!is_carry_of(n, loop)) continue;
    if (n->varies && n->place == PLACE(P_NONE, 0) && !take_register(b, n, i, 1)) return 0;
    int32_t next = n->in[1];
    if (!n->varies || next <= 0 || at(b, next)->heir != 0 || at(b, next)->home != loop)
      continue;
    if (at(b, next)->op != N_CARRY && at(b, next)->op != N_FILL) at(b, next)->heir = v;
  }
  return 1;
}

/* What is no instruction has its place from the start. */
static void place_loads(builder *b) {
  for (int32_t v = 0; v < b->n; v++) {
    node *n = at(b, v);
    if (n->op == N_LOAD && n->at == -1) n->place = PLACE(P_COLUMN, n->aux);
  }
  at(b, K_ALL)->place = PLACE(P_ALL, 0);
  for (int c = 0; c < b->ncolumns; c++) {
    b->column_busy[c] = b->load[c] == 0 ? -1 : at(b, b->load[c])->last;
    if (b->store[c] != 0 && column_direct(b, c))
      at(b, at(b, b->store[c])->in[0])->column = c + 1;
  }
}

/* Where the tied selects' second operands are copied, at the latest. */
static void find_copies(builder *b) {
  int32_t skip = 0;
  for (int32_t i = 0; i < b->plan.n; i++) {
    node *n = at(b, b->plan.v[i]);
    if (n->op == N_SKIP) skip = i;
    if (n->tied) n->copied = skip;
  }
}

int plan_places(builder *b) {
  find_lives(b);
  place_loads(b);
  find_copies(b);
  for (int k = 0; k < 3; k++)
    for (int r = 0; r < MAX_REGISTERS; r++) b->busy[k][r] = -1;
  for (int32_t i = 0; i < b->plan.n; i++) {
    int32_t v = b->plan.v[i];
    node *n = at(b, v);
    if (!n->live) continue;
    if (n->op == N_LOOP && !place_carries(b, v, i)) return 0;
    if (n->op == N_SKIP && !place_tied(b, i)) return 0;
    if (n->varies && n->op != N_RANGE && n->place == PLACE(P_NONE, 0) &&
        !take_place(b, n, i, 0))
      return 0;
  }
  return 1;
}
