/* Compiles calls: functions of the math library, Lua functions (inlined), and methods of the
** world. */
#include <math.h>

#include <lualib.h>

#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "core/storage/event.h"
#include "front/front.h"
#include "front/rounds.h"

/* ---- the math library ---- */

enum math_name {
  MATH_ABS, MATH_CEIL, MATH_FLOOR, MATH_SQRT, MATH_EXP, MATH_LOG, MATH_SIN, MATH_COS,
  MATH_TAN, MATH_ASIN, MATH_ACOS, MATH_ATAN, MATH_FMOD, MATH_MIN, MATH_MAX, MATH_ULT,
  MATH_MODF, MATH_TOINTEGER, MATH_TYPE, MATH_DEG, MATH_RAD,
  TEXT_SUB /* string.sub */, MATH_KNOWN,
  /* not compiled */
  MATH_RANDOM = MATH_KNOWN, MATH_RANDOMSEED, MATH_POW, MATH_LOG10,
  /* of Lua 5.2 */
  MATH_OLD, MATH_COSH = MATH_OLD, MATH_SINH, MATH_TANH, MATH_FREXP, MATH_LDEXP,
  /* of the base library */
  BASE_ASSERT, BASE_ERROR, BASE_IPAIRS,
  /* of ecs.math, in the order of their names */
  OWN_ACOS, OWN_ASIN, OWN_ATAN, OWN_COS, OWN_EXP, OWN_LOG, OWN_LOG10, OWN_LOG2, OWN_MOD, OWN_POW,
  OWN_SIN, OWN_TAN, MATH_COUNT
};

static const char *const math_names[MATH_COUNT] = {
    [MATH_ABS] = "abs", [MATH_CEIL] = "ceil", [MATH_FLOOR] = "floor", [MATH_SQRT] = "sqrt",
    [MATH_EXP] = "exp", [MATH_LOG] = "log", [MATH_SIN] = "sin", [MATH_COS] = "cos",
    [MATH_TAN] = "tan", [MATH_ASIN] = "asin", [MATH_ACOS] = "acos", [MATH_ATAN] = "atan",
    [MATH_FMOD] = "fmod", [MATH_MIN] = "min", [MATH_MAX] = "max", [MATH_ULT] = "ult",
    [MATH_MODF] = "modf", [MATH_TOINTEGER] = "tointeger", [MATH_TYPE] = "type",
    [MATH_DEG] = "deg", [MATH_RAD] = "rad", [TEXT_SUB] = "sub", [MATH_RANDOM] = "random",
    [MATH_RANDOMSEED] = "randomseed", [MATH_POW] = "pow", [MATH_LOG10] = "log10",
    [MATH_COSH] = "cosh", [MATH_SINH] = "sinh", [MATH_TANH] = "tanh", [MATH_FREXP] = "frexp",
    [MATH_LDEXP] = "ldexp", [BASE_ASSERT] = "assert", [BASE_ERROR] = "error",
    [BASE_IPAIRS] = "ipairs", [OWN_ACOS] = "acos", [OWN_ASIN] = "asin", [OWN_ATAN] = "atan",
    [OWN_COS] = "cos", [OWN_EXP] = "exp", [OWN_LOG] = "log", [OWN_LOG10] = "log10",
    [OWN_LOG2] = "log2", [OWN_MOD] = "mod", [OWN_POW] = "pow", [OWN_SIN] = "sin",
    [OWN_TAN] = "tan"};

/* Rows here reach something that only Lua can do: they fall back, unless they are all rows. */
static bool call_leaves(struct front *f) {
  if (f->env.mask == f->start) return false;
  env_leave(f);
  return true;
}

/* The addresses of libraries' functions are the same in every state of a process. */
struct val call_known(struct front *f, lua_CFunction function) {
  struct val result = {.kind = VAL_NOTHING};
  for (uint32_t i = 0; function && i < MATH_COUNT; i++)
    if (f->math[i] == function) result = (struct val){.kind = VAL_MATH, .at = i};
  bool raises = result.kind == VAL_MATH && result.at == BASE_ERROR;
  if (raises && !call_leaves(f)) result.kind = VAL_NOTHING;
  return result;
}

/* Pushes a table with the functions of the base library, opened as its globals: scripts may have
** replaced those they see. */
static void call_push_base(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_newtable(L);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushcfunction(L, luaopen_base);
  int status = lua_pcall(L, 0, 1, 0);
  lua_pushvalue(L, -2);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  if (status != LUA_OK) lua_error(L);
  lua_remove(L, -2);
}

void call_push_math(lua_State *L, const luaL_Reg *own) {
  lua_CFunction *known = lua_newuserdatauv(L, MATH_COUNT * sizeof *known, 0);
  call_push_base(L);
  lua_pushcfunction(L, luaopen_math);
  lua_call(L, 0, 1);
  for (int i = OWN_ACOS; i < MATH_COUNT; i++) {
    assert(own[i - OWN_ACOS].name && strcmp(own[i - OWN_ACOS].name, math_names[i]) == 0);
    known[i] = own[i - OWN_ACOS].func;
  }
  for (int i = 0; i < OWN_ACOS; i++) {
    lua_getfield(L, i < BASE_ASSERT ? -1 : -2, math_names[i]);
    known[i] = lua_tocfunction(L, -1);
    lua_pop(L, 1);
  }
  /* Opening the string library sets the strings' metatable, so their own is restored. In between
  ** nothing may fail or run Lua, as a hook would at a call. */
  lua_pushliteral(L, "");
  if (!lua_getmetatable(L, -1)) lua_pushnil(L);
  luaopen_string(L);
  lua_insert(L, -2);
  lua_setmetatable(L, -3);
  lua_getfield(L, -1, "sub");
  known[TEXT_SUB] = lua_tocfunction(L, -1);
  lua_pop(L, 5);
}

