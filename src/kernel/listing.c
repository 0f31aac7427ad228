/* Programs as text, and what can be asked of them. */
#include "kernel/ops.h"

#include <string.h>

k_info program_info(const program *p) {
  k_info info = {0, 0, 0, 0, 0};
  info.insns = p->ninsns - p->prologue;
  info.registers = p->nreg1 + p->nreg4 + p->nreg8;
  info.scratch = p->block * (p->nreg1 + (size_t)4 * p->nreg4 + (size_t)8 * p->nreg8);
  for (unsigned i = 0; i < p->ninsns; i++) {
    unsigned op = p->insns[i].op & (unsigned)~OP_SCALAR;
    if (op == OP_LIVE) info.live = 1;
    if (op_table[op].error) info.fails = 1;
  }
  return info;
}

/* The instruction's operands in the order of its signature. */
static void operands(const k_insn *k, unsigned place[5]) {
  place[0] = k->dst;
  place[1] = k->a;
  place[2] = k->b;
  place[3] = k->c;
  place[4] = k->d;
}

static int names_place(char letter) {
  return letter != '-' && letter != 'j';
}

int program_reads(const program *p, int column) {
  for (unsigned i = 0; i < p->ninsns; i++) {
    unsigned place[5];
    operands(&p->insns[i], place);
    const char *s = op_table[p->insns[i].op & ~OP_SCALAR].signature;
    for (int j = 1; j < 5; j++)
      if (names_place(s[j]) && place[j] == (unsigned)column) return 1;
  }
  return 0;
}

int program_writes(const program *p, int column) {
  for (unsigned i = 0; i < p->ninsns; i++) {
    char letter = op_table[p->insns[i].op & ~OP_SCALAR].signature[0];
    if (names_place(letter) && p->insns[i].dst == column) return 1;
  }
  return 0;
}

/* ---- text ---- */

typedef struct writer {
  char *out;
  size_t size, n;  /* n may go on past size */
} writer;

static void put(writer *w, const char *s) {
  for (; *s != '\0'; s++, w->n++)
    if (w->n + 1 < w->size) w->out[w->n] = *s;
}

static void put_unsigned(writer *w, uint64_t x) {
  char digits[21];
  char *d = digits + sizeof digits - 1;
  *d = '\0';
  do {
    *--d = (char)('0' + x % 10);
    x /= 10;
  } while (x != 0);
  put(w, d);
}

static void put_integer(writer *w, int64_t x) {
  if (x < 0) put(w, "-");
  put_unsigned(w, x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

/* Six digits or so: for reading, not for reading back. */
static void put_float(writer *w, double x) {
  if (x != x) {
    put(w, "nan");
    return;
  }
  if (x < 0 || (x == 0 && 1 / x < 0)) put(w, "-");
  if (x < 0) x = -x;
  if (x > 1.7976931348623157e308) {
    put(w, "inf");
    return;
  }
  int exponent = 0;
  if (x != 0.0 && (x >= 1e9 || x < 1e-4)) {
    while (x >= 10.0) {
      x /= 10.0;
      exponent++;
    }
    while (x < 1.0) {
      x *= 10.0;
      exponent--;
    }
  }
  uint64_t millionths = (uint64_t)(x * 1e6 + 0.5);
  put_unsigned(w, millionths / 1000000);
  millionths %= 1000000;
  char digits[8] = ".";
  int last = 0;
  for (int i = 1, unit = 100000; i <= 6; i++, unit /= 10) {
    digits[i] = (char)('0' + millionths / (unsigned)unit % 10);
    if (digits[i] != '0') last = i;
  }
  digits[last == 0 ? 2 : last + 1] = '\0';
  if (last == 0) digits[1] = '0';
  put(w, digits);
  if (exponent == 0) return;
  put(w, "e");
  put_integer(w, exponent);
}

static void put_constant(writer *w, k_type type, k_scalar k) {
  switch (type) {
    case KT_BOOL: put(w, k.b ? "true" : "false"); break;
    case KT_F32: put_float(w, (double)k.f32); break;
    case KT_F64: put_float(w, k.f64); break;
    default: put_integer(w, k.i64);
  }
}

static void put_numbered(writer *w, const char *kind, unsigned number) {
  put(w, kind);
  put_unsigned(w, number);
}

/* c column, m w d block registers of 1, 4 and 8 bytes, u uniform, s scalar register. */
static void put_place(writer *w, const program *p, unsigned place) {
  k_places at = program_places(p);
  if (place < at.reg1)
    put_numbered(w, "c", place);
  else if (place < at.reg4)
    put_numbered(w, "m", place - at.reg1);
  else if (place < at.reg8)
    put_numbered(w, "w", place - at.reg4);
  else if (place < at.slots)
    put_numbered(w, "d", place - at.reg8);
  else if (place == at.all)
    put(w, "all");
  else if (place > at.all && place < at.totals)
    put_numbered(w, "bits", place - at.bitmaps);
  else if (place >= at.totals)
    put_numbered(w, "total", place - at.totals);
  else {
    unsigned slot = place - at.slots;
    if (slot < p->nuniforms)
      put_numbered(w, "u", slot);
    else if (slot < (unsigned)p->nuniforms + p->nconstants)
      put_constant(w, (k_type)p->slots[slot], p->constants[slot - p->nuniforms]);
    else
      put_numbered(w, "s", slot - p->nuniforms - p->nconstants);
  }
}

static void put_insn(writer *w, const program *p, unsigned pc) {
  const k_insn *k = &p->insns[pc];
  const op_info *info = &op_table[k->op & ~OP_SCALAR];
  unsigned place[5];
  operands(k, place);
  put_unsigned(w, pc);
  put(w, "\t");
  put(w, info->text);
  const char *before = " ";
  for (int j = 0; j < 5; j++) {
    if (info->signature[j] == '-') continue;
    put(w, before);
    before = j == 0 ? " = " : ", ";
    if (info->signature[j] == 'j')
      put_numbered(w, "@", place[j]);
    else
      put_place(w, p, place[j]);
  }
  put(w, "\n");
}

size_t program_text(const program *p, char *out, size_t size) {
  writer w = {out, size, 0};
  for (unsigned pc = 0; pc < p->ninsns; pc++) put_insn(&w, p, pc);
  if (size > 0) out[w.n < size ? w.n : size - 1] = '\0';
  return w.n;
}
