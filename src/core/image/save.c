#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/base/types.h"
#include "core/ids/world.h"
#include "core/image/stream.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"
#include "ecs_image.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc -O2 does not vectorise the loops over rows. */
#pragma GCC optimize ("O3")
#endif

#define BATCH 512u
#define ROW_BATCH 4096u      /* rows that fit in the first cache */

struct saver {
  ecs_world *world;
  const ecs_codec *codec;
  struct writer *out;
  const void **components;         /* by place: save_listed */
  uint32_t component_count;
  uint32_t *places;                /* component index -> place */
  uint32_t *strings;               /* string number -> place plus 1 */
  uint32_t *string_order;          /* the numbers by place */
  uint32_t string_count;
  const void **names;              /* struct name: save_arrange_names */
  struct timings timings;
  const void **phases, **systems;  /* timings by name: save_system */
  uint32_t *targets;               /* of one table's pairs of one relation */
  struct arena arena;              /* of all lists but that of the components */
  ecs_status status;
};

/* The component of a place in the image. */
static inline const struct component *save_listed(const struct saver *saver, uint32_t place) {
  return saver->components[place];
}

/* The timings of a system. */
static inline const ecs_system *save_system(const struct saver *saver, uint32_t at) {
  return saver->systems[at];
}

/* ---- built-in relations that are not used ---- */

static bool save_is_not_in(const struct cells *cells, void *ud) {
  const ecs_id *id = ud, *ids = cells->data;
  uint32_t at = 0;
  while (at < cells->count && ids[at] != *id) at++;
  return at == cells->count;
}

/* Whether anything that is saved refers to a built-in relation. */
static bool save_uses_builtin(const ecs_world *world, const struct component *component) {
  ecs_id id = component->id;
  uint32_t at = ecs_id_index(id);
  const struct id_record *uses = graph_uses(world, component);
  for (uint32_t i = 0; uses && i < uses->table_count; i++)
    if (world_table(world, uses->tables[i])->count) return true;
  for (uint32_t i = 0; i < world->sparses.count; i++)
    if (sparse_row(world->sparses.list[i], at) != NONE) return true;
  return component->watched || entity_record(&world->entities, at)->table != RECORD_BARE ||
         relation_has_sources(world, at) || map_get(&world->names.by_entity, at) != NONE ||
         !cells_each(world, ECS_ENTITY, CELLS_STORED, save_is_not_in, &id);
}

/* A call that names a built-in relation declares it, even if the call then fails: unused ones are
** not content. Prefabs need all of them. */
static void save_drop_builtins(struct saver *saver) {
  const ecs_world *world = saver->world;
  const struct relation *prefab = world->relations.prefab;
  bool keep = prefab && save_uses_builtin(world, prefab->component);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct component *component = save_listed(saver, i);
    bool builtin = !keep && builtin_is(component->name, component->name_size);
    if (!builtin || save_uses_builtin(world, component))
      saver->components[kept++] = saver->components[i];
  }
  saver->component_count = kept;
}

/* ---- pairs ---- */

/* A component's or entity's number in the image, by its index: for a component, its place. */
static uint32_t save_index_of(const struct saver *saver, uint32_t index) {
  return index < FIRST_ENTITY ? saver->places[index] + 1 : index;
}

/* Lists a table's pairs of a relation in the image's order, and returns their number. */
static uint32_t save_list_pairs(struct saver *saver, const struct table *table,
                                const struct component *component) {
  uint32_t count = 0;
  for (uint32_t i = 0; table->has_pairs && i < table->id_count; i++) {
    ecs_id id = table->ids[i];
    if (!id_is_pair(id) || pair_relation(id) != ecs_id_index(component->id)) continue;
    uint32_t target = save_index_of(saver, pair_target(id)), at = count++;
    for (; at > 0 && saver->targets[at - 1] > target; at--)
      saver->targets[at] = saver->targets[at - 1];
    saver->targets[at] = target;
  }
  return count;
}

