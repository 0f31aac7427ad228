/* What a Lua function is dumped as: its constants, lines and instructions. */
#ifndef ECS_FRONT_DUMP_H
#define ECS_FRONT_DUMP_H

#include "front/bytecode.h"

/* Dumps the Lua function at an index into *out, whose `memory` is set, and reads everything but
** its instructions: these are at *words, four bytes each, out->count of them. ECS_ENOMEM,
** ECS_ECORRUPT (not what this reader knows). */
ecs_status dump_read(lua_State *L, int index, struct function_code *out,
                     const unsigned char **words);

/* Whether what lua_dump wrote has a text, of less than 64 bytes, among the constants of a function
** or of those in it. It may also be something else that looks like it. */
bool dump_mentions(const char *dump, size_t size, const char *text);

/* One constant more, behind those of the function; its number, or NONE when out of memory. */
uint32_t dump_add_constant(struct function_code *f, struct constant constant);

#endif
