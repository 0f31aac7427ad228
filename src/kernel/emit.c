/* From nodes in their places to instructions, and the finished program. */
#include "kernel/node.h"

#include <string.h>

typedef struct emitter {
  builder *b;
  k_insn *insns;
  int n, size;
  int nslots;  /* uniforms, constants, then scalar registers */
  int nconstants;
  unsigned base[P_NONE];  /* the first place of each class */
} emitter;

static node *at(const emitter *e, int32_t v) {
  return &e->b->nodes[v];
}

/* ---- places and slots ---- */

static unsigned place_number(const emitter *e, unsigned place) {
  return e->base[PLACE_CLASS(place)] + PLACE_NUMBER(place);
}

/* Where operand v is; as a mask, K_ALL is in every row. */
static unsigned operand(const emitter *e, int32_t v, int scalar) {
  if (v == K_NONE) return K_NOWHERE;
  const node *n = at(e, v);
  if (n->varies || (v == K_ALL && !scalar)) return place_number(e, n->place);
  return e->base[P_SLOT] + n->slot;
}

/* A uniform that is computed: by an instruction, or as counter or carry. */
static int has_slot(const node *n) {
  return n->live && !n->varies &&
         (n->op < KO_COUNT || n->op == N_CONVERT || n->op == N_LIMIT ||
          n->op == N_SELECT || n->op == N_UNIT || n->op == N_LOOP || n->op == N_CARRY ||
          n->op == N_COPY);
}

static int number_slots(emitter *e) {
  const builder *b = e->b;
  e->nslots = b->nuniforms;
  for (int32_t v = 0; v < b->n; v++) {
    node *n = at(e, v);
    if (n->op == N_UNIFORM) n->slot = n->aux;
    if (n->op == N_CONSTANT && n->live) n->slot = (uint16_t)e->nslots++;
    if (e->nslots > MAX_SLOTS) return 0;
  }
  e->nconstants = e->nslots - b->nuniforms;
  for (int32_t v = 0; v < b->n; v++) {
    if (has_slot(at(e, v))) at(e, v)->slot = (uint16_t)e->nslots++;
    if (e->nslots > MAX_SLOTS) return 0;
  }
  e->base[P_COLUMN] = 0;
  e->base[P_REG1] = (unsigned)b->ncolumns;
  e->base[P_REG4] = e->base[P_REG1] + (unsigned)b->nreg[0];
  e->base[P_REG8] = e->base[P_REG4] + (unsigned)b->nreg[1];
  e->base[P_SLOT] = e->base[P_REG8] + (unsigned)b->nreg[2];
  e->base[P_ALL] = e->base[P_SLOT] + (unsigned)e->nslots;
  return 1;
}

/* ---- which instruction ---- */

#define TO_F64 (OP_ADD_VV_F64 - OP_ADD_VV_F32)

