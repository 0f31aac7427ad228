#include "lua/kernel.h"

#include "lua/kernel_object.h"

#define VARIANTS 16            /* of one kernel that are kept when no run needs them */
#define SLOTS 64               /* of a query whose functions are compiled */

/* ---- lives ---- */

static void free_variant(ecs_world *world, struct variant *variant) {
  struct memory *memory = &world->memory;
  if (variant->program) program_free(variant->program);
  memory_free(memory, variant->guards, variant->guard_count * sizeof *variant->guards);
  memory_free(memory, variant->resources,
              variant->resource_count * sizeof *variant->resources);
  memory_free(memory, variant->columns, variant->column_count * sizeof *variant->columns);
  memory_free(memory, variant, sizeof *variant);
}

static void free_kernel(struct kernel *kernel) {
  struct kernel_set *set = kernel->set;
  struct memory *memory = &set->world->memory;
  while (kernel->count) free_variant(set->world, kernel->variants[--kernel->count]);
  memory_free(memory, kernel->variants, kernel->capacity * sizeof *kernel->variants);
  if (kernel->previous)
    kernel->previous->next = kernel->next;
  else
    set->list = kernel->next;
  if (kernel->next) kernel->next->previous = kernel->previous;
  memory_free(memory, kernel, sizeof *kernel);
}

static void free_set(ecs_world *world, struct attachment *link) {
  struct kernel_set *set = (struct kernel_set *)link;
  while (set->list) free_kernel(set->list);
  if (set->machine) machine_free(set->machine);
  memory_free(&world->memory, set->work, set->work_capacity);
  world_detach_from(world, link);
  memory_free(&world->memory, set, sizeof *set);
}

void kernels_free(struct world_box *box) {
  if (box->kernel_set) free_set(box->world, &box->kernel_set->link);
  box->kernel_set = NULL;
}

/* The world's set, made when there is none; NULL when out of memory. */
static struct kernel_set *need_set(struct world_box *box) {
  if (box->kernel_set) return box->kernel_set;
  struct kernel_set *set = memory_array(&box->world->memory, 1, sizeof *set);
  if (!set) return NULL;
  set->world = box->world;
  set->link.free = free_set;
  world_attach_to(box->world, &set->link);
  box->kernel_set = set;
  return set;
}

static int collect(lua_State *L) {
  struct kernel_box *handle = box_test(L, 1, &kind_kernel, sizeof *handle);
  if (!handle || !handle->kernel) return 0;
  if (handle->box->world) free_kernel(handle->kernel);
  handle->kernel = NULL;
  return 0;
}

const luaL_Reg kernel_metamethods[] = {{"__gc", collect}, {NULL, NULL}};

/* Where WORLD_REFS has the handles by their kernels' addresses, as weak values. */
static const char handles_key = 0;

static void push_handles(lua_State *L, int world_index) {
  if (lua_getiuservalue(L, world_index, WORLD_REFS) != LUA_TTABLE)
    luaL_error(L, "the world is closed");
  if (lua_rawgetp(L, -1, &handles_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &handles_key);
  }
  lua_remove(L, -2);
}

/* Whether the handle at the top of the stack is for that function, and of a query that there
** still is: while a state is closed, finalizers run in any order. */
static bool has_function(lua_State *L, int function) {
  lua_getiuservalue(L, -1, KERNEL_FUNCTION);
  lua_getiuservalue(L, -2, KERNEL_QUERY);
  const struct query_box *query = lua_touserdata(L, -1);
  bool has = lua_rawequal(L, -2, function) && query->query;
  lua_pop(L, 2);
  return has;
}

void kernels_of_function(lua_State *L, struct world_box *box, int world_index,
                         int function) {
  lua_Integer count = 0;
  push_handles(L, world_index);
  int handles = lua_gettop(L);
  lua_newtable(L);
  const struct kernel_set *set = box->kernel_set;
  /* Nothing here runs finalizers, which could take kernels off the list. */
  for (const struct kernel *at = set ? set->list : NULL; at; at = at->next) {
    if (lua_rawgetp(L, handles, at) != LUA_TNIL && has_function(L, function))
      lua_rawseti(L, handles + 1, ++count);
    else
      lua_pop(L, 1);
  }
  lua_remove(L, handles);
}

