/* Tables as they lie in memory: columns, the archetype graph, reclaiming. What entities have is
** compared with a model by spec/random/random_model_spec.lua. C7, C8, C10 to C12, C14, C69, C70,
** C73. */
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/graph.h"
#include "core/storage/table.h"
#include "fixture.h"

static struct fixture f;

static const struct table *table_of(ecs_id id) {
  return world_table(f.world, entity_record(&f.world->entities, ecs_id_index(id))->table);
}

/* ---- columns ---- */

/* Columns are 64-byte aligned, padded to 64 bytes beyond the last row, and keep their values
** through every growth. */
static void columns_grow(void) {
  open_usual(&f);
  enum { ROWS = 3000 };
  static ecs_id ids[ROWS];
  f.query = new_query(f.world, "Position, Health");
  for (int i = 0; i < ROWS; i++) {
    ids[i] = SPAWN(f.world, f.position, f.health);
    set_position(&f, ids[i], (float)i, (float)-i);
    const struct table *table = table_of(ids[i]);
    for (uint32_t c = 0; c < table->column_count; c++) {
      CHECK((uintptr_t)table->columns[c].data % 64 == 0);
      size_t end = (size_t)table->count * table->columns[c].size;
      const struct column_buffer *buffer = &table->columns[c].buffer;
      size_t from = (size_t)((char *)buffer->data - (char *)buffer->block);
      CHECK(from + (end + 63) / 64 * 64 <= buffer->size);
    }
  }
  ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  CHECK(ecs_iter_next(&it) && it.count == ROWS);
  const float *x = ecs_iter_column(&it, 0, 0), *y = ecs_iter_column(&it, 0, 1);
  const int32_t *hp = ecs_iter_column(&it, 1, 0);
  for (int i = 0; i < ROWS; i++)
    CHECK(x[i] == (float)i && y[i] == (float)-i && hp[i] == 100 &&
          ecs_iter_entity(&it, (size_t)i) == ids[i]);
  CHECK_OK(f.world, ecs_iter_close(&it));
  close_world(&f);
}

/* Each entity's x is its number, with and without Velocity. */
static void check_numbers(const ecs_id *ids, int count) {
  for (int i = 0; i < count; i++) CHECK(get_position(&f, ids[i]).x == (float)i);
  CHECK_SOUND(f.world);
}

/* Rows that move between a table with its first rows, one that has none left, and one that has
** grown. */
static void few_rows_are_packed(void) {
  enum { ROWS = PACKED_ROWS + 1 };
  ecs_id ids[ROWS];
  open_usual(&f);
  for (int i = 0; i < ROWS - 1; i++) {
    ids[i] = SPAWN(f.world, f.position, f.frozen);
    set_position(&f, ids[i], (float)i, 1);
  }
  const struct table *table = table_of(ids[0]);
  CHECK(table->packed && !table->columns[0].buffer.data && column_at(&table->columns[1], 15));
  for (int i = 0; i < ROWS - 1; i += 3) {
    CHECK_OK(f.world, ecs_add(f.world, ids[i], f.velocity));
    CHECK_OK(f.world, ecs_remove(f.world, ids[i], f.frozen));
    check_numbers(ids, ROWS - 1);
    CHECK_OK(f.world, ecs_add(f.world, ids[i], f.frozen));
    CHECK_OK(f.world, ecs_remove(f.world, ids[i], f.velocity));
    CHECK(table_of(ids[i]) == table && table->packed);
    check_numbers(ids, ROWS - 1);
  }
  ids[ROWS - 1] = SPAWN(f.world, f.position, f.frozen);
  set_position(&f, ids[ROWS - 1], (float)(ROWS - 1), 1);
  CHECK(!table->packed && table->columns[0].buffer.data);
  check_numbers(ids, ROWS);
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < ROWS; i++) {
      CHECK_OK(f.world, (round ? ecs_remove : ecs_add)(f.world, ids[i], f.velocity));
      check_numbers(ids, ROWS);
    }
  close_world(&f);
}

/* ---- the graph ---- */

static void edges_are_followed(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  CHECK_OK(f.world, ecs_add(f.world, f.a, f.velocity));
  CHECK_OK(f.world, ecs_remove(f.world, f.a, f.velocity));
  uint32_t edges = table_of(f.a)->edge_count;
  CHECK(edges > 0);
  f.world->graph.by_hash.count = 0;   /* who looks tables up by their ids now finds none */
  uint32_t live = f.world->graph.live, count = f.world->graph.by_hash.count;
  for (int i = 0; i < 10; i++) {
    CHECK_OK(f.world, ecs_add(f.world, f.a, f.velocity));
    CHECK_OK(f.world, ecs_remove(f.world, f.a, f.velocity));
  }
  CHECK_INTEGER(live, f.world->graph.live);
  CHECK_INTEGER(edges, table_of(f.a)->edge_count);
  f.world->graph.by_hash.count = count;
  for (uint32_t i = 0; i < f.world->graph.by_hash.capacity; i++)
    f.world->graph.by_hash.count += f.world->graph.by_hash.entries[i].key != 0;
  close_world(&f);
}

