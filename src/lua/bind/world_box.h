/* The object of a world, and how public calls begin.
**
** A Lua call that makes an object may run finalizers, and these may call anything: close the
** world, undeclare a component, despawn. So pointers into the core do not live across such
** a call, unless world_box.calls shows that nobody came in between; lua_next, lua_raw*,
** lua_setfield and lua_push of anything but texts run none. */
#ifndef ECS_LUA_BIND_WORLD_BOX_H
#define ECS_LUA_BIND_WORLD_BOX_H

#include "lua/bind/any_values.h"
#include "lua/bind/object.h"

#include "core/store/check.h"

/* User values of a world: what it keeps alive, never in the registry. */
#define WORLD_ANY 1      /* table: any slot -> value */
#define WORLD_REFS 2     /* table: anchored systems and handlers by address; what systems need */
#define WORLD_SHAPES 3   /* table: component -> how its views read (view.c) */
#define WORLD_STAGE 4    /* function: is told what scripts register (recording.c) */
#define WORLD_VALUES 4   /* how many */

struct chance;
struct entity_index;
struct field_entry;
struct intern_table;
struct kernels;
struct loops;
struct names;
struct registrar;
struct scratch;
struct stage;
struct systems;
struct weights;

/* What each file keeps for a world is in a struct of its own. All of them are one userdata, made by
** new_world_box. */
struct world_box {
  struct head head;
  ecs_world *world;          /* NULL once closed */
  ecs_world *hidden;         /* the open world while a codec's function must not use it */
  ecs_world *doomed;         /* closed while `depth` was not 0: freed when it gets there */
  uint32_t calls;            /* public calls so far */
  uint32_t depth;            /* C functions on the stack that come back to it: world_enter */
  bool lent;                 /* by a host, who frees it */
  struct {
    struct names *known;     /* of this Lua state, shared by its worlds */
    struct field_entry *fields;   /* the same: field_names.c */
    uint64_t number;         /* of the world among those: never given twice */
  } names;
  struct memory *memory;     /* the world's */
  const size_t *bytes;       /* that it has now: memory.bytes */
  struct chance *chance;     /* the world's stream of random numbers */
  const uint64_t *tick;      /* its updates so far */
  const struct entity_index *entities;   /* the world's */
  const struct intern_table *strings;    /* the world's */
  const uint64_t *version;   /* of the world's components: registry.version */
  const uint32_t *changes;   /* that the world's observers are told of, or are to be: by */
  void (*observe)(lua_State *L, struct world_box *box, int world_index);
  struct any_values any;
  struct {
    struct weights *all;     /* of this Lua state */
    size_t reported;         /* that the collector has heard of */
  } weight;
  struct scratch *scratch;   /* what does not fit the C stack; the world's own, unless it is lent */
  struct loops *loops;       /* loop.h */
  struct systems *systems;   /* system.h */
  struct kernels *kernels;   /* kernel.h */
  const struct registrar *registrar;   /* registers now, or records */
  struct stage *stage;       /* while scripts are read whose registrations are a transaction */
};

extern const char kind_world;

/* Raise "world expected, got nil", "the world is closed" for `arg`; that scripts are being read. */
int no_world(lua_State *L, int arg);
int no_change(lua_State *L);

/* Before the first value_to_cell of a call that did not come through check_world: releases
** any slots that an error left over. */
static inline void values_begin(struct world_box *box) {
  if (UNLIKELY(box->any.pending)) drop_pending(box);
}

/* After the core call that took them over. */
static inline void values_stored(struct world_box *box) { box->any.pending = 0; }

/* The open world at argument `arg`, or an error. Counts a public call: functions that get
** at a world otherwise (queries, views that change more than a number) add to calls, too. */
static inline struct world_box *check_world(lua_State *L, int arg) {
  struct world_box *box = box_test(L, arg, &kind_world, sizeof *box);
  if (UNLIKELY(!box || !box->world)) {
    no_world(L, arg);
    return NULL;
  }
  world_be_sure(box->world);
  box->calls++;
  values_begin(box);
  return box;
}

/* What changes more than declarations is refused while scripts are read: here, and nowhere else. */
static inline void check_free(lua_State *L, const struct world_box *box) {
  if (UNLIKELY(box->stage)) no_change(L);
}

/* check_world for what changes more than declarations: an error while scripts are read. */
static inline struct world_box *check_free_world(lua_State *L, int arg) {
  struct world_box *box = check_world(L, arg);
  check_free(L, box);
  return box;
}

#endif
