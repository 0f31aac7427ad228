/* No program that passes the check does harm, whoever made it: valid programs with fields
** changed at random, and programs of random bytes, in memory of exactly the size that
** they state. Those that pass run, over columns, arrays and cells of exactly their size, with
** lookups, lists and orders, on every instruction set. Worth most under AddressSanitizer.
** Arguments: rounds, first seed. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_author.h"

#include "kernel/build.h"
#include "kernel/ops.h"

static int passed, tried, noted, listed, folded, ordered_rows;

/* A program whose arrays are blocks of their own. */
static void *exactly(const void *from, size_t bytes) {
  void *p = malloc(bytes > 0 ? bytes : 1);
  if (p == NULL) abort();
  if (bytes > 0 && from != NULL) memcpy(p, from, bytes);
  return p;
}

static struct program copy_program(const struct program *p) {
  struct program q = *p;
  q.columns = exactly(p->columns, p->column_count);
  q.scalars = exactly(p->scalars, p->scalar_count);
  q.constants = exactly(p->constants, p->constant_count * sizeof *p->constants);
  q.insns = exactly(p->insns, p->insn_count * sizeof *p->insns);
  q.totals = exactly(p->totals, p->total_count);
  q.arrays = exactly(p->arrays, p->array_count);
  q.lookups = exactly(p->lookups, p->lookup_count);
  q.folds = exactly(p->folds, p->fold_count);
  q.sites = exactly(p->sites, p->site_count * sizeof *p->sites);
  return q;
}

static void drop_program(struct program *p) {
  free(p->columns);
  free(p->scalars);
  free(p->constants);
  free(p->insns);
  free(p->totals);
  free(p->arrays);
  free(p->lookups);
  free(p->folds);
  free(p->sites);
}

/* The array at *p, of *n elements, now of m; what is new is random. */
static void resize(void *array, uint16_t *n, int m, size_t size) {
  void *old;
  memcpy(&old, array, sizeof old);
  char *p = exactly(NULL, (size_t)m * size);
  const size_t kept = (size_t)(*n < m ? *n : m) * size;
  if (kept > 0) memcpy(p, old, kept);
  for (size_t i = kept; i < (size_t)m * size; i++) p[i] = (char)random_below(12);
  free(old);
  memcpy(array, &p, sizeof p);
  *n = (uint16_t)m;
}

static uint16_t some_operand(const struct program *p) {
  const struct numbering at = program_numbering(p);
  const int how = random_below(20);
  if (how == 0) return K_NO_OPERAND;
  if (how == 1) return (uint16_t)random_bits();
  return (uint16_t)random_below((int)at.count + 1);
}

/* An operand of the kind that the instruction wants, more often than not. */
static uint16_t likely_operand(const struct program *p, char letter) {
  const struct numbering at = program_numbering(p);
  const unsigned first[] = {0, at.reg1, at.reg4, at.reg8, at.scalars, at.all};
  int class = 0;
  switch (letter) {
    case '-': return K_NO_OPERAND;
    case 'j': return (uint16_t)random_below(p->insn_count + 2);
    case 'm': class = 1; break;
    case 'f': class = 2; break;
    case 'd': case 'i': case 'c': class = 3; break;
    case 'n': return (uint16_t)random_below(p->fold_count + 1);
    case 'F': case 'D': case 'I': case 'M': class = 4; break;
    case 'x': return (uint16_t)(at.bitmaps + (unsigned)random_below(p->bitmap_count + 1));
    case 't': return (uint16_t)(at.totals + (unsigned)random_below(p->total_count + 1));
    case 'b': return (uint16_t)at.start;
    case 'a': return (uint16_t)(at.arrays + (unsigned)random_below(p->array_count + 1));
    case 'l': return (uint16_t)(at.lookups + (unsigned)random_below(p->lookup_count + 1));
    case 's': return (uint16_t)(at.sites + (unsigned)random_below(p->site_count + 1));
    case 'p':
      return (uint16_t)(at.lists + (LIST_ARGUMENTS + 1)
                                       * (unsigned)random_below(p->list_count + 1));
    case 'q': return (uint16_t)(at.lists + (unsigned)random_below((int)(at.count - at.lists) + 1));
    default: break;
  }
  if (class < 4 && random_below(3) == 0) class = 0;
  if (random_below(8) == 0 || first[class + 1] == first[class]) return some_operand(p);
  return (uint16_t)(first[class]
                    + (unsigned)random_below((int)(first[class + 1] - first[class])));
}

