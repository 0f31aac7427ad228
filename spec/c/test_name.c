/* Names of entities, and the texts of messages. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ids/world.h"
#include "fixture.h"

static struct fixture f;

/* Names of one hash (FNV-1a) form a list: its first, middle and last leave. */
static void names_of_one_hash(void) {
  static const char *const texts[] = {"costarring", "liquid"};
  CHECK(text_hash(texts[0], 10) == text_hash(texts[1], 6));
  for (int first = 0; first < 2; first++) {
    open_usual(&f);
    for (int i = 0; i < 2; i++) {
      f.ids[i] = spawn_empty(f.world);
      CHECK_OK(f.world, ecs_name(f.world, f.ids[i], texts[i]));
    }
    CHECK_OK(f.world, ecs_name(f.world, f.ids[first], "other"));
    CHECK(ecs_lookup(f.world, texts[!first]) == f.ids[!first]);
    CHECK(ecs_lookup(f.world, texts[first]) == ECS_NULL);
    CHECK_OK(f.world, ecs_name(f.world, f.ids[first], texts[first]));
    CHECK_OK(f.world, ecs_name(f.world, f.ids[!first], NULL));
    CHECK(ecs_lookup(f.world, texts[first]) == f.ids[first]);
    close_world(&f);
    open_usual(&f);
    ecs_id tags[] = {declare_tag(f.world, texts[0]), declare_tag(f.world, texts[1])};
    CHECK_OK(f.world, ecs_undeclare(f.world, tags[first]));
    CHECK(ecs_component_find(f.world, texts[!first]) == tags[!first]);
    CHECK(ecs_component_find(f.world, texts[first]) == ECS_NULL);
    close_world(&f);
  }
}

/* ---- texts ---- */

static void check_number(double value, const char *wanted) {
  char text[64];
  text_format(text, sizeof text, "%g", value);
  CHECK_TEXT(wanted, text);
}

static void formats_numbers(void) {
  check_number(0, "0");
  check_number(-0.0, "-0");
  check_number(1.5, "1.5");
  check_number(-2.25, "-2.25");
  check_number(100000000000000.0, "100000000000000");
  check_number(0.1, "0.1");
  check_number(0.001, "0.001");
  check_number(1234.5678, "1234.5678");
  check_number(9.9999999999, "10");
  check_number(0.99999999999, "1");
  check_number(1e15, "1000000000000000");
  check_number(1e16, "1e16");
  check_number(1.5e300, "1.5e300");
  check_number(1e-7, "1e-7");
  check_number(2.5e-308, "2.5e-308");
  check_number(0x1p-1074, "4.94065646e-324");
  check_number(1.7976931348623157e308, "1.79769313e308");
  check_number((double)INFINITY, "inf");
  check_number((double)-INFINITY, "-inf");
  check_number((double)NAN, "nan");
}

static void formats_texts(void) {
  char text[16];
  CHECK_INTEGER(15, text_format(text, sizeof text, "%s", "cut where it is too long"));
  CHECK_TEXT("cut where it is", text);
  text_format(text, sizeof text, "%d %u %%", INT32_MIN, 7u);
  CHECK_TEXT("-2147483648 7 %", text);
  text_format(text, sizeof text, "%u %zu %s", UINT32_MAX, (size_t)9, "x");
  CHECK_TEXT("4294967295 9 x", text);
  text_format(text, sizeof text, SHOW_ID, id_make(65536, 3, 9));
  CHECK_TEXT("65536v3@9", text);
  ecs_string string = {"abcdef", 3};
  text_format(text, sizeof text, "<%.*s>%d", SHOW(string), -1);
  CHECK_TEXT("<abc>-1", text);
}

/* As many bytes are taken as an argument has, on machines of 32 bits, too. */
static void formats_long_integers(void) {
  char text[80];
  text_format(text, sizeof text, "%lld %d %llu %u %ld", (long long)INT64_MIN, -2,
              (unsigned long long)UINT64_MAX, 3u, -4L);
  CHECK_TEXT("-9223372036854775808 -2 18446744073709551615 3 -4", text);
}

/* What does not fit is counted all the same. */
static void texts_grow(void) {
  char buffer[8] = "xxxxxxx";
  for (size_t size = 0; size <= sizeof buffer; size++) {
    struct text text = {buffer, size, 0};
    memset(buffer, 'x', sizeof buffer);
    text_add(&text, "ab");
    text_add(&text, "%u,", 12u);
    text_add(&text, "%s", "cdefgh");
    text_end(&text);
    CHECK_INTEGER(11, text.length);
    if (size == 0) CHECK(buffer[0] == 'x');
    if (size > 0) CHECK(strlen(buffer) == size - 1);
    if (size > 0) CHECK(memcmp(buffer, "ab12,cdefgh", size - 1) == 0);
    for (size_t i = size; i < sizeof buffer; i++) CHECK(buffer[i] == 'x');
  }
}

static void check_distance(uint32_t wanted, const char *a, const char *b) {
  CHECK_INTEGER(wanted, text_distance(a, strlen(a), b, strlen(b), 10));
  CHECK_INTEGER(wanted, text_distance(b, strlen(b), a, strlen(a), 10));
}

static void finds_the_nearest(void) {
  check_distance(0, "Position", "Position");
  check_distance(1, "Position", "Postion");
  check_distance(1, "Position", "Psoition");
  check_distance(1, "Position", "position");
  check_distance(3, "kitten", "sitting");
  check_distance(4, "", "four");
  char longer[70];
  memset(longer, 'x', sizeof longer);
  CHECK_INTEGER(1000, text_distance(longer, 65, longer, 65, 10));
  CHECK_INTEGER(0, text_distance(longer, 64, longer, 64, 10));
  struct nearest nearest;
  nearest_begin(&nearest, "Velocty", 7);
  nearest_offer(&nearest, "Position", 8);
  CHECK_TEXT("", nearest_hint(&nearest));
  nearest_offer(&nearest, "Velocities", 10);
  nearest_offer(&nearest, "Velocity", 8);
  CHECK_TEXT(" (did you mean 'Velocity'?)", nearest_hint(&nearest));
}

static const struct test tests[] = {
  {"names of one hash come and go", names_of_one_hash},
  {"messages show numbers shortly", formats_numbers},
  {"messages show texts, ids and integers, cut to their room", formats_texts},
  {"messages show integers of 64 bits between those of 32", formats_long_integers},
  {"a text that is written bit by bit is cut to its room and counted whole", texts_grow},
  {"the nearest known name is found", finds_the_nearest},
};

int main(void) { return RUN_TESTS(tests); }
