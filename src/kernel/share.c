#include "kernel/share.h"

#include "core/base/pool.h"
#include "core/base/thread.h"
#include "kernel/machine.h"
#include "kernel/ops.h"

/* ---- what can be shared ---- */

enum { LOOK_WEIGHT = 20, LIVE_WEIGHT = 8, NOTE_WEIGHT = 12, LIST_WEIGHT = 200 };
enum { ROW_WEIGHT = 8 };   /* of an instruction that runs row by row */

static uint32_t share_weight_of(const k_insn *k) {
  uint32_t op = OP_NUMBER(k->op);
  if (k->op & OP_SCALAR) return 0;
  if (op == OP_LIVE) return LIVE_WEIGHT;
  if (op == OP_LIST) return LIST_WEIGHT;
  if (op >= OP_LOOK_BOOL && op <= OP_LOOK_CELL) return LOOK_WEIGHT;
  return is_note(op) || op == OP_DO_NOTES ? NOTE_WEIGHT : 1;
}

/* The first instruction after the last one that can fail, not counting effects on other entities;
** never inside a loop or skip. */
static uint32_t share_behind_failures(const struct program *p) {
  uint32_t last = p->prologue;
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++) {
    const k_insn *k = &p->insns[pc];
    if (k->op == OP_ROWS) {
      pc = k->c - 1u;
      continue;
    }
    if (op_table[OP_NUMBER(k->op)].error && k->op != OP_DO_NOTES && !is_fold(k->op)) last = pc + 1;
  }
  for (uint32_t pc = p->prologue; pc < last; pc++) {
    const k_insn *k = &p->insns[pc];
    uint32_t end = k->op == OP_LOOP ? k->c + 1u : k->op == OP_SKIP ? k->c : 0;
    if (end > last) last = end;
  }
  return last;
}

/* The first instruction with effects beyond a row's own; *passed is after the last such one. */
static uint32_t share_find_deeds(const struct program *p, uint32_t *passed) {
  uint32_t first = p->insn_count;
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++) {
    uint32_t op = p->insns[pc].op;
    if (op != OP_DO_NOTES && !is_fold(op) && op != OP_UNFOLD && op != OP_ROWS) continue;
    if (first == p->insn_count) first = pc;
    if (op == OP_ROWS) pc = p->insns[pc].c - 1u;
    *passed = pc + 1;
  }
  return first;
}

/* Whether one of the instructions before another writes to a column. */
static bool share_writes_before(const struct program *p, uint32_t end) {
  for (uint32_t pc = p->prologue; pc < end; pc++)
    if (p->insns[pc].dst < p->column_count) return true;
  return false;
}

/* Why blocks cannot take turns, or NULL. */
static const char *share_find_turn(const struct program *p, struct sharing *sharing) {
  uint32_t rows = rows_begin_at(p), sound = share_behind_failures(p), passed = sound;
  bool deeds = p->site_count || p->fold_count || rows;
  uint32_t turn = deeds ? share_find_deeds(p, &passed) : sound;
  if (p->site_count && (p->lookup_count || program_info(p).live))
    return "rows read other entities or strings, and also change, spawn or emit";
  if (p->total_count && p->block != K_LEAF)
    return "it adds up a total, and also writes and can fail, or uses an index";
  if (turn < sound || passed > p->insn_count || share_writes_before(p, passed))
    return "rows write before the last step that can fail";
  sharing->serves = p->site_count || p->list_count;
  sharing->turn = (uint16_t)turn;
  sharing->passed = (uint16_t)passed;
  return NULL;
}

struct sharing sharing_of(const struct program *p) {
  struct sharing sharing = {.weight = 1};
  uint32_t ordered = rows_begin_at(p), end = ordered ? p->insns[ordered - 1].c : 0, alone = 0;
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++)
    *(pc >= ordered && pc < end ? &alone : &sharing.weight) += share_weight_of(&p->insns[pc]);
  bool deeds = p->site_count || p->fold_count || ordered;
  bool writes = deeds || share_writes_before(p, p->insn_count);
  bool fails = p->site_count || p->fold_count || program_info(p).fails;
  sharing.takes_turns = (writes && fails) || p->list_count;
  /* Only one thread at a time runs the ordered part. */
  sharing.weight = sharing.weight > ROW_WEIGHT * alone ? sharing.weight - ROW_WEIGHT * alone : 1;
  if (sharing.takes_turns)
    sharing.why_not = share_find_turn(p, &sharing);
  return sharing;
}

