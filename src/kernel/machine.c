/* Runs programs: block after block of rows, instruction after instruction. When a row fails, the
** block shrinks to the rows before it, so the last failure seen is that of the first failing row,
** and what is stored afterwards (the builder stores after everything that can fail) is stored only
** for the rows before it. */
#include "kernel/machine.h"

#define ALIGNMENT 64

static uint32_t machine_align(uint32_t n) {
  return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The offset after that many bytes; for checked programs 32 bits suffice. */
static uint32_t machine_behind(uint32_t from, size_t count, size_t size) {
  assert(count * size < UINT32_MAX / 16);
  return from + (uint32_t)(count * size);
}

/* Rows that are gathered together, and bytes before the lanes of each operand. */
enum { DENSE = 128, DENSE_HEAD = ALIGNMENT };

/* Whether there may be code that only some rows of a block run. */
static bool machine_leaves_out(const struct program *p) {
  uint32_t pc = p->prologue;
  while (pc < p->insn_count && p->insns[pc].op != OP_LOOP && p->insns[pc].op != OP_SKIP) pc++;
  return pc < p->insn_count;
}

static struct program_layout machine_lay_out(const struct program *p) {
  struct program_layout l = {.at = K_BLOCK, .numbers = program_numbering(p)};
  l.scalars = machine_align(machine_behind(l.at, l.numbers.count, sizeof(void *)));
  l.kept = machine_behind(l.scalars, p->scalar_count, sizeof(k_scalar));
  l.totals = machine_behind(l.kept, p->scalar_count, sizeof(k_scalar));
  l.notes = machine_behind(l.totals, p->total_count, sizeof(k_folding));
  l.undoes = rows_can_undo(p, l.numbers.arrays);
  l.stores = machine_align(machine_behind(l.notes, 1, notes_room(p)));
  l.waiting = machine_behind(l.stores, l.undoes ? ROW_STORES : 0, sizeof(k_stored));
  l.lists = machine_align(machine_behind(l.waiting, l.undoes && p->site_count ? ROW_ORDERS : 0,
                                         sizeof(k_ordered)));
  l.reg8 = machine_behind(l.lists, p->list_count,
                          sizeof(k_span) * (LIST_ARGUMENTS + 1u) * p->block);
  if (p->row_count) l.apart = ALIGNMENT;
  l.reg4 = machine_behind(l.reg8, p->reg8_count, (size_t)8 * p->block + l.apart);
  l.reg1 = machine_behind(l.reg4, p->reg4_count, (size_t)4 * p->block + l.apart);
  l.copies = machine_behind(l.reg1, p->reg1_count, p->block + l.apart);
  l.end = machine_behind(l.copies, p->column_count, p->row_count ? 8u * p->block + l.apart : 0);
  l.dense = machine_align(machine_behind(l.end, p->row_count ? ROWS_AHEAD : 0, sizeof(void *)));
  l.end = machine_behind(l.dense, machine_leaves_out(p) ? l.numbers.scalars : 0,
                         DENSE_HEAD + sizeof(k_scalar) * DENSE);
  for (uint32_t i = 0; i < p->column_count; i++)
    l.row += (uint32_t)column_size((k_column)p->columns[i]);
  while (p->fold_count && l.unfolds < p->insn_count && p->insns[l.unfolds].op != OP_UNFOLD)
    l.unfolds++;
  l.plain = !p->bitmap_count && !p->total_count && !p->site_count && !p->starts;
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++)
    l.plain = l.plain && p->insns[pc].op < OP_CONTROLS;
  return l;
}

void program_lay_out(struct program *p) {
  p->layout = machine_lay_out(p);
  if (p->row_count) rows_translate(p);
}

struct machine *machine_new(struct memory *memory, k_isa isa) {
  struct machine *m = memory_array(memory, 1, sizeof *m);
  if (!m) return NULL;
  m->memory = m->running.notes.memory = memory;
  for (uint32_t i = 0; i < MAX_LISTS; i++) m->running.items[i].memory = memory;
  m->isa = isa;
  m->running.ops = isa_ops(isa);
  m->running.loops = isa_list_loops(isa);
  return m;
}

void machine_free(struct machine *m) {
  if (!m) return;
  buffer_free(m->memory, &m->buffer);
  buffer_free(m->memory, &m->running.saved);
  notes_free(&m->running.notes);
  for (uint32_t i = 0; i < MAX_LISTS; i++) items_free(&m->running.items[i]);
  memory_free(m->memory, m, sizeof *m);
}

