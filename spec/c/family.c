#include "family.h"

ecs_id likes, owes, docked, up;

static ecs_id declare_relation(struct fixture *f, const char *name, const ecs_field *field,
                               bool exclusive) {
  ecs_id id = ECS_NULL;
  ecs_component_desc desc = {.name = name, .fields = field, .field_count = field != NULL,
                             .exclusive = exclusive, .acyclic = exclusive && !field};
  CHECK_OK(f->world, ecs_relation(f->world, &desc, &id));
  return id;
}

void family(struct fixture *f) {
  static const ecs_field amount = {.name = "amount", .type = ECS_I32};
  static const ecs_field since = {.name = "since", .type = ECS_F64};
  likes = declare_relation(f, "Likes", NULL, false);
  owes = declare_relation(f, "Owes", &amount, false);
  docked = declare_relation(f, "DockedTo", &since, true);
  up = declare_relation(f, "Up", NULL, true);
  for (int i = 3; i >= 0; i--) {
    f->ids[i] = SPAWN(f->world, f->position);
    set_position(f, f->ids[i], (float)i, 0);
  }
  for (int i = 1; i < 4; i++) {
    CHECK_OK(f->world, ecs_add(f->world, f->ids[i], ecs_pair(up, f->ids[i / 2])));
    CHECK_OK(f->world, ecs_set(f->world, f->ids[i], docked,
                               &(struct docked){f->ids[i - 1], i}));
    for (int j = 0; j < i; j++) {
      CHECK_OK(f->world, ecs_add(f->world, f->ids[i], ecs_pair(likes, f->ids[j])));
      CHECK_OK(f->world, ecs_set(f->world, f->ids[i], ecs_pair(owes, f->ids[j]),
                                 &(struct owes){10 * i + j}));
    }
  }
}

ecs_query *query_with(struct fixture *f, const char *text, ecs_id p) {
  ecs_query *query = NULL;
  ecs_variable variable = {"p", p};
  CHECK_OK(f->world, ecs_query_with(f->world, text, &variable, p != ECS_NULL, &query));
  return query;
}
