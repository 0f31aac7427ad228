/* The check that every program passes before it runs. One walk in program order tracks what each
** register and scalar holds. At a loop's head, a register that the body sets to another type holds
** nothing, so one walk covers any number of rounds; where a skip lands, only what both paths agree
** on remains. */
#include "kernel/ops.h"

const struct op_info op_table[OP_COUNT] = {
#define OP(name, text, signature, error) {text, signature, error},
#include "kernel/ops.def"
};

/* ---- what operands hold ---- */

enum { OPERANDS = MAX_COLUMNS + 3 * MAX_REGISTERS + MAX_SCALARS, UNSET = 0xff };

/* An open loop or skip: the instructions in it. */
struct code_stretch {
  uint32_t begin, end;      /* number of its first instruction; of its end or target */
  bool loop;
  uint8_t held[OPERANDS];   /* what operands held at its begin */
};

struct checker {
  const struct program *p;
  struct numbering at;
  uint32_t pc, depth;
  bool written;             /* a column was written, or the ordered part has ended */
  uint32_t fold_at[MAX_FOLDS];   /* the instruction of each fold that must be undone, or NONE */
  bool folding;             /* there are such folds: only what follows them may fail */
  uint32_t rows_end;        /* where the ordered part ends; 0 outside it */
  uint8_t held[OPERANDS];   /* k_type, KC_CELLS | k_column, or UNSET; not used for columns */
  struct code_stretch open[MAX_DEPTH];
};

static struct code_stretch *checker_innermost(struct checker *c) {
  assert(c->depth <= MAX_DEPTH);
  return c->depth > 0 ? &c->open[c->depth - 1] : NULL;
}

static bool checker_is_scalar(const struct checker *c, uint32_t operand) {
  return operand >= c->at.scalars && operand < c->at.all;
}

/* The k_type that a letter stands for, for registers (lower case) and scalars (upper case); or
** -1. */
static int checker_letter_type(char letter) {
  static const char letters[] = "mfdiMFDI";   /* in the order of k_type */
  const char *at = memchr(letters, letter, sizeof letters - 1);
  return at ? (int)(at - letters) % 4 : -1;
}

static bool checker_column_fits(k_column column, char letter) {
  if (letter >= '1' && letter <= '6') return (int)column == KC_I8 + (letter - '1');
  if (column == KC_ENTITY) return letter == 'e' || letter == 'i';
  return column <= KC_I64 && (int)column == checker_letter_type(letter);
}

static bool checker_register_fits(const struct checker *c, uint32_t operand, char letter) {
  switch (letter) {
    case 'm': return operand >= c->at.reg1 && operand < c->at.reg4;
    case 'f': return operand >= c->at.reg4 && operand < c->at.reg8;
    case 'd':
    case 'c':
    case 'k':
    case 'i': return operand >= c->at.reg8 && operand < c->at.scalars;
    default: return false;
  }
}

static bool checker_scalar_holds(const struct checker *c, uint32_t operand, int type) {
  return checker_is_scalar(c, operand) && type >= 0 && c->held[operand] == type;
}

/* Whether the operand can be read as a letter of the signature says. */
static bool checker_reads(const struct checker *c, uint32_t operand, char letter, bool scalar) {
  int type = checker_letter_type(letter);
  if (letter == '-') return operand == K_NO_OPERAND;
  if (letter == 'b') return !scalar && operand == c->at.start && c->p->starts;
  if (strchr("cojknlpqa", letter)) return true;   /* the operand is checked where it is used */
  if (scalar || strchr("MFDI", letter)) return checker_scalar_holds(c, operand, type);
  if (operand < c->at.reg1) return checker_column_fits((k_column)c->p->columns[operand], letter);
  if (operand == c->at.all) return letter == 'm' && !c->p->whole;
  return checker_register_fits(c, operand, letter) && c->held[operand] == type;
}