/* The first of an operation's instructions, for f32 and for i64. */
static unsigned first_of(unsigned op, unsigned type) {
  static const uint16_t floats[KO_COUNT] = {
      [KO_NEG] = OP_NEG_F32,     [KO_ABS] = OP_ABS_F32,      [KO_SQRT] = OP_SQRT_F32,
      [KO_FLOOR] = OP_FLOOR_F32, [KO_CEIL] = OP_CEIL_F32,    [KO_TRUNC] = OP_TRUNC_F32,
      [KO_EXP] = OP_EXP_F32,     [KO_LOG] = OP_LOG_F32,      [KO_SIN] = OP_SIN_F32,
      [KO_COS] = OP_COS_F32,     [KO_LOG2] = OP_LOG2_F32,    [KO_LOG10] = OP_LOG10_F32,
      [KO_TAN] = OP_TAN_F32,     [KO_ASIN] = OP_ASIN_F32,    [KO_ACOS] = OP_ACOS_F32,
      [KO_ADD] = OP_ADD_VV_F32,  [KO_SUB] = OP_SUB_VV_F32,   [KO_MUL] = OP_MUL_VV_F32,
      [KO_DIV] = OP_DIV_VV_F32,  [KO_IDIV] = OP_IDIV_VV_F32, [KO_MOD] = OP_MOD_VV_F32,
      [KO_POW] = OP_POW_VV_F32,  [KO_FMOD] = OP_FMOD_VV_F32, [KO_ATAN2] = OP_ATAN2_VV_F32,
      [KO_MIN] = OP_MIN_VV_F32,  [KO_MAX] = OP_MAX_VV_F32};
  static const uint16_t others[KO_COUNT] = {[KO_NEG] = OP_NEG_I64,
                                            [KO_ABS] = OP_ABS_I64,
                                            [KO_BNOT] = OP_BNOT_I64,
                                            [KO_NOT] = OP_NOT,
                                            [KO_ADD] = OP_ADD_VV_I64,
                                            [KO_SUB] = OP_SUB_VV_I64,
                                            [KO_MUL] = OP_MUL_VV_I64,
                                            [KO_IDIV] = OP_IDIV_VV_I64,
                                            [KO_MOD] = OP_MOD_VV_I64,
                                            [KO_FMOD] = OP_FMOD_VV_I64,
                                            [KO_MIN] = OP_MIN_VV_I64,
                                            [KO_MAX] = OP_MAX_VV_I64,
                                            [KO_BAND] = OP_BAND_VV_I64,
                                            [KO_BOR] = OP_BOR_VV_I64,
                                            [KO_BXOR] = OP_BXOR_VV_I64,
                                            [KO_SHL] = OP_SHL_VV_I64,
                                            [KO_SHR] = OP_SHR_VV_I64,
                                            [KO_AND] = OP_AND,
                                            [KO_OR] = OP_OR,
                                            [KO_XOR] = OP_XOR,
                                            [KO_ANDN] = OP_ANDN,
                                            [KO_ULT] = OP_ULT_VV_I64};
  if (type == KT_F32) return floats[op];
  return type == KT_F64 ? floats[op] + (unsigned)TO_F64 : others[op];
}

/* One of a group that has an f32, an f64 and an i64 member. */
static unsigned of_type(unsigned f32, unsigned i64, unsigned type) {
  return type == KT_I64 ? i64 : type == KT_F64 ? f32 + (unsigned)TO_F64 : f32;
}

/* Added to the first of VV, VS, SV; what is done once is VV on slots. */
static unsigned kinds(const emitter *e, int32_t x, int32_t y, int scalar) {
  if (scalar) return 0;
  return !at(e, x)->varies ? 2 : !at(e, y)->varies ? 1 : 0;
}

static unsigned copy_op(unsigned type) {
  return type == KT_BOOL ? OP_COPY_BOOL : of_type(OP_COPY_F32, OP_COPY_I64, type);
}

static unsigned fill_op(unsigned type) {
  return type == KT_BOOL ? OP_FILL_BOOL : of_type(OP_FILL_F32, OP_FILL_I64, type);
}

static unsigned convert_op(unsigned from, unsigned to) {
  if (to == KT_F32) return from == KT_F64 ? OP_F32_OF_F64 : OP_F32_OF_I64;
  return from == KT_F32 ? OP_F64_OF_F32 : OP_F64_OF_I64;
}

static unsigned reduce_op(unsigned how, unsigned type) {
  unsigned first = how == KR_SUM ? OP_SUM_F64 : how == KR_MIN ? OP_MIN_F64 : OP_MAX_F64;
  return first + (type == KT_I64);
}

/* Turns x < y with a scalar x around; the comparison's number among LT LE EQ NE GT GE. */
static unsigned compare_kind(const emitter *e, unsigned op, int32_t *x, int32_t *y,
                             int scalar) {
  enum { LT, LE, EQ, NE, GT, GE };
  int turn = !scalar && !at(e, *x)->varies;
  if (turn) {
    int32_t swap = *x;
    *x = *y;
    *y = swap;
  }
  switch (op) {
    case KO_LT: return turn ? GT : LT;
    case KO_LE: return turn ? GE : LE;
    case KO_GT: return turn ? LT : GT;
    case KO_GE: return turn ? LE : GE;
    default: return op == KO_EQ ? EQ : NE;
  }
}

/* ---- instructions ---- */

static k_insn *emit(emitter *e, unsigned op, unsigned dst) {
  k_insn *k = &e->insns[e->n++];
  memset(k, 0, sizeof *k);
  k->op = (uint16_t)op;
  k->dst = (uint16_t)dst;
  k->a = k->b = k->c = k->d = K_NOWHERE;
  return k;
}

