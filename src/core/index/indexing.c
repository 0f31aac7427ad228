#include "core/index/indexing.h"

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/index/refresh.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "core/world/lifetime.h"
#include "ecs_query.h"

/* ---- by name --------------------------------------------------------------------------- */

ecs_index *index_named(const ecs_world *world, const char *name, size_t size) {
  ecs_index *index = index_first(world);
  while (index && !text_equal(index->desc.name, name, size)) index = index->next;
  return index;
}

ecs_status index_unknown(const ecs_world *world, const char *name, size_t size) {
  ecs_string text = {name, size};
  struct nearest nearest;
  nearest_begin(&nearest, name, size);
  for (const ecs_index *index = index_first(world); index; index = index->next)
    nearest_offer(&nearest, index->desc.name, strlen(index->desc.name));
  return world_fail(world, ECS_ENAME, "there is no index '%.*s'%s", SHOW(text),
                    nearest_hint(&nearest));
}

ecs_index *ecs_index_find(ecs_world *world, const char *name) {
  name = text_given(name);
  ecs_index *index = index_named(world, name, strlen(name));
  if (!index) index_unknown(world, name, strlen(name));
  return index;
}

/* ---- building -------------------------------------------------------------------------- */

static ecs_status indexing_check_name(const ecs_world *world, const char *name) {
  size_t size = name ? strlen(name) : 0;
  ecs_string text = {name, size};
  if (size == 0 || size > NAME_LIMIT || !text_is_identifier(name, size))
    return world_fail(world, ECS_EINVAL, "the name of an index has letters, digits and _, at most "
                      "%u bytes, got '%.*s'", NAME_LIMIT, SHOW(text));
  const struct component *other = component_find(world, name, size);
  if (!other) return ECS_OK;
  return world_fail(world, ECS_ETAKEN, "index '%s': the name is already used by %s", name,
                    other->length ? "an array" : other->is_event ? "an event" : "a component");
}

static ecs_status indexing_check_desc(const ecs_world *world, const ecs_index_desc *desc) {
  ecs_status status = indexing_check_name(world, desc->name);
  if (status != ECS_OK) return status;
  if (!desc->query) return world_fail(world, ECS_EINVAL, "index '%s' needs a query", desc->name);
  if ((unsigned)desc->by > ECS_BY_MAYBE || (!desc->of && !(desc->by && desc->key)))
    return world_fail(world, ECS_EINVAL, "index '%s' needs a key: name a component for a grid, "
                      "otherwise a field", desc->name);
  if (desc->by != ECS_BY_GRID || (desc->cell > 0 && desc->cell <= DBL_MAX)) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "index '%s': 'cell', the width of a cell, must be a number "
                    "above 0, got %g", desc->name, desc->cell);
}

/* Checks that each match of the query is a different entity. */
static ecs_status indexing_check_query(const ecs_world *world, const char *name,
                                       const ecs_query *query) {
  if (query->terms.event) return query_no_entities(query);
  if (query->terms.changes)
    return world_fail(world, ECS_EINVAL, "index '%s' holds every match of its query '%s': leave "
                      "out ':changed' and ':added'", name, query->text);
  if (query->terms.values == 0) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "index '%s': its query '%s' yields targets besides the "
                    "entity: give a value to each $name, and write 'with' before each term with *",
                    name, query->text);
}

static ecs_status indexing_copy_texts(ecs_index *index, const ecs_index_desc *desc) {
  struct memory *memory = &index->world->memory;
  index->desc = *desc;
  index->desc.query = NULL;
  index->desc.variables = NULL;
  index->desc.variable_count = 0;
  index->desc.free = NULL;
  index->desc.name = arena_copy(memory, &index->texts, desc->name, strlen(desc->name));
  if (desc->of) index->desc.of = arena_copy(memory, &index->texts, desc->of, strlen(desc->of));
  if (desc->owner)
    index->desc.owner = arena_copy(memory, &index->texts, desc->owner, strlen(desc->owner));
  bool ok = index->desc.name && (!desc->of || index->desc.of) &&
            (!desc->owner || index->desc.owner);
  return ok ? ECS_OK : world_nomem(index->world);
}

