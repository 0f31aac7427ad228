/* Who has any slots: see any.h. */
#ifndef ECS_CORE_BASE_ANY_OWNER_H
#define ECS_CORE_BASE_ANY_OWNER_H

#include <stdint.h>

/* Zero before its first slot. It outlives them: when it goes, it releases those it has and takes
** them back by any_next_released. */
struct any_owner {
  uint32_t released_head;
};

#endif
