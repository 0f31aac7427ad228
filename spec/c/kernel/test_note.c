/* Notes: what rows order is given in the order of rows, in a row in that of the program, rounds of
** loops as they come, on every instruction set; a row one of whose orders cannot be given gives
** none and stores nothing; where there is no room a row fails. Programs with unsound sites do not
** pass the check. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/build.h"
#include "kernel/ops.h"

enum { ROWS = 1500, ROUNDS = 40, MOST = ROWS * (1 + 3 * ROUNDS) };
enum { ENTITY, MASK, REAL, WHOLE, STORED, COLUMNS };
static const k_column columns[COLUMNS] = {KC_I64, KC_BOOL, KC_F64, KC_I64, KC_I64};

static k_isa isa;

/* What was ordered, from which number on entities are dead, and for how much there is room. */
struct given {
  int64_t dead;
  bool joins;
  uint32_t room, count;
  struct {
    uint32_t order;
    int64_t entity;
    k_scalar value;
  } list[MOST];
};

static struct given given, wanted;

struct trial {
  int rounds;                  /* 0: not in a loop */
  void *columns[COLUMNS];
};

/* Whether all rows order something in front of the loop, too. */
static bool orders_before(const struct trial *t) { return t->rounds > 1; }

static void state_orders(struct builder *b) {
  build_order(b, 3, build_load(b, ENTITY), build_load(b, REAL), K_NONE);
  build_order(b, 4, build_i64(b, 9), build_f64(b, 1.5), K_NONE);
  build_order(b, 5, build_load(b, ENTITY), build_load(b, MASK), K_NONE);
}

static struct program *make(const struct trial *t) {
  struct builder *b = builder_new(&test_memory);
  for (int i = 0; i < COLUMNS; i++) build_column(b, columns[i]);
  k_value mask = build_load(b, MASK);
  build_at(b, K_ALL, 7);
  if (orders_before(t)) build_order(b, 2, build_i64(b, 8), build_load(b, WHOLE), K_NONE);
  build_at(b, mask, 7);
  if (t->rounds) build_loop(b, build_i64(b, t->rounds), mask);
  build_at(b, mask, 7);
  state_orders(b);
  if (t->rounds) build_endloop(b, mask);
  build_store(b, STORED, build_binary(b, KO_ADD, build_load(b, STORED), build_i64(b, 1)));
  return finish_build(b);
}

/* ---- what is meant ---- */

static void want(uint32_t order, int64_t entity, k_scalar with) {
  wanted.list[wanted.count].order = order;
  wanted.list[wanted.count].entity = entity;
  wanted.list[wanted.count++].value = with;
}

/* One row; false when it fails, and gives nothing. */
static bool do_row(const struct trial *t, size_t row) {
  int64_t entity = ((const int64_t *)t->columns[ENTITY])[row];
  bool some = ((const uint8_t *)t->columns[MASK])[row];
  k_scalar yes = {.i64 = 1};
  if (some && entity >= given.dead) return false;
  if (orders_before(t)) want(2, 8, (k_scalar){.i64 = ((const int64_t *)t->columns[WHOLE])[row]});
  for (int round = 0; some && round < (t->rounds ? t->rounds : 1); round++) {
    want(3, entity, (k_scalar){.f64 = ((const double *)t->columns[REAL])[row]});
    want(4, 9, (k_scalar){.f64 = 1.5});
    want(5, entity, yes);
  }
  return true;
}

static void fill(const struct trial *t) {
  bool few = random_below(2);   /* those that do something lie in few stretches */
  for (size_t i = 0; i < ROWS; i++) {
    ((int64_t *)t->columns[ENTITY])[i] = (int64_t)i;
    ((uint8_t *)t->columns[MASK])[i] = few && i / 64 % 4 != 3 ? 0 : (uint8_t)random_below(2);
    ((double *)t->columns[REAL])[i] = random_below(1000) / 8.0;
    ((int64_t *)t->columns[WHOLE])[i] = random_below(5);
    ((int64_t *)t->columns[STORED])[i] = 0;
  }
  given.count = wanted.count = 0;
}

static void compare(const struct trial *t, k_status status, const k_failure *failure) {
  size_t end = status == K_FAILED ? failure->row : ROWS;
  bool sound = true;
  for (size_t row = 0; row < end; row++) sound &= do_row(t, row);
  CHECK(sound && wanted.count == given.count);
  for (uint32_t i = 0; i < given.count; i++) {
    CHECK(wanted.list[i].order == given.list[i].order);
    CHECK(wanted.list[i].entity == given.list[i].entity);
    CHECK(wanted.list[i].value.i64 == given.list[i].value.i64);
  }
  for (size_t row = 0; row < ROWS; row++)
    CHECK(((const int64_t *)t->columns[STORED])[row] == (row < end));
}

/* ---- running ---- */

/* Where two orders say more of the third, they are given with it. */
static uint32_t parts_of(void *ud, uint32_t order) {
  return ((const struct given *)ud)->joins && order == 3 ? 2 : 0;
}

static bool may_give(void *ud, uint32_t order, const int64_t *entities, const k_scalar *with) {
  (void)with;
  CHECK(order >= 2 && order <= 5);
  for (uint32_t i = 0; i <= parts_of(ud, order); i++)
    if ((order + i) % 2 != 0 && entities[i] >= ((const struct given *)ud)->dead) return false;
  return true;
}

static bool make_room(void *ud, uint32_t count) {
  return count <= ((const struct given *)ud)->room;
}

