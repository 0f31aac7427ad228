/* Turns nodes that have places into instructions, and makes the finished program. */
#include "kernel/machine.h"
#include "kernel/node.h"

struct emitter {
  struct builder *b;
  k_insn *insns;
  uint32_t count, capacity;
  struct program head;      /* the program's counts; scalars: uniforms, constants, computed ones */
  struct numbering at;      /* where its operands begin */
};

/* ---- operands ---- */

static uint32_t emit_operand_number(const struct emitter *e, uint32_t location) {
  const uint32_t first[LOC_NONE] = {0, e->at.reg1, e->at.reg4, e->at.reg8, e->at.all};
  assert(LOCATION_CLASS(location) < LOC_NONE);
  return first[LOCATION_CLASS(location)] + LOCATION_NUMBER(location);
}

static uint32_t emit_scalar_number(const struct emitter *e, const struct node *n) {
  assert(!n->varies && n->scalar < e->head.scalar_count);
  return e->at.scalars + n->scalar;
}

/* The number of operand v. K_ALL is a mask or, among scalars, the constant true. */
static uint16_t emit_operand(const struct emitter *e, k_value v, bool scalar) {
  if (v == K_NONE) return K_NO_OPERAND;
  const struct node *n = node_at(e->b, v);
  bool is_lane = n->varies || (v == K_ALL && !scalar);
  return (uint16_t)(is_lane ? emit_operand_number(e, n->location) : emit_scalar_number(e, n));
}

/* Whether a node is a uniform that is computed: by an instruction, or as counter or carry. */
static bool emit_is_computed(const struct node *n) {
  if (!n->live || n->varies) return false;
  if (n->op < KO_COUNT) return true;
  switch (n->op) {
    case N_CONVERT:
    case N_LIMIT:
    case N_SELECT:
    case N_UNIT:
    case N_LOOP:
    case N_CARRY:
    case N_COPY: return true;
    default: return false;
  }
}

static bool emit_number_scalars(struct emitter *e) {
  const struct builder *b = e->b;
  struct program *p = &e->head;
  for (k_value v = 0; v < b->count; v++) {
    struct node *n = node_at(b, v);
    if (n->op == N_UNIFORM) n->scalar = n->aux;
    if (n->op == N_CONSTANT && n->live) n->scalar = p->scalar_count++;
    if (p->scalar_count > MAX_SCALARS) return false;
  }
  p->constant_count = (uint16_t)(p->scalar_count - p->uniform_count);
  for (k_value v = 0; v < b->count; v++) {
    if (emit_is_computed(node_at(b, v))) node_at(b, v)->scalar = p->scalar_count++;
    if (p->scalar_count > MAX_SCALARS) return false;
  }
  e->at = program_numbering(p);
  return true;
}

/* ---- which instruction ---- */

/* A member of a group with an f32, an f64 and an i64 instruction. */
static uint32_t emit_of_type(uint32_t f32, uint32_t i64, uint32_t type) {
  assert(type != KT_BOOL && !(type == KT_I64 && i64 == OP_COUNT));
  return type == KT_I64 ? i64 : type == KT_F64 ? f32 + TO_F64 : f32;
}

/* How far after an operation's first instruction, for varying x and y, the one for scalar y (1) or
** scalar x (2) is. Work done once uses the first instruction, on scalars. */
static uint32_t emit_kinds(const struct emitter *e, k_value x, k_value y, bool scalar) {
  if (scalar) return 0;
  return !node_at(e->b, x)->varies ? 2 : !node_at(e->b, y)->varies ? 1 : 0;
}

static uint32_t emit_copy_op(uint32_t type) {
  return type == KT_BOOL ? OP_COPY_BOOL : emit_of_type(OP_COPY_F32, OP_COPY_I64, type);
}

static uint32_t emit_fill_op(uint32_t type) {
  return type == KT_BOOL ? OP_FILL_BOOL : emit_of_type(OP_FILL_F32, OP_FILL_I64, type);
}

static uint32_t emit_convert_op(uint32_t from, uint32_t to) {
  assert(from != to && from != KT_BOOL && (to == KT_F32 || to == KT_F64));
  if (to == KT_F32) return from == KT_F64 ? OP_F32_OF_F64 : OP_F32_OF_I64;
  return from == KT_F32 ? OP_F64_OF_F32 : OP_F64_OF_I64;
}

