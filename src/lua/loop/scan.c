/* One pass over the bytecode. A register is known only where no other path can lead: it holds an
** argument that is never assigned to, or what follows from that up to the next jump target. A call
** that passes on a view is followed as far as it certainly runs. */
#include "lua/loop/loop.h"

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/migrate.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "ecs_world.h"
#include "front/bytecode.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/version.h"
#include "lua/loop/view.h"

#define SCAN_DEPTH 4         /* most functions that call one another */
#define SCAN_CALLS 64
#define SCAN_ARGUMENTS 16

/* GIVEN and OUTSIDE are for key functions: their arguments, and objects from outside. The last ones
** are for functions called for elements: the element's number, the world and a method of it, by the
** number of a constant. */
enum thing_kind {
  THING_UNKNOWN, THING_VIEW, THING_NUMBER, THING_OBJECT, THING_GIVEN, THING_OUTSIDE,
  THING_ELEMENT, THING_WORLD, THING_METHOD
};

struct thing {
  enum thing_kind kind;
  bool read_only;
  const struct component *root;        /* of a view: the root that it is part of */
  const struct component *component;   /* NULL if the part is an array */
  const struct field *array;
  int index;                           /* stack index of a table or function */
};

struct body {
  int function;                        /* its stack index */
  struct function_code code;
  struct thing *things;                /* by register; then by register again, after a jump */
  bool *joins;                         /* by instruction: it is a jump target */
  bool *sets;                          /* by constant: a global, say, with this name is set */
};

struct scanner {
  lua_State *L;
  const struct scan *scan;
  struct memory *memory;
  struct body bodies[SCAN_DEPTH];
  uint32_t depth, calls;
  bool warns;                          /* this pass looks for uses to warn about, and raises them */
};

static const struct thing unknown = {THING_UNKNOWN, false, NULL, NULL, NULL, 0};

/* Raises an error with file and line: of an instruction or, for NONE, of the function. */
FORMAT(4, 5)
static void scan_refuse(const struct scanner *s, const struct body *body, uint32_t pc,
                        const char *format, ...) {
  char reason[MESSAGE_SIZE];
  va_list args;
  va_start(args, format);
  text_vformat(reason, sizeof reason, format, args);
  va_end(args);
  lua_Debug where;
  lua_pushvalue(s->L, body->function);
  lua_getinfo(s->L, ">S", &where);
  int line = pc == NONE ? 0 : (int)body->code.lines[pc];
  lua_pushfstring(s->L, "%s:%d: %s", where.short_src, line ? line : where.linedefined, reason);
  lua_error(s->L);
}

/* ---- views ---- */

static struct thing scan_view_of(const struct component *component, bool read_only) {
  return (struct thing){THING_VIEW, read_only, component, component, NULL, 0};
}

static struct thing scan_part_of(const struct thing *view, const struct field *field) {
  struct thing part = *view;
  part.component = field->nested;
  part.array = NULL;
  if (field->count && !view->array) {
    part.component = NULL;
    part.array = field;
  }
  return part.component || part.array ? part : unknown;
}

/* What a key of a view leads to; raises an error if there is no such field. */
static struct thing scan_view_key(const struct scanner *s, const struct body *body, uint32_t pc,
                                  const struct thing *view, const struct constant *key) {
  const struct component *component = view->component;
  if (view->array) return scan_part_of(view, view->array);
  if (key->type != CONST_STRING) return unknown;
  uint32_t at = component_field(component, key->string.data, key->string.size);
  if (at != NONE) return scan_part_of(view, &component->fields[at]);
  component_no_field(s->scan->box->world, component, key->string.data, key->string.size);
  const struct migration *changes = s->scan->changes;   /* otherwise another registration's */
  if (!changes || migration_of(changes, component->id))
    scan_refuse(s, body, pc, "%s", ecs_message(s->scan->box->world));
  return unknown;
}

static void scan_check_store(const struct scanner *s, const struct body *body, uint32_t pc,
                             const struct thing *view, uint32_t constant) {
  const struct component *component = view->component;
  const struct constant *key = &body->code.constants[constant];
  if (view->kind != THING_VIEW) return;
  if (s->scan->stored) s->scan->stored(s->L, s->scan, view->root);
  bool of_root = component && component == view->root && !view->array && key->type == CONST_STRING;
  uint32_t at = of_root ? component_field(component, key->string.data, key->string.size) : NONE;
  bool target = at != NONE && leaf_is_target(component, component->fields[at].first_leaf);
  if (s->scan->promises && target)
    scan_refuse(s, body, pc, "it writes to '%s.target', which only world:add and world:set can "
                "change", view->root->name);
  scan_view_key(s, body, pc, view, key);
  if (view->read_only && s->scan->promises)
    scan_refuse(s, body, pc, "it writes to '%s', which is read-only (:in)", view->root->name);
}

