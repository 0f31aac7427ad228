/* A C library by whose locale texts of different lengths are alike, as on Windows: what a kernel
** makes of them is what this Lua does. */
#include "lua_state.h"

/* In the place of the C library's, for this program and for the libraries that it is linked with:
** hyphens are passed over. */
__attribute__((visibility("default"))) int strcoll(const char *x, const char *y) {
  for (;; x++, y++) {
    while (*x == '-') x++;
    while (*y == '-') y++;
    if (*x != *y || *x == '\0') return (unsigned char)*x - (unsigned char)*y;
  }
}

static const char script[] =
    "local ecs = require 'ecs'\n"
    "local world = ecs.world()\n"
    "world:component('N', { 'x: string', 'y: string', 'before: bool', 'not_behind: bool' })\n"
    "local texts = { '', '--', 'a', '-a', 'a-', 'ab', 'a-b', 'b', 'b\\0a', 'b\\0-a', 'b\\0b' }\n"
    "for _, x in ipairs(texts) do\n"
    "  for _, y in ipairs(texts) do world:spawn { N = { x, y } } end\n"
    "end\n"
    "local query = world:query 'N'\n"
    "query:run(function(n) n.before, n.not_behind = n.x < n.y, n.x <= n.y end)\n"
    "for n in query:each() do\n"
    "  assert(n.before == (n.x < n.y) and n.not_behind == (n.x <= n.y))\n"
    "  alike = alike or n.x:gsub('-', '') == n.y:gsub('-', '') and #n.x < #n.y\n"
    "end\n";

static void orders_texts_as_lua_does(void) {
  struct lua_host host;
  open_ecs(&host);
  lua_State *L = host.L;
  run_script(&host, script);
  lua_getglobal(L, "alike");
  CHECK(lua_toboolean(L, -1));
  close_lua(&host);
}

static const struct test tests[] = {
  {"texts that are alike in the locale have the order that this Lua gives them",
   orders_texts_as_lua_does},
};

int main(void) { return RUN_TESTS(tests); }
