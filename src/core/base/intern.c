#include "core/base/intern.h"

#include "core/base/memory.h"
#include "core/base/text.h"

#define TEXT_LIMIT (UINT32_MAX / 2)
#define FIRST_SWEEP 65536u

static size_t intern_weight_of(size_t size) { return sizeof(struct interned) + size + 1; }

uint32_t intern_find(const struct intern_table *table, const char *text, size_t size) {
  if (size == 0) return 0;
  if (table->bucket_count == 0 || size > TEXT_LIMIT) return NONE;
  uint32_t hash = text_hash(text, size);
  uint32_t at = table->buckets[hash & (table->bucket_count - 1)];
  for (; at; at = table->texts[at]->next) {
    const struct interned *known = table->texts[at];
    if (known->hash == hash && known->size == size && !memcmp(known->text, text, size))
      return at;
  }
  return NONE;
}

static void intern_link_bucket(struct intern_table *table, uint32_t number) {
  assert(number > 0 && number < table->count && table->texts[number]);
  struct interned *text = table->texts[number];
  uint32_t *bucket = &table->buckets[text->hash & (table->bucket_count - 1)];
  text->next = *bucket;
  *bucket = number;
}

static bool intern_grow_buckets(struct intern_table *table, struct memory *memory) {
  if (table->live < table->bucket_count) return true;
  uint32_t count = table->bucket_count ? table->bucket_count * 2 : 16;
  uint32_t *buckets = memory_array(memory, count, sizeof *buckets);
  if (!buckets) return false;
  memory_free(memory, table->buckets, table->bucket_count * sizeof *buckets);
  table->buckets = buckets;
  table->bucket_count = count;
  for (uint32_t i = 1; i < table->count; i++)
    if (table->texts[i]) intern_link_bucket(table, i);
  return true;
}

/* Makes room for one more number. */
static bool intern_grow_numbers(struct intern_table *table, struct memory *memory) {
  if (table->sweep_at == 0) table->sweep_at = FIRST_SWEEP;
  if (table->free_head) return true;
  if (!GROW(memory, table->texts, table->capacity, table->count + 2ull) ||
      !GROW(memory, table->free_next, table->next_capacity, table->count + 2ull))
    return false;
  if (table->count == 0) table->texts[table->count++] = NULL;   /* 0 is "" */
  return true;
}

ecs_status intern(struct intern_table *table, struct memory *memory, const char *text,
                  size_t size, uint32_t *number) {
  if (size > TEXT_LIMIT) return ECS_ELIMIT;
  uint32_t known = intern_find(table, text, size);
  if (known != NONE) {
    *number = known;
    return ECS_OK;
  }
  if (!intern_grow_numbers(table, memory) || !intern_grow_buckets(table, memory)) return ECS_ENOMEM;
  struct interned *added = memory_resize(memory, NULL, 0, intern_weight_of(size));
  if (!added) return ECS_ENOMEM;
  added->size = (uint32_t)size;
  added->hash = text_hash(text, size);
  added->marked = false;
  memcpy(added->text, text, size);
  added->text[size] = '\0';
  *number = table->free_head ? table->free_head : table->count++;
  if (table->free_head) table->free_head = table->free_next[*number];
  table->texts[*number] = added;
  table->live++;
  table->weight += intern_weight_of(size);
  intern_link_bucket(table, *number);
  return ECS_OK;
}

ecs_string intern_text(const struct intern_table *table, uint32_t number) {
  if (number == 0) return (ecs_string){"", 0};
  assert(number < table->count && table->texts[number]);
  return (ecs_string){table->texts[number]->text, table->texts[number]->size};
}

static void intern_unlink_bucket(struct intern_table *table, uint32_t number) {
  struct interned *text = table->texts[number];
  uint32_t *at = &table->buckets[text->hash & (table->bucket_count - 1)];
  while (*at != number) {
    assert(*at);
    at = &table->texts[*at]->next;
  }
  *at = text->next;
}

void intern_sweep(struct intern_table *table, struct memory *memory) {
  for (uint32_t i = 1; i < table->count; i++) {
    struct interned *text = table->texts[i];
    if (!text) continue;
    if (text->marked) {
      text->marked = false;
      continue;
    }
    assert(table->live > 0 && table->weight >= intern_weight_of(text->size));
    intern_unlink_bucket(table, i);
    table->live--;
    table->weight -= intern_weight_of(text->size);
    memory_free(memory, text, intern_weight_of(text->size));
    table->texts[i] = NULL;
    table->free_next[i] = table->free_head;
    table->free_head = i;
  }
  table->sweep_at = table->weight > FIRST_SWEEP / 2 ? table->weight * 2 : FIRST_SWEEP;
}

ecs_status intern_copy(const struct intern_table *table, struct memory *memory,
                       struct intern_table *out) {
  size_t numbers = table->next_capacity * sizeof *table->free_next;
  size_t buckets = table->bucket_count * sizeof *table->buckets;
  *out = (struct intern_table){.sweep_at = table->sweep_at};
  if (table->live == 0) return ECS_OK;
  *out = *table;
  out->count = 1;
  out->texts = memory_array(memory, table->capacity, sizeof *out->texts);
  out->free_next = memory_resize(memory, NULL, 0, numbers);
  out->buckets = memory_resize(memory, NULL, 0, buckets);
  if (!out->texts || !out->free_next || !out->buckets) return ECS_ENOMEM;
  memcpy(out->free_next, table->free_next, numbers);
  memcpy(out->buckets, table->buckets, buckets);
  for (uint32_t i = 1; i < table->count; i++, out->count++) {
    if (!table->texts[i]) continue;
    size_t weight = intern_weight_of(table->texts[i]->size);
    out->texts[i] = memory_resize(memory, NULL, 0, weight);
    if (!out->texts[i]) return ECS_ENOMEM;
    memcpy(out->texts[i], table->texts[i], weight);
  }
  return ECS_OK;
}

void intern_free(struct intern_table *table, struct memory *memory) {
  for (uint32_t i = 1; i < table->count; i++)
    if (table->texts[i])
      memory_free(memory, table->texts[i], intern_weight_of(table->texts[i]->size));
  FREE_LIST(memory, table->texts, table->capacity);
  FREE_LIST(memory, table->free_next, table->next_capacity);
  FREE_LIST(memory, table->buckets, table->bucket_count);
  memset(table, 0, sizeof *table);
}
