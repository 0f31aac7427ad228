#include <stdlib.h>

#include "front/rounds.h"

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"

/* ---- refusing ---- */

/* The line of the frame's instruction; 0 if unknown. */
static int32_t front_line_of(const struct frame *frame) {
  if (!frame || !frame->code || !frame->code->lines || frame->pc >= frame->code->count)
    return 0;
  return frame->code->lines[frame->pc];
}

/* The innermost call of a function that the script knows. */
static const struct frame *front_shown(const struct frame *frame) {
  while (frame && frame->listed) frame = frame->caller;
  return frame;
}

uint32_t front_tag(const struct front *f) {
  return (uint32_t)front_line_of(front_shown(f->frame)) & ((1u << TAG_LINES) - 1);
}

void front_need(struct front *f, k_value present, enum front_need what) {
  build_need_as(f->b, present, (uint32_t)what << TAG_LINES);
}

#define TOO_LARGE "it is too large: write it as two systems"
#define LONG_ARRAY 16        /* elements of an array field, each of which is a column */

/* Replaces advice that does not help: a run inside a run, or two systems for a long array. A
** program that is too large is compiled once more, with elements of array fields looked up. */
static void front_advise(struct front *f, char *reason) {
  char *run = f->once ? strstr(reason, "in a system's run") : NULL;
  char *split = strstr(reason, "write it as two systems");
  if (split && f->chooses && !f->shared.looks_up) f->wants_lookups = f->shared.looks_up = true;
  while (run && run > reason && *run != ':') run--;
  if (run) *run = 0;
  for (uint32_t i = 0; split && i < f->column_count; i++) {
    const struct front_column *at = &f->columns[i];
    const struct component *c = at->component;
    const struct field *field = c ? &c->fields[c->leaves[at->component_leaf].field] : NULL;
    if (!field || !field->count || field->leaf_count < LONG_ARRAY) continue;
    text_format(split, (size_t)(reason + MESSAGE_SIZE - split), "keep the elements of the array "
                "field '%s.%s' in a world:array", c->name, field->name);
    return;
  }
}

bool front_wants_more(const struct front *f) {
  return f->wants_orders || f->wants_classes || f->wants_spawns || f->wants_cells ||
         f->wants_lookups || f->wants_draws || f->wants_leave || f->wants_strict;
}

bool front_leaves(const struct front *f, const void *function, uint32_t pc) {
  uint32_t i = 0, count = f->shared.leave_count;
  const struct code_place *at = f->shared.leaves;
  while (i < count && (at[i].function != function || at[i].pc != pc)) i++;
  return i < count;
}

/* Whether only some rows of the function, or of a loop's round, reach the current instruction. In a
** loop over rows, false: Lua had better run all of it. */
static bool front_is_conditional(const struct front *f) {
  const struct loop *inner = NULL;
  for (const struct frame *frame = f->frame; frame; frame = frame->caller)
    for (const struct loop *loop = frame->loop; loop; loop = loop->outer) {
      if (loop->shows) return false;
      if (!inner && !loop->once) inner = loop;
    }
  return f->env.mask != (inner ? inner->live : f->start);
}

/* When compiled again, rows that reach the refused instruction by a condition are left to Lua; not
** at an instruction that ends a loop's round, since a loop needs it. */
static void front_note_leave(struct front *f) {
  const struct frame *frame = f->frame;
  if (f->shared.strict || !f->started || f->breaks_promise || front_wants_more(f)) return;
  if (!front_is_conditional(f)) return;
  while (frame->caller && (!frame->code || !frame->code->count)) frame = frame->caller;
  if (frame->pc >= frame->code->count || f->shared.leave_count == FRONT_LEAVES) return;
  enum code_kind kind = frame->code->code[frame->pc].kind;
  if (kind == CODE_FOR_END || kind == CODE_EACH_NEXT || kind == CODE_EACH_END || kind == CODE_JUMP)
    return;
  const void *function = frame->code->identity;
  uint32_t pc = function ? frame->pc : frame->code->code[frame->pc].origin;
  bool known = front_leaves(f, function, pc);   /* noted by a survey, which continues after it */
  if (known) f->wants_leave = f->surveys;
  if (known) return;
  f->shared.leaves[f->shared.leave_count++] =
      (struct code_place){function, pc, front_line_of(front_shown(frame))};
  f->wants_leave = true;
}

