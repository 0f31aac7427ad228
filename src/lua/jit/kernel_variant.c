#include "lua/jit/kernel.h"

#include "core/index/indexing.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "front/front.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/version.h"

#define VARIANTS 16            /* most unneeded variants that one kernel keeps */

static void variant_release_findings(struct memory *memory, struct findings *findings) {
  if (--findings->users) return;
  if (findings->program) program_free(findings->program);
  memory_free(memory, findings, findings->size);
}

void variant_free(struct memory *memory, struct variant *variant) {
  variant_release_findings(memory, variant->findings);
  for (uint32_t i = 0; i < FRONT_ARRAYS; i++)
    memory_free(memory, variant->copied[i].data, variant->copied[i].size);
  if (variant->lists_cells)
    memory_free(memory, variant->lists_cells, scratch_size(&variant->script));
  memory_free(memory, variant, sizeof *variant);
}

/* ---- outside values ---- */

/* Whether the value is a view of the same component; its current place becomes the uniform. */
static bool variant_read_view(lua_State *L, int anchors, const struct guard *guard,
                              const struct world_box *box, k_scalar *uniforms) {
  int top = lua_gettop(L);
  path_push(L, anchors, &guard->path);
  struct outside outside = {.kind = OUTSIDE_OTHER};
  if (lua_type(L, -1) == LUA_TUSERDATA) outside = kernel_object(L, top + 1, box);
  lua_rawgeti(L, anchors, guard->same);
  bool fits = outside.kind == OUTSIDE_VIEW && outside.read_only == guard->measured &&
              outside.resource->id == (ecs_id)lua_tointeger(L, -1);
  lua_settop(L, top);
  if (fits && guard->uniform >= 0) uniforms[guard->uniform].i64 = outside.place;
  return fits;
}

static enum reading variant_read_guard(lua_State *L, int anchors, const struct guard *guard,
                                       const struct world_box *box, struct variant *variant) {
  if (guard->type >= GUARD_TEXT)
    return guard_read_text(L, anchors, guard, box->world, variant->uniforms);
  if (guard->type == GUARD_CELL)
    return cell_take(L, anchors, guard, box->world, &variant->script);
  if (guard->type == GUARD_APPENDED)
    return append_read(L, anchors, guard, variant->lists_cells) ? READING_FITS : READING_OTHER;
  if (guard->type == GUARD_VIEW)
    return variant_read_view(L, anchors, guard, box, variant->uniforms) ? READING_FITS
                                                                        : READING_OTHER;
  if (guard->type != GUARD_ELEMENTS)
    return guard_read(L, anchors, guard, variant->uniforms) ? READING_FITS : READING_OTHER;
  bool read = variant->plan.program || element_kind_of(guard->elements) >= ELEMENTS_NONE;
  if (!read && (guard->as.grows || guard->as.keyed)) return READING_FITS;   /* a refusal's guard */
  uint32_t at = guard->uniform < 0 ? 0 : (uint32_t)guard->uniform;   /* a refusal has none */
  assert(at < FRONT_ARRAYS);
  return guard_read_elements(L, anchors, guard, box->memory, box->world->entities.near.count,
                             &variant->copied[at], &variant->arrays[at]);
}

/* Reads the outside values. Returns whether they have the types that the variant is for. */
static APART bool variant_fits_guards(lua_State *L, int all_anchors, const struct kernel *kernel,
                                      struct variant *variant) {
  enum reading reading = READING_FITS;
  lua_rawgeti(L, all_anchors, (lua_Integer)variant->anchors);
  int anchors = lua_gettop(L);
  for (uint32_t i = 0; i < variant->guard_count && reading == READING_FITS; i++)
    reading = variant_read_guard(L, anchors, &variant->guards[i], kernel->box, variant);
  variant->starved = reading == READING_STARVED;
  bool fits = reading == READING_FITS, cells = variant->plan.program && cells_any(&variant->script);
  if (fits && cells) fits = !cells_meet(L, anchors, variant->guards, variant->guard_count);
  bool loops = kernel->once && variant->plan.program;
  for (uint32_t i = 0; fits && loops && i < variant->list_count; i++)
    fits = partner_is_short(kernel->box->world, &variant->lists[i]);
  lua_pop(L, 1);
  return fits;
}

static void variant_set_all(lua_State *L, int anchors, const struct variant *variant) {
  cells_store(L, anchors, variant->guards, variant->guard_count, &variant->script,
              variant->arrays, variant->lists_cells);
}

