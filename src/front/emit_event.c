#include "front/emit_event.h"

#include "core/store/component.h"
#include "core/store/event.h"
#include "core/store/fields.h"
#include "core/store/world.h"
#include "front/commands.h"

/* An id from outside as a field of entities takes it: rows in which nobody alive has it fail. */
static k_value outside_id(struct front *f, struct val id) {
  k_value live = reach_live(f, id.value);
  build_need(f->b, build_binary(f->b, KO_EQ, live, id.value));
  return live;
}

static bool is_outside_id(const struct front *f, struct val value) {
  return val_is_number(f, value) && val_type(f, value) == KT_I64 && !value.entity && !value.mixed;
}

/* What a field is given, as it is noted down. */
static k_value field_value(struct front *f, const struct component *event,
                           struct run_command *put, struct val value) {
  const struct leaf *leaf = &event->leaves[put->leaf];
  bool entity = leaf->type == ECS_ENTITY;
  put->gives_newest = entity && order_is_spawned(f, value);
  if (put->gives_newest) return build_i64(f->b, 0);
  bool null = entity && value.kind == VAL_VALUE && outside_null(f, value);
  if (entity && !null && is_outside_id(f, value)) return outside_id(f, value);
  if (leaf->type == ECS_STRING) return access_fit(f, leaf, KC_U32, value);
  k_value fits = access_fit(f, leaf, access_column_type(f, event, leaf), value);
  return build_type(f->b, fits) == KT_F32 ? build_convert(f->b, KT_F64, fits) : fits;
}

static void put_field(struct front *f, const struct component *event, uint32_t at,
                      struct val value) {
  const struct field *field = &event->fields[at];
  if (field->count || field->nested)
    front_refuse(f, "it emits '%s' with its field '%s', which is %s: do it in a system's run",
                 event->name, field->name, field->count ? "an array" : "a component");
  struct run_command put = {.action = RUN_PUT, .component = event->id, .leaf = field->first_leaf};
  k_value fits = field_value(f, event, &put, value);
  order_add(f, put, fits);
}

static void put_table(struct front *f, const struct component *event, struct val table) {
  for (uint32_t i = f->made[table.at].first; i != NONE; i = f->items[i].next) {
    const struct front_item *item = &f->items[i];
    uint32_t at = item->position ? item->position - 1
                                 : component_field(event, item->key.data, item->key.size);
    if (item->position > event->field_count)
      front_refuse(f, "it emits '%s' with value %u, and it has %u fields", event->name,
                   (uint64_t)item->position, (uint64_t)event->field_count);
    if (at == NONE) {
      component_no_field(f->world, event, item->key.data, item->key.size);
      front_refuse(f, "%s", f->world->message);
    }
    put_field(f, event, at, item->value);
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
    front_refuse(f, "it emits '%s' with %u values, and it has %u fields", event->name,
                 (uint64_t)count - 2, (uint64_t)event->field_count);
  order_want(f);
  order_add(f, (struct run_command){.action = RUN_EMIT, .component = event->id},
            build_i64(f->b, 0));
  if (table) put_table(f, event, arguments[2]);
  for (uint32_t i = 0; !table && i < count - 2; i++) put_field(f, event, i, arguments[i + 2]);
}
