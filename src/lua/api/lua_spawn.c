#include <lauxlib.h>

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/change/migrate.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/table.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/live/live.h"

int spawn_end(lua_State *L, struct world_box *box, ecs_id id) {
  values_stored(box);
  lua_pushinteger(L, (lua_Integer)id);
  settle(L, box, 1);
  return 1;
}

static APART int spawn_composed(lua_State *L, struct world_box *box) {
  struct composition plan;
  ecs_id id = ECS_NULL;
  composition_read(&plan, L, box, 2);
  composition_order(&plan, 0, plan.count);
  RETRY_OR_RAISE(L, box, entity_spawn(box->world, plan.parts, plan.count, &id));
  return spawn_end(L, box, id);
}

/* An entity without components is a row of the empty table: this takes 23 % off. */
static int world_spawn(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = ECS_NULL;
  check_only(L, 2, "one table expected, for one entity: world:spawn_many makes several");
  if (!lua_isnoneornil(L, 2)) return spawn_composed(L, box);
  const struct table *none = box->world->graph.empty;
  if (UNLIKELY(!spawn_again(box->world, none->index, none->serial, &id)))
    return spawn_composed(L, box);
  return spawn_end(L, box, id);
}

static int world_spawn_at(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_id(L, 2);
  struct composition plan;
  composition_read(&plan, L, box, 3);
  composition_order(&plan, 0, plan.count);
  RETRY_OR_BLAME(L, box, 2, entity_spawn_at(box->world, id, plan.parts, plan.count));
  return spawn_end(L, box, id);
}

/* Repeats the writes for every entity, each with any slots of its own. */
static void spawn_repeat_writes(struct composition *plan, struct write *writes, size_t count) {
  const struct input *input = &plan->input;
  const uint32_t *slots = input->box->scratch->pending;
  struct write *to = writes;
  for (size_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < plan->count; j++) {
      const struct part *part = &plan->parts[j];
      slots = writes_copy(part->component, part->writes, part->write_count, to, slots);
      to += part->write_count;
    }
  for (uint32_t j = 0; j < plan->count; j++) {
    plan->parts[j].stride = input->count;
    plan->parts[j].writes = writes + (plan->parts[j].writes - input->writes);
  }
}

/* Spawns with a buffer for the ids, and for the writes if `any` values make them repeat. */
static void spawn_buffered(lua_State *L, struct composition *plan, size_t count, int list) {
  struct world_box *box = plan->input.box;
  bool with_any = box->any.pending > 0 && count > 1;
  if (with_any) input_share_out(&plan->input, count);
  size_t copies = with_any ? count * plan->input.count : 0;
  size_t size = count * sizeof(ecs_id) + copies * sizeof(struct write);
  ecs_id *ids = buffer_take(L, box, size);
  if (with_any) spawn_repeat_writes(plan, (struct write *)(ids + count), count);
  composition_order(plan, 0, plan->count);
  ecs_status status;
  RETRY(L, box, status, entity_spawn_many(box->world, count, plan->parts, plan->count, ids));
  for (size_t i = 0; i < count && status == ECS_OK; i++) {
    lua_pushinteger(L, (lua_Integer)ids[i]);
    lua_rawseti(L, list, (lua_Integer)i + 1);
  }
  buffer_return(L, ids, size);
  raise_failure(L, box->world, status);
  values_stored(box);
}

static int world_spawn_many(lua_State *L) {
  check_free_world(L, 1);
  lua_Integer given;
  if (lua_type(L, 2) != LUA_TNUMBER) luaL_typeerror(L, 2, "number of entities");
  if (!read_whole(L, 2, &given) || given < 0 || given > INDEX_LIMIT - FIRST_ENTITY)
    luaL_argerror(L, 2, "the number of entities must be an integer from 0 to 268369920");
  size_t count = (size_t)given;
  lua_settop(L, 3);
  lua_createtable(L, (int)count, 0);
  struct world_box *box = check_world(L, 1);
  struct composition plan;
  composition_read(&plan, L, box, 3);
  if (count == 0) return 1;
  spawn_buffered(L, &plan, count, 4);
  settle(L, box, 1);
  return 1;
}

static int spawn_world_despawn(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_id(L, 2);
  check_only(L, 2, "one entity expected: call it once for each");
  RETRY_OR_BLAME(L, box, 2, entity_despawn(box->world, id));
  return settle(L, box, 1);
}

