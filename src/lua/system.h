/* Systems whose bodies are Lua functions: the object that anchors one, and how the core calls
** it. */
#ifndef ECS_LUA_SYSTEM_H
#define ECS_LUA_SYSTEM_H

#include "lua/loop.h"

#include "core/run/schedule.h"

enum system_form { FORM_EACH, FORM_MAP, FORM_RUN };

#define SYSTEM_FUNCTION 1    /* user values of a system */
#define SYSTEM_QUERY 2
#define SYSTEM_WHEN 3
#define SYSTEM_NAME 4
#define SYSTEM_KERNEL 5      /* the handle of an `each` that may be compiled */
#define SYSTEM_VALUES 5

/* What the core is given as a system's `ud`: a userdata that WORLD_REFS anchors by its address.
** Scripts never see it. */
struct system_box {
  struct world_box *box;
  struct system_box *next_gone;
  const char *name;                /* of SYSTEM_NAME */
  const struct query_box *query;   /* of SYSTEM_QUERY; NULL: none */
  enum system_form form;
  int compile;                     /* 1, 0, or -1: if possible */
  bool compiled;                   /* as it last ran */
  bool begun;                      /* has run: these are known */
  int parameters;                  /* of its function */
  struct kernel_box *kernel;       /* of SYSTEM_KERNEL */
  int function_ref, loop_ref;      /* where WORLD_REFS has the function and the loop; or 0 */
  int anchors_ref;                 /* and its kernel's KERNEL_ANCHORS */
  struct loop_box *loop;           /* of its last run, for the next */
  double dt;                       /* of this run */
};

/* What the stack of box->running (in the C function that called the core), and that of
** box->host, begins with. */
#define FRAME_WORLD 1
#define FRAME_ERROR 2        /* of a system that has failed */
#define FRAME_HANDLER 3      /* of the on_error handler itself */
#define FRAME_SIZE 3

/* The core's callbacks (system_run.c). */
ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud);
ecs_status script_when(ecs_world *world, void *ud, bool *run);
void script_free(void *ud);
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud);

/* Where WORLD_REFS has the on_error handler. */
extern const char on_error_key;

/* Where the registry has the objects of lent worlds, by their address. */
extern const char lent_worlds_key;

/* The system of this state behind one of the core's, or NULL: a host's, another state's. */
static inline struct system_box *system_script(const ecs_system *system) {
  return system->run == script_run ? system->ud : NULL;
}

/* What the arguments of world:system say, before anything is made of it. */
struct system_draft {
  struct system_box *system;       /* at the top of the stack but for texts */
  ecs_system_desc desc;
  const char *query;               /* the text; NULL: none */
  char what[128];                  /* what messages begin with */
};

/* Reads the name at 2 and the spec at 3 with the world at 1; owner may be NULL. Raises; pushes what
** the draft needs. */
void system_read(lua_State *L, struct world_box *box, struct system_draft *draft,
                 const char *owner);

/* registrar.system, now. */
void system_now(lua_State *L, struct world_box *box);

struct transaction;

/* The same in a transaction that is about to be committed. */
void system_in_swap(lua_State *L, struct world_box *box, struct transaction *transaction,
                    uint64_t place, const char *owner);

/* world:explain(name). */
int world_explain(lua_State *L);

/* How a system runs: "lua", or "native" for a host's. */
const char *system_tier(const ecs_system *system);

struct migration;

/* Raises when the function of a script's system uses fields that changed components will not
** have; while the registry shows the changes. */
void system_check(lua_State *L, int world_index, const ecs_system *system,
                  const struct migration *changes);

/* Compiles the functions that a swap has brought. */
void systems_compile(lua_State *L, int world_index);

/* Lets go of the systems that the core has let go of. */
void systems_sweep(lua_State *L, struct world_box *box, int world_index);

#endif
