#include <lauxlib.h>

#include "core/base/column.h"
#include "core/base/types.h"
#include "core/query/query.h"
#include "core/storage/marks.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

const char kind_chunk = 0;

/* Raises an error unless the loop is open and still at that step. */
static void step_check(lua_State *L, const struct loop_box *loop, uint32_t step) {
  if (LIKELY(loop->open && loop->step == step)) return;
  if (!loop->box->world) luaL_error(L, "stale chunk: the world is closed");
  luaL_error(L, loop->open ? "stale chunk: its loop has moved on"
                           : "stale chunk: its loop has ended");
}

static struct chunk_box *check_chunk(lua_State *L, int arg) {
  struct chunk_box *chunk = box_test(L, arg, &kind_chunk, sizeof *chunk);
  if (!chunk) luaL_typeerror(L, arg, "chunk");
  step_check(L, chunk->loop, chunk->step);
  return chunk;
}

/* Pushes a column without data yet, for the loop of the chunk at an index. */
static struct column_box *chunk_push_column(lua_State *L, int index,
                                            const struct chunk_box *chunk) {
  struct column_box *column = new_box(L, &kind_column, sizeof *column, 1);
  lua_getiuservalue(L, index, CHUNK_LOOP);
  lua_setiuservalue(L, -2, CHUNK_LOOP);
  column->loop = chunk->loop;
  column->step = chunk->step;
  step_check(L, chunk->loop, chunk->step);
  return column;
}

/* ---- chunk:column(name) ----------------------------------------------------------- */

/* The slot that yields a field of a component, or an error. */
static const struct slot *chunk_find_slot(lua_State *L, const struct loop_box *loop,
                                          const struct component *component, uint32_t leaf) {
  for (uint32_t i = 0; i < loop->slot_count; i++) {
    const struct slot *slot = &loop->slots[i];
    if (slot->component != component || slot->tag) continue;
    if (!slot->leaf || slot->leaf_at == leaf) return slot;
  }
  const ecs_query *query = loop->query->query;
  const char *name = component->name, *field = component->leaves[leaf].name;
  for (uint32_t i = 0; i < query->terms.count; i++)
    if (query->terms.terms[i].id == component->id && query->terms.terms[i].filters)
      raise_error(L, "the query '%s' asks for '%s' without its values: leave out 'with' to use "
                  "'%s.%s'", query->text, name, name, field);
  raise_error(L, "the query '%s' has no term for '%s.%s'", query->text, name, field);
  return NULL;
}

/* The column of a field, or of a component with a single field; nil if the chunk's entities do not
** have it. */
static int chunk_column(lua_State *L) {
  struct chunk_box *chunk = check_chunk(L, 1);
  struct loop_box *loop = chunk->loop;
  uint32_t leaf;
  const struct component *component = check_component_leaf(L, loop->box, 2, &leaf);
  if (component->leaf_count == 0)
    raise_error(L, "'%s' is a tag and has no columns", component->name);
  if (leaf == NONE && component->leaf_count > 1)
    raise_error(L, "'%s' has several columns: name one, as in '%s.%s'", component->name,
                component->name, component->leaves[0].name);
  if (leaf == NONE) leaf = 0;
  const struct slot *slot = chunk_find_slot(L, loop, component, leaf);
  if (!slot->present) {
    lua_pushnil(L);
    return 1;
  }
  struct column_box *column = chunk_push_column(L, 1, chunk);
  column->component = component;
  column->leaf = &component->leaves[leaf];
  column->leaf_at = leaf;
  column->data = column_at(&slot->columns[slot->leaf ? 0 : leaf], slot->first);
  column->table = slot->table;
  column->first = slot->first;
  column->id = slot->columns->id;
  column->read_only = slot->read_only || leaf_is_target(component, leaf);
  return 1;
}

