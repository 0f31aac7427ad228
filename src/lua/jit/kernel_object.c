#include "lua/jit/kernel_object.h"

#include "core/storage/component.h"
#include "core/storage/fields.h"

#include "lua/bind/object.h"
#include "lua/bind/world_box.h"
#include "lua/api/lua_array.h"
#include "lua/api/lua_index.h"
#include "lua/api/lua_spawner.h"
#include "lua/loop/view.h"
#include "lua/loop/view_box.h"

struct outside kernel_object(lua_State *L, int index, const void *owner) {
  const struct world_box *box = owner;
  if (lua_isfunction(L, index)) return spawner_object(L, index, box);
  if (box_test(L, index, &kind_world, sizeof *box) == box)
    return (struct outside){.kind = OUTSIDE_WORLD};
  struct array_box *array = box_test(L, index, &kind_array, sizeof *array);
  if (array && array->box == box && array_find(L, index, array))
    return (struct outside){.kind = OUTSIDE_ARRAY, .resource = array->component};
  struct index_box *looked = box_test(L, index, &kind_index, sizeof *looked);
  if (looked && looked->box == box)
    return (struct outside){.kind = OUTSIDE_INDEX, .index = index_find(L, index, looked)};
  const struct view_box *view = view_test(L, index);
  bool is_root = view && view->box == box && view->root == view && !view->loop &&
                 !view->found;
  const struct component *component = is_root ? component_of(box->world, view->id) : NULL;
  if (component && component->resource)
    return (struct outside){.kind = OUTSIDE_RESOURCE, .resource = component};
  return (struct outside){.kind = OUTSIDE_OTHER};
}
