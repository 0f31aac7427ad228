/* Lists: rows go through items of their own, which the caller's function lists, also in loops
** within loops, and where few rows of a block have any. A row for whose items there is no room
** fails. What comes before its list is nothing, and programs that name no list do not pass the
** check. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/build.h"
#include "kernel/ops.h"

enum { ROWS = 1300, TAG = 5, COLUMNS = 6 };
enum { ID, MASK, ITEMS, SUM, INNER, SAID };

static const k_column types[COLUMNS] = {KC_F64, KC_BOOL, KC_I64, KC_I64, KC_I64, KC_F64};

static k_isa isa;
static int64_t full;          /* the id for whose items there is no room */
static int every;             /* which ids have items */

static uint32_t outer_count(int64_t id) {
  return id % every ? 0 : (uint32_t)(id % 7 + (id % 50 == 0) * 90);
}

static uint32_t outer_item(int64_t id, uint32_t k) { return (uint32_t)id % 11 + 3 * k; }

static uint32_t inner_count(int64_t from) { return (uint32_t)(from % 4); }

static uint32_t inner_item(int64_t from, uint32_t k) { return (uint32_t)from + k; }

static size_t list(void *ud, uint32_t number, const k_listing *listing, size_t n) {
  const double *ids = listing->arguments[0];
  CHECK(ud == types && number < 2);
  for (size_t i = 0; i < n; i++) {
    int64_t id = (int64_t)ids[i];
    bool here = !listing->mask || listing->mask[i];
    uint32_t count = !here ? 0 : number ? inner_count(id) : outer_count(id);
    listing->spans[i] = (k_span){listing->items->count, 0};
    if (!number) ((double *)listing->arguments[2])[i] = (double)id / 2;
    bool room = !here || number || id != full;
    if (room && count == 0) continue;
    uint32_t *to = room ? items_room(listing->items, count) : NULL;
    if (!to) return i;
    for (uint32_t k = 0; k < count; k++) to[k] = number ? inner_item(id, k) : outer_item(id, k);
    listing->items->count += count;
    listing->spans[i].count = count;
  }
  return n;
}

/* Goes through the list, with `mask` to begin with; what its rounds add to *sum. */
static k_value begin_rounds(struct builder *b, k_value filled, k_value mask, k_value *sum,
                            k_value *live) {
  k_value some = build_binary(b, KO_LT, build_i64(b, 0), filled);
  k_value enters = build_binary(b, KO_AND, mask, some);
  k_value round = build_loop(b, build_i64(b, INT64_MAX), enters);
  *sum = build_carry(b, *sum, true);
  *live = build_carry(b, enters, true);
  return round;
}

static void end_rounds(struct builder *b, k_value filled, k_value round, k_value live, k_value sum,
                       k_value next) {
  k_value more = build_binary(b, KO_LT, build_binary(b, KO_ADD, round, build_i64(b, 1)), filled);
  k_value again = build_binary(b, KO_AND, live, more);
  build_next(b, sum, build_select(b, live, next, sum));
  build_next(b, live, again);
  build_endloop(b, again);
}

static struct program *make(void) {
  struct builder *b = builder_new(&test_memory);
  for (int i = 0; i < COLUMNS; i++) build_column(b, types[i]);
  uint32_t outer = build_list(b), inner = build_list(b);
  k_value mask = build_load(b, MASK), id = build_load(b, ID), sum = build_i64(b, 0), live;
  k_value deep = build_i64(b, 0), within;
  build_at(b, mask, TAG);
  k_value given[3] = {id, build_i64(b, 9), K_NONE};
  k_value filled = build_listed(b, outer, given, 3);
  k_value before = build_picked(b, filled, build_i64(b, INT64_MAX));
  k_value round = begin_rounds(b, filled, mask, &sum, &live);
  k_value kept = build_carry(b, deep, true), item = build_picked(b, filled, round);
  build_at(b, live, TAG);
  k_value from = build_convert(b, KT_F64, item), filled_inner = build_listed(b, inner, &from, 1);
  deep = kept;
  k_value step = begin_rounds(b, filled_inner, live, &deep, &within);
  end_rounds(b, filled_inner, step, within, deep,
             build_binary(b, KO_ADD, deep, build_picked(b, filled_inner, step)));
  build_next(b, kept, build_select(b, live, deep, kept));
  end_rounds(b, filled, round, live, sum, build_binary(b, KO_ADD, sum, item));
  build_store(b, ITEMS, build_binary(b, KO_ADD, filled, before));
  build_store(b, SUM, sum);
  build_store(b, INNER, kept);
  build_store(b, SAID, build_taken(b, filled, 2));
  return finish_build(b);
}

static void compare_row(void *const *columns, size_t i, bool masked) {
  int64_t id = (int64_t)((const double *)columns[ID])[i], sum = 0, deep = 0;
  uint32_t count = masked ? outer_count(id) : 0;
  for (uint32_t k = 0; k < count; k++) {
    int64_t item = outer_item(id, k) + 1;
    sum += item;
    for (uint32_t j = 0; j < inner_count(item); j++) deep += inner_item(item, j) + 1;
  }
  CHECK(((const int64_t *)columns[ITEMS])[i] == count);
  CHECK(((const int64_t *)columns[SUM])[i] == sum);
  CHECK(((const int64_t *)columns[INNER])[i] == deep);
  CHECK(!masked || ((const double *)columns[SAID])[i] == (double)id / 2);
}

