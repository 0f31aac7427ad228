/* Rows jump back together, those that have left keep what they had, until no row is in the loop. */
#include "front/row_loop.h"

#include "front/flow.h"
#include "front/rounds.h"

#define MOST_ROUNDS 65536

bool row_loop_begins(const struct frame *frame) {
  if (flow_loop(frame->code, frame->pc) == 0) return false;
  return !frame->loop || frame->loop->head != frame->pc;
}

bool row_loop_is_open(const struct frame *frame, uint32_t target) {
  for (const struct loop *loop = frame->loop; loop; loop = loop->outer)
    if (loop->head == target && loop->control == NONE) return true;
  return false;
}

k_value row_loop_rounds(struct front *f) { return build_i64(f->b, MOST_ROUNDS); }

void row_loop_give_up(struct front *f) {
  assert(f->env.mask != K_NONE);
  build_at(f->b, f->env.mask, front_tag(f));
  build_give_up(f->b);
  f->env.mask = K_NONE;
}

void row_loop(struct front *f, struct frame *frame) {
  struct loop loop = {.head = frame->pc, .end = flow_loop(frame->code, frame->pc),
                      .control = NONE, .shrinks = true};
  assert(loop.end > loop.head);
  rounds_open(&loop, f, frame);
  do {
    rounds_begin(&loop, row_loop_rounds(f));
    rounds_compile(&loop, loop.head, loop.end);
    frame->pc = loop.end - 1;
    if (f->env.mask != K_NONE) front_jump(f, loop.end, f->env.mask);
    f->env.mask = K_NONE;
    front_join(f, loop.first_edge, loop.head);
  } while (rounds_again(&loop));
  frame->pc = loop.head;
  rounds_end(&loop);
  frame->pc = loop.head;
  row_loop_give_up(f);
  frame->pc = loop.end;
}
