#include "lua/loop/loop.h"

#include "core/base/column.h"
#include "core/command/command.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/bind/version.h"
#include "lua/jit/kernel.h"
#include "lua/loop/view.h"

#define TRIES 100            /* attempts to make a loop while finalizers use the world */

const char kind_loop = 0;

/* The handle that a for loop has: closing or collecting it ends the loop. */
struct handle_box {
  struct head head;
  struct loop_box *loop;
};

#define HANDLE_LOOP 1        /* its user value */

/* ---- the open loops of a world ---------------------------------------------------- */

/* Ends the loop's use: its views are stale from here on. */
static void unlink_loop(struct loop_box *loop) {
  struct world_box *box = loop->box;
  struct loop_box *next = loop->next;
  assert(loop->open && box->loops->open);
  if (UNLIKELY(loop->previous))
    loop->previous->next = next;
  else
    box->loops->open = next;
  if (UNLIKELY(next)) next->previous = loop->previous;
  loop->previous = loop->next = NULL;
  loop->open = false;
  if (UNLIKELY(loop->walk)) walk_end(loop->walk);
  if (UNLIKELY(loop->news)) changes_close(loop->query->query);
  loop->news = false;
  loop->row = ROW_STALE;
  box->calls++;
  /* A system may reuse its loop, but views that scripts have kept stay stale. */
  bool drops = loop->form == LOOP_SYSTEM && loop->view_count;
  for (uint32_t i = 0; drops && i < loop->slot_count; i++) {
    struct view_box *view = loop->slots[i].view;
    if (view) view->row = &view->own_row;
    loop->slots[i].view = NULL;
  }
  if (loop->form != LOOP_FOR) return;
  loop->next = box->loops->ended;
  box->loops->ended = loop;
}

/* Releases the anchors of for loops that have ended. The loop at an index is one of the world's. */
static void loop_sweep(lua_State *L, struct world_box *box, int index) {
  if (!box->loops->ended) return;
  lua_getiuservalue(L, index, LOOP_WORLD);
  lua_getiuservalue(L, -1, WORLD_REFS);
  while (box->loops->ended) {
    struct loop_box *loop = box->loops->ended;
    box->loops->ended = loop->next;
    lua_pushnil(L);
    lua_rawsetp(L, -2, loop);
  }
  lua_pop(L, 2);
}

void loop_end(struct loop_box *loop) {
  loop->done = true;
  if (LIKELY(loop->open)) unlink_loop(loop);
}

void loop_cancel(struct loop_box *loop) {
  if (!loop->open) return;
  ecs_world *world = loop->query->query->world;
  unlink_loop(loop);
  if (loop->scope == NONE) return;
  scope_cancel(world, loop->scope);
  input_sweep(loop->box);
}

/* Ends a loop where errors cannot be raised: changes that cannot be applied are dropped. */
static void loop_finish(struct loop_box *loop, bool keep) {
  if (keep && loop->scope != NONE &&
      !scope_stays_open(scope_commit(loop->query->query->world, loop->scope)))
    loop->scope = NONE;
  if (keep && loop->scope == NONE)
    unlink_loop(loop);
  else
    loop_cancel(loop);
}

void loops_end_system(struct world_box *box, bool keep) {
  while (box->loops->open) loop_finish(box->loops->open, keep);
}

void loops_end_deferred(struct world_box *box, bool keep) {
  uint32_t scope = scope_deferred(box->world);
  if (scope == NONE) return;
  while (box->loops->open && box->loops->open->scope != NONE && box->loops->open->scope > scope)
    loop_finish(box->loops->open, keep);
}

void loops_end_query(const struct query_box *query) {
  for (struct loop_box *loop = query->box->loops->open, *next; loop; loop = next) {
    next = loop->next;
    if (loop->query == query) loop_finish(loop, true);
  }
}

