#include <float.h>

#include "lua/bind/args.h"

#include "core/base/any.h"
#include "core/base/text.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "ecs_world.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"

/* The name of the running function, a method of that kind, if it was not called as a method;
** otherwise NULL. *loops: it was passed to `for`, which calls it without arguments. */
static const char *args_method_misused(lua_State *L, const void *kind, bool *loops) {
  lua_Debug call;
  int top = lua_gettop(L);
  const char *method = NULL;
  if (!lua_getstack(L, 0, &call) || !lua_getinfo(L, "nf", &call)) return NULL;
  *loops = call.name && strcmp(call.namewhat, "for iterator") == 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, kind);
  bool plain = call.name && strcmp(call.namewhat, "method") != 0;
  if (plain && lua_getfield(L, -1, "__index") == LUA_TTABLE)
    for (lua_pushnil(L); !method && lua_next(L, top + 3); lua_pop(L, 1))
      if (lua_rawequal(L, -1, top + 1)) method = lua_tostring(L, -2);
  lua_settop(L, top);
  return method;
}

bool push_copies(lua_State *L, int arg, const void *kind) {
  int top = lua_gettop(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, kind);
  lua_getfield(L, top + 1, "__name");
  bool other = lua_type(L, arg) == LUA_TUSERDATA &&
               luaL_getmetafield(L, arg, "__name") != LUA_TNIL && lua_rawequal(L, -1, -2);
  if (other) {
    lua_getfield(L, top + 1, "__from");
    if (luaL_getmetafield(L, arg, "__from") != LUA_TSTRING) lua_pushliteral(L, "?");
    lua_pushfstring(L, "one of another copy of ecs: '%s' and '%s' are both loaded; load only one",
                    lua_tostring(L, top + 4), lua_tostring(L, top + 5));
    lua_replace(L, top + 1);
  }
  lua_settop(L, top + other);
  return other;
}

int no_object(lua_State *L, int arg, const void *kind, const char *name) {
  need_stack(L, 8);
  if (push_copies(L, arg, kind)) {
    lua_pushfstring(L, "%s expected, got %s", name, lua_tostring(L, -1));
    return luaL_argerror(L, arg, lua_tostring(L, -1));
  }
  bool loops = false;
  const char *method = arg == 1 ? args_method_misused(L, kind, &loops) : NULL;
  if (method && loops)
    return luaL_error(L, "call the method to get a loop: write %s:%s()", name, method);
  if (!method) return luaL_typeerror(L, arg, name);
  const char *got = luaL_typename(L, arg);
  if (!lua_isnone(L, arg) && luaL_getmetafield(L, arg, "__name") == LUA_TSTRING)
    got = lua_tostring(L, -1);
  char text[160];
  text_format(text, sizeof text, "%s expected, got %s; write %s:%s(...), with a colon", name,
              got, name, method);
  return luaL_argerror(L, arg, text);
}

double check_seconds(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "number of seconds");
  double seconds = (double)lua_tonumber(L, arg);
  if (seconds >= 0 && seconds <= DBL_MAX) return seconds;
  char text[128];
  text_format(text, sizeof text, "%g is not a number of seconds (finite, not negative)",
              seconds);
  luaL_argerror(L, arg, text);
  return 0;
}

const char *check_text(lua_State *L, int arg, size_t *size) {
  if (lua_type(L, arg) != LUA_TSTRING) luaL_typeerror(L, arg, "string");
  size_t bytes;
  const char *text = lua_tolstring(L, arg, &bytes);
  if (memchr(text, 0, bytes)) luaL_argerror(L, arg, "the string has a zero byte");
  if (size) *size = bytes;
  return text;
}

/* A long list is examined from its end: a table stored as a list has its other keys only after its
** last elements, which are consecutive there. Otherwise the whole table is traversed. */
bool push_odd_key(lua_State *L, int index, lua_Unsigned count) {
  lua_Unsigned at = count > 32 ? count - 32 : 0;
  if (lua_rawgeti(L, index, (lua_Integer)at) == LUA_TNIL) at = 0;
  lua_pop(L, 1);
  if (at)
    lua_pushinteger(L, (lua_Integer)at);
  else
    lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    lua_Integer key = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
    if (key < 1 || (lua_Unsigned)key > count) return true;
    if (!at || (lua_Unsigned)key == ++at) continue;
    at = 0;
    lua_pop(L, 1);
    lua_pushnil(L);
  }
  return false;
}