/* Checks that the key's component or field exists. */
static ecs_status indexing_check_of(ecs_index *index) {
  struct grid_source source;
  const struct copy_column *column;
  uint32_t axes;
  ecs_status status = index_resolve(index);
  if (status != ECS_OK) return status;
  if (index->desc.by == ECS_BY_GRID) return index_source(index, &source, &axes);
  return index->desc.key ? ECS_OK : index_key_column(index, &column);
}

ecs_status index_build(ecs_world *world, const ecs_index_desc *desc, ecs_index **out) {
  ecs_status status = indexing_check_desc(world, desc);
  if (status != ECS_OK) return status;
  ecs_index *index = memory_array(&world->memory, 1, sizeof *index);
  if (!index) return world_nomem(world);
  index->world = world;
  status = indexing_copy_texts(index, desc);
  if (status == ECS_OK)
    status = ecs_query_with(world, desc->query, desc->variables, desc->variable_count,
                            &index->query);
  if (status == ECS_OK) status = indexing_check_query(world, index->desc.name, index->query);
  if (status == ECS_OK)
    status = copies_lay_out(world, &index->rows, &index->query->terms, index->desc.name);
  if (status == ECS_OK) status = indexing_check_of(index);
  if (status == ECS_OK) status = stale_watch(index);
  if (status == ECS_OK) {
    index->desc.free = desc->free;
    *out = index;
  } else {
    index_free(index);
  }
  return status;
}

/* Frees everything but its place in the list. */
static void indexing_clear(ecs_index *index) {
  ecs_world *world = index->world;
  while (index->now) {
    struct edition *edition = index->now;
    index->now = edition->next;
    edition_free(world, edition);
  }
  copies_free(world, &index->rows);
  grid_room_free(&world->memory, &index->room);
  key_room_free(&world->memory, &index->key_room);
  stale_free(&world->memory, &index->stale);
  splice_free(&world->memory, &index->splice);
  if (index->query) query_free(index->query);
  if (index->desc.free) index->desc.free(index->desc.ud);
  arena_free(&world->memory, &index->texts);
}

void index_free(ecs_index *index) {
  struct memory *memory = &index->world->memory;
  indexing_clear(index);
  memory_free(memory, index, sizeof *index);
}

/* ---- the list -------------------------------------------------------------------------- */

static void indexing_finding_free(ecs_world *world, struct attachment *link) {
  struct finding *finding = (struct finding *)(void *)link;
  assert(world->finding == finding);
  while (finding->first) {
    ecs_index *index = finding->first;
    finding->first = index->next;
    index_free(index);
  }
  world_detach_from(world, link);
  world->finding = NULL;
  memory_free(&world->memory, finding, sizeof *finding);
}

static bool indexing_visit_copies(const struct copies *copies, ecs_type type,
                                  cells_fn visit, void *ud) {
  for (uint32_t i = 0; i < copies->column_count; i++) {
    const struct copy_column *column = &copies->columns[i];
    if (column->type != type || copies->count == 0) continue;
    struct cells cells = {column->cells.data, copies->count, NULL, NULL};
    if (!visit(&cells, ud)) return false;
  }
  return true;
}

static bool indexing_visit_keys(const struct key *keys, uint32_t count, cells_fn visit, void *ud) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t text = (uint32_t)keys[i].bits;
    struct cells cells = {&text, 1, NULL, NULL};
    if (keys[i].kind == KEY_TEXT && !visit(&cells, ud)) return false;
  }
  return true;
}

ecs_status indexes_watch(ecs_world *world) {
  ecs_status status = ECS_OK;
  if (LIKELY(!world->finding)) return ECS_OK;
  for (ecs_index *index = world->finding->first; index && status == ECS_OK; index = index->next)
    status = stale_watch(index);
  return status;
}

