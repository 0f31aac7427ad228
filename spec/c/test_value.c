/* Values on their way in and out of fields: all types, ranges, round trips, errors. C12, C15,
** C19, C21, C23, C36. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "core/storage/component.h"
#include "fixture.h"

static struct fixture f;

/* Writes values of a type as a native array field of four, and reads them back. */
static void round_trip(ecs_type type, const void *values, size_t size) {
  open_world(&f);
  ecs_field fields[] = {{.name = "v", .type = type, .count = 4},
                        {.name = "after", .type = ECS_U8}};
  ecs_id id = DECLARE(f.world, "Values", fields);
  unsigned char native[80], got[80];
  memset(native, 0, sizeof native);
  memcpy(native, values, size * 4);
  native[size * 4] = 77;
  ecs_id e = spawn_empty(f.world), other = SPAWN(f.world, id);
  CHECK_OK(f.world, ecs_set(f.world, e, id, native));
  memset(got, 0, sizeof got);
  CHECK_OK(f.world, ecs_get(f.world, e, id, got));
  CHECK(memcmp(native, got, sizeof got) == 0);
  for (uint32_t i = 0; i < 4; i++)
    CHECK(memcmp(ecs_cell_of(f.world, e, id, i), native + i * size, size) == 0);
  memset(native, 0, sizeof native);
  memset(got, 0xFF, size * 4 + 1);
  CHECK_OK(f.world, ecs_get(f.world, other, id, got));
  CHECK(memcmp(native, got, size * 4 + 1) == 0);
  close_world(&f);
}

#define ROUND_TRIP(type, ctype, ...) \
  round_trip(type, (const ctype[4]){__VA_ARGS__}, sizeof(ctype))

static void numbers_round_trip(void) {
  ROUND_TRIP(ECS_F32, float, FLT_MAX, -FLT_MIN, 0x1p-149f, -0.0f);
  ROUND_TRIP(ECS_F32, float, INFINITY, -INFINITY, NAN, 0.1f);
  ROUND_TRIP(ECS_F64, double, DBL_MAX, -DBL_MIN, 0x1p-1074, -0.0);
  ROUND_TRIP(ECS_F64, double, (double)INFINITY, 0.1, (double)NAN, 9007199254740993.0);
  ROUND_TRIP(ECS_I8, int8_t, INT8_MIN, INT8_MAX, -1, 1);
  ROUND_TRIP(ECS_I16, int16_t, INT16_MIN, INT16_MAX, -1, 1);
  ROUND_TRIP(ECS_I32, int32_t, INT32_MIN, INT32_MAX, -1, 1);
  ROUND_TRIP(ECS_I64, int64_t, INT64_MIN, INT64_MAX, -1, 1);
  ROUND_TRIP(ECS_U8, uint8_t, 0, UINT8_MAX, 128, 1);
  ROUND_TRIP(ECS_U16, uint16_t, 0, UINT16_MAX, 32768, 1);
  ROUND_TRIP(ECS_U32, uint32_t, 0, UINT32_MAX, UINT32_C(1) << 31, 1);
  ROUND_TRIP(ECS_U64, uint64_t, 0, UINT64_MAX, UINT64_C(1) << 63, 1);
  ROUND_TRIP(ECS_BOOL, bool, true, false, true, true);
}

static void strings_round_trip(void) {
  open_usual(&f);
  static char long_text[70000];
  memset(long_text, 'x', sizeof long_text);
  const ecs_string texts[] = {{"", 0}, {"a", 1}, {"with\0zero", 9}, {"not ended!", 9},
                              {long_text, sizeof long_text}, {NULL, 0}};
  f.a = SPAWN(f.world, f.label);
  for (size_t i = 0; i < 6; i++) {
    struct label label = {texts[i]}, got;
    CHECK_OK(f.world, ecs_set(f.world, f.a, f.label, &label));
    CHECK_OK(f.world, ecs_get(f.world, f.a, f.label, &got));
    CHECK_INTEGER(texts[i].size, got.text.size);
    CHECK(got.text.size == 0 || memcmp(got.text.data, texts[i].data, got.text.size) == 0);
    CHECK_INTEGER(0, got.text.data[got.text.size]);
  }
  close_world(&f);
}

static void enums_and_bools(void) {
  static const char *names[300];
  static char texts[300][16];
  for (int i = 0; i < 300; i++) {
    snprintf(texts[i], sizeof texts[i], "n%d", i);
    names[i] = texts[i];
  }
  open_world(&f);
  ecs_field small[] = {{.name = "e", .type = ECS_ENUM, .names = names, .name_count = 256},
                       {.name = "b", .type = ECS_BOOL}};
  ecs_field wide[] = {{.name = "e", .type = ECS_ENUM, .names = names, .name_count = 257,
                       .value = {.kind = ECS_KIND_STRING, .string = text_of("n256")}}};
  ecs_id one = DECLARE(f.world, "Small", small), two = DECLARE(f.world, "Wide", wide);
  f.a = SPAWN(f.world, two);
  uint16_t value = 0;
  CHECK_OK(f.world, ecs_get(f.world, f.a, two, &value));
  CHECK_INTEGER(256, value);
  CHECK_OK(f.world, ecs_set(f.world, f.a, one, &(uint8_t[]){255, 1}));
  CHECK_FAILS(f.world, ECS_ERANGE, "field 'Wide.e' is enum: 257 is out of range",
              ecs_set(f.world, f.a, two, &(uint16_t){257}));
  CHECK_FAILS(f.world, ECS_ERANGE, "field 'Small.b' is bool: 2 is out of range",
              ecs_set(f.world, f.a, one, &(uint8_t[]){0, 2}));
  uint8_t got[2];
  CHECK_OK(f.world, ecs_get(f.world, f.a, one, got));
  CHECK_INTEGER(255, got[0]);
  close_world(&f);
}

