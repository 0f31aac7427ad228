/* The same work on six threads at once. Checks may be made there: one that holds writes nothing
** that threads share. */
#ifndef SPEC_THREADS_H
#define SPEC_THREADS_H

#include <pthread.h>

#include "harness.h"

enum { THREADS = 6 };

/* What a thread is given and gives back. */
struct worker {
  int number;             /* from 0 */
  void (*work)(struct worker *worker);
  uint64_t results[64];   /* to be compared with the other threads' */
  char said[256];         /* of an error */
  pthread_t thread;
};

static inline void *worker_begin(void *worker) {
  ((struct worker *)worker)->work(worker);
  return NULL;
}

/* Runs the work on all threads; their results are to be the same. */
static inline void run_threads(void (*work)(struct worker *worker)) {
  static struct worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.number = i, .work = work};
    CHECK(pthread_create(&workers[i].thread, NULL, worker_begin, &workers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(workers[i].thread, NULL) == 0);
  for (int i = 0; i < THREADS; i++) {
    check_context("thread %d", i);
    CHECK_TEXT("", workers[i].said);
    CHECK(memcmp(workers[i].results, workers[0].results, sizeof workers[i].results) == 0);
    CHECK(workers[i].results[0] != 0);
  }
  check_context(NULL);
}

#endif