bool push_method(lua_State *L, const luaL_Reg *methods, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return false;
  const char *key = lua_tostring(L, index);
  while (methods->name && strcmp(methods->name, key) != 0) methods++;
  if (methods->name) lua_pushcfunction(L, methods->func);
  return methods->name != NULL;
}

void need_stack(lua_State *L, int slots) {
  if (UNLIKELY(!lua_checkstack(L, slots))) raise_memory(L);
}

const char *show_value(lua_State *L, int index, char *buffer, size_t size) {
  switch (lua_type(L, index)) {
    case LUA_TNIL: text_format(buffer, size, "nil"); break;
    case LUA_TBOOLEAN:
      text_format(buffer, size, "%s", lua_toboolean(L, index) ? "true" : "false");
      break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index))
        text_format(buffer, size, "%lld", (long long)lua_tointeger(L, index));
      else
        text_format(buffer, size, "%g", (double)lua_tonumber(L, index));
      break;
    case LUA_TSTRING: {
      ecs_string text;
      text.data = lua_tolstring(L, index, &text.size);
      text_format(buffer, size, "'%.*s'", SHOW(text));
      break;
    }
    default: {
      int top = lua_gettop(L);
      bool named = luaL_getmetafield(L, index, "__name") == LUA_TSTRING;
      const char *name = named ? lua_tostring(L, -1) : luaL_typename(L, index);
      text_format(buffer, size, *name == 'e' ? "an %s" : "a %s", name);
      lua_settop(L, top);
      break;
    }
  }
  return buffer;
}

bool read_scalar(lua_State *L, int index, ecs_value *out) {
  *out = (ecs_value){.kind = ECS_KIND_NONE};
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      out->kind = lua_isinteger(L, index) ? ECS_KIND_INTEGER : ECS_KIND_NUMBER;
      out->integer = (int64_t)lua_tointeger(L, index);
      out->number = (double)lua_tonumber(L, index);
      return true;
    case LUA_TBOOLEAN:
      out->kind = ECS_KIND_BOOL;
      out->boolean = lua_toboolean(L, index);
      return true;
    case LUA_TSTRING:
      out->kind = ECS_KIND_STRING;
      out->string.data = lua_tolstring(L, index, &out->string.size);
      return true;
    default: return false;
  }
}

/* ---- input ---- */

/* Moves writes that do not fit on the C stack to scratch memory of the world. */
static void args_input_grow(struct input *input) {
  struct world_box *box = input->box;
  struct write *writes = scratch_grow(input->L, box, box->scratch->writes,
                                      &box->scratch->write_capacity, 2ull * input->capacity,
                                      sizeof *writes);
  if (input->writes == input->local)
    memcpy(writes, input->local, input->count * sizeof *writes);
  box->scratch->writes = input->writes = writes;
  input->capacity = box->scratch->write_capacity;
}

/* A number does not need value_to_cell. */
void input_leaf(struct input *input, const struct component *component, uint32_t leaf,
                int index) {
  if (UNLIKELY(input->count == input->capacity)) args_input_grow(input);
  struct write *write = &input->writes[input->count];
  write->leaf = leaf;
  write->cell.u64 = 0;
  if (UNLIKELY(!number_to_cell(input->L, component->leaves[leaf].type, index, &write->cell)))
    value_to_cell(input->L, input->box, input->world_index, component, leaf, index,
                  &write->cell);
  input->count++;
}

static void args_from_table(struct input *input, const struct component *component,
                            const struct component *shape, uint32_t base, int index);

void input_element(struct input *input, const struct component *component,
                   const struct field *field, uint32_t base, int index) {
  if (LIKELY(!field->nested))
    input_leaf(input, component, base, index);
  else
    args_from_table(input, component, field->nested, base, index);
}