/* ---- what comes from outside ---- */

/* Classifies the value at the top of the stack, which stays there if needed. */
static struct thing scan_classify(const struct scanner *s) {
  lua_State *L = s->L;
  int type = lua_type(L, -1);
  struct thing thing = unknown;
  if (type == LUA_TUSERDATA && s->scan->form == FORM_KEY) {
    thing.kind = THING_OUTSIDE;
    thing.index = lua_gettop(L);
    return thing;
  }
  if (type == LUA_TTABLE || (type == LUA_TFUNCTION && !lua_iscfunction(L, -1))) {
    thing.kind = THING_OBJECT;
    thing.index = lua_gettop(L);
    return thing;
  }
  /* The component of a resource's view, as the registry shows it. */
  struct world_box *box = s->scan->box;
  const struct view_box *view = view_test(L, -1);
  bool resource = view && view->box == box && view->root == view && !view->loop && !view->found;
  const struct component *component = resource ? component_of(box->world, view->id) : NULL;
  if (s->scan->elements && box_test(L, -1, &kind_world, sizeof(struct world_box)))
    thing.kind = THING_WORLD;
  lua_pop(L, 1);
  if (thing.kind == THING_WORLD) return thing;
  return component ? scan_view_of(component, false) : unknown;
}

static struct thing scan_take_upvalue(const struct scanner *s, const struct body *body,
                                      uint32_t upvalue) {
  bool assigned = body->code.assigned[upvalue / 64] >> upvalue % 64 & 1;
  need_stack(s->L, 4);
  if (assigned || !lua_getupvalue(s->L, body->function, (int)upvalue + 1)) return unknown;
  return scan_classify(s);
}

static struct thing scan_take_key(const struct scanner *s, const struct body *body, uint32_t pc,
                                  struct thing object, const struct constant *key) {
  if (object.kind == THING_VIEW) {
    struct thing part = scan_view_key(s, body, pc, &object, key);
    if (part.kind == THING_UNKNOWN && s->scan->form == FORM_KEY) part.kind = THING_GIVEN;
    return part;
  }
  if (object.kind == THING_GIVEN) return object;
  if (object.kind != THING_OBJECT || !lua_istable(s->L, object.index) ||
      key->type != CONST_STRING)
    return unknown;
  need_stack(s->L, 4);
  lua_pushlstring(s->L, key->string.data, key->string.size);
  lua_rawget(s->L, object.index);
  return scan_classify(s);
}

/* ---- key functions ---- */

static const char quiet[] = ": a key function cannot write (write to a field in a system, and "
                            "make that field the key)";

static void scan_refuse_write(const struct scanner *s, const struct body *body, uint32_t pc,
                              const char *kind, const char *name) {
  scan_refuse(s, body, pc, "it %s '%s'%s", kind, name, quiet);
}

static void scan_refuse_field(const struct scanner *s, const struct body *body, uint32_t pc,
                              const char *kind, const struct constant *key) {
  bool text = key->type == CONST_STRING;
  need_stack(s->L, 4);
  lua_pushlstring(s->L, text ? key->string.data : "?", text ? key->string.size : 1);
  scan_refuse_write(s, body, pc, kind, lua_tostring(s->L, -1));
}

/* Checks a method call of the world. */
static void scan_check_command(const struct scanner *s, const struct body *body, uint32_t pc,
                               struct thing object, const struct constant *key) {
  static const char *const commands[] = {
      "spawn", "spawn_many", "spawn_at", "clone", "instantiate", "despawn", "set", "add", "remove",
      "enable", "disable", "emit", "after"};
  if (object.kind != THING_OUTSIDE || key->type != CONST_STRING) return;
  if (!box_test(s->L, object.index, &kind_world, sizeof(struct world_box))) return;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (text_equal(commands[i], key->string.data, key->string.size))
      scan_refuse_write(s, body, pc, "calls the world's", commands[i]);
}

