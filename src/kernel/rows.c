/* Instructions that are done in the order of rows: all of them for one row before the next one
** begins, so that a row sees what the rows before it have put into cells, and nothing of those
** behind it. Registers and columns are those of the block, of which a row takes its own lane. What
** has a form for one row (ops_row) is done by that; other instructions are done by their loop,
** shown one row.
**
** A row that fails has done nothing: what it has put into cells is put back, last first. What rows
** order is noted down until their last instruction, which gives it, or fails. */
#include "kernel/machine.h"

static bool rows_undo(struct running *r) {
  if (r->done_count) r->run->orders->undo(r->run->orders->ud, r->done_count);
  while (r->store_count) {
    const k_stored *store = &r->stores[--r->store_count];
    memcpy(store->at, &store->was, store->size);
  }
  return false;
}

/* Notes what is in the cell that an instruction is about to store into; false without room. */
static bool rows_keep(struct running *r, const k_insn *k, size_t i) {
  const k_cell *cells = r->at[k->a];
  const uint8_t *mask = r->at[k->d];
  assert(is_set(k->op) || is_fold(k->op));
  if (!mask[i] || !cells[i].at) return true;
  if (r->store_count == ROW_STORES) return false;
  k_stored *store = &r->stores[r->store_count++];
  store->at = cells[i].at;
  store->size = (uint32_t)column_size(stored_column(k->op));
  memcpy(&store->was, store->at, store->size);
  return true;
}

/* Bytes of a lane of an operand; 0 where it has none. */
static size_t rows_lane(const struct running *r, uint32_t operand) {
  const struct numbering *numbers = r->numbers;
  if (operand < numbers->reg1) return column_size((k_column)r->p->columns[operand]);
  if (operand < numbers->reg4) return 1;
  if (operand < numbers->reg8) return 4;
  if (operand < numbers->scalars) return 8;
  return operand >= numbers->lists && operand < numbers->count ? sizeof(k_span) : 0;
}

/* Moves what an instruction finds at its operands by some rows; a list takes its arguments
** along. */
static void rows_shift(struct running *r, const k_insn *k, ptrdiff_t rows) {
  const uint16_t operands[5] = {k->dst, k->a, k->b, k->c, k->d};
  const char *signature = op_table[k->op].signature;
  for (int j = 0; j < 5; j++) {
    bool again = signature[j] == '-' || signature[j] == 'j';
    for (int before = 0; before < j; before++) again |= operands[before] == operands[j];
    if (again) continue;
    size_t lane = rows_lane(r, operands[j]);
    uint32_t count = signature[j] == 'p' ? LIST_ARGUMENTS + 1 : 1;
    for (uint32_t at = operands[j]; lane && at < operands[j] + count; at++)
      r->at[at] = (char *)r->at[at] + rows * (ptrdiff_t)lane;
  }
}

/* Does an instruction for row i by what does it for many; where it fails it says so. */
static bool rows_one(struct running *r, uint32_t pc, size_t i) {
  const k_insn *k = &r->p->insns[pc];
  size_t done = 1;
  if (k->op == OP_DO_NOTES && r->notes->count == 0) return true;
  rows_shift(r, k, (ptrdiff_t)i);
  if (k->op < OP_CONTROLS)
    done = r->ops[k->op](k, r->at, 1);
  else if (is_note(k->op) || k->op == OP_DO_NOTES || k->op == OP_LIST)
    done = running_note_or_list(r, k, 1);
  else
    running_control(r, pc, 1);
  rows_shift(r, k, -(ptrdiff_t)i);
  return done == 1;
}

/* An operand in row i of a type that notes have, or that of all rows. */
static k_scalar rows_operand(const struct running *r, uint32_t operand, k_type type, size_t i) {
  k_scalar value = {.i64 = 0};
  size_t lane = rows_lane(r, operand) ? i : 0;
  if (type == KT_BOOL)
    value.b = ((const uint8_t *)r->at[operand])[lane];
  else
    memcpy(&value, (const k_scalar *)r->at[operand] + lane, sizeof value);
  return value;
}

