/* Threads and their synchronisation: POSIX or Windows threads, or none where there are none or
** ECS_NO_THREADS is defined. */
#ifndef ECS_CORE_BASE_THREAD_H
#define ECS_CORE_BASE_THREAD_H

#include "core/base/memory.h"

#if defined(__GNUC__) && !defined(ECS_NO_THREADS) && \
    (defined(__unix__) || defined(__APPLE__) || defined(_WIN32))
#define ECS_THREADS 1
#else
#define ECS_THREADS 0
#endif

#define CREW_LIMIT 63u         /* threads in a crew */

/* Threads that run the same function, and the condition on which they sleep. */
struct crew;

/* Starts threads that call live(ud, 1), live(ud, 2), and so on, and end when that returns: as many
** as the system gives, up to `count`. Signals go to other threads. NULL when out of memory, or
** without a single thread. */
struct crew *crew_new(struct memory *memory, uint32_t count, void (*live)(void *ud, uint32_t i),
                      void *ud);
uint32_t crew_size(const struct crew *crew);

/* Called by its threads: sleeps while *word is `value`, and counts sleepers in *asleep. */
void crew_sleep(struct crew *crew, const uint32_t *word, uint32_t value, uint32_t *asleep);
/* Called after *word has changed: wakes the sleepers, which look again. */
void crew_wake(struct crew *crew);

/* Waits until all have returned, and frees it. */
void crew_free(struct crew *crew);
/* Frees it in a process that has none of its threads: a child of its creator. */
void crew_forget(struct crew *crew);

/* Identifies this process; 0 where no child process shares its parent's memory. */
uint64_t thread_process(void);

/* Lets other threads run, if any wait for this processor. */
void thread_yield(void);

/* For loops that wait for another thread. */
static inline void thread_pause(void) {
#if ECS_THREADS && (defined(__x86_64__) || defined(__i386__))
  __builtin_ia32_pause();
#endif
}

/* ---- numbers that threads share ---- */

#if ECS_THREADS
/* What another thread wrote before it set the number is visible afterwards. */
static inline uint32_t shared_get(const uint32_t *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline void shared_set(uint32_t *at, uint32_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}
/* Adds, in one order for all threads. Returns the old value. */
static inline uint32_t shared_add(uint32_t *at, uint32_t more) {
  return __atomic_fetch_add(at, more, __ATOMIC_SEQ_CST);
}
static inline uint32_t shared_get_last(const uint32_t *at) {
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
/* Sets it if it still has the old value. */
static inline bool shared_replace(uint32_t *at, uint32_t was, uint32_t value) {
  return __atomic_compare_exchange_n(at, &was, value, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}
#else
static inline uint32_t shared_get(const uint32_t *at) { return *at; }
static inline void shared_set(uint32_t *at, uint32_t value) { *at = value; }
static inline uint32_t shared_add(uint32_t *at, uint32_t more) {
  uint32_t was = *at;
  *at += more;
  return was;
}
static inline uint32_t shared_get_last(const uint32_t *at) { return *at; }
static inline bool shared_replace(uint32_t *at, uint32_t was, uint32_t value) {
  bool same = *at == was;
  if (same) *at = value;
  return same;
}
#endif

#endif