/* The argument of a math function, from 0, which must be a number. */
static struct val call_need(struct front *f, const struct val *arguments, uint32_t count,
                            uint32_t at, uint32_t function) {
  assert(function < MATH_COUNT);
  if (at >= count || !val_is_number(f, arguments[at]))
    front_refuse(f, "it calls %smath.%s without a number", function < OWN_ACOS ? "" : "ecs.",
                 math_names[function]);
  return arguments[at];
}

static struct val call_min_max(struct front *f, k_op op, const struct val *arguments,
                               uint32_t count, uint32_t function) {
  struct val result = call_need(f, arguments, count, 0, function);
  for (uint32_t i = 1; i < count; i++) {
    struct val next = call_need(f, arguments, count, i, function);
    int type = val_common_type(f, result, next);
    if (type < 0)
      front_refuse(f, "math.%s mixes ids and floats: add 0.0 to the id", math_names[function]);
    k_value x = number_as(f, result, (k_type)type), y = number_as(f, next, (k_type)type);
    bool wide = type == KT_I64 && (val_is_wide(result) || val_is_wide(next));
    const struct val before = result;
    result = val_number(f, build_binary(f->b, op, x, y), before.soft && next.soft);
    k_value other = op == KO_MIN ? build_binary(f->b, KO_LT, y, x)
                                 : build_binary(f->b, KO_LT, x, y);
    mixed_join(f, other, next, before, &result);
    result.wide = wide;
    result = steps_step(f, result, op == KO_MIN ? KF_LESS : KF_MORE, before, next);
  }
  return result;
}

/* math.abs. Of an integer it is an integer, even of the least one, of which it is that itself. */
static struct val call_absolute(struct front *f, struct val x) {
  if (x.mixed) return mixed_absolute(f, x);
  struct val result = val_number(f, build_unary(f->b, KO_ABS, x.value), x.soft);
  result.wide = val_is_wide(x);
  return result;
}

static struct val call_floor_ceil(struct front *f, uint32_t name, struct val x) {
  if (val_type(f, x) == KT_I64) return x;
  x = mixed_settle(f, x);
  k_op op = name == MATH_FLOOR ? KO_FLOOR : KO_CEIL;
  return val_number(f, build_unary(f->b, op, x.value), x.soft);
}

/* An operation on floats, whatever the operands are. */
static struct val call_two_floats(struct front *f, k_op op, struct val x, struct val y) {
  k_type type = number_float_type(f, x, y);
  k_value value = build_binary(f->b, op, number_as(f, x, type), number_as(f, y, type));
  return val_number(f, value, x.soft && y.soft);
}

static struct val call_fmod_of(struct front *f, struct val x, struct val y) {
  number_decided(f, x, y, "calls math.fmod with");
  number_decided(f, y, x, "calls math.fmod with");
  if (val_type(f, x) != KT_I64 || val_type(f, y) != KT_I64)
    return call_two_floats(f, KO_FMOD, x, y);
  k_value rest = build_binary(f->b, KO_FMOD, x.value, y.value);
  struct val result = val_number(f, rest, x.soft && y.soft);
  result.wide = val_is_wide(x) || val_is_wide(y);
  return result;
}

static struct val call_ult_of(struct front *f, struct val x, struct val y) {
  x = mixed_settle(f, x);
  y = mixed_settle(f, y);
  k_value a = number_as(f, x, KT_I64), b = number_as(f, y, KT_I64);
  return val_number(f, build_binary(f->b, KO_ULT, a, b), false);
}

/* A step that Lua does in f64, rounded to f32 if it began with f32. */
static struct val call_wide_step(struct front *f, struct val x, struct val y, k_value step) {
  k_type type = number_float_type(f, x, y);
  return val_number(f, build_convert(f->b, type, step), x.soft && y.soft);
}

static struct val call_scaled(struct front *f, struct val x, double by) {
  k_value product = build_binary(f->b, KO_MUL, number_as(f, x, KT_F64), build_f64(f->b, by));
  return call_wide_step(f, x, x, product);
}

/* Whether Lua's math.log(x, 2) is log2(x). Compiled as C89, the default on Windows, Lua divides two
** logarithms, which differs for some power of two. */
static bool call_takes_log2(const struct front *f) {
  bool same = true;
  for (double x = 2; same && x < 0x1p64; x *= 2) {
    lua_pushcfunction(f->L, f->math[MATH_LOG]);
    lua_pushnumber(f->L, x);
    lua_pushinteger(f->L, 2);
    lua_call(f->L, 2, 1);
    same = lua_tonumber(f->L, -1) == log2(x);
    lua_pop(f->L, 1);
  }
  return same;
}

/* math.log(x, base), by the base, as in Lua. */
static struct val call_log_of(struct front *f, struct val x, struct val base) {
  struct builder *b = f->b;
  bool binary = call_takes_log2(f);
  k_value number = number_as(f, x, KT_F64), by = number_as(f, base, KT_F64);
  if (base.literal && ((base.number == 2 && binary) || base.number == 10)) {
    k_op op = base.number == 2 ? KO_LOG2 : KO_LOG10;
    return call_wide_step(f, x, base, build_unary(b, op, number));
  }
  k_value step = build_binary(b, KO_DIV, build_unary(b, KO_LOG, number),
                              build_unary(b, KO_LOG, by));
  step = build_select(b, build_binary(b, KO_EQ, by, build_f64(b, 10)),
                      build_unary(b, KO_LOG10, number), step);
  if (binary)
    step = build_select(b, build_binary(b, KO_EQ, by, build_f64(b, 2)),
                        build_unary(b, KO_LOG2, number), step);
  return call_wide_step(f, x, base, step);
}

