#include "lua/bind/batch.h"
#include "lua/bind/cell.h"
#include "lua/bind/names.h"

void drop_pending(struct world_box *box) {
  for (uint32_t i = 0; i < box->pending_count; i++)
    any_release(&box->world->any, box->scratch->pending[i]);
  box->pending_count = 0;
}

void settle_any(lua_State *L, struct world_box *box, int world_index) {
  if (!lua_checkstack(L, 2)) return;
  lua_getiuservalue(L, world_index, WORLD_ANY);
  uint32_t slot;
  while ((slot = any_next_released(&box->world->any, &box->any)) != 0) {
    int type = lua_rawgeti(L, -1, slot);
    lua_pop(L, 1);
    if (type == LUA_TNIL) continue;
    lua_pushnil(L);
    lua_rawseti(L, -2, slot);
  }
  lua_pop(L, 1);
}

/* The slot is pending before the value is stored, so that an error on the way loses
** nothing. */
uint32_t take_any(lua_State *L, struct world_box *box, int world_index, int index) {
  if (lua_isnil(L, index)) return 0;
  ecs_world *world = box->world;
  index = lua_absindex(L, index);
  need_stack(L, 2);
  bool tried = false;
  uint32_t slot = 0;
  ecs_status status;
  do {
    uint32_t *pending =
        memory_grow(&world->memory, box->scratch->pending, &box->scratch->pending_capacity,
                    box->pending_count + 1ull, sizeof *pending);
    if (pending) box->scratch->pending = pending;
    status = pending ? any_take(&world->any, &world->memory, &box->any, &slot) : ECS_ENOMEM;
  } while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_memory(L);
  box->scratch->pending[box->pending_count++] = slot;
  lua_getiuservalue(L, world_index, WORLD_ANY);
  lua_pushvalue(L, index);
  lua_rawseti(L, -2, slot);
  lua_pop(L, 1);
  return slot;
}

static uint32_t intern_value(lua_State *L, struct world_box *box,
                             const struct component *component, uint32_t leaf, int index) {
  ecs_value value = {.kind = ECS_KIND_STRING};
  value.string.data = lua_tolstring(L, index, &value.string.size);
  ecs_cell cell;
  bool tried = false;
  ecs_status status;
  do
    status = component_cell(box->world, component, leaf, &value, &cell);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
  return cell.u32;
}

/* Says why a value did not convert; the core finds the words for what is nearly right. */
static void refuse(lua_State *L, struct world_box *box, const struct component *component,
                   uint32_t leaf, int index) {
  const struct leaf *into = &component->leaves[leaf];
  ecs_value value = {ECS_KIND_NONE, false, 0, 0, {NULL, 0}};
  if (lua_type(L, index) == LUA_TNUMBER &&
      (type_is_number(into->type) || into->type == ECS_ENTITY)) {
    value.kind = lua_isinteger(L, index) ? ECS_KIND_INTEGER : ECS_KIND_NUMBER;
    value.integer = (int64_t)lua_tointeger(L, index);
    value.number = (double)lua_tonumber(L, index);
  } else if (lua_type(L, index) == LUA_TSTRING && into->type == ECS_ENUM) {
    value.kind = ECS_KIND_STRING;
    value.string.data = lua_tolstring(L, index, &value.string.size);
  } else {
    char got[128];
    bool named = into->type == ECS_ENTITY && lua_type(L, index) == LUA_TSTRING;
    raise_error(L, "field '%s.%s' is %s, got %s%s", component->name, into->name,
                type_name(into->type), show_value(L, index, got, sizeof got),
                named ? " (world:lookup gives the id of a name)" : "");
  }
  ecs_cell cell;
  raise_status(L, box->world, component_cell(box->world, component, leaf, &value, &cell));
}

static bool to_enum(lua_State *L, const struct leaf *leaf, int index, ecs_cell *cell) {
  if (lua_type(L, index) != LUA_TSTRING) return false;
  size_t size;
  const char *text = lua_tolstring(L, index, &size);
  uint32_t at = enumeration_find(leaf->names, text, size);
  if (leaf->size == 1)
    cell->u8 = (uint8_t)at;
  else
    cell->u16 = (uint16_t)at;
  return at != NONE;
}

static bool to_entity(lua_State *L, const struct world_box *box, int index,
                      ecs_cell *cell) {
  int is_integer;
  cell->u64 = to_id(L, index, &is_integer);
  return is_integer &&
         (cell->u64 == ECS_NULL || entity_find(&box->world->entities, cell->u64));
}