/* (variant, anchors) */
static int variant_set_protected(lua_State *L) {
  variant_set_all(L, 2, lua_touserdata(L, 1));
  return 0;
}

static APART void variant_set_cells(lua_State *L, int handle, struct variant *variant) {
  int top = lua_gettop(L), status = LUA_OK;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  lua_rawgeti(L, -1, (lua_Integer)variant->anchors);
  if (cells_any(&variant->script) && variant->held) {
    lua_pushcfunction(L, variant_set_protected);
    lua_pushlightuserdata(L, variant);
    lua_pushvalue(L, top + 2);
    status = lua_pcall(L, 2, 0, 0);
  } else if (cells_any(&variant->script)) {
    variant_set_all(L, top + 2, variant);
  }
  struct world_box *box = ((struct kernel_box *)lua_touserdata(L, handle))->box;
  if (variant->held) box->owed += collector_release_quietly(L, variant->kilobytes);
  if (status != LUA_OK) lua_error(L);
  lua_settop(L, top);
  variant->held = false;
}

void variant_hold(lua_State *L, struct variant *variant) {
  if (LIKELY(!variant->makes) || lua_gc(L, LUA_GCISRUNNING, 0) != 1) return;
  variant->held = true;
  variant->kilobytes = (size_t)lua_gc(L, LUA_GCCOUNT, 0);
  collector_hold(L);
}

void variant_store_cells(lua_State *L, int handle, struct variant *variant) {
  if (UNLIKELY(variant->makes || cells_any(&variant->script)))
    variant_set_cells(L, handle, variant);
}

#define COPIED_FREELY 1024u    /* element_cost that is always allowed, before rows are counted */
#define LOOP_ROUNDS 4u         /* how many rounds loops within a row are assumed to do */

uint64_t variant_cost(lua_State *L, int all_anchors, const struct variant *variant) {
  uint64_t cost = 0;
  lua_rawgeti(L, all_anchors, (lua_Integer)variant->anchors);
  for (uint32_t i = 0; i < variant->guard_count; i++) {
    const struct guard *guard = &variant->guards[i];
    bool elements = guard->type == GUARD_ELEMENTS && guard->uniform >= 0;
    if (elements)
      cost += element_cost(L, lua_gettop(L), guard, &variant->arrays[guard->uniform]);
    if (guard->type == GUARD_APPENDED) cost += append_cost(L, lua_gettop(L), guard);
  }
  lua_pop(L, 1);
  return cost;
}

/* In the time in which Lua does two instructions of a program, one element is copied. */
uint64_t variant_worth(const struct variant *variant, uint64_t rows) {
  const struct program *program = variant->plan.program;
  if (!program) return COPIED_FREELY;
  uint64_t rounds = program_info(program).loops ? LOOP_ROUNDS : 1;
  return COPIED_FREELY + rows * program->insn_count * rounds / 2;
}

uint64_t variant_worth_of_loop(const struct variant *variant, uint64_t rows) {
  return (variant_worth(variant, rows) - COPIED_FREELY) / 2;
}

/* The array of the program's cells of a type. */
static k_array variant_cell_array(const struct variant *variant, uint32_t array) {
  const struct script_cells *cells = &variant->script;
  if (cells->arrays[array] > LISTS_CELLS)
    return scratch_array(variant->lists_cells, cells,
                         (k_column)(cells->arrays[array] - LISTS_CELLS - 1));
  switch (cells->arrays[array] - 1) {
    case KC_BOOL: return (k_array){cells->truths, sizeof cells->truths};
    case KC_I64: return (k_array){cells->integers, FRONT_CELLS};
    default: return (k_array){cells->floats, FRONT_CELLS};
  }
}

/* Reads arrays of the world, and fields of resources. */
static APART void variant_read_outside(const struct world_box *box, struct variant *variant) {
  for (uint32_t i = 0; i < variant->resource_count; i++)
    guard_read_resource(box->world, &variant->resources[i],
                        &variant->uniforms[variant->resources[i].uniform]);
  for (uint32_t i = 0; i < variant->array_count; i++) {
    const struct front_array *array = &variant->sources[i];
    if (array->copy.index)
      variant->arrays[i] =
          guard_read_copy(variant->indexes[array->copy.index - 1], array->copy);
    if (variant->script.arrays[i]) variant->arrays[i] = variant_cell_array(variant, i);
    if (array->id) variant->arrays[i] = guard_read_array(box->world, array->id, array->leaf);
  }
}

/* ---- choosing ---- */

