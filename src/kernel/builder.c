#include "kernel/node.h"

#define FIRST_NODES 128     /* initial room for nodes, and instructions */
#define NODE_LIMIT 0x10000

static uint64_t builder_scalar_bits(k_scalar s) {
  uint64_t u;
  memcpy(&u, &s, sizeof u);
  return u;
}

static uint32_t builder_hash(const struct node *n) {
  uint64_t h =
      ((uint64_t)n->op << 24 | (uint64_t)n->type << 16 | n->aux) * 0x9e3779b97f4a7c15;
  for (int i = 0; i < 4; i++) h = (h ^ (uint32_t)n->in[i]) * 0x9e3779b97f4a7c15;
  h = (h ^ builder_scalar_bits(n->k)) * 0x9e3779b97f4a7c15;
  return (uint32_t)(h >> 56);
}

static bool builder_same(const struct node *x, const struct node *y) {
  return x->op == y->op && x->type == y->type && x->varies == y->varies &&
         x->aux == y->aux && memcmp(x->in, y->in, sizeof x->in) == 0 &&
         builder_scalar_bits(x->k) == builder_scalar_bits(y->k);
}

/* Whether equal nodes may be united: those with effects besides their value may not. */
static bool builder_is_value(uint32_t op) {
  return op < N_LOOP && op != N_GET && (op < N_NOTE || op > N_FOLD);
}

struct node node_make(uint32_t op, k_type type, bool varies) {
  assert(op < N_COUNT && type <= KT_CELL);
  struct node n;
  memset(&n, 0, sizeof n);
  n.op = (uint8_t)op;
  n.type = (uint8_t)type;
  n.varies = varies;
  for (int i = 0; i < 4; i++) n.in[i] = K_NONE;
  n.chain = K_NONE;
  return n;
}

k_value builder_fail(struct builder *b, k_status status) {
  assert(status != K_OK);
  if (b->status == K_OK) b->status = status;
  return K_NONE;
}

static bool builder_grow(struct builder *b) {
  if (b->count == NODE_LIMIT) return builder_fail(b, K_ELIMIT) != K_NONE;
  uint32_t need = b->count < FIRST_NODES ? FIRST_NODES : (uint32_t)b->count + 1;
  if (!GROW(b->memory, b->nodes, b->capacity, need)) return builder_fail(b, K_ENOMEM) != K_NONE;
  return true;
}

static bool builder_loop_is_open(const struct builder *b, k_value loop) {
  if (loop == 0) return true;
  assert(node_at(b, loop)->op == N_LOOP);
  for (k_value open = b->loop; open != 0; open = node_at(b, open)->home)
    if (open == loop) return true;
  return false;
}

/* The innermost open loop in which v has one value; K_NONE if v was made in a loop that has ended.
** What a loop has carried is known after it. */
static k_value builder_loop_of(const struct builder *b, k_value v) {
  const struct node *n = node_at(b, v);
  k_value loop = n->op == N_LOOP ? v : n->home;
  if (builder_loop_is_open(b, loop)) return loop;
  if (n->op != N_CARRY) return K_NONE;
  while (!builder_loop_is_open(b, loop)) loop = node_at(b, loop)->home;
  return loop;
}

uint32_t loop_depth(const struct builder *b, k_value loop) {
  uint32_t depth = 0;
  for (; loop != 0; loop = node_at(b, loop)->home) depth++;
  return depth;
}

/* The loop to which a pure node belongs: the innermost one that any operand depends on, since the
** node is hoisted out of the others. */
static k_value builder_home_of(struct builder *b, const struct node *n) {
  k_value home = 0;
  for (int i = 0; i < 4; i++) {
    if (n->in[i] == K_NONE) continue;
    k_value loop = builder_loop_of(b, n->in[i]);
    if (loop == K_NONE) return builder_fail(b, K_EINVAL);
    if (loop_depth(b, loop) > loop_depth(b, home)) home = loop;
  }
  return home;
}

