#include <stdlib.h>

#include "lua/api/api.h"

#include "core/base/pool.h"
#include "core/base/text.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/schedule/parallel.h"
#include "ecs_entity.h"
#include "ecs_world.h"
#include "kernel/program.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/bind/version.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"

/* ---- making and closing ---------------------------------------------------------- */

/* The userdata of a world: its object and the data of the binding's files. */
struct world_object {
  struct world_box box;
  struct scratch scratch;    /* of a lent world, as others use their own */
  struct loops loops;
  struct loop_owner owner;
  struct systems systems;
  struct kernels kernels;
};

struct world_box *new_world_box(lua_State *L) {
  struct world_object *whole = new_box(L, &kind_world, sizeof *whole, WORLD_VALUES);
  whole->loops.owner = &whole->owner;
  whole->box.scratch = &whole->scratch;
  whole->box.loops = &whole->loops;
  whole->box.systems = &whole->systems;
  whole->box.kernels = &whole->kernels;
  struct world_box *box = &whole->box;
  push_main_thread(L);
  box->main = lua_tothread(L, -1);
  lua_pop(L, 1);
  names_attach(L, box);
  for (int i = 1; i <= WORLD_VALUES; i++) {
    lua_newtable(L);
    lua_setiuservalue(L, -2, i);
  }
  const char *kernels = getenv("ECS_KERNELS");
  box->kernels->on = !kernels || strcmp(kernels, "0") != 0;
  box->kernels->ordered = kernels && strcmp(kernels, "ordered") == 0;
  const char *isa = getenv("ECS_ISA");
  int named = isa ? isa_named(isa) : -1;
  box->kernels->isa = named >= 0 && isa_supported((k_isa)named) ? named : (int)isa_best();
  worlds_reserve(L, box, -1);
  return box;
}

void world_attach(lua_State *L, struct world_box *box, ecs_world *world, bool lent) {
  box->world = world;
  box->lent = lent;
  box->memory = &world->memory;
  box->bytes = &world->memory.bytes;
  box->chance = &world->chance;
  box->tick = &world->tick;
  box->changes = &world->watching->change_count;
  box->observe = observe;
  box->entities = &world->entities;
  box->strings = &world->strings;
  box->version = &world->registry.version;
  box->any.slots = &world->any;
  if (!lent) box->scratch = &world->binding;
  beside_know(world, &script_companions);
  world_own_loops(box);
  worlds_add(L, box);
  weights_attach(L, box, lent ? ecs_bytes(world) : 0);
}

/* Frees a world that is already closed to Lua, and what it keeps alive. */
static void world_let_go(lua_State *L, struct world_box *box, int world_index,
                         ecs_world *world) {
  if (box->lent)
    world_disown(L, box, world);
  else
    ecs_world_free(world);
  for (int i = 1; i <= WORLD_VALUES; i++) {
    lua_pushnil(L);
    lua_setiuservalue(L, world_index, i);
  }
}

static void world_shut(lua_State *L, struct world_box *box, int world_index) {
  ecs_world *world = box->world;
  box->calls++;
  stage_drop(box);
  loops_end_system(box, box->lent);
  box->loops->ended = NULL;    /* their anchors go with the world */
  kernels_free(box);
  drop_pending(box);
  scratch_free(box->memory, box->scratch);
  weights_leave(box);
  worlds_remove(L, box, world);
  box->world = NULL;
  if (box->depth > 0)
    box->doomed = world;
  else
    world_let_go(L, box, world_index, world);
}

void world_free_doomed(lua_State *L, struct world_box *box, int world_index) {
  assert(box->depth == 0 && box->doomed);
  ecs_world *world = box->doomed;
  box->doomed = NULL;
  world_let_go(L, box, world_index, world);
}

/* ---- ecs.world ------------------------------------------------------------------- */

#define MOST_THREADS 64

/* Raises an error that says what the option must be; its value is at the top of the stack. */
static int world_refuse_option(lua_State *L, const char *rule) {
  char got[128];
  return raise_error(L, "option %s, got %s", rule, show_value(L, -1, got, sizeof got));
}

/* Parses "3", or "3!" for tests, where threads share even the least work; 0 if it is neither. */
static uint32_t world_threads_of_text(const char *text, bool *eager) {
  char *end = NULL;
  unsigned long threads = strtoul(text, &end, 10);
  *eager = *end == '!';
  bool sound = threads >= 1 && threads <= MOST_THREADS && end[*eager] == '\0';
  return sound ? (uint32_t)threads : 0;
}

