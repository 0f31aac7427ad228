/* Inside the builder: values as nodes, and the passes that `build_finish` takes.
**
**   builder.c   nodes, their memory, common subexpressions, going back
**   build.c     the public operations
**   fuse.c      live nodes; operations joined; operands that have to be block registers
**   order.c     the order of instructions: out of loops, what can fail first
**   region.c    work that an empty mask makes needless
**   allocate.c  how long values live, and in which register or column
**   emit.c      instructions
**
** A node is named by the k_value that it yields, also where it yields nothing; a position
** is one of builder.plan. K_ALL, 0, is the first node, so that 0 can stand for no node
** where that one is not meant. */
#ifndef ECS_KERNEL_NODE_H
#define ECS_KERNEL_NODE_H

#include "kernel/build.h"
#include "kernel/ops.h"

/* What a node does, besides the operations of k_op. The comments list its `in`. The order matters:
** nodes from N_NOTE to N_FOLD, and from N_LOOP on, have effects or places of their own; those from
** N_NEXT on yield nothing while a program is built (builder_is_value, build_usable). */
enum {
  N_CONSTANT = KO_COUNT,
  N_UNIFORM,   /* aux: index */
  N_LOAD,      /* aux: column */
  N_LIVE,      /* aux: column; its entities, with 0 for dead ones */
  N_START,     /* mask of the rows that the run is for */
  N_CONVERT,   /* x */
  N_LIMIT,     /* uniform x; aux: k_limit, towards the next narrower type */
  N_EXACT,     /* x, -, -, mask; aux: the k_error if a float is not an integer */
  N_RANGE,     /* x, -, -, mask; aux: k_column. Yields nothing */
  N_SELECT,    /* mask, x, y */
  N_RANDOM,    /* entity, call, seed, tick */
  N_UNIT,      /* bits */
  N_INTERVAL,  /* bits, lo, hi, mask */
  N_ELEMENT,   /* index; aux: array */
  N_INSIDE,    /* index; aux: array */
  N_AT,        /* index; aux: array. The element's cell */
  N_LOOK,      /* id or place, -, -, mask; aux: lookup */
  N_GET,       /* cell. Ordered */
  N_BOUND,     /* index, -, -, mask; aux: array. Yields nothing */
  N_NEED,      /* x, -, -, mask. Yields nothing */
  N_GIVE_UP,   /* mask, -, -, mask. Yields nothing */
  N_GIVE,      /* value, the N_GIVE before; aux: list * LIST_ARGUMENTS + argument. Yields nothing */
  N_NOTE,      /* entity, value, cell or -, mask; aux: site. Yields nothing */
  N_DO_NOTES,  /* -, -, -, mask of all. Yields nothing */
  N_LAY,       /* -, -, -, mask; aux: array * MAX_ARRAYS + array. Ordered; yields nothing */
  N_SET,       /* cell, value, -, mask. Ordered; yields nothing */
  N_FOLD,      /* cell, operand, -, mask; aux: fold. Yields what was in the cell */
  N_LIST,      /* the last N_GIVE, -, -, mask; aux: list */
  N_PICK,      /* the list, uniform item; aux: list */
  N_TAKE,      /* the list; aux as for N_GIVE */
  N_LOOP,      /* count, mask; yields the counter */
  N_CARRY,     /* init, then next */
  N_NEXT,      /* carry, value */
  N_END,       /* loop, mask */
  N_STORE,     /* x; aux: column */
  N_PUT,       /* as N_STORE, in the rows that the run is for */
  N_EMIT,      /* mask; aux: bitmap */
  N_REDUCE,    /* x, -, -, mask; aux: total * 4 + k_reduce */
  /* made by the passes */
  N_ADDMUL, N_SUBMUL, N_MULSUB,  /* a, b, c */
  N_MULADD, N_MULDIFF,           /* a, b, c, d */
  N_WHEN,      /* x, y, yes, no; aux: the comparison */
  N_NEGATE,    /* x, y, c: -c if the comparison holds, otherwise c; aux: the comparison */
  N_COPY,      /* x */
  N_FILL,      /* uniform x */
  N_SKIP,      /* mask */
  N_LAND,      /* skip: where it lands */
  N_ROWS,      /* begins the ordered part, */
  N_ROWS_END,  /* which ends here; the N_ROWS */
  N_UNFOLD,    /* cell, N_FOLD, -, mask; aux: fold. Yields nothing */
  N_COUNT
};

