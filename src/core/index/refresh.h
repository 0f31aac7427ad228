/* Updates an index, and keeps it for those that iterate over it. */
#ifndef ECS_CORE_INDEX_REFRESH_H
#define ECS_CORE_INDEX_REFRESH_H

#include "core/index/edition.h"

/* Updates the index; has no effect inside a system that has already done so. On an error it has no
** rows. */
ecs_status index_refresh(ecs_index *index);

/* ECS_EINVAL, with the methods that the index has. */
ecs_status index_refuse(const ecs_index *index);

/* Whether it is as up to date as the running system needs. */
bool index_is_fresh(const ecs_index *index);

/* Updates an index in two steps. Between them, index_set_key gives keys to the query's rows without
** one: there are index_unkeyed of them, with the numbers index_unkeyed_row. Rows without a key are
** never found. On an error it has no rows. */
ecs_status index_gather(ecs_index *index);
ecs_status index_make(ecs_index *index);
uint32_t index_unkeyed(const ecs_index *index);
uint32_t index_unkeyed_row(const ecs_index *index, uint32_t at);

/* Called instead of index_make if there are no keys. */
void index_spoil(ecs_index *index);
ecs_status index_set_key(ecs_index *index, uint32_t row, const ecs_value *value);

/* Finds the component and leaf that its description names, which it keeps even if they are renamed.
** ECS_EINVAL and ECS_ENAME say what is missing. */
ecs_status index_resolve(ecs_index *index);

/* The column of the query's rows that holds the keys. */
ecs_status index_key_column(const ecs_index *index, const struct copy_column **out);

/* Whether the components in the registry have the fields of its key: ECS_OK, or as index_source and
** index_key_column, with the index's name. */
ecs_status index_check_shown(const ecs_index *index);

/* The number of coordinates of a position, by the present components. */
uint32_t index_axes(const ecs_index *index);

/* Where the query's rows hold their positions, and with how many coordinates. ECS_EINVAL and
** ECS_ENAME say what is missing. */
ecs_status index_source(const ecs_index *index, struct grid_source *out, uint32_t *axes);

#endif