static void any_is_for_scripts(void) {
  open_world(&f);
  ecs_id id = declare_one(f.world, "Any", "v", ECS_ANY);
  f.a = SPAWN(f.world, id);
  CHECK_OK(f.world, ecs_set(f.world, f.a, id, &(uint32_t){0}));
  CHECK_FAILS(f.world, ECS_ETYPE, "field 'Any.v': only scripts set `any`",
              ecs_set(f.world, f.a, id, &(uint32_t){1}));
  close_world(&f);
}

/* ---- values from scripts ---- */

struct attempt {
  ecs_type type;
  ecs_value value;
  ecs_status wanted;
};

#define INT(i) {.kind = ECS_KIND_INTEGER, .integer = (i)}
#define NUM(n) {.kind = ECS_KIND_NUMBER, .number = (n)}
#define TEXT(s) {.kind = ECS_KIND_STRING, .string = {s, sizeof(s) - 1}}

static const struct attempt attempts[] = {
  {ECS_I8, INT(-128), ECS_OK}, {ECS_I8, INT(-129), ECS_ERANGE}, {ECS_I8, INT(127), ECS_OK},
  {ECS_I8, INT(128), ECS_ERANGE}, {ECS_I16, INT(-32768), ECS_OK},
  {ECS_I16, INT(32768), ECS_ERANGE}, {ECS_I32, INT(INT32_MIN), ECS_OK},
  {ECS_I32, INT((int64_t)INT32_MIN - 1), ECS_ERANGE},
  {ECS_I32, INT((int64_t)INT32_MAX + 1), ECS_ERANGE}, {ECS_I64, INT(INT64_MIN), ECS_OK},
  {ECS_I64, INT(INT64_MAX), ECS_OK}, {ECS_U8, INT(-1), ECS_ERANGE},
  {ECS_U8, INT(255), ECS_OK}, {ECS_U8, INT(256), ECS_ERANGE}, {ECS_U16, INT(65535), ECS_OK},
  {ECS_U16, INT(65536), ECS_ERANGE}, {ECS_U32, INT(UINT32_MAX), ECS_OK},
  {ECS_U32, INT((int64_t)UINT32_MAX + 1), ECS_ERANGE}, {ECS_U32, INT(-1), ECS_ERANGE},
  {ECS_I32, NUM(7.0), ECS_OK}, {ECS_I32, NUM(-0.0), ECS_OK}, {ECS_I32, NUM(7.5), ECS_ETYPE},
  {ECS_I32, NUM(1e10), ECS_ERANGE}, {ECS_I32, NUM(1e300), ECS_ERANGE},
  {ECS_I32, NUM((double)NAN), ECS_ETYPE}, {ECS_I32, NUM((double)INFINITY), ECS_ERANGE},
  {ECS_I64, NUM(9223372036854775808.0), ECS_ERANGE},
  {ECS_I64, NUM(-9223372036854775808.0), ECS_OK}, {ECS_U8, NUM(-1.0), ECS_ERANGE},
  {ECS_U64, INT(INT64_MAX), ECS_OK}, {ECS_U64, INT(-1), ECS_OK},
  {ECS_U64, INT(INT64_MIN), ECS_OK}, {ECS_U64, NUM(-1.0), ECS_OK}, {ECS_U64, NUM(0.5), ECS_ETYPE},
  {ECS_U64, NUM(9223372036854775808.0), ECS_ERANGE}, {ECS_U64, NUM(-1e19), ECS_ERANGE},
  {ECS_U64, TEXT("1"), ECS_ETYPE},
  {ECS_F32, INT(INT64_MAX), ECS_OK}, {ECS_F32, NUM(1e300), ECS_OK},
  {ECS_F64, INT(INT64_MIN), ECS_OK}, {ECS_F64, NUM((double)NAN), ECS_OK},
  {ECS_F32, TEXT("1"), ECS_ETYPE}, {ECS_I32, TEXT("1"), ECS_ETYPE},
  {ECS_BOOL, INT(1), ECS_ETYPE}, {ECS_BOOL, NUM(1), ECS_ETYPE},
  {ECS_BOOL, {.kind = ECS_KIND_BOOL, .boolean = true}, ECS_OK},
  {ECS_F32, {.kind = ECS_KIND_BOOL, .boolean = true}, ECS_ETYPE},
  {ECS_F32, {.kind = ECS_KIND_NONE}, ECS_ETYPE}, {ECS_STRING, TEXT("x"), ECS_OK},
  {ECS_STRING, INT(1), ECS_ETYPE}, {ECS_ENTITY, INT(0), ECS_OK},
  {ECS_ENTITY, NUM(0.0), ECS_OK}, {ECS_ENTITY, NUM(0.5), ECS_ENOID},
  {ECS_ENTITY, INT(-1), ECS_ENOID}, {ECS_ENTITY, INT(77), ECS_EUNBORN},
  {ECS_ENTITY, NUM((double)NAN), ECS_ENOID}, {ECS_ENTITY, TEXT("x"), ECS_ETYPE},
  {ECS_ANY, INT(1), ECS_ETYPE},
};