static void random_insn(const struct program *p, k_insn *k) {
  k->op = (uint16_t)(random_below(3)
                         ? random_below(OP_COUNT)
                         : OP_F32_OF_F64 + random_below(OP_COUNT - OP_F32_OF_F64));
  const char *s = op_table[k->op].signature;
  if (random_below(10) == 0) k->op |= OP_SCALAR;
  k->dst = likely_operand(p, s[0]);
  k->a = likely_operand(p, s[1]);
  k->b = likely_operand(p, s[2]);
  k->c = likely_operand(p, s[3]);
  k->d = likely_operand(p, s[4]);
}

/* A type of lookups. */
static uint8_t some_found(void) {
  const int cells = random_below(3) ? 0 : KC_CELLS;
  return (uint8_t)(cells | random_below(cells ? KC_ENTITY : KT_CELL));
}

/* What is known of arrays, lookups, folds and sites. */
static void change_others(struct program *p) {
  if (p->lookup_count > 0 && random_below(6) == 0)
    p->lookups[random_below(p->lookup_count)] = some_found();
  switch (random_below(8)) {
    case 4: p->list_count = (uint16_t)random_below(4); break;
    case 0: resize(&p->arrays, &p->array_count, random_below(5), 1); break;
    case 1: resize(&p->lookups, &p->lookup_count, random_below(4), 1); break;
    case 2: resize(&p->sites, &p->site_count, random_below(8), sizeof(k_site)); break;
    case 3:
      if (p->array_count > 0)
        p->arrays[random_below(p->array_count)] ^= (uint8_t)random_below(KC_COUNT);
      break;
    case 5: resize(&p->folds, &p->fold_count, random_below(6), 1); break;
    case 6:
      if (p->fold_count > 0)
        p->folds[random_below(p->fold_count)] = (uint8_t)random_below(KC_COUNT);
      break;
    default:
      if (p->site_count > 0) {
        char *bytes = (char *)&p->sites[random_below(p->site_count)];
        bytes[random_below((int)sizeof *p->sites)] = (char)random_below(KT_CELL + 3);
      }
  }
}

static void change_header(struct program *p) {
  switch (random_below(15)) {
    case 0: resize(&p->columns, &p->column_count, random_below(12), 1); break;
    case 1: resize(&p->scalars, &p->scalar_count, random_below(40), 1); break;
    case 2: resize(&p->totals, &p->total_count, random_below(6), 1); break;
    case 3:
      resize(&p->constants, &p->constant_count, random_below(30), sizeof(k_scalar));
      break;
    case 4: p->reg1_count = (uint16_t)random_below(6); break;
    case 5: p->reg4_count = (uint16_t)random_below(6); break;
    case 6: p->reg8_count = (uint16_t)random_below(6); break;
    case 7: p->bitmap_count = (uint16_t)random_below(6); break;
    case 8: p->block = (uint16_t)(random_below(40) * 32); break;
    case 9: p->whole = (uint16_t)random_below(3); break;
    case 11: p->starts = (uint16_t)random_below(3); break;
    case 10: p->prologue = (uint16_t)random_below(p->insn_count + 3); break;
    case 12: case 13: change_others(p); break;
    default: p->uniform_count = (uint16_t)random_below(8);
  }
  if (p->column_count > 0 && random_below(4) == 0) {
    const int cells = random_below(4) ? 0 : KC_CELLS;
    p->columns[random_below(p->column_count)] = (uint8_t)(cells | random_below(KC_COUNT + 1));
  }
  if (p->scalar_count > 0 && random_below(4) == 0)
    p->scalars[random_below(p->scalar_count)] = (uint8_t)random_below(5);
}

/* Another operand of the kind wanted. */
static void change_operand(const struct program *p, k_insn *k) {
  const char *s = op_table[(k->op & ~OP_SCALAR) % OP_COUNT].signature;
  switch (random_below(5)) {
    case 0: k->dst = likely_operand(p, s[0]); break;
    case 1: k->a = likely_operand(p, s[1]); break;
    case 2: k->b = likely_operand(p, s[2]); break;
    case 3: k->c = likely_operand(p, s[3]); break;
    default: k->d = likely_operand(p, s[4]);
  }
}

