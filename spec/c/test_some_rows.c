/* Changing some rows of tables at once, and changes that a scope keeps, against the same one by
** one: rows, cells, free ids and tables are to be the same. C86. */
#include <stdio.h>
#include <string.h>

#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/toggle.h"
#include "fixture.h"

#define ENTITIES 300
#define MOST 1000
#define WORDS 8u
#define TABLES 64u
#define COMPONENTS 9u

static struct fixture at_once, each;
static struct any_owner owner;
static uint64_t state;

static unsigned random_below(unsigned n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(state >> 33) % n;
}

/* What changes, and of which rows. */
static enum command_kind kind;
static unsigned component;
static uint64_t bits[TABLES][WORDS];

/* Of a table. */
struct picked {
  uint32_t table;
  const uint64_t *bits;
};

static const enum command_kind kinds[] = {COMMAND_ADD, COMMAND_REMOVE, COMMAND_DESPAWN};

static ecs_id component_id(const struct fixture *f, unsigned nth) {
  const ecs_id ids[] = {f->position, f->velocity, f->health, f->label, f->link, f->frozen,
                        f->enemy, f->a, f->b};
  return ids[nth];
}

/* Rows that have more than cells of their own: `a` can be off and is marked, `b` holds slots. */
static void declare_more(struct fixture *f) {
  ecs_field light = {.name = "light", .type = ECS_F64}, value = {.name = "value", .type = ECS_ANY};
  ecs_component_desc lamp = {.name = "Lamp", .fields = &light, .field_count = 1, .toggle = true,
                             .track = true};
  CHECK_OK(f->world, ecs_component(f->world, &lamp, &f->a));
  f->b = declare_fields(f->world, "Bag", &value, 1, 0);
  f->query = new_query(f->world, "Lamp:changed");
}

static void fill_more(struct fixture *f, ecs_id id, int i) {
  struct write write = {0, {.u64 = 0}};
  bool off = i % 3 == 0 && ecs_has(f->world, id, f->a);
  if (off) CHECK_OK(f->world, ecs_disable(f->world, id, f->a));
  if (!ecs_has(f->world, id, f->b)) return;
  CHECK(any_take(&f->world->any, &f->world->memory, &owner, &write.cell.u32) == ECS_OK);
  CHECK_OK(f->world, entity_set(f->world, id, component_of(f->world, f->b), &write, 1));
}

static void fill(struct fixture *f) {
  for (int i = 0; i < ENTITIES; i++) {
    ecs_id list[COMPONENTS], id;
    size_t count = 0;
    for (unsigned nth = 0; nth < COMPONENTS; nth++)
      if (random_below(4) == 0) list[count++] = component_id(f, nth);
    CHECK_OK(f->world, ecs_spawn(f->world, list, count, &id));
    if (ecs_has(f->world, id, f->position)) set_position(f, id, (float)i, (float)-i);
    if (ecs_has(f->world, id, f->health))
      CHECK_OK(f->world, ecs_set(f->world, id, f->health, &(struct health){i, (uint8_t)i}));
    fill_more(f, id, i);
    if (i % 40 == 0) f->world->now++;
    char name[16];
    snprintf(name, sizeof name, "e%d", i);
    if (i % 50 == 0) CHECK_OK(f->world, ecs_name(f->world, id, name));
  }
}

/* Rows of all tables that there are. */
static uint32_t pick(struct picked *list) {
  const struct graph *graph = &at_once.world->graph;
  unsigned share = random_below(4);
  uint32_t count = 0;
  memset(bits, 0, sizeof bits);
  for (uint32_t i = 0; i < graph->table_count && i < TABLES; i++) {
    const struct table *table = graph->tables[i];
    if (!table || table->count > 64 * WORDS) continue;
    /* Behind its words there is something else. */
    for (uint32_t word = (table->count + 63) / 64; word < WORDS; word++) bits[i][word] = UINT64_MAX;
    for (uint32_t row = 0; row < table->count; row++)
      if (share == 3 || random_below(4) <= share) bits[i][row / 64] |= UINT64_C(1) << row % 64;
    list[count++] = (struct picked){i, bits[i]};
  }
  return count;
}

static ecs_status change_one(struct fixture *f, ecs_id entity) {
  ecs_id id = component_id(f, component);
  if (kind == COMMAND_DESPAWN) return ecs_despawn(f->world, entity);
  return kind == COMMAND_ADD ? ecs_add(f->world, entity, id) : ecs_remove(f->world, entity, id);
}

/* The entities of these rows. */
static size_t list_entities(const struct fixture *f, const struct picked *list, uint32_t count,
                            ecs_id *ids) {
  size_t found = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct table *table = f->world->graph.tables[list[i].table];
    for (uint32_t row = 0; row < table->count; row++)
      if (list[i].bits[row / 64] >> row % 64 & 1)
        ids[found++] = entity_id(&f->world->entities, table->rows[row]);
  }
  return found;
}

static void change_each(struct fixture *f, const struct picked *list, uint32_t count) {
  ecs_id ids[MOST];
  size_t found = list_entities(f, list, count, ids);
  for (size_t i = 0; i < found; i++) CHECK_OK(f->world, change_one(f, ids[i]));
}

