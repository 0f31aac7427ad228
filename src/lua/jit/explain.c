#include <lauxlib.h>

#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/schedule/parallel.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "kernel/program.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "runner/run.h"

/* Pushes a name: "Position.x"; "Heat" for an array; "Cards.hand" for an array field, whose elements
** kernels treat as one. */
static void explain_push_field(lua_State *L, const struct component *component, uint32_t leaf) {
  lua_pushstring(L, component->name);
  if (component->length) return;
  const char *name = component->leaves[component_first_leaf(component, leaf)].name;
  size_t size = strlen(name);
  lua_pushliteral(L, ".");
  lua_pushlstring(L, name, name[size - 1] == ']' ? size - strlen("[1]") : size);
  lua_concat(L, 3);
}

/* Appends the string at the top of the stack to the list below it, unless it is already there. */
static void explain_append_once(lua_State *L) {
  lua_Integer count = (lua_Integer)lua_rawlen(L, -2);
  bool known = false;
  for (lua_Integer i = 1; i <= count && !known; i++) {
    lua_rawgeti(L, -2, i);
    known = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 1);
  }
  if (known)
    lua_pop(L, 1);
  else
    lua_rawseti(L, -2, count + 1);
}

/* Sets a list of what a system reads, or writes: "Position", "Velocity.x". */
static void explain_set_access(lua_State *L, const char *key, const ecs_query *query, bool writes) {
  lua_newtable(L);
  for (uint32_t i = 0; query && !query->broken && i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    if (term->slot == NONE || (writes && term->read_only)) continue;
    if (!term_has_cells(term, term->component)) continue;
    if (term->leaf == NONE)
      lua_pushstring(L, term->component->name);
    else
      explain_push_field(L, term->component, term->leaf);
    append_item(L);
  }
  lua_setfield(L, -2, key);
}

/* Sets a list of the query's terms about changes, if any: "Position:changed". */
static void explain_set_news(lua_State *L, const ecs_query *query) {
  if (!query || query->broken || !query->terms.changes) return;
  lua_newtable(L);
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    if (!term->news) continue;
    lua_pushfstring(L, "%s:%s", term->component->name,
                    term->news == TERM_ADDED ? "added" : "changed");
    append_item(L);
  }
  lua_setfield(L, -2, "changed");
}

/* ---- kernels ---- */

/* Appends what the function adds, sets or removes: components and fields, components of spawns
** without values, and emitted events. */
static void explain_add_commanded(lua_State *L, const ecs_world *world,
                                  const struct run_command *commands, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const struct run_command *command = &commands[i];
    if (command->action == RUN_DESPAWN || command->action == RUN_SPAWN) continue;
    const struct component *component = component_of(world, command->component);
    if (!component) continue;
    bool of_resource = command->action == RUN_STORE && component->length == 0;
    bool sets = command->action == RUN_SET && command->leaf != NONE;
    if (of_resource || (sets && command->whom != SPAWNED_ALL))
      explain_push_field(L, component, command->leaf);
    else
      lua_pushstring(L, component->name);
    explain_append_once(L);
  }
}

static void list_fields(lua_State *L, int handle, const struct variant *variant, const char *key,
                        bool writes) {
  const ecs_world *world = ((struct kernel_box *)lua_touserdata(L, handle))->box->world;
  lua_newtable(L);
  for (uint32_t i = 0; i < variant->column_count; i++) {
    const struct front_column *column = &variant->columns[i];
    bool wanted = column->component && (writes ? column->written || column->folded : column->read);
    if (!wanted) continue;
    explain_push_field(L, column->component, column->component_leaf);
    explain_append_once(L);
  }
  /* Adds fields of other entities that are looked up; arrays, and fields of resources. */
  for (uint32_t i = 0; !writes && i < variant->plan.program->lookup_count; i++) {
    const struct run_lookup *lookup = &variant->plan.lookups[i];
    if (lookup->kind != LOOKUP_CELL && lookup->kind != LOOKUP_AT) continue;
    explain_push_field(L, component_of(world, lookup->component), lookup->leaf);
    explain_append_once(L);
  }
  for (uint32_t i = 0; writes && i < variant->array_count; i++) {
    const struct front_array *array = &variant->sources[i];
    if (!array->id || !array->written) continue;
    explain_push_field(L, component_of(world, array->id), array->leaf);
    explain_append_once(L);
  }
  if (writes) explain_add_commanded(L, world, variant->plan.commands, variant->plan.command_count);
  if (writes) explain_add_commanded(L, world, variant->plan.orders, variant->plan.order_count);
  for (uint32_t i = 0; writes && i < variant->shared_count; i++) {
    const struct front_class *shared = &variant->shared[i];
    const struct component *component = component_of(world, shared->component);
    if (!component || component->length || component->resource || !shared->write_line) continue;
    explain_push_field(L, component, shared->leaf);
    explain_append_once(L);
  }
  variant_append_cells(L, handle, variant, writes);
  lua_setfield(L, -2, key);
}