/* ---- lua spawner ---- */

/* A spawner is a C function over its world and a userdata with its text. Each name in the text
** stands for a value of each field of a component, or for the value of one field; names are looked
** up again when components are redeclared. If all values are numbers for columns of one table, they
** are stored directly in the table of the last entity, if it still exists and nothing is
** deferred. */

#define SPACE " \t\r\n"
#define WAY_VALUES 16

/* The fast path into the table of the last entity; only for numbers in its columns. */
struct way {
  uint64_t version;            /* registry.version at that time */
  uint32_t table, serial;      /* the table, distinguished from a later one at its index; NONE: the
                               ** fast path is not possible */
  uint32_t count;              /* number of values */
  struct {
    uint32_t column;
    ecs_type type;
    ecs_cell value;            /* the default */
  } values[WAY_VALUES];
};

/* In a userdata, the function's second upvalue; the first is the world. */
struct spawner {
  uint32_t count;
  struct spawner_name names[SPAWNER_NAMES];
  struct way way;
  char text[];                 /* as given, zero-terminated */
};

enum { AT_WORLD = 1, AT_SPAWNER, AT_VALUES };

/* Among the world's references: the userdata of all spawners, each mapped to where it was made. */
static const char spawners_key = 0;

/* ---- the components ---- */

static int spawner_refuse_name(lua_State *L, const struct spawner *spawner, const char *why) {
  return raise_error(L, "spawner '%s': %s", spawner->text, why);
}

/* Reads the names between commas. */
static void spawner_read_names(lua_State *L, struct spawner *spawner) {
  const char *at = spawner->text;
  for (;;) {
    at += strspn(at, SPACE);
    size_t size = strcspn(at, "," SPACE), name = strcspn(at, ".," SPACE);
    if (name == 0 || name + 1 == size)
      spawner_refuse_name(L, spawner, "names of components or fields expected, as in \"Position, "
                              "Health.hp\"");
    if (spawner->count == SPAWNER_NAMES)
      spawner_refuse_name(L, spawner, "it has more than 64 names: give fewer");
    ecs_string field = {at + name + 1, size > name ? size - name - 1 : 0};
    spawner->names[spawner->count++] = (struct spawner_name){ECS_NULL, {at, name}, field};
    at += size;
    at += strspn(at, SPACE);
    if (*at == '\0') return;
    if (*at != ',') spawner_refuse_name(L, spawner, "a name is missing between two commas");
    at++;
  }
}

/* Whether two fields of a component are the same, or one is part of the other; an empty one is the
** whole component. */
static bool spawner_overlaps(ecs_string a, ecs_string b) {
  ecs_string part = a.size > b.size ? a : b;
  size_t size = a.size > b.size ? b.size : a.size;
  if (size == 0) return true;
  return memcmp(a.data, b.data, size) == 0 && (a.size == b.size || strchr(".[", part.data[size]));
}

/* Whether an earlier name stands for the same component, or for part of it. */
static bool spawn_is_twice(const struct spawner *spawner, uint32_t at, ecs_id component) {
  ecs_string field = spawner->names[at].field;
  for (uint32_t i = 0; i < at; i++)
    if (spawner->names[i].component == component &&
        spawner_overlaps(field, spawner->names[i].field))
      return true;
  return false;
}

/* Whether a component has the field or leaf in a name, if there is one. */
static bool spawn_has_field(const struct component *component, ecs_string field) {
  return field.size == 0 || component_field(component, field.data, field.size) != NONE ||
         component_leaf(component, field.data, field.size) != NONE;
}

/* The component of a name. The name may not have been looked up yet; its component may have been
** undeclared, or have become a relation. */
static struct component *spawn_component_at(lua_State *L, ecs_world *world, struct spawner *spawner,
                                            uint32_t at) {
  struct spawner_name *name = &spawner->names[at];
  ecs_string text = name->name, field = name->field;
  struct component *component =
      name->component != ECS_NULL ? component_of(world, name->component) : NULL;
  if (UNLIKELY(!component)) {
    raise_failure(L, world, component_need_or_builtin(world, text.data, text.size, &component));
    if (spawn_is_twice(spawner, at, component->id))
      raise_error(L, "spawner '%s': it names '%s%s%.*s' twice", spawner->text, component->name,
                  field.size ? "." : "", (int)field.size, field.data);
    name->component = component->id;
  }
  if (UNLIKELY(component->relation))
    raise_error(L, "spawner '%s': '%s' is a relation: give its target to world:spawn or "
                "world:add", spawner->text, component->name);
  if (UNLIKELY(!spawn_has_field(component, field)))
    raise_status(L, world, component_no_field(world, component, field.data, field.size));
  return component;
}