bool share_is_possible(const struct pool *pool, const struct sharing *sharing) {
  return !sharing->why_not && (!sharing->serves || pool_is_own(pool));
}

bool share_is_worth(const struct pool *pool, const struct sharing *sharing, size_t rows) {
  if (!share_is_possible(pool, sharing)) return false;
  if (pool_is_eager(pool)) return rows > POOL_SMALLEST;
  return rows > K_LEAF && pool_is_worth(pool, (uint64_t)rows * sharing->weight);
}

/* ---- room ---- */

void helpers_free(struct helpers *helpers, struct memory *memory) {
  for (uint32_t i = 0; i < helpers->count; i++) machine_free(helpers->machines[i]);
  memory_free(memory, helpers->machines, helpers->count * sizeof *helpers->machines);
  buffer_free(memory, &helpers->foldings);
  memset(helpers, 0, sizeof *helpers);
}

static bool share_reserve_machine(struct machine **at, const struct machine *own,
                                  const struct program *p) {
  if (!*at) *at = machine_new(own->memory, own->isa);
  if (!*at) return false;
  (*at)->running.notes.fixed = true;
  for (uint32_t i = 0; i < MAX_LISTS; i++) (*at)->running.items[i].fixed = true;
  return machine_reserve(*at, p) == K_OK;
}

bool helpers_reserve(struct helpers *helpers, const struct machine *own, uint32_t count,
                     const struct program *p) {
  if (!helpers->machines) {
    helpers->machines = memory_array(own->memory, count, sizeof *helpers->machines);
    if (!helpers->machines) return false;
    helpers->count = count;
  }
  assert(helpers->count == count);
  size_t room = machine_room(p);
  if (room <= helpers->room) return true;
  for (uint32_t i = 0; i < count; i++)
    if (!share_reserve_machine(&helpers->machines[i], own, p)) return false;
  helpers->room = room;
  return true;
}

/* ---- sharing a run ---- */

/* A run that threads share. */
struct share {
  const struct helpers *helpers;
  struct machine *own;
  const struct sharing *sharing;
  const struct program *p;
  const k_run *run;
  size_t chunk;                /* rows that a thread takes at a time */
  size_t block;
  uint32_t chunks;
  k_folding *foldings;         /* for each chunk, one for each total */
  k_failure *failure;          /* that of chunk `failed` */
  char apart[64];              /* keeps what is written off the cache lines of what is read */
  uint32_t failed;             /* the first chunk known to have failed, or NONE */
  uint32_t guard;              /* 1 while a thread writes `failed` and *failure */
  uint32_t turn;               /* the chunk whose turn it is */
  uint32_t asks;               /* 1 while the thread that has the turn waits for the caller */
  struct running *client;      /* to carry out what this one has noted, */
  size_t client_rows;          /* or to make room for it; number of valid rows */
  char behind[64];
  struct portions portions;    /* one portion, if blocks take turns */
};

static void share_note_failure(struct share *s, uint32_t chunk, const k_failure *failure) {
  while (!shared_replace(&s->guard, 0, 1)) thread_pause();
  if (chunk < s->failed) {
    *s->failure = *failure;
    shared_set(&s->failed, chunk);
  }
  shared_set(&s->guard, 0);
}

/* The rows of a chunk, from r's position. */
static size_t share_rows_of(const struct share *s, uint32_t chunk) {
  size_t from = chunk * s->chunk, left = s->run->rows - from;
  return left < s->chunk ? left : s->chunk;
}