static void values_from_scripts(void) {
  static const char *const names[] = {
    [ECS_F32] = "f32", [ECS_F64] = "f64", [ECS_I8] = "i8", [ECS_I16] = "i16", [ECS_I32] = "i32",
    [ECS_I64] = "i64", [ECS_U8] = "u8", [ECS_U16] = "u16", [ECS_U32] = "u32", [ECS_U64] = "u64",
    [ECS_BOOL] = "bool", [ECS_ENTITY] = "entity", [ECS_STRING] = "string", [ECS_ANY] = "any"};
  open_world(&f);
  ecs_id ids[sizeof names / sizeof *names];
  char name[] = "TypeA";
  for (size_t type = 0; type < sizeof names / sizeof *names; type++) {
    name[4] = (char)('A' + type);
    if (names[type]) ids[type] = declare_one(f.world, name, "v", (ecs_type)type);
  }
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
    const struct attempt *attempt = &attempts[i];
    check_context("attempt %zu", i);
    ecs_cell cell;
    ecs_status status = component_cell(
        f.world, component_of(f.world, ids[attempt->type]), 0, &attempt->value, &cell);
    CHECK_STATUS(f.world, attempt->wanted, status);
    if (status == ECS_OK) continue;
    char words[48];
    snprintf(words, sizeof words, "field 'Type%c.v' is %s", 'A' + (int)attempt->type,
             names[attempt->type]);
    CHECK(strstr(ecs_message(f.world), words) != NULL);
  }
  close_world(&f);
}

/* ---- set and get ---- */

static void failed_sets_change_nothing(void) {
  open_usual(&f);
  static const char *const names[] = {"a", "b"};
  ecs_field fields[] = {{.name = "n", .type = ECS_I32},
                        {.name = "e", .type = ECS_ENUM, .names = names, .name_count = 2}};
  ecs_id mixed = DECLARE(f.world, "Mixed", fields);
  struct { int32_t n; uint8_t e; } good = {5, 1}, bad = {6, 2};
  f.a = SPAWN(f.world, mixed);
  f.b = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_set(f.world, f.a, mixed, &good));
  uint64_t before = world_digest(f.world);
  CHECK_STATUS(f.world, ECS_ERANGE, ecs_set(f.world, f.a, mixed, &bad));
  CHECK_STATUS(f.world, ECS_ERANGE, ecs_set(f.world, f.b, mixed, &bad));
  CHECK(world_digest(f.world) == before);
  close_world(&f);
}

static void resources_hold_one_value(void) {
  open_usual(&f);
  struct health health = {0, 0};
  CHECK_FAILS(f.world, ECS_EABSENT, "'Health' is not a resource",
              ecs_resource_get(f.world, f.health, &health));
  CHECK_STATUS(f.world, ECS_EABSENT, ecs_resource_set(f.world, f.health, &health));
  CHECK_FAILS(f.world, ECS_EINVAL, "'Frozen' is a tag", ecs_resource(f.world, f.frozen));
  CHECK_STATUS(f.world, ECS_EUNBORN, ecs_resource(f.world, 999));
  CHECK_OK(f.world, ecs_resource(f.world, f.health));
  CHECK_OK(f.world, ecs_resource_get(f.world, f.health, &health));
  CHECK_INTEGER(100, health.hp);
  health.hp = 7;
  CHECK_OK(f.world, ecs_resource_set(f.world, f.health, &health));
  CHECK_OK(f.world, ecs_resource(f.world, f.health));
  CHECK_OK(f.world, ecs_resource_get(f.world, f.health, &health));
  CHECK_INTEGER(7, health.hp);
  CHECK_INTEGER(0, count_of(f.world, "Health"));
  CHECK_OK(f.world, ecs_undeclare(f.world, f.health));
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_resource_get(f.world, f.health, &health));
  close_world(&f);
}

static const struct test tests[] = {
  {"C13: numbers of all types come back as they went in", numbers_round_trip},
  {"strings of any bytes come back as they went in", strings_round_trip},
  {"enums take one byte or two, enums and bools in range", enums_and_bools},
  {"a host cannot make up values of scripts", any_is_for_scripts},
  {"C21: values from scripts are checked, and errors name field and type",
   values_from_scripts},
  {"a set that is refused changes nothing", failed_sets_change_nothing},
  {"resources are one value of a component", resources_hold_one_value},
};

int main(void) { return RUN_TESTS(tests); }