ecs_status loops_end(struct world_box *box) {
  if (!box->loops->open || world_not_busy(box->world, "this") != ECS_OK) return ECS_OK;
  while (box->loops->open) {
    struct loop_box *loop = box->loops->open;
    ecs_status status =
        loop->scope == NONE ? ECS_OK : scope_commit(box->world, loop->scope);
    if (status == ECS_ENOMEM) return status;
    if (scope_stays_open(status))
      loop_cancel(loop);
    else
      unlink_loop(loop);
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

void loops_finish(lua_State *L, struct world_box *box) {
  ecs_status status;
  RETRY(L, box, status, loops_end(box));
  if (status != ECS_OK) observed_raise(L, box, 1, status);
  observed_loops(L, box);
}

int loop_gone(lua_State *L, const struct loop_box *loop) {
  if (!loop->box->world) return luaL_error(L, "the world is closed");
  return luaL_error(L, "the loop has ended: update, run, commit, cancel or close ends open loops");
}

int refuse_target(lua_State *L, const struct component *relation) {
  return raise_error(L, "field '%s.target' is read-only: write world:add(entity, \"%s\", target)",
                     relation->name, relation->name);
}

/* ---- making ----------------------------------------------------------------------- */

static void loop_fill_slots(struct loop_box *loop, const struct query_terms *terms) {
  loop->version = *loop->box->version;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE) continue;
    struct slot *slot = &loop->slots[term->slot];
    slot->component = term->component;
    slot->read_only = term->read_only || leaf_is_target(term->component, term->leaf);
    slot->tag = !term_has_cells(term, term->component);
    slot->leaf_at = term->leaf;
    slot->leaf = term->leaf == NONE ? NULL : &term->component->leaves[term->leaf];
    slot->type = slot->leaf ? slot->leaf->type : ECS_NESTED;
  }
}

static bool loop_make_views(lua_State *L, int index, struct loop_box *loop) {
  lua_getiuservalue(L, index, LOOP_WORLD);
  int world_index = lua_gettop(L);
  for (int i = 0; i < loop->view_count; i++) {
    struct slot *slot = &loop->slots[i];
    if (slot->leaf || slot->tag) continue;
    if (!view_push(L, loop->box, world_index, slot->component, loop, index, &slot->view))
      return false;
    slot->view->read_only = slot->read_only;
    lua_setiuservalue(L, index, LOOP_VALUES + 1 + i);
  }
  lua_settop(L, index);
  return true;
}

/* Fills a new loop. False if a finalizer used the world meanwhile: what was read may be gone. */
static bool loop_make(lua_State *L, int query_index, const struct query_box *query,
                      enum loop_form form, int views, struct loop_box **out) {
  struct world_box *box = query->box;
  uint32_t calls = box->calls, slots = query->query->terms.slots;
  if (views > (int)slots) views = (int)slots;
  size_t walk_at = sizeof(struct loop_box) + slots * sizeof(struct slot);
  bool walks = terms_walk(&query->query->terms), events = query->query->terms.event != NULL;
  size_t size = walk_at + (walks ? sizeof(struct walk) : 0);
  struct loop_box *loop =
      lua_newuserdatauv(L, size, LOOP_VALUES + views);
  memset(loop, 0, size);
  *out = loop;
  loop->form = form;
  lua_getiuservalue(L, query_index, QUERY_WORLD);
  lua_setiuservalue(L, -2, LOOP_WORLD);
  lua_pushvalue(L, query_index);
  lua_setiuservalue(L, -2, LOOP_QUERY);
  loop->box = box;
  loop->query = query;
  loop->scope = NONE;
  loop->row = ROW_STALE;
  loop->walk = walks ? (struct walk *)(void *)((char *)loop + walk_at) : NULL;
  loop->slot_count = slots;
  loop->events = events;
  loop->view_count = views;
  loop->parameters = NOT_KNOWN;
  if (box->calls != calls) return false;
  loop->entities = box->entities;
  loop->chance = box->chance;
  loop_fill_slots(loop, &query->query->terms);
  return views == 0 || loop_make_views(L, lua_gettop(L), loop);
}

