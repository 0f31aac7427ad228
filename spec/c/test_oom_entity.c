/* Reliability line 2: running out of memory in calls on entities. C18. */
#include <stdio.h>

#include "sweep.h"

#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"

/* ---- spawning ---- */

static ecs_status spawn_one(struct fixture *f) {
  const ecs_id ids[] = {f->position, f->health, f->frozen};
  return ecs_spawn(f->world, ids, 3, &f->a);
}

static void watch(struct fixture *f) {
  f->query = new_query(f->world, "Position, !Enemy");
  new_query(f->world, "Position, Health?");
  new_query(f->world, "!Enemy");
  new_query(f->world, "Velocity|Health, Frozen");
}

static ecs_status spawn_few(struct fixture *f) {
  const ecs_id ids[] = {f->velocity};
  return ecs_spawn_many(f->world, 3, ids, 1, f->ids);
}

static void leave_holes(struct fixture *f) {
  for (int i = 0; i < 8; i++) f->ids[i] = SPAWN(f->world, f->position);
  for (int i = 0; i < 8; i += 2) CHECK_OK(f->world, ecs_despawn(f->world, f->ids[i]));
}

#define FAR_AWAY (UINT64_C(200000000) | UINT64_C(7) << 28 | UINT64_C(1) << 44)
#define NEAR (UINT64_C(65540) | UINT64_C(1) << 44)

static void spawn_more(struct fixture *f) {
  for (int i = 0; i < 40; i++) {
    ecs_id id = SPAWN(f->world, f->position, f->label);
    set_position(f, id, (float)i, -1);
  }
}

/* ---- changing ---- */

static void one_entity(struct fixture *f) {
  f->a = SPAWN(f->world, f->position);
  f->b = SPAWN(f->world, f->position, f->velocity, f->frozen);
  set_position(f, f->a, 1, 2);
  watch(f);
}

static ecs_status set_known(struct fixture *f) {
  return ecs_set(f->world, f->a, f->position, &(struct position){3, 4});
}

static ecs_status set_text(struct fixture *f) {
  struct label label = {text_of("a text that is new")};
  return ecs_set(f->world, f->a, f->label, &label);
}

static void labelled(struct fixture *f) {
  one_entity(f);
  CHECK_OK(f->world, ecs_add(f->world, f->a, f->label));
}

/* The string table is about to grow, and then to be swept. */
static void many_texts(struct fixture *f) {
  labelled(f);
  static char text[9000];
  for (int i = 0; i < 15; i++) {
    int size = snprintf(text, sizeof text, "%8000d", i);
    struct label label = {{text, (size_t)size}};
    CHECK_OK(f->world, ecs_set(f->world, i % 3 ? f->a : f->b, f->label, &label));
  }
}

static ecs_status add_known(struct fixture *f) {
  return ecs_add(f->world, f->b, f->frozen);
}

static ecs_status add_to_component(struct fixture *f) {
  return ecs_add(f->world, f->position, f->enemy);
}

static ecs_status despawn(struct fixture *f) { return ecs_despawn(f->world, f->b); }

/* ---- names ---- */

static void named(struct fixture *f) {
  one_entity(f);
  char name[] = "other a";
  for (char c = 'a'; c <= 'l'; c++) {
    name[6] = c;
    CHECK_OK(f->world, ecs_name(f->world, spawn_empty(f->world), name));
  }
  CHECK_OK(f->world, ecs_name(f->world, f->a, "hero"));
}

static ecs_status clear_name(struct fixture *f) { return ecs_name(f->world, f->a, NULL); }

/* ---- many at once ---- */

static void crowd(struct fixture *f) {
  for (int i = 0; i < 40; i++) {
    ecs_id id = SPAWN(f->world, f->position);
    if (i % 2) CHECK_OK(f->world, ecs_add(f->world, id, f->velocity));
    if (i % 3) CHECK_OK(f->world, ecs_add(f->world, id, f->frozen));
    if (i % 5 == 0) CHECK_OK(f->world, ecs_add(f->world, id, f->label));
    set_position(f, id, (float)i, 0);
  }
  watch(f);
}

static ecs_status query_despawn(struct fixture *f) { return ecs_query_despawn(f->query); }

/* Sets a component of every row of a query that some of them lack, as one call of a host does. */
static ecs_status set_many(struct fixture *f, ecs_id id) {
  ecs_id ids[64];
  size_t count = 0;
  uint32_t scope;
  struct component *component;
  CHECK_OK(f->world, component_need_id(f->world, id, &component));
  const struct write writes[] = {{.leaf = 1, .cell.f32 = 7}, {.leaf = 0, .cell.f32 = 8}};
  for (uint32_t i = 0; i < f->query->count; i++) {
    const struct table *table = world_table(f->world, f->query->tables[i]);
    for (uint32_t row = 0; row < table->count; row++)
      ids[count++] = entity_id(&f->world->entities, table->rows[row]);
  }
  ecs_status status = scope_open(f->world, SCOPE_SYSTEM, &scope);
  if (status != ECS_OK) return status;
  status = entity_set_many(f->world, ids, count, component, writes, 2, 0);
  if (status == ECS_OK) status = scope_commit(f->world, scope);
  if (status != ECS_OK) scope_cancel(f->world, scope);
  return status;
}

static ecs_status set_partly(struct fixture *f) { return set_many(f, f->velocity); }

static void retire_one(struct fixture *f) {
  spawn_more(f);
  ecs_id last = UINT64_C(70000) | UINT64_C(65535) << 28 | UINT64_C(1) << 44;
  CHECK_OK(f->world, ecs_spawn_at(f->world, last, &f->position, 1));
  f->a = SPAWN(f->world, f->link);
  CHECK_OK(f->world, ecs_set(f->world, f->a, f->link, &(struct link){last}));
  CHECK_OK(f->world, ecs_despawn(f->world, last));
}

static ecs_status recycle(struct fixture *f) {
  size_t count = 0;
  ecs_status status = ecs_recycle_retired(f->world, &count);
  CHECK_INTEGER(1, count);
  return status;
}

static ecs_status set_range(struct fixture *f) {
  return ecs_entity_range(f->world, 90000, 90100);
}

static void spawn_after(struct fixture *f) {
  CHECK_INTEGER(90000, ecs_id_index(spawn_empty(f->world)));
}

static const struct operation operations[] = {
  {"C18: spawn into a new table", NULL, spawn_one, NULL, ASKS},
  {"spawn_many that fills reused slots first", leave_holes, spawn_few, NULL, ASKS},
  {"set of a present component", one_entity, set_known, NULL, ASKS_NOTHING},
  {"set that sweeps the strings", many_texts, set_text, NULL, ASKS},
  {"add of what is there", one_entity, add_known, NULL, ASKS_NOTHING},
  {"add to a component", one_entity, add_to_component, NULL, ASKS},
  {"despawn", one_entity, despawn, NULL, ASKS_NOTHING},
  {"no name any more", named, clear_name, NULL, ASKS_NOTHING},
  {"query_despawn", crowd, query_despawn, NULL, ASKS_NOTHING},
  {"set of many, of which some have it", crowd, set_partly, NULL, ASKS},
  {"recycle_retired", retire_one, recycle, NULL, ASKS_NOTHING},
  {"entity_range", spawn_more, set_range, spawn_after, ASKS_NOTHING},
};

int main(void) { return RUN_SWEEPS(operations); }
