/* The programs that a kernel's function has become, chosen by what its outside values are and by
** which of its query's optional terms a table has. */
#ifndef ECS_LUA_JIT_KERNEL_VARIANT_H
#define ECS_LUA_JIT_KERNEL_VARIANT_H

#include <lauxlib.h>

#include "core/base/base.h"

struct kernel;
struct memory;
struct table;
struct term;
struct variant;
struct walk;

#define KERNEL_SLOTS 64        /* of a query whose functions are compiled */

/* What rows a program is for. */
struct which {
  uint64_t present;            /* bit by slot: the terms that are there */
  bool some;                   /* not for all rows of a table: those that match */
};

void variant_free(struct memory *memory, struct variant *variant);

/* The program that all rows of a table want (NULL: of one that has every term), of which none
** differ in the terms that are there: see query_table_rows. It starts with some, if the kernel is
** for what a q:where(fn) lets through. */
struct which variant_wanted(const struct kernel *kernel, const struct table *table);

/* The same where it is known whether just some rows match. It is for all if it runs over stretches
** all of whose rows match. */
struct which variant_of_rows(const struct kernel *kernel, const struct table *table, bool some);

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

/* Whether it is for the components, and, where it looks into some, the indexes that there are
** now. */
bool variant_is_current(const struct kernel *kernel, const struct variant *variant);

/* The variant for these rows, as things are now, its outside values read; NULL when there is none.
** KERNEL_ANCHORS of the kernel are at an index. */
struct variant *variant_find(lua_State *L, int anchors, struct kernel *kernel,
                             struct which which);

/* Finds that variant, or makes it, of the kernel whose handle is at an index. If the function
** cannot be compiled, NULL, and the reason is pushed. */
struct variant *variant_need(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct which which);

/* Gives a kernel that has no variants yet those of another one of its function's code, over a query
** of the same text, whose handle is at `from`; not all of them when out of memory. To be called
** while the collector is held. */
void variants_share(lua_State *L, int handle, int from, int function);

/* The variant that ran last, its outside values read, if it is quiet and fits all tables that have
** rows; else NULL. Raises nothing. KERNEL_ANCHORS of the kernel are at an index, which is not
** looked at unless it has outside values. */
struct variant *variant_settled(lua_State *L, int anchors, struct kernel *kernel);

/* Whether it is for every table in which rows match, and for all of these. */
bool variant_fits_all(const struct kernel *kernel, const struct variant *variant);

/* Pushes a list of the tables that are copied when a run starts: `name`, as the function calls it,
** how many `elements` there were when one last did, and the `bytes` that these took. */
void variant_push_tables(lua_State *L, int handle, const struct variant *variant);

#endif
