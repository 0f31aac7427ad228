/* Redeclares the live world's prefabs on top of those in the image. Any values, entities and ties
** to entities are left out, since only the live world knows them. Bases are declared before what is
** based on them, even if they were first declared later. */
#include "core/base/column.h"
#include "core/entity/clone.h"
#include "core/entity/name.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/image/load.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "ecs_world.h"

/* A prefab of the live world as it would be declared. First counted, then listed. */
struct listing {
  ecs_world *live, *shadow;
  struct prefab_node *nodes;
  struct part *parts;
  struct write *writes;
  ecs_id *shared;
  uint32_t *nodes_of;        /* by place in clone.sources; NONE if it is not a node */
  uint32_t node_count, part_count, write_count, shared_count;
};

/* ---- parts ---- */

/* Adds the values of a component, or of a tie to the target; counts them while there are no
** lists. */
static ecs_status load_prefabs_add_values(struct listing *list, uint32_t entity,
                                          const struct table *table, ecs_id id,
                                          ecs_id target) {
  const struct component *component = component_of(list->live, id);
  uint32_t row = entity_record(&list->live->entities, entity)->row;
  const struct layout *layout = sparse_layout(list->live, table, entity, id, &row);
  struct part part = {component_of(list->shadow, id), target, 0, NULL, 0};
  if (list->writes) part.writes = list->writes + list->write_count;
  assert(layout->taken && part.component);
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    ecs_type type = component->leaves[i].type;
    if (type == ECS_ANY || type == ECS_ENTITY) continue;
    part.write_count++;
    struct write write = {i, cell_load(layout->columns[i].data, layout->columns[i].size, row)};
    if (list->writes && type == ECS_STRING) {
      ecs_string text = intern_text(&list->live->strings, write.cell.u32);
      ecs_status status = intern(&list->shadow->strings, &list->shadow->memory, text.data,
                                 text.size, &write.cell.u32);
      if (status != ECS_OK) return status;
    }
    if (list->writes) list->writes[list->write_count] = write;
    list->write_count++;
  }
  if (list->parts) list->parts[list->part_count] = part;
  list->part_count++;
  return ECS_OK;
}

/* Adds a tie to a component, which has the same id in both worlds, or a shared component. For an
** exclusive relation, the target is an entity among its values. */
static ecs_status load_prefabs_add_tie(struct listing *list, uint32_t entity,
                                       const struct table *table, ecs_id id) {
  const struct relations *known = &list->live->relations;
  const struct relation *relation = relation_of(list->live, id);
  uint32_t target = id_is_pair(id) ? pair_target(id) : ties_target(&relation->ties, entity);
  if (relation == known->is_a || relation == known->child_of || target >= FIRST_ENTITY)
    return ECS_OK;
  ecs_id to = entity_id(&list->live->entities, target);
  if (relation != known->prefab) return load_prefabs_add_values(list, entity, table, id, to);
  if (to == relation->component->id) return ECS_OK;
  if (list->shared) list->shared[list->shared_count] = to;
  list->shared_count++;
  return ECS_OK;
}

static ecs_status load_prefab_add_parts(struct listing *list, uint32_t entity) {
  const ecs_world *live = list->live;
  const struct table *table = record_table(live, entity_record(&live->entities, entity));
  ecs_status status = ECS_OK;
  ecs_id sparse = ECS_NULL;
  for (uint32_t i = 0; i < table->id_count && status == ECS_OK; i++) {
    ecs_id id = table->ids[i];
    status = relation_of(live, id) ? load_prefabs_add_tie(list, entity, table, id)
                                   : load_prefabs_add_values(list, entity, table, id, ECS_NULL);
  }
  while (status == ECS_OK && (sparse = sparse_next_id(live, entity, sparse)) != ECS_NULL)
    status = load_prefabs_add_values(list, entity, table, sparse, ECS_NULL);
  return status;
}

/* ---- nodes ---- */

