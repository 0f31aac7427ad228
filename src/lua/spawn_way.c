#include "lua/spawn_way.h"

#include "core/base/column_cells.h"
#include "core/store/entity.h"
#include "core/store/fields.h"
#include "core/store/layout.h"
#include "core/store/spawn.h"
#include "lua/bind/cell.h"
#include "lua/bind/world_box.h"

/* Adds a component's values to a way into a table; false when it is none. */
static bool add_to_way(struct way *way, const struct table *table,
                       const struct component *component) {
  uint32_t count = component->leaf_count;
  if (component->sparse || way->count + count > WAY_VALUES) return false;
  if (count && !(component->flat && component->numbers)) return false;
  const struct column *column = table_find(table, component->id)->columns;
  for (uint32_t i = 0; i < count; i++, column++, way->count++) {
    way->values[way->count].column = (uint32_t)(column - table->columns);
    way->values[way->count].type = component->leaves[i].type;
    way->values[way->count].value = column->value;
  }
  return true;
}

void way_begin(struct way *way) { way->version = UINT64_MAX; }

void way_find(const struct world_box *box, struct way *way, ecs_id id,
              const struct part *parts, uint32_t count) {
  if (way->version == *box->version && way->table == NONE) return;
  const struct table *table = spawn_table(box->world, id);
  if (!table) return;
  bool goes = true;
  way->count = 0;
  for (uint32_t i = 0; i < count && goes; i++) goes = add_to_way(way, table, parts[i].component);
  way->table = goes ? table->index : NONE;
  way->serial = table->serial;
  way->version = *box->version;
}

bool way_go(lua_State *L, struct world_box *box, const struct way *way, ecs_id *id) {
  uint32_t count = (uint32_t)lua_gettop(L);
  if (UNLIKELY(!box->world || box->stage || box->any.pending || way->version != *box->version))
    return false;
  if (UNLIKELY(count > way->count || way->table == NONE)) return false;
  ecs_cell cells[WAY_VALUES];
  for (uint32_t i = 0; i < count; i++) {
    if (LIKELY(number_to_cell(L, way->values[i].type, (int)i + 1, &cells[i]))) continue;
    if (!lua_isnil(L, (int)i + 1)) return false;
    cells[i] = way->values[i].value;
  }
  const struct table *table = spawn_again(box->world, way->table, way->serial, id);
  if (UNLIKELY(!table)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const struct column *column = &table->columns[way->values[i].column];
    cell_store(column->data, column->size, table->count - 1, cells[i]);
  }
  return true;
}
