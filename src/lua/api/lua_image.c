/* Worlds as bytes (world:save, world:load, world:digest) and snapshots in memory. Codecs of `any`
** values run while the world is hidden from Lua. */
#include "lua/api/api.h"

#include "core/base/any.h"
#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/image/snapshot.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/loop/loop.h"

const char kind_image = 0, kind_snapshot = 0;

/* Bytes to return, which are freed even if Lua has no memory left for the string. */
struct image_box {
  struct head head;
  lua_Alloc alloc;
  void *ud;
  char *data;
  size_t size, capacity;
  bool failed;
};

static void release_image(struct image_box *image) {
  if (image->data) image->alloc(image->ud, image->data, image->capacity, 0);
  image->data = NULL;
  image->size = image->capacity = 0;
}

static int image_collect(lua_State *L) {
  struct image_box *image = box_test(L, 1, &kind_image, sizeof *image);
  if (image) release_image(image);
  return 0;
}

const luaL_Reg image_metamethods[] = {{"__gc", image_collect}, {NULL, NULL}};

static bool image_write(void *ud, const void *data, size_t size) {
  struct image_box *image = ud;
  size_t capacity = image->capacity ? image->capacity : 4096;
  image->failed = size > SIZE_MAX / 4 || image->size > SIZE_MAX / 4;
  while (!image->failed && capacity - image->size < size) capacity *= 2;
  if (!image->failed && capacity != image->capacity) {
    char *grown = image->alloc(image->ud, image->data, image->capacity, capacity);
    image->failed = !grown;
    if (grown) image->capacity = capacity;
    if (grown) image->data = grown;
  }
  if (image->failed) return false;
  memcpy(image->data + image->size, data, size);
  image->size += size;
  return true;
}

/* ---- codecs -------------------------------------------------------------------------- */

/* Pushes a function of the codec in the options at an index; nil if there is no codec. */
static void image_push_codec(lua_State *L, int index, const char *what, const char *function) {
  static const char *const keys[] = {"codec", NULL};
  static const char *const parts[] = {"decode", "encode", NULL};
  lua_pushnil(L);
  if (lua_isnoneornil(L, index)) return;
  luaL_checktype(L, index, LUA_TTABLE);
  check_keys(L, index, what, keys);
  if (option(L, index, "codec") != LUA_TNIL) {
    if (!lua_istable(L, -1)) wrong_option(L, what, "codec", "a table { encode =, decode = }");
    check_keys(L, lua_gettop(L), "codec", parts);
    if (option(L, lua_gettop(L), function) != LUA_TFUNCTION)
      wrong_option(L, "codec", function, "a function");
    lua_replace(L, -3);
  }
  lua_pop(L, 1);
}

/* Calls a codec's function, during which the world cannot be used. */
static int image_call_hidden(lua_State *L, struct world_box *box, int arguments, int results) {
  box->hidden = box->world;
  box->world = NULL;
  int status = attempt_call(L, arguments, results);
  box->world = box->hidden;
  box->hidden = NULL;
  box->calls++;
  return status;
}

/* image_encode_all(encode, values): a table that maps slots to the bytes of their values. */
static int image_encode_all(lua_State *L) {
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, 2); lua_settop(L, 4)) {
    lua_pushvalue(L, 4);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 5);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) != LUA_TSTRING)
      return raise_error(L, "codec.encode returned a %s, not a string", luaL_typename(L, -1));
    lua_rawset(L, 3);
  }
  return 1;
}

struct encoding {
  lua_State *L;
  int table;                 /* slot -> bytes */
};

static bool image_encode(void *ud, uint32_t slot, const char **data, size_t *size) {
  const struct encoding *encoding = ud;
  lua_State *L = encoding->L;
  bool known = lua_rawgeti(L, encoding->table, slot) == LUA_TSTRING;
  if (known) *data = lua_tolstring(L, -1, size);
  lua_pop(L, 1);
  return known;
}

struct decoding {
  lua_State *L;
  struct world_box *box;
  const char *data;          /* of the value being decoded */
  size_t size;
  uint32_t slot;
  bool no_memory;            /* while a value was decoded; other errors are at LOAD_ERROR */
};

/* The stack of world:load. */
enum { LOAD_WORLD = 1, LOAD_BYTES, LOAD_OPTIONS, LOAD_CODEC, LOAD_ERROR };

/* image_decode_one(world, decode, decoding): decodes a value into its slot. */
static int image_decode_one(lua_State *L) {
  const struct decoding *decoding = lua_touserdata(L, 3);
  lua_pushvalue(L, 2);
  lua_pushlstring(L, decoding->data, decoding->size);
  lua_call(L, 1, 1);
  if (lua_isnil(L, -1)) return luaL_error(L, "codec.decode returned nil");
  lua_getiuservalue(L, 1, WORLD_ANY);
  lua_insert(L, -2);
  lua_rawseti(L, -2, decoding->slot);
  return 0;
}

