/* Running programs: block after block of rows, instruction after instruction. When a row
** fails the block shrinks to the rows before it, so that the last failure seen is that of
** the first failing row, and what is stored afterwards (the builder stores behind all
** that can fail) is stored for the rows before it only. */
#include "kernel/ops.h"

/* Asserts are for debug builds, as in the core. */
#if !defined(ECS_DEBUG) && !defined(NDEBUG)
#define NDEBUG
#endif
#include <assert.h>
#include <string.h>

struct machine {
  k_memory mem;
  const op_fn *ops;
  void *chunk;  /* what was allocated, of `size` bytes; `base` is aligned in it */
  size_t size;
  char *base;
};

#define ALIGNMENT 64

static size_t round_up(size_t n) {
  return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Where things are behind `base`: the mask of all rows, then addresses of places, slots,
** totals, registers. */
typedef struct layout {
  size_t at, slots, totals, reg1, reg4, reg8, end;
} layout;

static layout lay_out(const program *p, const k_places *at) {
  layout l;
  l.at = K_BLOCK;
  l.slots = round_up(l.at + at->count * sizeof(void *));
  l.totals = l.slots + p->nslots * sizeof(k_scalar);
  l.reg8 = round_up(l.totals + p->ntotals * sizeof(k_folding));
  l.reg4 = l.reg8 + (size_t)p->nreg8 * p->block * 8;
  l.reg1 = l.reg4 + (size_t)p->nreg4 * p->block * 4;
  l.end = l.reg1 + (size_t)p->nreg1 * p->block;
  return l;
}

machine *machine_new(const k_memory *mem, k_isa isa) {
  machine *m = mem->alloc(mem->ud, NULL, 0, sizeof *m);
  if (!m) return NULL;
  m->mem = *mem;
  m->ops = isa_ops(isa);
  m->chunk = NULL;
  m->base = NULL;
  m->size = 0;
  return m;
}

void machine_free(machine *m) {
  if (!m) return;
  k_memory mem = m->mem;
  if (m->chunk) mem.alloc(mem.ud, m->chunk, m->size, 0);
  mem.alloc(mem.ud, m, sizeof *m, 0);
}

k_status machine_reserve(machine *m, const program *p) {
  k_places at = program_places(p);
  size_t need = lay_out(p, &at).end + ALIGNMENT;
  if (need <= m->size) return K_OK;
  void *chunk = m->mem.alloc(m->mem.ud, NULL, 0, need);
  if (!chunk) return K_ENOMEM;
  if (m->chunk) m->mem.alloc(m->mem.ud, m->chunk, m->size, 0);
  m->chunk = chunk;
  m->size = need;
  m->base = (char *)chunk + (ALIGNMENT - (uintptr_t)chunk % ALIGNMENT) % ALIGNMENT;
  memset(m->base, 1, K_BLOCK);
  return K_OK;
}

/* A run under way. */
typedef struct running {
  const program *p;
  const k_run *run;
  const op_fn *ops;
  void **at;
  k_places places;
  k_failure *failure;  /* error is KE_NONE until a row fails */
  size_t first;        /* the block's first row */
  size_t block;        /* rows in a block, but the last */
} running;

/* Beyond the caches shorter blocks do better: what comes first in a block waits for
** memory, and the hardware's streams follow but a little. Not where there is little to do
** but to load. Within the caches one block is enough for what is done but once to each
** column. */
static size_t choose_block(const program *p, size_t rows) {
  enum { CACHED = 4 << 20, SHORT = 256 };
  size_t bytes = 0;
  for (unsigned i = 0; i < p->ncolumns; i++)
    bytes += column_size((k_column)p->columns[i]);
  int cached = rows <= CACHED / (bytes + 1);
  if (p->whole && cached) return rows;
  int busy = p->ninsns - p->prologue > 2 * p->ncolumns;
  return busy && p->block > SHORT && !cached ? SHORT : p->block;
}

static void set_registers(void **at, unsigned from, unsigned to, char *memory,
                          size_t size) {
  for (; from < to; from++, memory += size) at[from] = memory;
}

static void set_up(running *r, const machine *m, const layout *l) {
  const program *p = r->p;
  void **at = (void **)(void *)(m->base + l->at);
  k_scalar *slots = (k_scalar *)(void *)(m->base + l->slots);
  k_folding *totals = (k_folding *)(void *)(m->base + l->totals);
  size_t block = p->block;
  r->at = at;
  for (unsigned i = 0; i < p->ncolumns; i++) at[i] = r->run->columns[i];
  set_registers(at, r->places.reg1, r->places.reg4, m->base + l->reg1, block);
  set_registers(at, r->places.reg4, r->places.reg8, m->base + l->reg4, 4 * block);
  set_registers(at, r->places.reg8, r->places.slots, m->base + l->reg8, 8 * block);
  for (unsigned i = 0; i < p->nslots; i++) at[r->places.slots + i] = slots + i;
  if (p->nuniforms > 0) memcpy(slots, r->run->uniforms, p->nuniforms * sizeof *slots);
  if (p->nconstants > 0)
    memcpy(slots + p->nuniforms, p->constants, p->nconstants * sizeof *slots);
  at[r->places.all] = m->base;
  for (unsigned i = 0; i < p->nbitmaps; i++)
    at[r->places.bitmaps + i] = r->run->bitmaps[i];
  for (unsigned i = 0; i < p->ntotals; i++) {
    at[r->places.totals + i] = totals + i;
    k_fold_begin(totals + i, (k_reduce)(p->totals[i] / 4), (k_type)(p->totals[i] % 4));
  }
}

/* Is one of n lanes set? Most masks that are not empty show it at once. */
static int any_lane(const uint8_t *mask, size_t n) {
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    uint64_t w[8];
    memcpy(w, mask + i, sizeof w);
    if (w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]) return 1;
  }
  for (; i < n; i++)
    if (mask[i]) return 1;
  return 0;
}

