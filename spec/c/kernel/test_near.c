/* The loops over lists that each instruction set has of its own: those near a place, and whom a
** round comes to, as plain C finds them, and nothing written behind what there is room for. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/ops.h"
#include "kernel/program.h"

enum { ROWS = 70, BEHIND = 0x5eed };

static uint32_t draw(int below) { return (uint32_t)random_below(below); }

/* Many at the same distance, some nowhere. */
static double draw_place(void) {
  static const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e300, -0.0, 5e-324};
  return draw(12) == 0 ? odd[draw(6)] : (double)draw(9) / 4 - 1;
}

static double square(double a, double b) { return (a - b) * (a - b); }

static void try_near(const struct list_loops *loops, uint32_t axes, double most) {
  double places[3][ROWS], at[3];
  const double *columns[3] = {places[0], places[1], places[2]};
  for (uint32_t axis = 0; axis < 3; axis++) {
    for (uint32_t i = 0; i < ROWS; i++) places[axis][i] = draw_place();
    at[axis] = draw(20) ? (double)draw(9) / 4 - 1 : draw_place();
  }
  uint32_t row = draw(ROWS / 2), end = row + draw(ROWS / 2), count = 0;
  uint32_t *found = malloc((end - row + 1) * sizeof *found);   /* so that sanitizers see its end */
  found[end - row] = BEHIND;
  uint32_t got = loops->near[axes - 2](columns, at, most, row, end, found);
  for (uint32_t i = row; i < end; i++) {
    double sum = square(places[0][i], at[0]) + square(places[1][i], at[1]);
    if (axes == 3) sum += square(places[2][i], at[2]);
    if (!(sum <= most)) continue;
    CHECK(count < got && found[count] == i);
    count++;
  }
  CHECK(got == count && found[end - row] == BEHIND);
  free(found);
}

static void try_pick(const struct list_loops *loops, uint32_t n, uint64_t item, bool empty) {
  uint32_t items[ROWS];
  k_span spans[ROWS];
  int64_t picked[ROWS + 1];
  struct k_items list = {.items = empty ? NULL : items, .count = empty ? 0 : draw(ROWS)};
  for (uint32_t i = 0; i < ROWS; i++) {
    items[i] = draw(8) ? draw(1000) : UINT32_MAX;
    spans[i] = (k_span){draw(ROWS), draw(5)};
    if (draw(30) == 0) spans[i] = (k_span){UINT32_MAX - draw(2), UINT32_MAX};
  }
  picked[n] = BEHIND;
  loops->pick(spans, &list, item, picked, n);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t at = spans[i].first + item;
    bool there = item < spans[i].count && at < list.count;
    CHECK(picked[i] == (there ? (int64_t)items[at] + 1 : 0));
  }
  CHECK(picked[n] == BEHIND);
}

int main(void) {
  static const double sums[] = {1, 0.0625, 0, -1, HUGE_VAL, NAN, 2.25};
  for (int i = 0; i < K_ISAS; i++) {
    if (!isa_supported((k_isa)i)) continue;
    const struct list_loops *loops = isa_list_loops((k_isa)i);
    for (uint32_t round = 0; round < 4000; round++) {
      try_near(loops, 2 + round % 2, sums[draw(7)]);
      try_pick(loops, draw(ROWS), round % 9 == 0 ? UINT32_MAX : draw(6), round % 7 == 0);
    }
  }
  return failures != 0;
}