/* Raises unless a table is given for a field that needs one. Returns its absolute index. */
static int args_need_table(struct input *input, const struct component *component,
                           const struct field *field, int index) {
  char got[128];
  if (lua_type(input->L, index) != LUA_TTABLE)
    raise_error(input->L, "field '%s.%s' takes a table (%s), got %s", component->name,
                field->name, field->count ? "an array" : field->nested->name,
                show_value(input->L, index, got, sizeof got));
  need_stack(input->L, 8);
  return lua_absindex(input->L, index);
}

static void args_from_array(struct input *input, const struct component *component,
                            const struct field *field, uint32_t base, int index) {
  lua_State *L = input->L;
  uint32_t stride = field->leaf_count / field->count;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_Integer key = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (UNLIKELY(key < 1 || key > field->count)) {
      char text[128];
      raise_error(L, "field '%s.%s' has elements 1 to %u, got a value for %s", component->name,
                  field->name, field->count, show_value(L, -2, text, sizeof text));
    }
    input_element(input, component, field, base + (uint32_t)(key - 1) * stride, -1);
  }
}

void input_part(struct input *input, const struct component *component,
                const struct field *field, uint32_t base, int index) {
  base += field->first_leaf;
  if (LIKELY(field->count == 0 && !field->nested))
    input_leaf(input, component, base, index);
  else if (field->count == 0)
    args_from_table(input, component, field->nested, base,
                    args_need_table(input, component, field, index));
  else
    args_from_array(input, component, field, base, args_need_table(input, component, field, index));
}

/* The field of `shape` named by the key below the top of the stack. */
static const struct field *args_key_field(struct input *input, const struct component *shape) {
  lua_State *L = input->L;
  uint32_t named = find_field(L, input->box, shape, -2);
  if (LIKELY(named != NONE)) return &shape->fields[named];
  if (lua_type(L, -2) == LUA_TSTRING) {
    size_t size;
    const char *name = lua_tolstring(L, -2, &size);
    raise_status(L, input->box->world,
                 component_no_field(input->box->world, shape, name, size));
  }
  lua_Integer at = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
  if (UNLIKELY(at < 1 || at > shape->field_count)) {
    char text[128];
    raise_error(L, "%s '%s' has fields 1 to %u, got a value for %s", component_word(shape),
                shape->name, shape->field_count, show_value(L, -2, text, sizeof text));
  }
  return &shape->fields[at - 1];
}

/* Raises an error if a field has a value both by position and by name. */
static void args_check_mixed(const struct input *input, const struct component *shape, int index) {
  lua_State *L = input->L;
  for (uint32_t i = 0; i < shape->field_count; i++, lua_pop(L, 2)) {
    const char *name = shape->fields[i].name;
    lua_rawgeti(L, index, (lua_Integer)i + 1);
    lua_pushstring(L, name);
    lua_rawget(L, index);
    if (lua_isnil(L, -1) || lua_isnil(L, -2)) continue;
    raise_error(L, "%s '%s' has two values for '%s': number %u and '%s'", component_word(shape),
                shape->name, name, i + 1, name);
  }
}

static void args_from_fields(struct input *input, const struct component *component,
                             const struct component *shape, uint32_t base, int index) {
  lua_State *L = input->L;
  bool named = false, listed = false;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    bool is_name = lua_type(L, -2) == LUA_TSTRING;
    named |= is_name;
    listed |= !is_name;
    input_part(input, component, args_key_field(input, shape), base, -1);
  }
  if (UNLIKELY(named && listed)) args_check_mixed(input, shape, index);
}

/* Reads the value at an index into a nested component. */
static void args_from_table(struct input *input, const struct component *component,
                            const struct component *shape, uint32_t base, int index) {
  lua_State *L = input->L;
  if (UNLIKELY(lua_type(L, index) != LUA_TTABLE)) {
    char got[128];
    raise_error(L, "component '%s' takes a table, got %s", shape->name,
                show_value(L, index, got, sizeof got));
  }
  need_stack(L, 8);
  args_from_fields(input, component, shape, base, lua_absindex(L, index));
}

