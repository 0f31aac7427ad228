/* The ordered part: all its instructions run for one row before the next, so a row sees what
** earlier rows have put into cells, and nothing from later ones. Registers and columns are those of
** the block; a row uses its own lane. Instructions with a form for one row (op_is_row) run without
** a call: see ops_rows.inc. Others use their loop, for one row.
**
** A failed row has no effect: the old contents of its cells are put back, in reverse order. What a
** row orders is noted until its last instruction, which carries it out, or fails. */
#include "kernel/machine.h"
#include "kernel/note.h"

/* Four constant sizes: copying single bytes would take a third of a row's time. */
static void rows_copy_cell(void *to, const void *from, size_t size) {
  switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
  }
}

static size_t rows_array_size(const struct running *r, uint32_t array) {
  if (r->p->loose >> array & 1) return 0;
  k_column type = (k_column)(r->p->arrays[array]);
  return (size_t)r->run->arrays[array].count * column_size(type);
}

/* Copies all arrays to their saved copies, or back. */
static void rows_copy(const struct running *r, bool back) {
  char *at = r->saved.data;
  for (uint32_t i = 0; i < r->p->array_count; i++) {
    const k_array *array = &r->run->arrays[i];
    size_t size = rows_array_size(r, i);
    memcpy(back ? (void *)(uintptr_t)array->data : at, back ? at : array->data, size);
    at += size;
  }
}

/* Saves all arrays instead of single cells, in a program for one row without other cells, where
** nothing else reads the arrays. */
static bool rows_save(struct running *r) {
  size_t size = 0;
  if (r->run->rows != 1 || r->p->column_count || r->p->site_count) return false;
  for (uint32_t i = 0; i < r->p->array_count; i++) size += rows_array_size(r, i);
  r->saves = buffer_grow(r->notes.memory, &r->saved, size, 0);
  if (r->saves) rows_copy(r, false);
  return r->saves;
}

static void rows_undo(struct running *r) {
  if (r->saves) rows_copy(r, true);
  while (r->store_count) {
    const k_stored *store = &r->stores[--r->store_count];
    rows_copy_cell(store->at, &store->was, store->size);
  }
}

void rows_begin(struct running *r, size_t i) {
  r->store_count = r->waiting_count = 0;
  r->saves = false;
  if (r->p->site_count) notes_clear(&r->notes, r->first + i);
}

static void rows_note_store(struct running *r, void *at, size_t size) {
  k_stored *store = &r->stores[r->store_count++];
  store->at = at;
  store->size = (uint32_t)size;
  rows_copy_cell(&store->was, at, size);
}

bool rows_keep(struct running *r, const k_insn *k, size_t i) {
  const k_cell *cells = r->at[k->a];
  const uint8_t *mask = r->at[k->d];
  assert(stores_cells(k->op));
  if (!mask[i] || r->saves) return true;
  if (k->op == OP_LAY) return rows_save(r);
  if (!cells[i].at) return true;
  if (r->store_count == ROW_STORES) return rows_save(r);
  rows_note_store(r, cells[i].at, column_size(stored_column(k->op)));
  return true;
}

uint32_t rows_lane(const struct program *p, uint32_t operand) {
  const struct numbering *numbers = &p->layout.numbers;
  if (operand < numbers->reg1) return (uint32_t)column_size((k_column)p->columns[operand]);
  if (operand < numbers->reg4) return 1;
  if (operand < numbers->reg8) return 4;
  if (operand < numbers->scalars) return 8;
  return operand >= numbers->lists && operand < numbers->count ? (uint32_t)sizeof(k_span) : 0;
}

/* Where the lanes of a copied column begin. */
static uint32_t rows_copy_of(const struct program *p, uint32_t column) {
  return p->layout.copies + column * (8u * p->block + p->layout.apart);
}

/* For ROWS_ONE: which addresses move by row and, in the upper half, how far; 0 ends the list. */
static void rows_measure(const struct program *p, const k_insn *k, struct row_insn *to) {
  const uint16_t operands[5] = {k->dst, k->a, k->b, k->c, k->d};
  uint32_t *const moves[5] = {&to->dst, &to->a, &to->b, &to->c, &to->d};
  int count = 0;
  for (int j = 0; j < 5; j++) {
    uint32_t lane = strchr("-j", op_table[k->op].signature[j]) ? 0 : rows_lane(p, operands[j]);
    for (int before = 0; before < j; before++) lane *= operands[before] != operands[j];
    if (lane) *moves[count++] = operands[j] | lane << 16;
  }
  while (count < 5) *moves[count++] = 0;
}