/* By rows: of one table, or of many, the batch becomes a list when an entity comes alone. */
static void change_rows(struct fixture *f, ecs_id id, const struct picked *list, uint32_t count) {
  ecs_world *world = f->world;
  bool listed = random_below(4) == 0;
  CHECK_OK(world, ecs_defer(world));
  for (uint32_t i = 0; i < count; i++) {
    struct table *table = world->graph.tables[list[i].table];
    CHECK(batch_takes_rows(world, kind, id, table));
    CHECK_OK(world, batch_put_rows(world, kind, id, table, list[i].bits));
    CHECK_SOUND(world);
  }
  if (listed) CHECK_OK(world, command_reserve(world, 1, 0, 1));
  CHECK_SOUND(world);
  CHECK_OK(world, ecs_commit(world));
}

static void compare_tables(const struct table *a, const struct table *b) {
  if (!CHECK((a == NULL) == (b == NULL)) || !a || !CHECK(a->id_count == b->id_count) ||
      !CHECK(a->count == b->count))
    return;
  CHECK(memcmp(a->ids, b->ids, a->id_count * sizeof *a->ids) == 0);
  if (a->count == 0) return;
  CHECK(memcmp(a->rows, b->rows, a->count * sizeof *a->rows) == 0);
  for (uint32_t i = 0; i < a->column_count; i++)
    CHECK(memcmp(a->columns[i].data, b->columns[i].data, (size_t)a->count * a->columns[i].size) ==
          0);
  for (uint32_t i = 0; i < a->toggle_count; i++)
    for (uint32_t row = 0; row < a->count; row++)
      CHECK(toggle_bit(&a->toggles[i], row) == toggle_bit(&b->toggles[i], row));
  if (!CHECK(a->mark_count == b->mark_count) || a->mark_count == 0) return;
  CHECK(memcmp(a->marks->rows, b->marks->rows, a->count * sizeof *a->marks->rows) == 0);
  CHECK(memcmp(a->marks->added, b->marks->added, a->count * sizeof *a->marks->added) == 0);
}

static void compare_worlds(void) {
  const struct graph *a = &at_once.world->graph, *b = &each.world->graph;
  if (!CHECK(a->table_count == b->table_count)) return;
  for (uint32_t i = 0; i < a->table_count; i++) compare_tables(a->tables[i], b->tables[i]);
  for (int i = 0; i < 8; i++)
    CHECK(spawn_empty(at_once.world) == spawn_empty(each.world));
  CHECK(world_digest(at_once.world) == world_digest(each.world));
  CHECK(at_once.world->any.used == each.world->any.used);
  CHECK_SOUND(at_once.world);
}

/* Both worlds, with the same in them. */
static void open_alike(long seed) {
  check_context("seed %ld", seed);
  open_usual(&at_once);
  open_usual(&each);
  owner = (struct any_owner){0};
  declare_more(&at_once);
  declare_more(&each);
  state = (uint64_t)seed * 104729;
  fill(&at_once);
  state = (uint64_t)seed * 104729;
  fill(&each);
}

static void same_as_one_by_one(void) {
  long seeds = by_scale(60, 300, 3000);
  for (long seed = 1; seed <= seeds && check_failures() == 0; seed++) {
    open_alike(seed);
    for (int i = 0; i < 6 && check_failures() == 0; i++) {
      struct picked list[TABLES];
      uint32_t count = pick(list);
      kind = kinds[random_below(3)];
      component = random_below(COMPONENTS);
      ecs_id id = kind == COMMAND_DESPAWN ? ECS_NULL : component_id(&at_once, component);
      CHECK(batch_is_plain(at_once.world, kind, id));
      change_each(&each, list, count);
      change_rows(&at_once, id, list, count);
      compare_worlds();
    }
    close_world(&at_once);
    close_world(&each);
  }
  check_context(NULL);
}

/* Adds and removes of many entities, in any order; what each gets may differ. Or all of them
** die. */
static void change_many(struct fixture *f, const ecs_id *ids, size_t count, bool staged) {
  uint64_t before = state;
  bool ends = random_below(3) == 0;
  kind = ends ? COMMAND_DESPAWN : COMMAND_ADD;
  component = random_below(COMPONENTS);
  if (staged) CHECK_OK(f->world, ecs_defer(f->world));
  for (size_t i = 0; i < count; i++) {
    if (!ends && random_below(8) == 0) {
      kind = random_below(2) ? COMMAND_ADD : COMMAND_REMOVE;
      component = random_below(COMPONENTS);
    }
    CHECK_OK(f->world, change_one(f, ids[i]));
  }
  if (staged) CHECK_OK(f->world, ecs_commit(f->world));
  if (staged) state = before;
}

static void shuffle(ecs_id *ids, size_t count) {
  for (size_t i = count; i > 1; i--) {
    size_t other = random_below((unsigned)i);
    ecs_id id = ids[i - 1];
    ids[i - 1] = ids[other];
    ids[other] = id;
  }
}