/* ---- the fast path ---- */

/* Adds the fields of a name to a fast path; false if they are not numbers in its columns. */
static bool spawn_add_to_way(struct way *way, const struct table *table,
                             const struct component *component, ecs_string field) {
  uint32_t first = 0, count = component->leaf_count;
  if (field.size) {
    first = component_leaf(component, field.data, field.size);
    count = 1;
  }
  bool plain = first != NONE && !component->sparse && (field.size || component->flat);
  if (!plain || way->count + count > WAY_VALUES) return false;
  for (uint32_t i = first; i < first + count; i++, way->count++) {
    const struct column *column = table_find(table, component->id)->columns + i;
    if (!type_is_number(component->leaves[i].type)) return false;
    way->values[way->count].column = (uint32_t)(column - table->columns);
    way->values[way->count].type = component->leaves[i].type;
    way->values[way->count].value = column->value;
  }
  return true;
}

/* Finds the fast path to the table of the last entity, if there is one. */
static void spawner_find_way(const struct world_box *box, struct spawner *spawner, ecs_id id) {
  struct way *way = &spawner->way;
  if (way->version == *box->version && way->table == NONE) return;
  const struct table *table = spawn_table(box->world, id);
  if (!table) return;
  bool goes = true;
  way->count = 0;
  for (uint32_t i = 0; i < spawner->count && goes; i++) {
    const struct component *component = component_of(box->world, spawner->names[i].component);
    goes = component && spawn_add_to_way(way, table, component, spawner->names[i].field);
  }
  way->table = goes ? table->index : NONE;
  way->serial = table->serial;
  way->version = *box->version;
}

/* Spawns an entity from the arguments on the fast path; returns false, with nothing done, if that
** is not possible. Takes 35 % off. */
static bool spawner_go(lua_State *L, struct world_box *box, const struct way *way, ecs_id *id) {
  uint32_t count = (uint32_t)lua_gettop(L);
  if (UNLIKELY(!box->world || box->stage || box->any.pending || way->version != *box->version))
    return false;
  if (UNLIKELY(count > way->count || way->table == NONE)) return false;
  ecs_cell cells[WAY_VALUES];
  for (uint32_t i = 0; i < count; i++) {
    if (LIKELY(number_to_cell(L, way->values[i].type, (int)i + 1, &cells[i]))) continue;
    if (!lua_isnil(L, (int)i + 1)) return false;
    cells[i] = way->values[i].value;
  }
  const struct table *table = spawn_again(box->world, way->table, way->serial, id);
  if (UNLIKELY(!table)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const struct column *column = &table->columns[way->values[i].column];
    cell_store(column->data, column->size, table->count - 1, cells[i]);
  }
  return true;
}

/* ---- spawning ---- */

/* Collects the values for a name from an index on, as many as are given; nil leaves a field's
** default. */
static void spawner_gather(struct input *input, const struct component *component,
                           ecs_string field, int at, int top) {
  uint32_t first = 0, count = component->field_count;
  if (field.size) {
    first = component_field(component, field.data, field.size);
    count = first == NONE ? 0 : 1;
    if (count == 0 && at <= top && !lua_isnil(input->L, at))
      input_leaf(input, component, component_leaf(component, field.data, field.size), at);
  }
  for (uint32_t i = 0; i < count; i++, at++)
    if (at <= top && !lua_isnil(input->L, at))
      input_part(input, component, &component->fields[first + i], 0, at);
}

