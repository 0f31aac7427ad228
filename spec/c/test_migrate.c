/* Components that change their fields while entities have them: which numbers convert, and what
** hosts see of it. The rest is compared with a model by spec/random/random_model_spec.lua. */
#include <math.h>

#include "core/base/column.h"
#include "core/base/memory.h"
#include "core/change/declare.h"
#include "core/change/migrate.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "fixture.h"

static struct fixture f;

/* The one field of a native struct of any type. */
union any_value {
  float f32;
  double f64;
  int8_t i8;
  int64_t i64;
  uint64_t u64;
  ecs_string text;
};

static ecs_status change_to(const char *name, const ecs_field *fields, uint32_t count) {
  ecs_component_desc desc = {.name = name, .fields = fields, .field_count = count};
  return ecs_component(f.world, &desc, &f.c);
}

#define REDECLARE(name, fields) change_to(name, fields, sizeof(fields) / sizeof *(fields))

static ecs_id declare_single(const ecs_field *field) {
  return declare_fields(f.world, "C", field, 1, 0);
}

/* Whether a refused call left everything as it was. */
static uint64_t before;

static void remember(void) { before = world_digest(f.world); }

static void is_as_it_was(void) {
  CHECK(world_digest(f.world) == before);
  CHECK_SOUND(f.world);
}

/* ---- conversions ------------------------------------------------------------------ */

struct conversion {
  ecs_type from, to;
  double value;      /* as it is set, and as it is read */
  bool fits;
};

static const struct conversion conversions[] = {
  {ECS_F32, ECS_F64, 0.5, true}, {ECS_F64, ECS_F32, 0.1, true},
  {ECS_F64, ECS_F32, 1e39, false}, {ECS_F64, ECS_F32, (double)INFINITY, true},
  {ECS_F32, ECS_I32, -7, true}, {ECS_F32, ECS_I32, 0.5, false},
  {ECS_F64, ECS_U8, 256, false}, {ECS_F64, ECS_U8, -1, false}, {ECS_F64, ECS_U8, 255, true},
  {ECS_F64, ECS_I64, 9223372036854775808.0, false}, {ECS_F64, ECS_I64, -0.0, true},
  {ECS_F64, ECS_I8, (double)NAN, false}, {ECS_F32, ECS_BOOL, 1, true},
  {ECS_F32, ECS_BOOL, 2, false}, {ECS_I64, ECS_F32, 16777216, true},
  {ECS_I64, ECS_F32, 16777217, false}, {ECS_I64, ECS_F64, 9007199254740992.0, true},
  {ECS_I32, ECS_I16, 32767, true}, {ECS_I32, ECS_I16, 32768, false},
  {ECS_I32, ECS_U32, -1, false}, {ECS_U32, ECS_I32, 4294967295.0, false},
  {ECS_U8, ECS_I64, 200, true}, {ECS_I8, ECS_I64, -100, true}, {ECS_I64, ECS_BOOL, 1, true},
  {ECS_I64, ECS_BOOL, -1, false}, {ECS_BOOL, ECS_F32, 1, true}, {ECS_BOOL, ECS_U8, 1, true},
  {ECS_I32, ECS_STRING, 0, true}, {ECS_I32, ECS_STRING, 1, false},
  {ECS_I64, ECS_ENTITY, 1, false}, {ECS_I64, ECS_ENTITY, 0, true},
  {ECS_U32, ECS_ANY, 0, true}, {ECS_U32, ECS_ANY, 3, false},
};

static union any_value of_number(ecs_type type, double value) {
  union any_value made = {.u64 = 0};
  ecs_cell cell = {0};
  if (type == ECS_BOOL) cell.u8 = value != 0;
  else CHECK_STATUS(NULL, ECS_OK, cell_of_number(type, value, &cell));
  memcpy(&made, &cell, sizeof cell);
  return made;
}

static double number_of(ecs_type type, union any_value value) {
  ecs_cell cell;
  memcpy(&cell, &value, sizeof cell);
  if (type == ECS_F32) return (double)cell.f32;
  if (type == ECS_F64) return cell.f64;
  if (type == ECS_STRING) return (double)value.text.size;
  return (double)cell_integer(type, type_size(type, 0), cell);
}