uint64_t variant_present(const ecs_query *query, const struct table *table, uint32_t row) {
  uint64_t present = 0;
  if (!query->terms.choices) return 0;
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    if (!term_may_lack(term)) continue;
    if (!table || (table_has(table, term->id) &&
                   (!term->toggled || term_shows(term, table, row))))
      present |= (uint64_t)1 << (term->slot % KERNEL_SLOTS);
  }
  return present;
}

const struct component *kernel_elements(const struct kernel *kernel) {
  const struct component *array = component_of(kernel->box->world, kernel->array);
  return array && array->length && array->resource ? array : NULL;
}

struct which variant_in_table(const ecs_query *query, const struct table *table, bool some) {
  uint64_t maybe = table ? query_rows_varying(&query->terms, table) : 0;
  return (struct which){variant_present(query, table, 0) & ~maybe, some, maybe};
}

struct which variant_of_rows(const struct kernel *kernel, const struct table *table, bool some) {
  const ecs_query *query = kernel->query;
  bool whole = some && !RESULT_IS_USED(kernel->result) &&
               stretches_are_full(&query->terms, table);
  return variant_in_table(query, table, (some && !whole) || kernel->filtered);
}

struct which variant_wanted(const struct kernel *kernel, const struct table *table) {
  bool some = table && query_table_rows(&kernel->query->terms, table) == ROWS_SOME;
  return variant_of_rows(kernel, table, some);
}

void variant_choices(const struct walk *walk, struct choices *out) {
  const struct query_terms *terms = &walk->query->terms;
  out->count = 0;
  for (uint32_t i = 0; terms->choices && i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term_may_lack(term)) continue;
    assert(out->count < KERNEL_SLOTS);
    out->list[out->count].term = term;
    out->list[out->count++].step = term_is_by_row(term) ? walk_step_of(walk, term) : NONE;
  }
}

uint64_t variant_present_in_match(const struct walk *walk, const struct choices *choices) {
  uint64_t present = 0;
  for (uint32_t i = 0; i < choices->count; i++) {
    const struct term *term = choices->list[i].term;
    uint32_t step = choices->list[i].step;
    bool there = step != NONE ? walk->ends[step].table : walk_cells(walk, term).table;
    if (there) present |= (uint64_t)1 << term->slot % KERNEL_SLOTS;
  }
  return present;
}

static bool variant_same_which(struct which x, struct which y) {
  return x.present == y.present && x.some == y.some && x.maybe == y.maybe;
}

bool variant_is_current(const struct kernel *kernel, const struct variant *variant) {
  if (variant->version != *kernel->box->version) return false;
  if (variant->lenient && kernel->strict) return false;
  return !variant->looks || variant->indexed == indexes_version(kernel->box->world);
}

/* The variant that fits now, which may be a refusal; or NULL. */
static struct variant *kernel_variant_find(lua_State *L, int anchors,
                                           struct kernel *kernel, struct which which) {
  for (uint32_t i = 0; i < kernel->count; i++) {
    struct variant *variant = kernel->variants[i];
    if (!variant_same_which(variant->which, which) || !variant_is_current(kernel, variant))
      continue;
    /* Outside values are read once per run of the kernel. */
    if (variant->run != kernel->runs) {
      bool fits = variant_fits_guards(L, anchors, kernel, variant);
      if (variant->starved) raise_memory(L);
      if (!fits) continue;
      if (variant->makes) variant_order_by(L, variant);
      variant->run = kernel->runs;
    }
    memmove(kernel->variants + 1, kernel->variants, i * sizeof *kernel->variants);
    kernel->variants[0] = variant;
    if (i > 0) kernel->sure = NULL;
    return variant;
  }
  return NULL;
}

struct variant *variant_find(lua_State *L, int anchors, struct kernel *kernel,
                             struct which which) {
  struct variant *variant = kernel_variant_find(L, anchors, kernel, which);
  if (!variant || !variant->plan.program || !indexes_are_fresh(variant)) return NULL;
  variant_read_outside(kernel->box, variant);
  if (LIKELY(!variant->texts)) return variant;
  /* If the function itself did a row, it may have swept unused strings. */
  bool starved = false;
  lua_rawgeti(L, anchors, (lua_Integer)variant->anchors);
  for (uint32_t i = 0; i < variant->guard_count && !starved; i++)
    if (variant->guards[i].type == GUARD_TEXT)
      starved = guard_read_text(L, lua_gettop(L), &variant->guards[i], kernel->box->world,
                                variant->uniforms) == READING_STARVED;
  lua_pop(L, 1);
  if (starved) raise_memory(L);
  return variant;
}