size_t machine_room(const struct program *p) {
  assert(p->layout.end == machine_lay_out(p).end);
  return p->layout.end;
}

k_status machine_reserve(struct machine *m, const struct program *p) {
  if (!buffer_grow(m->memory, &m->buffer, machine_room(p), 0)) return K_ENOMEM;
  memset(m->buffer.data, 1, K_BLOCK);
  return K_OK;
}

/* Beyond the caches, shorter blocks are faster: the start of a block waits for memory, which the
** hardware prefetches only a little ahead; except for programs that mostly load. Inside the caches
** one block suffices if each column is used once. A block never spans two leaves of a total. */
size_t running_choose_block(const struct program *p, size_t rows) {
  enum { CACHED = 4 << 20 };
  bool cached = rows * ((size_t)p->layout.row + 1) <= CACHED;
  if (p->whole && cached && !p->total_count) return rows;
  bool busy = p->insn_count - p->prologue > 2 * p->column_count;
  size_t block = busy && p->block > MACHINE_SHORT && !cached ? MACHINE_SHORT : p->block;
  return p->total_count && K_LEAF % block != 0 ? 64 : block;
}

static void machine_set_registers(void **at, uint32_t from, uint32_t to, char *first, size_t size) {
  for (; from < to; from++, first += size) at[from] = first;
}

static inline void machine_set_scalars(const struct program *p, const k_run *run, k_scalar *scalars,
                                       void **at) {
  const k_scalar *uniforms = run->uniforms;
  uint32_t count = p->uniform_count, constants = p->constant_count;
  for (uint32_t i = 0; i < p->scalar_count; i++) at[i] = scalars + i;
  for (uint32_t i = 0; i < count; i++) scalars[i] = uniforms[i];
  for (uint32_t i = 0; i < constants; i++) scalars[count + i] = p->constants[i];
}

static void machine_set_block_registers(const struct program *p, char *base, void **at) {
  const struct program_layout *l = &p->layout;
  const struct numbering *numbers = &l->numbers;
  size_t block = p->block, apart = l->apart;
  machine_set_registers(at, numbers->reg1, numbers->reg4, base + l->reg1, block + apart);
  machine_set_registers(at, numbers->reg4, numbers->reg8, base + l->reg4, 4 * block + apart);
  machine_set_registers(at, numbers->reg8, numbers->scalars, base + l->reg8, 8 * block + apart);
}

static APART void machine_set_lists(const struct program *p, char *base, void **at) {
  const struct program_layout *l = &p->layout;
  machine_set_registers(at, l->numbers.lists, l->numbers.count, base + l->lists,
                        p->block * sizeof(k_span));
  memset(base + l->lists, 0, l->reg8 - l->lists);
}

/* Sets the addresses of operands that are the same for all tables. */
static void machine_set_up(const struct running *r, char *base) {
  const struct program *p = r->p;
  const struct program_layout *l = &p->layout;
  const struct numbering *numbers = &l->numbers;
  void **at = r->at;
  if (numbers->reg1 < numbers->scalars) machine_set_block_registers(p, base, at);
  machine_set_scalars(p, r->run, r->scalars, at + numbers->scalars);
  at[numbers->all] = base;
  if (UNLIKELY(p->list_count)) machine_set_lists(p, base, at);
  if (UNLIKELY(p->total_count))
    machine_set_registers(at, numbers->totals, numbers->start, base + l->totals, sizeof(k_folding));
  for (uint32_t i = 0, count = p->array_count; i < count; i++) {
    assert(r->run->arrays && r->run->arrays[i].count > 0);
    at[numbers->arrays + i] = (void *)(uintptr_t)&r->run->arrays[i];
  }
}

static inline void machine_set_columns(const struct running *r) {
  void *const *columns = r->run->columns;
  if (columns == r->at) return;
  for (uint32_t i = 0, count = r->p->column_count; i < count; i++) r->at[i] = columns[i];
}

/* Sets the addresses of the other operands, in a table's first block. */
static void machine_set_table(const struct running *r) {
  const struct program *p = r->p;
  const k_run *run = r->run;
  void **at = r->at;
  machine_set_columns(r);
  for (uint32_t i = 0; i < p->bitmap_count; i++) at[r->numbers->bitmaps + i] = run->bitmaps[i];
  at[r->numbers->start] = (void *)(uintptr_t)run->start;
  for (uint32_t i = 0; i < p->total_count; i++)
    k_fold_begin(at[r->numbers->totals + i], total_how(p, i), total_type(p, i));
}