/* Strings that must be kept. */
static bool indexing_visit_cells(const ecs_world *world, const struct attachment *link,
                                 ecs_type type, cells_fn visit, void *ud) {
  (void)link;
  if (type != ECS_STRING) return true;
  for (const ecs_index *index = world->finding->first; index; index = index->next) {
    bool keyed = index->key_room.keys != NULL;
    if (!indexing_visit_copies(&index->rows, type, visit, ud)) return false;
    if (keyed && !indexing_visit_keys(index->key_room.keys, index->rows.count, visit, ud))
      return false;
    for (const struct edition *edition = index->now; edition; edition = edition->next)
      if (!indexing_visit_copies(&edition->copies, type, visit, ud) ||
          !indexing_visit_keys(edition->keyed.keys, edition->keyed.count, visit, ud))
        return false;
  }
  return true;
}

ecs_status index_reserve(ecs_world *world) {
  if (world->finding) return ECS_OK;
  struct finding *finding = memory_array(&world->memory, 1, sizeof *finding);
  if (!finding) return world_nomem(world);
  finding->link.free = indexing_finding_free;
  finding->link.cells = indexing_visit_cells;
  world_attach_to(world, &finding->link);
  world->finding = finding;
  return ECS_OK;
}

ecs_index *index_enter(ecs_world *world, ecs_index *built) {
  struct finding *finding = world->finding;
  ecs_index **at = &finding->first;
  assert(finding && !built->next);
  while (*at && strcmp((*at)->desc.name, built->desc.name) != 0) at = &(*at)->next;
  finding->version++;
  if (!*at) {
    finding->count++;
    return *at = built;
  }
  ecs_index *index = *at, *next = index->next;
  world_turn(world);
  indexing_clear(index);
  *index = *built;
  index->next = next;
  memory_free(&world->memory, built, sizeof *built);
  return index;
}

void index_remove(ecs_index *index) {
  ecs_world *world = index->world;
  struct finding *finding = world->finding;
  ecs_index **at = &finding->first;
  while (*at != index) {
    assert(*at);
    at = &(*at)->next;
  }
  *at = index->next;
  finding->count--;
  finding->version++;
  world_turn(world);
  index_free(index);
}

static ecs_status indexing_check_busy(const ecs_index *index) {
  if (!index->busy) return ECS_OK;
  return world_fail(index->world, ECS_EBUSY, "index '%s' is being updated", index->desc.name);
}

ecs_status index_may_enter(const ecs_world *world, const char *name) {
  const ecs_index *old = name ? index_named(world, name, strlen(name)) : NULL;
  ecs_status status = old ? world_not_busy(world, "declaring an index again") : ECS_OK;
  return old && status == ECS_OK ? indexing_check_busy(old) : status;
}

ecs_status ecs_index_new(ecs_world *world, const ecs_index_desc *desc, ecs_index **out) {
  ecs_index *built = NULL;
  world_be_sure(world);
  ecs_status status = index_may_enter(world, desc->name);
  if (status == ECS_OK) status = index_reserve(world);
  if (status == ECS_OK) status = index_build(world, desc, &built);
  if (built) *out = index_enter(world, built);
  return status;
}

ecs_status ecs_index_drop(ecs_world *world, const char *name) {
  world_be_sure(world);
  ecs_index *index = ecs_index_find(world, name);
  if (!index) return ECS_ENAME;
  ecs_status status = world_not_busy(world, "dropping an index");
  if (status == ECS_OK) status = indexing_check_busy(index);
  if (status == ECS_OK) index_remove(index);
  return status;
}

/* ---- all indexes ------------------------------------------------------------------------ */

void indexes_abandon(ecs_world *world) {
  ecs_index *index = world->finding ? world->finding->first : NULL;
  for (; index; index = index->next) {
    if (index->busy) index_spoil(index);
    index->busy = false;
  }
}

void indexes_forget(ecs_world *world) {
  world_turn(world);
  if (!world->finding) return;
  for (ecs_index *index = world->finding->first; index; index = index->next) {
    index->rows.count = 0;
    index->stale.known = false;
    for (struct edition *edition = index->now; edition; edition = edition->next)
      edition_empty(edition);
  }
}