/* The nth pair that save_list_pairs has listed. */
static ecs_id save_pair_listed(const struct saver *saver, const struct component *component,
                               uint32_t n) {
  uint32_t target = saver->targets[n];
  if (target < FIRST_ENTITY) target = ecs_id_index(save_listed(saver, target - 1)->id);
  return pair_make(ecs_id_index(component->id), target);
}

/* ---- cells ---- */

static uint64_t save_id_of(const struct saver *saver, ecs_id id) {
  id = entity_target(saver->world, id);
  if (id == ECS_NULL || ecs_id_index(id) >= FIRST_ENTITY) return id;
  return saver->places[ecs_id_index(id)] + 1;
}

static void save_entities(struct saver *saver, const uint64_t *ids, uint32_t count) {
  uint64_t batch[BATCH];
  for (uint32_t i = 0; i < count;) {
    uint32_t n = 0;
    while (n < BATCH && i < count) batch[n++] = save_id_of(saver, ids[i++]);
    write_numbers(saver->out, batch, 8, n);
  }
}

static void save_strings(struct saver *saver, const uint32_t *numbers, uint32_t count) {
  uint32_t batch[BATCH];
  for (uint32_t i = 0; i < count;) {
    uint32_t n = 0;
    for (; n < BATCH && i < count; i++) batch[n++] = numbers[i] ? saver->strings[numbers[i]] : 0;
    write_numbers(saver->out, batch, 4, n);
  }
}

static void save_any(struct saver *saver, const struct component *component,
                     const struct leaf *leaf, uint32_t slot) {
  const char *data = NULL;
  size_t size = 0;
  if (slot == 0) {
    write_u32(saver->out, NONE);
    return;
  }
  const ecs_codec *codec = saver->codec;
  bool written = codec && codec->encode && saver->status == ECS_OK &&
                 codec->encode(codec->ud, slot, &data, &size) && size < IMAGE_TEXT_LIMIT;
  if (written) {
    write_text(saver->out, data, size);
  } else if (saver->status == ECS_OK) {
    saver->status = world_fail(saver->world, codec && codec->encode ? ECS_EUSER : ECS_ETYPE,
                               "component '%s' cannot be saved: field '%s' is `any`%s",
                               component->name, leaf->name,
                               codec ? " and the codec refused it" : "; give a codec");
  }
}

/* Writes cells of one of a component's leaves. */
static void save_cells(struct saver *saver, const struct component *component, uint32_t leaf_at,
                       const void *data, uint32_t count) {
  const struct leaf *leaf = &component->leaves[leaf_at];
  switch (type_class(leaf->type)) {
    case CLASS_ID: save_entities(saver, data, count); break;
    case CLASS_TEXT: save_strings(saver, data, count); break;
    case CLASS_SLOT:
      for (uint32_t i = 0; i < count; i++)
        save_any(saver, component, leaf, ((const uint32_t *)data)[i]);
      break;
    default: write_numbers(saver->out, data, leaf->size, count); break;
  }
}

/* ---- rows and columns ---- */

/* Writes the entities of a table's rows (0 for none). Components have rows, too, and are written by
** place. */
static void save_rows(struct saver *saver, const struct table *table) {
  for (uint32_t i = 0; i < table->count; i += ROW_BATCH) {
    const uint32_t *rows = table->rows + i;
    uint32_t count = table->count - i < ROW_BATCH ? table->count - i : ROW_BATCH, components = 0;
    for (uint32_t j = 0; j < count; j++) components |= rows[j] && rows[j] < FIRST_ENTITY;
    for (uint32_t j = 0; components && j < count; j++)
      write_u32(saver->out, save_index_of(saver, rows[j]));
    if (!components) write_numbers(saver->out, rows, sizeof *rows, count);
  }
}

/* Writes one component's columns, by its id in the table. */
static void save_columns(struct saver *saver, const struct table *table,
                         const struct component *component, ecs_id id) {
  uint32_t first = table_column(table, id);
  for (uint32_t j = 0; first != NONE && j < component->leaf_count; j++) {
    write_u32(saver->out, component->leaves[j].size);
    if (table->count)
      save_cells(saver, component, j, table->columns[first + j].data, table->count);
  }
}