struct node {
  uint8_t op, type;    /* a k_op or one of the above; k_type */
  bool varies, fails;
  uint8_t state;       /* region.c */
  bool tied;           /* region.c: if skipped, it becomes its other operand */
  bool shut;           /* region.c: follows a skip, and nothing else needs it */
  uint16_t aux;
  bool live;           /* the program needs it */
  bool done;           /* order.c: it is in the plan */
  bool ordered;        /* runs in the order of rows: it may see the effects of earlier nodes */
  uint8_t phase;       /* order.c: enum node_phase */
  bool down;           /* order.c: depends on an ordered node */
  k_value in[4];       /* operands; K_NONE: none */
  k_value home;        /* the loop whose body it belongs to, or 0 */
  k_value chain;       /* the next node in its hash bucket */
  uint32_t tag;
  k_scalar k;          /* a constant's value */
  int32_t uses;        /* live users, counted by fuse.c and again by region.c */
  int32_t inside;      /* region.c: users within a region */
  k_value need;        /* region.c: it is only needed in the rows of this mask */
  k_value fill;        /* the block register that holds a uniform, or 0 */
  int32_t at, last;    /* allocate.c: positions of its definition and of its last use, */
  int32_t body_last;   /* a carry: also of its last use inside its loop */
  k_value heir;        /* allocate.c: the carry that takes this value over, or 0 */
  k_value end;         /* a loop: its end */
  uint32_t pc;         /* emit.c: its instruction */
  uint16_t scalar;     /* emit.c: a uniform's number */
  int32_t copied;      /* allocate.c: a tied node: the position of its skip */
  uint32_t column;     /* allocate.c: 1 + the column that it is stored to, or 0 */
  uint16_t location;   /* allocate.c: see LOCATION */
};

/* A step on cells that nothing else in the program accesses: see build_fold. */
struct fold {
  uint8_t type, step;          /* k_column; k_fold */
  uint16_t alias;              /* 1 + the uniform with the same values; or ALIAS_COLUMN + */
                               /* column; or 0 */
  k_value at;                  /* its node */
};

struct node_list {
  k_value *items;
  uint32_t count, capacity;
};

#define ALIAS_COLUMN 0x8000u

struct builder {
  struct memory *memory;
  k_status status;
  struct node *nodes;
  int32_t count;
  uint32_t capacity;
  k_value loop;                      /* the innermost loop that is open, or 0 */
  k_value fail_mask;                 /* see build_at */
  uint32_t fail_tag;
  uint32_t column_count, uniform_count, bitmap_count, total_count, array_count, lookup_count;
  uint32_t site_count, list_count;
  uint8_t columns[MAX_COLUMNS];
  uint8_t uniforms[MAX_COLUMNS];     /* k_type + 1; 0: unknown */
  uint8_t totals[MAX_TOTALS];
  uint8_t arrays[MAX_ARRAYS];
  uint64_t loose;
  uint8_t lookups[MAX_LOOKUPS];
  k_site sites[MAX_SITES];
  uint32_t fold_count, shared_fold;  /* K_SHARED: the fold with cells used otherwise */
  struct fold folds[MAX_FOLDS];
  bool ordered;                      /* some node is ordered; then all notes are */
  k_value store[MAX_COLUMNS];        /* build_finish: the store of each column, or 0 */
  k_value load[MAX_COLUMNS];         /* build_finish: its live load, or 0 */
  k_value bucket[256];
  struct node_list plan, spare;      /* build_finish: instructions in order */
  struct node_list prologue;         /* and those to run once */
  int32_t safe;                      /* allocate.c: position after the last node that can fail */
  uint32_t reg_count[3];             /* block registers of 1, 4 and 8 bytes a lane, */
  int32_t busy[3][MAX_REGISTERS];    /* the last position at which each is in use, */
  int32_t column_busy[MAX_COLUMNS];  /* and each column: its old value, or a guest */
};

static inline struct node *node_at(const struct builder *b, k_value v) {
  assert(v >= 0 && v < b->count);
  return &b->nodes[v];
}

/* The node at a position of the plan. */
static inline struct node *planned(const struct builder *b, int32_t position) {
  assert(position >= 0 && (uint32_t)position < b->plan.count);
  return node_at(b, b->plan.items[position]);
}

/* Where a value is: a class and a number in it. */
enum { LOC_COLUMN, LOC_REG1, LOC_REG4, LOC_REG8, LOC_ALL, LOC_NONE };
#define LOCATION(class, number) (uint16_t)((uint32_t)(class) << 12 | (uint32_t)(number))
#define LOCATION_CLASS(location) ((uint32_t)(location) >> 12)
#define LOCATION_NUMBER(location) ((uint32_t)(location) & 0xfff)