static void run(bool fails) {
  void *columns[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) columns[i] = column_new(types[i], ROWS);
  for (int i = 0; i < ROWS; i++) {
    ((double *)columns[ID])[i] = i + 100;
    ((uint8_t *)columns[MASK])[i] = random_below(5) != 0;
  }
  int bad = 300 + random_below(ROWS - 300);
  full = fails ? bad + 100 : 0;
  ((uint8_t *)columns[MASK])[bad] = 1;
  struct program *p = make();
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(p && machine_reserve(m, p) == K_OK && program_info(p).fails);
  k_run r;
  k_failure failure;
  memset(&r, 0, sizeof r);
  r.rows = ROWS;
  r.columns = columns;
  r.list = list;
  r.list_ud = (void *)(uintptr_t)types;
  k_status status = machine_run(m, p, &r, &failure);
  CHECK(status == (fails ? K_FAILED : K_OK));
  if (fails) CHECK(failure.row == (size_t)bad && failure.error == KE_ROOM && failure.tag == TAG);
  for (size_t i = 0; i < (fails ? (size_t)bad : ROWS); i++)
    compare_row(columns, i, ((const uint8_t *)columns[MASK])[i]);
  machine_free(m);
  program_free(p);
  for (int i = 0; i < COLUMNS; i++) {
    CHECK(column_intact(types[i], columns[i], ROWS));
    column_free(columns[i]);
  }
}

/* Which operands the first instruction of a kind may have in a place. */
static void try_operands(struct program *p, uint32_t op, bool result, uint32_t first,
                         uint32_t count, uint32_t step) {
  struct numbering at = program_numbering(p);
  k_insn *k = p->insns;
  while (k->op != op) k++;
  uint16_t *operand = result ? &k->dst : &k->a, kept = *operand;
  for (uint32_t i = at.sites; i <= at.count + 1; i++) {
    *operand = (uint16_t)i;
    bool sound = i >= first && i < first + count * step && (i - first) % step == 0;
    if (step > 1 || i >= at.lists)
      CHECK(program_check(p) == (sound || (step == 1 && i > at.lists && i < at.count &&
                                           (i - at.lists) % (LIST_ARGUMENTS + 1) != 0)));
  }
  *operand = kept;
  CHECK(program_check(p));
}

static void try_check(void) {
  struct program *p = make();
  struct numbering at = program_numbering(p);
  CHECK(p->list_count == 2 && at.count == at.lists + 2 * (LIST_ARGUMENTS + 1));
  try_operands(p, OP_LIST, false, at.lists, 2, LIST_ARGUMENTS + 1);
  try_operands(p, OP_PICK, false, at.lists, 2, LIST_ARGUMENTS + 1);
  try_operands(p, OP_TAKE, false, at.lists + 1, LIST_ARGUMENTS, 1);
  try_operands(p, OP_GIVE_F64, true, at.lists + 1, LIST_ARGUMENTS, 1);
  p->list_count = MAX_LISTS + 1;
  CHECK(!program_check(p));
  p->list_count = 2;
  char text[4000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "give.f64 list0.0 = ") && strstr(text, " = list1, "));
  CHECK(strstr(text, "give.i64 list0.1 = ") && strstr(text, "take") && strstr(text, "pick"));
  program_free(p);
}

static void try_builder(void) {
  struct builder *b = builder_new(&test_memory);
  for (uint32_t i = 0; i < MAX_LISTS; i++) CHECK(build_list(b) == i);
  CHECK(build_list(b) == NONE && builder_status(b) == K_ELIMIT);
  builder_free(b);
  b = builder_new(&test_memory);
  CHECK(build_listed(b, 0, NULL, 0) == K_NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  k_mark mark = build_mark(b);
  CHECK(build_list(b) == 0);
  build_rewind(b, mark);
  CHECK(build_list(b) == 0);
  k_value truth = build_bool(b, true);
  CHECK(build_listed(b, 0, &truth, 1) == K_NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  CHECK(build_picked(b, build_i64(b, 1), build_i64(b, 1)) == K_NONE);
  CHECK(builder_status(b) == K_EINVAL);
  builder_free(b);
}

/* There is an end to memory, and to what is listed. */
static void try_room(void) {
  struct k_items items = {.memory = &test_memory};
  CHECK(items_room(&items, 10));
  items.count = 7;
  CHECK(items_room(&items, 100) == items.items + 7 && items.capacity >= 107);
  CHECK(!items_room(&items, UINT32_MAX));
  items_free(&items);
}

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    for (int round = 0; round < 24; round++) {
      every = round % 3 == 0 ? 1 : round % 3 == 1 ? 5 : 350;
      run(round % 4 == 3);
    }
  }
  try_check();
  try_builder();
  try_room();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