static void convert(const struct conversion *c) {
  ecs_field field = {.name = "v", .type = c->from};
  ecs_id id = declare_single(&field), entity = SPAWN(f.world, id);
  union any_value value = of_number(c->from, c->value), got = {.u64 = 0};
  CHECK_OK(f.world, ecs_set(f.world, entity, id, &value));
  remember();
  field.type = c->to;
  if (c->fits) {
    CHECK_OK(f.world, change_to("C", &field, 1));
    CHECK_OK(f.world, ecs_get(f.world, entity, id, &got));
    double wanted = c->to == ECS_F32 ? (double)(float)c->value : c->value;
    CHECK(number_of(c->to, got) == wanted);
  } else {
    CHECK_FAILS(f.world, ECS_ERANGE, "v = ", change_to("C", &field, 1));
    is_as_it_was();
  }
  CHECK_OK(f.world, ecs_undeclare(f.world, id));
  CHECK_OK(f.world, ecs_despawn(f.world, entity));
}

static void converts_numbers(void) {
  open_world(&f);
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
    const struct conversion *c = &conversions[i];
    check_context("%s %g to %s", type_name(c->from), c->value, type_name(c->to));
    convert(c);
  }
  check_context(NULL);
  close_world(&f);
}

/* Cells by their bits. */
struct exact {
  ecs_type from, to;
  uint64_t bits, wanted;
  bool fits;
};

#define LARGE (UINT64_C(1) << 63)
#define F64_LARGE UINT64_C(0x43E0000000000000)       /* 2^63 */
#define F64_NEAR UINT64_C(0x43EFFFFFFFFFFFFF)        /* 2^64 - 2048 */

static const struct exact exact[] = {
  {ECS_U64, ECS_I64, INT64_MAX, INT64_MAX, true}, {ECS_U64, ECS_I64, LARGE, 0, false},
  {ECS_U64, ECS_I64, UINT64_MAX, 0, false}, {ECS_U64, ECS_I8, UINT64_MAX, 0, false},
  {ECS_U64, ECS_U32, UINT32_MAX, UINT32_MAX, true}, {ECS_U64, ECS_U32, LARGE + 1, 0, false},
  {ECS_U64, ECS_BOOL, 1, 1, true}, {ECS_U64, ECS_BOOL, LARGE, 0, false},
  {ECS_I64, ECS_U64, INT64_MAX, INT64_MAX, true}, {ECS_I64, ECS_U64, UINT64_MAX, 0, false},
  {ECS_I8, ECS_U64, 0x80, 0, false}, {ECS_I8, ECS_U64, 0x7F, 0x7F, true},
  {ECS_U8, ECS_U64, 0x80, 0x80, true}, {ECS_BOOL, ECS_U64, 1, 1, true},
  {ECS_U64, ECS_F64, LARGE, F64_LARGE, true}, {ECS_U64, ECS_F64, UINT64_MAX, 0, false},
  {ECS_U64, ECS_F64, UINT64_MAX - 2047, F64_NEAR, true},
  {ECS_U64, ECS_F64, LARGE + 1024, 0, false}, {ECS_U64, ECS_F64, INT64_MAX, 0, false},
  {ECS_U64, ECS_F32, LARGE, 0x5F000000, true}, {ECS_U64, ECS_F32, LARGE + 2048, 0, false},
  {ECS_U64, ECS_F32, UINT64_MAX, 0, false}, {ECS_F32, ECS_U64, 0x5F000000, LARGE, true},
  {ECS_F64, ECS_U64, F64_LARGE, LARGE, true},
  {ECS_F64, ECS_U64, F64_NEAR, UINT64_MAX - 2047, true},
  {ECS_F64, ECS_U64, UINT64_C(0x43F0000000000000), 0, false},       /* 2^64 */
  {ECS_F64, ECS_U64, UINT64_C(0xBFF0000000000000), 0, false},       /* -1 */
  {ECS_F64, ECS_U64, LARGE, 0, true},                               /* -0 */
  {ECS_F64, ECS_U64, UINT64_C(0x3FE0000000000000), 0, false},       /* 0.5 */
  {ECS_F64, ECS_U64, UINT64_C(0x7FF8000000000000), 0, false},       /* not a number */
  {ECS_U64, ECS_ENTITY, 0, 0, true}, {ECS_U64, ECS_ENTITY, LARGE, 0, false},
};