static uint32_t image_decode(void *ud, const char *data, size_t size) {
  struct decoding *decoding = ud;
  struct world_box *box = decoding->box;
  decoding->data = data;
  decoding->size = size;
  if (any_take(box->any.slots, box->memory, &box->any.owner, &decoding->slot) != ECS_OK) {
    decoding->no_memory = true;
    return 0;
  }
  lua_State *L = decoding->L;
  lua_pushcfunction(L, image_decode_one);
  lua_pushvalue(L, LOAD_WORLD);
  lua_pushvalue(L, LOAD_CODEC);
  lua_pushlightuserdata(L, decoding);
  int status = image_call_hidden(L, decoding->box, 3, 0);
  if (status == LUA_OK) return decoding->slot;
  lua_replace(L, LOAD_ERROR);
  decoding->no_memory = status == LUA_ERRMEM;
  any_release(box->any.slots, decoding->slot);
  return 0;
}

/* ---- saving -------------------------------------------------------------------------- */

static ecs_status image_save(struct world_box *box, struct image_box *image,
                             const ecs_codec *codec) {
  release_image(image);
  image->failed = false;
  ecs_status status = loops_end(box);
  if (status == ECS_OK) status = ecs_save(box->world, image_write, image, codec);
  return status == ECS_EUSER && image->failed ? ECS_ENOMEM : status;
}

/* world:save { codec = { encode = function(value) -> string } } */
static int image_world_save(lua_State *L) {
  check_world(L, 1);
  lua_settop(L, 2);
  image_push_codec(L, 2, "world:save", "encode");
  struct image_box *image = new_box(L, &kind_image, sizeof *image, 0);
  image->alloc = lua_getallocf(L, &image->ud);
  lua_insert(L, 3);
  loops_finish(L, check_world(L, 1));
  struct world_box *box = check_world(L, 1);
  ecs_status status = ECS_OK;
  if (!lua_isnil(L, 4)) {   /* the codec's function, which a table of encoded values replaces */
    settle_any(L, box, 1);
    lua_pushcfunction(L, image_encode_all);
    lua_insert(L, -2);
    lua_getiuservalue(L, 1, WORLD_ANY);
    /* No view may show a row meanwhile, since it would write to a hidden world. */
    status = loops_end(box);
    if (status == ECS_OK) status = world_is_idle(box->world, "save");
    if (status != ECS_OK) raise_status(L, box->world, status);
    if (image_call_hidden(L, box, 2, 1) != LUA_OK) lua_error(L);
  }
  need_stack(L, 4);
  struct encoding encoding = {L, 4};
  ecs_codec codec = {image_encode, NULL, &encoding};
  RETRY(L, box, status, image_save(box, image, lua_isnil(L, 4) ? NULL : &codec));
  if (status != ECS_OK) {
    release_image(image);
    return raise_status(L, box->world, status);
  }
  lua_pushlstring(L, image->data, image->size);
  release_image(image);
  return 1;
}

/* ---- loading ------------------------------------------------------------------------- */

struct byte_source {
  const char *data;
  size_t left;
};

static bool image_source_read(void *ud, void *data, size_t size) {
  struct byte_source *source = ud;
  if (size > source->left) return false;
  memcpy(data, source->data, size);
  source->data += size;
  source->left -= size;
  return true;
}

static ecs_status image_load(lua_State *L, struct world_box *box) {
  struct byte_source source;
  source.data = lua_tolstring(L, LOAD_BYTES, &source.left);
  struct decoding decoding = {.L = L, .box = box};
  ecs_codec codec = {NULL, image_decode, &decoding};
  lua_pushnil(L);
  lua_replace(L, LOAD_ERROR);
  ecs_status status = loops_end(box);
  if (status != ECS_OK) return status;
  status = ecs_load(box->world, image_source_read, &source,
                    lua_isnil(L, LOAD_CODEC) ? NULL : &codec);
  return status == ECS_EUSER && decoding.no_memory ? ECS_ENOMEM : status;
}

