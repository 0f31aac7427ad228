#include "lua/api/api.h"

#include "core/base/text.h"
#include "core/change/transact.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "ecs_observer.h"
#include "ecs_system.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"

static const char *const spec_keys[] = {"phase", "query",   "each", "map",     "run",
                                        "array", "before", "after",  "every", "enabled", "when",
                                        "compile", "uses", "$variable", NULL};

static const char *const observer_keys[] = {"on", "query", "each", "enabled", "$variable", NULL};

/* Indexed by ecs_observed. */
static const char *const observed_kinds[] = {"add",   "set",  "remove",
                                             "enter", "exit", "despawn", NULL};

/* Indices on the stack of world:system and world:observer. */
enum { AT_WORLD = 1, AT_NAME, AT_SPEC, AT_SYSTEM };

/* The arguments of world:system or world:observer, before anything is made from them. */
struct system_draft {
  struct system_box *system;       /* the object at 4 */
  struct query_text query;
  char what[128];                  /* start of messages: system 'move' */
  ecs_system_desc desc;            /* for a system, */
  ecs_observer_desc observed;      /* or for an observer */
};

/* ---- systems that the core releases ---------------------------------------------------- */

/* The core's last call about the system or observer that has this `ud`. The next systems_sweep
** frees its object. */
static void script_free(void *ud) {
  struct system_box *system = ud;
  system->next_gone = system->box->systems->gone;
  system->box->systems->gone = system;
}

void systems_sweep(lua_State *L, struct world_box *box, int world_index) {
  index_keys_sweep(L, box, world_index);
  if (LIKELY(!box->systems->gone)) return;
  lua_getiuservalue(L, world_index, WORLD_REFS);
  while (box->systems->gone) {
    struct system_box *system = box->systems->gone;
    box->systems->gone = system->next_gone;
    if (system->function_ref) luaL_unref(L, -1, system->function_ref);
    if (system->loop_ref) luaL_unref(L, -1, system->loop_ref);
    if (system->anchors_ref) luaL_unref(L, -1, system->anchors_ref);
    lua_pushnil(L);
    lua_rawsetp(L, -2, system);
  }
  lua_pop(L, 1);
}

/* ---- registering ----------------------------------------------------------------------- */

/* Records which of each, map and run the spec has. */
static void system_read_body(lua_State *L, struct system_box *system, const char *what) {
  static const char *const forms[] = {"each", "map", "run"};
  int bodies = 0;
  for (int i = 0; i < 3; i++) {
    int type = option(L, AT_SPEC, forms[i]);
    if (type == LUA_TNIL) {
      lua_pop(L, 1);
      continue;
    }
    if (type != LUA_TFUNCTION) wrong_option(L, what, forms[i], "a function");
    system->form = (enum system_form)i;
    bodies++;
    lua_setiuservalue(L, AT_SYSTEM, SYSTEM_FUNCTION);
  }
  if (bodies != 1)
    raise_error(L, bodies ? "%s: give only one of each, map and run"
                          : "%s: give one of each, map and run", what);
}

/* Makes the query and scans the function. NULL if there is no query. */
static ecs_query *system_prepare(lua_State *L, struct world_box *box, struct system_draft *draft,
                                 bool promises) {
  struct system_box *system = draft->system;
  struct scan scan = {.box = box, .what = draft->what, .form = system->form, .promises = promises,
                      .world = AT_WORLD, .elements = system->array_name};
  if (draft->query.text) {
    system->query = query_push(L, box, AT_WORLD, &draft->query);
    lua_setiuservalue(L, AT_SYSTEM, SYSTEM_QUERY);
    scan.query = system->query->query;
    if (system->form == FORM_MAP) map_check(L, system->query->query, false);
  }
  const char *array = system->array_name;
  if (array && !box->world)
    no_world(L, AT_WORLD);
  else if (array && array_need_name(box->world, array, strlen(array), &system->array) != ECS_OK)
    raise_error(L, "%s: %s", draft->what, box->world->message);
  lua_getiuservalue(L, AT_SYSTEM, SYSTEM_FUNCTION);
  scan_function(L, &scan, lua_gettop(L));
  lua_pop(L, 1);
  return system->query ? system->query->query : NULL;
}

void system_scan(lua_State *L, int world_index, const ecs_system *system, struct scan scan) {
  const struct system_box *script = system_script(system);
  char what[128];
  text_format(what, sizeof what, "%s '%s'", system->watch ? "observer" : "system", system->name);
  scan.what = what;
  scan.box = script->box;
  scan.form = script->form;
  scan.query = script->query ? script->query->query : NULL;
  scan.elements = script->array_name;
  int top = lua_gettop(L);
  need_stack(L, 4);
  lua_getiuservalue(L, world_index, WORLD_REFS);
  lua_rawgetp(L, -1, script);
  lua_getiuservalue(L, -1, SYSTEM_FUNCTION);
  scan_function(L, &scan, top + 3);
  lua_settop(L, top);
}

