/* What functions are given for a row of a loop: its terms' values, its entity. */
#ifndef ECS_LUA_BIND_SLOT_H
#define ECS_LUA_BIND_SLOT_H

#include "lua/bind/cell.h"
#include "lua/loop/loop_box.h"

#include "core/ids/record.h"
#include "lua/loop/loop.h"

/* The entity of a row of the loop's current run. */
static inline ecs_id loop_entity(const struct loop_box *loop, uint32_t row) {
  return entity_id(loop->entities, loop->rows[row]);
}

/* Whether a row is among those that the loop goes through. */
static inline bool loop_takes(const struct loop_box *loop, uint32_t row) {
  return !loop->filter || (loop->filter[row / 64] >> row % 64 & 1);
}

/* How many values go with a match, behind the entity. */
static inline uint32_t value_count(const struct loop_box *loop) {
  return LIKELY(!loop->walk) ? 0 : loop_value_count(loop);
}

/* slot_push for what is no number, or absent. */
void slot_push_slowly(lua_State *L, int loop_index, const struct loop_box *loop,
                      const struct slot *slot, uint32_t row);

/* Pushes the value of a single field's term, or true for a tag; nil when the table lacks it. */
static inline void slot_push(lua_State *L, int loop_index, const struct loop_box *loop,
                             const struct slot *slot, uint32_t row) {
  if (UNLIKELY(!slot->present) || UNLIKELY(!push_number_at(L, slot->type, slot->data, row)))
    slot_push_slowly(L, loop_index, loop, slot, row);
}

/* Pushes the first of what functions are given last: the entity, values. */
static inline void push_entity(lua_State *L, const struct loop_box *loop, uint32_t row, int count) {
  if (count > 0) lua_pushinteger(L, (lua_Integer)loop_entity(loop, row));
  if (UNLIKELY(count > 1)) loop_push_values(L, loop, (uint32_t)count - 1);
}

/* Pushes the first of what functions are given behind the slots: dt, the entity, values. */
static inline void push_rest(lua_State *L, const struct loop_box *loop, uint32_t row, double dt,
                             int count) {
  lua_pushnumber(L, (lua_Number)dt);
  push_entity(L, loop, row, count - 1);
}

#endif