static void share_go_to(struct running *r, const struct share *s, uint32_t chunk) {
  uint32_t totals = s->p->total_count;
  for (uint32_t i = 0; i < totals; i++) {
    k_folding *f = &s->foldings[(size_t)chunk * totals + i];
    k_fold_begin(f, total_how(s->p, i), total_type(s->p, i));
    r->at[r->numbers->totals + i] = f;
  }
  running_move(r, (ptrdiff_t)(chunk * s->chunk) - (ptrdiff_t)r->first);
  for (uint32_t i = 0; i < totals; i++) {
    k_folding *f = r->at[r->numbers->totals + i];
    assert(f->rows == 0);
    f->leaf = chunk;
    f->row = chunk * K_LEAF;
  }
}

/* ---- turns ---- */

/* Spins, and then yields. */
static void share_wait_a_little(uint32_t *times) {
  enum { PATIENCE = 500 };
  (++*times < PATIENCE ? thread_pause : thread_yield)();
}

/* Carries out what the rows of a block have noted. Returns how many are valid. */
static size_t share_do_notes(const struct share *s, struct running *r, size_t rows) {
  r->end = s->sharing->passed;
  return rows ? running_from(r, s->sharing->turn, rows) : 0;
}

/* Whether a block needs more room than it has. */
static bool share_is_outgrown(const struct share *s, const struct running *r) {
  bool outgrown = s->p->site_count && r->notes.outgrown;
  for (uint32_t i = 0; i < s->p->list_count; i++) outgrown |= r->items[i].outgrown > 0;
  return outgrown;
}

static void share_forget_outgrown(const struct share *s, struct running *r) {
  if (s->p->site_count) r->notes.outgrown = 0;
  for (uint32_t i = 0; i < s->p->list_count; i++) r->items[i].outgrown = 0;
}

/* Grows a block's room; false when out of memory. */
static bool share_grow_room(const struct share *s, struct running *r) {
  if (s->p->site_count && r->notes.outgrown)
    if (!notes_grow(&r->notes, r->notes.outgrown)) return false;
  for (uint32_t i = 0; i < s->p->list_count; i++)
    if (r->items[i].outgrown && !items_grow(&r->items[i], r->items[i].outgrown)) return false;
  return true;
}

/* On the calling thread, which may allocate: serves another thread's request, if there is one. */
static void share_serve(struct share *s) {
  if (!shared_get(&s->asks)) return;
  if (!share_is_outgrown(s, s->client))
    s->client_rows = share_do_notes(s, s->client, s->client_rows);
  else if (share_grow_room(s, s->client))
    share_forget_outgrown(s, s->client);
  shared_set(&s->asks, 0);
}

/* Makes the calling thread serve a request. */
static size_t share_ask(struct share *s, struct running *r, size_t rows) {
  uint32_t times = 0;
  s->client = r;
  s->client_rows = rows;
  shared_set(&s->asks, 1);
  while (shared_get(&s->asks)) share_wait_a_little(&times);
  return s->client_rows;
}

/* Waits for a chunk's turn; false if none is coming. */
static bool share_wait_for_turn(struct share *s, uint32_t chunk, uint32_t who) {
  uint32_t times = 0;
  while (shared_get(&s->turn) != chunk) {
    if (shared_get(&s->failed) != NONE) return false;
    if (who == 0) share_serve(s);
    share_wait_a_little(&times);
  }
  return shared_get(&s->failed) == NONE;
}

/* Runs a block of n rows up to where it waits for its turn. Returns how many are valid. */
static size_t share_run_until_turn(struct running *r, const struct share *s, size_t n) {
  running_clear(r, n);
  share_forget_outgrown(s, r);
  r->end = s->sharing->turn;
  return running_from(r, s->p->prologue, n);
}

/* In its turn: carries out what a block has noted. Returns how many rows are valid. A block that
** has outgrown its room runs again with more. */
static size_t share_take_turn(struct running *r, struct share *s, size_t n, size_t sound,
                              uint32_t who) {
  if (!s->sharing->serves || who == 0) return share_do_notes(s, r, sound);
  while (share_is_outgrown(s, r)) {
    share_ask(s, r, sound);
    if (share_is_outgrown(s, r)) break;
    sound = share_run_until_turn(r, s, n);
  }
  share_forget_outgrown(s, r);
  return s->sharing->passed > s->sharing->turn && sound ? share_ask(s, r, sound) : sound;
}

