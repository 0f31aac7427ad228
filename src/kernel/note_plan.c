#include "kernel/note_plan.h"

#include "kernel/build_note.h"
#include "kernel/ops.h"

/* Whether no site is in a loop, nor in two instructions. */
static bool come_once(const struct program *p, const struct numbering *numbers) {
  uint64_t seen[K_SITES / 64] = {0};
  uint32_t end = 0;
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++) {
    const k_insn *k = &p->insns[pc];
    if (k->op == OP_LOOP && k->c > end) end = k->c;
    if (!is_note(k->op)) continue;
    uint32_t site = k->dst - numbers->sites;
    if (pc < end || (seen[site / 64] >> site % 64 & 1)) return false;
    seen[site / 64] |= UINT64_C(1) << site % 64;
  }
  return true;
}

/* Whether an instruction puts something into the operand that a mask is. */
static bool sets_mask(const k_insn *k, uint32_t mask) {
  return !(k->op & OP_SCALAR) && op_table[k->op].signature[0] == 'm' && k->dst == mask;
}

/* Whether an instruction from one on up to another one puts something into an operand. */
static bool is_set_between(const struct program *p, uint32_t from, uint32_t to, uint32_t operand) {
  for (uint32_t pc = from; pc < to; pc++) {
    const k_insn *k = &p->insns[pc];
    char letter = op_table[OP_NUMBER(k->op)].signature[0];
    bool other = letter == '-' || letter == 'x' || letter == 't' || letter == 's' || letter == 'q';
    if (!(k->op & OP_SCALAR) && !other && k->dst == operand) return true;
  }
  return false;
}

/* Whether what a note is about stays where it is up to where notes are done. */
static bool is_held(const struct program *p, uint32_t pc) {
  const k_insn *k = &p->insns[pc];
  uint32_t end = pc;
  while (end < p->insn_count && p->insns[end].op != OP_DO_NOTES) end++;
  return k->op < OP_NOTE_VV_BOOL && !is_set_between(p, pc, end, k->a) &&
         !is_set_between(p, pc, end, k->b);
}

/* Whether indexes are looked at on the only way to a note. */
static bool is_bound(const struct program *p, const struct numbering *numbers, uint32_t pc) {
  const k_insn *note = &p->insns[pc];
  k_site site = p->sites[note->dst - numbers->sites];
  for (uint32_t at = p->prologue; at < pc; at++) {
    const k_insn *k = &p->insns[at];
    if (k->op == OP_LOOP || k->op == OP_SKIP) return false;
    bool same = k->op == OP_BOUND && k->a == note->a && k->b == numbers->arrays + site.array;
    bool all = k->d == numbers->all || (k->d == note->d && !is_set_between(p, at, pc, k->d));
    if (same && all && !is_set_between(p, at, pc, k->a)) return site.step != KS_ORDER;
  }
  return false;
}

/* A mask stays what it is between two instructions that nothing jumps between. */
void notes_plan(const struct program *p, uint8_t *noting) {
  uint32_t mask = K_NO_OPERAND, lands[MAX_DEPTH], open = 0;
  struct numbering numbers = program_numbering(p);
  memset(noting, 0, K_SITES);
  if (p->site_count == 0 || !come_once(p, &numbers)) return;
  memset(noting, NOTING_ONCE, K_SITES);
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++) {
    const k_insn *k = &p->insns[pc];
    for (; open > 0 && lands[open - 1] == pc; open--) mask = K_NO_OPERAND;
    if (k->op == OP_LOOP || k->op == OP_END || k->op == OP_SKIP) mask = K_NO_OPERAND;
    if (k->op == OP_SKIP) {
      assert(open < MAX_DEPTH);
      lands[open++] = k->c;
    }
    if (is_note(k->op)) {
      uint8_t *site = &noting[k->dst - numbers.sites];
      if (k->d == numbers.all) *site |= NOTING_ALL;
      if (k->d == mask) *site |= NOTING_SAME;
      if (k->d == numbers.all && is_held(p, pc)) *site |= NOTING_HELD;
      if (is_bound(p, &numbers, pc)) *site |= NOTING_BOUND;
      mask = k->d;
    } else if (sets_mask(k, mask)) {
      mask = K_NO_OPERAND;
    }
  }
}
