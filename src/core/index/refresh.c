#include "core/index/refresh.h"

#include "core/base/clock.h"
#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/ids/world.h"
#include "core/index/edition.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"

/* If more than one row in this many has changed, all rows are sorted again. */
#define FEW 8u

/* ---- which queries are simple ---------------------------------------------------------- */

/* Whether tables and marks decide everything: the matches are all rows of some tables. */
static bool stale_is_simple(const struct query_terms *terms) {
  return terms->step_count == 0 && !terms->event && !terms->toggled && !terms->changes &&
         !terms->sources && !terms->packed && !terms->cascade && terms->values == 0;
}

/* Whether keys are ids: those of dead entities read as null, which no mark records. */
static bool stale_keys_are_ids(const ecs_index *index) {
  const struct copies *rows = &index->rows;
  const struct copy_column *column;
  if (index->desc.by == ECS_BY_GRID) return false;
  if (!index->desc.key)
    return index_key_column(index, &column) != ECS_OK || type_class(column->type) == CLASS_ID;
  for (uint32_t i = 0; i < rows->column_count; i++)
    if (type_class(rows->columns[i].type) == CLASS_ID) return true;
  return false;
}

static bool stale_is_traced(const ecs_index *index) {
  const struct query_terms *terms = &index->query->terms;
  bool marked = false;
  if (!stale_is_simple(terms) || stale_keys_are_ids(index)) return false;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE) continue;
    if (term->form != TERM_OWN || !term->component->watched) return false;
    marked = marked || !term_may_lack(term);
  }
  return marked;
}

ecs_status stale_watch(ecs_index *index) {
  ecs_world *world = index->world;
  const struct query_terms *terms = &index->query->terms;
  if (staging_is_open(&world->staging) || world->running || world->registry.shown) return ECS_OK;
  if (index->query->broken || !stale_is_simple(terms) || stale_keys_are_ids(index)) return ECS_OK;
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].slot != NONE && terms->terms[i].form != TERM_OWN) return ECS_OK;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < terms->count && status == ECS_OK; i++)
    if (terms->terms[i].slot != NONE) status = marks_begin(world, terms->terms[i].component);
  return status;
}

/* ---- the rows of tables ---------------------------------------------------------------- */

static ecs_status stale_list_stretches(const ecs_query *query, struct stretches *out) {
  ecs_world *world = query->world;
  out->count = out->rows = 0;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    if (table->count == 0) continue;
    if (!GROW(&world->memory, out->list, out->capacity, out->count + 1ull))
      return world_nomem(world);
    out->list[out->count++] = (struct stretch){table->order, out->rows, table->count};
    out->rows += table->count;
  }
  return ECS_OK;
}

static bool stale_are_same(const struct stretches *a, const struct stretches *b) {
  if (a->count != b->count || a->rows != b->rows) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->list[i].order != b->list[i].order || a->list[i].count != b->list[i].count) return false;
  return true;
}

/* ---- changed rows ---------------------------------------------------------------------- */

/* Iterates over the query's non-empty tables. */
struct tables {
  const ecs_index *index;
  const struct table *table;
  uint32_t next;
};

static bool stale_next_table(struct tables *tables) {
  const ecs_query *query = tables->index->query;
  while (tables->next < query_reach(query)) {
    tables->table = query_table(query, tables->next++);
    if (tables->table->count) return true;
  }
  return false;
}

/* The marks of a term in a table; NULL if it yields nothing there. */
static const struct marks *stale_marks_for(const struct term *term, const struct table *table) {
  return term->slot == NONE ? NULL : marks_of(table, term->id);
}

static bool stale_is_lent(const ecs_index *index) {
  const struct query_terms *terms = &index->query->terms;
  struct tables tables = {index, NULL, 0};
  while (stale_next_table(&tables))
    for (uint32_t i = 0; i < terms->count; i++) {
      const struct marks *marks = stale_marks_for(&terms->terms[i], tables.table);
      if (marks && marks_are_lent(index->world, marks)) return true;
    }
  return false;
}