int front_refuse(struct front *f, const char *format, ...) {
  lua_State *L = f->L;
  if (!f->b || builder_status(f->b) == K_OK) front_note_leave(f);
  char reason[MESSAGE_SIZE];
  k_status status = f->b ? builder_status(f->b) : K_OK;
  if (status == K_ENOMEM) front_no_memory(f);
  va_list args;
  va_start(args, format);
  /* Once the builder has failed, later findings about the function are wrong. */
  if (status != K_OK && status != K_SHARED) format = TOO_LARGE;
  text_vformat(reason, sizeof reason, format, args);
  va_end(args);
  front_advise(f, reason);
  lua_Debug where;
  memset(&where, 0, sizeof where);
  const struct frame *shown = front_shown(f->frame);
  lua_rawgeti(L, f->anchors, shown ? shown->function : 1);
  if (lua_isfunction(L, -1))
    lua_getinfo(L, ">S", &where);
  else
    lua_pop(L, 1);
  int32_t line = front_line_of(shown);
  lua_pushfstring(L, "%s:%d: %s", where.short_src[0] ? where.short_src : "?",
                  line ? (int)line : where.linedefined, reason);
  f->refused = true;
  lua_error(L);
  abort();   /* never: lua_error does not return */
}

int front_no_memory(struct front *f) {
  lua_pushliteral(f->L, "not enough memory");
  lua_error(f->L);
  abort();   /* never: lua_error does not return */
}

void front_check(struct front *f) {
  switch (builder_status(f->b)) {
    case K_OK: break;
    case K_ENOMEM: front_no_memory(f); break;
    default: front_refuse(f, TOO_LARGE); break;
  }
}

/* ---- registers ---- */

struct val *front_register(struct front *f, uint32_t at) {
  if (at >= f->frame->code->registers) front_refuse(f, "its bytecode is not valid");
  assert(f->frame->base + at < f->env.count && f->env.count <= FRONT_REGISTERS);
  return &f->registers[f->frame->base + at];
}

static const struct constant *front_constant_at(const struct front *f, uint32_t at) {
  assert(at < f->frame->code->constant_count);
  return &f->frame->code->constants[at];
}

static struct val front_constant(struct front *f, uint32_t at) {
  const struct constant *constant = front_constant_at(f, at);
  struct val value = {.kind = VAL_NIL};
  int64_t whole;
  switch (constant->type) {
    case CONST_NIL: return value;
    case CONST_FALSE: return val_bool(f, false);
    case CONST_TRUE: return val_bool(f, true);
    case CONST_INTEGER:
      value = val_number(f, build_i64(f->b, constant->integer), true);
      value.entity = constant->integer == 0;
      value.number = constant->integer;
      break;
    case CONST_FLOAT:
      value = val_number(f, build_f64(f->b, constant->number), true);
      if (number_is_integer(constant->number, &whole)) value.number = whole;
      break;
    case CONST_STRING:
      value.kind = VAL_STRING;
      value.string = constant->string;
      return value;
  }
  value.literal = true;
  return value;
}

static struct val front_operand(struct front *f, struct operand operand) {
  if (operand.constant) return front_constant(f, operand.at);
  return *front_register(f, operand.at);
}

/* ---- jumps ---- */

/* Makes the rows of a mask, unless it is surely empty, wait for the target. */
static void front_add_edge(struct front *f, uint32_t target, k_value mask) {
  if (mask == K_NONE) front_check(f);   /* the builder has failed */
  assert(mask != K_NONE && (target == NONE || target <= f->frame->code->count));
  if (!GROW(&f->world->memory, f->edges, f->edge_capacity, f->edge_count + 1ull))
    front_no_memory(f);
  struct env *edge = &f->edges[f->edge_count];
  env_copy(f, edge, &f->env);
  edge->mask = mask;
  edge->target = target;
  f->edge_count++;
}

void front_jump(struct front *f, uint32_t target, k_value mask) {
  if (target <= f->frame->pc && !row_loop_is_open(f->frame, target))
    front_refuse(f, "it jumps into the middle of a loop: write while or repeat");
  front_add_edge(f, target, mask);
}

