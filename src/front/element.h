/* Elements of the world's arrays, and of tables, at an index that may differ from row to row. */
#ifndef ECS_FRONT_ELEMENT_H
#define ECS_FRONT_ELEMENT_H

#include "front/front.h"

/* The element of an array at an index that may differ from row to row. The second: at a constant.
** Nil in rows without one. */
struct val element_at(struct front *f, struct val array, struct val index);
/* An index as an integer. *whole is where it is one: Lua's arrays take no other indexes. */
k_value element_place(struct front *f, struct val index, k_value *whole);
/* A constant as an index. */
struct val element_index(struct front *f, struct val array, const struct constant *key);
/* The program's number of a table that is read as `array` describes. */
uint32_t element_find_table(struct front *f, struct front_array array);
/* Stores written elements back to their table, from an array of floats or booleans, and arrays that
** say whether they are integers, and present. */
void element_store(lua_State *L, int anchors, const struct guard *guard, const k_array *array);
/* Elements of a table, as they are when a run starts: by an index; of a list, by an index up to its
** length; of a table inside a table, by a key and an index. The last: the length. */
struct val element_of_table(struct front *f, struct val table, struct val index);
/* Likewise; nil where the index is nil. */
struct val element_by_maybe(struct front *f, struct val table, struct val index);
struct val element_of_list(struct front *f, struct val table, struct val index);
struct val element_of_record(struct front *f, struct val record, const struct constant *key);
struct val element_of_record_at(struct front *f, struct val record, struct val index);
/* The item of a list in a table, by a number up to `longest`; nil past the list's end. The second:
** the length of the longest list, for which the program is compiled. */
struct val element_of_item(struct front *f, struct val record, uint32_t longest,
                           k_value number);
uint16_t element_need_longest(struct front *f, struct val record);
/* The number of a table of arrays or functions, or of records that have them at a key, indexed by
** names or, for NULL, by numbers; NONE if it is not such a table. The others: the object at a place
** from 1, or at an index; an element of an array, read and written; its length. */
uint32_t object_set_find(struct front *f, uint32_t path, const struct enumeration *names,
                         ecs_string key);
struct val object_set_at(struct front *f, uint32_t number, k_value at);
struct val object_set_take(struct front *f, uint32_t number, struct val index);
struct val object_set_get(struct front *f, struct val arrays, struct val index);
void object_set_store(struct front *f, struct val arrays, struct val index, struct val value);
struct val object_set_length(struct front *f, struct val arrays);
/* Iterates over the objects of a set, with the rows that have each; NULL after the last one. */
const struct val *object_set_next(struct front *f, struct val objects, uint32_t *at,
                                  k_value *here);
/* Makes two arrays members of one set; false: they differ in type, or are not arrays. */
bool object_set_join(struct front *f, struct val *x, struct val *y);
/* Makes two tables, given by paths or not, records of the table that holds both, or two arrays
** members of a set; false if there is no such table or set. Also true for elements of one array
** field. */
bool element_join(struct front *f, struct val *x, struct val *y);
struct val element_length_of(struct front *f, struct val record);
/* The kind of elements of a guard's table (perhaps with ELEMENTS_RAGGED), and their count; copies
** as many as there is room for (NULL: none). */
uint32_t element_look(lua_State *L, int anchors, const struct guard *guard, uint32_t *count,
                      const struct element_room *room);
/* element_look for the table at a path, used in the given way. */
uint32_t element_look_now(struct front *f, uint32_t path, bool stored, struct stored_as as);
/* How far after the array of a table's elements the array with their length is: keys.c. */
static inline uint32_t element_behind(enum element_kind kind) {
  return kind == ELEMENTS_MIXED ? 2 : 1;
}
/* The kind without ELEMENTS_RAGGED. The second: the size of an element in bytes. */
enum element_kind element_kind_of(uint32_t kind);
size_t element_size(enum element_kind kind);
/* How many elements have been copied. */
uint64_t element_count(const struct guard *guard, const k_array *array);
/* The cost of copying a table as it is now, or as it was last copied to an array: 1 for each number
** in a list. */
uint64_t element_cost(lua_State *L, int anchors, const struct guard *guard, const k_array *array);

/* An element read from a place of a table, completed as the table's kind requires. */
struct val element_of_kind(struct front *f, uint32_t table, struct val element, k_value at);

/* keys.c: tables indexed by integers that do not count from 1. */

/* An index as a key: rows in which it is not an integer, or is the least one, are left to Lua. */
k_value keys_key(struct front *f, struct val index);
/* Whether an outside table is used this way, with such an index; then its element. */
bool keys_suits(struct front *f, struct val table, struct val index);
struct val keys_get(struct front *f, struct val table, struct val index);
/* The element of such a table by its number, from 0, in the order of next, and its key; nil after
** the last. */
struct val keys_at(struct front *f, struct val table, k_value number, struct val *key);
/* The place of a key's element in an array, and in which rows it is present. */
k_value keys_find(struct front *f, uint32_t number, k_value key, bool stored, k_value *present);
/* The place for the element of a key, which is added if need be; the second removes the key. */
k_value keys_claim(struct front *f, uint32_t number, k_value key);
void keys_drop(struct front *f, uint32_t number, k_value key);

/* Whether an index of an array is that of the row's own element. */
bool element_is_own(const struct front *f, const struct component *array, k_value index);
/* The mask of the rows whose index has an element; all rows if that is known beforehand. */
k_value element_inside(struct front *f, const struct component *array, uint32_t number,
                       k_value index);
/* The program's number for an array, or for a field of a resource used as an array. */
uint32_t element_array(struct front *f, const struct component *array, uint32_t leaf);
/* The program's number for the array of an index's copies, with cells of a type. */
uint32_t element_copies(struct front *f, struct front_copy copy, k_column type);
/* The program's number for the array that holds the script cells of a type, or the cells of the
** function's own lists. */
uint32_t element_cell_array(struct front *f, k_column type, bool lists);

#endif
