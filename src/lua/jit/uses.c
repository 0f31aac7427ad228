#include "lua/jit/kernel.h"

#include "core/index/edition.h"
#include "core/index/indexing.h"
#include "front/bytecode.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/version.h"

#define USE_DEPTH 4          /* functions in upvalues of functions */

/* ---- what options name ----------------------------------------------------------------- */

void uses_option(lua_State *L, int spec, const char *what) {
  const char *const *names = names_option(L, spec, what, "uses");
  if (!names) return;
  lua_newtable(L);
  for (; *names; names++) append_text(L, *names);
}

/* ---- strings in functions -------------------------------------------------------------- */

/* Until the dump is finished, the buffer keeps a stack slot above the function. */
struct dumping {
  luaL_Buffer buffer;
  bool begun;
  int result;                  /* stack index of the result */
};

static int uses_add_piece(lua_State *L, const void *piece, size_t size, void *ud) {
  struct dumping *dumping = ud;
  if (!piece) {
    luaL_pushresult(&dumping->buffer);
    lua_replace(L, dumping->result);
    return 0;
  }
  if (!dumping->begun) luaL_buffinit(L, &dumping->buffer);
  dumping->begun = true;
  luaL_addlstring(&dumping->buffer, piece, size);
  return 0;
}

bool push_dump(lua_State *L, bool strip) {
  struct dumping dumping = {.begun = false, .result = lua_gettop(L)};
  if (lua_iscfunction(L, -1)) return false;
  lua_pushvalue(L, -1);
  bool dumped = dump_function(L, uses_add_piece, &dumping, strip) == 0;
  if (dumped)
    lua_insert(L, -2);
  else
    lua_settop(L, dumping.result);
  return dumped;
}

static bool uses_is_script(lua_State *L, int index) {
  return lua_isfunction(L, index) && !lua_iscfunction(L, index);
}

/* Appends the strings of a function, and of those in its upvalues, to the list at an index. */
static void uses_add_texts(lua_State *L, int list, int function, int depth) {
  need_stack(L, 6);
  lua_pushvalue(L, function);
  if (push_dump(L, true)) lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
  lua_pop(L, 1);
  for (int i = 1; depth < USE_DEPTH && lua_getupvalue(L, function, i); i++) {
    if (uses_is_script(L, -1)) uses_add_texts(L, list, lua_gettop(L), depth + 1);
    lua_pop(L, 1);
  }
}

void uses_push_texts(lua_State *L, int function) {
  lua_newtable(L);
  if (uses_is_script(L, function)) uses_add_texts(L, lua_gettop(L), function, 1);
}

/* ---- each ------------------------------------------------------------------------------ */

static void uses_visit_upvalues(lua_State *L, const struct user *user, int function, int depth,
                                visit_fn visit) {
  need_stack(L, 6);
  for (int i = 1; lua_getupvalue(L, function, i); i++) {
    int at = lua_gettop(L);
    struct index_box *object = box_test(L, at, &kind_index, sizeof *object);
    ecs_index *index = object && object->box == user->box ? index_find(L, at, object) : NULL;
    if (index) visit(L, user->box, user->world, index);
    if (uses_is_script(L, at) && depth < USE_DEPTH)
      uses_visit_upvalues(L, user, at, depth + 1, visit);
    lua_settop(L, at - 1);
  }
}

/* Making an index's keys may run functions of scripts, which may declare more indexes. */
static void uses_visit_written(lua_State *L, const struct user *user, visit_fn visit) {
  uint64_t version = indexes_version(user->box->world);
  lua_Integer count = (lua_Integer)lua_rawlen(L, user->texts);
  for (ecs_index *index = index_first(user->box->world); index; index = index->next) {
    bool written = false;
    for (lua_Integer i = 1; i <= count && !written; i++, lua_pop(L, 1)) {
      size_t size;
      lua_rawgeti(L, user->texts, i);
      const char *text = lua_tolstring(L, -1, &size);
      written = dump_mentions(text, size, index_name(index));
    }
    if (!written) continue;
    visit(L, user->box, user->world, index);
    if (!user->box->world || indexes_version(user->box->world) != version) return;
  }
}

void uses_each(lua_State *L, const struct user *user, visit_fn visit) {
  bool lists = lua_istable(L, user->listed);
  lua_Integer count = lists ? (lua_Integer)lua_rawlen(L, user->listed) : 0;
  for (lua_Integer i = 1; i <= count && user->box->world; i++) {
    size_t size;
    lua_rawgeti(L, user->listed, i);
    const char *name = lua_tolstring(L, -1, &size);
    ecs_index *index = index_named(user->box->world, name, size);
    if (!index) raise_status(L, user->box->world, index_unknown(user->box->world, name, size));
    lua_pop(L, 1);
    visit(L, user->box, user->world, index);
  }
  if (!user->box->world || !index_first(user->box->world)) return;
  if (uses_is_script(L, user->function)) uses_visit_upvalues(L, user, user->function, 1, visit);
  if (user->box->world) uses_visit_written(L, user, visit);
}
