/* Lists that a function makes for itself: tables that it creates, fills and reads by numbers. A
** list, like any table created here, lives as long as its row, so its elements are cells in the
** variant's memory (like script cells: cell.c), as many as its room; rows that need more are left
** to Lua. Its length is a cell, too. A table that is indexed by ids, strings, or integers that do
** not count from 1 is a keyed list: it has its keys beside its elements.
**
** Records, tables with fields that are put into lists, have numbers, which lists hold, and each
** field has its cells by these numbers. Lists that exchange records share a pool of records.
**
** Which tables are lists, and what they and the fields of records hold, is found by compiling the
** function again: a column of cells has one kind (enum cell_kind), and may be nil in records. */
#include "front/scratch.h"

#include "core/base/text.h"

/* ---- which tables are lists ---- */

/* Where the current instruction is, by its calls. */
static struct list_place scratch_place(const struct front *f) {
  struct list_place place;
  memset(&place, 0, sizeof place);
  for (const struct frame *frame = f->frame; frame; frame = frame->caller)
    place.at[place.depth++] = (struct code_place){frame->code->identity, frame->pc, 0};
  return place;
}

bool scratch_same_place(const struct list_place *x, const struct list_place *y) {
  uint32_t i = 0;
  while (i < x->depth && x->at[i].function == y->at[i].function && x->at[i].pc == y->at[i].pc) i++;
  return i == x->depth && i == y->depth;
}

static uint32_t scratch_find(const struct front *f, const struct list_place *place) {
  uint32_t i = 0;
  const struct front_list *lists = f->shared.lists;
  while (i < f->shared.list_count &&
         (lists[i].outside || !scratch_same_place(&lists[i].place, place)))
    i++;
  return i;
}

static void scratch_add(struct front *f, struct val table, bool keyed) {
  struct front_classes *shared = &f->shared;
  if (table.kind != VAL_TABLE) return;
  const struct list_place *place = &f->made[table.at].place;
  if (scratch_find(f, place) < shared->list_count || shared->list_count == FRONT_LISTS) return;
  uint32_t at = shared->list_count++;
  shared->lists[at] = (struct front_list){.place = *place, .pool = at, .keyed = keyed};
  f->wants_cells = true;
}

void scratch_want(struct front *f, struct val table) { scratch_add(f, table, false); }

void scratch_want_keyed(struct front *f, struct val table, struct val key) {
  bool empty = table.kind == VAL_TABLE && f->made[table.at].first == NONE;
  if (key.kind == VAL_VALUE && !val_is_boolean(f, key))
    scratch_add(f, table, empty || val_is_string(key));
}

/* ---- cells ---- */

bool scratch_has_outside(const struct front *f) {
  uint32_t i = 0;
  while (i < f->shared.list_count && !f->shared.lists[i].outside) i++;
  return i < f->shared.list_count;
}

int64_t scratch_room_bits(const struct front *f) {
  if (f->once || f->body_line) return 14;
  return scratch_has_outside(f) ? 12 : 10;
}

/* All cells of a type are one array of the program: the room for each column or, for booleans,
** three times as much. The integers begin with a region that has each list's length, and the number
** of records in each pool. */
static int64_t scratch_room(const struct front *f) {
  return INT64_C(1) << scratch_room_bits(f);
}

static uint32_t scratch_region(k_column type, uint32_t column) {
  return type == KC_I64 ? column + 1 : type == KC_BOOL ? column * COLUMN_PARTS : column;
}

k_array scratch_array(void *cells, const struct script_cells *script, k_column type) {
  int64_t room = (int64_t)script->columns * script->room, numbers = room + script->room;
  int64_t *integers = cells;
  switch (type) {
    case KC_I64: return (k_array){integers, numbers};
    case KC_F64: return (k_array){integers + numbers, room};
    default: return (k_array){integers + numbers + room, COLUMN_PARTS * room};
  }
}

const void *scratch_column_cells(void *cells, const struct script_cells *script, k_column type,
                                 uint32_t column) {
  const char *all = scratch_array(cells, script, type).data;
  size_t size = type == KC_BOOL ? 1 : sizeof(int64_t);
  return all + (size_t)scratch_region(type, column) * script->room * size;
}

size_t scratch_size(const struct script_cells *script) {
  size_t room = (size_t)script->columns * script->room;
  return room ? (2 * room + script->room) * sizeof(int64_t) + COLUMN_PARTS * room : 0;
}

