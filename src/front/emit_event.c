#include "front/emit_event.h"

#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/fields.h"
#include "core/ids/world.h"
#include "front/commands.h"

/* What an event is given, a field after the other. */
struct given {
  const struct component *event;
  uint32_t count;
  struct {
    uint32_t leaf;
    k_value value;
    enum spawned gives;
  } fields[RUN_ORDERS];
};

static void emit_event_give_field(struct front *f, struct given *given, uint32_t at,
                                  struct val value) {
  const struct component *event = given->event;
  const struct field *field = &event->fields[at];
  if (field->count || field->nested)
    front_refuse(f, "it emits '%s' with its field '%s', which is %s: do it in a system's run",
                 event->name, field->name, field->count ? "an array" : "a component");
  uint32_t leaf = field->first_leaf, i = 0;
  bool spawned = event->leaves[leaf].type == ECS_ENTITY && value.spawned;
  k_value noted = spawned ? value.value : access_noted(f, event, leaf, value);
  while (i < given->count && given->fields[i].leaf != leaf) i++;
  if (i == RUN_ORDERS) front_refuse(f, "it emits '%s' with too many values", event->name);
  given->count += i == given->count;
  given->fields[i].leaf = leaf;
  given->fields[i].value = noted;
  given->fields[i].gives = value.spawned;
}

static void give_table(struct front *f, struct given *given, struct val table) {
  const struct component *event = given->event;
  for (uint32_t i = f->made[table.at].first; i != NONE; i = f->items[i].next) {
    const struct front_item *item = &f->items[i];
    uint32_t at = item->position ? item->position - 1
                                 : component_field(event, item->key.data, item->key.size);
    if (item->position > event->field_count)
      front_refuse(f, "it emits '%s' with value %u, and it has %u fields", event->name,
                   item->position, event->field_count);
    if (at == NONE) {
      component_no_field(f->world, event, item->key.data, item->key.size);
      front_refuse(f, "%s", f->world->message);
    }
    emit_event_give_field(f, given, at, item->value);
  }
}

/* Whether a field's value can be noted in the place of an entity. */
static bool is_first(const struct front *f, const struct given *given, uint32_t i) {
  return !given->fields[i].gives && build_type(f->b, given->fields[i].value) == KT_I64;
}

/* Takes a field out, one that can be noted in the place of an entity or rather one that cannot;
** `count` for none. */
static uint32_t emit_event_take(const struct front *f, const struct given *given,
                                bool *taken, bool first) {
  uint32_t found = given->count;
  for (uint32_t i = 0; i < given->count && found == given->count; i++)
    if (!taken[i] && is_first(f, given, i) == first) found = i;
  for (uint32_t i = 0; i < given->count && found == given->count && !first; i++)
    if (!taken[i]) found = i;
  if (found < given->count) taken[found] = true;
  return found;
}

/* Two fields are noted down at a time. */
static void note_event(struct front *f, const struct given *given) {
  bool taken[RUN_ORDERS] = {false};
  struct run_command command = {.action = RUN_EMIT, .component = given->event->id};
  for (uint32_t left = given->count, none = given->count;; command.action = RUN_PUT) {
    uint32_t first = emit_event_take(f, given, taken, true),
             other = emit_event_take(f, given, taken, false);
    k_value zero = build_i64(f->b, 0);
    command.first = first == none ? NONE : given->fields[first].leaf;
    command.leaf = other == none ? NONE : given->fields[other].leaf;
    command.gives = other == none ? SPAWNED_NONE : given->fields[other].gives;
    order_with(f, command, first == none ? zero : given->fields[first].value,
               other == none ? zero : given->fields[other].value);
    left -= first != none;
    left -= other != none;
    if (left == 0) return;
  }
}

void order_emit(struct front *f, const struct val *arguments, uint32_t count) {
  bool named = count > 1 && arguments[0].kind == VAL_WORLD;
  const struct component *event = named ? call_event(f, arguments[1]) : NULL;
  if (!event)
    front_refuse(f, "it emits what is no name or id of an event held by a constant, an upvalue or "
                    "a field of a table");
  if (f->result != RESULT_NONE)
    front_refuse(f, "it emits an event, and its result is used: do it in a system's each");
  bool table = count == 3 && arguments[2].kind == VAL_TABLE && event->field_count;
  if (!table && count - 2 > event->field_count)
    front_refuse(f, "it emits '%s' with %u values, and it has %u fields", event->name, count - 2,
                 event->field_count);
  order_want(f);
  struct given given = {.event = event};
  if (table) give_table(f, &given, arguments[2]);
  for (uint32_t i = 0; !table && i < count - 2; i++)
    emit_event_give_field(f, &given, i, arguments[i + 2]);
  note_event(f, &given);
}
