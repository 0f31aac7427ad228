/* The clock that systems are timed by. Knows no other file of the core: <windows.h>, which
** clock.c needs, defines words such as `near` that those use as names. */
#ifndef ECS_CORE_BASE_CLOCK_H
#define ECS_CORE_BASE_CLOCK_H

#include "core/base/base.h"

/* Seconds of a clock that never goes back. */
double clock_seconds(void);

/* Seconds that the calling thread has had of a processor; -1 where no clock tells them to a
** millisecond. */
double clock_thread_seconds(void);

#endif
