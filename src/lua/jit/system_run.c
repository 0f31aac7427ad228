#include <lauxlib.h>

#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/event.h"
#include "ecs_world.h"
#include "lua/api/api.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/loop/loop.h"

const char on_error_key = 0;

/* ---- messages ---------------------------------------------------------------------- */

/* system_name_error(error, system, entity): prefixes its origin to the error. The core adds the
** system's name itself and gets only the rest. */
static int system_name_error(lua_State *L) {
  const struct system_box *system = lua_touserdata(L, 2);
  ecs_id entity = (ecs_id)lua_tointeger(L, 3);
  lua_settop(L, 1);
  failure_name(L, entity);
  if (system && system->element) failure_name_element(L, system->array_name, system->element);
  const char *text = lua_tostring(L, 1);
  if (system) {
    const struct world_box *box = system->box;
    world_fail(box->world ? box->world : box->doomed, ECS_EUSER, "%s", text);
    lua_pushfstring(L, "%s '%s': %s", system->form == FORM_OBSERVE ? "observer" : "system",
                    system->name, text);
  } else {
    lua_pushfstring(L, "on_error handler: %s", text);
  }
  return 1;
}

/* Prefixes its origin to the error in a slot of the frame. Returns the status; ECS_ENOMEM without
** memory for it. */
static int system_name_kept(lua_State *L, int slot, int status, const struct system_box *system,
                            ecs_id entity) {
  if (status == LUA_ERRMEM) return status;
  lua_pushcfunction(L, system_name_error);
  lua_pushvalue(L, slot);
  lua_pushlightuserdata(L, (void *)(uintptr_t)system);
  lua_pushinteger(L, (lua_Integer)entity);
  if (lua_pcall(L, 3, 1, 0) == LUA_ERRMEM) status = LUA_ERRMEM;
  lua_replace(L, slot);
  return status;
}

static void system_clear_error(lua_State *L) {
  lua_pushnil(L);
  lua_replace(L, FRAME_ERROR);
  lua_pushnil(L);
  lua_replace(L, FRAME_ERROR + FRAME_OBJECT);
}

/* ---- protected calls ---------------------------------------------------------------- */

static lua_State *system_run_state_of(const struct world_box *box) {
  return box->systems->running ? box->systems->running : box->systems->host;
}

/* Calls a body with arguments that have been pushed, and leaves its results on the stack. A failure
** is kept in a slot of the frame. Returns Lua's status. */
static inline int system_run_protect(lua_State *L, int arguments, int results, int slot) {
  int status = lua_pcall(L, arguments, results, FRAME_TRACE);
  if (UNLIKELY(status != LUA_OK)) frame_keep(L, slot, status);
  return status;
}

/* The core's status for a system's error. The error stays in the frame, its text with the system's
** name, until update raises it or the handler has received it. A host, and its handler, get the
** world's message. */
static RARE ecs_status system_status_of(lua_State *L, const struct world_box *box, int status,
                                        const struct system_box *system, ecs_id entity) {
  const ecs_world *world = box->world ? box->world : box->doomed;
  if (system_name_kept(L, FRAME_ERROR, status, system, entity) == LUA_ERRMEM) {
    system_clear_error(L);
    return world_nomem(world);
  }
  if (!box->systems->running && world->schedule->on_error != script_failed) system_clear_error(L);
  return ECS_EUSER;
}

/* Ends a callback of a system. If the world was closed inside it, it is freed now, unless an update
** is still running. */
static inline ecs_status system_run_finish(struct world_box *box, int called,
                                           const struct system_box *system) {
  lua_State *L = system_run_state_of(box);
  ecs_id entity = ECS_NULL;   /* of a row that Lua did; kernels name the entity themselves */
  if (UNLIKELY(called != LUA_OK) && system->query && !system->compiled &&
      (system->form == FORM_EACH || system->form == FORM_MAP))
    entity = failure_row(system->loop);
  if (box->world && UNLIKELY(box->loops->open)) loops_end_system(box, called == LUA_OK);
  ecs_status status = ECS_OK;
  if (UNLIKELY(called != LUA_OK)) status = system_status_of(L, box, called, system, entity);
  world_leave(L, box, FRAME_WORLD);
  return status;
}

/* ---- bodies -------------------------------------------------------------------------- */

static int system_push(lua_State *L, const struct system_box *system, int value) {
  lua_rawgetp(L, BODY_REFS, system);
  int type = lua_getiuservalue(L, -1, value);
  lua_replace(L, -2);
  return type;
}

/* Calls the body of a system. What is pushed for it fits the stack of every C function. */
static inline int run_protected(const struct system_box *system, lua_CFunction body, int results) {
  lua_State *L = system_run_state_of(system->box);
  lua_pushcfunction(L, body);
  lua_pushvalue(L, FRAME_WORLD);
  lua_pushvalue(L, FRAME_REFS);
  lua_pushlightuserdata(L, (void *)(uintptr_t)system);
  return system_run_protect(L, 3, results, FRAME_ERROR);
}