/* Whether any of n lanes is set. In most masks that are not empty, an early lane is. */
static bool machine_any_lane(const uint8_t *mask, size_t n) {
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    uint64_t w[8];
    memcpy(w, mask + i, sizeof w);
    if (w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]) return true;
  }
  for (; i < n; i++)
    if (mask[i]) return true;
  return false;
}

static int64_t *machine_integer_at(const struct running *r, uint32_t operand) {
  assert(operand >= r->numbers->scalars && operand < r->numbers->all);
  return &((k_scalar *)r->at[operand])->i64;
}

static void machine_live(const struct running *r, const k_insn *k, size_t n) {
  int64_t *ids = r->at[k->dst];
  if ((void *)ids != r->at[k->a]) memcpy(ids, r->at[k->a], n * sizeof *ids);
  r->run->live(r->run->live_ud, ids, k->d == r->numbers->all ? NULL : r->at[k->d], n);
}

static void machine_look(const struct running *r, const k_insn *k, size_t n) {
  assert(k->b >= r->numbers->lookups && k->b < r->numbers->count && r->run->look);
  const uint8_t *mask = k->d == r->numbers->all ? NULL : r->at[k->d];
  r->run->look(r->run->look_ud, k->b - r->numbers->lookups, r->at[k->a], mask, r->at[k->dst], n);
}

/* ---- lists ---- */

/* The number of a list. */
static uint32_t machine_list_of(const struct running *r, uint32_t operand) {
  uint32_t list = (operand - r->numbers->lists) / (LIST_ARGUMENTS + 1);
  assert(operand >= r->numbers->lists && list < r->p->list_count);
  return list;
}

/* Lists items for n rows. Returns how many did not fail. */
static size_t machine_list(struct running *r, const k_insn *k, size_t n) {
  const uint8_t *mask = k->d == r->numbers->all ? NULL : r->at[k->d];
  uint32_t number = machine_list_of(r, k->a);
  k_listing listing = {r->at + k->a + 1, mask, r->at[k->a], &r->items[number], r->loops};
  int64_t *counts = r->at[k->dst];
  assert(r->run->list);
  listing.items->count = 0;
  size_t done = r->run->list(r->run->list_ud, number, &listing, n);
  for (size_t i = 0; i < done; i++) counts[i] = listing.spans[i].count;
  return done;
}

/* Spans may belong to an earlier listing: the items are then arbitrary. */
static void machine_pick(const struct running *r, const k_insn *k, size_t n) {
  uint64_t item = (uint64_t)*machine_integer_at(r, k->b);
  r->loops->pick(r->at[k->a], &r->items[machine_list_of(r, k->a)], item, r->at[k->dst], n);
}

static void machine_lay(const struct running *r, const k_insn *k) {
  uint32_t to = k->a - r->numbers->arrays, from = k->b - r->numbers->arrays;
  const k_array *arrays = r->run->arrays;
  size_t size = column_size((k_column)r->p->arrays[to]), done = size;
  char *data = (char *)(uintptr_t)arrays[to].data;
  size_t whole = size * (size_t)(arrays[from].count < arrays[to].count ? arrays[from].count
                                                                       : arrays[to].count);
  assert(r->run->rows == 1 && whole > 0);
  if (!*(const uint8_t *)r->at[k->d]) return;
  if (to != from) memcpy(data, arrays[from].data, whole);
  for (; to == from && done < whole; done *= 2)
    memcpy(data + done, data, done < whole - done ? done : whole - done);
}

/* Executes instruction `pc`, which chooses the next one. Returns the next one. */
uint32_t running_control(const struct running *r, uint32_t pc, size_t n) {
  const k_insn *k = &r->p->insns[pc];
  switch (k->op) {
    case OP_LOOP:
      *machine_integer_at(r, k->dst) = 0;
      if (*machine_integer_at(r, k->a) < 1 || !machine_any_lane(r->at[k->b], n)) return k->c + 1u;
      break;
    case OP_END:
      if (++*machine_integer_at(r, k->dst) < *machine_integer_at(r, k->a) &&
          machine_any_lane(r->at[k->b], n))
        return k->c + 1u;
      break;
    case OP_SKIP:
      if (!machine_any_lane(r->at[k->a], n)) return k->c;
      break;
    case OP_LIVE: machine_live(r, k, n); break;
    case OP_PICK: machine_pick(r, k, n); break;
    case OP_LAY: machine_lay(r, k); break;
    case OP_GIVE_F64:
    case OP_GIVE_I64:
    case OP_TAKE: memcpy(r->at[k->dst], r->at[k->a], n * sizeof(k_scalar)); break;
    default:
      assert(k->op >= OP_LOOK_BOOL && k->op <= OP_LOOK_CELL);
      machine_look(r, k, n);
  }
  return pc + 1;
}

