/* Random programs, built as a front end builds them (locals, fields, branches under
** masks, loops, breaks, returns), do on every instruction set what a plain evaluation row
** by row does: columns, marks, totals, cells that rows see as those before them have left them,
** orders, and the first failure; so they do when threads share their rows. Arguments: programs,
** first seed. */
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/pool.h"

#include "kernel_author.h"

#include "kernel/ops.h"
#include "kernel/share.h"

/* {=====================================================================
** Running and comparing
** ====================================================================== */

enum { MOST_ROWS = 2600 };

typedef struct world {
  size_t rows;
  void *before[MODEL_COLUMNS], *columns[MODEL_COLUMNS + MODEL_ARRAYS];
  uint64_t marks[MODEL_BITMAPS][MOST_ROWS / 64 + 2];
  uint64_t *bitmaps[MODEL_BITMAPS], start[MOST_ROWS / 64 + 1];
  k_total totals[MODEL_TOTALS];
  k_folding parts[MODEL_TOTALS];   /* what rows before one that fails came to */
  const model *m;
  model_others first, others, expected;  /* at first; of a run; as they should be behind it */
  k_cell cells[MODEL_ARRAYS][MOST_ROWS];
} world;

/* What nobody looks at is any number. */
static void resolve(void *ud, int64_t *ids, const uint8_t *mask, size_t n) {
  (void)ud;
  for (size_t i = 0; i < n; i++) ids[i] = !mask || mask[i] ? living(ids[i]) : 0x5a5a5a5a5a5a;
}

/* Where a cell of the run is. */
static void *cell_of(const world *w, int array, int place) {
  char *cells = w->others.arrays[array];
  return place < 0 ? NULL : cells + (size_t)place * size_of_column(w->m->arrays[array]);
}

static void look_up(void *ud, uint32_t number, const int64_t *from, const uint8_t *mask, void *to,
                    size_t n) {
  for (size_t i = 0; i < n; i++) {
    const int place = mask && !mask[i] ? NOWHERE : place_of((int)number, from[i]);
    ((k_cell *)to)[i].at = cell_of(ud, (int)number, place);
  }
}

static bool can_give(void *ud, uint32_t order, const int64_t *entity, const k_scalar *asked) {
  (void)asked;
  return CHECK(ud && order < MODEL_PUTS + MODEL_FOLDED) && !is_gone(*entity);
}

static bool has_room(void *ud, uint32_t count) {
  return ud && count > 0;
}

static void give_it(void *ud, uint32_t order, const int64_t *entity, const k_scalar *with) {
  world *w = ud;
  others_give(&w->others, (model_order){(int)order, *entity, *with});
}

static k_now do_at_once(void *ud, uint32_t order, int64_t entity, k_scalar asked,
                        const k_ordered *waiting, uint32_t count, k_stored **stored) {
  int waits = 0;
  for (uint32_t i = 0; i < count; i++)
    waits |= waiting[i].entity == entity;
  const k_now now = becomes((int)order, entity, waits);
  if (now != K_DONE) return now;
  k_stored *store = (*stored)++;
  store->at = cell_of(ud, 0, place_of_entity(entity));
  store->size = 8;
  memcpy(&store->was, store->at, 8);
  memcpy(store->at, &asked, 8);
  return K_DONE;
}

/* Arrays, and columns and lookups of cells. */
static void world_reach(world *w, const model *m) {
  w->m = m;
  others_new(&w->first, m);
  others_new(&w->others, m);
  others_new(&w->expected, m);
  for (int i = 0; i < MODEL_ARRAYS; i++)
    for (size_t j = 0; j < MODEL_LENGTH; j++)
      column_set(m->arrays[i], w->first.arrays[i], j, random_for_column(m->arrays[i]));
  for (int i = 0; i < MODEL_ARRAYS; i++) {
    for (size_t row = 0; row < w->rows; row++)
      w->cells[i][row].at = cell_of(w, i, place_of_row(i, row));
    w->columns[m->ncolumns + i] = w->cells[i];
  }
}

