/* Saving and loading through callbacks: what an image keeps, callbacks that fail. Worlds that have
** moved on, and snapshots, are compared with a model by spec/random/random_model_spec.lua. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "image_fixture.h"

/* The checksum of a certain world's image. */
#define FIXED_SUM UINT64_C(0xCB7326BE13F5BC15)

static struct bytes again;

/* ---- what is kept ----------------------------------------------------------------- */

static void keeps_everything(void) {
  struct mind got;
  struct health health;
  open_saved();
  open_target();
  CHECK_OK(g.world, load(&g, &image));
  CHECK(ecs_digest(g.world) == ecs_digest(f.world));
  CHECK_INTEGER(1, ecs_world_tag(g.world));
  for (int i = 0; i < 8; i++)
    CHECK_INTEGER(ecs_entity_status(f.world, f.ids[i]), ecs_entity_status(g.world, f.ids[i]));
  CHECK_STATUS(g.world, ECS_EDEAD, ecs_entity_status(g.world, f.ids[0]));
  CHECK_STATUS(g.world, ECS_EDEAD, ecs_entity_status(g.world, f.a));
  CHECK_INTEGER(1, g.world->entities.retired);
  CHECK_INTEGER(f.ids[1], ecs_lookup(g.world, "one"));
  CHECK_INTEGER(g.frozen, ecs_lookup(g.world, "cold"));
  CHECK(ecs_lookup(g.world, "here") == ECS_NULL);
  CHECK_OK(g.world, ecs_get(g.world, f.ids[5], ecs_component_find(g.world, "Mind"), &got));
  CHECK_INTEGER(2, got.mood);
  CHECK(got.foe == ECS_NULL);
  CHECK_TEXT("odd", got.name.data);
  CHECK_OK(g.world, ecs_resource_get(g.world, g.health, &health));
  CHECK(health.hp == 7 && health.armour == 8);
  CHECK_INTEGER(7, ecs_query_count(g.query));
  for (int i = 0; i < 4; i++) CHECK(spawn_empty(f.world) == spawn_empty(g.world));
  close_both();
}

