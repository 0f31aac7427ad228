/* Objects in Lua: userdata that identify themselves. */
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

/* Every object begins with this; if its address is not `self`, the userdata is foreign. */
struct head {
  const void *kind;      /* the address of a kind_ variable */
  const void *self;
};

/* The object at an index if it is of that kind, otherwise NULL. Safe for any value: foreign
** userdata are recognised by size, kind and self. */
static inline void *box_test(lua_State *L, int index, const void *kind, size_t size) {
  struct head *head = lua_touserdata(L, index);
  if (UNLIKELY(!head || lua_rawlen(L, index) < size)) return NULL;
  return head->kind == kind && head->self == head ? head : NULL;
}

/* Pushes a userdata of that kind with its metatable, all zero except for its head, so it counts as
** closed. Its user values are nil. */
void *new_box(lua_State *L, const void *kind, size_t size, int user_values);

/* Likewise, with the value at an index as its first user value. */
void *new_box_of(lua_State *L, const void *kind, size_t size, int user_values, int owner);

/* A metamethod of iterators: refuses the operation. */
int loop_refuse(lua_State *L);
#define LOOP_REFUSALS {"__index", loop_refuse}, {"__len", loop_refuse}, {"__pairs", loop_refuse}

/* Pushes a table that does not keep its keys ("k"), its values ("v"), or both alive. */
void new_weak_table(lua_State *L, const char *mode);

/* Replaces a key at the top of the stack by the table that the table below has under that key;
** creates it on first use, with weak keys or values if a mode is given. */
void push_part(lua_State *L, const char *mode);

/* The object of a world; how public calls begin is in check_world.h.
**
** A Lua call that makes an object may run finalizers, and these may do anything: close the
** world, undeclare a component, despawn. So pointers into the core do not live across such
** a call, unless world_box.calls shows that nothing came in between; lua_next, lua_raw*,
** lua_setfield and lua_push of anything but texts run none. */

/* User values of a world: what it keeps alive, never in the registry. */
#define WORLD_ANY 1      /* table: any slot -> its value */
#define WORLD_REFS 2     /* table: anchored systems and handlers by address; what systems need */
#define WORLD_SHAPES 3   /* table: component -> how its views read (view.c) */
#define WORLD_STAGE 4    /* function that receives what scripts register (recording.c) */
#define WORLD_WARNINGS 5 /* table: list of earlier warnings, and each -> true */
#define WORLD_READERS 6  /* table: component -> metatable of values read from it (value.c) */
#define WORLD_VALUES 6   /* their count */

/* Each file's data for a world is in a struct of its own; one userdata, made by new_world_box, has
** all of them. */
struct world_box {
  struct head head;
  ecs_world *world;          /* NULL once closed */
  lua_State *main;           /* the state's first thread */
  ecs_world *hidden;         /* the open world while a codec's function must not use it */
  ecs_world *doomed;         /* closed while `depth` was not 0; freed when it becomes 0 */
  uint32_t calls;            /* number of public calls */
  uint32_t depth;            /* C functions on the stack that will return to it: world_enter */
  bool lent;                 /* lent by a host, which frees it */
  bool exact;                /* while native.exact runs: integers too big for Lua are texts */
  struct {
    struct names *known;     /* this Lua state's, shared by its worlds */
    uint64_t number;         /* this world's number in `known`; never reused */
  } names;
  struct memory *memory;     /* the world's */
  const size_t *bytes;       /* its current size: memory.bytes */
  struct chance *chance;     /* the world's random stream */
  const uint64_t *tick;      /* the number of its updates */
  const struct entity_index *entities;   /* the world's */
  const struct intern_table *strings;    /* the world's */
  const uint64_t *version;   /* of its components: registry.version */
  const uint32_t *changes;   /* the number of changes to report to observers, with: */
  void (*observe)(lua_State *L, struct world_box *box, int world_index);
  struct {
    struct any_slots *slots; /* the world's */
    struct any_owner owner;  /* owns the values that this state holds */
    uint32_t pending;        /* slots in scratch memory, taken for a core call that has not been
                             ** made yet */
  } any;
  struct {
    struct weights *all;     /* this Lua state's */
    size_t reported;         /* the weight last reported to the collector */
  } weight;
  size_t owed;               /* to collector_step: see collector_release_quietly */
  struct scratch *scratch;   /* for what does not fit on the C stack; the world's own, unless it is
                             ** lent */
  struct loops *loops;       /* loop.h */
  struct systems *systems;   /* system.h */
  struct kernels *kernels;   /* kernel.h */
  struct stage *stage;       /* while scripts are read and recorded; or NULL */
};

extern const char kind_world;

/* The weight of worlds, reported to the collector of their Lua state. */

void weights_open(lua_State *L);

/* Called when a world has been opened: the collector has been told about `bytes` of it. */
void weights_attach(lua_State *L, struct world_box *box, size_t bytes);
/* Called when a world is closed. */
void weights_leave(struct world_box *box);

/* Tells the collector how much the world has grown, or lowers the mark if it has shrunk. May run
** finalizers. */
void settle_weight(lua_State *L, struct world_box *box);

#endif
