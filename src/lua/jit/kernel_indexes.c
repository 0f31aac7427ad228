#include "lua/jit/kernel_indexes.h"

#include "core/index/indexing.h"
#include "core/index/refresh.h"
#include "core/ids/world.h"
#include "lua/bind/status.h"
#include "lua/jit/index_keys.h"
#include "lua/jit/variant.h"

/* A kernel that changes nothing is run outside of systems, too: nobody else changes anything. */
static bool only_looks(const struct variant *variant) {
  const struct program *program = variant->plan.program;
  return variant->plan.command_count == 0 && program->site_count == 0 &&
         memcmp(variant->plan.writes, (uint64_t[RUN_COLUMNS / 64]){0},
                sizeof variant->plan.writes) == 0;
}

/* Whether the lists of a variant can be made of an index that is up to date. */
static bool fits_lists(const struct variant *variant) {
  for (uint32_t i = 0; i < variant->list_count; i++) {
    if (variant->lists[i].kind >= LIST_SOURCES) continue;
    const ecs_index *index = variant->indexes[variant->lists[i].index];
    bool grid = index->desc.by == ECS_BY_GRID;
    if (grid && index->now->grid.axes != variant->lists[i].axes) return false;
  }
  return true;
}

bool indexes_are_fresh(const struct variant *variant) {
  for (uint32_t i = 0; i < variant->index_count; i++) {
    const ecs_index *index = variant->indexes[i];
    bool outside = variant->fresh == variant->run && !index->world->running;
    if (!index->now || !(outside || index_is_fresh(index))) return false;
  }
  return fits_lists(variant);
}

/* Why an index is not up to date, or cannot be brought so here; NULL when it can. */
static const char *not_here(const ecs_index *index, const struct variant *variant) {
  if (index->world->running)
    return "system is not known to look into it: write its name into the option uses";
  if (!only_looks(variant))
    return "function writes, and each call outside of systems brings the index up to date: call it "
           "in a system";
  if (index_has_script(index))
    return "keys are a function's, and each call outside of systems brings it up to date: call it "
           "in a system";
  return NULL;
}

bool indexes_ready(lua_State *L, struct variant *variant) {
  for (uint32_t i = 0; i < variant->index_count; i++) {
    ecs_index *index = variant->indexes[i];
    if (index_is_fresh(index)) continue;
    const char *why = not_here(index, variant);
    if (why) {
      lua_pushfstring(L, "it looks into index '%s', and its %s", index_name(index), why);
      return false;
    }
    ecs_status status = variant->fresh == variant->run ? ECS_OK : index_refresh(index);
    if (status == ECS_ENOMEM) raise_memory(L);
    if (status == ECS_OK) continue;
    lua_pushstring(L, index->world->message);
    return false;
  }
  variant->fresh = variant->run;
  if (indexes_are_fresh(variant)) return true;
  lua_pushliteral(L, "it looks into an index whose places have other numbers now");
  return false;
}
