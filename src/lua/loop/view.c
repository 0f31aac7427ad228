#include "lua/loop/view.h"

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/entity/name.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/table.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/live/live.h"

const char kind_view = 0, kind_elements = 0;

/* Stands for the table of a resource's cells. */
static const struct table no_table;

/* What a view points to if the current row lacks its component. */
static const uint32_t row_absent = ROW_ABSENT;

/* ---- shape ---- */

/* build(world, component): a shape, anchored with its keys in WORLD_SHAPES. */
static int view_shape_build(lua_State *L) {
  const struct world_box *box = lua_touserdata(L, 1);
  const struct component *component = lua_touserdata(L, 2);
  uint32_t count = component->field_count;
  struct shape *shape =
      lua_newuserdatauv(L, sizeof *shape + count * sizeof *shape->fields, 1);
  shape->component = component;
  shape->version = *box->version;
  shape->count = count;
  lua_createtable(L, (int)count, 0);
  for (uint32_t i = 0; i < count; i++) {
    const struct field *field = &component->fields[i];
    lua_pushlstring(L, field->name, field->name_size);
    shape->fields[i].key = lua_tostring(L, -1);
    shape->fields[i].leaf = field->first_leaf;
    shape->fields[i].type = field->count ? ECS_NESTED : field->type;
    lua_rawseti(L, 4, (lua_Integer)i + 1);
  }
  lua_setiuservalue(L, 3, 1);
  lua_getiuservalue(L, 1, WORLD_SHAPES);
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, (lua_Integer)component->id);
  lua_settop(L, 3);
  return 1;
}

/* The shape of a component; the world is at an absolute index. Components are known by id, which is
** not reused once a component is undeclared. */
static const struct shape *view_shape_need(lua_State *L, int world_index,
                                           const struct component *component) {
  lua_getiuservalue(L, world_index, WORLD_SHAPES);
  lua_rawgeti(L, -1, (lua_Integer)component->id);
  const struct shape *known = lua_touserdata(L, -1);
  if (UNLIKELY(!known || known->version < component->changed)) {
    lua_pop(L, 1);
    lua_pushvalue(L, world_index);
    lua_pushlightuserdata(L, (void *)(uintptr_t)component);
    need_stack(L, 1);
    struct world_box *box = lua_touserdata(L, world_index);
    if (try_quietly(L, box, view_shape_build, 2, 1) != LUA_OK) lua_error(L);
  }
  const struct shape *shape = lua_touserdata(L, -1);
  lua_pop(L, 2);
  assert(shape->component == component);
  return shape;
}

/* ---- views ---- */

bool view_push(lua_State *L, struct world_box *box, int world_index,
               const struct component *component, struct loop_box *loop, int owner_index,
               struct view_box **out) {
  uint32_t calls = box->calls, leaves = component->leaf_count;
  ecs_id id = component->id;
  uint64_t version = *box->version;
  const struct shape *shape = view_shape_need(L, world_index, component);
  if (box->calls != calls) return false;
  struct view_box *view = new_box_of(L, &kind_view, sizeof *view + leaves * sizeof(void *),
                                     VIEW_VALUES, owner_index);
  view->root = view;
  view->shape = shape;
  view->box = box;
  view->component = component;
  view->id = id;
  view->version = version;
  view->data = view->store;
  view->table = &no_table;
  view->loop = loop;
  view->own_row = loop ? ROW_STALE : ROW_RESOURCE;
  view->row = &view->own_row;
  *out = view;
  return box->calls == calls;
}

bool view_renew(lua_State *L, int loop_index, const struct view_box *old,
                struct view_box **out) {
  struct world_box *box = old->box;
  uint32_t calls = box->calls;
  size_t size = (size_t)lua_rawlen(L, -1);
  struct view_box *view = lua_newuserdatauv(L, size, VIEW_VALUES);
  memcpy(view, old, size);
  view->head.self = view->root = view;
  view->data = view->store;
  view->own_row = ROW_STALE;
  view->row = &view->own_row;
  lua_getmetatable(L, -2);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, loop_index);
  lua_setiuservalue(L, -2, VIEW_OWNER);
  *out = view;
  return box->calls == calls;
}