/* Runs a block with stores that wait for its turn. Returns whether it came, and no row failed. */
static bool share_run_in_turn(struct running *r, struct share *s, uint32_t chunk, uint32_t who) {
  size_t n = share_rows_of(s, chunk), sound = n;
  bool opens = running_opens(r, n);
  if (opens) sound = share_run_until_turn(r, s, n);
  if (!share_wait_for_turn(s, chunk, who)) return false;
  if (opens) sound = share_take_turn(r, s, n, sound, who);
  if (sound < n) share_note_failure(s, chunk, r->failure);
  shared_set(&s->turn, chunk + 1);
  r->end = s->p->insn_count;
  if (opens && sound) running_from(r, s->sharing->passed, sound);
  return sound == n;
}

/* Serves requests until the other threads are done: the caller has taken its last chunk. */
static void share_serve_all(struct share *s) {
  uint32_t times = 0;
  while (shared_get(&s->turn) < s->chunks && shared_get(&s->failed) == NONE) {
    share_serve(s);
    share_wait_a_little(&times);
  }
}

/* Takes chunks until there are none, skipping those after a failed one: all chunks before the first
** failure are run. If blocks take turns, chunks are taken in order. */
static void share_take_chunks(struct share *s, uint32_t who, struct taker *taker, uint32_t chunk) {
  k_failure failure;
  struct machine *machine = who ? s->helpers->machines[who - 1] : s->own;
  struct running *r = &machine->running;
  k_status status = who ? machine_open(machine, s->p, s->run) : K_OK;
  assert(status == K_OK);
  (void)status;
  running_begin(r, &failure);
  for (; chunk != NONE; chunk = portions_take(&s->portions, taker)) {
    if (chunk >= shared_get(&s->failed)) continue;
    share_go_to(r, s, chunk);
    if (s->sharing->takes_turns ? share_run_in_turn(r, s, chunk, who)
                                : running_blocks(r, share_rows_of(s, chunk), s->block))
      continue;
    if (s->sharing->takes_turns) break;
    share_note_failure(s, chunk, &failure);
  }
}

/* A pool_task. */
static void share_work(void *job, uint32_t who) {
  struct share *s = job;
  struct taker taker = portions_taker(&s->portions, who);
  uint32_t chunk = portions_take(&s->portions, &taker);
  if (chunk != NONE) share_take_chunks(s, who, &taker, chunk);
  if (who == 0 && s->sharing->serves) share_serve_all(s);
}

/* ---- the whole run ---- */

/* Decides how many rows make a block, and a chunk. With a total, a chunk is a leaf; blocks that
** take turns are taken one by one. */
static void share_cut(struct share *s, const struct pool *pool) {
  const struct program *p = s->p;
  bool eager = pool_is_eager(pool), turns = s->sharing->takes_turns;
  size_t most = turns || p->total_count || p->block < K_BLOCK ? p->block : s->run->rows;
  s->block = turns ? p->block : running_choose_block(p, s->run->rows);
  if (s->block > most) s->block = most;
  if (eager && !p->total_count) s->block = POOL_SMALLEST;
  s->chunk = p->total_count ? K_LEAF : turns ? s->block : pool_share(pool, s->run->rows, K_LEAF);
  if (s->block > s->chunk) s->block = s->chunk;
  s->chunks = (uint32_t)((s->run->rows + s->chunk - 1) / s->chunk);
}

/* Combines the foldings of the chunks up to the first failure, into the first one. */
static void share_join_foldings(const struct share *s) {
  uint32_t totals = s->p->total_count;
  for (uint32_t chunk = 1; totals && chunk < s->chunks && chunk <= s->failed; chunk++)
    for (uint32_t i = 0; i < totals; i++)
      fold_join(&s->foldings[i], &s->foldings[(size_t)chunk * totals + i], total_how(s->p, i),
                total_type(s->p, i));
}