/* Renews the slots, which may belong to old fields, and the views. */
static APART bool loop_renew_slots(lua_State *L, int index, struct loop_box *loop, int views) {
  const struct query_terms *terms = &loop->query->query->terms;
  if (UNLIKELY(loop->version != *loop->box->version)) loop_fill_slots(loop, terms);
  uint64_t version = *loop->box->version;
  for (int i = 0; i < views; i++) {
    struct slot *slot = &loop->slots[i];
    if (slot->leaf || slot->tag) continue;
    lua_getiuservalue(L, index, LOOP_VALUES + 1 + i);
    /* A tag that has since been given fields has no view yet. */
    const struct view_box *old = lua_touserdata(L, -1);
    if (!old || old->version != version || !view_renew(L, index, old, &slot->view)) return false;
    lua_setiuservalue(L, index, LOOP_VALUES + 1 + i);
    lua_pop(L, 1);
  }
  return true;
}

bool loop_renew(lua_State *L, int index, struct loop_box *loop, int views) {
  const ecs_query *query = loop->query->query;
  assert(loop->form == LOOP_SYSTEM);
  if (UNLIKELY(!query || query->broken || loop->open)) return false;
  /* A tag that has since been given fields has a slot. */
  if (UNLIKELY(loop->slot_count != query->terms.slots)) return false;
  /* A component with a new storage is found in another way. */
  if (UNLIKELY((loop->walk != NULL) != terms_walk(&query->terms))) return false;
  if (views > (int)loop->slot_count) views = (int)loop->slot_count;
  if (UNLIKELY(views > loop->view_count)) return false;
  loop->match = loop->behind = 0;
  loop->count = loop->next_row = 0;
  loop->done = false;
  bool same = loop->version == *loop->box->version;
  return (LIKELY(same) && views == 0) || loop_renew_slots(L, index, loop, views);
}

struct loop_box *loop_push(lua_State *L, int query_index, enum loop_form form, int views) {
  int top = lua_gettop(L);
  for (int i = 0; i < TRIES; i++) {
    struct loop_box *loop;
    check_free(L, check_query(L, query_index)->box);
    if (loop_make(L, query_index, check_query(L, query_index), form, views, &loop)) return loop;
    lua_settop(L, top);
  }
  luaL_error(L, "finalizers keep changing the world");
  return NULL;
}

int loop_begin(lua_State *L, struct loop_box *loop, lua_CFunction next) {
  int index = lua_gettop(L);
  struct handle_box *handle = new_box_of(L, &kind_loop, sizeof *handle, 1, index);
  handle->loop = loop;
  lua_pushvalue(L, index);
  lua_pushvalue(L, index + 1);
  lua_pushcclosure(L, next, 2);
  if (!loop->box->world) return loop_gone(L, loop);
  lua_getiuservalue(L, index, LOOP_WORLD);
  lua_getiuservalue(L, -1, WORLD_REFS);
  lua_pushvalue(L, index);
  lua_rawsetp(L, -2, loop);
  lua_pop(L, 2);
  lua_insert(L, -2);
  lua_pushnil(L);
  lua_pushvalue(L, -2);
  loop_open(L, loop);
  return 4;
}

/* Starts everything that a loop needs from the core; on an error, nothing. */
static ecs_status loop_start(struct loop_box *loop) {
  ecs_status status = ECS_OK;
  if (loop->walk) status = walk_begin_ordered(loop->walk, loop->query->query);
  if (status != ECS_OK || loop->form == LOOP_SYSTEM) return status;
  enum scope_kind kind = loop->form == LOOP_FOR ? SCOPE_LOOP : SCOPE_SYSTEM;
  status = scope_open(loop->box->world, kind, &loop->scope);
  if (status == ECS_OK && UNLIKELY(loop->query->query->terms.changes)) {
    status = changes_open(loop->query->query);
    loop->news = status == ECS_OK;
    if (status != ECS_OK) scope_cancel(loop->box->world, loop->scope);
  }
  if (status != ECS_OK && loop->walk) walk_end(loop->walk);
  return status;
}