void view_bind(struct view_box *view, const struct table *table, const struct column *columns,
               uint32_t first) {
  if (!columns) {
    view->row = &row_absent;
    return;
  }
  uint32_t leaves = view->component->leaf_count;
  for (uint32_t i = 0; i < leaves; i++) view->data[i] = column_at(&columns[i], first);
  view->table = table;
  view->columns = columns;
  view->first = first;
  view->row = &view->loop->row;
}

uint32_t view_count(const struct view_box *view) {
  return view->array ? view->array->count : view->shape->count;
}

struct view_box *view_test(lua_State *L, int index) {
  struct view_box *view = box_test(L, index, &kind_view, sizeof *view);
  return view ? view : box_test(L, index, &kind_elements, sizeof *view);
}

/* Pushes the world of the view at an index. Returns its index. */
static int view_push_world(lua_State *L, int index, const struct view_box *view) {
  const struct view_box *root = view->root;
  lua_getiuservalue(L, index, VIEW_OWNER);
  if (view != root) {
    lua_getiuservalue(L, -1, VIEW_OWNER);
    lua_remove(L, -2);
  }
  if (root->loop || root->found) {
    lua_getiuservalue(L, -1, LOOP_WORLD);
    lua_remove(L, -2);
  }
  return lua_gettop(L);
}

/* The row that a view shows; raises why if it shows none. */
static uint32_t view_row(lua_State *L, const struct view_box *view) {
  struct view_box *root = view->root;
  uint32_t row = *root->row;
  if (LIKELY(row < ROW_SPECIAL)) return row;
  if (row == ROW_FOUND) return found_row(L, root);
  if (!root->box->world) luaL_error(L, "stale view: the world is closed");
  if (row == ROW_RESOURCE) {
    /* The component may have been undeclared, and declared again as something else. */
    const struct component *component = component_of(root->box->world, root->id);
    if (!root->component)
      luaL_error(L, "a resource cannot be used until all scripts have been read");
    if (!component || component != root->component || !component->resource)
      return (uint32_t)luaL_error(L, "stale view: its resource is no longer declared");
    if (component->changed > root->version || component->changed > view->version)
      luaL_error(L, "stale view: the fields of its resource have changed");
    for (uint32_t i = 0; i < component->leaf_count; i++)
      root->data[i] = component->resource[i].data;
    return 0;
  }
  if (row == ROW_ABSENT && root->loop->open)
    raise_error(L, "the current entity has no '%s'", root->component->name);
  return (uint32_t)luaL_error(L, "stale view: its loop has ended");
}

/* Updates the view of a resource if its component has changed its fields. */
static void view_refresh(lua_State *L, int index, struct view_box *view) {
  const struct component *component = view->component;
  uint64_t version = *view->box->version;
  int world_index = view_push_world(L, index, view);
  const struct shape *shape = view_shape_need(L, world_index, component);
  lua_pop(L, 1);
  void **data = lua_newuserdatauv(L, component->leaf_count * sizeof *data + 1, 0);
  if (!view->box->world || *view->box->version != version) {
    lua_pop(L, 1);
    return;
  }
  lua_setiuservalue(L, index, VIEW_DATA);
  lua_pushnil(L);
  lua_setiuservalue(L, index, VIEW_PARTS);
  view->shape = shape;
  view->data = data;
  view->version = version;
}

/* view_row for the view at an index when a call begins: the view of a resource first follows its
** component. */
static uint32_t view_open(lua_State *L, int index, struct view_box *view) {
  if (*view->row == ROW_RESOURCE && view->root == view && view->box->world &&
      view->component) {
    const struct component *component = component_of(view->box->world, view->id);
    if (component == view->component && component->resource &&
        (!view->shape || component->changed > view->version))
      view_refresh(L, index, view);
  }
  return view_row(L, view);
}