/* Sets a scalar, except uniforms, constants, and the counters and round numbers of open loops, so
** that loops end. */
static bool checker_set_scalar(struct checker *c, uint32_t operand, int type) {
  if (!checker_is_scalar(c, operand)) return false;
  for (uint32_t i = 0; i < c->depth; i++) {
    const k_insn *k = &c->p->insns[c->open[i].begin];
    if (c->open[i].loop && (operand == k->dst || operand == k->a)) return false;
  }
  uint32_t number = operand - c->at.scalars;
  if (number < (uint32_t)c->p->uniform_count + c->p->constant_count) return false;
  if (type < 0 || c->p->scalars[number] != type) return false;
  c->held[operand] = (uint8_t)type;
  return true;
}

static bool checker_sets_total(const struct checker *c, uint32_t operand, uint32_t op) {
  uint32_t how = (op - OP_SUM_F64) / 2, kind = how * 4 + (op - OP_SUM_F64) % 2 + KT_F64;
  return operand >= c->at.totals && operand < c->at.start &&
         c->p->totals[operand - c->at.totals] == kind;
}

static bool checker_sets_site(const struct checker *c, uint32_t operand, uint32_t op) {
  k_type type = note_type(op);
  return operand >= c->at.sites && operand < c->at.lists &&
         c->p->sites[operand - c->at.sites].type == type;
}

/* Whether an operand is a list or, with `argument`, an argument of one. */
static bool checker_is_list(const struct checker *c, uint32_t operand, bool argument) {
  if (operand < c->at.lists || operand >= c->at.count) return false;
  return ((operand - c->at.lists) % (LIST_ARGUMENTS + 1) != 0) == argument;
}

/* Whether an instruction can yield addresses of cells, of the type of its array or lookup. */
static bool checker_sets_cell(struct checker *c, const k_insn *k, uint32_t op) {
  static const uint8_t sizes[] = {1, 2, 4, 8};
  if (!checker_register_fits(c, k->dst, 'c')) return false;
  if (op == OP_LOOK_CELL) {
    c->held[k->dst] = c->p->lookups[k->b - c->at.lookups];
    return true;
  }
  assert(op >= OP_AT_1 && op <= OP_AT_8);
  uint8_t type = c->p->arrays[k->b - c->at.arrays];
  if (type >= KC_ENTITY || column_size((k_column)type) != sizes[op - OP_AT_1]) return false;
  c->held[k->dst] = KC_CELLS | type;
  return true;
}

/* Whether the cells that an instruction takes, if any, have the type that it needs. */
static bool checker_cell_fits(const struct checker *c, const k_insn *k, uint32_t op) {
  uint32_t operand = k->a, type = op - (is_set(op) ? OP_SET_BOOL : OP_GET_BOOL);
  bool folds = is_fold(op) || op == OP_UNFOLD;
  uint8_t held = UNSET;
  if (is_note(op)) {
    if (!checker_sets_site(c, k->dst, op)) return false;
    uint8_t cell = c->p->sites[k->dst - c->at.sites].cell;
    if ((cell != 0) != (k->c != K_NO_OPERAND)) return false;
    if (cell == 0) return true;
    operand = k->c;
    type = cell - 1u;
  } else if (op_table[op].signature[1] != 'c') {
    return true;
  }
  if (folds && k->c >= c->p->fold_count) return false;
  if (folds) type = c->p->folds[k->c];
  if (is_fold(op) && fold_column(op) != type) return false;
  if (operand < c->at.reg1)
    held = c->p->columns[operand];
  else if (checker_register_fits(c, operand, 'c'))
    held = c->held[operand];
  return (folds || c->rows_end) && held == (KC_CELLS | type);
}

/* Whether the instruction can write to its operand dst, which then holds the result. */
static bool checker_writes(struct checker *c, const k_insn *k, bool scalar) {
  uint32_t operand = k->dst, op = OP_NUMBER(k->op);
  char letter = op_table[op].signature[0];
  switch (letter) {
    case '-': return operand == K_NO_OPERAND;
    case 'x': return operand >= c->at.bitmaps && operand < c->at.totals;
    case 'I': return checker_set_scalar(c, operand, KT_I64);
    case 'c': return checker_sets_cell(c, k, op);
    case 't': return checker_sets_total(c, operand, op);
    case 's': return checker_sets_site(c, operand, op);
    case 'q': return checker_is_list(c, operand, true);
    default: break;
  }
  if (scalar) return checker_set_scalar(c, operand, checker_letter_type(letter));
  if (operand < c->at.reg1) {
    c->written = true;
    return checker_column_fits((k_column)c->p->columns[operand], letter);
  }
  if (!checker_register_fits(c, operand, letter)) return false;
  c->held[operand] = (uint8_t)checker_letter_type(letter);
  return true;
}

