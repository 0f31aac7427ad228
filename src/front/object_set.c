#include <lua.h>

#include "core/base/text.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "front/front.h"

/* Tables of the world's arrays, `maps[p.side][p.cell]`, and of functions, `STATES[p.state](p)`;
** also in records, `CARDS[hand.card].play(me)`. The front knows what the table has at each number
** or name; which of these objects a row means is a number in the program. A read takes the element
** of every array and selects one; each array is stored to under a mask, and each function is called
** for its rows. */

/* Pushes what a set has at the number or name of a place; returns its type. */
static int object_set_push(struct front *f, const struct front_set *set, int table, uint32_t at) {
  if (set->names) {
    lua_pushlstring(f->L, set->names->names[at].data, set->names->names[at].size);
    lua_rawget(f->L, table);
  } else {
    lua_rawgeti(f->L, table, (lua_Integer)at + 1);
  }
  if (set->key.data && lua_istable(f->L, -1)) {
    lua_pushlstring(f->L, set->key.data, set->key.size);
    lua_rawget(f->L, -2);
  }
  return lua_type(f->L, -1);
}

/* How many objects of one kind a table has at the set's names or, without names, in its list; 0 if
** it has other values, or none. */
static uint32_t object_set_size(struct front *f, const struct front_set *set) {
  int top = lua_gettop(f->L);
  path_push(f->L, f->anchors, &f->paths[set->path]);
  bool table = lua_istable(f->L, -1);
  lua_Unsigned all = !table ? 0 : set->names ? set->names->count : lua_rawlen(f->L, -1);
  uint32_t count = all <= FRONT_SET ? (uint32_t)all : 0;
  int type = LUA_TNIL;
  for (uint32_t i = 0; i < count; i++) {
    int found = object_set_push(f, set, top + 1, i);
    lua_settop(f->L, top + 1);
    if (found == LUA_TNIL) continue;
    if (found != (type == LUA_TNIL ? found : type)) count = 0;
    type = found;
  }
  lua_settop(f->L, top);
  return type == LUA_TUSERDATA || type == LUA_TFUNCTION ? count : 0;
}

static struct val object_set_key(struct front *f, const struct front_set *set, int64_t at) {
  struct constant key = {.type = CONST_INTEGER, .integer = at};
  if (set->names)
    key = (struct constant){.type = CONST_STRING, .string = set->names->names[at - 1]};
  struct val one = outside_key(f, set->path, &key);
  if (!set->key.data || one.kind != VAL_PATH) return one;
  key = (struct constant){.type = CONST_STRING, .string = set->key};
  return outside_key(f, one.at, &key);
}

uint32_t object_set_find(struct front *f, uint32_t path, const struct enumeration *names,
                         ecs_string key) {
  for (uint32_t i = 0; i < f->set_count; i++)
    if (f->sets[i].path == path && f->sets[i].names == names && text_same(f->sets[i].key, key))
      return i;
  struct front_set set = {.path = path, .names = names, .key = key};
  set.count = object_set_size(f, &set);
  const struct component *first = NULL;
  if (set.count == 0 || f->set_count == FRONT_SETS) return NONE;
  for (uint32_t i = 0; i < set.count; i++) {
    const struct val *one = &set.of[i];
    set.of[i] = object_set_key(f, &set, (int64_t)i + 1);
    if (one->kind == VAL_NIL || one->kind == VAL_FUNCTION) continue;
    if (one->kind != VAL_ARRAY) return NONE;
    if (!first) first = one->component;
    if (array_type(one->component) != array_type(first))
      front_refuse(f, "it takes one of several arrays that differ in type, '%s' and '%s'",
                   first->name, one->component->name);
  }
  for (uint32_t i = 0; i < 2 && !names; i++)   /* nil just before and after its list */
    if (object_set_key(f, &set, i ? (int64_t)set.count + 1 : 0).kind != VAL_NIL) return NONE;
  f->sets[f->set_count] = set;
  return f->set_count++;
}

const struct val *object_set_next(struct front *f, struct val objects, uint32_t *at,
                                  k_value *here) {
  const struct front_set *set = &f->sets[objects.at];
  while (*at < set->count && set->of[*at].kind == VAL_NIL) ++*at;
  if (*at == set->count) return NULL;
  *here = build_binary(f->b, KO_EQ, objects.value, build_i64(f->b, (int64_t)*at + 1));
  return &set->of[(*at)++];
}