/* ---- parts ----------------------------------------------------------------------- */

/* The first leaf of field or element `at` of a view, counted from the root's first. */
static uint32_t view_first_leaf(const struct view_box *view, uint32_t at) {
  const struct field *array = view->array;
  if (!array) return view->base + view->shape->fields[at].leaf;
  return view->base + at * (array->leaf_count / array->count);
}

static struct view_box *view_make_part(lua_State *L, int index, struct view_box *view,
                                       const struct field *array, const struct component *nested,
                                       uint32_t base) {
  struct world_box *box = view->box;
  uint32_t calls = box->calls;
  const struct shape *shape = NULL;
  if (!array) {
    int world_index = view_push_world(L, index, view);
    shape = view_shape_need(L, world_index, nested);
    lua_pop(L, 1);
  }
  struct view_box *part =
      new_box(L, array ? &kind_elements : &kind_view, sizeof *part, VIEW_VALUES);
  part->root = part;
  part->own_row = ROW_STALE;
  part->row = &part->own_row;
  part->box = box;
  if (view == view->root)
    lua_pushvalue(L, index);
  else
    lua_getiuservalue(L, index, VIEW_OWNER);
  lua_setiuservalue(L, -2, VIEW_OWNER);
  if (box->calls != calls) view_row(L, view);
  part->root = view->root;
  part->version = view->version;
  part->shape = shape;
  part->base = base;
  part->array = array;
  return part;
}

/* Pushes a view of a nested or array field, or a nested element, of the view at an index; `at`
** counts fields or elements from 0. */
static void view_push_part(lua_State *L, int index, struct view_box *view, uint32_t at) {
  index = lua_absindex(L, index);
  if (lua_getiuservalue(L, index, VIEW_PARTS) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, index, VIEW_PARTS);
    view_row(L, view);
  }
  if (lua_rawgeti(L, -1, (lua_Integer)at + 1) != LUA_TUSERDATA) {
    lua_pop(L, 1);
    const struct field *array = view->array;
    const struct field *field = array ? array : &view->shape->component->fields[at];
    bool is_array = !array && field->count;
    view_make_part(L, index, view, is_array ? field : NULL, field->nested,
                   view_first_leaf(view, at));
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, (lua_Integer)at + 1);
  }
  lua_replace(L, -2);
}

/* ---- reading --------------------------------------------------------------------- */

/* Pushes a string, an enum, an id or an `any` value. */
static void view_push_boxed_cell(lua_State *L, int index, const struct view_box *view, uint32_t at,
                                 uint32_t row) {
  const struct view_box *root = view->root;
  const struct leaf *leaf = &root->component->leaves[at];
  ecs_cell cell = cell_load(root->data[at], leaf->size, row);
  if (leaf->type == ECS_ENTITY && root->loop && root->loop->copied) {
    lua_pushinteger(L, (lua_Integer)cell.u64);
    return;
  }
  if (leaf->type != ECS_ANY) {
    push_cell(L, root->box, 0, root->component, leaf, cell);
    return;
  }
  int world_index = view_push_world(L, index, view);
  push_cell(L, root->box, world_index, root->component, leaf, cell);
  lua_remove(L, world_index);
}

static ecs_type view_type_at(const struct view_box *view, uint32_t at) {
  return view->array ? view->array->type : view->shape->fields[at].type;
}

static void push_at(lua_State *L, int index, struct view_box *view, uint32_t at,
                    uint32_t row) {
  ecs_type type = view_type_at(view, at);
  uint32_t leaf = view_first_leaf(view, at);
  if (type == ECS_NESTED)
    view_push_part(L, index, view, at);
  else if (!push_number_at(L, type, view->root->data[leaf], row))
    view_push_boxed_cell(L, index, view, leaf, row);
}