/* ---- things without an order of their own ---- */

static bool save_name_precedes(const void *one, const void *two) {
  const struct name *a = one, *b = two;
  int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
  if (order != 0 || a->size != b->size) return order < 0 || (order == 0 && a->size < b->size);
  uint32_t at = ecs_id_index(b->entity);
  return at >= FIRST_ENTITY && ecs_id_index(a->entity) < at;
}

static uint32_t save_count_pairs(const struct table *table) {
  uint32_t pairs = 0;
  for (uint32_t i = 0; i < table->id_count; i++) pairs += id_is_pair(table->ids[i]);
  return pairs;
}

/* ---- strings, in the order of their first use ---- */

static void save_name_strings(struct saver *saver, const uint32_t *numbers, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = numbers[i];
    if (number == 0 || saver->strings[number]) continue;
    saver->string_order[saver->string_count++] = number;
    saver->strings[number] = saver->string_count;
  }
}

static void save_name_component_strings(struct saver *saver, const struct component *component) {
  if (!component->has_string) return;
  for (uint32_t i = 0; i < component->leaf_count; i++)
    if (component->leaves[i].type == ECS_STRING)
      save_name_strings(saver, &component->leaves[i].value.u32, 1);
  for (uint32_t i = 0; component->resource && i < component->leaf_count; i++)
    if (component->leaves[i].type == ECS_STRING)
      save_name_strings(saver, component->resource[i].data, 1);
}

static void save_name_column_strings(struct saver *saver, const struct table *table,
                                     const struct component *component, ecs_id id) {
  uint32_t first = component->has_string ? table_column(table, id) : NONE;
  for (uint32_t j = 0; first != NONE && j < component->leaf_count; j++)
    if (component->leaves[j].type == ECS_STRING)
      save_name_strings(saver, table->columns[first + j].data, table->count);
}

static void save_name_table_strings(struct saver *saver, const struct table *table) {
  for (uint32_t i = 0; table && table->count && i < saver->component_count; i++) {
    const struct component *component = save_listed(saver, i);
    save_name_column_strings(saver, table, component, component->id);
    uint32_t targets = save_list_pairs(saver, table, component);
    for (uint32_t j = 0; j < targets; j++)
      save_name_column_strings(saver, table, component, save_pair_listed(saver, component, j));
  }
}

/* The table of a sparse component or event. */
static const struct table *save_table_beside(const struct component *component) {
  if (component->event) return component->event->table;
  return component->sparse ? component->sparse->table : NULL;
}

/* ---- sections ---- */

static void save_hint(struct saver *saver, const char *text) {
  if (text)
    write_text(saver->out, text, strlen(text));
  else
    write_u32(saver->out, NONE);
}

static void save_field(struct saver *saver, const struct field *field) {
  struct writer *out = saver->out;
  write_text(out, field->name, field->name_size);
  save_hint(saver, field->text);
  write_u8(out, type_code(field->type));
  write_u32(out, field->count);
  write_u32(out, field->nested ? saver->places[ecs_id_index(field->nested->id)] : NONE);
  write_u8(out, field->has_value);
  write_u32(out, field->names ? field->names->count : 0);
  for (uint32_t i = 0; field->names && i < field->names->count; i++)
    write_text(out, field->names->names[i].data, field->names->names[i].size);
  save_hint(saver, field->doc);
  save_hint(saver, field->unit);
  save_hint(saver, field->min);
  save_hint(saver, field->max);
}

static uint8_t save_flags_of(const struct component *component) {
  const struct tie_kind *ties = &component->ties;
  if (component->length) return IMAGE_ARRAY;
  if (component->is_event) return IMAGE_EVENT;
  return (uint8_t)((component->resource ? IMAGE_RESOURCE : 0) |
                   (component->toggle ? IMAGE_TOGGLE : 0) | (ties->acyclic ? IMAGE_ACYCLIC : 0) |
                   (ties->relation ? IMAGE_RELATION : 0) | (ties->exclusive ? IMAGE_EXCLUSIVE : 0) |
                   (ties->policy == ECS_TARGET_DESPAWN ? IMAGE_DESPAWNS : 0) |
                   (ties->policy == ECS_TARGET_ERROR ? IMAGE_REFUSES : 0) |
                   (component->is_sparse ? IMAGE_SPARSE : 0));
}