/* Records that the instruction failed in this lane of the block; notes record why themselves. */
void running_fail(struct running *r, const k_insn *k, size_t lane) {
  k_failure *f = r->failure;
  assert((op_table[k->op].error != KE_NONE || is_set(k->op)) && r->first + lane < r->run->rows);
  f->row = r->first + lane;
  if (k->op == OP_DO_NOTES) return;
  f->tag = k->tag;
  f->error = (k_error)op_table[k->op].error;
}

/* Executes a note or list for n rows. Returns how many did not fail. */
size_t running_note_or_list(struct running *r, const k_insn *k, size_t n) {
  if (k->op == OP_LIST) return machine_list(r, k, n);
  if (k->op == OP_DO_NOTES) return notes_do(&r->notes, r->p, r->run->orders, n, r->failure);
  assert(k->dst >= r->numbers->sites && k->dst < r->numbers->count);
  uint32_t which = (k->op - (uint32_t)OP_NOTE_VV_F64) % 4;
  struct noted noted = {note_type(k->op), which >= 2, which % 2 == 1, r->at[k->a], r->at[k->b]};
  const uint8_t *mask = k->d == r->numbers->all ? NULL : r->at[k->d];
  return notes_add(&r->notes, k->dst - r->numbers->sites, &noted, mask, n);
}

static void machine_move_columns(struct running *r, ptrdiff_t rows) {
  for (uint32_t i = 0; i < r->p->column_count; i++)
    r->at[i] = (char *)r->at[i] + rows * (ptrdiff_t)column_size((k_column)r->p->columns[i]);
  r->first += (size_t)rows;
}

void running_move(struct running *r, ptrdiff_t rows) {
  const struct program *p = r->p;
  assert(rows % 64 == 0);
  machine_move_columns(r, rows);
  for (uint32_t i = 0; i < p->bitmap_count; i++)
    r->at[r->numbers->bitmaps + i] = (uint64_t *)r->at[r->numbers->bitmaps + i] + rows / 64;
  for (uint32_t i = 0; i < p->total_count; i++)
    ((k_folding *)r->at[r->numbers->totals + i])->row += (uint32_t)rows;
  if (p->starts) r->at[r->numbers->start] = (uint64_t *)r->at[r->numbers->start] + rows / 64;
}

/* ---- windows ---- */

/* If few rows of a block take part in a loop, or in code skipped under a mask, it runs for windows
** of the block, one after the other: consecutive groups of GROUP rows. The costs of an instruction
** besides its lanes, and of moving an operand, are given in lanes. */
enum { GROUP = 8, LANES_OF_INSN = 32, LANES_OF_OPERAND = 12, ROUNDS = 16, FEWEST_INSNS = 32 };

struct window {
  size_t from, to;
};

static bool machine_any_in_group(const uint8_t *mask, size_t n, size_t at) {
  return machine_any_lane(mask + at, n - at < GROUP ? n - at : GROUP);
}

/* The next window after the given one, among n lanes; false if there is none. */
static bool machine_next_window(const uint8_t *mask, size_t n, struct window *window) {
  size_t at = window->to;
  while (at < n && !machine_any_in_group(mask, n, at)) at += GROUP;
  window->from = at;
  while (at < n && machine_any_in_group(mask, n, at)) at += GROUP;
  window->to = at < n ? at : n;
  return window->from < n;
}

/* Whether instructions may run in windows instead of the whole block. A list must not outlive its
** loop: windows do not keep it. Notes of several windows would have to be sorted. */
static bool machine_is_movable(const struct running *r, uint32_t pc, uint32_t end,
                               uint32_t windows) {
  const struct numbering *numbers = r->numbers;
  bool movable = true, loops = r->p->insns[pc].op == OP_LOOP;
  for (; pc < end && movable; pc++) {
    const k_insn *k = &r->p->insns[pc];
    bool folds = is_fold(k->op) || k->op == OP_UNFOLD, lists = k->op == OP_LIST && !loops;
    bool notes = k->op == OP_DO_NOTES || (is_note(k->op) && windows > 1);
    movable = !folds && !lists && !notes && k->op != OP_ROWS;
    const uint16_t operands[] = {k->dst, k->a, k->b, k->d};
    for (int i = 0; i < 4; i++)
      movable &= operands[i] <= numbers->all || operands[i] >= numbers->arrays;
  }
  return movable;
}

