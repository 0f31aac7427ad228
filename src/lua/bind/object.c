#include "lua/bind/object.h"

#include "core/base/memory.h"
#include "lua/bind/version.h"

void *new_box(lua_State *L, const void *kind, size_t size, int user_values) {
  struct head *head = lua_newuserdatauv(L, size, user_values);
  memset(head, 0, size);
  head->kind = kind;
  head->self = head;
  lua_rawgetp(L, LUA_REGISTRYINDEX, kind);
  lua_setmetatable(L, -2);
  return head;
}

void *new_box_of(lua_State *L, const void *kind, size_t size, int user_values, int owner) {
  owner = lua_absindex(L, owner);
  void *box = new_box(L, kind, size, user_values);
  lua_pushvalue(L, owner);
  lua_setiuservalue(L, -2, 1);
  return box;
}

int loop_refuse(lua_State *L) {
  return luaL_error(L, "this is an iterator, which has no length, elements or methods: write 'for "
                    "... in', and count in the loop");
}

void new_weak_table(lua_State *L, const char *mode) {
  static const char keys = 0, values = 0;
  const char *kept = *mode == 'k' ? &keys : &values;
  lua_newtable(L);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, kept) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, kept);
  }
  lua_setmetatable(L, -2);
}

void push_part(lua_State *L, const char *mode) {
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TNIL) {
    lua_pop(L, 1);
    if (mode)
      new_weak_table(L, mode);
    else
      lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
  lua_remove(L, -2);
}

/* ---- world box ---- */

const char kind_world = 0;

/* ---- weight ---- */

#define WEIGHT_LIMIT ((size_t)32 << 20)  /* see settle_weight */

/* What the collector has been told about all open worlds of this Lua state, and the limit at which
** settle_weight next collects old objects. */
struct weights {
  size_t bytes;
  size_t limit;
};

static const char weights_key;

void weights_open(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &weights_key) == LUA_TNIL) {
    struct weights *weights = lua_newuserdatauv(L, sizeof *weights, 0);
    *weights = (struct weights){0, WEIGHT_LIMIT};
    lua_rawsetp(L, LUA_REGISTRYINDEX, &weights_key);
  }
  lua_pop(L, 1);
}

/* Records what the collector has been told of a world. */
static void weight_report(struct world_box *box, size_t bytes) {
  box->weight.all->bytes += bytes - box->weight.reported;
  box->weight.reported = bytes;
}

void weights_attach(lua_State *L, struct world_box *box, size_t bytes) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &weights_key);
  box->weight.all = lua_touserdata(L, -1);
  lua_pop(L, 1);
  weight_report(box, bytes);
}

/* Lowers the limit to fit the worlds that are left. */
void weights_leave(struct world_box *box) {
  struct weights *weights = box->weight.all;
  weight_report(box, 0);
  size_t limit = weights->bytes > WEIGHT_LIMIT / 2 ? 2 * weights->bytes : WEIGHT_LIMIT;
  if (limit < weights->limit) weights->limit = limit;
}

void settle_weight(lua_State *L, struct world_box *box) {
  size_t bytes = box->memory->bytes;
  if (bytes < box->weight.reported) {
    weight_report(box, bytes);
    return;
  }
  if (lua_gc(L, LUA_GCISRUNNING, 0) != 1) return;
  struct weights *weights = box->weight.all;
  size_t grown = bytes - box->weight.reported;
  weight_report(box, bytes);
  collector_step(L, grown);
  if (weights->bytes <= weights->limit) return;
  /* In generational mode, a growing world becomes old, and steps examine only young objects: when
  ** worlds have doubled and are large, old objects are collected, too. */
  collector_collect_old(L);
  weights->limit = weights->bytes > WEIGHT_LIMIT / 2 ? 2 * weights->bytes : WEIGHT_LIMIT;
}