void world_environment_check(lua_State *L) {
  const char *isa = getenv("ECS_ISA"), *kernels = getenv("ECS_KERNELS");
  const char *threads = getenv("ECS_THREADS");
  if (isa && *isa && isa_named(isa) < 0)
    luaL_error(L, "the environment variable ECS_ISA is '%s'; it must be %s, %s or %s", isa,
               isa_name(K_BASE), isa_name(K_AVX2), isa_name(K_AVX512));
  bool known = !kernels || !*kernels || strcmp(kernels, "0") == 0 || strcmp(kernels, "1") == 0;
  if (!known && strcmp(kernels, "ordered") != 0)
    luaL_error(L, "the environment variable ECS_KERNELS is '%s'; it must be 0 (kernels off), 1 "
                  "(on) or 'ordered' (on, one row at a time)", kernels);
  bool eager;
  if (threads && *threads && world_threads_of_text(threads, &eager) == 0)
    luaL_error(L, "the environment variable ECS_THREADS is '%s'; it must be an integer from 1 to "
               "%d", threads, MOST_THREADS);
}

static uint32_t world_threads_option(lua_State *L, bool *eager) {
  lua_Integer threads;
  char rule[64];
  *eager = false;
  text_format(rule, sizeof rule, "'threads' must be an integer from 1 to %d", MOST_THREADS);
  if (!read_whole(L, -1, &threads) && lua_type(L, -1) == LUA_TSTRING)
    threads = world_threads_of_text(lua_tostring(L, -1), eager);
  if (threads < 1 || threads > MOST_THREADS || (lua_type(L, -1) == LUA_TSTRING && !*eager))
    world_refuse_option(L, rule);
  return (uint32_t)threads;
}

/* Reads { tag =, seed =, kernels =, threads =, memory = } at stack index 1. */
static void world_read_options(lua_State *L, struct world_box *box, ecs_world_desc *desc,
                               bool *eager) {
  if (lua_isnoneornil(L, 1)) return;
  luaL_checktype(L, 1, LUA_TTABLE);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    char text[128];
    lua_Integer number;
    bool whole = read_whole(L, -1, &number);
    if (strcmp(key, "tag") == 0) {
      desc->tag = (uint32_t)number;
      if (number < 1 || number > 255)
        world_refuse_option(L, "'tag' must be an integer from 1 to 255");
    } else if (strcmp(key, "seed") == 0) {
      desc->seed = (uint64_t)number;
      if (!whole || integer_is_wide(number, false))
        world_refuse_option(L, NUMBERS_ARE_DOUBLES ? "'seed' must be an integer up to 2^53"
                                                   : "'seed' must be an integer");
    } else if (strcmp(key, "kernels") == 0) {
      box->kernels->on &= lua_toboolean(L, -1) != 0;
      if (!lua_isboolean(L, -1)) world_refuse_option(L, "'kernels' must be a boolean");
    } else if (strcmp(key, "threads") == 0) {
      desc->threads = world_threads_option(L, eager);
    } else if (strcmp(key, "memory") == 0) {
      desc->memory = (size_t)number;
      if (number < 1 || (lua_Unsigned)number > SIZE_MAX)
        world_refuse_option(L, "'memory' is a number of bytes above 0");
    } else if (lua_getfield(L, 1, "world") == LUA_TFUNCTION) {
      raise_error(L, "it got the module as its argument: write ecs.world(...), with a dot");
    } else {
      raise_error(L, "unknown option %s of ecs.world (known: tag, seed, kernels, threads, memory)",
                  show_value(L, -3, text, sizeof text));
    }
  }
}

int ecs_native_world(lua_State *L) {
  lua_settop(L, 1);
  struct world_box *box = new_world_box(L);
  bool eager = false;
  const char *threads = getenv("ECS_THREADS");   /* for worlds with options that do not say */
  ecs_world_desc desc = {.threads = threads ? world_threads_of_text(threads, &eager) : 0};
  world_read_options(L, box, &desc, &eager);
  desc.alloc = lua_getallocf(L, &desc.alloc_ud);
  if (desc.tag == 0) desc.tag = worlds_next_tag(L);
  ecs_world *world = NULL;
  ecs_status status;
  RETRY(L, box, status, ecs_world_new(&desc, &world));
  if (status != ECS_OK) return raise_memory(L);
  if (eager && world->pool) pool_be_eager(world->pool);
  world_attach(L, box, world, false);
  settle(L, box, 2);
  return 1;
}

int ecs_native_is_open(lua_State *L) {
  const struct world_box *box = box_test(L, 1, &kind_world, sizeof *box);
  lua_pushnil(L);
  if (!box) return push_copies(L, 1, &kind_world) ? 2 : 0;
  lua_pushboolean(L, box->world != NULL);
  return 1;
}

/* ---- methods --------------------------------------------------------------------- */

const char world_closed_key;