/* v is put at `place`, unless it is there. */
static void emit_copy(emitter *e, unsigned dst, int32_t v, unsigned type) {
  unsigned from = operand(e, v, 0);
  if (from == dst) return;
  int register_like = at(e, v)->varies || v == K_ALL;
  emit(e, register_like ? copy_op(type) : fill_op(type), dst)->a = (uint16_t)from;
}

static void emit_scalar_copy(emitter *e, unsigned slot, int32_t v, unsigned type) {
  k_insn *k = emit(e, copy_op(type) | OP_SCALAR, e->base[P_SLOT] + slot);
  k->a = (uint16_t)operand(e, v, 1);
}

static void emit_carry(emitter *e, int32_t carry, int32_t v) {
  const node *n = at(e, carry);
  if (v == K_NONE || v == carry) return;
  if (n->varies)
    emit_copy(e, place_number(e, n->place), v, n->type);
  else
    emit_scalar_copy(e, n->slot, v, n->type);
}

static void emit_carries(emitter *e, int32_t loop, int which) {
  for (int32_t v = loop + 1; v < at(e, loop)->end; v++) {
    const node *n = at(e, v);
    if (n->op == N_CARRY && n->live && n->home == loop) emit_carry(e, v, n->in[which]);
  }
}

static void emit_loop(emitter *e, int32_t v) {
  node *n = at(e, v);
  emit_carries(e, v, 0);
  n->pc = e->n;
  k_insn *k = emit(e, OP_LOOP, operand(e, v, 1));
  k->a = (uint16_t)operand(e, n->in[0], 1);
  k->b = (uint16_t)operand(e, n->in[1], 0);
}

static void emit_end(emitter *e, int32_t v) {
  const node *n = at(e, v);
  int32_t loop = n->in[0];
  emit_carries(e, loop, 1);
  k_insn *begin = &e->insns[at(e, loop)->pc];
  begin->c = (uint16_t)e->n;
  k_insn *k = emit(e, OP_END, begin->dst);
  k->a = begin->a;
  k->b = (uint16_t)operand(e, n->in[1], 0);
  k->c = (uint16_t)at(e, loop)->pc;
}

/* Before the skip at position i of the plan, what is left of its selects when it is
** taken. */
static void emit_skip(emitter *e, int32_t i) {
  const builder *b = e->b;
  node *skip = at(e, b->plan.v[i]);
  for (int32_t j = i + 1; at(e, b->plan.v[j])->op != N_LAND; j++) {
    const node *n = at(e, b->plan.v[j]);
    if (n->live && n->tied) emit_copy(e, place_number(e, n->place), n->in[2], n->type);
  }
  skip->pc = e->n;
  emit(e, OP_SKIP, K_NOWHERE)->a = (uint16_t)operand(e, skip->in[0], 0);
}

static void emit_store(emitter *e, const node *n) {
  unsigned column = e->b->columns[n->aux];
  if (column < KC_I8 || column > KC_U32) {
    emit_copy(e, n->aux, n->in[0], column_value((k_column)column));
    return;
  }
  k_insn *k = emit(e, OP_STORE_I8 + (column - KC_I8), n->aux);
  k->a = (uint16_t)operand(e, n->in[0], 0);
}

static void emit_compare(emitter *e, const node *n, unsigned dst, int scalar) {
  int32_t x = n->in[0], y = n->in[1];
  unsigned tx = at(e, x)->type, ty = at(e, y)->type;
  unsigned op;
  if (tx != ty) {  /* i64 beside f64; in OP_MIXED's order */
    static const uint8_t turn[6] = {2, 3, 0, 1, 4, 5};  /* of EQ NE LT LE GT GE */
    op = OP_LT_VV_MIX + 3u * turn[n->op - KO_EQ] + kinds(e, x, y, scalar);
  } else {
    unsigned kind = compare_kind(e, n->op, &x, &y, scalar);
    int vv = scalar || at(e, y)->varies;
    op = vv ? of_type(OP_LT_VV_F32, OP_LT_VV_I64, tx)
            : of_type(OP_LT_VS_F32, OP_LT_VS_I64, tx);
    op += kind;
  }
  k_insn *k = emit(e, scalar ? op | OP_SCALAR : op, dst);
  k->a = (uint16_t)operand(e, x, scalar);
  k->b = (uint16_t)operand(e, y, scalar);
}