static void give(void *ud, uint32_t order, const int64_t *entities, const k_scalar *with) {
  struct given *to = ud;
  for (uint32_t i = 0; i <= parts_of(ud, order); i++) {
    to->list[to->count].order = order + i;
    to->list[to->count].entity = entities[i];
    to->list[to->count++].value = with[i];
  }
}

/* `allowed`: how many allocations succeed; -1: all. */
static k_status run(const struct trial *t, const struct program *p, int allowed,
                    k_failure *failure) {
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(m && machine_reserve(m, p) == K_OK);
  const k_orders orders = {.check = may_give, .reserve = make_room, .give = give, .ud = &given,
                           .parts = parts_of};
  k_run r;
  memset(&r, 0, sizeof r);
  r.rows = ROWS;
  r.columns = t->columns;
  r.orders = &orders;
  fail_at = allowed;
  k_status status = machine_run(m, p, &r, failure);
  fail_at = -1;
  machine_free(m);
  return status;
}

static void try_orders(const struct trial *t, int64_t dead, uint32_t room, k_error error) {
  struct program *p = make(t);
  k_failure failure = {.error = KE_NONE};
  fill(t);
  given.dead = dead;
  given.room = room;
  k_status status = run(t, p, -1, &failure);
  CHECK((status == K_OK) == (error == KE_NONE) && failure.error == error);
  compare(t, status, &failure);
  if (status == K_FAILED && error == KE_DEAD) CHECK(!do_row(t, failure.row));
  program_free(p);
}

/* Loops note down more than there is room for, so that no memory is a row that fails. */
static void try_no_room(const struct trial *t) {
  struct program *p = make(t);
  int starved = 0;
  given.dead = INT64_MAX;
  given.room = UINT32_MAX;
  for (int allowed = 0; allowed < 40; allowed++) {
    k_failure failure;
    fill(t);
    k_status status = run(t, p, allowed, &failure);
    if (status == K_FAILED) CHECK(failure.error == KE_ROOM && ++starved);
    compare(t, status, &failure);
    if (status == K_OK) break;
  }
  CHECK(starved > 0);
  program_free(p);
}

static void try_rounds(int rounds, bool joins) {
  given.joins = joins;
  struct trial t = {.rounds = rounds};
  for (int i = 0; i < COLUMNS; i++) t.columns[i] = column_new(columns[i], ROWS);
  try_orders(&t, INT64_MAX, UINT32_MAX, KE_NONE);
  try_orders(&t, 700, UINT32_MAX, KE_DEAD);
  try_orders(&t, 0, UINT32_MAX, KE_DEAD);
  try_orders(&t, ROWS - 150, UINT32_MAX, KE_DEAD);
  try_orders(&t, INT64_MAX, 0, KE_ROOM);
  if (rounds == ROUNDS) try_no_room(&t);
  for (int i = 0; i < COLUMNS; i++) {
    CHECK(column_intact(columns[i], t.columns[i], ROWS));
    column_free(t.columns[i]);
  }
}

/* ---- what is not sound ---- */

static k_status state(uint32_t order, k_type entity, k_type type, int times) {
  struct builder *b = builder_new(&test_memory);
  k_scalar zero = {.i64 = 0};
  for (int i = 0; i < times; i++)
    build_order(b, order, build_constant(b, entity, zero), build_constant(b, type, zero),
                K_NONE);
  k_status status = builder_status(b);
  builder_free(b);
  return status;
}

static void try_builder(void) {
  CHECK(state(MAX_BITMAPS - 1, KT_I64, KT_BOOL, MAX_SITES) == K_OK);
  CHECK(state(MAX_BITMAPS - 1, KT_I64, KT_BOOL, MAX_SITES + 1) == K_ELIMIT);
  CHECK(state(MAX_BITMAPS, KT_I64, KT_BOOL, 1) == K_ELIMIT);
  CHECK(state(0, KT_F64, KT_BOOL, 1) == K_EINVAL);
  CHECK(state(0, KT_I64, KT_F32, 1) == K_EINVAL);
}

static void try_check(void) {
  struct trial t = {.rounds = 3};
  struct program *p = make(&t);
  CHECK(program_check(p) && p->site_count == 4);
  k_site kept = p->sites[1];
  p->sites[1].order = MAX_BITMAPS;
  CHECK(!program_check(p));
  p->sites[1] = kept;
  for (uint8_t type = 0; type < 8; type++) {
    p->sites[1].type = type;
    CHECK(program_check(p) == (type == KT_F64));
  }
  p->sites[1] = kept;
  struct numbering at = program_numbering(p);
  for (uint32_t i = 0; i < p->insn_count; i++) {
    k_insn *k = &p->insns[i], old = *k;
    if (k->op != OP_NOTE_VV_F64) continue;
    for (uint32_t operand = 0; operand <= at.count; operand++) {
      k->dst = (uint16_t)operand;
      bool site = operand >= at.sites && operand < at.count;
      CHECK(program_check(p) == (site && p->sites[operand - at.sites].type == KT_F64));
    }
    *k = old;
    k->op = OP_NOTE_VV_I64;
    CHECK(!program_check(p));
    *k = old;
  }
  char text[2000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "note.f64 order3 = c0, c2, c1") && strstr(text, "note.f64 order4 = 9, 1.5"));
  program_free(p);
}

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    static const int rounds[] = {0, 1, 3, ROUNDS};
    for (int j = 0; j < 2 * COUNT(rounds); j++) try_rounds(rounds[j / 2], j % 2);
  }
  try_builder();
  try_check();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
