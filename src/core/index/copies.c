#include "core/index/copies.h"

#include "core/base/column_cells.h"
#include "core/base/many.h"
#include "core/base/types.h"
#include "core/query/query.h"
#include "core/ids/record.h"
#include "core/ids/world.h"
#include "ecs_query.h"

/* ---- laying out ------------------------------------------------------------------------ */

/* Goes through the columns that terms give: a term that may be absent has one that says so, then
** each has one a leaf. */
struct copy_cursor {
  const struct query_terms *terms;
  uint32_t term, step;
};

static uint32_t count_leaves(const struct term *term) {
  if (!term_has_cells(term, term->component)) return 0;
  return term->leaf == NONE ? term->component->leaf_count : 1;
}

static bool next_column(struct copy_cursor *cursor, struct copy_column *out) {
  for (; cursor->term < cursor->terms->count; cursor->term++, cursor->step = 0) {
    const struct term *term = &cursor->terms->terms[cursor->term];
    if (term->slot == NONE) continue;
    bool flagged = term_may_lack(term);
    uint32_t step = cursor->step++;
    *out = (struct copy_column){.term = cursor->term, .slot = term->slot};
    if (flagged && step == 0) {
      out->type = ECS_BOOL;
      out->size = 1;
      return true;
    }
    out->term_leaf = step - flagged;
    if (out->term_leaf >= count_leaves(term)) continue;
    out->leaf = term->leaf == NONE ? out->term_leaf : term->leaf;
    const struct leaf *leaf = &term->component->leaves[out->leaf];
    out->component = term->component->id;
    out->type = leaf->type;
    out->size = leaf->size;
    return true;
  }
  return false;
}

static bool copies_are_same(const struct copy_column *a, const struct copy_column *b) {
  return a->component == b->component && a->leaf == b->leaf && a->term == b->term &&
         a->term_leaf == b->term_leaf && a->slot == b->slot && a->type == b->type &&
         a->size == b->size;
}

/* Whether they are laid out so already. */
static bool is_laid_out(const struct copies *copies, const struct query_terms *terms) {
  struct copy_cursor cursor = {terms, 0, 0};
  struct copy_column column;
  uint32_t at = 0;
  if (copies->slot_count != terms->slots) return false;
  while (next_column(&cursor, &column))
    if (at == copies->column_count || !copies_are_same(&copies->columns[at++], &column))
      return false;
  return at == copies->column_count;
}

static ecs_status copy_check_terms(const ecs_world *world, const struct query_terms *terms,
                                   const char *name, uint32_t *count) {
  struct copy_cursor cursor = {terms, 0, 0};
  struct copy_column column;
  for (*count = 0; next_column(&cursor, &column); ++*count) {
    const struct component *component = terms->terms[column.term].component;
    if (column.type != ECS_ANY) continue;
    return world_fail(world, ECS_EINVAL, "index '%s': '%s.%s' is of type any, which is not copied: "
                      "name the fields that are wanted, as in '%s.x'", name, component->name,
                      component->leaves[column.leaf].name, component->name);
  }
  return ECS_OK;
}

static void copy_fill(struct copies *copies, const struct query_terms *terms) {
  struct copy_cursor cursor = {terms, 0, 0};
  struct copy_column column;
  for (uint32_t i = 0; i < copies->slot_count; i++)
    copies->slots[i] = (struct copy_slot){0, 0, NONE, false};
  for (uint32_t at = 0; next_column(&cursor, &column); at++) {
    assert(at < copies->column_count && column.slot < copies->slot_count);
    struct copy_slot *slot = &copies->slots[column.slot];
    copies->columns[at] = column;
    slot->single = terms->terms[column.term].leaf != NONE;
    if (column.component == ECS_NULL)
      slot->flags = at;
    else if (slot->count++ == 0)
      slot->first = at;
  }
}

ecs_status copies_lay_out(ecs_world *world, struct copies *copies,
                          const struct query_terms *terms, const char *name) {
  uint32_t count;
  copies->count = 0;
  if (is_laid_out(copies, terms)) return ECS_OK;
  ecs_status status = copy_check_terms(world, terms, name, &count);
  if (status != ECS_OK) return status;
  copies_free(world, copies);
  struct copy_column *columns = memory_array(&world->memory, (size_t)count + 1, sizeof *columns);
  struct copy_slot *slots = memory_array(&world->memory, (size_t)terms->slots + 1, sizeof *slots);
  if (!columns || !slots) {
    memory_free(&world->memory, columns, ((size_t)count + 1) * sizeof *columns);
    memory_free(&world->memory, slots, ((size_t)terms->slots + 1) * sizeof *slots);
    return world_nomem(world);
  }
  *copies = (struct copies){.columns = columns, .column_count = count, .slots = slots,
                            .slot_count = terms->slots};
  copy_fill(copies, terms);
  return ECS_OK;
}

void copies_free(ecs_world *world, struct copies *copies) {
  struct memory *memory = &world->memory;
  for (uint32_t i = 0; i < copies->column_count; i++)
    buffer_free(memory, &copies->columns[i].cells);
  buffer_free(memory, &copies->entities);
  buffer_free(memory, &copies->order);
  memory_free(memory, copies->columns,
              ((size_t)copies->column_count + 1) * sizeof *copies->columns);
  memory_free(memory, copies->slots, ((size_t)copies->slot_count + 1) * sizeof *copies->slots);
  memset(copies, 0, sizeof *copies);
}

/* ---- rows ------------------------------------------------------------------------------ */

