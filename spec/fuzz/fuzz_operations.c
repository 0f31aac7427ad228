/* Arbitrary calls of the C interface: after each the world is sound; after one that failed it
** is as it was; after one that ran out of memory the same call does what it says. Images and
** snapshots give the same world again. Each operation is a byte and what it takes from those
** that follow: from 0xDA on one about events, from 0xE0 on one about ties; from 0xF0 on it makes
** an allocation of the next one fail. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "../c/content.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "operations_state.h"

#define STEPS 400u
#define MOST_DEPTH 2u

/* ---- components ---- */

/* As in a struct of the host's, whose members do not overlap. */
static void lay_out(ecs_component_desc *desc, ecs_field *fields) {
  for (uint32_t i = 0; i < desc->field_count; i++)
    if (fields[i].count || fields[i].type == ECS_NESTED) return;
  for (uint32_t i = 0; i < desc->field_count; i++) fields[i].offset = 16 * i;
  desc->native_size = 16 * MOST_FIELDS;
}

static ecs_status do_declare(struct machine *m) {
  struct fields fields;
  const char *name = take_name(m);
  take_fields(m, &fields);
  ecs_component_desc desc = {.name = name, .fields = fields.list, .field_count = fields.count,
                             .was = fields.was, .was_count = fields.was_count,
                             .required = fields.required,
                             .required_count = fields.required_count,
                             .old_name = fields.old_name, .toggle = fields.toggle,
                             .track = fields.track};
  if (take_below(&m->in, 8) == 0) lay_out(&desc, fields.list);
  ecs_id id;
  ecs_status status = ecs_component(m->world, &desc, &id);
  m->changes += status == ECS_OK;
  return status;
}

static ecs_status do_undeclare(struct machine *m) {
  ecs_status status = ecs_undeclare(m->world, take_component(m));
  m->changes += status == ECS_OK;
  return status;
}

static ecs_status do_resource(struct machine *m) {
  ecs_status status = ecs_resource(m->world, take_component(m));
  m->changes += status == ECS_OK;
  return status;
}

static ecs_status do_resource_set(struct machine *m) {
  ecs_id id = take_component(m);
  const void *value = take_value(m, id);
  return value ? ecs_resource_set(m->world, id, value) : ECS_OK;
}

/* Declares an array, and writes an element: of an entity array only what lives. */
static ecs_status do_array(struct machine *m) {
  static const ecs_type types[] = {ECS_F32, ECS_I16, ECS_U64, ECS_ENTITY, ECS_STRING};
  const char *name = take_name(m);
  ecs_type type = types[take_below(&m->in, 5)];
  uint32_t length = take_below(&m->in, 20);
  ecs_id id, target = take_entity(m);
  ecs_status status = ecs_array(m->world, name, type, length, &id);
  m->changes += status == ECS_OK;
  if (status != ECS_OK) return status;
  size_t count;
  void *cells = ecs_array_data(m->world, id, &count);
  MUST(m->world, cells && count == length);
  if (type == ECS_I16) ((int16_t *)cells)[length - 1] = (int16_t)target;
  if (type == ECS_ENTITY && ecs_alive(m->world, target)) ((ecs_id *)cells)[length - 1] = target;
  return ECS_OK;
}

/* ---- entities ---- */

ecs_status spawn_kept(struct machine *m, const ecs_id *list, size_t count, uint32_t to) {
  ecs_id id;
  if (ecs_alive_count(m->world) > MOST_ALIVE) return ECS_OK;
  ecs_status status = ecs_spawn(m->world, list, count, &id);
  if (status == ECS_OK) m->ids[to] = id;
  return status;
}

static ecs_status do_spawn(struct machine *m) {
  ecs_id list[4];
  uint32_t to = take_below(&m->in, KEPT);
  size_t count = take_components(m, list);
  return spawn_kept(m, list, count, to);
}

static ecs_status do_spawn_many(struct machine *m) {
  ecs_id list[4], ids[256];
  uint32_t to = take_below(&m->in, KEPT), many = take_byte(&m->in);
  size_t count = take_components(m, list);
  if (ecs_alive_count(m->world) > MOST_ALIVE) return ECS_OK;
  ecs_status status = ecs_spawn_many(m->world, many, list, count, to % 2 ? ids : NULL);
  if (status == ECS_OK && to % 2 && many) m->ids[to] = ids[many - 1];
  return status;
}

