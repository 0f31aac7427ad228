/* Reliability line 2: running out of memory while components are declared with other fields,
** and while worlds are saved and loaded. */
#include <string.h>

#include "sweep.h"

/* ---- migration ---- */

static void crowd(struct fixture *f) {
  for (int i = 0; i < 40; i++) {
    ecs_id id = SPAWN(f->world, f->position);
    set_position(f, id, (float)i, 1);
    if (i & 1) CHECK_OK(f->world, ecs_add(f->world, id, f->health));
    if (i & 2) CHECK_OK(f->world, ecs_add(f->world, id, f->label));
    if (i & 4) CHECK_OK(f->world, ecs_set(f->world, id, f->link, &(struct link){id}));
    if (i % 7 == 0) CHECK_OK(f->world, ecs_add(f->world, id, f->frozen));
  }
  f->a = SPAWN(f->world, f->label);
  CHECK_OK(f->world, ecs_name(f->world, f->a, "somebody"));
  f->query = new_query(f->world, "Position, Health?");
  CHECK_OK(f->world, ecs_resource(f->world, f->health));
}

static ecs_status declare(struct fixture *f, const char *name, const ecs_field *fields,
                          uint32_t count) {
  ecs_component_desc desc = {.name = name, .fields = fields, .field_count = count};
  return ecs_component(f->world, &desc, &f->c);
}

static ecs_status widen(struct fixture *f) {
  ecs_field fields[] = {{.name = "x", .type = ECS_F64}, {.name = "y", .type = ECS_I16},
                        {.name = "text", .type = ECS_STRING,
                         .value = {.kind = ECS_KIND_STRING, .string = text_of("new here")}}};
  return declare(f, "Position", fields, 3);
}

static ecs_status narrow(struct fixture *f) {
  ecs_field fields[] = {{.name = "hp", .type = ECS_U8}};
  return declare(f, "Health", fields, 1);
}

static ecs_status make_tag(struct fixture *f) { return declare(f, "Label", NULL, 0); }

/* Rows of many tables get what is required of them, in tables that are there and in new ones. */
static ecs_status require(struct fixture *f) {
  const ecs_id required[] = {f->health, f->velocity};
  ecs_field fields[] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  ecs_component_desc desc = {.name = "Position", .fields = fields, .field_count = 2,
                             .required = required, .required_count = 2};
  return ecs_component(f->world, &desc, &f->c);
}

static ecs_status rename(struct fixture *f) {
  const ecs_id required[] = {f->frozen};
  ecs_field fields[] = {{.name = "x", .type = ECS_F64}, {.name = "z", .type = ECS_F32}};
  ecs_rename was = {"z", "y"};
  ecs_component_desc desc = {.name = "Place", .fields = fields, .field_count = 2, .was = &was,
                             .was_count = 1, .required = required, .required_count = 1,
                             .old_name = "Position"};
  return ecs_component(f->world, &desc, &f->c);
}

/* Nothing changes but what it was called, as images of before are asked for. */
static ecs_status relabel(struct fixture *f) {
  return ecs_component(f->world, &(ecs_component_desc){.name = "Frozen", .old_name = "Icy"},
                       &f->c);
}

static void nested(struct fixture *f) {
  crowd(f);
  ecs_field fields[] = {{.name = "at", .type = ECS_NESTED, .nested = f->position, .count = 2}};
  ecs_id body = DECLARE(f->world, "Body", fields);
  for (int i = 0; i < 20; i++) SPAWN(f->world, body, i % 2 ? f->frozen : f->health);
}

static ecs_status undeclare(struct fixture *f) { return ecs_undeclare(f->world, f->health); }

/* ---- images ---- */

/* An image of a crowd, and a world that has changed since. */
static void saved(struct fixture *f) {
  crowd(f);
  CHECK_OK(f->world, save_image(f));
  CHECK_OK(f->world, ecs_query_despawn(new_query(f->world, "Health")));
  for (int i = 0; i < 30; i++) SPAWN(f->world, f->velocity, f->label);
}

/* ... and whose components have moved on. */
static void saved_before(struct fixture *f) {
  saved(f);
  CHECK_OK(f->world, widen(f));
  CHECK_OK(f->world, ecs_undeclare(f->world, f->link));
}

static void again(struct fixture *f) {
  uint64_t before = ecs_digest(f->world);
  CHECK_OK(f->world, save_image(f));
  CHECK_OK(f->world, load_image(f));
  CHECK(ecs_digest(f->world) == before);
}

/* ---- snapshots ---- */

static ecs_snapshot *taken;

static ecs_status take(struct fixture *f) { return ecs_snapshot_new(f->world, &taken); }

static void let_go(struct fixture *f) {
  (void)f;
  ecs_snapshot_free(taken);
}

/* A snapshot of a crowd, whose tables are gone since, and others are there. */
static void taken_before(struct fixture *f) {
  crowd(f);
  CHECK_OK(f->world, take(f));
  CHECK_OK(f->world, ecs_query_despawn(new_query(f->world, "Position")));
  for (int i = 0; i < 3; i++) CHECK_OK(f->world, ecs_update(f->world, 0));
  for (int i = 0; i < 30; i++) SPAWN(f->world, f->velocity, f->label);
}

static ecs_status restore(struct fixture *f) {
  (void)f;
  return ecs_restore(taken);
}

static const struct operation operations[] = {
  {"C71: requirements that rows get later", crowd, require, NULL, ASKS},
  {"another name", crowd, rename, NULL, ASKS},
  {"another name of before", crowd, relabel, NULL, ASKS},
  {"other fields", crowd, widen, NULL, ASKS},
  {"fewer fields, of a resource too", crowd, narrow, NULL, ASKS},
  {"no fields any more", crowd, make_tag, NULL, ASKS},
  {"other fields of a component that another is made of", nested, widen, NULL, ASKS},
  {"undeclare of what tables have", crowd, undeclare, NULL, ASKS},
  {"save", crowd, save_image, NULL, ASKS},
  {"load", saved, load_image, again, ASKS},
  {"load into a world that has moved on", saved_before, load_image, again, ASKS},
  {"snapshot", crowd, take, let_go, ASKS},
  {"restore", taken_before, restore, let_go, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
