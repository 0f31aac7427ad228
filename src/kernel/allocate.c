/* Lifetimes and places of values. A stored value is calculated in the column itself if nothing
** reads the old one afterwards and nothing can fail any more; until then the column serves as a
** register. Other values get the first free block register of their size. (After M. Poletto and V.
** Sarkar, "Linear scan register allocation", 1999.) */
#include "kernel/node.h"

static bool allocate_is_carry_of(const struct node *n, k_value loop) {
  return n->op == N_CARRY && n->live && n->home == loop;
}

/* ---- lives ---- */

/* v is used at position i, in the body of `loop`, so it lives up to there, or to the end of the
** outermost loop around it that began after v's definition. */
static void allocate_use(struct builder *b, k_value v, int32_t i, k_value loop) {
  if (v == K_NONE) return;
  struct node *n = node_at(b, v);
  int32_t end = i;
  bool inside = false;
  for (; loop != 0; loop = node_at(b, loop)->home) {
    if (n->at < node_at(b, loop)->at) end = node_at(b, node_at(b, loop)->end)->at;
    if (loop == n->home) inside = true;
  }
  if (end > n->last) n->last = end;
  if (n->op == N_CARRY && inside && end > n->body_last) n->body_last = end;
}

/* Numbers the definitions. A carry is defined where its loop begins. */
static void allocate_number(struct builder *b) {
  for (k_value v = 0; v < b->count; v++) {
    struct node *n = node_at(b, v);
    n->at = n->last = n->body_last = -1;
    n->location = LOCATION(LOC_NONE, 0);
  }
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    struct node *n = planned(b, i);
    assert(n->at == -1);
    n->at = n->last = i;
  }
  for (k_value v = 0; v < b->count; v++) {
    struct node *n = node_at(b, v);
    if (n->op == N_CARRY && n->live) n->at = n->last = node_at(b, n->home)->at;
  }
}

static void allocate_use_carried(struct builder *b) {
  for (k_value v = 0; v < b->count; v++) {
    struct node *n = node_at(b, v);
    if (n->op != N_CARRY || !n->live) continue;
    const struct node *loop = node_at(b, n->home);
    int32_t end = node_at(b, loop->end)->at;
    assert(loop->at >= 0 && end > loop->at);
    allocate_use(b, n->in[0], loop->at, loop->home);
    allocate_use(b, n->in[1], end, n->home);
    if (end > n->last) n->last = end;
  }
}

/* The position after i, where something can fail, and after all loops that contain it. */
static int32_t allocate_behind(const struct builder *b, int32_t i, k_value loop) {
  int32_t end = i;
  for (; loop != 0; loop = node_at(b, loop)->home)
    end = node_at(b, node_at(b, loop)->end)->at;
  return end + 1;
}

static void allocate_find_lives(struct builder *b) {
  allocate_number(b);
  k_value loop = 0;
  b->safe = 0;
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    const struct node *n = planned(b, i);
    if (!n->live) continue;
    for (int j = 0; j < 4; j++) allocate_use(b, n->in[j], i, loop);
    if (n->op == N_LOOP) loop = b->plan.items[i];
    if (n->fails || n->op == N_ROWS_END) b->safe = allocate_behind(b, i, loop);
    if (n->op == N_END) loop = node_at(b, n->in[0])->home;
  }
  assert(loop == 0);
  allocate_use_carried(b);
}

/* ---- where values are ----
**
** In what follows `strictly` asks for what is free before position i, and not only from it
** on: an instruction may write over its operands, but what is written before it may not. */

static bool allocate_is_placed(const struct node *n) {
  return n->location != LOCATION(LOC_NONE, 0);
}

static bool allocate_is_register(uint32_t class) { return class >= LOC_REG1 && class <= LOC_REG8; }

/* The last positions at which the registers of a class are in use. */
static int32_t *allocate_busy_of(struct builder *b, uint32_t class) {
  assert(allocate_is_register(class));
  return b->busy[class - LOC_REG1];
}

/* Takes the first register that is free at position i. */
static bool allocate_take_register(struct builder *b, struct node *n, int32_t i, bool strictly) {
  uint32_t class = n->type == KT_BOOL ? LOC_REG1 : n->type == KT_F32 ? LOC_REG4 : LOC_REG8;
  int32_t *busy = allocate_busy_of(b, class);
  for (uint32_t r = 0; r < MAX_REGISTERS; r++) {
    if (busy[r] > i - strictly) continue;
    busy[r] = n->last > i ? n->last : i;
    n->location = LOCATION(class, r);
    if (r >= b->reg_count[class - LOC_REG1]) b->reg_count[class - LOC_REG1] = r + 1;
    return true;
  }
  return builder_fail(b, K_ELIMIT) != K_NONE;
}

