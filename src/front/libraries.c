/* What functions of the math library, ecs.math and string.sub do in kernels, and how they are
** recognised: by identity, whatever names scripts give them. */
#include <math.h>

#include <lualib.h>

#include "front/front.h"
#include "front/libraries.h"

/* In the order of enum math_name. */
static const char *const math_names[MATH_COUNT] = {
  "abs", "ceil", "floor", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan",
  "fmod", "min", "max", "ult", "modf", "atan2", "tointeger", "type", "deg", "rad", "sub",
  "random", "randomseed", "pow", "log10", "cosh", "sinh", "tanh", "frexp", "ldexp", "assert",
  "error", "ipairs", "pairs", "insert", "remove", "sort", "acos", "asin", "atan", "cos", "exp",
  "log", "log10", "log2", "mod", "pow", "sin", "tan"};

/* The addresses of library functions are the same in every state of a process; in LuaJIT they are
** objects of this state. */
struct val library_find(struct front *f, lua_CFunction function) {
  struct val result = {.kind = VAL_NOTHING};
  for (uint32_t i = 0; function && i < MATH_COUNT; i++)
    if (f->math[i] == function) result = (struct val){.kind = VAL_MATH, .at = i};
  bool raises = result.kind == VAL_MATH && result.at == BASE_ERROR;
  if (raises && !env_leave_some(f)) result.kind = VAL_NOTHING;
  return result;
}

#ifdef LUAJIT_VERSION

/* Pushes tables with the functions of the base, table, math and string library, as they are when
** this is first called: if opened again, LuaJIT's libraries would have other functions. */
static void library_push_all(lua_State *L) {
  static const char *const names[] = {LUA_GNAME, LUA_TABLIBNAME, LUA_MATHLIBNAME,
                                      LUA_STRLIBNAME};
  luaL_getsubtable(L, LUA_REGISTRYINDEX, "ecs.libraries");
  for (int i = 0; i < 4; i++) {
    if (luaL_getsubtable(L, -1 - i, names[i])) continue;
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, names[i]);
    for (uint32_t name = 0; name < OWN_ACOS && lua_istable(L, -1); name++) {
      lua_getfield(L, -1, math_names[name]);
      lua_setfield(L, -4, math_names[name]);
    }
    lua_pop(L, 2);
  }
  lua_remove(L, -5);
}

#else

