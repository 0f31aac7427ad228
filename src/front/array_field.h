/* Elements of array fields at an index that may differ from row to row. */
#ifndef ECS_FRONT_ARRAY_FIELD_H
#define ECS_FRONT_ARRAY_FIELD_H

#include "front/front.h"

/* Whether it is an array field of a row. */
static inline bool is_array_field(struct val x) { return x.kind == VAL_VIEW && x.array; }
/* The element at an index: nil in rows in which there is none. */
struct val array_field_at(struct front *f, struct val view, struct val index);
/* Sets it, for the rows that are here; where there is none Lua raises an error. */
void array_field_store(struct front *f, struct val view, struct val index, struct val value);

#endif
