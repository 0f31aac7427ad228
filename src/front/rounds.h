/* Loops of functions: what is common to all of them, and the two kinds that compile one. */
#ifndef ECS_FRONT_ROUNDS_H
#define ECS_FRONT_ROUNDS_H

#include "front/front.h"

/* A loop of the program while it is compiled. What its body changes is carried from round to
** round; which values these are, and of which types, is found by building the body again until
** nothing new turns up. Rows that leave (break, return, goto) keep what they had. */

#define ROUNDS_EXITS 16
#define ROUNDS_CARRIES 192

enum carry_kind { CARRY_REGISTER, CARRY_FIELD, CARRY_COUNT, CARRY_RESULT };

struct carry {
  enum carry_kind kind;
  uint32_t index;
  k_type type;
  bool soft, entity, zero, mixed, wide, rounded;
  enum spawned spawned;
  bool maybe;                  /* it is nil in some rows, */
  bool falsy;                  /* or may be false there */
  const struct enumeration *names;
  uint8_t held;                /* VAL_RECORD, VAL_ARRAYS: it is a place in one, */
  uint32_t table;              /* this one; else 0 */
  const struct component *component;   /* VAL_ARRAYS */
  k_value value, present, whole;   /* of this attempt */
};

struct exit_mask {
  uint32_t target;
  k_value mask;
};

struct loop {
  struct front *f;
  struct frame *frame;
  struct loop *outer;          /* of the frame */
  uint32_t head, end;          /* its first instruction, and that behind its last */
  uint32_t control;            /* of a numeric for: its registers, which nothing behind it needs */
  bool shrinks;                /* rows leave at the end of rounds, too: */
  bool counts;                 /* those that have done all of theirs, and are behind it then; */
  k_value again;               /* the others, to be set by whoever compiles a round */
  struct env start;            /* before the loop; its registers belong to an edge */
  uint32_t first_edge;         /* those of the body */
  uint32_t fork_count, commands, chains, made, items, lists, attempts;
  k_mark mark;
  uint64_t poisoned[FRONT_REGISTERS / 64];
  struct carry carries[ROUNDS_CARRIES];
  uint32_t count;
  struct exit_mask exits[ROUNDS_EXITS];
  uint32_t exit_count;
  uint32_t result_count;
  k_value live;                /* the rows that are in it still; behind it those that never left */
};

/* Begins to compile a loop whose head, end, control and shrinks are set, for the rows that are
** here. */
void rounds_open(struct loop *loop, struct front *f, struct frame *frame);
/* Opens the program's loop, of at most so many rounds, with what is carried; the rows that are in
** it still are here. Returns the number of the round. The body is to be compiled next; then rows
** that begin another round are to be here, and all others to have jumped. */
k_value rounds_begin(struct loop *loop, k_value count);
/* Compiles instructions of the body, up to `end`. */
void rounds_compile(struct loop *loop, uint32_t pc, uint32_t end);
/* Whether the body has changed more than was known: then all is as before rounds_begin, which is
** next; else rounds_end. */
bool rounds_again(struct loop *loop);
/* Closes it. Rows that did the last round, or all of theirs, and never left are here. */
void rounds_end(struct loop *loop);

/* Numeric for: compiles the loop at the frame's pc and leaves pc behind it. */
void numeric_for(struct front *f, struct frame *frame);

/* What ipairs gives for its arguments: three values, as it returns. The generic for at the frame's
** pc over that: rounds for a table outside or an array, and one body behind the other for a table
** that the function makes. */
uint32_t items_of(struct front *f, const struct val *arguments, uint32_t count,
                  struct val *results);
void items_for(struct front *f, struct frame *frame);

/* Loops that jump back: while, repeat, goto. */

/* Whether the frame's pc begins a loop that is not open. */
bool row_loop_begins(const struct frame *frame);
/* Whether rows may jump back to an instruction, since the loop that it begins is open. */
bool row_loop_is_open(const struct frame *frame, uint32_t target);
/* Compiles the loop at the frame's pc and leaves pc behind it. */
void row_loop(struct front *f, struct frame *frame);

#endif