static k_value scratch_cell(struct front *f, k_column type, uint32_t region, k_value place) {
  uint32_t array = element_cell_array(f, type, true);
  k_value base = build_i64(f->b, region * scratch_room(f));
  return build_cell(f->b, array, build_binary(f->b, KO_ADD, base, place));
}

k_value scratch_number(struct front *f, uint32_t list, enum list_number which) {
  return scratch_cell(f, KC_I64, 0, build_i64(f->b, (int64_t)list * LIST_NUMBERS + which + 1));
}

static k_value scratch_part(struct front *f, uint32_t column, enum column_part part,
                            k_value place) {
  enum cell_kind kind = (enum cell_kind)f->shared.list_columns[column].kind;
  bool truth = part || kind == CELL_BOOL;
  k_column type = truth ? KC_BOOL : kind == CELL_INTEGER ? KC_I64 : KC_F64;
  return scratch_cell(f, type, scratch_region(type, column) + part, place);
}

static struct val scratch_value(struct front *f, uint32_t at, k_value place) {
  return val_number(f, build_get(f->b, scratch_part(f, at, COLUMN_VALUE, place)), false);
}

/* ---- strings ---- */

static bool scratch_is_text(struct val x) { return x.kind == VAL_STRING || call_has_names(x); }

static ecs_string scratch_text(struct front *f, uint32_t at, uint32_t text) {
  ecs_string name;
  lua_rawgeti(f->L, f->anchors, scratch_text_anchor(at, text));
  name.data = lua_tolstring(f->L, -1, &name.size);
  lua_pop(f->L, 1);
  return name;
}

/* Adds a string to a column's strings; if it is new, the function is compiled again. */
static void scratch_add_text(struct front *f, uint32_t at, ecs_string text) {
  struct list_column *column = &f->shared.list_columns[at];
  for (uint32_t i = 0; i < column->texts; i++)
    if (text_same(scratch_text(f, at, i), text)) return;
  if (column->texts == FRONT_TEXTS)
    front_refuse(f, "its lists hold more than %d different strings", FRONT_TEXTS);
  lua_pushlstring(f->L, text.data, text.size);
  lua_rawseti(f->L, f->anchors, scratch_text_anchor(at, column->texts++));
  f->wants_cells = true;
}

/* The strings of a column as an enumeration. */
static const struct enumeration *scratch_texts(struct front *f, uint32_t at) {
  struct enumeration all = {.names = &f->texts[f->text_count]};
  uint32_t count = f->shared.list_columns[at].texts;
  if (count > FRONT_TEXTS - f->text_count)
    front_refuse(f, "its lists hold more than %d different strings", FRONT_TEXTS);
  for (; all.count < count; all.count++) all.names[all.count] = scratch_text(f, at, all.count);
  return choice_keep(f, all);
}

/* A string as its number among a column's strings. */
static struct val scratch_as_number(struct front *f, uint32_t at, struct val value) {
  uint32_t i = 0;
  if (value.kind == VAL_STRING) scratch_add_text(f, at, value.string);
  for (const ecs_string *one; value.kind != VAL_STRING && (one = choice_each(f, &value, NULL, &i));)
    scratch_add_text(f, at, *one);
  k_value present = value.present, number = build_i64(f->b, 0);
  if (!f->wants_cells) number = choice_as_enum(f, value, scratch_texts(f, at), false);
  assert(number != K_NONE);
  value = val_number(f, number, false);
  value.present = present;
  return value;
}

static bool scratch_is_string(struct val x) {
  return x.kind == VAL_VALUE && x.names == &front_texts;
}

/* A string in the form of a string field, for a column that also takes strings from fields. */
static struct val scratch_as_string(struct front *f, struct val value) {
  struct val string = val_number(f, text_as_cell(f, value), false);
  string.names = &front_texts;
  string.present = value.present;
  return string;
}

/* The value of a column that nothing fills, unless a survey has refused it. */
static struct val scratch_nothing(const struct front *f) {
  return (struct val){.kind = f->surveys && survey_has_reasons(f) ? VAL_UNKNOWN : VAL_NIL};
}

