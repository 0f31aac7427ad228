#include "lua/jit/kernel.h"

#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/schedule/parallel.h"
#include "lua/api/api.h"
#include "lua/bind/object.h"
#include "runner/run.h"

/* ---- what a program accesses ---- */

/* A callback of struct companions. Lists columns first, then lookups, fields of resources, and
** arrays; a column may be both read and written. */
static bool companions_next(const struct prospect *prospect, uint32_t *at, struct access *out) {
  const struct variant *variant = prospect->of;
  for (;;) {
    uint32_t i = (*at)++;
    bool used;
    if (i < 2 * variant->column_count) {
      const struct front_column *column = &variant->columns[i / 2];
      bool writes = i % 2;
      used = column->component && (writes ? column->written || column->folded : column->read);
      if (used) *out = (struct access){column->component->id, column->component_leaf, writes};
    } else if ((i -= 2 * variant->column_count) < variant->plan.program->lookup_count) {
      const struct run_lookup *lookup = &variant->plan.lookups[i];
      *out = (struct access){lookup->component, lookup->leaf, lookup->kind == LOOKUP_AT};
      used = lookup->kind == LOOKUP_CELL || lookup->kind == LOOKUP_AT;
    } else if ((i -= variant->plan.program->lookup_count) < variant->resource_count) {
      const struct resource_uniform *resource = &variant->resources[i];
      *out = (struct access){resource->component, resource->leaf, false};
      used = true;
    } else if ((i -= variant->resource_count) < variant->array_count) {
      const struct front_array *array = &variant->sources[i];
      *out = (struct access){array->id, array->leaf, array->written};
      used = array->id != ECS_NULL;
    } else {
      return false;
    }
    if (used) return true;
  }
}

/* ---- whether a program can join a batch ---- */

/* Why the run of a compiled function cannot join a batch; NULL if it can. */
static const char *companions_why_not_batched(const struct kernel *kernel,
                                              const struct variant *variant) {
  if (kernel->once) return "it is a run";
  bool loud = !variant->quiet;   /* it may fail, or changes entities */
  if (loud && (variant->plan.command_count || variant->plan.order_count))
    return "it changes entities, spawns or emits";
  if (loud && variant->index_count) return "it uses an index";
  if (loud && cells_any(&variant->script)) return "it writes to upvalues, globals or tables";
  assert(!loud || !variant->plan.program->site_count);   /* its notes would be orders */
  if (loud) return "one of its rows can fail";
  if (kernel->array) return "it runs over the elements of an array";
  if (terms_walk(&kernel->query->terms)) return "its matches are not contiguous";
  if (!variant_fits_all(kernel, variant)) return "its tables need different programs";
  return variant->plan.sharing.why_not;
}

/* A callback of struct companions. */
static void companions_look(const ecs_system *system, struct prospect *out) {
  const struct system_box *script = system_script(system);
  if (!script) return;
  out->alone = "it is a function in Lua";
  if (!script->box->world) return;
  const struct kernel *kernel = script->compiled && script->handle ? script->handle->kernel : NULL;
  const struct variant *variant = kernel && kernel->count ? kernel->variants[0] : NULL;
  if (!variant || !variant->plan.program || kernel->refused || kernel->query->broken) return;
  if (!variant_is_current(kernel, variant)) return;
  out->alone = companions_why_not_batched(kernel, variant);
  out->of = variant;
  out->owner = script->box;
  uint64_t rows = 0;
  for (uint32_t i = 0; i < query_reach(kernel->query); i++)
    rows += query_table(kernel->query, i)->count;
  out->work = rows * variant->plan.sharing.weight;
}

/* ---- running ---- */

static struct kernel_set *companions_set_of(const ecs_system *system) {
  return system_script(system)->handle->kernel->set;
}

/* A callback of struct companions. */
static bool companions_add(ecs_system *system, double dt, const ecs_system *first) {
  const struct system_box *script = system_script(system);
  struct kernel_set *set = companions_set_of(system);
  assert(script->box == system_script(first)->box);
  if (!set->abreast) set->abreast = abreast_new(set->runner.memory);
  if (!set->abreast) return false;
  if (system == first) abreast_begin(set->abreast, &set->runner);
  return script_join(script, dt);
}

/* A callback of struct companions. */
static bool companions_run(ecs_system *system) {
  struct kernel_set *set = companions_set_of(system);
  return abreast_run(set->abreast, system_script(system)->box->world->pool);
}

/* A callback of struct companions. */
static void companions_end(ecs_system *system, uint32_t number) {
  abreast_end(companions_set_of(system)->abreast, number);
}

const struct companions script_companions = {
    companions_look, companions_next, companions_add, companions_run, companions_end};
