/* Lists that a function makes for itself. */
#ifndef ECS_FRONT_SCRATCH_H
#define ECS_FRONT_SCRATCH_H

#include "front/front.h"

/* Makes a table that the function creates known as a list, when compiled again. The second: as one
** that is indexed by such keys. */
void scratch_want(struct front *f, struct val table);
void scratch_want_keyed(struct front *f, struct val table, struct val key);
/* Creates a table; a list, if it is known to be one. */
struct val scratch_create(struct front *f, const struct code *code);
/* A list's length, and its element at an index. Others set or append one, for the present rows. */
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
/* What a loop over pairs of a keyed list goes over; its key, or its value, at a place. */
struct val scratch_pairs(struct front *f, struct val list);
struct val scratch_pair(struct front *f, uint32_t list, bool key, k_value place);
/* Has no records yet, at the function's start. */
void scratch_begin(struct front *f);

/* ---- for append.c ---- */

/* The numbers of each list, at the beginning of the integer cells. */
enum list_number { LIST_SIZE, LIST_RECORDS, LIST_NUMBERS };
k_value scratch_number(struct front *f, uint32_t list, enum list_number which);
/* The record that a table becomes, in all values that the present rows have of it. */
struct val scratch_record(struct front *f, uint32_t list, struct val table);

/* The parts of a column, all of one size: its values; whether they are integers; whether they are
** present. */
/* The base-2 logarithm of a list's room: larger if a list can be one of the whole run. */
int64_t scratch_room_bits(const struct front *f);
/* Whether two tables are created at one place. */
bool scratch_same_place(const struct list_place *x, const struct list_place *y);
/* Whether one of the lists is from outside. */
bool scratch_has_outside(const struct front *f);
enum column_part { COLUMN_VALUE, COLUMN_WHOLE, COLUMN_THERE, COLUMN_PARTS };

/* Where the name of a record's field is anchored, also while the function is compiled repeatedly;
** and where a string of a column is. */
static inline lua_Integer scratch_anchor(uint32_t column) { return -100 - (lua_Integer)column; }
static inline lua_Integer scratch_text_anchor(uint32_t column, uint32_t text) {
  return -1000 - (lua_Integer)(column * FRONT_TEXTS + text);
}

/* #list; list[at] = value, where the value is a table that the function creates. */
struct val append_length(struct front *f, uint32_t which, struct val table);
void append_table(struct front *f, uint32_t which, struct val table, k_value at, struct val value);

/* ---- running ---- */

/* Reads the length of a list; false if it is not one. `numbers`: where the cells begin, or NULL.
** The second appends tables to it. */
bool append_read(lua_State *L, int anchors, const struct guard *guard, int64_t *numbers);
uint64_t append_cost(lua_State *L, int anchors, const struct guard *guard);   /* as element_cost */
void append_store(lua_State *L, int anchors, const struct guard *guard,
                  const struct script_cells *script, void *cells);

/* The size of the cells of a variant's lists, and where in them the cells of a type are. */
size_t scratch_size(const struct script_cells *script);
k_array scratch_array(void *cells, const struct script_cells *script, k_column type);
/* The cells of a column in the array of a type. */
const void *scratch_column_cells(void *cells, const struct script_cells *script, k_column type,
                                 uint32_t column);

#endif
