#include "core/command/watch.h"

#include "core/base/memory.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"

/* ---- observers that are switched on ---- */

void watching_add(ecs_world *world, struct watch *watch, uint64_t place) {
  struct watching *watching = world->watching;
  assert(!watch->on);
  watch->on = true;
  watch->place = place;
  watch->query->watch = watch;
  watching->sets += watch->kind == WATCH_SET;
  watching->version++;
  world->staging.watched++;
}

void watching_remove(ecs_world *world, struct watch *watch) {
  struct watching *watching = world->watching;
  if (!watch->on) return;
  watch->on = false;
  watch->query->watch = NULL;
  watching->sets -= watch->kind == WATCH_SET;
  watching->version++;
  world->staging.watched--;
}

bool watching_sets_of(const ecs_world *world, ecs_id component) {
  const ecs_query *query = world->watching->sets ? world->first_query : NULL;
  for (; query; query = query->next)
    if (query->watch && query->watch->kind == WATCH_SET && query->terms.terms->id == component)
      return true;
  return false;
}

/* ---- which queries can be watched ---- */

static const char *const kind_names[WATCH_KINDS] = {"exit", "remove", "despawn",
                                                    "add",  "enter",  "set"};

static ecs_status watch_refuse(const ecs_world *world, const ecs_query *query, const char *why) {
  return world_fail(world, ECS_EINVAL, "query '%s': %s", query->text, why);
}

/* Checks the first term, which add, remove and set watch. */
static ecs_status watch_check_first(ecs_world *world, enum watch_kind kind,
                                    const ecs_query *query) {
  const struct term *term = query->terms.terms;
  const char *on = kind_names[kind];
  if (query->terms.count == 0 || term->kind != TERM_WITH || term->group != NONE)
    return world_fail(world, ECS_EINVAL, "query '%s': on = \"%s\" watches the first term, which "
                      "must be a component that the entity itself has, as in 'Position, !Frozen'",
                      query->text, on);
  if (term->state == TERM_OFF || (term->state == TERM_ANY && term->component->toggle))
    return world_fail(world, ECS_EINVAL, "query '%s': on = \"%s\" fires whether '%s' is switched "
                      "on or off: leave out ':off' and ':any'", query->text, on,
                      term->component->name);
  if (kind == WATCH_SET && term->component->leaf_count == 0)
    return world_fail(world, ECS_EINVAL, "query '%s': on = \"set\" watches values, and '%s' is a "
                      "tag, which has none: write on = \"add\"", query->text,
                      term->component->name);
  return ECS_OK;
}

void watch_see_first(enum watch_kind kind, ecs_query *query) {
  if (kind != WATCH_ADD && kind != WATCH_REMOVE && kind != WATCH_SET) return;
  assert(query->terms.count > 0 && query->terms.terms->state != TERM_OFF);
  query->terms.terms->state = TERM_ANY;
  query_note_toggles(&query->terms);
}

ecs_status watch_check(ecs_world *world, enum watch_kind kind, const ecs_query *query) {
  const struct query_terms *terms = &query->terms;
  if (terms->event)
    return watch_refuse(world, query, "observers cannot watch events: read them in a system");
  if (terms->changes)
    return watch_refuse(
        world, query,
        "an observer is called only for changes: leave out ':changed' and ':added'");
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term_is_own(term) || term->form == TERM_PAIR) continue;
    return world_fail(world, ECS_EINVAL, "query '%s': an observer's terms must be about the "
                      "entity itself: read '%s' with world:get in the function", query->text,
                      term->component->name);
  }
  bool first = kind == WATCH_ADD || kind == WATCH_REMOVE || kind == WATCH_SET;
  return first ? watch_check_first(world, kind, query) : ECS_OK;
}

/* ---- one entity ---- */

bool watch_finds_values(const struct query_terms *terms) {
  const struct term *term = terms->terms;
  return term->form == TERM_PAIR && term->target == ECS_NULL &&
         terms->variables[term->variable].output != NONE;
}

bool watch_has_first(const ecs_world *world, const struct query_terms *terms, ecs_id entity,
                     const ecs_id *values) {
  const struct term *term = terms->terms;
  struct cells_row cells;
  if (term->form != TERM_PAIR) return cells_find(world, entity, term->id, &cells);
  ecs_id target = term->target;
  if (watch_finds_values(terms)) target = values[term->variable];
  return relate_has(world, entity, term->component, target);
}

/* ---- notes ---- */

ecs_status watch_need_notes(ecs_world *world, uint64_t more) {
  struct watching *watching = world->watching;
  uint64_t count = watching->note_count + more;
  if (!GROW(&world->memory, watching->notes, watching->note_capacity, count))
    return world_nomem(world);
  return ECS_OK;
}