/* The values of a column at a place. */
static struct val scratch_take(struct front *f, uint32_t at, k_value place) {
  const struct list_column *column = &f->shared.list_columns[at];
  if (column->kind == CELL_NIL) return scratch_nothing(f);
  struct val value = scratch_value(f, at, place);
  value.entity = column->entity;
  value.names = column->text ? scratch_texts(f, at) : column->string ? &front_texts : NULL;
  value.mixed = column->kind == CELL_MIXED;
  value.whole = value.mixed ? build_get(f->b, scratch_part(f, at, COLUMN_WHOLE, place)) : K_ALL;
  value.bits = value.mixed ? MIXED_EXACT : 0;
  value.wide = column->wide;
  if (column->maybe) value.present = build_get(f->b, scratch_part(f, at, COLUMN_THERE, place));
  return value;
}

/* Widens a column to take a value, which may be nil; false if the function has to be compiled
** again. */
static bool scratch_takes(struct front *f, struct list_column *column, struct val value,
                          bool text) {
  bool nil = value.kind == VAL_NIL, truth = val_is_boolean(f, value);
  bool string = !nil && scratch_is_string(value);
  if (!nil && (value.spawned || (!truth && value.kind != VAL_VALUE)))
    front_refuse(f, "it puts %s into a list: put in numbers, ids, booleans, strings or tables of "
                    "these", number_describe(f, value));
  const struct list_column was = *column;
  enum cell_kind kind = cell_join((enum cell_kind)column->kind, cell_kind_of(f, value));
  bool first = was.kind == CELL_NIL;
  bool other = !nil && !first && (text || string) != (was.text || was.string);
  if (kind == CELL_OTHER || other)
    front_refuse(f, "it puts values of several types into a list, or into a field of its records: "
                    "use one type");
  column->kind = (uint8_t)kind;
  column->maybe |= nil || val_is_maybe(value);
  if (!nil) {
    column->text = text;
    column->string = string;
    column->entity = value.entity && (first || was.entity);
    column->wide |= val_is_wide(value);
  }
  f->wants_cells |= column->kind != was.kind || column->maybe != was.maybe ||
                    column->entity != was.entity || column->wide != was.wide ||
                    column->string != was.string;
  return !f->wants_cells && kind != CELL_NIL;
}

/* Puts a value into a place of a column that takes it, for the present rows. */
static void scratch_put(struct front *f, uint32_t at, k_value place, struct val value) {
  struct list_column *column = &f->shared.list_columns[at];
  bool known = scratch_is_text(value), text = known && !column->string;
  if (known) value = text ? scratch_as_number(f, at, value) : scratch_as_string(f, value);
  if (value.lacks) value = maybe_need(f, value);   /* false is not nil */
  if (!scratch_takes(f, column, value, text)) return;
  bool nil = value.kind == VAL_NIL;
  k_value there = nil ? build_bool(f->b, false) : value.present;
  if (column->maybe) build_set(f->b, scratch_part(f, at, COLUMN_THERE, place), there);
  if (nil) return;
  value.present = K_ALL;
  value = cell_fit(f, &(struct cell){.kind = column->kind}, value);
  build_set(f->b, scratch_part(f, at, COLUMN_VALUE, place), value.value);
  if (column->kind == CELL_MIXED)
    build_set(f->b, scratch_part(f, at, COLUMN_WHOLE, place), value.whole);
}

/* ---- lists ---- */

/* The column of what a list holds, or of a field of a pool's records; NONE if there is none. */
static uint32_t scratch_column(const struct front *f, uint32_t of, ecs_string name,
                               uint32_t position) {
  bool field = name.size || position;
  for (uint32_t i = 0; i < f->shared.list_column_count; i++) {
    const struct list_column *column = &f->shared.list_columns[i];
    if (column->of != of || column->position != position || column->field != field) continue;
    size_t size = 0;
    const char *known = "";
    if (name.size) {
      lua_rawgeti(f->L, f->anchors, scratch_anchor(i));
      known = lua_tolstring(f->L, -1, &size);
      lua_pop(f->L, 1);
    }
    if (!field || (known && text_same(name, (ecs_string){known, size}))) return i;
  }
  return NONE;
}

static uint32_t scratch_need_column(struct front *f, uint32_t of, ecs_string name,
                                    uint32_t position) {
  uint32_t at = scratch_column(f, of, name, position);
  if (at != NONE) return at;
  if (f->shared.list_column_count == LIST_COLUMNS)
    front_refuse(f, "its lists hold more than %d kinds of values: write it as two systems",
                 LIST_COLUMNS);
  at = f->shared.list_column_count++;
  f->shared.list_columns[at] = (struct list_column){
      .of = (uint8_t)of, .field = name.size || position, .position = position};
  lua_pushlstring(f->L, name.data, name.size);
  lua_rawseti(f->L, f->anchors, scratch_anchor(at));
  f->wants_cells = true;
  return at;
}