bool rows_one(struct running *r, const k_insn *k, const struct row_insn *to, size_t i) {
  const uint32_t moves[5] = {to->dst, to->a, to->b, to->c, to->d};
  void *was[5];
  size_t count = 0, done = 1, arguments = k->op == OP_LIST ? LIST_ARGUMENTS : 0;
  assert(!is_fold(k->op) && !is_set(k->op));
  for (; count < 5 && moves[count]; count++) {
    was[count] = r->at[moves[count] & 0xffff];
    r->at[moves[count] & 0xffff] = (char *)was[count] + i * (moves[count] >> 16);
  }
  for (size_t j = 1; j <= arguments; j++) r->at[k->a + j] = (k_span *)r->at[k->a + j] + i;
  if (k->op < OP_CONTROLS)
    done = r->ops[k->op](k, r->at, 1);
  else if (is_note(k->op) || k->op == OP_DO_NOTES || k->op == OP_LIST)
    done = running_note_or_list(r, k, 1);
  else
    running_control(r, (uint32_t)(k - r->p->insns), 1);
  for (size_t j = 1; j <= arguments; j++) r->at[k->a + j] = (k_span *)r->at[k->a + j] - i;
  /* cppcheck-suppress uninitvar */
  while (count--) r->at[moves[count] & 0xffff] = was[count];
  return done == 1;
}

/* An operand's value in row i, of a type that notes have; or the value for all rows. */
static k_scalar rows_operand(const struct running *r, uint32_t operand, k_type type, size_t i) {
  return note_value_at(type, r->at[operand], rows_lane(r->p, operand) ? i : 0);
}

bool rows_puts(struct running *r, const k_insn *k, size_t i) {
  const k_orders *orders = r->run->orders;
  const k_site *site = &r->p->sites[k->dst - r->numbers->sites];
  void *at = ((const k_cell *)r->at[k->c])[i].at;
  if (!at || r->waiting_count || !(orders->plain >> site->order & 1) || *orders->deferred ||
      r->store_count == ROW_STORES)
    return false;
  rows_note_store(r, at, column_size((k_column)(site->cell - 1)));
  return true;
}

bool rows_order(struct running *r, const k_insn *k, size_t i) {
  const k_orders *orders = r->run->orders;
  const k_site *site = &r->p->sites[k->dst - r->numbers->sites];
  if (orders->now) {
    int64_t entity = rows_operand(r, k->a, KT_I64, i).i64;
    k_scalar value = rows_operand(r, k->b, (k_type)site->type, i);
    if (r->store_count + STORED_AT_ONCE > ROW_STORES || r->waiting_count == ROW_ORDERS)
      return false;
    k_stored *stored = r->stores + r->store_count;
    k_now now = orders->now(orders->ud, site->order, entity, value, r->waiting, r->waiting_count,
                            &stored);
    r->store_count = (uint32_t)(stored - r->stores);
    if (now != K_LATER) return now == K_DONE;
    r->waiting[r->waiting_count++] = (k_ordered){site->order, entity};
  }
  struct row_insn moves;
  rows_measure(r->p, k, &moves);
  return rows_one(r, k, &moves, i);
}

void rows_fail(struct running *r, const k_insn *k, size_t i, bool room) {
  if (room)
    running_fail(r, k, i);
  else
    *r->failure = (k_failure){.row = r->first + i, .tag = k->tag, .error = KE_ROOM};
  rows_undo(r);
}

size_t rows_run(struct running *r, uint32_t pc, size_t n) {
  const struct program_layout *l = &r->p->layout;
  assert(r->p->insns[pc].op == OP_ROWS && r->p->row_count);
  for (uint32_t c = 0; c < r->p->column_count; c++)
    if (l->copied[c / 64] >> c % 64 & 1)
      memcpy(r->base + rows_copy_of(r->p, c), r->at[c],
             n * column_size((k_column)r->p->columns[c]));
  for (uint32_t j = 0; j < l->fetch_count; j++)
    for (size_t i = 0; i < n && i < ROWS_AHEAD; i++)
      FETCH(((const k_cell *)(const void *)(r->base + l->fetched[j]))[i].at);
  return rows_do(r, &r->p->insns[pc + 1], n);
}

/* ---- where the code of instructions is ---- */

uint32_t rows_begin_at(const struct program *p) {
  uint32_t pc = p->prologue;
  while (pc < p->insn_count && p->insns[pc].op != OP_ROWS) pc++;
  return pc < p->insn_count ? pc + 1 : 0;
}

/* Whether a row can fail after an instruction, possibly in a later round of a loop. */
static bool rows_can_fail_behind(const struct program *p, uint32_t pc) {
  uint32_t from = p->prologue;
  while (from < pc && (p->insns[from].op != OP_LOOP || p->insns[from].c < pc)) from++;
  while (from < p->insn_count && !op_table[OP_NUMBER(p->insns[from].op)].error) from++;
  return from < p->insn_count;
}

/* Whether an instruction stores to a cell, and the row can fail after that, so that what the cell
** has must be kept. The cell was found by an instruction before it. */
static bool rows_keeps(const struct program *p, uint32_t pc, uint32_t arrays) {
  const k_insn *k = &p->insns[pc], *at = k;
  if (!stores_cells(k->op) || !rows_can_fail_behind(p, pc)) return false;
  while (at > p->insns && (at == k || at->dst != k->a)) at--;
  uint32_t op = OP_NUMBER(at->op), array = at->b - arrays;
  bool loose = op >= OP_AT_1 && op <= OP_AT_8 && p->loose >> array & 1;
  return !is_set(k->op) || !loose || at->dst != k->a;
}