static void world_new(world *w, const model *m) {
  static const int sizes[] = {1,   2,   7,   16,  63,  64,   65,   100,
                              255, 256, 300, 511, 513, 1024, 1100, 2500};
  const int alike = random_below(3) == 0;   /* rows of most stretches, so that few do some things */
  w->rows = (size_t)sizes[random_below(!alike && random_below(4) ? 10 : COUNT(sizes))];
  for (int c = 0; c < m->ncolumns; c++) {
    w->before[c] = column_new(m->columns[c], w->rows);
    w->columns[c] = column_new(m->columns[c], w->rows);
    for (size_t i = 0; i < w->rows; i++)
      column_set(m->columns[c], w->before[c], i,
                 c == m->entities         ? of_i64((int64_t)i + 65536)
                 : alike && i / 64 % 3 > 0 ? column_get(m->columns[c], w->before[c], 0)
                                          : random_for_column(m->columns[c]));
  }
  for (int i = 0; i < MODEL_BITMAPS; i++) w->bitmaps[i] = w->marks[i];
  for (size_t i = 0; i < (w->rows + 63) / 64; i++) w->start[i] = start_word(i);
  if (m->reaches) world_reach(w, m);
}

static void world_free(world *w, const model *m) {
  for (int c = 0; c < m->ncolumns; c++) {
    CHECK(column_intact(m->columns[c], w->columns[c], w->rows));
    column_free(w->before[c]);
    column_free(w->columns[c]);
  }
  if (!m->reaches) return;
  others_free(&w->first, m);
  others_free(&w->others, m);
  others_free(&w->expected, m);
}

static void world_reset(world *w, const model *m, size_t rows) {
  if (m->reaches) others_copy(&w->others, &w->first, m);
  for (int c = 0; c < m->ncolumns; c++)
    memcpy(w->columns[c], w->before[c], w->rows * size_of_column(m->columns[c]));
  memset(w->marks, 0xff, sizeof w->marks);
  for (int i = 0; i < MODEL_BITMAPS; i++) w->marks[i][(rows + 63) / 64] = 0x77;
  for (int i = 0; i < MODEL_TOTALS; i++) {
    memset(&w->totals[i], 0, sizeof w->totals[i]);
    w->totals[i].part = &w->parts[i];
  }
}

/* Threads of a pool's own, and a host's, which does one task after the other; and what they need:
** made before all programs, freed behind them. */
static struct pool *pools[2];
static struct helpers helpers[2];
static int shared, took_turns;

static void run_all(void *ud, uint32_t n, void (*task)(void *job, uint32_t i), void *job) {
  (void)ud;
  while (n-- > 0) task(job, n);
}

static void make_pools(void) {
  const ecs_jobs jobs = {run_all, NULL};
  for (int i = 0; i < 2; i++) {
    pools[i] = pool_new(&test_memory, 3, i ? &jobs : NULL);
    CHECK(pools[i] != NULL);
    pool_be_eager(pools[i]);
  }
}

static void free_pools(void) {
  for (int i = 0; i < 2; i++) {
    pool_free(pools[i]);
    helpers_free(&helpers[i], &test_memory);
  }
}

static k_status run_shared(struct machine *vm, const struct program *p, const k_run *run,
                           k_failure *failure) {
  const struct sharing sharing = sharing_of(p);
  if (sharing.why_not || run->rows == 0) return machine_run(vm, p, run, failure);
  CHECK(machine_open(vm, p, run) == K_OK);
  shared++;
  took_turns += sharing.takes_turns;
  const int which = sharing.serves ? 0 : shared % 2;
  CHECK(share_is_possible(pools[which], &sharing));
  return share_run(&helpers[which], vm, pools[which], &sharing, failure);
}

