#include "lua/jit/system_kernel.h"

#include "lua/bind/world_box.h"
#include "lua/jit/kernel.h"
#include "lua/jit/kernel_ready.h"
#include "lua/jit/kernel_variant.h"
#include "lua/api/system_box.h"
#include "lua/jit/system_run.h"
#include "lua/jit/variant.h"

bool system_kernel_is_current(const struct kernel *kernel) {
  const struct variant *last = kernel->count ? kernel->variants[0] : NULL;
  return last && last->plan.program && variant_is_current(kernel, last);
}

void system_kernel_push(lua_State *L, int world_index, struct system_box *system) {
  if (system->box != lua_touserdata(L, world_index)) {
    lua_pushnil(L);
    return;
  }
  lua_getiuservalue(L, world_index, WORLD_REFS);
  lua_rawgetp(L, -1, system);
  lua_getiuservalue(L, -1, SYSTEM_KERNEL);
  lua_replace(L, -3);
  lua_pop(L, 1);
  int handle = lua_gettop(L);
  const struct kernel_box *box = lua_touserdata(L, handle);
  if (box && box->kernel && system->compiled && !system_kernel_is_current(box->kernel))
    system->compiled = kernel_ready_ahead(L, handle);
  lua_settop(L, handle);
}

const char *system_kernel_tier(const ecs_system *system) {
  const struct system_box *script = system_script(system);
  return !script ? "native" : script->compiled ? "vector" : "lua";
}