static void change_insn(struct program *p) {
  if (p->insn_count == 0) return;
  k_insn *k = &p->insns[random_below(p->insn_count)];
  const k_insn other = p->insns[random_below(p->insn_count)];
  if (random_below(3) > 0) {
    change_operand(p, k);
    return;
  }
  switch (random_below(9)) {
    case 0: random_insn(p, k); break;
    case 1: *k = other; break;
    case 2: k->op = other.op; break;
    case 3: k->dst = some_operand(p); break;
    case 4: k->a = some_operand(p); break;
    case 5: k->b = some_operand(p); break;
    case 6:
      k->c = random_below(2) ? some_operand(p) : (uint16_t)random_below(p->insn_count + 2);
      break;
    case 7: k->d = some_operand(p); break;
    default: k->op ^= OP_SCALAR;
  }
}

/* Loops must be short for a test: numbers of rounds are constants, made small, or
** uniforms. */
static int is_short(struct program *p) {
  const struct numbering at = program_numbering(p);
  for (int i = 0; i < p->constant_count; i++)
    if (p->scalars[p->uniform_count + i] == KT_I64) p->constants[i].i64 &= 3;
  for (int i = 0; i < p->insn_count; i++)
    if (p->insns[i].op == OP_LOOP
        && p->insns[i].a - at.scalars >= (unsigned)p->uniform_count + p->constant_count)
      return 0;
  return 1;
}

/* What nobody looks at is any number. */
static void resolve(void *ud, int64_t *ids, const uint8_t *mask, size_t n) {
  (void)ud;
  for (size_t i = 0; i < n; i++) ids[i] = !mask || mask[i] ? living(ids[i]) : 0x5a5a5a5a5a5a;
}

enum { FOUND = 5 };

/* Cells of each type, each a block of its own, that are looked up. */
static void *found[KC_ENTITY][FOUND];

static void make_found(void) {
  for (k_column c = KC_BOOL; c < KC_ENTITY; c = (k_column)(c + 1))
    for (int i = 0; i < FOUND; i++) found[c][i] = exactly(NULL, size_of_column(c));
}

static void free_found(void) {
  for (int c = 0; c < KC_ENTITY; c++)
    for (int i = 0; i < FOUND; i++) free(found[c][i]);
}

static void clear_found(void) {
  for (k_column c = KC_BOOL; c < KC_ENTITY; c = (k_column)(c + 1))
    for (int i = 0; i < FOUND; i++) memset(found[c][i], 0, size_of_column(c));
}

/* What they hold, NaNs counting as one. */
static uint64_t hash_found(void) {
  uint64_t hash = 1;
  for (k_column c = KC_BOOL; c < KC_ENTITY; c = (k_column)(c + 1))
    for (int i = 0; i < FOUND; i++) {
      const value x = column_get(c, found[c][i], 0);
      const bool nan = x.type == KT_F32 ? isnan(x.k.f32) : x.type == KT_F64 && isnan(x.k.f64);
      uint64_t bits = 0;
      memcpy(&bits, found[c][i], size_of_column(c));
      hash = (hash ^ (nan ? 1 : bits)) * 0x9e3779b97f4a7c15;
    }
  return hash;
}

/* A value for what is looked up, the same each time. */
static void find(void *ud, uint32_t number, const int64_t *from, const uint8_t *mask, void *to,
                 size_t n) {
  const struct program *p = ud;
  for (size_t i = 0; i < n; i++) {
    const int64_t x = mask && !mask[i] ? 0 : (int64_t)((uint64_t)from[i] * 3 + number);
    if (p->lookups[number] & KC_CELLS) {
      const bool none = (mask && !mask[i]) || (uint64_t)x % 7 >= FOUND;
      void **cells = found[p->lookups[number] & ~(uint32_t)KC_CELLS];
      ((k_cell *)to)[i].at = none ? NULL : cells[(uint64_t)x % 7];
      continue;
    }
    switch ((k_type)p->lookups[number]) {
      case KT_BOOL: ((uint8_t *)to)[i] = x & 1; break;
      case KT_F32: ((float *)to)[i] = (float)x; break;
      case KT_F64: ((double *)to)[i] = (double)x; break;
      default: ((int64_t *)to)[i] = x;
    }
  }
}