/* Closes the world at 1, and tells the parts written in Lua. */
static int world_say_closed(lua_State *L, struct world_box *box) {
  world_shut(L, box, 1);
  lua_settop(L, 1);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &world_closed_key) != LUA_TFUNCTION) return 0;
  lua_insert(L, 1);
  lua_call(L, 1, 0);
  return 0;
}

static int world_close(lua_State *L) {
  struct world_box *box = box_test(L, 1, &kind_world, sizeof *box);
  if (!box || box->hidden) return no_world(L, 1);
  if (!box->world) return 0;
  check_free(L, box);
  raise_failure(L, box->world, world_not_busy(box->world, "close"));
  return world_say_closed(L, box);
}

static int world_close_scope(lua_State *L) {
  struct world_box *box = box_test(L, 1, &kind_world, sizeof *box);
  if (box && box->hidden) return no_world(L, 1);
  return box && box->world ? world_say_closed(L, box) : 0;
}

/* Possible even inside a system: the C functions on the stack then never return. */
void world_finalize(lua_State *L, int index) {
  struct world_box *box = box_test(L, index, &kind_world, sizeof *box);
  if (!box) return;
  box->depth = 0;
  if (box->hidden) box->world = box->hidden;
  box->hidden = NULL;
  if (box->world) world_shut(L, box, index);
  if (box->doomed) world_free_doomed(L, box, index);
}

static int world_collect(lua_State *L) {
  world_finalize(L, 1);
  return 0;
}

static int world_to_string(lua_State *L) {
  struct world_box *box = box_test(L, 1, &kind_world, sizeof *box);
  if (!box) return no_world(L, 1);
  char text[128] = "ecs.world (closed)";
  if (box->world)
    text_format(text, sizeof text, "ecs.world (tag %u, %zu entities)", ecs_world_tag(box->world),
                ecs_alive_count(box->world));
  lua_pushstring(L, text);
  return 1;
}

static int world_check(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  settle_any(L, box, 1);
  ecs_status status = ecs_check(box->world);
  lua_pushboolean(L, status == ECS_OK);
  if (status == ECS_OK) return 1;
  lua_pushstring(L, ecs_message(box->world));
  return 2;
}

static int world_defer(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  check_only(L, 1, "it takes no arguments: end what it begins with world:commit() or "
             "world:cancel()");
  RETRY_OR_RAISE(L, box, ecs_defer(box->world));
  return settle(L, box, 1);
}

/* Ends the innermost defer and the loops begun in it; outside of one, ends loops left open. */
static int world_commit(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  bool left_open = box->loops->open != NULL;
  ecs_status status;
  RETRY(L, box, status, loops_end(box));
  if (status == ECS_OK) loops_end_deferred(box, true);
  if (status == ECS_OK && !(left_open && !staging_is_open(&box->world->staging)))
    RETRY(L, box, status, deferred_commit(box->world));
  if (status != ECS_OK) return observed_raise(L, box, 1, status);
  return settle(L, box, 1);
}

static int world_cancel(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  loops_end_deferred(box, false);
  ecs_status status;
  RETRY(L, box, status, deferred_cancel(box->world));
  if (status != ECS_OK) return observed_raise(L, box, 1, status);
  return settle(L, box, 1);
}

/* An index in the entity range; the core checks its limits. */
static uint32_t world_check_index(lua_State *L, int arg) {
  lua_Integer index;
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "entity index");
  read_whole(L, arg, &index);
  if (index < FIRST_ENTITY || index >= INDEX_LIMIT)
    luaL_argerror(L, arg, "an entity index must be an integer from 65536 to 268435455");
  return (uint32_t)index;
}

static int world_entity_range(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  uint32_t first = world_check_index(L, 2);
  uint32_t last = world_check_index(L, 3);
  if (first > last) return luaL_argerror(L, 3, "the range ends before it begins");
  raise_failure(L, box->world, ecs_entity_range(box->world, first, last));
  return 0;
}

static int world_recycle_retired(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  size_t count = 0;
  ecs_status status;
  RETRY(L, box, status, loops_end(box));
  if (status == ECS_OK) observed_loops(L, box);
  if (status == ECS_OK) status = ecs_recycle_retired(box->world, &count);
  if (status != ECS_OK) return raise_status(L, box->world, status);
  lua_pushinteger(L, (lua_Integer)count);
  settle(L, box, 1);
  return 1;
}

const luaL_Reg world_core_methods[] = {
  {"cancel", world_cancel},
  {"check", world_check},
  {"close", world_close},
  {"commit", world_commit},
  {"defer", world_defer},
  {"entity_range", world_entity_range},
  {"recycle_retired", world_recycle_retired},
  {NULL, NULL}
};

const luaL_Reg world_metamethods[] = {
  {"__close", world_close_scope},
  {"__gc", world_collect},
  {"__tostring", world_to_string},
  {NULL, NULL}
};