/* loop_open for a loop that needs something from the core. */
static APART void loop_begin_loop(lua_State *L, struct loop_box *loop) {
  struct world_box *box = loop->box;
  ecs_status status;
  RETRY(L, box, status, loop_start(loop));
  if (status != ECS_OK) {
    loop->scope = NONE;
    raise_status(L, box->world, status);
  }
}

void loop_open(lua_State *L, struct loop_box *loop) {
  struct world_box *box = loop->box;
  if (UNLIKELY(!box->world)) loop_gone(L, loop);
  /* A finalizer has run since the loop was made: its slots and views belong to old fields. */
  if (UNLIKELY(loop->version != *box->version))
    luaL_error(L, "a finalizer changed the loop's components: start the loop again");
  query_arrange(loop->query->query);
  if (loop->walk || loop->form != LOOP_SYSTEM) loop_begin_loop(L, loop);
  loop->previous = NULL;
  loop->next = box->loops->open;
  if (loop->next) loop->next->previous = loop;
  box->loops->open = loop;
  loop->open = true;
}

/* ---- iterating -------------------------------------------------------------------- */

static void loop_bind_slot(struct slot *slot, const struct table *table, uint32_t first,
                           uint32_t row) {
  slot->columns = first == NONE ? NULL : &table->columns[first];
  slot->table = table;
  slot->first = row;
  if (slot->view)
    view_bind(slot->view, slot->columns ? table : NULL, slot->columns, row);
  else if (slot->leaf)
    slot->data = slot->columns ? column_at(slot->columns, row) : NULL;
}

/* Hides terms with a component that is switched off in the run that begins with a row. */
static void loop_hide_slots(struct loop_box *loop, uint32_t row) {
  const struct query_terms *terms = &loop->query->query->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term->toggled || term->slot == NONE || term_shows(term, loop->table, row)) continue;
    loop->slots[term->slot].present = false;
    loop_bind_slot(&loop->slots[term->slot], loop->table, NONE, row);
  }
}

static inline void loop_bind_slots(struct loop_box *loop, const uint32_t *columns, uint32_t row) {
  for (uint32_t i = 0; i < loop->slot_count; i++) {
    loop->slots[i].present = columns[i] != NONE;
    loop_bind_slot(&loop->slots[i], loop->table, columns[i], row);
  }
}

/* Binds a match with terms that may yield cells of other entities. */
static void loop_bind_match(struct loop_box *loop) {
  const struct walk *walk = loop->walk;
  const struct query_terms *terms = &walk->query->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE) continue;
    struct slot *slot = &loop->slots[term->slot];
    struct walk_end end = walk_cells(walk, term);
    slot->present = end.table != NULL;
    loop_bind_slot(slot, end.table, slot->present && !slot->tag ? end.first : NONE, end.row);
  }
}

static bool loop_come_to(struct loop_box *loop, const struct table *table, uint32_t row,
                         uint32_t count) {
  loop->table = table;
  loop->rows = table->rows + row;
  loop->count = count;
  loop->next_row = 0;
  loop->step++;
  return true;
}

/* Takes the next rows of one of the query's tables. */
static bool loop_next_in_table(struct loop_box *loop, uint32_t match) {
  const ecs_query *query = loop->query->query;
  const struct table *table = query_table(query, match);
  uint32_t count, row = query_next_run(&query->terms, table, loop->behind, &count);
  if (count == 0) return false;
  /* With a filter it takes a whole table in which some rows match, all with the same terms. */
  loop->partial = (loop->fill || loop->filter) && loop->behind == 0 &&
                  query_table_rows(&query->terms, table) == ROWS_SOME &&
                  !query_rows_varying(&query->terms, table);
  uint32_t first = loop->partial ? 0 : row;
  if (loop->partial) count = table->count;
  assert(row < first + count);
  loop->behind = first + count;
  loop_come_to(loop, table, first, count);
  loop_bind_slots(loop, query_columns(query, match), first);
  if (UNLIKELY(query->terms.toggled)) loop_hide_slots(loop, row);
  return true;
}