static bool explain_has_slot(const uint32_t *slots, uint32_t count, uint32_t slot) {
  uint32_t i = 0;
  while (i < count && slots[i] != slot) i++;
  return i < count;
}

/* Sets a list of the components whose writes it marks, if there are any. */
static void explain_set_marks(lua_State *L, const struct kernel *kernel,
                              const struct variant *variant) {
  const struct query_terms *terms = &kernel->query->terms;
  const struct run_plan *plan = &variant->plan;
  if (plan->mark_count + plan->whole_count == 0) return;
  lua_newtable(L);
  for (uint32_t i = 0; i < terms->count; i++) {
    uint32_t slot = terms->terms[i].slot;
    if (!explain_has_slot(plan->whole, plan->whole_count, slot) &&
        !explain_has_slot(plan->marks, plan->mark_count, slot))
      continue;
    append_text(L, terms->terms[i].component->name);
  }
  lua_setfield(L, -2, "marks");
}

/* Adds to the table at the top how many instructions run row by row, and why: what rows both write
** and read of each other, with the lines. */
static void explain_set_order(lua_State *L, const ecs_world *world, const struct variant *variant) {
  k_info info = program_info(variant->plan.program);
  if (info.ordered == 0) return;
  lua_pushfstring(L, "%d of %d instructions", (int)info.ordered, (int)info.insns);
  lua_setfield(L, -2, "ordered");
  lua_newtable(L);
  for (uint32_t i = 0; i < variant->shared_count; i++) {
    const struct front_class *shared = &variant->shared[i];
    const struct component *component = component_of(world, shared->component);
    if (!component) continue;
    lua_createtable(L, 0, 3);
    explain_push_field(L, component, shared->leaf);
    lua_setfield(L, -2, "name");
    set_integer(L, "written", shared->write_line);
    set_integer(L, "read", shared->read_line);
    append_item(L);
  }
  lua_setfield(L, -2, "order");
}

/* Sets a text, if given, as the only reason in the table at the top. */
static void explain_set_reason(lua_State *L, const char *reason) {
  if (!reason) return;
  set_text(L, "reason", reason);
  lua_createtable(L, 1, 0);
  append_text(L, reason);
  lua_setfield(L, -2, "reasons");
}

/* Why a row fails. */
static const char *explain_why(k_failure why) {
  static const char *const needs[] = {
    [NEEDS_ROOM] = "a list or table that it creates is full, or would have a gap",
    [NEEDS_KEY] = "it adds a key to a table, or removes one, as only Lua can",
    [NEEDS_LUA] = "only Lua can do it",
    [NEEDS_NAME] = "an enum has no such name",
    [NEEDS_LIVE] = "an entity that it uses is null or dead", };
  uint32_t need = why.tag >> TAG_LINES;
  return need != NEEDS_VALUE ? needs[need] : run_why(why.error);
}

/* Pushes why a row fell back to the function: what was refused at its line, or how it failed; nil
** if not known. */
static void explain_push_cause(lua_State *L, int handle, k_failure why) {
  int top = lua_gettop(L), line = (int)(why.tag & ((1u << TAG_LINES) - 1));
  bool refused = why.error == KE_NIL && why.tag >> TAG_LINES == NEEDS_LUA &&
                 lua_getiuservalue(L, handle, KERNEL_LEAVES) == LUA_TTABLE &&
                 lua_rawgeti(L, -1, line) == LUA_TSTRING;
  if (!refused && why.error != KE_NONE) {
    lua_Debug function;
    kernel_push_function(L, handle);
    lua_getinfo(L, ">S", &function);
    bool own = line >= function.linedefined && line <= function.lastlinedefined;
    if (line)
      lua_pushfstring(L, "%s%d: ", own ? lua_pushfstring(L, "%s:", function.short_src) : "line ",
                      line);
    else
      lua_pushliteral(L, "");   /* of functions without lines */
    lua_pushfstring(L, "%s%s", lua_tostring(L, -1), explain_why(why));
  } else if (!refused) {
    lua_pushnil(L);
  }
  lua_insert(L, top + 1);
  lua_settop(L, top + 1);
}

