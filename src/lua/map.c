#include "cell.h"

/* Where the parts of a call lie on the stack. */
struct frame {
  int loop, function;
  int slots, arguments;      /* arguments in all: slots, dt, entity, as far as they are taken */
};

void map_check(lua_State *L, const ecs_query *query) {
  const struct query_terms *terms = &query->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE || term->leaf != NONE) continue;
    const struct component *component = term->component;
    raise_error(L, "map takes single fields, but the query '%s' has the whole component '%s':"
                " name its fields, as in '%s.%s'", query->text, component->name,
                component->name, component->leaves[0].name);
  }
}

/* Raises why a slot cannot take a result. */
static void refuse(lua_State *L, const struct loop_box *loop, const struct slot *slot) {
  const char *component = slot->component->name, *field = slot->leaf->name;
  if (slot->read_only)
    raise_error(L, "map: field '%s.%s' is read only in the query '%s'", component, field,
                loop->query->query->text);
  raise_error(L, "map: entity %e has no '%s.%s' to write a result to",
              loop_entity(loop, loop->row), component, field);
}

static void convert_slowly(lua_State *L, const struct frame *frame,
                           const struct loop_box *loop, struct slot *slot, int index) {
  lua_getiuservalue(L, frame->loop, LOOP_WORLD);
  value_to_cell(L, loop->box, lua_gettop(L), slot->component, slot->leaf_at, index,
                &slot->cell);
  lua_pop(L, 1);
}

/* Converts the results from an index on; false when one of them was no number. */
static bool convert(lua_State *L, const struct frame *frame, struct loop_box *loop,
                    int index, int count) {
  bool plain = true;
  for (int i = 0; i < count; i++) {
    struct slot *slot = &loop->slots[i];
    slot->given = !lua_isnil(L, index + i);
    if (!slot->given) continue;
    if (UNLIKELY(slot->read_only || !slot->present)) refuse(L, loop, slot);
    if (LIKELY(number_to_cell(L, slot->type, index + i, &slot->cell))) continue;
    if (plain) values_begin(loop->box);
    plain = false;
    convert_slowly(L, frame, loop, slot, index + i);
  }
  return plain;
}

/* Each row is written as a whole, or, when a result does not fit, not at all. */
static void store_row(lua_State *L, const struct frame *frame, struct loop_box *loop,
                      int index, int count) {
  struct world_box *box = loop->box;
  bool plain = convert(L, frame, loop, index, count);
  for (int i = 0; i < count; i++) {
    const struct slot *slot = &loop->slots[i];
    if (slot->given)
      store_cell_at(box->world, slot->leaf, slot->data, loop->row, slot->cell);
  }
  if (LIKELY(plain)) return;
  values_stored(box);
  world_settle(box->world);
  lua_getiuservalue(L, frame->loop, LOOP_WORLD);
  settle_any(L, box, lua_gettop(L));
}

static void call_row(lua_State *L, const struct frame *frame, struct loop_box *loop,
                     double dt) {
  uint32_t row = loop->row;
  int top = lua_gettop(L);
  int slots = frame->arguments < frame->slots ? frame->arguments : frame->slots;
  lua_pushvalue(L, frame->function);
  for (int i = 0; i < slots; i++) slot_push(L, frame->loop, loop, &loop->slots[i], row);
  if (frame->arguments > frame->slots) lua_pushnumber(L, (lua_Number)dt);
  if (frame->arguments > frame->slots + 1)
    lua_pushinteger(L, (lua_Integer)loop_entity(loop, row));
  lua_call(L, frame->arguments, LUA_MULTRET);
  int results = lua_gettop(L) - top;
  if (UNLIKELY(!loop->open)) loop_gone(L, loop);
  if (UNLIKELY(results > frame->slots))
    luaL_error(L, "map: the function returns %d values, the query has %d fields", results,
               frame->slots);
  if (results) store_row(L, frame, loop, top + 1, results);
  lua_settop(L, top);
}

void map_rows(lua_State *L, int loop_index, int function, double dt) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  int slots = (int)loop->slot_count;
  struct frame frame = {loop_index, function, slots, 0};
  need_stack(L, slots + 8);
  frame.arguments = wanted_arguments(L, function, slots + 2);
  while (loop_next_table(loop)) {
    for (uint32_t row = 0, count = loop->count; row < count; row++) {
      loop->row = row;
      call_row(L, &frame, loop, dt);
    }
  }
}

/* q:map(fn, dt): values in, values out. */
int query_map(lua_State *L) {
  map_check(L, check_query(L, 1)->query);
  return run_form(L, false, map_rows);
}