/* Whether the array that an instruction indexes, if any, has elements of the right type. */
static bool checker_array_fits(const struct checker *c, const k_insn *k, uint32_t op) {
  if (op_table[op].signature[2] != 'a') return true;
  if (k->b < c->at.arrays || k->b >= c->at.lookups) return false;
  if (op == OP_LAY)
    return c->rows_end && k->a >= c->at.arrays && k->a < c->at.lookups &&
           c->p->arrays[k->a - c->at.arrays] == c->p->arrays[k->b - c->at.arrays];
  if (op == OP_INSIDE || op == OP_BOUND || (op >= OP_AT_1 && op <= OP_AT_8)) return true;
  return c->p->arrays[k->b - c->at.arrays] == op - OP_ELEMENT_BOOL;
}

/* Whether the operand of a lookup has the lookup's type. */
static bool checker_lookup_fits(const struct checker *c, const k_insn *k, uint32_t op) {
  if (op_table[op].signature[2] != 'l') return true;
  if (k->b < c->at.lookups || k->b >= c->at.sites) return false;
  uint8_t type = c->p->lookups[k->b - c->at.lookups];
  return op == OP_LOOK_CELL ? type >= KC_CELLS : type == op - OP_LOOK_BOOL;
}

/* Whether the operand that must be a list is one. */
static bool checker_list_fits(const struct checker *c, const k_insn *k, uint32_t op) {
  char letter = op_table[op].signature[1];
  return (letter != 'p' && letter != 'q') || checker_is_list(c, k->a, letter == 'q');
}

/* ---- loops and skips ---- */

/* Forgets what two paths do not agree on. Columns are not considered. */
static void checker_meet(struct checker *c, const uint8_t *other) {
  for (uint32_t i = c->at.reg1; i < c->at.all; i++)
    if (c->held[i] != other[i]) c->held[i] = UNSET;
}

/* Enters a loop's body: what it sets to another type becomes unset; a column written in one round
** counts as written when something fails in the next. */
static bool checker_enter_body(struct checker *c, uint32_t begin, uint32_t end) {
  bool fails = false, writes_column = false;
  for (uint32_t pc = begin + 1; pc < end; pc++) {
    const k_insn *k = &c->p->insns[pc];
    uint32_t op = OP_NUMBER(k->op);
    if (op >= OP_COUNT) return false;
    char letter = op_table[op].signature[0];
    if (op_table[op].error) fails = true;
    if (k->dst < c->at.reg1)
      writes_column = true;
    else if (k->dst < c->at.all && c->held[k->dst] != checker_letter_type(letter))
      c->held[k->dst] = UNSET;
  }
  return !(fails && writes_column);
}

static bool checker_open_stretch(struct checker *c, uint32_t end, bool loop) {
  const struct code_stretch *outer = checker_innermost(c);
  if (c->depth == MAX_DEPTH || (outer && end + loop > outer->end)) return false;
  struct code_stretch *inner = &c->open[c->depth++];
  inner->begin = c->pc;
  inner->end = end;
  inner->loop = loop;
  memcpy(inner->held, c->held, sizeof inner->held);
  return true;
}

static bool checker_begin_loop(struct checker *c, const k_insn *k) {
  const struct program *p = c->p;
  if (k->c <= c->pc || k->c >= p->insn_count) return false;
  const k_insn *end = &p->insns[k->c];
  if (end->op != OP_END || end->c != c->pc) return false;
  if (end->dst != k->dst || end->a != k->a || k->dst == k->a) return false;
  return checker_enter_body(c, c->pc, k->c) && checker_open_stretch(c, k->c, true);
}

static bool checker_end_loop(struct checker *c, const k_insn *k) {
  const struct code_stretch *loop = checker_innermost(c);
  if (!loop || !loop->loop || loop->end != c->pc || loop->begin != k->c) return false;
  c->depth--;
  checker_meet(c, loop->held);
  return true;
}