static void save_resource(struct saver *saver, const struct component *component) {
  for (uint32_t i = 0; i < component->leaf_count; i++)
    save_cells(saver, component, i, component->resource[i].data, component_cells(component));
}

static void save_component(struct saver *saver, const struct component *component) {
  struct writer *out = saver->out;
  write_text(out, component->name, component->name_size);
  save_hint(saver, component->doc);
  write_u8(out, save_flags_of(component));
  if (component->length) write_u32(out, component->length);
  write_u32(out, component->field_count);
  for (uint32_t i = 0; i < component->field_count; i++)
    save_field(saver, &component->fields[i]);
  write_u32(out, component->leaf_count);
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    uint64_t bits = cell_bits(leaf->size, leaf->value);
    if (leaf->type == ECS_STRING && bits) bits = saver->strings[bits];
    if (leaf->type == ECS_ENTITY) bits = ECS_NULL;
    write_u32(out, leaf->size);
    write_u64(out, bits);
  }
  if (component->resource && !component->length) save_resource(saver, component);
}

/* The place after `last` among those that a component requires; NONE at the end. */
static uint32_t save_next_required(const struct saver *saver, const struct component *component,
                                   uint32_t last) {
  uint32_t next = NONE;
  for (uint32_t i = 0; i < component->require_count; i++) {
    uint32_t place = saver->places[ecs_id_index(component->requires[i])];
    if ((last == NONE || place > last) && place < next) next = place;
  }
  return next;
}

static uint8_t save_state_of(const struct record *record) {
  uint32_t table = record->table;
  return table <= RECORD_BARE ? SLOT_ALIVE : table == RECORD_UNBORN ? SLOT_UNBORN
         : table == RECORD_RETIRED ? SLOT_RETIRED
         : table == RECORD_PARTED ? SLOT_PARTED : SLOT_FREE;
}

/* The start of the first page, at or after `at`, that has ever had a live slot; INDEX_LIMIT if
** there is none. */
static uint32_t save_next_page(const struct entity_index *index, uint32_t at) {
  for (;;) {
    at = entity_next_slot(index, at) & ~(INDEX_PAGE - 1);
    if (at >= INDEX_LIMIT) return INDEX_LIMIT;
    struct slots slots = entity_slots(index, at);
    for (uint32_t i = 0; i < slots.count && i < INDEX_PAGE; i++)
      if (slots.records[i].table != RECORD_UNBORN) return at;
    at += INDEX_PAGE;
  }
}

static void save_page(struct saver *saver, uint32_t at) {
  struct slots slots = entity_slots(&saver->world->entities, at);
  uint16_t generations[INDEX_PAGE];
  uint8_t states[INDEX_PAGE];
  uint32_t count = slots.count < INDEX_PAGE ? slots.count : INDEX_PAGE;
  memset(generations, 0, sizeof generations);
  memset(states, SLOT_UNBORN, sizeof states);
  memcpy(generations, slots.generations, count * sizeof *generations);
  for (uint32_t i = 0; i < count; i++) states[i] = save_state_of(&slots.records[i]);
  write_u32(saver->out, at >> PAGE_BITS);
  write_numbers(saver->out, generations, 2, INDEX_PAGE);
  write_bytes(saver->out, states, INDEX_PAGE);
}

static void save_index(struct saver *saver) {
  const struct entity_index *index = &saver->world->entities;
  const struct range *range = &index->entities;
  struct writer *out = saver->out;
  write_u32(out, range->first);
  write_u32(out, range->last);
  write_u32(out, range->next);
  write_u32(out, range->free_count);
  uint32_t at, pages = 0;
  for (at = range->free_head; at; at = entity_record(index, at)->row) write_u32(out, at);
  for (at = FIRST_ENTITY; (at = save_next_page(index, at)) < INDEX_LIMIT; at += INDEX_PAGE) pages++;
  write_u32(out, pages);
  for (at = FIRST_ENTITY; (at = save_next_page(index, at)) < INDEX_LIMIT; at += INDEX_PAGE)
    save_page(saver, at);
}