static uint32_t emit_reduce_op(uint32_t how, uint32_t type) {
  return OP_SUM_F64 + 2 * how + (type == KT_I64);   /* in the order of k_reduce */
}

/* The number of a comparison among LT LE EQ NE GT GE. */
static uint32_t emit_compare_number(uint32_t op) {
  static const uint8_t numbers[] = {2, 3, 0, 1, 4, 5};   /* of EQ NE LT LE GT GE */
  assert(is_compare(op));
  return numbers[op - KO_EQ];
}

/* The number of a comparison; swaps x and y if x is a scalar, since scalars come second. */
static uint32_t emit_compare_kind(const struct emitter *e, uint32_t op, k_value *x, k_value *y,
                                  bool scalar) {
  if (scalar || node_at(e->b, *x)->varies) return emit_compare_number(op);
  k_value swap = *x;
  *x = *y;
  *y = swap;
  return emit_compare_number(build_mirrored((k_op)op));
}

/* ---- instructions ---- */

static k_insn *emit_instruction(struct emitter *e, uint32_t op, uint32_t dst) {
  assert(e->count < e->capacity && OP_NUMBER(op) < OP_COUNT && dst <= K_NO_OPERAND);
  k_insn *k = &e->insns[e->count++];
  memset(k, 0, sizeof *k);
  k->op = (uint16_t)op;
  k->dst = (uint16_t)dst;
  k->a = k->b = k->c = k->d = K_NO_OPERAND;
  return k;
}

/* An instruction with the operands of a node, in order, and its tag. */
static k_insn *emit_with_operands(struct emitter *e, uint32_t op, uint32_t dst,
                                  const struct node *n, bool scalar) {
  k_insn *k = emit_instruction(e, scalar ? op | OP_SCALAR : op, dst);
  k->a = emit_operand(e, n->in[0], scalar);
  k->b = emit_operand(e, n->in[1], scalar);
  k->c = emit_operand(e, n->in[2], scalar);
  k->d = emit_operand(e, n->in[3], scalar);
  k->tag = n->tag;
  return k;
}

/* Copies v to operand `dst`, unless it is already there. */
static void emit_copy(struct emitter *e, uint32_t dst, k_value v, uint32_t type) {
  uint16_t from = emit_operand(e, v, false);
  if (from == dst) return;
  bool is_lane = node_at(e->b, v)->varies || v == K_ALL;
  emit_instruction(e, is_lane ? emit_copy_op(type) : emit_fill_op(type), dst)->a = from;
}

static void emit_carry(struct emitter *e, k_value carry, k_value v) {
  const struct node *n = node_at(e->b, carry);
  if (v == K_NONE || v == carry) return;
  if (n->varies)
    emit_copy(e, emit_operand_number(e, n->location), v, n->type);
  else
    emit_instruction(e, emit_copy_op(n->type) | OP_SCALAR, emit_scalar_number(e, n))->a =
        emit_operand(e, v, true);
}

/* Sets the loop's carries to their first values (0) or their next ones (1). */
static void emit_carries(struct emitter *e, k_value loop, int which) {
  for (k_value v = loop + 1; v < node_at(e->b, loop)->end; v++) {
    const struct node *n = node_at(e->b, v);
    if (n->op == N_CARRY && n->live && n->home == loop) emit_carry(e, v, n->in[which]);
  }
}

static void emit_loop(struct emitter *e, k_value v) {
  struct node *n = node_at(e->b, v);
  emit_carries(e, v, 0);
  n->pc = e->count;
  k_insn *k = emit_instruction(e, OP_LOOP, emit_operand(e, v, true));
  k->a = emit_operand(e, n->in[0], true);
  k->b = emit_operand(e, n->in[1], false);
}

static void emit_end(struct emitter *e, const struct node *n) {
  k_value loop = n->in[0];
  emit_carries(e, loop, 1);
  k_insn *begin = &e->insns[node_at(e->b, loop)->pc];
  assert(begin->op == OP_LOOP);
  begin->c = (uint16_t)e->count;
  k_insn *k = emit_instruction(e, OP_END, begin->dst);
  k->a = begin->a;
  k->b = emit_operand(e, n->in[1], false);
  k->c = (uint16_t)node_at(e->b, loop)->pc;
}