/* The first instruction of a joined select, for comparisons with a varying y or a
** scalar. */
static unsigned first_when(int negates, int scalar, unsigned type) {
  if (negates)
    return scalar ? of_type(OP_NEGLT_VS_F32, OP_NEGLT_VS_I64, type)
                  : of_type(OP_NEGLT_VV_F32, OP_NEGLT_VV_I64, type);
  return scalar ? of_type(OP_IFLT_VS_VV_F32, OP_IFLT_VS_VV_I64, type)
                : of_type(OP_IFLT_VV_VV_F32, OP_IFLT_VV_VV_I64, type);
}

static void emit_when(emitter *e, const node *n, unsigned dst) {
  int32_t x = n->in[0], y = n->in[1];
  int negates = n->op == N_NEGATE;
  unsigned kind = compare_kind(e, n->aux, &x, &y, 0);
  unsigned which = kind >= 4 ? kind - 1 : kind;  /* LT LE EQ GT GE */
  unsigned op = first_when(negates, !at(e, y)->varies, n->type);
  op += negates ? which : 3 * which + kinds(e, n->in[2], n->in[3], 0);
  k_insn *k = emit(e, op, dst);
  k->a = (uint16_t)operand(e, x, 0);
  k->b = (uint16_t)operand(e, y, 0);
  k->c = (uint16_t)operand(e, n->in[2], 0);
  k->d = (uint16_t)operand(e, n->in[3], 0);
}

static unsigned fused_op(const emitter *e, const node *n) {
  switch (n->op) {
    case N_MULADD:
    case N_MULDIFF: {
      unsigned first = n->op == N_MULADD ? OP_MULADD_VVVV_F32 : OP_MULDIFF_VVVV_F32;
      return of_type(first, 0, n->type) + !at(e, n->in[1])->varies;
    }
    default: {
      unsigned first = n->op == N_ADDMUL   ? OP_ADDMUL_VVV_F32
                       : n->op == N_SUBMUL ? OP_SUBMUL_VVV_F32
                                           : OP_MULSUB_VVV_F32;
      return of_type(first, 0, n->type) + !at(e, n->in[2])->varies +
             2u * !at(e, n->in[0])->varies;
    }
  }
}

/* The instruction of a node whose operands are its `in`, in order. */
static unsigned plain_op(const emitter *e, const node *n, int scalar) {
  unsigned from = n->in[0] > K_NONE ? at(e, n->in[0])->type : (unsigned)KT_BOOL;
  switch (n->op) {
    case N_LOAD: return OP_LOAD_I8 + (unsigned)(e->b->columns[n->aux] - KC_I8);
    case N_LIVE: return OP_LIVE;
    case N_CONVERT: return convert_op(from, n->type);
    case N_LIMIT: return (n->type == KT_F32 ? OP_UP_F32 : OP_UP_F64) + (unsigned)n->aux;
    case N_EXACT:
      return of_type(n->aux == KE_FRACTION ? OP_WHOLE_F32 : OP_EXACT_F32, 0, from);
    case N_RANGE: return OP_RANGE_I8 + (unsigned)(n->aux - KC_I8);
    case N_SELECT:
      if (n->type == KT_BOOL) return OP_SELECT_BOOL;
      return of_type(OP_SELECT_VV_F32, OP_SELECT_VV_I64, n->type) +
             kinds(e, n->in[1], n->in[2], scalar);
    case N_RANDOM: return at(e, n->in[1])->varies ? OP_RANDOM_VV : OP_RANDOM_VS;
    case N_UNIT: return OP_UNIT;
    case N_INTERVAL: return OP_INTERVAL;
    case N_COPY: return copy_op(n->type);
    case N_FILL: return fill_op(n->type);
    case N_ADDMUL:
    case N_SUBMUL:
    case N_MULSUB:
    case N_MULADD:
    case N_MULDIFF: return fused_op(e, n);
    case KO_ULT: return OP_ULT_VV_I64;
    case KO_FLOOR:
    case KO_CEIL: return first_of(n->op, from);
    default:
      if (n->in[1] == K_NONE || n->type == KT_BOOL) return first_of(n->op, n->type);
      return first_of(n->op, n->type) + kinds(e, n->in[0], n->in[1], scalar);
  }
}