static void scan_check_key_code(const struct scanner *s, const struct body *body, uint32_t pc,
                                const struct code *code) {
  const struct thing *things = body->things;
  const struct constant *constants = body->code.constants;
  /* For a field of an upvalue, which may be the table of globals. */
  if (code->kind == CODE_SET_UPFIELD) {
    const char *name = lua_getupvalue(s->L, body->function, (int)code->a + 1);
    bool global = name && strcmp(name, "_ENV") == 0;
    scan_refuse_field(s, body, pc, global ? "writes to the global" : "writes to the field",
                      &body->code.constants[code->b]);
  }
  if (code->kind == CODE_SET_FIELD && things[code->a].kind != THING_UNKNOWN)
    scan_refuse_field(s, body, pc, "writes to the field", &constants[code->b]);
  if (code->kind == CODE_SET_INDEX && things[code->a].kind != THING_UNKNOWN)
    scan_refuse(s, body, pc, "it writes to an element of something it has not created%s", quiet);
  if (code->kind == CODE_METHOD || code->kind == CODE_FIELD)
    scan_check_command(s, body, pc, things[code->b], &constants[code->c]);
}

/* ---- warnings ---- */

static void scan_check_calculation(const struct scanner *s, const struct body *body, uint32_t pc,
                                   const struct operand *operand) {
  const struct thing *thing = operand->constant ? &unknown : &body->things[operand->at];
  if (thing->kind == THING_VIEW)
    scan_refuse(s, body, pc, "it calculates with the whole view of '%s': name one of its fields",
                thing->root->name);
}

/* Raises the error that the first run of the instruction would raise about its arguments. */
static void scan_check_use(const struct scanner *s, const struct body *body, uint32_t pc,
                           const struct code *code) {
  bool ordered = code->kind == CODE_COMPARE && code->op != OPERATOR_EQ;
  bool reads = code->kind == CODE_FIELD || code->kind == CODE_METHOD || code->kind == CODE_INDEX;
  bool writes = code->kind == CODE_SET_FIELD || code->kind == CODE_SET_INDEX;
  if (code->kind == CODE_ARITH || ordered) {
    scan_check_calculation(s, body, pc, &code->left);
    scan_check_calculation(s, body, pc, &code->right);
  } else if (code->kind == CODE_UNARY) {
    scan_check_calculation(s, body, pc, &(struct operand){false, code->b});
  } else if ((reads || writes) && body->things[reads ? code->b : code->a].kind == THING_NUMBER) {
    scan_refuse(s, body, pc,
                "it takes a field of a number: its parameters are the values of its query, %s",
                s->scan->form == FORM_OBSERVE ? "entity" : "dt, entity");
  }
}

/* ---- instructions ---- */

/* The registers that an instruction assigns to, counted from its a. */
static uint32_t scan_count_written(const struct code *code) {
  switch (code->kind) {
    case CODE_NOTHING:
    case CODE_CLOSE:
    case CODE_SET_FIELD:
    case CODE_SET_INDEX:
    case CODE_SET_UPFIELD:
    case CODE_SET_UPVALUE:
    case CODE_LIST:
    case CODE_JUMP:
    case CODE_COMPARE:
    case CODE_TEST:
    case CODE_RETURN: return 0;
    case CODE_REFUSED: return code->flag ? NONE : 0;
    case CODE_CALL: return NONE;
    case CODE_NIL: return code->b + 1;
    case CODE_METHOD: return 2;
    case CODE_FOR:
    case CODE_FOR_END: return FOR_VARIABLE + 1;
    default: return 1;
  }
}

static void scan_forget(struct thing *things, uint32_t count, const struct code *code) {
  uint32_t written = scan_count_written(code);
  for (uint32_t i = 0; i < written && code->a + i < count; i++) things[code->a + i] = unknown;
}

/* What an instruction leaves in its register a; raises an error if that instruction is wrong. */
static struct thing scan_result_of(const struct scanner *s, const struct body *body, uint32_t pc,
                                   const struct code *code) {
  const struct thing *things = body->things;
  const struct constant *constants = body->code.constants;
  switch (code->kind) {
    case CODE_MOVE: return things[code->b];
    case CODE_UPVALUE: return scan_take_upvalue(s, body, code->b);
    case CODE_UPFIELD: {
      struct thing found =
          scan_take_key(s, body, pc, scan_take_upvalue(s, body, code->b), &constants[code->c]);
      return body->sets[code->c] ? unknown : found;
    }
    case CODE_FIELD: return scan_take_key(s, body, pc, things[code->b], &constants[code->c]);
    case CODE_METHOD:
      scan_take_key(s, body, pc, things[code->b], &constants[code->c]);
      if (things[code->b].kind != THING_WORLD || constants[code->c].type != CONST_STRING)
        return unknown;
      return (struct thing){.kind = THING_METHOD, .index = (int)code->c};
    case CODE_SET_FIELD: scan_check_store(s, body, pc, &things[code->a], code->b); return unknown;
    case CODE_SET_UPFIELD: {
      struct thing view = scan_take_upvalue(s, body, code->a);
      scan_check_store(s, body, pc, &view, code->b);
      return unknown;
    }
    case CODE_INDEX:
      if (things[code->b].kind != THING_VIEW || !things[code->b].array) return unknown;
      return scan_part_of(&things[code->b], things[code->b].array);
    default: return unknown;
  }
}

