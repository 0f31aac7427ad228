/* The check that every program passes before it runs. One walk in program order keeps
** what each register and slot holds. At a loop's head a register that the body sets to
** another type holds nothing, so that one walk is enough for any number of rounds; where
** a skip lands, what both ways agree on remains. */
#include "kernel/ops.h"

#include <string.h>

const op_info op_table[OP_COUNT] = {
#define OP(name, text, signature, error) {text, signature, error},
#include "kernel/ops.def"
};

size_t column_size(k_column c) {
  static const uint8_t size[KC_COUNT] = {1, 4, 8, 8, 1, 2, 4, 1, 2, 4, 8};
  return size[c];
}

k_type column_value(k_column c) {
  return c <= KC_I64 ? (k_type)c : KT_I64;
}

k_places program_places(const program *p) {
  k_places at;
  at.reg1 = p->ncolumns;
  at.reg4 = at.reg1 + p->nreg1;
  at.reg8 = at.reg4 + p->nreg4;
  at.slots = at.reg8 + p->nreg8;
  at.all = at.slots + p->nslots;
  at.bitmaps = at.all + 1;
  at.totals = at.bitmaps + p->nbitmaps;
  at.count = at.totals + p->ntotals;
  return at;
}

enum { PLACES = MAX_COLUMNS + 3 * MAX_REGISTERS + MAX_SLOTS, UNSET = 0xff };

/* A loop or a skip that is open, with what held where it began. */
typedef struct scope {
  unsigned begin, end;  /* its instruction; that of its end or target */
  int loop;
  uint8_t held[PLACES];
} scope;

typedef struct checker {
  const program *p;
  k_places at;
  unsigned pc;
  int depth, written;    /* written: a column has been */
  uint8_t held[PLACES];  /* k_type, or UNSET; columns are not looked at */
  scope open[MAX_DEPTH];
} checker;

static int is_slot(const checker *c, unsigned place) {
  return place >= c->at.slots && place < c->at.all;
}

/* The k_type that a lower-case letter means for registers and slots. */
static int letter_type(char letter) {
  switch (letter) {
    case 'm':
    case 'M': return KT_BOOL;
    case 'f':
    case 'F': return KT_F32;
    case 'd':
    case 'D': return KT_F64;
    case 'i':
    case 'I': return KT_I64;
    default: return -1;
  }
}

static int column_fits(k_column column, char letter) {
  switch (letter) {
    case '1': return column == KC_I8;
    case '2': return column == KC_I16;
    case '3': return column == KC_I32;
    case '4': return column == KC_U8;
    case '5': return column == KC_U16;
    case '6': return column == KC_U32;
    case 'e': return column == KC_ENTITY;
    case 'i': return column == KC_I64 || column == KC_ENTITY;
    default: return column <= KC_I64 && (int)column == letter_type(letter);
  }
}

static int register_fits(const checker *c, unsigned place, char letter) {
  switch (letter) {
    case 'm': return place >= c->at.reg1 && place < c->at.reg4;
    case 'f': return place >= c->at.reg4 && place < c->at.reg8;
    case 'd':
    case 'i': return place >= c->at.reg8 && place < c->at.slots;
    default: return 0;
  }
}

static int slot_holds(const checker *c, unsigned place, int type) {
  return is_slot(c, place) && type >= 0 && c->held[place] == type;
}

static int reads(const checker *c, unsigned place, char letter, int scalar) {
  switch (letter) {
    case '-': return place == K_NOWHERE;
    case 'M':
    case 'F':
    case 'D':
    case 'I': return slot_holds(c, place, letter_type(letter));
    case 'j': return 1;  /* looked at where it is used */
    default:
      if (scalar) return slot_holds(c, place, letter_type(letter));
      if (place < c->at.reg1) return column_fits((k_column)c->p->columns[place], letter);
      if (place == c->at.all) return letter == 'm' && !c->p->whole;
      return register_fits(c, place, letter) && c->held[place] == letter_type(letter);
  }
}

/* Not the counter or the number of rounds of an open loop, so that loops end. */
static int set_slot(checker *c, unsigned place, int type) {
  if (!is_slot(c, place)) return 0;
  for (int i = 0; i < c->depth; i++) {
    const k_insn *k = &c->p->insns[c->open[i].begin];
    if (c->open[i].loop && (place == k->dst || place == k->a)) return 0;
  }
  unsigned slot = place - c->at.slots;
  if (slot < (unsigned)c->p->nuniforms + c->p->nconstants) return 0;
  if (type < 0 || c->p->slots[slot] != type) return 0;
  c->held[place] = (uint8_t)type;
  return 1;
}

static int writes(checker *c, unsigned place, const k_insn *k, int scalar) {
  char letter = op_table[k->op & ~OP_SCALAR].signature[0];
  switch (letter) {
    case '-': return place == K_NOWHERE;
    case 'x': return place >= c->at.bitmaps && place < c->at.totals;
    case 'I': return set_slot(c, place, KT_I64);
    case 't': {
      int op = k->op;
      int real = op == OP_SUM_F64 || op == OP_MIN_F64 || op == OP_MAX_F64;
      int how = op == OP_SUM_F64 || op == OP_SUM_I64   ? KR_SUM
                : op == OP_MIN_F64 || op == OP_MIN_I64 ? KR_MIN
                                                       : KR_MAX;
      return place >= c->at.totals && place < c->at.count &&
             c->p->totals[place - c->at.totals] == how * 4 + (real ? KT_F64 : KT_I64);
    }
    default:
      if (scalar) return set_slot(c, place, letter_type(letter));
      if (place < c->at.reg1) {
        c->written = 1;
        return column_fits((k_column)c->p->columns[place], letter);
      }
      if (!register_fits(c, place, letter)) return 0;
      c->held[place] = (uint8_t)letter_type(letter);
      return 1;
  }
}