static void convert_exactly(const struct exact *c) {
  ecs_field field = {.name = "v", .type = c->from};
  ecs_id id = declare_single(&field), entity = SPAWN(f.world, id);
  ecs_cell cell = cell_of_bits(type_size(c->from, 0), c->bits), got = {.u64 = 0};
  CHECK_OK(f.world, ecs_set(f.world, entity, id, &cell));
  remember();
  field.type = c->to;
  if (c->fits) {
    CHECK_OK(f.world, change_to("C", &field, 1));
    CHECK_OK(f.world, ecs_get(f.world, entity, id, &got));
    CHECK(cell_bits(type_size(c->to, 0), got) == c->wanted);
  } else {
    CHECK_STATUS(f.world, ECS_ERANGE, change_to("C", &field, 1));
    is_as_it_was();
  }
  CHECK_OK(f.world, ecs_undeclare(f.world, id));
  CHECK_OK(f.world, ecs_despawn(f.world, entity));
}

static void converts_large_numbers(void) {
  open_world(&f);
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
    const struct exact *c = &exact[i];
    check_context("%zu: %s to %s", i, type_name(c->from), type_name(c->to));
    convert_exactly(c);
  }
  check_context(NULL);
  close_world(&f);
}

/* ---- what comes and goes ---------------------------------------------------------- */

struct all { ecs_string text; double number; ecs_id target; int16_t list[2]; uint8_t mood;
             bool on; float x; };

static void changes_native_structs(void) {
  struct host { double pad, x; float y; } host = {0, 3, 4};
  ecs_field fields[] = {
    {.name = "x", .type = ECS_F64, .offset = offsetof(struct host, x)},
    {.name = "y", .type = ECS_F32, .offset = offsetof(struct host, y)}};
  open_usual(&f);
  ecs_id id = SPAWN(f.world, f.position);
  set_position(&f, id, 1, 2);
  ecs_component_desc desc = {.name = "Position", .fields = fields, .field_count = 2,
                             .native_size = sizeof host};
  CHECK_OK(f.world, ecs_component(f.world, &desc, &f.c));
  CHECK_OK(f.world, ecs_get(f.world, id, f.position, &host));
  CHECK(host.pad == 0 && host.x == 1 && host.y == 2);
  close_world(&f);
}

static void is_followed_by_queries(void) {
  ecs_field fields[] = {{.name = "first", .type = ECS_U8}, {.name = "y", .type = ECS_F64},
                        {.name = "x", .type = ECS_F32}};
  open_usual(&f);
  ecs_query *whole = new_query(f.world, "Position, !Frozen"), *x = new_query(f.world,
                                                                             "Position.x");
  ecs_query *y = new_query(f.world, "Velocity?, Position.y");
  f.a = SPAWN(f.world, f.position);
  set_position(&f, f.a, 1, 2);
  CHECK_OK(f.world, REDECLARE("Position", fields));
  CHECK_INTEGER(1, ecs_query_count(whole));
  CHECK_OK(f.world, ecs_iter_open(x, &f.it));
  CHECK(ecs_iter_next(&f.it));
  CHECK(*(float *)ecs_iter_column(&f.it, 0, 0) == 1);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  CHECK_OK(f.world, ecs_iter_open(y, &f.it));
  CHECK(ecs_iter_next(&f.it));
  CHECK(*(double *)ecs_iter_column(&f.it, 1, 0) == 2);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  CHECK_OK(f.world, change_to("Position", fields, 2));
  CHECK_FAILS(f.world, ECS_ENAME, "no longer declared", ecs_iter_open(x, &f.it));
  CHECK_INTEGER(0, ecs_query_count(x));
  CHECK_INTEGER(1, ecs_query_count(y));
  close_world(&f);
}

