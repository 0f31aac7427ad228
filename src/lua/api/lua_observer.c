#include "lua/api/api.h"

#include "core/base/text.h"
#include "core/change/transact.h"
#include "core/command/watch.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "ecs_observer.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"

/* ---- registering ----------------------------------------------------------------------- */

static const char *const spec_keys[] = {"on", "query", "each", "enabled", "$variable", NULL};

/* By ecs_observed. */
static const char *const kinds[] = {"add", "set", "remove", "enter", "exit", "despawn", NULL};

/* Indices on the stack of world:observer. */
enum { AT_WORLD = 1, AT_NAME, AT_SPEC, AT_OBSERVER };

struct observer_draft {
  struct script_draft script;
  ecs_observer_desc desc;
};

static ecs_observed observer_read_kind(lua_State *L, const char *what) {
  const char *on = text_option(L, AT_SPEC, what, "on");
  for (int i = 0; on && kinds[i]; i++)
    if (strcmp(on, kinds[i]) == 0) return (ecs_observed)i;
  char got[128];
  text_format(got, sizeof got, "%s%s%s", on ? "\"" : "", on ? on : "nothing", on ? "\"" : "");
  raise_error(L, "%s: option 'on' must be \"add\", \"set\", \"remove\", \"enter\", \"exit\" or "
              "\"despawn\", got %s", what, got);
  return ECS_ON_ADD;
}

/* Reads the name and the options; owner may be NULL. Raises errors; pushes what the draft needs. */
static void observer_read_draft(lua_State *L, struct world_box *box, struct observer_draft *draft,
                                const char *owner) {
  const char *name = script_begin(L, box, &draft->script, "observer", spec_keys);
  const char *what = draft->script.what;
  draft->script.system->form = FORM_OBSERVE;
  draft->desc = (ecs_observer_desc){.name = name, .owner = owner};
  draft->desc.on = observer_read_kind(L, what);
  if (option(L, AT_SPEC, "each") != LUA_TFUNCTION) wrong_option(L, what, "each", "a function");
  lua_setiuservalue(L, AT_OBSERVER, SYSTEM_FUNCTION);
  draft->desc.disabled = !boolean_option(L, AT_SPEC, what, "enabled", true);
  script_read_query(L, box, &draft->script);
}

/* Makes the query, scans the function and anchors the object: the core is next. */
static void observer_prepare(lua_State *L, struct world_box *box, struct observer_draft *draft) {
  draft->desc.watches = script_prepare(L, box, &draft->script, true);
  frame_need_host(L, box, AT_WORLD);
  script_anchor(L, box);
  draft->desc.run = script_observe;
  draft->desc.free = script_free;
  draft->desc.ud = draft->script.system;
}

int observer_in_swap(lua_State *L) {
  struct world_box *box = lua_touserdata(L, AT_WORLD);
  const struct registration *entry = lua_touserdata(L, AT_OBSERVER);
  struct observer_draft draft;
  lua_settop(L, AT_SPEC);
  observer_read_draft(L, box, &draft, entry->owner);
  observer_prepare(L, box, &draft);
  ecs_system *made = NULL;
  ecs_status status = schedule_build_observer(box->world, &draft.desc, &made);
  if (made) transaction_system(&box->stage->transaction, made, entry->place);
  system_registered(L, box, status);
  return 0;
}

/* world:observer(name, { on =, query =, each =, enabled = }) */
static int world_observer(lua_State *L) {
  struct world_box *box = check_world(L, AT_WORLD);
  check_text(L, AT_NAME, NULL);
  luaL_checktype(L, AT_SPEC, LUA_TTABLE);
  lua_settop(L, AT_SPEC);
  struct observer_draft draft;
  observer_read_draft(L, box, &draft, NULL);
  if (box->stage) {
    stage_options(L, box, REGISTERED_OBSERVER);
    return 0;
  }
  observer_prepare(L, box, &draft);
  ecs_status status;
  RETRY(L, box, status, ecs_observer_new(box->world, &draft.desc));
  system_registered(L, box, status);
  systems_sweep(L, box, AT_WORLD);
  return settle(L, box, AT_WORLD);
}

/* Finds observers with on = "set" that nothing has called so far and that may wait for a component
** which a scanned system's views write. */
static void observer_doubt(lua_State *L, const struct scan *scan, const struct component *root) {
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
  /* After each, a finalizer may close the world. */
  for (uint32_t i = 0; box->world && box->world->watching->sets; i++) {
    if (i >= box->world->schedule->system_count) return;
    const ecs_system *system = box->world->schedule->systems[i];
    const struct system_box *script = system_script(system);
    if (script && script->box == box && script->form == FORM_EACH && system->runs)
      system_scan(L, 1, system, (struct scan){.world = 1, .stored = observer_doubt});
  }
}

const luaL_Reg world_observer_methods[] = {
  {"observer", world_observer},
  {NULL, NULL}
};
