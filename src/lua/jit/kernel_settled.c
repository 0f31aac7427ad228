#include "lua/jit/kernel_settled.h"

#include "core/query/query.h"
#include "runner/abreast.h"
#include "lua/jit/kernel_variant.h"
#include "lua/jit/variant.h"

/* What variant_settled would say again: a tenth of the time of few rows. */
static inline bool settled_is_sure(const struct kernel *kernel) {
  bool sure = kernel->sure && kernel->sure_version == *kernel->version;
  assert(!sure || (kernel->sure == kernel->variants[0] && !kernel->refused));
  assert(!sure || (kernel->sure->quiet && kernel->sure->version == kernel->sure_version));
  return sure && kernel->query->terms.plain && !kernel->query->broken;
}

bool kernel_reads(const struct kernel *kernel) {
  if (LIKELY(settled_is_sure(kernel))) return false;
  return kernel->count && kernel->variants[0]->guard_count;
}

static struct variant *settled_state(lua_State *L, int anchors, struct kernel *kernel) {
  if (UNLIKELY(!settled_is_sure(kernel))) return variant_settled(L, anchors, kernel);
  kernel->sure->run = ++kernel->runs;
  return kernel->sure;
}

/* A run of a variant that is settled. */
static inline struct run settled_run_of(const struct kernel *kernel,
                                        struct variant *variant, double dt) {
  return (struct run){.plan = &variant->plan, .query = kernel->query,
                      .uniforms = variant->uniforms, .dt = dt, .arrays = variant->arrays};
}

bool kernel_join_settled(lua_State *L, int anchors, struct kernel *kernel, double dt) {
  struct variant *variant = settled_state(L, anchors, kernel);
  if (!variant) return false;
  struct run run = settled_run_of(kernel, variant, dt);
  return abreast_add(kernel->set->abreast, &run);
}

bool kernel_run_settled(lua_State *L, int anchors, struct kernel *kernel, double dt) {
  struct variant *variant = settled_state(L, anchors, kernel);
  if (!variant) return false;
  struct run run = settled_run_of(kernel, variant, dt);
  struct run_failure failure;
  assert(variant->quiet);
  ecs_status status = run_query(&kernel->set->runner, &run, &failure);
  assert(status == ECS_OK || status == ECS_ENOMEM);
  return status == ECS_OK;
}
