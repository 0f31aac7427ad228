/* Declaring components: names, fields, layouts, declaring again, undeclaring. C1, C2, C8, C22,
** C23, C41, C42. */
#include <stddef.h>
#include <string.h>

#include "core/ids/world.h"
#include "core/storage/component.h"
#include "fixture.h"

static struct fixture f;

static const struct component *find(ecs_id id) { return component_of(f.world, id); }

/* ---- layout ---- */

struct everything {
  int8_t i8; double f64; int16_t i16; float f32; uint8_t u8; int64_t i64; bool flag;
  int32_t i32; uint16_t u16; ecs_id entity; uint8_t choice; ecs_string text; uint32_t u32;
  uint32_t any; uint64_t u64;
};

#define EVERYTHING(X)                                                              \
  X(i8, ECS_I8) X(f64, ECS_F64) X(i16, ECS_I16) X(f32, ECS_F32) X(u8, ECS_U8)      \
  X(i64, ECS_I64) X(flag, ECS_BOOL) X(i32, ECS_I32) X(u16, ECS_U16)                \
  X(entity, ECS_ENTITY) X(choice, ECS_ENUM) X(text, ECS_STRING) X(u32, ECS_U32)    \
  X(any, ECS_ANY) X(u64, ECS_U64)

static const char *const choices[] = {"a", "b", "c"};

