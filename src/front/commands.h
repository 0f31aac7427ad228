/* Commands to entities: what the world's methods despawn, add, remove, set and spawn. */
#ifndef ECS_FRONT_COMMANDS_H
#define ECS_FRONT_COMMANDS_H

#include "front/front.h"

/* world:despawn, add, remove and set, for the rows that are here. */
void order_call(struct front *f, enum run_action action, const struct val *arguments,
                uint32_t count);
/* world:spawn of a table that the function has made: what it gives is for
** other commands alone. */
struct val order_spawn(struct front *f, const struct val *arguments, uint32_t count);
/* What a function that world:spawner has made spawns by these values. */
struct val order_by_spawner(struct front *f, struct val spawner, const struct val *values,
                            uint32_t count);
/* A new table; sets its field, or those by positions, for the rows that are here, and reads it. */
struct val order_table(struct front *f);
void order_item(struct front *f, struct val table, const struct constant *key, struct val value);
/* The same of a pair's id for a key. */
void order_pair(struct front *f, struct val table, struct val pair, struct val value);
void order_list(struct front *f, const struct code *code);
/* What such a table has there, nil where it has nothing. */
struct val order_read(struct front *f, struct val table, const struct constant *key);
/* Refuses fields that are set so and come to otherwise, too. */
void order_finish(struct front *f);

/* For the other methods of the world that rows order. The function is compiled anew if its commands
** are not ordered one by one; one more order, with a value. */
void order_want(struct front *f);
void order_add(struct front *f, struct run_command command, k_value value);
void order_with(struct front *f, struct run_command command, k_value entity, k_value value);
/* Of these: the entity that a command is for; what it sets a field to, as it is noted down. */
k_value order_entity(struct front *f, struct val entity);
k_value order_value(struct front *f, const struct component *component, struct run_command *command,
                    struct val value);
/* The field of one value that has a position, from 1 on, or that a table has; NONE when there is no
** such. */
uint32_t order_leaf_at(const struct component *component, uint32_t position);
uint32_t order_leaf(const struct component *component, const struct front_item *item);
/* Stores such an id in a field of the row's own, whose entity is given. What was read of that field
** before is what it has been; nothing else may come to it, which order_check_read refuses. */
void order_store(struct front *f, const struct component *component, uint32_t leaf,
                 struct val entity, struct val value);
/* The same in an element of an array, or, where the number is 1, in a field of a resource, to which
** nothing else may come, either. */
void order_store_element(struct front *f, const struct component *component, uint32_t leaf,
                         k_value number, struct val value);
void order_check_read(struct front *f, const struct component *component, uint32_t leaf);

#endif