void input_table(struct input *input, const struct component *component, int index) {
  args_from_fields(input, component, component, 0, index);
}

void input_values(struct input *input, const struct component *component, uint32_t leaf,
                  int first, int count) {
  lua_State *L = input->L;
  if (UNLIKELY(leaf != NONE)) {
    if (count != 1) luaL_argerror(L, count < 1 ? first : first + 1, "one value expected");
    input_leaf(input, component, leaf, first);
  } else if (count == 1 && lua_type(L, first) == LUA_TTABLE && component->field_count) {
    input_table(input, component, first);
  } else if (count == 0 && component->field_count) {
    luaL_argerror(L, first, component->ties.relation ? "a field's value expected after the target"
                                                     : "value expected");
  } else {
    if (UNLIKELY((uint32_t)count > component->field_count)) {
      if (component->field_count == 0)
        raise_error(input->L, "'%s' is a tag and has no value (use %s)", component->name,
                    lua_isboolean(input->L, first) && !lua_toboolean(input->L, first) ? "remove"
                                                                                      : "add");
      raise_error(input->L, "%s '%s' has %u field%s, got %d values", component_word(component),
                  component->name, component->field_count,
                  component->field_count == 1 ? "" : "s", count);
    }
    for (int i = 0; i < count; i++)
      input_part(input, component, &component->fields[i], 0, first + i);
  }
}

void input_event(struct input *input, const struct component *event, int first) {
  int count = lua_gettop(input->L) - first + 1;
  if (event->field_count == 0 && count > 0)
    raise_error(input->L, "event '%s' has no fields, got %d values", event->name, count);
  if (count > 0) input_values(input, event, NONE, first, count);
}

/* ---- the same writes for many entities -------------------------------------------- */

void input_share_out(struct input *input, size_t count) {
  lua_State *L = input->L;
  struct world_box *box = input->box;
  uint32_t each = box->any.pending;
  if (each == 0 || count < 2) return;
  if (count > INDEX_LIMIT / each) raise_error(L, "too many `any` values at once");
  lua_getiuservalue(L, input->world_index, WORLD_ANY);
  for (size_t i = 1; i < count; i++)
    for (uint32_t j = 0; j < each; j++) {
      lua_rawgeti(L, -1, box->scratch->pending[j]);
      take_any(L, box, input->world_index, -1);
      lua_pop(L, 1);
    }
  lua_pop(L, 1);
}

const uint32_t *writes_copy(const struct component *component, const struct write *from,
                            uint32_t count, struct write *to, const uint32_t *slots) {
  for (uint32_t i = 0; i < count; i++) {
    to[i] = from[i];
    if (component->leaves[to[i].leaf].type == ECS_ANY && to[i].cell.u32)
      to[i].cell.u32 = *slots++;
  }
  return slots;
}

void *buffer_take(lua_State *L, struct world_box *box, size_t size) {
  void *ud, *buffer;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  RETRY_OR_RAISE(L, box, (buffer = alloc(ud, NULL, 0, size)) ? ECS_OK : ECS_ENOMEM);
  return buffer;
}

void buffer_return(lua_State *L, void *buffer, size_t size) {
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  alloc(ud, buffer, size, 0);
}

/* ---- options ---- */

static void args_unknown_key(lua_State *L, int index, const char *what,
                             const char *const *known) {
  char got[128], list[256];
  struct nearest nearest = {.best = NULL};
  struct text all = {list, sizeof list, 0};
  show_value(L, index, got, sizeof got);
  for (const char *const *at = known; *at; at++)
    text_add(&all, "%s%s", at == known ? "" : ", ", **at == '$' ? "[\"$variable\"]" : *at);
  text_end(&all);
  if (lua_type(L, index) == LUA_TSTRING) {
    size_t size;
    const char *key = lua_tolstring(L, index, &size);
    nearest_begin(&nearest, key, size);
    for (; *known; known++) nearest_offer(&nearest, *known, strlen(*known));
  }
  if (nearest.best)
    raise_error(L, "%s: unknown option %s%s", what, got, nearest_hint(&nearest));
  raise_error(L, "%s: unknown option %s (known: %s)", what, got, list);
}

