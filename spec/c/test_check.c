/* ecs_check notices what is broken: every invariant is broken once, by hand. */
#include <string.h>

#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "fixture.h"

static struct fixture f;
static struct table *table;     /* of f.a: Position, Health, Label, Frozen; three rows */

static struct table *place_of(ecs_id id) {
  return world_table(f.world, entity_record(&f.world->entities, ecs_id_index(id))->table);
}

static void open_scene(void) {
  static const char *const moods[] = {"calm", "cross"};
  open_usual(&f);
  ecs_field fields[] = {{.name = "on", .type = ECS_BOOL},
                        {.name = "mood", .type = ECS_ENUM, .names = moods, .name_count = 2},
                        {.name = "value", .type = ECS_ANY}};
  f.c = DECLARE(f.world, "Switch", fields);
  for (int i = 0; i < 3; i++)
    f.ids[i] = SPAWN(f.world, f.position, f.health, f.label, f.frozen, f.c);
  CHECK_OK(f.world, ecs_remove(f.world, f.ids[2], f.c));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[2], f.c));
  f.a = f.ids[0];
  SPAWN(f.world, f.position);
  f.query = new_query(f.world, "Position, Label");
  CHECK_OK(f.world, ecs_name(f.world, f.a, "first"));
  CHECK_OK(f.world, ecs_name(f.world, f.ids[1], "second"));
  f.b = SPAWN(f.world, f.velocity);
  CHECK_OK(f.world, ecs_despawn(f.world, f.b));
  table = place_of(f.a);
  CHECK_SOUND(f.world);
}

/* Breaks bytes, expects the complaint, mends them. */
static void notice(void *at, const void *broken, size_t size, const char *words) {
  unsigned char whole[16];
  check_context("%s", words);
  memcpy(whole, at, size);
  memcpy(at, broken, size);
  CHECK_FAILS(f.world, ECS_ECORRUPT, words, ecs_check(f.world));
  memcpy(at, whole, size);
  CHECK_SOUND(f.world);
}

#define NOTICE(place, type, value, words) \
  notice(&(place), &(type){value}, sizeof(type), words)

static struct record *record_of(ecs_id id) {
  return entity_record(&f.world->entities, ecs_id_index(id));
}

static void notices_ids(void) {
  open_scene();
  struct entity_index *index = &f.world->entities;
  NOTICE(index->alive, size_t, 3, "the entity index");
  NOTICE(index->retired, uint32_t, 1, "the entity index");
  NOTICE(index->entities.free_count, uint32_t, 7, "the entity index");
  NOTICE(index->entities.free_head, uint32_t, 0, "the entity index");
  NOTICE(index->entities.first, uint32_t, 70000, "the entity index");
  NOTICE(record_of(f.b)->row, uint32_t, 65536, "the entity index");
  NOTICE(record_of(f.a)->row, uint32_t, 1, "recorded elsewhere");
  NOTICE(record_of(f.a)->table, uint32_t, 0, "recorded elsewhere");
  NOTICE(table->rows[1], uint32_t, INDEX_LIMIT - 1, "a row has no entity");
  NOTICE(record_of(f.position)->table, uint32_t, 0, "differ in number");
  close_world(&f);
}

