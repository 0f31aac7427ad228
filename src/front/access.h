/* How functions come to the cells of their rows, of resources, and of what rows share. */
#ifndef ECS_FRONT_ACCESS_H
#define ECS_FRONT_ACCESS_H

#include "front/front.h"

/* ---- access.c: views, resources ---- */

/* The query's term with that number of data. */
const struct term *front_term(const struct front *f, uint32_t slot);
/* What the key of an object, or a parameter of the whole function is. */
struct val access_key(struct front *f, struct val object, const struct constant *key);

/* What the function gives for each row, in a column of its own. */
void access_give(struct front *f, k_value number, bool integer);
struct val access_parameter(struct front *f, uint32_t index);
/* Whether a path of the query goes by a field. */
bool access_leads(const struct front *f, const struct component *component, uint32_t leaf);
/* Whether the function reads a field of others than the row, but for parents that come first. */
bool access_reads_others(const struct front *f, const struct component *component, uint32_t leaf);
/* The kernel's column of a leaf's cells; refuses what it has none for. */
k_column access_column_type(struct front *f, const struct component *component,
                            const struct leaf *leaf);
/* A value as a field takes it, in the rows that are here. */
k_value access_fit(struct front *f, const struct leaf *leaf, k_column type, struct val value);
/* A value as a field takes it, when it is noted down: never as f32. */
k_value access_noted(struct front *f, const struct component *component, uint32_t leaf,
                     struct val value);
/* Sets the field of a view, of a resource, or an element, for the rows that are here. */
void access_store(struct front *f, struct val view, const struct constant *key,
                  struct val value);
/* Sets the field that a term is, for the rows that are here, to what the function returns there. */
void access_result(struct front *f, uint32_t slot, struct val value);
/* The row's own element of an array; sets it, for the rows that are here. */
struct val access_own_element(struct front *f, const struct component *array);
void access_set_own_element(struct front *f, const struct component *array, struct val value);
/* The column of a leaf of the view's root, which is written from now on. */
uint32_t access_written(struct front *f, struct val view, uint32_t leaf);
/* Writes what the function stored into the program. */
void access_finish(struct front *f);

/* The number of a new column of cells. */
uint32_t access_new_column(struct front *f, struct run_column cells, struct front_column column);

/* ---- class.c ---- */

/* Whether rows see what those before them write there; has them do so. */
bool class_is_shared(const struct front *f, const struct component *component, uint32_t leaf);
void class_share(struct front *f, const struct component *component, uint32_t leaf);
/* Where an element of an array, or the field of a resource, is, or what is found for a place. */
k_value class_element(struct front *f, const struct component *array, uint32_t leaf, k_value index);
k_value class_cell_at(struct front *f, const struct component *component, uint32_t leaf,
                      k_value place);
/* What is in a cell, or in that of a column, when the row comes to it. */
struct val class_get(struct front *f, const struct component *component, uint32_t leaf,
                     k_value cell);
struct val class_get_column(struct front *f, uint32_t column);
/* Where the cells of a column are. */
k_value class_cells(struct front *f, uint32_t column);
/* Puts a value there, for the rows that are here. Of an element that is not there they fail. */
void class_set_column(struct front *f, uint32_t column, struct val value);
/* Puts all elements of an array into another of its type, or, of one, its first into all others. */
void class_copy(struct front *f, const struct component *to, const struct component *from);
void class_set_element(struct front *f, const struct component *array, uint32_t leaf,
                       k_value index, struct val value);
/* Of an array field: shares all elements where one is shared, and says so; then sets one of so
** many, by its number from 0. */
bool class_share_all(struct front *f, struct val view, uint32_t count);
void class_set_one(struct front *f, struct val view, k_value at, uint32_t count, struct val value);

#endif