/* The cost of an operation, as region.c weighs it. */
enum cost {
  COST_STEP,      /* as an addition */
  COST_ROOT,
  COST_ROUND,     /* to an integer */
  COST_QUOTIENT,
  COST_LONG,      /* a function of math64.h */
  COST_OWN,       /* a function of math32.h, or of libm for f64 */
  COST_LIBM
};

struct operation {
  uint8_t operands;          /* 1 or 2 */
  uint8_t types;             /* accepted types: bits by k_type */
  uint8_t cost;              /* enum cost */
  uint16_t floats, others;   /* first instructions: on f32, on i64 or bool; OP_COUNT: none */
};

/* Indexed by k_op. */
extern const struct operation operations[KO_COUNT];

/* When a node runs in a block: first what can fail and what ordered nodes need; then the ordered
** nodes, row by row; then the rest. */
enum node_phase { PHASE_LATE, PHASE_ROWS, PHASE_FOLDS, PHASE_EARLY };

static inline bool is_store(const struct node *n) { return n->op == N_STORE || n->op == N_PUT; }

static inline bool is_compare(uint32_t op) { return op >= KO_EQ && op <= KO_GE; }

/* In ops.def, instructions on f64 follow those on f32 at this distance. */
#define TO_F64 ((uint32_t)(OP_ADD_VV_F64 - OP_ADD_VV_F32))

/* An operation's first instruction for a type; those for scalars follow. OP_COUNT: none. */
uint32_t operation_insn(uint32_t op, uint32_t type);
/* Which operands an operation's instructions take as scalars: 1 for the first, 2 for the second. */
uint32_t operation_scalars(uint32_t op, uint32_t type);

/* ---- builder.c ---- */

/* Adds a node equal to *n, or returns an existing one; K_NONE when out of memory. */
k_value builder_add(struct builder *b, struct node n);
/* Adds a node with these operands, or K_NONE for none, before its mask, if it has one. */
k_value builder_add_of(struct builder *b, struct node n, k_value x, k_value y, k_value z);
/* An existing node that finds or checks the same, for all rows of n's mask; or K_NONE. */
k_value builder_known(const struct builder *b, const struct node *n);
/* Appends a node, in the body of `home`. */
k_value builder_append(struct builder *b, struct node n, k_value home);
struct node node_make(uint32_t op, k_type type, bool varies);
/* Stops building with this status. Returns K_NONE. */
k_value builder_fail(struct builder *b, k_status status);
/* Whether an integer surely fits a column of a type, as far as nodes show. */
bool builder_is_within(const struct builder *b, k_value v, k_column type);
bool node_list_push(struct builder *b, struct node_list *list, k_value v);
/* Adds a node that exists only in the plan to the spare list; K_NONE when out of memory. */
k_value builder_push_bound(struct builder *b, uint32_t op, k_value of);
/* The number of loops around a loop's body: 0 outside of all loops. */
uint32_t loop_depth(const struct builder *b, k_value loop);
/* Whether the column itself can be an operand: its values have the width that instructions need. */
bool column_direct(const struct builder *b, uint32_t column);

/* A node that may fail, in the rows of the mask given to build_at. */
struct node builder_failing(const struct builder *b, uint32_t op, k_type type);
/* Whether v may be an operand of that type; if not, building has failed. */
bool builder_takes(struct builder *b, k_value v, k_type type);
/* x (op) y is y (mirrored op) x. */
k_op build_mirrored(k_op op);
/* The type of the cell at the address that a value is. */
k_column build_cell_type(const struct builder *b, k_value cell);
/* Whether a node has no value, only a place among the others. */
static inline bool yields_nothing(uint32_t op) {
  return op == N_RANGE || op == N_UNFOLD || (op >= N_BOUND && op <= N_SET);
}

/* ---- the passes, each false if an error occurred ---- */

bool plan_notes(struct builder *b);
bool plan_live(struct builder *b);
bool plan_owners(struct builder *b);
bool plan_fuse(struct builder *b);
bool plan_fill(struct builder *b);
bool plan_order(struct builder *b);
bool plan_regions(struct builder *b);
bool plan_registers(struct builder *b);

/* Whether all rows of g are in m. */
/* Which operand a select yields outside its mask, and an `and` where its first operand is false. */
static inline int node_other(const struct node *n) { return n->op == N_SELECT ? 2 : 0; }
bool mask_implies(const struct builder *b, k_value g, k_value m);

#endif