/* Sets the reason why it runs in Lua although there is a program. */
static void explain_set_tired(lua_State *L, int handle, const struct kernel *kernel) {
  int top = lua_gettop(L);
  explain_push_cause(L, handle, kernel->why_tired);
  const char *why = lua_isnil(L, -1) ? "they fail" : lua_tostring(L, -1);
  lua_pushfstring(L, "Lua does its rows, since too many were left to it: %s", why);
  lua_pushvalue(L, top);
  explain_set_reason(L, lua_tostring(L, -2));
  lua_settop(L, top);
}

/* Sets what is known about the current program of the kernel at an index. */
static void explain_set_program(lua_State *L, int handle, const struct kernel *kernel) {
  const struct variant *variant = kernel->variants[0];
  list_fields(L, handle, variant, "reads", false);
  list_fields(L, handle, variant, "writes", true);
  variant_push_tables(L, handle, variant);
  lua_setfield(L, -2, "tables");
  lua_newtable(L);
  variant_append_cells(L, handle, variant, true);
  lua_setfield(L, -2, "cells");
  if (variant->index_count) lua_createtable(L, (int)variant->index_count, 0);
  for (uint32_t i = 0; i < variant->index_count; i++)
    append_text(L, index_name(variant->indexes[i]));
  if (variant->index_count) lua_setfield(L, -2, "indexes");
  explain_set_marks(L, kernel, variant);
  size_t size = program_text(variant->plan.program, NULL, 0) + 1;
  char *text = lua_newuserdatauv(L, size, 0);
  program_text(variant->plan.program, text, size);
  lua_pushstring(L, text);
  lua_remove(L, -2);
  lua_setfield(L, -2, "program");
  explain_set_order(L, kernel->box->world, variant);
  const char *why = NULL;
  set_integer(L, "threads", run_width(&variant->plan, kernel->query, &why));
  if (why) apart_push(L, why, kernel->query);
  if (why) lua_setfield(L, -2, "alone");
  if (variant->unportable) {   /* it uses functions of the C library */
    set_boolean(L, "portable", false);
    library_push_portable(L, variant->unportable);
    lua_setfield(L, -2, "instead");
  }
  if (kernel->left) {
    lua_createtable(L, 0, 2);
    set_integer(L, "rows", kernel->left);
    explain_push_cause(L, handle, kernel->why_left);
    lua_setfield(L, -2, "why");
    lua_setfield(L, -2, "left");
  }
}

/* Adds what is known about the kernel at one index to the table at another: reads, writes, program,
** reason, reasons, compilations. */
static void explain_kernel(lua_State *L, int handle, int table) {
  struct kernel_box *box = lua_touserdata(L, handle);
  const struct kernel *kernel = box->kernel;
  if (!kernel) return;
  lua_pushvalue(L, table);
  if (system_kernel_is_current(kernel) && !kernel->refused)
    explain_set_program(L, handle, kernel);
  /* Also while there is no program, as after a load, since none is made for it. */
  if (kernel_is_tired(kernel) && !kernel->refused) explain_set_tired(L, handle, kernel);
  if (kernel->refused) {
    variant_push_reasons(L, handle);
    lua_rawgeti(L, -1, 1);
    lua_setfield(L, -3, "reason");
    lua_setfield(L, -2, "reasons");
  }
  set_integer(L, "compilations", kernel->compilations);
  lua_pop(L, 1);
}

#define KERNELS_OFF "kernels are off (kernels = false, or ECS_KERNELS=0)"

/* Why some rows run in Lua although there is a program; NULL if none do. Rows that pass a predicate
** come in contiguous runs of a table, in which rows may have different terms. */
static const char *explain_why_rows_fall_back(const struct kernel *kernel) {
  const ecs_query *query = kernel->query;
  bool asks = kernel->result == RESULT_TRUTH || kernel->filtered;
  for (uint32_t i = 0; asks && i < query_reach(query); i++)
    if (query_rows_varying(&query->terms, query_table(query, i)))
      return "an optional term is switched off in some rows of its tables, and q:where(fn) tests "
             "those in Lua: put the condition into the function of q:each";
  return NULL;
}