static void same_when_staged(void) {
  long seeds = by_scale(60, 300, 3000);
  for (long seed = 1; seed <= seeds && check_failures() == 0; seed++) {
    open_alike(seed);
    for (int i = 0; i < 6 && check_failures() == 0; i++) {
      struct picked list[TABLES];
      ecs_id ids[MOST];
      size_t found = list_entities(&each, list, pick(list), ids);
      if (random_below(2)) shuffle(ids, found);
      change_many(&at_once, ids, found, true);
      change_many(&each, ids, found, false);
      compare_worlds();
    }
    close_world(&at_once);
    close_world(&each);
  }
  check_context(NULL);
}

/* The entities of a few tables, in no order. */
static size_t list_few(ecs_id *ids) {
  struct picked list[TABLES], few[3];
  uint32_t count = pick(list), tables = 1 + random_below(3);
  for (uint32_t i = 0; i < tables; i++) few[i] = list[random_below(count)];
  for (uint32_t i = 1; i < tables; i++)
    if (few[i].table == few[i - 1].table || few[i].table == few[0].table) tables = i;
  size_t found = list_entities(&each, few, tables, ids);
  shuffle(ids, found);
  return found;
}

static void change_from_to(struct fixture *f, const ecs_id *ids, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) CHECK_OK(f->world, change_one(f, ids[i]));
}

/* Parts of the entities in scopes of their own, which may be cancelled, and end before the other
** one; some twice, as what is not the only command on its entity is kept otherwise. */
static void change_in_scopes(const ecs_id *ids, size_t count) {
  ecs_world *world = at_once.world;
  bool drops[2] = {random_below(2), random_below(2)}, twice = random_below(4) == 0;
  size_t first = random_below(2) ? count / 4 : 0;
  size_t ends[] = {first, count / 2, count * 3 / 4};
  CHECK_OK(world, ecs_defer(world));
  change_from_to(&at_once, ids, 0, first);
  change_from_to(&each, ids, 0, first);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(world, ecs_defer(world));
    change_from_to(&at_once, ids, ends[i], ends[i + 1]);
    CHECK_SOUND(world);
    CHECK_OK(world, (drops[i] ? ecs_cancel : ecs_commit)(world));
    if (!drops[i]) change_from_to(&each, ids, ends[i], ends[i + 1]);
  }
  change_from_to(&at_once, ids, ends[2], count);
  change_from_to(&each, ids, ends[2], count);
  if (twice) change_from_to(&at_once, ids, 0, first);
  CHECK_SOUND(world);
  CHECK_OK(world, ecs_commit(world));
}

static void same_in_scopes(void) {
  long seeds = by_scale(100, 500, 5000);
  for (long seed = 1; seed <= seeds && check_failures() == 0; seed++) {
    open_alike(seed);
    for (int i = 0; i < 8 && check_failures() == 0; i++) {
      ecs_id ids[MOST];
      size_t count = list_few(ids);
      kind = kinds[random_below(3)];
      component = random_below(COMPONENTS);
      change_in_scopes(ids, count);
      compare_worlds();
    }
    close_world(&at_once);
    close_world(&each);
  }
  check_context(NULL);
}

/* Where more than rows is meant it is not for this. */
static void knows_what_is_more(void) {
  open_usual(&each);
  ecs_world *world = each.world;
  ecs_query *query = new_query(world, "Position, Velocity?");
  CHECK(query_rows_are_whole(&query->terms));
  CHECK(batch_is_plain(world, COMMAND_ADD, each.position));
  CHECK(batch_is_plain(world, COMMAND_DESPAWN, ECS_NULL));
  CHECK_OK(world, ecs_defer(world));
  each.a = SPAWN(world, each.position);
  const struct table *table = world->graph.tables[0];
  CHECK(!batch_takes_rows(world, COMMAND_ADD, each.position, table));
  CHECK_OK(world, ecs_commit(world));
  CHECK(batch_is_plain(world, COMMAND_ADD, each.position));
  ecs_id child_of, thin;
  CHECK_OK(world, ecs_child_of(world, &child_of));
  CHECK(!batch_is_plain(world, COMMAND_REMOVE, child_of));
  CHECK_OK(world, ecs_component(world, &(ecs_component_desc){.name = "Thin", .sparse = true},
                                &thin));
  CHECK(!batch_is_plain(world, COMMAND_ADD, thin));
  CHECK_OK(world, ecs_add(world, each.a, thin));
  CHECK(!batch_is_plain(world, COMMAND_DESPAWN, ECS_NULL));
  CHECK(batch_is_plain(world, COMMAND_ADD, each.position));
  CHECK(!query_rows_are_whole(&new_query(world, "Position:changed")->terms));
  CHECK(!query_rows_are_whole(&new_query(world, "Thin, Position")->terms));
  close_world(&each);
}

static const struct test tests[] = {
  {"C86: some rows of tables change at once as they do one by one", same_as_one_by_one},
  {"C86: many adds and removes of a scope apply as they do one by one", same_when_staged},
  {"C86: what scopes within scopes keep applies as it does one by one", same_in_scopes},
  {"what is tied, sparse or staged does not change by rows", knows_what_is_more},
};

int main(void) { return RUN_TESTS(tests); }