k_value builder_append(struct builder *b, struct node n, k_value home) {
  if (!builder_grow(b)) return K_NONE;
  for (int i = 0; i < 4; i++) assert(n.in[i] >= K_NONE && n.in[i] < b->count);
  n.home = home;
  b->nodes[b->count] = n;
  return b->count++;
}

k_value builder_add(struct builder *b, struct node n) {
  if (b->status != K_OK) return K_NONE;
  k_value home = builder_home_of(b, &n);
  if (home == K_NONE) return K_NONE;
  if (n.fails || !builder_is_value(n.op)) home = b->loop;
  k_value *bucket = &b->bucket[builder_hash(&n)];
  if (builder_is_value(n.op))
    for (k_value v = *bucket; v != K_NONE; v = node_at(b, v)->chain)
      if (builder_same(node_at(b, v), &n) && builder_loop_is_open(b, node_at(b, v)->home)) return v;
  k_value v = builder_append(b, n, home);
  if (v != K_NONE && builder_is_value(n.op)) {
    b->nodes[v].chain = *bucket;
    *bucket = v;
  }
  return v;
}

k_value builder_add_of(struct builder *b, struct node n, k_value x, k_value y, k_value z) {
  n.in[0] = x;
  n.in[1] = y;
  n.in[2] = z;
  return builder_add(b, n);
}

k_value builder_known(const struct builder *b, const struct node *n) {
  assert(n->in[0] != K_NONE && n->in[3] != K_NONE);
  for (k_value v = b->count - 1; v > 0; v--) {
    const struct node *known = node_at(b, v);
    if (known->op == n->op && known->aux == n->aux && known->in[0] == n->in[0] &&
        mask_implies(b, n->in[3], known->in[3]) && builder_loop_is_open(b, known->home))
      return v;
  }
  return K_NONE;
}

/* The integers that a value can be, as far as nodes show. */
struct value_range {
  int64_t least, most;
};

static struct value_range builder_column_range(uint32_t type) {
  static const struct value_range ranges[] = {
      [KC_I8] = {INT8_MIN, INT8_MAX},   [KC_I16] = {INT16_MIN, INT16_MAX},
      [KC_I32] = {INT32_MIN, INT32_MAX}, [KC_U8] = {0, UINT8_MAX},
      [KC_U16] = {0, UINT16_MAX},       [KC_U32] = {0, UINT32_MAX}};
  if (type < KC_I8 || type > KC_U32) return (struct value_range){INT64_MIN, INT64_MAX};
  return ranges[type];
}

static struct value_range builder_range_of(const struct builder *b, k_value v, int depth) {
  enum { DEEP = 4 };
  const struct node *n = node_at(b, v);
  if (n->op == N_CONSTANT) return (struct value_range){n->k.i64, n->k.i64};
  if (n->op == N_LOAD) return builder_column_range(b->columns[n->aux]);
  if (n->op == N_ELEMENT) return builder_column_range(b->arrays[n->aux]);
  if (n->op == N_GET) return builder_column_range(n->aux);
  bool both = n->op == N_SELECT || n->op == KO_MIN || n->op == KO_MAX;
  if (!both || depth == DEEP) return builder_column_range(KC_I64);
  bool select = n->op == N_SELECT;
  struct value_range x = builder_range_of(b, n->in[select], depth + 1);
  struct value_range y = builder_range_of(b, n->in[1 + select], depth + 1);
  bool low = x.least < y.least, high = x.most > y.most;
  return (struct value_range){low == (n->op != KO_MAX) ? x.least : y.least,
                              high == (n->op != KO_MIN) ? x.most : y.most};
}

bool builder_is_within(const struct builder *b, k_value v, k_column type) {
  struct value_range value = builder_range_of(b, v, 0), field = builder_column_range(type);
  return value.least >= field.least && value.most <= field.most;
}

bool node_list_push(struct builder *b, struct node_list *list, k_value v) {
  assert(v >= 0 && v < b->count);
  uint32_t need = list->count < FIRST_NODES ? FIRST_NODES : list->count + 1;
  if (!GROW(b->memory, list->items, list->capacity, need))
    return builder_fail(b, K_ENOMEM) != K_NONE;
  list->items[list->count++] = v;
  return true;
}

