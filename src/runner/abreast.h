/* Runs of several plans at once, on the threads of a pool: parts of their tables' rows are taken
** one after the other by whoever comes. No run may write what another one gets at; none can fail,
** gives commands, or has totals. */
#ifndef ECS_RUNNER_ABREAST_H
#define ECS_RUNNER_ABREAST_H

#include "runner/run.h"

#define ABREAST_MOST 32        /* runs */

struct abreast;
struct pool;

/* NULL when out of memory. */
struct abreast *abreast_new(struct memory *memory);
void abreast_free(struct abreast *abreast);

/* No run so far; they use the runner's machines. */
void abreast_begin(struct abreast *abreast, struct runner *runner);

/* One more, with the world's stream of random numbers as it is now. What the run points to stays
** as it is until abreast_end. False when out of memory: it was not added. */
bool abreast_add(struct abreast *abreast, const struct run *run);

/* Runs them all. False when out of memory: nothing was done. */
bool abreast_run(struct abreast *abreast, struct pool *pool);

/* Then, of each in the order in which they were added: marks what it has written. */
void abreast_end(const struct abreast *abreast, uint32_t number);

#endif
