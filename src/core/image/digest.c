/* The digest: a sum over entities, so that their order does not count; each entity's share
** mixes the sum over its cells and its id, so that neither does the order of components.
** Each cell enters by a multiplication with keys of its field, as in NH of UMAC (Black et
** al., CRYPTO '99); sums are mixed by the finalizer of MurmurHash3 (A. Appleby). */
#if defined(__GNUC__) && !defined(__clang__)
/* gcc -O2 does not vectorise the sums over blocks of rows. */
#pragma GCC optimize ("O3")
#endif

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/registry.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"
#include "ecs_image.h"

#define BLOCK 512u

static uint64_t digest_mix(uint64_t x) {
  x = (x ^ x >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
  x = (x ^ x >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
  return x ^ x >> 33;
}

static uint64_t digest_hash_text(const char *text, size_t size) {
  return digest_mix(text_hash64(text, size) ^ size);
}

/* Hashes an id without its world; components by name. */
static uint64_t digest_hash_target(const ecs_world *world, ecs_id id) {
  id = entity_target(world, id);
  const struct component *component = id ? component_of(world, id) : NULL;
  if (component) return digest_hash_text(component->name, component->name_size);
  return digest_mix(id & (((uint64_t)1 << 44) - 1));
}

/* Includes the type: equal bits in fields of two types are different content. */
static uint64_t digest_leaf_key(const struct component *component, const struct leaf *leaf) {
  uint64_t name = digest_hash_text(component->name, component->name_size);
  return digest_mix(name + digest_hash_text(leaf->name, leaf->name_size) + type_code(leaf->type));
}

/* Both factors depend on all of a 32-bit value, and on both halves of a 64-bit one. */
static uint64_t digest_product(uint64_t value, uint64_t key) {
  uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
  uint64_t a = low + (uint32_t)key;
  uint64_t b = (low ^ high ^ (uint32_t)(key >> 32)) | 1;
  return (uint32_t)a * b + ((uint64_t)high << 32 ^ a) * 0x9E3779B1u;
}

/* The product of a 32-bit value with a key, in the fewest instructions. */
static uint64_t digest_short_product(uint32_t value, uint64_t key) {
  uint32_t a = value + (uint32_t)key, b = (value ^ (uint32_t)(key >> 32)) | 1;
  return (uint64_t)a * b;
}

/* Hashes the value of types whose bits alone do not determine it. */
static uint64_t digest_meaning(const ecs_world *world, const struct leaf *leaf,
                               enum type_class class, ecs_cell cell) {
  switch (class) {
    case CLASS_ID: return digest_hash_target(world, cell.u64);
    case CLASS_TEXT: {
      ecs_string text = intern_text(&world->strings, cell.u32);
      return digest_hash_text(text.data, text.size);
    }
    case CLASS_NAMES: {
      int64_t at = cell_integer(leaf->type, leaf->size, cell);
      return digest_hash_text(leaf->names->names[at].data, leaf->names->names[at].size);
    }
    case CLASS_SLOT: return cell.u32 != 0;
    default: return cell_bits(leaf->size, cell);
  }
}

/* Adds floats that include NaNs: all NaNs count as one, since it is up to the compiler which of two
** NaNs an operation keeps. One check for all values, not one for each, saves a third of a digest's
** time. */
static void digest_add_odd(const struct leaf *leaf, const void *data, size_t first, uint32_t count,
                           uint64_t key, uint64_t *sums) {
  for (uint32_t i = 0; i < count; i++) {
    ecs_cell cell = cell_load(data, leaf->size, first + i);
    if (leaf->size == 4)
      sums[i] += digest_short_product(cell.f32 == cell.f32 ? cell.u32 : UINT32_MAX, key);
    else
      sums[i] += digest_product(cell.f64 == cell.f64 ? cell.u64 : UINT64_MAX, key);
  }
}

/* Whether any value is NaN: its bits, without the sign, are above those of infinity. */
static bool digest_has_odd(const struct leaf *leaf, const void *data, size_t first,
                           uint32_t count) {
  const uint32_t *floats = (const uint32_t *)data + first;
  const uint64_t *doubles = (const uint64_t *)data + first;
  uint32_t odd_floats = 0;
  uint64_t odd_doubles = 0;
  for (uint32_t i = 0; leaf->type == ECS_F32 && i < count; i++)
    odd_floats |= 0x7F800000u - (floats[i] & INT32_MAX);
  for (uint32_t i = 0; leaf->type == ECS_F64 && i < count; i++)
    odd_doubles |= UINT64_C(0x7FF0000000000000) - (doubles[i] & INT64_MAX);
  return odd_floats >> 31 || odd_doubles >> 63;
}

static void digest_add_cells(const ecs_world *world, const struct leaf *leaf, const void *data,
                             size_t first, uint32_t count, uint64_t key, uint64_t *sums) {
  enum type_class class = type_class(leaf->type);
  if (!type_is_number(leaf->type) || leaf->size < 4) {
    for (uint32_t i = 0; i < count; i++)
      sums[i] += digest_product(
          digest_meaning(world, leaf, class, cell_load(data, leaf->size, first + i)), key);
  } else if (UNLIKELY(digest_has_odd(leaf, data, first, count))) {
    digest_add_odd(leaf, data, first, count, key, sums);
  } else if (leaf->size == 4) {
    const uint32_t *values = (const uint32_t *)data + first;
    for (uint32_t i = 0; i < count; i++) sums[i] += digest_short_product(values[i], key);
  } else {
    const uint64_t *values = (const uint64_t *)data + first;
    for (uint32_t i = 0; i < count; i++) sums[i] += digest_product(values[i], key);
  }
}

/* What an entity's id adds to its cells: one more cell of all its bits. */
static uint64_t digest_share_of(uint32_t at, uint16_t generation) {
  return ((uint64_t)generation << INDEX_BITS | at) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t digest_id_share(const ecs_world *world, uint32_t at) {
  if (UNLIKELY(at < FIRST_ENTITY))
    return digest_hash_target(world, entity_id(&world->entities, at));
  return digest_share_of(at, *entity_generation(&world->entities, at));
}

/* Adds the entity's id to each row of a list. Most slots are near. */
static void digest_add_ids(const ecs_world *world, const uint32_t *rows, uint32_t count,
                           uint64_t *sums) {
  const struct slots near = world->entities.near;
  uint32_t far = 0;
  for (uint32_t i = 0; i < count; i++) far |= rows[i] - FIRST_ENTITY >= near.count;
  if (UNLIKELY(far)) {
    for (uint32_t i = 0; i < count; i++) sums[i] += digest_id_share(world, rows[i]);
    return;
  }
  for (uint32_t i = 0; i < count; i++)
    sums[i] += digest_share_of(rows[i], near.generations[rows[i] - FIRST_ENTITY]);
}

/* What the target of a pair adds to its relation's name; 0 for a component. */
static uint64_t digest_hash_pair(const ecs_world *world, ecs_id id) {
  return id_is_pair(id)
             ? digest_mix(digest_hash_target(
                              world, entity_id(&world->entities, pair_target(id))) +
                          7)
             : 0;
}

/* Adds what is switched off. */
static void digest_add_toggles(const ecs_world *world, const struct table *table, uint32_t row,
                               uint32_t count, uint64_t *sums) {
  for (uint32_t i = 0; i < table->toggle_count; i++) {
    const struct toggle *toggle = &table->toggles[i];
    const struct component *component = component_of(world, toggle->id);
    uint64_t name = digest_mix(digest_hash_text(component->name, component->name_size) + 11);
    for (uint32_t j = 0; toggle->off && j < count; j++)
      if (toggle_bit(toggle, row + j)) sums[j] += name;
  }
}

static uint64_t digest_hash_table(const ecs_world *world, const struct table *table) {
  uint64_t total = 0, type = 0, sums[BLOCK];
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct component *component = component_of(world, table->ids[i]);
    type += digest_mix(digest_hash_text(component->name, component->name_size) + 1 +
                       digest_hash_pair(world, table->ids[i]));
  }
  for (uint32_t row = 0; row < table->count; row += BLOCK) {
    uint32_t count = table->count - row < BLOCK ? table->count - row : BLOCK;
    for (uint32_t i = 0; i < count; i++) sums[i] = type;
    for (uint32_t i = 0; i < table->column_count; i++) {
      const struct column *column = &table->columns[i];
      const struct leaf *leaf = &column->component->leaves[column->leaf];
      uint64_t key = digest_leaf_key(column->component, leaf) + digest_hash_pair(world, column->id);
      digest_add_cells(world, leaf, column->data, row, count, key, sums);
    }
    if (table->off) digest_add_toggles(world, table, row, count, sums);
    digest_add_ids(world, table->rows + row, count, sums);
    for (uint32_t i = 0; i < count; i++) total += digest_mix(sums[i]);
  }
  return total;
}

/* Hashes the rows of a component in their order: events, or entities that have a sparse one. */
static uint64_t digest_hash_rows(const ecs_world *world, const struct component *component,
                                 const struct table *table, uint64_t salt, bool entities) {
  uint64_t name = digest_mix(digest_hash_text(component->name, component->name_size) + salt);
  uint64_t total = 0;
  for (uint32_t row = 0; row < table->count; row++) {
    uint64_t sum = name + row;
    for (uint32_t i = 0; i < table->column_count; i++)
      digest_add_cells(world, &component->leaves[i], table->columns[i].data, row, 1,
                       digest_leaf_key(component, &component->leaves[i]), &sum);
    if (table->off) digest_add_toggles(world, table, row, 1, &sum);
    sum = digest_mix(sum);
    total += entities ? digest_mix(sum + digest_id_share(world, table->rows[row])) : sum;
  }
  return total;
}

/* Delayed events also enter with their remaining time. */
static uint64_t digest_hash_event(const ecs_world *world, const struct event *event) {
  const struct later *later = &event->later;
  uint64_t total = digest_hash_rows(world, event->component, event->table, 13, false);
  if (later->table->count == 0) return total;
  total += digest_hash_rows(world, event->component, later->table, 17, false);
  for (uint32_t row = 0; row < later->table->count; row++) {
    ecs_cell left = {.f64 = later->due[row] - later->clock};
    total += digest_mix(digest_mix(left.u64 + row) + event->component->name_size);
  }
  return total;
}

/* Hashes the order in which the sources of each target were tied. */
static uint64_t digest_hash_ties(const ecs_world *world, const struct relation *relation) {
  const struct ties *ties = &relation->ties;
  const struct component *component = relation->component;
  uint64_t total = 0, name = digest_hash_text(component->name, component->name_size);
  for (uint32_t end = 0; (end = ties_next_end(ties, end)) != 0; end++)
    for (uint32_t at = ties_first(ties, end), next; (next = ties_next(ties, at)) != 0;
         at = next)
      total += digest_mix(
          name + digest_mix(digest_hash_target(world, entity_id(&world->entities, at)) + 5) +
          digest_hash_target(world, entity_id(&world->entities, next)));
  return total;
}

static uint64_t digest_hash_resource(const ecs_world *world, const struct component *component) {
  uint64_t sum = digest_hash_text(component->name, component->name_size);
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    digest_add_cells(world, leaf, component->resource[i].data, 0, 1,
                     digest_leaf_key(component, leaf), &sum);
  }
  return digest_mix(sum + 2);
}

/* Each cell enters with its place in the array. */
static uint64_t digest_hash_array(const ecs_world *world, const struct component *array) {
  const struct leaf *leaf = &array->leaves[ARRAY_LEAF];
  uint64_t key = digest_leaf_key(array, leaf), total = 0, sums[BLOCK];
  for (uint32_t at = 0; at < array->length; at += BLOCK) {
    uint32_t count = array->length - at < BLOCK ? array->length - at : BLOCK;
    for (uint32_t i = 0; i < count; i++) sums[i] = (at + i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    digest_add_cells(world, leaf, array_data(array), at, count, key, sums);
    for (uint32_t i = 0; i < count; i++) total += digest_mix(sums[i] + key);
  }
  return digest_mix(total + digest_mix(digest_hash_text(array->name, array->name_size) +
                                       array->length));
}

static uint64_t digest_hash_runs(const ecs_world *world, ecs_system *const *systems,
                                 uint32_t count) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t opened = streams_before(world, systems[i]);
    if (opened) total += digest_mix(systems[i]->chance + digest_mix(opened));
  }
  return total;
}