/* Raises an error where the number of an element is used as an entity. */
static void scan_check_element(const struct scanner *s, const struct body *body, uint32_t pc,
                               const struct code *code) {
  const struct thing *method = &body->things[code->a], *first = method + 2;
  if (method->kind != THING_METHOD || code->b < 2 || code->b == NONE) return;
  ecs_string name = body->code.constants[method->index].string;
  if (first->kind != THING_ELEMENT || text_equal("after", name.data, name.size)) return;
  scan_refuse(s, body, pc, "it calls world:%.*s with the number of an array element, which is not "
              "an entity", SHOW(name));
}

/* Whether the instructions after this one may be skipped. */
static bool scan_is_fork(enum code_kind kind) {
  return kind == CODE_JUMP || kind == CODE_COMPARE || kind == CODE_TEST ||
         kind == CODE_TEST_SET || kind == CODE_FOR || kind == CODE_FOR_END ||
         kind == CODE_EACH || kind == CODE_EACH_END ||
         kind == CODE_LOAD_SKIP || kind == CODE_RETURN || kind == CODE_REFUSED;
}

static void scan_body(struct scanner *s, int function, const struct thing *given,
                      uint32_t count);

/* Follows a call that passes on a view. */
static void scan_follow(struct scanner *s, const struct body *body, const struct code *code) {
  struct thing callee = body->things[code->a];
  bool known = callee.kind == THING_OBJECT && lua_isfunction(s->L, callee.index);
  bool views = false;
  struct thing given[SCAN_ARGUMENTS];
  if (!known || code->b == NONE || code->b > SCAN_ARGUMENTS) return;
  for (uint32_t i = 0; i < code->b; i++) {
    given[i] = body->things[code->left.at + i];
    views |= given[i].kind == THING_VIEW || given[i].kind == THING_GIVEN;
  }
  if (!views || s->depth == SCAN_DEPTH || s->calls++ == SCAN_CALLS) return;
  scan_body(s, callee.index, given, code->b);
}

/* An ignored result was meant for something else, such as `map`. A tail call does not show whether
** it has results. */
static void scan_check_return(const struct scanner *s, const struct body *body, uint32_t pc) {
  const struct code *code = &body->code.code[pc];
  if (code->kind != CODE_RETURN || code->b == NONE || code->b == 0) return;
  bool taken = s->scan->form == FORM_MAP || s->scan->form == FORM_ASK;
  /* Whether it returns only nil, as the instruction before it shows. */
  const struct code *before = pc > 0 ? code - 1 : NULL;
  bool nothing = before && before->kind == CODE_NIL && before->a <= code->a &&
                 before->a + before->b + 1 >= code->a + code->b;
  if (taken || s->scan->changes || nothing) return;
  scan_refuse(s, body, pc, "it returns a value, which is ignored: write a bare 'return'%s",
              s->scan->form == FORM_EACH && s->scan->query ? ", or use 'map' to write results to "
                                                             "fields"
                                                           : "");
}

static void scan_code(struct scanner *s, struct body *body) {
  uint32_t registers = body->code.registers;
  struct thing *things = body->things;
  bool whole = s->depth == 1, gives_keys = s->scan->form == FORM_KEY;
  for (uint32_t i = 0; whole && gives_keys && i < body->code.upvalues; i++) {
    if (!(body->code.assigned[i / 64] >> i % 64 & 1)) continue;
    const char *name = lua_getupvalue(s->L, body->function, (int)i + 1);
    scan_refuse_write(s, body, NONE, "writes to the upvalue", name ? name : "?");
  }
  for (uint32_t pc = 0; pc < body->code.count; pc++) {
    const struct code *code = &body->code.code[pc];
    if (whole && !gives_keys) scan_check_return(s, body, pc);
    if (!whole && scan_is_fork(code->kind)) return;
    if (body->joins[pc]) memcpy(things, things + registers, registers * sizeof *things);
    if (gives_keys) scan_check_key_code(s, body, pc, code);
    if (s->warns) scan_check_use(s, body, pc, code);
    if (code->kind == CODE_CALL) scan_check_element(s, body, pc, code);
    if (code->kind == CODE_CALL) scan_follow(s, body, code);
    struct thing result = scan_result_of(s, body, pc, code);
    scan_forget(things, registers, code);
    if (result.kind != THING_UNKNOWN) things[code->a] = result;
  }
}