/* Ends the skips that land here. */
static void checker_end_skips(struct checker *c) {
  const struct code_stretch *skip = checker_innermost(c);
  for (; skip && !skip->loop && skip->end == c->pc; skip = checker_innermost(c)) {
    c->depth--;
    checker_meet(c, skip->held);
  }
}

/* The ordered part must not be inside a loop, a skip or another one; nothing after it may fail. */
static bool checker_begin_rows(struct checker *c, const k_insn *k) {
  if (c->depth > 0 || c->rows_end || c->p->whole) return false;
  if (k->c <= c->pc || k->c > c->p->insn_count) return false;
  c->rows_end = k->c;
  return true;
}

/* Ends the ordered part; false inside a loop or skip. */
static bool checker_end_rows(struct checker *c) {
  if (!c->rows_end || c->rows_end != c->pc) return true;
  c->rows_end = 0;
  c->written = true;
  return c->depth == 0;
}

/* A fold outside the ordered part must not be in a loop or skip. */
static bool checker_fold(struct checker *c, const k_insn *k) {
  if (c->rows_end) return true;
  if (c->depth > 0 || c->fold_at[k->c] != NONE) return false;
  c->fold_at[k->c] = c->pc;
  c->folding = true;
  return true;
}

/* A fold must be undone with its own operands, unchanged since then; nothing may fail after
** that. */
static bool checker_unfold(struct checker *c, const k_insn *k) {
  uint32_t at = c->fold_at[k->c];
  if (c->rows_end || c->depth > 0 || at == NONE) return false;
  const k_insn *fold = &c->p->insns[at];
  if (fold->a != k->a || fold->dst != k->b || fold->d != k->d) return false;
  for (uint32_t pc = at + 1; pc < c->pc; pc++) {
    uint32_t other = c->p->insns[pc].dst;
    if (other == k->a || other == k->b || other == k->d) return false;
  }
  c->fold_at[k->c] = NONE;
  c->written = true;
  return true;
}

static bool checker_control(struct checker *c, const k_insn *k) {
  switch (k->op) {
    case OP_LOOP: return checker_begin_loop(c, k);
    case OP_SKIP:
      return k->c > c->pc && k->c <= c->p->insn_count && checker_open_stretch(c, k->c, false);
    case OP_LIVE:
    case OP_GIVE_F64:
    case OP_GIVE_I64:
    case OP_TAKE:
    case OP_LIST:
    case OP_PICK:
    case OP_LAY: return true;
    case OP_DO_NOTES: return c->depth == 0;
    case OP_ROWS: return checker_begin_rows(c, k);
    case OP_UNFOLD: return checker_unfold(c, k);
    default: return is_note(k->op) || (k->op >= OP_LOOK_BOOL && k->op <= OP_LOOK_CELL);
  }
}

/* ---- programs ---- */

/* Whether the instruction is allowed at this point. */
static bool checker_may_stand(const struct checker *c, uint32_t op, bool scalar) {
  if (op >= OP_COUNT) return false;
  const struct op_info *info = &op_table[op];
  if (scalar && (op >= OP_CONTROLS || checker_letter_type(info->signature[0]) < 0)) return false;
  if (scalar && info->error) return false;
  if (!scalar && c->pc < c->p->prologue) return false;
  if (c->rows_end && strpbrk(info->signature, "tb")) return false;
  bool follows = c->rows_end || is_fold(op) || op == OP_ROWS || op == OP_DO_NOTES;
  return !info->error || (!c->written && (!c->folding || follows));
}

static bool checker_instruction(struct checker *c, const k_insn *k) {
  checker_end_skips(c);
  if (!checker_end_rows(c)) return false;
  bool scalar = (k->op & OP_SCALAR) != 0;
  uint32_t op = OP_NUMBER(k->op);
  if (!checker_may_stand(c, op, scalar)) return false;
  const char *s = op_table[op].signature;
  if (!checker_reads(c, k->a, s[1], scalar) || !checker_reads(c, k->b, s[2], scalar) ||
      !checker_reads(c, k->c, s[3], scalar) || !checker_reads(c, k->d, s[4], scalar))
    return false;
  if (!checker_array_fits(c, k, op) || !checker_lookup_fits(c, k, op) ||
      !checker_list_fits(c, k, op) || !checker_cell_fits(c, k, op))
    return false;
  if (op == OP_END) return checker_end_loop(c, k);
  if (!checker_writes(c, k, scalar)) return false;
  if (is_fold(op)) return checker_fold(c, k);
  return op < OP_CONTROLS || checker_control(c, k);
}

