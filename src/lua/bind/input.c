#include "lua/bind/input.h"

#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/ids/scratch.h"
#include "lua/bind/any_values.h"
#include "lua/bind/args.h"
#include "lua/bind/cell.h"
#include "lua/bind/lua_value.h"
#include "lua/bind/field_names.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "core/base/memory.h"

/* Writes beyond the C stack's share move to scratch memory of the world. */
static void input_grow(struct input *input) {
  struct world_box *box = input->box;
  bool tried = false;
  struct write *writes;
  do
    writes = memory_grow(box->memory, box->scratch->writes,
                         &box->scratch->write_capacity, 2ull * input->capacity,
                         sizeof *writes);
  while (retry(input->L, box, writes ? ECS_OK : ECS_ENOMEM, &tried));
  if (!writes) {
    raise_memory(input->L);
    return;
  }
  if (input->writes == input->local)
    memcpy(writes, input->local, input->count * sizeof *writes);
  box->scratch->writes = input->writes = writes;
  input->capacity = box->scratch->write_capacity;
}

/* A number needs no call of value_to_cell. */
void input_leaf(struct input *input, const struct component *component, uint32_t leaf,
                int index) {
  if (UNLIKELY(input->count == input->capacity)) input_grow(input);
  struct write *write = &input->writes[input->count];
  write->leaf = leaf;
  write->cell.u64 = 0;
  if (UNLIKELY(!number_to_cell(input->L, component->leaves[leaf].type, index, &write->cell)))
    value_to_cell(input->L, input->box, input->world_index, component, leaf, index,
                  &write->cell);
  input->count++;
}

static void from_table(struct input *input, const struct component *component,
                       const struct component *shape, uint32_t base, int index);

void input_element(struct input *input, const struct component *component,
                   const struct field *field, uint32_t base, int index) {
  if (LIKELY(!field->nested))
    input_leaf(input, component, base, index);
  else
    from_table(input, component, field->nested, base, index);
}

/* The absolute index of a table that a field takes. */
static int need_table(struct input *input, const struct component *component,
                      const struct field *field, int index) {
  char got[128];
  if (lua_type(input->L, index) != LUA_TTABLE)
    raise_error(input->L, "field '%s.%s' takes a table (%s), got %s", component->name,
                field->name, field->count ? "an array" : field->nested->name,
                show_value(input->L, index, got, sizeof got));
  need_stack(input->L, 8);
  return lua_absindex(input->L, index);
}

static void from_array(struct input *input, const struct component *component,
                       const struct field *field, uint32_t base, int index) {
  lua_State *L = input->L;
  uint32_t stride = field->leaf_count / field->count;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_Integer key = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (UNLIKELY(key < 1 || key > field->count)) {
      char text[128];
      raise_error(L, "field '%s.%s' has elements 1 to %u, got one for %s", component->name,
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
    from_table(input, component, field->nested, base,
               need_table(input, component, field, index));
  else
    from_array(input, component, field, base, need_table(input, component, field, index));
}

/* The field of `shape` that the key at the top but one of the stack names. */
static const struct field *key_field(struct input *input, const struct component *shape) {
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

static void from_fields(struct input *input, const struct component *component,
                        const struct component *shape, uint32_t base, int index) {
  lua_State *L = input->L;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
    input_part(input, component, key_field(input, shape), base, -1);
}

/* The value at an index for a nested component. */
static void from_table(struct input *input, const struct component *component,
                       const struct component *shape, uint32_t base, int index) {
  lua_State *L = input->L;
  if (UNLIKELY(lua_type(L, index) != LUA_TTABLE)) {
    char got[128];
    raise_error(L, "component '%s' takes a table, got %s", shape->name,
                show_value(L, index, got, sizeof got));
  }
  need_stack(L, 8);
  from_fields(input, component, shape, base, lua_absindex(L, index));
}

void input_field(struct input *input, const struct component *component, uint32_t field,
                 int index) {
  input_part(input, component, &component->fields[field], 0, index);
}

void input_table(struct input *input, const struct component *component, int index) {
  from_fields(input, component, component, 0, index);
}

static void from_positions(struct input *input, const struct component *component, int first,
                           int count) {
  if (UNLIKELY((uint32_t)count > component->field_count)) {
    if (component->field_count == 0)
      raise_error(input->L, "'%s' is a tag: it has no value (use %s)", component->name,
                  lua_isboolean(input->L, first) && !lua_toboolean(input->L, first) ? "remove"
                                                                                    : "add");
    raise_error(input->L, "%s '%s' has %u field%s, got %d values", component_word(component),
                component->name, component->field_count,
                component->field_count == 1 ? "" : "s", count);
  }
  for (int i = 0; i < count; i++) input_field(input, component, (uint32_t)i, first + i);
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
    luaL_argerror(L, first, component->ties.relation ? "a field's value expected behind the target"
                                                     : "value expected");
  } else {
    from_positions(input, component, first, count);
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
  if (count > INDEX_LIMIT / each) raise_error(L, "too many 'any' values at once");
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
  bool tried = false;
  void *ud, *buffer;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  do
    buffer = alloc(ud, NULL, 0, size);
  while (retry(L, box, buffer ? ECS_OK : ECS_ENOMEM, &tried));
  if (!buffer) raise_memory(L);
  return buffer;
}

void buffer_return(lua_State *L, void *buffer, size_t size) {
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  alloc(ud, buffer, size, 0);
}
