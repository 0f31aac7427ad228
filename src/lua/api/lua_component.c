#include <limits.h>

#include "lua/api/api.h"

#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/declare.h"
#include "core/change/migrate.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
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

/* A description under construction, from the plain table that the schema parser made:
**   { doc =, old_name =, toggle =, track =, storage = "sparse", was = { { name =, was = }, ... },
**     requires = { name or id, ... },
**     { name =, type =, count =, names = {...}, value =, text =, doc =, unit =, min =, max = },
**     ... }
** Scripts may hold that table, so the texts are anchored in a table of our own. */
struct draft {
  lua_State *L;
  const char *kind;        /* "relation", "event", "resource" or NULL */
  bool foreign;            /* the scripts that are read cannot change it */
  bool put_off;            /* it names a component that is not declared yet: stage_put_off */
  int table;               /* stack index of the plain table */
  int anchors;             /* and of the anchors */
  lua_Integer anchored;
  ecs_component_desc desc;
  ecs_field *fields;       /* for the desc */
  const char **types;
  const char **names;      /* those of all enums */
  uint32_t name_count;
  uint32_t name_limit;
  ecs_id *required;        /* for the desc */
  const char **required_names;   /* NULL for a requirement given by id */
};

static const char schema_key;

int ecs_native_schema(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 4);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &list_functions_key);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &world_closed_key);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &value_reader_key);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &schema_key);
  return 0;
}

void declare_parse(lua_State *L, int name, int fields, const char *kind) {
  name = lua_absindex(L, name);
  fields = lua_absindex(L, fields);
  need_stack(L, 8);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &schema_key) != LUA_TFUNCTION)
    raise_error(L, "module 'ecs' is not loaded");
  lua_pushvalue(L, name);
  lua_pushvalue(L, fields);
  lua_pushstring(L, kind);
  lua_call(L, 3, 2);
  if (lua_type(L, -2) == LUA_TTABLE)
    lua_pop(L, 1);
  else
    luaL_error(L, "%s", lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "no schema");
}

/* Pops the string at the top of the stack; NULL for anything else. */
static const char *declare_pop_text(struct draft *draft) {
  lua_State *L = draft->L;
  if (lua_type(L, -1) != LUA_TSTRING) {
    lua_pop(L, 1);
    return NULL;
  }
  const char *text = lua_tostring(L, -1);
  lua_rawseti(L, draft->anchors, ++draft->anchored);
  return text;
}

/* Pushes an entry of the table at the top of the stack. Returns its type. */
static int declare_push_entry(lua_State *L, const char *key) {
  lua_pushstring(L, key);
  return lua_rawget(L, -2);
}

static const char *declare_get_text(struct draft *draft, const char *key) {
  declare_push_entry(draft->L, key);
  return declare_pop_text(draft);
}

static int declare_declaration_malformed(struct draft *draft) {
  return raise_error(draft->L, "component '%s': malformed schema", draft->desc.name);
}

static uint32_t declare_declaration_limited(struct draft *draft, lua_Unsigned count) {
  if (count > INT_MAX / 2) declare_declaration_malformed(draft);
  return (uint32_t)count;
}

/* Pushes the plain table of a field, counted from 0. */
static void declare_push_plain(struct draft *draft, uint32_t at) {
  if (lua_rawgeti(draft->L, draft->table, (lua_Integer)at + 1) != LUA_TTABLE)
    declare_declaration_malformed(draft);
}

/* Pushes a zeroed array as userdata, and returns it. */
static void *declare_make_array(lua_State *L, size_t count, size_t item) {
  return memset(lua_newuserdatauv(L, count * item + 1, 0), 0, count * item + 1);
}

