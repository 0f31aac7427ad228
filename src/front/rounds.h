/* Loops of functions: what all have in common, and the kinds that compile them. */
#ifndef ECS_FRONT_ROUNDS_H
#define ECS_FRONT_ROUNDS_H

#include "front/front.h"

/* A loop of the program while it is compiled. What its body changes is carried from round to round;
** which values these are, and their types, is found by building the body repeatedly until it shows
** nothing new. Rows that leave (break, return, goto) keep their values. */

#define ROUNDS_EXITS 16
#define ROUNDS_CARRIES 192

enum carry_kind { CARRY_REGISTER, CARRY_FIELD, CARRY_COUNT, CARRY_RESULT };

struct carry {
  enum carry_kind kind;
  uint32_t index;
  k_type type;
  bool maybe;                  /* it is nil in some rows */
  struct val held;             /* a value, or a place: its number and masks are of this attempt */
};

struct exit_mask {
  uint32_t target;
  k_value mask;
};

struct loop {
  struct front *f;
  struct frame *frame;
  struct loop *outer;          /* the next loop outward in the frame */
  uint32_t head, end;          /* its first instruction, and its end */
  uint32_t control;            /* numeric for: its registers, not needed after it */
  bool shrinks;                /* rows also leave when a round ends; */
  bool shows;                  /* the views that it yields show other rows in each round: what they
                               ** show is unknown in other rounds, and after it */
  bool counts;                 /* those that leave have done all rounds, and continue after it; */
  k_value again;               /* the others, set by what compiles a round */
  struct env start;            /* before the loop; its registers belong to an edge */
  uint32_t first_edge;         /* of the body */
  uint32_t fork_count, commands, chains, made, items, lists, attempts;
  k_mark mark;
  uint64_t poisoned[FRONT_REGISTERS / 64];
  struct carry carries[ROUNDS_CARRIES];
  uint32_t count;
  struct exit_mask exits[ROUNDS_EXITS];
  uint32_t exit_count;
  uint32_t result_count;
  bool once;                   /* no row reaches the end of its body, so it does not loop */
  k_value live;                /* the rows still in it; afterwards, those that never left */
};

/* Begins to compile a loop whose head, end, control and shrinks are set, for the present rows. */
void rounds_open(struct loop *loop, struct front *f, struct frame *frame);
/* Opens the program's loop, of at most `count` rounds, with what is carried; the rows in it are
** present. Returns the number of the round. The body must be compiled next; then only rows that
** begin another round may be present, and all others have jumped. */
k_value rounds_begin(struct loop *loop, k_value count);
/* Compiles instructions of the body, up to `end`. */
void rounds_compile(struct loop *loop, uint32_t pc, uint32_t end);
/* Whether the body has changed more than was known: then everything is as before rounds_begin,
** which must be called again; otherwise rounds_end. */
bool rounds_again(struct loop *loop);
/* Closes the loop. The rows present are those that have finished their rounds and never left. */
void rounds_end(struct loop *loop);

/* Numeric for: compiles the loop at the frame's pc and moves pc past it. */
void numeric_for(struct front *f, struct frame *frame);

/* items_of: the three results of ipairs for its arguments. items_of_pairs: the first of pairs with
** a table from outside. items_for: the generic for at the frame's pc over them, as rounds for an
** outside table or an array, and as consecutive bodies for a table that the function creates. */
uint32_t items_of(struct front *f, const struct val *arguments, uint32_t count,
                  struct val *results);
struct val items_of_pairs(struct front *f, struct val table);
void items_for(struct front *f, struct frame *frame);

/* Loops that jump back: while, repeat, goto. */

/* Whether the frame's pc begins a loop that is not open. */
bool row_loop_begins(const struct frame *frame);
/* Whether rows may jump back to an instruction, since the loop that it begins is open. */
bool row_loop_is_open(const struct frame *frame, uint32_t target);
/* Compiles the loop at the frame's pc and moves pc past it. */
void row_loop(struct front *f, struct frame *frame);

/* The flow of a function: where it jumps back to, and which registers are live there. */

/* Finds the loops of a function that jumps back, except `for` loops, and live registers:
** function->flow, NULL if there are none. False when out of memory. */
bool flow_find(struct function_code *function);
void flow_free(struct function_code *function);

/* The end of the loop that an instruction begins; 0 if it begins none. */
uint32_t flow_loop(const struct function_code *function, uint32_t pc);

/* Whether a register may be read from an instruction, or from the end, on. Only if there are
** loops. */
bool flow_needs(const struct function_code *function, uint32_t pc, uint32_t at);

/* Whether an instruction reads a register; whether it always sets a register. */
bool flow_takes(const struct code *code, uint32_t at);
bool flow_sets(const struct code *code, uint32_t at);

/* Replaces the frame's code by the body of the loop at f->body_line: its upvalues from BODY_LOCAL
** on are the locals around the loop. */
#define BODY_LOCAL 1024u
void body_cut(struct front *f, struct frame *frame);

#endif