static k_status run_on(world *w, const model *m, const struct program *p, k_isa isa,
                       size_t rows, k_failure *failure) {
  k_scalar uniforms[MODEL_UNIFORMS];
  for (int i = 0; i < m->nuniforms; i++) uniforms[i] = m->uniforms[i].k;
  struct machine *vm = machine_new(&test_memory, isa == K_ISAS ? isa_best() : isa);
  CHECK(machine_reserve(vm, p) == K_OK);
  k_run run;
  memset(&run, 0, sizeof run);
  run.rows = rows;
  run.columns = w->columns;
  run.uniforms = uniforms;
  run.bitmaps = w->bitmaps;
  run.start = w->start;
  run.totals = w->totals;
  run.live = resolve;
  k_array arrays[MODEL_ARRAYS];
  const k_orders orders = {.check = can_give, .reserve = has_room, .give = give_it, .ud = w,
                           .now = w->expected.at_once ? do_at_once : NULL,
                           .plain = w->expected.at_once ? UINT64_MAX << MODEL_PUTS : 0,
                           .deferred = &w->expected.deferred};
  for (int i = 0; m->reaches && i < MODEL_ARRAYS; i++)
    arrays[i] = (k_array){w->others.arrays[i], MODEL_LENGTH};
  if (m->reaches) {
    run.arrays = arrays;
    run.look = look_up;
    run.look_ud = w;
    run.orders = &orders;
  }
  const k_status status = isa == K_ISAS ? run_shared(vm, p, &run, failure)
                                        : machine_run(vm, p, &run, failure);
  machine_free(vm);
  return status;
}

static int same_rows(const world *w, const model *m, const row_result *results,
                     size_t rows) {
  for (int c = 0; c < m->ncolumns; c++)
    for (size_t i = 0; i < w->rows; i++) {
      const value old = column_get(m->columns[c], w->before[c], i);
      const value got = column_get(m->columns[c], w->columns[c], i);
      const value want = i < rows && results[i].is_stored[c] ? results[i].stored[c] : old;
      if (equal(got, want)) continue;
      fprintf(stderr, "column %d row %zu is ", c, i);
      print_value(got);
      fprintf(stderr, ", not ");
      print_value(want);
      fprintf(stderr, "\n");
      return 0;
    }
  for (int b = 0; b < MODEL_BITMAPS; b++)
    for (size_t i = 0; i < (w->rows + 63) / 64 * 64; i++) {
      const int bit = (int)(w->marks[b][i / 64] >> (i % 64) & 1);
      if (i / 64 * 64 < rows && bit != (i < rows && results[i].marked[b])) {
        fprintf(stderr, "bit %d of row %zu is %d\n", b, i, bit);
        return 0;
      }
    }
  return 1;
}

/* What rows have done to others. */
static int same_others(const world *w, const model *m) {
  const model_others *want = &w->expected, *got = &w->others;
  for (int i = 0; m->reaches && i < MODEL_ARRAYS; i++)
    for (size_t j = 0; j < MODEL_LENGTH; j++) {
      const value x = column_get(m->arrays[i], got->arrays[i], j),
                  y = column_get(m->arrays[i], want->arrays[i], j);
      if (equal(x, y)) continue;
      fprintf(stderr, "element %zu of array %d is ", j, i);
      print_value(x);
      fprintf(stderr, ", not ");
      print_value(y);
      fprintf(stderr, "\n");
      return 0;
    }
  if (!m->reaches) return 1;
  int same = got->count == want->count;
  for (int i = 0; same && i < got->count; i++) {
    const model_order x = got->list[i], y = want->list[i];
    const k_type type = x.order == 0 ? KT_F64 : x.order == 1 ? KT_I64
                        : type_of_cell(m->arrays[x.order - MODEL_PUTS]);
    value known = {type, x.value};
    if (type == KT_BOOL) known.k.b = (uint8_t)x.value.i64;   /* noted as an integer */
    same = x.order == y.order && x.entity == y.entity && equal(known, (value){type, y.value});
  }
  if (!same) fprintf(stderr, "%d orders, not %d, or others\n", got->count, want->count);
  return same;
}

/* Whether a row fails as it may: what depends on nothing that is ordered fails
** before what does. */
static int fails_so(const model *m, const row_result *result, const k_failure *f) {
  if (!m->reaches) return f->tag == result->tag && f->error == result->error;
  for (int i = 0; i < result->nfailures; i++)
    if (result->failures[i].tag == f->tag && result->failures[i].error == f->error) return 1;
  return 0;
}