bool variant_fits_all(const struct kernel *kernel, const struct variant *variant) {
  const ecs_query *query = kernel->query;
  bool differs = query->terms.choices || query->terms.toggled;
  for (uint32_t i = 0; UNLIKELY(differs) && i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    enum table_rows rows = query_table_rows(&query->terms, table);
    if (rows == ROWS_NONE) continue;
    if (!variant_same_which(variant_of_rows(kernel, table, rows == ROWS_SOME), variant->which))
      return false;
  }
  return true;
}

struct variant *variant_direct(lua_State *L, int anchors, struct kernel *kernel) {
  struct variant *variant = kernel->count ? kernel->variants[0] : NULL;
  if (!variant || !variant->quiet || kernel->refused || kernel->query->broken) return NULL;
  if (variant->tables && variant_cost(L, anchors, variant) > COPIED_FREELY) return NULL;
  if (variant->version != *kernel->box->version) return NULL;
  if (terms_walk(&kernel->query->terms)) return NULL;
  if (!variant_fits_all(kernel, variant)) return NULL;
  if (UNLIKELY(variant->guard_count) && !variant_fits_guards(L, anchors, kernel, variant))
    return NULL;
  variant->run = ++kernel->runs;
  kernel->left = 0;
  bool outside = variant->resource_count | variant->array_count;
  if (UNLIKELY(outside)) variant_read_outside(kernel->box, variant);
  /* From now on, only a change of components can unsettle a settled variant. */
  bool sure = !outside && !variant->guard_count && kernel->query->terms.plain &&
              !kernel->query->terms.choices;
  kernel->sure = sure ? variant : NULL;
  kernel->sure_version = variant->version;
  return variant;
}

/* ---- compiling ---- */

/* compile(function, all_anchors, front, kernel, locals, reasons) */
static int variant_compile_protected(lua_State *L) {
  struct front *front = lua_touserdata(L, 3);
  const struct kernel *kernel = lua_touserdata(L, 4);
  need_stack(L, 40);
  lua_rawgeti(L, 2, (lua_Integer)kernel->anchored + 1);
  bool keyed = front->shared.cell_count || front->shared.list_column_count;
  if (!keyed) new_weak_table(L, "v");   /* otherwise, the table of their keys */
  front->anchors = lua_gettop(L);
  lua_pushvalue(L, front->anchors);
  lua_rawseti(L, 2, (lua_Integer)kernel->anchored + 1);
  if (front->surveys) {
    lua_pushvalue(L, 6);
    lua_rawseti(L, front->anchors, SURVEY_REASONS);
  }
  library_push(L, portable_functions);
  front->math = lua_touserdata(L, -1);
  front_compile(front, L, 1);
  return 0;
}

/* Copies a list to `room`; without it, only counts the bytes. */
#define VARIANT_KEEP(list, count) variant_keep(room, &at, list, (count) * sizeof *(list))
static void *variant_keep(char *room, size_t *at, const void *from, size_t size) {
  void *to = room ? room + *at : NULL;
  if (to && size) memcpy(to, from, size);
  *at += (size + 15) / 16 * 16;
  return to;
}

/* Copies the front's lists to the room after the findings. Returns their end. */
static size_t variant_keep_lists(struct variant *variant, const struct front *front, char *room) {
  size_t at = (sizeof(struct findings) + 15) / 16 * 16;
  variant->guards = VARIANT_KEEP(front->guards, front->guard_count);
  variant->resources = VARIANT_KEEP(front->resources, front->resource_count);
  variant->columns = VARIANT_KEEP(front->columns, front->column_count);
  variant->sources = VARIANT_KEEP(front->arrays, front->array_count);
  variant->shared = VARIANT_KEEP(front->shared.list, front->shared.count);
  variant->plan.columns = VARIANT_KEEP(front->cells, front->column_count);
  variant->plan.commands = VARIANT_KEEP(front->commands, front->command_count);
  variant->plan.asked = VARIANT_KEEP(front->asked, front->asked_count);
  variant->plan.lookups = VARIANT_KEEP(front->lookups, front->lookup_count);
  variant->plan.marks = VARIANT_KEEP(front->marks, front->mark_count);
  variant->plan.whole = VARIANT_KEEP(front->whole, front->whole_count);
  return at;
}

