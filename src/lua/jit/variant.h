/* What a kernel is, and the programs that its function has become: see kernel_variant.h. */
#ifndef ECS_LUA_JIT_VARIANT_H
#define ECS_LUA_JIT_VARIANT_H

#include "core/world/attachment.h"
#include "front/guard.h"
#include "runner/brood.h"
#include "runner/partners.h"
#include "runner/run.h"
#include "lua/jit/kernel.h"
#include "lua/jit/kernel_variant.h"

#define REFUSAL 0              /* among a variant's anchors: no number of what the front anchors, */
#define THE_FUNCTION 1         /* and the number of what it anchors first */

struct abreast;

/* What a world's object has compiled, in the world's memory: freed with the world whatever
** becomes of the object and of handles. */
struct kernel_set {
  struct attachment link;
  struct kernel *list;
  struct runner runner;
  struct abreast *abreast;     /* of systems side by side; NULL before there are any */
  struct broods broods;        /* what rows spawn, of the run that is */
};

/* A function that is to be compiled. */
struct kernel {
  struct world_box *box;
  struct kernel_set *set;
  const ecs_query *query;
  struct variant **variants;   /* the last used first */
  struct variant *sure;        /* the first of them, if it is settled whatever outside values and */
  uint64_t sure_version;       /* tables are, by that version of the world's components; or NULL */
  const uint64_t *version;     /* which that is now */
  uint64_t runs;
  uint32_t count, capacity;
  enum front_result result;
  bool refused;                /* when it was last asked for */
  struct kernel *previous, *next;
  uint64_t compilations;       /* that gave a program */
  uint64_t anchored;           /* tables of anchors so far */
  bool ahead;                  /* it was asked for before there is a run */
  bool found;                  /* something was to be run when it was last asked for */
  bool filtered;               /* for rows that a q:where(fn) lets through: programs start so */
  bool breaks_promise;         /* refused since it writes to a term declared :in */
  bool hopeless;               /* refused, and will be, whatever the outside values */
};

/* One program of a function; or, without a program, that it was refused where its guards fit: its
** anchors then have the reason at REFUSAL. */
struct variant {
  uint64_t version;            /* of the world's components */
  uint64_t run;                /* of the kernel, that `uniforms` are for */
  uint32_t guard_count, resource_count, array_count, column_count;
  bool quiet;                  /* its runs cannot fail and have no results but what they store */
  bool texts;                  /* some of its guards are GUARD_TEXT */
  bool starved;                /* there was no memory to copy `copied` */
  bool looks;                  /* into indexes, and may change with them: `indexed`, `fresh` */
  struct run_plan plan;        /* its arrays are `cells`, `commands`, `asked`, `lookups` */
  struct which which;
  struct guard *guards;
  struct resource_uniform *resources;
  struct run_column *cells;
  struct front_column *columns;   /* what messages and explain say of them */
  uint32_t anchors;            /* its table among the kernel's, with weak values */
  uint32_t anchor_count;       /* in it; the function is the first */
  k_scalar uniforms[FRONT_UNIFORMS];
  struct run_command commands[RUN_ORDERS];
  struct run_asked asked[RUN_ASKED];
  struct run_lookup *lookups;
  uint32_t lookup_count;
  struct run_other others[RUN_OTHERS];
  uint32_t other_count;
  uint32_t marks[RUN_MARKS];
  uint32_t mark_count, first_mark;
  uint32_t whole[RUN_MARKS];
  uint32_t whole_count;
  ecs_id array_ids[FRONT_ARRAYS];   /* 0: a table */
  uint32_t array_leaves[FRONT_ARRAYS];   /* of a resource: which field of it */
  bool array_written[FRONT_ARRAYS];
  k_array arrays[FRONT_ARRAYS];   /* as they are in this run */
  struct copied copied[FRONT_ARRAYS];   /* tables among them, */
  struct front_copy copies[FRONT_ARRAYS];   /* and what indexes have copied */
  struct ecs_index *indexes[RUN_INDEXES];   /* that it looks into, */
  uint32_t index_count;
  struct run_list lists[RUN_LISTS];
  uint32_t list_count;
  uint64_t indexed;            /* indexes_version of the world */
  uint64_t fresh;              /* the run for which they were brought up to date last */
};

#endif
