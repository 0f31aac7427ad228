/* Loops, as nodes. */
#include "kernel/node.h"

k_value build_loop(struct builder *b, k_value count, k_value mask) {
  if (!builder_takes(b, count, KT_I64) || !builder_takes(b, mask, KT_BOOL)) return K_NONE;
  if (node_at(b, count)->varies) return builder_fail(b, K_EINVAL);
  if (loop_depth(b, b->loop) == MAX_DEPTH - 2) return builder_fail(b, K_ELIMIT);
  struct node n = node_make(N_LOOP, KT_I64, false);
  n.in[0] = count;
  n.in[1] = mask;
  k_value loop = builder_add(b, n);
  if (loop != K_NONE) b->loop = loop;
  return loop;
}

k_value build_carry(struct builder *b, k_value init, bool varying) {
  if (!builder_takes(b, init, build_type(b, init))) return K_NONE;
  if (b->loop == 0 || (!varying && node_at(b, init)->varies))
    return builder_fail(b, K_EINVAL);
  struct node n = node_make(N_CARRY, (k_type)node_at(b, init)->type, varying);
  n.in[0] = init;
  return builder_add(b, n);
}

void build_next(struct builder *b, k_value carry, k_value next) {
  if (!builder_takes(b, carry, build_type(b, carry)) ||
      !builder_takes(b, next, build_type(b, carry)))
    return;
  const struct node *c = node_at(b, carry);
  if (c->op != N_CARRY || c->home != b->loop || (!c->varies && node_at(b, next)->varies)) {
    builder_fail(b, K_EINVAL);
    return;
  }
  struct node n = node_make(N_NEXT, KT_BOOL, false);
  n.in[0] = carry;
  n.in[1] = next;
  builder_add(b, n);
}

void build_endloop(struct builder *b, k_value again) {
  if (!builder_takes(b, again, KT_BOOL)) return;
  if (b->loop == 0) {
    builder_fail(b, K_EINVAL);
    return;
  }
  struct node n = node_make(N_END, KT_BOOL, false);
  n.in[0] = b->loop;
  n.in[1] = again;
  if (builder_add(b, n) != K_NONE) b->loop = node_at(b, b->loop)->home;
  b->fail_mask = K_ALL;
}

void build_give_up(struct builder *b) {
  if (b->status != K_OK) return;
  struct node n = builder_failing(b, N_GIVE_UP, KT_BOOL);
  n.in[0] = n.in[3];
  builder_add(b, n);
}