struct kernel *kernel_push(lua_State *L, struct world_box *box, int world_index,
                           int function, int query_index, enum front_result result) {
  struct kernel_box *handle = new_box(L, &kind_kernel, sizeof *handle, KERNEL_VALUES);
  int index = lua_gettop(L);
  lua_pushvalue(L, function);
  lua_setiuservalue(L, index, KERNEL_FUNCTION);
  lua_newtable(L);
  lua_setiuservalue(L, index, KERNEL_ANCHORS);
  lua_pushvalue(L, world_index);
  lua_setiuservalue(L, index, KERNEL_WORLD);
  lua_pushvalue(L, query_index);
  lua_setiuservalue(L, index, KERNEL_QUERY);
  push_handles(L, world_index);
  if (!box->world) luaL_error(L, "the world is closed");
  struct kernel_set *set = need_set(box);
  struct kernel *kernel =
      set ? memory_array(&box->world->memory, 1, sizeof *kernel) : NULL;
  if (!kernel) raise_memory(L);
  kernel->box = box;
  kernel->set = set;
  kernel->query = ((struct query_box *)lua_touserdata(L, query_index))->query;
  kernel->result = result;
  kernel->next = set->list;
  if (kernel->next) kernel->next->previous = kernel;
  set->list = kernel;
  handle->box = box;
  handle->kernel = kernel;
  lua_pushvalue(L, index);
  lua_rawsetp(L, -2, kernel);
  lua_settop(L, index);
  return kernel;
}

/* ---- outside values ---- */

/* Whether two paths lead to the same, now. */
static bool read_equal(lua_State *L, int anchors, const struct guard *guard,
                       k_scalar *uniforms) {
  int equal = path_compare(L, anchors, &guard->path, &guard->other, guard->same);
  uniforms[guard->uniform].i64 = 0;
  uniforms[guard->uniform].b = equal > 0;
  return equal >= 0;
}

/* Reads a guard's value; false when it is not of the expected type. */
static bool read_guard(lua_State *L, int anchors, const struct guard *guard,
                       k_scalar *uniforms) {
  if (guard->type == GUARD_EQUAL) return read_equal(L, anchors, guard, uniforms);
  path_push(L, anchors, &guard->path);
  bool fits = false;
  k_scalar value;
  memset(&value, 0, sizeof value);
  switch (guard->type) {
    case GUARD_NIL:
      fits = lua_isnil(L, -1) && path_is_absent(L, anchors, &guard->path, guard->same);
      break;
    case GUARD_BOOL:
      fits = lua_isboolean(L, -1);
      value.b = (uint8_t)lua_toboolean(L, -1);
      break;
    case GUARD_INTEGER:
    case GUARD_WIDE:
      value.i64 = (int64_t)lua_tointeger(L, -1);
      fits = lua_isinteger(L, -1) &&
             number_fits_float(value.i64) == (guard->type == GUARD_INTEGER);
      break;
    case GUARD_FLOAT:
      fits = lua_type(L, -1) == LUA_TNUMBER && !lua_isinteger(L, -1);
      if (fits) value.f64 = (double)lua_tonumber(L, -1);
      break;
    case GUARD_TABLE: fits = lua_istable(L, -1); break;
    default:
      lua_rawgeti(L, anchors, guard->same);
      fits = lua_rawequal(L, -1, -2);
      lua_pop(L, 1);
      break;
  }
  lua_pop(L, 1);
  if (fits && guard->uniform >= 0) uniforms[guard->uniform] = value;
  return fits;
}

static bool read_guards(lua_State *L, int anchors, struct variant *variant) {
  for (uint32_t i = 0; i < variant->guard_count; i++)
    if (!read_guard(L, anchors, &variant->guards[i], variant->uniforms)) return false;
  return true;
}