static void save_pairs(struct saver *saver, const struct table *table) {
  write_u32(saver->out, save_count_pairs(table));
  for (uint32_t i = 0; table->has_pairs && i < saver->component_count; i++) {
    uint32_t count = save_list_pairs(saver, table, save_listed(saver, i));
    for (uint32_t j = 0; j < count; j++) {
      write_u32(saver->out, i);
      write_u32(saver->out, saver->targets[j]);
    }
  }
}

static void save_toggles(struct saver *saver, const struct table *table) {
  for (uint32_t i = 0; table->toggle_count && i < saver->component_count; i++) {
    const struct toggle *toggle = toggle_of(table, save_listed(saver, i)->id);
    if (!toggle) continue;
    write_u32(saver->out, toggle->off);
    if (toggle->off)
      write_numbers(saver->out, toggle->bits, sizeof *toggle->bits, toggle_words(table->count));
  }
}

static void save_table(struct saver *saver, const struct table *table) {
  write_u32(saver->out, table->id_count - save_count_pairs(table));
  for (uint32_t i = 0; i < saver->component_count; i++)
    if (table_has(table, save_listed(saver, i)->id)) write_u32(saver->out, i);
  save_pairs(saver, table);
  write_u8(saver->out, 0);
  write_u32(saver->out, table->count);
  save_rows(saver, table);
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct component *component = save_listed(saver, i);
    save_columns(saver, table, component, component->id);
  }
  for (uint32_t i = 0; table->has_pairs && i < saver->component_count; i++) {
    const struct component *component = save_listed(saver, i);
    uint32_t count = save_list_pairs(saver, table, component);
    for (uint32_t n = 0; n < count; n++)
      save_columns(saver, table, component, save_pair_listed(saver, component, n));
  }
  save_toggles(saver, table);
}

/* Empty tables are not content: they have no place in the order. */
static void save_tables(struct saver *saver) {
  const ecs_world *world = saver->world;
  const struct id_record *all = graph_all(world);
  uint32_t filled = 0;
  for (uint32_t i = 0; i < all->table_count; i++)
    filled += world_table(world, all->tables[i])->count > 0;
  write_u32(saver->out, filled);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    if (table->count) save_table(saver, table);
  }
}

static void save_later(struct saver *saver, const struct component *component) {
  const struct later *later = &component->event->later;
  write_u32(saver->out, later->table->count);
  if (later->table->count == 0) return;
  save_rows(saver, later->table);
  save_columns(saver, later->table, component, component->id);
  write_f64(saver->out, later->clock);
  for (uint32_t i = 0; i < later->table->count; i++) write_f64(saver->out, later->due[i]);
}

static void save_beside(struct saver *saver, const struct component *component) {
  const struct table *table = save_table_beside(component);
  if (!table) return;
  write_u32(saver->out, table->count);
  save_rows(saver, table);
  save_columns(saver, table, component, component->id);
  save_toggles(saver, table);
  if (!component->event) return;
  /* How old an event's rows are, and what systems have seen of them. */
  const struct event *event = component->event;
  write_u32(saver->out, event_row(event, event->aged));
  for (uint32_t i = 0; i < saver->timings.systems.count; i++) {
    const ecs_system *system = save_system(saver, i);
    if (system->event != event->component->id) continue;
    uint32_t seen = event_row(event, system->seen), awaited = event_row(event, system->awaited);
    if (seen == 0 && awaited == 0) continue;
    write_u8(saver->out, 1);
    write_text(saver->out, system->name, strlen(system->name));
    write_u32(saver->out, seen);
    write_u32(saver->out, awaited);
  }
  write_u8(saver->out, 0);
  save_later(saver, component);
}

static void save_sources(struct saver *saver, const struct ties *ties, uint32_t target) {
  for (uint32_t at = ties_first(ties, target); at; at = ties_next(ties, at))
    write_u32(saver->out, save_index_of(saver, at));
}