/* Collects the parts of an entity: one for each component, with the values of all its names. */
static uint32_t spawn_gather_parts(lua_State *L, struct input *input, struct spawner *spawner,
                                   struct part *parts) {
  struct component *components[SPAWNER_NAMES];
  int first[SPAWNER_NAMES + 1] = {AT_VALUES}, top = lua_gettop(L);
  uint32_t count = 0, names = spawner->count;
  for (uint32_t i = 0; i < names; i++) {
    components[i] = spawn_component_at(L, input->box->world, spawner, i);
    bool one = spawner->names[i].field.size > 0;
    first[i + 1] = first[i] + (one ? 1 : (int)components[i]->field_count);
  }
  if (first[names] <= top)
    raise_error(L, "spawner '%s' takes %d values, got %d", spawner->text,
                first[names] - AT_VALUES, top - AT_SPAWNER);
  for (uint32_t i = 0; i < names; i++) {
    uint32_t before = input->count, part = 0;
    while (part < count && parts[part].component != components[i]) part++;
    if (part < count) continue;
    for (uint32_t j = i; j < names; j++)
      if (components[j] == components[i])
        spawner_gather(input, components[j], spawner->names[j].field, first[j], top);
    parts[count++] = (struct part){components[i], ECS_NULL, input->count - before, NULL, 0};
  }
  return count;
}

static APART int spawn_from_arguments(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_rotate(L, 1, 2);
  struct world_box *box = check_free_world(L, AT_WORLD);
  struct spawner *spawner = lua_touserdata(L, AT_SPAWNER);
  struct part parts[SPAWNER_NAMES];
  struct input input;
  input_begin(&input, L, box, AT_WORLD);
  uint32_t count = spawn_gather_parts(L, &input, spawner, parts);
  const struct write *writes = input.writes;
  for (uint32_t i = 0; i < count; writes += parts[i++].write_count)
    parts[i].writes = writes;
  ecs_id id = ECS_NULL;
  RETRY_OR_RAISE(L, box, entity_spawn(box->world, parts, count, &id));
  spawner_find_way(box, spawner, id);
  return spawn_end(L, box, id);
}

static int spawner_spawn(lua_State *L) {
  struct world_box *box = lua_touserdata(L, lua_upvalueindex(1));
  const struct spawner *spawner = lua_touserdata(L, lua_upvalueindex(2));
  ecs_id id = ECS_NULL;
  if (UNLIKELY(!spawner_go(L, box, &spawner->way, &id))) return spawn_from_arguments(L);
  world_be_sure(box->world);
  box->calls++;
  lua_pushinteger(L, (lua_Integer)id);
  if (LIKELY(!*box->changes && !settle_is_due(box))) return 1;
  lua_pushvalue(L, lua_upvalueindex(1));   /* the world is not on the stack */
  lua_insert(L, 1);
  settle(L, box, 1);
  return 1;
}

/* ---- for kernels ---- */

/* Looks up the missing names, without errors. Returns whether all exist. */
static bool spawn_finds_all(const ecs_world *world, struct spawner *spawner) {
  for (uint32_t i = 0; i < spawner->count; i++) {
    struct spawner_name *name = &spawner->names[i];
    const struct component *component =
        name->component != ECS_NULL ? component_of(world, name->component) : NULL;
    if (!component) {
      component = component_find(world, name->name.data, name->name.size);
      bool fits = component && !component->is_event && !component->length;
      if (!fits || spawn_is_twice(spawner, i, component->id)) return false;
      name->component = component->id;
    }
    if (component->relation || !spawn_has_field(component, name->field)) return false;
  }
  return true;
}

struct outside spawner_object(lua_State *L, int index, const struct world_box *box) {
  struct outside outside = {.kind = OUTSIDE_OTHER};
  if (lua_tocfunction(L, index) != spawner_spawn) return outside;
  lua_getupvalue(L, index, 1);
  lua_getupvalue(L, index, 2);
  struct spawner *spawner = lua_touserdata(L, -1);
  if (lua_touserdata(L, -2) == box && spawn_finds_all(box->world, spawner))
    outside = (struct outside){.kind = OUTSIDE_SPAWNER, .names = spawner->names,
                               .count = spawner->count};
  lua_pop(L, 2);
  return outside;
}

/* ---- existing spawners after a change ---- */

/* Whether positional values would go to other fields than before: in the component itself, or in
** those that are named after it. */
static bool spawner_moves(const struct spawner *spawner, const struct change *change) {
  const struct component *old = change->component, *wanted = change->wanted;
  const ecs_string name = {old->name, old->name_size};
  uint32_t at = 0;
  while (at < spawner->count &&
         (spawner->names[at].field.size || !text_same(spawner->names[at].name, name)))
    at++;
  if (at == spawner->count || !wanted) return false;
  for (uint32_t i = 0; i < old->field_count; i++)
    if (i >= wanted->field_count ||
        change->source[wanted->fields[i].first_leaf] != old->fields[i].first_leaf)
      return true;
  return wanted->field_count > old->field_count && at + 1 < spawner->count;
}