/* world:load(bytes, { codec = { decode = function(bytes) -> value } }) */
static int image_world_load(lua_State *L) {
  check_free_world(L, LOAD_WORLD);
  luaL_checktype(L, LOAD_BYTES, LUA_TSTRING);
  lua_settop(L, LOAD_OPTIONS);
  image_push_codec(L, LOAD_OPTIONS, "world:load", "decode");
  lua_pushnil(L);
  need_stack(L, 8);
  loops_finish(L, check_world(L, LOAD_WORLD));
  struct world_box *box = check_world(L, LOAD_WORLD);
  uint32_t tag = ecs_world_tag(box->world);
  ecs_status status;
  RETRY(L, box, status, image_load(L, box));
  box->calls++;
  if (box->world) settle_any(L, box, LOAD_WORLD);
  if (status != ECS_OK && status != ECS_ENOMEM && !lua_isnil(L, LOAD_ERROR)) {
    lua_settop(L, LOAD_ERROR);
    return lua_error(L);
  }
  if (status != ECS_OK) return raise_status(L, box->world, status);
  names_renew(box);
  worlds_retag(L, box, tag);
  return settle(L, box, LOAD_WORLD);
}

/* world:digest(), world:digest "text" */
static int image_world_digest(lua_State *L) {
  const struct world_box *box = check_world(L, 1);
  if (!lua_isnoneornil(L, 2) && (lua_type(L, 2) != LUA_TSTRING ||
                                 strcmp(lua_tostring(L, 2), "text") != 0))
    return luaL_argerror(L, 2, "nothing expected, or \"text\"");
  bool as_text = NUMBERS_ARE_DOUBLES || !lua_isnoneornil(L, 2);
  uint64_t digest = ecs_digest(box->world);
  char text[17] = "";
  for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[digest >> (60 - 4 * i) & 15];
  if (as_text)
    lua_pushstring(L, text);
  else
    lua_pushinteger(L, (lua_Integer)digest);
  return 1;
}

/* ---- snapshots ----------------------------------------------------------------------- */

struct snapshot_box {
  struct head head;
  struct world_box *box;
  ecs_snapshot *snapshot;    /* freed with its world */
  size_t bytes;              /* its size */
  uint64_t tick;             /* the world's when it was taken */
};

static int snapshot_collect(lua_State *L) {
  struct snapshot_box *box = box_test(L, 1, &kind_snapshot, sizeof *box);
  if (!box) return 0;
  const struct world_box *of = box->box;
  if (box->snapshot && (of->world || of->hidden || of->doomed)) ecs_snapshot_free(box->snapshot);
  box->snapshot = NULL;
  return 0;
}

static int snapshot_tostring(lua_State *L) {
  const struct snapshot_box *box = box_test(L, 1, &kind_snapshot, sizeof *box);
  if (!box) return luaL_typeerror(L, 1, "snapshot");
  char text[96] = "ecs.snapshot (closed)";
  if (box->snapshot && box->box->world)
    text_format(text, sizeof text, "ecs.snapshot (%zu bytes, tick %llu)", box->bytes,
                (unsigned long long)box->tick);
  lua_pushstring(L, text);
  return 1;
}

const luaL_Reg snapshot_metamethods[] = {
  {"__gc", snapshot_collect},
  {"__tostring", snapshot_tostring},
  {NULL, NULL}
};

static int image_world_snapshot(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  if (box->stage)
    return raise_error(L, "a snapshot cannot be taken while scripts are read: do that in "
                       "script:on_load or in a system");
  check_free(L, box);
  struct snapshot_box *snapshot = new_box_of(L, &kind_snapshot, sizeof *snapshot, 1, 1);
  snapshot->box = box;
  box = check_world(L, 1);
  RETRY_OR_RAISE(L, box, loops_end(box));
  size_t before = *box->bytes;
  RETRY_OR_RAISE(L, box, ecs_snapshot_new(box->world, &snapshot->snapshot));
  snapshot->bytes = *box->bytes - before;
  snapshot->tick = *box->tick;
  snapshot_set_owner(snapshot->snapshot, box);
  settle(L, box, 1);
  return 1;
}

static int image_world_restore(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  struct snapshot_box *snapshot = box_test(L, 2, &kind_snapshot, sizeof *snapshot);
  if (!snapshot) return no_object(L, 2, &kind_snapshot, "snapshot");
  if (snapshot->box != box || !snapshot->snapshot)
    return luaL_argerror(L, 2, "the snapshot belongs to another world");
  loops_finish(L, box);
  if (!snapshot->snapshot) return luaL_argerror(L, 2, "the snapshot belongs to another world");
  RETRY_OR_RAISE(L, box, loops_end(box));
  RETRY_OR_RAISE(L, box, ecs_restore(snapshot->snapshot));
  box->calls++;
  return settle(L, box, 1);
}

const luaL_Reg world_image_methods[] = {
  {"digest", image_world_digest},
  {"load", image_world_load},
  {"restore", image_world_restore},
  {"save", image_world_save},
  {"snapshot", image_world_snapshot},
  {NULL, NULL}
};