static ecs_status do_spawn_at(struct machine *m) {
  ecs_id list[4];
  uint32_t to = take_below(&m->in, KEPT), index = take_byte(&m->in) * 37u;
  static const uint32_t generations[] = {0, 1, 2, 0xFFFF};
  ecs_id id = id_make(FIRST_ENTITY + index, generations[take_below(&m->in, 4)],
                      ecs_world_tag(m->world));
  ecs_status status = ecs_spawn_at(m->world, id, list, take_components(m, list));
  if (status == ECS_OK) m->ids[to] = id;
  return status;
}

static ecs_status do_despawn(struct machine *m) {
  return ecs_despawn(m->world, take_entity(m));
}

static ecs_status do_set(struct machine *m) {
  ecs_id entity = take_entity(m), id = take_component(m);
  const void *value = take_value(m, id);
  return value ? ecs_set(m->world, entity, id, value) : ECS_OK;
}

static bool is_toggle(const struct machine *m, ecs_id id) {
  const struct component *component = component_of(m->world, id);
  return component && component->toggle;
}

/* Toggles are added or switched on, removed or switched off: by a byte that other components do not
** take, so that for them the corpus means what it did before there were any. */
static ecs_status do_add(struct machine *m) {
  ecs_id entity = take_entity(m), id = take_component(m);
  if (is_toggle(m, id) && take_below(&m->in, 2)) return ecs_enable(m->world, entity, id);
  return ecs_add(m->world, entity, id);
}

static ecs_status do_remove(struct machine *m) {
  ecs_id entity = take_entity(m), id = take_component(m);
  if (!is_toggle(m, id) || take_below(&m->in, 3) == 0) return ecs_remove(m->world, entity, id);
  ecs_status status = ecs_disable(m->world, entity, id);
  bool staged = m->world->staging.open > 0;
  if (status == ECS_OK && !staged) MUST(m->world, !ecs_enabled(m->world, entity, id));
  return status;
}

static ecs_status do_name(struct machine *m) {
  static const char *const names[] = {NULL, "one", "two", "three", ""};
  ecs_id entity = take_entity(m);
  return ecs_name(m->world, entity, names[take_below(&m->in, 5)]);
}

/* ---- scopes, queries and loops ---- */

static ecs_status do_scope(struct machine *m) {
  uint32_t which = take_below(&m->in, 5);
  if (which < 2)
    return m->world->staging.open > 8 ? ECS_OK : ecs_defer(m->world);
  if (which == 4 && m->depth > 0) return ECS_OK;
  if (which == 4) {
    m->loop_count = 0;
    return ecs_abandon(m->world);
  }
  return which == 2 ? ecs_commit(m->world) : ecs_cancel(m->world);
}

bool is_looped(const struct machine *m, const ecs_query *query) {
  for (uint32_t i = 0; i < m->loop_count; i++)
    if (m->loops[i].query == query) return true;
  return false;
}

static ecs_status do_query(struct machine *m) {
  char text[96];
  ecs_query *made;
  uint32_t at = take_below(&m->in, QUERIES);
  take_query(m, text, sizeof text);
  if (is_looped(m, m->queries[at])) return ECS_OK;
  ecs_status status = ecs_query_new(m->world, text, &made);
  if (status != ECS_OK) return status;
  ecs_query_free(m->queries[at]);
  m->queries[at] = made;
  return ECS_OK;
}

static ecs_status do_query_change(struct machine *m) {
  ecs_query *query = m->queries[take_below(&m->in, QUERIES)];
  uint32_t which = take_below(&m->in, 3);
  ecs_id id = take_component(m);
  if (!query) return ECS_OK;
  if (which == 0) return ecs_query_despawn(query);
  return which == 1 ? ecs_query_add(query, id) : ecs_query_remove(query, id);
}

static ecs_status do_loop_open(struct machine *m) {
  ecs_query *query = m->queries[take_below(&m->in, QUERIES)];
  if (!query || m->loop_count == MOST_LOOPS) return ECS_OK;
  ecs_status status = ecs_iter_open(query, &m->loops[m->loop_count]);
  m->loop_count += status == ECS_OK;
  return status;
}