static void lays_out_like_c(void) {
  open_world(&f);
  ecs_field fields[] = {
#define FIELD(id, kind) {.name = #id, .type = kind, .names = choices, .name_count = 3},
    EVERYTHING(FIELD)
#undef FIELD
  };
  const struct component *component = find(DECLARE(f.world, "Everything", fields));
  size_t at = 0;
#define OFFSET(id, kind)                                                                   \
  CHECK_INTEGER(offsetof(struct everything, id), component->leaves[at].offset);            \
  CHECK_INTEGER(sizeof((struct everything *)0)->id, component->fields[at].size);           \
  CHECK_TEXT(#id, component->fields[at++].name);
  EVERYTHING(OFFSET)
#undef OFFSET
  CHECK_INTEGER(15, component->field_count);
  CHECK_INTEGER(sizeof(struct everything), component->size);
  close_world(&f);
}

struct inner { uint8_t tag; double at; };
struct outer { uint8_t first; struct inner one; float m[3]; struct inner two[2]; uint8_t last; };

static void lays_nested_ones_out_like_c(void) {
  open_world(&f);
  ecs_field inner[] = {{.name = "tag", .type = ECS_U8},
                       {.name = "at", .type = ECS_F64,
                        .value = {.kind = ECS_KIND_NUMBER, .number = 2.5}}};
  ecs_id nested = DECLARE(f.world, "Inner", inner);
  ecs_field outer[] = {
    {.name = "first", .type = ECS_U8},
    {.name = "one", .type = ECS_NESTED, .nested = nested},
    {.name = "m", .type = ECS_F32, .count = 3},
    {.name = "two", .type = ECS_NESTED, .nested = nested, .count = 2},
    {.name = "last", .type = ECS_U8},
  };
  ecs_id id = DECLARE(f.world, "Outer", outer);
  const struct component *component = find(id);
  static const struct { const char *name; size_t offset; } leaves[] = {
    {"first", 0}, {"one.tag", offsetof(struct outer, one.tag)},
    {"one.at", offsetof(struct outer, one.at)}, {"m[1]", offsetof(struct outer, m)},
    {"m[2]", offsetof(struct outer, m) + 4}, {"m[3]", offsetof(struct outer, m) + 8},
    {"two[1].tag", offsetof(struct outer, two)},
    {"two[1].at", offsetof(struct outer, two) + offsetof(struct inner, at)},
    {"two[2].tag", offsetof(struct outer, two) + sizeof(struct inner)},
    {"two[2].at", offsetof(struct outer, two[1].at)},
    {"last", offsetof(struct outer, last)},
  };
  CHECK_INTEGER(11, component->leaf_count);
  for (uint32_t i = 0; i < 11; i++) {
    CHECK_TEXT(leaves[i].name, component->leaves[i].name);
    CHECK_INTEGER(leaves[i].offset, component->leaves[i].offset);
    CHECK_INTEGER(i, component_leaf(component, leaves[i].name, strlen(leaves[i].name)));
  }
  CHECK_INTEGER(sizeof(struct outer), component->size);
  struct outer got;
  f.a = SPAWN(f.world, id);
  CHECK_OK(f.world, ecs_get(f.world, f.a, id, &got));
  CHECK(got.one.at == 2.5 && got.two[1].at == 2.5 && got.m[2] == 0);
  CHECK_FAILS(f.world, ECS_EINVAL, "it is the type of field 'Outer.one'",
              ecs_undeclare(f.world, nested));
  CHECK_OK(f.world, ecs_undeclare(f.world, id));
  CHECK_OK(f.world, ecs_undeclare(f.world, nested));
  close_world(&f);
}

/* A host's struct has other members, another order, and fields where it likes. */
struct native {
  char padding[5]; uint8_t level; void *handle; float speed; char gap[3]; uint8_t state;
  double weights[2]; ecs_string name;
};

static void takes_native_structs(void) {
  open_world(&f);
  ecs_field fields[] = {
    {.name = "name", .type = ECS_STRING, .offset = offsetof(struct native, name)},
    {.name = "speed", .type = ECS_F32, .offset = offsetof(struct native, speed)},
    {.name = "weights", .type = ECS_F64, .count = 2,
     .offset = offsetof(struct native, weights)},
    {.name = "state", .type = ECS_ENUM, .names = choices, .name_count = 3,
     .offset = offsetof(struct native, state)},
    {.name = "level", .type = ECS_U8, .offset = offsetof(struct native, level)},
  };
  ecs_id id = declare_fields(f.world, "Native", fields, 5, sizeof(struct native));
  CHECK_INTEGER(sizeof(struct native), find(id)->size);
  int here;
  struct native value = {"1234", 9, &here, 1.5f, "12", 2, {3.25, -4}, {"bob", 3}}, got;
  f.a = SPAWN(f.world, id);
  CHECK_OK(f.world, ecs_set(f.world, f.a, id, &value));
  memset(&got, 0x55, sizeof got);
  CHECK_OK(f.world, ecs_get(f.world, f.a, id, &got));
  CHECK(got.level == 9 && got.speed == 1.5f && got.state == 2);
  CHECK(got.weights[0] == 3.25 && got.weights[1] == -4);
  CHECK_TEXT("bob", got.name.data);
  CHECK_INTEGER(0x55, got.padding[0]);
  CHECK_INTEGER(0x55, got.gap[2]);
  CHECK(*(float *)ecs_cell_of(f.world, f.a, id, 1) == 1.5f);
  close_world(&f);
}

/* Packed structs are read byte by byte. */
static void takes_unaligned_offsets(void) {
  open_world(&f);
  ecs_field fields[] = {{.name = "a", .type = ECS_F64, .offset = 1},
                        {.name = "b", .type = ECS_STRING, .offset = 9},
                        {.name = "c", .type = ECS_I32, .offset = 25}};
  ecs_id id = declare_fields(f.world, "Packed", fields, 3, 29);
  char bytes[29], got[29];
  memset(bytes, 0, sizeof bytes);
  memset(got, 0, sizeof got);
  double a = -0.125;
  ecs_string b = text_of("packed");
  int32_t c = INT32_MIN;
  memcpy(bytes + 1, &a, 8);
  memcpy(bytes + 9, &b, sizeof b);
  memcpy(bytes + 25, &c, 4);
  f.a = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_set(f.world, f.a, id, bytes));
  CHECK_OK(f.world, ecs_get(f.world, f.a, id, got));
  memcpy(&b, got + 9, sizeof b);
  CHECK_TEXT("packed", b.data);
  memset(bytes + 9, 0, sizeof b);
  memset(got + 9, 0, sizeof b);
  CHECK(memcmp(bytes, got, sizeof got) == 0);
  close_world(&f);
}

/* Numbers of all sizes, of which any bits are values, and beside them what is checked. */
struct mixed { int64_t wide; float real; uint16_t half; int8_t small; uint8_t truth; };