k_status share_run(struct helpers *helpers, struct machine *own, struct pool *pool,
                   const struct sharing *sharing, k_failure *failure) {
  struct running *r = &own->running;
  const struct program *p = r->p;
  const k_run *given = r->run;
  void *columns[MAX_COLUMNS], *totals[MAX_TOTALS];
  k_run run = *own->running.run;
  memcpy(columns, run.columns, own->running.p->column_count * sizeof *columns);
  run.columns = columns;
  struct share s = {.helpers = helpers, .own = own, .sharing = sharing, .p = p, .run = &run,
                    .failure = failure, .failed = NONE};
  assert(!sharing->why_not && run.rows > 0);
  share_cut(&s, pool);
  uint32_t width = pool_width(pool) < s.chunks ? pool_width(pool) : s.chunks;
  portions_begin(&s.portions, s.chunks, sharing->takes_turns ? 1 : width);
  if (!helpers_reserve(helpers, own, pool_width(pool) - 1, p)) return K_ENOMEM;
  size_t room = (size_t)s.chunks * p->total_count * sizeof *s.foldings;
  if (room && !buffer_grow(own->memory, &helpers->foldings, room, 0)) return K_ENOMEM;
  s.foldings = helpers->foldings.data;
  failure->error = KE_NONE;
  memcpy(totals, r->at + r->numbers->totals, p->total_count * sizeof *totals);
  r->run = &run;
  pool_run(pool, width, share_work, &s);
  r->run = given;
  r->end = p->insn_count;
  memcpy(r->at + r->numbers->totals, totals, p->total_count * sizeof *totals);
  assert(s.failed != NONE || !sharing->takes_turns || s.turn == s.chunks);
  share_join_foldings(&s);
  return running_end(p, &run, s.foldings, failure);
}

/* ---- fold ---- */

/* The parts of a folding are plain for sums; for the least and greatest f64 they are its keys:
** integers in the order of the doubles, with -0.0 below 0.0. Flips all bits of a negative number
** except the sign, so it is its own inverse. */
static int64_t fold_key(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return (int64_t)(u ^ ((0 - (u >> 63)) >> 1));
}

static double fold_unkey(int64_t key) {
  uint64_t u = (uint64_t)key;
  u ^= (0 - (u >> 63)) >> 1;
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Begins with parts that no row has joined: 0.0 and 0 have the same bits. */
void k_fold_begin(k_folding *f, k_reduce how, k_type type) {
  assert(type == KT_F64 || type == KT_I64);
  (void)type;
  memset(f, 0, sizeof *f);
  for (int j = 0; j < 16 && how != KR_SUM; j++)
    f->part[j].i64 = how == KR_MIN ? INT64_MAX : INT64_MIN;
  f->key = how == KR_MIN ? INT64_MAX : INT64_MIN;
}

static bool share_fold_beats(int64_t x, int64_t y, k_reduce how) {
  return how == KR_MIN ? x < y : x > y;
}

/* The key of a value in an array of 8-byte values. */
static int64_t share_fold_key_at(const void *values, size_t at, k_type type) {
  k_scalar value;
  memcpy(&value, (const char *)values + at * sizeof value, sizeof value);
  return type == KT_F64 ? fold_key(value.f64) : value.i64;
}

void fold_note(k_folding *f, k_reduce how, k_type type, const void *values, const uint8_t *mask,
               size_t n) {
  int64_t key = f->key;
  for (int j = 0; j < 16; j++)
    if (share_fold_beats(f->part[j].i64, key, how)) key = f->part[j].i64;
  bool better = key != f->key;
  if (!better && (f->found || f->rows == 0)) return;
  size_t i = 0;
  while (i < n && !(mask[i] && (!better || share_fold_key_at(values, i, type) == key))) i++;
  assert(i < n);
  f->first = f->row + (uint32_t)i;
  f->key = key;
  f->found = true;
}

static void share_fold_pair(k_scalar *part, k_reduce how, k_type type, k_scalar v) {
  if (how == KR_SUM && type == KT_F64)
    part->f64 += v.f64;
  else if (how == KR_SUM)
    part->i64 = (int64_t)((uint64_t)part->i64 + (uint64_t)v.i64);
  else if (how == KR_MIN)
    part->i64 = v.i64 < part->i64 ? v.i64 : part->i64;
  else
    part->i64 = v.i64 > part->i64 ? v.i64 : part->i64;
}

/* Adds up the parts in a fixed order. */
static k_scalar share_fold_add_up(const k_folding *f, k_reduce how, k_type type) {
  k_scalar part[16];
  memcpy(part, f->part, sizeof part);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) share_fold_pair(&part[j], how, type, part[j + half]);
  return part[0];
}

