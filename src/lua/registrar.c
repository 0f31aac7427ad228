/* Registering now; the other table is in recording.c. */
#include "lua/registrar.h"

#include "core/change/declare.h"
#include "core/store/component.h"
#include "ecs_resource.h"
#include "ecs_system.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/lua_declare.h"
#include "lua/lua_query.h"
#include "lua/system.h"
#include "lua/view.h"
#include "lua/world_array.h"

static bool announce_to_nobody(lua_State *L, int name, int fields) {
  (void)L, (void)name, (void)fields;
  return false;
}

static void miss_nothing(lua_State *L, int name, const char *type) {
  (void)L, (void)name, (void)type;
}

static ecs_status tag_now(struct world_box *box, const char *name, bool foreign, ecs_id *id) {
  (void)foreign;
  return ecs_tag(box->world, name, id);
}

static ecs_status resource_now(struct world_box *box, ecs_id id) {
  return ecs_resource(box->world, id);
}

static void forget_now(struct world_box *box, ecs_id id) {
  declare_forget(box->world, component_of(box->world, id));
}

static void phase_now(lua_State *L, struct world_box *box, const ecs_phase_desc *desc) {
  bool tried = false;
  ecs_status status;
  do
    status = ecs_phase(box->world, desc);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
  settle(L, box, 1);
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
  .query = query_now,
  .view = resource_view,
  .array = array_now,
};