static void tags_take_no_columns(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.frozen, f.enemy);
  const struct table *table = table_of(f.a);
  CHECK_INTEGER(2, table->column_count);
  CHECK_INTEGER(3, table->id_count);
  CHECK_INTEGER(NONE, table_column(table, f.frozen));
  CHECK_INTEGER(0, table_column(table, f.position));
  CHECK(table_has(table, f.frozen) && !table_has(table, f.velocity));
  ecs_id tags_only = SPAWN(f.world, f.frozen);
  CHECK_INTEGER(0, table_of(tags_only)->column_count);
  CHECK_OK(f.world, ecs_remove(f.world, tags_only, f.frozen));
  CHECK(table_of(tags_only) == f.world->graph.empty);
  CHECK(ecs_alive(f.world, tags_only));
  CHECK_INTEGER(2, count_of(f.world, ""));
  close_world(&f);
}

/* ---- reclaiming ---- */

/* Many short cuts lead to the table of entities without components: it never goes. */
static void the_void_stays(void) {
  open_usual(&f);
  const struct table *empty = f.world->graph.empty;
  for (int i = 0; i < 3; i++) CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK(f.world->graph.live == 1 && f.world->graph.empty == empty);
  f.a = spawn_empty(f.world);
  CHECK(table_of(f.a) == empty);
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  for (int i = 0; i < 3; i++) CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_OK(f.world, ecs_defer(f.world));
  f.a = spawn_empty(f.world);
  f.b = SPAWN(f.world, f.enemy);
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK(table_of(f.a) == empty);
  CHECK_OK(f.world, ecs_add(f.world, f.position, f.enemy));
  close_world(&f);
}

/* One that is used in between starts to wait anew. */
static void used_tables_stay(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.enemy);
  const struct table *table = table_of(f.a);
  for (int i = 0; i < 5; i++) {
    CHECK_OK(f.world, ecs_remove(f.world, f.a, f.enemy));
    CHECK_OK(f.world, ecs_update(f.world, 0));
    CHECK_OK(f.world, ecs_add(f.world, f.a, f.enemy));
    CHECK(table_of(f.a) == table);
    CHECK_OK(f.world, ecs_update(f.world, 0));
  }
  close_world(&f);
}

/* The memory of where the last spawn went, and edges, must not lead to tables that are gone,
** nor to others that took their place. */
static void short_cuts_forget(void) {
  open_usual(&f);
  for (int round = 0; round < 6; round++) {
    f.a = SPAWN(f.world, f.position, f.frozen);
    f.b = SPAWN(f.world, f.position);
    CHECK_OK(f.world, ecs_add(f.world, f.b, f.enemy));
    CHECK(ecs_has(f.world, f.a, f.frozen) && !ecs_has(f.world, f.a, f.enemy));
    CHECK(ecs_has(f.world, f.b, f.enemy) && !ecs_has(f.world, f.b, f.frozen));
    f.c = SPAWN(f.world, f.position, f.frozen);
    CHECK(table_of(f.c) == table_of(f.a));
    CHECK_OK(f.world, ecs_despawn(f.world, f.a));
    CHECK_OK(f.world, ecs_despawn(f.world, f.b));
    CHECK_OK(f.world, ecs_despawn(f.world, f.c));
    CHECK_OK(f.world, ecs_update(f.world, 0));
    CHECK_OK(f.world, ecs_update(f.world, 0));
    CHECK_INTEGER(1, f.world->graph.live);
    f.ids[round] = SPAWN(f.world, f.velocity, round % 2 ? f.enemy : f.link);
    CHECK_OK(f.world, ecs_despawn(f.world, f.ids[round]));
  }
  close_world(&f);
}

/* The table of the last spawn has gone, and one made by an add has its place. */
static void last_spawn_forgets(void) {
  open_usual(&f);
  f.b = spawn_empty(f.world);
  f.a = SPAWN(f.world, f.position, f.frozen);
  uint32_t index = table_of(f.a)->index;
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_OK(f.world, ecs_add(f.world, f.b, f.health));
  CHECK_INTEGER(index, table_of(f.b)->index);
  f.a = SPAWN(f.world, f.position, f.frozen);
  CHECK(ecs_has(f.world, f.a, f.position) && !ecs_has(f.world, f.a, f.health));
  CHECK_INTEGER(1, count_of(f.world, "Health"));
  close_world(&f);
}

static const struct test tests[] = {
  {"C11: columns are contiguous, aligned, padded, and keep their values", columns_grow},
  {"C11, C14: few rows are packed, and keep their values as they move and grow",
   few_rows_are_packed},
  {"C70: a repeated add or remove looks nothing up", edges_are_followed},
  {"C10, C73: tags take no columns, entities without components a table",
   tags_take_no_columns},
  {"C10: the table without components is never reclaimed", the_void_stays},
  {"C7: tables in use are kept", used_tables_stay},
  {"short cuts never lead to tables that are gone", short_cuts_forget},
  {"a spawn never lands where the last one did, when that has gone", last_spawn_forgets},
};

int main(void) { return RUN_TESTS(tests); }
