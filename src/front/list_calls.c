/* What functions of the table library do to lists that a function makes for itself (scratch.c): Lua
** functions of lua/ecs/lists.lua are compiled in place of them. */
#include "front/front.h"
#include "front/libraries.h"

const char list_functions_key = 0;

/* Anchors one of these functions. */
static struct val list_function(struct front *f, const char *name) {
  lua_rawgetp(f->L, LUA_REGISTRYINDEX, &list_functions_key);
  if (lua_istable(f->L, -1))
    lua_getfield(f->L, -1, name);
  else
    front_refuse(f, "it calls a function of 'table', and module 'ecs' is not loaded");
  lua_remove(f->L, -2);
  return (struct val){.kind = VAL_FUNCTION, .at = front_anchor(f)};
}

struct val list_call(struct front *f, uint32_t name, struct val *arguments, uint32_t count) {
  static const char *const names[][4] = {
      [TABLE_INSERT - TABLE_INSERT] = {NULL, NULL, "append", "insert"},
      [TABLE_REMOVE - TABLE_INSERT] = {NULL, "pop", "remove", NULL},
      [TABLE_SORT - TABLE_INSERT] = {NULL, "order", "sort", NULL}};
  struct val nothing = {.kind = VAL_NOTHING};
  while (count > 1 && name != TABLE_INSERT && arguments[count - 1].kind == VAL_NIL) count--;
  if (count == 0 || (arguments[0].kind != VAL_TABLE && arguments[0].kind != VAL_LIST))
    return nothing;
  scratch_want(f, arguments[0]);
  const char *which = count < 4 ? names[name - TABLE_INSERT][count] : NULL;
  if (arguments[0].kind != VAL_LIST || !which)
    front_refuse(f, "it calls table.%s with other arguments than a list and what is to be done "
                    "with it", library_name(name));
  if (*which != 'a') return list_function(f, which);
  scratch_append(f, arguments[0], maybe_need(f, arguments[1]));
  return (struct val){.kind = VAL_NIL};
}
