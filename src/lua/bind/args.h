/* Arguments of functions called by scripts, and messages about them. */
#ifndef ECS_LUA_BIND_ARGS_H
#define ECS_LUA_BIND_ARGS_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/base/intern.h"
#include "core/ids/entity_index.h"
#include "core/world/lifetime.h"
#include "ecs_value.h"
#include "lua/bind/object.h"

struct field;

/* Raises "world expected, got table" for an argument that is not an object of that kind; if a
** method was called with a dot, says so. */
int no_object(lua_State *L, int arg, const void *kind, const char *name);

/* Whether an argument is an object of that kind from another copy of this library, opened in the
** same state; if so, pushes what it is, and where both copies came from. */
bool push_copies(lua_State *L, int arg, const void *kind);

/* A finite number that is not negative. */
double check_seconds(lua_State *L, int arg);

/* A string without zero bytes. `size` may be NULL. */
const char *check_text(lua_State *L, int arg, size_t *size);

/* Raises a message if an argument after `last` is not nil. */
static inline void check_only(lua_State *L, int last, const char *what) {
  if (UNLIKELY(!lua_isnoneornil(L, last + 1))) luaL_argerror(L, last + 1, what);
}

/* Pushes a key of the table at an absolute index that is not in 1 to count; false if none is. */
bool push_odd_key(lua_State *L, int index, lua_Unsigned count);

/* Pushes the method, from a list, that the string at an index names; false for any other key. */
bool push_method(lua_State *L, const luaL_Reg *methods, int index);

/* Makes room on the Lua stack, or raises the memory error. */
void need_stack(lua_State *L, int slots);

/* Writes a value into a buffer for a message: 12, 'text', true, a table. Returns the buffer. */
const char *show_value(lua_State *L, int index, char *buffer, size_t size);

/* Reads a number, string or boolean; the text lives while the value is on the stack. For anything
** else false, with ECS_KIND_NONE. */
bool read_scalar(lua_State *L, int index, ecs_value *out);

/* Whether the value at an index is an integer, or a float with an integer value; never a string. If
** it is not, *out becomes 0. */
static inline bool read_whole(lua_State *L, int index, lua_Integer *out) {
  int is_integer = 0;
  *out = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &is_integer) : 0;
  return is_integer;
}

/* Collecting the writes of one core call from Lua values. */

#define INPUT_LOCAL 64

struct input {
  lua_State *L;
  struct world_box *box;
  int world_index;
  uint32_t count;
  uint32_t capacity;
  struct write *writes;          /* `local`, or the world box's scratch */
  struct write local[INPUT_LOCAL];
};

/* Sweeps strings that failed calls and loops have left: successful ones do that at their end. */
void input_sweep(struct world_box *box);

static inline void input_begin(struct input *input, lua_State *L, struct world_box *box,
                               int world_index) {
  if (UNLIKELY(intern_is_due(box->strings))) input_sweep(box);
  input->L = L;
  input->box = box;
  input->world_index = world_index;
  input->count = 0;
  input->capacity = INPUT_LOCAL;
  input->writes = input->local;
}

/* Reads the value at an index into one leaf. */
void input_leaf(struct input *input, const struct component *component, uint32_t leaf,
                int index);
/* Reads a declared field (a scalar, or a table for an array or a nested component) of the component
** or of a nested one, whose own leaves begin at `base`. */
void input_part(struct input *input, const struct component *component,
                const struct field *field, uint32_t base, int index);
/* Reads one element of a field that begins at leaf `base`: a leaf, or a nested component. */
void input_element(struct input *input, const struct component *component,
                   const struct field *field, uint32_t base, int index);
/* Reads a component: the table at an absolute index, with fields by name or by position from 1. */
void input_table(struct input *input, const struct component *component, int index);
/* Reads the values for a component, or for one leaf of it: `count` arguments from `first` on,
** either one table or values in the order of the fields. */
void input_values(struct input *input, const struct component *component, uint32_t leaf,
                  int first, int count);

/* Reads an event's values: all arguments from a given one on, possibly none. */
void input_event(struct input *input, const struct component *event, int first);

/* If `count` entities get the same writes: takes slots for the other entities' `any` values, too,
** since each needs its own. They are pending after those of the first, in the same order. */
void input_share_out(struct input *input, size_t count);
/* Copies a component's writes, with the next of these slots. Returns the slots that remain. */
const uint32_t *writes_copy(const struct component *component, const struct write *from,
                            uint32_t count, struct write *to, const uint32_t *slots);

/* Memory from Lua's allocator, since a finalizer may close the world while it is in use. */
void *buffer_take(lua_State *L, struct world_box *box, size_t size);
void buffer_return(lua_State *L, void *buffer, size_t size);

/* Tables of options, as world:system and world:phase take them. Messages begin with `what`. */

/* Raises an error for a key of the table at an index that is not in `known` (ended by NULL), and
** suggests the nearest one. */
void check_keys(lua_State *L, int index, const char *what, const char *const *known);