void front_jump_unless(struct front *f, uint32_t target, k_value condition) {
  k_value here = f->env.mask;
  front_jump(f, target, mask_and_not(f, here, condition));
  f->env.mask = mask_and(f, here, condition);
}

void front_keep(struct front *f) { front_add_edge(f, NONE, f->env.mask); }

void front_forget(struct front *f, uint32_t first) {
  assert(first <= f->edge_count);
  while (f->edge_count > first) env_free(f, &f->edges[--f->edge_count]);
}

static void front_drop_edge(struct front *f, uint32_t at) {
  assert(at < f->edge_count);
  env_free(f, &f->edges[at]);
  f->edge_count--;
  memmove(&f->edges[at], &f->edges[at + 1], (f->edge_count - at) * sizeof *f->edges);
}

/* Rows of an edge continue with the edge's environment if there are no other rows. */
static void front_take_edge(struct front *f, const struct env *from) {
  uint32_t count = f->env.count;
  assert(f->env.mask == K_NONE && from->registers != f->registers);
  memcpy(f->registers, from->registers,
         (count < from->count ? count : from->count) * sizeof *f->registers);
  f->env = *from;
  f->env.registers = f->registers;
  f->env.count = count;
}

uint32_t front_split(struct front *f, k_value rest) {
  if (rest == K_NONE) return NONE;
  front_add_edge(f, NONE, rest);
  return f->edge_count - 1;
}

void front_swap(struct front *f, uint32_t kept) {
  if (f->env.mask != K_NONE) front_keep(f);
  f->env.mask = K_NONE;
  if (kept == NONE) return;
  front_take_edge(f, &f->edges[kept]);
  front_drop_edge(f, kept);
}

void front_join(struct front *f, uint32_t first, uint32_t target) {
  for (uint32_t i = first; i < f->edge_count;) {
    if (f->edges[i].target != target) {
      i++;
      continue;
    }
    if (f->env.mask == K_NONE)
      front_take_edge(f, &f->edges[i]);
    else
      env_merge(f, &f->env, &f->edges[i]);
    front_drop_edge(f, i);
  }
}

void front_branch(struct front *f, const struct code *code, k_value condition, int known,
                  const struct val *set) {
  struct frame *frame = f->frame;
  front_check(f);
  assert(known <= 1 && (known >= 0 || condition != K_NONE));
  k_value taken = K_NONE, stays = K_NONE;
  if (known >= 0) {
    *(known == code->flag ? &taken : &stays) = f->env.mask;
  } else {
    k_value yes = mask_and(f, f->env.mask, condition);
    k_value no = mask_and_not(f, f->env.mask, condition);
    front_check(f);
    taken = code->flag ? yes : no;
    stays = code->flag ? no : yes;
  }
  if (taken != K_NONE) {
    front_jump(f, code->target, taken);
    if (set) f->edges[f->edge_count - 1].registers[frame->base + code->a] = *set;
  }
  f->chosen |= taken == K_NONE || stays == K_NONE;
  f->env.mask = stays;
  frame->pc += 2;
}

static void front_compare(struct front *f, const struct code *code) {
  int known;
  struct val left = front_operand(f, code->left), right = front_operand(f, code->right);
  k_value condition = number_compare(f, code->op, left, right, &known);
  front_branch(f, code, condition, known, NULL);
}

static void front_test(struct front *f, const struct code *code) {
  int known;
  struct val tested = *front_register(f, code->b);
  k_value condition = val_truth(f, tested, &known);
  if (tested.kind == VAL_PARTNER && val_is_maybe(tested) && !code->flag)
    tested = val_bool(f, false);   /* its value where it is absent */
  front_branch(f, code, condition, known, code->kind == CODE_TEST_SET ? &tested : NULL);
}

static void front_invert(struct front *f, const struct code *code) {
  int known;
  k_value truth = val_truth(f, *front_register(f, code->b), &known);
  *front_register(f, code->a) =
      known >= 0 ? val_known(f, !known) : val_number(f, build_unary(f->b, KO_NOT, truth), false);
}