/* Pushes the current value of field or element `at` of the view at an index. */
static void view_push_at(lua_State *L, int index, struct view_box *view, uint32_t at) {
  push_at(L, index, view, at, view_row(L, view));
}

static const struct shape_field *view_find(const struct shape *shape, const char *key) {
  const struct shape_field *field = shape->fields;
  for (uint32_t i = shape->count; i > 0; i--, field++)
    if (field->key == key) return field;
  return NULL;
}

/* The field that the string at an index names; NULL if there is none. */
static const struct shape_field *shape_find(lua_State *L, const struct shape *shape, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return NULL;
  size_t size;
  const char *name = lua_tolstring(L, index, &size);
  uint32_t at = component_field(shape->component, name, size);
  return at == NONE ? NULL : &shape->fields[at];
}

/* Finds the field for a key that is not Lua's own copy of its name. */
static const struct shape_field *view_search(lua_State *L, const struct view_box *view,
                                             int index) {
  const struct shape *shape = view->shape;
  const struct shape_field *field = shape_find(L, shape, index);
  if (field) return field;
  if (lua_type(L, index) == LUA_TSTRING) {
    size_t size;
    const char *name = lua_tolstring(L, index, &size);
    raise_status(L, view->box->world,
                 component_no_field(view->box->world, shape->component, name, size));
  }
  char text[64];
  raise_error(L, "component '%s' has no field %s", shape->component->name,
              show_value(L, index, text, sizeof text));
  return NULL;
}

/* Converting a number to a string may run finalizers, so the row is checked after the key. */
static int view_index(lua_State *L) {
  struct view_box *view = lua_touserdata(L, 1);
  const struct view_box *root = view->root;
  const char *key = lua_tostring(L, 2);
  uint32_t row = *root->row;
  if (UNLIKELY(row >= ROW_SPECIAL)) row = view_open(L, 1, view);
  const struct shape_field *field = view_find(view->shape, key);
  if (UNLIKELY(!field)) field = view_search(L, view, 2);
  if (LIKELY(push_number_at(L, field->type, root->data[view->base + field->leaf], row)))
    return 1;
  push_at(L, 1, view, (uint32_t)(field - view->shape->fields), row);
  return 1;
}

/* An element's number from 0; NONE for a number that is not one. */
static uint32_t view_element(lua_State *L, const struct view_box *view, int index) {
  lua_Integer at;
  if (!read_whole(L, index, &at)) {
    char text[64];
    raise_error(L, "array '%s' takes a number from 1 to %u, got %s", view->array->name,
                view->array->count, show_value(L, index, text, sizeof text));
  }
  return at >= 1 && at <= view->array->count ? (uint32_t)(at - 1) : NONE;
}

static int view_elements_index(lua_State *L) {
  struct view_box *view = lua_touserdata(L, 1);
  uint32_t row = view_open(L, 1, view);
  uint32_t at = view_element(L, view, 2);
  if (at == NONE)
    lua_pushnil(L);
  else
    push_at(L, 1, view, at, row);
  return 1;
}

/* ---- writing --------------------------------------------------------------------- */

static void view_refuse_write(lua_State *L, const struct view_box *view) {
  view_row(L, view);
  const struct view_box *root = view->root;
  if (root->found) found_refuse_write(L, root);
  if (root->loop->copied)
    raise_error(L, "%s '%s' is read-only: observers of exit, remove and despawn get old values",
                component_word(root->component), root->component->name);
  raise_error(L, "%s '%s' is read-only in the query '%s'", component_word(root->component),
              root->component->name, root->loop->query->query->text);
}

/* Marks that a row of a root has been written. */
static inline void view_note(const struct view_box *root, uint32_t row) {
  if (UNLIKELY(root->table->mark_count))
    marks_note(root->box->world, root->table, root->columns->id, root->first + row);
}