struct val object_set_at(struct front *f, uint32_t number, k_value at) {
  const struct front_set *set = &f->sets[number];
  struct builder *b = f->b;
  struct val objects = {.kind = VAL_FUNCTIONS, .at = number, .value = at};
  k_value here;
  objects.present = build_bool(b, false);
  bool all = true;
  for (uint32_t i = 0; i < set->count; i++) all &= set->of[i].kind != VAL_NIL;
  const struct val *one;
  for (uint32_t i = 0; (one = object_set_next(f, objects, &i, &here));) {
    if (one->kind == VAL_ARRAY) objects.kind = VAL_ARRAYS;
    objects.component = one->component;
    objects.present = build_binary(b, KO_OR, objects.present, here);
  }
  k_value from = build_binary(b, KO_SUB, at, build_i64(b, 1));
  if (all) objects.present = build_binary(b, KO_ULT, from, build_i64(b, set->count));
  if (all && set->names) objects.present = K_ALL;
  return objects;
}

struct val object_set_take(struct front *f, uint32_t number, struct val index) {
  struct builder *b = f->b;
  if (index.names)
    return object_set_at(f, number, build_binary(b, KO_ADD, index.value, build_i64(b, 1)));
  k_value whole, at = element_place(f, index, &whole);   /* in other rows Lua has to look */
  k_value near = build_binary(b, KO_ULT, at, build_i64(b, (int64_t)f->sets[number].count + 2));
  build_need(b, build_binary(b, KO_AND, whole, near));
  return object_set_at(f, number, at);
}

struct val object_set_get(struct front *f, struct val arrays, struct val index) {
  arrays = maybe_need(f, arrays);
  struct val value = {.kind = VAL_NOTHING};
  k_value here;
  const struct val *array;
  for (uint32_t at = 0; (array = object_set_next(f, arrays, &at, &here));) {
    struct val one = element_at(f, *array, index);
    one.chain = 0;
    value = value.kind == VAL_NOTHING ? one : val_select(f, here, one, value);
  }
  return value;
}

void object_set_store(struct front *f, struct val arrays, struct val index,
                             struct val value) {
  arrays = maybe_need(f, arrays);
  value = maybe_need(f, value);
  k_value here, mask = f->env.mask;
  const struct val *array;
  for (uint32_t at = 0; (array = object_set_next(f, arrays, &at, &here));) {
    class_share(f, array->component, ARRAY_LEAF);
    f->env.mask = mask_and(f, mask, here);
    build_at(f->b, f->env.mask, front_tag(f));
    if (f->env.mask != K_NONE) steps_store(f, *array, index, value);
  }
  f->env.mask = mask;
  build_at(f->b, mask, front_tag(f));
}

struct val object_set_length(struct front *f, struct val arrays) {
  arrays = maybe_need(f, arrays);
  k_value here, length = build_i64(f->b, 0);
  const struct val *array;
  for (uint32_t at = 0; (array = object_set_next(f, arrays, &at, &here));)
    length = build_select(f->b, here, build_i64(f->b, array->component->length), length);
  return val_number(f, length, true);
}

/* An array as a member of a set. */
static bool object_set_hold(struct front *f, struct val *x, uint32_t number) {
  const struct front_set *set = &f->sets[number];
  if (x->kind == VAL_ARRAYS) return x->at == number;
  for (uint32_t i = 0; i < set->count; i++) {
    if (set->of[i].kind != VAL_ARRAY || set->of[i].component != x->component) continue;
    *x = (struct val){.kind = VAL_ARRAYS, .at = number, .component = x->component,
                      .value = build_i64(f->b, (int64_t)i + 1)};
    return true;
  }
  return false;
}

static bool object_set_hold_both(struct front *f, struct val *x, struct val *y, uint32_t number) {
  struct val a = *x, b = *y;
  if (!object_set_hold(f, &a, number) || !object_set_hold(f, &b, number)) return false;
  *x = a;
  *y = b;
  return true;
}

bool object_set_join(struct front *f, struct val *x, struct val *y) {
  bool left = x->kind == VAL_ARRAYS, right = y->kind == VAL_ARRAYS;
  if (x->kind == VAL_FUNCTIONS && y->kind == VAL_FUNCTIONS) return x->at == y->at;
  if ((!left && x->kind != VAL_ARRAY) || (!right && y->kind != VAL_ARRAY)) return false;
  uint32_t number = left ? x->at : right ? y->at : f->set_count;
  for (uint32_t i = 0; !left && !right && i < f->set_count; i++)
    if (object_set_hold_both(f, x, y, i)) return true;
  if (number == FRONT_SETS || array_type(x->component) != array_type(y->component)) return false;
  if (number == f->set_count)
    f->sets[f->set_count++] = (struct front_set){.path = NONE, .count = 2, .of = {*x, *y}};
  return object_set_hold_both(f, x, y, number);
}