/* Sends the present rows, with their results, to the end. */
static void front_leave(struct front *f, const struct code *code) {
  struct frame *frame = f->frame;
  uint32_t count = code->b;
  if (count == NONE) {
    if (frame->top == NONE || frame->top < code->a)
      front_refuse(f, "it returns a variable number of values");
    count = frame->top - code->a;
  }
  if (count > FRONT_RESULTS) front_refuse(f, "it returns more than %d values", FRONT_RESULTS);
  for (uint32_t i = 0; i < count; i++) {
    f->env.results[i] = *front_register(f, code->a + i);
    f->vague |= f->env.results[i].kind == VAL_UNKNOWN;
  }
  if (f->result == RESULT_MAP && !frame->caller) {
    for (uint32_t i = 0; i < count; i++) access_result(f, i, f->env.results[i]);
    count = 0;
  }
  f->env.result_count = count;
  front_add_edge(f, frame->code->count, f->env.mask);
  f->env.result_count = 0;
  f->env.mask = K_NONE;
}

/* Whether x has fields that a name can lead to. */
static bool front_has_fields(struct val x) {
  return val_is_view(x) && x.component && !x.array;
}

/* Whether a key is a literal integer. */
static bool front_is_whole(const struct front *f, struct val key) {
  return key.kind == VAL_VALUE && key.literal && val_is_number(f, key) &&
         (val_type(f, key) == KT_I64 || key.number != 0);
}

static void front_take_index(struct front *f, const struct code *code) {
  const struct val from = *front_register(f, code->b);
  struct val key = *front_register(f, code->c);
  if (front_has_fields(from) && call_has_names(key)) {
    call_each_name(f, code, code->c, from.component);
    return;
  }
  if (from.kind == VAL_PATH && key.kind == VAL_VALUE && val_is_maybe(key)) {
    *front_register(f, code->a) = element_by_maybe(f, from, key);
    return;
  }
  key = maybe_need(f, key);
  if (key.kind == VAL_CHOICE) key = choice_as_value(f, key);
  bool whole = front_is_whole(f, key);
  bool varies = key.kind == VAL_VALUE && !whole;
  struct val (*take)(struct front *f, struct val from, struct val index) =
      varies && is_array_field(from)                       ? array_field_at
      : from.kind == VAL_ARRAY                             ? element_at
      : varies && from.kind == VAL_PATH                    ? element_of_table
      : key.kind == VAL_VALUE && from.kind == VAL_ARRAYS   ? object_set_get
      : key.kind == VAL_VALUE && from.kind == VAL_LIST     ? scratch_get
      : varies && from.kind == VAL_RECORD                  ? element_of_record_at : NULL;
  if (take) {
    *front_register(f, code->a) = take(f, from, key);
    return;
  }
  scratch_want_keyed(f, from, key);
  if (key.kind != VAL_STRING && !whole)
    front_refuse(f, "it indexes %s", from.kind == VAL_NOTHING
                 ? "one of several tables by a variable: choose between their elements instead"
                 : from.kind == VAL_TABLE
                 ? "a table that it creates with fields by a variable: use a table from outside"
                 : "a table or view by a variable: write the index as a constant, or keep the "
                   "values in a world:array");
  struct constant constant = {.type = whole ? CONST_INTEGER : CONST_STRING,
                              .integer = key.number, .string = key.string};
  *front_register(f, code->a) = access_key(f, from, &constant);
}

/* #x */
static struct val front_length(struct front *f, struct val x) {
  if (x.kind == VAL_PATH) return cell_grows(f, x) ? cell_list_length(f, x) : outside_length(f, x);
  if (x.kind == VAL_RECORD) return element_length_of(f, x);
  if (x.kind == VAL_ARRAYS) return object_set_length(f, x);
  if (x.kind == VAL_LIST) return scratch_length(f, x);
  bool array = x.kind == VAL_ARRAY;
  bool counted = is_array_field(x);
  x = maybe_need(f, x);
  if (val_is_string(x) && x.kind != VAL_STRING) return text_length(f, x);
  scratch_want(f, x);
  if (x.kind == VAL_TABLE)
    front_refuse(f, "it takes the length of a table that it creates: count its items in a local");
  if (!counted && !array && x.kind != VAL_STRING)
    front_refuse(f, "it takes the length of what may not be a table, array or string");
  return val_integer(f, array     ? x.component->length
                        : counted ? x.array->count
                                  : (int64_t)x.string.size);
}