static int64_t *integer_at(const running *r, unsigned place) {
  return &((k_scalar *)r->at[place])->i64;
}

static void live(const running *r, const k_insn *k, size_t n) {
  int64_t *ids = r->at[k->dst];
  if ((void *)ids != r->at[k->a]) memcpy(ids, r->at[k->a], n * sizeof *ids);
  r->run->live(r->run->live_ud, ids, n);
}

/* Does instruction `pc`, one that moves on as it likes; returns the next. */
static unsigned control(const running *r, unsigned pc, size_t n) {
  const k_insn *k = &r->p->insns[pc];
  switch (k->op) {
    case OP_LOOP:
      *integer_at(r, k->dst) = 0;
      if (*integer_at(r, k->a) < 1 || !any_lane(r->at[k->b], n)) return k->c + 1u;
      break;
    case OP_END:
      if (++*integer_at(r, k->dst) < *integer_at(r, k->a) && any_lane(r->at[k->b], n))
        return k->c + 1u;
      break;
    case OP_SKIP:
      if (!any_lane(r->at[k->a], n)) return k->c;
      break;
    default:
      assert(k->op == OP_LIVE);
      live(r, k, n);
  }
  return pc + 1;
}

static void fail(running *r, const k_insn *k, size_t lane) {
  const op_info *info = &op_table[k->op];
  k_failure *f = r->failure;
  f->row = r->first + lane;
  f->tag = k->tag;
  f->error = (k_error)info->error;
  switch (info->signature[1]) {
    case 'f':
      f->type = KT_F32;
      f->value.f32 = ((const float *)r->at[k->a])[lane];
      break;
    case 'd':
      f->type = KT_F64;
      f->value.f64 = ((const double *)r->at[k->a])[lane];
      break;
    default:
      f->type = KT_I64;
      f->value.i64 = ((const int64_t *)r->at[k->a])[lane];
      break;
  }
}