/* A variant with another one's findings; NULL when out of memory. */
static struct variant *copy_variant(struct memory *memory, const struct variant *from) {
  struct variant *variant = memory_resize(memory, NULL, 0, sizeof *variant);
  if (!variant) return NULL;
  size_t lists = scratch_size(&from->script);
  *variant = *from;
  variant->findings->users++;
  variant->plan.lists = variant->lists;
  variant->run = UINT64_MAX;
  variant->fresh = 0;
  variant->starved = variant->held = false;
  memset(variant->arrays, 0, sizeof variant->arrays);
  memset(variant->copied, 0, sizeof variant->copied);
  variant->lists_cells = lists ? memory_array(memory, 1, lists) : NULL;
  if (!lists == !variant->lists_cells) return variant;
  variant_free(memory, variant);
  return NULL;
}

static void variant_take_cells(struct script_cells *script, const struct front *front) {
  for (uint32_t i = 0; i < front->array_count; i++) script->arrays[i] = front->arrays[i].cells;
  script->count = front->shared.cell_count;
  script->tables = front->shared.table_count;
  uint32_t columns = front->shared.list_column_count;
  bool lists = front->program && front->shared.list_count;
  script->columns = lists && columns == 0 ? 1 : lists ? columns : 0;   /* 1: the lists' numbers */
  script->room = 1u << scratch_room_bits(front);
  script->strings = &front->world->strings;
  memcpy(script->list_columns, front->shared.list_columns, sizeof script->list_columns);
  memcpy(script->list, front->shared.cells, sizeof script->list);
}

/* Sets what a variant with a program may do. */
static void variant_judge(const struct kernel *kernel, struct variant *variant,
                          const struct front *front) {
  variant->leaves = front->leaves;
  variant->quiet = !front->index_count && !cells_any(&variant->script) &&
                   !RESULT_IS_USED(kernel->result) && front->command_count == 0 &&
                   !program_info(front->program).fails;
  for (uint32_t i = 0; i < front->guard_count; i++) {
    bool appends = front->guards[i].type == GUARD_APPENDED;
    variant->tables |= appends || front->guards[i].type == GUARD_ELEMENTS;
    variant->makes |= appends;
  }
  for (uint32_t i = 0; i < front->list_count; i++)
    variant->makes |= front->lists[i].kind == LIST_KEYS;
  for (uint32_t i = 0; i < front->shared.cell_count; i++)
    variant->makes |= front->shared.cells[i].kind == CELL_STRING;
}

/* Makes the plan of the front's program, whose lists have been kept. */
static void variant_plan(struct variant *variant, const struct front *front) {
  struct run_plan kept = variant->plan;
  uint32_t commands = front->command_count, ordered = front->orders ? commands : 0;
  struct run_plan *plan = &variant->plan;
  *plan = run_plan_of(front->program, kept.columns, kept.commands, commands - ordered);
  plan->orders = kept.commands;
  plan->order_count = ordered;
  plan->needs_room |= front->whole_count != 0;
  plan->asked = kept.asked;
  plan->asked_count = front->asked_count;
  plan->marks = kept.marks;
  plan->mark_count = front->mark_count;
  plan->first_mark = front->first_mark;
  plan->whole = kept.whole;
  plan->whole_count = front->whole_count;
  plan->lookups = kept.lookups;
}

/* Makes a variant from the front's results; NULL when out of memory. */
static struct variant *make_variant(const struct kernel *kernel, struct front *front,
                                    struct which which) {
  struct memory *memory = kernel->set->runner.memory;
  struct variant found = {.guard_count = front->guard_count,
                          .resource_count = front->resource_count,
                          .column_count = front->column_count, .which = which,
                          .version = *kernel->box->version, .array_count = front->array_count,
                          .index_count = front->index_count, .list_count = front->list_count,
                          .looks = front->looks, .unportable = front->unportable,
                          .shared_count = front->shared.count,
                          .lenient = front->shared.leave_count > 0 && !kernel->line,
                          .indexed = indexes_version(kernel->box->world)};
  size_t size = variant_keep_lists(&found, front, NULL);
  found.findings = memory_array(memory, 1, size);
  if (!found.findings) return NULL;
  *found.findings = (struct findings){1, size, NULL};
  variant_keep_lists(&found, front, (char *)found.findings);
  for (uint32_t i = 0; i < front->guard_count; i++)
    found.texts |= front->guards[i].type == GUARD_TEXT;
  variant_take_cells(&found.script, front);
  memcpy(found.indexes, front->indexes, front->index_count * sizeof *found.indexes);
  memcpy(found.lists, front->lists, front->list_count * sizeof *found.lists);
  if (front->program) {
    variant_plan(&found, front);
    variant_judge(kernel, &found, front);
  }
  struct variant *variant = copy_variant(memory, &found);
  if (variant) {
    found.findings->program = front->program;
    front->program = NULL;
  }
  variant_release_findings(memory, found.findings);
  return variant;
}