static void meet(uint8_t *held, const uint8_t *other) {
  for (int i = 0; i < PLACES; i++)
    if (held[i] != other[i]) held[i] = UNSET;
}

/* The instructions of a loop's body: what they set to another type than it has now is
** unset; a column written in a round is written when something fails in the next. */
static int enter_body(checker *c, unsigned begin, unsigned end) {
  int fails = 0, writes_column = 0;
  for (unsigned pc = begin + 1; pc < end; pc++) {
    const k_insn *k = &c->p->insns[pc];
    unsigned op = k->op & (unsigned)~OP_SCALAR;
    if (op >= OP_COUNT) return 0;
    char letter = op_table[op].signature[0];
    if (op_table[op].error) fails = 1;
    if (letter == '-' || letter == 'x' || letter == 't') continue;
    if (k->dst < c->at.reg1)
      writes_column = 1;
    else if (k->dst < c->at.all && c->held[k->dst] != letter_type(letter))
      c->held[k->dst] = UNSET;
  }
  return !(fails && writes_column);
}

static scope *open_scope(checker *c, unsigned end, int loop) {
  if (c->depth == MAX_DEPTH) return NULL;
  if (c->depth > 0 && end + (unsigned)loop > c->open[c->depth - 1].end) return NULL;
  scope *s = &c->open[c->depth++];
  s->begin = c->pc;
  s->end = end;
  s->loop = loop;
  memcpy(s->held, c->held, sizeof s->held);
  return s;
}

static int begin_loop(checker *c, const k_insn *k) {
  const program *p = c->p;
  if (k->c <= c->pc || k->c >= p->ninsns) return 0;
  const k_insn *end = &p->insns[k->c];
  if (end->op != OP_END || end->c != c->pc) return 0;
  if (end->dst != k->dst || end->a != k->a || k->dst == k->a) return 0;
  if (!enter_body(c, c->pc, k->c)) return 0;
  return open_scope(c, k->c, 1) != NULL;
}

static int end_loop(checker *c, const k_insn *k) {
  if (c->depth == 0) return 0;
  const scope *s = &c->open[--c->depth];
  if (!s->loop || s->end != c->pc || s->begin != k->c) return 0;
  meet(c->held, s->held);
  return 1;
}

static int control(checker *c, const k_insn *k) {
  switch (k->op) {
    case OP_LOOP: return begin_loop(c, k);
    case OP_SKIP:
      return k->c > c->pc && k->c <= c->p->ninsns && open_scope(c, k->c, 0) != NULL;
    default: return k->op == OP_LIVE;
  }
}

static int instruction(checker *c, const k_insn *k) {
  while (c->depth > 0 && !c->open[c->depth - 1].loop &&
         c->open[c->depth - 1].end == c->pc)
    meet(c->held, c->open[--c->depth].held);
  int scalar = (k->op & OP_SCALAR) != 0;
  unsigned op = k->op & (unsigned)~OP_SCALAR;
  if (op >= OP_COUNT) return 0;
  const op_info *info = &op_table[op];
  if (scalar && (op >= OP_CONTROLS || letter_type(info->signature[0]) < 0)) return 0;
  if (scalar && info->error) return 0;
  if (!scalar && c->pc < c->p->prologue) return 0;
  if (info->error && c->written) return 0;
  const char *s = info->signature;
  if (!reads(c, k->a, s[1], scalar) || !reads(c, k->b, s[2], scalar) ||
      !reads(c, k->c, s[3], scalar) || !reads(c, k->d, s[4], scalar))
    return 0;
  if (op == OP_END) return end_loop(c, k);
  if (!writes(c, k->dst, k, scalar)) return 0;
  return op < OP_CONTROLS || control(c, k);
}

static int header(const program *p) {
  if (p->ncolumns > MAX_COLUMNS || p->nreg1 > MAX_REGISTERS || p->nreg4 > MAX_REGISTERS ||
      p->nreg8 > MAX_REGISTERS || p->nslots > MAX_SLOTS || p->nbitmaps > MAX_BITMAPS ||
      p->ntotals > MAX_TOTALS || p->ninsns > MAX_INSNS)
    return 0;
  if (p->block == 0 || p->block % 64 != 0 || p->block > K_BLOCK) return 0;
  if (p->whole > 1 || (p->whole && p->nreg1 + p->nreg4 + p->nreg8 > 0)) return 0;
  if (p->nuniforms + p->nconstants > p->nslots || p->prologue > p->ninsns) return 0;
  for (int i = 0; i < p->ncolumns; i++)
    if (p->columns[i] >= KC_COUNT) return 0;
  for (int i = 0; i < p->nslots; i++)
    if (p->slots[i] > KT_I64) return 0;
  for (int i = 0; i < p->ntotals; i++)
    if (p->totals[i] / 4 > KR_MAX || p->totals[i] % 4 < KT_F64) return 0;
  return 1;
}

int program_check(const program *p) {
  if (!header(p)) return 0;
  checker c;
  c.p = p;
  c.at = program_places(p);
  c.depth = c.written = 0;
  memset(c.held, UNSET, sizeof c.held);
  for (unsigned i = 0; i < (unsigned)p->nuniforms + p->nconstants; i++)
    c.held[c.at.slots + i] = p->slots[i];
  for (c.pc = 0; c.pc < p->ninsns; c.pc++)
    if (!instruction(&c, &p->insns[c.pc])) return 0;
  while (c.depth > 0 && !c.open[c.depth - 1].loop) c.depth--;
  return c.depth == 0;
}