/* math.modf. The integral part becomes an integer if possible, so it is never -0.0. For an infinity
** the fraction is 0.0. */
static void call_modf_of(struct front *f, struct val x, struct val results[2]) {
  struct builder *b = f->b;
  k_type type = val_type(f, x);
  results[0] = x;
  results[1] = val_number(f, build_f64(b, 0.0), x.soft);
  if (type == KT_I64) return;
  k_value zero = number_as(f, results[1], type), part = build_unary(b, KO_TRUNC, x.value);
  k_value rest = build_binary(b, KO_SUB, x.value, part);
  results[1].value = build_select(b, build_binary(b, KO_EQ, x.value, part), zero, rest);
  results[0] = val_number(f, build_binary(b, KO_ADD, part, zero), x.soft);
  results[0].mixed = true;
  x.value = number_as(f, x, KT_F64);
  results[0].whole = build_binary(b, KO_AND,
                                  build_binary(b, KO_LE, build_f64(b, -0x1p63), x.value),
                                  build_binary(b, KO_LT, x.value, build_f64(b, 0x1p63)));
}

static struct val call_to_integer(struct front *f, struct val x) {
  if (val_type(f, x) != KT_I64)
    front_refuse(f, "it calls math.tointeger with a float, for which the result may be nil: write "
                    "math.floor");
  return x;
}

/* math.type, whose result is known at compile time. */
static struct val call_type_of(struct front *f, const struct val *arguments, uint32_t count) {
  static const ecs_string names[] = {{"integer", 7}, {"float", 5}};
  if (count == 0 || arguments[0].kind == VAL_NOTHING)
    front_refuse(f, "it calls math.type with a value whose type is not known");
  struct val result = {.kind = VAL_NIL};
  if (!val_is_number(f, arguments[0]) && !arguments[0].spawned) return result;
  number_decided(f, arguments[0], arguments[0], "calls math.type with");
  result.kind = VAL_STRING;
  result.string = names[val_type(f, arguments[0]) != KT_I64];
  return result;
}

/* ---- ecs.math ---- */

/* A function of ecs.math: done in f64, and rounded to f32 where it begins with f32. */
static struct val call_own(struct front *f, uint32_t name, const struct val *arguments,
                           uint32_t count) {
  static const k_op ops[] = {KO_OWN_ACOS, KO_OWN_ASIN, KO_OWN_ATAN, KO_OWN_COS, KO_OWN_EXP,
                             KO_OWN_LOG, KO_OWN_LOG10, KO_OWN_LOG2, KO_OWN_MOD, KO_OWN_POW,
                             KO_OWN_SIN, KO_OWN_TAN};
  assert(name >= OWN_ACOS && name - OWN_ACOS < sizeof ops / sizeof *ops);
  k_op op = ops[name - OWN_ACOS];
  struct val x = call_need(f, arguments, count, 0, name), y = x;
  k_value a = number_as(f, x, KT_F64);
  if (op < KO_ADD) return call_wide_step(f, x, x, build_unary(f->b, op, a));
  if (name == OWN_ATAN && (count < 2 || arguments[1].kind == VAL_NIL))
    y = val_number(f, build_f64(f->b, 1.0), true);
  else
    y = call_need(f, arguments, count, 1, name);
  return call_wide_step(f, x, y, build_binary(f->b, op, a, number_as(f, y, KT_F64)));
}

/* Notes that the result depends on the C library, and that this function of ecs.math does not. */
static void call_depends(struct front *f, uint32_t own) {
  assert(own >= OWN_ACOS && own < MATH_COUNT);
  f->unportable |= 1u << (own - OWN_ACOS);
}

void call_note_power(struct front *f) { call_depends(f, OWN_POW); }

/* Notes a call of a function of math. exp, log, sin and cos of f32 are the kernels' own. */
static void call_note_math(struct front *f, uint32_t name, const struct val *arguments,
                           uint32_t count) {
  static const uint8_t likes[MATH_KNOWN] = {
      [MATH_EXP] = OWN_EXP, [MATH_LOG] = OWN_LOG, [MATH_SIN] = OWN_SIN, [MATH_COS] = OWN_COS,
      [MATH_TAN] = OWN_TAN, [MATH_ASIN] = OWN_ASIN, [MATH_ACOS] = OWN_ACOS,
      [MATH_ATAN] = OWN_ATAN};
  bool two = count > 1 && arguments[1].kind != VAL_NIL;
  bool kernels_own = name == MATH_EXP || name == MATH_LOG || name == MATH_SIN || name == MATH_COS;
  uint32_t like = likes[name];
  if (!like || !count || !val_is_number(f, arguments[0])) return;
  if (kernels_own && !two && val_type(f, arguments[0]) == KT_F32) return;
  if (name == MATH_LOG && two && arguments[1].literal && arguments[1].number == 2) like = OWN_LOG2;
  if (name == MATH_LOG && two && arguments[1].literal && arguments[1].number == 10)
    like = OWN_LOG10;
  call_depends(f, like);
}