/* The value that column c will have, if it can be calculated there; otherwise NULL. */
static const struct node *allocate_made_in_column(const struct builder *b, uint32_t c) {
  /* With N_PUT, rows that the run is not for keep the old value of column c. */
  if (b->store[c] == 0 || !column_direct(b, c) || node_at(b, b->store[c])->op == N_PUT)
    return NULL;
  k_value v = node_at(b, b->store[c])->in[0];
  const struct node *n = node_at(b, v);
  if (v == K_ALL || n->home != 0 || n->at < b->safe) return NULL;
  k_value load = b->load[c];
  return load == 0 || node_at(b, load)->last <= n->at ? n : NULL;
}

/* The last position up to which a value may occupy a column in which `stored` is calculated: that
** of stored itself or, if stored is tied, the one before its other operand is copied there, unless
** the value is that operand. */
static int32_t allocate_guest_until(const struct builder *b, const struct node *n,
                                    const struct node *stored) {
  bool is_second = stored->tied && n == node_at(b, stored->in[node_other(stored)]);
  return stored->tied && !is_second ? stored->copied - 1 : stored->at;
}

/* Calculates n, from position i on, in its own column, or in another column while that is free. */
static bool allocate_take_column(struct builder *b, struct node *n, int32_t i) {
  if (i < b->safe) return false;
  for (uint32_t c = 0; c < b->column_count; c++) {
    const struct node *stored = allocate_made_in_column(b, c);
    if (!stored || stored->type != n->type || b->column_busy[c] > i) continue;
    if (n != stored && n->last > allocate_guest_until(b, n, stored)) continue;
    n->location = LOCATION(LOC_COLUMN, c);
    b->column_busy[c] = n->last > i ? n->last : i;
    return true;
  }
  return false;
}

/* The column of n comes first, so that no other value takes it needlessly. */
static bool allocate_take_own_column(struct builder *b, struct node *n, int32_t i, bool strictly) {
  if (n->column == 0 || i < b->safe) return false;
  uint32_t c = n->column - 1;
  if (b->column_busy[c] > i - strictly || allocate_made_in_column(b, c) != n) return false;
  n->location = LOCATION(LOC_COLUMN, c);
  b->column_busy[c] = (int32_t)b->plan.count;
  return true;
}

/* The carry that takes over n at the end of the round lends its register, if the carry's old value
** is no longer needed. */
static bool allocate_take_heir(const struct builder *b, struct node *n, int32_t i, bool strictly) {
  if (n->heir == 0 || node_at(b, n->heir)->body_last > i - strictly) return false;
  assert(allocate_is_placed(node_at(b, n->heir)));
  n->location = node_at(b, n->heir)->location;
  return true;
}

static bool allocate_take_any(struct builder *b, struct node *n, int32_t i, bool strictly) {
  return allocate_take_heir(b, n, i, strictly) || allocate_take_own_column(b, n, i, strictly) ||
         (!strictly && allocate_take_column(b, n, i)) || allocate_take_register(b, n, i, strictly);
}

/* Whether n may continue in column c, where its second operand is. */
static bool allocate_share_column(struct builder *b, const struct node *n, uint32_t c) {
  if (n->at < b->safe) return false;
  const struct node *stored = allocate_made_in_column(b, c);
  if (!stored || stored->type != n->type) return false;
  if (n != stored && n->last > (stored->tied ? stored->copied - 1 : stored->at)) return false;
  b->column_busy[c] = n == stored ? (int32_t)b->plan.count : n->last;
  return true;
}

/* A tied node continues in the place of its other operand, if that is not used later. */
static bool allocate_share(struct builder *b, struct node *n) {
  k_value v = n->in[node_other(n)];
  const struct node *y = node_at(b, v);
  bool ends = y->varies && v != K_ALL && y->last == n->at;
  if (!ends) {
    if (n->heir == 0 || v != n->heir || y->body_last != n->at) return false;
    n->location = y->location;
    return true;
  }
  uint32_t class = LOCATION_CLASS(y->location), at = LOCATION_NUMBER(y->location);
  if (class == LOC_COLUMN) {
    if (!allocate_share_column(b, n, at)) return false;
  } else {
    allocate_busy_of(b, class)[at] = n->last;
  }
  n->location = y->location;
  return true;
}