/* Sources that are components come first, by place. */
static void save_ties(struct saver *saver, const struct ties *ties) {
  write_u32(saver->out, ties->count);
  for (uint32_t i = 0; i < saver->component_count; i++)
    save_sources(saver, ties, ecs_id_index(save_listed(saver, i)->id));
  for (uint32_t at = FIRST_ENTITY; (at = ties_next_end(ties, at)) != 0; at++)
    save_sources(saver, ties, at);
}

static void save_names(struct saver *saver) {
  const struct name_table *names = &saver->world->names;
  write_u32(saver->out, names->count);
  for (uint32_t i = 0; i < names->count; i++) {
    const struct name *name = saver->names[i];
    write_u64(saver->out, save_id_of(saver, name->entity));
    write_text(saver->out, name->text, name->size);
  }
}

/* The query by which a present system reads changes; NULL if the system is absent. */
static const ecs_query *save_asks(const ecs_world *world, const ecs_system *known) {
  const ecs_system *system = schedule_system(world, known->name, strlen(known->name));
  const char *query = system && system->reads ? timings_query(system) : NULL;
  return query && strcmp(query, known->asked) == 0 ? system->reads : NULL;
}

static bool save_query_names(const ecs_query *query, const struct component *component) {
  for (uint32_t i = 0; query && i < query->terms.count; i++)
    if (query->terms.terms[i].news && query->terms.terms[i].component == component) return true;
  return false;
}

/* The run up to which all systems that read its changes have seen them; UINT64_MAX if none reads
** them. For absent systems, the image says what they read. */
static uint64_t save_known_to_all(const struct saver *saver, const struct component *component) {
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; component->watched && i < saver->timings.systems.count; i++) {
    const ecs_system *known = save_system(saver, i);
    if (!known->asked || known->news >= least) continue;
    const ecs_query *query = save_asks(saver->world, known);
    if (query ? save_query_names(query, component) : component->asked) least = known->news;
  }
  return least;
}

/* Queries of scripts do not count, since they may be gone by now. */
static bool save_has_changes(const struct saver *saver) {
  for (uint32_t i = 0; i < saver->timings.systems.count; i++)
    if (save_system(saver, i)->asked) return true;
  for (uint32_t i = 0; i < saver->component_count; i++)
    if (save_listed(saver, i)->track) return true;
  return false;
}

/* Marks that all readers have seen are written with one value, whenever they were set. */
static void save_marks(struct saver *saver, const struct table *table, ecs_id id, uint64_t known) {
  const struct marks *marks = marks_of(table, id);
  if (!marks || table->count == 0) return;
  assert(marks->groups && (!marks->tracked || marks->rows));
  for (uint32_t i = 0; i < mark_groups(table->count); i++)
    write_u64(saver->out, marks->groups[i] < known ? known : marks->groups[i]);
  if (!marks->tracked) return;
  write_numbers(saver->out, marks->rows, sizeof *marks->rows, table->count);
  write_numbers(saver->out, marks->added, sizeof *marks->added, table->count);
}

static void save_marks_of(struct saver *saver, const struct component *component,
                          uint64_t known) {
  const struct id_record *all = graph_all(saver->world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(saver->world, all->tables[i]);
    save_marks(saver, table, component->id, known);
    uint32_t count = save_list_pairs(saver, table, component);
    for (uint32_t j = 0; j < count; j++)
      save_marks(saver, table, save_pair_listed(saver, component, j), known);
  }
  if (component->sparse) save_marks(saver, component->sparse->table, component->id, known);
}

static void save_changes(struct saver *saver) {
  write_u64(saver->out, saver->world->now);
  for (uint32_t i = 0; i < saver->timings.systems.count; i++) {
    const ecs_system *system = save_system(saver, i);
    if (!system->asked) continue;
    write_u8(saver->out, 1);
    write_text(saver->out, system->name, strlen(system->name));
    write_text(saver->out, system->asked, strlen(system->asked));
    write_u64(saver->out, system->news);
  }
  write_u8(saver->out, 0);
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct component *component = saver->components[i];
    uint64_t known = component->track ? 0 : save_known_to_all(saver, component);
    write_u8(saver->out, component->track ? 2 : known < UINT64_MAX);
    if (known < UINT64_MAX) save_marks_of(saver, component, known);
  }
}