static const struct front_list *scratch_list(struct front *f, struct val list) {
  assert(list.kind == VAL_LIST && list.at < f->shared.list_count);
  if (list.slot != f->list_times[list.at])
    front_refuse(f, "it uses a list after it has created another one in its place: use one list");
  return &f->shared.lists[list.at];
}

static k_value scratch_get_length(struct front *f, uint32_t list) {
  return build_get(f->b, scratch_number(f, list, LIST_SIZE));
}

/* Requires a list to be used without keys: if it was taken for a keyed one, the function is
** compiled again. */
static void scratch_need_plain(struct front *f, struct val list) {
  struct front_list *known = &f->shared.lists[list.at];
  if (scratch_list(f, list)->keyed) {
    f->wants_cells = true;
    known->keyed = false;
    front_refuse(f, "it uses a table that it creates as a list and by other keys: use two");
  }
}

/* Whether a pool's records may outlive the list that made them: in another list, or when a loop
** creates that list again. Then the pool is only emptied when a row begins. */
static bool scratch_begins(const struct front *f, uint32_t pool) {
  uint32_t lists = 0;
  bool again = false;
  for (uint32_t i = 0; i < f->shared.list_count; i++) {
    bool of = f->shared.lists[i].pool == pool;
    lists += of;
    again |= of && f->shared.lists[i].again;
  }
  return again || lists > 1;
}

struct val scratch_create(struct front *f, const struct code *code) {
  struct list_place place = scratch_place(f);
  uint32_t at = scratch_find(f, &place);
  struct val table = order_table(f);
  f->made[table.at].place = place;
  f->made[table.at].names = code->b;
  f->made[table.at].items = code->c;
  if (at == f->shared.list_count) return table;
  if (f->result > RESULT_MAP)
    front_refuse(f, "it creates a list and returns a result: do that in a system's each");
  struct front_list *list = &f->shared.lists[at];
  list->names = code->b;
  list->items = code->c;
  bool again = f->loop_depth || f->list_times[at];
  f->wants_cells |= again && !list->again;
  list->again |= again;
  build_set(f->b, scratch_number(f, at, LIST_SIZE), build_i64(f->b, 0));
  if (list->records && !scratch_begins(f, list->pool))
    build_set(f->b, scratch_number(f, list->pool, LIST_RECORDS), build_i64(f->b, 0));
  return (struct val){.kind = VAL_LIST, .at = at, .slot = ++f->list_times[at]};
}

void scratch_begin(struct front *f) {
  for (uint32_t i = 0; i < f->shared.list_count; i++)
    if (f->shared.lists[i].records && !f->shared.lists[i].outside &&
        f->shared.lists[i].pool == i && scratch_begins(f, i))
      build_set(f->b, scratch_number(f, i, LIST_RECORDS), build_i64(f->b, 0));
}

struct val scratch_length(struct front *f, struct val list) {
  scratch_need_plain(f, list);
  struct val length = val_number(f, scratch_get_length(f, list.at), false);
  length.bits = MIXED_SMALL;
  return length;
}

/* Refuses an index that is not a number. */
static void scratch_check_index(struct front *f, struct val index) {
  if (!val_is_number(f, index) || index.names)
    front_refuse(f, "it indexes a list that it creates by %s: use numbers",
                 number_describe(f, index));
}

/* What a list has at a place, in the rows in which the place is inside it. */
static struct val scratch_take_at(struct front *f, uint32_t list, k_value place, k_value inside) {
  const struct front_list *known = &f->shared.lists[list];
  uint32_t column = scratch_column(f, list, (ecs_string){"", 0}, 0);
  if (column == NONE) return scratch_nothing(f);
  struct val value = scratch_take(f, column, place);
  if (value.kind == VAL_NIL) return value;
  value.present = build_binary(f->b, KO_AND, inside, value.present);
  if (!known->records) return value;
  return (struct val){.kind = VAL_ENTRY, .at = known->pool, .value = value.value,
                      .present = value.present};
}

/* ---- keys ---- */

