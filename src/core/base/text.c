#include <math.h>

#include "core/base/text.h"

/* The last byte of the buffer is for the zero byte. */
static void text_put(struct text *out, const char *text, size_t size) {
  size_t room = out->length < out->size ? out->size - 1 - out->length : 0;
  if (room && size) memcpy(out->buffer + out->length, text, size < room ? size : room);
  out->length += size;
}

static void put_text(struct text *out, const char *text) {
  text_put(out, text, strlen(text));
}

static void text_put_unsigned(struct text *out, uint64_t value) {
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  text_put(out, digits + at, sizeof digits - at);
}

static void text_put_signed(struct text *out, int64_t value) {
  if (value < 0) text_put(out, "-", 1);
  text_put_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* mantissa has the digits d.ddd..., at most nine. */
static void text_put_digits(struct text *out, uint64_t mantissa, int exponent) {
  char digits[20];
  int count = 0;
  while (mantissa && mantissa % 10 == 0) mantissa /= 10;
  for (; mantissa; mantissa /= 10) digits[count++] = (char)('0' + mantissa % 10);
  bool scientific = exponent < -5 || exponent > 15;
  int point = scientific ? 1 : exponent + 1;
  if (point <= 0) put_text(out, "0.");
  for (int i = point; i < 0; i++) text_put(out, "0", 1);
  for (int i = 0; i < count || i < point; i++) {
    if (i == point && i > 0) text_put(out, ".", 1);
    text_put(out, i < count ? &digits[count - 1 - i] : "0", 1);
  }
  if (!scientific) return;
  text_put(out, "e", 1);
  text_put_signed(out, exponent);
}

static void text_put_number(struct text *out, double value) {
  if (value != value) {
    put_text(out, "nan");
    return;
  }
  if (signbit(value)) {
    text_put(out, "-", 1);
    value = -value;
  }
  if (value > 1.7976931348623157e308) {
    put_text(out, "inf");
  } else if (value < 1e15 && value == floor(value)) {
    text_put_unsigned(out, (uint64_t)value);
  } else {
    int exponent = (int)floor(log10(value));
    /* In two steps if one power of ten would overflow. */
    int shift = exponent > 280 ? -100 : exponent < -280 ? 100 : 0;
    double scaled = value * pow(10, shift) * pow(10, 8 - shift - exponent);
    uint64_t mantissa = (uint64_t)(scaled + 0.5);
    if (mantissa >= 1000000000u) {
      mantissa /= 10;
      exponent++;
    }
    text_put_digits(out, mantissa, exponent);
  }
}

static void text_put_id(struct text *out, ecs_id id) {
  text_put_unsigned(out, ecs_id_index(id));
  text_put(out, "v", 1);
  text_put_unsigned(out, ecs_id_generation(id));
  text_put(out, "@", 1);
  text_put_unsigned(out, ecs_id_tag(id));
}

/* The size of a conversion's integer, by the letters before it. */
static size_t text_integer_size(const char **at) {
  if (**at == 'z') return ++*at, sizeof(size_t);
  if (**at != 'l') return sizeof(int);
  if (*++*at != 'l') return sizeof(long);
  return ++*at, sizeof(long long);
}

static void text_put_format(struct text *out, const char *format, va_list args) {
  for (const char *at = format; *at; at++) {
    if (*at != '%') {
      text_put(out, at, 1);
      continue;
    }
    at++;
    bool wide = text_integer_size(&at) == sizeof(int64_t);
    switch (*at) {
      case 's': put_text(out, va_arg(args, const char *)); break;
      case '.': {
        size_t size = va_arg(args, unsigned);
        text_put(out, va_arg(args, const char *), size);
        at += 2;
        break;
      }
      case 'u':
        text_put_unsigned(out, wide ? va_arg(args, uint64_t) : va_arg(args, uint32_t));
        break;
      case 'd': text_put_signed(out, wide ? va_arg(args, int64_t) : va_arg(args, int32_t)); break;
      case 'g': text_put_number(out, va_arg(args, double)); break;
      case 'x': assert(wide), text_put_id(out, va_arg(args, ecs_id)); break;
      default: assert(*at == '%'), text_put(out, "%", 1); break;
    }
  }
}

void text_add(struct text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_put_format(text, format, args);
  va_end(args);
}

void text_end(struct text *text) {
  if (text->size == 0) return;
  text->buffer[text->length < text->size ? text->length : text->size - 1] = '\0';
}

size_t text_vformat(char *buffer, size_t size, const char *format, va_list args) {
  assert(size > 0);
  struct text text = {buffer, size, 0};
  text_put_format(&text, format, args);
  text_end(&text);
  return text.length < size ? text.length : size - 1;
}

size_t text_format(char *buffer, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t length = text_vformat(buffer, size, format, args);
  va_end(args);
  return length;
}

uint32_t text_hash(const char *text, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ (uint8_t)text[i]) * 16777619u;
  return hash ? hash : 1;
}