/* Before the skip at position i of the plan, gives its tied nodes the values that they have if it
** is taken. */
static void emit_skip(struct emitter *e, int32_t i) {
  struct node *skip = planned(e->b, i);
  for (int32_t j = i + 1; planned(e->b, j)->op != N_LAND; j++) {
    const struct node *n = planned(e->b, j);
    if (n->live && n->tied)
      emit_copy(e, emit_operand_number(e, n->location), n->in[node_other(n)], n->type);
  }
  skip->pc = e->count;
  emit_instruction(e, OP_SKIP, K_NO_OPERAND)->a = emit_operand(e, skip->in[0], false);
}

/* Sets the target of a skip, or the end of the ordered part. */
static void emit_land(struct emitter *e, const struct node *n) {
  k_insn *from = &e->insns[node_at(e->b, n->in[0])->pc];
  assert(from->op == OP_SKIP || from->op == OP_ROWS);
  from->c = (uint16_t)e->count;
}

static void emit_put(struct emitter *e, const struct node *n) {
  uint32_t type = column_value((k_column)e->b->columns[n->aux]);
  uint32_t op = type == KT_BOOL ? OP_PUT_BOOL : emit_of_type(OP_PUT_F32, OP_PUT_I64, type);
  emit_with_operands(e, op, n->aux, n, false)->b = (uint16_t)e->at.start;
}

static void emit_store(struct emitter *e, const struct node *n) {
  uint32_t column = e->b->columns[n->aux];
  if (column < KC_I8 || column > KC_U32) {
    emit_copy(e, n->aux, n->in[0], column_value((k_column)column));
    return;
  }
  emit_with_operands(e, OP_STORE_I8 + (column - KC_I8), n->aux, n, false);
}

static void emit_compare(struct emitter *e, const struct node *n, uint32_t dst,
                         bool scalar) {
  k_value x = n->in[0], y = n->in[1];
  uint32_t tx = node_at(e->b, x)->type, ty = node_at(e->b, y)->type;
  uint32_t op;
  if (tx != ty) {
    assert(tx == KT_I64 && ty == KT_F64);
    op = OP_LT_VV_MIX + 3u * emit_compare_number(n->op) + emit_kinds(e, x, y, scalar);
  } else {
    uint32_t kind = emit_compare_kind(e, n->op, &x, &y, scalar);
    bool vv = scalar || node_at(e->b, y)->varies;
    op = kind + (vv ? emit_of_type(OP_LT_VV_F32, OP_LT_VV_I64, tx)
                    : emit_of_type(OP_LT_VS_F32, OP_LT_VS_I64, tx));
  }
  k_insn *k = emit_with_operands(e, op, dst, n, scalar);
  k->a = emit_operand(e, x, scalar);
  k->b = emit_operand(e, y, scalar);
}

/* The first instruction of a fused comparison and select, with y varying or a scalar. */
static uint32_t emit_first_when(bool negates, bool scalar, uint32_t type) {
  if (negates)
    return scalar ? emit_of_type(OP_NEGLT_VS_F32, OP_NEGLT_VS_I64, type)
                  : emit_of_type(OP_NEGLT_VV_F32, OP_NEGLT_VV_I64, type);
  return scalar ? emit_of_type(OP_IFLT_VS_VV_F32, OP_IFLT_VS_VV_I64, type)
                : emit_of_type(OP_IFLT_VV_VV_F32, OP_IFLT_VV_VV_I64, type);
}

static void emit_when(struct emitter *e, const struct node *n) {
  k_value x = n->in[0], y = n->in[1];
  bool negates = n->op == N_NEGATE;
  uint32_t kind = emit_compare_kind(e, n->aux, &x, &y, false);
  uint32_t which = kind >= 4 ? kind - 1 : kind;  /* LT LE EQ GT GE */
  uint32_t op = emit_first_when(negates, !node_at(e->b, y)->varies, n->type);
  op += negates ? which : 3 * which + emit_kinds(e, n->in[2], n->in[3], false);
  k_insn *k = emit_with_operands(e, op, emit_operand_number(e, n->location), n, false);
  k->a = emit_operand(e, x, false);
  k->b = emit_operand(e, y, false);
}