static void is_the_same_bytes_again(void) {
  open_saved();
  open_world(&g);
  CHECK_OK(g.world, load(&g, &image));
  CHECK_OK(g.world, save(&g, &again));
  CHECK(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
  CHECK_OK(g.world, load(&g, &again));
  CHECK(ecs_digest(g.world) == ecs_digest(f.world));
  close_both();
}

/* What only a snapshot holds is no part of an image. */
static void saves_what_is_used_only(void) {
  ecs_snapshot *snapshot;
  open_saved();
  CHECK_OK(f.world, ecs_snapshot_new(f.world, &snapshot));
  for (int i = 3; i < 8; i++)
    CHECK_OK(f.world, ecs_remove(f.world, f.ids[i], ecs_component_find(f.world, "Mind")));
  CHECK_OK(f.world, save(&f, &image));
  ecs_snapshot_free(snapshot);
  CHECK_OK(f.world, save(&f, &again));
  CHECK(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
  close_world(&f);
}

/* A default of an entity field is kept where it is declared, if its entity lives. */
static void keeps_entity_defaults(void) {
  open_world(&f);
  open_world(&g);
  f.a = spawn_empty(f.world);
  ecs_field fields[] = {
    {.name = "to", .type = ECS_ENTITY,
     .value = {.kind = ECS_KIND_INTEGER, .integer = (int64_t)f.a}},
    {.name = "of", .type = ECS_ENTITY, .value = {.kind = ECS_KIND_INTEGER}}};
  ecs_id id = DECLARE(f.world, "Pair", fields), got[2];
  SPAWN(f.world, id);
  CHECK_OK(f.world, save(&f, &image));
  CHECK_OK(f.world, load(&f, &image));
  CHECK_OK(f.world, ecs_get(f.world, SPAWN(f.world, id), id, got));
  CHECK(got[0] == f.a && got[1] == ECS_NULL);
  CHECK_OK(g.world, load(&g, &image));
  CHECK_OK(g.world, save(&g, &again));
  CHECK(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  CHECK_OK(f.world, save(&f, &image));
  CHECK_OK(f.world, load(&f, &image));
  close_both();
}

/* ---- native structs --------------------------------------------------------------- */

/* Words, but not in the order of the fields; texts and doubles, whose size and alignment are
** not the same on every machine. */
struct turned { float y, x; };
struct padded { struct turned turned; char gap; double d; ecs_string s; int32_t n; };

static ecs_id declare_turned(ecs_world *world, bool native) {
  ecs_field fields[] = {
    {.name = "x", .type = ECS_F32, .offset = native ? offsetof(struct turned, x) : 0},
    {.name = "y", .type = ECS_F32, .offset = native ? offsetof(struct turned, y) : 0}};
  ecs_id id;
  ecs_component_desc desc = {.name = "Turned", .fields = fields, .field_count = 2,
                             .native_size = native ? sizeof(struct turned) : 0};
  CHECK_OK(world, ecs_component(world, &desc, &id));
  return id;
}

static ecs_id declare_padded(ecs_world *world, ecs_id turned, bool native) {
  ecs_field fields[] = {
    {.name = "n", .type = ECS_I32, .offset = native ? offsetof(struct padded, n) : 0},
    {.name = "s", .type = ECS_STRING, .offset = native ? offsetof(struct padded, s) : 0},
    {.name = "d", .type = ECS_F64, .offset = native ? offsetof(struct padded, d) : 0},
    {.name = "turned", .type = ECS_NESTED, .nested = turned}};
  ecs_id id;
  ecs_component_desc desc = {.name = "Padded", .fields = fields, .field_count = 4,
                             .native_size = native ? sizeof(struct padded) : 0};
  CHECK_OK(world, ecs_component(world, &desc, &id));
  return id;
}

static void declare_structs(struct fixture *to, bool native) {
  to->a = declare_turned(to->world, native);
  to->b = declare_padded(to->world, to->a, native);
}

static void has_structs(const struct fixture *in) {
  struct turned turned = {0, 0};
  struct padded padded;
  CHECK_OK(in->world, ecs_get(in->world, f.ids[0], in->a, &turned));
  CHECK(turned.x == 1 && turned.y == 2);
  CHECK_OK(in->world, ecs_get(in->world, f.ids[0], in->b, &padded));
  CHECK(padded.n == 3 && padded.d == 4.5 && padded.turned.x == 5 && padded.turned.y == 6);
  CHECK_TEXT("a text", padded.s.data);
  CHECK_OK(in->world, ecs_set(in->world, f.ids[0], in->b, &padded));
}

static void knows_no_layout(void) {
  struct turned turned = {.x = 1, .y = 2};
  struct padded padded = {.n = 3, .d = 4.5, .turned = {.x = 5, .y = 6}};
  padded.s = text_of("a text");
  open_world(&f);
  declare_structs(&f, true);
  f.ids[0] = SPAWN(f.world, f.a, f.b);
  CHECK_OK(f.world, ecs_set(f.world, f.ids[0], f.a, &turned));
  CHECK_OK(f.world, ecs_set(f.world, f.ids[0], f.b, &padded));
  CHECK_OK(f.world, save(&f, &image));
  CHECK_OK(f.world, load(&f, &image));
  has_structs(&f);
  for (int how = 0; how < 3; how++) {
    check_context("how %d", how);
    open_world(&g);
    if (how == 1) declare_structs(&g, true);
    if (how == 2) g.a = declare_turned(g.world, true);
    CHECK_OK(g.world, load(&g, &image));
    CHECK_OK(g.world, save(&g, &again));
    CHECK(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
    CHECK(ecs_digest(g.world) == ecs_digest(f.world));
    declare_structs(&g, true);
    has_structs(&g);
    CHECK_OK(g.world, save(&g, &again));
    CHECK(again.size == image.size && memcmp(again.data, image.data, image.size) == 0);
    close_world(&g);
  }
  check_context(NULL);
  close_world(&f);
}

/* What it is on every machine; another one only with another format. */
static void is_the_same_on_every_machine(void) {
  uint64_t sum = 0;
  open_saved();
  declare_structs(&f, true);
  CHECK_OK(f.world, ecs_add(f.world, f.ids[3], f.b));
  CHECK_OK(f.world, save(&f, &image));
  for (int i = 8; i > 0; i--) sum = sum << 8 | image.data[image.size - (size_t)(9 - i)];
  if (sum != FIXED_SUM) check_context("the sum is 0x%016llx", (unsigned long long)sum);
  CHECK(sum == FIXED_SUM);
  check_context(NULL);
  close_world(&f);
}

/* ---- callbacks that fail ---------------------------------------------------------- */

static void survives_failing_writers(void) {
  open_saved();
  uint64_t before = world_digest(f.world);
  size_t calls = image.calls;
  CHECK(calls > 2);
  for (size_t i = 1; i <= calls; i++) {
    again.fail_at = i;
    CHECK_FAILS(f.world, ECS_EUSER, "the writer stopped", save(&f, &again));
    CHECK_INTEGER(i, again.calls);
  }
  again.fail_at = 0;
  CHECK_OK(f.world, save(&f, &again));
  CHECK(memcmp(again.data, image.data, image.size) == 0);
  CHECK(world_digest(f.world) == before);
  close_world(&f);
}

static void survives_failing_readers(void) {
  open_saved();
  open_target();
  CHECK_OK(f.world, load(&f, &image));
  /* The last one finds that there is no more. */
  size_t calls = image.calls - 1;
  copy_image(image.size);
  for (size_t i = 1; i <= calls; i++) {
    check_context("read %zu", i);
    broken.fail_at = i;
    is_refused(i == 1 ? "not an image" : "");
    CHECK_INTEGER(i, broken.calls);
  }
  check_context(NULL);
  CHECK_SOUND(g.world);
  close_both();
}

/* ---- any values ------------------------------------------------------------------- */

static bool encode(void *ud, uint32_t slot, const char **data, size_t *size) {
  (void)slot;
  *data = "value";
  *size = 5;
  return ud != NULL;
}

static struct any_owner owner;

static uint32_t decode(void *ud, const char *data, size_t size) {
  uint32_t slot = 0;
  CHECK(size == 5 && memcmp(data, "value", 5) == 0);
  if (!ud) return 0;
  CHECK_STATUS(NULL, ECS_OK, any_take(&g.world->any, &g.world->memory, &owner, &slot));
  return slot;
}

static void asks_codecs(void) {
  ecs_codec willing = {encode, decode, &g}, refusing = {encode, decode, NULL};
  open_world(&f);
  open_target();
  ecs_id id = declare_one(f.world, "Data", "v", ECS_ANY), entity = SPAWN(f.world, id);
  SPAWN(f.world, id);
  CHECK_OK(f.world, any_take(&f.world->any, &f.world->memory, &owner,
                             ecs_cell_of(f.world, entity, id, 0)));
  CHECK_FAILS(f.world, ECS_ETYPE, "'Data' cannot be saved", save(&f, &image));
  CHECK_FAILS(f.world, ECS_EUSER, "the codec refused",
              ecs_save(f.world, write_bytes_to, &image, &refusing));
  image.size = 0;
  CHECK_OK(f.world, ecs_save(f.world, write_bytes_to, &image, &willing));
  uint64_t before = world_digest(g.world);
  CHECK_FAILS(g.world, ECS_ETYPE, "pass a codec", load(&g, &image));
  image.at = 0;
  CHECK_FAILS(g.world, ECS_EUSER, "cannot decode",
              ecs_load(g.world, read_bytes_from, &image, &refusing));
  CHECK(world_digest(g.world) == before);
  image.at = 0;
  CHECK_OK(g.world, ecs_load(g.world, read_bytes_from, &image, &willing));
  CHECK(ecs_digest(g.world) == ecs_digest(f.world));
  CHECK_INTEGER(1, g.world->any.used);
  declare_one(g.world, "Data", "other", ECS_F32);
  CHECK_INTEGER(0, g.world->any.used);
  image.at = 0;
  CHECK_OK(g.world, ecs_load(g.world, read_bytes_from, &image, &willing));
  CHECK_INTEGER(0, g.world->any.used);
  close_both();
}

/* ---- scopes, snapshots ------------------------------------------------------------ */

static ecs_snapshot *kept;

static void all_are_busy(struct fixture *busy) {
  ecs_snapshot *made = NULL;
  CHECK_FAILS(busy->world, ECS_EBUSY, "not possible inside", save(busy, &again));
  CHECK_INTEGER(0, again.calls);
  CHECK_FAILS(busy->world, ECS_EBUSY, "not possible inside", load(busy, &image));
  CHECK_FAILS(busy->world, ECS_EBUSY, "not possible inside",
              ecs_snapshot_new(busy->world, &made));
  CHECK_FAILS(busy->world, ECS_EBUSY, "not possible inside", ecs_restore(kept));
}

static ecs_status try_inside(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt;
  all_are_busy(ud);
  return ECS_OK;
}

static void waits_for_scopes(void) {
  open_saved();
  CHECK_OK(f.world, ecs_snapshot_new(f.world, &kept));
  CHECK_OK(f.world, ecs_defer(f.world));
  all_are_busy(&f);
  CHECK_OK(f.world, ecs_commit(f.world));
  f.query = new_query(f.world, "Position");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  all_are_busy(&f);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  ecs_system_desc desc = {.name = "s", .run = try_inside, .ud = &f};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  CHECK_OK(f.world, ecs_update(f.world, 0));
  CHECK_OK(f.world, ecs_restore(kept));
  close_world(&f);
}

static const struct test tests[] = {
  {"an image keeps ids, generations, retired slots, names, values, resources",
   keeps_everything},
  {"C51: saved, loaded and saved again it is the same bytes", is_the_same_bytes_again},
  {"an image has no strings that only a snapshot holds", saves_what_is_used_only},
  {"an entity field's default is null, or an entity that lives", keeps_entity_defaults},
  {"native structs may have their fields anywhere, then and now", knows_no_layout},
  {"an image is the same bytes on every machine", is_the_same_on_every_machine},
  {"a writer that stops at any call changes nothing", survives_failing_writers},
  {"a reader that stops at any call changes nothing", survives_failing_readers},
  {"any values go through a codec, or are refused", asks_codecs},
  {"inside scopes nothing is saved, loaded or restored", waits_for_scopes},
};

int main(void) { return RUN_TESTS(tests); }