/* Items by the first argument, the same each time; there is no room for some. */
static size_t list(void *ud, uint32_t number, const k_listing *listing, size_t n) {
  const int64_t *from = listing->arguments[0];
  CHECK(ud && number < ((const struct program *)ud)->list_count);
  memset(listing->spans, 0, n * sizeof *listing->spans);
  for (size_t i = 0; i < n; i++) {
    if (listing->mask && !listing->mask[i]) continue;
    const uint64_t hash = ((uint64_t)from[i] + number) * 0x9e3779b97f4a7c15 >> 40;
    const uint32_t count = 1 + (uint32_t)(hash % 5);
    uint32_t *to = hash % 211 == 3 ? NULL : items_room(listing->items, count);
    if (!to) return i;
    for (uint32_t k = 0; k < count; k++) to[k] = (uint32_t)(hash >> 3 & 15) + k;
    listing->spans[i] = (k_span){listing->items->count, count};
    listing->items->count += count;
    ((int64_t *)listing->arguments[LIST_ARGUMENTS - 1])[i] = (int64_t)(hash % 9);
    listed++;
  }
  return n;
}

/* Orders, which some entities do not take; what was given, and how much there is room for. */
struct ordered {
  uint64_t hash;
  uint32_t left;
};

static bool can_give(void *ud, uint32_t order, const int64_t *entity, const k_scalar *given) {
  (void)ud;
  (void)given;
  return order < 64 && *entity % 61 != 7;
}

static bool make_room(void *ud, uint32_t count) {
  struct ordered *ordered = ud;
  if (count > ordered->left) return false;
  ordered->left -= count;
  return true;
}

static void give(void *ud, uint32_t order, const int64_t *entity, const k_scalar *with) {
  struct ordered *ordered = ud;
  uint64_t bits;
  memcpy(&bits, with, sizeof bits);
  ordered->hash = (ordered->hash ^ order ^ (uint64_t)*entity * 31 ^ bits) * 0x9e3779b97f4a7c15;
}

/* Some orders are stores that are done at once, for some there is no room, some wait. */
static k_now do_at_once(void *ud, uint32_t order, int64_t entity, k_scalar with,
                        const k_ordered *waiting, uint32_t count, k_stored **stored) {
  CHECK(ud && order < 64);
  for (uint32_t i = 0; i < count; i++)
    if (waiting[i].entity == entity) return K_LATER;
  if (entity % 61 == 7) return K_NO_ROOM;
  if (entity % 3 == 0) return K_LATER;
  k_stored *store = (*stored)++;
  *store = (k_stored){found[KC_I64][(uint64_t)entity % FOUND], {0}, 8};
  memcpy(&store->was, store->at, 8);
  memcpy(store->at, &with, 8);
  return K_DONE;
}

enum { MOST_ROWS = 1030 };

/* What a run starts with and leaves. */
typedef struct world {
  size_t rows;
  void *before[MAX_COLUMNS], *columns[MAX_COLUMNS], *first[MAX_COLUMNS];
  uint64_t *bitmaps[MAX_BITMAPS], *start;
  k_scalar *uniforms;
  k_array arrays[MAX_ARRAYS], kept[MAX_ARRAYS], first_arrays[MAX_ARRAYS];
  k_array cells[MAX_COLUMNS], kept_cells[MAX_COLUMNS], first_cells[MAX_COLUMNS];
  uint64_t given, given_first, left, left_first;   /* orders; what is in cells that are found */
  int at_once;
  k_status status;
  k_failure failure;
} world;

/* Some elements, as they are before a run; and room for as many in a run, and behind the first. */
static void fill_array(k_array *kept, k_array *array, k_array *first, k_column type) {
  const int64_t count = 1 + random_below(12);
  const size_t size = (size_t)count * size_of_column(type);
  char *elements = exactly(NULL, size);
  for (int64_t j = 0; j < count; j++)
    column_set(type, elements, (size_t)j, random_for_column(type));
  *kept = (k_array){elements, count};
  *array = (k_array){exactly(elements, size), count};
  *first = (k_array){exactly(elements, size), count};
}

static void copy_array(const k_array *to, const k_array *from, k_column type) {
  memcpy((void *)(uintptr_t)to->data, from->data, (size_t)from->count * size_of_column(type));
}

static int equal_arrays(const k_array *x, const k_array *y, k_column type) {
  int same = 1;
  for (size_t i = 0; i < (size_t)x->count; i++)
    same &= equal(column_get(type, x->data, i), column_get(type, y->data, i));
  return same;
}

static void free_array(const k_array *array) { free((void *)(uintptr_t)array->data); }

