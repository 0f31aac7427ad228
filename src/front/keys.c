/* Tables that are indexed by ids, or by other integers that do not count from 1. Their elements are
** in an array, in the order of next, followed by those that rows add; the first place stays empty.
** The low bits of a key choose a slot, which has the place of the key's element, and at that place
** is the key itself. Of two keys with one slot, the earlier is hidden: rows that then do not find a
** key are left to Lua. */
#include "front/front.h"

/* The arrays that follow the elements, after the one that says which are integers to Lua. */
enum { KEYS_LENGTH, KEYS_FIXED, KEYS_THERE, KEYS_KEYS, KEYS_PLACES };

/* A key that is looked up in a table; `stored`, if the function writes the table. */
struct key_look {
  struct front *f;
  uint32_t number;             /* of the elements' array */
  bool stored;
  k_value slot, place, found;
};

static uint32_t keys_array(const struct key_look *t, uint32_t which) {
  return t->number + element_behind(t->f->arrays[t->number].kind) + which;
}

static k_value keys_read(const struct key_look *t, uint32_t which, k_value at) {
  struct builder *b = t->f->b;
  uint32_t array = keys_array(t, which);
  bool fixed = !t->stored || which == KEYS_FIXED;
  return fixed ? build_element(b, array, at) : build_get(b, build_cell(b, array, at));
}

static void keys_write(const struct key_look *t, uint32_t which, k_value at, k_value value) {
  build_set(t->f->b, build_cell(t->f->b, keys_array(t, which), at), value);
}

/* Looks for a key, for the present rows. */
static struct key_look keys_look(struct front *f, uint32_t number, k_value key, bool stored) {
  struct builder *b = f->b;
  struct key_look t = {.f = f, .number = number, .stored = stored};
  k_value one = build_i64(b, 1), none = keys_read(&t, KEYS_FIXED, one);
  k_value mask = keys_read(&t, KEYS_FIXED, build_i64(b, 2));
  t.slot = build_binary(b, KO_ADD, build_binary(b, KO_BAND, key, mask), one);
  t.place = keys_read(&t, KEYS_PLACES, t.slot);
  t.found = build_binary(b, KO_EQ, keys_read(&t, KEYS_KEYS, t.place), key);
  build_at(b, f->env.mask, front_tag(f));
  none = build_binary(b, KO_EQ, none, build_i64(b, 0));
  front_need(f, build_binary(b, KO_OR, t.found, none), NEEDS_KEY);
  return t;
}

k_value keys_find(struct front *f, uint32_t number, k_value key, bool stored, k_value *present) {
  struct key_look t = keys_look(f, number, key, stored);
  *present = t.found;
  if (!stored || !stored_drops(f->arrays[number].as)) return t.place;
  *present = build_binary(f->b, KO_AND, t.found, keys_read(&t, KEYS_THERE, t.place));
  return t.place;
}

k_value keys_claim(struct front *f, uint32_t number, k_value key) {
  struct builder *b = f->b;
  struct key_look t = keys_look(f, number, key, true);
  k_value one = build_i64(b, 1), length = keys_read(&t, KEYS_LENGTH, one);
  k_value next = build_binary(b, KO_ADD, length, one);
  build_at(b, mask_and_not(f, f->env.mask, t.found), front_tag(f));
  front_need(f, build_binary(b, KO_AND, build_binary(b, KO_EQ, t.place, one),
                             build_inside(b, number, next)), NEEDS_KEY);
  keys_write(&t, KEYS_KEYS, next, key);
  keys_write(&t, KEYS_PLACES, t.slot, next);
  keys_write(&t, KEYS_LENGTH, one, next);
  build_at(b, f->env.mask, front_tag(f));
  return build_select(b, t.found, t.place, next);
}

/* If keys are also added, the order of next depends on which came first, so Lua removes them. In
** LuaJIT, removing a key may add it. */
void keys_drop(struct front *f, uint32_t number, k_value key) {
  struct key_look t = keys_look(f, number, key, true);
  bool adds = f->arrays[number].as.adds;
  k_value missing = build_unary(f->b, KO_NOT, t.found);
  if (adds) front_need(f, NUMBERS_ARE_DOUBLES ? build_bool(f->b, false) : missing, NEEDS_KEY);
  if (adds) return;
  if (NUMBERS_ARE_DOUBLES) front_need(f, t.found, NEEDS_KEY);
  build_at(f->b, mask_and(f, f->env.mask, t.found), front_tag(f));
  keys_write(&t, KEYS_THERE, t.place, build_bool(f->b, false));
  build_at(f->b, f->env.mask, front_tag(f));
}

k_value keys_key(struct front *f, struct val index) {
  k_value whole, key = element_place(f, index, &whole);
  build_at(f->b, f->env.mask, front_tag(f));
  if (whole != K_ALL) build_need(f->b, whole);
  if (!index.entity) build_need(f->b, build_binary(f->b, KO_NE, key, build_i64(f->b, INT64_MIN)));
  return key;
}

bool keys_suits(struct front *f, struct val table, struct val index) {
  if (index.names || !val_is_number(f, index)) return false;
  for (uint32_t i = 0; i < f->array_count; i++) {
    const struct front_array *known = &f->arrays[i];
    if (!known->id && known->path == table.at && !known->names) return known->as.keyed;
  }
  uint32_t kind = element_look_now(f, table.at, false, (struct stored_as){.keyed = false});
  bool ragged = kind & ELEMENTS_RAGGED && element_kind_of(kind) <= ELEMENTS_MIXED;
  return kind == ELEMENTS_NONE || ragged;
}

/* A table that is only read. */
static struct key_look keys_of(struct front *f, struct val table) {
  struct front_array array = {.path = table.at, .as = {.keyed = true}};
  struct key_look t = {.f = f, .number = element_find_table(f, array)};
  f->arrays[t.number].read = true;
  return t;
}

struct val keys_get(struct front *f, struct val table, struct val index) {
  k_value present;
  uint32_t number = keys_of(f, table).number;
  k_value place = keys_find(f, number, keys_key(f, index), false, &present);
  struct val value = val_number(f, build_element(f->b, number, place), true);
  value.present = present;
  return element_of_kind(f, number, value, place);
}

struct val keys_at(struct front *f, struct val table, k_value number, struct val *key) {
  struct builder *b = f->b;
  struct key_look t = keys_of(f, table);
  k_value one = build_i64(b, 1), place = build_binary(b, KO_ADD, number, build_i64(b, 2));
  k_value inside = build_binary(b, KO_LE, place, keys_read(&t, KEYS_LENGTH, one));
  place = build_select(b, inside, place, one);
  *key = val_number(f, keys_read(&t, KEYS_KEYS, place), true);
  key->wide = !NUMBERS_ARE_DOUBLES;
  key->bits = NUMBERS_ARE_DOUBLES ? MIXED_EXACT : 0;
  struct val value = val_number(f, build_element(b, t.number, place), true);
  value.present = inside;
  return element_of_kind(f, t.number, value, place);
}
