/* What the functions of systems, and others that are registered, are called for. */
#ifndef ECS_LUA_SYSTEM_FORM_H
#define ECS_LUA_SYSTEM_FORM_H

/* From the observers' on there is no dt. The last ones are not of systems: a predicate, and what gives
** an index its keys. */
enum system_form { FORM_EACH, FORM_MAP, FORM_RUN, FORM_OBSERVE, FORM_ASK, FORM_KEY };

#endif