static k_column cell_type(k_column column) { return (k_column)(column & ~(uint32_t)KC_CELLS); }

/* The cells that a column says where they are: several rows share one, and some have none. */
static void fill_cells(world *w, int c, k_column type) {
  fill_array(&w->kept_cells[c], &w->cells[c], &w->first_cells[c], type);
  for (size_t i = 0; i < w->rows; i++) {
    char *cells = (char *)(uintptr_t)w->cells[c].data;
    const size_t at = (size_t)random_below((int)w->cells[c].count) * size_of_column(type);
    ((k_cell *)w->before[c])[i].at = random_below(9) ? cells + at : NULL;
  }
}

static void world_new(world *w, const struct program *p) {
  static const size_t sizes[] = {1, 5, 63, 65, 200, MOST_ROWS};
  w->at_once = random_below(2);
  w->rows = sizes[random_below(COUNT(sizes))];
  for (int c = 0; c < p->column_count; c++) {
    const k_column type = (k_column)p->columns[c];
    w->before[c] = column_new(type, w->rows);
    w->columns[c] = column_new(type, w->rows);
    w->first[c] = column_new(type, w->rows);
    if (type & KC_CELLS) fill_cells(w, c, cell_type(type));
    for (size_t i = 0; !(type & KC_CELLS) && i < w->rows; i++)
      column_set(type, w->before[c], i, random_for_column(type));
  }
  for (int i = 0; i < p->bitmap_count; i++)
    w->bitmaps[i] = exactly(NULL, (w->rows + 63) / 64 * 8);
  w->start = exactly(NULL, (w->rows + 63) / 64 * 8);
  for (size_t i = 0; i < (w->rows + 63) / 64; i++) w->start[i] = start_word(i);
  w->uniforms = exactly(NULL, p->uniform_count * sizeof *w->uniforms);
  for (int i = 0; i < p->uniform_count; i++) {
    w->uniforms[i] = random_value((k_type)p->scalars[i]).k;
    if (p->scalars[i] == KT_I64) w->uniforms[i].i64 &= 3;
  }
  for (int i = 0; i < p->array_count; i++)
    fill_array(&w->kept[i], &w->arrays[i], &w->first_arrays[i], (k_column)p->arrays[i]);
}

static void world_free(world *w, const struct program *p) {
  for (int c = 0; c < p->column_count; c++) {
    CHECK(column_intact((k_column)p->columns[c], w->columns[c], w->rows));
    column_free(w->before[c]);
    column_free(w->columns[c]);
    column_free(w->first[c]);
    if (!(p->columns[c] & KC_CELLS)) continue;
    free_array(&w->kept_cells[c]);
    free_array(&w->cells[c]);
    free_array(&w->first_cells[c]);
  }
  for (int i = 0; i < p->bitmap_count; i++) free(w->bitmaps[i]);
  free(w->start);
  free(w->uniforms);
  for (int i = 0; i < p->array_count; i++) {
    free_array(&w->kept[i]);
    free_array(&w->arrays[i]);
    free_array(&w->first_arrays[i]);
  }
}

/* What a run may have changed is as it was. */
static void begin_anew(world *w, const struct program *p, struct ordered *ordered,
                       k_total *totals) {
  for (int c = 0; c < p->column_count; c++)
    memcpy(w->columns[c], w->before[c],
           w->rows * size_of_column((k_column)p->columns[c]));
  for (int c = 0; c < p->column_count; c++)
    if (p->columns[c] & KC_CELLS)
      copy_array(&w->cells[c], &w->kept_cells[c], cell_type((k_column)p->columns[c]));
  for (int i = 0; i < p->array_count; i++)
    copy_array(&w->arrays[i], &w->kept[i], (k_column)p->arrays[i]);
  clear_found();
  memset(totals, 0, MAX_TOTALS * sizeof *totals);
  *ordered = (struct ordered){1, 3000};
  memset(&w->failure, 0, sizeof w->failure);
}

