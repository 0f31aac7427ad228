/* Script cells: upvalues, globals and fields of tables outside that a function writes. */
#ifndef ECS_FRONT_CELL_H
#define ECS_FRONT_CELL_H

#include "front/guard.h"
#include "kernel/build.h"

struct front;
struct val;

#define FRONT_CELLS 32
#define FRONT_STORED 16   /* tables whose elements are written by a variable */

/* What an upvalue or a field of a table may be that the function writes. */
enum cell_kind {
  CELL_NIL,        /* nothing */
  CELL_BOOL,
  CELL_INTEGER,
  CELL_FLOAT,
  CELL_MIXED,      /* a float, or an integer that a float can stand for */
  CELL_OTHER       /* what kernels keep in none */
};

struct cell {
  uint8_t kind;
  bool maybe;                  /* it may be nil, too */
  bool read;
  bool ordered;                /* not folded: rows see what those before them have written */
};

/* All of a program, and what they are while it runs. */
struct script_cells {
  uint32_t count, tables;      /* cells, and tables whose elements are written */
  bool adds;                   /* fields and elements that are not there may be added */
  struct cell list[FRONT_CELLS];
  double floats[FRONT_CELLS];
  int64_t integers[FRONT_CELLS];
  uint8_t truths[3][FRONT_CELLS];   /* itself; it is there; it is an integer to Lua */
  uint8_t arrays[FRONT_ARRAYS];     /* of the program: 1 + the k_column of cells, 0: of no cells */
};

static inline bool cells_any(const struct script_cells *cells) {
  return cells->count || cells->tables;
}

/* What a script cell is for the rows that have come to where the pass is, if that is known. */
struct env_cell {
  bool known;
  k_value value, present, whole;
};

/* ---- compiling ---- */

/* The number of the cell that a path leads to; NONE: it is not written, as far as is known. */
uint32_t cell_find(struct front *f, const struct path *path);
/* What it is when the row comes here; sets it, for the rows that are here. */
struct val cell_get(struct front *f, const struct path *path, uint32_t at);
void cell_set(struct front *f, const struct path *path, struct val value);
/* Whether elements of a table outside are written by a variable, as far as is known. */
bool cell_is_stored(struct front *f, struct val table);
/* Has a table by a path be one, when the function is compiled anew, if it writes any by a
** variable. */
void cell_store_table(struct front *f, uint32_t path);
/* An element of such a table when the row comes here; sets one, for the rows that are here. */
struct val cell_get_element(struct front *f, struct val table, struct val index);
void cell_set_element(struct front *f, struct val table, struct val index, struct val value);
/* Needs such a table to have so many elements, and no more. */
void cell_need_length(struct front *f, struct val table, uint32_t length);
/* Has rows see what those before them have written to a cell, when it is compiled anew. */
void cell_order(struct front *f, uint32_t at);
/* Refuses what reads them otherwise. */
void cell_finish(struct front *f);

/* ---- running ---- */

/* Whether the paths of guards meet in cells elsewhere than in those of GUARD_CELL. */
bool cells_meet(lua_State *L, int anchors, const struct guard *guards, uint32_t count);
/* Takes what is there into the values; false when that is something else than the cell. */
bool cell_take(lua_State *L, int anchors, const struct guard *guard, struct script_cells *cells);
/* Makes (`reserves`) fields that are not there and may be added, which may raise Lua's memory
** error, so that storing them, the second time, does not. No Lua may run from cell_take to there.
** `arrays`: the program's. */
void cells_store(lua_State *L, int anchors, const struct guard *guards, uint32_t count,
                 const struct script_cells *cells, const k_array *arrays, bool reserves);

#endif