/* Puts a variant first; if there are too many, removes the least recently used ones, except those
** that this run has found, since it visits all tables after them. */
static bool enter_variant(lua_State *L, int all_anchors, struct kernel *kernel,
                          struct variant *variant) {
  struct memory *memory = kernel->box->memory;
  while (kernel->count >= VARIANTS && kernel->variants[kernel->count - 1]->run != kernel->runs) {
    struct variant *last = kernel->variants[--kernel->count];
    lua_pushnil(L);
    lua_rawseti(L, all_anchors, (lua_Integer)last->anchors);
    variant_free(kernel->set->runner.memory, last);
  }
  if (!GROW(memory, kernel->variants, kernel->capacity, kernel->count + 1ull)) return false;
  memmove(kernel->variants + 1, kernel->variants, kernel->count * sizeof *kernel->variants);
  kernel->variants[0] = variant;
  kernel->sure = NULL;
  kernel->keeps |= cells_any(&variant->script);
  kernel->count++;
  return true;
}

/* Adds a variant with the next table as its anchors, if there is a variant and memory for it. */
static bool add_variant(lua_State *L, int all_anchors, struct kernel *kernel,
                        struct variant *variant) {
  if (!variant) return false;
  variant->anchors = (uint32_t)++kernel->anchored;
  bool room = !variant->plan.program || runner_reserve(&kernel->set->runner, &variant->plan, 0);
  if (room && enter_variant(L, all_anchors, kernel, variant)) return true;
  variant_free(kernel->set->runner.memory, variant);
  return false;
}

/* Makes the front compile the function or, with a list of reasons, survey it. Returns Lua's status;
** if it is not LUA_OK, leaves what was raised. */
static int variant_try_front(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct front *front, struct which which, int reasons) {
  front->surveys = reasons != 0;
  front->world = kernel->box->world;
  front->outside = kernel_object;
  front->owner = kernel->box;
  front->query = kernel->query;
  front->elements = kernel->array ? kernel_elements(kernel) : NULL;
  front->once = kernel->once;
  front->body_line = kernel->line;
  front->locals_index = 5;
  memset(front->body_sets, 0, sizeof front->body_sets);
  memset(front->body_uses, 0, sizeof front->body_uses);
  front->present = which.present;
  front->maybe = which.maybe;
  front->starts = which.some;
  front->result = kernel->result;
  kernel_push_function(L, handle);
  lua_pushvalue(L, anchors);
  lua_pushlightuserdata(L, front);
  lua_pushlightuserdata(L, kernel);
  lua_getiuservalue(L, handle, KERNEL_LOCALS);
  if (reasons) lua_pushvalue(L, reasons);
  return try_quietly(L, kernel->box, variant_compile_protected, reasons ? 6 : 5, 0);
}

/* Records, by line, why rows are left to Lua; the reason is at the top of the stack. */
static void kernel_variant_note_leave(lua_State *L, int handle,
                                      const struct front_classes *shared) {
  int reason = lua_gettop(L);
  if (lua_getiuservalue(L, handle, KERNEL_LEAVES) != LUA_TTABLE) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, handle, KERNEL_LEAVES);
  }
  lua_pushvalue(L, reason);
  lua_rawseti(L, -2, shared->leaves[shared->leave_count - 1].line & ((1 << TAG_LINES) - 1));
  lua_settop(L, reason);
}

/* Compiles, and again if commands must be ordered one by one, or if rows must see more of what
** earlier rows write. */
static int variant_run_front(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct front *front, struct which which, int reasons) {
  front->shared.all = front->shared.ordered = kernel->box->kernels->ordered || kernel->once;
  front->shared.strict = kernel->strict || RESULT_IS_USED(kernel->result);
  int status = variant_try_front(L, handle, anchors, kernel, front, which, reasons);
  while (status == LUA_ERRRUN && front_wants_more(front)) {
    kernel->refusals++;        /* each attempt takes time, if it is refused in the end */
    struct front_classes shared = front->shared;
    bool orders = front->orders || front->wants_orders;
    shared.ordered |= front->wants_classes;
    shared.spawns |= front->wants_spawns;
    if (front->wants_strict) shared.leave_count = 0;
    shared.strict |= front->wants_strict;
    if (front->wants_leave) kernel_variant_note_leave(L, handle, &shared);
    lua_pop(L, 1);
    for (lua_Integer i = reasons ? (lua_Integer)lua_rawlen(L, reasons) : 0; i > 0; i--) {
      lua_pushnil(L);
      lua_rawseti(L, reasons, i);
    }
    front_free(front);
    front_clear(front);
    front->orders = orders;
    front->shared = shared;
    status = variant_try_front(L, handle, anchors, kernel, front, which, reasons);
  }
  if (status == LUA_OK) {
    memcpy(kernel->body_sets, front->body_sets, sizeof kernel->body_sets);
    memcpy(kernel->body_uses, front->body_uses, sizeof kernel->body_uses);
  }
  return status;
}