static void declare_declaration_make_room(struct draft *draft) {
  lua_State *L = draft->L;
  lua_newtable(L);
  draft->anchors = lua_gettop(L);
  uint32_t fields = declare_declaration_limited(draft, lua_rawlen(L, draft->table));
  /* How many names all enums have together. */
  lua_Unsigned count = 0;
  for (uint32_t i = 0; i < fields; i++) {
    declare_push_plain(draft, i);
    if (declare_push_entry(L, "names") == LUA_TTABLE) count += lua_rawlen(L, -1);
    lua_pop(L, 2);
  }
  draft->name_limit = declare_declaration_limited(draft, count);
  draft->fields = declare_make_array(L, fields, sizeof *draft->fields);
  draft->types = declare_make_array(L, fields, sizeof *draft->types);
  draft->names = declare_make_array(L, draft->name_limit, sizeof *draft->names);
  draft->desc.fields = draft->fields;
  draft->desc.field_count = fields;
}

static void declare_declaration_read_field(struct draft *draft, uint32_t at) {
  lua_State *L = draft->L;
  ecs_field *field = &draft->fields[at];
  declare_push_plain(draft, at);
  field->name = declare_get_text(draft, "name");
  draft->types[at] = declare_get_text(draft, "type");
  declare_push_entry(L, "count");
  lua_Integer count = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
  lua_pop(L, 1);
  field->count = count < 0 || count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
  declare_push_entry(L, "value");
  read_scalar(L, -1, &field->value);
  const char *text = declare_pop_text(draft);
  if (text) field->value.string.data = text;
  field->doc = declare_get_text(draft, "doc");
  field->unit = declare_get_text(draft, "unit");
  field->min = declare_get_text(draft, "min");
  field->max = declare_get_text(draft, "max");
  field->text = declare_get_text(draft, "text");
  field->names = draft->names + draft->name_count;
  if (declare_push_entry(L, "names") == LUA_TTABLE) {
    while (lua_rawgeti(L, -1, (lua_Integer)field->name_count + 1) == LUA_TSTRING) {
      if (draft->name_count == draft->name_limit) declare_declaration_malformed(draft);
      draft->names[draft->name_count++] = declare_pop_text(draft);
      field->name_count++;
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  if (!field->name || !draft->types[at]) declare_declaration_malformed(draft);
  lua_pop(L, 1);
}

/* Reads the renames of the plain table at the top of the stack. */
static void declare_read_renames(struct draft *draft) {
  lua_State *L = draft->L;
  if (declare_push_entry(L, "was") == LUA_TTABLE) {
    int list = lua_gettop(L);
    uint32_t count = declare_declaration_limited(draft, lua_rawlen(L, list));
    ecs_rename *was = declare_make_array(L, count, sizeof *was);
    for (uint32_t i = 0; i < count; i++, lua_pop(L, 1)) {
      if (lua_rawgeti(L, list, (lua_Integer)i + 1) != LUA_TTABLE)
        declare_declaration_malformed(draft);
      was[i].name = declare_get_text(draft, "name");
      was[i].was = declare_get_text(draft, "was");
      if (!was[i].name || !was[i].was) declare_declaration_malformed(draft);
    }
    draft->desc.was = was;
    draft->desc.was_count = count;
    lua_pushvalue(L, -1);
    lua_rawseti(L, draft->anchors, ++draft->anchored);
    lua_settop(L, list);
  }
  lua_pop(L, 1);
}

/* Reads the requirements of the plain table at the top of the stack: names and ids. */
static void declare_declaration_read_required(struct draft *draft) {
  lua_State *L = draft->L;
  int top = lua_gettop(L);
  if (declare_push_entry(L, "requires") == LUA_TTABLE) {
    uint32_t count = declare_declaration_limited(draft, lua_rawlen(L, -1));
    draft->required = declare_make_array(L, count, sizeof *draft->required);
    lua_rawseti(L, draft->anchors, ++draft->anchored);
    draft->required_names = declare_make_array(L, count, sizeof *draft->required_names);
    lua_rawseti(L, draft->anchors, ++draft->anchored);
    for (uint32_t i = 0; i < count; i++) {
      lua_rawgeti(L, top + 1, (lua_Integer)i + 1);
      draft->required[i] = (ecs_id)lua_tointeger(L, -1);
      draft->required_names[i] = declare_pop_text(draft);
    }
    draft->desc.required = draft->required;
    draft->desc.required_count = count;
  }
  lua_settop(L, top);
}

/* Raises a message about what a declaration names, unless scripts are read and the rest of the file
** may declare that. */
static void declare_refuse_missing(struct draft *draft, const struct world_box *box,
                                   const char *message) {
  lua_State *L = draft->L;
  luaL_where(L, 1);
  lua_pushstring(L, message);
  lua_concat(L, 2);
  draft->put_off = stage_put_off(L, box, draft->table, draft->kind, draft->foreign);
  if (!draft->put_off) lua_error(L);
  lua_pop(L, 1);
}

/* Makes no Lua object if it succeeds. */
static void declare_resolve_required(struct draft *draft, const struct world_box *box,
                                     uint32_t at) {
  const ecs_world *world = box->world;
  const char *name = draft->required_names[at];
  struct component *component = NULL;
  ecs_status status = name ? component_need(world, name, strlen(name), &component)
                           : component_need_id(world, draft->required[at], &component);
  if (status == ECS_OK) {
    draft->required[at] = component->id;
    return;
  }
  char why[MESSAGE_SIZE], message[MESSAGE_SIZE];
  bool self = name && strcmp(name, draft->desc.name) == 0;
  bool builtin = name && builtin_is(name, strlen(name));
  text_format(why, sizeof why, "%s", ecs_message(world));
  if (self)
    text_format(why, sizeof why, "a component cannot require itself");
  else if (builtin)
    text_format(why, sizeof why, REQUIRES_RELATION, name);
  text_format(message, sizeof message, "component '%s', requires: %s", draft->desc.name, why);
  if (!name || self || builtin) raise_error(draft->L, "%s", message);
  declare_refuse_missing(draft, box, message);
}

/* Our name for a type that other libraries name differently. */
static const char *declare_usual_type(const char *type) {
  static const char *const usual[][2] = {
      {"float", "f32"}, {"single", "f32"}, {"float32", "f32"}, {"double", "f64"},
      {"float64", "f64"}, {"number", "f64"}, {"int", "i32"}, {"int8", "i8"}, {"int16", "i16"},
      {"int32", "i32"}, {"int64", "i64"}, {"integer", "i64"}, {"long", "i64"}, {"short", "i16"},
      {"uint", "u32"}, {"uint8", "u8"}, {"uint16", "u16"}, {"uint32", "u32"}, {"uint64", "u64"},
      {"ulong", "u64"}, {"byte", "u8"},
      {"boolean", "bool"}, {"str", "string"}, {"text", "string"}, {"id", "entity"},
      {"table", "any"}, {"function", "any"}, {"object", "any"},
  };
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (strcmp(type, usual[i][0]) == 0) return usual[i][1];
  return NULL;
}

static void declare_unknown_type(struct draft *draft, const struct world_box *box,
                                const ecs_field *field, const char *type) {
  const ecs_world *world = box->world;
  struct nearest nearest;
  nearest_begin(&nearest, type, strlen(type));
  for (uint32_t i = 0; type_name_at(i); i++)
    nearest_offer(&nearest, type_name_at(i), strlen(type_name_at(i)));
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *known = world->registry.components[i];
    if (known) nearest_offer(&nearest, known->name, known->name_size);
  }
  char hint[128];
  const char *usual = declare_usual_type(type);
  const struct component *now = component_formerly(world, type, strlen(type));
  if (now)
    text_format(hint, sizeof hint, " (its name is now '%s')", now->name);
  else if (usual)
    text_format(hint, sizeof hint, " (write '%s')", usual);
  else
    text_format(hint, sizeof hint, "%s", nearest.best ? nearest_hint(&nearest)
                : " (the types are f32, f64, i8 to i64, u8 to u64, bool, entity, string, any, "
                  "enum(a, b) and names of components)");
  char message[MESSAGE_SIZE];
  text_format(message, sizeof message, "component '%s', field '%s: %s': unknown type '%s'%s",
              draft->desc.name, field->name, field->text ? field->text : type, type, hint);
  declare_refuse_missing(draft, box, message);
}

/* ---- reports ----------------------------------------------------------------------- */

/* Maps an item's new name to its old one in the report at an index. */
static void declare_map_name(lua_State *L, int report, const char *map, const char *name,
                             const char *from) {
  lua_getfield(L, report, map);
  set_text(L, name, from);
  lua_pop(L, 1);
}

void push_report(lua_State *L, const struct report *report) {
  static const char *const lists[] = {"kept", "added", "dropped", "converted", NULL};
  static const char *const tables[] = {"kept",  "added",   "dropped",      "converted",
                                       "types", "renamed", "maybe_renamed"};
  need_stack(L, 8);
  lua_createtable(L, 0, 8);
  int index = lua_gettop(L);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    lua_newtable(L);
    lua_setfield(L, index, tables[i]);
  }
  set_integer(L, "rows", report->rows);
  set_text(L, "was", report->was);
  for (uint32_t i = 0; i < report->count; i++) {
    const struct report_item *item = &report->items[i];
    if (lists[item->fate]) {
      lua_getfield(L, index, lists[item->fate]);
      append_text(L, item->name);
      lua_pop(L, 1);
    }
    if (item->fate == LEAF_CONVERTED) {
      char change[64];
      text_format(change, sizeof change, "%s -> %s", item->from_type, item->type);
      declare_map_name(L, index, "types", item->name, change);
    }
    const char *renames = item->maybe ? "maybe_renamed" : "renamed";
    if (item->from) declare_map_name(L, index, renames, item->name, item->from);
  }
}