/* A keyed list has its keys in the order in which they were added, and slots by their hashes: each
** slot has the place of the first key that wanted it. Slots are never cleared: a slot belongs to
** the current list only if the key at its place does. Keys whose slot is taken are searched for. */
#define KEYS_OF 64u            /* list_column.of: the keys and slots of a list */
enum { COLUMN_KEYS = 1, COLUMN_SLOTS };
enum { KEYS_UNKNOWN, KEYS_INTEGER, KEYS_TEXT };

/* Where a key is, or whether another key has its slot. */
struct list_search {
  k_value slot;                /* the cell of the slot */
  k_value place, found, clash;
};

static k_value scratch_key_cell(struct front *f, uint32_t list, uint32_t which, k_value place) {
  uint32_t at = scratch_need_column(f, KEYS_OF + list, (ecs_string){"", 0}, which);
  f->shared.list_columns[at].kind = CELL_INTEGER;
  return scratch_part(f, at, COLUMN_VALUE, place);
}

/* A value as a key, which is a number, and the rows in which it is an integer. A string is its
** number among the strings of the keys' column. */
static k_value scratch_as_key(struct front *f, uint32_t list, struct val index, k_value *whole) {
  bool string = scratch_is_string(index), text = string || scratch_is_text(index);
  if (!f->list_keys[list]) f->list_keys[list] = text ? KEYS_TEXT : KEYS_INTEGER;
  bool same = f->list_keys[list] == (text ? KEYS_TEXT : KEYS_INTEGER);
  if (!same || (!text && (!val_is_number(f, index) || index.names)))
    front_refuse(f, "it indexes a table that it creates by %s: use ids, integers or strings, and "
                    "one type", number_describe(f, index));
  uint32_t at = scratch_need_column(f, KEYS_OF + list, (ecs_string){"", 0}, COLUMN_KEYS);
  struct list_column *column = &f->shared.list_columns[at];
  bool ids = index.entity && (column->kind == CELL_NIL || column->entity);
  f->wants_cells |= (column->entity && !ids) || (string && !column->string);
  column->string |= string;
  column->kind = CELL_INTEGER;
  column->entity = ids;
  *whole = K_ALL;
  if (column->string) return scratch_as_string(f, index).value;
  return text ? scratch_as_number(f, at, index).value : element_place(f, index, whole);
}

/* The rest of a search, in rows of a mask: compares all keys. */
static k_value scratch_search_all(struct front *f, uint32_t list, k_value key, k_value length,
                                  k_value mask) {
  struct builder *b = f->b;
  k_value one = build_i64(b, 1), none = build_i64(b, 0);
  k_value round = build_loop(b, build_i64(b, scratch_room(f)), mask);
  k_value found = build_carry(b, none, true), live = build_carry(b, mask, true);
  k_value place = build_binary(b, KO_ADD, round, one);
  k_value known = build_get(b, scratch_key_cell(f, list, COLUMN_KEYS, place));
  k_value here = build_binary(b, KO_AND, live, build_binary(b, KO_EQ, known, key));
  k_value on = build_binary(b, KO_ANDN, live, here);
  on = build_binary(b, KO_AND, on, build_binary(b, KO_LT, place, length));
  build_next(b, found, build_select(b, here, place, found));
  build_next(b, live, on);
  build_endloop(b, on);
  return found;
}

/* The slot of a key, from 0, by its product with a fraction of 2^64 (D. Knuth, "The Art of Computer
** Programming", 6.4). */
static k_value scratch_hash(struct front *f, k_value key) {
  k_value product = build_binary(f->b, KO_MUL, key, build_i64(f->b, -0x61C8864680B583EB));
  return build_binary(f->b, KO_SHR, product, build_i64(f->b, 64 - scratch_room_bits(f)));
}

static struct list_search scratch_search(struct front *f, uint32_t list, k_value key) {
  struct builder *b = f->b;
  k_value one = build_i64(b, 1), hash = scratch_hash(f, key);
  struct list_search s;
  s.slot = scratch_key_cell(f, list, COLUMN_SLOTS, build_binary(b, KO_ADD, hash, one));
  s.place = build_get(b, s.slot);
  k_value length = scratch_get_length(f, list);
  k_value used = build_binary(b, KO_ULT, build_binary(b, KO_SUB, s.place, one), length);
  k_value known = build_get(b, scratch_key_cell(f, list, COLUMN_KEYS, s.place));
  s.found = build_binary(b, KO_AND, used, build_binary(b, KO_EQ, known, key));
  k_value same = build_binary(b, KO_EQ, scratch_hash(f, known), hash);
  s.clash = build_binary(b, KO_ANDN, build_binary(b, KO_AND, used, same), s.found);
  k_value wanted = mask_and(f, f->env.mask, s.clash);
  k_value other = scratch_search_all(f, list, key, length, wanted);
  build_at(b, f->env.mask, front_tag(f));
  s.place = build_select(b, s.clash, other, s.place);
  k_value late = build_binary(b, KO_LT, build_i64(b, 0), other);
  s.found = build_binary(b, KO_OR, s.found, build_binary(b, KO_AND, s.clash, late));
  return s;
}

