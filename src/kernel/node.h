/* Inside the builder: values as nodes, and the passes that `build_finish` takes.
**
**   builder.c   nodes, their memory, common subexpressions, going back
**   build.c     the public operations
**   fuse.c      live nodes; operations joined; operands that have to be block registers
**   order.c     the order of instructions: out of loops, what can fail first
**   region.c    work that an empty mask makes needless
**   place.c     lives and places
**   emit.c      instructions
*/
#ifndef ecs_kernel_node_h
#define ecs_kernel_node_h

#include "kernel/ops.h"

/* What a node does, after the operations of k_op. `in` of each is listed. */
enum {
  N_CONSTANT = KO_COUNT,
  N_UNIFORM,   /* aux: index */
  N_LOAD,      /* aux: column */
  N_LIVE,      /* aux: column; its entities, dead ones 0 */
  N_CONVERT,   /* x */
  N_LIMIT,     /* uniform x; aux: k_limit, of the next narrower type */
  N_EXACT,     /* x, -, -, mask; aux: the k_error of a float that is no integer */
  N_RANGE,     /* x, -, -, mask; aux: k_column. Yields nothing */
  N_SELECT,    /* mask, x, y */
  N_RANDOM,    /* entity, call, seed, tick */
  N_UNIT,      /* bits */
  N_INTERVAL,  /* bits, lo, hi, mask */
  N_LOOP,      /* count, mask; yields the counter */
  N_CARRY,     /* init, then next */
  N_NEXT,      /* carry, value */
  N_END,       /* loop, mask */
  N_STORE,     /* x; aux: column */
  N_EMIT,      /* mask; aux: bitmap */
  N_REDUCE,    /* x, -, -, mask; aux: total * 4 + k_reduce */
  /* made by the passes */
  N_ADDMUL, N_SUBMUL, N_MULSUB,  /* a, b, c */
  N_MULADD, N_MULDIFF,           /* a, b, c, d */
  N_WHEN,      /* x, y, yes, no; aux: the comparison */
  N_NEGATE,    /* x, y, c: -c where they compare so, else c; aux: the comparison */
  N_COPY,      /* x */
  N_FILL,      /* uniform x */
  N_SKIP,      /* mask */
  N_LAND       /* skip: where it lands */
};

typedef struct node {
  uint8_t op, type, varies;
  uint8_t fails;
  uint8_t state, tied;  /* region.c; tied: a skip leaves the second operand here */
  uint16_t aux;
  uint8_t live, done, early;  /* order.c: in the plan; needed by what can fail */
  int32_t in[4];    /* K_NONE where there is none */
  int32_t home;     /* the loop in whose body it belongs, 0 in none */
  int32_t chain;    /* the next of its hash bucket */
  uint32_t tag;
  k_scalar k;       /* of a constant */
  int32_t uses;     /* live users, counted by fuse.c and again by region.c */
  int32_t inside;   /* region.c: users within a region */
  int32_t need;     /* region.c: the mask without whose rows it is not needed */
  int32_t fill;     /* the block register that holds a uniform, or 0 */
  int32_t at, last, body_last;  /* place.c: positions of definition and of the last use */
  int32_t heir;     /* place.c: the carry that takes this value over, or 0 */
  int32_t end;      /* of a loop: its end */
  int32_t pc;       /* emit.c: its instruction */
  uint16_t slot;    /* emit.c: of a uniform */
  int32_t copied;   /* place.c: of a tied select, the position of its skip */
  int32_t column;   /* place.c: 1 + the column that it is stored to, or 0 */
  uint16_t place;   /* place.c: see PLACE */
} node;

/* A list of nodes. */
typedef struct order {
  int32_t *v;
  int32_t n, size;
} order;

struct builder {
  k_memory mem;
  k_status status;
  node *nodes;
  int32_t n, size;
  int32_t loop;          /* the innermost open loop, or 0 */
  int32_t guard;         /* see build_at */
  uint32_t tag;
  int ncolumns, nuniforms, nbitmaps, ntotals;
  uint8_t columns[MAX_COLUMNS];
  uint8_t uniforms[MAX_COLUMNS];  /* k_type + 1, 0 unknown */
  uint8_t totals[MAX_TOTALS];
  int32_t store[MAX_COLUMNS];     /* build_finish: the store of each column, or 0 */
  int32_t load[MAX_COLUMNS];      /* build_finish: its live load, or 0 */
  int32_t bucket[256];
  order plan, spare;     /* build_finish: instructions in order */
  order scalars;         /* and those done once per run */
  int32_t safe;          /* place.c: position behind the last that can fail */
  int nreg[3];           /* block registers of 1, 4 and 8 bytes a lane, */
  int32_t busy[3][MAX_REGISTERS];    /* the last position at which each is in use, */
  int32_t column_busy[MAX_COLUMNS];  /* and each column: its old value, or a guest */
};

/* Where a value is: a class and a number in it. */
enum { P_COLUMN, P_REG1, P_REG4, P_REG8, P_SLOT, P_ALL, P_NONE };
#define PLACE(class, number) (uint16_t)((unsigned)(class) << 12 | (unsigned)(number))
#define PLACE_CLASS(place) ((place) >> 12)
#define PLACE_NUMBER(place) ((place) & 0xfff)

/* builder.c. A node like *n, an equal one if there is; K_NONE when out of memory. */
k_value builder_add(builder *b, node n);
/* One more node, in the body of `home`. */
k_value builder_append(builder *b, node n, int32_t home);
node node_make(unsigned op, k_type type, int varies);
/* Stops building with this status; K_NONE. */
k_value builder_fail(builder *b, k_status status);
int order_push(builder *b, order *o, int32_t v);
int loop_is_open(const builder *b, int32_t loop);
/* Its loads and stores need no conversion: the column itself is an operand. */
int column_direct(const builder *b, int column);

/* The passes; each returns 0 when the status went bad. */
int plan_live(builder *b);
int plan_fuse(builder *b);
int plan_fill(builder *b);
int plan_order(builder *b);
int plan_regions(builder *b);
int plan_places(builder *b);
k_status plan_emit(builder *b, program **out);

/* Does g only hold rows of m? */
int mask_implies(const builder *b, int32_t g, int32_t m);
int is_compare(unsigned op);

#endif
