#include "core/store/bulk.h"

#include "core/store/graph.h"
#include "core/store/relation.h"
#include "core/store/row.h"
#include "core/store/sparse.h"
#include "core/store/watch.h"
#include "core/store/watch_apply.h"

static ecs_status destination(ecs_world *world, struct table *from, ecs_id id, bool add,
                              struct table **to) {
  return add ? graph_with(world, from, id, to) : graph_without(world, from, id, to);
}

ecs_status bulk_reserve(ecs_world *world, uint32_t *const *tables, uint32_t count, ecs_id id,
                        bool add) {
  ecs_status status = ECS_OK;
  struct table *to;
  uint32_t done = 0;
  for (; done < count && status == ECS_OK; done++) {
    struct table *from = world_table(world, (*tables)[done]);
    if (from->count == 0) continue;
    status = destination(world, from, id, add, &to);
    if (status != ECS_OK) break;
    to->incoming += to == from ? 0 : from->count;
    status = table_reserve(world, to, to->incoming);
  }
  for (uint32_t i = 0; i < done; i++) {
    struct table *from = world_table(world, (*tables)[i]);
    if (from->count && destination(world, from, id, add, &to) == ECS_OK) to->incoming = 0;
  }
  return status;
}

/* Components without any components are bare: they leave the rows that came last. */
static void unrow_components(ecs_world *world, struct table *empty, uint32_t first) {
  for (uint32_t row = empty->count; row-- > first;) {
    uint32_t at = empty->rows[row];
    if (at >= FIRST_ENTITY || sparse_has_any(world, at)) continue;
    row_remove(world, empty, row);
    *entity_record(&world->entities, at) = (struct record){RECORD_BARE, 0};
  }
}

void bulk_move(ecs_world *world, struct table *from, struct table *to) {
  uint32_t first = to->count;
  table_move_all(world, from, to);
  if (to->id_count == 0) unrow_components(world, to, first);
}

/* Exclusive ties go before their rows do. */
static void untie_rows(ecs_world *world, const struct table *table, ecs_id id) {
  struct relation *relation = relation_of(world, id);
  for (uint32_t row = 0; relation && relation->exclusive && row < table->count; row++)
    if (ties_target(&relation->ties, table->rows[row]))
      relation_unlink(world, relation, table->rows[row]);
}

/* Notes down what observers are to be told of it. */
static APART ecs_status note_tables(ecs_world *world, uint32_t *const *tables, uint32_t count,
                                    ecs_id id, bool add) {
  ecs_status status = watch_rows_begin(world);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    struct table *from = world_table(world, (*tables)[i]), *to = from;
    if (from->count) status = destination(world, from, id, add, &to);
    if (status == ECS_OK && to != from) status = watch_rows(world, from, to, NULL);
  }
  return watch_rows_end(world, status);
}

ecs_status bulk_change(ecs_world *world, uint32_t *const *tables, uint32_t count, ecs_id id,
                       bool add) {
  ecs_status status = bulk_reserve(world, tables, count, id, add);
  if (status == ECS_OK && UNLIKELY(world->staging.watched))
    status = note_tables(world, tables, count, id, add);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < count; i++) {
    struct table *from = world_table(world, (*tables)[i]), *to = from;
    if (from->count == 0) continue;
    status = destination(world, from, id, add, &to);
    assert(status == ECS_OK);
    if (to != from && !add) untie_rows(world, from, id);
    if (to != from) bulk_move(world, from, to);
  }
  return ECS_OK;
}