static bool checker_counts_fit(const struct program *p) {
  return p->column_count <= MAX_COLUMNS && p->reg1_count <= MAX_REGISTERS &&
         p->reg4_count <= MAX_REGISTERS && p->reg8_count <= MAX_REGISTERS &&
         p->scalar_count <= MAX_SCALARS && p->bitmap_count <= MAX_BITMAPS &&
         p->total_count <= MAX_TOTALS &&
         p->array_count <= MAX_ARRAYS && p->lookup_count <= MAX_LOOKUPS &&
         p->site_count <= MAX_SITES && p->list_count <= MAX_LISTS &&
         p->fold_count <= MAX_FOLDS && p->insn_count <= MAX_INSNS &&
         p->uniform_count + p->constant_count <= p->scalar_count &&
         p->prologue <= p->insn_count;
}

static bool checker_sites_fit(const struct program *p) {
  for (uint32_t i = 0; i < p->site_count; i++) {
    k_site site = p->sites[i];
    if (site.order >= MAX_BITMAPS || site.type > KT_I64 || site.type == KT_F32) return false;
    if (site.cell == 0) continue;
    if (site.cell > KC_ENTITY || column_got((k_column)(site.cell - 1)) != (k_type)site.type)
      return false;
  }
  return true;
}

static bool checker_header(const struct program *p) {
  if (!checker_counts_fit(p)) return false;
  if (p->block == 0 || p->block % 64 != 0 || p->block > K_BLOCK) return false;
  bool lanes = p->reg1_count + p->reg4_count + p->reg8_count + p->list_count > 0;
  if (p->whole > 1 || (p->whole && lanes) || p->starts > 1) return false;
  for (uint32_t i = 0; i < p->column_count; i++)
    if (p->columns[i] >= KC_COUNT && !is_cells(p->columns[i])) return false;
  for (uint32_t i = 0; i < p->scalar_count; i++)
    if (p->scalars[i] > KT_I64) return false;
  for (uint32_t i = 0; i < p->array_count; i++)
    if (p->arrays[i] >= KC_ENTITY) return false;
  for (uint32_t i = 0; i < p->lookup_count; i++)
    if (p->lookups[i] > KT_I64 && !is_cells(p->lookups[i])) return false;
  for (uint32_t i = 0; i < p->fold_count; i++)
    if (p->folds[i] >= KC_ENTITY) return false;
  if (!checker_sites_fit(p)) return false;
  for (uint32_t i = 0; i < p->total_count; i++) {
    bool floats = p->totals[i] == KR_FLOATS * 4 + KT_F64;
    if (floats ? i == 0 || p->totals[i - 1] != KR_SUM * 4 + KT_I64
               : p->totals[i] / 4 > KR_MAX || p->totals[i] % 4 < KT_F64)
      return false;
  }
  return true;
}

bool program_check(const struct program *p) {
  if (!checker_header(p)) return false;
  struct checker c;
  c.p = p;
  c.at = program_numbering(p);
  c.folding = false;
  memset(c.fold_at, 0xff, sizeof c.fold_at);
  c.depth = c.rows_end = 0;
  c.written = false;
  memset(c.held, UNSET, sizeof c.held);
  assert(c.at.all <= OPERANDS);
  for (uint32_t i = 0; i < (uint32_t)p->uniform_count + p->constant_count; i++)
    c.held[c.at.scalars + i] = p->scalars[i];
  for (c.pc = 0; c.pc < p->insn_count; c.pc++)
    if (!checker_instruction(&c, &p->insns[c.pc])) return false;
  checker_end_skips(&c);
  for (uint32_t i = 0; i < p->fold_count; i++)
    if (c.fold_at[i] != NONE) return false;
  return checker_end_rows(&c) && c.depth == 0;
}