k_value builder_push_bound(struct builder *b, uint32_t op, k_value of) {
  struct node n = node_make(op, KT_BOOL, false);
  n.live = true;
  n.in[0] = of;
  k_value v = builder_append(b, n, 0);
  return v != K_NONE && node_list_push(b, &b->spare, v) ? v : K_NONE;
}

bool column_direct(const struct builder *b, uint32_t column) {
  assert(column < b->column_count);
  return b->columns[column] <= KC_I64 || b->columns[column] & KC_CELLS;
}

struct builder *builder_new(struct memory *memory) {
  struct builder *b = memory_array(memory, 1, sizeof *b);
  if (!b) return NULL;
  b->memory = memory;
  for (int i = 0; i < 256; i++) b->bucket[i] = K_NONE;
  struct node all = node_make(N_CONSTANT, KT_BOOL, false);
  all.k.b = 1;
  if (builder_add(b, all) != K_ALL) {
    builder_free(b);
    return NULL;
  }
  return b;
}

void builder_free(struct builder *b) {
  if (!b) return;
  FREE_LIST(b->memory, b->plan.items, b->plan.capacity);
  FREE_LIST(b->memory, b->spare.items, b->spare.capacity);
  FREE_LIST(b->memory, b->prologue.items, b->prologue.capacity);
  FREE_LIST(b->memory, b->nodes, b->capacity);
  memory_free(b->memory, b, sizeof *b);
}

k_status builder_status(const struct builder *b) {
  return b->status;
}

k_type build_type(const struct builder *b, k_value v) {
  return v < 0 || v >= b->count ? KT_BOOL : (k_type)node_at(b, v)->type;
}

bool build_is_number(const struct builder *b, k_value v, double *x) {
  if (v < 0 || v >= b->count || node_at(b, v)->op != N_CONSTANT) return false;
  const struct node *n = node_at(b, v);
  *x = n->type == KT_F32 ? (double)n->k.f32 : n->type == KT_F64 ? n->k.f64 : (double)n->k.i64;
  return n->type != KT_BOOL;
}

/* The range of a sum, difference or product of numbers within 32 bits. */
static void build_combine(uint32_t op, const int64_t x[2], const int64_t y[2], int64_t of[2]) {
  if (op == KO_MUL) {
    of[0] = of[1] = x[0] * y[0];
    for (int i = 1; i < 4; i++) {
      int64_t end = x[i / 2] * y[i % 2];
      if (end < of[0]) of[0] = end;
      if (end > of[1]) of[1] = end;
    }
    return;
  }
  of[0] = op == KO_ADD ? x[0] + y[0] : x[0] - y[1];
  of[1] = op == KO_ADD ? x[1] + y[1] : x[1] - y[0];
}

bool build_between(const struct builder *b, k_value v, int64_t least, int64_t most, int64_t of[2]) {
  const int64_t all = INT32_MAX;
  int64_t x[2], y[2];
  if (v < 0 || v >= b->count || node_at(b, v)->type != KT_I64) return false;
  const struct node *n = node_at(b, v);
  if (n->op == N_CONSTANT) {
    of[0] = of[1] = n->k.i64;
  } else if (n->op == N_LOOP) {
    if (!build_between(b, n->in[0], 1, all, x)) return false;
    of[0] = 0;
    of[1] = x[1] - 1;
  } else {
    bool two = n->op == KO_ADD || n->op == KO_SUB || n->op == KO_MUL;
    if (!two || !build_between(b, n->in[0], -all, all, x) ||
        !build_between(b, n->in[1], -all, all, y))
      return false;
    build_combine(n->op, x, y, of);
  }
  return of[0] >= least && of[1] <= most;
}

bool build_varies(const struct builder *b, k_value v) {
  return v >= 0 && v < b->count && node_at(b, v)->varies;
}

