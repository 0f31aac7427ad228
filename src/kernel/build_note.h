/* Stating what rows do to cells that are not their own: the builder's operations on arrays that are
** written, and on entities. */
#ifndef ECS_KERNEL_BUILD_NOTE_H
#define ECS_KERNEL_BUILD_NOTE_H

#include "kernel/build.h"

/* What rows of the mask given to build_at do to the element at an index: some steps, the first of
** which takes what the element is by then, each of the others what the one before it gives; the
** last one's result is stored. They are done when all that can fail in the row has been, in the
** order of rows, in a row in that of the program, rounds of loops as they come. The row then fails
** when there is no such element (KE_ABSENT), when it does not take the result (KE_FRACTION,
** KE_RANGE), or when there is no room for so much (KE_ROOM).
**
** Operands are i64 or f64; of an array of booleans one bool that is set, or joined by KS_OR or
** KS_AND. An array that is written so is looked at by nothing else, or build_finish gives K_SHARED:
** elements of it may be built for the check of their index, and values be made of them that nobody
** needs. `build_alias` says that a uniform is the array's only element. */
#define BUILD_STEPS 4
typedef enum k_step {
  KS_SET, KS_ADD, KS_SUB, KS_MUL, KS_DIV, KS_MIN, KS_MAX,
  KS_OR, KS_AND,                  /* of truths */
  KS_COUNT, KS_ORDER = KS_COUNT   /* of a site: see build_order */
} k_step;
struct build_step {
  k_step step;
  bool turned;                /* the operand is the left one */
  k_value operand;
};
void build_note(struct builder *b, uint32_t array, k_value index, const struct build_step *steps,
                uint32_t count);
void build_alias(struct builder *b, uint32_t array, uint32_t uniform);
/* Whether rows of the mask given to build_at may have noted steps on the array since a mark, or are
** in another loop than then, so that what was there may be something else by now. */
bool build_noted(const struct builder *b, uint32_t array, k_mark since);

/* What rows of that mask order for an entity (i64), by a number below 64 that whoever runs the
** program knows, with a value of any type but f32: k_orders. Done with the notes of the row, behind
** them; the row fails when it cannot be done (KE_DEAD). */
void build_order(struct builder *b, uint32_t order, k_value entity, k_value value);

/* The next array, whose elements are the cells of others' that a column stands for: one for each
** row, so that its index is not looked at, and k_array.data has their addresses. No two arrays have
** a cell in common. */
uint32_t build_cells(struct builder *b, k_column type, uint32_t column);

/* Of K_SHARED: the array, the tag that was set where it is looked at, or 0, and whether a loop
** writes to it. */
uint32_t build_shared(const struct builder *b, uint32_t *tag, bool *looped);

/* Orders of one site, with their parts: how often in a block, and for which of its rows. */
typedef struct k_given {
  uint32_t order, count;
  const uint32_t *rows;               /* NULL: 0, 1, 2 ... */
  const int64_t *const *entities;     /* of the order, then of each part */
  const k_scalar *const *values;
  uint64_t one_entity, one_value;     /* bits by these: of which there is one for all rows */
} k_given;

/* How orders are given, in the order of rows. */
typedef struct k_orders {
  /* Whether it can be given; */
  bool (*check)(void *ud, uint32_t order, int64_t entity, k_scalar value);
  bool (*reserve)(void *ud, uint32_t count);   /* room for so many, which then */
  void (*give)(void *ud, uint32_t order, int64_t entity, k_scalar value);   /* cannot fail */
  void *ud;
  /* Or NULL: how many orders behind one say more of it. They are not checked. Gives it with these,
  ** with the values of all of them, as if one were given after the other. */
  uint32_t (*parts)(void *ud, uint32_t order);
  bool (*check_joined)(void *ud, uint32_t order, int64_t entity, k_scalar value);
  void (*give_joined)(void *ud, uint32_t order, const int64_t *entities, const k_scalar *values);
  /* Makes room for all that a block orders, and gives it; 0 without room. NONE: such are given one
  ** by one. */
  uint32_t (*give_many)(void *ud, const k_given *given, uint32_t count);
} k_orders;

#endif