/* A view passed as a value must show a row; otherwise the error names the field that it was for. */
static void view_check_source(lua_State *L, const struct view_box *view, uint32_t at,
                              const struct view_box *source) {
  const struct view_box *from = source->root;
  bool absent = *from->row == ROW_ABSENT && from->loop && from->loop->open;
  if (*from->row < ROW_SPECIAL || *from->row == ROW_RESOURCE || absent) return;
  if (*from->row == ROW_FOUND && found_is_open(from)) return;
  const struct component *component = view->root->component;
  bool whole = view == view->root && !view->array;
  raise_error(L, "field '%s.%s' got a stale view: copy it into a table while its loop runs",
              component->name, whole ? component->fields[at].name
                                     : component->leaves[view_first_leaf(view, at)].name);
}

/* Pushes the key of field or element `at`. */
static void view_walk_push_key(lua_State *L, const struct view_box *view, uint32_t at) {
  if (view->array)
    lua_pushinteger(L, (lua_Integer)at + 1);
  else
    lua_pushstring(L, view->shape->fields[at].key);
}

/* Pushes a new table of what the view at an index shows. */
static void view_push_table(lua_State *L, int index, struct view_box *view) {
  index = lua_absindex(L, index);
  need_stack(L, 8);
  view_open(L, index, view);
  uint32_t count = view_count(view);
  lua_createtable(L, view->array ? (int)count : 0, view->array ? 0 : (int)count);
  for (uint32_t at = 0; view_row(L, view) < ROW_SPECIAL && at < count; at++) {
    view_walk_push_key(L, view, at);
    view_push_at(L, index, view, at);
    struct view_box *part = view_test(L, -1);
    if (part) {
      view_push_table(L, -1, part);
      lua_replace(L, -2);
    }
    lua_rawset(L, -3);
  }
}

/* Writes a value that is not a number: the view is at 1, the value, possibly a view, at 3. */
static void view_write_converted(lua_State *L, struct view_box *view, uint32_t at) {
  struct world_box *box = view->box;
  box->calls++;
  if (leaf_is_target(view->root->component, view_first_leaf(view, at)))
    refuse_target(L, view->root->component);
  values_begin(box);
  struct view_box *source = view_test(L, 3);
  if (source && view_type_at(view, at) == ECS_NESTED) {
    view_check_source(L, view, at, source);
    view_push_table(L, 3, source);
    lua_replace(L, 3);
    view_row(L, view);
  }
  int world_index = view_push_world(L, 1, view);
  const struct view_box *root = view->root;
  const struct component *component = root->component;
  struct input input;
  input_begin(&input, L, box, world_index);
  if (view->array)
    input_element(&input, component, view->array, view_first_leaf(view, at), 3);
  else
    input_part(&input, component, &view->shape->component->fields[at], view->base, 3);
  uint32_t row = view_row(L, view);   /* converting may have run finalizers */
  for (uint32_t i = 0; i < input.count; i++) {
    uint32_t leaf = input.writes[i].leaf;
    store_cell_at(box->any.slots, &component->leaves[leaf], root->data[leaf], row,
                  input.writes[i].cell);
  }
  view_note(root, row);
  cells_stored(L, box, world_index);
}

static int view_newindex(lua_State *L) {
  struct view_box *view = lua_touserdata(L, 1);
  const struct view_box *root = view->root;
  const char *key = lua_tostring(L, 2);
  uint32_t row = *root->row;
  if (UNLIKELY(row >= ROW_SPECIAL)) {
    row = view_open(L, 1, view);
    check_free(L, view->box);
  }
  if (UNLIKELY(root->read_only)) view_refuse_write(L, view);
  const struct shape_field *field = view_find(view->shape, key);
  if (UNLIKELY(!field)) field = view_search(L, view, 2);
  if (LIKELY(store_number_at(L, field->type, 3, root->data[view->base + field->leaf], row))) {
    view_note(root, row);
    return 0;
  }
  view_write_converted(L, view, (uint32_t)(field - view->shape->fields));
  return 0;
}