/* Whether too many rows may have changed for examining them to be worth it: in groups of 1,024 rows
** whose marks do not say which rows changed. */
static bool stale_are_many(const ecs_index *index) {
  const struct query_terms *terms = &index->query->terms;
  struct tables tables = {index, NULL, 0};
  uint64_t rows = 0;
  while (stale_next_table(&tables))
    for (uint32_t i = 0; i < mark_groups(tables.table->count); i++) {
      bool is_new = false;
      for (uint32_t j = 0; j < terms->count && !is_new; j++) {
        const struct marks *marks = stale_marks_for(&terms->terms[j], tables.table);
        is_new = marks && !marks->tracked && marks->groups[i] > index->stale.seen;
      }
      if (is_new) rows += MARK_ROWS;
    }
  return rows > index->stale.now.rows / FEW + MARK_ROWS;
}

/* A bit for each of 64 rows: whether its entity differs from the id given. */
static LOOPS uint64_t stale_words_exchanged(const ecs_id *ids, const uint32_t *entities,
                                            uint32_t count) {
  uint32_t differ = 0;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; i++) differ |= ecs_id_index(ids[i]) ^ entities[i];
  for (uint32_t i = 0; differ && i < count; i++)
    bits |= (uint64_t)(ecs_id_index(ids[i]) != entities[i]) << i;
  return bits;
}

/* Adds the rows of a table, which are the query's from `first` on, that have changed or moved since
** the stretch `old`; for NULL, all. */
static bool stale_add_rows(ecs_index *index, const struct table *table, uint32_t first,
                           const struct stretch *old) {
  struct staleness *stale = &index->stale;
  const ecs_id *ids = copies_entities(&index->rows);
  const struct query_terms *terms = &index->query->terms;
  for (uint32_t base = 0; base < table->count; base += 64) {
    uint32_t count = table->count - base < 64 ? table->count - base : 64;
    uint32_t had = !old || old->count <= base ? 0 : old->count - base;
    if (had > count) had = count;
    uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    uint64_t kept = had < 64 ? (UINT64_C(1) << had) - 1 : UINT64_MAX;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < terms->count; i++) {
      const struct marks *marks = stale_marks_for(&terms->terms[i], table);
      if (marks) bits |= marks_since(marks, stale->seen, false, base / 64);
    }
    if (had) bits |= stale_words_exchanged(ids + old->first + base, table->rows + base, had);
    bits = (bits | ~kept) & all;
    if (bits && !GROW(&index->world->memory, stale->rows, stale->capacity, stale->count + 64ull))
      return false;
    for (; bits; bits &= bits - 1) stale->rows[stale->count++] = first + base + bits_first(bits);
  }
  return true;
}

/* The stretch of a table, in a list in the order of tables; NULL if it had none. */
static const struct stretch *stale_find_stretch(const struct stretches *stretches, uint64_t order) {
  uint32_t low = 0;
  BISECT(low, stretches->count, at, stretches->list[at].order < order);
  bool found = low < stretches->count && stretches->list[low].order == order;
  return found ? &stretches->list[low] : NULL;
}

/* ---- unchanged keys -------------------------------------------------------------------- */

static ecs_status stale_find_kept(ecs_index *index) {
  struct staleness *stale = &index->stale;
  if (!GROW(&index->world->memory, stale->from, stale->from_capacity, stale->now.rows + 1ull))
    return world_nomem(index->world);
  for (uint32_t i = 0; i < stale->now.count; i++) {
    const struct stretch *now = &stale->now.list[i];
    const struct stretch *then = stale_find_stretch(&stale->then, now->order);
    for (uint32_t row = 0; then && row < now->count; row++)
      stale->from[now->first + row] = then->first + row;
  }
  for (uint32_t i = 0; i < stale->count; i++) stale->from[stale->rows[i]] = NONE;
  stale->keeps_keys = true;
  return ECS_OK;
}

/* ---- all changes ----------------------------------------------------------------------- */

