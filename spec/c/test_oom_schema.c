/* Reliability line 2: running out of memory while worlds are made, components are declared
** and undeclared, and resources are given values. C18. */
#include <string.h>

#include "sweep.h"

/* ---- components ---- */

static ecs_status declare(struct fixture *f, const char *name, const ecs_field *fields,
                          uint32_t count) {
  ecs_component_desc desc = {
    .name = name, .fields = fields, .field_count = count, .doc = "what it is for"
  };
  return ecs_component(f->world, &desc, &f->c);
}

static ecs_status declare_plain(struct fixture *f) {
  ecs_field fields[] = {
    {.name = "a", .type = ECS_I64, .doc = "a doc", .unit = "m", .min = "0", .max = "9"},
    {.name = "b", .type = ECS_BOOL, .text = "bool",
     .value = {.kind = ECS_KIND_BOOL, .boolean = true}},
  };
  return declare(f, "Plain", fields, 2);
}

static ecs_status declare_strings(struct fixture *f) {
  ecs_field fields[] = {
    {.name = "first", .type = ECS_STRING,
     .value = {.kind = ECS_KIND_STRING, .string = text_of("one text")}},
    {.name = "others", .type = ECS_STRING, .count = 5,
     .value = {.kind = ECS_KIND_STRING, .string = text_of("another text")}},
  };
  return declare(f, "Texts", fields, 2);
}

static ecs_status declare_enum(struct fixture *f) {
  static const char *const names[] = {"idle", "chase", "flee"};
  ecs_field fields[] = {{.name = "state", .type = ECS_ENUM, .names = names, .name_count = 3,
                         .value = {.kind = ECS_KIND_STRING, .string = text_of("flee")}}};
  return declare(f, "Mood", fields, 1);
}

static ecs_status declare_nested(struct fixture *f) {
  ecs_field fields[] = {
    {.name = "at", .type = ECS_NESTED, .nested = f->position},
    {.name = "marks", .type = ECS_NESTED, .nested = f->label, .count = 3},
    {.name = "m", .type = ECS_F32, .count = 16},
  };
  return declare(f, "Body", fields, 3);
}

static ecs_status declare_again(struct fixture *f) {
  ecs_field fields[] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  ecs_status status = declare(f, "Position", fields, 2);
  if (status == ECS_OK) CHECK(f->c == f->position);
  return status;
}

static ecs_status declare_tag_only(struct fixture *f) {
  return ecs_tag(f->world, "Cookable", &f->c);
}

static ecs_status declare_required(struct fixture *f) {
  const ecs_id required[] = {f->label, f->frozen, f->health};
  ecs_component_desc desc = {.name = "Cookable", .required = required, .required_count = 3};
  return ecs_component(f->world, &desc, &f->c);
}

/* The registry's arrays and maps are full. */
static void many_components(struct fixture *f) {
  static const char names[] = "ABCDEFGHIJKLMNOPQRSTUVWX";
  for (int i = 0; i < 16 - 7; i++) declare_tag(f->world, (char[]){names[i], '\0'});
}

static void forget_one(struct fixture *f) {
  many_components(f);
  CHECK_OK(f->world, ecs_undeclare(f->world, f->velocity));
}

/* ---- resources ---- */

static void declared(struct fixture *f) { CHECK_OK(f->world, declare_nested(f)); }

static ecs_status make_resource(struct fixture *f) { return ecs_resource(f->world, f->c); }

static void label_resource(struct fixture *f) {
  CHECK_OK(f->world, ecs_resource(f->world, f->label));
}

static ecs_status set_resource(struct fixture *f) {
  struct label label = {text_of("a text that is new here")};
  return ecs_resource_set(f->world, f->label, &label);
}

static ecs_status get_resource(struct fixture *f) {
  struct label label;
  ecs_status status = ecs_resource_get(f->world, f->label, &label);
  CHECK_TEXT("none", label.text.data);
  return status;
}

/* ---- undeclaring ---- */

static void used_widely(struct fixture *f) {
  const ecs_id others[] = {f->velocity, f->health, f->label, f->link, f->frozen, f->enemy};
  for (unsigned set = 0; set < 64; set += 3) {
    ecs_id id = SPAWN(f->world, f->position);
    set_position(f, id, (float)set, 1);
    for (unsigned i = 0; i < 6; i++)
      if (set >> i & 1) CHECK_OK(f->world, ecs_add(f->world, id, others[i]));
  }
  CHECK_OK(f->world, ecs_add(f->world, f->enemy, f->position));
  CHECK_OK(f->world, ecs_name(f->world, f->position, "a named component"));
  f->query = new_query(f->world, "Position, Velocity");
  new_query(f->world, "!Position");
  new_query(f->world, "Velocity");
}

static ecs_status undeclare(struct fixture *f) {
  return ecs_undeclare(f->world, f->position);
}

/* Not a sweep over a fixture: there is no world before. */
static void make_world(size_t k, bool from_there_on, size_t *calls) {
  struct checked_alloc alloc;
  memset(&alloc, 0, sizeof alloc);
  alloc_arm(&alloc, k, from_there_on);
  ecs_world_desc desc = {.alloc = checked_alloc, .alloc_ud = &alloc, .tag = 9, .seed = 42,
                         .threads = 3};
  ecs_world *world = NULL;
  ecs_status status = ecs_world_new(&desc, &world);
  *calls = alloc.calls;
  if (k == 0) CHECK_OK(NULL, status);
  if (status == ECS_OK) {
    CHECK_SOUND(world);
    CHECK_INTEGER(alloc.bytes, ecs_bytes(world));
    ecs_world_free(world);
  } else {
    CHECK_STATUS(NULL, ECS_ENOMEM, status);
    CHECK(world == NULL);
  }
  CHECK_INTEGER(0, alloc.bytes);
  CHECK(alloc_is_sound(&alloc));
}

static int sweep_world(void) {
  size_t calls, unused;
  begin_test();
  make_world(0, false, &calls);
  CHECK(calls > 5);
  for (size_t k = 1; k <= calls; k++) {
    check_context("request %zu of %zu fails", k, calls);
    make_world(k, false, &unused);
    make_world(k, true, &unused);
  }
  return end_test("C6: a world that cannot be made leaves nothing behind");
}

static const struct operation operations[] = {
  {"a component with hints", NULL, declare_plain, NULL, ASKS},
  {"a component with string defaults", NULL, declare_strings, NULL, ASKS},
  {"a component with an enum", NULL, declare_enum, NULL, ASKS},
  {"a component with nested ones and arrays", NULL, declare_nested, NULL, ASKS},
  {"a component that is known", NULL, declare_again, NULL, ASKS},
  {"a tag", NULL, declare_tag_only, NULL, ASKS},
  {"a component that requires others", NULL, declare_required, NULL, ASKS},
  {"a component when the registry is full", many_components, declare_plain, NULL, ASKS},
  {"a component that takes a free id", forget_one, declare_plain, NULL, ASKS},
  {"a resource", declared, make_resource, NULL, ASKS},
  {"a resource's value", label_resource, set_resource, NULL, ASKS},
  {"reading a resource", label_resource, get_resource, NULL, ASKS_NOTHING},
  {"undeclare", used_widely, undeclare, NULL, ASKS},
};

int main(void) {
  int bad = sweep_world();
  return RUN_SWEEPS(operations) | bad;
}