/* The place of a key, which is added if it is not found. */
static k_value scratch_claim(struct front *f, uint32_t list, k_value key) {
  struct builder *b = f->b;
  const k_value here = f->env.mask;
  struct list_search s = scratch_search(f, list, key);
  k_value next = build_binary(b, KO_ADD, scratch_get_length(f, list), build_i64(b, 1));
  k_value adds = mask_and_not(f, here, s.found);
  build_at(b, adds, front_tag(f));
  front_need(f, build_binary(b, KO_LE, next, build_i64(b, scratch_room(f))), NEEDS_ROOM);
  build_set(b, scratch_key_cell(f, list, COLUMN_KEYS, next), key);
  build_set(b, scratch_number(f, list, LIST_SIZE), next);
  build_at(b, build_binary(b, KO_ANDN, adds, s.clash), front_tag(f));
  build_set(b, s.slot, next);
  build_at(b, here, front_tag(f));
  return build_select(b, s.found, s.place, next);
}

struct val scratch_get(struct front *f, struct val list, struct val index) {
  struct builder *b = f->b;
  if (scratch_list(f, list)->keyed) {
    k_value only, key = scratch_as_key(f, list.at, index, &only);
    struct list_search s = scratch_search(f, list.at, key);
    return scratch_take_at(f, list.at, s.place, build_binary(b, KO_AND, s.found, only));
  }
  scratch_check_index(f, index);
  k_value whole, at = element_place(f, index, &whole);
  if (f->frame->trusted) return scratch_take_at(f, list.at, at, K_ALL);
  k_value length = scratch_get_length(f, list.at);
  k_value below = build_binary(b, KO_SUB, at, build_i64(b, 1));
  return scratch_take_at(f, list.at, at,
                         build_binary(b, KO_AND, whole, build_binary(b, KO_ULT, below, length)));
}

/* ---- records ---- */

/* Two lists exchange records: their pools become one, and the function is compiled again. */
static void scratch_unite(struct front *f, uint32_t pool, uint32_t other) {
  struct front_classes *shared = &f->shared;
  if (shared->lists[pool].outside || shared->lists[other].outside)
    front_refuse(f, "it puts a table into a list from outside and into one that it creates");
  for (uint32_t i = 0; i < shared->list_column_count; i++)
    if (shared->list_columns[i].of == other && shared->list_columns[i].field)
      shared->list_columns[i].of = (uint8_t)pool;
  for (uint32_t i = 0; i < shared->list_count; i++)
    if (shared->lists[i].pool == other) shared->lists[i].pool = pool;
  f->wants_cells = true;
}

/* Puts a field into a new record; nil if the table has no such field. */
static void scratch_put_field(struct front *f, uint32_t pool, k_value record,
                              const struct front_item *item) {
  if (item->pair.kind || item->value.kind == VAL_TABLE)
    front_refuse(f, "it puts a table with tables in it into a list: give each value a field of "
                    "its own");
  uint32_t column = scratch_need_column(f, pool, item->key, item->position);
  scratch_put(f, column, record, order_value_of(item));
}

static void scratch_lack_fields(struct front *f, uint32_t pool, k_value record,
                                const struct front_made *made) {
  for (uint32_t i = 0; i < f->shared.list_column_count; i++) {
    const struct list_column *column = &f->shared.list_columns[i];
    bool there = false;
    for (uint32_t at = made->first; at != NONE && !there; at = f->items[at].next)
      there = scratch_column(f, pool, f->items[at].key, f->items[at].position) == i;
    if (column->field && column->of == pool && !there)
      scratch_put(f, i, record, (struct val){.kind = VAL_NIL});
  }
}