/* Replaces the handle at the top of the stack by its explanation. */
static void explain_form(lua_State *L) {
  int handle = lua_gettop(L);
  const struct kernel_box *box = lua_touserdata(L, handle);
  const struct kernel *kernel = box->kernel;
  bool on = kernel->box->kernels->on, current = system_kernel_is_current(kernel);
  /* Compiles a function that has not run yet, so that it can be explained. */
  if (on && !kernel->line && !kernel->refused && !current) kernel_ready(L, handle, true, true);
  bool compiled = on && !kernel->refused && (current || !kernel->line);
  lua_settop(L, handle);
  lua_newtable(L);
  const char *apart = compiled ? explain_why_rows_fall_back(kernel) : NULL;
  bool fast = compiled && !apart && !kernel_is_tired(kernel);
  set_text(L, "tier", fast ? "vector" : "lua");
  set_text(L, "form", box->form);
  set_text(L, "query", kernel->query->text);
  if (kernel->line) set_integer(L, "line", kernel->line);
  explain_set_access(L, "reads", kernel->query, false);
  explain_set_access(L, "writes", kernel->query, true);
  explain_set_news(L, kernel->query);
  explain_kernel(L, handle, handle + 1);
  explain_set_reason(L, on ? apart : KERNELS_OFF);
  lua_replace(L, handle);
}

/* The stack of explain. */
enum { AT_WORLD = 1, AT_SYSTEM, AT_KERNEL, AT_TABLE };

/* Sets the reason why the system runs in Lua, or its programs. */
static void explain_script(lua_State *L, const struct system_box *system) {
  if (!lua_isnil(L, AT_KERNEL)) {
    explain_kernel(L, AT_KERNEL, AT_TABLE);
    return;
  }
  bool foreign = system->box != lua_touserdata(L, AT_WORLD);
  if (foreign && system->compiled) return;
  explain_set_reason(L, foreign ? "it belongs to another Lua state: ask there"
                        : system->form == FORM_OBSERVE
                            ? "observers are called for one match at a time"
                        : !system->box->kernels->on ? KERNELS_OFF
                                                    : "it is declared with compile = false");
}

/* Inserts the explanation at the top into the list at an index, before those of later lines. */
static void explain_add_loop(lua_State *L, int list) {
  lua_Integer at = (lua_Integer)lua_rawlen(L, list) + 1;
  lua_getfield(L, -1, "line");
  lua_Integer line = lua_tointeger(L, -1);
  lua_pop(L, 1);
  for (bool later = true; later && at > 1; at -= later) {
    lua_rawgeti(L, list, at - 1);
    lua_getfield(L, -1, "line");
    later = lua_tointeger(L, -1) > line;
    lua_pop(L, 1);
    if (later)
      lua_rawseti(L, list, at);
    else
      lua_pop(L, 1);
  }
  lua_rawseti(L, list, at);
}