/* Whether the chunk's entities have a component or tag, named in the query or not. */
static int chunk_has(lua_State *L) {
  const struct chunk_box *chunk = check_chunk(L, 1);
  const struct loop_box *loop = chunk->loop;
  const struct component *component = check_component(L, loop->box, 2);
  const struct sparse *sparse = component->sparse;
  bool has = sparse || table_has(loop->table, component->id);
  for (uint32_t i = 0; sparse && has && i < loop->count; i++)
    has = sparse_row(sparse, loop->rows[i]) != NONE;
  lua_pushboolean(L, has);
  return 1;
}

/* ---- chunk.n, chunk.entities ------------------------------------------------------- */

static int chunk_index(lua_State *L) {
  struct chunk_box *chunk = check_chunk(L, 1);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  char text[64];
  if (strcmp(key, "n") == 0) {
    lua_pushinteger(L, (lua_Integer)chunk->loop->count);
  } else if (strcmp(key, "entities") == 0) {
    if (lua_getiuservalue(L, 1, CHUNK_ENTITIES) != LUA_TNIL) return 1;
    chunk_push_column(L, 1, chunk)->read_only = true;
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, CHUNK_ENTITIES);
  } else if (!push_method(L, chunk_methods, 2)) {
    luaL_error(L, "a chunk has n, entities, column and has, not %s",
               show_value(L, 2, text, sizeof text));
  }
  return 1;
}

static int chunk_newindex(lua_State *L) {
  return luaL_error(L, "a chunk is read-only: write to its columns");
}

static int chunk_tostring(lua_State *L) {
  const struct chunk_box *chunk = box_test(L, 1, &kind_chunk, sizeof *chunk);
  if (!chunk) return luaL_typeerror(L, 1, "chunk");
  if (chunk->loop->open && chunk->loop->step == chunk->step)
    lua_pushfstring(L, "ecs.chunk (%d rows of table %d)", (int)chunk->loop->count,
                    (int)chunk->loop->table->index);
  else
    lua_pushliteral(L, "ecs.chunk (stale)");
  return 1;
}

/* ---- for chunk in q:chunks() -------------------------------------------------------- */

static int chunks_next(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, lua_upvalueindex(1));
  if (!loop->open) return loop->done ? 0 : loop_gone(L, loop);
  loop_be_innermost(L, lua_upvalueindex(1), loop);
  struct chunk_box *chunk = new_box_of(L, &kind_chunk, sizeof *chunk, CHUNK_VALUES,
                                       lua_upvalueindex(1));
  chunk->loop = loop;
  if (!loop->open) return loop_gone(L, loop);
  if (!loop_next_piece(L, lua_upvalueindex(1), loop)) {
    loop->done = true;
    loop_commit(L, lua_upvalueindex(1), loop);
    return 0;
  }
  chunk->step = loop->step;
  return 1;
}

int query_chunks(lua_State *L) {
  check_entities(L, 1);
  return loop_begin(L, source_loop(L, 2, true, 0), chunks_next);
}

const luaL_Reg chunk_methods[] = {{"column", chunk_column}, {"has", chunk_has}, {NULL, NULL}};

const luaL_Reg chunk_metamethods[] = {
  {"__index", chunk_index},
  {"__newindex", chunk_newindex},
  {"__tostring", chunk_tostring},
  {NULL, NULL}
};

/* ---- column ---- */

const char kind_column = 0;

/* The column at an argument, if its chunk is the current one, or an error. */
static struct column_box *chunk_check_column(lua_State *L, int arg) {
  struct column_box *column = box_test(L, arg, &kind_column, sizeof *column);
  if (!column) luaL_typeerror(L, arg, "column");
  step_check(L, column->loop, column->step);
  return column;
}

static int chunk_push_world(lua_State *L, int index) {
  lua_getiuservalue(L, index, CHUNK_LOOP);
  lua_getiuservalue(L, -1, LOOP_WORLD);
  lua_replace(L, -2);
  return lua_gettop(L);
}

