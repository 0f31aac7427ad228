#include <lua.h>

#include "core/base/text.h"
#include "core/base/types.h"
#include "core/storage/component.h"
#include "front/front.h"

/* Strings among which a function chooses by row: a choice is a number in the list of all strings
** that meet others. Also values of enums and string fields. */

const struct enumeration *choice_names(struct front *f, const struct enumeration *names) {
  for (uint32_t i = 0; names && i < f->enum_count; i++)
    if (enumeration_same(f->enums[i], names)) return f->enums[i];
  if (names && f->enum_count < FRONT_ENUMS) f->enums[f->enum_count++] = names;
  return names;
}

bool choice_of(struct front *f, struct val *x) {
  if (x->kind == VAL_CHOICE) return true;
  uint32_t at = 0;
  while (at < f->string_count && !text_same(x->string, f->strings[at])) at++;
  if (at == FRONT_STRINGS) return false;
  if (at == f->string_count) f->strings[f->string_count++] = x->string;
  *x = (struct val){.kind = VAL_CHOICE, .value = build_i64(f->b, at),
                    .number = (int64_t)((uint64_t)1 << at)};
  return true;
}

const ecs_string *choice_each(const struct front *f, const struct val *x,
                              const struct component *fields, uint32_t *at) {
  bool of_enum = x->kind == VAL_VALUE;
  uint32_t count = of_enum ? x->names->count : f->string_count;
  while (*at < count) {
    uint32_t i = (*at)++;
    const ecs_string *name = of_enum ? &x->names->names[i] : &f->strings[i];
    bool may = of_enum || (uint64_t)x->number >> i & 1;
    if (may && (!fields || component_field(fields, name->data, name->size) != NONE)) return name;
  }
  return NULL;
}

k_value choice_is(struct front *f, struct val x, uint32_t at) {
  return build_binary(f->b, KO_EQ, x.value, build_i64(f->b, at - 1));
}

/* The number of a string constant in the world's table. */
static k_value choice_constant(struct front *f, ecs_string text) {
  return text.size ? outside_text(f, GUARD_TEXT, text) : build_i64(f->b, 0);
}

/* A string's place among the names; if it is not one of them, K_NONE or, with `any`, -1. */
static k_value choice_place_of(struct front *f, const struct enumeration *names, ecs_string string,
                               bool any) {
  if (names == &front_texts) return choice_constant(f, string);
  uint32_t at = enumeration_find(names, string.data, string.size);
  if (at == NONE && !any) return K_NONE;
  return build_i64(f->b, at == NONE ? -1 : (int64_t)at);
}

/* Converts a value of one enum to an enum that has some of its names: where its name is not one of
** those, the row fails or, with `any`, the result is -1. */
static k_value choice_as_other(struct front *f, struct val x, const struct enumeration *names,
                               bool any) {
  struct builder *b = f->b;
  k_value result = x.value, named = build_bool(b, true);
  uint32_t found = 0;
  for (uint32_t i = 0; i < x.names->count; i++) {
    k_value place = choice_place_of(f, names, x.names->names[i], any);
    uint32_t at = enumeration_find(names, x.names->names[i].data, x.names->names[i].size);
    found += place != K_NONE;
    if (at == i) continue;
    k_value here = build_binary(b, KO_EQ, x.value, build_i64(b, i));
    if (place != K_NONE)
      result = build_select(b, here, place, result);
    else
      named = build_binary(b, KO_ANDN, named, here);
  }
  if (found == 0 && !any) return K_NONE;
  front_need(f, named, NEEDS_NAME);
  return result;
}

k_value choice_as_enum(struct front *f, struct val x, const struct enumeration *names, bool any) {
  struct builder *b = f->b;
  if (x.kind == VAL_VALUE && x.names == names) return x.value;
  if (x.kind == VAL_VALUE) return choice_as_other(f, x, names, any);
  assert(val_is_text(x));
  if (x.kind == VAL_STRING) return choice_place_of(f, names, x.string, any);
  k_value result = K_NONE;
  const ecs_string *name;
  for (uint32_t at = 0; (name = choice_each(f, &x, NULL, &at));) {
    k_value place = choice_place_of(f, names, *name, any);
    if (place == K_NONE) return K_NONE;
    result = result == K_NONE ? place : build_select(b, choice_is(f, x, at), place, result);
  }
  return result;
}