/* The mask of a loop or of skipped code. The second: the instruction after it. */
static const uint8_t *machine_mask(const struct running *r, const k_insn *k) {
  return r->at[k->op == OP_LOOP ? k->b : k->a];
}

static uint32_t machine_exit(const k_insn *k) { return k->op == OP_LOOP ? k->c + 1u : k->c; }

/* How many instructions a loop, or skipped code, runs; 0 if it always runs for the whole block. */
static double machine_insns(const struct running *r, uint32_t pc, size_t n) {
  const k_insn *k = &r->p->insns[pc];
  int64_t rounds = k->op == OP_LOOP ? *machine_integer_at(r, k->a) : 1;
  if (r->narrow || n <= (size_t)2 * GROUP || rounds < 1) return 0;
  if (k->op == OP_SKIP && k->c - pc < FEWEST_INSNS) return 0;
  return (double)(k->c - pc) * (double)(rounds < ROUNDS ? rounds : ROUNDS);
}

/* Whether windows take at most three quarters of the time that the whole block takes. */
static bool machine_is_narrow(const struct running *r, uint32_t pc, size_t n) {
  const k_insn *k = &r->p->insns[pc];
  const struct numbering *numbers = r->numbers;
  double times = machine_insns(r, pc, n), work = 0;
  if (times == 0) return false;
  double most = 0.75 * times * (double)(LANES_OF_INSN + n);
  uint32_t operands = numbers->scalars + numbers->count - numbers->lists, windows = 0;
  struct window w = {0, 0};
  for (; work <= most && machine_next_window(machine_mask(r, k), n, &w); windows++)
    work += times * (double)(LANES_OF_INSN + w.to - w.from) + LANES_OF_OPERAND * operands;
  return windows > 0 && work <= most && machine_is_movable(r, pc, k->c, windows);
}

/* ---- gathered rows ---- */

/* If those rows are scattered, the lanes that the code uses are gathered, run together, and put
** back. Of a row the code must use only registers and columns, and write only the former. */
enum { LANE_WORDS = (MAX_COLUMNS + 3 * MAX_REGISTERS) / 64 };
struct lanes {
  uint64_t used[LANE_WORDS], written[LANE_WORDS];
  uint32_t count;              /* of those that are used */
};

static bool machine_has_lane(const uint64_t *bits, uint32_t operand) {
  return bits[operand / 64] >> operand % 64 & 1;
}

/* Adds the lanes of an instruction; false if it uses more of a row. */
static bool machine_add_lanes(const struct running *r, const k_insn *k, struct lanes *lanes) {
  const struct numbering *numbers = r->numbers;
  const uint16_t operands[5] = {k->dst, k->a, k->b, k->c, k->d};
  uint32_t op = OP_NUMBER(k->op);
  bool control = op == OP_LOOP || op == OP_END || op == OP_SKIP || op == OP_LIVE ||
                 (op >= OP_LOOK_BOOL && op <= OP_LOOK_CELL);
  if (op < OP_CONTROLS ? is_fold(op) || is_set(op) : !control) return false;
  for (int i = 0; i < 5; i++) {
    uint32_t operand = operands[i];
    if (strchr("-j", op_table[op].signature[i])) continue;
    bool of_rows = operand > numbers->all && operand < numbers->arrays;
    if (of_rows || operand >= numbers->sites || (i == 0 && operand < numbers->reg1)) return false;
    if (operand >= numbers->scalars) continue;
    lanes->count += !machine_has_lane(lanes->used, operand);
    lanes->used[operand / 64] |= UINT64_C(1) << operand % 64;
    if (i == 0) lanes->written[operand / 64] |= UINT64_C(1) << operand % 64;
  }
  return true;
}

static size_t machine_count_lanes(const uint8_t *mask, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += mask[i] != 0;
  return count;
}

/* Whether gathered rows take at most half of the time that the whole block takes. */
static bool machine_is_sparse(const struct running *r, uint32_t pc, size_t n, struct lanes *lanes) {
  const k_insn *k = &r->p->insns[pc];
  double times = machine_insns(r, pc, n);
  if (times == 0) return false;
  size_t rows = machine_count_lanes(machine_mask(r, k), n);
  if (rows == 0 || rows > n / 4) return false;
  *lanes = (struct lanes){.count = 0};
  for (uint32_t i = pc; i < machine_exit(k); i++)
    if (!machine_add_lanes(r, &r->p->insns[i], lanes)) return false;
  size_t parts = (rows + DENSE - 1) / DENSE;
  double work = times * (double)(LANES_OF_INSN * parts + rows);
  work += (double)(LANES_OF_OPERAND * parts + 3 * rows) * lanes->count;
  return work <= 0.5 * times * (double)(LANES_OF_INSN + n);
}