void spawners_report(lua_State *L, int world, int files, const struct change *change) {
  int report = lua_gettop(L), list = report + 1;
  lua_Integer count = 0;
  lua_newtable(L);
  lua_getiuservalue(L, world, WORLD_REFS);
  if (lua_rawgetp(L, -1, &spawners_key) == LUA_TTABLE)
    for (lua_pushnil(L); lua_next(L, list + 2); lua_settop(L, list + 3)) {
      const struct spawner *spawner = lua_touserdata(L, -2);
      const char *place = lua_tostring(L, -1);
      if (!spawner_moves(spawner, change)) continue;
      lua_pushlstring(L, place, (size_t)(strrchr(place, ':') - place));
      if (lua_istable(L, files) && lua_rawget(L, files) != LUA_TNIL) continue;   /* made again */
      lua_pushfstring(L, "'%s' (%s)", spawner->text, place);
      lua_rawseti(L, list, ++count);
    }
  lua_settop(L, list);
  if (count) lua_setfield(L, report, "spawners");
  lua_settop(L, report);
}

/* ---- making a spawner ---- */

/* While scripts are read, their components are not declared yet: a query over the same components
** makes the swap look for them. The spawner is at 2. */
static void spawn_expect_names(lua_State *L, struct world_box *box, const struct spawner *spawner) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (uint32_t i = 0; i < spawner->count; i++) {
    ecs_string name = spawner->names[i].name;
    uint32_t same = 0;
    while (!text_same(spawner->names[same].name, name)) same++;
    if (same < i) continue;
    if (i) luaL_addstring(&text, ", ");
    luaL_addlstring(&text, name.data, name.size);
  }
  luaL_pushresult(&text);
  lua_insert(L, 2);
  lua_pushnil(L);
  lua_insert(L, 3);
  stage_query(L, box);
  lua_settop(L, 4);
  lua_replace(L, 2);
  lua_settop(L, 2);
}

/* Lists the spawner at 2 with the line of the script that makes it. */
static void spawn_list_spawner(lua_State *L) {
  lua_Debug caller;
  lua_getiuservalue(L, 1, WORLD_REFS);
  if (lua_rawgetp(L, -1, &spawners_key) == LUA_TNIL) {
    lua_pop(L, 1);
    new_weak_table(L, "k");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &spawners_key);
  }
  bool known = lua_getstack(L, 1, &caller) && lua_getinfo(L, "Sl", &caller);
  bool file = known && *caller.source == '@';
  lua_pushvalue(L, 2);
  lua_pushfstring(L, "%s:%d", file ? caller.source + 1 : known ? caller.short_src : "?",
                  known ? caller.currentline : 0);
  lua_rawset(L, -3);
  lua_settop(L, 2);
}

static int spawn_world_spawner(lua_State *L) {
  check_world(L, 1);
  size_t size;
  const char *text = check_text(L, 2, &size);
  if (lua_gettop(L) > 2) luaL_argerror(L, 3, "one string expected: the spawner takes the values");
  struct spawner *spawner = lua_newuserdatauv(L, sizeof *spawner + size + 1, 0);
  spawner->count = 0;
  spawner->way.version = UINT64_MAX;
  memcpy(spawner->text, text, size + 1);
  lua_replace(L, 2);
  spawner_read_names(L, spawner);
  struct world_box *box = check_world(L, 1);
  if (box->stage) spawn_expect_names(L, box, spawner);
  check_world(L, 1);
  spawn_list_spawner(L);
  box = check_world(L, 1);
  for (uint32_t i = 0; !box->stage && i < spawner->count; i++)
    spawn_component_at(L, box->world, spawner, i);
  lua_pushvalue(L, 1);
  lua_insert(L, -2);
  lua_pushcclosure(L, spawner_spawn, 2);
  return 1;
}

const luaL_Reg world_spawn_methods[] = {
  {"despawn", spawn_world_despawn},
  {"spawn", world_spawn},
  {"spawn_at", world_spawn_at},
  {"spawn_many", world_spawn_many},
  {"spawner", spawn_world_spawner},
  {NULL, NULL}
};