const struct enumeration *choice_keep(struct front *f, struct enumeration names) {
  for (uint32_t i = 0; i < f->enum_count; i++)
    if (enumeration_same(f->enums[i], &names)) return f->enums[i];
  if (f->word_count == FRONT_ENUMS)
    front_refuse(f, "it uses more than %d sets of strings", FRONT_ENUMS);
  f->text_count += names.count;
  f->words[f->word_count] = names;
  return choice_names(f, &f->words[f->word_count++]);
}

const struct enumeration *choice_extend(struct front *f, const struct enumeration *names,
                                        struct val x) {
  struct enumeration all = {.names = &f->texts[f->text_count]};
  uint32_t most = FRONT_TEXTS - f->text_count, at = 0;
  if (names == &front_texts || x.names == &front_texts) return &front_texts;
  if ((x.kind != VAL_VALUE && !choice_of(f, &x)) || names->count > most) return NULL;
  for (; all.count < names->count; all.count++) all.names[all.count] = names->names[all.count];
  for (const ecs_string *name; all.count < most && (name = choice_each(f, &x, NULL, &at));)
    if (enumeration_find(names, name->data, name->size) == NONE) all.names[all.count++] = *name;
  return all.count == names->count ? names : choice_keep(f, all);
}

const struct enumeration *choice_pair(struct front *f, const ecs_string names[2]) {
  struct enumeration pair = {.names = &f->texts[f->text_count], .count = 2};
  if (f->text_count + 2 > FRONT_TEXTS || f->word_count == FRONT_ENUMS) return NULL;
  memcpy(pair.names, names, 2 * sizeof *names);
  return choice_keep(f, pair);
}

struct val choice_as_value(struct front *f, struct val x) {
  static const struct enumeration none = {NULL, 0, NULL, 0};
  assert(x.kind == VAL_CHOICE);
  const struct enumeration *known = choice_extend(f, &none, x);
  k_value place = choice_as_enum(f, x, known, false);
  if (place == K_NONE) front_refuse(f, "it uses more than %d strings in tables", FRONT_TEXTS);
  x = val_number(f, place, false);
  x.names = known;
  return x;
}

k_value choice_equal(struct front *f, struct val x, struct val y) {
  if (!choice_of(f, &x) || !choice_of(f, &y)) return build_bool(f->b, false);
  return build_binary(f->b, KO_EQ, x.value, y.value);
}

/* Selects between values of which at least one is of an enum or a string field, as places among the
** names of both. */
static struct val choice_select_named(struct front *f, k_value mask, struct val x, struct val y) {
  struct val nothing = {.kind = VAL_NOTHING}, named = val_is_text(x) ? y : x;
  struct val other = val_is_text(x) ? x : y;
  if (named.kind != VAL_VALUE || !named.names) return nothing;
  const struct enumeration *names = choice_extend(f, named.names, other);
  if (!names) return nothing;
  k_value a = choice_as_enum(f, x, names, false), b = choice_as_enum(f, y, names, false);
  if (a == K_NONE || b == K_NONE) return nothing;
  struct val joined = val_number(f, build_select(f->b, mask, a, b), false);
  joined.names = names;
  return joined;
}

struct val choice_select(struct front *f, k_value mask, struct val x, struct val y) {
  struct val nothing = {.kind = VAL_NOTHING};
  if (!val_is_text(x) || !val_is_text(y)) return choice_select_named(f, mask, x, y);
  if (!choice_of(f, &x) || !choice_of(f, &y)) return nothing;
  return (struct val){.kind = VAL_CHOICE, .value = build_select(f->b, mask, x.value, y.value),
                      .number = x.number | y.number};
}

/* An operand of `..` that is a string constant or an integer literal. */
static ecs_string choice_text(struct front *f, struct val x) {
  ecs_string text = x.string;
  if (x.kind == VAL_STRING) return text;
  lua_pushinteger(f->L, (lua_Integer)x.number);
  text.data = lua_tolstring(f->L, -1, &text.size);
  (void)front_anchor(f);
  return text;
}

