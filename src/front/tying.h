/* Ties: what the world's methods add, remove and set of relations, and spawn with. */
#ifndef ECS_FRONT_TYING_H
#define ECS_FRONT_TYING_H

#include "front/front.h"

/* world:pair, whose id is for other commands, and a key of tables to spawn with. */
struct val tie_pair(struct front *f, const struct val *arguments, uint32_t count);
/* Whether a value is a pair's id, of such a call or from outside. */
bool tie_is_pair(struct front *f, struct val value);

/* The id of the component or tag that a text names, which may be another one in other rows. */
k_value tie_named(struct front *f, struct val text);

/* world:add and world:remove of a relation. */
void tie_call(struct front *f, const struct component *relation, bool adds,
              const struct val *arguments, uint32_t count);
/* world:set of a relation, or of a field of one; false when it is of something else. */
bool tie_set(struct front *f, const struct val *arguments, uint32_t count);
/* The ties among the parts of what is spawned, in the order of their relations. */
void tie_spawned(struct front *f, uint32_t first);

#endif
