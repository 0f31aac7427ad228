#include "lua/api/api.h"

#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/declare.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"
#include "ecs_component.h"
#include "ecs_resource.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

static int world_component(lua_State *L) {
  check_world(L, 1);
  check_text(L, 2, NULL);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  ecs_id id = declare_component(L, 2, 3, NULL);
  return push_declared(L, check_world(L, 1), id);
}

static int component_world_tag(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const char *name = check_text(L, 2, NULL);
  ecs_id id = ECS_NULL;
  ecs_status status;
  if (UNLIKELY(!lua_isnoneornil(L, 3)))
    luaL_argerror(L, 3, "a tag takes only a name; for options, declare a component without "
                  "fields, as in world:component(\"Frozen\", { toggle = true })");
  lua_settop(L, 2);
  bool foreign = stage_announce(L, box, 2, 0);
  box = check_world(L, 1);
  RETRY(L, box, status,
        box->stage ? stage_tag(box, name, foreign, &id) : ecs_tag(box->world, name, &id));
  if (status != ECS_OK) return raise_argument(L, box->world, status, 2);
  lua_pushinteger(L, (lua_Integer)id);
  settle(L, box, 1);
  return 1;
}

/* Without fields the component must already be declared. A component declared here is undeclared
** again if there is no memory for its value. */
static int component_world_resource(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  lua_settop(L, 3);
  ecs_id id;
  bool made = false;
  if (lua_isnil(L, 3)) {
    id = check_component(L, box, 2)->id;
  } else {
    luaL_checktype(L, 3, LUA_TTABLE);
    made = ecs_component_find(box->world, check_text(L, 2, NULL)) == ECS_NULL;
    id = declare_component(L, 2, 3, NULL);
    made &= lua_isnil(L, -1);   /* otherwise it had another name */
    box = check_world(L, 1);
  }
  ecs_status status;
  RETRY(L, box, status, box->stage ? transaction_resource(&box->stage->transaction, id)
                                   : ecs_resource(box->world, id));
  if (status != ECS_OK) {
    char message[MESSAGE_SIZE] = "";
    if (box->world) {
      text_format(message, sizeof message, "%s", ecs_message(box->world));
      if (made && !box->stage) declare_forget(box->world, component_of(box->world, id));
    }
    return status == ECS_ENOMEM ? raise_memory(L) : raise_error(L, "%s", message);
  }
  return push_declared(L, box, id);
}

static int component_world_undeclare(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  if (index_undeclare(L, box, 2)) return 0;
  check_declared(L, box, 2);
  loops_finish(L, box);
  ecs_id id = check_declared(L, box, 2)->id;
  RETRY_OR_RAISE(L, box, loops_end(box));
  RETRY_OR_RAISE(L, box, ecs_undeclare(box->world, id));
  views_forget(L, 1, id);
  return settle(L, box, 1);
}

const luaL_Reg world_component_methods[] = {
  {"component", world_component},
  {"resource", component_world_resource},
  {"tag", component_world_tag},
  {"undeclare", component_world_undeclare},
  {NULL, NULL}
};

/* ---- descriptions ---------------------------------------------------------------- */

/* A limit, as the number it was written as; with a decimal comma it is not one in any locale. */
static void component_set_limit(lua_State *L, const char *key, const char *text) {
  if (!text) return;
  if (strchr(text, ',') || !lua_stringtonumber(L, text)) lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

static void component_push_enum(lua_State *L, const struct enumeration *names) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addstring(&text, "enum(");
  for (uint32_t i = 0; i < names->count; i++) {
    if (i > 0) luaL_addstring(&text, ", ");
    luaL_addlstring(&text, names->names[i].data, names->names[i].size);
  }
  luaL_addstring(&text, ")");
  luaL_pushresult(&text);
}

/* The type as a declaration writes it. */
static void component_push_type(lua_State *L, const struct field *field) {
  if (field->text) {
    lua_pushstring(L, field->text);
    return;
  }
  if (field->names)
    component_push_enum(L, field->names);
  else
    lua_pushstring(L, field->nested ? field->nested->name : type_name(field->type));
  if (field->count) {
    lua_pushfstring(L, "%s[%d]", lua_tostring(L, -1), (int)field->count);
    lua_replace(L, -2);
  }
}