/* Pushes a table with the functions of the base library, opened with that table as globals: scripts
** may have replaced those that they see. */
static void library_push_base(lua_State *L) {
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

/* Pushes tables with the functions of the base, table, math and string library. */
static void library_push_all(lua_State *L) {
  library_push_base(L);
  lua_pushcfunction(L, luaopen_table);
  lua_call(L, 0, 1);
  lua_pushcfunction(L, luaopen_math);
  lua_call(L, 0, 1);
  /* Opening the string library sets the metatable of strings, so the old one is restored. In
  ** between, nothing may fail or run Lua, as a hook would at a call. */
  lua_pushliteral(L, "");
  if (!lua_getmetatable(L, -1)) lua_pushnil(L);
  luaopen_string(L);
  lua_insert(L, -2);
  lua_setmetatable(L, -3);
  lua_remove(L, -2);
}

#endif

void library_push(lua_State *L, const luaL_Reg *own) {
  lua_CFunction *known = lua_newuserdatauv(L, MATH_COUNT * sizeof *known, 0);
  for (int i = OWN_ACOS; i < MATH_COUNT; i++) {
    assert(own[i - OWN_ACOS].name && strcmp(own[i - OWN_ACOS].name, math_names[i]) == 0);
    known[i] = own[i - OWN_ACOS].func;
  }
  library_push_all(L);
  for (int i = 0; i < OWN_ACOS; i++) {
    int from = i == TEXT_SUB ? -1 : i < BASE_ASSERT ? -2 : i >= TABLE_INSERT ? -3 : -4;
    lua_getfield(L, from, math_names[i]);
    bool alias = i == MATH_ATAN2 && !NUMBERS_ARE_DOUBLES;   /* where it exists, it is math.atan */
    known[i] = alias ? NULL : lua_tocfunction(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 4);
}

/* The argument of a math function, from 0, which must be a number. */
static struct val library_need(struct front *f, const struct val *arguments, uint32_t count,
                            uint32_t at, uint32_t function) {
  assert(function < MATH_COUNT);
  if (at >= count || !val_is_number(f, arguments[at]))
    front_refuse(f, "it calls %smath.%s without a number", function < OWN_ACOS ? "" : "ecs.",
                 math_names[function]);
  return arguments[at];
}

/* LuaJIT's math.min and math.max: if the two are equal, or one is NaN, the second. */
static struct val library_either(struct front *f, k_op op, k_value x, k_value y, bool soft) {
  k_value first = build_binary(f->b, op == KO_MIN ? KO_LT : KO_GT, x, y);
  return val_number(f, build_select(f->b, first, x, y), soft);
}

static struct val library_min_max(struct front *f, k_op op, const struct val *arguments,
                               uint32_t count, uint32_t function) {
  struct val result = library_need(f, arguments, count, 0, function);
  for (uint32_t i = 1; i < count; i++) {
    struct val next = library_need(f, arguments, count, i, function);
    int type = val_common_type(f, result, next);
    if (type < 0)
      front_refuse(f, "math.%s mixes ids and floats: add 0.0 to the id", math_names[function]);
    k_value x = number_as(f, result, (k_type)type), y = number_as(f, next, (k_type)type);
    bool wide = type == KT_I64 && (val_is_wide(result) || val_is_wide(next));
    const struct val before = result;
    if (NUMBERS_ARE_DOUBLES && type != KT_I64) {
      result = library_either(f, op, x, y, before.soft && next.soft);
      continue;
    }
    result = val_number(f, build_binary(f->b, op, x, y), before.soft && next.soft);
    k_value other = op == KO_MIN ? build_binary(f->b, KO_LT, y, x)
                                 : build_binary(f->b, KO_LT, x, y);
    mixed_join(f, other, next, before, &result);
    result.wide = wide;
    result = steps_step(f, result, op == KO_MIN ? KF_LESS : KF_MORE, before, next);
  }
  return result;
}

/* math.abs. An integer stays an integer; the lowest integer stays as it is. */
static struct val library_absolute(struct front *f, struct val x) {
  if (x.mixed) return mixed_absolute(f, x);
  struct val result = val_number(f, build_unary(f->b, KO_ABS, x.value), x.soft);
  result.wide = val_is_wide(x);
  return result;
}

/* math.floor or math.ceil of a float, as a float. */
static struct val library_round(struct front *f, uint32_t name, struct val x) {
  struct builder *b = f->b;
  struct val one = val_number(f, build_f64(b, 1.0), true);
  k_value part = build_unary(b, KO_TRUNC, x.value), step = number_as(f, one, val_type(f, x));
  bool down = name == MATH_FLOOR;
  k_value beyond = build_binary(b, down ? KO_LT : KO_GT, x.value, part);
  k_value next = build_binary(b, down ? KO_SUB : KO_ADD, part, step);
  return val_number(f, build_select(b, beyond, next, part), x.soft);
}

static struct val library_floor_ceil(struct front *f, uint32_t name, struct val x) {
  if (val_type(f, x) == KT_I64) return x;
  if (NUMBERS_ARE_DOUBLES) return library_round(f, name, x);
  x = mixed_settle(f, x);
  k_op op = name == MATH_FLOOR ? KO_FLOOR : KO_CEIL;
  return val_number(f, build_unary(f->b, op, x.value), x.soft);
}

/* An operation on floats, whatever the types of its operands. */
static struct val library_two_floats(struct front *f, k_op op, struct val x, struct val y) {
  k_type type = number_float_type(f, x, y);
  k_value value = build_binary(f->b, op, number_as(f, x, type), number_as(f, y, type));
  return val_number(f, value, x.soft && y.soft);
}

static struct val library_fmod_of(struct front *f, struct val x, struct val y) {
  number_decided(f, x, y, "calls math.fmod with");
  number_decided(f, y, x, "calls math.fmod with");
  if (NUMBERS_ARE_DOUBLES || val_type(f, x) != KT_I64 || val_type(f, y) != KT_I64)
    return library_two_floats(f, KO_FMOD, x, y);
  k_value rest = build_binary(f->b, KO_FMOD, x.value, y.value);
  struct val result = val_number(f, rest, x.soft && y.soft);
  result.wide = val_is_wide(x) || val_is_wide(y);
  return result;
}

static struct val library_ult_of(struct front *f, struct val x, struct val y) {
  x = mixed_settle(f, x);
  y = mixed_settle(f, y);
  k_value a = number_as(f, x, KT_I64), b = number_as(f, y, KT_I64);
  return val_number(f, build_binary(f->b, KO_ULT, a, b), false);
}

/* A step that Lua does in f64, rounded to f32 if an f32 operand requires it. */
static struct val library_wide_step(struct front *f, struct val x, struct val y, k_value step) {
  k_type type = number_float_type(f, x, y);
  return val_number(f, build_convert(f->b, type, step), x.soft && y.soft);
}

static struct val library_scaled(struct front *f, struct val x, double by) {
  k_value product = build_binary(f->b, KO_MUL, number_as(f, x, KT_F64), build_f64(f->b, by));
  return library_wide_step(f, x, x, product);
}

/* Whether Lua's math.log(x, 2) is log2(x). Compiled as C89, the default on Windows, Lua divides two
** logarithms, which differs for some power of two. */
static bool library_takes_log2(const struct front *f) {
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
static struct val library_log_of(struct front *f, struct val x, struct val base) {
  struct builder *b = f->b;
  bool binary = library_takes_log2(f);
  k_value number = number_as(f, x, KT_F64), by = number_as(f, base, KT_F64);
  if (base.literal && ((base.number == 2 && binary) || base.number == 10)) {
    k_op op = base.number == 2 ? KO_LOG2 : KO_LOG10;
    return library_wide_step(f, x, base, build_unary(b, op, number));
  }
  k_value step = build_binary(b, KO_DIV, build_unary(b, KO_LOG, number),
                              build_unary(b, KO_LOG, by));
  step = build_select(b, build_binary(b, KO_EQ, by, build_f64(b, 10)),
                      build_unary(b, KO_LOG10, number), step);
  if (binary)
    step = build_select(b, build_binary(b, KO_EQ, by, build_f64(b, 2)),
                        build_unary(b, KO_LOG2, number), step);
  return library_wide_step(f, x, base, step);
}

/* math.modf. The integral part becomes an integer if possible, so it is never -0.0. For an infinity
** the fraction is 0.0. */
static void library_modf_of(struct front *f, struct val x, struct val results[2]) {
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

static struct val library_to_integer(struct front *f, struct val x) {
  if (val_type(f, x) != KT_I64)
    front_refuse(f, "it calls math.tointeger with a float, for which the result may be nil: write "
                    "math.floor");
  return x;
}

/* math.type, the result of which is known at compile time. */
static struct val library_type_of(struct front *f, const struct val *arguments, uint32_t count) {
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

/* A function of ecs.math: computed in f64, and rounded to f32 if an f32 argument requires it. */
static struct val library_own(struct front *f, uint32_t name, const struct val *arguments,
                           uint32_t count) {
  static const k_op ops[] = {KO_OWN_ACOS, KO_OWN_ASIN, KO_OWN_ATAN, KO_OWN_COS, KO_OWN_EXP,
                             KO_OWN_LOG, KO_OWN_LOG10, KO_OWN_LOG2, KO_OWN_MOD, KO_OWN_POW,
                             KO_OWN_SIN, KO_OWN_TAN};
  assert(name >= OWN_ACOS && name - OWN_ACOS < sizeof ops / sizeof *ops);
  k_op op = ops[name - OWN_ACOS];
  struct val x = library_need(f, arguments, count, 0, name), y;
  k_value a = number_as(f, x, KT_F64);
  if (op < KO_ADD) return library_wide_step(f, x, x, build_unary(f->b, op, a));
  if (name == OWN_ATAN && (count < 2 || arguments[1].kind == VAL_NIL))
    y = val_number(f, build_f64(f->b, 1.0), true);
  else
    y = library_need(f, arguments, count, 1, name);
  return library_wide_step(f, x, y, build_binary(f->b, op, a, number_as(f, y, KT_F64)));
}

/* Notes that the result depends on the C library, while that function of ecs.math does not. */
static void library_depends(struct front *f, uint32_t own) {
  assert(own >= OWN_ACOS && own < MATH_COUNT);
  f->unportable |= 1u << (own - OWN_ACOS);
}

void library_note_power(struct front *f) { library_depends(f, OWN_POW); }

/* Notes a call of a math function. For f32, kernels have their own exp, log, sin and cos. */
static void library_note_math(struct front *f, uint32_t name, const struct val *arguments,
                           uint32_t count) {
  static const uint8_t likes[MATH_KNOWN] = {
      [MATH_EXP] = OWN_EXP, [MATH_LOG] = OWN_LOG, [MATH_SIN] = OWN_SIN, [MATH_COS] = OWN_COS,
      [MATH_TAN] = OWN_TAN, [MATH_ASIN] = OWN_ASIN, [MATH_ACOS] = OWN_ACOS,
      [MATH_ATAN] = OWN_ATAN, [MATH_ATAN2] = OWN_ATAN};
  bool two = count > 1 && arguments[1].kind != VAL_NIL;
  bool kernels_own = name == MATH_EXP || name == MATH_LOG || name == MATH_SIN || name == MATH_COS;
  uint32_t like = likes[name];
  if (!like || !count || !val_is_number(f, arguments[0])) return;
  if (kernels_own && !two && val_type(f, arguments[0]) == KT_F32) return;
  if (name == MATH_LOG && two && arguments[1].literal && arguments[1].number == 2) like = OWN_LOG2;
  if (name == MATH_LOG && two && arguments[1].literal && arguments[1].number == 10)
    like = OWN_LOG10;
  library_depends(f, like);
}

void library_push_portable(lua_State *L, uint32_t unportable) {
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

static struct val library_one_float(struct front *f, uint32_t name, struct val x) {
  static const k_op floats[MATH_COUNT] = {
      [MATH_SQRT] = KO_SQRT, [MATH_EXP] = KO_EXP, [MATH_LOG] = KO_LOG, [MATH_SIN] = KO_SIN,
      [MATH_COS] = KO_COS,   [MATH_TAN] = KO_TAN, [MATH_ASIN] = KO_ASIN,
      [MATH_ACOS] = KO_ACOS};
  assert(name < MATH_COUNT && floats[name]);
  if (val_type(f, x) == KT_I64) x.value = number_as(f, x, KT_F64);
  return val_number(f, build_unary(f->b, floats[name], x.value), x.soft);
}

static struct val library_result(struct front *f, uint32_t name, const struct val *arguments,
                                   uint32_t count) {
  static const double pi = 3.141592653589793238462643383279502884;
  struct val x = library_need(f, arguments, count, 0, name);
  bool two = count > 1 && arguments[1].kind != VAL_NIL;
  switch (name) {
    case MATH_ABS: return library_absolute(f, x);
    case MATH_CEIL:
    case MATH_FLOOR: return library_floor_ceil(f, name, x);
    case MATH_MIN: return library_min_max(f, KO_MIN, arguments, count, name);
    case MATH_MAX: return library_min_max(f, KO_MAX, arguments, count, name);
    case MATH_FMOD: return library_fmod_of(f, x, library_need(f, arguments, count, 1, name));
    case MATH_DEG: return library_scaled(f, x, 180.0 / pi);
    case MATH_RAD: return library_scaled(f, x, pi / 180.0);
    case MATH_LOG:
      if (two) return library_log_of(f, x, library_need(f, arguments, count, 1, name));
      break;
    case MATH_ATAN:
      if (!two)
        return library_two_floats(f, KO_ATAN2, x, val_number(f, build_f64(f->b, 1.0), true));
    /* fall through */
    case MATH_ATAN2:
      return library_two_floats(f, KO_ATAN2, x, library_need(f, arguments, count, 1, name));
    case MATH_ULT: return library_ult_of(f, x, library_need(f, arguments, count, 1, name));
    case MATH_TOINTEGER: return library_to_integer(f, x);
    default: break;
  }
  return library_one_float(f, name, x);
}

/* ---- strings ---- */

/* An integer constant, or an outside integer that must stay the same. */
static bool library_known_place(struct front *f, struct val value, int64_t *place) {
  ecs_id number = (ecs_id)value.number;
  if (!val_is_number(f, value)) return false;
  bool whole = value.literal ? value.number != 0 || val_type(f, value) == KT_I64
                             : call_known_id(f, value, &number);
  *place = (int64_t)number;
  return whole;
}

/* string.sub(s, 1, n) */
static struct val library_sub(struct front *f, const struct val *arguments, uint32_t count) {
  int64_t first = 0, last = -1;
  bool fits = count > 1 && val_is_string(arguments[0]) &&
              library_known_place(f, arguments[1], &first) && first == 1 &&
              (count == 2 || library_known_place(f, arguments[2], &last)) && last >= -1;
  if (!fits)
    front_refuse(f, "it takes a part of a string that is not its beginning, as in s:sub(1, 3): do "
                    "that in a system's run, or keep the part in its own field");
  if (last == -1) return arguments[0];
  k_value string = text_as_cell(f, arguments[0]);
  return (struct val){.kind = VAL_PREFIX, .value = string, .number = last};
}

static void library_refuse_function(struct front *f, uint32_t name) {
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
/* Functions that only LuaJIT has, or that it does differently from Lua 5.4; false for others. */
static bool library_of_luajit(struct front *f, uint32_t name, const struct val *arguments,
                              uint32_t count, struct val *result) {
  if (name == MATH_POW) {
    *result = number_binary(f, OPERATOR_POW, library_need(f, arguments, count, 0, name),
                            library_need(f, arguments, count, 1, name));
  } else if (name == MATH_LOG10) {
    struct val x = library_need(f, arguments, count, 0, name);
    library_depends(f, OWN_LOG10);
    *result = library_wide_step(f, x, x, build_unary(f->b, KO_LOG10, number_as(f, x, KT_F64)));
  } else if (name == MATH_ATAN) {
    front_refuse(f, "it calls math.atan: write math.atan2(y, 1), or ecs.math.atan(y)");
  } else if (name == MATH_LOG && count > 1) {
    front_refuse(f, "it calls math.log with a base: write math.log(x) / math.log(base), or "
                    "ecs.math.log2(x)");
  } else if (name == MATH_MODF) {
    front_refuse(f, "it calls math.modf: write math.floor");
  } else {
    return false;
  }
  return true;
}

uint32_t library_call(struct front *f, uint32_t name, const struct val *arguments,
                          uint32_t count, struct val results[2]) {
  if (name >= OWN_ACOS) {
    results[0] = library_own(f, name, arguments, count);
    return 1;
  }
  bool luajit = NUMBERS_ARE_DOUBLES && library_of_luajit(f, name, arguments, count, &results[0]);
  if (!luajit && name >= MATH_KNOWN) library_refuse_function(f, name);
  if (name < MATH_KNOWN) library_note_math(f, name, arguments, count);
  if (luajit) return 1;
  switch (name) {
    case TEXT_SUB: results[0] = library_sub(f, arguments, count); return 1;
    case MATH_TYPE: results[0] = library_type_of(f, arguments, count); return 1;
    case MATH_MODF:
      library_modf_of(f, library_need(f, arguments, count, 0, name), results);
      return 2;
    default: break;
  }
  results[0] = library_result(f, name, arguments, count);
  return 1;
}

/* ---- lists that the function creates: functions of lua/ecs/lists.lua are compiled instead ---- */

const char list_functions_key = 0;

/* Anchors one of these functions, and trusts "remove". */
static struct val list_function(struct front *f, const char *name) {
  lua_rawgetp(f->L, LUA_REGISTRYINDEX, &list_functions_key);
  if (lua_istable(f->L, -1))
    lua_getfield(f->L, -1, name);
  else
    front_refuse(f, "it calls a function of 'table', and module 'ecs' is not loaded");
  lua_remove(f->L, -2);
  lua_Debug from;
  lua_pushvalue(f->L, -1);
  lua_getinfo(f->L, ">S", &from);
  f->list_source = from.source;
  bool trusted = strcmp(name, "remove") == 0;
  return (struct val){.kind = VAL_FUNCTION, .at = front_anchor(f), .trusted = trusted};
}

struct val list_call(struct front *f, struct val function, const struct val *arguments,
                     uint32_t count) {
  static const char *const names[][4] = {
      [0] = {NULL, NULL, "", "insert"},
      [TABLE_REMOVE - TABLE_INSERT] = {NULL, "pop", "remove", NULL},
      [TABLE_SORT - TABLE_INSERT] = {NULL, "order", "sort", NULL}};
  bool known = function.kind == VAL_MATH && function.at >= TABLE_INSERT &&
               function.at <= TABLE_SORT;
  if (!known) return function;
  bool inserts = function.at == TABLE_INSERT;
  while (count > 1 && !inserts && arguments[count - 1].kind == VAL_NIL) count--;
  if (count) scratch_want(f, arguments[0]);
  const char *which = count < 4 ? names[function.at - TABLE_INSERT][count] : NULL;
  if (count && arguments[0].kind == VAL_LIST && which)
    return *which ? list_function(f, which) : function;
  if (inserts) return function;
  front_refuse(f, "it calls table.%s with a list that it does not create: do that in a system's "
                  "run", math_names[function.at]);
}