static uint32_t emit_fused_op(const struct emitter *e, const struct node *n) {
  bool scalar0 = !node_at(e->b, n->in[0])->varies, scalar1 = !node_at(e->b, n->in[1])->varies;
  bool scalar2 = !node_at(e->b, n->in[2])->varies;
  switch (n->op) {
    case N_MULADD: return emit_of_type(OP_MULADD_VVVV_F32, OP_COUNT, n->type) + scalar1;
    case N_MULDIFF: return emit_of_type(OP_MULDIFF_VVVV_F32, OP_COUNT, n->type) + scalar1;
    default: break;
  }
  uint32_t first = n->op == N_ADDMUL   ? OP_ADDMUL_VVV_F32
                   : n->op == N_SUBMUL ? OP_SUBMUL_VVV_F32
                                       : OP_MULSUB_VVV_F32;
  return emit_of_type(first, OP_COUNT, n->type) + scalar2 + 2u * scalar0;
}

/* The instruction for a k_op that is not a comparison. */
static uint32_t emit_operation_op(const struct emitter *e, const struct node *n, bool scalar) {
  uint32_t from = node_at(e->b, n->in[0])->type;
  switch (n->op) {
    case KO_ULT:
    case KO_BELOW:
    case KO_FLOOR:
    case KO_CEIL: return operation_insn(n->op, from);
    default: break;
  }
  uint32_t first = operation_insn(n->op, n->type);
  if (n->in[1] == K_NONE || n->type == KT_BOOL) return first;
  return first + emit_kinds(e, n->in[0], n->in[1], scalar);
}

static uint32_t emit_select_op(const struct emitter *e, const struct node *n, bool scalar) {
  if (n->type == KT_BOOL) return OP_SELECT_BOOL;
  return emit_of_type(OP_SELECT_VV_F32, OP_SELECT_VV_I64, n->type) +
         emit_kinds(e, n->in[1], n->in[2], scalar);
}

static uint32_t emit_fold_op(struct fold fold) {
  if (fold.type != KC_BOOL)
    return OP_FOLD_ADD_F32 + fold.step * FOLD_TYPES + (uint32_t)(fold.type - KC_F32);
  return fold.step == KF_OR ? OP_FOLD_OR_BOOL
                            : fold.step == KF_AND ? OP_FOLD_AND_BOOL : OP_FOLD_SET_BOOL;
}

/* The instruction that finds an element, by its size. */
static uint32_t emit_at_op(k_column type) {
  size_t size = column_size(type);
  return size == 8 ? OP_AT_8 : size == 4 ? OP_AT_4 : size == 2 ? OP_AT_2 : OP_AT_1;
}

/* The instruction of a node with its `in` as operands, in order. */
static uint32_t emit_plain_op(const struct emitter *e, const struct node *n, bool scalar) {
  if (n->op < KO_COUNT) return emit_operation_op(e, n, scalar);
  switch (n->op) {
    case N_LOAD: return OP_LOAD_I8 + (uint32_t)(e->b->columns[n->aux] - KC_I8);
    case N_LIVE: return OP_LIVE;
    case N_START: return OP_START;
    case N_CONVERT: return emit_convert_op(node_at(e->b, n->in[0])->type, n->type);
    case N_LIMIT: return (n->type == KT_F32 ? OP_UP_F32 : OP_UP_F64) + (uint32_t)n->aux;
    case N_EXACT:
      return emit_of_type(n->aux == KE_FRACTION ? OP_WHOLE_F32 : OP_EXACT_F32, OP_COUNT,
                          node_at(e->b, n->in[0])->type);
    case N_RANGE: return OP_RANGE_I8 + (uint32_t)(n->aux - KC_I8);
    case N_SELECT: return emit_select_op(e, n, scalar);
    case N_RANDOM: return node_at(e->b, n->in[1])->varies ? OP_RANDOM_VV : OP_RANDOM_VS;
    case N_UNIT: return OP_UNIT;
    case N_INTERVAL: return OP_INTERVAL;
    case N_ELEMENT: return OP_ELEMENT_BOOL + (uint32_t)e->b->arrays[n->aux];
    case N_INSIDE: return OP_INSIDE;
    case N_AT: return emit_at_op((k_column)e->b->arrays[n->aux]);
    case N_GET: return OP_GET_BOOL + (uint32_t)n->aux;
    case N_SET: return OP_SET_BOOL + (uint32_t)n->aux;
    case N_LAY: return OP_LAY;
    case N_FOLD: return emit_fold_op(e->b->folds[n->aux]);
    case N_UNFOLD: return OP_UNFOLD;
    case N_LOOK: return OP_LOOK_BOOL + (uint32_t)n->type;
    case N_BOUND: return OP_BOUND;
    case N_NEED: return OP_NEED;
    case N_GIVE_UP: return OP_GIVE_UP;
    case N_COPY: return emit_copy_op(n->type);
    case N_FILL: return emit_fill_op(n->type);
    default: return emit_fused_op(e, n);
  }
}

