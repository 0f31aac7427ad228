/* Bringing an index up to date, and keeping it for those who go through it. */
#ifndef ECS_CORE_INDEX_REFRESH_H
#define ECS_CORE_INDEX_REFRESH_H

#include "core/index/edition.h"

/* Brings it up to date; inside a system that has done so already: nothing. With an error it has no
** rows. */
ecs_status index_refresh(ecs_index *index);

/* ECS_EINVAL with what it is asked for instead. */
ecs_status index_refuse(const ecs_index *index);

/* Whether it is what the system that runs has to look into. */
bool index_is_fresh(const ecs_index *index);

/* Makes an index in two steps; in between, index_set_key gives rows of its query their keys: those
** without one, index_unkeyed of them, of which index_unkeyed_row is one's number. What is given
** none is found by none. With an error it has no rows. */
ecs_status index_gather(ecs_index *index);
ecs_status index_make(ecs_index *index);
uint32_t index_unkeyed(const ecs_index *index);
uint32_t index_unkeyed_row(const ecs_index *index, uint32_t at);

/* Instead of index_make: there are no keys. */
void index_spoil(ecs_index *index);
ecs_status index_set_key(ecs_index *index, uint32_t row, const ecs_value *value);

/* Finds the component, and the leaf, that its description names; whatever they are called later, it
** stays by these. ECS_EINVAL, ECS_ENAME say what is missing. */
ecs_status index_resolve(ecs_index *index);

/* The column of the rows of its query that has their keys. */
ecs_status index_key_column(const ecs_index *index, const struct copy_column **out);

/* Whether the components that the registry shows have the fields that it is by: ECS_OK, or as
** index_source and index_key_column. */
ecs_status index_check_shown(const ecs_index *index);

/* How many numbers a place has, by the components that there are. */
uint32_t index_axes(const ecs_index *index);

/* Where the rows of its query have their places, and how many numbers each has. ECS_EINVAL,
** ECS_ENAME say what is missing. */
ecs_status index_source(const ecs_index *index, struct grid_source *out, uint32_t *axes);

#endif