/* ---- functions ---- */

/* Records jump targets, also those of unknown instructions, and what is set. */
static void scan_find_joins(struct body *body) {
  uint32_t count = body->code.count;
  for (uint32_t pc = 0; pc < count; pc++) {
    const struct code *code = &body->code.code[pc];
    if (code->kind == CODE_SET_UPFIELD) body->sets[code->b] = true;
    bool jumps = scan_is_fork(code->kind) && code->kind != CODE_RETURN;
    bool goes_on = jumps && code->kind != CODE_JUMP;
    if (goes_on && pc + 1 < count) body->joins[pc + 1] = true;
    if (goes_on && pc + 2 < count) body->joins[pc + 2] = true;
    if (jumps && code->target < count) body->joins[code->target] = true;
    if (code->kind == CODE_FOR && code->target + 1 < count) body->joins[code->target + 1] = true;
  }
}

static void scan_close_body(struct scanner *s, struct body *body) {
  uint32_t registers = body->code.registers, count = body->code.count;
  memory_free(s->memory, body->things, (size_t)2 * registers * sizeof *body->things);
  FREE_LIST(s->memory, body->joins, count);
  memory_free(s->memory, body->sets, (body->code.constant_count + 1ull) * sizeof *body->sets);
  bytecode_free(&body->code);
}

static void scan_body(struct scanner *s, int function, const struct thing *given,
                      uint32_t count) {
  struct body *body = &s->bodies[s->depth++];
  memset(body, 0, sizeof *body);
  body->function = function;
  ecs_status status = bytecode_read(s->L, function, 0, s->memory, &body->code);
  if (status == ECS_OK) {
    body->things = memory_array(s->memory, 2ull * body->code.registers, sizeof *body->things);
    body->joins = memory_array(s->memory, body->code.count, sizeof *body->joins);
    body->sets = memory_array(s->memory, body->code.constant_count + 1ull, sizeof *body->sets);
  }
  bool whole = body->things && body->joins && body->sets;
  if (status == ECS_ENOMEM || (status == ECS_OK && !whole)) raise_memory(s->L);
  if (status == ECS_OK && !body->code.vararg) {
    /* An argument stays known unless something assigns to it, possibly a function created here. */
    struct thing *things = body->things, *after = things + body->code.registers;
    for (uint32_t i = 0; i < count && i < body->code.parameters; i++) after[i] = given[i];
    for (uint32_t pc = 0; pc < body->code.count; pc++)
      scan_forget(after, body->code.parameters, &body->code.code[pc]);
    for (uint32_t i = 0; i < body->code.parameters; i++)
      if (body->code.captured[i / 64] >> i % 64 & 1) after[i] = unknown;
    memcpy(things, after, body->code.registers * sizeof *things);
    scan_find_joins(body);
    scan_code(s, body);
  }
  scan_close_body(s, body);
  s->depth--;
}

/* ---- registration ---- */

/* (function, scanner): checks that the function's parameters have arguments and dt is in its place.
** After the entity come values of `*` and variables. */
static void scan_check_parameters(const struct scanner *s) {
  const struct body body = {.function = 1};
  bool run = s->scan->form == FORM_RUN, timed = s->scan->form < FORM_OBSERVE;
  const struct query_terms *terms = run || !s->scan->query ? NULL : &s->scan->query->terms;
  bool elements = s->scan->elements, event = elements || (terms && terms->event);
  int slots = elements ? 1 : terms ? (int)terms->slots : 0, dt = run ? 2 : slots + 1;
  int given = run ? 3 : slots + timed + (event ? 0 : 1 + (terms ? (int)terms->values : 0));
  const char *what = run       ? "world, dt, query"
                     : elements ? "the number of an element, dt"
                     : !event  ? timed ? "the values of its query, dt, entity"
                                       : "the values of its query, entity"
                     : timed   ? "the values of its query, dt; an event is not an entity"
                               : "the values of its query; an event is not an entity";
  bool any;
  int count = parameter_count(s->L, 1, &any);
  if (count > given)
    scan_refuse(s, &body, NONE, "it has %d parameters, but gets %d arguments: %s", count,
                given, what);
  for (int i = 1; i <= count; i++) {
    lua_pushvalue(s->L, 1);
    const char *name = lua_getlocal(s->L, NULL, i);
    lua_pop(s->L, 1);
    if (name && strcmp(name, "dt") == 0 && !timed)
      scan_refuse(s, &body, NONE, "its parameter %d is named 'dt', but it gets no dt: %s", i,
                  what);
    else if (name && strcmp(name, "dt") == 0 && i != dt)
      scan_refuse(s, &body, NONE, "its parameter %d is named 'dt', but dt is passed as parameter "
                  "%d", i, dt);
    else if (name && strcmp(name, "entity") == 0 && i == dt && timed)
      scan_refuse(s, &body, NONE,
                  "its parameter %d is named 'entity', but that argument is dt%s",
                  i, event ? "" : ", and the entity comes after it");
  }
}