/* What the rows of a leaf came to; begins the next one. */
static double add_up_leaf(double sums[16]) {
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) sums[j] += sums[j + half];
  const double sum = sums[0];
  memset(sums, 0, 16 * sizeof *sums);
  return sum;
}

/* By the documented order, written again. */
static k_total expected_total(const model *m, const row_result *results, size_t rows,
                              int t) {
  k_total total = {.rows = 0};
  const k_type type = m->total_types[t];
  double sums[16] = {0}, leaves = 0, best = (double)NAN;
  uint64_t integers[16] = {0};
  int64_t best_integer = 0;
  int any = 0;
  for (size_t i = 0; i < rows; i++) {
    if (i % K_LEAF == 0) leaves += add_up_leaf(sums);
    if (!results[i].joins[t]) continue;
    total.rows++;
    const k_scalar k = results[i].total[t].k;
    sums[i % 16] += type == KT_F64 ? k.f64 : 0;
    integers[i % 16] += (uint64_t)k.i64;
    const int less = m->totals[t] == KR_MIN;
    if (type == KT_I64) {
      if (!any || (less ? k.i64 < best_integer : k.i64 > best_integer)) {
        best_integer = k.i64;
        total.row = (uint32_t)i;
      }
    } else if (!isnan(k.f64)) {
      const int zeros = k.f64 == best && !signbit(k.f64) != !signbit(best);
      const int beats = less ? k.f64 < best || (zeros && signbit(k.f64))
                             : k.f64 > best || (zeros && !signbit(k.f64));
      if (isnan(best) || beats) {
        best = k.f64;
        total.row = (uint32_t)i;
      }
    } else if (!any) {
      total.row = (uint32_t)i;
    }
    any = 1;
  }
  for (int j = 1; j < 16; j++) integers[0] += integers[j];
  if (total.rows == 0) return total;
  if (m->totals[t] == KR_SUM && type == KT_F64) total.value.f64 = leaves + add_up_leaf(sums);
  else if (m->totals[t] == KR_SUM) total.value.i64 = (int64_t)integers[0];
  else if (type == KT_F64) total.value.f64 = best;
  else total.value.i64 = best_integer;
  return total;
}

static int same_totals(const world *w, const model *m, const row_result *results,
                       size_t rows) {
  for (int t = 0; t < MODEL_TOTALS; t++) {
    const k_total want = expected_total(m, results, rows, t);
    const value x = {m->total_types[t], want.value},
                y = {m->total_types[t], w->totals[t].value};
    const int same_row = m->totals[t] == KR_SUM || want.row == w->totals[t].row;
    const int same = want.rows == 0 || (equal(x, y) && same_row);
    if (want.rows == w->totals[t].rows && same) continue;
    fprintf(stderr, "total %d of %d rows, row %d not %d, is ", t, (int)w->totals[t].rows,
            (int)w->totals[t].row, (int)want.row);
    print_value(y);
    fprintf(stderr, ", not of %d ", (int)want.rows);
    print_value(x);
    fprintf(stderr, "\n");
    return 0;
  }
  return 1;
}

static int same_commands(const world *w, const row_result *results, size_t rows) {
  k_cursor at = {0, 0};
  size_t row;
  uint32_t index;
  for (size_t i = 0; i < rows; i++)
    for (uint32_t b = 0; b < MODEL_BITMAPS; b++) {
      if (!results[i].marked[b]) continue;
      if (!k_commands_next(w->bitmaps, MODEL_BITMAPS, rows, &at, &row, &index)) return 0;
      if (row != i || index != b) return 0;
    }
  return !k_commands_next(w->bitmaps, MODEL_BITMAPS, rows, &at, &row, &index);
}

