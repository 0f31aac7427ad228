/* Lists that a function makes for itself. */
#ifndef ECS_FRONT_SCRATCH_H
#define ECS_FRONT_SCRATCH_H

#include "front/front.h"

/* If a table that the function creates is not known as a list, it is when compiled again. The
** second: as one that is indexed by such keys. */
void scratch_want(struct front *f, struct val table);
void scratch_want_keyed(struct front *f, struct val table, struct val key);
/* Creates a table: a list, where it is known as one. */
struct val scratch_create(struct front *f, const struct code *code);
/* Its length, and the element at an index. Others set or append one, for the present rows. */
struct val scratch_length(struct front *f, struct val list);
struct val scratch_get(struct front *f, struct val list, struct val index);
void scratch_set(struct front *f, struct val list, struct val index, struct val value);
void scratch_append(struct front *f, struct val list, struct val value);
/* A constant key as an index. */
struct val scratch_index(struct front *f, struct val list, const struct constant *key);
/* A field of a record of a list. The second sets it, for the present rows. */
struct val scratch_field(struct front *f, struct val record, const struct constant *key);
void scratch_set_field(struct front *f, struct val record, const struct constant *key,
                       struct val value);
/* What a loop over pairs of a keyed one goes over; a key of it, and its value, at a place. */
struct val scratch_pairs(struct front *f, struct val list);
struct val scratch_pair(struct front *f, uint32_t list, bool key, k_value place);
/* Has no records yet, at the function's start. */
void scratch_begin(struct front *f);

/* ---- for append.c ---- */

/* Each list's numbers, at the beginning of the cells of integers. */
enum list_number { LIST_SIZE, LIST_RECORDS, LIST_NUMBERS };
k_value scratch_number(struct front *f, uint32_t list, enum list_number which);
/* The record that a table becomes, wherever the present rows have it. */
struct val scratch_record(struct front *f, uint32_t list, struct val table);

/* The parts of a column, each of so many cells: its values; whether they are integers; whether they
** are there. */
/* A list has room for 2 to this elements: in a system's run, or in rows. */
static inline int64_t scratch_room_bits(bool once) { return once ? 14 : 10; }
enum column_part { COLUMN_VALUE, COLUMN_WHOLE, COLUMN_THERE, COLUMN_PARTS };

/* Where the name of a record's field is anchored, also while the function is compiled repeatedly;
** and a string that a column has. */
static inline lua_Integer scratch_anchor(uint32_t column) { return -100 - (lua_Integer)column; }
static inline lua_Integer scratch_text_anchor(uint32_t column, uint32_t text) {
  return -1000 - (lua_Integer)(column * FRONT_TEXTS + text);
}

/* #list; list[at] = value, a table that the function creates. */
struct val append_length(struct front *f, uint32_t which, struct val table);
void append_table(struct front *f, uint32_t which, struct val table, k_value at, struct val value);

/* ---- running ---- */

/* Begins with a list as it is; false if it is none. `numbers`: where the cells begin, or NULL. The
** second appends tables to it. */
bool append_read(lua_State *L, int anchors, const struct guard *guard, int64_t *numbers);
uint64_t append_cost(lua_State *L, int anchors, const struct guard *guard);   /* as element_cost */
void append_store(lua_State *L, int anchors, const struct guard *guard,
                  const struct script_cells *script, void *cells);

/* The size of the cells of a variant's lists, and where in them those of a type are. */
size_t scratch_size(const struct script_cells *script);
k_array scratch_array(void *cells, const struct script_cells *script, k_column type);
/* The cells of one column that are of a type. */
const void *scratch_column_cells(void *cells, const struct script_cells *script, k_column type,
                                 uint32_t column);

#endif
