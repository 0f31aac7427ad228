/* Components: found by id, by name and by path; what messages call them and their leaves. What they
** are made of is in fields.h. */
#ifndef ECS_CORE_STORAGE_COMPONENT_H
#define ECS_CORE_STORAGE_COMPONENT_H

#include "core/base/one_cell.h"

struct component;
struct ecs_value;
struct leaf;

/* The living component of an id, a pair's relation; or NULL. */
struct component *component_of(const ecs_world *world, ecs_id id);
struct component *component_find(const ecs_world *world, const char *name, size_t size);

/* The component that was called so in an earlier declaration, or NULL. */
struct component *component_formerly(const ecs_world *world, const char *name, size_t size);

/* component_find with "unknown component 'x' (did you mean 'y'?)" on failure, or what it is called
** now. ECS_EINVAL for an array or an event. */
ecs_status component_need(const ecs_world *world, const char *name, size_t size,
                          struct component **out);
/* component_of with a message that tells what the number is instead, also when it is an array or
** an event. */
ecs_status component_need_id(const ecs_world *world, ecs_id id, struct component **out);

/* The same, and it may be an array or an event. */
ecs_status component_need_any(const ecs_world *world, ecs_id id, struct component **out);

/* NONE when there is no field or leaf of that name. */
uint32_t component_field(const struct component *component, const char *name, size_t size);
uint32_t component_leaf(const struct component *component, const char *name, size_t size);

/* What messages call it: "component", or "event". */
const char *component_word(const struct component *component);

/* "component 'P' has no field 'z' (did you mean 'x'?)"; returns ECS_ENAME. */
ecs_status component_no_field(const ecs_world *world, const struct component *component,
                              const char *name, size_t size);

/* The component, or the leaf of it, that a text names ("Position", "Position.x"); leaf is NONE
** for the former. */
ecs_status component_path(const ecs_world *world, const char *text, size_t size,
                          struct component **out, uint32_t *leaf);

/* Turns a value into the cell of a leaf: interns strings, checks ids, ranges, names. The
** message names component, field, type and value. */
ecs_status component_cell(ecs_world *world, const struct component *component,
                          uint32_t leaf, const struct ecs_value *value, ecs_cell *cell);

#define LABEL_SIZE 512u

/* What messages call a leaf: "field 'Position.x'", "array 'grid'". Returns the text. */
const char *component_label(const struct component *component, const struct leaf *leaf,
                            char *text, size_t size);

void component_free(ecs_world *world, struct component *component);

#endif
