#include "lua/loop/loop.h"

#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/jit/kernel.h"
#include "lua/loop/view.h"

/* Pushes the arguments for the match that the loop shows; its views follow the loop on the
** stack. */
static void observe_push_match(lua_State *L, int loop_index, const struct loop_box *loop,
                               const struct ecs_sight *sight, int arguments) {
  int slots = (int)loop->slot_count;
  for (int i = 0; i < slots && i < arguments; i++) {
    const struct slot *slot = &loop->slots[i];
    if (LIKELY(slot->view && slot->present))
      lua_pushvalue(L, loop_index + 1 + i);
    else
      slot_push(L, loop_index, loop, slot, loop->row);
  }
  if (arguments > slots) lua_pushinteger(L, (lua_Integer)sight->entity);
  for (int i = slots + 1; i < arguments; i++) {
    ecs_id value = sight_value(sight, (uint32_t)(i - slots - 1));
    if (value == ECS_NULL)
      lua_pushnil(L);
    else
      lua_pushinteger(L, (lua_Integer)value);
  }
}

/* Shows the observer's current match. If each row of a table matches once, the observer's loop
** moves to the row; otherwise the loop gets the cells from there on, as row 0. */
static void observe_show(struct loop_box *loop, const struct ecs_sight *sight) {
  const struct query_terms *terms = &loop->query->query->terms;
  bool by_table = terms->plain && !sight->places;
  loop->copied = sight->places != NULL;
  loop->table = by_table ? sight->walk.table : NULL;
  loop->row = by_table ? sight->walk.row : 0;
  loop->step++;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE) continue;
    struct slot *slot = &loop->slots[term->slot];
    struct sight_cells cells = sight_find(sight, term);
    slot->present = cells.there;
    slot->table = cells.table;
    slot->columns = cells.columns;
    slot->first = by_table ? 0 : cells.row;
    if (slot->view) {
      view_bind(slot->view, cells.table, cells.columns, slot->first);
      slot->view->read_only = slot->read_only || loop->copied;
    } else if (slot->leaf) {
      slot->data = cells.columns ? column_at(cells.columns, slot->first) : NULL;
    }
  }
}

/* body(world, references, system) */
static int observe_call(lua_State *L) {
  struct system_box *system = lua_touserdata(L, BODY_SYSTEM);
  struct ecs_sight *sight = system->sight;
  system_push_function(L, system);
  int index = BODY_FUNCTION + 1;
  struct loop_box *loop = system_open_loop(L, system, index, system->parameters);
  loop->asking = true;
  loop->table = NULL;
  int arguments = wanted_arguments(L, BODY_FUNCTION, loop), slots = (int)loop->slot_count;
  need_stack(L, slots + arguments + 8);
  for (int i = 0; i < slots && i < arguments; i++)
    lua_getiuservalue(L, index, LOOP_VALUES + 1 + i);
  while (sight_next(sight)) {
    /* For the next row of the same table only this is needed: a quarter of a call. */
    if (LIKELY(loop->table) && LIKELY(loop->table == sight->walk.table))
      loop->row = sight->walk.row;
    else
      observe_show(loop, sight);
    lua_pushvalue(L, BODY_FUNCTION);
    observe_push_match(L, index, loop, sight, arguments);
    lua_call(L, arguments, 0);
    loop_be_innermost(L, index, loop);
    if (UNLIKELY(!loop->open)) loop_gone(L, loop);
  }
  loop_end(loop);
  return 0;
}

/* ---- the callback and the way in --------------------------------------------------------- */

/* Of several failures, the first stays in the frame and is raised. */
ecs_status script_observe(ecs_world *world, struct ecs_sight *sight, void *ud) {
  struct system_box *system = ud;
  struct systems *systems = system->box->systems;
  lua_State *L = systems->running ? systems->running : systems->host;
  (void)world;
  if (!system->box->world) return ECS_OK;
  bool failed = !lua_isnil(L, FRAME_ERROR);
  if (failed) lua_pushvalue(L, FRAME_ERROR);
  if (failed) lua_pushvalue(L, FRAME_ERROR + FRAME_OBJECT);
  system->sight = sight;
  ecs_status status = system_call(system, observe_call);
  system->sight = NULL;
  if (failed) lua_replace(L, FRAME_ERROR + FRAME_OBJECT);
  if (failed) lua_replace(L, FRAME_ERROR);
  return status;
}

static ecs_status observe_run_observers(ecs_world *world, const void *ud) {
  (void)ud;
  return observers_run(world);
}

/* (world) */
static int observe_in_frame(lua_State *L) {
  lua_settop(L, FRAME_SIZE);
  run_in_frame(L, lua_touserdata(L, FRAME_WORLD), observe_run_observers, NULL);
  return 0;
}

void observe(lua_State *L, struct world_box *box, int world_index) {
  if (staging_is_open(&box->world->staging) || box->world->watching->due == 0) return;
  need_stack(L, 4);
  lua_pushcfunction(L, observe_in_frame);
  lua_pushvalue(L, world_index);
  lua_call(L, 1, 0);
}
