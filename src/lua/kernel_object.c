#include "lua/kernel_object.h"

#include "core/store/component.h"
#include "core/store/fields.h"

#include "lua/bind/object.h"
#include "lua/bind/world_box.h"
#include "lua/lua_array.h"
#include "lua/view.h"
#include "lua/view_box.h"

struct outside kernel_object(lua_State *L, int index, const void *owner) {
  const struct world_box *box = owner;
  if (box_test(L, index, &kind_world, sizeof *box) == box)
    return (struct outside){OUTSIDE_WORLD, NULL};
  struct array_box *array = box_test(L, index, &kind_array, sizeof *array);
  if (array && array->box == box && array_find(L, index, array))
    return (struct outside){OUTSIDE_ARRAY, array->component};
  const struct view_box *view = view_test(L, index);
  bool is_root = view && view->box == box && view->root == view && !view->loop;
  const struct component *component = is_root ? component_of(box->world, view->id) : NULL;
  if (component && component->resource)
    return (struct outside){OUTSIDE_RESOURCE, component};
  return (struct outside){OUTSIDE_OTHER, NULL};
}