static struct val choice_join_texts(struct front *f, ecs_string x, ecs_string y) {
  struct val joined = {.kind = VAL_STRING};
  lua_pushlstring(f->L, x.data, x.size);
  lua_pushlstring(f->L, y.data, y.size);
  lua_concat(f->L, 2);
  joined.string.data = lua_tolstring(f->L, -1, &joined.string.size);
  (void)front_anchor(f);
  return joined;
}

static bool choice_is_text(struct front *f, struct val x) {
  bool literal = x.kind == VAL_VALUE && x.literal && val_is_number(f, x);
  bool integer = literal && (NUMBERS_ARE_DOUBLES ? x.number != 0 : val_type(f, x) == KT_I64);
  return x.kind == VAL_STRING || integer;
}

/* x .. y */
static struct val choice_join(struct front *f, struct val x, struct val y) {
  bool begins = choice_is_text(f, x);   /* then the other one is y */
  struct val some = maybe_need(f, begins ? y : x), constant = begins ? x : y;
  if (!choice_is_text(f, constant)) front_refuse(f, WHY_STRING);
  ecs_string text = choice_text(f, constant);
  if (choice_is_text(f, some))
    return begins ? choice_join_texts(f, text, choice_text(f, some))
                  : choice_join_texts(f, choice_text(f, some), text);
  if (!call_has_names(some)) front_refuse(f, WHY_STRING);
  struct val joined = {.kind = VAL_CHOICE, .value = K_NONE};
  uint32_t at = 0;
  for (const ecs_string *name; (name = choice_each(f, &some, NULL, &at));) {
    struct val one = begins ? choice_join_texts(f, text, *name) : choice_join_texts(f, *name, text);
    if (!choice_of(f, &one)) front_refuse(f, "it uses more than %d strings", FRONT_STRINGS);
    joined.value = joined.value == K_NONE ? one.value
                   : build_select(f->b, choice_is(f, some, at), one.value, joined.value);
    joined.number |= one.number;
  }
  return joined;
}

void choice_concat(struct front *f, const struct code *code) {
  struct val joined = *front_register(f, code->b + code->c - 1);
  for (uint32_t i = code->c - 1; i-- > 0;)
    joined = choice_join(f, *front_register(f, code->b + i), joined);
  *front_register(f, code->a) = joined;
}

/* ---- string field ---- */

/* String fields. Their cells are numbers in the world's string table, where equal texts have equal
** numbers. A constant string is looked up there, and added if need be, before each table; the
** string table is not swept while rows run. */

const struct enumeration front_texts = {NULL, 0, NULL, 0};

k_value text_as_cell(struct front *f, struct val value) {
  if (val_is_string(value)) return choice_as_enum(f, value, &front_texts, false);
  front_refuse(f, "it sets a string field to something other than a string constant, a name of an "
                  "enum or a string field");
}

/* ---- tables by string fields ---- */

#define MOST_KEYS 32

static bool choice_is_before(ecs_string x, ecs_string y) {
  int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
  return order < 0 || (order == 0 && x.size < y.size);
}

/* Collects the string keys of a table, in alphabetical order or that of next; false if it is not a
** table, or has too many. */
static bool choice_find_keys(struct front *f, uint32_t path, bool sorted,
                             struct enumeration *keys) {
  lua_State *L = f->L;
  int top = lua_gettop(L);
  uint32_t most = FRONT_TEXTS - f->text_count;
  path_push(L, f->anchors, &f->paths[path]);
  bool table = lua_istable(L, top + 1);
  if (table) lua_pushnil(L);
  while (table && lua_next(L, top + 1)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING) continue;
    if (keys->count == most || keys->count == MOST_KEYS) break;
    ecs_string text;
    text.data = lua_tolstring(L, -1, &text.size);
    uint32_t at = keys->count++;
    for (; sorted && at > 0 && choice_is_before(text, keys->names[at - 1]); at--)
      keys->names[at] = keys->names[at - 1];
    keys->names[at] = text;
  }
  bool all = lua_gettop(L) == top + 1;
  lua_settop(L, top);
  return table && all;
}

