/* The clock that times systems. It includes no other file of the core: <windows.h>, which clock.c
** needs, defines words such as `near` that other files use as names. */
#ifndef ECS_CORE_BASE_CLOCK_H
#define ECS_CORE_BASE_CLOCK_H

#include "core/base/base.h"

/* Seconds of a clock that never goes back. */
double clock_seconds(void);

/* Processor seconds of the calling thread; -1 if no clock has a resolution of 1 ms. */
double clock_thread_seconds(void);

#endif