/* Rows are of living entities, but those of events of none. */
bool is_of_row(const ecs_iter *it, size_t row) {
  ecs_id entity = ecs_iter_entity(it, row);
  return it->query->terms.event ? entity == ECS_NULL : ecs_alive(it->query->world, entity);
}

/* Reads and writes back what is in the columns. */
static void walk_rows(ecs_iter *it, uint8_t byte) {
  for (uint32_t term = 0; term < 3; term++) {
    volatile uint8_t *bytes = ecs_iter_column(it, term, byte % 4);
    if (bytes) bytes[it->count - 1] = bytes[it->count - 1];
  }
  for (size_t row = 0; row < it->count; row++) MUST(it->query->world, is_of_row(it, row));
}

static ecs_status do_loop_next(struct machine *m) {
  uint8_t byte = take_byte(&m->in);
  if (m->loop_count == 0) return ECS_OK;
  ecs_iter *it = &m->loops[m->loop_count - 1];
  if (ecs_iter_next(it)) walk_rows(it, byte);
  return ECS_OK;
}

static ecs_status do_loop_close(struct machine *m) {
  if (m->loop_count == 0) return ECS_OK;
  ecs_iter *it = &m->loops[m->loop_count - 1];
  ecs_status status = ecs_iter_close(it);
  m->loop_count -= !it->open;
  return status;
}

/* ---- systems ---- */

static jmp_buf boundary;   /* where a system leaves an update to */

/* May leave while iterations and scopes are open. */
static ecs_status run_steps(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct machine *m = ud;
  uint32_t loops = m->loop_count;
  (void)world, (void)query, (void)dt;
  if (m->depth >= MOST_DEPTH) return ECS_OK;
  m->depth++;
  m->digest = world_digest(world);
  for (uint32_t i = take_below(&m->in, 4); i > 0 && m->in.at < m->in.end; i--) one_step(m);
  if (take_below(&m->in, 16) == 1) longjmp(boundary, 1);
  while (m->loop_count > loops) {
    uint64_t refused = m->memory.refused;
    ecs_status status = ecs_iter_close(&m->loops[--m->loop_count]);
    MUST(world, status != ECS_ENOMEM || m->memory.refused != refused);
  }
  m->depth--;
  return take_below(&m->in, 8) == 1 ? ECS_EUSER : ECS_OK;
}

static ecs_status do_system(struct machine *m) {
  static const char *const phases[] = {NULL, "startup", "fixed", "render"};
  static const char *const systems[] = {"one", "two", "three"};
  char query[64];
  const char *const after[] = {systems[take_below(&m->in, 3)], NULL};
  const char *name = systems[take_below(&m->in, 3)];
  uint8_t byte = take_byte(&m->in);
  ecs_system_desc desc = {.name = name, .phase = phases[byte % 4], .run = run_steps, .ud = m,
                          .every = byte & 4 ? 0.25 : 0, .after = byte & 8 ? after : NULL};
  if (byte & 16) {
    take_query(m, query, sizeof query);
    desc.query = query;
  }
  m->changes++;
  m->scheduled = true;
  return byte & 32 ? ecs_system_remove(m->world, name) : ecs_system_new(m->world, &desc);
}

static ecs_status do_phase(struct machine *m) {
  ecs_phase_desc desc = {.name = "fixed", .fixed = take_below(&m->in, 3) * 0.1};
  m->changes++;
  m->scheduled = true;
  return ecs_phase(m->world, &desc);
}

static ecs_status do_switch(struct machine *m) {
  static const char *const names[] = {"one", "two", "fixed", "update"};
  uint8_t byte = take_byte(&m->in);
  m->scheduled = true;
  return ecs_switch(m->world, names[byte % 4], byte & 4);
}

static ecs_status do_update(struct machine *m) {
  double dt = take_below(&m->in, 8) * 0.05;
  if (m->depth > 0 || setjmp(boundary) == 0) return ecs_update(m->world, dt);
  m->depth = m->loop_count = 0;
  return ecs_abandon(m->world);
}

/* ---- the target ---- */