/* a[b] = value, with b in a register. */
static void front_set_index(struct front *f, const struct code *code) {
  struct val key = *front_register(f, code->b);
  const struct val to = *front_register(f, code->a), value = front_operand(f, code->right);
  if (front_has_fields(to) && call_has_names(key)) {
    call_each_name(f, code, code->b, to.component);
    return;
  }
  if (to.kind == VAL_ARRAY || (to.kind == VAL_ARRAYS && key.kind == VAL_VALUE)) {
    (to.kind == VAL_ARRAY ? steps_store : object_set_store)(f, to, key, value);
    return;
  }
  if (to.kind == VAL_TABLE && tie_is_pair(f, key)) {
    order_pair(f, to, key, value);
    return;
  }
  bool whole = front_is_whole(f, key);
  if (is_array_field(to) && to.kind != VAL_PARTNER && key.kind == VAL_VALUE && !whole) {
    array_field_store(f, to, key, value);
    return;
  }
  if (key.kind == VAL_CHOICE) key = choice_as_value(f, key);
  if (to.kind == VAL_LIST && key.kind == VAL_VALUE) {
    scratch_set(f, to, maybe_need(f, key), value);
    return;
  }
  if (to.kind == VAL_PATH && key.kind == VAL_VALUE && !whole) {
    cell_set_element(f, to, maybe_need(f, key), value);
    return;
  }
  scratch_want_keyed(f, to, key);
  if (key.kind != VAL_STRING && !whole)
    front_refuse(f, to.kind == VAL_RECORD
                        ? "it writes to a nested table by a variable: keep the elements in a "
                          "world:array"
                    : to.kind == VAL_TABLE
                        ? WHY_LIST
                        : "it writes to a view by a variable: write the index as a constant, or "
                          "keep the values in a world:array");
  struct constant constant = {.type = whole ? CONST_INTEGER : CONST_STRING,
                              .integer = key.number, .string = key.string};
  access_store(f, to, &constant, value);
}

static void front_set_upvalue(struct front *f, const struct code *code) {
  struct val *local = outside_local(f, code->a);
  if (local) {
    *local = front_operand(f, code->right);
    return;
  }
  struct path path = outside_upvalue_path(f, code->a);
  cell_set(f, &path, front_operand(f, code->right));
}

static void front_set_upfield(struct front *f, const struct code *code) {
  access_store(f, outside_upvalue(f, code->a), front_constant_at(f, code->b),
               front_operand(f, code->right));
}

static void front_set_field(struct front *f, const struct code *code) {
  access_store(f, *front_register(f, code->a), front_constant_at(f, code->b),
               front_operand(f, code->right));
}

static void front_take_method(struct front *f, const struct code *code) {
  const struct constant *key = front_constant_at(f, code->c);
  struct val object = *front_register(f, code->b);
  struct val method = access_key(f, object, key);
  *front_register(f, code->a + 1) = object;
  *front_register(f, code->a) = method;
}

/* Closures that captured variables which end keep the values, which are unknown from here on. */
static void front_close(struct front *f, const struct code *code) {
  for (uint32_t i = 0; i < f->env.count; i++) {
    const struct val *x = &f->registers[i];
    bool own = x->kind == VAL_CLOSURE && x->slot == f->frame->number;
    if (own && (x->at >= MOST_CLOSURES || f->frame->code->highest[x->at] > code->a))
      f->registers[i] = (struct val){.kind = VAL_NOTHING};
  }
}

static struct val front_closure(struct front *f, const struct code *code) {
  if (f->frame->around) front_refuse(f, WHY_FUNCTION);
  return (struct val){.kind = VAL_CLOSURE, .at = code->b, .slot = f->frame->number};
}