/* Makes the kernel of a function that may be compiled. Returns its stack index; 0: none. */
static int system_make_kernel(lua_State *L, struct world_box *box, struct system_box *system) {
  bool once = system->form == FORM_RUN;
  if (system->compile == 0 || !box->kernels->on) return 0;
  if (!system->query && !system->array && !once) return 0;
  struct use use = {once ? "run" : "each", RESULT_NONE, false};
  if (system->form == FORM_MAP) use = (struct use){"map", RESULT_MAP, false};
  int top = lua_gettop(L);
  lua_getiuservalue(L, AT_SYSTEM, SYSTEM_FUNCTION);
  lua_getiuservalue(L, AT_SYSTEM, once ? SYSTEM_ARRAY : SYSTEM_QUERY);
  kernel_push(L, box, AT_WORLD, top + 1, top + 2, use);
  system->handle = lua_touserdata(L, top + 3);
  system->handle->kernel->array = system->array;
  system->handle->kernel->once = once;
  system->handle->kernel->strict = system->compile == 1;
  lua_pushvalue(L, top + 3);
  lua_setiuservalue(L, AT_SYSTEM, SYSTEM_KERNEL);
  return top + 3;
}

static void system_read_observer(lua_State *L, struct system_draft *draft) {
  const char *on = text_option(L, AT_SPEC, draft->what, "on");
  int kind = 0;
  while (observed_kinds[kind] && !(on && strcmp(on, observed_kinds[kind]) == 0)) kind++;
  if (!observed_kinds[kind]) {
    char got[128];
    text_format(got, sizeof got, "%s%s%s", on ? "\"" : "", on ? on : "nothing", on ? "\"" : "");
    raise_error(L, "%s: option 'on' must be \"add\", \"set\", \"remove\", \"enter\", \"exit\" or "
                "\"despawn\", got %s", draft->what, got);
  }
  draft->system->form = FORM_OBSERVE;
  draft->observed.on = (ecs_observed)kind;
  if (option(L, AT_SPEC, "each") != LUA_TFUNCTION)
    wrong_option(L, draft->what, "each", "a function");
  lua_setiuservalue(L, AT_SYSTEM, SYSTEM_FUNCTION);
  draft->observed.disabled = !boolean_option(L, AT_SPEC, draft->what, "enabled", true);
}

static void system_read_options(lua_State *L, struct system_draft *draft) {
  const char *what = draft->what;
  struct system_box *system = draft->system;
  ecs_system_desc *desc = &draft->desc;
  system_read_body(L, system, what);
  desc->disabled = !boolean_option(L, AT_SPEC, what, "enabled", true);
  int given = option(L, AT_SPEC, "compile");
  lua_pop(L, 1);
  bool compile = boolean_option(L, AT_SPEC, what, "compile", false);
  system->compile = compile ? 1 : given == LUA_TNIL ? -1 : 0;
  int type = option(L, AT_SPEC, "when");
  if (type != LUA_TNIL && type != LUA_TFUNCTION) wrong_option(L, what, "when", "a function");
  if (type != LUA_TNIL) desc->when = script_when;
  lua_setiuservalue(L, AT_SYSTEM, SYSTEM_WHEN);
  uses_option(L, AT_SPEC, what);
  system->uses = lua_istable(L, -1);
  lua_setiuservalue(L, AT_SYSTEM, SYSTEM_USES);
  lua_settop(L, AT_SYSTEM);
  /* The array whose elements are the system's rows, if it has one. */
  system->array_name = text_option(L, AT_SPEC, what, "array");
  lua_setiuservalue(L, AT_SYSTEM, SYSTEM_ARRAY);
  if (system->array_name && system->form != FORM_EACH)
    raise_error(L, "%s: option 'array' works only with 'each'", what);
  bool queries = system->array_name && option(L, AT_SPEC, "query") != LUA_TNIL;
  if (queries)
    raise_error(L, "%s: give a query or an array, not both: its rows are entities or elements of "
                "'%s'", what, system->array_name);
  desc->phase = text_option(L, AT_SPEC, what, "phase");
  desc->every = seconds_option(L, AT_SPEC, what, "every");
  desc->before = names_option(L, AT_SPEC, what, "before");
  desc->after = names_option(L, AT_SPEC, what, "after");
}

