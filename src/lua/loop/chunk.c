#include "lua/loop/chunk.h"

#include "core/storage/sparse.h"
#include "core/storage/layout.h"
#include "core/query/term.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/status.h"
#include "lua/loop/column.h"
#include "lua/loop/loop.h"
#include "lua/loop/loop_box.h"
#include "lua/api/lua_query.h"
#include "lua/loop/where.h"

const char kind_chunk = 0;

void step_check(lua_State *L, const struct loop_box *loop, uint32_t step) {
  if (LIKELY(loop->open && loop->step == step)) return;
  if (!loop->box->world) luaL_error(L, "stale chunk: the world is closed");
  luaL_error(L, loop->open ? "stale chunk: its loop has gone on"
                           : "stale chunk: its loop has ended");
}

static struct chunk_box *check_chunk(lua_State *L, int arg) {
  struct chunk_box *chunk = box_test(L, arg, &kind_chunk, sizeof *chunk);
  if (!chunk) luaL_typeerror(L, arg, "chunk");
  step_check(L, chunk->loop, chunk->step);
  return chunk;
}

/* A column without its data, over the loop of the chunk at an index. */
static struct column_box *push_column(lua_State *L, int index,
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

/* Whether the query names a component only `with` it. */
static bool only_filters(const struct query_terms *terms, const struct component *component) {
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].id == component->id && terms->terms[i].filters) return true;
  return false;
}

/* The slot that a field of a component is given by, or an error. */
static const struct slot *find_slot(lua_State *L, const struct loop_box *loop,
                                    const struct component *component, uint32_t leaf) {
  for (uint32_t i = 0; i < loop->slot_count; i++) {
    const struct slot *slot = &loop->slots[i];
    if (slot->component != component || slot->tag) continue;
    if (!slot->leaf || slot->leaf_at == leaf) return slot;
  }
  const ecs_query *query = loop->query->query;
  const char *name = component->name, *field = component->leaves[leaf].name;
  if (only_filters(&query->terms, component))
    raise_error(L, "the query '%s' asks for '%s' but gives nothing of it: leave out 'with' to "
                "have '%s.%s'", query->text, name, name, field);
  raise_error(L, "the query '%s' has no term for '%s.%s'", query->text, name, field);
  return NULL;
}

/* The leaf that argument 2 names; a component of one leaf may stand for it. */
static const struct component *check_leaf(lua_State *L, struct world_box *box,
                                          uint32_t *leaf) {
  const struct component *component = check_component_leaf(L, box, 2, leaf);
  if (*leaf != NONE) return component;
  if (component->leaf_count == 0)
    raise_error(L, "'%s' is a tag: it has no columns", component->name);
  if (component->leaf_count > 1)
    raise_error(L, "'%s' has several columns: name one, as in '%s.%s'", component->name,
                component->name, component->leaves[0].name);
  *leaf = 0;
  return component;
}

/* The column of a field; nil when the chunk's entities lack it. */
static int chunk_column(lua_State *L) {
  struct chunk_box *chunk = check_chunk(L, 1);
  struct loop_box *loop = chunk->loop;
  uint32_t leaf;
  const struct component *component = check_leaf(L, loop->box, &leaf);
  const struct slot *slot = find_slot(L, loop, component, leaf);
  if (!slot->present) {
    lua_pushnil(L);
    return 1;
  }
  struct column_box *column = push_column(L, 1, chunk);
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

/* Whether all of them have a sparse component. */
static bool all_have(const struct loop_box *loop, const struct sparse *sparse) {
  for (uint32_t i = 0; i < loop->count; i++)
    if (sparse_row(sparse, loop->rows[i]) == NONE) return false;
  return true;
}

/* Whether the chunk's entities have a component or tag, named in the query or not. */
static int chunk_has(lua_State *L) {
  const struct chunk_box *chunk = check_chunk(L, 1);
  const struct component *component = check_component(L, chunk->loop->box, 2);
  bool has = component->sparse ? all_have(chunk->loop, component->sparse)
                               : table_has(chunk->loop->table, component->id);
  lua_pushboolean(L, has);
  return 1;
}

/* ---- chunk.n, chunk.entities ------------------------------------------------------- */

static void push_entities(lua_State *L, const struct chunk_box *chunk) {
  if (lua_getiuservalue(L, 1, CHUNK_ENTITIES) != LUA_TNIL) return;
  lua_pop(L, 1);
  struct column_box *column = push_column(L, 1, chunk);
  column->read_only = true;
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, 1, CHUNK_ENTITIES);
}

static int chunk_index(lua_State *L) {
  struct chunk_box *chunk = check_chunk(L, 1);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  char text[64];
  if (strcmp(key, "n") == 0)
    lua_pushinteger(L, (lua_Integer)chunk->loop->count);
  else if (strcmp(key, "entities") == 0)
    push_entities(L, chunk);
  else if (strcmp(key, "column") == 0)
    lua_pushcfunction(L, chunk_column);
  else if (strcmp(key, "has") == 0)
    lua_pushcfunction(L, chunk_has);
  else
    luaL_error(L, "a chunk has n, entities, column and has, not %s",
               show_value(L, 2, text, sizeof text));
  return 1;
}

static int chunk_newindex(lua_State *L) {
  return luaL_error(L, "a chunk is read only: write to its columns");
}

static int chunk_tostring(lua_State *L) {
  const struct chunk_box *chunk = box_test(L, 1, &kind_chunk, sizeof *chunk);
  if (!chunk) return luaL_typeerror(L, 1, "chunk");
  if (chunk->loop->open && chunk->loop->step == chunk->step)
    lua_pushfstring(L, "ecs.chunk (%d rows)", (int)chunk->loop->count);
  else
    lua_pushliteral(L, "ecs.chunk (stale)");
  return 1;
}

/* ---- for chunk in q:chunks() -------------------------------------------------------- */

static int chunks_next(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, lua_upvalueindex(1));
  if (!loop->open) return loop->done ? 0 : loop_gone(L, loop);
  struct chunk_box *chunk = new_box(L, &kind_chunk, sizeof *chunk, CHUNK_VALUES);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_setiuservalue(L, -2, CHUNK_LOOP);
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