/* The code of an instruction. Those with operands other than lanes and scalars of 1, 4 or 8 bytes,
** arrays and bitmaps use their loop. */
static uint32_t rows_code(const struct program *p, uint32_t pc) {
  const k_insn *k = &p->insns[pc];
  switch (k->op) {
    case OP_SKIP: return ROWS_SKIP;
    case OP_LOOP: return ROWS_LOOP;
    case OP_END: return ROWS_END;
    case OP_DO_NOTES: return ROWS_DO;
    default: break;
  }
  uint32_t op = OP_NUMBER(k->op);
  if (k->op & OP_SCALAR) return op_is_row[op] ? ROWS_SCALARS + op : ROWS_SCALAR;
  if (is_note(k->op)) return k->c == K_NO_OPERAND ? ROWS_NOTE : ROWS_PUT;
  bool row = k->op < OP_CONTROLS && op_is_row[k->op];
  return row && !strpbrk(op_table[k->op].signature, "123456ebtpq") ? k->op : ROWS_ONE;
}

/* An operand's offset in a machine's buffer: the lane of the first row, a scalar, the mask of all
** rows, or the address of anything else. */
static uint32_t rows_offset(struct program *p, uint32_t operand) {
  struct program_layout *l = &p->layout;
  const struct numbering *numbers = &l->numbers;
  if (operand < numbers->reg1) {
    l->copied[operand / 64] |= UINT64_C(1) << operand % 64;
    return rows_copy_of(p, operand);
  }
  if (operand < numbers->reg4) return l->reg1 + (operand - numbers->reg1) * (p->block + l->apart);
  if (operand < numbers->reg8)
    return l->reg4 + (operand - numbers->reg4) * (4u * p->block + l->apart);
  if (operand < numbers->scalars)
    return l->reg8 + (operand - numbers->reg8) * (8u * p->block + l->apart);
  if (operand < numbers->all)
    return l->scalars + (operand - numbers->scalars) * (uint32_t)sizeof(k_scalar);
  return operand == numbers->all ? 0 : l->at + operand * (uint32_t)sizeof(void *);
}

static void rows_translate_insn(struct program *p, uint32_t pc, uint32_t first) {
  const k_insn *k = &p->insns[pc];
  struct row_insn *to = &p->rows[pc - first];
  uint32_t code = rows_code(p, pc);
  bool keeps = rows_keeps(p, pc, p->layout.numbers.arrays);
  memset(to, 0, sizeof *to);
  to->go = rows_code_of(keeps ? ROWS_KEEP : code);
  to->to = code;
  if (code == ROWS_ONE) rows_measure(p, k, to);
  if (code == ROWS_ONE || code == ROWS_SCALAR) return;
  const uint16_t operands[5] = {k->dst, k->a, k->b, k->c, k->d};
  uint32_t *const offsets[5] = {&to->dst, &to->a, &to->b, &to->c, &to->d};
  const char *signature = op_table[OP_NUMBER(k->op)].signature;
  for (int i = 0; i < 5; i++)   /* except numbers of instructions and folds */
    if (!strchr("-jn", signature[i])) *offsets[i] = rows_offset(p, operands[i]);
  if (code == ROWS_PUT) {   /* its operands are those of the instruction that sets the cell */
    to->a = to->c;
    to->to = OP_SET_BOOL + p->sites[k->dst - p->layout.numbers.sites].cell - 1u;
  }
  if (k->op == OP_SKIP) to->to = k->c - first;
  if (k->op == OP_LOOP || k->op == OP_END) to->to = k->c + 1u - first;
}

/* Prefetches the cells of an instruction, if they are known in advance. */
static void rows_fetch(struct program *p, uint32_t pc, uint32_t first, uint32_t end) {
  struct program_layout *l = &p->layout;
  const k_insn *k = &p->insns[pc];
  uint32_t cell = is_note(k->op) ? k->c : k->a, known = 0;
  if (!is_note(k->op) && (k->op < OP_GET_BOOL || k->op > OP_SET_U32)) return;
  if (cell < l->numbers.reg8 || cell >= l->numbers.scalars) return;
  for (uint32_t i = first; i < end; i++)
    if (p->insns[i].dst == cell) return;
  uint32_t at = rows_offset(p, cell);
  while (known < l->fetch_count && l->fetched[known] != at) known++;
  if (known == ROWS_FETCHED) return;
  l->fetched[known] = at;
  if (known == l->fetch_count) l->fetch_count++;
}

void rows_translate(struct program *p) {
  uint32_t first = rows_begin_at(p);
  if (!first) return;
  uint32_t end = p->insns[first - 1].c;
  for (uint32_t pc = first; pc < end; pc++) rows_translate_insn(p, pc, first);
  for (uint32_t pc = first; pc < end; pc++) rows_fetch(p, pc, first, end);
  p->rows[end - first] = (struct row_insn){.go = rows_code_of(ROWS_NEXT)};
}

bool rows_can_undo(const struct program *p, uint32_t arrays) {
  for (uint32_t pc = rows_begin_at(p); pc && pc < p->insn_count; pc++) {
    if (is_note(p->insns[pc].op) || rows_keeps(p, pc, arrays)) return true;
  }
  return false;
}
