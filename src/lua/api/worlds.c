#include <lauxlib.h>
#include <string.h>

#include "core/ids/world.h"
#include "core/image/snapshot.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "ecs_system.h"
#include "ecs_world.h"
#include "lua/api/api.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/loop/loop.h"

static const char tags_key, worlds_key, objects_key;

/* The number of open worlds for each tag. Made when the module is opened, so that its finalizer
** runs after those of all worlds. */
struct tags {
  uint32_t last;
  uint32_t worlds[256];
  bool closing;
};

static struct tags *worlds_get_tags(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tags_key);
  struct tags *tags = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return tags;
}

static ecs_status worlds_disown_nothing(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_OK;
}

static ecs_status worlds_observe_nothing(ecs_world *world, ecs_sight *sight, void *ud) {
  (void)world, (void)sight, (void)ud;
  return ECS_OK;
}

/* Makes the core do without the object of a system of this state (NULL: of any). */
static void worlds_disown_system(ecs_system *system, const struct world_box *box) {
  const struct system_box *script = system_script(system);
  if (!script || (box && script->box != box)) return;
  system->run = worlds_disown_nothing;
  if (system->watch) system->observe = worlds_observe_nothing;
  system->when = NULL;
  system->free = NULL;
  system->ud = NULL;
}

static void worlds_detach_systems(ecs_world *world, const struct world_box *box) {
  const struct schedule *schedule = world->schedule;
  for (ecs_system *gone = schedule->gone; gone; gone = gone->next_gone)
    worlds_disown_system(gone, box);
  for (uint32_t i = 0; i < schedule->system_count; i++)
    worlds_disown_system(schedule->systems[i], box);
}

/* Frees a world whose object is gone: nothing may call back into it. */
static void worlds_free_orphan(lua_State *L, ecs_world *world) {
  worlds_get_tags(L)->worlds[ecs_world_tag(world)]--;
  worlds_detach_systems(world, NULL);
  indexes_disown(world, NULL);
  ecs_world_free(world);
}

/* The module's last finalizer, when the state ends. */
static int worlds_close_all(lua_State *L) {
  worlds_get_tags(L)->closing = true;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  int objects = lua_gettop(L) - 1, worlds = objects + 1;
  for (lua_pushnil(L); lua_next(L, worlds); lua_settop(L, worlds + 1)) {
    ecs_world *world = lua_touserdata(L, -1);
    if (lua_rawgetp(L, objects, lua_touserdata(L, -2)) == LUA_TUSERDATA)
      world_finalize(L, lua_gettop(L));
    else if (world)
      worlds_free_orphan(L, world);
  }
  return 0;
}

/* The finalizer is set last, when nothing can fail any more. */
void worlds_open(lua_State *L) {
  bool known = lua_rawgetp(L, LUA_REGISTRYINDEX, &tags_key) != LUA_TNIL;
  lua_pop(L, 1);
  if (known) return;
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &worlds_key);
  new_weak_table(L, "v");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, worlds_close_all);
  lua_setfield(L, -2, "__gc");
  struct tags *tags = lua_newuserdatauv(L, sizeof *tags, 0);
  memset(tags, 0, sizeof *tags);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tags_key);
  lua_insert(L, -2);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

uint32_t worlds_next_tag(lua_State *L) {
  struct tags *tags = worlds_get_tags(L);
  uint32_t tag = tags->last;
  for (int i = 0; i < 256; i++) {
    tag = tag % 255 + 1;
    if (tags->worlds[tag] == 0) break;
  }
  tags->last = tag;
  return tag;
}

/* First frees the world of a lost object that had the same address. */
void worlds_reserve(lua_State *L, struct world_box *box, int index) {
  if (worlds_get_tags(L)->closing) luaL_error(L, "the Lua state is being closed");
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  lua_rawgetp(L, -1, box);
  ecs_world *orphan = lua_touserdata(L, -1);
  if (orphan) worlds_free_orphan(L, orphan);
  lua_pushboolean(L, 0);
  lua_rawsetp(L, -3, box);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_pushvalue(L, index);
  lua_rawsetp(L, -2, box);
  lua_pop(L, 3);
}

/* Makes no object, since the key exists. */
void worlds_add(lua_State *L, const struct world_box *box) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  if (!box->lent) {
    lua_pushlightuserdata(L, box->world);
    lua_rawsetp(L, -2, box);
  }
  lua_pop(L, 1);
  worlds_get_tags(L)->worlds[ecs_world_tag(box->world)]++;
}

void worlds_remove(lua_State *L, const struct world_box *box, const ecs_world *world) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  if (lua_rawgetp(L, -1, box) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawsetp(L, -3, box);
  }
  lua_pop(L, 2);
  worlds_get_tags(L)->worlds[ecs_world_tag(world)]--;
}