/* Pushing anything except a number may run finalizers. */
static void chunk_push_row(lua_State *L, int index, const struct column_box *column,
                           uint32_t row) {
  if (!column->leaf) {
    lua_pushinteger(L, (lua_Integer)loop_entity(column->loop, row));
    return;
  }
  if (LIKELY(push_number_at(L, column->leaf->type, column->data, row))) return;
  ecs_cell cell = cell_load(column->data, column->leaf->size, row);
  int world_index = chunk_push_world(L, index);
  push_cell(L, column->loop->box, world_index, column->component, column->leaf, cell);
  lua_remove(L, world_index);
}

static void chunk_check_writable(lua_State *L, const struct column_box *column) {
  if (!column->leaf)
    luaL_error(L, "the entities of a chunk are read-only");
  else if (leaf_is_target(column->component, column->leaf_at))
    refuse_target(L, column->component);
  else if (column->read_only)
    raise_error(L, "field '%s.%s' is read-only in the query '%s'", column->component->name,
                column->leaf->name, column->loop->query->query->text);
}

/* A row's number from 0; NONE for a number that is not one. */
static uint32_t chunk_check_row(lua_State *L, const struct column_box *column, int index) {
  lua_Integer at;
  if (!read_whole(L, index, &at)) {
    char text[64];
    luaL_error(L, "a column takes a number from 1 to %d, got %s", (int)column->loop->count,
               show_value(L, index, text, sizeof text));
  }
  return at >= 1 && at <= column->loop->count ? (uint32_t)(at - 1) : NONE;
}

static int chunk_column_index(lua_State *L) {
  struct column_box *column = chunk_check_column(L, 1);
  if (push_method(L, column_methods, 2)) return 1;
  uint32_t row = chunk_check_row(L, column, 2);
  if (row == NONE)
    lua_pushnil(L);
  else
    chunk_push_row(L, 1, column, row);
  return 1;
}

/* A cell from the value at a stack index. A string may run finalizers. */
static ecs_cell chunk_column_to_cell(lua_State *L, const struct column_box *column, int world_index,
                                     int index) {
  ecs_cell cell;
  if (LIKELY(number_to_cell(L, column->leaf->type, index, &cell))) return cell;
  value_to_cell(L, column->loop->box, world_index, column->component, column->leaf_at, index,
                &cell);
  step_check(L, column->loop, column->step);
  return cell;
}

/* Marks rows of the chunk that have been given values. */
static void chunk_column_note(const struct column_box *column, uint32_t row, uint32_t count) {
  if (UNLIKELY(column->table->mark_count))
    marks_note_rows(column->loop->box->world, column->table, column->id, column->first + row,
                    count);
}

static int chunk_column_newindex(lua_State *L) {
  struct column_box *column = chunk_check_column(L, 1);
  chunk_check_writable(L, column);
  uint32_t row = chunk_check_row(L, column, 2);
  if (row == NONE) {
    char text[64];
    return luaL_error(L, "the chunk has rows 1 to %d, got a value for %s",
                      (int)column->loop->count, show_value(L, 2, text, sizeof text));
  }
  if (LIKELY(store_number_at(L, column->leaf->type, 3, column->data, row))) {
    chunk_column_note(column, row, 1);
    return 0;
  }
  struct world_box *box = column->loop->box;
  box->calls++;
  values_begin(box);
  int world_index = chunk_push_world(L, 1);
  ecs_cell cell = chunk_column_to_cell(L, column, world_index, 3);
  store_cell_at(box->any.slots, column->leaf, column->data, row, cell);
  chunk_column_note(column, row, 1);
  cells_stored(L, box, world_index);
  return 0;
}

static int chunk_column_length(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)chunk_check_column(L, 1)->loop->count);
  return 1;
}