static int declare_report_body(lua_State *L) {
  push_report(L, lua_touserdata(L, 1));
  return 1;
}

/* ---- declaring --------------------------------------------------------------------- */

/* Runs a migration and pushes its first report; nil if there is nothing to migrate. The report is
** made before the world changes, so if there is no memory for it nothing changes. */
static ecs_status declare_declaration_migrate(lua_State *L, struct world_box *box,
                                              struct migration *migration) {
  if (migration->count == 0) {
    lua_pushnil(L);
    return migration_run(migration, NULL);
  }
  ecs_status status = world_is_idle(box->world, migration_operation(migration));
  if (status == ECS_OK) status = migration_prepare(migration);
  if (status != ECS_OK) return status;
  lua_pushlightuserdata(L, &migration->changes[0].report);
  if (try_quietly(L, box, declare_report_body, 1, 1) != LUA_OK) {
    lua_pop(L, 1);
    return ECS_ENOMEM;
  }
  migration_commit(migration);
  names_renew(box);
  return ECS_OK;
}

/* Before a migration begins, loops that are left open end, and observers are called. */
ecs_status declare_desc(lua_State *L, struct world_box *box, const ecs_component_desc *desc,
                        bool foreign, ecs_id *id) {
  if (box->stage) {
    ecs_status staged = stage_declare(box, desc, foreign, id);
    if (staged == ECS_OK) lua_pushnil(L);
    return staged;
  }
  input_sweep(box);
  struct migration migration;
  migration_begin(&migration, box->world);
  ecs_status status = declare(box->world, desc, &migration, id);
  if (status == ECS_OK && migration.count && box->loops->open) {
    migration_end(&migration);
    loops_finish(L, box);
    migration_begin(&migration, box->world);
    status = declare(box->world, desc, &migration, id);
  }
  if (status == ECS_OK) status = declare_declaration_migrate(L, box, &migration);
  migration_end(&migration);
  if (status == ECS_OK) component_of(box->world, *id)->orphan = false;
  return status;
}

