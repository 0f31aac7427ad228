/* Gathering the writes of one core call from Lua values. */
#ifndef ECS_LUA_BIND_INPUT_H
#define ECS_LUA_BIND_INPUT_H

#include <lauxlib.h>

#include "core/base/one_cell.h"

struct component;
struct field;
struct world_box;

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

static inline void input_begin(struct input *input, lua_State *L, struct world_box *box,
                               int world_index) {
  input->L = L;
  input->box = box;
  input->world_index = world_index;
  input->count = 0;
  input->capacity = INPUT_LOCAL;
  input->writes = input->local;
}

/* The value at an index for one leaf. */
void input_leaf(struct input *input, const struct component *component, uint32_t leaf,
                int index);
/* For a declared field: a scalar, or a table for an array or a nested component. */
void input_field(struct input *input, const struct component *component, uint32_t field,
                 int index);
/* For a field of a nested component, whose own leaves begin at `base`. */
void input_part(struct input *input, const struct component *component,
                const struct field *field, uint32_t base, int index);
/* For one element of a field that begins at leaf `base`: a leaf, or a nested component. */
void input_element(struct input *input, const struct component *component,
                   const struct field *field, uint32_t base, int index);
/* For a component: the table at an absolute index, of fields by name or by position from 1. */
void input_table(struct input *input, const struct component *component, int index);
/* For the component, or one leaf of it, that a call names: `count` arguments from the one at
** `first` on, one table or values in the order of fields. */
void input_values(struct input *input, const struct component *component, uint32_t leaf,
                  int first, int count);

/* For an event: all arguments from one on, which may be none. */
void input_event(struct input *input, const struct component *event, int first);

/* When `count` entities are to have the same writes: takes slots for the others' any values, too,
** since each needs its own. They are pending behind those of the first, in the same order. */
void input_share_out(struct input *input, size_t count);
/* Copies a component's writes, with the next of these slots. Returns the slots behind those. */
const uint32_t *writes_copy(const struct component *component, const struct write *from,
                            uint32_t count, struct write *to, const uint32_t *slots);

/* Memory of Lua's allocator: a finalizer may close the world while it is in use. */
void *buffer_take(lua_State *L, struct world_box *box, size_t size);
void buffer_return(lua_State *L, void *buffer, size_t size);

#endif