/* Sets the reason of a run, from the list of its for loops over queries at an index: that of the
** first loop that runs in Lua; none if programs do its rows. */
static void explain_set_run_reason(lua_State *L, const struct system_box *system, int list) {
  bool compiled = loops_are_compiled(system);
  lua_pushnil(L);
  for (lua_Integer i = 1; !compiled && lua_isnil(L, -1) && lua_rawgeti(L, list, i); i++) {
    if (lua_isnil(L, -1)) break;
    lua_getfield(L, -1, "reason");
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  lua_settop(L, list + 1);
  if (!compiled && lua_isnil(L, -1)) return;
  lua_pushvalue(L, -1);
  lua_setfield(L, AT_TABLE, "reason");
  if (!compiled) {
    lua_newtable(L);
    lua_insert(L, -2);
    lua_rawseti(L, -2, 1);
  }
  lua_setfield(L, AT_TABLE, "reasons");
}

/* Sets what is known about the for loops over queries in a `run`; its function is at the top. */
static void explain_set_loops(lua_State *L, const struct system_box *system) {
  int function = lua_gettop(L), list = function + 2;
  kernels_of_function(L, system->box, AT_WORLD, function);
  lua_newtable(L);
  for (lua_Integer i = 1; lua_rawgeti(L, function + 1, i) != LUA_TNIL; i++) {
    const struct kernel_box *box = lua_touserdata(L, -1);
    if (box->kernel && box->kernel->line) {
      explain_form(L);
      explain_add_loop(L, list);
    } else {
      lua_pop(L, 1);
    }
  }
  lua_settop(L, list);
  if (lua_rawlen(L, list) == 0) return;
  explain_set_run_reason(L, system, list);
  lua_settop(L, list);
  lua_setfield(L, AT_TABLE, "loops");
}

/* explain(world, system): the table that world:explain returns. */
static int explain_named(lua_State *L) {
  const ecs_system *system = lua_touserdata(L, AT_SYSTEM);
  struct system_box *script = system_script(system);
  const ecs_query *query = script && script->query ? script->query->query : system->query;
  lua_settop(L, AT_SYSTEM);
  if (script) system_kernel_push(L, AT_WORLD, script);
  lua_settop(L, AT_KERNEL);
  lua_newtable(L);
  set_text(L, "tier", system_kernel_tier(system));
  explain_set_access(L, "reads", query, false);
  explain_set_access(L, "writes", query, true);
  explain_set_news(L, query);
  if (!script) return 1;
  explain_script(L, script);
  lua_settop(L, AT_TABLE);
  if (script->form != FORM_RUN || script->box != lua_touserdata(L, AT_WORLD)) return 1;
  need_stack(L, 40);
  lua_getiuservalue(L, AT_WORLD, WORLD_REFS);
  lua_rawgetp(L, -1, script);
  lua_getiuservalue(L, -1, SYSTEM_FUNCTION);
  explain_set_loops(L, script);
  lua_settop(L, AT_TABLE);
  return 1;
}

/* ---- functions ---- */

/* explain_function(world, function): explains the form to which it was last passed, with other
** forms in `also`; nil if there is none. */
static int explain_function(lua_State *L) {
  need_stack(L, 40);
  kernels_of_function(L, lua_touserdata(L, AT_WORLD), AT_WORLD, 2);
  lua_Integer count = (lua_Integer)lua_rawlen(L, 3);
  if (lua_rawgeti(L, 3, 1) == LUA_TNIL) return 1;
  explain_form(L);
  lua_newtable(L);
  for (lua_Integer i = 2; i <= count; i++) {
    lua_rawgeti(L, 3, i);
    explain_form(L);
    lua_rawseti(L, 5, i - 1);
  }
  lua_setfield(L, 4, "also");
  return 1;
}

/* ---- explain update ---- */

/* The systems in the list at the top of the stack. */
struct listed {
  struct side sides[BESIDE_MOST];
  uint32_t count;
};

static void explain_push_clash(lua_State *L, const ecs_world *world, enum clash clash,
                               const char *earlier, const struct access *at) {
  if (clash == CLASH_ORDER || clash == CLASH_OWNER) {
    lua_pushfstring(L, "it %s '%s'", clash == CLASH_ORDER ? "comes after"
                    : "belongs to another Lua state than", earlier);
    return;
  }
  assert(clash > CLASH_OWNER && clash <= CLASH_BOTH);
  const struct component *component = component_of(world, at->component);
  explain_push_field(L, component, at->leaf);
  const char *what = lua_tostring(L, -1);
  if (clash == CLASH_BOTH)
    lua_pushfstring(L, "it writes %s, and so does '%s'", what, earlier);
  else
    lua_pushfstring(L, "it %s %s, which '%s' %s", clash == CLASH_READ ? "reads" : "writes", what,
                    earlier, clash == CLASH_READ ? "writes" : "reads");
  lua_remove(L, -2);
}

/* Pushes why a system cannot join a batch; if it can, pushes nothing and returns false. */
static bool explain_push_why(lua_State *L, const ecs_world *world, const struct listed *batch,
                             const struct side *side) {
  if (side->prospect.alone) {
    apart_push(L, side->prospect.alone, side->system->reads);
    return true;
  }
  for (uint32_t i = 0; i < batch->count; i++) {
    const struct side *earlier = &batch->sides[i];
    struct access at;
    if (earlier->prospect.alone) {
      apart_push(L, earlier->prospect.alone, earlier->system->reads);
      lua_pushfstring(L, "'%s' runs alone: %s", earlier->system->name, lua_tostring(L, -1));
      lua_remove(L, -2);
      return true;
    }
    enum clash clash = beside_clash(world, earlier, side, &at);
    if (clash == CLASH_NONE) continue;
    explain_push_clash(L, world, clash, earlier->system->name, &at);
    return true;
  }
  if (batch->count == BESIDE_MOST) lua_pushliteral(L, "no more systems can run in parallel");
  return batch->count == BESIDE_MOST;
}

/* Completes the last list in a table of lists: adds how many of its systems ran in parallel in
** their last run. */
static void explain_end_list(lua_State *L, const ecs_world *world, int lists,
                             const struct listed *batch) {
  size_t together = 0;
  const char *apart = "there was too little work for threads, or some of them were not due";
  for (uint32_t i = 0; i < batch->count; i++) {
    const ecs_system *system = batch->sides[i].system;
    together += system->abreast > 1;
    if (system->runs < 2) apart = "some of them have not run before";
  }
  if (!world->pool) apart = "the world has one thread";
  if (batch->count < 2) return;
  lua_rawgeti(L, lists, (lua_Integer)lua_rawlen(L, lists));
  set_integer(L, "together", together);
  if (together < 2) set_text(L, "apart", apart);
  lua_pop(L, 1);
}

/* Adds a system to the last of the lists in the table at `lists`, or to a new one. */
static void explain_add_system(lua_State *L, const ecs_world *world, int lists,
                               struct listed *batch, const ecs_system *system) {
  struct side side = {.system = system};
  beside_look(world, system, &side.prospect);
  bool apart = explain_push_why(L, world, batch, &side);
  if (apart || batch->count == 0) {
    explain_end_list(L, world, lists, batch);
    batch->count = 0;
    lua_newtable(L);
    if (apart) {
      lua_insert(L, -2);
      lua_setfield(L, -2, "why");
    }
    lua_pushvalue(L, -1);
    lua_rawseti(L, lists, (lua_Integer)lua_rawlen(L, lists) + 1);
  } else {
    lua_rawgeti(L, lists, (lua_Integer)lua_rawlen(L, lists));
  }
  batch->sides[batch->count++] = side;
  lua_pushstring(L, system->name);
  lua_rawseti(L, -2, (lua_Integer)batch->count);
  lua_settop(L, lists);
}

/* explain(world): a table that has, by phase, lists of systems that can run in parallel, with the
** reason why each list must follow the one before. It covers the systems that are on, in order, as
** if all of them were due. */
static int explain_update_phases(lua_State *L) {
  const struct world_box *box = lua_touserdata(L, 1);
  const ecs_world *world = box->world;
  struct schedule *schedule = world->schedule;
  need_stack(L, 40);
  for (uint32_t i = 0; i < schedule->system_count; i++) {   /* finds the next run's programs */
    struct system_box *script = system_script(schedule->systems[i]);
    if (script) system_kernel_push(L, 1, script);
    lua_settop(L, 1);
  }
  schedule_count(schedule);
  lua_createtable(L, 0, (int)schedule->phase_count);
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    const struct phase *phase = schedule->phases[i];
    if (!phase->enabled) continue;
    struct listed batch = {.count = 0};
    lua_newtable(L);
    for (uint32_t at = phase->first; at < phase->first + phase->count; at++) {
      const ecs_system *system = schedule->systems[at];
      if (system->enabled && !system->parked)
        explain_add_system(L, world, lua_gettop(L), &batch, system);
    }
    explain_end_list(L, world, lua_gettop(L), &batch);
    lua_setfield(L, -2, phase->name);
  }
  return 1;
}

/* ---- world:explain ---- */

int world_explain(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  size_t size;
  if (lua_isfunction(L, 2)) {
    lua_settop(L, 2);
    call_held(L, explain_function, 2, 1);
    if (!lua_isnil(L, -1)) return 1;
    return luaL_argerror(L, 2, "the function has not been passed to a system, or to each, map, "
                               "run, where, sum, min or max of a query of this world; the key "
                               "function of an index is known once it is compiled");
  }
  const char *name = check_text(L, 2, &size);
  ecs_system *system = schedule_system(box->world, name, size);
  if (!system && index_explain(L, box->world, 2)) return 1;
  bool update = !system && strcmp(name, "update") == 0;
  if (!system && !update)
    return raise_argument(L, box->world, schedule_unknown(box->world, name, false), 2);
  lua_pushvalue(L, 1);
  if (system) lua_pushlightuserdata(L, system);
  call_held(L, system ? explain_named : explain_update_phases, system ? 2 : 1, 1);
  return 1;
}