static const char *const policy_names[] = {[ECS_TARGET_REMOVE] = "remove",
                                           [ECS_TARGET_DESPAWN] = "despawn",
                                           [ECS_TARGET_ERROR] = "error"};

/* Reads a relation's options from the plain table at the top of the stack. */
static void declare_read_relation(struct draft *draft) {
  lua_State *L = draft->L;
  ecs_component_desc *desc = &draft->desc;
  desc->relation = declare_push_entry(L, "relation") == LUA_TTABLE;
  if (desc->relation) {
    desc->exclusive = declare_push_entry(L, "exclusive") == LUA_TBOOLEAN && lua_toboolean(L, -1);
    lua_pop(L, 1);
    desc->acyclic = declare_push_entry(L, "acyclic") == LUA_TBOOLEAN && lua_toboolean(L, -1);
    lua_pop(L, 1);
    const char *policy = declare_get_text(draft, "on_target_despawn");
    for (int i = 0; policy && i <= ECS_TARGET_ERROR; i++)
      if (strcmp(policy, policy_names[i]) == 0) desc->on_target_despawn = (ecs_policy)i;
  }
  lua_pop(L, 1);
}

/* Reads the plain table into the desc, without the types and components that it names. */
static void declare_read(struct draft *draft) {
  lua_State *L = draft->L;
  ecs_component_desc *desc = &draft->desc;
  const char *kind = draft->kind;
  declare_declaration_make_room(draft);
  for (uint32_t i = 0; i < desc->field_count; i++) declare_declaration_read_field(draft, i);
  lua_pushvalue(L, draft->table);
  desc->doc = declare_get_text(draft, "doc");
  desc->old_name = declare_get_text(draft, "old_name");
  declare_read_renames(draft);
  declare_declaration_read_required(draft);
  lua_getfield(L, draft->table, "toggle");
  desc->toggle = lua_toboolean(L, -1);
  lua_getfield(L, draft->table, "track");
  desc->track = lua_toboolean(L, -1);
  desc->event = kind && strcmp(kind, "event") == 0;
  lua_pushvalue(L, draft->table);
  declare_read_relation(draft);
  lua_getfield(L, draft->table, "storage");
  desc->sparse = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "sparse") == 0;
}

