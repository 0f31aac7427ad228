#include <lauxlib.h>

#include "lua/loop/loop.h"

#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/index/refresh.h"
#include "core/storage/component.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/loop/view.h"

const char kind_found = 0, kind_held = 0;

/* ---- whether a loop is open ---------------------------------------------------------- */

static bool index_loop_is_open(const struct found_box *found) {
  const struct world_box *box = found->box;
  return !found->ended && box->world && found->moment == box->world->moment &&
         found->version == *box->version;
}

static int no_loop(lua_State *L, const struct found_box *found) {
  if (!found->box->world) return luaL_error(L, "stale view: the world is closed");
  if (found->ended || found->moment != found->box->world->moment)
    return luaL_error(L, "stale view: its loop has ended");
  return luaL_error(L, "stale view: components have changed since its loop began");
}

void found_end(struct found_box *found) {
  bool held = found->head.kind == &kind_held;
  if (held && index_loop_is_open(found)) edition_release(found->box->world, found->edition);
  found->ended = true;
  found->row = NONE;
}

/* ---- views ----------------------------------------------------------------------------- */

static bool index_loop_shows_row(const struct found_box *found, const struct view_box *view) {
  return found->row != NONE && copies_have(found->copies, view->slot, found->row);
}

uint32_t found_row(lua_State *L, const struct view_box *view) {
  const struct found_box *found = view->found;
  if (UNLIKELY(!index_loop_is_open(found) || found->row == NONE)) no_loop(L, found);
  if (UNLIKELY(!index_loop_shows_row(found, view)))
    raise_error(L, "the current entity has no '%s'", view->component->name);
  return found->row;
}

bool found_is_open(const struct view_box *view) {
  return index_loop_is_open(view->found) && index_loop_shows_row(view->found, view);
}

int found_refuse_write(lua_State *L, const struct view_box *view) {
  return raise_error(L, "an index yields a read-only copy: write to the entity with "
                     "world:set(entity, \"%s\", ...)", view->component->name);
}

/* Makes the view of a slot that yields a whole component, for the loop at an index. False if a
** finalizer ran. */
static bool index_loop_make_view(lua_State *L, int loop, struct found_box *found, uint32_t slot) {
  const struct copies *copies = found->copies;
  const struct copy_column *columns = &copies->columns[copies->slots[slot].first];
  const struct component *component = component_of(found->box->world, columns->component);
  struct view_box *view;
  lua_getiuservalue(L, loop, FOUND_WORLD);
  if (!view_push(L, found->box, lua_gettop(L), component, NULL, loop, &view)) return false;
  view->found = found;
  view->slot = slot;
  view->read_only = true;
  view->own_row = ROW_FOUND;
  for (uint32_t i = 0; i < component->leaf_count; i++) view->data[i] = columns[i].cells.data;
  lua_setiuservalue(L, loop, FOUND_VALUES + 1 + (int)slot);
  lua_pop(L, 1);
  return true;
}

/* ---- rows ------------------------------------------------------------------------------ */

static void index_loop_push_single(lua_State *L, const struct found_box *found,
                                   const struct copy_column *column) {
  const void *data = column->cells.data;
  if (LIKELY(push_number_at(L, column->type, data, found->row))) return;
  const struct component *component = component_of(found->box->world, column->component);
  const struct leaf *leaf = &component->leaves[column->leaf];
  push_cell(L, found->box, 0, component, leaf, cell_load(data, column->size, found->row));
}