static void sets_numbers_of_all_sizes(void) {
  open_world(&f);
  ecs_field fields[] = {
    {.name = "half", .type = ECS_U16, .offset = offsetof(struct mixed, half)},
    {.name = "wide", .type = ECS_I64, .offset = offsetof(struct mixed, wide)},
    {.name = "small", .type = ECS_I8, .offset = offsetof(struct mixed, small)},
    {.name = "real", .type = ECS_F32, .offset = offsetof(struct mixed, real)},
    {.name = "truth", .type = ECS_BOOL, .offset = offsetof(struct mixed, truth)},
  };
  ecs_id numbers = declare_fields(f.world, "Numbers", fields, 4, sizeof(struct mixed));
  ecs_id checked = declare_fields(f.world, "Checked", fields, 5, sizeof(struct mixed));
  CHECK(find(numbers)->numbers && !find(checked)->numbers);
  struct mixed value = {INT64_MIN + 1, -0.5f, 65535, -128, 1}, got = {0, 0, 0, 0, 0};
  f.b = SPAWN(f.world, numbers, checked);
  f.a = SPAWN(f.world, numbers, checked);
  CHECK_OK(f.world, ecs_set(f.world, f.a, numbers, &value));
  CHECK_OK(f.world, ecs_get(f.world, f.a, numbers, &got));
  CHECK(got.wide == INT64_MIN + 1 && got.real == -0.5f && got.half == 65535 && got.small == -128);
  CHECK_OK(f.world, ecs_set(f.world, f.a, checked, &value));
  value.truth = 2;
  value.half = 7;
  CHECK_FAILS(f.world, ECS_ERANGE, "Checked.truth", ecs_set(f.world, f.a, checked, &value));
  CHECK_OK(f.world, ecs_get(f.world, f.a, checked, &got));
  CHECK(got.half == 65535 && got.truth == 1);
  CHECK_OK(f.world, ecs_get(f.world, f.b, numbers, &got));
  CHECK(got.wide == 0 && got.half == 0);
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_set(f.world, f.a, numbers, &value));
  close_world(&f);
}

/* A value is written at once, unless a command on it waits. */
static void sets_behind_what_waits(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  struct position got = {0, 0};
  CHECK_OK(f.world, ecs_defer(f.world));
  set_position(&f, f.a, 1, 2);
  CHECK_OK(f.world, ecs_get(f.world, f.a, f.position, &got));
  CHECK(got.x == 1 && got.y == 2);
  CHECK_OK(f.world, ecs_remove(f.world, f.a, f.position));
  set_position(&f, f.a, 3, 4);
  CHECK_OK(f.world, ecs_get(f.world, f.a, f.position, &got));
  CHECK(got.x == 1 && got.y == 2);
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_OK(f.world, ecs_get(f.world, f.a, f.position, &got));
  CHECK(got.x == 3 && got.y == 4);
  close_world(&f);
}

/* ---- declaring again ---- */

static ecs_status declare(const char *name, const ecs_field *fields, uint32_t count,
                          size_t native_size, ecs_id *id) {
  ecs_component_desc desc = {
    .name = name, .fields = fields, .field_count = count, .native_size = native_size
  };
  return ecs_component(f.world, &desc, id);
}

static void declares_again(void) {
  open_world(&f);
  ecs_field fields[] = {
    {.name = "n", .type = ECS_I32, .value = {.kind = ECS_KIND_INTEGER, .integer = 5}},
    {.name = "s", .type = ECS_STRING,
     .value = {.kind = ECS_KIND_STRING, .string = text_of("x")}},
    {.name = "e", .type = ECS_ENUM, .names = choices, .name_count = 3},
  };
  ecs_id first = DECLARE(f.world, "Thing", fields), again = ECS_NULL;
  const struct component *known = find(first);
  fields[0].doc = "hints do not count";
  CHECK_OK(f.world, declare("Thing", fields, 3, 0, &again));
  CHECK(first == again && find(first) == known);
  CHECK_OK(f.world, ecs_tag(f.world, "Tag", &first));
  CHECK_OK(f.world, ecs_tag(f.world, "Tag", &again));
  CHECK(first == again);
  close_world(&f);
}

/* ---- leaves by name ---- */