struct val scratch_record(struct front *f, uint32_t list, struct val table) {
  struct builder *b = f->b;
  struct front_made *made = &f->made[table.at];
  uint32_t pool = f->shared.lists[list].pool;
  if (made->kept)
    front_refuse(f, "it puts a table into lists at two places: put it into one");
  k_value count = scratch_number(f, pool, LIST_RECORDS), one = build_i64(b, 1);
  k_value record = build_binary(b, KO_ADD, build_get(b, count), one);
  front_need(f, build_binary(b, KO_LE, record, build_i64(b, scratch_room(f))), NEEDS_ROOM);
  build_set(b, count, record);
  for (uint32_t at = made->first; at != NONE; at = f->items[at].next) {
    const struct front_item item = f->items[at];
    scratch_put_field(f, pool, record, &item);
  }
  scratch_lack_fields(f, pool, record, made);
  struct val entry = {.kind = VAL_ENTRY, .at = pool, .value = record};
  for (uint32_t i = 0; i < f->env.count; i++)
    if (f->registers[i].kind == VAL_TABLE && f->registers[i].at == table.at)
      f->registers[i] = entry;
  made->kept = true;
  return entry;
}

/* What a list holds for a value: for a table, the number of a record. */
static struct val scratch_held(struct front *f, uint32_t list, struct val value) {
  bool record = value.kind == VAL_TABLE || value.kind == VAL_ENTRY;
  struct front_list *known = &f->shared.lists[list];
  if (record != known->records && value.kind != VAL_NIL) {
    uint32_t column = scratch_column(f, list, (ecs_string){"", 0}, 0);
    if (!record || (column != NONE && f->shared.list_columns[column].kind != CELL_NIL))
      front_refuse(f, "it puts tables and other values into one list: use two");
    f->wants_cells = known->records = true;
  }
  if (!record) return maybe_need(f, value);
  value = maybe_need(f, value);
  if (value.kind == VAL_TABLE) value = scratch_record(f, list, value);
  if (value.at != known->pool) scratch_unite(f, known->pool, value.at);
  return val_number(f, value.value, false);
}

struct val scratch_field(struct front *f, struct val record, const struct constant *key) {
  bool named = key->type == CONST_STRING && key->string.size;
  if (!named && (key->type != CONST_INTEGER || key->integer < 1 || key->integer > FRONT_ITEMS))
    front_refuse(f, "it indexes a table in a list by something other than a field's name");
  record = maybe_need(f, record);
  ecs_string name = {"", 0};
  if (named) name = key->string;
  uint32_t position = named ? 0 : (uint32_t)key->integer;
  uint32_t column = scratch_column(f, record.at, name, position);
  if (column == NONE) return scratch_nothing(f);
  return scratch_take(f, column, record.value);
}

void scratch_set_field(struct front *f, struct val record, const struct constant *key,
                       struct val value) {
  if (key->type != CONST_STRING || !key->string.size)
    front_refuse(f, "it writes to a table in a list by something other than a field's name");
  record = maybe_need(f, record);
  struct front_item item = {.key = key->string, .value = value, .there = K_ALL};
  if (val_is_maybe(value)) item.there = value.present;
  build_at(f->b, f->env.mask, front_tag(f));
  scratch_put_field(f, record.at, record.value, &item);
}

/* ---- setting elements ---- */

/* Removes the last element, if there is one: list[#list] = nil. */
static void scratch_pop(struct front *f, uint32_t list, k_value at) {
  struct builder *b = f->b;
  k_value less = build_binary(b, KO_SUB, at, build_i64(b, 1));
  build_need(b, build_binary(b, KO_EQ, at, scratch_get_length(f, list)));
  build_set(b, scratch_number(f, list, LIST_SIZE),
            build_binary(b, KO_MAX, less, build_i64(b, 0)));
}

/* Sets the element at a place, or appends one there. */
static void scratch_set_at(struct front *f, uint32_t list, k_value at, struct val value) {
  struct builder *b = f->b;
  uint32_t column = scratch_need_column(f, list, (ecs_string){"", 0}, 0);
  if (f->frame->trusted) {
    scratch_put(f, column, at, scratch_held(f, list, value));
    return;
  }
  k_value length = scratch_get_length(f, list), one = build_i64(b, 1);
  k_value below = build_binary(b, KO_SUB, at, one);
  front_need(f, build_binary(b, KO_LE, at, build_i64(b, scratch_room(f))), NEEDS_ROOM);
  front_need(f, build_unary(b, KO_NOT, build_binary(b, KO_ULT, length, below)), NEEDS_ROOM);
  value = scratch_held(f, list, value);
  build_set(b, scratch_number(f, list, LIST_SIZE), build_binary(b, KO_MAX, length, at));
  scratch_put(f, column, at, value);
}

