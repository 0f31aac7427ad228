#include "core/image/load.h"

#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/image/snapshot.h"
#include "core/index/indexing.h"
#include "core/storage/registry.h"
#include "core/world/lifetime.h"
#include "ecs_world.h"

#define AMPLIFICATION 64u
#define ALLOWANCE (1u << 20)

ecs_status load_damaged(struct loader *loader, const char *what) {
  return world_fail(loader->live, ECS_ECORRUPT, "the image is damaged (%s)", what);
}

/* Also bounds what a forged image can make the loader allocate. */
ecs_status load_state(struct loader *loader) {
  if (loader->in.failed) return load_damaged(loader, "it is truncated");
  size_t bytes = loader->world ? loader->world->memory.bytes : 0;
  size_t most = loader->input + (loader->base + ALLOWANCE) / AMPLIFICATION;
  if (bytes / AMPLIFICATION > most) return load_damaged(loader, "it would need too much memory");
  return ECS_OK;
}

static bool load_count_bytes(void *ud, void *data, size_t size) {
  struct loader *loader = ud;
  loader->input += size;
  return loader->read(loader->read_ud, data, size);
}

/* ---- the shadow ---- */

/* Copies the live world's component ids, so that indices have the same meaning in the shadow. */
static ecs_status load_copy_component_ids(struct loader *loader) {
  const struct entity_index *from = &loader->live->entities;
  struct entity_index *to = &loader->world->entities;
  to->components = from->components;
  for (uint32_t number = 0; number < FIRST_ENTITY >> PAGE_BITS; number++) {
    const struct page *page = entity_page(from, number << PAGE_BITS);
    if (!page) continue;
    struct slots copy = entity_make_page(to, &loader->world->memory, number << PAGE_BITS);
    if (copy.count == 0) return world_nomem(loader->live);
    memcpy(copy.records, page->records, sizeof page->records);
    memcpy(copy.generations, page->generations, sizeof page->generations);
    for (uint32_t i = 0; i < INDEX_PAGE; i++) {
      struct record *record = &copy.records[i];
      to->retired += record->table == RECORD_RETIRED;
      if (record->table < RECORD_BARE) *record = (struct record){RECORD_BARE, 0};
    }
  }
  return ECS_OK;
}

ecs_status load_make_shadow(struct loader *loader, uint32_t tag) {
  ecs_world_desc desc = {.alloc = loader->live->memory.alloc,
                         .alloc_ud = loader->live->memory.ud, .tag = tag};
  if (tag < 1 || tag > 255) return load_damaged(loader, "its world has no tag");
  ecs_status status = ecs_world_new(&desc, &loader->world);
  if (status != ECS_OK) return world_nomem(loader->live);
  status = load_copy_component_ids(loader);
  if (status == ECS_OK && loader->live->registry.count)
    status = registry_reserve(loader->world, loader->live->registry.count - 1);
  loader->base = loader->world->memory.bytes;
  return status;
}

/* ---- reading ---- */

static ecs_status load_header(struct loader *loader) {
  char magic[8];
  read_bytes(&loader->in, magic, sizeof magic);
  if (loader->in.failed || memcmp(magic, IMAGE_MAGIC, sizeof magic) != 0)
    return world_fail(loader->live, ECS_ECORRUPT, "this is not an image of a world");
  uint32_t version = read_u32(&loader->in);
  if (loader->in.failed) return load_state(loader);
  if (version < IMAGE_OLDEST || version > IMAGE_VERSION)
    return world_fail(loader->live, ECS_ECORRUPT, "the image has format %u; this version reads "
                      "formats %u to %u", version, IMAGE_OLDEST, IMAGE_VERSION);
  loader->version = version;
  uint32_t tag = read_u32(&loader->in);
  uint64_t seed = read_u64(&loader->in), tick = read_u64(&loader->in);
  struct chance chance = chance_outermost(seed);
  if (version > 1) {
    chance.opened = read_u64(&loader->in);
    chance.calls = read_u64(&loader->in);
  }
  ecs_status status = load_state(loader);
  if (status == ECS_OK) status = load_make_shadow(loader, tag);
  if (status != ECS_OK) return status;
  loader->world->seed = seed;
  loader->world->tick = tick;
  loader->world->chance = chance;
  return ECS_OK;
}

static ecs_status load_all(struct loader *loader) {
  static ecs_status (*const parts[])(struct loader *) = {
      load_header, load_strings, load_components, load_required, load_arrays, load_index,
      load_tables, load_sparse,  load_ties,       load_names,    load_schedule, load_changes};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ecs_status status = parts[i](loader);
    if (status == ECS_OK) status = load_state(loader);
    if (status != ECS_OK) return status;
  }
  if (!reader_end(&loader->in)) return load_damaged(loader, "its checksum is wrong");
  uint8_t more;
  if (loader->read(loader->read_ud, &more, 1))
    return load_damaged(loader, "there are bytes after its end");
  return loader->lacks_codec
             ? world_fail(loader->live, ECS_ETYPE,
                          "the image has values of `any` fields; pass a codec") : ECS_OK;
}

/* ---- the end ---- */

/* Frees the shadow. In the exchange, contents moved between the accounts of both worlds; what
** remains on both is the live world's. */
static void load_free_shadow(struct loader *loader) {
  ecs_world *live = loader->live, *shadow = loader->world;
  if (!loader->adopted) {
    world_release_any(shadow, &live->any);
    ecs_world_free(shadow);
    return;
  }
  shadow->memory.bytes += live->memory.bytes;
  live->memory.bytes = world_end(shadow).bytes;
}

void load_end(struct loader *loader) {
  if (loader->world) load_free_shadow(loader);
  struct memory *memory = &loader->live->memory;
  FREE_LIST(memory, loader->components, loader->component_capacity);
  FREE_LIST(memory, loader->strings, loader->string_capacity);
  timings_free(loader->live, &loader->timings);
  arena_free(memory, &loader->arena);
  memory_free(memory, loader, sizeof *loader);
}

ecs_status load_pass_on(struct loader *loader, ecs_status status) {
  if (status == ECS_ENOMEM) return world_nomem(loader->live);
  if (loader->world && loader->world->message[0] && !loader->live->message[0])
    return world_fail(loader->live, status, "%s", loader->world->message);
  return status;
}

struct loader *load_begin(ecs_world *world) {
  struct loader *loader = memory_array(&world->memory, 1, sizeof *loader);
  if (!loader) return NULL;
  loader->live = world;
  world->message[0] = '\0';
  return loader;
}

ecs_status load_finish(struct loader *loader, ecs_status status) {
  if (status == ECS_OK) {
    indexes_forget(loader->live);
    adopt_commit(loader);
    loader->adopted = true;
  } else {
    status = load_pass_on(loader, status);
  }
  load_end(loader);
  return status;
}

ecs_status ecs_load(ecs_world *world, ecs_read_fn read, void *ud, const ecs_codec *codec) {
  ecs_status status = world_is_idle(world, "load");
  if (status != ECS_OK) return status;
  struct loader *loader = load_begin(world);
  if (!loader) return world_nomem(world);
  loader->codec = codec;
  loader->read = read;
  loader->read_ud = ud;
  reader_begin(&loader->in, load_count_bytes, loader);
  status = load_all(loader);
  if (status == ECS_OK) status = adopt_prepare(loader);
  status = load_finish(loader, status);
  if (status == ECS_OK) snapshots_outdate(world, UINT64_MAX);
  return status;
}
