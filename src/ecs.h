/* ecs: an entity component system runtime.
**
** A world holds entities; an entity is an id that carries components; a component is a list of
** typed fields, each stored as one contiguous column per table (the set of entities with the same
** components). Systems are functions that run in phases over queries.
**
** Nothing here prints, aborts or exits: memory comes from the world's allocator, failures are
** returned as ecs_status, and a call that fails leaves the world as it was. ecs_message() says in
** words what went wrong in the last call that failed on that world. A world belongs to one thread
** at a time; different worlds share nothing. */
#ifndef ECS_H
#define ECS_H

#include "ecs_component.h"   /* declaring components and relations */
#include "ecs_entity.h"      /* entities, their components, ties and names */
#include "ecs_image.h"       /* save, load, snapshots, digests */
#include "ecs_index.h"       /* indexes: finding entities by place or value */
#include "ecs_observer.h"    /* observers */
#include "ecs_query.h"       /* queries and iterators */
#include "ecs_resource.h"    /* resources, arrays, events */
#include "ecs_rows.h"        /* systems on several threads */
#include "ecs_system.h"      /* systems, phases, update */
#include "ecs_types.h"       /* ids, statuses, types */
#include "ecs_version.h"
#include "ecs_world.h"       /* worlds, their state, checks */

#endif