static uint16_t emit_array_operand(const struct emitter *e, uint32_t array) {
  assert(array < e->b->array_count);
  return (uint16_t)(e->at.arrays + array);
}

static void emit_plain(struct emitter *e, const struct node *n, bool scalar) {
  uint32_t op = emit_plain_op(e, n, scalar), dst = K_NO_OPERAND;
  if (scalar)
    dst = emit_scalar_number(e, n);
  else if (!yields_nothing(n->op))
    dst = emit_operand_number(e, n->location);
  if (n->op == N_COPY && !scalar && emit_operand(e, n->in[0], false) == dst) return;
  k_insn *k = emit_with_operands(e, op, dst, n, scalar);
  if (n->op == N_LOAD || n->op == N_LIVE) k->a = n->aux;
  if (n->op == N_START) k->a = (uint16_t)e->at.start;
  if (n->op == N_ELEMENT || n->op == N_INSIDE || n->op == N_AT || n->op == N_BOUND)
    k->b = emit_array_operand(e, n->aux);
  if (n->op == N_LAY) {
    k->a = emit_array_operand(e, n->aux / MAX_ARRAYS);
    k->b = emit_array_operand(e, n->aux % MAX_ARRAYS);
  }
  if (n->op == N_LOOK) k->b = (uint16_t)(e->at.lookups + n->aux);
  if (n->op == N_FOLD || n->op == N_UNFOLD) k->c = n->aux;
}

static void emit_marks(struct emitter *e, const struct node *n) {
  assert(n->aux < e->b->bitmap_count);
  emit_with_operands(e, OP_EMIT, e->at.bitmaps + n->aux, n, false);
}

static void emit_reduce(struct emitter *e, const struct node *n) {
  uint32_t total = e->at.totals + n->aux / 4u;
  assert(total < e->at.start);
  emit_with_operands(e, emit_reduce_op(n->aux % 4u, n->type), total, n, false);
}

static void emit_note(struct emitter *e, const struct node *n) {
  assert(n->aux < e->b->site_count && e->b->sites[n->aux].type != KT_F32);
  uint32_t op = note_insn((k_type)e->b->sites[n->aux].type);
  for (uint32_t i = 0; i < 2; i++)   /* VS, SV, SS follow VV */
    if (n->in[i] != K_ALL && !node_at(e->b, n->in[i])->varies) op += 2 - i;
  emit_with_operands(e, op, e->at.sites + n->aux, n, false);
}

/* The operand of a list or, after it, of one of its arguments, counted from 1. */
static uint16_t emit_list_operand(const struct emitter *e, uint32_t list, uint32_t argument) {
  assert(list < e->b->list_count && argument <= LIST_ARGUMENTS);
  return (uint16_t)(e->at.lists + list * (LIST_ARGUMENTS + 1) + argument);
}

static uint16_t emit_argument_operand(const struct emitter *e, const struct node *n) {
  return emit_list_operand(e, n->aux / LIST_ARGUMENTS, n->aux % LIST_ARGUMENTS + 1);
}

static void emit_give(struct emitter *e, const struct node *n) {
  uint32_t op = node_at(e->b, n->in[0])->type == KT_F64 ? OP_GIVE_F64 : OP_GIVE_I64;
  k_insn *k = emit_instruction(e, op, emit_argument_operand(e, n));
  k->a = emit_operand(e, n->in[0], false);
}

