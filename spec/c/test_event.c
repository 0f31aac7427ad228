/* Events, for hosts in C. C51. */
#include <string.h>

#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "fixture.h"

struct hit {
  ecs_id who;
  float amount;
};

static const ecs_field fields[] = {{.name = "who", .type = ECS_ENTITY},
                                   {.name = "amount", .type = ECS_F32}};

static ecs_id declare_hit(struct fixture *f) {
  ecs_id id = ECS_NULL;
  CHECK_OK(f->world, ecs_event(f->world, &(ecs_component_desc){.name = "Hit", .fields = fields,
                                                               .field_count = 2}, &id));
  return id;
}

static void emit(struct fixture *f, ecs_id hit, ecs_id who, float amount) {
  CHECK_OK(f->world, ecs_emit(f->world, hit, &(struct hit){who, amount}));
}

/* The amounts that a query goes through, as digits. */
static ecs_status read_amounts(ecs_query *query, char *text) {
  ecs_iter it;
  ecs_status status = ecs_iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (ecs_iter_next(&it)) {
    const float *amounts = ecs_iter_column(&it, 0, 1);
    for (size_t i = 0; i < it.count; i++) {
      size_t end = strlen(text);
      text[end] = (char)('0' + (int)amounts[i]);
      text[end + 1] = '\0';
      CHECK(ecs_iter_entity(&it, i) == ECS_NULL);
    }
  }
  return ecs_iter_close(&it);
}

static void is_gone_through_in_order(void) {
  struct fixture f;
  char text[32] = "";
  open_usual(&f);
  ecs_id hit = declare_hit(&f), e = spawn_empty(f.world);
  CHECK(declare_hit(&f) == hit);
  for (int i = 1; i < 10; i++) emit(&f, hit, i % 3 ? e : ECS_NULL, (float)i);
  CHECK_OK(f.world, ecs_query_new(f.world, "Hit", &f.query));
  CHECK_INTEGER(9, ecs_query_count(f.query));
  CHECK_OK(f.world, read_amounts(f.query, text));
  CHECK_TEXT("123456789", text);
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void leads_to_entities(void) {
  struct fixture f;
  char text[32] = "";
  open_usual(&f);
  ecs_id hit = declare_hit(&f), e = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_add(f.world, e, f.position));
  for (int i = 1; i < 10; i++) emit(&f, hit, i % 3 ? e : ECS_NULL, (float)i);
  CHECK_OK(f.world, ecs_query_new(f.world, "Hit, Hit.who->Position", &f.query));
  CHECK_OK(f.world, read_amounts(f.query, text));
  CHECK_TEXT("124578", text);
  CHECK(ecs_query_despawn(f.query) == ECS_EINVAL);
  CHECK(ecs_query_add(f.query, f.position) == ECS_EINVAL);
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void is_no_component(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id hit = declare_hit(&f), e = spawn_empty(f.world), id;
  struct hit value = {ECS_NULL, 0};
  CHECK(ecs_add(f.world, e, hit) == ECS_EINVAL);
  CHECK(ecs_set(f.world, e, hit, &value) == ECS_EINVAL);
  CHECK(ecs_resource(f.world, hit) == ECS_EINVAL);
  CHECK(ecs_spawn(f.world, &hit, 1, &e) == ECS_EINVAL);
  CHECK_TEXT("'Hit' is an event, not a component: no entity has it; emit it, and read it with a "
             "query", ecs_message(f.world));
  CHECK(ecs_emit(f.world, f.position, &value) == ECS_EINVAL);
  CHECK_TEXT("'Position' is a component, not an event", ecs_message(f.world));
  value.who = e + 5;
  CHECK(ecs_emit(f.world, hit, &value) != ECS_OK);
  CHECK(ecs_event(f.world, &(ecs_component_desc){.name = "Bad", .toggle = true}, &id) ==
        ECS_EINVAL);
  CHECK_SOUND(f.world);
  close_world(&f);
}

struct seen {
  char text[32];
};

static ecs_status read_new(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct seen *seen = ud;
  (void)world, (void)dt;
  return read_amounts(query, seen->text);
}

static ecs_status run_short(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct seen *seen = ud;
  if (seen->text[0] == 'x') return read_new(world, query, dt, ud);
  seen->text[0] = 'x';
  return ECS_ENOMEM;
}

/* A system that ran out of memory counts as not having run: it is due again, and events stay. */
static void waits_for_systems_that_ran_short(void) {
  struct fixture f;
  struct seen seen = {""};
  open_usual(&f);
  ecs_id hit = declare_hit(&f);
  ecs_system_desc desc = {.name = "read", .query = "Hit", .every = 1, .run = run_short,
                          .ud = &seen};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  emit(&f, hit, ECS_NULL, 1);
  CHECK_OK(f.world, ecs_update(f.world, 0.5));
  CHECK(ecs_update(f.world, 0.5) == ECS_ENOMEM);
  CHECK_OK(f.world, ecs_update(f.world, 0.5));
  CHECK_TEXT("x1", seen.text);
  CHECK_INTEGER(0, component_of(f.world, hit)->event->table->count);
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* Components and events alike. */
static void asks_for_a_struct(void) {
  static const char words[] = "has fields: pass its struct instead of NULL";
  struct fixture f;
  open_usual(&f);
  ecs_id hit = declare_hit(&f), e = SPAWN(f.world, f.position);
  CHECK_FAILS(f.world, ECS_EINVAL, words, ecs_emit(f.world, hit, NULL));
  CHECK_FAILS(f.world, ECS_EINVAL, words, ecs_after(f.world, 1, hit, NULL));
  CHECK_FAILS(f.world, ECS_EINVAL, words, ecs_set(f.world, e, f.position, NULL));
  CHECK_FAILS(f.world, ECS_EINVAL, words, ecs_set(f.world, e, f.velocity, NULL));
  CHECK(!ecs_has(f.world, e, f.velocity));
  CHECK_INTEGER(0, component_of(f.world, hit)->event->table->count);
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void is_checked(void) {
  struct fixture f;
  open_usual(&f);
  ecs_id hit = declare_hit(&f);
  emit(&f, hit, ECS_NULL, 1);
  struct event *event = component_of(f.world, hit)->event;
  event->table->rows[0] = 7;
  CHECK(ecs_check(f.world) == ECS_ECORRUPT);
  event->table->rows[0] = 0;
  event->aged = 2;
  CHECK(ecs_check(f.world) == ECS_ECORRUPT);
  event->aged = 0;
  CHECK_SOUND(f.world);
  close_world(&f);
}

static const struct test tests[] = {
  {"a value of fields is never NULL", asks_for_a_struct},
  {"is gone through in the order of emission", is_gone_through_in_order},
  {"leads to what its entity fields name", leads_to_entities},
  {"is not a component", is_no_component},
  {"waits for systems that ran out of memory", waits_for_systems_that_ran_short},
  {"is checked", is_checked},
};

int main(void) { return RUN_TESTS(tests); }