void check_keys(lua_State *L, int index, const char *what, const char *const *known) {
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    const char *const *at = known;
    while (*at && strcmp(*at, key) != 0 && !(*at[0] == '$' && key[0] == '$')) at++;
    if (!*at) args_unknown_key(L, -2, what, known);
  }
}

int option(lua_State *L, int index, const char *key) {
  lua_pushstring(L, key);
  return lua_rawget(L, index);
}

void wrong_option(lua_State *L, const char *what, const char *key, const char *expected) {
  char got[128];
  raise_error(L, "%s: option '%s' must be %s, got %s", what, key, expected,
              show_value(L, -1, got, sizeof got));
}

const char *text_option(lua_State *L, int index, const char *what, const char *key) {
  int type = option(L, index, key);
  if (type == LUA_TNIL) return NULL;
  if (type == LUA_TTABLE && strcmp(key, "query") == 0) wrong_option(L, what, key, ONE_TEXT);
  if (type != LUA_TSTRING) wrong_option(L, what, key, "a string");
  size_t size;
  const char *text = lua_tolstring(L, -1, &size);
  if (memchr(text, 0, size)) wrong_option(L, what, key, "a string without zero bytes");
  return text;
}

bool boolean_option(lua_State *L, int index, const char *what, const char *key, bool absent) {
  int type = option(L, index, key);
  bool value = type == LUA_TNIL ? absent : lua_toboolean(L, -1);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN) wrong_option(L, what, key, "a boolean");
  lua_pop(L, 1);
  return value;
}

double seconds_option(lua_State *L, int index, const char *what, const char *key) {
  int type = option(L, index, key);
  double seconds = type == LUA_TNUMBER ? (double)lua_tonumber(L, -1) : 0;
  if (type == LUA_TNIL) return 0;
  if (type != LUA_TNUMBER || !(seconds > 0 && seconds <= DBL_MAX))
    wrong_option(L, what, key, "a number of seconds above 0");
  return seconds;
}

const char *const *names_option(lua_State *L, int index, const char *what, const char *key) {
  static const char expected[] = "a string or a list of strings";
  int type = option(L, index, key);
  if (type == LUA_TNIL) return NULL;
  if (type == LUA_TSTRING) {
    lua_createtable(L, 1, 0);
    lua_insert(L, -2);
    lua_rawseti(L, -2, 1);
  } else if (type != LUA_TTABLE) {
    wrong_option(L, what, key, expected);
  }
  int list = lua_gettop(L);
  lua_Unsigned count = lua_rawlen(L, list);
  if (push_odd_key(L, list, count)) wrong_option(L, what, key, "a list of strings, without keys");
  if (count > 1000) wrong_option(L, what, key, "a list of at most 1000 strings");
  need_stack(L, (int)count + 4);
  const char **names = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *names, 0);
  for (size_t i = 0; i < count; i++) {
    size_t size;
    if (lua_rawgeti(L, list, (lua_Integer)i + 1) != LUA_TSTRING)
      wrong_option(L, what, key, expected);
    names[i] = lua_tolstring(L, -1, &size);
    if (memchr(names[i], 0, size)) wrong_option(L, what, key, "without zero bytes");
  }
  names[count] = NULL;
  return names;
}

/* ---- check world ---- */

int no_world(lua_State *L, int arg) {
  if (!box_test(L, arg, &kind_world, sizeof(struct world_box)))
    return no_object(L, arg, &kind_world, "world");
  const struct world_box *box = lua_touserdata(L, arg);
  return luaL_argerror(L, arg, box->hidden ? "a codec cannot use the world"
                                           : "the world is closed");
}

int no_change(lua_State *L) {
  return luaL_error(L, "a script cannot change the world while it is read: do that in "
                       "script:on_load or in a system");
}

/* Sweeps no strings while scripts are read or a scope is open: columns and kernels hold some. */
void input_sweep(struct world_box *box) {
  if (!box->stage && !staging_is_open(&box->world->staging)) world_settle(box->world);
}

