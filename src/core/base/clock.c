#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 199309L
#endif

#include <time.h>
#if defined(_WIN32)
#include <windows.h>
#endif

#include "core/base/clock.h"

#if defined(_WIN32)

double clock_seconds(void) {
  LARGE_INTEGER now, frequency;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&frequency);
  return (double)now.QuadPart / (double)frequency.QuadPart;
}
#elif defined(CLOCK_MONOTONIC)
double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
#else
double clock_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }
#endif

#if defined(CLOCK_THREAD_CPUTIME_ID) && !defined(_WIN32)
double clock_thread_seconds(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return -1;
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
#else
double clock_thread_seconds(void) { return -1; }
#endif
