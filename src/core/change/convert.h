/* Turning a cell of one field type into another, when a component's fields change. */
#ifndef ECS_CORE_CHANGE_CONVERT_H
#define ECS_CORE_CHANGE_CONVERT_H

#include "core/base/base.h"
#include "core/base/one_cell.h"

struct leaf;

/* Whether cells can stay as they are. */
bool convert_is_copy(const struct leaf *from, const struct leaf *to);

/* Floats round to floats (what overflows is refused), names lead enumerations and strings to
** each other, everything else must be exact. ECS_ERANGE: this value cannot be had in `to`;
** ECS_ETYPE: no value but the zero one can; ECS_ENOMEM. No message. */
ecs_status convert_cell(ecs_world *world, const struct leaf *from, const struct leaf *to,
                        ecs_cell cell, ecs_cell *out);

/* The cell in words, as a message shows it. */
void convert_show(const ecs_world *world, const struct leaf *leaf, ecs_cell cell,
                  char *text, size_t size);

#endif
