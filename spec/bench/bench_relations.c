/* Ties: an exclusive relation against doubly linked lists by hand. */
#include "library.h"

#define TARGETS 1000u

/* By hand: a source's place in the list of its target, and its value. */
struct link {
  uint32_t target, previous, next;
};

struct lists {
  struct link *links;        /* of sources, from 1 on */
  uint32_t first[TARGETS], last[TARGETS];
  float *x;
};

static void lists_unlink(struct lists *lists, uint32_t source) {
  struct link *link = &lists->links[source];
  *(link->previous ? &lists->links[link->previous].next : &lists->first[link->target]) =
      link->next;
  *(link->next ? &lists->links[link->next].previous : &lists->last[link->target]) =
      link->previous;
}

static void lists_link(struct lists *lists, uint32_t source, uint32_t target) {
  uint32_t last = lists->last[target];
  lists->links[source] = (struct link){target, last, 0};
  *(last ? &lists->links[last].next : &lists->first[target]) = source;
  lists->last[target] = source;
}

static void lists_open(struct lists *lists, uint32_t n) {
  memset(lists, 0, sizeof *lists);
  lists->links = bench_resize(NULL, (n + 1) * sizeof *lists->links);
  lists->x = bench_resize(NULL, (n + 1) * sizeof *lists->x);
  for (uint32_t i = 1; i <= n; i++) {
    lists->x[i] = (float)(i % 7);
    lists_link(lists, i, i % TARGETS);
  }
}

static void lists_close(struct lists *lists) {
  free(lists->links);
  free(lists->x);
}

/* The order and the values of what each target has. */
static double visit(double sum, uint32_t target, float x) { return sum * 0.5 + x + target; }

static double lists_sum(const struct lists *lists) {
  double sum = 0;
  for (uint32_t target = 0; target < TARGETS; target++)
    for (uint32_t at = lists->first[target]; at; at = lists->links[at].next)
      sum = visit(sum, target, lists->x[at]);
  return sum;
}

static struct sample hand_visit(uint32_t n) {
  struct lists lists;
  lists_open(&lists, n);
  double start = bench_now(), sum = lists_sum(&lists), seconds = bench_now() - start;
  lists_close(&lists);
  return (struct sample){n, seconds, sum};
}

static struct sample hand_change(uint32_t n) {
  struct lists lists;
  lists_open(&lists, n);
  double start = bench_now();
  for (uint32_t i = 1; i <= n; i++) {
    lists_unlink(&lists, i);
    lists_link(&lists, i, i * 7 % TARGETS);
  }
  double seconds = bench_now() - start, sum = lists_sum(&lists);
  lists_close(&lists);
  return (struct sample){n, seconds, sum};
}

/* ---- the library ---- */

struct tied {
  struct library library;
  ecs_id follows, targets[TARGETS], *sources;
  ecs_query *of[TARGETS];
};

static void tied_open(struct tied *tied, uint32_t n) {
  library_open(&tied->library);
  ecs_world *world = tied->library.world;
  ecs_component_desc desc = {.name = "Follows", .exclusive = true};
  need_ok(ecs_relation(world, &desc, &tied->follows));
  need_ok(ecs_spawn_many(world, TARGETS, NULL, 0, tied->targets));
  tied->sources = bench_resize(NULL, (n + 1) * sizeof *tied->sources);
  need_ok(ecs_spawn_many(world, n, tied->library.both, 1, tied->sources + 1));
  for (uint32_t i = 1; i <= n; i++) {
    *(float *)ecs_cell_of(world, tied->sources[i], tied->library.both[0], 0) = (float)(i % 7);
    need_ok(ecs_add(world, tied->sources[i],
                    ecs_pair(tied->follows, tied->targets[i % TARGETS])));
  }
  for (uint32_t i = 0; i < TARGETS; i++) {
    ecs_variable to = {"to", tied->targets[i]};
    need_ok(ecs_query_with(world, "(Follows, $to), Position", &to, 1, &tied->of[i]));
  }
}

static void tied_close(struct tied *tied) {
  free(tied->sources);
  library_close(&tied->library);
}

static double tied_sum(struct tied *tied) {
  double sum = 0;
  ecs_iter it;
  for (uint32_t target = 0; target < TARGETS; target++) {
    need_ok(ecs_iter_open(tied->of[target], &it));
    while (ecs_iter_next_rows(&it)) {
      const uint32_t *rows;
      const float *x = ecs_iter_cells(&it, 1, 0, &rows);
      for (size_t i = 0; i < it.count; i++) sum = visit(sum, target, x[rows[i]]);
    }
    need_ok(ecs_iter_close(&it));
  }
  return sum;
}

static struct sample tied_visit(uint32_t n) {
  struct tied tied;
  tied_open(&tied, n);
  double start = bench_now(), sum = tied_sum(&tied), seconds = bench_now() - start;
  tied_close(&tied);
  return (struct sample){n, seconds, sum};
}

static struct sample tied_change(uint32_t n) {
  struct tied tied;
  tied_open(&tied, n);
  double start = bench_now();
  for (uint32_t i = 1; i <= n; i++)
    need_ok(ecs_add(tied.library.world, tied.sources[i],
                    ecs_pair(tied.follows, tied.targets[i * 7 % TARGETS])));
  double seconds = bench_now() - start, sum = tied_sum(&tied);
  tied_close(&tied);
  return (struct sample){n, seconds, sum};
}

/* ---- the death of a parent ---- */

static struct sample despawn_children(uint32_t n, bool tied, bool deep) {
  ecs_world_desc desc = {.alloc = bench_alloc, .tag = 1};
  ecs_world *world;
  ecs_id parent, child_of, *ids = bench_resize(NULL, n * sizeof *ids);
  need_ok(ecs_world_new(&desc, &world));
  need_ok(ecs_spawn(world, NULL, 0, &parent));
  need_ok(ecs_spawn_many(world, n, NULL, 0, ids));
  ecs_query *query;   // names it
  need_ok(ecs_query_new(world, "ChildOf", &query));
  child_of = ecs_component_find(world, "ChildOf");
  for (uint32_t i = 0; tied && i < n; i++)
    need_ok(ecs_add(world, ids[i], ecs_pair(child_of, deep && i ? ids[i - 1] : parent)));
  double start = bench_now();
  for (uint32_t i = 0; !tied && i < n; i++) need_ok(ecs_despawn(world, ids[i]));
  need_ok(ecs_despawn(world, parent));
  double seconds = bench_now() - start;
  double left = (double)ecs_alive_count(world);
  ecs_world_free(world);
  free(ids);
  return (struct sample){n, seconds, left};
}

static struct sample one_by_one(uint32_t n) { return despawn_children(n, false, false); }
static struct sample fan(uint32_t n) { return despawn_children(n, true, false); }
static struct sample chain(uint32_t n) { return despawn_children(n, true, true); }

int main(void) {
  bench_begin();
  bench_row("change the target of an exclusive relation", 100000, 7, hand_change, tied_change, 3);
  bench_row("visit the sources of 1,000 targets in order", 100000, 7, hand_visit, tied_visit, 2);
  bench_row("despawn a parent of many (1: one by one)", 1000000, 3, one_by_one, fan, 2);
  bench_row("despawn a chain of parents (1: one by one)", 1000000, 3, one_by_one, chain, 2);
  return 0;
}
