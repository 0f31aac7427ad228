/* Lists from outside to which rows append tables that they create, as in list[#list + 1] = { 5 }.
** While the program runs, these are records of a pool (scratch.c); before Lua runs they become
** tables, made as Lua makes them. Nothing else of the list is read. */
#include "front/scratch.h"

/* Which of the function's own lists stands for one from outside. */
static uint32_t append_list(struct front *f, uint32_t which) {
  struct front_classes *shared = &f->shared;
  uint32_t at = 0;
  while (at < shared->list_count && shared->lists[at].outside != which + 1) at++;
  if (at < shared->list_count) return at;
  if (at == FRONT_LISTS) front_refuse(f, "it appends to more than %d lists", FRONT_LISTS);
  shared->lists[shared->list_count++] =
      (struct front_list){.pool = at, .records = true, .outside = which + 1};
  f->wants_cells = true;
  return at;
}

/* The guard of such a list, which must be a table without a metatable. */
static struct guard *append_guard(struct front *f, struct val table, uint32_t list) {
  struct guard *guard = outside_need_guard(f, &f->paths[table.at], GUARD_APPENDED);
  guard->uniform = (int16_t)list;
  guard->stored = true;
  guard->as = (struct stored_as){.grows = true, .appends = true};
  return guard;
}

struct val append_length(struct front *f, uint32_t which, struct val table) {
  uint32_t list = append_list(f, which);
  append_guard(f, table, list);
  struct val length = val_number(f, build_get(f->b, scratch_number(f, list, LIST_SIZE)), false);
  length.bits = MIXED_SMALL;
  return length;
}

/* A table becomes a record; all records of one list are made by one instruction. */
void append_table(struct front *f, uint32_t which, struct val table, k_value at,
                  struct val value) {
  struct builder *b = f->b;
  uint32_t list = append_list(f, which);
  struct front_list *known = &f->shared.lists[list];
  const struct front_made *made = &f->made[value.at];
  struct guard *guard = append_guard(f, table, list);
  bool other = known->place.depth && !scratch_same_place(&known->place, &made->place);
  if (NUMBERS_ARE_DOUBLES || other)
    front_refuse(f, NUMBERS_ARE_DOUBLES
                        ? "it appends a table to a list from outside: not compiled under LuaJIT"
                        : "it appends tables created at two places to one list: use one place");
  if (f->loop_depth)
    front_refuse(f, "it appends a table to a list from outside in a loop: append it after that");
  if (made->names > INT16_MAX || made->items > INT16_MAX)
    front_refuse(f, "it appends a table with more than %d fields to a list from outside",
                 INT16_MAX);
  if (made->varies)
    front_refuse(f, "it appends a table whose fields are set under conditions, or more than once: "
                    "write all of them in its constructor");
  known->place = made->place;
  guard->most = (uint16_t)made->names;
  guard->stride = (uint16_t)made->items;
  build_at(b, f->env.mask, front_tag(f));
  k_value length = scratch_number(f, list, LIST_SIZE);
  k_value next = build_binary(b, KO_ADD, build_get(b, length), build_i64(b, 1));
  build_need(b, build_binary(b, KO_EQ, at, next));
  (void)scratch_record(f, list, maybe_need(f, value));
  build_set(b, length, next);
}

/* ---- running ---- */

/* Pushes a record's value in a column, which may be nil. */
static void append_push(lua_State *L, int anchors, const struct script_cells *script, void *cells,
                        uint32_t at, uint32_t record) {
  const struct list_column *column = &script->list_columns[at];
  const uint8_t *flags = scratch_column_cells(cells, script, KC_BOOL, at);
  const int64_t *integers = scratch_column_cells(cells, script, KC_I64, at);
  const double *numbers = scratch_column_cells(cells, script, KC_F64, at);
  if (column->kind == CELL_NIL || (column->maybe && !flags[COLUMN_THERE * script->room + record])) {
    lua_pushnil(L);
  } else if (column->kind == CELL_BOOL) {
    lua_pushboolean(L, flags[record]);
  } else if (column->text) {
    lua_rawgeti(L, anchors, scratch_text_anchor(at, (uint32_t)integers[record]));
  } else if (column->string) {
    cell_push_text(L, script, integers[record]);
  } else if (column->kind == CELL_INTEGER) {
    lua_pushinteger(L, (lua_Integer)integers[record]);
  } else if (column->kind == CELL_MIXED && flags[COLUMN_WHOLE * script->room + record]) {
    lua_pushinteger(L, (lua_Integer)numbers[record]);
  } else {
    lua_pushnumber(L, (lua_Number)numbers[record]);
  }
}

/* Whether all number keys of the table at an index are within its length. */
static bool append_is_list(lua_State *L, int table) {
  lua_Unsigned length = lua_rawlen(L, table);
  bool more = false;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    bool number = lua_type(L, -2) == LUA_TNUMBER;
    lua_Number key = number ? lua_tonumber(L, -2) : 0;
    more |= number && !(key >= 1 && key <= (lua_Number)length);
  }
  return !more;
}

bool append_read(lua_State *L, int anchors, const struct guard *guard, int64_t *numbers) {
  int top = lua_gettop(L);
  path_push(L, anchors, &guard->path);
  bool fits = lua_istable(L, -1) && !lua_getmetatable(L, -1) && append_is_list(L, top + 1);
  if (fits && numbers) {
    numbers += (ptrdiff_t)guard->uniform * LIST_NUMBERS;
    numbers[LIST_SIZE] = (int64_t)lua_rawlen(L, top + 1);
    numbers[LIST_RECORDS] = 0;
  }
  lua_settop(L, top);
  return fits;
}

uint64_t append_cost(lua_State *L, int anchors, const struct guard *guard) {
  path_push(L, anchors, &guard->path);
  uint64_t cost = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
  lua_pop(L, 1);
  return cost;
}

void append_store(lua_State *L, int anchors, const struct guard *guard,
                  const struct script_cells *script, void *cells) {
  int64_t *numbers = (int64_t *)cells + (ptrdiff_t)guard->uniform * LIST_NUMBERS;
  uint32_t count = (uint32_t)numbers[LIST_RECORDS];
  lua_Integer before = (lua_Integer)numbers[LIST_SIZE] - count;
  path_push(L, anchors, &guard->path);
  for (uint32_t i = 0; i < count; i++) {
    lua_createtable(L, guard->stride, guard->most);
    for (uint32_t at = 0; at < script->columns; at++) {
      const struct list_column *column = &script->list_columns[at];
      if (column->of != guard->uniform || !column->field) continue;
      if (column->position)
        lua_pushinteger(L, column->position);
      else
        lua_rawgeti(L, anchors, scratch_anchor(at));
      append_push(L, anchors, script, cells, at, i);
      if (lua_isnil(L, -1))
        lua_pop(L, 2);
      else
        lua_rawset(L, -3);
    }
    lua_rawseti(L, -2, before + i + 1);
  }
  numbers[LIST_RECORDS] = 0;
  lua_pop(L, 1);
}
