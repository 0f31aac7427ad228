/* What a loop is made of: where it has come to in its query's tables, and what is there. */
#ifndef ECS_LUA_LOOP_LOOP_BOX_H
#define ECS_LUA_LOOP_LOOP_BOX_H

#include "lua/loop/loop.h"

#include "core/base/one_cell.h"

struct chance;
struct column;
struct component;
struct entity_index;
struct leaf;
struct loop_owner;
struct query_box;
struct table;
struct view_box;
struct walk;
struct world_box;

#define LOOP_WORLD 1         /* user values of a loop; then its views by slot */
#define LOOP_QUERY 2
#define LOOP_WHERE 3         /* the q:where(fn) it goes through, and its rows */
#define LOOP_FILTER 4
#define LOOP_VALUES 4

/* Of a world. */
struct loops {
  struct loop_box *open;           /* newest first */
  struct loop_box *ended;          /* those that WORLD_REFS still anchors */
  struct loop_owner *owner;        /* by which the core ends loops (disown.c) */
};

/* One of a query's terms that give something, in the current run of rows. */
struct slot {
  struct view_box *view;           /* NULL for a single field and for a tag */
  void *data;                      /* a single field's cells */
  const struct column *columns;    /* the component's, or the single field's */
  const struct table *table;       /* whose they are */
  uint32_t first;                  /* row of the columns that the run begins with */
  const struct component *component;
  const struct leaf *leaf;         /* of a single field */
  uint32_t leaf_at;
  ecs_type type;
  bool read_only;
  bool tag;                        /* it gives a truth */
  bool present;
  bool given;                      /* map: whether `cell` is to be written */
  ecs_cell cell;
};

#define NOT_KNOWN (-1)

/* Lua may lose the finalizer of an object when it is out of memory, so nothing points to a loop
** that only its finalizer could unlink: while it is open, WORLD_REFS anchors it (a for loop), its
** C function does (a function form), or its system. Scripts have a handle, which ends it. */
struct loop_box {
  struct world_box *box;
  const struct entity_index *entities;   /* the world's */
  struct chance *chance;           /* and its stream of random numbers */
  const struct query_box *query;
  struct loop_box *previous, *next;   /* the open ones of the world */
  enum loop_form form;
  uint32_t scope;                  /* NONE: its system's */
  uint32_t match;                  /* the query's next table */
  uint32_t behind;                 /* first row behind the run, of the table before that one */
  struct walk *walk;               /* NULL: rows come by whole tables */
  const struct table *table;
  const uint32_t *rows;            /* of the table: those of this run */
  uint32_t row;                    /* what views show */
  uint32_t next_row;
  uint32_t count;                  /* rows of the run */
  uint32_t step;                   /* runs so far */
  /* Of a loop through a q:where(fn), which goes through these rows of the table only, and what
  ** finds them once the loop, which is at an index, has come to a table. */
  const uint64_t *filter;
  void (*fill)(lua_State *L, int loop_index);
  bool by_tables;                  /* tables of which some rows match come as a whole, too; */
  bool partial;                    /* this run is one: `filter` says which do */
  uint32_t filtered;               /* rows that `filter` is about */
  uint32_t piece, piece_end;       /* where the current piece of these begins and ends */
  bool asking;                     /* its function is a predicate for now: it is given no dt */
  bool copied;                     /* its row is a copy of what was, for an observer */
  bool events;                     /* its rows are events, and of no entity */
  bool open;
  bool news;                       /* its query is in use by it: see changes.h */
  bool done;                       /* it came to its end */
  int view_count;                  /* first slots that have a view, unless a single field */
  int parameters;                  /* of a system's function; NOT_KNOWN: ask */
  uint64_t version;                /* of the world's components, when the slots were filled */
  uint32_t slot_count;
  struct slot slots[];
};

#endif