/* Advances if rows of a table may differ, or a walk finds them. */
static APART bool loop_advance(struct loop_box *loop) {
  const ecs_query *query = loop->query->query;
  if (loop->walk) {
    if (!walk_next(loop->walk)) return false;
    loop_bind_match(loop);
    bool together = loop->events && !query->terms.step_count;
    return loop_come_to(loop, loop->walk->table, loop->walk->row,
                        together ? walk_take_events(loop->walk) : 1);
  }
  uint32_t reach = query_reach(query);
  if (query->terms.toggled && loop->behind > 0 && loop->match <= reach &&
      loop_next_in_table(loop, loop->match - 1))
    return true;
  while (loop->match < reach) {
    loop->behind = 0;
    if (loop_next_in_table(loop, loop->match++)) return true;
  }
  return false;
}

bool loop_seek(struct loop_box *loop, uint32_t match, uint32_t row, uint32_t turn) {
  const ecs_query *query = loop->query->query;
  const struct table *table = query_table(query, match);
  struct walk *walk = loop->walk;
  if (loop->events) {
    walk->next_row = walk->run_end = row;
    walk->inside = false;
    bool found = loop_next_run(loop);
    while (found && turn--) found = loop_next_run(loop);
    return found && walk->row == row;
  }
  if (walk) {
    if (walk->lineup) walk_end(walk);   /* this loop needs no order */
    bool found = walk_match(walk, table->rows[row], false);
    while (found && turn--) found = walk_match(walk, table->rows[row], true);
    if (found) loop_bind_match(loop);
    return found && loop_come_to(loop, walk->table, walk->row, 1);
  }
  loop_come_to(loop, table, row, 1);
  loop_bind_slots(loop, query_columns(query, match), row);
  if (UNLIKELY(query->terms.toggled)) loop_hide_slots(loop, row);
  return true;
}

bool loop_next_run(struct loop_box *loop) {
  const ecs_query *query = loop->query->query;
  if (UNLIKELY(!query->terms.plain || loop->walk)) return loop_advance(loop);
  loop->behind = 0;
  assert(query->arranged == query->world->graph.placings);
  for (uint32_t match; (match = loop->match) < query->count;) {
    const struct table *table = world_table(query->world, query->tables[match]);
    loop->match = match + 1;
    if (UNLIKELY(table->count == 0)) continue;
    loop_come_to(loop, table, 0, table->count);
    loop_bind_slots(loop, query_columns(query, match), 0);
    return true;
  }
  return false;
}

/* Advances by `rows` rows in its table. */
static void loop_slide(struct loop_box *loop, uint32_t rows, uint32_t count) {
  loop->rows += rows;
  loop->count = count;
  for (uint32_t i = 0; i < loop->slot_count; i++) {
    struct slot *slot = &loop->slots[i];
    slot->first += rows;
    if (slot->leaf && slot->columns) slot->data = column_at(slot->columns, slot->first);
  }
}

bool loop_next_piece(lua_State *L, int index, struct loop_box *loop) {
  if (!loop->fill) return loop_next_run(loop);
  for (;;) {
    uint32_t begin = loop->piece_end;
    while (begin < loop->filtered && !loop_takes(loop, begin)) begin++;
    if (begin < loop->filtered) {
      uint32_t end = begin;
      while (end < loop->filtered && loop_takes(loop, end)) end++;
      loop_slide(loop, begin - loop->piece, end - begin);
      loop->piece = begin;
      loop->piece_end = end;
      loop->step++;
      return true;
    }
    loop->filtered = loop->piece = loop->piece_end = 0;
    if (!loop_next_run(loop)) return false;
    loop->fill(L, index);
    loop->filtered = loop->count;
  }
}

