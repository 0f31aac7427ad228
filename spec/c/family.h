/* Entities tied to each other, for tests of queries about ties. */
#ifndef SPEC_FAMILY_H
#define SPEC_FAMILY_H

#include "fixture.h"

struct owes { int32_t amount; };
struct docked { ecs_id target; double since; };

/* The relations of the family. */
extern ecs_id likes, owes, docked, up;

/* ids[0] has the child 1, and that the children 2 and 3; spawned so that these come first. All are
** docked to the one before them, and owe to and like all before them. */
void family(struct fixture *f);

/* A query with the variable $p, unless p is null. */
ecs_query *query_with(struct fixture *f, const char *text, ecs_id p);

#endif
