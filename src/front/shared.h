/* What is already known about a function when it is compiled again. */
#ifndef ECS_FRONT_SHARED_H
#define ECS_FRONT_SHARED_H

#include "front/bytecode.h"
#include "front/cell.h"

#define FRONT_DEPTH 8          /* nested inlined functions */
#define FRONT_LISTS 24         /* tables that the function creates and fills as lists */
#define FRONT_CLASSES 64       /* classes whose cells are accessed in the order of rows */
#define FRONT_LEAVES 32        /* instructions that leave rows to Lua */

/* Where a list is created: in which call. */
struct list_place {
  uint32_t depth;
  struct code_place at[FRONT_DEPTH];
};

/* A table that the function creates and fills as a list: scratch.c. */
struct front_list {
  struct list_place place;
  uint32_t names, items;       /* the room that it is created with */
  uint32_t pool;               /* of its records */
  uint32_t outside;            /* 1 + the number, among the written tables, of the outside list that
                               ** it stands for: append.c; 0: none */
  bool records;
  bool keyed;                  /* it is indexed by ids, strings, or any integers */
  bool drops;                  /* and elements are removed */
  bool again;                  /* a row may create it again */
};

/* The shared classes: see class.c. They are kept when a function is compiled again. */
struct front_class {
  ecs_id component;            /* or array, or resource */
  uint32_t leaf;
  uint32_t read_line, write_line;   /* first line that reads it, and that writes it; 0: unknown */
};
struct front_classes {
  bool ordered;                /* rows see what earlier rows write to these classes, */
  bool all;                    /* or to any class */
  bool looks_up;               /* elements of array fields are looked up, where possible */
  bool draws;                  /* the body of a loop calls world:random; */
  bool strict;                 /* rows must not be left to Lua because of a refusal */
  uint32_t leave_count;        /* instructions that leave rows to Lua */
  struct code_place leaves[FRONT_LEAVES];
  bool spawns;                 /* the function spawns: a dead number may become an id, so it is left
                               ** to Lua */
  uint32_t count;
  struct front_class list[FRONT_CLASSES];
  uint32_t cell_count;         /* script cells: see cell.c */
  struct cell cells[FRONT_CELLS];
  const void *homes[FRONT_CELLS];   /* the upvalues or tables that hold them */
  uint32_t table_count;        /* tables with elements that are written at a variable index */
  const void *tables[FRONT_STORED];
  struct stored_as as[FRONT_STORED];
  uint32_t list_count, list_column_count;
  struct front_list lists[FRONT_LISTS];
  struct list_column list_columns[LIST_COLUMNS];
};

#endif