static int view_elements_newindex(lua_State *L) {
  struct view_box *view = lua_touserdata(L, 1);
  const struct view_box *root = view->root;
  uint32_t row = view_open(L, 1, view);
  check_free(L, view->box);
  if (root->read_only) view_refuse_write(L, view);
  uint32_t at = view_element(L, view, 2);
  if (at == NONE) {
    char text[64];
    return raise_error(L, "array '%s' has elements 1 to %u, got a value for %s", view->array->name,
                       view->array->count, show_value(L, 2, text, sizeof text));
  }
  if (store_number_at(L, view_type_at(view, at), 3, root->data[view_first_leaf(view, at)], row))
    view_note(root, row);
  else
    view_write_converted(L, view, at);
  return 0;
}

/* ---- resources ------------------------------------------------------------------- */

struct view_box *view_push_pending(lua_State *L, struct world_box *box) {
  struct view_box *view = new_box_of(L, &kind_view, sizeof *view, VIEW_VALUES, 1);
  view->root = view;
  view->box = box;
  view->table = &no_table;
  view->data = view->store;
  view->own_row = ROW_RESOURCE;
  view->row = &view->own_row;
  return view;
}

void resource_view(lua_State *L, struct world_box *box) {
  struct view_box *view;
  for (;;) {
    const struct component *component = check_component(L, box, 2);
    if (!component->resource)
      raise_error(L, "component '%s' is not a resource; declare it with world:resource",
                  component->name);
    if (view_push(L, box, 1, component, NULL, 1, &view)) return;
    lua_settop(L, 2);
    box = check_world(L, 1);
  }
}

/* world:res(component): the view of a resource. */
static int view_world_res(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  lua_settop(L, 2);
  if (box->stage)
    stage_view(L, box);
  else
    resource_view(L, box);
  return 1;
}

const luaL_Reg world_view_methods[] = {{"res", view_world_res}, {NULL, NULL}};

/* ---- view walk ---- */

/* Views as a whole: pairs, #, tostring, and as a table. */

/* The view at argument 1 with a row to show, or an error. */
static struct view_box *check_view(lua_State *L) {
  struct view_box *view = view_test(L, 1);
  if (!view) luaL_typeerror(L, 1, "view");
  view_open(L, 1, view);
  return view;
}

/* The place of a key, counted from 1; 0 for nil. */
static uint32_t view_key_place(lua_State *L, const struct view_box *view, int index) {
  if (lua_isnoneornil(L, index)) return 0;
  if (view->array) {
    lua_Integer at = lua_isinteger(L, index) ? lua_tointeger(L, index) : 0;
    if (at >= 1 && at <= view->array->count) return (uint32_t)at;
  } else {
    const struct shape_field *field = shape_find(L, view->shape, index);
    if (field) return (uint32_t)(field - view->shape->fields) + 1;
  }
  return (uint32_t)luaL_argerror(L, index, "not a key of the view");
}

/* The nil of an `any` field would end the loop, so such fields are skipped. */
static int view_walk_next_pair(lua_State *L) {
  struct view_box *view = check_view(L);
  uint32_t at = view_key_place(L, view, 2);
  lua_settop(L, 1);
  for (; view_row(L, view) < ROW_SPECIAL && at < view_count(view); at++) {
    view_walk_push_key(L, view, at);
    view_push_at(L, 1, view, at);
    if (!lua_isnil(L, 3)) return 2;
    lua_settop(L, 1);
  }
  lua_pushnil(L);
  return 1;
}