/* Pushes and opens the loop of a system. It is anchored and not visible to Lua, since it is still
** needed after an error; the next run uses it again. */
struct loop_box *system_open_loop(lua_State *L, struct system_box *system, int index, int views) {
  struct loop_box *loop = system->loop;
  assert(lua_gettop(L) == index - 1);
  lua_rawgeti(L, BODY_REFS, system->loop_ref);
  if (!loop || !loop_renew(L, index, loop, views)) {
    lua_settop(L, index - 1);
    system_push(L, system, SYSTEM_QUERY);
    loop = loop_push(L, index, LOOP_SYSTEM, views);
    loop->parameters = system->parameters;
    lua_replace(L, index);
    lua_pushvalue(L, index);
    lua_rawseti(L, BODY_REFS, system->loop_ref);
    system->loop = loop;
  }
  loop_open(L, loop);
  return loop;
}

static void run_loop(lua_State *L, struct system_box *system, rows_fn rows, int views) {
  struct loop_box *loop = system_open_loop(L, system, BODY_FUNCTION + 1, views);
  rows(L, loop, BODY_FUNCTION + 1, BODY_FUNCTION, system->dt);
  loop_end(loop);
}

/* Whether the system's function can be a program now; pushes the handle. */
static bool system_is_ready(lua_State *L, struct system_box *system) {
  system_push(L, system, SYSTEM_KERNEL);
  bool must = system->compile == 1, ready = kernel_ready(L, BODY_FUNCTION + 1, must, false);
  system->compiled = ready && !(system->handle->kernel && system->handle->kernel->refused);
  if (!ready && must)
    raise_error(L, "the function cannot be compiled: %s", lua_tostring(L, -1));
  return ready;
}

/* Runs an `each` or `map` as a program if it can be one now. Without matching rows the report is
** unchanged: nothing is compiled or refused. */
static APART bool run_compiled(lua_State *L, struct system_box *system,
                               struct elements *elements) {
  struct kernel_run how = {.dt = system->dt};
  int handle = BODY_FUNCTION + 1;
  assert(system->handle);
  if (!elements) {
    system_push(L, system, SYSTEM_QUERY);
    check_query(L, handle);
    lua_pop(L, 1);
  }
  bool ready = system_is_ready(L, system);
  if (ready && elements) {
    kernel_run_elements(L, handle, elements);
  } else if (ready) {
    struct loop_box *loop = system_open_loop(L, system, lua_gettop(L) + 1, 0);
    kernel_run(L, handle, loop, &how);
    loop_end(loop);
  }
  lua_settop(L, BODY_FUNCTION);
  return ready;
}

/* Calls the system's function for the current elements of its array. */
static APART void run_over_elements(lua_State *L, struct system_box *system, bool compiles) {
  const struct component *array = component_of(system->box->world, system->array);
  uint32_t length = array ? array->length : 0;
  if (length == 0) raise_error(L, "array '%s' is no longer declared", system->array_name);
  struct elements elements = {system->box, BODY_FUNCTION, system->parameters, length,
                              &system->element, system->dt};
  system->element = 0;
  if (!compiles || !run_compiled(L, system, &elements))
    elements_between(L, &elements, 0, elements.count);
}

/* Runs a `run`, as a program if it can be one now and does not fail. */
static APART void run_whole(lua_State *L, struct system_box *system, bool compiles) {
  bool done = compiles && system_is_ready(L, system) &&
              kernel_run_once(L, BODY_FUNCTION + 1, system->dt);
  lua_settop(L, BODY_FUNCTION);
  if (done) return;
  const struct kernels before = *system->box->kernels;
  lua_pushvalue(L, BODY_WORLD);
  lua_pushnumber(L, (lua_Number)system->dt);
  system_push(L, system, SYSTEM_QUERY);
  lua_call(L, 3, 0);
  uint64_t stepped = system->box->kernels->stepped - before.stepped;
  uint64_t looped = system->box->kernels->looped - before.looped;
  if (stepped + looped == 0) return;
  system->stepped = stepped;
  system->looped = looped;
  if (loops_are_compiled(system)) system->all_stepped += stepped;
}

