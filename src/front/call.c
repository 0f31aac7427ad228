/* Compiles calls: Lua functions, which are inlined, and methods of the world. */
#include <lauxlib.h>

#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "core/storage/event.h"
#include "front/front.h"
#include "front/libraries.h"
#include "front/rounds.h"

bool call_known_id(struct front *f, struct val value, ecs_id *id) {
  if (!val_is_number(f, value) || value.entity) return false;
  *id = (ecs_id)value.number;
  if (value.literal) return true;
  if (!outside_keep(f, value)) return false;
  int is_id = 0;
  *id = (ecs_id)lua_tointegerx(f->L, -1, &is_id);
  lua_pop(f->L, 1);
  return is_id != 0;
}

/* assert(v, ...), which returns its arguments: rows in which it fails fall back to Lua. */
static void call_assert(struct front *f, struct val *arguments, uint32_t count) {
  int known = 0;
  if (count > FRONT_RESULTS) front_refuse(f, "it passes too many arguments");
  k_value truth = count ? val_truth(f, arguments[0], &known) : K_NONE;
  if (known > 0) return;
  if (known == 0 || truth == build_bool(f->b, false)) {
    if (!env_leave_some(f)) front_refuse(f, "it asserts something that is false in every row");
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
                   METHOD_READ, METHOD_EVENTS, METHOD_QUERY, METHOD_COUNT };

/* Whether a key names a method for which kernels fall back to Lua. */
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
                                                  "lookup", "read", "events", "query"};
  for (uint32_t i = 0; key->type == CONST_STRING && i < METHOD_COUNT; i++)
    if (text_equal(names[i], key->string.data, key->string.size))
      return (struct val){.kind = VAL_METHOD, .at = i};
  bool of_lua = key->type == CONST_STRING && call_is_of_lua(key);
  if (of_lua && env_leave_some(f)) return object;
  front_refuse(f, "it calls world:%.*s, which kernels do not support: call it %s",
               SHOW(key->string), of_lua ? "in an 'if' that few rows enter, or in a system's run" :
               "in a system's run, and keep its result in a resource or field");
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

/* array:read into an outside table with as many elements: copies the cells one by one. */
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

/* Calls a method of an array. The result of array:read() must go straight to array:write. */
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

/* Refuses a name that is not declared, until it is. */
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

/* Refuses to count a query whose matches may change while the function runs. */
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
                        : "a query with ties, paths or sparse components");
}

/* world:count(text), or query:count(): constant, since changes to entities are deferred. */
static struct val count_call(struct front *f, const struct val *arguments, uint32_t count) {
  bool given = count == 2 && arguments[0].kind == VAL_WORLD && arguments[1].kind == VAL_STRING;
  const ecs_query *query = NULL;
  if (count == 1 && arguments[0].kind == VAL_QUERY) query = f->queries[arguments[0].at];
  if (!given && !(query && query->terms.variable_count == 0))
    front_refuse(f, "it calls world:count with something other than one string from a constant or "
                    "an upvalue: do that in a system's run");
  ecs_string text = query ? (ecs_string){query->text, query->text_size} : arguments[1].string;
  call_check_counted(f, text);
  return val_number(f, outside_text(f, GUARD_COUNT, text), true);
}

/* world:query(text): a query that the world keeps. */
static struct val call_query(struct front *f, const struct val *arguments, uint32_t count) {
  ecs_query *query = NULL;
  if (count != 2 || arguments[0].kind != VAL_WORLD || arguments[1].kind != VAL_STRING)
    front_refuse(f, "it calls world:query with something other than one string from a constant or "
                    "an upvalue: make the query once, outside");
  call_need_found(f, query_share(f->world, arguments[1].string, f->owner, &query));
  if (query->shared) return partner_query(f, query);
  query_free(query);
  front_refuse(f, "it makes a query over events or changes, or more queries than the world keeps: "
                  "make it once, outside");
  return arguments[0];
}

/* world:lookup(text): constant, since names are deferred. */
static struct val lookup_call(struct front *f, const struct val *arguments, uint32_t count) {
  if (count != 2 || arguments[0].kind != VAL_WORLD || arguments[1].kind != VAL_STRING)
    front_refuse(f, "it calls world:lookup with something other than one string from a constant "
                    "or an upvalue: do that in a system's run");
  struct val id = val_number(f, outside_text(f, GUARD_NAMED, arguments[1].string), false);
  id.entity = true;
  id.present = build_binary(f->b, KO_NE, id.value, build_i64(f->b, 0));
  return id;
}