static void finds_leaves_by_name(void) {
  open_usual(&f);
  ecs_field fields[] = {{.name = "mass", .type = ECS_F64},
                        {.name = "at", .type = ECS_NESTED, .nested = f.position},
                        {.name = "m", .type = ECS_I32, .count = 2}};
  ecs_id body = DECLARE(f.world, "Body", fields), component = ECS_NULL;
  static const char *const paths[] = {"Body.mass", "Body.at.x", "Body.at.y", "Body.m[1]",
                                      "Body.m[2]"};
  f.a = SPAWN(f.world, body, f.frozen);
  for (uint32_t i = 0, leaf; i < 5; i++) {
    CHECK_OK(f.world, ecs_leaf(f.world, paths[i], &component, &leaf));
    CHECK(component == body);
    CHECK_INTEGER(i, leaf);
    void *cell = ecs_cell_named(f.world, f.a, paths[i]);
    CHECK(cell && cell == ecs_cell_of(f.world, f.a, body, i));
  }
  *(int32_t *)ecs_cell_named(f.world, f.a, "Body.m[2]") = 7;
  CHECK_INTEGER(7, *(int32_t *)ecs_cell_of(f.world, f.a, body, 4));
  close_world(&f);
}

static void refuses_paths(void) {
  static const struct { const char *path, *words; } wrong[] = {
    {"Postion.x", "unknown component 'Postion' (did you mean 'Position'?)"},
    {"Position.z", "component 'Position' has no field 'z'"},
    {"Position.", "component 'Position' has no field ''"},
    {"Position", "'Position' does not name a field: add one, as in 'Position.x'"},
    {"Frozen", "'Frozen' is a tag: it has no fields"},
    {"Frozen.x", "'Frozen' is a tag: it has no field 'x'"},
    {"Row.m", "field 'Row.m' is not a single value: name a part, as in 'Row.m[1]'"},
    {"Row.m[3]", "component 'Row' has no field 'm[3]'"},
    {"", "unknown component ''"},
  };
  open_usual(&f);
  ecs_field row[] = {{.name = "m", .type = ECS_I32, .count = 2}};
  DECLARE(f.world, "Row", row);
  f.a = SPAWN(f.world, f.position);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ecs_id component = 77;
    uint32_t leaf = 77;
    CHECK_FAILS(f.world, ECS_ENAME, wrong[i].words,
                ecs_leaf(f.world, wrong[i].path, &component, &leaf));
    CHECK(component == 77 && leaf == 77);
    CHECK(ecs_cell_named(f.world, f.a, wrong[i].path) == NULL);
  }
  CHECK(ecs_cell_named(f.world, f.a, "Velocity.x") == NULL);
  CHECK(strstr(ecs_message(f.world), "has no 'Velocity'") != NULL);
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK(ecs_cell_named(f.world, f.a, "Position.x") == NULL);
  CHECK(strstr(ecs_message(f.world), "dead") != NULL);
  close_world(&f);
}

/* ---- what is refused ---- */

static void refuse(ecs_status wanted, const char *words, ecs_field field) {
  ecs_id id;
  uint64_t before = world_digest(f.world);
  CHECK_FAILS(f.world, wanted, words, declare("Thing", &field, 1, 0, &id));
  CHECK(world_digest(f.world) == before);
  CHECK(ecs_component_find(f.world, "Thing") == ECS_NULL);
}

static void refuses_names(void) {
  static const char *const names[] = {"", "1a", "a b", "a.b", "a-b", "!a", "\xC3\xA4", "a\n"};
  open_usual(&f);
  ecs_id id;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK_FAILS(f.world, ECS_EINVAL, "not a name for a component", ecs_tag(f.world, names[i], &id));
    refuse(ECS_EINVAL, "not a name for a field", (ecs_field){.name = names[i]});
  }
  CHECK_FAILS(f.world, ECS_EINVAL, "not a name for a component", ecs_tag(f.world, NULL, &id));
  refuse(ECS_EINVAL, "not a name for a field", (ecs_field){.name = NULL});
  ecs_field twice[] = {{.name = "a", .type = ECS_F32}, {.name = "a", .type = ECS_F64}};
  CHECK_FAILS(f.world, ECS_EINVAL, "two fields named 'a'", declare("Thing", twice, 2, 0, &id));
  close_world(&f);
}

