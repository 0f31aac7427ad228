#include <math.h>

#include "lua/failure.h"

#include "core/base/text.h"
#include "core/base/types.h"
#include "core/store/fields.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/each.h"
#include "lua/kernel_variant.h"
#include "lua/loop.h"
#include "lua/map.h"
#include "lua/loop_box.h"
#include "lua/slot.h"
#include "lua/variant.h"

static int divide_by_zero(lua_State *L) {
  int operation = (int)lua_tointeger(L, 1);
  lua_pushinteger(L, 1);
  lua_pushinteger(L, 0);
  lua_arith(L, operation);
  return 0;
}

/* What this Lua says of an integer operation with zero: not every 5.4 says the same. */
static void division_text(lua_State *L, char *text, size_t size, int operation) {
  lua_pushcfunction(L, divide_by_zero);
  lua_pushinteger(L, operation);
  int status = lua_pcall(L, 1, 1, 0);
  const char *said = status == LUA_ERRRUN ? lua_tostring(L, -1) : NULL;
  text_format(text, size, "%s", said ? said : "attempt to divide by zero");
  lua_pop(L, 1);
}

static double number_of(const k_failure *failure) {
  return failure->type == KT_F32 ? (double)failure->value.f32 : failure->value.f64;
}

/* A float that no integer field takes may have a fraction, or be beyond them all. */
static bool is_fraction(const k_failure *failure) {
  return failure->error == KE_FRACTION && floor(number_of(failure)) != number_of(failure);
}

static void failure_text(lua_State *L, char *text, size_t size,
                         const struct variant *variant, const k_failure *failure) {
  uint32_t at = failure->tag >> TAG_LINES;
  char value[48];
  if (failure->type == KT_I64)
    text_format(value, sizeof value, "%d", failure->value.i64);
  else
    text_format(value, sizeof value, "%g", number_of(failure));
  const struct front_column *column = at ? &variant->columns[at - 1] : NULL;
  const struct leaf *leaf =
      column ? &column->component->leaves[column->component_leaf] : NULL;
  switch (failure->error) {
    case KE_IDIV: division_text(L, text, size, LUA_OPIDIV); break;
    case KE_MOD: division_text(L, text, size, LUA_OPMOD); break;
    case KE_FMOD: text_format(text, size, "bad argument #2 to 'fmod' (zero)"); break;
    case KE_EMPTY: text_format(text, size, "interval is empty"); break;
    case KE_ABSENT: text_format(text, size, "an array has no element %s", value); break;
    case KE_NIL: text_format(text, size, "a value is nil"); break;
    case KE_RANGE:
    case KE_FRACTION:
      if (leaf) {
        text_format(text, size, "field '%s.%s' is %s: %s %s", column->component->name,
                    leaf->name, type_name(leaf->type), value,
                    is_fraction(failure) ? "is not an integer" : "is out of range");
        break;
      }
      /* fall through */
    default:
      text_format(text, size, "number %s has no integer representation", value);
      break;
  }
}

static void raise_failure(lua_State *L, int handle, const struct variant *variant,
                          const struct run_failure *failure) {
  const k_failure *why = &failure->why;
  char text[MESSAGE_SIZE];
  failure_text(L, text, sizeof text, variant, why);
  lua_Debug where;
  kernel_push_function(L, handle);
  lua_getinfo(L, ">S", &where);
  int64_t line = (int64_t)(why->tag & ((1u << TAG_LINES) - 1));
  if (failure->entity == ECS_NULL)
    raise_error(L, "%s:%d: %s", where.short_src, line, text);
  else
    raise_error(L, "%s:%d: entity %e: %s", where.short_src, line, failure->entity, text);
}

/* ---- the function's own way -------------------------------------------------------- */

struct finishing {
  struct rest rest;
  double dt;
  bool maps;                   /* it is q:map's */
  ecs_id entity;               /* whose row the function is called for; of events ECS_NULL */
};

/* Comes to the next run of rows, none of which is before those that are left. */
static bool next_run(struct loop_box *loop, struct rest *rest) {
  bool more = loop_next_run(loop);
  while (more && rest->entity != ECS_NULL && loop_entity(loop, 0) != rest->entity)
    more = loop_next_run(loop);
  rest->entity = ECS_NULL;
  return more;
}

/* body(loop, function, finishing) */
static int finish_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  struct finishing *finishing = lua_touserdata(L, 3);
  struct rest *rest = &finishing->rest;
  while (rest->count && next_run(loop, rest)) {
    uint32_t row = rest->before < loop->count ? (uint32_t)rest->before : loop->count;
    rest->before -= row;
    for (; row < loop->count && rest->count; row++, rest->count--) {
      if (!loop->events) finishing->entity = loop_entity(loop, row);
      (finishing->maps ? map_row : each_row)(L, 1, 2, finishing->dt, row);
    }
  }
  return 0;
}

/* The end of "file:line: " at the beginning of a message, or its beginning. */
static const char *behind_position(const char *message) {
  for (const char *at = strchr(message, ':'); at; at = strchr(at + 1, ':')) {
    size_t digits = strspn(at + 1, "0123456789");
    if (digits && at[digits + 1] == ':' && at[digits + 2] == ' ') return at + digits + 3;
  }
  return message;
}

/* Raises the error at the top of the stack, a text with the entity, if there is one, in it. */
static void raise_of(lua_State *L, int status, ecs_id entity) {
  bool named = status != LUA_ERRMEM && entity != ECS_NULL;
  const char *message = named ? lua_tostring(L, -1) : NULL;
  if (message) {
    char name[48];
    const char *text = behind_position(message);
    text_format(name, sizeof name, "entity %e: ", entity);
    lua_pushlstring(L, message, (size_t)(text - message));
    lua_pushstring(L, name);
    lua_pushstring(L, text);
    lua_concat(L, 3);
  }
  lua_error(L);
}

void kernel_finish(lua_State *L, int handle, const struct variant *variant,
                   const struct run_failure *failure, double dt, const struct rest *rest) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  bool results = RESULT_IS_USED(box->kernel->result);
  struct finishing finishing = {*rest, dt, box->kernel->result == RESULT_MAP, failure->entity};
  int top = lua_gettop(L);
  if (results) finishing.rest.count = 1;
  need_stack(L, 16);
  lua_getiuservalue(L, handle, KERNEL_QUERY);
  kernel_push_function(L, handle);
  struct loop_box *loop = loop_push(L, top + 1, LOOP_SYSTEM, function_parameters(L, top + 2));
  loop_open(L, loop);
  loop->asking = box->kernel->result == RESULT_TRUTH;
  loop->match = rest->match;
  loop->filter = rest->filter;
  lua_pushcfunction(L, finish_body);
  lua_pushvalue(L, top + 3);
  lua_pushvalue(L, top + 2);
  lua_pushlightuserdata(L, &finishing);
  int status = lua_pcall(L, 3, 0, 0);
  loop_end(loop);
  if (status != LUA_OK) raise_of(L, status, finishing.entity);
  if (results) raise_failure(L, handle, variant, failure);
  lua_settop(L, top);
}
