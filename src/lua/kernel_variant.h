/* The programs that a kernel's function has become, chosen by what its outside values are and by
** which of its query's optional terms a table has. */
#ifndef ECS_LUA_KERNEL_VARIANT_H
#define ECS_LUA_KERNEL_VARIANT_H

#include "lua/kernel.h"

#include "core/store/world.h"
#include "front/guard.h"
#include "kernel/run.h"

struct walk;

#define KERNEL_SLOTS 64        /* of a query whose functions are compiled */
#define REFUSAL 0              /* among a variant's anchors: no number of what the front anchors, */
#define THE_FUNCTION 1         /* and the number of what it anchors first */

/* What a world's object has compiled, in the world's memory: freed with the world whatever
** becomes of the object and of handles. */
struct kernel_set {
  struct attachment link;
  ecs_world *world;
  struct kernel *list;
  struct runner runner;
};

/* A function that is to be compiled. */
struct kernel {
  struct world_box *box;
  struct kernel_set *set;
  struct kernel *previous, *next;
  const ecs_query *query;
  enum front_result result;
  struct variant **variants;   /* the last used first */
  uint32_t count, capacity;
  uint64_t compilations;       /* that gave a program */
  uint64_t anchored;           /* tables of anchors so far */
  uint64_t runs;
  bool refused;                /* when it was last asked for */
  bool filtered;               /* for rows that a q:where(fn) lets through: programs start so */
  const char *form;            /* of a query or a system, that it was given to last */
  bool breaks_promise;         /* refused since it writes to a term declared :in */
};

/* What rows a program is for. */
struct which {
  uint64_t present;            /* bit by slot: the terms that are there */
  bool some;                   /* not for all rows of a table: those that match */
};

/* One program of a function; or, without a program, that it was refused where its guards fit: its
** anchors then have the reason at REFUSAL. */
struct variant {
  struct run_plan plan;        /* its arrays are `cells`, `commands`, `asked`, `lookups` */
  uint64_t version;            /* of the world's components */
  struct which which;
  struct guard *guards;
  uint32_t guard_count;
  struct resource_uniform *resources;
  uint32_t resource_count;
  struct run_column *cells;
  struct front_column *columns;   /* what messages and explain say of them */
  uint32_t column_count;
  bool quiet;                  /* its runs cannot fail and have no results but what they store */
  uint32_t anchors;            /* its table among the kernel's, with weak values */
  uint32_t anchor_count;       /* in it; the function is the first */
  uint64_t run;                /* of the kernel, that `uniforms` are for */
  k_scalar uniforms[FRONT_UNIFORMS];
  struct run_command commands[RUN_ORDERS];
  struct run_asked asked[RUN_ASKED];
  struct run_lookup *lookups;
  uint32_t lookup_count;
  struct run_other others[RUN_OTHERS];
  uint32_t other_count;
  ecs_id array_ids[FRONT_ARRAYS];   /* 0: a table */
  uint32_t array_leaves[FRONT_ARRAYS];   /* of a resource: which field of it */
  bool array_written[FRONT_ARRAYS];
  uint32_t array_count;
  k_array arrays[FRONT_ARRAYS];   /* as they are in this run */
  struct copied copied[FRONT_ARRAYS];   /* tables among them */
  bool texts;                  /* some of its guards are GUARD_TEXT */
  bool starved;                /* there was no memory to copy them */
};

void variant_free(ecs_world *world, struct variant *variant);

/* The program that all rows of a table want (NULL: of one that has every term), of which none
** differ in the terms that are there: see query_table_rows. */
struct which variant_which(const ecs_query *query, const struct table *table);

/* The program that a kernel has for them: one that starts with some, if it is for what a
** q:where(fn) lets through. */
struct which variant_wanted(const struct kernel *kernel, const struct table *table);

/* Which of the terms that may be absent are there, a bit by slot: in a row of a table. */
uint64_t variant_present(const ecs_query *query, const struct table *table, uint32_t row);

/* The terms of a query that may be absent, for a walk. */
struct choices {
  uint32_t count;
  struct {
    const struct term *term;
    uint32_t step;             /* of the walk; NONE: ask walk_cells */
  } list[KERNEL_SLOTS];
};

void variant_choices(const struct walk *walk, struct choices *out);

/* variant_present in a match. */
uint64_t variant_present_in_match(const struct walk *walk, const struct choices *choices);

/* The variant for these rows, as things are now, its outside values read; NULL when there is none.
** KERNEL_ANCHORS of the kernel are at an index. */
struct variant *variant_find(lua_State *L, int anchors, struct kernel *kernel,
                             struct which which);

/* Finds that variant, or makes it, of the kernel whose handle is at an index. If the function
** cannot be compiled, NULL, and the reason is pushed. */
struct variant *variant_need(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct which which);

/* Gives a kernel that has no variants yet those of another closure of its function, whose handle is
** at `from`. To be called while the collector is held; false when out of memory. */
bool variants_share(lua_State *L, int handle, int from, int function);

/* The variant that ran last, its outside values read, if it is quiet and fits all tables that have
** rows; else NULL. Raises nothing. KERNEL_ANCHORS of the kernel are at an index, which is not
** looked at unless it has outside values. */
struct variant *variant_settled(lua_State *L, int anchors, struct kernel *kernel);

#endif