/* Declares what the plain table says, and replaces that by the report or nil. Returns ECS_NULL
** where that is put off. */
static ecs_id declare_draft(struct draft *draft) {
  lua_State *L = draft->L;
  ecs_component_desc *desc = &draft->desc;
  declare_read(draft);
  need_stack(L, 12);
  struct world_box *box = check_world(L, 1);
  /* From here on no Lua object is made, until it is put off: the components that are found stay. */
  for (uint32_t i = 0; i < desc->field_count && !draft->put_off; i++) {
    ecs_field *field = &draft->fields[i];
    if (!type_of_name(draft->types[i], &field->type)) {
      field->type = ECS_NESTED;
      field->nested = ecs_component_find(box->world, draft->types[i]);
      if (field->nested == ECS_NULL) declare_unknown_type(draft, box, field, draft->types[i]);
    }
    field->text = NULL;   /* derivable from the rest */
  }
  for (uint32_t i = 0; i < desc->required_count && !draft->put_off; i++)
    declare_resolve_required(draft, box, i);
  ecs_id id = ECS_NULL;
  if (draft->put_off)
    lua_pushnil(L);
  else
    RETRY_OR_RAISE(L, box, declare_desc(L, box, desc, draft->foreign, &id));
  lua_replace(L, draft->table);
  lua_settop(L, draft->table);
  return id;
}

/* Declares the component named at index 2 with the fields and options at 3, in the world at 1, and
** returns its id; as a "relation", "event" or "resource", or for NULL as none of these. Pushes the
** report of the migration, or nil. Raises errors. */
static ecs_id declare_component(lua_State *L, const char *kind) {
  bool value = kind && strcmp(kind, "resource") == 0;
  struct draft draft = {.L = L, .kind = kind, .table = lua_gettop(L) + 1,
                        .desc = {.name = lua_tostring(L, 2)}};
  declare_parse(L, 2, 3, value ? NULL : kind);
  draft.foreign = stage_announce(L, check_world(L, 1), 2, draft.table);
  return declare_draft(&draft);
}

/* native.declare(world, name, plain, foreign, kind): declares what was put off. */
int ecs_native_declare(lua_State *L) {
  if (!check_world(L, 1)->stage) raise_error(L, "no scripts are being read");
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 5);
  struct draft draft = {.L = L, .kind = lua_tostring(L, 5), .foreign = lua_toboolean(L, 4),
                        .table = 6, .desc = {.name = check_text(L, 2, NULL)}};
  lua_pushvalue(L, 3);
  ecs_id id = declare_draft(&draft);
  struct world_box *box = check_world(L, 1);
  if (draft.kind && strcmp(draft.kind, "resource") == 0)
    RETRY_OR_RAISE(L, box, transaction_resource(&box->stage->transaction, id));
  return 0;
}