/* False when the value does not fit. */
static inline bool convert(lua_State *L, struct world_box *box, int world_index,
                           const struct component *component, uint32_t at, int index,
                           ecs_cell *cell) {
  const struct leaf *leaf = &component->leaves[at];
  cell->u64 = 0;
  switch (type_class(leaf->type)) {
    case CLASS_TRUTH:
      cell->u8 = (uint8_t)lua_toboolean(L, index);
      return lua_isboolean(L, index);
    case CLASS_ID: return to_entity(L, box, index, cell);
    case CLASS_NAMES: return to_enum(L, leaf, index, cell);
    case CLASS_TEXT:
      if (UNLIKELY(lua_type(L, index) != LUA_TSTRING)) return false;
      cell->u32 = intern_value(L, box, component, at, index);
      return true;
    case CLASS_SLOT: cell->u32 = take_any(L, box, world_index, index); return true;
    default: return number_to_cell(L, leaf->type, index, cell);
  }
}

void value_to_cell(lua_State *L, struct world_box *box, int world_index,
                   const struct component *component, uint32_t leaf, int index,
                   ecs_cell *cell) {
  if (UNLIKELY(!convert(L, box, world_index, component, leaf, index, cell)))
    refuse(L, box, component, leaf, index);
}

void push_cell(lua_State *L, struct world_box *box, int world_index,
               const struct leaf *leaf, ecs_cell cell) {
  if (push_number_at(L, leaf->type, &cell, 0)) return;
  switch (type_class(leaf->type)) {
    case CLASS_ID:
      lua_pushinteger(L, (lua_Integer)entity_target(box->world, cell.u64));
      break;
    case CLASS_TEXT: {
      ecs_string text = intern_text(&box->world->strings, cell.u32);
      lua_pushlstring(L, text.data, text.size);
      break;
    }
    case CLASS_NAMES: {
      const ecs_string *name =
          &leaf->names->names[cell_integer(leaf->type, leaf->size, cell)];
      lua_pushlstring(L, name->data, name->size);
      break;
    }
    case CLASS_SLOT:
      if (any_is_of(&box->world->any, cell.u32, &box->any)) {
        lua_getiuservalue(L, world_index, WORLD_ANY);
        lua_rawgeti(L, -1, cell.u32);
        lua_replace(L, -2);
      } else {
        lua_pushnil(L);
      }
      break;
    default: assert(false); break;
  }
}

/* ---- batches --------------------------------------------------------------------- */

/* Writes beyond the C stack's share move to scratch memory of the world. */
static void grow(struct batch *batch) {
  struct world_box *box = batch->box;
  bool tried = false;
  struct write *writes;
  do
    writes = memory_grow(&box->world->memory, box->scratch->writes,
                         &box->scratch->write_capacity, 2ull * batch->capacity,
                         sizeof *writes);
  while (retry(batch->L, box, writes ? ECS_OK : ECS_ENOMEM, &tried));
  if (!writes) {
    raise_memory(batch->L);
    return;
  }
  if (batch->writes == batch->local)
    memcpy(writes, batch->local, batch->count * sizeof *writes);
  box->scratch->writes = batch->writes = writes;
  batch->capacity = box->scratch->write_capacity;
}

/* A number needs no call of `convert`. */
void batch_leaf(struct batch *batch, const struct component *component, uint32_t leaf,
                int index) {
  if (UNLIKELY(batch->count == batch->capacity)) grow(batch);
  struct write *write = &batch->writes[batch->count];
  write->leaf = leaf;
  write->cell.u64 = 0;
  if (UNLIKELY(!number_to_cell(batch->L, component->leaves[leaf].type, index, &write->cell) &&
               !convert(batch->L, batch->box, batch->world_index, component, leaf, index,
                        &write->cell)))
    refuse(batch->L, batch->box, component, leaf, index);
  batch->count++;
}

static void from_table(struct batch *batch, const struct component *component,
                       const struct component *shape, uint32_t base, int index);

void batch_element(struct batch *batch, const struct component *component,
                   const struct field *field, uint32_t base, int index) {
  if (LIKELY(!field->nested))
    batch_leaf(batch, component, base, index);
  else
    from_table(batch, component, field->nested, base, index);
}

/* The absolute index of a table that a field takes. */
static int need_table(struct batch *batch, const struct component *component,
                      const struct field *field, int index) {
  char got[128];
  if (lua_type(batch->L, index) != LUA_TTABLE)
    raise_error(batch->L, "field '%s.%s' takes a table (%s), got %s", component->name,
                field->name, field->count ? "an array" : field->nested->name,
                show_value(batch->L, index, got, sizeof got));
  need_stack(batch->L, 8);
  return lua_absindex(batch->L, index);
}