/* `again`: over a first table and over the same one again, as what the machine was opened for. */
static void run_once(world *w, const struct program *p, k_isa isa, bool again) {
  k_total totals[MAX_TOTALS];
  struct ordered ordered;
  struct program laid = *p;
  laid.row_count = (uint16_t)(p->insn_count + 1);
  laid.rows = malloc(laid.row_count * sizeof *laid.rows);
  program_lay_out(&laid);
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(machine_reserve(m, &laid) == K_OK);
  const uint32_t deferred = 0;
  const k_orders orders = {.check = can_give, .reserve = make_room, .give = give, .ud = &ordered,
                           .now = w->at_once ? do_at_once : NULL,
                           .plain = w->at_once ? 2 : 0, .deferred = &deferred};
  const k_run run = {w->rows, w->columns, w->uniforms, w->bitmaps, w->start, totals, resolve,
                     NULL, w->arrays, find, (void *)(uintptr_t)p, list, (void *)(uintptr_t)p,
                     &orders};
  begin_anew(w, p, &ordered, totals);
  CHECK(machine_open(m, &laid, &run) == K_OK);
  w->status = machine_over(m, &w->failure);
  if (again && w->status == K_OK) {
    begin_anew(w, p, &ordered, totals);
    w->status = machine_over(m, &w->failure);
  }
  w->given = ordered.hash;
  w->left = hash_found();
  CHECK(w->status == K_OK || (w->status == K_FAILED && w->failure.row < w->rows));
  if (w->status == K_FAILED)  /* it and the rows behind it are as they were */
    for (int c = 0; c < p->column_count; c++) {
      const size_t size = size_of_column((k_column)p->columns[c]),
                   kept = w->failure.row * size;
      CHECK(memcmp((char *)w->columns[c] + kept, (char *)w->before[c] + kept,
                   w->rows * size - kept) == 0);
    }
  machine_free(m);
  free(laid.rows);
}

/* Keeps what a first run has left. */
static void keep_first(world *w, const struct program *p) {
  for (int c = 0; c < p->column_count; c++) {
    const k_column type = (k_column)p->columns[c];
    memcpy(w->first[c], w->columns[c], w->rows * size_of_column(type));
    if (type & KC_CELLS) copy_array(&w->first_cells[c], &w->cells[c], cell_type(type));
  }
  for (int i = 0; i < p->array_count; i++)
    copy_array(&w->first_arrays[i], &w->arrays[i], (k_column)p->arrays[i]);
  w->given_first = w->given;
  w->left_first = w->left;
}

/* Whether another one has left the same. */
static int is_as_first(const world *w, const struct program *p) {
  int same = w->given == w->given_first && w->left == w->left_first;
  for (int i = 0; i < p->array_count; i++)
    same &= equal_arrays(&w->first_arrays[i], &w->arrays[i], (k_column)p->arrays[i]);
  for (int c = 0; c < p->column_count; c++) {
    const k_column type = (k_column)p->columns[c];
    if (type & KC_CELLS)
      same &= equal_arrays(&w->first_cells[c], &w->cells[c], cell_type(type));
    for (size_t i = 0; !(type & KC_CELLS) && i < w->rows; i++)
      same &= equal(column_get(type, w->first[c], i), column_get(type, w->columns[c], i));
  }
  return same;
}

/* The same on every instruction set, on a table behind another one, and whatever registers held
** before: no register is read that was not set. */
static void run_it(const struct program *p) {
  world w;
  world_new(&w, p);
  poison = 0;
  run_once(&w, p, K_BASE, false);
  const k_status status = w.status;
  const size_t row = w.failure.row;
  keep_first(&w, p);
  for (int isa = K_BASE; isa < K_ISAS; isa++) {
    if (!isa_supported((k_isa)isa)) continue;
    poison = 0x3d;
    run_once(&w, p, (k_isa)isa, true);
    CHECK(w.status == status && (status == K_OK || w.failure.row == row));
    if (!CHECK(is_as_first(&w, p))) break;
  }
  world_free(&w, p);
}

static void try_program(struct program *p) {
  tried++;
  if (!program_check(p)) return;
  passed++;
  char text[64];
  program_text(p, text, sizeof text);
  CHECK(strlen(text) < sizeof text);
  program_info(p);
  if (!is_short(p)) return;
  for (int i = 0; i < p->insn_count; i++) {
    noted += p->insns[i].op == OP_DO_NOTES;
    folded += is_fold(p->insns[i].op);
    ordered_rows += p->insns[i].op == OP_ROWS;
  }
  run_it(p);
}

