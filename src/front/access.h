/* How functions access the cells of their rows, of resources, and of classes that rows share. */
#ifndef ECS_FRONT_ACCESS_H
#define ECS_FRONT_ACCESS_H

#include "front/front.h"

/* ---- access.c: views, resources ---- */

/* The term of the query at a slot. */
const struct term *front_term(const struct front *f, uint32_t slot);
/* The value of a key of an object. The second: the value of a parameter. */
struct val access_key(struct front *f, struct val object, const struct constant *key);

/* Writes the function's result for each row to a column of its own. */
void access_give(struct front *f, k_value number, bool integer);
struct val access_parameter(struct front *f, uint32_t index);
/* The value of a view that is a single value. */
struct val access_leaf(struct front *f, struct val of);
/* The id of the row's entity, in its own column. */
struct val access_row_entity(struct front *f);
/* Whether a path of the query follows a field. */
bool access_leads(const struct front *f, const struct component *component, uint32_t leaf);
/* Whether the function reads a field of entities other than the row's, except parents that come
** first. */
bool access_reads_others(const struct front *f, const struct component *component, uint32_t leaf);
/* The kernel's column for a leaf's cells; refuses types without one. */
k_column access_column_type(struct front *f, const struct component *component,
                            const struct leaf *leaf);
/* Likewise; strings have the column of their numbers in the world. */
k_column access_cell_type(struct front *f, const struct component *component, uint32_t leaf);
/* Converts a value to the type of a field, in the present rows. */
k_value access_fit(struct front *f, const struct leaf *leaf, k_column type, struct val value);
/* Converts a value to the type in which a field's value is noted: never to f32. */
k_value access_noted(struct front *f, const struct component *component, uint32_t leaf,
                     struct val value);
/* Sets the field of a view or resource, or an element, for the present rows. */
void access_store(struct front *f, struct val view, const struct constant *key,
                  struct val value);
/* Sets the field of a term to the function's result, for the present rows. */
void access_result(struct front *f, uint32_t slot, struct val value);
/* Reads the row's own element of an array. The second sets it, for the present rows. */
struct val access_own_element(struct front *f, const struct component *array);
void access_set_own_element(struct front *f, const struct component *array, struct val value);
/* The column of a leaf of the view's root, written from now on. */
uint32_t access_written(struct front *f, struct val view, uint32_t leaf);
/* Notes that the function reads a leaf of the view's root, and looks it up. */
void access_looked_up(struct front *f, struct val view);
/* Adds the function's stores to the program. */
void access_finish(struct front *f);

/* The number of a new column of cells. */
uint32_t access_new_column(struct front *f, struct run_column cells, struct front_column column);

/* ---- class.c ---- */

/* Whether rows see what earlier rows write to a leaf. The third makes them see it. */
bool class_is_shared(const struct front *f, const struct component *component, uint32_t leaf);
/* Whether the leaf is written, and also used in other ways. */
bool class_is_written(const struct front *f, const struct component *component, uint32_t leaf);
void class_share(struct front *f, const struct component *component, uint32_t leaf);
/* Records the line at which a leaf is first read or written, for explain. */
void class_note_line(struct front *f, const struct component *component, uint32_t leaf,
                     bool writes);
/* The cell at the place of an array's element or a resource's field. */
k_value class_cell_at(struct front *f, const struct component *component, uint32_t leaf,
                      k_value place);
/* The content of a cell, or of a column's cell, when the row reads it. */
struct val class_get(struct front *f, const struct component *component, uint32_t leaf,
                     k_value cell);
struct val class_get_column(struct front *f, uint32_t column);
/* The addresses of a column's cells. */
k_value class_cells(struct front *f, uint32_t column);
/* Stores a value to a column's cell, or an element, for the present rows: rows without it fail. */
void class_set_column(struct front *f, uint32_t column, struct val value);
/* Copies all elements of an array to another of its type or, for the same array, its first to all
** others. */
void class_copy(struct front *f, const struct component *to, const struct component *from);
void class_set_element(struct front *f, const struct component *array, uint32_t leaf,
                       k_value index, struct val value);
/* Sets an element of an array field that is a single value, at its place; or one of so many cells
** of columns. */
void class_set_place(struct front *f, struct val element, struct val value);
void class_set_chosen(struct front *f, struct val element, uint32_t count, struct val value);

/* ---- steps.c ---- */

/* Changes that rows make to cells other than their own: elements of the world's arrays, fields of
** resources, and fields of entities along a path of the query. */

/* Marks a number read from an element of an array as that element. The second: marks the result of
** an operation as a step on that element, if an operand has such a mark; KF_COUNT: not a fold. */
struct val steps_element(struct front *f, struct val number, struct val array, k_value index);
struct val steps_step(struct front *f, struct val result, k_fold step, struct val x, struct val y);
/* Recognises `x or y` (or `x and y`): `result` is x under mask `yes` and y under mask `no`, and the
** masks split on the truth of element x. */
struct val steps_choice(struct front *f, struct val result, struct fork rows, struct val x,
                        struct val y);
/* The value of a script cell. The second folds a stored value into its cell; false if it is not a
** step. */
struct val steps_cell(struct front *f, struct val value, uint32_t cell);
bool steps_fold_cell(struct front *f, struct val value, uint32_t at, k_column type, k_value cell);
/* The value of a field of a resource or, of other entities, of the column with that number + 1. */
struct val steps_field(struct front *f, struct val value, const struct component *component,
                       uint32_t leaf, uint32_t column);
void steps_store_other(struct front *f, uint32_t column, struct val value);
/* Stores into the element of an array, or a resource's field, for the present rows. */
void steps_store(struct front *f, struct val array, struct val index, struct val value);
void steps_store_field(struct front *f, struct val field, struct val value);
/* Refuses to write to a field of another entity or of a resource, where that is not possible. */
void steps_check_write(struct front *f, const struct component *component, uint32_t leaf);
/* Refuses a function that changes cells in steps and also reads them. */
NORETURN int steps_refuse_shared(struct front *f);
/* Records what else reads the cells that are folded. */
void steps_finish(struct front *f);

/* ---- array_field.c ---- */

/* Whether x is a view, or a copy like one, of a component; and whether of an array field. */
static inline bool val_is_view(struct val x) {
  return x.kind == VAL_VIEW || x.kind == VAL_RESOURCE || x.kind == VAL_PARTNER ||
         x.kind == VAL_ELEMENT;
}
static inline bool is_array_field(struct val x) { return val_is_view(x) && x.array; }
/* The element at an index: nil in rows without one. */
struct val array_field_at(struct front *f, struct val view, struct val index);
/* Sets the element, for the present rows; where there is none, Lua raises an error. */
void array_field_store(struct front *f, struct val view, struct val index, struct val value);
/* Where an element is; nowhere in rows other than the present ones. field_choice: the i-th element
** that it may be, in the form of what it is in. */
k_value field_place(struct front *f, struct val element);
/* Moves a place forward by elements of that many leaves. */
k_value field_move(struct front *f, k_value place, k_value elements, uint32_t leaves);
struct val field_choice(struct val element, uint32_t i);
/* The value of an element that is a single value; nil in rows other than those of `present`. The
** second sets it, for the present rows. */
struct val field_value(struct front *f, struct val element, k_value present);
void field_store(struct front *f, struct val element, struct val value);
/* Turns two elements, with fields, of one array field into elements at an index. */
bool array_field_join(struct front *f, struct val *x, struct val *y);

#endif