void front_operate(struct front *f, const struct code *code) {
  switch (code->kind) {
    case CODE_MOVE: *front_register(f, code->a) = *front_register(f, code->b); break;
    case CODE_LOAD:
    case CODE_LOAD_SKIP: *front_register(f, code->a) = front_constant(f, code->b); break;
    case CODE_NIL:
      for (uint32_t i = 0; i <= code->b; i++)
        *front_register(f, code->a + i) = (struct val){.kind = VAL_NIL};
      break;
    case CODE_UPVALUE: *front_register(f, code->a) = outside_upvalue(f, code->b); break;
    case CODE_UPFIELD:
      *front_register(f, code->a) =
          access_key(f, outside_upvalue(f, code->b), front_constant_at(f, code->c));
      break;
    case CODE_FIELD:
      *front_register(f, code->a) =
          access_key(f, *front_register(f, code->b), front_constant_at(f, code->c));
      break;
    case CODE_INDEX: front_take_index(f, code); break;
    case CODE_SET_FIELD: front_set_field(f, code); break;
    case CODE_SET_INDEX: front_set_index(f, code); break;
    case CODE_SET_UPFIELD: front_set_upfield(f, code); break;
    case CODE_SET_UPVALUE: front_set_upvalue(f, code); break;
    case CODE_TABLE: *front_register(f, code->a) = scratch_create(f, code); break;
    case CODE_LIST: order_list(f, code); break;
    case CODE_CLOSE: front_close(f, code); break;
    case CODE_CLOSURE: *front_register(f, code->a) = front_closure(f, code); break;
    case CODE_METHOD: front_take_method(f, code); break;
    case CODE_ARITH:
      *front_register(f, code->a) = number_binary(f, code->op, front_operand(f, code->left),
                                                  front_operand(f, code->right));
      break;
    case CODE_UNARY:
      *front_register(f, code->a) = number_unary(f, code->op, *front_register(f, code->b));
      break;
    case CODE_NOT: front_invert(f, code); break;
    case CODE_LENGTH:
      *front_register(f, code->a) = front_length(f, *front_register(f, code->b));
      break;
    case CODE_CONCAT: choice_concat(f, code); break;
    case CODE_CALL: call_function(f, code); break;
    default: assert(code->kind == CODE_NOTHING); break;
  }
}

/* Compiles the instruction at the frame's pc for the present rows; advances pc. */
static void front_step(struct front *f, struct frame *frame) {
  const struct code *code = &frame->code->code[frame->pc];
  assert(f->frame == frame && frame->pc < frame->code->count && f->env.mask != K_NONE);
  front_check(f);
  build_at(f->b, f->env.mask, front_tag(f));
  switch (code->kind) {
    case CODE_REFUSED:
      f->hopeless = !frame->caller && !f->chosen && f->loop_depth == 0;
      front_refuse(f, "%s", code->why);
      break;
    case CODE_COMPARE: front_compare(f, code); return;
    case CODE_TEST:
    case CODE_TEST_SET: front_test(f, code); return;
    case CODE_FOR: numeric_for(f, frame); return;
    case CODE_EACH: partner_for(f, frame); return;
    case CODE_EACH_NEXT:
    case CODE_EACH_END:
    case CODE_FOR_END: front_refuse(f, "its bytecode is not valid"); break;
    case CODE_JUMP:
      front_jump(f, code->target, f->env.mask);
      f->env.mask = K_NONE;
      break;
    case CODE_RETURN: front_leave(f, code); break;
    case CODE_LEAVE:
      if (env_leave_some(f)) break;
      f->wants_strict = !f->body_line || front_leaves(f, frame->code->identity, code->origin);
      front_refuse(f, "every path leaves the loop in its first round");
      break;
    case CODE_LOAD_SKIP:
      front_operate(f, code);
      front_jump(f, frame->pc + 2, f->env.mask);
      f->env.mask = K_NONE;
      break;
    default: front_operate(f, code); break;
  }
  frame->pc++;
}

void front_advance(struct front *f, struct frame *frame) {
  (row_loop_begins(frame) ? row_loop : front_step)(f, frame);
}

void front_range(struct front *f, struct frame *frame, uint32_t end) {
  uint32_t outer = frame->end;
  frame->end = end;
  while (frame->pc < end) {
    front_join(f, frame->first_edge, frame->pc);
    if (f->env.mask == K_NONE)
      frame->pc++;
    else
      (f->surveys ? survey_advance : front_advance)(f, frame);
  }
  frame->end = outer;
}

void front_function(struct front *f, struct frame *frame) {
  frame->first_edge = f->edge_count;
  front_range(f, frame, frame->code->count);
  if (f->env.mask != K_NONE) front_refuse(f, "its bytecode is not valid");
  front_join(f, frame->first_edge, frame->code->count);
  if (f->edge_count != frame->first_edge) front_refuse(f, "its bytecode is not valid");
  front_check(f);
}

/* ---- whole functions ---- */