/* The next rows of a mask, as many as fit, from *at on. */
static size_t machine_next_rows(const uint8_t *mask, size_t n, size_t *at, uint16_t rows[DENSE]) {
  size_t count = 0;
  for (; *at < n && count < DENSE; ++*at)
    if (mask[*at]) rows[count++] = (uint16_t)*at;
  return count;
}

/* Copies lanes: from those of the rows, or back. */
static void machine_copy_lanes(char *block, char *dense, size_t size, const uint16_t *rows,
                               size_t count, bool back) {
  for (size_t i = 0; i < count; i++) {
    char *of = block + rows[i] * size, *to = back ? of : dense + i * size;
    const char *from = back ? dense + i * size : of;
    switch (size) {
      case 1: *to = *from; break;
      case 4: memcpy(to, from, 4); break;
      case 8: memcpy(to, from, 8); break;
      default: memcpy(to, from, size); break;
    }
  }
}

/* Replaces the operands by gathered lanes of the rows or, with `back`, puts them back. */
static void machine_gather(const struct running *r, const struct lanes *lanes,
                           const uint16_t *rows, size_t count, bool back) {
  char *slot = r->base + r->p->layout.dense;
  for (uint32_t i = 0; i < r->numbers->scalars; i++) {
    if (!machine_has_lane(lanes->used, i)) continue;
    size_t size = rows_lane(r->p, i);
    char *dense = slot + DENSE_HEAD;
    if (!back) memcpy(slot, &r->at[i], sizeof r->at[i]);
    char *block;
    memcpy(&block, slot, sizeof block);
    if (!back || machine_has_lane(lanes->written, i))
      machine_copy_lanes(block, dense, size, rows, count, back);
    r->at[i] = back ? block : dense;
    slot = dense + sizeof(k_scalar) * DENSE;
  }
}

/* Runs a loop, or skipped code, over gathered rows. Returns how many rows of the block did not
** fail. */
static size_t machine_run_gathered(struct running *r, uint32_t pc, size_t n,
                                   const struct lanes *lanes) {
  const k_insn *k = &r->p->insns[pc];
  uint32_t end = r->end;
  size_t size = r->p->scalar_count * sizeof *r->scalars, sound = n, at = 0, count;
  const uint8_t *mask = machine_mask(r, k);
  uint16_t rows[DENSE] = {0};
  memcpy(r->kept, r->scalars, size);
  r->narrow = true;
  r->end = machine_exit(k);
  while (sound == n && (count = machine_next_rows(mask, n, &at, rows)) > 0) {
    memcpy(r->scalars, r->kept, size);
    machine_gather(r, lanes, rows, count, false);
    size_t done = running_from(r, pc, count);
    machine_gather(r, lanes, rows, done, true);
    if (done == count) continue;
    sound = rows[done];
    r->failure->row = r->first + sound;
  }
  r->narrow = false;
  r->end = end;
  return sound;
}

/* Moves to other rows of the block. */
static void machine_move_within(struct running *r, ptrdiff_t rows) {
  const struct numbering *numbers = r->numbers;
  for (uint32_t i = numbers->reg1; i < numbers->scalars; i++) {
    ptrdiff_t size = i < numbers->reg4 ? 1 : i < numbers->reg8 ? 4 : 8;
    r->at[i] = (char *)r->at[i] + rows * size;
  }
  for (uint32_t i = numbers->lists; i < numbers->count; i++)
    r->at[i] = (char *)r->at[i] + rows * (ptrdiff_t)sizeof(k_span);
  machine_move_columns(r, rows);
  if (r->p->site_count) notes_move(&r->notes, rows);
}

/* Runs a loop, or skipped code, in windows. Returns how many rows did not fail. */
static size_t machine_run_windows(struct running *r, uint32_t pc, size_t n) {
  const k_insn *k = &r->p->insns[pc];
  uint32_t end = r->end;
  size_t size = r->p->scalar_count * sizeof *r->scalars, sound = n;
  const uint8_t *mask = machine_mask(r, k);
  memcpy(r->kept, r->scalars, size);
  r->narrow = true;
  r->end = machine_exit(k);
  for (struct window w = {0, 0}; sound == n && machine_next_window(mask, n, &w);) {
    size_t rows = w.to - w.from;
    memcpy(r->scalars, r->kept, size);
    machine_move_within(r, (ptrdiff_t)w.from);
    size_t done = running_from(r, pc, rows);
    machine_move_within(r, -(ptrdiff_t)w.from);
    if (done < rows) sound = w.from + done;
  }
  r->narrow = false;
  r->end = end;
  return sound;
}