/* Reads the name and the options; owner may be NULL. Raises errors; pushes what the draft needs. */
static void system_read_draft(lua_State *L, struct world_box *box, struct system_draft *draft,
                              bool observes, const char *owner) {
  const char *name = check_text(L, AT_NAME, NULL);
  text_format(draft->what, sizeof draft->what, "%s '%s'", observes ? "observer" : "system", name);
  need_stack(L, 20);
  check_keys(L, AT_SPEC, draft->what, observes ? observer_keys : spec_keys);
  draft->system = lua_newuserdatauv(L, sizeof *draft->system, SYSTEM_VALUES);
  *draft->system = (struct system_box){.box = box, .name = name};
  lua_pushvalue(L, AT_NAME);
  lua_setiuservalue(L, AT_SYSTEM, SYSTEM_NAME);
  draft->desc = (ecs_system_desc){.name = name, .owner = owner};
  draft->observed = (ecs_observer_desc){.name = name, .owner = owner};
  (observes ? system_read_observer : system_read_options)(L, draft);
  /* The query and its variables stay on the stack; all forms need a query, except `run`. */
  enum system_form form = draft->system->form;
  draft->query = (struct query_text){.text = text_option(L, AT_SPEC, draft->what, "query")};
  if (!draft->query.text && form != FORM_RUN && !draft->system->array_name)
    raise_error(L, "%s: give a query%s", draft->what,
                form == FORM_OBSERVE ? "" : " with each or map");
  variables_of_options(L, box, AT_SPEC, true, draft->what, &draft->query);
  if (draft->query.count && !draft->query.text)
    raise_error(L, "%s: $%s is given, but there is no query", draft->what,
                draft->query.variables[0].name);
}

/* Anchors the object at 4, or releases it. */
static void system_anchor(lua_State *L, bool on) {
  const struct system_box *system = lua_touserdata(L, AT_SYSTEM);
  system->box->systems->doubtful = 2;
  lua_getiuservalue(L, AT_WORLD, WORLD_REFS);
  if (on)
    lua_pushvalue(L, AT_SYSTEM);
  else
    lua_pushnil(L);
  lua_rawsetp(L, -2, system);
  lua_pop(L, 1);
}

/* The last step before the core call: anchors the object, and sets the callbacks. */
static void system_give(lua_State *L, const struct world_box *box, struct system_draft *draft,
                        ecs_query *query) {
  struct system_box *system = draft->system;
  system_anchor(L, true);
  if (!box->world) no_world(L, AT_WORLD);
  draft->desc.reads = draft->observed.watches = query;
  draft->desc.needs_rows = query && system->form != FORM_RUN;
  draft->desc.run = script_run;
  draft->observed.run = script_observe;
  draft->desc.free = draft->observed.free = script_free;
  draft->desc.ud = draft->observed.ud = system;
}

/* Raises the core's refusal of the object at 4, if it was refused. */
static void system_registered(lua_State *L, const struct world_box *box, ecs_status status) {
  if (status == ECS_OK) return;
  if (box->world) system_anchor(L, false);
  raise_status(L, box->world, status);
}

/* With compile = false, a write to something read-only is found when it runs; in a live script it
** is refused at once. The types do not exist yet: systems_compile follows the swap. */
int system_in_swap(lua_State *L) {
  struct world_box *box = lua_touserdata(L, AT_WORLD);
  const struct registration *entry = lua_touserdata(L, AT_SYSTEM);
  bool observes = entry->kind == REGISTERED_OBSERVER;
  struct system_draft draft;
  lua_settop(L, AT_SPEC);
  system_read_draft(L, box, &draft, observes, entry->owner);
  ecs_query *query = system_prepare(L, box, &draft, true);
  if (observes)
    frame_need_host(L, box, AT_WORLD);
  else
    system_make_kernel(L, box, draft.system);
  system_give(L, box, &draft, query);
  ecs_system *made = NULL;
  ecs_status status = observes ? schedule_build_observer(box->world, &draft.observed, &made)
                               : schedule_build(box->world, &draft.desc, &made);
  if (made) transaction_system(&box->stage->transaction, made, entry->place);
  system_registered(L, box, status);
  return 0;
}

/* (world): compiles what has not been tried; a refused function is tried again when it runs. */
static int system_compile_untried(lua_State *L) {
  struct world_box *box = lua_touserdata(L, 1);
  const struct schedule *schedule = box->world->schedule;
  lua_getiuservalue(L, 1, WORLD_REFS);
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    struct system_box *system = system_script(schedule->systems[i]);
    if (!system || system->box != box) continue;
    lua_settop(L, 2);
    lua_rawgetp(L, 2, system);
    if (lua_getiuservalue(L, 3, SYSTEM_KERNEL) == LUA_TNIL) continue;
    const struct kernel_box *handle = lua_touserdata(L, 4);
    if (handle->kernel->runs == 0) system->compiled = kernel_ready(L, 4, true, true);
  }
  return 0;
}