/* SELECT_VV, VS, SV stand in the order of kinds() though it is b and c that they tell
** of. */
static void emit_plain(emitter *e, const node *n, int scalar) {
  unsigned op = plain_op(e, n, scalar);
  unsigned dst = K_NOWHERE;
  if (scalar)
    dst = e->base[P_SLOT] + n->slot;
  else if (n->op != N_RANGE)
    dst = place_number(e, n->place);
  if (n->op == N_COPY && !scalar && operand(e, n->in[0], 0) == dst) return;
  k_insn *k = emit(e, scalar ? op | OP_SCALAR : op, dst);
  int column = n->op == N_LOAD || n->op == N_LIVE;
  k->a = column ? n->aux : (uint16_t)operand(e, n->in[0], scalar);
  k->b = (uint16_t)operand(e, n->in[1], scalar);
  k->c = (uint16_t)operand(e, n->in[2], scalar);
  k->d = (uint16_t)operand(e, n->in[3], scalar);
  k->tag = n->tag;
}

static void emit_marks(emitter *e, const node *n) {
  k_insn *k = emit(e, OP_EMIT, e->base[P_ALL] + 1 + n->aux);
  k->a = (uint16_t)operand(e, n->in[0], 0);
}

static void emit_reduce(emitter *e, const node *n) {
  unsigned totals = e->base[P_ALL] + 1 + (unsigned)e->b->nbitmaps;
  k_insn *k = emit(e, reduce_op(n->aux % 4, n->type), totals + n->aux / 4);
  k->a = (uint16_t)operand(e, n->in[0], 0);
  k->d = (uint16_t)operand(e, n->in[3], 0);
}

static void emit_node(emitter *e, int32_t i) {
  int32_t v = e->b->plan.v[i];
  const node *n = at(e, v);
  if (!n->live) return;
  switch (n->op) {
    case N_LOOP: emit_loop(e, v); break;
    case N_END: emit_end(e, v); break;
    case N_SKIP: emit_skip(e, i); break;
    case N_LAND: e->insns[at(e, n->in[0])->pc].c = (uint16_t)e->n; break;
    case N_STORE: emit_store(e, n); break;
    case N_EMIT: emit_marks(e, n); break;
    case N_REDUCE: emit_reduce(e, n); break;
    case N_WHEN:
    case N_NEGATE: emit_when(e, n, place_number(e, n->place)); break;
    default:
      if (is_compare(n->op))
        emit_compare(e, n, operand(e, v, 0), !n->varies);
      else
        emit_plain(e, n, !n->varies);
  }
}

/* ---- the program ---- */

/* The smallest number of instructions that the plan surely fits in. */
static int most_insns(const builder *b) {
  int n = b->plan.n + b->scalars.n;
  for (int32_t v = 0; v < b->n; v++)
    n += b->nodes[v].op == N_CARRY ? 2 : b->nodes[v].tied;
  return n;
}

static size_t program_size(const program *p) {
  return sizeof *p + p->nconstants * sizeof(k_scalar) + p->ninsns * sizeof(k_insn) +
         p->ncolumns + p->nslots + p->ntotals;
}

/* Rows per block, such that a block's columns and registers stay in the first cache. */
static unsigned block_rows(const builder *b) {
  size_t lane = (size_t)b->nreg[0] + (size_t)b->nreg[1] * 4 + (size_t)b->nreg[2] * 8;
  for (int c = 0; c < b->ncolumns; c++) lane += column_size((k_column)b->columns[c]);
  return lane <= 40 ? 1024 : lane <= 160 ? 512 : 256;
}

/* Does each column appear in one instruction only, and nothing else but scalars? */
static int takes_columns_once(const program *p) {
  k_places at = program_places(p);
  unsigned seen[MAX_COLUMNS] = {0};
  if (p->nreg1 + p->nreg4 + p->nreg8 > 0) return 0;
  for (unsigned pc = p->prologue; pc < p->ninsns; pc++) {
    const k_insn *k = &p->insns[pc];
    uint16_t places[5] = {k->dst, k->a, k->b, k->c, k->d};
    if (k->op >= OP_CONTROLS) return 0;
    for (int i = 0; i < 5; i++) {
      if (places[i] == at.all) return 0;
      if (places[i] >= p->ncolumns) continue;
      if (seen[places[i]] != 0 && seen[places[i]] != pc + 1) return 0;
      seen[places[i]] = pc + 1;
    }
  }
  return 1;
}