/* Finds what has changed since stale_settle: nothing, some rows of tables with the same rows as
** then, or all. ECS_ENOMEM. */
static ecs_status stale_find(ecs_index *index) {
  struct staleness *stale = &index->stale;
  bool called = index->desc.key && index->desc.by != ECS_BY_GRID;
  stale->what = STALE_ALL;
  stale->keeps_keys = false;
  stale->count = 0;
  ecs_status status = stale_list_stretches(index->query, &stale->now);
  bool known = stale->known && stale->version == index->world->registry.version &&
               stale->then.rows == index->rows.count && stale_is_traced(index);
  if (status != ECS_OK || !known) return status;
  bool same = stale_are_same(&stale->then, &stale->now);
  if (!called && (!same || stale_are_many(index))) return ECS_OK;
  struct tables tables = {index, NULL, 0};
  bool ok = true;
  for (uint32_t i = 0; ok && stale_next_table(&tables); i++)
    ok = stale_add_rows(index, tables.table, stale->now.list[i].first,
                        stale_find_stretch(&stale->then, tables.table->order));
  status = ok ? ECS_OK : world_nomem(index->world);
  if (status != ECS_OK) return status;
  if (same && stale->count == 0)
    stale->what = STALE_NONE;
  else if (same && stale->count <= stale->now.rows / FEW)
    stale->what = STALE_ROWS;
  return called && stale->what == STALE_ALL ? stale_find_kept(index) : ECS_OK;
}

/* Called when the rows, or the changed ones, have been gathered: what is written from now on is
** marked later. */
static void stale_settle(ecs_index *index) {
  struct staleness *stale = &index->stale;
  ecs_world *world = index->world;
  const struct stretches then = stale->then;
  if (stale->what == STALE_NONE) return;
  stale->known = false;
  stale->sound = stale_is_traced(index) && !stale_is_lent(index);
  stale->version = world->registry.version;
  stale->seen = world->now;
  if (stale->sound) world->now++;
  stale->then = stale->now;
  stale->now = then;
}

/* ---- copying --------------------------------------------------------------------------- */

static void stale_copy_rows(ecs_index *index, const struct table *table, uint32_t first,
                            const uint32_t *rows, uint32_t count) {
  struct copies *copies = &index->rows;
  ecs_id *ids = copies->entities.data;
  for (uint32_t i = 0; i < count; i++)
    ids[rows[i]] = entity_id(&index->world->entities, table->rows[rows[i] - first]);
  for (uint32_t i = 0; i < copies->column_count; i++) {
    const struct copy_column *column = &copies->columns[i];
    const struct term *term = &index->query->terms.terms[column->term];
    const struct layout *layout = table_find(table, term->id);
    /* Otherwise all rows of the table are alike. */
    bool has_cells = column->component != ECS_NULL && layout->count;
    assert(!has_cells || layout->columns[column->leaf].size == column->size);
    for (uint32_t j = 0; has_cells && j < count; j++)
      cell_copy(column->cells.data, rows[j], layout->columns[column->leaf].data, rows[j] - first,
                column->size);
  }
}

/* Copies the changed rows; state STALE_ROWS. */
static void stale_copy(ecs_index *index) {
  const struct staleness *stale = &index->stale;
  struct tables tables = {index, NULL, 0};
  uint32_t at = 0;
  assert(stale->what == STALE_ROWS && stale->now.rows == index->rows.count);
  for (uint32_t i = 0; stale_next_table(&tables); i++) {
    const struct stretch *stretch = &stale->now.list[i];
    uint32_t end = at;
    while (end < stale->count && stale->rows[end] < stretch->first + stretch->count) end++;
    stale_copy_rows(index, tables.table, stretch->first, stale->rows + at, end - at);
    at = end;
  }
  assert(at == stale->count);
}

/* ---- memory ---------------------------------------------------------------------------- */

void stale_free(struct memory *memory, struct staleness *stale) {
  FREE_LIST(memory, stale->then.list, stale->then.capacity);
  FREE_LIST(memory, stale->now.list, stale->now.capacity);
  FREE_LIST(memory, stale->rows, stale->capacity);
  FREE_LIST(memory, stale->from, stale->from_capacity);
  memset(stale, 0, sizeof *stale);
}

/* ---- the key or position --------------------------------------------------------------- */