/* Has an order of row i done at once, or noted down; false when the row fails. */
static bool rows_order(struct running *r, uint32_t pc, size_t i) {
  const k_insn *k = &r->p->insns[pc];
  const k_orders *orders = r->run->orders;
  const k_site *site = &r->p->sites[k->dst - r->numbers->sites];
  const uint8_t *mask = r->at[k->d];
  if (!mask[i]) return true;
  if (site->step != KS_ORDER || !orders->now) return rows_one(r, pc, i);
  int64_t entity = rows_operand(r, k->a, KT_I64, i).i64;
  k_scalar value = rows_operand(r, k->b, (k_type)site->type, i);
  if (r->store_count == ROW_STORES || r->waiting_count == ROW_ORDERS) return false;
  k_now now = orders->now(orders->ud, site->array, entity, value, r->waiting, r->waiting_count,
                          &r->stores[r->store_count]);
  r->store_count += now == K_DONE;
  r->done_count += now == K_DONE;
  if (now != K_LATER) return now == K_DONE;
  r->waiting[r->waiting_count++] = (k_ordered){site->array, entity};
  return rows_one(r, pc, i);
}

/* Does one that moves on as it likes; returns the next. */
static uint32_t rows_move_on(const struct running *r, uint32_t pc, size_t i) {
  const k_insn *k = &r->p->insns[pc];
  const uint8_t *mask = r->at[k->op == OP_SKIP ? k->a : k->b];
  if (k->op == OP_SKIP) return mask[i] ? pc + 1 : k->c;
  int64_t *round = &((k_scalar *)r->at[k->dst])->i64, rounds = ((k_scalar *)r->at[k->a])->i64;
  *round = k->op == OP_LOOP ? 0 : *round + 1;
  bool again = *round < rounds && mask[i];
  return again == (k->op == OP_END) ? k->c + 1u : pc + 1;
}

static bool rows_fail(struct running *r, const k_insn *k, size_t i, bool room) {
  running_fail(r, k, i);
  if (!room) r->failure->error = KE_ROOM;
  return rows_undo(r);
}

/* What is done for row i, from one instruction up to another; false when it fails. */
INLINE bool rows_run_row(struct running *r, uint32_t pc, uint32_t end, size_t i, bool undoes) {
  const k_insn *insns = r->p->insns;
  void **at = r->at;
  while (pc < end) {
    const k_insn *k = &insns[pc];
    if (LIKELY(k->op < OP_CONTROLS)) {
      op_row_fn row = ops_row[k->op];
      bool stores = is_set(k->op) || is_fold(k->op);
      if (undoes && stores && !rows_keep(r, k, i)) return rows_fail(r, k, i, false);
      if (!(LIKELY(row) ? row(k, at, i) : rows_one(r, pc, i))) return rows_fail(r, k, i, true);
      pc++;
    } else if (k->op == OP_SKIP || k->op == OP_LOOP || k->op == OP_END) {
      pc = rows_move_on(r, pc, i);
    } else if (k->op & OP_SCALAR) {
      r->ops[OP_NUMBER(k->op)](k, at, 1);
      pc++;
    } else {
      bool note = is_note(k->op);
      if (!(note ? rows_order(r, pc, i) : rows_one(r, pc, i))) return rows_fail(r, k, i, !note);
      pc++;
    }
  }
  return true;
}

size_t rows_run(struct running *r, uint32_t pc, size_t n) {
  const struct program *p = r->p;
  uint32_t end = p->insns[pc].c;
  bool undoes = p->layout.undoes;
  assert(p->insns[pc].op == OP_ROWS && end <= p->insn_count);
  for (size_t i = 0; i < n; i++) {
    r->store_count = r->waiting_count = r->done_count = 0;
    if (p->site_count) notes_clear(r->notes, r->first + i);
    bool sound = undoes ? rows_run_row(r, pc + 1, end, i, true)
                        : rows_run_row(r, pc + 1, end, i, false);
    if (!sound) return i;
  }
  return n;
}

bool rows_can_undo(const struct program *p) {
  uint32_t first = p->prologue;
  while (first < p->insn_count && p->insns[first].op != OP_ROWS) first++;
  uint32_t begin = 0, end = 0;   /* of the outermost loop so far: a row may come there again */
  uint32_t stored = NONE;
  for (uint32_t pc = first; pc < p->insn_count; pc++) {
    const k_insn *k = &p->insns[pc];
    if (k->op == OP_LOOP && pc >= end) {
      begin = pc;
      end = k->c;
    }
    bool stores = is_set(k->op) || is_fold(k->op) || is_note(k->op);
    if (stores && stored == NONE) stored = pc < end ? begin : pc;
  }
  for (uint32_t pc = stored; pc < p->insn_count; pc++)
    if (op_table[OP_NUMBER(p->insns[pc].op)].error) return true;
  return false;
}