static void emit_listed(struct emitter *e, const struct node *n) {
  static const uint16_t ops[] = {OP_LIST, OP_PICK, OP_TAKE};
  k_insn *k = emit_instruction(e, ops[n->op - N_LIST], emit_operand_number(e, n->location));
  k->a = n->op == N_TAKE ? emit_argument_operand(e, n) : emit_list_operand(e, n->aux, 0);
  if (n->op == N_PICK) k->b = emit_operand(e, n->in[1], false);
  if (n->op == N_LIST) k->d = emit_operand(e, n->in[3], false);
  k->tag = n->tag;
}

static void emit_value(struct emitter *e, k_value v) {
  const struct node *n = node_at(e->b, v);
  if (is_compare(n->op))
    emit_compare(e, n, emit_operand(e, v, !n->varies), !n->varies);
  else
    emit_plain(e, n, !n->varies);
}

/* Emits the node at position i of the plan. */
static void emit_node(struct emitter *e, int32_t i) {
  k_value v = e->b->plan.items[i];
  const struct node *n = node_at(e->b, v);
  if (!n->live) return;
  switch (n->op) {
    case N_LOOP: emit_loop(e, v); break;
    case N_END: emit_end(e, n); break;
    case N_SKIP: emit_skip(e, i); break;
    case N_LAND: emit_land(e, n); break;
    case N_ROWS:
      node_at(e->b, v)->pc = e->count;
      emit_instruction(e, OP_ROWS, K_NO_OPERAND);
      break;
    case N_ROWS_END: emit_land(e, n); break;
    case N_STORE: emit_store(e, n); break;
    case N_PUT: emit_put(e, n); break;
    case N_EMIT: emit_marks(e, n); break;
    case N_REDUCE: emit_reduce(e, n); break;
    case N_NOTE: emit_note(e, n); break;
    case N_GIVE: emit_give(e, n); break;
    case N_LIST: case N_PICK: case N_TAKE: emit_listed(e, n); break;
    case N_DO_NOTES: emit_instruction(e, OP_DO_NOTES, K_NO_OPERAND); break;
    case N_WHEN:
    case N_NEGATE: emit_when(e, n); break;
    default: emit_value(e, v);
  }
}

/* ---- the program ---- */

/* The greatest number of instructions that the plan can need. */
static uint32_t emit_most_insns(const struct builder *b) {
  uint32_t n = b->plan.count + b->prologue.count;
  for (k_value v = 0; v < b->count; v++)
    n += node_at(b, v)->op == N_CARRY ? 2u : node_at(b, v)->tied;
  return n;
}

static size_t emit_program_size(const struct program *p) {
  return sizeof *p + p->constant_count * sizeof(k_scalar) + p->insn_count * sizeof(k_insn) +
         p->row_count * sizeof(struct row_insn) + p->column_count + p->scalar_count +
         p->total_count + p->array_count + p->lookup_count + p->fold_count +
         p->site_count * sizeof(k_site);
}

/* Rows per block, so that a block's columns and registers stay in the first-level cache. */
static uint32_t emit_block_rows(const struct builder *b) {
  size_t lane = b->reg_count[0] + b->reg_count[1] * (size_t)4 + b->reg_count[2] * (size_t)8;
  for (uint32_t c = 0; c < b->column_count; c++)
    lane += column_size((k_column)b->columns[c]);
  lane += sizeof(double) * 4 * b->list_count;
  if (b->ordered) return MACHINE_SHORT;   /* rows use them repeatedly */
  return lane <= 40 ? 1024 : lane <= 160 ? 512 : 256;
}

/* The program's counts, as far as they are known before its instructions. */
static struct program emit_head(const struct builder *b) {
  return (struct program){
      .memory = b->memory,
      .column_count = (uint16_t)b->column_count,
      .reg1_count = (uint16_t)b->reg_count[0],
      .reg4_count = (uint16_t)b->reg_count[1],
      .reg8_count = (uint16_t)b->reg_count[2],
      .scalar_count = (uint16_t)b->uniform_count,
      .uniform_count = (uint16_t)b->uniform_count,
      .bitmap_count = (uint16_t)b->bitmap_count,
      .total_count = (uint16_t)b->total_count,
      .array_count = (uint16_t)b->array_count,
      .lookup_count = (uint16_t)b->lookup_count,
      .site_count = (uint16_t)b->site_count,
      .fold_count = (uint16_t)b->fold_count,
      .list_count = (uint16_t)b->list_count,
      .block = (uint16_t)emit_block_rows(b),
  };
}

