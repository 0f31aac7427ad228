/* Operations about what is tied to what, and about components kept outside of tables, each with
** what must hold after it. */
#include <stdio.h>
#include <string.h>

#include "../c/content.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "operations_state.h"

#define MOST_SOURCES 64u
#define MOST_TARGETS 2000u

/* ---- what the bytes name ---- */

/* A relation where there is one, at times any component. */
static ecs_id take_relation(struct machine *m) {
  static const char *const known[] = {"A", "B", "C", "D", "E", "F", "ChildOf"};
  ecs_id relations[sizeof known / sizeof *known];
  uint32_t count = 0;
  uint8_t byte = take_byte(&m->in);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const struct component *component =
        component_of(m->world, ecs_component_find(m->world, known[i]));
    if (component && component->ties.relation) relations[count++] = component->id;
  }
  if (byte < 240 && count) return relations[byte % count];
  return ecs_component_find(m->world, known[byte % NAMES]);
}

static ecs_id take_pair(struct machine *m) {
  ecs_id relation = take_relation(m);
  return ecs_pair(relation, take_entity(m));
}

/* Up to 4 components or pairs. */
static size_t take_ties(struct machine *m, ecs_id *list) {
  uint8_t byte = take_byte(&m->in);
  for (uint32_t i = 0; i < byte % 5u; i++)
    list[i] = byte >> (i + 3) & 1 ? take_component(m) : take_pair(m);
  return byte % 5u;
}

/* ---- declaring ---- */

static ecs_status declare(struct machine *m, ecs_component_desc *desc) {
  ecs_id id;
  ecs_status status = desc->relation ? ecs_relation(m->world, desc, &id)
                                     : ecs_component(m->world, desc, &id);
  m->changes += status == ECS_OK;
  return status;
}

static ecs_component_desc desc_of(const char *name, const struct fields *fields) {
  return (ecs_component_desc){.name = name, .fields = fields->list,
                              .field_count = fields->count, .was = fields->was,
                              .was_count = fields->was_count, .required = fields->required,
                              .required_count = fields->required_count,
                              .old_name = fields->old_name};
}

ecs_status do_relation(struct machine *m) {
  struct fields fields;
  const char *name = take_name(m);
  uint8_t byte = take_byte(&m->in);
  take_fields(m, &fields);
  ecs_component_desc desc = desc_of(name, &fields);
  desc.relation = true;
  desc.exclusive = byte & 1;
  desc.acyclic = byte & 2;
  desc.on_target_despawn = (ecs_policy)(byte / 4 % 3);
  return declare(m, &desc);
}

ecs_status do_sparse(struct machine *m) {
  struct fields fields;
  const char *name = take_name(m);
  take_fields(m, &fields);
  ecs_component_desc desc = desc_of(name, &fields);
  desc.toggle = fields.toggle;
  desc.track = fields.track;
  desc.sparse = take_below(&m->in, 8) != 0;
  return declare(m, &desc);
}

/* ---- tying ---- */

ecs_status do_tie(struct machine *m) {
  ecs_id entity = take_entity(m), pair = take_pair(m);
  ecs_status status = ecs_add(m->world, entity, pair);
  if (status == ECS_OK && m->world->staging.open == 0)
    MUST(m->world, ecs_has(m->world, entity, pair));
  return status;
}

ecs_status do_untie(struct machine *m) {
  ecs_id entity = take_entity(m), pair = take_pair(m);
  ecs_status status = ecs_remove(m->world, entity, pair);
  if (status == ECS_OK && m->world->staging.open == 0)
    MUST(m->world, !ecs_has(m->world, entity, pair));
  return status;
}

ecs_status do_set_tie(struct machine *m) {
  ecs_id entity = take_entity(m), pair = take_pair(m);
  const void *value = take_value(m, pair);
  return value ? ecs_set(m->world, entity, pair, value) : ECS_OK;
}

/* Makes it where nobody has named it yet. */
static ecs_status need_child_of(struct machine *m, ecs_id *child_of) {
  bool known = ecs_component_find(m->world, "ChildOf") != ECS_NULL;
  ecs_status status = ecs_child_of(m->world, child_of);
  m->changes += status == ECS_OK && !known;
  m->digest = world_digest(m->world);
  return status;
}

ecs_status do_child(struct machine *m) {
  ecs_id child = take_entity(m), parent = take_entity(m), child_of;
  ecs_status status = need_child_of(m, &child_of);
  return status == ECS_OK ? ecs_add(m->world, child, ecs_pair(child_of, parent)) : status;
}

ecs_status do_spawn_tied(struct machine *m) {
  ecs_id list[4];
  uint32_t to = take_below(&m->in, KEPT);
  size_t count = take_ties(m, list);
  return spawn_kept(m, list, count, to);
}

