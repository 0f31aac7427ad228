/* Objects that Lua sees: userdata that tell what they are. */
#ifndef ECS_LUA_BIND_OBJECT_H
#define ECS_LUA_BIND_OBJECT_H

#include <lauxlib.h>

#include "core/base/any.h"
#include "core/base/base.h"

struct chance;
struct entity_index;
struct intern_table;
struct kernels;
struct loops;
struct names;
struct scratch;
struct stage;
struct systems;
struct weights;

/* Every object starts so; an address that is not at `self` is not one of ours. */
struct head {
  const void *kind;      /* the address of a kind_ variable */
  const void *self;
};

/* The object at an index when it is of that kind, else NULL. Safe for any value: foreign
** userdata are told apart by size, kind and self. */
static inline void *box_test(lua_State *L, int index, const void *kind, size_t size) {
  struct head *head = lua_touserdata(L, index);
  if (UNLIKELY(!head || lua_rawlen(L, index) < size)) return NULL;
  return head->kind == kind && head->self == head ? head : NULL;
}

/* Pushes a userdata of that kind with its metatable, all zero but for its head: born closed. Its
** user values are nil. */
void *new_box(lua_State *L, const void *kind, size_t size, int user_values);

/* Raises that an object is a loop. Metamethods of those that `for` calls. */
int loop_refuse(lua_State *L);
#define LOOP_REFUSALS {"__index", loop_refuse}, {"__len", loop_refuse}, {"__pairs", loop_refuse}

/* Pushes a table that keeps nothing alive by its keys ("k"), its values ("v"), or both. */
void new_weak_table(lua_State *L, const char *mode);

/* The object of a world; how public calls begin is in check_world.h.
**
** A Lua call that makes an object may run finalizers, and these may call anything: close the
** world, undeclare a component, despawn. So pointers into the core do not live across such
** a call, unless world_box.calls shows that nobody came in between; lua_next, lua_raw*,
** lua_setfield and lua_push of anything but texts run none. */

/* User values of a world: what it keeps alive, never in the registry. */
#define WORLD_ANY 1      /* table: any slot -> value */
#define WORLD_REFS 2     /* table: anchored systems and handlers by address; what systems need */
#define WORLD_SHAPES 3   /* table: component -> how its views read (view.c) */
#define WORLD_STAGE 4    /* function: is told what scripts register (recording.c) */
#define WORLD_WARNINGS 5 /* table: a list of those that there were, and each -> true */
#define WORLD_VALUES 5   /* how many */

/* What each file keeps for a world is in a struct of its own. All of them are one userdata, made by
** new_world_box. */
struct world_box {
  struct head head;
  ecs_world *world;          /* NULL once closed */
  lua_State *main;           /* the state's first thread */
  ecs_world *hidden;         /* the open world while a codec's function must not use it */
  ecs_world *doomed;         /* closed while `depth` was not 0: freed when it gets there */
  uint32_t calls;            /* public calls so far */
  uint32_t depth;            /* C functions on the stack that come back to it: world_enter */
  bool lent;                 /* by a host, who frees it */
  bool exact;                /* while native.exact runs: integers that Lua lacks are texts */
  struct {
    struct names *known;     /* of this Lua state, shared by its worlds */
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
  struct {
    struct any_slots *slots; /* the world's */
    struct any_owner owner;  /* of those whose values this state has */
    uint32_t pending;        /* slots in the scratch memory, taken for a core call that has not been
                                made yet */
  } any;
  struct {
    struct weights *all;     /* of this Lua state */
    size_t reported;         /* that the collector has heard of */
  } weight;
  struct scratch *scratch;   /* what does not fit the C stack; the world's own, unless it is lent */
  struct loops *loops;       /* loop.h */
  struct systems *systems;   /* system.h */
  struct kernels *kernels;   /* kernel.h */
  struct stage *stage;       /* while scripts are read, whose registrations are kept; or NULL */
};

extern const char kind_world;

/* What worlds weigh, told to the collector of their Lua state. */

void weights_open(lua_State *L);

/* A world has been opened: the collector has heard of `bytes` of it. */
void weights_attach(lua_State *L, struct world_box *box, size_t bytes);
/* A world is closed. */
void weights_leave(struct world_box *box);

/* Tells the collector what the world has grown by, or lowers the mark when it has shrunk. May
** run finalizers. */
void settle_weight(lua_State *L, struct world_box *box);

#endif