static const operation operations[] = {
  do_declare, do_declare, do_spawn, do_spawn_many, do_spawn_at, do_despawn, do_set, do_set,
  do_add, do_remove, do_name, do_undeclare, do_resource, do_resource_set, do_scope, do_query,
  do_query_change, do_loop_open, do_loop_next, do_loop_close, do_system, do_phase, do_switch,
  do_update, do_save, do_load, do_elsewhere, do_snapshot, do_restore, do_widen, do_range,
  do_recycle, do_array
};

#define OPERATIONS (sizeof operations / sizeof *operations)

static const operation tie_operations[16] = {
  do_relation, do_relation, do_sparse, do_tie, do_tie, do_untie, do_set_tie, do_child,
  do_spawn_tied, do_spawn_tied, do_tied_query, do_tied_query, do_walk, do_walk, do_query_tie,
  do_look
};

static const operation event_operations[] = {
  do_event, do_emit, do_emit, do_after, do_event_query, do_event_query
};

static operation operation_of(uint8_t byte) {
  if (byte >= 0xDA && byte < 0xE0) return event_operations[byte - 0xDA];
  return byte < 0xE0 ? operations[byte % OPERATIONS] : tie_operations[byte % 16];
}

static void look(struct machine *m) {
  MUST_OK(m->world, ecs_check(m->world));
  MUST(m->world, ecs_bytes(m->world) == m->memory.bytes);
}

/* Whether a scope has ended with a failure: but for some commands everything was applied. */
static bool has_applied(const struct machine *m) {
  return strcmp(ecs_message(m->world), m->world->staging.refusal) == 0;
}

static void check_failure(struct machine *m, operation act) {
  look(m);
  if (act == do_update) return;   /* what its systems did and said is theirs */
  MUST(m->world, ecs_message(m->world)[0] != '\0');
  if ((act == do_scope || act == do_loop_close) && has_applied(m)) return;
  MUST(m->world, world_digest(m->world) == m->digest);
}

static void act_starved(struct machine *m, operation act, uint8_t first) {
  struct input before = m->in;
  m->memory.fail_at = first == 0xFF ? take_byte(&m->in) + 1u : first - 0xEFu;
  m->memory.fail_on = first & 1;
  before = m->in;
  ecs_status status = act(m);
  m->memory.fail_at = 0;
  if (status != ECS_OK) check_failure(m, act);
  if (status != ECS_ENOMEM || act == do_update) return;
  m->in = before;
  status = act(m);
  MUST(m->world, status != ECS_ENOMEM);
  if (status != ECS_OK) check_failure(m, act);
}

void one_step(struct machine *m) {
  uint8_t byte = take_byte(&m->in);
  if (m->steps++ > STEPS) return;
  if (byte >= 0xF0) {
    act_starved(m, operation_of(take_byte(&m->in)), byte);
  } else {
    operation act = operation_of(byte);
    uint64_t refused = m->memory.refused;
    ecs_status status = act(m);
    MUST(m->world, status != ECS_ENOMEM || m->memory.refused != refused);
    if (status != ECS_OK) check_failure(m, act);
  }
  look(m);
  m->digest = world_digest(m->world);
}

/* Iterators over events have memory of their own, which goes when they are closed. */
static void end_scopes(struct machine *m) {
  for (;;) {
    while (ecs_cancel(m->world) == ECS_OK) continue;
    if (m->loop_count == 0) return;
    ecs_iter *it = &m->loops[--m->loop_count];
    (void)ecs_iter_close(it);
    MUST(m->world, !it->open);
  }
}

void fuzz_operations(const uint8_t *data, size_t size) {
  struct machine m;
  memset(&m, 0, sizeof m);
  m.in = (struct input){data, data + size};
  ecs_world_desc desc = {.alloc = limited_alloc, .alloc_ud = &m.memory, .tag = 9, .seed = 5};
  MUST_OK(NULL, ecs_world_new(&desc, &m.world));
  m.digest = world_digest(m.world);
  while (m.in.at < m.in.end && m.steps < STEPS) one_step(&m);
  end_scopes(&m);
  look(&m);
  image_clear(&m.saved);
  image_clear(&m.snapshot_image);
  ecs_world_free(m.world);
  MUST(NULL, m.memory.bytes == 0);
}
