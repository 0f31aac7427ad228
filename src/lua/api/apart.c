#include "lua/api/apart.h"

#include <string.h>

#include "core/storage/fields.h"
#include "core/query/query.h"

/* About as it is written in the query. */
static void push_term(lua_State *L, const struct term *term) {
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
  if (!terms || !terms_walk(terms) || !strstr(why, "do not lie together")) return;
  if (terms->event) {
    lua_pushfstring(L, "%s: '%s' is an event", why, terms->event->name);
  } else {
    const struct term *term = &terms->terms[terms->steps[0]];
    push_term(L, term);
    lua_pushfstring(L, "%s: '%s' is %s", why, lua_tostring(L, -1),
                    term->form == TERM_SPARSE ? "a sparse component" : "decided row by row");
    lua_remove(L, -2);
  }
  lua_remove(L, -2);
}