void systems_compile(lua_State *L, int world_index) {
  struct world_box *box = lua_touserdata(L, world_index);
  lua_pushvalue(L, world_index);
  /* If there is not enough memory, the first run compiles. */
  if (try_quietly(L, box, system_compile_untried, 1, 0) != LUA_OK) lua_pop(L, 1);
}

/* While scripts are read, only checks whether the options are valid. */
static int system_register(lua_State *L, bool observes) {
  struct world_box *box = check_world(L, AT_WORLD);
  check_text(L, AT_NAME, NULL);
  luaL_checktype(L, AT_SPEC, LUA_TTABLE);
  lua_settop(L, AT_SPEC);
  struct system_draft draft;
  system_read_draft(L, box, &draft, observes, NULL);
  if (box->stage) {
    stage_options(L, box, observes ? REGISTERED_OBSERVER : REGISTERED_SYSTEM);
    return 0;
  }
  struct system_box *system = draft.system;
  ecs_query *query = system_prepare(L, box, &draft, observes || system->compile != 0);
  if (observes) frame_need_host(L, box, AT_WORLD);
  /* Compiles ahead of the first run what the present tables allow. */
  int kernel = observes ? 0 : system_make_kernel(L, box, system);
  system->compiled = kernel && kernel_ready(L, kernel, true, true);
  if (kernel && !system->compiled && system->compile == 1)
    raise_error(L, "%s cannot be compiled: %s", draft.what, lua_tostring(L, -1));
  if (kernel && !system->compiled && system->handle->kernel->breaks_promise)
    raise_error(L, "%s: %s", draft.what, lua_tostring(L, -1));
  system_give(L, box, &draft, query);
  ecs_status status;
  RETRY(L, box, status, observes ? ecs_observer_new(box->world, &draft.observed)
                                 : ecs_system_new(box->world, &draft.desc));
  system_registered(L, box, status);
  systems_sweep(L, box, AT_WORLD);
  return settle(L, box, AT_WORLD);
}

/* world:system(name, options) */
static int world_system(lua_State *L) { return system_register(L, false); }

/* world:observer(name, { on =, query =, each =, enabled = }) */
static int world_observer(lua_State *L) { return system_register(L, true); }

/* ---- observers that may wait in vain ------------------------------------------------------ */

/* Finds observers with on = "set" that have never been called and may be waiting for a component
** that the views of a scanned system write. */
static void system_doubt(lua_State *L, const struct scan *scan, const struct component *root) {
  const struct schedule *schedule = scan->box->world->schedule;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *observer = schedule->systems[i];
    const struct watch *watch = observer->watch;
    bool waits = watch && watch->kind == WATCH_SET && observer->enabled && !observer->runs;
    if (waits && watch->query->terms.terms[0].id == root->id)
      warn_later(L, scan->box, 3, "observer '%s' is called when world:set or a spawn gives '%s' a "
                 "value, not when %s writes to its view: let it call world:set", observer->name,
                 root->name, scan->what);
  }
}

void observers_doubt(lua_State *L, const struct world_box *box) {
  /* After each of them, a finalizer may have closed the world. */
  for (uint32_t i = 0; box->world && box->world->watching->sets; i++) {
    if (i >= box->world->schedule->system_count) return;
    const ecs_system *system = box->world->schedule->systems[i];
    const struct system_box *script = system_script(system);
    if (script && script->box == box && script->form == FORM_EACH && system->runs)
      system_scan(L, 1, system, (struct scan){.world = 1, .stored = system_doubt});
  }
}

/* ---- by name ----------------------------------------------------------------------------- */

static int world_remove_system(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  const char *name = check_text(L, 2, NULL);
  RETRY_OR_BLAME(L, box, 2, ecs_system_remove(box->world, name));
  systems_sweep(L, box, 1);
  return settle(L, box, 1);
}

/* world:switch(name, on): for systems and phases. */
static int system_world_switch(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  const char *name = check_text(L, 2, NULL);
  luaL_checktype(L, 3, LUA_TBOOLEAN);
  RETRY_OR_BLAME(L, box, 2, ecs_switch(box->world, name, lua_toboolean(L, 3)));
  return 0;
}

/* world:on_error(handler); nil removes the handler. */
static int system_world_on_error(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  bool on = lua_type(L, 2) != LUA_TNIL;
  luaL_checkany(L, 2);
  if (on) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_getiuservalue(L, 1, WORLD_REFS);
  lua_pushvalue(L, 2);
  lua_rawsetp(L, -2, &on_error_key);
  ecs_on_error(box->world, on ? script_failed : NULL, box);
  return 0;
}

const luaL_Reg world_system_methods[] = {
  {"explain", world_explain},
  {"observer", world_observer},
  {"on_error", system_world_on_error},
  {"remove_system", world_remove_system},
  {"switch", system_world_switch},
  {"system", world_system},
  {NULL, NULL}
};