void found_push_row(lua_State *L, int loop, struct found_box *found, uint32_t row) {
  uint32_t slots = found->copies->slot_count;
  if (UNLIKELY(slots > LUA_MINSTACK - 6)) need_stack(L, (int)slots + 6);
  for (uint32_t i = 0; !found->begun && i < slots; i++) {
    const struct copy_slot *slot = &found->copies->slots[i];
    if (!slot->count || slot->single) continue;
    if (!index_loop_make_view(L, loop, found, i) || !index_loop_is_open(found)) no_loop(L, found);
  }
  found->begun = true;
  found->row = row;
  ecs_id entity = copies_entities(found->copies)[row];
  for (uint32_t i = 0; i < slots; i++) {
    const struct copies *copies = found->copies;
    const struct copy_slot *slot = &copies->slots[i];
    if (!copies_have(copies, i, found->row))
      lua_pushnil(L);
    else if (slot->count == 0)
      lua_pushboolean(L, 1);
    else if (slot->single)
      index_loop_push_single(L, found, &copies->columns[slot->first]);
    else
      lua_getiuservalue(L, loop, FOUND_VALUES + 1 + (int)i);
    if (UNLIKELY(!index_loop_is_open(found))) no_loop(L, found);
  }
  lua_pushinteger(L, (lua_Integer)entity);
}

/* The loop of either kind at 1; NULL if there is none. */
static struct found_box *index_loop_test_found(lua_State *L) {
  struct found_box *found = box_test(L, 1, &kind_found, sizeof *found);
  return found ? found : box_test(L, 1, &kind_held, sizeof *found);
}

/* loop(): the views and values of the next row, and its entity. An absent value is false, as in
** every `for`. */
static int index_loop_found_next(lua_State *L) {
  struct found_box *found = index_loop_test_found(L);
  if (UNLIKELY(!found)) return luaL_typeerror(L, 1, "loop over an index");
  if (UNLIKELY(!index_loop_is_open(found))) {
    if (found->ended) return 0;
    return luaL_error(L, "the loop has ended: update, run, load, restore and changes to "
                      "components or indexes end it");
  }
  uint32_t row = edition_next(&found->search);
  if (row == NONE) {
    found_end(found);
    return 0;
  }
  lua_settop(L, 1);
  found_push_row(L, 1, found, row);
  int given = lua_gettop(L) - 1;
  for (int i = 2; i <= given; i++) {
    if (LIKELY(!lua_isnil(L, i))) continue;
    lua_pushboolean(L, 0);
    lua_replace(L, i);
  }
  return given;
}

static void index_loop_begin_again(lua_State *L) {
  luaL_error(L, "a finalizer used the index or changed the world: begin the loop again");
}

struct found_box *found_push(lua_State *L, struct world_box *box, const struct copies *copies,
                             bool holds) {
  const ecs_world *world = box->world;
  uint64_t moment = world->moment, version = *box->version;
  int slots = (int)copies->slot_count;
  struct found_box *found = new_box(L, holds ? &kind_held : &kind_found, sizeof *found,
                                    FOUND_VALUES + slots);
  found->ended = true;
  found->row = NONE;
  found->box = box;
  if (box->world != world || world->moment != moment || *box->version != version)
    index_loop_begin_again(L);
  lua_getiuservalue(L, 1, 1);
  lua_setiuservalue(L, -2, FOUND_WORLD);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, FOUND_INDEX);
  found->copies = copies;
  found->moment = moment;
  found->version = version;
  return found;
}

int found_begin(lua_State *L, struct world_box *box, struct ecs_index *index,
                const struct ecs_search *search) {
  bool holds = !box->world->running;
  uint64_t times = index->times;
  struct found_box *found = found_push(L, box, &index->now->copies, holds);
  if (index->times != times) index_loop_begin_again(L);
  found->edition = holds ? edition_hold(index) : index->now;
  found->search = *search;
  found->ended = false;
  lua_pushnil(L);
  lua_pushnil(L);
  lua_pushvalue(L, -3);
  return 4;
}

static int index_loop_found_close(lua_State *L) {
  struct found_box *found = index_loop_test_found(L);
  if (found) found_end(found);
  return 0;
}

const luaL_Reg found_metamethods[] = {{"__call", index_loop_found_next},
                                      {"__close", index_loop_found_close},
                                      LOOP_REFUSALS,
                                      {NULL, NULL}};

const luaL_Reg held_metamethods[] = {{"__call", index_loop_found_next},
                                     {"__close", index_loop_found_close},
                                     {"__gc", index_loop_found_close},
                                     LOOP_REFUSALS,
                                     {NULL, NULL}};
