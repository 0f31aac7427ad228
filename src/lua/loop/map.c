#include "lua/loop/loop.h"

#include "core/base/chance.h"
#include "core/entity/prefab.h"
#include "core/query/query.h"
#include "core/storage/marks.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/loop/view.h"

/* Called several times per row, so these bypass the PLT, which would cost 10 %. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__ELF__)
#define DIRECT __attribute__((noplt, visibility("default")))
DIRECT void lua_pushnumber(lua_State *L, lua_Number number);
DIRECT void lua_pushvalue(lua_State *L, int index);
DIRECT lua_Number lua_tonumberx(lua_State *L, int index, int *is_number);
DIRECT int lua_type(lua_State *L, int index);
DIRECT int lua_gettop(lua_State *L);
DIRECT void lua_settop(lua_State *L, int index);
#ifdef lua_call
DIRECT void lua_callk(lua_State *L, int arguments, int results, lua_KContext context,
                      lua_KFunction next);
#endif
#endif

#define LANES 16             /* slots with a fast path */
#define RESULTS 32           /* most results that may wait on the stack */

struct map_frame {
  int loop, function, top;   /* stack indices */
  int slots, arguments;      /* number of all arguments: slots, dt, entity, as many as the function
                             ** takes */
  int pushed;                /* how many of the slots are pushed */
  double dt;
};

bool map_check(lua_State *L, const ecs_query *query, bool idle) {
  const struct query_terms *terms = &query->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (query->broken || term->slot == NONE || term->leaf != NONE) continue;
    const struct component *component = term->component;
    if (!term_has_cells(term, component)) continue;
    if (idle && query_count_all(query) == 0) return false;
    raise_error(L, "map takes single fields, but the query '%s' has the whole component '%s':"
                " name its fields, as in '%s.%s'", query->text, component->name,
                component->name, component->leaves[0].name);
  }
  return true;
}

/* Raises an error that says why a slot cannot take a result. */
static void map_refuse(lua_State *L, const struct loop_box *loop, const struct slot *slot) {
  const char *component = slot->component->name;
  if (slot->tag)
    raise_error(L, "map: '%s' is a tag in the query '%s' and takes no result: return nil in its "
                "place", component, loop->query->query->text);
  const char *field = slot->leaf->name;
  if (leaf_is_target(slot->component, slot->leaf_at)) refuse_target(L, slot->component);
  if (slot->read_only)
    raise_error(L, "map: field '%s.%s' is read-only in the query '%s'", component, field,
                loop->query->query->text);
  raise_error(L, "map: entity " SHOW_ID " has no '%s.%s' to write a result to",
              loop_entity(loop, loop->row), component, field);
}

/* Converts the results from an index on; false if one was not a number. */
static bool map_convert(lua_State *L, const struct map_frame *frame, struct loop_box *loop,
                        int index, int count) {
  bool plain = true;
  for (int i = 0; i < count; i++) {
    struct slot *slot = &loop->slots[i];
    slot->given = !lua_isnil(L, index + i);
    if (!slot->given) continue;
    if (UNLIKELY(slot->read_only || !slot->present || slot->tag)) map_refuse(L, loop, slot);
    if (LIKELY(number_to_cell(L, slot->type, index + i, &slot->cell))) continue;
    if (plain) values_begin(loop->box);
    plain = false;
    lua_getiuservalue(L, frame->loop, LOOP_WORLD);
    value_to_cell(L, loop->box, lua_gettop(L), slot->component, slot->leaf_at, index + i,
                  &slot->cell);
    lua_pop(L, 1);
  }
  return plain;
}

/* Marks that the loop's row has been given a value. */
static inline void map_note(const struct loop_box *loop, const struct slot *slot) {
  if (UNLIKELY(slot->table->mark_count))
    marks_note(loop->box->world, slot->table, slot->columns->id, slot->first + loop->row);
}

/* Writes each row as a whole or, if a result does not fit, not at all. */
static void map_store_row(lua_State *L, const struct map_frame *frame, struct loop_box *loop,
                          int index, int count) {
  struct world_box *box = loop->box;
  bool plain = map_convert(L, frame, loop, index, count);
  for (int i = 0; i < count; i++) {
    const struct slot *slot = &loop->slots[i];
    if (!slot->given) continue;
    store_cell_at(box->any.slots, slot->leaf, slot->data, loop->row, slot->cell);
    map_note(loop, slot);
  }
  if (LIKELY(plain)) return;
  values_stored(box);
  world_settle(box->world);
  lua_getiuservalue(L, frame->loop, LOOP_WORLD);
  settle_any(L, box, lua_gettop(L));
  lua_pop(L, 1);
}

/* Calls the function with its slots already pushed. Returns the number of results after `base`. */
static inline int map_call(lua_State *L, const struct map_frame *frame, const struct loop_box *loop,
                           uint32_t row, int base) {
  if (frame->arguments > frame->slots)
    push_rest(L, loop, row, frame->dt, frame->arguments - frame->slots);
  lua_call(L, frame->arguments, LUA_MULTRET);
  loop_be_innermost(L, frame->loop, loop);
  int results = lua_gettop(L) - base;
  if (UNLIKELY(!loop->open)) loop_gone(L, loop);
  if (UNLIKELY(results > frame->slots))
    luaL_error(L, "map: the function returns %d values, the query has %d fields", results,
               frame->slots);
  return results;
}