/* (anchors, reason): keeps the reason that is reported for a refused variant. */
static int kernel_variant_keep_reason(lua_State *L) {
  lua_rawseti(L, 1, REFUSAL);
  return 0;
}

/* Records the refusal, with its reason at the top of the stack; it is valid while everything that
** the front has read is unchanged. False when out of memory. */
static bool variant_add_refusal(lua_State *L, int anchors, struct kernel *kernel,
                                struct front *front, struct which which) {
  int top = lua_gettop(L);
  bool begun = lua_rawgeti(L, anchors, (lua_Integer)kernel->anchored + 1) == LUA_TTABLE;
  if (!begun || !front_guard_refusal(front)) {
    lua_settop(L, top);
    return true;
  }
  lua_pushvalue(L, top);
  bool kept = try_quietly(L, kernel->box, kernel_variant_keep_reason, 2, 0) == LUA_OK;
  lua_settop(L, top);
  return kept && add_variant(L, anchors, kernel, make_variant(kernel, front, which));
}

#define MOST_REFUSALS 4   /* of a function in a row; after that it is compiled only now and then */

/* The collector is stopped meanwhile: nothing may close the world, or change its components, while
** the front reads them. */
static bool kernel_variant_compile(lua_State *L, int handle, int anchors, struct kernel *kernel,
                                   struct which which) {
  struct world_box *box = kernel->box;
  struct memory *memory = box->memory;
  struct front *front = memory_resize(memory, NULL, 0, sizeof *front);
  if (!front) raise_memory(L);
  front_clear(front);
  int status = variant_run_front(L, handle, anchors, kernel, front, which, 0);
  kernel->breaks_promise = front->breaks_promise;
  kernel->hopeless |= front->hopeless && status == LUA_ERRRUN;
  if (status == LUA_ERRRUN && !front->fleeting && ++kernel->refusals > MOST_REFUSALS)
    kernel_tire(kernel);
  bool made = true;
  if (status == LUA_OK)
    made = add_variant(L, anchors, kernel, make_variant(kernel, front, which));
  else if (status != LUA_ERRMEM)
    made = variant_add_refusal(L, anchors, kernel, front, which);
  kernel->compilations += status == LUA_OK;
  front_free(front);
  memory_free(memory, front, sizeof *front);
  if (!made) raise_memory(L);
  if (status == LUA_ERRMEM) lua_error(L);
  return status == LUA_OK;
}

void variant_push_reasons(lua_State *L, int handle) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  lua_newtable(L);
  int reasons = lua_gettop(L);
  /* The locals around a loop are known only while the loop runs. */
  if (kernel->denied && !kernel->query->broken && !kernel->line) {
    struct memory *memory = kernel->box->memory;
    struct front *front = memory_resize(memory, NULL, 0, sizeof *front);
    if (!front) raise_memory(L);
    front_clear(front);
    lua_getiuservalue(L, handle, KERNEL_ANCHORS);
    int status = variant_run_front(L, handle, lua_gettop(L), kernel, front, kernel->denied_for,
                                   reasons);
    front_free(front);
    memory_free(memory, front, sizeof *front);
    if (status == LUA_ERRMEM) lua_error(L);
    if (status != LUA_OK) survey_append(L, reasons);
    lua_settop(L, reasons);
  }
  if (lua_rawlen(L, reasons) > 0) return;
  lua_getiuservalue(L, handle, KERNEL_REASON);
  lua_rawseti(L, reasons, 1);
}

struct variant *variant_need(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct which which) {
  struct variant *variant = kernel_variant_find(L, anchors, kernel, which);
  if (variant) kernel->refusals = 0;
  kernel->denied = !variant || !variant->plan.program;
  kernel->denied_for = which;
  if (variant && !variant->plan.program) {
    lua_rawgeti(L, anchors, (lua_Integer)variant->anchors);
    lua_rawgeti(L, -1, REFUSAL);
    lua_remove(L, -2);
    return NULL;
  }
  if (variant) return variant;
  if (!kernel_variant_compile(L, handle, anchors, kernel, which)) return NULL;
  kernel->denied = false;
  variant = kernel_variant_find(L, anchors, kernel, which);
  if (variant) return variant;
  if (++kernel->refusals > MOST_REFUSALS) kernel_tire(kernel);
  lua_pushliteral(L, "an outside value that it reads changed during compilation, or is an integer "
                     "beyond 2^53 where it may also be a float");
  return NULL;
}