/* Finds what does not change from run to run. */
static void system_run_begin(lua_State *L, struct system_box *system) {
  int *refs[] = {&system->loop_ref, &system->function_ref, &system->anchors_ref};
  for (int i = 0; i < 3; i++) {
    if (*refs[i]) continue;
    lua_pushboolean(L, 0);
    *refs[i] = luaL_ref(L, BODY_REFS);
  }
  system_push(L, system, SYSTEM_KERNEL);
  if (system->handle) {
    lua_getiuservalue(L, -1, KERNEL_ANCHORS);
    lua_rawseti(L, BODY_REFS, system->anchors_ref);
  }
  lua_pop(L, 1);
  system_push(L, system, SYSTEM_FUNCTION);
  lua_rawgetp(L, BODY_REFS, system);
  uses_push_texts(L, BODY_FUNCTION);
  lua_setiuservalue(L, -2, SYSTEM_TEXTS);
  lua_pop(L, 1);
  system->parameters = function_parameters(L, BODY_FUNCTION);
  lua_rawseti(L, BODY_REFS, system->function_ref);
  system->begun = true;
}

/* Updates the indexes that the system uses. */
static void system_bring_up(lua_State *L, const struct system_box *system) {
  const struct user user = {system->box, BODY_WORLD, BODY_FUNCTION, BODY_FUNCTION + 1,
                            BODY_FUNCTION + 2};
  system_push(L, system, SYSTEM_USES);
  system_push(L, system, SYSTEM_TEXTS);
  uses_each(L, &user, index_bring_up);
  if (!system->box->world) luaL_error(L, "the world is closed");
  lua_settop(L, BODY_FUNCTION);
}

void system_push_function(lua_State *L, struct system_box *system) {
  if (UNLIKELY(!system->begun)) system_run_begin(L, system);
  lua_rawgeti(L, BODY_REFS, system->function_ref);
}

/* body(world, references, system), for each form. */
static int run_body(lua_State *L) {
  struct system_box *system = lua_touserdata(L, BODY_SYSTEM);
  system_push_function(L, system);
  if (UNLIKELY(system->box->world->finding || system->uses)) system_bring_up(L, system);
  /* Not trying a hopeless kernel saves a third of a run over few rows. */
  const struct kernel *kernel = system->handle ? system->handle->kernel : NULL;
  system->hopeless |= system->compile != 1 && kernel && kernel->hopeless;
  bool compiles = system->handle && !system->hopeless;
  if (!compiles) system->compiled = false;
  switch (system->form) {
    case FORM_EACH:
      if (system->array)
        run_over_elements(L, system, compiles);
      else if (!compiles || !run_compiled(L, system, NULL))
        run_loop(L, system, each_rows, system->parameters);
      break;
    case FORM_MAP:
      /* Raises what a map cannot take, in case a tag has become a component. */
      if (UNLIKELY(system->checked != *system->box->version + 1) &&
          map_check(L, system->query->query, true))
        system->checked = *system->box->version + 1;
      if (!compiles || !run_compiled(L, system, NULL)) run_loop(L, system, map_rows, 0);
      break;
    default: run_whole(L, system, compiles); break;
  }
  return 0;
}

/* Whether an `each` or `map` over events or changes has no rows to be called for. For others the
** core has checked that there are rows (needs_rows). */
static RARE bool system_has_no_news(const struct system_box *system) {
  const ecs_query *query = system->query ? system->query->query : NULL;
  if (system->form == FORM_RUN || !query || query->broken) return false;
  if (!query->terms.event) return query->terms.changes && query_is_barren(query);
  const struct events *events = &query->world->events;
  return event_row(query->terms.event->event, events->from) ==
         event_row(query->terms.event->event, events->until);
}

/* Runs an `each` or `map` that needs nothing from Lua except outside values, without a call of Lua,
** which costs more than a few rows. False if the system is not one of these. */
INLINE bool system_use_direct(const struct system_box *system, double dt,
                              bool (*use)(lua_State *L, int anchors,
                                          struct kernel *kernel, double dt)) {
  if (!system->compiled || !system->handle || !system->begun) return false;
  bool of_rows = system->form != FORM_RUN;
  if (of_rows && (system->query ? !system->query->query
                                : !component_of(system->box->world, system->array)))
    return false;
  struct kernel *kernel = system->handle->kernel;
  if (!kernel) return false;
  lua_State *L = system_run_state_of(system->box);
  if (!kernel_reads(kernel)) return use(L, 0, kernel, dt);
  int top = lua_gettop(L);
  if (!lua_checkstack(L, 12)) return false;
  lua_rawgeti(L, FRAME_REFS, system->anchors_ref);
  bool ran = use(L, lua_gettop(L), kernel, dt);
  lua_settop(L, top);
  return ran;
}

bool script_join(const struct system_box *system, double dt) {
  return system_use_direct(system, dt, kernel_join_batch);
}

ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct system_box *system = ud;
  struct world_box *box = system->box;
  (void)query;
  if (!box->world || system_use_direct(system, dt, kernel_run_direct)) return ECS_OK;
  if (UNLIKELY(world->schedule->news) && system_has_no_news(system)) return ECS_OK;
  world_enter(box);
  system->dt = dt;
  return system_run_finish(box, run_protected(system, run_body, 0), system);
}