/* Whether the first `count` results are numbers. */
static inline bool map_are_numbers(lua_State *L, int first, int count) {
  for (int i = 0; i < count; i++)
    if (lua_type(L, first + i) != LUA_TNUMBER) return false;
  return true;
}

static inline void map_store_floats(lua_State *L, const struct loop_box *loop, int first,
                                    int count) {
  for (int i = 0; i < count; i++) {
    ((float *)loop->slots[i].data)[loop->row] = (float)lua_tonumber(L, first + i);
    map_note(loop, &loop->slots[i]);
  }
}

/* Runs over a table of which the function takes only f32 fields; the first `writable` may be
** written. The results of some rows stay on the stack: popping each costs as much as a push. */
static void map_floats(lua_State *L, const struct map_frame *frame, struct loop_box *loop,
                       int writable) {
  const float *columns[LANES];
  int pushed = frame->pushed, base = frame->top, function = frame->function;
  for (int i = 0; i < pushed; i++) columns[i] = loop->slots[i].data;
  for (uint32_t row = 0, count = loop->count; row < count; row++) {
    if (UNLIKELY(loop->filter) && !loop_takes(loop, row)) continue;
    loop->row = row;
    loop->chance->calls = 0;
    lua_pushvalue(L, function);
    for (int i = 0; i < pushed; i++) lua_pushnumber(L, (lua_Number)columns[i][row]);
    int results = map_call(L, frame, loop, row, base);
    if (LIKELY(results <= writable && map_are_numbers(L, base + 1, results)))
      map_store_floats(L, loop, base + 1, results);
    else
      map_store_row(L, frame, loop, base + 1, results);
    base += results;
    if (UNLIKELY(base - frame->top > RESULTS)) lua_settop(L, base = frame->top);
  }
  if (base > frame->top) lua_settop(L, frame->top);
}

static void map_any(lua_State *L, const struct map_frame *frame, struct loop_box *loop,
                    uint32_t from, uint32_t to) {
  for (uint32_t row = from; row < to; row++) {
    if (!loop_takes(loop, row)) continue;
    loop->row = row;
    loop->chance->calls = 0;
    lua_pushvalue(L, frame->function);
    for (int i = 0; i < frame->pushed; i++)
      slot_push(L, frame->loop, loop, &loop->slots[i], row);
    int results = map_call(L, frame, loop, row, frame->top);
    map_store_row(L, frame, loop, frame->top + 1, results);
    lua_settop(L, frame->top);
  }
}

/* The number of slots, from the first on, that are f32 fields of the table. */
static int map_count_floats(const struct loop_box *loop, bool to_write) {
  int count = 0;
  while (count < (int)loop->slot_count && count < LANES) {
    const struct slot *slot = &loop->slots[count];
    if (!slot->present || slot->type != ECS_F32 || (to_write && slot->read_only)) break;
    count++;
  }
  return count;
}

INLINE struct map_frame map_open_frame(lua_State *L, const struct loop_box *loop, int top,
                                       int loop_index, int function, double dt) {
  int slots = (int)loop->slot_count;
  struct map_frame frame = {.loop = loop_index, .function = function, .slots = slots, .dt = dt};
  need_stack(L, RESULTS + 2 * slots + 8 + (int)value_count(loop));
  frame.arguments = wanted_arguments(L, function, loop);
  frame.pushed = frame.arguments < slots ? frame.arguments : slots;
  frame.top = top;
  return frame;
}

/* Runs over the rows of the loop's current run. */
static void map_run(lua_State *L, const struct map_frame *frame, struct loop_box *loop) {
  uint64_t before = loop->box->world->rows_run;
  uint32_t done = loop->count;
  for (uint32_t row = 0; UNLIKELY(loop->filter) && row < loop->count; row++)
    done -= !loop_takes(loop, row);
  if (map_count_floats(loop, false) >= frame->pushed)
    map_floats(L, frame, loop, map_count_floats(loop, true));
  else
    map_any(L, frame, loop, 0, loop->count);
  if (loop->box->world) loop->box->world->rows_run = before + done;
}

void map_here(lua_State *L, int loop_index, int function, double dt) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  struct map_frame frame = map_open_frame(L, loop, lua_gettop(L), loop_index, function, dt);
  map_run(L, &frame, loop);
}

void map_row(lua_State *L, int loop_index, int function, double dt, uint32_t row) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  struct map_frame frame = map_open_frame(L, loop, lua_gettop(L), loop_index, function, dt);
  uint64_t before = loop->box->world->rows_run;
  map_any(L, &frame, loop, row, row + 1);
  if (loop->box->world) loop->box->world->rows_run = before + 1;
}

void map_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt) {
  assert(lua_gettop(L) == loop_index && lua_touserdata(L, loop_index) == loop);
  struct map_frame frame = map_open_frame(L, loop, loop_index, loop_index, function, dt);
  while (loop_next_run(loop)) {
    if (UNLIKELY(loop->fill)) loop->fill(L, loop_index);
    map_run(L, &frame, loop);
  }
}