/* A field of the component that is named, or of the query's first one that yields something. */
static ecs_status refresh_name_leaf(ecs_index *index) {
  const ecs_world *world = index->world;
  const char *of = index->desc.of;
  size_t size = strlen(of);
  const struct query_terms *terms = &index->query->terms;
  uint32_t at = 0;
  while (at < terms->count && terms->terms[at].slot == NONE) at++;
  struct component *component =
      at < terms->count ? component_of(index->world, terms->terms[at].component->id) : NULL;
  uint32_t leaf = component ? component_leaf(component, of, size) : NONE;
  index->leaf = of;
  if (leaf == NONE) {
    if (component && !memchr(of, '.', size)) return component_no_field(world, component, of, size);
    if (!component && !memchr(of, '.', size) && !component_find(world, of, size))
      return world_fail(world, ECS_EINVAL, "index '%s': its query '%s' yields no component that "
                        "could have a field '%s'", index->desc.name, index->query->text, of);
    ecs_status status = component_path(world, of, size, &component, &leaf);
    if (status != ECS_OK) return status;
    if (leaf == NONE)
      return world_fail(world, ECS_EINVAL, "index '%s': '%s' is a component, not a field: write "
                        "'%s.' and one of its fields", index->desc.name, of, of);
    index->leaf = strchr(of, '.') + 1;
  }
  index->of = component->id;
  return ECS_OK;
}

ecs_status index_resolve(ecs_index *index) {
  const char *of = index->desc.of;
  struct component *component;
  if (index->desc.by != ECS_BY_GRID) return index->desc.key ? ECS_OK : refresh_name_leaf(index);
  ecs_status status = component_need(index->world, of, strlen(of), &component);
  if (status == ECS_OK) index->of = component->id;
  return status;
}

static ecs_status refresh_find_component(const ecs_index *index, struct component **out) {
  assert(index->of);
  *out = component_of(index->world, index->of);
  if (*out) return ECS_OK;
  return world_fail(index->world, ECS_ENAME, "index '%s': the component of '%s' is no longer "
                    "declared", index->desc.name, index->desc.of);
}

/* ---- positions ------------------------------------------------------------------------- */

static const char *const axis_names[GRID_AXES] = {"x", "y", "z"};

/* The leaf of a component that is a number of that name; NONE if there is none. */
static uint32_t refresh_axis_leaf(const struct component *component, uint32_t axis) {
  uint32_t at = component_field(component, axis_names[axis], 1);
  if (at == NONE || component->fields[at].leaf_count != 1) return NONE;
  uint32_t leaf = component->fields[at].first_leaf;
  return type_is_number(component->leaves[leaf].type) ? leaf : NONE;
}

static bool refresh_is_copied(const struct copies *copies, ecs_id component) {
  for (uint32_t i = 0; i < copies->column_count; i++)
    if (copies->columns[i].component == component) return true;
  return false;
}

static ecs_status refresh_no_axis(const ecs_index *index, uint32_t axis) {
  return world_fail(index->world, ECS_EINVAL, "index '%s': a grid needs the number fields x and y "
                    "of '%s', and its query '%s' yields no %s", index->desc.name, index->desc.of,
                    index->query->text, axis_names[axis]);
}

ecs_status index_source(const ecs_index *index, struct grid_source *out, uint32_t *axes) {
  const ecs_world *world = index->world;
  const char *name = index->desc.name, *grid = index->desc.of;
  struct component *component;
  ecs_status status = refresh_find_component(index, &component);
  if (status != ECS_OK) return status;
  if (!refresh_is_copied(&index->rows, component->id))
    return world_fail(world, ECS_EINVAL, "index '%s': its query '%s' does not yield '%s': add "
                      "'%s:in' to it", name, index->query->text, grid, component->name);
  *out = (struct grid_source){.copies = &index->rows, .flags = NONE};
  for (*axes = 0; *axes < GRID_AXES; ++*axes) {
    uint32_t leaf = refresh_axis_leaf(component, *axes);
    const struct copy_column *column =
        leaf == NONE ? NULL : copies_column(&index->rows, component->id, leaf);
    if (!column) break;
    out->columns[*axes] = (uint32_t)(column - index->rows.columns);
  }
  if (*axes < 2) return refresh_no_axis(index, *axes);
  out->flags = index->rows.slots[index->rows.columns[out->columns[0]].slot].flags;
  return ECS_OK;
}

/* Whether the query yields a leaf of a component. */
static bool refresh_is_given(const struct query_terms *terms, const struct component *component,
                             uint32_t leaf) {
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    bool fits = term->slot != NONE && term->component == component;
    if (fits && (term->leaf == NONE || term->leaf == leaf)) return true;
  }
  return false;
}

