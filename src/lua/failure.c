#include <math.h>

#include "lua/failure.h"

#include "core/base/types.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/kernel_variant.h"

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

int kernel_fail(lua_State *L, int handle, const struct variant *variant,
                const struct run_failure *failure) {
  const k_failure *why = &failure->why;
  char text[MESSAGE_SIZE];
  need_stack(L, 4);
  failure_text(L, text, sizeof text, variant, why);
  lua_Debug where;
  lua_getiuservalue(L, handle, KERNEL_FUNCTION);
  lua_getinfo(L, ">S", &where);
  return raise_error(L, "%s:%d: entity %e: %s", where.short_src,
                     (int64_t)(why->tag & ((1u << TAG_LINES) - 1)), failure->entity, text);
}