/* All operands and instructions drawn at random. */
static void try_garbage(void) {
  struct program p;
  memset(&p, 0, sizeof p);
  resize(&p.columns, &p.column_count, 1 + random_below(8), 1);
  resize(&p.scalars, &p.scalar_count, random_below(12), 1);
  for (int i = 0; i < p.column_count; i++) {
    p.columns[i] %= KC_COUNT;
    if (p.columns[i] < KC_ENTITY && random_below(6) == 0) p.columns[i] |= KC_CELLS;
  }
  for (int i = 0; i < p.scalar_count; i++) p.scalars[i] %= 4;
  resize(&p.constants, &p.constant_count, random_below(p.scalar_count + 1), sizeof(k_scalar));
  p.uniform_count = (uint16_t)random_below(p.scalar_count - p.constant_count + 1);
  resize(&p.totals, &p.total_count, 0, 1);
  p.whole = random_below(3) == 0;
  p.starts = (uint16_t)random_below(2);
  p.reg1_count = p.reg4_count = p.reg8_count = p.whole ? 0 : 2;
  p.bitmap_count = 2;
  resize(&p.arrays, &p.array_count, random_below(3), 1);
  resize(&p.lookups, &p.lookup_count, random_below(3), 1);
  resize(&p.folds, &p.fold_count, random_below(3), 1);
  resize(&p.sites, &p.site_count, random_below(3), sizeof(k_site));
  for (int i = 0; i < p.array_count; i++) p.arrays[i] %= KC_ENTITY;
  for (int i = 0; i < p.lookup_count; i++) p.lookups[i] = some_found();
  for (int i = 0; i < p.fold_count; i++) p.folds[i] %= KC_ENTITY;
  p.list_count = (uint16_t)random_below(3);
  p.block = 64;
  resize(&p.insns, &p.insn_count, 1 + random_below(4), sizeof(k_insn));
  for (int i = 0; i < p.insn_count; i++) random_insn(&p, &p.insns[i]);
  if (random_below(4) == 0)
    p.insns[0] = (k_insn){OP_ROWS, K_NO_OPERAND, K_NO_OPERAND, K_NO_OPERAND, p.insn_count,
                          K_NO_OPERAND, 0};
  try_program(&p);
  drop_program(&p);
}

/* A step on cells of a type, by one of these operands. */
static void state_fold(struct builder *b, k_column type, k_value cell, k_value real,
                       k_value integer, k_value truth) {
  const bool truths = type == KC_BOOL;
  const int how = truths ? KF_SET + random_below(KF_COUNT - KF_SET) : random_below(KF_OR);
  build_fold(b, cell, (k_fold)how,
             truths ? truth : type == KC_F32 || type == KC_F64 ? real : integer);
}

/* Steps on elements of arrays and on cells, orders, and what these take: elements of another array,
** and what is looked up. */
static void state_others(struct builder *b, int entities) {
  const k_column types[] = {KC_F64, KC_I32, KC_U8, KC_I64, KC_F32, KC_BOOL};
  const k_column written = types[random_below(6)], cells = types[random_below(6)];
  const uint32_t read = build_array(b, KC_I64), array = build_array(b, written);
  const uint32_t places = build_column(b, (k_column)(KC_CELLS | cells));
  const uint32_t column = build_column(b, KC_I64), mask_column = build_column(b, KC_BOOL);
  const k_value mask = random_below(3) ? build_load(b, mask_column) : K_ALL;
  const k_value from = build_load(b, column);
  const k_value low = build_binary(b, KO_BAND, from, build_i64(b, 15));
  build_at(b, mask, 3);
  const k_value index = build_binary(b, KO_ADD, low, build_i64(b, random_below(2)));
  const k_value element = build_element(b, read, index);
  const k_value real = build_look(b, build_lookup(b, KT_F64), element, mask);
  const k_value truth = build_look(b, build_lookup(b, KT_BOOL), from, mask);
  if (random_below(2))
    state_fold(b, written, build_cell(b, array, index), real, element, truth);
  if (random_below(2)) state_fold(b, cells, build_load(b, places), real, element, truth);
  const int rounds = random_below(3);
  if (rounds == 2) build_loop(b, build_i64(b, 3), mask);
  for (int i = entities < 0 ? 0 : random_below(4); i > 0; i--) {
    build_at(b, mask, (uint32_t)i);
    build_order(b, (uint32_t)random_below(3), from, random_below(2) ? real : element, K_NONE);
  }
  if (rounds == 2) build_endloop(b, mask);
}