/* Runs the block of n rows at r->first; returns how many of them did not fail. */
static size_t run_block(running *r, size_t n) {
  const k_insn *insns = r->p->insns;
  unsigned end = r->p->ninsns;
  void *const *at = r->at;
  for (unsigned pc = r->p->prologue; pc < end;) {
    const k_insn *k = &insns[pc];
    if (k->op < OP_CONTROLS) {
      size_t done = r->ops[k->op](k, at, n);
      pc++;
      if (done == n) continue;
      fail(r, k, done);
      n = done;
      if (n == 0) return 0;
    } else if (k->op & OP_SCALAR) {
      r->ops[k->op & ~OP_SCALAR](k, at, 1);
      pc++;
    } else {
      pc = control(r, pc, n);
    }
  }
  return n;
}

/* Bits from row n of the block on, to the end of the table, are cleared. */
static void cut_bitmaps(const running *r, size_t row) {
  size_t words = (r->run->rows + 63) / 64;
  for (unsigned i = 0; i < r->p->nbitmaps; i++) {
    uint64_t *bits = r->run->bitmaps[i];
    if (row % 64 != 0) bits[row / 64] &= ((uint64_t)1 << (row % 64)) - 1;
    for (size_t w = (row + 63) / 64; w < words; w++) bits[w] = 0;
  }
}

static void advance(running *r, size_t rows) {
  const program *p = r->p;
  for (unsigned i = 0; i < p->ncolumns; i++)
    r->at[i] = (char *)r->at[i] + rows * column_size((k_column)p->columns[i]);
  for (unsigned i = 0; i < p->nbitmaps; i++)
    r->at[r->places.bitmaps + i] = (uint64_t *)r->at[r->places.bitmaps + i] + rows / 64;
  r->first += rows;
}

static void run_blocks(running *r) {
  const program *p = r->p;
  for (unsigned pc = 0; pc < p->prologue; pc++) {
    const k_insn *k = &p->insns[pc];
    r->ops[k->op & ~OP_SCALAR](k, r->at, 1);
  }
  for (;;) {
    size_t left = r->run->rows - r->first;
    size_t n = left < r->block ? left : r->block;
    for (unsigned i = 0; i < p->nbitmaps; i++)
      memset(r->at[r->places.bitmaps + i], 0, (n + 63) / 64 * sizeof(uint64_t));
    if (run_block(r, n) < n || left == n) return;
    advance(r, n);
  }
}

k_status machine_run(machine *m, const program *p, const k_run *run, k_failure *failure) {
  running r;
  r.places = program_places(p);
  layout l = lay_out(p, &r.places);
  if (m->size < l.end + ALIGNMENT) return K_EINVAL;
  failure->error = KE_NONE;
  if (run->rows == 0) return K_OK;
  r.p = p;
  r.run = run;
  r.ops = m->ops;
  r.failure = failure;
  r.first = 0;
  r.block = choose_block(p, run->rows);
  set_up(&r, m, &l);
  run_blocks(&r);
  if (failure->error != KE_NONE) {
    cut_bitmaps(&r, failure->row);
    return K_FAILED;
  }
  for (unsigned i = 0; i < p->ntotals; i++)
    k_fold_end(r.at[r.places.totals + i], (k_reduce)(p->totals[i] / 4),
               (k_type)(p->totals[i] % 4), &run->totals[i]);
  return K_OK;
}

int k_commands_next(uint64_t *const *bitmaps, int count, size_t rows, k_cursor *at,
                    size_t *row, int *index) {
  while (at->row < rows) {
    size_t word = at->row / 64;
    uint64_t any = 0;
    for (int i = 0; i < count; i++) any |= bitmaps[i][word];
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
        return 1;
      }
    at->row++;
    at->index = 0;
  }
  return 0;
}