static void from_array(struct batch *batch, const struct component *component,
                       const struct field *field, uint32_t base, int index) {
  lua_State *L = batch->L;
  uint32_t stride = field->leaf_count / field->count;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_Integer key = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (UNLIKELY(key < 1 || key > field->count)) {
      char text[128];
      raise_error(L, "field '%s.%s' has elements 1 to %d, got one for %s", component->name,
                  field->name, (int64_t)field->count,
                  show_value(L, -2, text, sizeof text));
    }
    batch_element(batch, component, field, base + (uint32_t)(key - 1) * stride, -1);
  }
}

void batch_part(struct batch *batch, const struct component *component,
                const struct field *field, uint32_t base, int index) {
  base += field->first_leaf;
  if (LIKELY(field->count == 0 && !field->nested))
    batch_leaf(batch, component, base, index);
  else if (field->count == 0)
    from_table(batch, component, field->nested, base,
               need_table(batch, component, field, index));
  else
    from_array(batch, component, field, base, need_table(batch, component, field, index));
}

/* The field of `shape` that the key at the top but one of the stack names. */
static const struct field *key_field(struct batch *batch, const struct component *shape) {
  lua_State *L = batch->L;
  uint32_t named = find_field(L, batch->box, shape, -2);
  if (LIKELY(named != NONE)) return &shape->fields[named];
  if (lua_type(L, -2) == LUA_TSTRING) {
    size_t size;
    const char *name = lua_tolstring(L, -2, &size);
    raise_status(L, batch->box->world,
                 component_no_field(batch->box->world, shape, name, size));
  }
  lua_Integer at = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
  if (UNLIKELY(at < 1 || at > shape->field_count)) {
    char text[128];
    raise_error(L, "component '%s' has fields 1 to %d, got a value for %s", shape->name,
                (int64_t)shape->field_count, show_value(L, -2, text, sizeof text));
  }
  return &shape->fields[at - 1];
}

static void from_fields(struct batch *batch, const struct component *component,
                        const struct component *shape, uint32_t base, int index) {
  lua_State *L = batch->L;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
    batch_part(batch, component, key_field(batch, shape), base, -1);
}

/* The value at an index for a nested component. */
static void from_table(struct batch *batch, const struct component *component,
                       const struct component *shape, uint32_t base, int index) {
  lua_State *L = batch->L;
  if (UNLIKELY(lua_type(L, index) != LUA_TTABLE)) {
    char got[128];
    raise_error(L, "component '%s' takes a table, got %s", shape->name,
                show_value(L, index, got, sizeof got));
  }
  need_stack(L, 8);
  from_fields(batch, component, shape, base, lua_absindex(L, index));
}

void batch_field(struct batch *batch, const struct component *component, uint32_t field,
                 int index) {
  batch_part(batch, component, &component->fields[field], 0, index);
}

void batch_table(struct batch *batch, const struct component *component, int index) {
  from_fields(batch, component, component, 0, index);
}

static void from_positions(struct batch *batch, const struct component *component, int first,
                           int count) {
  if (UNLIKELY((uint32_t)count > component->field_count)) {
    if (component->field_count == 0)
      raise_error(batch->L, "'%s' is a tag: it has no value (use add)", component->name);
    raise_error(batch->L, "component '%s' has %u fields, got %u values", component->name,
                (uint64_t)component->field_count, (uint64_t)count);
  }
  for (int i = 0; i < count; i++) batch_field(batch, component, (uint32_t)i, first + i);
}

void batch_values(struct batch *batch, const struct component *component, uint32_t leaf,
                  int first, int count) {
  lua_State *L = batch->L;
  if (UNLIKELY(leaf != NONE)) {
    if (count != 1) luaL_argerror(L, count < 1 ? first : first + 1, "one value expected");
    batch_leaf(batch, component, leaf, first);
  } else if (count == 1 && lua_type(L, first) == LUA_TTABLE && component->field_count) {
    batch_table(batch, component, first);
  } else if (count == 0 && component->field_count) {
    luaL_argerror(L, first, "value expected");
  } else {
    from_positions(batch, component, first, count);
  }
}

/* ---- the same writes for many entities -------------------------------------------- */

void batch_share_out(struct batch *batch, size_t count) {
  lua_State *L = batch->L;
  struct world_box *box = batch->box;
  uint32_t each = box->pending_count;
  if (each == 0 || count < 2) return;
  if (count > INDEX_LIMIT / each) raise_error(L, "too many 'any' values at once");
  lua_getiuservalue(L, batch->world_index, WORLD_ANY);
  for (size_t i = 1; i < count; i++)
    for (uint32_t j = 0; j < each; j++) {
      lua_rawgeti(L, -1, box->scratch->pending[j]);
      take_any(L, box, batch->world_index, -1);
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