/* The string keys of a table, which must not change (GUARD_KEYS or GUARD_PAIRS). NULL if
** choice_find_keys fails, or if there are none. */
static const struct enumeration *choice_of_keys(struct front *f, uint32_t path,
                                                enum guard_type type) {
  struct enumeration keys = {.names = &f->texts[f->text_count]};
  if (!choice_find_keys(f, path, type == GUARD_KEYS, &keys)) return NULL;
  struct guard *guard = outside_need_guard(f, &f->paths[path], type);
  for (uint32_t i = 0; i < keys.count && guard->name_count < keys.count; i++) {
    lua_pushlstring(f->L, keys.names[i].data, keys.names[i].size);
    keys.names[i].data = lua_tostring(f->L, -1);
    uint16_t at = front_anchor(f);
    if (guard->name_count++ == 0) guard->names = at;
  }
  return keys.count ? choice_keep(f, keys) : NULL;
}

enum pairs_kind choice_of_pairs(struct front *f, uint32_t path, const struct enumeration **names) {
  path_push(f->L, f->anchors, &f->paths[path]);
  enum pairs_kind kind = pairs_look(f->L, lua_gettop(f->L));
  lua_pop(f->L, 1);
  *names = kind == PAIRS_NAMES ? choice_of_keys(f, path, GUARD_PAIRS) : NULL;
  if (kind == PAIRS_OTHER || (kind == PAIRS_NAMES && !*names))
    front_refuse(f, "it calls pairs with a table from outside that has a metatable, more than %d "
                    "names, or keys other than names or integers: loop over a list with ipairs",
                 MOST_KEYS);
  outside_need_guard(f, &f->paths[path], GUARD_PAIRS)->elements = (uint8_t)kind;
  return kind;
}

bool choice_of_key(struct front *f, uint32_t path, struct val *x) {
  struct builder *b = f->b;
  struct val place = val_number(f, build_i64(b, 0), false);
  place.names = choice_of_keys(f, path, GUARD_KEYS);
  if (!place.names) return false;
  place.present = build_bool(b, false);
  for (uint32_t i = 0; i < place.names->count; i++) {
    k_value here = build_binary(b, KO_EQ, x->value, choice_constant(f, place.names->names[i]));
    place.value = build_select(b, here, build_i64(b, i), place.value);
    place.present = build_binary(b, KO_OR, place.present, here);
  }
  *x = place;
  return true;
}

bool val_is_string(struct val x) { return val_is_text(x) || (x.kind == VAL_VALUE && x.names); }

struct val text_length(struct front *f, struct val x) {
  struct run_lookup lookup = {.kind = LOOKUP_LENGTH};
  struct val length = val_number(f, reach_look(f, lookup, KT_I64, text_as_cell(f, x)), false);
  length.bits = MIXED_SMALL;
  return length;
}

static k_value text_look_at_both(struct front *f, enum lookup_kind kind, k_type type, k_value x,
                                 k_value y) {
  y = build_binary(f->b, KO_SHL, y, build_i64(f->b, TEXT_BITS));
  return reach_look(f, (struct run_lookup){.kind = kind}, type,
                    build_binary(f->b, KO_BOR, x, y));
}

k_value text_compare(struct front *f, enum code_operator op, struct val x, struct val y) {
  struct builder *b = f->b;
  k_value order = text_look_at_both(f, LOOKUP_ORDER, KT_I64, text_as_cell(f, x),
                                    text_as_cell(f, y));
  build_need(b, build_binary(b, KO_NE, order, build_i64(b, ORDER_UNSURE)));
  return build_binary(b, op == OPERATOR_LT ? KO_LT : KO_LE, order, build_i64(b, 0));
}

k_value text_starts(struct front *f, struct val prefix, struct val text, int *known) {
  if (text.kind != VAL_STRING)
    front_refuse(f, "it compares a part of a string with something that is not a string constant: "
                    "write the string itself");
  uint64_t last = (uint64_t)prefix.number;
  if (last < text.string.size || last == 0) {
    *known = last == text.string.size;
    return K_NONE;
  }
  k_value wanted = choice_constant(f, text.string);
  if (last > text.string.size) return build_binary(f->b, KO_EQ, prefix.value, wanted);
  return text_look_at_both(f, LOOKUP_STARTS, KT_BOOL, prefix.value, wanted);
}