void drop_pending(struct world_box *box) {
  for (uint32_t i = 0; i < box->any.pending; i++)
    any_release(box->any.slots, box->scratch->pending[i]);
  box->any.pending = 0;
}

/* ---- id args ---- */

ecs_id check_id(lua_State *L, int arg) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  if (LIKELY(is_integer)) return id;
  char text[260], shown[80];
  if (lua_type(L, arg) == LUA_TSTRING) {
    show_value(L, arg, shown, sizeof shown);
    text_format(text, sizeof text, "entity id expected, got string: the entity comes first; world:"
                "lookup(%s) returns the id of a name, and world:res(%s) a resource", shown, shown);
    luaL_argerror(L, arg, text);
  }
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "entity id");
  double number = (double)lua_tonumber(L, arg);
  bool step = number > 0 && number < 1;   /* a time step, as most such numbers are */
  text_format(text, sizeof text, "%g is not an entity id%s", number,
              step ? ": the last parameters of a function are dt and entity, in that order" : "");
  luaL_argerror(L, arg, text);
  return ECS_NULL;
}

/* ---- living entities ---- */

int no_entity(lua_State *L, const struct world_box *box, int arg) {
  return raise_argument(L, box->world, entity_need(box->world, check_id(L, arg)), arg);
}

/* ---- variables ---- */

/* Where variables are read from, for messages: an argument or, if that is 0, what `what` names. */
struct source {
  int arg;
  const char *what;
};

FORMAT(3, 4)
static int args_variables_refuse(lua_State *L, const struct source *from, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list args;
  va_start(args, format);
  text_vformat(text, sizeof text, format, args);
  va_end(args);
  return from->arg ? luaL_argerror(L, from->arg, text) : raise_error(L, "%s: %s", from->what, text);
}

/* Reads the value at the top of the stack. A dead entity is valid, but matches nothing. */
static ecs_id args_variables_read_value(lua_State *L, struct world_box *box,
                                        const struct source *from, const char *name) {
  uint32_t leaf;
  char got[128];
  int is_id;
  if (lua_type(L, -1) == LUA_TSTRING) {
    const struct component *component = find_component(L, box, lua_gettop(L), &leaf);
    if (component && leaf == NONE) return component->id;
    args_variables_refuse(L, from, "$%s: %s", name,
                          component ? "a field is not an entity" : ecs_message(box->world));
  }
  ecs_id id = to_id(L, lua_gettop(L), &is_id);
  ecs_status status = is_id ? ecs_entity_status(box->world, id) : ECS_EINVAL;
  if (status != ECS_OK && status != ECS_EDEAD)
    args_variables_refuse(
        L, from, "$%s is %s: an entity's id, or the name of a component or tag, expected",
        name, show_value(L, lua_gettop(L), got, sizeof got));
  return id;
}

static void args_variables_read_table(lua_State *L, struct world_box *box, int index, bool marked,
                                      const struct source *from, struct query_text *out) {
  need_stack(L, 6);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    char got[128];
    if (marked && !(name && *name == '$')) continue;
    if (!name) {
      args_variables_refuse(L, from, "a variable's name expected as the key, got %s",
                            show_value(L, lua_gettop(L) - 1, got, sizeof got));
      return;
    }
    if (*name == '$') name++;
    if (out->count == VARIABLES_MOST) args_variables_refuse(L, from, "at most 16 variables");
    out->variables[out->count].name = name;
    out->variables[out->count++].value = args_variables_read_value(L, box, from, name);
  }
}

void variables_of_argument(lua_State *L, struct world_box *box, int arg,
                           struct query_text *out) {
  if (lua_isnoneornil(L, arg)) return;
  luaL_checktype(L, arg, LUA_TTABLE);
  args_variables_read_table(L, box, arg, false, &(struct source){arg, NULL}, out);
}

void variables_of_options(lua_State *L, struct world_box *box, int index, bool marked,
                          const char *what, struct query_text *out) {
  args_variables_read_table(L, box, index, marked, &(struct source){0, what}, out);
}