ecs_status system_call(struct system_box *system, lua_CFunction body) {
  struct world_box *box = system->box;
  if (!box->world) return ECS_OK;
  world_enter(box);
  return system_run_finish(box, run_protected(system, body, 0), system);
}

/* body(world, references, system) */
static int system_when_body(lua_State *L) {
  const struct system_box *system = lua_touserdata(L, BODY_SYSTEM);
  system_push(L, system, SYSTEM_WHEN);
  lua_pushvalue(L, BODY_WORLD);
  lua_call(L, 1, 1);
  return 1;
}

ecs_status script_when(ecs_world *world, void *ud, bool *run) {
  struct system_box *system = ud;
  struct world_box *box = system->box;
  (void)world;
  *run = false;
  system->element = 0;
  if (!box->world) return ECS_OK;
  world_enter(box);
  int called = run_protected(system, system_when_body, 1);
  if (called == LUA_OK) {
    lua_State *L = system_run_state_of(box);
    *run = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return system_run_finish(box, called, system);
}

/* ---- on_error ------------------------------------------------------------------------ */

struct failure {
  const char *system;
  char message[MESSAGE_SIZE];    /* the core's, if no script has raised one */
};

/* body(world, failure, error, object): calls handler(message, system_name) and, for an error
** object, passes its text. */
static int system_handler_body(lua_State *L) {
  const struct failure *failure = lua_touserdata(L, 2);
  bool object = !lua_isnil(L, 4);
  if (lua_isnil(L, 3)) {
    lua_pushstring(L, failure->message);
    lua_replace(L, 3);
  }
  lua_getiuservalue(L, 1, WORLD_REFS);
  lua_rawgetp(L, -1, &on_error_key);
  lua_pushvalue(L, object ? 4 : 3);
  lua_pushstring(L, failure->system);
  if (object) lua_pushvalue(L, 3);
  lua_call(L, object ? 3 : 2, 0);
  return 0;
}

/* The handler's own first error is kept, for update to raise. */
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud) {
  struct world_box *box = ud;
  if (!box->world) return;
  (void)status;
  struct failure failure = {system, ""};
  memcpy(failure.message, ecs_message(world), sizeof failure.message);
  lua_State *L = system_run_state_of(box);
  world_enter(box);
  lua_pushcfunction(L, system_handler_body);
  lua_pushvalue(L, FRAME_WORLD);
  lua_pushlightuserdata(L, &failure);
  lua_pushvalue(L, FRAME_ERROR);
  lua_pushvalue(L, FRAME_ERROR + FRAME_OBJECT);
  bool first = lua_isnil(L, FRAME_HANDLER);
  int called = first ? system_run_protect(L, 4, 0, FRAME_HANDLER) : lua_pcall(L, 4, 0, 0);
  if (called != LUA_OK && first) system_name_kept(L, FRAME_HANDLER, called, NULL, ECS_NULL);
  if (called != LUA_OK && !first) lua_pop(L, 1);
  system_clear_error(L);
  system_run_finish(box, LUA_OK, NULL);
}

struct system_box *system_script(const ecs_system *system) {
  bool ours = system->watch ? system->observe == script_observe : system->run == script_run;
  return ours ? system->ud : NULL;
}

/* ---- system kernel ---- */

bool system_kernel_is_current(const struct kernel *kernel) {
  const struct variant *last = kernel->count ? kernel->variants[0] : NULL;
  return last && last->plan.program && variant_is_current(kernel, last);
}

void system_kernel_push(lua_State *L, int world_index, struct system_box *system) {
  if (system->box != lua_touserdata(L, world_index)) {
    lua_pushnil(L);
    return;
  }
  lua_getiuservalue(L, world_index, WORLD_REFS);
  lua_rawgetp(L, -1, system);
  lua_getiuservalue(L, -1, SYSTEM_KERNEL);
  lua_replace(L, -3);
  lua_pop(L, 1);
  int handle = lua_gettop(L);
  const struct kernel_box *box = lua_touserdata(L, handle);
  if (box && box->kernel && system->compiled && !system_kernel_is_current(box->kernel))
    system->compiled = kernel_ready(L, handle, true, true);
  lua_settop(L, handle);
}

const char *system_kernel_tier(const ecs_system *system) {
  const struct system_box *script = system_script(system);
  if (!script) return "native";
  const struct kernel *kernel = script->handle ? script->handle->kernel : NULL;
  bool compiled = script->compiled && !(kernel && kernel_is_tired(kernel));
  return compiled || loops_are_compiled(script) ? "vector" : "lua";
}

#define STEPPED_PART 16u       /* part of the rows of compiled loops that Lua may do */

bool loops_are_compiled(const struct system_box *system) {
  return system->looped > 0 && system->stepped <= system->looped / STEPPED_PART;
}
