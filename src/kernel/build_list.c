#include "kernel/build_list.h"

#include "kernel/node.h"

uint32_t build_list(struct builder *b) {
  if (b->list_count == MAX_LISTS) builder_fail(b, K_ELIMIT);
  if (b->status != K_OK) return NONE;
  return b->list_count++;
}

/* Gives an argument behind another one. */
static k_value build_give(struct builder *b, uint32_t aux, k_value value, k_value before) {
  k_type type = build_type(b, value) == KT_F64 ? KT_F64 : KT_I64;
  if (!builder_takes(b, value, type)) return K_NONE;
  struct node n = node_make(N_GIVE, KT_BOOL, true);
  n.in[0] = value;
  n.in[1] = before;
  n.aux = (uint16_t)aux;
  return builder_add(b, n);
}

k_value build_listed(struct builder *b, uint32_t list, const k_value *arguments, uint32_t count) {
  k_value last = K_NONE;
  if (b->status == K_OK && (list >= b->list_count || count > LIST_ARGUMENTS))
    builder_fail(b, K_EINVAL);
  for (uint32_t i = 0; i < count && b->status == K_OK; i++)
    if (arguments[i] != K_NONE) last = build_give(b, list * LIST_ARGUMENTS + i, arguments[i], last);
  if (b->status != K_OK) return K_NONE;
  struct node n = builder_failing(b, N_LIST, KT_I64);
  n.in[0] = last;
  n.aux = (uint16_t)list;
  return builder_add(b, n);
}

/* A node that needs a list which is filled. */
static struct node of_list(struct builder *b, uint32_t op, k_type type, k_value filled) {
  struct node n = node_make(op, type, true);
  if (builder_takes(b, filled, KT_I64) && node_at(b, filled)->op != N_LIST)
    builder_fail(b, K_EINVAL);
  if (b->status == K_OK) n.aux = node_at(b, filled)->aux;
  n.in[0] = filled;
  return n;
}

k_value build_picked(struct builder *b, k_value filled, k_value item) {
  struct node n = of_list(b, N_PICK, KT_I64, filled);
  if (!builder_takes(b, item, KT_I64)) return K_NONE;
  if (node_at(b, item)->varies) return builder_fail(b, K_EINVAL);
  n.in[1] = item;
  return builder_add(b, n);
}

k_value build_taken(struct builder *b, k_value filled, uint32_t argument) {
  struct node n = of_list(b, N_TAKE, KT_F64, filled);
  if (b->status == K_OK && argument >= LIST_ARGUMENTS) builder_fail(b, K_EINVAL);
  n.aux = (uint16_t)(n.aux * LIST_ARGUMENTS + argument);
  return builder_add(b, n);
}
