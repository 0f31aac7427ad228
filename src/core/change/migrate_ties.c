#include "core/change/migrate_ties.h"

#include "core/store/relation_check.h"
#include "core/store/world.h"

/* What ties entities and what does not, or does otherwise, are kept in other ways. */
static ecs_status check_kind(const ecs_world *world, const struct component *component,
                             const struct component *wanted) {
  const struct tie_kind *now = &component->ties, *then = &wanted->ties;
  if (now->relation == then->relation && now->exclusive == then->exclusive) return ECS_OK;
  const char *what = !then->relation ? "a plain component or tag" : !now->relation ? "a relation"
                     : then->exclusive ? "exclusive" : "a relation of several targets";
  return world_fail(world, ECS_EINVAL, "'%s' cannot become %s as long as it is declared otherwise: "
                    "undeclare it first", component->name, what);
}

/* A relation that is to be acyclic has no circle. */
static ecs_status check_circles(const ecs_world *world, const struct component *component,
                                const struct component *wanted) {
  if (!wanted->ties.acyclic || component->ties.acyclic ||
      relation_is_acyclic(component->relation))
    return ECS_OK;
  return world_fail(world, ECS_ECYCLE,
                    "'%s' cannot become acyclic: some of its ties go in a circle",
                    component->name);
}

ecs_status migration_check_ties(const struct migration *migration) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++) {
    const struct change *change = &migration->changes[i];
    if (!change->wanted) continue;
    status = check_kind(migration->world, change->component, change->wanted);
    if (status == ECS_OK)
      status = check_circles(migration->world, change->component, change->wanted);
  }
  return status;
}