static struct val random_call(struct front *f, const struct val *arguments, uint32_t count) {
  struct builder *b = f->b;
  struct val id = reach_need_id(f, arguments, count, "random");
  if (f->body_line && !f->shared.draws) {
    f->wants_draws = f->shared.draws = true;
    front_refuse(f, "its rows draw random numbers in turn");
  }
  if (!id.entity)
    reach_need_alive(f, id);
  else if (!id.row_entity)   /* null: Lua's error */
    build_need(b, build_binary(b, KO_NE, id.value, build_i64(b, 0)));
  k_value bits = build_random(b, id.value, f->env.counts[ENV_CALLS].value,
                              build_uniform(b, UNIFORM_STREAM, KT_I64),
                              build_uniform(b, UNIFORM_TICK, KT_I64));
  f->env.counts[ENV_CALLS] =
      val_number(f, build_binary(b, KO_ADD, f->env.counts[ENV_CALLS].value, build_i64(b, 1)), true);
  if (count == 2) return val_number(f, build_random_unit(b, bits), true);
  assert(count > 2 && arguments);
  k_value low = build_i64(b, 1), high;
  for (uint32_t i = 2; i < count; i++)
    if (!val_is_number(f, arguments[i]))
      front_refuse(f, "it passes wrong arguments to world:random");
  high = number_as(f, arguments[count > 3 ? 3 : 2], KT_I64);
  if (count > 3) low = number_as(f, arguments[2], KT_I64);
  return val_number(f, build_random_range(b, bits, low, high), false);
}

/* Refuses changes of entities in a system's run, where they happen at once, not at its end. */
static void call_refuse_once(struct front *f) {
  if (f->once)
    front_refuse(f, "it changes entities or emits events, and a system's run that does is not "
                    "compiled: do that in a system's each");
}

/* Calls a method of the world, with that many wanted results. Returns how many results it has. */
static uint32_t method_call(struct front *f, uint32_t name, struct val *arguments, uint32_t count,
                            struct val results[FRONT_RESULTS], uint32_t wanted) {
  static const uint8_t actions[METHOD_COUNT] = {
      [METHOD_DESPAWN] = RUN_DESPAWN, [METHOD_ADD] = RUN_ADD, [METHOD_REMOVE] = RUN_REMOVE,
      [METHOD_SET] = RUN_SET};
  assert(name < METHOD_COUNT);
  bool changes = name < METHOD_RANDOM || name == METHOD_SET || name == METHOD_SPAWN;
  if (changes || name == METHOD_EMIT) call_refuse_once(f);
  /* Nil is not an id: Lua raises an error for it, except in world:alive. */
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
    case METHOD_EVENTS: results[0] = partner_events(f, arguments, count); return 1;
    case METHOD_QUERY: results[0] = call_query(f, arguments, count); return 1;
    case METHOD_GET: return reach_get(f, arguments, count, results, wanted);
    case METHOD_SPAWN: results[0] = order_spawn(f, arguments, count); return 1;
    case METHOD_EMIT: order_emit(f, arguments, count); return 0;
    default: break;
  }
  order_call(f, (enum run_action)actions[name], arguments, count);
  return 0;
}

/* ---- Lua functions ---- */

/* The frame of a function that is called. A closure's has the call that has created it, and an
** identity different from the enclosing function's. */
static struct frame call_frame(struct front *f, struct val function) {
  struct frame frame = {.caller = f->frame, .top = NONE, .function = (uint16_t)function.at,
                        .trusted = function.trusted};
  if (function.kind == VAL_CLOSURE) {
    const struct frame *around = f->frame;
    while (around && around->number != function.slot) around = around->caller;
    if (!around) front_refuse(f, "it calls a function that was created by a call which has ended");
    frame.around = around;
    frame.inner = function.at + 1;
    frame.function = around->function;
  }
  lua_rawgeti(f->L, f->anchors, (lua_Integer)frame.function);
  frame.identity = (const char *)lua_topointer(f->L, -1) + frame.inner;
  lua_Debug from;
  lua_getinfo(f->L, ">S", &from);
  frame.listed = from.source == f->list_source;
  return frame;
}

