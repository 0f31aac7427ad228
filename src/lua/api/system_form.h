/* What the functions of systems, and others that are registered, are called for. Those that are
** called for no system, a predicate and what gives an index its keys, are last; from the observers'
** on they are given no dt. */
#ifndef ECS_LUA_API_SYSTEM_FORM_H
#define ECS_LUA_API_SYSTEM_FORM_H

enum system_form { FORM_EACH, FORM_MAP, FORM_RUN, FORM_OBSERVE, FORM_ASK, FORM_KEY };

#endif