void watch_add_note(ecs_world *world, ecs_id entity, ecs_id id) {
  struct watching *watching = world->watching;
  const struct staging *staging = &world->staging;
  assert(staging_is_open(staging) && watching->note_count < watching->note_capacity);
  watching->notes[watching->note_count++] = (struct gift_note){
      entity, id, scope_innermost(staging), staging->command_count, NONE};
}

/* Outside scopes only the note can fail, so it is made first. */
ecs_status watch_write(ecs_world *world, ecs_id entity, ecs_id id, const struct cells_row *cells,
                       const struct write *writes, uint32_t count) {
  uint32_t scope = NONE;
  bool alone = !staging_is_open(&world->staging);
  ecs_status status = watch_need_notes(world, 1);
  if (status == ECS_OK && alone) status = scope_open(world, SCOPE_DEFER, &scope);
  if (status != ECS_OK) return status;
  watch_add_note(world, entity, id);
  if (alone) status = scope_commit(world, scope);
  if (status != ECS_OK) {
    scope_cancel(world, scope);
    return status;
  }
  marks_write_cells(world, cells, id, writes, count);
  world_settle(world);
  return ECS_OK;
}

uint32_t watch_renumber(ecs_world *world, uint32_t note, uint32_t before, uint32_t now) {
  struct watching *watching = world->watching;
  for (; note < watching->note_count && watching->notes[note].before <= before; note++) {
    assert(now <= watching->notes[note].before);
    watching->notes[note].before = now;
  }
  return note;
}

void watch_drop_notes(ecs_world *world, uint32_t scope) {
  struct watching *watching = world->watching;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < watching->note_count; i++) {
    struct gift_note note = watching->notes[i];
    bool drops = scope == NONE || scope_holder(&world->staging, note.scope) == scope;
    if (!drops) watching->notes[kept++] = note;
  }
  watching->note_count = kept;
}

void watch_inherit(ecs_world *world, uint32_t scope, uint32_t heir) {
  struct watching *watching = world->watching;
  for (uint32_t i = watching->note_count; i-- > 0;)
    if (watching->notes[i].scope == scope) watching->notes[i].scope = heir;
}

/* ---- telling ---- */

ecs_status watch_tell(ecs_world *world, ecs_status status) {
  if (LIKELY(world->watching->due == 0)) return status;
  char message[MESSAGE_SIZE];
  memcpy(message, world->message, sizeof message);
  ecs_status told = world->watching->tell(world);
  if (status == ECS_OK) return told;
  memcpy(world->message, message, sizeof message);
  return status;
}

/* ---- ending ---- */

void watch_begin_round(struct watch *watch) {
  struct query_terms *terms = &watch->query->terms;
  terms->sources = terms->packed = false;
  watch->count = watch->value_count = watch->place_count = watch->span_count = 0;
  for (uint32_t i = 0; i < watch->copy_count; i++) watch->copies[i].rows = 0;
}

void watch_forget_changes(ecs_world *world) {
  struct watching *watching = world->watching;
  watching->concerned_count = watching->turn = 0;
  if (watching->change_at.count) map_clear(&watching->change_at);
  watching->change_count = watching->gift_count = watching->due = 0;
  watching->together = watching->dying = false;
}

void watch_free_copies(ecs_world *world, struct watch *watch) {
  for (uint32_t i = 0; i < watch->copy_count; i++) {
    const struct copy *copy = &watch->copies[i];
    for (uint32_t j = 0; j < copy->width; j++)
      memory_free(&world->memory, copy->columns[j].data, copy->columns[j].buffer.size);
    FREE_LIST(&world->memory, copy->columns, copy->width);
  }
  FREE_LIST(&world->memory, watch->copies, watch->copy_count);
  watch->copies = NULL;
  watch->copy_count = 0;
}

void watch_free(ecs_world *world, struct watch *watch) {
  struct memory *memory = &world->memory;
  struct watching *watching = world->watching;
  for (uint32_t i = 0; i < watching->concerned_count; i++)
    if (watching->concerned[i] == watch) watching->concerned[i] = NULL;
  watching_remove(world, watch);
  watch_free_copies(world, watch);
  FREE_LIST(memory, watch->sightings, watch->capacity);
  FREE_LIST(memory, watch->values, watch->value_capacity);
  FREE_LIST(memory, watch->places, watch->place_capacity);
  FREE_LIST(memory, watch->spans, watch->span_capacity);
}

void watching_free(ecs_world *world) {
  struct watching *watching = world->watching;
  struct memory *memory = &world->memory;
  if (!watching) return;
  FREE_LIST(memory, watching->changes, watching->change_capacity);
  FREE_LIST(memory, watching->order, watching->order_capacity);
  FREE_LIST(memory, watching->concerned, watching->concerned_capacity);
  FREE_LIST(memory, watching->moved, watching->moved_capacity);
  FREE_LIST(memory, watching->gifts, watching->gift_capacity);
  FREE_LIST(memory, watching->notes, watching->note_capacity);
  map_free(memory, &watching->change_at);
  memory_free(memory, watching, sizeof *watching);
}