static bool copy_grow(struct memory *memory, struct column_buffer *buffer,
                      const struct copies *copies, uint32_t rows, uint32_t size) {
  return buffer_grow(memory, buffer, (size_t)rows * size, (size_t)copies->count * size);
}

ecs_status copies_reserve(ecs_world *world, struct copies *copies, uint64_t rows) {
  if (rows <= copies->capacity) return ECS_OK;
  struct memory *memory = &world->memory;
  if (rows > ROW_LIMIT) return world_fail(world, ECS_ELIMIT, "an index has too many rows");
  uint32_t wanted = copies->capacity * 2 < 16 ? 16 : copies->capacity * 2;
  if (wanted < rows) wanted = (uint32_t)rows;
  bool ok = copy_grow(memory, &copies->entities, copies, wanted, sizeof(ecs_id)) &&
            copy_grow(memory, &copies->order, copies, wanted, sizeof(uint32_t));
  for (uint32_t i = 0; ok && i < copies->column_count; i++)
    ok = copy_grow(memory, &copies->columns[i].cells, copies, wanted, copies->columns[i].size);
  if (!ok) return world_nomem(world);
  copies->capacity = wanted;
  return ECS_OK;
}

/* Cells of a column that the rows of a run have, or do not have. */
static void copies_fill_cells(const struct copies *copies, const struct copy_column *column,
                              const ecs_iter *it) {
  char *to = (char *)column->cells.data + (size_t)copies->count * column->size;
  size_t size = it->count * column->size;
  if (column->component == ECS_NULL) {
    memset(to, ecs_iter_has(it, column->term), size);
    return;
  }
  const void *from = ecs_iter_column(it, column->term, column->term_leaf);
  if (from)
    memcpy(to, from, size);
  else
    memset(to, 0, size);
}

/* A row that a `with` finds several times comes to follow itself. */
static bool is_repeated(const struct copies *copies, const ecs_iter *it) {
  return copies->count && it->count == 1 &&
         copies_entities(copies)[copies->count - 1] == ecs_iter_entity(it, 0);
}

static ecs_status take_run(struct copies *copies, const ecs_iter *it) {
  ecs_world *world = it->query->world;
  if (is_repeated(copies, it)) return ECS_OK;
  ecs_status status = copies_reserve(world, copies, copies->count + (uint64_t)it->count);
  if (status != ECS_OK) return status;
  ecs_id *entities = copies->entities.data;
  for (size_t i = 0; i < it->count; i++)
    entities[copies->count + i] = entity_id(&world->entities, it->rows[i]);
  for (uint32_t i = 0; i < copies->column_count; i++)
    copies_fill_cells(copies, &copies->columns[i], it);
  copies->count += (uint32_t)it->count;
  return ECS_OK;
}

/* To be copied is not to be written, whatever its terms say: it is the index's own. */
ecs_status copies_gather(struct copies *copies, ecs_query *query) {
  ecs_iter it;
  copies->count = 0;
  for (uint32_t i = 0; i < query->terms.count; i++) query->terms.terms[i].read_only = true;
  ecs_status status = ecs_iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (status == ECS_OK && ecs_iter_next(&it)) status = take_run(copies, &it);
  ecs_status closed = ecs_iter_close(&it);
  return status == ECS_OK ? closed : status;
}

static LOOPS void arrange_column(struct copy_column *to, const struct copy_column *from,
                           const uint32_t *order, uint32_t count) {
  const void *cells = from->cells.data;
  assert(copies_are_same(to, from));
  if (to->size == 4) {
    uint32_t *words = to->cells.data;
    for (uint32_t i = 0; i < count; i++) words[i] = ((const uint32_t *)cells)[order[i]];
    return;
  }
  for (uint32_t i = 0; i < count; i++) cell_copy(to->cells.data, i, cells, order[i], to->size);
}

void copies_arrange(struct copies *copies, const struct copies *from, const uint32_t *order,
                    uint32_t count) {
  assert(count <= copies->capacity && copies->column_count == from->column_count);
  ecs_id *entities = copies->entities.data;
  const ecs_id *ids = copies_entities(from);
  for (uint32_t i = 0; i < count; i++) entities[i] = ids[order[i]];
  if (count) memcpy(copies->order.data, order, count * sizeof *order);
  for (uint32_t i = 0; i < copies->column_count; i++)
    arrange_column(&copies->columns[i], &from->columns[i], order, count);
  copies->count = count;
}

void copies_bring(struct copies *copies, uint32_t to, const struct copies *from, uint32_t row) {
  assert(to < copies->count && row < from->count && copies->column_count == from->column_count);
  ((ecs_id *)copies->entities.data)[to] = copies_entities(from)[row];
  ((uint32_t *)copies->order.data)[to] = row;
  for (uint32_t i = 0; i < copies->column_count; i++)
    cell_copy(copies->columns[i].cells.data, to, from->columns[i].cells.data, row,
              copies->columns[i].size);
}

const struct copy_column *copies_column(const struct copies *copies, ecs_id component,
                                        uint32_t leaf) {
  for (uint32_t i = 0; i < copies->column_count; i++)
    if (copies->columns[i].component == component && copies->columns[i].leaf == leaf)
      return &copies->columns[i];
  return NULL;
}

size_t copies_bytes(const struct copies *copies) {
  size_t bytes = copies->entities.size + copies->order.size;
  for (uint32_t i = 0; i < copies->column_count; i++) bytes += copies->columns[i].cells.size;
  return bytes;
}