uint32_t index_axes(const ecs_index *index) {
  struct component *component;
  uint32_t axes = 0;
  if (index->desc.by != ECS_BY_GRID) return 0;
  if (refresh_find_component(index, &component) != ECS_OK) return 0;
  for (; axes < GRID_AXES; axes++) {
    uint32_t leaf = refresh_axis_leaf(component, axes);
    if (leaf == NONE || !refresh_is_given(&index->query->terms, component, leaf)) break;
  }
  return axes;
}

/* ---- keys ------------------------------------------------------------------------------ */

static ecs_status refresh_find_leaf(const ecs_index *index, struct component **component,
                                    uint32_t *leaf) {
  ecs_status status = refresh_find_component(index, component);
  if (status != ECS_OK) return status;
  size_t size = strlen(index->leaf);
  *leaf = component_leaf(*component, index->leaf, size);
  if (*leaf != NONE) return ECS_OK;
  return component_no_field(index->world, *component, index->leaf, size);
}

static ecs_status refresh_check_order(const ecs_index *index, const struct component *component,
                                      const struct leaf *leaf) {
  bool ordered = type_is_number(leaf->type) || type_class(leaf->type) == CLASS_ID;
  if (index->desc.by != ECS_BY_ORDER || ordered) return ECS_OK;
  return world_fail(index->world, ECS_EINVAL, "index '%s' is ordered, and '%s.%s' has type %s: "
                    "order by a number field, or use hash", index->desc.name, component->name,
                    leaf->name, type_name(leaf->type));
}

ecs_status index_key_column(const ecs_index *index, const struct copy_column **out) {
  struct component *component;
  uint32_t leaf;
  ecs_status status = refresh_find_leaf(index, &component, &leaf);
  if (status != ECS_OK) return status;
  *out = copies_column(&index->rows, component->id, leaf);
  if (*out) return refresh_check_order(index, component, &component->leaves[leaf]);
  return world_fail(index->world, ECS_EINVAL, "index '%s': its query '%s' does not yield '%s.%s': "
                    "add '%s:in' to it", index->desc.name, index->query->text, component->name,
                    component->leaves[leaf].name, component->name);
}

ecs_status index_check_shown(const ecs_index *index) {
  struct component *component;
  uint32_t leaf;
  if (index->desc.by != ECS_BY_GRID) {
    if (index->desc.key) return ECS_OK;
    ecs_status status = refresh_find_leaf(index, &component, &leaf);
    if (status == ECS_OK)
      return refresh_check_order(index, component, &component->leaves[leaf]);
    if (!component) return status;
    char why[MESSAGE_SIZE];
    text_format(why, sizeof why, "%s", index->world->message);
    return world_fail(index->world, status, "index '%s': %s", index->desc.name, why);
  }
  ecs_status status = refresh_find_component(index, &component);
  for (uint32_t axis = 0; status == ECS_OK && axis < 2; axis++)
    if (refresh_axis_leaf(component, axis) == NONE) status = refresh_no_axis(index, axis);
  return status;
}

static ecs_status refresh_key_of_cell(ecs_world *world, const struct copy_column *column,
                                      uint32_t row, struct key *out) {
  ecs_cell cell = cell_load(column->cells.data, column->size, row);
  switch (type_class(column->type)) {
    case CLASS_FLOAT: *out = key_of_number(cell_float(column->size, cell)); break;
    case CLASS_TRUTH: *out = (struct key){KEY_TRUTH, cell.u8}; break;
    case CLASS_TEXT: *out = (struct key){KEY_TEXT, cell.u32}; break;
    case CLASS_ID: *out = key_of_integer((int64_t)entity_target(world, cell.u64)); break;
    case CLASS_NAMES: {
      const struct component *component = component_of(world, column->component);
      ecs_value value = {.kind = ECS_KIND_STRING};
      value.string = leaf_text(world, &component->leaves[column->leaf], cell);
      return key_of_value(world, &value, out);
    }
    default: *out = key_of_integer(cell_integer(column->type, column->size, cell)); break;
  }
  return ECS_OK;
}