/* The views and numbers of the query's terms, by slot, and what follows them. */
static uint32_t scan_take_given(const struct scanner *s, struct thing *given) {
  const struct query_terms *terms = &s->scan->query->terms;
  uint32_t numbers = terms->values + (s->scan->form == FORM_EACH) + !terms->event;
  lua_pushinteger(s->L, 0);
  bool bare = s->scan->world && !lua_getmetatable(s->L, -1);
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot >= SCAN_ARGUMENTS) continue;
    const struct component *component = component_of(s->scan->box->world, term->id);
    if (!component) continue;
    if (term->leaf == NONE)
      given[term->slot] = scan_view_of(component, term->read_only);
    else if (bare && type_is_number(component->leaves[term->leaf].type))
      given[term->slot].kind = THING_NUMBER;
  }
  for (uint32_t at = terms->slots; bare && numbers && at < SCAN_ARGUMENTS; at++, numbers--)
    given[at].kind = THING_NUMBER;
  return SCAN_ARGUMENTS;
}

/* body(function, scanner, world) */
static int scan_protected(lua_State *L) {
  struct scanner *s = lua_touserdata(L, 2);
  struct thing given[SCAN_ARGUMENTS];
  uint32_t count = 0;
  bool gives_keys = s->scan->form == FORM_KEY;
  if (!s->scan->box->world) return 0;   /* closed by a finalizer: the caller reports that */
  for (int i = 0; i < SCAN_ARGUMENTS; i++) {
    given[i] = unknown;
    if (gives_keys) given[i].kind = THING_GIVEN;
  }
  if (gives_keys) count = SCAN_ARGUMENTS;
  need_stack(L, 8);
  if (!s->scan->changes && (s->scan->query || !gives_keys)) scan_check_parameters(s);
  if (lua_iscfunction(L, 1)) return 0;
  bool views = s->scan->form != FORM_MAP && s->scan->form != FORM_RUN;
  if (views && s->scan->query) count = scan_take_given(s, given);
  if (s->scan->elements) given[count++].kind = THING_ELEMENT;
  scan_body(s, 1, given, count);
  return 0;
}

/* Returns Lua's status; leaves an error on the stack. */
static int try_scan(struct scanner *s, int function, bool warns) {
  s->warns = warns;
  s->calls = 0;
  need_stack(s->L, 6);
  lua_pushvalue(s->L, function);
  lua_pushlightuserdata(s->L, s);
  if (s->scan->world) lua_pushvalue(s->L, s->scan->world);
  int status = try_quietly(s->L, NULL, scan_protected, s->scan->world ? 3 : 2, 0);
  while (s->depth) scan_close_body(s, &s->bodies[--s->depth]);
  if (status == LUA_ERRMEM) lua_error(s->L);
  return status;
}

void scan_function(lua_State *L, const struct scan *scan, int function) {
  struct scanner s;
  memset(&s, 0, sizeof s);
  s.L = L;
  s.scan = scan;
  s.memory = scan->box->memory;
  int top = lua_gettop(L);
  function = lua_absindex(L, function);
  if (try_scan(&s, function, false) != LUA_OK && !scan->stored)
    raise_error(L, "%s: %s", scan->what, lua_tostring(L, -1));
  if (scan->world && !scan->stored && try_scan(&s, function, true) != LUA_OK)
    warn_later(L, scan->box, scan->world, "%s: %s", scan->what, lua_tostring(L, -1));
  lua_settop(L, top);
}