/* The tied nodes of the region skipped at position i have registers before the skip, which then
** hold their other operands. */
static bool allocate_locate_tied(struct builder *b, int32_t i) {
  for (int32_t j = i + 1; planned(b, j)->op != N_LAND; j++) {
    struct node *n = planned(b, j);
    if (!n->live || !n->tied) continue;
    assert(n->copied == i);
    if (!allocate_share(b, n) && !allocate_take_any(b, n, i, true)) return false;
  }
  return true;
}

/* A carry starts in its first value's register if that value is not used later. */
static void allocate_share_first(struct builder *b, struct node *n, int32_t i) {
  k_value v = n->in[0];
  const struct node *first = node_at(b, v);
  uint32_t class = LOCATION_CLASS(first->location), at = LOCATION_NUMBER(first->location);
  if (v == K_ALL || !first->varies || first->last != i) return;
  if (!allocate_is_register(class) || allocate_busy_of(b, class)[at] != i) return;
  allocate_busy_of(b, class)[at] = n->last;
  n->location = first->location;
}

/* The value that carry v takes over at the end of a round may be calculated in the carry's
** place. */
static void allocate_make_heir(struct builder *b, k_value v, k_value loop) {
  k_value next = node_at(b, v)->in[1];
  if (next <= 0 || node_at(b, next)->heir != 0 || node_at(b, next)->home != loop) return;
  if (node_at(b, next)->op == N_CARRY || node_at(b, next)->op == N_FILL) return;
  node_at(b, next)->heir = v;
}

static bool allocate_locate_carries(struct builder *b, k_value loop, int32_t i) {
  k_value end = node_at(b, loop)->end;
  for (k_value v = loop + 1; v < end; v++)
    if (allocate_is_carry_of(node_at(b, v), loop) && node_at(b, v)->varies)
      allocate_share_first(b, node_at(b, v), i);
  for (k_value v = loop + 1; v < end; v++) {
    struct node *n = node_at(b, v);
    if (!allocate_is_carry_of(n, loop) || !n->varies) continue;
    if (!allocate_is_placed(n) && !allocate_take_register(b, n, i, true)) return false;
    allocate_make_heir(b, v, loop);
  }
  return true;
}

/* Loads that take no instruction have their place from the start. */
static void allocate_locate_loads(struct builder *b) {
  for (k_value v = 0; v < b->count; v++) {
    struct node *n = node_at(b, v);
    if (n->op == N_LOAD && n->at == -1) n->location = LOCATION(LOC_COLUMN, n->aux);
  }
  node_at(b, K_ALL)->location = LOCATION(LOC_ALL, 0);
  for (uint32_t c = 0; c < b->column_count; c++) {
    b->column_busy[c] = b->load[c] == 0 ? -1 : node_at(b, b->load[c])->last;
    if (b->store[c] != 0 && column_direct(b, c))
      node_at(b, node_at(b, b->store[c])->in[0])->column = c + 1;
  }
}

/* Finds the latest positions at which the other operands of tied nodes are copied. */
static void allocate_find_copies(struct builder *b) {
  int32_t skip = 0;
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) {
    struct node *n = planned(b, i);
    if (n->op == N_SKIP) skip = i;
    if (n->tied) n->copied = skip;
  }
}

static bool allocate_locate(struct builder *b, int32_t i) {
  struct node *n = planned(b, i);
  if (!n->live) return true;
  if (n->op == N_LOOP && !allocate_locate_carries(b, b->plan.items[i], i)) return false;
  if (n->op == N_SKIP && !allocate_locate_tied(b, i)) return false;
  bool needs = n->varies && !yields_nothing(n->op) && !allocate_is_placed(n);
  return !needs || allocate_take_any(b, n, i, false);
}

bool plan_registers(struct builder *b) {
  allocate_find_lives(b);
  allocate_locate_loads(b);
  allocate_find_copies(b);
  for (int k = 0; k < 3; k++)
    for (int r = 0; r < MAX_REGISTERS; r++) b->busy[k][r] = -1;
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++)
    if (!allocate_locate(b, i)) return false;
  return true;
}
