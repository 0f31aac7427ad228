/* Programs as text, and facts about them. */
#include "kernel/build.h"
#include "kernel/ops.h"

#include "core/base/text.h"

static const struct op_info *listing_info_of(const k_insn *k) {
  assert(OP_NUMBER(k->op) < OP_COUNT);
  return &op_table[OP_NUMBER(k->op)];
}

k_info program_info(const struct program *p) {
  k_info info = {.live = false};
  info.insns = (uint32_t)(p->insn_count - p->prologue);
  info.scratch =
      p->block * (p->reg1_count + (size_t)4 * p->reg4_count + (size_t)8 * p->reg8_count);
  for (uint32_t i = 0; i < p->insn_count; i++) {
    if (p->insns[i].op == OP_LIVE) info.live = true;
    if (p->insns[i].op == OP_LOOP) info.loops = true;
    if (p->insns[i].op == OP_ROWS) info.ordered += p->insns[i].c - i - 1;
    if (listing_info_of(&p->insns[i])->error) info.fails = true;
    if (stores_cells(p->insns[i].op)) info.stores = true;
  }
  return info;
}

bool program_reads(const struct program *p, uint32_t column) {
  for (uint32_t i = 0; i < p->insn_count; i++) {
    const k_insn *k = &p->insns[i];
    bool jumps = listing_info_of(k)->signature[3] == 'j';
    if (k->a == column || k->b == column || (k->c == column && !jumps) || k->d == column)
      return true;
  }
  return false;
}

bool program_writes(const struct program *p, uint32_t column) {
  for (uint32_t i = 0; i < p->insn_count; i++)
    if (p->insns[i].dst == column) return true;
  return false;
}

bool program_takes_columns_once(const struct program *p) {
  struct numbering at = program_numbering(p);
  uint32_t seen[MAX_COLUMNS] = {0};
  if (p->reg1_count + p->reg4_count + p->reg8_count > 0) return false;
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++) {
    const k_insn *k = &p->insns[pc];
    const uint16_t operands[5] = {k->dst, k->a, k->b, k->c, k->d};
    if (k->op >= OP_CONTROLS) return false;
    for (int i = 0; i < 5; i++) {
      if (operands[i] == at.all) return false;
      if (operands[i] >= p->column_count) continue;
      if (seen[operands[i]] != 0 && seen[operands[i]] != pc + 1) return false;
      seen[operands[i]] = pc + 1;
    }
  }
  return true;
}

/* ---- text ---- */

static void listing_add_constant(struct text *out, k_type type, k_scalar k) {
  switch (type) {
    case KT_BOOL: text_add(out, "%s", k.b ? "true" : "false"); break;
    case KT_F32: text_add(out, "%g", (double)k.f32); break;
    case KT_F64: text_add(out, "%g", k.f64); break;
    default: text_add(out, "%lld", (long long)k.i64); break;
  }
}

/* A constant as its value, a uniform as u, a computed scalar as s. */
static void listing_add_scalar(struct text *out, const struct program *p, uint32_t number) {
  uint32_t computed = (uint32_t)p->uniform_count + p->constant_count;
  assert(number < p->scalar_count);
  if (number < p->uniform_count)
    text_add(out, "u%u", number);
  else if (number < computed)
    listing_add_constant(out, (k_type)p->scalars[number], p->constants[number - p->uniform_count]);
  else
    text_add(out, "s%u", number - computed);
}

/* A list, or an argument of it, counted from 0. */
static void listing_add_list(struct text *out, uint32_t operand) {
  uint32_t argument = operand % (LIST_ARGUMENTS + 1);
  text_add(out, "list%u", operand / (LIST_ARGUMENTS + 1));
  if (argument) text_add(out, ".%u", argument - 1);
}

/* A column as c; block registers of 1, 4 and 8 bytes as m, w and d. */
static void listing_add_operand(struct text *out, const struct program *p, uint32_t operand) {
  struct numbering at = program_numbering(p);
  const struct {
    const char *kind;
    uint32_t from, end;
  } kinds[] = {{"c", 0, at.reg1},
               {"m", at.reg1, at.reg4},
               {"w", at.reg4, at.reg8},
               {"d", at.reg8, at.scalars},
               {"bits", at.bitmaps, at.totals},
               {"total", at.totals, at.start},
               {"array", at.arrays, at.lookups},
               {"lookup", at.lookups, at.sites}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (operand >= kinds[i].from && operand < kinds[i].end)
      text_add(out, "%s%u", kinds[i].kind, operand - kinds[i].from);
  if (operand >= at.scalars && operand < at.all) listing_add_scalar(out, p, operand - at.scalars);
  if (operand == at.all || operand == at.start) text_add(out, operand == at.all ? "all" : "rows");
  if (operand >= at.lists)
    listing_add_list(out, operand - at.lists);
  else if (operand >= at.sites)
    text_add(out, "order%u", (unsigned)p->sites[operand - at.sites].order);
}

static void listing_add_insn(struct text *out, const struct program *p, uint32_t pc) {
  const k_insn *k = &p->insns[pc];
  const struct op_info *info = listing_info_of(k);
  const uint16_t operand[5] = {k->dst, k->a, k->b, k->c, k->d};
  text_add(out, "%u\t%s", pc, info->text);
  const char *before = " ";
  for (int j = 0; j < 5; j++) {
    if (info->signature[j] == '-' || operand[j] == K_NO_OPERAND) continue;
    text_add(out, "%s", before);
    before = j == 0 ? " = " : ", ";
    if (info->signature[j] == 'j')
      text_add(out, "@%u", (unsigned)operand[j]);
    else
      listing_add_operand(out, p, operand[j]);
  }
  text_add(out, "\n");
}

size_t program_text(const struct program *p, char *out, size_t size) {
  struct text text = {out, size, 0};
  for (uint32_t pc = 0; pc < p->insn_count; pc++) listing_add_insn(&text, p, pc);
  text_end(&text);
  return text.length;
}