static void notices_tables(void) {
  open_scene();
  struct graph *graph = &f.world->graph;
  NOTICE(graph->live, uint32_t, 9, "a table is missing");
  NOTICE(table->order, uint64_t, 0, "out of order");
  NOTICE(table->incoming, uint32_t, 1, "counts are wrong");
  NOTICE(table->doomed, bool, true, "counts are wrong");
  NOTICE(table->capacity, uint32_t, 2, "counts are wrong");
  NOTICE(table->ids[1], ecs_id, table->ids[0], "not sorted");
  NOTICE(table->ids[table->id_count - 1], ecs_id, 900, "not a component");
  struct layout *layout = table_layouts(table);
  while (layout->id != table->ids[0]) layout++;
  NOTICE(layout->id, ecs_id, 900, "is not found");
  NOTICE(layout->columns, struct column *, table->columns + 1, "columns are out of order");
  NOTICE(layout->count, uint16_t, 1, "columns are out of order");
  NOTICE(layout->words, uint16_t, 0, "columns are out of order");
  struct edge *edge = table->edges;
  while (!edge->table) edge++;
  struct edge *back = edge->table->edges;
  while (!back->table) back++;
  NOTICE(back->table, struct table *, graph->empty, "does not lead back");
  NOTICE(edge->table, struct table *, table, "leads to a table of other ids");
  NOTICE(edge->count, uint16_t, 7, "an edge has other columns");
  NOTICE(table->edge_count, uint32_t, 7, "edges are miscounted");
  NOTICE(table->near_edge.first, uint32_t, 7, "the cached edge is not an edge's copy");
  NOTICE(table->near_edge.table, struct table *, NULL, "the cached edge is not an edge's copy");
  NOTICE(table->column_count, uint32_t, table->column_count + 1, "too many columns");
  NOTICE(graph->empty, struct table *, table, "an empty table is not listed");
  struct id_record *record = graph_record(f.world, f.label);
  NOTICE(record->table_count, uint32_t, 0, "misses a table");
  NOTICE(record->id, ecs_id, f.velocity, "without the component");
  struct component *label = component_of(f.world, f.label);
  ecs_id required[] = {f.health, f.position};
  label->requires = required;
  label->require_count = 1;
  f.world->registry.requires = true;
  NOTICE(required[0], ecs_id, f.velocity, "lacks what one of its components requires");
  NOTICE(required[0], ecs_id, 900, "requires a non-component");
  NOTICE(label->require_count, uint32_t, 2, "not sorted");
  label->require_count = 0;
  NOTICE(graph->by_hash.count, uint32_t, graph->by_hash.count + 1, "a hash map");
  close_world(&f);
}

static void notices_columns(void) {
  open_scene();
  struct column *column = &table->columns[0];
  NOTICE(column->size, uint32_t, 8, "differs from its field");
  NOTICE(column->value.u64, uint64_t, 5, "differs from its field");
  NOTICE(column->id, ecs_id, table->ids[1], "another id");
  NOTICE(column->leaf, uint32_t, 1, "another id");
  NOTICE(column->data, void *, (char *)column->data + 4, "not aligned");
  NOTICE(column->buffer.size, size_t, 64, "shorter than its table");
  const struct table *packed = place_of(SPAWN(f.world, f.position));
  NOTICE(packed->columns[1].data, void *, packed->columns[0].data, "shorter than its table");
  uint32_t first = table_column(table, f.c);
  NOTICE(((uint8_t *)table->columns[first].data)[2], uint8_t, 2, "neither 0 nor 1");
  NOTICE(((uint8_t *)table->columns[first + 1].data)[1], uint8_t, 2, "no name");
  NOTICE(((uint32_t *)table->columns[first + 2].data)[0], uint32_t, 1, "any slot");
  first = table_column(table, f.label);
  NOTICE(((uint32_t *)table->columns[first].data)[0], uint32_t, 99, "not in the table");
  close_world(&f);
}

static void notices_queries(void) {
  open_scene();
  NOTICE(f.query->count, uint32_t, 0, "misses a table");
  NOTICE(f.query->tables[0], uint32_t, 0, "misses a table");
  NOTICE(f.query->columns[0], uint32_t, 1, "column is wrong");
  NOTICE(f.query->terms.terms[0].id, ecs_id, f.velocity, "too many tables");
  close_world(&f);
}

/* Makes a query know the order of its rows. */
static struct lineup *line_up(ecs_query *query) {
  ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(query, &it));
  while (ecs_iter_next(&it)) CHECK(it.count > 0);
  CHECK_OK(f.world, ecs_iter_close(&it));
  CHECK(query->lineup);
  CHECK_SOUND(f.world);
  return query->lineup;
}