/* The results of calls that declare: pushes the id, or nil if it was put off, before the report,
** which is at index 4 if there is one. Called last. */
static int push_declared(lua_State *L, struct world_box *box, ecs_id id) {
  bool migrated = lua_gettop(L) == 4 && !lua_isnil(L, 4);
  lua_settop(L, 4);
  if (id == ECS_NULL)
    lua_pushnil(L);
  else
    lua_pushinteger(L, (lua_Integer)id);
  lua_insert(L, 4);
  settle(L, box, 1);
  lua_settop(L, migrated ? 5 : 4);
  return migrated ? 2 : 1;
}

int declare_method(lua_State *L, const char *kind) {
  check_world(L, 1);
  check_text(L, 2, NULL);
  lua_settop(L, 3);
  if (lua_isnil(L, 3)) {
    lua_newtable(L);
    lua_replace(L, 3);
  }
  luaL_checktype(L, 3, LUA_TTABLE);
  ecs_id id = declare_component(L, kind);
  return push_declared(L, check_world(L, 1), id);
}

/* ---- methods ---------------------------------------------------------------------- */

static int world_component(lua_State *L) {
  check_world(L, 1);
  check_text(L, 2, NULL);
  luaL_checktype(L, 3, LUA_TTABLE);
  return declare_method(L, NULL);
}

static int component_world_tag(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  const char *name = check_text(L, 2, NULL);
  ecs_id id = ECS_NULL;
  if (UNLIKELY(!lua_isnoneornil(L, 3)))
    luaL_argerror(L, 3, "a tag takes only a name; for options, declare a component without "
                  "fields, as in world:component(\"Frozen\", { toggle = true })");
  lua_settop(L, 2);
  bool foreign = stage_announce(L, box, 2, 0);
  box = check_world(L, 1);
  RETRY_OR_BLAME(L, box, 2, box->stage ? stage_tag(box, name, foreign, &id)
                                       : ecs_tag(box->world, name, &id));
  return spawn_end(L, box, id);
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
    id = declare_component(L, "resource");
    made &= lua_isnil(L, -1);   /* otherwise it had another name */
    box = check_world(L, 1);
  }
  if (id == ECS_NULL) return push_declared(L, box, id);   /* put off */
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

/* Sets a limit, as a number if it is one; a decimal comma is none, whatever the locale. */
static void component_set_limit(lua_State *L, const char *key, const char *text) {
  if (!text) return;
  if (strchr(text, ',') || !lua_stringtonumber(L, text)) lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

/* Pushes the type as a declaration would write it. */
static void component_push_type(lua_State *L, const struct field *field) {
  if (field->text) {
    lua_pushstring(L, field->text);
    return;
  }
  if (field->names) {
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    luaL_addstring(&text, "enum(");
    for (uint32_t i = 0; i < field->names->count; i++) {
      if (i > 0) luaL_addstring(&text, ", ");
      luaL_addlstring(&text, field->names->names[i].data, field->names->names[i].size);
    }
    luaL_addstring(&text, ")");
    luaL_pushresult(&text);
  } else {
    lua_pushstring(L, field->nested ? field->nested->name : type_name(field->type));
  }
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

/* Lists the required components by name. */
static void component_describe_required(lua_State *L, const ecs_world *world,
                                        const struct component *component) {
  lua_createtable(L, (int)component->require_count, 0);
  for (const char *last = NULL;;) {
    const char *next = NULL;
    for (uint32_t i = 0; i < component->require_count; i++) {
      const char *name = component_of(world, component->requires[i])->name;
      if ((!last || strcmp(name, last) > 0) && (!next || strcmp(name, next) < 0)) next = name;
    }
    if (!next) break;
    append_text(L, last = next);
  }
  lua_setfield(L, -2, "requires");
}

/* Adds that the component can be switched off, and in how many entities it is off. */
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

/* Replaces a world and a component's id by the component's description. */
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
  if (component->require_count) component_describe_required(L, box->world, component);
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