/* The shadow's counterpart of a live prefab's base; inherited children are found below the base of
** the given node. */
static ecs_id load_prefab_base_of(const struct listing *list, uint32_t entity, uint32_t parent) {
  const ecs_world *live = list->live;
  const struct ties *child_of = &live->relations.child_of->ties;
  uint32_t base = ties_target(&live->relations.is_a->ties, entity), top = 0;
  ecs_string name = base ? name_of(live, entity_id(&live->entities, base)) : (ecs_string){"", 0};
  if (name.size == 0) return ECS_NULL;
  if (ties_target(child_of, base)) {
    if (!ties_target(child_of, entity) || !prefab_inherits(live, entity)) return ECS_NULL;
    top = ecs_id_index(list->nodes[parent].is_a);
    if (top == 0) return ECS_NULL;
  }
  ecs_id found = name_find(list->shadow, top, name.data, name.size);
  bool usable = found != ECS_NULL && prefab_is(list->shadow, ecs_id_index(found));
  return usable ? found : ECS_NULL;
}

/* The node of a source's parent; NONE if there is none, or if the source is not a prefab or was
** inherited. */
static uint32_t load_prefab_parent_of(const struct listing *list, uint32_t place) {
  const ecs_world *live = list->live;
  const struct clone *clone = live->clone;
  uint32_t entity = clone->sources[place];
  if (place == 0) return 0;
  bool named = name_of(live, entity_id(&live->entities, entity)).size > 0;
  if (!prefab_is(live, entity) || (!named && prefab_inherits(live, entity))) return NONE;
  uint32_t parent = ties_target(&live->relations.child_of->ties, entity);
  return list->nodes_of[map_get(&clone->places, parent)];
}

static ecs_status load_prefabs_add_node(struct listing *list, uint32_t place) {
  const ecs_world *live = list->live;
  uint32_t entity = live->clone->sources[place], parent = load_prefab_parent_of(list, place);
  list->nodes_of[place] = parent == NONE ? NONE : list->node_count;
  if (parent == NONE) return ECS_OK;
  uint32_t parts = list->part_count, shared = list->shared_count;
  ecs_status status = load_prefab_add_parts(list, entity);
  if (status == ECS_OK && list->nodes) {
    ecs_id base = load_prefab_base_of(list, entity, parent);
    bool known = base != ECS_NULL || !ties_target(&live->relations.is_a->ties, entity);
    list->nodes[list->node_count] = (struct prefab_node){
        parent, name_of(live, entity_id(&live->entities, entity)), base, list->parts + parts,
        list->part_count - parts, list->shared + shared, list->shared_count - shared, true,
        !known};
  }
  list->node_count++;
  return status;
}

static ecs_status load_prefabs_add_nodes(struct listing *list) {
  ecs_status status = ECS_OK;
  list->node_count = list->part_count = list->write_count = list->shared_count = 0;
  for (uint32_t i = 0; i < list->live->clone->count && status == ECS_OK; i++)
    status = load_prefabs_add_node(list, i);
  return status;
}

/* ---- a prefab ---- */

static bool load_prefabs_take_room(struct loader *loader, struct listing *list) {
  struct memory *memory = &loader->live->memory;
  struct arena *arena = &loader->arena;
  list->parts = arena_take(memory, arena, (list->part_count + (size_t)1) * sizeof *list->parts);
  list->writes = arena_take(memory, arena, (list->write_count + (size_t)1) * sizeof *list->writes);
  list->shared = arena_take(memory, arena, (list->shared_count + (size_t)1) * sizeof *list->shared);
  list->nodes = arena_take(memory, arena, list->node_count * sizeof *list->nodes);
  return list->parts && list->writes && list->shared && list->nodes;
}

static ecs_status load_prefab_declare_again(struct loader *loader, ecs_id prefab) {
  struct listing list = {.live = loader->live, .shadow = loader->world};
  ecs_id id;
  ecs_status status = clone_find(loader->live, prefab, CLONE_PLAIN);
  if (status != ECS_OK) return status;
  size_t size = loader->live->clone->count * sizeof *list.nodes_of;
  list.nodes_of = arena_take(&loader->live->memory, &loader->arena, size);
  if (!list.nodes_of) return ECS_ENOMEM;
  status = load_prefabs_add_nodes(&list);
  if (status == ECS_OK && !load_prefabs_take_room(loader, &list)) return ECS_ENOMEM;
  if (status == ECS_OK) status = load_prefabs_add_nodes(&list);
  return status == ECS_OK ? prefab_declare(loader->world, list.nodes, list.node_count, &id)
                          : status;
}