static void read_resources(struct world_box *box, struct variant *variant) {
  for (uint32_t i = 0; i < variant->resource_count; i++) {
    const struct resource_uniform *resource = &variant->resources[i];
    const struct component *component = component_of(box->world, resource->component);
    const struct leaf *leaf = &component->leaves[resource->leaf];
    ecs_cell cell = cell_load(component->resource[resource->leaf].data, leaf->size, 0);
    k_scalar *value = &variant->uniforms[resource->uniform];
    switch (type_class(leaf->type)) {
      case CLASS_FLOAT: value->f64 = cell_float(leaf->size, cell); break;
      case CLASS_TRUTH: value->b = cell.u8; break;
      case CLASS_ID: value->i64 = (int64_t)entity_target(box->world, cell.u64); break;
      default: value->i64 = cell_integer(leaf->type, leaf->size, cell); break;
    }
  }
}

/* ---- choosing and compiling ---- */

/* Which of the terms that a table may lack it has; without a table: all. */
static uint64_t present_in(const ecs_query *query, const struct table *table) {
  uint64_t present = 0;
  if (!query->terms.choices) return 0;
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    bool may_lack = term->kind == TERM_OPTIONAL || term->group != NONE;
    if (!may_lack || term->slot == NONE) continue;
    if (!table || table_has(table, term->id))
      present |= (uint64_t)1 << (term->slot % SLOTS);
  }
  return present;
}

/* The variant that fits now, with its uniforms read; NULL when there is none. */
static struct variant *find_variant(lua_State *L, int all_anchors, struct kernel *kernel,
                                    uint64_t present) {
  uint64_t version = kernel->box->world->registry.version;
  for (uint32_t i = 0; i < kernel->count; i++) {
    struct variant *variant = kernel->variants[i];
    if (variant->present != present || variant->version != version) continue;
    if (variant->run != kernel->runs) {
      lua_rawgeti(L, all_anchors, (lua_Integer)variant->anchors);
      bool fits = read_guards(L, lua_gettop(L), variant);
      lua_pop(L, 1);
      if (!fits) continue;
      variant->run = kernel->runs;
      read_resources(kernel->box, variant);
    }
    memmove(kernel->variants + 1, kernel->variants, i * sizeof *kernel->variants);
    kernel->variants[0] = variant;
    return variant;
  }
  return NULL;
}

/* compile(function, all_anchors, front, kernel) */
static int compile_protected(lua_State *L) {
  struct front *front = lua_touserdata(L, 3);
  const struct kernel *kernel = lua_touserdata(L, 4);
  luaL_checkstack(L, 40, "kernel");
  lua_createtable(L, 8, 0);
  front->anchors = lua_gettop(L);
  lua_pushvalue(L, front->anchors);
  lua_rawseti(L, 2, (lua_Integer)kernel->compilations + 1);
  call_push_math(L);
  front->math = lua_touserdata(L, -1);
  front_compile(front, L, 1);
  return 0;
}

static bool copy_array(struct memory *memory, void **to, const void *from, size_t size) {
  if (size == 0) return true;
  *to = memory_array(memory, 1, size);
  if (*to) memcpy(*to, from, size);
  return *to != NULL;
}

/* Makes a variant of a compiled function; NULL when out of memory. */
static struct variant *make_variant(struct kernel *kernel, struct front *front,
                                    uint64_t present) {
  struct memory *memory = &kernel->box->world->memory;
  struct variant *variant = memory_array(memory, 1, sizeof *variant);
  if (!variant) return NULL;
  void *guards = NULL, *resources = NULL, *columns = NULL;
  bool made =
      copy_array(memory, &guards, front->guards, front->guard_count * sizeof *front->guards) &&
      copy_array(memory, &resources, front->resources,
                 front->resource_count * sizeof *front->resources) &&
      copy_array(memory, &columns, front->columns,
                 front->column_count * sizeof *front->columns);
  variant->guards = guards;
  variant->guard_count = guards ? front->guard_count : 0;
  variant->resources = resources;
  variant->resource_count = resources ? front->resource_count : 0;
  variant->columns = columns;
  variant->column_count = columns ? front->column_count : 0;
  variant->uniform_count = front->uniform_count;
  memcpy(variant->commands, front->commands, sizeof variant->commands);
  variant->command_count = front->command_count;
  variant->quiet = kernel->result == RESULT_NONE && front->command_count == 0 &&
                   !program_info(front->program).fails;
  variant->present = present;
  variant->version = kernel->box->world->registry.version;
  variant->run = UINT64_MAX;
  if (!made) {
    free_variant(kernel->set->world, variant);
    return NULL;
  }
  variant->program = front->program;
  front->program = NULL;
  return variant;
}