static void refuses_fields(void) {
  open_usual(&f);
  ecs_value text = {.kind = ECS_KIND_STRING, .string = text_of("red")};
  ecs_value number = {.kind = ECS_KIND_NUMBER, .number = 1.5};
  ecs_value integer = {.kind = ECS_KIND_INTEGER, .integer = 300};
  ecs_value flag = {.kind = ECS_KIND_BOOL, .boolean = true};
  static const char *const doubled[] = {"a", "b", "a"}, *const colours[] = {"rod", "blue"};
  refuse(ECS_EINVAL, "an unknown type", (ecs_field){.name = "x", .type = (ecs_type)99});
  refuse(ECS_ETYPE, "field 'Thing.x' is f32, got a string",
         (ecs_field){.name = "x", .value = text});
  refuse(ECS_ETYPE, "field 'Thing.x' is i32: 1.5 is not an integer",
         (ecs_field){.name = "x", .type = ECS_I32, .value = number});
  refuse(ECS_ERANGE, "field 'Thing.x' is u8: 300 is out of range",
         (ecs_field){.name = "x", .type = ECS_U8, .value = integer});
  refuse(ECS_ERANGE, "field 'Thing.x[1]' is u8: 300 is out of range",
         (ecs_field){.name = "x", .type = ECS_U8, .count = 3, .value = integer});
  refuse(ECS_ETYPE, "is bool, got an integer",
         (ecs_field){.name = "x", .type = ECS_BOOL, .value = integer});
  refuse(ECS_ETYPE, "is string, got a boolean",
         (ecs_field){.name = "x", .type = ECS_STRING, .value = flag});
  refuse(ECS_ETYPE, "is any", (ecs_field){.name = "x", .type = ECS_ANY, .value = integer});
  refuse(ECS_ERANGE, "has no name 'red' (did you mean 'rod'?)",
         (ecs_field){.name = "x", .type = ECS_ENUM, .names = colours, .name_count = 2,
                     .value = text});
  refuse(ECS_EINVAL, "lists 'a' twice",
         (ecs_field){.name = "x", .type = ECS_ENUM, .names = doubled, .name_count = 3});
  refuse(ECS_EUNBORN, "never spawned",
         (ecs_field){.name = "x", .type = ECS_NESTED, .nested = 900});
  refuse(ECS_EINVAL, "'Frozen' is a tag",
         (ecs_field){.name = "x", .type = ECS_NESTED, .nested = f.frozen});
  refuse(ECS_EINVAL, "a nested component has its own defaults",
         (ecs_field){.name = "x", .type = ECS_NESTED, .nested = f.position,
                     .value = integer});
  refuse(ECS_ENOID, "is not an entity id",
         (ecs_field){.name = "x", .type = ECS_ENTITY,
                     .value = {.kind = ECS_KIND_INTEGER, .integer = -5}});
  close_world(&f);
}

/* ---- finding ---- */

static void finds_by_name(void) {
  open_usual(&f);
  CHECK(ecs_component_find(f.world, "Position") == f.position);
  CHECK(ecs_component_find(f.world, "position") == ECS_NULL);
  CHECK(ecs_component_find(f.world, "") == ECS_NULL);
  CHECK_TEXT("Position", ecs_component_name(f.world, f.position));
  CHECK_TEXT(NULL, ecs_component_name(f.world, 500));
  CHECK_TEXT(NULL, ecs_component_name(f.world, ECS_NULL));
  CHECK_TEXT(NULL, ecs_component_name(f.world, UINT64_MAX));
  struct component *found;
  CHECK_FAILS(f.world, ECS_ENAME, "unknown component 'Postion' (did you mean 'Position'?)",
              component_need(f.world, "Postion", 7, &found));
  CHECK_FAILS(f.world, ECS_ENAME, "unknown component 'Zebra'",
              component_need(f.world, "Zebra", 5, &found));
  close_world(&f);
}

static const struct test tests[] = {
  {"C42: fields lie as in C's structs", lays_out_like_c},
  {"C42: nested components and arrays lie as in C's structs", lays_nested_ones_out_like_c},
  {"a native struct is read and written where the host says", takes_native_structs},
  {"native offsets need no alignment", takes_unaligned_offsets},
  {"numbers of all sizes are set, and what is checked stays checked", sets_numbers_of_all_sizes},
  {"a value is set at once unless a command on it waits", sets_behind_what_waits},
  {"declaring the same fields again changes nothing", declares_again},
  {"a leaf is found by its path", finds_leaves_by_name},
  {"a path that names no leaf is refused with what to write", refuses_paths},
  {"names that are no identifiers are refused", refuses_names},
  {"fields that make no sense are refused and named", refuses_fields},
  {"C2, C41: components are found by name, unknown ones with a hint", finds_by_name},
};

int main(void) { return RUN_TESTS(tests); }
