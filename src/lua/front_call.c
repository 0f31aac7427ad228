/* Calls: functions of the math library, Lua functions (inlined), methods of the world. */
#include "front.h"

/* ---- the math library ---- */

enum math_name {
  MATH_ABS, MATH_CEIL, MATH_FLOOR, MATH_SQRT, MATH_EXP, MATH_LOG, MATH_SIN, MATH_COS,
  MATH_TAN, MATH_ASIN, MATH_ACOS, MATH_ATAN, MATH_FMOD, MATH_MIN, MATH_MAX, MATH_ULT,
  MATH_MODF, MATH_TOINTEGER, MATH_COUNT
};

static const char *const math_names[MATH_COUNT] = {
    "abs", "ceil", "floor", "sqrt", "exp", "log", "sin", "cos", "tan",
    "asin", "acos", "atan", "fmod", "min", "max", "ult", "modf", "tointeger"};

/* The addresses of math's functions are the same in every state of a process. */
struct val call_known(lua_CFunction function, const lua_CFunction *known) {
  struct val result = {.kind = VAL_NOTHING};
  for (uint32_t i = 0; function && i < MATH_COUNT; i++)
    if (known[i] == function) result = (struct val){.kind = VAL_MATH, .at = i};
  return result;
}

/* Pushes a userdata with the addresses of math's functions. */
void call_push_math(lua_State *L) {
  lua_CFunction *known = lua_newuserdatauv(L, MATH_COUNT * sizeof *known, 0);
  lua_pushcfunction(L, luaopen_math);
  lua_call(L, 0, 1);
  for (int i = 0; i < MATH_COUNT; i++) {
    lua_getfield(L, -1, math_names[i]);
    known[i] = lua_tocfunction(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static struct val need(struct front *f, const struct val *arguments, uint32_t count,
                       uint32_t at, uint32_t function) {
  if (at >= count || !val_is_number(f, arguments[at]))
    front_refuse(f, "it calls math.%s without a number", math_names[function]);
  return arguments[at];
}

static struct val as_float(struct front *f, struct val x) {
  if (val_type(f, x) == KT_I64) x.value = number_as(f, x, KT_F64);
  return x;
}

static struct val min_max(struct front *f, k_op op, const struct val *arguments,
                          uint32_t count, uint32_t function) {
  struct val result = need(f, arguments, count, 0, function);
  for (uint32_t i = 1; i < count; i++) {
    struct val next = need(f, arguments, count, i, function);
    int type = val_common_type(f, result, next);
    if (type < 0) front_refuse(f, "math.%s mixes integers and floats", math_names[function]);
    k_value x = number_as(f, result, (k_type)type), y = number_as(f, next, (k_type)type);
    result = val_number(f, build_binary(f->b, op, x, y), result.soft && next.soft);
  }
  return result;
}

static struct val floor_ceil(struct front *f, uint32_t name, struct val x) {
  if (val_type(f, x) == KT_I64) return x;
  k_op op = name == MATH_FLOOR ? KO_FLOOR : KO_CEIL;
  return val_number(f, build_unary(f->b, op, x.value), x.soft);
}

static struct val two_floats(struct front *f, k_op op, struct val x, struct val y) {
  k_type a = val_type(f, x), b = val_type(f, y);
  bool narrow = (a == KT_F32 && (b == KT_F32 || y.soft)) || (b == KT_F32 && x.soft);
  k_type type = narrow ? KT_F32 : KT_F64;
  k_value value = build_binary(f->b, op, number_as(f, x, type), number_as(f, y, type));
  return val_number(f, value, x.soft && y.soft);
}

static struct val fmod_of(struct front *f, struct val x, struct val y) {
  if (val_type(f, x) != KT_I64 || val_type(f, y) != KT_I64) return two_floats(f, KO_FMOD, x, y);
  return val_number(f, build_binary(f->b, KO_FMOD, x.value, y.value), x.soft && y.soft);
}

static struct val math_call(struct front *f, uint32_t name, const struct val *arguments,
                            uint32_t count) {
  static const k_op floats[MATH_COUNT] = {
      [MATH_SQRT] = KO_SQRT, [MATH_EXP] = KO_EXP, [MATH_LOG] = KO_LOG, [MATH_SIN] = KO_SIN,
      [MATH_COS] = KO_COS,   [MATH_TAN] = KO_TAN, [MATH_ASIN] = KO_ASIN,
      [MATH_ACOS] = KO_ACOS, [MATH_ATAN] = KO_ATAN};
  struct val x = need(f, arguments, count, 0, name);
  switch (name) {
    case MATH_ABS: return val_number(f, build_unary(f->b, KO_ABS, x.value), x.soft);
    case MATH_CEIL:
    case MATH_FLOOR: return floor_ceil(f, name, x);
    case MATH_MIN: return min_max(f, KO_MIN, arguments, count, name);
    case MATH_MAX: return min_max(f, KO_MAX, arguments, count, name);
    case MATH_FMOD: return fmod_of(f, x, need(f, arguments, count, 1, name));
    case MATH_ULT: {
      struct val y = need(f, arguments, count, 1, name);
      k_value a = number_as(f, x, KT_I64), b = number_as(f, y, KT_I64);
      return val_number(f, build_binary(f->b, KO_ULT, a, b), false);
    }
    case MATH_MODF:
    case MATH_TOINTEGER: front_refuse(f, "it calls math.%s", math_names[name]); break;
    case MATH_LOG:
      if (count > 1) front_refuse(f, "it calls math.log with a base");
      break;
    case MATH_ATAN:
      if (count > 1) return two_floats(f, KO_ATAN2, x, need(f, arguments, count, 1, name));
      break;
    default: break;
  }
  x = as_float(f, x);
  return val_number(f, build_unary(f->b, floats[name], x.value), x.soft);
}

/* ---- methods of the world ---- */

enum method_name { METHOD_DESPAWN, METHOD_ADD, METHOD_REMOVE, METHOD_RANDOM };

struct val call_method(struct front *f, struct val object, const struct constant *key) {
  static const char *const names[] = {"despawn", "add", "remove", "random"};
  for (uint32_t i = 0; key->type == CONST_STRING && i < 4; i++)
    if (text_equal(names[i], key->string.data, key->string.size))
      return (struct val){.kind = VAL_METHOD, .at = i};
  front_refuse(f, "it calls '%S' of the world", &key->string);
  return object;
}

static void need_row_entity(struct front *f, const struct val *arguments, uint32_t count) {
  bool given = count > 1 && arguments[0].kind == VAL_WORLD && arguments[1].row_entity;
  if (!given) front_refuse(f, "it changes another entity than the row's own");
}

static ecs_id component_argument(struct front *f, const struct val *arguments,
                                 uint32_t count) {
  struct component *component = NULL;
  if (count == 3 && arguments[2].kind == VAL_STRING)
    component = component_find(f->box->world, arguments[2].string.data,
                               arguments[2].string.size);
  if (!component)
    front_refuse(f, "it adds or removes what is no component named by a constant");
  return component->id;
}

static struct val random_call(struct front *f, const struct val *arguments, uint32_t count) {
  if (count < 2 || arguments[0].kind != VAL_WORLD || arguments[1].kind != VAL_VALUE ||
      !arguments[1].entity)
    front_refuse(f, "it calls world:random without an entity");
  builder *b = f->b;
  k_value bits = build_random(b, arguments[1].value, f->env.calls.value,
                              build_uniform(b, UNIFORM_STREAM, KT_I64),
                              build_uniform(b, UNIFORM_TICK, KT_I64));
  f->env.calls =
      val_number(f, build_binary(b, KO_ADD, f->env.calls.value, build_i64(b, 1)), true);
  if (count == 2) return val_number(f, build_random_unit(b, bits), true);
  k_value low = build_i64(b, 1), high;
  for (uint32_t i = 2; i < count; i++)
    if (!val_is_number(f, arguments[i])) front_refuse(f, "it calls world:random badly");
  high = number_as(f, arguments[count > 3 ? 3 : 2], KT_I64);
  if (count > 3) low = number_as(f, arguments[2], KT_I64);
  return val_number(f, build_random_range(b, bits, low, high), false);
}

static struct val method_call(struct front *f, uint32_t name, const struct val *arguments,
                              uint32_t count) {
  struct val nothing = {.kind = VAL_NIL};
  if (name == METHOD_RANDOM) return random_call(f, arguments, count);
  need_row_entity(f, arguments, count);
  if (f->loop_depth) front_refuse(f, "it changes entities inside a loop");
  if (f->result == RESULT_TRUTH)
    front_refuse(f, "it changes entities in a predicate");
  if (f->command_count == FRONT_COMMANDS)
    front_refuse(f, "it changes entities in too many places");
  struct front_command *command = &f->commands[f->command_count];
  *command = (struct front_command){FORM_DESPAWN, ECS_NULL};
  if (name != METHOD_DESPAWN) {
    command->form = name == METHOD_ADD ? FORM_ADD : FORM_REMOVE;
    command->component = component_argument(f, arguments, count);
  } else if (count != 2) {
    front_refuse(f, "it calls world:despawn badly");
  }
  build_emit(f->b, (int)f->command_count++, f->env.mask);
  return nothing;
}

/* ---- Lua functions ---- */

static void refuse_recursion(struct front *f, const void *identity) {
  for (const struct frame *at = f->frame; at; at = at->caller)
    if (at->identity == identity) front_refuse(f, "it calls itself");
}

static void inline_function(struct front *f, uint32_t function, uint32_t at,
                            uint32_t count) {
  struct frame *caller = f->frame;
  struct frame frame = {.caller = caller, .top = NONE};
  if (++f->depth >= FRONT_DEPTH) front_refuse(f, "it nests calls too deep");
  lua_rawgeti(f->L, f->anchors, (lua_Integer)function);
  frame.identity = lua_topointer(f->L, -1);
  lua_pop(f->L, 1);
  refuse_recursion(f, frame.identity);
  front_open(f, &frame, (uint16_t)function);
  uint32_t registers = frame.code->registers;
  frame.base = f->env.count;
  if (frame.base + registers > FRONT_REGISTERS) front_refuse(f, "it uses too many variables");
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
  f->frame = caller;
  f->env.mask = mask;
  f->env.count = frame.base;
  f->depth--;
}

static void put_results(struct front *f, const struct code *code, const struct val *results,
                        uint32_t count) {
  struct val nil = {.kind = VAL_NIL};
  uint32_t wanted = code->c == NONE ? count : code->c;
  for (uint32_t i = 0; i < wanted; i++)
    *front_register(f, code->a + i) = i < count ? results[i] : nil;
  f->frame->top = code->c == NONE ? code->a + wanted : NONE;
}

static uint32_t argument_count(struct front *f, const struct code *code) {
  if (code->b != NONE) return code->b;
  if (f->frame->top == NONE || f->frame->top <= code->a)
    front_refuse(f, "it passes on a variable number of arguments");
  return f->frame->top - code->a - 1;
}

void call_function(struct front *f, const struct code *code) {
  uint32_t count = argument_count(f, code);
  const struct val function = *front_register(f, code->a);
  if (count && code->a + count >= f->frame->code->registers)
    front_refuse(f, "it passes too many arguments");
  const struct val *arguments = count ? front_register(f, code->a + 1) : NULL;
  if (function.kind == VAL_MATH || function.kind == VAL_METHOD) {
    struct val result = function.kind == VAL_MATH
                            ? math_call(f, function.at, arguments, count)
                            : method_call(f, function.at, arguments, count);
    put_results(f, code, &result, result.kind == VAL_NIL ? 0 : 1);
    return;
  }
  if (function.kind != VAL_FUNCTION)
    front_refuse(f, "it calls something that is neither a Lua function nor one of math's");
  struct val results[FRONT_RESULTS];
  uint32_t before = f->env.result_count;
  f->env.result_count = 0;
  inline_function(f, function.at, code->a, count);
  uint32_t given = f->env.result_count;
  memcpy(results, f->env.results, given * sizeof *results);
  f->env.result_count = before;
  put_results(f, code, results, given);
}
