#include <float.h>

#include "binding.h"

ecs_id check_id(lua_State *L, int arg) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  if (LIKELY(is_integer)) return id;
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "entity id");
  char text[128];
  text_format(text, sizeof text, "%g is no entity id", (double)lua_tonumber(L, arg));
  luaL_argerror(L, arg, text);
  return ECS_NULL;
}

ecs_id check_entity(lua_State *L, struct world_box *box, int arg) {
  ecs_id id = check_id(L, arg);
  if (UNLIKELY(!entity_find(&box->world->entities, id)))
    raise_argument(L, box->world, entity_need(box->world, id), arg);
  return id;
}

/* Whether a text is the component's name, or "Component.leaf". */
static bool is_named(const struct component *component, uint32_t leaf, const char *text,
                     size_t size) {
  size_t head = component->name_size;
  if (leaf == NONE) return size == head && memcmp(text, component->name, size) == 0;
  if (leaf >= component->leaf_count) return false;
  const struct leaf *field = &component->leaves[leaf];
  return size == head + 1 + field->name_size && text[head] == '.' &&
         memcmp(text, component->name, head) == 0 &&
         memcmp(text + head + 1, field->name, field->name_size) == 0;
}

static struct component *find_uncached(struct world_box *box, const char *text, size_t size,
                                       uint32_t *leaf) {
  const char *dot = memchr(text, '.', size);
  size_t head = dot ? (size_t)(dot - text) : size;
  struct component *component;
  *leaf = NONE;
  if (component_need(box->world, text, head, &component) != ECS_OK) return NULL;
  if (!dot) return component;
  *leaf = component_leaf(component, dot + 1, size - head - 1);
  if (*leaf != NONE) return component;
  component_no_field(box->world, component, dot + 1, size - head - 1);
  return NULL;
}

struct component *find_component(struct world_box *box, const char *text, size_t size,
                                 uint32_t *leaf) {
  const struct registry *registry = &box->world->registry;
  uintptr_t address = (uintptr_t)text;
  struct name_entry *entry =
      &box->names[(address >> 4 ^ address >> 10) & (NAME_CACHE - 1)];
  if (LIKELY(entry->text == text && entry->component < registry->count)) {
    struct component *known = registry->components[entry->component];
    if (LIKELY(known && is_named(known, entry->leaf, text, size))) {
      *leaf = entry->leaf;
      return known;
    }
  }
  struct component *component = find_uncached(box, text, size, leaf);
  if (component)
    *entry = (struct name_entry){text, ecs_id_index(component->id), *leaf};
  return component;
}

struct component *check_component_leaf(lua_State *L, struct world_box *box, int arg,
                                       uint32_t *leaf) {
  struct component *component = NULL;
  int type = lua_type(L, arg);
  if (LIKELY(type == LUA_TSTRING)) {
    size_t size;
    const char *text = lua_tolstring(L, arg, &size);
    component = find_component(box, text, size, leaf);
    if (UNLIKELY(!component)) raise_argument(L, box->world, ECS_ENAME, arg);
  } else if (type == LUA_TNUMBER) {
    *leaf = NONE;
    ecs_id id = check_id(L, arg);
    component = component_of(box->world, id);
    if (UNLIKELY(!component))
      raise_argument(L, box->world, component_need_id(box->world, id, &component), arg);
  } else {
    luaL_typeerror(L, arg, "component name or id");
  }
  return component;
}

struct component *check_component(lua_State *L, struct world_box *box, int arg) {
  uint32_t leaf;
  struct component *component = check_component_leaf(L, box, arg, &leaf);
  if (LIKELY(leaf == NONE)) return component;
  char text[MESSAGE_SIZE];
  text_format(text, sizeof text, "component expected, got the field '%s.%s'",
              component->name, component->leaves[leaf].name);
  luaL_argerror(L, arg, text);
  return NULL;
}

double check_seconds(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "number of seconds");
  double seconds = (double)lua_tonumber(L, arg);
  if (seconds >= 0 && seconds <= DBL_MAX) return seconds;
  char text[128];
  text_format(text, sizeof text, "%g is no number of seconds (finite, not negative)",
              seconds);
  luaL_argerror(L, arg, text);
  return 0;
}

const char *check_text(lua_State *L, int arg, size_t *size) {
  if (lua_type(L, arg) != LUA_TSTRING) luaL_typeerror(L, arg, "string");
  const char *text = lua_tolstring(L, arg, size);
  if (memchr(text, 0, *size)) luaL_argerror(L, arg, "the string has a zero byte");
  return text;
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
        text_format(buffer, size, "%d", (int64_t)lua_tointeger(L, index));
      else
        text_format(buffer, size, "%g", (double)lua_tonumber(L, index));
      break;
    case LUA_TSTRING: {
      ecs_string text;
      text.data = lua_tolstring(L, index, &text.size);
      text_format(buffer, size, "'%S'", &text);
      break;
    }
    default: text_format(buffer, size, "a %s", luaL_typename(L, index)); break;
  }
  return buffer;
}