/* Reads the code of a frame's function, which is anchored. */
static void front_read(struct front *f, struct frame *frame) {
  if (f->code_count == FRONT_FUNCTIONS)
    front_refuse(f, "it calls more than %d functions: write it as two systems", FRONT_FUNCTIONS);
  frame->code = &f->codes[f->code_count++];
  memset(frame->code, 0, sizeof *frame->code);
  lua_rawgeti(f->L, f->anchors, frame->function);
  if (lua_iscfunction(f->L, -1)) front_refuse(f, "it is a C function");
  ecs_status status =
      bytecode_read(f->L, lua_gettop(f->L), frame->inner, &f->world->memory, frame->code);
  lua_pop(f->L, 1);
  frame->code->identity = frame->identity;
  frame->code->surveyed = f->surveys;
  if (status == ECS_OK && f->body_line && !frame->caller) {
    frame->code->identity = NULL;   /* each call of it has its own identity */
    body_cut(f, frame);
  }
  for (uint32_t i = 0; status == ECS_OK && i < f->shared.leave_count; i++) {
    struct code_place leave = f->shared.leaves[i];
    if (leave.function != frame->code->identity || !leave.function) continue;
    frame->code->code[leave.pc].kind = CODE_LEAVE;
  }
  if (status == ECS_OK && !flow_find(frame->code)) status = ECS_ENOMEM;
  if (status == ECS_ENOMEM) front_no_memory(f);
  if (status != ECS_OK) front_refuse(f, "its bytecode is not " LUA_VERSION "'s");
}

void front_open(struct front *f, struct frame *frame, uint16_t function) {
  frame->function = function;
  frame->number = ++f->calls;
  for (uint32_t i = 0; i < f->code_count; i++)
    if (f->codes[i].identity == frame->identity) frame->code = &f->codes[i];
  if (!frame->code) front_read(f, frame);
  if (frame->code->vararg && frame->code->code[0].kind != CODE_LEAVE) {
    frame->pc = 0;
    front_refuse(f, WHY_VARARG);
  }
}

/* The environment at the function's start, with all rows that the program is for. */
static void front_start(struct front *f, struct frame *frame) {
  struct env *env = &f->env;
  memset(env, 0, sizeof *env);
  memset(env->fields, 0xFF, sizeof env->fields);
  env->mask = f->start = f->starts ? build_start(f->b) : K_ALL;
  env->registers = f->registers;
  env->count = frame->code->registers;
  for (uint32_t i = 0; i < ENV_COUNTS; i++)
    env->counts[i] = val_number(f, build_i64(f->b, 0), true);
  f->uniform_count = UNIFORM_FIRST;
  f->started = true;
  for (uint32_t i = 0; i < frame->code->registers; i++) {
    struct val nil = {.kind = VAL_NIL};
    bool given = f->body_line ? i - f->body_first < f->body_count : i < frame->code->parameters;
    f->registers[i] = given ? access_parameter(f, i - f->body_first) : nil;
  }
}

/* In a `for`, all rows draw random numbers from one sequence: the second upvalue of the function
** that holds the locals counts the draws. */
static struct path front_draws(const struct front *f) {
  return (struct path){0, 2, f->locals, {0}};
}

static void front_begin_draws(struct front *f) {
  const struct path draws = front_draws(f);
  uint32_t cell = cell_find(f, &draws);
  if (cell != NONE) f->env.counts[ENV_CALLS] = cell_get(f, &draws, cell);
}

static void front_end_draws(struct front *f) {
  const struct path draws = front_draws(f);
  cell_set(f, &draws, f->env.counts[ENV_CALLS]);
}

/* Adds a result to the totals: integers to the first, floats to the second. In a sum, all results
** are also added to the second, as floats. */
static void front_add_up(struct front *f, struct val number) {
  static const k_reduce hows[] = {[RESULT_SUM] = KR_SUM, [RESULT_MIN] = KR_MIN,
                                  [RESULT_MAX] = KR_MAX};
  enum { SMALL = 44 };   /* bits of integers that a leaf sums below 2^53: KR_FLOATS */
  struct builder *b = f->b;
  assert(f->result < sizeof hows / sizeof *hows);
  k_reduce how = hows[f->result];
  uint8_t bits = mixed_bits(number);
  bool integer = val_type(f, number) == KT_I64, small = bits && bits <= SMALL;
  bool all = !f->query->terms.choices && !build_may_fail(b);   /* then no row yields a float */
  integer &= !NUMBERS_ARE_DOUBLES;
  k_value whole = NUMBERS_ARE_DOUBLES ? build_bool(b, false) : mixed_whole(f, number);
  whole = mask_and(f, f->start, whole);
  k_value real = number_as(f, number, KT_F64);
  build_reduce(b, 0, how, integer ? number.value : build_unary(b, KO_BELOW, real), whole);
  if (how == KR_SUM)
    build_reduce(b, 1, integer && (small || all) ? KR_FLOATS : KR_SUM, real, f->start);
  else
    build_reduce(b, 1, how, real, build_binary(b, KO_ANDN, f->start, whole));
}