void worlds_retag(lua_State *L, const struct world_box *box, uint32_t from) {
  struct tags *tags = worlds_get_tags(L);
  tags->worlds[from]--;
  tags->worlds[ecs_world_tag(box->world)]++;
}

/* Letting go of a world that a host has lent: this Lua state leaves nothing in it. */

/* ---- any values --------------------------------------------------------------------------- */

struct clearing {
  struct any_slots *any;
  const struct any_owner *owner;
};

static bool worlds_disown_clear(const struct cells *cells, void *ud) {
  const struct clearing *clearing = ud;
  uint32_t *slots = cells->data;
  for (uint32_t i = 0; i < cells->count; i++) {
    if (!any_is_of(clearing->any, slots[i], clearing->owner)) continue;
    any_release(clearing->any, slots[i]);
    slots[i] = 0;
  }
  return true;
}

/* ---- loops -------------------------------------------------------------------------------- */

static ecs_status worlds_end_loops(void *ud) { return loops_end(ud); }

static void worlds_end_system(void *ud, bool keep) { loops_end_system(ud, keep); }

/* A native system has raised an error through the update that a script had called. */
static void worlds_disown_abandon(void *ud) {
  struct world_box *box = ud;
  box->systems->running = NULL;
  box->depth = 0;
}

void world_own_loops(struct world_box *box) {
  struct staging *staging = &box->world->staging;
  struct loop_owner *owner = box->loops->owner;
  *owner = (struct loop_owner){staging->loop_owners,  worlds_end_loops, worlds_end_system,
                               worlds_disown_abandon, words_reserve,    box};
  staging->loop_owners = owner;
}

const char lent_worlds_key = 0;

void world_disown(lua_State *L, struct world_box *box, ecs_world *world) {
  struct schedule *schedule = world->schedule;
  worlds_detach_systems(world, box);
  for (uint32_t i = schedule->system_count; i-- > 0;)
    if (schedule->systems[i]->run == worlds_disown_nothing)
      ecs_system_remove(world, schedule->systems[i]->name);
  if (schedule->on_error == script_failed && schedule->on_error_ud == box)
    ecs_on_error(world, NULL, NULL);
  indexes_disown(world, box);
  struct loop_owner **at = &world->staging.loop_owners;
  while (*at && *at != box->loops->owner) at = &(*at)->next;
  if (*at) *at = box->loops->owner->next;
  queries_free(box, world);
  snapshots_free_of(world, box);
  /* Cells also lose the values that this state has put into them, even cells that a host's defer
  ** still holds. The values go with the world's object. */
  struct clearing clearing = {&world->any, &box->any.owner};
  cells_each(world, ECS_ANY, CELLS_STORED | CELLS_STAGED, worlds_disown_clear, &clearing);
  while (any_next_released(&world->any, &box->any.owner)) continue;
  box->systems->gone = NULL;
  box->systems->gone_keys = NULL;
  box->systems->host = NULL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &lent_worlds_key) == LUA_TTABLE) {
    lua_pushnil(L);
    lua_rawsetp(L, -2, world);
  }
  lua_pop(L, 1);
}

/* ---- apart ---- */

/* Pushes a term roughly as the query writes it. */
static void worlds_push_term(lua_State *L, const struct term *term) {
  const char *name = term->component->name;
  switch (term->form) {
    case TERM_PATH: {
      bool by_field = term->through_leaf != NONE && term->through->leaf_count;
      const char *field = by_field ? term->through->leaves[term->through_leaf].name : "";
      lua_pushfstring(L, "%s%s%s%s->%s", term->through->name, by_field ? "." : "", field,
                      term->nearest ? "*" : "", name);
      break;
    }
    case TERM_PAIR: lua_pushfstring(L, "(%s, ...)", name); break;
    case TERM_OF: lua_pushfstring(L, "%s($...)", name); break;
    default: lua_pushstring(L, name); break;
  }
}

void apart_push(lua_State *L, const char *why, const ecs_query *query) {
  const struct query_terms *terms = query && !query->broken ? &query->terms : NULL;
  lua_pushstring(L, why);
  if (!terms || !terms_walk(terms) || !strstr(why, "are not contiguous")) return;
  if (terms->event) {
    lua_pushfstring(L, "%s: '%s' is an event", why, terms->event->name);
  } else {
    const struct term *term = &terms->terms[terms->steps[0]];
    worlds_push_term(L, term);
    lua_pushfstring(L, "%s: '%s' is %s", why, lua_tostring(L, -1),
                    term->form == TERM_SPARSE ? "a sparse component" : "decided row by row");
    lua_remove(L, -2);
  }
  lua_remove(L, -2);
}
