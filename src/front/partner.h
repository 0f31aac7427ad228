/* What a function finds in indexes: loops over those within a reach, the nearest one, and the
** copies that such loops show. */
#ifndef ECS_FRONT_PARTNER_H
#define ECS_FRONT_PARTNER_H

#include "front/front.h"

/* The number of an index among those that the function looks into; NULL is refused. */
uint32_t partner_index(struct front *f, struct ecs_index *index);
/* A method of an index. */
struct val partner_method(struct front *f, struct val index, const struct constant *key);
/* Calls one; `arguments` begin with the index. Returns how many results it has. */
uint32_t partner_call(struct front *f, struct val method, const struct val *arguments,
                      uint32_t count, struct val results[FRONT_RESULTS]);
/* Compiles the loop over an iterator at the frame's pc, and leaves pc behind it. */
void partner_for(struct front *f, struct frame *frame);
/* The field that such a copy has come down to. */
struct val partner_field(struct front *f, struct val copy);
/* Refuses to write to one. */
NORETURN void partner_refuse_write(struct front *f, struct val copy, const struct constant *key);

#endif