static void lets_any_values_go(void) {
  struct any_owner owner = {0};
  ecs_field fields[] = {{.name = "drop", .type = ECS_ANY}, {.name = "keep", .type = ECS_ANY}};
  open_world(&f);
  ecs_id id = declare_fields(f.world, "C", fields, 2, 0), entity = SPAWN(f.world, id);
  CHECK_OK(f.world, ecs_resource(f.world, id));
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t *cell = ecs_cell_of(f.world, entity, id, i);
    uint32_t *value = component_of(f.world, id)->resource[i].data;
    CHECK_OK(f.world, any_take(&f.world->any, &f.world->memory, &owner, cell));
    CHECK_OK(f.world, any_take(&f.world->any, &f.world->memory, &owner, value));
  }
  uint32_t kept = *(uint32_t *)ecs_cell_of(f.world, entity, id, 1);
  CHECK_OK(f.world, change_to("C", fields + 1, 1));
  CHECK_INTEGER(kept, *(uint32_t *)ecs_cell_of(f.world, entity, id, 0));
  CHECK_INTEGER(2, f.world->any.used);
  CHECK_FAILS(f.world, ECS_EINVAL, "'C' has fields", ecs_tag(f.world, "C", &id));
  CHECK_OK(f.world, change_to("C", NULL, 0));
  CHECK_INTEGER(0, f.world->any.used);
  close_world(&f);
}

static const struct report_item *item(const struct report *report, const char *name) {
  for (uint32_t i = 0; i < report->count; i++)
    if (strcmp(report->items[i].name, name) == 0) return &report->items[i];
  CHECK(!name);
  return &report->items[0];
}

static void reports(void) {
  ecs_field from[] = {{.name = "kept", .type = ECS_F32}, {.name = "old", .type = ECS_I32},
                      {.name = "to", .type = ECS_I32}, {.name = "gone", .type = ECS_U8}};
  ecs_field to[] = {{.name = "to", .type = ECS_F64}, {.name = "kept", .type = ECS_F32},
                    {.name = "new", .type = ECS_I32}, {.name = "fresh", .type = ECS_U8},
                    {.name = "other", .type = ECS_STRING}};
  ecs_component_desc desc = {.name = "C", .fields = to, .field_count = 5,
                             .was = (ecs_rename[]){{"new", "old"}}, .was_count = 1};
  open_usual(&f);
  ecs_id id = declare_fields(f.world, "C", from, 4, 0);
  SPAWN(f.world, id);
  SPAWN(f.world, id, f.frozen);
  struct migration migration;
  const struct report *report = NULL;
  for (size_t k = 1; !report; k++) {   /* without memory for all of it, there is none */
    migration_begin(&migration, f.world);
    CHECK_OK(f.world, declare(f.world, &desc, &migration, &f.c));
    alloc_arm(&f.alloc, k, false);
    bool done = migration_prepare(&migration) == ECS_OK;
    alloc_arm(&f.alloc, 0, false);
    if (!done) migration_end(&migration);
    if (done) report = &migration.changes[0].report;
  }
  CHECK_INTEGER(2, report->rows);
  CHECK_INTEGER(6, report->count);
  CHECK_INTEGER(LEAF_KEPT, item(report, "kept")->fate);
  CHECK_INTEGER(LEAF_CONVERTED, item(report, "to")->fate);
  CHECK_TEXT("i32", item(report, "to")->from_type);
  CHECK_TEXT("f64", item(report, "to")->type);
  CHECK_INTEGER(LEAF_RENAMED, item(report, "new")->fate);
  CHECK_TEXT("old", item(report, "new")->from);
  CHECK_INTEGER(LEAF_ADDED, item(report, "fresh")->fate);
  CHECK(item(report, "fresh")->maybe && !item(report, "other")->maybe);
  CHECK_TEXT("gone", item(report, "fresh")->from);
  CHECK_INTEGER(LEAF_DROPPED, item(report, "gone")->fate);
  migration_commit(&migration);
  migration_end(&migration);
  close_world(&f);
}

static const struct test tests[] = {
  {"numbers convert exactly, or the change is refused", converts_numbers},
  {"unsigned 64-bit numbers convert by what they are worth", converts_large_numbers},
  {"values move to where the host's struct has them", changes_native_structs},
  {"queries find their fields again", is_followed_by_queries},
  {"any values go with their fields only", lets_any_values_go},
  {"a report says what became of each field", reports},
};

int main(void) { return RUN_TESTS(tests); }