/* Whether anything has happened to a phase or system since it was registered. */
static bool save_has_timing(const struct saver *saver, const ecs_system *system) {
  return system->timer > 0 || system->elapsed > 0 || system->has_run || system->parked ||
         system->switched || streams_before(saver->world, system);
}

static uint32_t save_count_timings(const struct saver *saver, const void **list, uint32_t count) {
  uint32_t timings = 0;
  for (uint32_t i = 0; i < count; i++) timings += save_has_timing(saver, list[i]);
  return timings;
}

static void save_schedule(struct saver *saver) {
  struct writer *out = saver->out;
  uint32_t phases = saver->timings.phases.count, systems = saver->timings.systems.count;
  write_u32(out, save_count_timings(saver, saver->phases, phases));
  for (uint32_t i = 0; i < phases; i++) {
    const ecs_system *phase = saver->phases[i];
    if (!save_has_timing(saver, phase)) continue;
    write_text(out, phase->name, strlen(phase->name));
    write_f64(out, phase->timer);
    write_u8(out, phase->enabled);
  }
  bool changes = save_has_changes(saver);
  write_u32(out, save_count_timings(saver, saver->systems, systems) |
                     (changes ? IMAGE_CHANGES : 0));
  for (uint32_t i = 0; i < systems; i++) {
    const ecs_system *system = save_system(saver, i);
    if (!save_has_timing(saver, system)) continue;
    write_text(out, system->name, strlen(system->name));
    write_f64(out, system->timer);
    write_f64(out, system->elapsed);
    write_u8(out, (uint8_t)(system->enabled | system->has_run << 1 | system->parked << 2 |
                            system->switched << 3));
    write_u64(out, streams_before(saver->world, system));
  }
  if (changes) save_changes(saver);
}

static void save_all(struct saver *saver) {
  ecs_world *world = saver->world;
  struct writer *out = saver->out;
  write_bytes(out, IMAGE_MAGIC, 8);
  write_u32(out, IMAGE_VERSION);
  write_u32(out, world->entities.tag);
  write_u64(out, world->seed);
  write_u64(out, world->tick);
  write_u64(out, world->chance.opened);
  write_u64(out, world->chance.calls);
  write_u32(saver->out, saver->string_count);
  for (uint32_t i = 0; i < saver->string_count; i++) {
    ecs_string text = intern_text(&saver->world->strings, saver->string_order[i]);
    write_text(saver->out, text.data, text.size);
  }
  write_u32(out, saver->component_count);
  for (uint32_t i = 0; i < saver->component_count; i++)
    save_component(saver, save_listed(saver, i));
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct component *component = save_listed(saver, i);
    write_u32(saver->out, component->require_count);
    uint32_t place = NONE;
    while ((place = save_next_required(saver, component, place)) != NONE)
      write_u32(saver->out, place);
  }
  for (uint32_t i = 0; i < saver->component_count; i++)
    if (save_listed(saver, i)->length) save_resource(saver, save_listed(saver, i));
  save_index(saver);
  save_tables(saver);
  for (uint32_t i = 0; i < saver->component_count; i++)
    save_beside(saver, save_listed(saver, i));
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct relation *relation = save_listed(saver, i)->relation;
    if (relation && relation->exclusive) save_ties(saver, &relation->ties);
  }
  save_names(saver);
  save_schedule(saver);
}

/* The largest number of ids in a table, plus one, so it is never 0. */
static uint32_t save_most_ids(const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  uint32_t most = 0;
  for (uint32_t i = 0; i < all->table_count; i++)
    if (world_table(world, all->tables[i])->id_count > most)
      most = world_table(world, all->tables[i])->id_count;
  return most + 1;
}

static void *save_take(struct saver *saver, size_t count, size_t size) {
  return arena_take(&saver->world->memory, &saver->arena, count * size);
}

