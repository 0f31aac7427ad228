#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200112L
#endif

#if defined(_WIN32)
#include <windows.h>
#elif defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#endif

#include "core/base/thread.h"

/* The arguments of a new thread. */
struct hand {
  struct crew *crew;
  uint32_t number;
};

#if ECS_THREADS && defined(_WIN32)
typedef SRWLOCK thread_mutex;
typedef CONDITION_VARIABLE thread_condition;
typedef HANDLE thread_handle;
#elif ECS_THREADS
typedef pthread_mutex_t thread_mutex;
typedef pthread_cond_t thread_condition;
typedef pthread_t thread_handle;
#else
typedef int thread_mutex, thread_condition, thread_handle;
#endif

struct crew {
  struct memory *memory;
  void (*live)(void *ud, uint32_t i);
  void *ud;
  uint32_t count;
  thread_mutex lock;
  thread_condition woken;
  thread_handle threads[CREW_LIMIT];
  struct hand hands[CREW_LIMIT];
};

#if ECS_THREADS && defined(_WIN32)

static void thread_lock(struct crew *crew) { AcquireSRWLockExclusive(&crew->lock); }
static void thread_unlock(struct crew *crew) { ReleaseSRWLockExclusive(&crew->lock); }
static void thread_sleep_on(struct crew *crew) {
  SleepConditionVariableSRW(&crew->woken, &crew->lock, INFINITE, 0);
}
static void thread_wake_all(struct crew *crew) { WakeAllConditionVariable(&crew->woken); }

static bool thread_begin(struct crew *crew) {
  InitializeSRWLock(&crew->lock);
  InitializeConditionVariable(&crew->woken);
  return true;
}

static DWORD WINAPI thread_live(LPVOID ud) {
  struct hand *hand = ud;
  hand->crew->live(hand->crew->ud, hand->number);
  return 0;
}

static bool thread_add(struct crew *crew, uint32_t at) {
  crew->threads[at] = CreateThread(NULL, 0, thread_live, &crew->hands[at], 0, NULL);
  return crew->threads[at] != NULL;
}

static void thread_join(struct crew *crew, uint32_t at) {
  WaitForSingleObject(crew->threads[at], INFINITE);
  CloseHandle(crew->threads[at]);
}

static void thread_end(struct crew *crew) { (void)crew; }

uint64_t thread_process(void) { return 0; }
void thread_yield(void) { SwitchToThread(); }

#elif ECS_THREADS

static void thread_lock(struct crew *crew) { pthread_mutex_lock(&crew->lock); }
static void thread_unlock(struct crew *crew) { pthread_mutex_unlock(&crew->lock); }
static void thread_sleep_on(struct crew *crew) { pthread_cond_wait(&crew->woken, &crew->lock); }
static void thread_wake_all(struct crew *crew) { pthread_cond_broadcast(&crew->woken); }

static bool thread_begin(struct crew *crew) {
  if (pthread_mutex_init(&crew->lock, NULL) != 0) return false;
  if (pthread_cond_init(&crew->woken, NULL) == 0) return true;
  pthread_mutex_destroy(&crew->lock);
  return false;
}

static void *thread_live(void *ud) {
  struct hand *hand = ud;
  hand->crew->live(hand->crew->ud, hand->number);
  return NULL;
}

/* A new thread blocks the signals that its creator blocks. */
static bool thread_add(struct crew *crew, uint32_t at) {
  sigset_t all, kept;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &kept) != 0) return false;
  bool made = pthread_create(&crew->threads[at], NULL, thread_live, &crew->hands[at]) == 0;
  pthread_sigmask(SIG_SETMASK, &kept, NULL);
  return made;
}

static void thread_join(struct crew *crew, uint32_t at) { pthread_join(crew->threads[at], NULL); }

static void thread_end(struct crew *crew) {
  pthread_cond_destroy(&crew->woken);
  pthread_mutex_destroy(&crew->lock);
}

uint64_t thread_process(void) { return (uint64_t)getpid(); }
void thread_yield(void) { sched_yield(); }

#else    /* no crew ever begins */

static void thread_lock(struct crew *crew) { (void)crew; }
static void thread_unlock(struct crew *crew) { (void)crew; }
static void thread_sleep_on(struct crew *crew) { (void)crew; }
static void thread_wake_all(struct crew *crew) { (void)crew; }
static bool thread_begin(struct crew *crew) { return crew == NULL; }
static bool thread_add(struct crew *crew, uint32_t at) { return !crew && at; }
static void thread_join(struct crew *crew, uint32_t at) { (void)crew, (void)at; }
static void thread_end(struct crew *crew) { (void)crew; }

uint64_t thread_process(void) { return 0; }
void thread_yield(void) {}

#endif

void crew_forget(struct crew *crew) { memory_free(crew->memory, crew, sizeof *crew); }

struct crew *crew_new(struct memory *memory, uint32_t count, void (*live_on)(void *ud, uint32_t i),
                      void *ud) {
  assert(count > 0 && count <= CREW_LIMIT);
  struct crew *crew = memory_array(memory, 1, sizeof *crew);
  if (!crew) return NULL;
  crew->memory = memory;
  crew->live = live_on;
  crew->ud = ud;
  if (!thread_begin(crew)) {
    crew_forget(crew);
    return NULL;
  }
  for (; crew->count < count; crew->count++) {
    crew->hands[crew->count] = (struct hand){crew, crew->count + 1};
    if (!thread_add(crew, crew->count)) break;
  }
  if (crew->count) return crew;
  thread_end(crew);
  crew_forget(crew);
  return NULL;
}

uint32_t crew_size(const struct crew *crew) { return crew->count; }

/* Wakers set the word first, and then look at *asleep. */
void crew_sleep(struct crew *crew, const uint32_t *word, uint32_t value, uint32_t *asleep) {
  thread_lock(crew);
  shared_add(asleep, 1);
  while (shared_get_last(word) == value) thread_sleep_on(crew);
  shared_add(asleep, UINT32_MAX);
  thread_unlock(crew);
}

void crew_wake(struct crew *crew) {
  thread_lock(crew);
  thread_wake_all(crew);
  thread_unlock(crew);
}

void crew_free(struct crew *crew) {
  for (uint32_t i = 0; i < crew->count; i++) thread_join(crew, i);
  thread_end(crew);
  crew_forget(crew);
}