ecs_status index_set_key(ecs_index *index, uint32_t row, const ecs_value *value) {
  assert(row < index->rows.count);
  struct key *key = &index->key_room.keys[row];
  *key = (struct key){KEY_NONE, 0};
  ecs_status status = key_of_value(index->world, value, key);
  if (status != ECS_OK || index->desc.by != ECS_BY_ORDER) return status;
  if (key->kind == KEY_NONE || key_is_number(*key)) return ECS_OK;
  key->kind = KEY_NONE;
  return world_fail(index->world, ECS_ETYPE, "index '%s' is ordered, but the key of " SHOW_ID " "
                    "is a %s: return a number, or use hash", index->desc.name,
                    copies_entities(&index->rows)[row],
                    value->kind == ECS_KIND_STRING ? "string" : "boolean");
}

/* Takes keys from a column, or from a host's function. */
static ecs_status refresh_keys(ecs_index *index) {
  const struct copy_column *column = NULL;
  ecs_status status = index->desc.key ? ECS_OK : index_key_column(index, &column);
  index->busy = index->desc.key != NULL;
  for (uint32_t i = 0; status == ECS_OK && i < index_unkeyed(index); i++) {
    uint32_t row = index_unkeyed_row(index, i);
    struct key *key = &index->key_room.keys[row];
    *key = (struct key){KEY_NONE, 0};
    if (column && copies_have(&index->rows, column->slot, row))
      status = refresh_key_of_cell(index->world, column, row, key);
    if (column) continue;
    ecs_value value = {.kind = ECS_KIND_NONE};
    status = index->desc.key(index, row, index->desc.ud, &value);
    if (status == ECS_OK) status = index_set_key(index, row, &value);
  }
  index->busy = false;
  return status;
}

/* ---- bringing up to date --------------------------------------------------------------- */

bool index_is_fresh(const ecs_index *index) {
  const ecs_world *world = index->world;
  return world->running && index->fresh == world->moment;
}

uint32_t index_unkeyed(const ecs_index *index) {
  const struct staleness *stale = &index->stale;
  return stale->what == STALE_ALL && !stale->keeps_keys ? index->rows.count : stale->count;
}

uint32_t index_unkeyed_row(const ecs_index *index, uint32_t at) {
  const struct staleness *stale = &index->stale;
  assert(at < index_unkeyed(index));
  return stale->what == STALE_ALL && !stale->keeps_keys ? at : stale->rows[at];
}

/* On an error it has no rows. */
static ecs_status refresh_fail(ecs_index *index, ecs_status status) {
  index->rows.count = 0;
  index->stale.known = false;
  if (index->now) edition_empty(index->now);
  return status == ECS_ENOMEM ? world_nomem(index->world) : status;
}

void index_spoil(ecs_index *index) { (void)refresh_fail(index, ECS_OK); }

/* Brings along the keys of unchanged rows; the others have none yet. */
static ecs_status refresh_begin_keys(ecs_index *index) {
  struct memory *memory = &index->world->memory;
  const struct staleness *stale = &index->stale;
  struct key_room *room = &index->key_room;
  if (index->desc.by == ECS_BY_GRID) return ECS_OK;
  if (stale->what == STALE_ROWS)
    return key_room_keep(memory, room, stale->rows, stale->count);
  ecs_status status = ECS_OK;
  if (stale->keeps_keys) status = key_room_carry(memory, room, stale->from, index->rows.count);
  if (status == ECS_OK) status = key_room_make(memory, room, index->rows.count);
  if (status == ECS_OK && !stale->keeps_keys)
    memset(room->keys, 0, index->rows.count * sizeof *room->keys);
  return status;
}

static ecs_status refresh_gather(ecs_index *index) {
  ecs_world *world = index->world;
  if (index->stale.what == STALE_ROWS) {
    stale_copy(index);
    return refresh_begin_keys(index);
  }
  ecs_status status =
      copies_lay_out(world, &index->rows, &index->query->terms, index->desc.name);
  if (status == ECS_OK) status = copies_gather(&index->rows, index->query);
  return status == ECS_OK ? refresh_begin_keys(index) : status;
}

ecs_status index_gather(ecs_index *index) {
  ecs_world *world = index->world;
  if (index->busy)
    return world_fail(world, ECS_EBUSY, "index '%s' is being updated: its key function cannot use "
                      "it%s", index->desc.name, index->desc.key ?
                      " (if a longjmp or an exception left it, the host must call ecs_abandon)"
                      : "");
  index->began = clock_seconds();
  edition_drop_old(index);
  ecs_status status = query_usable(index->query);
  if (status == ECS_OK) status = stale_watch(index);
  if (status == ECS_OK) status = stale_find(index);
  enum stale what = index->stale.what;
  bool held = index->now && edition_is_held(world, index->now);
  index->anew = status != ECS_OK || what == STALE_ALL || (what == STALE_ROWS && held);
  if (index->anew && !edition_to_fill(index)) status = ECS_ENOMEM;
  if (status == ECS_OK && what != STALE_NONE) status = refresh_gather(index);
  if (status != ECS_OK) return refresh_fail(index, status);
  stale_settle(index);
  return ECS_OK;
}