uint32_t loop_value_count(const struct loop_box *loop) {
  return loop->walk ? loop->query->query->terms.values : 0;
}

void loop_push_values(lua_State *L, const struct loop_box *loop, uint32_t most) {
  for (uint32_t i = 0; i < loop_value_count(loop) && i < most; i++) {
    ecs_id value = walk_value(loop->walk, i);
    if (value == ECS_NULL)
      lua_pushnil(L);
    else
      lua_pushinteger(L, (lua_Integer)value);
  }
}

/* ---- ending ----------------------------------------------------------------------- */

/* Commits what the loop has deferred, and ends it. */
static ecs_status loop_commit_scope(lua_State *L, struct loop_box *loop) {
  struct world_box *box = loop->box;
  ecs_status status = ECS_OK;
  if (loop->scope != NONE) RETRY(L, box, status, scope_commit(box->world, loop->scope));
  if (scope_stays_open(status))
    loop_cancel(loop);
  else
    unlink_loop(loop);
  return status;
}

void loop_commit(lua_State *L, int index, struct loop_box *loop) {
  struct world_box *box = loop->box;
  ecs_status status = loop_commit_scope(L, loop);
  if (status == ECS_ENOMEM) raise_status(L, box->world, status);
  lua_getiuservalue(L, index, LOOP_WORLD);
  if (status != ECS_OK) observed_raise(L, box, lua_gettop(L), status);
  loop_sweep(L, box, index);
  settle(L, box, lua_gettop(L));
  lua_pop(L, 1);
}

void loop_end_inner(lua_State *L, int index, const struct loop_box *loop) {
  struct world_box *box = loop->box;
  while (loop->open && box->loops->open != loop) {
    ecs_status status = loop_commit_scope(L, box->loops->open);
    if (status != ECS_OK) raise_status(L, box->world, status);
  }
  if (loop->open) loop_sweep(L, box, index);
}

/* Pushes the loop of the handle at argument 1; if it has ended, returns NULL and pushes nothing:
** only its world may still hold it. */
static struct loop_box *loop_push_open(lua_State *L) {
  const struct handle_box *handle = box_test(L, 1, &kind_loop, sizeof *handle);
  if (!handle || !handle->loop) return NULL;
  lua_getiuservalue(L, 1, HANDLE_LOOP);
  if (handle->loop->open) return handle->loop;
  loop_sweep(L, handle->loop->box, lua_gettop(L));
  lua_pop(L, 1);
  return NULL;
}

/* Ends a loop that is left early: after break or return its changes are applied, after an error
** they are not. */
static int handle_close(lua_State *L) {
  lua_settop(L, 2);
  struct loop_box *loop = loop_push_open(L);
  if (!loop) return 0;
  if (lua_isnil(L, 2)) {
    loop_commit(L, 3, loop);
  } else {
    loop_cancel(loop);
    loop_sweep(L, loop->box, 3);
  }
  return 0;
}

/* Ends a loop in an abandoned coroutine; where `for` closes none, what is around it does. */
static int handle_collect(lua_State *L) {
  struct loop_box *loop = loop_push_open(L);
  if (!FOR_CLOSES) return 0;
  if (!loop) return 0;
  loop_finish(loop, true);
  int index = lua_gettop(L);
  loop_sweep(L, loop->box, index);
  lua_getiuservalue(L, index, LOOP_WORLD);
  return settle(L, loop->box, index + 1);
}

const luaL_Reg loop_metamethods[] = {
  {"__close", handle_close},
  {"__gc", handle_collect},
  {NULL, NULL}
};

/* ---- slot ---- */