/* Uses the function's result as the query needs it. */
static void front_use_result(struct front *f) {
  struct env *env = &f->env;
  struct val result = env->result_count ? env->results[0] : (struct val){.kind = VAL_NIL};
  if (!RESULT_IS_USED(f->result) || f->vague) return;
  if (f->result == RESULT_TRUTH) {
    int known;
    k_value truth = val_truth(f, result, &known);
    if (known >= 0) truth = build_bool(f->b, known);
    build_emit(f->b, 0, mask_and(f, f->start, truth));
    return;
  }
  if (!val_is_number(f, result) || val_is_maybe(result))
    front_refuse(f, "it does not return a number on every path");
  if (f->result == RESULT_KEY) {
    number_decided(f, result, result, "returns");
    bool integer = val_type(f, result) == KT_I64;
    access_give(f, integer ? result.value : number_as(f, result, KT_F64), integer);
    return;
  }
  build_at(f->b, f->start, front_tag(f));
  front_add_up(f, mixed_settle(f, result));
}

void front_clear(struct front *f) {
  size_t lists = offsetof(struct front, registers);
  memset(f, 0, lists);
#ifdef ECS_DEBUG
  memset((char *)f + lists, 0xA5, sizeof *f - lists);
#endif
}

void front_compile(struct front *f, lua_State *L, int function) {
  struct frame frame = {.top = NONE};
  f->L = L;
  lua_pushvalue(L, function);
  uint16_t anchor = front_anchor(f);
  f->b = builder_new(&f->world->memory);
  if (!f->b) front_no_memory(f);
  lua_rawgeti(L, f->anchors, anchor);
  frame.identity = lua_topointer(L, -1);
  lua_pop(L, 1);
  /* The frame is not used after this call, however it ends. */
  /* cppcheck-suppress autoVariables */
  f->frame = &frame;
  if (f->body_line) {
    lua_pushvalue(L, f->locals_index);
    f->locals = front_anchor(f);
  }
  front_open(f, &frame, anchor);
  front_start(f, &frame);
  scratch_begin(f);
  if (f->shared.draws) front_begin_draws(f);
  front_function(f, &frame);
  bool leaves = f->env.mask == K_NONE && f->shared.leave_count;
  f->wants_strict = leaves && !(f->surveys && survey_has_reasons(f));
  if (f->env.mask == K_NONE)
    front_refuse(f, "every path through it reaches something that only Lua can do");
  if (f->shared.draws) front_end_draws(f);
  front_use_result(f);
  access_finish(f);
  cell_finish(f);
  front_check(f);
  if (f->wants_classes || f->wants_cells)
    front_refuse(f, "its rows see more of what earlier rows have written");
  if (f->surveys) return;
  k_status status = build_finish(f->b, &f->program);
  if (status == K_ENOMEM) front_no_memory(f);
  if (status == K_SHARED) steps_refuse_shared(f);
  if (status != K_OK) front_refuse(f, TOO_LARGE);
}

bool front_guard_refusal(struct front *f) { return !f->fleeting && outside_guard_tables(f); }

void front_free(struct front *f) {
  struct memory *memory = &f->world->memory;
  front_forget(f, 0);
  memory_free(memory, f->edges, f->edge_capacity * sizeof *f->edges);
  while (f->code_count) {
    flow_free(&f->codes[--f->code_count]);
    bytecode_free(&f->codes[f->code_count]);
  }
  if (f->b) builder_free(f->b);
  if (f->program) program_free(f->program);
  f->edges = NULL;
  f->edge_capacity = 0;
  f->b = NULL;
  f->program = NULL;
}