static void share_close_leaf(k_folding *f, k_type type) {
  k_scalar sum = share_fold_add_up(f, KR_SUM, type);
  share_fold_pair(&f->leaves, KR_SUM, type, sum);
  if (type == KT_I64) f->floats += (double)sum.i64;
}

void fold_leaf(k_folding *f, k_type type) {
  assert(f->row / K_LEAF > f->leaf);
  share_close_leaf(f, type);
  memset(f->part, 0, sizeof f->part);
  f->leaf = f->row / K_LEAF;
}

void fold_floats(k_folding *floats, const k_folding *integers) {
  *floats = *integers;
  floats->leaves.f64 = integers->floats;
  for (int j = 0; j < 16; j++) floats->part[j].f64 = (double)integers->part[j].i64;
}

void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, bool joins) {
  uint32_t row = f->row;
  k_scalar *part = &f->part[row % 16];
  if (joins && how == KR_SUM && row / K_LEAF != f->leaf) fold_leaf(f, type);
  f->row++;
  assert(f->nans <= f->rows && f->rows < f->row);
  if (!joins) return;
  f->rows++;
  if (!f->found) f->first = row;
  f->found = true;
  if (how != KR_SUM && type == KT_F64) {
    if (isnan(v.f64)) {
      f->nans++;
      return;
    }
    v.i64 = fold_key(v.f64);
  }
  share_fold_pair(part, how, type, v);
  if (how == KR_SUM || !share_fold_beats(v.i64, f->key, how)) return;
  f->key = v.i64;
  f->first = row;
}

/* Whether a value is less, or greater, than that of earlier tables: any number wins over NaN. */
static bool share_fold_wins(k_reduce how, k_type type, k_scalar value, const k_total *total) {
  if (total->rows == 0) return true;
  if (type == KT_I64) return share_fold_beats(value.i64, total->value.i64, how);
  if (isnan(value.f64) || isnan(total->value.f64)) return !isnan(value.f64);
  return share_fold_beats(fold_key(value.f64), fold_key(total->value.f64), how);
}

void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total) {
  assert(type == KT_F64 || type == KT_I64);
  assert(f->nans <= f->rows);
  total->won = false;
  total->runs++;
  if (f->rows == 0) return;
  k_scalar v = share_fold_add_up(f, how, type);
  if (how == KR_SUM) share_fold_pair(&v, how, type, f->leaves);
  bool keys = how != KR_SUM && type == KT_F64;
  if (keys) v.f64 = f->nans == f->rows ? (double)NAN : fold_unkey(v.i64);
  total->won = how != KR_SUM && share_fold_wins(how, type, v, total);
  if (total->won || total->rows == 0)
    total->value = v;
  else if (how == KR_SUM)
    share_fold_pair(&total->value, how, type, v);
  if (total->won) total->row = f->first;
  if (total->won) total->run = total->runs;
  total->rows += f->rows;
}

void fold_join(k_folding *f, const k_folding *next, k_reduce how, k_type type) {
  bool sum = how == KR_SUM;
  assert(next->row >= f->row);
  if (sum) {
    assert(next->leaf >= f->leaf);
    share_close_leaf(f, type);
    share_fold_pair(&f->leaves, how, type, next->leaves);
    f->floats += next->floats;
    memcpy(f->part, next->part, sizeof f->part);
    f->leaf = next->leaf;
  } else {
    for (int j = 0; j < 16; j++) share_fold_pair(&f->part[j], how, type, next->part[j]);
  }
  if (!sum && next->found && (!f->found || share_fold_beats(next->key, f->key, how))) {
    f->first = next->first;
    f->key = next->key;
  }
  f->found |= next->found;
  f->rows += next->rows;
  f->nans += next->nans;
  f->row = next->row;
}