/* column:read(into): copies all rows into a list by raw access, and removes what follows them
** there; `into` is optional. */
static int chunk_column_read(lua_State *L) {
  struct column_box *column = chunk_check_column(L, 1);
  lua_settop(L, 2);
  bool given = !lua_isnil(L, 2);
  if (!given) {
    lua_createtable(L, (int)column->loop->count, 0);
    lua_replace(L, 2);
    step_check(L, column->loop, column->step);
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  uint32_t count = column->loop->count;
  for (uint32_t row = 0; row < count; row++) {
    chunk_push_row(L, 1, column, row);
    lua_rawseti(L, 2, (lua_Integer)row + 1);
    step_check(L, column->loop, column->step);
  }
  if (given) list_clear_tail(L, column->leaf ? column->leaf->type : ECS_ENTITY, count);
  return 1;
}

/* Pushes value i of the list at 2. */
static void chunk_push_value(lua_State *L, const struct column_box *column, lua_Unsigned i) {
  if (lua_rawgeti(L, 2, (lua_Integer)i) == LUA_TNIL && column->leaf->type != ECS_ANY)
    luaL_error(L, "bad argument #1 to 'write' (no value at %d)", (int)i);
}

/* Writes numbers, which need no memory: checks all of them first. */
static void chunk_column_write_numbers(lua_State *L, const struct column_box *column,
                                       int world_index, lua_Unsigned count) {
  for (lua_Unsigned i = 1; i <= count; i++, lua_pop(L, 1)) {
    chunk_push_value(L, column, i);
    chunk_column_to_cell(L, column, world_index, -1);
  }
  for (lua_Unsigned i = 1; i <= count; i++, lua_pop(L, 1)) {
    lua_rawgeti(L, 2, (lua_Integer)i);
    bool stored = store_number_at(L, column->leaf->type, -1, column->data, (uint32_t)(i - 1));
    assert(stored);
    (void)stored;
  }
}

/* Writes other values: first converts all of them to cells. */
static void chunk_column_write_cells(lua_State *L, const struct column_box *column, int world_index,
                                     lua_Unsigned count) {
  struct world_box *box = column->loop->box;
  ecs_cell *cells = lua_newuserdatauv(L, (size_t)count * sizeof *cells, 0);
  step_check(L, column->loop, column->step);
  values_begin(box);
  for (lua_Unsigned i = 1; i <= count; i++, lua_pop(L, 1)) {
    chunk_push_value(L, column, i);
    cells[i - 1] = chunk_column_to_cell(L, column, world_index, -1);
  }
  for (lua_Unsigned i = 0; i < count; i++)
    store_cell_at(box->any.slots, column->leaf, column->data, (uint32_t)i, cells[i]);
}

/* column:write(from): sets the first rows from a list by raw access: all of them or, if a value
** does not fit, none. */
static int chunk_column_write(lua_State *L) {
  struct column_box *column = chunk_check_column(L, 1);
  chunk_check_writable(L, column);
  lua_settop(L, 2);
  struct world_box *box = column->loop->box;
  bool holes = column->leaf->type == ECS_ANY;
  lua_Unsigned count = check_list(L, 2, column->loop->count, "rows", holes);
  box->calls++;
  values_begin(box);
  int world_index = chunk_push_world(L, 1);
  if (type_is_number(column->leaf->type))
    chunk_column_write_numbers(L, column, world_index, count);
  else
    chunk_column_write_cells(L, column, world_index, count);
  chunk_column_note(column, 0, (uint32_t)count);
  cells_stored(L, box, world_index);
  return 0;
}

static int chunk_column_tostring(lua_State *L) {
  const struct column_box *column = box_test(L, 1, &kind_column, sizeof *column);
  if (!column) return luaL_typeerror(L, 1, "column");
  if (!column->loop->open || column->loop->step != column->step)
    lua_pushliteral(L, "ecs.column (stale)");
  else if (!column->leaf)
    lua_pushliteral(L, "ecs.column (entities)");
  else
    lua_pushfstring(L, "ecs.column (%s.%s)", column->component->name, column->leaf->name);
  return 1;
}

const luaL_Reg column_methods[] = {
  {"read", chunk_column_read},
  {"write", chunk_column_write},
  {NULL, NULL}
};

const luaL_Reg column_metamethods[] = {
  {"__index", chunk_column_index},
  {"__len", chunk_column_length},
  {"__newindex", chunk_column_newindex},
  {"__tostring", chunk_column_tostring},
  {NULL, NULL}
};