static bool reserve_machine(struct world_box *box, const struct program *compiled) {
  struct kernel_set *set = box->kernel_set;
  if (!set->machine) set->machine = machine_new(&box->world->memory, (k_isa)box->isa);
  return set->machine && machine_reserve(set->machine, compiled) == K_OK;
}

/* Puts a variant first; the least recently used ones go when there are too many, but for those
** that this run has found: it goes through all tables after them. */
static bool enter_variant(lua_State *L, int all_anchors, struct kernel *kernel,
                          struct variant *variant) {
  struct memory *memory = &kernel->box->world->memory;
  while (kernel->count >= VARIANTS && kernel->variants[kernel->count - 1]->run != kernel->runs) {
    struct variant *last = kernel->variants[--kernel->count];
    lua_pushnil(L);
    lua_rawseti(L, all_anchors, (lua_Integer)last->anchors);
    free_variant(kernel->set->world, last);
  }
  struct variant **grown = memory_grow(memory, kernel->variants, &kernel->capacity,
                                       kernel->count + 1ull, sizeof *grown);
  if (!grown) return false;
  kernel->variants = grown;
  memmove(grown + 1, grown, kernel->count * sizeof *grown);
  grown[0] = variant;
  kernel->count++;
  return true;
}

/* Compiles for tables like this one. On success the variant is entered; else what went wrong
** is left on the stack. The collector is held meanwhile: nobody may close the world, or change its
** components, while the front reads them. */
static bool compile(lua_State *L, int handle, int all_anchors, struct kernel *kernel,
                    const struct table *table, uint64_t present) {
  struct world_box *box = kernel->box;
  struct front *front = memory_array(&box->world->memory, 1, sizeof *front);
  if (!front) raise_memory(L);
  front->world = box->world;
  front->outside = kernel_object;
  front->owner = box;
  front->query = kernel->query;
  front->table = table;
  front->result = kernel->result;
  lua_getiuservalue(L, handle, KERNEL_FUNCTION);
  lua_pushvalue(L, all_anchors);
  lua_pushlightuserdata(L, front);
  lua_pushlightuserdata(L, kernel);
  int status = try_quietly(L, compile_protected, 4, 0);
  struct variant *variant = NULL;
  kernel->breaks_promise = front->breaks_promise;
  if (status == LUA_OK) {
    variant = make_variant(kernel, front, present);
    if (variant) variant->anchors = (uint32_t)++kernel->compilations;
    bool kept = variant && reserve_machine(box, variant->program) &&
                enter_variant(L, all_anchors, kernel, variant);
    if (!kept) {
      if (variant) free_variant(box->world, variant);
      variant = NULL;
    }
  }
  front_free(front);
  memory_free(&box->world->memory, front, sizeof *front);
  if (status == LUA_OK && !variant) raise_memory(L);
  if (status == LUA_ERRMEM) lua_error(L);
  return status == LUA_OK;
}

/* ---- whether it can run ---- */

static bool is_refused(struct kernel *kernel) {
  uint64_t version = kernel->box->world->registry.version;
  return kernel->refused && kernel->refused_version == version &&
         kernel->runs < kernel->retry_at;
}

static void note_success(struct kernel *kernel) {
  kernel->refused = false;
  kernel->retry_step = 0;
}

/* A refused function is tried again now and then: an outside value may have changed. */
static void note_refusal(struct kernel *kernel) {
  kernel->retry_step = kernel->retry_step ? kernel->retry_step * 2 : 1;
  kernel->retry_at = kernel->runs + kernel->retry_step;
  kernel->refused_version = kernel->box->world->registry.version;
  kernel->refused = true;
}

/* Remembers the reason at the top of the stack. */
static void keep_reason(lua_State *L, int handle) {
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, handle, KERNEL_REASON);
}