void slot_push_value(lua_State *L, int loop_index, const struct loop_box *loop,
                     const struct slot *slot, uint32_t row) {
  if (!slot->present) {
    lua_pushnil(L);
    return;
  }
  if (!slot->leaf) {
    lua_pushboolean(L, 1);
    return;
  }
  ecs_cell cell = cell_load(slot->data, slot->leaf->size, row);
  if (loop->copied && slot->type == ECS_ENTITY) {
    lua_pushinteger(L, (lua_Integer)cell.u64);
    return;
  }
  lua_getiuservalue(L, loop_index, LOOP_WORLD);
  push_cell(L, loop->box, lua_gettop(L), slot->component, slot->leaf, cell);
  lua_remove(L, -2);
  if (!loop->open) loop_gone(L, loop);
}

/* ---- frame ---- */

static const char raised_key = 0;

static int loop_as_text(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* An error object stays in the registry for frame_keep. Lua calls no handler for a memory error. */
int frame_trace(lua_State *L) {
  attempt_handler(L);
  const char *text = lua_tostring(L, 1);
  if (text && failure_is_traced(L, 1)) return 1;
  if (lua_type(L, 1) >= LUA_TTABLE)
    lua_pushvalue(L, 1);
  else
    lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &raised_key);
  if (!text && luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL) {
    lua_pushcfunction(L, loop_as_text);
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) text = lua_tostring(L, -1);
  }
  if (!text) text = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  luaL_traceback(L, L, text, 1);
  return 1;
}

void frame_keep(lua_State *L, int slot, int status) {
  lua_replace(L, slot);
  if (status == LUA_ERRRUN)
    lua_rawgetp(L, LUA_REGISTRYINDEX, &raised_key);
  else
    lua_pushnil(L);
  lua_replace(L, slot + FRAME_OBJECT);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &raised_key);
}

/* Raises the error that a slot keeps: the error object, if there was one. */
static void loop_raise_kept(lua_State *L, int slot) {
  lua_settop(L, FRAME_SIZE);
  lua_pushvalue(L, lua_isnil(L, slot + FRAME_OBJECT) ? slot : slot + FRAME_OBJECT);
  lua_error(L);
}

static void loop_frame_lay_out(lua_State *L) {
  lua_pushcfunction(L, frame_trace);
  lua_replace(L, FRAME_TRACE);
  lua_getiuservalue(L, FRAME_WORLD, WORLD_REFS);
  lua_replace(L, FRAME_REFS);
}

void frame_need_host(lua_State *L, struct world_box *box, int world_index) {
  if (box->systems->host) return;
  luaL_checkstack(L, 6, NULL);
  lua_getiuservalue(L, world_index, WORLD_REFS);
  lua_State *thread = lua_newthread(L);
  lua_rawsetp(L, -2, thread);
  lua_pop(L, 1);
  lua_pushvalue(L, world_index);
  lua_xmove(L, thread, 1);
  lua_settop(thread, FRAME_SIZE);
  loop_frame_lay_out(thread);
  box->systems->host = thread;
}

void run_in_frame(lua_State *L, struct world_box *box,
                  ecs_status (*run)(ecs_world *world, const void *ud), const void *ud) {
  int frame_end = lua_gettop(L);
  lua_State *previous = box->systems->running;
  loop_frame_lay_out(L);
  box->systems->running = L;
  world_enter(box);
  ecs_status status = run(box->world, ud);
  box->systems->running = previous;
  world_leave(L, box, FRAME_WORLD);
  lua_settop(L, frame_end);
  if (box->world) systems_sweep(L, box, FRAME_WORLD);
  if (status == ECS_EUSER && !lua_isnil(L, FRAME_ERROR)) loop_raise_kept(L, FRAME_ERROR);
  if (status != ECS_OK && (box->world || status == ECS_ENOMEM))
    raise_status(L, box->world, status);
  if (!lua_isnil(L, FRAME_HANDLER)) loop_raise_kept(L, FRAME_HANDLER);
}
