/* What programs look up of entities by their ids: instead of a component's cells in the row, those
** of whatever entity an id names. Reads the world, changes nothing, and runs no Lua. */
#ifndef ECS_RUNNER_LOOKUP_H
#define ECS_RUNNER_LOOKUP_H

#include "core/base/base.h"

#define RUN_LOOKUPS 64         /* of one program */

enum lookup_kind {
  LOOKUP_LIVE,                 /* of an id: itself; 0 when nobody alive has it */
  LOOKUP_PLACE,                /* of an id: where its entity has the component, see below */
  LOOKUP_ON,                   /* of an id: 0 where its component is on, else what is no place */
  LOOKUP_CELL,                 /* of such a place: a field */
  LOOKUP_TARGET,               /* of an id: the first target of its entity; 0: none */
  LOOKUP_ENTITY                /* of an entity's index, counted from 1: its id; 0: of none */
};

/* Places that are none. */
#define PLACE_ABSENT (-1)      /* the entity has no such component */
#define PLACE_DEAD (-2)        /* nobody alive has the id */

struct run_lookup {
  enum lookup_kind kind;
  ecs_id component;            /* LOOKUP_TARGET: the relation; ECS_NULL: ChildOf, if there is one */
  uint32_t leaf;               /* LOOKUP_CELL */
};

/* Looks up n of them: `from` are ids or places, `to` are values as programs have them, bool, float,
** double or int64_t, by the type of the field. Of what is no place the cell is 0. Where a mask is
** given and 0, nobody is looked for: as if the id were null. */
void lookup_all(const ecs_world *world, const struct run_lookup *lookup, const int64_t *from,
                const uint8_t *mask, void *to, size_t n);

/* Puts 0 in place of ids whose entity is dead; where a mask is given and 0, nobody looks at it. */
void lookup_forget_dead(const ecs_world *world, int64_t *ids, const uint8_t *mask, size_t count);

#endif