void call_push_portable(lua_State *L, uint32_t unportable) {
  lua_pushliteral(L, "write");
  for (uint32_t i = OWN_ACOS; i < MATH_COUNT; i++) {
    if (!(unportable >> (i - OWN_ACOS) & 1)) continue;
    const char *name = math_names[i];
    const char *other = i == OWN_POW ? "^" : i == OWN_LOG2 ? "math.log(x, 2)"
                      : i == OWN_LOG10 ? "math.log(x, 10)" : NULL;
    other = lua_pushfstring(L, other ? "%s" : "math.%s", other ? other : name);
    bool first = (unportable & ((1u << (i - OWN_ACOS)) - 1)) == 0;
    lua_pushfstring(L, "%s%s ecs.math.%s for %s", lua_tostring(L, -2), first ? "" : ",", name,
                    other);
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
}

/* ---- functions of floats ---- */

static struct val call_one_float(struct front *f, uint32_t name, struct val x) {
  static const k_op floats[MATH_COUNT] = {
      [MATH_SQRT] = KO_SQRT, [MATH_EXP] = KO_EXP, [MATH_LOG] = KO_LOG, [MATH_SIN] = KO_SIN,
      [MATH_COS] = KO_COS,   [MATH_TAN] = KO_TAN, [MATH_ASIN] = KO_ASIN,
      [MATH_ACOS] = KO_ACOS};
  assert(name < MATH_COUNT && floats[name]);
  if (val_type(f, x) == KT_I64) x.value = number_as(f, x, KT_F64);
  return val_number(f, build_unary(f->b, floats[name], x.value), x.soft);
}

/* A function of one argument, or of two with the second optional or nil. */
static struct val call_one_or_two(struct front *f, uint32_t name, const struct val *arguments,
                                  uint32_t count) {
  static const double pi = 3.141592653589793238462643383279502884;
  struct val x = call_need(f, arguments, count, 0, name);
  bool two = count > 1 && arguments[1].kind != VAL_NIL;
  switch (name) {
    case MATH_DEG: return call_scaled(f, x, 180.0 / pi);
    case MATH_RAD: return call_scaled(f, x, pi / 180.0);
    case MATH_LOG:
      if (two) return call_log_of(f, x, call_need(f, arguments, count, 1, name));
      return call_one_float(f, name, x);
    case MATH_ATAN: {
      struct val one = val_number(f, build_f64(f->b, 1.0), true);
      return call_two_floats(f, KO_ATAN2, x, two ? call_need(f, arguments, count, 1, name) : one);
    }
    default: return call_one_float(f, name, x);
  }
}

static struct val call_math_result(struct front *f, uint32_t name, const struct val *arguments,
                                   uint32_t count) {
  struct val x = call_need(f, arguments, count, 0, name);
  switch (name) {
    case MATH_ABS: return call_absolute(f, x);
    case MATH_CEIL:
    case MATH_FLOOR: return call_floor_ceil(f, name, x);
    case MATH_MIN: return call_min_max(f, KO_MIN, arguments, count, name);
    case MATH_MAX: return call_min_max(f, KO_MAX, arguments, count, name);
    case MATH_FMOD: return call_fmod_of(f, x, call_need(f, arguments, count, 1, name));
    case MATH_ULT: return call_ult_of(f, x, call_need(f, arguments, count, 1, name));
    case MATH_TOINTEGER: return call_to_integer(f, x);
    default: return call_one_or_two(f, name, arguments, count);
  }
}

/* ---- strings ---- */

/* An id in a constant, or an outside value, which must then stay the same. */
static bool call_known_id(struct front *f, struct val value, ecs_id *id) {
  if (!val_is_number(f, value) || value.entity) return false;
  *id = (ecs_id)value.number;
  if (value.literal) return true;
  if (!outside_keep(f, value)) return false;
  int is_id = 0;
  *id = (ecs_id)lua_tointegerx(f->L, -1, &is_id);
  lua_pop(f->L, 1);
  return is_id != 0;
}

/* An integer in the function, or an outside one that must stay the same. */
static bool call_known_place(struct front *f, struct val value, int64_t *place) {
  ecs_id number = (ecs_id)value.number;
  if (!val_is_number(f, value)) return false;
  bool whole = value.literal ? value.number != 0 || val_type(f, value) == KT_I64
                             : call_known_id(f, value, &number);
  *place = (int64_t)number;
  return whole;
}

/* string.sub(s, 1, n) */
static struct val sub_call(struct front *f, const struct val *arguments, uint32_t count) {
  int64_t first = 0, last = -1;
  bool fits = count > 1 && val_is_string(arguments[0]) &&
              call_known_place(f, arguments[1], &first) && first == 1 &&
              (count == 2 || call_known_place(f, arguments[2], &last)) && last >= -1;
  if (!fits)
    front_refuse(f, "it takes a part of a string that is not its beginning, as in s:sub(1, 3): do "
                    "that in a system's run, or keep the part in its own field");
  if (last == -1) return arguments[0];
  k_value string = text_as_cell(f, arguments[0]);
  return (struct val){.kind = VAL_PREFIX, .value = string, .number = last};
}

static void call_refuse_function(struct front *f, uint32_t name) {
  static const char *const why[] = {
      ", which does not use the world's random numbers: write world:random(e)",
      ", which does not use the world's random numbers: write world:random(e)", ": write x ^ y",
      ": write math.log(x, 10)",
      ", of Lua 5.2, which is not compiled: write a Lua function for it"};
  uint32_t at = name < MATH_OLD ? name - MATH_KNOWN : MATH_OLD - MATH_KNOWN;
  assert(name >= MATH_KNOWN && name < BASE_ASSERT && at < sizeof why / sizeof *why);
  front_refuse(f, "it calls math.%s%s", math_names[name], why[at]);
}

/* Calls a math function. Returns the number of results. */
static uint32_t math_call(struct front *f, uint32_t name, const struct val *arguments,
                          uint32_t count, struct val results[2]) {
  if (name >= OWN_ACOS) {
    results[0] = call_own(f, name, arguments, count);
    return 1;
  }
  if (name >= MATH_KNOWN) call_refuse_function(f, name);
  call_note_math(f, name, arguments, count);
  switch (name) {
    case TEXT_SUB: results[0] = sub_call(f, arguments, count); return 1;
    case MATH_TYPE: results[0] = call_type_of(f, arguments, count); return 1;
    case MATH_MODF: call_modf_of(f, call_need(f, arguments, count, 0, name), results); return 2;
    default: break;
  }
  results[0] = call_math_result(f, name, arguments, count);
  return 1;
}

/* assert(v, ...), which returns its arguments: rows in which it fails fall back to Lua. */
static void call_assert(struct front *f, struct val *arguments, uint32_t count) {
  int known = 0;
  if (count > FRONT_RESULTS) front_refuse(f, "it passes too many arguments");
  k_value truth = count ? val_truth(f, arguments[0], &known) : K_NONE;
  if (known > 0) return;
  if (known == 0 || truth == build_bool(f->b, false)) {
    if (!call_leaves(f)) front_refuse(f, "it asserts something that is false in every row");
    return;
  }
  build_need(f->b, truth);
  struct val *v = &arguments[0];
  if (val_is_boolean(f, *v)) *v = val_known(f, true);
  v->present = K_ALL;
}

/* ---- methods of the world ---- */

enum method_name { METHOD_DESPAWN, METHOD_ADD, METHOD_REMOVE, METHOD_RANDOM, METHOD_RES,
                   METHOD_HAS, METHOD_GET, METHOD_ALIVE, METHOD_TARGET, METHOD_PARENT,
                   METHOD_MATCHES, METHOD_SET, METHOD_SPAWN, METHOD_EMIT, METHOD_ENABLED,
                   METHOD_CHILDREN, METHOD_SOURCES, METHOD_TARGETS, METHOD_PAIR, METHOD_LOOKUP,
                   METHOD_READ, METHOD_COUNT };

/* Changes that only Lua makes. */
static bool call_is_of_lua(const struct constant *key) {
  static const char *const names[] = {"after", "clone", "disable", "enable", "instantiate",
                                      "spawn_at", "spawn_many"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (text_equal(names[i], key->string.data, key->string.size)) return true;
  return false;
}

struct val call_method(struct front *f, struct val object, const struct constant *key) {
  static const char *const names[METHOD_COUNT] = {"despawn", "add", "remove", "random", "res",
                                                  "has", "get", "alive", "target", "parent",
                                                  "count", "set", "spawn", "emit", "enabled",
                                                  "children", "sources", "targets", "pair",
                                                  "lookup", "read"};
  for (uint32_t i = 0; key->type == CONST_STRING && i < METHOD_COUNT; i++)
    if (text_equal(names[i], key->string.data, key->string.size))
      return (struct val){.kind = VAL_METHOD, .at = i};
  if (key->type == CONST_STRING && call_is_of_lua(key) && call_leaves(f)) return object;
  front_refuse(f, "it calls world:%.*s, which kernels do not support: call it in a system's run, "
               "and keep its result in a resource or field", SHOW(key->string));
  return object;
}

/* Methods of arrays that act on all elements, for functions that run once, not for rows. */
enum array_method { ARRAY_FILL = METHOD_COUNT, ARRAY_COPY, ARRAY_READ, ARRAY_WRITE };

struct val call_of_array(struct front *f, struct val array, const struct constant *key) {
  static const char *const names[] = {"fill", "copy", "read", "write"};
  for (uint32_t i = 0; f->once && key->type == CONST_STRING && i < 4; i++)
    if (text_equal(names[i], key->string.data, key->string.size))
      return (struct val){.kind = VAL_METHOD, .at = ARRAY_FILL + i};
  return element_at(f, array, element_index(f, array, key));
}

/* array:read into a table from outside, with as many elements: copies the cells one by one. */
static void call_array_read_into(struct front *f, struct val array, struct val table) {
  struct builder *b = f->b;
  const struct component *component = array.component;
  uint8_t bits = mixed_bits_of(array_type(component));
  enum type_class class = type_class(array_type(component));
  if (class != CLASS_FLOAT && class != CLASS_TRUTH && !bits)
    front_refuse(f, "it reads the array '%s' into a table, which is of %s: keep what it had in "
                    "another array, as in old:copy(%s)", component->name,
                 type_name(array_type(component)), component->name);
  cell_need_length(f, table, component->length);
  k_value round = build_loop(b, build_i64(b, component->length), f->env.mask);
  f->loop_depth++;
  struct val number = val_number(f, build_binary(b, KO_ADD, round, build_i64(b, 1)), false);
  cell_set_element(f, table, number, maybe_need(f, element_at(f, array, number)));
  f->loop_depth--;
  build_endloop(b, f->env.mask);
}

/* Calls such a method. The result of array:read() must go straight to the next array:write. */
static struct val call_array(struct front *f, uint32_t name, const struct val *arguments,
                             uint32_t count) {
  struct val nothing = {.kind = VAL_NIL}, given = count > 1 ? arguments[1] : nothing;
  int64_t now = build_mark(f->b).value;
  if (!count || arguments[0].kind != VAL_ARRAY)
    front_refuse(f, "it passes wrong arguments to an array's method: write array:fill(value)");
  const struct component *array = arguments[0].component;
  if (name == ARRAY_READ && given.kind == VAL_NIL)
    return (struct val){.kind = VAL_READING, .component = array, .number = now};
  if (name == ARRAY_READ && given.kind == VAL_PATH) {
    call_array_read_into(f, arguments[0], given);
    return given;
  }
  if (name == ARRAY_FILL && given.kind != VAL_NIL) {
    class_share(f, array, ARRAY_LEAF);
    class_set_element(f, array, ARRAY_LEAF, build_i64(f->b, 1), given);
    class_copy(f, array, array);
    return nothing;
  }
  bool copies = name == ARRAY_COPY && given.kind == VAL_ARRAY;
  copies |= name == ARRAY_WRITE && given.kind == VAL_READING && given.number == now;
  if (!copies)
    front_refuse(f, "it copies the array '%s' to or from a table: keep the old values in another "
                    "array, as in old:copy(%s)", array->name, array->name);
  if (array_type(array) != array_type(given.component) || given.component->length > array->length)
    front_refuse(f, "it copies the array '%s' to '%s', which has another type or is shorter",
                 given.component->name, array->name);
  if (array != given.component) class_copy(f, array, given.component);
  return nothing;
}

ecs_id call_pair(struct front *f, struct val value) {
  ecs_id id;
  return call_known_id(f, value, &id) && id_is_pair(id) ? id : ECS_NULL;
}

/* Refuses what is not declared, until it is. */
static void call_need_found(struct front *f, ecs_status status) {
  if (status == ECS_ENOMEM) front_no_memory(f);
  f->fleeting = status != ECS_OK;
  if (f->fleeting) front_refuse(f, "%s", f->world->message);
}

struct component *call_named(struct front *f, ecs_string name) {
  struct component *component = NULL;
  call_need_found(f, component_need_or_builtin(f->world, name.data, name.size, &component));
  return component;
}

struct component *call_component(struct front *f, struct val value) {
  struct component *component = NULL;
  ecs_id id;
  if (value.kind == VAL_STRING) return call_named(f, value.string);
  if (call_known_id(f, value, &id)) call_need_found(f, component_need_id(f->world, id, &component));
  return component;
}

struct component *call_event(struct front *f, struct val value) {
  ecs_world *world = f->world;
  struct component *event = NULL;
  ecs_status status = ECS_OK;
  ecs_id id;
  if (value.kind == VAL_STRING)
    status = event_need_name(world, value.string.data, value.string.size, &event);
  else if (call_known_id(f, value, &id))
    status = event_need(world, id, &event);
  call_need_found(f, status);
  return event;
}

/* world:res(C). */
static struct val resource_call(struct front *f, const struct val *arguments, uint32_t count) {
  bool given = count == 2 && arguments[0].kind == VAL_WORLD;
  const struct component *component = given ? call_component(f, arguments[1]) : NULL;
  if (!component)
    front_refuse(f, "it calls world:res with something other than the name or id of a resource "
                    "from a constant, an upvalue or a field of a table");
  f->fleeting = !component->resource;
  if (f->fleeting)
    front_refuse(f, "component '%s' is not a resource; declare it with world:resource",
                 component->name);
  return (struct val){.kind = VAL_RESOURCE, .component = component, .root = component};
}

/* Refuses a query whose matches may change while the function runs, by its own writes. */
static void call_check_counted(struct front *f, ecs_string text) {
  struct query_terms terms;
  ecs_status status = query_parse(f->world, text, NULL, 0, &terms);
  call_need_found(f, status);
  bool by_rows = terms.step_count || terms.targets, events = terms.event, changes = terms.changes;
  query_terms_free(f->world, &terms);
  if (changes)
    front_refuse(f, "it counts changes, which only a query that is kept can do: count them in a "
                    "system over that query, and keep the number in a resource");
  if (events || by_rows)
    front_refuse(f, "it counts %s: do that in a system's run, and keep the number in a resource",
                 events ? "events, which may be emitted while it runs"
                        : "a query that is decided row by row");
}

/* world:count(text): constant, since changes to entities are deferred. */
static struct val count_call(struct front *f, const struct val *arguments, uint32_t count) {
  bool given = count == 2 && arguments[0].kind == VAL_WORLD && arguments[1].kind == VAL_STRING;
  if (!given)
    front_refuse(f, "it calls world:count with something other than one string from a constant or "
                    "an upvalue: do that in a system's run");
  call_check_counted(f, arguments[1].string);
  return val_number(f, text_guard(f, GUARD_COUNT, arguments[1].string), true);
}

/* world:lookup(text): constant, since names are deferred. */
static struct val lookup_call(struct front *f, const struct val *arguments, uint32_t count) {
  if (count != 2 || arguments[0].kind != VAL_WORLD || arguments[1].kind != VAL_STRING)
    front_refuse(f, "it calls world:lookup with something other than one string from a constant "
                    "or an upvalue: do that in a system's run");
  struct val id = val_number(f, text_guard(f, GUARD_NAMED, arguments[1].string), false);
  id.entity = true;
  id.present = build_binary(f->b, KO_NE, id.value, build_i64(f->b, 0));
  return id;
}

static struct val random_call(struct front *f, const struct val *arguments, uint32_t count) {
  if (count < 2 || arguments[0].kind != VAL_WORLD || !val_is_number(f, arguments[1]) ||
      !arguments[1].entity)
    front_refuse(f, "it calls world:random without an entity");
  struct builder *b = f->b;
  if (!arguments[1].row_entity)   /* null: Lua's error */
    build_need(b, build_binary(b, KO_NE, arguments[1].value, build_i64(b, 0)));
  k_value bits = build_random(b, arguments[1].value, f->env.counts[ENV_CALLS].value,
                              build_uniform(b, UNIFORM_STREAM, KT_I64),
                              build_uniform(b, UNIFORM_TICK, KT_I64));
  f->env.counts[ENV_CALLS] =
      val_number(f, build_binary(b, KO_ADD, f->env.counts[ENV_CALLS].value, build_i64(b, 1)), true);
  if (count == 2) return val_number(f, build_random_unit(b, bits), true);
  k_value low = build_i64(b, 1), high;
  for (uint32_t i = 2; i < count; i++)
    if (!val_is_number(f, arguments[i]))
      front_refuse(f, "it passes wrong arguments to world:random");
  high = number_as(f, arguments[count > 3 ? 3 : 2], KT_I64);
  if (count > 3) low = number_as(f, arguments[2], KT_I64);
  return val_number(f, build_random_range(b, bits, low, high), false);
}

/* In a system's run, changes to entities happen at once, not at its end. */
static void call_refuse_once(struct front *f) {
  if (f->once)
    front_refuse(f, "it changes entities or emits events, and a system's run that does is not "
                    "compiled: do that in a system's each");
}

/* Calls a method of the world with so many wanted results. Returns how many it has. */
static uint32_t method_call(struct front *f, uint32_t name, struct val *arguments, uint32_t count,
                            struct val results[FRONT_RESULTS], uint32_t wanted) {
  static const uint8_t actions[METHOD_COUNT] = {
      [METHOD_DESPAWN] = RUN_DESPAWN, [METHOD_ADD] = RUN_ADD, [METHOD_REMOVE] = RUN_REMOVE,
      [METHOD_SET] = RUN_SET};
  assert(name < METHOD_COUNT);
  bool changes = name < METHOD_RANDOM || name == METHOD_SET || name == METHOD_SPAWN;
  if (changes || name == METHOD_EMIT) call_refuse_once(f);
  /* Nil is not an id, and Lua raises an error for it; except world:alive. */
  for (uint32_t i = 0; i < count; i++)
    if (name != METHOD_ALIVE || arguments[i].lacks) arguments[i] = maybe_need(f, arguments[i]);
  switch (name) {
    case METHOD_RANDOM: results[0] = random_call(f, arguments, count); return 1;
    case METHOD_RES: results[0] = resource_call(f, arguments, count); return 1;
    case METHOD_HAS: results[0] = reach_has(f, arguments, count); return 1;
    case METHOD_ENABLED: results[0] = reach_enabled(f, arguments, count); return 1;
    case METHOD_ALIVE: results[0] = reach_alive(f, arguments, count); return 1;
    case METHOD_TARGET: results[0] = reach_target(f, arguments, count); return 1;
    case METHOD_PARENT: results[0] = reach_parent(f, arguments, count); return 1;
    case METHOD_PAIR: results[0] = tie_pair(f, arguments, count); return 1;
    case METHOD_CHILDREN: results[0] = reach_tied(f, arguments, count, "children"); return 1;
    case METHOD_SOURCES: results[0] = reach_tied(f, arguments, count, "sources"); return 1;
    case METHOD_TARGETS: results[0] = reach_tied(f, arguments, count, "targets"); return 1;
    case METHOD_MATCHES: results[0] = count_call(f, arguments, count); return 1;
    case METHOD_LOOKUP: results[0] = lookup_call(f, arguments, count); return 1;
    case METHOD_READ: results[0] = reach_read(f, arguments, count); return 1;
    case METHOD_GET: return reach_get(f, arguments, count, results, wanted);
    case METHOD_SPAWN: results[0] = order_spawn(f, arguments, count); return 1;
    case METHOD_EMIT: order_emit(f, arguments, count); return 0;
    default: break;
  }
  order_call(f, (enum run_action)actions[name], arguments, count);
  return 0;
}

/* ---- Lua functions ---- */

/* Compiles the body of a Lua function at its call: register `at` of the caller has it, the next
** `count` are its arguments. Its results are left in f->env. */
static void call_inline_function(struct front *f, uint32_t function, uint32_t at,
                                 uint32_t count) {
  struct frame *caller = f->frame;
  struct frame frame = {.caller = caller, .top = NONE};
  assert(caller);
  if (++f->depth >= FRONT_DEPTH)
    front_refuse(f, "its calls nest more than %d deep", FRONT_DEPTH - 1);
  lua_rawgeti(f->L, f->anchors, (lua_Integer)function);
  frame.identity = lua_topointer(f->L, -1);
  lua_pop(f->L, 1);
  for (const struct frame *outer = caller; outer; outer = outer->caller)
    if (outer->identity == frame.identity) front_refuse(f, "it calls itself: write a loop");
  front_open(f, &frame, (uint16_t)function);
  uint32_t registers = frame.code->registers;
  frame.base = f->env.count;
  if (frame.base + registers > FRONT_REGISTERS)
    front_refuse(f, "it uses more than %d variables: write it as two systems", FRONT_REGISTERS);
  struct val nil = {.kind = VAL_NIL};
  for (uint32_t i = 0; i < registers; i++) {
    bool given = i < frame.code->parameters && i < count;
    f->registers[frame.base + i] =
        given ? f->registers[caller->base + at + 1 + i] : nil;
  }
  f->env.count += registers;
  f->frame = &frame;
  k_value mask = f->env.mask;
  front_function(f, &frame);
  assert(f->frame == &frame && f->env.count == frame.base + registers);
  f->frame = caller;
  if (f->env.mask != K_NONE) f->env.mask = mask;
  f->env.count = frame.base;
  f->depth--;
}

static void call_put_results(struct front *f, const struct code *code, const struct val *results,
                             uint32_t count) {
  struct val nil = {.kind = VAL_NIL};
  uint32_t wanted = code->c == NONE ? count : code->c;
  assert(count <= FRONT_RESULTS);
  for (uint32_t i = 0; i < wanted; i++)
    *front_register(f, code->a + i) = i < count ? results[i] : nil;
  f->frame->top = code->c == NONE ? code->a + wanted : NONE;
}

/* The number of a call's arguments; an open list ends at the frame's top. */
static uint32_t call_argument_count(struct front *f, const struct code *code) {
  if (code->b != NONE) return code->b;
  if (f->frame->top == NONE || f->frame->top <= code->a)
    front_refuse(f, "it passes on a variable number of arguments");
  return f->frame->top - code->a - 1;
}

/* Calls what is not a Lua function, with so many wanted results. Returns how many there are, or
** NONE. */
static uint32_t call_native(struct front *f, struct val function, struct val *arguments,
                            uint32_t count, struct val results[FRONT_RESULTS], uint32_t wanted) {
  switch (function.kind) {
    case VAL_MATH:
      if (function.at == BASE_IPAIRS) return items_of(f, arguments, count, results);
      for (uint32_t i = 0; i < count; i++) arguments[i] = maybe_need(f, arguments[i]);
      return math_call(f, function.at, arguments, count, results);
    case VAL_METHOD:
      if (function.at < METHOD_COUNT)
        return method_call(f, function.at, arguments, count, results, wanted);
      results[0] = call_array(f, function.at, arguments, count);
      return function.at == ARRAY_READ;
    case VAL_FINDER: return partner_call(f, function, arguments, count, results);
    case VAL_SPAWNER:
      call_refuse_once(f);
      results[0] = order_by_spawner(f, function, arguments, count);
      return 1;
    default: return NONE;
  }
}

static void call_lua_function(struct front *f, const struct code *code, uint32_t function,
                              uint32_t count) {
  struct val results[FRONT_RESULTS];
  uint32_t before = f->env.result_count;
  f->env.result_count = 0;
  call_inline_function(f, function, code->a, count);
  uint32_t given = f->env.result_count;
  assert(given <= FRONT_RESULTS);
  memcpy(results, f->env.results, given * sizeof *results);
  f->env.result_count = before;
  call_put_results(f, code, results, given);
}

/* A call that is another one for some rows: each is done for its rows, while the others wait. */
struct call_ways {
  uint32_t first, kept, top;
  k_value whole;
};

static struct call_ways call_open_ways(struct front *f) {
  return (struct call_ways){.first = f->edge_count, .kept = NONE, .top = NONE,
                            .whole = f->env.mask};
}

/* Has the rows of a mask go on, or the last ones that are left; false: there are none. */
static bool call_begin_way(struct front *f, struct call_ways *ways, k_value here, bool last) {
  k_value rows = last ? f->env.mask : mask_and(f, f->env.mask, here);
  ways->kept = front_split(f, last ? K_NONE : mask_and_not(f, f->env.mask, here));
  f->env.mask = rows;
  if (rows != K_NONE) build_at(f->b, rows, front_tag(f));
  return rows != K_NONE;
}

static void call_end_way(struct front *f, struct call_ways *ways, bool done) {
  if (done && ways->top != NONE && f->frame->top != ways->top)
    front_refuse(f, "it passes on all results of one of several calls, which return different "
                    "numbers of them: put them into locals first");
  if (done) ways->top = f->frame->top;
  front_swap(f, ways->kept);
}

static void call_close_ways(struct front *f, const struct call_ways *ways) {
  front_unite(f, ways->first);
  if (f->env.mask == K_NONE) return;
  f->env.mask = ways->whole;
  build_at(f->b, f->env.mask, front_tag(f));
}

/* Calls each function of a table, for the rows that have it. */
static void call_each_of(struct front *f, const struct code *code, struct val functions,
                         uint32_t count) {
  functions = maybe_need(f, functions);
  struct call_ways ways = call_open_ways(f);
  uint32_t at = 0;
  k_value here, others;
  const struct val *function = object_set_function(f, functions, &at, &here), *next;
  for (; function && f->env.mask != K_NONE; function = next, here = others) {
    next = object_set_function(f, functions, &at, &others);
    bool any = call_begin_way(f, &ways, here, !next);
    if (any) call_lua_function(f, code, function->at, count);
    call_end_way(f, &ways, any);
  }
  call_close_ways(f, &ways);
}

/* Calls a method of the world with a name that is one of several texts: with each of them. */
static void call_each_name(struct front *f, const struct code *code, uint32_t at) {
  struct val choice = maybe_need(f, *front_register(f, at));
  struct call_ways ways = call_open_ways(f);
  uint64_t left = (uint64_t)choice.number;
  for (uint32_t i = 0; i < f->string_count && left && f->env.mask != K_NONE; i++) {
    if (!(left >> i & 1)) continue;
    left &= ~((uint64_t)1 << i);
    k_value here = build_binary(f->b, KO_EQ, choice.value, build_i64(f->b, i));
    bool any = call_begin_way(f, &ways, here, !left);
    *front_register(f, at) = (struct val){.kind = VAL_STRING, .string = f->strings[i]};
    if (any) call_function(f, code);
    call_end_way(f, &ways, any);
  }
  call_close_ways(f, &ways);
}

void call_function(struct front *f, const struct code *code) {
  uint32_t count = call_argument_count(f, code);
  const struct val function = *front_register(f, code->a);
  if (count && code->a + count >= f->frame->code->registers)
    front_refuse(f, "it passes too many arguments");
  struct val *arguments = count ? front_register(f, code->a + 1) : NULL;
  struct val results[FRONT_RESULTS] = {{.kind = VAL_NIL}};
  if (function.kind == VAL_MATH && function.at == BASE_ASSERT) {
    call_assert(f, arguments, count);
    call_put_results(f, code, arguments, count);
    return;
  }
  bool method = function.kind == VAL_METHOD && function.at < METHOD_COUNT;
  for (uint32_t i = 1; i < 3 && i < count && method; i++)
    if (arguments[i].kind == VAL_CHOICE) {
      call_each_name(f, code, code->a + 1 + i);
      return;
    }
  uint32_t given = call_native(f, function, arguments, count, results, code->c);
  if (given != NONE) {
    call_put_results(f, code, results, given);
    return;
  }
  if (function.kind == VAL_FUNCTIONS) {
    call_each_of(f, code, function, count);
    return;
  }
  if (function.kind == VAL_NIL) front_refuse(f, "it calls nil: is a name misspelled?");
  if (function.kind != VAL_FUNCTION)
    front_refuse(f, "it calls something that is neither a Lua function nor a math function: call "
                    "it in a system's run, and keep its result in a resource");
  call_lua_function(f, code, function.at, count);
}