static int view_pairs(lua_State *L) {
  check_view(L);
  lua_pushcfunction(L, view_walk_next_pair);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

static int view_length(lua_State *L) {
  struct view_box *view = check_view(L);
  if (!view->array)
    return raise_error(L, "a view of component '%s' has no length", view->shape->component->name);
  lua_pushinteger(L, (lua_Integer)view->array->count);
  return 1;
}

/* ---- text ------------------------------------------------------------------------ */

/* Replaces an entity at the top of the stack by readable text: "hero (65536v2@1)". */
static void view_walk_name(lua_State *L, const ecs_world *world) {
  ecs_id id = (ecs_id)lua_tointeger(L, -1);
  char text[96] = "null";
  if (id != ECS_NULL) text_format(text, sizeof text, SHOW_ID, id);
  ecs_string name = entity_find(&world->entities, id) ? name_of(world, id) : (ecs_string){NULL, 0};
  lua_pop(L, 1);
  if (name.size) {
    lua_pushlstring(L, name.data, name.size);
    lua_pushfstring(L, "%s (%s)", lua_tostring(L, -1), text);
    lua_remove(L, -2);
  } else {
    lua_pushstring(L, text);
  }
}

/* Pushes "{ x = 1.0, y = 2.0 }" or "{ 1, 2 }". If __tostring of an `any` value changes the world,
** view_row notices. */
static void view_push_text(lua_State *L, int index, struct view_box *view) {
  index = lua_absindex(L, index);
  view_row(L, view);
  uint32_t count = view_count(view);
  need_stack(L, 3 * (int)count + 10);
  int pieces = 2;
  lua_pushliteral(L, "{ ");
  for (uint32_t at = 0; view_row(L, view) < ROW_SPECIAL && at < count; at++) {
    if (view->array)
      lua_pushstring(L, at > 0 ? ", " : "");
    else
      lua_pushfstring(L, at > 0 ? ", %s = " : "%s = ", view->shape->fields[at].key);
    view_row(L, view);
    view_push_at(L, index, view, at);
    struct view_box *part = view_test(L, -1);
    if (part) {
      view_push_text(L, -1, part);
      lua_replace(L, -2);
    } else if (view_type_at(view, at) == ECS_ENTITY && view->box->world) {
      view_walk_name(L, view->box->world);
    } else {
      if (lua_type(L, -1) == LUA_TSTRING)
        lua_pushfstring(L, "'%s'", lua_tostring(L, -1));
      else
        luaL_tolstring(L, -1, NULL);
      lua_replace(L, -2);
    }
    pieces += 2;
  }
  lua_pushliteral(L, " }");
  lua_concat(L, pieces);
}

static int view_tostring(lua_State *L) {
  struct view_box *view = view_test(L, 1);
  if (!view) return luaL_typeerror(L, 1, "view");
  uint32_t row = *view->root->row;
  bool open = view->box->world && (row < ROW_SPECIAL || row == ROW_RESOURCE);
  if (!(row == ROW_FOUND ? found_is_open(view->root) : open)) {
    lua_pushliteral(L, "view (stale)");
    return 1;
  }
  view_open(L, 1, view);
  lua_pushfstring(L, "%s ", view->array ? view->array->name : view->shape->component->name);
  view_row(L, view);
  view_push_text(L, 1, view);
  lua_concat(L, 2);
  return 1;
}

const luaL_Reg view_metamethods[] = {
    {"__index", view_index},       {"__newindex", view_newindex}, {"__pairs", view_pairs},
    {"__tostring", view_tostring}, {"__len", view_length},        {NULL, NULL}};

const luaL_Reg elements_metamethods[] = {{"__index", view_elements_index},
                                         {"__newindex", view_elements_newindex},
                                         {"__pairs", view_pairs},
                                         {"__tostring", view_tostring},
                                         {"__len", view_length},
                                         {NULL, NULL}};

void views_forget(lua_State *L, int world_index, ecs_id component) {
  lua_getiuservalue(L, world_index, WORLD_SHAPES);
  if (lua_rawgeti(L, -1, (lua_Integer)component) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawseti(L, -3, (lua_Integer)component);
  }
  lua_pop(L, 2);
}