/* ---- in which order ---- */

/* A prefab, and the entity of its tree being examined; 0 at the end. */
struct prefab_step {
  uint32_t prefab, at;
};

/* Declared prefabs in the order of redeclaration. */
struct order {
  const ecs_world *live;
  struct map waiting;        /* indices of those in neither list yet */
  struct prefab_step *steps;        /* path from a prefab to its base, and on */
  ecs_id *prefabs;
  uint32_t count;
};

/* A declared prefab, not yet listed, that an entity is based on, directly or through one of its
** parts; 0 if there is none. */
static uint32_t load_prefabs_waiting_base(const struct order *order, uint32_t entity) {
  const ecs_world *live = order->live;
  uint32_t base = ties_target(&live->relations.is_a->ties, entity);
  while (base && map_get(&order->waiting, base) == NONE)
    base = ties_target(&live->relations.child_of->ties, base);
  return base;
}

static struct prefab_step load_prefabs_step_to(struct order *order, uint32_t prefab) {
  map_remove(&order->waiting, prefab);
  return (struct prefab_step){prefab, prefab};
}

/* Lists a prefab after the bases of everything in it. In a cycle, the prefab reached first is
** listed last. */
static void list_prefab(struct order *order, uint32_t prefab) {
  const struct relations *relations = &order->live->relations;
  uint32_t count = 0;
  if (map_get(&order->waiting, prefab) == NONE) return;
  order->steps[count++] = load_prefabs_step_to(order, prefab);
  while (count) {
    struct prefab_step *step = &order->steps[count - 1];
    uint32_t base = step->at ? load_prefabs_waiting_base(order, step->at) : 0;
    if (base) {
      order->steps[count++] = load_prefabs_step_to(order, base);
    } else if (step->at) {
      step->at = ties_next_below(&relations->child_of->ties, step->prefab, step->at);
    } else {
      order->prefabs[order->count++] = entity_id(&order->live->entities, step->prefab);
      count--;
    }
  }
}

/* Whether a declaration is still valid. After a restore, another entity, such as a prefab's child,
** may have the id. */
static bool load_prefab_is_declared(const ecs_world *live, ecs_id prefab) {
  uint32_t index = ecs_id_index(prefab);
  return ecs_alive(live, prefab) && prefab_is(live, index) && name_of(live, prefab).size > 0 &&
         ties_target(&live->relations.child_of->ties, index) == 0;
}

static ecs_status list_all(struct loader *loader, struct order *order) {
  const struct declared *declared = &loader->live->declared;
  struct memory *memory = &loader->live->memory;
  size_t room = declared->count + (size_t)1;
  order->steps = arena_take(memory, &loader->arena, room * sizeof *order->steps);
  order->prefabs = arena_take(memory, &loader->arena, room * sizeof *order->prefabs);
  if (!order->steps || !order->prefabs) return ECS_ENOMEM;
  if (!map_reserve(memory, &order->waiting, declared->count)) return ECS_ENOMEM;
  for (uint32_t i = 0; i < declared->count; i++)
    if (load_prefab_is_declared(loader->live, declared->prefabs[i]))
      map_put(&order->waiting, ecs_id_index(declared->prefabs[i]), i);
  for (uint32_t i = 0; i < declared->count; i++)
    if (load_prefab_is_declared(loader->live, declared->prefabs[i]))
      list_prefab(order, ecs_id_index(declared->prefabs[i]));
  return ECS_OK;
}

/* ---- all prefabs ---- */

/* Values that are dropped may hold slots of the live world. */
ecs_status load_prefabs(struct loader *loader) {
  ecs_world *live = loader->live, *shadow = loader->world;
  struct order order = {.live = live};
  ecs_status status = list_all(loader, &order);
  shadow->any = live->any;
  for (uint32_t i = 0; i < order.count && status == ECS_OK; i++)
    status = load_prefab_declare_again(loader, order.prefabs[i]);
  map_free(&live->memory, &order.waiting);
  live->any = shadow->any;
  memset(&shadow->any, 0, sizeof shadow->any);
  return status;
}