static ecs_status indexing_check_edition(const ecs_index *index, const struct edition *edition) {
  const struct copies *copies = &edition->copies;
  bool sound = copies->count <= copies->capacity;
  sound = sound && (index->desc.by == ECS_BY_GRID
                        ? grid_is_sound(&edition->grid, copies->count)
                        : keyed_is_sound(&edition->keyed, copies->count));
  for (uint32_t i = 1; sound && i < copies->count; i++)
    sound = copies_order(copies)[i] != copies_order(copies)[i - 1];
  if (sound) return ECS_OK;
  return world_fail(index->world, ECS_ECORRUPT, "index '%s' is not sound", index->desc.name);
}

ecs_status indexes_check(const ecs_world *world) {
  const struct finding *finding = world->finding;
  ecs_status status = ECS_OK;
  uint32_t count = 0;
  if (!finding) return ECS_OK;
  for (const ecs_index *index = finding->first; index; index = index->next, count++)
    for (const struct edition *edition = index->now; edition && status == ECS_OK;
         edition = edition->next)
      status = indexing_check_edition(index, edition);
  if (status != ECS_OK || count == finding->count) return status;
  return world_fail(world, ECS_ECORRUPT, "the list of indexes lacks one");
}

/* ---- describing ------------------------------------------------------------------------ */

ecs_index *index_first(const ecs_world *world) {
  return world->finding ? world->finding->first : NULL;
}

const char *index_name(const ecs_index *index) { return index->desc.name; }

const ecs_query *index_query(const ecs_index *index) { return index->query; }

uint64_t indexes_version(const ecs_world *world) {
  return world->finding ? world->finding->version : 0;
}

static size_t indexing_copies_bytes(const struct copies *copies) {
  size_t bytes = copies->entities.size + copies->order.size;
  for (uint32_t i = 0; i < copies->column_count; i++) bytes += copies->columns[i].cells.size;
  return bytes;
}

static size_t indexing_edition_bytes(const struct edition *edition) {
  const struct grid *grid = &edition->grid;
  const struct keyed *keyed = &edition->keyed;
  size_t bytes = indexing_copies_bytes(&edition->copies) +
                 grid->cell_capacity * sizeof *grid->cells +
                 grid->line_capacity * sizeof *grid->lines +
                 grid->start_capacity * sizeof *grid->starts +
                 keyed->capacity * sizeof *keyed->keys +
                 keyed->start_capacity * sizeof *keyed->starts +
                 keyed->filter_capacity * sizeof *keyed->filters;
  for (uint32_t i = 0; i < GRID_AXES; i++) bytes += grid->places[i].size;
  return bytes;
}

size_t index_bytes(const ecs_index *index) {
  const struct grid_room *room = &index->room;
  const struct key_room *keys = &index->key_room;
  const struct staleness *stale = &index->stale;
  const struct splice_room *splice = &index->splice;
  uint32_t shifts = splice->cut_capacity + splice->put_capacity + splice->sorted_capacity;
  size_t bytes = indexing_copies_bytes(&index->rows) +
                 (room->order_capacity + room->other_capacity) * sizeof *room->order +
                 room->count_capacity * sizeof *room->counts +
                 keys->capacity * sizeof *keys->keys + keys->old_capacity * sizeof *keys->old +
                 (keys->order_capacity + keys->other_capacity) * sizeof *keys->order +
                 (stale->then.capacity + stale->now.capacity) * sizeof *stale->then.list +
                 (stale->capacity + stale->from_capacity) * sizeof *stale->rows +
                 shifts * sizeof *splice->cuts + splice->span_capacity * sizeof *splice->spans +
                 splice->list_capacity * sizeof *splice->list;
  for (uint32_t i = 0; i < GRID_AXES; i++)
    bytes += room->number_capacity[i] * sizeof *room->numbers[i];
  for (const struct edition *edition = index->now; edition; edition = edition->next)
    bytes += indexing_edition_bytes(edition);
  return bytes;
}

/* ---- searches of hosts in C ---- */