static bool ready_for(lua_State *L, int handle, struct kernel *kernel,
                      const struct table *table) {
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  uint64_t present = present_in(kernel->query, table);
  struct variant *variant = find_variant(L, anchors, kernel, present);
  if (!variant && compile(L, handle, anchors, kernel, table, present))
    variant = find_variant(L, anchors, kernel, present);
  if (!variant) {
    note_refusal(kernel);
    keep_reason(L, handle);
    lua_replace(L, anchors);
    return false;
  }
  kernel_reserve(L, kernel, variant, table ? table->count : 0);
  lua_pop(L, 1);
  return true;
}

bool kernel_waits(const struct kernel_box *box) {
  struct kernel *kernel = box->kernel;
  if (!kernel) return false;
  kernel->runs++;
  bool waits = is_refused(kernel);
  if (!waits) kernel->runs--;
  return waits;
}

/* For each table that has rows; if there is none, and `ahead`, for one that has every term. */
static bool all_ready(lua_State *L, int handle, struct kernel *kernel, bool ahead) {
  for (uint32_t i = 0; i < kernel->query->count; i++) {
    const struct table *table = world_table(kernel->box->world, kernel->query->tables[i]);
    if (!table->count) continue;
    ahead = false;
    if (!ready_for(L, handle, kernel, table)) return false;
  }
  return !ahead || kernel->query->broken || ready_for(L, handle, kernel, NULL);
}

static bool is_ready(lua_State *L, int handle, bool ahead) {
  struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) {
    lua_pushliteral(L, "the Lua state is being closed");
    return false;
  }
  kernel->runs++;
  if (is_refused(kernel)) {
    lua_getiuservalue(L, handle, KERNEL_REASON);
    return false;
  }
  if (kernel->query->terms.slots > SLOTS) {
    note_refusal(kernel);
    lua_pushliteral(L, "its query has too many terms");
    keep_reason(L, handle);
    return false;
  }
  if (!all_ready(L, handle, kernel, ahead)) return false;
  note_success(kernel);
  return true;
}

bool kernel_ready_here(lua_State *L, int handle, const struct table *table) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) return false;
  kernel->runs++;
  bool ready = !is_refused(kernel) && kernel->query->terms.slots <= SLOTS &&
               ready_for(L, handle, kernel, table);
  if (ready) note_success(kernel);
  return ready;
}

struct variant *kernel_find(lua_State *L, int anchors, struct kernel *kernel,
                            const struct table *table) {
  return find_variant(L, anchors, kernel, present_in(kernel->query, table));
}

/* Whether a variant is the one for every table that has rows. */
static bool fits_all(const struct kernel *kernel, const struct variant *variant) {
  const ecs_query *query = kernel->query;
  if (!query->terms.choices) return true;
  for (uint32_t i = 0; i < query->count; i++) {
    const struct table *table = world_table(query->world, query->tables[i]);
    if (table->count && present_in(query, table) != variant->present) return false;
  }
  return true;
}

struct variant *kernel_settled(lua_State *L, int anchors, struct kernel *kernel) {
  struct variant *variant = kernel->count ? kernel->variants[0] : NULL;
  if (!variant || !variant->quiet || kernel->refused || kernel->query->broken) return NULL;
  if (variant->version != kernel->box->world->registry.version) return NULL;
  if (!fits_all(kernel, variant)) return NULL;
  if (variant->guard_count) {
    lua_rawgeti(L, anchors, (lua_Integer)variant->anchors);
    bool fits = read_guards(L, lua_gettop(L), variant);
    lua_pop(L, 1);
    if (!fits) return NULL;
  }
  variant->run = ++kernel->runs;
  read_resources(kernel->box, variant);
  return variant;
}

bool kernel_ready(lua_State *L, int handle) { return is_ready(L, handle, false); }

bool kernel_ready_again(lua_State *L, int handle) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  if (box->kernel) box->kernel->refused = false;
  return is_ready(L, handle, false);
}

bool kernel_ready_ahead(lua_State *L, int handle) { return is_ready(L, handle, true); }
