/* Declaring components from Lua. */
#ifndef ECS_LUA_API_LUA_DECLARE_H
#define ECS_LUA_API_LUA_DECLARE_H

#include <lauxlib.h>

#include "core/base/base.h"

struct ecs_component_desc;
struct report;
struct world_box;

/* Declares the component named at one index with the fields at the other, in the world at
** index 1, and returns its id. Pushes the report of the migration, nil when there was none.
** Raises what is wrong. */
ecs_id declare_component(lua_State *L, int name, int fields);

/* registrar.declare, now. */
ecs_status declare_now(lua_State *L, struct world_box *box, const struct ecs_component_desc *desc,
                       bool foreign, ecs_id *id);

/* The same for a relation, which may have the options of one. */
ecs_id declare_relation(lua_State *L, int name, int fields);
ecs_id declare_event(lua_State *L, int name, int fields);

/* What scripts call an ecs_policy. */
extern const char *const policy_names[];

/* What the calls that declare return: pushes the id before the report, which is at index 4 when
** there is one. The last thing they do. */
int push_declared(lua_State *L, struct world_box *box, ecs_id id);

/* world:relation(name, fields) and world:event(name, fields), which may leave the fields out. */
int declare_method(lua_State *L, ecs_id (*as)(lua_State *L, int name, int fields));

/* Pushes what a migration did to a component: { kept =, added =, dropped =, converted =,
** types =, renamed =, maybe_renamed =, rows =, was = }. */
void push_report(lua_State *L, const struct report *report);

/* native.schema(fn): remembers the function that turns (name, fields as world:component takes them)
** into plain tables, or nil and a message. */
int ecs_native_schema(lua_State *L);

/* Calls that function with the values at two indices, and what is declared if it is no component
** (NULL), and pushes the plain table, or raises. */
void declare_parse(lua_State *L, int name, int fields, const char *kind);

#endif