static ecs_status indexing_find_start(ecs_index *index, bool fits, ecs_found *found) {
  world_be_sure(index->world);
  *found = (ecs_found){.index = index};
  return fits ? index_refresh(index) : index_refuse(index);
}

ecs_status ecs_index_within(ecs_index *index, const double *at, double reach, ecs_found *found) {
  ecs_status status = indexing_find_start(index, index->desc.by == ECS_BY_GRID, found);
  if (status == ECS_OK) search_begin(&found->search, &index->now->grid, at, reach);
  return status;
}

static void indexing_find_come_to(ecs_found *found, uint32_t row) {
  found->row = row;
  found->entity = copies_entities(&found->index->now->copies)[row];
}

bool ecs_found_next(ecs_found *found) {
  uint32_t row = edition_next(&found->search);
  if (row != NONE) indexing_find_come_to(found, row);
  return row != NONE;
}

ecs_status ecs_index_nearest(ecs_index *index, const double *at, double reach, ecs_id except,
                             ecs_found *found) {
  ecs_status status = indexing_find_start(index, index->desc.by == ECS_BY_GRID, found);
  if (status != ECS_OK) return status;
  const struct copies *copies = &index->now->copies;
  const struct rivals rivals = {copies_entities(copies), copies_order(copies), except};
  uint32_t row = search_nearest(&index->now->grid, at, reach, &rivals, &found->distance);
  if (row == NONE)
    return world_fail(index->world, ECS_EABSENT, "index '%s' has no entity within the distance",
                      index->desc.name);
  indexing_find_come_to(found, row);
  return ECS_OK;
}

ecs_status ecs_index_equal(ecs_index *index, const ecs_value *key, ecs_found *found) {
  bool fits = index->desc.by == ECS_BY_HASH || index->desc.by == ECS_BY_MAYBE;
  ecs_status status = indexing_find_start(index, fits, found);
  if (status == ECS_OK)
    keyed_equal(&index->now->keyed, key_wanted(index->world, key), &found->search);
  return status;
}

ecs_status ecs_index_range(ecs_index *index, const ecs_value *least, const ecs_value *most,
                           ecs_found *found) {
  ecs_status status = indexing_find_start(index, index->desc.by == ECS_BY_ORDER, found);
  if (status == ECS_OK)
    keyed_range(&index->now->keyed, key_wanted(index->world, least),
                key_wanted(index->world, most), &found->search);
  return status;
}

ecs_status ecs_index_lowest(ecs_index *index, uint32_t most, ecs_found *found) {
  ecs_status status = indexing_find_start(index, index->desc.by == ECS_BY_ORDER, found);
  if (status == ECS_OK) keyed_lowest(&index->now->keyed, most, &found->search);
  return status;
}

ecs_status ecs_index_highest(ecs_index *index, uint32_t most, ecs_found *found) {
  ecs_status status = indexing_find_start(index, index->desc.by == ECS_BY_ORDER, found);
  if (status == ECS_OK) keyed_highest(&index->now->keyed, most, &found->search);
  return status;
}

/* ---- copies ---------------------------------------------------------------------------- */

/* While keys are computed: the rows of the query. */
static const struct copies *indexing_copies_of(const ecs_index *index) {
  return index->busy ? &index->rows : index->now ? &index->now->copies : NULL;
}

const void *ecs_index_column(const ecs_index *index, uint32_t term, uint32_t leaf) {
  const struct copies *copies = indexing_copies_of(index);
  if (!copies) return NULL;
  for (uint32_t i = 0; i < copies->column_count; i++) {
    const struct copy_column *column = &copies->columns[i];
    if (column->component && column->term == term && column->term_leaf == leaf)
      return column->cells.data;
  }
  return NULL;
}

size_t ecs_index_count(const ecs_index *index) {
  const struct copies *copies = indexing_copies_of(index);
  return copies ? copies->count : 0;
}

ecs_id ecs_index_entity(const ecs_index *index, size_t row) {
  assert(row < ecs_index_count(index));
  return copies_entities(indexing_copies_of(index))[row];
}
