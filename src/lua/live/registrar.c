/* Registering now; the other table is in recording.c. */
#include "lua/live/registrar.h"

#include "lua/api/lua_component.h"
#include "lua/api/lua_declare.h"
#include "lua/api/lua_prefab.h"
#include "lua/api/lua_query.h"
#include "lua/api/lua_schedule.h"
#include "lua/api/lua_observer.h"
#include "lua/api/system.h"
#include "lua/loop/view.h"
#include "lua/api/world_array.h"
#include "lua/api/world_index.h"

static bool announce_to_nobody(lua_State *L, int name, int fields) {
  (void)L, (void)name, (void)fields;
  return false;
}

static void miss_nothing(lua_State *L, int name, const char *type) {
  (void)L, (void)name, (void)type;
}

const struct registrar registrar_now = {
  .announce = announce_to_nobody,
  .missing = miss_nothing,
  .declare = declare_now,
  .tag = tag_now,
  .resource = resource_now,
  .forget = forget_now,
  .phase = phase_now,
  .system = system_now,
  .observer = observer_now,
  .query = query_now,
  .view = resource_view,
  .array = array_now,
  .index = index_now,
  .index_of = index_of_name,
  .prefab = prefab_now,
};