static void component_describe_field(struct place *defaults, const struct field *field) {
  lua_State *L = defaults->L;
  lua_createtable(L, 0, 10);
  set_text(L, "name", field->name);
  component_push_type(L, field);
  lua_setfield(L, -2, "type");
  push_field(defaults, field, 0);
  lua_setfield(L, -2, "default");
  set_integer(L, "offset", field->offset);
  set_integer(L, "size", field->size);
  set_text(L, "doc", field->doc);
  set_text(L, "unit", field->unit);
  component_set_limit(L, "min", field->min);
  component_set_limit(L, "max", field->max);
}

/* The next required component after `last` by name; NULL at the end. */
static const char *component_next_required(const ecs_world *world,
                                           const struct component *component,
                                           const char *last) {
  const char *next = NULL;
  for (uint32_t i = 0; i < component->require_count; i++) {
    const char *name = component_of(world, component->requires[i])->name;
    if (last && strcmp(name, last) <= 0) continue;
    if (!next || strcmp(name, next) < 0) next = name;
  }
  return next;
}

static void component_describe_required(lua_State *L, const ecs_world *world,
                                        const struct component *component) {
  if (component->require_count == 0) return;
  lua_createtable(L, (int)component->require_count, 0);
  const char *name = NULL;
  while ((name = component_next_required(world, component, name)) != NULL) {
    lua_pushstring(L, name);
    append_item(L);
  }
  lua_setfield(L, -2, "requires");
}

/* Adds whether it can be switched off, and how many entities have it off. */
static void component_describe_toggle(lua_State *L, const ecs_world *world,
                                      const struct component *component) {
  const struct id_record *record = graph_record(world, component->id);
  size_t off = component->sparse ? component->sparse->table->off : 0;
  for (uint32_t i = 0; record && i < record->table_count; i++) {
    const struct toggle *toggle = toggle_of(world_table(world, record->tables[i]), component->id);
    assert(toggle);
    off += toggle->off;
  }
  set_boolean(L, "toggle", true);
  set_integer(L, "off", off);
}

/* Turns a world and a component's id into the component's description. */
static int component_describe(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  struct component *component = component_of(box->world, (ecs_id)lua_tointeger(L, 2));
  struct place defaults;
  place_init(&defaults, L, box, 1, ECS_NULL, component);
  lua_createtable(L, 0, 10);
  set_text(L, "name", component->name);
  if (component->orphan) set_boolean(L, "orphan", true);
  if (component->ties.relation) {
    set_boolean(L, "relation", true);
    set_boolean(L, "exclusive", component->ties.exclusive);
    set_boolean(L, "acyclic", component->ties.acyclic);
    set_text(L, "on_target_despawn", policy_names[component->ties.policy]);
  }
  set_integer(L, "id", component->id);
  if (component->length) {
    set_text(L, "storage", "array");
    set_text(L, "type", type_name(component->leaves[0].type));
    set_integer(L, "length", component->length);
    set_integer(L, "size", (uint64_t)component->length * component->leaves[0].size);
    return 1;
  }
  const char *storage = component->is_sparse ? "sparse" : "table";
  set_text(L, "storage", component->is_event ? "event" : storage);
  if (component->event) set_integer(L, "rows", component->event->table->count);
  set_integer(L, "size", component->size);
  set_text(L, "doc", component->doc);
  component_describe_required(L, box->world, component);
  if (component->toggle) component_describe_toggle(L, box->world, component);
  if (component->track) set_boolean(L, "track", true);
  if (component->watched) set_boolean(L, "watched", true);
  lua_createtable(L, (int)component->field_count, 0);
  for (uint32_t i = 0; i < component->field_count; i++) {
    component_describe_field(&defaults, &component->fields[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "fields");
  return 1;
}

void push_component_description(lua_State *L, int world_index, ecs_id component) {
  need_stack(L, 4);
  lua_pushvalue(L, world_index);
  lua_pushinteger(L, (lua_Integer)component);
  call_held(L, component_describe, 2, 1);
}