static ecs_status refresh_fill_grid(ecs_index *index, struct edition *edition,
                                    struct grid_source *source, uint32_t *count) {
  struct memory *memory = &index->world->memory;
  struct grid *grid = &edition->grid;
  ecs_status status = index_source(index, source, &grid->axes);
  grid->size = index->desc.cell;
  if (status == ECS_OK) status = grid_sort(memory, &index->room, grid, source, count);
  return status == ECS_OK ? grid_reserve(memory, grid, *count) : status;
}

static ecs_status refresh_fill(ecs_index *index, struct edition *edition) {
  ecs_world *world = index->world;
  bool keyed = index->desc.by != ECS_BY_GRID;
  uint32_t count = 0;
  struct grid_source source = {.copies = NULL};
  edition->keyed.by = index->desc.by;
  index->brought = index->stale.keeps_keys ? index->stale.count : NONE;
  ecs_status status =
      keyed ? keyed_sort(&world->memory, &edition->keyed, &index->key_room, index->rows.count,
                         &count)
            : refresh_fill_grid(index, edition, &source, &count);
  if (status == ECS_OK)
    status = copies_lay_out(world, &edition->copies, &index->query->terms, index->desc.name);
  if (status == ECS_OK) status = copies_reserve(world, &edition->copies, count);
  if (status != ECS_OK) return status;
  const uint32_t *order = keyed ? index->key_room.order : index->room.order;
  copies_arrange(&edition->copies, &index->rows, order, count);
  source.copies = &edition->copies;
  if (!keyed) grid_place(&edition->grid, &source);
  index->lost = index->rows.count - count;
  return ECS_OK;
}

/* Applies what has changed to the current edition, if possible. */
static ecs_status refresh_follow(ecs_index *index, bool *done) {
  const struct staleness *stale = &index->stale;
  struct edition *edition = index->now;
  ecs_status status = ECS_OK;
  index->brought = stale->count;
  if (stale->what == STALE_NONE) {
    *done = true;
  } else if (index->desc.by == ECS_BY_GRID) {
    struct grid_source source;
    uint32_t axes;
    status = index_source(index, &source, &axes);
    *done = status == ECS_OK && grid_follow(&edition->grid, &index->room, &source, stale->rows,
                                            stale->count, &edition->copies);
  } else {
    const struct rekeyed rekeyed = {&index->rows, index->key_room.keys, index->key_room.old,
                                    stale->rows, stale->count};
    status = splice_keyed(index->world, &index->splice, edition, &rekeyed, done);
    index->lost = index->rows.count - edition->copies.count;
  }
  return status;
}

ecs_status index_make(ecs_index *index) {
  bool done = false;
  ecs_status status = index->anew ? ECS_OK : refresh_follow(index, &done);
  if (status == ECS_OK && !done) status = refresh_fill(index, index->now);
  if (status != ECS_OK) return refresh_fail(index, status);
  index->stale.known = index->stale.sound;
  index->fresh = index->world->running ? index->world->moment : 0;
  index->seconds = clock_seconds() - index->began;
  index->times++;
  return ECS_OK;
}

ecs_status index_refuse(const ecs_index *index) {
  static const char *const by[] = {"a grid: it has within and nearest", "hash: it has find",
                                   "order: it has range, lowest and highest", "maybe: it has find"};
  return world_fail(index->world, ECS_EINVAL, "index '%s' is by %s", index->desc.name,
                    by[index->desc.by]);
}

ecs_status index_refresh(ecs_index *index) {
  if (index_is_fresh(index)) return ECS_OK;
  ecs_status status = index_gather(index);
  if (status != ECS_OK) return status;
  if (index->desc.by != ECS_BY_GRID) status = refresh_keys(index);
  return status == ECS_OK ? index_make(index) : refresh_fail(index, status);
}
