#include "lua/api/describe_index.h"

#include "core/index/indexing.h"
#include "lua/bind/facts.h"
#include "lua/bind/status.h"

static const char *const kinds[] = {"grid", "hash", "ordered", "maybe"};

static void push_facts(lua_State *L, const struct index_facts *facts) {
  lua_newtable(L);
  set_text(L, "name", facts->name);
  set_text(L, "query", facts->query);
  set_text(L, "by", kinds[facts->by]);
  set_text(L, "of", facts->of ? facts->of : "a function");
  set_text(L, "owner", facts->owner);
  if (facts->by == ECS_BY_GRID) set_number(L, "cell", facts->cell);
  set_integer(L, "rows", facts->rows);
  set_integer(L, "bytes", facts->bytes);
}

void indexes_describe(lua_State *L, const ecs_world *world) {
  lua_newtable(L);
  lua_Integer count = 0;
  for (const ecs_index *index = index_first(world); index; index = index_next(index)) {
    const struct index_facts facts = index_tell(index);
    push_facts(L, &facts);
    lua_rawseti(L, -2, ++count);
  }
}

/* explain(index) */
static int explain_index_use(lua_State *L) {
  const struct index_facts facts = index_tell(lua_touserdata(L, 1));
  push_facts(L, &facts);
  set_integer(L, "lost", facts.lost);
  set_integer(L, "times", (size_t)facts.times);
  if (facts.times && facts.whole)
    set_text(L, "brought", "whole");
  else if (facts.times)
    set_integer(L, "brought", facts.brought);
  set_number(L, "seconds", facts.seconds);
  return 1;
}

bool index_explain(lua_State *L, const ecs_world *world, int name) {
  size_t size;
  const char *text = lua_tolstring(L, name, &size);
  const ecs_index *index = index_named(world, text, size);
  if (!index) return false;
  lua_pushlightuserdata(L, (void *)(uintptr_t)index);
  call_quietly(L, explain_index_use, 1, 1);
  return true;
}
