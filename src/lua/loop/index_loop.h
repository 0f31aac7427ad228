/* for ... in index:within(...): going through what has been found. */
#ifndef ECS_LUA_LOOP_INDEX_LOOP_H
#define ECS_LUA_LOOP_INDEX_LOOP_H

#include "lua/bind/object.h"
#include "ecs_index.h"

struct copies;
struct edition;
struct view_box;
struct world_box;

#define FOUND_WORLD 1    /* user values: the world's object; the same as a loop's */
#define FOUND_INDEX 2    /* the index's object */
#define FOUND_VALUES 2   /* and the views of the index's slots */

/* Such a loop. Inside of systems nothing has to be done when it ends; elsewhere it holds what it
** goes through, so that it is one of another kind. */
struct found_box {
  struct head head;
  struct world_box *box;
  const struct copies *copies;
  struct edition *edition;   /* whose they are */
  uint64_t moment;           /* of the world: in another one it is over */
  uint64_t version;          /* of its components: with others, too */
  struct ecs_search search;
  uint32_t row;              /* what views show; NONE: nothing yet, or no more */
  bool holds;
  bool begun;                /* its views are made */
  bool ended;
};

extern const char kind_found, kind_held;
extern const luaL_Reg found_metamethods[], held_metamethods[];

/* Pushes what `for` begins with: a search in the edition of now of the index whose object is at 1.
** Returns how many values. */
int found_begin(lua_State *L, struct world_box *box, struct ecs_index *index,
                const struct ecs_search *search);

/* Pushes a loop through copies that has ended, of the object at 1, whose first user value is the
** world's. */
struct found_box *found_push(lua_State *L, struct world_box *box, const struct copies *copies,
                             bool holds);

/* Comes to a row, and pushes what the loop at an index gives for it, nil for what is absent, and
** its entity. */
void found_push_row(lua_State *L, int loop, struct found_box *found, uint32_t row);

/* The row that a view of such a loop shows; raises why when it shows none. */
uint32_t found_row(lua_State *L, const struct view_box *view);

/* Whether it shows one. */
bool found_is_open(const struct view_box *view);

/* Raises that a view of one is written to. */
int found_refuse_write(lua_State *L, const struct view_box *view);

#endif