/* Lays out the program's arrays in the memory block after it. */
static struct program *emit_new_program(const struct emitter *e) {
  struct program *p = memory_array(e->b->memory, 1, emit_program_size(&e->head));
  if (!p) return NULL;
  *p = e->head;
  p->constants = (k_scalar *)(void *)(p + 1);
  p->rows = (struct row_insn *)(void *)(p->constants + p->constant_count);
  p->insns = (k_insn *)(void *)(p->rows + p->row_count);
  p->sites = (k_site *)(void *)(p->insns + p->insn_count);
  p->columns = (uint8_t *)(p->sites + p->site_count);
  p->scalars = p->columns + p->column_count;
  p->totals = p->scalars + p->scalar_count;
  p->arrays = p->totals + p->total_count;
  p->lookups = p->arrays + p->array_count;
  p->folds = p->lookups + p->lookup_count;
  return p;
}

/* Whether an instruction uses the set of rows that the run is for. */
static bool emit_takes_start(const struct builder *b) {
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (n->live && (n->op == N_START || n->op == N_PUT)) return true;
  }
  return false;
}

static struct program *emit_make_program(const struct emitter *e) {
  const struct builder *b = e->b;
  struct program *p = emit_new_program(e);
  if (!p) return NULL;
  memcpy(p->insns, e->insns, p->insn_count * sizeof *p->insns);
  memcpy(p->columns, b->columns, p->column_count);
  memcpy(p->totals, b->totals, p->total_count);
  memcpy(p->arrays, b->arrays, p->array_count);
  memcpy(p->lookups, b->lookups, p->lookup_count);
  for (uint32_t i = 0; i < p->fold_count; i++) p->folds[i] = b->folds[i].type;
  memcpy(p->sites, b->sites, p->site_count * sizeof *p->sites);
  for (uint32_t i = 0; i < b->uniform_count; i++)
    p->scalars[i] = b->uniforms[i] == 0 ? KT_F64 : (uint8_t)(b->uniforms[i] - 1);
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    bool constant = n->op == N_CONSTANT && n->live;
    if (constant) p->constants[n->scalar - b->uniform_count] = n->k;
    if (constant || emit_is_computed(n)) p->scalars[n->scalar] = n->type;
  }
  p->whole = program_takes_columns_once(p);
  p->starts = emit_takes_start(b);
  p->loose = b->loose;
  return p;
}

static k_status emit_all(struct emitter *e, struct program **out) {
  const struct builder *b = e->b;
  if (!emit_number_scalars(e)) return K_ELIMIT;
  for (uint32_t i = 0; i < b->prologue.count; i++) emit_value(e, b->prologue.items[i]);
  e->head.prologue = (uint16_t)e->count;
  for (int32_t i = 0; (uint32_t)i < b->plan.count; i++) emit_node(e, i);
  e->head.insn_count = (uint16_t)e->count;
  e->head.row_count = (uint16_t)(b->ordered ? e->count + 1 : 0);
  struct program *p = emit_make_program(e);
  if (!p) return K_ENOMEM;
  if (!program_check(p)) {
    program_free(p);
    return K_EINVAL;
  }
  program_lay_out(p);
  *out = p;
  return K_OK;
}

static k_status plan_emit(struct builder *b, struct program **out) {
  struct emitter e = {.b = b, .capacity = emit_most_insns(b), .head = emit_head(b)};
  if (e.capacity > MAX_INSNS) return K_ELIMIT;
  size_t bytes = ((size_t)e.capacity + 1) * sizeof *e.insns;
  e.insns = memory_resize(b->memory, NULL, 0, bytes);
  if (!e.insns) return K_ENOMEM;
  k_status status = emit_all(&e, out);
  memory_free(b->memory, e.insns, bytes);
  return status;
}

k_status build_finish(struct builder *b, struct program **out) {
  if (!plan_notes(b) || !plan_live(b) || !plan_owners(b) || !plan_fuse(b) || !plan_fill(b) ||
      !plan_order(b) || !plan_regions(b) || !plan_registers(b))
    return b->status;
  k_status status = plan_emit(b, out);
  b->status = status == K_OK ? K_EINVAL : status;  /* the builder is spent */
  return status;
}

void program_free(struct program *p) {
  if (p) memory_free(p->memory, p, emit_program_size(p));
}