/* Hashes which random numbers come next in this tick; adds nothing right after an update. */
static uint64_t digest_hash_streams(const ecs_world *world) {
  const struct schedule *schedule = world->schedule;
  const struct chance *chance = &world->chance;
  uint64_t total = 0;
  if (chance->opened || chance->calls)
    total = digest_mix(digest_mix(chance->opened + 3) + chance->calls);
  return total + digest_hash_runs(world, schedule->systems, schedule->system_count) +
         digest_hash_runs(world, schedule->absent.systems.items, schedule->absent.systems.count);
}

uint64_t ecs_digest(const ecs_world *world) {
  uint64_t total = 0;
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++)
    total += digest_hash_table(world, world_table(world, all->tables[i]));
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    if (!component || !component->resource) continue;
    total += component->length ? digest_hash_array(world, component)
                               : digest_hash_resource(world, component);
  }
  for (uint32_t i = 0; i < world->sparses.count; i++) {
    const struct sparse *sparse = world->sparses.list[i];
    total += digest_hash_rows(world, sparse->component, sparse->table, 11, true);
  }
  for (uint32_t i = 0; i < world->events.count; i++)
    total += digest_hash_event(world, world->events.list[i]);
  for (uint32_t i = 0; i < world->relations.count; i++)
    total += digest_hash_ties(world, world->relations.list[i]);
  for (uint32_t i = 0; i < world->names.count; i++) {
    const struct name *name = &world->names.names[i];
    total += digest_mix(digest_hash_target(world, name->entity) * 3 +
                        digest_hash_text(name->text, name->size));
  }
  return digest_mix(total + digest_hash_streams(world));
}
