/* Whom rows go through by relations: as partners.h, whose items are indices of entities. */
#ifndef ECS_RUNNER_PARTNERS_TIED_H
#define ECS_RUNNER_PARTNERS_TIED_H

#include "runner/partners.h"

/* A k_list of LIST_SOURCES or LIST_TARGETS. */
size_t partners_tied(const ecs_world *world, const struct run_list *list,
                     const k_listing *listing, size_t n);

#endif