/* Cells of an array that rows get and set in their order, perhaps by an order; what they get they
** keep. */
static void state_cells(struct builder *b, int entities) {
  const k_column types[] = {KC_F64, KC_I32, KC_U8, KC_I64, KC_F32};
  const k_column type = types[random_below(5)];
  const k_type held = type == KC_F64 || type == KC_F32 ? KT_F64 : KT_I64;
  const uint32_t array = build_array(b, type);
  const uint32_t out = build_column(b, held == KT_F64 ? KC_F64 : KC_I64);
  const k_value from = build_load(b, build_column(b, KC_I64));
  const k_value low = build_binary(b, KO_BAND, from, build_i64(b, 3));
  const k_value index = build_binary(b, KO_ADD, low, build_i64(b, 1));
  const k_value mask = random_below(3) ? build_load(b, build_column(b, KC_BOOL)) : K_ALL;
  k_value sum = held == KT_F64 ? build_f64(b, 1) : build_i64(b, 1);
  for (int i = random_below(4); i >= 0; i--) {
    const k_value cell = build_cell(b, array, random_below(2) ? index : low);
    sum = build_binary(b, KO_ADD, sum, build_get(b, cell));
    build_at(b, random_below(2) ? mask : K_ALL, (uint32_t)i);
    const k_value fits = held == KT_F64 ? sum : build_fit(b, type, sum);
    if (entities >= 0 && random_below(2))
      build_order(b, (uint32_t)random_below(3), from, fits, cell);
    else
      build_set(b, cell, fits);
  }
  build_store(b, out, build_select(b, mask, sum, build_load(b, out)));
}

/* A loop over what is listed by a column, with something beside what the author wrote. */
static void state_list(struct builder *b) {
  const uint32_t list = build_list(b), sums = build_column(b, KC_F64);
  const k_value from = build_load(b, build_column(b, KC_I64));
  const k_value mask = random_below(3) ? build_load(b, build_column(b, KC_BOOL)) : K_ALL;
  const k_value far = build_convert(b, KT_F64, from), given[] = {from, far};
  build_at(b, mask, 3);
  const k_value filled = build_listed(b, list, given, 1 + (uint32_t)random_below(2));
  const k_value some = build_binary(b, KO_LT, build_i64(b, 0), filled);
  const k_value enters = build_binary(b, KO_AND, mask, some);
  const k_value round = build_loop(b, build_i64(b, 3), enters);
  const k_value sum = build_carry(b, build_taken(b, filled, 4), true);
  const k_value live = build_carry(b, enters, true);
  const k_value item = build_convert(b, KT_F64, build_picked(b, filled, round));
  const k_value next = build_binary(b, KO_ADD, round, build_i64(b, 1));
  const k_value more = build_binary(b, KO_LT, next, filled);
  const k_value again = build_binary(b, KO_AND, live, more);
  build_next(b, sum, build_select(b, live, build_binary(b, KO_ADD, sum, item), sum));
  build_next(b, live, again);
  build_endloop(b, again);
  build_store(b, sums, sum);
}

static author a;

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 150;
  const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  make_found();
  for (int i = 0; i < rounds; i++) {
    random_state = (first + (uint64_t)i) * 0x9e3779b97f4a7c15;
    write_program(&a);
    if (random_below(2)) state_others(a.m.b, a.m.entities);
    if (random_below(2)) state_list(a.m.b);
    if (random_below(2)) state_cells(a.m.b, a.m.entities);
    struct program *valid = NULL;
    const k_status status = build_finish(a.m.b, &valid);
    builder_free(a.m.b);
    CHECK(status == K_OK || status == K_ELIMIT);
    for (int j = 0; valid != NULL && j < 60; j++) {
      struct program p = copy_program(valid);
      for (int changes = random_below(3) * random_below(3); changes >= 0; changes--)
        if (random_below(10) == 0) change_header(&p);
        else change_insn(&p);
      try_program(&p);
      drop_program(&p);
    }
    for (int j = 0; j < 100; j++) try_garbage();
    program_free(valid);
    if (failures > 0) {
      fprintf(stderr, "seed %llu\n", (unsigned long long)(first + (uint64_t)i));
      break;
    }
  }
  free_found();
  printf("%d of %d programs passed the check, %d of them with notes, %d rows with items, %d folds, "
         "%d with rows in order\n", passed, tried, noted, listed, folded, ordered_rows);
  CHECK(passed > tried / 50 && noted > passed / 20 && listed > passed);
  CHECK(folded > passed / 20 && ordered_rows > passed / 50);
  return failures != 0;
}
