/* The relations that every world has: ChildOf, for hierarchies, IsA, for what is made of prefabs,
** and Prefab, which marks these and which nobody else can name (see prefab.h). They are declared
** when they are first named, so that a world without them is as it would be if they did not
** exist. */
#ifndef ECS_CORE_RELATION_BUILTIN_H
#define ECS_CORE_RELATION_BUILTIN_H

#include "core/base/base.h"

struct component;

/* Whether the name is one of theirs: nobody else can declare it. */
bool builtin_is(const char *name, size_t size);

/* The relation of that name, declared if it is not yet. ECS_ENAME for other names, with the
** message untouched. */
ecs_status builtin_need(ecs_world *world, const char *name, size_t size, struct component **out);

/* What marks prefabs, declared if it is not yet. */
ecs_status builtin_prefab(ecs_world *world, struct component **out);

/* component_need for a text that somebody has written: it may name one of these for the first
** time. */
ecs_status component_need_or_builtin(ecs_world *world, const char *name, size_t size,
                                     struct component **out);

#endif