/* These push an option by raw access. */
int option(lua_State *L, int index, const char *key);
/* NULL if it is absent; the text lives while it is on the stack. */
const char *text_option(lua_State *L, int index, const char *what, const char *key);
/* Pops the value. */
bool boolean_option(lua_State *L, int index, const char *what, const char *key, bool absent);
/* 0 if absent, otherwise above 0. */
double seconds_option(lua_State *L, int index, const char *what, const char *key);
/* A string or a list of strings, ended by NULL; they live as long as what was pushed. */
const char *const *names_option(lua_State *L, int index, const char *what, const char *key);

/* The text of a query. */
#define ONE_TEXT "one string, as in \"Position, Velocity\""

/* Raises an error because the value at the top of the stack is wrong for the option. */
void wrong_option(lua_State *L, const char *what, const char *key, const char *expected);

/* How public calls begin: with the open world among their arguments. */

/* Raise "world expected, got nil" or "the world is closed" for `arg`; the other, that scripts are
** being read. */
int no_world(lua_State *L, int arg);
int no_change(lua_State *L);

/* Releases pending any slots: see take_any. */
void drop_pending(struct world_box *box);

/* Called before the first value_to_cell of a call that did not use check_world: releases any slots
** that an error has left pending. */
static inline void values_begin(struct world_box *box) {
  if (UNLIKELY(box->any.pending)) drop_pending(box);
}

/* Called after the core call that has taken them over. */
static inline void values_stored(struct world_box *box) { box->any.pending = 0; }

/* The open world at argument `arg`, or an error. Counts a public call; functions that reach a world
** in another way (queries, views that change more than a number) also increment `calls`. */
static inline struct world_box *check_world(lua_State *L, int arg) {
  struct world_box *box = box_test(L, arg, &kind_world, sizeof *box);
  if (UNLIKELY(!box || !box->world)) {
    no_world(L, arg);
    return NULL;
  }
  world_be_sure(box->world);
  box->calls++;
  values_begin(box);
  return box;
}

/* While scripts are read, everything except declarations is refused: here, and nowhere else. */
static inline void check_free(lua_State *L, const struct world_box *box) {
  if (UNLIKELY(box->stage)) no_change(L);
}

/* check_world for calls other than declarations: an error while scripts are read. */
static inline struct world_box *check_free_world(lua_State *L, int arg) {
  struct world_box *box = check_world(L, arg);
  check_free(L, box);
  return box;
}

/* Ids as arguments. */

/* An id argument: an integer, or a float with an integer value; never a string. */
static inline ecs_id to_id(lua_State *L, int arg, int *is_number) {
  if (UNLIKELY(lua_type(L, arg) != LUA_TNUMBER)) return *is_number = 0, ECS_NULL;
  return (ecs_id)lua_tointegerx(L, arg, is_number);
}

/* An id argument, or an error that shows what was passed. */
ecs_id check_id(lua_State *L, int arg);

/* Ids of living entities as arguments. */

/* Raises an error that says what is wrong with an id argument. */
int no_entity(lua_State *L, const struct world_box *box, int arg);

/* The id of a living entity and its record, or an error that says why it is not one. */
static inline ecs_id check_entity_record(lua_State *L, const struct world_box *box, int arg,
                                         const struct record **record) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  *record = entity_find(box->entities, id);
  if (UNLIKELY(!is_integer || !*record)) no_entity(L, box, arg);
  return id;
}

static inline ecs_id check_entity(lua_State *L, const struct world_box *box, int arg) {
  const struct record *record;
  return check_entity_record(L, box, arg, &record);
}

/* Sets fields of the table at the top of the stack, for descriptions of a world. */

/* Does nothing for NULL. */
static inline void set_text(lua_State *L, const char *key, const char *text) {
  if (!text) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

static inline void set_integer(lua_State *L, const char *key, uint64_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

static inline void set_number(lua_State *L, const char *key, double value) {
  lua_pushnumber(L, (lua_Number)value);
  lua_setfield(L, -2, key);
}

static inline void set_boolean(lua_State *L, const char *key, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, key);
}

/* Pops a value and appends it to the list below it. */
static inline void append_item(lua_State *L) {
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* Appends a text to the list at the top of the stack. */
static inline void append_text(lua_State *L, const char *text) {
  lua_pushstring(L, text);
  append_item(L);
}

/* Texts of queries with the values of their $variables. */

#define VARIABLES_MOST 16

/* Lives as long as the table from which it was read. */
struct query_text {
  const char *text;          /* NULL: none */
  bool shared;               /* made while systems run: the world keeps the query */
  uint32_t count;
  ecs_variable variables[VARIABLES_MOST];
};

/* Reads the table at an argument, if given: { p = id }, or a component's or tag's name as value. */
void variables_of_argument(lua_State *L, struct world_box *box, int arg, struct query_text *out);

/* Reads variables at an index or, if `marked`, among other options: { ["$p"] = id }. Messages begin
** with `what`. */
void variables_of_options(lua_State *L, struct world_box *box, int index, bool marked,
                          const char *what, struct query_text *out);

#endif
