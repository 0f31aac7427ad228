/* Script cells: outside upvalues, globals and fields of tables that a function writes. */
#ifndef ECS_FRONT_CELL_H
#define ECS_FRONT_CELL_H

#include "front/guard.h"
#include "kernel/build.h"

struct front;
struct val;

#define FRONT_CELLS 32
#define LISTS_CELLS 16u    /* script_cells.arrays: added for cells of the function's own lists */
#define FRONT_STORED 16   /* tables with elements that are written at a variable index */

/* The kind of the value in a written upvalue or field. */
enum cell_kind {
  CELL_NIL,        /* nothing */
  CELL_BOOL,
  CELL_INTEGER,
  CELL_FLOAT,
  CELL_MIXED,      /* a float, or an integer that a float can represent */
  CELL_STRING,     /* its number in the world's string table */
  CELL_OTHER       /* not possible in kernels */
};

struct cell {
  uint8_t kind;
  bool maybe;                  /* it may also be nil */
  bool read;
  bool ordered;                /* not folded: rows see what earlier rows have written */
};

#define LIST_COLUMNS 64        /* for values and record fields of all of a function's lists */

/* The cells for the values of a list, or for one field of a pool's records. */
struct list_column {
  uint8_t of, kind;            /* the list or pool; enum cell_kind */
  bool field;                  /* a record's field, with an anchored name or a position */
  bool entity, maybe, wide;
  bool text, string;           /* numbers: of anchored strings, `texts` of them; of string fields */
  uint16_t texts;
  uint32_t position;
};

/* All cells of a program, and their values while it runs. */
struct script_cells {
  uint32_t count, tables;      /* cells, and tables with written elements */
  struct cell list[FRONT_CELLS];
  double floats[FRONT_CELLS];
  int64_t integers[FRONT_CELLS];
  uint8_t truths[3][FRONT_CELLS];   /* values; presence; integers to Lua */
  uint8_t arrays[FRONT_ARRAYS];     /* of the program: k_column of cells plus 1, or 0 */
  uint32_t columns, room;      /* of the function's own lists: scratch.c, */
  struct list_column list_columns[LIST_COLUMNS];
  const struct intern_table *strings;   /* of the world */
};

static inline bool cells_any(const struct script_cells *cells) {
  return cells->count || cells->tables;
}

/* The current value of a script cell for the rows at this instruction, if known. */
struct env_cell {
  bool known;
  k_value value, present, whole;
};

/* ---- compiling ---- */

/* The number of the cell at the end of a path; NONE if no write to it is known. */
uint32_t cell_find(struct front *f, const struct path *path);
/* Reads a cell at the current instruction. The second writes it, for the present rows. */
struct val cell_get(struct front *f, const struct path *path, uint32_t at);
void cell_set(struct front *f, const struct path *path, struct val value);
/* The kind of a value that is nil, a boolean, an id or a number. The second: of a cell for values
** of both kinds; CELL_OTHER if there is none. The last: a value as a cell of its kind holds it. */
enum cell_kind cell_kind_of(struct front *f, struct val value);
enum cell_kind cell_join(enum cell_kind x, enum cell_kind y);
struct val cell_fit(struct front *f, const struct cell *cell, struct val value);
/* Whether the function is known to write elements of an outside table at a variable index. */
bool cell_is_stored(struct front *f, struct val table);
/* Notes that the function writes elements of the table at a path at a variable index; this is known
** when it is compiled again. */
void cell_store_table(struct front *f, uint32_t path);
/* Reads an element of a table with written elements, at the current instruction. The second writes
** one, for the present rows. */
struct val cell_get_element(struct front *f, struct val table, struct val index);
void cell_set_element(struct front *f, struct val table, struct val index, struct val value);
/* Whether values are appended to an outside list; its length, and appending a value, at the current
** instruction. */
bool cell_grows(struct front *f, struct val table);
struct val cell_list_length(struct front *f, struct val table);
void cell_append(struct front *f, struct val table, struct val value);
/* Requires a table with written elements to have exactly that many. */
void cell_need_length(struct front *f, struct val table, uint32_t length);
/* When compiled again, rows see what earlier rows have written to this cell. */
void cell_order(struct front *f, uint32_t at);
/* Refuses a function that also reads its cells in another way. */
void cell_finish(struct front *f);

/* ---- running ---- */

/* Whether a written cell is also reached by a guard that is not its own GUARD_CELL. */
bool cells_meet(lua_State *L, int anchors, const struct guard *guards, uint32_t count);
/* Loads the current value, if the cell's kind can hold it. */
enum reading cell_take(lua_State *L, int anchors, const struct guard *guard, ecs_world *world,
                       struct script_cells *cells);
/* Pushes a string by its number. */
void cell_push_text(lua_State *L, const struct script_cells *cells, int64_t number);
/* Stores the cells. No Lua may run between cell_take and this. `arrays`: the program's; `lists`:
** the cells of the lists that the function makes for itself. */
void cells_store(lua_State *L, int anchors, const struct guard *guards, uint32_t count,
                 const struct script_cells *cells, const k_array *arrays, void *lists);

#endif