/* Undoes what a fold has done for the rows from n on. */
static void machine_unfold(const struct running *r, const k_insn *k, size_t n) {
  const k_cell *cells = r->at[k->a];
  const k_scalar *was = r->at[k->b];
  const uint8_t *mask = r->at[k->d];
  uint32_t type = r->p->folds[k->c];
  for (size_t i = r->folded[k->c]; i-- > n;)
    if (mask[i] && cells[i].at) memcpy(cells[i].at, &was[i], column_size((k_column)type));
}

/* No row of the block is valid: undoes all folds. */
static RARE size_t machine_leave_all(const struct running *r) {
  for (uint32_t pc = r->p->layout.unfolds; r->p->fold_count && pc < r->p->insn_count; pc++)
    if (r->p->insns[pc].op == OP_UNFOLD) machine_unfold(r, &r->p->insns[pc], 0);
  return 0;
}

size_t running_from(struct running *r, uint32_t pc, size_t n) {
  const k_insn *insns = r->p->insns;
  uint32_t end = r->end;
  void *const *at = r->at;
  while (pc < end) {
    const k_insn *k = &insns[pc];
    if (LIKELY(k->op < OP_CONTROLS) || is_note(k->op) || k->op == OP_DO_NOTES ||
        k->op == OP_LIST) {
      size_t done = LIKELY(k->op < OP_CONTROLS) ? r->ops[k->op](k, at, n)
                                                : running_note_or_list(r, k, n);
      pc++;
      assert(done <= n);
      if (UNLIKELY(is_fold(k->op))) r->folded[k->c] = (uint32_t)done;
      if (LIKELY(done == n)) continue;
      running_fail(r, k, done);
      n = done;
      if (n == 0) return r->narrow ? 0 : machine_leave_all(r);
    } else if (k->op & OP_SCALAR) {
      r->ops[OP_NUMBER(k->op)](k, at, 1);
      pc++;
    } else if (k->op == OP_ROWS) {
      n = rows_run(r, pc, n);
      if (n == 0) return machine_leave_all(r);
      pc = k->c;
    } else if (k->op == OP_UNFOLD) {
      machine_unfold(r, k, n);
      pc++;
    } else {
      bool some = k->op == OP_LOOP || k->op == OP_SKIP;
      struct lanes lanes;
      bool sparse = some && machine_is_sparse(r, pc, n, &lanes);
      if (!sparse && (!some || !machine_is_narrow(r, pc, n))) {
        pc = running_control(r, pc, n);
        continue;
      }
      n = sparse ? machine_run_gathered(r, pc, n, &lanes) : machine_run_windows(r, pc, n);
      if (n == 0) return machine_leave_all(r);
      pc = machine_exit(k);
    }
  }
  return n;
}

void running_clear(struct running *r, size_t n) {
  if (r->p->site_count) notes_clear(&r->notes, r->first);
  if (r->p->fold_count) memset(r->folded, 0, r->p->fold_count * sizeof *r->folded);
  for (uint32_t i = 0; i < r->p->list_count; i++)
    memset(r->at[r->numbers->lists + i * (LIST_ARGUMENTS + 1)], 0, n * sizeof(k_span));
}

bool running_opens(const struct running *r, size_t n) {
  const uint64_t *words = r->at[r->numbers->start];
  for (uint32_t i = 0; i < r->p->bitmap_count; i++)
    memset(r->at[r->numbers->bitmaps + i], 0, (n + 63) / 64 * sizeof(uint64_t));
  if (!r->p->starts) return true;
  for (size_t w = 0; w < (n + 63) / 64; w++)
    if (words[w]) return true;
  return false;
}

bool running_blocks(struct running *r, size_t rows, size_t block) {
  for (;;) {
    size_t n = rows < block ? rows : block;
    if (running_opens(r, n)) {
      running_clear(r, n);
      if (running_from(r, r->p->prologue, n) < n) return false;
    }
    rows -= n;
    if (rows == 0) return true;
    running_move(r, (ptrdiff_t)n);
  }
}