/* Compiles the body of a Lua function at its call, whose arguments are in `count` registers of the
** caller from `at` on. Its results are left in f->env. */
static void call_inline_function(struct front *f, struct val function, uint32_t at,
                                 uint32_t count) {
  struct frame *caller = f->frame;
  struct frame frame = call_frame(f, function);
  assert(caller);
  if (++f->depth >= FRONT_DEPTH)
    front_refuse(f, "its calls nest more than %d deep", FRONT_DEPTH - 1);
  if (frame.inner > MOST_CLOSURES)
    front_refuse(f, "it creates more than %d functions: write some outside", (int)MOST_CLOSURES);
  for (const struct frame *outer = caller; outer; outer = outer->caller)
    if (outer->identity == frame.identity) front_refuse(f, "it calls itself: write a loop");
  front_open(f, &frame, frame.function);
  uint32_t registers = frame.code->registers;
  frame.base = f->env.count;
  if (frame.base + registers > FRONT_REGISTERS)
    front_refuse(f, "it uses more than %d variables: write it as two systems", FRONT_REGISTERS);
  struct val nil = {.kind = VAL_NIL};
  for (uint32_t i = 0; i < registers; i++) {
    bool given = i < frame.code->parameters && i < count;
    f->registers[frame.base + i] =
        given ? f->registers[caller->base + at + i] : nil;
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
  if (code->a + wanted > f->frame->code->registers)
    front_refuse(f, "it passes on more results of a call than are used: name those that are");
  for (uint32_t i = 0; i < wanted; i++)
    *front_register(f, code->a + i) = i < count ? results[i] : nil;
  f->frame->top = code->c == NONE ? code->a + wanted : NONE;
}

/* The number of a call's arguments; an open list ends at the frame's top. */
static uint32_t call_argument_count(struct front *f, const struct code *code) {
  if (code->b != NONE) return code->b;
  if (f->frame->top == NONE || f->frame->top < code->left.at)
    front_refuse(f, "it passes on a variable number of arguments");
  return f->frame->top - code->left.at;
}

/* table.insert(list, value) */
static void call_insert(struct front *f, const struct val *arguments, uint32_t count) {
  if (count == 2 && arguments[0].kind == VAL_LIST) {
    scratch_append(f, arguments[0], maybe_need(f, arguments[1]));
    return;
  }
  if (count != 2 || arguments[0].kind != VAL_PATH)
    front_refuse(f, "it calls table.insert with a position, or with a table that it creates: "
                    "append to a list that is created outside");
  cell_append(f, arguments[0], arguments[1]);
}

static void call_pairs(struct front *f, struct val *arguments, uint32_t count,
                       struct val *results) {
  struct val table = count ? maybe_need(f, arguments[0]) : (struct val){.kind = VAL_NIL};
  results[1] = table;
  results[2] = (struct val){.kind = VAL_NIL};
  if (table.kind == VAL_LIST)
    results[0] = scratch_pairs(f, table);
  else
    results[0] = items_of_pairs(f, table);
}

/* Calls a function that is not a Lua function, with that many wanted results. Returns how many
** there are, or NONE. */
static uint32_t call_native(struct front *f, struct val function, struct val *arguments,
                            uint32_t count, struct val results[FRONT_RESULTS], uint32_t wanted) {
  switch (function.kind) {
    case VAL_MATH:
      if (function.at == BASE_IPAIRS) return items_of(f, arguments, count, results);
      if (function.at == BASE_PAIRS) {
        call_pairs(f, arguments, count, results);
        return 3;
      }
      if (function.at == TABLE_INSERT) {
        call_insert(f, arguments, count);
        return 0;
      }
      for (uint32_t i = 0; i < count; i++) arguments[i] = maybe_need(f, arguments[i]);
      return library_call(f, function.at, arguments, count, results);
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

static void call_lua_function(struct front *f, const struct code *code, struct val function,
                              uint32_t count) {
  struct val results[FRONT_RESULTS];
  uint32_t before = f->env.result_count;
  f->env.result_count = 0;
  call_inline_function(f, function, code->left.at, count);
  uint32_t given = f->env.result_count;
  assert(given <= FRONT_RESULTS);
  memcpy(results, f->env.results, given * sizeof *results);
  f->env.result_count = before;
  call_put_results(f, code, results, given);
}

/* A call of different functions in different rows: each function is called in turn for its rows. */
struct call_ways {
  uint32_t first, kept, top;
  k_value whole;
};

static struct call_ways call_open_ways(struct front *f) {
  return (struct call_ways){.first = f->edge_count, .kept = NONE, .top = NONE,
                            .whole = f->env.mask};
}

/* Goes on with the rows of a mask or, if `last`, all that are left; false if there are none. */
static bool call_begin_way(struct front *f, struct call_ways *ways, k_value here, bool last) {
  k_value rows = last ? f->env.mask : mask_and(f, f->env.mask, here);
  ways->kept = front_split(f, last ? K_NONE : mask_and_not(f, f->env.mask, here));
  f->env.mask = rows;
  if (rows != K_NONE) build_at(f->b, rows, front_tag(f));
  return rows != K_NONE;
}

static void call_end_way(struct front *f, struct call_ways *ways, bool done) {
  if (done && ways->top != NONE && f->frame->top != ways->top)
    front_refuse(f, "it passes on all results of one of several calls that return different "
                    "numbers of results: put them into locals first");
  if (done) ways->top = f->frame->top;
  front_swap(f, ways->kept);
}

static void call_close_ways(struct front *f, const struct call_ways *ways) {
  front_join(f, ways->first, NONE);
  if (f->env.mask == K_NONE) return;
  f->env.mask = ways->whole;
  build_at(f->b, f->env.mask, front_tag(f));
}

/* Calls each function of a table for the rows that have that function. */
static void call_each_of(struct front *f, const struct code *code, struct val functions,
                         uint32_t count) {
  functions = maybe_need(f, functions);
  struct call_ways ways = call_open_ways(f);
  uint32_t at = 0;
  k_value here, others;
  const struct val *function = object_set_next(f, functions, &at, &here), *next;
  for (; function && f->env.mask != K_NONE; function = next, here = others) {
    next = object_set_next(f, functions, &at, &others);
    bool any = call_begin_way(f, &ways, here, !next);
    if (any) call_lua_function(f, code, *function, count);
    call_end_way(f, &ways, any);
  }
  call_close_ways(f, &ways);
}

bool call_has_names(struct val x) {
  return x.kind == VAL_CHOICE || (x.kind == VAL_VALUE && x.names && x.names != &front_texts);
}

void call_each_name(struct front *f, const struct code *code, uint32_t at,
                    const struct component *fields) {
  const struct val some = maybe_need(f, *front_register(f, at));
  k_value found = build_bool(f->b, false);
  uint32_t left = 0;
  for (uint32_t i = 0; choice_each(f, &some, fields, &i); left++)
    found = build_binary(f->b, KO_OR, found, choice_is(f, some, i));
  assert(fields || left > 0);
  if (left == 0) front_refuse(f, "it indexes '%s' by names that are not its fields", fields->name);
  if (fields) build_need(f->b, found);
  struct call_ways ways = call_open_ways(f);
  uint32_t i = 0;
  for (const ecs_string *name; left && f->env.mask != K_NONE &&
                               (name = choice_each(f, &some, fields, &i));) {
    bool any = call_begin_way(f, &ways, choice_is(f, some, i), --left == 0);
    *front_register(f, at) = (struct val){.kind = VAL_STRING, .string = *name};
    if (any) front_operate(f, code);
    call_end_way(f, &ways, any);
  }
  call_close_ways(f, &ways);
  if (fields && code->a != at) *front_register(f, at) = some;
}

void call_function(struct front *f, const struct code *code) {
  uint32_t count = call_argument_count(f, code);
  if (count && code->left.at + count > f->frame->code->registers)
    front_refuse(f, "it passes too many arguments");
  struct val *arguments = count ? front_register(f, code->left.at) : NULL;
  const struct val function = list_call(f, *front_register(f, code->a), arguments, count);
  struct val results[FRONT_RESULTS] = {{.kind = VAL_NIL}};
  if (function.kind == VAL_MATH && function.at == BASE_ASSERT) {
    call_assert(f, arguments, count);
    call_put_results(f, code, arguments, count);
    return;
  }
  bool method = function.kind == VAL_METHOD && function.at < METHOD_COUNT;
  for (uint32_t i = 1; i < 3 && i < count && method; i++)
    if (i == 2 && arguments[1].kind == VAL_VALUE ? call_has_names(arguments[i])
                                                 : arguments[i].kind == VAL_CHOICE) {
      bool gets = i == 2 && function.at == METHOD_GET;
      if (gets && reach_get_named(f, arguments, count, results))
        call_put_results(f, code, results, 1);
      else
        call_each_name(f, code, code->left.at + i, NULL);
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
  if (function.kind != VAL_FUNCTION && function.kind != VAL_CLOSURE)
    front_refuse(f, "it calls something that is neither a Lua function nor a math function: call "
                    "it in a system's run, and keep its result in a resource");
  call_lua_function(f, code, function, count);
}