/* Sets or removes the element of a key. */
static void scratch_set_keyed(struct front *f, uint32_t list, struct val index, struct val value) {
  struct front_list *known = &f->shared.lists[list];
  bool nil = value.kind == VAL_NIL;
  if (f->list_open[list])
    front_refuse(f, "it writes to a table in a loop over it with pairs: do that after the loop");
  k_value whole, key = scratch_as_key(f, list, index, &whole);
  if (whole != K_ALL) build_need(f->b, whole);
  if (!nil) value = scratch_held(f, list, value);
  uint32_t column = scratch_need_column(f, list, (ecs_string){"", 0}, 0);
  if (!nil) {
    scratch_put(f, column, scratch_claim(f, list, key), value);
    return;
  }
  f->wants_cells |= !known->drops;
  known->drops = true;
  struct list_search s = scratch_search(f, list, key);
  build_at(f->b, mask_and(f, f->env.mask, s.found), front_tag(f));
  scratch_put(f, column, s.place, value);
  build_at(f->b, f->env.mask, front_tag(f));
}

struct val scratch_pairs(struct front *f, struct val list) {
  const struct front_list *known = scratch_list(f, list);
  bool template = known->names >= ROOM_UNKNOWN;
  if (!known->keyed && known->names == 0)   /* Lua keeps its order, since it grows at its end */
    return (struct val){.kind = VAL_ITEMS, .slot = true, .at = PAIRS_LIST, .number = list.at};
  if (!known->keyed || known->drops || template || f->list_keys[list.at] == KEYS_TEXT)
    front_refuse(f, "it calls pairs with a table that has string keys, or from which it "
                    "removes elements: keep a list of the keys, and use ipairs");
  uint32_t at = scratch_need_column(f, KEYS_OF + list.at, (ecs_string){"", 0}, COLUMN_KEYS);
  f->list_open[list.at] = true;
  struct run_list keys = {.kind = LIST_KEYS, .index = at, .axes = list.at,
                          .names = known->names, .items = known->items};
  k_value length = scratch_get_length(f, list.at);
  return partner_goes_over(f, keys, &length, 1);
}

struct val scratch_pair(struct front *f, uint32_t list, bool key, k_value place) {
  if (!key) return scratch_take_at(f, list, place, K_ALL);
  uint32_t at = scratch_column(f, KEYS_OF + list, (ecs_string){"", 0}, COLUMN_KEYS);
  struct val value = scratch_value(f, at, place);
  if (f->list_keys[list] == KEYS_TEXT) value.names = scratch_texts(f, at);
  value.entity = f->list_keys[list] != KEYS_TEXT && f->shared.list_columns[at].entity;
  return value;
}

void scratch_set(struct front *f, struct val list, struct val index, struct val value) {
  build_at(f->b, f->env.mask, front_tag(f));
  if (scratch_list(f, list)->keyed) {
    scratch_set_keyed(f, list.at, index, value);
    return;
  }
  scratch_check_index(f, index);
  k_value whole, at = element_place(f, index, &whole);
  if (whole != K_ALL) build_need(f->b, whole);
  if (value.kind == VAL_NIL)
    scratch_pop(f, list.at, at);
  else
    scratch_set_at(f, list.at, at, value);
}

void scratch_append(struct front *f, struct val list, struct val value) {
  scratch_need_plain(f, list);
  if (value.kind == VAL_NIL) return;
  build_at(f->b, f->env.mask, front_tag(f));
  k_value next = build_binary(f->b, KO_ADD, scratch_get_length(f, list.at), build_i64(f->b, 1));
  scratch_set_at(f, list.at, next, value);
}

struct val scratch_index(struct front *f, struct val list, const struct constant *key) {
  bool keyed = scratch_list(f, list)->keyed && key->type == CONST_STRING;
  if (keyed) return (struct val){.kind = VAL_STRING, .string = key->string};
  if (key->type != CONST_INTEGER)
    front_refuse(f, "it uses a table that it creates as a list and by names: use two tables");
  return val_integer(f, key->integer);
}