k_status machine_open(struct machine *m, const struct program *p, const k_run *run) {
  const struct program_layout *l = &p->layout;
  char *base = m->buffer.data;
  assert(l->end == machine_lay_out(p).end && l->numbers.count == program_numbering(p).count);
  if (m->buffer.size < (size_t)l->end + ALIGNMENT) return K_EINVAL;
  struct running *r = &m->running;   /* zeroing what machine_over sets would take a third as long */
  r->p = p;
  r->numbers = &l->numbers;
  r->run = run;
  r->end = p->insn_count;
  r->base = base;
  r->at = (void **)(void *)(base + l->at);
  r->scalars = (k_scalar *)(void *)(base + l->scalars);
  r->kept = (k_scalar *)(void *)(base + l->kept);
  r->stores = (k_stored *)(void *)(base + l->stores);
  r->waiting = (k_ordered *)(void *)(base + l->waiting);
  r->store_count = r->waiting_count = 0;
  r->saves = r->narrow = false;
  if (p->site_count) notes_open(&r->notes, p, base + l->notes);
  machine_set_up(r, base);
  const op_fn *ops = r->ops;
  void **at = r->at;
  for (const k_insn *k = r->p->insns, *end = k + r->p->prologue; k < end; k++) {
    assert(k->op & OP_SCALAR);
    ops[OP_NUMBER(k->op)](k, at, 1);
  }
  return K_OK;
}

RARE k_status running_go_on(struct running *r, uint32_t pc, size_t row) {
  running_fail(r, &r->p->insns[pc - 1], row);
  if (row > 0) running_from(r, pc, row);
  return K_FAILED;
}

void running_begin(struct running *r, k_failure *failure) {
  failure->error = KE_NONE;
  r->failure = failure;
  r->first = 0;
  machine_set_table(r);
}

/* Keeps the totals of the rows before one that failed. */
static RARE void machine_keep_parts(const struct program *p, const k_run *run,
                                    const k_folding *foldings, size_t row) {
  size_t words = (run->rows + 63) / 64;
  for (uint32_t i = 0; i < p->bitmap_count; i++) {
    uint64_t *bits = run->bitmaps[i];
    if (row % 64 != 0) bits[row / 64] &= ((uint64_t)1 << (row % 64)) - 1;
    for (size_t w = (row + 63) / 64; w < words; w++) bits[w] = 0;
  }
  for (uint32_t i = 0; i < p->total_count; i++)
    if (run->totals[i].part) *run->totals[i].part = foldings[i];
}

k_status running_end(const struct program *p, const k_run *run, k_folding *foldings,
                     const k_failure *failure) {
  for (uint32_t i = 0; i < p->total_count; i++)
    if (total_follows(p, i)) fold_floats(&foldings[i], &foldings[i - 1]);
  if (UNLIKELY(failure->error != KE_NONE)) {
    machine_keep_parts(p, run, foldings, failure->row);
    return K_FAILED;
  }
  for (uint32_t i = 0; i < p->total_count; i++)
    k_fold_end(&foldings[i], total_how(p, i), total_type(p, i), &run->totals[i]);
  return K_OK;
}

/* ---- a run ---- */

static APART k_status machine_run_rows(struct running *r, k_failure *failure) {
  failure->error = KE_NONE;
  if (r->run->rows == 0) return K_OK;
  running_begin(r, failure);
  running_blocks(r, r->run->rows, running_choose_block(r->p, r->run->rows));
  return running_end(r->p, r->run, r->at[r->numbers->totals], failure);
}

k_status machine_over(struct machine *m, k_failure *failure) {
  struct running *r = &m->running;
  size_t rows = r->run->rows;
  const struct program *p = r->p;
  if (!p->layout.plain || rows > MACHINE_SHORT || rows > p->block)
    return machine_run_rows(r, failure);
  machine_set_columns(r);
  return LIKELY(rows > 0) ? running_short(r, rows, failure) : K_OK;
}

k_status machine_run(struct machine *m, const struct program *p, const k_run *run,
                     k_failure *failure) {
  k_status status = machine_open(m, p, run);
  return status == K_OK ? machine_over(m, failure) : status;
}

bool k_commands_next(uint64_t *const *bitmaps, uint32_t count, size_t rows, k_cursor *at,
                     size_t *row, uint32_t *index) {
  while (at->row < rows) {
    size_t word = at->row / 64;
    uint64_t any = 0;
    for (uint32_t i = 0; i < count; i++) any |= bitmaps[i][word];
    any >>= at->row % 64;
    if (any == 0) {
      at->row = (word + 1) * 64;
      at->index = 0;
      continue;
    }
    for (; at->index < count; at->index++)
      if (bitmaps[at->index][word] >> (at->row % 64) & 1) {
        *row = at->row;
        *index = at->index++;
        return true;
      }
    at->row++;
    at->index = 0;
  }
  return false;
}