static program *make_program(const emitter *e, int prologue) {
  const builder *b = e->b;
  program head;
  memset(&head, 0, sizeof head);
  head.mem = b->mem;
  head.ncolumns = (uint16_t)b->ncolumns;
  head.nreg1 = (uint16_t)b->nreg[0];
  head.nreg4 = (uint16_t)b->nreg[1];
  head.nreg8 = (uint16_t)b->nreg[2];
  head.nslots = (uint16_t)e->nslots;
  head.nuniforms = (uint16_t)b->nuniforms;
  head.nconstants = (uint16_t)e->nconstants;
  head.nbitmaps = (uint16_t)b->nbitmaps;
  head.ntotals = (uint16_t)b->ntotals;
  head.block = (uint16_t)block_rows(b);
  head.ninsns = (uint16_t)e->n;
  head.prologue = (uint16_t)prologue;
  program *p = b->mem.alloc(b->mem.ud, NULL, 0, program_size(&head));
  if (!p) return NULL;
  *p = head;
  p->constants = (k_scalar *)(void *)(p + 1);
  p->insns = (k_insn *)(void *)(p->constants + p->nconstants);
  p->columns = (uint8_t *)(p->insns + p->ninsns);
  p->slots = p->columns + p->ncolumns;
  p->totals = p->slots + p->nslots;
  memcpy(p->insns, e->insns, p->ninsns * sizeof *p->insns);
  memcpy(p->columns, b->columns, p->ncolumns);
  memcpy(p->totals, b->totals, p->ntotals);
  for (int i = 0; i < b->nuniforms; i++)
    p->slots[i] = b->uniforms[i] == 0 ? KT_F64 : (uint8_t)(b->uniforms[i] - 1);
  for (int32_t v = 0; v < b->n; v++) {
    const node *n = at(e, v);
    if (n->op == N_CONSTANT && n->live) p->constants[n->slot - b->nuniforms] = n->k;
    if ((n->op == N_CONSTANT && n->live) || has_slot(n)) p->slots[n->slot] = n->type;
  }
  p->whole = (uint16_t)takes_columns_once(p);
  return p;
}

static k_status emit_all(emitter *e, program **out) {
  const builder *b = e->b;
  if (!number_slots(e)) return K_ELIMIT;
  for (int32_t i = 0; i < b->scalars.n; i++) {
    const node *n = at(e, b->scalars.v[i]);
    if (is_compare(n->op))
      emit_compare(e, n, e->base[P_SLOT] + n->slot, 1);
    else
      emit_plain(e, n, 1);
  }
  int prologue = e->n;
  for (int32_t i = 0; i < b->plan.n; i++) emit_node(e, i);
  program *p = make_program(e, prologue);
  if (!p) return K_ENOMEM;
  if (!program_check(p)) {
    program_free(p);
    return K_EINVAL;
  }
  *out = p;
  return K_OK;
}

k_status plan_emit(builder *b, program **out) {
  emitter e;
  memset(&e, 0, sizeof e);
  e.b = b;
  e.size = most_insns(b);
  if (e.size > MAX_INSNS) return K_ELIMIT;
  size_t bytes = ((size_t)e.size + 1) * sizeof *e.insns;
  e.insns = b->mem.alloc(b->mem.ud, NULL, 0, bytes);
  if (!e.insns) return K_ENOMEM;
  k_status status = emit_all(&e, out);
  b->mem.alloc(b->mem.ud, e.insns, bytes, 0);
  return status;
}

k_status build_finish(builder *b, program **out) {
  if (!plan_live(b) || !plan_fuse(b) || !plan_fill(b) || !plan_order(b) ||
      !plan_regions(b) || !plan_places(b))
    return b->status;
  b->status = plan_emit(b, out);
  k_status status = b->status;
  if (status == K_OK) b->status = K_EINVAL;  /* spent */
  return status;
}

void program_free(program *p) {
  if (!p) return;
  k_memory mem = p->mem;
  mem.alloc(mem.ud, p, program_size(p), 0);
}