static bool save_reserve(struct saver *saver) {
  ecs_world *world = saver->world;
  const struct timings *timings = &saver->timings;
  if (timings_take(world, &saver->timings) != ECS_OK) return false;
  size_t strings = world->strings.count + (size_t)1, names = merge_sort_room(world->names.count);
  saver->components = image_components(world, &saver->component_count);
  saver->places = save_take(saver, world->registry.count + (size_t)1, sizeof(uint32_t));
  saver->strings = save_take(saver, strings, sizeof(uint32_t));
  saver->string_order = save_take(saver, strings, sizeof(uint32_t));
  saver->names = save_take(saver, names, sizeof(void *));
  saver->targets = save_take(saver, save_most_ids(world), sizeof(uint32_t));
  saver->phases = save_take(saver, merge_sort_room(timings->phases.count), sizeof(void *));
  saver->systems = save_take(saver, merge_sort_room(timings->systems.count), sizeof(void *));
  saver->out = save_take(saver, 1, sizeof *saver->out);
  return saver->components && saver->places && saver->strings && saver->string_order &&
         saver->names && saver->targets && saver->phases && saver->systems && saver->out;
}

/* Sorts names by their bytes. Children of two parents may have equal names: then components come
** first, by place, and others by index. */
static void save_arrange_names(struct saver *saver) {
  const struct name_table *names = &saver->world->names;
  uint32_t count = 0;
  for (uint32_t i = 0; names->count && i < saver->component_count; i++) {
    uint32_t at = map_get(&names->by_entity, ecs_id_index(save_listed(saver, i)->id));
    if (at != NONE) saver->names[count++] = &names->names[at];
  }
  for (uint32_t i = 0; i < names->count; i++)
    if (ecs_id_index(names->names[i].entity) >= FIRST_ENTITY)
      saver->names[count++] = &names->names[i];
  assert(count == names->count);
  merge_sort(saver->names, count, save_name_precedes);
}

static bool save_timing_precedes(const void *one, const void *two) {
  return strcmp(((const ecs_system *)one)->name, ((const ecs_system *)two)->name) < 0;
}

static void save_arrange_timings(const struct timing_list *list, const void **out) {
  for (uint32_t i = 0; i < list->count; i++) out[i] = list->items[i];
  merge_sort(out, list->count, save_timing_precedes);
}

/* Gives everything its place in the image. */
static void save_arrange(struct saver *saver) {
  for (uint32_t i = 0; i < saver->component_count; i++)
    saver->places[ecs_id_index(save_listed(saver, i)->id)] = i;
  save_arrange_names(saver);
  save_arrange_timings(&saver->timings.phases, saver->phases);
  save_arrange_timings(&saver->timings.systems, saver->systems);
  const ecs_world *world = saver->world;
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < saver->component_count; i++)
    save_name_component_strings(saver, save_listed(saver, i));
  for (uint32_t i = 0; i < all->table_count; i++)
    save_name_table_strings(saver, world_table(world, all->tables[i]));
  for (uint32_t i = 0; i < saver->component_count; i++) {
    const struct component *component = save_listed(saver, i);
    save_name_table_strings(saver, save_table_beside(component));
    if (component->event) save_name_table_strings(saver, component->event->later.table);
  }
}

ecs_status ecs_save(ecs_world *world, ecs_write_fn write, void *ud, const ecs_codec *codec) {
  ecs_status status = world_is_idle(world, "save");
  if (status != ECS_OK) return status;
  struct saver saver = {.world = world, .codec = codec};
  if (save_reserve(&saver)) {
    save_drop_builtins(&saver);
    save_arrange(&saver);
    writer_begin(saver.out, write, ud);
    save_all(&saver);
    bool written = writer_end(saver.out);
    status = saver.status;
    if (status == ECS_OK && !written)
      status = world_fail(world, ECS_EUSER, "the writer stopped");
  } else {
    status = world_nomem(world);
  }
  image_components_free(world, saver.components);
  timings_free(world, &saver.timings);
  arena_free(&world->memory, &saver.arena);
  return status;
}
