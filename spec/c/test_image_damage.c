/* Images that were cut, flipped or forged: refused, or worlds of what they say now. */
#include <stdio.h>
#include <string.h>

#include "image_fixture.h"

/* The pages of ids are long and dull: positions in them are tried with gaps. */
static size_t next_position(size_t at) {
  size_t gap = image.data[at] == 0 && at > 2000 && at + 2000 < image.size ? 97 : 1;
  return at + gap * (size_t)by_scale(13, 11, 1);
}

static void refuses_every_cut(void) {
  open_saved();
  open_target();
  for (size_t size = 0; size < image.size; size = next_position(size)) {
    check_context("%zu bytes", size);
    copy_image(size);
    is_refused("");
    if (size < 16) continue;
    seal(&broken);
    is_refused("");
  }
  check_context(NULL);
  CHECK_SOUND(g.world);
  close_both();
}

static void refuses_every_flip(void) {
  open_saved();
  open_target();
  for (size_t at = 0; at < image.size; at = next_position(at)) {
    check_context("byte %zu", at);
    copy_image(image.size);
    broken.data[at] ^= (unsigned char)(1u << at % 8);
    is_refused("");
    broken.data[at] = (unsigned char)~image.data[at];
    is_refused("");
  }
  check_context(NULL);
  CHECK_SOUND(g.world);
  close_both();
}

/* An image that is no longer what was saved: refused, or the world of what it says now. */
static void is_refused_or_sound(void) {
  struct fixture *live = &g;
  uint64_t before = world_digest(live->world);
  ecs_status status = load(live, &broken);
  CHECK_SOUND(live->world);
  if (status == ECS_OK) {
    CHECK_OK(live->world, load(live, &image));
  } else {
    CHECK(ecs_message(live->world)[0] != '\0');
    CHECK(world_digest(live->world) == before);
  }
  CHECK_INTEGER(live->alloc.bytes, ecs_bytes(live->world));
}

static void stands_forged_bytes(void) {
  open_saved();
  open_target();
  CHECK_OK(g.world, load(&g, &image));
  for (size_t at = 8; at + 8 < image.size; at = next_position(at)) {
    check_context("byte %zu", at);
    for (unsigned flip = 1; flip < 256; flip *= 4) {
      copy_image(image.size);
      broken.data[at] ^= (unsigned char)(at % 2 ? flip : flip * 2);
      seal(&broken);
      is_refused_or_sound();
    }
  }
  check_context(NULL);
  close_both();
}

/* Any four bytes may be a count or a size. */
static void stands_lying_counts(void) {
  static const uint32_t lies[] = {UINT32_MAX, UINT32_MAX - 1, INT32_MAX, 0x10000000, 65536, 0};
  open_saved();
  open_target();
  CHECK_OK(g.world, load(&g, &image));
  for (size_t at = 12; at + 12 < image.size; at = next_position(at)) {
    check_context("bytes from %zu", at);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
      copy_image(image.size);
      for (size_t j = 0; j < 4; j++)
        broken.data[at + j] = (unsigned char)(lies[i] >> (8 * j));
      seal(&broken);
      is_refused_or_sound();
    }
  }
  check_context(NULL);
  close_both();
}

/* Components live, so that they can be tied. */
static void tie_components(void) {
  struct ties_of ties = declare_ties(f.world);
  CHECK_OK(f.world, ecs_add(f.world, f.position, ecs_pair(ties.likes, f.frozen)));
  CHECK_OK(f.world, ecs_add(f.world, f.position, ecs_pair(ties.owes, f.enemy)));
  CHECK_OK(f.world, ecs_add(f.world, f.frozen, ecs_pair(ties.child_of, f.position)));
  CHECK_OK(f.world, ecs_add(f.world, f.enemy, ecs_pair(ties.child_of, f.position)));
  CHECK_OK(f.world, ecs_add(f.world, f.enemy, ecs_pair(ties.docked, f.frozen)));
}

/* Images without entities are small: here nothing is left out. */
static void save_small(int what) {
  open_world(&f);
  if (what > 0) declare_usual(&f);
  ecs_id mind = what > 1 ? declare_mind(f.world) : ECS_NULL;
  if (what > 1) declare_body(f.world, mind);
  if (what > 1) declare_sworn(f.world, mind);
  if (what > 2) CHECK_OK(f.world, ecs_resource(f.world, f.health));
  if (what > 3) CHECK_OK(f.world, ecs_name(f.world, f.frozen, "cold"));
  if (what > 4) tie_components();
  CHECK_OK(f.world, save(&f, &image));
  CHECK(image.size < 4096);
}

static void stands_every_bit(void) {
  for (int what = 0; what < 6; what++) {
    save_small(what);
    open_target();
    for (size_t at = 0; at < image.size; at += (size_t)by_scale(11, 7, 1)) {
      check_context("image %d, byte %zu", what, at);
      copy_image(at);
      is_refused("");
      for (unsigned bit = 0; bit < 8; bit++) {
        copy_image(image.size);
        broken.data[at] ^= (unsigned char)(1u << bit);
        is_refused("");
        seal(&broken);
        if (at + 8 < image.size) is_refused_or_sound();
      }
    }
    check_context(NULL);
    close_both();
  }
}

/* Tables cost most for each byte of an image when they are wide and have no row, or one. */
static void save_wide(int tables, bool rows) {
  char name[16];
  open_world(&f);
  ecs_field fields[] = {{.name = "on", .type = ECS_BOOL, .count = 1024}};
  ecs_id wide = DECLARE(f.world, "Wide", fields);
  for (int i = 0; i < tables; i++) {
    snprintf(name, sizeof name, "T%d", i);
    ecs_id id = SPAWN(f.world, wide, declare_tag(f.world, name));
    if (!rows) CHECK_OK(f.world, ecs_despawn(f.world, id));
  }
  CHECK_OK(f.world, save(&f, &image));
}

static void loads_wide_tables(void) {
  for (int tables = 1; tables <= 13; tables += 4)
    for (int rows = 0; rows < 2; rows++) {
      check_context("%d tables%s", tables, rows ? " with a row each" : "");
      save_wide(tables, rows != 0);
      open_target();
      CHECK_OK(g.world, load(&g, &image));
      CHECK_SOUND(g.world);
      close_both();
    }
  check_context(NULL);
}

static void refuses_other_formats(void) {
  open_saved();
  open_target();
  copy_image(image.size);
  broken.data[8] = 9;
  seal(&broken);
  is_refused("format 9; this version reads formats 1 to 3");
  broken.data[0] = 'E';
  is_refused("not an image of a world");
  close_both();
}

static void refuses_more_bytes(void) {
  open_saved();
  open_target();
  for (size_t more = 1; more < 20; more++) {
    copy_image(image.size);
    memset(broken.data + broken.size, 0, more);
    broken.size += more;
    is_refused("after its end");
  }
  CHECK_OK(g.world, load(&g, &image));
  close_both();
}

static const struct test tests[] = {
  {"an image cut anywhere is refused, its checksum made right or not", refuses_every_cut},
  {"an image with flipped bits is refused", refuses_every_flip},
  {"with the checksum made right it is refused, or a sound world", stands_forged_bytes},
  {"lying counts and sizes too", stands_lying_counts},
  {"every prefix and every bit of six small images", stands_every_bit},
  {"an image with bytes behind it is refused", refuses_more_bytes},
  {"wide tables take no more memory than their image allows", loads_wide_tables},
  {"other formats and other files are refused by name", refuses_other_formats},
};

int main(void) { return RUN_TESTS(tests); }