uint64_t text_hash64(const char *text, size_t size) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < size; i++) hash = (hash ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
  return hash;
}

static bool text_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool text_is_identifier(const char *text, size_t size) {
  if (size == 0 || !text_is_letter(text[0])) return false;
  for (size_t i = 1; i < size; i++)
    if (!text_is_letter(text[i]) && !(text[i] >= '0' && text[i] <= '9')) return false;
  return true;
}

bool text_equal(const char *a, const char *b, size_t size_of_b) {
  return strlen(a) == size_of_b && memcmp(a, b, size_of_b) == 0;
}

bool text_same(ecs_string a, ecs_string b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* ---- nearest ---- */

#define EDIT_LIMIT 64

static uint32_t text_nearest_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t text_distance(const char *a, size_t a_size, const char *b, size_t b_size,
                       uint32_t most) {
  if (a_size > EDIT_LIMIT || b_size > EDIT_LIMIT) return 1000;
  uint32_t rows[3][EDIT_LIMIT + 1];
  uint32_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (uint32_t j = 0; j <= b_size; j++) last[j] = j;
  for (uint32_t i = 1; i <= a_size; i++) {
    now[0] = i;
    for (uint32_t j = 1; j <= b_size; j++) {
      uint32_t cost = a[i - 1] != b[j - 1];
      now[j] = text_nearest_least(text_nearest_least(last[j], now[j - 1]) + 1, last[j - 1] + cost);
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = text_nearest_least(now[j], before[j - 2] + 1);
    }
    uint32_t *free_row = before;
    before = last;
    last = now;
    now = free_row;
  }
  return last[b_size] <= most ? last[b_size] : 1000;
}

void nearest_begin(struct nearest *nearest, const char *wanted, size_t size) {
  memset(nearest, 0, sizeof *nearest);
  nearest->wanted = wanted;
  nearest->wanted_size = size;
  nearest->distance = size < 6 ? 2 : size < 9 ? 3 : 4;
}

static bool text_nearest_comes_before(const char *a, size_t a_size, const char *b, size_t b_size) {
  int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
  return order < 0 || (order == 0 && a_size < b_size);
}

/* Of two equally near names, the alphabetically first, in whatever order they are offered. */
void nearest_offer(struct nearest *nearest, const char *name, size_t size) {
  if (size == nearest->wanted_size && memcmp(name, nearest->wanted, size) == 0) return;
  uint32_t most = nearest->best ? nearest->distance : nearest->distance - 1;
  uint32_t distance = text_distance(nearest->wanted, nearest->wanted_size, name, size, most);
  if (distance > most) return;
  if (nearest->best && distance == nearest->distance &&
      !text_nearest_comes_before(name, size, nearest->best, nearest->best_size))
    return;
  nearest->distance = distance;
  nearest->best = name;
  nearest->best_size = size;
}

const char *nearest_hint(struct nearest *nearest) {
  ecs_string best = {nearest->best, nearest->best_size};
  if (best.data)
    text_format(nearest->hint, sizeof nearest->hint, " (did you mean '%.*s'?)", SHOW(best));
  return nearest->hint;
}