/* Runs all rows; if a row fails, also just the rows before it. Behind all instruction sets threads
** share them. */
static int compare(world *w, const model *m, const struct program *p,
                   const row_result *results) {
  size_t bad = 0;
  while (bad < w->rows && results[bad].error == KE_NONE) bad++;
  for (int isa = K_BASE; isa <= K_ISAS; isa++) {
    if (isa < K_ISAS && !isa_supported((k_isa)isa)) continue;
    k_failure f;
    world_reset(w, m, w->rows);
    const k_status status = run_on(w, m, p, (k_isa)isa, w->rows, &f);
    if (!CHECK(status == (bad < w->rows ? K_FAILED : K_OK))) return 0;
    if (bad < w->rows) {
      if (!CHECK(f.row == bad && fails_so(m, &results[bad], &f))) return 0;
      if (!CHECK(same_rows(w, m, results, bad)) || !CHECK(same_others(w, m))) return 0;
      for (int t = 0; t < MODEL_TOTALS; t++)
        if (!CHECK(w->totals[t].rows == 0)) return 0;
      for (int t = 0; t < p->total_count; t++)
        k_fold_end(&w->parts[t], m->totals[t], m->total_types[t], &w->totals[t]);
      if (!CHECK(same_totals(w, m, results, bad))) return 0;
      world_reset(w, m, bad);
      if (!CHECK(run_on(w, m, p, (k_isa)isa, bad, &f) == K_OK)) return 0;
    }
    if (!CHECK(same_rows(w, m, results, bad)) || !CHECK(same_totals(w, m, results, bad))
        || !CHECK(same_commands(w, results, bad)) || !CHECK(same_others(w, m)))
      return 0;
    for (int b = 0; b < MODEL_BITMAPS; b++) CHECK(w->marks[b][(bad + 63) / 64] == 0x77);
  }
  return 1;
}

static author a;
static evaluation e;
static row_result results[MOST_ROWS];
static world w;
static int ran, failed_rows, ordered_runs, ordered_failed;

/* Whether some of a program is done in the order of rows: then orders may be done at once. */
static int has_order(const struct program *p) {
  int i = 0;
  while (i < p->insn_count && p->insns[i].op != OP_ROWS) i++;
  return i < p->insn_count;
}

static int try_seed(uint64_t seed) {
  random_state = seed * 0x9e3779b97f4a7c15 + 1;
  write_program(&a);
  struct program *p = NULL;
  const k_status status = build_finish(a.m.b, &p);
  builder_free(a.m.b);
  if (status == K_ELIMIT) return 1;
  if (!CHECK(status == K_OK)) return 0;
  CHECK(program_check(p));
  world_new(&w, &a.m);
  w.expected.at_once = has_order(p) && random_below(3) > 0;
  w.expected.deferred = random_below(3) == 0;
  e.m = &a.m;
  e.columns = w.before;
  e.others = &w.expected;
  if (a.m.reaches) others_copy(&w.expected, &w.first, &a.m);
  for (size_t i = 0; i < w.rows; i++) {
    evaluate_row(&e, i, &results[i]);
    if (results[i].error != KE_NONE) {
      failed_rows++;
      ordered_failed += has_order(p);
      break;
    }
  }
  ran++;
  ordered_runs += has_order(p);
  const int same = compare(&w, &a.m, p, results);
  if (!same && getenv("SHOW") != NULL) {
    static char text[200000];
    program_text(p, text, sizeof text);
    fprintf(stderr, "%s", text);
  }
  world_free(&w, &a.m);
  program_free(p);
  return same;
}

int main(int argc, char **argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1500;
  const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  make_pools();
  for (int i = 0; i < count; i++)
    if (!try_seed(first + (uint64_t)i)) {
      fprintf(stderr, "seed %llu\n", (unsigned long long)(first + (uint64_t)i));
      break;
    }
  free_pools();
  printf("%d programs ran, %d of them failed in a row, %d were shared, %d by turns, %d were "
         "ordered, of which %d failed\n", ran, failed_rows, shared, took_turns, ordered_runs,
         ordered_failed);
  CHECK(shared > count / 3 && (count < 100 || took_turns > count / 30));
  CHECK(ran > count / 2);
  CHECK(count < 100 || (ordered_runs > count / 8 && ordered_failed > count / 100));
  CHECK(bytes_in_use == 0 || failures);
  return failures != 0;
}

/* }===================================================================== */