static void notices_orders(void) {
  static const char wrong[] = "order of rows is wrong";
  ecs_component_desc desc = {.name = "Up", .exclusive = true, .acyclic = true};
  ecs_id up;
  open_scene();
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &up));
  for (int i = 1; i < 3; i++)
    CHECK_OK(f.world, ecs_add(f.world, f.ids[i], ecs_pair(up, f.ids[0])));
  struct lineup *lineup = line_up(new_query(f.world, "Position, Up->Position?:cascade"));
  NOTICE(lineup->count, uint32_t, 3, wrong);
  NOTICE(lineup->rows[3], uint32_t, 0, wrong);
  NOTICE(lineup->rows[0], uint32_t, 9, wrong);
  NOTICE(lineup->targets[2], uint32_t, 0, wrong);
  NOTICE(lineup->ends[2].match, uint32_t, NONE, wrong);
  NOTICE(lineup->ends[3].row, uint32_t, 99, wrong);
  NOTICE(lineup->ends[0].match, uint32_t, 0, wrong);
  NOTICE(lineup->runs[0].depth, uint32_t, 1, wrong);
  NOTICE(lineup->runs[0].match, uint32_t, 99, wrong);
  NOTICE(lineup->runs[0].end, uint32_t, 0, wrong);
  NOTICE(lineup->users, uint32_t, 0, wrong);
  ecs_variable to = {"to", f.ids[0]};
  ecs_query *sources;
  CHECK_OK(f.world, ecs_query_with(f.world, "(Up, $to)", &to, 1, &sources));
  lineup_release(f.world, lineup_of_sources(sources));
  NOTICE(sources->lineup->count, uint32_t, 1, wrong);
  NOTICE(sources->lineup->rows[1], uint32_t, 0, wrong);
  close_world(&f);
}

static ecs_status idle(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_OK;
}

static void notices_the_rest(void) {
  open_scene();
  struct name_table *names = &f.world->names;
  NOTICE(names->names[0].entity, ecs_id, f.a + (UINT64_C(1) << 28), "dead entity has a name");
  NOTICE(names->names[0].entity, ecs_id, f.ids[2], "not its own");
  NOTICE(names->names[0].text[0], char, 'x', "a name is not found");
  NOTICE(names->count, uint32_t, 1, "names are miscounted");
  struct staging *staging = &f.world->staging;
  CHECK_OK(f.world, ecs_defer(f.world));
  NOTICE(staging->open, uint32_t, 2, "scopes are miscounted");
  NOTICE(staging->busy, uint32_t, 0, "scopes are miscounted");
  NOTICE(staging->ends, uint32_t, 7, "commands that end entities are miscounted");
  CHECK_OK(f.world, ecs_commit(f.world));
  NOTICE(staging->command_count, uint32_t, 1, "commands outlived");
  NOTICE(staging->naming_count, uint32_t, 1, "names outlived");
  ecs_system_desc desc = {.name = "s", .run = idle};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  ecs_system *system = schedule_system(f.world, "s", 1);
  struct phase strange = *system->phase;
  strange.name = "strange";
  NOTICE(system->removed, bool, true, "removed system");
  NOTICE(system->phase, struct phase *, &strange, "phase does not exist");
  close_world(&f);
}

static void notices_events(void) {
  open_scene();
  ecs_id hit = ECS_NULL;
  static const ecs_field amount = {.name = "amount", .type = ECS_F64};
  ecs_component_desc desc = {.name = "Hit", .fields = &amount, .field_count = 1};
  CHECK_OK(f.world, ecs_event(f.world, &desc, &hit));
  struct event *event = component_of(f.world, hit)->event;
  struct later *later = &event->later;
  NOTICE(later->clock, double, 1, "has delayed events without times");
  CHECK_OK(f.world, ecs_after(f.world, 2, hit, &(double){3}));
  CHECK_SOUND(f.world);
  NOTICE(later->capacity, uint32_t, 0, "has delayed events without times");
  NOTICE(later->order_capacity, uint32_t, 0, "has delayed events without times");
  NOTICE(later->due[0], double, -1, "to an invalid time");
  NOTICE(event->component, struct component *, component_of(f.world, f.position), "is invalid");
  NOTICE(event->aged, uint64_t, 9, "has an invalid age");
  close_world(&f);
}

static const struct test tests[] = {
  {"ecs_check notices broken ids and records", notices_ids},
  {"ecs_check notices broken tables", notices_tables},
  {"ecs_check notices broken columns and values", notices_columns},
  {"ecs_check notices broken queries", notices_queries},
  {"ecs_check notices broken orders of rows", notices_orders},
  {"ecs_check notices broken events", notices_events},
  {"ecs_check notices broken names, scopes and systems", notices_the_rest},
};

int main(void) { return RUN_TESTS(tests); }
