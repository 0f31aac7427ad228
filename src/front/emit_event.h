/* world:emit, whose events are orders of rows. */
#ifndef ECS_FRONT_EMIT_EVENT_H
#define ECS_FRONT_EMIT_EVENT_H

#include "front/front.h"

/* The call, for the rows that are here: values in the order of fields, or a table of them that the
** function has made. */
void order_emit(struct front *f, const struct val *arguments, uint32_t count);

#endif