/* Both ways are told alike. */
ecs_status do_look(struct machine *m) {
  ecs_id entity = take_entity(m), relation = take_relation(m), ids[MOST_SOURCES];
  const ecs_world *world = m->world;
  size_t count = ecs_sources(world, entity, relation, ids, MOST_SOURCES);
  for (size_t i = 0; i < count && i < MOST_SOURCES; i++) {
    MUST(world, ecs_alive(world, ids[i]));
    MUST(world, ecs_has(world, ids[i], ecs_pair(relation, entity)));
  }
  uint32_t left = MOST_TARGETS;
  ecs_id target = ecs_target(world, entity, relation);
  for (; target && left; left--) {
    MUST(world, ecs_alive(world, target));
    MUST(world, ecs_has(world, entity, ecs_pair(relation, target)));
    MUST(world, ecs_sources(world, target, relation, ids, MOST_SOURCES) > 0);
    target = ecs_next_target(world, entity, relation, target);
  }
  MUST(world, left > 0);
  return ECS_OK;
}

/* ---- queries ---- */

/* What stands before a relation's name, between that and a component's, and behind; NULL: the name
** before it is left out. */
static const struct form { const char *tie, *component, *end; } forms[] = {
  {"(", NULL, ", *)"}, {"(", NULL, ", $p)"}, {"(", NULL, ", $x)"}, {"!(", NULL, ", $p)"},
  {"(", NULL, ", $p)?"}, {"with (", NULL, ", *)"}, {"", "->", ""}, {"", "->", "?"},
  {"", "*->", ":in"}, {NULL, "", ".of->A"}, {NULL, "", "($x)"}, {NULL, "", ""},
  {NULL, "!", ""}, {NULL, "", "?"}, {"(", ", ", ")"}, {"!(", NULL, ", $x)"},
  {NULL, "", ".to->B?"}, {NULL, "ChildOf->", ":in?"}, {NULL, "with ", ""}, {NULL, "", ":off"},
  {NULL, "", ":any"}, {"", "->", ".x"}, {"", "*->", "?"}, {"(", NULL, ", $x)?"}
};

static size_t put_term(struct machine *m, char *text, size_t size) {
  const struct form *form = &forms[take_byte(&m->in) % (sizeof forms / sizeof *forms)];
  const char *tie = form->tie ? ecs_component_name(m->world, take_relation(m)) : "";
  const char *name = form->component ? take_name(m) : "";
  int written = snprintf(text, size, "%s%s%s%s%s", form->tie ? form->tie : "", tie ? tie : "A",
                         form->component ? form->component : "", name, form->end);
  return (size_t)written;
}

ecs_status do_tied_query(struct machine *m) {
  char text[128];
  size_t used = 0;
  ecs_query *made;
  uint32_t at = take_below(&m->in, QUERIES), count = take_below(&m->in, 4) + 1;
  for (uint32_t i = 0; i < count; i++) {
    if (i) used += (size_t)snprintf(text + used, sizeof text - used, ", ");
    used += put_term(m, text + used, sizeof text - used);
  }
  ecs_variable given = {"p", take_entity(m)};
  if (is_looped(m, m->queries[at])) return ECS_OK;
  ecs_id child_of;
  ecs_status status = need_child_of(m, &child_of);
  if (status == ECS_OK)
    status = ecs_query_with(m->world, text, &given, strstr(text, "$p") ? 1 : 0, &made);
  if (status != ECS_OK) return status;
  ecs_query_free(m->queries[at]);
  m->queries[at] = made;
  return ECS_OK;
}

ecs_status do_query_tie(struct machine *m) {
  ecs_query *query = m->queries[take_below(&m->in, QUERIES)];
  bool adds = take_below(&m->in, 2);
  ecs_id pair = take_pair(m);
  if (!query) return ECS_OK;
  return adds ? ecs_query_add(query, pair) : ecs_query_remove(query, pair);
}

static size_t go_through(ecs_iter *it) {
  const ecs_world *world = it->query->world;
  size_t count = 0;
  while (ecs_iter_next(it)) {
    count += it->count;
    for (size_t row = 0; row < it->count; row++)
      MUST(world, is_of_row(it, row));
    for (uint32_t i = 0; i < 3; i++) {
      ecs_id value = ecs_iter_value(it, i);
      MUST(world, value == ECS_NULL || ecs_alive(world, value));
    }
  }
  return count;
}

/* What a query counts it gives. */
ecs_status do_walk(struct machine *m) {
  ecs_query *query = m->queries[take_below(&m->in, QUERIES)];
  ecs_iter it;
  if (!query) return ECS_OK;
  size_t count = ecs_query_count(query);
  ecs_status status = ecs_iter_open(query, &it);
  if (status != ECS_OK) return status;
  uint64_t refused = m->memory.refused;
  size_t seen = go_through(&it);
  m->memory.fail_at = 0;
  bool alone = m->world->staging.command_count == 0;
  status = ecs_iter_close(&it);
  MUST(m->world, status == ECS_OK || !alone || refused != m->memory.refused);
  if (refused == m->memory.refused) MUST(m->world, seen == count);
  return status;
}