k_mark build_mark(const struct builder *b) {
  k_mark mark = {b->status == K_OK ? b->count : K_NONE, b->loop, b->site_count,
                 b->list_count, b->fold_count};
  return mark;
}

/* Nodes are removed in reverse order, so each is the first in its bucket. */
void build_rewind(struct builder *b, k_mark mark) {
  if (mark.value == K_NONE || b->status == K_ENOMEM) return;
  assert(mark.value <= b->count && mark.loop < mark.value);
  b->status = K_OK;
  while (b->count > mark.value) {
    const struct node *n = node_at(b, b->count - 1);
    b->count--;
    if (!builder_is_value(n->op)) continue;
    assert(b->bucket[builder_hash(n)] == b->count);
    b->bucket[builder_hash(n)] = n->chain;
  }
  b->loop = mark.loop;
  b->site_count = mark.sites;
  b->list_count = mark.lists;
  b->fold_count = mark.folds;
  b->fail_mask = K_ALL;
}

/* ---- cells in the order of rows ---- */

k_column build_cell_type(const struct builder *b, k_value cell) {
  const struct node *n = node_at(b, cell);
  uint32_t type = n->op == N_AT     ? b->arrays[n->aux]
                  : n->op == N_LOOK ? b->lookups[n->aux]
                                    : b->columns[n->aux];
  return (k_column)(type & ~(uint32_t)KC_CELLS);
}

k_value build_get(struct builder *b, k_value cell) {
  if (!builder_takes(b, cell, KT_CELL)) return K_NONE;
  k_column type = build_cell_type(b, cell);
  struct node n = node_make(N_GET, column_got(type), true);
  n.aux = (uint16_t)type;
  n.ordered = true;
  return builder_add_of(b, n, cell, K_NONE, K_NONE);
}

uint32_t build_fold(struct builder *b, k_value cell, k_fold step, k_value operand) {
  if (!builder_takes(b, cell, KT_CELL)) return NONE;
  k_column type = build_cell_type(b, cell);
  bool truth = type == KC_BOOL;
  if (!builder_takes(b, operand, column_got(type))) return NONE;
  if (step >= KF_COUNT || (truth ? step < KF_SET : step > KF_SET)) builder_fail(b, K_EINVAL);
  if (b->fold_count == MAX_FOLDS || b->loop != 0) builder_fail(b, K_ELIMIT);
  if (b->status != K_OK) return NONE;
  struct node n = builder_failing(b, N_FOLD, KT_I64);
  n.aux = (uint16_t)b->fold_count++;
  k_value at = builder_add_of(b, n, cell, operand, K_NONE);
  b->folds[n.aux] = (struct fold){(uint8_t)type, (uint8_t)step, 0, at};
  return n.aux;
}

void build_alias_fold(struct builder *b, uint32_t fold, bool uniform, uint32_t number) {
  if (b->status != K_OK) return;
  assert(fold < b->fold_count && number < MAX_COLUMNS);
  b->folds[fold].alias = (uint16_t)(uniform ? number + 1 : ALIAS_COLUMN + number);
}

void build_lay(struct builder *b, uint32_t to, uint32_t from) {
  if (b->status != K_OK) return;
  assert(to < b->array_count && from < b->array_count && b->arrays[to] == b->arrays[from]);
  struct node n = node_make(N_LAY, KT_BOOL, true);
  n.in[3] = b->fail_mask;
  n.aux = (uint16_t)(to * MAX_ARRAYS + from);
  n.ordered = true;
  builder_add(b, n);
}

void build_set(struct builder *b, k_value cell, k_value value) {
  if (!builder_takes(b, cell, KT_CELL)) return;
  k_column type = build_cell_type(b, cell);
  if (!builder_takes(b, value, column_got(type))) return;
  struct node n = node_make(N_SET, KT_BOOL, true);
  n.in[3] = b->fail_mask;
  n.aux = (uint16_t)type;
  n.ordered = true;
  builder_add_of(b, n, cell, value, K_NONE);
}