/* ---- sharing ---- */

/* Copies a table of anchors to the next place in `to`, with another function first. */
static void variant_copy_anchors(lua_State *L, int from, int to, int function,
                                 const struct kernel *kernel) {
  new_weak_table(L, "v");
  int copy = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, from); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, copy);
  }
  lua_pushvalue(L, function);
  lua_rawseti(L, copy, THE_FUNCTION);
  lua_rawseti(L, to, (lua_Integer)kernel->anchored + 1);
}

void variants_share(lua_State *L, int handle, int from, int function) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  const struct kernel *known = ((struct kernel_box *)lua_touserdata(L, from))->kernel;
  if (!kernel || !known || kernel->count) return;
  assert(kernel->result == known->result && kernel->filtered == known->filtered);
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  lua_getiuservalue(L, from, KERNEL_ANCHORS);
  int to = lua_gettop(L) - 1;
  for (uint32_t i = known->count; i-- > 0;) {
    if (!variant_is_current(known, known->variants[i])) continue;
    lua_rawgeti(L, to + 1, (lua_Integer)known->variants[i]->anchors);
    variant_copy_anchors(L, to + 2, to, function, kernel);
    lua_settop(L, to + 1);
    struct variant *copy = copy_variant(kernel->set->runner.memory, known->variants[i]);
    if (!add_variant(L, to, kernel, copy)) return;
  }
  kernel->compilations = known->compilations;
  kernel->hopeless = known->hopeless;
  lua_settop(L, to - 1);
}

/* Pushes a table's name in the function, with the keys that are read in tables inside it. */
static void variant_push_name(lua_State *L, int anchors, const struct guard *guard) {
  path_tell(L, anchors, &guard->path);
  const char *inner = guard->within || guard->inner || guard->stride ? "[]" : "";
  lua_pushfstring(L, "%s%s%s", guard->measured ? "#" : "", lua_tostring(L, -1), inner);
  lua_remove(L, -2);
  if (guard->within) path_tell_key(L, anchors, guard->within);
  if (guard->inner && !guard->stride) path_tell_key(L, anchors, guard->inner);
  if (!guard->stride) return;
  lua_pushfstring(L, "%s[]", lua_tostring(L, -1));
  lua_remove(L, -2);
  if (guard->field) path_tell_key(L, anchors, guard->field);
}

void variant_push_tables(lua_State *L, int handle, const struct variant *variant) {
  lua_newtable(L);
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  lua_rawgeti(L, -1, (lua_Integer)variant->anchors);
  int anchors = lua_gettop(L);
  for (uint32_t i = 0; i < variant->guard_count; i++) {
    const struct guard *guard = &variant->guards[i];
    if (guard->type != GUARD_ELEMENTS || guard->uniform < 0) continue;
    uint64_t count = element_count(guard, &variant->arrays[guard->uniform]);
    uint64_t bytes = count * element_size(element_kind_of(guard->elements));
    lua_createtable(L, 0, 3);
    variant_push_name(L, anchors, guard);
    lua_setfield(L, -2, "name");
    set_integer(L, "elements", count);
    set_integer(L, "bytes", bytes);
    lua_rawseti(L, anchors - 2, (lua_Integer)lua_rawlen(L, anchors - 2) + 1);
  }
  lua_settop(L, anchors - 2);
}

void variant_append_cells(lua_State *L, int handle, const struct variant *variant, bool writes) {
  int list = lua_gettop(L);
  uint64_t told = 0;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  lua_rawgeti(L, -1, (lua_Integer)variant->anchors);
  for (uint32_t i = 0; i < variant->guard_count; i++) {
    const struct guard *guard = &variant->guards[i];
    uint64_t bit = guard->type == GUARD_CELL ? UINT64_C(1) << guard->uniform : 0;
    bool told_now = bit && !(told & bit) && (writes || variant->script.list[guard->uniform].read);
    if (!told_now && !guard->stored) continue;
    told |= bit;
    path_tell(L, list + 2, &guard->path);
    lua_pushfstring(L, guard->stored ? "%s[]" : guard->path.keys ? "%s" : "upvalue %s",
                    lua_tostring(L, -1));
    lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
    lua_settop(L, list + 2);
  }
  lua_settop(L, list);
}
