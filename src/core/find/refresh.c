#include "core/find/refresh.h"

#include "core/base/clock.h"
#include "core/base/types.h"
#include "core/store/component.h"
#include "core/store/query.h"
#include "core/store/world.h"

/* ---- where the places are -------------------------------------------------------------- */

/* The column that has a number of the component. False: there is no such field. */
static bool find_axis(const ecs_index *index, const struct component *component, const char *name,
                      uint32_t *column) {
  uint32_t at = component_field(component, name, 1);
  if (at == NONE || component->fields[at].leaf_count != 1) return false;
  uint32_t leaf = component->fields[at].first_leaf;
  const struct copy_column *found = copies_column(&index->rows, component->id, leaf);
  if (!found || !type_is_number(found->type)) return false;
  *column = (uint32_t)(found - index->rows.columns);
  return true;
}

static bool is_copied(const struct copies *copies, ecs_id component) {
  for (uint32_t i = 0; i < copies->column_count; i++)
    if (copies->columns[i].component == component) return true;
  return false;
}

ecs_status index_source(const ecs_index *index, struct grid_source *out, uint32_t *axes) {
  static const char *const names[GRID_AXES] = {"x", "y", "z"};
  const ecs_world *world = index->world;
  const char *name = index->desc.name, *grid = index->desc.grid;
  struct component *component;
  ecs_status status = component_need(world, grid, strlen(grid), &component);
  if (status != ECS_OK) return status;
  if (!is_copied(&index->rows, component->id))
    return world_fail(world, ECS_EINVAL, "index '%s': its query '%s' does not give '%s': write "
                      "'%s:in' into it", name, index->query->text, grid, grid);
  *out = (struct grid_source){.copies = &index->rows, .flags = NONE};
  for (*axes = 0; *axes < GRID_AXES; ++*axes)
    if (!find_axis(index, component, names[*axes], &out->columns[*axes])) break;
  if (*axes < 2)
    return world_fail(world, ECS_EINVAL, "index '%s': a grid needs the fields x and y of '%s', "
                      "each a number, and its query '%s' gives no %s", name, grid,
                      index->query->text, names[*axes]);
  out->flags = index->rows.slots[index->rows.columns[out->columns[0]].slot].flags;
  return ECS_OK;
}

/* ---- bringing up to date --------------------------------------------------------------- */

bool index_is_fresh(const ecs_index *index) {
  const ecs_world *world = index->world;
  return world->running && index->fresh == world->moment;
}

/* The rows of the query, as they are. */
static ecs_status gather(ecs_index *index) {
  ecs_status status = query_usable(index->query);
  if (status == ECS_OK)
    status = copies_lay_out(index->world, &index->rows, &index->query->terms, index->desc.name);
  return status == ECS_OK ? copies_gather(&index->rows, index->query) : status;
}

static ecs_status fill(ecs_index *index, struct edition *edition) {
  ecs_world *world = index->world;
  struct grid *grid = &edition->grid;
  struct grid_source source;
  uint32_t count;
  ecs_status status = index_source(index, &source, &grid->axes);
  grid->size = index->desc.cell;
  if (status == ECS_OK)
    status = copies_lay_out(world, &edition->copies, &index->query->terms, index->desc.name);
  if (status == ECS_OK) status = grid_sort(&world->memory, &index->room, grid, &source, &count);
  if (status == ECS_OK) status = copies_reserve(world, &edition->copies, count);
  if (status == ECS_OK) status = grid_fill(&world->memory, grid, &index->room, &source, count);
  if (status != ECS_OK) return status;
  copies_arrange(&edition->copies, &index->rows, index->room.order, count);
  index->lost = index->rows.count - count;
  return ECS_OK;
}

ecs_status index_refresh(ecs_index *index) {
  ecs_world *world = index->world;
  if (index_is_fresh(index)) return ECS_OK;
  double start = clock_seconds();
  struct edition *edition = edition_to_fill(index);
  if (!edition) return world_nomem(world);
  ecs_status status = gather(index);
  if (status == ECS_OK) status = fill(index, edition);
  if (status != ECS_OK) {
    index->rows.count = 0;
    edition_empty(edition);
    return status == ECS_ENOMEM ? world_nomem(world) : status;
  }
  index->fresh = world->running ? world->moment : 0;
  index->seconds = clock_seconds() - start;
  index->times++;
  return ECS_OK;
}
