/* What rows do to cells that are not their own, as nodes. */
#include "kernel/build_note.h"

#include "kernel/node.h"
#include "kernel/note.h"

/* The number of a new site, or NONE. */
static uint32_t build_note_add_site(struct builder *b, k_site site) {
  if (b->site_count == MAX_SITES) builder_fail(b, K_ELIMIT);
  if (b->status != K_OK) return NONE;
  b->sites[b->site_count] = site;
  return b->site_count++;
}

static void build_note_add_step(struct builder *b, k_value index, k_site site, k_value operand) {
  if (!builder_takes(b, operand, (k_type)site.type)) return;
  uint32_t number = build_note_add_site(b, site);
  if (number == NONE) return;
  struct node n = builder_failing(b, N_NOTE, (k_type)site.type);
  n.in[0] = index;
  n.in[1] = operand;
  n.aux = (uint16_t)number;
  builder_add(b, n);
}

void build_note(struct builder *b, uint32_t array, k_value index, const struct build_step *steps,
                uint32_t count) {
  if (b->status == K_OK && (array >= b->array_count || count == 0)) builder_fail(b, K_EINVAL);
  if (!builder_takes(b, index, KT_I64)) return;
  for (uint32_t i = 0; i < count; i++) {
    const struct build_step *step = &steps[i];
    k_site site = {.array = (uint8_t)array, .step = (uint8_t)step->step,
                   .type = (uint8_t)build_type(b, step->operand), .turned = step->turned,
                   .first = i == 0, .last = i + 1 == count};
    bool truth = array_column(b->arrays[array]) == KC_BOOL;
    bool joins = site.step == KS_OR || site.step == KS_AND;
    if (truth ? site.type != KT_BOOL || !(joins || site.step == KS_SET) || count > 1
              : joins || (site.type != KT_F64 && site.type != KT_I64))
      builder_fail(b, K_EINVAL);
    build_note_add_step(b, index, site, step->operand);
  }
}

/* Whether no row is in both of two masks, as far as the first one shows it. */
static bool are_apart(const struct builder *b, k_value x, k_value y) {
  for (;; x = node_at(b, x)->in[0]) {
    const struct node *n = node_at(b, x);
    if (n->op == KO_NOT) return build_implies(b, y, n->in[0]);
    if (n->op != KO_AND && n->op != KO_ANDN) return false;
    if (n->op == KO_ANDN && build_implies(b, y, n->in[1])) return true;
  }
}

bool build_noted(const struct builder *b, uint32_t array, k_mark since) {
  if (b->status != K_OK || since.value == K_NONE || since.loop != b->loop) return true;
  for (k_value v = since.value; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (n->op != N_NOTE || b->sites[n->aux].step == KS_ORDER || b->sites[n->aux].array != array)
      continue;
    k_value then = n->in[3], now = b->fail_mask;
    if (!are_apart(b, then, now) && !are_apart(b, now, then)) return true;
  }
  return false;
}

void build_order(struct builder *b, uint32_t order, k_value entity, k_value value) {
  if (b->status == K_OK && order >= MAX_BITMAPS) builder_fail(b, K_ELIMIT);
  if (!builder_takes(b, entity, KT_I64)) return;
  k_site site = {.array = (uint8_t)order, .step = KS_ORDER, .type = (uint8_t)build_type(b, value),
                 .first = 1, .last = 1};
  if (site.type == KT_F32) builder_fail(b, K_EINVAL);
  build_note_add_step(b, entity, site, value);
}

void build_alias(struct builder *b, uint32_t array, uint32_t uniform) {
  if (b->status != K_OK) return;
  if (array >= b->array_count || uniform >= MAX_COLUMNS)
    builder_fail(b, K_EINVAL);
  else
    b->aliases[array] = (uint16_t)(uniform + 1);
}

uint32_t build_cells(struct builder *b, k_column type, uint32_t column) {
  if (b->status == K_OK && column >= b->column_count) builder_fail(b, K_EINVAL);
  uint32_t array = build_array(b, type);
  if (array == NONE) return NONE;
  b->arrays[array] |= ARRAY_OF_CELLS;
  b->aliases[array] = (uint16_t)(ALIAS_COLUMN + column);
  return array;
}

/* Whether a node is what an array has been given as an alias for. */
static bool is_alias(const struct node *n, uint16_t alias) {
  if (n->op == N_UNIFORM) return alias == n->aux + 1;
  return (n->op == N_LOAD || n->op == N_LIVE) && alias == ALIAS_COLUMN + n->aux;
}

/* The tag of what first needs the element to be there; 0 when nothing does. */
static uint32_t tag_of_element(const struct builder *b, const struct node *element) {
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (n->op == N_BOUND && n->aux == element->aux && n->in[0] == element->in[0]) return n->tag;
  }
  return 0;
}

static bool is_written_in_loop(const struct builder *b, uint32_t array) {
  for (k_value v = 0; v < b->count; v++) {
    const struct node *n = node_at(b, v);
    if (n->op != N_NOTE || n->home == 0) continue;
    if (b->sites[n->aux].array == array && b->sites[n->aux].step != KS_ORDER) return true;
  }
  return false;
}

uint32_t build_shared(const struct builder *b, uint32_t *tag, bool *looped) {
  const struct node *n = node_at(b, b->shared);
  uint32_t array = 0;
  assert(b->status == K_SHARED);
  *tag = n->op == N_ELEMENT ? tag_of_element(b, n) : n->tag;
  if (n->op == N_ELEMENT)
    array = n->aux;
  else
    while (array < b->array_count && !is_alias(n, b->aliases[array])) array++;
  assert(array < b->array_count);
  *looped = is_written_in_loop(b, array);
  return array;
}

/* Behind all that can fail what has been noted down is done. */
bool plan_notes(struct builder *b) {
  if (b->site_count == 0 || b->status != K_OK) return b->status == K_OK;
  struct node n = node_make(N_DO_NOTES, KT_BOOL, true);
  n.fails = true;
  n.in[3] = K_ALL;
  return builder_add(b, n) != K_NONE;
}

static bool build_note_is_written(const struct builder *b, uint32_t array) {
  for (uint32_t i = 0; i < b->site_count; i++)
    if (b->sites[i].array == array && b->sites[i].step != KS_ORDER) return true;
  return false;
}

/* Whether a node looks at what notes write. */
static bool looks_at_written(const struct builder *b, const struct node *n) {
  if (!n->live || n->uses == 0) return false;
  if (n->op == N_ELEMENT) return build_note_is_written(b, n->aux);
  for (uint32_t i = 0; i < b->array_count; i++)
    if (is_alias(n, b->aliases[i]) && build_note_is_written(b, i)) return true;
  return false;
}

bool plan_owners(struct builder *b) {
  for (k_value v = 0; b->site_count && v < b->count; v++) {
    if (!looks_at_written(b, node_at(b, v))) continue;
    b->shared = v;
    return builder_fail(b, K_SHARED) != K_NONE;
  }
  return true;
}
